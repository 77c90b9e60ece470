"""Threads over chunks of work that releases the GIL."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order", "usable_cores"]

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


def usable_cores() -> int:
    """Count the CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    task: Callable[[Chunk, threading.Event], Result], chunks: Iterable[Chunk], threads: int
) -> Iterator[Result]:
    """Yield task(chunk, stop) for each chunk, in order.

    No more than twice as many chunks as threads are in flight, so memory stays flat. When the
    iteration is left early (Ctrl-C), `stop` is set, and chunks that have not begun are dropped.
    """
    stop = threading.Event()
    flying: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for chunk in chunks:
                flying.append(pool.submit(task, chunk, stop))
                if len(flying) >= 2 * threads:
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
        finally:
            stop.set()
            for future in flying:
                future.cancel()
