/* Functions with a tolerance: exponentials, logarithms, powers, inverse and hyperbolic functions.
 * Where GLSL.std.450 leaves an argument open (NaN, infinities, zeros, denormals, overflow) the
 * value is selected here; where its precision is loose a polynomial stands in its place. The
 * coefficients are those of the Cephes library's single-precision functions (S. L. Moshier). */
#include "codegen/spirv/emit_math.h"

#include <string.h>

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint32_t vy_const_float(vy_module *m, float value)
{
    return vy_const_f32(m, bits_of_float(value));
}

uint32_t vy_f2l(vy_module *m, SpvOp op, uint32_t a, float value)
{
    return vy_f2c(m, op, a, bits_of_float(value));
}

uint32_t vy_b2l(vy_module *m, SpvOp op, uint32_t a, float value)
{
    return vy_b2f(m, op, a, bits_of_float(value));
}

uint32_t vy_select_l(vy_module *m, uint32_t condition, float a, float b)
{
    uint32_t yes = vy_const_float(m, a);
    uint32_t no = vy_const_float(m, b);
    return vy_select_f(m, condition, yes, no);
}

uint32_t vy_replace_l(vy_module *m, uint32_t condition, float literal, uint32_t value)
{
    uint32_t yes = vy_const_float(m, literal);
    return vy_select_f(m, condition, yes, value);
}

static uint32_t replace_bits(vy_module *m, uint32_t condition, uint32_t bits, uint32_t value)
{
    uint32_t yes = vy_const_f32(m, bits);
    return vy_select_f(m, condition, yes, value);
}

uint32_t vy_polynomial(vy_module *m, uint32_t z, const float *coefficients, uint32_t count)
{
    uint32_t sum = vy_const_float(m, coefficients[0]);
    for (uint32_t i = 1; i < count; i++) {
        sum = vy_f2(m, SpvOpFMul, sum, z);
        sum = vy_f2l(m, SpvOpFAdd, sum, coefficients[i]);
    }
    return sum;
}

/* a + a z p(z), z = a a: odd functions near 0. */
static uint32_t odd_polynomial(vy_module *m, uint32_t a, const float *coefficients, uint32_t count)
{
    uint32_t z = vy_f2(m, SpvOpFMul, a, a);
    uint32_t sum = vy_polynomial(m, z, coefficients, count);
    sum = vy_f2(m, SpvOpFMul, sum, z);
    sum = vy_f2(m, SpvOpFMul, sum, a);
    return vy_f2(m, SpvOpFAdd, sum, a);
}

uint32_t vy_magnitude(vy_module *m, uint32_t value)
{
    uint32_t bits = vy_bits_of(m, value);
    bits = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    return vy_f32_of(m, bits);
}

uint32_t vy_with_sign(vy_module *m, uint32_t magnitude, uint32_t sign)
{
    uint32_t sign_bits = vy_bits_of(m, sign);
    sign_bits = vy_u2c(m, SpvOpBitwiseAnd, sign_bits, VY_F32_SIGN);
    uint32_t bits = vy_bits_of(m, magnitude);
    bits = vy_u2(m, SpvOpBitwiseOr, bits, sign_bits);
    return vy_f32_of(m, bits);
}

uint32_t vy_keep_nan(vy_emitter *emitter, uint32_t x, uint32_t value)
{
    vy_module *m = &emitter->module;
    uint32_t bits = vy_bits_of(m, x);
    uint32_t is_nan = vy_emit_is_nan_bits(emitter, bits);
    return replace_bits(m, is_nan, VY_F32_NAN, value);
}

static uint32_t native(vy_module *m, enum GLSLstd450 op, uint32_t value)
{
    uint32_t type = vy_type_f32(m);
    return vy_glsl(m, op, type, value, 0);
}

/* A denormal other than 0 by its bits, which no flushing changes. */
static uint32_t is_denormal(vy_module *m, uint32_t value)
{
    uint32_t bits = vy_bits_of(m, value);
    bits = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    uint32_t less = vy_u2c(m, SpvOpISub, bits, 1);
    return vy_b2c(m, SpvOpULessThan, less, 0x7fffff);
}

/* ---- Exponentials ---------------------------------------------------------------------------- */

