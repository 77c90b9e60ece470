"""`bmn play`."""

from dataclasses import replace
from typing import Any

import click

from bmn_search import engine as engines
from bmn_search import reference, report
from bmn_search.cli.options import (
    DealCommand,
    DealSource,
    chosen_rules,
    deal_options,
    json_option,
    print_json,
    rules_options,
)
from bmn_search.deal import Deal


@click.command(cls=DealCommand)
@deal_options
@rules_options
@click.option("--max-tricks", type=click.IntRange(1), help="Stop after so many tricks.")
@click.option("--distinct", is_flag=True, help="Tell every plain card apart when positions recur.")
@click.option("--distinct-all", is_flag=True, help="The same for every card, pay cards too.")
@click.option("--trace", is_flag=True, help="Show every card laid and every pile taken.")
@click.option(
    "--engine",
    type=click.Choice(["fast", "reference"]),
    default="fast",
    show_default=True,
    help="fast: compiled, for two players; reference: plain Python, for any number.",
)
@json_option
def play(
    rules_name: str,
    penalties: str | None,
    max_tricks: int | None,
    distinct: bool,
    distinct_all: bool,
    trace: bool,
    engine: Any,
    as_json: bool,
    **source: Any,
) -> None:
    """Play deals and say how they end.

    DEAL is P1/P2 (or P1 | P2, or the packets as two arguments, or a whole deck in one text), top
    card first; - alone reads deals from stdin, and the name of a file reads them from it, one a
    line. More than two packets are played under rules for more players.

    A game that comes back to a position (both packets in order and who leads) never ends: it is
    a loop. A game stopped by a limit is unknown, never a loop.

    \b
    Examples:
      bmn play ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA
      bmn play ---J -J- --any-deck --trace
      bmn play --notation digits 00001000320020010001/32020000000010030003
      bmn play --format uva - --json < decks.txt
      bmn play --rules squarescores --any-deck --players 3 -Q---J---A--K----J-
    """
    rules = chosen_rules(rules_name, penalties)
    if max_tricks is not None:
        rules = replace(rules, max_tricks=max_tricks)
    apart: Any = "all" if distinct_all else "plain" if distinct else "none"
    deals = DealSource(rules=rules, **source)

    def show(deal: Deal) -> None:
        own = rules.for_players(len(deal.packets))
        outcome = engines.play(deal, own, distinct=apart, engine=engine)
        if trace:
            events = reference.trace(deal, own, distinct=apart)
            if as_json:
                for event in events:
                    print_json(event._asdict())
            else:
                for line in report.trace_lines(events, len(deal.packets)):
                    click.echo(line)
        if as_json:
            print_json(outcome.as_dict())
        elif deals.single:
            click.echo("\n".join(report.outcome_lines(outcome, apart)))
        else:
            click.echo(f"{deal}  {report.outcome_summary(outcome)}")

    deals.each(show)
