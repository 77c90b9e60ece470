/* Dealing: deal number n of a seed is a pure function of the two.
 *
 * Each deal has a generator of its own, SplitMix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014), whose state starts at a mix of seed and number.
 * The shuffle is Fisher and Yates's; each die is thrown exactly, by Lemire's multiplication with
 * rejection ("Fast random integer generation in an interval", ACM TOMACS 29, 2019), so that every
 * order of the deck is equally likely up to the quality of the generator.
 */
#ifndef BMN_DEALING_H
#define BMN_DEALING_H

#include <stdint.h>
#include <string.h>

static uint64_t bmn_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A whole number from 0 to n - 1, each equally likely. */
static uint32_t bmn_die(uint64_t *state, uint32_t n)
{
    uint32_t too_low = -n % n; /* 2^32 mod n */
    uint64_t product;
    do
        product = (bmn_mix(*state += 0x9e3779b97f4a7c15u) >> 32) * n;
    while ((uint32_t)product < too_low);
    return (uint32_t)(product >> 32);
}

static void bmn_deal(const uint8_t *deck, uint32_t cards, uint64_t seed, uint64_t number,
                     uint8_t *out)
{
    uint64_t state = bmn_mix(bmn_mix(seed + 0x9e3779b97f4a7c15u) ^ number);
    memcpy(out, deck, cards);
    for (uint32_t left = cards; left > 1; left--) {
        uint32_t picked = bmn_die(&state, left);
        uint8_t card = out[left - 1];
        out[left - 1] = out[picked];
        out[picked] = card;
    }
}
#endif
