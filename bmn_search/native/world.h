/* world.h - every position of a small deck, and where play from it leads.
 *
 * What.  A position, relative to the player who leads, is the leader's packet followed by the other
 * one: an arrangement of the deck's cards and a split 1..n-1.  Its index is
 *
 *     (split - 1) * arrangements + rank of the arrangement in dictionary order of the codes
 *
 * so the least index on a cycle is its canonical position.  One trick maps every position to
 * another one or ends the game.  `link`, 32 bits a position, holds that map, and is then turned
 * in place into the answer:
 *
 *     0 0 next position        from bmn_world_play
 *     0 1 previous position    on the path that is being followed
 *     1 shell                  the positions at one distance from one cycle, or from the end
 *
 * How.  First all tricks are played, in order of arrangement and split, so that nothing is read at
 * random.  Then each position is followed until something is known: a shell, or the path itself,
 * which has then closed a new cycle.  The path is kept as reversed links (as in Schorr and Waite,
 * "An efficient machine-independent procedure for garbage collection in various list structures",
 * CACM 10, 1967), so it needs no memory; going back, each position gets the shell one farther out
 * than the one before.  A shell counts its positions, so cycles, basins, depths and the lengths
 * of finite games need no further pass.
 *
 * Measured on half20, 66,279,600 positions: 363 instructions a position (callgrind), 51 of them to
 * lay out arrangements and store links, 236 to play a trick and rank what it leaves, 76 to follow.
 * Following waits for memory: fetching the first step of positions ahead makes it 1.5 times as
 * fast. All takes 5 to 10 s on one core of a shared machine.  Tried: ranks of the tails of an
 * arrangement kept for all its splits, 1.6 % fewer instructions, dropped.
 */
#ifndef BMN_WORLD_H
#define BMN_WORLD_H

#include <stdbool.h>
#include <stdlib.h>

#include "batch.h"

#define BMN_LINK_BACK (UINT32_C(1) << 30)
#define BMN_LINK_SHELL (UINT32_C(1) << 31)
#define BMN_GAME_OVER BMN_LINK_SHELL /* shell 0: the game ends with this trick */
#define BMN_NO_CYCLE UINT32_MAX

#if defined(__GNUC__) || defined(__clang__)
#define BMN_PREFETCH(address) __builtin_prefetch(address)
#else
#define BMN_PREFETCH(address) ((void)0)
#endif

enum {
    BMN_CODES = 5,
    BMN_STATE = 8,  /* table entries a state: one a code, rounded up */
    BMN_AHEAD = 32, /* positions between fetching the first step and taking it */
};

typedef struct {
    uint64_t positions, balanced; /* how many there are, and how many of them are balanced deals */
    uint32_t canonical;           /* the least index on the cycle; BMN_NO_CYCLE: the game ends */
    uint32_t distance;            /* tricks to the cycle, or to the end */
    uint32_t farther;             /* the shell one trick farther out; 0: not met yet */
    uint32_t unused;
} bmn_shell;

/* The rank of an arrangement is a sum over its cards: how many arrangements of the cards from there
 * on begin with a lesser code.  Which cards are left is one number, the state: how many of each
 * code, times the code's `stride`. */
typedef struct {
    uint32_t cards, arrangements;
    uint8_t penalty[BMN_CODES];
    bool payer_leads;
    uint32_t balanced;          /* cards in the leader's packet of a balanced deal */
    uint32_t stride[BMN_CODES]; /* in units of the table, BMN_STATE numbers a state */
    uint32_t full;              /* the state of the whole deck */
    uint32_t *less;             /* [state + code] */
    uint8_t *codes, *pile;      /* the arrangement that is being played */
    bmn_shell *shells;
    uint32_t shell_count, shell_room;
} bmn_world;

/* Adds a shell; returns its number, or UINT32_MAX for want of memory. */
static uint32_t bmn_world_add_shell(bmn_world *w, uint32_t canonical, uint32_t distance)
{
    if (w->shell_count == w->shell_room) {
        uint32_t room = w->shell_room ? 2 * w->shell_room : 64;
        bmn_shell *shells = realloc(w->shells, room * sizeof *shells);
        if (shells == NULL)
            return UINT32_MAX;
        w->shells = shells;
        w->shell_room = room;
    }
    w->shells[w->shell_count] = (bmn_shell){.canonical = canonical, .distance = distance};
    return w->shell_count++;
}

