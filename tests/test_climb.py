"""Climbing: the edits, the counts and finds of a chunk, and the yardstick it is measured with."""

import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT

from bmn_search import Deal, Rules, play, play_random
from bmn_search.ancestry import longest_ancestor
from bmn_search.deal import CAMICIA40, HALF20, STANDARD52, Deck
from bmn_search.engine import play_many, random_deals
from bmn_search.errors import BmnError
from bmn_search.known import known_deals
from bmn_search.rules import STANDARD
from bmn_search.search import climb
from bmn_search.search.climb import MOVES, STANDARD_TAIL, Climb, Tail, expected_longest
from bmn_search.search.strategy import Dropped, Strategy
from bmn_search.stats import collect

ODD = Deck.parse("9-,2Q,1J,3A")
DECKS = [HALF20, CAMICIA40, STANDARD52, ODD, Deck.parse("300-,20J,20A")]
EACH = {move: tuple(float(move == other) for other in MOVES) for move in MOVES}


def run(plan: Climb, number: int = 0) -> climb.ChunkResult:
    return plan.chunk(number, threading.Event())


def same(one: climb.ChunkResult, other: climb.ChunkResult) -> bool:
    return (one.games, one.loops, one.candidates) == (
        other.games,
        other.loops,
        other.candidates,
    ) and np.array_equal(one.histogram, other.histogram)


def edited(deck: Deck, move: str, count: int = 400, edits: int = 1):
    """Deals before and after an edit of each, as arrays."""
    editor = climb._Editor(deck, STANDARD, EACH[move])
    deals = climb._Deals.of(random_deals(deck, 1, 0, count).codes)
    before = deals.codes.copy()
    editor.edit(deals, np.full(count, edits), np.random.Generator(np.random.Philox(5)))
    return before, deals


@pytest.mark.parametrize("deck", DECKS, ids=lambda deck: deck.name)
@pytest.mark.parametrize("move", MOVES)
def test_edits_conserve_the_composition_and_the_places(deck, move):
    before, deals = edited(deck, move, edits=7)
    assert deals.codes.shape == before.shape
    assert (np.sort(deals.codes, axis=1) == np.sort(before, axis=1)).all()
    symbols = np.sort(before, axis=1)
    assert (np.sort(deals.places, axis=1) == np.arange(deck.size)).all()
    assert (np.take_along_axis(deals.codes, deals.places.astype(np.intp), axis=1) == symbols).all()
    assert (deals.codes != before).any(axis=1).mean() > 0.8


@pytest.mark.parametrize("deck", DECKS, ids=lambda deck: deck.name)
@pytest.mark.parametrize("move", ["pay", "late", "plain", "cross"])
def test_exchanges_change_two_cards_of_the_right_kinds(deck, move):
    before, deals = edited(deck, move)
    dear = sorted(set(before[0].tolist()))[-2:]
    for old, new in zip(before, deals.codes, strict=True):
        places = np.flatnonzero(old != new)
        if move == "cross" and len(places) == 0:
            continue  # no two that differ were drawn: rare
        assert len(places) == 2
        one, other = places
        assert (old[one], old[other]) == (new[other], new[one])
        kinds = {int(old[one]), int(old[other])}
        assert len(kinds) == 2
        if move == "cross":
            assert one < deck.sizes[0] <= other
        elif move == "late":
            assert kinds == set(dear)
        else:
            assert (0 in kinds) == (move == "plain")
    assert (deals.codes != before).any(axis=1).mean() > 0.98


def test_shift_moves_one_card_and_the_cards_between_by_one():
    before, deals = edited(ODD, "shift")
    ways = list(itertools.permutations(range(ODD.size), 2))
    crossed = 0
    for old, new in zip(before.tolist(), deals.codes.tolist(), strict=True):
        fitting = []
        for source, target in ways:
            cards = old[:source] + old[source + 1 :]
            cards.insert(target, old[source])
            if cards == new:
                fitting.append((source < ODD.sizes[0]) != (target < ODD.sizes[0]))
        assert fitting
        crossed += all(fitting)
    assert 100 < crossed < 300  # 15 cards, so that about half of the moves cross


def test_every_pair_and_every_shift_comes_up():
    deck = Deck.parse("2-,1J,1Q")
    for move, kinds in (("pay", 1), ("plain", 4)):
        before, deals = edited(deck, move)
        start = (before == before[0]).all(axis=1)
        assert len(np.unique(deals.codes[start], axis=0)) == kinds


def test_moves_that_the_deck_has_no_cards_for():
    jacks = Deck.parse("10-,4J")
    with pytest.raises(BmnError, match="none of them"):
        Climb(jacks, moves=EACH["pay"])
    assert run(Climb(jacks, games=500, population=50, moves=(1, 1, 1, 0, 0))).games == 500
    # With kings at no cost there is but one kind of pay card.
    cheap = Rules("cheap", penalties=(1, 0, 0, 0))
    with pytest.raises(BmnError, match="none of them"):
        Climb(HALF20, cheap, moves=EACH["late"])


