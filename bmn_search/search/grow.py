"""Loop growth: deals that never end, found from scratch or from known ones.

Small decks have many cycles. A cycle is edited a little, by inserting, removing, moving,
exchanging or changing cards or a run of them, and what never ends again is a cycle of a slightly
larger or other deck; so they grow towards the wanted one. `native/grow.h` does that; here its
cycles of the wanted deck get ranks that fit (`ranks.variants_in`), are followed back to all deals
that lead into them (`ancestry.basin`), and are told apart by their canonical positions.

Several islands grow side by side. A chunk is a spell of one island: it goes on from the archive
with which the spell before ended, and takes in some entries of a neighbour's.
"""

import hashlib
import re
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bmn_search import compiled
from bmn_search.ancestry import basin
from bmn_search.cycle import Cycle, alike_deck, find_cycle, relative
from bmn_search.deal import STANDARD52, Deal, Deck
from bmn_search.engine import play
from bmn_search.errors import BmnError
from bmn_search.ranks import normal_form, variants_in
from bmn_search.rules import STANDARD, Rules
from bmn_search.search.strategy import Candidate, ChunkResult, Dropped, FoundCycle

__all__ = ["EDITS", "MOST_ISLANDS", "MOST_PASS", "Grow", "family"]

EDITS = ("insert", "remove", "move", "exchange", "change", "add", "drop")
SMALL_EDITS = 5  # the first ones change a card
BATCH = 4096  # candidates
SLICE = 64  # batches between two looks at whether to stop
SEEDS = 256  # batches of random small positions to begin with
MOST_CARDS = 59  # of a deck: a position may have a few more on the way, and 63 at most
WIDTH = 63
# Rank variants of one normal form that are followed back: so many, and if none of them has a
# balanced deal, no more; packet sizes are the same for all of them.
FIRST_VARIANTS, MOST_VARIANTS = 5, 500
MOST = 2**32
MOST_ISLANDS = 4096
EXCHANGED = 10  # of so many entries of a neighbour one is taken in

# The packets to which a holder comes back, ``P`` a pay card, and the shift of the pass: those whose
# search gave cycles (docs/grow.md). The first spells of the islands that begin with them do one
# share of the search each.
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
SHARES = 8
PARTS = 8  # of a share: between two of them lies a look at whether to stop
MOST_STEPS = 500_000_000  # of a share, about half a minute: with many pay cards that is not all
SHORTEST_HOLDER = 3
MOST_PASS = 36  # cards of a run: each two more take two to four times as long


