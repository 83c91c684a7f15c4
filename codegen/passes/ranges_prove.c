/* Order between values: what a branch says about the blocks below it, and what follows from that.
 * Reads and writes the state of the walk; everything it writes can be taken back. */
#include "codegen/passes/ranges_parts.h"

#define MAX_STEPS      64u /* of one proof */
#define MAX_DEPTH      6u
#define MAX_FACTS      8u  /* about one value that a proof looks at */
#define MAX_TERMS      8u  /* of a sum that is taken apart */
#define MAX_CONDITIONS 32u /* that one branch is taken apart into */

/* ---- Bounds ---------------------------------------------------------------------------------- */

vy_bound vy_bound_value(const vy_ranges *r, uint32_t value)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    if (ins->op == VYRE_OP_LENGTH) {
        vy_bound bound = vy_bound_length(r, ins->ref);
        bound.value = value;
        bound.least = bound.least > r->known[value].umin ? bound.least : r->known[value].umin;
        return bound;
    }
    return (vy_bound){value, 0, r->known[value].umin, 1};
}

vy_bound vy_bound_length(const vy_ranges *r, uint32_t buffer)
{
    const vyre_program *program = r->ssa->program;
    uint32_t same = r->length_of[buffer];
    vy_range count = program->buffers.data[same].count;
    uint64_t least = 0;
    if (count.root && program->exprs.data[count.root].op == VYRE_OP_LITERAL) {
        least = program->exprs.data[count.root].bits[0];
    } else if (r->length_value[same]) {
        least = r->known[r->length_value[same]].umin;
    }
    return (vy_bound){0, same, least, 1};
}

vy_bound vy_bound_number(uint64_t number)
{
    return (vy_bound){0, 0, number, 1};
}

static bool is_dividend(const vy_ranges *r, uint32_t value, const vy_bound *bound)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    return value == bound->value ||
           (bound->length && ins->op == VYRE_OP_LENGTH && r->length_of[ins->ref] == bound->length);
}

/* x / n or x >> log2 n, unsigned, by a literal: n. 0: it is none. */
static uint64_t divisor_of(const vy_ranges *r, const vy_ins *ins)
{
    const vy_ins *by = vy_ranges_get(r, ins->arg[1]);
    if ((ins->op != VYRE_OP_DIV && ins->op != VYRE_OP_SHR) || by->op != VYRE_OP_LITERAL ||
        vy_type_is_signed((vyre_type)ins->type)) {
        return 0;
    }
    if (ins->op == VYRE_OP_DIV) {
        return by->bits;
    }
    return by->bits < vy_ranges_width(ins->type) ? (uint64_t)1 << by->bits : 0;
}

static bool is_bound(const vy_ranges *r, uint32_t value, const vy_bound *bound)
{
    if (bound->divisor == 1) {
        return is_dividend(r, value, bound);
    }
    const vy_ins *ins = vy_ranges_get(r, value);
    return divisor_of(r, ins) == bound->divisor && is_dividend(r, ins->arg[0], bound);
}

static bool is_literal(const vy_ranges *r, uint32_t value, uint64_t bits)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    return ins->op == VYRE_OP_LITERAL && ins->bits == bits;
}

/* ---- Proofs ---------------------------------------------------------------------------------- */

typedef struct vy_proof {
    const vy_ranges *r;
    vy_bound bound;
    uint32_t steps;
} vy_proof;

static bool prove(vy_proof *p, uint32_t value, bool strict, uint32_t depth);

static bool prove_by_facts(vy_proof *p, uint32_t value, bool strict, uint32_t depth)
{
    uint32_t at = p->r->facts_about[value];
    for (uint32_t n = 0; at && n < MAX_FACTS; n++) {
        const vy_order_fact *fact = &p->r->facts.data[at - 1];
        if (prove(p, fact->other, strict && !fact->strict, depth)) {
            return true;
        }
        at = fact->before;
    }
    return false;
}

