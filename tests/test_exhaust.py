"""Exhaustion: both ways of counting, ranges, records, and the table in the repository."""

import json
import random
import re
import shlex
import threading
from collections import Counter
from dataclasses import replace

import pytest
from conftest import ROOT, odd_rules

from bmn_search import Deal, Deck, Rules, play, play_many, world
from bmn_search.compiled import available_kernels
from bmn_search.deal import HALF20, STANDARD52
from bmn_search.errors import BmnError, DeckError, RecordError
from bmn_search.exhaustive import PRIME, Chunk, Longest, check, checksum, cycles_of, record_of
from bmn_search.histogram import histogram_of
from bmn_search.record_files import enter, read_records
from bmn_search.search import runner
from bmn_search.search.exhaust import UNTURNED, Exhaust, Numbering, _beginnings, usual_chunk
from bmn_search.search.strategy import Dropped
from bmn_search.store import Store

RESULTS = ROOT / "results" / "exhaustive.jsonl"
NEVER = threading.Event()


def counted(plan):
    """Return what a plan of one chunk gives, but for how many games were played."""
    result = plan.chunk(0, NEVER)
    return result.games, result.loops, result.histogram.tolist(), result.candidates


def by_the_reference(plan):
    """Return the same, deal by deal, in plain Python; candidates as by `fields`."""
    lengths, loops = Counter(), []
    best = {"cards": (0,), "tricks": (0,)}
    for order, number in enumerate(range(plan.first, plan.end)):
        outcome = play(plan.numbering.deal(number), plan.rules, engine="reference")
        found = (outcome.deal, outcome.cards, outcome.tricks, order)
        if outcome.status == "loop":
            loops.append(("loop", *found))
        if outcome.status != "finished":
            continue
        lengths[outcome.cards] += 1
        for key, longest in best.items():
            if getattr(outcome, key) > longest[0]:
                best[key] = (getattr(outcome, key), ("long", *found))
    histogram = [lengths[cards] for cards in range(max(lengths, default=-1) + 1)]
    long = dict.fromkeys(longest[1] for longest in best.values() if longest[0])
    return plan.end - plan.first, len(loops), histogram, [*long, *loops]


def fields(candidates):
    return [(c.kind, c.deal, c.cards, c.tricks, c.order) for c in candidates]


def odd_deck(rng, most):
    """Make a small deck with its symbols in any order."""
    while True:
        symbols = rng.sample("-JQKA", rng.randint(1, 5))
        spec = ",".join(f"{rng.choice([1, 1, 2, 3, 6])}{symbol}" for symbol in symbols)
        if spec[1:] not in symbols or spec[0] != "1":  # one card is no deck
            deck = Deck.parse(spec)
            if deck.deals <= most:
                return deck


def odd_range(rng, deals):
    first = rng.randrange(deals)
    return (first, rng.randint(first + 1, deals)) if rng.random() < 0.7 else (0, deals)


