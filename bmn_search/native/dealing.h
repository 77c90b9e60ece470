/* dealing.h - deal number n of seed s: a pure function, the same on every machine and by every path
 * below.
 *
 * What.  A deck is five counts (plain, J, Q, K, A).  Its deal is a uniformly random arrangement of
 * those symbols.
 *
 * The deal.  All places are free at first.  J by J, then Q by Q, K by K and A by A, a fair die with
 * as many sides as there are free places says which free place, counted from the top, the next pay
 * card takes.  The rest is plain.  With p pay cards among N the dice have N, N-1, ..., N-p+1 sides:
 * all sequences of p different places are equally likely, and each arrangement of the symbols comes
 * from equally many of them (J! Q! K! A!).  So the deal is exactly uniform if the dice are.
 *
 * The dice (Brackett-Rozinsky and Lemire, "Batched ranged random integer generation", 2024).
 * Several dice come from one 64-bit word w.  For sides n1, ..., nk with product P: multiply w by
 * n1, the high word of the 128-bit product is the first die, the low word goes on to be multiplied
 * by n2, and so on.  Read as mixed-radix digits the dice are floor(w P / 2^64), and the low word
 * left at the end is w P mod 2^64.  For each of the P results, the words w with that left word >=
 * 2^64 mod P number exactly floor(2^64 / P) (Lemire 2019, lemma 4.1).  So: reject the word if the
 * left word is smaller; the accepted dice are exactly uniform, given a uniform word.  A group takes
 * dice as long as P <= 2^48, thus P(rejection) < 2^-16; the standard deck takes two words of 8
 * dice.  A rejected word is followed by the next counter of the same deal, for the same dice.
 *
 * The words.  Word j of deal n of seed s is mix_b((mix_a(key_a(s) + n G) ^ key_b(s)) + j G'), where
 * each mix is a bijection of 64-bit words (xor-shift and odd multiplication, Stafford's variants 13
 * and 4 of the MurmurHash3 finaliser), G and G' odd. One mixing of (seed + counter) would make
 * every seed's stream a shifted copy of every other's.  Here deals of one seed walk a counter (G),
 * are mixed, and are xored with a key that is a bijection of the seed: two seeds never have the
 * same key_b, so a shift that lines up the counters cannot line up the xored words; words of one
 * deal walk another counter (G') from a point that is already mixed, so neighbouring deals do not
 * share words except by 64-bit coincidence.  Within a seed different deals start from different
 * points (bijections only).
 *
 * Three paths, one result: `bmn_deal_packed_fast` (pdep puts a bit in the k-th free place; at most
 * 64 cards, any number of pay cards), `bmn_deal_packed` (the same without BMI2), `bmn_deal_codes`
 * (bytes, up to 65535 cards, a search in a bitmap of free places: cost about p N / 64).
 *
 * Measured (docs/engine.md): instructions a deal of the standard deck 421, 1,285 and 1,874 for the
 * three paths, 1,791 for the full Fisher-Yates of plain.h; time 48, 240, 291 and 227 ns in one run
 * of a busy machine.
 */
#ifndef BMN_DEALING_H
#define BMN_DEALING_H

#include "batch.h"

#define BMN_DICE_LIMIT (UINT64_C(1) << 48) /* largest product of the sides of one word's dice */
#define BMN_MAX_DECK 65535u

typedef struct {
    uint32_t count[5]; /* plain, J, Q, K, A; count[0] + ... + count[4] = total */
    uint32_t total;
    uint32_t split; /* cards in the first packet */
} bmn_deck;

typedef struct {
    uint64_t deal_key, word_key;
} bmn_seed_keys;

/* Dice of one word: `count` dice with sides, sides - 1, ...; a left word below `threshold` is
 * rejected. */
typedef struct {
    uint32_t sides, count;
    uint64_t threshold;
} bmn_dice;

BMN_INLINE uint64_t bmn_mix_a(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

BMN_INLINE uint64_t bmn_mix_b(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0x62a9d9ed799705f5);
    x = (x ^ x >> 28) * UINT64_C(0xcb24d0a5c88c35b3);
    return x ^ x >> 32;
}

BMN_INLINE bmn_seed_keys bmn_keys_of_seed(uint64_t seed)
{
    return (bmn_seed_keys){.deal_key =
                               bmn_mix_b(seed + UINT64_C(0x243f6a8885a308d3)), /* digits of pi */
                           .word_key = bmn_mix_a(seed + UINT64_C(0x13198a2e03707344))};
}

/* The point from which the words of deal n are counted. */
BMN_INLINE uint64_t bmn_deal_point(bmn_seed_keys keys, uint64_t deal)
{
    return bmn_mix_a(keys.deal_key + deal * UINT64_C(0x9e3779b97f4a7c15)) ^ keys.word_key;
}

BMN_INLINE uint64_t bmn_word(uint64_t point, uint64_t j)
{
    return bmn_mix_b(point + j * UINT64_C(0xd1342543de82ef95));
}

/* Generator, for tests: word j of deal n of seed s. */
BMN_UNUSED uint64_t bmn_random_word(uint64_t seed, uint64_t deal, uint64_t j)
{
    return bmn_word(bmn_deal_point(bmn_keys_of_seed(seed), deal), j);
}

