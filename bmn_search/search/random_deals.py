"""Random sampling: play uniform deals by number and keep the longest games and every loop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from dataclasses import replace as changed

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal, Deck
from bmn_search.engine import play, play_random, random_deals
from bmn_search.outcome import Outcome
from bmn_search.rules import Rules

__all__ = ["Find", "Sample", "sample"]

# Deals between two looks at the clock: few at first, then as many as take this long.
FIRST_CHUNK, LARGEST_CHUNK, CHUNK_SECONDS = 16, 500_000, 0.1


@dataclass(frozen=True)
class Find:
    """A deal that was kept: its number, and its outcome, which the reference engine confirmed."""

    number: int
    outcome: Outcome


@dataclass
class Sample:
    """What a sample of random deals gave.

    Attributes
    ----------
    games, seconds
        How many were played, and the time it took.
    loop_games
        How many of them never end.
    longest
        For ``"cards"`` and ``"tricks"``: the longest finished games of different deals, longest
        first.
    loops
        Every deal that never ends, in the order of their first appearance.
    """

    games: int = 0
    seconds: float = 0.0
    loop_games: int = 0
    longest: dict[str, list[Find]] = field(default_factory=lambda: {"cards": [], "tricks": []})
    loops: dict[Deal, Find] = field(default_factory=dict)


def sample(
    deck: Deck,
    rules: Rules,
    *,
    seed: int = 0,
    first: int = 0,
    games: int | None = None,
    seconds: float | None = None,
    keep: int = 5,
    progress: Callable[[Sample], None] = lambda done: None,
) -> Sample:
    """Play the random deals `first`, `first` + 1, ... of a seed.

    Every outcome that is returned was replayed by the reference engine when it was found. Ctrl-C
    ends the sampling early and gives what was done.

    Parameters
    ----------
    deck, rules, seed, first
        Which deals, and how they are played.
    games, seconds
        Stop after so many deals, or after so long; None is no limit.
    keep
        How many of the longest games to return.
    progress
        Called after every chunk.
    """
    done = Sample()
    chunk = FIRST_CHUNK
    start = time.perf_counter()
    try:
        while (games is None or done.games < games) and (seconds is None or done.seconds < seconds):
            count = chunk if games is None else min(chunk, games - done.games)
            number = first + done.games
            begun = time.perf_counter()
            rows = play_random(deck, seed, number, count, rules)
            took = time.perf_counter() - begun

            def deal_at(at: int, number: int = number) -> Deal:
                return random_deals(deck, seed, number + at, 1)[0]

            _keep(done, number, rows, keep, deal_at, rules)
            done.games += count
            done.seconds = time.perf_counter() - start
            progress(done)
            wanted = int(count * CHUNK_SECONDS / max(took, 1e-6))
            chunk = max(1, min(wanted, 4 * chunk, LARGEST_CHUNK))
    except KeyboardInterrupt:
        done.seconds = time.perf_counter() - start
    return done


def _keep(
    done: Sample,
    number: int,
    rows: NDArray[np.void],
    keep: int,
    deal_at: Callable[[int], Deal],
    rules: Rules,
) -> None:
    """Add what is worth keeping of a chunk of outcomes that begins with deal number `number`."""
    for at in np.flatnonzero(rows["status"] == 1).tolist():
        done.loop_games += 1
        deal = deal_at(at)
        if deal not in done.loops:
            done.loops[deal] = _proved(deal, number + at, rules)
    finished = rows["status"] == 0
    for key, longest in done.longest.items():
        lengths = (rows[key] * finished).astype(np.int64)
        for at in _longest_first(lengths, 20 * keep):
            worst = getattr(longest[-1].outcome, key) if len(longest) == keep else 0
            if lengths[at] <= worst:
                break
            deal = deal_at(at)
            if all(deal != other.outcome.deal for other in longest):
                longest.append(_proved(deal, number + at, rules))
                longest.sort(key=lambda kept: -getattr(kept.outcome, key))
                del longest[keep:]


def _longest_first(lengths: NDArray[np.int64], most: int) -> Iterator[int]:
    """Yield the places of the greatest lengths, the earlier of two equal ones first."""
    most = min(most, len(lengths))
    candidates = np.sort(np.argpartition(-lengths, most - 1)[:most])
    yield from candidates[np.argsort(-lengths[candidates], kind="stable")].tolist()


def _proved(deal: Deal, number: int, rules: Rules) -> Find:
    """Return a find, once the reference engine has confirmed its outcome."""
    outcome = play(deal, rules)
    oracle = play(deal, rules, engine="reference")
    if changed(outcome, engine="") != changed(oracle, engine=""):
        raise AssertionError(f"the engines disagree on {deal} under {rules}: {outcome}, {oracle}")
    return Find(number, outcome)
