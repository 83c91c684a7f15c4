/* f16, f64 and fma on the device, against C, and casts between all scalar types. f16 is judged in
 * f64, which rounds its operations as one rounding would; fma of f16 by exact integers. */
#include "batch.h"

#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

#define VALUES 128u
#define PAIRS  (VALUES * VALUES)

static gpu *device;

static void judge(const batch *b, const uint64_t *out, uint32_t i, uint64_t wanted)
{
    bool is_same = vy_type_is_float(b->result) ? batch_same_float(b->result, out[i], wanted)
                                               : out[i] == wanted;
    if (!is_same) {
        fail_msg("%s of %s to %s: 0x%llx 0x%llx 0x%llx gives 0x%llx, not 0x%llx",
                 vy_op_get(b->op)->name, vyre_type_keyword(b->types[0]),
                 vyre_type_keyword(b->result), (unsigned long long)b->operands[0][i],
                 b->operand_count > 1 ? (unsigned long long)b->operands[1][i] : 0ull,
                 b->operand_count > 2 ? (unsigned long long)b->operands[2][i] : 0ull,
                 (unsigned long long)out[i], (unsigned long long)wanted);
    }
}

/* ---- Expectations, on doubles ---------------------------------------------------------------- */

static double extreme(double a, double b, bool is_min)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    if (a == b) {
        return signbit(a) == is_min ? a : b;
    }
    return (a < b) == is_min ? a : b;
}

static double away(double a)
{
    double whole = trunc(a);
    return copysign(fabs(a - whole) >= 0.5 ? whole + copysign(1, a) : whole, a);
}

static double expect(vyre_op op, double a, double b)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
        return a + b;
    case VYRE_OP_SUB:
        return a - b;
    case VYRE_OP_MUL:
        return a * b;
    case VYRE_OP_DIV:
        return a / b;
    case VYRE_OP_SQRT:
        return sqrt(a);
    case VYRE_OP_MIN:
        return extreme(a, b, true);
    case VYRE_OP_MAX:
        return extreme(a, b, false);
    case VYRE_OP_ABS_DIFF:
        return fabs(a - b);
    case VYRE_OP_NEGATE:
        return -a;
    case VYRE_OP_ABS:
        return fabs(a);
    case VYRE_OP_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case VYRE_OP_COPYSIGN:
        return copysign(a, b);
    case VYRE_OP_FLOOR:
        return copysign(floor(a), a);
    case VYRE_OP_CEIL:
        return copysign(ceil(a), a);
    case VYRE_OP_TRUNC:
        return trunc(a);
    case VYRE_OP_ROUND:
        return away(a);
    case VYRE_OP_ROUND_EVEN:
        return nearbyint(a);
    default:
        return a - floor(a);
    }
}

static bool expect_bool(vyre_op op, double a, double b)
{
    switch ((int)op) {
    case VYRE_OP_EQ:
        return a == b;
    case VYRE_OP_NE:
        return a != b;
    case VYRE_OP_LT:
        return a < b;
    case VYRE_OP_LE:
        return a <= b;
    case VYRE_OP_GT:
        return a > b;
    case VYRE_OP_GE:
        return a >= b;
    case VYRE_OP_IS_NAN:
        return isnan(a);
    case VYRE_OP_IS_INF:
        return isinf(a);
    default:
        return isfinite(a);
    }
}

static double value_of(vyre_type type, uint64_t bits)
{
    if (type == VYRE_TYPE_F64) {
        return batch_double(bits);
    }
    return type == VYRE_TYPE_F16 ? batch_f16_value(bits) : (double)float_of((uint32_t)bits);
}

static uint64_t bits_as(vyre_type type, double value)
{
    if (type == VYRE_TYPE_F64) {
        return batch_bits(value);
    }
    return type == VYRE_TYPE_F16 ? batch_f16_of(value) : bits_of((float)value);
}

