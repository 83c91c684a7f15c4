/* Integer operators at every width: literal results at the edges, and all of them against plain
 * arithmetic in 128 bits. */
#include "codegen/interp/eval.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

enum {
    U8 = VYRE_TYPE_U8,
    I8 = VYRE_TYPE_I8,
    U16 = VYRE_TYPE_U16,
    I16 = VYRE_TYPE_I16,
    U32 = VYRE_TYPE_U32,
    I32 = VYRE_TYPE_I32,
    U64 = VYRE_TYPE_U64,
    I64 = VYRE_TYPE_I64,
    B = VYRE_TYPE_BOOL
};

static const vyre_type integer_types[] = {VYRE_TYPE_U8,  VYRE_TYPE_I8,  VYRE_TYPE_U16,
                                          VYRE_TYPE_I16, VYRE_TYPE_U32, VYRE_TYPE_I32,
                                          VYRE_TYPE_U64, VYRE_TYPE_I64};

#define OP(name) VYRE_OP_##name
#define ALL64    UINT64_MAX
#define MIN64    0x8000000000000000u
#define MAX64    0x7fffffffffffffffu

typedef struct row {
    vyre_op op;
    int result, operand;
    uint64_t operands[4], expected;
} row;

static const row edge_rows[] = {
    {OP(ADD), U8, U8, {0xff, 2}, 1},
    {OP(ADD), I8, I8, {0x7f, 1}, 0x80},
    {OP(SUB), U16, U16, {0, 1}, 0xffff},
    {OP(SUB), I64, I64, {MIN64, 1}, MAX64},
    {OP(MUL), I8, I8, {0x80, 0xff}, 0x80},
    {OP(MUL), U16, U16, {0x101, 0x101}, 0x0201},
    {OP(MUL), U64, U64, {0x100000001u, 0x100000001u}, 0x200000001u},
    {OP(DIV), I8, I8, {0x80, 0xff}, 0x80},
    {OP(DIV), I64, I64, {MIN64, ALL64}, MIN64},
    {OP(DIV), I64, I64, {7, ALL64 - 1}, ALL64 - 2},
    {OP(DIV), U8, U8, {7, 0}, 0xff},
    {OP(DIV), I16, I16, {7, 0}, 0xffff},
    {OP(DIV), U64, U64, {7, 0}, ALL64},
    {OP(REM), I64, I64, {MIN64, ALL64}, 0},
    {OP(REM), I8, I8, {0xf9, 4}, 0xfd},
    {OP(REM), U64, U64, {ALL64, 10}, 5},
    {OP(REM), U64, U64, {9, 0}, 0},
    {OP(SHL), U8, U8, {0x81, 9}, 2},
    {OP(SHL), U64, U64, {1, 63}, MIN64},
    {OP(SHL), U64, U64, {1, 64}, 1},
    {OP(SHR), I8, I8, {0x80, 7}, 0xff},
    {OP(SHR), I16, I16, {0x8000, 4}, 0xf800},
    {OP(SHR), I64, I64, {MIN64, 63}, ALL64},
    {OP(SHR), U64, U64, {MIN64, 63}, 1},
    {OP(NEGATE), U8, U8, {1}, 0xff},
    {OP(COMPLEMENT), U16, U16, {0x0f0f}, 0xf0f0},
    {OP(ABS), I8, I8, {0x80}, 0x80},
    {OP(ABS), I64, I64, {ALL64}, 1},
    {OP(SIGN), I16, I16, {0x8000}, 0xffff},
    {OP(SIGN), I64, I64, {5}, 1},
    {OP(ABS_DIFF), U8, I8, {0x80, 0x7f}, 0xff},
    {OP(ABS_DIFF), U64, I64, {MIN64, MAX64}, ALL64},
    {OP(MUL_HIGH), U8, U8, {0xff, 0xff}, 0xfe},
    {OP(MUL_HIGH), I8, I8, {0x80, 0x7f}, 0xc0},
    {OP(MUL_HIGH), U64, U64, {ALL64, ALL64}, ALL64 - 1},
    {OP(MUL_HIGH), I64, I64, {ALL64, ALL64}, 0},
    {OP(MUL_HIGH), I64, I64, {MIN64, MIN64}, 0x4000000000000000u},
    {OP(ADD_SAT), U8, U8, {0xf0, 0x10}, 0xff},
    {OP(ADD_SAT), I8, I8, {0x7f, 1}, 0x7f},
    {OP(ADD_SAT), I64, I64, {MIN64, ALL64}, MIN64},
    {OP(ADD_SAT), U64, U64, {ALL64, 1}, ALL64},
    {OP(SUB_SAT), U16, U16, {1, 2}, 0},
    {OP(SUB_SAT), I64, I64, {0, MIN64}, MAX64},
    {OP(MUL_SAT), U8, U8, {0x10, 0x10}, 0xff},
    {OP(MUL_SAT), I8, I8, {0x80, 0xff}, 0x7f},
    {OP(MUL_SAT), I64, I64, {MIN64, 2}, MIN64},
    {OP(MUL_SAT), U64, U64, {0x100000000u, 0x100000000u}, ALL64},
    {OP(MUL_SAT), I64, I64, {ALL64 - 2, 5}, ALL64 - 14},
    {OP(ROTATE_LEFT), U8, U8, {0x81, 1}, 3},
    {OP(ROTATE_RIGHT), U16, U16, {1, 17}, 0x8000},
    {OP(ROTATE_LEFT), U64, U64, {MIN64 | 1, 65}, 3},
    {OP(CLZ), U32, U8, {0}, 8},
    {OP(CLZ), U32, U16, {1}, 15},
    {OP(CLZ), U32, I64, {ALL64}, 0},
    {OP(CLZ), U32, U64, {0}, 64},
    {OP(CTZ), U32, U8, {0}, 8},
    {OP(CTZ), U32, U64, {MIN64}, 63},
    {OP(POPCOUNT), U32, U64, {ALL64}, 64},
    {OP(POPCOUNT), U32, I8, {0xff}, 8},
    {OP(REVERSE_BITS), U8, U8, {0x13}, 0xc8},
    {OP(REVERSE_BITS), U64, U64, {3}, 0xc000000000000000u},
    {OP(EXTRACT_BITS), I8, I8, {0x70, 4, 3}, 0xff},
    {OP(EXTRACT_BITS), U64, U64, {ALL64, 60, 100}, 15},
    {OP(EXTRACT_BITS), U64, U64, {ALL64, 0, 64}, ALL64},
    {OP(EXTRACT_BITS), I64, I64, {MIN64, 63, 1}, ALL64},
    {OP(EXTRACT_BITS), U8, U8, {0xff, 8, 1}, 0},
    {OP(INSERT_BITS), U8, U8, {0xff, 0, 6, 9}, 0x3f},
    {OP(INSERT_BITS), U64, U64, {0, ALL64, 32, 8}, 0xff00000000u},
    {OP(INSERT_BITS), U16, U16, {5, 0xffff, 16, 4}, 5},
    {OP(MIN), I64, I64, {ALL64, 1}, ALL64},
    {OP(MAX), I8, I8, {0x80, 0x7f}, 0x7f},
    {OP(CLAMP), I8, I8, {0x80, 0xff, 1}, 0xff},
    {OP(CLAMP), U64, U64, {3, 5, 2}, 2},
    {OP(LT), B, I64, {MIN64, 0}, 1},
    {OP(LT), B, U64, {MIN64, 0}, 0},
    {OP(GE), B, I8, {0xff, 0}, 0},
    {OP(SELECT), U64, B, {1, ALL64, 0}, ALL64},
    {OP(BITCAST), I64, U64, {MIN64}, MIN64},
};

