# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: autotestdict=False
"""The compiled engine. Thin: it converts, makes one native call without the GIL, and returns.

Cards are bytes, the code of a card its place in ``-JQKA``. The algorithms, and the reason why
they are fast, stand at the top of the headers in ``native/``.
"""

cimport cython
from libc.stdint cimport UINT64_MAX, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy


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


cdef bmn_rules plain_rules(const uint8_t[::1] penalties, bint payer_leads):
    cdef bmn_rules rules
    cdef int code
    rules.payer_leads = payer_leads
    for code in range(5):
        rules.penalty[code] = penalties[code]
    return rules


cdef bmn_job new_job(
    int kernel, const uint8_t[::1] penalties, bint payer_leads, max_tricks, max_cards,
    uint32_t most_cards,
):
    """Prepare to play; whoever calls frees the job."""
    cdef bmn_job job
    job.kernel = kernel
    job.rules = plain_rules(penalties, payer_leads)
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


def walk(
    bytes first not None,
    bytes second not None,
    const uint8_t[::1] penalties not None,
    bint leader,
    bint payer_leads,
    uint8_t[::1] leaders not None,
    uint32_t[:, ::1] sizes not None,
    uint32_t[::1] cards not None,
    uint32_t[:, ::1] numbers,
    uint32_t[::1] laid,
):
    """Play a deal trick by trick and write down what happens, without the GIL.

    Parameters
    ----------
    first, second, penalties, leader, payer_leads
        As in `play`.
    leaders
        Gets who leads before each trick, and after the last: shape (tricks + 1,). The game must
        last so many tricks.
    sizes
        Gets the sizes of the leader's packet and of the other one: shape (tricks + 1, 2).
    cards
        Gets how many cards are laid in each trick: shape (tricks,).
    numbers
        Gets the numbers of the cards, the leader's packet first, counted from 0 over the deal as
        given: shape (tricks + 1, all cards). Or None.
    laid
        Gets the numbers of the cards in the order in which they are laid: shape (cards laid,). Or
        None.
    """
    cdef uint32_t[2] size = [len(first), len(second)]
    cdef uint64_t tricks = cards.shape[0]
    cdef bmn_diary diary
    if leaders.shape[0] != cards.shape[0] + 1 or sizes.shape[0] != cards.shape[0] + 1:
        raise ValueError("leaders, sizes and cards are not of one length")
    if sizes.shape[1] != 2:
        raise ValueError(f"sizes has {sizes.shape[1]} columns: expected 2")
    diary.leader = &leaders[0]
    diary.size = &sizes[0, 0]
    diary.cards = &cards[0] if tricks else NULL
    diary.tokens = diary.laid = NULL
    diary.room = 0
    if numbers is not None:
        if numbers.shape[0] != leaders.shape[0] or numbers.shape[1] != size[0] + size[1]:
            raise ValueError("numbers has not a row for each position, a column for each card")
        diary.tokens = &numbers[0, 0]
    if laid is not None and laid.shape[0]:
        diary.laid = &laid[0]
        diary.room = laid.shape[0]
    cdef uint32_t *tokens = new_tokens(first + second, penalties)
    cdef bint done
    cdef Py_ssize_t row, card
    with nogil:
        done = bmn_walk(tokens, size, leader, payer_leads, tricks, &diary)
        free(tokens)
    if not done:
        raise MemoryError
    if numbers is not None:
        for row in range(numbers.shape[0]):
            for card in range(numbers.shape[1]):
                numbers[row, card] >>= 4
    if laid is not None:
        for card in range(laid.shape[0]):
            laid[card] >>= 4


def predecessors(
    bytes codes not None, uint32_t size, const uint8_t[::1] penalties not None, bint payer_leads
):
    """List the positions from which one trick leads here.

    Parameters
    ----------
    codes, size
        Card codes, the packet of the leader first, and the size of that.
    penalties, payer_leads
        As in `play`.

    Returns
    -------
    list
        For each ``(codes, size, exchanged)``, `exchanged` telling whether its leader is not the
        one who leads here.
    """
    if size > <uint32_t>len(codes):
        raise ValueError(f"the leader has {size} cards: expected at most {len(codes)}")
    cdef bmn_rules rules = plain_rules(penalties, payer_leads)
    cdef bmn_backward backward = bmn_backward_from(codes, <uint32_t>len(codes), size, &rules)
    cdef bytearray before = bytearray(len(codes))
    cdef uint32_t before_size
    cdef bint exchanged
    found = []
    while bmn_backward_next(&backward):
        if bmn_backward_build(&backward, before, &before_size, &exchanged):
            found.append((bytes(before), before_size, bool(exchanged)))
    return found


