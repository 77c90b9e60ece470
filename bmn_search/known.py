"""Known deals: files of published deals with their claims, and whether the claims hold.

A file is plain text: records of ``key: value`` lines with an empty line between them; lines that
begin with ``#`` are comments. ``deal`` is required; what is claimed is said with the keys of
`Outcome` (``status``, ``winner``, ``cards``, ``tricks``, ``transient_cards``, ...); ``name``,
``source``, ``year`` and ``note`` say where it comes from; ``rules``, ``penalties``, ``distinct``,
``notation`` and ``deck`` say how it is to be read and played. docs/known-deals.md has examples.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args

from bmn_search.deal import Deal, Deck
from bmn_search.engine import play_both
from bmn_search.errors import BmnError, DealError, KnownDealError
from bmn_search.notation import NOTATIONS
from bmn_search.outcome import Count, Distinct, Outcome
from bmn_search.rules import STANDARD, Rules

NOTHING = "no deals found: expected records with a line 'deal: P1/P2' and a claim"

__all__ = [
    "CONVENTIONS",
    "NOTHING",
    "Convention",
    "KnownDeal",
    "Verification",
    "known_deals",
    "read_known",
    "verify",
]

Value = int | str | bool
Complain = Callable[[KnownDealError], None]
Convention = Literal[
    "standard",
    "until_called",
    "completed_tricks",
    "until_called, completed_tricks",
    "players_exchanged",
    "plain_distinct",
]
# What a source does that counts in another convention than ours.
CONVENTIONS: dict[Convention, str] = {
    "standard": "counts as we do",
    "until_called": "lets the winner lead once more",
    "completed_tricks": "does not count an unfinished last pile as a trick",
    "until_called, completed_tricks": "lets the winner lead once more, and counts no trick for it",
    "players_exchanged": "takes a position with the players exchanged for the same",
    "plain_distinct": "tells every plain card apart",
}

_NUMBERS = {
    "winner",
    "cards",
    "tricks",
    "transient_cards",
    "transient_tricks",
    "cycle_cards",
    "cycle_tricks",
}
_WORDS = {"status": ("finished", "loop"), "mirror": ("true", "false")}
_HOW = {
    "rules": tuple[str, ...](),
    "penalties": (),
    "distinct": get_args(Distinct),
    "notation": NOTATIONS,
    "deck": (),
}
_ABOUT = {"name", "deal", "source", "year", "note"}


@dataclass(frozen=True, slots=True)
class KnownDeal:
    """A deal that somebody published, and what they say of it.

    Attributes
    ----------
    claim
        Some of the keys of `Outcome` with the values claimed.
    distinct
        Which cards the claim tells apart when a position recurs.
    source, year, note
        As the file gives them, empty if it does not.
    file, line
        Where the record begins.
    """

    name: str
    deal: Deal
    claim: Mapping[str, Value]
    rules: Rules = STANDARD
    distinct: Distinct = "none"
    source: str = ""
    year: str = ""
    note: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a claim holds.

    Attributes
    ----------
    outcome
        What the compiled engine computes.
    engines_agree
        Whether the reference engine computes the same.
    convention
        The convention in which the claim holds, None if it holds in none.
    differences
        Where the claim holds in none: key, claimed and computed value (in our convention).
    """

    known: KnownDeal
    outcome: Outcome
    engines_agree: bool
    convention: Convention | None
    differences: tuple[tuple[str, Value, Value | None], ...] = field(default=())

    @property
    def agrees(self) -> bool:
        """Whether both engines agree, and the claim holds in some convention."""
        return self.engines_agree and self.convention is not None

    @property
    def remark(self) -> str:
        """What there is to say beside yes: one line, empty for a plain yes."""
        if not self.engines_agree:
            return "the two engines DISAGREE: please report this deal"
        if self.convention is None:
            return "; ".join(self._difference(*difference) for difference in self.differences)
        if self.convention == "standard":
            return ""
        computed = _figures(self.outcome)
        other = ", ".join(
            f"{value} {key.replace('_', ' ')} ({computed[key]} in ours)"
            for key, value in self.known.claim.items()
            if computed[key] != value
        )
        return f"{other}: this source {CONVENTIONS[self.convention]}"

    def _difference(self, key: str, claimed: Value, computed: Value | None) -> str:
        told = f"{key}: claimed {claimed}, computed {computed}"
        called = self.outcome.counting.until_called.cards
        if key == "cards" and self.outcome.status == "finished" and claimed == called + 1:
            told += " (one more is counted if the call on an empty packet counts as a card)"
        return told


