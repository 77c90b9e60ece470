"""Cycles, their canonical positions, and the ranks that are not felt, against plain play."""

import json
import random
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from conftest import odd_deal, odd_rules

from bmn_search import ranks, reference
from bmn_search.cycle import alike, find_cycle, step
from bmn_search.deal import Deal
from bmn_search.engine import play
from bmn_search.errors import DealError
from bmn_search.graph import read_graph
from bmn_search.notation import CODES, SYMBOLS
from bmn_search.rules import STANDARD, Rules

PUBLISHED = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
HALF = "----J--Q--/--K-K-Q-J-"


def loops(count: int, most: int, seed: int):
    """Deals of odd decks that never end under odd rules, with how the reference engine saw it."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        deal, rules = odd_deal(rng, most), odd_rules(rng)
        rules = Rules("odd", penalties=rules.penalties, next_leader=rules.next_leader)
        outcome = play(deal, rules)
        if outcome.status == "loop" and outcome.tricks < 2000:
            found += 1
            yield deal, rules, reference.play(deal, rules)


def plainly(deal: Deal, rules: Rules) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A position relative to the leader, each card by its cost."""
    packets = deal.packets if deal.leader == 1 else deal.packets[::-1]
    return tuple(tuple(map(rules.penalty, packet)) for packet in packets)


def test_cycles_are_those_of_the_reference_engine():
    kinds = set()
    for deal, rules, outcome in loops(40, 12, 7):
        cycle = find_cycle(deal, rules)
        kinds.add((cycle.mirror, rules.next_leader))
        assert cycle.transient == (outcome.transient_cards, outcome.transient_tricks)
        assert cycle.period == (outcome.cycle_cards, outcome.cycle_tricks)
        assert cycle.mirror == outcome.mirror
        game = reference.Game(deal, rules)
        while game.tricks < outcome.transient_tricks:
            game.play_trick()
        on_cycle, laid, leaders, sizes = set(), [], [game.leader], set()
        while game.tricks < outcome.tricks:
            on_cycle.add(plainly(game.deal(), rules))
            before = game.cards
            game.play_trick()
            laid.append(game.cards - before)
            leaders.append(game.leader)
            sizes |= set(game.sizes)
        moves = sum(one != other for one, other in pairwise(leaders))
        assert cycle.lead_moves == moves
        assert cycle.packet_sizes == (min(sizes), max(sizes))
        assert cycle.longest_trick == max(laid)
        positions = [cycle.position(trick) for trick in range(len(cycle.sizes))]
        assert {plainly(position, rules) for position in positions} == on_cycle
        assert len(positions) == len(on_cycle) == cycle.turn.tricks
        assert int(cycle.laid.sum()) == cycle.turn.cards
        for position, after in zip(positions, positions[1:] + positions[:1], strict=True):
            assert plainly(step(position, rules), rules) == plainly(after, rules)
    assert len(kinds) == 4


def test_the_canonical_position_is_one_for_all_that_lead_into_the_cycle():
    for deal, rules, outcome in loops(15, 11, 8):
        wanted = find_cycle(deal, rules).canonical
        assert wanted.leader == 1
        position = deal
        for _ in range(min(outcome.tricks, 40)):
            position = step(position, rules)
            assert find_cycle(position, rules).canonical == wanted
            assert find_cycle(position.exchanged(), rules).canonical == wanted


def test_the_canonical_position_is_the_least():
    for deal, rules, _ in loops(20, 11, 9):
        cycle = find_cycle(deal, rules)
        keys = [
            (len(position.packets[0]), [CODES[card] for card in "".join(position.packets)])
            for position in map(cycle.position, range(len(cycle.sizes)))
        ]
        assert keys[0] == min(keys)
        assert keys.count(keys[0]) == 1


def test_cards_that_cost_the_same_are_alike():
    rules = Rules("same", penalties=(2, 2, 3, 0))
    assert alike(rules).tolist() == [0, 1, 1, 3, 0]
    cycle = find_cycle("J--/-J-")
    assert find_cycle("JA-/AJ-", STANDARD.with_penalties("A=0")).canonical == cycle.canonical


def test_distinct_periods_are_those_that_play_tells():
    for deal, rules, _ in loops(20, 11, 10):
        cycle = find_cycle(deal, rules)
        for distinct in ("none", "plain", "all"):
            outcome = play(deal, rules, distinct=distinct)
            assert cycle.distinct_period(distinct) == (outcome.cycle_cards, outcome.cycle_tricks)


