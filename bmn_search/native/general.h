/* The general engine: two players, packets of any size, any penalties, exact cycles.
 *
 * Packets are circular buffers of 32-bit tokens, a card's penalty in the low four bits and, if
 * cards are to be told apart, its number above them. A trick is played card by card; a taken pile
 * is copied behind the winner's packet. Every faster engine falls back on this one, and it is
 * the one that gives a loop its exact transient and cycle.
 *
 * Cycle detection is Brent's (R. P. Brent, "An improved Monte Carlo factorization algorithm",
 * BIT 20, 1980): one remembered position, replaced after 1, 2, 4, 8, ... tricks, so memory is
 * constant. Positions are compared relative to the player who leads, which finds a mirror cycle
 * after half its period: if the players are exchanged when the position comes back, the full
 * period is twice the one found. The transient is the same for both, since exchanging the players
 * maps a game onto a game.
 */
#ifndef BMN_GENERAL_H
#define BMN_GENERAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

#define BMN_PENALTY(token) ((token) & 15u)

typedef struct {
    bool payer_leads;
    uint64_t max_tricks, max_cards; /* UINT64_MAX: no limit */
} bmn_general_rules;

typedef struct {
    uint64_t cards, tricks;
} bmn_count;

typedef struct {
    int status;
    int winner;          /* 0 or 1 if finished, else -1 */
    bmn_count total;     /* of a finished or unknown game */
    uint32_t last_pile;  /* of a finished game: cards in the pile left unfinished */
    bmn_count transient; /* of a loop */
    bmn_count cycle;
    bool mirror;
    uint32_t held[2]; /* of a loop or unknown game: packet sizes when it was stopped */
} bmn_run;

typedef struct {
    uint32_t *ring[2]; /* mask + 1 tokens each, a power of two that holds every card */
    uint32_t head[2], size[2];
    uint32_t mask;
    int leader;
    bool over;
    int winner;
    uint32_t last_pile;
    bmn_count count;
} bmn_table;

/* Lays the packets on the table; `memory` holds 2 * (mask + 1) tokens. */
static void bmn_table_set(bmn_table *t, uint32_t *memory, uint32_t mask, const uint32_t *tokens,
                          const uint32_t size[2], int leader)
{
    memset(t, 0, sizeof *t);
    t->mask = mask;
    t->leader = leader;
    t->winner = -1;
    for (int player = 0; player < 2; player++) {
        t->ring[player] = memory + (size_t)player * (mask + 1);
        t->size[player] = size[player];
        memcpy(t->ring[player], tokens + (player ? size[0] : 0), size[player] * sizeof *tokens);
    }
    for (int player = 0; player < 2; player++)
        if (size[player] == 0) {
            t->over = true;
            t->winner = player ^ 1;
        }
}

static void bmn_table_copy(bmn_table *to, const bmn_table *from)
{
    uint32_t *ring[2] = {to->ring[0], to->ring[1]};
    *to = *from;
    for (int player = 0; player < 2; player++) {
        to->ring[player] = ring[player];
        memcpy(ring[player], from->ring[player], ((size_t)from->mask + 1) * sizeof **ring);
    }
}

/* Appends the pile to the winner's packet. */
static void bmn_take(bmn_table *t, int winner, const uint32_t *pile, uint32_t laid)
{
    uint32_t end = t->head[winner] + t->size[winner];
    for (uint32_t i = 0; i < laid; i++)
        t->ring[winner][(end + i) & t->mask] = pile[i];
    t->size[winner] += laid;
    t->count.cards += laid;
    t->count.tricks += laid > 0;
}

/* Plays one trick; sets `over`, `winner` and `last_pile` when it ends the game. */
static void bmn_trick(bmn_table *t, bool payer_leads, uint32_t *pile)
{
    uint32_t laid = 0, debt = 0;
    int turn = t->leader;
    for (;;) {
        if (t->size[turn] == 0) { /* called on with nothing: the other takes what lies there */
            bmn_take(t, turn ^ 1, pile, laid);
            t->over = true;
            t->winner = turn ^ 1;
            t->last_pile = laid;
            return;
        }
        uint32_t token = t->ring[turn][t->head[turn] & t->mask];
        t->head[turn]++;
        t->size[turn]--;
        pile[laid++] = token;
        if (BMN_PENALTY(token)) {
            debt = BMN_PENALTY(token);
            turn ^= 1;
        } else if (debt == 0) {
            turn ^= 1;
        } else if (--debt == 0) {
            break;
        }
    }
    bmn_take(t, turn ^ 1, pile, laid);
    t->leader = payer_leads ? turn : turn ^ 1;
    if (t->size[turn] == 0) {
        t->over = true;
        t->winner = turn ^ 1;
    }
}

