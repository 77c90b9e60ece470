"""The rule sheets: their worked examples with all intermediate counts, and their figures."""

import random
from math import comb

import numpy as np
import pytest

from bmn_search import Deal, Rules, play, reference, trace
from bmn_search.deal import STANDARD52
from bmn_search.engine import play_many, random_deals
from bmn_search.errors import RulesError
from bmn_search.rules import NAMED_RULES


def padded(first, second, sizes=(26, 26)):
    """Begin two packets with these real cards; the rest are plain."""
    deal = Deal.parse(f"{first} | {second}")
    return Deal(tuple(packet.ljust(n, "-") for packet, n in zip(deal.packets, sizes, strict=True)))


def table(deal, rules, cards):
    """List what happens while so many cards are laid, and what directly follows the last."""
    seen = []
    for event in trace(deal, rules):
        if event.action == "lays" and event.cards > cards:
            break
        seen.append(event)
    return seen


def takes(events):
    return [(event.player, event.table, event.sizes) for event in events if event.action == "takes"]


def test_how_to_play_ten_cards():
    # A: queen, ace, 10 4 6. B: 6, jack, 3 7 king. B takes the ten cards and leads.
    events = table(padded("Q A 10 4 6", "6 J 3 7 K"), Rules.named("how-to-play"), 11)
    laid = [event for event in events if event.action == "lays"]
    assert [event.player for event in laid] == [1, 2, 2, 1, 2, 2, 2, 1, 1, 1, 2]
    assert "".join(event.card for event in laid) == "Q-JA--K----"
    assert [event.debt for event in laid] == [2, 1, 1, 4, 3, 2, 3, 2, 1, 0, 0]
    assert [event.table for event in laid] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1]
    assert takes(events) == [(2, 10, (21, 31))]


def test_squarescores_alice_and_ben():
    # Three plain cards, then Ben's jack; Alice pays an eight: Ben takes 5. Alice, who paid, leads
    # a queen; Ben pays a two and a king; Alice a seven, a ten and an ace; Ben four plain cards.
    deal = padded("3 5 8 Q 7 10 A", "9 J 2 K 4 6 3 2")
    events = table(deal, Rules.named("squarescores"), 16)
    after = {event.cards: (event.sizes, event.table) for event in events if event.action == "lays"}
    assert takes(events) == [(2, 5, (23, 29)), (1, 10, (29, 23))]
    assert after[8] == ((22, 27), 3)
    assert after[11] == ((19, 27), 6)
    assert all(sum(event.sizes) + event.table == 52 for event in events if event.action == "lays")
    leads = [event.player for event in events if event.action == "lays" and event.table == 1]
    assert leads == [1, 1, 2]  # Alice; Alice, who paid; Ben, who paid


@pytest.mark.parametrize("name", ["full-rules", "how-to-play", "standard"])
def test_full_rules_anna_and_ben(name):
    # Anna's queen is paid with a five and a nine; she takes the three cards and leads again.
    events = table(padded("Q♥ 2", "5♠ 9♦"), Rules.named(name), 4)
    assert takes(events) == [(1, 3, (28, 24))]
    assert events[-1].player == 1
    # A queen, answered by a jack, an ace, a king, which is paid with 10, 4, 6: Ben takes ten.
    events = table(padded("Q A 10 4 6", "6 J 3 7 K"), Rules.named(name), 11)
    assert takes(events) == [(2, 10, (21, 31))]
    assert events[-1].player == 2


def test_selected_rules_anna_and_boris():
    # King; Boris pays a four and then a queen; Anna pays 8 and 9; Boris takes 5 and leads.
    events = table(padded("K♥ 8♦ 9♣", "4♣ Q♠"), Rules.named("selected-rules"), 6)
    laid = [event for event in events if event.action == "lays"]
    assert [event.debt for event in laid] == [3, 2, 2, 1, 0, 0]
    assert takes(events) == [(2, 5, (23, 29))]
    assert laid[-1].player == 2


def test_a_jack_on_the_second_card_of_an_ace_cancels_it():
    events = table(padded("A 2", "3 J"), Rules.named("selected-rules"), 4)
    assert [event.debt for event in events if event.action == "lays"] == [4, 3, 1, 0]
    assert takes(events) == [(2, 4, (24, 28))]


