"""Records of exhausted decks: what all deals come to, put together from ranges, and checked again.

`record_of` makes a record from the runs of `bmn search exhaust` in a file of finds, wherever they
were done, and refuses ranges that leave deals out or count them twice. `check` replays what a
record claims. `record_files` reads and writes them.
"""

import random
import shlex
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bmn_search.cycle import find_cycle
from bmn_search.deal import Deal
from bmn_search.engine import play_both
from bmn_search.errors import RecordError
from bmn_search.histogram import LONGEST, merged
from bmn_search.rules import NAMED_RULES, PAY_RANKS, STANDARD, Rules
from bmn_search.search.exhaust import MOST_DEALS, Exhaust, Numbering
from bmn_search.search.strategy import Candidate, ChunkResult
from bmn_search.store import Run, Store

__all__ = [
    "Chunk",
    "CycleCount",
    "Longest",
    "Record",
    "check",
    "checksum",
    "cycles_of",
    "record_of",
    "rules_document",
]


class Chunk(NamedTuple):
    """A range of deals, `first` to `end` - 1, its loops, and the `checksum` of its histogram."""

    first: int
    end: int
    loops: int
    checksum: int


class CycleCount(NamedTuple):
    """A cycle up to exchange: its canonical position, its period, and how many deals lead there.

    The period is that of full positions; `mirror`: the players are exchanged after half of it.
    """

    canonical: str
    tricks: int
    cards: int
    mirror: bool
    deals: int


class Longest(NamedTuple):
    """A longest finite game: of equals, that of the deal with the least number."""

    number: int
    deal: str
    cards: int
    tricks: int


@dataclass(frozen=True)
class Record:
    """All that is known of a deck of which every deal was counted.

    A record that was read is what its line says, true or not: `check` tells.

    Attributes
    ----------
    numbering, rules
        Which deals, and how they are played.
    deals, infinite
        How many there are, and how many of them never end.
    histogram
        How many finished games had 0, 1, 2, ... cards.
    loops
        The numbers of the deals that never end, in order.
    cycles
        What those lead to, most deals first.
    by_cards, by_tricks
        The longest finite games; None if none is finite.
    chunks
        In order, without holes.
    line
        Where it stands in its file; 0 if it was not read.
    """

    numbering: Numbering
    rules: Rules
    deals: int
    infinite: int
    histogram: list[int]
    loops: list[int]
    cycles: list[CycleCount]
    by_cards: Longest | None
    by_tricks: Longest | None
    chunks: list[Chunk]
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> tuple[int, str, str, bool]:
        """What tells records apart, and their order in a file."""
        deck = self.numbering.deck
        return self.numbering.deals, deck.spec, str(rules_document(self.rules)), self.all_splits

    @property
    def all_splits(self) -> bool:
        """Whether packets of all sizes were dealt."""
        return self.numbering.all_splits

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "deck": self.numbering.deck.spec,
            "rules": rules_document(self.rules),
            "all_splits": self.all_splits,
            "deals": self.deals,
            "infinite": self.infinite,
            "cycles": [cycle._asdict() for cycle in self.cycles],
            "longest_cards": self.by_cards and self.by_cards._asdict(),
            "longest_tricks": self.by_tricks and self.by_tricks._asdict(),
            "loops": self.loops,
            "histogram": self.histogram,
            "chunks": self.chunks,
        }


def rules_document(rules: Rules) -> Any:
    """Return the JSON value that stands for rules: the name of a rule sheet, or all fields."""
    if NAMED_RULES.get(rules.name) == rules:
        return rules.name
    return asdict(rules) | {"penalties": list(rules.penalties)}


PRIME, ROOT = 2**31 - 1, 7**5


def checksum(histogram: Sequence[int]) -> int:
    """Return the sum of count[i] * 16807**i, modulo 2**31 - 1.

    Checksums add up as histograms do, so the histogram of a record is tied to its chunks. 16807 is
    a primitive root of that prime, so the powers differ: a count that is changed by itself, moved,
    or exchanged for another changes the sum.
    """
    total = 0
    for count in reversed(histogram):
        total = (total * ROOT + count) % PRIME
    return total