class TestCounting:
    def test_both_ways_against_the_reference_engine(self):
        rng = random.Random(1)
        seen = 0
        loopy = [Deck.parse(spec) for spec in ("10-,3J,1Q", "1Q,3J,9-", "2Q,8-,2A", "8-,3J,1K")]
        for turn in range(150):
            deck = rng.choice(loopy) if turn % 3 else odd_deck(rng, 3_000)
            rules, splits = odd_rules(rng), rng.random() < 0.4
            if rng.random() < 0.8:
                rules = replace(rules, max_tricks=None, max_cards=None)
            first, end = odd_range(rng, Numbering(deck, splits).deals)
            end = min(end, first + 200)
            plan = Exhaust(deck, rules, first, end, splits, share=False)
            games, loops, histogram, candidates = by_the_reference(plan)
            ways = [plan]
            if rules.max_tricks is None and rules.max_cards is None:
                ways.append(replace(plan, share=True))
            for way in ways:
                result = counted(way)
                assert result[:3] == (games, loops, histogram), (way, first, end)
                assert fields(result[3]) == candidates, way
            seen += loops
        assert seen > 20

    @pytest.mark.parametrize("kernel", available_kernels())
    def test_every_kernel(self, monkeypatch, kernel):
        plan = Exhaust(Deck.parse("10-,3J,1Q"), share=False)
        expected = counted(plan)
        monkeypatch.setenv("BMN_KERNEL", kernel)
        assert counted(plan) == counted(replace(plan, share=True)) == expected

    def test_ranges_anywhere_in_large_decks(self):
        rng = random.Random(2)
        decks = [STANDARD52, Deck.parse("48-,4A,4K,4Q,4J"), Deck.parse("4Q,55-,3A,2J")]
        for deck in [*decks, Deck.parse("32-,32J")]:
            for first in (0, rng.randrange(deck.deals), deck.deals - 800):
                plan = Exhaust(deck, Rules(), first, first + 800, share=False)
                rows = play_many(map(plan.numbering.deal, range(first, first + 800)))
                games, loops, histogram, candidates = counted(plan)
                assert (games, loops) == (800, (rows["status"] == 1).sum())
                assert histogram == histogram_of(rows).tolist()
                for found in candidates:
                    assert deck.index(found.deal) == first + found.order
                assert counted(replace(plan, share=True)) == counted(plan)

    def test_half20(self):
        plan = Exhaust(HALF20)
        result = plan.chunk(0, NEVER)
        assert (result.games, result.loops) == (3_488_400, 16)
        assert result.histogram.sum() == 3_488_400 - 16
        assert 5 * result.plays < result.games
        enumerated = replace(plan, share=False).chunk(0, NEVER)
        assert replace(enumerated, plays=0, histogram=None) == replace(
            result, plays=0, histogram=None
        )
        assert (enumerated.histogram == result.histogram).all()

    def test_chunks_and_order_do_not_matter(self):
        deck = Deck.parse("1Q,10-,3J")
        whole = Exhaust(deck).chunk(0, NEVER)
        for games, share in ((1_000, True), (777, False)):
            parts = Exhaust(deck, games=games, share=share)
            results = [parts.chunk(number, NEVER) for number in range(parts.chunks)]
            assert sum(result.games for result in results) == deck.deals
            assert sum(result.loops for result in results) == whole.loops > 0
            found = [one for result in results for one in result.candidates]
            loops = [one for one in found if one.kind == "loop"]
            assert loops == [one for one in whole.candidates if one.kind == "loop"]
            for key in ("cards", "tricks"):
                first = min(
                    (one for one in found if one.kind == "long"),
                    key=lambda one, key=key: (-getattr(one, key), one.order),
                )
                assert first in whole.candidates

    def test_beginnings_are_the_range(self):
        rng = random.Random(3)
        for _ in range(60):
            deck = odd_deck(rng, 2_000)
            first, end = odd_range(rng, deck.deals)
            rows = list(_beginnings(deck, first, end))
            deals = ["".join(deck.deal_at(index).packets) for index in range(deck.deals)]
            for index, cards in enumerate(deals):
                codes = ["-JQKA".index(card) for card in cards]
                fits = [
                    all(have in (want, UNTURNED) for want, have in zip(codes, row, strict=True))
                    for row in rows
                ]
                assert sum(fits) == (first <= index < end)

    def test_loops_that_backward_play_does_not_find_are_an_error(self, monkeypatch):
        monkeypatch.setattr(Exhaust, "_numbers_in", lambda self, piece, deals, rows: [0])
        with pytest.raises(
            runner.DisagreementError, match="46 were counted that never end, 1 found"
        ):
            Exhaust(Deck.parse("10-,3J,1Q"), share=True).chunk(0, NEVER)

    @pytest.mark.parametrize("spec", ["10-,3J,1Q", "2K,9-,2J", "7-,2J,2A"])
    @pytest.mark.parametrize("next_leader", ["winner", "payer"])
    def test_a_complete_world_says_the_same(self, spec, next_leader):
        deck, rules = Deck.parse(spec), Rules(next_leader=next_leader)
        result = Exhaust(deck, rules, all_splits=True).chunk(0, NEVER)
        found = world(deck, rules)
        assert (result.games, result.loops) == (found.positions, found.endless)
        long = [one.tricks for one in result.candidates if one.kind == "long"]
        assert max(long) == found.longest_tricks
        loops = [one.deal for one in result.candidates if one.kind == "loop"]
        assert len(cycles_of(loops, rules)) == len(found.basins)

    def test_numbers_of_all_splits(self):
        numbering = Numbering(Deck.parse("1K,2-,1J"), all_splits=True)
        deals = [numbering.deal(number) for number in range(numbering.deals)]
        assert len(set(deals)) == numbering.deals == 36
        assert [numbering.number(deal) for deal in deals] == list(range(36))
        assert [len(deal.packets[0]) for deal in deals] == [1] * 12 + [2] * 12 + [3] * 12

    def test_it_drops_a_chunk_when_told_to(self):
        stop = threading.Event()
        stop.set()
        for share in (True, False):
            with pytest.raises(Dropped):
                Exhaust(HALF20, share=share).chunk(0, stop)

    def test_what_is_usual(self):
        large = Deck.parse("16-,4J,4Q")
        assert Exhaust(HALF20).share
        assert not Exhaust(large).share
        assert not Exhaust(large, games=2**31 - 1).share  # sharing takes about 50 bytes a deal
        assert Exhaust(large, end=4_000_000, games=2**31 - 1).share
        assert usual_chunk(HALF20) == Exhaust.games == 4_000_000
        assert usual_chunk(Deck.parse("32-,32J")) == 1_000_000

    def test_what_is_refused(self):
        with pytest.raises(DeckError, match="has 65 cards: expected at most 64 to exhaust it"):
            Exhaust(Deck.parse("61-,4J"))
        for first, end in ((5, 5), (-1, 3), (0, 3_488_401), (3_488_400, None)):
            with pytest.raises(BmnError, match="no range of half20"):
                Exhaust(HALF20, first=first, end=end)
        with pytest.raises(BmnError, match="limit"):
            Exhaust(HALF20, Rules(max_tricks=9), share=True)
        with pytest.raises(BmnError, match="chunks of 0 deals"):
            Exhaust(HALF20, games=0)


