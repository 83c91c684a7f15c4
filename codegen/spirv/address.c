/* What both ways to reach memory have in common: what a slot is to the module, the shape of its
 * block, the parameter block and the push constants. */
#include "codegen/spirv/emit.h"

static const char *const hidden_names[VY_HIDDEN_COUNT] = {"vy_params", "vy_state", "vy_records",
                                                          "vy_spill", "vy_tables"};

bool vy_slot_is_written(const vy_emitter *emitter, uint32_t slot)
{
    uint32_t bindings = emitter->ssa->program->binding_count;
    if (slot == bindings + VY_HIDDEN_RECORDS) {
        return (emitter->access->writes & VY_ACCESS_RECORDS) != 0;
    }
    if (slot == bindings + VY_HIDDEN_SYNC) {
        return true;
    }
    if (slot == bindings + VY_HIDDEN_SPILL) {
        return (emitter->access->writes & VY_ACCESS_SPILL) != 0;
    }
    if (slot == bindings + VY_HIDDEN_STATE) {
        return true;
    }
    return slot < bindings && (emitter->module_writes >> slot & 1);
}

/* Where bindings may be the same memory, what is done to one of the written ones is done to all.
 * Hidden buffers: records see atomics alone, spill slots one invocation each; the state is what the
 * flag is. */
bool vy_slot_is_coherent(const vy_emitter *emitter, uint32_t slot)
{
    const vy_access *access = emitter->access;
    const vyre_program *program = emitter->ssa->program;
    bool is_state = slot == program->binding_count + VY_HIDDEN_STATE;
    if (!emitter->target->is_coherent_decorated || (!access->has_barrier && !access->atomics) ||
        (slot >= program->binding_count && !is_state) || !vy_slot_is_written(emitter, slot)) {
        return false;
    }
    uint64_t group = (uint64_t)1 << slot;
    if (is_state) {
        group = VY_ACCESS_FLAG;
    } else if (emitter->options->aliased) {
        group = emitter->module_writes & ~VY_ACCESS_FLAG;
    }
    return (access->writes & group) && (access->reads & group);
}

uint32_t vy_slot_buffer(const vy_emitter *emitter, uint32_t slot)
{
    const vyre_program *program = emitter->ssa->program;
    for (uint32_t i = 1; i < program->buffers.count && slot < program->binding_count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED && buffer->binding == slot) {
            return i;
        }
    }
    return 0;
}

const char *vy_slot_name(const vy_emitter *emitter, uint32_t slot)
{
    const vyre_program *program = emitter->ssa->program;
    if (slot == program->binding_count + VY_HIDDEN_SYNC) {
        return "vy_sync";
    }
    if (slot == program->binding_count + VY_HIDDEN_SCHEDULE) {
        return "vy_schedule";
    }
    if (slot >= program->binding_count) {
        return hidden_names[slot - program->binding_count];
    }
    uint32_t buffer = vy_slot_buffer(emitter, slot);
    return buffer ? program->buffers.data[buffer].name : NULL;
}

uint32_t *vy_slot_kept(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    const vyre_program *program = emitter->ssa->program;
    for (uint32_t i = 1; slot < program->binding_count && i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED && buffer->binding == slot &&
            vy_emit_buffer_cell(emitter, i) != cell) {
            return &emitter->wide_slots[slot * VY_CELL_COUNT + cell];
        }
    }
    return &emitter->slots[slot];
}

uint32_t vy_slot_block_type(vy_emitter *emitter, vy_cell cell, const char *name)
{
    vy_module *m = &emitter->module;
    uint32_t element = vy_cell_type(emitter, cell);
    uint32_t array = vy_type_unique(m, SpvOpTypeRuntimeArray, &element, 1);
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(vy_cell_size(cell)));
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, &array, 1);
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    vy_module_decorate_member(m, block, 0, SpvDecorationOffset, VY_LIST(0));
    vy_module_name(m, block, name);
    return block;
}

/* ---- Parameter block ------------------------------------------------------------------------- */

static uint32_t param_variable(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    uint32_t vector = vy_type_u32_vector(m, 4);
    uint32_t vectors = emitter->options->persistent
                           ? vy_tailed_vectors(program->binding_count, program->param_words)
                           : vy_param_vectors(program->binding_count, program->param_words);
    uint32_t count = vy_const_u32(m, vectors);
    uint32_t array = vy_type_unique(m, SpvOpTypeArray, VY_LIST(vector, count));
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(VY_PARAM_VECTOR_SIZE));
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, &array, 1);
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    vy_module_decorate_member(m, block, 0, SpvDecorationOffset, VY_LIST(0));
    uint32_t variable = vy_global_variable(m, SpvStorageClassUniform, block, 0);
    uint32_t binding = emitter->addressing->param_binding(program->binding_count);
    vy_module_decorate(m, variable, SpvDecorationDescriptorSet, VY_LIST(0));
    vy_module_decorate(m, variable, SpvDecorationBinding, VY_LIST(binding));
    vy_module_name(m, block, "Params");
    vy_module_name(m, variable, "vy_params");
    return variable;
}

uint32_t vy_param_pointer(vy_emitter *emitter, uint32_t word)
{
    vy_module *m = &emitter->module;
    if (!emitter->param_block) {
        emitter->param_block = param_variable(emitter);
    }
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassUniform, vy_type_u32(m));
    uint32_t first = vy_const_u32(m, 0);
    uint32_t vector = vy_const_u32(m, word / 4), component = vy_const_u32(m, word % 4);
    return vy_value(m, SpvOpAccessChain, pointer,
                    VY_LIST(emitter->param_block, first, vector, component));
}

/* ---- Push constants -------------------------------------------------------------------------- */

static uint32_t push_variable(vy_emitter *emitter)
{
    static const uint32_t offsets[3] = {VY_PUSH_EXECUTION, VY_PUSH_PASS, VY_PUSH_INDICES};
    vy_module *m = &emitter->module;
    uint32_t element = vy_type_u32(m);
    uint32_t length = vy_const_u32(m, VYRE_MAX_HOST_LOOPS);
    uint32_t array = vy_type_unique(m, SpvOpTypeArray, VY_LIST(element, length));
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(4));
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, VY_LIST(element, element, array));
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        vy_module_decorate_member(m, block, i, SpvDecorationOffset, &offsets[i], 1);
    }
    uint32_t variable = vy_global_variable(m, SpvStorageClassPushConstant, block, 0);
    vy_module_name(m, block, "Push");
    vy_module_name(m, variable, "vy_push");
    return variable;
}

uint32_t vy_push_pointer(vy_emitter *emitter, uint32_t byte)
{
    vy_module *m = &emitter->module;
    if (!emitter->push_block) {
        emitter->push_block = push_variable(emitter);
    }
    bool is_index = byte >= VY_PUSH_INDICES;
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPushConstant, vy_type_u32(m));
    uint32_t member = is_index ? 2 : byte / 4;
    uint32_t chain[3] = {emitter->push_block, vy_const_u32(m, member), 0};
    if (is_index) {
        chain[2] = vy_const_u32(m, (byte - VY_PUSH_INDICES) / 4);
    }
    return vy_value(m, SpvOpAccessChain, pointer, chain, is_index ? 3 : 2);
}
