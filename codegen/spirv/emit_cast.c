/* Casts between all scalar types, and bitcasts. They see denormals as they are on every device, so
 * what is not exact in one instruction goes by bits. */
#include "codegen/spirv/emit_int.h"
#include "codegen/spirv/emit_math.h"

#define F64_INFINITY 0x7ff0000000000000u
#define F64_NAN      0x7ff8000000000000u
#define F64_ONE      0x3ff0000000000000u

static bool is_f64(vyre_type type)
{
    return type == VYRE_TYPE_F64;
}

static uint32_t const_float(vy_emitter *emitter, vyre_type type, int exponent, bool is_negative)
{
    vy_module *m = &emitter->module;
    if (is_f64(type)) {
        return vy_const_f64(m, (uint64_t)is_negative << 63 | (uint64_t)(1023 + exponent) << 52);
    }
    return vy_const_f32(m, (uint32_t)is_negative << 31 | (uint32_t)(127 + exponent) << 23);
}

/* ---- From floats to integers ----------------------------------------------------------------- */

typedef struct vy_to_int {
    vy_ints k;
    vyre_type from;
    uint32_t value;
} vy_to_int;

static uint32_t is_positive(const vy_to_int *c)
{
    vy_module *m = c->k.m;
    return is_f64(c->from) ? vy_b2(m, SpvOpFOrdGreaterThan, c->value, vy_const_f64(m, 0))
                           : vy_b2f(m, SpvOpFOrdGreaterThan, c->value, 0);
}

static uint32_t compare_with_power(const vy_to_int *c, SpvOp op, bool is_negative)
{
    int exponent = (int)c->k.width - (c->k.is_signed ? 1 : 0);
    uint32_t power = const_float(c->k.emitter, c->from, exponent, is_negative);
    return vy_b2(c->k.m, op, c->value, power);
}

/* Only what fits reaches the conversion; NaN fits nowhere. */
static uint32_t convert(const vy_to_int *c, uint32_t fits)
{
    vy_module *m = c->k.m;
    uint32_t type = vy_emit_type(c->k.emitter, c->from);
    uint32_t zero = is_f64(c->from) ? vy_const_f64(m, 0) : vy_const_f32(m, 0);
    uint32_t safe = vy_select(m, type, fits, c->value, zero);
    return vy_i1(&c->k, c->k.is_signed ? SpvOpConvertFToS : SpvOpConvertFToU, safe);
}

static uint32_t to_unsigned(const vy_to_int *c)
{
    vy_module *m = c->k.m;
    uint32_t positive = is_positive(c);
    uint32_t is_small = compare_with_power(c, SpvOpFOrdLessThan, false);
    uint32_t fits = vy_b2(m, SpvOpLogicalAnd, positive, is_small);
    uint32_t converted = convert(c, fits);
    uint32_t is_large = compare_with_power(c, SpvOpFOrdGreaterThanEqual, false);
    uint32_t limit = vy_ic(&c->k, vy_int_most(&c->k));
    return vy_select_i(&c->k, is_large, limit, converted);
}

static uint32_t to_signed(const vy_to_int *c)
{
    vy_module *m = c->k.m;
    uint32_t is_large = compare_with_power(c, SpvOpFOrdGreaterThanEqual, false);
    uint32_t is_low = compare_with_power(c, SpvOpFOrdLessThan, true);
    uint32_t above = compare_with_power(c, SpvOpFOrdGreaterThanEqual, true);
    uint32_t below = compare_with_power(c, SpvOpFOrdLessThan, false);
    uint32_t fits = vy_b2(m, SpvOpLogicalAnd, above, below);
    uint32_t converted = convert(c, fits);
    uint32_t most = vy_ic(&c->k, vy_int_most(&c->k));
    converted = vy_select_i(&c->k, is_large, most, converted);
    uint32_t least = vy_ic(&c->k, vy_int_least(&c->k));
    return vy_select_i(&c->k, is_low, least, converted);
}

static uint32_t float_to_integer(vy_emitter *emitter, uint32_t value, vyre_type from, vyre_type to)
{
    vy_to_int c = {vy_ints_of(emitter, to), from, value};
    return c.k.is_signed ? to_signed(&c) : to_unsigned(&c);
}

/* ---- From integers to floats ----------------------------------------------------------------- */

