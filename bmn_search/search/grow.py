"""Loop growth: deals that never end, found from scratch or from known ones.

Small decks have many cycles. A cycle is edited a little, by inserting, removing, moving, exchanging
or changing cards, and what never ends again is a cycle of a slightly larger or other deck; so
they grow towards the wanted one. `native/grow.h` does that; here its cycles of the wanted deck get
ranks that fit (`ranks.variants_in`), are followed back to all deals that lead into them
(`ancestry.basin`), and are told apart by their canonical positions.
"""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bmn_search import compiled
from bmn_search.ancestry import basin
from bmn_search.cycle import Cycle, alike_deck, find_cycle, relative
from bmn_search.deal import STANDARD52, Deal, Deck
from bmn_search.engine import play
from bmn_search.errors import BmnError
from bmn_search.ranks import normal_form, variants_in
from bmn_search.rules import STANDARD, Rules
from bmn_search.search.strategy import Candidate, ChunkResult, Dropped, FoundCycle

__all__ = ["EDITS", "Grow", "family"]

EDITS = ("insert", "remove", "move", "exchange", "change")
BATCH = 4096  # candidates
SLICE = 64  # batches between two looks at whether to stop
SEEDS = 256  # batches of random small positions to begin with
MOST_CARDS = 59  # of a deck: a position may have a few more on the way, and 63 at most
# Rank variants of one normal form that are followed back: so many, and if none of them has a
# balanced deal, no more; packet sizes are the same for all of them.
FIRST_VARIANTS, MOST_VARIANTS = 5, 500
MOST = 2**32

# The packets to which a holder comes back, ``P`` a pay card, and the shift of the pass: those whose
# search gave cycles (docs/grow.md). Each island does one share of the search.
PASSES = (
    ("--P-", 0),
    ("--P-", 1),
    ("----P-", 1),
    ("----P-", 2),
    ("---P--", 0),
    ("---P--", 1),
    ("----P---", 0),
    ("----P---", 1),
    ("----P---", 2),
)
SHARES = 16
MOST_PASS = 55  # cards of a run: with those of the holder at most 63