static const vyre_op ops[] = {
    VYRE_OP_ADD,      VYRE_OP_SUB,      VYRE_OP_MUL,        VYRE_OP_DIV,   VYRE_OP_SQRT,
    VYRE_OP_MIN,      VYRE_OP_MAX,      VYRE_OP_ABS_DIFF,   VYRE_OP_ABS,   VYRE_OP_SIGN,
    VYRE_OP_NEGATE,   VYRE_OP_FLOOR,    VYRE_OP_CEIL,       VYRE_OP_TRUNC, VYRE_OP_ROUND,
    VYRE_OP_COPYSIGN, VYRE_OP_FRACT,    VYRE_OP_ROUND_EVEN, VYRE_OP_EQ,    VYRE_OP_NE,
    VYRE_OP_LT,       VYRE_OP_LE,       VYRE_OP_GT,         VYRE_OP_GE,    VYRE_OP_IS_NAN,
    VYRE_OP_IS_INF,   VYRE_OP_IS_FINITE};

static bool gives_bool(vyre_op op)
{
    vy_shape shape = vy_op_get(op)->shape;
    return shape == VY_SHAPE_EQUALITY || shape == VY_SHAPE_ORDER || shape == VY_SHAPE_FLOAT_TEST;
}

static void check_operators(vyre_type type)
{
    static uint64_t values[VALUES], x[PAIRS], y[PAIRS], out[PAIRS];
    batch_floats(type, values, VALUES);
    batch_pairs(values, VALUES, x, y);
    for (size_t row = 0; row < VY_COUNT_OF(ops); row++) {
        bool is_test = gives_bool(ops[row]);
        batch b = {.op = ops[row],
                   .operand_count = vy_op_get(ops[row])->operand_count,
                   .count = PAIRS,
                   .types = {type, type},
                   .result = is_test ? VYRE_TYPE_BOOL : type,
                   .operands = {x, y}};
        batch_run(device, &b, out);
        for (uint32_t i = 0; i < PAIRS; i++) {
            double a = value_of(type, x[i]), c = value_of(type, y[i]);
            judge(&b, out, i,
                  is_test ? expect_bool(b.op, a, c) : bits_as(type, expect(b.op, a, c)));
        }
    }
}

static void test_f16_operators_match_c(void **state)
{
    (void)state;
    if (device) {
        check_operators(VYRE_TYPE_F16);
    }
}

static void test_f64_operators_match_c(void **state)
{
    (void)state;
    if (device) {
        check_operators(VYRE_TYPE_F64);
    }
}

/* Every f16 that there is, to f32 and back, and through the functions that f32 has. */
static void test_every_f16(void **state)
{
    static uint64_t x[BATCH_MAX], out[BATCH_MAX];
    (void)state;
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        x[i] = i;
    }
    batch b = {.operand_count = 1, .count = BATCH_MAX, .types = {VYRE_TYPE_F16}, .operands = {x}};
    if (!device) {
        return;
    }
    b.op = VYRE_OP_CAST;
    b.result = VYRE_TYPE_F32;
    batch_run(device, &b, out);
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        judge(&b, out, i, bits_of((float)batch_f16_value(i)));
    }
    b.op = VYRE_OP_BITCAST;
    b.result = VYRE_TYPE_U16;
    batch_run(device, &b, out);
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        judge(&b, out, i, i); /* the bits of NaNs too */
    }
    b.op = VYRE_OP_SQRT;
    b.result = VYRE_TYPE_F16;
    batch_run(device, &b, out);
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        judge(&b, out, i, batch_f16_of(sqrt(batch_f16_value(i))));
    }
    b.op = VYRE_OP_EXP2;
    batch_run(device, &b, out);
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        double wanted = exp2(batch_f16_value(i)), got = batch_f16_value(out[i]);
        assert_true(isnan(wanted)
                        ? isnan(got)
                        : fabs(got - wanted) <= fabs(wanted) / 512 + 0x1p-24 || wanted >= 65504);
    }
}

/* ---- fma ------------------------------------------------------------------------------------- */

