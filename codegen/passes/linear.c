/* See linear.h. Both look at definitions alone, never at branches, so that what they find holds
 * wherever a value may be used. */
#include "codegen/passes/linear.h"

#include <string.h>

#define MAX_ZEROS  64u
#define MAX_ROUNDS 5u
#define MAX_STEPS  32u /* of one index */

/* ---- Low bits -------------------------------------------------------------------------------- */

static bool is_integer(const vy_ins *ins)
{
    vyre_type type = (vyre_type)ins->type;
    return vy_type_components(type) == 1 && vy_type_is_integer(type);
}

static uint32_t zeros_in(uint64_t bits)
{
    uint32_t count = 0;
    if (bits & 1) {
        return 0;
    }
    if (!bits) {
        return MAX_ZEROS;
    }
    for (uint32_t half = MAX_ZEROS / 2; half; half /= 2) {
        if (!(bits << (MAX_ZEROS - half))) {
            bits >>= half;
            count += half;
        }
    }
    return count;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* By a literal, as shifts count; UINT32_MAX: by something else. */
static uint32_t amount_of(const vy_ssa *ssa, const vy_ins *shift)
{
    const vy_ins *by = &ssa->ins.data[shift->arg[1]];
    uint32_t width = vy_type_width((vyre_type)shift->type);
    return by->op == VYRE_OP_LITERAL ? (uint32_t)by->bits & (width - 1) : UINT32_MAX;
}

static uint32_t zeros_of_phi(const vy_ssa *ssa, const uint8_t *zeros, const vy_ins *phi)
{
    uint32_t count = MAX_ZEROS;
    for (uint32_t e = 0; e < phi->bits; e++) {
        count = least(count, zeros[ssa->phi_edges.data[phi->ref + e].value]);
    }
    return count;
}

static uint32_t zeros_of(const vy_ssa *ssa, const uint8_t *zeros, const vy_ins *ins)
{
    if (!is_integer(ins)) {
        return 0;
    }
    uint32_t a = zeros[ins->arg[0]], b = zeros[ins->arg[1]], amount;
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return zeros_in(ins->bits);
    case VY_SSA_PHI:
        return zeros_of_phi(ssa, zeros, ins);
    case VYRE_OP_CAST: /* what is no integer has none */
    case VYRE_OP_BITCAST:
    case VYRE_OP_NEGATE:
        return a;
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_OR:
    case VYRE_OP_XOR:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
        return least(a, b);
    case VYRE_OP_SELECT:
        return least(b, zeros[ins->arg[2]]);
    case VYRE_OP_CLAMP:
        return least(least(a, b), zeros[ins->arg[2]]);
    case VYRE_OP_AND:
        return a > b ? a : b;
    case VYRE_OP_MUL:
        return least(a + b, MAX_ZEROS);
    case VYRE_OP_SHL:
        amount = amount_of(ssa, ins);
        return amount == UINT32_MAX ? a : least(a + amount, MAX_ZEROS);
    case VYRE_OP_SHR:
        amount = amount_of(ssa, ins);
        return amount == UINT32_MAX || amount > a ? 0 : a - amount;
    default:
        return 0;
    }
}

/* Lowers what is taken for known; of literals that is right from the first time on. */
static void lower(const vy_ssa *ssa, uint8_t *zeros, bool is_first, bool has_phis)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            if (ins->op == VYRE_OP_LITERAL && !is_first) {
                continue;
            }
            bool is_open = !has_phis && ins->op == VY_SSA_PHI;
            zeros[i] = (uint8_t)(is_open ? 0 : zeros_of(ssa, zeros, ins));
        }
    }
}

/* Whether lowering once more would find the same: only phis of loops read what comes behind them.
 */
static bool is_settled(const vy_ssa *ssa, const uint8_t *zeros)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        uint32_t i = block->merge_kind == VY_MERGE_LOOP ? block->first : 0;
        for (; i && ssa->ins.data[i].op == VY_SSA_PHI; i = ssa->ins.data[i].next) {
            if (zeros_of(ssa, zeros, &ssa->ins.data[i]) != zeros[i]) {
                return false;
            }
        }
    }
    return true;
}

uint8_t *vy_ssa_low_zeros(const vy_ssa *ssa)
{
    uint8_t *zeros = vy_arena_alloc(ssa->scratch, ssa->ins.count, sizeof *zeros);
    if (!zeros) {
        return NULL;
    }
    memset(zeros, MAX_ZEROS, ssa->ins.count);
    zeros[0] = 0;
    /* From what loops would be at best down to what they are. While it still falls nothing holds:
     * then of phis nothing is taken for known, and one round is enough. */
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        lower(ssa, zeros, round == 0, true);
        if (is_settled(ssa, zeros)) {
            return zeros;
        }
    }
    lower(ssa, zeros, false, false);
    return zeros;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

typedef struct expansion {
    const vy_ssa *ssa;
    const uint8_t *zeros;
    vy_linear sum;
    vy_linear_term work[VY_LINEAR_TERMS + 1]; /* still to be taken apart */
    uint32_t work_count;
    bool is_deep; /* sums of two values too */
    bool failed;
} expansion;

