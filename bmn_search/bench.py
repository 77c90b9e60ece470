"""Benchmarks: one signature that no optimisation may change, and honest throughput figures.

The signature sums up the outcomes of a fixed range of deals. It is the same for every kernel,
number of threads and machine; a change of it is a change of what the engine computes.

Throughput is a ratio to the yardstick, `plain`: a compiled engine of byte queues, card by card,
the way public engines work, with a full shuffle. All kernels are measured in turn, round after
round, and each figure is compared with the yardstick's of the same round, since the speed of a
shared machine changes from minute to minute.
"""

import hashlib
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search.batch import Batch
from bmn_search.compiled import YARDSTICK, available_kernels
from bmn_search.deal import STANDARD52, Deck
from bmn_search.engine import OUTCOME_DTYPE, play_many, play_random, random_deals
from bmn_search.errors import BmnError
from bmn_search.rules import STANDARD
from bmn_search.workers import in_order

__all__ = ["SIGNATURE_GAMES", "Figure", "Measurement", "measure", "signature"]

SIGNATURE_GAMES = 1_000_000  # seed 0, deals 0 to 999,999 of the standard deck
CHUNK = 50_000
BATCH = 20_000  # deals played at a time when measuring: they stay in the cache, as in a search

_HASHED = np.dtype(
    [(name, f"<u{OUTCOME_DTYPE[name].itemsize}") for name in OUTCOME_DTYPE.names or ()]
)


def signature(kernel: str | None = None, threads: int = 1, games: int = SIGNATURE_GAMES) -> str:
    """Return the signature of the first `games` deals of seed 0 of the standard deck.

    Parameters
    ----------
    kernel
        As in `play_many`; the yardstick, ``"plain"``, plays the same deals here.
    threads
        How many play at the same time.
    games
        How many deals; the signature of the project is that of a million.

    Returns
    -------
    str
        ``games-cards-tricks-loops-hash``: four totals in decimal, and 16 hexadecimal digits of a
        BLAKE2b hash over all outcomes in order.

    Examples
    --------
    >>> signature(games=1000) == signature("general", threads=2, games=1000)
    True
    """

    def play_chunk(first: int, stop: threading.Event) -> NDArray[np.void]:
        count = min(CHUNK, games - first)
        if kernel == YARDSTICK:
            return play_many(random_deals(STANDARD52, 0, first, count), kernel=kernel)
        return play_random(STANDARD52, 0, first, count, kernel=kernel)

    digest, cards, tricks, loops = hashlib.blake2b(digest_size=8), 0, 0, 0
    for rows in in_order(play_chunk, range(0, games, CHUNK), threads):
        digest.update(rows.astype(_HASHED).tobytes())
        cards += int(rows["cards"].sum())
        tricks += int(rows["tricks"].sum())
        loops += int((rows["status"] == 1).sum())
    return f"{games}-{cards}-{tricks}-{loops}-{digest.hexdigest()}"


@dataclass(frozen=True)
class Figure:
    """One rate, in games a second, over all rounds.

    Attributes
    ----------
    median, least, most
        Games a second.
    ratio
        Median over the rounds of this rate to the yardstick's in the same round.
    ratio_least, ratio_most
        The spread of that ratio: its quartiles.
    """

    median: float
    least: float
    most: float
    ratio: float
    ratio_least: float
    ratio_most: float


@dataclass(frozen=True)
class Measurement:
    """What a kernel does: playing only, with dealing, and cards a second while playing only."""

    kernel: str
    play_only: Figure
    with_dealing: Figure
    cards: float


def measure(
    deck: Deck = STANDARD52,
    *,
    seconds: float = 20.0,
    threads: int = 1,
    rounds: int = 11,
    progress: Callable[[int, int], None] = lambda done, rounds: None,
) -> list[Measurement]:
    """Measure every kernel and the yardstick, interleaved.

    Parameters
    ----------
    deck
        Whose random deals to play.
    seconds
        About how long to take in all.
    threads
        How many play at the same time, each its own deals.
    rounds
        How often to go through all of them.
    progress
        Called after every round.

    Raises
    ------
    BmnError
        When a number is not positive.

    Returns
    -------
    list of Measurement
        The yardstick first, then the kernels from the slowest to the fastest.
    """
    if not seconds > 0 or threads < 1 or rounds < 1:
        raise BmnError("seconds, threads and rounds: expected positive numbers")
    kernels = [YARDSTICK, *available_kernels()]
    batches = [random_deals(deck, 2, thread * BATCH, BATCH) for thread in range(threads)]
    cards_a_game = float(np.mean([play_many(batch)["cards"].mean() for batch in batches]))
    share = seconds / rounds / len(kernels) / 2
    repeats = {kernel: _repeats(kernel, batches[0], share) for kernel in kernels}
    rates: dict[tuple[str, bool], list[float]] = {
        (kernel, dealing): [] for kernel in kernels for dealing in (False, True)
    }
    for done in range(rounds):
        for (kernel, dealing), measured in rates.items():
            measured.append(_rate(kernel, deck, batches, dealing, repeats[kernel]))
        progress(done + 1, rounds)
    results = []
    for kernel in kernels:
        play_only, with_dealing = (
            _figure(rates[kernel, dealing], rates[YARDSTICK, dealing]) for dealing in (False, True)
        )
        cards = play_only.median * cards_a_game
        results.append(Measurement(kernel, play_only, with_dealing, cards))
    return results


def _repeats(kernel: str, batch: Batch, share: float) -> int:
    """Return how often a kernel plays a batch in about `share` seconds."""
    start = time.perf_counter()
    play_many(batch, kernel=kernel)
    return max(1, round(share / (time.perf_counter() - start)))


def _rate(kernel: str, deck: Deck, batches: list[Batch], dealing: bool, repeats: int) -> float:
    """Return games a second of all threads together, each playing a batch several times."""

    def work(thread: int) -> None:
        for repeat in range(repeats):
            if dealing:
                first = (thread * repeats + repeat) * BATCH
                rows = np.zeros(BATCH, OUTCOME_DTYPE)
                compiled.play_seed(kernel, deck, 3, first, STANDARD, None, rows)
            else:
                play_many(batches[thread], kernel=kernel)

    running = [threading.Thread(target=work, args=(thread,)) for thread in range(1, len(batches))]
    start = time.perf_counter()
    for thread in running:
        thread.start()
    work(0)
    for thread in running:
        thread.join()
    return repeats * BATCH * len(batches) / (time.perf_counter() - start)


def _figure(rates: list[float], yardstick: list[float]) -> Figure:
    ratios = [rate / plain for rate, plain in zip(rates, yardstick, strict=True)]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Figure(
        median=statistics.median(rates),
        least=min(rates),
        most=max(rates),
        ratio=statistics.median(ratios),
        ratio_least=quartiles[0],
        ratio_most=quartiles[2],
    )