/* The f32 nearest to a number of one register. */
static uint32_t nearest_f32(const vy_ints *k, uint32_t a)
{
    vy_module *m = k->m;
    uint32_t zeros = vy_leading_zeros(k, a);
    uint32_t places = vy_u2c(m, SpvOpBitwiseAnd, zeros, k->bits - 1);
    uint32_t top = vy_i2(k, SpvOpShiftLeftLogical, a, places);
    uint32_t drop = k->bits - 24;
    uint32_t kept = vy_shift_c(k, SpvOpShiftRightLogical, top, drop);
    uint32_t rest = vy_i2c(k, SpvOpBitwiseAnd, top, ((uint64_t)1 << drop) - 1);
    uint32_t odd = vy_i2c(k, SpvOpBitwiseAnd, kept, 1);
    uint32_t half = vy_ic(k, (uint64_t)1 << (drop - 1));
    uint32_t threshold = vy_i2(k, SpvOpISub, half, odd);
    uint32_t is_up = vy_b2(m, SpvOpUGreaterThan, rest, threshold);
    uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
    uint32_t carry = vy_select_u(m, is_up, one, zero);
    kept = k->bits == 64 ? vy_emit_low(k->emitter, kept) : kept;
    /* The mantissa's top bit is the exponent's lowest: one less in the field. */
    uint32_t highest = vy_const_u32(m, 127 + k->bits - 2);
    uint32_t field = vy_u2(m, SpvOpISub, highest, zeros);
    field = vy_u2c(m, SpvOpShiftLeftLogical, field, 23);
    uint32_t bits = vy_u2(m, SpvOpIAdd, kept, field);
    bits = vy_u2(m, SpvOpIAdd, bits, carry);
    uint32_t is_zero = vy_ib2c(k, SpvOpIEqual, a, 0);
    bits = vy_select_u(m, is_zero, zero, bits);
    return vy_f32_of(m, bits);
}

uint32_t vy_emit_u32_to_f32(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U32);
    (void)b;
    return nearest_f32(&k, a);
}

uint32_t vy_emit_u64_to_f32(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U64);
    (void)b;
    return nearest_f32(&k, a);
}

/* The conversion's own rounding is promised with the mode only; up to 24 bits it is exact. */
static uint32_t integer_to_f32(vy_emitter *emitter, uint32_t value, vyre_type from)
{
    vy_module *m = &emitter->module;
    vy_ints k = vy_ints_of(emitter, from);
    bool is_native = (emitter->options->float_modes & VYRE_FLOAT_ROUNDING_RTE) != 0 ||
                     emitter->ssa->program->fast_math;
    if (k.width < 32 || (k.width == 32 && is_native)) {
        return vy_v1(m, k.is_signed ? SpvOpConvertSToF : SpvOpConvertUToF, vy_type_f32(m), value);
    }
    vy_helper helper = k.bits == 64 ? VY_HELPER_U64_TO_F32 : VY_HELPER_U32_TO_F32;
    if (!k.is_signed) {
        return vy_helper_call(emitter, helper, value, 0);
    }
    uint32_t is_negative = vy_ib2c(&k, SpvOpSLessThan, value, 0);
    uint32_t negated = vy_i1(&k, SpvOpSNegate, value);
    uint32_t magnitude = vy_select_i(&k, is_negative, negated, value);
    uint32_t size = vy_helper_call(emitter, helper, magnitude, 0);
    uint32_t bits = vy_bits_of(m, size);
    uint32_t minus = vy_u2c(m, SpvOpBitwiseOr, bits, VY_F32_SIGN);
    bits = vy_select_u(m, is_negative, minus, bits);
    return vy_f32_of(m, bits);
}

/* Beyond +-2^17 all are infinite; within, the f32 is exact. */
static uint32_t integer_to_f16(vy_emitter *emitter, uint32_t value, vyre_type from)
{
    vy_module *m = &emitter->module;
    vy_ints k = vy_ints_of(emitter, from);
    if (k.width >= 32) {
        uint32_t most = vy_ic(&k, 0x20000), least = vy_ic(&k, (uint64_t)0 - 0x20000);
        uint32_t is_large =
            vy_b2(m, k.is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan, value, most);
        value = vy_select_i(&k, is_large, most, value);
        if (k.is_signed) {
            uint32_t is_low = vy_b2(m, SpvOpSLessThan, value, least);
            value = vy_select_i(&k, is_low, least, value);
        }
        value = k.bits == 64 ? vy_emit_low(emitter, value) : value;
    }
    SpvOp op = k.is_signed ? SpvOpConvertSToF : SpvOpConvertUToF;
    return vy_emit_round_f16(emitter, vy_v1(m, op, vy_type_f32(m), value));
}