def test_how_often_payments_are_interrupted():
    # After one pay card is turned, 15 of the other 51 cards would interrupt a payment.
    def interrupted(demand):
        return 1 - comb(36, demand) / comb(51, demand)

    assert interrupted(1) == pytest.approx(1 / 3, abs=0.05)
    assert interrupted(4) == pytest.approx(4 / 5, abs=0.05)
    # The same, as it was played: the first pay card of 4,000 shuffled deals.
    paid = {"J": [0, 0], "A": [0, 0]}
    for deal in random_deals(STANDARD52, 1, 0, 4_000):
        pays = [event for event in table(deal, Rules(), 40) if event.action == "lays"]
        first = next(place for place, event in enumerate(pays) if event.card != "-")
        demand = {"J": 1, "Q": 2, "K": 3, "A": 4}[pays[first].card]
        if pays[first].card in paid:
            payment = [event.card for event in pays[first + 1 : first + 1 + demand]]
            paid[pays[first].card][set(payment) == {"-"}] += 1
    for card, demand in (("J", 1), ("A", 4)):
        broken, settled = paid[card]
        assert broken / (broken + settled) == pytest.approx(interrupted(demand), abs=0.05)


def test_lengths_and_the_first_leader():
    games = play_many(random_deals(STANDARD52, 2, 0, 100_000), Rules.named("standard"))
    assert np.median(games["cards"]) == pytest.approx(190, abs=4)
    assert (games["cards"] > 530).mean() == pytest.approx(0.10, abs=0.006)
    assert (games["winner"] == 1).mean() == pytest.approx(0.5, abs=0.01)


def test_verdicts_at_a_limit_and_at_a_repetition():
    loop = Deal.parse("J--/-J-")
    assert (play(loop).winner, play(loop).result) == (None, "none")
    sheet = play(loop, "selected-rules")
    assert (sheet.status, sheet.winner, sheet.result) == ("loop", None, "draw")
    # At the first repeat player 1 holds 2 of the 6 cards, or the other way round.
    most = play(loop, "how-to-play")
    game = reference.Game(loop, Rules())
    while game.tricks < most.tricks:
        game.play_trick()
    assert most.winner == game.sizes.index(max(game.sizes)) + 1
    assert most.result == "win"
    stopped = play("-J--/---", Rules(max_tricks=1, on_limit="most-cards"))
    assert (stopped.status, stopped.winner, stopped.result) == ("unknown", 1, "win")
    draw = play("-J--/----", Rules(max_tricks=1, on_limit="draw"))
    assert (draw.status, draw.winner, draw.result) == ("unknown", None, "draw")


def test_equal_counts_are_tied():
    rules = Rules(max_tricks=2, on_limit="most-cards")
    tied = []
    rng = random.Random(3)
    for _ in range(300):
        cards = list("-----JJQ")
        rng.shuffle(cards)
        deal = Deal(("".join(cards[:4]), "".join(cards[4:])))
        outcome = play(deal, rules)
        game = reference.Game(deal, rules)
        while game.winner is None and game.tricks < 2:
            game.play_trick()
        if outcome.status == "unknown" and game.sizes == (4, 4):
            tied.append(outcome)
    assert tied
    assert all((outcome.winner, outcome.result) == (None, "tie") for outcome in tied)


def test_how_to_play_stops_at_three_thousand_tricks():
    assert Rules.named("how-to-play").max_tricks == 3000


def test_no_ace():
    deal = Deal.parse("A-/--")
    assert play(deal).winner == 1
    assert play(deal, "no-ace") == play(deal, Rules("no-ace", penalties=(1, 2, 3, 0)))
    assert play(deal, "no-ace").cards == 4
    # A king as the last pay card of the deck: aces are plain while it is paid.
    assert takes(table(padded("K", "A A A"), Rules.named("no-ace"), 4)) == [(1, 4, (29, 23))]


