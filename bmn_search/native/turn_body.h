/* turn_body.h - what comes of many positions: bmn_fate_of (turn.h) in the lanes of the trick
 * kernel.
 *
 * This file is a template and goes on where trick_body.h ends.
 *
 * Algorithm.  A game is seated in a lane and played a trick a step, as there.  With every step both
 * packets' gaps are compared with those of the position that is kept for the lane; where they are
 * equal the penalties are looked at as well.  When it is time to look into the table or to keep
 * another position, and when the lane's patience is over, the loop stops as at a deadline.
 *
 * Why fast.  A trick costs some 50 instructions without a branch instead of 190 with two or three
 * that nobody can foretell.  Measured: docs/grow.md.
 */

typedef struct {
    TIER(desk) desk;
    TIER(table) kept[TIER(SETS)];
    uint64_t since[TIER(SETS)][LANES], until[TIER(SETS)][LANES]; /* steps */
    uint8_t code[16];                                            /* of each penalty */
    bmn_familiar *familiar;
    int32_t *tricks;
    bmn_position *on;
} TIER(watch);

/* Steps every lane until a game ends or may have come back, or the deadline is reached; returns the
 * lanes whose games have ended, and in `back` those that may have come back. */
BMN_INLINE uint64_t TIER(watch_on)(TIER(watch) * watch, const int payer_leads, uint64_t *back)
{
    TIER(desk) *desk = &watch->desk;
    TIER(table) table[TIER(SETS)], *kept = watch->kept;
    TIER(ledger) *book = desk->book;
    VEC debt[TIER(SETS)], same[TIER(SETS)], stop;
    uint64_t step = desk->step, deadline = desk->deadline;
    BMN_UNROLL
    for (int s = 0; s < TIER(SETS); s++)
        table[s] = desk->table[s];
    do {
        BMN_IN_MEMORY(book);
        BMN_IN_MEMORY(kept);
        stop = BYTES(0);
        BMN_UNROLL
        for (int s = 0; s < TIER(SETS); s++) {
            debt[s] = TIER(trick)(&table[s], &book[s], payer_leads);
            VEC differ = (table[s].leader_gap ^ kept[s].leader_gap) |
                         (table[s].other_gap ^ kept[s].other_gap);
            same[s] = OP(cmpeq_epi64)(differ, BYTES(0));
            same[s] &= OP(shuffle_epi32)(same[s], 0x4e); /* both halves */
            stop |= same[s] | OP(cmpeq_epi8)(debt[s], BYTES(0));
        }
        step++;
    } while (!OP(movemask_epi8)(stop) && step < deadline);
    BMN_UNROLL
    for (int s = 0; s < TIER(SETS); s++) {
        desk->table[s] = table[s];
        same[s] = ~same[s];
    }
    desk->step = step;
    *back = TIER(ended)(same);
    return TIER(ended)(debt);
}

/* The next game for a lane; nothing is kept for it: no gaps at all mean the end, which is seen
 * first. */
static void TIER(seat)(TIER(watch) * watch, unsigned set, unsigned lane)
{
    TIER(desk) *desk = &watch->desk;
    const __m128i none = _mm_setzero_si128();
    TIER(take)(desk, set, lane);
    *TIER(lane)(&watch->kept[set].leader_gap, lane) = none;
    *TIER(lane)(&watch->kept[set].other_gap, lane) = none;
    watch->until[set][lane] =
        desk->lane[set][lane].busy ? desk->lane[set][lane].began + BMN_GLANCE : UINT64_MAX;
    if (watch->until[set][lane] < desk->deadline)
        desk->deadline = watch->until[set][lane];
}

static bmn_word_packet TIER(packet)(const __m128i *gaps, const __m128i *penalties,
                                    const uint8_t code_of[16])
{
    uint8_t gap[16], penalty[16];
    bmn_word_packet packet = {.size = 0};
    memcpy(gap, gaps, sizeof gap);
    memcpy(penalty, penalties, sizeof penalty);
    for (int i = 0; i < 16; i++) {
        packet.size += gap[i];
        if (!penalty[i])
            break;
        uint64_t code = code_of[penalty[i]];
        packet.pay |= UINT64_C(1) << packet.size;
        packet.low |= (code & 1) << packet.size;
        packet.high |= (code >> 1 & 1) << packet.size;
        packet.size++;
    }
    packet.pay |= UINT64_C(1) << packet.size;
    return packet;
}

static bmn_position TIER(position)(TIER(watch) * watch, unsigned set, unsigned lane)
{
    TIER(table) *t = &watch->desk.table[set];
    return (bmn_position){{TIER(packet)(TIER(lane)(&t->leader_gap, lane),
                                        TIER(lane)(&t->leader_penalty, lane), watch->code),
                           TIER(packet)(TIER(lane)(&t->other_gap, lane),
                                        TIER(lane)(&t->other_penalty, lane), watch->code)}};
}