@cython.final
@cython.auto_pickle(False)
cdef class Forest:
    """Positions and all that lead to them, each once; see `native/ancestry.h`.

    Parameters
    ----------
    cards
        How many cards a position has.
    penalties, payer_leads
        As in `play`.
    """

    cdef bmn_forest forest

    def __cinit__(self, uint32_t cards, const uint8_t[::1] penalties not None, bint payer_leads):
        cdef bmn_rules rules = plain_rules(penalties, payer_leads)
        if not bmn_forest_init(&self.forest, cards, &rules):
            raise MemoryError

    def __dealloc__(self):
        bmn_forest_free(&self.forest)

    def __len__(self):
        return self.forest.count

    @property
    def cards(self):
        """How many cards a position has."""
        return self.forest.cards

    def root(
        self, const uint8_t[::1] codes not None, uint32_t size, uint32_t following,
        uint32_t laid, bint exchanged,
    ):
        """Enter a position at distance 0, and how it leads on: see `copy`."""
        if codes.shape[0] != self.forest.cards or not size <= self.forest.cards:
            raise ValueError(f"the position has not {self.forest.cards} cards")
        if not bmn_forest_root(&self.forest, &codes[0], size, following, laid, exchanged):
            raise MemoryError

    def grow(self, uint32_t depth, size_t limit, size_t rows):
        """Look for the predecessors of `rows` more positions, without the GIL.

        Parameters
        ----------
        depth
            Most tricks from a root.
        limit
            Most positions; fewer than 2**32.

        Returns
        -------
        int
            0: there are more; 1: all are in; 2: there may be more beyond the depth; 3: there are
            more than the limit. After 3 the forest must not be grown on.
        """
        cdef int state
        with nogil:
            state = bmn_forest_grow(&self.forest, depth, limit, rows)
        if state == BMN_FOREST_NO_MEMORY:
            raise MemoryError
        return state

    def copy(
        self,
        uint8_t[:, ::1] codes not None,
        uint32_t[::1] sizes not None,
        uint32_t[::1] distance not None,
        uint32_t[::1] following not None,
        uint32_t[::1] laid not None,
        uint8_t[::1] exchanged not None,
    ):
        """Copy the rows: all arrays are as long as the forest, `codes` as wide as a position.

        Gives for each position the codes, the leader's packet first, and the size of that; tricks
        to the nearest root; the row of the position one trick later, the cards laid in that trick,
        and whether the other player leads after it.
        """
        cdef size_t n = self.forest.count
        if codes.shape[0] != n or codes.shape[1] != self.forest.cards:
            raise ValueError(f"codes: expected the shape ({n}, {self.forest.cards})")
        if not (
            sizes.shape[0] == distance.shape[0] == following.shape[0] == laid.shape[0]
            == exchanged.shape[0] == n
        ):
            raise ValueError(f"an array has not the length {n}")
        if n == 0:
            return
        memcpy(&codes[0, 0], self.forest.codes, n * self.forest.cards)
        memcpy(&sizes[0], self.forest.size, n * sizeof(uint32_t))
        memcpy(&distance[0], self.forest.distance, n * sizeof(uint32_t))
        memcpy(&following[0], self.forest.following, n * sizeof(uint32_t))
        memcpy(&laid[0], self.forest.laid, n * sizeof(uint32_t))
        memcpy(&exchanged[0], self.forest.exchanged, n)


@cython.final
@cython.auto_pickle(False)
cdef class World:
    """Every position of a small deck, and where play from it leads; see ``native/world.h``.

    One call at a time: a world has one place to lay out cards.

    Parameters
    ----------
    counts
        How many cards of each code, 5 numbers.
    penalties, payer_leads
        As in `play`.
    links
        Gets what is known of each position, of at most 2**30: shape (positions,).
    """

    cdef bmn_world world
    cdef uint32_t[::1] links

    def __cinit__(
        self,
        const uint32_t[::1] counts not None,
        const uint8_t[::1] penalties not None,
        bint payer_leads,
        uint32_t[::1] links not None,
    ):
        cdef bmn_rules rules
        cdef int code
        rules.payer_leads = payer_leads
        for code in range(5):
            rules.penalty[code] = penalties[code]
        self.links = links
        if not bmn_world_init(&self.world, &counts[0], &rules):
            raise MemoryError
        if links.shape[0] != (self.world.cards - 1) * <uint64_t>self.world.arrangements:
            raise ValueError(f"{links.shape[0]} links: expected one for each position")

    def __dealloc__(self):
        bmn_world_free(&self.world)

    def play(self, uint32_t first, uint32_t count):
        """Play a trick from every position of the arrangements `first`, `first` + 1, ..."""
        with nogil:
            bmn_world_play(&self.world, &self.links[0], first, count)

    def follow(self, uint32_t first, uint32_t count):
        """Follow the positions `first`, `first` + 1, ...; all must have been played before."""
        cdef bint done
        with nogil:
            done = bmn_world_follow(&self.world, &self.links[0], first, count)
        if not done:
            raise MemoryError

    def shells(self):
        """List the shells, each as (positions, balanced ones, canonical position, distance).

        The canonical position is None where the game ends.
        """
        cdef uint32_t i
        cdef bmn_shell shell
        listed = []
        for i in range(self.world.shell_count):
            shell = self.world.shells[i]
            canonical = None if shell.canonical == BMN_NO_CYCLE else shell.canonical
            listed.append((shell.positions, shell.balanced, canonical, shell.distance))
        return listed


