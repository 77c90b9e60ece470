"""The workers of a Dask cluster as the crew of a run (the optional extra `cluster`).

A chunk is a pure function, so who plays it, and how often, does not matter: Dask sends the chunks
of a worker that died to another one, and the store enters none twice. What has to be looked after
here is who may play. Every worker is first asked for its `identity`, and chunks are only ever sent
to workers whose answer is the caller's own; the others are refused, by name.

A chunk that kills its workers takes others with it, those that wait there or whose results lie
there, and nobody can tell which one it was. So all that lost too many workers are suspects, and
each of them is played once more with nothing else in flight: who kills then is named.

What is sent is text and bytes. The scheduler reads it too, and both it and a worker break when they
cannot import what a message names; as it is, the scheduler need not have this package, and a
worker without it answers with an error.
"""

import asyncio
import functools
import logging
import pickle
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from multiprocessing import resource_tracker
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakKeyDictionary

from bmn_search.bench import signature
from bmn_search.errors import RunError
from bmn_search.search.crew import Crew, Work, timed_chunk
from bmn_search.search.strategy import ChunkResult, Strategy

try:
    import cloudpickle
    import dask
    from distributed import Client, LocalCluster
    from distributed import Future as DaskFuture
    from distributed.comm import get_address_host_port
    from distributed.scheduler import KilledWorker
    from distributed.security import Security
except ImportError:
    raise RunError(
        "--cluster needs Dask distributed, which is not installed: "
        "pip install 'bmn_search[cluster]'"
    ) from None

__all__ = ["Cluster", "Identity", "identity", "open_cluster", "play"]

SIGNATURE_GAMES = 100_000  # 0.03 s with the fastest kernel, 0.3 s with the slowest
RETRIES = 2  # of a chunk that raises an error
FETCHES = 30  # tries to fetch a result, a second apart
LOSSES = 3  # how often a chunk may lose all workers it was sent to; as Dask's allowed-failures
ROLL_CALL = 1.0  # seconds between two looks at who is there
CONNECT = 10.0  # seconds to reach the scheduler
# Dask looks at itself many times a second: 16 % of a core for two idle workers, their scheduler and
# the caller, 2 % with these settings. And it has workers give memory back at once, so that each
# block of games pays for new pages: 20 % of the time of a chunk. docs/cluster.md repeats both.
CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}
HERE = f"__import__({__name__!r}, fromlist=['any'])."  # this module, wherever that is evaluated
LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")


class Identity(NamedTuple):
    """What has to be equal everywhere for results to be equal: version and signature."""

    version: str
    signature: str


@functools.cache
def identity() -> Identity:
    """Return the identity of this process: its package, and what its kernel really computes."""
    return Identity(version("bmn_search"), signature(games=SIGNATURE_GAMES))


def play(strategy: bytes, number: int, expected: tuple[str, str]) -> Work:
    """Do a chunk of a pickled strategy, on a worker.

    Raises
    ------
    RunError
        When this is not the worker that was asked: another may come up under the same address.
    """
    if identity() != expected:
        raise RunError(_objection(identity(), Identity(*expected)))
    return timed_chunk(pickle.loads(strategy), number, threading.Event())


def _objection(found: Identity, expected: Identity) -> str:
    """Say what is wrong with a worker; nothing, if nothing is."""
    if found.version != expected.version:
        return f"it has bmn_search {found.version}, expected {expected.version}: install that there"
    if found.signature != expected.signature:
        return (
            f"its engine gives the signature {found.signature}, expected {expected.signature}: "
            "look at bmn info there, and build the package anew"
        )
    return ""


class _Sent(NamedTuple):
    """A chunk in flight: what it is, to which workers it was sent, how often it lost them all.

    And whether it is a suspect, with no other in flight.
    """

    strategy: Strategy
    workers: frozenset[str]
    losses: int
    alone: bool