def test_the_published_cycle():
    """Casella et al. (arXiv 2403.13855): 62 tricks, 440 cards; 33,000 with plain cards apart."""
    cycle = find_cycle(PUBLISHED)
    assert cycle.period == (440, 62)
    assert cycle.distinct_period("plain") == (33000, 4650)
    assert sorted(len(orbit) for orbit in cycle.orbits)[-4:] == [3, 3, 3, 25]
    assert ranks.choices(cycle) == 2


def test_limits_in_the_rules_do_not_hide_a_cycle():
    assert find_cycle(PUBLISHED, Rules("short", max_tricks=3)).period.tricks == 62


def test_a_game_that_ends_has_no_cycle():
    assert find_cycle("---J/-J-") is None
    with pytest.raises(DealError, match="two players"):
        find_cycle("J-/Q-/K-")
    with pytest.raises(DealError, match="the game is over"):
        step(Deal(("J-", "")))


def test_a_cycle_too_large_for_memory_is_refused(monkeypatch):
    monkeypatch.setattr("bmn_search.cycle.MOST_MEMORY", 1000)
    with pytest.raises(DealError, match="the cycle has 62 positions of 52 cards"):
        find_cycle(PUBLISHED)


def course(codes, cycle):
    """How a position goes on for a turn: cards laid and who leads; None if it is no cycle."""
    size = int(cycle.sizes[0])
    cards = "".join(SYMBOLS[code] for code in codes)
    deal = start = Deal((cards[:size], cards[size:]))
    told = []
    for _ in range(cycle.turn.tricks):
        before = deal
        deal = step(deal, cycle.rules)
        if not all(deal.packets):
            return None
        told.append((deal.leader != before.leader, tuple(map(len, deal.packets))))
    return told if plainly(deal, cycle.rules) == plainly(start, cycle.rules) else None


def test_unfelt_ranks_are_exactly_those_that_do_not_change_the_course():
    """Every choice of ranks is tried, for cycles with few pay cards."""
    tried = unfelt = 0
    rng = random.Random(12)
    while tried < 40:
        deal = odd_deal(rng, 13)
        rules = Rules("odd", next_leader=rng.choice(["winner", "payer"]))
        pay = sum(card != "-" for card in "".join(deal.packets))
        if not 2 <= pay <= 5 or play(deal, rules).status != "loop":
            continue
        cycle = find_cycle(deal, rules)
        if cycle.turn.tricks > 60:
            continue
        tried += 1
        codes = cycle.codes[0].copy()
        places = np.flatnonzero(codes)
        wanted = course(codes, cycle)
        fits = set()
        for choice in product(range(1, 5), repeat=len(places)):
            codes[places] = choice
            if course(codes, cycle) == wanted:
                fits.add(choice)
        orbits = ranks.orbits(cycle)
        at = {place: n for n, orbit in enumerate(orbits) for place in orbit.places}
        assert sorted(at) == list(range(len(codes)))
        told = set()
        for choice in product(*(orbit.ranks(rules.penalty_table) for orbit in orbits)):
            told.add(tuple(choice[at[place]] for place in places))
        assert told == fits
        own = sorted(cycle.codes[0][places].tolist())
        same = [choice for choice in fits if sorted(choice) == own]
        assert ranks.choices(cycle) == len(same)
        listed = list(ranks.variants(cycle))
        unfelt += len(fits) > 1
        canonical = set()
        for choice in same:
            codes[places] = choice
            size = int(cycle.sizes[0])
            text = "".join(SYMBOLS[code] for code in codes)
            canonical.add(find_cycle(Deal((text[:size], text[size:])), rules).canonical)
        assert {variant.canonical for variant in listed} == canonical
        assert len(listed) == len(canonical)
        least = ranks.normal_form(cycle)
        assert sum(least.codes[0].tolist()) == min(map(sum, fits))
    assert unfelt > 2


@pytest.mark.parametrize(("number", "choices"), [(0, 2), (1, 3)])
def test_choices_of_ranks_in_known_cycles(number, choices):
    """Of all exchanges of two pay cards, those that the orbits allow leave the course as it is."""
    deals = [PUBLISHED, "--K-Q-Q-K-KJ-----KJ-/--J--Q----Q-------J-"]
    cycle = find_cycle(deals[number])
    assert ranks.choices(cycle) == choices
    codes = cycle.codes[0].copy()
    wanted = course(codes, cycle)
    costs = STANDARD.penalty_table
    may = {}
    for orbit in ranks.orbits(cycle):
        for place in orbit.places:
            may[place] = (orbit, set(orbit.ranks(costs)))
    seen = set()
    for one, other in combinations(np.flatnonzero(codes).tolist(), 2):
        if codes[one] == codes[other]:
            continue
        codes[[one, other]] = codes[[other, one]]
        alone = all(len(may[place][0].places) == 1 for place in (one, other))
        allowed = alone and all(int(codes[place]) in may[place][1] for place in (one, other))
        assert (course(codes, cycle) == wanted) == allowed
        seen.add(allowed)
        codes[[one, other]] = codes[[other, one]]
    assert seen == {True, False}


