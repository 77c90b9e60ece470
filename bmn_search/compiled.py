"""The compiled module in terms of deals and rules; the only Python that calls `_core`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal, Deck
from bmn_search.errors import CoreMissingError
from bmn_search.notation import SYMBOLS
from bmn_search.outcome import Count, Status
from bmn_search.rules import Rules

try:
    from bmn_search import _core
except ImportError as error:
    raise CoreMissingError(
        "the compiled module bmn_search._core is missing or cannot be loaded: build it with "
        f"`pip install .` in the source folder, or `make demo` ({error})"
    ) from error

__all__ = ["MOST", "STATUS", "Run", "deal_many", "follow", "play", "play_many"]

STATUS: tuple[Status, ...] = ("finished", "loop", "unknown")  # in the order of the codes
MOST = 2**64 - 1  # seeds, deal numbers and limits are 64-bit numbers

_CODES = {symbol: code for code, symbol in enumerate(SYMBOLS)}


class Run(NamedTuple):
    """What the compiled engine says of one deal.

    Attributes
    ----------
    winner
        1 or 2 if the game finished, else 0.
    total
        Of the game, at the first repeat of a loop, or at the limit.
    last_pile
        Of a finished game: cards in its unfinished last pile.
    transient, cycle, mirror
        Of a loop.
    held
        Packet sizes at the repeat of a loop or at the limit.

    """

    status: Status
    winner: int
    total: Count
    last_pile: int
    transient: Count
    cycle: Count
    mirror: bool
    held: tuple[int, int]


def play(deal: Deal, rules: Rules, max_tricks: int | None, max_cards: int | None) -> Run:
    """Play a deal of two players up to a limit of its own."""
    status, winner, *counts, mirror, held_first, held_second = _core.play(
        *_packets(deal),
        rules.penalty_table,
        deal.leader - 1,
        rules.next_leader == "payer",
        _limit(max_tricks),
        _limit(max_cards),
    )
    cards, tricks, last_pile, *loop = counts
    return Run(
        STATUS[status],
        winner + 1,
        Count(cards, tricks),
        last_pile,
        Count(*loop[:2]),
        Count(*loop[2:]),
        bool(mirror),
        (held_first, held_second),
    )


def follow(deal: Deal, rules: Rules, tricks: int) -> tuple[int, list[int], list[int]]:
    """Follow the single cards of a deal of two players through `tricks` tricks.

    Returns
    -------
    tuple
        Who leads then, from 1; the packets of that player and of the other one as lists of card
        numbers, counted from 0 over the deal's first packet and its second.

    """
    leader, leading, other = _core.follow(
        *_packets(deal),
        rules.penalty_table,
        deal.leader - 1,
        rules.next_leader == "payer",
        tricks,
    )
    return leader + 1, leading, other


def deal_many(deck: Deck, seed: int, first: int, deals: NDArray[np.uint8]) -> None:
    """Fill `deals`, shape (deals, cards), with random deals as card codes."""
    cards = "".join(symbol * number for symbol, number in deck.counts)
    _core.deal_many(_encoded(cards), seed, first, deals)


def play_many(
    deals: NDArray[np.uint8],
    split: int,
    rules: Rules,
    max_tricks: int | None,
    status: NDArray[np.uint8],
    winner: NDArray[np.int8],
    counts: NDArray[np.uint64],
) -> None:
    """Play a batch of deals as card codes; see `_core.play_many` for the arrays it fills."""
    _core.play_many(
        deals,
        split,
        rules.penalty_table,
        rules.next_leader == "payer",
        _limit(max_tricks),
        _limit(rules.max_cards),
        status,
        winner,
        counts,
    )


def _packets(deal: Deal) -> tuple[bytes, bytes]:
    first, second = deal.packets
    return _encoded(first), _encoded(second)


def _encoded(cards: str) -> bytes:
    return bytes(map(_CODES.__getitem__, cards))


def _limit(limit: int | None) -> int | None:
    return None if limit is None or limit > MOST else limit
