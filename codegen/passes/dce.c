/* Pass dce: removes instructions whose value reaches no effect, and stores into private arrays that
 * nobody loads from. Needs nothing; keeps the blocks. */
#include "codegen/passes/passes.h"

typedef struct dead_walk {
    vy_ssa *ssa;
    bool *live;            /* by instruction */
    bool *array_live;      /* by private array */
    uint32_t *next_store;  /* by instruction: the next one that writes the same array */
    uint32_t *first_store; /* by array */
    VY_VEC(uint32_t) work;
} dead_walk;

static void mark(dead_walk *w, uint32_t value)
{
    if (value && !w->live[value]) {
        w->live[value] = true;
        (void)vy_vec_push(w->ssa->scratch, &w->work, value);
    }
}

static bool writes_array(const vy_ins *ins)
{
    return ins->op == VY_SSA_ARRAY_STORE || ins->op == VY_SSA_ARRAY_ZERO;
}

static void mark_operands(dead_walk *w, const vy_ins *ins)
{
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t i = 0; i < count; i++) {
        mark(w, ins->arg[i]);
    }
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->arg[1]; e++) {
        mark(w, w->ssa->phi_edges.data[ins->arg[0] + e].value);
    }
    if (ins->op == VY_SSA_ARRAY_LOAD && !w->array_live[ins->ref]) {
        w->array_live[ins->ref] = true;
        for (uint32_t i = w->first_store[ins->ref]; i; i = w->next_store[i]) {
            mark(w, i);
        }
    }
}

static void mark_roots(dead_walk *w)
{
    vy_ssa *ssa = w->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            if (writes_array(ins)) {
                w->next_store[i] = w->first_store[ins->ref];
                w->first_store[ins->ref] = i;
            } else if (vy_ssa_has_effect(ins)) {
                mark(w, i);
            }
        }
    }
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        if (block->end == VY_END_BRANCH || block->end == VY_END_SWITCH) {
            mark(w, block->cond);
        }
    }
}

bool vy_pass_dce(vy_ssa *ssa, const vy_pass_context *context)
{
    (void)context;
    dead_walk w = {.ssa = ssa};
    if (ssa->is_live) {
        return true;
    }
    uint32_t count = ssa->ins.count;
    w.live = vy_arena_alloc(ssa->scratch, count, sizeof *w.live);
    w.next_store = vy_arena_alloc(ssa->scratch, count, sizeof *w.next_store);
    w.array_live = vy_arena_alloc(ssa->scratch, ssa->arrays.count, sizeof *w.array_live);
    w.first_store = vy_arena_alloc(ssa->scratch, ssa->arrays.count, sizeof *w.first_store);
    if (ssa->arena->failed) {
        return false;
    }
    mark_roots(&w);
    while (w.work.count && !ssa->arena->failed) {
        mark_operands(&w, &ssa->ins.data[w.work.data[--w.work.count]]);
    }
    if (ssa->arena->failed) {
        return false;
    }
    bool any = false;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            ssa->ins.data[i].removed = !w.live[i];
            any |= !w.live[i];
        }
    }
    if (any) {
        vy_ssa_sweep(ssa);
    }
    ssa->is_live = true;
    return true;
}
