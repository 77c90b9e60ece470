"""What is told on stderr while something runs that Ctrl-C may end early."""

import contextlib
import signal
import time
from types import FrameType, TracebackType

import click
from rich.console import Console

__all__ = ["Progress"]

SILENCE = 2.0  # seconds before the first word
LIVE, PLAIN = 0.25, 5.0  # seconds between two lines, on a terminal and elsewhere


class Progress:
    """Tells how far a run is: a live line on a terminal, elsewhere a line every few seconds.

    A context manager: within it the first Ctrl-C raises KeyboardInterrupt; further ones, and those
    after it, are ignored, so that what was done is told in full.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("")
        self._every = LIVE if self._console.is_terminal else PLAIN
        self._next = time.monotonic() + SILENCE

    def __enter__(self) -> "Progress":
        signal.signal(signal.SIGINT, _interrupt_once)
        return self

    def tell(self, line: str) -> None:
        """Show this line, unless one was shown a moment ago."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        with contextlib.suppress(OSError):  # a full disk behind stderr is no reason to stop
            if self._console.is_terminal:
                self._status.start()
                self._status.update(line)
            else:
                click.echo(line, err=True)

    def note(self, line: str) -> None:
        """Print a line that stays, at once."""
        with contextlib.suppress(OSError):
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._status.stop()


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
