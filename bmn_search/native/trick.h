/* trick.h - what the two widths of the trick kernel share: games in their packed form, the supply
 * that feeds the lanes, and byte constants.  The algorithm is told in trick_body.h.
 *
 * The supply.  Deals, given or dealt on demand, become games in a small ring (8 KiB, stays in the
 * first-level cache) before lanes ask for them, so that taking a game is a few loads.  A game that
 * has to be replayed takes its deal from the array again, or has it dealt again.
 */
#ifndef BMN_TRICK_H
#define BMN_TRICK_H

#include "batch.h"
#include "dealing.h"
#include "portable.h"
#include "turn.h"

#if BMN_X86_64

enum { BMN_RING = 64 };

#define BMN_UNROLL _Pragma("GCC unroll 8")

typedef struct {
    uint8_t gap[2][16], penalty[2][16], place[16], mirror[16]; /* see trick_body.h */
    size_t which;                                              /* its place in the output */
} __attribute__((aligned(64))) bmn_trick_game;

_Static_assert(sizeof(bmn_trick_game) == 128, "a game is two cache lines");
_Static_assert(offsetof(bmn_trick_game, mirror) == 80, "six rows of 16 bytes, one after the other");

typedef struct {
    const bmn_rules *rules;
    uint8_t cost[16];  /* the penalties again, as a byte table */
    int no_plain_rank; /* no penalty is 0 */
    uint32_t max_tricks;
    bmn_outcome *out;         /* NULL: they go nowhere, and deals that do not fit are left */
    size_t n, next;           /* deals in all, and the first that is not yet in the ring */
    const bmn_packed *deals;  /* given deals, or */
    const bmn_dealer *dealer; /* deals number first, first + 1, ... of the seed */
    bmn_deal_function *deal;
    uint64_t seed, first;
    size_t at, filled; /* games taken from the ring, and games in it */
    bmn_trick_game ring[BMN_RING];
} bmn_trick_supply;

typedef struct {
    size_t which;
    uint64_t began; /* the step before its first trick */
    int busy;
} bmn_trick_lane;

/* Hides where a pointer comes from, so that what it points to is not moved to registers. */
#define BMN_IN_MEMORY(pointer) __asm__("" : "+r"(pointer))

#define BMN_BYTES_16 static const uint8_t __attribute__((aligned(16)))

BMN_BYTES_16 bmn_index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
BMN_BYTES_16 bmn_first_byte[16] = {255};
/* Weights of the battle list: see trick_body.h.  The list starts with one place that is no debt (1,
 * not 2); to run off its end is marked by a sum of 128. */
BMN_BYTES_16 bmn_battle_weight[16] = {1, 2, 2, 2, 2, 2, 2, 128 - 13};
/* Byte shuffles that move a packet up by k: index + 0x70 + k, whose top bit (take a zero) is set
 * past the end.  Rounding averages with M give k = (M + 1) / 2 for the winner, who laid the last
 * pay card, and M / 2 for the payer. */
BMN_BYTES_16 bmn_winner_up[16] = {0xe0, 0xe2, 0xe4, 0xe6, 0xe8, 0xea, 0xec, 0xee,
                                  0xf0, 0xf2, 0xf4, 0xf6, 0xf8, 0xfa, 0xfc, 0xfe};
BMN_BYTES_16 bmn_payer_up[16] = {0xdf, 0xe1, 0xe3, 0xe5, 0xe7, 0xe9, 0xeb, 0xed,
                                 0xef, 0xf1, 0xf3, 0xf5, 0xf7, 0xf9, 0xfb, 0xfd};

BMN_INLINE bmn_trick_supply *bmn_supply_init(bmn_trick_supply *supply, const bmn_rules *rules,
                                             uint32_t max_tricks, size_t n, bmn_outcome *out)
{
    supply->rules = rules;
    memset(supply->cost, 0, sizeof supply->cost);
    memcpy(supply->cost, rules->penalty, 5);
    supply->no_plain_rank =
        rules->penalty[1] && rules->penalty[2] && rules->penalty[3] && rules->penalty[4];
    supply->max_tricks = max_tricks < BMN_MAX_TRICKS ? max_tricks : BMN_MAX_TRICKS;
    supply->out = out;
    supply->n = n;
    supply->next = supply->at = supply->filled = 0;
    supply->deals = NULL;
    supply->dealer = NULL;
    supply->deal = NULL;
    supply->seed = supply->first = 0;
    return supply;
}

/* Plays deal number `which` of the supply anew, with the portable kernel. */
BMN_NOINLINE bmn_outcome bmn_replay(const bmn_trick_supply *supply, size_t which)
{
    bmn_packed dealt;
    if (!supply->dealer)
        return bmn_portable_play_one(&supply->deals[which], supply->rules, supply->max_tricks);
    supply->deal(supply->dealer, supply->seed, supply->first + which, 1, &dealt);
    return bmn_portable_play_one(&dealt, supply->rules, supply->max_tricks);
}

BMN_INLINE uint32_t bmn_sum_of_halves(const __m128i *sums) /* each below 2^32 */
{
    uint64_t both[2];
    memcpy(both, sums, sizeof both);
    return (uint32_t)(both[0] + both[1]);
}

#endif
#endif