/* Of value + 1: it is at most what the value is less than, and does not wrap. Of value + by, where
 * both are multiples of more than `by`: it is less than that, too. */
static bool prove_next(vy_proof *p, uint32_t value, uint64_t by, bool strict, uint32_t depth)
{
    uint32_t at = p->r->facts_about[value];
    uint64_t zeros = p->r->known[value].zeros;
    for (uint32_t n = 0; at && by && n < MAX_FACTS; n++) {
        const vy_order_fact *fact = &p->r->facts.data[at - 1];
        uint64_t both = zeros & p->r->known[fact->other].zeros;
        bool is_below = by <= (both ^ (both + 1)) >> 1; /* the lowest bits, which are 0 */
        if (fact->strict && (is_below || by == 1) &&
            prove(p, fact->other, strict && !is_below, depth)) {
            return true;
        }
        at = fact->before;
    }
    return false;
}

/* Groups are numbered below how many there are. */
static bool is_group_count(const vy_proof *p, const vy_ins *ins)
{
    if (!p->bound.value || p->bound.divisor != 1 || ins->ref < VYRE_BUILTIN_WID_X ||
        ins->ref > VYRE_BUILTIN_WID_Z) {
        return false;
    }
    const vy_ins *other = vy_ranges_get(p->r, p->bound.value);
    return other->op == VYRE_OP_BUILTIN &&
           other->ref == ins->ref - VYRE_BUILTIN_WID_X + VYRE_BUILTIN_NUM_GROUPS_X;
}

/* Of value = max(a, by) or max(by, a), unsigned: a. 0: it is none. */
static uint32_t above_floor(const vy_ranges *r, uint32_t value, uint32_t by)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    if (ins->op != VYRE_OP_MAX || vy_type_is_signed((vyre_type)ins->type)) {
        return 0;
    }
    return ins->arg[1] == by ? ins->arg[0] : ins->arg[0] == by ? ins->arg[1] : 0;
}

/* t * n or t << log2 n, unsigned, by a literal: n, and t. 0: it is none. */
static uint64_t factor_of(const vy_ranges *r, uint32_t value, uint32_t *out_times)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    uint64_t bits;
    if (ins->op != VYRE_OP_MUL && ins->op != VYRE_OP_SHL) {
        return 0;
    }
    if (vy_type_is_vector((vyre_type)ins->type) || vy_type_is_signed((vyre_type)ins->type)) {
        return 0;
    }
    uint32_t by = ins->arg[1];
    *out_times = ins->arg[0];
    if (ins->op == VYRE_OP_MUL && vy_ranges_get(r, by)->op != VYRE_OP_LITERAL) {
        by = ins->arg[0];
        *out_times = ins->arg[1];
    }
    if (vy_ranges_get(r, by)->op != VYRE_OP_LITERAL) {
        return 0;
    }
    bits = vy_ranges_get(r, by)->bits;
    if (ins->op == VYRE_OP_MUL) {
        return bits;
    }
    return bits < vy_ranges_width(ins->type) ? (uint64_t)1 << bits : 0;
}

/* The terms of a sum, itself where it is none; 0: there are too many. */
static uint32_t terms_of(const vy_ranges *r, uint32_t value, uint32_t terms[MAX_TERMS])
{
    uint32_t count = 1;
    terms[0] = value;
    for (uint32_t i = 0; i < count;) {
        const vy_ins *ins = vy_ranges_get(r, terms[i]);
        if (ins->op != VYRE_OP_ADD || vy_type_is_signed((vyre_type)ins->type)) {
            i++;
            continue;
        }
        if (count == MAX_TERMS) {
            return 0;
        }
        terms[i] = ins->arg[0];
        terms[count++] = ins->arg[1];
    }
    return count;
}

/* Tiles: of a sum t * n + rest where t < bound / n and rest < n. Then t * n <= bound - n, and
 * nothing wraps. t * n alone, if not less, is at most the bound where t <= bound / n. */
