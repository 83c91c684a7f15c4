/* sin, cos and tan of any finite argument. The argument is reduced to within +-pi/4 in integers
 * (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983), since the device's
 * own functions are bounded within +-pi only; on that interval the polynomials of emit_math.c's
 * source are used, so that results hardly depend on the device. */
#include "codegen/spirv/emit_math.h"

#define WINDOW_WORDS 4u
#define TABLE_WORDS  8u

/* The binary places of 1 / (2 pi), behind one word of zeros for arguments below 1. */
static const uint32_t turns_per_radian[TABLE_WORDS] = {0x00000000u, 0x28be60dbu, 0x9391054au,
                                                       0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u,
                                                       0x4f10e410u, 0x7f9458eau};

/* The four words from word `index` (0 to 4) of the table, chosen by the index's bits in turn. */
static void choose_words(vy_module *m, uint32_t index, uint32_t out[WINDOW_WORDS])
{
    uint32_t words[TABLE_WORDS];
    for (uint32_t i = 0; i < TABLE_WORDS; i++) {
        words[i] = vy_const_u32(m, turns_per_radian[i]);
    }
    uint32_t count = TABLE_WORDS - 1;
    for (uint32_t by = 4; by; by /= 2) {
        uint32_t bit = vy_u2c(m, SpvOpBitwiseAnd, index, by);
        uint32_t is_moved = vy_b2c(m, SpvOpINotEqual, bit, 0);
        for (uint32_t i = 0; i < count && i + by < TABLE_WORDS; i++) {
            words[i] = vy_select_u(m, is_moved, words[i + by], words[i]);
        }
        count = WINDOW_WORDS - 1 + by / 2;
    }
    for (uint32_t i = 0; i < WINDOW_WORDS; i++) {
        out[i] = words[i];
    }
}

/* 96 places of the table from place `place` on: what a power of two times 1 / (2 pi) has behind the
 * point. */
static void window_at(vy_module *m, uint32_t place, uint32_t out[3])
{
    uint32_t words[WINDOW_WORDS];
    uint32_t index = vy_u2c(m, SpvOpShiftRightLogical, place, 5);
    choose_words(m, index, words);
    uint32_t up = vy_u2c(m, SpvOpBitwiseAnd, place, 31);
    uint32_t down = vy_u2c(m, SpvOpBitwiseXor, up, 31); /* 31 - up */
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t high = vy_u2(m, SpvOpShiftLeftLogical, words[i], up);
        uint32_t low = vy_u2c(m, SpvOpShiftRightLogical, words[i + 1], 1);
        low = vy_u2(m, SpvOpShiftRightLogical, low, down);
        out[i] = vy_u2(m, SpvOpBitwiseOr, high, low);
    }
}

static uint32_t wide_product(vy_module *m, uint32_t a, uint32_t b)
{
    return vy_value(m, SpvOpUMulExtended, vy_type_u32_pair(m), VY_LIST(a, b));
}

typedef struct vy_wide {
    uint32_t high, low;
} vy_wide;

/* The first 64 places behind the point of mantissa * window. */
static vy_wide fraction_of(vy_module *m, uint32_t mantissa, const uint32_t window[3])
{
    vy_wide fraction;
    uint32_t type = vy_type_u32(m);
    uint32_t last = wide_product(m, mantissa, window[2]);
    last = vy_extract(m, type, last, 1);
    uint32_t middle = wide_product(m, mantissa, window[1]);
    uint32_t middle_low = vy_extract(m, type, middle, 0);
    uint32_t middle_high = vy_extract(m, type, middle, 1);
    uint32_t first = vy_u2(m, SpvOpIMul, mantissa, window[0]);
    fraction.low = vy_u2(m, SpvOpIAdd, middle_low, last);
    uint32_t carries = vy_b2(m, SpvOpULessThan, fraction.low, last);
    uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
    uint32_t carry = vy_select_u(m, carries, one, zero);
    fraction.high = vy_u2(m, SpvOpIAdd, first, middle_high);
    fraction.high = vy_u2(m, SpvOpIAdd, fraction.high, carry);
    return fraction;
}

