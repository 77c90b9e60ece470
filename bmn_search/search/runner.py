"""The runner: a crew over the chunks of a strategy, stop conditions, proof, and the store.

The crew are threads, or the workers of a cluster (`crew.py`). Chunks are pure functions of the
strategy's parameters and their number, so what a run finds depends neither on the number of
workers nor on their timing, nor on how often it was stopped and resumed. The main thread alone
writes to the store, and proves what is worth keeping before it does.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from bmn_search.engine import play_both
from bmn_search.errors import RunError, StoreError
from bmn_search.outcome import Outcome
from bmn_search.rules import Rules
from bmn_search.search.crew import Crew, Threads
from bmn_search.search.strategy import Candidate, ChunkResult, Kind, Remembering, Strategy
from bmn_search.store import Run, Store
from bmn_search.workers import usable_cores

__all__ = ["DisagreementError", "Limits", "State", "prove", "resume", "run"]

PATIENCE = 0.25  # seconds between two looks at the clock while chunks are played


class DisagreementError(Exception):
    """Two ways to the same result disagree: a defect of this program, which must not be hidden."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run stops: whichever comes first; None is no limit.

    Attributes
    ----------
    seconds
        No chunk is begun after so long.
    chunks
        Chunks 0 to `chunks` - 1 are done, those done before included.
    cards, tricks, loops
        A finished game of at least so many cards or tricks was found, or so many loops.
    """

    seconds: float | None = None
    chunks: int | None = None
    cards: int | None = None
    tricks: int | None = None
    loops: int | None = None


@dataclass(slots=True)
class State:
    """How far a run is: all that was done for it, but for what is counted from this time only.

    Attributes
    ----------
    seconds, new_games, new_plays
        Since it was begun, or gone on with, this time: the games, and how many of them a kernel
        played.
    longest_cards, longest_tricks
        Of the finished games kept.
    loop_deals
        Different deals that never end.
    last
        The find that was stored last.
    stopped
        Why it ended this time: ``"done"``, ``"limit"`` or ``"interrupted"``; empty before.
    """

    run: Run
    chunks: int = 0
    games: int = 0
    loops: int = 0
    seconds: float = 0.0
    new_games: int = 0
    new_plays: int = 0
    longest_cards: int = 0
    longest_tricks: int = 0
    loop_deals: int = 0
    last: str = ""
    stopped: str = ""
    _entering: tuple[int, ChunkResult] | None = None


def run(
    strategy: Strategy,
    store: Store,
    entered: Run,
    limits: Limits | None = None,
    *,
    workers: int | None = None,
    crew: Crew | None = None,
    progress: Callable[[State], None] = lambda state: None,
) -> State:
    """Do the chunks of a run that are not yet done, until a limit or Ctrl-C.

    Ctrl-C drops the chunks in flight; what was finished is in the store.

    Parameters
    ----------
    entered
        The run as the store has it.
    workers
        How many threads; by default one for each usable core.
    crew
        Who does the chunks instead of threads: an open cluster.
    progress
        Called about four times a second.

    Raises
    ------
    DisagreementError
        When the reference engine does not confirm a find; the run stops at once.
    StoreError
        When the store cannot be written; nothing in it is lost.
    RunError
        When the crew cannot go on; what was finished is in the store.
    """
    limits = limits or Limits()
    state = State(entered)
    _look_up(store, state)
    line = _Line(strategy, store, entered.id, limits.chunks)
    crew = crew or Threads(workers or usable_cores())
    try:
        _work(line, store, state, limits, crew, progress)
    except KeyboardInterrupt:
        state.stopped = "interrupted"
    finally:
        crew.drop()
    _look_up(store, state)  # Ctrl-C may have come between a chunk's entry and its count
    if state._entering and state._entering[0] in store.done(entered.id):
        _count(state)
    progress(state)
    return state


class _Line:
    """The chunks still to be done, in order; one that goes on from others waits for them."""

    def __init__(self, strategy: Strategy, store: Store, run: int, most: int | None) -> None:
        self._strategy, self._store, self._run = strategy, store, run
        self._done = store.done(run)
        numbers = itertools.count() if most is None else range(most)
        self._left = (number for number in numbers if number not in self._done)
        self._next = next(self._left, None)
        for chunk in store.remembered(run):  # a run that was killed may not have come to it
            self._forget(chunk)

    def is_empty(self) -> bool:
        """Return whether all chunks were taken."""
        return self._next is None

    def take(self) -> tuple[int, Strategy] | None:
        """Return the next chunk, and the strategy that does it; None if there is none now."""
        number, strategy = self._next, self._strategy
        if number is None:
            return None
        if isinstance(strategy, Remembering):
            before = strategy.before(number)
            if not self._done.issuperset(before):
                return None
            memories = self._store.memories(self._run, before)
            if len(memories) < len(before):  # another process may be farther on
                self._done = self._store.done(self._run)
                if number not in self._done:
                    raise StoreError(
                        f"run {self._run}: what chunk {number} goes on from is lost: begin a new "
                        "run"
                    )
                self._next = next(self._left, None)
                return self.take()
            strategy = strategy.going_on(memories)
        self._next = next(self._left, None)
        return number, strategy

    def finish(self, number: int) -> None:
        """Take a chunk as done, and have the store forget what no chunk will go on from."""
        self._done.add(number)
        if isinstance(self._strategy, Remembering):
            for earlier in self._strategy.before(number):
                self._forget(earlier)

    def _forget(self, chunk: int) -> None:
        """Have the store forget what a chunk left, if no other one will go on from it."""
        strategy = self._strategy
        if isinstance(strategy, Remembering) and self._done.issuperset(strategy.behind(chunk)):
            self._store.forget(self._run, chunk)


def _work(
    line: _Line,
    store: Store,
    state: State,
    limits: Limits,
    crew: Crew,
    progress: Callable[[State], None],
) -> None:
    """Keep the crew busy and enter what it finishes, until there is nothing left to do."""
    begun = time.perf_counter()
    while True:
        state.seconds = time.perf_counter() - begun
        reached = _limit_reached(state, limits)
        while not reached and crew.room() > 0 and (taken := line.take()):
            number, strategy = taken
            crew.begin(strategy, number)
        if reached:
            crew.recall()
        if not crew.flying and (reached or line.is_empty()):
            state.stopped = "limit" if reached else "done"
            return
        for number, result, seconds in crew.finished(PATIENCE):
            _enter(store, state, number, result, seconds)
            line.finish(number)
        state.seconds = time.perf_counter() - begun
        progress(state)


def _enter(store: Store, state: State, number: int, result: ChunkResult, seconds: float) -> None:
    """Prove what is worth keeping of a chunk, and enter both."""
    least_cards, least_tricks = store.least_kept(state.run)
    proved: list[tuple[Kind, int, dict[str, Any]]] = []
    for candidate in result.candidates:
        short = candidate.cards < least_cards and candidate.tricks < least_tricks
        if candidate.kind == "long" and short:
            continue
        outcome = prove(candidate, state.run.rules)
        proved.append((candidate.kind, candidate.order, outcome.as_dict()))
    state._entering = number, result
    if not store.finish(state.run, number, result, seconds, proved):
        state._entering = None
        return  # another process has done this chunk meanwhile
    _count(state)
    # Counted here, since adding up all chunks of the file again would take longer and longer.
    state.chunks += 1
    state.games += result.games
    state.loops += result.loops
    if proved:
        state.longest_cards, state.longest_tricks, state.loop_deals = store.best(state.run.id)
    for kind, _, document in proved:
        if kind == "loop" or document["cards"] == state.longest_cards:
            state.last = f"{document['deal']} ({kind}, {document['cards']:,} cards)"


def _count(state: State) -> None:
    """Count the chunk that was entered."""
    assert state._entering
    _, result = state._entering
    games, plays = state.new_games + result.games, state.new_plays + (result.plays or result.games)
    # Nothing is called between these, so that Ctrl-C comes before or after all three.
    state.new_games, state.new_plays, state._entering = games, plays, None


def prove(candidate: Candidate, rules: Rules) -> Outcome:
    """Return the outcome of a candidate, once both engines and its kernel agree on it.

    Raises
    ------
    DisagreementError
        When they do not.
    """
    outcome, oracle, agree = play_both(candidate.deal, rules)
    status = "finished" if candidate.kind == "long" else "loop"
    counted = (outcome.status, outcome.cards, outcome.tricks)
    if not agree or counted != (
        status,
        candidate.cards,
        candidate.tricks,
    ):
        raise DisagreementError(
            f"the engines disagree on {candidate.deal} under {rules.name} rules: please report "
            f"this. Kernel: {status}, {candidate.cards} cards, {candidate.tricks} tricks; fast: "
            f"{outcome.as_dict()}; reference: {oracle.as_dict()}"
        )
    return outcome


def _look_up(store: Store, state: State) -> None:
    """Bring the state to what the store holds."""
    totals = store.totals(state.run.id)
    state.chunks, state.games, state.loops = totals.chunks, totals.games, totals.loops
    state.longest_cards, state.longest_tricks, state.loop_deals = store.best(state.run.id)


def _limit_reached(state: State, limits: Limits) -> bool:
    pairs = (
        (limits.seconds, state.seconds),
        (limits.cards, state.longest_cards),
        (limits.tricks, state.longest_tricks),
        (limits.loops, state.loop_deals),
    )
    return any(limit is not None and reached >= limit for limit, reached in pairs)


def resume(store: Store, number: int, strategy_name: str, changed: dict[str, Any]) -> Run:
    """Return a run to go on with, if that can be done.

    Parameters
    ----------
    strategy_name
        Which strategy the caller means.
    changed
        What the caller asks for beside it: a name for people, and the value; None if not asked.

    Raises
    ------
    RunError
        When the run is of another strategy or version, or something else is asked for.
    """
    entered = store.run(number)
    if entered.strategy != strategy_name:
        raise RunError(
            f"run {number} is a {entered.strategy} search: go on with "
            f"bmn search {entered.strategy} --resume {number}"
        )
    if entered.version != version("bmn_search"):
        raise RunError(
            f"run {number} was begun by bmn_search {entered.version}, this is "
            f"{version('bmn_search')}: go on with that version, or begin a new run"
        )
    own = {
        "deck": entered.deck.name,
        "rules": entered.rules.name,
        "seed": entered.seed,
        "keep": entered.keep,
        **entered.parameters,
    }
    for name, value in changed.items():
        if value is not None and own.get(name) != value:
            raise RunError(
                f"run {number} has {name} {own.get(name)}, not {value}: leave it out, or begin a "
                "new run"
            )
    return entered