static bool prove_in_tile(vy_proof *p, uint32_t value, bool strict, uint32_t depth)
{
    const vy_ranges *r = p->r;
    uint32_t terms[MAX_TERMS], count = terms_of(r, value, terms);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t times = 0;
        uint64_t factor = factor_of(r, terms[i], &times), rest = 0;
        for (uint32_t k = 0; k < count && factor > 1; k++) {
            uint64_t most = k == i ? 0 : r->known[terms[k]].umax;
            rest = most > UINT64_MAX - rest ? UINT64_MAX : rest + most;
        }
        if (factor <= 1 || rest >= factor) {
            continue;
        }
        vy_proof q = {r, p->bound, p->steps};
        q.bound.divisor = factor;
        q.bound.least /= factor;
        bool is_proved = prove(&q, times, strict || rest, depth);
        p->steps = q.steps;
        if (is_proved) {
            return true;
        }
    }
    return false;
}

/* By what the value is made of: an operand that it cannot exceed. */
static bool prove_by_operands(vy_proof *p, uint32_t value, bool strict, uint32_t depth)
{
    const vy_ranges *r = p->r;
    const vy_ins *ins = vy_ranges_get(r, value);
    uint32_t x = ins->arg[0], y = ins->arg[1], floor;
    bool is_signed = vy_type_is_signed((vyre_type)ins->type);
    const vy_known *kx = &r->known[x], *ky = &r->known[y];
    switch ((int)ins->op) {
    case VYRE_OP_BUILTIN:
        return is_group_count(p, ins);
    case VYRE_OP_BITCAST:
    case VYRE_OP_CAST: {
        const vy_ins *from = vy_ranges_get(r, x);
        if (!vy_ranges_is_integer(from->type) || !vy_ranges_is_integer(ins->type)) {
            return false;
        }
        uint32_t before = vy_ranges_width(from->type), now = vy_ranges_width(ins->type);
        bool grows = before < now && (!vy_type_is_signed((vyre_type)from->type) || kx->smin >= 0);
        /* Cut off bits only make it less. */
        return (before >= now || grows) && prove(p, x, strict, depth);
    }
    case VYRE_OP_AND:
        return prove(p, x, strict, depth) || prove(p, y, strict, depth);
    case VYRE_OP_MIN:
        if (is_signed && (kx->smin < 0 || ky->smin < 0)) {
            return false;
        }
        return prove(p, x, strict, depth) || prove(p, y, strict, depth);
    case VYRE_OP_MAX:
        if (is_signed && (kx->smin < 0 || ky->smin < 0)) {
            return false;
        }
        return prove(p, x, strict, depth) && prove(p, y, strict, depth);
    case VYRE_OP_SELECT:
        return prove(p, y, strict, depth) && prove(p, ins->arg[2], strict, depth);
    case VYRE_OP_SHR:
        return (!is_signed || kx->smin >= 0) && prove(p, x, strict, depth);
    case VYRE_OP_DIV:
        return vy_known_is_not_zero(ky) && (!is_signed || (kx->smin >= 0 && ky->smin >= 0)) &&
               prove(p, x, strict, depth);
    case VYRE_OP_REM:
        if (is_signed && (kx->smin < 0 || ky->smin < 0)) {
            return false;
        }
        return prove(p, x, strict, depth) ||
               prove(p, y, strict && !vy_known_is_not_zero(ky), depth);
    case VYRE_OP_ADD:
        return vy_ranges_get(r, y)->op == VYRE_OP_LITERAL &&
               prove_next(p, x, vy_ranges_get(r, y)->bits, strict, depth);
    case VYRE_OP_SUB_SAT:
        return !is_signed && prove(p, x, strict, depth);
    case VYRE_OP_SUB:
        /* max(a, c) - c is a - c, or 0 where that would be less. */
        floor = above_floor(r, x, y);
        if (floor && prove(p, floor, strict, depth)) {
            return true;
        }
        return (r->fits[value] & VY_FITS_UNSIGNED) &&
               prove(p, x, strict && !vy_known_is_not_zero(ky), depth);
    default:
        return false;
    }
}

