"""What several commands share: reading deals from arguments, files and stdin, and printing JSON."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from bmn_search.deal import ORDERS, SPLITS, Deal, Deck, read_uva
from bmn_search.errors import BmnError, DealError
from bmn_search.notation import NOTATIONS
from bmn_search.rules import NAMED_RULES, STANDARD, Rules

__all__ = [
    "DealCommand",
    "DealSource",
    "chosen_rules",
    "deal_options",
    "json_option",
    "print_json",
    "rules_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_CARDS = re.compile(r"-+[-./|JQKAjqkaTt2-9 ]+")
_SHIELD = " "
_OPTION = re.compile(r"--?[a-z][-a-z]*(=.*)?|-\d+|--?")


class DealCommand(click.Command):
    """A command whose deals may begin with ``-``, the plain card, as options do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Shield deals from the option parser; `deal_options` takes the shield off again."""
        options = {name for param in self.params for name in param.opts}

        def is_deal(arg: str) -> bool:
            if _OPTION.fullmatch(arg):
                return arg not in options and bool(_CARDS.fullmatch(arg)) and not arg[1:].isdigit()
            return arg.startswith("-")

        return super().parse_args(ctx, [_SHIELD + arg if is_deal(arg) else arg for arg in args])


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
            When the only deal is bad.

        """
        bad = 0
        for where, read in self._readers():
            try:
                deal = read()
                self.check(deal)
                show(deal)
            except BmnError as error:
                if self.single:
                    raise
                click.echo(f"bmn: {where}: {error}", err=True)
                bad += 1
        if bad:
            click.get_current_context().exit(2)

    def check(self, deal: Deal) -> None:
        """Refuse a deal that is not of its deck."""
        if self.any_deck:
            return
        aside = self.rules.spare_cards == "aside"
        if self.deck is not None:
            Deck.parse(self.deck).check(deal, aside)
        else:
            Deck.of(deal, aside)

    def _literals(self) -> list[tuple[str, ...]]:
        """Return the deals given as arguments, each as its packets; none if there are files."""
        if any(text == "-" or _is_file(text) for text in self.texts):
            return []
        if len(self.texts) > 1 and not any(re.search(r"[/|]", text) for text in self.texts):
            return [self.texts]
        return [(text,) for text in self.texts]

    def _readers(self) -> Iterator[tuple[str, Callable[[], Deal]]]:
        """Yield for each deal where it stands, and a function that reads it."""
        literals = self._literals()
        for number, packets in enumerate(literals, 1):
            yield f"deal {number}", lambda packets=packets: self._parse(*packets)  # type: ignore[misc]
        for text in () if literals else self.texts:
            if text != "-" and not _is_file(text):
                yield f"deal {text}", lambda text=text: self._parse(text)  # type: ignore[misc]
                continue
            name = "stdin" if text == "-" else text
            yield from self._read_stream(name, _read_text(text))

    def _read_stream(
        self, name: str, text: Iterator[str]
    ) -> Iterator[tuple[str, Callable[[], Deal]]]:
        if self.form == "uva":
            decks = read_uva("".join(text))
            while (deal := next(decks, None)) is not None:
                yield name, lambda deal=deal: deal  # type: ignore[misc]
            return
        for number, line in enumerate(text, 1):
            if line.strip() and not line.startswith("#"):
                yield f"{name}, line {number}", lambda line=line: self._parse(line.strip())  # type: ignore[misc]

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
            aside=self.rules.spare_cards == "aside",
            repeats=self.any_deck,
        )


def _is_file(text: str) -> bool:
    """Whether an argument names a file rather than being a deal."""
    return not re.fullmatch(r"[-./|JQKA\s]+", text) and Path(text).is_file()


def _read_text(name: str) -> Iterator[str]:
    try:
        if name == "-":
            yield from sys.stdin
        else:
            with open(name, encoding="utf-8") as file:
                yield from file
    except OSError as error:
        raise DealError(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DealError(f"{name}: is no text file: expected one deal a line in UTF-8") from None


def _unshielded(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
    return tuple(text.removeprefix(_SHIELD) for text in texts)


def deal_options(command: Command) -> Command:
    """Add the arguments and options that say which deals, and how to read them."""
    for decorator in reversed(
        [
            click.argument(
                "texts", metavar="DEAL...", nargs=-1, required=True, callback=_unshielded
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
            click.option("--leader", type=int, help="Who leads.  [default: 1]"),
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


def json_option(command: Command) -> Command:
    """Add the option `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one document a line.")(
        command
    )


def chosen_rules(rules_name: str, penalties: str | None) -> Rules:
    """Return the rules that `rules_options` describe."""
    rules = Rules.named(rules_name)
    return rules if penalties is None else rules.with_penalties(penalties)


def print_json(document: Any) -> None:
    """Print one JSON document on one line."""
    click.echo(json.dumps(document, ensure_ascii=False))
