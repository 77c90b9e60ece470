"""Batches: many deals of two players as card codes, the form in which the kernels take them."""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bmn_search.deal import Deal
from bmn_search.errors import DealError
from bmn_search.notation import CODES, SYMBOLS

__all__ = ["Batch"]

MOST_WIDTH = 2**24  # cards in a row: the kernels count places with 32 bits


@dataclass(frozen=True, eq=False)
class Batch:
    """Deals of two players, one a row.

    Attributes
    ----------
    codes
        uint8, shape (deals, width), C order: card codes 0-4 (``-JQKA``), top card first, the
        packet of the player who leads before the other one. What follows in a row is ignored.
    sizes
        uint32, shape (deals, 2): cards in the packet of the leader, and in the other one.
    leaders
        uint8, shape (deals,): who leads, 1 or 2.

    Raises
    ------
    DealError
        When an array is of another type or shape, a row is too short, or a code is unknown.

    Examples
    --------
    >>> batch = Batch.of([Deal.parse("J--/-J-"), Deal.parse("-/Q leader=2")])
    >>> len(batch), str(batch[1])
    (2, '-/Q leader=2')
    >>> batch.codes[0]
    array([1, 0, 0, 0, 1, 0], dtype=uint8)
    """

    codes: NDArray[np.uint8]
    sizes: NDArray[np.uint32]
    leaders: NDArray[np.uint8]

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse arrays that are not as described.

        Raises
        ------
        DealError
            As for the batch itself.
        """
        for name in ("codes", "sizes", "leaders"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
                raise DealError(f"{name}: expected a C-ordered array")
        codes, sizes, leaders = self.codes, self.sizes, self.leaders
        deals = len(codes)
        if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] > MOST_WIDTH:
            raise DealError(
                "codes: expected a uint8 array of shape (deals, width), the width at most "
                f"{MOST_WIDTH:,}"
            )
        if sizes.dtype != np.uint32 or sizes.shape != (deals, 2):
            raise DealError(f"sizes: expected a uint32 array of shape ({deals}, 2)")
        if leaders.dtype != np.uint8 or leaders.shape != (deals,):
            raise DealError(f"leaders: expected a uint8 array of shape ({deals},)")
        if deals == 0:
            return
        width = codes.shape[1]
        if sizes.max() > width or (sizes[:, 0] + sizes[:, 1]).max() > width:
            raise DealError(f"sizes: a deal has more than the {width} cards of a row")
        if (sizes[:, 0] | sizes[:, 1]).min() == 0:
            raise DealError("sizes: a deal has no cards")
        most = int(np.asarray(codes).max(initial=0))  # of a masked array, what it hides too
        if most >= len(SYMBOLS):
            raise DealError(f"code {most} is unknown: expected 0 to {len(SYMBOLS) - 1}")
        if (leaders - np.uint8(1)).max() > 1:  # 0 wraps to 255
            raise DealError("leaders: expected 1 or 2 in each row")

    @classmethod
    def of(cls, deals: Iterable[Deal]) -> "Batch":
        """Pack deals.

        Raises
        ------
        DealError
            When one is not for two players.
        """
        rows, sizes, leaders = [], [], []
        for deal in deals:
            if len(deal.packets) != 2:
                raise DealError(f"{deal}: a batch holds deals of two players")
            packets = deal.packets if deal.leader == 1 else deal.packets[::-1]
            rows.append([CODES[symbol] for symbol in "".join(packets)])
            sizes.append([len(packet) for packet in packets])
            leaders.append(deal.leader)
        codes = np.zeros((len(rows), max(map(len, rows), default=0)), np.uint8)
        for row, cards in zip(codes, rows, strict=True):
            row[: len(cards)] = cards
        return cls(
            codes,
            np.array(sizes, np.uint32).reshape(len(rows), 2),
            np.array(leaders, np.uint8),
        )

    @classmethod
    def split(cls, codes: NDArray[np.uint8], first: int) -> "Batch":
        """Take the rows of an array for deals, all with `first` cards in packet 1, which leads.

        Raises
        ------
        DealError
            As for the batch itself.
        """
        first = operator.index(first)
        if codes.ndim != 2 or not 0 <= first <= codes.shape[1]:
            raise DealError("codes: expected an array of shape (deals, width) that can be split so")
        sizes = np.array([first, codes.shape[1] - first], np.uint32)
        return cls(codes, np.tile(sizes, (len(codes), 1)), np.ones(len(codes), np.uint8))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Deal:
        leading, other = self.sizes[row].tolist()
        cards = "".join(map(SYMBOLS.__getitem__, self.codes[row, : leading + other]))
        packets = cards[:leading], cards[leading:]
        leader = int(self.leaders[row])
        return Deal(packets if leader == 1 else packets[::-1], leader)

    def __iter__(self) -> Iterator[Deal]:
        return (self[row] for row in range(len(self)))
