/* grow.h - loop growth: from cycles of small decks, by small edits, to cycles of a wanted deck.
 *
 * What.  An archive of positions on cycles.  Over and over a parent is chosen, one of the positions
 * of its turn is edited a little, and the result is played: if it never ends, it leads into a
 * cycle, which is entered unless it is there.
 *
 * How.
 *   - Candidates are made as packed deals, an edit being shifts and masks on three words.
 *     What comes of them is found in the lanes of the vector kernel, BMN_GROW_BATCH at a time
 *     (turn_body.h), and only cycles that are not familiar are looked at one by one (turn.h).
 *     A candidate that was made a short while ago, as a table of their keys tells, is not played
 *     again.
 *   - No edit adds pay cards beyond those of the wanted deck: the lanes hold 16.
 *   - A cycle is entered in its normal form (ranks.py): the endless variants in ranks that are not
 *     felt are one entry.  A parent gets fresh random unfelt ranks before it is edited, since an
 *     edit may make them felt.
 *   - The archive are levels of cells.  One row of levels is by number of cards, on which growth
 *     climbs; another by distance from the wanted deck, on which it is steered there.  The distance
 *     asks only whether the unfelt ranks can be chosen to fit.  In a level there is a cell for each
 *     balance (the largest smaller packet on the cycle) and number of tricks, with room for few
 *     entries, replaced at random: so no family, however many variants it has, crowds out the
 *     others (quality-diversity, as MAP-Elites: Mouret and Clune, "Illuminating search spaces by
 *     mapping elites", arXiv 1504.04909, 2015).  Parents are drawn by level, then balance, then
 *     cell, with the less tried of two preferred.
 *   - A third row is by excess: how many cards are too many.  What has none needs only to be filled
 *     up, and it is filled up with runs of other cycles (runs.h).  Its cells are by reach, the
 *     balance that filling up can lead to (turn.h), and number of cards.
 *   - Cycles of high reach are rare among random positions; a search of their own finds them whole
 *     (pass.h).
 *
 * All randomness is from one generator, and the kernels agree, so an archive is a function of what
 * was entered, the seed and the number of candidates.
 *
 * Measured: docs/grow.md.
 */
#ifndef BMN_GROW_H
#define BMN_GROW_H

#include "pass.h"
#include "plain.h"
#include "position.h"
#include "rows.h"
#include "runs.h"
#include "turn.h"

enum {
    BMN_GROW_BATCH = 4096,
    BMN_GROW_CELL = 8,       /* entries in a cell */
    BMN_GROW_CHILDREN = 128, /* candidates of a parent before the next one is chosen */
    BMN_GROW_EXTRA = 4,      /* cards beyond the wanted ones, on the way */
    BMN_GROW_FAR = 12,       /* distance from the wanted deck up to which growth is steered */
    BMN_GROW_SEED_LOW = 8,   /* cards of a random seed */
    BMN_GROW_SEED_HIGH = 26,
    BMN_GROW_OVER = 6,            /* cards too many, up to which a cycle may be filled up */
    BMN_GROW_RUNS = 4,            /* runs of a parent that are put on racks */
    BMN_GROW_FIRST_DISTANCE = 64, /* first level of a row */
    BMN_GROW_FIRST_EXCESS = BMN_GROW_FIRST_DISTANCE + BMN_GROW_FAR + 1,
    BMN_GROW_LEVELS = BMN_GROW_FIRST_EXCESS + BMN_GROW_OVER + 1,
    BMN_GROW_TRIED = 1 << 14, /* keys of candidates that are remembered */
};

typedef enum {
    BMN_INSERT,
    BMN_REMOVE,
    BMN_MOVE,
    BMN_EXCHANGE,
    BMN_CHANGE,
    BMN_SMALL_EDITS,
    BMN_ADD_RUN = BMN_SMALL_EDITS,
    BMN_DROP_RUN,
    BMN_EDITS,
    BMN_TWO = BMN_EDITS, /* in statistics: two and three small edits, and seeds */
    BMN_THREE,
    BMN_SEED,
    BMN_MAKES
} bmn_edit;

