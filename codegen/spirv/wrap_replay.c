/* The entry point for one dispatch per segment, or for one of all of them: finds the logical
 * workgroup behind the launched one, leaves where there is none or where the fixpoint is over,
 * clears the workgroup memory in use, and calls the body. */
#include "codegen/spirv/emit.h"

/* Where the grid is folded, launched workgroups count linearly, x fastest. */
typedef struct vy_launch {
    uint32_t folded, launched; /* bool; linear number */
    uint32_t group[3];
} vy_launch;

static vy_launch launch_of(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    vy_launch launch;
    uint32_t type = vy_type_u32(m), boolean = vy_type_bool(m);
    launch.folded = vy_const_spec(m, SpvOpSpecConstantFalse, boolean, NULL, 0, VY_SPEC_FOLDED);
    vy_module_name(m, launch.folded, "vy_folded");
    uint32_t direct = vy_emit_builtin_variable(emitter, SpvBuiltInWorkgroupId);
    uint32_t size = vy_emit_builtin_variable(emitter, SpvBuiltInNumWorkgroups);
    uint32_t x = vy_extract(m, type, direct, 0);
    uint32_t y = vy_extract(m, type, direct, 1);
    uint32_t z = vy_extract(m, type, direct, 2);
    uint32_t width = vy_extract(m, type, size, 0);
    uint32_t height = vy_extract(m, type, size, 1);
    launch.launched = vy_u2(m, SpvOpIMul, height, z);
    launch.launched = vy_u2(m, SpvOpIAdd, launch.launched, y);
    launch.launched = vy_u2(m, SpvOpIMul, launch.launched, width);
    launch.launched = vy_u2(m, SpvOpIAdd, launch.launched, x);
    /* Nobody divides by 0: an empty grid launches nothing, and its counts are 1 here. */
    uint32_t one = vy_const_u32(m, 1);
    uint32_t groups_x = vy_emit_param_word(emitter, VY_PARAM_GROUPS);
    groups_x = vy_glsl(m, GLSLstd450UMax, type, groups_x, one);
    uint32_t groups_y = vy_emit_param_word(emitter, VY_PARAM_GROUPS + 1);
    groups_y = vy_glsl(m, GLSLstd450UMax, type, groups_y, one);
    uint32_t folded_x = vy_u2(m, SpvOpUMod, launch.launched, groups_x);
    uint32_t row = vy_u2(m, SpvOpUDiv, launch.launched, groups_x);
    uint32_t folded_y = vy_u2(m, SpvOpUMod, row, groups_y);
    uint32_t folded_z = vy_u2(m, SpvOpUDiv, row, groups_y);
    launch.group[0] = vy_select_u(m, launch.folded, folded_x, x);
    launch.group[1] = vy_select_u(m, launch.folded, folded_y, y);
    launch.group[2] = vy_select_u(m, launch.folded, folded_z, z);
    return launch;
}

/* Workgroups beyond the last one; the condition is the same for the whole workgroup. */
static uint32_t is_beyond_grid(vy_emitter *emitter, const vy_launch *launch)
{
    vy_module *m = &emitter->module;
    uint32_t total = vy_emit_param_word(emitter, VY_PARAM_GROUP_TOTAL);
    uint32_t beyond = vy_b2(m, SpvOpUGreaterThanEqual, launch->launched, total);
    return vy_b2(m, SpvOpLogicalAnd, launch->folded, beyond);
}

/* Invocations that only fill up the last workgroup, in programs that cannot tell. */
static uint32_t is_beyond_elements(vy_emitter *emitter, const vy_launch *launch)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), any = 0;
    uint32_t local = vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationId);
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t size = vy_emit_group_size(emitter, axis);
        uint32_t place = vy_extract(m, type, local, axis);
        uint32_t first = vy_u2(m, SpvOpIMul, launch->group[axis], size);
        place = vy_u2(m, SpvOpIAdd, first, place);
        uint32_t count = vy_emit_param_word(emitter, VY_PARAM_ELEMENTS + axis);
        uint32_t beyond = vy_b2(m, SpvOpUGreaterThanEqual, place, count);
        any = any ? vy_b2(m, SpvOpLogicalOr, any, beyond) : beyond;
    }
    return any;
}

/* Returns where the condition holds; gives the label of the block that is gone on in. */
static uint32_t leave_if(vy_module *m, uint32_t condition)
{
    uint32_t leave = vy_module_id(m), stay = vy_module_id(m);
    vy_if(m, condition, leave, stay, stay);
    vy_label(m, leave);
    vy_effect(m, SpvOpReturn, NULL, 0);
    vy_label(m, stay);
    return stay;
}

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

/* Zeroes every shared buffer that the body uses, then waits. Programs with shared buffers have a
 * fixed workgroup size. */
static void clear_shared(vy_emitter *emitter, uint32_t block)
{
    const vyre_program *program = emitter->ssa->program;
    uint32_t volume = program->workgroup[0] * program->workgroup[1] * program->workgroup[2];
    uint32_t index = 0;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        if (!emitter->shared[i]) {
            continue;
        }
        if (!index) {
            index = vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationIndex);
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
        vy_emit_barrier(emitter);
    }
}

static void emit(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    m->code = &m->sections[VY_SECTION_WRAPPER];
    uint32_t nothing = vy_type_void(m);
    uint32_t type = vy_type_function(m, nothing, NULL, 0);
    uint32_t function =
        vy_value(m, SpvOpFunction, nothing, VY_LIST((uint32_t)SpvFunctionControlMaskNone, type));
    vy_module_name(m, function, emitter->options->entry_name);
    uint32_t label = vy_module_id(m);
    vy_label(m, label);
    vy_launch launch = launch_of(emitter);
    if (!emitter->options->whole) {
        uint32_t leaves = is_beyond_grid(emitter, &launch);
        if (emitter->options->agnostic) {
            uint32_t beyond = is_beyond_elements(emitter, &launch);
            leaves = vy_b2(m, SpvOpLogicalOr, leaves, beyond);
        }
        if (emitter->ssa->program->until) {
            uint32_t is_over = vy_emit_gate(emitter, launch.launched);
            leaves = vy_b2(m, SpvOpLogicalOr, leaves, is_over);
        }
        uint32_t block = leave_if(m, leaves);
        clear_shared(emitter, block);
    }
    uint32_t vector = vy_type_u32_vector(m, 3);
    uint32_t group = vy_value(m, SpvOpCompositeConstruct, vector, launch.group, 3);
    (void)vy_value(m, SpvOpFunctionCall, nothing, VY_LIST(emitter->body, group));
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

const vy_spirv_wrapper vy_spirv_wrapper_replay = {.emit = emit};
