/* The oracle of the conformance tests against plain C: all pairs of u8 and i8, all values of f16
 * and bf16, and the processor's own arithmetic for f32 and f64. */
#include "tests/conform/exact.h"
#include "tests/conform/oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const conform_mode plain_mode;

static uint64_t answer_of(vyre_op op, conform_id result, conform_id operand, uint64_t a, uint64_t b,
                          uint64_t c)
{
    uint64_t x[4] = {a, b, c, 0};
    conform_answer answer = conform_evaluate(op, result, operand, x, &plain_mode);
    assert_true(answer.kind != CONFORM_NO_ANSWER);
    return answer.bits;
}

static int clamped(int value, int least, int greatest)
{
    return value < least ? least : value > greatest ? greatest : value;
}

static void test_u8_gives_what_c_gives_for_all_pairs(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
#define CHECK(op, expected)                                                                        \
    assert_int_equal(answer_of(VYRE_OP_##op, CONFORM_U8, CONFORM_U8, a, b, 0), expected)
            CHECK(ADD, (a + b) & 255);
            CHECK(SUB, (a - b) & 255);
            CHECK(MUL, a * b & 255);
            CHECK(DIV, b ? a / b : 255);
            CHECK(REM, b ? a % b : 0);
            CHECK(MUL_HIGH, a * b >> 8);
            CHECK(ADD_SAT, a + b > 255 ? 255 : a + b);
            CHECK(SUB_SAT, a < b ? 0 : a - b);
            CHECK(MUL_SAT, a * b > 255 ? 255 : a * b);
            CHECK(ABS_DIFF, a < b ? b - a : a - b);
            CHECK(SHL, a << (b & 7) & 255);
            CHECK(SHR, a >> (b & 7));
            CHECK(ROTATE_LEFT, (a << (b & 7) | a >> (8 - (b & 7))) & 255);
            CHECK(ROTATE_RIGHT, (a >> (b & 7) | a << (8 - (b & 7))) & 255);
            CHECK(MIN, a < b ? a : b);
            CHECK(LT, a < b);
            CHECK(UNPACK_NIBBLE, b & 1 ? a >> 4 : a & 15);
#undef CHECK
        }
        assert_int_equal(answer_of(VYRE_OP_CLZ, CONFORM_U32, CONFORM_U8, a, 0, 0),
                         a ? __builtin_clz(a) - 24 : 8);
        assert_int_equal(answer_of(VYRE_OP_CTZ, CONFORM_U32, CONFORM_U8, a, 0, 0),
                         a ? __builtin_ctz(a) : 8);
    }
}

static void test_i8_gives_what_c_gives_for_all_pairs(void **state)
{
    (void)state;
    for (int a = -128; a < 128; a++) {
        for (int b = -128; b < 128; b++) {
#define CHECK(op, expected)                                                                        \
    assert_int_equal(answer_of(VYRE_OP_##op, CONFORM_I8, CONFORM_I8, (unsigned)a & 255u,           \
                               (unsigned)b & 255u, 0),                                             \
                     (unsigned)(expected)&255u)
            CHECK(ADD, a + b);
            CHECK(MUL, a * b);
            CHECK(DIV, b ? a / b : -1);
            CHECK(REM, b ? a % b : 0);
            CHECK(MUL_HIGH, a * b >> 8);
            CHECK(ADD_SAT, clamped(a + b, -128, 127));
            CHECK(SUB_SAT, clamped(a - b, -128, 127));
            CHECK(MUL_SAT, clamped(a * b, -128, 127));
            CHECK(ABS_DIFF, a < b ? b - a : a - b);
            CHECK(SHR, a >> (b & 7));
            CHECK(MAX, a < b ? b : a);
            CHECK(SIGN, (a > 0) - (a < 0));
            CHECK(ABS, a < 0 ? -a : a);
#undef CHECK
        }
    }
}

