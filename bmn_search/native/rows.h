/* rows.h - batches in two stages: a kernel plays every deal up to a limit, the general engine the
 * rest.
 *
 * Stage one. The kernels have no cycle detection: a game that has not ended after BMN_FIRST_STAGE
 * tricks (about one in 10^22 games of the standard deck that end) comes back undecided. Asking for
 * a repeat at every trick would cost 13 to 16 percent; asking only there is free.
 *
 * Stage two. The general engine replays what is undecided with Brent's algorithm and the caller's
 * own limit, and plays what no kernel can hold (more than 64 cards, a limit of cards). So a row
 * is exact whichever kernel played it.
 */
#ifndef BMN_ROWS_H
#define BMN_ROWS_H

#include "batch.h"
#include "dealing.h"
#include "general.h"
#include "plain.h"
#include "portable.h"
#include "trick_avx2.h"
#include "trick_sse.h"

#define BMN_FIRST_STAGE 1500u
enum { BMN_BLOCK = 4096 }; /* deals at a time: a vector kernel's lanes idle at the end of each */

/* The tiers, slowest first, and the yardstick, which is not for use. */
enum { BMN_GENERAL, BMN_PORTABLE, BMN_SIMD128, BMN_SIMD, BMN_PLAIN, BMN_KERNELS };

/* One row of the caller's array. */
typedef struct {
    uint64_t cards, tricks, transient_cards, transient_tricks, cycle_cards, cycle_tricks;
    uint8_t status, winner;
} bmn_row;

/* Between bytes and rows. */
typedef struct {
    bmn_packed packed[BMN_BLOCK];
    bmn_outcome outcome[BMN_BLOCK];
    uint16_t which[BMN_BLOCK]; /* the row of each packed deal */
} bmn_desk;

/* How to play, and the memory for it. */
typedef struct {
    int kernel;
    bmn_rules rules;
    uint64_t max_tricks, max_cards; /* UINT64_MAX: no limit */
    bmn_desk *desk;
    uint32_t *tokens, *memory; /* the general engine's */
} bmn_job;

static void bmn_job_free(bmn_job *job)
{
    free(job->desk);
    free(job->tokens);
    free(job->memory);
}

/* Returns false for want of memory; bmn_job_free either way. */
static bool bmn_job_init(bmn_job *job, uint32_t most_cards)
{
    const uint32_t size[2] = {most_cards, 0};
    job->desk = malloc(sizeof *job->desk);
    job->tokens = malloc(((size_t)most_cards + 1) * sizeof *job->tokens);
    job->memory = malloc(bmn_memory_for(bmn_mask_for(size)) * sizeof *job->memory);
    return job->desk && job->tokens && job->memory;
}

static uint32_t bmn_first_stage(const bmn_job *job)
{
    return job->max_tricks < BMN_FIRST_STAGE ? (uint32_t)job->max_tricks : BMN_FIRST_STAGE;
}

enum { BMN_FEATURES = 6 };

typedef struct {
    const char *name;
    bool offered;
} bmn_feature;

/* The instruction sets that the vector kernels need; returns how many. Every CPU with BMI2 has
 * LZCNT too, which older compilers cannot ask for. */
static int bmn_cpu_features(bmn_feature features[BMN_FEATURES])
{
#if BMN_X86_64
    const bmn_feature found[BMN_FEATURES] = {
        {"ssse3", __builtin_cpu_supports("ssse3")},   {"sse4.1", __builtin_cpu_supports("sse4.1")},
        {"popcnt", __builtin_cpu_supports("popcnt")}, {"bmi", __builtin_cpu_supports("bmi")},
        {"bmi2", __builtin_cpu_supports("bmi2")},     {"avx2", __builtin_cpu_supports("avx2")},
    };
    memcpy(features, found, sizeof found);
    return BMN_FEATURES;
#else
    (void)features;
    return 0;
#endif
}

