/* position.h - one position of at most 63 cards in machine words, and a trick.
 *
 * A position is relative to the player who leads: their packet, then the other one, each as in
 * portable.h.  Cards of equal penalty have to be alike, and plain ones have the code 0.
 *
 * A trick takes three steps instead of one a card (portable.h says how), and a position is compared
 * in six words: this is what looks at the few games of a batch that never end.  Exact and general
 * is general.h; this has to agree with it.
 */
#ifndef BMN_POSITION_H
#define BMN_POSITION_H

#include <stdbool.h>

#include "portable.h"

enum {
    BMN_POSITION_CARDS = 63,
};

typedef struct {
    bmn_word_packet side[2]; /* the leader's packet, the other one */
} bmn_position;

/* The rules, and what a pay card tells of itself as sets of ranks, bit c - 1 for code c. */
typedef struct {
    bmn_rules rules;
    uint32_t penalties;          /* as bmn_lay_pay_card takes them */
    uint8_t ranks;               /* all there are */
    uint8_t exact[16], over[16]; /* those that cost exactly so much, and more than that */
} bmn_law;

static bmn_law bmn_law_of(const bmn_rules *rules, uint8_t ranks)
{
    const uint8_t *cost = rules->penalty;
    bmn_law law = {.rules = *rules, .ranks = ranks};
    law.penalties =
        cost[4] | (uint32_t)cost[1] << 8 | (uint32_t)cost[2] << 16 | (uint32_t)cost[3] << 24;
    for (int code = 1; code <= 4; code++)
        for (int debt = 0; debt < 16 && ranks >> (code - 1) & 1; debt++) {
            law.exact[debt] |= (uint8_t)((cost[code] == debt) << (code - 1));
            law.over[debt] |= (uint8_t)((cost[code] > debt) << (code - 1));
        }
    return law;
}

static bmn_position bmn_position_of(const bmn_packed *deal)
{
    uint64_t pay = deal->plane[0] | deal->plane[1] | deal->plane[2];
    int split = deal->split;
    return (bmn_position){{bmn_word_packet_of(deal, pay, 0, split),
                           bmn_word_packet_of(deal, pay, split, deal->total - split)}};
}

static bmn_packed bmn_packed_of(const bmn_position *p)
{
    const bmn_word_packet *a = &p->side[0], *b = &p->side[1];
    bmn_packed deal = {.split = (uint8_t)a->size, .total = (uint8_t)(a->size + b->size)};
    uint64_t pay = (a->pay ^ UINT64_C(1) << a->size) | (b->pay ^ UINT64_C(1) << b->size) << a->size;
    deal.plane[0] = a->low | b->low << a->size;
    deal.plane[1] = a->high | b->high << a->size;
    deal.plane[2] = pay & ~(deal.plane[0] | deal.plane[1]);
    return deal;
}

/* Plays one trick; returns how many cards were laid, 0 if it ends the game. `exchanged` is turned
 * over if the other player leads then. `from` and `to` may be the same. Unless it is NULL, what the
 * trick tells is written at `*course`, which is moved on: the number of pay cards laid, times two,
 * and 1 if the first one is not the leader's; then, for each of them, the ranks that it may have
 * after what is seen of it. */
BMN_INLINE int bmn_position_trick(const bmn_position *from, bmn_position *to, const bmn_law *law,
                                  bool *exchanged, uint8_t **course)
{
    bmn_word_packet leader = from->side[0], other = from->side[1], pile = {0};
    bool turned = law->rules.payer_leads;
    int mine = bmn_first_pay_card(&leader), theirs = bmn_first_pay_card(&other), gap;
    uint8_t *told = course != NULL ? *course + 1 : NULL;
    if (mine <= theirs) {
        if (mine == leader.size)
            return 0;
        pile.size = gap = mine;
        bmn_lay(&other, mine);
    } else {
        if (theirs == other.size)
            return 0;
        pile.size = theirs + 1;
        gap = theirs;
        bmn_lay(&leader, theirs + 1);
        bmn_swap_packets(&leader, &other);
        turned ^= true;
    }
    for (;;) {
        int debt = (int)bmn_lay_pay_card(&leader, &pile, gap, law->penalties);
        gap = bmn_first_pay_card(&other);
        if (course != NULL)
            *told++ = gap >= debt ? law->exact[debt] : law->over[gap];
        if (gap >= debt) {
            pile.size += debt;
            bmn_lay(&other, debt);
            break;
        }
        if (gap == other.size)
            return 0;
        bmn_swap_packets(&leader, &other);
        turned ^= true;
    }
    if (!other.size)
        return 0;
    bmn_take_pile(&leader, &pile);
    to->side[law->rules.payer_leads] = leader;
    to->side[!law->rules.payer_leads] = other;
    *exchanged ^= turned;
    if (course != NULL) {
        **course = (uint8_t)((told - *course - 1) << 1) | (mine > theirs);
        *course = told;
    }
    return pile.size;
}

BMN_INLINE bool bmn_position_step(bmn_position *p, const bmn_law *law)
{
    bool exchanged = false;
    return bmn_position_trick(p, p, law, &exchanged, NULL) > 0;
}

BMN_INLINE bool bmn_same_packet(const bmn_word_packet *a, const bmn_word_packet *b)
{
    return ((a->pay ^ b->pay) | (a->low ^ b->low) | (a->high ^ b->high)) == 0;
}

BMN_INLINE bool bmn_same_position(const bmn_position *a, const bmn_position *b)
{
    return bmn_same_packet(&a->side[0], &b->side[0]) && bmn_same_packet(&a->side[1], &b->side[1]);
}

BMN_INLINE int bmn_code_in(const bmn_word_packet *packet, int place)
{
    int code = (int)((packet->low >> place & 1) | (packet->high >> place & 1) << 1);
    return packet->pay >> place & 1 ? (code ? code : 4) : 0;
}

BMN_INLINE uint64_t bmn_mix(uint64_t word)
{
    word = (word ^ word >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return word ^ word >> 32;
}

static uint64_t bmn_position_key(const bmn_position *p)
{
    uint64_t key = 1;
    for (int i = 0; i < 2; i++) {
        key = bmn_mix(key + p->side[i].pay);
        key = bmn_mix(key + p->side[i].low);
        key = bmn_mix(key + p->side[i].high);
    }
    return key | 1; /* never 0 */
}

/* A key that is quick to make: the products do not wait for each other. */
BMN_INLINE uint64_t bmn_quick_key(const bmn_position *p)
{
    const bmn_word_packet *a = &p->side[0], *b = &p->side[1];
    uint64_t key = a->pay * UINT64_C(0x9e3779b97f4a7c15) + a->low * UINT64_C(0xbf58476d1ce4e5b9) +
                   a->high * UINT64_C(0x94d049bb133111eb) + b->pay * UINT64_C(0xd6e8feb86659fd93) +
                   b->low * UINT64_C(0xa0761d6478bd642f) + b->high * UINT64_C(0xe7037ed1a0b428db);
    return bmn_mix(key) | 1; /* never 0 */
}

static void bmn_set_card(bmn_packed *deal, int place, int code)
{
    for (int k = 0; k < 3; k++)
        deal->plane[k] = (deal->plane[k] & ~(UINT64_C(1) << place)) | (uint64_t)(code >> k & 1)
                                                                          << place;
}

BMN_INLINE int bmn_card_at(const bmn_packed *deal, int place)
{
    return (int)((deal->plane[0] >> place & 1) | (deal->plane[1] >> place & 1) << 1 |
                 (deal->plane[2] >> place & 1) << 2);
}

#endif
