/* Pass dce: removes instructions whose value reaches no effect, and stores into private arrays that
 * nobody loads from. Needs nothing; keeps the blocks. */
#include "codegen/passes/passes.h"

/* Backwards over the form: there users come before what they use, but for phis of loops and stores
 * into arrays, whose operands wait in `work` and are followed at once. */
typedef enum liveness { DEAD, LIVE, DONE } liveness; /* DONE: its operands live, too */

typedef struct dead_walk {
    vy_ssa *ssa;
    uint8_t *live;         /* by instruction: liveness */
    bool *array_live;      /* by private array */
    uint32_t *next_store;  /* by instruction: the next one that writes the same array */
    uint32_t *first_store; /* by array */
    uint32_t *order;       /* instructions as they stand */
    uint32_t count;
    VY_VEC(uint32_t) work;
} dead_walk;

static void mark(dead_walk *w, uint32_t value)
{
    if (w->live[value] == DEAD) {
        w->live[value] = LIVE;
    }
}

/* Of what the walk may have passed. */
static void mark_at_once(dead_walk *w, uint32_t value)
{
    if (value && w->live[value] == DEAD) {
        w->live[value] = LIVE;
        (void)vy_vec_push(w->ssa->scratch, &w->work, value);
    }
}

static bool writes_array(const vy_ins *ins)
{
    return ins->op == VY_SSA_ARRAY_STORE || ins->op == VY_SSA_ARRAY_ZERO;
}

/* What else than its operands lives with it. */
static void mark_around(dead_walk *w, const vy_ins *ins)
{
    for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
        mark_at_once(w, w->ssa->phi_edges.data[ins->ref + e].value);
    }
    if (ins->op == VY_SSA_ARRAY_LOAD && !w->array_live[ins->ref]) {
        w->array_live[ins->ref] = true;
        for (uint32_t i = w->first_store[ins->ref]; i; i = w->next_store[i]) {
            mark_at_once(w, i);
        }
    }
}

static void follow(dead_walk *w)
{
    while (w->work.count && !w->ssa->arena->failed) {
        uint32_t index = w->work.data[--w->work.count];
        const vy_ins *ins = &w->ssa->ins.data[index];
        uint32_t count = vy_ssa_operand_count(ins);
        w->live[index] = DONE;
        for (uint32_t i = 0; i < count; i++) {
            mark_at_once(w, ins->arg[i]);
        }
        mark_around(w, ins);
    }
}

/* Also the order of the instructions. */
static void mark_roots(dead_walk *w)
{
    vy_ssa *ssa = w->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            w->order[w->count++] = i;
            if (writes_array(ins)) {
                w->next_store[i] = w->first_store[ins->ref];
                w->first_store[ins->ref] = i;
            } else if (ins->op >= VYRE_OP_COUNT && vy_ssa_has_effect(ins)) {
                mark(w, i);
            }
        }
        if (block->end == VY_END_BRANCH || block->end == VY_END_SWITCH) {
            mark(w, block->cond);
        }
    }
}

static void mark_all(dead_walk *w)
{
    for (uint32_t at = w->count; at-- > 0;) {
        const vy_ins *ins = &w->ssa->ins.data[w->order[at]];
        if (w->live[w->order[at]] != LIVE) {
            continue;
        }
        uint32_t count = vy_ssa_operand_count(ins);
        for (uint32_t i = 0; i < count; i++) {
            mark(w, ins->arg[i]);
        }
        if (ins->op >= VYRE_OP_COUNT) {
            mark_around(w, ins);
            follow(w);
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
    if (ssa->arrays.count > 1) {
        w.next_store = vy_arena_alloc(ssa->scratch, count, sizeof *w.next_store);
    }
    w.order = vy_arena_alloc(ssa->scratch, count, sizeof *w.order);
    w.array_live = vy_arena_alloc(ssa->scratch, ssa->arrays.count, sizeof *w.array_live);
    w.first_store = vy_arena_alloc(ssa->scratch, ssa->arrays.count, sizeof *w.first_store);
    if (ssa->arena->failed) {
        return false;
    }
    mark_roots(&w);
    mark_all(&w);
    if (ssa->arena->failed) {
        return false;
    }
    bool any = false;
    for (uint32_t at = 0; at < w.count; at++) {
        bool is_dead = w.live[w.order[at]] == DEAD;
        ssa->ins.data[w.order[at]].removed = is_dead;
        any |= is_dead;
    }
    if (any) {
        vy_ssa_sweep(ssa);
    }
    ssa->is_live = true;
    return true;
}
