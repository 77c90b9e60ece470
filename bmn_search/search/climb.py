"""Climbing: change long games a little, keep what is longer, start afresh when nothing is."""

import math
import threading
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bmn_search.ancestry import longest_ancestor
from bmn_search.batch import Batch
from bmn_search.deal import STANDARD52, Deal, Deck
from bmn_search.engine import play_many, random_deals
from bmn_search.errors import BmnError
from bmn_search.histogram import histogram_of, merged
from bmn_search.notation import CODES
from bmn_search.rules import STANDARD, Rules
from bmn_search.search.strategy import Candidate, ChunkResult, Dropped, Kind
from bmn_search.stats import Statistics

__all__ = ["MOVES", "STANDARD_TAIL", "Climb", "Move", "Objective", "Tail", "expected_longest"]

Move = Literal["pay", "late", "plain", "cross", "shift"]
Objective = Literal["cards", "tricks"]
MOVES: tuple[Move, ...] = get_args(Move)

LOOP = float(2**53)  # the score of a game that never ends: above every finished one
COOLED = 0.01  # of the first temperature is left at the end of a chunk
START_EDITS = 3  # most exchanges of pay cards between a start and the deal that is played
TRIES = 8  # draws of two cards that should lie in different packets
EULER = 0.5772156649015329
MOST = 2**64
MOST_ANCESTORS = 20_000  # positions looked at behind a deal; nearly all have a few dozen
MOST_CARDS = 1024  # of a deck: all pairs of its cards are listed


@dataclass(frozen=True)
class Climb:
    """Hill climbing with restarts, or annealing, of a population of balanced deals.

    In each generation every individual has a child: the deal with some edits, or, when
    `patience` generations have not improved it, a fresh deal. All children are played in one
    batch. A child replaces its parent when its game is at least as long; at a temperature above 0
    a shorter one does so with probability exp(difference / temperature), and the temperature falls
    geometrically to a hundredth over the chunk. A game that never ends counts as longer than
    every other.

    Do not expect much of it: a child's game is as good as a new one from the trick in which the
    edit is first felt, mostly within the first 20. For the standard deck the longest game was
    some 30 to 70 cards longer than that of as many random deals, which are played more than
    twice as fast; compare with `expected_longest`.

    Attributes
    ----------
    deck, rules, seed, keep
        As in `Strategy`.
    games
        How many deals a chunk plays.
    population
        How many individuals.
    moves
        Weights of the edits, in the order of `MOVES`: ``"pay"`` exchanges two pay cards of
        different penalties; ``"late"`` two of the two highest penalties, which are the
        least often paid in full; ``"plain"`` a pay and a plain card; ``"cross"`` two cards of
        different packets; ``"shift"`` moves a card to another place, and all cards between make
        room, across the packets if need be. A move that the deck has no cards for is not made.
    edits
        A child differs by 1 to so many edits, each number as likely.
    temperature
        In the unit of the objective; 0 is hill climbing.
    patience
        Generations without improvement before a fresh start; 0 makes every deal a fresh one.
    objective
        What should be long.
    elite
        Below 1, only this share of the population has descendants: after each generation the
        others are replaced by copies of them, as in multilevel splitting. It costs variety, and
        did worse than random deals.
    starts
        Texts of balanced deals. A fresh start then is one of them with one to three exchanges of
        pay cards, instead of a random deal: deals that never end, or long games.
    ancestors_every
        Every so many generations, each of the `keep` best individuals gives way to its longest
        balanced ancestor (`longest_ancestor`), if it has one: longer for nothing. 0: never.

    Raises
    ------
    BmnError
        When a value is out of range, or a start is no balanced deal of the deck.

    Examples
    --------
    >>> from bmn_search.deal import HALF20
    >>> climb = Climb(HALF20, seed=3, games=5_000, population=500)
    >>> result = climb.chunk(0, threading.Event())
    >>> result.games, result.candidates == climb.chunk(0, threading.Event()).candidates
    (5000, True)
    """

    name: ClassVar[str] = "climb"

    deck: Deck = STANDARD52
    rules: Rules = STANDARD
    seed: int = 0
    keep: int = 10
    games: int = 5_000_000
    population: int = 8192
    moves: tuple[float, float, float, float, float] = (1, 0, 1, 0, 0)
    edits: int = 1
    temperature: float = 0.0
    patience: int = 20
    objective: Objective = "cards"
    elite: float = 1.0
    starts: tuple[str, ...] = ()
    ancestors_every: int = 10

    def __post_init__(self) -> None:
        at_least = {"games": 1, "population": 1, "edits": 1, "keep": 1, "patience": 0}
        for key, least in (at_least | {"seed": 0, "ancestors_every": 0, "temperature": 0}).items():
            value = getattr(self, key)
            if not least <= value < MOST:
                raise BmnError(f"{key} {value}: expected at least {least}")
        if self.objective not in get_args(Objective):
            raise BmnError(f"objective {self.objective!r} is unknown: expected cards or tricks")
        if not 0 < self.elite <= 1:
            raise BmnError(f"elite {self.elite}: expected a share above 0, up to 1")
        _Editor(self.deck, self.rules, self.moves)
        for text in self.starts:
            _codes_of(Deal.parse(text), self.deck)

    def parameters(self) -> dict[str, Any]:
        """Return all else that determines the results, as JSON values."""
        return {
            "games": self.games,
            "population": self.population,
            "moves": dict(zip(MOVES, self.moves, strict=True)),
            "edits": self.edits,
            "temperature": self.temperature,
            "patience": self.patience,
            "objective": self.objective,
            "elite": self.elite,
            "starts": list(self.starts),
            "ancestors_every": self.ancestors_every,
        }

    def chunk(self, number: int, stop: threading.Event) -> ChunkResult:
        """Do chunk `number`: a climb of its own from fresh deals, `games` games long.

        Raises
        ------
        Dropped
            When `stop` is set, before the next generation.
        BmnError
            When the number is out of range.
        """
        if not 0 <= number < MOST // self.games:
            raise BmnError(f"chunk {number} is out of range")
        climbers = _Climbers(self, number)
        while climbers.result.games < self.games:
            if stop.is_set():
                raise Dropped
            climbers.step()
        return climbers.finished()


