from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

def play(
    first: bytes,
    second: bytes,
    penalties: bytes,
    leader: int,
    payer_leads: bool,
    max_tricks: int | None,
    max_cards: int | None,
) -> tuple[int, int, int, int, int, int, int, int, int, bool, int, int]: ...
def follow(
    first: bytes, second: bytes, penalties: bytes, leader: int, payer_leads: bool, tricks: int
) -> tuple[int, list[int], list[int]]: ...
def kernel_runs(kernel: int) -> bool: ...
def compiler() -> tuple[str, bool]: ...
def cpu_features() -> dict[str, bool]: ...
def deal_many(
    counts: NDArray[np.uint32], seed: int, first: int, out: NDArray[np.uint8]
) -> None: ...
def play_many(
    kernel: int,
    codes: NDArray[np.uint8],
    sizes: NDArray[np.uint32],
    penalties: bytes,
    payer_leads: bool,
    max_tricks: int | None,
    max_cards: int | None,
    rows: NDArray[np.void],
) -> None: ...
def play_seed(
    kernel: int,
    counts: NDArray[np.uint32],
    split: int,
    seed: int,
    first: int,
    penalties: bytes,
    payer_leads: bool,
    max_tricks: int | None,
    max_cards: int | None,
    rows: NDArray[np.void],
) -> None: ...
def walk(
    first: bytes,
    second: bytes,
    penalties: bytes,
    leader: int,
    payer_leads: bool,
    leaders: NDArray[np.uint8],
    sizes: NDArray[np.uint32],
    cards: NDArray[np.uint32],
    numbers: NDArray[np.uint32] | None,
    laid: NDArray[np.uint32] | None,
) -> None: ...
def predecessors(
    codes: bytes, size: int, penalties: bytes, payer_leads: bool
) -> list[tuple[bytes, int, bool]]: ...

@final
class Forest:
    def __new__(cls, cards: int, penalties: bytes, payer_leads: bool) -> Forest: ...
    def __len__(self) -> int: ...
    @property
    def cards(self) -> int: ...
    def root(
        self,
        codes: NDArray[np.uint8],
        size: int,
        following: int,
        laid: int,
        exchanged: bool,
    ) -> None: ...
    def grow(self, depth: int, limit: int, rows: int) -> int: ...
    def copy(
        self,
        codes: NDArray[np.uint8],
        sizes: NDArray[np.uint32],
        distance: NDArray[np.uint32],
        following: NDArray[np.uint32],
        laid: NDArray[np.uint32],
        exchanged: NDArray[np.uint8],
    ) -> None: ...

@final
class World:
    def __new__(
        cls,
        counts: NDArray[np.uint32],
        penalties: bytes,
        payer_leads: bool,
        links: NDArray[np.uint32],
    ) -> World: ...
    def play(self, first: int, count: int) -> None: ...
    def follow(self, first: int, count: int) -> None: ...
    def shells(self) -> list[tuple[int, int, int | None, int]]: ...

@final
class Tally:
    def __new__(cls, histogram: NDArray[np.uint64]) -> Tally: ...
    @property
    def games(self) -> int: ...
    @property
    def finished(self) -> int: ...
    @property
    def loops(self) -> int: ...
    @property
    def plays(self) -> int: ...
    @property
    def longest(self) -> tuple[int, int]: ...

@final
class Enumeration:
    def __new__(cls, codes: NDArray[np.uint8], split: int, order: bytes) -> Enumeration: ...
    def play(
        self,
        kernel: int,
        penalties: bytes,
        payer_leads: bool,
        max_tricks: int | None,
        max_cards: int | None,
        first: int,
        tally: Tally,
        where: NDArray[np.uint64],
        loops: NDArray[np.uint64],
    ) -> int: ...

def share_deals(
    kernel: int,
    codes: NDArray[np.uint8],
    split: int,
    counts: NDArray[np.uint32],
    penalties: bytes,
    payer_leads: bool,
    tally: Tally,
) -> tuple[int, list[tuple[bytes, list[int], bool]]]: ...

@final
class Growth:
    def __new__(
        cls,
        kernel: int,
        counts: NDArray[np.uint32],
        penalties: bytes,
        payer_leads: bool,
        seed: int,
        weights: Sequence[int],
        numbers: Sequence[int],
        steered: int,
        filled: int,
    ) -> Growth: ...
    def seeds(self, batches: int) -> None: ...
    def run(self, batches: int) -> bool: ...
    def passes(
        self,
        pays: bytes,
        shift: int,
        length: int,
        least: int,
        share: int,
        shares: int,
    ) -> int: ...
    def enter(self, codes: NDArray[np.uint8], sizes: NDArray[np.uint8]) -> None: ...
    def found(self) -> list[tuple[bytes, int]]: ...
    def archive(self) -> list[tuple[bytes, int]]: ...
    def counts(self) -> dict[str, Any]: ...
