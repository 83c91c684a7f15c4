/* a b + c rounded once, for f32 and f64, by integer arithmetic on twice the width, which needs no
 * feature of the device for f32. Product and addend are brought to one exponent, the smaller one
 * with its lost bits joined to the last (which a rounding to half the digits cannot tell from the
 * bits themselves), added or subtracted, and rounded. */
#include "codegen/spirv/emit_exact.h"

/* Nothing has so small an exponent. */
#define NO_EXPONENT ((uint32_t)-100000)

/* ---- Numbers of twice the width -------------------------------------------------------------- */

static vy_pair select_pair(const vy_ints *k, uint32_t condition, vy_pair a, vy_pair b)
{
    vy_pair pair;
    pair.low = vy_select_i(k, condition, a.low, b.low);
    pair.high = vy_select_i(k, condition, a.high, b.high);
    return pair;
}

/* 1 where the condition holds, else 0. */
static uint32_t bit_of(const vy_ints *k, uint32_t condition)
{
    uint32_t one = vy_ic(k, 1), zero = vy_ic(k, 0);
    return vy_select_i(k, condition, one, zero);
}

static vy_pair add(const vy_ints *k, vy_pair a, vy_pair b)
{
    vy_pair sum;
    sum.low = vy_i2(k, SpvOpIAdd, a.low, b.low);
    uint32_t carries = vy_b2(k->m, SpvOpULessThan, sum.low, a.low);
    uint32_t carry = bit_of(k, carries);
    sum.high = vy_i2(k, SpvOpIAdd, a.high, b.high);
    sum.high = vy_i2(k, SpvOpIAdd, sum.high, carry);
    return sum;
}

static vy_pair subtract(const vy_ints *k, vy_pair a, vy_pair b)
{
    vy_pair rest;
    rest.low = vy_i2(k, SpvOpISub, a.low, b.low);
    uint32_t borrows = vy_b2(k->m, SpvOpULessThan, a.low, b.low);
    uint32_t borrow = bit_of(k, borrows);
    rest.high = vy_i2(k, SpvOpISub, a.high, b.high);
    rest.high = vy_i2(k, SpvOpISub, rest.high, borrow);
    return rest;
}

static uint32_t is_below(const vy_ints *k, vy_pair a, vy_pair b)
{
    vy_module *m = k->m;
    uint32_t high = vy_b2(m, SpvOpULessThan, a.high, b.high);
    uint32_t same = vy_b2(m, SpvOpIEqual, a.high, b.high);
    uint32_t low = vy_b2(m, SpvOpULessThan, a.low, b.low);
    low = vy_b2(m, SpvOpLogicalAnd, same, low);
    return vy_b2(m, SpvOpLogicalOr, high, low);
}

/* By a literal below the width. */
static vy_pair up_by(const vy_ints *k, vy_pair a, uint32_t places)
{
    vy_pair moved;
    uint32_t carried = vy_shift_c(k, SpvOpShiftRightLogical, a.low, k->bits - places);
    moved.high = vy_shift_c(k, SpvOpShiftLeftLogical, a.high, places);
    moved.high = vy_i2(k, SpvOpBitwiseOr, moved.high, carried);
    moved.low = vy_shift_c(k, SpvOpShiftLeftLogical, a.low, places);
    return moved;
}

/* places (a u32) below twice the width. */
static vy_pair shift_up(const vy_ints *k, vy_pair a, uint32_t places)
{
    vy_module *m = k->m;
    uint32_t is_far = vy_b2c(m, SpvOpUGreaterThanEqual, places, k->bits);
    vy_pair far = {vy_ic(k, 0), a.low};
    a = select_pair(k, is_far, far, a);
    places = vy_u2c(m, SpvOpBitwiseAnd, places, k->bits - 1);
    uint32_t most = vy_const_u32(m, k->bits - 1);
    uint32_t rest = vy_u2(m, SpvOpISub, most, places);
    uint32_t carried = vy_shift_c(k, SpvOpShiftRightLogical, a.low, 1);
    carried = vy_i2(k, SpvOpShiftRightLogical, carried, rest);
    vy_pair moved;
    moved.high = vy_i2(k, SpvOpShiftLeftLogical, a.high, places);
    moved.high = vy_i2(k, SpvOpBitwiseOr, moved.high, carried);
    moved.low = vy_i2(k, SpvOpShiftLeftLogical, a.low, places);
    return moved;
}