static bool prove(vy_proof *p, uint32_t value, bool strict, uint32_t depth)
{
    const vy_known *k = &p->r->known[value];
    if (strict ? k->umax < p->bound.least : k->umax <= p->bound.least) {
        return true;
    }
    if (!strict && is_bound(p->r, value, &p->bound)) {
        return true;
    }
    if (depth == 0 || p->steps++ >= MAX_STEPS) {
        return false;
    }
    return prove_by_facts(p, value, strict, depth - 1) ||
           prove_by_operands(p, value, strict, depth - 1) ||
           (p->bound.divisor == 1 && prove_in_tile(p, value, strict, depth - 1));
}

bool vy_ranges_is_below(const vy_ranges *r, uint32_t value, vy_bound bound, bool strict)
{
    vy_proof p = {r, bound, 0};
    return prove(&p, value, strict, MAX_DEPTH);
}

/* ---- State ----------------------------------------------------------------------------------- */

vy_range_mark vy_ranges_mark(const vy_ranges *r)
{
    return (vy_range_mark){r->facts.count, r->undos.count};
}

void vy_ranges_go_back(vy_ranges *r, vy_range_mark mark)
{
    while (r->facts.count > mark.facts) {
        const vy_order_fact *fact = &r->facts.data[--r->facts.count];
        r->facts_about[fact->value] = fact->before;
    }
    while (r->undos.count > mark.undos) {
        const vy_range_undo *undo = &r->undos.data[--r->undos.count];
        r->known[undo->value] = undo->known;
    }
}

void vy_ranges_add_fact(vy_ranges *r, uint32_t value, uint32_t other, bool strict)
{
    vy_order_fact fact = {value, other, strict, r->facts_about[value]};
    if (vy_vec_push(r->ssa->scratch, &r->facts, fact)) {
        r->facts_about[value] = r->facts.count;
    }
}

/* ---- Narrowing ------------------------------------------------------------------------------- */

/* The operand that the value tells something about, with what it tells. 0: none. */
static uint32_t source_of(const vy_ranges *r, uint32_t value, vy_known *out_known)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    const vy_known *k = &r->known[value];
    uint32_t width = vy_ranges_width(ins->type);
    if (ins->op == VYRE_OP_BITCAST || ins->op == VYRE_OP_CAST) {
        const vy_ins *from = vy_ranges_get(r, ins->arg[0]);
        *out_known = *k;
        return vy_ranges_is_integer(from->type) && vy_ranges_is_integer(ins->type) &&
                       vy_ranges_width(from->type) == width
                   ? ins->arg[0]
                   : 0;
    }
    if (ins->op == VYRE_OP_MAX && !vy_type_is_signed((vyre_type)ins->type)) {
        uint32_t larger = k->umin > r->known[ins->arg[1]].umax   ? ins->arg[0]
                          : k->umin > r->known[ins->arg[0]].umax ? ins->arg[1]
                                                                 : 0;
        *out_known = *k; /* the other one is less than what came out */
        return larger;
    }
    if (ins->op != VYRE_OP_ADD && ins->op != VYRE_OP_SUB) {
        return 0;
    }
    const vy_ins *by = vy_ranges_get(r, ins->arg[1]);
    if (by->op != VYRE_OP_LITERAL) {
        return 0;
    }
    const vy_known known = *k;
    const vy_known *operands[2] = {&known, &r->known[ins->arg[1]]};
    *out_known = vy_known_compute(ins->op == VYRE_OP_ADD ? VYRE_OP_SUB : VYRE_OP_ADD, false, width,
                                  operands, NULL);
    return ins->arg[0];
}

