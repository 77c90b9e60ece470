/* sharing.h - many deals at once: a card is decided when it is turned, and what comes to the same
 * is played once.
 *
 * What.  All deals that begin with some given cards, counted exactly, with far fewer games played
 * than there are deals.
 *
 * Algorithm.  A position may hold cards that nobody has seen: UNTURNED, a code of its own. It
 * stands for every way to fill these places with the cards that are not elsewhere.  The deals to be
 * counted begin as one such position, or a few. Play goes on from it trick by trick. Where an
 * unturned card is turned it becomes each symbol that is left, one after the other, so that all
 * deals share the play up to the card in which they differ. Three things are exactly equivalent:
 *   - A game that ends before all cards are turned settles every deal with the same turned cards: a
 *     multinomial coefficient counts them.
 *   - Positions between two tricks are told apart relative to the leader, so that exchanged players
 *     are alike, and equal positions are one, whatever cards were unturned before: only the numbers
 *     of cards laid on the way differ, and each keeps the number of deals that it took.
 *   - After that the game is decided, however many deals led here.
 * When few positions meet any more, those without unturned cards are played to their end by the
 * batch kernels.
 *
 * Why fast.  Meeting is a matter of memory: a table of all positions of a level costs a cache miss
 * each. So the positions that a level leads to are first thrown into BMN_BUCKETS heaps by their
 * hash, written one after the other, and each heap is then sorted out in a table that fits the
 * cache. Runs of plain cards are laid with one shift.
 *
 * Which deals they were is not kept: `roots` are the positions from which the longest games and the
 * loops went on, and backward play (ancestry.h) leads from there to the deals. That also proves the
 * count: both ways must give the same number of loops.
 *
 * Measured (docs/exhaustive.md): 7.3 times fewer games than deals for half20, 5 to 7,000 times for
 * most small decks; but 350 to 430 ns a deal of half20 where playing each takes 107, since a vector
 * kernel plays a whole game of a small deck while one position is brought together with its like.
 */
#ifndef BMN_SHARING_H
#define BMN_SHARING_H

#include "exhaust.h"

enum { BMN_UNTURNED = 7, BMN_BUCKETS = 256 };

/* So many games (or turned parts of games) have come to a position by laying so many cards. */
typedef struct {
    uint32_t games, cards;
} bmn_way;

/* A position and the ways to it; before those of equal positions are brought together, one way. */
typedef struct {
    uint64_t plane[3];
    uint16_t split;
    union {
        uint16_t ways; /* how many */
        uint16_t cards;
    };
    union {
        uint32_t first; /* way of the level */
        uint32_t games;
    };
} bmn_node;

_Static_assert(sizeof(bmn_node) == 32, "a position is half a cache line");

typedef struct {
    bmn_node *node;
    size_t count, room;
} bmn_nodes;

/* The positions after so many tricks, and the ways to all of them. */
typedef struct {
    bmn_nodes nodes;
    bmn_way *way;
    size_t way_count, way_room;
} bmn_level;

/* Where longest games or loops went on. */
typedef struct {
    bmn_nodes nodes;
    bool hidden; /* a game that counts here ended before its position could be entered */
} bmn_roots;

enum { BMN_LOOPS = 2, BMN_ROOTS }; /* after those by cards and by tricks */

typedef struct {
    const bmn_job *job;
    bmn_tally *tally;
    uint32_t count[5], total; /* cards of the deck, by code and in all */
    uint64_t binomial[65][65];
    bmn_level level, next;
    bmn_nodes bucket[BMN_BUCKETS];
    uint32_t *slot, *same; /* to sort out a bucket */
    size_t slots, room;
    uint32_t *waiting; /* the numbers of the positions on the desk */
    size_t on_desk;
    uint32_t tricks; /* before the present trick */
    size_t arrived;  /* positions that it led to, before equal ones are brought together */
    bmn_roots roots[BMN_ROOTS];
    bool no_memory;
} bmn_share;

/* ---- arrays ---- */

static bool bmn_room_for(void *array, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return true;
    size_t more = *room ? *room : 256;
    while (more < count)
        more *= 2;
    void *larger = realloc(*(void **)array, more * size);
    if (larger == NULL)
        return false;
    *(void **)array = larger;
    *room = more;
    return true;
}

