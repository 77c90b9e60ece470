"""The reference engine: plain Python, written to be read, the oracle of every other engine.

It plays any rules, any number of players and packets of any size, one card at a time as one
would at a table, and finds a repeated position by remembering every one. About a thousand games
of the standard deck a second.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from bmn_search.deal import Deal
from bmn_search.outcome import Count, Distinct, Outcome
from bmn_search.rules import STANDARD, Rules

__all__ = ["Event", "Game", "play", "trace"]


Action = Literal["lays", "takes", "out"]


class Event(NamedTuple):
    """One thing that happened at the table, and how the table looked after it.

    Attributes
    ----------
    action
        ``"lays"`` a card; ``"takes"`` the pile; is ``"out"``.
    player
        Who, from 1.
    card
        The symbol of the card laid, else empty.
    sizes
        Cards in each packet.
    table
        Cards in the pile; for ``"takes"`` the cards taken.
    debt
        Cards that the player in turn still owes.
    cards, tricks
        Totals so far.
    """

    action: Action
    player: int
    card: str
    sizes: tuple[int, ...]
    table: int
    debt: int
    cards: int
    tricks: int
    packets: tuple[str, ...]
    pile: str


# Who leads, and each packet by what its cards cost, or by the cards that are told apart.
Position = tuple[int, tuple[bytes | tuple[int, ...], ...]]


class _Card(NamedTuple):
    penalty: int
    symbol: str
    number: int  # its place in the deal, from 1: tells alike cards apart


class Game:
    """A game in progress, at the end of a trick.

    Attributes
    ----------
    packets
        A queue of cards for each player, top card first.
    leader
        Who leads the next trick, from 0.
    inside
        The players who are not out, from 0, in order of their seats.
    cards, tricks
        Totals so far.
    last_pile
        Size of the pile that the game ended with, 0 if the last trick was paid.
    """

    def __init__(
        self, deal: Deal, rules: Rules, watch: Callable[[Event], None] | None = None
    ) -> None:
        self.rules = rules
        self.packets: list[deque[_Card]] = []
        number = 0
        for packet in deal.packets:
            cards: deque[_Card] = deque()
            for symbol in packet:
                number += 1
                cards.append(_Card(rules.penalty(symbol), symbol, number))
            self.packets.append(cards)
        self.leader = deal.leader - 1
        self.inside = [player for player, packet in enumerate(self.packets) if packet]
        if self.leader not in self.inside:
            self.leader = self._next(self.leader)
        self.cards = self.tricks = self.last_pile = 0
        self._watch = watch

    @property
    def winner(self) -> int | None:
        """The only player left, from 0, once the game is over."""
        return self.inside[0] if len(self.inside) == 1 else None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cards in each packet."""
        return tuple(map(len, self.packets))

    def deal(self) -> Deal:
        """Return the position as a deal: play from it is the rest of this game."""
        symbols = ("".join(card.symbol for card in packet) for packet in self.packets)
        return Deal(tuple(symbols), self.leader + 1)

    def play_trick(self) -> None:
        """Play from the lead until a pile is taken, or the game is over."""
        pile: list[_Card] = []
        debt, demander, turn = 0, -1, self.leader
        while True:
            if not self.packets[turn]:
                self._out(turn, pile, debt)
                if self.winner is not None:
                    self._take(pile, self.winner)
                    self.last_pile = len(pile)
                    return
                if debt and self.rules.out_of_cards == "pile-to-demander":
                    self._take(pile, demander)
                    self._lead(demander, turn)
                    return
                turn = self._next(turn)
                continue
            card = self.packets[turn].popleft()
            pile.append(card)
            self.cards += 1
            player = turn
            if card.penalty:
                debt, demander, turn = card.penalty, turn, self._next(turn)
            elif debt:
                debt -= 1
            else:
                turn = self._next(turn)
            if self._watch:
                self._tell("lays", player, card.symbol, pile, debt)
            if debt == 0 and demander >= 0:
                self._take(pile, demander)
                self._lead(demander, turn)
                return

    def _next(self, player: int) -> int:
        """Return the next player round the table who is not out."""
        return next((seat for seat in self.inside if seat > player), self.inside[0])

    def _take(self, pile: list[_Card], winner: int) -> None:
        if pile:
            self.packets[winner].extend(pile)
            self.tricks += 1
            self._tell("takes", winner, "", pile, 0)

    def _lead(self, winner: int, payer: int) -> None:
        """Settle who leads; whoever holds no card now is out, for nothing can come back."""
        for player in [seat for seat in self.inside if not self.packets[seat]]:
            self._out(player, [], 0)
        leader = winner if self.rules.next_leader == "winner" else payer
        self.leader = leader if leader in self.inside else self._next(leader)

    def _out(self, player: int, pile: list[_Card], debt: int) -> None:
        self.inside.remove(player)
        self._tell("out", player, "", pile, debt)

    def _tell(self, action: Action, player: int, card: str, pile: list[_Card], debt: int) -> None:
        if self._watch is None:
            return
        packets = tuple("".join(card.symbol for card in packet) for packet in self.packets)
        self._watch(
            Event(
                action,
                player + 1,
                card,
                self.sizes,
                len(pile),
                debt,
                self.cards,
                self.tricks,
                packets,
                "".join(card.symbol for card in pile),
            )
        )

    def position(self, distinct: Distinct = "none") -> Position:
        """Return who leads and all packets in order, as a value to compare."""
        if distinct == "none":
            return self.leader, tuple(bytes(c.penalty for c in packet) for packet in self.packets)
        return self.leader, tuple(
            tuple(c.penalty if c.penalty and distinct == "plain" else -c.number for c in packet)
            for packet in self.packets
        )


