/* f16 and f64 against literal results and against the processor's arithmetic, bf16 rounding, and
 * casts between floats and integers of every width. */
#include "codegen/interp/eval.h"
#include "codegen/interp/float.h"
#include "codegen/ir/ir.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

__extension__ typedef __int128 wide;

enum {
    H = VYRE_TYPE_F16,
    F = VYRE_TYPE_F32,
    D = VYRE_TYPE_F64,
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

#define OP(name) VYRE_OP_##name
#define HNAN     0x7e00u
#define HINF     0x7c00u
#define HNINF    0xfc00u
#define HONE     0x3c00u
#define DNAN     0x7ff8000000000000u
#define DINF     0x7ff0000000000000u
#define DSIGN    0x8000000000000000u
#define DONE     0x3ff0000000000000u
#define DHALF    0x3fe0000000000000u
#define DLEAST   0x0010000000000000u /* the least normal one */
#define ALL64    UINT64_MAX
#define MIN64    0x8000000000000000u
#define MAX64    0x7fffffffffffffffu

typedef struct row {
    vyre_op op;
    int result, operand;
    uint64_t operands[3], expected;
} row;

static void check_rows(const row *rows, size_t count)
{
    for (size_t i = 0; i < count * 2; i++) {
        const row *r = &rows[i / 2];
        uint64_t got = vy_interp_eval(r->op, (vyre_type)r->result, (vyre_type)r->operand,
                                      r->operands, i & 1); /* nothing here is flushed */
        if (got != r->expected) {
            fail_msg("row %zu: %s of %s to %s gave %" PRIx64 ", not %" PRIx64, i / 2,
                     vy_op_get(r->op)->name, vyre_type_keyword((vyre_type)r->operand),
                     vyre_type_keyword((vyre_type)r->result), got, r->expected);
        }
    }
}
#define CHECK_ROWS(rows) check_rows(rows, VY_COUNT_OF(rows))

static void test_f16_operators(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(ADD), H, H, {HONE, 0x1000}, HONE}, /* 1 + 2^-11: tie to even */
        {OP(ADD), H, H, {0x3c01, 0x1000}, 0x3c02},
        {OP(ADD), H, H, {0x7bff, 0x4c00}, HINF},   /* 65504 + 16 */
        {OP(ADD), H, H, {0x7bff, 0x4bff}, 0x7bff}, /* under half a unit */
        {OP(ADD), H, H, {HINF, HNINF}, HNAN},
        {OP(ADD), H, H, {0x8000, 0x8000}, 0x8000},
        {OP(ADD), H, H, {1, 1}, 2},
        {OP(ADD), H, H, {0x7c01, HONE}, HNAN},
        {OP(SUB), H, H, {HONE, HONE}, 0},
        {OP(SUB), H, H, {0x0400, 1}, 0x03ff},
        {OP(MUL), H, H, {1, 0x3800}, 0}, /* half of the least: tie */
        {OP(MUL), H, H, {3, 0x3800}, 2},
        {OP(MUL), H, H, {0x7bff, 0x7bff}, HINF},
        {OP(MUL), H, H, {0, HINF}, HNAN},
        {OP(DIV), H, H, {HONE, 0x4200}, 0x3555}, /* 1 / 3 */
        {OP(DIV), H, H, {HONE, 0x8000}, HNINF},
        {OP(DIV), H, H, {0, 0}, HNAN},
        {OP(SQRT), H, H, {0x4000}, 0x3da8}, /* sqrt 2 */
        {OP(SQRT), H, H, {0x8000}, 0x8000},
        {OP(SQRT), H, H, {0xbc00}, HNAN},
        {OP(FMA), H, H, {0x3c01, 0x3c01, 0xbc02}, 0x0010}, /* 2^-20 */
        /* (1 + 2^-10) 1.5 - 2^-24 is under a tie; rounded twice it would be one, and even is up. */
        {OP(FMA), H, H, {0x3c01, 0x3e00, 0x8001}, 0x3e01},
        {OP(FMA), H, H, {HINF, 0, HONE}, HNAN},
        {OP(NEGATE), H, H, {0}, 0x8000},
        {OP(NEGATE), H, H, {0xfe01}, HNAN},
        {OP(ABS), H, H, {HNINF}, HINF},
        {OP(SIGN), H, H, {0x8001}, 0xbc00},
        {OP(SIGN), H, H, {0xfe00}, 0},
        {OP(ABS_DIFF), H, H, {HONE, 0x4200}, 0x4000},
        {OP(COPYSIGN), H, H, {HONE, 0x8000}, 0xbc00},
        {OP(MIN), H, H, {0, 0x8000}, 0x8000},
        {OP(MAX), H, H, {0x7c01, 0xbc00}, 0xbc00},
        {OP(MIN), H, H, {0x7c01, 0xfe00}, HNAN},
        {OP(CLAMP), H, H, {HNAN, 0, HONE}, 0},
        {OP(FLOOR), H, H, {0xb800}, 0xbc00},
        {OP(CEIL), H, H, {1}, HONE},
        {OP(TRUNC), H, H, {0xbe00}, 0xbc00},
        {OP(FRACT), H, H, {0x8001}, HONE}, /* rounds up to 1 */
        {OP(FRACT), H, H, {0x3d00}, 0x3400},
        {OP(ROUND), H, H, {0xb800}, 0xbc00},
        {OP(ROUND), H, H, {0x37ff}, 0},
        {OP(ROUND_EVEN), H, H, {0x4100}, 0x4000}, /* 2.5 */
        {OP(ROUND_EVEN), H, H, {0x3e00}, 0x4000}, /* 1.5 */
        {OP(ROUND_EVEN), H, H, {0x63ff}, 0x6400}, /* 1023.5 */
        {OP(ROUND), H, H, {0x6401}, 0x6401},
        {OP(EQ), B, H, {0x8000, 0}, 1},
        {OP(LT), B, H, {0x8001, 0}, 1},
        {OP(NE), B, H, {HNAN, HNAN}, 1},
        {OP(GE), B, H, {HNAN, HNAN}, 0},
        {OP(IS_NAN), B, H, {0x7c01}, 1},
        {OP(IS_INF), B, H, {HNINF}, 1},
        {OP(IS_FINITE), B, H, {0x7bff}, 1},
        {OP(EXP2), H, H, {0x4900}, 0x6400}, /* 2^10 */
        {OP(EXP), H, H, {0x4c00}, HINF},    /* e^16 */
        {OP(RECIPROCAL), H, H, {0x4400}, 0x3400},
        {OP(POW), H, H, {0x4000, 0x4200}, 0x4800},
        {OP(SELECT), H, B, {1, 0x7c01, 0}, 0x7c01},
        {OP(BITCAST), U16, H, {0xfe01}, 0xfe01},
    };
    CHECK_ROWS(rows);
}

