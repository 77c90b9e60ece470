"""Files of records: whatever is done to a line, it is refused or found false, in one clear line."""

import copy
import json
import math
import os
from dataclasses import replace

import pytest

from bmn_search import Deck, Rules
from bmn_search.errors import RecordError
from bmn_search.exhaustive import check, record_of
from bmn_search.record_files import check_enterable, enter, read_records
from bmn_search.search import runner
from bmn_search.search.exhaust import Exhaust
from bmn_search.store import Store

ODD = Rules("odd", penalties=(1, 2, 0, 4), next_leader="payer")


def made(spec, rules, games):
    plan = Exhaust(Deck.parse(spec), rules, games=games)
    with Store(":memory:") as store:
        entered = store.begin(plan)
        runner.run(plan, store, entered, runner.Limits(chunks=plan.chunks), workers=1)
        return record_of(store, plan.numbering, rules)


@pytest.fixture(scope="module")
def record():
    return made("9-,3J", Rules(), 100)


@pytest.fixture(scope="module")
def odd_record():
    return made("4-,1J,1Q,1K,1A", ODD, 1_000)


def values(value):
    """Yield JSON values that are not this one: of every type, near it and far from it."""
    yield from (None, True, False, 0, 1, -1, 0.5, 10**30, 10**60, 2**63, "", "x", "\n\0", "x" * 999)
    yield from (math.inf, -math.inf, math.nan, [], {}, [1], {"a": 1})
    if type(value) is int:
        yield from (value + 1, value - 1, -value, value * 2, float(value), str(value))
    if type(value) is str:
        yield from (value + " ", value.swapcase() + "?", value[::-1], [value], value * 2)


