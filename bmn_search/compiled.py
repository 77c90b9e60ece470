"""The compiled module in terms of deals and rules; the only Python that calls `_core`."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal, Deck
from bmn_search.errors import BmnError, CoreMissingError
from bmn_search.notation import CODES, SYMBOLS
from bmn_search.outcome import Count, Status
from bmn_search.rules import Rules

try:
    from bmn_search import _core
except ImportError as error:
    raise CoreMissingError(
        "the compiled module bmn_search._core is missing or cannot be loaded: build it with "
        f"`pip install .` in the source folder, or `make demo` ({error})"
    ) from error

__all__ = [
    "KERNELS",
    "MOST",
    "STATUS",
    "YARDSTICK",
    "Roots",
    "Run",
    "Tally",
    "Walk",
    "available_kernels",
    "checked_kernel",
    "chosen_kernel",
    "compiler",
    "cpu_features",
    "deal_many",
    "follow",
    "new_enumeration",
    "new_forest",
    "new_growth",
    "new_world",
    "play",
    "play_many",
    "play_next",
    "play_seed",
    "predecessors",
    "share_deals",
    "walk",
]

STATUS: tuple[Status, ...] = ("finished", "loop", "unknown")  # in the order of the codes
MOST = 2**64 - 1  # seeds, deal numbers and limits are 64-bit numbers

KERNELS = ("general", "portable", "simd128", "simd")  # slowest first, in the order of the codes
YARDSTICK = "plain"

Tally = _core.Tally

_CODE = {name: code for code, name in enumerate((*KERNELS, YARDSTICK))}


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


class Walk(NamedTuple):
    """A game trick by trick; row t is before trick t, the last row after the last trick.

    Attributes
    ----------
    leaders
        uint8, shape (tricks + 1,): who leads, from 0.
    sizes
        uint32, shape (tricks + 1, 2): cards in the leader's packet and in the other one.
    cards
        uint32, shape (tricks,): laid in each.
    numbers
        uint32, shape (tricks + 1, all cards): the numbers of the cards, the leader's packet first,
        counted from 0 over the deal's first packet and its second. None if not asked for.
    laid
        uint32, shape (cards laid,): their numbers in the order in which they are laid. None if not
        asked for.
    """

    leaders: NDArray[np.uint8]
    sizes: NDArray[np.uint32]
    cards: NDArray[np.uint32]
    numbers: NDArray[np.uint32] | None
    laid: NDArray[np.uint32] | None


def walk(
    deal: Deal, rules: Rules, tricks: int, *, numbers: bool = False, laid: int | None = None
) -> Walk:
    """Write down `tricks` tricks of a game of two players, which must last so long.

    Parameters
    ----------
    numbers
        Whether to write down the positions.
    laid
        How many cards the tricks have, to write down which; None to leave it out.
    """
    written = Walk(
        np.empty(tricks + 1, np.uint8),
        np.empty((tricks + 1, 2), np.uint32),
        np.empty(tricks, np.uint32),
        np.empty((tricks + 1, deal.size), np.uint32) if numbers else None,
        None if laid is None else np.empty(laid, np.uint32),
    )
    _core.walk(
        *_packets(deal),
        rules.penalty_table,
        deal.leader - 1,
        rules.next_leader == "payer",
        written.leaders,
        written.sizes,
        written.cards,
        written.numbers,
        written.laid,
    )
    return written


def predecessors(deal: Deal, rules: Rules) -> list[tuple[bytes, int, int]]:
    """List the positions of two players from which one trick leads to this one.

    Returns
    -------
    list
        For each the card codes, the leader's packet first, the size of that, and who leads, from 1.
    """
    packets = _packets(deal)
    leading, other = packets if deal.leader == 1 else packets[::-1]
    found = _core.predecessors(
        leading + other, len(leading), rules.penalty_table, rules.next_leader == "payer"
    )
    return [
        (codes, size, 3 - deal.leader if exchanged else deal.leader)
        for codes, size, exchanged in found
    ]


def new_forest(cards: int, rules: Rules) -> _core.Forest:
    """Begin backward play of positions of so many cards; see `_core.Forest`."""
    return _core.Forest(cards, rules.penalty_table, rules.next_leader == "payer")


def new_world(deck: Deck, rules: Rules, links: NDArray[np.uint32]) -> _core.World:
    """Begin to play all positions of a deck; see `_core.World`."""
    return _core.World(_counts(deck), rules.penalty_table, rules.next_leader == "payer", links)


def new_growth(
    deck: Deck,
    rules: Rules,
    seed: int,
    weights: Sequence[int],
    numbers: Sequence[int],
    steered: int,
    filled: int,
) -> _core.Growth:
    """Begin to grow cycles towards a deck; see `_core.Growth`."""
    return _core.Growth(
        _CODE[chosen_kernel()],
        _counts(deck),
        rules.penalty_table,
        rules.next_leader == "payer",
        seed,
        weights,
        numbers,
        steered,
        filled,
    )


def available_kernels() -> list[str]:
    """Name the kernels that this machine can run, slowest first."""
    return [name for name in KERNELS if _core.kernel_runs(_CODE[name])]


def chosen_kernel() -> str:
    """Name the kernel to use: the one in the environment variable BMN_KERNEL, else the fastest.

    Raises
    ------
    BmnError
        When BMN_KERNEL names none that this machine can run.
    """
    name = os.environ.get("BMN_KERNEL") or available_kernels()[-1]
    return checked_kernel(name)


def checked_kernel(name: str) -> str:
    """Return `name` if this machine can run that kernel; the yardstick is none.

    Raises
    ------
    BmnError
        When it cannot.
    """
    available = available_kernels()
    if name not in available:
        raise BmnError(
            f"kernel {name!r} cannot be had here: expected one of {', '.join(available)}"
        )
    return name


def compiler() -> tuple[str, bool]:
    """Name the C compiler that built the module, and whether it built the vector kernels."""
    return _core.compiler()


def cpu_features() -> dict[str, bool]:
    """Say which instruction sets that the vector kernels need the CPU offers; none if unknown."""
    return _core.cpu_features()


def deal_many(deck: Deck, seed: int, first: int, codes: NDArray[np.uint8]) -> None:
    """Fill `codes`, shape (deals, cards), with random deals as card codes."""
    _core.deal_many(_counts(deck), seed, first, codes)


def play_many(
    kernel: str,
    codes: NDArray[np.uint8],
    sizes: NDArray[np.uint32],
    rules: Rules,
    max_tricks: int | None,
    rows: NDArray[np.void],
) -> None:
    """Play a batch of deals as card codes into `rows`; see `_core.play_many` for the arrays."""
    _core.play_many(_CODE[kernel], codes, sizes, *_how(rules, max_tricks), rows)


def play_seed(
    kernel: str,
    deck: Deck,
    seed: int,
    first: int,
    rules: Rules,
    max_tricks: int | None,
    rows: NDArray[np.void],
) -> None:
    """Deal and play `len(rows)` random deals into `rows`."""
    split = deck.sizes[0]
    _core.play_seed(
        _CODE[kernel], _counts(deck), split, seed, first, *_how(rules, max_tricks), rows
    )


def new_enumeration(deck: Deck, codes: NDArray[np.uint8], split: int) -> _core.Enumeration:
    """Begin to play the deals of a deck in index order, from `codes` on."""
    order = [CODES[symbol] for symbol, _ in deck.counts]
    order += [code for code in range(len(SYMBOLS)) if code not in order]
    return _core.Enumeration(codes, split, bytes(order))


def play_next(
    enumeration: _core.Enumeration,
    kernel: str,
    first: int,
    rules: Rules,
    tally: Tally,
    where: NDArray[np.uint64],
    loops: NDArray[np.uint64],
) -> int:
    """Play the next `len(loops)` deals; see `_core.Enumeration.play`."""
    how = _how(rules, rules.max_tricks)
    return enumeration.play(_CODE[kernel], *how, first, tally, where, loops)


class Roots(NamedTuple):
    """Positions, the leader's packet first, to which all deals lead that have something in common.

    Attributes
    ----------
    codes
        uint8, shape (positions, cards).
    sizes
        Cards in the leader's packets.
    hidden
        Whether a game that belongs to them ended too early to have a position here.
    """

    codes: NDArray[np.uint8]
    sizes: list[int]
    hidden: bool


def share_deals(
    kernel: str,
    deck: Deck,
    codes: NDArray[np.uint8],
    split: int,
    rules: Rules,
    tally: Tally,
) -> tuple[int, Roots, Roots, Roots]:
    """Count the deals that begin as the rows of `codes` do; see `_core.share_deals`.

    Limits in the rules do not count.

    Returns
    -------
    tuple
        The most tricks from a deal to a root; the roots of the longest games by cards, of those by
        tricks, and of the loops.
    """
    how = rules.penalty_table, rules.next_leader == "payer"
    depth, found = _core.share_deals(_CODE[kernel], codes, split, _counts(deck), *how, tally)
    by_cards, by_tricks, loops = (
        Roots(np.frombuffer(cards, np.uint8).reshape(-1, deck.size), sizes, hidden)
        for cards, sizes, hidden in found
    )
    return depth, by_cards, by_tricks, loops


def _how(rules: Rules, max_tricks: int | None) -> tuple[bytes, bool, int | None, int | None]:
    return (
        rules.penalty_table,
        rules.next_leader == "payer",
        _limit(max_tricks),
        _limit(rules.max_cards),
    )


def _counts(deck: Deck) -> NDArray[np.uint32]:
    counts = dict(deck.counts)
    return np.array([counts.get(symbol, 0) for symbol in SYMBOLS], np.uint32)


def _packets(deal: Deal) -> tuple[bytes, bytes]:
    first, second = deal.packets
    return _encoded(first), _encoded(second)


def _encoded(cards: str) -> bytes:
    return bytes(map(CODES.__getitem__, cards))


def _limit(limit: int | None) -> int | None:
    return None if limit is None or limit > MOST else limit
