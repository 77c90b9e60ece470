"""Rules: what a pay card costs, who leads, what ends a game; and the named rule sheets.

The rule sheets of different houses disagree on purpose. Each is one `Rules` value, so that every
engine, count and search can be asked to play it.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

from bmn_search.errors import RulesError
from bmn_search.notation import PLAIN, SYMBOLS

__all__ = ["NAMED_RULES", "STANDARD", "NextLeader", "OutOfCards", "Rules", "SpareCards", "Verdict"]

NextLeader = Literal["winner", "payer"]
OutOfCards = Literal["loses", "pile-to-demander", "debt-passes"]
SpareCards = Literal["extra", "aside"]
Verdict = Literal["none", "draw", "most-cards"]

PAY_RANKS = SYMBOLS[1:]
MOST_PENALTY = 15


@dataclass(frozen=True, slots=True)
class Rules:
    """One set of rules.

    Parameters
    ----------
    name
        What to call them.
    penalties
        What J, Q, K and A cost, each 0 to 15 cards; 0 makes the rank plain.
    players
        Number of players, at least 2.
    next_leader
        Who leads after a trick: its ``"winner"``, or the ``"payer"`` who paid in full.
    out_of_cards
        A player who must pay and has no card left ``"loses"`` (two players only); or is out and
        the ``"pile-to-demander"`` goes as it stands; or is out and the ``"debt-passes"`` on to
        the next player. With two players the three come to the same.
    spare_cards
        Cards of a deck that do not go round: one ``"extra"`` card each for the first players, or
        set ``"aside"``.
    max_tricks, max_cards
        The game stops at the first end of a trick at which so many were played; None is no limit.
    on_limit, on_repeat
        What a limit, or the first repeated position, means for the result: ``"none"``, a
        ``"draw"``, or ``"most-cards"`` wins, with equal counts tied.
    title
        The title of the published sheet, if there is one.

    Raises
    ------
    RulesError
        When a value is not one of these.
    """

    name: str = "standard"
    penalties: tuple[int, int, int, int] = (1, 2, 3, 4)
    players: int = 2
    next_leader: NextLeader = "winner"
    out_of_cards: OutOfCards = "loses"
    spare_cards: SpareCards = "extra"
    max_tricks: int | None = None
    max_cards: int | None = None
    on_limit: Verdict = "none"
    on_repeat: Verdict = "none"
    title: str = ""

    def __post_init__(self) -> None:
        if len(self.penalties) != len(PAY_RANKS):
            raise RulesError(f"{len(self.penalties)} penalties: expected one each for J, Q, K, A")
        for rank, penalty in zip(PAY_RANKS, self.penalties, strict=True):
            if penalty not in range(MOST_PENALTY + 1):
                raise RulesError(
                    f"penalty {penalty} of {rank} is out of range: expected 0 (plain) to 15"
                )
        if not isinstance(self.players, int) or self.players < 2:
            raise RulesError(f"{self.players} players: expected at least 2")
        if self.players > 2 and self.out_of_cards == "loses":
            raise RulesError(
                f"rules {self.name!r} do not say what becomes of a debt when one of "
                f"{self.players} players is out: choose rules for more players (squarescores, "
                "full-rules)"
            )
        for field, limit in (("max_tricks", self.max_tricks), ("max_cards", self.max_cards)):
            if limit is not None and (type(limit) is not int or limit < 1):
                raise RulesError(f"{field} {limit} is out of range: expected a whole number from 1")
        for field, kind in _CHOICES.items():
            if getattr(self, field) not in get_args(kind):
                raise RulesError(
                    f"{field} {getattr(self, field)!r} is unknown: "
                    f"expected one of {', '.join(get_args(kind))}"
                )

    @classmethod
    def named(cls, name: str) -> "Rules":
        """Return the rules of this name.

        Raises
        ------
        RulesError
            When there are none.
        """
        try:
            return NAMED_RULES[name]
        except KeyError:
            raise RulesError(
                f"rules {name!r} are unknown: expected one of {', '.join(NAMED_RULES)}"
            ) from None

    def for_players(self, players: int) -> "Rules":
        """Return these rules for another number of players.

        Raises
        ------
        RulesError
            When these rules are for two players only.
        """
        return self if players == self.players else replace(self, players=players)

    def with_penalties(self, text: str) -> "Rules":
        """Return these rules with other penalties, as in ``A=0`` or ``J=2,A=5``.

        Raises
        ------
        RulesError
            When the text does not say a rank and a number from 0 to 15.
        """
        penalties = dict(zip(PAY_RANKS, self.penalties, strict=True))
        named: set[str] = set()
        for part in text.split(","):
            found = re.fullmatch(r"\s*([JQKA])\s*=\s*([0-9]{1,4})\s*", part, re.IGNORECASE)
            if not found:
                raise RulesError(f"penalty {part!r} cannot be read: expected as in A=0 or J=2,A=5")
            rank = found[1].upper()
            if rank in named:
                raise RulesError(f"the penalty of {rank} stands twice: expected it once")
            named.add(rank)
            penalties[rank] = int(found[2])
        j, q, k, a = penalties.values()
        if (j, q, k, a) == self.penalties:
            return self
        spelled = ",".join(f"{rank}={penalty}" for rank, penalty in penalties.items())
        return replace(self, name=f"{self.name} {spelled}", penalties=(j, q, k, a))

    def penalty(self, symbol: str) -> int:
        """Return what a card costs: 0 for a plain one."""
        return 0 if symbol == PLAIN else self.penalties[PAY_RANKS.index(symbol)]

    @property
    def penalty_table(self) -> bytes:
        """The penalty of each card code, ``-JQKA`` in this order: 5 bytes."""
        return bytes((0, *self.penalties))

    def __str__(self) -> str:
        return self.name


_CHOICES = {
    "next_leader": NextLeader,
    "out_of_cards": OutOfCards,
    "spare_cards": SpareCards,
    "on_limit": Verdict,
    "on_repeat": Verdict,
}

STANDARD = Rules()
NAMED_RULES = {
    rules.name: rules
    for rules in (
        STANDARD,
        Rules(
            "how-to-play",
            max_tricks=3000,
            on_limit="most-cards",
            on_repeat="most-cards",
            title="How to play Beggar My Neighbour",
        ),
        Rules(
            "squarescores",
            next_leader="payer",
            out_of_cards="pile-to-demander",
            spare_cards="aside",
            on_limit="most-cards",
            title="Beggar My Neighbour (SquareScores)",
        ),
        Rules(
            "full-rules",
            out_of_cards="debt-passes",
            on_limit="most-cards",
            title="Beggar-My-Neighbour: Full rules",
        ),
        Rules(
            "selected-rules",
            on_limit="most-cards",
            on_repeat="draw",
            title="Beggar My Neighbour: History and selected rules",
        ),
        Rules("no-ace", penalties=(1, 2, 3, 0)),
        Rules("camicia", penalties=(1, 2, 3, 0)),
    )
}
