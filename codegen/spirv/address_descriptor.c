/* Memory through descriptors: one storage buffer variable for each slot that is used, set 0,
 * binding = slot; push constants in one block. All buffers share one block type, an array of words,
 * so that floats and atomics need no second view of the same memory. */
#include "codegen/spirv/emit.h"

static const char *const hidden_names[VY_HIDDEN_COUNT] = {"vy_params", "vy_records", "vy_spill",
                                                          "vy_tables"};

/* Two types of the same shape: NVIDIA's driver (580) takes NonWritable on a variable for a property
 * of its block type, and then keeps what it loaded from others of that type over stores to them. */
static uint32_t block_type(vy_emitter *emitter, bool is_written)
{
    vy_module *m = &emitter->module;
    uint32_t *block = &emitter->buffer_blocks[is_written];
    if (!*block) {
        uint32_t word = vy_type_u32(m);
        uint32_t array = vy_type_unique(m, SpvOpTypeRuntimeArray, &word, 1);
        vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(4));
        *block = vy_type_unique(m, SpvOpTypeStruct, &array, 1);
        vy_module_decorate(m, *block, SpvDecorationBlock, NULL, 0);
        vy_module_decorate_member(m, *block, 0, SpvDecorationOffset, VY_LIST(0));
        vy_module_name(m, *block, is_written ? "Words" : "ReadOnlyWords");
    }
    return *block;
}

/* Whether invocations of the segment speak to each other through this binding. Where bindings may
 * be the same memory, what is done to one of the written ones is done to all. */
static bool is_coherent(const vy_emitter *emitter, uint32_t slot)
{
    const vy_access *access = emitter->access;
    if (!emitter->target->is_coherent_decorated || (!access->has_barrier && !access->atomics)) {
        return false;
    }
    uint64_t group = (uint64_t)1 << slot;
    if (emitter->options->aliased) {
        group = emitter->module_writes;
    }
    return (access->writes & group) && (access->reads & group);
}

static const char *slot_name(const vy_emitter *emitter, uint32_t slot)
{
    const vyre_program *program = emitter->ssa->program;
    if (slot >= program->binding_count) {
        return hidden_names[slot - program->binding_count];
    }
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED && buffer->binding == slot) {
            return buffer->name;
        }
    }
    return NULL;
}

static bool is_written(const vy_emitter *emitter, uint32_t slot)
{
    uint32_t bindings = emitter->ssa->program->binding_count;
    if (slot == bindings + VY_HIDDEN_RECORDS) {
        return (emitter->access->writes & VY_ACCESS_RECORDS) != 0;
    }
    if (slot == bindings + VY_HIDDEN_SPILL) {
        return (emitter->access->writes & VY_ACCESS_SPILL) != 0;
    }
    return slot < bindings && (emitter->module_writes >> slot & 1);
}

static void decorate_slot(vy_emitter *emitter, uint32_t slot, uint32_t variable)
{
    vy_module *m = &emitter->module;
    vy_module_decorate(m, variable, SpvDecorationDescriptorSet, VY_LIST(0));
    vy_module_decorate(m, variable, SpvDecorationBinding, VY_LIST(slot));
    if (!is_written(emitter, slot)) {
        vy_module_decorate(m, variable, SpvDecorationNonWritable, NULL, 0);
        return;
    }
    if (slot >= emitter->ssa->program->binding_count) {
        return;
    }
    if (emitter->options->aliased) {
        vy_module_decorate(m, variable, SpvDecorationAliased, NULL, 0);
    }
    if (is_coherent(emitter, slot)) {
        vy_module_decorate(m, variable, SpvDecorationCoherent, NULL, 0);
    }
}

static uint32_t word(vy_emitter *emitter, uint32_t slot, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t *variable = &emitter->slots[slot];
    if (!*variable) {
        uint32_t block = block_type(emitter, is_written(emitter, slot));
        *variable = vy_global_variable(m, SpvStorageClassStorageBuffer, block, 0);
        decorate_slot(emitter, slot, *variable);
        vy_module_name(m, *variable, slot_name(emitter, slot));
    }
    uint32_t element = vy_type_u32(m);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassStorageBuffer, element);
    uint32_t first = vy_const_u32(m, 0);
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(*variable, first, index));
}

static uint32_t push_variable(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t element = vy_type_u32(m);
    uint32_t length = vy_const_u32(m, VYRE_MAX_HOST_LOOPS);
    uint32_t array = vy_type_unique(m, SpvOpTypeArray, VY_LIST(element, length));
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(4));
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, VY_LIST(element, element, array));
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    vy_module_decorate_member(m, block, 0, SpvDecorationOffset, VY_LIST(VY_PUSH_PASS));
    vy_module_decorate_member(m, block, 1, SpvDecorationOffset, VY_LIST(VY_PUSH_EXECUTION));
    vy_module_decorate_member(m, block, 2, SpvDecorationOffset, VY_LIST(VY_PUSH_INDICES));
    uint32_t variable = vy_global_variable(m, SpvStorageClassPushConstant, block, 0);
    vy_module_name(m, block, "Push");
    vy_module_name(m, variable, "vy_push");
    return variable;
}

static uint32_t push(vy_emitter *emitter, uint32_t byte)
{
    vy_module *m = &emitter->module;
    if (!emitter->push_block) {
        emitter->push_block = push_variable(emitter);
    }
    uint32_t type = vy_type_u32(m);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPushConstant, type);
    uint32_t member = byte < VY_PUSH_INDICES ? (byte - VY_PUSH_PASS) / 4 : 2;
    uint32_t chain[3] = {emitter->push_block, vy_const_u32(m, member), 0};
    if (byte >= VY_PUSH_INDICES) {
        chain[2] = vy_const_u32(m, (byte - VY_PUSH_INDICES) / 4);
    }
    return vy_value(m, SpvOpAccessChain, pointer, chain, chain[2] ? 3 : 2);
}

const vy_spirv_addressing vy_spirv_addressing_descriptor = {.word = word, .push = push};
