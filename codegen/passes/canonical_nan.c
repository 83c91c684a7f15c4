/* Pass canonical-nan: the language says that a NaN made by float arithmetic is the quiet one
 * without payload (0x7fc00000); devices give others. Where such bits can be seen (bitcast, store,
 * spill, copysign's sign) or mix with bits that must be kept, the value goes through CANONICAL_NAN,
 * once, behind its definition. Needs nothing; keeps the blocks. Does nothing to fast_math programs.
 *
 * Values are CLEAN (right as they are, and no NaN but the one form), MADE (by arithmetic: a NaN may
 * have any bits on the device) or KEPT (bits that came from elsewhere). A phi or select is the
 * greatest of its inputs; in one that is KEPT, MADE inputs are put right. Phis start as CLEAN and
 * rise, so a loop's value is judged by what really flows into it. */
#include "codegen/passes/passes.h"

enum { CLEAN, MADE, KEPT };

typedef struct nan_walk {
    vy_ssa *ssa;
    uint8_t *kind;       /* by instruction */
    bool *never_nan;     /* by instruction */
    uint32_t *canonical; /* by instruction: its CANONICAL_NAN */
    uint32_t count;      /* of instructions before any was added */
} nan_walk;

static bool is_float(const vy_ins *ins)
{
    return vy_type_is_float((vyre_type)ins->type) && !vy_type_is_vector((vyre_type)ins->type);
}

/* Whether a subgroup operation gives another invocation's bits as they are. */
static bool moves_bits(const vy_ins *ins)
{
    vy_subgroup_kind kind = vy_subgroup_get((vyre_subgroup)ins->subgroup)->kind;
    return kind == VY_SUBGROUP_VALUE || kind == VY_SUBGROUP_LANE;
}

static uint8_t greater(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static bool is_never_nan(const nan_walk *w, const vy_ins *ins)
{
    const vy_ins *x = &w->ssa->ins.data[ins->arg[0]];
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return !vy_float_is_nan((vyre_type)ins->type, ins->bits);
    case VYRE_OP_CAST:
        return !is_float(x) || w->never_nan[ins->arg[0]];
    case VYRE_OP_SIGN:
        return true;
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
        return w->never_nan[ins->arg[0]] || w->never_nan[ins->arg[1]];
    case VYRE_OP_SELECT:
        return w->never_nan[ins->arg[1]] && w->never_nan[ins->arg[2]];
    case VYRE_OP_NEGATE:
    case VYRE_OP_ABS:
    case VYRE_OP_FLOOR:
    case VYRE_OP_CEIL:
    case VYRE_OP_TRUNC:
    case VYRE_OP_ROUND:
    case VYRE_OP_ROUND_EVEN:
    case VY_SSA_CANONICAL_NAN:
        return w->never_nan[ins->arg[0]];
    case VYRE_OP_COPYSIGN:
        return w->never_nan[ins->arg[0]];
    default:
        return false;
    }
}

static uint8_t phi_kind(const nan_walk *w, const vy_ins *ins)
{
    uint8_t kind = CLEAN;
    for (uint32_t e = 0; e < ins->bits; e++) {
        kind = greater(kind, w->kind[w->ssa->phi_edges.data[ins->ref + e].value]);
    }
    return kind;
}

static uint8_t kind_of(const nan_walk *w, uint32_t value)
{
    const vy_ins *ins = &w->ssa->ins.data[value];
    if (!is_float(ins) || w->never_nan[value]) {
        return CLEAN;
    }
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return ins->bits == vy_float_nan((vyre_type)ins->type) ? CLEAN : KEPT;
    case VY_SSA_PHI:
        return phi_kind(w, ins);
    case VYRE_OP_SELECT:
        return greater(w->kind[ins->arg[1]], w->kind[ins->arg[2]]);
    case VYRE_OP_CAST:
        return w->ssa->ins.data[ins->arg[0]].type == ins->type ? w->kind[ins->arg[0]] : MADE;
    case VYRE_OP_BITCAST:
        return is_float(&w->ssa->ins.data[ins->arg[0]]) ? w->kind[ins->arg[0]] : KEPT;
    case VY_SSA_SUBGROUP:
        return moves_bits(ins) ? KEPT : MADE;
    case VYRE_OP_PARAM:
    case VYRE_OP_LOAD:
    case VYRE_OP_TABLE:
    case VY_SSA_ATOMIC:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_SPILL_LOAD:
    case VY_SSA_COMPONENT:
        return KEPT;
    case VY_SSA_CANONICAL_NAN:
        return CLEAN;
    default:
        return MADE;
    }
}