/* Says whether this machine can run a kernel: simd128 needs the first two features, simd all. */
static bool bmn_kernel_runs(int kernel)
{
    bmn_feature features[BMN_FEATURES];
    int needed = kernel == BMN_SIMD ? BMN_FEATURES : kernel == BMN_SIMD128 ? 2 : 0;
    if (bmn_cpu_features(features) < needed)
        return false;
    for (int i = 0; i < needed; i++)
        if (!features[i].offered)
            return false;
    return kernel >= 0 && kernel < BMN_KERNELS;
}

static bmn_play_function *bmn_kernel_function(int kernel)
{
#if BMN_X86_64
    if (kernel == BMN_SIMD)
        return bmn_play_avx2;
    if (kernel == BMN_SIMD128)
        return bmn_play_sse;
#endif
    (void)kernel;
    return bmn_play_portable;
}

static bmn_fate_function *bmn_kernel_fates(int kernel)
{
#if BMN_X86_64
    if (kernel == BMN_SIMD)
        return bmn_fates_avx2;
    if (kernel == BMN_SIMD128)
        return bmn_fates_sse;
#endif
    (void)kernel;
    return bmn_fates_portable;
}

/* The yardstick's full shuffle, then its game: other deals than those of the seed. */
static void bmn_shuffle_and_play_plain(const bmn_deck *deck, uint64_t seed, size_t n,
                                       const bmn_rules *rules, uint32_t max_tricks,
                                       bmn_outcome *out)
{
    uint8_t codes[BMN_PLAIN_CARDS + 1];
    uint32_t total = 0;
    bmn_xoshiro state = bmn_xoshiro_seed(seed);
    for (uint8_t code = 0; code < 5; code++)
        for (uint32_t i = 0; i < deck->count[code]; i++)
            codes[total++] = code;
    for (size_t i = 0; i < n; i++) {
        bmn_plain_shuffle(&state, codes, total);
        out[i] = bmn_plain_play_one(codes, deck->split, total, rules, max_tricks);
    }
}

/* Stage one for the deals first, first + 1, ..., first + n - 1 of a seed, n <= BMN_BLOCK. */
static void bmn_deal_and_play(const bmn_job *job, const bmn_dealer *dealer, uint64_t seed,
                              uint64_t first, size_t n)
{
    bmn_desk *desk = job->desk;
    switch (job->kernel) {
#if BMN_X86_64
    case BMN_SIMD:
        bmn_deal_and_play_avx2(dealer, seed, first, n, &job->rules, bmn_first_stage(job),
                               desk->outcome);
        break;
    case BMN_SIMD128:
        bmn_deal_and_play_sse(dealer, seed, first, n, &job->rules, bmn_first_stage(job),
                              desk->outcome);
        break;
#endif
    case BMN_PLAIN:
        bmn_shuffle_and_play_plain(&dealer->deck, seed + first, n, &job->rules,
                                   bmn_first_stage(job), desk->outcome);
        break;
    default:
        bmn_deal_packed(dealer, seed, first, n, desk->packed);
        bmn_play_portable(desk->packed, n, &job->rules, bmn_first_stage(job), desk->outcome);
    }
}

/* Stage two: one deal, exactly. */
static void bmn_play_row(const bmn_job *job, const uint8_t *codes, const uint32_t size[2],
                         bmn_row *row)
{
    bmn_general_rules rules = {job->rules.payer_leads, job->max_tricks, job->max_cards};
    bmn_run run;
    for (uint32_t i = 0; i < size[0] + size[1]; i++)
        job->tokens[i] = job->rules.penalty[codes[i]];
    bmn_general_play_in(job->tokens, size, 0, &rules, job->memory, bmn_mask_for(size), &run);
    *row = (bmn_row){
        .cards = run.total.cards,
        .tricks = run.total.tricks,
        .transient_cards = run.transient.cards,
        .transient_tricks = run.transient.tricks,
        .cycle_cards = run.cycle.cards,
        .cycle_tricks = run.cycle.tricks,
        .status = (uint8_t)run.status,
        .winner = (uint8_t)(run.winner + 1),
    };
}

BMN_INLINE bmn_row bmn_row_of(const bmn_outcome *outcome)
{
    return (bmn_row){.cards = outcome->cards,
                     .tricks = outcome->tricks,
                     .status = outcome->status,
                     .winner = outcome->winner};
}

