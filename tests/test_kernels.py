"""Every kernel against the portable one and the reference engine; batches; who may run what."""

import random
import threading
import time

import numpy as np
import pytest
from conftest import CASES, case_deal, odd_rules

from bmn_search import Batch, Deal, Deck, Rules, play, play_many, play_random, random_deals
from bmn_search.compiled import KERNELS, available_kernels, chosen_kernel
from bmn_search.deal import CAMICIA40, HALF20, STANDARD52
from bmn_search.engine import OUTCOME_DTYPE
from bmn_search.errors import BmnError, DealError

TIERS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(name not in available_kernels(), reason="not on this CPU"),
    )
    for name in ("portable", "simd128", "simd")
]
STATUS = ("finished", "loop", "unknown")


def check_row(row, deal, rules):
    """Compare one row with the reference engine."""
    outcome = play(deal, rules, engine="reference")
    assert STATUS[row["status"]] == outcome.status, (str(deal), rules)
    for key in OUTCOME_DTYPE.names[:6]:
        assert row[key] == (getattr(outcome, key) or 0), (str(deal), rules, key)
    if outcome.status == "finished":
        assert row["winner"] == outcome.winner, (str(deal), rules)


def odd_batch(rng, deals):
    """Make deals of 2 to 64 cards: any split, up to 16 pay cards (rarely more), some on top.

    Every third packet has all pay cards on top, every tenth deal a packet without one.
    """
    width = 64
    codes = np.zeros((deals, width), np.uint8)
    sizes = np.zeros((deals, 2), np.uint32)
    sizes[:, 0] = first = rng.integers(1, 33, deals)
    sizes[:, 1] = rng.integers(1, 65 - first)
    total = sizes.sum(axis=1).astype(int)
    most = np.where(rng.random(deals) < 0.02, total, np.minimum(total, 16))
    pay_cards = rng.integers(0, most + 1)
    pay_cards[::7] = np.minimum(total, 16)[::7]
    for row in range(deals):
        places = rng.permutation(total[row])[: pay_cards[row]]
        if row % 3 == 0:
            at = first[row] - rng.integers(0, first[row] + 1)
            places = (at + np.arange(pay_cards[row])) % total[row]
        if row % 10 == 0:
            places = places[places >= first[row]]
        codes[row, places] = rng.integers(1, 5, len(places))
    return Batch(codes, sizes, rng.integers(1, 3, deals).astype(np.uint8))


def some_rules(rng):
    penalties = (1, 2, 3, 4)
    if rng.random() < 0.6:
        penalties = tuple(int(p) for p in rng.choice([0, 1, 2, 3, 4, 5, 8, 15], 4))
    return Rules(
        "odd",
        penalties=penalties,
        next_leader="payer" if rng.random() < 0.4 else "winner",
        max_tricks=[None, None, 1, 2, 7, 40, 1499, 1500, 1501][rng.integers(0, 9)],
    )


def compare(tier, deals, seed, oracle):
    """Play odd batches with a tier and with another kernel until so many deals agree."""
    rng = np.random.default_rng(seed)
    seen = np.zeros(3, int)
    while seen.sum() < deals:
        batch, rules = odd_batch(rng, 2_000), some_rules(rng)
        rows = play_many(batch, rules, kernel=tier)
        expected = play_many(batch, rules, kernel=oracle)
        for row in np.flatnonzero(rows != expected)[:1]:
            pytest.fail(f"{batch[row]} {rules}: {rows[row]} {expected[row]}")
        seen += np.bincount(rows["status"], minlength=3)
        check_row(rows[0], batch[0], rules)
        check_row(rows[-1], batch[-1], rules)
    assert seen.min() > 0, seen


@pytest.mark.parametrize("tier", TIERS)
def test_tier_against_the_general_engine(tier):
    compare(tier, 100_000, 1, "general")


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
def test_tier_against_the_general_engine_at_length(tier):
    compare(tier, 1_000_000, 2, "general")


