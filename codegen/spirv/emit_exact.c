/* Division and square root of f32, correctly rounded to nearest even by integer arithmetic, since
 * no device has to round them so. Operands and results are f32 values; the work is on their bits.
 * A specialisation constant puts the device's own instruction in the place of all that, for devices
 * that are known to round it so; the bits are the same. */
#include "codegen/spirv/emit.h"

/* A finite operand taken apart: magnitude = mantissa * 2^(exponent - 150), mantissa in [2^23,
 * 2^24), exponent below 1 for denormals; mantissa 0 for zero. */
typedef struct vy_parts {
    uint32_t magnitude, mantissa, exponent;
    uint32_t is_zero, is_inf, is_nan;
} vy_parts;

static vy_parts take_apart(vy_emitter *emitter, uint32_t bits)
{
    vy_module *m = &emitter->module;
    vy_parts parts;
    uint32_t type = vy_type_u32(m);
    parts.magnitude = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    parts.is_zero = vy_b2c(m, SpvOpIEqual, parts.magnitude, 0);
    parts.is_inf = vy_b2c(m, SpvOpIEqual, parts.magnitude, VY_F32_INFINITY);
    parts.is_nan = vy_b2c(m, SpvOpUGreaterThan, parts.magnitude, VY_F32_INFINITY);
    uint32_t exponent = vy_u2c(m, SpvOpShiftRightLogical, parts.magnitude, 23);
    uint32_t fraction = vy_u2c(m, SpvOpBitwiseAnd, bits, 0x7fffff);
    uint32_t normal = vy_u2c(m, SpvOpBitwiseOr, fraction, 0x800000);
    /* A denormal's top bit moves to bit 23: by 1 to 23 places, by 24 where there is none. */
    uint32_t msb = vy_glsl(m, GLSLstd450FindUMsb, type, fraction, 0);
    uint32_t top = vy_const_u32(m, 23), one = vy_const_u32(m, 1);
    uint32_t places = vy_u2(m, SpvOpISub, top, msb);
    places = vy_u2c(m, SpvOpBitwiseAnd, places, 31);
    uint32_t moved = vy_u2(m, SpvOpShiftLeftLogical, fraction, places);
    uint32_t low = vy_u2(m, SpvOpISub, one, places);
    uint32_t is_denormal = vy_b2c(m, SpvOpIEqual, exponent, 0);
    parts.mantissa = vy_select_u(m, is_denormal, moved, normal);
    parts.exponent = vy_select_u(m, is_denormal, low, exponent);
    return parts;
}

/* Divides a by b, mantissas with b <= a < 2 b: 1 and 24 binary places, and in the lowest bit
 * whether anything is left. Each step gives eight places; a rest is below b, so it has room for
 * them. */
static uint32_t quotient_of(vy_module *m, uint32_t a, uint32_t b)
{
    uint32_t quotient = vy_const_u32(m, 1);
    uint32_t rest = vy_u2(m, SpvOpISub, a, b);
    for (uint32_t step = 0; step < 3; step++) {
        uint32_t wide = vy_u2c(m, SpvOpShiftLeftLogical, rest, 8);
        uint32_t digit = vy_u2(m, SpvOpUDiv, wide, b);
        uint32_t taken = vy_u2(m, SpvOpIMul, digit, b);
        rest = vy_u2(m, SpvOpISub, wide, taken);
        quotient = vy_u2c(m, SpvOpShiftLeftLogical, quotient, 8);
        quotient = vy_u2(m, SpvOpBitwiseOr, quotient, digit);
    }
    quotient = vy_u2c(m, SpvOpShiftLeftLogical, quotient, 1);
    uint32_t is_inexact = vy_b2c(m, SpvOpINotEqual, rest, 0);
    uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
    uint32_t sticky = vy_select_u(m, is_inexact, one, zero);
    return vy_u2(m, SpvOpBitwiseOr, quotient, sticky);
}

/* The magnitude's bits of value * 2^(exponent - 127 - 25), value in [2^25, 2^26): a denormal result
 * drops more bits than the two; where all are dropped it is 0. */
