/* turn.h - what comes of a position: whether it leads into a cycle, and what a turn of that tells.
 *
 * What.  Nearly all candidates of loop growth (grow.h) end, but the few that do not would take most
 * of the time if each thing that has to be known of them were found by playing their turn once
 * more.  So a turn is played twice and not seven times.
 *
 * How.
 *   - Is it endless?  Brent's method, with one position kept, compared after every trick.  After
 *     BMN_GLANCE tricks two of three endless candidates are on a cycle that was looked at lately.
 *     Keys of the positions of these cycles are in a table, so one look into it is enough;
 *     else that position, which mostly is on the cycle, is kept for long.  turn_body.h does the
 *     same in vector registers.
 *   - The first time that a turn is played, its course is written down: what each pay card tells of
 *     itself, in the order in which they are laid.  That is all that is needed to find out which
 *     ranks are felt (ranks.py), with queues of the pay cards alone.
 *   - The second time it is played with the least ranks, for all that is read from it.
 *
 * Measured: docs/grow.md.
 */
#ifndef BMN_TURN_H
#define BMN_TURN_H

#include "position.h"

enum {
    BMN_GLANCE = 64,       /* tricks in which a game mostly comes to its cycle */
    BMN_FIRST_POWER = 256, /* tricks for which that position is kept */
    BMN_PATIENCE = 1500,   /* tricks in which a game has to show its cycle */
    BMN_LONGEST_TURN = 1000,
    BMN_COURSE = BMN_LONGEST_TURN * (BMN_POSITION_CARDS + 1), /* bytes */
    BMN_FAMILIAR_KEYS = 1 << 17, /* keys of positions on cycles, a power of two */
    BMN_SHORT_PACKET = 8,        /* cards */
};

/* In place of the tricks of a turn: */
enum {
    BMN_ENDS = 0,
    BMN_TOO_LONG = -1, /* neither an end nor a cycle in BMN_PATIENCE tricks */
    BMN_FAMILIAR = -2, /* it comes to a familiar position */
    BMN_UNSEEN = -3,
};

/* The place of a key in a table of so many, a power of two: a part of the key tells the place, and
 * another part, the lowest 32 bits, is what is kept there. */
BMN_INLINE uint32_t *bmn_slot(uint32_t *table, int keys, uint64_t key)
{
    return &table[key >> 44 & (uint64_t)(keys - 1)];
}

/* Positions on cycles that were looked at, or are edited. (One in 2^31 is taken for another.) The
 * table has to fit the cache: four megabytes instead of half a one took a third of all time. */
typedef struct {
    uint32_t key[BMN_FAMILIAR_KEYS];
} bmn_familiar;

BMN_INLINE void bmn_make_familiar(bmn_familiar *familiar, const bmn_position *p)
{
    uint64_t key = bmn_quick_key(p);
    *bmn_slot(familiar->key, BMN_FAMILIAR_KEYS, key) = (uint32_t)key;
}

BMN_INLINE bool bmn_is_familiar(bmn_familiar *familiar, const bmn_position *p)
{
    uint64_t key = bmn_quick_key(p);
    return *bmn_slot(familiar->key, BMN_FAMILIAR_KEYS, key) == (uint32_t)key;
}

/* When the position kept after so many tricks is replaced: the time doubles, as in Brent's method.
 */
BMN_INLINE int bmn_kept_until(int trick)
{
    return 2 * trick - BMN_GLANCE + BMN_FIRST_POWER;
}

/* What comes of a position: the tricks of its turn, and a position on the cycle, or one of the list
 * above. */
static int bmn_fate_of(bmn_position p, const bmn_law *law, bmn_familiar *familiar, bmn_position *on)
{
    bmn_position kept = p;
    for (int trick = 1, since = 0, until = BMN_GLANCE; trick <= BMN_PATIENCE; trick++) {
        if (!bmn_position_step(&p, law))
            return BMN_ENDS;
        if (trick > BMN_GLANCE && bmn_same_position(&p, &kept)) {
            *on = p;
            return trick - since;
        }
        if (trick == until) {
            if (trick == BMN_GLANCE && bmn_is_familiar(familiar, &p))
                return BMN_FAMILIAR;
            kept = p;
            since = trick;
            until = bmn_kept_until(trick);
        }
    }
    return BMN_TOO_LONG;
}

