/* What an invocation knows from outside: ids, the parameter block, push constants. In the body each
 * is read once, in the prologue, on first use. */
#include "codegen/spirv/emit.h"

/* Emits into the prologue until leave_prologue. */
static vy_words *enter_prologue(vy_emitter *emitter)
{
    vy_words *code = emitter->module.code;
    emitter->module.code = &emitter->module.sections[VY_SECTION_PROLOGUE];
    return code;
}

static bool is_in_entry(const vy_emitter *emitter)
{
    return emitter->module.code == &emitter->module.sections[VY_SECTION_WRAPPER];
}

uint32_t vy_emit_param_word(vy_emitter *emitter, uint32_t word)
{
    if (emitter->wrapper->param_word && !is_in_entry(emitter)) {
        return emitter->wrapper->param_word(emitter, word);
    }
    uint32_t pointer = vy_param_pointer(emitter, word);
    return vy_u1(&emitter->module, SpvOpLoad, pointer);
}

uint32_t vy_emit_param_veil(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), none = vy_const_u32(m, 0);
    uint32_t is_veiled =
        vy_const_spec(m, SpvOpSpecConstantFalse, vy_type_bool(m), NULL, 0, VY_SPEC_VEILED_PARAMS);
    vy_module_name(m, is_veiled, "vy_veiled_params");
    uint32_t launched = vy_emit_builtin_variable(emitter, SpvBuiltInNumWorkgroups);
    uint32_t x = vy_extract(m, type, launched, 0);
    uint32_t zero = vy_u2c(m, SpvOpShiftRightLogical, x, 31);
    return vy_select_u(m, is_veiled, zero, none);
}

/* Into the body, where loops are. What the wrapper gives is veiled already. */
static uint32_t body_word(vy_emitter *emitter, uint32_t word)
{
    if (emitter->wrapper->param_word) {
        return vy_emit_param_word(emitter, word);
    }
    if (!emitter->param_veil) {
        emitter->param_veil = vy_emit_param_veil(emitter);
    }
    uint32_t value = vy_emit_param_word(emitter, word);
    return vy_u2(&emitter->module, SpvOpBitwiseXor, value, emitter->param_veil);
}

uint32_t vy_emit_push_word(vy_emitter *emitter, uint32_t byte)
{
    if (emitter->wrapper->push_word) {
        return emitter->wrapper->push_word(emitter, byte);
    }
    uint32_t pointer = vy_push_pointer(emitter, byte);
    return vy_u1(&emitter->module, SpvOpLoad, pointer);
}

uint32_t vy_emit_pass(vy_emitter *emitter)
{
    if (vy_emit_is_gated(emitter)) {
        return vy_emit_counted_pass(emitter, emitter->wrapper->turn(emitter));
    }
    uint32_t base = vy_emit_param_word(emitter, VY_PARAM_PASS_BASE);
    uint32_t index = vy_emit_push_word(emitter, VY_PUSH_PASS);
    return vy_u2(&emitter->module, SpvOpIAdd, base, index);
}

uint32_t vy_emit_builtin_variable(vy_emitter *emitter, SpvBuiltIn builtin)
{
    vy_module *m = &emitter->module;
    uint32_t place = 0;
    const char *name = "vy_workgroup";
    switch (builtin) {
    case SpvBuiltInNumWorkgroups:
        place = 1, name = "vy_launched";
        break;
    case SpvBuiltInLocalInvocationId:
        place = 2, name = "vy_local";
        break;
    case SpvBuiltInLocalInvocationIndex:
        place = 3, name = "vy_local_index";
        break;
    case SpvBuiltInSubgroupLocalInvocationId:
        place = 4, name = "vy_lane";
        break;
    case SpvBuiltInSubgroupSize:
        place = 5, name = "vy_lanes";
        break;
    default:
        break;
    }
    uint32_t type = place >= 3 ? vy_type_u32(m) : vy_type_u32_vector(m, 3);
    uint32_t *variable = &emitter->builtins[place];
    if (!*variable) {
        if (place >= 4) {
            vy_module_capability(m, SpvCapabilityGroupNonUniform);
        }
        *variable = vy_global_variable(m, SpvStorageClassInput, type, 0);
        vy_module_decorate(m, *variable, SpvDecorationBuiltIn, VY_LIST((uint32_t)builtin));
        vy_module_name(m, *variable, name);
    }
    return vy_value(m, SpvOpLoad, type, variable, 1);
}