void vy_ranges_narrow(vy_ranges *r, uint32_t value, const vy_known *by)
{
    vy_known known = *by;
    for (uint32_t steps = 0; value && steps < 4; steps++) {
        vy_range_undo undo = {value, r->known[value]};
        uint32_t width = vy_ranges_width(vy_ranges_get(r, value)->type);
        /* What contradicts itself stands in flow that never happens: leave it. */
        vy_known narrowed = undo.known;
        if (!vy_known_meet(&narrowed, &known, width) ||
            !vy_vec_push(r->ssa->scratch, &r->undos, undo)) {
            return;
        }
        r->known[value] = narrowed;
        value = source_of(r, value, &known);
    }
}

/* low < high or low <= high, as the type counts. */
static void assume_order(vy_ranges *r, uint32_t low, uint32_t high, bool strict, bool is_signed)
{
    uint32_t width = vy_ranges_width(vy_ranges_get(r, low)->type);
    vy_known a = r->known[low], b = r->known[high];
    vy_known below = vy_known_anything(width), above = below;
    if (is_signed) {
        if (strict && (b.smax == below.smin || a.smin == below.smax)) {
            return; /* never */
        }
        below.smax = strict ? b.smax - 1 : b.smax;
        above.smin = strict ? a.smin + 1 : a.smin;
    } else {
        if (strict && (b.umax == 0 || a.umin == below.umax)) {
            return;
        }
        below.umax = strict ? b.umax - 1 : b.umax;
        above.umin = strict ? a.umin + 1 : a.umin;
    }
    if (!is_signed || a.smin >= 0) {
        vy_ranges_add_fact(r, low, high, strict);
    }
    vy_ranges_narrow(r, low, &below);
    vy_ranges_narrow(r, high, &above);
}

static void assume_apart(vy_ranges *r, uint32_t value, uint32_t other)
{
    const vy_known *b = &r->known[other];
    vy_known by = r->known[value];
    if (!vy_known_is_exact(b)) {
        return;
    }
    if (by.umin == b->umin && by.umin < by.umax) {
        by.umin++;
    } else if (by.umax == b->umin && by.umin < by.umax) {
        by.umax--;
    }
    if (by.smin == b->smin && by.smin < by.smax) {
        by.smin++;
    } else if (by.smax == b->smin && by.smin < by.smax) {
        by.smax--;
    }
    vy_ranges_narrow(r, value, &by);
}

static void assume_comparison(vy_ranges *r, const vy_ins *ins, bool holds)
{
    uint32_t x = ins->arg[0], y = ins->arg[1];
    uint8_t type = vy_ranges_get(r, x)->type;
    bool is_signed = vy_type_is_signed((vyre_type)type);
    vy_known by;
    if (!vy_ranges_tracks(type)) {
        return;
    }
    switch ((int)ins->op) {
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
        if (holds == (ins->op == VYRE_OP_EQ)) {
            by = r->known[x];
            vy_ranges_narrow(r, x, &r->known[y]);
            vy_ranges_narrow(r, y, &by);
            vy_ranges_add_fact(r, x, y, false);
            vy_ranges_add_fact(r, y, x, false);
        } else {
            assume_apart(r, x, y);
            assume_apart(r, y, x);
        }
        break;
    case VYRE_OP_LT:
        assume_order(r, holds ? x : y, holds ? y : x, holds, is_signed);
        break;
    case VYRE_OP_LE:
        assume_order(r, holds ? x : y, holds ? y : x, !holds, is_signed);
        break;
    case VYRE_OP_GT:
        assume_order(r, holds ? y : x, holds ? x : y, holds, is_signed);
        break;
    case VYRE_OP_GE:
        assume_order(r, holds ? y : x, holds ? x : y, !holds, is_signed);
        break;
    default:
        break;
    }
}