/* One die: the high word of word * sides; the low word replaces `word`. */
BMN_INLINE uint32_t bmn_die(uint64_t *word, uint32_t sides)
{
#if defined(__SIZEOF_INT128__) && !defined(BMN_PLAIN_C)
    unsigned __int128 product = (unsigned __int128)*word * sides;
    *word = (uint64_t)product;
    return (uint32_t)(product >> 64);
#else /* sides < 2^32 */
    uint64_t low = (*word & UINT32_MAX) * sides, high = (*word >> 32) * sides + (low >> 32);
    *word = high << 32 | (low & UINT32_MAX);
    return (uint32_t)(high >> 32);
#endif
}

/* The dice of one word for a deck with `free` free places and `left` pay cards to place. */
BMN_UNUSED bmn_dice bmn_dice_for(uint32_t free, uint32_t left)
{
    bmn_dice dice = {.sides = free};
    uint64_t product = 1;
    while (dice.count < left && product * (free - dice.count) <= BMN_DICE_LIMIT)
        product *= free - dice.count++;
    dice.threshold = -product % product;
    return dice;
}

/* Dice, for tests: word -> dice; says whether the word is accepted. */
BMN_UNUSED int bmn_roll(uint64_t word, bmn_dice dice, uint32_t *result)
{
    for (uint32_t i = 0; i < dice.count; i++)
        result[i] = bmn_die(&word, dice.sides - i);
    return word >= dice.threshold;
}

/* The 16-bit analogue, small enough to try every word; the product of the sides is at most 2^16. */
BMN_UNUSED int bmn_roll_16(uint16_t word, uint32_t sides, uint32_t count, uint32_t *result)
{
    uint32_t product = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t wide = (uint32_t)word * (sides - i);
        product *= sides - i;
        result[i] = wide >> 16;
        word = (uint16_t)wide;
    }
    return word >= 65536 % product;
}

/* ---- packed deals, at most 64 cards ---- */

/* What one word of a deal places: runs of pay cards of one symbol. */
typedef struct {
    uint64_t threshold; /* a left word below it is rejected */
    uint32_t runs;
    struct {
        uint64_t plane[3]; /* all ones where the code has a bit */
        uint32_t count;
    } run[4];
} bmn_word_plan;

/* A deck made ready.  64 cards need at most 9 words. */
typedef struct {
    bmn_deck deck;
    uint32_t words;
    bmn_word_plan word[16];
} bmn_dealer;

/* Returns 0 if the deck is larger than 64 cards or badly formed. */
BMN_UNUSED int bmn_dealer_init(bmn_dealer *dealer, const bmn_deck *deck)
{
    uint32_t left[5], pay_cards = 0, free = deck->total, code = 1;
    memset(dealer, 0, sizeof *dealer);
    for (int c = 1; c <= 4; c++)
        pay_cards += left[c] = deck->count[c];
    if (deck->total > 64 || deck->split > deck->total || pay_cards + deck->count[0] != deck->total)
        return 0;
    dealer->deck = *deck;
    while (pay_cards) {
        bmn_dice dice = bmn_dice_for(free, pay_cards);
        bmn_word_plan *plan = &dealer->word[dealer->words++];
        plan->threshold = dice.threshold;
        free -= dice.count;
        pay_cards -= dice.count;
        while (dice.count) {
            while (!left[code])
                code++;
            uint32_t count = left[code] < dice.count ? left[code] : dice.count;
            plan->run[plan->runs].count = count;
            for (uint32_t k = 0; k < 3; k++)
                plan->run[plan->runs].plane[k] = -(uint64_t)(code >> k & 1);
            plan->runs++;
            left[code] -= count;
            dice.count -= count;
        }
    }
    return 1;
}

/* The k-th set bit of the word, k from 0, without pdep: counts of set bits by pairs, nibbles and
 * bytes; the running sums over the bytes, all compared with k at once, give the byte, and the
 * smaller counts then the bit. */
