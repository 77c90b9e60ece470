"""Reading, writing, checking and numbering deals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmn_search import Deal, Deck
from bmn_search.deal import CAMICIA40, DECKS, HALF20, MOST_CARDS, STANDARD52, split_uva
from bmn_search.errors import BmnError, DealError, DeckError

PACKET = st.text("-JQKA", min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        (["-J/--"], {}, "-J/--"),
        (["-J | --"], {}, "-J/--"),
        (["-J", "--"], {}, "-J/--"),
        (["-J/--/Q"], {}, "-J/--/Q"),
        (["-J--"], {}, "-J/--"),
        (["-J-Q-"], {}, "-J-/Q-"),
        (["-J-Q"], {"split": "alternate"}, "--/JQ"),
        (["-J-QK"], {"split": "alternate", "players": 3}, "-Q/JK/-"),
        (["JQKA-"], {"players": 3}, "JQ/KA/-"),
        (["JQKA-"], {"players": 3, "aside": True}, "J/Q/K"),
        (["J-Q/-A"], {"order": "last-first"}, "Q-J/A-"),
        ([".2 3 10T/jqka"], {}, "-----/JQKA"),
        (["210/J"], {}, "--/J"),
        (["H2 10S QC/c j"], {"repeats": True}, None),
        (["H2 10S QC/cj"], {}, "--Q/J"),
        (["h2s10/3D10D"], {}, "--/--"),
        (["A♠ ♥K; 7♦,♣2/Q♡"], {}, "AK--/Q"),
        (["0123/4"], {"notation": "digits"}, "-JQK/A"),
        (["J/-"], {"leader": 2}, "J/- leader=2"),
        (["J/- leader=2"], {}, "J/- leader=2"),
        (["J- leader 2"], {}, "J/- leader=2"),
        (["J", "- leader=2"], {}, "J/- leader=2"),
    ],
)
def test_parse(arguments, options, text):
    if text is None:
        with pytest.raises(DealError):
            Deal.parse(*arguments, **options)
    else:
        assert str(Deal.parse(*arguments, **options)) == text


@pytest.mark.parametrize(
    ("arguments", "options", "parts"),
    [
        (["-J/-x-"], {}, ["'x'", "position 2", "packet 2", "JQKA".replace("", " ").strip()]),
        (["--1-"], {}, ["'1'", "position 3", "digits"]),
        (["0123"], {}, ["'0'", "position 1", "digits"]),
        (["0153/1"], {"notation": "digits"}, ["'5'", "position 3", "packet 1", "0 1 2 3 4"]),
        (["H2 S3/1H"], {}, ["'1'", "position 1", "packet 2"]),
        (["H2S/J"], {}, ["position 3"]),
        (["/J"], {}, ["packet 1 is empty"]),
        (["J/"], {}, ["packet 2 is empty"]),
        ([""], {}, ["packet 1 is empty"]),
        (["J"], {}, ["packet 2 is empty"]),
        (["H2/2H"], {}, ["card H2 stands twice"]),
        (["J/-"], {"leader": 3}, ["leader 3", "1 to 2"]),
        (["J/-"], {"leader": 0}, ["leader 0"]),
        (["J-"], {"players": 1}, ["to 1 players"]),
        (["J-"], {"players": 10**20}, ["2 cards cannot be dealt"]),
        (["J/-"], {"notation": "runes"}, ["'runes'", "ranks, digits"]),
        (["J/-"], {"split": "thrice"}, ["'thrice'"]),
        (["J/-"], {"order": "sideways"}, ["'sideways'"]),
    ],
)
def test_parse_errors_say_what_and_where(arguments, options, parts):
    with pytest.raises(DealError) as caught:
        Deal.parse(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_construction_is_checked():
    for packets in [("J",), ("", ""), ("-x", "J"), ("2", "J")]:
        with pytest.raises(DealError):
            Deal(packets)


@given(
    st.text(max_size=60),
    st.sampled_from(["ranks", "digits"]),
    st.sampled_from(["half", "alternate"]),
)
def test_any_text_is_read_or_refused_in_one_line(text, notation, split):
    try:
        deal = Deal.parse(text, notation=notation, split=split)
    except BmnError as error:
        assert str(error)
        assert len(str(error).splitlines()) == 1
    else:
        assert Deal.parse(str(deal)) == deal


@given(st.text("-.JQKAT2345678910HDCS/| ,jqka♥", max_size=60))
def test_card_like_text_is_read_or_refused(text):
    try:
        deal = Deal.parse(text, repeats=True)
    except DealError:
        return
    assert len(deal.packets) >= 2
    assert all(deal.packets)


@given(st.lists(PACKET, min_size=2, max_size=4), st.data())
def test_text_round_trip(packets, data):
    leader = data.draw(st.integers(1, len(packets)))
    deal = Deal(tuple(packets), leader)
    assert Deal.parse(str(deal)) == deal
    assert Deal.parse(deal.text("digits"), notation="digits") == deal
    assert deal.exchanged().exchanged() == deal


def test_numbers_of_deals():
    assert STANDARD52.deals == 653_534_134_886_878_245_000
    assert CAMICIA40.deals == 193_584_473_082_000
    assert HALF20.deals == 3_488_400


def test_index_runs_over_every_deal_in_order():
    deck = Deck.parse("3-,1J,2A")
    deals = [deck.deal_at(index) for index in range(deck.deals)]
    order = {symbol: place for place, (symbol, _) in enumerate(deck.counts)}
    keys = [[order[symbol] for symbol in "".join(deal.packets)] for deal in deals]
    assert keys == sorted(keys)
    assert len(set(deals)) == deck.deals == 60
    assert [deck.index(deal) for deal in deals] == list(range(60))


@pytest.mark.parametrize(
    "deck", [*DECKS.values(), Deck.parse("5-,3K,1Q"), Deck.parse("200-,50J,50A")], ids=str
)
@given(data=st.data())
def test_index_round_trip(deck, data):
    index = data.draw(st.integers(0, deck.deals - 1))
    deal = deck.deal_at(index)
    deck.check(deal)
    assert deck.index(deal) == index


def test_index_ends():
    assert str(STANDARD52.deal_at(0)) == "AAAAKKKKQQQQJJJJ----------/" + "-" * 26
    assert str(STANDARD52.deal_at(STANDARD52.deals - 1)) == "-" * 26 + "/----------JJJJQQQQKKKKAAAA"
    for index in (-1, STANDARD52.deals):
        with pytest.raises(DeckError, match="out of range"):
            STANDARD52.deal_at(index)


def test_only_balanced_deals_led_by_player_one_have_an_index():
    deck = Deck.parse("3-,1J")
    assert deck.sizes == (2, 2)
    assert Deck.parse("3-,2J").sizes == (3, 2)
    for deal in (Deal(("---", "J")), Deal(("--", "-J"), 2)):
        with pytest.raises(DealError, match="has no number"):
            deck.index(deal)


def test_composition_is_checked():
    good = STANDARD52.deal_at(12345)
    assert Deck.of(good) is STANDARD52
    bad = Deal((good.packets[0].replace("A", "K", 1), good.packets[1]))
    with pytest.raises(DealError) as caught:
        STANDARD52.check(bad)
    assert "missing: 1 A" in str(caught.value)
    assert "too many: 1 K" in str(caught.value)
    with pytest.raises(DealError, match="nearest|no named deck") as caught:
        Deck.of(bad)
    assert "standard52" in str(caught.value)
    with pytest.raises(DealError, match="it has 2-,1J, far from standard52"):
        Deck.of(Deal.parse("J/--"))
    assert Deck.own(Deal.parse("J/--")).spec == "2-,1J"


def test_cards_set_aside():
    deal = STANDARD52.deal_at(10**20)
    cards = "".join(deal.packets)
    three = Deal.parse(cards, players=3, aside=True)
    assert [len(packet) for packet in three.packets] == [17, 17, 17]
    assert STANDARD52.fits(three, aside=True)
    assert not STANDARD52.fits(three)
    fewer = Deal((three.packets[0][1:], *three.packets[1:]))
    assert not STANDARD52.fits(fewer, aside=True)
    extra = Deal.parse(cards, players=3)
    assert [len(packet) for packet in extra.packets] == [18, 17, 17]
    assert STANDARD52.fits(extra)


@pytest.mark.parametrize(
    "text", ["", "nodeck", "3-,3-", "0J,3-", "3-,2X", "1-", "3-;2J", "J4,36-", f"{MOST_CARDS}-,1J"]
)
def test_deck_errors(text):
    with pytest.raises(DeckError):
        Deck.parse(text)


def test_uva_errors():
    with pytest.raises(DealError, match="3 cards: a UVa deck has 52"):
        Deal.parse_uva("H2 H3 H4")
    with pytest.raises(DealError, match="position 4 has no suit"):
        Deal.parse_uva("H2 J H4")
    assert split_uva("#") == []


def test_a_whole_deck_in_one_text():
    for text in ("J-/--", "J--/--", "J-/-- leader=2"):
        deal = Deal.parse(text)
        assert Deal.parse(deal.text(whole=True)) == deal
    for text in ("J/--", "J--/-", "J/-/-"):
        with pytest.raises(DealError, match="cannot be told from the deck in one text"):
            Deal.parse(text).text(whole=True)
