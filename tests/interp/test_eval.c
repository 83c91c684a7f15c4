/* Every operator of the interpreter against literal results, at the edges first. */
#include "codegen/interp/eval.h"
#include "codegen/interp/float.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { B = VYRE_TYPE_BOOL, U = VYRE_TYPE_U32, I = VYRE_TYPE_I32, F = VYRE_TYPE_F32 };

#define NAN_   0x7fc00000u
#define INF    0x7f800000u
#define NINF   0xff800000u
#define NZERO  0x80000000u
#define ONE    0x3f800000u
#define NONE   0xbf800000u
#define HALF   0x3f000000u
#define SNAN   0x7f800001u
#define QNAN   0xffc12345u
#define DENORM 0x00000001u
#define MIN_   0x80000000u
#define MAX_   0x7fffffffu
#define ALL    0xffffffffu

typedef struct row {
    vyre_op op;
    int result, operand;
    uint32_t x, y, z, w, expected;
} row;

#define OP(name) VYRE_OP_##name

static uint32_t eval(const row *r, bool flush)
{
    uint64_t operands[4] = {r->x, r->y, r->z, r->w};
    return (uint32_t)vy_interp_eval(r->op, (vyre_type)r->result, (vyre_type)r->operand, operands,
                                    flush);
}

static void check_rows(const row *rows, size_t count, bool flush)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t got = eval(&rows[i], flush);
        if (got != rows[i].expected) {
            fail_msg("row %zu: %s(%08x %08x %08x %08x) of type %d gave %08x, not %08x", i,
                     vy_op_get(rows[i].op)->name, rows[i].x, rows[i].y, rows[i].z, rows[i].w,
                     rows[i].operand, got, rows[i].expected);
        }
    }
}
#define CHECK_ROWS(rows, flush) check_rows(rows, VY_COUNT_OF(rows), flush)

static void test_integer_arithmetic_wraps_and_is_total(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(ADD), U, U, ALL, 2, 0, 0, 1},
        {OP(ADD), I, I, MAX_, 1, 0, 0, MIN_},
        {OP(SUB), U, U, 0, 1, 0, 0, ALL},
        {OP(SUB), I, I, MIN_, 1, 0, 0, MAX_},
        {OP(MUL), U, U, 0x10001, 0x10001, 0, 0, 0x20001},
        {OP(MUL), I, I, MIN_, ALL, 0, 0, MIN_},
        {OP(DIV), U, U, 7, 2, 0, 0, 3},
        {OP(DIV), U, U, 7, 0, 0, 0, ALL},
        {OP(DIV), U, U, 0, 0, 0, 0, ALL},
        {OP(DIV), U, U, MIN_, ALL, 0, 0, 0},
        {OP(DIV), I, I, 0xfffffff9u, 2, 0, 0, 0xfffffffdu},
        {OP(DIV), I, I, 7, 0xfffffffeu, 0, 0, 0xfffffffdu},
        {OP(DIV), I, I, 7, 0, 0, 0, ALL},
        {OP(DIV), I, I, MIN_, ALL, 0, 0, MIN_},
        {OP(REM), U, U, 7, 4, 0, 0, 3},
        {OP(REM), U, U, 7, 0, 0, 0, 0},
        {OP(REM), I, I, 0xfffffff9u, 4, 0, 0, 0xfffffffdu},
        {OP(REM), I, I, 7, 0xfffffffcu, 0, 0, 3},
        {OP(REM), I, I, MIN_, ALL, 0, 0, 0},
        {OP(REM), I, I, 5, 0, 0, 0, 0},
        {OP(NEGATE), U, U, 1, 0, 0, 0, ALL},
        {OP(NEGATE), I, I, MIN_, 0, 0, 0, MIN_},
        {OP(COMPLEMENT), U, U, 0xf0f0f0f0u, 0, 0, 0, 0x0f0f0f0fu},
        {OP(ABS), I, I, MIN_, 0, 0, 0, MIN_},
        {OP(ABS), I, I, 0xfffffffbu, 0, 0, 0, 5},
        {OP(ABS), I, I, 5, 0, 0, 0, 5},
        {OP(SIGN), I, I, MIN_, 0, 0, 0, ALL},
        {OP(SIGN), I, I, 0, 0, 0, 0, 0},
        {OP(SIGN), I, I, 9, 0, 0, 0, 1},
        {OP(ABS_DIFF), U, U, 3, 10, 0, 0, 7},
        {OP(ABS_DIFF), U, U, ALL, 0, 0, 0, ALL},
        {OP(ABS_DIFF), U, I, MIN_, MAX_, 0, 0, ALL},
        {OP(ABS_DIFF), U, I, 5, 0xfffffffbu, 0, 0, 10},
        {OP(MUL_HIGH), U, U, ALL, ALL, 0, 0, 0xfffffffeu},
        {OP(MUL_HIGH), I, I, ALL, ALL, 0, 0, 0},
        {OP(MUL_HIGH), I, I, MIN_, MIN_, 0, 0, 0x40000000u},
        {OP(MUL_HIGH), I, I, MIN_, 1, 0, 0, ALL},
        {OP(ADD_SAT), U, U, ALL, 1, 0, 0, ALL},
        {OP(ADD_SAT), U, U, 1, 2, 0, 0, 3},
        {OP(ADD_SAT), I, I, MAX_, 1, 0, 0, MAX_},
        {OP(ADD_SAT), I, I, MIN_, ALL, 0, 0, MIN_},
        {OP(SUB_SAT), U, U, 1, 2, 0, 0, 0},
        {OP(SUB_SAT), I, I, MIN_, 1, 0, 0, MIN_},
        {OP(SUB_SAT), I, I, 0, MIN_, 0, 0, MAX_},
        {OP(MUL_SAT), U, U, 0x10000, 0x10000, 0, 0, ALL},
        {OP(MUL_SAT), U, U, 0xffff, 0x10001, 0, 0, ALL},
        {OP(MUL_SAT), I, I, MIN_, ALL, 0, 0, MAX_},
        {OP(MUL_SAT), I, I, MIN_, 2, 0, 0, MIN_},
        {OP(MUL_SAT), I, I, 0xfffffffdu, 5, 0, 0, 0xfffffff1u},
        {OP(MIN), U, U, ALL, 1, 0, 0, 1},
        {OP(MIN), I, I, ALL, 1, 0, 0, ALL},
        {OP(MAX), U, U, ALL, 1, 0, 0, ALL},
        {OP(MAX), I, I, ALL, 1, 0, 0, 1},
        {OP(CLAMP), U, U, 9, 2, 5, 0, 5},
        {OP(CLAMP), U, U, 1, 2, 5, 0, 2},
        {OP(CLAMP), U, U, 3, 5, 2, 0, 2}, /* low over high: min comes last */
        {OP(CLAMP), I, I, MIN_, ALL, 1, 0, ALL},
    };
    CHECK_ROWS(rows, false);
    CHECK_ROWS(rows, true);
}