/* Plays the deals of one block that a kernel can hold; marks the others as unknown. */
static void bmn_play_block(const bmn_job *job, const uint8_t *codes, size_t width,
                           const uint32_t *sizes, size_t n, size_t readable, bmn_row *rows)
{
    bmn_desk *desk = job->desk;
    size_t held = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t first = sizes[2 * i], total = first + sizes[2 * i + 1];
        rows[i].status = BMN_UNKNOWN;
        if (!bmn_fits_packed(total))
            continue;
        desk->packed[held] = bmn_pack_one(codes + i * width, readable - i * width, first, total);
        desk->which[held++] = (uint16_t)i;
    }
    bmn_kernel_function(job->kernel)(desk->packed, held, &job->rules, bmn_first_stage(job),
                                     desk->outcome);
    for (size_t k = 0; k < held; k++)
        rows[desk->which[k]] = bmn_row_of(&desk->outcome[k]);
}

/* The yardstick reads bytes. */
static void bmn_play_block_plain(const bmn_job *job, const uint8_t *codes, size_t width,
                                 const uint32_t *sizes, size_t n, bmn_row *rows)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t first = sizes[2 * i], total = first + sizes[2 * i + 1];
        rows[i].status = BMN_UNKNOWN;
        if (total > BMN_PLAIN_CARDS)
            continue;
        bmn_outcome outcome =
            bmn_plain_play_one(codes + i * width, first, total, &job->rules, bmn_first_stage(job));
        rows[i] = bmn_row_of(&outcome);
    }
}

/* Plays n deals: row i of `codes`, `width` bytes, holds sizes[2i] cards of the leader, then
 * sizes[2i + 1] of the other player. */
static void bmn_play_rows(const bmn_job *job, const uint8_t *codes, size_t width,
                          const uint32_t *sizes, size_t n, bmn_row *rows)
{
    const bool general = job->kernel == BMN_GENERAL || job->max_cards != UINT64_MAX;
    for (size_t at = 0; at < n; at += BMN_BLOCK) {
        size_t count = n - at < BMN_BLOCK ? n - at : BMN_BLOCK;
        const uint8_t *block = codes + at * width;
        if (!general && job->kernel == BMN_PLAIN)
            bmn_play_block_plain(job, block, width, sizes + 2 * at, count, rows + at);
        else if (!general)
            bmn_play_block(job, block, width, sizes + 2 * at, count, (n - at) * width, rows + at);
        for (size_t i = at; i < at + count; i++)
            if (general || rows[i].status == BMN_UNKNOWN)
                bmn_play_row(job, codes + i * width, sizes + 2 * i, &rows[i]);
    }
}

/* Plays the deals first, first + 1, ..., first + n - 1 of a seed without a round trip through
 * bytes; `codes` holds one deal. */
static void bmn_play_seed(const bmn_job *job, const bmn_deck *deck, uint64_t seed, uint64_t first,
                          size_t n, uint8_t *codes, bmn_row *rows)
{
    const uint32_t size[2] = {deck->split, deck->total - deck->split};
    bmn_dealer dealer;
    const bool general = job->kernel == BMN_GENERAL || job->max_cards != UINT64_MAX ||
                         !bmn_dealer_init(&dealer, deck);
    for (size_t at = 0; at < n; at += BMN_BLOCK) {
        size_t count = n - at < BMN_BLOCK ? n - at : BMN_BLOCK;
        if (!general)
            bmn_deal_and_play(job, &dealer, seed, first + at, count);
        for (size_t i = 0; i < count; i++) {
            if (!general && job->desk->outcome[i].status != BMN_UNKNOWN) {
                rows[at + i] = bmn_row_of(&job->desk->outcome[i]);
                continue;
            }
            bmn_deal_codes(deck, seed, first + at + i, codes);
            bmn_play_row(job, codes, size, &rows[at + i]);
        }
    }
}

/* Who compiled this. */
static const char *bmn_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "another compiler";
#endif
}
#endif
