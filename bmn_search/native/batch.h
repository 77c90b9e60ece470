/* batch.h - the types that every kernel shares, and the packed form of a deal.
 *
 * What.  Deals arrive as rows of bytes, one code a card (0 plain, 1 J, 2 Q, 3 K, 4 A), top card
 * first, the first packet before the second.  The fast kernels take `bmn_packed`: three 64-bit
 * planes, plane k holding bit k of every code.
 *
 *     row      - K A | Q - J          bit of a plane = place in the row, 0 = top card of the first
 * packet code     0 3 4   2 0 1 plane 0  0 1 0   0 0 1          J and K plane 1  0 1 0   1 0 0 Q
 * and K plane 2  0 0 1   0 0 0          A
 *
 * Why.  32 bytes a deal instead of up to 64; a packet is a shift, "which cards are pay cards under
 * these rules" is a few ands and ors, and the fast dealing makes planes directly.  Packing 52 bytes
 * is 12 shift/movemask pairs with SSE2 (part of every x86-64); elsewhere eight codes at a time are
 * gathered with one multiplication a plane.  Measured: 220 instructions and about 20 ns a deal
 * (docs/engine.md).
 *
 * Which deal fits where:
 *     bmn_fits_packed    at most 64 cards: `bmn_pack_one` and the portable kernel, any number of
 * pay cards bmn_fits_trick     also played by the trick kernels (see the function); they hand any
 * other deal to the portable one more than 64 cards none of these: take a byte engine, such as
 * plain.h
 */
#ifndef BMN_BATCH_H
#define BMN_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* BMN_PLAIN_C, defined by a test, turns every compiler- and machine-specific path off. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(BMN_PLAIN_C)
#define BMN_X86_64 1
#include <immintrin.h>
#else
#define BMN_X86_64 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define BMN_INLINE static inline __attribute__((always_inline))
#define BMN_NOINLINE static __attribute__((noinline, unused))
#define BMN_UNUSED static __attribute__((unused))
#define BMN_RARE(condition) __builtin_expect(!!(condition), 0)
#else
#define BMN_INLINE static inline
#define BMN_NOINLINE static
#define BMN_UNUSED static
#define BMN_RARE(condition) (condition)
#endif

/* How a game went. The kernels know no loops: what they cannot decide is unknown. */
enum { BMN_FINISHED, BMN_LOOP, BMN_UNKNOWN, BMN_NO_MEMORY };

/* A larger `max_tricks` counts as this one: 64 cards a trick then cannot overflow the 32-bit card
 * count. */
#define BMN_MAX_TRICKS ((UINT32_C(1) << 26) - 1)

/* penalty[code], each 0..15; penalty[0] is 0 and a pay card with penalty 0 is plain.  payer_leads:
 * who leads the next trick. */
typedef struct {
    uint8_t penalty[5];
    uint8_t payer_leads;
} bmn_rules;

typedef struct {
    uint64_t plane[3];
    uint8_t split; /* cards in the first packet */
    uint8_t total; /* cards in the deal, at most 64 */
    uint8_t unused[6];
} bmn_packed;

/* winner: 1 or 2, 0 when undecided; the counts of an undecided game are 0. */
typedef struct {
    uint32_t cards, tricks;
    uint8_t status, winner;
    uint16_t unused;
} bmn_outcome;

_Static_assert(sizeof(bmn_packed) == 32, "a packed deal is half a cache line");
_Static_assert(sizeof(bmn_outcome) == 12, "an outcome is three words");

/* The common signature of the kernels that play packed deals. */
typedef void bmn_play_function(const bmn_packed *deals, size_t n, const bmn_rules *rules,
                               uint32_t max_tricks, bmn_outcome *out);

BMN_INLINE bmn_outcome bmn_finished(uint32_t cards, uint32_t tricks, int winner)
{
    return (bmn_outcome){
        .cards = cards, .tricks = tricks, .status = BMN_FINISHED, .winner = (uint8_t)winner};
}

BMN_INLINE bmn_outcome bmn_undecided(void)
{
    return (bmn_outcome){.status = BMN_UNKNOWN};
}

