"""The board of finds outside the store: exported, imported, and compared with known deals."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bmn_search.deal import Deal, Deck
from bmn_search.engine import play
from bmn_search.errors import BmnError, StoreError
from bmn_search.known import known_deals
from bmn_search.outcome import Outcome
from bmn_search.rules import Rules
from bmn_search.search import runner
from bmn_search.search.strategy import Candidate, ChunkResult, Kind
from bmn_search.store import DAMAGE, Find, Store, rules_from_json, rules_to_json

__all__ = ["FORMATS", "Imported", "document", "export", "import_file", "known_name"]

FORMATS = ("jsonl", "csv", "known")


@cache
def _known() -> dict[tuple[Deal, tuple[int, ...], str], str]:
    names: dict[tuple[Deal, tuple[int, ...], str], str] = {}
    for known in known_deals():
        for deal in (known.deal, known.deal.exchanged()):
            names[deal, known.rules.penalties, known.rules.next_leader] = known.name
    return names


def known_name(deal: Deal, rules: Rules) -> str | None:
    """Return the name of a deal in `known_deals/`, or None; the players may be exchanged."""
    return _known().get((deal, rules.penalties, rules.next_leader))


def document(find: Find) -> dict[str, Any]:
    """Return the JSON document of a find: enough to import it elsewhere."""
    return {
        "id": find.id,
        "kind": find.kind,
        "deal": find.deal,
        "cards": find.cards,
        "tricks": find.tricks,
        "known": known_name(Deal.parse(find.deal), find.rules),
        "run": find.run,
        "chunk": find.chunk,
        "number": find.place,
        "deck": find.deck.name,
        "rules": json.loads(rules_to_json(find.rules)),
        "outcome": find.outcome,
    }


def export(finds: Iterable[Find], form: str) -> str:
    """Write finds as a text: JSON lines, CSV, or records that `bmn verify` reads.

    Raises
    ------
    StoreError
        When the format is unknown.
    """
    if form == "jsonl":
        return "".join(json.dumps(document(find)) + "\n" for find in finds)
    if form == "csv":
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        columns = ["id", "kind", "deal", "cards", "tricks", "known", "run", "number", "deck"]
        rows.writerow([*columns, "rules"])
        for find in finds:
            fields = document(find)
            rows.writerow([*(fields[column] for column in columns), find.rules.name])
        return text.getvalue()
    if form == "known":
        return "\n".join(_record(find) for find in finds)
    raise StoreError(f"format {form!r} is unknown: expected one of {', '.join(FORMATS)}")


def _record(find: Find) -> str:
    """Write a find as a record of a file of known deals."""
    fields = {"name": f"find {find.id} of run {find.run}", "deal": find.deal}
    base, _, penalties = find.rules.name.partition(" ")
    if base != "standard":
        fields["rules"] = base
    if penalties:
        fields["penalties"] = penalties
    if find.deck.name not in ("standard52", "camicia40", "half20"):
        fields["deck"] = find.deck.spec
    keys = ["status", "winner", "cards", "tricks"]
    if find.kind == "loop":
        keys += ["transient_cards", "transient_tricks", "cycle_cards", "cycle_tricks", "mirror"]
    for key in keys:
        value = find.outcome[key]
        if value is not None:
            fields[key] = str(value).lower() if isinstance(value, bool) else str(value)
    fields["note"] = "found by bmn_search"
    return "".join(f"{key}: {value}\n" for key, value in fields.items())


@dataclass
class Imported:
    """How many runs and finds an import brought."""

    runs: int = 0
    finds: int = 0


def import_file(store: Store, path: str | Path) -> Imported:
    """Take over the finds of another file of finds, or of an export as JSON lines.

    Every find is proved by both engines before it is taken over; nothing is entered twice.

    Raises
    ------
    StoreError
        When the file cannot be read, or holds a find that is not true: then nothing is taken over.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            is_store = file.read(16) == b"SQLite format 3\0"
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
    done = Imported()
    if is_store:
        with Store(path, create=False) as other:
            for find in other.finds(doubles=True):
                where = f"{path}, find {find.id}"
                _proved(where, document(find))
            done.runs, done.finds = store.take_over(other)
        return done
    _import_lines(store, path, done)
    return done