def cycles_of(deals: Iterable[Deal], rules: Rules) -> list[CycleCount]:
    """Return the cycles that deals without an end lead to, most deals first."""
    counts: Counter[tuple[str, int, int, bool]] = Counter()
    for deal in deals:
        cycle = find_cycle(deal, rules)
        assert cycle is not None
        period = cycle.period
        counts[str(cycle.canonical), period.tricks, period.cards, cycle.mirror] += 1
    entries = [CycleCount(*cycle, deals) for cycle, deals in counts.items()]
    return sorted(entries, key=lambda entry: (-entry.deals, entry.tricks, entry.canonical))


# Putting together


class _Counted(NamedTuple):
    """A finished chunk of some run."""

    first: int
    end: int
    loops: int
    histogram: NDArray[np.int64]
    run: Run
    number: int


def record_of(store: Store, numbering: Numbering, rules: Rules) -> Record:
    """Put together the ranges of a deck that the runs in a file of finds have counted.

    Raises
    ------
    RecordError
        When they leave deals out, or overlap without being the same.
    """
    runs = [
        run
        for run in store.runs()
        if run.strategy == Exhaust.name
        and run.deck.counts == numbering.deck.counts
        and run.rules == rules
        and run.parameters["all_splits"] == numbering.all_splits
    ]
    try:
        chunks = _without_holes(numbering, [c for run in runs for c in _counted(store, run)])
    except _HoleError as hole:
        raise RecordError(f"{hole}: {_advice(store, numbering, rules, hole)}") from None
    used = {(chunk.run.id, chunk.number): chunk for chunk in chunks}
    loops, long = [], []
    for find in (find for run in runs for find in store.finds(run=run.id)):
        first = next(run for run in runs if run.id == find.run).parameters["first"]
        if find.kind == "long":
            long.append(Longest(first + find.place, find.deal, find.cards, find.tricks))
        elif (find.run, find.chunk) in used:
            loops.append((first + find.place, Deal.parse(find.deal)))
    loops.sort()
    histogram = np.zeros(0, np.int64)
    for chunk in chunks:
        histogram = merged(histogram, chunk.histogram)
    record = Record(
        numbering,
        rules,
        numbering.deals,
        len(loops),
        histogram.tolist(),
        [number for number, _ in loops],
        cycles_of((deal for _, deal in loops), rules),
        min(long, key=lambda game: (-game.cards, game.number), default=None),
        min(long, key=lambda game: (-game.tricks, game.number), default=None),
        [Chunk(c.first, c.end, c.loops, checksum(c.histogram.tolist())) for c in chunks],
    )
    if problems := [*_claims(record)]:
        raise RecordError(f"{store.path}: the runs do not add up: {'; '.join(problems)}")
    return record


def _counted(store: Store, run: Run) -> Iterable[_Counted]:
    plan = Exhaust(run.deck, run.rules, **run.parameters)
    for number, games, loops, histogram in store.chunks(run.id):
        first, end = plan.range_of(number)
        if games != end - first:
            raise RecordError(
                f"chunk {number} of run {run.id} has {games} deals, not {end - first}"
            )
        yield _Counted(first, end, loops, histogram, run, number)


def _without_holes(numbering: Numbering, chunks: list[_Counted]) -> list[_Counted]:
    """Return chunks that together are all deals, each once."""
    # Ranges may have been counted twice, divided otherwise: look for a chain from end to end.
    chain: dict[int, _Counted | None] = {0: None}
    for chunk in sorted(chunks, key=lambda chunk: chunk.first):
        if chunk.first in chain:
            chain.setdefault(chunk.end, chunk)
    reached = max(chain)
    if reached == numbering.deals:
        taken: list[_Counted] = []
        while (last := chain[taken[-1].first if taken else reached]) is not None:
            taken.append(last)
        return taken[::-1]
    later = [chunk.first for chunk in chunks if chunk.end > reached]
    if later and min(later) < reached:
        raise RecordError(
            f"{numbering.deck}: ranges overlap at deal {reached:,}: expected ranges that begin "
            "where others end"
        )
    raise _HoleError(numbering, reached, min(later, default=numbering.deals))


class _HoleError(Exception):
    """Deals that no run has counted."""

    def __init__(self, numbering: Numbering, first: int, end: int) -> None:
        super().__init__(f"{numbering.deck}: deals {first:,} to {end - 1:,} are not counted yet")
        self.first, self.end = first, end