static void test_bit_operators_clamp_their_amounts(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(AND), U, U, 0xff00ff00u, 0x0ff00ff0u, 0, 0, 0x0f000f00u},
        {OP(OR), U, U, 0xff00ff00u, 0x0ff00ff0u, 0, 0, 0xfff0fff0u},
        {OP(XOR), I, I, 0xff00ff00u, 0x0ff00ff0u, 0, 0, 0xf0f0f0f0u},
        {OP(SHL), U, U, 1, 31, 0, 0, MIN_},
        {OP(SHL), U, U, 1, 32, 0, 0, 1},
        {OP(SHL), I, I, ALL, 33, 0, 0, 0xfffffffeu},
        {OP(SHR), U, U, MIN_, 31, 0, 0, 1},
        {OP(SHR), U, U, MIN_, 32, 0, 0, MIN_},
        {OP(SHR), I, I, MIN_, 31, 0, 0, ALL},
        {OP(SHR), I, I, MIN_, 32, 0, 0, MIN_},
        {OP(SHR), I, I, MAX_, 30, 0, 0, 1},
        {OP(SHR), I, I, 0xfffffff0u, 2, 0, 0, 0xfffffffcu},
        {OP(ROTATE_LEFT), U, U, 0x80000001u, 1, 0, 0, 3},
        {OP(ROTATE_LEFT), U, U, 0x12345678u, 32, 0, 0, 0x12345678u},
        {OP(ROTATE_RIGHT), U, U, 0x80000001u, 1, 0, 0, 0xc0000000u},
        {OP(ROTATE_RIGHT), I, I, 0x12345678u, 36, 0, 0, 0x81234567u},
        {OP(ROTATE_RIGHT), U, U, 0x12345678u, 0, 0, 0, 0x12345678u},
        {OP(CLZ), U, U, 0, 0, 0, 0, 32},
        {OP(CLZ), U, U, 1, 0, 0, 0, 31},
        {OP(CLZ), U, I, ALL, 0, 0, 0, 0},
        {OP(CTZ), U, U, 0, 0, 0, 0, 32},
        {OP(CTZ), U, U, MIN_, 0, 0, 0, 31},
        {OP(CTZ), U, U, 1, 0, 0, 0, 0},
        {OP(POPCOUNT), U, U, ALL, 0, 0, 0, 32},
        {OP(POPCOUNT), U, I, MIN_, 0, 0, 0, 1},
        {OP(REVERSE_BITS), U, U, 1, 0, 0, 0, MIN_},
        {OP(REVERSE_BITS), U, U, 0x12345678u, 0, 0, 0, 0x1e6a2c48u},
        {OP(EXTRACT_BITS), U, U, 0xabcd1234u, 8, 8, 0, 0x12},
        {OP(EXTRACT_BITS), I, I, 0x0000f000u, 12, 4, 0, ALL},
        {OP(EXTRACT_BITS), I, I, 0x00007000u, 12, 4, 0, 7},
        {OP(EXTRACT_BITS), U, U, ALL, 0, 32, 0, ALL},
        {OP(EXTRACT_BITS), U, U, ALL, 28, 100, 0, 15},
        {OP(EXTRACT_BITS), U, U, ALL, 32, 1, 0, 0},
        {OP(EXTRACT_BITS), U, U, ALL, ALL, ALL, 0, 0},
        {OP(EXTRACT_BITS), I, I, ALL, 5, 0, 0, 0},
        {OP(INSERT_BITS), U, U, 0, ALL, 4, 8, 0xff0},
        {OP(INSERT_BITS), U, U, ALL, 0, 28, 100, 0x0fffffffu},
        {OP(INSERT_BITS), U, U, 5, 0x12345678u, 0, 32, 0x12345678u},
        {OP(INSERT_BITS), U, U, 5, ALL, 32, 4, 5},
        {OP(INSERT_BITS), U, U, 5, ALL, 3, 0, 5},
        {OP(UNPACK_BYTE), U, U, 0x80ff7f01u, 3, 0, 0, 0x80},
        {OP(UNPACK_BYTE), U, U, 0x80ff7f01u, 5, 0, 0, 0x7f},
        {OP(UNPACK_BYTE), I, I, 0x80ff7f01u, 2, 0, 0, ALL},
        {OP(UNPACK_NIBBLE), U, U, 0x87654321u, 7, 0, 0, 8},
        {OP(UNPACK_NIBBLE), U, U, 0x87654321u, 9, 0, 0, 2},
        {OP(UNPACK_NIBBLE), I, I, 0x87654321u, 7, 0, 0, 0xfffffff8u},
        {OP(DOT4), U, U, ALL, ALL, 0, 0, 4 * 255 * 255},
        {OP(DOT4), I, I, ALL, 0x01020304u, 0, 0, 0xfffffff6u},
        {OP(DOT4), I, I, 0x80808080u, 0x80808080u, 0, 0, 65536},
    };
    CHECK_ROWS(rows, false);
}

