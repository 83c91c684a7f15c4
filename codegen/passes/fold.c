/* Pass fold: computes operators over literals, and operators over one literal or one value twice
 * where the result is exact for the type: integers and bools, select and phi; never f32 arithmetic
 * by rule, since x + 0 is not x for -0. f32 is computed only where the language fixes every bit:
 * not the functions of the tolerance table, and nothing with a denormal, which devices may flush.
 * Then drops branches on literals and starts again where that helped. Keeps the form's rules. */
#include "codegen/passes/passes.h"

#define MAX_ROUNDS 8u

typedef struct folder {
    vy_ssa *ssa;
    vy_eval_fn eval;
    uint32_t *map; /* by instruction of the round's start: what it became */
    bool changed;
    bool again; /* another round may find more */
} folder;

static const vy_ins *get(const folder *f, uint32_t value)
{
    return &f->ssa->ins.data[value];
}

static bool is_literal(const folder *f, uint32_t value)
{
    return get(f, value)->op == VYRE_OP_LITERAL;
}

static bool is_bits(const folder *f, uint32_t value, uint64_t bits)
{
    return is_literal(f, value) && get(f, value)->bits == bits;
}

static uint32_t literal(folder *f, const vy_ins *like, uint64_t bits)
{
    return vy_ssa_literal(f->ssa, (vyre_type)like->type, bits);
}

/* ---- Operators over literals ------------------------------------------------------------------
 */

static bool can_compute(const vy_ins *ins)
{
    if (ins->op >= VYRE_OP_COUNT || vy_tolerance_find((vyre_op)ins->op)) {
        return false;
    }
    switch ((int)ins->op) {
    case VYRE_OP_CAST:
    case VYRE_OP_BITCAST:
        return true;
    case VYRE_OP_FMA:
        return false;
    default:
        return vy_op_get((vyre_op)ins->op)->form != VY_FORM_LEAF;
    }
}

static uint32_t compute(folder *f, const vy_ins *ins)
{
    uint64_t operands[4] = {0, 0, 0, 0};
    uint32_t count = vy_ssa_operand_count(ins);
    bool keeps_bits = ins->op == VYRE_OP_SELECT || ins->op == VYRE_OP_BITCAST;
    bool is_float = vy_type_is_float((vyre_type)ins->type);
    bool are_literals = count > 0;
    for (uint32_t i = 0; i < count && are_literals; i++) {
        are_literals = is_literal(f, ins->arg[i]);
    }
    if (!f->eval || !are_literals || !can_compute(ins)) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const vy_ins *operand = get(f, ins->arg[i]);
        operands[i] = operand->bits;
        if (vy_type_is_float((vyre_type)operand->type) && !keeps_bits) {
            is_float = true;
            if (vy_float_is_denormal((vyre_type)operand->type, operand->bits)) {
                return 0;
            }
        }
    }
    if (is_float && !keeps_bits && f->ssa->program->fast_math) {
        return 0; /* the device's own arithmetic is what was asked for */
    }
    uint64_t bits = f->eval((vyre_op)ins->op, (vyre_type)ins->type,
                            (vyre_type)get(f, ins->arg[0])->type, operands, false);
    uint64_t flushed = f->eval((vyre_op)ins->op, (vyre_type)ins->type,
                               (vyre_type)get(f, ins->arg[0])->type, operands, true);
    if (is_float && !keeps_bits &&
        (bits != flushed || (vy_type_is_float((vyre_type)ins->type) &&
                             vy_float_is_denormal((vyre_type)ins->type, bits)))) {
        return 0;
    }
    return literal(f, ins, bits);
}

static uint32_t fold_table(folder *f, const vy_ins *ins)
{
    const vy_table *table = &f->ssa->program->tables.data[ins->ref];
    if (!is_literal(f, ins->arg[0]) || vy_type_is_vector((vyre_type)table->type)) {
        return 0;
    }
    vyre_type index_type = (vyre_type)get(f, ins->arg[0])->type;
    return literal(f, ins,
                   vy_table_value(table, vy_table_index(index_type, get(f, ins->arg[0])->bits), 0));
}

