"""The complete world of a small deck: every position, any split, and where play from it leads.

Positions are relative to the player who leads, so there are cards - 1 splits of every arrangement
of the deck, and cycles are counted up to exchange of the players. How all of them are followed
with one trick each, in 32 bits a position, stands at the top of `native/world.h`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search._core import World as Core
from bmn_search.cycle import alike_deck
from bmn_search.deal import Deal, Deck, told
from bmn_search.errors import DeckError
from bmn_search.outcome import Count
from bmn_search.rules import STANDARD, Rules

__all__ = ["MOST_POSITIONS", "Basin", "Shell", "World", "world"]

MOST_POSITIONS = 2**30  # 4 GiB; two of the 32 bits say what a link is
SLICE = 50_000_000  # cards looked at, and
STRETCH = 2_000_000  # positions followed between two reports: both take about 0.1 s

Progress = Callable[[float], None]


class Shell(NamedTuple):
    """The positions at one distance from a cycle, or from the end of the game.

    Attributes
    ----------
    positions
        How many there are, up to exchange.
    balanced
        How many of them are balanced deals; of an odd number of cards the leader has one more.
    """

    positions: int
    balanced: int


@dataclass(frozen=True, slots=True)
class Basin:
    """A cycle, and how many positions lead into it, all up to exchange.

    Attributes
    ----------
    canonical
        The position that stands for the cycle, as `Cycle.canonical`.
    period
        Cards and tricks until a position recurs with each player in the same seat.
    mirror
        Whether the players are exchanged after half of that.
    shells
        The positions at distance 0 (those of the cycle), 1, 2, ... tricks.
    """

    canonical: Deal
    period: Count
    mirror: bool
    shells: tuple[Shell, ...]

    @property
    def size(self) -> int:
        """How many positions lead into the cycle, with those on it."""
        return sum(shell.positions for shell in self.shells)

    @property
    def depth(self) -> int:
        """Tricks from the farthest position to the cycle."""
        return len(self.shells) - 1

    @property
    def balanced(self) -> int:
        """How many of the positions are balanced deals."""
        return sum(shell.balanced for shell in self.shells)


@dataclass(frozen=True, slots=True)
class World:
    """What becomes of every position of a deck.

    Attributes
    ----------
    deck, rules
        As asked for; limits in the rules do not count.
    alike
        The deck that was played: cards of equal penalty are alike, written as the first such symbol
        of ``-JQKA``. All counts are of its positions.
    basins
        One a cycle, the largest first.
    ends
        The positions whose game ends after 1, 2, ... tricks.
    """

    deck: Deck
    rules: Rules
    alike: Deck
    basins: tuple[Basin, ...]
    ends: tuple[Shell, ...]

    @property
    def positions(self) -> int:
        """How many positions there are, up to exchange."""
        return _positions(self.alike)

    @property
    def balanced(self) -> int:
        """How many balanced deals there are; player 1 leads in each."""
        return self.alike.deals

    @property
    def each(self) -> int:
        """How many positions of `deck` each position of `alike` stands for."""
        return self.deck.deals // self.alike.deals

    @property
    def endless(self) -> int:
        """How many positions never end."""
        return sum(basin.size for basin in self.basins)

    @property
    def balanced_endless(self) -> int:
        """How many balanced deals never end."""
        return sum(basin.balanced for basin in self.basins)

    @property
    def longest_tricks(self) -> int:
        """Tricks in the longest finite game from any position."""
        return len(self.ends)


def world(deck: Deck | str, rules: Rules = STANDARD, progress: Progress | None = None) -> World:
    """Play every position of a small deck.

    Parameters
    ----------
    deck
        A deck, or a text for `Deck.parse`.
    rules
        Of two players.
    progress
        Called with the share of the work that is done, several times a second.

    Raises
    ------
    DeckError
        When the deck cannot be read, or has more than `MOST_POSITIONS` positions.
    MemoryError
        When there are not 4 bytes for each position.

    Examples
    --------
    >>> found = world("4-,2J")
    >>> found.positions, found.endless, found.longest_tricks
    (75, 3, 5)
    >>> [(str(basin.canonical), basin.period.tricks, basin.size) for basin in found.basins]
    [('--J-/J-', 2, 3)]
    """
    deck = Deck.parse(deck) if isinstance(deck, str) else deck
    rules = replace(rules.for_players(2), max_tricks=None, max_cards=None)
    played = alike_deck(deck, rules)
    _, core = explore(played, rules, progress)
    shells: dict[int | None, list[Shell]] = {}
    for positions, balanced, canonical, _ in core.shells():  # from the inside out
        shells.setdefault(canonical, []).append(Shell(positions, balanced))
    ends = shells.pop(None)
    basins = [
        _basin(played, rules, canonical, around)
        for canonical, around in shells.items()
        if canonical is not None
    ]
    basins.sort(key=lambda basin: (-basin.size, basin.shells, str(basin.canonical)))
    return World(deck, rules, played, tuple(basins), tuple(ends))


def explore(
    deck: Deck, rules: Rules, progress: Progress | None = None
) -> tuple[NDArray[np.uint32], Core]:
    """Put every position of a deck, in which no two symbols cost the same, into its shell.

    Returns
    -------
    tuple
        The number of the shell of each position: uint32, shape (positions,), in the order of
        `position`; and the compiled world, which lists the shells.

    Raises
    ------
    DeckError, MemoryError
        As `world`.
    """
    positions = _positions(deck)
    if positions > MOST_POSITIONS:
        raise DeckError(
            f"deck {deck.name!r} has {told(positions)} positions: expected at most "
            f"{MOST_POSITIONS:,} (4 GiB); a smaller deck has fewer"
        )
    links = np.empty(positions, np.uint32)
    core = compiled.new_world(deck, rules, links)
    step = max(1, SLICE // deck.size**2)
    for first, count in _slices(deck.deals, step):
        core.play(first, count)
        if progress:
            progress((first + count) / deck.deals / 2)
    for first, count in _slices(positions, STRETCH):
        core.follow(first, count)
        if progress:
            progress(0.5 + (first + count) / positions / 2)
    links &= 2**31 - 1
    return links, core


def position(deck: Deck, index: int) -> Deal:
    """Return a position by its place in the order of all: by split, then by arrangement."""
    split, rank = divmod(index, deck.deals)
    cards = "".join(deck.deal_at(rank).packets)
    return Deal((cards[: split + 1], cards[split + 1 :]))


def _positions(deck: Deck) -> int:
    return (deck.size - 1) * deck.deals


def _slices(total: int, step: int) -> Iterator[tuple[int, int]]:
    return ((first, min(step, total - first)) for first in range(0, total, step))


def _basin(deck: Deck, rules: Rules, index: int, shells: list[Shell]) -> Basin:
    canonical = position(deck, index)
    run = compiled.play(canonical, rules, None, None)
    return Basin(canonical, run.cycle, run.mirror, tuple(shells))
