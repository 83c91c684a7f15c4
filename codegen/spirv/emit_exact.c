/* Division and square root of f32 and f64, correctly rounded to nearest even by integer arithmetic,
 * since no device has to round them so. Operands and results are floats; the work is on their bits.
 * A specialisation constant puts the device's own instruction in the place of all that, for devices
 * that are known to round it so; the bits are the same. */
#include "codegen/spirv/emit_exact.h"

vy_format vy_format_of(vy_emitter *emitter, vyre_type type)
{
    bool is_wide = type == VYRE_TYPE_F64;
    vy_format f = {.emitter = emitter, .m = &emitter->module};
    f.k = vy_ints_of(emitter, is_wide ? VYRE_TYPE_U64 : VYRE_TYPE_U32);
    f.precision = is_wide ? 53 : 24;
    f.bias = is_wide ? 1023 : 127;
    f.type = vy_emit_type(emitter, type);
    f.sign = (uint64_t)1 << (f.k.width - 1);
    f.magnitude = f.sign - 1;
    f.hidden = (uint64_t)1 << (f.precision - 1);
    f.infinity = f.sign - f.hidden;
    f.nan = f.infinity | f.hidden >> 1;
    return f;
}

uint32_t vy_format_bits(const vy_format *f, uint32_t value)
{
    return vy_i1(&f->k, SpvOpBitcast, value);
}

uint32_t vy_format_value(const vy_format *f, uint32_t bits)
{
    return vy_v1(f->m, SpvOpBitcast, f->type, bits);
}

vy_float_parts vy_take_apart(const vy_format *f, uint32_t value)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    vy_float_parts parts;
    parts.bits = vy_format_bits(f, value);
    parts.magnitude = vy_i2c(k, SpvOpBitwiseAnd, parts.bits, f->magnitude);
    parts.is_zero = vy_ib2c(k, SpvOpIEqual, parts.magnitude, 0);
    parts.is_inf = vy_ib2c(k, SpvOpIEqual, parts.magnitude, f->infinity);
    parts.is_nan = vy_ib2c(k, SpvOpUGreaterThan, parts.magnitude, f->infinity);
    uint32_t exponent = vy_shift_c(k, SpvOpShiftRightLogical, parts.magnitude, f->precision - 1);
    exponent = k->bits == 64 ? vy_emit_low(f->emitter, exponent) : exponent;
    uint32_t fraction = vy_i2c(k, SpvOpBitwiseAnd, parts.bits, f->hidden - 1);
    uint32_t normal = vy_i2c(k, SpvOpBitwiseOr, fraction, f->hidden);
    /* A denormal's top bit moves to the hidden one's place: by one place more than there are where
     * there is none. */
    uint32_t places = vy_leading_zeros(k, fraction);
    places = vy_u2c(m, SpvOpISub, places, k->bits - f->precision);
    uint32_t moved = vy_i2(k, SpvOpShiftLeftLogical, fraction, places);
    uint32_t one = vy_const_u32(m, 1);
    uint32_t low = vy_u2(m, SpvOpISub, one, places);
    uint32_t is_denormal = vy_b2c(m, SpvOpIEqual, exponent, 0);
    parts.mantissa = vy_select_i(k, is_denormal, moved, normal);
    parts.exponent = vy_select_u(m, is_denormal, low, exponent);
    return parts;
}

/* Divides a by b, mantissas with b <= a < 2 b: 1 and as many binary places as the precision, and in
 * the lowest bit whether anything is left. Each step gives as many places as a rest, which is below
 * b, has room for. */
static uint32_t quotient_of(const vy_format *f, uint32_t a, uint32_t b)
{
    const vy_ints *k = &f->k;
    uint32_t quotient = vy_ic(k, 1), room = k->bits - f->precision;
    uint32_t rest = vy_i2(k, SpvOpISub, a, b);
    for (uint32_t left = f->precision, places; left; left -= places) {
        places = left < room ? left : room;
        uint32_t wide = vy_shift_c(k, SpvOpShiftLeftLogical, rest, places);
        uint32_t digit = vy_i2(k, SpvOpUDiv, wide, b);
        uint32_t taken = vy_i2(k, SpvOpIMul, digit, b);
        rest = vy_i2(k, SpvOpISub, wide, taken);
        quotient = vy_shift_c(k, SpvOpShiftLeftLogical, quotient, places);
        quotient = vy_i2(k, SpvOpBitwiseOr, quotient, digit);
    }
    quotient = vy_shift_c(k, SpvOpShiftLeftLogical, quotient, 1);
    uint32_t is_inexact = vy_ib2c(k, SpvOpINotEqual, rest, 0);
    uint32_t one = vy_ic(k, 1), zero = vy_ic(k, 0);
    uint32_t sticky = vy_select_i(k, is_inexact, one, zero);
    return vy_i2(k, SpvOpBitwiseOr, quotient, sticky);
}

