/* Types of values, and their way from and to memory: cells, words, components. Reads a type's row,
 * makes the loads, stores and conversions. */
#include "codegen/spirv/emit.h"

/* ---- Types ----------------------------------------------------------------------------------- */

static uint32_t scalar_type(vy_emitter *emitter, vyre_type type)
{
    vy_module *m = &emitter->module;
    switch ((int)type) {
    case VYRE_TYPE_BOOL:
        return vy_type_bool(m);
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16:
    case VYRE_TYPE_F32:
        return vy_type_f32(m);
    case VYRE_TYPE_F64:
        return vy_type_f64(m);
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64:
        return vy_type_u64(m);
    default:
        return vy_type_u32(m);
    }
}

uint32_t vy_emit_type(vy_emitter *emitter, vyre_type type)
{
    uint32_t component = scalar_type(emitter, vy_type_component(type));
    uint32_t count = vy_type_components(type);
    return count > 1 ? vy_type_vector_of(&emitter->module, component, count) : component;
}

uint32_t vy_emit_zero(vy_emitter *emitter, vyre_type type)
{
    vy_module *m = &emitter->module;
    switch ((int)type) {
    case VYRE_TYPE_BOOL:
        return vy_const_bool(m, false);
    case VYRE_TYPE_F16:
    case VYRE_TYPE_F32:
        return vy_const_f32(m, 0);
    case VYRE_TYPE_F64:
        return vy_const_f64(m, 0);
    default:
        return vy_type_is_vector(type) ? vy_const_null(m, vy_emit_type(emitter, type))
                                       : vy_const_integer(emitter, type, 0);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

vy_cell vy_cell_of(vyre_type type, bool is_packed)
{
    uint32_t count = vy_type_components(type);
    if (count > 1) {
        return count == 2 ? VY_CELL_32X2 : VY_CELL_32X4;
    }
    switch (vy_type_width(type)) {
    case 8:
        return is_packed ? VY_CELL_8 : VY_CELL_32;
    case 16:
        return is_packed ? VY_CELL_16 : VY_CELL_32;
    case 64: /* not as f64, whose loads might not keep the bits of a NaN */
        return vy_type_is_float(type) ? VY_CELL_32X2 : VY_CELL_64;
    default:
        return VY_CELL_32;
    }
}

uint32_t vy_cell_size(vy_cell cell)
{
    static const uint8_t sizes[VY_CELL_COUNT] = {1, 2, 4, 8, 8, 16};
    return sizes[cell];
}

uint32_t vy_cell_type(vy_emitter *emitter, vy_cell cell)
{
    vy_module *m = &emitter->module;
    switch (cell) {
    case VY_CELL_32X2:
        return vy_type_u32_vector(m, 2);
    case VY_CELL_32X4:
        return vy_type_u32_vector(m, 4);
    default:
        return vy_type_integer(m, 8 * vy_cell_size(cell));
    }
}

uint32_t vy_cell_value_type(vy_emitter *emitter, vy_cell cell)
{
    return cell < VY_CELL_32 ? vy_type_u32(&emitter->module) : vy_cell_type(emitter, cell);
}

/* Words that memory operands take, in {access, size}: an alignment stands behind its bit. */
static uint32_t operand_count(uint32_t access)
{
    return access & SpvMemoryAccessAlignedMask ? 2 : access ? 1 : 0;
}

uint32_t vy_emit_load_cell(vy_emitter *emitter, uint32_t pointer, vy_cell cell, uint32_t access)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_cell_type(emitter, cell);
    uint32_t value =
        vy_value(m, SpvOpLoad, type, (const uint32_t[]){pointer, access, vy_cell_size(cell)},
                 1 + operand_count(access));
    return cell < VY_CELL_32 ? vy_u1(m, SpvOpUConvert, value) : value;
}

void vy_emit_store_cell(vy_emitter *emitter, uint32_t pointer, vy_cell cell, uint32_t value,
                        uint32_t access)
{
    vy_module *m = &emitter->module;
    if (cell < VY_CELL_32) {
        uint32_t type = vy_cell_type(emitter, cell);
        value = vy_v1(m, SpvOpUConvert, type, value);
    }
    vy_effect(m, SpvOpStore, (const uint32_t[]){pointer, value, access, vy_cell_size(cell)},
              2 + operand_count(access));
}

uint32_t vy_emit_load_word(vy_emitter *emitter, uint32_t pointer, uint32_t access)
{
    return vy_emit_load_cell(emitter, pointer, VY_CELL_32, access);
}

void vy_emit_store_word(vy_emitter *emitter, uint32_t pointer, uint32_t word, uint32_t access)
{
    vy_emit_store_cell(emitter, pointer, VY_CELL_32, word, access);
}

/* ---- Words and values ------------------------------------------------------------------------ */

uint32_t vy_emit_to_word(vy_emitter *emitter, vyre_type type, uint32_t value)
{
    vy_module *m = &emitter->module;
    if (type == VYRE_TYPE_F32) {
        return vy_bits_of(m, value);
    }
    if (type == VYRE_TYPE_F16) {
        return vy_emit_f16_to_bits(emitter, value);
    }
    if (type == VYRE_TYPE_BOOL) {
        uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
        return vy_select_u(m, value, one, zero);
    }
    return value;
}

uint32_t vy_emit_from_word(vy_emitter *emitter, vyre_type type, uint32_t word)
{
    vy_module *m = &emitter->module;
    switch ((int)type) {
    case VYRE_TYPE_F32:
        return vy_f32_of(m, word);
    case VYRE_TYPE_F16:
        word = vy_u2c(m, SpvOpBitwiseAnd, word, 0xffff);
        return vy_emit_f16_of_bits(emitter, word);
    case VYRE_TYPE_BOOL:
        return vy_b2c(m, SpvOpINotEqual, word, 0);
    default:
        return vy_emit_wrap(emitter, type, word);
    }
}

uint32_t vy_emit_low(vy_emitter *emitter, uint32_t wide)
{
    return vy_u1(&emitter->module, SpvOpUConvert, wide);
}

uint32_t vy_emit_high(vy_emitter *emitter, uint32_t wide)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u64(m), places = vy_const_u32(m, 32);
    uint32_t high = vy_v2(m, SpvOpShiftRightLogical, type, wide, places);
    return vy_u1(m, SpvOpUConvert, high);
}

