/* Memory through addresses: the parameter block's is a push constant, the others' lie in that block
 * behind its words. A pointer is made of its two words by OpBitcast, so that no 64-bit integers are
 * needed. Such pointers are values and never variables or arguments; they are no memory object
 * declarations, so nothing is assumed of two of them and there is nothing to put Aliased on: the
 * aliased variant differs in what is read-only, coherent and NonPrivate.
 *
 * The body and the entry point keep the pointers that they have made: the body's are made in its
 * prologue, the entry point's where they are first asked for, which is its first block. Other
 * functions make them anew at each use, since they touch memory on rare paths only. */
#include "codegen/spirv/emit.h"

/* SPIR-V reads indices as signed: more than 2^31 elements are pairs, so that both indices are below
 * that. */
static bool is_wide(const vy_emitter *emitter, uint32_t slot)
{
    return emitter->options->wide && slot < emitter->ssa->program->binding_count;
}

static uint32_t pair_block_type(vy_emitter *emitter, const char *name)
{
    vy_module *m = &emitter->module;
    uint32_t word = vy_type_u32(m), two = vy_const_u32(m, 2);
    uint32_t pair = vy_type_unique(m, SpvOpTypeArray, VY_LIST(word, two));
    vy_module_decorate(m, pair, SpvDecorationArrayStride, VY_LIST(4));
    uint32_t array = vy_type_unique(m, SpvOpTypeRuntimeArray, &pair, 1);
    vy_module_decorate(m, array, SpvDecorationArrayStride, VY_LIST(8));
    uint32_t block = vy_type_unique(m, SpvOpTypeStruct, &array, 1);
    vy_module_decorate(m, block, SpvDecorationBlock, NULL, 0);
    vy_module_decorate_member(m, block, 0, SpvDecorationOffset, VY_LIST(0));
    vy_module_name(m, block, name);
    return block;
}

/* Types of the same shape: what is said of a pointer's target is said of its block type here. */
static uint32_t block_type(vy_emitter *emitter, uint32_t slot)
{
    static const char *const names[6] = {"ReadOnlyWords", "Words",     "CoherentWords",
                                         "ReadOnlyPairs", "WordPairs", "CoherentPairs"};
    vy_module *m = &emitter->module;
    uint32_t kind = vy_slot_is_written(emitter, slot) ? 1 : 0;
    if (vy_slot_is_coherent(emitter, slot)) {
        kind = 2;
    }
    uint32_t *block = &emitter->buffer_blocks[kind + (is_wide(emitter, slot) ? 3 : 0)];
    if (!*block) {
        *block = is_wide(emitter, slot) ? pair_block_type(emitter, names[kind + 3])
                                        : vy_slot_block_type(emitter, names[kind]);
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
static uint32_t make_pointer(vy_emitter *emitter, uint32_t slot)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    uint32_t bindings = program->binding_count, pair = address_type(emitter), address;
    if (slot == bindings + VY_HIDDEN_PARAMS) {
        uint32_t place = vy_push_pointer(emitter, VY_PUSH_ADDRESS, pair);
        address = vy_value(m, SpvOpLoad, pair, &place, 1);
    } else {
        uint32_t param_count = program->params.count ? program->params.count - 1 : 0;
        uint32_t rank = slot < bindings ? slot : slot - VY_HIDDEN_RECORDS;
        uint32_t first = vy_param_addresses(bindings, param_count) + 2 * rank;
        uint32_t low = vy_emit_param_word(emitter, first);
        uint32_t high = vy_emit_param_word(emitter, first + 1);
        address = vy_value(m, SpvOpCompositeConstruct, pair, VY_LIST(low, high));
    }
    uint32_t block = block_type(emitter, slot);
    uint32_t type = vy_type_pointer(m, SpvStorageClassPhysicalStorageBuffer, block);
    uint32_t pointer = vy_value(m, SpvOpBitcast, type, &address, 1);
    vy_module_name(m, pointer, vy_slot_name(emitter, slot));
    return pointer;
}

static uint32_t pointer_to(vy_emitter *emitter, uint32_t slot)
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
        return make_pointer(emitter, slot);
    }
    if (!*kept) {
        uint32_t pointer = make_pointer(emitter, slot); /* asks for the parameter block's */
        *kept = pointer;
    }
    m->code = code;
    return *kept;
}

static uint32_t word(vy_emitter *emitter, uint32_t slot, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t block = pointer_to(emitter, slot);
    uint32_t element = vy_type_u32(m);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPhysicalStorageBuffer, element);
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
    .access = SpvMemoryAccessAlignedMask, /* to 4 bytes */
    .word = word,
    .push = push,
};