static void test_comparisons_and_logic(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(EQ), B, U, 1, 1, 0, 0, 1},           {OP(NE), B, U, 1, 1, 0, 0, 0},
        {OP(LT), B, U, 1, ALL, 0, 0, 1},         {OP(LT), B, I, 1, ALL, 0, 0, 0},
        {OP(LE), B, I, MIN_, MIN_, 0, 0, 1},     {OP(LE), B, U, 3, 2, 0, 0, 0},
        {OP(GT), B, I, 0, MIN_, 0, 0, 1},        {OP(GT), B, U, 0, MIN_, 0, 0, 0},
        {OP(GE), B, U, 2, 2, 0, 0, 1},           {OP(GE), B, I, ALL, 0, 0, 0, 0},
        {OP(EQ), B, B, 1, 7, 0, 0, 1},           {OP(NE), B, B, 0, 9, 0, 0, 1},
        {OP(LOGICAL_AND), B, B, 2, 1, 0, 0, 1},  {OP(LOGICAL_AND), B, B, 2, 0, 0, 0, 0},
        {OP(LOGICAL_OR), B, B, 0, 4, 0, 0, 1},   {OP(LOGICAL_OR), B, B, 0, 0, 0, 0, 0},
        {OP(NOT), B, B, 0, 0, 0, 0, 1},          {OP(NOT), B, B, 5, 0, 0, 0, 0},
        {OP(SELECT), U, B, 1, 10, 20, 0, 10},    {OP(SELECT), U, B, 0, 10, 20, 0, 20},
        {OP(SELECT), F, B, 1, SNAN, 0, 0, SNAN}, {OP(SELECT), F, B, 0, 0, DENORM, 0, DENORM},
        {OP(EQ), B, F, NZERO, 0, 0, 0, 1},       {OP(NE), B, F, NZERO, 0, 0, 0, 0},
        {OP(EQ), B, F, NAN_, NAN_, 0, 0, 0},     {OP(NE), B, F, NAN_, NAN_, 0, 0, 1},
        {OP(LT), B, F, NAN_, ONE, 0, 0, 0},      {OP(LE), B, F, ONE, NAN_, 0, 0, 0},
        {OP(GT), B, F, NAN_, NINF, 0, 0, 0},     {OP(GE), B, F, SNAN, SNAN, 0, 0, 0},
        {OP(LT), B, F, NINF, INF, 0, 0, 1},      {OP(GT), B, F, DENORM, 0, 0, 0, 1},
        {OP(LE), B, F, ONE, ONE, 0, 0, 1},       {OP(GE), B, F, NONE, ONE, 0, 0, 0},
        {OP(IS_NAN), B, F, SNAN, 0, 0, 0, 1},    {OP(IS_NAN), B, F, INF, 0, 0, 0, 0},
        {OP(IS_INF), B, F, NINF, 0, 0, 0, 1},    {OP(IS_INF), B, F, NAN_, 0, 0, 0, 0},
        {OP(IS_FINITE), B, F, ONE, 0, 0, 0, 1},  {OP(IS_FINITE), B, F, QNAN, 0, 0, 0, 0},
        {OP(IS_FINITE), B, F, INF, 0, 0, 0, 0},
    };
    CHECK_ROWS(rows, false);
    static const row flushed[] = {
        {OP(GT), B, F, DENORM, 0, 0, 0, 1},
        {OP(EQ), B, F, DENORM, 0x80000002u, 0, 0, 0},
        {OP(SELECT), F, B, 0, 0, DENORM, 0, DENORM},
    };
    CHECK_ROWS(flushed, true);
}