BMN_INLINE void bmn_push(bmn_share *share, bmn_nodes *nodes, const bmn_node *node)
{
    if (BMN_RARE(nodes->count == nodes->room) &&
        !bmn_room_for(&nodes->node, &nodes->room, nodes->count + 1, sizeof *node))
        share->no_memory = true;
    else
        nodes->node[nodes->count++] = *node;
}

BMN_INLINE uint64_t bmn_node_hash(const bmn_node *p)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (p->plane[0] + p->split) * factor;
    hash = ((hash ^ hash >> 32) + p->plane[1]) * factor;
    hash = ((hash ^ hash >> 32) + p->plane[2]) * factor;
    return hash ^ hash >> 32;
}

BMN_INLINE bool bmn_nodes_alike(const bmn_node *a, const bmn_node *b)
{
    return a->plane[0] == b->plane[0] && a->plane[1] == b->plane[1] && a->plane[2] == b->plane[2] &&
           a->split == b->split;
}

BMN_INLINE uint64_t bmn_unturned(const bmn_node *position)
{
    return position->plane[0] & position->plane[2];
}

/* ---- what games come to ---- */

/* A game of some length: is it the longest? Its position is entered; NULL if there is none. */
static void bmn_note_length(bmn_share *share, int by, uint64_t length, const bmn_node *position)
{
    bmn_roots *roots = &share->roots[by];
    if (length < share->tally->longest[by])
        return;
    if (length > share->tally->longest[by]) {
        share->tally->longest[by] = length;
        roots->nodes.count = 0;
        roots->hidden = false;
    }
    if (position == NULL)
        roots->hidden = true;
    else
        bmn_push(share, &roots->nodes, position);
}

/* Plays what is on the desk. */
static void bmn_clear_desk(bmn_share *share)
{
    const bmn_level *level = &share->level;
    bmn_tally *tally = share->tally;
    bmn_play_desk(share->job, share->on_desk);
    for (size_t i = 0; i < share->on_desk; i++) {
        const bmn_node *node = &level->nodes.node[share->waiting[i]];
        bmn_row row = bmn_desk_row(share->job, i);
        uint64_t games = 0;
        for (const bmn_way *way = level->way + node->first;
             way < level->way + node->first + node->ways; way++) {
            games += way->games;
            if (row.status != BMN_FINISHED)
                continue;
            bmn_count_length(tally, way->cards + row.cards, way->games);
            bmn_note_length(share, BMN_BY_CARDS, way->cards + row.cards, node);
        }
        tally->games += games;
        if (row.status == BMN_FINISHED) {
            bmn_note_length(share, BMN_BY_TRICKS, share->tricks + row.tricks, node);
            continue;
        }
        tally->loops += games;
        bmn_push(share, &share->roots[BMN_LOOPS].nodes, node);
    }
    tally->plays += share->on_desk;
    share->on_desk = 0;
}

/* Puts a position without unturned cards on the desk. */
static void bmn_hand_over(bmn_share *share, uint32_t number)
{
    const bmn_node *node = &share->level.nodes.node[number];
    bmn_packed *deal = &share->job->desk->packed[share->on_desk];
    memcpy(deal->plane, node->plane, sizeof deal->plane);
    deal->split = (uint8_t)node->split;
    deal->total = (uint8_t)share->total;
    share->waiting[share->on_desk++] = number;
    if (share->on_desk == BMN_BLOCK)
        bmn_clear_desk(share);
}

/* ---- one trick from a position, whatever its unturned cards are ---- */

typedef struct {
    bmn_share *share;
    const bmn_node *from;
    uint64_t stops;    /* places where a run of plain cards ends */
    uint64_t pile[3];  /* planes; what lies above the cards laid is left from another branch */
    uint32_t end[2];   /* places behind the packets of the leader and of the other player */
    uint32_t left[5];  /* cards of each code that are unturned */
    uint32_t unturned; /* all of them */
} bmn_tree;

/* A trick so far, in registers: the place of the next card of the player in turn and of the other
 * one, cards laid, cards owed (0: no pay card yet), whose turn it is. */
typedef struct {
    uint32_t mine, theirs, laid, debt, turn;
} bmn_branch;

/* In how many ways the unturned cards can lie. */
static uint64_t bmn_fillings(const bmn_tree *tree)
{
    uint64_t fillings = 1;
    uint32_t places = tree->unturned;
    for (int code = 0; places && code < 5; code++) {
        fillings *= tree->share->binomial[places][tree->left[code]];
        places -= tree->left[code];
    }
    return fillings;
}