typedef struct {
    bmn_packed deal; /* the canonical position, in normal form */
    uint8_t may[64]; /* ranks that each card may have */
    uint16_t turn;
    uint32_t tries;
} bmn_entry;

typedef struct {
    uint16_t kind; /* tricks of a turn, or cards */
    uint8_t count;
    bmn_entry entry[BMN_GROW_CELL];
    uint32_t tries;
} bmn_cell;

typedef struct {
    bmn_cell *cell;
    int count, room;
} bmn_shelf; /* the cells of one balance, or reach */

typedef enum {
    BMN_GROW_BY_CARDS,
    BMN_GROW_BY_DISTANCE,
    BMN_GROW_BY_EXCESS
} bmn_grow_row; /* rows of levels */

typedef struct {
    uint64_t tried, loops, known, fresh, longer, exact;
    uint64_t made[BMN_MAKES][64], gave[BMN_MAKES][64]; /* candidates, new cycles, by cards */
} bmn_grow_counts;

typedef struct {
    bmn_law law;
    bmn_fate_function *fates;
    bmn_xoshiro random;
    uint32_t want[5], cards, pay;
    int code[4], codes;       /* of the pay cards that are wanted */
    uint32_t steered, filled; /* of 100 parents, drawn by distance, by excess */
    uint32_t weight[BMN_EDITS], numbers[3];
    bmn_shelf shelf[BMN_GROW_LEVELS][64]; /* by level and balance, or reach */
    uint32_t in_level[BMN_GROW_LEVELS];
    uint64_t *seen; /* keys of the normal forms entered */
    size_t seen_count, seen_mask;
    bmn_entry *exact; /* those of the wanted deck */
    size_t exact_count, exact_room;
    bmn_grow_counts counts;
    bool no_memory;
    bmn_packed batch[BMN_GROW_BATCH];
    uint8_t make[BMN_GROW_BATCH];
    int32_t tricks[BMN_GROW_BATCH]; /* what came of it: turn.h */
    bmn_position on[BMN_GROW_BATCH];
    uint32_t recent[BMN_GROW_TRIED];
    bmn_familiar familiar;
    uint8_t course[BMN_COURSE];
    bmn_rack rack[BMN_RUN_RACKS];
} bmn_grow;

BMN_INLINE int bmn_grow_die(bmn_grow *g, int sides)
{
    return (int)((bmn_xoshiro_next(&g->random) >> 32) * (uint32_t)sides >> 32);
}

/* Whether a key is new; it is kept. */
static bool bmn_grow_new_key(bmn_grow *g, uint64_t key)
{
    if (2 * g->seen_count >= g->seen_mask) {
        size_t slots = g->seen_mask ? 2 * (g->seen_mask + 1) : 1 << 12;
        uint64_t *larger = calloc(slots, sizeof *larger);
        if (larger == NULL) {
            g->no_memory = true;
            return false;
        }
        for (size_t i = 0; g->seen != NULL && i <= g->seen_mask; i++)
            if (g->seen[i]) {
                size_t at = g->seen[i] & (slots - 1);
                while (larger[at])
                    at = (at + 1) & (slots - 1);
                larger[at] = g->seen[i];
            }
        free(g->seen);
        g->seen = larger;
        g->seen_mask = slots - 1;
    }
    size_t at = key & g->seen_mask;
    for (; g->seen[at]; at = (at + 1) & g->seen_mask)
        if (g->seen[at] == key)
            return false;
    g->seen[at] = key;
    g->seen_count++;
    return true;
}

/* ---- the archive ---- */

/* How many cards have to change for a deck with these sets of possible ranks to be the wanted one;
 * the empty set is of cards that have to be of a rank that it lacks. Ranks are matched card by
 * card, and the best matching is as large as the least cut. */