/* Fills the table from the arrangements of fewer cards: those that begin with a code are as many as
 * there are of the cards that are then left. */
static bool bmn_world_fill(bmn_world *w, const uint32_t count[BMN_CODES])
{
    size_t states = w->full / BMN_STATE + 1;
    uint32_t *ways = malloc(states * sizeof *ways);
    if (ways == NULL)
        return false;
    for (size_t state = 0; state < states; state++) {
        uint32_t sum = state == 0;
        for (int code = 0; code < BMN_CODES; code++) {
            size_t step = w->stride[code] / BMN_STATE;
            w->less[state * BMN_STATE + code] = sum;
            if (state / step % (count[code] + 1))
                sum += ways[state - step];
        }
        ways[state] = sum;
    }
    w->arrangements = ways[states - 1];
    free(ways);
    return true;
}

static void bmn_world_free(bmn_world *w)
{
    free(w->less);
    free(w->codes);
    free(w->pile);
    free(w->shells);
}

/* Prepares the world of a deck with at most 2^30 positions; false for want of memory.  Shell 0
 * are the positions whose game ends with the next trick. */
static bool bmn_world_init(bmn_world *w, const uint32_t count[BMN_CODES], const bmn_rules *rules)
{
    uint32_t states = 1;
    memset(w, 0, sizeof *w);
    for (int code = 0; code < BMN_CODES; code++) {
        w->penalty[code] = rules->penalty[code];
        w->stride[code] = states * BMN_STATE;
        states *= count[code] + 1;
        w->cards += count[code];
    }
    w->payer_leads = rules->payer_leads;
    w->balanced = w->cards - w->cards / 2;
    w->full = (states - 1) * BMN_STATE;
    w->less = malloc((size_t)states * BMN_STATE * sizeof *w->less);
    w->codes = malloc(w->cards);
    w->pile = malloc(w->cards);
    return w->less && w->codes && w->pile && bmn_world_fill(w, count) &&
           bmn_world_add_shell(w, BMN_NO_CYCLE, 1) == 0;
}

/* Lays out the arrangement of a rank. */
static void bmn_world_arrange(const bmn_world *w, uint32_t rank)
{
    uint32_t state = w->full;
    for (uint32_t i = 0; i < w->cards; i++) {
        int code = BMN_CODES - 1;
        while (w->less[state + code] > rank)
            code--;
        rank -= w->less[state + code];
        state -= w->stride[code];
        w->codes[i] = (uint8_t)code;
    }
}

/* Adds the share of some cards to a rank, and takes them from the state. */
BMN_INLINE void bmn_world_rank(const bmn_world *w, const uint8_t *cards, const uint8_t *end,
                               uint32_t *state, uint32_t *rank)
{
    for (; cards < end; cards++) {
        *rank += w->less[*state + *cards];
        *state -= w->stride[*cards];
    }
}

/* Plays one trick of the arrangement laid out; returns the link of the position. */
static uint32_t bmn_world_trick(const bmn_world *w, uint32_t split)
{
    const uint8_t *top[2] = {w->codes, w->codes + split};
    const uint8_t *end[2] = {w->codes + split, w->codes + w->cards};
    uint8_t *pile = w->pile;
    int debt = 0, turn = 0;
    for (;;) {
        if (top[turn] == end[turn])
            return BMN_GAME_OVER;
        uint8_t code = *top[turn]++;
        *pile++ = code;
        if (w->penalty[code]) {
            debt = w->penalty[code];
            turn ^= 1;
        } else if (debt == 0) {
            turn ^= 1;
        } else if (--debt == 0) {
            break;
        }
    }
    if (top[turn] == end[turn])
        return BMN_GAME_OVER;
    uint32_t state = w->full, rank = 0, left = (uint32_t)(end[turn] - top[turn]);
    if (w->payer_leads)
        bmn_world_rank(w, top[turn], end[turn], &state, &rank);
    bmn_world_rank(w, top[turn ^ 1], end[turn ^ 1], &state, &rank);
    bmn_world_rank(w, w->pile, pile, &state, &rank);
    if (!w->payer_leads) {
        bmn_world_rank(w, top[turn], end[turn], &state, &rank);
        left = w->cards - left;
    }
    return (left - 1) * w->arrangements + rank;
}

