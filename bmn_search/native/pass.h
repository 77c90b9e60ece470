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
 * Measured (docs/grow.md): 739 million steps from "--J-" for runs of 32 cards, a minute of one
 * core.
 */
#ifndef BMN_PASS_H
#define BMN_PASS_H

#include "position.h"

enum {
    BMN_PASS_SPLIT = 10,       /* free cards after which the shares part */
    BMN_PASS_STEPS = 30000000, /* of a search, which then is cut off: a second or two */
};

typedef struct {
    const bmn_law *law;
    uint8_t there[16];            /* pay cards of the deck, for each set of ranks */
    int held, shift, length;      /* cards of the holder, as told above, of the run at most */
    int plain, pay, least;        /* cards at most; the holder's largest packet at least */
    uint32_t share, shares, part; /* this one of so many; parts met so far */
    uint64_t steps;
    void (*found)(void *to, const bmn_packed *deal);
    void *to;
} bmn_pass_search;

/* A pass as far as it is dealt.  Cards are numbered, the holder's first. */
typedef struct {
    uint8_t may[64], like[64];           /* ranks, 0: plain; a card that it has to be like */
    uint8_t packet[64];                  /* the holder's, a ring */
    uint8_t laid[64], won[64], pile[64]; /* by the queue, by the queue, on the table */
    uint8_t first, size, laying, owner, last, paid; /* last: the last pay card, 255: none */
    uint8_t cards, dealt, plain, pay, laid_count, won_count, pile_count, largest;
} bmn_pass;

static void bmn_pass_go(bmn_pass_search *search, bmn_pass *pass);

static int bmn_pass_root(const bmn_pass *pass, int card)
{
    while (pass->like[card] != card)
        card = pass->like[card];
    return card;
}

/* Takes two cards to be alike; false if they cannot be. */
static bool bmn_pass_unite(bmn_pass *pass, int one, int other)
{
    one = bmn_pass_root(pass, one);
    other = bmn_pass_root(pass, other);
    uint8_t both = pass->may[one] & pass->may[other];
    if (one != other && !both && (pass->may[one] || pass->may[other]))
        return false;
    pass->like[other] = (uint8_t)one;
    pass->may[one] = both;
    return true;
}

/* Whether the deck has pay cards for all: for each set of ranks, as many as can have no other. */
static bool bmn_pass_fits(const bmn_pass_search *search, const bmn_pass *pass)
{
    uint8_t needed[16] = {0};
    for (int card = 0; card < pass->cards; card++)
        needed[pass->may[bmn_pass_root(pass, card)]]++;
    needed[0] = 0; /* the plain cards */
    for (int rank = 1; rank < 16; rank *= 2)
        for (int ranks = 1; ranks < 16; ranks++)
            needed[ranks] += ranks & rank ? needed[ranks ^ rank] : 0;
    for (int ranks = 1; ranks < 16; ranks++)
        if (needed[ranks] > search->there[ranks])
            return false;
    return true;
}

static void bmn_pass_tell(bmn_pass_search *search, const bmn_pass *pass)
{
    int queue = pass->laid_count - search->shift, held = search->held;
    bmn_packed deal = {.split = (uint8_t)held, .total = (uint8_t)(queue + held)};
    for (int place = 0; place < deal.total; place++) {
        int card = bmn_pass_root(pass, place < held ? place : pass->laid[place - held]), code = 0;
        for (int other = 4; other > 0; other--)
            if (pass->may[card] >> (other - 1) & 1)
                code = other;
        bmn_set_card(&deal, place, code);
    }
    search->found(search->to, &deal);
}

/* Whether the holder has the first packet again, and the queue ends as it has to. */
static bool bmn_pass_closes(const bmn_pass_search *search, bmn_pass *pass)
{
    bool closes = pass->laying == 0 && pass->size == search->held &&
                  pass->won_count == pass->laid_count && pass->laid_count > search->shift;
    for (int i = 0; closes && i < search->held; i++)
        closes = bmn_pass_unite(pass, i, pass->packet[(pass->first + i) & 63]);
    for (int i = 0; closes && i < search->shift; i++)
        closes =
            bmn_pass_unite(pass, pass->won[i], pass->laid[pass->laid_count - search->shift + i]);
    return closes;
}

