/* What the emitted words compute for f32: exact operators bit for bit against C's double
 * arithmetic, which rounds + - * / and sqrt of f32 operands the same as one rounding would;
 * functions with a tolerance against libm's double functions, within Vulkan's bounds. */
#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>

static const uint32_t edges[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x00800001, 0x807fffff,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x40000000, 0x40400000, 0xc0a00000,
    0x4b000000, 0x4b000001, 0x4b7fffff, 0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x4f800000,
    0x4f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
    0x3fc00000, 0xbfc00000, 0x3effffff, 0x40200000, 0xbf000000, 0x00400000, 0x00000002, 0x7e800000};

/* Half random bits, half with exponents near 1, where quotients meet. */
static uint32_t random_f32(uint64_t *seed)
{
    uint32_t bits = next_random(seed);
    return next_random(seed) & 1 ? bits : (bits & 0x807fffffu) | (120 + (bits >> 8) % 16) << 23;
}

static void check_pair(bench *b, double (*expect)(double, double), uint32_t x, uint32_t y)
{
    uint32_t wanted = bits_of((float)expect((double)float_of(x), (double)float_of(y)));
    uint32_t got = bench_run(b, x, y, 0, 0);
    if (!is_same_f32(got, wanted)) {
        fail_msg("%08x %08x gives %08x, not %08x", x, y, got, wanted);
    }
}

/* Turns the device's own division and square root on. */
static void choose_native(bench *b)
{
    for (uint32_t id = VY_SPEC_NATIVE_DIVIDE; id <= VY_SPEC_NATIVE_SQRT; id++) {
        b->machine.spec[id] = 1;
        b->machine.has_spec[id] = true;
    }
}

static void check_all(bench *b, double (*expect)(double, double), uint32_t operands,
                      uint32_t random_count)
{
    uint64_t seed = 20240607;
    for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
        for (size_t k = 0; k < (operands > 1 ? VY_COUNT_OF(edges) : 1); k++) {
            check_pair(b, expect, edges[i], edges[k]);
        }
    }
    for (uint32_t i = 0; i < random_count; i++) {
        uint32_t x = random_f32(&seed);
        check_pair(b, expect, x, random_f32(&seed));
    }
}

static void check_many(vyre_op op, double (*expect)(double, double), uint32_t operands,
                       uint32_t random_count, int sqrt_error)
{
    bench b;
    bench_init(&b, op, VYRE_TYPE_F32, VYRE_TYPE_F32, operands);
    b.machine.sqrt_error = sqrt_error;
    check_all(&b, expect, operands, random_count);
    bench_finish(&b);
}

static double quotient(double x, double y)
{
    return x / y;
}

static double root(double x, double y)
{
    (void)y;
    return sqrt(x);
}

static double sum(double x, double y)
{
    return x + y;
}

static double product(double x, double y)
{
    return x * y;
}

static double absolute_difference(double x, double y)
{
    return fabs(x - y);
}

static double fraction(double x, double y)
{
    (void)y;
    return x - floor(x);
}

static double rounded(double x, double y)
{
    (void)y;
    return copysign(round(x), x);
}

static double rounded_even(double x, double y)
{
    (void)y;
    return rint(x);
}

static double below(double x, double y)
{
    (void)y;
    return floor(x);
}

static double above(double x, double y)
{
    (void)y;
    return ceil(x);
}

static double whole(double x, double y)
{
    (void)y;
    return trunc(x);
}

static void test_division_is_correctly_rounded(void **state)
{
    (void)state;
    check_many(VYRE_OP_DIV, quotient, 2, 60000, 0);
}

/* Every quotient of two small denormals and of mantissas around a power of two. */
static void test_division_near_ties(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, VYRE_OP_DIV, VYRE_TYPE_F32, VYRE_TYPE_F32, 2);
    for (uint32_t x = 1; x < 40; x++) {
        for (uint32_t y = 1; y < 40; y++) {
            check_pair(&b, quotient, x, 0x3f800000 + (y << 18)); /* denormal results */
            check_pair(&b, quotient, x, y);
            check_pair(&b, quotient, 0x00800000 + x, 0x40000000 + y); /* around the least normal */
            check_pair(&b, quotient, 0x7f000000 + (x << 17), 0x3f000000 + y);
        }
    }
    bench_finish(&b);
}