/* Small results are made 2^64 larger and brought down by one multiplication, which rounds them into
 * the denormals. */
static uint32_t exponential(vy_emitter *emitter, uint32_t a, enum GLSLstd450 op, float small,
                            float shift, float least)
{
    vy_module *m = &emitter->module;
    uint32_t is_small = vy_b2l(m, SpvOpFOrdLessThan, a, small);
    uint32_t moved = vy_f2l(m, SpvOpFAdd, a, shift);
    uint32_t argument = vy_select_f(m, is_small, moved, a);
    uint32_t value = native(m, op, argument);
    uint32_t scale = vy_select_l(m, is_small, 0x1p-64f, 1.0f);
    value = vy_f2(m, SpvOpFMul, value, scale);
    uint32_t is_none = vy_b2l(m, SpvOpFOrdLessThan, a, least);
    return vy_replace_l(m, is_none, 0.0f, value);
}

uint32_t vy_emit_exp(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t value = exponential(emitter, a, GLSLstd450Exp, -86.0f, 44.36141956f, -104.0f);
    /* The last argument whose result is finite. */
    uint32_t is_over = vy_b2l(m, SpvOpFOrdGreaterThan, a, 88.72283935546875f);
    value = replace_bits(m, is_over, VY_F32_INFINITY, value);
    return vy_keep_nan(emitter, a, value);
}

uint32_t vy_emit_exp2(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t value = exponential(emitter, a, GLSLstd450Exp2, -120.0f, 64.0f, -150.0f);
    uint32_t is_over = vy_b2l(m, SpvOpFOrdGreaterThanEqual, a, 128.0f);
    value = replace_bits(m, is_over, VY_F32_INFINITY, value);
    return vy_keep_nan(emitter, a, value);
}

/* ---- Logarithms ------------------------------------------------------------------------------ */

static uint32_t logarithm(vy_emitter *emitter, uint32_t a, enum GLSLstd450 op, float per_scale)
{
    vy_module *m = &emitter->module;
    uint32_t is_small = is_denormal(m, a);
    uint32_t scale = vy_select_l(m, is_small, 0x1p24f, 1.0f);
    uint32_t argument = vy_f2(m, SpvOpFMul, a, scale);
    uint32_t value = native(m, op, argument);
    uint32_t less = vy_select_l(m, is_small, per_scale, 0.0f);
    value = vy_f2(m, SpvOpFSub, value, less);
    uint32_t is_zero = vy_b2l(m, SpvOpFOrdEqual, a, 0.0f);
    value = replace_bits(m, is_zero, VY_F32_SIGN | VY_F32_INFINITY, value);
    uint32_t is_infinite = vy_b2f(m, SpvOpFOrdEqual, a, VY_F32_INFINITY);
    value = replace_bits(m, is_infinite, VY_F32_INFINITY, value);
    uint32_t is_negative = vy_b2l(m, SpvOpFOrdLessThan, a, 0.0f);
    value = replace_bits(m, is_negative, VY_F32_NAN, value);
    return vy_keep_nan(emitter, a, value);
}

uint32_t vy_emit_log(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    (void)b;
    return logarithm(emitter, a, GLSLstd450Log, 16.635532f);
}

uint32_t vy_emit_log2(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    (void)b;
    return logarithm(emitter, a, GLSLstd450Log2, 24.0f);
}

/* ---- Powers ---------------------------------------------------------------------------------- */

typedef struct vy_whole {
    uint32_t is_whole, is_odd;
} vy_whole;

/* Infinities and everything from 2^24 are even. */
static vy_whole whole_of(vy_module *m, uint32_t value)
{
    vy_whole whole;
    uint32_t down = native(m, GLSLstd450Floor, value);
    whole.is_whole = vy_b2(m, SpvOpFOrdEqual, down, value);
    uint32_t size = vy_magnitude(m, value);
    uint32_t is_small = vy_b2l(m, SpvOpFOrdLessThan, size, 0x1p24f);
    uint32_t zero = vy_const_float(m, 0.0f);
    uint32_t safe = vy_select_f(m, is_small, size, zero);
    uint32_t number = vy_u1(m, SpvOpConvertFToU, safe);
    uint32_t low = vy_u2c(m, SpvOpBitwiseAnd, number, 1);
    uint32_t odd = vy_b2c(m, SpvOpINotEqual, low, 0);
    whole.is_odd = vy_b2(m, SpvOpLogicalAnd, odd, whole.is_whole);
    return whole;
}