@pytest.mark.parametrize("kernel", ["general", *TIERS])
def test_kernel_against_the_reference_engine(kernel):
    rng = np.random.default_rng(3)
    for _ in range(12):
        batch, rules = odd_batch(rng, 150), some_rules(rng)
        for row, deal in zip(play_many(batch, rules, kernel=kernel), batch, strict=True):
            check_row(row, deal, rules)


@pytest.mark.parametrize("kernel", ["general", *TIERS])
def test_cases(kernel):
    deals = [case_deal(case) for case in CASES]
    rows = play_many(deals, kernel=kernel)
    assert rows.dtype == OUTCOME_DTYPE
    for row, case in zip(rows, CASES, strict=True):
        expected = case["expected"]
        assert STATUS[row["status"]] == expected["status"]
        if not case.get("identity"):
            assert (row["cards"], row["tricks"]) == (expected["cards"], expected["tricks"])


@pytest.mark.parametrize("kernel", ["general", *TIERS])
def test_other_rules_fall_through(kernel):
    rng = random.Random(9)
    for _ in range(40):
        rules = odd_rules(rng)
        batch = random_deals(HALF20, rng.randrange(1000), 0, 20)
        for row, deal in zip(play_many(batch, rules, kernel=kernel), batch, strict=True):
            check_row(row, deal, rules)


@pytest.mark.parametrize("kernel", ["general", *TIERS])
def test_huge_decks_fall_through(kernel):
    deck = Deck.parse("180-,20J,20Q,20K,20A")
    batch = random_deals(deck, 4, 0, 20)
    assert (play_many(batch, kernel=kernel) == play_random(deck, 4, 0, 20, kernel=kernel)).all()
    for row, deal in zip(play_many(batch, kernel=kernel), batch, strict=True):
        check_row(row, deal, Rules())


@pytest.mark.parametrize("kernel", ["general", *TIERS])
@pytest.mark.parametrize("deck", [STANDARD52, CAMICIA40, HALF20, Deck.parse("5-,20J,20K")], ids=str)
def test_dealing_and_playing_is_playing_what_is_dealt(deck, kernel):
    for rules in (Rules(), Rules(next_leader="payer"), Rules(max_tricks=9)):
        rows = play_random(deck, 77, 1_000, 5_000, rules, kernel=kernel)
        assert (rows == play_many(random_deals(deck, 77, 1_000, 5_000), rules, kernel=kernel)).all()
        assert (rows == play_random(deck, 77, 1_000, 5_000, rules, kernel="general")).all()


def test_a_limit_is_exact():
    batch = random_deals(STANDARD52, 5, 0, 3_000)
    free = play_many(batch)
    for limit in (1, 10, 35):
        rows = play_many(batch, max_tricks=limit)
        late = free["tricks"] > limit
        assert (rows["status"][late] == 2).all()
        assert (rows["tricks"][late] == limit).all()
        assert (rows[~late] == free[~late]).all()


@pytest.mark.parametrize("kernel", ["general", *TIERS])
def test_a_limit_says_nothing_of_a_loop(kernel):
    deals = [case_deal(case) for case in CASES if case["expected"]["status"] == "loop"]
    for limit in (*range(1, 40), 62, 65, 66, 84, 85):
        rules = Rules(max_tricks=limit)
        for row, deal in zip(play_many(deals, rules, kernel=kernel), deals, strict=True):
            outcome = play(deal, rules)
            assert STATUS[row["status"]] == outcome.status
            for key in OUTCOME_DTYPE.names[:6]:
                assert row[key] == (getattr(outcome, key) or 0), (str(deal), limit, key)


def test_a_batch_is_checked_again_before_it_is_played():
    for change in (
        lambda batch: batch.sizes.__setitem__(3, (60_000, 1)),
        lambda batch: batch.sizes.__setitem__(3, (2**31, 2**31)),
        lambda batch: batch.sizes.__setitem__(3, 0),
        lambda batch: batch.codes.__setitem__((0, 0), 200),
        lambda batch: batch.leaders.__setitem__(0, 7),
    ):
        batch = random_deals(STANDARD52, 0, 0, 4)
        change(batch)
        with pytest.raises(DealError):
            play_many(batch)