static void test_casts_saturate_and_round_to_even(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(CAST), U, F, 0x40700000u, 0, 0, 0, 3},   /* 3.75 */
        {OP(CAST), U, F, 0xc0700000u, 0, 0, 0, 0},   /* -3.75 */
        {OP(CAST), U, F, 0x4f800000u, 0, 0, 0, ALL}, /* 2^32 */
        {OP(CAST), U, F, 0x4f7fffffu, 0, 0, 0, 0xffffff00u},
        {OP(CAST), U, F, INF, 0, 0, 0, ALL},
        {OP(CAST), U, F, NINF, 0, 0, 0, 0},
        {OP(CAST), U, F, NAN_, 0, 0, 0, 0},
        {OP(CAST), U, F, 0xbf7fffffu, 0, 0, 0, 0}, /* over -1 */
        {OP(CAST), I, F, 0xc0700000u, 0, 0, 0, 0xfffffffdu},
        {OP(CAST), I, F, 0x4f000000u, 0, 0, 0, MAX_}, /* 2^31 */
        {OP(CAST), I, F, 0xcf000000u, 0, 0, 0, MIN_}, /* -2^31 */
        {OP(CAST), I, F, 0xcf000001u, 0, 0, 0, MIN_},
        {OP(CAST), I, F, QNAN, 0, 0, 0, 0},
        {OP(CAST), F, U, 0x01000001u, 0, 0, 0, 0x4b800000u}, /* tie to even, down */
        {OP(CAST), F, U, 0x01000003u, 0, 0, 0, 0x4b800002u}, /* tie to even, up */
        {OP(CAST), F, U, ALL, 0, 0, 0, 0x4f800000u},
        {OP(CAST), F, I, ALL, 0, 0, 0, NONE},
        {OP(CAST), F, I, MIN_, 0, 0, 0, 0xcf000000u},
        {OP(CAST), F, B, 3, 0, 0, 0, ONE},
        {OP(CAST), U, B, 3, 0, 0, 0, 1},
        {OP(CAST), I, B, 0, 0, 0, 0, 0},
        {OP(CAST), B, U, 0x100, 0, 0, 0, 1},
        {OP(CAST), B, I, 0, 0, 0, 0, 0},
        {OP(CAST), B, F, NZERO, 0, 0, 0, 0},
        {OP(CAST), B, F, NAN_, 0, 0, 0, 1},
        {OP(CAST), B, F, DENORM, 0, 0, 0, 1},
        {OP(CAST), B, B, 8, 0, 0, 0, 1},
        {OP(CAST), U, I, ALL, 0, 0, 0, ALL},
        {OP(CAST), I, U, MIN_, 0, 0, 0, MIN_},
        {OP(CAST), F, F, SNAN, 0, 0, 0, SNAN},
        {OP(BITCAST), U, F, SNAN, 0, 0, 0, SNAN},
        {OP(BITCAST), F, U, QNAN, 0, 0, 0, QNAN},
        {OP(BITCAST), I, U, MIN_, 0, 0, 0, MIN_},
    };
    CHECK_ROWS(rows, false);
    static const row flushed[] = {
        {OP(CAST), B, F, DENORM, 0, 0, 0, 1},
        {OP(BITCAST), U, F, DENORM, 0, 0, 0, DENORM},
        {OP(CAST), F, F, DENORM, 0, 0, 0, DENORM},
    };
    CHECK_ROWS(flushed, true);
}