/* exp2(y log2|x|); negative x has a power only for whole y. As C's pow: 1 for y = 0 and for x = 1,
 * whatever the other is. */
uint32_t vy_emit_pow(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    uint32_t size = vy_magnitude(m, a);
    uint32_t logarithm_2 = vy_helper_call(emitter, VY_HELPER_LOG2, size, 0);
    uint32_t product = vy_f2(m, SpvOpFMul, b, logarithm_2);
    uint32_t value = vy_helper_call(emitter, VY_HELPER_EXP2, product, 0);
    uint32_t is_unit = vy_b2l(m, SpvOpFOrdEqual, size, 1.0f);
    value = vy_replace_l(m, is_unit, 1.0f, value);

    vy_whole whole = whole_of(m, b);
    uint32_t a_bits = vy_bits_of(m, a);
    uint32_t has_sign = vy_b2c(m, SpvOpSLessThan, a_bits, 0);
    uint32_t turns = vy_b2(m, SpvOpLogicalAnd, has_sign, whole.is_odd);
    uint32_t bits = vy_bits_of(m, value);
    uint32_t turned = vy_u2c(m, SpvOpBitwiseOr, bits, VY_F32_SIGN);
    bits = vy_select_u(m, turns, turned, bits);
    value = vy_f32_of(m, bits);

    uint32_t is_negative = vy_b2l(m, SpvOpFOrdLessThan, a, 0.0f);
    uint32_t is_finite = vy_b2f(m, SpvOpFOrdLessThan, size, VY_F32_INFINITY);
    uint32_t is_broken = vy_b1(m, SpvOpLogicalNot, whole.is_whole);
    uint32_t none = vy_b2(m, SpvOpLogicalAnd, is_negative, is_finite);
    none = vy_b2(m, SpvOpLogicalAnd, none, is_broken);
    value = replace_bits(m, none, VY_F32_NAN, value);
    value = vy_keep_nan(emitter, a, value);
    value = vy_keep_nan(emitter, b, value);
    uint32_t by_base = vy_b2l(m, SpvOpFOrdEqual, a, 1.0f);
    uint32_t by_power = vy_b2l(m, SpvOpFOrdEqual, b, 0.0f);
    uint32_t is_one = vy_b2(m, SpvOpLogicalOr, by_base, by_power);
    return vy_replace_l(m, is_one, 1.0f, value);
}

uint32_t vy_emit_rsqrt(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t is_small = is_denormal(m, a);
    uint32_t scale = vy_select_l(m, is_small, 0x1p24f, 1.0f);
    uint32_t argument = vy_f2(m, SpvOpFMul, a, scale);
    uint32_t value = native(m, GLSLstd450InverseSqrt, argument);
    uint32_t back = vy_select_l(m, is_small, 0x1p12f, 1.0f);
    value = vy_f2(m, SpvOpFMul, value, back);
    uint32_t is_infinite = vy_b2f(m, SpvOpFOrdEqual, a, VY_F32_INFINITY);
    value = vy_replace_l(m, is_infinite, 0.0f, value);
    uint32_t infinity = vy_const_f32(m, VY_F32_INFINITY);
    infinity = vy_with_sign(m, infinity, a);
    uint32_t is_zero = vy_b2l(m, SpvOpFOrdEqual, a, 0.0f);
    value = vy_select_f(m, is_zero, infinity, value);
    uint32_t is_negative = vy_b2l(m, SpvOpFOrdLessThan, a, 0.0f);
    value = replace_bits(m, is_negative, VY_F32_NAN, value);
    return vy_keep_nan(emitter, a, value);
}

/* a / b within 2.5 ULP for normal b; from 2^125 on b counts as 2^125. By four steps of Newton's
 * from a guess on the bits: around OpFDiv that is to round to nearest even (RoundingModeRTE),
 * NVIDIA's driver (580) loses values of others, in choices of 64 bits and branches on 16. */
