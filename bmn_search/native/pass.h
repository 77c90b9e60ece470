/* pass.h - cycles of one pass, found whole by dealing lazily.
 *
 * What.  Cycles of long packets mostly go like this: one player, the holder, has the same short
 * packet again and again, as "--J-", and between two such times the other one, whose packet is a
 * queue, lays a run of cards and takes as many (runs.h).  In the simplest case the whole queue goes
 * through once, and comes out as it was.  The longer such a run, and the larger the holder's packet
 * in between, the rarer it is among random positions; growth from smaller ones hardly gets there.
 *
 * How.  The queue is not known: a card of it is dealt when it is laid, as plain or as a pay card
 * whose ranks are narrowed down by what it tells of itself.  (Answered or paid: both are tried.)
 * The condition that the queue comes out as it went in is used at once: it is won in the order in
 * which it will be laid again, so the card won as number i has to be like the one laid as number
 * i - shift, or is the next one to be laid.  So nearly every card that the queue wins is a test,
 * and only as many cards are free as the holder gains meanwhile.  `shift` is the number of cards by
 * which the pass begins later in the queue each time.
 *
 * The search is complete: all passes up to a length, with at most so many plain and pay cards, the
 * pay cards together of ranks that the deck has, in which the holder gets `least` cards.  It is cut
 * into shares by the first free cards; a share that takes too many steps, as with many pay cards,
 * is cut off.  What is found is played like any other candidate.
 *
 * Why fast.  A step changes a few bytes.  The lists of cards only grow, so to go back is to forget
 * how long they have become; what is known of cards is put back from a trail, as in logic
 * programming (D. H. D. Warren, "An abstract Prolog instruction set", SRI Technical Note 309,
 * 1983). Whether the deck has pay cards for all is asked of all sets of ranks at once, a byte each.
 *
 * Measured (docs/grow.md): 1,093 million steps from "--J-" for runs of up to 36 cards, half a
 * minute of one core.
 */
#ifndef BMN_PASS_H
#define BMN_PASS_H

#include "position.h"

enum {
    BMN_PASS_SPLIT = 10,       /* free cards after which the shares part */
    BMN_PASS_STEPS = 30000000, /* of a search, which then is cut off: about a second */
    BMN_PASS_LAID = 64 * 16,   /* cards: at most 15 of the holder to one of the queue */
    BMN_PASS_LIKE = 64,
};

typedef struct {
    const bmn_law *law;
    uint64_t there[2];            /* pay cards of the deck, a byte for each set of ranks */
    int held, shift, length;      /* cards of the holder, as told above, of the run at most */
    int plain, pay, least;        /* cards at most; the holder's largest packet at least */
    uint32_t share, shares, part; /* this one of so many; parts met so far */
    uint64_t steps;
    void (*found)(void *to, const bmn_packed *deal);
    void *to;
    /* Cards are numbered, the holder's first. These lists are written at their ends only. */
    uint8_t pays[64], laid[64], won[64]; /* pay cards; laid by the queue; won by it */
    uint8_t packet[BMN_PASS_LAID], table[BMN_PASS_LAID]; /* what the holder got; what was laid */
    /* Of each card its ranks, none for a plain one, and then a card that it has to be like. */
    uint8_t fact[BMN_PASS_LIKE + 64];
    struct {
        uint8_t which, was;
    } trail[4 * BMN_PASS_LAID]; /* facts that have changed */
    uint32_t changes;
} bmn_pass_search;

/* A pass as far as it is dealt: mostly how long the lists are. The holder has packet[first] to
 * packet[end - 1], and the pile is what lies from table[pile] on. */
typedef struct {
    int first, end, pile, table, pay, laid, won, laying, owner;
    int last, paid; /* the last pay card, -1: none, and what was laid for it */
    int cards, dealt, plain, largest;
} bmn_pass;

static void bmn_pass_go(bmn_pass_search *search, bmn_pass *pass);

BMN_INLINE void bmn_pass_learn(bmn_pass_search *search, int which, int fact)
{
    search->trail[search->changes].which = (uint8_t)which;
    search->trail[search->changes++].was = search->fact[which];
    search->fact[which] = (uint8_t)fact;
}