static void test_f64_operators(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(ADD), D, D, {DONE, 0x3ca0000000000000u}, DONE}, /* 1 + 2^-53: tie */
        {OP(ADD), D, D, {DONE + 1, 0x3ca0000000000000u}, DONE + 2},
        {OP(ADD), D, D, {0x7fefffffffffffffu, 0x7fefffffffffffffu}, DINF},
        {OP(ADD), D, D, {DINF, DINF | DSIGN}, DNAN},
        {OP(ADD), D, D, {DSIGN, DSIGN}, DSIGN},
        {OP(ADD), D, D, {DSIGN, 0}, 0},
        {OP(ADD), D, D, {1, 1}, 2},
        {OP(SUB), D, D, {DONE, DONE}, 0},
        {OP(SUB), D, D, {DLEAST, 1}, DLEAST - 1},
        {OP(SUB), D, D, {0, 0}, 0},
        {OP(SUB), D, D, {DSIGN, 0}, DSIGN},
        {OP(MUL), D, D, {1, DHALF}, 0},
        {OP(MUL), D, D, {3, DHALF}, 2},
        {OP(MUL), D, D, {1, DSIGN | 1}, DSIGN},
        {OP(MUL), D, D, {0, DINF}, DNAN},
        {OP(MUL), D, D, {DSIGN, DONE}, DSIGN},
        {OP(MUL), D, D, {DINF, DSIGN | DONE}, DINF | DSIGN},
        {OP(DIV), D, D, {DONE, 0x4008000000000000u}, 0x3fd5555555555555u},
        {OP(DIV), D, D, {DONE, DSIGN}, DINF | DSIGN},
        {OP(DIV), D, D, {0, DSIGN}, DNAN},
        {OP(DIV), D, D, {DINF, DINF}, DNAN},
        {OP(DIV), D, D, {DONE, DINF}, 0},
        {OP(DIV), D, D, {3, 0x4000000000000000u}, 2},
        {OP(SQRT), D, D, {0x4000000000000000u}, 0x3ff6a09e667f3bcdu},
        {OP(SQRT), D, D, {DSIGN}, DSIGN},
        {OP(SQRT), D, D, {DSIGN | DONE}, DNAN},
        {OP(SQRT), D, D, {DINF}, DINF},
        {OP(FMA), D, D, {DONE + 1, DONE + 1, DSIGN | (DONE + 2)}, 0x3970000000000000u}, /* 2^-104 */
        {OP(FMA), D, D, {DINF, 0, DONE}, DNAN},
        {OP(FMA), D, D, {DINF, DONE, DSIGN | DINF}, DNAN},
        {OP(FMA), D, D, {0, DONE, DSIGN}, 0},
        {OP(FMA), D, D, {DONE, DONE, DSIGN | DONE}, 0},
        {OP(NEGATE), D, D, {0x7ff0000000000001u}, DNAN},
        {OP(ABS), D, D, {DSIGN | 1}, 1},
        {OP(SIGN), D, D, {DSIGN | 1}, DSIGN | DONE},
        {OP(ABS_DIFF), D, D, {DONE, 0x4008000000000000u}, 0x4000000000000000u},
        {OP(COPYSIGN), D, D, {DONE, DSIGN}, DSIGN | DONE},
        {OP(MIN), D, D, {0, DSIGN}, DSIGN},
        {OP(MAX), D, D, {0x7ff0000000000001u, DONE}, DONE},
        {OP(CLAMP), D, D, {DNAN, 0, DONE}, 0},
        {OP(FLOOR), D, D, {DSIGN | 1}, DSIGN | DONE},
        {OP(CEIL), D, D, {DSIGN | DHALF}, DSIGN},
        {OP(CEIL), D, D, {1}, DONE},
        {OP(FRACT), D, D, {DSIGN | 1}, DONE},
        {OP(ROUND), D, D, {0x3fdfffffffffffffu}, 0},
        {OP(ROUND), D, D, {DSIGN | DHALF}, DSIGN | DONE},
        {OP(ROUND_EVEN), D, D, {0x4004000000000000u}, 0x4000000000000000u},
        {OP(ROUND_EVEN), D, D, {0x432fffffffffffffu}, 0x4330000000000000u}, /* 2^52 - 0.5 */
        {OP(ROUND_EVEN), D, D, {DNAN | 5}, DNAN},
        {OP(EQ), B, D, {DSIGN, 0}, 1},
        {OP(LT), B, D, {DSIGN | 1, 0}, 1},
        {OP(NE), B, D, {DNAN, DNAN}, 1},
        {OP(IS_NAN), B, D, {0x7ff0000000000001u}, 1},
        {OP(IS_INF), B, D, {DINF | DSIGN}, 1},
        {OP(IS_FINITE), B, D, {DINF - 1}, 1},
        {OP(SELECT), D, B, {0, 0, 0x7ff0000000000001u}, 0x7ff0000000000001u},
        {OP(BITCAST), U64, D, {DNAN | 3}, DNAN | 3},
    };
    CHECK_ROWS(rows);
}

