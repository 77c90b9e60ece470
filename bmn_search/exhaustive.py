"""Records of exhausted decks: what all deals come to, put together from ranges, and checked again.

A file of records has one JSON document a line, one deck each. `record_of` makes a record from the
runs of `bmn search exhaust` in a file of finds, wherever they were done, and refuses ranges that
leave deals out or count them twice. `check` replays what a record claims.
"""

import json
import random
import threading
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bmn_search.cycle import find_cycle
from bmn_search.deal import Deal, Deck
from bmn_search.engine import play_both
from bmn_search.errors import BmnError, RecordError
from bmn_search.histogram import merged
from bmn_search.rules import NAMED_RULES, Rules
from bmn_search.search.exhaust import Exhaust, Numbering
from bmn_search.store import DAMAGE, Run, Store, rules_from_json

__all__ = [
    "Chunk",
    "CycleCount",
    "Longest",
    "Record",
    "check",
    "cycles_of",
    "enter",
    "read_records",
    "record_of",
]


class Chunk(NamedTuple):
    """A range of deals, `first` to `end` - 1, its loops, and the CRC-32 of its histogram."""

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

    Attributes
    ----------
    numbering, rules
        Which deals, and how they are played.
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
    """

    numbering: Numbering
    rules: Rules
    histogram: list[int]
    loops: list[int]
    cycles: list[CycleCount]
    by_cards: Longest | None
    by_tricks: Longest | None
    chunks: list[Chunk]

    @property
    def key(self) -> tuple[int, str, str, bool]:
        """What tells records apart, and their order in a file."""
        deck = self.numbering.deck
        return self.numbering.deals, deck.spec, str(_rules_document(self.rules)), self.all_splits

    @property
    def all_splits(self) -> bool:
        """Whether packets of all sizes were dealt."""
        return self.numbering.all_splits

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "deck": self.numbering.deck.spec,
            "rules": _rules_document(self.rules),
            "all_splits": self.all_splits,
            "deals": self.numbering.deals,
            "infinite": len(self.loops),
            "cycles": [cycle._asdict() for cycle in self.cycles],
            "longest_cards": self.by_cards and self.by_cards._asdict(),
            "longest_tricks": self.by_tricks and self.by_tricks._asdict(),
            "loops": self.loops,
            "histogram": self.histogram,
            "chunks": self.chunks,
        }


def _rules_document(rules: Rules) -> Any:
    return rules.name if NAMED_RULES.get(rules.name) == rules else asdict(rules)


def checksum(histogram: NDArray[np.int64]) -> int:
    """Return the CRC-32 of a histogram as little-endian 64-bit numbers."""
    return zlib.crc32(histogram.astype("<i8").tobytes())


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
    chunks = _without_holes(numbering, [chunk for run in runs for chunk in _counted(store, run)])
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
        histogram.tolist(),
        [number for number, _ in loops],
        cycles_of((deal for _, deal in loops), rules),
        min(long, key=lambda game: (-game.cards, game.number), default=None),
        min(long, key=lambda game: (-game.tricks, game.number), default=None),
        [Chunk(c.first, c.end, c.loops, checksum(c.histogram)) for c in chunks],
    )
    if problems := [*_sums(record)]:
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
    end = min(later, default=numbering.deals)
    raise RecordError(
        f"{numbering.deck}: deals {reached:,} to {end - 1:,} are not counted yet: go on with the "
        f"run, or bmn search exhaust --deck {numbering.deck} --from {reached} --to {end}"
    )


# Files


def read_records(path: str | Path) -> list[Record]:
    """Read a file of records.

    Raises
    ------
    RecordError
        When it cannot be read; the message names the line.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: cannot be read: {error}") from None
    records = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                records.append(_record(json.loads(line)))
            except DAMAGE as error:
                what = error if isinstance(error, BmnError) else "expected a record of a deck"
                raise RecordError(f"{path}:{number}: is no record: {what}") from None
    return records


def _record(fields: dict[str, Any]) -> Record:
    rules = fields["rules"]
    by_cards, by_tricks = fields["longest_cards"], fields["longest_tricks"]
    record = Record(
        Numbering(Deck.parse(fields["deck"]), fields["all_splits"]),
        Rules.named(rules) if isinstance(rules, str) else rules_from_json(json.dumps(rules)),
        [int(count) for count in fields["histogram"]],
        [int(number) for number in fields["loops"]],
        [CycleCount(**cycle) for cycle in fields["cycles"]],
        by_cards and Longest(**by_cards),
        by_tricks and Longest(**by_tricks),
        [Chunk(*map(int, chunk)) for chunk in fields["chunks"]],
    )
    for key in ("deals", "infinite"):
        if record.document()[key] != fields[key]:
            raise RecordError(f"{key} {fields[key]}: expected {record.document()[key]}")
    return record


def enter(path: str | Path, record: Record) -> None:
    """Write a record into a file of them, in place of one of the same deck, rules and splits.

    Raises
    ------
    RecordError
        When the file cannot be read or written.
    """
    path = Path(path)
    records = {other.key: other for other in (read_records(path) if path.exists() else [])}
    records[record.key] = record
    lines = (json.dumps(records[key].document(), separators=(",", ":")) for key in sorted(records))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{path}: cannot be written: {error.strerror}") from None


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
    problems = [*_holes(record)]
    if problems:
        return problems
    problems += [*_sums(record), *_wrong_loops(record), *_wrong_longest(record)]
    sampled = random.Random(seed).sample(range(len(record.chunks)), min(chunks, len(record.chunks)))
    for number in sorted(sampled):
        problems += _wrong_chunk(record, number)
    return problems


def _holes(record: Record) -> Iterable[str]:
    reached = 0
    for number, chunk in enumerate(record.chunks):
        if chunk.first != reached or chunk.end <= chunk.first:
            yield f"chunk {number} begins at deal {chunk.first:,}: expected {reached:,}"
        reached = chunk.end
    if reached != record.numbering.deals:
        yield f"the chunks end at deal {reached:,}: expected {record.numbering.deals:,}"


def _sums(record: Record) -> Iterable[str]:
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
    if record.by_cards and record.by_cards.cards != len(record.histogram) - 1:
        yield f"the longest game has {record.by_cards.cards} cards: expected the histogram's last"


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
        played = Longest(longest.number, str(deal), outcome.cards, outcome.tricks)
        if outcome.status != "finished" or not agree or played != longest:
            yield f"deal {longest.number:,} is not as the record says: {outcome.as_dict()}"


def _wrong_chunk(record: Record, number: int) -> Iterable[str]:
    chunk, numbering = record.chunks[number], record.numbering
    plan = Exhaust(
        numbering.deck,
        record.rules,
        chunk.first,
        chunk.end,
        numbering.all_splits,
        games=chunk.end - chunk.first,
        share=False,
    )
    again = plan.chunk(0, threading.Event())
    loops = {found.order + chunk.first for found in again.candidates if found.kind == "loop"}
    if loops != {loop for loop in record.loops if chunk.first <= loop < chunk.end}:
        yield f"chunk {number} has other loops: {len(loops):,} of them"
    if checksum(again.histogram) != chunk.checksum:
        yield f"chunk {number} has another histogram"
    for found in again.candidates:
        if found.kind == "long" and (
            record.by_cards is None
            or record.by_tricks is None
            or found.cards > record.by_cards.cards
            or found.tricks > record.by_tricks.tricks
        ):
            yield f"chunk {number} has a longer game: {found.deal}"
