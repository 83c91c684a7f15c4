/* Memory through addresses: the parameter block's is a push constant, the others' lie in that block
 * behind its words. A pointer is made of its two words by OpBitcast, so that no 64-bit integers are
 * needed (elements of 8 and 16 bits apart). Such pointers are values and never variables or
 * arguments; they are no memory object declarations, so nothing is assumed of two of them and there
 * is nothing to put Aliased on: the aliased variant differs in what is read-only, coherent and
 * NonPrivate.
 *
 * The body and the entry point keep the pointers that they have made: the body's are made in its
 * prologue, the entry point's where they are first asked for, which is its first block. Other
 * functions make them anew at each use, since they touch memory on rare paths only.
 *
 * Access chains take their indices for signed: from element 2^31 on one would lead backwards. Where
 * buffers are so long (options->wide) they are arrays of pairs, so that both indices of an element
 * are below that. */
#include "codegen/spirv/emit.h"

/* The parameter block, records and tables are short. */
static bool is_wide(const vy_emitter *emitter, uint32_t slot)
{
    uint32_t bindings = emitter->ssa->program->binding_count;
    return emitter->options->wide && (slot < bindings || slot == bindings + VY_HIDDEN_SPILL);
}

/* As vy_slot_block_type: struct { cell pairs[][2]; }. */
static uint32_t pair_block_type(vy_emitter *emitter, vy_cell cell, const char *name)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_cell_type(emitter, cell), size = vy_cell_size(cell);
    uint32_t two = vy_const_u32(m, 2);
    uint32_t pair = vy_type_unique(m, SpvOpTypeArray, VY_LIST(type, two));
    vy_module_decorate(m, pair, SpvDecorationArrayStride, VY_LIST(size));
    uint32_t array = vy_type_unique(m, SpvOpTypeRuntimeArray, &pair, 1);
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(2 * size));
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, &array, 1);
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    vy_module_decorate_member(m, block, 0, SpvDecorationOffset, VY_LIST(0));
    vy_module_name(m, block, name);
    return block;
}

/* Types of the same shape: what is said of a pointer's target is said of its block type here. */
static uint32_t block_type(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    static const char *const names[3] = {"ReadOnlyWords", "Words", "CoherentWords"};
    vy_module *m = &emitter->module;
    bool wide = is_wide(emitter, slot);
    uint32_t kind = vy_slot_is_written(emitter, slot) ? 1 : 0;
    if (vy_slot_is_coherent(emitter, slot)) {
        kind = 2;
    }
    uint32_t *block = &emitter->buffer_blocks[cell][wide ? kind + 3 : kind];
    if (!*block) {
        *block = wide ? pair_block_type(emitter, cell, names[kind])
                      : vy_slot_block_type(emitter, cell, names[kind]);
        if (kind != 1) {
            vy_module_decorate_member(
                m, *block, 0, kind ? SpvDecorationCoherent : SpvDecorationNonWritable, NULL, 0);
        }
    }
    return *block;
}

static uint32_t address_type(vy_emitter *emitter)
{
    return vy_type_u32_vector(&emitter->module, 2);
}

/* The pointer to the slot's block. */
static uint32_t make_pointer(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    uint32_t bindings = program->binding_count, pair = address_type(emitter), address;
    if (slot == bindings + VY_HIDDEN_PARAMS) {
        uint32_t place = vy_push_pointer(emitter, VY_PUSH_ADDRESS, pair);
        address = vy_value(m, SpvOpLoad, pair, &place, 1);
    } else {
        uint32_t rank = slot < bindings ? slot : slot - VY_HIDDEN_RECORDS;
        uint32_t first = vy_param_addresses(bindings, program->param_words) + 2 * rank;
        uint32_t low = vy_emit_param_word(emitter, first);
        uint32_t high = vy_emit_param_word(emitter, first + 1);
        address = vy_value(m, SpvOpCompositeConstruct, pair, VY_LIST(low, high));
    }
    uint32_t block = block_type(emitter, slot, cell);
    uint32_t type = vy_type_pointer(m, SpvStorageClassPhysicalStorageBuffer, block);
    SpvOp op = SpvOpBitcast;
    if (cell < VY_CELL_32) { /* no bitcast has to do with types of 8 and 16 bits */
        address = vy_v1(m, SpvOpBitcast, vy_type_u64(m), address);
        op = SpvOpConvertUToPtr;
    }
    uint32_t pointer = vy_value(m, op, type, &address, 1);
    vy_module_name(m, pointer, vy_slot_name(emitter, slot));
    return pointer;
}

static uint32_t pointer_to(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    vy_module *m = &emitter->module;
    uint32_t slot_count = emitter->ssa->program->binding_count + VY_HIDDEN_COUNT;
    vy_words *code = m->code, *prologue = &m->sections[VY_SECTION_PROLOGUE];
    uint32_t *kept = &emitter->slots[slot];
    if (code == &m->sections[VY_SECTION_WRAPPER]) {
        kept += slot_count;
    } else if (code == prologue || code == &m->sections[VY_SECTION_BODY]) {
        m->code = prologue;
    } else {
        return make_pointer(emitter, slot, cell);
    }
    if (!*kept) {
        uint32_t pointer = make_pointer(emitter, slot, cell); /* asks for the parameter block's */
        *kept = pointer;
    }
    m->code = code;
    return *kept;
}

static uint32_t element(vy_emitter *emitter, uint32_t slot, vy_cell cell, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t block = pointer_to(emitter, slot, cell);
    uint32_t type = vy_cell_type(emitter, cell);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPhysicalStorageBuffer, type);
    uint32_t first = vy_const_u32(m, 0);
    if (is_wide(emitter, slot)) {
        uint32_t one = vy_const_u32(m, 1);
        uint32_t pair = vy_u2(m, SpvOpShiftRightLogical, index, one);
        uint32_t half = vy_u2(m, SpvOpBitwiseAnd, index, one);
        return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(block, first, pair, half));
    }
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(block, first, index));
}

static uint32_t push(vy_emitter *emitter, uint32_t byte)
{
    uint32_t pair = address_type(emitter);
    return vy_push_pointer(emitter, byte, pair);
}

const vy_spirv_addressing vy_spirv_addressing_physical = {
    .model = SpvAddressingModelPhysicalStorageBuffer64,
    .capability = SpvCapabilityPhysicalStorageBufferAddresses,
    .access = SpvMemoryAccessAlignedMask, /* to the element's size */
    .element = element,
    .push = push,
};
