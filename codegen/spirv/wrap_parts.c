/* What entry points have in common: their function's head and end, the invocations that only fill
 * up a workgroup, and workgroup memory made zero. */
#include "codegen/spirv/emit.h"

uint32_t vy_wrap_is_beyond_elements(vy_emitter *emitter, const uint32_t group[3])
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), any = 0;
    uint32_t local = vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationId);
    for (uint32_t axis = 0; axis < vy_emit_element_axes(emitter); axis++) {
        uint32_t size = vy_emit_group_size(emitter, axis);
        uint32_t place = vy_extract(m, type, local, axis);
        uint32_t first = vy_u2(m, SpvOpIMul, group[axis], size);
        place = vy_u2(m, SpvOpIAdd, first, place);
        uint32_t count = vy_emit_param_word(emitter, VY_PARAM_ELEMENTS + axis);
        count = axis ? count : vy_emit_coarse_count(emitter, count);
        uint32_t beyond = vy_b2(m, SpvOpUGreaterThanEqual, place, count);
        /* One wide, a workgroup fills nothing up: drivers drop what its size makes false. */
        uint32_t is_wide = vy_b2c(m, SpvOpUGreaterThan, size, 1);
        beyond = vy_b2(m, SpvOpLogicalAnd, is_wide, beyond);
        any = any ? vy_b2(m, SpvOpLogicalOr, any, beyond) : beyond;
    }
    return any;
}

/* ---- Workgroup memory ------------------------------------------------------------------------ */

static void store_zero(vy_emitter *emitter, uint32_t buffer, uint32_t index)
{
    vy_cell cell = vy_emit_buffer_cell(emitter, buffer);
    uint32_t pointer = vy_emit_element(emitter, buffer, index);
    uint32_t zero = cell == VY_CELL_32
                        ? vy_const_u32(&emitter->module, 0)
                        : vy_const_null(&emitter->module, vy_cell_type(emitter, cell));
    vy_emit_store_cell(emitter, pointer, cell, zero, emitter->target->shared_access);
}

/* for (i = first; i < count; i += volume) buffer[i] = 0, begun in the block `before`; returns the
 * block it ends in. */
static uint32_t clear_by_loop(vy_emitter *emitter, uint32_t buffer, uint32_t first, uint32_t count,
                              uint32_t before)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m);
    uint32_t header = vy_module_id(m), body = vy_module_id(m), step = vy_module_id(m);
    uint32_t merge = vy_module_id(m), next = vy_module_id(m);
    vy_jump(m, header);
    vy_label(m, header);
    uint32_t index = vy_value(m, SpvOpPhi, type, VY_LIST(first, before, next, step));
    uint32_t more = vy_b2c(m, SpvOpULessThan, index, count);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, step, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_label(m, body);
    store_zero(emitter, buffer, index);
    vy_jump(m, step);
    vy_label(m, step);
    uint32_t volume = vy_emit_group_volume(emitter); /* a constant */
    vy_effect(m, SpvOpIAdd, VY_LIST(type, next, index, volume));
    vy_jump(m, header);
    vy_label(m, merge);
    return merge;
}

/* if (index < count) buffer[index] = 0; returns the block it ends in. */
static uint32_t clear_once(vy_emitter *emitter, uint32_t buffer, uint32_t index, uint32_t count)
{
    vy_module *m = &emitter->module;
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    uint32_t condition = vy_b2c(m, SpvOpULessThan, index, count);
    vy_if(m, condition, inside, merge, merge);
    vy_label(m, inside);
    store_zero(emitter, buffer, index);
    vy_jump(m, merge);
    vy_label(m, merge);
    return merge;
}

uint32_t vy_wrap_clear_shared(vy_emitter *emitter, const bool *is_used, uint32_t block)
{
    const vyre_program *program = emitter->ssa->program;
    uint32_t volume = program->workgroup[0] * program->workgroup[1] * program->workgroup[2];
    uint32_t index = 0;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        if (!is_used[i]) {
            continue;
        }
        if (!index) {
            index = vy_emit_local_index(emitter);
        }
        uint32_t count = vy_emit_shared_count(emitter, i);
        if (count == volume) {
            store_zero(emitter, i, index);
        } else if (count < volume) {
            block = clear_once(emitter, i, index, count);
        } else {
            block = clear_by_loop(emitter, i, index, count, block);
        }
    }
    if (index) {
        block = vy_emit_barrier_ways(emitter);
        vy_label(&emitter->module, block);
    }
    return block;
}

/* ---- The entry point ------------------------------------------------------------------------- */

uint32_t vy_wrap_begin_entry(vy_emitter *emitter, uint32_t *out_label)
{
    vy_module *m = &emitter->module;
    m->code = &m->sections[VY_SECTION_WRAPPER];
    uint32_t nothing = vy_type_void(m);
    uint32_t type = vy_type_function(m, nothing, NULL, 0);
    uint32_t function =
        vy_value(m, SpvOpFunction, nothing, VY_LIST((uint32_t)SpvFunctionControlMaskNone, type));
    vy_module_name(m, function, emitter->options->entry_name);
    *out_label = vy_module_id(m);
    vy_label(m, *out_label);
    vy_debug_entry(emitter, function);
    return function;
}

void vy_wrap_end_entry(vy_emitter *emitter, uint32_t function)
{
    vy_module *m = &emitter->module;
    vy_effect(m, SpvOpReturn, NULL, 0);
    vy_effect(m, SpvOpFunctionEnd, NULL, 0);
    vy_words name = {0};
    vy_words_text(m->arena, &name, emitter->options->entry_name);
    vy_words_append(m->arena, &name, m->interface.data, m->interface.count);
    vy_words_op(m->arena, &m->sections[VY_SECTION_ENTRY], SpvOpEntryPoint,
                VY_LIST(SpvExecutionModelGLCompute, function), name.data, name.count);
    const uint32_t *size = emitter->ssa->program->workgroup;
    vy_module_op(m, VY_SECTION_MODES, SpvOpExecutionMode,
                 VY_LIST(function, SpvExecutionModeLocalSize, size[0], size[1], size[2]));
}
