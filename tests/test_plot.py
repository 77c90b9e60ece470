"""Pictures of games and cycles: what is drawn, where, and what is said of it."""

import json
import subprocess
import sys

import numpy as np
import pytest

from bmn_search import layout, plot
from bmn_search.ancestry import basin
from bmn_search.cycle import find_cycle
from bmn_search.deal import Deal
from bmn_search.engine import play
from bmn_search.errors import BmnError
from bmn_search.reference import trace
from bmn_search.rules import STANDARD, Rules

PUBLISHED = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
RECORD = "---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---"
MIRROR = "--K-Q-Q-K-KJ-----KJ-/--J--Q----Q-------J-"
PAYER = Rules("payer leads", next_leader="payer")


def drawn_game(deal: str, rules: Rules = STANDARD):
    """The axes of the picture of one game, and the line in it."""
    axes = plot.game_figure([Deal.parse(deal)], rules).axes[0]
    return axes, axes.lines[0]


def drawn_cycle(deal: str, **limits):
    cycle = find_cycle(deal)
    around = basin(cycle, **limits)
    return around, plot.cycle_figure(cycle, around).axes[0]


def packets_of_first(deal: str, rules: Rules) -> list[int]:
    """The packet of player 1 before each trick and at the end, by the reference engine."""
    took = [event.sizes[0] for event in trace(deal, rules) if event.action == "takes"]
    return [len(Deal.parse(deal).packets[0]), *took]


@pytest.mark.parametrize("rules", [STANDARD, PAYER], ids=str)
@pytest.mark.parametrize("deal", [RECORD, "J-/--", "-J/-- leader=2", "--/--"])
def test_a_game_that_ends(deal, rules):
    axes, line = drawn_game(deal, rules)
    sizes = packets_of_first(deal, rules)
    assert line.get_ydata().tolist() == sizes
    assert line.get_xdata().tolist() == list(range(len(sizes)))
    assert axes.get_title(loc="left").startswith(f"{deal}\nfinished: ")
    assert axes.get_legend() is None


@pytest.mark.parametrize("deal", [PUBLISHED, MIRROR, "J--/-J-"])
def test_one_cycle_is_shaded(deal):
    axes, line = drawn_game(deal)
    outcome = play(deal)
    first, period = outcome.transient_tricks, outcome.cycle_tricks
    sizes = line.get_ydata()
    assert sizes[: first + period + 1].tolist() == packets_of_first(deal, STANDARD)
    assert len(sizes) == first + 2 * period + 1
    assert sizes[first : first + period].tolist() == sizes[first + period : -1].tolist()
    (shade,) = axes.patches
    assert shade.get_extents().transformed(axes.transData.inverted()).intervalx.tolist() == (
        pytest.approx([first, first + period])
    )
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["one cycle", "the players are exchanged"][: 1 + outcome.mirror]


def test_a_long_game_is_thinned(monkeypatch):
    _, whole = drawn_game(RECORD)
    monkeypatch.setattr(plot, "MOST_POINTS", 100)
    axes, line = drawn_game(RECORD)
    assert 50 <= len(line.get_xdata()) <= 100
    starts = line.get_xdata().astype(int)
    means = [part.mean() for part in np.split(whole.get_ydata(), starts[1:])]
    assert line.get_ydata() == pytest.approx(means)
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == whole.get_ydata().min()
    assert band[:, 1].max() == whole.get_ydata().max()
    monkeypatch.setattr(plot, "MOST_TRICKS", 50)
    _, line = drawn_game(RECORD)
    assert line.get_ydata().tolist() == whole.get_ydata()[:51].tolist()


def test_limits_in_the_rules_count():
    axes, line = drawn_game(RECORD, Rules("short", max_tricks=10))
    assert len(line.get_xdata()) == 11
    assert "unknown: stopped by a limit" in axes.get_title(loc="left")


def test_several_games():
    figure = plot.game_figure([Deal.parse(deal) for deal in (RECORD, PUBLISHED, "J-/--")])
    assert len(figure.axes) == 3
    large = Deal(("-" * 100 + "J", "-" * 50))
    assert plot.game_figure([large]).axes[0].get_title(loc="left").startswith("-" * 60 + "... (151")
    for count in (0, 21):
        with pytest.raises(BmnError, match=f"{count} games in one picture: expected 1 to 20"):
            plot.game_figure([Deal.parse("J-/--")] * count)
    with pytest.raises(BmnError, match="expected those of two players"):
        plot.game_figure([Deal.parse("J-/--/--")])


@pytest.mark.parametrize(
    ("deal", "words"),
    [
        (PUBLISHED, ["Cycle of 62 tricks, 440 cards", "all 2,670 positions", "30 balanced deals"]),
        (
            MIRROR,
            [
                "Mirror cycle of 84 tricks, 546 cards: the players are exchanged after 42 tricks",
                "all 1,215 positions",
                "90 balanced deals",
            ],
        ),
        ("J--/-J-", ["Mirror cycle of 2 tricks, 6 cards", "all 3 positions", "1 balanced deal"]),
    ],
)
def test_a_cycle(deal, words):
    around, axes = drawn_cycle(deal)
    dots, balanced = axes.collections
    assert len(dots.get_offsets()) == len(around)
    assert (dots.get_array() == around.distance).all()
    assert (balanced.get_offsets() == dots.get_offsets()[around.balanced]).all()
    (legend,) = axes.get_legend().get_texts()
    assert axes.get_title().splitlines()[0].startswith(words[0])
    assert words[1] in axes.get_title()
    assert legend.get_text() == words[2]
    assert f"canonical position, on top: {find_cycle(deal).canonical}" in axes.get_title()
    top = dots.get_offsets()[0]
    assert top[0] == pytest.approx(0)
    assert top[1] > 0
    named = [text.get_text() for text in axes.texts]
    assert named == ([str(around.deal(row)) for row in range(3)] if len(around) == 3 else [])