/* What comes of each of n positions, given as deals with the leader's packet first: `tricks` and,
 * where it is a cycle, `on`. */
typedef void bmn_fate_function(const bmn_packed *deals, size_t n, const bmn_law *law,
                               bmn_familiar *familiar, int32_t *tricks, bmn_position *on);

/* The fates of those that are yet unseen. */
static void bmn_see(const bmn_packed *deals, size_t n, const bmn_law *law, bmn_familiar *familiar,
                    int32_t *tricks, bmn_position *on)
{
    for (size_t i = 0; i < n; i++)
        if (tricks[i] == BMN_UNSEEN)
            tricks[i] = bmn_fate_of(bmn_position_of(&deals[i]), law, familiar, &on[i]);
}

BMN_UNUSED void bmn_fates_portable(const bmn_packed *deals, size_t n, const bmn_law *law,
                                   bmn_familiar *familiar, int32_t *tricks, bmn_position *on)
{
    for (size_t i = 0; i < n; i++)
        tricks[i] = BMN_UNSEEN;
    bmn_see(deals, n, law, familiar, tricks, on);
}

/* Plays a turn from a position on a cycle, writes down its course, and makes its positions
 * familiar. */
static void bmn_walk_turn(bmn_position p, int turn, const bmn_law *law, bmn_familiar *familiar,
                          uint8_t course[BMN_COURSE])
{
    bool exchanged = false;
    for (int trick = 0; trick < turn; trick++) {
        bmn_make_familiar(familiar, &p);
        bmn_position_trick(&p, &p, law, &exchanged, &course);
    }
}

/* ---- which ranks are felt ---- */

/* The pay cards of a position, by number: two queues, and what is known of them. */
typedef struct {
    uint8_t queue[2][64], may[64];
    int first[2], end[2], leads, cards;
} bmn_pay_cards;

static bmn_pay_cards bmn_pay_cards_of(const bmn_position *p, const bmn_law *law)
{
    bmn_pay_cards pay = {.cards = 0};
    memset(pay.may, law->ranks, sizeof pay.may);
    for (int i = 0; i < 2; i++) {
        int more = bmn_count_bits(p->side[i].pay) - 1;
        while (pay.end[i] < more)
            pay.queue[i][pay.end[i]++] = (uint8_t)pay.cards++;
    }
    return pay;
}

/* Plays the pay cards through the first tricks of a course, and takes away the ranks that these
 * rule out. */
static void bmn_play_course(bmn_pay_cards *pay, const uint8_t *course, int tricks, bool payer_leads)
{
    for (int trick = 0; trick < tricks; trick++) {
        uint8_t pile[64];
        int who = pay->leads ^ (*course & 1), laid = *course++ >> 1;
        for (int i = 0; i < laid; i++, who ^= 1) {
            pile[i] = pay->queue[who][pay->first[who]++ & 63];
            pay->may[pile[i]] &= *course++;
        }
        who ^= 1; /* who laid the last one takes the pile */
        for (int i = 0; i < laid; i++)
            pay->queue[who][pay->end[who]++ & 63] = pile[i];
        pay->leads = who ^ payer_leads;
    }
}

/* Lists the pay cards in the order in which they lie now, the leader's first. */
static void bmn_pay_cards_in_order(const bmn_pay_cards *pay, uint8_t order[64])
{
    int at = 0;
    for (int i = 0; i < 2; i++)
        for (int who = pay->leads ^ i, place = pay->first[who]; place < pay->end[who]; place++)
            order[at++] = pay->queue[who][place & 63];
}

/* The ranks that the pay cards of a position on a cycle may have without any change in the course
 * of play: see ranks.py. */