def play(deal: Deal, rules: Rules = STANDARD, *, distinct: Distinct = "none") -> Outcome:
    """Play a deal to its end, to its first repeated position, or to the rules' limit.

    Parameters
    ----------
    deal
        As many packets as the rules have players.
    rules
        Any.
    distinct
        Which cards a repeated position tells apart: ``"none"`` (only by penalty), every
        ``"plain"`` card, or ``"all"``.

    Returns
    -------
    Outcome
        Exact. Memory grows with the number of tricks until the first repeat.
    """
    game = Game(deal, rules)
    seen: dict[Position, int] = {}
    totals: list[Count] = []
    while game.winner is None:
        position = game.position(distinct)
        totals.append(Count(game.cards, game.tricks))
        first = seen.setdefault(position, game.tricks)
        if first < game.tricks:
            return _loop(deal, rules, list(seen), totals, first, game.sizes)
        if _limit_reached(game, rules):
            return Outcome.unknown(deal, rules, "reference", totals[-1], game.sizes)
        game.play_trick()
    total = Count(game.cards, game.tricks)
    return Outcome.finished(deal, rules, "reference", game.winner + 1, total, game.last_pile)


def _limit_reached(game: Game, rules: Rules) -> bool:
    enough_tricks = rules.max_tricks is not None and game.tricks >= rules.max_tricks
    enough_cards = rules.max_cards is not None and game.cards >= rules.max_cards
    return enough_tricks or enough_cards


def _loop(
    deal: Deal,
    rules: Rules,
    positions: list[Position],
    totals: list[Count],
    first: int,
    held: tuple[int, ...],
) -> Outcome:
    """Make the outcome of a game whose position after `first` tricks has just come back."""
    transient, total = totals[first], totals[-1]
    cycle = Count(total.cards - transient.cards, total.tricks - transient.tricks)
    mirror = None
    if len(deal.packets) == 2:
        leader, packets = positions[first]
        halfway, odd = divmod(cycle.tricks, 2)
        mirror = not odd and positions[first + halfway] == (1 - leader, packets[::-1])
    return Outcome.loop(deal, rules, "reference", transient, cycle, mirror, held)


def trace(
    deal: Deal | str, rules: Rules = STANDARD, *, distinct: Distinct = "none"
) -> Iterator[Event]:
    """Yield all that happens at the table, up to the end, the first repeat, or the limit.

    Parameters
    ----------
    deal, rules, distinct
        As in `play`; the deal may be a text for `Deal.parse`.

    Examples
    --------
    >>> for event in trace("-J/--"):
    ...     print(event.action, event.player, event.card, event.packets, event.pile, event.debt)
    lays 1 - ('J', '--') - 0
    lays 2 - ('J', '-') -- 0
    lays 1 J ('', '-') --J 1
    lays 2 - ('', '') --J- 0
    takes 1  ('--J-', '') --J- 0
    out 2  ('--J-', '')  0
    """
    deal = Deal.parse(deal) if isinstance(deal, str) else deal
    rules = rules.for_players(len(deal.packets))
    last = play(deal, rules, distinct=distinct)
    events: list[Event] = []
    game = Game(deal, rules, events.append)
    while game.winner is None and (last.status == "finished" or game.tricks < last.tricks):
        game.play_trick()
        yield from events
        events.clear()
