/* What the emitted words compute for u32, i32 and bool, over every pair of a list of values that
 * includes the edges, against plain C on 64 bits. */
#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint32_t edges[] = {
    0,          1,          2,          3,          7,          8,          31,
    32,         33,         64,         127,        128,        255,        0x7ffffffe,
    0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xdeadbeef,
    0x00ff00ff, 0x55555555, 0xfedcba98, 65535,      65536,      0xffff0000};

typedef uint64_t (*expect_fn)(bool is_signed, int64_t a, int64_t b, uint32_t x, uint32_t y);

static int64_t wide(bool is_signed, uint32_t bits)
{
    return is_signed && bits > INT32_MAX ? (int64_t)bits - ((int64_t)1 << 32) : (int64_t)bits;
}

static int64_t clamp_wide(bool is_signed, int64_t value)
{
    int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : (int64_t)UINT32_MAX;
    return value < low ? low : value > high ? high : value;
}

#define EXPECT(name, expression)                                                                   \
    static uint64_t expect_##name(bool is_signed, int64_t a, int64_t b, uint32_t x, uint32_t y)    \
    {                                                                                              \
        (void)is_signed, (void)a, (void)b, (void)x, (void)y;                                       \
        return (uint64_t)(expression);                                                             \
    }

EXPECT(add, a + b)
EXPECT(sub, a - b)
EXPECT(mul, (uint64_t)x *y)
EXPECT(div, b ? a / b : -1)
EXPECT(rem, b ? a % b : 0)
EXPECT(and, x &y)
EXPECT(or, x | y)
EXPECT(xor, x ^ y)
EXPECT(shl, x << (y & 31))
EXPECT(shr, a >> (y & 31))
EXPECT(rotl, y & 31 ? x << (y & 31) | x >> (32 - (y & 31)) : x)
EXPECT(rotr, y & 31 ? x >> (y & 31) | x << (32 - (y & 31)) : x)
EXPECT(min, a < b ? a : b)
EXPECT(max, a > b ? a : b)
EXPECT(abs_diff, a < b ? b - a : a - b)
EXPECT(mul_high, is_signed ? (uint64_t)(a *b) >> 32 : ((uint64_t)x *y) >> 32)
EXPECT(add_sat, clamp_wide(is_signed, a + b))
EXPECT(sub_sat, clamp_wide(is_signed, a - b))
EXPECT(mul_sat, is_signed ? clamp_wide(true, a *b)
                          : (int64_t)((uint64_t)x *y > UINT32_MAX ? UINT32_MAX : (uint64_t)x * y))
EXPECT(eq, a == b)
EXPECT(ne, a != b)
EXPECT(lt, a < b)
EXPECT(le, a <= b)
EXPECT(gt, a > b)
EXPECT(ge, a >= b)

static uint64_t expect_unpack(bool is_signed, uint32_t x, uint32_t index, uint32_t width)
{
    uint32_t value = x >> index * width & ((1u << width) - 1);
    return is_signed && value >> (width - 1) ? value | UINT32_MAX << width : value;
}
EXPECT(byte, expect_unpack(is_signed, x, y & 3, 8))
EXPECT(nibble, expect_unpack(is_signed, x, y & 7, 4))

static uint64_t expect_dot4(bool is_signed, int64_t a, int64_t b, uint32_t x, uint32_t y)
{
    uint64_t sum = 0;
    (void)a, (void)b;
    for (uint32_t i = 0; i < 4; i++) {
        sum += (uint64_t)(wide(is_signed, (uint32_t)expect_unpack(is_signed, x, i, 8)) *
                          wide(is_signed, (uint32_t)expect_unpack(is_signed, y, i, 8)));
    }
    return sum;
}

