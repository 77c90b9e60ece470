/* position.h - one position of at most 63 cards in machine words: a trick, a cycle, what it tells.
 *
 * A position is relative to the player who leads: their packet, then the other one, each as in
 * portable.h.  Cards of equal penalty have to be alike, and plain ones have the code 0.
 *
 * A trick takes three steps instead of one a card (portable.h says how), a position is compared in
 * six words, and nothing touches memory: this is what looks at the few games of a batch that the
 * kernels could not bring to an end.  Exact and general is general.h; this has to agree with it.
 */
#ifndef BMN_POSITION_H
#define BMN_POSITION_H

#include <stdbool.h>

#include "portable.h"

enum {
    BMN_POSITION_CARDS = 63,
    BMN_SHORT_PACKET = 8,
    BMN_FIRST_KEPT = 256, /* tricks: few cycles are longer */
};

typedef struct {
    bmn_word_packet side[2]; /* the leader's packet, the other one */
} bmn_position;

/* The rules, and what a pay card tells of itself as sets of ranks, bit c - 1 for code c. */
typedef struct {
    uint32_t penalties; /* as bmn_lay_pay_card takes them */
    bool payer_leads;
    uint8_t penalty[5];
    uint8_t ranks;               /* all there are */
    uint8_t exact[16], over[16]; /* those that cost exactly so much, and more than that */
} bmn_law;