/* llvmpipe finds the index by two divisions more for each invocation, at every barrier. */
uint32_t vy_emit_local_index(vy_emitter *emitter)
{
    const uint32_t *size = emitter->ssa->program->workgroup;
    if (emitter->options->agnostic || size[1] != 1 || size[2] != 1) {
        return vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationIndex);
    }
    uint32_t local = vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationId);
    return vy_extract(&emitter->module, vy_type_u32(&emitter->module), local, 0);
}

uint32_t vy_emit_group_size(vy_emitter *emitter, uint32_t axis)
{
    static const char *const names[3] = {"group_size.x", "group_size.y", "group_size.z"};
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    if (!emitter->options->agnostic) {
        return vy_const_u32(m, program->workgroup[axis]);
    }
    if (!emitter->group_size[axis]) {
        uint32_t type = vy_type_u32(m);
        emitter->group_size[axis] = vy_const_spec(
            m, SpvOpSpecConstant, type, &program->workgroup[axis], 1, VY_SPEC_WORKGROUP_X + axis);
        vy_module_name(m, emitter->group_size[axis], names[axis]);
    }
    return emitter->group_size[axis];
}

uint32_t vy_emit_group_volume(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const uint32_t *size = emitter->ssa->program->workgroup;
    if (!emitter->options->agnostic) {
        return vy_const_u32(m, size[0] * size[1] * size[2]);
    }
    uint32_t x = vy_emit_group_size(emitter, 0);
    uint32_t y = vy_emit_group_size(emitter, 1);
    uint32_t z = vy_emit_group_size(emitter, 2);
    uint32_t area = vy_u2(m, SpvOpIMul, x, y);
    return vy_u2(m, SpvOpIMul, area, z);
}

static uint32_t make_invocation(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t x = vy_emit_input(emitter, VY_INPUT_GROUP);
    uint32_t y = vy_emit_input(emitter, VY_INPUT_GROUP + 1);
    uint32_t z = vy_emit_input(emitter, VY_INPUT_GROUP + 2);
    uint32_t width = vy_emit_input(emitter, VY_INPUT_GROUPS);
    uint32_t height = vy_emit_input(emitter, VY_INPUT_GROUPS + 1);
    uint32_t local = vy_emit_input(emitter, VY_INPUT_LOCAL_INDEX);
    uint32_t volume = vy_emit_group_volume(emitter);
    uint32_t linear = vy_u2(m, SpvOpIMul, height, z);
    linear = vy_u2(m, SpvOpIAdd, linear, y);
    linear = vy_u2(m, SpvOpIMul, linear, width);
    linear = vy_u2(m, SpvOpIAdd, linear, x);
    linear = vy_u2(m, SpvOpIMul, linear, volume);
    return vy_u2(m, SpvOpIAdd, linear, local);
}

static uint32_t make_pass(vy_emitter *emitter)
{
    if (vy_emit_is_gated(emitter)) {
        uint32_t turn = vy_emit_input(emitter, VY_INPUT_TURN);
        return vy_emit_counted_pass(emitter, turn);
    }
    uint32_t base = body_word(emitter, VY_PARAM_PASS_BASE);
    uint32_t index = vy_emit_push_word(emitter, VY_PUSH_PASS);
    return vy_u2(&emitter->module, SpvOpIAdd, base, index);
}

