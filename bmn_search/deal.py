"""Deals and decks: read, write, check, number.

A deal is two packets (or more, under rules for more players), each a string of symbols with the
top card first, and who leads. A deck is a composition with an order of its symbols, which gives
every balanced deal of it a number.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import factorial, prod
from typing import Literal, get_args

from bmn_search.errors import DealError, DeckError
from bmn_search.notation import DIGITS, SYMBOLS, Card, Notation, read_cards

__all__ = [
    "CAMICIA40",
    "DECKS",
    "HALF20",
    "ORDERS",
    "SPLITS",
    "STANDARD52",
    "Deal",
    "Deck",
    "Order",
    "Split",
    "split_uva",
]

Split = Literal["half", "alternate"]
Order = Literal["top-first", "last-first"]
SPLITS: tuple[Split, ...] = get_args(Split)
ORDERS: tuple[Order, ...] = get_args(Order)

_SEPARATOR = re.compile(r"[/|]")
_LEADER = re.compile(r"(?<!\s)\s+leader[ =]([0-9]{1,4})\s*$")
NEAR = 8  # misplaced cards up to which a named deck is taken for the one that was meant
MOST_CARDS = 65_535  # of a deck: with more, its numbers take minutes to compute


@dataclass(frozen=True, slots=True)
class Deal:
    """Packets in order and who leads; at the same time any position between two tricks.

    Parameters
    ----------
    packets
        One string of the symbols ``-JQKA`` for each player, top card first. A packet may be
        empty (a position may be one in which a player is out), but not all of them.
    leader
        The player who lays the first card, counted from 1.

    Raises
    ------
    DealError
        When there are fewer than two packets, no cards, another symbol, or no such leader.

    Examples
    --------
    >>> deal = Deal.parse("---J/-J-")
    >>> deal.packets, deal.leader, deal.size
    (('---J', '-J-'), 1, 7)
    >>> str(deal.exchanged())
    '-J-/---J leader=2'
    """

    packets: tuple[str, ...]
    leader: int = 1

    def __post_init__(self) -> None:
        if len(self.packets) < 2:
            raise DealError("a deal needs a packet for each of at least two players")
        for number, packet in enumerate(self.packets, 1):
            if wrong := packet.strip(SYMBOLS):
                raise DealError(
                    f"{wrong[0]!r} at position {packet.index(wrong[0]) + 1} of packet {number} "
                    f"is no symbol: expected {' '.join(SYMBOLS)}; Deal.parse reads other notations"
                )
        if not any(self.packets):
            raise DealError("no packet holds a card: expected at least one card in each packet")
        if self.leader not in range(1, len(self.packets) + 1):
            raise DealError(f"leader {self.leader} is no player: expected 1 to {len(self.packets)}")

    @classmethod
    def parse(
        cls,
        text: str,
        *others: str,
        notation: Notation = "ranks",
        split: Split = "half",
        order: Order = "top-first",
        leader: int | None = None,
        players: int = 2,
        aside: bool = False,
        repeats: bool = False,
    ) -> "Deal":
        """Read a deal.

        Parameters
        ----------
        text, others
            ``P1/P2`` or ``P1 | P2`` (a packet for each player), or the packets as arguments of
            their own, or one text without a separator: the whole deck, which is then dealt. A
            text may end in ``leader=2``.
        notation
            ``"ranks"`` (symbols, values, real cards) or ``"digits"`` (demands 0-4).
        split
            How a whole deck is dealt: ``"half"`` (in blocks) or ``"alternate"`` (in turn).
        order
            ``"top-first"``, or ``"last-first"`` when each packet's last card lies on top.
        leader
            Who leads, counted from 1; by default what the text says, else 1.
        players, aside
            For a whole deck: the number of packets, and whether cards left over are set aside
            (else the first packets get one more).
        repeats
            Allow one real card (``H2``) to stand twice.

        Raises
        ------
        DealError
            With the offending symbol and its position, or the packet that is empty.

        Examples
        --------
        >>> str(Deal.parse("H2 10S CQ | d7, js"))
        '--Q/-J'
        >>> str(Deal.parse("0100", notation="digits", split="alternate"))
        '--/J-'
        """
        if split not in SPLITS:
            raise DealError(f"split {split!r} is unknown: expected one of {', '.join(SPLITS)}")
        if order not in ORDERS:
            raise DealError(f"order {order!r} is unknown: expected one of {', '.join(ORDERS)}")
        texts = [text, *others]
        if found := _LEADER.search(texts[-1]):
            texts[-1] = texts[-1][: found.start()]
            leader = int(found[1]) if leader is None else leader
        if len(texts) == 1:
            texts = _SEPARATOR.split(texts[0])
        if len(texts) == 1:
            cards = read_cards(texts[0], notation)
            packets = _dealt(cards, split, players, aside)
        else:
            packets = [
                read_cards(packet.strip(), notation, f" of packet {number}")
                for number, packet in enumerate(texts, 1)
            ]
        if not repeats:
            _refuse_repeats(card for packet in packets for card in packet)
        for number, packet in enumerate(packets, 1):
            if not packet:
                raise DealError(f"packet {number} is empty: each player needs at least one card")
        step = 1 if order == "top-first" else -1
        symbols = ("".join(card.symbol for card in packet[::step]) for packet in packets)
        return cls(tuple(symbols), 1 if leader is None else leader)

    @classmethod
    def parse_uva(cls, text: str) -> "Deal":
        """Read one deck of UVa problem 162: 52 real cards in the order in which they are dealt.

        The cards are dealt in turn, the first to the non-dealer, each on top of the last; the
        non-dealer (player 1) leads. Source: https://onlinejudge.org/external/1/162.pdf

        Raises
        ------
        DealError
            When there are not exactly 52 different real cards.
        """
        cards = read_cards(text)
        if any(card.name is None for card in cards):
            position = next(card.position for card in cards if card.name is None)
            raise DealError(f"card at position {position} has no suit: expected cards as H2 or DT")
        if len(cards) != STANDARD52.size:
            raise DealError(f"{len(cards)} cards: a UVa deck has {STANDARD52.size}")
        return cls.parse(text, split="alternate", order="last-first")

    @property
    def size(self) -> int:
        """Number of cards in all packets."""
        return sum(map(len, self.packets))

    @property
    def balanced(self) -> bool:
        """Whether all packets are of equal size."""
        return len(set(map(len, self.packets))) == 1

    def counts(self) -> Counter[str]:
        """Count the cards of each symbol."""
        return Counter("".join(self.packets))

    def exchanged(self) -> "Deal":
        """Return the same game with the two players (or the seats, in reverse) exchanged."""
        return Deal(self.packets[::-1], len(self.packets) + 1 - self.leader)

    def text(self, notation: Notation = "ranks", *, whole: bool = False) -> str:
        """Write the deal as ``P1/P2``, followed by ``leader=N`` unless player 1 leads.

        With `whole` the deck is written in one text, without a separator.

        Raises
        ------
        DealError
            When a whole deck would not be dealt into these packets again.
        """
        if whole and self != Deal.parse("".join(self.packets), leader=self.leader):
            sizes = " + ".join(str(len(packet)) for packet in self.packets)
            raise DealError(f"packets of {sizes} cards cannot be told from the deck in one text")
        packets = ("" if whole else "/").join(self.packets)
        if notation == "digits":
            packets = packets.translate(str.maketrans(SYMBOLS, DIGITS))
        return packets if self.leader == 1 else f"{packets} leader={self.leader}"

    def __str__(self) -> str:
        return self.text()


def split_uva(text: str) -> list[str]:
    """Split UVa 162 input, decks of 52 cards up to a ``#`` or the end, into texts of one deck."""
    cards = text.partition("#")[0].split()
    return [" ".join(cards[at : at + 52]) for at in range(0, len(cards), 52)]


