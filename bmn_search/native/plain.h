/* plain.h - the yardstick: card by card on circular buffers of bytes, the way public engines are
 * written.
 *
 * What.  A fair, unhurried-but-not-slowed engine and a fair full shuffle.  Every gain that this
 * project states is a ratio to them, measured in the same minute on the same machine.  They are
 * also a small independent check of the fast kernels.
 *
 * Algorithm.  A packet is a ring of 256 codes with byte indices that wrap by themselves; the pile
 * is an array; one branch asks what kind of card was laid.  At most 255 cards.  The shuffle is
 * Fisher-Yates over every card, each die from one 64-bit word (xoshiro256++) by Lemire's exact
 * multiplication.
 *
 * Measured: 1.0 by definition; 10,610 instructions a game, 1,791 a shuffle (docs/engine.md).
 */
#ifndef BMN_PLAIN_H
#define BMN_PLAIN_H

#include "batch.h"

enum { BMN_PLAIN_CARDS = 255 };

typedef struct {
    uint8_t card[256];
    uint8_t top, bottom; /* `bottom` is one past the last card */
} bmn_ring;

static inline void bmn_ring_fill(bmn_ring *packet, const uint8_t *codes, size_t count)
{
    memcpy(packet->card, codes, count);
    packet->top = 0;
    packet->bottom = (uint8_t)count;
}

static inline bmn_outcome bmn_plain_play_one(const uint8_t *codes, size_t split, size_t total,
                                             const bmn_rules *rules, uint32_t max_tricks)
{
    bmn_ring packet[2];
    uint8_t pile[256];
    uint32_t laid = 0, cards = 0, tricks = 0;
    int player = 0, debt = 0;
    bmn_ring_fill(&packet[0], codes, split);
    bmn_ring_fill(&packet[1], codes + split, total - split);
    if (split == 0 || split == total)
        return bmn_finished(0, 0, split ? 1 : 2);
    for (;;) {
        bmn_ring *from = &packet[player];
        if (tricks == max_tricks)
            return bmn_undecided();
        if (from->top == from->bottom)
            return bmn_finished(cards, tricks + 1, 2 - player);
        uint8_t code = from->card[from->top++];
        pile[laid++] = code;
        cards++;
        if (rules->penalty[code]) {
            debt = rules->penalty[code];
            player ^= 1;
        } else if (!debt) {
            player ^= 1;
        } else if (--debt == 0) { /* paid in full: the other player takes the pile */
            bmn_ring *to = &packet[player ^ 1];
            for (uint32_t i = 0; i < laid; i++)
                to->card[to->bottom++] = pile[i];
            laid = 0;
            tricks++;
            if (from->top == from->bottom)
                return bmn_finished(cards, tricks, (player ^ 1) + 1);
            player ^= !rules->payer_leads;
        }
    }
}

typedef struct {
    uint64_t word[4];
} bmn_xoshiro;

static inline uint64_t bmn_xoshiro_next(bmn_xoshiro *state)
{
    uint64_t *w = state->word, sum = w[0] + w[3], result = (sum << 23 | sum >> 41) + w[0],
             shifted = w[1] << 17;
    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= shifted;
    w[3] = w[3] << 45 | w[3] >> 19;
    return result;
}

BMN_UNUSED bmn_xoshiro bmn_xoshiro_seed(uint64_t seed)
{
    bmn_xoshiro state;
    for (int i = 0; i < 4; i++) { /* SplitMix64, as its authors advise */
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        state.word[i] = z ^ z >> 31;
    }
    return state;
}

/* A fair die 0..sides-1, sides < 2^32. */
static inline uint32_t bmn_xoshiro_die(bmn_xoshiro *state, uint32_t sides)
{
    for (;;) {
        uint64_t word = bmn_xoshiro_next(state) >> 32, product = word * sides;
        if ((uint32_t)product >= sides || (uint32_t)product >= -sides % sides)
            return (uint32_t)(product >> 32);
    }
}

BMN_UNUSED void bmn_plain_shuffle(bmn_xoshiro *state, uint8_t *codes, uint32_t total)
{
    for (uint32_t i = total; i > 1; i--) {
        uint32_t j = bmn_xoshiro_die(state, i);
        uint8_t code = codes[i - 1];
        codes[i - 1] = codes[j];
        codes[j] = code;
    }
}

#endif
