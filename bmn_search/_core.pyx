# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: autotestdict=False
"""The compiled engine. Thin: it converts, makes one native call without the GIL, and returns.

Cards are bytes, the code of a card its place in ``-JQKA``. The algorithms, and the reason why
they are fast, stand at the top of the headers in ``native/``.
"""

from libc.stdint cimport UINT64_MAX, int8_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc


cdef bmn_limits limits(bint payer_leads, object max_tricks, object max_cards):
    cdef bmn_limits rules
    rules.payer_leads = payer_leads
    rules.max_tricks = UINT64_MAX if max_tricks is None else max_tricks
    rules.max_cards = UINT64_MAX if max_cards is None else max_cards
    return rules


cdef uint32_t *new_tokens(const uint8_t[::1] cards, const uint8_t[::1] penalties) except NULL:
    """Allocate the tokens of some cards, told apart by their numbers above the penalty."""
    cdef Py_ssize_t i
    cdef uint32_t *tokens = <uint32_t *>malloc((cards.shape[0] + 1) * sizeof(uint32_t))
    if tokens == NULL:
        raise MemoryError
    for i in range(cards.shape[0]):
        tokens[i] = (<uint32_t>i << 4) | penalties[cards[i]]
    return tokens


def play(
    bytes first not None,
    bytes second not None,
    const uint8_t[::1] penalties not None,
    bint leader,
    bint payer_leads,
    max_tricks,
    max_cards,
):
    """Play one deal exactly.

    Parameters
    ----------
    first, second
        The packets as card codes 0-4, top card first.
    penalties
        What each code costs, 5 bytes from 0 to 15.
    leader
        Who leads: 0 or 1.
    payer_leads
        Whether the payer of a trick leads the next one; else its winner does.
    max_tricks, max_cards
        The limits, or None.

    Returns
    -------
    tuple
        ``(status, winner, cards, tricks, last_pile, transient_cards, transient_tricks,
        cycle_cards, cycle_tricks, mirror, held_first, held_second)``; the status is 0 for
        finished, 1 for a loop, 2 for unknown, the winner 0, 1, or -1.
    """
    cdef bmn_limits rules = limits(payer_leads, max_tricks, max_cards)
    cdef bmn_outcome out
    cdef uint32_t[2] size = [len(first), len(second)]
    cdef uint32_t *tokens = new_tokens(first + second, penalties)
    cdef Py_ssize_t i
    for i in range(size[0] + size[1]):
        tokens[i] &= 15
    with nogil:
        bmn_play(tokens, size, leader, &rules, &out)
        free(tokens)
    if out.status == BMN_NO_MEMORY:
        raise MemoryError
    return (
        out.status, out.winner, out.total.cards, out.total.tricks, out.last_pile,
        out.transient.cards, out.transient.tricks, out.cycle.cards, out.cycle.tricks,
        out.mirror, out.held[0], out.held[1],
    )


def follow(
    bytes first not None,
    bytes second not None,
    const uint8_t[::1] penalties not None,
    bint leader,
    bint payer_leads,
    uint64_t tricks,
):
    """Follow the single cards of a deal through some tricks.

    Parameters
    ----------
    first, second, penalties, leader, payer_leads
        As in `play`.
    tricks
        How many tricks to play; the game must last so long.

    Returns
    -------
    tuple
        ``(leader, leading, other)``: who leads then, 0 or 1, and the packets of that player and
        of the other one as lists of card numbers, counted from 0 over the deal as given.
    """
    cdef bmn_limits rules = limits(payer_leads, None, None)
    cdef uint32_t[2] size = [len(first), len(second)]
    cdef uint32_t *tokens = new_tokens(first + second, penalties)
    cdef Py_ssize_t i
    cdef int leads
    try:
        with nogil:
            leads = bmn_advance(tokens, size, leader, &rules, tricks)
        if leads < 0:
            raise MemoryError
        numbers = [tokens[i] >> 4 for i in range(size[0] + size[1])]
    finally:
        free(tokens)
    return leads, numbers[:size[0]], numbers[size[0]:]


def deal_many(
    const uint8_t[::1] deck not None, uint64_t seed, uint64_t first, uint8_t[:, ::1] out not None
):
    """Deal the deals number `first`, `first` + 1, ... of a seed.

    Parameters
    ----------
    deck
        All cards of the deck as codes.
    seed, first
        The deal of a number is a function of the two, whatever is dealt before it.
    out
        Gets one deal a row: shape (deals, cards).
    """
    if out.shape[1] != deck.shape[0]:
        raise ValueError(f"out has {out.shape[1]} columns: expected {deck.shape[0]}")
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            bmn_deal(&deck[0], <uint32_t>deck.shape[0], seed, first + <uint64_t>i, &out[i, 0])


def play_many(
    const uint8_t[:, ::1] deals not None,
    uint32_t split,
    const uint8_t[::1] penalties not None,
    bint payer_leads,
    max_tricks,
    max_cards,
    uint8_t[::1] status not None,
    int8_t[::1] winner not None,
    uint64_t[:, ::1] counts not None,
):
    """Play a batch of deals in which the first player leads.

    Parameters
    ----------
    deals
        One deal a row, as card codes: shape (deals, cards).
    split
        Cards in the first packet.
    penalties, payer_leads, max_tricks, max_cards
        As in `play`.
    status, winner
        Get the status and the winner of each deal, as in `play`.
    counts
        Gets cards, tricks, transient cards and tricks, cycle cards and tricks of each deal:
        shape (deals, 6).
    """
    cdef bmn_limits rules = limits(payer_leads, max_tricks, max_cards)
    cdef bmn_outcome out
    cdef uint32_t n = <uint32_t>deals.shape[1]
    cdef uint32_t[2] size = [split, n - split]
    cdef uint32_t mask = bmn_mask_for(size)
    cdef uint32_t *memory = <uint32_t *>malloc((bmn_memory_for(mask) + n) * sizeof(uint32_t))
    cdef uint32_t *tokens = memory
    cdef Py_ssize_t i
    cdef uint32_t j
    if memory == NULL:
        raise MemoryError
    with nogil:
        for i in range(deals.shape[0]):
            for j in range(n):
                tokens[j] = penalties[deals[i, j]]
            bmn_play_in(tokens, size, 0, &rules, memory + n, mask, &out)
            status[i] = out.status
            winner[i] = out.winner
            counts[i, 0] = out.total.cards
            counts[i, 1] = out.total.tricks
            counts[i, 2] = out.transient.cards
            counts[i, 3] = out.transient.tricks
            counts[i, 4] = out.cycle.cards
            counts[i, 5] = out.cycle.tricks
        free(memory)