static const struct {
    vyre_op op;
    expect_fn expect;
    bool gives_bool;
} binary[] = {
    {VYRE_OP_ADD, expect_add, false},
    {VYRE_OP_SUB, expect_sub, false},
    {VYRE_OP_MUL, expect_mul, false},
    {VYRE_OP_DIV, expect_div, false},
    {VYRE_OP_REM, expect_rem, false},
    {VYRE_OP_AND, expect_and, false},
    {VYRE_OP_OR, expect_or, false},
    {VYRE_OP_XOR, expect_xor, false},
    {VYRE_OP_SHL, expect_shl, false},
    {VYRE_OP_SHR, expect_shr, false},
    {VYRE_OP_ROTATE_LEFT, expect_rotl, false},
    {VYRE_OP_ROTATE_RIGHT, expect_rotr, false},
    {VYRE_OP_MIN, expect_min, false},
    {VYRE_OP_MAX, expect_max, false},
    {VYRE_OP_ABS_DIFF, expect_abs_diff, false},
    {VYRE_OP_MUL_HIGH, expect_mul_high, false},
    {VYRE_OP_ADD_SAT, expect_add_sat, false},
    {VYRE_OP_SUB_SAT, expect_sub_sat, false},
    {VYRE_OP_MUL_SAT, expect_mul_sat, false},
    {VYRE_OP_UNPACK_BYTE, expect_byte, false},
    {VYRE_OP_UNPACK_NIBBLE, expect_nibble, false},
    {VYRE_OP_DOT4, expect_dot4, false},
    {VYRE_OP_EQ, expect_eq, true},
    {VYRE_OP_NE, expect_ne, true},
    {VYRE_OP_LT, expect_lt, true},
    {VYRE_OP_LE, expect_le, true},
    {VYRE_OP_GT, expect_gt, true},
    {VYRE_OP_GE, expect_ge, true},
};

static void test_binary_operators_match_c(void **state)
{
    (void)state;
    for (size_t row = 0; row < VY_COUNT_OF(binary); row++) {
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            vyre_type type = is_signed ? VYRE_TYPE_I32 : VYRE_TYPE_U32;
            bench b;
            bench_init(&b, binary[row].op, type, binary[row].gives_bool ? VYRE_TYPE_BOOL : type, 2);
            for (size_t i = 0; i < VY_COUNT_OF(edges) * VY_COUNT_OF(edges); i++) {
                uint32_t x = edges[i % VY_COUNT_OF(edges)], y = edges[i / VY_COUNT_OF(edges)];
                uint32_t wanted = (uint32_t)binary[row].expect(is_signed, wide(is_signed, x),
                                                               wide(is_signed, y), x, y);
                uint32_t got = bench_run(&b, x, y, 0, 0);
                if (got != wanted) {
                    fail_msg("op %d signed %d: %08x %08x gives %08x, not %08x", (int)binary[row].op,
                             is_signed, x, y, got, wanted);
                }
            }
            bench_finish(&b);
        }
    }
}

/* Literal divisors and amounts take shorter ways. */
static void test_literal_operands_match_c(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_DIV, VYRE_OP_REM, VYRE_OP_SHL, VYRE_OP_SHR,
                                  VYRE_OP_ROTATE_LEFT};
    static const expect_fn expects[] = {expect_div, expect_rem, expect_shl, expect_shr,
                                        expect_rotl};
    static const uint32_t literals[] = {0, 1, 3, 32, 33, 0x80000000, 0xffffffff};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(ops) * VY_COUNT_OF(literals) * 2; i++) {
        size_t row = i % VY_COUNT_OF(ops);
        uint32_t y = literals[i / VY_COUNT_OF(ops) % VY_COUNT_OF(literals)];
        bool is_signed = i >= VY_COUNT_OF(ops) * VY_COUNT_OF(literals);
        bench b;
        bench_init_literal(&b, ops[row], is_signed ? VYRE_TYPE_I32 : VYRE_TYPE_U32, y);
        for (size_t k = 0; k < VY_COUNT_OF(edges); k++) {
            uint32_t x = edges[k];
            uint32_t wanted =
                (uint32_t)expects[row](is_signed, wide(is_signed, x), wide(is_signed, y), x, y);
            assert_int_equal(bench_run(&b, x, 0, 0, 0), wanted);
        }
        bench_finish(&b);
    }
}

