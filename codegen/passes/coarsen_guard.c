/* What is known where all elements of an invocation lie within the grid and what it is bounded by:
 * that gid.x is below lengths and parameters that the segment compares it with. Makes a
 * copy of the segment in which these comparisons are decided, so that what they guard stands where
 * every element comes. */
#include "codegen/passes/coarsen_parts.h"
#include "codegen/passes/passes.h"

#include <string.h>

static bool copy_rows(vy_arena *arena, void **out, const void *rows, uint32_t count, size_t size)
{
    *out = vy_arena_alloc(arena, count ? count : 1, size);
    if (*out && count) {
        memcpy(*out, rows, count * size);
    }
    return *out != NULL;
}

#define COPY_ROWS(to, from, rows)                                                                  \
    ((to)->rows.capacity = (to)->rows.count,                                                       \
     copy_rows((from)->scratch, (void **)&(to)->rows.data, (from)->rows.data, (from)->rows.count,  \
               sizeof *(from)->rows.data))

static bool copy_form(const vy_ssa *from, vy_ssa *to)
{
    *to = *from;
    to->arena = from->scratch;
    to->is_folded = to->is_live = false;
    to->literals = NULL; /* those of `from` */
    to->is_indexed = false;
    bool is_copied = COPY_ROWS(to, from, ins) && COPY_ROWS(to, from, blocks) &&
                     COPY_ROWS(to, from, phi_edges) && COPY_ROWS(to, from, cases);
    if (is_copied) {
        vy_ssa_index_literals(to);
    }
    return is_copied && !from->scratch->failed;
}

/* Its number among the limits, or VY_COARSE_LIMITS where there is no room, or it is none. */
static uint32_t limit_of(vy_coarse_plan *plan, const vy_ins *ins)
{
    bool is_leaf = ins->op == VYRE_OP_LENGTH || ins->op == VYRE_OP_PARAM;
    uint32_t i = 0;
    if (!is_leaf || ins->type != VYRE_TYPE_U32) {
        return VY_COARSE_LIMITS;
    }
    while (i < plan->limit_count &&
           (plan->limits[i].op != ins->op || plan->limits[i].ref != ins->ref ||
            plan->limits[i].bits != ins->bits)) {
        i++;
    }
    if (i == plan->limit_count && i < VY_COARSE_LIMITS) {
        plan->limits[i] =
            (vy_ins){.op = ins->op, .type = ins->type, .ref = ins->ref, .bits = ins->bits};
        plan->limit_count++;
    }
    return i;
}

enum { IS_OPEN, IS_FALSE, IS_TRUE };

/* Of a comparison of gid.x with a limit. */
static uint8_t decide(vy_coarse_plan *plan, const vy_ssa *ssa, const vy_ins *ins)
{
    bool is_turned = ins->op == VYRE_OP_GT || ins->op == VYRE_OP_LE;
    bool is_comparison = is_turned || ins->op == VYRE_OP_LT || ins->op == VYRE_OP_GE;
    if (!is_comparison) {
        return IS_OPEN;
    }
    const vy_ins *place = &ssa->ins.data[ins->arg[is_turned]];
    const vy_ins *limit = &ssa->ins.data[ins->arg[!is_turned]];
    if (!vy_coarse_is_place(place) || limit_of(plan, limit) == VY_COARSE_LIMITS) {
        return IS_OPEN;
    }
    return ins->op == VYRE_OP_LT || ins->op == VYRE_OP_GT ? IS_TRUE : IS_FALSE;
}

/* Of what is made of such comparisons; `known` by instruction. */
static uint8_t combine(const vy_ins *ins, const uint8_t *known)
{
    uint8_t x = known[ins->arg[0]], y = known[ins->arg[1]];
    switch ((int)ins->op) {
    case VYRE_OP_LOGICAL_AND:
        return x == IS_FALSE || y == IS_FALSE ? IS_FALSE : x && y ? IS_TRUE : IS_OPEN;
    case VYRE_OP_LOGICAL_OR:
        return x == IS_TRUE || y == IS_TRUE ? IS_TRUE : x && y ? IS_FALSE : IS_OPEN;
    case VYRE_OP_NOT:
        return x == IS_OPEN ? IS_OPEN : x == IS_TRUE ? IS_FALSE : IS_TRUE;
    default:
        return IS_OPEN;
    }
}

/* Of two conditions one that is known: the other one. */
static uint32_t other_of(const vy_ins *ins, const uint8_t *known)
{
    if (ins->op != VYRE_OP_LOGICAL_AND && ins->op != VYRE_OP_LOGICAL_OR) {
        return 0;
    }
    return known[ins->arg[0]] ? ins->arg[1] : known[ins->arg[1]] ? ins->arg[0] : 0;
}

/* Nothing is done from there on. */
static bool is_end(const vy_ssa *ssa, uint32_t block)
{
    const vy_block *at = &ssa->blocks.data[block];
    while (!at->first && at->end == VY_END_JUMP && at->merge_kind != VY_MERGE_LOOP) {
        at = &ssa->blocks.data[at->target[0]];
    }
    return !at->first && at->end == VY_END_RETURN;
}

/* Elements beyond a limit are at their end: else they would be many that run one by one. */
static bool are_guards(const vy_ssa *ssa, const uint8_t *known)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        if (block->end == VY_END_BRANCH && known[block->cond] != IS_OPEN &&
            !is_end(ssa, block->target[known[block->cond] == IS_TRUE])) {
            return false;
        }
    }
    return true;
}

bool vy_coarse_assume(const vy_ssa *ssa, vy_coarse_plan *plan)
{
    vy_ssa *form = &plan->form;
    uint8_t *known = vy_arena_alloc(ssa->scratch, ssa->ins.count, sizeof *known);
    if (!known || !copy_form(ssa, form)) {
        return false;
    }
    const uint32_t yes = vy_ssa_literal(form, VYRE_TYPE_BOOL, 1);
    const uint32_t no = vy_ssa_literal(form, VYRE_TYPE_BOOL, 0);
    uint32_t *map = vy_arena_alloc(ssa->scratch, form->ins.count, sizeof *map);
    if (!yes || !no || !map) {
        return false;
    }
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            known[i] = decide(plan, ssa, ins);
            known[i] = known[i] ? known[i] : combine(ins, known);
            map[i] = known[i] == IS_TRUE ? yes : known[i] ? no : other_of(ins, known);
        }
    }
    if (!are_guards(ssa, known)) {
        plan->limit_count = 0;
        return true;
    }
    vy_ssa_rewrite(form, map);
    (void)vy_ssa_fold_branches(form);
    return vy_pass_trivial_phi(form, NULL) && vy_pass_dce(form, NULL) && !ssa->scratch->failed;
}