/* Whether two positions are equal up to exchange: the leader's packets and the others' agree. */
static bool bmn_alike(const bmn_table *a, const bmn_table *b)
{
    for (int side = 0; side < 2; side++) {
        int p = a->leader ^ side, q = b->leader ^ side;
        if (a->size[p] != b->size[q])
            return false;
        for (uint32_t i = 0; i < a->size[p]; i++)
            if (a->ring[p][(a->head[p] + i) & a->mask] != b->ring[q][(b->head[q] + i) & b->mask])
                return false;
    }
    return true;
}

static bool bmn_limit_reached(const bmn_table *t, const bmn_general_rules *rules)
{
    return t->count.tricks >= rules->max_tricks || t->count.cards >= rules->max_cards;
}

/* Plays on until the position `kept` comes back; returns after how many tricks, 0 if never
 * within `patience` tricks or if the game ends. */
static uint64_t bmn_return_time(bmn_table *t, bmn_table *kept, const bmn_general_rules *rules,
                                uint64_t patience, uint32_t *pile)
{
    bmn_table_copy(kept, t);
    for (uint64_t tricks = 1; tricks <= patience; tricks++) {
        bmn_trick(t, rules->payer_leads, pile);
        if (t->over)
            return 0;
        if (bmn_alike(t, kept))
            return tricks;
    }
    return 0;
}

static void bmn_record(bmn_run *out, int status, const bmn_table *t)
{
    out->status = status;
    out->winner = t->winner;
    out->total = t->count;
    out->last_pile = t->last_pile;
    memcpy(out->held, t->size, sizeof out->held);
}

/* Plays until the game ends or it is certain that no position is repeated by the limit (records
 * either and returns 0), or a period up to exchange is known (returns it). */
static uint64_t bmn_find_period(bmn_table *t, bmn_table *kept, const bmn_general_rules *rules,
                                uint32_t *pile, bmn_run *out)
{
    uint64_t power = 1, since = 0;
    bmn_table_copy(kept, t);
    while (!t->over) {
        if (bmn_limit_reached(t, rules)) { /* a repeat by now would make this position recur */
            bmn_record(out, BMN_UNKNOWN, t);
            return bmn_return_time(t, kept, rules, t->count.tricks, pile);
        }
        bmn_trick(t, rules->payer_leads, pile);
        since++;
        if (!t->over && bmn_alike(t, kept))
            return since;
        if (since == power) {
            bmn_table_copy(kept, t);
            power *= 2;
            since = 0;
        }
    }
    bmn_record(out, BMN_FINISHED, t);
    return 0;
}

/* Measures the loop of a game whose period up to exchange is known: plays two games, one of them
 * a period ahead, until their positions are alike. */
static void bmn_measure_loop(bmn_table *behind, bmn_table *ahead, uint64_t period,
                             const bmn_general_rules *rules, uint32_t *pile, bmn_run *out)
{
    for (uint64_t i = 0; i < period; i++)
        bmn_trick(ahead, rules->payer_leads, pile);
    while (!bmn_alike(behind, ahead)) {
        bmn_trick(behind, rules->payer_leads, pile);
        bmn_trick(ahead, rules->payer_leads, pile);
    }
    out->mirror = behind->leader != ahead->leader;
    out->transient = behind->count;
    out->cycle.tricks = (ahead->count.tricks - behind->count.tricks) << out->mirror;
    out->cycle.cards = (ahead->count.cards - behind->count.cards) << out->mirror;
}

/* Plays one deal; `memory` holds 4 * (mask + 1) tokens for two tables, and mask + 1 for the pile.
 */
static void bmn_general_play_in(const uint32_t *tokens, const uint32_t size[2], int leader,
                                const bmn_general_rules *rules, uint32_t *memory, uint32_t mask,
                                bmn_run *out)
{
    uint32_t *pile = memory + 4 * ((size_t)mask + 1);
    bmn_table one, two;
    memset(out, 0, sizeof *out);
    bmn_table_set(&one, memory, mask, tokens, size, leader);
    bmn_table_set(&two, memory + 2 * ((size_t)mask + 1), mask, tokens, size, leader);
    uint64_t period = bmn_find_period(&one, &two, rules, pile, out);
    if (period == 0)
        return;
    bmn_table_set(&one, memory, mask, tokens, size, leader);
    bmn_table_set(&two, memory + 2 * ((size_t)mask + 1), mask, tokens, size, leader);
    bmn_measure_loop(&one, &two, period, rules, pile, out);
    /* A mirror cycle is seen after half of it: the full repeat may still lie beyond the limit. */
    uint64_t repeat = out->transient.tricks + out->cycle.tricks;
    bmn_table_set(&one, memory, mask, tokens, size, leader);
    while (one.count.tricks < repeat && !bmn_limit_reached(&one, rules))
        bmn_trick(&one, rules->payer_leads, pile);
    bmn_record(out, one.count.tricks < repeat ? BMN_UNKNOWN : BMN_LOOP, &one);
    if (out->status == BMN_UNKNOWN) /* a limit says nothing of a loop */
        out->transient = out->cycle = (bmn_count){0, 0};
}

