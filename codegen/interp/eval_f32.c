/* Operators on f32. Computed in double, where + - * / and sqrt of f32 operands round twice without
 * harm (53 >= 2 * 24 + 2), and taken in and out of double by integers, so that neither a thread
 * that flushes denormals nor a compiler that contracts can change a bit. Owns nothing. */
#include "codegen/interp/eval.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SIGN_BIT      0x80000000u
#define INFINITY_BITS 0x7f800000u
#define ONE_BITS      0x3f800000u

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double vy_f32_widen(uint32_t bits)
{
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    uint32_t exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff;
    if (exponent == 0) {
        double magnitude = (double)mantissa * 0x1p-149;
        return sign ? -magnitude : magnitude;
    }
    uint64_t wide = exponent == 0xff ? 0x7ff : exponent - 127 + 1023;
    return double_of(sign | wide << 52 | (uint64_t)mantissa << 29);
}

uint32_t vy_f32_narrow(double value)
{
    uint64_t bits = double_bits(value);
    uint32_t sign = (uint32_t)(bits >> 63) << 31;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = bits & 0xfffffffffffffu;
    if (exponent == 1024) {
        return mantissa ? VY_NAN_BITS : sign | INFINITY_BITS;
    }
    if (exponent > 127) {
        return sign | INFINITY_BITS;
    }
    int shift = exponent >= -126 ? 29 : 29 - 126 - exponent;
    if (exponent == -1023 || shift > 53) {
        return sign; /* less than half of the least denormal */
    }
    mantissa |= 1ull << 52;
    uint32_t kept = (uint32_t)(mantissa >> shift);
    uint64_t rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) {
        kept++;
    }
    /* A carry out of the mantissa is the next exponent, up to infinity. */
    return sign | (exponent >= -126 ? ((uint32_t)(exponent + 126) << 23) + kept : kept);
}

static bool is_nan_bits(uint32_t bits)
{
    return (bits & ~SIGN_BIT) > INFINITY_BITS;
}

static uint32_t flush(uint32_t bits)
{
    return (bits & INFINITY_BITS) ? bits : bits & SIGN_BIT;
}

static bool is_less(uint32_t a, uint32_t b)
{
    return vy_f32_widen(a) < vy_f32_widen(b);
}

static uint32_t minimum(uint32_t a, uint32_t b)
{
    if (is_nan_bits(a)) {
        return is_nan_bits(b) ? VY_NAN_BITS : b;
    }
    if (is_nan_bits(b) || is_less(a, b)) {
        return a;
    }
    return is_less(b, a) ? b : a | b; /* equal: -0 where one of them is */
}

static uint32_t maximum(uint32_t a, uint32_t b)
{
    if (is_nan_bits(a)) {
        return is_nan_bits(b) ? VY_NAN_BITS : b;
    }
    if (is_nan_bits(b) || is_less(b, a)) {
        return a;
    }
    return is_less(a, b) ? b : a & b;
}

/* rint would follow the thread's rounding mode. */
static double round_even(double x)
{
    double low = floor(x), part = x - low;
    if (part > 0.5 || (part == 0.5 && fmod(low, 2.0) != 0.0)) {
        low += 1.0;
    }
    return copysign(low, x);
}

/* The product is exact, and a sum rounded to odd may be rounded again. */
static uint32_t fused(double x, double y, double z)
{
    double product = x * y, sum = product + z;
    if (!isfinite(sum)) {
        return vy_f32_narrow(sum);
    }
    double shadow = sum - product;
    double error = (product - (sum - shadow)) + (z - shadow);
    uint64_t bits = double_bits(sum);
    if (error != 0.0 && !(bits & 1)) {
        bits = (error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;
    }
    return vy_f32_narrow(double_of(bits));
}

static double table_function(vyre_op op, double x, double y)
{
    switch ((int)op) {
    case VYRE_OP_RSQRT:
        return 1.0 / sqrt(x);
    case VYRE_OP_RECIPROCAL:
        return 1.0 / x;
    case VYRE_OP_EXP:
        return exp(x);
    case VYRE_OP_EXP2:
        return exp2(x);
    case VYRE_OP_LOG:
        return log(x);
    case VYRE_OP_LOG2:
        return log2(x);
    case VYRE_OP_SIN:
        return sin(x);
    case VYRE_OP_COS:
        return cos(x);
    case VYRE_OP_TAN:
        return tan(x);
    case VYRE_OP_ASIN:
        return asin(x);
    case VYRE_OP_ACOS:
        return acos(x);
    case VYRE_OP_ATAN:
        return atan(x);
    case VYRE_OP_SINH:
        return sinh(x);
    case VYRE_OP_COSH:
        return cosh(x);
    case VYRE_OP_TANH:
        return tanh(x);
    case VYRE_OP_ATAN2:
        return atan2(x, y);
    case VYRE_OP_POW:
        return pow(x, y);
    default:
        return 0.0;
    }
}

/* Operators whose result is computed in double and narrowed. */
static double eval_double(vyre_op op, double x, double y)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
        return x + y;
    case VYRE_OP_SUB:
        return x - y;
    case VYRE_OP_MUL:
        return x * y;
    case VYRE_OP_DIV:
        return x / y;
    case VYRE_OP_ABS_DIFF:
        return fabs(x - y);
    case VYRE_OP_SQRT:
        return sqrt(x);
    case VYRE_OP_FLOOR:
        return floor(x);
    case VYRE_OP_CEIL:
        return copysign(ceil(x), x);
    case VYRE_OP_TRUNC:
        return copysign(trunc(x), x);
    case VYRE_OP_FRACT:
        return x - floor(x);
    case VYRE_OP_ROUND:
        return copysign(round(x), x);
    case VYRE_OP_ROUND_EVEN:
        return round_even(x);
    default:
        return table_function(op, x, y);
    }
}