static void assume(vy_ranges *r, uint32_t condition, bool holds, uint32_t depth)
{
    const vy_ins *ins = vy_ranges_get(r, condition);
    vy_known by = vy_known_exact(holds, 32);
    if (r->budget == 0 || depth == 0) {
        return;
    }
    r->budget--;
    vy_ranges_narrow(r, condition, &by);
    switch ((int)ins->op) {
    case VYRE_OP_NOT:
        assume(r, ins->arg[0], !holds, depth - 1);
        break;
    case VYRE_OP_LOGICAL_AND:
    case VYRE_OP_LOGICAL_OR:
        if (holds == (ins->op == VYRE_OP_LOGICAL_AND)) {
            assume(r, ins->arg[0], holds, depth - 1);
            assume(r, ins->arg[1], holds, depth - 1);
        }
        break;
    default:
        assume_comparison(r, ins, holds);
        break;
    }
}

void vy_ranges_assume(vy_ranges *r, uint32_t condition, bool holds)
{
    r->budget = MAX_CONDITIONS;
    assume(r, condition, holds, MAX_CONDITIONS);
}

/* ---- Loops that count their trips ------------------------------------------------------------ */

/* The two edges of a header's phi: from before the loop, from its end. */
static bool edges_of(const vy_ranges *r, const vy_ins *phi, uint32_t *first, uint32_t *next)
{
    if (phi->op != VY_SSA_PHI || phi->bits != 2) {
        return false;
    }
    const vy_phi_edge *edges = &r->ssa->phi_edges.data[phi->ref];
    bool turned = edges[0].block >= phi->block;
    *first = edges[turned ? 1 : 0].value;
    *next = edges[turned ? 0 : 1].value;
    return edges[turned ? 1 : 0].block < phi->block && edges[turned ? 0 : 1].block >= phi->block;
}

static uint32_t past_bitcast(const vy_ranges *r, uint32_t value)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    return ins->op == VYRE_OP_BITCAST ? ins->arg[0] : value;
}

static bool same_bits(const vy_ranges *r, uint32_t a, uint32_t b)
{
    a = past_bitcast(r, a);
    b = past_bitcast(r, b);
    const vy_ins *x = vy_ranges_get(r, a), *y = vy_ranges_get(r, b);
    return a == b || (x->op == VYRE_OP_LITERAL && y->op == VYRE_OP_LITERAL && x->bits == y->bits);
}

/* trips = select(from < to, ceil((to - from) / step), 0), as build_loop.c writes it: which from,
 * to. The sum and the difference below are exact where from < to. */
static bool match_trips(const vy_ranges *r, uint32_t trips, uint32_t step, uint32_t *from,
                        uint32_t *to)
{
    const vy_ins *select = vy_ranges_get(r, trips);
    if (select->op != VYRE_OP_SELECT || vy_type_is_signed((vyre_type)select->type) ||
        !is_literal(r, select->arg[2], 0)) {
        return false;
    }
    const vy_ins *runs = vy_ranges_get(r, select->arg[0]);
    uint32_t distance = select->arg[1];
    if (runs->op != VYRE_OP_LT) {
        return false;
    }
    *from = runs->arg[0];
    *to = runs->arg[1];
    if (!is_literal(r, past_bitcast(r, step), 1)) {
        const vy_ins *sum = vy_ranges_get(r, distance);
        const vy_ins *quotient = vy_ranges_get(r, sum->arg[0]);
        if (sum->op != VYRE_OP_ADD || !is_literal(r, sum->arg[1], 1) ||
            quotient->op != VYRE_OP_DIV || !same_bits(r, quotient->arg[1], step)) {
            return false;
        }
        const vy_ins *less = vy_ranges_get(r, quotient->arg[0]);
        if (less->op != VYRE_OP_SUB || !is_literal(r, less->arg[1], 1)) {
            return false;
        }
        distance = less->arg[0];
    }
    distance = past_bitcast(r, distance);
    const vy_ins *difference = vy_ranges_get(r, distance);
    return (distance == *to && is_literal(r, *from, 0)) ||
           (difference->op == VYRE_OP_SUB && difference->arg[0] == *to &&
            difference->arg[1] == *from);
}