/* Forgets all but the first `changes` changes. */
BMN_INLINE void bmn_pass_forget(bmn_pass_search *search, uint32_t changes)
{
    while (search->changes > changes) {
        search->changes--;
        search->fact[search->trail[search->changes].which] = search->trail[search->changes].was;
    }
}

BMN_INLINE int bmn_pass_root(const bmn_pass_search *search, int card)
{
    while (search->fact[BMN_PASS_LIKE + card] != card)
        card = search->fact[BMN_PASS_LIKE + card];
    return card;
}

/* Takes two cards to be alike; false if they cannot be. */
static bool bmn_pass_unite(bmn_pass_search *search, int one, int other)
{
    one = bmn_pass_root(search, one);
    other = bmn_pass_root(search, other);
    uint8_t both = search->fact[one] & search->fact[other];
    if (one == other)
        return true;
    if (!both && (search->fact[one] || search->fact[other]))
        return false;
    bmn_pass_learn(search, BMN_PASS_LIKE + other, one);
    bmn_pass_learn(search, one, both);
    return true;
}

/* Whether the deck has pay cards for all: for each set of ranks, as many as can have no other. */
static bool bmn_pass_fits(const bmn_pass_search *search, const bmn_pass *pass)
{
    const uint64_t top = UINT64_C(0x8080808080808080);
    uint64_t needed[2] = {0, 0};
    for (int i = 0; i < pass->pay; i++) {
        int ranks = search->fact[bmn_pass_root(search, search->pays[i])];
        needed[ranks >> 3] += UINT64_C(1) << 8 * (ranks & 7);
    }
    for (int half = 0; half < 2; half++) { /* for each set the sum over its subsets */
        needed[half] += (needed[half] & UINT64_C(0x00ff00ff00ff00ff)) << 8;
        needed[half] += (needed[half] & UINT64_C(0x0000ffff0000ffff)) << 16;
        needed[half] += needed[half] << 32;
    }
    needed[1] += needed[0];
    return (((search->there[0] | top) - needed[0]) & ((search->there[1] | top) - needed[1]) &
            top) == top;
}

static void bmn_pass_tell(bmn_pass_search *search, const bmn_pass *pass)
{
    int queue = pass->laid - search->shift, held = search->held;
    bmn_packed deal = {.split = (uint8_t)held, .total = (uint8_t)(queue + held)};
    for (int place = 0; place < deal.total; place++) {
        int card = bmn_pass_root(search, place < held ? place : search->laid[place - held]);
        int code = 0;
        for (int other = 4; other > 0; other--)
            if (search->fact[card] >> (other - 1) & 1)
                code = other;
        bmn_set_card(&deal, place, code);
    }
    search->found(search->to, &deal);
}

/* Whether the holder has the first packet again, and the queue ends as it has to. */
static bool bmn_pass_closes(bmn_pass_search *search, const bmn_pass *pass)
{
    bool closes = pass->laying == 0 && pass->end - pass->first == search->held &&
                  pass->won == pass->laid && pass->laid > search->shift;
    for (int i = 0; closes && i < search->held; i++)
        closes = bmn_pass_unite(search, i, search->packet[pass->first + i]);
    for (int i = 0; closes && i < search->shift; i++)
        closes =
            bmn_pass_unite(search, search->won[i], search->laid[pass->laid - search->shift + i]);
    return closes;
}

/* The last debt is paid: its owner takes the pile. */
static void bmn_pass_take(bmn_pass_search *search, bmn_pass *pass)
{
    for (; pass->pile < pass->table; pass->pile++) {
        int card = search->table[pass->pile], at = pass->won - search->shift;
        if (pass->owner == 0) {
            search->packet[pass->end++] = (uint8_t)card;
            continue;
        }
        if (pass->won == search->length)
            return;
        search->won[pass->won++] = (uint8_t)card;
        if (at >= 0 && at < pass->laid && !bmn_pass_unite(search, card, search->laid[at]))
            return;
    }
    if (pass->first == pass->end || !bmn_pass_fits(search, pass))
        return;
    int size = pass->end - pass->first;
    pass->largest = size > pass->largest ? size : pass->largest;
    pass->laying = pass->owner ^ search->law->rules.payer_leads;
    pass->last = -1;
    uint32_t changes = search->changes;
    if (bmn_pass_closes(search, pass)) {
        if (pass->largest >= search->least)
            bmn_pass_tell(search, pass);
        return;
    }
    bmn_pass_forget(search, changes);
    bmn_pass_go(search, pass);
}