def _advice(store: Store, numbering: Numbering, rules: Rules, hole: _HoleError) -> str:
    """Say how to count the deals of a hole."""
    deck, advice = numbering.deck, "go on with the run"
    if (options := _rules_options(rules)) is not None:
        command = ["bmn", "search", "exhaust", "--deck", str(deck)]
        command += ["--from", str(hole.first), "--to", str(hole.end)]
        command += ["--all-splits"] * numbering.all_splits + options + ["--db", str(store.path)]
        advice += f", or {shlex.join(command)}"
    specs = {run.deck.spec for run in store.runs() if run.strategy == Exhaust.name}
    same = {spec for spec in specs if sorted(spec.split(",")) == sorted(deck.spec.split(","))}
    if others := sorted(same - {deck.spec}):
        advice += (
            f" (runs of {' and '.join(others)} number the same deals in another order and are no "
            f"part of this record: name the deck as {deck.spec} on every machine)"
        )
    return advice


def _rules_options(rules: Rules) -> list[str] | None:
    """Return the options that stand for rules; None if there are none."""
    spelled = ",".join(
        f"{rank}={cost}" for rank, cost in zip(PAY_RANKS, rules.penalties, strict=True)
    )
    for name, sheet in NAMED_RULES.items():
        named = [] if sheet == STANDARD else ["--rules", name]
        if sheet == rules:
            return named
        if sheet.with_penalties(spelled) == rules:
            return [*named, "--penalties", spelled]
    return None


# Checking


def check(record: Record, chunks: int, seed: int) -> list[str]:
    """Check a record, and say what is wrong with it: nothing, if it holds.

    The ranges must have no hole and everything must add up; every loop and the longest games are
    replayed with both engines; and a random sample of the chunks is counted again, deal after deal.

    Parameters
    ----------
    chunks
        How many; all if there are fewer.
    seed
        Which ones.
    """
    problems = [*_ranges(record)] or [*_claims(record)]
    problems = problems or [*_wrong_loops(record), *_wrong_longest(record)]
    if problems:
        return problems
    sampled = random.Random(seed).sample(range(len(record.chunks)), min(chunks, len(record.chunks)))
    histogram = np.zeros(0, np.int64)
    for number in sorted(sampled):
        again = _count_again(record, number)
        problems += _wrong_chunk(record, number, again)
        histogram = merged(histogram, again.histogram)
    if len(sampled) == len(record.chunks) and histogram.tolist() != record.histogram:
        problems.append("the chunks together have another histogram")
    return problems


def _ranges(record: Record) -> Iterable[str]:
    """Find a number that is of no deal, and the first hole between chunks."""
    deals = record.numbering.deals
    if record.deals != deals:
        yield f"{record.deals:,} deals: expected {deals:,}"
    longest = [game.number for game in (record.by_cards, record.by_tricks) if game]
    if (most := max([*record.loops, *longest], default=0)) >= deals:
        yield f"there is no deal {most:,}: expected numbers below {deals:,}"
    reached = 0
    for number, chunk in enumerate(record.chunks):
        if chunk.first != reached:
            yield f"chunk {number} begins at deal {chunk.first:,}: expected {reached:,}"
            return
        if not 0 < (games := chunk.end - chunk.first) <= MOST_DEALS:
            yield f"chunk {number} has {games:,} deals: expected 1 to {MOST_DEALS:,}"
            return
        reached = chunk.end
    if reached != deals:
        yield f"the chunks end at deal {reached:,}: expected {deals:,}"


def _claims(record: Record) -> Iterable[str]:
    """Find what does not add up."""
    if record.infinite != len(record.loops):
        yield f"{record.infinite:,} deals never end: {len(record.loops):,} are named"
    limited = record.rules.max_tricks is not None or record.rules.max_cards is not None
    total = sum(record.histogram) + len(record.loops)
    if total > record.numbering.deals or (total < record.numbering.deals and not limited):
        yield f"games that end and loops are {total:,}: expected {record.numbering.deals:,}"
    if record.loops != sorted(set(record.loops)):
        yield "loops are named twice or out of order"
    for number, chunk in enumerate(record.chunks):
        named = bisect_left(record.loops, chunk.end) - bisect_left(record.loops, chunk.first)
        if named != chunk.loops:
            yield f"chunk {number} has {chunk.loops:,} loops: {named:,} are named"
            break
    if checksum(record.histogram) != sum(chunk.checksum for chunk in record.chunks) % PRIME:
        yield "the checksums of the chunks do not add up to that of the histogram"
    yield from _longest_claims(record)