static uint32_t expect_unary(vyre_op op, bool is_signed, uint32_t x)
{
    uint32_t count = 0;
    switch ((int)op) {
    case VYRE_OP_NEGATE:
        return 0u - x;
    case VYRE_OP_COMPLEMENT:
        return ~x;
    case VYRE_OP_ABS:
        return is_signed && x > INT32_MAX ? 0u - x : x;
    case VYRE_OP_SIGN:
        return is_signed && x > INT32_MAX ? UINT32_MAX : x != 0;
    case VYRE_OP_CLZ:
        while (count < 32 && !(x >> (31 - count) & 1)) {
            count++;
        }
        return count;
    case VYRE_OP_CTZ:
        while (count < 32 && !(x >> count & 1)) {
            count++;
        }
        return count;
    case VYRE_OP_POPCOUNT:
        for (uint32_t i = 0; i < 32; i++) {
            count += x >> i & 1;
        }
        return count;
    default:
        for (uint32_t i = 0; i < 32; i++) {
            count |= (x >> i & 1) << (31 - i);
        }
        return count;
    }
}

static void test_unary_operators_match_c(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_NEGATE,   VYRE_OP_COMPLEMENT,  VYRE_OP_ABS,
                                  VYRE_OP_SIGN,     VYRE_OP_CLZ,         VYRE_OP_CTZ,
                                  VYRE_OP_POPCOUNT, VYRE_OP_REVERSE_BITS};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(ops) * 2; i++) {
        bool is_signed = i >= VY_COUNT_OF(ops);
        vyre_op op = ops[i % VY_COUNT_OF(ops)];
        bench b;
        vyre_type type = is_signed ? VYRE_TYPE_I32 : VYRE_TYPE_U32;
        bench_init(&b, op, type, type, 1);
        for (size_t k = 0; k < VY_COUNT_OF(edges); k++) {
            assert_int_equal(bench_run(&b, edges[k], 0, 0, 0),
                             expect_unary(op, is_signed, edges[k]));
        }
        bench_finish(&b);
    }
}

static uint64_t mask_of(uint64_t count)
{
    return ((uint64_t)1 << count) - 1;
}

static void test_bit_fields_clamp(void **state)
{
    (void)state;
    bench extract[2], insert;
    bench_init(&extract[0], VYRE_OP_EXTRACT_BITS, VYRE_TYPE_U32, VYRE_TYPE_U32, 3);
    bench_init(&extract[1], VYRE_OP_EXTRACT_BITS, VYRE_TYPE_I32, VYRE_TYPE_I32, 3);
    bench_init(&insert, VYRE_OP_INSERT_BITS, VYRE_TYPE_U32, VYRE_TYPE_U32, 4);
    for (size_t o = 0; o < VY_COUNT_OF(edges); o++) {
        for (size_t c = 0; c < VY_COUNT_OF(edges); c++) {
            uint64_t offset = edges[o] > 32 ? 32 : edges[o];
            uint64_t count = edges[c] > 32 - offset ? 32 - offset : edges[c];
            uint32_t x = 0xdeadbeef, y = 0x12345678;
            uint64_t field = x >> (offset & 31) & mask_of(count);
            field = count ? field : 0;
            uint64_t extended = count && field >> (count - 1) ? field | ~mask_of(count) : field;
            uint64_t mask = mask_of(count) << offset;
            uint64_t both = (x & ~mask) | ((uint64_t)y << offset & mask);
            assert_int_equal(bench_run(&extract[0], x, edges[o], edges[c], 0), (uint32_t)field);
            assert_int_equal(bench_run(&extract[1], x, edges[o], edges[c], 0), (uint32_t)extended);
            assert_int_equal(bench_run(&insert, x, y, edges[o], edges[c]), (uint32_t)both);
        }
    }
    bench_finish(&extract[0]);
    bench_finish(&extract[1]);
    bench_finish(&insert);
}