def test_cycle_command(bmn):
    done = bmn("cycle", PUBLISHED, "--json", check=0)
    told = json.loads(done.stdout)
    assert {
        "cycle_tricks": 62,
        "cycle_cards": 440,
        "mirror": False,
        "basin_size": 2670,
        "basin_depth": 7,
        "balanced_deals": 30,
        "rank_choices": 2,
        "transient_tricks": 4,
    }.items() <= told.items()
    assert told["canonical"] == str(find_cycle(PUBLISHED).canonical)
    plain = bmn("cycle", PUBLISHED, check=0).stdout
    assert "2,670 positions" in plain
    assert told["canonical"] in plain


def test_cycle_lists_basin_and_variants(bmn):
    told = json.loads(bmn("cycle", HALF, "--basin", "--variants", "--json", check=0).stdout)
    assert len(told["balanced_deals"]) == 16
    assert len(told["basin"]) == told["basin_size"]
    assert sum(row["balanced"] for row in told["basin"]) == 16
    assert told["variants"] == [told["canonical"]]
    lines = bmn("cycle", HALF, "--basin", check=0).stdout.splitlines()
    assert sum("  yes  " in line for line in lines) == 16


def test_cycle_of_a_game_that_ends_exits_with_1(bmn):
    done = bmn("cycle", "--any-deck", "J-/-J")
    assert done.returncode == 1
    assert "no cycle: finished" in done.stdout
    done = bmn("cycle", "--any-deck", "J-/-J", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert told["canonical"] is None
    assert told["status"] == "finished"


def test_cycle_writes_a_graph(bmn, tmp_path):
    path = tmp_path / "basin.graphml"
    bmn("cycle", HALF, "--graph", str(path), check=0)
    graph = read_graph(path)
    assert len(graph) == 208
    assert sum(balanced for _, balanced in graph.nodes(data="balanced")) == 16
    assert "ends in" in bmn("cycle", HALF, "--graph", str(tmp_path / "x.txt"), check=2).stderr
    assert "one deal" in bmn("cycle", HALF, HALF, "--graph", str(path), check=2).stderr


def test_cycle_says_what_is_wrong(bmn):
    assert "DEAL is missing" in bmn("cycle", check=2).stderr
    assert "expected --deck" in bmn("cycle", "--all", check=2).stderr
    for option in (("--graph", "x.json"), ("--limit", "9"), ("--any-deck",), ("--depth", "1")):
        done = bmn("cycle", "--all", "--deck", "4-,2J", *option, check=2)
        assert f"leave out {option[0]}" in done.stderr
    assert "leave out" in bmn("cycle", "--all", "--deck", "4-,2J", "--basin", check=2).stderr
    assert "no deal" in bmn("cycle", "--all", "--deck", "half20", HALF, check=2).stderr
    assert "limit" in bmn("cycle", HALF, "--limit", "2", check=2).stderr
    cut = json.loads(bmn("cycle", HALF, "--limit", "20", "--json", check=0).stdout)
    assert (cut["basin_size"], cut["basin_ended"]) == (20, "limit")


def test_ancestors_command(bmn):
    deal = "K-KK----K-A-----JAA--Q--J-/---Q---Q-J-----J------AQ--"
    rows = [json.loads(line) for line in bmn("ancestors", deal, "--json").stdout.splitlines()]
    base = play(deal)
    assert [row["more_cards"] for row in rows] == sorted(
        (row["more_cards"] for row in rows), reverse=True
    )
    for row in rows:
        outcome = reference.play(Deal.parse(row["deal"]))
        assert outcome.cards == row["cards"] == base.cards + row["more_cards"]
        assert outcome.tricks == row["tricks"] == base.tricks + row["more_tricks"]
    best = bmn("ancestors", deal, "--json", "--longest", check=0).stdout.splitlines()
    assert [json.loads(line) for line in best] == rows[:1]
    words = bmn("ancestors", deal, check=0).stdout
    assert f"{len(rows)} balanced deals among" in words
    cut = bmn("ancestors", deal, "--json", "--longest", "--limit", "50", check=0)
    assert json.loads(cut.stdout)["ended"] == "limit"
    assert "the limit was reached" in cut.stderr
    none = bmn("ancestors", "---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---", check=0)
    assert "0 balanced deals among 0 ancestors" in none.stdout
