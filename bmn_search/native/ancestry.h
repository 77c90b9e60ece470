/* Backward play: from a position to all positions that lead to it, breadth first.
 *
 * What.  A position is `cards` codes, the packet of the player who leads first. Whoever took the
 * last pile, the leader or, where the payer leads, the other player, holds it at the end of their
 * packet: it ends in a pay card that was paid in full, that is, by exactly its penalty in plain
 * cards after it. Where the pile begins is not written in it. It may begin at that pay card or at
 * any earlier card, as long as play from there does not end sooner: going back, each further pay
 * card must have fewer plain cards behind it, up to the next pay card, than it costs. The first
 * one that has as many or more ends the search. Each such start gives exactly one predecessor:
 * from the start play is forced, so it is known who laid which card, hence who led, and the
 * cards laid go back on top of the packets. None needs to be checked by playing forward, and
 * different starts give different positions, since the length of the trick is the position's own.
 *
 * A position in which one player holds all cards is the end of a game, whoever would lead. Then
 * the last pile may also have been cut short because the loser had no card to turn.
 *
 * `bmn_forest` grows all ancestors of some roots, each once, with an open-addressing table of
 * (upper hash, number) pairs: 8 bytes a slot, so that the codes are compared only where 32 bits of
 * the hash agree. A node is its codes and 17 bytes; there are no pointers, and arrays double.
 *
 * Measured (docs/cycles.md): 5 to 7 million positions a second on one core.
 */
#ifndef BMN_ANCESTRY_H
#define BMN_ANCESTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

/* The starts of the last pile in one position, from the last one back. */
typedef struct {
    const uint8_t *penalty;
    const uint8_t *taker, *payer; /* the packets of who took the last pile, and of the other */
    uint32_t taken, left;         /* their sizes */
    bool taker_leads, over;
    uint32_t start, next_pay; /* next_pay == taken: no pay card from start on */
} bmn_backward;

static bmn_backward bmn_backward_from(const uint8_t *codes, uint32_t cards, uint32_t size,
                                      const bmn_rules *rules)
{
    bool over = size == 0 || size == cards;
    bool taker_leads = over ? size != 0 : !rules->payer_leads;
    bmn_backward b = {.penalty = rules->penalty, .taker_leads = taker_leads, .over = over};
    b.taker = taker_leads ? codes : codes + size;
    b.payer = taker_leads ? codes + size : codes;
    b.taken = taker_leads ? size : cards - size;
    b.left = cards - b.taken;
    b.start = b.next_pay = b.taken;
    return b;
}

/* Goes back to the next start; false if there is none. */
static bool bmn_backward_next(bmn_backward *b)
{
    while (b->start > 0) {
        uint32_t at = --b->start, cost = b->penalty[b->taker[at]], plain = b->next_pay - at - 1;
        bool last = b->next_pay == b->taken;
        if (cost == 0) {
            if (last && !b->over)
                continue;
            return true;
        }
        if (last ? (b->over ? plain > cost : plain != cost) : plain >= cost)
            break;
        b->next_pay = at;
        return true;
    }
    b->start = 0;
    return false;
}

/* Writes the predecessor of the present start: `cards` codes, the packet of its leader first, and
 * the size of that. `exchanged`: whether its leader is not the one who leads now. Returns false if
 * there is none after all: the loser of a game that ends here would have had no cards. */
static bool bmn_backward_build(const bmn_backward *b, uint8_t *codes, uint32_t *size,
                               int *exchanged)
{
    uint32_t laid[2] = {0, 0}, debt = 0;
    uint8_t *end = codes + b->taken + b->left;
    int turn = 0;
    for (uint32_t at = b->start; at < b->taken; at++) {
        uint8_t code = b->taker[at];
        if (turn)
            *(end - ++laid[1]) = code; /* from the end of the row, last one first */
        else
            codes[laid[0]++] = code;
        if (b->penalty[code]) {
            debt = b->penalty[code];
            turn ^= 1;
        } else if (debt) {
            debt--;
        } else {
            turn ^= 1;
        }
    }
    bool took = turn == 1; /* whether who led took the pile: the other paid, or could not turn */
    if (laid[took] == 0)
        return false;
    const uint8_t *rest[2] = {took ? b->taker : b->payer, took ? b->payer : b->taker};
    uint32_t kept[2] = {took ? b->start : b->left, took ? b->left : b->start};
    *size = laid[0] + kept[0];
    for (uint8_t *low = end - laid[1], *high = end - 1; low < high; low++, high--) {
        uint8_t code = *low;
        *low = *high;
        *high = code;
    }
    memmove(codes + *size, end - laid[1], laid[1]);
    memcpy(codes + laid[0], rest[0], kept[0]);
    memcpy(codes + *size + laid[1], rest[1], kept[1]);
    *exchanged = took != b->taker_leads;
    return true;
}

/* Positions and how they lead on. Rows are numbered in the order in which they were met. */
typedef struct {
    bmn_rules rules;
    uint32_t cards;
    size_t count, capacity, expanded; /* rows; room for rows; rows whose predecessors are in */
    uint8_t *codes;                   /* capacity * cards */
    uint32_t *size;                   /* of the leader's packet */
    uint32_t *distance;               /* tricks to the nearest root */
    uint32_t *following;              /* the row one trick later */
    uint32_t *laid;                   /* cards in that trick */
    uint8_t *exchanged;               /* whether the other player leads after it */
    uint64_t *slot;                   /* 0: free; else upper hash and row + 1 */
    size_t mask;
    uint8_t *present; /* the codes of the row that is being expanded, which arrays may move from */
} bmn_forest;