/* ---- Identities -------------------------------------------------------------------------------
 */

/* x op x, integers and bools. */
static uint32_t fold_same(folder *f, const vy_ins *ins)
{
    uint32_t x = ins->arg[0];
    switch ((int)ins->op) {
    case VYRE_OP_AND:
    case VYRE_OP_OR:
    case VYRE_OP_LOGICAL_AND:
    case VYRE_OP_LOGICAL_OR:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
        return x;
    case VYRE_OP_SUB:
    case VYRE_OP_XOR:
    case VYRE_OP_NE:
    case VYRE_OP_LT:
    case VYRE_OP_GT:
    case VYRE_OP_ABS_DIFF:
        return literal(f, ins, 0);
    case VYRE_OP_EQ:
    case VYRE_OP_LE:
    case VYRE_OP_GE:
        return literal(f, ins, 1);
    default:
        return 0;
    }
}

/* x op literal, integers. */
static uint32_t fold_right(folder *f, const vy_ins *ins, uint32_t x, uint32_t right)
{
    vyre_type type = (vyre_type)get(f, x)->type;
    uint64_t bits = get(f, right)->bits, all = vy_type_bits(type, UINT64_MAX);
    switch ((int)ins->op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_XOR:
        return bits == 0 ? x : 0;
    case VYRE_OP_OR:
        return bits == 0 ? x : bits == all ? right : 0;
    case VYRE_OP_AND:
        return bits == all ? x : bits == 0 ? right : 0;
    case VYRE_OP_MUL:
        return bits == 1 ? x : bits == 0 ? right : 0;
    case VYRE_OP_DIV:
        return bits == 1 ? x : 0;
    case VYRE_OP_REM:
        return bits == 1 || bits == 0 ? literal(f, ins, 0) : 0;
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
    case VYRE_OP_ROTATE_LEFT:
    case VYRE_OP_ROTATE_RIGHT:
        return (bits & (vy_type_width(type) - 1)) == 0 ? x : 0;
    default:
        return 0;
    }
}

/* x op literal, bools. */
static uint32_t fold_right_bool(folder *f, vy_ins *ins, uint32_t x, uint32_t right)
{
    bool bits = get(f, right)->bits != 0;
    switch ((int)ins->op) {
    case VYRE_OP_LOGICAL_AND:
        return bits ? x : right;
    case VYRE_OP_LOGICAL_OR:
        return bits ? right : x;
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
        if (bits == (ins->op == VYRE_OP_EQ)) {
            return x;
        }
        ins->op = VYRE_OP_NOT;
        ins->arg[0] = x;
        ins->arg[1] = 0;
        f->changed = f->again = true;
        return 0;
    default:
        return 0;
    }
}

/* Whether a bool that was made a number is that number: it, or its opposite. */
static uint32_t fold_flag(folder *f, vy_ins *ins, uint32_t x, uint64_t bits)
{
    const vy_ins *cast = get(f, x);
    bool compares = ins->op == VYRE_OP_EQ || ins->op == VYRE_OP_NE;
    if (!compares || bits > 1 || cast->op != VYRE_OP_CAST ||
        get(f, cast->arg[0])->type != VYRE_TYPE_BOOL) {
        return 0;
    }
    uint32_t flag = cast->arg[0];
    if ((ins->op == VYRE_OP_EQ) == (bits == 1)) {
        return flag;
    }
    ins->op = VYRE_OP_NOT;
    ins->arg[0] = flag;
    ins->arg[1] = 0;
    f->changed = f->again = true;
    return 0;
}

