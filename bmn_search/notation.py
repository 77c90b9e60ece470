"""Card texts: from what people write to the five symbols of a deal, and back.

The five symbols are ``-`` (plain) and ``J Q K A`` (pay cards). People also write ``.``, 2-10
or T for plain cards, real cards with a suit before or after (``H2``, ``10S``, ``Q♥``), and the
demands 0-4 (`notation="digits"`).
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from bmn_search.errors import DealError

__all__ = ["CODES", "NOTATIONS", "PLAIN", "SYMBOLS", "Card", "Notation", "read_cards"]

PLAIN = "-"
SYMBOLS = "-JQKA"
CODES = {symbol: code for code, symbol in enumerate(SYMBOLS)}  # of cards as bytes
DIGITS = "01234"

Notation = Literal["ranks", "digits"]
NOTATIONS: tuple[Notation, ...] = get_args(Notation)

_UPPER = str.maketrans("jqkathdcs", "JQKATHDCS")
_SUITS = str.maketrans("♥♡♦♢♣♧♠♤", "HHDDCCSS")
_VALUE = r"(?P<value>10|[2-9TJQKA])"
# How one chunk of text (no spaces inside) may be written: it has to be one way throughout.
_WAYS = (
    re.compile(r"(?P<value>10|[-.2-9TJQKA])"),
    re.compile(r"(?P<suit>[HDCS])" + _VALUE),
    re.compile(_VALUE + r"(?P<suit>[HDCS])"),
)
_DIGIT = re.compile(r"(?P<value>[0-4])")


@dataclass(frozen=True, slots=True)
class Card:
    """One card as it was written: its symbol, its name when it has a suit, and its place."""

    symbol: str
    name: str | None
    position: int


def read_cards(text: str, notation: Notation = "ranks", where: str = "") -> list[Card]:
    """Read the cards of one packet, or of a whole deck.

    Parameters
    ----------
    text
        The cards, with or without spaces, commas and semicolons between them.
    notation
        ``"ranks"``: symbols, values or real cards. ``"digits"``: the demands 0-4.
    where
        Names the packet in an error, as in ``" of packet 2"``.

    Raises
    ------
    DealError
        At the first character that is no card, with its position (from 1).
    """
    if notation not in NOTATIONS:
        raise DealError(f"notation {notation!r} is unknown: expected one of {', '.join(NOTATIONS)}")
    ways = (_DIGIT,) if notation == "digits" else _WAYS
    plain_text = text.translate(_SUITS).translate(_UPPER)
    cards: list[Card] = []
    for chunk in re.finditer(r"[^\s,;]+", plain_text):
        readings = [_read_chunk(plain_text, *chunk.span(), way) for way in ways]
        read, end = max(readings, key=lambda reading: reading[1])
        if end < chunk.end():
            raise DealError(_complaint(text, end, notation, where))
        cards += read
    return cards


def _read_chunk(text: str, at: int, end: int, way: re.Pattern[str]) -> tuple[list[Card], int]:
    """Read cards written one way from `at`; return them and where the reading stopped."""
    cards = []
    while at < end and (match := way.match(text, at, end)):
        suit = match.groupdict().get("suit")
        value = match["value"].replace("10", "T")
        if way is _DIGIT:
            symbol = SYMBOLS[DIGITS.index(value)]
        else:
            symbol = value if value in SYMBOLS else PLAIN
        cards.append(Card(symbol, suit and suit + value, at + 1))
        at = match.end()
    return cards, at


def _complaint(text: str, at: int, notation: Notation, where: str) -> str:
    """Say in one line which character stopped the reading, and what was expected."""
    wrong = f"{text[at]!r} at position {at + 1}{where} is no card"
    if notation == "digits":
        return f"{wrong}: expected the demands 0 1 2 3 4 (0 is a plain card, 1 a jack, 4 an ace)"
    hint = "; demands 0-4 need the notation 'digits'" if text[at] in DIGITS else ""
    return f"{wrong}: expected - . 2-10 T (plain cards), J Q K A, or real cards as H2 or 10S{hint}"