static void test_division_by_a_literal_is_correctly_rounded(void **state)
{
    static const uint32_t literals[] = {0x40000000, 0xc0800000, 0x40400000, 0x00000001, 0x7e800000,
                                        0x00800000, 0x7f000000, 0x00000000, 0x7f800000};
    (void)state;
    for (size_t k = 0; k < VY_COUNT_OF(literals); k++) {
        bench b;
        bench_init_literal(&b, VYRE_OP_DIV, VYRE_TYPE_F32, literals[k]);
        for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
            check_pair(&b, quotient, edges[i], literals[k]);
        }
        bench_finish(&b);
    }
}

static void test_sqrt_is_correctly_rounded(void **state)
{
    (void)state;
    check_many(VYRE_OP_SQRT, root, 1, 60000, 0);
}

/* Vulkan's Sqrt may be off by some units: the correction has to take it. */
static void test_sqrt_forgives_the_device(void **state)
{
    static const int errors[] = {-58, -6, -1, 1, 5, 58};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(errors); i++) {
        check_many(VYRE_OP_SQRT, root, 1, 8000, errors[i]);
    }
}

/* By far fewer instructions, so it is not the other way that ran. */
static void test_native_division_and_sqrt_give_the_same_bits(void **state)
{
    static const struct {
        vyre_op op;
        double (*expect)(double, double);
        uint32_t operands;
    } rows[] = {{VYRE_OP_DIV, quotient, 2}, {VYRE_OP_SQRT, root, 1}};
    (void)state;
    for (size_t row = 0; row < VY_COUNT_OF(rows); row++) {
        bench exact, native;
        bench_init(&exact, rows[row].op, VYRE_TYPE_F32, VYRE_TYPE_F32, rows[row].operands);
        bench_init(&native, rows[row].op, VYRE_TYPE_F32, VYRE_TYPE_F32, rows[row].operands);
        choose_native(&native);
        check_all(&native, rows[row].expect, rows[row].operands, 5000);
        for (size_t i = 0; i < VY_COUNT_OF(edges) * VY_COUNT_OF(edges); i++) {
            uint32_t x = edges[i % VY_COUNT_OF(edges)], y = edges[i / VY_COUNT_OF(edges)];
            assert_int_equal(bench_run(&native, x, y, 0, 0), bench_run(&exact, x, y, 0, 0));
            assert_true(native.machine.steps + 30 < exact.machine.steps);
        }
        bench_finish(&exact);
        bench_finish(&native);
    }
}

/* One that is wrong shows: the words use it only where they are told to. */
static void test_native_sqrt_is_used_where_it_is_chosen_alone(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, VYRE_OP_SQRT, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
    b.machine.sqrt_error = 3;
    assert_int_equal(bench_run(&b, bits_of(4.0f), 0, 0, 0), bits_of(2.0f));
    choose_native(&b);
    assert_int_equal(bench_run(&b, bits_of(4.0f), 0, 0, 0), bits_of(2.0f) + 3);
    b.machine.spec[VY_SPEC_NATIVE_SQRT] = 0;
    assert_int_equal(bench_run(&b, bits_of(4.0f), 0, 0, 0), bits_of(2.0f));
    bench_finish(&b);
}

static void test_exact_operators_match_c(void **state)
{
    (void)state;
    check_many(VYRE_OP_ADD, sum, 2, 3000, 0);
    check_many(VYRE_OP_MUL, product, 2, 3000, 0);
    check_many(VYRE_OP_ABS_DIFF, absolute_difference, 2, 3000, 0);
    check_many(VYRE_OP_FRACT, fraction, 1, 3000, 0);
    check_many(VYRE_OP_ROUND, rounded, 1, 5000, 0);
    check_many(VYRE_OP_ROUND_EVEN, rounded_even, 1, 5000, 0);
    check_many(VYRE_OP_FLOOR, below, 1, 5000, 0);
    check_many(VYRE_OP_CEIL, above, 1, 5000, 0);
    check_many(VYRE_OP_TRUNC, whole, 1, 5000, 0);
}