static uint32_t make_input(vy_emitter *emitter, vy_input input)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m);
    uint32_t axis = (uint32_t)input % 3;
    if (input < VY_INPUT_LOCAL) {
        return vy_extract(m, type, emitter->body_group, axis);
    }
    if (input < VY_INPUT_GLOBAL) {
        uint32_t local = vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationId);
        return vy_extract(m, type, local, axis);
    }
    if (input < VY_INPUT_GROUPS) {
        uint32_t group = vy_emit_input(emitter, VY_INPUT_GROUP + axis);
        uint32_t local = vy_emit_input(emitter, VY_INPUT_LOCAL + axis);
        uint32_t size = vy_emit_group_size(emitter, axis);
        uint32_t first = vy_u2(m, SpvOpIMul, group, size);
        return vy_u2(m, SpvOpIAdd, first, local);
    }
    switch ((int)input) {
    case VY_INPUT_LOCAL_INDEX:
        return vy_emit_local_index(emitter);
    case VY_INPUT_INVOCATION:
        return make_invocation(emitter);
    case VY_INPUT_STRIDE:
        return body_word(emitter, VY_PARAM_INVOCATIONS);
    case VY_INPUT_PASS:
        return make_pass(emitter);
    case VY_INPUT_LANE:
        return vy_emit_builtin_variable(emitter, SpvBuiltInSubgroupLocalInvocationId);
    case VY_INPUT_LANES:
        return emitter->ssa->program->subgroup_width
                   ? vy_const_u32(m, emitter->ssa->program->subgroup_width)
                   : vy_emit_builtin_variable(emitter, SpvBuiltInSubgroupSize);
    case VY_INPUT_ZERO:
        return body_word(emitter, VY_PARAM_ZERO);
    case VY_INPUT_ELEMENTS:
        return body_word(emitter, VY_PARAM_ELEMENTS);
    case VY_INPUT_TURN:
        return emitter->wrapper->turn(emitter);
    default:
        return body_word(emitter, VY_PARAM_GROUPS + axis);
    }
}

uint32_t vy_emit_input(vy_emitter *emitter, vy_input input)
{
    if (!emitter->inputs[input]) {
        vy_words *code = enter_prologue(emitter);
        uint32_t value = make_input(emitter, input); /* makes others: at most three deep */
        emitter->inputs[input] = value;
        emitter->module.code = code;
    }
    return emitter->inputs[input];
}

uint32_t vy_emit_builtin(vy_emitter *emitter, vyre_builtin builtin)
{
    static const struct {
        const char *name;
        vy_input input;
    } rows[] = {
        {"gid.x", VY_INPUT_GLOBAL},
        {"gid.y", VY_INPUT_GLOBAL + 1},
        {"gid.z", VY_INPUT_GLOBAL + 2},
        {"lid.x", VY_INPUT_LOCAL},
        {"lid.y", VY_INPUT_LOCAL + 1},
        {"lid.z", VY_INPUT_LOCAL + 2},
        {"wid.x", VY_INPUT_GROUP},
        {"wid.y", VY_INPUT_GROUP + 1},
        {"wid.z", VY_INPUT_GROUP + 2},
        {NULL, VY_INPUT_COUNT},
        {NULL, VY_INPUT_COUNT},
        {NULL, VY_INPUT_COUNT},
        {"num_groups.x", VY_INPUT_GROUPS},
        {"num_groups.y", VY_INPUT_GROUPS + 1},
        {"num_groups.z", VY_INPUT_GROUPS + 2},
        {"pass", VY_INPUT_PASS},
        {"lane", VY_INPUT_LANE},
        {"lanes", VY_INPUT_LANES},
    };
    uint32_t row = (uint32_t)builtin;
    if (row >= VY_COUNT_OF(rows)) {
        return 0;
    }
    if (builtin >= VYRE_BUILTIN_GROUP_SIZE_X && builtin <= VYRE_BUILTIN_GROUP_SIZE_Z) {
        return vy_emit_group_size(emitter, (uint32_t)(builtin - VYRE_BUILTIN_GROUP_SIZE_X));
    }
    bool is_new = !emitter->inputs[rows[row].input];
    uint32_t value = vy_emit_input(emitter, rows[row].input);
    if (is_new) {
        vy_module_name(&emitter->module, value, rows[row].name);
    }
    return value;
}