uint32_t vy_round_to_even(const vy_format *f, uint32_t value, uint32_t exponent)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    uint32_t three = vy_const_u32(m, 3);
    uint32_t is_normal = vy_b2c(m, SpvOpSGreaterThan, exponent, 0);
    uint32_t more = vy_u2(m, SpvOpISub, three, exponent);
    uint32_t is_far = vy_b2c(m, SpvOpUGreaterThan, more, f->precision + 4);
    uint32_t two = vy_const_u32(m, 2), far = vy_const_u32(m, f->precision + 4);
    more = vy_select_u(m, is_far, far, more);
    uint32_t drop = vy_select_u(m, is_normal, two, more);
    uint32_t kept = vy_i2(k, SpvOpShiftRightLogical, value, drop);
    uint32_t back = vy_i2(k, SpvOpShiftLeftLogical, kept, drop);
    uint32_t rest = vy_i2(k, SpvOpISub, value, back);
    uint32_t half = vy_u2c(m, SpvOpISub, drop, 1);
    uint32_t one = vy_ic(k, 1);
    half = vy_i2(k, SpvOpShiftLeftLogical, one, half);
    /* Up where rest > half, or at half where the last bit kept is odd. */
    uint32_t odd = vy_i2c(k, SpvOpBitwiseAnd, kept, 1);
    uint32_t threshold = vy_i2(k, SpvOpISub, half, odd);
    uint32_t is_up = vy_b2(m, SpvOpUGreaterThan, rest, threshold);
    uint32_t zero = vy_ic(k, 0);
    uint32_t carry = vy_select_i(k, is_up, one, zero);
    uint32_t rounded = vy_i2(k, SpvOpIAdd, kept, carry);
    /* The mantissa's top bit is the exponent's lowest: one less in the field. */
    uint32_t field = vy_u2c(m, SpvOpISub, exponent, 1);
    field = k->bits == 64 ? vy_i1(k, SpvOpUConvert, field) : field;
    field = vy_shift_c(k, SpvOpShiftLeftLogical, field, f->precision - 1);
    field = vy_select_i(k, is_normal, field, zero);
    return vy_i2(k, SpvOpIAdd, rounded, field);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static uint32_t zero_sums(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    if (!emitter->zero_sums) {
        emitter->zero_sums =
            vy_const_spec(m, SpvOpSpecConstantFalse, vy_type_bool(m), NULL, 0, VY_SPEC_ZERO_SUMS);
        vy_module_name(m, emitter->zero_sums, "vy_zero_sums");
    }
    return emitter->zero_sums;
}

/* -0 + 0 is +0. A driver that takes x for x + 0 where it knows the zero, after unrolling and
 * folding of its own, gives -0 (llvmpipe does): put right there and nowhere else. Only two negative
 * zeros give -0. */
uint32_t vy_sum(const vy_format *f, SpvOp op, uint32_t a, uint32_t b)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    uint32_t sum = vy_exact2(m, op, f->type, a, b);
    if (f->emitter->ssa->program->fast_math) {
        return sum;
    }
    uint32_t drops_zeros = zero_sums(f->emitter);
    uint32_t sum_bits = vy_format_bits(f, sum);
    uint32_t a_bits = vy_format_bits(f, a);
    uint32_t b_bits = vy_format_bits(f, b);
    if (op == SpvOpFSub) {
        b_bits = vy_i1(k, SpvOpNot, b_bits);
    }
    uint32_t both = vy_i2(k, SpvOpBitwiseAnd, a_bits, b_bits);
    both = vy_i2c(k, SpvOpBitwiseAnd, both, f->sign);
    uint32_t is_negative_zero = vy_ib2c(k, SpvOpIEqual, sum_bits, f->sign);
    uint32_t is_doubtful = vy_b2(m, SpvOpLogicalAnd, drops_zeros, is_negative_zero);
    uint32_t zero = vy_format_value(f, both);
    return vy_select(m, f->type, is_doubtful, zero, sum);
}

