"""Random sampling: play uniform deals by number and keep the longest games and every loop."""

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bmn_search.deal import Deal, Deck
from bmn_search.engine import deals_from, play, play_many, random_deals
from bmn_search.outcome import Outcome
from bmn_search.rules import Rules

__all__ = ["Sample", "sample"]

CHUNK = 10_000  # deals between two looks at the clock: some tens of milliseconds


@dataclass
class Sample:
    """What a sample of random deals gave.

    Attributes
    ----------
    games, seconds
        How many were played, and the time it took.
    longest_cards, longest_tricks
        The longest finished games by cards and by tricks, longest first.
    loops
        Every game that never ends.

    """

    games: int = 0
    seconds: float = 0.0
    longest_cards: list[Outcome] = field(default_factory=list)
    longest_tricks: list[Outcome] = field(default_factory=list)
    loops: list[Outcome] = field(default_factory=list)


def sample(
    deck: Deck,
    rules: Rules,
    *,
    seed: int = 0,
    games: int | None = None,
    seconds: float | None = None,
    keep: int = 5,
    progress: Callable[[Sample, int], None] = lambda sample, cards: None,
) -> Sample:
    """Play the random deals 0, 1, 2, ... of a seed.

    Every outcome that is returned was replayed by the reference engine. Ctrl-C ends the sampling
    early and gives what was done.

    Parameters
    ----------
    deck, rules, seed
        Which deals, and how they are played.
    games, seconds
        Stop after so many deals, or after so long; None is no limit.
    keep
        How many of the longest games to return.
    progress
        Called after every chunk with the sample so far and the most cards of a game.

    """
    done = Sample()
    best: dict[str, list[tuple[int, Deal]]] = {"cards": [], "tricks": []}
    loops: list[Deal] = []
    start = time.perf_counter()
    try:
        while (games is None or done.games < games) and (seconds is None or done.seconds < seconds):
            count = CHUNK if games is None else min(CHUNK, games - done.games)
            codes = random_deals(deck, seed, done.games, count)
            outcomes = play_many(codes, deck.sizes[0], rules)
            loops += deals_from(codes[outcomes["status"] == 1], deck.sizes[0])
            finished = outcomes["status"] == 0
            for key, longest in best.items():
                lengths = outcomes[key] * finished
                longest_first = lengths.argsort(kind="stable")[::-1][:keep]
                deals = deals_from(codes[longest_first], deck.sizes[0])
                found = zip(lengths[longest_first].tolist(), deals, strict=True)
                best[key] = heapq.nlargest(keep, [*longest, *found], key=lambda entry: entry[0])
            done.games += count
            done.seconds = time.perf_counter() - start
            progress(done, best["cards"][0][0] if best["cards"] else 0)
    except KeyboardInterrupt:
        done.seconds = time.perf_counter() - start
    done.longest_cards = [_proved(deal, rules) for length, deal in best["cards"] if length]
    done.longest_tricks = [_proved(deal, rules) for length, deal in best["tricks"] if length]
    done.loops = [_proved(deal, rules) for deal in loops]
    return done


def _proved(deal: Deal, rules: Rules) -> Outcome:
    """Return the outcome of a find, once the reference engine has confirmed it."""
    outcome = play(deal, rules)
    oracle = play(deal, rules, engine="reference")
    if outcome.as_dict() | {"engine": ""} != oracle.as_dict() | {"engine": ""}:
        raise AssertionError(f"the engines disagree on {deal} under {rules}: {outcome}, {oracle}")
    return outcome