def test_a_part_of_a_basin_is_told():
    _, axes = drawn_cycle(PUBLISHED, limit=500)
    assert "and the nearest positions that lead into it, 500 positions in all" in axes.get_title()
    assert axes.get_legend() is None
    _, axes = drawn_cycle(PUBLISHED, depth=0)
    assert "62 positions in all" in axes.get_title()
    assert len(axes.figure.axes) == 1  # no scale of colours


@pytest.mark.parametrize(
    ("deal", "rules", "limits"),
    [
        (PUBLISHED, STANDARD, {}),
        (PUBLISHED, STANDARD, {"limit": 500}),
        (MIRROR, STANDARD, {}),
        (MIRROR, STANDARD, {"depth": 0}),
        ("----J--Q--/--K-K-Q-J-", STANDARD, {}),
        ("--J-/------J-", STANDARD, {}),
        ("J--/-J-", STANDARD, {}),
        ("J-/----QJ-", PAYER, {}),
        ("J-/-J-", PAYER, {}),
    ],
)
def test_layout(deal, rules, limits):
    """Trees stay apart, and their leaves equally far from each other."""
    around = basin(find_cycle(deal, rules), **limits)
    placed = layout.radial(around)
    angle, radius, following = placed.angle, placed.radius, around.following
    ring, trees = np.split(np.arange(len(around)), [around.roots])
    assert angle[0] == 0
    assert (np.diff(angle[ring]) > 0).all()
    assert angle[ring[-1]] < 2 * np.pi
    assert np.ptp(angle) < 2 * np.pi
    assert (radius[ring] == placed.ring).all()
    assert (radius[trees] > radius[following[trees]]).all()
    assert radius.max() == pytest.approx(1)
    assert len(np.unique(radius)) == around.depth + 1
    spaces = []
    for distance in range(1, around.depth + 1):
        rows = np.flatnonzero(around.distance == distance)
        rows = rows[np.argsort(angle[rows])]
        # Round the circle, branches come in the order of those that they lead to.
        assert (np.diff(angle[following[rows]]) >= 0).all()
        leaf = ~np.isin(rows, following)
        beside = leaf[1:] & leaf[:-1] & (following[rows[1:]] == following[rows[:-1]])
        spaces += (np.diff(angle[rows])[beside] * radius[rows[0]]).tolist()
    if spaces:
        assert min(spaces) > 0
        assert spaces == pytest.approx([spaces[0]] * len(spaces))


@pytest.mark.parametrize("kind", [".png", ".svg", ".pdf"])
def test_plot_commands(bmn, tmp_path, kind):
    game, cycle = (str(tmp_path / f"{name}{kind}") for name in ("game", "cycle"))
    done = bmn("plot", "game", RECORD, PUBLISHED, "--output", game, check=0)
    assert done.stdout == ""
    assert done.stderr == f"drawn: {game}\n"
    done = bmn("plot", "cycle", "J--/-J-", "--any-deck", "--output", cycle, "--json", check=0)
    assert json.loads(done.stdout) == {
        "picture": cycle,
        "cycle_tricks": 2,
        "cycle_cards": 6,
        "mirror": True,
        "canonical": "--J-/J-",
        "positions": 3,
        "complete": True,
        "balanced_deals": 1,
    }
    begins = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[kind]
    for file in (game, cycle):
        assert (tmp_path / file).read_bytes().startswith(begins)


def test_plot_commands_default_names(bmn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bmn("plot", "game", "-", "--any-deck", stdin="J-/--\nJ--/-J-\n", check=0)
    bmn("plot", "cycle", PUBLISHED, "--limit", "100", "--depth", "3", check=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cycle.png", "game.png"]
    document = bmn("plot", "game", "J-/--", "--any-deck", "--json", check=0).stdout
    assert json.loads(document) == {"picture": "game.png", "deals": ["J-/--"]}


@pytest.mark.parametrize("rules", ["standard", "how-to-play"])
def test_a_game_that_ends_leads_into_no_cycle(bmn, tmp_path, rules):
    output = tmp_path / "cycle.png"
    arguments = ["plot", "cycle", RECORD, "--rules", rules, "--output", str(output)]
    done = bmn(*arguments, check=1)
    assert done.stderr == "bmn: this game ends after 8,344 cards: it leads into no cycle\n"
    assert done.stdout == ""
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plot", "game", RECORD, "--output", "game.bmp"], "ends in .png, .svg, .pdf"),
        (["plot", "cycle", RECORD, "--output", "tests/game.png/x.png"], "there is no folder"),
        (["plot", "cycle", RECORD, PUBLISHED, "--output", "cycle.gif"], "ends in .png"),
        (["plot", "cycle", RECORD, PUBLISHED], "2 deals: expected one"),
        (["plot", "cycle", "J--/-J-"], "fits no named deck"),
        (["plot", "cycle", "J--/-J-/--", "--any-deck", "--rules", "squarescores"], "two players"),
        (["plot", "game", *["J-/--"] * 21, "--any-deck"], "21 games in one picture"),
    ],
)
def test_bad_input(bmn, arguments, words):
    done = bmn(*arguments, check=2)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["game", "J-/--"], ["cycle", "J--/-J-"]])
def test_a_missing_matplotlib_is_told(tmp_path, command):
    arguments = ["plot", *command, "--any-deck"]
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.figure'] = None; "
        f"from bmn_search.cli import main; main({arguments})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "pip install 'bmn_search[plot]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