def test_the_yardstick_is_not_for_use(monkeypatch):
    monkeypatch.setenv("BMN_KERNEL", "plain")
    with pytest.raises(BmnError, match="kernel 'plain' cannot be had here"):
        play_many([Deal.parse("J/-")])
    with pytest.raises(BmnError, match="kernel 'plain'"):
        play_random(STANDARD52, 0, 0, 1, kernel="plain")


def test_loops_in_a_batch_are_exact():
    rows = play_random(HALF20, 0, 0, 2_000_000)
    loops = np.flatnonzero(rows["status"] == 1)
    assert len(loops) > 0  # 16 of 3,488,400 deals never end
    for number in loops.tolist():
        outcome = play(random_deals(HALF20, 0, number, 1)[0], engine="reference")
        assert rows[number]["cycle_cards"] == outcome.cycle_cards == 74
        assert rows[number]["transient_tricks"] == outcome.transient_tricks


def test_batches_round_trip():
    deals = [Deal.parse("J--/-J-"), Deal.parse("-/QKA leader=2"), Deal(("", "J"))]
    batch = Batch.of(deals)
    assert list(batch) == deals
    assert len(Batch.of([])) == 0
    assert len(play_many([])) == 0
    assert play_many(deals)["winner"].tolist() == [play(deal).winner or 0 for deal in deals]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Batch.split(np.zeros((2, 4), np.int64), 2),
        lambda: Batch.split(np.zeros(4, np.uint8), 2),
        lambda: Batch.split(np.zeros((2, 4), np.uint8), 5),
        lambda: Batch.split(np.zeros((2, 4), np.uint8), -1),
        lambda: Batch.split(np.full((2, 4), 5, np.uint8), 2),
        lambda: Batch.split(np.zeros((4, 4), np.uint8)[:, ::2], 1),
        lambda: Batch.split(np.zeros((4, 0), np.uint8), 0),
        lambda: Batch(
            np.zeros((1, 2), np.uint8), np.full((1, 2), 2, np.uint32), np.ones(1, np.uint8)
        ),
        lambda: Batch(
            np.zeros((1, 2), np.uint8), np.ones((1, 2), np.uint32), np.zeros(1, np.uint8)
        ),
        lambda: Batch(np.zeros((1, 2), np.uint8), np.ones((2, 2), np.uint32), np.ones(1, np.uint8)),
        lambda: Batch(np.zeros((1, 2), np.uint8), np.ones((1, 2), np.int32), np.ones(1, np.uint8)),
        lambda: Batch(np.zeros((1, 2), np.uint8), np.ones((1, 2), np.uint32), np.ones(2, np.uint8)),
        lambda: Batch(
            np.zeros((1, 2), np.uint8), np.full((1, 2), 2**31, np.uint32), np.ones(1, np.uint8)
        ),
        lambda: Batch.of([Deal(("J", "-", "-"))]),
        lambda: Batch([[1]], np.ones((1, 2), np.uint32), np.ones(1, np.uint8)),
        lambda: Batch(
            np.zeros((2, 2), np.uint8),
            np.asfortranarray(np.ones((2, 2), np.uint32)),
            np.ones(2, np.uint8),
        ),
    ],
)
def test_batches_are_checked(make):
    with pytest.raises(DealError):
        make()


def test_the_kernel_is_chosen_once_and_can_be_forced(monkeypatch):
    monkeypatch.delenv("BMN_KERNEL", raising=False)
    assert chosen_kernel() == available_kernels()[-1]
    for name in available_kernels():
        monkeypatch.setenv("BMN_KERNEL", name)
        assert chosen_kernel() == name
    monkeypatch.setenv("BMN_KERNEL", "abacus")
    with pytest.raises(BmnError, match="kernel 'abacus' cannot be had here: expected one of gen"):
        play_many([Deal.parse("J/-")])
    with pytest.raises(BmnError, match="kernel 'quick'"):
        play_many([], kernel="quick")
    assert set(available_kernels()) <= set(KERNELS)