static bmn_pay_cards bmn_unfelt(const bmn_position *p, const uint8_t *course, int turn,
                                const bmn_law *law)
{
    bmn_pay_cards pay = bmn_pay_cards_of(p, law), before = pay;
    uint8_t from[64]; /* the number of the card that a turn brings to the place of each */
    uint64_t done = 0;
    bmn_play_course(&pay, course, turn, law->rules.payer_leads);
    bmn_pay_cards_in_order(&pay, from);
    for (int start = 0; start < pay.cards; start++) {
        uint8_t common = pay.may[start];
        if (done >> start & 1)
            continue;
        for (int card = from[start]; card != start; card = from[card])
            common &= pay.may[card];
        int card = start;
        do {
            before.may[card] = common;
            done |= UINT64_C(1) << card;
            card = from[card];
        } while (card != start);
    }
    return before;
}

static int bmn_least_code(const bmn_law *law, uint8_t ranks)
{
    int least = 0;
    for (int code = 1; code <= 4; code++)
        if (ranks >> (code - 1) & 1 &&
            (!least || law->rules.penalty[code] < law->rules.penalty[least]))
            least = code;
    return least;
}

/* A position whose pay cards have the least ranks that they may have. One that has to be of a rank
 * that the deck lacks keeps it. */
static bmn_position bmn_with_least_ranks(const bmn_position *p, const bmn_pay_cards *pay,
                                         const bmn_law *law)
{
    bmn_position least = *p;
    for (int i = 0, card = 0; i < 2; i++) {
        bmn_word_packet *packet = &least.side[i];
        for (uint64_t left = packet->pay; left & (left - 1); left &= left - 1, card++) {
            uint64_t code = (uint64_t)bmn_least_code(law, pay->may[card]), bit = left & -left;
            if (!code)
                continue;
            packet->low = (packet->low & ~bit) | (code & 1 ? bit : 0);
            packet->high = (packet->high & ~bit) | (code & 2 ? bit : 0);
        }
    }
    return least;
}

/* ---- what a turn tells ---- */

typedef struct {
    bmn_position canonical;
    int at, tricks;        /* where in the turn that is, and the tricks of the turn */
    int balance;           /* the largest of the smaller packets */
    int least[2], most[2]; /* cards that each player has, by number */
    bool mirror;           /* a turn exchanges the players */
} bmn_turn;

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

/* Reads the turn of a position on a cycle. */
static bmn_turn bmn_read_turn(const bmn_position *start, const bmn_law *law)
{
    bmn_turn turn = {.canonical = *start, .least = {BMN_POSITION_CARDS, BMN_POSITION_CARDS}};
    bmn_position p = *start;
    do {
        int sizes[2] = {p.side[turn.mirror].size, p.side[!turn.mirror].size};
        int smaller = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
        turn.balance = smaller > turn.balance ? smaller : turn.balance;
        for (int who = 0; who < 2; who++) {
            turn.least[who] = sizes[who] < turn.least[who] ? sizes[who] : turn.least[who];
            turn.most[who] = sizes[who] > turn.most[who] ? sizes[who] : turn.most[who];
        }
        if (bmn_position_less(&p, &turn.canonical)) {
            turn.canonical = p;
            turn.at = turn.tricks;
        }
        turn.tricks++;
        bmn_position_trick(&p, &p, law, &turn.mirror, NULL);
    } while (!bmn_same_position(&p, start));
    return turn;
}

/* How balanced a cycle can become in a deck of so many cards, when neutral cards are added to the
 * packet of one player: its balance, or the largest packet of a player who also has a short one
 * while the other never has; at most half the deck. */
static int bmn_reach(const bmn_turn *turn, int cards)
{
    int holder = turn->least[1] < turn->least[0], most = turn->most[holder];
    if (turn->mirror || turn->least[holder] > BMN_SHORT_PACKET ||
        turn->least[!holder] <= BMN_SHORT_PACKET)
        return turn->balance;
    int reach = most < cards - most ? most : cards - most;
    return reach > turn->balance ? reach : turn->balance;
}
#endif
