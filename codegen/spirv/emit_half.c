/* f16 and bf16. An f16 lives as the f32 of the same value, so its denormals are normal numbers;
 * each operation is done in f32 and rounded here, which for + - * / sqrt is the same as rounding
 * once, since f32 has twice the digits and two more. Never by OpFConvert or OpQuantizeToF16, whose
 * rounding is open, nor by PackHalf2x16, which may flush. */
#include "codegen/spirv/emit_math.h"

#define F16_NORMAL   0x38800000u /* 2^-14 as an f32 */
#define F16_REBIAS   0x38000000u /* difference of the exponents' biases, in an f32 */
#define F16_OVERFLOW 0x47800000u /* 2^16 */

static uint32_t magnitude_of(vy_module *m, uint32_t bits)
{
    return vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
}

/* Normal: adds half a unit and carries. Below: adding 1/2 makes 2^-24, the unit of f16's denormals,
 * the last place of the sum. */
uint32_t vy_emit_round_half(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t type = vy_type_f32(m), bits = vy_bits_of(m, a), magnitude = magnitude_of(m, bits);
    uint32_t odd = vy_u2c(m, SpvOpShiftRightLogical, magnitude, 13);
    odd = vy_u2c(m, SpvOpBitwiseAnd, odd, 1);
    uint32_t rounded = vy_u2c(m, SpvOpIAdd, magnitude, 0xfff);
    rounded = vy_u2(m, SpvOpIAdd, rounded, odd);
    rounded = vy_u2c(m, SpvOpBitwiseAnd, rounded, 0xffffe000u);
    uint32_t is_over = vy_b2c(m, SpvOpUGreaterThanEqual, rounded, F16_OVERFLOW);
    uint32_t infinity = vy_const_u32(m, VY_F32_INFINITY);
    rounded = vy_select_u(m, is_over, infinity, rounded);

    uint32_t half = vy_const_float(m, 0.5f), size = vy_f32_of(m, magnitude);
    uint32_t sum = vy_exact2(m, SpvOpFAdd, type, size, half);
    uint32_t small = vy_exact2(m, SpvOpFSub, type, sum, half);
    small = vy_bits_of(m, small);
    uint32_t is_small = vy_b2c(m, SpvOpULessThan, magnitude, F16_NORMAL);
    rounded = vy_select_u(m, is_small, small, rounded);

    uint32_t sign = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_SIGN);
    rounded = vy_u2(m, SpvOpBitwiseOr, rounded, sign);
    uint32_t is_nan = vy_b2c(m, SpvOpUGreaterThan, magnitude, VY_F32_INFINITY);
    uint32_t nan = vy_const_u32(m, VY_F32_NAN);
    rounded = vy_select_u(m, is_nan, nan, rounded);
    return vy_f32_of(m, rounded);
}

uint32_t vy_emit_pack_half(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t bits = vy_bits_of(m, a), magnitude = magnitude_of(m, bits);
    uint32_t normal = vy_u2c(m, SpvOpISub, magnitude, F16_REBIAS);
    normal = vy_u2c(m, SpvOpShiftRightLogical, normal, 13);
    uint32_t special = vy_u2c(m, SpvOpShiftRightLogical, magnitude, 13);
    special = vy_u2c(m, SpvOpBitwiseAnd, special, 0x3ff);
    special = vy_u2c(m, SpvOpBitwiseOr, special, 0x7c00);
    uint32_t is_small = vy_b2c(m, SpvOpULessThan, magnitude, F16_NORMAL);
    uint32_t zero = vy_const_u32(m, 0);
    uint32_t units = vy_select_u(m, is_small, magnitude, zero);
    units = vy_f32_of(m, units);
    uint32_t scale = vy_const_float(m, 0x1p24f);
    units = vy_exact2(m, SpvOpFMul, vy_type_f32(m), units, scale);
    uint32_t small = vy_u1(m, SpvOpConvertFToU, units);
    uint32_t is_special = vy_b2c(m, SpvOpUGreaterThanEqual, magnitude, VY_F32_INFINITY);
    uint32_t packed = vy_select_u(m, is_special, special, normal);
    packed = vy_select_u(m, is_small, small, packed);
    uint32_t sign = vy_u2c(m, SpvOpShiftRightLogical, bits, 16);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, 0x8000);
    return vy_u2(m, SpvOpBitwiseOr, packed, sign);
}

uint32_t vy_emit_unpack_half(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t magnitude = vy_u2c(m, SpvOpBitwiseAnd, a, 0x7fff);
    uint32_t up = vy_u2c(m, SpvOpShiftLeftLogical, magnitude, 13);
    uint32_t normal = vy_u2c(m, SpvOpIAdd, up, F16_REBIAS);
    uint32_t special = vy_u2c(m, SpvOpIAdd, up, 2 * F16_REBIAS);
    uint32_t small = vy_v1(m, SpvOpConvertUToF, vy_type_f32(m), magnitude);
    uint32_t unit = vy_const_float(m, 0x1p-24f);
    small = vy_exact2(m, SpvOpFMul, vy_type_f32(m), small, unit);
    small = vy_bits_of(m, small);
    uint32_t is_special = vy_b2c(m, SpvOpUGreaterThanEqual, magnitude, 0x7c00);
    uint32_t bits = vy_select_u(m, is_special, special, normal);
    uint32_t is_small = vy_b2c(m, SpvOpULessThan, magnitude, 0x400);
    bits = vy_select_u(m, is_small, small, bits);
    uint32_t sign = vy_u2c(m, SpvOpBitwiseAnd, a, 0x8000);
    sign = vy_u2c(m, SpvOpShiftLeftLogical, sign, 16);
    bits = vy_u2(m, SpvOpBitwiseOr, bits, sign);
    return vy_f32_of(m, bits);
}