/* ---- Either way ------------------------------------------------------------------------------ */

void vy_begin_native(vy_module *m, vy_native_choice *choice, uint32_t spec_id, const char *name)
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

void vy_end_native(vy_module *m, const vy_native_choice *choice)
{
    vy_jump(m, choice->merge);
    vy_label(m, choice->exact);
}

uint32_t vy_merge_exact(vy_module *m, const vy_native_choice *choice, uint32_t type, uint32_t value,
                        uint32_t exact)
{
    vy_jump(m, choice->merge);
    vy_label(m, choice->merge);
    return vy_value(m, SpvOpPhi, type, VY_LIST(choice->value, choice->native, value, exact));
}

/* ---- Division -------------------------------------------------------------------------------- */

static uint32_t divide_exactly(const vy_format *f, uint32_t a, uint32_t b)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    vy_float_parts x = vy_take_apart(f, a);
    vy_float_parts y = vy_take_apart(f, b);
    uint32_t hidden = vy_ic(k, f->hidden);
    uint32_t divisor = vy_select_i(k, y.is_zero, hidden, y.mantissa);
    /* Makes the quotient at least 1. */
    uint32_t is_less = vy_b2(m, SpvOpULessThan, x.mantissa, divisor);
    uint32_t doubled = vy_shift_c(k, SpvOpShiftLeftLogical, x.mantissa, 1);
    uint32_t dividend = vy_select_i(k, is_less, doubled, x.mantissa);
    uint32_t exponent = vy_u2(m, SpvOpISub, x.exponent, y.exponent);
    uint32_t lower = vy_u2c(m, SpvOpIAdd, exponent, f->bias - 1);
    uint32_t higher = vy_u2c(m, SpvOpIAdd, exponent, f->bias);
    exponent = vy_select_u(m, is_less, lower, higher);
    uint32_t quotient = quotient_of(f, dividend, divisor);
    uint32_t value = vy_round_to_even(f, quotient, exponent);

    uint32_t infinity = vy_ic(k, f->infinity), zero = vy_ic(k, 0);
    uint32_t is_over = vy_b2c(m, SpvOpSGreaterThan, exponent, 2 * f->bias);
    uint32_t is_inf = vy_b2(m, SpvOpLogicalOr, x.is_inf, y.is_zero);
    is_inf = vy_b2(m, SpvOpLogicalOr, is_inf, is_over);
    value = vy_select_i(k, is_inf, infinity, value);
    uint32_t is_zero = vy_b2(m, SpvOpLogicalOr, x.is_zero, y.is_inf);
    value = vy_select_i(k, is_zero, zero, value);
    uint32_t sign = vy_i2(k, SpvOpBitwiseXor, x.bits, y.bits);
    sign = vy_i2c(k, SpvOpBitwiseAnd, sign, f->sign);
    value = vy_i2(k, SpvOpBitwiseOr, value, sign);

    uint32_t no_number = vy_b2(m, SpvOpLogicalOr, x.is_nan, y.is_nan);
    uint32_t both = vy_b2(m, SpvOpLogicalAnd, x.is_zero, y.is_zero);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    both = vy_b2(m, SpvOpLogicalAnd, x.is_inf, y.is_inf);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    uint32_t nan = vy_ic(k, f->nan);
    value = vy_select_i(k, no_number, nan, value);
    return vy_format_value(f, value);
}

/* No zero reaches the instruction: a driver was seen to take the quotient of a literal zero for 0,
 * whatever it is divided by, and that by one for undefined. */
