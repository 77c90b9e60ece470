"""Pictures, with matplotlib (the optional extra `plot`)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bmn_search.errors import BmnError
from bmn_search.files import check_output
from bmn_search.stats import Statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check", "length_histogram", "save"]

KINDS = (".png", ".svg", ".pdf")


def _figure(**options: Any) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BmnError(
            "pictures need matplotlib, which is not installed: pip install 'bmn_search[plot]'"
        ) from None
    return Figure(layout="constrained", **options)


def check(path: str | Path) -> None:
    """Refuse, before any work is done, a picture that could not be made.

    Raises
    ------
    BmnError
        When matplotlib is not installed, the ending of the name is unknown, or the file cannot be
        written.
    """
    _figure()
    check_output(path, KINDS)


def save(figure: "Figure", path: str | Path) -> None:
    """Write a picture; the ending of the name says which kind.

    Raises
    ------
    BmnError
        As `check`, or when the file cannot be written.
    """
    check(path)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise BmnError(f"{path}: cannot be written: {error.strerror}") from None


def length_histogram(done: Statistics) -> "Figure":
    """Draw the histogram of game lengths, and below it the tail with its exponential fit.

    Raises
    ------
    BmnError
        When matplotlib is not installed, or no game finished.
    """
    figure = _figure(figsize=(8, 8))
    if done.finished < 2:
        raise BmnError("there is nothing to draw: fewer than two games finished")
    lengths = np.arange(len(done.histogram))
    above, below = figure.subplots(2, 1)
    width = max(1, done.quantile(0.99) // 150)
    bins = np.add.reduceat(done.histogram, np.arange(0, len(lengths), width))
    above.bar(lengths[::width], bins / done.finished, width=width, align="edge", color="#4c72b0")
    above.axvline(done.quantile(0.5), color="#c44e52", lw=1, label=f"median {done.quantile(0.5)}")
    above.axvline(done.mean, color="#55a868", lw=1, ls="--", label=f"mean {done.mean:.1f}")
    above.set(
        xlim=(0, done.quantile(0.99)),
        xlabel="cards",
        ylabel=f"share of games per {width} cards" if width > 1 else "share of games",
        title=f"{done.finished:,} games of {done.deck} ({done.rules} rules)",
    )
    above.legend(frameon=False)
    exceeding = done.finished - done.histogram.cumsum()
    told = exceeding > 0
    below.semilogy(lengths[told], exceeding[told] / done.finished, color="#4c72b0", label="games")
    folding, error, start = done.folding
    if folding == folding and told[start]:
        fitted = lengths[start:]
        fit = exceeding[start] / done.finished * np.exp(-(fitted - start) / folding)
        label = f"e-folding {folding:.1f} ± {error:.1f} cards"
        below.semilogy(fitted, fit, color="#c44e52", ls="--", lw=1, label=label)
    below.set(xlabel="cards", ylabel="share of longer games", xlim=(0, len(lengths)))
    below.set_ylim(bottom=0.5 / done.finished)
    below.legend(frameon=False)
    return figure
