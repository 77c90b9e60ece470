"""`bmn rules`."""

from dataclasses import asdict

import click

from bmn_search.cli.options import json_option, print_json
from bmn_search.rules import NAMED_RULES, PAY_RANKS


@click.command()
@json_option
def rules(as_json: bool) -> None:
    """List the rule sheets that can be named with --rules.

    \b
    Example:
      bmn rules
    """
    for sheet in NAMED_RULES.values():
        if as_json:
            print_json(asdict(sheet))
            continue
        costs = " ".join(
            f"{rank}{penalty}" for rank, penalty in zip(PAY_RANKS, sheet.penalties, strict=True)
        )
        facts = [f"penalties {costs}", f"the {sheet.next_leader} leads"]
        if sheet.out_of_cards != "loses":
            facts.append(f"two or more players, out of cards: {sheet.out_of_cards}")
            facts.append(f"spare cards: {sheet.spare_cards}")
        if sheet.max_tricks:
            facts.append(f"at most {sheet.max_tricks:,} tricks")
        for when, verdict in (("a limit", sheet.on_limit), ("a repetition", sheet.on_repeat)):
            if verdict != "none":
                facts.append(f"{when}: {verdict}")
        click.echo(f"{sheet.name}{': ' + sheet.title if sheet.title else ''}")
        click.echo(f"    {'; '.join(facts)}")