static void test_float_arithmetic_is_rounded_once_and_nan_has_one_form(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(ADD), F, F, ONE, 0x33800000u, 0, 0, ONE}, /* 1 + 2^-24: tie to even */
        {OP(ADD), F, F, 0x3f800001u, 0x33800000u, 0, 0, 0x3f800002u},
        {OP(ADD), F, F, 0x7f7fffffu, 0x7f7fffffu, 0, 0, INF},
        {OP(ADD), F, F, INF, NINF, 0, 0, NAN_},
        {OP(ADD), F, F, QNAN, ONE, 0, 0, NAN_},
        {OP(ADD), F, F, NZERO, NZERO, 0, 0, NZERO},
        {OP(ADD), F, F, 0x007fffffu, 1, 0, 0, 0x00800000u},
        {OP(SUB), F, F, ONE, ONE, 0, 0, 0},
        {OP(SUB), F, F, 0x00800000u, 1, 0, 0, 0x007fffffu},
        {OP(MUL), F, F, 0x3dcccccdu, 0x3dcccccdu, 0, 0, 0x3c23d70bu}, /* 0.1 * 0.1 */
        {OP(MUL), F, F, 0x00800000u, HALF, 0, 0, 0x00400000u},
        {OP(MUL), F, F, DENORM, HALF, 0, 0, 0}, /* half of the least: tie */
        {OP(MUL), F, F, 3, HALF, 0, 0, 2},
        {OP(MUL), F, F, DENORM, 0x80000001u, 0, 0, NZERO},
        {OP(MUL), F, F, 0, INF, 0, 0, NAN_},
        {OP(DIV), F, F, ONE, 0x40400000u, 0, 0, 0x3eaaaaabu}, /* 1 / 3 */
        {OP(DIV), F, F, ONE, NZERO, 0, 0, NINF},
        {OP(DIV), F, F, 0, 0, 0, 0, NAN_},
        {OP(DIV), F, F, DENORM, 0x40000000u, 0, 0, 0},
        {OP(DIV), F, F, 3, 0x40000000u, 0, 0, 2},
        {OP(SQRT), F, F, 0x40000000u, 0, 0, 0, 0x3fb504f3u},
        {OP(SQRT), F, F, NZERO, 0, 0, 0, NZERO},
        {OP(SQRT), F, F, NONE, 0, 0, 0, NAN_},
        {OP(SQRT), F, F, DENORM, 0, 0, 0, 0x1a3504f3u},
        {OP(NEGATE), F, F, 0, 0, 0, 0, NZERO},
        {OP(NEGATE), F, F, SNAN, 0, 0, 0, NAN_},
        {OP(ABS), F, F, NINF, 0, 0, 0, INF},
        {OP(ABS), F, F, QNAN, 0, 0, 0, NAN_},
        {OP(SIGN), F, F, NAN_, 0, 0, 0, 0},
        {OP(SIGN), F, F, NZERO, 0, 0, 0, 0},
        {OP(SIGN), F, F, 0x80000001u, 0, 0, 0, NONE},
        {OP(SIGN), F, F, INF, 0, 0, 0, ONE},
        {OP(ABS_DIFF), F, F, ONE, 0x40400000u, 0, 0, 0x40000000u},
        {OP(ABS_DIFF), F, F, INF, INF, 0, 0, NAN_},
        {OP(COPYSIGN), F, F, ONE, NZERO, 0, 0, NONE},
        {OP(COPYSIGN), F, F, NONE, QNAN, 0, 0, NONE},
        {OP(COPYSIGN), F, F, QNAN, ONE, 0, 0, NAN_},
        {OP(FMA), F, F, 0x3f800001u, 0x3f800001u, 0xbf800002u, 0, 0x28800000u}, /* 2^-46 */
        {OP(FMA), F, F, INF, 0, ONE, 0, NAN_},
        /* (1 + 2^-12)^2 + 2^-80: a double holds the tie only, and even would be down. */
        {OP(FMA), F, F, 0x3f800800u, 0x3f800800u, 0x17800000u, 0, 0x3f801001u},
    };
    CHECK_ROWS(rows, false);
}

