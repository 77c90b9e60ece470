"""Random sampling: uniform deals by number; keeps the longest games and every loop.

The kernels take about 300 ns a game, so what is done with an outcome here has to be a few
vectorised passes over contiguous arrays; Python looks only at games that may be kept.
"""

import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal, Deck
from bmn_search.engine import play_blocks, random_deals
from bmn_search.errors import BmnError
from bmn_search.histogram import histogram_of, merged
from bmn_search.rules import STANDARD, Rules
from bmn_search.search.strategy import Candidate, ChunkResult, Dropped, Kind

__all__ = ["RandomDeals"]

MANY = 20  # loops in a block from which on its deals are dealt at once, not one by one


@dataclass(frozen=True)
class RandomDeals:
    """The strategy `random`: chunk c plays the deals c * `games` to (c + 1) * `games` - 1.

    Attributes
    ----------
    deck, rules, seed, keep
        As in `Strategy`.
    games
        How many deals a chunk has.
    """

    name: ClassVar[str] = "random"
    deck: Deck
    rules: Rules = STANDARD
    seed: int = 0
    keep: int = 10
    games: int = 5_000_000

    def __post_init__(self) -> None:
        if type(self.games) is not int or self.games < 1 or self.keep < 1:
            raise BmnError("games and keep: expected whole numbers from 1")

    def parameters(self) -> dict[str, Any]:
        """Return the size of a chunk."""
        return {"games": self.games}

    def chunk(self, number: int, stop: threading.Event) -> ChunkResult:
        """Play the deals of a chunk."""
        result = ChunkResult()
        longest = [_Longest(self, "cards"), _Longest(self, "tricks")]
        loops: dict[Deal, Candidate] = {}
        start = number * self.games
        for first, rows in play_blocks(self.deck, self.seed, start, self.games, self.rules, stop):
            loop_rows = np.flatnonzero(rows["status"] == 1)
            for at in self._different(first, len(rows), loop_rows):
                candidate = self.candidate(first, rows, at)
                loops.setdefault(candidate.deal, candidate)
            for kept in longest:
                kept.add(first, rows)
            result.games += len(rows)
            result.loops += len(loop_rows)
            result.histogram = merged(result.histogram, histogram_of(rows))
        if result.games < self.games:
            raise Dropped
        both = {candidate.deal: candidate for kept in longest for candidate in kept.candidates}
        result.candidates = [*both.values(), *loops.values()]
        return result

    def candidate(self, first: int, rows: NDArray[np.void], at: int) -> Candidate:
        """Return the deal at a place of a block that begins with deal number `first`."""
        kind: Kind = "loop" if rows["status"][at] == 1 else "long"
        deal = random_deals(self.deck, self.seed, first + at, 1)[0]
        return Candidate(kind, deal, int(rows["cards"][at]), int(rows["tricks"][at]), first + at)

    def _different(self, first: int, count: int, places: NDArray[np.int64]) -> list[int]:
        """Return the first places of different deals: in small decks most are repeated."""
        if len(places) <= MANY:
            return list(map(int, places))
        codes = random_deals(self.deck, self.seed, first, count).codes[places]
        _, kept = np.unique(codes, axis=0, return_index=True)
        return list(map(int, places[np.sort(kept)]))


class _Longest:
    """The longest finished games so far, by cards or by tricks, each deal once."""

    def __init__(self, strategy: RandomDeals, key: str) -> None:
        self._strategy, self._key = strategy, key
        self._deals: set[Deal] = set()
        self.candidates: list[Candidate] = []

    def add(self, first: int, rows: NDArray[np.void]) -> None:
        """Consider a block of outcomes."""
        keep = self._strategy.keep
        lengths = rows[self._key].astype(np.int64)
        lengths[rows["status"] != 0] = 0
        places = np.flatnonzero(lengths > self._least())
        if len(places) > 20 * keep:  # the first blocks, and decks with few different deals
            places = np.sort(places[np.argpartition(lengths[places], -20 * keep)[-20 * keep :]])
        for at in places[np.argsort(-lengths[places], kind="stable")].tolist():
            if lengths[at] <= self._least():
                break
            new = self._strategy.candidate(first, rows, at)
            if new.deal in self._deals:
                continue
            self._deals.add(new.deal)
            self.candidates.append(new)
            if len(self.candidates) > keep:
                self.candidates.sort(key=lambda kept: (-getattr(kept, self._key), kept.order))
                self._deals.discard(self.candidates.pop().deal)

    def _least(self) -> int:
        """Return the length that a game has to exceed."""
        if len(self.candidates) < self._strategy.keep:
            return 0
        return int(min(getattr(kept, self._key) for kept in self.candidates))