DECK = "9-,2J,2Q,1K"  # 32 of 60,060 deals never end


@pytest.fixture
def exhaust(bmn, tmp_path):
    """Count a range of the deck into a file of finds."""

    def run(*arguments, db="finds", check=0):
        command = ("search", "exhaust", "--deck", DECK, "--db", str(tmp_path / db))
        return bmn(*command, "--workers", "1", *arguments, check=check)

    return run


def last(done):
    return json.loads(done.stdout.splitlines()[-1])


class TestCommand:
    def test_the_last_line(self, exhaust):
        lines = [json.loads(line) for line in exhaust("--json").stdout.splitlines()]
        end = lines[-1]
        assert (end["run"], end["strategy"], end["deals"]) == (1, "exhaust", 60_060)
        assert (end["games"], end["loops"], end["cycles"]) == (60_060, 32, 1)
        assert (end["longest_cards"], end["longest_tricks"]) == (174, 37)
        assert end["plays"] < end["deals"] / 5
        deck = Deck.parse(DECK)
        loops = [line for line in lines if line["kind"] == "loop"] if (lines := lines[:-1]) else []
        assert len(loops) == 32
        for line in loops:
            assert deck.index(Deal.parse(line["deal"])) == line["number"]
            assert line["cycle_tricks"]
            assert line["mirror"] in (True, False)
        (cycle,) = [line for line in lines if line["kind"] == "cycle"]
        assert cycle["deals"] == 32

    def test_ranges_of_several_machines(self, bmn, exhaust, tmp_path):
        record = tmp_path / "record.jsonl"
        exhaust("--from", "0", "--to", "20000")
        exhaust("--from", "40000", "--chunk", "7000", db="other")
        bmn("finds", "import", str(tmp_path / "other"), "--db", str(tmp_path / "finds"), check=0)
        told = exhaust("--from", "20000", "--to", "30000", "--record", str(record), check=2).stderr
        assert "deals 30,000 to 39,999 are not counted yet" in told
        assert not record.exists()
        exhaust("--from", "30000", "--to", "45000", db="overlap")
        bmn("finds", "import", str(tmp_path / "overlap"), "--db", str(tmp_path / "finds"), check=0)
        told = exhaust("--resume", "1", "--record", str(record), check=2).stderr
        assert "ranges overlap at deal 45,000" in told
        exhaust("--from", "30000", "--to", "40000", "--record", str(record))
        (made,) = read_records(record)
        whole = tmp_path / "whole.jsonl"
        exhaust("--record", str(whole), db="whole")
        (expected,) = read_records(whole)
        assert [chunk[:2] for chunk in made.chunks][:3] == [
            (0, 20_000),
            (20_000, 30_000),
            (30_000, 40_000),
        ]
        assert replace(made, chunks=expected.chunks) == expected
        bmn("verify", "--exhaustive", str(record), "--chunks", "9", check=0)

    def test_resuming(self, exhaust):
        begun = last(exhaust("--chunk", "5000", "--seconds", "0", "--json"))
        assert begun["games"] == 0
        assert begun["stopped"] == "limit"
        done = last(exhaust("--resume", "1", "--json"))
        assert (done["games"], done["stopped"], done["chunks"]) == (60_060, "done", 13)
        assert "has games 5000, not 6" in exhaust("--resume", "1", "--chunk", "6", check=2).stderr
        assert "has first 0, not 6" in exhaust("--resume", "1", "--from", "6", check=2).stderr

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ([], "no deck is named: expected --deck SPEC"),
            (["--deck", "65-"], "has 65 cards: expected at most 64"),
            (["--deck", "half20", "--from", "9", "--to", "9"], "deals 9 to 9 are no range"),
            (["--deck", "half20", "--share", "--rules", "how-to-play"], "have a limit"),
        ],
    )
    def test_bad_input(self, bmn, tmp_path, arguments, told):
        done = bmn("search", "exhaust", "--db", str(tmp_path / "x"), *arguments, check=2)
        assert told in done.stderr
        assert done.stderr.count("\n") == 1

    def test_what_is_refused_leaves_no_file(self, bmn, tmp_path):
        for arguments in (["--deck", "65-"], ["--deck", "half20", "--from", "9", "--to", "9"]):
            bmn("search", "exhaust", "--db", str(tmp_path / "x"), *arguments, check=2)
        path = tmp_path / "record"
        path.write_text("{}")
        arguments = ("--db", str(tmp_path / "x"), "--deck", DECK, "--record", str(path))
        assert "record:1: is no record" in bmn("search", "exhaust", *arguments, check=2).stderr
        assert list(tmp_path.iterdir()) == [path]

    def test_a_stopped_run_says_how_to_go_on(self, exhaust, bmn, tmp_path):
        record = tmp_path / "the record"
        done = exhaust("--chunk", "5000", "--seconds", "0", "--record", str(record), db="my finds")
        assert f"{record}: nothing is written: the run is not finished" in done.stderr
        assert not record.exists()
        (command,) = re.findall("go on with: bmn (.*)", done.stdout)
        assert "go on with" not in bmn(*shlex.split(command), check=0).stdout
        assert len(read_records(record)) == 1

    @pytest.mark.parametrize(
        "options",
        [
            (),
            ("--all-splits",),
            ("--rules", "squarescores", "--penalties", "J=0,A=9"),
            ("--penalties", "q=5"),
        ],
    )
    def test_the_command_for_a_hole_counts_it(self, bmn, tmp_path, options):
        db, record = tmp_path / "my finds", str(tmp_path / "record")
        arguments = ("--deck", "9-,3J", *options, "--db", str(db))
        bmn("search", "exhaust", *arguments, "--from", "150", check=0)
        told = bmn("search", "exhaust", *arguments, "--to", "7", "--record", record, check=2).stderr
        (command,) = re.findall(r"deals 7 to 149 are not counted yet: .* or bmn (.*)", told)
        bmn(*shlex.split(command), "--record", record, check=0)
        bmn("verify", "--exhaustive", record, check=0)

    def test_another_order_of_the_symbols_is_told(self, bmn, tmp_path):
        arguments = ("--db", str(tmp_path / "x"), "--record", str(tmp_path / "record"))
        bmn("search", "exhaust", "--deck", "3J,9-", "--from", "100", *arguments[:2], check=0)
        done = bmn("search", "exhaust", "--deck", "9-,3J", "--to", "100", *arguments, check=2)
        assert "(runs of 3J,9- number the same deals in another order" in done.stderr

    def test_rules_that_have_no_option(self, tmp_path):
        rules = Rules("mine", next_leader="payer")
        plan = Exhaust(Deck.parse("9-,3J"), rules, first=3)
        with Store(tmp_path / "x") as store:
            runner.run(plan, store, store.begin(plan), runner.Limits(chunks=1), workers=1)
            with pytest.raises(RecordError, match="deals 0 to 2 are .*: go on with the run$"):
                record_of(store, plan.numbering, rules)

    def test_one_of_a_thing(self, bmn, tmp_path):
        done = bmn("search", "exhaust", "--deck", "1J,1-", "--db", str(tmp_path / "x"), check=0)
        assert "longest   2 cards, 1 trick  " in done.stdout
        assert not re.search(r"\b1 (cards|tricks|games|deals|cycles)\b", done.stdout)

    def test_too_little_memory_is_told(self, bmn, tmp_path, monkeypatch):
        def full(self, number, stop):
            raise MemoryError

        monkeypatch.setattr(Exhaust, "chunk", full)
        done = bmn("search", "exhaust", "--deck", "9-,3J", "--db", str(tmp_path / "x"), check=2)
        assert done.stderr == "bmn: not enough memory: a smaller deck or --chunk needs less\n"

    def test_big_numbers(self, bmn, tmp_path):
        first = 472_460_898_658_889_399_000
        arguments = ("--deck", "standard52", "--from", str(first), "--to", str(first + 300))
        done = bmn("search", "exhaust", "--db", str(tmp_path / "x"), *arguments, "--json", check=0)
        loops = [json.loads(line) for line in done.stdout.splitlines() if '"loop"' in line]
        assert [line["number"] for line in loops if line["kind"] == "loop"] == [first + 111]


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Make the record of the deck, of seven chunks."""
    plan = Exhaust(Deck.parse(DECK), games=10_000)
    with Store(tmp_path_factory.mktemp("records") / "finds") as store:
        entered = store.begin(plan)
        runner.run(plan, store, entered, runner.Limits(chunks=plan.chunks), workers=1)
        return record_of(store, plan.numbering, plan.rules)


def exchanged(counts, one, other):
    """Exchange two counts that differ."""
    assert counts[one] != counts[other]
    counts = counts.copy()
    counts[one], counts[other] = counts[other], counts[one]
    return counts


def moved(chunks, much):
    """Change the checksums of the first two chunks and keep their sum."""
    one, other, *rest = chunks
    one = one._replace(checksum=(one.checksum + much) % PRIME)
    return [one, other._replace(checksum=(other.checksum - much) % PRIME), *rest]


class TestRecords:
    def test_it_holds(self, record, tmp_path):
        assert check(record, 7, 0) == []
        path = tmp_path / "folder" / "records"
        enter(path, record)
        enter(path, record)
        assert read_records(path) == [record]

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (lambda r: {"chunks": r.chunks[:2] + r.chunks[3:]}, "chunk 2 begins at deal 30,000"),
            (lambda r: {"chunks": r.chunks[:-1]}, "the chunks end at deal 60,000"),
            (lambda r: {"chunks": [*r.chunks, r.chunks[-1]]}, "chunk 7 begins at"),
            (lambda r: {"loops": r.loops[:-1]}, "32 deals never end: 31 are named"),
            (lambda r: {"loops": [*r.loops[:-1], 60_060]}, "there is no deal 60,060"),
            (lambda r: {"infinite": 33}, "33 deals never end: 32 are named"),
            (lambda r: {"deals": 60_061}, "60,061 deals: expected 60,060"),
            (lambda r: {"loops": [*r.loops[:-1], r.loops[-1] + 1]}, "is no loop: finished"),
            (lambda r: {"loops": [*r.loops[:-1], r.loops[-2]]}, "twice or out of order"),
            (lambda r: {"histogram": [1, *r.histogram[1:]]}, "expected 60,060"),
            (lambda r: {"cycles": []}, "other cycles"),
            (
                lambda r: {"cycles": [r.cycles[0]._replace(mirror=not r.cycles[0].mirror)]},
                "other cycles",
            ),
            (lambda r: {"by_cards": r.by_cards._replace(cards=175)}, "expected the histogram's"),
            (lambda r: {"by_tricks": r.by_tricks._replace(tricks=38)}, "is not as the record says"),
            (lambda r: {"by_tricks": r.by_cards}, "has a game that is longer"),
            (lambda r: {"by_tricks": None}, "games end, yet a longest one is missing"),
            (lambda r: {"by_cards": r.by_tricks}, "expected the histogram's last"),
            (lambda r: {"histogram": [*r.histogram, 0]}, "expected the histogram's last"),
            (
                lambda r: {"histogram": exchanged(r.histogram, 40, 41)},
                "the checksums of the chunks do not add up",
            ),
            (
                lambda r: {"chunks": [r.chunks[0]._replace(checksum=5), *r.chunks[1:]]},
                "the checksums of the chunks do not add up",
            ),
            (
                lambda r: {"chunks": moved(r.chunks, 5)},
                "chunk 0 has another histogram",
            ),
            (lambda r: {"chunks": [Chunk(0, 2**31, 0, 0)]}, "chunk 0 has 2,147,483,648 deals"),
        ],
    )
    def test_what_is_wrong_is_found(self, record, change, told):
        problems = check(replace(record, **change(record)), 7, 0)
        assert any(told in problem for problem in problems), problems

    def test_verify_fails(self, record, tmp_path, bmn):
        path = tmp_path / "records"
        enter(path, replace(record, chunks=record.chunks[1:]))
        done = bmn("verify", "--exhaustive", str(path), "--json", check=1)
        assert json.loads(done.stdout)["problems"] == ["chunk 0 begins at deal 10,000: expected 0"]

    def test_a_forged_histogram_is_found_where_its_checksum_was_forged_too(self, record):
        histogram = exchanged(record.histogram, 40, 41)
        more = (checksum(histogram) - checksum(record.histogram)) % PRIME
        first, *rest = record.chunks
        chunks = [first._replace(checksum=(first.checksum + more) % PRIME), *rest]
        forged = replace(record, histogram=histogram, chunks=chunks)
        assert check(forged, 0, 0) == []  # what no chunk is played for, no sample shows
        assert check(forged, 7, 0) == [
            "chunk 0 has another histogram",
            "the chunks together have another histogram",
        ]

    def test_checksums_add_up(self):
        rng = random.Random(4)
        one, other = ([rng.randrange(10**9) for _ in range(size)] for size in (300, 200))
        both = [a + b for a, b in zip(one, other + [0] * 100, strict=True)]
        assert checksum(both) == (checksum(one) + checksum(other)) % PRIME
        assert checksum([0, 0, 1]) == 16807**2 % PRIME
        assert checksum([]) == 0
        assert all(pow(16807, (PRIME - 1) // p, PRIME) != 1 for p in (2, 3, 7, 11, 31, 151, 331))

    def test_of_equals_the_one_of_least_number(self):
        """Of `6-,2J` several games are longest, so each but the first is refused."""
        plan = Exhaust(Deck.parse("6-,2J"))
        with Store(":memory:") as store:
            entered = store.begin(plan)
            runner.run(plan, store, entered, workers=1, limits=runner.Limits(chunks=1))
            record = record_of(store, plan.numbering, plan.rules)
        games = [(number, play(plan.numbering.deal(number))) for number in range(plan.deals)]
        finished = [(number, game) for number, game in games if game.status == "finished"]
        refused = 0
        for key, field in (("cards", "by_cards"), ("tricks", "by_tricks")):
            best = max(getattr(game, key) for _, game in finished)
            first, *later = [one for one in finished if getattr(one[1], key) == best]
            assert getattr(record, field).number == first[0]
            for number, game in later:
                other = Longest(number, str(game.deal), game.cards, game.tricks)
                assert check(replace(record, **{field: other}), 1, 0) != []
                refused += 1
        assert refused


RECORDS = read_records(RESULTS)
SMALL = [record for record in RECORDS if record.numbering.deals <= 1_000_000]
TINY = [record for record in RECORDS if record.numbering.deals <= 1_500]


def named(record):
    return record.numbering.deck.spec


def check_row(record):
    """Confirm a whole row of the table with the reference engine alone."""
    plan = Exhaust(record.numbering.deck, record.rules)
    _, _, histogram, candidates = by_the_reference(plan)
    assert histogram == record.histogram
    loops = [(deal, number) for kind, deal, *_, number in candidates if kind == "loop"]
    assert [number for _, number in loops] == record.loops
    assert cycles_of((deal for deal, _ in loops), record.rules) == record.cycles
    long = [found[1:] for found in candidates if found[0] == "long"]
    for row in (record.by_cards, record.by_tricks):
        assert (Deal.parse(row.deal), row.cards, row.tricks, row.number) in long


class TestTable:
    def test_it_is_large(self):
        assert len({named(record) for record in RECORDS}) >= 30
        assert max(record.numbering.deals for record in RECORDS) > 10**9
        (half20,) = [
            record
            for record in RECORDS
            if named(record) == HALF20.spec and not record.numbering.all_splits
        ]
        assert half20.numbering.deals == 3_488_400
        assert len(half20.loops) == 16

    @pytest.mark.parametrize("record", TINY, ids=named)
    def test_row(self, record):
        check_row(record)

    @pytest.mark.slow
    @pytest.mark.parametrize("record", SMALL, ids=named)
    def test_every_row_that_python_can_play(self, record):
        check_row(record)

    @pytest.mark.parametrize("record", TINY, ids=named)
    def test_small_records_hold(self, record):
        assert check(record, 1, 0) == []

    @pytest.mark.slow
    @pytest.mark.parametrize("record", RECORDS, ids=named)
    def test_every_record_holds(self, record):
        assert check(record, 1, 0) == []

    def test_the_page_has_the_table(self):
        page = (ROOT / "docs" / "exhaustive.md").read_text()
        for record in RECORDS:
            counts = [record.numbering.deals, len(record.loops), len(record.cycles)]
            counts += [record.by_cards.cards, record.by_tricks.tricks]
            splits = ", all splits" if record.numbering.all_splits else ""
            row = f"| `{named(record)}`{splits} | {' | '.join(f'{count:,}' for count in counts)} |"
            assert row in page, row