PLANS = {
    "hill": {"moves": (1, 1, 1, 1, 1), "edits": 3},
    "annealing": {"temperature": 40.0, "patience": 7},
    "splitting": {"elite": 0.1},
    "tricks": {"objective": "tricks"},
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_chunk_is_a_pure_function(plan):
    plan = {"games": 6_001, "population": 500, "keep": 4, "patience": 3} | plan
    one = run(Climb(CAMICIA40, seed=4, **plan), 2)
    assert same(one, run(Climb(CAMICIA40, seed=4, **plan), 2))
    for other in (
        run(Climb(CAMICIA40, seed=4, **plan), 3),
        run(Climb(CAMICIA40, seed=5, **plan), 2),
    ):
        assert one.candidates[0].deal not in [found.deal for found in other.candidates]


@pytest.fixture
def played(monkeypatch):
    """Everything that was played, as (codes, outcomes) of each generation."""
    batches = []

    def note(batch, rules):
        rows = play_many(batch, rules)
        batches.append((batch.codes.copy(), rows))
        return rows

    monkeypatch.setattr(climb, "play_many", note)
    return batches


@pytest.mark.parametrize("deck", [HALF20, CAMICIA40], ids=lambda deck: deck.name)
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_counts_and_candidates_are_those_of_the_games_played(played, deck, plan):
    result = run(Climb(deck, seed=1, games=20_011, population=700, keep=5, **plan), 3)
    codes = np.concatenate([codes for codes, _ in played])
    rows = np.concatenate([rows for _, rows in played])
    assert result.games == len(rows) == 20_011
    assert result.loops == (rows["status"] == 1).sum()
    finished = rows["cards"][rows["status"] == 0].astype(np.int64)
    assert np.array_equal(result.histogram, np.bincount(finished))
    first: dict[bytes, int] = {}
    for at, row in enumerate(codes):
        first.setdefault(row.tobytes(), at)
    expected = {("loop", at) for at in first.values() if rows["status"][at] == 1}
    for key in ("cards", "tricks"):
        ranked = [at for at in first.values() if rows["status"][at] == 0]
        ranked.sort(key=lambda at: (-int(rows[key][at]), at))
        expected |= {("long", at) for at in ranked[:5]}
    base = 3 * 20_011
    assert {(found.kind, found.order - base) for found in result.candidates} == expected
    assert len({found.deal for found in result.candidates}) == len(result.candidates)
    for found in result.candidates:
        assert np.array_equal(codes[found.order - base], climb._codes_of(found.deal, deck))
        outcome = play(found.deal, engine="reference")
        assert (outcome.status == "loop") == (found.kind == "loop")
        assert (outcome.cards, outcome.tricks) == (found.cards, found.tricks)
        assert found.deal.leader == 1
        assert deck.fits(found.deal)
        assert tuple(map(len, found.deal.packets)) == deck.sizes


@pytest.mark.parametrize("objective", ["cards", "tricks"])
def test_an_individual_climbs_until_its_patience_ends(played, objective):
    run(Climb(games=400, population=1, patience=4, moves=EACH["pay"], edits=1, objective=objective))
    parent, score, age, starts = played[0][0], -1, 4, 0
    for codes, row in played:
        if age >= 4:
            starts += 1
            assert starts == 1 or (codes != parent).sum() > 2
            parent, score, age = codes, int(row[objective][0]), 0
            continue
        assert (codes != parent).sum() == 2  # one exchange: a child of the one accepted last
        length = int(row[objective][0])
        age = 0 if length > score else age + 1
        if length >= score:
            parent, score = codes, length
    assert 5 < starts < 90


def test_fresh_deals_of_chunks_do_not_overlap(played):
    for number in (0, 1):
        run(Climb(STANDARD52, seed=2, games=300, population=100, patience=0), number)
    codes = np.concatenate([codes for codes, _ in played])
    assert len(np.unique(codes, axis=0)) == 600
    plain = random_deals(STANDARD52, 2, 0, 600).codes
    assert len(np.unique(np.concatenate([codes, plain]), axis=0)) == 1200


def test_dropped():
    stop = threading.Event()
    stop.set()
    with pytest.raises(Dropped):
        Climb(games=10**9).chunk(0, stop)
    stop.clear()
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    with pytest.raises(Dropped):
        Climb(games=10**12, population=512).chunk(0, stop)
    timer.join()


def test_loops_of_half20_are_found():
    loops = {known.deal for known in known_deals() if HALF20.fits(known.deal)}
    assert loops
    plan = Climb(HALF20, seed=1, games=400_000, population=2_000, moves=(1, 1, 1, 1, 1))
    found = [kept for kept in run(plan).candidates if kept.kind == "loop"]
    assert len({kept.deal for kept in found}) == len(found) > 0
    assert all(play(kept.deal, engine="reference").status == "loop" for kept in found)


def test_starts_lie_beside_the_known_cycle(played):
    known = known_deals(ROOT / "known_deals" / "00-arxiv-2403.13855.txt")
    loops = {str(record.deal) for record in known if record.claim.get("status") == "loop"}
    starts = tuple(sorted(text for text in loops if STANDARD52.fits(Deal.parse(text))))
    assert len(starts) == 4
    plan = Climb(seed=1, games=20_000, population=10_000, starts=starts)
    result = run(plan)
    assert result.games == 20_000
    codes = np.array([climb._codes_of(Deal.parse(text), STANDARD52) for text in starts])
    children = played[0][0]
    differ = (children[:, None, :] != codes[None]).sum(axis=2).min(axis=1)
    assert differ[differ > 0].min() >= 1
    assert differ.max() == 6
    assert ((children == 0) == (codes == 0)[:, None]).all(axis=2).any(axis=0).all()
    assert result.loops > 0
    for found in result.candidates:
        assert play(found.deal, engine="reference").cards == found.cards


def test_a_start_that_player_2_leads_is_exchanged():
    start = known_deals()[0].deal
    one = Climb(games=200, population=100, starts=(str(start),))
    other = Climb(games=200, population=100, starts=(str(start.exchanged()),))
    assert same(run(one), run(other))


def test_games_stopped_by_a_limit_are_ignored():
    rules = Rules("short", max_tricks=40)
    result = run(Climb(rules=rules, games=20_000, population=1_000))
    assert result.games == 20_000
    assert result.histogram.sum() + result.loops < 20_000
    assert all(found.tricks <= 40 for found in result.candidates)
    assert {found.kind for found in result.candidates} == {"long"}


def test_ancestors_stand_for_the_best(monkeypatch):
    """A climb finds the longest ancestor of where it starts, and only if it looks for it."""
    deal = Deal.parse("K-KK----K-A-----JAA--Q--J-/---Q---Q-J-----J------AQ--")
    longest, longer = longest_ancestor(deal)

    def as_it_is(*arguments):
        """Leave the starts unchanged."""

    monkeypatch.setattr("bmn_search.search.climb._Editor.exchange_pay", as_it_is)
    plan = Climb(games=1_000, population=100, keep=3, starts=(str(deal),), ancestors_every=4)
    result = run(plan)
    assert result.games == 1_000
    assert result.candidates[0].deal == longest
    assert result.candidates[0].cards == play(deal).cards + longer.cards
    without = run(replace(plan, ancestors_every=0))
    assert without.candidates[0].deal == deal


def test_parameters_are_all_that_determines_a_chunk():
    plan: Strategy = Climb(seed=3, starts=(str(known_deals()[0].deal),))
    names = set(Climb.__dataclass_fields__) - {"name", "deck", "rules", "seed", "keep"}
    assert set(plan.parameters()) == names
    assert plan.name == "climb"
    assert plan.parameters()["moves"] == dict(zip(MOVES, Climb.moves, strict=True))


@pytest.mark.parametrize(
    "wrong",
    [
        {"games": 0},
        {"population": 0},
        {"edits": 0},
        {"patience": -1},
        {"keep": 0},
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"elite": 0.0},
        {"elite": 1.5},
        {"objective": "luck"},
        {"seed": 2**64},
        {"moves": (0, 0, 0, 0, 0)},
        {"moves": (1, 1)},
        {"moves": (1, -1, 1, 1, 1)},
        {"starts": ("J--/-J-",)},
        {"starts": ("---K---Q-KQAJ-----AAJ--J--A/----------Q----KQ-J-----K",)},
    ],
    ids=str,
)
def test_wrong_parameters(wrong):
    with pytest.raises(BmnError):
        Climb(**wrong)