/* The game is over. */
static void bmn_branch_ends(const bmn_tree *tree, uint32_t laid)
{
    const uint64_t fillings = bmn_fillings(tree);
    bmn_share *share = tree->share;
    const bmn_way *way = share->level.way + tree->from->first;
    for (uint32_t w = 0; w < tree->from->ways; w++) {
        bmn_count_length(share->tally, way[w].cards + laid, way[w].games * fillings);
        share->tally->games += way[w].games * fillings;
        bmn_note_length(share, BMN_BY_CARDS, way[w].cards + laid, NULL);
    }
    bmn_note_length(share, BMN_BY_TRICKS, share->tricks + 1, NULL);
}

/* The debt is paid in full: the other player takes the pile. */
static void bmn_branch_taken(const bmn_tree *tree, bmn_branch branch)
{
    bmn_share *share = tree->share;
    const uint32_t payer_kept = tree->end[branch.turn] - branch.mine;
    const uint32_t taker_kept = tree->end[1 - branch.turn] - branch.theirs;
    const uint32_t taken = taker_kept + branch.laid;
    if (!payer_kept) {
        bmn_branch_ends(tree, branch.laid);
        return;
    }
    const bool payer_leads = share->job->rules.payer_leads;
    const uint64_t pile_bits = bmn_low_bits((int)branch.laid),
                   payer_bits = bmn_low_bits((int)payer_kept),
                   taker_bits = bmn_low_bits((int)taker_kept);
    bmn_node node = {.split = (uint16_t)(payer_leads ? payer_kept : taken)};
    for (int k = 0; k < 3; k++) {
        const uint64_t plane = tree->from->plane[k];
        const uint64_t payer = plane >> branch.mine & payer_bits;
        const uint64_t taker =
            (plane >> branch.theirs % 64 & taker_bits) | (tree->pile[k] & pile_bits) << taker_kept;
        node.plane[k] = payer_leads ? payer | taker << payer_kept : taker | payer << taken;
    }
    share->arrived++;
    bmn_nodes *bucket = &share->bucket[bmn_node_hash(&node) % BMN_BUCKETS];
    const bmn_way *way = share->level.way + tree->from->first;
    for (uint32_t w = 0; w < tree->from->ways; w++) {
        node.cards = (uint16_t)(way[w].cards + branch.laid);
        node.games = way[w].games;
        bmn_push(share, bucket, &node);
    }
}

/* The other player's turn. */
BMN_INLINE void bmn_branch_turn(bmn_branch *branch)
{
    const uint32_t mine = branch->mine;
    branch->mine = branch->theirs;
    branch->theirs = mine;
    branch->turn ^= 1;
}

/* How many plain cards lie on top from a place on. */
BMN_INLINE uint32_t bmn_plain_run(const bmn_tree *tree, uint32_t place, uint32_t end)
{
    const uint64_t stops = tree->stops >> place % 64;
    const uint32_t run = stops ? (uint32_t)bmn_lowest_bit(stops) : 64;
    return run < end - place ? run : end - place;
}

/* Lays the plain cards up to the next other one, or to the end of the trick, which is told. */
BMN_INLINE bool bmn_branch_run(const bmn_tree *tree, bmn_branch *branch)
{
    uint32_t mine = bmn_plain_run(tree, branch->mine, tree->end[branch->turn]);
    if (branch->debt) {
        mine = mine < branch->debt ? mine : branch->debt;
        branch->mine += mine;
        branch->laid += mine;
        branch->debt -= mine;
        return branch->debt == 0;
    }
    const uint32_t theirs = bmn_plain_run(tree, branch->theirs, tree->end[1 - branch->turn]);
    const uint32_t pairs = mine < theirs ? mine : theirs;
    branch->mine += pairs;
    branch->theirs += pairs;
    branch->laid += 2 * pairs;
    if (mine > theirs) {
        branch->mine++;
        branch->laid++;
        bmn_branch_turn(branch);
    }
    return false;
}