static void find_kinds(nan_walk *w)
{
    vy_ssa *ssa = w->ssa;
    bool changed = true, first = true;
    while (changed) {
        changed = false;
        for (uint32_t b = 1; b < ssa->blocks.count; b++) {
            for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
                if (first) {
                    w->never_nan[i] =
                        is_float(&ssa->ins.data[i]) && is_never_nan(w, &ssa->ins.data[i]);
                }
                uint8_t kind = kind_of(w, i);
                changed |= kind != w->kind[i];
                w->kind[i] = kind;
            }
        }
        first = false;
    }
}

/* The value with its NaN in the one form. */
static uint32_t canonical(nan_walk *w, uint32_t value)
{
    vy_ssa *ssa = w->ssa;
    if (!value || value >= w->count || w->kind[value] != MADE) {
        return value;
    }
    if (w->canonical[value] == 0) {
        const vy_ins *ins = &ssa->ins.data[value];
        vy_ins made = {.op = VY_SSA_CANONICAL_NAN,
                       .type = ins->type,
                       .arg = {value},
                       .call = ins->call,
                       .name = ins->name,
                       .loc = ins->loc};
        uint32_t block = ins->block, after = value;
        while (ssa->ins.data[after].op == VY_SSA_PHI && ssa->ins.data[after].next &&
               ssa->ins.data[ssa->ins.data[after].next].op == VY_SSA_PHI) {
            after = ssa->ins.data[after].next;
        }
        w->canonical[value] = vy_ssa_insert(ssa, block, after, made);
    }
    return w->canonical[value] ? w->canonical[value] : value;
}

static void put_right(nan_walk *w, uint32_t index)
{
    vy_ssa *ssa = w->ssa;
    vy_ins *ins = &ssa->ins.data[index];
    uint32_t seen = 0; /* operands whose bits are seen */
    switch ((int)ins->op) {
    case VYRE_OP_BITCAST:
        seen = !is_float(ins) ? 1u : 0u;
        break;
    case VY_SSA_SPILL_STORE:
        seen = 1u;
        break;
    case VY_SSA_STORE:
    case VY_SSA_ARRAY_STORE:
    case VYRE_OP_COPYSIGN:
        seen = 2u;
        break;
    case VY_SSA_ATOMIC:
        seen = 6u;
        break;
    case VY_SSA_COMPOSE:
        seen = 15u;
        break;
    case VY_SSA_SUBGROUP:
        seen = moves_bits(ins) ? 1u : 0u;
        break;
    case VYRE_OP_SELECT:
        seen = is_float(ins) && w->kind[index] == KEPT ? 6u : 0u;
        break;
    default:
        break;
    }
    for (uint32_t a = 0; a < 4; a++) {
        if (seen >> a & 1) {
            uint32_t value = canonical(w, ssa->ins.data[index].arg[a]);
            ssa->ins.data[index].arg[a] = value; /* the table may have moved */
        }
    }
    if (ssa->ins.data[index].op != VY_SSA_PHI || w->kind[index] != KEPT) {
        return;
    }
    for (uint32_t e = 0; e < ssa->ins.data[index].bits; e++) {
        uint32_t at = ssa->ins.data[index].ref + e;
        ssa->phi_edges.data[at].value = canonical(w, ssa->phi_edges.data[at].value);
    }
}

static bool has_floats(const vy_ssa *ssa)
{
    for (uint32_t i = 1; i < ssa->ins.count; i++) {
        if (vy_type_is_float((vyre_type)ssa->ins.data[i].type)) {
            return true;
        }
    }
    return false;
}

bool vy_pass_canonical_nan(vy_ssa *ssa, const vy_pass_context *context)
{
    (void)context;
    nan_walk w = {.ssa = ssa, .count = ssa->ins.count};
    if (ssa->program->fast_math || !has_floats(ssa)) {
        return true;
    }
    w.kind = vy_arena_alloc(ssa->scratch, w.count, sizeof *w.kind);
    w.never_nan = vy_arena_alloc(ssa->scratch, w.count, sizeof *w.never_nan);
    w.canonical = vy_arena_alloc(ssa->scratch, w.count, sizeof *w.canonical);
    if (ssa->arena->failed) {
        return false;
    }
    ssa->is_folded = ssa->is_live = false;
    find_kinds(&w);
    for (uint32_t b = 1; b < ssa->blocks.count && !ssa->arena->failed; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            if (i < w.count) {
                put_right(&w, i);
            }
        }
    }
    return !ssa->arena->failed;
}
