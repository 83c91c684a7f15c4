/* Coarse segments: elements that stand side by side, moved as the words that they are. One OpLoad
 * or OpStore moves them all; shifts and masks find the small ones. */
#include "codegen/passes/wide.h"
#include "codegen/spirv/emit.h"

/* By the words' type. */
static vy_cell cell_of_words(vyre_type words)
{
    switch (vy_type_components(words)) {
    case 1:
        return VY_CELL_32;
    case 2:
        return VY_CELL_32X2;
    default:
        return VY_CELL_32X4;
    }
}

static vyre_type element_type(const vy_emitter *emitter, const vy_ins *ins)
{
    return (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
}

static uint32_t wide_pointer(vy_emitter *emitter, const vy_ins *ins, vy_cell cell)
{
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    uint32_t slot = emitter->ssa->program->buffers.data[ins->ref].binding;
    return emitter->addressing->element(emitter, slot, cell, index);
}

uint32_t vy_emit_load_wide(vy_emitter *emitter, const vy_ins *ins)
{
    vy_cell cell = cell_of_words((vyre_type)ins->type);
    uint32_t pointer = wide_pointer(emitter, ins, cell);
    return vy_emit_load_cell(emitter, pointer, cell, vy_emit_plain_access(emitter, ins->ref));
}

void vy_emit_store_wide(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t value = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    vy_cell cell = cell_of_words(vy_emitter_type(emitter, ins->arg[1]));
    uint32_t pointer = wide_pointer(emitter, ins, cell);
    vy_emit_store_cell(emitter, pointer, cell, value, vy_emit_plain_access(emitter, ins->ref));
}

static uint32_t word_of(vy_emitter *emitter, const vy_ins *ins, uint32_t word)
{
    uint32_t words = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    if (vy_type_components(vy_emitter_type(emitter, ins->arg[0])) == 1) {
        return words;
    }
    return vy_extract(&emitter->module, vy_type_u32(&emitter->module), words, word);
}

/* 8 or 16 bits of a word, from a byte on. */
static uint32_t part_of(vy_emitter *emitter, uint32_t word, uint32_t byte, uint32_t size)
{
    vy_module *m = &emitter->module;
    uint32_t value = byte ? vy_u2c(m, SpvOpShiftRightLogical, word, 8 * byte) : word;
    bool is_last = byte + size == sizeof(uint32_t);
    return is_last ? value : vy_u2c(m, SpvOpBitwiseAnd, value, (1u << 8 * size) - 1);
}

uint32_t vy_emit_unpack(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    vyre_type type = element_type(emitter, ins);
    vy_cell cell = vy_cell_of(type, true);
    uint32_t size = vy_cell_size(cell), first = (uint32_t)ins->bits * size;
    uint32_t value = word_of(emitter, ins, first / 4);
    if (size < sizeof(uint32_t)) {
        value = part_of(emitter, value, first % 4, size);
    } else if (size == VY_WIDE_SIZE) {
        value = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    } else if (size > sizeof(uint32_t)) {
        uint32_t high = word_of(emitter, ins, first / 4 + 1);
        uint32_t pair = vy_type_u32_vector(m, 2);
        value = vy_v2(m, SpvOpCompositeConstruct, pair, value, high);
        value = cell == VY_CELL_64 ? vy_v1(m, SpvOpBitcast, vy_type_u64(m), value) : value;
    }
    return vy_emit_from_cell(emitter, type, true, value);
}

static uint32_t word_of_element(vy_emitter *emitter, const vy_ins *ins, uint32_t value)
{
    vy_cell cell = vy_cell_of(element_type(emitter, ins), true);
    if (cell == VY_CELL_64) {
        return ins->bits ? vy_emit_high(emitter, value) : vy_emit_low(emitter, value);
    }
    uint32_t word = vy_type_u32(&emitter->module);
    return vy_extract(&emitter->module, word, value, (uint32_t)ins->bits);
}

uint32_t vy_emit_pack(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    vyre_type type = element_type(emitter, ins);
    uint32_t size = vy_cell_size(vy_cell_of(type, true)), word = 0;
    for (uint32_t i = 0; i < 4 && ins->arg[i]; i++) {
        uint32_t value = vy_emitter_value(emitter, ins->arg[i], ins->loc);
        value = vy_emit_to_cell(emitter, type, true, value);
        if (size > sizeof(uint32_t)) {
            return word_of_element(emitter, ins, value);
        }
        if (size < sizeof(uint32_t)) { /* of small signed ones the sign stands above */
            bool is_last = (i + 1) * size == sizeof(uint32_t);
            value = is_last ? value : vy_u2c(m, SpvOpBitwiseAnd, value, (1u << 8 * size) - 1);
        }
        value = i ? vy_u2c(m, SpvOpShiftLeftLogical, value, 8 * size * i) : value;
        word = word ? vy_u2(m, SpvOpBitwiseOr, word, value) : value;
    }
    return word;
}

uint32_t vy_emit_coarse_count(vy_emitter *emitter, uint32_t elements)
{
    vy_module *m = &emitter->module;
    uint32_t places = 0, each = emitter->options->coarse;
    if (each <= 1) {
        return elements;
    }
    while (each >> places > 1) {
        places++;
    }
    uint32_t zero = vy_const_u32(m, 0), one = vy_const_u32(m, 1);
    uint32_t rest = vy_u2c(m, SpvOpBitwiseAnd, elements, each - 1);
    uint32_t has_rest = vy_b2(m, SpvOpINotEqual, rest, zero);
    uint32_t more = vy_select_u(m, has_rest, one, zero);
    uint32_t whole = vy_u2c(m, SpvOpShiftRightLogical, elements, places);
    return vy_u2(m, SpvOpIAdd, whole, more);
}