static int bmn_distance(const bmn_grow *g, const int with[16], int plain)
{
    int pay = 0, matched = 1000;
    for (int set = 0; set < 16; set++)
        pay += with[set];
    for (int ranks = 0; ranks < 16; ranks++) {
        int cut = 0;
        for (int code = 1; code <= 4; code++)
            cut += ranks >> (code - 1) & 1 ? (int)g->want[code] : 0;
        for (int set = 1; set < 16; set++)
            cut += set & ~ranks ? with[set] : 0;
        matched = cut < matched ? cut : matched;
    }
    return pay + (int)g->pay - 2 * matched + abs(plain - (int)g->want[0]);
}

static void bmn_shelve(bmn_grow *g, int level, int balance, int kind, const bmn_entry *entry)
{
    bmn_shelf *shelf = &g->shelf[level][balance];
    int at = 0;
    while (at < shelf->count && shelf->cell[at].kind != kind)
        at++;
    if (at == shelf->room) {
        int room = shelf->room ? 2 * shelf->room : 4;
        bmn_cell *larger = realloc(shelf->cell, (size_t)room * sizeof *larger);
        if (larger == NULL) {
            g->no_memory = true;
            return;
        }
        shelf->cell = larger;
        shelf->room = room;
    }
    bmn_cell *cell = &shelf->cell[at];
    if (at == shelf->count) {
        *cell = (bmn_cell){.kind = (uint16_t)kind};
        shelf->count++;
    }
    g->in_level[level]++;
    cell->entry[cell->count < BMN_GROW_CELL ? cell->count++ : bmn_grow_die(g, BMN_GROW_CELL)] =
        *entry;
}

static void bmn_keep_exact(bmn_grow *g, const bmn_entry *entry)
{
    if (g->exact_count == g->exact_room) {
        size_t room = g->exact_room ? 2 * g->exact_room : 64;
        bmn_entry *larger = realloc(g->exact, room * sizeof *larger);
        if (larger == NULL) {
            g->no_memory = true;
            return;
        }
        g->exact = larger;
        g->exact_room = room;
    }
    g->exact[g->exact_count++] = *entry;
    g->counts.exact++;
}

/* Puts the ranks that the pay cards may have at their places in a position. */
static void bmn_spread_ranks(const bmn_position *p, const bmn_pay_cards *pay,
                             const uint8_t order[64], uint8_t may[64])
{
    for (int i = 0, card = 0, before = 0; i < 2; before += p->side[i++].size)
        for (uint64_t left = p->side[i].pay; left & (left - 1); left &= left - 1)
            may[before + bmn_lowest_bit(left)] = pay->may[order[card++]];
}

/* The normal form of a cycle, given a position on it and its turn. */
static bmn_entry bmn_normal_form(bmn_grow *g, const bmn_position *p, int tricks, bmn_turn *turn)
{
    const bmn_law *law = &g->law;
    bmn_entry entry = {.tries = 0};
    uint8_t order[64];
    bmn_walk_turn(*p, tricks, law, &g->familiar, g->course);
    bmn_pay_cards pay = bmn_unfelt(p, g->course, tricks, law);
    bmn_position least = bmn_with_least_ranks(p, &pay, law);
    *turn = bmn_read_turn(&least, law);
    if (turn->tricks < tricks) /* what differed in ranks only is the same now */
        pay = bmn_unfelt(p, g->course, turn->tricks, law);
    bmn_play_course(&pay, g->course, turn->at, law->rules.payer_leads);
    bmn_pay_cards_in_order(&pay, order);
    bmn_spread_ranks(&turn->canonical, &pay, order, entry.may);
    entry.deal = bmn_packed_of(&turn->canonical);
    entry.turn = (uint16_t)turn->tricks;
    return entry;
}