/* The same downwards; the last bit says whether anything but zeros was lost. */
static vy_pair shift_down(const vy_ints *k, vy_pair a, uint32_t places)
{
    vy_module *m = k->m;
    uint32_t is_far = vy_b2c(m, SpvOpUGreaterThanEqual, places, k->bits);
    uint32_t zero = vy_ic(k, 0);
    uint32_t lost = vy_select_i(k, is_far, a.low, zero);
    vy_pair far = {a.high, zero};
    a = select_pair(k, is_far, far, a);
    places = vy_u2c(m, SpvOpBitwiseAnd, places, k->bits - 1);
    uint32_t most = vy_const_u32(m, k->bits - 1);
    uint32_t rest = vy_u2(m, SpvOpISub, most, places);
    vy_pair moved;
    uint32_t carried = vy_shift_c(k, SpvOpShiftLeftLogical, a.high, 1);
    carried = vy_i2(k, SpvOpShiftLeftLogical, carried, rest);
    moved.low = vy_i2(k, SpvOpShiftRightLogical, a.low, places);
    uint32_t back = vy_i2(k, SpvOpShiftLeftLogical, moved.low, places);
    uint32_t dropped = vy_i2(k, SpvOpBitwiseXor, a.low, back);
    lost = vy_i2(k, SpvOpBitwiseOr, lost, dropped);
    moved.low = vy_i2(k, SpvOpBitwiseOr, moved.low, carried);
    moved.high = vy_i2(k, SpvOpShiftRightLogical, a.high, places);
    uint32_t is_lost = vy_ib2c(k, SpvOpINotEqual, lost, 0);
    uint32_t sticky = bit_of(k, is_lost);
    moved.low = vy_i2(k, SpvOpBitwiseOr, moved.low, sticky);
    return moved;
}

/* ---- The operation --------------------------------------------------------------------------- */

/* A term of the sum: number * 2^exponent, with its sign bit. */
typedef struct vy_term {
    vy_pair number;
    uint32_t exponent, sign;
} vy_term;

static vy_term product_of(const vy_format *f, const vy_float_parts *x, const vy_float_parts *y)
{
    vy_module *m = f->m;
    vy_term term;
    uint32_t places = 2 * f->k.bits - 2 - 2 * f->precision;
    term.number = up_by(&f->k, vy_multiply_wide(&f->k, x->mantissa, y->mantissa), places);
    term.exponent = vy_u2(m, SpvOpIAdd, x->exponent, y->exponent);
    term.exponent = vy_u2c(m, SpvOpISub, term.exponent, 2 * (f->bias + f->precision - 1) + places);
    uint32_t is_zero = vy_b2(m, SpvOpLogicalOr, x->is_zero, y->is_zero);
    uint32_t none = vy_const_u32(m, NO_EXPONENT);
    term.exponent = vy_select_u(m, is_zero, none, term.exponent);
    uint32_t sign = vy_i2(&f->k, SpvOpBitwiseXor, x->bits, y->bits);
    term.sign = vy_i2c(&f->k, SpvOpBitwiseAnd, sign, f->sign);
    return term;
}