@cython.final
@cython.auto_pickle(False)
cdef class Tally:
    """What games came to, added up by `Enumeration.play` or `share_deals`.

    Parameters
    ----------
    histogram
        Gets how many finished games had 0, 1, 2, ... cards; the last place stands for more too.
    """

    cdef bmn_tally tally
    cdef uint64_t[::1] histogram

    def __cinit__(self, uint64_t[::1] histogram not None):
        self.histogram = histogram
        self.tally.histogram = &histogram[0]
        self.tally.most = histogram.shape[0] - 1

    @property
    def games(self):
        """How many deals were counted."""
        return self.tally.games

    @property
    def finished(self):
        """How many of the games ended."""
        return self.tally.finished

    @property
    def loops(self):
        """How many never end."""
        return self.tally.loops

    @property
    def plays(self):
        """How many games a kernel played."""
        return self.tally.plays

    @property
    def longest(self):
        """The most cards, and the most tricks, of a finished game."""
        return self.tally.longest[0], self.tally.longest[1]


@cython.final
@cython.auto_pickle(False)
cdef class Enumeration:
    """Deals in index order; see `native/exhaust.h`.

    Parameters
    ----------
    codes, split
        The first deal, 2 to 64 cards, and how many are in the first packet.
    order
        The codes 0 to 4 in the order of the deck, the least first.
    """

    cdef bmn_arrangement *arrangement
    cdef uint32_t total

    def __cinit__(
        self, const uint8_t[::1] codes not None, uint32_t split, const uint8_t[::1] order not None
    ):
        self.total = codes.shape[0]
        if not 1 < self.total <= 64 or split > self.total or sorted(order) != [0, 1, 2, 3, 4]:
            raise ValueError(f"{self.total} cards, {split} in packet 1: expected 2 to 64 in all")
        self.arrangement = <bmn_arrangement *>malloc(sizeof(bmn_arrangement))
        if self.arrangement == NULL:
            raise MemoryError
        bmn_arrange(self.arrangement, &codes[0], split, self.total, &order[0])

    def __dealloc__(self):
        free(self.arrangement)

    def play(
        self,
        int kernel,
        const uint8_t[::1] penalties not None,
        bint payer_leads,
        max_tricks,
        max_cards,
        uint64_t first,
        Tally tally not None,
        uint64_t[::1] where not None,
        uint64_t[::1] loops not None,
    ):
        """Play the next deals, without the GIL.

        Parameters
        ----------
        kernel, penalties, payer_leads, max_tricks, max_cards
            As in `play_many`.
        first
            What to number the first of them.
        tally
            Is added to.
        where
            Gets the numbers of the first longest games by cards and by tricks, if they are longer
            than those in the tally: shape (2,).
        loops
            Gets the numbers of the games that never end: shape (deals,), for as many are played;
            the deck must have as many deals left.

        Returns
        -------
        int
            How many never end.
        """
        cdef size_t n = loops.shape[0], found
        if where.shape[0] != 2:
            raise ValueError(f"where has {where.shape[0]} places: expected 2")
        if n == 0:
            return 0
        cdef bmn_job job = new_job(
            kernel, penalties, payer_leads, max_tricks, max_cards, self.total
        )
        with nogil:
            found = bmn_enumerate(
                &job, self.arrangement, first, n, &tally.tally, &where[0], &loops[0]
            )
            bmn_job_free(&job)
        return found


