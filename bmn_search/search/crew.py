"""The crew of a run, who do its chunks: threads here, the workers of a cluster in `cluster`."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from bmn_search.search.strategy import ChunkResult, Dropped, Strategy

__all__ = ["Crew", "Threads", "Work", "timed_chunk"]

Work = tuple[ChunkResult, float]  # what a chunk gave, and the seconds it took


class Crew(ABC):
    """Does chunks, several at a time, in any order.

    Attributes
    ----------
    flying
        The chunks begun and not yet finished, and their numbers.
    """

    def __init__(self) -> None:
        self.flying: dict[Future[Work], int] = {}

    @abstractmethod
    def room(self) -> int:
        """Return how many more chunks may be begun now."""

    @abstractmethod
    def begin(self, strategy: Strategy, number: int) -> None:
        """Begin a chunk, or line it up."""

    @abstractmethod
    def recall(self) -> None:
        """Give up chunks that are not being played: the run comes to its end."""

    @abstractmethod
    def drop(self) -> None:
        """Give up all chunks in flight."""

    def result(self, future: Future[Work], number: int) -> Work | None:
        """Return what a finished chunk gave, or raise what kept it from finishing.

        None if it has to be played again; it is in flight anew then.
        """
        return future.result()

    def finished(self, patience: float) -> Iterator[tuple[int, ChunkResult, float]]:
        """Yield number, result and seconds of chunks as they finish, within `patience` seconds.

        What went wrong in a chunk is raised after those that went well.
        """
        if not self.flying:
            time.sleep(patience)
        done, _ = wait(self.flying, patience, FIRST_COMPLETED)
        for future in sorted(done, key=_went_wrong):
            number = self.flying.pop(future)
            work = self.result(future, number)
            if work is not None:
                yield number, *work


def _went_wrong(future: Future[Work]) -> bool:
    return future.cancelled() or future.exception() is not None


class Threads(Crew):
    """So many threads of this process, for one run: the kernels release the GIL."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._most = threads + 1  # a thread that has finished need not wait for the next chunk
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(threads)

    def room(self) -> int:
        """Return how many more chunks may be begun now."""
        return self._most - len(self.flying)

    def begin(self, strategy: Strategy, number: int) -> None:
        """Begin a chunk, or line it up."""
        self.flying[self._pool.submit(timed_chunk, strategy, number, self._stop)] = number

    def recall(self) -> None:
        """Give up chunks that no thread has taken up."""
        for future in list(self.flying):
            if future.cancel():
                del self.flying[future]

    def drop(self) -> None:
        """Give up all chunks, and wait for the threads to do so."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def timed_chunk(strategy: Strategy, number: int, stop: threading.Event) -> Work:
    """Do a chunk, and say how many seconds it took."""
    if stop.is_set():
        raise Dropped
    begun = time.perf_counter()
    result = strategy.chunk(number, stop)
    return result, time.perf_counter() - begun