uint32_t vy_quotient(vy_module *m, uint32_t a, uint32_t b)
{
    uint32_t word = vy_type_u32(m), real = vy_type_f32(m), bits = vy_bits_of(m, b);
    uint32_t sign = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_SIGN);
    uint32_t size = vy_u2c(m, SpvOpBitwiseAnd, bits, ~VY_F32_SIGN);
    size = vy_glsl(m, GLSLstd450UMin, word, size, vy_const_u32(m, 0x7e000000u));
    uint32_t guess = vy_u2(m, SpvOpISub, vy_const_u32(m, 0x7ef311c7u), size);
    uint32_t one = vy_const_float(m, 1.0f), divisor = vy_v1(m, SpvOpBitcast, real, size);
    uint32_t value = vy_v1(m, SpvOpBitcast, real, guess);
    for (uint32_t step = 0; step < 4; step++) {
        uint32_t product = vy_f2(m, SpvOpFMul, divisor, value);
        uint32_t error = vy_f2(m, SpvOpFSub, one, product);
        error = vy_f2(m, SpvOpFMul, value, error);
        value = vy_f2(m, SpvOpFAdd, value, error);
    }
    value = vy_u2(m, SpvOpBitwiseOr, vy_bits_of(m, value), sign);
    value = vy_v1(m, SpvOpBitcast, real, value);
    return vy_f2(m, SpvOpFMul, a, value);
}

/* Divisors beyond 2^+-125 are brought there. */
uint32_t vy_emit_reciprocal(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t is_small = is_denormal(m, a);
    uint32_t is_large = vy_b2l(m, SpvOpFOrdGreaterThan, size, 0x1p125f);
    uint32_t scale = vy_select_l(m, is_large, 0x1p-24f, 1.0f);
    scale = vy_replace_l(m, is_small, 0x1p24f, scale);
    uint32_t divisor = vy_f2(m, SpvOpFMul, size, scale);
    uint32_t one = vy_const_float(m, 1.0f);
    uint32_t value = vy_quotient(m, one, divisor);
    value = vy_f2(m, SpvOpFMul, value, scale);
    uint32_t is_zero = vy_b2l(m, SpvOpFOrdEqual, size, 0.0f);
    value = replace_bits(m, is_zero, VY_F32_INFINITY, value);
    uint32_t is_infinite = vy_b2f(m, SpvOpFOrdEqual, size, VY_F32_INFINITY);
    value = vy_replace_l(m, is_infinite, 0.0f, value);
    value = vy_with_sign(m, value, a);
    return vy_keep_nan(emitter, a, value);
}

/* ---- Hyperbolic functions -------------------------------------------------------------------- */

/* exp(a) / 2 for a >= 0, finite as far as sinh and cosh are. */
static uint32_t half_exponential(vy_emitter *emitter, uint32_t a)
{
    vy_module *m = &emitter->module;
    uint32_t is_large = vy_b2l(m, SpvOpFOrdGreaterThan, a, 88.0f);
    uint32_t less = vy_f2l(m, SpvOpFSub, a, 0.693147181f);
    uint32_t argument = vy_select_f(m, is_large, less, a);
    uint32_t value = vy_helper_call(emitter, VY_HELPER_EXP, argument, 0);
    uint32_t scale = vy_select_l(m, is_large, 1.0f, 0.5f);
    return vy_f2(m, SpvOpFMul, value, scale);
}

/* half = exp(a) / 2: exp(-a) / 2 = 1 / (4 half). */
static uint32_t half_inverse(vy_module *m, uint32_t half)
{
    uint32_t quarter = vy_const_float(m, 0.25f);
    return vy_quotient(m, quarter, half);
}

uint32_t vy_emit_sinh(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    static const float near_zero[] = {2.03721912945e-4f, 8.33028376239e-3f, 1.66667160211e-1f};
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t half = half_exponential(emitter, size);
    uint32_t rest = half_inverse(m, half);
    uint32_t far = vy_f2(m, SpvOpFSub, half, rest);
    uint32_t near = odd_polynomial(m, size, near_zero, VY_COUNT_OF(near_zero));
    uint32_t is_near = vy_b2l(m, SpvOpFOrdLessThan, size, 1.0f);
    uint32_t value = vy_select_f(m, is_near, near, far);
    value = vy_with_sign(m, value, a);
    return vy_keep_nan(emitter, a, value);
}