/* The order -0 < +0, NaN last; written as the language has it. */
static uint32_t lesser(uint32_t a, uint32_t b, bool is_max)
{
    float x = float_of(a), y = float_of(b);
    if (isnan(x) || isnan(y)) {
        return isnan(x) ? b : a;
    }
    if (x == y) {
        return is_max ? a & b : a | b;
    }
    return (x < y) != is_max ? a : b;
}

static void test_extremes_prefer_numbers_and_order_zeros(void **state)
{
    (void)state;
    bench min, max, clamp;
    bench_init(&min, VYRE_OP_MIN, VYRE_TYPE_F32, VYRE_TYPE_F32, 2);
    bench_init(&max, VYRE_OP_MAX, VYRE_TYPE_F32, VYRE_TYPE_F32, 2);
    bench_init(&clamp, VYRE_OP_CLAMP, VYRE_TYPE_F32, VYRE_TYPE_F32, 3);
    for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
        for (size_t k = 0; k < VY_COUNT_OF(edges); k++) {
            uint32_t a = edges[i], b = edges[k];
            assert_true(is_same_f32(bench_run(&min, a, b, 0, 0), lesser(a, b, false)));
            assert_true(is_same_f32(bench_run(&max, a, b, 0, 0), lesser(a, b, true)));
            uint32_t wanted = lesser(lesser(a, b, true), 0x40000000, false);
            assert_true(is_same_f32(bench_run(&clamp, a, b, 0x40000000, 0), wanted));
        }
    }
    bench_finish(&min);
    bench_finish(&max);
    bench_finish(&clamp);
}

static bool compare_c(vyre_op op, float x, float y)
{
    switch ((int)op) {
    case VYRE_OP_EQ:
        return x == y;
    case VYRE_OP_NE:
        return x != y;
    case VYRE_OP_LT:
        return x < y;
    case VYRE_OP_LE:
        return x <= y;
    case VYRE_OP_GT:
        return x > y;
    case VYRE_OP_GE:
        return x >= y;
    case VYRE_OP_IS_NAN:
        return isnan(x);
    case VYRE_OP_IS_INF:
        return isinf(x);
    case VYRE_OP_CAST:
        return x != 0.0f;
    default:
        return isfinite(x);
    }
}

static void test_comparisons_and_tests_match_c(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_EQ,        VYRE_OP_NE,  VYRE_OP_LT,     VYRE_OP_LE,
                                  VYRE_OP_GT,        VYRE_OP_GE,  VYRE_OP_IS_NAN, VYRE_OP_IS_INF,
                                  VYRE_OP_IS_FINITE, VYRE_OP_CAST};
    (void)state;
    for (size_t row = 0; row < VY_COUNT_OF(ops); row++) {
        bench b;
        uint32_t operands = ops[row] <= VYRE_OP_GE ? 2 : 1;
        bench_init(&b, ops[row], VYRE_TYPE_F32, VYRE_TYPE_BOOL, operands);
        for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
            for (size_t k = 0; k < VY_COUNT_OF(edges); k++) {
                bool wanted = compare_c(ops[row], float_of(edges[i]), float_of(edges[k]));
                assert_int_equal(bench_run(&b, edges[i], edges[k], 0, 0), wanted);
            }
        }
        bench_finish(&b);
    }
}

static uint32_t sign_c(uint32_t bits)
{
    float x = float_of(bits);
    return x > 0.0f ? bits_of(1.0f) : x < 0.0f ? bits_of(-1.0f) : 0;
}

