/* exhaust.h - every deal of a range, one after the other: the successor, and what is counted.
 *
 * What.  The deals of a deck are numbered as the permutations of a multiset in dictionary order
 * (Deck.index).  From one of them this makes the next ones as packed deals, plays them a block at a
 * time, and keeps a histogram, the longest games and the loops.
 *
 * The successor.  Cards are held as ranks, a rank being the place of a card's symbol in the order
 * of the deck, in three planes like the codes of batch.h.  Dictionary order changes the last cards
 * the most: the last BMN_TAIL cards run through all their orders before any other card moves. All
 * orders of so few cards are listed once, those of the same cards together, so that a deal is the
 * head, which stays, and the next tail of a list: a load and a shift and an or for each plane.
 * After the last tail comes the next permutation as in the textbook, but bit-sliced: "which cards
 * rank below the next one" is decided for all places at once, and the last of them is the pivot;
 * the cards behind it fall, so those that rank above the pivot are a run of bits, and the last of
 * these changes places with it; then what lies behind is turned round by reversing a word.
 *
 * Measured (docs/exhaustive.md): 77 instructions a deal of half20, where a permutation for each one
 * takes 266; all of it at 0.99 to 1.18 times the rate of playing the same deals from an array.
 */
#ifndef BMN_EXHAUST_H
#define BMN_EXHAUST_H

#include "rows.h"

/* A game that lasts so many tricks is rarely finite in a deck that can be exhausted, and the
 * general engine has to play it anyway if it is a loop. */
#define BMN_EXHAUST_STAGE 256u

/* What games came to.  `longest`: most cards, and most tricks, of a finished game. */
enum { BMN_BY_CARDS, BMN_BY_TRICKS };

typedef struct {
    uint64_t *histogram; /* finished games by cards, `most` standing for more too */
    uint64_t most;
    uint64_t games, finished, loops, plays;
    uint64_t longest[2];
} bmn_tally;

BMN_INLINE void bmn_count_length(bmn_tally *tally, uint64_t cards, uint64_t games)
{
    tally->histogram[cards < tally->most ? cards : tally->most] += games;
    tally->finished += games;
}

/* ---- the successor ---- */

enum { BMN_TAIL = 6, BMN_TAILS = 15625, BMN_TAIL_DECKS = 2401 }; /* 6; 5^6; 7^4 */

typedef struct {
    uint64_t rank[3];             /* planes of the deal that the head is of */
    uint64_t code[5][3];          /* code[r][k]: all ones where the code of rank r has bit k */
    uint32_t split, total, ranks; /* ranks in the deck */
    uint32_t tail;                /* cards in the tails: BMN_TAIL, or all */
    uint64_t head[3];             /* planes of the codes, without the tail */
    uint32_t next, last;          /* tails left with this head: from `next` to before `last` */
    /* Tails in dictionary order, those of the same cards together: the planes of their codes and
     * of their ranks, `tail` bits each.  `first`: of those with so many cards of each rank. */
    uint32_t tail_code[BMN_TAILS], tail_rank[BMN_TAILS], first[BMN_TAIL_DECKS + 1];
} bmn_arrangement;

BMN_INLINE int bmn_highest_bit(uint64_t word) /* word != 0 */
{
#if (defined(__GNUC__) || defined(__clang__)) && !defined(BMN_PLAIN_C)
    return 63 - __builtin_clzll(word);
#else
    int place = 0;
    while (word >>= 1)
        place++;
    return place;
#endif
}

