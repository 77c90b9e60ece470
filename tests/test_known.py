"""Known deals: those that come with the package, and files of one's own."""

import pytest
from conftest import CASES, ROOT

from bmn_search import known_deals, play, verify
from bmn_search.errors import KnownDealError
from bmn_search.known import CONVENTIONS, read_known

RECORD = "---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---"
MIRROR = "--K-Q-Q-K-KJ-----KJ-/--J--Q----Q-------J-"


def one(text):
    (record,) = read_known(text, "mine.txt")
    return verify(record)


def test_every_shipped_claim_holds():
    records = known_deals()
    assert records[0].name == "Casella 2024"
    assert "2403.13855" in records[0].source
    results = [verify(record) for record in records]
    assert all(result.agrees and result.engines_agree for result in results)
    assert all(record.source for record in records)
    longest = max(result.outcome.cards for result in results if result.outcome.status == "finished")
    assert longest == 8344


def test_the_records_and_all_infinite_camicia_cases_are_shipped():
    shipped = {str(record.deal) for record in known_deals()}
    for case in CASES:
        if case["deck"] == "camicia40" or case["source"] in ("beggarmypython", "boinc-camicia"):
            deal = f"{case['player1']}/{case['player2']}"
            assert deal in shipped or case["name"] == "First index", case["name"]


@pytest.mark.parametrize(
    ("claim", "convention"),
    [
        ("cards: 8344\ntricks: 1164\nwinner: 2\nstatus: finished", "standard"),
        ("cards: 8345", "until_called"),
        ("cards: 8345\ntricks: 1165", "until_called"),
        ("cards: 8345\ntricks: 1164", "until_called, completed_tricks"),
        ("tricks: 1163", None),
        ("cards: 8343", None),
        ("cards: 8344\nwinner: 1", None),
        ("status: loop", None),
        ("cycle_tricks: 5", None),
    ],
)
def test_conventions_of_a_finished_game(claim, convention):
    result = one(f"deal: {RECORD}\n{claim}\n")
    assert result.convention == convention
    assert result.agrees == (convention is not None)
    if convention and convention != "standard":
        assert CONVENTIONS[convention] in result.remark
    if convention is None:
        assert "claimed" in result.remark
        assert "computed" in result.remark


def test_an_unfinished_last_pile():
    deal = "-J------Q------AAA-----QQ-/K----JA-----------KQ-K-JJK"
    result = one(f"deal: {deal}\ntricks: 1121\ncards: 7959\n")
    assert result.convention == "completed_tricks"
    assert result.remark.startswith("1121 tricks (1122 in ours)")


@pytest.mark.parametrize(
    ("claim", "convention"),
    [
        ("cards: 546\ntricks: 84\nmirror: true", "standard"),
        ("cycle_cards: 273\ncycle_tricks: 42", "players_exchanged"),
        ("cards: 273\ntricks: 42", "players_exchanged"),
        ("cards: 274", None),
        ("mirror: false", None),
    ],
)
def test_conventions_of_a_loop(claim, convention):
    assert one(f"deal: {MIRROR}\n{claim}\n").convention == convention


def test_plain_cards_told_apart():
    deal = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
    assert one(f"deal: {deal}\ncards: 33034\n").convention == "plain_distinct"
    assert one(f"deal: {deal}\ncards: 33034\ndistinct: plain\n").convention == "standard"


def test_rules_deck_and_notation_of_a_record():
    text = "deal: 0001/010\nnotation: digits\ndeck: 5-,2J\nrules: squarescores\nstatus: finished\n"
    (record,) = read_known(text)
    assert str(record.deal) == "---J/-J-"
    assert verify(record).outcome == play("---J/-J-", "squarescores")
    (record,) = read_known("deal: J/-\ndeck: any\npenalties: J=3\nstatus: finished\n")
    assert record.rules.penalties == (3, 2, 3, 4)


def test_comments_and_empty_lines(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text(
        f"# mine\n\n\nname: a\ndeal: {RECORD}\n# in between\ncards: 8344\n\n\ndeal: J/-\n"
        "deck: any\nstatus: finished"
    )
    first, second = known_deals(file)
    assert (first.name, first.line) == ("a", 4)
    assert (second.name, second.line) == ("J/-", 10)
    assert [record.name for record in known_deals(tmp_path)] == ["a", "J/-"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("deal J/-", 1, "expected 'key: value'"),
        ("deal: J/-\ndeck: any\ncards: many", 3, "expected a number"),
        ("deal: J/-\ndeck: any\ncards: -1", 3, "expected a number"),
        ("deal: J/-\ndeck: any\nstatus: endless", 3, "finished or loop"),
        ("deal: J/-\ndeck: any\ncard: 3", 3, "unknown key 'card'"),
        ("deal: J/-\ndeck: any", 1, "claims nothing"),
        ("cards: 3", 1, "no line 'deal: P1/P2'"),
        ("\ndeal: J/x\ncards: 3", 2, "'x' at position 1 of packet 2"),
        ("deal: J/-\ncards: 3", 1, "add a line 'deck: 1-,1J' or 'deck: any'"),
        ("deal: J/-\ncards: 3\ndeck: 5-", 3, "does not fit"),
        ("deal: J/-\ncards: 3\nrules: house", 3, "rules 'house' are unknown"),
        ("deal: J/-\ncards: 3\ndistinct: some", 3, "none or plain or all"),
        ("deal: J/-\ncards: 3\ncards: 4", 3, "stands twice"),
        ("deal: J/-/-\ndeck: any\ncards: 3", 1, "choose rules for more players"),
    ],
)
def test_errors_name_file_and_line(text, line, words):
    with pytest.raises(KnownDealError) as caught:
        list(read_known(text, "mine.txt"))
    assert str(caught.value).startswith(f"mine.txt:{line}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_record_does_not_hide_the_others():
    text = f"deal: {RECORD}\ncards: 8,344\n\nnonsense\n\ndeal: {MIRROR}\nstatus: loop\n"
    errors = []
    records = list(read_known(text, "mine.txt", errors.append))
    assert [verify(record).agrees for record in records] == [True, True]
    assert [str(error)[:11] for error in errors] == ["mine.txt:4:"]


def test_the_old_count_is_explained():
    result = one(f"deal: {RECORD}\ncards: 8346\n")
    assert not result.agrees
    assert "the call on an empty packet" in result.remark


def test_unreadable_files(tmp_path):
    with pytest.raises(KnownDealError, match="cannot be read"):
        known_deals(tmp_path / "nowhere.txt")
    with pytest.raises(KnownDealError, match="no deals found"):
        known_deals(tmp_path)
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KnownDealError, match="no text file"):
        known_deals(tmp_path / "binary.txt")


def test_every_shipped_file_says_where_it_comes_from():
    files = sorted((ROOT / "known_deals").glob("*.txt"))
    assert len(files) >= 6
    for file in files:
        assert file.read_text().startswith("# ")
