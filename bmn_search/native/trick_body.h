/* trick_body.h - one whole trick per step: the kernel, written once for 128 and 256 bits.
 *
 * This file is a template.  trick_sse.h and trick_avx2.h set, before they include it,
 *     VEC         the register type; each 128-bit lane of it plays one game
 *     LANES       lanes in a register
 *     OP(f)       the intrinsic f at that width
 *     TIER(name)  name with the tier's suffix
 * and define TIER(choose), TIER(broadcast), TIER(count), TIER(pay_list), and TIER_DEAL, the dealing
 * that they use.  It has no include guard.
 *
 * Layout.  A packet is 16 gaps and 16 penalties, a byte each.  Pay card i has penalty[i], with
 * gap[i] plain cards above it; the plain cards below the last pay card are the last gap, with
 * penalty 0: "has nothing left to lay".  `place` is i minus the number of pay cards that the leader
 * holds, `mirror` the sum of the two players' `place`; the sign of `turned` is the parity of the
 * number of tricks that the leader took.  The four arrays of a game must stay in registers; the
 * ledger, which no result waits for, is kept in memory, or else the compiler spills the arrays.
 *
 * Algorithm.
 *   lead      The player whose first gap is shorter (the leader if equal) is the opener; the other
 * player's first gap loses what was laid meanwhile. battle    Zip both packets: opener's 0, other's
 * 0, opener's 1, ...: pay cards, and so debts, in the order in which they would be laid.  Debt i is
 * paid in full if penalty[i] <= gap[i + 1] of the zip, all decided in one comparison.  The first
 * that is paid ends the trick, with M pay cards in the pile.  M is found without leaving the vector
 * unit: saturating each pair of bytes to one leaves 0xff as long as both are unpaid; adding 1 to
 * the 64-bit word carries through those and stops in the first other byte, and v ^ (v + 1) is then
 * 0xff below it, and in it 0x01 if the even debt was paid, 0xff if the odd one.  Capped at 2, these
 * bytes sum to the index. capture   Both packets move up past what they laid.  The pile (the zip,
 * cut after M; its last gap the plain cards paid) is moved to the end of the winner's packet, where
 * its first gap joins the last one. end       A player who comes to penalty 0 has nothing left.  If
 * the pile then holds at most one card, the loser was already empty at the last capture: the game
 * ended there, so that pile is taken back.
 *
 * Why fast.  No branch and no loop depends on the cards until a game ends; LANES games share every
 * instruction, and SETS registers are in flight so that one's latency hides behind the other's
 * work.
 *
 * A trick with 15 or more pay cards (43 in a million games) raises the end signal too; its game is
 * replayed by the portable kernel.
 *
 * Measured (docs/engine.md): 10.3 times plain.h at 256 bits, 4.9 times at 128; 1,723 and 4,288
 * instructions a game, packing into gaps included.  The carry instead of a 4-round minimum saves 95
 * instructions a game, zipping before comparing 99, averages that yield shuffles directly 80.
 */

typedef struct {
    VEC leader_gap, leader_penalty, other_gap, other_penalty;
} TIER(table);

typedef struct {
    VEC place, mirror, turned;
    VEC cards; /* laid so far; two 64-bit parts a lane */
    VEC pile;  /* the same for the last trick */
} TIER(ledger);

enum { TIER(SETS) = 2 }; /* registers in flight */

/* Everything that a tier's loop works on. */
typedef struct {
    TIER(table) table[TIER(SETS)];
    TIER(ledger) book[TIER(SETS)];
    bmn_trick_lane lane[TIER(SETS)][LANES];
    bmn_trick_supply *supply;
    uint64_t step;     /* tricks played in each lane since the start */
    uint64_t limit;    /* steps after which a game is given up */
    uint64_t deadline; /* no game has to be given up before this step */
    int busy;          /* lanes with a game */
} TIER(desk);

#define BYTES(b) OP(set1_epi8)((char)(b))
#define CONSTANT(array) TIER(broadcast)(array)

/* Plays one trick in every lane; returns the debt that ended it, in every byte: 0 if the game is
 * over. */