static uint32_t fold_binary(folder *f, vy_ins *ins)
{
    uint32_t x = ins->arg[0], y = ins->arg[1];
    vyre_type type = (vyre_type)get(f, x)->type;
    if (vy_type_is_float(type) || vy_ssa_operand_count(ins) != 2) {
        return 0;
    }
    if (x == y) {
        return fold_same(f, ins);
    }
    if (is_literal(f, x) && vy_op_is_commutative(ins->op)) {
        uint32_t swap = x;
        x = y;
        y = swap;
    }
    if (!is_literal(f, y)) {
        return 0;
    }
    if (type == VYRE_TYPE_BOOL) {
        return fold_right_bool(f, ins, x, y);
    }
    uint32_t flag = fold_flag(f, ins, x, get(f, y)->bits);
    return flag ? flag : fold_right(f, ins, x, y);
}

/* Twice is none at all. */
static uint32_t fold_twice(const folder *f, const vy_ins *ins)
{
    const vy_ins *x = get(f, ins->arg[0]);
    return x->op == ins->op && !vy_type_is_float((vyre_type)ins->type) ? x->arg[0] : 0;
}

static uint32_t fold_conversion(folder *f, vy_ins *ins)
{
    const vy_ins *x = get(f, ins->arg[0]);
    if (x->type == ins->type) {
        return ins->arg[0];
    }
    if (ins->op == VYRE_OP_BITCAST && x->op == VYRE_OP_BITCAST) {
        if (get(f, x->arg[0])->type == ins->type) {
            return x->arg[0];
        }
        ins->arg[0] = x->arg[0];
        f->changed = f->again = true;
    }
    return 0;
}

static uint32_t fold_select(const folder *f, const vy_ins *ins)
{
    if (ins->arg[1] == ins->arg[2]) {
        return ins->arg[1];
    }
    if (is_literal(f, ins->arg[0])) {
        return get(f, ins->arg[0])->bits ? ins->arg[1] : ins->arg[2];
    }
    if (ins->type == VYRE_TYPE_BOOL && is_bits(f, ins->arg[1], 1) && is_bits(f, ins->arg[2], 0)) {
        return ins->arg[0];
    }
    return 0;
}

/* A component of a vector of known components, or of a table's element at a known index. */
static uint32_t fold_component(folder *f, const vy_ins *ins)
{
    const vy_ins *x = get(f, ins->arg[0]);
    if (x->op == VY_SSA_COMPOSE) {
        return x->arg[ins->ref];
    }
    if (x->op != VYRE_OP_TABLE || !is_literal(f, x->arg[0])) {
        return 0;
    }
    const vy_ins *index = get(f, x->arg[0]);
    const vy_table *table = &f->ssa->program->tables.data[x->ref];
    return literal(
        f, ins,
        vy_table_value(table, vy_table_index((vyre_type)index->type, index->bits), ins->ref));
}

static uint32_t fold_phi(folder *f, uint32_t index, const vy_ins *ins)
{
    uint32_t only = 0;
    for (uint32_t e = 0; e < ins->bits; e++) {
        uint32_t value = vy_ssa_resolve(f->map, f->ssa->phi_edges.data[ins->ref + e].value);
        if (value != index && value != only) {
            if (only) {
                return 0;
            }
            only = value;
        }
    }
    return only;
}

/* What the instruction is equal to, or 0. Works on a copy: literals may move the table. */
static uint32_t fold_ins(folder *f, uint32_t index, vy_ins *ins)
{
    if (ins->op == VY_SSA_PHI) {
        return fold_phi(f, index, ins);
    }
    uint32_t value = compute(f, ins);
    if (value) {
        return value;
    }
    switch ((int)ins->op) {
    case VYRE_OP_TABLE:
        return fold_table(f, ins);
    case VYRE_OP_SELECT:
        return fold_select(f, ins);
    case VYRE_OP_CAST:
    case VYRE_OP_BITCAST:
        return fold_conversion(f, ins);
    case VYRE_OP_NOT:
    case VYRE_OP_COMPLEMENT:
    case VYRE_OP_NEGATE:
    case VYRE_OP_REVERSE_BITS:
        return fold_twice(f, ins);
    case VY_SSA_COMPONENT:
        return fold_component(f, ins);
    case VY_SSA_CANONICAL_NAN:
        if (is_literal(f, ins->arg[0])) {
            uint64_t bits = get(f, ins->arg[0])->bits;
            bool is_nan = vy_float_is_nan((vyre_type)ins->type, bits);
            return literal(f, ins, is_nan ? vy_float_nan((vyre_type)ins->type) : bits);
        }
        return 0;
    default:
        break;
    }
    if (ins->op < VYRE_OP_COUNT && vy_op_get((vyre_op)ins->op)->form != VY_FORM_LEAF) {
        return fold_binary(f, ins);
    }
    return 0;
}

