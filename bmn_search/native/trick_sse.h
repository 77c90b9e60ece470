/* trick_sse.h - the second tier: the trick kernel with 128-bit registers, one game each, two
 * registers in flight.
 *
 * Needs SSE4.1: ask __builtin_cpu_supports("sse4.1") before calling.  Elsewhere this file is empty.
 * Algorithm and layout: trick_body.h.  Measured: 4.9 times plain.h; with dealing 3.6 times plain.h
 * with its shuffle (docs/engine.md).
 *
 *     bmn_play_sse            packed deals (bmn_play_function)
 *     bmn_deal_and_play_sse   deals of a seed
 */
#ifndef BMN_TRICK_SSE_H
#define BMN_TRICK_SSE_H

#include "trick.h"

#if BMN_X86_64
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.1"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse4.1")
#endif

#define VEC __m128i
#define LANES 1
#define OP(f) _mm_##f
#define TIER(name) name##_sse
#define TIER_DEAL bmn_deal_packed

BMN_INLINE __m128i choose_sse(__m128i a, __m128i b, __m128i mask)
{
    return _mm_blendv_epi8(a, b, mask);
}

BMN_INLINE __m128i broadcast_sse(const uint8_t bytes[16])
{
    return _mm_load_si128((const __m128i *)bytes);
}

BMN_INLINE int count_sse(uint64_t word)
{
    return bmn_count_bits(word);
}

/* Places and penalties of the pay cards of a row, in order; what comes after the last is noise. */
BMN_INLINE void pay_list_sse(const bmn_packed *deal, uint64_t pay, const bmn_trick_supply *supply,
                             __m128i *place, __m128i *penalty)
{
    uint8_t places[16] __attribute__((aligned(16))) = {0},
                       penalties[16] __attribute__((aligned(16))) = {0};
    for (int i = 0; pay; i++, pay &= pay - 1) { /* at most 16 */
        int at = bmn_lowest_bit(pay);
        places[i] = (uint8_t)at;
        penalties[i] = supply->cost[(deal->plane[0] >> at & 1) | (deal->plane[1] >> at & 1) << 1 |
                                    (deal->plane[2] >> at & 1) << 2];
    }
    *place = _mm_load_si128((const __m128i *)places);
    *penalty = _mm_load_si128((const __m128i *)penalties);
}

#include "trick_body.h"
#include "turn_body.h"

#undef VEC
#undef LANES
#undef OP
#undef TIER
#undef TIER_DEAL
#undef BYTES
#undef CONSTANT
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#endif
