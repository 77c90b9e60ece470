"""Backward play against the full inverse of play, and basins against what is known of them."""

import random
from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
from conftest import ROOT, odd_deal, odd_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from bmn_search import reference
from bmn_search.ancestry import ancestors, basin, longest_ancestor, predecessors
from bmn_search.batch import Batch
from bmn_search.cycle import find_cycle, step
from bmn_search.deal import STANDARD52, Deal, Deck
from bmn_search.engine import play, play_many
from bmn_search.errors import BmnError, DealError
from bmn_search.graph import basin_graph
from bmn_search.known import known_deals
from bmn_search.rules import STANDARD, Rules

PUBLISHED = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"

RULES = (
    STANDARD,
    Rules("payer leads", next_leader="payer"),
    Rules("dear", penalties=(2, 5, 0, 1), next_leader="winner"),
    Rules("odd payer", penalties=(0, 1, 1, 3), next_leader="payer"),
)
DECKS = (
    "6-,2J",
    "7-,2J,1Q",
    "5-,2Q",
    "4-,1J,1Q,1K",
    "6-,1K,1A",
    "8-,2A",
    "3-,3J",
    "5-,2J,2K",
    "2-,2J,1K,1A",
    "9-,1Q",
    "7-",
    "1-,2J,2Q",
)


def positions(deck: Deck):
    """All positions of a deck in which both players hold cards, either of them leading."""
    cards = "".join(symbol * count for symbol, count in deck.counts)
    for order in sorted(set(permutations(cards)) if len(cards) < 8 else _orders(cards)):
        text = "".join(order)
        for first in range(1, len(text)):
            for leader in (1, 2):
                yield Deal((text[:first], text[first:]), leader)


def _orders(cards: str):
    """The different orders of some cards."""
    if not cards:
        return {""}
    return {first + rest for first in set(cards) for rest in _orders(cards.replace(first, "", 1))}


def step_by_reference(deal: Deal, rules: Rules) -> Deal:
    """One trick by the plain-Python engine."""
    game = reference.Game(deal, rules)
    game.play_trick()
    return game.deal()


def ended(deal: Deal) -> Deal:
    """The end of a game, which has no leader: name player 1."""
    return deal if all(deal.packets) else Deal(deal.packets, 1)


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("spec", DECKS)
def test_predecessors_are_the_full_inverse_of_play(spec, rules):
    inverse = defaultdict(set)
    everything = list(positions(Deck.parse(spec)))
    for deal in everything:
        inverse[ended(step_by_reference(deal, rules))].add(deal)
    for deal in {*everything, *inverse}:
        found = predecessors(deal, rules)
        assert len(found) == len(set(found))
        assert set(found) == inverse[deal], str(deal)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_step_is_one_trick_of_the_reference_engine(rules):
    rng = random.Random(5)
    for _ in range(500):
        deal = odd_deal(rng, 30)
        assert ended(step(deal, rules)) == ended(step_by_reference(deal, rules))


@st.composite
def standard52_positions(draw):
    cards = draw(st.permutations("".join(symbol * n for symbol, n in STANDARD52.counts)))
    first = draw(st.integers(1, 51))
    text = "".join(cards)
    return Deal((text[:first], text[first:]), draw(st.integers(1, 2)))


@given(standard52_positions(), st.sampled_from(RULES), st.integers(0, 8))
@settings(deadline=None, max_examples=300)
def test_a_position_is_among_the_predecessors_of_its_step(deal, rules, tricks):
    for _ in range(tricks):
        after = step(deal, rules)
        if not all(after.packets):
            break
        deal = after
    after = ended(step(deal, rules))
    before = predecessors(after, rules)
    assert deal in before
    assert all(ended(step(other, rules)) == after for other in before)
    assert all(step(other, rules) == deal for other in predecessors(deal, rules))


def test_predecessors_of_odd_decks_lead_here():
    rng = random.Random(11)
    found = 0
    for _ in range(400):
        deal, rules = odd_deal(rng, 90), odd_rules(rng)
        after = ended(step(deal, rules))
        before = predecessors(after, rules)
        found += len(before)
        assert deal in before
        assert all(ended(step(other, rules)) == after for other in before)
    assert found > 400


def test_ancestors_have_their_distance_and_cards():
    """Every position of a basin is as far from the cycle as play says."""
    for text in (PUBLISHED, "----J--Q--/--K-K-Q-J-"):
        around = basin(find_cycle(text))
        sizes = np.stack([around.sizes, around.codes.shape[1] - around.sizes], 1)
        batch = Batch(around.codes, sizes.astype(np.uint32), np.ones(len(around), np.uint8))
        rows = play_many(batch)
        assert (rows["transient_tricks"] == around.distance).all()
        assert (rows["transient_cards"] == around.cards).all()
        assert len({around.deal(row) for row in range(len(around))}) == len(around)