static void test_clamp_is_min_of_max(void **state)
{
    (void)state;
    bench b[2];
    bench_init(&b[0], VYRE_OP_CLAMP, VYRE_TYPE_U32, VYRE_TYPE_U32, 3);
    bench_init(&b[1], VYRE_OP_CLAMP, VYRE_TYPE_I32, VYRE_TYPE_I32, 3);
    assert_int_equal(bench_run(&b[0], 5, 7, 9, 0), 7);
    assert_int_equal(bench_run(&b[0], 0xffffffff, 7, 9, 0), 9);
    assert_int_equal(bench_run(&b[1], 0xffffffff, 7, 9, 0), 7);
    assert_int_equal(bench_run(&b[1], 8, 9, 7, 0), 7); /* low above high: high wins */
    bench_finish(&b[0]);
    bench_finish(&b[1]);
}

/* Any word that is not zero is true; true is stored as 1. */
static void test_bool_operators(void **state)
{
    static const struct {
        vyre_op op;
        uint32_t wanted; /* bit a + 2 b */
    } rows[] = {{VYRE_OP_EQ, 0x9},
                {VYRE_OP_NE, 0x6},
                {VYRE_OP_LOGICAL_AND, 0x8},
                {VYRE_OP_LOGICAL_OR, 0xe}};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        bench b;
        bench_init(&b, rows[i].op, VYRE_TYPE_BOOL, VYRE_TYPE_BOOL, 2);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t got = bench_run(&b, k & 1 ? 0x80000000u : 0, k & 2 ? 7 : 0, 0, 0);
            assert_int_equal(got, rows[i].wanted >> k & 1);
        }
        bench_finish(&b);
    }
    bench b;
    bench_init(&b, VYRE_OP_NOT, VYRE_TYPE_BOOL, VYRE_TYPE_BOOL, 1);
    assert_int_equal(bench_run(&b, 0, 0, 0, 0), 1);
    assert_int_equal(bench_run(&b, 4, 0, 0, 0), 0);
    bench_finish(&b);
}

static void test_select_and_integer_casts(void **state)
{
    static const vyre_type select_types[3] = {VYRE_TYPE_BOOL, VYRE_TYPE_I32, VYRE_TYPE_I32};
    (void)state;
    bench b;
    bench_init_typed(&b, VYRE_OP_SELECT, select_types, 3, VYRE_TYPE_I32);
    assert_int_equal(bench_run(&b, 9, 11, 22, 0), 11);
    assert_int_equal(bench_run(&b, 0, 11, 22, 0), 22);
    bench_finish(&b);
    bench_init(&b, VYRE_OP_CAST, VYRE_TYPE_BOOL, VYRE_TYPE_I32, 1);
    assert_int_equal(bench_run(&b, 5, 0, 0, 0), 1);
    bench_finish(&b);
    bench_init(&b, VYRE_OP_CAST, VYRE_TYPE_I32, VYRE_TYPE_BOOL, 1);
    assert_int_equal(bench_run(&b, 0x80000000u, 0, 0, 0), 1);
    assert_int_equal(bench_run(&b, 0, 0, 0, 0), 0);
    bench_finish(&b);
    bench_init(&b, VYRE_OP_CAST, VYRE_TYPE_I32, VYRE_TYPE_U32, 1);
    assert_int_equal(bench_run(&b, 0x80000005u, 0, 0, 0), 0x80000005u);
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary_operators_match_c),
        cmocka_unit_test(test_literal_operands_match_c),
        cmocka_unit_test(test_unary_operators_match_c),
        cmocka_unit_test(test_bit_fields_clamp),
        cmocka_unit_test(test_clamp_is_min_of_max),
        cmocka_unit_test(test_bool_operators),
        cmocka_unit_test(test_select_and_integer_casts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