/* Bit j becomes bit 63 - j. */
BMN_INLINE uint64_t bmn_reversed(uint64_t word)
{
    word = (word >> 1 & UINT64_C(0x5555555555555555)) | (word & UINT64_C(0x5555555555555555)) << 1;
    word = (word >> 2 & UINT64_C(0x3333333333333333)) | (word & UINT64_C(0x3333333333333333)) << 2;
    word = (word >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
#if (defined(__GNUC__) || defined(__clang__)) && !defined(BMN_PLAIN_C)
    return __builtin_bswap64(word);
#else
    word = (word >> 8 & UINT64_C(0x00ff00ff00ff00ff)) | (word & UINT64_C(0x00ff00ff00ff00ff)) << 8;
    word = (word >> 16 & UINT64_C(0x0000ffff0000ffff)) | (word & UINT64_C(0x0000ffff0000ffff))
                                                             << 16;
    return word >> 32 | word << 32;
#endif
}

/* The places where the number in the planes of a is less than that in the planes of b. */
BMN_INLINE uint64_t bmn_less(const uint64_t a[3], const uint64_t b[3])
{
    return (~a[2] & b[2]) | (~(a[2] ^ b[2]) & ((~a[1] & b[1]) | (~(a[1] ^ b[1]) & ~a[0] & b[0])));
}

/* The next permutation of the ranks; false after the last one. */
static bool bmn_next_permutation(uint64_t rank[3], int total)
{
    const uint64_t after[3] = {rank[0] >> 1, rank[1] >> 1, rank[2] >> 1};
    const uint64_t rises = bmn_less(rank, after) & bmn_low_bits(total - 1);
    if (!rises)
        return false;
    const int pivot = bmn_highest_bit(rises), up = pivot + total - 63;
    const uint64_t behind = bmn_low_bits(total) & ~UINT64_C(1) << pivot;
    const uint64_t here[3] = {-(rank[0] >> pivot & 1), -(rank[1] >> pivot & 1),
                              -(rank[2] >> pivot & 1)};
    const int last = bmn_highest_bit(bmn_less(here, rank) & behind);
    for (int k = 0; k < 3; k++) {
        uint64_t differ = (rank[k] >> pivot ^ rank[k] >> last) & 1;
        uint64_t swapped = rank[k] ^ (differ << pivot | differ << last);
        uint64_t turned = bmn_reversed(swapped & behind);
        rank[k] = (swapped & ~behind) | (up < 0 ? turned >> -up : turned << up);
    }
    return true;
}

/* Which cards a tail, as planes of ranks, has: the number of its list. */
static uint32_t bmn_tail_deck(const bmn_arrangement *a, uint32_t ranks)
{
    const uint32_t all = (1u << a->tail) - 1, low = ranks & all, middle = ranks >> a->tail & all,
                   high = ranks >> 2 * a->tail;
    const uint32_t places[4] = {low & ~middle, middle & ~low, low & middle, high};
    uint32_t deck = 0;
    for (int rank = 0; rank < 4; rank++)
        deck = deck * (BMN_TAIL + 1) + (uint32_t)bmn_count_bits(places[rank]);
    return deck;
}

/* Tail number `word` of all, in dictionary order, as planes of numbers[rank]. */
static uint32_t bmn_tail_planes(const bmn_arrangement *a, uint32_t word, const uint8_t numbers[5])
{
    uint32_t planes = 0;
    for (uint32_t place = a->tail; place-- > 0; word /= a->ranks)
        for (uint32_t k = 0; k < 3; k++)
            planes |= (uint32_t)(numbers[word % a->ranks] >> k & 1) << (k * a->tail + place);
    return planes;
}

static void bmn_list_tails(bmn_arrangement *a, const uint8_t order[5])
{
    static const uint8_t ranks[5] = {0, 1, 2, 3, 4};
    uint32_t at[BMN_TAIL_DECKS], words = 1;
    for (uint32_t i = 0; i < a->tail; i++)
        words *= a->ranks;
    memset(a->first, 0, sizeof a->first);
    for (uint32_t word = 0; word < words; word++)
        a->first[bmn_tail_deck(a, bmn_tail_planes(a, word, ranks)) + 1]++;
    for (uint32_t deck = 0; deck < BMN_TAIL_DECKS; deck++) {
        a->first[deck + 1] += a->first[deck];
        at[deck] = a->first[deck];
    }
    for (uint32_t word = 0; word < words; word++) {
        const uint32_t tail = bmn_tail_planes(a, word, ranks), i = at[bmn_tail_deck(a, tail)]++;
        a->tail_rank[i] = tail;
        a->tail_code[i] = bmn_tail_planes(a, word, order);
    }
}

/* Looks up the tails of the deal in `rank`, from its own tail on, and the codes of its head. */
static void bmn_set_head(bmn_arrangement *a)
{
    const uint32_t place = a->total - a->tail, all = (1u << a->tail) - 1;
    const uint64_t low = a->rank[0], middle = a->rank[1], high = a->rank[2],
                   heads = bmn_low_bits((int)place);
    const uint64_t of_rank[5] = {~(low | middle | high), low & ~middle, middle & ~low, low & middle,
                                 high};
    uint32_t tail = 0;
    for (uint32_t k = 0; k < 3; k++) {
        tail |= ((uint32_t)(a->rank[k] >> place) & all) << (k * a->tail);
        a->head[k] = 0;
        for (int rank = 0; rank < 5; rank++)
            a->head[k] |= of_rank[rank] & a->code[rank][k] & heads;
    }
    const uint32_t deck = bmn_tail_deck(a, tail);
    a->next = a->first[deck];
    a->last = a->first[deck + 1];
    while (a->tail_rank[a->next] != tail) /* at once, but for a deal to begin with */
        a->next++;
}

/* `codes`: the first deal; `order`: the codes from the least rank on. */
static void bmn_arrange(bmn_arrangement *a, const uint8_t *codes, uint32_t split, uint32_t total,
                        const uint8_t order[5])
{
    uint8_t ranks[64] = {0}, rank_of[5];
    a->split = split;
    a->total = total;
    a->tail = total < BMN_TAIL ? total : BMN_TAIL;
    for (uint8_t rank = 0; rank < 5; rank++) {
        rank_of[order[rank]] = rank;
        for (int k = 0; k < 3; k++)
            a->code[rank][k] = -(uint64_t)(order[rank] >> k & 1);
    }
    a->ranks = 1;
    for (uint32_t i = 0; i < total; i++) {
        ranks[i] = rank_of[codes[i]];
        a->ranks = ranks[i] < a->ranks ? a->ranks : ranks[i] + 1u;
    }
    bmn_planes_of_codes(ranks, a->rank);
    bmn_list_tails(a, order);
    bmn_set_head(a);
}

/* Goes on to the next head; after the last one there is nothing more. */
static void bmn_next_head(bmn_arrangement *a)
{
    const uint32_t place = a->total - a->tail, all = (1u << a->tail) - 1,
                   tail = a->tail_rank[a->last - 1];
    for (uint32_t k = 0; k < 3; k++) {
        a->rank[k] &= bmn_low_bits((int)place);
        a->rank[k] |= (uint64_t)(tail >> k * a->tail & all) << place;
    }
    if (bmn_next_permutation(a->rank, (int)a->total))
        bmn_set_head(a);
}

/* Writes the next n deals, which must be there. */
static void bmn_next_deals(bmn_arrangement *a, bmn_packed *deals, size_t n)
{
    const uint32_t bits = a->tail, all = (1u << bits) - 1, place = a->total - bits;
    while (n) {
        if (a->next == a->last)
            bmn_next_head(a);
        const uint32_t left = a->last - a->next, count = left < n ? left : (uint32_t)n;
        const uint64_t head[3] = {a->head[0], a->head[1], a->head[2]};
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t tail = a->tail_code[a->next + i];
            *deals++ = (bmn_packed){.plane = {head[0] | (uint64_t)(tail & all) << place,
                                              head[1] | (uint64_t)(tail >> bits & all) << place,
                                              head[2] | (uint64_t)(tail >> 2 * bits) << place},
                                    .split = (uint8_t)a->split,
                                    .total = (uint8_t)a->total};
        }
        a->next += count;
        n -= count;
    }
}

