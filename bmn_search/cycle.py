"""Cycles: the positions of a game that never ends, its period, and what becomes of single cards.

Positions are taken relative to the player who leads, so that a mirror cycle closes after half its
period: call it a *turn*. In a turn the single cards change places by a permutation of the places
relative to the leader, and every later turn permutes them again in the same way, for the game
goes on as before. So a card comes back to its place after as many turns as its orbit has places,
all cards after the least common multiple of these; and since a permutation can be undone, nothing
recurs earlier: the transient stays. That is exact, and no slower where the answer is astronomical.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search.compiled import Run
from bmn_search.deal import Deal, Deck
from bmn_search.errors import DealError
from bmn_search.notation import CODES, SYMBOLS
from bmn_search.outcome import Count, Distinct
from bmn_search.rules import STANDARD, Rules

__all__ = ["Cycle", "alike", "alike_deck", "find_cycle", "step", "tell_apart"]

MOST_MEMORY = 2**30  # bytes for the positions of one turn


@dataclass(frozen=True, eq=False)
class Cycle:
    """A cycle, up to exchange of the players: the positions of one turn, the canonical one first.

    Cards that cost the same are alike, and written as the first such symbol of ``-JQKA``.

    Attributes
    ----------
    rules
        Without limits.
    transient
        Of the deal that led here: tricks and cards before the first position that recurs.
    turn
        Tricks and cards until a position recurs, with the players exchanged or not.
    mirror
        Whether they are exchanged then.
    codes
        uint8, shape (tricks of a turn, cards): the packet of the leader first.
    sizes
        uint32, shape (tricks of a turn,): cards in the leader's packet.
    laid
        uint32, shape (tricks of a turn,): cards laid in the trick that follows.
    exchanged
        bool, shape (tricks of a turn,): whether the other player leads after it.
    places
        uint32, shape (cards,): the place, in the canonical position, to which one turn brings the
        card of each place.
    events
        uint32, shape (cards of a turn,): the places, in the canonical position, of the cards in the
        order in which a turn lays them.
    """

    rules: Rules
    transient: Count
    turn: Count
    mirror: bool
    codes: NDArray[np.uint8]
    sizes: NDArray[np.uint32]
    laid: NDArray[np.uint32]
    exchanged: NDArray[np.bool_]
    places: NDArray[np.uint32]
    events: NDArray[np.uint32]

    @property
    def period(self) -> Count:
        """Tricks and cards until a position recurs with each player in the same seat."""
        return Count(self.turn.cards << self.mirror, self.turn.tricks << self.mirror)

    @property
    def balance(self) -> int:
        """The largest smaller packet on the cycle: half the deck at most."""
        return int(np.minimum(self.sizes, self.codes.shape[1] - self.sizes).max())

    @property
    def canonical(self) -> Deal:
        """The position that stands for the cycle; in it player 1 leads.

        The least of all, relative to the leader: by the size of the leader's packet, then by the
        cards in the order ``-JQKA``, the leader's packet first. Cycles are the same up to exchange
        if their canonical positions are equal.
        """
        return self.position(0)

    @property
    def packet_sizes(self) -> tuple[int, int]:
        """Sizes of the smallest and of the largest packet on the cycle."""
        cards = self.codes.shape[1]
        least = min(int(self.sizes.min()), cards - int(self.sizes.max()))
        return least, cards - least

    @property
    def lead_moves(self) -> int:
        """How often in a period the lead goes to the other player."""
        return int(self.exchanged.sum()) << self.mirror

    @property
    def longest_trick(self) -> int:
        """Cards in the longest trick."""
        return int(self.laid.max())

    @cached_property
    def orbits(self) -> list[list[int]]:
        """The places of the canonical position that the cards go through, turn by turn."""
        return _orbits(self.places)

    def turns_until_back(self, distinct: Distinct) -> int:
        """Return after how many turns the cards told apart are back in their places.

        One if none is told apart, more for every ``"plain"`` card, or ``"all"``.
        """
        return _order(self.codes[0], self.orbits, distinct)

    def distinct_period(self, distinct: Distinct) -> Count:
        """Tricks and cards in a period of full positions in which cards are told apart."""
        turns = _whole(self.turns_until_back(distinct), self.mirror)
        return Count(self.turn.cards * turns, self.turn.tricks * turns)

    def position(self, trick: int) -> Deal:
        """Return the position before a trick of the turn, from 0; in it player 1 leads."""
        return relative(self.codes[trick], int(self.sizes[trick]))


def relative(codes: Iterable[int], size: int, leader: int = 1) -> Deal:
    """Make a deal of card codes, the packet of the leader first, and the size of that."""
    cards = "".join(map(SYMBOLS.__getitem__, codes))
    packets = cards[:size], cards[size:]
    return Deal(packets if leader == 1 else packets[::-1], leader)


def alike(rules: Rules) -> NDArray[np.uint8]:
    """Return for each card code the least one that costs the same: uint8, shape (5,)."""
    costs = rules.penalty_table
    return np.array([costs.index(cost) for cost in costs], np.uint8)


def alike_deck(deck: Deck, rules: Rules) -> Deck:
    """Return the deck in which cards of equal penalty are alike, in the order ``-JQKA``."""
    counts = dict.fromkeys(SYMBOLS, 0)
    for symbol, count in deck.counts:
        counts[SYMBOLS[alike(rules)[CODES[symbol]]]] += count
    left = tuple((symbol, count) for symbol, count in counts.items() if count)
    spec = ",".join(f"{count}{symbol}" for symbol, count in left)
    return Deck(deck.name if set(left) == set(deck.counts) else spec, left)


def two_packets(position: Deal | str) -> Deal:
    """Return a position of two players, read if it is a text.

    Raises
    ------
    DealError
        When it cannot be read, or is for other players.
    """
    deal = Deal.parse(position) if isinstance(position, str) else position
    if len(deal.packets) != 2:
        raise DealError(f"{deal}: has {len(deal.packets)} packets: expected those of two players")
    return deal


def step(position: Deal | str, rules: Rules = STANDARD) -> Deal:
    """Return the position one trick later.

    Where the trick ends the game one player holds all cards. Whose turn it would be then means
    nothing: the rules say who leads after a trick paid in full; else it stays.

    Raises
    ------
    DealError
        When the position is not of two players, or is the end of a game.

    Examples
    --------
    >>> str(step("J--/-J-"))
    '--J-/J-'
    """
    deal = two_packets(position)
    if not all(deal.packets):
        raise DealError(f"{deal}: the game is over: expected cards in both packets")
    return _advanced(deal, rules, 1)


def find_cycle(deal: Deal | str, rules: Rules = STANDARD) -> Cycle | None:
    """Return the cycle that a deal of two players leads into, or None if its game ends.

    Limits in the rules do not count.

    Raises
    ------
    DealError
        When the deal is not of two players, or the positions of a turn take over 1 GiB.

    Examples
    --------
    >>> cycle = find_cycle("---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA")
    >>> cycle.period.tricks, cycle.mirror, str(cycle.canonical)
    (62, False, '--J-/------K---------Q-Q-K---Q-KAQJ--------A-KAAJ--J-')
    """
    deal = two_packets(deal)
    rules = replace(rules.for_players(2), max_tricks=None, max_cards=None)
    run = compiled.play(deal, rules, None, None)
    if run.status == "finished":
        return None
    turn = Count(run.cycle.cards >> run.mirror, run.cycle.tricks >> run.mirror)
    needed = 4 * deal.size * (turn.tricks + 1)
    if needed > MOST_MEMORY:
        raise DealError(
            f"the cycle has {turn.tricks:,} positions of {deal.size:,} cards, {needed:,} bytes: "
            f"expected at most {MOST_MEMORY:,}"
        )
    entry = _advanced(deal, rules, run.transient.tricks)
    codes, sizes = _positions(entry, rules, turn.tricks)
    first = min(range(len(sizes)), key=lambda trick: (sizes[trick], codes[trick].tobytes()))
    start = relative(codes[first], int(sizes[first]))
    walk = compiled.walk(start, rules, turn.tricks, numbers=True, laid=turn.cards)
    assert walk.numbers is not None
    assert walk.laid is not None
    places = np.empty(deal.size, np.uint32)
    places[walk.numbers[-1]] = np.arange(deal.size, dtype=np.uint32)
    return Cycle(
        rules,
        run.transient,
        turn,
        run.mirror,
        np.roll(codes, -first, axis=0),
        walk.sizes[:-1, 0].copy(),
        walk.cards,
        walk.leaders[1:] != walk.leaders[:-1],
        places,
        walk.laid,
    )


def _positions(
    start: Deal, rules: Rules, tricks: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return the positions before each of some tricks, like cards alike, as in `Cycle`."""
    walk = compiled.walk(start, rules, tricks, numbers=True)
    assert walk.numbers is not None
    cards = np.array([CODES[symbol] for symbol in "".join(start.packets)], np.uint8)
    return alike(rules)[cards][walk.numbers[:-1]], walk.sizes[:-1, 0]