/* Puts a position into a shell. */
BMN_INLINE void bmn_world_enter(const bmn_world *w, uint32_t *link, uint32_t at, uint32_t shell)
{
    uint32_t first_balanced = (w->balanced - 1) * w->arrangements;
    link[at] = BMN_LINK_SHELL | shell;
    w->shells[shell].positions++;
    w->shells[shell].balanced += at - first_balanced < w->arrangements;
}

/* Plays one trick from every position of the arrangements first, ..., first + count - 1. */
static void bmn_world_play(const bmn_world *w, uint32_t *link, uint32_t first, uint32_t count)
{
    for (uint32_t rank = first; rank < first + count; rank++) {
        bmn_world_arrange(w, rank);
        for (uint32_t split = 1; split < w->cards; split++) {
            uint32_t at = (split - 1) * w->arrangements + rank;
            link[at] = bmn_world_trick(w, split);
            if (link[at] == BMN_GAME_OVER)
                bmn_world_enter(w, link, at, 0);
        }
    }
}

/* Puts the path that ends at `at` and began at `start` into shells, each one farther out than the
 * one before, beginning after `shell`. False for want of memory. */
static bool bmn_world_go_back(bmn_world *w, uint32_t *link, uint32_t start, uint32_t at,
                              uint32_t shell)
{
    for (;;) {
        uint32_t back = link[at] & ~BMN_LINK_BACK, farther = w->shells[shell].farther;
        if (farther == 0) {
            farther =
                bmn_world_add_shell(w, w->shells[shell].canonical, w->shells[shell].distance + 1);
            if (farther == UINT32_MAX)
                return false;
            w->shells[shell].farther = farther;
        }
        bmn_world_enter(w, link, at, farther);
        if (at == start)
            return true;
        at = back;
        shell = farther;
    }
}

/* Enters a new cycle, the end of a path, from position `entry` to `last`, which leads to `entry`
 * again; and then the rest of the path. False for want of memory. */
static bool bmn_world_close(bmn_world *w, uint32_t *link, uint32_t start, uint32_t entry,
                            uint32_t last)
{
    uint32_t least = entry, back = link[entry] & ~BMN_LINK_BACK;
    for (uint32_t at = last; at != entry; at = link[at] & ~BMN_LINK_BACK)
        least = at < least ? at : least;
    uint32_t shell = bmn_world_add_shell(w, least, 0);
    if (shell == UINT32_MAX)
        return false;
    for (uint32_t at = last; at != entry;) {
        uint32_t before = link[at] & ~BMN_LINK_BACK;
        bmn_world_enter(w, link, at, shell);
        at = before;
    }
    bmn_world_enter(w, link, entry, shell);
    return entry == start || bmn_world_go_back(w, link, start, back, shell);
}

/* Follows play from a position that is in no shell, and puts all that it meets into shells. */
static bool bmn_world_follow_one(bmn_world *w, uint32_t *link, uint32_t start)
{
    uint32_t back = start, at = start;
    for (;;) {
        uint32_t next = link[at];
        link[at] = BMN_LINK_BACK | back;
        if (link[next] & BMN_LINK_SHELL)
            return bmn_world_go_back(w, link, start, at, link[next] & ~BMN_LINK_SHELL);
        if (link[next] & BMN_LINK_BACK)
            return bmn_world_close(w, link, start, next, at);
        back = at;
        at = next;
    }
}

/* Follows play from the positions first, ..., first + count - 1, once all have been played. False
 * for want of memory. */
static bool bmn_world_follow(bmn_world *w, uint32_t *link, uint32_t first, uint32_t count)
{
    uint32_t end = first + count;
    for (uint32_t at = first; at < end; at++) {
        uint32_t soon = link[at + BMN_AHEAD < end ? at + BMN_AHEAD : at];
        if (soon < BMN_LINK_BACK)
            BMN_PREFETCH(&link[soon]);
        if (!(link[at] & BMN_LINK_SHELL) && !bmn_world_follow_one(w, link, at))
            return false;
    }
    return true;
}

#endif
