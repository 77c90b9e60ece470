"""The compiled engine against the reference engine, and both against the rules of the world."""

import itertools
import random
from dataclasses import replace

import pytest
from conftest import CASES, case_deal, odd_deal, odd_rules, same_game
from hypothesis import given, settings
from hypothesis import strategies as st

import bmn_search._core
from bmn_search import Deal, Rules, play, reference
from bmn_search.deal import CAMICIA40, STANDARD52
from bmn_search.engine import random_deals
from bmn_search.errors import BmnError

CASELLA = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
LOOPS = [case_deal(case) for case in CASES if case["expected"]["status"] == "loop"]


def both(deal, rules, **options):
    """Play with both engines, insist that they agree, return the outcome."""
    fast = play(deal, rules, **options)
    slow = play(deal, rules, engine="reference", **options)
    assert same_game(fast, slow), (str(deal), rules, options, fast, slow)
    return fast


def test_the_compiled_module_is_the_one_that_runs():
    assert bmn_search._core.__file__.endswith((".so", ".pyd"))
    assert play("J/-").engine == "fast"


def test_engines_agree_on_many_odd_deals():
    rng = random.Random(20240313)
    seen = {"finished": 0, "loop": 0, "unknown": 0}
    for _ in range(25_000):
        seen[both(odd_deal(rng, 20), odd_rules(rng)).status] += 1
    assert seen["finished"] > 10_000
    assert seen["unknown"] > 500


@pytest.mark.parametrize("deck", ["---JJ", "----JJ", "----JJQ", "------JJ"])
def test_engines_agree_on_every_deal_of_a_deck_with_loops(deck):
    seen = {"finished": 0, "loop": 0}
    for cards in set(itertools.permutations(deck)):
        for first in range(1, len(deck)):
            packets = "".join(cards[:first]), "".join(cards[first:])
            for leader, next_leader in itertools.product((1, 2), ("winner", "payer")):
                rules = Rules("test", next_leader=next_leader)
                for distinct in ("none", "plain", "all"):
                    outcome = both(Deal(packets, leader), rules, distinct=distinct)
                    seen[outcome.status] += 1
    assert seen["loop"] > 0
    assert seen["finished"] > 0


@given(
    st.lists(st.text("-JQKA", max_size=14), min_size=2, max_size=2).filter(any),
    st.integers(1, 2),
    st.tuples(*[st.integers(0, 15)] * 4),
    st.sampled_from(["winner", "payer"]),
    st.sampled_from(["none", "plain", "all"]),
    st.none() | st.integers(1, 50),
)
@settings(max_examples=500, deadline=None)
def test_engines_agree_on_any_shape(packets, leader, penalties, next_leader, distinct, limit):
    rules = Rules("test", penalties=penalties, next_leader=next_leader, max_tricks=limit)
    both(Deal(tuple(packets), leader), rules, distinct=distinct)


def test_engines_agree_on_standard_deals():
    for deal in random_deals(STANDARD52, 3, 0, 1_500):
        both(deal, Rules())
    for deal in random_deals(CAMICIA40, 3, 0, 500):
        both(deal, Rules(next_leader="payer"))


