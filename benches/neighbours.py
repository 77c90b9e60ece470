"""The complete neighbourhood of cycles: all positions one or two edits away, composition kept.

An edit exchanges two cards, or moves one to another place in either packet. Every position of a
turn of the cycle is edited in every way, everything is played, and each cycle that comes out is
counted once, up to exchange and in normal form, with the balanced deals that lead into it. There is
nothing random in it, so it shows what growth may miss nearby. docs/grow.md has the results.

Example: python benches/neighbours.py --edits 2 known_deals/00-arxiv-2403.13855.txt
"""

import functools
from collections.abc import Iterator

import click
import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search.ancestry import basin
from bmn_search.batch import Batch
from bmn_search.cycle import Cycle, alike_deck, find_cycle, relative
from bmn_search.deal import Deck
from bmn_search.engine import play_many
from bmn_search.known import known_deals
from bmn_search.ranks import normal_form, variants_in
from bmn_search.rules import STANDARD
from bmn_search.search.grow import Grow

TRICKS = 128  # a game that goes on for longer is looked at
VARIANTS = 500


@functools.cache
def edits(cards: int, first: int) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """Return all edits of a position: which card comes to each place, and the first packet's size.

    Shapes (edits, cards) and (edits,). The same position may come out of several.
    """
    orders, sizes = [], []
    same = list(range(cards))
    for one in range(cards):
        for other in range(one):
            order = same.copy()
            order[one], order[other] = other, one
            orders.append(order)
            sizes.append(first)
        rest = same[:one] + same[one + 1 :]
        left = first - (one < first)  # of the first packet
        for place in range(cards):
            for into_first in (True, False):
                if (place <= left) if into_first else (place >= left):
                    size = left + into_first
                    if 0 < size < cards:
                        orders.append([*rest[:place], one, *rest[place:]])
                        sizes.append(size)
    return np.array(orders), np.array(sizes, np.uint32)


def neighbours(
    codes: NDArray[np.uint8], first: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return the positions one edit away: codes (positions, cards), first packet's size."""
    orders, sizes = edits(len(codes), first)
    rows = codes[orders]
    changed = (rows != codes).any(axis=1) | (sizes != first)
    return np.ascontiguousarray(rows[changed]), sizes[changed]


def around(cycle: Cycle, number: int) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint32]]]:
    """Yield the positions `number` edits away from those of a turn."""
    for codes, first in zip(cycle.codes, cycle.sizes.tolist(), strict=True):
        rows, sizes = neighbours(codes, first)
        if number == 1:
            yield rows, sizes
            continue
        once = np.unique(np.column_stack([sizes.astype(np.uint8), rows]), axis=0)
        for size, *row in once.tolist():
            yield neighbours(np.array(row, np.uint8), size)


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--edits", "number", type=click.IntRange(1, 2), default=1, show_default=True)
def main(files: tuple[str, ...], number: int) -> None:
    """Print the cycles of the same deck that are one or two edits away from those of FILES."""
    known = {}
    for file in files:
        for record in known_deals(file):
            cycle = find_cycle(record.deal)
            if cycle is not None:
                known[normal_form(cycle).canonical] = cycle
    for cycle in known.values():
        tell(cycle, number)


def tell(cycle: Cycle, number: int) -> None:
    """Search around one cycle and print what is there."""
    deck = alike_deck(Deck.own(cycle.canonical), STANDARD)
    growth = compiled.new_growth(deck, STANDARD, 0, Grow.weights, Grow.numbers, 0, 0)
    played = 0
    for rows, sizes in around(cycle, number):
        both = np.column_stack([sizes, rows.shape[1] - sizes]).astype(np.uint32)
        outcomes = play_many(Batch(rows, both, np.ones(len(rows), np.uint8)), max_tricks=TRICKS)
        played += len(rows)
        long = outcomes["status"] != 0
        growth.enter(np.ascontiguousarray(rows[long]), both[long].astype(np.uint8))
    found: dict[str, tuple[int, int, int]] = {}
    for codes, size in growth.found():
        other = find_cycle(relative(codes, size))
        assert other is not None
        for variant, _ in zip(variants_in(other, deck), range(VARIANTS), strict=False):
            deals = len(basin(variant).balanced_deals())
            found[str(variant.canonical)] = variant.turn.tricks, variant.balance, deals
    found.pop(str(cycle.canonical), None)
    click.echo(
        f"{cycle.canonical}: {played:,} positions {number} edits away, "
        f"{growth.counts()['loops']:,} never end; {growth.counts()['exact']:,} normal forms, "
        f"{len(found):,} other cycles, {sum(deals > 0 for _, _, deals in found.values()):,} with "
        f"balanced deals"
    )
    for text, (tricks, balance, deals) in sorted(found.items(), key=lambda item: -item[1][2])[:12]:
        click.echo(f"    {deals:>4} deals  {text}  turn of {tricks} tricks, balance {balance}")


if __name__ == "__main__":
    main()
