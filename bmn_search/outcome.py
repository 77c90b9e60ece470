"""Outcomes: how a game went, counted in every convention that people publish.

The one place that knows how to count. ``cards`` counts a card when it is laid; a game is over as
soon as one player holds every card at the end of a trick, or when a player must turn a card and
has none, and then an unfinished last pile counts as a trick. Two habits of other counters explain
the differences between published figures:

- *until called*: play goes on until a player is called on and cannot turn, so the winner of a
  fully paid last trick leads one more card, an unfinished pile of its own;
- *completed tricks*: an unfinished pile is no trick.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bmn_search.deal import Deal
from bmn_search.rules import Rules

__all__ = ["Count", "Counting", "Distinct", "Outcome", "Result", "Status"]

# Which cards a repeated position tells apart one by one; the others only by what they cost.
Distinct = Literal["none", "plain", "all"]

Status = Literal["finished", "loop", "unknown"]
Result = Literal["win", "draw", "tie", "none"]


class Count(NamedTuple):
    """A number of cards laid and of tricks."""

    cards: int
    tricks: int


class Counting(NamedTuple):
    """The same game in the two other conventions; for a game without an end both are its own."""

    until_called: Count
    completed_tricks: Count


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a deal went. The attributes are the keys of the JSON document.

    Attributes
    ----------
    status
        ``"finished"``; ``"loop"`` (never ends); ``"unknown"`` (a limit was reached first).
    winner
        The player who won, from 1, under the rules' verdict for a limit or a loop too; or None.
    cards, tricks
        Totals: of the game, at the first repeat of a loop, or at the limit.
    transient_cards, transient_tricks
        Of a loop: before the first position that recurs. Else None.
    cycle_cards, cycle_tricks
        Of a loop: in one period of full positions. Else None.
    mirror
        Of a loop of two players: whether the position recurs with the players exchanged after
        half the cycle. Else None.
    counting
        `Counting`, the totals in the other two conventions.
    engine
        ``"fast"`` (compiled) or ``"reference"``.
    result
        ``"win"``, ``"draw"``, ``"tie"`` (equal counts where most cards win) or ``"none"``.
    """

    deal: Deal
    rules: Rules
    status: Status
    winner: int | None
    cards: int
    tricks: int
    transient_cards: int | None
    transient_tricks: int | None
    cycle_cards: int | None
    cycle_tricks: int | None
    mirror: bool | None
    counting: Counting
    engine: str
    result: Result

    @classmethod
    def finished(
        cls, deal: Deal, rules: Rules, engine: str, winner: int, total: Count, last_pile: int
    ) -> "Outcome":
        """Make the outcome of a game that ended.

        `last_pile` is the size of the pile left unfinished, 0 if the last trick was paid in full.
        """
        # A game that began with one player out was over before anyone could lead.
        leads_on = last_pile == 0 and total.tricks > 0 and rules.next_leader == "winner"
        counting = Counting(
            until_called=Count(total.cards + leads_on, total.tricks + leads_on),
            completed_tricks=Count(total.cards, total.tricks - (last_pile > 0)),
        )
        nothing = (None, None, None, None, None)
        return cls(deal, rules, "finished", winner, *total, *nothing, counting, engine, "win")

    @classmethod
    def loop(
        cls,
        deal: Deal,
        rules: Rules,
        engine: str,
        transient: Count,
        cycle: Count,
        mirror: bool | None,
        held: tuple[int, ...],
    ) -> "Outcome":
        """Make the outcome of a game that never ends; `held` are the packet sizes at the repeat."""
        total = Count(transient.cards + cycle.cards, transient.tricks + cycle.tricks)
        winner, result = _verdict(rules.on_repeat, held)
        counting = Counting(total, total)
        return cls(
            deal,
            rules,
            "loop",
            winner,
            *total,
            *transient,
            *cycle,
            mirror,
            counting,
            engine,
            result,
        )

    @classmethod
    def unknown(
        cls, deal: Deal, rules: Rules, engine: str, total: Count, held: tuple[int, ...]
    ) -> "Outcome":
        """Make the outcome of a game stopped by a limit; `held` are the packet sizes there."""
        winner, result = _verdict(rules.on_limit, held)
        nothing = (None, None, None, None, None)
        counting = Counting(total, total)
        return cls(deal, rules, "unknown", winner, *total, *nothing, counting, engine, result)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON document of the outcome."""
        return {
            "deal": str(self.deal),
            "rules": self.rules.name,
            "status": self.status,
            "winner": self.winner,
            "cards": self.cards,
            "tricks": self.tricks,
            "transient_cards": self.transient_cards,
            "transient_tricks": self.transient_tricks,
            "cycle_cards": self.cycle_cards,
            "cycle_tricks": self.cycle_tricks,
            "mirror": self.mirror,
            "counting": {name: count._asdict() for name, count in self.counting._asdict().items()},
            "engine": self.engine,
        }


def _verdict(verdict: str, held: tuple[int, ...]) -> tuple[int | None, Result]:
    """Return the winner and the result when nobody won by play."""
    if verdict == "none":
        return None, "none"
    if verdict == "draw":
        return None, "draw"
    most = max(held)
    if held.count(most) > 1:
        return None, "tie"
    return held.index(most) + 1, "win"
