/* What both ways to reach memory have in common: what a slot is to the module, the shape of its
 * block, and the push constants. */
#include "codegen/spirv/emit.h"

static const char *const hidden_names[VY_HIDDEN_COUNT] = {"vy_params", "vy_records", "vy_spill",
                                                          "vy_tables", "vy_state"};

bool vy_slot_is_written(const vy_emitter *emitter, uint32_t slot)
{
    uint32_t bindings = emitter->ssa->program->binding_count;
    if (slot == bindings + VY_HIDDEN_RECORDS) {
        return (emitter->access->writes & VY_ACCESS_RECORDS) != 0;
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

const char *vy_slot_name(const vy_emitter *emitter, uint32_t slot)
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

/* ---- Push constants -------------------------------------------------------------------------- */

static uint32_t push_variable(vy_emitter *emitter, uint32_t address)
{
    static const uint32_t offsets[4] = {VY_PUSH_ADDRESS, VY_PUSH_PASS, VY_PUSH_EXECUTION,
                                        VY_PUSH_INDICES};
    vy_module *m = &emitter->module;
    uint32_t element = vy_type_u32(m);
    uint32_t length = vy_const_u32(m, VYRE_MAX_HOST_LOOPS);
    uint32_t array = vy_type_unique(m, SpvOpTypeArray, VY_LIST(element, length));
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(4));
    const uint32_t members[4] = {address, element, element, array};
    uint32_t first = address ? 0 : 1;
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, members + first, 4 - first);
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    for (uint32_t i = first; i < 4; i++) {
        vy_module_decorate_member(m, block, i - first, SpvDecorationOffset, &offsets[i], 1);
    }
    uint32_t variable = vy_global_variable(m, SpvStorageClassPushConstant, block, 0);
    vy_module_name(m, block, "Push");
    vy_module_name(m, variable, "vy_push");
    return variable;
}

uint32_t vy_push_pointer(vy_emitter *emitter, uint32_t byte, uint32_t address)
{
    vy_module *m = &emitter->module;
    if (!emitter->push_block) {
        emitter->push_block = push_variable(emitter, address);
    }
    bool is_address = byte < VY_PUSH_PASS, is_index = byte >= VY_PUSH_INDICES;
    uint32_t type = is_address ? address : vy_type_u32(m);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPushConstant, type);
    uint32_t member = is_address ? 0 : is_index ? 2 : (byte - VY_PUSH_PASS) / 4;
    member += address && !is_address ? 1 : 0;
    uint32_t chain[3] = {emitter->push_block, vy_const_u32(m, member), 0};
    if (is_index) {
        chain[2] = vy_const_u32(m, (byte - VY_PUSH_INDICES) / 4);
    }
    return vy_value(m, SpvOpAccessChain, pointer, chain, is_index ? 3 : 2);
}