static void test_min_max_prefer_numbers_and_order_zeros(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(MIN), F, F, NZERO, 0, 0, 0, NZERO},   {OP(MIN), F, F, 0, NZERO, 0, 0, NZERO},
        {OP(MAX), F, F, NZERO, 0, 0, 0, 0},       {OP(MAX), F, F, 0, NZERO, 0, 0, 0},
        {OP(MIN), F, F, NAN_, ONE, 0, 0, ONE},    {OP(MIN), F, F, ONE, SNAN, 0, 0, ONE},
        {OP(MAX), F, F, SNAN, NINF, 0, 0, NINF},  {OP(MAX), F, F, ONE, QNAN, 0, 0, ONE},
        {OP(MIN), F, F, QNAN, SNAN, 0, 0, NAN_},  {OP(MAX), F, F, SNAN, SNAN, 0, 0, NAN_},
        {OP(MIN), F, F, NINF, ONE, 0, 0, NINF},   {OP(MAX), F, F, DENORM, 0, 0, 0, DENORM},
        {OP(CLAMP), F, F, NAN_, 0, ONE, 0, 0},    {OP(CLAMP), F, F, INF, 0, ONE, 0, ONE},
        {OP(CLAMP), F, F, HALF, 0, ONE, 0, HALF}, {OP(CLAMP), F, F, NAN_, NAN_, NAN_, 0, NAN_},
    };
    CHECK_ROWS(rows, false);
}

static void test_rounding_functions(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(FLOOR), F, F, 0xbf000000u, 0, 0, 0, NONE},
        {OP(FLOOR), F, F, NZERO, 0, 0, 0, NZERO},
        {OP(FLOOR), F, F, DENORM, 0, 0, 0, 0},
        {OP(FLOOR), F, F, INF, 0, 0, 0, INF},
        {OP(CEIL), F, F, 0xbf000000u, 0, 0, 0, NZERO},
        {OP(CEIL), F, F, DENORM, 0, 0, 0, ONE},
        {OP(TRUNC), F, F, 0xbfe00000u, 0, 0, 0, NONE},
        {OP(TRUNC), F, F, 0xbf000000u, 0, 0, 0, NZERO},
        {OP(FRACT), F, F, 0x3fa00000u, 0, 0, 0, 0x3e800000u},
        {OP(FRACT), F, F, 0xbfa00000u, 0, 0, 0, 0x3f400000u},
        {OP(FRACT), F, F, NZERO, 0, 0, 0, 0},
        {OP(FRACT), F, F, INF, 0, 0, 0, NAN_},
        {OP(FRACT), F, F, 0x80000001u, 0, 0, 0, ONE},
        {OP(ROUND), F, F, 0x3f000000u, 0, 0, 0, ONE},
        {OP(ROUND), F, F, 0xbf000000u, 0, 0, 0, NONE},
        {OP(ROUND), F, F, 0x40200000u, 0, 0, 0, 0x40400000u},
        {OP(ROUND), F, F, 0x3effffffu, 0, 0, 0, 0},
        {OP(ROUND), F, F, 0xbe800000u, 0, 0, 0, NZERO},
        {OP(ROUND), F, F, 0x4b000001u, 0, 0, 0, 0x4b000001u},
        {OP(ROUND_EVEN), F, F, 0x3f000000u, 0, 0, 0, 0},
        {OP(ROUND_EVEN), F, F, 0x3fc00000u, 0, 0, 0, 0x40000000u},
        {OP(ROUND_EVEN), F, F, 0x40200000u, 0, 0, 0, 0x40000000u},
        {OP(ROUND_EVEN), F, F, 0xbf000000u, 0, 0, 0, NZERO},
        {OP(ROUND_EVEN), F, F, 0xbfc00000u, 0, 0, 0, 0xc0000000u},
        {OP(ROUND_EVEN), F, F, QNAN, 0, 0, 0, NAN_},
        {OP(ROUND_EVEN), F, F, INF, 0, 0, 0, INF},
        {OP(ROUND_EVEN), F, F, 0x3f000001u, 0, 0, 0, ONE},
    };
    CHECK_ROWS(rows, false);
}