BMN_INLINE VEC TIER(trick)(TIER(table) * t, TIER(ledger) * book, const int payer_leads)
{
    const VEC zero = BYTES(0), index = CONSTANT(bmn_index), first = CONSTANT(bmn_first_byte);

    /* Lead. */
    VEC swap = OP(shuffle_epi8)(OP(cmpgt_epi8)(t->leader_gap, t->other_gap), zero);
    VEC open_gap = TIER(choose)(t->leader_gap, t->other_gap, swap),
        reply_gap = TIER(choose)(t->other_gap, t->leader_gap, swap);
    VEC open_penalty = TIER(choose)(t->leader_penalty, t->other_penalty, swap);
    VEC reply_penalty = TIER(choose)(t->other_penalty, t->leader_penalty, swap);
    VEC led = OP(sub_epi8)(open_gap, swap) & first;
    reply_gap = OP(sub_epi8)(reply_gap, led);

    /* Battle.  `debt` is the list of penalties moved up by one, to meet the gaps they are paid
     * from. */
    VEC gap = OP(unpacklo_epi8)(open_gap, reply_gap),
        penalty = OP(unpacklo_epi8)(open_penalty, reply_penalty);
    VEC debt = OP(alignr_epi8)(penalty, BYTES(127), 15);
    VEC unpaid = OP(cmpgt_epi8)(debt, gap);
    unpaid = OP(packs_epi16)(unpaid, unpaid);
    VEC until = unpaid ^ OP(sub_epi64)(unpaid, BYTES(-1));
    VEC pays = OP(shuffle_epi8)(
        OP(sad_epu8)(OP(min_epu8)(until, CONSTANT(bmn_battle_weight)), zero), zero);
    VEC last_debt = OP(shuffle_epi8)(debt, pays);
    gap = OP(add_epi8)(gap, led);

    /* Capture: an odd number of pay cards means that the opener laid the last one and wins. */
    VEC opener_wins = OP(slli_epi16)(pays, 7);
    VEC winner_gap = TIER(choose)(reply_gap, open_gap, opener_wins),
        payer_gap = TIER(choose)(open_gap, reply_gap, opener_wins);
    VEC winner_penalty = TIER(choose)(reply_penalty, open_penalty, opener_wins);
    VEC payer_penalty = TIER(choose)(open_penalty, reply_penalty, opener_wins);
    VEC leader_wins = swap ^ opener_wins; /* sign bits */
    VEC winner_place =
        TIER(choose)(OP(sub_epi8)(book->mirror, book->place), book->place, leader_wins);
    VEC winner_up = OP(avg_epu8)(pays, CONSTANT(bmn_winner_up)),
        payer_up = OP(avg_epu8)(pays, CONSTANT(bmn_payer_up));
    winner_gap = OP(shuffle_epi8)(winner_gap, winner_up);
    winner_penalty = OP(shuffle_epi8)(winner_penalty, winner_up);
    payer_gap = OP(sub_epi8)(OP(shuffle_epi8)(payer_gap, payer_up), last_debt & first);
    payer_penalty = OP(shuffle_epi8)(payer_penalty, payer_up);

    VEC to = OP(add_epi8)(winner_place, OP(avg_epu8)(pays, zero)); /* where the pile goes */
    VEC in_pile = OP(cmpgt_epi8)(pays, index);
    gap = (gap & in_pile) | (last_debt & OP(cmpeq_epi8)(pays, index));
    winner_gap = OP(add_epi8)(winner_gap, OP(shuffle_epi8)(gap, to));
    winner_penalty = winner_penalty | OP(shuffle_epi8)(penalty & in_pile, to);
    winner_place = OP(sub_epi8)(to, pays);

    book->pile = OP(sad_epu8)(OP(sub_epi8)(gap, in_pile), zero);
    book->cards = OP(add_epi64)(book->cards, book->pile);
    t->leader_gap = payer_leads ? payer_gap : winner_gap;
    t->leader_penalty = payer_leads ? payer_penalty : winner_penalty;
    t->other_gap = payer_leads ? winner_gap : payer_gap;
    t->other_penalty = payer_leads ? winner_penalty : payer_penalty;
    book->place = payer_leads ? OP(sub_epi8)(book->mirror, winner_place) : winner_place;
    book->turned = book->turned ^ leader_wins;
    return last_debt;
}