static uint32_t sign_of(uint32_t a)
{
    double x = vy_f32_widen(a);
    if (x > 0.0) {
        return ONE_BITS;
    }
    return x < 0.0 ? SIGN_BIT | ONE_BITS : 0;
}

/* Operators that give a float. */
static uint32_t eval_value(vyre_op op, uint32_t a, uint32_t b, uint32_t c)
{
    switch ((int)op) {
    case VYRE_OP_MIN:
        return minimum(a, b);
    case VYRE_OP_MAX:
        return maximum(a, b);
    case VYRE_OP_CLAMP:
        return minimum(maximum(a, b), c);
    case VYRE_OP_SIGN:
        return sign_of(a);
    case VYRE_OP_NEGATE:
        return is_nan_bits(a) ? VY_NAN_BITS : a ^ SIGN_BIT;
    case VYRE_OP_ABS:
        return is_nan_bits(a) ? VY_NAN_BITS : a & ~SIGN_BIT;
    case VYRE_OP_COPYSIGN:
        return is_nan_bits(a) ? VY_NAN_BITS : (a & ~SIGN_BIT) | (b & SIGN_BIT);
    case VYRE_OP_FMA:
        return fused(vy_f32_widen(a), vy_f32_widen(b), vy_f32_widen(c));
    default:
        return vy_f32_narrow(eval_double(op, vy_f32_widen(a), vy_f32_widen(b)));
    }
}

static bool eval_test(vyre_op op, uint32_t a, uint32_t b)
{
    double x = vy_f32_widen(a), y = vy_f32_widen(b);
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
    case VYRE_OP_CAST:
        return x != 0.0;
    case VYRE_OP_IS_NAN:
        return is_nan_bits(a);
    case VYRE_OP_IS_INF:
        return (a & ~SIGN_BIT) == INFINITY_BITS;
    case VYRE_OP_IS_FINITE:
        return (a & INFINITY_BITS) != INFINITY_BITS;
    default:
        return false;
    }
}

static uint32_t cast_to_integer(vyre_type result, double x)
{
    if (isnan(x)) {
        return 0;
    }
    if (result == VYRE_TYPE_U32) {
        if (x <= 0.0) {
            return 0;
        }
        return x >= 4294967296.0 ? UINT32_MAX : (uint32_t)x;
    }
    if (x >= 2147483648.0) {
        return 0x7fffffffu;
    }
    return x <= -2147483648.0 ? 0x80000000u : (uint32_t)(int32_t)x;
}

/* Operators that are defined on bits or by exact integer arithmetic: no device flushes there. */
static bool is_exact_on_bits(vyre_op op)
{
    switch ((int)op) {
    case VYRE_OP_CAST:
    case VYRE_OP_NEGATE:
    case VYRE_OP_ABS:
    case VYRE_OP_SIGN:
    case VYRE_OP_COPYSIGN:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
    case VYRE_OP_CLAMP:
    case VYRE_OP_DIV:
    case VYRE_OP_SQRT:
        return true;
    default:
        return false;
    }
}

uint32_t vy_interp_eval_f32(vyre_op op, vyre_type result, const uint32_t *operands,
                            bool flush_denormals)
{
    uint32_t value[3] = {0, 0, 0};
    uint32_t count = op == VYRE_OP_CAST ? 1u : vy_op_get(op)->operand_count;
    flush_denormals = flush_denormals && result != VYRE_TYPE_BOOL && !is_exact_on_bits(op);
    for (uint32_t i = 0; i < count && i < 3; i++) {
        value[i] = flush_denormals ? flush(operands[i]) : operands[i];
    }
    if (result == VYRE_TYPE_BOOL) {
        return eval_test(op, value[0], value[1]) ? 1u : 0u;
    }
    if (op == VYRE_OP_CAST) {
        return cast_to_integer(result, vy_f32_widen(value[0]));
    }
    uint32_t bits = eval_value(op, value[0], value[1], value[2]);
    return flush_denormals ? flush(bits) : bits;
}

const char *vy_interp_self_check(void)
{
    volatile double one = 1.0, half_ulp = 0x1p-53, tiny = DBL_MIN, x = 1.0 + 0x1p-30;
    double up = one + half_ulp, down = -one - half_ulp, a = x, b = x, c = -(1.0 + 0x1p-29);
    volatile double half = tiny * 0.5;
    if (up != 1.0 || down != -1.0 || one + 3.0 * half_ulp != 1.0 + 0x1p-51) {
        return "the thread does not round to nearest, or doubles have excess precision. Fix: call "
               "with the default floating-point environment, built for SSE2 or 64 bits";
    }
    /* x * x = 1 + 2^-29 + 2^-60: the last term survives only where the sum is fused. */
    if (a * b + c != 0.0) {
        return "the compiler contracted a * b + c. Fix: build with -ffp-contract=off";
    }
    if (half == 0.0) {
        return "the thread flushes denormals. Fix: call with the default floating-point "
               "environment";
    }
    return NULL;
}