def share_deals(
    int kernel,
    const uint8_t[:, ::1] codes not None,
    uint32_t split,
    const uint32_t[::1] counts not None,
    const uint8_t[::1] penalties not None,
    bint payer_leads,
    Tally tally not None,
):
    """Count all deals that begin in some ways, what comes to the same once, without the GIL.

    Parameters
    ----------
    kernel, penalties, payer_leads
        As in `play_many`.
    codes
        The deals, one or many a row: 7 where any card may lie. Shape (rows, cards), at most 64
        cards, no deal twice.
    split
        Cards in the first packet, 1 or more, and so in the second.
    counts
        How many cards of each code the deck has, 5 numbers.
    tally
        Is added to; its longest games have to be shorter than any here: 0.

    Returns
    -------
    tuple
        ``(depth, roots)``. All deals that count lead within `depth` tricks to the roots: for the
        longest games by cards, by tricks, and for the loops, ``(codes, sizes, hidden)``: the cards
        of the positions, one after the other, the leader's packet first; the sizes of these; and
        whether a game that counts here ended too early to have a position.
    """
    cdef uint32_t total = codes.shape[1], depth
    cdef Py_ssize_t row
    if not 1 < total <= 64 or not 0 < split < total or counts.shape[0] != 5:
        raise ValueError(f"{total} cards, {split} in the first packet: expected 2 to 64 in all")
    cdef bmn_share *share = <bmn_share *>malloc(sizeof(bmn_share))
    if share == NULL:
        raise MemoryError
    cdef bmn_job job = new_job(kernel, penalties, payer_leads, None, None, total)
    try:
        if not bmn_share_init(share, &job, &tally.tally, &counts[0]):
            raise MemoryError
        with nogil:
            for row in range(codes.shape[0]):
                bmn_share_enter(share, &codes[row, 0], split)
            depth = bmn_share_play(share)
        if share.no_memory:
            raise MemoryError
        return depth, [roots_of(&share.roots[i], total) for i in range(BMN_ROOTS)]
    finally:
        bmn_share_free(share)
        bmn_job_free(&job)
        free(share)


cdef tuple roots_of(const bmn_roots *roots, uint32_t total):
    cdef size_t i
    cdef uint32_t place
    cdef const bmn_node *node
    codes = bytearray(roots.nodes.count * total)
    cdef uint8_t[::1] cards = codes
    sizes = []
    for i in range(roots.nodes.count):
        node = &roots.nodes.node[i]
        sizes.append(node.split)
        for place in range(total):
            cards[i * total + place] = (
                (node.plane[0] >> place & 1)
                | (node.plane[1] >> place & 1) << 1
                | (node.plane[2] >> place & 1) << 2
            )
    return bytes(codes), sizes, bool(roots.hidden)