/* Enters a cycle, given a position on it and its turn; returns whether it is new. */
static bool bmn_grow_enter(bmn_grow *g, const bmn_position *p, int tricks)
{
    bmn_turn turn;
    bmn_entry entry = bmn_normal_form(g, p, tricks, &turn);
    int cards = entry.deal.total, plain = 0, with[16] = {0};
    if (!bmn_grow_new_key(g, bmn_position_key(&turn.canonical)))
        return false;
    for (int place = 0; place < cards; place++)
        if (bmn_card_at(&entry.deal, place))
            with[entry.may[place]]++;
        else
            plain++;
    int distance = bmn_distance(g, with, plain);
    bmn_shelve(g, cards, turn.balance, turn.tricks, &entry);
    if (distance <= BMN_GROW_FAR)
        bmn_shelve(g, BMN_GROW_FIRST_DISTANCE + distance, turn.balance, turn.tricks, &entry);
    int excess = (distance - (int)g->cards + cards) / 2;
    if (excess <= BMN_GROW_OVER && cards <= (int)g->cards)
        bmn_shelve(g, BMN_GROW_FIRST_EXCESS + excess, bmn_reach(&turn, (int)g->cards), cards,
                   &entry);
    if (distance == 0)
        bmn_keep_exact(g, &entry);
    return true;
}

/* Enters the cycle, if any, that a candidate leads into; returns whether it is new. */
static bool bmn_grow_meet(bmn_grow *g, int tricks, const bmn_position *on)
{
    bool endless = tricks == BMN_FAMILIAR || (tricks > 0 && tricks <= BMN_LONGEST_TURN);
    bool fresh = endless && tricks > 0 && bmn_grow_enter(g, on, tricks);
    g->counts.longer += !endless && tricks != BMN_ENDS;
    g->counts.loops += endless;
    g->counts.fresh += fresh;
    g->counts.known += endless && !fresh;
    return fresh;
}

/* ---- choosing a parent ---- */

/* The higher of two draws. */
static int bmn_draw_high(bmn_grow *g, int sides)
{
    int one = bmn_grow_die(g, sides), other = bmn_grow_die(g, sides);
    return one > other ? one : other;
}

/* Draws an entry of a level that has some: one of its balances, rather a high one, then the less
 * tried of two cells, or `largest` that of more cards, then of two entries. */
static bmn_entry *bmn_draw_entry(bmn_grow *g, int level, bool largest)
{
    int filled[64], count = 0;
    for (int balance = 0; balance < 64; balance++)
        if (g->shelf[level][balance].count)
            filled[count++] = balance;
    bmn_shelf *shelf =
        &g->shelf[level]
                 [filled[bmn_grow_die(g, 2) ? bmn_draw_high(g, count) : bmn_grow_die(g, count)]];
    bmn_cell *one = &shelf->cell[bmn_grow_die(g, shelf->count)],
             *other = &shelf->cell[bmn_grow_die(g, shelf->count)];
    bool rather = largest ? other->kind > one->kind : other->tries < one->tries;
    bmn_cell *cell = rather ? other : one;
    cell->tries++;
    bmn_entry *a = &cell->entry[bmn_grow_die(g, cell->count)],
              *b = &cell->entry[bmn_grow_die(g, cell->count)];
    bmn_entry *entry = b->tries < a->tries ? b : a;
    entry->tries++;
    return entry;
}

/* Draws a parent and tells from which row. NULL if there are no entries. */
static bmn_entry *bmn_draw_parent(bmn_grow *g, bmn_grow_row *row)
{
    static const int first[] = {0, BMN_GROW_FIRST_DISTANCE, BMN_GROW_FIRST_EXCESS, BMN_GROW_LEVELS};
    int level[BMN_GROW_LEVELS], count = 0, draw = bmn_grow_die(g, 100);
    *row = draw < (int)g->steered                 ? BMN_GROW_BY_DISTANCE
           : draw < (int)(g->steered + g->filled) ? BMN_GROW_BY_EXCESS
                                                  : BMN_GROW_BY_CARDS;
    for (int i = first[*row + 1] - 1; i >= first[*row]; i--) /* the nearest last */
        if (g->in_level[i])
            level[count++] = i;
    if (count == 0)
        *row = BMN_GROW_BY_CARDS;
    if (*row == BMN_GROW_BY_CARDS) { /* the largest last */
        count = 0;
        for (int cards = 2; cards < 64; cards++)
            if (g->in_level[cards])
                level[count++] = cards;
    }
    if (count == 0)
        return NULL;
    int drawn = level[bmn_grow_die(g, 2) ? bmn_draw_high(g, count) : bmn_grow_die(g, count)];
    return bmn_draw_entry(g, drawn, *row == BMN_GROW_BY_EXCESS && bmn_grow_die(g, 2));
}