static void test_casts_with_floats(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(CAST), U8, F, {0x437f8000u}, 255}, /* 255.5 */
        {OP(CAST), U8, F, {0xbf800000u}, 0},
        {OP(CAST), I8, F, {0xc3010000u}, 0x80}, /* -129 */
        {OP(CAST), I8, F, {0xc2fe0000u}, 0x81}, /* -127 */
        {OP(CAST), U16, H, {0x7bff}, 65504},
        {OP(CAST), U16, H, {HINF}, 65535},
        {OP(CAST), I16, H, {HNINF}, 0x8000},
        {OP(CAST), I16, H, {0x7800}, 0x7fff}, /* 32768 */
        {OP(CAST), U64, H, {HNAN}, 0},
        {OP(CAST), U64, F, {0x5f7fffffu}, 0xffffff0000000000u},
        {OP(CAST), U64, F, {0x5f800000u}, ALL64}, /* 2^64 */
        {OP(CAST), I64, F, {0xdf000000u}, MIN64},
        {OP(CAST), I64, F, {0x5f000000u}, MAX64},
        {OP(CAST), I64, D, {0xc3e0000000000000u}, MIN64}, /* -2^63 */
        {OP(CAST), I64, D, {0xc3e0000000000001u}, MIN64},
        {OP(CAST), I64, D, {0xbfffffffffffffffu}, ALL64}, /* over -2 */
        {OP(CAST), U32, D, {0x41efffffffffffffu}, 0xffffffffu},
        {OP(CAST), U32, D, {1}, 0},
        {OP(CAST), I32, D, {0xc1e0000000200000u}, 0x80000000u},
        {OP(CAST), B, D, {1}, 1},
        {OP(CAST), B, H, {0x8000}, 0},
        {OP(CAST), B, D, {DNAN}, 1},
        {OP(CAST), H, U32, {65519}, 0x7bff},
        {OP(CAST), H, U32, {65520}, HINF},
        {OP(CAST), H, I64, {MIN64}, HNINF},
        {OP(CAST), H, I16, {0xffff}, 0xbc00},
        {OP(CAST), H, U16, {2049}, 0x6800}, /* tie to even */
        {OP(CAST), H, U16, {2051}, 0x6802},
        {OP(CAST), H, B, {1}, HONE},
        {OP(CAST), F, U64, {ALL64}, 0x5f800000u},
        {OP(CAST), F, I64, {MIN64}, 0xdf000000u},
        {OP(CAST), F, U64, {0x8000008000000000u}, 0x5f000000u}, /* tie */
        {OP(CAST), F, U64, {0x8000008000000001u}, 0x5f000001u}, /* a double would lose the 1 */
        {OP(CAST), D, I64, {ALL64}, 0xbff0000000000000u},
        {OP(CAST), D, U64, {ALL64}, 0x43f0000000000000u},
        {OP(CAST), D, U64, {0x20000000000001u}, 0x4340000000000000u},
        {OP(CAST), D, I8, {0x80}, 0xc060000000000000u},
        {OP(CAST), D, B, {1}, DONE},
        {OP(CAST), F, H, {1}, 0x33800000u}, /* 2^-24 */
        {OP(CAST), F, H, {0xfe01}, 0x7fc00000u},
        {OP(CAST), F, H, {HNINF}, 0xff800000u},
        {OP(CAST), F, H, {0x8000}, 0x80000000u},
        {OP(CAST), H, F, {0x477fefffu}, 0x7bff}, /* under 65520 */
        {OP(CAST), H, F, {0x477ff000u}, HINF},
        {OP(CAST), H, F, {0x33000000u}, 0}, /* 2^-25: tie */
        {OP(CAST), H, F, {0x33000001u}, 1},
        {OP(CAST), H, F, {0x7f800001u}, HNAN},
        {OP(CAST), D, F, {1}, 0x36a0000000000000u}, /* 2^-149 */
        {OP(CAST), D, F, {0xff800000u}, DINF | DSIGN},
        {OP(CAST), F, D, {0x3690000000000000u}, 0}, /* 2^-150: tie */
        {OP(CAST), F, D, {0x3690000000000001u}, 1},
        {OP(CAST), F, D, {1}, 0},
        {OP(CAST), F, D, {DSIGN | 1}, 0x80000000u},
        {OP(CAST), F, D, {0x47efffffefffffffu}, 0x7f7fffffu},
        {OP(CAST), F, D, {0x47effffff0000000u}, 0x7f800000u},
        /* 1 + 2^-11 + 2^-40: by way of f32 it would be a tie, and even is down. */
        {OP(CAST), H, D, {0x3ff0020000001000u}, 0x3c01},
        {OP(CAST), D, D, {0x7ff0000000000001u}, 0x7ff0000000000001u},
    };
    CHECK_ROWS(rows);
}