class TestMorePlayers:
    def test_the_next_player_pays(self):
        rules = Rules.named("full-rules").for_players(3)
        deal = Deal(("Q----", "-J---", "-----"))
        events = table(deal, rules, 5)
        assert [(event.player, event.card) for event in events if event.action == "lays"] == [
            (1, "Q"),
            (2, "-"),
            (2, "J"),
            (3, "-"),
            (2, "-"),
        ]
        assert takes(events) == [(2, 4, (4, 7, 4))]

    def test_a_debt_passes_on(self):
        # Player 2 owes four and has one card; player 3 pays the other three.
        rules = Rules.named("full-rules").for_players(3)
        events = table(Deal(("A---", "-", "----")), rules, 5)
        assert [(event.action, event.player) for event in events] == [
            ("lays", 1),
            ("lays", 2),
            ("out", 2),
            ("lays", 3),
            ("lays", 3),
            ("lays", 3),
            ("takes", 1),
        ]
        assert events[-1].sizes == (8, 0, 1)

    def test_the_pile_goes_to_the_demander_as_it_stands(self):
        rules = Rules.named("squarescores").for_players(3)
        events = table(Deal(("A---", "-", "----")), rules, 2)
        assert [(event.action, event.player) for event in events] == [
            ("lays", 1),
            ("lays", 2),
            ("out", 2),
            ("takes", 1),
        ]
        assert events[-1].sizes == (5, 0, 4)
        # Player 2, who paid what there was, would lead; the next player who is in leads.
        following = next(
            event for event in trace(Deal(("A---", "-", "----")), rules) if event.cards == 3
        )
        assert following.player == 3

    def test_the_pay_cards_owner_without_cards_is_still_in(self):
        rules = Rules.named("full-rules").for_players(3)
        events = table(Deal(("J", "--", "--")), rules, 2)
        assert takes(events) == [(1, 2, (2, 1, 2))]

    def test_last_player_with_cards_wins(self):
        rng = random.Random(8)
        cards = list("".join(STANDARD52.deal_at(10**19).packets))
        for name, players in (("full-rules", 3), ("full-rules", 5), ("squarescores", 4)):
            rules = Rules.named(name).for_players(players)
            for _ in range(30):
                rng.shuffle(cards)
                aside = rules.spare_cards == "aside"
                deal = Deal.parse("".join(cards), players=players, aside=aside)
                outcome = play(deal, rules)
                assert outcome.engine == "reference"
                if outcome.status == "finished":
                    *_, last = trace(deal, rules)
                    assert last.sizes[outcome.winner - 1] == deal.size == sum(last.sizes)
                    assert last.cards == outcome.cards

    def test_with_two_players_the_three_fates_come_to_the_same(self):
        rng = random.Random(4)
        for _ in range(200):
            cards = rng.choices("-JQKA", [5, 1, 1, 1, 1], k=12)
            deal = Deal(("".join(cards[:6]), "".join(cards[6:])))
            ends = [
                play(deal, Rules(out_of_cards=fate), engine="reference").as_dict()
                for fate in ("loses", "pile-to-demander", "debt-passes")
            ]
            assert ends[0] == ends[1] == ends[2]

    def test_rules_for_two_are_refused_in_plain_words(self):
        with pytest.raises(RulesError, match="choose rules for more players"):
            play("J/-/Q")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"penalties": (1, 2, 3, 16)}, "penalty 16 of A"),
        ({"penalties": (1, 2, 3, -1)}, "penalty -1 of A"),
        ({"penalties": (1, 2, 3)}, "3 penalties"),
        ({"players": 1}, "1 players"),
        ({"max_tricks": 0}, "max_tricks 0"),
        ({"max_cards": -3}, "max_cards -3"),
        ({"next_leader": "dealer"}, "next_leader 'dealer'"),
        ({"out_of_cards": "borrows"}, "out_of_cards 'borrows'"),
        ({"spare_cards": "burnt"}, "spare_cards 'burnt'"),
        ({"on_limit": "coin"}, "on_limit 'coin'"),
        ({"on_repeat": "coin"}, "on_repeat 'coin'"),
    ],
)
def test_rules_are_checked(change, words):
    with pytest.raises(RulesError, match=words):
        Rules(**change)


def test_penalties_as_text():
    rules = Rules().with_penalties("A=0, j=15")
    assert rules.penalties == (15, 2, 3, 0)
    assert rules.name == "standard J=15,Q=2,K=3,A=0"
    assert Rules().with_penalties("A=4") == Rules()
    for text in ("", "A", "A=", "A=x", "B=1", "A=16", "A=-1", "A=0,,J=1"):
        with pytest.raises(RulesError):
            Rules().with_penalties(text)


def test_named_rules():
    assert set(NAMED_RULES) == {
        "standard",
        "how-to-play",
        "squarescores",
        "full-rules",
        "selected-rules",
        "no-ace",
        "camicia",
    }
    assert all(rules.name == name for name, rules in NAMED_RULES.items())
