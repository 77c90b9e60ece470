"""`bmn deal`: check, number and convert deals."""

import re
from typing import Any

import click

from bmn_search.cli.options import (
    DealCommand,
    DealSource,
    deal_options,
    deck_option,
    json_option,
    print_json,
    read_text,
)
from bmn_search.deal import Deal, Deck
from bmn_search.errors import DeckError


@click.group()
def deal() -> None:
    """Check, number and convert deals.

    \b
    Examples:
      bmn deal check ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA
      bmn deal index ----J--Q--/--K-K-Q-J-
      bmn deal from-index 477920 --deck half20
      bmn deal convert --to digits ----J--Q--/--K-K-Q-J-
    """


@deal.command(cls=DealCommand)
@deal_options
@json_option
def index(as_json: bool, **source: Any) -> None:
    """Give the number of a deal among all deals of its deck.

    Numbers run in dictionary order over the whole deck, first packet first, player 1 leading:
    standard52 in the order A<K<Q<J<-, camicia40 and half20 in the order -<J<Q<K, any other deck
    in the order in which its SPEC names the cards.

    \b
    Example:
      bmn deal index ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA
    """
    deals = DealSource(**source)

    def show(deal: Deal) -> None:
        deck = deals.deck_of(deal)
        number = deck.index(deal)
        if as_json:
            print_json({"deal": str(deal), "deck": deck.name, "index": number})
        else:
            click.echo(number)

    deals.each(show)


@deal.command(name="from-index", context_settings={"ignore_unknown_options": True})
@click.argument("numbers", metavar="INDEX...", nargs=-1, required=True)
@deck_option
@json_option
def from_index(numbers: tuple[str, ...], deck: str, as_json: bool) -> None:
    """Give the deal that has a number; - alone reads numbers from stdin.

    \b
    Examples:
      bmn deal from-index 472460898658889399111
      bmn deal from-index --deck half20 0 3488399
    """
    chosen = Deck.parse(deck)
    if numbers == ("-",):
        numbers = tuple(read_text("-").split())
    for number in numbers:
        if not re.fullmatch(r"-?[0-9]+", number):
            raise DeckError(f"{number!r} is no index: expected a whole number from 0")
        found = chosen.deal_at(int(number))
        if as_json:
            print_json({"deal": str(found), "deck": chosen.name, "index": int(number)})
        else:
            click.echo(found)


@deal.command(cls=DealCommand)
@deal_options
@json_option
def check(as_json: bool, **source: Any) -> None:
    """Say whether a deal is well formed and of which deck.

    A deal that is not of its deck is bad input, as everywhere: one line says what is missing and
    what is too many, and the exit code is 2.

    \b
    Example:
      bmn deal check ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA
      bmn deal check --any-deck 'H2 DA | S3 CJ'
    """
    deals = DealSource(**source)

    def show(deal: Deal) -> None:
        counts = dict(sorted(deal.counts().items()))
        fitting = None if deals.any_deck else deals.deck_of(deal).name
        if as_json:
            print_json(
                {
                    "deal": str(deal),
                    "deck": fitting,
                    "sizes": [len(packet) for packet in deal.packets],
                    "counts": counts,
                    "leader": deal.leader,
                    "balanced": deal.balanced,
                }
            )
        else:
            cards = ", ".join(f"{count} {symbol}" for symbol, count in counts.items())
            sizes = " + ".join(str(len(packet)) for packet in deal.packets)
            kind = "balanced" if deal.balanced else "not balanced"
            click.echo(f"{deal}  {fitting or 'any deck'}: {sizes} cards ({cards}), {kind}")

    deals.each(show)


@deal.command(cls=DealCommand)
@deal_options
@click.option(
    "--to",
    "target",
    type=click.Choice(["ranks", "digits", "whole", "index"]),
    default="ranks",
    show_default=True,
    help="ranks or digits: P1/P2; whole: the deck in one text; index: its number.",
)
@click.option("--exchange", is_flag=True, help="Exchange the players, and who leads.")
@json_option
def convert(target: str, exchange: bool, as_json: bool, **source: Any) -> None:
    """Write deals in another notation.

    \b
    Examples:
      bmn deal convert --format uva - < decks.txt
      bmn deal convert --notation digits --to ranks 00001002000030302010
    """
    deals = DealSource(**source)

    def show(deal: Deal) -> None:
        deal = deal.exchanged() if exchange else deal
        text = {
            "ranks": lambda: str(deal),
            "digits": lambda: deal.text("digits"),
            "whole": lambda: deal.text(whole=True),
            "index": lambda: str(deals.deck_of(deal).index(deal)),
        }[target]()
        if as_json:
            print_json({"deal": str(deal), "notation": target, "text": text})
        else:
            click.echo(text)

    deals.each(show)