/* ---- Against the processor ------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? DNAN : bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Exponents that meet, denormals, long runs of equal bits. */
static uint64_t random_f64(uint64_t *seed)
{
    uint64_t bits = next(seed), how = next(seed);
    if (how & 1) {
        bits = (bits & 0x801fffffffffffffu) | (uint64_t)(1000 + how / 2 % 60) << 52;
    }
    if (how & 0x100) {
        bits = (bits & ~(ALL64 >> 12)) | (ALL64 >> 12 & (ALL64 << (how >> 9) % 52));
    }
    if ((how >> 20 & 15) == 0) {
        bits &= DSIGN | ALL64 >> 12;
    }
    return bits;
}

/* MinGW's adds in pieces, which is no oracle. */
static bool has_fused_fma(void)
{
    volatile double x = double_of(0xbeb58b83b3d5847du), y = double_of(0xc1bffffffffffc00u);
    return bits_of(fma(x, y, double_of(0xc0858b83b3d581cau))) == 0x3d48f89854f70600u;
}

/* MinGW's adds a half first, which rounds up just below one. */
static bool has_right_round(void)
{
    volatile double x = double_of(0xbfdfffffffffffffu);
    return round(x) == 0;
}

static void test_f64_equals_native_doubles(void **state)
{
    (void)state;
    static const vyre_op ops[] = {OP(ADD),   OP(SUB),  OP(MUL),   OP(DIV),   OP(SQRT), OP(FMA),
                                  OP(FLOOR), OP(CEIL), OP(TRUNC), OP(ROUND), OP(FRACT)};
    uint64_t seed = 0x9e3779b97f4a7c15u;
    for (uint32_t n = 0; n < 400000; n++) {
        const uint64_t bits[3] = {random_f64(&seed), random_f64(&seed), random_f64(&seed)};
        double x = double_of(bits[0]), y = double_of(bits[1]), z = double_of(bits[2]);
        vyre_op op = ops[n % VY_COUNT_OF(ops)];
        if ((op == OP(FMA) && !has_fused_fma()) || (op == OP(ROUND) && !has_right_round())) {
            continue;
        }
        double expected = op == OP(ADD)     ? x + y
                          : op == OP(SUB)   ? x - y
                          : op == OP(MUL)   ? x * y
                          : op == OP(DIV)   ? x / y
                          : op == OP(SQRT)  ? sqrt(x)
                          : op == OP(FLOOR) ? floor(x)
                          : op == OP(CEIL)  ? ceil(x)
                          : op == OP(TRUNC) ? trunc(x)
                          : op == OP(ROUND) ? round(x)
                          : op == OP(FRACT) ? x - floor(x)
                                            : fma(x, y, z);
        uint64_t got = vy_interp_eval(op, VYRE_TYPE_F64, VYRE_TYPE_F64, bits, false);
        if (got != bits_of(expected)) {
            fail_msg("%s %016" PRIx64 " %016" PRIx64 " %016" PRIx64 ": %016" PRIx64
                     ", not %016" PRIx64,
                     vy_op_get(op)->name, bits[0], bits[1], bits[2], got, bits_of(expected));
        }
    }
}