BMN_INLINE int bmn_lowest_bit(uint64_t word) /* word != 0 */
{
#if (defined(__GNUC__) || defined(__clang__)) && !defined(BMN_PLAIN_C)
    return __builtin_ctzll(word);
#else
    int place = 0;
    for (int step = 32; step; step >>= 1)
        if (!(word & ((UINT64_C(1) << step) - 1))) {
            word >>= step;
            place += step;
        }
    return place;
#endif
}

/* Software popcount: the baseline x86-64 has no instruction for it. */
BMN_INLINE int bmn_count_bits(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The lowest `count` bits, 0 <= count <= 64. */
BMN_INLINE uint64_t bmn_low_bits(int count)
{
    return count ? ~UINT64_C(0) >> (64 - count) : 0;
}

/* The places of one code, 1..4, in a packed deal. */
BMN_INLINE uint64_t bmn_places(const bmn_packed *deal, int code)
{
    const uint64_t *plane = deal->plane;
    switch (code) {
    case 1: return plane[0] & ~plane[1];
    case 2: return plane[1] & ~plane[0];
    case 3: return plane[0] & plane[1];
    default: return plane[2];
    }
}

/* The places of the cards that are pay cards under the rules. */
BMN_INLINE uint64_t bmn_pay_places(const bmn_packed *deal, const bmn_rules *rules)
{
    uint64_t places = deal->plane[0] | deal->plane[1] | deal->plane[2];
    for (int code = 1; code <= 4; code++)
        if (BMN_RARE(!rules->penalty[code]))
            places &= ~bmn_places(deal, code);
    return places;
}

BMN_INLINE int bmn_fits_packed(size_t total)
{
    return total <= 64;
}

/* The trick kernels hold a packet as 16 (gap, penalty) pairs, the last pair being the cards below
 * the last pay card.  A player who holds 16 pay cards has no room for it.  That is harmless if the
 * opponent, who then has plain cards only, is beaten before those 16 pay cards have been laid, that
 * is, if they cost as much as there are plain cards. */
BMN_INLINE int bmn_fits_trick(const bmn_packed *deal, const bmn_rules *rules)
{
    int pay_cards = bmn_count_bits(bmn_pay_places(deal, rules)), cost = 0;
    if (pay_cards != 16)
        return pay_cards < 16;
    for (int code = 1; code <= 4; code++)
        cost += rules->penalty[code] * bmn_count_bits(bmn_places(deal, code));
    return cost >= deal->total - 16;
}

/* Three planes of 64 codes. */
BMN_INLINE void bmn_planes_of_codes(const uint8_t codes[64], uint64_t plane[3])
{
    plane[0] = plane[1] = plane[2] = 0;
#if BMN_X86_64
    for (int at = 0; at < 64; at += 16) {
        __m128i code = _mm_loadu_si128((const __m128i *)(codes + at));
        plane[0] |= (uint64_t)_mm_movemask_epi8(_mm_slli_epi16(code, 7)) << at;
        plane[1] |= (uint64_t)_mm_movemask_epi8(_mm_slli_epi16(code, 6)) << at;
        plane[2] |= (uint64_t)_mm_movemask_epi8(_mm_slli_epi16(code, 5)) << at;
    }
#else
    for (int at = 0; at < 64; at += 8) {
        uint64_t eight = 0;
        for (int i = 0; i < 8; i++)
            eight |= (uint64_t)codes[at + i] << (8 * i);
        for (int k = 0; k < 3; k++) /* the multiplication moves bit 8i to bit 56 + i */
            plane[k] |=
                ((eight >> k & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56)
                << at;
    }
#endif
}

/* Pack the deal of a row of which `readable` bytes may be read; split <= total <= 64. Bytes past
 * `total` are ignored. */
BMN_INLINE bmn_packed bmn_pack_one(const uint8_t *row, size_t readable, uint32_t split,
                                   uint32_t total)
{
    uint8_t copy[64];
    if (readable < 64) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, row, total);
        row = copy;
    }
    bmn_packed deal = {.split = (uint8_t)split, .total = (uint8_t)total};
    bmn_planes_of_codes(row, deal.plane);
    for (int k = 0; k < 3; k++)
        deal.plane[k] &= bmn_low_bits((int)total);
    return deal;
}

#endif
