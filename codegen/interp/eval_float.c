/* Operators on f16, f32 and f64. What is defined on bits is computed on bits, for all three alike.
 * Arithmetic of f16 and f32 is done in double, where + - * / and sqrt round twice without harm (53
 * bits are 2 * 24 + 2 and more, also where the result is denormal), and taken in and out of double
 * by integers, so that neither a thread that flushes denormals nor a compiler that contracts can
 * change a bit. f64 has integer arithmetic of its own. Owns nothing. */
#include "codegen/interp/eval.h"
#include "codegen/interp/float.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- On bits --------------------------------------------------------------------------------- */

static uint64_t magnitude_of(const vy_float_format *f, uint64_t bits)
{
    return bits & (f->sign - 1);
}

static bool is_nan(const vy_float_format *f, uint64_t bits)
{
    return magnitude_of(f, bits) > f->infinity;
}

/* Numbers that compare as the values do, both zeros the same. */
static int64_t order_of(const vy_float_format *f, uint64_t bits)
{
    int64_t magnitude = (int64_t)magnitude_of(f, bits);
    return bits & f->sign ? -magnitude : magnitude;
}

static uint64_t flush(const vy_float_format *f, uint64_t bits)
{
    return bits & f->infinity ? bits : bits & f->sign;
}

static uint64_t minimum(const vy_float_format *f, uint64_t a, uint64_t b)
{
    if (is_nan(f, a)) {
        return is_nan(f, b) ? f->nan : b;
    }
    if (is_nan(f, b) || order_of(f, a) < order_of(f, b)) {
        return a;
    }
    return order_of(f, b) < order_of(f, a) ? b : a | b; /* equal: -0 where one of them is */
}

static uint64_t maximum(const vy_float_format *f, uint64_t a, uint64_t b)
{
    if (is_nan(f, a)) {
        return is_nan(f, b) ? f->nan : b;
    }
    if (is_nan(f, b) || order_of(f, b) < order_of(f, a)) {
        return a;
    }
    return order_of(f, a) < order_of(f, b) ? b : a & b;
}

static uint64_t sign_of(const vy_float_format *f, uint64_t bits)
{
    if (is_nan(f, bits) || magnitude_of(f, bits) == 0) {
        return 0;
    }
    return (bits & f->sign) | f->one;
}

/* To an integer, with the sign kept where it is zero. */
static uint64_t round_to_integer(vyre_op op, const vy_float_format *f, uint64_t bits)
{
    uint64_t magnitude = magnitude_of(f, bits), sign = bits & f->sign;
    if (magnitude >= f->whole) {
        return is_nan(f, bits) ? f->nan : bits;
    }
    /* Below one, bits are compared where otherwise the fraction's are. */
    uint64_t below = 0, above = f->one, fraction = magnitude, half = f->half;
    bool is_odd = false, up = false;
    if (magnitude >= f->one) {
        int exponent = (int)(magnitude >> (f->precision - 1)) - f->bias;
        uint64_t unit = (uint64_t)1 << ((int)f->precision - 1 - exponent);
        fraction = magnitude & (unit - 1);
        below = magnitude - fraction;
        above = below + unit; /* a carry is the next exponent */
        half = unit >> 1;
        is_odd = below & unit; /* of 1.xxx it is the exponent's lowest bit, which is set */
    }
    switch ((int)op) {
    case VYRE_OP_FLOOR:
        up = sign && fraction;
        break;
    case VYRE_OP_CEIL:
        up = !sign && fraction;
        break;
    case VYRE_OP_ROUND:
        up = fraction >= half;
        break;
    case VYRE_OP_ROUND_EVEN:
        up = fraction > half || (fraction == half && is_odd);
        break;
    default:
        break;
    }
    return sign | (up ? above : below);
}

static bool eval_test(vyre_op op, const vy_float_format *f, const uint64_t *v)
{
    switch ((int)op) {
    case VYRE_OP_IS_NAN:
        return is_nan(f, v[0]);
    case VYRE_OP_IS_INF:
        return magnitude_of(f, v[0]) == f->infinity;
    case VYRE_OP_IS_FINITE:
        return magnitude_of(f, v[0]) < f->infinity;
    default:
        break;
    }
    if (is_nan(f, v[0]) || is_nan(f, v[1])) {
        return op == VYRE_OP_NE;
    }
    int64_t x = order_of(f, v[0]), y = order_of(f, v[1]);
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
    default:
        return false;
    }
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* The product is exact, and a sum rounded to odd may be rounded again: 53 bits are 24 + 2 and more.
 * The sum of the largest product and the least term is far from either end of double's range. */
static uint64_t fused(const vy_float_format *f, double x, double y, double z)
{
    double product = x * y, sum = product + z;
    if (!isfinite(sum)) {
        return vy_float_narrow(f, sum);
    }
    double shadow = sum - product;
    double error = (product - (sum - shadow)) + (z - shadow);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0.0 && !(bits & 1)) {
        bits = (error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;
        memcpy(&sum, &bits, sizeof sum);
    }
    return vy_float_narrow(f, sum);
}