static uint32_t divide_natively(const vy_format *f, uint32_t a, uint32_t b)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    uint32_t a_bits = vy_format_bits(f, a);
    uint32_t b_bits = vy_format_bits(f, b);
    uint32_t a_magnitude = vy_i2c(k, SpvOpBitwiseAnd, a_bits, f->magnitude);
    uint32_t b_magnitude = vy_i2c(k, SpvOpBitwiseAnd, b_bits, f->magnitude);
    uint32_t a_is_zero = vy_ib2c(k, SpvOpIEqual, a_magnitude, 0);
    uint32_t b_is_zero = vy_ib2c(k, SpvOpIEqual, b_magnitude, 0);
    uint64_t one_bits = (uint64_t)f->bias << (f->precision - 1);
    uint32_t one = k->bits == 64 ? vy_const_f64(m, one_bits) : vy_const_f32(m, (uint32_t)one_bits);
    uint32_t dividend = vy_select(m, f->type, a_is_zero, one, a);
    uint32_t divisor = vy_select(m, f->type, b_is_zero, one, b);
    uint32_t quotient = vy_exact2(m, SpvOpFDiv, f->type, dividend, divisor);
    uint32_t bits = vy_format_bits(f, quotient);
    uint32_t magnitude = vy_i2c(k, SpvOpBitwiseAnd, bits, f->magnitude);
    uint32_t no_number = vy_ib2c(k, SpvOpUGreaterThan, magnitude, f->infinity);

    uint32_t sign = vy_i2(k, SpvOpBitwiseXor, a_bits, b_bits);
    sign = vy_i2c(k, SpvOpBitwiseAnd, sign, f->sign);
    uint32_t infinity = vy_i2c(k, SpvOpBitwiseOr, sign, f->infinity);
    bits = vy_select_i(k, b_is_zero, infinity, bits);
    bits = vy_select_i(k, a_is_zero, sign, bits);
    uint32_t both = vy_b2(m, SpvOpLogicalAnd, a_is_zero, b_is_zero);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    uint32_t nan = vy_ic(k, f->nan);
    bits = vy_select_i(k, no_number, nan, bits);
    return vy_format_value(f, bits);
}

static uint32_t divide(const vy_format *f, uint32_t a, uint32_t b, uint32_t spec_id,
                       const char *name)
{
    vy_native_choice choice;
    vy_begin_native(f->m, &choice, spec_id, name);
    choice.value = divide_natively(f, a, b);
    vy_end_native(f->m, &choice);
    uint32_t value = divide_exactly(f, a, b);
    return vy_merge_exact(f->m, &choice, f->type, value, choice.exact);
}

uint32_t vy_emit_divide(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F32);
    return divide(&f, a, b, VY_SPEC_NATIVE_DIVIDE, "vy_native_divide");
}

uint32_t vy_emit_divide_f64(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F64);
    return divide(&f, a, b, VY_SPEC_NATIVE_DIVIDE_F64, "vy_native_divide_f64");
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

/* Digit by digit: there is no estimate of an f64 root that is known to be good enough. *out_block:
 * the block that it ends in. */
static uint32_t root_by_digits(const vy_format *f, uint32_t mantissa, uint32_t shift,
                               uint32_t before, uint32_t *out_block)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    uint32_t word = vy_type_u32(m), zero = vy_ic(k, 0), none = vy_const_u32(m, 0);
    uint32_t header = vy_module_id(m), body = vy_module_id(m), next = vy_module_id(m);
    uint32_t merge = vy_module_id(m), i_next = vy_module_id(m), x_next = vy_module_id(m);
    uint32_t rest_next = vy_module_id(m), root_next = vy_module_id(m);
    /* The upper 64 of the 106 bits of mantissa << shift; the others are zeros. */
    uint32_t places = vy_u2c(m, SpvOpISub, shift, 42);
    uint32_t first = vy_i2(k, SpvOpShiftLeftLogical, mantissa, places);
    vy_jump(m, header);
    vy_label(m, header);
    uint32_t i = vy_value(m, SpvOpPhi, word, VY_LIST(none, before, i_next, next));
    uint32_t x = vy_value(m, SpvOpPhi, k->type, VY_LIST(first, before, x_next, next));
    uint32_t rest = vy_value(m, SpvOpPhi, k->type, VY_LIST(zero, before, rest_next, next));
    uint32_t root = vy_value(m, SpvOpPhi, k->type, VY_LIST(zero, before, root_next, next));
    uint32_t more = vy_b2c(m, SpvOpULessThan, i, f->precision);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, next, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_label(m, body);
    uint32_t two = vy_shift_c(k, SpvOpShiftRightLogical, x, 62);
    uint32_t wide = vy_shift_c(k, SpvOpShiftLeftLogical, rest, 2);
    wide = vy_i2(k, SpvOpBitwiseOr, wide, two);
    uint32_t trial = vy_shift_c(k, SpvOpShiftLeftLogical, root, 2);
    trial = vy_i2c(k, SpvOpBitwiseOr, trial, 1);
    uint32_t fits = vy_b2(m, SpvOpUGreaterThanEqual, wide, trial);
    uint32_t taken = vy_select_i(k, fits, trial, zero), one = vy_ic(k, 1);
    uint32_t digit = vy_select_i(k, fits, one, zero);
    uint32_t doubled = vy_shift_c(k, SpvOpShiftLeftLogical, root, 1);
    vy_jump(m, next);
    vy_label(m, next);
    uint32_t step = vy_const_u32(m, 1), pair = vy_const_u32(m, 2);
    vy_effect(m, SpvOpIAdd, VY_LIST(word, i_next, i, step));
    vy_effect(m, SpvOpShiftLeftLogical, VY_LIST(k->type, x_next, x, pair));
    vy_effect(m, SpvOpISub, VY_LIST(k->type, rest_next, wide, taken));
    vy_effect(m, SpvOpBitwiseOr, VY_LIST(k->type, root_next, doubled, digit));
    vy_jump(m, header);
    vy_label(m, merge);
    *out_block = merge;
    uint32_t is_up = vy_b2(m, SpvOpUGreaterThan, rest, root);
    uint32_t carry = vy_select_i(k, is_up, one, zero);
    return vy_i2(k, SpvOpIAdd, root, carry);
}

