/* Loops that a driver should unroll: those that go through a private array. Drivers keep such an
 * array in registers where each index is known, and in memory where it is not. Hints change no
 * result. */
#include "codegen/passes/edit.h"
#include "codegen/spirv/emit.h"

#define MAX_TRIPS 32u
#define MAX_DEPTH 2u /* of what an index is computed from */

static void mark(const vy_ssa *ssa, uint8_t *is_index, uint32_t value, uint32_t depth)
{
    const vy_ins *ins = &ssa->ins.data[value];
    is_index[value] = 1;
    bool is_read = ins->op == VYRE_OP_LOAD || ins->op == VYRE_OP_TABLE;
    if (depth == 0 || is_read || ins->op >= VYRE_OP_COUNT) {
        return;
    }
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t i = 0; i < count; i++) {
        mark(ssa, is_index, ins->arg[i], depth - 1);
    }
}

void vy_emit_find_indices(vy_emitter *emitter)
{
    const vy_ssa *ssa = emitter->ssa;
    uint8_t *is_index = ssa->arrays.count > 1 ? vy_arena_alloc(emitter->module.arena,
                                                               ssa->ins.count, sizeof *is_index)
                                              : NULL;
    for (uint32_t b = 1; is_index && b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            if (ins->op == VY_SSA_ARRAY_LOAD || ins->op == VY_SSA_ARRAY_STORE) {
                mark(ssa, is_index, ins->arg[0], MAX_DEPTH);
            }
        }
    }
    emitter->is_index = is_index;
}

/* Of the header's phi: the literal before the loop, and the one by which each trip moves it. */
static bool moves(const vy_emitter *emitter, uint32_t value, uint32_t header, uint16_t op,
                  uint64_t *out_from, uint64_t *out_step)
{
    const vy_ssa *ssa = emitter->ssa;
    const vy_ins *phi = &ssa->ins.data[value];
    uint32_t next = ssa->blocks.data[header].continue_block;
    if (phi->op != VY_SSA_PHI || phi->block != header || phi->bits != 2) {
        return false;
    }
    const vy_phi_edge *edges = &ssa->phi_edges.data[phi->ref];
    uint32_t back = edges[1].block == next ? 1 : 0;
    const vy_ins *move = &ssa->ins.data[edges[back].value];
    return edges[back].block == next && move->op == op && move->arg[0] == value &&
           vy_emitter_literal(emitter, edges[1 - back].value, out_from) &&
           vy_emitter_literal(emitter, move->arg[1], out_step);
}

/* 0: not known. Loops count up to a literal, or how many trips are left. */
static uint64_t trips_of(const vy_emitter *emitter, uint32_t header, const vy_ins *test)
{
    uint64_t from, step, to;
    if (!vy_emitter_literal(emitter, test->arg[1], &to)) {
        return 0;
    }
    if (test->op == VYRE_OP_LT && moves(emitter, test->arg[0], header, VYRE_OP_ADD, &from, &step)) {
        return step > 0 && from < to ? (to - from - 1) / step + 1 : 0;
    }
    bool is_left = test->op == VYRE_OP_NE && to == 0 &&
                   moves(emitter, test->arg[0], header, VYRE_OP_SUB, &from, &step);
    return is_left && step == 1 ? from : 0;
}

bool vy_emit_unrolls(const vy_emitter *emitter, uint32_t header)
{
    const vy_ssa *ssa = emitter->ssa;
    const vy_block *block = &ssa->blocks.data[header];
    if (!emitter->is_index || block->end != VY_END_JUMP) {
        return false;
    }
    const vy_block *test = &ssa->blocks.data[block->target[0]];
    if (test->end != VY_END_BRANCH) {
        return false;
    }
    uint64_t trips = trips_of(emitter, header, &ssa->ins.data[test->cond]);
    bool has_index = false;
    for (uint32_t i = block->first; i && ssa->ins.data[i].op == VY_SSA_PHI;
         i = ssa->ins.data[i].next) {
        has_index = has_index || emitter->is_index[i];
    }
    return has_index && trips > 0 && trips <= MAX_TRIPS;
}