static void test_edges_of_each_width(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(edge_rows); i++) {
        const row *r = &edge_rows[i];
        uint64_t got =
            vy_interp_eval(r->op, (vyre_type)r->result, (vyre_type)r->operand, r->operands, false);
        if (got != r->expected) {
            fail_msg("row %zu: %s of %s gave %" PRIx64 ", not %" PRIx64, i, vy_op_get(r->op)->name,
                     vyre_type_keyword((vyre_type)r->operand), got, r->expected);
        }
    }
}

/* ---- Against 128 bits ------------------------------------------------------------------------ */

typedef struct range {
    wide least, largest;
    uint32_t width;
    bool is_signed;
} range;

static range range_of(vyre_type type)
{
    range r = {.width = vy_type_width(type), .is_signed = vy_type_is_signed(type)};
    wide one = 1;
    r.least = r.is_signed ? -(one << (r.width - 1)) : 0;
    r.largest = r.is_signed ? (one << (r.width - 1)) - 1 : (one << r.width) - 1;
    return r;
}

static wide value_of(vyre_type type, uint64_t bits)
{
    range r = range_of(type);
    wide value = bits;
    return value > r.largest ? value - ((wide)1 << r.width) : value;
}

static uint64_t wrap(vyre_type type, wide value)
{
    unsigned_wide bits = (unsigned_wide)value;
    return (uint64_t)(bits & (((unsigned_wide)1 << vy_type_width(type)) - 1));
}

