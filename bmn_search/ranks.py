"""Unfelt ranks: which ranks the pay cards of a cycle may have without any change in its course.

A pay card tells something of its rank each time it is laid: paid in full by d plain cards, it costs
exactly d; answered by another pay card after j plain ones, it costs at least j + 1. On a cycle a
card takes the place of another after each turn, so what is told of one place of an orbit is told of
all of them. Any choice of ranks, one for each orbit, that agrees with what is told is a cycle
too, with the same course of play: a *rank variant*. The form in which every rank that is not felt
exactly is the least possible stands for all of them, whatever their composition: the *normal form*.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bmn_search.cycle import Cycle, find_cycle, relative
from bmn_search.deal import Deck
from bmn_search.notation import SYMBOLS

__all__ = ["Orbit", "choices", "normal_form", "orbits", "variants", "variants_in"]


@dataclass(frozen=True, slots=True)
class Orbit:
    """Places of the canonical position that its cards go through, turn by turn.

    Attributes
    ----------
    places
        From 0 over the leader's packet and the other one.
    code
        The card in all of them, a code 0-4.
    least
        What it has to cost at least; 0 for a plain card.
    exact
        Whether it has to cost exactly that.
    """

    places: tuple[int, ...]
    code: int
    least: int
    exact: bool

    def ranks(self, costs: bytes) -> list[int]:
        """Return the card codes that it may have, one for each fitting cost: see `costs`."""
        if not self.least:
            return [0]
        return [
            code
            for code, cost in enumerate(costs)
            if costs.index(cost) == code
            and (cost == self.least if self.exact else cost >= self.least)
        ]


def orbits(cycle: Cycle) -> list[Orbit]:
    """Return the orbits of the cards of a cycle, and what is felt of their ranks."""
    least, exact = _felt(cycle)
    return [
        Orbit(
            tuple(places),
            int(cycle.codes[0, places[0]]),
            int(least[places].max()),
            bool(exact[places].any()),
        )
        for places in cycle.orbits
    ]


def _felt(cycle: Cycle) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for each place what one turn tells of its card: the least cost, and if it is exact."""
    cards = cycle.codes.shape[1]
    least, exact = np.zeros(cards, np.int64), np.zeros(cards, np.bool_)
    costs = np.frombuffer(cycle.rules.penalty_table, np.uint8)[cycle.codes[0]]
    end = 0
    for laid in cycle.laid.tolist():
        pile = cycle.events[end : end + laid]
        end += laid
        pay = np.flatnonzero(costs[pile])
        answers = np.append(pay[1:], laid)
        np.maximum.at(least, pile[pay], answers - pay - (answers == laid))
        exact[pile[pay[-1]]] = True
    return least, exact


def choices(cycle: Cycle) -> int:
    """Count the choices of ranks that keep both the course of the cycle and its composition.

    The present one is among them. A cycle that comes to the same again within a turn, but for
    unfelt ranks, is counted once for each place where the turn may begin: `variants` tells them
    apart.
    """
    costs = cycle.rules.penalty_table
    ways = Counter({_composition(cycle): 1})
    for orbit in _pay_orbits(cycle):
        after: Counter[tuple[int, ...]] = Counter()
        for left, number in ways.items():
            for code in orbit.ranks(costs):
                if left[code] >= len(orbit.places):
                    after[_less(left, code, len(orbit.places))] += number
        ways = after
    return sum(ways.values())


def variants(cycle: Cycle) -> Iterator[Cycle]:
    """Yield the rank variants of a cycle, itself among them, each once up to exchange."""
    return _variants(cycle, _pay_orbits(cycle), _composition(cycle))


def variants_in(cycle: Cycle, deck: Deck) -> Iterator[Cycle]:
    """Yield the cycles of a deck that take the course of a cycle, each once up to exchange.

    Here each card of an orbit may have a rank of its own, as all of them agree with what is told of
    the orbit: the ranks then come back after several turns.

    Parameters
    ----------
    deck
        Cards of equal penalty as one symbol.
    """
    counts = dict(deck.counts)
    wanted = tuple(counts.get(symbol, 0) for symbol in SYMBOLS)
    if wanted[0] != _composition(cycle)[0] or deck.size != cycle.codes.shape[1]:
        return iter(())
    single = [
        replace(orbit, places=(place,)) for orbit in _pay_orbits(cycle) for place in orbit.places
    ]
    costs = cycle.rules.penalty_table
    return _variants(cycle, sorted(single, key=lambda card: len(card.ranks(costs))), wanted)


def _variants(cycle: Cycle, free: list[Orbit], cards: tuple[int, ...]) -> Iterator[Cycle]:
    seen = set()
    for codes in _choose(cycle.codes[0].copy(), free, cards, cycle):
        variant = _cycle_of(codes, cycle)
        if variant.canonical not in seen:
            seen.add(variant.canonical)
            yield variant


def normal_form(cycle: Cycle) -> Cycle:
    """Return the cycle in which every rank is the least possible; its turn may be shorter."""
    costs = cycle.rules.penalty_table
    codes = cycle.codes[0].copy()
    for orbit in _pay_orbits(cycle):
        codes[list(orbit.places)] = min(orbit.ranks(costs), key=costs.__getitem__)
    return _cycle_of(codes, cycle)


def _pay_orbits(cycle: Cycle) -> list[Orbit]:
    """Return the orbits of pay cards, the largest first, which leaves the fewest dead ends."""
    found = [orbit for orbit in orbits(cycle) if orbit.least]
    return sorted(found, key=lambda orbit: -len(orbit.places))


def _composition(cycle: Cycle) -> tuple[int, ...]:
    """Count the cards of each code."""
    return tuple(np.bincount(cycle.codes[0], minlength=len(SYMBOLS)).tolist())[: len(SYMBOLS)]


def _less(left: tuple[int, ...], code: int, cards: int) -> tuple[int, ...]:
    return (*left[:code], left[code] - cards, *left[code + 1 :])


def _choose(
    codes: NDArray[np.uint8], left_orbits: list[Orbit], left: tuple[int, ...], cycle: Cycle
) -> Iterator[NDArray[np.uint8]]:
    """Yield the canonical position with every choice of ranks; `left` are the cards to be given."""
    if not left_orbits:
        yield codes
        return
    orbit, *others = left_orbits
    for code in orbit.ranks(cycle.rules.penalty_table):
        if left[code] >= len(orbit.places):
            codes[list(orbit.places)] = code
            yield from _choose(codes, others, _less(left, code, len(orbit.places)), cycle)


def _cycle_of(codes: NDArray[np.uint8], cycle: Cycle) -> Cycle:
    variant = find_cycle(relative(codes, int(cycle.sizes[0])), cycle.rules)
    assert variant is not None  # the same course of play
    return variant
