"""The signature, the benchmark, statistics, their pictures, and `bmn info`."""

import csv
import io
import json
import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from conftest import ROOT

from bmn_search import Deck, Rules, play_random
from bmn_search.bench import measure, signature
from bmn_search.compiled import YARDSTICK, available_kernels
from bmn_search.deal import HALF20, STANDARD52
from bmn_search.errors import BmnError
from bmn_search.stats import Statistics, collect

SIGNATURE = (ROOT / "benches" / "signature.txt").read_text().strip()


@pytest.mark.parametrize("kernel", [*available_kernels(), YARDSTICK])
def test_signature_does_not_depend_on_the_kernel(kernel):
    assert signature(kernel, threads=2) == SIGNATURE


def test_signature_does_not_depend_on_the_threads():
    for threads in (1, 3):
        assert signature(threads=threads) == SIGNATURE


def test_signature_is_made_of_the_outcomes():
    rows = play_random(STANDARD52, 0, 0, 1_000_000)
    games, cards, tricks, loops, _ = SIGNATURE.split("-")
    assert (int(games), int(loops)) == (1_000_000, 0)
    assert (rows["cards"].sum(), rows["tricks"].sum()) == (int(cards), int(tricks))


def test_measure():
    yardstick, *kernels = measure(HALF20, seconds=0.5, rounds=3, threads=2)
    assert yardstick.kernel == YARDSTICK
    assert yardstick.play_only.ratio == yardstick.with_dealing.ratio == 1
    assert [row.kernel for row in kernels] == available_kernels()
    for row in kernels:
        for figure in (row.play_only, row.with_dealing):
            assert 0 < figure.least <= figure.median <= figure.most
            assert 0 < figure.ratio_least <= figure.ratio <= figure.ratio_most
        assert row.cards > row.play_only.median
    with pytest.raises(BmnError):
        measure(seconds=0)


def test_bench_command(bmn):
    document = json.loads(bmn("bench", "--seconds", "1", "--rounds", "2", "--json", check=0).stdout)
    assert document["signature"] == SIGNATURE
    assert set(document["kernels"]) == {YARDSTICK, *available_kernels()}
    for rates in document["kernels"].values():
        assert rates["play_only"] > 0
        assert rates["with_dealing"] > 0


def test_ten_million_deals_are_as_measured_before():
    """The figures of 41.9 M deals, measured with another generator and engine: four deviations."""
    done = collect(STANDARD52, games=10_000_000)
    assert done.finished == 10_000_000
    assert abs(done.mean - 254.68) < 4 * math.hypot(done.mean_error, 0.03)
    assert done.quantile(0.5) == 192
    assert abs(done.mean_tricks - 35.25) < 0.005 + 4 * 32 / math.sqrt(10_000_000)
    assert abs(done.leader_share - 0.4976) < 0.00005 + 4 * 0.5 / math.sqrt(10_000_000)
    tail = {500: 0.1115, 1000: 9.76e-3, 1500: 8.5e-4, 2000: 7.3e-5, 2500: 6.2e-6, 3000: 5.5e-7}
    for cards, share in tail.items():
        error = math.sqrt(share / 10_000_000 + share / 41_900_000)
        rounding = 0.5 * 10 ** (math.floor(math.log10(share)) - (3 if cards == 500 else 1))
        assert abs(done.tail(cards) / 10_000_000 - share) < 4 * error + rounding, cards
    length, error, start = done.folding
    assert abs(length - 500 / math.log(11.5)) < 4 * error
    assert start > 900


def test_statistics_are_those_of_the_rows():
    done = collect(HALF20, games=250_000, seed=3, first=1_000, threads=2)
    rows = play_random(HALF20, 3, 1_000, 250_000)
    finished = rows[rows["status"] == 0]
    assert (done.games, done.loops, done.unknown) == (250_000, (rows["status"] == 1).sum(), 0)
    assert done.mean == pytest.approx(finished["cards"].mean())
    assert done.mean_error == pytest.approx(finished["cards"].std() / math.sqrt(len(finished)))
    assert done.quantile(0.5) == np.quantile(finished["cards"], 0.5, method="inverted_cdf")
    assert done.tail(100) == (finished["cards"] > 100).sum()
    assert done.leader_share == pytest.approx((finished["winner"] == 1).mean())
    cards, number = done.longest
    assert rows[number - 1_000]["cards"] == cards == finished["cards"].max()
    one = collect(HALF20, games=250_000, seed=3, first=1_000, threads=1)
    assert one.as_dict() | {"seconds": 0} == done.as_dict() | {"seconds": 0}