uint32_t vy_emit_cosh(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t half = half_exponential(emitter, size);
    uint32_t rest = half_inverse(m, half);
    uint32_t value = vy_f2(m, SpvOpFAdd, half, rest);
    return vy_keep_nan(emitter, a, value);
}

uint32_t vy_emit_tanh(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    static const float near_zero[] = {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                                      1.33314422036e-1f, -3.33332819422e-1f};
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t is_far = vy_b2l(m, SpvOpFOrdGreaterThan, size, 10.0f);
    uint32_t twice = vy_f2(m, SpvOpFAdd, size, size);
    uint32_t argument = vy_replace_l(m, is_far, 20.0f, twice);
    uint32_t power = vy_helper_call(emitter, VY_HELPER_EXP, argument, 0);
    power = vy_f2l(m, SpvOpFAdd, power, 1.0f);
    uint32_t two = vy_const_float(m, 2.0f), one = vy_const_float(m, 1.0f);
    uint32_t rest = vy_quotient(m, two, power);
    uint32_t value = vy_f2(m, SpvOpFSub, one, rest);
    uint32_t near = odd_polynomial(m, size, near_zero, VY_COUNT_OF(near_zero));
    uint32_t is_near = vy_b2l(m, SpvOpFOrdLessThan, size, 0.625f);
    value = vy_select_f(m, is_near, near, value);
    value = vy_replace_l(m, is_far, 1.0f, value);
    value = vy_with_sign(m, value, a);
    return vy_keep_nan(emitter, a, value);
}

/* ---- Inverse trigonometric functions --------------------------------------------------------- */

static const float asin_near[] = {4.2163199048e-2f, 2.4181311049e-2f, 4.5470025998e-2f,
                                  7.4953002686e-2f, 1.6666752422e-1f};

/* asin of |a| <= 1/2, else asin of sqrt((1 - |a|) / 2), from which the rest is made. */
static uint32_t asin_part(vy_emitter *emitter, uint32_t size, uint32_t is_far)
{
    vy_module *m = &emitter->module;
    uint32_t one = vy_const_float(m, 1.0f);
    uint32_t rest = vy_f2(m, SpvOpFSub, one, size);
    rest = vy_f2l(m, SpvOpFMul, rest, 0.5f);
    rest = native(m, GLSLstd450Sqrt, rest);
    uint32_t argument = vy_select_f(m, is_far, rest, size);
    return odd_polynomial(m, argument, asin_near, VY_COUNT_OF(asin_near));
}

static uint32_t within_one(vy_emitter *emitter, uint32_t a, uint32_t size, uint32_t value)
{
    vy_module *m = &emitter->module;
    uint32_t is_outside = vy_b2l(m, SpvOpFOrdGreaterThan, size, 1.0f);
    value = replace_bits(m, is_outside, VY_F32_NAN, value);
    return vy_keep_nan(emitter, a, value);
}

uint32_t vy_emit_asin(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t is_far = vy_b2l(m, SpvOpFOrdGreaterThan, size, 0.5f);
    uint32_t part = asin_part(emitter, size, is_far);
    uint32_t twice = vy_f2(m, SpvOpFAdd, part, part);
    uint32_t quarter = vy_const_float(m, 1.57079633f);
    uint32_t far = vy_f2(m, SpvOpFSub, quarter, twice);
    uint32_t value = vy_select_f(m, is_far, far, part);
    value = vy_with_sign(m, value, a);
    return within_one(emitter, a, size, value);
}

uint32_t vy_emit_acos(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t is_far = vy_b2l(m, SpvOpFOrdGreaterThan, size, 0.5f);
    uint32_t part = asin_part(emitter, size, is_far);
    uint32_t twice = vy_f2(m, SpvOpFAdd, part, part);
    uint32_t half_turn = vy_const_float(m, 3.14159265f), quarter = vy_const_float(m, 1.57079633f);
    uint32_t other = vy_f2(m, SpvOpFSub, half_turn, twice);
    uint32_t is_negative = vy_b2l(m, SpvOpFOrdLessThan, a, 0.0f);
    uint32_t far = vy_select_f(m, is_negative, other, twice);
    uint32_t signed_part = vy_with_sign(m, part, a);
    uint32_t near = vy_f2(m, SpvOpFSub, quarter, signed_part);
    uint32_t value = vy_select_f(m, is_far, far, near);
    return within_one(emitter, a, size, value);
}

