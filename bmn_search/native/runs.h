/* runs.h - runs: what may be taken out of a cycle, or put into one, and leave the rest as it is.
 *
 * On many cycles one player, the holder, has the same short packet again and again, as "--J-". What
 * the other one, whose packet is a queue, lays between two such times is a run; as much is won
 * meanwhile. While the run is at its place nothing before or behind it in the queue is felt, so a
 * cycle without the run, or with one more from another cycle whose holder has the same packet,
 * mostly never ends either. Runs that come out as they went in can be put together like bricks: a
 * large one in which the holder gets many cards, from `pass.h`, and small ones until the deck is
 * the wanted one.
 *
 * Runs are kept on racks, one for each packet of a holder. Whether a candidate is a cycle is found
 * by playing it, so nothing here has to be exact.
 *
 * Measured: docs/grow.md.
 */
#ifndef BMN_RUNS_H
#define BMN_RUNS_H

#include "turn.h"

enum {
    BMN_RUN_BACK = 80,    /* tricks between two times of the same packet, at most */
    BMN_RUN_TRICKS = 256, /* of a turn that are looked at, and times that are listed */
    BMN_RUN_RACKS = 2048, /* a power of two */
    BMN_RUN_RACK = 32,    /* runs on a rack, replaced at random */
};

/* A time at which the holder has a short packet that recurs: which trick of the turn, who is the
 * holder (0 the leader), how many cards the queue laid since the last time, the key of the packet.
 */
typedef struct {
    uint64_t key;
    uint8_t trick, holder, laid;
} bmn_time;

typedef struct {
    uint64_t key;
    uint32_t credit, count;
    bmn_word_packet run[BMN_RUN_RACK];
} bmn_rack;

static uint64_t bmn_holder_key(const bmn_word_packet *packet, int holder)
{
    uint64_t key = bmn_mix(2 * packet->pay + (uint64_t)holder);
    return bmn_mix(bmn_mix(key + packet->low) + packet->high) | 1;
}

/* The last trick before this one at which the holder had the same packet; -1 if there is none. */
BMN_INLINE int bmn_last_time(const uint64_t key[BMN_RUN_TRICKS], int trick)
{
    int least = trick > BMN_RUN_BACK ? trick - BMN_RUN_BACK : 0, last = trick - 1;
    while (last >= least && key[last] != key[trick])
        last--;
    return last < least ? -1 : last;
}

/* Plays `tricks` tricks of a turn, at most BMN_RUN_TRICKS, from the first position on, fills in the
 * others and lists the times, at most so many too; returns how many. */
static int bmn_find_times(bmn_position position[BMN_RUN_TRICKS], int tricks, const bmn_law *law,
                          bmn_time time[BMN_RUN_TRICKS])
{
    uint64_t key[2][BMN_RUN_TRICKS];
    uint16_t laid[2][BMN_RUN_TRICKS + 1] = {{0}}; /* by the queue of each holder, until then */
    int count = 0;
    bool exchanged = false; /* a player's side is their number, turned over if this is set */
    for (int trick = 0; trick < tricks; trick++) {
        const bmn_position *now = &position[trick];
        bmn_position next;
        int before[2] = {now->side[exchanged].size, now->side[!exchanged].size};
        for (int holder = 0; holder < 2; holder++) {
            const bmn_word_packet *packet = &now->side[holder ^ exchanged];
            bool is_short = packet->size <= BMN_SHORT_PACKET;
            key[holder][trick] = is_short ? bmn_holder_key(packet, holder ^ exchanged) : 0;
            int last = is_short ? bmn_last_time(key[holder], trick) : -1;
            int cards = last < 0 ? 0 : laid[holder][trick] - laid[holder][last];
            if (cards > 0 && cards <= before[!holder] && count < BMN_RUN_TRICKS)
                time[count++] = (bmn_time){key[holder][trick], (uint8_t)trick,
                                           (uint8_t)(holder ^ exchanged), (uint8_t)cards};
        }
        int pile = bmn_position_trick(now, &next, law, &exchanged, NULL);
        for (int holder = 0; holder < 2; holder++) {
            int side = !holder ^ exchanged, taken = side == law->rules.payer_leads ? pile : 0;
            laid[holder][trick + 1] =
                (uint16_t)(laid[holder][trick] + before[!holder] + taken - next.side[side].size);
        }
        if (trick + 1 < tricks)
            position[trick + 1] = next;
    }
    return count;
}

/* The rack of a key; NULL if another key has its place.  That one loses it when it has been asked
 * for less often. */
static bmn_rack *bmn_rack_of(bmn_rack *racks, uint64_t key)
{
    bmn_rack *rack = &racks[key >> 48 & (BMN_RUN_RACKS - 1)];
    if (rack->key != key && rack->credit > 0) {
        rack->credit--;
        return NULL;
    }
    if (rack->key != key)
        *rack = (bmn_rack){.key = key};
    rack->credit++;
    return rack;
}

/* Parts the last `cards` cards from a packet; the run gets them. */
static void bmn_part(bmn_word_packet *packet, int cards, bmn_word_packet *run)
{
    int left = packet->size - cards;
    uint64_t below = bmn_low_bits(left);
    *run = *packet;
    bmn_lay(run, left);
    packet->pay = (packet->pay & below) | UINT64_C(1) << left;
    packet->low &= below;
    packet->high &= below;
    packet->size = left;
}

/* Adds a run to the end of a packet; together they have at most 63 cards. */
static void bmn_join(bmn_word_packet *packet, const bmn_word_packet *run)
{
    packet->pay = (packet->pay ^ UINT64_C(1) << packet->size) | run->pay << packet->size;
    packet->low |= run->low << packet->size;
    packet->high |= run->high << packet->size;
    packet->size += run->size;
}
#endif
