/* See machine_ops.h. */
#include "tests/support/machine_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t as_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int32_t as_signed(uint32_t bits)
{
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float sqrt_of(const machine *m, float x)
{
    float root = sqrtf(x);
    return root > 0.0f && isfinite(root) ? as_float(as_bits(root) + (uint32_t)m->sqrt_error) : root;
}

static uint32_t highest_bit(uint32_t a)
{
    uint32_t bit = UINT32_MAX;
    for (uint32_t i = 0; i < 32; i++) {
        bit = a >> i & 1 ? i : bit;
    }
    return bit;
}

static uint32_t lowest_bit(uint32_t a)
{
    for (uint32_t i = 0; i < 32; i++) {
        if (a >> i & 1) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t machine_glsl(const machine *m, uint32_t function, uint32_t a, uint32_t b)
{
    float x = as_float(a), y = as_float(b);
    switch (function) {
    case GLSLstd450FindUMsb:
        return highest_bit(a);
    case GLSLstd450FindILsb:
        return lowest_bit(a);
    case GLSLstd450UMin:
        return a < b ? a : b;
    case GLSLstd450UMax:
        return a > b ? a : b;
    case GLSLstd450SMin:
        return as_signed(a) < as_signed(b) ? a : b;
    case GLSLstd450SMax:
        return as_signed(a) > as_signed(b) ? a : b;
    case GLSLstd450NMin:
        return isnan(x) ? b : isnan(y) ? a : y < x ? b : a;
    case GLSLstd450NMax:
        return isnan(x) ? b : isnan(y) ? a : y > x ? b : a;
    case GLSLstd450Floor:
        return as_bits(floorf(x));
    case GLSLstd450Ceil:
        return as_bits(ceilf(x));
    case GLSLstd450Trunc:
        return as_bits(truncf(x));
    case GLSLstd450RoundEven:
        return as_bits(rintf(x));
    case GLSLstd450Sqrt:
        return as_bits(sqrt_of(m, x));
    case GLSLstd450InverseSqrt:
        return as_bits((float)(1.0 / sqrt((double)x)));
    case GLSLstd450Exp:
        return as_bits((float)exp((double)x));
    case GLSLstd450Exp2:
        return as_bits((float)exp2((double)x));
    case GLSLstd450Log:
        return as_bits((float)log((double)x));
    case GLSLstd450Log2:
        return as_bits((float)log2((double)x));
    default:
        fail_msg("GLSL.std.450 function %u", function);
        return 0;
    }
}

static uint32_t shift_arithmetic(uint32_t a, uint32_t by)
{
    assert_true(by < 32);
    return (uint32_t)(((int64_t)as_signed(a)) >> by);
}

static uint32_t convert_to_unsigned(float x)
{
    assert_true(x > -1.0f && x < 4294967296.0f); /* else undefined */
    return (uint32_t)x;
}

static uint32_t convert_to_signed(float x)
{
    assert_true(x >= -2147483648.0f && x < 2147483648.0f);
    return (uint32_t)(int32_t)x;
}

static uint32_t divide_signed(uint32_t a, uint32_t b)
{
    assert_true(b != 0 && !(a == 0x80000000u && b == UINT32_MAX));
    return (uint32_t)((int64_t)as_signed(a) / as_signed(b));
}

static uint32_t reverse(uint32_t a)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < 32; i++) {
        out |= (a >> i & 1) << (31 - i);
    }
    return out;
}

static uint32_t bit_count(uint32_t a)
{
    uint32_t out = 0;
    for (; a; a &= a - 1) {
        out++;
    }
    return out;
}

static bool compare(uint32_t op, uint32_t a, uint32_t b, bool *out)
{
    float x = as_float(a), y = as_float(b);
    int32_t i = as_signed(a), j = as_signed(b);
    switch (op) {
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        *out = a == b;
        return true;
    case SpvOpINotEqual:
    case SpvOpLogicalNotEqual:
        *out = a != b;
        return true;
    case SpvOpULessThan:
        *out = a < b;
        return true;
    case SpvOpULessThanEqual:
        *out = a <= b;
        return true;
    case SpvOpUGreaterThan:
        *out = a > b;
        return true;
    case SpvOpUGreaterThanEqual:
        *out = a >= b;
        return true;
    case SpvOpSLessThan:
        *out = i < j;
        return true;
    case SpvOpSLessThanEqual:
        *out = i <= j;
        return true;
    case SpvOpSGreaterThan:
        *out = i > j;
        return true;
    case SpvOpSGreaterThanEqual:
        *out = i >= j;
        return true;
    case SpvOpFOrdEqual:
        *out = x == y;
        return true;
    case SpvOpFUnordNotEqual:
        *out = x != y;
        return true;
    case SpvOpFOrdLessThan:
        *out = x < y;
        return true;
    case SpvOpFOrdLessThanEqual:
        *out = x <= y;
        return true;
    case SpvOpFOrdGreaterThan:
        *out = x > y;
        return true;
    case SpvOpFOrdGreaterThanEqual:
        *out = x >= y;
        return true;
    default:
        return false;
    }
}

uint32_t machine_scalar(uint32_t op, uint32_t a, uint32_t b)
{
    bool truth = false;
    if (compare(op, a, b, &truth)) {
        return truth;
    }
    switch (op) {
    case SpvOpIAdd:
        return a + b;
    case SpvOpISub:
        return a - b;
    case SpvOpIMul:
        return a * b;
    case SpvOpUDiv:
        assert_true(b != 0);
        return a / b;
    case SpvOpUMod:
        assert_true(b != 0);
        return a % b;
    case SpvOpSDiv:
        return divide_signed(a, b);
    case SpvOpSNegate:
        return 0u - a;
    case SpvOpNot:
        return ~a;
    case SpvOpBitwiseAnd:
    case SpvOpLogicalAnd:
        return a & b;
    case SpvOpBitwiseOr:
    case SpvOpLogicalOr:
        return a | b;
    case SpvOpBitwiseXor:
        return a ^ b;
    case SpvOpLogicalNot:
        return !a;
    case SpvOpShiftLeftLogical:
        assert_true(b < 32);
        return a << b;
    case SpvOpShiftRightLogical:
        assert_true(b < 32);
        return a >> b;
    case SpvOpShiftRightArithmetic:
        return shift_arithmetic(a, b);
    case SpvOpBitCount:
        return bit_count(a);
    case SpvOpBitReverse:
        return reverse(a);
    case SpvOpFAdd:
        return as_bits(as_float(a) + as_float(b));
    case SpvOpFSub:
        return as_bits(as_float(a) - as_float(b));
    case SpvOpFMul:
        return as_bits(as_float(a) * as_float(b));
    case SpvOpFDiv:
        return as_bits(as_float(a) / as_float(b));
    case SpvOpConvertUToF:
        return as_bits((float)a);
    case SpvOpConvertSToF:
        return as_bits((float)as_signed(a));
    case SpvOpConvertFToU:
        return convert_to_unsigned(as_float(a));
    case SpvOpConvertFToS:
        return convert_to_signed(as_float(a));
    default:
        fail_msg("opcode %u", op);
        return 0;
    }
}

uint32_t machine_atomic(uint32_t op, uint32_t old, uint32_t x)
{
    switch (op) {
    case SpvOpAtomicLoad:
        return old;
    case SpvOpAtomicIAdd:
        return old + x;
    case SpvOpAtomicISub:
        return old - x;
    case SpvOpAtomicUMin:
        return old < x ? old : x;
    case SpvOpAtomicUMax:
        return old > x ? old : x;
    case SpvOpAtomicSMin:
        return as_signed(old) < as_signed(x) ? old : x;
    case SpvOpAtomicSMax:
        return as_signed(old) > as_signed(x) ? old : x;
    case SpvOpAtomicAnd:
        return old & x;
    case SpvOpAtomicOr:
        return old | x;
    case SpvOpAtomicXor:
        return old ^ x;
    default:
        return x; /* exchange, store */
    }
}

uint64_t machine_product(uint32_t op, uint32_t a, uint32_t b)
{
    return op == SpvOpSMulExtended ? (uint64_t)((int64_t)as_signed(a) * as_signed(b))
                                   : (uint64_t)a * b;
}