static bmn_law bmn_law_of(const bmn_rules *rules, uint8_t ranks)
{
    const uint8_t *cost = rules->penalty;
    bmn_law law = {.payer_leads = rules->payer_leads, .ranks = ranks};
    law.penalties =
        cost[4] | (uint32_t)cost[1] << 8 | (uint32_t)cost[2] << 16 | (uint32_t)cost[3] << 24;
    memcpy(law.penalty, cost, sizeof law.penalty);
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
 * over if the other player leads then. */
BMN_INLINE int bmn_position_trick(bmn_position *p, uint32_t penalties, bool payer_leads,
                                  bool *exchanged)
{
    bmn_word_packet leader = p->side[0], other = p->side[1], pile = {0};
    bool turned = payer_leads;
    int mine = bmn_first_pay_card(&leader), theirs = bmn_first_pay_card(&other), gap;
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
        int debt = (int)bmn_lay_pay_card(&leader, &pile, gap, penalties);
        gap = bmn_first_pay_card(&other);
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
    p->side[payer_leads] = leader;
    p->side[!payer_leads] = other;
    *exchanged ^= turned;
    return pile.size;
}

BMN_INLINE int bmn_position_step(bmn_position *p, uint32_t penalties, bool payer_leads)
{
    bool exchanged = false;
    return bmn_position_trick(p, penalties, payer_leads, &exchanged);
}

BMN_INLINE bool bmn_same_packet(const bmn_word_packet *a, const bmn_word_packet *b)
{
    return ((a->pay ^ b->pay) | (a->low ^ b->low) | (a->high ^ b->high)) == 0;
}

BMN_INLINE bool bmn_same_position(const bmn_position *a, const bmn_position *b)
{
    return bmn_same_packet(&a->side[0], &b->side[0]) && bmn_same_packet(&a->side[1], &b->side[1]);
}

/* Plays up to `most` tricks until a position recurs (Brent's method, as in general.h, but the first
 * position is kept for long: it mostly is on the cycle). Returns the tricks of a turn, and leaves
 * the position on the cycle; 0 if the game ends, -1 if neither. */
static int bmn_find_turn(bmn_position *p, const bmn_law *law, int most)
{
    bmn_position kept = *p;
    for (int trick = 0, power = BMN_FIRST_KEPT, since = 0; trick < most; trick++) {
        if (!bmn_position_step(p, law->penalties, law->payer_leads))
            return 0;
        since++;
        if (bmn_same_position(p, &kept))
            return since;
        if (since == power) {
            kept = *p;
            power *= 2;
            since = 0;
        }
    }
    return -1;
}

BMN_INLINE int bmn_code_in(const bmn_word_packet *packet, int place)
{
    int code = (int)((packet->low >> place & 1) | (packet->high >> place & 1) << 1);
    return packet->pay >> place & 1 ? (code ? code : 4) : 0;
}

/* The order of canonical positions: by the size of the leader's packet, then card by card. */
static bool bmn_position_less(const bmn_position *a, const bmn_position *b)
{
    if (a->side[0].size != b->side[0].size)
        return a->side[0].size < b->side[0].size;
    for (int i = 0; i < 2; i++) {
        const bmn_word_packet *x = &a->side[i], *y = &b->side[i];
        uint64_t differ = (x->pay ^ y->pay) | (x->low ^ y->low) | (x->high ^ y->high);
        if (differ) {
            int place = bmn_lowest_bit(differ);
            return bmn_code_in(x, place) < bmn_code_in(y, place);
        }
    }
    return false;
}

/* The canonical position of a cycle; `balance` gets the largest of its smaller packets. */
static bmn_position bmn_canonical(bmn_position p, int turn, const bmn_law *law, int *balance)
{
    bmn_position best = p;
    *balance = 0;
    for (int trick = 0; trick < turn; trick++) {
        int size = p.side[0].size < p.side[1].size ? p.side[0].size : p.side[1].size;
        *balance = size > *balance ? size : *balance;
        if (bmn_position_less(&p, &best))
            best = p;
        bmn_position_step(&p, law->penalties, law->payer_leads);
    }
    return best;
}

/* How balanced a cycle can become in a deck of so many cards, when neutral cards are added to the
 * packet of one player: its balance, or the largest packet of a player who also has a short one
 * while the other never has; at most half the deck. */
static int bmn_reach(bmn_position p, int turn, const bmn_law *law, int cards, int balance)
{
    int least[2] = {BMN_POSITION_CARDS, BMN_POSITION_CARDS}, most[2] = {0, 0};
    bool exchanged = false;
    for (int trick = 0; trick < turn; trick++) {
        for (int i = 0; i < 2; i++) {
            int size = p.side[i].size, who = i ^ exchanged;
            least[who] = size < least[who] ? size : least[who];
            most[who] = size > most[who] ? size : most[who];
        }
        bmn_position_trick(&p, law->penalties, law->payer_leads, &exchanged);
    }
    int holder = least[1] < least[0];
    if (exchanged || least[holder] > BMN_SHORT_PACKET || least[!holder] <= BMN_SHORT_PACKET)
        return balance;
    int reach = most[holder] < cards - most[holder] ? most[holder] : cards - most[holder];
    return reach > balance ? reach : balance;
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

/* A turn with single cards: which are laid in each trick is told to `felt`. */
typedef struct {
    uint8_t ring[2][64], code[64];
    int head[2], size[2], leads;
} bmn_marked;

/* Plays a trick of marked cards and takes from `may` the ranks that it rules out. */
static void bmn_marked_trick(bmn_marked *m, const bmn_law *law, uint8_t may[64])
{
    uint8_t pile[64];
    int laid = 0, who = m->leads, debt = 0, left = 0, last = -1;
    for (;;) {
        uint8_t card = m->ring[who][m->head[who]++ & 63];
        m->size[who]--;
        pile[laid++] = card;
        if (m->code[card]) {
            if (last >= 0) /* answered before it was paid: it costs more than was laid for it */
                may[last] &= law->over[debt - left];
            last = card;
            debt = left = law->penalty[m->code[card]];
            who ^= 1;
        } else if (left == 0) {
            who ^= 1;
        } else if (--left == 0) {
            may[last] &= law->exact[debt];
            break;
        }
    }
    int taker = who ^ 1;
    for (int i = 0; i < laid; i++)
        m->ring[taker][(m->head[taker] + m->size[taker]++) & 63] = pile[i];
    m->leads = law->payer_leads ? who : taker;
}

/* Fills `may`, for each place of a position on a cycle, the leader's packet first, with the ranks
 * that its card may have without any change in the course of play; 0 for a plain card. See
 * ranks.py. */
static void bmn_unfelt(const bmn_position *p, int turn, const bmn_law *law, uint8_t may[64])
{
    bmn_marked m = {.size = {p->side[0].size, p->side[1].size}};
    int cards = 0;
    for (int i = 0; i < 2; i++)
        for (int place = 0; place < p->side[i].size; place++, cards++) {
            m.ring[i][place] = (uint8_t)cards;
            m.code[cards] = (uint8_t)bmn_code_in(&p->side[i], place);
            may[cards] = m.code[cards] ? law->ranks : 0;
        }
    for (int trick = 0; trick < turn; trick++)
        bmn_marked_trick(&m, law, may);
    uint8_t to[64]; /* the place to which a turn brings the card of each place */
    int at = 0;
    for (int i = 0; i < 2; i++)
        for (int place = 0, who = m.leads ^ i; place < m.size[who]; place++)
            to[m.ring[who][(m.head[who] + place) & 63]] = (uint8_t)at++;
    uint64_t done = 0;
    for (int place = 0; place < cards; place++) {
        if (done >> place & 1)
            continue;
        uint8_t common = may[place];
        for (int i = to[place]; i != place; i = to[i])
            common &= may[i];
        int i = place;
        do {
            may[i] = common;
            done |= UINT64_C(1) << i;
            i = to[i];
        } while (i != place);
    }
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