static uint32_t round_to_even(vy_module *m, uint32_t value, uint32_t exponent)
{
    uint32_t three = vy_const_u32(m, 3);
    uint32_t is_normal = vy_b2c(m, SpvOpSGreaterThan, exponent, 0);
    uint32_t more = vy_u2(m, SpvOpISub, three, exponent);
    uint32_t is_far = vy_b2c(m, SpvOpUGreaterThan, more, 28);
    uint32_t two = vy_const_u32(m, 2), far = vy_const_u32(m, 28);
    more = vy_select_u(m, is_far, far, more);
    uint32_t drop = vy_select_u(m, is_normal, two, more);
    uint32_t kept = vy_u2(m, SpvOpShiftRightLogical, value, drop);
    uint32_t back = vy_u2(m, SpvOpShiftLeftLogical, kept, drop);
    uint32_t rest = vy_u2(m, SpvOpISub, value, back);
    uint32_t half = vy_u2c(m, SpvOpISub, drop, 1);
    uint32_t one = vy_const_u32(m, 1);
    half = vy_u2(m, SpvOpShiftLeftLogical, one, half);
    /* Up where rest > half, or at half where the last bit kept is odd. */
    uint32_t odd = vy_u2c(m, SpvOpBitwiseAnd, kept, 1);
    uint32_t threshold = vy_u2(m, SpvOpISub, half, odd);
    uint32_t is_up = vy_b2(m, SpvOpUGreaterThan, rest, threshold);
    uint32_t zero = vy_const_u32(m, 0);
    uint32_t carry = vy_select_u(m, is_up, one, zero);
    uint32_t rounded = vy_u2(m, SpvOpIAdd, kept, carry);
    /* The mantissa's top bit is the exponent's lowest: one less in the field. */
    uint32_t field = vy_u2c(m, SpvOpISub, exponent, 1);
    field = vy_u2c(m, SpvOpShiftLeftLogical, field, 23);
    field = vy_select_u(m, is_normal, field, zero);
    return vy_u2(m, SpvOpIAdd, rounded, field);
}

/* ---- Either way ------------------------------------------------------------------------------ */

/* A choice by a specialisation constant. The two ways are blocks and not operands of a select, so
 * that drivers drop the one that is not taken. */
typedef struct vy_native_choice {
    uint32_t native, exact, merge; /* labels */
    uint32_t value;                /* of the native way */
} vy_native_choice;

static void begin_native(vy_module *m, vy_native_choice *choice, uint32_t spec_id, const char *name)
{
    uint32_t is_native =
        vy_const_spec(m, SpvOpSpecConstantFalse, vy_type_bool(m), NULL, 0, spec_id);
    vy_module_name(m, is_native, name);
    choice->native = vy_module_id(m);
    choice->exact = vy_module_id(m);
    choice->merge = vy_module_id(m);
    vy_if(m, is_native, choice->native, choice->exact, choice->merge);
    vy_label(m, choice->native);
}

static void end_native(vy_module *m, const vy_native_choice *choice)
{
    vy_jump(m, choice->merge);
    vy_label(m, choice->exact);
}

static uint32_t merge_exact(vy_module *m, const vy_native_choice *choice, uint32_t value)
{
    vy_jump(m, choice->merge);
    vy_label(m, choice->merge);
    return vy_value(m, SpvOpPhi, vy_type_f32(m),
                    VY_LIST(choice->value, choice->native, value, choice->exact));
}

/* ---- Division -------------------------------------------------------------------------------- */

static uint32_t divide_exactly(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    uint32_t a_bits = vy_bits_of(m, a);
    uint32_t b_bits = vy_bits_of(m, b);
    vy_parts x = take_apart(emitter, a_bits);
    vy_parts y = take_apart(emitter, b_bits);
    uint32_t hidden = vy_const_u32(m, 0x800000);
    uint32_t divisor = vy_select_u(m, y.is_zero, hidden, y.mantissa);
    /* Makes the quotient at least 1. */
    uint32_t is_less = vy_b2(m, SpvOpULessThan, x.mantissa, divisor);
    uint32_t doubled = vy_u2c(m, SpvOpShiftLeftLogical, x.mantissa, 1);
    uint32_t dividend = vy_select_u(m, is_less, doubled, x.mantissa);
    uint32_t exponent = vy_u2(m, SpvOpISub, x.exponent, y.exponent);
    uint32_t lower = vy_u2c(m, SpvOpIAdd, exponent, 126);
    uint32_t higher = vy_u2c(m, SpvOpIAdd, exponent, 127);
    exponent = vy_select_u(m, is_less, lower, higher);
    uint32_t quotient = quotient_of(m, dividend, divisor);
    uint32_t value = round_to_even(m, quotient, exponent);

    uint32_t infinity = vy_const_u32(m, VY_F32_INFINITY), zero = vy_const_u32(m, 0);
    uint32_t is_over = vy_b2c(m, SpvOpSGreaterThan, exponent, 254);
    uint32_t is_inf = vy_b2(m, SpvOpLogicalOr, x.is_inf, y.is_zero);
    is_inf = vy_b2(m, SpvOpLogicalOr, is_inf, is_over);
    value = vy_select_u(m, is_inf, infinity, value);
    uint32_t is_zero = vy_b2(m, SpvOpLogicalOr, x.is_zero, y.is_inf);
    value = vy_select_u(m, is_zero, zero, value);
    uint32_t sign = vy_u2(m, SpvOpBitwiseXor, a_bits, b_bits);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_SIGN);
    value = vy_u2(m, SpvOpBitwiseOr, value, sign);

    uint32_t no_number = vy_b2(m, SpvOpLogicalOr, x.is_nan, y.is_nan);
    uint32_t both = vy_b2(m, SpvOpLogicalAnd, x.is_zero, y.is_zero);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    both = vy_b2(m, SpvOpLogicalAnd, x.is_inf, y.is_inf);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    uint32_t nan = vy_const_u32(m, VY_F32_NAN);
    value = vy_select_u(m, no_number, nan, value);
    return vy_f32_of(m, value);
}

