"""Complete worlds of small decks, against a brute force on the reference engine."""

import doctest
import json
import re
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT

from bmn_search import compiled, reference
from bmn_search.ancestry import basin
from bmn_search.cycle import find_cycle
from bmn_search.deal import CAMICIA40, HALF20, STANDARD52, Deal, Deck
from bmn_search.errors import DeckError
from bmn_search.notation import SYMBOLS
from bmn_search.rules import STANDARD, Rules
from bmn_search.worlds import MOST_POSITIONS, explore, position, world

RULES = [
    STANDARD,
    Rules("payer", next_leader="payer"),
    Rules("alike", penalties=(2, 2, 1, 0)),
    Rules("odd", penalties=(5, 1, 1, 3), next_leader="payer", max_tricks=2),
]
SPECS = [
    "2-",
    "1-,1J",
    "3-,2J",
    "4-,2J",
    "5A",
    "2J,2Q,1K",
    "6-,2J",
    "7-,2K",
    "4-,2J,2Q",
    "3-,1J,1Q,1K,1A",
    "6-,2J,1Q",
    "5-,2J,1A,1K",
    "6-,2J,2Q",
]


def arrangements(cards: str) -> list[str]:
    """Every different order of some cards."""
    if len(cards) < 2:
        return [cards]
    return [
        first + rest for first in set(cards) for rest in arrangements(cards.replace(first, "", 1))
    ]


def one_trick(cards: tuple[str, str], rules: Rules) -> tuple[str, str] | None:
    """The next position relative to the leader, or None if the game is over."""
    game = reference.Game(Deal(cards), rules)
    game.play_trick()
    if game.winner is not None:
        return None
    deal = game.deal()
    return deal.packets if deal.leader == 1 else deal.packets[::-1]


def order(cards: tuple[str, str]) -> tuple[int, list[int]]:
    return len(cards[0]), [SYMBOLS.index(symbol) for symbol in "".join(cards)]


def brute_force(deck: Deck, rules: Rules) -> dict[tuple[str, str], tuple[str, int]]:
    """For every position where it leads, a canonical position or the end, and in how many tricks.

    Each position is followed on its own, with nothing but a memory of where it has been.
    """
    cost = {symbol: rules.penalty(symbol) for symbol in SYMBOLS}
    same = {s: next(t for t in SYMBOLS if cost[t] == cost[s]) for s in SYMBOLS}
    cards = "".join(same[symbol] * count for symbol, count in deck.counts)
    following = {}
    for whole in arrangements(cards):
        for split in range(1, len(whole)):
            at = whole[:split], whole[split:]
            following[at] = one_trick(at, rules)
    leads = {}
    for start in following:
        path: dict[tuple[str, str] | None, int] = {}
        at = start
        while at is not None and at not in path:
            path[at] = len(path)
            at = following[at]
        if at is None:
            leads[start] = "the end", len(path)
        else:
            canonical = min(list(path)[path[at] :], key=order)
            leads[start] = "/".join(canonical), path[at]
    return leads


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_every_position_leads_where_the_reference_engine_goes(spec, rules):
    deck = Deck.parse(spec)
    expected = brute_force(deck, rules)
    found = world(deck, rules)
    shell_of, core = explore(found.alike, rules)
    shells = core.shells()
    told = {}
    for index, shell in enumerate(shell_of.tolist()):
        _, _, canonical, distance = shells[shell]
        goal = "the end" if canonical is None else str(position(found.alike, canonical))
        told[position(found.alike, index).packets] = goal, distance
    assert told == expected
    check_counts(found, expected)


def check_counts(found, expected):
    split = found.deck.sizes[0]
    sizes, balanced, depth = Counter(), Counter(), Counter()
    at_distance = Counter(expected.values())
    for at, (goal, distance) in expected.items():
        sizes[goal] += 1
        balanced[goal] += len(at[0]) == split
        depth[goal] = max(depth[goal], distance)
    ends = sizes.pop("the end")
    assert found.positions == len(expected)
    assert found.endless == len(expected) - ends
    assert found.balanced == sum(balanced.values())
    assert found.balanced_endless == found.balanced - balanced["the end"]
    assert found.longest_tricks == depth["the end"]
    assert {str(around.canonical): around.size for around in found.basins} == sizes
    for around in found.basins:
        goal = str(around.canonical)
        assert (around.balanced, around.depth) == (balanced[goal], depth[goal])
        for distance, shell in enumerate(around.shells):
            assert shell.positions == at_distance[goal, distance]
    assert [shell.positions for shell in found.ends] == [
        at_distance["the end", tricks] for tricks in range(1, found.longest_tricks + 1)
    ]


def test_cycles_and_basins_are_those_of_backward_play():
    met = 0
    for rules in RULES:
        for spec in ("6-,2J,2Q", "5-,2J,1Q,1K", "6-,2J,1Q,1A", "9-,2J,1Q"):
            for around in world(spec, rules).basins:
                cycle = find_cycle(around.canonical, rules)
                assert (cycle.canonical, cycle.period, cycle.mirror, cycle.turn.tricks) == (
                    around.canonical,
                    around.period,
                    around.mirror,
                    around.shells[0].positions,
                )
                back = basin(cycle)
                assert (len(back), back.depth, int(back.balanced.sum())) == (
                    around.size,
                    around.depth,
                    around.balanced,
                )
                met += 1
    assert met >= 8