static uint64_t saturate(vyre_type type, wide value)
{
    range r = range_of(type);
    value = value < r.least ? r.least : value > r.largest ? r.largest : value;
    return wrap(type, value);
}

static uint64_t saturated_product(vyre_type type, wide x, wide y)
{
    if (!vy_type_is_signed(type)) { /* of u64 it does not fit the signed 128 bits */
        unsigned_wide product = (unsigned_wide)x * (unsigned_wide)y;
        unsigned_wide largest = (unsigned_wide)range_of(type).largest;
        return (uint64_t)(product > largest ? largest : product);
    }
    return saturate(type, x * y);
}

static uint64_t rotate(uint32_t width, uint64_t bits, uint32_t by)
{
    for (uint32_t i = 0; i < by % width; i++) {
        uint64_t top = bits >> (width - 1) & 1;
        bits = ((bits << 1) & (ALL64 >> (64 - width))) | top;
    }
    return bits;
}

static wide floor_shift(wide x, uint32_t by)
{
    for (uint32_t i = 0; i < by; i++) {
        x = (x - (x & 1)) / 2;
    }
    return x;
}

/* Of operators with two operands of the type; false where op is none. */
static bool reference(vyre_op op, vyre_type type, uint64_t a, uint64_t b, uint64_t *out)
{
    wide x = value_of(type, a), y = value_of(type, b), one = 1;
    uint32_t width = vy_type_width(type), by = (uint32_t)(b % width);
    switch ((int)op) {
    case OP(ADD):
        *out = wrap(type, x + y);
        return true;
    case OP(SUB):
        *out = wrap(type, x - y);
        return true;
    case OP(MUL):
        *out = wrap(type, (wide)((unsigned_wide)x * (unsigned_wide)y));
        return true;
    case OP(DIV):
        *out = y == 0 ? wrap(type, -1) : wrap(type, x / y);
        return true;
    case OP(REM):
        *out = y == 0 ? 0 : wrap(type, x % y);
        return true;
    case OP(SHL):
        *out = wrap(type, (wide)((unsigned_wide)a << by));
        return true;
    case OP(SHR):
        *out = wrap(type, floor_shift(x, by));
        return true;
    case OP(LT):
        *out = x < y;
        return true;
    case OP(LE):
        *out = x <= y;
        return true;
    case OP(GT):
        *out = x > y;
        return true;
    case OP(GE):
        *out = x >= y;
        return true;
    case OP(MIN):
        *out = wrap(type, x < y ? x : y);
        return true;
    case OP(MAX):
        *out = wrap(type, x > y ? x : y);
        return true;
    case OP(ABS_DIFF):
        *out = wrap(type, x < y ? y - x : x - y);
        return true;
    case OP(MUL_HIGH):
        *out = vy_type_is_signed(type) ? wrap(type, floor_shift(x * y, width))
                                       : (uint64_t)((unsigned_wide)x * (unsigned_wide)y >> width);
        return true;
    case OP(ADD_SAT):
        *out = saturate(type, x + y);
        return true;
    case OP(SUB_SAT):
        *out = saturate(type, x - y);
        return true;
    case OP(MUL_SAT):
        *out = saturated_product(type, x, y);
        return true;
    case OP(ROTATE_LEFT):
        *out = rotate(width, a, by);
        return true;
    case OP(ROTATE_RIGHT):
        *out = rotate(width, a, width - by);
        return true;
    case OP(EXTRACT_BITS): { /* offset b, count 3 */
        uint32_t offset = b > width ? width : (uint32_t)b;
        uint32_t count = width - offset < 3 ? width - offset : 3;
        wide field = floor_shift(a, offset) % (one << count);
        bool negative = vy_type_is_signed(type) && count && field >= one << (count - 1);
        *out = wrap(type, negative ? field - (one << count) : field);
        return true;
    }
    default:
        return false;
    }
}

static void check_pair(vyre_type type, uint64_t a, uint64_t b)
{
    for (uint32_t op = 1; op < VYRE_OP_COUNT; op++) {
        uint64_t expected = 0;
        if (!reference((vyre_op)op, type, a, b, &expected)) {
            continue;
        }
        const uint64_t operands[4] = {a, b, 3, 0};
        bool is_test = vy_op_get((vyre_op)op)->shape == VY_SHAPE_ORDER;
        uint64_t got =
            vy_interp_eval((vyre_op)op, is_test ? VYRE_TYPE_BOOL : type, type, operands, false);
        if (got != expected) {
            fail_msg("%s(%" PRIx64 ", %" PRIx64 ") of %s gave %" PRIx64 ", not %" PRIx64,
                     vy_op_get((vyre_op)op)->name, a, b, vyre_type_keyword(type), got, expected);
        }
    }
}