/* The index's first value is `from`, or to - 1. */
static bool starts_there(const vy_ranges *r, uint32_t first, bool down, uint32_t from, uint32_t to)
{
    if (!down) {
        return first == from;
    }
    const vy_ins *ins = vy_ranges_get(r, first);
    const vy_ins *last = vy_ranges_get(r, to);
    return (ins->op == VYRE_OP_SUB && ins->arg[0] == to && is_literal(r, ins->arg[1], 1)) ||
           (ins->op == VYRE_OP_LITERAL && last->op == VYRE_OP_LITERAL &&
            ins->bits + 1 == last->bits);
}

/* first + k * step, or first - k * step, for k < trips, where nothing can wrap. */
static void assume_steps(vy_ranges *r, uint32_t index, uint32_t first, uint32_t step, bool down,
                         uint64_t trips)
{
    uint32_t width = vy_ranges_width(vy_ranges_get(r, index)->type);
    const vy_known *a = &r->known[first], *s = &r->known[step];
    uint64_t mask = vy_known_mask(width), room = down ? a->umin : mask - a->umax;
    if (trips == 0 || (s->umax && trips - 1 > room / s->umax)) {
        return;
    }
    uint64_t way = (trips - 1) * s->umax;
    vy_known by =
        vy_known_unsigned(down ? a->umin - way : a->umin, down ? a->umax : a->umax + way, width);
    vy_ranges_narrow(r, index, &by);
}

static void assume_index(vy_ranges *r, uint32_t index, uint32_t trips)
{
    uint32_t first, next, from, to;
    const vy_ins *phi = vy_ranges_get(r, index);
    if (!vy_ranges_is_integer(phi->type) || !edges_of(r, phi, &first, &next)) {
        return;
    }
    const vy_ins *move = vy_ranges_get(r, next);
    bool down = move->op == VYRE_OP_SUB;
    if ((move->op != VYRE_OP_ADD && !down) || move->arg[0] != index) {
        return;
    }
    uint32_t step = move->arg[1];
    if (vy_ranges_get(r, step)->op == VYRE_OP_LITERAL) {
        assume_steps(r, index, first, step, down, r->known[trips].umax);
    }
    bool is_signed = vy_type_is_signed((vyre_type)phi->type);
    if (match_trips(r, trips, step, &from, &to) && starts_there(r, first, down, from, to) &&
        vy_ranges_get(r, from)->type == phi->type) {
        assume_order(r, from, index, false, is_signed);
        assume_order(r, index, to, true, is_signed);
    }
}

void vy_ranges_assume_trips(vy_ranges *r, uint32_t condition, uint32_t body)
{
    const vy_ins *ins = vy_ranges_get(r, condition);
    uint32_t first, next, header = r->flow.loop[body];
    if (ins->op != VYRE_OP_NE || !header || !is_literal(r, ins->arg[1], 0)) {
        return;
    }
    /* Nothing may go round without the test: what is left must not go below 0. */
    if (!vy_flow_dominates(&r->flow, body, r->ssa->blocks.data[header].continue_block)) {
        return;
    }
    const vy_ins *left = vy_ranges_get(r, ins->arg[0]);
    if (left->block != header || !edges_of(r, left, &first, &next)) {
        return;
    }
    const vy_ins *less = vy_ranges_get(r, next);
    if (less->op != VYRE_OP_SUB || less->arg[0] != ins->arg[0] || !is_literal(r, less->arg[1], 1)) {
        return;
    }
    for (uint32_t i = r->ssa->blocks.data[header].first; i; i = r->ssa->ins.data[i].next) {
        if (vy_ranges_get(r, i)->op != VY_SSA_PHI) {
            break;
        }
        if (i != ins->arg[0]) {
            assume_index(r, i, first);
        }
    }
}