/* A card is laid. */
static void bmn_pass_lay(bmn_pass_search *search, bmn_pass *pass, int card)
{
    const bmn_law *law = search->law;
    int debtor = pass->last < 0 ? -1 : bmn_pass_root(search, pass->last);
    search->table[pass->table++] = (uint8_t)card;
    if (search->fact[bmn_pass_root(search, card)]) {
        if (debtor >= 0) {
            uint8_t over = search->fact[debtor] & law->over[pass->paid];
            if (!over)
                return;
            bmn_pass_learn(search, debtor, over);
        }
        pass->last = card;
        pass->paid = 0;
        pass->owner = pass->laying;
    }
    if (debtor < 0 || pass->last == card) {
        pass->laying ^= 1;
        bmn_pass_go(search, pass);
        return;
    }
    uint8_t may = search->fact[debtor], exact = may & law->exact[++pass->paid],
            over = may & law->over[pass->paid];
    uint32_t changes = search->changes;
    if (over) {
        bmn_pass on = *pass;
        bmn_pass_learn(search, debtor, over);
        bmn_pass_go(search, &on);
        bmn_pass_forget(search, changes);
    }
    if (exact) {
        bmn_pass_learn(search, debtor, exact);
        bmn_pass_take(search, pass);
    }
}

/* Deals the next card of the queue. */
static void bmn_pass_deal(bmn_pass_search *search, bmn_pass *pass)
{
    int number = pass->laid++, card = pass->cards++;
    uint32_t changes = search->changes;
    if (pass->dealt++ == BMN_PASS_SPLIT && search->part++ % search->shares != search->share)
        return;
    search->laid[number] = search->fact[BMN_PASS_LIKE + card] = (uint8_t)card;
    if (pass->pay < search->pay) {
        bmn_pass on = *pass;
        search->fact[card] = search->law->ranks;
        search->pays[on.pay++] = (uint8_t)card;
        bmn_pass_lay(search, &on, card);
        bmn_pass_forget(search, changes);
    }
    if (pass->plain < search->plain) {
        pass->plain++;
        search->fact[card] = 0;
        bmn_pass_lay(search, pass, card);
    }
}

static void bmn_pass_go(bmn_pass_search *search, bmn_pass *pass)
{
    if (search->steps == BMN_PASS_STEPS)
        return;
    search->steps++;
    if (pass->laying == 0) {
        if (pass->first == pass->end)
            return;
        int card = search->packet[pass->first++];
        bmn_pass_lay(search, pass, card);
    } else if (pass->laid < search->length) {
        int won = pass->laid + search->shift;
        if (won >= pass->won) {
            bmn_pass_deal(search, pass);
            return;
        }
        search->laid[pass->laid++] = search->won[won];
        bmn_pass_lay(search, pass, search->won[won]);
    }
}

/* Looks for the passes of a holder who leads and has `held` cards, pay cards where a bit of `pays`
 * is set.  The holder's cards and the run are at most 63. */
static void bmn_pass_all(bmn_pass_search *search, uint64_t pays)
{
    bmn_pass pass = {.last = -1};
    for (int card = 0; card < search->held; card++) {
        bool pay = pays >> card & 1;
        search->fact[card] = pay ? search->law->ranks : 0;
        search->fact[BMN_PASS_LIKE + card] = search->packet[card] = (uint8_t)card;
        if (pay)
            search->pays[pass.pay++] = (uint8_t)card;
        pass.plain += !pay;
    }
    pass.cards = pass.end = pass.largest = search->held;
    bmn_pass_go(search, &pass);
}
#endif
