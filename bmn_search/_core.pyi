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
def deal_many(deck: bytes, seed: int, first: int, out: NDArray[np.uint8]) -> None: ...
def play_many(
    deals: NDArray[np.uint8],
    split: int,
    penalties: bytes,
    payer_leads: bool,
    max_tricks: int | None,
    max_cards: int | None,
    status: NDArray[np.uint8],
    winner: NDArray[np.int8],
    counts: NDArray[np.uint64],
) -> None: ...