/* 64 bits: both halves are exact, and their sum is rounded once. */
static uint32_t integer_to_f64(vy_emitter *emitter, uint32_t value, vyre_type from)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_f64(m);
    SpvOp op = vy_type_is_signed(from) ? SpvOpConvertSToF : SpvOpConvertUToF;
    if (vy_type_width(from) < 64) {
        return vy_v1(m, op, type, value);
    }
    uint32_t low = vy_emit_low(emitter, value);
    uint32_t high = vy_emit_high(emitter, value);
    low = vy_v1(m, SpvOpConvertUToF, type, low);
    high = vy_v1(m, op, type, high);
    uint32_t scale = vy_const_f64(m, (uint64_t)(1023 + 32) << 52);
    high = vy_exact2(m, SpvOpFMul, type, high, scale);
    return vy_exact2(m, SpvOpFAdd, type, high, low);
}

/* ---- Between floats -------------------------------------------------------------------------- */

uint32_t vy_emit_f32_to_f64(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t wide = vy_type_u64(m), type = vy_type_f64(m);
    uint32_t bits = vy_bits_of(m, a);
    uint32_t magnitude = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    uint32_t units = vy_v1(m, SpvOpConvertUToF, type, magnitude);
    uint32_t unit = vy_const_f64(m, (uint64_t)(1023 - 149) << 52);
    uint32_t small = vy_exact2(m, SpvOpFMul, type, units, unit);
    small = vy_v1(m, SpvOpBitcast, wide, small);
    uint32_t value = vy_v1(m, SpvOpUConvert, wide, magnitude);
    uint32_t places = vy_const_u32(m, 29);
    value = vy_v2(m, SpvOpShiftLeftLogical, wide, value, places);
    uint32_t bias = vy_const_u64(m, (uint64_t)(1023 - 127) << 52);
    value = vy_v2(m, SpvOpIAdd, wide, value, bias);
    uint32_t is_small = vy_b2c(m, SpvOpULessThan, magnitude, 0x00800000u);
    value = vy_select(m, wide, is_small, small, value);
    uint32_t is_infinite = vy_b2c(m, SpvOpIEqual, magnitude, VY_F32_INFINITY);
    uint32_t infinity = vy_const_u64(m, F64_INFINITY);
    value = vy_select(m, wide, is_infinite, infinity, value);
    uint32_t sign = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_SIGN);
    sign = vy_v1(m, SpvOpUConvert, wide, sign);
    places = vy_const_u32(m, 32);
    sign = vy_v2(m, SpvOpShiftLeftLogical, wide, sign, places);
    value = vy_v2(m, SpvOpBitwiseOr, wide, value, sign);
    uint32_t is_nan = vy_b2c(m, SpvOpUGreaterThan, magnitude, VY_F32_INFINITY);
    uint32_t nan = vy_const_u64(m, F64_NAN);
    value = vy_select(m, wide, is_nan, nan, value);
    return vy_v1(m, SpvOpBitcast, type, value);
}

/* Significant bits and the place of the last one that an f32 has room for: drops 29 of them, more
 * for denormals. Result: the kept bits, and the rest with its own half way mark. */
typedef struct vy_narrow {
    uint32_t kept, rest, half; /* u64 */
    uint32_t magnitude, sign;  /* u64, u32 */
} vy_narrow;

static vy_narrow narrow(vy_emitter *emitter, uint32_t value)
{
    vy_module *m = &emitter->module;
    vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U64);
    vy_narrow n;
    uint32_t bits = vy_i1(&k, SpvOpBitcast, value);
    n.magnitude = vy_i2c(&k, SpvOpBitwiseAnd, bits, INT64_MAX);
    n.sign = vy_emit_high(emitter, bits);
    n.sign = vy_u2c(m, SpvOpBitwiseAnd, n.sign, VY_F32_SIGN);
    uint32_t exponent = vy_shift_c(&k, SpvOpShiftRightLogical, n.magnitude, 52);
    exponent = vy_emit_low(emitter, exponent);
    /* Below 2^-126 the hidden bit is a bit like others, and there are less places. */
    uint32_t is_small = vy_b2c(m, SpvOpULessThan, exponent, 897);
    uint32_t fraction = vy_i2c(&k, SpvOpBitwiseAnd, n.magnitude, ((uint64_t)1 << 52) - 1);
    uint32_t mantissa = vy_i2c(&k, SpvOpBitwiseOr, fraction, (uint64_t)1 << 52);
    uint32_t rebased = vy_i2c(&k, SpvOpISub, n.magnitude, (uint64_t)896 << 52);
    uint32_t number = vy_select_i(&k, is_small, mantissa, rebased);
    uint32_t most = vy_const_u32(m, 926), normal = vy_const_u32(m, 29);
    uint32_t drop = vy_u2(m, SpvOpISub, most, exponent);
    uint32_t all = vy_const_u32(m, 60);
    drop = vy_glsl(m, GLSLstd450UMin, vy_type_u32(m), drop, all);
    drop = vy_select_u(m, is_small, drop, normal);
    n.kept = vy_i2(&k, SpvOpShiftRightLogical, number, drop);
    uint32_t back = vy_i2(&k, SpvOpShiftLeftLogical, n.kept, drop);
    n.rest = vy_i2(&k, SpvOpISub, number, back);
    uint32_t one = vy_ic(&k, 1);
    uint32_t mark = vy_u2c(m, SpvOpISub, drop, 1);
    n.half = vy_i2(&k, SpvOpShiftLeftLogical, one, mark);
    return n;
}

