"""What the compiled module takes from the C headers."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "native/general.h" nogil:
    enum:
        BMN_NO_MEMORY
        BMN_X86_64

    ctypedef struct bmn_general_rules:
        bint payer_leads
        uint64_t max_tricks
        uint64_t max_cards

    ctypedef struct bmn_count:
        uint64_t cards
        uint64_t tricks

    ctypedef struct bmn_run:
        int status
        int winner
        bmn_count total
        uint32_t last_pile
        bmn_count transient
        bmn_count cycle
        bint mirror
        uint32_t held[2]

    void bmn_general_play(
        const uint32_t *tokens, const uint32_t *size, int leader, const bmn_general_rules *rules,
        bmn_run *out,
    ) noexcept
    int bmn_advance(
        uint32_t *tokens, uint32_t *size, int leader, const bmn_general_rules *rules,
        uint64_t tricks,
    ) noexcept

    ctypedef struct bmn_diary:
        uint8_t *leader
        uint32_t *size
        uint32_t *cards
        uint32_t *tokens
        uint32_t *laid
        uint64_t room

    bint bmn_walk(
        const uint32_t *tokens, const uint32_t *size, int leader, bint payer_leads,
        uint64_t tricks, const bmn_diary *diary,
    ) noexcept

cdef extern from "native/rows.h" nogil:
    ctypedef struct bmn_rules:
        uint8_t penalty[5]
        uint8_t payer_leads

    ctypedef struct bmn_deck:
        uint32_t count[5]
        uint32_t total
        uint32_t split

    ctypedef struct bmn_job:
        int kernel
        bmn_rules rules
        uint64_t max_tricks
        uint64_t max_cards

    ctypedef struct bmn_row:
        uint64_t cards
        uint64_t tricks
        uint64_t transient_cards
        uint64_t transient_tricks
        uint64_t cycle_cards
        uint64_t cycle_tricks
        uint8_t status
        uint8_t winner

    enum:
        BMN_FEATURES

    ctypedef struct bmn_feature:
        const char *name
        bint offered

    bint bmn_job_init(bmn_job *job, uint32_t most_cards) noexcept
    void bmn_job_free(bmn_job *job) noexcept
    bint bmn_kernel_runs(int kernel) noexcept
    const char *bmn_compiler() noexcept
    int bmn_cpu_features(bmn_feature *features) noexcept
    void bmn_deal_codes(
        const bmn_deck *deck, uint64_t seed, uint64_t deal, uint8_t *codes
    ) noexcept
    void bmn_play_rows(
        const bmn_job *job, const uint8_t *codes, size_t width, const uint32_t *sizes, size_t n,
        bmn_row *rows,
    ) noexcept
    void bmn_play_seed(
        const bmn_job *job, const bmn_deck *deck, uint64_t seed, uint64_t first, size_t n,
        uint8_t *codes, bmn_row *rows,
    ) noexcept

cdef extern from "native/ancestry.h" nogil:
    enum:
        BMN_FOREST_NO_MEMORY

    ctypedef struct bmn_backward:
        pass

    bmn_backward bmn_backward_from(
        const uint8_t *codes, uint32_t cards, uint32_t size, const bmn_rules *rules
    ) noexcept
    bint bmn_backward_next(bmn_backward *backward) noexcept
    bint bmn_backward_build(
        const bmn_backward *backward, uint8_t *codes, uint32_t *size, bint *exchanged
    ) noexcept

    ctypedef struct bmn_forest:
        uint32_t cards
        size_t count
        uint8_t *codes
        uint32_t *size
        uint32_t *distance
        uint32_t *following
        uint32_t *laid
        uint8_t *exchanged

    bint bmn_forest_init(bmn_forest *forest, uint32_t cards, const bmn_rules *rules) noexcept
    void bmn_forest_free(bmn_forest *forest) noexcept
    bint bmn_forest_root(
        bmn_forest *forest, const uint8_t *codes, uint32_t size, uint32_t following, uint32_t laid,
        bint exchanged,
    ) noexcept
    int bmn_forest_grow(
        bmn_forest *forest, uint32_t depth, size_t limit, size_t rows
    ) noexcept

cdef extern from "native/world.h" nogil:
    const uint32_t BMN_NO_CYCLE

    ctypedef struct bmn_shell:
        uint64_t positions
        uint64_t balanced
        uint32_t canonical
        uint32_t distance

    ctypedef struct bmn_world:
        uint32_t cards
        uint32_t arrangements
        bmn_shell *shells
        uint32_t shell_count

    bint bmn_world_init(
        bmn_world *world, const uint32_t *count, const bmn_rules *rules
    ) noexcept
    void bmn_world_free(bmn_world *world) noexcept
    void bmn_world_play(
        const bmn_world *world, uint32_t *link, uint32_t first, uint32_t count
    ) noexcept
    bint bmn_world_follow(
        bmn_world *world, uint32_t *link, uint32_t first, uint32_t count
    ) noexcept

cdef extern from "native/sharing.h" nogil:
    enum:
        BMN_LOOPS
        BMN_ROOTS

    ctypedef struct bmn_tally:
        uint64_t *histogram
        uint64_t most
        uint64_t games
        uint64_t finished
        uint64_t loops
        uint64_t plays
        uint64_t longest[2]

    ctypedef struct bmn_arrangement:
        pass

    void bmn_arrange(
        bmn_arrangement *arrangement, const uint8_t *codes, uint32_t split, uint32_t total,
        const uint8_t *order,
    ) noexcept
    size_t bmn_enumerate(
        const bmn_job *job, bmn_arrangement *arrangement, uint64_t first, size_t n,
        bmn_tally *tally, uint64_t *where, uint64_t *loop,
    ) noexcept

    ctypedef struct bmn_node:
        uint64_t plane[3]
        uint16_t split

    ctypedef struct bmn_nodes:
        bmn_node *node
        size_t count

    ctypedef struct bmn_roots:
        bmn_nodes nodes
        bint hidden

    ctypedef struct bmn_share:
        bmn_roots roots[BMN_ROOTS]
        bint no_memory

    bint bmn_share_init(
        bmn_share *share, const bmn_job *job, bmn_tally *tally, const uint32_t *count
    ) noexcept
    void bmn_share_free(bmn_share *share) noexcept
    void bmn_share_enter(bmn_share *share, const uint8_t *codes, uint32_t split) noexcept
    uint32_t bmn_share_play(bmn_share *share) noexcept

cdef extern from "native/grow.h" nogil:
    enum:
        BMN_GROW_BATCH
        BMN_GROW_LEVELS
        BMN_EDITS
        BMN_MAKES

    ctypedef struct bmn_packed:
        uint64_t plane[3]
        uint8_t split
        uint8_t total

    ctypedef struct bmn_entry:
        bmn_packed deal

    ctypedef struct bmn_cell:
        uint8_t count
        bmn_entry *entry

    ctypedef struct bmn_shelf:
        bmn_cell *cell
        int count

    ctypedef struct bmn_grow_counts:
        uint64_t tried
        uint64_t loops
        uint64_t known
        uint64_t fresh
        uint64_t longer
        uint64_t exact
        uint64_t[64] *made
        uint64_t[64] *gave

    ctypedef struct bmn_grow:
        uint32_t cards
        uint32_t steered
        uint32_t filled
        uint32_t *weight
        uint32_t *numbers
        bmn_packed *batch
        bmn_shelf[64] *shelf
        bmn_entry *exact
        size_t exact_count
        bmn_grow_counts counts
        bint no_memory

    void bmn_grow_init(
        bmn_grow *growth, const uint32_t *want, const bmn_rules *rules, int kernel, uint64_t seed
    ) noexcept
    void bmn_grow_free(bmn_grow *growth) noexcept
    void bmn_grow_seeds(bmn_grow *growth, uint64_t batches) noexcept
    bint bmn_grow_run(bmn_grow *growth, uint64_t batches) noexcept
    uint64_t bmn_grow_passes(
        bmn_grow *growth, uint64_t pays, int held, int shift, int length, int least,
        uint32_t share, uint32_t shares,
    ) noexcept
    void bmn_grow_take_in(bmn_grow *growth, size_t size) noexcept
    bmn_packed bmn_pack_one(
        const uint8_t *row, size_t readable, uint32_t split, uint32_t total
    ) noexcept
    int bmn_card_at(const bmn_packed *deal, int place) noexcept
