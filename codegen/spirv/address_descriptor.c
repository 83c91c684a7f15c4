/* Memory through descriptors: one storage buffer variable for each slot that is used, set 0,
 * binding = slot. Buffers are arrays of integers, so that floats and atomics need no second view of
 * the same memory. Coarse segments have one of what they access as words: a second variable of the
 * same binding. */
#include "codegen/spirv/emit.h"

/* Two types of the same shape: NVIDIA's driver (580) takes NonWritable on a variable for a property
 * of its block type, and then keeps what it loaded from others of that type over stores to them. */
static uint32_t block_type(vy_emitter *emitter, vy_cell cell, bool is_written)
{
    uint32_t *block = &emitter->buffer_blocks[cell][is_written];
    if (!*block) {
        *block = vy_slot_block_type(emitter, cell, is_written ? "Words" : "ReadOnlyWords");
    }
    return *block;
}

static void decorate_slot(vy_emitter *emitter, uint32_t slot, uint32_t variable)
{
    vy_module *m = &emitter->module;
    vy_module_decorate(m, variable, SpvDecorationDescriptorSet, VY_LIST(0));
    vy_module_decorate(m, variable, SpvDecorationBinding, VY_LIST(slot));
    if (!vy_slot_is_written(emitter, slot)) {
        vy_module_decorate(m, variable, SpvDecorationNonWritable, NULL, 0);
        return;
    }
    bool may_overlap = emitter->options->aliased || emitter->options->coarse;
    if (may_overlap && slot < emitter->ssa->program->binding_count) {
        vy_module_decorate(m, variable, SpvDecorationAliased, NULL, 0);
    }
    if (vy_slot_is_coherent(emitter, slot)) {
        vy_module_decorate(m, variable, SpvDecorationCoherent, NULL, 0);
    }
}

static uint32_t element(vy_emitter *emitter, uint32_t slot, vy_cell cell, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t *variable = vy_slot_kept(emitter, slot, cell);
    if (!*variable) {
        uint32_t block = block_type(emitter, cell, vy_slot_is_written(emitter, slot));
        *variable = vy_global_variable(m, SpvStorageClassStorageBuffer, block, 0);
        decorate_slot(emitter, slot, *variable);
        vy_module_name(m, *variable, vy_slot_name(emitter, slot));
        vy_debug_buffer(emitter, vy_slot_buffer(emitter, slot), *variable);
    }
    uint32_t type = vy_cell_type(emitter, cell);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassStorageBuffer, type);
    uint32_t first = vy_const_u32(m, 0);
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(*variable, first, index));
}

static uint32_t param_binding(uint32_t binding_count)
{
    return binding_count + VY_HIDDEN_PARAMS;
}

const vy_spirv_addressing vy_spirv_addressing_descriptor = {
    .model = SpvAddressingModelLogical,
    .capability = SpvCapabilityShader,
    .element = element,
    .param_binding = param_binding,
};