static vy_term addend_of(const vy_format *f, const vy_float_parts *z)
{
    vy_module *m = f->m;
    vy_term term;
    uint32_t places = f->k.bits - 3 - f->precision; /* and a whole register */
    term.number.high = vy_shift_c(&f->k, SpvOpShiftLeftLogical, z->mantissa, places);
    term.number.low = vy_ic(&f->k, 0);
    term.exponent =
        vy_u2c(m, SpvOpISub, z->exponent, f->bias + f->precision - 1 + places + f->k.bits);
    uint32_t none = vy_const_u32(m, NO_EXPONENT);
    term.exponent = vy_select_u(m, z->is_zero, none, term.exponent);
    term.sign = vy_i2c(&f->k, SpvOpBitwiseAnd, z->bits, f->sign);
    return term;
}

/* The sum, exact but for what its last bit stands for. */
static vy_term sum_of(const vy_format *f, vy_term a, vy_term b)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    uint32_t distance = vy_u2(m, SpvOpISub, a.exponent, b.exponent);
    uint32_t a_is_high = vy_b2c(m, SpvOpSGreaterThanEqual, distance, 0);
    uint32_t negated = vy_u1(m, SpvOpSNegate, distance);
    distance = vy_select_u(m, a_is_high, distance, negated);
    uint32_t most = vy_const_u32(m, 2 * k->bits - 1);
    distance = vy_glsl(m, GLSLstd450UMin, vy_type_u32(m), distance, most);
    vy_pair high = select_pair(k, a_is_high, a.number, b.number);
    vy_pair low = select_pair(k, a_is_high, b.number, a.number);
    low = shift_down(k, low, distance);
    uint32_t high_sign = vy_select_i(k, a_is_high, a.sign, b.sign);
    uint32_t low_sign = vy_select_i(k, a_is_high, b.sign, a.sign);

    uint32_t is_less = is_below(k, high, low);
    vy_pair larger = select_pair(k, is_less, low, high);
    vy_pair smaller = select_pair(k, is_less, high, low);
    uint32_t is_same = vy_b2(m, SpvOpIEqual, a.sign, b.sign);
    vy_pair sum = add(k, high, low);
    vy_pair rest = subtract(k, larger, smaller);
    vy_term term;
    term.number = select_pair(k, is_same, sum, rest);
    term.exponent = vy_select_u(m, a_is_high, a.exponent, b.exponent);
    term.sign = vy_select_i(k, is_less, low_sign, high_sign);
    return term;
}

/* The float nearest to the term; the sign of a zero sum is `zero_sign`. */
static uint32_t round_term(const vy_format *f, vy_term term, uint32_t zero_sign)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    uint32_t in_low = vy_leading_zeros(k, term.number.low);
    in_low = vy_u2c(m, SpvOpIAdd, in_low, k->bits);
    uint32_t in_high = vy_leading_zeros(k, term.number.high);
    uint32_t is_low = vy_ib2c(k, SpvOpIEqual, term.number.high, 0);
    uint32_t both = vy_i2(k, SpvOpBitwiseOr, term.number.high, term.number.low);
    uint32_t is_zero = vy_ib2c(k, SpvOpIEqual, both, 0);
    uint32_t places = vy_select_u(m, is_low, in_low, in_high);
    uint32_t most = vy_const_u32(m, 2 * k->bits - 1);
    places = vy_glsl(m, GLSLstd450UMin, vy_type_u32(m), places, most);
    vy_pair top = shift_up(k, term.number, places);
    uint32_t drop = k->bits - f->precision - 2;
    uint32_t value = vy_shift_c(k, SpvOpShiftRightLogical, top.high, drop);
    uint32_t lost = vy_i2c(k, SpvOpBitwiseAnd, top.high, ((uint64_t)1 << drop) - 1);
    lost = vy_i2(k, SpvOpBitwiseOr, lost, top.low);
    uint32_t is_lost = vy_ib2c(k, SpvOpINotEqual, lost, 0);
    uint32_t sticky = bit_of(k, is_lost);
    value = vy_i2(k, SpvOpBitwiseOr, value, sticky);
    uint32_t exponent = vy_u2(m, SpvOpISub, term.exponent, places);
    exponent = vy_u2c(m, SpvOpIAdd, exponent, 2 * k->bits - 1 + f->bias);
    uint32_t bits = vy_round_to_even(f, value, exponent);
    uint32_t is_over = vy_b2c(m, SpvOpSGreaterThan, exponent, 2 * f->bias);
    uint32_t infinity = vy_ic(k, f->infinity), zero = vy_ic(k, 0);
    bits = vy_select_i(k, is_over, infinity, bits);
    bits = vy_select_i(k, is_zero, zero, bits);
    uint32_t sign = vy_select_i(k, is_zero, zero_sign, term.sign);
    return vy_i2(k, SpvOpBitwiseOr, bits, sign);
}