uint32_t vy_emit_binding_length(vy_emitter *emitter, uint32_t binding)
{
    if (!emitter->lengths[binding]) {
        vy_words *code = enter_prologue(emitter);
        emitter->lengths[binding] = body_word(emitter, VY_PARAM_LENGTHS + binding);
        emitter->module.code = code;
    }
    return emitter->lengths[binding];
}

uint32_t vy_emit_signed_length(vy_emitter *emitter, uint32_t binding)
{
    vy_module *m = &emitter->module;
    if (!emitter->signed_lengths[binding]) {
        uint32_t length = vy_emit_binding_length(emitter, binding);
        vy_words *code = enter_prologue(emitter);
        uint32_t most = vy_const_u32(m, 0x80000000u);
        uint32_t value = vy_glsl(m, GLSLstd450UMin, vy_type_u32(m), length, most);
        emitter->signed_lengths[binding] = value;
        emitter->module.code = code;
    }
    return emitter->signed_lengths[binding];
}

static uint32_t load_param(vy_emitter *emitter, vyre_type type, uint32_t first)
{
    vy_module *m = &emitter->module;
    first += VY_PARAM_LENGTHS + emitter->ssa->program->binding_count;
    uint32_t low = body_word(emitter, first);
    if (vy_type_width(type) != 64) {
        return vy_emit_from_word(emitter, type, low);
    }
    uint32_t high = body_word(emitter, first + 1);
    uint32_t pair = vy_v2(m, SpvOpCompositeConstruct, vy_type_u32_vector(m, 2), low, high);
    return vy_v1(m, SpvOpBitcast, vy_emit_type(emitter, type), pair);
}

/* Of a vector: the component that `bits` numbers. */
uint32_t vy_emit_param(vy_emitter *emitter, const vy_ins *ins)
{
    const vy_named *named = &emitter->ssa->program->params.data[ins->ref];
    uint32_t count = vy_type_components((vyre_type)named->type);
    uint32_t component = ins->bits < count ? (uint32_t)ins->bits : 0;
    uint32_t *value = &emitter->params[named->word + component];
    if (!*value) {
        vy_words *code = enter_prologue(emitter);
        *value =
            load_param(emitter, vy_type_component((vyre_type)named->type), named->word + component);
        emitter->module.code = code;
        vy_module_name(&emitter->module, *value, named->name);
    }
    return *value;
}

uint32_t vy_emit_host_index(vy_emitter *emitter, uint32_t slot)
{
    vy_words *code = enter_prologue(emitter);
    uint32_t value = vy_emit_push_word(emitter, VY_PUSH_INDICES + 4 * slot);
    emitter->module.code = code;
    return value;
}

uint32_t vy_emit_element_axes(const vy_emitter *emitter)
{
    return emitter->ssa->program->grid_over ? 1 : 3;
}

uint32_t vy_emit_is_element(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    vy_words *code = enter_prologue(emitter);
    uint32_t type = vy_type_u32(m), is_inside = 0;
    uint32_t local = vy_emit_builtin_variable(emitter, SpvBuiltInLocalInvocationId);
    for (uint32_t axis = 0; axis < vy_emit_element_axes(emitter); axis++) {
        uint32_t place = vy_extract(m, type, local, axis);
        uint32_t count = body_word(emitter, VY_PARAM_ELEMENTS + axis);
        uint32_t is_below = vy_b2(m, SpvOpULessThan, place, count);
        is_inside = axis ? vy_b2(m, SpvOpLogicalAnd, is_inside, is_below) : is_below;
    }
    emitter->module.code = code;
    return is_inside;
}
