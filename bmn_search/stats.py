"""Statistics of the lengths of sampled games: chunked, so that memory does not grow with games."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal, Deck
from bmn_search.engine import play_blocks, random_deals
from bmn_search.histogram import histogram_of, merged
from bmn_search.rules import STANDARD, Rules
from bmn_search.workers import in_order, usable_cores

__all__ = ["Statistics", "collect"]

CHUNK = 100_000
TAIL = 0.01  # the e-folding length is fitted to the longest hundredth of the games


@dataclass
class Statistics:
    """Lengths of finished games, and how many others there were.

    Attributes
    ----------
    deck, rules, seed, first
        Which deals: numbers `first`, `first` + 1, ... of the seed.
    games
        How many were played.
    seconds
        How long that took.
    loops, unknown
        How many never end, or were stopped by a limit; no length counts them.
    histogram
        int64: how many finished games had 0, 1, 2, ... cards; `LONGEST` stands for more, too.
    cards, squares, tricks
        Total cards, squares of cards, and tricks of the finished games.
    leader_wins
        How many of them the first leader won.
    longest
        Cards and deal number of the longest finished game.
    """

    deck: Deck
    rules: Rules
    seed: int
    first: int
    games: int = 0
    seconds: float = 0.0
    loops: int = 0
    unknown: int = 0
    histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    cards: int = 0
    squares: float = 0.0
    tricks: int = 0
    leader_wins: int = 0
    longest: tuple[int, int] = (0, 0)

    @property
    def finished(self) -> int:
        """How many games finished."""
        return int(self.histogram.sum())

    @property
    def mean(self) -> float:
        """Mean number of cards."""
        return self.cards / max(self.finished, 1)

    @property
    def mean_error(self) -> float:
        """Standard error of the mean; NaN if fewer than two games finished."""
        if self.finished < 2:
            return math.nan
        variance = max(0.0, self.squares / self.finished - self.mean**2)
        return math.sqrt(variance / self.finished)

    @property
    def mean_tricks(self) -> float:
        """Mean number of tricks."""
        return self.tricks / max(self.finished, 1)

    @property
    def leader_share(self) -> float:
        """Share of the finished games that the first leader won."""
        return self.leader_wins / max(self.finished, 1)

    def quantile(self, share: float) -> int:
        """Return the least length that at least this share of the games did not exceed."""
        total = self.histogram.cumsum()
        return int(np.searchsorted(total, share * self.finished)) if self.finished else 0

    def tail(self, cards: int) -> int:
        """Count the games of more than so many cards."""
        return int(self.histogram[cards + 1 :].sum())

    @property
    def folding(self) -> tuple[float, float, int]:
        """The e-folding length of the tail, its standard error, and from which length it is fitted.

        Beyond that length, which the longest hundredth of the games exceed, lengths are taken
        to be geometric: the maximum-likelihood fit is given by the mean excess. NaN if there are
        fewer than two such games.
        """
        start = self.quantile(1 - TAIL)
        excess = self.histogram[start + 1 :]
        count = int(excess.sum())
        mean = float(np.arange(1, len(excess) + 1) @ excess / max(count, 1))
        if count < 2 or mean <= 1:
            return math.nan, math.nan, start
        length = -1 / math.log1p(-1 / mean)
        return length, length / math.sqrt(count), start

    @property
    def longest_deal(self) -> Deal:
        """The deal of the longest game."""
        return random_deals(self.deck, self.seed, self.longest[1], 1)[0]

    def add(self, first: int, rows: NDArray[np.void]) -> None:
        """Add the outcomes of a chunk that begins with deal number `first`."""
        self.games += len(rows)
        self.loops += int((rows["status"] == 1).sum())
        self.unknown += int((rows["status"] == 2).sum())
        done = rows["status"] == 0
        lengths = rows["cards"][done].astype(np.int64)
        if len(lengths) == 0:
            return
        self.histogram = merged(self.histogram, histogram_of(rows))
        self.cards += int(lengths.sum())
        self.squares += float(np.square(lengths, dtype=np.float64).sum())
        self.tricks += int(rows["tricks"][done].sum())
        self.leader_wins += int((rows["winner"][done] == 1).sum())
        most = int(lengths.max())
        if most > self.longest[0]:
            number = int(np.flatnonzero(done)[lengths.argmax()])
            self.longest = most, first + number

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON document: all figures but the histogram."""
        length, error, start = self.folding
        return {
            "deck": self.deck.name,
            "rules": self.rules.name,
            "seed": self.seed,
            "first": self.first,
            "games": self.games,
            "seconds": round(self.seconds, 3),
            "loops": self.loops,
            "unknown": self.unknown,
            "mean_cards": self.mean,
            "mean_cards_error": None if math.isnan(self.mean_error) else self.mean_error,
            "mean_tricks": self.mean_tricks,
            "median_cards": self.quantile(0.5),
            "deciles": [self.quantile(tenth / 10) for tenth in range(1, 10)],
            "tail": {str(cards): self.tail(cards) for cards in self.tail_lengths()},
            "e_folding_cards": None if math.isnan(length) else length,
            "e_folding_error": None if math.isnan(error) else error,
            "e_folding_from": start,
            "leader_wins": self.leader_share,
            "longest_cards": self.longest[0],
            "longest_number": self.longest[1],
            "longest_deal": str(self.longest_deal) if self.finished else None,
        }

    def tail_lengths(self) -> list[int]:
        """Return the lengths at which the tail is told: every 500 cards, or coarser, 20 at most."""
        step = 500 * max(1, -(-len(self.histogram) // 10_000))
        return list(range(step, max(step + 1, len(self.histogram)), step))


def collect(
    deck: Deck,
    rules: Rules = STANDARD,
    *,
    games: int,
    seed: int = 0,
    first: int = 0,
    threads: int | None = None,
    progress: Callable[[Statistics], None] = lambda done: None,
) -> Statistics:
    """Play sampled deals and count their lengths; Ctrl-C gives what was done.

    Parameters
    ----------
    deck, rules
        What is dealt, and how it is played.
    games, seed, first
        Play the deals `first` to `first` + `games` - 1 of a seed.
    threads
        How many play at the same time; by default all usable cores.
    progress
        Called after every chunk.

    Raises
    ------
    BmnError
        When a number is out of range, or the rules cannot be applied.
    """
    done = Statistics(deck, rules, seed, first)
    start = time.perf_counter()
    numbers = range(first, first + games, CHUNK)

    def play_chunk(number: int, stop: threading.Event) -> list[tuple[int, NDArray[np.void]]]:
        count = min(CHUNK, first + games - number)
        return list(play_blocks(deck, seed, number, count, rules, stop))

    try:
        for blocks in in_order(play_chunk, numbers, threads or usable_cores()):
            for number, rows in blocks:
                done.add(number, rows)
            done.seconds = time.perf_counter() - start
            progress(done)
    except KeyboardInterrupt:
        pass
    return done
