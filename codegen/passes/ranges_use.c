/* What follows from what is known: first decided for each instruction where it stands, then, when
 * the walk is over, done. */
#include "codegen/passes/ranges_parts.h"

static void decide(vy_ranges *r, uint32_t index, vy_range_action action, uint8_t with)
{
    r->decisions[index] = (vy_range_decision){(uint8_t)action, with, 0};
    r->has_decisions = true;
}

static void decide_with(vy_ranges *r, uint32_t index, vy_range_action action, uint64_t bits)
{
    if (vy_vec_push(r->ssa->scratch, &r->literals, bits)) {
        r->decisions[index] = (vy_range_decision){(uint8_t)action, 0, r->literals.count - 1};
        r->has_decisions = true;
    }
}

/* ---- Accesses -------------------------------------------------------------------------------- */

static bool is_in_bounds(const vy_ranges *r, const vy_ins *ins, vy_bound bound)
{
    uint8_t type = vy_ranges_get(r, ins->arg[0])->type;
    /* A negative index of few bits is no small number. */
    if (vy_type_is_signed((vyre_type)type) && r->known[ins->arg[0]].smin < 0) {
        return false;
    }
    return vy_ranges_is_below(r, ins->arg[0], bound, true);
}

static void decide_access(vy_ranges *r, uint32_t index)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    vy_bound bound;
    switch ((int)ins->op) {
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
        bound = vy_bound_length(r, ins->ref);
        break;
    case VYRE_OP_TABLE:
        bound = vy_bound_number(r->ssa->program->tables.data[ins->ref].count);
        break;
    default:
        bound = vy_bound_number(r->ssa->arrays.data[ins->ref].count);
        break;
    }
    if (is_in_bounds(r, ins, bound)) {
        decide(r, index, VY_RANGE_UNCHECKED, 0);
    }
}

/* ---- Operators ------------------------------------------------------------------------------- */

static bool is_power_of_two(uint64_t x)
{
    return x && (x & (x - 1)) == 0;
}

static uint64_t log2_of(uint64_t x)
{
    uint64_t log = 0;
    while (x >>= 1) {
        log++;
    }
    return log;
}

static void decide_division(vy_ranges *r, uint32_t index)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    const vy_known *a = &r->known[ins->arg[0]], *b = &r->known[ins->arg[1]];
    uint32_t width = vy_ranges_width(ins->type);
    bool is_signed = vy_type_is_signed((vyre_type)ins->type);
    bool natural = !is_signed || (a->smin >= 0 && b->smin >= 0);
    bool is_rem = ins->op == VYRE_OP_REM;
    if (natural && is_rem &&
        vy_ranges_is_below(r, ins->arg[0], vy_bound_value(r, ins->arg[1]), true)) {
        decide(r, index, VY_RANGE_SAME, 0);
    } else if (natural && vy_known_is_exact(b) && is_power_of_two(b->umin)) {
        decide_with(r, index, is_rem ? VY_RANGE_LOW_BITS : VY_RANGE_SHIFT_RIGHT,
                    is_rem ? b->umin - 1 : log2_of(b->umin));
    } else if (vy_known_is_not_zero(b)) {
        vy_known least = vy_known_anything(width);
        bool fits = !is_signed || b->smin > -1 || b->smax < -1 || a->smin > least.smin;
        if (fits) {
            decide(r, index, VY_RANGE_UNCHECKED, 0);
        }
    }
}

static void decide_operator(vy_ranges *r, uint32_t index)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    uint32_t x = ins->arg[0], y = ins->arg[1];
    if (!vy_ranges_tracks(vy_ranges_get(r, x)->type)) {
        return;
    }
    const vy_known *a = &r->known[x], *b = &r->known[y];
    uint32_t width = vy_ranges_width(ins->type);
    switch ((int)ins->op) {
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
        decide_division(r, index);
        break;
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
    case VYRE_OP_ROTATE_LEFT:
    case VYRE_OP_ROTATE_RIGHT:
        if (b->umax < width) {
            decide(r, index, VY_RANGE_UNCHECKED, 0);
        }
        break;
    case VYRE_OP_AND:
        if ((~a->zeros & ~b->ones) == 0) {
            decide(r, index, VY_RANGE_SAME, 0);
        } else if ((~b->zeros & ~a->ones) == 0) {
            decide(r, index, VY_RANGE_SAME, 1);
        }
        break;
    case VYRE_OP_OR:
        if ((~b->zeros & ~a->ones) == 0) {
            decide(r, index, VY_RANGE_SAME, 0);
        } else if ((~a->zeros & ~b->ones) == 0) {
            decide(r, index, VY_RANGE_SAME, 1);
        }
        break;
    case VYRE_OP_MIN:
    case VYRE_OP_MAX: {
        bool is_signed = vy_type_is_signed((vyre_type)ins->type);
        bool is_min = ins->op == VYRE_OP_MIN, natural = !is_signed;
        bool low = vy_known_compare(VYRE_OP_LE, is_signed, a, b) == 1 ||
                   (natural && vy_ranges_is_below(r, x, vy_bound_value(r, y), false));
        bool high = vy_known_compare(VYRE_OP_GE, is_signed, a, b) == 1 ||
                    (natural && vy_ranges_is_below(r, y, vy_bound_value(r, x), false));
        if (low || high) {
            decide(r, index, VY_RANGE_SAME, low == is_min ? 0 : 1);
        }
        break;
    }
    case VYRE_OP_ABS:
        if (a->smin >= 0) {
            decide(r, index, VY_RANGE_SAME, 0);
        }
        break;
    case VYRE_OP_SELECT:
        if (vy_known_is_exact(a)) {
            decide(r, index, VY_RANGE_SAME, a->umin ? 1 : 2);
        }
        break;
    default:
        break;
    }
}