/* ---- edits ---- */

/* Puts a card at a place, 0..total, of a packet: at the place where the packets meet, `first` says
 * into which. */
static void bmn_insert(bmn_packed *deal, int place, bool first, int code)
{
    uint64_t below = bmn_low_bits(place);
    for (int k = 0; k < 3; k++)
        deal->plane[k] = (deal->plane[k] & below) | (uint64_t)(code >> k & 1) << place |
                         (deal->plane[k] & ~below) << 1;
    deal->total++;
    deal->split += place < deal->split || (place == deal->split && first);
}

static void bmn_remove(bmn_packed *deal, int place)
{
    uint64_t below = bmn_low_bits(place);
    for (int k = 0; k < 3; k++)
        deal->plane[k] = (deal->plane[k] & below) | (deal->plane[k] >> 1 & ~below);
    deal->total--;
    deal->split -= place < deal->split;
}

BMN_INLINE int bmn_pay_in(const bmn_packed *deal)
{
    return bmn_count_bits(deal->plane[0] | deal->plane[1] | deal->plane[2]);
}

static void bmn_insert_anywhere(bmn_grow *g, bmn_packed *deal, int code)
{
    int place = bmn_grow_die(g, deal->total + 2);
    bool second = place > deal->split;
    bmn_insert(deal, place - second, !second, code);
}

/* Inserts a card: what is most wanting is the likeliest. */
static bool bmn_edit_insert(bmn_grow *g, bmn_packed *deal)
{
    int pay = bmn_pay_in(deal), plain = deal->total - pay;
    int pay_wanting = (int)g->pay - pay, plain_wanting = (int)g->want[0] - plain;
    if (deal->total >= (int)g->cards + BMN_GROW_EXTRA || deal->total >= BMN_POSITION_CARDS)
        return false;
    bool is_pay = plain_wanting <= -BMN_GROW_EXTRA;
    if (is_pay && pay_wanting <= 0)
        return false;
    if (!is_pay && pay_wanting > 0) {
        plain_wanting = plain_wanting < 1 ? 1 : plain_wanting;
        is_pay = bmn_grow_die(g, pay_wanting + plain_wanting) < pay_wanting;
    }
    bmn_insert_anywhere(g, deal, is_pay ? g->code[bmn_grow_die(g, g->codes)] : 0);
    return true;
}

/* Gives a card another rank, makes a pay card plain, or a plain one a pay card. */
static bool bmn_edit_change(bmn_grow *g, bmn_packed *deal)
{
    int place = bmn_grow_die(g, deal->total), old = bmn_card_at(deal, place);
    int code = old && bmn_grow_die(g, 2) ? 0 : g->code[bmn_grow_die(g, g->codes)];
    if (code == old || (!old && bmn_pay_in(deal) >= (int)g->pay))
        return false;
    bmn_set_card(deal, place, code);
    return true;
}

static bool bmn_edit_once(bmn_grow *g, bmn_packed *deal, bmn_edit edit)
{
    int place = bmn_grow_die(g, deal->total), code = bmn_card_at(deal, place);
    switch (edit) {
    case BMN_INSERT: return bmn_edit_insert(g, deal);
    case BMN_REMOVE: bmn_remove(deal, place); break;
    case BMN_MOVE:
        bmn_remove(deal, place);
        bmn_insert_anywhere(g, deal, code);
        break;
    case BMN_EXCHANGE: {
        int other = bmn_grow_die(g, deal->total), others = bmn_card_at(deal, other);
        bmn_set_card(deal, place, others);
        bmn_set_card(deal, other, code);
        return code != others;
    }
    default: return bmn_edit_change(g, deal);
    }
    return deal->split > 0 && deal->split < deal->total;
}

