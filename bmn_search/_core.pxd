"""What the compiled module takes from the C headers."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef extern from "native/general.h" nogil:
    enum:
        BMN_FINISHED
        BMN_LOOP
        BMN_UNKNOWN
        BMN_NO_MEMORY

    ctypedef struct bmn_limits:
        bint payer_leads
        uint64_t max_tricks
        uint64_t max_cards

    ctypedef struct bmn_count:
        uint64_t cards
        uint64_t tricks

    ctypedef struct bmn_outcome:
        int status
        int winner
        bmn_count total
        uint32_t last_pile
        bmn_count transient
        bmn_count cycle
        bint mirror
        uint32_t held[2]

    void bmn_play(
        const uint32_t *tokens, const uint32_t *size, int leader, const bmn_limits *rules,
        bmn_outcome *out,
    ) noexcept
    void bmn_play_in(
        const uint32_t *tokens, const uint32_t *size, int leader, const bmn_limits *rules,
        uint32_t *memory, uint32_t mask, bmn_outcome *out,
    ) noexcept
    int bmn_advance(
        uint32_t *tokens, uint32_t *size, int leader, const bmn_limits *rules, uint64_t tricks
    ) noexcept
    uint32_t bmn_mask_for(const uint32_t *size) noexcept
    size_t bmn_memory_for(uint32_t mask) noexcept

cdef extern from "native/dealing.h" nogil:
    void bmn_deal(
        const uint8_t *deck, uint32_t cards, uint64_t seed, uint64_t number, uint8_t *out
    ) noexcept