static void add_work(expansion *x, uint32_t value, uint32_t factor)
{
    if (x->work_count == VY_COUNT_OF(x->work)) {
        x->failed = true;
        return;
    }
    x->work[x->work_count++] = (vy_linear_term){value, factor};
}

static void add_term(expansion *x, vy_linear_term term)
{
    vy_linear *sum = &x->sum;
    uint32_t at = 0;
    while (at < sum->count && sum->terms[at].value < term.value) {
        at++;
    }
    if (at < sum->count && sum->terms[at].value == term.value) {
        sum->terms[at].factor += term.factor;
        return;
    }
    if (sum->count == VY_LINEAR_TERMS) {
        x->failed = true;
        return;
    }
    for (uint32_t i = sum->count++; i > at; i--) {
        sum->terms[i] = sum->terms[i - 1];
    }
    sum->terms[at] = term;
}

/* Integers of 32 bits or more, whose low 32 bits follow from those of what they are made of. */
static bool is_open(const vy_ins *ins)
{
    return is_integer(ins) && vy_type_width((vyre_type)ins->type) >= 32;
}

static const vy_ins *literal_at(const vy_ssa *ssa, uint32_t value)
{
    const vy_ins *ins = &ssa->ins.data[value];
    return ins->op == VYRE_OP_LITERAL ? ins : NULL;
}

/* a + b, a - b, or a | b where b has none of the bits that a may have. */
static bool open_sum(expansion *x, const vy_ins *ins, uint32_t factor)
{
    uint32_t a = ins->arg[0], b = ins->arg[1];
    const vy_ins *by = literal_at(x->ssa, b);
    bool is_apart = by && x->zeros[a] < 64 && by->bits >> x->zeros[a] == 0;
    if (ins->op == VYRE_OP_OR ? !is_apart : !x->is_deep && !by && !literal_at(x->ssa, a)) {
        return false;
    }
    add_work(x, a, factor);
    add_work(x, b, ins->op == VYRE_OP_SUB ? 0 - factor : factor);
    return true;
}

static bool open_product(expansion *x, const vy_ins *ins, uint32_t factor)
{
    const vy_ins *by = literal_at(x->ssa, ins->arg[1]);
    uint32_t of = ins->arg[0];
    if (ins->op == VYRE_OP_MUL && !by) {
        by = literal_at(x->ssa, ins->arg[0]);
        of = ins->arg[1];
    }
    if (!by) {
        return false;
    }
    uint32_t number = (uint32_t)by->bits;
    if (ins->op == VYRE_OP_SHL) {
        uint32_t amount = amount_of(x->ssa, ins);
        number = amount < 32 ? 1u << amount : 0;
    }
    add_work(x, of, factor * number);
    return true;
}

/* Whether it was taken apart. */
static bool open(expansion *x, vy_linear_term term)
{
    const vy_ins *ins = &x->ssa->ins.data[term.value];
    if (!is_open(ins)) {
        return false;
    }
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        x->sum.offset += term.factor * (uint32_t)ins->bits;
        return true;
    case VYRE_OP_CAST:
    case VYRE_OP_BITCAST:
        if (!is_open(&x->ssa->ins.data[ins->arg[0]])) {
            return false;
        }
        add_work(x, ins->arg[0], term.factor);
        return true;
    case VYRE_OP_NEGATE:
        add_work(x, ins->arg[0], 0 - term.factor);
        return true;
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_OR:
        return open_sum(x, ins, term.factor);
    case VYRE_OP_MUL:
    case VYRE_OP_SHL:
        return open_product(x, ins, term.factor);
    default:
        return false;
    }
}

static bool expand(expansion *x, uint32_t value)
{
    uint32_t kept = 0;
    add_work(x, value, 1);
    for (uint32_t step = 0; x->work_count && !x->failed; step++) {
        vy_linear_term term = x->work[--x->work_count];
        if (step >= MAX_STEPS || !open(x, term)) {
            add_term(x, term);
        }
    }
    for (uint32_t i = 0; i < x->sum.count; i++) {
        if (x->sum.terms[i].factor) {
            x->sum.terms[kept++] = x->sum.terms[i];
        }
    }
    x->sum.count = kept;
    return !x->failed;
}

vy_linear vy_linear_find(const vy_ssa *ssa, const uint8_t *zeros, uint32_t value)
{
    expansion x = {.ssa = ssa, .zeros = zeros, .is_deep = true};
    if (!expand(&x, value)) { /* of the sum of a value and a number, which always has room */
        x = (expansion){.ssa = ssa, .zeros = zeros};
        (void)expand(&x, value);
    }
    return x.sum;
}

bool vy_linear_has_terms_of(const vy_linear *a, const vy_linear *b)
{
    bool is_same = a->count == b->count;
    for (uint32_t i = 0; is_same && i < a->count; i++) {
        is_same =
            a->terms[i].value == b->terms[i].value && a->terms[i].factor == b->terms[i].factor;
    }
    return is_same;
}

uint32_t vy_linear_zeros(const vy_linear *a, const uint8_t *zeros)
{
    uint32_t count = 32;
    for (uint32_t i = 0; i < a->count; i++) {
        count = least(count, zeros_in(a->terms[i].factor) + zeros[a->terms[i].value]);
    }
    return count;
}