def test_order_does_not_matter():
    """Played and followed in another order, and in slices of other sizes."""
    deck = Deck.parse("6-,2J,2Q")
    _, core = explore(deck, RULES[1])
    expected = sorted(core.shells(), key=str)
    rng = np.random.default_rng(5)
    for step in (1, 7, 1000):
        links = np.empty(deck.deals * (deck.size - 1), np.uint32)
        core = compiled.new_world(deck, RULES[1], links)
        for total, work in ((deck.deals, core.play), (len(links), core.follow)):
            for first in rng.permutation(np.arange(0, total, step)).tolist():
                work(first, min(step, total - first))
        assert sorted(core.shells(), key=str) == expected


def test_order_of_the_spec_does_not_matter():
    one, other = world("6-,2J,2Q"), world("2Q,6-,2J")
    assert (one.basins, one.ends) == (other.basins, other.ends)
    assert one.basins


def test_cards_of_equal_penalty_are_alike():
    rules = STANDARD.with_penalties("K=2,A=0")
    found = world("4-,2J,1Q,1K,2A", rules)
    assert (found.alike.spec, found.each) == ("6-,2J,2Q", 2 * 15)
    assert (found.basins, found.ends) == (world("6-,2J,2Q").basins, world("6-,2J,2Q").ends)


def test_progress_is_told():
    shares = []
    world("9-,2J,1Q", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("deck", [STANDARD52, CAMICIA40, Deck.parse("200-,4J")], ids=str)
def test_a_large_deck_is_refused(deck):
    assert deck.deals * (deck.size - 1) > MOST_POSITIONS
    with pytest.raises(DeckError, match=rf"'{deck.name}' has .* positions: expected at most 1,073"):
        world(deck)


def test_a_long_deck_is_played():
    """Packets beyond 8 bits; without pay cards nobody takes a trick."""
    assert world("300-").ends == ((299, 1),)
    found = world("300-,1J")
    assert found.positions == 300 * 301
    index = 150 * 301 + 17
    shell_of, core = explore(found.alike, STANDARD)
    assert core.shells()[shell_of[index]][3] == reference.play(position(found.alike, index)).tricks


def test_a_text_that_is_no_deck_is_refused():
    with pytest.raises(DeckError, match="'14-,2X' is unknown at '2X'"):
        world("14-,2X")


def test_links_of_another_length_are_refused():
    with pytest.raises(ValueError, match="5 links"):
        compiled.new_world(HALF20, STANDARD, np.empty(5, np.uint32))


def test_as_json(bmn):
    document = json.loads(bmn("cycle", "--all", "--deck", "6-,2J,2Q", "--json", check=0).stdout)
    found = world("6-,2J,2Q")
    assert document["positions"] == found.positions == 11340
    assert document["endless_share"] == found.endless / 11340
    (cycle,) = document["cycles"]
    outcome = reference.play(Deal.parse(cycle["canonical"]))
    assert [cycle[key] for key in ("cycle_tricks", "cycle_cards", "mirror")] == [
        outcome.cycle_tricks,
        outcome.cycle_cards,
        outcome.mirror,
    ]
    assert (cycle["basin_size"], cycle["balanced_deals"]) == (
        found.endless,
        found.balanced_endless,
    )


def test_as_text(bmn):
    spec = ("--all", "--deck", "4-,2J,1Q,1K,2A", "--penalties", "K=2,A=0")
    told = bmn("cycle", *spec, check=0).stdout
    (around,) = world("6-,2J,2Q").basins
    assert "6-,2J,2Q: cards that cost the same are alike" in told
    assert told.splitlines()[-1].split()[-1] == str(around.canonical)
    told = bmn("cycle", "--all", "--deck", "2-", check=0).stdout
    assert told.splitlines()[-1].split() == ["cycles", "0", "up", "to", "exchange"]


def test_a_large_deck_is_refused_in_one_line(bmn):
    refused = bmn("cycle", "--all", "--deck", "camicia40", "--json", check=2)
    assert refused.stdout == ""
    (line,) = refused.stderr.splitlines()
    assert "'camicia40'" in line


def test_the_page_tells_the_truth():
    page = (ROOT / "docs" / "worlds.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(code, {}, "worlds", "worlds.md", 0)
    done = doctest.DocTestRunner().run(test)
    assert (done.failed, done.attempted) == (0, 4)


@pytest.mark.slow
def test_half20():
    found = world(HALF20)
    (family,) = found.basins
    assert (found.balanced, found.balanced_endless, family.balanced) == (3_488_400, 16, 16)
    back = basin(find_cycle("----J--Q--/--K-K-Q-J-"))
    assert str(family.canonical) == "----J--Q--/--K-K-Q-J-"
    assert (len(back), back.depth) == (family.size, family.depth)
