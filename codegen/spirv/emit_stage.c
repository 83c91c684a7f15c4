/* What a workgroup appends: put together in its own memory, at the places that its elements have
 * among themselves, and stored by neighbours at neighbouring places. */
#include "codegen/passes/coarsen_parts.h"
#include "codegen/spirv/emit.h"

/* Words that a subgroup's store may touch beside each other begin at a multiple of so many. */
#define LINE 32u

static uint32_t staged_word(vy_emitter *emitter, uint32_t place)
{
    vy_module *m = &emitter->module;
    uint32_t word = vy_type_u32(m);
    if (!emitter->stage) {
        uint32_t type = vy_type_array(m, word, VY_COARSE_STAGE);
        emitter->stage = vy_global_variable(m, SpvStorageClassWorkgroup, type, 0);
        vy_module_name(m, emitter->stage, "vy_staged");
    }
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassWorkgroup, word);
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(emitter->stage, place));
}

uint32_t vy_emit_stage_total(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    if (!emitter->stage_total) {
        emitter->stage_total = vy_global_variable(m, SpvStorageClassWorkgroup, vy_type_u32(m), 0);
        vy_module_name(m, emitter->stage_total, "vy_staged_count");
    }
    return emitter->stage_total;
}

void vy_emit_stage(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    uint32_t value = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    uint32_t word = vy_emit_to_cell(emitter, type, true, value);
    uint32_t pointer = staged_word(emitter, vy_emitter_value(emitter, ins->arg[0], ins->loc));
    vy_emit_store_word(emitter, pointer, word, emitter->target->shared_access);
}

/* Stores the word staged at `rank` to the element of that index, if it is one, and `is_staged`. */
static void store_word(vy_emitter *emitter, const vy_ins *ins, uint32_t rank, uint32_t index,
                       uint32_t is_staged)
{
    vy_module *m = &emitter->module;
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m),
             access = emitter->target->shared_access;
    uint32_t slot = emitter->ssa->program->buffers.data[ins->ref].binding;
    if (!ins->unchecked) {
        uint32_t is_element = vy_b2(m, SpvOpULessThan, index, vy_emit_length(emitter, ins->ref));
        is_staged = vy_b2(m, SpvOpLogicalAnd, is_staged, is_element);
    }
    vy_if(m, is_staged, inside, merge, merge);
    vy_emitter_label(emitter, inside);
    uint32_t word = vy_emit_load_word(emitter, staged_word(emitter, rank), access);
    uint32_t pointer = emitter->addressing->element(emitter, slot, VY_CELL_32, index);
    vy_emit_store_cell(emitter, pointer, VY_CELL_32, word, vy_emit_plain_access(emitter, ins->ref));
    vy_jump(m, merge);
    vy_emitter_label(emitter, merge);
}

/* for (i = local; i < total + skew; i += size) if (i >= skew) y[first + i - skew] = stage[i -
 * skew]; skew: words between the begin of a line
 * and the first. */
void vy_emit_unstage(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), access = emitter->target->shared_access;
    vy_emit_wait_for_group(emitter);
    uint32_t first = vy_emit_load_word(emitter, emitter->stage_first, access);
    first = ins->bits ? vy_u2c(m, SpvOpIAdd, first, (uint32_t)ins->bits) : first;
    uint32_t total = vy_emit_load_word(emitter, vy_emit_stage_total(emitter), access);
    uint32_t skew = vy_u2c(m, SpvOpBitwiseAnd, first, LINE - 1);
    uint32_t end = vy_u2(m, SpvOpIAdd, total, skew), line = vy_u2(m, SpvOpISub, first, skew);
    uint32_t size = vy_emit_group_size(emitter, 0), before = emitter->current_label;
    uint32_t local = vy_emit_input(emitter, VY_INPUT_LOCAL_INDEX);
    uint32_t header = vy_module_id(m), body = vy_module_id(m), next = vy_module_id(m);
    uint32_t merge = vy_module_id(m), following = vy_module_id(m);
    vy_jump(m, header);
    vy_emitter_label(emitter, header);
    uint32_t i = vy_value(m, SpvOpPhi, type, VY_LIST(local, before, following, next));
    uint32_t more = vy_b2(m, SpvOpULessThan, i, end);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, next, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_emitter_label(emitter, body);
    uint32_t is_staged = vy_b2(m, SpvOpUGreaterThanEqual, i, skew);
    uint32_t rank = vy_u2(m, SpvOpISub, i, skew), index = vy_u2(m, SpvOpIAdd, line, i);
    store_word(emitter, ins, rank, index, is_staged);
    vy_jump(m, next);
    vy_emitter_label(emitter, next);
    vy_effect(m, SpvOpIAdd, VY_LIST(type, following, i, size));
    vy_jump(m, header);
    vy_emitter_label(emitter, merge);
}