static int bmn_draw_weighted(bmn_grow *g, const uint32_t *weight, int count)
{
    int sum = 0, at = 0;
    for (int i = 0; i < count; i++)
        sum += (int)weight[i];
    for (int draw = bmn_grow_die(g, sum); draw >= (int)weight[at]; at++)
        draw -= (int)weight[at];
    return at;
}

/* How far a deck is from the wanted one in its numbers of plain and of pay cards, or, `excess`, how
 * many it has too many. */
static int bmn_off(const bmn_grow *g, const bmn_packed *deal, bool excess)
{
    int more_pay = bmn_pay_in(deal) - (int)g->pay;
    int more_plain = deal->total - (int)g->cards - more_pay;
    if (excess)
        return (more_pay > 0 ? more_pay : 0) + (more_plain > 0 ? more_plain : 0);
    return abs(more_pay) + abs(more_plain);
}

/* Whether a candidate was made a short while ago; it is remembered. */
static bool bmn_made_before(bmn_grow *g, const bmn_packed *deal)
{
    uint64_t key = bmn_mix(deal->plane[0] + deal->split);
    key = bmn_mix(bmn_mix(key + deal->plane[1]) + deal->plane[2]) + deal->total;
    uint32_t *slot = bmn_slot(g->recent, BMN_GROW_TRIED, key);
    bool before = *slot == (uint32_t)key;
    *slot = (uint32_t)key;
    return before;
}

/* A parent with its unfelt ranks, and the positions of its turn, up to 256. */
typedef struct {
    bmn_position position[BMN_RUN_TRICKS];
    int tricks, times;
    bmn_time time[BMN_RUN_TRICKS];
} bmn_parent;

static bmn_packed bmn_with_fresh_ranks(bmn_grow *g, const bmn_entry *entry)
{
    bmn_packed deal = entry->deal;
    for (int place = 0; place < deal.total; place++) {
        uint8_t ranks = entry->may[place];
        if ((ranks & (ranks - 1)) == 0) /* plain, or felt */
            continue;
        int code = 1 + bmn_grow_die(g, 4);
        while (!(ranks >> (code - 1) & 1))
            code = 1 + bmn_grow_die(g, 4);
        bmn_set_card(&deal, place, code);
    }
    return deal;
}

/* Walks a turn of a parent, and puts some of its runs on racks. */
static void bmn_walk_parent(bmn_grow *g, const bmn_packed *deal, int turn, bmn_parent *parent)
{
    parent->tricks = turn < BMN_RUN_TRICKS ? turn : BMN_RUN_TRICKS;
    parent->position[0] = bmn_position_of(deal);
    parent->times = bmn_find_times(parent->position, parent->tricks, &g->law, parent->time);
    for (int trick = 0; trick < parent->tricks; trick++)
        bmn_make_familiar(&g->familiar, &parent->position[trick]);
    for (int i = 0; i < BMN_GROW_RUNS && parent->times; i++) {
        const bmn_time *time = &parent->time[bmn_grow_die(g, parent->times)];
        bmn_word_packet queue = parent->position[time->trick].side[time->holder ^ 1];
        bmn_rack *rack = bmn_rack_of(g->rack, time->key);
        if (rack == NULL)
            continue;
        bmn_word_packet *run =
            &rack->run[rack->count < BMN_RUN_RACK ? (int)rack->count++
                                                  : bmn_grow_die(g, BMN_RUN_RACK)];
        bmn_part(&queue, time->laid, run);
    }
}

/* A child that has a run more, or less. */
static bool bmn_edit_run(bmn_grow *g, const bmn_parent *parent, bool more, bmn_packed *deal)
{
    if (parent->times == 0)
        return false;
    const bmn_time *time = &parent->time[bmn_grow_die(g, parent->times)];
    bmn_position p = parent->position[time->trick];
    bmn_word_packet *queue = &p.side[time->holder ^ 1], run;
    int most = (int)g->cards + BMN_GROW_EXTRA, cards = p.side[0].size + p.side[1].size;
    most = most < BMN_POSITION_CARDS ? most : BMN_POSITION_CARDS;
    if (!more) {
        bmn_part(queue, time->laid, &run);
        *deal = bmn_packed_of(&p);
        return queue->size > 0;
    }
    const bmn_rack *rack = bmn_rack_of(g->rack, time->key);
    if (rack == NULL || rack->count == 0)
        return false;
    run = rack->run[bmn_grow_die(g, (int)rack->count)];
    if (cards + run.size > most)
        return false;
    bmn_join(queue, &run);
    *deal = bmn_packed_of(&p);
    return bmn_off(g, deal, true) <= BMN_GROW_OVER && bmn_pay_in(deal) <= (int)g->pay;
}