static void test_f64_sums_that_cancel_equal_native_doubles(void **state)
{
    (void)state;
    uint64_t seed = 99;
    if (!has_fused_fma()) {
        print_message("this C library's fma is not fused: nothing to compare with\n");
        return;
    }
    for (uint32_t n = 0; n < 200000; n++) {
        uint64_t x = random_f64(&seed), y = random_f64(&seed);
        /* Near minus the product, by a few units in different places. */
        uint64_t z = bits_of(-(double_of(x) * double_of(y))) + (next(&seed) % 5 - 2);
        const uint64_t bits[3] = {x, y, z};
        uint64_t expected = bits_of(fma(double_of(x), double_of(y), double_of(z)));
        uint64_t got = vy_interp_eval(OP(FMA), VYRE_TYPE_F64, VYRE_TYPE_F64, bits, false);
        if (got != expected) {
            fail_msg("fma %016" PRIx64 " %016" PRIx64 " %016" PRIx64 ": %016" PRIx64
                     ", not %016" PRIx64,
                     x, y, z, got, expected);
        }
    }
}

static void test_casts_equal_native_ones(void **state)
{
    (void)state;
    uint64_t seed = 4242;
    for (uint32_t n = 0; n < 100000; n++) {
        uint64_t bits = random_f64(&seed), integer = next(&seed) >> n % 64;
        double value = double_of(bits);
        float narrow = (float)value, of_integer = (float)integer;
        uint32_t expected, of_integer_bits;
        memcpy(&expected, &narrow, sizeof expected);
        memcpy(&of_integer_bits, &of_integer, sizeof of_integer_bits);
        expected = isnan(narrow) ? 0x7fc00000u : expected;
        assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_F32, VYRE_TYPE_F64, &bits, false),
                         expected);
        assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_F32, VYRE_TYPE_U64, &integer, false),
                         of_integer_bits);
        assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_F64, VYRE_TYPE_U64, &integer, false),
                         bits_of((double)integer));
        if (fabs(value) < 0x1p62) {
            assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_I64, VYRE_TYPE_F64, &bits, false),
                             (uint64_t)(int64_t)value);
        }
    }
}

