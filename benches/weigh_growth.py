"""What each way to make a candidate gives in growth: new normal forms for a million candidates.

One island grows. Rows are ways to make a candidate, columns its number of cards. How many
candidates a second were played, in processor time of the one thread, is measured in ten parts, as
other work on the machine makes it differ: the fastest part and the median are told.
docs/grow.md has the results.

Example: python benches/weigh_growth.py --deck camicia40 --millions 20
"""

import statistics
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from bmn_search.cycle import find_cycle, relative
from bmn_search.deal import Deck
from bmn_search.search.grow import BATCH, EDITS, Grow, family

MAKES = (*EDITS, "two edits", "three edits", "seed")
PARTS = 10
LEVELS = ((2, 20), (20, 30), (30, 40), (40, 48), (48, 64))


@click.command()
@click.option("--deck", default="standard52", show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--millions", default=20, show_default=True, help="Candidates.")
@click.option("--from", "starts", multiple=True, metavar="P1/P2", help="A position to begin with.")
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="As in numbers=1,0,0.")
def main(
    deck: str, seed: int, millions: int, starts: tuple[str, ...], changes: tuple[str, ...]
) -> None:
    """Print how many new normal forms each way to make a candidate gave."""
    values: dict[str, Any] = {"starts": starts}
    for name, _, value in (text.partition("=") for text in changes):
        numbers = tuple(map(int, value.split(",")))
        values[name] = numbers if len(numbers) > 1 else numbers[0]
    plan = Grow(Deck.parse(deck), seed=seed, islands=1, **values)
    growth, _ = plan._begun(0, threading.Event())
    batches = millions * 1_000_000 // (PARTS * BATCH)
    rates = []
    for _ in range(PARTS):
        begun = time.thread_time()
        growth.run(batches)
        rates.append(batches * BATCH / 1e6 / (time.thread_time() - begun))
    counts = growth.counts()
    heads = "".join(f"{f'{low}-{high - 1}':>10}" for low, high in LEVELS)
    click.echo(f"{'':>12}{'made':>14}{'a million':>12}{heads}")
    for name, some, new in zip(MAKES, counts["made"], counts["gave"], strict=True):
        cells = (_rate(some[low:high], new[low:high]) for low, high in LEVELS)
        click.echo(
            f"{name:>12}{sum(some):>14,}{_rate(some, new):>12}"
            + "".join(f"{cell:>10}" for cell in cells)
        )
    cycles = [find_cycle(relative(*row)) for row in growth.found()]
    found = [cycle for cycle in cycles if cycle is not None]
    balances = Counter(cycle.balance for cycle in found)
    click.echo(
        f"{len(found):,} normal forms of the deck, in {len(set(map(family, found))):,} families; "
        f"by balance {dict(sorted(balances.items()))}"
    )
    click.echo(
        f"{max(rates):.2f} million candidates a second in the fastest part of {PARTS}, "
        f"{statistics.median(rates):.2f} in the median"
    )


def _rate(made: Sequence[int], gave: Sequence[int]) -> str:
    return f"{1e6 * sum(gave) / sum(made):,.0f}" if sum(made) >= 1000 else "-"


if __name__ == "__main__":
    main()
