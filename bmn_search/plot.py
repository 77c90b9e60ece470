"""Pictures, with matplotlib (the optional extra `plot`)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled, engine, layout, report
from bmn_search.ancestry import Ancestry
from bmn_search.cycle import Cycle, relative, two_packets
from bmn_search.deal import Deal
from bmn_search.errors import BmnError
from bmn_search.files import check_output
from bmn_search.outcome import Outcome
from bmn_search.rules import STANDARD, Rules
from bmn_search.stats import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check", "cycle_figure", "game_figure", "length_histogram", "save"]

KINDS = (".png", ".svg", ".pdf")
BLUE, RED, GREEN = "#4c72b0", "#c44e52", "#55a868"
GREY, PALE = "#8c8c8c", "#aaaaaa"
MOST_GAMES = 20  # in one picture
MOST_POINTS = 2_000  # across the picture of a game
MOST_TRICKS = 10_000_000  # of a game; they take 13 bytes each
MOST_LABELS = 24  # positions, and cards in each, that can be named in the picture of a cycle
STRAIGHT = 0.02  # radians by which a curve may turn to be drawn as a line
MOST_ARROWS = 12  # on the ring of a cycle


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
    above.bar(lengths[::width], bins / done.finished, width=width, align="edge", color=BLUE)
    above.axvline(done.quantile(0.5), color=RED, lw=1, label=f"median {done.quantile(0.5)}")
    above.axvline(done.mean, color=GREEN, lw=1, ls="--", label=f"mean {done.mean:.1f}")
    above.set(
        xlim=(0, done.quantile(0.99)),
        xlabel="cards",
        ylabel=f"share of games per {width} cards" if width > 1 else "share of games",
        title=f"{done.finished:,} games of {done.deck} ({done.rules} rules)",
    )
    above.legend(frameon=False)
    exceeding = done.finished - done.histogram.cumsum()
    told = exceeding > 0
    below.semilogy(lengths[told], exceeding[told] / done.finished, color=BLUE, label="games")
    folding, error, start = done.folding
    if folding == folding and told[start]:
        fitted = lengths[start:]
        fit = exceeding[start] / done.finished * np.exp(-(fitted - start) / folding)
        label = f"e-folding {folding:.1f} ± {error:.1f} cards"
        below.semilogy(fitted, fit, color=RED, ls="--", lw=1, label=label)
    below.set(xlabel="cards", ylabel="share of longer games", xlim=(0, len(lengths)))
    below.set_ylim(bottom=0.5 / done.finished)
    below.legend(frameon=False)
    return figure


def game_figure(deals: Sequence[Deal], rules: Rules = STANDARD) -> "Figure":
    """Draw the packets of games of two players, trick by trick, one game below the other.

    A game that never ends is drawn until its cycle has been run through twice; the first time is
    shaded. Of a game over `MOST_POINTS` tricks the range within equal stretches is drawn, and the
    mean; of one over `MOST_TRICKS` tricks only the beginning.

    Raises
    ------
    BmnError
        When matplotlib is not installed, there are no games or more than `MOST_GAMES`, or one is
        not of two players.
    """
    figure = _figure(figsize=(10, 0.8 + 2.6 * len(deals)))
    if not 1 <= len(deals) <= MOST_GAMES:
        raise BmnError(f"{len(deals):,} games in one picture: expected 1 to {MOST_GAMES}")
    rows = figure.subplots(len(deals), squeeze=False)[:, 0]
    for axes, deal in zip(rows, deals, strict=True):
        outcome = engine.play(two_packets(deal), rules.for_players(2))
        _draw_packets(axes, outcome)
        if outcome.status == "loop":
            _shade_cycle(axes, outcome)
        name = str(deal) if deal.size <= 60 else f"{str(deal)[:60]}... ({deal.size:,} cards)"
        title = f"{name}\n{report.outcome_summary(outcome)}"
        axes.set_title(title, loc="left", fontsize=9, family="monospace")
    rows[-1].set_xlabel("tricks")
    return figure


def _draw_packets(axes: "Axes", outcome: Outcome) -> None:
    from matplotlib.ticker import MaxNLocator

    cards = outcome.deal.size

    def rest(held: Any) -> Any:
        return cards - held

    tricks = min(outcome.tricks + (outcome.cycle_tricks or 0), MOST_TRICKS)
    game = compiled.walk(outcome.deal, outcome.rules, tricks)
    first = np.where(game.leaders == 0, game.sizes[:, 0], game.sizes[:, 1])
    width = -(-len(first) // MOST_POINTS)
    starts = np.arange(0, len(first), width)
    middle = np.add.reduceat(first, starts) / np.diff(starts, append=len(first))
    if width > 1:
        least, most = np.minimum.reduceat(first, starts), np.maximum.reduceat(first, starts)
        axes.fill_between(starts, least, most, color=BLUE, alpha=0.4, lw=0)
    axes.fill_between(starts, middle, color=BLUE, alpha=0.15, lw=0)
    axes.plot(starts, middle, color=BLUE, lw=1)
    axes.axhline(cards / 2, color=GREY, lw=0.5)
    axes.set(xlim=(0, max(tricks, 1)), ylim=(0, cards), ylabel="cards of player 1")
    axes.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    for axis in (axes.yaxis, axes.secondary_yaxis("right", functions=(rest, rest)).yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
    axis.set_label_text("of player 2")


def _shade_cycle(axes: "Axes", outcome: Outcome) -> None:
    start, period = outcome.transient_tricks, outcome.cycle_tricks
    assert start is not None
    assert period is not None
    axes.axvspan(start, start + period, color=GREEN, alpha=0.2, lw=0, label="one cycle")
    if outcome.mirror:
        axes.axvline(
            start + period / 2, color=GREEN, lw=1, ls="--", label="the players are exchanged"
        )
    axes.legend(loc="best", fontsize=8)


def cycle_figure(cycle: Cycle, ancestry: Ancestry) -> "Figure":
    """Draw a cycle as a ring, clockwise from its canonical position, with its basin around it.

    Parameters
    ----------
    ancestry
        Its `basin`, whole or up to a depth or a limit; legible up to 5,000 positions.

    Raises
    ------
    BmnError
        When matplotlib is not installed.
    """
    figure = _figure(figsize=(11.6, 11))
    axes = figure.subplots()
    placed = layout.radial(ancestry)
    _draw_tricks(axes, ancestry, placed)
    _draw_positions(axes, ancestry, placed)
    axes.set_title("\n".join(_cycle_title(cycle, ancestry)), fontsize=10)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08))
    return figure


def _draw_tricks(axes: "Axes", basin: Ancestry, placed: layout.Layout) -> None:
    """Draw the edges: arcs along the ring, with some arrows, and the branches of the trees."""
    angle, radius = placed.angle, placed.radius
    ring, trees = np.split(np.arange(len(basin)), [basin.roots])
    gap = np.diff(angle[ring], append=2 * np.pi)
    along = np.linspace(0, 1, 2 + 360 // basin.roots)[:, None]
    _draw_curves(axes, angle[ring] + along * gap, radius[ring], color="black", lw=1)
    inner = basin.following[trees]
    turn, rise = angle[trees] - angle[inner], radius[trees] - radius[inner]
    straight = np.abs(turn) < STRAIGHT
    for chosen, points in ((straight, 2), (~straight, 17)):
        along = np.linspace(0, 1, points)[:, None]
        turned = angle[inner[chosen]] + along**2 * (3 - 2 * along) * turn[chosen]
        risen = radius[inner[chosen]] + along * rise[chosen]
        _draw_curves(axes, turned, risen, color=PALE, lw=0.4)
    evenly = np.linspace(0, 2 * np.pi, MOST_ARROWS, endpoint=False)
    rows = np.unique(np.searchsorted(angle[ring], evenly, "right") - 1)
    for middle in angle[rows] + gap[rows] / 2:
        clockwise = (3, 0, -90 - np.degrees(middle))  # a triangle, turned
        axes.plot(*layout.cartesian(middle, placed.ring), marker=clockwise, color="black", ms=6)


def _draw_curves(
    axes: "Axes", angle: NDArray[np.float64], radius: NDArray[np.float64], **style: Any
) -> None:
    """Draw a curve for each column, given the polar coordinates of its points.

    As one line with gaps: a tenth of the size, in an SVG file, of a line for each.
    """
    points = layout.cartesian(angle, radius)
    gaps = np.full_like(points[:1], np.nan)
    axes.plot(*np.concatenate([points, gaps]).swapaxes(0, 1).reshape(-1, 2).T, zorder=1, **style)


def _draw_positions(axes: "Axes", basin: Ancestry, placed: layout.Layout) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap
    from matplotlib.ticker import MaxNLocator

    area = min(max(8_000 / len(basin), 4), 60)
    x, y = placed.places.T
    # Dark to middling: all can be told from white, and from the balanced ones.
    colours = colormaps["viridis"](np.linspace(0, 0.85, basin.depth + 1))
    dots = axes.scatter(
        x,
        y,
        c=basin.distance,
        s=area,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=basin.depth + 0.5,
        zorder=2,
        lw=0,
    )
    if basin.depth:
        axes.figure.colorbar(
            dots,
            ax=axes,
            shrink=0.3,
            pad=0.01,
            label="tricks to the cycle",
            ticks=MaxNLocator(integer=True),
        )
    if count := int(basin.balanced.sum()):
        axes.scatter(
            x[basin.balanced],
            y[basin.balanced],
            marker="D",
            s=max(1.5 * area, 18),
            color=RED,
            edgecolor="black",
            lw=0.5,
            zorder=3,
            label=report.counted(count, "balanced deal"),
        )
        axes.legend(loc="upper right", frameon=False)
    if max(basin.codes.shape) <= MOST_LABELS:
        for row, place in enumerate(placed.places):
            name = str(relative(basin.codes[row], int(basin.sizes[row])))
            away = layout.cartesian(placed.angle[row], -12.0 if row < basin.roots else 12.0)
            axes.annotate(
                name,
                place,
                tuple(away),
                textcoords="offset points",
                ha=_side(away[0], "right", "left"),
                va=_side(away[1], "top", "bottom"),
                family="monospace",
            )


def _side(offset: float, below: Any, above: Any) -> Any:
    """Say how a text is aligned that stands beside a point."""
    return "center" if abs(offset) < 6 else below if offset < 0 else above


def _cycle_title(cycle: Cycle, basin: Ancestry) -> Iterator[str]:
    turn, period = (
        f"{report.counted(count.tricks, 'trick')}, {report.counted(count.cards, 'card')}"
        for count in (cycle.turn, cycle.period)
    )
    if cycle.mirror:
        yield f"Mirror cycle of {period}: the players are exchanged after {turn}"
    else:
        yield f"Cycle of {period}"
    positions = report.counted(len(basin), "position")
    if basin.ended == "complete":
        yield f"with all {positions} that lead into it, up to exchange of the players"
    else:
        yield f"and the nearest positions that lead into it, {positions} in all"
    yield f"canonical position, on top: {cycle.canonical}"