def tell_apart(deal: Deal, rules: Rules, loop: Run, distinct: Distinct) -> Run:
    """Return how a deal goes when every plain card, or every card, is told apart.

    Parameters
    ----------
    deal, rules
        Of two players, with the limit that counts.
    loop
        The run of the deal by penalties only, which ends in a loop within the limit.
    distinct
        ``"plain"`` or ``"all"``.

    Returns
    -------
    Run
        The longer loop; or unknown, at the limit, if that comes before it is closed.
    """
    start = _advanced(deal, rules, loop.transient.tricks)
    turn = Count(loop.cycle.cards >> loop.mirror, loop.cycle.tricks >> loop.mirror)
    # Relative to the leader: the leader's packet first, before the turn as after it.
    leading, other = start.packets if start.leader == 1 else start.packets[::-1]
    lead = Deal((leading, other))
    _, *packets = compiled.follow(lead, rules, turn.tricks)
    places = np.empty(deal.size, np.intp)
    places[packets[0] + packets[1]] = np.arange(deal.size)
    codes = alike(rules)[[CODES[symbol] for symbol in leading + other]]
    order = _order(codes, _orbits(places), distinct)
    turns = _whole(order, loop.mirror)
    cycle = Count(turn.cards * turns, turn.tricks * turns)
    total = Count(loop.transient.cards + cycle.cards, loop.transient.tricks + cycle.tricks)
    longer = loop._replace(cycle=cycle, mirror=loop.mirror and order % 2 == 1, total=total)
    stopped = _at_limit(start, rules, loop)
    return stopped if stopped and stopped.total.tricks < total.tricks else longer