@dataclass(frozen=True)
class Grow:
    """The strategy `grow`: each chunk is an island, an archive of cycles that grows by itself.

    Attributes
    ----------
    deck, rules, seed, keep
        As in `Strategy`. Cards that cost the same are alike.
    games
        How many candidates a chunk plays, rounded up to batches of 4,096.
    starts
        Texts of positions, of any deck, that never end: an island begins with their cycles.
        Empty: with random small positions.
    weights
        How often each of `EDITS` is made.
    numbers
        How often a candidate has one, two, three edits.
    steered
        Of 100 parents, how many are drawn by their distance from the wanted deck.
    passes
        How long the runs of the cycles of one pass may be with which an island begins, beside
        random positions; 0: none.

    Raises
    ------
    BmnError
        When a value is out of range, the deck has no pay cards, or a start ends.
    """

    name: ClassVar[str] = "grow"

    deck: Deck = STANDARD52
    rules: Rules = STANDARD
    seed: int = 0
    keep: int = 10
    games: int = 20_000_000
    starts: tuple[str, ...] = ()
    weights: tuple[int, int, int, int, int] = (45, 10, 15, 15, 15)
    numbers: tuple[int, int, int] = (15, 45, 40)
    steered: int = 60
    passes: int = 32

    def __post_init__(self) -> None:
        if not 1 <= self.games < MOST * BATCH:
            raise BmnError(f"games {self.games}: expected at least 1")
        for name, values in (("weights", self.weights), ("numbers", self.numbers)):
            if min(values) < 0 or not 0 < sum(values) < 10**6:
                raise BmnError(f"{name} {values}: expected whole numbers from 0, not all of them 0")
        if not 0 <= self.steered <= 100:
            raise BmnError(f"steered {self.steered}: expected 0 to 100")
        if not 0 <= self.passes <= MOST_PASS:
            raise BmnError(f"passes {self.passes}: expected 0 to {MOST_PASS}")
        wanted = alike_deck(self.deck, self.rules)
        if self.deck.size > MOST_CARDS or self.deck.size < 4 or len(wanted.counts) < 2:
            raise BmnError(
                f"deck {self.deck.name}: expected one of 4 to {MOST_CARDS} cards, plain ones and "
                "pay cards"
            )
        for text in self.starts:
            if play(text, self.rules, max_tricks=None).status != "loop":
                raise BmnError(f"{text} ends: expected a start that never does")

    @classmethod
    def of(
        cls, deck: Deck, rules: Rules, seed: int, keep: int, parameters: dict[str, Any]
    ) -> "Grow":
        """Make the strategy that has these `parameters`."""
        insert, remove, move, exchange, change = (parameters["weights"][edit] for edit in EDITS)
        one, two, three = parameters["numbers"]
        return cls(
            deck,
            rules,
            seed,
            keep,
            parameters["games"],
            tuple(parameters["starts"]),
            (insert, remove, move, exchange, change),
            (one, two, three),
            parameters["steered"],
            parameters["passes"],
        )

    def parameters(self) -> dict[str, Any]:
        """Return all else that determines the results, as JSON values."""
        return {
            "games": self.games,
            "starts": list(self.starts),
            "weights": dict(zip(EDITS, self.weights, strict=True)),
            "numbers": list(self.numbers),
            "steered": self.steered,
            "passes": self.passes,
        }

    def chunk(self, number: int, stop: threading.Event) -> ChunkResult:
        """Do chunk `number`: an island of its own, from its seeds or starts on."""
        if not 0 <= number < MOST:
            raise BmnError(f"chunk {number} is out of range")
        result = ChunkResult()
        growth = self._begun(number, stop)
        found: dict[Deal, FoundCycle] = {}
        batches = -(-self.games // BATCH)
        for first in range(0, batches, SLICE):
            if stop.is_set():
                raise Dropped
            growing = growth.run(min(SLICE, batches - first))
            for codes, size in growth.found():
                self._follow_back(codes, size, found, result)
            if not growing:
                break
        counts = growth.counts()
        result.games, result.loops = counts["tried"], counts["loops"]
        result.cycles = list(found.values())
        return result

    def _begun(self, number: int, stop: threading.Event) -> Any:
        """Return the archive with which an island begins."""
        key = np.array([self.seed, number], np.uint64)
        seed = int(np.random.Philox(key=key).random_raw())
        wanted = alike_deck(self.deck, self.rules)
        growth = compiled.new_growth(
            wanted, self.rules, seed, self.weights, self.numbers, self.steered
        )
        if not self.starts:
            growth.seeds(SEEDS)
            for holder, shift in PASSES if self.passes > 3 else ():
                if stop.is_set():
                    raise Dropped
                pays = bytes(card == "P" for card in holder)
                least = self.deck.size // 4
                growth.passes(pays, shift, self.passes, least, number % SHARES, SHARES)
            return growth
        for text in self.starts:
            cycle = find_cycle(text, self.rules)
            assert cycle is not None
            sizes = np.array([[cycle.sizes[0], cycle.codes.shape[1] - cycle.sizes[0]]], np.uint8)
            growth.enter(cycle.codes[:1].copy(), sizes)
        return growth

    def _follow_back(
        self, codes: bytes, size: int, found: dict[Deal, FoundCycle], result: ChunkResult
    ) -> None:
        """Give the ranks of a normal form their choices, and find all deals that lead there."""
        cycle = find_cycle(relative(codes, size), self.rules)
        assert cycle is not None
        wanted, name = alike_deck(self.deck, self.rules), family(cycle)
        balanced = 0
        for place, variant in enumerate(variants_in(cycle, wanted)):
            if place == (MOST_VARIANTS if balanced else FIRST_VARIANTS):
                break
            if variant.canonical in found:
                continue
            deals = basin(variant).balanced_deals()
            balanced += len(deals)
            found[variant.canonical] = _found(variant, len(deals), name)
            result.candidates += self._candidates(deals, len(result.candidates))

    def _candidates(self, deals: list[Deal], order: int) -> Iterator[Candidate]:
        for place, deal in enumerate(deals, order):
            outcome = play(deal, self.rules)
            if outcome.status == "loop":  # not where a limit comes first
                yield Candidate("loop", deal, outcome.cards, outcome.tricks, place)


def _found(cycle: Cycle, balanced: int, name: str) -> FoundCycle:
    return FoundCycle(
        canonical=str(cycle.canonical),
        tricks=cycle.period.tricks,
        cards=cycle.period.cards,
        mirror=cycle.mirror,
        balance=int(np.minimum(cycle.sizes, cycle.codes.shape[1] - cycle.sizes).max()),
        balanced=balanced,
        family=name,
    )


def family(cycle: Cycle) -> str:
    """Name the family of a cycle: its tricks, and its shape up to neutral variants.

    The shape is the canonical position of the normal form with every pay card as ``P`` and each run
    of plain cards as one ``-``.
    """
    least = normal_form(cycle)
    shape = re.sub("-+", "-", re.sub("[JQKA]", "P", str(least.canonical)))
    return f"{least.turn.tricks} {shape}"
