/* Branches on literals. The construct of such a branch is dissolved: one arm is left, and it goes
 * straight on. What cannot be reached any more goes, apart from merge and continue blocks that a
 * remaining header names: these stay as the empty blocks that structured control flow asks for. */
#include "codegen/passes/passes.h"

typedef struct branch_walk {
    vy_ssa *ssa;
    bool *reached; /* by block */
    bool *kept;    /* by block */
    VY_VEC(uint32_t) work;
} branch_walk;

static uint32_t taken(const vy_ssa *ssa, const vy_block *block)
{
    uint32_t bits = (uint32_t)ssa->ins.data[block->cond].bits;
    if (block->end == VY_END_BRANCH) {
        return block->target[bits ? 0 : 1];
    }
    for (uint32_t i = 0; i < block->case_count; i++) {
        const vy_case *entry = &ssa->cases.data[block->first_case + i];
        if (entry->value == bits) {
            return entry->block;
        }
    }
    return block->target[0];
}

static bool make_jumps(vy_ssa *ssa)
{
    bool changed = false;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        vy_block *block = &ssa->blocks.data[b];
        bool chooses = block->end == VY_END_BRANCH || block->end == VY_END_SWITCH;
        if (chooses && block->merge_kind != VY_MERGE_LOOP &&
            ssa->ins.data[block->cond].op == VYRE_OP_LITERAL) {
            block->target[0] = taken(ssa, block);
            block->target[1] = block->cond = block->merge = block->case_count = 0;
            block->end = VY_END_JUMP;
            block->merge_kind = VY_MERGE_NONE;
            changed = true;
        }
    }
    return changed;
}

static void reach(branch_walk *w, uint32_t block)
{
    if (block && !w->reached[block]) {
        w->reached[block] = w->kept[block] = true;
        (void)vy_vec_push(w->ssa->scratch, &w->work, block);
    }
}

/* Ends of blocks that nothing reaches but a header names. */
static void keep_structure(branch_walk *w)
{
    vy_ssa *ssa = w->ssa;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *header = &ssa->blocks.data[b];
        if (!w->reached[b] || header->merge_kind == VY_MERGE_NONE) {
            continue;
        }
        uint32_t named[2] = {header->merge, header->continue_block};
        for (uint32_t i = 0; i < 2; i++) {
            vy_block *block = &ssa->blocks.data[named[i]];
            if (!named[i] || w->reached[named[i]]) {
                continue;
            }
            w->kept[named[i]] = true;
            *block = (vy_block){.end = i == 0 ? VY_END_UNREACHABLE : VY_END_JUMP,
                                .target = {i == 0 ? 0 : b},
                                .call = block->call,
                                .loc = block->loc};
        }
    }
}

static bool goes_to(const vy_ssa *ssa, uint32_t from, uint32_t to)
{
    const vy_block *block = &ssa->blocks.data[from];
    uint32_t target;
    for (uint32_t i = 0; (target = vy_ssa_successor(ssa, block, i)) != 0; i++) {
        if (target == to) {
            return true;
        }
    }
    return false;
}

static void trim_phi(branch_walk *w, uint32_t phi)
{
    vy_ssa *ssa = w->ssa;
    vy_ins *ins = &ssa->ins.data[phi];
    vy_phi_edge *edges = &ssa->phi_edges.data[ins->ref];
    uint32_t kept = 0;
    for (uint32_t e = 0; e < ins->bits; e++) {
        uint32_t from = edges[e].block;
        if (!w->kept[from] || !goes_to(ssa, from, ins->block)) {
            continue;
        }
        edges[kept] = edges[e];
        if (!w->reached[from]) {
            edges[kept].value = phi; /* never taken */
        }
        kept++;
    }
    ins->bits = kept;
}

bool vy_ssa_fold_branches(vy_ssa *ssa)
{
    branch_walk w = {.ssa = ssa};
    if (!make_jumps(ssa)) {
        return false;
    }
    uint32_t count = ssa->blocks.count, kept = 0;
    w.reached = vy_arena_alloc(ssa->scratch, count, sizeof *w.reached);
    w.kept = vy_arena_alloc(ssa->scratch, count, sizeof *w.kept);
    uint32_t *order = vy_arena_alloc(ssa->scratch, count, sizeof *order);
    if (ssa->arena->failed) {
        return false;
    }
    reach(&w, 1);
    while (w.work.count && !ssa->arena->failed) {
        const vy_block *block = &ssa->blocks.data[w.work.data[--w.work.count]];
        uint32_t target;
        for (uint32_t i = 0; (target = vy_ssa_successor(ssa, block, i)) != 0; i++) {
            reach(&w, target);
        }
    }
    keep_structure(&w);
    for (uint32_t b = 1; b < count; b++) {
        if (!w.kept[b]) {
            continue;
        }
        order[kept++] = b;
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            if (ssa->ins.data[i].op == VY_SSA_PHI) {
                trim_phi(&w, i);
            }
        }
    }
    if (!ssa->arena->failed) {
        vy_ssa_reorder(ssa, order, kept);
    }
    return true;
}