static void test_signs_are_handled_on_bits(void **state)
{
    (void)state;
    bench negate, absolute, sign, copysign_;
    bench_init(&negate, VYRE_OP_NEGATE, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
    bench_init(&absolute, VYRE_OP_ABS, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
    bench_init(&sign, VYRE_OP_SIGN, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
    bench_init(&copysign_, VYRE_OP_COPYSIGN, VYRE_TYPE_F32, VYRE_TYPE_F32, 2);
    for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
        uint32_t a = edges[i], b = edges[(i * 7 + 3) % VY_COUNT_OF(edges)];
        assert_int_equal(bench_run(&negate, a, 0, 0, 0), a ^ 0x80000000u);
        assert_int_equal(bench_run(&absolute, a, 0, 0, 0), a & 0x7fffffffu);
        assert_int_equal(bench_run(&sign, a, 0, 0, 0), sign_c(a));
        uint32_t wanted = (a & 0x7fffffffu) | (b & 0x80000000u);
        assert_int_equal(bench_run(&copysign_, a, b, 0, 0), wanted);
    }
    bench_finish(&negate);
    bench_finish(&absolute);
    bench_finish(&sign);
    bench_finish(&copysign_);
}

static uint32_t to_unsigned_c(double x)
{
    return !(x > 0) ? 0 : x >= 4294967296.0 ? UINT32_MAX : (uint32_t)x;
}

static uint32_t to_signed_c(double x)
{
    if (isnan(x)) {
        return 0;
    }
    return x >= 2147483647.0    ? 0x7fffffffu
           : x <= -2147483648.0 ? 0x80000000u
                                : (uint32_t)(int64_t)x;
}

static void test_casts_saturate(void **state)
{
    (void)state;
    uint64_t seed = 7;
    bench to_u, to_i, from_u, from_i;
    bench_init(&to_u, VYRE_OP_CAST, VYRE_TYPE_F32, VYRE_TYPE_U32, 1);
    bench_init(&to_i, VYRE_OP_CAST, VYRE_TYPE_F32, VYRE_TYPE_I32, 1);
    bench_init(&from_u, VYRE_OP_CAST, VYRE_TYPE_U32, VYRE_TYPE_F32, 1);
    bench_init(&from_i, VYRE_OP_CAST, VYRE_TYPE_I32, VYRE_TYPE_F32, 1);
    for (size_t i = 0; i < 3000; i++) {
        uint32_t a = i < VY_COUNT_OF(edges) ? edges[i] : random_f32(&seed);
        double x = (double)float_of(a);
        assert_int_equal(bench_run(&to_u, a, 0, 0, 0), to_unsigned_c(x));
        assert_int_equal(bench_run(&to_i, a, 0, 0, 0), to_signed_c(x));
        assert_int_equal(bench_run(&from_u, a, 0, 0, 0), bits_of((float)a));
        assert_int_equal(bench_run(&from_i, a, 0, 0, 0), bits_of((float)(int32_t)a));
    }
    bench_finish(&to_u);
    bench_finish(&to_i);
    bench_finish(&from_u);
    bench_finish(&from_i);
}

/* ---- Functions with a tolerance -------------------------------------------------------------- */

static double rsqrt_c(double x)
{
    return 1.0 / sqrt(x);
}

static double reciprocal_c(double x)
{
    return 1.0 / x;
}

static const struct {
    vyre_op op;
    double (*exact)(double);
    float low, high;
    double ulp, absolute;
} functions[] = {
    {VYRE_OP_RSQRT, rsqrt_c, 0.0f, FLT_MAX, 2, 0},
    {VYRE_OP_RECIPROCAL, reciprocal_c, -FLT_MAX, FLT_MAX, 2.5, 0},
    {VYRE_OP_EXP, exp, -110.0f, 89.0f, 130, 0},
    {VYRE_OP_EXP2, exp2, -151.0f, 129.0f, 3, 0},
    {VYRE_OP_LOG, log, 0.0f, FLT_MAX, 3, 0x1p-21},
    {VYRE_OP_LOG2, log2, 0.0f, FLT_MAX, 3, 0x1p-21},
    {VYRE_OP_SIN, sin, -4.0f, 4.0f, 0, 0x1p-22},
    {VYRE_OP_COS, cos, -4.0f, 4.0f, 0, 0x1p-22},
    {VYRE_OP_SIN, sin, -FLT_MAX, FLT_MAX, 0, 0x1p-22},
    {VYRE_OP_COS, cos, -FLT_MAX, FLT_MAX, 0, 0x1p-22},
    {VYRE_OP_TAN, tan, -4.0f, 4.0f, 8, 0},
    {VYRE_OP_TAN, tan, -FLT_MAX, FLT_MAX, 8, 0},
    {VYRE_OP_ASIN, asin, -1.0f, 1.0f, 8, 0},
    {VYRE_OP_ACOS, acos, -1.0f, 1.0f, 8, 0},
    {VYRE_OP_ATAN, atan, -FLT_MAX, FLT_MAX, 8, 0},
    {VYRE_OP_ATAN, atan, -4.0f, 4.0f, 8, 0},
    {VYRE_OP_SINH, sinh, -90.0f, 90.0f, 170, 0x1p-149},
    {VYRE_OP_COSH, cosh, -90.0f, 90.0f, 170, 0},
    {VYRE_OP_TANH, tanh, -15.0f, 15.0f, 8, 0x1p-22},
};

/* Distance to the exact value in units of the last place of an f32 there. */
static double ulps(double exact, double got)
{
    if (isnan(exact) || isinf(exact) || isinf(got) || isnan(got)) {
        float narrow = (float)exact;
        return (isnan(narrow) && isnan(got)) || (double)narrow == got ? 0.0 : HUGE_VAL;
    }
    int exponent = 0;
    (void)frexp(exact, &exponent);
    int least = exponent - 24 < -149 ? -149 : exponent - 24;
    return fabs(exact - got) / ldexp(1.0, least);
}

static void check_near(double exact, uint32_t got, double ulp, double absolute, uint32_t x,
                       vyre_op op)
{
    double value = (double)float_of(got);
    if (ulps(exact, value) > ulp + 0.5 && !(fabs(exact - value) <= absolute)) {
        fail_msg("op %d of %08x (%g) gives %.9g, not %.9g", (int)op, x, (double)float_of(x), value,
                 exact);
    }
}

static void test_functions_are_within_bounds(void **state)
{
    (void)state;
    for (size_t row = 0; row < VY_COUNT_OF(functions); row++) {
        bench b;
        uint64_t seed = row;
        float low = functions[row].low, high = functions[row].high;
        bench_init(&b, functions[row].op, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
        for (uint32_t i = 0; i < 4000; i++) {
            uint32_t x = random_f32(&seed);
            if (high < 1000.0f && i % 2) {
                x = bits_of(low + (high - low) * (float)(next_random(&seed) >> 8) * 0x1p-24f);
            }
            if (!(float_of(x) >= low && float_of(x) <= high)) {
                continue;
            }
            check_near(functions[row].exact((double)float_of(x)), bench_run(&b, x, 0, 0, 0),
                       functions[row].ulp, functions[row].absolute, x, functions[row].op);
        }
        bench_finish(&b);
    }
}

/* NaN, infinities, zeros and arguments outside: exactly what C gives. */
static void test_functions_have_cs_special_values(void **state)
{
    static const uint32_t specials[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                        0xbf800000, 0x40000000, 0xc0000000, 0x00000001, 0x80000001,
                                        0x7f7fffff, 0xff7fffff, 0x3f800000};
    (void)state;
    for (size_t row = 0; row < VY_COUNT_OF(functions); row++) {
        bench b;
        bench_init(&b, functions[row].op, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
        for (size_t i = 0; i < VY_COUNT_OF(specials); i++) {
            double exact = functions[row].exact((double)float_of(specials[i]));
            uint32_t got = bench_run(&b, specials[i], 0, 0, 0);
            check_near(exact, got, functions[row].ulp, functions[row].absolute, specials[i],
                       functions[row].op);
            if (exact == 0.0) {
                assert_int_equal(got, bits_of((float)exact)); /* the zero's sign too */
            }
        }
        bench_finish(&b);
    }
}

/* The arguments that lie nearest to multiples of pi/2: only a long reduction gives the few bits
 * that are left. 16367173 * 2^72 is the nearest of all. */
static void test_trigonometry_near_multiples_of_a_quarter_turn(void **state)
{
    static const float hard[] = {16367173.0f * 0x1p72f,
                                 1.57079637f,
                                 3.14159274f,
                                 4.71238899f,
                                 6.28318548f,
                                 11.0f,
                                 22.0f,
                                 355.0f,
                                 710.0f,
                                 103993.0f,
                                 FLT_MAX,
                                 0x1p100f,
                                 0x1p-30f,
                                 1e-40f};
    static const vyre_op ops[3] = {VYRE_OP_SIN, VYRE_OP_COS, VYRE_OP_TAN};
    static double (*const exact[3])(double) = {sin, cos, tan};
    (void)state;
    for (uint32_t row = 0; row < 3; row++) {
        bench b;
        bench_init(&b, ops[row], VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
        for (size_t i = 0; i < VY_COUNT_OF(hard) * 2; i++) {
            uint32_t x = bits_of(i & 1 ? -hard[i / 2] : hard[i / 2]);
            check_near(exact[row]((double)float_of(x)), bench_run(&b, x, 0, 0, 0), 8, 0, x,
                       ops[row]);
        }
        bench_finish(&b);
    }
}

static void test_pow_matches_c(void **state)
{
    static const float values[] = {0.0f,        -0.0f,       1.0f,      -1.0f,  2.0f,   -2.0f,
                                   3.0f,        -3.0f,       0.5f,      -0.5f,  1.5f,   -2.5f,
                                   16777216.0f, 16777215.0f, 1e30f,     1e-30f, 1e-42f, -1e-42f,
                                   100.0f,      INFINITY,    -INFINITY, NAN};
    (void)state;
    bench b;
    bench_init(&b, VYRE_OP_POW, VYRE_TYPE_F32, VYRE_TYPE_F32, 2);
    for (size_t i = 0; i < VY_COUNT_OF(values) * VY_COUNT_OF(values); i++) {
        float x = values[i % VY_COUNT_OF(values)], y = values[i / VY_COUNT_OF(values)];
        double exact = pow((double)x, (double)y);
        uint32_t got = bench_run(&b, bits_of(x), bits_of(y), 0, 0);
        double exponent = fabs((double)y * log2(fabs((double)x)));
        double bound = isfinite(exponent) ? 4.0 + 2.0 * exponent : 0.0;
        check_near(exact, got, bound, 0, bits_of(x), VYRE_OP_POW);
        if (exact == 0.0) {
            assert_int_equal(got, bits_of((float)exact));
        }
    }
    bench_finish(&b);
}

static void test_atan2_matches_c(void **state)
{
    (void)state;
    bench b;
    uint64_t seed = 99;
    bench_init(&b, VYRE_OP_ATAN2, VYRE_TYPE_F32, VYRE_TYPE_F32, 2);
    for (size_t i = 0; i < VY_COUNT_OF(edges) * VY_COUNT_OF(edges) + 3000; i++) {
        uint32_t y = random_f32(&seed), x = random_f32(&seed);
        if (i < VY_COUNT_OF(edges) * VY_COUNT_OF(edges)) {
            y = edges[i % VY_COUNT_OF(edges)];
            x = edges[i / VY_COUNT_OF(edges)];
        }
        double exact = atan2((double)float_of(y), (double)float_of(x));
        uint32_t got = bench_run(&b, y, x, 0, 0);
        check_near(exact, got, 8, 0, y, VYRE_OP_ATAN2);
        if (exact == 0.0) {
            assert_int_equal(got, bits_of((float)exact));
        }
    }
    bench_finish(&b);
}

static void test_canonical_nan_replaces_nans_only(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, (vyre_op)VY_SSA_CANONICAL_NAN, VYRE_TYPE_F32, VYRE_TYPE_F32, 1);
    for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
        uint32_t wanted = isnan(float_of(edges[i])) ? 0x7fc00000u : edges[i];
        assert_int_equal(bench_run(&b, edges[i], 0, 0, 0), wanted);
    }
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_division_is_correctly_rounded),
        cmocka_unit_test(test_division_near_ties),
        cmocka_unit_test(test_division_by_a_literal_is_correctly_rounded),
        cmocka_unit_test(test_sqrt_is_correctly_rounded),
        cmocka_unit_test(test_sqrt_forgives_the_device),
        cmocka_unit_test(test_native_division_and_sqrt_give_the_same_bits),
        cmocka_unit_test(test_native_sqrt_is_used_where_it_is_chosen_alone),
        cmocka_unit_test(test_exact_operators_match_c),
        cmocka_unit_test(test_extremes_prefer_numbers_and_order_zeros),
        cmocka_unit_test(test_comparisons_and_tests_match_c),
        cmocka_unit_test(test_signs_are_handled_on_bits),
        cmocka_unit_test(test_casts_saturate),
        cmocka_unit_test(test_functions_are_within_bounds),
        cmocka_unit_test(test_functions_have_cs_special_values),
        cmocka_unit_test(test_trigonometry_near_multiples_of_a_quarter_turn),
        cmocka_unit_test(test_pow_matches_c),
        cmocka_unit_test(test_atan2_matches_c),
        cmocka_unit_test(test_canonical_nan_replaces_nans_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