uint32_t vy_emit_join(vy_emitter *emitter, uint32_t low, uint32_t high)
{
    vy_module *m = &emitter->module;
    uint32_t pair = vy_type_u32_vector(m, 2);
    uint32_t both = vy_v2(m, SpvOpCompositeConstruct, pair, low, high);
    return vy_v1(m, SpvOpBitcast, vy_type_u64(m), both);
}

/* ---- Elements -------------------------------------------------------------------------------- */

static bool is_bitcast(vyre_type type)
{
    return vy_type_is_float(type) && (vy_type_is_vector(type) || vy_type_width(type) == 64);
}

uint32_t vy_emit_to_cell(vy_emitter *emitter, vyre_type type, bool is_packed, uint32_t value)
{
    vy_module *m = &emitter->module;
    if (is_bitcast(type)) {
        uint32_t to = vy_cell_type(emitter, vy_cell_of(type, is_packed));
        return vy_v1(m, SpvOpBitcast, to, value);
    }
    switch ((int)type) {
    case VYRE_TYPE_BF16: {
        uint32_t bits = vy_emit_bf16_of_f32(emitter, value);
        return is_packed ? bits : vy_u2c(m, SpvOpShiftLeftLogical, bits, 16);
    }
    case VYRE_TYPE_F16:
        return is_packed ? vy_emit_f16_to_bits(emitter, value) : vy_bits_of(m, value);
    default:
        return vy_emit_to_word(emitter, type, value);
    }
}

uint32_t vy_emit_from_cell(vy_emitter *emitter, vyre_type type, bool is_packed, uint32_t value)
{
    vy_module *m = &emitter->module;
    if (is_bitcast(type)) {
        return vy_v1(m, SpvOpBitcast, vy_emit_type(emitter, type), value);
    }
    switch ((int)type) {
    case VYRE_TYPE_BF16:
        value = is_packed ? vy_u2c(m, SpvOpShiftLeftLogical, value, 16) : value;
        return vy_f32_of(m, value);
    case VYRE_TYPE_F16:
        return is_packed ? vy_emit_f16_of_bits(emitter, value) : vy_f32_of(m, value);
    case VYRE_TYPE_I8:
    case VYRE_TYPE_I16:
        return is_packed ? vy_emit_wrap(emitter, type, value) : value;
    case VYRE_TYPE_BOOL:
    case VYRE_TYPE_F32:
        return vy_emit_from_word(emitter, type, value);
    default:
        return value;
    }
}

/* ---- Vectors --------------------------------------------------------------------------------- */

uint32_t vy_emit_component(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t vector = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    vyre_type type = vy_emitter_type(emitter, ins->arg[0]);
    if (ins->ref >= vy_type_components(type)) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "%s has no component %u. Fix: report it with the program",
                               vyre_type_keyword(type), ins->ref);
    }
    uint32_t component = vy_emit_type(emitter, vy_type_component(type));
    return vy_extract(&emitter->module, component, vector, ins->ref);
}

uint32_t vy_emit_compose(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t parts[4] = {0}, count = vy_type_components((vyre_type)ins->type);
    if (count < 2 || count > 4) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "%s is no vector. Fix: report it with the program",
                               vyre_type_keyword((vyre_type)ins->type));
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = vy_emitter_value(emitter, ins->arg[i], ins->loc);
    }
    uint32_t type = vy_emit_type(emitter, (vyre_type)ins->type);
    return vy_value(&emitter->module, SpvOpCompositeConstruct, type, parts, count);
}