static uint32_t bmn_mask_for(const uint32_t size[2])
{
    uint64_t capacity = 1;
    while (capacity < (uint64_t)size[0] + size[1])
        capacity *= 2;
    return (uint32_t)(capacity - 1);
}

/* Tokens that bmn_general_play_in needs as memory. */
static size_t bmn_memory_for(uint32_t mask)
{
    return 5 * ((size_t)mask + 1);
}

/* Plays one deal with memory of its own. */
static void bmn_general_play(const uint32_t *tokens, const uint32_t size[2], int leader,
                             const bmn_general_rules *rules, bmn_run *out)
{
    uint32_t mask = bmn_mask_for(size);
    uint32_t *memory = malloc(bmn_memory_for(mask) * sizeof *memory);
    if (memory == NULL) {
        out->status = BMN_NO_MEMORY;
        return;
    }
    bmn_general_play_in(tokens, size, leader, rules, memory, mask, out);
    free(memory);
}

/* Plays `tricks` tricks of a game that lasts so long, and writes the tokens of the position then
 * reached to `tokens` and `size`, the leader's packet first. Returns who leads, or -1 for want of
 * memory. */
static int bmn_advance(uint32_t *tokens, uint32_t size[2], int leader,
                       const bmn_general_rules *rules, uint64_t tricks)
{
    uint32_t mask = bmn_mask_for(size);
    uint32_t *memory = malloc(bmn_memory_for(mask) * sizeof *memory);
    if (memory == NULL)
        return -1;
    bmn_table t;
    bmn_table_set(&t, memory, mask, tokens, size, leader);
    while (t.count.tricks < tricks && !t.over)
        bmn_trick(&t, rules->payer_leads, memory + 2 * ((size_t)mask + 1));
    for (int side = 0; side < 2; side++) {
        int player = t.leader ^ side;
        for (uint32_t i = 0; i < t.size[player]; i++)
            *tokens++ = t.ring[player][(t.head[player] + i) & mask];
        size[side] = t.size[player];
    }
    free(memory);
    return t.leader;
}

/* Where bmn_walk writes what happens; row t is before trick t, the leader's packet first. */
typedef struct {
    uint8_t *leader;  /* tricks + 1 */
    uint32_t *size;   /* 2 * (tricks + 1): of the leader's packet, of the other one */
    uint32_t *cards;  /* tricks: laid in each */
    uint32_t *tokens; /* (tricks + 1) * all cards, or NULL */
    uint32_t *laid;   /* `room` tokens in the order in which they are laid, or NULL */
    uint64_t room;
} bmn_diary;

static void bmn_write(const bmn_table *t, uint64_t row, const bmn_diary *diary)
{
    uint32_t all = t->size[0] + t->size[1];
    uint32_t *out = diary->tokens ? diary->tokens + row * all : NULL;
    diary->leader[row] = (uint8_t)t->leader;
    for (int side = 0; side < 2; side++) {
        int player = t->leader ^ side;
        diary->size[2 * row + side] = t->size[player];
        for (uint32_t i = 0; out != NULL && i < t->size[player]; i++)
            *out++ = t->ring[player][(t->head[player] + i) & t->mask];
    }
}

/* Plays `tricks` tricks of a game that lasts so long and writes them down; false for want of
 * memory. */
static bool bmn_walk(const uint32_t *tokens, const uint32_t size[2], int leader, bool payer_leads,
                     uint64_t tricks, const bmn_diary *diary)
{
    uint32_t mask = bmn_mask_for(size);
    uint32_t *memory = malloc(bmn_memory_for(mask) * sizeof *memory);
    if (memory == NULL)
        return false;
    uint32_t *pile = memory + 2 * ((size_t)mask + 1);
    bmn_table t;
    bmn_table_set(&t, memory, mask, tokens, size, leader);
    bmn_write(&t, 0, diary);
    for (uint64_t row = 0; row < tricks && !t.over; row++) {
        uint64_t before = t.count.cards;
        bmn_trick(&t, payer_leads, pile);
        diary->cards[row] = (uint32_t)(t.count.cards - before);
        if (diary->laid != NULL && t.count.cards <= diary->room)
            memcpy(diary->laid + before, pile, diary->cards[row] * sizeof *pile);
        bmn_write(&t, row + 1, diary);
    }
    free(memory);
    return true;
}
#endif