class Cluster(Crew):
    """The accepted workers of a Dask scheduler; `open_cluster` makes one."""

    def __init__(self, client: Client, address: str, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._client, self._address, self._tell = client, address, tell
        self._scheduler = client.scheduler_info(n_workers=0)["id"]
        self._tasks: WeakKeyDictionary[Future[Any], DaskFuture] = WeakKeyDictionary()
        self._next_call = 0.0
        self._asked: dict[str, Future[Identity]] = {}
        self._accepted: dict[str, int] = {}  # address to number of threads
        self._refused: dict[str, str] = {}  # address to reason
        self._ever_accepted = False
        self._sent: dict[Future[Work], _Sent] = {}
        self._suspects: dict[Future[Work], Strategy] = {}  # they wait for their turn
        self._told_of_waiting = False

    def room(self) -> int:
        """Return how many more chunks may be begun: two are in flight for each thread there.

        None while there are suspects.
        """
        if self._suspects or any(sent.alone for sent in self._sent.values()):
            return 0
        return 2 * sum(self._accepted.values()) - len(self.flying)

    def begin(self, strategy: Strategy, number: int, losses: int = 0, alone: bool = False) -> None:
        """Send a chunk to the cluster; any accepted worker may play it."""
        workers = frozenset(self._accepted)
        future = self._evaluate(
            f"chunk-{number}",
            "play(strategy, number, expected)",
            workers,
            strategy=cloudpickle.dumps(strategy),
            number=number,
            expected=tuple(identity()),
        )
        self.flying[future] = number
        self._sent[future] = _Sent(strategy, workers, losses, alone)

    def _evaluate(
        self, label: str, expression: str, workers: Iterable[str], **names: Any
    ) -> Future[Any]:
        """Let one of these workers evaluate an expression of this module."""
        future: Future[Any] = Future()
        task = self._tasks[future] = self._client.submit(
            eval,
            HERE + expression,
            names,
            key=f"bmn-{label}-{uuid4().hex}",
            workers=list(workers),
            pure=False,
            retries=RETRIES,
        )
        self._client.loop.add_callback(_deliver, task, future)
        return future

    def result(self, future: Future[Work], number: int) -> Work | None:
        """Return what a chunk gave; None if its workers died, and it waits to be played alone.

        Raises
        ------
        RunError
            When the chunk failed however often it was tried, or the scheduler forgot it.
        """
        sent = self._sent.pop(future)
        if future.cancelled():
            raise self._lost()
        error = future.exception()
        if isinstance(error, KilledWorker):
            last = error.last_worker.address
            self._suspect(number, sent, f"every worker that played it died, {last} the last")
            return None
        if error is not None:
            raise _failing(number, _one_line(error))
        return future.result()

    def finished(self, patience: float) -> Iterator[tuple[int, ChunkResult, float]]:
        """Yield chunks as they finish, and learn of workers that come and go."""
        yield from super().finished(patience)
        if time.monotonic() >= self._next_call:
            self._call_roll()
            self._send_again()
            self._try_suspect()
            waiting = self._asked or not self._accepted
            self._next_call = time.monotonic() + (0 if waiting else ROLL_CALL)

    def recall(self) -> None:
        """Let the chunks in flight be finished, since nobody knows which are being played.

        Without a worker none is.
        """
        if not self._accepted:
            self.drop()

    def drop(self) -> None:
        """Give up all chunks; one that is being played is played to its end, for nothing."""
        if self._client.status == "running":
            self._client.cancel(list(self._tasks.values()))
        self._asked.clear()
        self._sent.clear()
        self._suspects.clear()
        self.flying.clear()

    def muster(self) -> None:
        """Wait until a worker is accepted, unless there is none: the clock of a run starts then."""
        self._call_roll()
        while self._asked and not self._accepted:
            time.sleep(0.05)
            self._call_roll()

    def _lost(self) -> RunError:
        return RunError(f"{self._address}: the scheduler is lost, or was started anew")

    def _call_roll(self) -> None:
        """Ask new workers who they are, and forget those that are gone.

        Raises
        ------
        RunError
            When the scheduler is lost, or all workers there ever were are refused.
        """
        if self._client.status != "running":
            raise self._lost()
        info = self._client.scheduler_info(n_workers=-1)
        if info["id"] != self._scheduler:
            raise self._lost()
        present = {address: worker["nthreads"] for address, worker in info["workers"].items()}
        for group in (self._asked, self._accepted, self._refused):
            for address in group.keys() - present.keys():
                del group[address]
        for address in present.keys() - {*self._asked, *self._accepted, *self._refused}:
            self._asked[address] = self._evaluate("identity", "identity()", [address])
        for address, answer in list(self._asked.items()):
            if answer.done():
                del self._asked[address]
                self._judge(address, present[address], answer)
        if not present and not self._told_of_waiting:
            self._tell(f"{self._address} has no worker: waiting for one to come")
        self._told_of_waiting = not present
        if self._refused and not self._asked and not self._accepted and not self._ever_accepted:
            raise RunError(f"{self._address}: every worker is refused")

    def _judge(self, address: str, threads: int, answer: Future[Identity]) -> None:
        """Accept a worker, or refuse it and say why."""
        if answer.cancelled():
            raise self._lost()
        error = answer.exception()
        reason = _one_line(error) if error else _objection(answer.result(), identity())
        if reason:
            self._refused[address] = reason
            self._tell(f"worker {address} is refused: {reason}")
        else:
            self._accepted[address] = threads
            self._ever_accepted = True

    def _send_again(self) -> None:
        """Send chunks, all of whose workers are gone, to others: Dask would wait for them."""
        if not self._accepted:
            return
        for future, sent in list(self._sent.items()):
            if sent.workers.isdisjoint(self._accepted) and not future.done():
                number = self.flying.pop(future)
                del self._sent[future]
                self._tasks[future].cancel()
                if sent.losses == LOSSES:
                    self._suspect(number, sent, "it lost all its workers, with no other in flight")
                else:
                    self.begin(sent.strategy, number, sent.losses + 1)

    def _suspect(self, number: int, sent: _Sent, reason: str) -> None:
        """Line a chunk up that lost too many workers; if it was alone, nothing else killed them."""
        if sent.alone:
            raise _failing(number, reason)
        waiting: Future[Work] = Future()
        self.flying[waiting] = number
        self._suspects[waiting] = sent.strategy

    def _try_suspect(self) -> None:
        """Send a suspect out alone: a further loss decides."""
        if self._suspects and self._accepted and not self._sent:
            waiting = next(iter(self._suspects))
            self.begin(self._suspects.pop(waiting), self.flying.pop(waiting), LOSSES, alone=True)


async def _deliver(task: DaskFuture, future: Future[Any]) -> None:
    """Hand over how a task ends, whatever happens: the runner waits for it.

    A result that cannot be fetched is asked for again; Dask meanwhile finds out that a worker is
    gone, and has another one play the chunk.
    """
    for attempt in range(FETCHES + 1):
        try:
            result = await task
        except (Exception, asyncio.CancelledError) as error:
            if task.cancelled():
                future.cancel()
                future.set_running_or_notify_cancel()  # or nobody who waits for it hears of it
                return
            if task.status == "error" or attempt == FETCHES:
                future.set_exception(error)
                return
        else:
            future.set_result(result)
            return
        await asyncio.sleep(1)


def _failing(number: int, reason: str) -> RunError:
    return RunError(f"chunk {number} keeps failing: {reason}")


def _one_line(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


@contextmanager
def open_cluster(
    address: str, tell: Callable[[str], None] = lambda line: None
) -> Iterator[Cluster]:
    """Open a cluster, and close it in the end.

    The loggers of distributed fall silent: what matters is told, or raised, in one line.

    Parameters
    ----------
    address
        Of a Dask scheduler, as in ``"tcp://host:8786"`` or ``"tls://host:8786"``; or ``"local:N"``
        for N processes on this machine that live as long as the cluster is open.
    tell
        Called with a line about each worker that is refused, and when there is none.

    Raises
    ------
    RunError
        When there is no such scheduler.
    """
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with ExitStack() as stack:
        try:
            client = stack.enter_context(_client(address, stack))
        except (OSError, ValueError, TypeError, ImportError) as error:
            raise RunError(
                f"--cluster {address}: {_one_line(error)}: expected a Dask scheduler, as "
                "tcp://host:8786, or local:N for N processes here"
            ) from None
        cluster = Cluster(client, address, tell)
        cluster.muster()
        yield cluster


def _client(address: str, stack: ExitStack) -> Client:
    """Connect to a scheduler, started here if need be."""
    target: str | LocalCluster = address
    if local := re.fullmatch(r"local:([1-9][0-9]{0,3})", address):
        target = stack.enter_context(_local_cluster(int(local[1])))
    elif address.startswith("local:"):
        raise ValueError("no number of processes")
    else:
        # A Client that cannot even try complains loudly.
        get_address_host_port(address)
        if address.startswith("tls:") and not Security().get_connection_args("client").get(
            "ssl_context"
        ):
            raise ValueError("no certificate is configured: docs/cluster.md tells how")
    with warnings.catch_warnings():  # other versions of Python or Dask there are no concern of ours
        warnings.simplefilter("ignore")
        return Client(target, timeout=CONNECT, set_as_default=False)


def _local_cluster(processes: int) -> LocalCluster:
    """Start processes of one thread on this machine, reached from this machine only.

    A terminal sends Ctrl-C to them too, but only the caller shall hear it: what a thread blocks,
    the threads and processes that come from it block as well.
    """
    resource_tracker.ensure_running()  # it unblocks the signal in the thread that starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with dask.config.set(CALM):
            return LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