@pytest.mark.parametrize("deal", LOOPS, ids=str)
def test_limit_is_never_a_loop(deal):
    full = play(deal)
    for limit in (1, full.transient_tricks + 1, full.tricks - 1, full.tricks, full.tricks + 1):
        outcome = both(deal, Rules(), max_tricks=limit)
        assert outcome.status == ("loop" if limit >= full.tricks else "unknown")
        assert outcome.tricks == min(limit, full.tricks)
    for limit in (full.cards - full.cycle_cards // 2, full.cards, full.cards + 1):
        outcome = both(deal, Rules(max_cards=limit))
        assert outcome.status == ("loop" if limit >= full.cards else "unknown")


@pytest.mark.parametrize("distinct", ["plain", "all"])
@pytest.mark.parametrize("deal", LOOPS[::6], ids=str)
def test_cards_told_apart(deal, distinct):
    alike, apart = play(deal), play(deal, distinct=distinct)
    assert apart.transient_tricks == alike.transient_tricks
    assert apart.cycle_tricks % (alike.cycle_tricks // 2 if alike.mirror else 1) == 0
    if apart.tricks < 30_000:
        both(deal, Rules(), distinct=distinct)
    for limit in (alike.tricks, alike.tricks + 1, 3 * alike.tricks + 2):
        both(deal, Rules(max_tricks=limit), distinct=distinct)
        both(deal, Rules(max_cards=7 * limit), distinct=distinct)


def test_published_figures_of_the_first_infinite_deal():
    outcome = play(CASELLA)
    assert (outcome.transient_cards, outcome.transient_tricks) == (34, 4)
    assert (outcome.cycle_cards, outcome.cycle_tricks) == (440, 62)
    plain = play(CASELLA, distinct="plain")
    assert (plain.cards, plain.tricks) == (33_034, 4_654)


def test_the_leader_is_part_of_a_position():
    assert both(Deal.parse("----J-/J"), Rules()).status == "finished"
    assert both(Deal.parse("---J/-J-"), Rules()).cards == 21


def test_last_card_is_a_pay_card():
    # Player 1 lays a jack, the last card, and player 2 pays: player 1 is still in.
    outcome = both(Deal.parse("J/----"), Rules())
    assert (outcome.cards, outcome.tricks, outcome.winner) == (8, 3, 1)
    assert next(iter(reference.trace(Deal.parse("J/----")))).sizes == (0, 4)
    # Both packets are empty with a debt open: the player called on loses.
    assert both(Deal.parse("-/K"), Rules()).winner == 2
    assert both(Deal.parse("J/Q"), Rules()).winner == 2


def test_positions_with_an_empty_packet_are_over():
    for deal, winner in ((Deal(("", "J-")), 2), (Deal(("-", ""), 2), 1)):
        outcome = both(deal, Rules())
        assert (outcome.status, outcome.winner, outcome.cards, outcome.tricks) == (
            "finished",
            winner,
            0,
            0,
        )
        assert outcome.counting.until_called == (0, 0)


def test_cards_are_conserved_and_every_position_replays_the_rest():
    rng = random.Random(7)
    deals = [Deal.parse(CASELLA), *random_deals(STANDARD52, 11, 0, 20)]
    deals += [odd_deal(rng, 40) for _ in range(60)]
    for deal in deals:
        rules = Rules(next_leader=rng.choice(["winner", "payer"]))
        total = play(deal, rules)
        game = reference.Game(deal, rules)
        while game.winner is None and game.tricks < min(total.tricks, 80):
            position = game.deal()
            assert position.counts() == deal.counts()
            rest = both(position, rules)
            assert rest.status == total.status
            if total.status == "finished":
                assert rest.cards == total.cards - game.cards
                assert rest.tricks == total.tricks - game.tricks
                assert rest.winner == total.winner
            elif game.tricks >= total.transient_tricks:
                assert rest.transient_tricks == 0
                assert rest.cycle_cards == total.cycle_cards
            else:
                assert rest.transient_cards == total.transient_cards - game.cards
            game.play_trick()


def test_exchanging_the_players_exchanges_the_outcome():
    rng = random.Random(5)
    for _ in range(500):
        deal, rules = odd_deal(rng, 16), replace(odd_rules(rng), on_limit="none")
        one, other = play(deal, rules), play(deal.exchanged(), rules)
        assert other.winner == (one.winner and 3 - one.winner)
        assert replace(other, deal=deal, winner=one.winner) == one


def test_huge_and_tiny_packets():
    both(Deal.parse("-/-"), Rules())
    rng = random.Random(1)
    for size in (64, 65, 255, 256, 257, 1000):
        cards = rng.choices("-JQKA", [9, 1, 1, 1, 1], k=2 * size)
        both(Deal(("".join(cards[:size]), "".join(cards[size:]))), Rules(max_tricks=20_000))


def test_play_refuses_unknown_words():
    with pytest.raises(BmnError, match="engine 'quick'"):
        play("J/-", engine="quick")
    with pytest.raises(BmnError, match="distinct 'some'"):
        play("J/-", distinct="some")
    with pytest.raises(BmnError, match="rules 'house' are unknown"):
        play("J/-", "house")
    with pytest.raises(BmnError, match="max_tricks 0"):
        play("J/-", max_tricks=0)