/* ---- playing packed deals ---- */

static void bmn_unpack(const bmn_packed *deal, uint8_t codes[64])
{
    for (int i = 0; i < deal->total; i++)
        codes[i] = (uint8_t)((deal->plane[0] >> i & 1) | (deal->plane[1] >> i & 1) << 1 |
                             (deal->plane[2] >> i & 1) << 2);
}

/* Plays the first n deals on the desk, n <= BMN_BLOCK; bmn_desk_row tells how they went. */
static void bmn_play_desk(const bmn_job *job, size_t n)
{
    const uint32_t stage =
        job->max_tricks < BMN_EXHAUST_STAGE ? (uint32_t)job->max_tricks : BMN_EXHAUST_STAGE;
    bmn_desk *desk = job->desk;
    if (job->kernel == BMN_GENERAL || job->max_cards != UINT64_MAX)
        for (size_t i = 0; i < n; i++)
            desk->outcome[i] = bmn_undecided();
    else
        bmn_kernel_function(job->kernel)(desk->packed, n, &job->rules, stage, desk->outcome);
}

BMN_INLINE bmn_row bmn_desk_row(const bmn_job *job, size_t i)
{
    const bmn_packed *deal = &job->desk->packed[i];
    bmn_row row = bmn_row_of(&job->desk->outcome[i]);
    if (BMN_RARE(row.status == BMN_UNKNOWN)) {
        const uint32_t size[2] = {deal->split, deal->total - deal->split};
        uint8_t codes[64];
        bmn_unpack(deal, codes);
        bmn_play_row(job, codes, size, &row);
    }
    return row;
}

/* Plays the next n deals of `a`.  `first`: the number of deals before
 * them in the range; `where`: of the longest games, the same; `loop` gets that of every loop. Of
 * equally long games the first counts.  Returns how many loops there were. */
static size_t bmn_enumerate(const bmn_job *job, bmn_arrangement *a, uint64_t first, size_t n,
                            bmn_tally *tally, uint64_t where[2], uint64_t *loop)
{
    size_t loops = 0;
    for (size_t at = 0; at < n; at += BMN_BLOCK) {
        size_t count = n - at < BMN_BLOCK ? n - at : BMN_BLOCK;
        bmn_next_deals(a, job->desk->packed, count);
        bmn_play_desk(job, count);
        for (size_t i = 0; i < count; i++) {
            bmn_row row = bmn_desk_row(job, i);
            const uint64_t length[2] = {row.cards, row.tricks};
            if (row.status == BMN_LOOP)
                loop[loops++] = first + at + i;
            if (row.status != BMN_FINISHED)
                continue;
            bmn_count_length(tally, row.cards, 1);
            for (int by = 0; by < 2; by++)
                if (BMN_RARE(length[by] > tally->longest[by])) {
                    tally->longest[by] = length[by];
                    where[by] = first + at + i;
                }
        }
    }
    tally->games += n;
    tally->plays += n;
    tally->loops += loops;
    return loops;
}

#endif
