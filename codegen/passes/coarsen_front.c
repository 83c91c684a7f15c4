/* What the elements of an invocation do before joined atomics whose old values are used: all that
 * the operands are made of and that says whether an element comes there. It becomes code without
 * branches in front of the one atomic, and the bodies behind use its values; so it holds nothing
 * that others could see or that others could change. */
#include "codegen/passes/coarsen_parts.h"

typedef struct front {
    const vy_ssa *ssa;
    vy_coarse_plan *plan;
    const bool *returns;
    vy_constant_memory constant;
    uint32_t *order; /* instructions of a block */
} front;

/* ---- The form -------------------------------------------------------------------------------- */

/* Whether all that begins at a header comes to its merge block and nowhere behind. */
static bool is_closed(const vy_ssa *ssa, uint32_t header)
{
    uint32_t merge = ssa->blocks.data[header].merge;
    for (uint32_t b = header; b < merge; b++) {
        uint32_t target;
        for (uint32_t i = 0; (target = vy_ssa_successor(ssa, &ssa->blocks.data[b], i)) != 0; i++) {
            if (target > merge) {
                return false;
            }
        }
    }
    return true;
}

/* Ways part at headers and meet at merge blocks alone. */
static bool find_headers(const front *f)
{
    const vy_ssa *ssa = f->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        if (block->merge_kind == VY_MERGE_NONE) {
            continue;
        }
        if (f->plan->header_of[block->merge] || !is_closed(ssa, b)) {
            return false;
        }
        f->plan->header_of[block->merge] = b;
    }
    for (uint32_t b = 2; b < ssa->blocks.count; b++) {
        uint32_t preds = f->plan->flow.pred_count[b];
        if (!preds || (preds > 1 && !f->plan->header_of[b])) {
            return false;
        }
    }
    return true;
}

/* ---- What is asked for ----------------------------------------------------------------------- */

/* Where it goes from a block; no switches. */
static bool ask_way(front *f, uint32_t from)
{
    const vy_block *block = &f->ssa->blocks.data[from];
    f->plan->is_asked[from] = true;
    if (block->end == VY_END_BRANCH) {
        f->plan->is_front[block->cond] = true;
    }
    return block->end == VY_END_BRANCH || block->end == VY_END_JUMP;
}

static bool ask_block(front *f, uint32_t b)
{
    const vy_coarse_plan *plan = f->plan;
    if (b == 1) {
        return true;
    }
    if (plan->header_of[b]) {
        plan->is_asked[plan->header_of[b]] = true;
        return true;
    }
    return ask_way(f, plan->flow.preds[plan->flow.first_pred[b]]);
}

/* What is loaded at other places than gid.x is loaded where every element does it. */
static bool is_possible(const front *f, const vy_ins *ins)
{
    const vy_coarse_plan *plan = f->plan;
    if (ins->op == VYRE_OP_LOAD) {
        bool is_wide =
            plan->is_loaded[ins->ref] && vy_coarse_is_place(&f->ssa->ins.data[ins->arg[0]]);
        return is_wide || (vy_constant_memory_has(&f->constant, f->ssa, ins->ref) &&
                           vy_flow_dominates(&plan->flow, ins->block, plan->exit));
    }
    return !vy_ssa_has_effect(ins);
}

static bool ask_operands(front *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        f->plan->is_front[ins->arg[a]] = true;
    }
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
        const vy_phi_edge *edge = &f->ssa->phi_edges.data[ins->ref + e];
        f->plan->is_front[edge->value] = true;
        if (edge->value == index || !ask_way(f, edge->block)) {
            return false;
        }
    }
    return true;
}

static bool ask_instruction(front *f, uint32_t index)
{
    const vy_ins *ins = &f->ssa->ins.data[index];
    if (ins->op == VY_SSA_ATOMIC && f->returns[ins->ref]) {
        f->plan->is_asked[ins->block] = true;
        return !f->plan->is_front[index] && ask_operands(f, index);
    }
    return !f->plan->is_front[index] || (is_possible(f, ins) && ask_operands(f, index));
}

/* From the end on, so that what is asked for has been before it is looked at. */
static bool ask_all(front *f)
{
    const vy_ssa *ssa = f->ssa;
    for (uint32_t b = ssa->blocks.count - 1; b; b--) {
        uint32_t count = 0;
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            f->order[count++] = i;
        }
        while (count) {
            if (!ask_instruction(f, f->order[--count])) {
                return false;
            }
        }
        if (f->plan->is_asked[b] && !ask_block(f, b)) {
            return false;
        }
    }
    return true;
}

bool vy_coarse_find_front(vy_coarse_plan *plan, const bool *returns, bool *out_is_possible)
{
    const vy_ssa *ssa = &plan->form;
    vy_arena *scratch = ssa->scratch;
    front f = {.ssa = ssa, .plan = plan, .returns = returns};
    plan->is_front = vy_arena_alloc(scratch, ssa->ins.count, sizeof *plan->is_front);
    plan->is_asked = vy_arena_alloc(scratch, ssa->blocks.count, sizeof *plan->is_asked);
    plan->header_of = vy_arena_alloc(scratch, ssa->blocks.count, sizeof *plan->header_of);
    f.order = vy_arena_alloc(scratch, ssa->ins.count, sizeof *f.order);
    if (scratch->failed) {
        return false;
    }
    f.constant = vy_constant_memory_find(ssa);
    *out_is_possible = find_headers(&f) && ask_all(&f);
    return true;
}
