"""What a strategy is: a small object that turns a chunk number into finds and counts."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal, Deck
from bmn_search.rules import Rules

__all__ = [
    "Candidate",
    "ChunkResult",
    "Dropped",
    "FoundCycle",
    "Kind",
    "Plan",
    "Remembering",
    "Strategy",
]

Kind = Literal["long", "loop"]


class Dropped(Exception):  # noqa: N818 - not an error: the run was told to stop
    """A chunk was given up because the run is stopping; nothing of it counts."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A deal that a chunk wants kept.

    Attributes
    ----------
    kind
        ``"long"`` (a finished game) or ``"loop"``.
    deal
        Player 1 leads.
    cards, tricks
        What the kernel counted; the reference engine has to confirm it before it is stored.
    order
        Decides between games of equal length: the least is kept. For sampled deals the number.
    """

    kind: Kind
    deal: Deal
    cards: int
    tricks: int
    order: int


@dataclass(frozen=True, slots=True)
class FoundCycle:
    """A cycle of the wanted deck that a search came across.

    Attributes
    ----------
    canonical
        Its canonical position: cycles are the same up to exchange if these are equal.
    tricks, cards, mirror
        One period of full positions, and whether the players are exchanged after half of it.
    balance
        The largest smaller packet on it.
    balanced
        How many balanced deals lead into it.
    family
        The name of its family: neutral variants of a cycle share it.
    """

    canonical: str
    tricks: int
    cards: int
    mirror: bool
    balance: int
    balanced: int
    family: str


@dataclass(slots=True)
class ChunkResult:
    """What a chunk gave.

    Attributes
    ----------
    games
        How many deals were played.
    loops
        How many of the games never end.
    plays
        How many a kernel played, where many deals were settled by one; else 0.
    histogram
        As in `bmn_search.histogram`.
    candidates
        The longest games by cards and by tricks, and every loop, each deal once.
    cycles
        The cycles that a strategy looks for, each once.
    memory
        What later chunks go on from; see `Remembering`.
    """

    games: int = 0
    loops: int = 0
    plays: int = 0
    histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    candidates: list[Candidate] = field(default_factory=list)
    cycles: list[FoundCycle] = field(default_factory=list)
    memory: bytes = b""


class Plan(Protocol):
    """What the store enters of a run: all that determines its results."""

    @property
    def name(self) -> str:
        """The name of the command."""
        ...

    @property
    def deck(self) -> Deck:
        """What is dealt."""
        ...

    @property
    def rules(self) -> Rules:
        """How it is played."""
        ...

    @property
    def seed(self) -> int:
        """Which random numbers."""
        ...

    @property
    def keep(self) -> int:
        """How many of the longest games a run keeps, by cards and by tricks."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Return all else that determines the results, as JSON values."""
        ...


class Strategy(Plan, Protocol):
    """A way to search. `chunk` has to be a pure function of the plan and the number."""

    @property
    def games(self) -> int:
        """How many games a chunk plays."""
        ...

    def chunk(self, number: int, stop: threading.Event) -> ChunkResult:
        """Do chunk `number`, from 0; raise `Dropped` soon after `stop` is set, or finish."""
        ...


@runtime_checkable
class Remembering(Strategy, Protocol):
    """A strategy whose chunks go on from what others end with: their `ChunkResult.memory`.

    Then `chunk` is a pure function of the plan, the number, and the memories of `before`.
    """

    def before(self, number: int) -> tuple[int, ...]:
        """Return the chunks, of lower numbers, whose memories chunk `number` needs."""
        ...

    def behind(self, number: int) -> tuple[int, ...]:
        """Return the chunks that need the memory of chunk `number`."""
        ...

    def going_on(self, memories: Mapping[int, bytes]) -> Strategy:
        """Return the strategy with the memories that the next chunk needs."""
        ...
