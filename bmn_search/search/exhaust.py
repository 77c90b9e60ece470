"""Exhaustion: every deal of a deck, by number, and what they all come to.

There are two ways to count the deals of a chunk, and they have nothing in common but the kernels:

- `_enumerated` plays each deal, one after the other (`native/exhaust.h`).
- `_shared` plays what is exactly equivalent once (`native/sharing.h`), with several times fewer
  games, and finds the deals that count by backward play from where their games went on.

Enumeration is the faster one where the vector kernels run; docs/exhaustive.md has the figures.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search.batch import Batch
from bmn_search.compiled import Roots, chosen_kernel
from bmn_search.deal import Deal, Deck
from bmn_search.engine import play_many
from bmn_search.errors import BmnError, DeckError
from bmn_search.histogram import LONGEST, merged
from bmn_search.notation import CODES
from bmn_search.rules import STANDARD, Rules
from bmn_search.search.runner import DisagreementError
from bmn_search.search.strategy import Candidate, ChunkResult, Dropped, Kind

__all__ = ["MOST_CARDS", "MOST_DEALS", "MOST_SHARED", "Exhaust", "Numbering", "usual_chunk"]

MOST_CARDS = 64  # of a deck: what a packed deal holds
MOST_DEALS = 2**31 - 1  # of a chunk
MOST_SHARED = 4_000_000  # deals that are shared unasked: it takes about 50 bytes each
BLOCK = 500_000  # deals between two looks at whether to stop
UNTURNED = 7  # the code of a card that may be any
MOST_ROWS = 2**32 - 2


@dataclass(frozen=True)
class Numbering:
    """The deals of a deck that are counted, and their numbers.

    Attributes
    ----------
    deck
        Of at most 64 cards.
    all_splits
        False: the packets are of `Deck.sizes`, and numbers are those of `Deck.index`. True: every
        pair of packet sizes, from 1 card in the first packet on; numbers go on from one pair to the
        next.

    Raises
    ------
    DeckError
        When the deck is too large.
    """

    deck: Deck
    all_splits: bool = False

    def __post_init__(self) -> None:
        if self.deck.size > MOST_CARDS:
            raise DeckError(
                f"deck {self.deck.name} has {self.deck.size:,} cards: expected at most "
                f"{MOST_CARDS} to exhaust it"
            )

    @property
    def splits(self) -> tuple[int, ...]:
        """Sizes of the first packet, in order."""
        return tuple(range(1, self.deck.size)) if self.all_splits else self.deck.sizes[:1]

    @property
    def deals(self) -> int:
        """How many deals there are."""
        return self.deck.deals * len(self.splits)

    def deal(self, number: int) -> Deal:
        """Return the deal of a number."""
        at, index = divmod(number, self.deck.deals)
        cards = "".join(self.deck.deal_at(index).packets)
        return Deal((cards[: self.splits[at]], cards[self.splits[at] :]))

    def number(self, deal: Deal) -> int:
        """Return the number of a deal in which player 1 leads."""
        cards, (first, _) = "".join(deal.packets), self.deck.sizes
        at = self.splits.index(len(deal.packets[0]))
        return at * self.deck.deals + self.deck.index(Deal((cards[:first], cards[first:])))

    def pieces(self, first: int, end: int) -> Iterator["Piece"]:
        """Divide a range of numbers by the sizes of the packets."""
        for at, split in enumerate(self.splits):
            base = at * self.deck.deals
            low, high = max(first, base), min(end, base + self.deck.deals)
            if low < high:
                yield Piece(split, low, high, base)


class Piece(NamedTuple):
    """Deals of one pair of packet sizes: numbers `first` to `end` - 1; `base` is index 0."""

    split: int
    first: int
    end: int
    base: int


@dataclass
class _Count:
    """What the deals of a range came to.

    Attributes
    ----------
    longest
        Most cards, and most tricks, with the least number of such a deal; 0 and -1 without any.
    loops
        The numbers of the deals that never end, in order.
    """

    games: int = 0
    plays: int = 0
    histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    longest: list[tuple[int, int]] = field(default_factory=lambda: [(0, -1), (0, -1)])
    loops: list[int] = field(default_factory=list)

    def add(self, other: "_Count") -> None:
        """Add what later deals came to."""
        self.games += other.games
        self.plays += other.plays
        self.histogram = merged(self.histogram, other.histogram)
        pairs = zip(self.longest, other.longest, strict=True)
        self.longest = [mine if mine[0] >= theirs[0] else theirs for mine, theirs in pairs]
        self.loops += other.loops


def usual_chunk(deck: Deck) -> int:
    """Return how many deals a chunk has unless told otherwise: seconds of work.

    Fewer of a large deck, since its games grow with the square: the slowest decks of 64 cards
    play 200,000 deals a second, half20 plays 6,000,000.
    """
    return min(Exhaust.games, Exhaust.games * 32**2 // deck.size**2)


@dataclass(frozen=True)
class Exhaust:
    """The strategy `exhaust`: chunk c counts the deals `first` + c * `games` and those after it.

    Attributes
    ----------
    deck, rules
        As in `Strategy`.
    first, end
        Which numbers: `first` to `end` - 1; by default all.
    all_splits
        As in `Numbering`.
    games
        How many deals a chunk has.
    share
        Whether equivalent games are played once; by default if the range is a single chunk of at
        most 4,000,000 deals.

    Raises
    ------
    BmnError
        When the deck is too large, the range is not in it, or games under limits should be shared.

    Examples
    --------
    >>> from bmn_search.deal import HALF20
    >>> result = Exhaust(HALF20).chunk(0, threading.Event())
    >>> result.games, result.loops, result.plays < result.games / 5
    (3488400, 16, True)
    """

    name: ClassVar[str] = "exhaust"
    seed: ClassVar[int] = 0
    keep: ClassVar[int] = 1

    deck: Deck
    rules: Rules = STANDARD
    first: int = 0
    end: int | None = None
    all_splits: bool = False
    games: int = 4_000_000
    share: bool | None = None

    def __post_init__(self) -> None:
        deals = self.numbering.deals
        end = deals if self.end is None else self.end
        if not 0 <= self.first < end <= deals:
            raise BmnError(
                f"deals {self.first} to {end} are no range of {self.deck.name}: expected numbers "
                f"from 0 to {deals}, the first below the last"
            )
        if not 1 <= self.games <= MOST_DEALS:
            raise BmnError(f"chunks of {self.games} deals: expected 1 to {MOST_DEALS:,}")
        limited = self.rules.max_tricks is not None or self.rules.max_cards is not None
        if self.share and limited:
            raise BmnError(f"{self.rules} rules have a limit: with one, equal games are not shared")
        object.__setattr__(self, "end", end)
        if self.share is None:
            alone = end - self.first <= min(self.games, MOST_SHARED)
            object.__setattr__(self, "share", alone and not limited)

    @property
    def numbering(self) -> Numbering:
        """The numbers of the deals."""
        return Numbering(self.deck, self.all_splits)

    @property
    def deals(self) -> int:
        """How many deals the range has."""
        assert self.end is not None
        return self.end - self.first

    @property
    def chunks(self) -> int:
        """How many chunks the range has."""
        return -(-self.deals // self.games)

    def parameters(self) -> dict[str, Any]:
        """Return the range, and how it is counted."""
        keys = ("first", "end", "all_splits", "games", "share")
        return {key: getattr(self, key) for key in keys}

    def range_of(self, number: int) -> tuple[int, int]:
        """Return the numbers of the first deal of a chunk and of the one after its last."""
        assert self.end is not None
        first = self.first + number * self.games
        return first, min(first + self.games, self.end)

    def chunk(self, number: int, stop: threading.Event) -> ChunkResult:
        """Count the deals of a chunk."""
        first, end = self.range_of(number)
        count = _Count()
        for piece in self.numbering.pieces(first, end):
            count.add(self._shared(piece, stop) if self.share else self._enumerated(piece, stop))
        return ChunkResult(
            count.games,
            len(count.loops),
            count.plays,
            count.histogram,
            self._candidates(count),
        )

    def _enumerated(self, piece: Piece, stop: threading.Event) -> _Count:
        """Play deal after deal."""
        count = _Count()
        tally = compiled.Tally(histogram := np.zeros(LONGEST + 1, np.uint64))
        where = np.zeros(2, np.uint64)
        codes = _codes(self.numbering.deal(piece.first))
        enumeration = compiled.new_enumeration(self.deck, codes, piece.split)
        for first in range(piece.first, piece.end, BLOCK):
            if stop.is_set():
                raise Dropped
            loops = np.empty(min(BLOCK, piece.end - first), np.uint64)
            offset = first - piece.first
            found = compiled.play_next(
                enumeration, chosen_kernel(), offset, self.rules, tally, where, loops
            )
            count.loops += [piece.first + loop for loop in loops[:found].tolist()]
        self._take(count, tally, histogram)
        count.longest = [
            (length, piece.first + offset) if length else (0, -1)
            for length, offset in zip(tally.longest, where.tolist(), strict=True)
        ]
        return count

    def _shared(self, piece: Piece, stop: threading.Event) -> _Count:
        """Play equivalent games once, then look for the deals that count."""
        if stop.is_set():
            raise Dropped
        count = _Count()
        tally = compiled.Tally(histogram := np.zeros(LONGEST + 1, np.uint64))
        rows = list(_beginnings(self.deck, piece.first - piece.base, piece.end - piece.base))
        depth, *longest, loops = compiled.share_deals(
            chosen_kernel(), self.deck, np.array(rows, np.uint8), piece.split, self.rules, tally
        )
        if any(roots.hidden for roots in longest):  # hardly any cards are ever turned twice
            return self._enumerated(piece, stop)
        self._take(count, tally, histogram)
        for at, (length, roots) in enumerate(zip(tally.longest, longest, strict=True)):
            deals, outcomes = self._leading_to(roots, depth, piece)
            lengths = outcomes[("cards", "tricks")[at]]
            hits = np.flatnonzero((lengths == length) & (outcomes["status"] == 0)).tolist()
            numbers = self._numbers_in(piece, deals, hits)
            count.longest[at] = (length, min(numbers)) if length else (0, -1)
        deals, _ = self._leading_to(loops, depth, piece)
        count.loops = sorted(self._numbers_in(piece, deals, range(len(deals))))
        if len(count.loops) != tally.loops:
            raise DisagreementError(
                f"of {self.deck} from deal {piece.first} on {tally.loops} were counted that never "
                f"end, {len(count.loops)} found by backward play: please report this"
            )
        return count

    @staticmethod
    def _take(count: _Count, tally: compiled.Tally, histogram: NDArray[np.uint64]) -> None:
        lengths = min(tally.longest[0], LONGEST) + 1 if tally.finished else 0
        count.histogram = histogram[:lengths].astype(np.int64)
        count.games, count.plays = tally.games, tally.plays

    def _leading_to(self, roots: Roots, depth: int, piece: Piece) -> tuple[Batch, NDArray[np.void]]:
        """Return all deals that lead to the roots within `depth` tricks, and their outcomes."""
        forest = compiled.new_forest(self.deck.size, self.rules)
        for row, size in zip(roots.codes, roots.sizes, strict=True):
            forest.root(np.ascontiguousarray(row), size, 0, 0, False)
        forest.grow(depth, MOST_ROWS, MOST_ROWS)
        codes = np.empty((len(forest), self.deck.size), np.uint8)
        sizes, distance, following, laid = (np.empty(len(forest), np.uint32) for _ in range(4))
        exchanged = np.empty(len(forest), np.uint8)
        forest.copy(codes, sizes, distance, following, laid, exchanged)
        deals = Batch.split(np.ascontiguousarray(codes[sizes == piece.split]), piece.split)
        return deals, play_many(deals, self.rules)

    def _numbers_in(self, piece: Piece, deals: Batch, rows: Any) -> list[int]:
        """Return the numbers of those deals that are of the piece."""
        numbers = (self.numbering.number(deals[row]) for row in rows)
        return [number for number in numbers if piece.first <= number < piece.end]

    def _candidates(self, count: _Count) -> list[Candidate]:
        """Return the longest games and the loops as they are to be proved and stored."""
        numbers: dict[int, Kind] = {number: "long" for length, number in count.longest if length}
        numbers |= dict.fromkeys(count.loops, "loop")
        deals = [self.numbering.deal(number) for number in numbers]
        rows = play_many(deals, self.rules)
        return [
            Candidate(kind, deal, int(row["cards"]), int(row["tricks"]), number - self.first)
            for (number, kind), deal, row in zip(numbers.items(), deals, rows, strict=True)
        ]


def _codes(deal: Deal) -> NDArray[np.uint8]:
    return np.array([CODES[symbol] for symbol in "".join(deal.packets)], np.uint8)


def _beginnings(deck: Deck, first: int, end: int) -> Iterator[list[int]]:
    """Yield the deals with indices `first` to `end` - 1 as rows of codes, those alike in one.

    In dictionary order the deals that begin with the same cards follow each other, so a range is a
    few such sets: each row has the first cards, and UNTURNED where any of the rest may lie.
    """

    def descend(
        cards: list[int], left: dict[str, int], base: int, ways: int
    ) -> Iterator[list[int]]:
        if first <= base and base + ways <= end:
            yield cards + [UNTURNED] * (deck.size - len(cards))
            return
        for symbol, _ in deck.counts:
            within = ways * left[symbol] // (deck.size - len(cards))
            if first < base + within and base < end and within:
                less = left | {symbol: left[symbol] - 1}
                yield from descend([*cards, CODES[symbol]], less, base, within)
            base += within

    yield from descend([], dict(deck.counts), 0, deck.deals)