/* The upper half of the f32, rounded; a carry makes infinity of the largest numbers by itself. */
uint32_t vy_emit_pack_bf16(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t bits = vy_bits_of(m, a);
    uint32_t odd = vy_u2c(m, SpvOpShiftRightLogical, bits, 16);
    odd = vy_u2c(m, SpvOpBitwiseAnd, odd, 1);
    uint32_t rounded = vy_u2c(m, SpvOpIAdd, bits, 0x7fff);
    rounded = vy_u2(m, SpvOpIAdd, rounded, odd);
    rounded = vy_u2c(m, SpvOpShiftRightLogical, rounded, 16);
    uint32_t is_nan = vy_emit_is_nan_bits(emitter, bits);
    uint32_t nan = vy_const_u32(m, VY_F32_NAN >> 16);
    return vy_select_u(m, is_nan, nan, rounded);
}

/* a b is exact in f32. The sum's error is found exactly (D. Knuth's two-sum) and turns an even last
 * bit towards itself, so that the second rounding sees on which side of a tie the first one was. */
uint32_t vy_emit_fma_half(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c, bool adds_zero)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_f32(m);
    uint32_t product = vy_exact2(m, SpvOpFMul, type, a, b);
    uint32_t sum = vy_exact2(m, SpvOpFAdd, type, product, c);
    if (adds_zero) { /* as in a sum with a literal 0 */
        uint32_t is_zero = vy_b2f(m, SpvOpFOrdEqual, sum, 0);
        sum = vy_select_f(m, is_zero, c, sum);
    }
    uint32_t of_c = vy_exact2(m, SpvOpFSub, type, sum, product);
    uint32_t of_product = vy_exact2(m, SpvOpFSub, type, sum, of_c);
    uint32_t lost_c = vy_exact2(m, SpvOpFSub, type, c, of_c);
    uint32_t lost_product = vy_exact2(m, SpvOpFSub, type, product, of_product);
    uint32_t lost = vy_exact2(m, SpvOpFAdd, type, lost_c, lost_product);

    uint32_t bits = vy_bits_of(m, sum), lost_bits = vy_bits_of(m, lost);
    uint32_t turned = vy_u2(m, SpvOpBitwiseXor, bits, lost_bits);
    uint32_t is_less = vy_b2c(m, SpvOpSLessThan, turned, 0);
    uint32_t down = vy_const_u32(m, UINT32_MAX), up = vy_const_u32(m, 1);
    uint32_t step = vy_select_u(m, is_less, down, up);
    uint32_t odd = vy_u2c(m, SpvOpBitwiseAnd, bits, 1);
    uint32_t is_even = vy_b2c(m, SpvOpIEqual, odd, 0);
    uint32_t size = magnitude_of(m, bits), lost_size = magnitude_of(m, lost_bits);
    uint32_t is_finite = vy_b2c(m, SpvOpULessThan, size, VY_F32_INFINITY);
    uint32_t is_inexact = vy_b2c(m, SpvOpINotEqual, lost_size, 0);
    uint32_t moves = vy_b2(m, SpvOpLogicalAnd, is_even, is_finite);
    moves = vy_b2(m, SpvOpLogicalAnd, moves, is_inexact);
    uint32_t moved = vy_u2(m, SpvOpIAdd, bits, step);
    bits = vy_select_u(m, moves, moved, bits);
    uint32_t value = vy_f32_of(m, bits);
    return vy_emit_round_f16(emitter, value);
}

uint32_t vy_emit_round_f16(vy_emitter *emitter, uint32_t value)
{
    return vy_helper_call(emitter, VY_HELPER_ROUND_HALF, value, 0);
}

uint32_t vy_emit_f16_to_bits(vy_emitter *emitter, uint32_t value)
{
    return vy_helper_call(emitter, VY_HELPER_PACK_HALF, value, 0);
}

uint32_t vy_emit_f16_of_bits(vy_emitter *emitter, uint32_t bits)
{
    return vy_helper_call(emitter, VY_HELPER_UNPACK_HALF, bits, 0);
}

uint32_t vy_emit_bf16_of_f32(vy_emitter *emitter, uint32_t value)
{
    return vy_helper_call(emitter, VY_HELPER_PACK_BF16, value, 0);
}

uint32_t vy_f16_as_f32(uint32_t bits)
{
    uint32_t sign = (bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) {
        return sign | ((magnitude << 13) + 2 * F16_REBIAS);
    }
    if (magnitude >= 0x400) {
        return sign | ((magnitude << 13) + F16_REBIAS);
    }
    if (magnitude == 0) {
        return sign;
    }
    uint32_t exponent = 127 - 14;
    while (!(magnitude & 0x400)) {
        magnitude <<= 1;
        exponent--;
    }
    return sign | exponent << 23 | (magnitude & 0x3ff) << 13;
}