/* The f16 nearest to number * 2^-48. */
static uint64_t nearest_f16(wide number, bool zero_sign)
{
    if (number == 0) {
        return zero_sign ? 0x8000 : 0;
    }
    uint64_t sign = number < 0 ? 0x8000 : 0;
    wide size = number < 0 ? -number : number;
    int top = 0;
    while (size >> (top + 1)) {
        top++;
    }
    int drop = top - 10 < 24 ? 24 : top - 10;
    wide kept = size >> drop, rest = size - (kept << drop), half = (wide)1 << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1)) ? 1 : 0;
    uint64_t bits = (uint64_t)kept + ((uint64_t)(drop - 24) << 10);
    return sign | (bits > 0x7c00 ? 0x7c00 : bits);
}

static uint64_t expect_fma_f16(uint64_t x, uint64_t y, uint64_t z)
{
    double a = batch_f16_value(x), b = batch_f16_value(y), c = batch_f16_value(z);
    if (!isfinite(a) || !isfinite(b) || !isfinite(c)) {
        return batch_f16_of(a * b + c);
    }
    wide product = (wide)ldexp(a, 24) * (wide)ldexp(b, 24);
    wide sum = product + (wide)ldexp(c, 24) * ((wide)1 << 24);
    bool both = signbit(a) != signbit(b) && signbit(c);
    return nearest_f16(sum, both);
}

static uint64_t expect_fma(vyre_type type, uint64_t x, uint64_t y, uint64_t z)
{
    if (type == VYRE_TYPE_F16) {
        return expect_fma_f16(x, y, z);
    }
    if (type == VYRE_TYPE_F64) {
        return batch_bits(fma(batch_double(x), batch_double(y), batch_double(z)));
    }
    return bits_of(fmaf(float_of((uint32_t)x), float_of((uint32_t)y), float_of((uint32_t)z)));
}

/* c near -a b, one in three, so that the product's lower half shows. */
static void make_triples(vyre_type type, uint64_t seed, uint64_t *x, uint64_t *y, uint64_t *z)
{
    static uint64_t values[1024];
    batch_floats(type, values, VY_COUNT_OF(values));
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        x[i] = values[next_random(&seed) % 1024];
        y[i] = values[next_random(&seed) % 1024];
        z[i] = values[next_random(&seed) % 1024];
        if (i % 3 == 0) {
            double product = value_of(type, x[i]) * value_of(type, y[i]);
            z[i] = bits_as(type, -product) + next_random(&seed) % 3 - 1;
            z[i] = vy_type_bits(type == VYRE_TYPE_F64   ? VYRE_TYPE_U64
                                : type == VYRE_TYPE_F16 ? VYRE_TYPE_U16
                                                        : VYRE_TYPE_U32,
                                z[i]);
        }
    }
}

static void test_fma_rounds_once(void **state)
{
    static const vyre_type types[] = {VYRE_TYPE_F32, VYRE_TYPE_F16, VYRE_TYPE_F64};
    static uint64_t x[BATCH_MAX], y[BATCH_MAX], z[BATCH_MAX], out[BATCH_MAX];
    (void)state;
    for (size_t t = 0; device && t < 3 * VY_COUNT_OF(types); t++) {
        vyre_type type = types[t % VY_COUNT_OF(types)];
        make_triples(type, 5 + t, x, y, z);
        batch b = {.op = VYRE_OP_FMA,
                   .operand_count = 3,
                   .count = BATCH_MAX,
                   .types = {type, type, type},
                   .result = type,
                   .operands = {x, y, z}};
        batch_run(device, &b, out);
        for (uint32_t i = 0; i < BATCH_MAX; i++) {
            judge(&b, out, i, expect_fma(type, x[i], y[i], z[i]));
        }
    }
}