def known_deals(
    path: str | Path | None = None, complain: Complain | None = None
) -> list[KnownDeal]:
    """Read known deals: those that come with the package, or a file, or a folder of `.txt` files.

    Parameters
    ----------
    path
        The file or folder; None for what comes with the package.
    complain
        As in `read_known`.

    Raises
    ------
    KnownDealError
        When a file cannot be read, with its name and the line.

    Examples
    --------
    >>> known_deals()[0].name
    'Casella 2024'
    """
    if path is None:
        return [known for file in _files(_shipped()) for known in _read_file(file, file.name)]
    path = Path(path)
    try:
        files: Iterable[Traversable] = _files(path) if path.is_dir() else [path]
    except OSError as error:
        raise KnownDealError(f"{path}: cannot be read: {error.strerror}") from None
    found = [known for file in files for known in _read_file(file, str(file), complain)]
    if not found and complain is None:
        raise KnownDealError(f"{path}: {NOTHING}")
    return found


def _shipped() -> Traversable:
    package = resources.files("bmn_search")
    installed = package / "known_deals"
    return installed if installed.is_dir() else Path(str(package)).parent / "known_deals"


def _files(folder: Traversable) -> list[Traversable]:
    texts = (entry for entry in folder.iterdir() if entry.name.endswith(".txt"))
    return sorted(texts, key=lambda entry: entry.name)