/* Lays a card; says whether the trick is over. */
BMN_INLINE bool bmn_branch_lay(bmn_tree *tree, bmn_branch *branch, uint32_t code)
{
    const uint32_t penalty = tree->share->job->rules.penalty[code];
    tree->pile[0] |= (uint64_t)(code & 1) << branch->laid;
    tree->pile[1] |= (uint64_t)(code >> 1 & 1) << branch->laid;
    tree->pile[2] |= (uint64_t)(code >> 2) << branch->laid;
    branch->mine++;
    branch->laid++;
    if (penalty) {
        branch->debt = penalty;
        bmn_branch_turn(branch);
    } else if (!branch->debt) {
        bmn_branch_turn(branch);
    } else if (--branch->debt == 0) {
        return true;
    }
    return false;
}

/* Plays on to the end of the trick, for every card that an unturned one may be. */
static void bmn_branch_on(bmn_tree *tree, uint32_t mine, uint32_t theirs, uint32_t laid,
                          uint32_t debt, uint32_t turn)
{
    const uint64_t *plane = tree->from->plane;
    bmn_branch branch = {mine, theirs, laid, debt, turn};
    for (int k = 0; k < 3; k++)
        tree->pile[k] &= bmn_low_bits((int)laid);
    for (;;) {
        if (bmn_branch_run(tree, &branch)) {
            bmn_branch_taken(tree, branch);
            return;
        }
        const uint32_t place = branch.mine;
        if (place == tree->end[branch.turn]) {
            bmn_branch_ends(tree, branch.laid);
            return;
        }
        const uint32_t code = (uint32_t)((plane[0] >> place & 1) | (plane[1] >> place & 1) << 1 |
                                         (plane[2] >> place & 1) << 2);
        if (code == BMN_UNTURNED)
            break;
        if (bmn_branch_lay(tree, &branch, code)) {
            bmn_branch_taken(tree, branch);
            return;
        }
    }
    tree->unturned--;
    for (uint32_t code = 0; code < 5; code++) {
        if (!tree->left[code])
            continue;
        bmn_branch one = branch;
        for (int k = 0; k < 3; k++)
            tree->pile[k] &= bmn_low_bits((int)branch.laid);
        tree->left[code]--;
        if (bmn_branch_lay(tree, &one, code))
            bmn_branch_taken(tree, one);
        else
            bmn_branch_on(tree, one.mine, one.theirs, one.laid, one.debt, one.turn);
        tree->left[code]++;
    }
    tree->unturned++;
}

static void bmn_play_trick_of(bmn_share *share, uint32_t number)
{
    const bmn_node *from = &share->level.nodes.node[number];
    const uint64_t *plane = from->plane, unturned = bmn_unturned(from);
    bmn_tree tree = {.share = share,
                     .from = from,
                     .stops = plane[0] | plane[1] | plane[2],
                     .end = {from->split, share->total}};
    if (unturned) {
        const uint64_t seen[5] = {0, plane[0] & ~plane[1], plane[1] & ~plane[0],
                                  plane[0] & plane[1] & ~unturned, plane[2] & ~unturned};
        tree.left[0] = tree.unturned = (uint32_t)bmn_count_bits(unturned);
        for (int code = 1; code < 5; code++) {
            tree.left[code] = share->count[code] - (uint32_t)bmn_count_bits(seen[code]);
            tree.left[0] -= tree.left[code];
        }
    }
    bmn_branch_on(&tree, 0, from->split, 0, 0, 0);
}

/* ---- positions that meet ---- */

/* Adds a way to those at the end of the next level, the first of which is `first`. */
BMN_INLINE void bmn_add_way(bmn_level *next, size_t first, const bmn_node *record)
{
    size_t at = first;
    while (at < next->way_count && next->way[at].cards != record->cards)
        at++;
    if (at == next->way_count)
        next->way[next->way_count++] = (bmn_way){.cards = record->cards};
    next->way[at].games += record->games;
}