/* Whether a lane whose gaps are as they were has the penalties too. */
static bool TIER(is_back)(TIER(watch) * watch, unsigned set, unsigned lane)
{
    TIER(table) *now = &watch->desk.table[set], *kept = &watch->kept[set];
    return !memcmp(TIER(lane)(&now->leader_penalty, lane), TIER(lane)(&kept->leader_penalty, lane),
                   16) &&
           !memcmp(TIER(lane)(&now->other_penalty, lane), TIER(lane)(&kept->other_penalty, lane),
                   16);
}

/* Writes down what came of the games that have ended or come back, and seats new ones. */
static void TIER(settle)(TIER(watch) * watch, uint64_t ended, uint64_t back)
{
    TIER(desk) *desk = &watch->desk;
    for (uint64_t seats = ended | back; seats; seats &= seats - 1) {
        unsigned seat = (unsigned)bmn_lowest_bit(seats), set = seat / LANES, lane = seat % LANES;
        bmn_trick_lane *state = &desk->lane[set][lane];
        if (!state->busy)
            continue;
        if (ended >> seat & 1) { /* without a pile a battle ran off the list */
            if (bmn_sum_of_halves(TIER(lane)(&desk->book[set].pile, lane)))
                watch->tricks[state->which] = BMN_ENDS;
        } else if (TIER(is_back)(watch, set, lane)) {
            watch->tricks[state->which] = (int32_t)(desk->step - watch->since[set][lane]);
            watch->on[state->which] = TIER(position)(watch, set, lane);
        } else {
            continue;
        }
        desk->busy--;
        TIER(seat)(watch, set, lane);
    }
}

/* Keeps the position of a lane; returns whether its game is over for another reason. */
static bool TIER(keep)(TIER(watch) * watch, unsigned set, unsigned lane)
{
    const bmn_trick_lane *state = &watch->desk.lane[set][lane];
    uint64_t step = watch->desk.step;
    int trick = (int)(step - state->began);
    bmn_position now = TIER(position)(watch, set, lane);
    if (!now.side[0].size || !now.side[1].size) { /* seen in the next step */
        watch->until[set][lane] = step + 1;
        return false;
    }
    if (trick >= BMN_PATIENCE || (trick == BMN_GLANCE && bmn_is_familiar(watch->familiar, &now))) {
        watch->tricks[state->which] = trick >= BMN_PATIENCE ? BMN_TOO_LONG : BMN_FAMILIAR;
        return true;
    }
    const TIER(table) *table = &watch->desk.table[set];
    TIER(table) *kept = &watch->kept[set];
    const __m128i *from = (const __m128i *)table + lane;
    __m128i *to = (__m128i *)kept + lane;
    for (int i = 0; i < 4; i++)
        to[i * LANES] = from[i * LANES];
    int until = bmn_kept_until(trick);
    watch->since[set][lane] = step;
    watch->until[set][lane] =
        state->began + (uint64_t)(until < BMN_PATIENCE ? until : BMN_PATIENCE);
    return false;
}

/* Keeps what it is time to keep, and looks when the next time is. */
static void TIER(keep_all)(TIER(watch) * watch)
{
    TIER(desk) *desk = &watch->desk;
    for (unsigned seat = 0; seat < TIER(SETS) * LANES; seat++) {
        unsigned set = seat / LANES, lane = seat % LANES;
        if (watch->until[set][lane] <= desk->step && TIER(keep)(watch, set, lane)) {
            desk->busy--;
            TIER(seat)(watch, set, lane);
        }
    }
    desk->deadline = UINT64_MAX;
    for (unsigned seat = 0; seat < TIER(SETS) * LANES; seat++)
        if (watch->until[seat / LANES][seat % LANES] < desk->deadline)
            desk->deadline = watch->until[seat / LANES][seat % LANES];
}

/* As `bmn_fate_function` says. */
BMN_UNUSED void TIER(bmn_fates)(const bmn_packed *deals, size_t n, const bmn_law *law,
                                bmn_familiar *familiar, int32_t *tricks, bmn_position *on)
{
    TIER(watch) watch;
    bmn_trick_supply supply;
    uint64_t back;
    memset(&watch, 0, sizeof watch);
    bmn_supply_init(&supply, &law->rules, 0, n, NULL);
    supply.deals = deals;
    watch.desk.supply = &supply;
    watch.desk.deadline = UINT64_MAX;
    watch.familiar = familiar;
    watch.tricks = tricks;
    watch.on = on;
    for (int code = 4; code > 0; code--) /* of those that cost the same the least is in use */
        watch.code[law->rules.penalty[code]] = (uint8_t)code;
    for (size_t i = 0; i < n; i++)
        tricks[i] = BMN_UNSEEN;
    for (unsigned seat = 0; seat < TIER(SETS) * LANES; seat++)
        TIER(seat)(&watch, seat / LANES, seat % LANES);
    while (watch.desk.busy) {
        uint64_t ended = law->rules.payer_leads ? TIER(watch_on)(&watch, 1, &back)
                                                : TIER(watch_on)(&watch, 0, &back);
        TIER(settle)(&watch, ended, back);
        if (watch.desk.step >= watch.desk.deadline)
            TIER(keep_all)(&watch);
    }
    bmn_see(deals, n, law, familiar, tricks, on); /* those that do not fit */
}
