"""Backward play: the positions that lead to a position, and all that lead into a cycle.

How predecessors are found, and why all of them are, stands at the top of `native/ancestry.h`.
Positions are told apart up to exchange of the players, that is, relative to the one who leads: a
deal in which player 1 leads is one position, and a basin holds no mirrored copies of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search._core import Forest
from bmn_search.cycle import Cycle, relative, two_packets
from bmn_search.deal import Deal
from bmn_search.errors import BmnError
from bmn_search.notation import CODES
from bmn_search.outcome import Count
from bmn_search.rules import STANDARD, Rules

__all__ = ["Ancestry", "ancestors", "basin", "longest_ancestor", "predecessors"]

LIMIT = 1_000_000  # positions, unless they take more than
MEMORY = 2**30  # bytes
MOST = 2**32 - 2  # positions, and tricks: they are numbered with 32 bits
SLICE = 200_000  # positions whose predecessors are looked for between two reports

Ended = Literal["complete", "depth", "limit"]
_ENDED: tuple[Ended, ...] = ("complete", "depth", "limit")  # from state 1 on

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Ancestry:
    """Positions, each once up to exchange, and how they lead on to the first ones, the roots.

    Rows are in the order of the distance. Each array has one entry a position.

    Attributes
    ----------
    rules
        The rules of the game.
    leader
        Who leads in the first root, 1 or 2: `deal` tells of every position as it leads there.
    roots
        How many positions are at distance 0: the given one, or those of the cycle.
    ended
        ``"complete"``: these are all. ``"depth"``: all within the depth asked for, and beyond it
        there may be more. ``"limit"``: there are more than the limit, and the last rows may lack
        some of their own distance.
    codes
        uint8, shape (positions, cards): card codes, the leader's packet first.
    sizes
        uint32: cards in the leader's packet.
    distance
        uint32: tricks to the nearest root.
    following
        uint32: the row of the position one trick later. A single root follows itself, with 0
        cards laid.
    laid
        uint32: cards laid in that trick.
    exchanged
        bool: whether the other player leads after it.
    """

    rules: Rules
    leader: int
    roots: int
    ended: Ended
    codes: NDArray[np.uint8]
    sizes: NDArray[np.uint32]
    distance: NDArray[np.uint32]
    following: NDArray[np.uint32]
    laid: NDArray[np.uint32]
    exchanged: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def depth(self) -> int:
        """Tricks from the farthest position to the nearest root."""
        return int(self.distance[-1])

    @cached_property
    def balanced(self) -> NDArray[np.bool_]:
        """Which positions could be dealt: equal packets; of an odd card the leader has it."""
        cards = self.codes.shape[1]
        return np.asarray(self.sizes == cards - cards // 2)

    @cached_property
    def cards(self) -> NDArray[np.int64]:
        """Cards laid on the way to the nearest root: int64, one entry a position."""
        laid = np.zeros(len(self), np.int64)
        starts = np.searchsorted(self.distance, np.arange(1, self.depth + 2))
        for first, end in pairwise(starts):
            laid[first:end] = laid[self.following[first:end]] + self.laid[first:end]
        return laid

    def deal(self, row: int) -> Deal:
        """Return a position with the players in the seats from which it leads to the root.

        In a basin, whose roots lead to each other, player 1 leads in every position.
        """
        leader = self.leader
        if not self.laid[0]:  # the root leads nowhere: it is no cycle
            at = row
            while self.distance[at]:
                leader = 3 - leader if self.exchanged[at] else leader
                at = int(self.following[at])
        return relative(self.codes[row], int(self.sizes[row]), leader)

    def longest_first(self) -> NDArray[np.intp]:
        """Return the rows of the balanced positions but for roots, the longest way first."""
        rows = np.flatnonzero(self.balanced & (self.distance > 0))
        return rows[np.argsort(-self.cards[rows], kind="stable")]

    def balanced_deals(self) -> list[Deal]:
        """Return the balanced positions as deals, player 1 leading, nearest first."""
        return [
            relative(self.codes[row], int(self.sizes[row])) for row in np.flatnonzero(self.balanced)
        ]


def predecessors(position: Deal | str, rules: Rules = STANDARD) -> list[Deal]:
    """Return every position from which one trick leads here, either player leading it.

    The position may be the end of a game, one player holding all cards, whoever leads in it: then
    the trick may have ended because the loser had no card to turn.

    Raises
    ------
    DealError
        When the position is not of two players.

    Examples
    --------
    >>> [str(deal) for deal in predecessors("---J-/-Q--")]
    ['J---/--Q--', 'J--/---Q-- leader=2', '-J-/---Q--', '-J/----Q-- leader=2']
    """
    found = compiled.predecessors(two_packets(position), rules)
    return [relative(codes, size, leader) for codes, size, leader in found]


def ancestors(
    position: Deal | str,
    depth: int | None = None,
    limit: int | None = None,
    rules: Rules = STANDARD,
    *,
    progress: Progress | None = None,
) -> Ancestry:
    """Return a position and all that lead to it, breadth first, each once up to exchange.

    Parameters
    ----------
    depth
        Most tricks back; None is all there are.
    limit
        Most positions; None is 1,000,000, or as many as take 1 GiB.
    progress
        Called with the number of positions found, several times a second.

    Raises
    ------
    DealError
        When the position is not of two players.
    BmnError
        When depth or limit is out of range.
    """
    deal = two_packets(position)
    leading, other = deal.packets if deal.leader == 1 else deal.packets[::-1]
    forest = compiled.new_forest(deal.size, rules)
    codes = np.array([CODES[symbol] for symbol in leading + other], np.uint8)
    forest.root(codes, len(leading), 0, 0, False)
    return _grown(forest, rules, deal.leader, depth, limit, progress)


def basin(
    cycle: Cycle,
    depth: int | None = None,
    limit: int | None = None,
    *,
    progress: Progress | None = None,
) -> Ancestry:
    """Return all positions that lead into a cycle, those on it first, each once up to exchange.

    Cards that cost the same are alike, as in `Cycle`. The other parameters are those of
    `ancestors`.

    Raises
    ------
    BmnError
        When depth or limit is out of range.
    """
    forest = compiled.new_forest(cycle.codes.shape[1], cycle.rules)
    tricks = len(cycle.sizes)
    for trick in range(tricks):
        forest.root(
            cycle.codes[trick],
            int(cycle.sizes[trick]),
            (trick + 1) % tricks,
            int(cycle.laid[trick]),
            bool(cycle.exchanged[trick]),
        )
    return _grown(forest, cycle.rules, 1, depth, limit, progress)


def _grown(
    forest: Forest,
    rules: Rules,
    leader: int,
    depth: int | None,
    limit: int | None,
    progress: Progress | None,
) -> Ancestry:
    roots = len(forest)
    depth = MOST if depth is None else depth
    if not 0 <= depth <= MOST:
        raise BmnError(f"depth {depth}: expected 0 to {MOST:,} tricks")
    if limit is None:
        limit = max(roots, min(LIMIT, MEMORY // (forest.cards + 40)))
    if not roots <= limit <= MOST:
        raise BmnError(
            f"limit {limit}: expected at least {roots:,} positions, which is where to begin, and "
            f"at most {MOST:,}"
        )
    while not (state := forest.grow(depth, limit, SLICE)):
        if progress:
            progress(len(forest))
    count = len(forest)
    codes = np.empty((count, forest.cards), np.uint8)
    sizes, distance, following, laid = np.empty((4, count), np.uint32)
    exchanged = np.empty(count, np.uint8)
    forest.copy(codes, sizes, distance, following, laid, exchanged)
    return Ancestry(
        rules,
        leader,
        roots,
        _ENDED[state - 1],
        codes,
        sizes,
        distance,
        following,
        laid,
        exchanged.view(np.bool_),
    )


def longest_ancestor(
    deal: Deal, rules: Rules = STANDARD, limit: int | None = None
) -> tuple[Deal, Count] | None:
    """Return the balanced deal, player 1 leading, with the longest way to this one.

    Returns
    -------
    tuple or None
        The deal, and how many cards and tricks longer its game is; None if no other balanced
        deal within the limit leads here.
    """
    found = ancestors(deal, None, limit, rules)
    for row in found.longest_first():
        longer = Count(int(found.cards[row]), int(found.distance[row]))
        return relative(found.codes[row], int(found.sizes[row])), longer
    return None