static void test_table_functions(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(RECIPROCAL), F, F, 0x40800000u, 0, 0, 0, 0x3e800000u},
        {OP(RECIPROCAL), F, F, NZERO, 0, 0, 0, NINF},
        {OP(RSQRT), F, F, 0x40800000u, 0, 0, 0, HALF},
        {OP(RSQRT), F, F, 0, 0, 0, 0, INF},
        {OP(RSQRT), F, F, NONE, 0, 0, 0, NAN_},
        {OP(EXP), F, F, 0, 0, 0, 0, ONE},
        {OP(EXP), F, F, ONE, 0, 0, 0, 0x402df854u},
        {OP(EXP), F, F, NINF, 0, 0, 0, 0},
        {OP(EXP), F, F, 0x42c80000u, 0, 0, 0, INF},
        {OP(EXP2), F, F, 0xc3140000u, 0, 0, 0, 2}, /* 2^-148 */
        {OP(EXP2), F, F, 0x41200000u, 0, 0, 0, 0x44800000u},
        {OP(LOG), F, F, 0, 0, 0, 0, NINF},
        {OP(LOG), F, F, NONE, 0, 0, 0, NAN_},
        {OP(LOG2), F, F, 0x41000000u, 0, 0, 0, 0x40400000u},
        {OP(SIN), F, F, 0x3fc90fdbu, 0, 0, 0, ONE},
        {OP(SIN), F, F, INF, 0, 0, 0, NAN_},
        {OP(COS), F, F, 0, 0, 0, 0, ONE},
        {OP(TAN), F, F, 0x3f490fdbu, 0, 0, 0, ONE},
        {OP(ASIN), F, F, ONE, 0, 0, 0, 0x3fc90fdbu},
        {OP(ASIN), F, F, 0x40000000u, 0, 0, 0, NAN_},
        {OP(ACOS), F, F, NONE, 0, 0, 0, 0x40490fdbu},
        {OP(ATAN), F, F, ONE, 0, 0, 0, 0x3f490fdbu},
        {OP(SINH), F, F, NZERO, 0, 0, 0, NZERO},
        {OP(COSH), F, F, 0, 0, 0, 0, ONE},
        {OP(TANH), F, F, INF, 0, 0, 0, ONE},
        {OP(ATAN2), F, F, ONE, NONE, 0, 0, 0x4016cbe4u},
        {OP(POW), F, F, 0x40000000u, 0x41200000u, 0, 0, 0x44800000u},
        {OP(POW), F, F, NONE, HALF, 0, 0, NAN_},
    };
    CHECK_ROWS(rows, false);
}

static void test_flush_keeps_signs_of_operands_and_results(void **state)
{
    (void)state;
    static const row rows[] = {
        {OP(ADD), F, F, DENORM, DENORM, 0, 0, 0},
        {OP(ADD), F, F, 0x80000001u, 0x80000001u, 0, 0, NZERO},
        {OP(SUB), F, F, 0x00800001u, 0x00800000u, 0, 0, 0},
        {OP(MUL), F, F, 0x80800000u, HALF, 0, 0, NZERO},
        {OP(FLOOR), F, F, 0x80000001u, 0, 0, 0, NZERO},
        {OP(DIV), F, F, DENORM, ONE, 0, 0, DENORM},
        {OP(NEGATE), F, F, 0x80000001u, 0, 0, 0, 1},
        {OP(ABS), F, F, 0x80000001u, 0, 0, 0, 1},
        {OP(MIN), F, F, DENORM, ONE, 0, 0, DENORM},
        {OP(MAX), F, F, 0x80000005u, NINF, 0, 0, 0x80000005u},
        {OP(SIGN), F, F, DENORM, 0, 0, 0, ONE},
        {OP(COPYSIGN), F, F, 1, NONE, 0, 0, 0x80000001u},
        {OP(EXP2), F, F, 0xc3140000u, 0, 0, 0, 0},
        {OP(ADD), F, F, 0x00800000u, 0, 0, 0, 0x00800000u},
    };
    CHECK_ROWS(rows, true);
}

static uint32_t random_bits(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t bits = (uint32_t)(*seed >> 32);
    /* Half of them with exponents that meet. */
    return bits & 1 ? bits : (bits & 0x83ffffffu) | 0x3c000000u;
}

/* Against the processor's own float arithmetic, which is correctly rounded on every host we build
 * for. */
/* MinGW's rounds twice, which is no oracle. */
static bool has_fused_fmaf(void)
{
    static const uint32_t bits[3] = {0x929f410bu, 0xfe3cc953u, 0xbe879022u};
    volatile float v[3];
    uint32_t got;
    for (uint32_t i = 0; i < 3; i++) {
        float value;
        memcpy(&value, &bits[i], sizeof value);
        v[i] = value;
    }
    float result = fmaf(v[0], v[1], v[2]);
    memcpy(&got, &result, sizeof got);
    return got == 0x516ae204u;
}