void vy_ranges_decide(vy_ranges *r, uint32_t index)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    r->decisions[index].action = VY_RANGE_KEEP; /* whatever an earlier round has said */
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return;
    case VYRE_OP_LOAD:
    case VYRE_OP_TABLE:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        decide_access(r, index);
        return;
    default:
        break;
    }
    /* Also of SELECT over types that have no range. */
    bool is_operator = ins->op < VYRE_OP_COUNT;
    if (vy_ranges_tracks(ins->type) && (is_operator || ins->op == VY_SSA_PHI) &&
        vy_known_is_exact(&r->known[index])) {
        decide_with(r, index, VY_RANGE_LITERAL, r->known[index].umin);
    } else if (is_operator && vy_op_rows[ins->op].form != VY_FORM_LEAF) {
        decide_operator(r, index);
    }
}

/* ---- Doing it -------------------------------------------------------------------------------- */

/* What the instruction becomes, or 0: itself. */
static uint32_t apply(vy_ranges *r, uint32_t index)
{
    vy_ssa *ssa = r->ssa;
    const vy_range_decision *decision = &r->decisions[index];
    vyre_type type = (vyre_type)ssa->ins.data[index].type;
    uint32_t literal;
    switch ((vy_range_action)decision->action) {
    case VY_RANGE_LITERAL:
        return vy_ssa_literal(ssa, type, r->literals.data[decision->bits]);
    case VY_RANGE_SAME:
        return ssa->ins.data[index].arg[decision->with];
    case VY_RANGE_LOW_BITS:
    case VY_RANGE_SHIFT_RIGHT: {
        bool shifts = decision->action == VY_RANGE_SHIFT_RIGHT;
        literal =
            vy_ssa_literal(ssa, shifts ? VYRE_TYPE_U32 : type, r->literals.data[decision->bits]);
        vy_ins *ins = &ssa->ins.data[index];
        ins->op = shifts ? VYRE_OP_SHR : VYRE_OP_AND;
        ins->arg[1] = literal;
        ins->unchecked = shifts;
        return 0;
    }
    case VY_RANGE_UNCHECKED:
        ssa->ins.data[index].unchecked = true;
        return 0;
    case VY_RANGE_KEEP:
        break;
    }
    return 0;
}

bool vy_ranges_apply(vy_ranges *r)
{
    vy_ssa *ssa = r->ssa;
    if (!r->has_decisions) {
        return true;
    }
    /* Behind `count` come the literals made here, which stand for themselves: one at most for each
     * instruction and each end. */
    size_t size = (size_t)r->count * 2 + ssa->blocks.count;
    uint32_t *map = vy_arena_alloc(ssa->scratch, size, sizeof *map);
    if (!map) {
        return false;
    }
    bool any = false, others = false;
    vy_ssa_index_literals(ssa);
    for (uint32_t b = 1; b < ssa->blocks.count && !ssa->arena->failed; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            vy_range_action action =
                i < r->count ? (vy_range_action)r->decisions[i].action : VY_RANGE_KEEP;
            if (action == VY_RANGE_KEEP) {
                continue;
            }
            uint32_t value = apply(r, i);
            others |= action != VY_RANGE_UNCHECKED;
            if (value) {
                map[i] = value;
                ssa->ins.data[i].removed = any = true;
            }
        }
        if (r->decided_ends[b]) {
            vyre_type type = (vyre_type)ssa->ins.data[ssa->blocks.data[b].cond].type;
            ssa->blocks.data[b].cond = vy_ssa_literal(ssa, type, r->end_values[b]);
            others = true;
        }
    }
    if (ssa->arena->failed) {
        return false;
    }
    if (others) {
        ssa->is_folded = ssa->is_live = false;
    }
    if (any) {
        vy_ssa_sweep(ssa);
        vy_ssa_rewrite(ssa, map);
    }
    return true;
}