/* *block: the one it begins in, then the one it ends in. */
static uint32_t root_exactly(const vy_format *f, uint32_t a, uint32_t *block)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    bool is_wide = k->bits == 64;
    vy_float_parts x = vy_take_apart(f, a);
    uint32_t least = vy_ic(k, f->hidden);
    uint32_t mantissa = vy_select_i(k, x.is_zero, least, x.mantissa);
    /* One less where the exponent is odd: what remains of it is even. */
    uint32_t odd = vy_u2c(m, SpvOpBitwiseAnd, x.exponent, 1);
    uint32_t even_shift = vy_const_u32(m, is_wide ? 53 : 24);
    uint32_t shift = vy_u2(m, SpvOpISub, even_shift, odd);
    uint32_t root =
        is_wide ? root_by_digits(f, mantissa, shift, *block, block) : root_of(m, mantissa, shift);
    /* root * 2^((exponent - bias - precision + 1 - shift) / 2), with its top bit in the field as in
     * vy_round_to_even. */
    uint32_t half = vy_u2(m, SpvOpISub, x.exponent, shift);
    half = vy_u2c(m, SpvOpISub, half, f->bias + f->precision - 1);
    half = vy_u2c(m, SpvOpShiftRightArithmetic, half, 1);
    uint32_t field = vy_u2c(m, SpvOpIAdd, half, f->bias + f->precision - 2);
    field = is_wide ? vy_i1(k, SpvOpUConvert, field) : field;
    field = vy_shift_c(k, SpvOpShiftLeftLogical, field, f->precision - 1);
    uint32_t value = vy_i2(k, SpvOpIAdd, root, field);

    uint32_t is_itself = vy_b2(m, SpvOpLogicalOr, x.is_zero, x.is_inf);
    value = vy_select_i(k, is_itself, x.bits, value);
    uint32_t is_negative = vy_ib2c(k, SpvOpSLessThan, x.bits, 0);
    uint32_t is_number = vy_b1(m, SpvOpLogicalNot, x.is_zero);
    uint32_t no_number = vy_b2(m, SpvOpLogicalAnd, is_negative, is_number);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, x.is_nan);
    uint32_t nan = vy_ic(k, f->nan);
    value = vy_select_i(k, no_number, nan, value);
    return vy_format_value(f, value);
}

static uint32_t square_root(const vy_format *f, uint32_t a, vyre_type type, uint32_t spec_id,
                            const char *name)
{
    vy_native_choice choice;
    vy_begin_native(f->m, &choice, spec_id, name);
    uint32_t native = vy_glsl(f->m, GLSLstd450Sqrt, f->type, a, 0);
    choice.value = vy_emit_canonical_nan(f->emitter, native, type);
    vy_end_native(f->m, &choice);
    uint32_t block = choice.exact;
    uint32_t value = root_exactly(f, a, &block);
    return vy_merge_exact(f->m, &choice, f->type, value, block);
}

uint32_t vy_emit_sqrt(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F32);
    (void)b;
    return square_root(&f, a, VYRE_TYPE_F32, VY_SPEC_NATIVE_SQRT, "vy_native_sqrt");
}

uint32_t vy_emit_sqrt_f64(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F64);
    (void)b;
    return square_root(&f, a, VYRE_TYPE_F64, VY_SPEC_NATIVE_SQRT_F64, "vy_native_sqrt_f64");
}