/* ---- f16 against exact integers -------------------------------------------------------------- */

/* The value in units of 2^-24; finite ones only. */
static int64_t units(uint32_t bits)
{
    int64_t fraction = bits & 0x3ff;
    uint32_t exponent = bits >> 10 & 31;
    int64_t value = exponent ? (fraction | 0x400) * ((int64_t)1 << (exponent - 1)) : fraction;
    return bits & 0x8000 ? -value : value;
}

/* An exact value in units of 2^-48, to the nearest f16: the least one that is not too small, found
 * by search. */
static uint32_t nearest(wide value)
{
    wide magnitude = value < 0 ? -value : value, scale = (wide)1 << 24;
    uint32_t low = 0, high = 0x7c00; /* units(low) <= magnitude < units(high) */
    if (magnitude >= (wide)65520 << 48) {
        return value < 0 ? HNINF : HINF;
    }
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if ((wide)units(middle) * scale <= magnitude) {
            low = middle;
        } else {
            high = middle;
        }
    }
    wide below = magnitude - (wide)units(low) * scale;
    wide above =
        high == 0x7c00 ? ((wide)65536 << 48) - magnitude : (wide)units(high) * scale - magnitude;
    uint32_t pick = below < above || (below == above && !(low & 1)) ? low : high;
    return value < 0 ? pick | 0x8000 : pick;
}