/* Where a device is known to round it right, its own is taken. */
static void test_native_f64_is_used_where_it_is_chosen(void **state)
{
    static const gpu_spec specs[] = {{VY_SPEC_NATIVE_DIVIDE_F64, 1}, {VY_SPEC_NATIVE_SQRT_F64, 1}};
    static uint64_t x[4096], y[4096], out[4096];
    (void)state;
    batch_floats(VYRE_TYPE_F64, x, 4096);
    for (uint32_t i = 0; i < 4096; i++) {
        y[i] = x[(i * 77 + 5) % 4096];
    }
    batch b = {.operand_count = 2,
               .count = 4096,
               .types = {VYRE_TYPE_F64, VYRE_TYPE_F64},
               .result = VYRE_TYPE_F64,
               .operands = {x, y},
               .specs = specs,
               .spec_count = 2};
    for (uint32_t k = 0; device && k < 2; k++) {
        b.op = k ? VYRE_OP_SQRT : VYRE_OP_DIV;
        b.operand_count = k ? 1 : 2;
        batch_run(device, &b, out);
        for (uint32_t i = 0; i < b.count; i++) {
            double a = batch_double(x[i]);
            judge(&b, out, i, batch_bits(k ? sqrt(a) : a / batch_double(y[i])));
        }
    }
}

/* ---- Casts ----------------------------------------------------------------------------------- */

static const vyre_type scalars[] = {VYRE_TYPE_BOOL, VYRE_TYPE_U8,  VYRE_TYPE_I8,  VYRE_TYPE_U16,
                                    VYRE_TYPE_I16,  VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64,
                                    VYRE_TYPE_I64,  VYRE_TYPE_F16, VYRE_TYPE_F32, VYRE_TYPE_F64};

static wide number_of(vyre_type type, uint64_t bits)
{
    return vy_type_is_signed(type) ? (wide)vy_type_signed_value(type, bits) : (wide)bits;
}

static uint64_t saturate(vyre_type to, double value)
{
    uint32_t width = vy_type_width(to);
    bool is_signed = vy_type_is_signed(to);
    if (isnan(value)) {
        return 0;
    }
    double limit = ldexp(1, (int)width - (is_signed ? 1 : 0));
    double least = is_signed ? -limit : 0;
    uint64_t most = UINT64_MAX >> (64 - width) >> (is_signed ? 1 : 0);
    value = trunc(value);
    if (value >= limit) {
        return most;
    }
    wide whole = value < least ? (wide)least : (wide)value;
    return vy_type_bits(to, (uint64_t)whole);
}

static uint64_t expect_of_integer(vyre_type from, vyre_type to, uint64_t x)
{
    wide value = number_of(from, x);
    switch ((int)to) {
    case VYRE_TYPE_F32:
        return bits_of(value < 0 ? (float)(int64_t)value : (float)(uint64_t)value);
    case VYRE_TYPE_F64:
        return batch_bits(value < 0 ? (double)(int64_t)value : (double)(uint64_t)value);
    case VYRE_TYPE_F16: {
        wide limit = 1 << 20;
        value = value > limit ? limit : value < -limit ? -limit : value;
        return batch_f16_of((double)(int64_t)value);
    }
    default:
        return vy_type_bits(to, (uint64_t)value);
    }
}

static uint64_t expect_cast(vyre_type from, vyre_type to, uint64_t x)
{
    if (to == VYRE_TYPE_BOOL) {
        return vy_type_is_float(from) ? value_of(from, x) != 0 : x != 0;
    }
    if (!vy_type_is_float(from)) {
        return expect_of_integer(from, to, x);
    }
    double value = value_of(from, x);
    if (!vy_type_is_float(to)) {
        return saturate(to, value);
    }
    return bits_as(to, value);
}

static void fill(vyre_type type, uint64_t *out, uint32_t count)
{
    if (type == VYRE_TYPE_BOOL) {
        for (uint32_t i = 0; i < count; i++) {
            out[i] = i & 1;
        }
    } else if (vy_type_is_float(type)) {
        uint64_t state = 99;
        batch_floats(type, out, count);
        /* Around the limits of the types. */
        for (uint32_t i = 200; i + 8 < count && i < 1400; i++) {
            double power = ldexp(1 + ldexp(next_random(&state) % 4096, -12), (int)(i % 76) - 4);
            out[i] = bits_as(type, i & 1 ? -power : power);
        }
    } else {
        batch_integers(type, out, count);
        for (uint32_t i = 40; i < count; i++) { /* ties of the floats' */
            uint64_t top = (uint64_t)1 << (i % vy_type_width(type));
            if (i % 5 == 0) {
                out[i] = vy_type_bits(type, top | top >> 11 | top >> (i % 3 ? 24 : 53));
            }
        }
    }
}