/* Makes a child; returns how it was made, BMN_MAKES if that cannot be. */
static int bmn_make_child(bmn_grow *g, const bmn_parent *parent, bmn_packed *deal)
{
    int edit = bmn_draw_weighted(g, g->weight, BMN_EDITS);
    if (edit >= BMN_SMALL_EDITS)
        return bmn_edit_run(g, parent, edit == BMN_ADD_RUN, deal) ? edit : BMN_MAKES;
    int edits = 1 + bmn_draw_weighted(g, g->numbers, 3);
    *deal = bmn_packed_of(&parent->position[bmn_grow_die(g, parent->tricks)]);
    for (int i = 0; i < edits; i++) {
        if (i > 0)
            edit = bmn_draw_weighted(g, g->weight, BMN_SMALL_EDITS);
        if (!bmn_edit_once(g, deal, (bmn_edit)edit))
            return BMN_MAKES;
    }
    return edits == 1 ? edit : edits == 2 ? BMN_TWO : BMN_THREE;
}

/* Adds the children of a parent to the batch; returns its new size. */
static size_t bmn_breed(bmn_grow *g, size_t size)
{
    static const int tries = 2 * BMN_GROW_CHILDREN;
    bmn_parent parent;
    bmn_grow_row row;
    bmn_entry *entry = bmn_draw_parent(g, &row);
    bmn_packed deal = bmn_with_fresh_ranks(g, entry);
    bool excess = row == BMN_GROW_BY_EXCESS;
    int off = bmn_off(g, &deal, excess);
    bmn_walk_parent(g, &deal, entry->turn, &parent);
    size_t end =
        size + BMN_GROW_CHILDREN < BMN_GROW_BATCH ? size + BMN_GROW_CHILDREN : BMN_GROW_BATCH;
    for (int left = tries; left > 0 && size < end; left--) {
        int make = bmn_make_child(g, &parent, &deal);
        if (make == BMN_MAKES ||
            (row != BMN_GROW_BY_CARDS && bmn_off(g, &deal, excess) > off + 1) ||
            bmn_made_before(g, &deal))
            continue;
        g->make[size] = (uint8_t)make;
        g->batch[size++] = deal;
    }
    return size;
}

/* ---- the loop ---- */

/* Finds out what comes of the first `size` candidates of the batch. */
static void bmn_grow_play(bmn_grow *g, size_t size)
{
    g->fates(g->batch, size, &g->law, &g->familiar, g->tricks, g->on);
}

/* Enters the cycles that the candidates of the batch lead into. */
static void bmn_grow_reap(bmn_grow *g, size_t size)
{
    bmn_grow_play(g, size);
    g->counts.tried += size;
    for (size_t i = 0; i < size; i++) {
        int make = g->make[i], cards = g->batch[i].total;
        g->counts.made[make][cards]++;
        if (g->tricks[i] != BMN_ENDS)
            g->counts.gave[make][cards] += bmn_grow_meet(g, g->tricks[i], &g->on[i]);
    }
}

/* Enters the cycles that the first `size` positions of the batch lead into, which are not
 * candidates. */
static void bmn_grow_take_in(bmn_grow *g, size_t size)
{
    bmn_grow_play(g, size);
    for (size_t i = 0; i < size; i++)
        bmn_grow_meet(g, g->tricks[i], &g->on[i]);
}