def test_the_gil_is_released():
    """While a thread plays a batch, this one runs on, whatever else the machine does."""
    batch = random_deals(STANDARD52, 1, 0, 1_000_000)
    playing = threading.Thread(target=play_many, args=(batch,))
    playing.start()
    turns = 0
    while playing.is_alive():
        turns += 1
    assert turns > 1_000


@pytest.mark.slow
def test_two_threads_play_twice_as_much():
    """At least 1.8 times, the best of several tries, on two cores that have nothing else to do."""
    batch = random_deals(STANDARD52, 1, 0, 150_000)

    def seconds(threads):
        running = [threading.Thread(target=play_many, args=(batch,)) for _ in range(threads)]
        start = time.perf_counter()
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        return time.perf_counter() - start

    gains = []
    while len(gains) < 100 and max(gains, default=0) < 1.8:
        gains.append(2 * seconds(1) / seconds(2))
    assert max(gains) >= 1.8, gains


def test_random_deals_are_a_function_of_seed_and_number():
    whole = random_deals(STANDARD52, 42, 0, 300)
    part = random_deals(STANDARD52, 42, 100, 50)
    assert (part.codes == whole.codes[100:150]).all()
    assert not (random_deals(STANDARD52, 43, 0, 300).codes == whole.codes).all()
    assert len(np.unique(whole.codes, axis=0)) == 300
    for deal in whole:
        STANDARD52.check(deal)
    last = random_deals(STANDARD52, 2**64 - 1, 2**64 - 1, 1)
    assert len(last) == 1
    for seed, first, count in ((-1, 0, 1), (0, 2**64, 1), (0, 2**64 - 1, 2), (0, 0, -1)):
        with pytest.raises(BmnError):
            random_deals(STANDARD52, seed, first, count)


def test_random_deals_are_the_same_for_ever():
    """The deals of a seed are a promise: these were dealt when it was made."""
    deals = random_deals(STANDARD52, 20240313, 10**15, 2)
    assert [str(deal) for deal in deals] == [
        "-------JAQ--Q-----J-AK----/J-Q---A--J-----Q-KK---K-A-",
        "K---A--------A---J--QJ-KAQ/Q---K---QJ-------J-A----K-",
    ]


@pytest.mark.parametrize("spec", ["2-,2J,2K", "5-,1J,1Q,1A", "1-,3J,2A"])
def test_small_decks_are_uniform(spec):
    """Chi-square over all deals of a small deck; the bound is five standard deviations."""
    deck = Deck.parse(spec)
    cells, deals = deck.deals, 1_000 * deck.deals
    rows, counts = np.unique(random_deals(deck, 9, 0, deals).codes, axis=0, return_counts=True)
    assert len(rows) == cells
    chi_square = ((counts - deals / cells) ** 2 / (deals / cells)).sum()
    assert abs(chi_square - (cells - 1)) < 5 * (2 * (cells - 1)) ** 0.5


def test_marginals_of_the_full_deck_are_uniform():
    """Each rank at each place, and pairs of places with pay cards: within five deviations."""
    deals = 400_000
    codes = random_deals(STANDARD52, 6, 0, deals).codes
    for code, cards in ((0, 36), (1, 4), (2, 4), (3, 4), (4, 4)):
        share = (codes == code).mean(axis=0)
        p = cards / 52
        assert abs(share - p).max() < 5 * (p * (1 - p) / deals) ** 0.5
    pay = (codes > 0).astype(np.float32)
    pairs = (pay.T @ pay)[np.triu_indices(52, 1)] / deals
    p = 16 * 15 / (52 * 51)
    assert abs(pairs - p).max() < 5.5 * (p * (1 - p) / deals) ** 0.5
    aces = (codes[:, :26] == 4).sum(axis=1)
    for count, ways in enumerate((14_950, 67_600, 105_625, 67_600, 14_950)):
        p = ways / 270_725
        assert abs((aces == count).mean() - p) < 5 * (p * (1 - p) / deals) ** 0.5
