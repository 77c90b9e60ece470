"""Play: one deal or many, by the compiled engine or by the reference engine."""

import operator
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled, cycle, reference
from bmn_search.batch import Batch
from bmn_search.deal import Deal, Deck
from bmn_search.errors import BmnError
from bmn_search.outcome import Distinct, Outcome
from bmn_search.rules import STANDARD, Rules

__all__ = [
    "ENGINES",
    "OUTCOME_DTYPE",
    "Engine",
    "play",
    "play_blocks",
    "play_both",
    "play_many",
    "play_random",
    "random_deals",
]

Engine = Literal["fast", "reference"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

# Blocks begin small, since a game may be long, and stay small enough for the cache.
FIRST_BLOCK, LARGEST_BLOCK, BLOCK_SECONDS = 64, 40_000, 0.1

OUTCOME_DTYPE = np.dtype(
    [
        ("cards", np.uint64),
        ("tricks", np.uint64),
        ("transient_cards", np.uint64),
        ("transient_tricks", np.uint64),
        ("cycle_cards", np.uint64),
        ("cycle_tricks", np.uint64),
        ("status", np.uint8),
        ("winner", np.uint8),
    ],
    align=True,
)


def play(
    deal: Deal | str,
    rules: Rules | str = STANDARD,
    *,
    max_tricks: int | None = None,
    distinct: Distinct = "none",
    engine: Engine = "fast",
) -> Outcome:
    """Play a deal to its end, to its first repeated position, or to a limit.

    Parameters
    ----------
    deal
        A deal, or its text for `Deal.parse`. Any composition: `Deck.of` checks it.
    rules
        Rules, or the name of a rule sheet. They are applied to as many players as the deal has
        packets.
    max_tricks
        Stop after so many tricks, instead of the limit in the rules.
    distinct
        Which cards a repeated position tells apart one by one: ``"none"``, every ``"plain"``
        card, or ``"all"``.
    engine
        ``"fast"``: compiled, constant memory, two players; a deal for more players is played by
        the reference engine, and the outcome says so. ``"reference"``: plain Python.

    Raises
    ------
    DealError, RulesError
        When the deal cannot be read, or the rules are not for so many players.

    Examples
    --------
    >>> outcome = play("---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA")
    >>> outcome.status, outcome.cycle_tricks, outcome.cycle_cards
    ('loop', 62, 440)
    >>> play("J--/-J-", max_tricks=2).status
    'unknown'
    """
    deal = Deal.parse(deal) if isinstance(deal, str) else deal
    rules = _rules(rules, max_tricks, len(deal.packets))
    if engine not in ENGINES:
        raise BmnError(f"engine {engine!r} is unknown: expected one of {', '.join(ENGINES)}")
    if distinct not in get_args(Distinct):
        raise BmnError(
            f"distinct {distinct!r} is unknown: expected one of {', '.join(get_args(Distinct))}"
        )
    if engine == "reference" or len(deal.packets) > 2:
        return reference.play(deal, rules, distinct=distinct)
    return _play_compiled(deal, rules, distinct)


def _play_compiled(deal: Deal, rules: Rules, distinct: Distinct) -> Outcome:
    run = compiled.play(deal, rules, rules.max_tricks, rules.max_cards)
    if distinct != "none" and run.status == "loop":
        run = cycle.tell_apart(deal, rules, run, distinct)
    if run.status == "finished":
        return Outcome.finished(deal, rules, "fast", run.winner, run.total, run.last_pile)
    if run.status == "loop":
        return Outcome.loop(deal, rules, "fast", run.transient, run.cycle, run.mirror, run.held)
    return Outcome.unknown(deal, rules, "fast", run.total, run.held)


def play_both(
    deal: Deal, rules: Rules, distinct: Distinct = "none"
) -> tuple[Outcome, Outcome, bool]:
    """Play with both engines; return both outcomes and whether they agree in all but the engine."""
    outcome = play(deal, rules, distinct=distinct)
    oracle = play(deal, rules, distinct=distinct, engine="reference")
    return outcome, oracle, replace(outcome, engine="") == replace(oracle, engine="")


def random_deals(deck: Deck, seed: int, first: int, count: int) -> Batch:
    """Deal a range of the random deals of a seed.

    Deal number n of a seed is a pure function of the two, on every machine. Every order of the
    deck is equally likely; see `native/dealing.h` for the argument.

    Parameters
    ----------
    deck
        What to shuffle; a balanced deal of it, in which player 1 leads.
    seed, first
        From 0 to 2**64 - 1.
    count
        How many deals.

    Raises
    ------
    BmnError
        When a number is out of range.

    Examples
    --------
    >>> from bmn_search import Deck
    >>> half20 = Deck.parse("half20")
    >>> random_deals(half20, 1, 5, 2)[0] == random_deals(half20, 1, 0, 9)[5]
    True
    """
    seed, first, count = _checked_range(seed, first, count)
    codes = np.empty((count, deck.size), np.uint8)
    compiled.deal_many(deck, seed, first, codes)
    return Batch.split(codes, deck.sizes[0])


def play_many(
    deals: Batch | Iterable[Deal],
    rules: Rules | str = STANDARD,
    max_tricks: int | None = None,
    *,
    kernel: str | None = None,
) -> NDArray[np.void]:
    """Play many deals of two players. Releases the GIL.

    Parameters
    ----------
    deals
        A batch, or deals to be packed.
    rules, max_tricks
        As in `play`.
    kernel
        ``"simd"``, ``"simd128"``, ``"portable"`` or ``"general"``; by default what the
        environment variable BMN_KERNEL says, or else the fastest that the CPU offers. A deal
        that a kernel cannot hold is played by the next. The outcomes do not depend on it.

    Returns
    -------
    numpy.ndarray
        `OUTCOME_DTYPE`, shape (deals,), in order: cards and tricks as in `Outcome`; transient and
        cycle, 0 unless it is a loop; status 0 finished, 1 loop, 2 unknown; winner 1, 2, or 0 for
        none by play.

    Raises
    ------
    BmnError
        When the deals cannot be packed, the rules or the limit cannot be applied, or the kernel
        cannot be had.

    Examples
    --------
    >>> from bmn_search import Deal
    >>> rows = play_many([Deal.parse("J--/-J-"), Deal.parse("-/Q leader=2")])
    >>> rows["status"].tolist(), rows["tricks"].tolist(), rows["winner"].tolist()
    ([1, 0], [3, 1], [0, 2])
    """
    batch = deals if isinstance(deals, Batch) else Batch.of(deals)
    batch.check()  # its arrays can be written to, and the kernels trust them
    rules = _rules(rules, max_tricks, 2)
    rows = np.zeros(len(batch), OUTCOME_DTYPE)
    name = kernel if kernel == compiled.YARDSTICK else _kernel(kernel)
    compiled.play_many(name, batch.codes, batch.sizes, rules, rules.max_tricks, rows)
    exchanged = np.flatnonzero(batch.leaders == 2)
    winners = rows["winner"][exchanged]
    rows["winner"][exchanged] = np.where(winners, 3 - winners, 0)
    return rows


def play_random(
    deck: Deck,
    seed: int,
    first: int,
    count: int,
    rules: Rules | str = STANDARD,
    max_tricks: int | None = None,
    *,
    kernel: str | None = None,
) -> NDArray[np.void]:
    """Deal and play a range of the random deals of a seed, without storing the deals.

    Takes and returns what `random_deals` takes and `play_many` returns; 56 bytes a deal.

    Examples
    --------
    >>> from bmn_search import Deck
    >>> half20 = Deck.parse("half20")
    >>> bool((play_random(half20, 1, 0, 9) == play_many(random_deals(half20, 1, 0, 9))).all())
    True
    """
    seed, first, count = _checked_range(seed, first, count)
    rules = _rules(rules, max_tricks, 2)
    rows = np.zeros(count, OUTCOME_DTYPE)
    compiled.play_seed(_kernel(kernel), deck, seed, first, rules, rules.max_tricks, rows)
    return rows


def play_blocks(
    deck: Deck,
    seed: int,
    first: int,
    count: int,
    rules: Rules,
    stop: threading.Event,
) -> Iterator[tuple[int, NDArray[np.void]]]:
    """Play a range of random deals in blocks of about a tenth of a second.

    Yields the number of the first deal of each block and its outcomes, as `play_random` does, and
    ends early once `stop` is set. The deals do not depend on the blocks.
    """
    at, block = first, FIRST_BLOCK
    while at < first + count and not stop.is_set():
        size = min(block, first + count - at)
        begun = time.perf_counter()
        rows = play_random(deck, seed, at, size, rules)
        took = time.perf_counter() - begun
        yield at, rows
        at += size
        block = max(1, min(4 * block, LARGEST_BLOCK, int(size * BLOCK_SECONDS / max(took, 1e-6))))


def _kernel(name: str | None) -> str:
    return compiled.chosen_kernel() if name is None else compiled.checked_kernel(name)


def _rules(rules: Rules | str, max_tricks: int | None, players: int) -> Rules:
    """Return the rules, with a limit if there is one, for so many players."""
    rules = (Rules.named(rules) if isinstance(rules, str) else rules).for_players(players)
    if max_tricks is None:
        return rules
    if isinstance(max_tricks, np.integer):
        max_tricks = int(max_tricks)
    return replace(rules, max_tricks=max_tricks)


def _checked_range(seed: int, first: int, count: int) -> tuple[int, int, int]:
    seed, first, count = map(operator.index, (seed, first, count))
    most = compiled.MOST
    if not (0 <= seed <= most and 0 <= first <= most and 0 <= count <= most - first + 1):
        raise BmnError("seed or deal numbers are out of range: expected 0 to 2**64 - 1")
    return seed, first, count