/* Enters the positions of a bucket into the next level, equal ones once. */
static void bmn_sort_out(bmn_share *share, bmn_nodes *bucket)
{
    bmn_level *next = &share->next;
    size_t slots = 64;
    while (slots < 2 * bucket->count)
        slots *= 2;
    if (!bmn_room_for(&share->slot, &share->slots, slots, sizeof *share->slot) ||
        !bmn_room_for(&share->same, &share->room, bucket->count, sizeof *share->same) ||
        !bmn_room_for(&next->way, &next->way_room, next->way_count + bucket->count,
                      sizeof *next->way)) {
        share->no_memory = true;
        return;
    }
    memset(share->slot, 0, slots * sizeof *share->slot);
    /* `same` leads from a record to the next one like it, `slot` to the last such. */
    for (size_t i = 0; i < bucket->count; i++) {
        const bmn_node *record = &bucket->node[i];
        size_t at = bmn_node_hash(record) / BMN_BUCKETS & (slots - 1);
        while (share->slot[at] && !bmn_nodes_alike(&bucket->node[share->slot[at] - 1], record))
            at = (at + 1) & (slots - 1);
        share->same[i] = share->slot[at];
        share->slot[at] = (uint32_t)i + 1;
    }
    for (size_t at = 0; at < slots; at++) {
        if (!share->slot[at])
            continue;
        const size_t first = next->way_count;
        bmn_node node = bucket->node[share->slot[at] - 1];
        for (uint32_t i = share->slot[at]; i; i = share->same[i - 1])
            bmn_add_way(next, first, &bucket->node[i - 1]);
        node.first = (uint32_t)first;
        node.ways = (uint16_t)(next->way_count - first);
        bmn_push(share, &next->nodes, &node);
    }
    bucket->count = 0;
}

/* ---- all of it ---- */

static void bmn_share_free(bmn_share *share)
{
    free(share->level.nodes.node);
    free(share->level.way);
    free(share->next.nodes.node);
    free(share->next.way);
    for (int i = 0; i < BMN_BUCKETS; i++)
        free(share->bucket[i].node);
    for (int i = 0; i < BMN_ROOTS; i++)
        free(share->roots[i].nodes.node);
    free(share->slot);
    free(share->same);
    free(share->waiting);
}

/* Returns false for want of memory; bmn_share_free either way. */
static bool bmn_share_init(bmn_share *share, const bmn_job *job, bmn_tally *tally,
                           const uint32_t count[5])
{
    memset(share, 0, sizeof *share);
    share->job = job;
    share->tally = tally;
    memcpy(share->count, count, sizeof share->count);
    for (int code = 0; code < 5; code++)
        share->total += count[code];
    for (int n = 0; n <= 64; n++)
        for (int k = 0; k <= n; k++)
            share->binomial[n][k] =
                k == 0 || k == n ? 1 : share->binomial[n - 1][k - 1] + share->binomial[n - 1][k];
    share->waiting = malloc(BMN_BLOCK * sizeof *share->waiting);
    return share->waiting != NULL;
}

/* Enters deals to be counted: `codes` with BMN_UNTURNED where any card may lie. */
static void bmn_share_enter(bmn_share *share, const uint8_t *codes, uint32_t split)
{
    bmn_level *level = &share->level;
    bmn_packed deals = bmn_pack_one(codes, share->total, split, share->total);
    bmn_node node = {.split = (uint16_t)split, .ways = 1};
    memcpy(node.plane, deals.plane, sizeof node.plane);
    if (!bmn_room_for(&level->way, &level->way_room, 1, sizeof *level->way)) {
        share->no_memory = true;
        return;
    }
    level->way[0] = (bmn_way){.games = 1};
    bmn_push(share, &level->nodes, &node);
}

/* Plays all that was entered; returns after how many tricks the last positions were handed to the
 * kernels. */
static uint32_t bmn_share_play(bmn_share *share)
{
    bmn_level *level = &share->level, *next = &share->next;
    uint32_t deepest = 0;
    bool handing = false;
    while (level->nodes.count && !share->no_memory) {
        for (uint32_t number = 0; number < level->nodes.count; number++) {
            if (handing && !bmn_unturned(&level->nodes.node[number])) {
                bmn_hand_over(share, number);
                deepest = share->tricks;
            } else {
                bmn_play_trick_of(share, number);
            }
        }
        bmn_clear_desk(share);
        next->nodes.count = next->way_count = 0;
        size_t turned = 0;
        for (int i = 0; i < BMN_BUCKETS; i++)
            bmn_sort_out(share, &share->bucket[i]);
        for (size_t i = 0; i < next->nodes.count; i++)
            turned += !bmn_unturned(&next->nodes.node[i]);
        /* Half of the positions are turned, and fewer than a tenth met. */
        handing = handing ||
                  (2 * turned >= next->nodes.count && 10 * share->arrived < 11 * next->nodes.count);
        bmn_level done = *level;
        *level = *next;
        *next = done;
        share->tricks++;
        share->arrived = 0;
    }
    return deepest;
}

#endif
