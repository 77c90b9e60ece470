"""Where the positions of a basin stand in its picture: the cycle as a ring, trees around it.

A tree fans out from each position of the ring, so that no two edges cross. Its leaves are equally
far from each other, along the circles on which they lie; a circle tells the distance to the cycle,
and lies the farther from the one before the more positions are on it. What is left of the whole
angle is divided evenly among the positions of the ring.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bmn_search.ancestry import Ancestry

__all__ = ["Layout", "radial"]

PADDING = 0.2  # of the whole angle, at least
MOST_SPACE = 0.3  # between leaves
LEAST_RING, MOST_RING = 0.25, 0.8  # radius of the ring; the picture has radius 1


@dataclass(frozen=True)
class Layout:
    """Polar coordinates of positions, in the order of the rows of an `Ancestry`.

    Attributes
    ----------
    angle
        float64: in radians, clockwise from the top. The ring goes round once from its first row.
    radius
        float64: `ring` on the cycle, 1 farthest from it.
    ring
        Radius on the cycle.
    """

    angle: NDArray[np.float64]
    radius: NDArray[np.float64]
    ring: float

    @property
    def places(self) -> NDArray[np.float64]:
        """Cartesian coordinates: float64, shape (positions, 2)."""
        return cartesian(self.angle, self.radius)


def cartesian(
    angle: NDArray[np.float64], radius: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return x and y along a new last axis."""
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=-1)


def radial(basin: Ancestry) -> Layout:
    """Lay out a basin; time and memory are proportional to its positions."""
    layers = np.split(
        np.arange(len(basin)), np.searchsorted(basin.distance, np.arange(1, basin.depth + 1))
    )
    circles = _circles([len(rows) for rows in layers])
    sector = np.zeros(len(basin))
    for circle, rows in zip(circles[::-1], layers[::-1], strict=True):
        sector[rows] = np.where(sector[rows] > 0, sector[rows], 1 / circle)
        if rows is not layers[0]:
            np.add.at(sector, basin.following[rows], sector[rows])
    ring = layers[0]
    whole = sector[ring].sum()
    sector *= min(2 * np.pi * (1 - PADDING) / whole, MOST_SPACE)
    space = sector[ring] + (2 * np.pi - sector[ring].sum()) / len(ring)
    start = np.zeros(len(basin))
    start[ring] = np.cumsum(space) - (space + sector[ring]) / 2
    for rows in layers[1:]:
        siblings = rows[np.argsort(basin.following[rows], kind="stable")]
        parents = basin.following[siblings]
        before = np.cumsum(sector[siblings]) - sector[siblings]
        start[siblings] = start[parents] + before - before[np.searchsorted(parents, parents)]
    angle = start + sector / 2
    return Layout(angle - angle[0], circles[basin.distance], float(circles[0]))


def _circles(counts: list[int]) -> NDArray[np.float64]:
    """Return the radius for each distance, given how many positions there are at each."""
    if len(counts) == 1:
        return np.ones(1)
    ring = min(max(counts[0] / max(counts), LEAST_RING), MOST_RING)
    steps = np.cumsum(np.sqrt([0, *counts[1:]]))
    radius: NDArray[np.float64] = ring + (1 - ring) * steps / steps[-1]
    return radius