static void test_all_pairs_of_eight_bits(void **state)
{
    (void)state;
    for (uint32_t a = 0; a < 256; a++) {
        for (uint32_t b = 0; b < 256; b++) {
            check_pair(VYRE_TYPE_U8, a, b);
            check_pair(VYRE_TYPE_I8, a, b);
        }
    }
}

static void test_edge_and_random_pairs_of_every_width(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (size_t t = 0; t < VY_COUNT_OF(integer_types); t++) {
        vyre_type type = integer_types[t];
        uint32_t width = vy_type_width(type);
        uint64_t sign = (uint64_t)1 << (width - 1), values[40];
        const uint64_t edges[] = {0,    1,        2,        3,         7,         8,      sign - 2,
                                  sign, sign - 1, sign + 1, sign / 2,  0 - 1u,    0 - 2u, 15,
                                  16,   31,       32,       33,        63,        64,     65,
                                  100,  sign | 3, ALL64,    ALL64 - 1, ALL64 / 3, 0x55};
        uint32_t count = 0;
        for (; count < VY_COUNT_OF(edges); count++) {
            values[count] = vy_type_bits(type, edges[count]);
        }
        for (; count < VY_COUNT_OF(values); count++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            values[count] = vy_type_bits(type, seed >> 7 ^ seed << 40);
        }
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t j = 0; j < count; j++) {
                check_pair(type, values[i], values[j]);
            }
        }
    }
}

static void test_unary_operators_of_every_width(void **state)
{
    (void)state;
    uint64_t seed = 77;
    for (uint32_t n = 0; n < 4000; n++) {
        vyre_type type = integer_types[n % VY_COUNT_OF(integer_types)];
        uint32_t width = vy_type_width(type), ones = 0, lead = width, trail = width;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t a = vy_type_bits(type, (seed >> 32 | seed << 32) >> (n / 8 % 60)), reversed = 0;
        for (uint32_t bit = 0; bit < width; bit++) {
            if (a >> bit & 1) {
                ones++;
                lead = width - 1 - bit;
                trail = trail == width ? bit : trail;
                reversed |= (uint64_t)1 << (width - 1 - bit);
            }
        }
        wide x = value_of(type, a);
        const struct {
            vyre_op op;
            uint64_t expected;
        } cases[] = {{OP(POPCOUNT), ones},
                     {OP(CLZ), lead},
                     {OP(CTZ), trail},
                     {OP(REVERSE_BITS), reversed},
                     {OP(NEGATE), wrap(type, -x)},
                     {OP(ABS), wrap(type, x < 0 ? -x : x)},
                     {OP(SIGN), wrap(type, (x > 0) - (x < 0))},
                     {OP(COMPLEMENT), wrap(type, -1 - x)}};
        for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
            uint64_t got = vy_interp_eval(cases[i].op, type, type, &a, false);
            if (got != cases[i].expected) {
                fail_msg("%s(%" PRIx64 ") of %s gave %" PRIx64 ", not %" PRIx64,
                         vy_op_get(cases[i].op)->name, a, vyre_type_keyword(type), got,
                         cases[i].expected);
            }
        }
    }
}

static void test_casts_between_integers(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,           1,      0x7f,   0x80,    0xff,
                                      0x100,       0x8000, 0xffff, 0x10000, 0x80000000u,
                                      0xffffffffu, MIN64,  MAX64,  ALL64};
    for (size_t f = 0; f < VY_COUNT_OF(integer_types); f++) {
        for (size_t t = 0; t < VY_COUNT_OF(integer_types); t++) {
            for (size_t i = 0; i < VY_COUNT_OF(values); i++) {
                vyre_type from = integer_types[f], to = integer_types[t];
                uint64_t a = vy_type_bits(from, values[i]);
                uint64_t got = vy_interp_eval(OP(CAST), to, from, &a, false);
                assert_int_equal(got, wrap(to, value_of(from, a)));
            }
        }
        uint64_t a = vy_type_bits(integer_types[f], 0x180);
        assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_BOOL, integer_types[f], &a, false), 1);
        a = 7; /* a bool that is true */
        assert_int_equal(vy_interp_eval(OP(CAST), integer_types[f], VYRE_TYPE_BOOL, &a, false), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_of_each_width),
        cmocka_unit_test(test_all_pairs_of_eight_bits),
        cmocka_unit_test(test_edge_and_random_pairs_of_every_width),
        cmocka_unit_test(test_unary_operators_of_every_width),
        cmocka_unit_test(test_casts_between_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
