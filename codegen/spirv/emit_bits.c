/* Bits of integers: shifts, counts, fields, bytes. Vulkan has the counting and field instructions
 * for 32 bits only, so 64 bits go by their halves, and fields are made of shifts at every width.
 * Amounts, offsets and counts that SPIR-V leaves undefined are masked or clamped before. */
#include "codegen/spirv/emit_int.h"

/* ---- Shifts ---------------------------------------------------------------------------------- */

/* Amounts are of any integer type; only their lowest bits count. */
static uint32_t amount_word(const vy_ints *k, const vy_ins *ins, uint32_t amount)
{
    vyre_type type = vy_emitter_type(k->emitter, ins->arg[1]);
    return vy_type_width(type) == 64 ? vy_emit_low(k->emitter, amount) : amount;
}

static uint32_t masked_amount(const vy_ints *k, const vy_ins *ins, uint32_t amount)
{
    uint64_t literal = 0;
    if (vy_emitter_literal(k->emitter, ins->arg[1], &literal)) {
        return vy_const_u32(k->m, (uint32_t)literal & (k->width - 1));
    }
    amount = amount_word(k, ins, amount);
    return ins->unchecked ? amount : vy_u2c(k->m, SpvOpBitwiseAnd, amount, k->width - 1);
}

static uint32_t shift(const vy_ints *k, const vy_ins *ins, const uint32_t *operands, SpvOp op)
{
    uint32_t amount = masked_amount(k, ins, operands[1]);
    uint32_t value = vy_i2(k, op, operands[0], amount);
    return op == SpvOpShiftLeftLogical ? vy_wrap(k, value) : value;
}

/* The bits alone, with zeros above. */
static uint32_t without_sign(const vy_ints *k, uint32_t a)
{
    bool is_extended = k->is_signed && k->width < k->bits;
    return is_extended ? vy_i2c(k, SpvOpBitwiseAnd, a, UINT64_MAX >> (64 - k->width)) : a;
}