static void test_f16_arithmetic_is_rounded_once(void **state)
{
    (void)state;
    uint64_t seed = 31337;
    for (uint32_t n = 0; n < 200000; n++) {
        uint64_t random = next(&seed),
                 v[3] = {random & 0xffff, random >> 16 & 0xffff, random >> 32 & 0xffff};
        if (n & 1) { /* near the least ones */
            v[n / 2 % 3] &= 0x83ff;
        }
        if ((v[0] & HINF) == HINF || (v[1] & HINF) == HINF || (v[2] & HINF) == HINF) {
            continue;
        }
        wide x = units((uint32_t)v[0]), y = units((uint32_t)v[1]), z = units((uint32_t)v[2]);
        wide scale = (wide)1 << 24;
        const struct {
            vyre_op op;
            wide exact;
        } cases[] = {{OP(ADD), (x + y) * scale},
                     {OP(SUB), (x - y) * scale},
                     {OP(MUL), x * y},
                     {OP(FMA), x * y + z * scale}};
        for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
            uint64_t got = vy_interp_eval(cases[i].op, VYRE_TYPE_F16, VYRE_TYPE_F16, v, false);
            uint32_t expected = nearest(cases[i].exact);
            bool is_zero = cases[i].exact == 0; /* of either sign */
            if (is_zero ? (got & 0x7fff) != 0 : got != expected) {
                fail_msg("%s %04x %04x %04x: %04x, not %04x", vy_op_get(cases[i].op)->name,
                         (unsigned)v[0], (unsigned)v[1], (unsigned)v[2], (unsigned)got, expected);
            }
        }
    }
}

/* q is nearest where the remainder of the division is at most half a step either way. */
static void test_f16_quotients_and_roots_are_nearest(void **state)
{
    (void)state;
    for (uint32_t a = 1; a < 0x7c00; a += 7) {
        for (uint32_t b = 1; b < 0x7c00; b += 131) {
            const uint64_t v[2] = {a, b};
            uint64_t q = vy_interp_eval(OP(DIV), VYRE_TYPE_F16, VYRE_TYPE_F16, v, false);
            /* The double quotient is within 2^-53 and no f16 tie is that near (the file says why).
             */
            double exact = ldexp((double)units(a) / (double)units(b), 24);
            if (exact > 0x1p40 || exact < 16) {
                continue; /* too large or too small for the integers here */
            }
            uint32_t expected = nearest((wide)ldexp(exact, 20) << 4);
            if (q != expected) {
                fail_msg("%04x / %04x: %04x, not %04x", a, b, (unsigned)q, expected);
            }
        }
        const uint64_t v[1] = {a};
        uint64_t root = vy_interp_eval(OP(SQRT), VYRE_TYPE_F16, VYRE_TYPE_F16, v, false);
        wide square = (wide)units(a) << 24; /* in units of 2^-48 */
        wide low = (wide)units((uint32_t)root - 1) + units((uint32_t)root);
        wide high = (wide)units((uint32_t)root + 1) + units((uint32_t)root);
        assert_true(low * low < 4 * square && 4 * square < high * high);
    }
}

static void test_bf16_rounds_to_nearest_even(void **state)
{
    (void)state;
    static const struct {
        uint32_t f32, bf16;
    } rows[] = {
        {0x3f800000u, 0x3f80}, {0x3f808000u, 0x3f80}, {0x3f808001u, 0x3f81}, {0x3f818000u, 0x3f82},
        {0x7f7f7fffu, 0x7f7f}, {0x7f7f8000u, 0x7f80}, {0xff7fffffu, 0xff80}, {0x7f800000u, 0x7f80},
        {0xff800000u, 0xff80}, {0x7f800001u, 0x7fc0}, {0xffffffffu, 0x7fc0}, {0x80000000u, 0x8000},
        {0x00008000u, 0x0000}, {0x00018000u, 0x0002}, {0x00008001u, 0x0001}, {0x007fffffu, 0x0080},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_int_equal(vy_bf16_of_f32(rows[i].f32), rows[i].bf16);
    }
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        bool is_nan = (bits & 0x7fff) > 0x7f80;
        assert_int_equal(vy_bf16_of_f32(bits << 16), is_nan ? 0x7fc0 : bits);
    }
}

