"""Benchmarks of the kernels, dealing, cycle detection and parsing; `make bench` runs them."""

import platform
import statistics
import threading
import time
from pathlib import Path

import pytest

from bmn_search import (
    Batch,
    Deal,
    Deck,
    ancestors,
    basin,
    find_cycle,
    play,
    play_many,
    play_random,
    random_deals,
)
from bmn_search.compiled import YARDSTICK, available_kernels, compiler
from bmn_search.deal import STANDARD52
from bmn_search.search.exhaust import Exhaust

CASELLA = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
GAMES = 20_000
KERNELS = [YARDSTICK, *available_kernels()]


@pytest.fixture(autouse=True)
def machine(benchmark):
    """Say what it was measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    benchmark.extra_info["cpu"] = cpu[0] if cpu else platform.processor()
    benchmark.extra_info["compiler"] = compiler()[0]


def rate(benchmark, games):
    if benchmark.stats:  # not when benchmarks are disabled
        benchmark.extra_info["games/s"] = games / benchmark.stats.stats.median


@pytest.mark.parametrize("kernel", KERNELS)
def test_play(benchmark, kernel):
    benchmark.extra_info["tier"] = kernel
    rows = benchmark(play_many, random_deals(STANDARD52, 0, 0, GAMES), kernel=kernel)
    rate(benchmark, GAMES)
    assert (rows == play_random(STANDARD52, 0, 0, GAMES)).all()


@pytest.mark.parametrize("kernel", available_kernels())
def test_deal_and_play(benchmark, kernel):
    benchmark.extra_info["tier"] = kernel
    rows = benchmark(play_random, STANDARD52, 0, 0, GAMES, kernel=kernel)
    rate(benchmark, GAMES)
    assert (rows["status"] == 0).all()


def test_deal(benchmark):
    batch = benchmark(random_deals, STANDARD52, 0, 0, GAMES)
    rate(benchmark, GAMES)
    assert len(batch) == GAMES


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_cycle_detection(benchmark, engine):
    benchmark.extra_info["tier"] = engine
    outcome = benchmark(play, CASELLA, engine=engine)
    rate(benchmark, 1)
    assert outcome.cycle_tricks == 62


def test_cards_told_apart(benchmark):
    outcome = benchmark(play, CASELLA, distinct="plain")
    rate(benchmark, 1)
    assert outcome.cycle_tricks == 4650


def test_parse(benchmark):
    deal = benchmark(Deal.parse, CASELLA)
    assert deal.size == 52


def test_index(benchmark):
    index = benchmark(STANDARD52.index, Deal.parse(CASELLA))
    assert index == 472460898658889399111


def test_ancestors(benchmark):
    """A deal with an unusually large family: 8,349 ancestors, up to 158 tricks back."""
    deal = Deal.parse("-Q---A---J-Q----K---KA-JA----/----K-QK-------J--AJQ--")
    around = benchmark(ancestors, deal)
    benchmark.extra_info["unit"] = "predecessors"
    rate(benchmark, len(around) - 1)
    assert (len(around) - 1, around.depth) == (8349, 158)


def test_basin(benchmark):
    cycle = find_cycle(CASELLA)
    around = benchmark(basin, cycle)
    benchmark.extra_info["unit"] = "predecessors"
    rate(benchmark, len(around))
    assert len(around) == 2670


@pytest.mark.parametrize("spec", ["half20", "22-,2J,2Q,2K", "standard52"])
def test_enumeration(benchmark, spec):
    """Deals in index order, against playing a batch of them that is there already.

    In turn, since only a ratio within a few seconds means anything.
    """
    deck = Deck.parse(spec)
    first, deals = deck.deals // 3, 200_000
    plan = Exhaust(deck, first=first, end=first + deals, share=False)
    batch = Batch.of(map(plan.numbering.deal, range(first, first + deals)))
    ratios = []

    def both():
        begun = time.perf_counter()
        play_many(batch)
        between = time.perf_counter()
        result = plan.chunk(0, threading.Event())
        ratios.append((between - begun) / (time.perf_counter() - between))
        return result

    result = benchmark(both)
    benchmark.extra_info["of the rate of play only"] = round(statistics.median(ratios), 2)
    assert result.games == deals
    assert not benchmark.stats or statistics.median(ratios) >= 0.7
