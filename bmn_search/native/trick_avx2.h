/* trick_avx2.h - the first tier: the trick kernel with 256-bit registers, two games each, two
 * registers in flight.
 *
 * Needs AVX2, BMI1, BMI2, POPCNT and LZCNT: ask __builtin_cpu_supports("avx2"), ("bmi2"), ...
 * before calling.  Elsewhere this file is empty.  Algorithm and layout: trick_body.h.
 * Measured: 10.3 times plain.h; with dealing 9.4 times plain.h with its shuffle (docs/engine.md).
 *
 *     bmn_play_avx2            packed deals (bmn_play_function)
 *     bmn_deal_and_play_avx2   deals of a seed, without a round trip through memory
 */
#ifndef BMN_TRICK_AVX2_H
#define BMN_TRICK_AVX2_H

#include "trick.h"

#if BMN_X86_64
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt"))),                \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt")
#endif

#define VEC __m256i
#define LANES 2
#define OP(f) _mm256_##f
#define TIER(name) name##_avx2
#define TIER_DEAL bmn_deal_packed_fast

/* mask ? b : a, bytewise by sign.  The intrinsic would do, but GCC turns it into a comparison with
 * zero and a blend. */
BMN_INLINE __m256i choose_avx2(__m256i a, __m256i b, __m256i mask)
{
    __m256i result;
    __asm__("vpblendvb %3, %2, %1, %0" : "=x"(result) : "x"(a), "x"(b), "x"(mask));
    return result;
}

BMN_INLINE __m256i broadcast_avx2(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)bytes));
}

BMN_INLINE int count_avx2(uint64_t word)
{
    return (int)_mm_popcnt_u64(word);
}

/* Places and penalties of the pay cards of a row, in order; what comes after the last is noise. */
BMN_INLINE void pay_list_avx2(const bmn_packed *deal, uint64_t pay, const bmn_trick_supply *supply,
                              __m128i *place, __m128i *penalty)
{
    const uint64_t every_fourth = UINT64_C(0x1111111111111111);
    uint64_t half[2] = {0, 0}, left = pay;
    BMN_UNROLL
    for (int h = 0; h < 2; h++) {
        BMN_UNROLL
        for (int i = 0; i < 8; i++) {
            half[h] |= _tzcnt_u64(left) << (8 * i);
            left = _blsr_u64(left);
        }
    }
    uint64_t code = _pdep_u64(_pext_u64(deal->plane[0], pay), every_fourth) |
                    _pdep_u64(_pext_u64(deal->plane[1], pay), every_fourth << 1) |
                    _pdep_u64(_pext_u64(deal->plane[2], pay), every_fourth << 2);
    __m128i nibbles = _mm_cvtsi64_si128((long long)code);
    nibbles =
        _mm_and_si128(_mm_unpacklo_epi8(nibbles, _mm_srli_epi64(nibbles, 4)), _mm_set1_epi8(15));
    *place = _mm_set_epi64x((long long)half[1], (long long)half[0]);
    *penalty = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)supply->cost), nibbles);
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