static void test_f16_round_trips_by_wider_floats(void **state)
{
    (void)state;
    for (uint64_t bits = 0; bits < 0x10000; bits++) {
        bool is_nan = (bits & 0x7fff) > HINF;
        uint64_t single = vy_interp_eval(OP(CAST), VYRE_TYPE_F32, VYRE_TYPE_F16, &bits, false);
        uint64_t twice = vy_interp_eval(OP(CAST), VYRE_TYPE_F64, VYRE_TYPE_F16, &bits, false);
        assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_F16, VYRE_TYPE_F32, &single, false),
                         is_nan ? HNAN : bits);
        assert_int_equal(vy_interp_eval(OP(CAST), VYRE_TYPE_F16, VYRE_TYPE_F64, &twice, false),
                         is_nan ? HNAN : bits);
        if ((bits & HINF) != HINF) {
            assert_true(double_of(twice) == ldexp((double)units((uint32_t)bits), -24));
        }
    }
}

/* Of a thread that flushes denormals and rounds upwards, f64 and casts do not notice. */
static void test_f64_and_casts_ignore_the_threads_modes(void **state)
{
    (void)state;
#if defined(__SSE2__)
    static const row rows[] = {
        {OP(ADD), D, D, {1, 1}, 2},
        {OP(ADD), D, D, {DONE, 1}, DONE},
        {OP(SUB), D, D, {DLEAST, 1}, DLEAST - 1},
        {OP(MUL), D, D, {3, DHALF}, 2},
        {OP(DIV), D, D, {DONE, 0x4008000000000000u}, 0x3fd5555555555555u},
        {OP(DIV), D, D, {3, 0x4000000000000000u}, 2},
        {OP(SQRT), D, D, {4}, 0x1e70000000000000u}, /* 2^-1072 */
        {OP(FMA), D, D, {1, DONE, 1}, 2},
        {OP(FLOOR), D, D, {DSIGN | 1}, DSIGN | DONE},
        {OP(FRACT), D, D, {1}, 1},
        {OP(LT), B, D, {0, 1}, 1},
        {OP(MAX), D, D, {0, 1}, 1},
        {OP(CAST), B, D, {1}, 1},
        {OP(CAST), F, D, {0x36a0000000000000u}, 1},
        {OP(CAST), D, F, {1}, 0x36a0000000000000u},
        {OP(CAST), F, H, {1}, 0x33800000u},
        {OP(CAST), H, F, {0x33800000u}, 1},
        {OP(CAST), F, U64, {0x8000008000000000u}, 0x5f000000u},
    };
    unsigned modes = _mm_getcsr();
    _mm_setcsr(modes | 0x8040u | 0x4000u);
    uint64_t got[VY_COUNT_OF(rows)];
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        got[i] = vy_interp_eval(rows[i].op, (vyre_type)rows[i].result, (vyre_type)rows[i].operand,
                                rows[i].operands, false);
    }
    _mm_setcsr(modes);
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_int_equal(got[i], rows[i].expected);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f64_and_casts_ignore_the_threads_modes),
        cmocka_unit_test(test_f16_operators),
        cmocka_unit_test(test_f64_operators),
        cmocka_unit_test(test_casts_with_floats),
        cmocka_unit_test(test_f64_equals_native_doubles),
        cmocka_unit_test(test_f64_sums_that_cancel_equal_native_doubles),
        cmocka_unit_test(test_casts_equal_native_ones),
        cmocka_unit_test(test_f16_arithmetic_is_rounded_once),
        cmocka_unit_test(test_f16_quotients_and_roots_are_nearest),
        cmocka_unit_test(test_bf16_rounds_to_nearest_even),
        cmocka_unit_test(test_f16_round_trips_by_wider_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
