"""`bmn plot`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from bmn_search import ancestry
from bmn_search import plot as pictures
from bmn_search.cli.options import (
    Command,
    DealCommand,
    DealSource,
    chosen_rules,
    deal_options,
    json_option,
    print_json,
    rules_options,
)
from bmn_search.cycle import find_cycle
from bmn_search.deal import Deal
from bmn_search.engine import play
from bmn_search.errors import DealError
from bmn_search.rules import Rules


def output_option(name: str) -> Callable[[Command], Command]:
    """Return the option that says where the picture goes."""
    return click.option(
        "--output",
        type=click.Path(),
        default=name,
        show_default=True,
        help="A .png, .svg or .pdf file.",
    )


@click.group()
def plot() -> None:
    """Draw games and cycles (needs matplotlib: the extra `plot`).

    \b
    Examples:
      bmn plot game ---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---
      bmn plot cycle J--/-J- --any-deck --output tiny.svg
    """


@plot.command(cls=DealCommand)
@deal_options
@rules_options
@output_option("game.png")
@json_option
def game(rules_name: str, penalties: str | None, output: str, as_json: bool, **source: Any) -> None:
    """Draw the packets of games, trick by trick, one below the other.

    Of a game that never ends one cycle is shaded. DEAL is as in `bmn play`.

    \b
    Examples:
      bmn plot game ---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---
      bmn plot game ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA --output loop.svg
    """
    pictures.check(output)
    rules = chosen_rules(rules_name, penalties)
    deals = _read(rules, source)
    pictures.save(pictures.game_figure(deals, rules), output)
    _tell(output, as_json, {"deals": [str(deal) for deal in deals]})


@plot.command(cls=DealCommand)
@deal_options
@rules_options
@output_option("cycle.png")
@click.option("--depth", type=click.IntRange(0), help="Draw positions up to so many tricks away.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=5_000,
    show_default=True,
    help="Draw at most so many positions, the nearest.",
)
@json_option
def cycle(
    rules_name: str,
    penalties: str | None,
    output: str,
    depth: int | None,
    limit: int,
    as_json: bool,
    **source: Any,
) -> None:
    """Draw a cycle as a ring with its basin around it.

    It is the one that DEAL leads into, written as in `bmn play`; a deal whose game ends exits with
    1. Positions are those up to exchange of the players.

    \b
    Examples:
      bmn plot cycle ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA
      bmn plot cycle J--/-J- --any-deck --output tiny.svg
    """
    pictures.check(output)
    rules = chosen_rules(rules_name, penalties)
    deals = _read(rules, source)
    if len(deals) != 1:
        raise DealError(f"{len(deals)} deals: expected one")
    found = find_cycle(deals[0], rules)
    if found is None:
        cards = play(deals[0], replace(rules, max_tricks=None, max_cards=None)).cards
        click.echo(f"bmn: this game ends after {cards:,} cards: it leads into no cycle", err=True)
        click.get_current_context().exit(1)
    basin = ancestry.basin(found, depth, max(limit, len(found.sizes)))
    pictures.save(pictures.cycle_figure(found, basin), output)
    document = {
        "cycle_tricks": found.period.tricks,
        "cycle_cards": found.period.cards,
        "mirror": found.mirror,
        "canonical": str(found.canonical),
        "positions": len(basin),
        "complete": basin.ended == "complete",
        "balanced_deals": int(basin.balanced.sum()),
    }
    _tell(output, as_json, document)


def _read(rules: Rules, source: dict[str, Any]) -> list[Deal]:
    deals: list[Deal] = []
    DealSource(rules=rules, **source).each(deals.append)
    return deals


def _tell(output: str, as_json: bool, document: dict[str, Any]) -> None:
    if as_json:
        print_json({"picture": output, **document})
    click.echo(f"drawn: {output}", err=True)
