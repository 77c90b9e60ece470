"""Histograms of game lengths: an int64 array of how many games had 0, 1, 2, ... cards."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONGEST", "histogram_of", "merged"]

LONGEST = 1_000_000  # stands for longer games too, so that a histogram stays small


def histogram_of(rows: NDArray[np.void]) -> NDArray[np.int64]:
    """Count the lengths in cards of the finished games of a batch of outcomes."""
    lengths = rows["cards"].astype(np.int64)
    finished = rows["status"] == 0
    if not finished.all():
        lengths = lengths[finished]
    if lengths.max(initial=0) > LONGEST:
        np.minimum(lengths, LONGEST, out=lengths)
    return np.bincount(lengths)


def merged(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add two histograms."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total
