"""Files of records of exhausted decks: one JSON document a line, one deck each.

They are read strictly. A line is a record when it has exactly the known fields with exactly their
types, in the one spelling in which a record is written; whether it is true is another question,
which `bmn_search.exhaustive.check` answers. Everything else is an error that names the line.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar, get_type_hints

from bmn_search.deal import Deck
from bmn_search.errors import BmnError, RecordError
from bmn_search.exhaustive import Chunk, CycleCount, Longest, Record, rules_document
from bmn_search.files import replace_text
from bmn_search.rules import NAMED_RULES, STANDARD, Rules
from bmn_search.search.exhaust import Numbering

__all__ = ["check_enterable", "enter", "read_records"]

Complain = Callable[[RecordError], None]
Named = TypeVar("Named", bound=NamedTuple)

FIELDS = (
    *("deck", "rules", "all_splits", "deals", "infinite", "cycles"),
    *("longest_cards", "longest_tricks", "loops", "histogram", "chunks"),
)
MOST_DIGITS = 50  # no deck has as many deals
MOST_LETTERS = 300  # of a text
SHOWN = 40  # letters of a value in a message


def read_records(path: str | Path, complain: Complain | None = None) -> list[Record]:
    """Read a file of records.

    Parameters
    ----------
    complain
        Called with the error of each line that is no record; by default it is raised.

    Raises
    ------
    RecordError
        When the file cannot be read or holds no record; at the first line that is none, unless
        `complain` is given. The message names the line.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        raise RecordError(f"{path}: is no text file: expected records in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{path}: cannot be read: {reason}") from None
    if not any(line.strip() for line in lines):
        raise RecordError(f"{path}: holds no records: expected one JSON document a line")
    records: dict[Any, Record] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = replace(_record(_json(line)), line=number)
            if before := records.get(record.key):
                raise RecordError(f"the same deck, rules and splits are in line {before.line}")
            records[record.key] = record
        except BmnError as error:
            wrong = RecordError(f"{path}:{number}: is no record: {error}")
            if complain is None:
                raise wrong from None
            complain(wrong)
    return list(records.values())


def enter(path: str | Path, record: Record) -> None:
    """Write a record into a file of them, in place of one of the same deck, rules and splits.

    Raises
    ------
    RecordError
        When the file cannot be read or written, or the record could not be read again; then the
        file is as it was.
    """
    path = Path(path)
    _record(_json(_line(record)))
    records = {other.key: other for other in [*_entered(path), record]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, "".join(_line(records[key]) + "\n" for key in sorted(records)))
    except OSError as error:
        raise RecordError(f"{path}: cannot be written: {error.strerror}") from None


def _line(record: Record) -> str:
    return json.dumps(record.document(), separators=(",", ":"))


