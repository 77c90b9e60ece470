"""What several commands share: reading deals from arguments, files and stdin, and printing JSON."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from bmn_search.deal import ORDERS, SPLITS, Deal, Deck, split_uva
from bmn_search.errors import BmnError, DealError
from bmn_search.notation import NOTATIONS
from bmn_search.rules import NAMED_RULES, STANDARD, Rules

__all__ = [
    "Command",
    "DealCommand",
    "DealSource",
    "Seconds",
    "chosen_rules",
    "db_option",
    "deal_options",
    "deck_option",
    "json_option",
    "optional_deal_options",
    "print_json",
    "read_text",
    "rules_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])
Reader = Callable[[], Deal]

_CARDS = re.compile(r"-+[-./|JQKAjqkaTt2-9 ]+")
_SHIELD = " "
_OPTION = re.compile(r"--?[A-Za-z][-\w]*(=.*)?|-[0-9]+|-")


class DealCommand(click.Command):
    """A command whose deals may begin with ``-``, the plain card, as options do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Shield deals from the option parser; `deal_options` takes the shield off again."""
        options = {name for param in self.params for name in param.opts}
        end = args.index("--") if "--" in args else len(args)

        def is_deal(arg: str) -> bool:
            if _OPTION.fullmatch(arg):
                return arg not in options and bool(_CARDS.fullmatch(arg)) and not arg[1:].isdigit()
            return arg.startswith("-")

        shielded = [_SHIELD + arg if is_deal(arg) else arg for arg in args[:end]]
        return super().parse_args(ctx, shielded + args[end:])


@dataclass(frozen=True)
class DealSource:
    """Where deals come from, and how they are to be read and checked."""

    texts: tuple[str, ...]
    notation: str
    split: str
    order: str
    leader: int | None
    players: int
    deck: str | None
    any_deck: bool
    form: str
    rules: Rules = STANDARD

    @property
    def single(self) -> bool:
        """Whether there is one deal, given as arguments."""
        return len(self._literals()) == 1

    def each(self, show: Callable[[Deal], None]) -> None:
        """Show every deal; a bad one of several is reported on stderr, and exits with 2 at the end.

        Raises
        ------
        BmnError
            When the only deal is bad, or there is none.
        """
        seen = bad = 0
        for where, read in self._readers():
            seen += 1
            try:
                deal = read()
                self.check(deal)
                show(deal)
            except BmnError as error:
                if self.single:
                    raise
                click.echo(f"bmn: {where}: {error}", err=True)
                bad += 1
        if not seen:
            raise DealError(f"{' '.join(self.texts)}: no deals found: expected one deal a line")
        if bad:
            click.get_current_context().exit(2)

    def deck_of(self, deal: Deal) -> Deck:
        """Return the deck that a deal is of: the one asked for, its own, or a named one."""
        if self.any_deck:
            return Deck.own(deal)
        return Deck.parse(self.deck) if self.deck is not None else Deck.of(deal, self._aside)

    def check(self, deal: Deal) -> None:
        """Refuse a deal that is not of its deck."""
        if self.deck is not None:
            Deck.parse(self.deck)
        if self.any_deck:
            return
        try:
            self.deck_of(deal).check(deal, self._aside)
        except DealError as error:
            raise DealError(
                f"{error}; mend it, name its deck (--deck {Deck.own(deal).spec}), or lift the "
                "check (--any-deck)"
            ) from None

    @property
    def _aside(self) -> bool:
        return self.rules.spare_cards == "aside"

    def _literals(self) -> list[tuple[str, ...]]:
        """Return the deals given as arguments, each as its packets; none if there are files."""
        if any(text == "-" or _is_file(text) for text in self.texts):
            return []
        if len(self.texts) > 1 and not any(re.search(r"[/|]", text) for text in self.texts):
            return [self.texts]
        return [(text,) for text in self.texts]

    def _readers(self) -> Iterator[tuple[str, Reader]]:
        """Yield for each deal where it stands, and a function that reads it."""
        literals = self._literals()
        for number, packets in enumerate(literals, 1):
            yield f"deal {number}", partial(self._parse_argument, *packets)
        for text in () if literals else self.texts:
            if text != "-" and not _is_file(text):
                yield f"deal {text}", partial(self._parse_argument, text)
            else:
                yield from self._read_stream(text)

    def _read_stream(self, name: str) -> Iterator[tuple[str, Reader]]:
        where = "stdin" if name == "-" else name
        try:
            text = read_text(name)
        except DealError as error:
            yield where, partial(_fail, error)
            return
        if self.form == "uva":
            for number, deck in enumerate(split_uva(text), 1):
                yield f"{where}, deck {number}", partial(Deal.parse_uva, deck)
            return
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() and not line.startswith("#"):
                yield f"{where}, line {number}", partial(self._parse, line.strip())

    def _parse_argument(self, *packets: str) -> Deal:
        try:
            return self._parse(*packets)
        except DealError as error:
            if (
                len(packets) == 1
                and re.search(r"[^\W\d_]{2}", packets[0])
                and "no card" in str(error)
            ):
                raise DealError(f"{error}; nor is there a file of that name") from None
            raise

    def _parse(self, *packets: str) -> Deal:
        if self.form == "uva":
            return Deal.parse_uva(" ".join(packets))
        return Deal.parse(
            *packets,
            notation=self.notation,  # type: ignore[arg-type]
            split=self.split,  # type: ignore[arg-type]
            order=self.order,  # type: ignore[arg-type]
            leader=self.leader,
            players=self.players,
            aside=self._aside,
            repeats=self.any_deck,
        )


def _fail(error: DealError) -> Deal:
    raise error


def _is_file(text: str) -> bool:
    """Whether an argument names something to read rather than being a deal."""
    if re.fullmatch(r"[-./|JQKA\s]+", text):
        return False
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long, say, to be a name
        return False


def read_text(name: str) -> str:
    """Read a text file, or stdin if the name is ``-``.

    Raises
    ------
    DealError
        When that cannot be done.
    """
    where = "stdin" if name == "-" else name
    try:
        if name != "-":
            return Path(name).read_text(encoding="utf-8-sig")
        if sys.stdin is None:
            raise DealError("stdin is closed: expected deals on it")
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except OSError as error:
        raise DealError(f"{where}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DealError(f"{where}: is no text: expected UTF-8") from None


def _unshielded(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
    return tuple(text.removeprefix(_SHIELD) for text in texts)


def deal_options(command: Command, required: bool = True) -> Command:
    """Add the arguments and options that say which deals, and how to read them."""
    for decorator in reversed(
        [
            click.argument(
                "texts", metavar="DEAL...", nargs=-1, required=required, callback=_unshielded
            ),
            click.option(
                "--notation",
                type=click.Choice(NOTATIONS),
                default="ranks",
                show_default=True,
                help="ranks: - . 2-10 T J Q K A or real cards (H2, 10S); digits: demands 0-4.",
            ),
            click.option(
                "--split",
                type=click.Choice(SPLITS),
                default="half",
                show_default=True,
                help="How a whole deck in one text is dealt.",
            ),
            click.option(
                "--order",
                type=click.Choice(ORDERS),
                default="top-first",
                show_default=True,
                help="Which end of a written packet is its top.",
            ),
            click.option(
                "--leader", type=int, metavar="PLAYER", help="Who leads, from 1.  [default: 1]"
            ),
            click.option(
                "--players",
                type=int,
                default=2,
                show_default=True,
                help="To how many a whole deck in one text is dealt.",
            ),
            click.option(
                "--deck",
                metavar="DECK",
                help="The deck it must fit: a name, or a SPEC as 36-,4J,4Q,4K,4A.  "
                "[default: any named deck]",
            ),
            click.option("--any-deck", is_flag=True, help="Do not check the composition."),
            click.option(
                "--format",
                "form",
                type=click.Choice(["text", "uva"]),
                default="text",
                show_default=True,
                help="uva: decks of 52 real cards in dealing order, as in UVa problem 162.",
            ),
        ]
    ):
        command = decorator(command)
    return command


def optional_deal_options(command: Command) -> Command:
    """Add the same for a command that can do without deals."""
    return deal_options(command, required=False)


def deck_option(command: Command) -> Command:
    """Add the option that says which deck is dealt."""
    return click.option(
        "--deck", default="standard52", show_default=True, help="A name, or a SPEC as 14-,2J,2Q,2K."
    )(command)


def rules_options(command: Command) -> Command:
    """Add the options that say which rules."""
    for decorator in (
        click.option(
            "--penalties",
            metavar="TEXT",
            help="Change what pay cards cost, as in A=0 (plain) or J=2,A=5; 0 to 15.",
        ),
        click.option(
            "--rules",
            "rules_name",
            metavar="NAME",
            default=STANDARD.name,
            show_default=True,
            help=f"One of {', '.join(NAMED_RULES)}.",
        ),
    ):
        command = decorator(command)
    return command


class Seconds(click.ParamType[float]):
    """A number of seconds from 0, not NaN."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < 1e10:
            self.fail(f"{value!r} is no number of seconds from 0", param, ctx)
        return seconds


def json_option(command: Command) -> Command:
    """Add the option `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one document a line.")(
        command
    )


def db_option(command: Command) -> Command:
    """Add the option that names the file of finds."""
    return click.option(
        "--db",
        type=click.Path(dir_okay=False),
        help="The file of finds.  [default: in the user's data folder]",
    )(command)


def chosen_rules(rules_name: str, penalties: str | None) -> Rules:
    """Return the rules that `rules_options` describe."""
    rules = Rules.named(rules_name)
    return rules if penalties is None else rules.with_penalties(penalties)


def print_json(document: Any) -> None:
    """Print one JSON document on one line."""
    click.echo(json.dumps(document, ensure_ascii=False))
