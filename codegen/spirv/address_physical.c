/* Memory through addresses: they lie in the parameter block behind its words. A pointer is made of
 * its two words by OpBitcast, so that no 64-bit integers are needed (elements of 8 and 16 bits
 * apart). Such pointers are values and never variables or arguments; they are no memory object
 * declarations, so nothing is assumed of two of them and there is nothing to put Aliased on: the
 * aliased variant differs in what is read-only, coherent and NonPrivate.
 *
 * The body and the entry point keep the pointers that they have made: the body's are made in its
 * prologue, the entry point's where they are first asked for, which is its first block. Other
 * functions make them anew at each use, since they touch memory on rare paths only.
 *
 * Access chains take their indices for signed: from element 2^31 on one would lead backwards. A
 * driver was seen to multiply them by the stride in 32 bits: from 4 GiB on one would wrap. Where
 * buffers are so large (options->wide) addresses are kept in place of pointers, and each access
 * makes a pointer of its own to a block whose first element is the one asked for. */
#include "codegen/spirv/emit.h"

/* Records and tables are short. */
static bool is_wide(const vy_emitter *emitter, uint32_t slot)
{
    uint32_t bindings = emitter->ssa->program->binding_count;
    return emitter->options->wide && (slot < bindings || slot == bindings + VY_HIDDEN_SPILL);
}

/* Types of the same shape: what is said of a pointer's target is said of its block type here. */
static uint32_t block_type(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    static const char *const names[3] = {"ReadOnlyWords", "Words", "CoherentWords"};
    vy_module *m = &emitter->module;
    uint32_t kind = vy_slot_is_written(emitter, slot) ? 1 : 0;
    if (vy_slot_is_coherent(emitter, slot)) {
        kind = 2;
    }
    uint32_t *block = &emitter->buffer_blocks[cell][kind];
    if (!*block) {
        *block = vy_slot_block_type(emitter, cell, names[kind]);
        if (kind != 1) {
            vy_module_decorate_member(
                m, *block, 0, kind ? SpvDecorationCoherent : SpvDecorationNonWritable, NULL, 0);
        }
    }
    return *block;
}

/* Two words, low first. */
static uint32_t address_type(vy_emitter *emitter)
{
    return vy_type_u32_vector(&emitter->module, 2);
}

/* The address of the slot's first element. */
static uint32_t load_address(vy_emitter *emitter, uint32_t slot)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    uint32_t bindings = program->binding_count, pair = address_type(emitter);
    uint32_t rank = slot < bindings ? slot : slot - VY_HIDDEN_STATE;
    uint32_t first = vy_param_addresses(bindings, program->param_words) + 2 * rank;
    uint32_t low = vy_emit_param_word(emitter, first);
    uint32_t high = vy_emit_param_word(emitter, first + 1);
    return vy_value(m, SpvOpCompositeConstruct, pair, VY_LIST(low, high));
}

/* The pointer to a block of the slot's type at that address. */
static uint32_t make_pointer(vy_emitter *emitter, uint32_t slot, vy_cell cell, uint32_t address)
{
    vy_module *m = &emitter->module;
    uint32_t block = block_type(emitter, slot, cell);
    uint32_t type = vy_type_pointer(m, SpvStorageClassPhysicalStorageBuffer, block);
    SpvOp op = SpvOpBitcast;
    if (cell < VY_CELL_32) { /* no bitcast has to do with types of 8 and 16 bits */
        address = vy_v1(m, SpvOpBitcast, vy_type_u64(m), address);
        op = SpvOpConvertUToPtr;
    }
    return vy_value(m, op, type, &address, 1);
}

/* What is kept of a slot: the pointer to its block, or its address where it is wide. */
static uint32_t make_base(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    uint32_t base = load_address(emitter, slot);
    if (!is_wide(emitter, slot)) {
        base = make_pointer(emitter, slot, cell, base);
    }
    vy_module_name(&emitter->module, base, vy_slot_name(emitter, slot));
    return base;
}

static uint32_t base_of(vy_emitter *emitter, uint32_t slot, vy_cell cell)
{
    vy_module *m = &emitter->module;
    uint32_t slot_count = VY_SLOT_COUNT(emitter->ssa->program->binding_count);
    vy_words *code = m->code, *prologue = &m->sections[VY_SECTION_PROLOGUE];
    uint32_t *kept = vy_slot_kept(emitter, slot, cell);
    if (code == &m->sections[VY_SECTION_WRAPPER]) {
        kept = &emitter->slots[slot_count + slot];
    } else if (code == prologue || code == &m->sections[VY_SECTION_BODY]) {
        m->code = prologue;
    } else {
        return make_base(emitter, slot, cell);
    }
    if (!*kept) {
        *kept = make_base(emitter, slot, cell);
    }
    m->code = code;
    return *kept;
}

/* address + index * size of a cell, in 64 bits of two words. */
static uint32_t add_index(vy_emitter *emitter, vy_cell cell, uint32_t address, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t word = vy_type_u32(m), places = 0;
    while (vy_cell_size(cell) >> places > 1) {
        places++;
    }
    uint32_t low = vy_extract(m, word, address, 0);
    uint32_t high = vy_extract(m, word, address, 1);
    uint32_t offset = index;
    if (places) {
        uint32_t rest = vy_u2c(m, SpvOpShiftRightLogical, index, 32 - places);
        high = vy_u2(m, SpvOpIAdd, high, rest);
        offset = vy_u2c(m, SpvOpShiftLeftLogical, index, places);
    }
    low = vy_u2(m, SpvOpIAdd, low, offset);
    uint32_t has_carry = vy_b2(m, SpvOpULessThan, low, offset);
    uint32_t one = vy_const_u32(m, 1), none = vy_const_u32(m, 0);
    uint32_t carry = vy_select_u(m, has_carry, one, none);
    high = vy_u2(m, SpvOpIAdd, high, carry);
    return vy_value(m, SpvOpCompositeConstruct, address_type(emitter), VY_LIST(low, high));
}

static uint32_t element(vy_emitter *emitter, uint32_t slot, vy_cell cell, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t block = base_of(emitter, slot, cell);
    uint32_t type = vy_cell_type(emitter, cell);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPhysicalStorageBuffer, type);
    uint32_t first = vy_const_u32(m, 0);
    if (is_wide(emitter, slot)) {
        uint32_t address = add_index(emitter, cell, block, index);
        block = make_pointer(emitter, slot, cell, address);
        index = first;
    }
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(block, first, index));
}

static uint32_t param_binding(uint32_t binding_count)
{
    (void)binding_count;
    return VY_ADDRESS_BLOCK;
}

const vy_spirv_addressing vy_spirv_addressing_physical = {
    .model = SpvAddressingModelPhysicalStorageBuffer64,
    .capability = SpvCapabilityPhysicalStorageBufferAddresses,
    .access = SpvMemoryAccessAlignedMask, /* to the element's size */
    .element = element,
    .param_binding = param_binding,
};