enum { BMN_MORE, BMN_COMPLETE, BMN_DEPTH, BMN_LIMIT, BMN_FOREST_NO_MEMORY };

static uint64_t bmn_position_hash(const uint8_t *codes, uint32_t cards, uint32_t size)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (size + 1) * factor, word;
    for (; cards >= 8; cards -= 8, codes += 8) {
        memcpy(&word, codes, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, codes, cards);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

/* Finds the slot of a position, or the free one where it belongs. */
static size_t bmn_forest_slot(const bmn_forest *f, const uint8_t *codes, uint32_t size,
                              uint64_t hash)
{
    size_t at = hash & f->mask;
    for (; f->slot[at]; at = (at + 1) & f->mask) {
        size_t row = (uint32_t)f->slot[at] - 1;
        if (f->slot[at] >> 32 == hash >> 32 && f->size[row] == size &&
            memcmp(f->codes + row * f->cards, codes, f->cards) == 0)
            break;
    }
    return at;
}

static bool bmn_resize(void *array, size_t rows, size_t width)
{
    void *larger = realloc(*(void **)array, rows * width);
    if (larger != NULL)
        *(void **)array = larger;
    return larger != NULL;
}

/* Makes room for twice as many rows. What there is stays valid if there is no memory. */
static bool bmn_forest_double(bmn_forest *f)
{
    size_t rows = 2 * f->capacity, slots = 2 * rows;
    if (!bmn_resize(&f->codes, rows, f->cards) || !bmn_resize(&f->size, rows, 4) ||
        !bmn_resize(&f->distance, rows, 4) || !bmn_resize(&f->following, rows, 4) ||
        !bmn_resize(&f->laid, rows, 4) || !bmn_resize(&f->exchanged, rows, 1))
        return false;
    uint64_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL)
        return false;
    free(f->slot);
    f->slot = slot;
    f->mask = slots - 1;
    f->capacity = rows;
    for (size_t row = 0; row < f->count; row++) {
        uint64_t hash = bmn_position_hash(f->codes + row * f->cards, f->cards, f->size[row]);
        size_t at = hash & f->mask;
        while (f->slot[at])
            at = (at + 1) & f->mask;
        f->slot[at] = hash >> 32 << 32 | (row + 1);
    }
    return true;
}

static bool bmn_forest_init(bmn_forest *f, uint32_t cards, const bmn_rules *rules)
{
    *f = (bmn_forest){.rules = *rules, .cards = cards, .capacity = 512};
    f->present = malloc(cards);
    return f->present != NULL && bmn_forest_double(f);
}

static void bmn_forest_free(bmn_forest *f)
{
    free(f->codes);
    free(f->size);
    free(f->distance);
    free(f->following);
    free(f->laid);
    free(f->exchanged);
    free(f->slot);
    free(f->present);
}

/* Enters the position written behind the last row, unless it is there already. */
static void bmn_forest_enter(bmn_forest *f, uint32_t size, uint32_t distance, uint32_t following,
                             uint32_t laid, bool exchanged)
{
    size_t row = f->count;
    const uint8_t *codes = f->codes + row * f->cards;
    uint64_t hash = bmn_position_hash(codes, f->cards, size);
    size_t at = bmn_forest_slot(f, codes, size, hash);
    if (f->slot[at])
        return;
    f->slot[at] = hash >> 32 << 32 | (row + 1);
    f->size[row] = size;
    f->distance[row] = distance;
    f->following[row] = following;
    f->laid[row] = laid;
    f->exchanged[row] = exchanged;
    f->count++;
}

/* Enters a root; false for want of memory. */
static bool bmn_forest_root(bmn_forest *f, const uint8_t *codes, uint32_t size, uint32_t following,
                            uint32_t laid, bool exchanged)
{
    if (f->count == f->capacity && !bmn_forest_double(f))
        return false;
    memcpy(f->codes + f->count * f->cards, codes, f->cards);
    bmn_forest_enter(f, size, 0, following, laid, exchanged);
    return true;
}

/* Enters the predecessors of the next row; false for want of memory. */
static bool bmn_forest_expand(bmn_forest *f)
{
    size_t row = f->expanded;
    memcpy(f->present, f->codes + row * f->cards, f->cards);
    bmn_backward b = bmn_backward_from(f->present, f->cards, f->size[row], &f->rules);
    while (bmn_backward_next(&b)) {
        uint32_t size;
        int exchanged;
        if (f->count == f->capacity && !bmn_forest_double(f))
            return false;
        if (bmn_backward_build(&b, f->codes + f->count * f->cards, &size, &exchanged))
            bmn_forest_enter(f, size, f->distance[row] + 1, (uint32_t)row, b.taken - b.start,
                             exchanged);
    }
    f->expanded++;
    return true;
}

/* Goes on until every ancestor within `depth` tricks is in, more than `limit` rows are (the ones
 * too many are dropped), or `rows` more rows were expanded. BMN_DEPTH: rows at `depth` are left
 * that may have predecessors. */
static int bmn_forest_grow(bmn_forest *f, uint32_t depth, size_t limit, size_t rows)
{
    for (; f->expanded < f->count; rows--) {
        if (f->distance[f->expanded] >= depth)
            return BMN_DEPTH;
        if (rows == 0)
            return BMN_MORE;
        if (!bmn_forest_expand(f))
            return BMN_FOREST_NO_MEMORY;
        if (f->count > limit) {
            f->count = limit; /* the table now names rows that are gone: nothing may follow */
            return BMN_LIMIT;
        }
    }
    return BMN_COMPLETE;
}
#endif