static void test_arithmetic_equals_native_floats(void **state)
{
    (void)state;
    static const vyre_op ops[] = {OP(ADD), OP(SUB), OP(MUL), OP(DIV), OP(SQRT), OP(FMA)};
    uint64_t seed = 20240607;
    for (uint32_t n = 0; n < 300000; n++) {
        uint32_t bits[4] = {random_bits(&seed), random_bits(&seed), random_bits(&seed), 0};
        float v[3], result = 0.0f;
        memcpy(v, bits, sizeof v);
        vyre_op op = ops[n % VY_COUNT_OF(ops)];
        switch ((int)op) {
        case VYRE_OP_ADD:
            result = v[0] + v[1];
            break;
        case VYRE_OP_SUB:
            result = v[0] - v[1];
            break;
        case VYRE_OP_MUL:
            result = v[0] * v[1];
            break;
        case VYRE_OP_DIV:
            result = v[0] / v[1];
            break;
        case VYRE_OP_SQRT:
            result = sqrtf(v[0]);
            break;
        default:
            if (!has_fused_fmaf()) {
                continue;
            }
            result = fmaf(v[0], v[1], v[2]);
            break;
        }
        uint32_t expected;
        memcpy(&expected, &result, sizeof expected);
        expected = isnan(result) ? NAN_ : expected;
        const uint64_t operands[4] = {bits[0], bits[1], bits[2], 0};
        uint32_t got = (uint32_t)vy_interp_eval(op, VYRE_TYPE_F32, VYRE_TYPE_F32, operands, false);
        if (got != expected) {
            fail_msg("%s %08x %08x %08x: %08x, not %08x", vy_op_get(op)->name, bits[0], bits[1],
                     bits[2], got, expected);
        }
    }
}

static void test_widen_and_narrow_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (uint32_t n = 0; n < 200000; n++) {
        uint32_t bits = random_bits(&seed);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value)) {
            continue;
        }
        assert_true(vy_f32_widen(bits) == (double)value);
        assert_int_equal(vy_f32_narrow((double)value), bits);
        double near = (double)value * (1.0 + 0x1p-30);
        float rounded = (float)near;
        uint32_t expected;
        memcpy(&expected, &rounded, sizeof expected);
        assert_int_equal(vy_f32_narrow(near), expected);
    }
    assert_int_equal(vy_f32_narrow(0x1p-150), 0);
    assert_int_equal(vy_f32_narrow(0x1.8p-150), 1);
    assert_int_equal(vy_f32_narrow(-0x1p-1074), NZERO);
    assert_int_equal(vy_f32_narrow(0x1.ffffffp127), INF);
    assert_int_equal(vy_f32_narrow(0x1.fffffep127), 0x7f7fffffu);
    assert_int_equal(vy_f32_narrow(1e300), INF);
}

static void test_every_operator_is_total(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,
                                      1,
                                      ALL,
                                      MIN_,
                                      MAX_,
                                      NAN_,
                                      INF,
                                      ONE,
                                      31,
                                      32,
                                      DENORM,
                                      UINT64_MAX,
                                      0x80,
                                      0xff,
                                      63,
                                      0x7e00,
                                      0x7ff8ull << 48,
                                      1ull << 63};
    for (uint32_t op = 0; op < VYRE_OP_COUNT + 3; op++) {
        for (uint32_t type = 0; type < VYRE_TYPE_COUNT + 2; type++) {
            for (uint32_t i = 0; i < VY_COUNT_OF(values); i++) {
                for (uint32_t j = 0; j < VY_COUNT_OF(values); j++) {
                    uint64_t operands[4] = {values[i], values[j], values[j], values[i]};
                    (void)vy_interp_eval((vyre_op)op, (vyre_type)type, (vyre_type)type, operands,
                                         (i & 1) != 0);
                }
            }
        }
    }
    uint64_t operands[4] = {1, 1, 1, 1};
    assert_int_equal(vy_interp_eval(VYRE_OP_NONE, VYRE_TYPE_U32, VYRE_TYPE_U32, operands, false),
                     0);
}

static void test_self_check_finds_a_directed_rounding_mode(void **state)
{
    (void)state;
    assert_null(vy_interp_self_check());
#if defined(FE_UPWARD)
    assert_int_equal(fesetround(FE_UPWARD), 0);
    const char *fault = vy_interp_self_check();
    assert_int_equal(fesetround(FE_TONEAREST), 0);
    assert_non_null(fault);
    assert_non_null(strstr(fault, "Fix: "));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integer_arithmetic_wraps_and_is_total),
        cmocka_unit_test(test_bit_operators_clamp_their_amounts),
        cmocka_unit_test(test_comparisons_and_logic),
        cmocka_unit_test(test_casts_saturate_and_round_to_even),
        cmocka_unit_test(test_float_arithmetic_is_rounded_once_and_nan_has_one_form),
        cmocka_unit_test(test_min_max_prefer_numbers_and_order_zeros),
        cmocka_unit_test(test_rounding_functions),
        cmocka_unit_test(test_table_functions),
        cmocka_unit_test(test_flush_keeps_signs_of_operands_and_results),
        cmocka_unit_test(test_arithmetic_equals_native_floats),
        cmocka_unit_test(test_widen_and_narrow_are_exact),
        cmocka_unit_test(test_every_operator_is_total),
        cmocka_unit_test(test_self_check_finds_a_directed_rounding_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
