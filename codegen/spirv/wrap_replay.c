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

/* Each turn has a parameter block of its own, and so have the executions behind a pass's first. */
static uint32_t turn(vy_emitter *emitter)
{
    return vy_emit_param_word(emitter, VY_PARAM_TURN);
}

static uint32_t leads(vy_emitter *emitter)
{
    uint32_t word = vy_emit_param_word(emitter, VY_PARAM_LEADS);
    return vy_b2c(&emitter->module, SpvOpINotEqual, word, 0);
}

/* Workgroup memory is zero when a segment begins, where that can be told. */
static void clear_shared(vy_emitter *emitter, uint32_t block)
{
    uint32_t count = emitter->ssa->program->buffers.count;
    vy_arena *arena = emitter->module.arena;
    bool *is_first = vy_arena_alloc(arena, count, sizeof *is_first);
    if (!is_first || !vy_ssa_find_written_first(emitter->ssa, arena, is_first)) {
        return; /* the arena has failed, and the module with it */
    }
    for (uint32_t i = 1; i < count; i++) {
        is_first[i] = emitter->is_shared_used[i] && !is_first[i];
    }
    (void)vy_wrap_clear_shared(emitter, is_first, block);
}

static void emit(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t label = 0, function = vy_wrap_begin_entry(emitter, &label);
    vy_launch launch = launch_of(emitter);
    if (!emitter->options->whole) {
        uint32_t leaves = is_beyond_grid(emitter, &launch);
        if (emitter->options->agnostic) {
            uint32_t beyond = vy_wrap_is_beyond_elements(emitter, launch.group);
            leaves = vy_b2(m, SpvOpLogicalOr, leaves, beyond);
        }
        if (emitter->ssa->program->until) {
            uint32_t is_over = vy_emit_gate(emitter);
            leaves = vy_b2(m, SpvOpLogicalOr, leaves, is_over);
        }
        uint32_t block = leave_if(m, leaves);
        clear_shared(emitter, block);
    }
    uint32_t nothing = vy_type_void(m), vector = vy_type_u32_vector(m, 3);
    uint32_t group = vy_value(m, SpvOpCompositeConstruct, vector, launch.group, 3);
    (void)vy_value(m, SpvOpFunctionCall, nothing, VY_LIST(emitter->body, group));
    vy_wrap_end_entry(emitter, function);
}

const vy_spirv_wrapper vy_spirv_wrapper_replay = {.emit = emit, .turn = turn, .leads = leads};