/* No zero reaches the instruction: a driver was seen to take the quotient of a literal zero for 0,
 * whatever it is divided by, and that by one for undefined. */
static uint32_t divide_natively(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    uint32_t a_bits = vy_bits_of(m, a);
    uint32_t b_bits = vy_bits_of(m, b);
    uint32_t a_magnitude = vy_u2c(m, SpvOpBitwiseAnd, a_bits, VY_F32_MAGNITUDE);
    uint32_t b_magnitude = vy_u2c(m, SpvOpBitwiseAnd, b_bits, VY_F32_MAGNITUDE);
    uint32_t a_is_zero = vy_b2c(m, SpvOpIEqual, a_magnitude, 0);
    uint32_t b_is_zero = vy_b2c(m, SpvOpIEqual, b_magnitude, 0);
    uint32_t one = vy_const_f32(m, VY_F32_ONE);
    uint32_t dividend = vy_select_f(m, a_is_zero, one, a);
    uint32_t divisor = vy_select_f(m, b_is_zero, one, b);
    uint32_t quotient = vy_f2(m, SpvOpFDiv, dividend, divisor);
    uint32_t bits = vy_bits_of(m, quotient);
    uint32_t no_number = vy_emit_is_nan_bits(emitter, bits);

    uint32_t sign = vy_u2(m, SpvOpBitwiseXor, a_bits, b_bits);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_SIGN);
    uint32_t infinity = vy_u2c(m, SpvOpBitwiseOr, sign, VY_F32_INFINITY);
    bits = vy_select_u(m, b_is_zero, infinity, bits);
    bits = vy_select_u(m, a_is_zero, sign, bits);
    uint32_t both = vy_b2(m, SpvOpLogicalAnd, a_is_zero, b_is_zero);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    uint32_t nan = vy_const_u32(m, VY_F32_NAN);
    bits = vy_select_u(m, no_number, nan, bits);
    return vy_f32_of(m, bits);
}

uint32_t vy_emit_divide(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    vy_native_choice choice;
    begin_native(m, &choice, VY_SPEC_NATIVE_DIVIDE, "vy_native_divide");
    choice.value = divide_natively(emitter, a, b);
    end_native(m, &choice);
    uint32_t value = divide_exactly(emitter, a, b);
    return merge_exact(m, &choice, value);
}

/* ---- Square root ----------------------------------------------------------------------------- */

/* The integer nearest to the root of mantissa * 2^shift (46 to 48 bits): the device's root of it as
 * an f32 (any within 60 units will do, and is brought below), one step of Newton's method, one unit
 * up or down. Squares are compared modulo 2^32, where their small difference is exact. The integer
 * r is nearest where r r - r < value <= r r + r; between two of them there is never a tie. */