def told(number: int) -> str:
    """Write a number, or its size if it is too long to read."""
    digits = int(number.bit_length() * 0.30103)
    return str(number) if digits < 100 else f"about 10^{digits}"


def _dealt(cards: list[Card], split: Split, players: int, aside: bool) -> list[list[Card]]:
    """Deal a whole deck to the players; left-over cards go round from player 1, or aside."""
    if not 2 <= players <= max(len(cards), 2):
        raise DealError(
            f"{len(cards)} cards cannot be dealt to {players} players: expected at least two "
            "players and a card for each"
        )
    share, left_over = divmod(len(cards), players)
    if aside:
        cards = cards[: share * players]
        left_over = 0
    if split == "alternate":
        return [cards[player::players] for player in range(players)]
    ends = [share * player + min(player, left_over) for player in range(players + 1)]
    return [cards[start:end] for start, end in pairwise(ends)]


def _refuse_repeats(cards: Iterable[Card]) -> None:
    seen = set()
    for card in cards:
        if card.name is not None and card.name in seen:
            raise DealError(f"card {card.name} stands twice: a pack has each real card once")
        seen.add(card.name)


@dataclass(frozen=True)
class Deck:
    """A composition and the order in which its deals are numbered.

    Parameters
    ----------
    name
        What to call it; a SPEC when it has no name of its own.
    counts
        How many cards of each symbol, in index order: the first is the least.

    Raises
    ------
    DeckError
        When a symbol is unknown or repeated, a count is not positive, or there are fewer than
        two cards.

    Examples
    --------
    >>> STANDARD52.deals
    653534134886878245000
    >>> str(HALF20.deal_at(477920))
    '----J--Q--/--K-K-Q-J-'
    >>> HALF20.index(Deal.parse("----J--Q--/--K-K-Q-J-"))
    477920
    """

    name: str
    counts: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        symbols = [symbol for symbol, _ in self.counts]
        if len(set(symbols)) < len(symbols) or not set(symbols) <= set(SYMBOLS):
            raise DeckError(f"deck {self.name!r}: expected each of - J Q K A at most once")
        if min((count for _, count in self.counts), default=0) < 1:
            raise DeckError(f"deck {self.name!r}: expected at least one card of each symbol named")
        if not 2 <= self.size <= MOST_CARDS:
            raise DeckError(
                f"deck {self.name!r} has {self.size:,} cards: expected 2 to {MOST_CARDS:,}"
            )

    @classmethod
    def parse(cls, text: str) -> "Deck":
        """Read the name of a deck, or a SPEC such as ``36-,4J,4Q,4K,4A``.

        The order of a SPEC is the index order of its deals.

        Raises
        ------
        DeckError
            When the text is neither.
        """
        if text in DECKS:
            return DECKS[text]
        counts = []
        for part in text.split(","):
            found = re.fullmatch(r"\s*([0-9]{1,9})\s*([-JQKA])\s*", part)
            if not found:
                raise DeckError(
                    f"deck {text!r} is unknown at {part!r}: expected {', '.join(DECKS)}, "
                    "or a SPEC as 36-,4J,4Q,4K,4A"
                )
            counts.append((found[2], int(found[1])))
        return cls(",".join(f"{count}{symbol}" for symbol, count in counts), tuple(counts))

    @classmethod
    def of(cls, deal: Deal, aside: bool = False) -> "Deck":
        """Return the named deck that `deal` fits.

        `aside` allows the cards that do not go round to be missing, as `fits` does.

        Raises
        ------
        DealError
            When it fits none, with what the nearest named deck lacks or has too many of.
        """
        fitting = [deck for deck in DECKS.values() if deck.fits(deal, aside)]
        if fitting:
            return fitting[0]
        raise DealError(f"the deal fits no named deck: {cls._nearest(deal)}")

    @classmethod
    def own(cls, deal: Deal) -> "Deck":
        """Return the deck that has the cards of `deal`, in the order ``-JQKA``."""
        counts = deal.counts()
        return cls.parse(",".join(f"{counts[card]}{card}" for card in SYMBOLS if counts[card]))

    @classmethod
    def _nearest(cls, deal: Deal) -> str:
        """Say what is amiss for the nearest named deck, or that none is near."""

        def distance(deck: Deck) -> int:
            return sum(map(abs, deck.differences(deal)))

        nearest = min(DECKS.values(), key=distance)
        if distance(nearest) <= NEAR:
            return nearest.misfit(deal)
        return f"it has {cls.own(deal).spec}, far from {', '.join(DECKS)}"

    @cached_property
    def size(self) -> int:
        """Number of cards."""
        return sum(count for _, count in self.counts)

    @property
    def spec(self) -> str:
        """The composition as text, as in ``36-,4J,4Q,4K,4A``."""
        return ",".join(f"{count}{symbol}" for symbol, count in self.counts)

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the two packets of a balanced deal; an odd card goes to the first."""
        return self.size - self.size // 2, self.size // 2

    @cached_property
    def deals(self) -> int:
        """Number of different deals into packets of `sizes`: a multinomial coefficient."""
        return factorial(self.size) // prod(factorial(count) for _, count in self.counts)

    def differences(self, deal: Deal) -> tuple[int, ...]:
        """For each of ``-JQKA``: how many cards `deal` has more (or, negative, fewer)."""
        want, have = dict(self.counts), deal.counts()
        return tuple(have[symbol] - want.get(symbol, 0) for symbol in SYMBOLS)

    def fits(self, deal: Deal, aside: bool = False) -> bool:
        """Whether `deal` is of this deck; `aside`: cards that do not go round may be missing."""
        differences = self.differences(deal)
        spare = self.size % len(deal.packets) if aside else 0
        return max(differences) <= 0 and -sum(differences) in (0, spare)

    def check(self, deal: Deal, aside: bool = False) -> None:
        """Refuse a deal of another composition; `aside` as in `fits`.

        Raises
        ------
        DealError
            With what is missing and what is too many.
        """
        if not self.fits(deal, aside):
            raise DealError(f"the deal does not fit: {self.misfit(deal)}")

    def misfit(self, deal: Deal) -> str:
        """Say what `deal` lacks, and has too many of, for this deck."""
        differences = list(zip(SYMBOLS, self.differences(deal), strict=True))
        too_many = [f"{more} {symbol}" for symbol, more in differences if more > 0]
        missing = [f"{-more} {symbol}" for symbol, more in differences if more < 0]
        parts = [f"missing: {', '.join(missing)}"] if missing else []
        parts += [f"too many: {', '.join(too_many)}"] if too_many else []
        return f"{self.name} ({self.spec.replace(',', ' ')}), {'; '.join(parts) or 'nothing amiss'}"

    def index(self, deal: Deal) -> int:
        """Return the number of a deal: its rank among all deals of the deck in dictionary order.

        The whole deck, packet after packet, is ranked as a permutation of a multiset.

        Raises
        ------
        DealError
            When the deal is of another deck, has packets of other sizes, or player 2 leads.
        """
        self.check(deal)
        if tuple(map(len, deal.packets)) != self.sizes or deal.leader != 1:
            raise DealError(
                f"the deal has no number in {self.name}: numbered are deals with packets of "
                f"{self.sizes[0]} and {self.sizes[1]} cards in which player 1 leads"
            )
        left, ways, rank, remaining = dict(self.counts), self.deals, 0, self.size
        for symbol in "".join(deal.packets):
            for less, _ in self.counts:
                if less == symbol:
                    break
                rank += ways * left[less] // remaining
            ways = ways * left[symbol] // remaining
            left[symbol] -= 1
            remaining -= 1
        return rank

    def deal_at(self, index: int) -> Deal:
        """Return the deal with this number, from 0 to `deals` - 1.

        Raises
        ------
        DeckError
            When the number is out of that range.
        """
        if not 0 <= index < self.deals:
            raise DeckError(
                f"index {told(index)} is out of range: {self.name} has the deals 0 to "
                f"{told(self.deals - 1)}"
            )
        left, ways, rank, cards = dict(self.counts), self.deals, index, ""
        for remaining in range(self.size, 0, -1):
            for symbol, _ in self.counts:
                below = ways * left[symbol] // remaining
                if rank < below:
                    break
                rank -= below
            cards += symbol
            ways = below
            left[symbol] -= 1
        return Deal((cards[: self.sizes[0]], cards[self.sizes[0] :]))

    def __str__(self) -> str:
        return self.name


STANDARD52 = Deck("standard52", (("A", 4), ("K", 4), ("Q", 4), ("J", 4), ("-", 36)))
CAMICIA40 = Deck("camicia40", (("-", 28), ("J", 4), ("Q", 4), ("K", 4)))
HALF20 = Deck("half20", (("-", 14), ("J", 2), ("Q", 2), ("K", 2)))
DECKS = {deck.name: deck for deck in (STANDARD52, CAMICIA40, HALF20)}