def test_statistics_of_nothing():
    done = collect(HALF20, Rules(max_tricks=1), games=10)
    assert done.unknown > 0
    assert math.isnan(collect(HALF20, games=1).mean_error)
    long = collect(Deck.parse("2000-,40J,40Q,40K,40A"), games=1)
    assert long.mean == long.longest[0]
    assert len(long.tail_lengths()) <= 20
    empty = Statistics(HALF20, Rules(), 0, 0)
    assert (empty.mean, empty.quantile(0.5), empty.finished) == (0, 0, 0)
    assert math.isnan(empty.folding[0])
    assert json.dumps(empty.as_dict())


def test_memory_does_not_grow_with_games():
    tracemalloc.start()
    collect(HALF20, games=1_000_000, threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.slow
def test_a_hundred_million_deals_in_under_300_megabytes():
    code = (
        "import resource; from bmn_search.stats import collect; "
        "from bmn_search.deal import STANDARD52; "
        "assert collect(STANDARD52, games=100_000_000).games == 100_000_000; "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300_000  # kilobytes


def test_stats_command(bmn, tmp_path):
    picture = tmp_path / "lengths.png"
    done = bmn("stats", "--games", "20000", "--json", "--plot", str(picture), check=0)
    document = json.loads(done.stdout)
    assert document["games"] == 20_000
    assert len(document["deciles"]) == 9
    assert picture.read_bytes().startswith(b"\x89PNG")
    table = list(csv.reader(io.StringIO(bmn("stats", "--games", "20000", "--csv", check=0).stdout)))
    assert table[0] == ["cards", "games"]
    assert sum(int(games) for _, games in table[1:]) == 20_000
    text = bmn("stats", "--games", "20000", "--rules", "squarescores", check=0).stdout
    assert "e-folding" in text
    vector = tmp_path / "lengths.svg"
    bmn("stats", "--games", "2000", "--plot", str(vector), check=0)
    assert "<svg" in vector.read_text()[:1000]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stats", "--games", "0"], "games"),
        (["stats", "--plot", "lengths.bmp"], "expected a file name that ends in .png, .svg, .pdf"),
        (["stats", "--games", "10", "--plot", "/nowhere/lengths.png"], "cannot be written"),
        (["stats", "--seed", str(2**64)], "out of range"),
        (["bench", "--seconds", "nan"], "is no number of seconds"),
        (["stats", "--csv", "--json"], "exclude each other"),
        (["bench", "--deck", "piquet"], "deck 'piquet' is unknown"),
    ],
)
def test_bad_input(bmn, arguments, words):
    done = bmn(*arguments, check=2)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_matplotlib_is_told():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.figure'] = None; "
        "from bmn_search.cli import main; main(['stats', '--games', '10', '--plot', 'x.png'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'bmn_search[plot]'" in done.stderr


def test_info(bmn):
    document = json.loads(bmn("info", "--json", check=0).stdout)
    assert document["kernels_available"] == available_kernels()
    assert document["kernel"] == os.environ.get("BMN_KERNEL", available_kernels()[-1])
    assert "compiler" in bmn("info", check=0).stdout


@pytest.fixture(scope="module")
def plain_build(tmp_path_factory):
    """Build the package as a compiler without vector extensions would, and return its folder."""
    folder = tmp_path_factory.mktemp("plain")
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import setuptools, sys; sys.argv[0] = 'setup.py'; exec(open('setup.py').read())",
            "-q",
            "build",
            "--build-base",
            folder / "temp",
            "--build-lib",
            folder / "lib",
        ],
        env=os.environ | {"CFLAGS": "-DBMN_PLAIN_C"},
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder / "lib"


def test_a_build_without_vector_kernels_computes_the_same(plain_build):
    code = (
        f"import sys; sys.path.insert(0, {str(plain_build)!r}); import bmn_search; "
        "from bmn_search import bench, compiled; "
        "print(bmn_search.__file__, compiled.available_kernels(), bench.signature())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=plain_build
    )
    assert str(plain_build) in done.stdout
    assert "['general', 'portable']" in done.stdout
    assert done.stdout.split()[-1] == SIGNATURE