/* Writes the two packets of a deal as gaps and penalties; returns 0 if the deal does not fit. */
BMN_INLINE int TIER(game_of)(const bmn_packed *deal, const bmn_trick_supply *supply,
                             bmn_trick_game *game)
{
    const __m128i index = _mm_load_si128((const __m128i *)bmn_index), minus_one = _mm_set1_epi8(-1);
    const uint64_t pay = supply->no_plain_rank ? deal->plane[0] | deal->plane[1] | deal->plane[2]
                                               : bmn_pay_places(deal, supply->rules);
    const int split = deal->split, pay_cards = TIER(count)(pay),
              pay_first = TIER(count)(pay & bmn_low_bits(split));
    if (BMN_RARE(pay_cards > 16))
        return 0;
    const int lowest =
        pay ? 63 - __builtin_clzll(pay) : -1; /* place of the last pay card of the row */
    const int below =
        lowest > split - 1 ? lowest : split - 1; /* what the last gap of packet 2 lies below */
    __m128i place, penalty, first_count = _mm_set1_epi8((char)pay_first),
                            edge = _mm_set1_epi8((char)(split - 1));
    TIER(pay_list)(deal, pay, supply, &place, &penalty);
    __m128i cost = _mm_sad_epu8(penalty, _mm_setzero_si128());
    if (pay_cards == 16 && supply->out != NULL &&
        BMN_RARE(_mm_cvtsi128_si32(cost) + _mm_extract_epi16(cost, 4) < deal->total - 16))
        return 0; /* see bmn_fits_trick */
    __m128i before = _mm_alignr_epi8(place, minus_one,
                                     15); /* place of the pay card before; -1 before the first */
    __m128i in_first = _mm_cmpgt_epi8(first_count, index),
            in_row = _mm_cmpgt_epi8(_mm_set1_epi8((char)pay_cards), index);
    __m128i border = _mm_cmpeq_epi8(
        first_count, index); /* the first entry of packet 2, and the last gap of packet 1 */
    __m128i gap =
        _mm_sub_epi8(_mm_sub_epi8(place, _mm_blendv_epi8(before, edge, border)), _mm_set1_epi8(1));
    gap = _mm_and_si128(gap, in_row);
    penalty = _mm_and_si128(penalty, in_row);
    __m128i last_gap_1 = _mm_and_si128(_mm_sub_epi8(edge, before), border);
    __m128i last_gap_2 =
        _mm_and_si128(_mm_set1_epi8((char)(deal->total - 1 - below)),
                      _mm_cmpeq_epi8(index, _mm_set1_epi8((char)(pay_cards - pay_first))));
    __m128i up = _mm_add_epi8(_mm_add_epi8(index, _mm_set1_epi8(0x70)), first_count);
    __m128i *row = (__m128i *)game->gap;
    _mm_store_si128(row, _mm_or_si128(_mm_and_si128(gap, in_first), last_gap_1));
    _mm_store_si128(row + 1, _mm_or_si128(_mm_shuffle_epi8(gap, up), last_gap_2));
    _mm_store_si128(row + 2, _mm_and_si128(penalty, in_first));
    _mm_store_si128(row + 3, _mm_shuffle_epi8(penalty, up));
    _mm_store_si128(row + 4, _mm_sub_epi8(index, first_count));
    _mm_store_si128(row + 5,
                    _mm_sub_epi8(_mm_add_epi8(index, index), _mm_set1_epi8((char)pay_cards)));
    return 1;
}

/* Turns the next deals into games in the supply's ring, at most BMN_RING of them; returns 0 when
 * there are none left. */