def _read_file(
    file: Traversable, name: str, complain: Complain | None = None
) -> Iterator[KnownDeal]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise KnownDealError(f"{name}: is no text file: expected records in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise KnownDealError(f"{name}: cannot be read: {reason}") from None
    return read_known(text, name, complain)


def read_known(
    text: str, file: str = "<text>", complain: Complain | None = None
) -> Iterator[KnownDeal]:
    """Read the records of a text.

    Parameters
    ----------
    text
        Records as in docs/known-deals.md.
    file
        What an error calls the text.
    complain
        Called with the error of each record that cannot be understood; by default it is raised.

    Raises
    ------
    KnownDealError
        At the first line that cannot be understood, unless `complain` is given.
    """
    record: dict[str, tuple[int, str]] = {}
    wrong: KnownDealError | None = None
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.startswith("#"):
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if line.strip():
            if not colon:
                wrong = KnownDealError(f"{file}:{number}: {key!r}: expected 'key: value'")
            elif key in record:
                wrong = KnownDealError(
                    f"{file}:{number}: {key!r} stands twice: expected an empty line between records"
                )
            record.setdefault(key, (number, value))
        elif record:
            try:
                if wrong:
                    raise wrong
                yield _known_deal(record, file)
            except KnownDealError as error:
                if complain is None:
                    raise
                complain(error)
            record, wrong = {}, None


def _known_deal(numbered: dict[str, tuple[int, str]], file: str) -> KnownDeal:
    """Make a known deal of a record; every error names the line it comes from."""
    record = {key: value for key, (_, value) in numbered.items()}
    lines = {key: number for key, (number, _) in numbered.items()}
    line = min(lines.values())
    claim: dict[str, Value] = {}
    for key, value in record.items():
        allowed = _HOW.get(key, ())
        if key in _NUMBERS:
            if not re.fullmatch(r"[0-9][0-9,]{0,30}", value):
                raise KnownDealError(f"{file}:{lines[key]}: {key} {value!r}: expected a number")
            claim[key] = int(value.replace(",", ""))
        elif key in _WORDS:
            allowed = _WORDS[key]
            claim[key] = value == "true" if key == "mirror" else value
        elif key not in _HOW and key not in _ABOUT:
            keys = ", ".join([*sorted(_ABOUT), *_WORDS, *sorted(_NUMBERS), *_HOW])
            raise KnownDealError(f"{file}:{lines[key]}: unknown key {key!r}: expected {keys}")
        if allowed and value not in allowed:
            raise KnownDealError(
                f"{file}:{lines[key]}: {key} {value!r}: expected {' or '.join(allowed)}"
            )
    if "deal" not in record:
        raise KnownDealError(f"{file}:{line}: the record has no line 'deal: P1/P2'")
    if not claim:
        raise KnownDealError(
            f"{file}:{line}: the record claims nothing: expected a line as 'cards: 8344' or "
            "'status: loop'"
        )
    key = "deal"
    try:
        deal = Deal.parse(record["deal"], notation=record.get("notation", "ranks"))  # type: ignore[arg-type]
        key = "rules"
        rules = Rules.named(record.get("rules", STANDARD.name)).for_players(len(deal.packets))
        key = "penalties"
        rules = rules.with_penalties(record[key]) if key in record else rules
        key = "deck" if "deck" in record else "deal"
        _check_deck(record.get("deck"), deal, rules)
    except BmnError as error:
        raise KnownDealError(f"{file}:{lines.get(key, line)}: {error}") from None
    return KnownDeal(
        name=record.get("name", str(deal)),
        deal=deal,
        claim=claim,
        rules=rules,
        distinct=record.get("distinct", "none"),  # type: ignore[arg-type]
        source=record.get("source", ""),
        year=record.get("year", ""),
        note=record.get("note", ""),
        file=file,
        line=line,
    )


def _check_deck(deck: str | None, deal: Deal, rules: Rules) -> None:
    aside = rules.spare_cards == "aside"
    if deck is None:
        try:
            Deck.of(deal, aside)
        except DealError as error:
            own = Deck.own(deal).spec
            raise DealError(
                f"{error}; mend it, or add a line 'deck: {own}' or 'deck: any'"
            ) from None
    elif deck != "any":
        Deck.parse(deck).check(deal, aside)


def verify(known: KnownDeal) -> Verification:
    """Play a known deal with both engines and compare with what is claimed.

    Examples
    --------
    >>> result = verify(known_deals()[0])
    >>> result.agrees, result.convention
    (True, 'standard')
    """
    outcome, _, agree = play_both(known.deal, known.rules, known.distinct)
    for convention, figures in _readings(outcome):
        if _fits(known, figures):
            return Verification(known, outcome, agree, convention)
    if outcome.status == "loop" and known.distinct == "none":
        apart, _, agree_apart = play_both(known.deal, known.rules, "plain")
        figures = _figures(apart)
        if _fits(known, _figures(outcome) | {key: figures[key] for key in _NUMBERS}):
            return Verification(known, outcome, agree and agree_apart, "plain_distinct")
    computed = _figures(outcome)
    differences = tuple(
        (key, value, computed[key]) for key, value in known.claim.items() if computed[key] != value
    )
    return Verification(known, outcome, agree, None, differences)


def _fits(known: KnownDeal, figures: dict[str, Value | None]) -> bool:
    return all(figures[key] == value for key, value in known.claim.items())


def _figures(outcome: Outcome) -> dict[str, Value | None]:
    """Return all that can be claimed, as we count it."""
    figures = outcome.as_dict()
    return {key: figures[key] for key in [*_NUMBERS, *_WORDS]}


def _readings(outcome: Outcome) -> Iterator[tuple[Convention, dict[str, Value | None]]]:
    """Yield every convention and what an outcome would be said to be in it."""
    figures = _figures(outcome)
    yield "standard", figures
    if outcome.status == "finished":
        called, completed = outcome.counting
        yield "until_called", figures | called._asdict()
        yield "completed_tricks", figures | completed._asdict()
        both = Count(called.cards, completed.tricks)
        yield "until_called, completed_tricks", figures | both._asdict()
    if outcome.mirror:
        yield "players_exchanged", _exchanged(figures)


def _exchanged(figures: dict[str, Value | None]) -> dict[str, Value | None]:
    """Count the cycle of a mirror loop up to the exchange of the players: half of it."""
    half = {}
    for unit in ("cards", "tricks"):
        cycle, total = figures[f"cycle_{unit}"], figures[unit]
        assert isinstance(cycle, int)
        assert isinstance(total, int)
        half[f"cycle_{unit}"], half[unit] = cycle // 2, total - cycle // 2
    return figures | half