static void test_fields_are_cut_at_the_word(void **state)
{
    (void)state;
    assert_int_equal(answer_of(VYRE_OP_EXTRACT_BITS, CONFORM_I32, CONFORM_I32, 0x80000000u, 31, 9),
                     0xffffffffu);
    assert_int_equal(answer_of(VYRE_OP_EXTRACT_BITS, CONFORM_U32, CONFORM_U32, 0xabcd1234u, 8, 8),
                     0x12);
    assert_int_equal(answer_of(VYRE_OP_EXTRACT_BITS, CONFORM_U32, CONFORM_U32, 0xffffffffu, 99, 8),
                     0);
    uint64_t x[4] = {0x11111111, 0xff, 28, 99};
    assert_int_equal(
        conform_evaluate(VYRE_OP_INSERT_BITS, CONFORM_U32, CONFORM_U32, x, &plain_mode).bits,
        0xf1111111u);
    assert_int_equal(answer_of(VYRE_OP_DOT4, CONFORM_I32, CONFORM_I32, 0x80ff0102u, 0x80ff0304u, 0),
                     16384 + 1 + 3 + 8);
    assert_int_equal(
        answer_of(VYRE_OP_MUL_HIGH, CONFORM_I64, CONFORM_I64, 1ull << 63, 1ull << 63, 0),
        1ull << 62);
    assert_int_equal(answer_of(VYRE_OP_MUL_SAT, CONFORM_U64, CONFORM_U64, UINT64_MAX, 2, 0),
                     UINT64_MAX);
}

