"""The store: one SQLite file of runs, their finished chunks, and the board of finds.

A chunk and its finds are one transaction, so a run that is killed at any moment loses at most the
chunks in flight, and a resumed one has no chunk and no find twice. Several processes may write
one file (write-ahead log). What a run keeps of its finds, the `keep` longest different deals by
cards and by tricks and every loop, does not depend on the order in which its chunks were finished.
"""

import json
import os
import sqlite3
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bmn_search.compiled import chosen_kernel
from bmn_search.deal import Deal, Deck
from bmn_search.errors import RunError, StoreError
from bmn_search.histogram import merged
from bmn_search.rules import Rules
from bmn_search.search.strategy import ChunkResult, FoundCycle, Kind, Plan

__all__ = ["Find", "Run", "Store", "Totals", "default_path", "rules_from_json", "rules_to_json"]

# Each entry brings the schema from its place in the list to the next version.
MIGRATIONS = (
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        strategy TEXT NOT NULL,
        parameters TEXT NOT NULL,
        rules TEXT NOT NULL,
        deck TEXT NOT NULL,
        seed TEXT NOT NULL,
        keep INTEGER NOT NULL,
        version TEXT NOT NULL,
        kernel TEXT NOT NULL,
        started TEXT NOT NULL
    ) STRICT;
    CREATE TABLE chunks (
        run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        games INTEGER NOT NULL,
        loops INTEGER NOT NULL,
        seconds REAL NOT NULL,
        histogram BLOB NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE finds (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        chunk INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('long', 'loop')),
        deal TEXT NOT NULL,
        cards INTEGER NOT NULL,
        tricks INTEGER NOT NULL,
        place INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        UNIQUE (run, kind, deal)
    ) STRICT;
    CREATE INDEX finds_by_cards ON finds (run, kind, cards);
    CREATE INDEX finds_by_tricks ON finds (run, kind, tricks);
    """,
    """
    CREATE TABLE cycles (
        run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        canonical TEXT NOT NULL,
        chunk INTEGER NOT NULL,
        tricks INTEGER NOT NULL,
        cards INTEGER NOT NULL,
        mirror INTEGER NOT NULL,
        balance INTEGER NOT NULL,
        balanced INTEGER NOT NULL,
        family TEXT NOT NULL,
        PRIMARY KEY (run, canonical)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE memories (
        run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        chunk INTEGER NOT NULL,
        memory BLOB NOT NULL,
        PRIMARY KEY (run, chunk)
    ) STRICT;
    """,
)


def default_path() -> Path:
    """Return where finds are kept unless another file is named: in the user's data folder."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "bmn_search" / "finds.sqlite"


def rules_to_json(rules: Rules) -> str:
    """Write rules as JSON."""
    return json.dumps(asdict(rules))


def rules_from_json(text: str) -> Rules:
    """Read rules from JSON."""
    fields = json.loads(text)
    return Rules(**fields | {"penalties": tuple(fields["penalties"])})


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it was started.

    Attributes
    ----------
    id, uid
        Its number in this file, and its name in any file.
    parameters
        All else that determines its results.
    version, kernel
        Of the package that started it, and the kernel that played.
    """

    id: int
    uid: str
    strategy: str
    parameters: dict[str, Any]
    rules: Rules
    deck: Deck
    seed: int
    keep: int
    version: str
    kernel: str
    started: str


@dataclass(frozen=True, slots=True)
class Find:
    """A deal on the board; `outcome` is the JSON document of its outcome."""

    id: int
    run: int
    chunk: int
    kind: Kind
    deal: str
    cards: int
    tricks: int
    place: int
    outcome: dict[str, Any]
    rules: Rules
    deck: Deck


@dataclass(frozen=True, slots=True)
class Totals:
    """What the finished chunks of a run add up to."""

    chunks: int
    games: int
    loops: int
    seconds: float


class Store:
    """An open file of finds; a context manager. Use one from one thread.

    Parameters
    ----------
    path
        The file; it is made, with its folder, unless it exists.
    create
        Whether it may be made.

    Raises
    ------
    StoreError
        When the file cannot be opened or is no store; every method, when it cannot be written.
    """

    def __init__(self, path: str | Path | None = None, *, create: bool = True) -> None:
        self.path = default_path() if path is None else Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"{self.path}: there is no such file of finds: run a search first")
        with self._telling():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                self._base.execute("PRAGMA foreign_keys = ON")
                self._migrate()
            except BaseException:
                self._base.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn what goes wrong with the file into one clear line."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StoreError(
                f"{self.path}: {reason}: expected a file of finds that can be read and written "
                "(name another with --db); nothing in it is lost"
            ) from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._telling():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    def _migrate(self) -> None:
        """Bring the schema to this version; a newer one is refused."""
        (found,) = self._base.execute("PRAGMA user_version").fetchone()
        (tables,) = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if found > len(MIGRATIONS) or (found == 0 and tables):
            what = f"has schema version {found}" if found else "holds something else"
            raise StoreError(
                f"{self.path}: {what}: this version of bmn_search reads schema version "
                f"{len(MIGRATIONS)}; update it, or name another file with --db"
            )
        if found == len(MIGRATIONS):
            return
        self._base.execute("PRAGMA journal_mode = WAL")
        with self._transaction() as base:
            (found,) = base.execute("PRAGMA user_version").fetchone()  # another may have done it
            for step in MIGRATIONS[found:]:
                for statement in step.split(";"):
                    base.execute(statement)
            base.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    # Runs

    def begin(self, strategy: Plan) -> Run:
        """Enter a new run."""
        row = (
            uuid.uuid4().hex,
            strategy.name,
            json.dumps(strategy.parameters(), sort_keys=True),
            rules_to_json(strategy.rules),
            strategy.deck.name,
            str(strategy.seed),
            strategy.keep,
            version("bmn_search"),
            chosen_kernel(),
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        with self._transaction() as base:
            run = base.execute(
                "INSERT INTO runs (uid, strategy, parameters, rules, deck, seed, keep, version, "
                "kernel, started) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            ).lastrowid
        assert run is not None
        return self.run(run)

    def run(self, number: int) -> Run:
        """Return a run.

        Raises
        ------
        RunError
            When there is none of this number.
        """
        found = [run for run in self.runs() if run.id == number]
        if not found:
            known = ", ".join(str(run.id) for run in self.runs()) or "none yet"
            raise RunError(f"there is no run {number} in {self.path}: expected one of {known}")
        return found[0]

    def runs(self) -> list[Run]:
        """Return all runs, oldest first."""
        with self._telling():
            rows = self._base.execute(
                "SELECT id, uid, strategy, parameters, rules, deck, seed, keep, version, kernel, "
                "started FROM runs ORDER BY id"
            ).fetchall()
        return [_run_of(row) for row in rows]

    def done(self, run: int) -> set[int]:
        """Return the numbers of the finished chunks of a run."""
        with self._telling():
            rows = self._base.execute("SELECT number FROM chunks WHERE run = ?", (run,)).fetchall()
        return {number for (number,) in rows}

    def totals(self, run: int) -> Totals:
        """Add up the finished chunks of a run."""
        with self._telling():
            row = self._base.execute(
                "SELECT count(*), coalesce(sum(games), 0), coalesce(sum(loops), 0), "
                "coalesce(sum(seconds), 0.0) FROM chunks WHERE run = ?",
                (run,),
            ).fetchone()
        return Totals(*row)

    def chunks(self, run: int) -> Iterator[tuple[int, int, int, NDArray[np.int64]]]:
        """Yield number, games, loops and histogram of each finished chunk of a run, in order."""
        with self._telling():
            rows = self._base.execute(
                "SELECT number, games, loops, histogram FROM chunks WHERE run = ? ORDER BY number",
                (run,),
            ).fetchall()
        for number, games, loops, blob in rows:
            try:
                histogram = np.frombuffer(zlib.decompress(blob), "<i8").astype(np.int64)
            except DAMAGE as error:
                raise StoreError(f"{self.path}: run {run} has a damaged chunk: {error}") from None
            yield number, games, loops, histogram

    def histogram(self, run: int) -> NDArray[np.int64]:
        """Return how many finished games of a run had 0, 1, 2, ... cards."""
        total = np.zeros(0, np.int64)
        for *_, histogram in self.chunks(run):
            total = merged(total, histogram)
        return total

    # Chunks and finds

    def least_kept(self, run: Run) -> tuple[int, int]:
        """Return which cards, and which tricks, a long game needs to be kept: 0 while few are."""
        least = []
        for column in ("cards", "tricks"):
            with self._telling():
                row = self._base.execute(
                    f"SELECT {column} FROM finds WHERE run = ? AND kind = 'long' "
                    f"ORDER BY {column} DESC LIMIT 1 OFFSET ?",
                    (run.id, run.keep - 1),
                ).fetchone()
            least.append(row[0] if row else 0)
        return least[0], least[1]

    def best(self, run: int) -> tuple[int, int, int]:
        """Return most cards and most tricks of a run's long games, and how many loops it has."""
        with self._telling():
            row = self._base.execute(
                "SELECT coalesce(max(CASE kind WHEN 'long' THEN cards END), 0), "
                "coalesce(max(CASE kind WHEN 'long' THEN tricks END), 0), "
                "coalesce(sum(kind = 'loop'), 0) FROM finds WHERE run = ?",
                (run,),
            ).fetchone()
        return row[0], row[1], row[2]

    def finish(
        self,
        run: Run,
        number: int,
        result: ChunkResult,
        seconds: float,
        proved: Sequence[tuple[Kind, int, dict[str, Any]]],
    ) -> bool:
        """Enter a finished chunk and its finds, in one transaction.

        Parameters
        ----------
        proved
            Kind, place in the order of the run, and outcome of each deal worth keeping, confirmed
            by the reference engine.

        Returns
        -------
        bool
            False if the chunk had been finished before; then nothing is entered.
        """
        histogram = zlib.compress(result.histogram.astype("<i8").tobytes(), 6)
        with self._transaction() as base:
            added = base.execute(
                "INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
                (run.id, number, result.games, result.loops, seconds, histogram),
            ).rowcount
            if not added:
                return False
            for kind, place, outcome in proved:
                base.execute(
                    "INSERT INTO finds (run, chunk, kind, deal, cards, tricks, place, outcome) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, kind, deal) DO UPDATE "
                    "SET chunk = excluded.chunk, place = excluded.place "
                    "WHERE excluded.place < finds.place",
                    (
                        run.id,
                        number,
                        kind,
                        outcome["deal"],
                        outcome["cards"],
                        outcome["tricks"],
                        place,
                        json.dumps(outcome),
                    ),
                )
            for cycle in result.cycles:
                fields = asdict(cycle)
                base.execute(
                    "INSERT INTO cycles (run, chunk, canonical, tricks, cards, mirror, balance, "
                    "balanced, family) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (run, canonical) DO UPDATE SET chunk = excluded.chunk "
                    "WHERE excluded.chunk < cycles.chunk",
                    (run.id, number, *fields.values()),
                )
            if result.memory:
                base.execute(
                    "INSERT INTO memories VALUES (?, ?, ?)", (run.id, number, result.memory)
                )
            self._prune(base, run)
        return True

    def memories(self, run: int, chunks: Sequence[int]) -> dict[int, bytes]:
        """Return what these chunks of a run left for others to go on from, as far as it is kept."""
        marks = ", ".join("?" * len(chunks))
        with self._telling():
            rows = self._base.execute(
                f"SELECT chunk, memory FROM memories WHERE run = ? AND chunk IN ({marks})",
                (run, *chunks),
            ).fetchall()
        return dict(rows)

    def remembered(self, run: int) -> list[int]:
        """Return the chunks of a run of which something is kept for others to go on from."""
        with self._telling():
            rows = self._base.execute("SELECT chunk FROM memories WHERE run = ?", (run,)).fetchall()
        return [chunk for (chunk,) in rows]

    def forget(self, run: int, chunk: int) -> None:
        """Drop what a chunk left for others to go on from."""
        with self._transaction() as base:
            base.execute("DELETE FROM memories WHERE run = ? AND chunk = ?", (run, chunk))

    def cycles(self, run: int) -> list[FoundCycle]:
        """Return the cycles that a run found, those with the most balanced deals first."""
        with self._telling():
            rows = self._base.execute(
                "SELECT canonical, tricks, cards, mirror, balance, balanced, family FROM cycles "
                "WHERE run = ? ORDER BY balanced DESC, balance DESC, canonical",
                (run,),
            ).fetchall()
        return [
            FoundCycle(canonical, tricks, cards, bool(mirror), balance, balanced, family)
            for canonical, tricks, cards, mirror, balance, balanced, family in rows
        ]

    @staticmethod
    def _prune(base: sqlite3.Connection, run: Run) -> None:
        """Drop the long games that are among the longest neither by cards nor by tricks."""
        longest = (
            "SELECT id FROM (SELECT id FROM finds WHERE run = :run AND kind = 'long' "
            "ORDER BY {} DESC, place LIMIT :keep)"
        )
        base.execute(
            "DELETE FROM finds WHERE run = :run AND kind = 'long' AND id NOT IN ("
            f"{longest.format('cards')} UNION {longest.format('tricks')})",
            {"run": run.id, "keep": run.keep},
        )

    def finds(
        self,
        *,
        kind: str | None = None,
        deck: Deck | None = None,
        run: int | None = None,
        least_cards: int = 0,
        doubles: bool = False,
    ) -> list[Find]:
        """Return the board: loops first, then the longest games; each deal once.

        Parameters
        ----------
        kind, deck, run, least_cards
            Only these.
        doubles
            Return a deal for every run that found it.
        """
        conditions, values = ["cards >= ?"], [least_cards]
        for column, value in (("kind", kind), ("run", run)):
            if value is not None:
                conditions.append(f"{column} = ?")
                values.append(value)  # type: ignore[arg-type]
        with self._telling():
            rows = self._base.execute(
                "SELECT finds.id, run, chunk, kind, deal, cards, tricks, place, outcome, rules, "
                f"deck FROM finds JOIN runs ON runs.id = run WHERE {' AND '.join(conditions)} "
                "ORDER BY kind = 'long', cards DESC, finds.id",
                values,
            ).fetchall()
        finds = [_find_of(row) for row in rows]
        if deck is not None:  # however it is spelled
            finds = [find for find in finds if dict(find.deck.counts) == dict(deck.counts)]
        if doubles:
            return finds
        first = {(find.kind, find.deal, find.rules): find for find in reversed(finds)}
        return [find for find in finds if first[find.kind, find.deal, find.rules] is find]

    def find(self, number: int) -> Find:
        """Return a find.

        Raises
        ------
        RunError
            When there is none of this number.
        """
        found = [find for find in self.finds(doubles=True) if find.id == number]
        if not found:
            raise RunError(f"there is no find {number} in {self.path}: see bmn finds list")
        return found[0]

    # Merging

    def take_over(self, other: "Store") -> tuple[int, int]:
        """Take over the runs, chunks and finds of another file, nothing twice.

        The caller has proved the finds. Runs that both files have are united.

        Returns
        -------
        tuple of int
            How many runs and how many finds are new here.
        """
        with closing(other._base.cursor()) as cursor:
            runs = cursor.execute("SELECT * FROM runs").fetchall()
            chunks = cursor.execute("SELECT * FROM chunks").fetchall()
            finds = cursor.execute("SELECT * FROM finds ORDER BY id").fetchall()
            cycles = cursor.execute("SELECT * FROM cycles").fetchall()
            memories = cursor.execute("SELECT * FROM memories").fetchall()
        for entered in other.runs():
            counted = other.histogram(entered.id).sum() + other.totals(entered.id).loops
            if entered.keep < 1 or counted > other.totals(entered.id).games:
                raise StoreError(f"{other.path}: run {entered.id} does not add up")
        new_runs = new_finds = 0
        here: dict[int, int] = {}
        with self._transaction() as base:
            for old, *fields in runs:
                marks = ", ".join("?" * len(fields))
                new_runs += base.execute(
                    f"INSERT OR IGNORE INTO runs VALUES (NULL, {marks})", fields
                ).rowcount
                (here[old],) = base.execute(
                    "SELECT id FROM runs WHERE uid = ?", fields[:1]
                ).fetchone()
            for old, *fields in chunks:
                base.execute(
                    "INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?, ?)", (here[old], *fields)
                )
            for _, old, *fields in finds:
                new_finds += base.execute(
                    "INSERT OR IGNORE INTO finds VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (here[old], *fields),
                ).rowcount
            for old, *fields in cycles:
                base.execute(
                    "INSERT OR IGNORE INTO cycles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (here[old], *fields),
                )
            for old, *fields in memories:
                base.execute(
                    "INSERT OR IGNORE INTO memories VALUES (?, ?, ?)", (here[old], *fields)
                )
            for run in self.runs():
                self._prune(base, run)
        return new_runs, new_finds


# What reading a field of a damaged or edited file can raise.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error)


def _run_of(row: tuple[Any, ...]) -> Run:
    try:
        return _read_run(row)
    except DAMAGE as error:
        raise StoreError(
            f"run {row[0]} is damaged ({error}): expected one as it was begun"
        ) from None


def _find_of(row: tuple[Any, ...]) -> Find:
    try:
        return _read_find(row)
    except DAMAGE as error:
        raise StoreError(f"find {row[0]} is damaged ({error}): expected one as entered") from None


def _read_run(row: tuple[Any, ...]) -> Run:
    number, uid, strategy, parameters, rules, deck, seed, *rest = row
    return Run(
        number,
        uid,
        strategy,
        json.loads(parameters),
        rules_from_json(rules),
        Deck.parse(deck),
        int(seed),
        *rest,
    )


def _read_find(row: tuple[Any, ...]) -> Find:
    number, run, chunk, kind, deal, cards, tricks, place, outcome, rules, deck = row
    Deal.parse(deal)
    return Find(
        number,
        run,
        chunk,
        kind,
        deal,
        cards,
        tricks,
        place,
        json.loads(outcome),
        rules_from_json(rules),
        Deck.parse(deck),
    )
