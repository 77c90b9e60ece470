"""Cycles in which single cards are told apart, from the cycle of penalties alone.

Where cards of one penalty are alike, a position comes back after some tricks, with the players
exchanged or not: call this a turn. The cards have then changed places by a permutation of the
places relative to the leader, and every later turn permutes them again in the same way, for the
game goes on as before. So the single cards are back after as many turns as the order of the
permutation, taken over the places of those that are told apart; and since a permutation can be
undone, nothing recurs earlier: the transient stays. That is exact, and no slower where the
answer is astronomical.
"""

from math import lcm

from bmn_search import compiled
from bmn_search.compiled import Run
from bmn_search.deal import Deal
from bmn_search.outcome import Count, Distinct
from bmn_search.rules import Rules

__all__ = ["tell_apart"]


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
    turns = _order(start, rules, turn.tricks, distinct)
    mirror = loop.mirror and turns % 2 == 1
    if mirror:
        turns *= 2
    cycle = Count(turn.cards * turns, turn.tricks * turns)
    total = Count(loop.transient.cards + cycle.cards, loop.transient.tricks + cycle.tricks)
    longer = loop._replace(cycle=cycle, mirror=mirror, total=total)
    stopped = _at_limit(start, rules, loop)
    return stopped if stopped and stopped.total.tricks < total.tricks else longer


def _advanced(deal: Deal, rules: Rules, tricks: int) -> Deal:
    """Return the position of a game after so many tricks."""
    leader, leading, other = compiled.follow(deal, rules, tricks)
    cards = "".join(deal.packets)
    packets = tuple("".join(cards[number] for number in packet) for packet in (leading, other))
    return Deal(packets if leader == 1 else packets[::-1], leader)


def _order(start: Deal, rules: Rules, tricks: int, distinct: Distinct) -> int:
    """Return after how many turns of `tricks` tricks the cards told apart are back."""
    cards = "".join(start.packets)
    # Places relative to the leader: the leader's packet first, now and after the turn.
    places = list(range(len(cards)))
    if start.leader == 2:
        first = len(start.packets[0])
        places = places[first:] + places[:first]
    _, leading, other = compiled.follow(start, rules, tricks)
    moves = dict(zip(places, leading + other, strict=True))
    order = 1
    unvisited = set(moves)
    while unvisited:
        card = unvisited.pop()
        told_apart = distinct == "all" or rules.penalty(cards[card]) == 0
        length = 1
        while (following := moves[card]) in unvisited:
            unvisited.remove(following)
            card = following
            length += 1
        if told_apart:
            order = lcm(order, length)
    return order


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