/* A signed fraction of a turn, as an angle: its top 32 bits that count, scaled. */
static uint32_t angle_of(vy_module *m, vy_wide turn)
{
    uint32_t word = vy_type_u32(m), type = vy_type_f32(m);
    /* Magnitude: one's complement is off by 2^-64 of a turn. */
    uint32_t sign = vy_u2c(m, SpvOpShiftRightArithmetic, turn.high, 31);
    uint32_t high = vy_u2(m, SpvOpBitwiseXor, turn.high, sign);
    uint32_t low = vy_u2(m, SpvOpBitwiseXor, turn.low, sign);
    uint32_t msb = vy_glsl(m, GLSLstd450FindUMsb, word, high, 0);
    uint32_t top = vy_const_u32(m, 31);
    uint32_t free_bits = vy_u2(m, SpvOpISub, top, msb); /* 2 to 32 */
    uint32_t up = vy_glsl(m, GLSLstd450UMin, word, free_bits, top);
    uint32_t down = vy_u2(m, SpvOpISub, top, up);
    uint32_t moved = vy_u2(m, SpvOpShiftLeftLogical, high, up);
    uint32_t filled = vy_u2c(m, SpvOpShiftRightLogical, low, 1);
    filled = vy_u2(m, SpvOpShiftRightLogical, filled, down);
    uint32_t bits = vy_u2(m, SpvOpBitwiseOr, moved, filled);
    uint32_t number = vy_value(m, SpvOpConvertUToF, type, VY_LIST(bits));
    /* 2 pi * 2^-32, then 2^-up. */
    uint32_t bias = vy_const_u32(m, 127);
    uint32_t scale = vy_u2(m, SpvOpISub, bias, up);
    scale = vy_u2c(m, SpvOpShiftLeftLogical, scale, 23);
    scale = vy_f32_of(m, scale);
    number = vy_f2l(m, SpvOpFMul, number, 1.46291808e-9f);
    number = vy_f2(m, SpvOpFMul, number, scale);
    uint32_t angle = vy_bits_of(m, number);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_SIGN);
    return vy_u2(m, SpvOpBitwiseOr, angle, sign);
}

/* |a| = quadrant * pi/2 + angle, up to whole turns; the angle as bits. */
uint32_t vy_emit_reduce(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    uint32_t bits = vy_bits_of(m, a);
    bits = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    uint32_t exponent = vy_u2c(m, SpvOpShiftRightLogical, bits, 23);
    uint32_t mantissa = vy_u2c(m, SpvOpBitwiseAnd, bits, 0x7fffff);
    mantissa = vy_u2c(m, SpvOpBitwiseOr, mantissa, 0x800000);
    /* mantissa * 2^(exponent - 150), behind a word of 32 zeros. Below 2^-32 the place is wrong and
     * the result unused. */
    uint32_t place = vy_u2c(m, SpvOpISub, exponent, 150 - 32);
    uint32_t window[3];
    window_at(m, place, window);
    vy_wide turn = fraction_of(m, mantissa, window);
    uint32_t quadrant = vy_u2c(m, SpvOpIAdd, turn.high, 0x20000000);
    quadrant = vy_u2c(m, SpvOpShiftRightLogical, quadrant, 30);
    uint32_t whole = vy_u2c(m, SpvOpShiftLeftLogical, quadrant, 30);
    turn.high = vy_u2(m, SpvOpISub, turn.high, whole);
    uint32_t angle = angle_of(m, turn);
    uint32_t is_small = vy_b2c(m, SpvOpULessThanEqual, bits, 0x3f490fdbu /* pi/4 */);
    uint32_t zero = vy_const_u32(m, 0);
    angle = vy_select_u(m, is_small, bits, angle);
    quadrant = vy_select_u(m, is_small, zero, quadrant);
    return vy_value(m, SpvOpCompositeConstruct, vy_type_u32_vector(m, 2), VY_LIST(angle, quadrant));
}

typedef struct vy_reduced {
    uint32_t sine, cosine; /* of the angle */
    uint32_t quadrant;
} vy_reduced;

