"""The complete world of a deck, for `bmn cycle --all`."""

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bmn_search import report
from bmn_search.cli.options import print_json
from bmn_search.cli.progress import Progress
from bmn_search.deal import Deck
from bmn_search.rules import Rules
from bmn_search.worlds import Basin, World, world

__all__ = ["tell_world"]


def tell_world(deck: str, rules: Rules, as_json: bool) -> None:
    """Play every position of a deck and print what becomes of them, as a table or as JSON."""
    chosen = Deck.parse(deck)
    with Progress() as progress:
        found = world(
            chosen,
            rules,
            lambda share: progress.tell(
                f"{share:.0%} of all positions of {chosen} played and followed"
            ),
        )
    if as_json:
        print_json(_document(found))
        return
    for line in report.world_lines(found):
        click.echo(line)
    if found.basins:
        _print_table(found)


def _document(found: World) -> dict[str, Any]:
    return {
        "deck": found.deck.name,
        "rules": found.rules.name,
        "played_as": found.alike.spec,
        "each_stands_for": found.each,
        "positions": found.positions,
        "endless": found.endless,
        "endless_share": found.endless / found.positions,
        "balanced_positions": found.balanced,
        "balanced_endless": found.balanced_endless,
        "balanced_endless_share": found.balanced_endless / found.balanced,
        "longest_tricks": found.longest_tricks,
        "ends": [shell._asdict() for shell in found.ends],
        "cycles": [_cycle(basin) for basin in found.basins],
    }


def _cycle(basin: Basin) -> dict[str, Any]:
    return {
        "cycle_tricks": basin.period.tricks,
        "cycle_cards": basin.period.cards,
        "mirror": basin.mirror,
        "canonical": str(basin.canonical),
        "basin_size": basin.size,
        "basin_depth": len(basin.shells),
        "balanced_deals": basin.balanced,
        "shells": [shell._asdict() for shell in basin.shells],
    }


def _print_table(found: World) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("tricks", "cards", "mirror", "basin", "levels", "balanced", "canonical"):
        table.add_column(column, justify="left" if column == "canonical" else "right")
    for basin in found.basins:
        table.add_row(
            f"{basin.period.tricks:,}",
            f"{basin.period.cards:,}",
            "yes" if basin.mirror else "no",
            f"{basin.size:,}",
            f"{len(basin.shells):,}",
            f"{basin.balanced:,}",
            str(basin.canonical),
        )
    console = Console()
    console.width = max(console.width, 60 + found.deck.size)  # no deal is broken
    console.print(table)