def _import_lines(store: Store, path: Path, done: Imported) -> None:
    """Enter the finds of an export, by rules and deck, as runs of the strategy ``import``."""
    groups: dict[tuple[str, str], list[tuple[str, Outcome]]] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"{path}: is neither a file of finds nor an export of one") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            outcome, kind, deck = _proved(f"{path}:{number}", line)
            key = rules_to_json(outcome.rules), deck.name
            groups.setdefault(key, []).append((kind, outcome))
    here = {(find.kind, find.deal, find.rules) for find in store.finds()}
    for (rules_text, spec), members in groups.items():
        rules = rules_from_json(rules_text)
        once = {(kind, str(outcome.deal)): outcome for kind, outcome in members}
        new = [
            (kind, outcome)
            for (kind, deal), outcome in once.items()
            if (kind, deal, rules) not in here
        ]
        if new:
            done.runs += 1
            done.finds += len(new)
            _enter_import(store, path, rules, Deck.parse(spec), new)


class _Import:
    """The plan of a run that holds imported finds."""

    name = "import"
    seed = 0

    def __init__(self, path: Path, rules: Rules, deck: Deck, keep: int) -> None:
        self.rules, self.deck, self.keep = rules, deck, keep
        self._path = path

    def parameters(self) -> dict[str, Any]:
        return {"file": self._path.name}


def _enter_import(
    store: Store, path: Path, rules: Rules, deck: Deck, new: list[tuple[str, Outcome]]
) -> None:
    entered = store.begin(_Import(path, rules, deck, len(new)))
    proved = [(kind, place, outcome.as_dict()) for place, (kind, outcome) in enumerate(new)]
    store.finish(entered, 0, ChunkResult(), 0.0, proved)  # type: ignore[arg-type]


def _proved(where: str, find: str | dict[str, Any]) -> tuple[Outcome, Kind, Deck]:
    """Return outcome, kind and deck of a claimed find, once both engines agree on all of it.

    Raises
    ------
    StoreError
        When it is not what it claims to be.
    """
    try:
        fields = json.loads(find) if isinstance(find, str) else find
        rules = rules_from_json(json.dumps(fields["rules"]))
        deal, deck = Deal.parse(fields["deal"]), Deck.parse(fields["deck"])
        deck.check(deal)
        outcome = play(deal, rules)
        kind: Kind = "loop" if outcome.status == "loop" else "long"
        computed = outcome.as_dict()
        facts = {
            "kind": kind,
            "cards": outcome.cards,
            "tricks": outcome.tricks,
            "outcome": computed,
        }
        wrong = [name for name, value in facts.items() if fields[name] != value]
    except DAMAGE as error:
        what = error if isinstance(error, BmnError) else "expected a line of an export"
        raise StoreError(f"{where}: is no find: {what}") from None
    if outcome.status == "unknown" or wrong or not _is_named(rules):
        reason = ", ".join(wrong) or ("rules" if outcome.status != "unknown" else "a limit")
        raise StoreError(
            f"{where}: {deal} is not what the file says ({reason}): expected {outcome.status}, "
            f"{outcome.cards} cards, {outcome.tricks} tricks; nothing was imported"
        )
    runner.prove(Candidate(kind, deal, outcome.cards, outcome.tricks, 0), rules)
    return outcome, kind, deck


def _is_named(rules: Rules) -> bool:
    """Whether rules are what their name says: a sheet, perhaps with other penalties."""
    base, _, penalties = rules.name.partition(" ")
    sheet = Rules.named(base)
    return rules == (sheet.with_penalties(penalties) if penalties else sheet)