static vy_reduced reduced(vy_emitter *emitter, uint32_t a)
{
    static const float sine[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    static const float cosine[] = {2.443315711809948e-5f, -1.388731625493765e-3f,
                                   4.166664568298827e-2f};
    vy_module *m = &emitter->module;
    vy_reduced result;
    uint32_t both = vy_helper_call(emitter, VY_HELPER_REDUCE, a, 0);
    uint32_t word = vy_type_u32(m);
    uint32_t angle = vy_extract(m, word, both, 0);
    result.quadrant = vy_extract(m, word, both, 1);
    angle = vy_f32_of(m, angle);
    uint32_t z = vy_f2(m, SpvOpFMul, angle, angle);
    uint32_t sum = vy_polynomial(m, z, sine, VY_COUNT_OF(sine));
    sum = vy_f2(m, SpvOpFMul, sum, z);
    sum = vy_f2(m, SpvOpFMul, sum, angle);
    result.sine = vy_f2(m, SpvOpFAdd, sum, angle);
    sum = vy_polynomial(m, z, cosine, VY_COUNT_OF(cosine));
    sum = vy_f2(m, SpvOpFMul, sum, z);
    sum = vy_f2(m, SpvOpFMul, sum, z);
    uint32_t half = vy_f2l(m, SpvOpFMul, z, 0.5f);
    sum = vy_f2(m, SpvOpFSub, sum, half);
    result.cosine = vy_f2l(m, SpvOpFAdd, sum, 1.0f);
    return result;
}

static uint32_t is_odd(vy_module *m, uint32_t quadrant)
{
    uint32_t low = vy_u2c(m, SpvOpBitwiseAnd, quadrant, 1);
    return vy_b2c(m, SpvOpINotEqual, low, 0);
}

/* The value with its sign turned where bit 1 of `quadrant` is set. */
static uint32_t turned(vy_module *m, uint32_t value, uint32_t quadrant)
{
    uint32_t sign = vy_u2c(m, SpvOpShiftLeftLogical, quadrant, 30);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_SIGN);
    uint32_t bits = vy_bits_of(m, value);
    bits = vy_u2(m, SpvOpBitwiseXor, bits, sign);
    return vy_f32_of(m, bits);
}

/* Turns the sign of an odd function's value where a's is set. */
static uint32_t as_odd(vy_module *m, uint32_t value, uint32_t a)
{
    uint32_t sign = vy_bits_of(m, a);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_SIGN);
    uint32_t bits = vy_bits_of(m, value);
    bits = vy_u2(m, SpvOpBitwiseXor, bits, sign);
    return vy_f32_of(m, bits);
}

/* NaN for infinities and NaNs. */
static uint32_t finite_only(vy_module *m, uint32_t a, uint32_t value)
{
    uint32_t bits = vy_bits_of(m, a);
    bits = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    uint32_t is_none = vy_b2c(m, SpvOpUGreaterThanEqual, bits, VY_F32_INFINITY);
    uint32_t nan = vy_const_f32(m, VY_F32_NAN);
    return vy_select_f(m, is_none, nan, value);
}

uint32_t vy_emit_sin(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    vy_reduced r = reduced(emitter, a);
    uint32_t odd = is_odd(m, r.quadrant);
    uint32_t value = vy_select_f(m, odd, r.cosine, r.sine);
    value = turned(m, value, r.quadrant);
    value = as_odd(m, value, a);
    return finite_only(m, a, value);
}

uint32_t vy_emit_cos(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    vy_reduced r = reduced(emitter, a);
    uint32_t odd = is_odd(m, r.quadrant);
    uint32_t value = vy_select_f(m, odd, r.sine, r.cosine);
    uint32_t next = vy_u2c(m, SpvOpIAdd, r.quadrant, 1);
    value = turned(m, value, next);
    return finite_only(m, a, value);
}

uint32_t vy_emit_tan(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    (void)b;
    vy_reduced r = reduced(emitter, a);
    uint32_t odd = is_odd(m, r.quadrant);
    uint32_t above = vy_select_f(m, odd, r.cosine, r.sine);
    uint32_t below = vy_select_f(m, odd, r.sine, r.cosine);
    uint32_t value = vy_quotient(m, above, below);
    uint32_t twice = vy_u2c(m, SpvOpShiftLeftLogical, r.quadrant, 1);
    value = turned(m, value, twice);
    value = as_odd(m, value, a);
    return finite_only(m, a, value);
}
