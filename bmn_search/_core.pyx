# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: autotestdict=False
"""The compiled engine. Thin: it converts, makes one native call without the GIL, and returns.

Cards are bytes, the code of a card its place in ``-JQKA``. The algorithms, and the reason why
they are fast, stand at the top of the headers in ``native/``.
"""

from libc.stdint cimport UINT64_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc


cdef bmn_general_rules general_rules(bint payer_leads, object max_tricks, object max_cards):
    cdef bmn_general_rules rules
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
    cdef bmn_general_rules rules = general_rules(payer_leads, max_tricks, max_cards)
    cdef bmn_run out
    cdef uint32_t[2] size = [len(first), len(second)]
    cdef uint32_t *tokens = new_tokens(first + second, penalties)
    cdef Py_ssize_t i
    for i in range(size[0] + size[1]):
        tokens[i] &= 15
    with nogil:
        bmn_general_play(tokens, size, leader, &rules, &out)
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
    cdef bmn_general_rules rules = general_rules(payer_leads, None, None)
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


cdef bmn_deck new_deck(const uint32_t[::1] counts, uint32_t split):
    cdef bmn_deck deck
    cdef int code
    deck.total = 0
    deck.split = split
    for code in range(5):
        deck.count[code] = counts[code]
        deck.total += counts[code]
    return deck


cdef bmn_job new_job(
    int kernel, const uint8_t[::1] penalties, bint payer_leads, max_tricks, max_cards,
    uint32_t most_cards,
):
    """Prepare to play; whoever calls frees the job."""
    cdef bmn_job job
    cdef int code
    job.kernel = kernel
    job.rules.payer_leads = payer_leads
    for code in range(5):
        job.rules.penalty[code] = penalties[code]
    job.max_tricks = UINT64_MAX if max_tricks is None else max_tricks
    job.max_cards = UINT64_MAX if max_cards is None else max_cards
    if not bmn_job_init(&job, most_cards):
        bmn_job_free(&job)
        raise MemoryError
    return job


def kernel_runs(int kernel):
    """Say whether this machine can run a kernel: its place in general, portable, simd128, simd."""
    return bool(bmn_kernel_runs(kernel))


def compiler():
    """Name the C compiler that built this module, and whether it could build the vector kernels."""
    return bmn_compiler().decode(), bool(BMN_X86_64)


def cpu_features():
    """Say which instruction sets that the vector kernels need the CPU offers."""
    cdef bmn_feature features[BMN_FEATURES]
    cdef int found = bmn_cpu_features(features)
    cdef int i
    return {features[i].name.decode(): bool(features[i].offered) for i in range(found)}


def deal_many(
    const uint32_t[::1] counts not None, uint64_t seed, uint64_t first, uint8_t[:, ::1] out not None
):
    """Deal the deals number `first`, `first` + 1, ... of a seed.

    Parameters
    ----------
    counts
        How many cards of each code, 5 numbers.
    seed, first
        The deal of a number is a function of the two, whatever is dealt before it.
    out
        Gets one deal a row: shape (deals, cards).
    """
    cdef bmn_deck deck = new_deck(counts, 0)
    cdef Py_ssize_t i
    if out.shape[1] != deck.total:
        raise ValueError(f"out has {out.shape[1]} columns: expected {deck.total}")
    with nogil:
        for i in range(out.shape[0]):
            bmn_deal_codes(&deck, seed, first + <uint64_t>i, &out[i, 0])


def play_many(
    int kernel,
    const uint8_t[:, ::1] codes not None,
    const uint32_t[:, ::1] sizes not None,
    const uint8_t[::1] penalties not None,
    bint payer_leads,
    max_tricks,
    max_cards,
    bmn_row[::1] rows not None,
):
    """Play a batch of deals, without the GIL.

    Parameters
    ----------
    kernel
        Which one; see `kernel_runs`. 4 is the yardstick.
    codes
        One deal a row, the packet of the player who leads first: shape (deals, width).
    sizes
        Sizes of the two packets in each row: shape (deals, 2); together at most the width.
    penalties, payer_leads, max_tricks, max_cards
        As in `play`.
    rows
        Gets the outcomes, `engine.OUTCOME_DTYPE`: shape (deals,).
    """
    cdef Py_ssize_t n = codes.shape[0]
    cdef size_t width = codes.shape[1]
    if sizes.shape[0] != n or rows.shape[0] != n or sizes.shape[1] != 2:
        raise ValueError("codes, sizes and rows are not of one length")
    if n == 0:
        return
    cdef bmn_job job = new_job(
        kernel, penalties, payer_leads, max_tricks, max_cards, <uint32_t>width
    )
    with nogil:
        bmn_play_rows(&job, &codes[0, 0], width, &sizes[0, 0], n, &rows[0])
        bmn_job_free(&job)


def play_seed(
    int kernel,
    const uint32_t[::1] counts not None,
    uint32_t split,
    uint64_t seed,
    uint64_t first,
    const uint8_t[::1] penalties not None,
    bint payer_leads,
    max_tricks,
    max_cards,
    bmn_row[::1] rows not None,
):
    """Deal and play the deals number `first`, `first` + 1, ... of a seed, without the GIL.

    Parameters
    ----------
    kernel, penalties, payer_leads, max_tricks, max_cards, rows
        As in `play_many`. The yardstick shuffles deals of its own.
    counts, seed, first
        As in `deal_many`.
    split
        Cards in the first packet.
    """
    cdef bmn_deck deck = new_deck(counts, split)
    cdef Py_ssize_t n = rows.shape[0]
    if n == 0:
        return
    cdef bmn_job job = new_job(kernel, penalties, payer_leads, max_tricks, max_cards, deck.total)
    cdef uint8_t *codes = <uint8_t *>malloc(deck.total)
    with nogil:
        if codes != NULL:
            bmn_play_seed(&job, &deck, seed, first, n, codes, &rows[0])
        bmn_job_free(&job)
        free(codes)
    if codes == NULL:
        raise MemoryError