@cython.final
@cython.auto_pickle(False)
cdef class Growth:
    """An archive of cycles that grows towards a deck; see `native/grow.h`.

    Parameters
    ----------
    kernel
        Which one plays; see `kernel_runs`.
    counts
        How many cards of each code the wanted deck has, 5 numbers: cards of equal penalty as one
        code, plain ones as 0, and at most 60 in all.
    penalties, payer_leads
        As in `play`.
    seed
        Of the generator.
    weights
        How often each edit is made: insert, remove, move, exchange, change, add a run, drop a run.
        7 numbers, the first 5 of them not all 0.
    numbers
        How often a candidate has one, two, three of the first five edits. 3 numbers.
    steered, filled
        Of 100 parents, how many are drawn by their distance from the deck, and how many by their
        excess.
    """

    cdef bmn_grow *growth

    def __cinit__(
        self,
        int kernel,
        const uint32_t[::1] counts not None,
        const uint8_t[::1] penalties not None,
        bint payer_leads,
        uint64_t seed,
        weights,
        numbers,
        uint32_t steered,
        uint32_t filled,
    ):
        cdef bmn_rules rules = plain_rules(penalties, payer_leads)
        cdef Py_ssize_t i
        self.growth = <bmn_grow *>malloc(sizeof(bmn_grow))
        if self.growth == NULL:
            raise MemoryError
        bmn_grow_init(self.growth, &counts[0], &rules, kernel, seed)
        for i in range(BMN_EDITS):
            self.growth.weight[i] = weights[i]
        for i in range(3):
            self.growth.numbers[i] = numbers[i]
        self.growth.steered = steered
        self.growth.filled = filled

    def __dealloc__(self):
        if self.growth != NULL:
            bmn_grow_free(self.growth)
            free(self.growth)

    def seeds(self, uint64_t batches):
        """Play batches of 4,096 random small positions, without the GIL."""
        with nogil:
            bmn_grow_seeds(self.growth, batches)
        if self.growth.no_memory:
            raise MemoryError

    def run(self, uint64_t batches):
        """Play batches of 4,096 children, without the GIL; False if there are no parents."""
        cdef bint any_parent
        with nogil:
            any_parent = bmn_grow_run(self.growth, batches)
        if self.growth.no_memory:
            raise MemoryError
        return any_parent

    def passes(
        self, const uint8_t[::1] pays not None, int shift, int length, int least,
        uint32_t share, uint32_t shares,
    ):
        """Enter the cycles of one pass, found whole; see `native/pass.h`. Without the GIL.

        Parameters
        ----------
        pays
            For each card of the holder, who leads, whether it is a pay card.
        shift
            By how many cards the pass begins later in the queue each time.
        length
            Most cards of the run; with those of the holder at most 63.
        least
            Cards that the holder has to have at some time.
        share, shares
            Which part of the search, from 0, and of how many.

        Returns
        -------
        int
            How many steps it took.
        """
        cdef Py_ssize_t i, held = pays.shape[0]
        cdef uint64_t bits = 0, steps
        if not (0 < held and 0 <= shift < length and held + length <= 63 and share < shares):
            raise ValueError("bad pass: see what each argument is")
        for i in range(held):
            bits |= <uint64_t>(pays[i] != 0) << i
        with nogil:
            steps = bmn_grow_passes(
                self.growth, bits, <int>held, shift, length, least, share, shares
            )
        if self.growth.no_memory:
            raise MemoryError
        return steps

    def enter(
        self, const uint8_t[:, ::1] codes not None, const uint8_t[:, ::1] sizes not None
    ):
        """Enter the cycles that positions lead into: one a row.

        Parameters
        ----------
        codes
            Card codes, the leader's packet first; what follows in a row is ignored.
        sizes
            Cards in the two packets: together 2 to 63.
        """
        cdef Py_ssize_t row
        cdef size_t size = 0
        for row in range(codes.shape[0]):
            if not (0 < sizes[row, 0] and 0 < sizes[row, 1]):
                raise ValueError("a packet has no cards")
            if not sizes[row, 0] + sizes[row, 1] <= min(63, codes.shape[1]):
                raise ValueError("a position has too many cards")
        with nogil:
            for row in range(codes.shape[0]):
                self.growth.batch[size] = bmn_pack_one(
                    &codes[row, 0], codes.shape[1], sizes[row, 0], sizes[row, 0] + sizes[row, 1]
                )
                size += 1
                if size == BMN_GROW_BATCH or row + 1 == codes.shape[0]:
                    bmn_grow_take_in(self.growth, size)
                    size = 0
        if self.growth.no_memory:
            raise MemoryError

    def found(self):
        """List the cycles of the wanted deck entered since the last call.

        Returns
        -------
        list
            For each ``(codes, size)``: its canonical position in normal form, in which unfelt ranks
            are the least, and the size of the leader's packet.
        """
        rows = [position_of(&self.growth.exact[i].deal) for i in range(self.growth.exact_count)]
        self.growth.exact_count = 0
        return rows

    def archive(self):
        """List the entries of all levels, as `found` does; one in two levels is listed twice."""
        cdef int level, balance, cell, entry
        cdef bmn_shelf *shelf
        rows = []
        for level in range(BMN_GROW_LEVELS):
            for balance in range(64):
                shelf = &self.growth.shelf[level][balance]
                for cell in range(shelf.count):
                    for entry in range(shelf.cell[cell].count):
                        rows.append(position_of(&shelf.cell[cell].entry[entry].deal))
        return rows

    def counts(self):
        """Return what was done, as a dictionary.

        ``tried`` candidates were played, ``loops`` lead into a cycle, which was ``known`` or
        ``fresh``; ``longer`` did not show a cycle in time; ``exact`` of the fresh ones are of the
        wanted deck. ``made`` and ``gave`` are the candidates, and the fresh cycles: rows for one
        insert, remove, move, exchange, change, run added, run dropped, for two and for three edits,
        and for seeds; in each row one number for each number of cards, from 0 to 63.
        """
        cdef bmn_grow_counts *counts = &self.growth.counts
        return {
            "tried": counts.tried,
            "loops": counts.loops,
            "known": counts.known,
            "fresh": counts.fresh,
            "longer": counts.longer,
            "exact": counts.exact,
            "made": [[counts.made[i][j] for j in range(64)] for i in range(BMN_MAKES)],
            "gave": [[counts.gave[i][j] for j in range(64)] for i in range(BMN_MAKES)],
        }


cdef tuple position_of(const bmn_packed *deal):
    return bytes([bmn_card_at(deal, place) for place in range(deal.total)]), deal.split