class _Deals(NamedTuple):
    """Deals of one deck, one a row.

    The composition never changes, so that a card can be named by its place among all cards of the
    deck sorted by code, its slot. With the places of all slots at hand an edit need not look for
    the cards it exchanges.

    Attributes
    ----------
    codes
        The card at each place.
    places
        The place of each slot.
    """

    codes: NDArray[np.uint8]
    places: NDArray[Any]

    @classmethod
    def of(cls, codes: NDArray[np.uint8]) -> "_Deals":
        """Find the places of the slots."""
        kind = np.uint8 if codes.shape[1] <= 256 else np.uint16
        return cls(codes, np.argsort(codes, axis=1, kind="stable").astype(kind))

    def copy(self, count: int) -> "_Deals":
        """Copy the first `count` rows."""
        return _Deals(self.codes[:count].copy(), self.places[:count].copy())

    def put(self, rows: NDArray[np.intp], others: "_Deals", chosen: NDArray[np.intp]) -> None:
        """Put the rows `chosen` of `others` into `rows`."""
        self.codes[rows] = others.codes[chosen]
        self.places[rows] = others.places[chosen]


class _Editor:
    """The edits, on many deals of one deck at a time.

    Which slots a move may exchange is known once and for all.
    """

    def __init__(self, deck: Deck, rules: Rules, weights: tuple[float, ...]) -> None:
        if deck.size > MOST_CARDS:
            raise BmnError(f"deck {deck.name} has {deck.size:,} cards: expected up to {MOST_CARDS}")
        counts = {CODES[symbol]: count for symbol, count in deck.counts}
        symbols = [code for code in sorted(counts) for _ in range(counts[code])]
        self.symbols = np.array(symbols, np.uint8)
        self.first, self.size = deck.sizes[0], deck.size
        self.pairs = {move: self._slots(move, rules) for move in MOVES}
        if len(weights) != len(MOVES) or min(weights) < 0 or not math.isfinite(sum(weights)):
            raise BmnError(f"moves {weights}: expected a weight for each of {', '.join(MOVES)}")
        possible = np.array([self.pairs[move].size > 0 for move in MOVES])
        shares = np.array(weights, np.float64) * possible
        if shares.sum() <= 0:
            raise BmnError(f"moves {weights}: none of them can change a deal of {deck.name}")
        self.limits = shares.cumsum() / shares.sum()

    def _slots(self, move: Move, rules: Rules) -> NDArray[np.intp]:
        """List the pairs of slots that a move exchanges, shape (2, pairs); for a shift, might."""
        one, other = np.triu_indices(self.size, 1)
        costs = np.frombuffer(rules.penalty_table, np.uint8)[self.symbols]
        low, high = np.minimum(costs[one], costs[other]), np.maximum(costs[one], costs[other])
        if move in ("cross", "shift"):
            fits = self.symbols[one] != self.symbols[other]
        elif move == "plain":
            fits = (low == 0) & (high > 0)
        else:
            fits = (low > 0) & (low < high)
        if move == "late":
            dear = sorted(set(costs.tolist()))[-2:]
            fits &= low >= dear[0]
        return np.stack([one[fits], other[fits]])

    def edit(self, deals: _Deals, edits: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Make so many edits in each row."""
        for step in range(int(edits.max(initial=0))):
            rows = np.flatnonzero(edits > step)
            kinds = np.searchsorted(self.limits, rng.random(len(rows)), side="right")
            for at, move in enumerate(MOVES):
                chosen = rows[kinds == at]
                if len(chosen):
                    self.apply(move, deals, chosen, rng)

    def exchange_pay(
        self, deals: _Deals, edits: NDArray[np.int64], rng: np.random.Generator
    ) -> None:
        """Make so many exchanges of pay cards in each row, if the deck has different ones."""
        for step in range(int(edits.max(initial=0)) if self.pairs["pay"].size else 0):
            self.apply("pay", deals, np.flatnonzero(edits > step), rng)

    def apply(
        self, move: Move, deals: _Deals, rows: NDArray[np.intp], rng: np.random.Generator
    ) -> None:
        """Make one edit of a kind in each of `rows`."""
        if move == "shift":
            self._shift(deals, rows, rng)
            return
        pairs = self.pairs[move]
        drawn = rng.integers(0, pairs.shape[1], len(rows))
        within = np.arange(len(rows) if move == "cross" else 0)
        for left in reversed(range(TRIES)):
            first = deals.places[rows[within], pairs[:, drawn[within]]] < self.first
            within = within[first[0] == first[1]]
            # Where the last draw fails as well, 1 time in 200, there is no edit.
            drawn[within] = rng.integers(0, pairs.shape[1], len(within)) if left else -1
        rows, drawn = rows[drawn >= 0], drawn[drawn >= 0]
        self._exchange(deals, rows, *pairs[:, drawn])

    def _exchange(
        self,
        deals: _Deals,
        rows: NDArray[np.intp],
        one: NDArray[np.intp],
        other: NDArray[np.intp],
    ) -> None:
        places, to = deals.places[rows, one], deals.places[rows, other]
        deals.codes[rows, places] = self.symbols[other]
        deals.codes[rows, to] = self.symbols[one]
        deals.places[rows, one] = to
        deals.places[rows, other] = places

    def _shift(self, deals: _Deals, rows: NDArray[np.intp], rng: np.random.Generator) -> None:
        """Move a card; those between its old place and its new one make room."""
        source = rng.integers(0, self.size, (len(rows), 1))
        target = (source + rng.integers(1, self.size, (len(rows), 1))) % self.size
        places = deals.places[rows]
        kind = places.dtype  # as narrow as can be: half of the time goes into memory
        old, new = source.astype(kind), target.astype(kind)
        moved = places - ((places > old) & (places <= new)) + ((places < old) & (places >= new))
        moved = np.where(places == old, new, moved)
        deals.places[rows] = moved
        codes = np.empty((len(rows), self.size), np.uint8)
        codes[np.arange(len(rows))[:, None], moved] = self.symbols
        deals.codes[rows] = codes


class _Climbers:
    """The individuals of one chunk, and what they gave so far.

    Attributes
    ----------
    deals
        The deals, one a row.
    scores, best
        Of each individual now, and the best since its start.
    ages
        Generations since that was reached.
    """

    def __init__(self, plan: Climb, number: int) -> None:
        self.plan = plan
        self.result = ChunkResult()
        self.rng = np.random.Generator(
            np.random.Philox(key=np.array([plan.seed, number], np.uint64))
        )
        # No chunk has this number, so that the fresh deals are other ones than a search by
        # random deals of the same seed plays.
        key = np.array([plan.seed, MOST - 1], np.uint64)
        self.deal_seed = int(np.random.Philox(key=key).random_raw())
        self.first = number * plan.games
        self.dealt = 0
        self.generations = 0
        self.editor = _Editor(plan.deck, plan.rules, plan.moves)
        self.starts = [_codes_of(Deal.parse(text), plan.deck) for text in plan.starts]
        self.longest = {key: _Longest(plan.keep) for key in get_args(Objective)}
        self.loops: dict[bytes, tuple[int, int, int]] = {}
        count = plan.population
        self.deals = _Deals.of(np.zeros((count, plan.deck.size), np.uint8))
        self.scores = np.full(count, -1.0)
        self.best = np.full(count, -1.0)
        self.ages = np.full(count, plan.patience)

    def step(self) -> None:
        """Play one generation, or as much of it as there are games left."""
        count = min(self.plan.population, self.plan.games - self.result.games)
        fresh = self.ages[:count] >= self.plan.patience
        children = self._children(count, fresh)
        batch = Batch.split(children.codes, self.plan.deck.sizes[0])
        rows = play_many(batch, self.plan.rules)
        cooled: float = COOLED ** (self.result.games / self.plan.games)
        self._record(children.codes, rows)
        self._select(children, rows, fresh, self.plan.temperature * cooled)
        self.generations += 1

    def _children(self, count: int, fresh: NDArray[np.bool_]) -> _Deals:
        children = self.deals.copy(count)
        edits = self.rng.integers(1, self.plan.edits + 1, count)
        self.editor.edit(children, np.where(fresh, 0, edits), self.rng)
        started = np.flatnonzero(fresh)
        if len(started):
            children.put(started, self._fresh(len(started)), np.arange(len(started)))
        every = self.plan.ancestors_every
        if every and self.generations % every == every - 1:
            self._put_ancestors(children, fresh)
        return children

    def _fresh(self, count: int) -> _Deals:
        if not self.starts:
            first = self.first + self.dealt
            self.dealt += count
            return _Deals.of(random_deals(self.plan.deck, self.deal_seed, first, count).codes)
        chosen = self.rng.integers(0, len(self.starts), count)
        deals = _Deals.of(np.array(self.starts)[chosen])
        edits = self.rng.integers(1, START_EDITS + 1, count)
        self.editor.exchange_pay(deals, edits, self.rng)
        return deals

    def _put_ancestors(self, children: _Deals, fresh: NDArray[np.bool_]) -> None:
        """Let the longest ancestors of the best individuals stand for their children."""
        best = np.argsort(-self.scores[: len(fresh)], kind="stable")[: self.plan.keep]
        chosen = best[~fresh[best]]
        rows, codes = [], []
        for row in chosen.tolist():
            deal = Batch.split(self.deals.codes[row : row + 1], self.plan.deck.sizes[0])[0]
            longer = longest_ancestor(deal, self.plan.rules, MOST_ANCESTORS)
            if longer:
                rows.append(row)
                codes.append(_codes_of(longer[0], self.plan.deck))
        if rows:
            children.put(np.array(rows), _Deals.of(np.array(codes)), np.arange(len(rows)))

    def _record(self, children: NDArray[np.uint8], rows: NDArray[np.void]) -> None:
        """Count the games, and note the longest and the loops."""
        order = self.first + self.result.games
        self.result.games += len(rows)
        self.result.histogram = merged(self.result.histogram, histogram_of(rows))
        finished = rows["status"] == 0
        for key, longest in self.longest.items():
            longest.add(children, rows, np.where(finished, rows[key], 0).astype(np.int64), order)
        for at in np.flatnonzero(rows["status"] == 1).tolist():
            self.result.loops += 1
            found = int(rows["cards"][at]), int(rows["tricks"][at]), order + at
            self.loops.setdefault(children[at].tobytes(), found)

    def _select(
        self,
        children: _Deals,
        rows: NDArray[np.void],
        fresh: NDArray[np.bool_],
        temperature: float,
    ) -> None:
        """Decide who lives on. A game stopped by a limit never does, but from a fresh start."""
        count = len(fresh)
        scores = rows[self.plan.objective].astype(np.float64)
        scores[rows["status"] == 1] = LOOP
        scores[rows["status"] == 2] = -1.0
        loss = self.scores[:count] - scores
        accepted = loss <= 0
        if temperature > 0:
            chance = np.exp(-np.maximum(loss, 0) / temperature)
            accepted |= (self.rng.random(count) < chance) & (scores >= 0)
        accepted |= fresh
        chosen = np.flatnonzero(accepted)
        self.deals.put(chosen, children, chosen)
        self.scores[chosen] = scores[chosen]
        better = fresh | (scores > self.best[:count])
        self.best[:count][better] = scores[better]
        self.ages[:count] = np.where(better, 0, self.ages[:count] + 1)
        if self.plan.elite < 1:
            self._replicate()

    def _replicate(self) -> None:
        """Replace all but the best by copies of the best."""
        # A stable sort: which of two equal individuals is the better must not depend on the CPU.
        ranked = np.argsort(-self.scores, kind="stable")
        share = max(1, round(self.plan.elite * len(ranked)))
        lost = ranked[share:]
        copied = ranked[self.rng.integers(0, share, len(lost))]
        self.deals.put(lost, self.deals, copied)
        for values in (self.scores, self.best, self.ages):
            values[lost] = values[copied]

    def finished(self) -> ChunkResult:
        """Return what the chunk gave."""
        long = {key: kept for longest in self.longest.values() for key, kept in longest.kept}
        candidates = [self._candidate("long", *entry) for entry in long.items()]
        candidates.sort(key=lambda kept: (-kept.cards, kept.order))
        loops = [self._candidate("loop", *entry) for entry in self.loops.items()]
        self.result.candidates = [*candidates, *loops]
        return self.result

    def _candidate(self, kind: Kind, key: bytes, found: tuple[int, int, int]) -> Candidate:
        codes = np.frombuffer(key, np.uint8)[None]
        return Candidate(kind, Batch.split(codes, self.plan.deck.sizes[0])[0], *found)


class _Longest:
    """The longest games by one measure, each deal once; of equals the earliest."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.ranked: list[tuple[int, bytes, tuple[int, int, int]]] = []

    @property
    def kept(self) -> list[tuple[bytes, tuple[int, int, int]]]:
        """The deals, with their cards, tricks and order."""
        return [(key, found) for _, key, found in self.ranked]

    def add(
        self,
        children: NDArray[np.uint8],
        rows: NDArray[np.void],
        lengths: NDArray[np.int64],
        order: int,
    ) -> None:
        """Look through a generation; `lengths` are 0 where a game did not finish."""
        longer = np.flatnonzero(lengths > self._least())
        for at in longer[np.argsort(-lengths[longer], kind="stable")].tolist():
            if lengths[at] <= self._least():
                break
            key = children[at].tobytes()
            if any(key == other for _, other, _ in self.ranked):
                continue
            found = int(rows["cards"][at]), int(rows["tricks"][at]), order + at
            self.ranked.append((int(lengths[at]), key, found))
            self.ranked.sort(key=lambda kept: (-kept[0], kept[2][2]))
            del self.ranked[self.keep :]

    def _least(self) -> int:
        """Return the length that a game has to exceed."""
        return self.ranked[-1][0] if len(self.ranked) == self.keep else 0


def _codes_of(deal: Deal, deck: Deck) -> NDArray[np.uint8]:
    """Return a deal as card codes, the packet of the player who leads first."""
    deck.check(deal)
    deal = deal if deal.leader == 1 else deal.exchanged()
    if tuple(map(len, deal.packets)) != deck.sizes:
        sizes = " and ".join(map(str, deck.sizes))
        raise BmnError(f"{deal}: expected packets of {sizes} cards, the first for who leads")
    codes: NDArray[np.uint8] = Batch.of([deal]).codes[0]
    return codes


class Tail(NamedTuple):
    """The tail of the lengths of games: P(cards > x) = share * exp(-(x - beyond) / folding)."""

    share: float
    beyond: float
    folding: float

    @classmethod
    def of(cls, sample: Statistics) -> "Tail":
        """Fit the tail to the longest hundredth of the finished games of a sample.

        Raises
        ------
        BmnError
            When the sample has too few games for that.
        """
        folding, _, start = sample.folding
        if math.isnan(folding):
            raise BmnError(f"{sample.games} games are too few to fit the tail of their lengths")
        return cls(sample.tail(start) / sample.games, start, folding)


# Measured over 41.9 million uniform deals.
STANDARD_TAIL = Tail(9.76e-3, 1000, 500 / math.log(11.5))


def expected_longest(games: int, tail: Tail | Statistics = STANDARD_TAIL) -> float:
    """Return how many cards the longest of so many uniform random deals is expected to have.

    The yardstick of every search. With an exponential tail the maximum of n games has a Gumbel
    distribution; its mean is the length that one game in n exceeds and 0.5772 (Euler's constant)
    e-foldings. It holds where at least a few games are expected in the tail.

    Parameters
    ----------
    games
        How many deals, at least 1.
    tail
        That of the standard deck under the standard rules, unless another one, or a sample of
        another deck (`bmn_search.stats.collect`), is given.

    Examples
    --------
    >>> round(expected_longest(20_000_000))
    3612
    """
    if games < 1:
        raise BmnError(f"{games} games: expected at least 1")
    tail = Tail.of(tail) if isinstance(tail, Statistics) else tail
    return tail.beyond + tail.folding * (math.log(games * tail.share) + EULER)