def test_the_published_basin():
    """SEARCH: 2,670 positions up to exchange, 7 levels, 30 balanced deals (arXiv 2403.13855)."""
    around = basin(find_cycle(PUBLISHED))
    assert (len(around), around.depth + 1, around.ended) == (2670, 7, "complete")
    deals = around.balanced_deals()
    assert len(set(deals)) == 30
    assert Deal.parse(PUBLISHED) in deals
    for deal in deals:
        STANDARD52.check(deal)
        assert play(deal).status == "loop"


@pytest.mark.parametrize(
    ("file", "cycles", "classes", "deals"),
    [("20-infinite-camicia40", 15, 9, 162), ("30-infinite-half20", None, 1, 16)],
)
def test_the_published_small_decks(file, cycles, classes, deals):
    """All published cycles together lead back to exactly the infinite deals of the deck."""
    found = {}
    mirrored = 0
    for known in known_deals(ROOT / "known_deals" / f"{file}.txt"):
        cycle = find_cycle(known.deal, known.rules)
        if cycle.canonical not in found:
            found[cycle.canonical] = basin(cycle).balanced_deals()
            mirrored += cycle.mirror
    assert len(found) == classes
    if cycles:  # a cycle that is not a mirror cycle has a copy with the players exchanged
        assert 2 * classes - mirrored == cycles
    everything = [deal for balanced in found.values() for deal in balanced]
    assert len(everything) == len(set(everything)) == deals


def test_ancestors_of_a_find_are_that_much_longer():
    rng = random.Random(3)
    seen = 0
    while seen < 40:
        cards = list("-" * 36 + "JJJJQQQQKKKKAAAA")
        rng.shuffle(cards)
        deal = Deal(("".join(cards[:26]), "".join(cards[26:])), rng.randint(1, 2))
        around = ancestors(deal)
        base = play(deal)
        for row in around.longest_first()[:5]:
            seen += 1
            longer = play(around.deal(int(row)))
            assert longer.cards == base.cards + around.cards[row]
            assert longer.tricks == base.tricks + around.distance[row]
            assert longer.winner == base.winner
        best = longest_ancestor(deal)
        assert (best is None) == (not len(around.longest_first()))
        if best:
            assert play(best[0]).cards == base.cards + best[1].cards
            assert best[0].leader == 1


def test_player_1_leads_in_the_basin_of_a_one_trick_cycle():
    cycle = find_cycle("----J-/-J-")
    assert cycle.turn.tricks == 1
    around = basin(cycle)
    listed = [around.deal(row) for row in range(len(around))]
    assert {deal.leader for deal in listed} == {1}
    assert [deal for deal, could in zip(listed, around.balanced, strict=True) if could] == (
        around.balanced_deals()
    )
    with pytest.raises(BmnError, match="not that of the cycle"):
        basin_graph(cycle, ancestors(cycle.canonical))


def test_large_positions_take_no_more_than_their_memory(monkeypatch):
    monkeypatch.setattr("bmn_search.ancestry.MEMORY", 100_000)
    around = basin(find_cycle(PUBLISHED))
    assert (around.ended, len(around)) == ("limit", 100_000 // 92)


def test_limits_are_told():
    cycle = find_cycle(PUBLISHED)
    cut = basin(cycle, limit=1000)
    assert (cut.ended, len(cut)) == ("limit", 1000)
    shallow = basin(cycle, 2)
    assert (shallow.ended, shallow.depth) == ("depth", 2)
    whole = basin(cycle)
    assert len(shallow) == (whole.distance <= 2).sum()
    assert basin(cycle, limit=len(whole)).ended == "complete"
    assert ancestors(PUBLISHED, 0).ended == "depth"
    with pytest.raises(BmnError, match="limit 3: expected at least 62"):
        basin(cycle, limit=3)
    with pytest.raises(BmnError, match="depth -1: expected 0"):
        ancestors(PUBLISHED, -1)
    with pytest.raises(DealError, match="two players"):
        predecessors("J/-/Q-")


def test_a_basin_grown_in_slices_is_the_same(monkeypatch):
    whole = basin(find_cycle(PUBLISHED))
    monkeypatch.setattr("bmn_search.ancestry.SLICE", 7)
    told = []
    sliced = basin(find_cycle(PUBLISHED), progress=told.append)
    assert told == sorted(told)
    assert len(told) > 100
    for name in ("codes", "sizes", "distance", "following", "laid", "exchanged"):
        assert (getattr(sliced, name) == getattr(whole, name)).all()