def test_decks_that_are_too_large():
    with pytest.raises(BmnError, match="1024"):
        Climb(Deck.parse("60000-,9J,9Q"))


def test_chunk_number_out_of_range():
    with pytest.raises(BmnError):
        run(Climb(games=2**40), 2**24)


def test_expected_longest_is_what_random_sampling_reaches():
    rows = play_random(STANDARD52, 77, 0, 4_000_000)
    longest = rows["cards"].reshape(400, 10_000).max(axis=1).astype(np.int64)
    # The standard error of the mean is 1.28 e-foldings / 20: 13 cards.
    assert abs(longest.mean() - expected_longest(10_000)) < 50
    sample = collect(STANDARD52, games=400_000, threads=1)
    assert abs(expected_longest(10_000, sample) - expected_longest(10_000)) < 60
    assert expected_longest(11_500_000) - expected_longest(1_000_000) == pytest.approx(500)


def test_expected_longest_of_other_decks():
    sample = collect(CAMICIA40, games=300_000, threads=1)
    rows = play_random(CAMICIA40, 9, 0, 1_000_000)
    finished = np.where(rows["status"] == 0, rows["cards"], 0).astype(np.int64)
    longest = finished.reshape(200, 5_000).max(axis=1)
    tail = Tail.of(sample)
    assert abs(longest.mean() - expected_longest(5_000, sample)) < tail.folding / 3
    assert expected_longest(5_000, tail) == expected_longest(5_000, sample)
    assert tail.folding < STANDARD_TAIL.folding
    with pytest.raises(BmnError):
        expected_longest(0)
    with pytest.raises(BmnError):
        expected_longest(10, collect(HALF20, games=2, threads=1))