static uint32_t rotate(const vy_ints *k, const vy_ins *ins, const uint32_t *operands, bool is_left)
{
    uint32_t amount = masked_amount(k, ins, operands[1]);
    uint32_t zero = vy_const_u32(k->m, 0);
    uint64_t literal = 0;
    uint32_t rest = 0;
    /* Beside that this is shorter: Mesa's processor driver swaps the halves where it finds out by
     * itself that 64 bits are rotated by 32. */
    if (vy_emitter_literal(k->emitter, ins->arg[1], &literal)) {
        rest = vy_const_u32(k->m, (uint32_t)(0 - literal) & (k->width - 1));
    } else {
        uint32_t given = amount_word(k, ins, operands[1]);
        rest = vy_u2(k->m, SpvOpISub, zero, given);
        rest = vy_u2c(k->m, SpvOpBitwiseAnd, rest, k->width - 1);
    }
    uint32_t a = without_sign(k, operands[0]);
    uint32_t up = vy_i2(k, SpvOpShiftLeftLogical, a, is_left ? amount : rest);
    uint32_t down = vy_i2(k, SpvOpShiftRightLogical, a, is_left ? rest : amount);
    uint32_t both = vy_i2(k, SpvOpBitwiseOr, up, down);
    return vy_wrap(k, both);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* FindUMsb of 0 is -1, which makes the width of itself. */
static uint32_t zeros_above(vy_module *m, uint32_t a, uint32_t width)
{
    uint32_t top = vy_const_u32(m, width - 1);
    uint32_t type = vy_type_u32(m);
    uint32_t msb = vy_glsl(m, GLSLstd450FindUMsb, type, a, 0);
    return vy_u2(m, SpvOpISub, top, msb);
}

uint32_t vy_leading_zeros(const vy_ints *k, uint32_t a)
{
    vy_module *m = k->m;
    if (k->bits == 32) {
        return zeros_above(m, without_sign(k, a), k->width);
    }
    uint32_t low = vy_emit_low(k->emitter, a);
    uint32_t high = vy_emit_high(k->emitter, a);
    uint32_t in_low = zeros_above(m, low, 64);
    uint32_t in_high = zeros_above(m, high, 32);
    uint32_t is_low = vy_b2c(m, SpvOpIEqual, high, 0);
    return vy_select_u(m, is_low, in_low, in_high);
}

static uint32_t zeros_below(vy_module *m, uint32_t a, uint32_t width)
{
    uint32_t type = vy_type_u32(m);
    uint32_t lsb = vy_glsl(m, GLSLstd450FindILsb, type, a, 0);
    uint32_t is_zero = vy_b2c(m, SpvOpIEqual, a, 0);
    uint32_t all = vy_const_u32(m, width);
    return vy_select_u(m, is_zero, all, lsb);
}

static uint32_t trailing_zeros(const vy_ints *k, uint32_t a)
{
    vy_module *m = k->m;
    if (k->bits == 32) {
        return zeros_below(m, a, k->width);
    }
    uint32_t low = vy_emit_low(k->emitter, a);
    uint32_t high = vy_emit_high(k->emitter, a);
    uint32_t in_low = zeros_below(m, low, 32);
    uint32_t in_high = zeros_below(m, high, 32);
    in_high = vy_u2c(m, SpvOpIAdd, in_high, 32);
    uint32_t is_high = vy_b2c(m, SpvOpIEqual, low, 0);
    return vy_select_u(m, is_high, in_high, in_low);
}

static uint32_t count_ones(const vy_ints *k, uint32_t a)
{
    vy_module *m = k->m;
    if (k->width < 32) { /* by a field: NVIDIA's driver (580) counts a loaded byte's sign too */
        uint32_t first = vy_const_u32(m, 0), count = vy_const_u32(m, k->width);
        a = vy_value(m, SpvOpBitFieldUExtract, vy_type_u32(m), VY_LIST(a, first, count));
    }
    if (k->bits == 32) {
        return vy_u1(m, SpvOpBitCount, a);
    }
    uint32_t low = vy_emit_low(k->emitter, a);
    uint32_t high = vy_emit_high(k->emitter, a);
    low = vy_u1(m, SpvOpBitCount, low);
    high = vy_u1(m, SpvOpBitCount, high);
    return vy_u2(m, SpvOpIAdd, low, high);
}

static uint32_t reverse(const vy_ints *k, uint32_t a)
{
    vy_module *m = k->m;
    if (k->bits == 32) {
        uint32_t turned = vy_u1(m, SpvOpBitReverse, a);
        if (k->width == 32) {
            return turned;
        }
        return vy_shift_c(k, k->is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical,
                          turned, 32 - k->width);
    }
    uint32_t low = vy_emit_low(k->emitter, a);
    uint32_t high = vy_emit_high(k->emitter, a);
    low = vy_u1(m, SpvOpBitReverse, low);
    high = vy_u1(m, SpvOpBitReverse, high);
    return vy_emit_join(k->emitter, high, low);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* The part of a bit field that lies in the type. */
typedef struct vy_field {
    uint32_t offset, count, is_empty;
    uint32_t drop; /* the register's bits - count, modulo them */
} vy_field;

static vy_field clamp_field(const vy_ints *k, uint32_t offset, uint32_t count)
{
    vy_module *m = k->m;
    vy_field field;
    uint32_t type = vy_type_u32(m);
    uint32_t width = vy_const_u32(m, k->width), bits = vy_const_u32(m, k->bits);
    field.offset = vy_glsl(m, GLSLstd450UMin, type, offset, width);
    uint32_t room = vy_u2(m, SpvOpISub, width, field.offset);
    field.count = vy_glsl(m, GLSLstd450UMin, type, count, room);
    field.is_empty = vy_b2c(m, SpvOpIEqual, field.count, 0);
    field.drop = vy_u2(m, SpvOpISub, bits, field.count);
    field.drop = vy_u2c(m, SpvOpBitwiseAnd, field.drop, k->bits - 1);
    return field;
}

static uint32_t extract_bits(const vy_ints *k, const uint32_t *operands)
{
    vy_field field = clamp_field(k, operands[1], operands[2]);
    uint32_t up = vy_u2(k->m, SpvOpISub, field.drop, field.offset);
    up = vy_u2c(k->m, SpvOpBitwiseAnd, up, k->bits - 1);
    uint32_t value = vy_i2(k, SpvOpShiftLeftLogical, operands[0], up);
    value = vy_i2(k, k->is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, value,
                  field.drop);
    uint32_t zero = vy_ic(k, 0);
    return vy_select_i(k, field.is_empty, zero, value);
}

static uint32_t insert_bits(const vy_ints *k, const uint32_t *operands)
{
    vy_field field = clamp_field(k, operands[2], operands[3]);
    uint32_t shift_by = vy_u2c(k->m, SpvOpBitwiseAnd, field.offset, k->bits - 1);
    uint32_t ones = vy_ic(k, UINT64_MAX);
    uint32_t mask = vy_i2(k, SpvOpShiftRightLogical, ones, field.drop);
    mask = vy_i2(k, SpvOpShiftLeftLogical, mask, shift_by);
    uint32_t outside = vy_i1(k, SpvOpNot, mask);
    uint32_t kept = vy_i2(k, SpvOpBitwiseAnd, operands[0], outside);
    uint32_t added = vy_i2(k, SpvOpShiftLeftLogical, operands[1], shift_by);
    added = vy_i2(k, SpvOpBitwiseAnd, added, mask);
    uint32_t both = vy_i2(k, SpvOpBitwiseOr, kept, added);
    both = vy_wrap(k, both);
    return vy_select_i(k, field.is_empty, operands[0], both);
}

/* ---- Packed bytes ---------------------------------------------------------------------------- */

/* Bits [offset, offset + width) with offset + width <= 32, extended to a word. */
static uint32_t unpack_at(vy_module *m, uint32_t a, uint32_t offset, uint32_t width, bool is_signed)
{
    if (!is_signed) {
        uint32_t low = vy_u2(m, SpvOpShiftRightLogical, a, offset);
        return vy_u2c(m, SpvOpBitwiseAnd, low, (1u << width) - 1);
    }
    uint32_t rest = vy_const_u32(m, 32 - width);
    uint32_t up = vy_u2(m, SpvOpISub, rest, offset);
    uint32_t high = vy_u2(m, SpvOpShiftLeftLogical, a, up);
    return vy_u2(m, SpvOpShiftRightArithmetic, high, rest);
}

/* width a power of two. */
static uint32_t unpack(const vy_ints *k, const vy_ins *ins, const uint32_t *operands,
                       uint32_t width)
{
    uint32_t place = amount_word(k, ins, operands[1]);
    uint32_t offset = vy_u2c(k->m, SpvOpBitwiseAnd, place, 32 / width - 1);
    offset = vy_u2c(k->m, SpvOpIMul, offset, width);
    return unpack_at(k->m, operands[0], offset, width, k->is_signed);
}

static uint32_t dot4(const vy_ints *k, const uint32_t *operands)
{
    vy_module *m = k->m;
    uint32_t sum = 0;
    for (uint32_t byte = 0; byte < 4; byte++) {
        uint32_t offset = vy_const_u32(m, byte * 8);
        uint32_t a = unpack_at(m, operands[0], offset, 8, k->is_signed);
        uint32_t b = unpack_at(m, operands[1], offset, 8, k->is_signed);
        uint32_t product = vy_u2(m, SpvOpIMul, a, b);
        sum = sum ? vy_u2(m, SpvOpIAdd, sum, product) : product;
    }
    return sum;
}

uint32_t vy_emit_bits(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                      vyre_type type)
{
    vy_ints k = vy_ints_of(emitter, type);
    bool is_packed = ins->op == VYRE_OP_UNPACK_BYTE || ins->op == VYRE_OP_UNPACK_NIBBLE ||
                     ins->op == VYRE_OP_DOT4;
    switch (is_packed && k.width != 32 ? VYRE_OP_NONE : (int)ins->op) {
    case VYRE_OP_SHL:
        return shift(&k, ins, operands, SpvOpShiftLeftLogical);
    case VYRE_OP_SHR:
        return shift(&k, ins, operands,
                     k.is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical);
    case VYRE_OP_ROTATE_LEFT:
        return rotate(&k, ins, operands, true);
    case VYRE_OP_ROTATE_RIGHT:
        return rotate(&k, ins, operands, false);
    case VYRE_OP_CLZ:
        return vy_leading_zeros(&k, operands[0]);
    case VYRE_OP_CTZ:
        return trailing_zeros(&k, operands[0]);
    case VYRE_OP_POPCOUNT:
        return count_ones(&k, operands[0]);
    case VYRE_OP_REVERSE_BITS:
        return reverse(&k, operands[0]);
    case VYRE_OP_EXTRACT_BITS:
        return extract_bits(&k, operands);
    case VYRE_OP_INSERT_BITS:
        return insert_bits(&k, operands);
    case VYRE_OP_UNPACK_BYTE:
        return unpack(&k, ins, operands, 8);
    case VYRE_OP_UNPACK_NIBBLE:
        return unpack(&k, ins, operands, 4);
    case VYRE_OP_DOT4:
        return dot4(&k, operands);
    default:
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "operator %s has no meaning on integers. Fix: report it with the "
                               "program",
                               vy_op_get((vyre_op)ins->op)->name);
    }
}