/* Nearest value of a 16-bit format by trying both neighbours: no rounding of MPFR's in it. */
static uint64_t nearest(conform_id id, double value)
{
    uint64_t sign = signbit(value) ? conform_sign_bit(id) : 0, best = 0;
    double limit = ldexp(1.0, conform_types[id].emax) -
                   ldexp(1.0, conform_types[id].emax - (int)conform_types[id].precision - 1);
    value = fabs(value);
    if (isnan(value)) {
        return conform_quiet_nan(id);
    }
    if (value >= limit) {
        return sign | conform_infinity(id);
    }
    uint64_t low = 0, high = conform_infinity(id) - 1;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        if (conform_to_double(id, middle) <= value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    best = low;
    if (low + 1 < conform_infinity(id)) {
        double below = value - conform_to_double(id, low);
        double above = conform_to_double(id, low + 1) - value;
        best = above < below || (above == below && (low & 1)) ? low + 1 : low;
    }
    return sign | best;
}

static void test_all_values_of_16_bit_floats_are_rounded_correctly(void **state)
{
    (void)state;
    static const conform_id formats[] = {CONFORM_F16, CONFORM_BF16};
    for (uint32_t f = 0; f < 2; f++) {
        conform_id id = formats[f];
        for (uint64_t bits = 0; bits < 0x10000; bits++) {
            double x = conform_to_double(id, bits);
            uint64_t other = bits * 40503u & 0xffff;
            double y = conform_to_double(id, other);
            assert_int_equal(conform_from_double(id, x),
                             conform_is_nan(id, bits) ? conform_quiet_nan(id) : bits);
#define CHECK(op, expected)                                                                        \
    assert_int_equal(answer_of(VYRE_OP_##op, id, id, bits, other, 0), expected)
            CHECK(FLOOR, nearest(id, floor(x)));
            CHECK(CEIL, nearest(id, ceil(x)));
            CHECK(TRUNC, nearest(id, trunc(x)));
            CHECK(ROUND, nearest(id, round(x)));
            CHECK(ROUND_EVEN, nearest(id, nearbyint(x)));
            CHECK(MUL, nearest(id, x * y));
            if (id == CONFORM_F16 || fabs(x) < 0x1p30) {
                CHECK(SQRT, nearest(id, sqrt(x)));
            }
            if (id == CONFORM_F16) {
                CHECK(ADD, nearest(id, x + y));
                CHECK(SUB, nearest(id, x - y));
                CHECK(DIV, nearest(id, x / y));
            }
#undef CHECK
            assert_int_equal(answer_of(VYRE_OP_CAST, CONFORM_I8, id, bits, 0, 0),
                             isnan(x) ? 0u : (unsigned)(int)fmax(-128, fmin(127, trunc(x))) & 255u);
        }
    }
}

static uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fc00000u : bits;
}

static uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7ff8000000000000u : bits;
}

static void test_f32_and_f64_are_the_processors(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (uint32_t i = 0; i < 50000; i++) {
        uint64_t a = random_bits(&seed), b = random_bits(&seed), c = random_bits(&seed);
        if (i % 2) { /* of like size, so that results are often denormal or cancel */
            b = a ^ (b & 0x00ffffff00ffffffu);
        }
        uint32_t a32 = (uint32_t)a, b32 = (uint32_t)b, c32 = (uint32_t)c;
        volatile float x, y, z;
        volatile double u, v, w;
        memcpy((void *)&x, &a32, 4);
        memcpy((void *)&y, &b32, 4);
        memcpy((void *)&z, &c32, 4);
        memcpy((void *)&u, &a, 8);
        memcpy((void *)&v, &b, 8);
        memcpy((void *)&w, &c, 8);
#define CHECK(op, single, wide)                                                                    \
    assert_int_equal(answer_of(VYRE_OP_##op, CONFORM_F32, CONFORM_F32, a32, b32, c32),             \
                     bits32(single));                                                              \
    assert_int_equal(answer_of(VYRE_OP_##op, CONFORM_F64, CONFORM_F64, a, b, c), bits64(wide))
        CHECK(ADD, x + y, u + v);
        CHECK(SUB, x - y, u - v);
        CHECK(MUL, x * y, u * v);
        CHECK(DIV, x / y, u / v);
        CHECK(SQRT, sqrtf(x), sqrt(u));
        CHECK(FMA, fmaf(x, y, z), fma(u, v, w));
        CHECK(FRACT, x - floorf(x), u - floor(u));
        CHECK(ROUND, roundf(x), round(u));
#undef CHECK
        assert_int_equal(answer_of(VYRE_OP_CAST, CONFORM_F32, CONFORM_F64, a, 0, 0),
                         bits32((float)u));
        assert_int_equal(answer_of(VYRE_OP_CAST, CONFORM_F32, CONFORM_I64, a, 0, 0),
                         bits32((float)(int64_t)a));
        assert_int_equal(answer_of(VYRE_OP_CAST, CONFORM_F64, CONFORM_U64, a, 0, 0),
                         bits64((double)a));
    }
}

static void test_denormals_are_flushed_where_told(void **state)
{
    (void)state;
    conform_mode mode = {.flushes = {[CONFORM_F32] = true}};
    uint64_t x[4] = {0x80000001u, 0x3f800000u, 0, 0};
    assert_int_equal(conform_evaluate(VYRE_OP_MUL, CONFORM_F32, CONFORM_F32, x, &mode).bits,
                     0x80000000u);
    assert_int_equal(conform_evaluate(VYRE_OP_FLOOR, CONFORM_F32, CONFORM_F32, x, &mode).bits,
                     0x80000000u);
    assert_int_equal(conform_evaluate(VYRE_OP_DIV, CONFORM_F32, CONFORM_F32, x, &mode).bits,
                     0x80000001u);
    assert_int_equal(conform_evaluate(VYRE_OP_FLOOR, CONFORM_F32, CONFORM_F32, x, &plain_mode).bits,
                     0xbf800000u);
}

static void test_tolerance_is_judged_at_its_edges(void **state)
{
    (void)state;
    uint64_t x[4] = {0x40000000u, 0, 0, 0}; /* exp2(2) = 4: 7 ulp of 2^-21 */
    conform_answer answer =
        conform_evaluate(VYRE_OP_EXP2, CONFORM_F32, CONFORM_F32, x, &plain_mode);
    assert_int_equal(answer.kind, CONFORM_WITHIN);
    assert_true(conform_accepts_device(&answer, CONFORM_F32, 0x40800000u + 7));
    assert_false(conform_accepts_device(&answer, CONFORM_F32, 0x40800000u + 8));
    assert_false(conform_accepts_device(&answer, CONFORM_F32, 0x7fc00000u));
    assert_true(conform_accepts_interp(&answer, CONFORM_F32, 0x40800001u));
    assert_false(conform_accepts_interp(&answer, CONFORM_F32, 0x40800002u));
    x[0] = 0x7f800000u;
    answer = conform_evaluate(VYRE_OP_SIN, CONFORM_F32, CONFORM_F32, x, &plain_mode);
    assert_int_equal(answer.kind, CONFORM_FREE);
    assert_int_equal(answer.bits, 0x7fc00000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u8_gives_what_c_gives_for_all_pairs),
        cmocka_unit_test(test_i8_gives_what_c_gives_for_all_pairs),
        cmocka_unit_test(test_fields_are_cut_at_the_word),
        cmocka_unit_test(test_all_values_of_16_bit_floats_are_rounded_correctly),
        cmocka_unit_test(test_f32_and_f64_are_the_processors),
        cmocka_unit_test(test_denormals_are_flushed_where_told),
        cmocka_unit_test(test_tolerance_is_judged_at_its_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