/* tan(pi/8) and tan(3 pi/8) part three ranges; the outer two are turned into the first. */
uint32_t vy_emit_atan(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    static const float near_zero[] = {8.05374449538e-2f, -1.38776856032e-1f, 1.99777106478e-1f,
                                      -3.33329491539e-1f};
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t size = vy_magnitude(m, a);
    uint32_t is_middle = vy_b2l(m, SpvOpFOrdGreaterThan, size, 0.414213562f);
    uint32_t is_far = vy_b2l(m, SpvOpFOrdGreaterThan, size, 2.41421356f);
    uint32_t above = vy_f2l(m, SpvOpFSub, size, 1.0f);
    uint32_t below = vy_f2l(m, SpvOpFAdd, size, 1.0f);
    above = vy_replace_l(m, is_far, -1.0f, above);
    below = vy_select_f(m, is_far, size, below);
    /* A divisor in the range for which the error is bounded; beyond it only +-pi/2 is left. */
    uint32_t is_huge = vy_b2l(m, SpvOpFOrdGreaterThan, below, 0x1p100f);
    below = vy_replace_l(m, is_huge, 0x1p100f, below);
    uint32_t quotient = vy_quotient(m, above, below);
    uint32_t argument = vy_select_f(m, is_middle, quotient, size);
    uint32_t base = vy_select_l(m, is_middle, 0.785398163f, 0.0f);
    base = vy_replace_l(m, is_far, 1.57079633f, base);
    uint32_t part = odd_polynomial(m, argument, near_zero, VY_COUNT_OF(near_zero));
    uint32_t value = vy_f2(m, SpvOpFAdd, base, part);
    value = vy_with_sign(m, value, a);
    return vy_keep_nan(emitter, a, value);
}

/* a: the ordinate, b: the abscissa, as in C. */
uint32_t vy_emit_atan2(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    uint32_t y = vy_magnitude(m, a);
    uint32_t x = vy_magnitude(m, b);
    /* On bits, which have the order of magnitudes: a driver may take denormals for zero. */
    uint32_t y_bits = vy_bits_of(m, y);
    uint32_t x_bits = vy_bits_of(m, x);
    uint32_t is_steep = vy_b2(m, SpvOpUGreaterThan, y_bits, x_bits);
    uint32_t less = vy_select_f(m, is_steep, x, y);
    uint32_t more = vy_select_f(m, is_steep, y, x);
    uint32_t ratio = vy_helper_call(emitter, VY_HELPER_DIVIDE, less, more);
    uint32_t is_zero = vy_b2l(m, SpvOpFOrdEqual, more, 0.0f);
    ratio = vy_replace_l(m, is_zero, 0.0f, ratio);
    uint32_t is_infinite = vy_b2f(m, SpvOpFOrdEqual, less, VY_F32_INFINITY);
    ratio = vy_replace_l(m, is_infinite, 1.0f, ratio);
    uint32_t angle = vy_helper_call(emitter, VY_HELPER_ATAN, ratio, 0);
    uint32_t quarter = vy_const_float(m, 1.57079633f), half_turn = vy_const_float(m, 3.14159265f);
    uint32_t rest = vy_f2(m, SpvOpFSub, quarter, angle);
    angle = vy_select_f(m, is_steep, rest, angle);
    rest = vy_f2(m, SpvOpFSub, half_turn, angle);
    uint32_t b_bits = vy_bits_of(m, b);
    uint32_t is_left = vy_b2c(m, SpvOpSLessThan, b_bits, 0);
    angle = vy_select_f(m, is_left, rest, angle);
    angle = vy_with_sign(m, angle, a);
    angle = vy_keep_nan(emitter, a, angle);
    return vy_keep_nan(emitter, b, angle);
}