static uint32_t end_narrow(vy_emitter *emitter, const vy_narrow *n, uint32_t is_over, uint32_t bits,
                           uint32_t over)
{
    vy_module *m = &emitter->module;
    vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U64);
    bits = vy_select_u(m, is_over, over, bits);
    uint32_t is_infinite = vy_ib2c(&k, SpvOpIEqual, n->magnitude, F64_INFINITY);
    uint32_t infinity = vy_const_u32(m, VY_F32_INFINITY), nan = vy_const_u32(m, VY_F32_NAN);
    bits = vy_select_u(m, is_infinite, infinity, bits);
    bits = vy_u2(m, SpvOpBitwiseOr, bits, n->sign);
    uint32_t is_nan = vy_ib2c(&k, SpvOpUGreaterThan, n->magnitude, F64_INFINITY);
    bits = vy_select_u(m, is_nan, nan, bits);
    return vy_f32_of(m, bits);
}

/* Rounded to nearest even. */
uint32_t vy_emit_f64_to_f32(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U64);
    vy_narrow n = narrow(emitter, a);
    uint32_t odd = vy_i2c(&k, SpvOpBitwiseAnd, n.kept, 1);
    uint32_t threshold = vy_i2(&k, SpvOpISub, n.half, odd);
    uint32_t is_up = vy_b2(m, SpvOpUGreaterThan, n.rest, threshold);
    uint32_t one = vy_ic(&k, 1), zero = vy_ic(&k, 0);
    uint32_t carry = vy_select_i(&k, is_up, one, zero);
    uint32_t rounded = vy_i2(&k, SpvOpIAdd, n.kept, carry);
    uint32_t is_over = vy_ib2c(&k, SpvOpUGreaterThan, rounded, VY_F32_INFINITY);
    uint32_t bits = vy_emit_low(emitter, rounded);
    return end_narrow(emitter, &n, is_over, bits, vy_const_u32(m, VY_F32_INFINITY));
}

/* Rounded to odd: the last bit says that more was there, which a second rounding needs to know. */
uint32_t vy_emit_f64_to_odd(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U64);
    vy_narrow n = narrow(emitter, a);
    uint32_t is_inexact = vy_ib2c(&k, SpvOpINotEqual, n.rest, 0);
    uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
    uint32_t sticky = vy_select_u(m, is_inexact, one, zero);
    uint32_t is_over = vy_ib2c(&k, SpvOpUGreaterThanEqual, n.kept, VY_F32_INFINITY);
    uint32_t bits = vy_emit_low(emitter, n.kept);
    bits = vy_u2(m, SpvOpBitwiseOr, bits, sticky);
    return end_narrow(emitter, &n, is_over, bits, vy_const_u32(m, VY_F32_INFINITY - 1));
}

static uint32_t float_to_float(vy_emitter *emitter, uint32_t value, vyre_type from, vyre_type to)
{
    if (is_f64(to)) {
        return vy_helper_call(emitter, VY_HELPER_F32_TO_F64, value, 0);
    }
    if (is_f64(from)) {
        if (to == VYRE_TYPE_F32) {
            return vy_helper_call(emitter, VY_HELPER_F64_TO_F32, value, 0);
        }
        value = vy_helper_call(emitter, VY_HELPER_F64_TO_ODD, value, 0);
    }
    if (to == VYRE_TYPE_F16) {
        return vy_emit_round_f16(emitter, value);
    }
    return vy_emit_canonical_nan(emitter, value, VYRE_TYPE_F32); /* f16 to f32 */
}

/* ---- All ------------------------------------------------------------------------------------- */