def _longest_claims(record: Record) -> Iterable[str]:
    """Compare the longest games with the histogram and with each other."""
    cards, tricks = record.by_cards, record.by_tricks
    if not (cards and tricks):
        if cards or tricks or record.histogram:
            yield "games end, yet a longest one is missing"
        return
    if not record.histogram or min(cards.cards, LONGEST) != len(record.histogram) - 1:
        yield f"the longest game has {cards.cards:,} cards: expected the histogram's last"
    elif not record.histogram[-1]:
        yield "the histogram ends in 0"
    if (tricks.tricks, cards.number) < (cards.tricks, tricks.number):
        yield f"deal {cards.number:,} comes before the longest game by tricks"
    if (cards.cards, tricks.number) < (tricks.cards, cards.number):
        yield f"deal {tricks.number:,} comes before the longest game by cards"


def _wrong_loops(record: Record) -> Iterable[str]:
    deals = [record.numbering.deal(number) for number in record.loops]
    for number, deal in zip(record.loops, deals, strict=True):
        outcome, _, agree = play_both(deal, record.rules)
        if outcome.status != "loop" or not agree:
            yield f"deal {number:,}, {deal}, is no loop: {outcome.status}"
            return
    if cycles_of(deals, record.rules) != record.cycles:
        yield "the loops lead to other cycles than the record names"


def _wrong_longest(record: Record) -> Iterable[str]:
    for longest in (record.by_cards, record.by_tricks):
        if longest is None:
            continue
        deal = record.numbering.deal(longest.number)
        outcome, _, agree = play_both(deal, record.rules)
        played = Longest(longest.number, str(deal), outcome.cards, outcome.tricks)._asdict()
        said = longest._asdict()
        odd = [
            f"{key} {played[key]!r}, not {said[key]!r}" for key in said if said[key] != played[key]
        ]
        if outcome.status != "finished" or not agree:
            yield f"deal {longest.number:,}, {deal}, is no finished game: {outcome.status}"
        elif odd:
            yield f"deal {longest.number:,} is not as the record says: {'; '.join(odd)}"


def _count_again(record: Record, number: int) -> ChunkResult:
    """Play a chunk, deal after deal; orders are the numbers of the deals."""
    chunk, numbering = record.chunks[number], record.numbering
    games = chunk.end - chunk.first
    plan = Exhaust(
        numbering.deck,
        record.rules,
        chunk.first,
        chunk.end,
        numbering.all_splits,
        games,
        share=False,
    )
    again = plan.chunk(0, threading.Event())
    candidates = [replace(one, order=one.order + chunk.first) for one in again.candidates]
    return replace(again, candidates=candidates)


def _wrong_chunk(record: Record, number: int, again: ChunkResult) -> Iterable[str]:
    """Compare what a record says of a chunk with what it came to."""
    chunk = record.chunks[number]
    loops = [found.order for found in again.candidates if found.kind == "loop"]
    named = record.loops[
        bisect_left(record.loops, chunk.first) : bisect_left(record.loops, chunk.end)
    ]
    if loops != named:
        yield f"chunk {number} has other loops: {len(loops):,} of them"
    if checksum(again.histogram.tolist()) != chunk.checksum:
        yield f"chunk {number} has another histogram"
    for found in again.candidates:
        if found.kind == "long" and _comes_before(found, record):
            yield (
                f"chunk {number} has a game that is longer, or as long with a lesser number: "
                f"{found.deal}"
            )


def _comes_before(found: Candidate, record: Record) -> bool:
    """Whether a game is longer than the longest of the record, or as long and of lesser number."""
    cards, tricks = record.by_cards, record.by_tricks
    return (
        not (cards and tricks)
        or (-found.cards, found.order) < (-cards.cards, cards.number)
        or (-found.tricks, found.order) < (-tricks.tricks, tricks.number)
    )