static uint32_t root_of(vy_module *m, uint32_t mantissa, uint32_t shift)
{
    uint32_t type = vy_type_f32(m), word = vy_type_u32(m);
    uint32_t low = vy_u2(m, SpvOpShiftLeftLogical, mantissa, shift);
    uint32_t as_float = vy_value(m, SpvOpConvertUToF, type, VY_LIST(mantissa));
    uint32_t scale = vy_u2c(m, SpvOpIAdd, shift, 127);
    scale = vy_u2c(m, SpvOpShiftLeftLogical, scale, 23);
    scale = vy_f32_of(m, scale);
    uint32_t whole = vy_f2(m, SpvOpFMul, as_float, scale);
    uint32_t estimate = vy_glsl(m, GLSLstd450Sqrt, type, whole, 0);
    uint32_t root = vy_u1(m, SpvOpConvertFToU, estimate);
    uint32_t least = vy_const_u32(m, 0x800000), most = vy_const_u32(m, 0x1000000);
    root = vy_glsl(m, GLSLstd450UMax, word, root, least);
    root = vy_glsl(m, GLSLstd450UMin, word, root, most);
    root = vy_u2c(m, SpvOpISub, root, 60);

    uint32_t square = vy_u2(m, SpvOpIMul, root, root);
    uint32_t left = vy_u2(m, SpvOpISub, low, square);
    left = vy_u2(m, SpvOpIAdd, left, root);
    uint32_t twice = vy_u2c(m, SpvOpShiftLeftLogical, root, 1);
    uint32_t step = vy_u2(m, SpvOpUDiv, left, twice);
    root = vy_u2(m, SpvOpIAdd, root, step);

    square = vy_u2(m, SpvOpIMul, root, root);
    left = vy_u2(m, SpvOpISub, low, square);
    uint32_t zero = vy_const_u32(m, 0), one = vy_const_u32(m, 1);
    uint32_t minus_one = vy_const_u32(m, UINT32_MAX);
    uint32_t negated = vy_u1(m, SpvOpSNegate, root);
    uint32_t is_small = vy_b2(m, SpvOpSGreaterThan, left, root);
    uint32_t is_large = vy_b2(m, SpvOpSLessThanEqual, left, negated);
    uint32_t change = vy_select_u(m, is_large, minus_one, zero);
    change = vy_select_u(m, is_small, one, change);
    return vy_u2(m, SpvOpIAdd, root, change);
}

static uint32_t root_exactly(vy_emitter *emitter, uint32_t a)
{
    vy_module *m = &emitter->module;
    uint32_t bits = vy_bits_of(m, a);
    vy_parts x = take_apart(emitter, bits);
    uint32_t least = vy_const_u32(m, 0x800000);
    uint32_t mantissa = vy_select_u(m, x.is_zero, least, x.mantissa);
    /* 23 where the exponent is odd, else 24: what remains of it is even. */
    uint32_t odd = vy_u2c(m, SpvOpBitwiseAnd, x.exponent, 1);
    uint32_t even_shift = vy_const_u32(m, 24);
    uint32_t shift = vy_u2(m, SpvOpISub, even_shift, odd);
    uint32_t root = root_of(m, mantissa, shift);
    /* root * 2^((exponent - 150 - shift) / 2), with its top bit in the field as in round_to_even.
     */
    uint32_t half = vy_u2(m, SpvOpISub, x.exponent, shift);
    half = vy_u2c(m, SpvOpShiftRightArithmetic, half, 1);
    uint32_t field = vy_u2c(m, SpvOpIAdd, half, 150 - 75 - 1);
    field = vy_u2c(m, SpvOpShiftLeftLogical, field, 23);
    uint32_t value = vy_u2(m, SpvOpIAdd, root, field);

    uint32_t is_itself = vy_b2(m, SpvOpLogicalOr, x.is_zero, x.is_inf);
    value = vy_select_u(m, is_itself, bits, value);
    uint32_t is_negative = vy_b2c(m, SpvOpSLessThan, bits, 0);
    uint32_t is_number = vy_b1(m, SpvOpLogicalNot, x.is_zero);
    uint32_t no_number = vy_b2(m, SpvOpLogicalAnd, is_negative, is_number);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, x.is_nan);
    uint32_t nan = vy_const_u32(m, VY_F32_NAN);
    value = vy_select_u(m, no_number, nan, value);
    return vy_f32_of(m, value);
}

uint32_t vy_emit_sqrt(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    vy_native_choice choice;
    (void)b;
    begin_native(m, &choice, VY_SPEC_NATIVE_SQRT, "vy_native_sqrt");
    uint32_t native = vy_glsl(m, GLSLstd450Sqrt, vy_type_f32(m), a, 0);
    choice.value = vy_emit_canonical_nan(emitter, native);
    end_native(m, &choice);
    uint32_t value = root_exactly(emitter, a);
    return merge_exact(m, &choice, value);
}