BMN_NOINLINE int TIER(refill)(bmn_trick_supply *supply)
{
    bmn_packed dealt[BMN_RING];
    supply->at = supply->filled = 0;
    while (!supply->filled && supply->next < supply->n) {
        size_t count = supply->n - supply->next < BMN_RING ? supply->n - supply->next : BMN_RING;
        const bmn_packed *deals = supply->deals + supply->next;
        if (supply->dealer)
            supply->deal(supply->dealer, supply->seed, supply->first + supply->next, count, dealt);
        for (size_t i = 0; i < count; i++) {
            const bmn_packed *deal = supply->dealer ? &dealt[i] : &deals[i];
            size_t which = supply->next + i;
            if (BMN_RARE(!TIER(game_of)(deal, supply, &supply->ring[supply->filled]))) {
                if (supply->out != NULL)
                    supply->out[which] =
                        bmn_portable_play_one(deal, supply->rules, supply->max_tricks);
            } else
                supply->ring[supply->filled++].which = which;
        }
        supply->next += count;
    }
    return supply->filled != 0;
}

/* The 128 bits of one lane. */
BMN_INLINE __m128i *TIER(lane)(VEC *vectors, unsigned lane)
{
    return (__m128i *)vectors + lane;
}

/* Takes the next game into a lane; an idle lane plays on with what is left of its last game. */
BMN_INLINE void TIER(take)(TIER(desk) * desk, unsigned set, unsigned lane)
{
    bmn_trick_supply *supply = desk->supply;
    bmn_trick_lane *state = &desk->lane[set][lane];
    TIER(table) *table = &desk->table[set];
    TIER(ledger) *book = &desk->book[set];
    state->busy = supply->at < supply->filled || TIER(refill)(supply);
    if (!state->busy)
        return;
    const bmn_trick_game *game = &supply->ring[supply->at++];
    const __m128i *row = (const __m128i *)game->gap, none = _mm_setzero_si128();
    *TIER(lane)(&table->leader_gap, lane) = row[0];
    *TIER(lane)(&table->other_gap, lane) = row[1];
    *TIER(lane)(&table->leader_penalty, lane) = row[2];
    *TIER(lane)(&table->other_penalty, lane) = row[3];
    *TIER(lane)(&book->place, lane) = row[4];
    *TIER(lane)(&book->mirror, lane) = row[5];
    *TIER(lane)(&book->turned, lane) = none;
    *TIER(lane)(&book->cards, lane) = none;
    state->which = game->which;
    state->began = desk->step;
    desk->busy++;
}

/* The outcome of a game that has just ended. */
BMN_INLINE bmn_outcome TIER(outcome)(TIER(desk) * desk, unsigned set, unsigned lane)
{
    bmn_trick_supply *supply = desk->supply;
    const bmn_trick_lane *state = &desk->lane[set][lane];
    TIER(ledger) *book = &desk->book[set];
    uint32_t tricks = (uint32_t)(desk->step - state->began);
    uint32_t cards = bmn_sum_of_halves(TIER(lane)(&book->cards, lane)) -
                     1; /* the end of the packet counted as a card */
    uint32_t last = bmn_sum_of_halves(TIER(lane)(&book->pile, lane));
    uint32_t turned = *(const uint8_t *)TIER(lane)(&book->turned, lane) >> 7;
    /* The loser was taken for the winner of the last trick. */
    uint32_t winner_is_second = supply->rules->payer_leads ? turned : turned ^ (~tricks & 1);
    if (BMN_RARE(!last)) /* a battle that ran off the list */
        return bmn_replay(supply, state->which);
    cards -= last <= 2 ? last - 1 : 0;
    tricks -= last <= 2;
    if (BMN_RARE(tricks > supply->max_tricks))
        return bmn_undecided();
    return bmn_finished(cards, tricks, 1 + (int)winner_is_second);
}

/* Writes the outcomes of the games that have ended and seats new ones. */
BMN_INLINE void TIER(turn_over)(TIER(desk) * desk, uint64_t ended)
{
    for (; ended; ended &= ended - 1) {
        unsigned seat = (unsigned)bmn_lowest_bit(ended), set = seat / LANES, lane = seat % LANES;
        bmn_trick_lane *state = &desk->lane[set][lane];
        if (!state->busy)
            continue;
        desk->supply->out[state->which] = TIER(outcome)(desk, set, lane);
        desk->busy--;
        TIER(take)(desk, set, lane);
    }
}