static uint32_t of_bool(vy_emitter *emitter, uint32_t value, vyre_type to)
{
    vy_module *m = &emitter->module;
    uint32_t one, zero;
    if (!vy_type_is_float(to)) {
        one = vy_const_integer(emitter, to, 1);
        zero = vy_const_integer(emitter, to, 0);
    } else if (is_f64(to)) {
        one = vy_const_f64(m, F64_ONE);
        zero = vy_const_f64(m, 0);
    } else {
        one = vy_const_f32(m, VY_F32_ONE);
        zero = vy_const_f32(m, 0);
    }
    return vy_select(m, vy_emit_type(emitter, to), value, one, zero);
}

static uint32_t to_bool(vy_emitter *emitter, uint32_t value, vyre_type from)
{
    vy_module *m = &emitter->module;
    if (is_f64(from)) {
        vy_ints k = vy_ints_of(emitter, VYRE_TYPE_U64);
        uint32_t bits = vy_i1(&k, SpvOpBitcast, value);
        bits = vy_i2c(&k, SpvOpBitwiseAnd, bits, INT64_MAX);
        return vy_ib2c(&k, SpvOpINotEqual, bits, 0);
    }
    if (vy_type_is_float(from)) {
        return vy_b2f(m, SpvOpFUnordNotEqual, value, 0);
    }
    vy_ints k = vy_ints_of(emitter, from);
    return vy_ib2c(&k, SpvOpINotEqual, value, 0);
}

/* What widens a value of 8 or 16 bits with a sign hides from the driver that its upper bits are
 * one: NVIDIA's (580) takes the extended field for a small number without a sign, in quotients,
 * remainders, conversions and comparisons of u32. */
static uint32_t hide_range(vy_emitter *emitter, uint32_t value)
{
    uint32_t zero = vy_emit_input(emitter, VY_INPUT_ZERO);
    return vy_u2(&emitter->module, SpvOpBitwiseXor, value, zero);
}

/* The source's sign is what is extended. */
static uint32_t integer_to_integer(vy_emitter *emitter, uint32_t value, vyre_type from,
                                   vyre_type to)
{
    vy_module *m = &emitter->module;
    bool from_wide = vy_type_width(from) == 64, to_wide = vy_type_width(to) == 64;
    if (vy_type_is_signed(from) && vy_type_width(from) < 32 && vy_type_width(to) >= 32) {
        value = hide_range(emitter, value);
    }
    if (to_wide) {
        SpvOp op = vy_type_is_signed(from) ? SpvOpSConvert : SpvOpUConvert;
        return from_wide ? value : vy_v1(m, op, vy_type_u64(m), value);
    }
    value = from_wide ? vy_emit_low(emitter, value) : value;
    return vy_emit_wrap(emitter, to, value);
}

uint32_t vy_emit_cast(vy_emitter *emitter, const vy_ins *ins, uint32_t operand, vyre_type from)
{
    vyre_type to = (vyre_type)ins->type;
    if (from == to) {
        return operand;
    }
    if (to == VYRE_TYPE_BOOL) {
        return to_bool(emitter, operand, from);
    }
    if (vy_type_is_vector(from) || (!vy_type_is_integer(to) && !vy_type_is_float(to))) {
        return vy_emitter_fail(
            emitter, VYRE_ERROR_INTERNAL, ins->loc,
            "a cast to a type that is not there. Fix: report it with the program");
    }
    if (from == VYRE_TYPE_BOOL) {
        return of_bool(emitter, operand, to);
    }
    bool of_float = vy_type_is_float(from);
    if (!vy_type_is_float(to)) {
        return of_float ? float_to_integer(emitter, operand, from, to)
                        : integer_to_integer(emitter, operand, from, to);
    }
    if (of_float) {
        return float_to_float(emitter, operand, from, to);
    }
    switch ((int)to) {
    case VYRE_TYPE_F16:
        return integer_to_f16(emitter, operand, from);
    case VYRE_TYPE_F64:
        return integer_to_f64(emitter, operand, from);
    default:
        return integer_to_f32(emitter, operand, from);
    }
}

uint32_t vy_emit_bitcast(vy_emitter *emitter, const vy_ins *ins, uint32_t operand, vyre_type from)
{
    vyre_type to = (vyre_type)ins->type;
    if (from == to) {
        return operand;
    }
    if (vy_type_is_vector(from) || vy_type_is_vector(to) || vy_type_width(to) == 64) {
        uint32_t old_type = vy_emit_type(emitter, from), type = vy_emit_type(emitter, to);
        return type == old_type ? operand : vy_v1(&emitter->module, SpvOpBitcast, type, operand);
    }
    uint32_t word = vy_emit_to_word(emitter, from, operand);
    return vy_emit_from_word(emitter, to, word);
}