/* Plays `batches` batches of random small positions of any split. */
static void bmn_grow_seeds(bmn_grow *g, uint64_t batches)
{
    int high = (int)g->cards < BMN_GROW_SEED_HIGH ? (int)g->cards : BMN_GROW_SEED_HIGH;
    int low = high < BMN_GROW_SEED_LOW ? high : BMN_GROW_SEED_LOW;
    for (; batches > 0 && !g->no_memory; batches--) {
        for (size_t i = 0; i < BMN_GROW_BATCH; i++) {
            int cards = low + bmn_grow_die(g, high - low + 1);
            bmn_packed deal = {.total = (uint8_t)cards,
                               .split = (uint8_t)(1 + bmn_grow_die(g, cards - 1))};
            int pay = 1 + bmn_grow_die(g, cards / 2);
            for (pay = pay < (int)g->pay ? pay : (int)g->pay; pay > 0; pay--)
                bmn_set_card(&deal, bmn_grow_die(g, cards), g->code[bmn_grow_die(g, g->codes)]);
            g->batch[i] = deal;
            g->make[i] = BMN_SEED;
        }
        bmn_grow_reap(g, BMN_GROW_BATCH);
    }
}

/* Enters the cycle, if any, that a position leads into. */
static void bmn_grow_found(void *growth, const bmn_packed *deal)
{
    bmn_grow *g = growth;
    bmn_position on;
    int tricks = bmn_fate_of(bmn_position_of(deal), &g->law, &g->familiar, &on);
    bmn_grow_meet(g, tricks, &on);
}

/* Enters the cycles of one pass, this share of `shares`, with at most `length` cards in the run,
 * and two thirds of the plain and of the pay cards of the deck, in which the holder gets `least`
 * cards. Returns the steps taken. */
static uint64_t bmn_grow_passes(bmn_grow *g, uint64_t pays, int held, int shift, int length,
                                int least, uint32_t share, uint32_t shares)
{
    bmn_pass_search search = {.law = &g->law,
                              .held = held,
                              .shift = shift,
                              .length = length,
                              .plain = 2 * (int)g->want[0] / 3,
                              .pay = (2 * (int)g->pay + 2) / 3,
                              .least = least,
                              .share = share,
                              .shares = shares,
                              .found = bmn_grow_found,
                              .to = g};
    for (int ranks = 1; ranks < 16; ranks++)
        for (int code = 1; code <= 4; code++)
            if (ranks >> (code - 1) & 1)
                search.there[ranks >> 3] += (uint64_t)g->want[code] << 8 * (ranks & 7);
    bmn_pass_all(&search, pays);
    return search.steps;
}

/* Plays `batches` batches of children; false if there is no parent. */
static bool bmn_grow_run(bmn_grow *g, uint64_t batches)
{
    bool any = false;
    for (int level = 0; level < BMN_GROW_LEVELS; level++)
        any |= g->in_level[level] > 0;
    for (; any && batches > 0 && !g->no_memory; batches--) {
        size_t size = 0; /* a small archive may have few children that were not made before */
        for (int parents = 0; size < BMN_GROW_BATCH && parents < BMN_GROW_BATCH; parents++)
            size = bmn_breed(g, size);
        bmn_grow_reap(g, size);
    }
    return any;
}

static void bmn_grow_init(bmn_grow *g, const uint32_t want[5], const bmn_rules *rules, int kernel,
                          uint64_t seed)
{
    uint8_t ranks = 0;
    memset(g, 0, sizeof *g);
    for (int code = 0; code < 5; code++) {
        g->want[code] = want[code];
        g->cards += want[code];
        if (code && want[code]) {
            g->pay += want[code];
            g->code[g->codes++] = code;
            ranks |= (uint8_t)(1 << (code - 1));
        }
    }
    g->law = bmn_law_of(rules, ranks);
    g->fates = bmn_kernel_fates(kernel);
    g->random = bmn_xoshiro_seed(seed);
}

static void bmn_grow_free(bmn_grow *g)
{
    for (int level = 0; level < BMN_GROW_LEVELS; level++)
        for (int balance = 0; balance < 64; balance++)
            free(g->shelf[level][balance].cell);
    free(g->seen);
    free(g->exact);
}
#endif
