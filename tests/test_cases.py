"""The public cases: deals whose outcomes other people have published or found with us."""

import pytest
from conftest import CASES, case_deal

from bmn_search import Deal, Deck, play
from bmn_search.deal import CAMICIA40, HALF20, STANDARD52, split_uva

NAMES = [f"{number}-{case['source']}-{case['name']}" for number, case in enumerate(CASES)]
INDEXED = [case for case in CASES if "deal_index" in case or "deal_rank" in case]


def test_there_are_all_of_them():
    assert len(CASES) == 144
    assert len(INDEXED) == 88


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_outcome(case, engine):
    distinct = "plain" if case.get("identity") else "none"
    outcome = play(case_deal(case), distinct=distinct, engine=engine).as_dict()
    assert outcome["engine"] == engine
    for key, expected in case["expected"].items():
        assert outcome[key] == expected, key
    if "alternate_counts" in case:
        counting, alternate = outcome["counting"], case["alternate_counts"]
        assert counting["until_called"]["cards"] == alternate["cards_if_played_until_called"]
        assert counting["completed_tricks"]["tricks"] == alternate["tricks_completed_only"]
    if "swapped_cycle" in case:
        assert outcome["mirror"]
        assert outcome["cycle_cards"] == 2 * case["swapped_cycle"]["cards"]
        assert outcome["cycle_tricks"] == 2 * case["swapped_cycle"]["tricks"]


@pytest.mark.parametrize(
    "case", INDEXED, ids=lambda case: str(case.get("deal_index", case.get("deal_rank")))
)
def test_index(case):
    deal = case_deal(case)
    index = int(case.get("deal_index", case.get("deal_rank")))
    deck = {52: STANDARD52, 40: CAMICIA40, 20: HALF20}[deal.size]
    assert deck.index(deal) == index
    assert deck.deal_at(index) == deal
    assert Deck.of(deal) is deck


@pytest.mark.parametrize(
    "case", [case for case in CASES if "digits" in case], ids=lambda c: c["digits"]
)
def test_digits(case):
    assert Deal.parse(case["digits"], notation="digits") == case_deal(case)
    assert case_deal(case).text("digits").replace("/", "") == case["digits"]


def test_uva_sample():
    (case,) = (case for case in CASES if "raw" in case)
    deal = case_deal(case)
    for text, decks in ((case["raw"] + "\n#\n", 1), (case["raw"] + "\n" + case["raw"], 2)):
        assert [Deal.parse_uva(deck) for deck in split_uva(text)] == [deal] * decks
    # "1 44": the dealer, our player 2, wins with 44 cards in hand; the rest lie on the table.
    outcome = play(deal)
    assert outcome.winner == 2
    assert case["uva_output"] == "1 44"