def check_enterable(path: str | Path) -> None:
    """Refuse a file into which no record could be written, before any work is done.

    Raises
    ------
    RecordError
        When it holds something else, or is protected.
    """
    path = Path(path)
    _entered(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise RecordError(f"{path}: cannot be written: no permission")


def _entered(path: Path) -> list[Record]:
    """Return the records that a file has; it may be empty, or not there yet."""
    return read_records(path) if path.exists() and path.stat().st_size else []


# A line


def _record(value: Any) -> Record:
    fields = _object(value, "it", FIELDS)
    deck = Deck.parse(_text(fields["deck"], "deck"))
    if deck.spec != fields["deck"]:
        raise RecordError(f"deck is {_shown(fields['deck'])}: expected {deck.spec}")
    chunks = [_list(chunk, "a chunk") for chunk in _list(fields["chunks"], "chunks")]
    if odd := [chunk for chunk in chunks if len(chunk) != len(Chunk._fields)]:
        raise RecordError(f"a chunk is {_shown(odd[0])}: expected {', '.join(Chunk._fields)}")
    return Record(
        Numbering(deck, _truth(fields["all_splits"], "all_splits")),
        _rules(fields["rules"]),
        _whole(fields["deals"], "deals"),
        _whole(fields["infinite"], "infinite"),
        _wholes(fields["histogram"], "histogram"),
        _wholes(fields["loops"], "loops"),
        [_named(CycleCount, cycle, "a cycle") for cycle in _list(fields["cycles"], "cycles")],
        _longest(fields["longest_cards"], "longest_cards"),
        _longest(fields["longest_tricks"], "longest_tricks"),
        [Chunk(*_wholes(chunk, "a chunk")) for chunk in chunks],
    )


def _longest(value: Any, what: str) -> Longest | None:
    return None if value is None else _named(Longest, value, what)


def _rules(value: Any) -> Rules:
    """Read rules as `rules_document` writes them; for two players."""
    if isinstance(value, str):
        rules = Rules.named(_text(value, "rules"))
    else:
        fields = dict(_object(value, "rules", asdict(STANDARD)))
        for key, usual in asdict(STANDARD).items():
            if isinstance(usual, tuple):
                fields[key] = tuple(_wholes(fields[key], f"rules.{key}"))
            elif usual is not None:
                _READERS[type(usual)](fields[key], f"rules.{key}")
            elif fields[key] is not None:
                _whole(fields[key], f"rules.{key}")
        rules = Rules(**fields)
    if rules_document(rules) != value:
        raise RecordError(f"rules are those named {rules.name}: expected the name alone")
    if rules.name in NAMED_RULES and rules != NAMED_RULES[rules.name]:
        raise RecordError(f"rules are not those named {rules.name}: expected another name")
    if rules.players != STANDARD.players:
        raise RecordError(f"rules are for {rules.players:,} players: expected 2")
    return rules


# Values of one type each: no number is a truth value, no whole number a fraction


def _object(value: Any, what: str, keys: Iterable[str]) -> dict[str, Any]:
    if type(value) is not dict:
        raise RecordError(f"{what} is {_shown(value)}: expected an object of {', '.join(keys)}")
    for key in keys:
        if key not in value:
            raise RecordError(f"{what} has no field {key}: expected {', '.join(keys)}")
    if more := [key for key in value if key not in keys]:
        raise RecordError(f"{what} has a field {_shown(more[0])}: expected {', '.join(keys)}")
    return value


def _named(kind: type[Named], value: Any, what: str) -> Named:
    """Fill a named tuple from an object with its fields."""
    types = get_type_hints(kind)
    fields = _object(value, what, types)
    return kind(*(_READERS[types[key]](fields[key], f"{what}: {key}") for key in types))


def _list(value: Any, what: str) -> list[Any]:
    if type(value) is not list:
        raise RecordError(f"{what} is {_shown(value)}: expected a list")
    return value


def _wholes(value: Any, what: str) -> list[int]:
    return [_whole(number, what) for number in _list(value, what)]


def _whole(value: Any, what: str) -> int:
    if type(value) is not int or value < 0:
        raise RecordError(f"{what} has {_shown(value)}: expected a whole number from 0")
    return value


def _truth(value: Any, what: str) -> bool:
    if type(value) is not bool:
        raise RecordError(f"{what} is {_shown(value)}: expected true or false")
    return value


def _text(value: Any, what: str) -> str:
    if type(value) is not str or len(value) > MOST_LETTERS:
        raise RecordError(
            f"{what} is {_shown(value)}: expected a text of at most {MOST_LETTERS} letters"
        )
    return value


_READERS: dict[type, Callable[[Any, str], Any]] = {int: _whole, bool: _truth, str: _text}


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


# JSON: what Python reads beyond the standard, and what it passes over, is refused


def _json(line: str) -> Any:
    try:
        return json.loads(
            line, object_pairs_hook=_once, parse_int=_digits, parse_constant=_no_number
        )
    except BmnError:
        raise
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "it is nested too deeply")
        raise RecordError(f"expected a JSON document: {reason}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"the field {_shown(twice)} stands twice")
    return fields


def _digits(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise RecordError(f"a number has {len(text):,} digits: expected at most {MOST_DIGITS}")
    return int(text)


def _no_number(text: str) -> NoReturn:
    raise RecordError(f"{text} is no number of JSON")