static uint64_t eval_short(vyre_op op, const vy_float_format *f, const uint64_t *v)
{
    double x = vy_float_widen(f, v[0]);
    if (op == VYRE_OP_SQRT) {
        return vy_float_narrow(f, sqrt(x));
    }
    double y = vy_float_widen(f, v[1]);
    switch ((int)op) {
    case VYRE_OP_ADD:
        return vy_float_narrow(f, x + y);
    case VYRE_OP_SUB:
        return vy_float_narrow(f, x - y);
    case VYRE_OP_MUL:
        return vy_float_narrow(f, x * y);
    case VYRE_OP_DIV:
        return vy_float_narrow(f, x / y);
    case VYRE_OP_FMA:
        return fused(f, x, y, vy_float_widen(f, v[2]));
    default:
        return 0;
    }
}

static uint64_t eval_arithmetic(vyre_op op, vyre_type type, const vy_float_format *f,
                                const uint64_t *v)
{
    if (type != VYRE_TYPE_F64) {
        return eval_short(op, f, v);
    }
    switch ((int)op) {
    case VYRE_OP_ADD:
        return vy_f64_add(v[0], v[1]);
    case VYRE_OP_SUB:
        return vy_f64_sub(v[0], v[1]);
    case VYRE_OP_MUL:
        return vy_f64_mul(v[0], v[1]);
    case VYRE_OP_DIV:
        return vy_f64_div(v[0], v[1]);
    case VYRE_OP_SQRT:
        return vy_f64_sqrt(v[0]);
    case VYRE_OP_FMA:
        return vy_f64_fma(v[0], v[1], v[2]);
    default:
        return 0;
    }
}

/* ---- Functions with a tolerance -------------------------------------------------------------- */

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

/* f16 is computed as f32 and rounded from there, as devices do. */
static uint64_t eval_table(vyre_op op, vyre_type type, const vy_float_format *f, const uint64_t *v)
{
    bool is_binary = op == VYRE_OP_ATAN2 || op == VYRE_OP_POW;
    if (type == VYRE_TYPE_F64) {
        return 0;
    }
    double x = vy_float_widen(f, v[0]), y = is_binary ? vy_float_widen(f, v[1]) : 0.0;
    uint32_t bits = vy_f32_narrow(table_function(op, x, y));
    return type == VYRE_TYPE_F32 ? bits : vy_float_narrow(f, vy_f32_widen(bits));
}

/* ---- Operators ------------------------------------------------------------------------------- */

/* Operators that give a float. */
static uint64_t eval_value(vyre_op op, vyre_type type, const vy_float_format *f, const uint64_t *v)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_SQRT:
    case VYRE_OP_FMA:
        return eval_arithmetic(op, type, f, v);
    case VYRE_OP_MIN:
        return minimum(f, v[0], v[1]);
    case VYRE_OP_MAX:
        return maximum(f, v[0], v[1]);
    case VYRE_OP_CLAMP:
        return minimum(f, maximum(f, v[0], v[1]), v[2]);
    case VYRE_OP_SIGN:
        return sign_of(f, v[0]);
    case VYRE_OP_NEGATE:
        return is_nan(f, v[0]) ? f->nan : v[0] ^ f->sign;
    case VYRE_OP_ABS:
        return is_nan(f, v[0]) ? f->nan : magnitude_of(f, v[0]);
    case VYRE_OP_COPYSIGN:
        return is_nan(f, v[0]) ? f->nan : magnitude_of(f, v[0]) | (v[1] & f->sign);
    case VYRE_OP_ABS_DIFF:
        return magnitude_of(f, eval_arithmetic(VYRE_OP_SUB, type, f, v));
    case VYRE_OP_FLOOR:
    case VYRE_OP_CEIL:
    case VYRE_OP_TRUNC:
    case VYRE_OP_ROUND:
    case VYRE_OP_ROUND_EVEN:
        return round_to_integer(op, f, v[0]);
    case VYRE_OP_FRACT: {
        const uint64_t pair[2] = {v[0], round_to_integer(VYRE_OP_FLOOR, f, v[0])};
        return eval_arithmetic(VYRE_OP_SUB, type, f, pair);
    }
    default:
        return eval_table(op, type, f, v);
    }
}

/* Operators that are defined on bits or by exact integer arithmetic: no device flushes there. */
static bool is_exact_on_bits(vyre_op op)
{
    switch ((int)op) {
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

uint64_t vy_eval_float(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                       bool flush_denormals)
{
    const vy_float_format *f = vy_float_format_get(operand);
    if (!f) {
        return 0;
    }
    if (result == VYRE_TYPE_BOOL) {
        return eval_test(op, f, operands);
    }
    if (!flush_denormals || operand != VYRE_TYPE_F32 || is_exact_on_bits(op)) {
        return eval_value(op, operand, f, operands);
    }
    uint64_t flushed[3] = {0, 0, 0};
    uint32_t count = vy_op_get(op)->operand_count;
    for (uint32_t i = 0; i < count && i < 3; i++) {
        flushed[i] = flush(f, operands[i]);
    }
    return flush(f, eval_value(op, operand, f, flushed));
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
