"""Loop growth: the compiled archive against exact play, the strategy, the store and the command."""

import json
import random
import sqlite3
import threading
import time
import zlib
from contextlib import closing
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from conftest import ROOT, odd_deal

from bmn_search import compiled, ranks, reference
from bmn_search.ancestry import basin
from bmn_search.cycle import alike, alike_deck, find_cycle, relative, step
from bmn_search.deal import CAMICIA40, HALF20, Deal, Deck
from bmn_search.engine import play
from bmn_search.errors import BmnError, StoreError
from bmn_search.known import known_deals
from bmn_search.notation import CODES, SYMBOLS
from bmn_search.rules import STANDARD, Rules
from bmn_search.search import runner
from bmn_search.search.grow import EDITS, Grow, family
from bmn_search.search.strategy import Dropped
from bmn_search.store import MIGRATIONS, Store
from bmn_search.worlds import world

EACH = [tuple(int(edit == other) for other in EDITS) for edit in EDITS]
RULES = (
    STANDARD,
    Rules("payer leads", next_leader="payer"),
    Rules("odd", penalties=(2, 5, 1, 0)),
    Rules("alike", penalties=(1, 3, 3, 2), next_leader="payer"),
)


def growth(deck, rules=STANDARD, seed=1, weights=Grow.weights, numbers=Grow.numbers):
    deck = alike_deck(Deck.parse(deck), rules)
    return compiled.new_growth(deck, rules, seed, weights, numbers, 35, 30)


def enter(grown, cycle):
    sizes = np.array([[cycle.sizes[0], cycle.codes.shape[1] - cycle.sizes[0]]], np.uint8)
    grown.enter(cycle.codes[:1].copy(), sizes)


