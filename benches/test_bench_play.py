"""Benchmarks of playing and reading deals; `make bench` runs them."""

import platform
from pathlib import Path

import pytest

from bmn_search import Deal, play
from bmn_search.deal import STANDARD52
from bmn_search.engine import play_many, random_deals

CASELLA = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
GAMES = 10_000


@pytest.fixture(autouse=True)
def machine(benchmark):
    """Say what it was measured on."""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    benchmark.extra_info |= {
        "cpu": cpu[0].partition(": ")[2] if cpu else platform.processor(),
        "compiler": platform.python_compiler(),
    }


def test_play_batch(benchmark):
    codes = random_deals(STANDARD52, 0, 0, GAMES)
    outcomes = benchmark(play_many, codes, 26)
    benchmark.extra_info["games/s"] = GAMES / benchmark.stats.stats.median
    assert (outcomes["status"] == 0).all()


def test_deal_batch(benchmark):
    codes = benchmark(random_deals, STANDARD52, 0, 0, GAMES)
    benchmark.extra_info["deals/s"] = GAMES / benchmark.stats.stats.median
    assert codes.shape == (GAMES, 52)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_cycle_detection(benchmark, engine):
    outcome = benchmark(play, CASELLA, engine=engine)
    assert outcome.cycle_tricks == 62


def test_cards_told_apart(benchmark):
    outcome = benchmark(play, CASELLA, distinct="plain")
    assert outcome.cycle_tricks == 4650


def test_parse(benchmark):
    deal = benchmark(Deal.parse, CASELLA)
    assert deal.size == 52


def test_index(benchmark):
    index = benchmark(STANDARD52.index, Deal.parse(CASELLA))
    assert index == 472460898658889399111