def places(value, path=()):
    """Yield every value of a document, with the way there; of a long list, some."""
    yield path, value
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    if isinstance(value, list):
        for at in sorted({*range(len(value))[:3], *range(len(value))[-3:], len(value) // 2}):
            if at < len(value):
                yield from places(value[at], (*path, at))


def put(document, path, value):
    if not path:
        return value
    document = copy.deepcopy(document)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return document


def other_lists(items):
    """Yield lists with one element dropped, doubled, or exchanged for another; and reversed."""
    for at in {0, len(items) // 2, len(items) - 1} if items else ():
        yield items[:at] + items[at + 1 :]
        yield items[: at + 1] + items[at:]
        exchanged = items.copy()
        exchanged[at], exchanged[0] = exchanged[0], exchanged[at]
        yield exchanged
    yield items[::-1]
    yield [*items, 0]


def changes(document):
    """Yield what was done to a document, and the text of the line."""
    for path, value in places(document):
        for other in values(value):
            yield (path, other), json.dumps(put(document, path, other))
        if isinstance(value, list):
            for other in other_lists(value):
                yield (path, other), json.dumps(put(document, path, other))
        if isinstance(value, dict):
            for key in value:
                less = {name: value[name] for name in value if name != key}
                yield (path, "without", key), json.dumps(put(document, path, less))
                twice = json.dumps(value)[:-1] + f", {json.dumps(key)}: {json.dumps(value[key])}}}"
                text = json.dumps(put(document, path, "HERE")).replace('"HERE"', twice)
                yield (path, "twice", key), text
            yield (path, "more"), json.dumps(put(document, path, value | {"more": 1}))


def plausible(value):
    return type(value) is str or (type(value) is int and value > 1_000)


def verdict(path):
    """Return the complaint about the one line of a file, or what is wrong with its record."""
    complaints = []
    (*found,) = read_records(path, complaints.append)
    problems = check(found[0], 100, 0) if found else []
    return [*map(str, complaints), *problems]


class TestReading:
    @pytest.mark.parametrize("which", ["record", "odd_record"])
    def test_every_change_is_found(self, which, request, tmp_path):
        document = json.loads(json.dumps(request.getfixturevalue(which).document()))
        path = tmp_path / "records"
        path.write_text(json.dumps(document))
        assert verdict(path) == []
        # What rules of one's own are called determines nothing, nor does a limit that no game
        # reaches.
        free = {("rules", field) for field in ("name", "title", "max_tricks", "max_cards")}
        seen = 0
        for change, text in changes(document):
            if text == json.dumps(document) or (change[0] in free and plausible(change[1])):
                continue
            path.write_text(text)
            told = verdict(path)
            assert 1 <= len(told) <= 4, change
            assert all("\n" not in line and len(line) < 500 for line in told), (change, told)
            seen += 1
        assert seen > 1_000

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "holds no records"),
            ("\n \n", "holds no records"),
            ("garbage", "1: is no record: expected a JSON document"),
            ("[" * 100_000, "expected a JSON document: it is nested too deeply"),
            ("9" * 5_000, "a number has 5,000 digits"),
            ("[]", r"it is \[\]: expected an object of deck, rules"),
            ("{}", "it has no field deck"),
            ("\n{}", ":2: is no record"),
            ("Infinity", "Infinity is no number of JSON"),
        ],
    )
    def test_texts_that_are_no_records(self, text, told, tmp_path):
        path = tmp_path / "records"
        path.write_text(text)
        with pytest.raises(RecordError, match=told):
            read_records(path)

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"deck": "70-,1J"}, "expected at most 64"),
            ({"deck": "9-, 3J"}, 'deck is "9-, 3J": expected 9-,3J'),
            ({"loops": [0.0]}, "loops has 0.0: expected a whole number from 0"),
            ({"deals": True}, "deals has true: expected a whole number"),
            ({"all_splits": 0}, "all_splits is 0: expected true or false"),
            ({"chunks": [[0, 220, 21]]}, "a chunk is .*expected first, end, loops, checksum"),
            ({"rules": "bogus"}, "rules 'bogus' are unknown"),
            ({"longest_cards": False}, "longest_cards is false: expected an object of number"),
        ],
    )
    def test_fields_that_are_none(self, record, fields, told, tmp_path):
        path = tmp_path / "records"
        path.write_text(json.dumps(record.document() | fields))
        with pytest.raises(RecordError, match=told):
            read_records(path)

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"players": 3, "out_of_cards": "debt-passes"}, "rules are for 3 players: expected 2"),
            ({"penalties": [1.0, 2, 0, 4]}, "rules.penalties has 1.0: expected a whole number"),
            ({"penalties": [99, 2, 0, 4]}, "penalty 99 of J is out of range"),
            ({"max_tricks": "9"}, "rules.max_tricks has"),
            ({"name": 5}, "rules.name is 5: expected a text"),
            ({"name": "standard"}, "rules are not those named standard"),
            ({"next_leader": "both"}, "next_leader 'both' is unknown"),
            (
                {"name": "standard", "penalties": [1, 2, 3, 4], "next_leader": "winner"},
                "rules are those named standard: expected the name alone",
            ),
        ],
    )
    def test_rules_that_are_none(self, odd_record, fields, told, tmp_path):
        document = odd_record.document()
        path = tmp_path / "records"
        path.write_text(json.dumps(document | {"rules": document["rules"] | fields}))
        with pytest.raises(RecordError, match=told):
            read_records(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(RecordError, match="cannot be read: No such file or directory"):
            read_records(tmp_path / "nowhere")
        (tmp_path / "bytes").write_bytes(b"\xff\xfe")
        with pytest.raises(RecordError, match="is no text file"):
            read_records(tmp_path / "bytes")


class TestEntering:
    def test_it_replaces_the_same_record_only(self, record, odd_record, tmp_path):
        path = tmp_path / "folder" / "records"
        for one in (record, odd_record, replace(record, infinite=9), record):
            enter(path, one)
        found = read_records(path)
        assert found == sorted([record, odd_record], key=lambda one: one.key)
        assert [one.line for one in found] == [1, 2]
        assert os.listdir(path.parent) == ["records"]

    def test_nothing_is_lost_when_it_fails(self, record, odd_record, tmp_path, monkeypatch):
        path = tmp_path / "records"
        enter(path, record)
        before = path.read_text()

        def full(number):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(RecordError, match="cannot be written: No space left"):
            enter(path, odd_record)
        assert path.read_text() == before
        assert os.listdir(tmp_path) == ["records"]

    def test_a_link_and_the_mode_stay(self, record, tmp_path):
        path, link = tmp_path / "records", tmp_path / "link"
        path.touch(0o640)
        link.symlink_to(path)
        enter(link, record)
        assert link.is_symlink()
        assert read_records(path) == [record]
        assert path.stat().st_mode & 0o777 == 0o640

    def test_what_could_not_be_read_again_is_not_written(self, record, tmp_path):
        path = tmp_path / "records"
        with pytest.raises(RecordError, match="rules are not those named standard"):
            enter(path, replace(record, rules=Rules(next_leader="payer")))
        assert not path.exists()

    def test_what_holds_something_else_is_refused(self, record, tmp_path):
        path = tmp_path / "records"
        text = json.dumps(record.document() | {"loops": [math.inf]})
        path.write_text(text)
        for act in (check_enterable, lambda path: enter(path, record)):
            with pytest.raises(RecordError, match=":1: is no record: Infinity"):
                act(path)
        assert path.read_text() == text
        check_enterable(tmp_path / "new")


class TestVerify:
    def test_every_line_is_done(self, record, odd_record, tmp_path, bmn):
        path = tmp_path / "records"
        good, false = record.document(), odd_record.document() | {"infinite": 9}
        path.write_text("\n".join(map(json.dumps, (false, {}, good))))
        done = bmn("verify", "--exhaustive", str(path), check=2)
        assert done.stderr.startswith(f"bmn: {path}:2: is no record: it has no field deck")
        assert done.stderr.count("\n") == 1
        assert "NO   line 1: 4-,1J,1Q,1K,1A (odd rules)" in done.stdout
        assert "9 deals never end:" in done.stdout
        assert "yes  9-,3J (standard rules): 220 deals, 21 never end" in done.stdout
        path.write_text("\n".join(map(json.dumps, (good, false))))
        done = bmn("verify", "--exhaustive", str(path), "--json", check=1)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(one["line"], one["agrees"]) for one in told] == [(1, True), (2, False)]

    def test_a_record_twice(self, record, tmp_path, bmn):
        path = tmp_path / "records"
        path.write_text(2 * (json.dumps(record.document()) + "\n"))
        told = bmn("verify", "--exhaustive", str(path), check=2).stderr
        assert ":2: is no record: the same deck, rules and splits are in line 1" in told

    def test_a_file_without_records(self, tmp_path, bmn):
        path = tmp_path / "records"
        path.touch()
        assert "holds no records" in bmn("verify", "--exhaustive", str(path), check=2).stderr
        assert "cannot be read" in bmn("verify", "--exhaustive", "nowhere", check=2).stderr

    @pytest.mark.parametrize(
        "fields",
        [{"deals": 221}, {"infinite": 20}, {"all_splits": True}, {"loops": []}, {"deck": "8-,4J"}],
    )
    def test_what_is_false_is_no_bad_input(self, record, fields, tmp_path, bmn):
        path = tmp_path / "records"
        path.write_text(json.dumps(record.document() | fields))
        bmn("verify", "--exhaustive", str(path), check=1)