/* The last debt is paid: its owner takes the pile. */
static void bmn_pass_take(bmn_pass_search *search, bmn_pass *pass)
{
    for (int i = 0; i < pass->pile_count; i++) {
        int card = pass->pile[i], at = pass->won_count - search->shift;
        if (pass->owner == 0) {
            pass->packet[(pass->first + pass->size++) & 63] = (uint8_t)card;
            continue;
        }
        if (pass->won_count == search->length)
            return;
        pass->won[pass->won_count++] = (uint8_t)card;
        if (at >= 0 && at < pass->laid_count && !bmn_pass_unite(pass, card, pass->laid[at]))
            return;
    }
    if (!pass->size || !bmn_pass_fits(search, pass))
        return;
    pass->largest = pass->size > pass->largest ? pass->size : pass->largest;
    pass->laying = pass->owner ^ search->law->payer_leads;
    pass->pile_count = 0;
    pass->last = 255;
    bmn_pass closed = *pass;
    if (!bmn_pass_closes(search, &closed))
        bmn_pass_go(search, pass);
    else if (closed.largest >= search->least)
        bmn_pass_tell(search, &closed);
}

/* A card is laid. */
static void bmn_pass_lay(bmn_pass_search *search, bmn_pass *pass, int card)
{
    const bmn_law *law = search->law;
    int debtor = pass->last == 255 ? -1 : bmn_pass_root(pass, pass->last);
    pass->pile[pass->pile_count++] = (uint8_t)card;
    if (pass->may[bmn_pass_root(pass, card)]) {
        if (debtor >= 0 && !(pass->may[debtor] &= law->over[pass->paid]))
            return;
        pass->last = (uint8_t)card;
        pass->paid = 0;
        pass->owner = pass->laying;
    }
    if (debtor < 0 || pass->last == card) {
        pass->laying ^= 1;
        bmn_pass_go(search, pass);
        return;
    }
    uint8_t may = pass->may[debtor], exact = may & law->exact[++pass->paid],
            over = may & law->over[pass->paid];
    if (over) {
        bmn_pass on = *pass;
        on.may[debtor] = over;
        bmn_pass_go(search, &on);
    }
    if (exact) {
        pass->may[debtor] = exact;
        bmn_pass_take(search, pass);
    }
}

/* Deals the next card of the queue. */
static void bmn_pass_deal(bmn_pass_search *search, bmn_pass *pass)
{
    int number = pass->laid_count++, card = pass->cards++;
    if (pass->dealt++ == BMN_PASS_SPLIT && search->part++ % search->shares != search->share)
        return;
    pass->laid[number] = pass->like[card] = (uint8_t)card;
    if (pass->pay < search->pay) {
        bmn_pass on = *pass;
        on.pay++;
        on.may[card] = search->law->ranks;
        bmn_pass_lay(search, &on, card);
    }
    if (pass->plain < search->plain) {
        pass->plain++;
        pass->may[card] = 0;
        bmn_pass_lay(search, pass, card);
    }
}

static void bmn_pass_go(bmn_pass_search *search, bmn_pass *pass)
{
    if (search->steps == BMN_PASS_STEPS)
        return;
    search->steps++;
    if (pass->laying == 0) {
        if (pass->size == 0)
            return;
        pass->size--;
        bmn_pass_lay(search, pass, pass->packet[pass->first++ & 63]);
    } else if (pass->laid_count < search->length) {
        int won = pass->laid_count + search->shift;
        if (won >= pass->won_count) {
            bmn_pass_deal(search, pass);
            return;
        }
        pass->laid[pass->laid_count++] = pass->won[won];
        bmn_pass_lay(search, pass, pass->won[won]);
    }
}

/* Looks for the passes of a holder who leads and has `held` cards, pay cards where a bit of `pays`
 * is set.  The holder's cards and the run are at most 63. */
static void bmn_pass_all(bmn_pass_search *search, uint64_t pays)
{
    bmn_pass pass = {.last = 255};
    for (int card = 0; card < search->held; card++) {
        bool pay = pays >> card & 1;
        pass.may[card] = pay ? search->law->ranks : 0;
        pass.like[card] = pass.packet[card] = (uint8_t)card;
        pass.pay += pay;
        pass.plain += !pay;
    }
    pass.cards = pass.size = pass.largest = (uint8_t)search->held;
    bmn_pass_go(search, &pass);
}
#endif