/* Gives up the games that have had their tricks, and looks when the next one will have. */
BMN_NOINLINE void TIER(give_up)(TIER(desk) * desk)
{
    desk->deadline = UINT64_MAX;
    for (unsigned set = 0; set < TIER(SETS); set++)
        for (unsigned lane = 0; lane < LANES; lane++) {
            bmn_trick_lane *state = &desk->lane[set][lane];
            if (state->busy && desk->step - state->began >= desk->limit) {
                desk->supply->out[state->which] = bmn_undecided();
                desk->busy--;
                TIER(take)(desk, set, lane);
            }
            if (state->busy && state->began + desk->limit < desk->deadline)
                desk->deadline = state->began + desk->limit;
        }
}

/* One bit for each lane whose last debt is 0. */
BMN_INLINE uint64_t TIER(ended)(const VEC *debt)
{
    uint64_t ended = 0;
    BMN_UNROLL
    for (int s = 0; s < TIER(SETS); s++) {
        unsigned bytes = (unsigned)OP(movemask_epi8)(OP(cmpeq_epi8)(debt[s], BYTES(0)));
        ended |= (uint64_t)((bytes & 1) | (LANES > 1 ? bytes >> 15 & 2 : 0)) << (LANES * s);
    }
    return ended;
}

/* Steps every lane until a game ends or the deadline is reached; returns the lanes whose games have
 * ended. */
BMN_INLINE uint64_t TIER(play_on)(TIER(desk) * desk, const int payer_leads)
{
    TIER(table) table[TIER(SETS)];
    TIER(ledger) *book = desk->book;
    VEC debt[TIER(SETS)], least;
    uint64_t step = desk->step, deadline = desk->deadline;
    BMN_UNROLL
    for (int s = 0; s < TIER(SETS); s++)
        table[s] = desk->table[s];
    do {
        BMN_IN_MEMORY(book);
        BMN_UNROLL
        for (int s = 0; s < TIER(SETS); s++)
            debt[s] = TIER(trick)(&table[s], &book[s], payer_leads);
        least = debt[0];
        BMN_UNROLL
        for (int s = 1; s < TIER(SETS); s++)
            least = OP(min_epu8)(least, debt[s]);
        step++;
    } while (!OP(movemask_epi8)(OP(cmpeq_epi8)(least, BYTES(0))) && step < deadline);
    BMN_UNROLL
    for (int s = 0; s < TIER(SETS); s++)
        desk->table[s] = table[s];
    desk->step = step;
    return TIER(ended)(debt);
}

BMN_NOINLINE void TIER(play_supply)(bmn_trick_supply *supply)
{
    TIER(desk) desk;
    memset(&desk, 0, sizeof desk);
    desk.supply = supply;
    desk.limit = desk.deadline =
        (uint64_t)supply->max_tricks + 1; /* one step more shows an end at the last capture */
    for (unsigned seat = 0; seat < TIER(SETS) * LANES; seat++)
        TIER(take)(&desk, seat / LANES, seat % LANES);
    while (desk.busy) {
        TIER(turn_over)(&desk, supply->rules->payer_leads ? TIER(play_on)(&desk, 1)
                                                          : TIER(play_on)(&desk, 0));
        if (BMN_RARE(desk.step >= desk.deadline))
            TIER(give_up)(&desk);
    }
}

BMN_UNUSED void TIER(bmn_play)(const bmn_packed *deals, size_t n, const bmn_rules *rules,
                               uint32_t max_tricks, bmn_outcome *out)
{
    bmn_trick_supply supply;
    bmn_supply_init(&supply, rules, max_tricks, n, out);
    supply.deals = deals;
    TIER(play_supply)(&supply);
}

/* Plays the deals first, first + 1, ..., first + n - 1 of the seed, dealt a ringful at a time. */
BMN_UNUSED void TIER(bmn_deal_and_play)(const bmn_dealer *dealer, uint64_t seed, uint64_t first,
                                        size_t n, const bmn_rules *rules, uint32_t max_tricks,
                                        bmn_outcome *out)
{
    bmn_trick_supply supply;
    bmn_supply_init(&supply, rules, max_tricks, n, out);
    supply.dealer = dealer;
    supply.deal = TIER_DEAL;
    supply.seed = seed;
    supply.first = first;
    TIER(play_supply)(&supply);
}
