"""Play: one deal or many, by the compiled engine or by the reference engine."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled, cycle, reference
from bmn_search.deal import Deal, Deck
from bmn_search.errors import BmnError
from bmn_search.notation import SYMBOLS
from bmn_search.outcome import Distinct, Outcome
from bmn_search.rules import STANDARD, Rules

__all__ = ["ENGINES", "OUTCOME_DTYPE", "Engine", "deals_from", "play", "play_many", "random_deals"]

Engine = Literal["fast", "reference"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

_COUNTS = (
    "cards",
    "tricks",
    "transient_cards",
    "transient_tricks",
    "cycle_cards",
    "cycle_tricks",
)
OUTCOME_DTYPE = np.dtype(
    [
        ("status", np.uint8),
        ("winner", np.int8),
        *((name, np.uint64) for name in _COUNTS),
    ]
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
        A deal, or its text for `Deal.parse`.
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
    if isinstance(deal, str):
        deal = Deal.parse(deal)
    if isinstance(rules, str):
        rules = Rules.named(rules)
    rules = rules.for_players(len(deal.packets))
    if max_tricks is not None:
        rules = replace(rules, max_tricks=max_tricks)
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


def random_deals(deck: Deck, seed: int, first: int, count: int) -> NDArray[np.uint8]:
    """Deal a range of the random deals of a seed.

    Deal number n of a seed is a pure function of the two. Every order of the deck is equally
    likely.

    Parameters
    ----------
    deck
        What to shuffle.
    seed, first
        From 0 to 2**64 - 1.
    count
        How many deals.

    Returns
    -------
    numpy.ndarray
        uint8, shape (`count`, `deck.size`): card codes 0-4 (``-JQKA``), the first
        `deck.sizes[0]` cards of a row being the first packet, top card first.

    Raises
    ------
    BmnError
        When a number is out of range.

    Examples
    --------
    >>> from bmn_search import Deck
    >>> half20 = Deck.parse("half20")
    >>> bool((random_deals(half20, 1, 5, 2)[0] == random_deals(half20, 1, 0, 9)[5]).all())
    True

    """
    if not (0 <= seed <= compiled.MOST and 0 <= first <= first + count <= compiled.MOST + 1):
        raise BmnError("seed or deal numbers are out of range: expected 0 to 2**64 - 1")
    deals = np.empty((count, deck.size), np.uint8)
    compiled.deal_many(deck, seed, first, deals)
    return deals


def play_many(
    deals: NDArray[np.uint8],
    split: int,
    rules: Rules = STANDARD,
    *,
    max_tricks: int | None = None,
) -> NDArray[np.void]:
    """Play a batch of deals of two players, the first one leading. Releases the GIL.

    Parameters
    ----------
    deals
        uint8, shape (deals, cards), C order: card codes as from `random_deals`.
    split
        Cards in the first packet.
    rules, max_tricks
        As in `play`.

    Returns
    -------
    numpy.ndarray
        `OUTCOME_DTYPE`, shape (deals,), in order: status 0 finished, 1 loop, 2 unknown; winner 1,
        2, or 0 for none by play; cards and tricks as in `Outcome`; transient and cycle, 0 unless
        it is a loop.

    Raises
    ------
    BmnError
        When the array is of another kind, holds another code, or cannot be split so.
    RulesError
        When the rules or the limit cannot be applied.

    """
    rules = rules.for_players(2)
    if max_tricks is not None:
        rules = replace(rules, max_tricks=max_tricks)
    if deals.ndim != 2 or deals.dtype != np.uint8 or not deals.flags.c_contiguous:
        raise BmnError("deals: expected a C-ordered uint8 array of shape (deals, cards)")
    if not 0 < split < deals.shape[1]:
        raise BmnError(f"split {split} is out of range: expected 1 to {deals.shape[1] - 1}")
    if deals.size and deals.max() >= len(SYMBOLS):
        raise BmnError(f"card code {deals.max()} is unknown: expected 0 to {len(SYMBOLS) - 1}")
    status = np.empty(len(deals), np.uint8)
    winner = np.empty(len(deals), np.int8)
    counts = np.empty((len(deals), len(_COUNTS)), np.uint64)
    compiled.play_many(deals, split, rules, rules.max_tricks, status, winner, counts)
    outcomes = np.empty(len(deals), OUTCOME_DTYPE)
    outcomes["status"] = status
    outcomes["winner"] = winner + 1
    for column, name in enumerate(_COUNTS):
        outcomes[name] = counts[:, column]
    return outcomes


def deals_from(codes: NDArray[np.uint8], split: int) -> Iterator[Deal]:
    """Yield the rows of a batch of card codes, as from `random_deals`, as `Deal` values."""
    for row in codes:
        cards = "".join(SYMBOLS[code] for code in row)
        yield Deal((cards[:split], cards[split:]))