BMN_INLINE uint64_t bmn_kth_bit(uint64_t word, uint32_t k)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
    uint64_t pairs = word - (word >> 1 & UINT64_C(0x5555555555555555));
    uint64_t nibbles =
        (pairs & UINT64_C(0x3333333333333333)) + (pairs >> 2 & UINT64_C(0x3333333333333333));
    uint64_t sums = ((nibbles + (nibbles >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) *
                    ones;                                  /* byte i: bits in bytes 0..i */
    uint64_t passed = (((k * ones) | tops) - sums) & tops; /* bytes with a sum <= k */
    uint32_t place = (uint32_t)((passed >> 7) * ones >> 56) * 8, here, up;
    k -= (uint32_t)(sums << 8 >> place & 255);
    here = (uint32_t)(nibbles >> place & 15);
    up = k >= here;
    k -= up * here;
    place += 4 * up;
    here = (uint32_t)(pairs >> place & 3);
    up = k >= here;
    k -= up * here;
    place += 2 * up;
    place += k >= (word >> place & 1);
    return UINT64_C(1) << place;
}

typedef uint64_t bmn_kth_bit_function(uint64_t word, uint32_t k);

/* Places the pay cards of one deal.  `kth_bit` is a constant in each caller. */
BMN_INLINE void bmn_deal_one(const bmn_dealer *dealer, uint64_t point,
                             bmn_kth_bit_function *kth_bit, bmn_packed *out)
{
    uint64_t free = bmn_low_bits((int)dealer->deck.total), plane[3] = {0, 0, 0}, counter = 0;
    uint32_t sides = dealer->deck.total;
    for (uint32_t w = 0; w < dealer->words; w++) {
        const bmn_word_plan *plan = &dealer->word[w];
        uint64_t word, left, low, middle, high;
        uint32_t die;
        do { /* again only if the word is rejected */
            word = bmn_word(point, counter++);
            left = free;
            die = sides;
            low = middle = high = 0;
            for (uint32_t r = 0; r < plan->runs; r++) {
                uint64_t before = left;
                uint32_t count = plan->run[r].count;
                for (; count >= 4;
                     count -= 4, die -= 4) { /* a rank of the standard deck at a time */
                    left ^= kth_bit(left, bmn_die(&word, die));
                    left ^= kth_bit(left, bmn_die(&word, die - 1));
                    left ^= kth_bit(left, bmn_die(&word, die - 2));
                    left ^= kth_bit(left, bmn_die(&word, die - 3));
                }
                for (; count; count--)
                    left ^= kth_bit(left, bmn_die(&word, die--));
                uint64_t placed = before ^ left;
                low |= placed & plan->run[r].plane[0];
                middle |= placed & plan->run[r].plane[1];
                high |= placed & plan->run[r].plane[2];
            }
        } while (BMN_RARE(word < plan->threshold));
        free = left;
        sides = die;
        plane[0] |= low;
        plane[1] |= middle;
        plane[2] |= high;
    }
    *out = (bmn_packed){.plane = {plane[0], plane[1], plane[2]},
                        .split = (uint8_t)dealer->deck.split,
                        .total = (uint8_t)dealer->deck.total};
}

/* The common signature: deals first, first + 1, ..., first + n - 1 of the seed. */
typedef void bmn_deal_function(const bmn_dealer *dealer, uint64_t seed, uint64_t first, size_t n,
                               bmn_packed *out);

BMN_UNUSED void bmn_deal_packed(const bmn_dealer *dealer, uint64_t seed, uint64_t first, size_t n,
                                bmn_packed *out)
{
    bmn_seed_keys keys = bmn_keys_of_seed(seed);
    for (size_t i = 0; i < n; i++)
        bmn_deal_one(dealer, bmn_deal_point(keys, first + i), bmn_kth_bit, &out[i]);
}

#if BMN_X86_64
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt"))),                \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt")
#endif
BMN_INLINE uint64_t bmn_kth_bit_pdep(uint64_t word, uint32_t k)
{
    return _pdep_u64(UINT64_C(1) << k, word);
}

/* Needs BMI2; before Zen 3, AMD's pdep is microcode and slower than bmn_deal_packed. */
BMN_UNUSED void bmn_deal_packed_fast(const bmn_dealer *dealer, uint64_t seed, uint64_t first,
                                     size_t n, bmn_packed *out)
{
    bmn_seed_keys keys = bmn_keys_of_seed(seed);
    for (size_t i = 0; i < n; i++)
        bmn_deal_one(dealer, bmn_deal_point(keys, first + i), bmn_kth_bit_pdep, &out[i]);
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* ---- any deck, as bytes ---- */

/* Deal number `deal` of the seed, as deck->total codes.  At most BMN_MAX_DECK cards. */
BMN_UNUSED void bmn_deal_codes(const bmn_deck *deck, uint64_t seed, uint64_t deal, uint8_t *codes)
{
    uint64_t free[(BMN_MAX_DECK + 64) / 64], point = bmn_deal_point(bmn_keys_of_seed(seed), deal),
                                             counter = 0;
    uint32_t left[5], pay_cards = 0, places = deck->total, result[64];
    uint8_t code = 1;
    memset(codes, 0, deck->total);
    for (uint32_t at = 0; at < deck->total; at += 64)
        free[at / 64] = bmn_low_bits(deck->total - at < 64 ? (int)(deck->total - at) : 64);
    for (int c = 1; c <= 4; c++)
        pay_cards += left[c] = deck->count[c];
    while (pay_cards) {
        bmn_dice dice = bmn_dice_for(places, pay_cards);
        while (!bmn_roll(bmn_word(point, counter++), dice, result))
            ;
        for (uint32_t i = 0; i < dice.count; i++) {
            uint32_t k = result[i], at = 0, here;
            while (k >= (here = (uint32_t)bmn_count_bits(free[at]))) {
                k -= here;
                at++;
            }
            uint64_t bit = bmn_kth_bit(free[at], k);
            free[at] ^= bit;
            while (!left[code])
                code++;
            left[code]--;
            codes[64 * at + (uint32_t)bmn_lowest_bit(bit)] = code;
        }
        places -= dice.count;
        pay_cards -= dice.count;
    }
}

#endif