def run(plan: Grow, number: int = 0):
    return plan.chunk(number, threading.Event())


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("deck", ["8-,2J,2Q,2K", "20-,2J,2Q,1A", "14-,4J,2K"])
def test_every_entry_is_a_cycle_in_normal_form(deck, rules):
    """The archive, made with machine words, against cycles and ranks as they are defined."""
    grown = growth(deck, rules)
    grown.seeds(20)
    grown.run(20)
    rows = list(dict.fromkeys(grown.archive()))
    assert len(rows) > 20
    counts = grown.counts()
    assert counts["fresh"] >= len(rows)
    allowed = {symbol for symbol, _ in alike_deck(Deck.parse(deck), rules).counts}
    for codes, size in rows[:: max(1, len(rows) // 60)]:
        position = relative(codes, size)
        cycle = find_cycle(position, rules)
        assert cycle is not None
        assert cycle.canonical == position
        assert set("".join(position.packets)) <= allowed
        least = {
            min(
                (code for code in orbit.ranks(rules.penalty_table) if SYMBOLS[code] in allowed),
                key=rules.penalty_table.__getitem__,
            )
            == orbit.code
            for orbit in ranks.orbits(cycle)
        }
        assert least == {True}
        assert reference.play(position, rules).status == "loop"
    assert len({relative(*row) for row in rows}) == len(rows)


def test_what_is_of_the_deck_can_be_ranked_to_fit():
    grown = growth("camicia40")
    for known in known_deals(ROOT / "known_deals" / "20-infinite-camicia40.txt"):
        enter(grown, find_cycle(known.deal))
    found = [find_cycle(relative(*row)) for row in grown.found()]
    assert len(found) == grown.counts()["exact"]
    assert not grown.found()
    cycles = {
        variant.canonical for cycle in found for variant in ranks.variants_in(cycle, CAMICIA40)
    }
    published = {
        find_cycle(known.deal).canonical
        for known in known_deals(ROOT / "known_deals" / "20-infinite-camicia40.txt")
    }
    assert published <= cycles
    for canonical in cycles:
        CAMICIA40.check(canonical)


@pytest.mark.parametrize("edit", range(len(EDITS)))
def test_edits_do_what_they_are_called(edit):
    """Seeds with one kind of edit: the numbers of plain and pay cards change as they must."""
    grown = growth("36-,5J,5Q,5K", weights=EACH[edit], numbers=(1, 0, 0))
    enter(grown, find_cycle("--J-/------------Q-Q-J--K-K--Q-K-Q-KJ--J-"))
    grown.run(8)
    made = [sum(row) for row in grown.counts()["made"]]
    assert made[edit] > 0
    assert sum(made) == made[edit]
    assert sum(map(sum, grown.counts()["gave"])) == grown.counts()["fresh"] - 1
    cards = {len(codes) for codes, _ in grown.archive()}
    if EDITS[edit] in ("insert", "add"):
        assert max(cards) > 40
        assert min(cards) == 40
    elif EDITS[edit] in ("remove", "drop"):
        assert max(cards) == 40
        assert EDITS[edit] == "remove" or min(cards) < 40
    else:
        assert cards == {40}


ODD_GROWTH = {
    "small": ("10-,2J,2Q", STANDARD, None),
    "the published deal": (
        "standard52",
        STANDARD,
        "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA",
    ),
    "payer leads": ("14-,4J,2K", RULES[1], None),
    "odd penalties": ("20-,2J,2Q,1A", RULES[2], None),
    "ranks alike": ("12-,3J,2Q,2K,3A", RULES[3], None),
    "more pay cards than lanes hold": ("24-,8J,8Q,6K", STANDARD, None),
    "ranks that the deck lacks": ("30-,6J", STANDARD, "--Q-KJ------J-/K-Q-K---J--K---J--Q----Q--"),
    "few plain cards": ("6-,9J,3Q,4K", STANDARD, None),
}


@pytest.mark.parametrize("name", ODD_GROWTH)
def test_an_archive_is_a_function_of_seed_and_candidates(name, monkeypatch):
    """Whichever kernel plays, and however the batches are cut."""
    deck, rules, start = ODD_GROWTH[name]

    def grown(kernel, seed=3, slices=(5, 5)):
        monkeypatch.setenv("BMN_KERNEL", kernel)
        one = growth(deck, rules, seed=seed)
        if start:
            enter(one, find_cycle(start, rules))
        one.seeds(4)
        for batches in slices:
            one.run(batches)
        return one.archive(), one.found(), one.counts()

    first = grown(compiled.available_kernels()[-1])
    assert first[2]["fresh"] > 10
    for kernel in compiled.available_kernels()[1:]:
        assert grown(kernel) == first
    assert grown("portable", slices=(1, 2, 7)) == first
    assert grown("portable", seed=4) != first


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_what_never_ends_is_entered_and_nothing_else(rules):
    """Single positions of odd decks, against the general engine."""
    rng = random.Random(11)
    grown = growth("30-,4J,4Q,4K,4A", rules)
    endless = 0
    for _ in range(20_000):
        packets = odd_deal(rng, 12).packets
        codes = alike(rules)[[CODES[card] for card in "".join(packets)]]
        grown.enter(codes[None], np.array([[len(packet) for packet in packets]], np.uint8))
        endless += find_cycle(relative(codes, len(packets[0])), rules) is not None
        counts = grown.counts()
        assert (counts["loops"], counts["longer"]) == (endless, 0)
    assert endless > 10


def test_an_empty_archive_has_no_children():
    assert growth("10-,2J").run(3) is False


def test_bad_positions_are_refused():
    grown = growth("10-,2J")
    with pytest.raises(ValueError, match="no cards"):
        grown.enter(np.zeros((1, 8), np.uint8), np.array([[0, 4]], np.uint8))
    with pytest.raises(ValueError, match="too many"):
        grown.enter(np.zeros((1, 8), np.uint8), np.array([[5, 4]], np.uint8))


@pytest.mark.parametrize(
    ("deck", "rules"), [("10-,2J,2Q", STANDARD), ("9-,3J,3Q", STANDARD), ("10-,2J,2Q", RULES[1])]
)
def test_small_decks_are_found_whole(deck, rules):
    """Growth against the complete world of the deck: all cycles, and all deals."""
    wanted = world(deck, rules)
    plan = Grow(Deck.parse(deck), rules, games=3_000_000)
    result = run(plan)
    truth = {str(basin.canonical): basin for basin in wanted.basins}
    assert {cycle.canonical for cycle in result.cycles} == set(truth)
    for cycle in result.cycles:
        assert (cycle.cards, cycle.tricks) == truth[cycle.canonical].period
        assert cycle.mirror == truth[cycle.canonical].mirror
        assert cycle.balanced == truth[cycle.canonical].balanced
    assert len({candidate.deal for candidate in result.candidates}) == wanted.balanced_endless
    for candidate in result.candidates:
        assert candidate.kind == "loop"
        Deck.parse(deck).check(candidate.deal)


def test_chunks_are_pure_and_differ():
    plan = Grow(HALF20, seed=5, games=400_000)
    one, again, other = run(plan), run(plan), run(plan, 1)
    assert (one.games, one.loops, one.cycles) == (again.games, again.loops, again.cycles)
    assert one.loops != other.loops
    assert Grow.of(HALF20, STANDARD, 5, 10, json.loads(json.dumps(plan.parameters()))) == plan


def test_half20_is_found_from_scratch():
    """The one cycle of the deck, with its 16 deals: a fifth of a minute is enough by far."""
    result = run(Grow(HALF20, seed=4, games=4_000_000))
    assert [(cycle.canonical, cycle.balanced) for cycle in result.cycles] == [
        ("----J--Q--/--K-K-Q-J-", 16)
    ]
    assert len(result.candidates) == 16


def test_growth_from_known_deals():
    """From one cycle of the deck its neighbours of other compositions are met, and it is kept."""
    start = "----J--Q--/--K-K-Q-J-"
    result = run(Grow(HALF20, games=40_000, starts=(start,)))
    assert [cycle.canonical for cycle in result.cycles] == [start]
    assert {candidate.deal for candidate in result.candidates} == set(
        basin(find_cycle(start)).balanced_deals()
    )


def one_pass(position: Deal, shift: int, rules: Rules, least: int) -> bool:
    """Whether a position recurs after one pass of the queue, by playing single cards.

    Player 1, who leads, is the holder. A queue made of shorter ones is none.
    """
    holder, queue = position.packets
    won, laid, largest = "", 0, len(holder)
    for _ in range(200):
        before = position
        position = step(position, rules)
        if not all(position.packets):
            return False
        mine, theirs = (len(packet) for packet in position.packets)
        pile = reference.play(before, replace(rules, max_tricks=1)).cards
        winner = position.leader if rules.next_leader == "winner" else 3 - position.leader
        won += position.packets[1][-pile:] if winner == 2 else ""
        laid += len(before.packets[1]) + (pile if winner == 2 else 0) - theirs
        largest = max(largest, mine)
        if position.leader == 1 and position.packets[0] == holder and len(won) == laid > shift:
            stream = (queue + won)[:laid]
            if won == stream[laid - shift :] + stream[: laid - shift]:
                return laid == len(queue) + shift and largest >= least
        if laid > len(queue) + shift:
            return False
    return False


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("pattern", ["--P-", "-P-", "-PP"])
@pytest.mark.parametrize("rules", [STANDARD, RULES[1]], ids=str)
def test_cycles_of_one_pass_are_all_found(rules, pattern, shift):
    """The search of native/pass.h against all queues of up to 7 cards."""
    deck, length, least = Deck.parse("7-,2J,2Q"), 7 + shift, len(pattern) + 1
    most = dict(deck.counts)
    truth = set()
    for cards in range(1, 8):
        for text in product("-JQ", repeat=pattern.count("P") + cards):
            marks = iter(text[cards:])
            held = "".join(next(marks) if card == "P" else card for card in pattern)
            whole = held + "".join(text[:cards])
            counts = {card: whole.count(card) for card in "-JQ"}
            if (
                "-" in text[cards:]
                or counts["-"] > 2 * 7 // 3
                or counts["J"] + counts["Q"] > (2 * 4 + 2) // 3
                or any(counts[card] > most[card] for card in "JQ")
            ):
                continue
            position = Deal((held, "".join(text[:cards])))
            if one_pass(position, shift, rules, least):
                truth.add(str(ranks.normal_form(find_cycle(position, rules)).canonical))
    grown = growth("7-,2J,2Q", rules)
    steps = [
        grown.passes(bytes(card == "P" for card in pattern), shift, length, least, share, 3)
        for share in range(3)
    ]
    assert min(steps) > 0
    assert {str(relative(*row)) for row in grown.archive()} == truth
    assert grown.counts()["fresh"] == len(truth)


def spells(plan: Grow, order):
    """Do chunks in an order; return what they gave."""
    results = {}
    for number in order:
        going_on = plan.going_on({n: results[n].memory for n in plan.before(number)})
        results[number] = run(going_on, number)
    return [results[number] for number in sorted(results)]


def test_islands_go_on_from_their_archives_and_exchange():
    plan = Grow(HALF20, seed=2, games=200_000, islands=2, passes=0)
    assert (plan.before(0), plan.before(2), plan.before(5)) == ((), (0,), (3, 1))
    for number in range(8):
        assert all(number in plan.behind(earlier) for earlier in plan.before(number))
    one = spells(plan, range(6))
    again = spells(plan, (1, 0, 2, 3, 5, 4))
    assert [result.memory for result in one] == [result.memory for result in again]
    sizes = [len(result.memory) for result in one]
    assert sizes[4] > sizes[2] > sizes[0]
    # Each cycle of the deck is followed back once by an island, or by its neighbour before.
    assert sum(len(result.cycles) for result in one) <= plan.islands
    alone = spells(replace(plan, islands=1), range(3))
    assert alone[1].memory != one[2].memory


def test_a_run_goes_on_from_what_it_left(tmp_path):
    """Stopped after each chunk, with one worker or three: the same memories and counts."""
    plan = Grow(HALF20, seed=4, games=100_000, islands=2)

    def grown(path, limits, workers):
        with Store(tmp_path / path) as store:
            entered = store.begin(plan)
            for chunks in limits:
                state = runner.run(
                    plan, store, entered, runner.Limits(chunks=chunks), workers=workers
                )
            kept = store.memories(entered.id, range(20))
            return state.games, state.loops, store.cycles(entered.id), kept

    whole = grown("a.sqlite", [9], 3)
    assert grown("b.sqlite", [1, 2, 5, 9], 1) == whole
    assert set(whole[3]) == {5, 6, 7, 8}  # what chunks from 9 on need, and no more


def test_what_is_lost_is_told(tmp_path):
    plan = Grow(HALF20, games=4096, islands=1)
    with Store(tmp_path / "a.sqlite") as store:
        entered = store.begin(plan)
        runner.run(plan, store, entered, runner.Limits(chunks=2), workers=1)
        store.forget(entered.id, 1)
        with pytest.raises(StoreError, match="chunk 2 goes on from is lost: begin a new run$"):
            runner.run(plan, store, entered, runner.Limits(chunks=3), workers=1)


@pytest.mark.parametrize("memory", [b"", b"\0\1", zlib.compress(b"\7" * 73), zlib.compress(b"\1")])
def test_what_is_damaged_is_told(memory):
    with pytest.raises(BmnError, match="chunk 1 goes on from is damaged"):
        run(Grow(HALF20, games=4096, islands=1).going_on({0: memory}), 1)


def test_what_was_not_forgotten_is_forgotten_later(tmp_path):
    plan = Grow(HALF20, games=4096, islands=1, passes=0)
    with Store(tmp_path / "a.sqlite") as store:
        entered = store.begin(plan)
        runner.run(plan, store, entered, runner.Limits(chunks=6), workers=1)
        assert store.remembered(entered.id) == [3, 4, 5]
        result = replace(run(plan), memory=b"old")
        store.finish(entered, 99, result, 1.0, [])
        with closing(sqlite3.connect(tmp_path / "a.sqlite")) as base, base:
            base.execute("UPDATE memories SET chunk = 1 WHERE chunk = 99")
        runner.run(plan, store, entered, runner.Limits(chunks=6), workers=1)
        assert store.remembered(entered.id) == [3, 4, 5]


def test_the_search_for_passes_can_be_stopped():
    """A deck of so many pay cards that a share would take a quarter of an hour."""
    stop = threading.Event()
    plan = Grow(Deck.parse("30-,7J,7Q,7K,8A"), passes=36)
    begun = time.monotonic()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(Dropped):
        plan.chunk(1, stop)
    assert time.monotonic() - begun < 30


def test_a_stopped_chunk_is_dropped():
    stop = threading.Event()
    stop.set()
    with pytest.raises(Dropped):
        Grow(HALF20).chunk(0, stop)


def test_families_share_neutral_variants():
    one = find_cycle("J--/-J-")
    assert family(one) == "1 -P-/P-"


@pytest.mark.parametrize(
    "wrong",
    [
        {"games": 0},
        {"weights": (0, 0, 0, 0, 0)},
        {"weights": (0, 0, 0, 0, 0, 1, 1)},
        {"numbers": (-1, 1, 1)},
        {"steered": 101},
        {"steered": 60, "filled": 41},
        {"islands": 0},
        {"passes": 2},
        {"passes": 37},
        {"starts": ("J-/--",)},
        {"deck": Deck.parse("50-,10J")},
        {"deck": Deck.parse("10-")},
        {"deck": Deck.parse("3J")},
    ],
)
def test_bad_plans_are_refused(wrong):
    with pytest.raises(BmnError):
        Grow(**wrong)


def test_command_and_store(bmn, tmp_path):
    db = str(tmp_path / "grown.sqlite")
    arguments = ("search", "grow", "--deck", "half20", "--chunk", "2000000", "--db", db)
    done = bmn(*arguments, "--games", "12000000", "--json", check=0)
    *lines, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"run", "strategy", "games", "seconds", "loops", "cycles", "families"} <= set(last)
    assert (last["cycles"], last["families"], last["balanced_deals"]) == (1, 1, 16)
    assert [line["canonical"] for line in lines] == ["----J--Q--/--K-K-Q-J-"]
    with Store(db) as store:
        assert [cycle.balanced for cycle in store.cycles(last["run"])] == [16]
        assert len(store.finds(kind="loop")) == 16
    words = bmn("search", "grow", "--resume", str(last["run"]), "--db", db, "--games", "12000000")
    assert "1 cycle up to exchange, 1 family" in words.stdout
    other = str(tmp_path / "other.sqlite")
    assert "16 new finds" in bmn("finds", "import", db, "--db", other, check=0).stdout
    with Store(other) as store:
        assert [cycle.balanced for cycle in store.cycles(1)] == [16]
    assert "expected EDIT=WEIGHT" in bmn(*arguments, "--edits", "jump=3", check=2).stderr
    assert "from" in bmn(*arguments, "--resume", "1", "--from", "known", check=2).stderr


def test_a_file_of_the_first_version_is_brought_up(tmp_path):
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.executescript(MIGRATIONS[0] + "PRAGMA user_version = 1;")
    with Store(path) as store:
        entered = store.begin(Grow(HALF20))
        store.finish(
            entered, 0, run(Grow(HALF20, games=40_000, starts=("----J--Q--/--K-K-Q-J-",))), 1.0, []
        )
        assert len(store.cycles(entered.id)) == 1


def test_all_deals_found_are_endless():
    result = run(Grow(Deck.parse("7-,2J,2Q,2K"), games=1_000_000))
    assert result.candidates
    for candidate in result.candidates:
        outcome = play(candidate.deal)
        assert (outcome.status, outcome.cards) == ("loop", candidate.cards)
        assert isinstance(candidate.deal, Deal)


@pytest.mark.slow
def test_balanced_deals_of_the_standard_deck_from_scratch(bmn, tmp_path):
    """The command in the head of the file gives what the file says: about two minutes."""
    file = ROOT / "known_deals" / "41-grown-from-scratch-standard52.txt"
    command = next(line for line in file.read_text().splitlines() if "bmn search grow" in line)
    db = str(tmp_path / "grown.sqlite")
    bmn(*command.split()[2:], "--db", db, check=0)
    with Store(db) as store:
        deals = {find.deal for find in store.finds(kind="loop")}
    assert len(deals) == 945
    assert {str(record.deal) for record in known_deals(file)} <= deals