static void test_casts_between_all_types(void **state)
{
    enum { N = 2048 };
    static uint64_t x[N], out[N];
    (void)state;
    for (size_t f = 0; device && f < VY_COUNT_OF(scalars); f++) {
        fill(scalars[f], x, N);
        for (size_t t = 0; t < VY_COUNT_OF(scalars); t++) {
            batch b = {.op = VYRE_OP_CAST,
                       .operand_count = 1,
                       .count = N,
                       .types = {scalars[f]},
                       .result = scalars[t],
                       .operands = {x}};
            batch_run(device, &b, out);
            for (uint32_t i = 0; i < N; i++) {
                judge(&b, out, i, f == t ? x[i] : expect_cast(scalars[f], scalars[t], x[i]));
            }
        }
    }
}

static void test_bitcasts_keep_bits(void **state)
{
    static const vyre_type pairs[][2] = {
        {VYRE_TYPE_U8, VYRE_TYPE_I8},   {VYRE_TYPE_I8, VYRE_TYPE_U8},
        {VYRE_TYPE_I16, VYRE_TYPE_F16}, {VYRE_TYPE_F16, VYRE_TYPE_I16},
        {VYRE_TYPE_U32, VYRE_TYPE_F32}, {VYRE_TYPE_I64, VYRE_TYPE_F64},
        {VYRE_TYPE_F64, VYRE_TYPE_U64}, {VYRE_TYPE_U64, VYRE_TYPE_I64}};
    enum { N = 512 };
    static uint64_t x[N], out[N];
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(pairs); t++) {
        uint32_t width = vy_type_width(pairs[t][0]);
        batch_integers(vy_type_of_width(false, width), x, N);
        batch b = {.op = VYRE_OP_BITCAST,
                   .operand_count = 1,
                   .count = N,
                   .types = {pairs[t][0]},
                   .result = pairs[t][1],
                   .operands = {x}};
        batch_run(device, &b, out);
        for (uint32_t i = 0; i < N; i++) {
            assert_true(out[i] == x[i]);
        }
    }
}

/* bf16 elements: loads are exact, stores are rounded. */
static void test_bf16_elements(void **state)
{
    enum { N = 4096 };
    static uint64_t x[N], one[N], out[N];
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        x[i] = i * 16;
        one[i] = bits_of(1.0f);
    }
    batch b = {.op = VYRE_OP_COPYSIGN,
               .operand_count = 2,
               .count = N,
               .types = {VYRE_TYPE_BF16, VYRE_TYPE_F32},
               .result = VYRE_TYPE_F32,
               .operands = {x, one}};
    if (!device) {
        return;
    }
    batch_run(device, &b, out);
    for (uint32_t i = 0; i < N; i++) {
        assert_true(out[i] == (x[i] << 16 & 0x7fffffff));
    }
    batch_floats(VYRE_TYPE_F32, x, N);
    b.types[0] = VYRE_TYPE_F32;
    b.operands[1] = x;
    b.result = VYRE_TYPE_BF16;
    batch_run(device, &b, out);
    for (uint32_t i = 0; i < N; i++) {
        uint64_t wanted = (x[i] + 0x7fff + (x[i] >> 16 & 1)) >> 16;
        assert_true(out[i] == (vy_float_is_nan(VYRE_TYPE_F32, x[i]) ? 0x7fc0 : wanted));
    }
}

static int setup(void **state)
{
    (void)state;
    device = gpu_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gpu_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16_operators_match_c),
        cmocka_unit_test(test_f64_operators_match_c),
        cmocka_unit_test(test_every_f16),
        cmocka_unit_test(test_fma_rounds_once),
        cmocka_unit_test(test_native_f64_is_used_where_it_is_chosen),
        cmocka_unit_test(test_casts_between_all_types),
        cmocka_unit_test(test_bitcasts_keep_bits),
        cmocka_unit_test(test_bf16_elements),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