def _whole(turns: int, mirror: bool) -> int:
    """Return after how many turns, a multiple of `turns`, each player is in the same seat."""
    return 2 * turns if mirror and turns % 2 else turns


def _advanced(deal: Deal, rules: Rules, tricks: int) -> Deal:
    """Return the position of a game after so many tricks."""
    leader, leading, other = compiled.follow(deal, rules, tricks)
    cards = "".join(deal.packets)
    packets = tuple("".join(cards[number] for number in packet) for packet in (leading, other))
    return Deal(packets if leader == 1 else packets[::-1], leader)


def _orbits(places: NDArray[np.integer]) -> list[list[int]]:
    """Return the orbits of a permutation, each from its least place on."""
    moves = places.tolist()
    unvisited = [True] * len(moves)
    orbits = []
    for place in range(len(moves)):
        orbit = []
        while unvisited[place]:
            unvisited[place] = False
            orbit.append(place)
            place = moves[place]
        if orbit:
            orbits.append(orbit)
    return orbits


def _order(codes: NDArray[np.uint8], orbits: list[list[int]], distinct: Distinct) -> int:
    """Return after how many turns the cards told apart are back; plain ones have the code 0."""
    if distinct == "none":
        return 1
    return lcm(*(len(orbit) for orbit in orbits if distinct == "all" or codes[orbit[0]] == 0))


def _at_limit(start: Deal, rules: Rules, loop: Run) -> Run | None:
    """Return the run stopped by the limit, which lies in some turn of the loop from `start`."""
    transient, cycle = loop.transient, loop.cycle
    tricks = None if rules.max_tricks is None else rules.max_tricks - transient.tricks
    cards = None if rules.max_cards is None else rules.max_cards - transient.cards
    whole = [
        left // of
        for left, of in ((tricks, cycle.tricks), (cards, cycle.cards))
        if left is not None
    ]
    if not whole:
        return None
    times = min(whole)
    rest = compiled.play(
        start,
        rules,
        None if tricks is None else tricks - times * cycle.tricks,
        None if cards is None else cards - times * cycle.cards,
    )
    total = Count(
        transient.cards + times * cycle.cards + rest.total.cards,
        transient.tricks + times * cycle.tricks + rest.total.tricks,
    )
    return rest._replace(status="unknown", total=total)