static uint32_t fuse_exactly(const vy_format *f, uint32_t a, uint32_t b, uint32_t c)
{
    vy_module *m = f->m;
    const vy_ints *k = &f->k;
    vy_float_parts x = vy_take_apart(f, a);
    vy_float_parts y = vy_take_apart(f, b);
    vy_float_parts z = vy_take_apart(f, c);
    vy_term product = product_of(f, &x, &y);
    vy_term addend = addend_of(f, &z);
    vy_term sum = sum_of(f, product, addend);
    uint32_t zero_sign = vy_i2(k, SpvOpBitwiseAnd, product.sign, addend.sign);
    uint32_t bits = round_term(f, sum, zero_sign);

    uint32_t infinity = vy_i2c(k, SpvOpBitwiseOr, product.sign, f->infinity);
    uint32_t is_inf = vy_b2(m, SpvOpLogicalOr, x.is_inf, y.is_inf);
    bits = vy_select_i(k, is_inf, infinity, bits);
    bits = vy_select_i(k, z.is_inf, z.bits, bits);
    uint32_t is_zero = vy_b2(m, SpvOpLogicalOr, x.is_zero, y.is_zero);
    uint32_t no_number = vy_b2(m, SpvOpLogicalAnd, is_inf, is_zero);
    uint32_t differs = vy_b2(m, SpvOpINotEqual, product.sign, addend.sign);
    uint32_t both = vy_b2(m, SpvOpLogicalAnd, is_inf, z.is_inf);
    both = vy_b2(m, SpvOpLogicalAnd, both, differs);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, both);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, x.is_nan);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, y.is_nan);
    no_number = vy_b2(m, SpvOpLogicalOr, no_number, z.is_nan);
    uint32_t nan = vy_ic(k, f->nan);
    bits = vy_select_i(k, no_number, nan, bits);
    return vy_format_value(f, bits);
}

static uint32_t fuse(vy_emitter *emitter, const uint32_t *operands, vyre_type type,
                     uint32_t spec_id, const char *name)
{
    vy_format f = vy_format_of(emitter, type);
    vy_native_choice choice;
    vy_begin_native(f.m, &choice, spec_id, name);
    uint32_t native = vy_glsl3(f.m, GLSLstd450Fma, f.type, operands);
    vy_module_decorate(f.m, native, SpvDecorationNoContraction, NULL, 0);
    choice.value = vy_emit_canonical_nan(emitter, native, type);
    vy_end_native(f.m, &choice);
    uint32_t value = fuse_exactly(&f, operands[0], operands[1], operands[2]);
    return vy_merge_exact(f.m, &choice, f.type, value, choice.exact);
}

uint32_t vy_emit_fma(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t operands[3] = {a, b, c};
    return fuse(emitter, operands, VYRE_TYPE_F32, VY_SPEC_NATIVE_FMA, "vy_native_fma");
}

uint32_t vy_emit_fma_f64(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t operands[3] = {a, b, c};
    return fuse(emitter, operands, VYRE_TYPE_F64, VY_SPEC_NATIVE_FMA_F64, "vy_native_fma_f64");
}