@dataclass(frozen=True)
class Grow:
    """The strategy `grow`: islands of growing cycles, each chunk a spell of one.

    Chunk number n is a spell of island n mod `islands`. Islands 0, 2, ... begin with random small
    positions, the others with cycles of one pass: these are few and lead far, and would be lost
    among the offspring of the others. Neighbours are of one kind.

    Attributes
    ----------
    deck, rules, seed, keep
        As in `Strategy`. Cards that cost the same are alike.
    games
        How many candidates a chunk plays, rounded up to batches of 4,096.
    starts
        Texts of positions, of any deck, that never end: all islands begin with their cycles.
    weights
        How often each of `EDITS` is made.
    numbers
        How often a candidate has one, two, three of the edits that change a card.
    steered, filled
        Of 100 parents, how many are drawn by their distance from the wanted deck, and how many
        among those that need only be filled up.
    passes
        How long the runs of the cycles of one pass may be with which every other island begins; 0:
        none, all begin with random positions.
    islands
        How many.
    memories
        Of the chunks from which the next one goes on: not a part of the plan.

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
    games: int = 5_000_000
    starts: tuple[str, ...] = ()
    weights: tuple[int, ...] = (45, 10, 15, 15, 15, 12, 6)
    numbers: tuple[int, ...] = (15, 45, 40)
    steered: int = 25
    filled: int = 60
    passes: int = 36
    islands: int = 4
    memories: Mapping[int, bytes] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.games < MOST * BATCH:
            raise BmnError(f"games {self.games}: expected at least 1")
        for name, values, count in (
            ("edits", self.weights, len(EDITS)),
            ("numbers", self.numbers, 3),
        ):
            if len(values) != count:
                raise BmnError(f"{name} {values}: expected {count} numbers")
            if min(values) < 0 or not 0 < sum(values[:SMALL_EDITS]) <= sum(values) < 10**6:
                raise BmnError(
                    f"{name} {values}: expected whole numbers from 0, one of the first at least 1"
                )
        if min(self.steered, self.filled) < 0 or self.steered + self.filled > 100:
            raise BmnError(
                f"steered {self.steered} and filled {self.filled}: expected together 0 to 100"
            )
        for name, value, least, most in (
            ("passes", self.passes, 0, MOST_PASS),
            ("islands", self.islands, 1, MOST_ISLANDS),
        ):
            if not least <= value <= most:
                raise BmnError(f"{name} {value}: expected {least} to {most}")
        if 0 < self.passes <= SHORTEST_HOLDER:
            raise BmnError(
                f"passes {self.passes}: expected 0 for none, or "
                f"{SHORTEST_HOLDER + 1} to {MOST_PASS}"
            )
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
        fields = parameters | {
            "starts": tuple(parameters["starts"]),
            "weights": tuple(parameters["weights"][edit] for edit in EDITS),
            "numbers": tuple(parameters["numbers"]),
        }
        return cls(deck, rules, seed, keep, **fields)

    def parameters(self) -> dict[str, Any]:
        """Return all else that determines the results, as JSON values."""
        return {
            "games": self.games,
            "starts": list(self.starts),
            "weights": dict(zip(EDITS, self.weights, strict=True)),
            "numbers": list(self.numbers),
            "steered": self.steered,
            "filled": self.filled,
            "passes": self.passes,
            "islands": self.islands,
        }

    def before(self, number: int) -> tuple[int, ...]:
        """Return the chunks from which chunk `number` goes on: of the island, of a neighbour."""
        return tuple(n for n in (number - self.islands, number - self.islands - 2) if n >= 0)

    def behind(self, number: int) -> tuple[int, ...]:
        """Return the chunks that go on from chunk `number`."""
        return number + self.islands, number + self.islands + 2

    def going_on(self, memories: Mapping[int, bytes]) -> "Grow":
        """Return the strategy with what a chunk needs of those before it."""
        return replace(self, memories=memories)

    def chunk(self, number: int, stop: threading.Event) -> ChunkResult:
        """Do chunk `number`: a spell of an island."""
        if not 0 <= number < MOST:
            raise BmnError(f"chunk {number} is out of range")
        result = ChunkResult()
        growth, known = self._begun(number, stop)
        loops = growth.counts()["loops"] if number >= self.islands else 0
        found: dict[Deal, FoundCycle] = {}
        batches = -(-self.games // BATCH)
        for first in range(0, batches, SLICE):
            if stop.is_set():
                raise Dropped
            growing = growth.run(min(SLICE, batches - first))
            for codes, size in growth.found():
                key = _key(codes, size)
                if key not in known:
                    known.add(key)
                    self._follow_back(codes, size, found, result)
            if not growing:
                break
        counts = growth.counts()
        result.games, result.loops = counts["tried"], counts["loops"] - loops
        result.cycles = list(found.values())
        result.memory = _memory(list(dict.fromkeys(growth.archive())), known)
        return result

    def _begun(self, number: int, stop: threading.Event) -> tuple[Any, set[int]]:
        """Return the archive with which a spell begins, and which cycles of the deck are known."""
        key = np.array([self.seed, number], np.uint64)
        random = np.random.Philox(key=key)
        wanted = alike_deck(self.deck, self.rules)
        growth = compiled.new_growth(
            wanted,
            self.rules,
            int(random.random_raw()),
            self.weights,
            self.numbers,
            self.steered,
            self.filled,
        )
        known: set[int] = set()
        for place, earlier in enumerate(self.before(number)):
            try:
                codes, sizes, keys = _remembered(self.memories[earlier])
            except (zlib.error, ValueError):
                raise BmnError(
                    f"what chunk {number} goes on from is damaged: begin a new run"
                ) from None
            if place > 0:
                drawn = np.random.Generator(random).permutation(len(codes))
                drawn = np.sort(drawn[: len(codes) // EXCHANGED])
                codes, sizes = codes[drawn], sizes[drawn]
            growth.enter(codes, sizes)
            known.update(keys.tolist())
        epoch, island = divmod(number, self.islands)
        share = epoch * (self.islands // 2) + island // 2
        if self.starts or island % 2 == 0 or not self.passes:
            if epoch == 0:
                self._seed(growth)
        elif share < SHARES:
            self._search_passes(growth, share, stop)
        return growth, known

    def _seed(self, growth: Any) -> None:
        """Enter what an island begins with."""
        if not self.starts:
            growth.seeds(SEEDS)
        for text in self.starts:
            cycle = find_cycle(text, self.rules)
            assert cycle is not None
            sizes = np.array([[cycle.sizes[0], cycle.codes.shape[1] - cycle.sizes[0]]], np.uint8)
            growth.enter(cycle.codes[:1].copy(), sizes)

    def _search_passes(self, growth: Any, share: int, stop: threading.Event) -> None:
        """Enter the cycles of one pass of a share of their search."""
        steps = 0
        for (holder, shift), part in product(PASSES, range(PARTS)):
            if stop.is_set():
                raise Dropped
            if steps < MOST_STEPS:
                pays = bytes(card == "P" for card in holder)
                steps += growth.passes(
                    pays,
                    shift,
                    self.passes,
                    self.deck.size // 4,
                    share * PARTS + part,
                    SHARES * PARTS,
                )

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


def _key(codes: bytes, size: int) -> int:
    digest = hashlib.blake2b(bytes([size]) + codes, digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _memory(rows: Sequence[tuple[bytes, int]], known: set[int]) -> bytes:
    """Write an archive, and the keys of the known cycles of the deck, as bytes."""
    table = b"".join(
        bytes([size, len(codes) - size]) + codes.ljust(WIDTH, b"\0") for codes, size in rows
    )
    keys = np.array(sorted(known), "<u8").tobytes()
    return zlib.compress(len(rows).to_bytes(8, "little") + table + keys, 6)


def _remembered(memory: bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
    """Read what `_memory` wrote: card codes (rows, 63), packet sizes (rows, 2), keys."""
    data = zlib.decompress(memory)
    rows = int.from_bytes(data[:8], "little")
    end = 8 + rows * (2 + WIDTH)
    table = np.frombuffer(data[8:end], np.uint8).reshape(rows, 2 + WIDTH)
    keys = np.frombuffer(data[end:], "<u8").astype(np.uint64)
    if table.max(initial=0, where=np.arange(2 + WIDTH) >= 2) > 4 or (
        rows and (table[:, :2].min() < 1 or table[:, :2].astype(int).sum(axis=1).max() > WIDTH)
    ):
        raise ValueError
    return table[:, 2:].copy(), table[:, :2].copy(), keys


def _found(cycle: Cycle, balanced: int, name: str) -> FoundCycle:
    return FoundCycle(
        canonical=str(cycle.canonical),
        tricks=cycle.period.tricks,
        cards=cycle.period.cards,
        mirror=cycle.mirror,
        balance=cycle.balance,
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