/* Most operators: of two values, one of which at most is a number, and none that says anything. */
static bool is_plain(const folder *f, const vy_ins *ins)
{
    if (ins->op >= VYRE_OP_COUNT || vy_op_rows[ins->op].operand_count != 2 ||
        ins->arg[0] == ins->arg[1]) {
        return false;
    }
    bool first = is_literal(f, ins->arg[0]), second = is_literal(f, ins->arg[1]);
    if (first == second) {
        return !first;
    }
    uint64_t bits = get(f, ins->arg[first ? 0 : 1])->bits;
    switch ((int)ins->op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_AND:
    case VYRE_OP_OR:
    case VYRE_OP_XOR:
        return bits > 1 && bits != vy_type_bits((vyre_type)ins->type, UINT64_MAX);
    default:
        return false;
    }
}

static bool fold_round(folder *f)
{
    vy_ssa *ssa = f->ssa;
    uint32_t count = ssa->ins.count;
    /* Behind `count` come literals made meanwhile, which stand for themselves. */
    f->map = vy_arena_alloc(ssa->scratch, (size_t)count * 2 + 64, sizeof *f->map);
    if (!f->map) {
        return false;
    }
    for (uint32_t b = 1; b < ssa->blocks.count && !ssa->arena->failed; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            if (i >= count || ssa->ins.data[i].op == VYRE_OP_LITERAL) {
                continue;
            }
            /* Without phis every operand stands before its uses, and was folded before them. */
            f->again |= ssa->ins.data[i].op == VY_SSA_PHI;
            vy_ins *at = &ssa->ins.data[i];
            uint32_t operands = vy_ssa_operand_count(at);
            for (uint32_t a = 0; a < operands; a++) {
                at->arg[a] = vy_ssa_resolve(f->map, at->arg[a]);
            }
            if (is_plain(f, at)) {
                continue;
            }
            vy_ins ins = *at;
            uint32_t value = fold_ins(f, i, &ins);
            ins.next = ssa->ins.data[i].next; /* a literal may have come in behind it */
            ssa->ins.data[i] = ins;
            if (value) {
                f->map[i] = value;
                ssa->ins.data[i].removed = f->changed = true;
            }
        }
    }
    if (ssa->arena->failed) {
        return false;
    }
    if (f->changed) {
        vy_ssa_sweep(ssa);
        vy_ssa_rewrite(ssa, f->map);
    }
    return true;
}

bool vy_pass_fold(vy_ssa *ssa, const vy_pass_context *context)
{
    folder f = {.ssa = ssa, .eval = context ? context->eval : NULL};
    if (ssa->is_folded) {
        return true;
    }
    vy_ssa_index_literals(ssa);
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        f.changed = f.again = false;
        if (!fold_round(&f)) {
            return false;
        }
        bool branches = vy_ssa_fold_branches(ssa);
        if (ssa->arena->failed) {
            return false;
        }
        ssa->is_live &= !f.changed && !branches;
        if (!branches && !(f.changed && f.again)) {
            ssa->is_folded = true;
            break;
        }
        if (!vy_pass_trivial_phi(ssa, context)) {
            return false;
        }
    }
    return true;
}
