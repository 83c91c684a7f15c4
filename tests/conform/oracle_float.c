/* Operators on floats, casts from and to them, and the table of tolerances of docs/language.md; see
 * oracle.h. */
#include <stdint.h>

#include "tests/conform/exact.h"
#include "tests/conform/oracle.h"

#include <float.h>
#include <math.h>

/* The largest exponent of pow for which something is promised near 1: log2's error of 2^-21 is
 * multiplied by it, and the result's error is a power of two of that. */
#define POW_NEAR_ONE 0x1p20

/* docs/language.md, "Tolerances"; where two rows hold, the second one counts. */
typedef struct tolerance {
    vyre_op op;
    double low, high;  /* domain of the first argument */
    double ulp, slope; /* slope: of |x|; for pow of |y log2 x|, of |y| for x from 0.5 to 2 */
    double absolute;
} tolerance;

static const tolerance tolerances[] = {
    {VYRE_OP_RSQRT, (double)FLT_MIN, (double)FLT_MAX, 2, 0, 0},
    {VYRE_OP_RECIPROCAL, -0x1p126, 0x1p126, 2.5, 0, 0},
    {VYRE_OP_EXP, -87, 88, 3, 2, 0},
    {VYRE_OP_EXP2, -126, 127, 3, 2, 0},
    {VYRE_OP_LOG, (double)FLT_MIN, (double)FLT_MAX, 3, 0, 0},
    {VYRE_OP_LOG, 0.5, 2, 0, 0, 0x1p-21},
    {VYRE_OP_LOG2, (double)FLT_MIN, (double)FLT_MAX, 3, 0, 0},
    {VYRE_OP_LOG2, 0.5, 2, 0, 0, 0x1p-21},
    {VYRE_OP_SIN, -3.14159265, 3.14159265, 0, 0, 0x1p-11},
    {VYRE_OP_COS, -3.14159265, 3.14159265, 0, 0, 0x1p-11},
    {VYRE_OP_TAN, -1.25, 1.25, 0, 0, 0x1p-11},
    {VYRE_OP_ASIN, -1, 1, 4096, 0, 0},
    {VYRE_OP_ACOS, -1, 1, 4096, 0, 0},
    {VYRE_OP_ATAN, -(double)FLT_MAX, (double)FLT_MAX, 4096, 0, 0},
    {VYRE_OP_ATAN2, -(double)FLT_MAX, (double)FLT_MAX, 4096, 0, 0},
    {VYRE_OP_SINH, -87, 87, 3, 2, 0x1p-22},
    {VYRE_OP_TANH, -87, 87, 3, 2, 0x1p-22},
    {VYRE_OP_COSH, -87, 87, 3, 2, 0},
    {VYRE_OP_POW, (double)FLT_MIN, (double)FLT_MAX, 3, 3, 0},
    {VYRE_OP_POW, 0.5, 2, 3, 9, 0},
};
/* With fast_math, Vulkan's: / for divisors of this range; sqrt is inherited from 1 / inversesqrt.
 */
static const tolerance fast_tolerances[] = {
    {VYRE_OP_DIV, -(double)FLT_MAX, (double)FLT_MAX, 2.5, 0, 0},
    {VYRE_OP_SQRT, (double)FLT_MIN, (double)FLT_MAX, 5, 0, 0},
};

static conform_answer exact(uint64_t bits)
{
    conform_answer answer = {.kind = CONFORM_EXACT, .bits = bits};
    return answer;
}

/* ---- Bits -------------------------------------------------------------------------------------
 */

static uint64_t number_or_nan(conform_id id, uint64_t bits)
{
    return conform_is_nan(id, bits) ? conform_quiet_nan(id) : bits;
}

/* The place of a value that is no NaN in the order -inf .. -0, +0 .. inf. */
static int64_t rank(conform_id id, uint64_t bits)
{
    int64_t magnitude = (int64_t)(bits & ~conform_sign_bit(id));
    return bits & conform_sign_bit(id) ? -1 - magnitude : magnitude;
}

static uint64_t least_of(conform_id id, uint64_t a, uint64_t b)
{
    if (conform_is_nan(id, a) || conform_is_nan(id, b)) {
        return number_or_nan(id, conform_is_nan(id, a) ? b : a);
    }
    return rank(id, a) < rank(id, b) ? a : b;
}

static uint64_t greatest_of(conform_id id, uint64_t a, uint64_t b)
{
    if (conform_is_nan(id, a) || conform_is_nan(id, b)) {
        return number_or_nan(id, conform_is_nan(id, a) ? b : a);
    }
    return rank(id, a) > rank(id, b) ? a : b;
}

static uint64_t flushed(conform_id id, uint64_t bits, const conform_mode *mode)
{
    bool flushes = mode->flushes[id] && conform_is_denormal(id, bits);
    return flushes ? bits & conform_sign_bit(id) : bits;
}

static uint64_t sign_of(conform_id id, uint64_t bits)
{
    double value = conform_to_double(id, bits);
    return conform_from_double(id, value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0);
}

static bool compares(vyre_op op, double a, double b)
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
    default:
        return a >= b;
    }
}

/* What looks at bits and sees denormals as they are. */
static conform_answer by_bits(vyre_op op, conform_id id, const uint64_t *x)
{
    uint64_t sign = conform_sign_bit(id), magnitude = x[0] & ~sign;
    switch ((int)op) {
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
    case VYRE_OP_LT:
    case VYRE_OP_LE:
    case VYRE_OP_GT:
    case VYRE_OP_GE:
        return exact(compares(op, conform_to_double(id, x[0]), conform_to_double(id, x[1])));
    case VYRE_OP_NEGATE:
        return exact(number_or_nan(id, x[0] ^ sign));
    case VYRE_OP_ABS:
        return exact(number_or_nan(id, magnitude));
    case VYRE_OP_SIGN:
        return exact(sign_of(id, x[0]));
    case VYRE_OP_MIN:
        return exact(least_of(id, x[0], x[1]));
    case VYRE_OP_MAX:
        return exact(greatest_of(id, x[0], x[1]));
    case VYRE_OP_CLAMP:
        return exact(least_of(id, greatest_of(id, x[0], x[1]), x[2]));
    case VYRE_OP_COPYSIGN:
        return exact(number_or_nan(id, magnitude | (x[1] & sign)));
    case VYRE_OP_IS_NAN:
        return exact(magnitude > conform_infinity(id));
    case VYRE_OP_IS_INF:
        return exact(magnitude == conform_infinity(id));
    case VYRE_OP_IS_FINITE:
        return exact(magnitude < conform_infinity(id));
    default:
        return (conform_answer){.kind = CONFORM_NO_ANSWER};
    }
}

/* ---- Casts ------------------------------------------------------------------------------------
 */

static uint64_t to_integer(conform_id result, const mpfr_t x)
{
    bool is_signed = conform_types[result].kind == CONFORM_SIGNED;
    uint64_t mask = conform_mask(result), greatest = is_signed ? mask >> 1 : mask;
    mpfr_t truncated;
    uint64_t bits = 0;
    if (mpfr_nan_p(x)) {
        return 0;
    }
    mpfr_init2(truncated, 64);
    mpfr_trunc(truncated, x); /* up to 53 bits: exact */
    if (mpfr_sgn(truncated) >= 0) {
        bits = mpfr_cmp_d(truncated, 0x1p64) >= 0 ? UINT64_MAX : mpfr_get_uj(truncated, MPFR_RNDZ);
        bits = bits < greatest ? bits : greatest;
    } else if (is_signed) {
        mpfr_neg(truncated, truncated, MPFR_RNDN);
        bits = mpfr_cmp_d(truncated, 0x1p63) >= 0 ? (uint64_t)1 << 63
                                                  : mpfr_get_uj(truncated, MPFR_RNDZ);
        bits = bits < greatest + 1 ? bits : greatest + 1;
        bits = (0 - bits) & mask;
    }
    mpfr_clear(truncated);
    return bits;
}

static uint64_t from_integer(conform_id result, conform_id operand, uint64_t bits)
{
    mpfr_t x;
    conform_exact_begin();
    mpfr_init2(x, 64);
    bits &= conform_mask(operand);
    if (conform_types[operand].kind == CONFORM_SIGNED && (bits & conform_sign_bit(operand))) {
        mpfr_set_uj(x, (0 - bits) & conform_mask(operand), MPFR_RNDN);
        mpfr_neg(x, x, MPFR_RNDN);
    } else {
        mpfr_set_uj(x, operand == CONFORM_BOOL ? bits != 0 : bits, MPFR_RNDN);
    }
    uint64_t rounded = conform_exact_round(result, x);
    mpfr_clear(x);
    return rounded;
}

static conform_answer cast(conform_id result, conform_id operand, uint64_t bits)
{
    mpfr_t x;
    uint64_t value;
    if (!conform_is_float(operand)) {
        return exact(from_integer(result, operand, bits));
    }
    if (result == operand && operand != CONFORM_BF16) {
        return exact(bits);
    }
    if (operand == CONFORM_BF16 && result == CONFORM_F32) { /* a load, which keeps bits */
        return exact(bits << 16);
    }
    if (result == CONFORM_BOOL) {
        return exact((bits & ~conform_sign_bit(operand)) != 0);
    }
    mpfr_init2(x, 53);
    conform_exact_decode(x, operand, bits);
    value = conform_is_float(result) ? conform_exact_round(result, x) : to_integer(result, x);
    mpfr_clear(x);
    return exact(value);
}

/* ---- Functions with a tolerance ----------------------------------------------------------------
 */

static const tolerance *find_tolerance(vyre_op op, double x, const conform_mode *mode)
{
    const tolerance *rows = tolerances, *found = NULL;
    size_t count = sizeof tolerances / sizeof tolerances[0];
    if (op == VYRE_OP_DIV || op == VYRE_OP_SQRT) {
        rows = fast_tolerances;
        count = mode->fast_math ? sizeof fast_tolerances / sizeof fast_tolerances[0] : 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (rows[i].op == op && x >= rows[i].low && x <= rows[i].high) {
            found = &rows[i];
        }
    }
    return found;
}

/* The bounds around the exact value, rounded outwards. */
static void bound(conform_answer *answer, conform_id id, const mpfr_t value, const tolerance *row,
                  double argument)
{
    /* Functions of f16 are those of f32, rounded once more. */
    const conform_type *t = &conform_types[id == CONFORM_F16 ? CONFORM_F32 : id];
    long unit = 3 - t->emax - (long)t->precision;
    mpfr_t error, absolute, edge;
    if (mpfr_regular_p(value) && (long)mpfr_get_exp(value) - (long)t->precision > unit) {
        unit = (long)mpfr_get_exp(value) - (long)t->precision;
    }
    mpfr_inits2(200, error, absolute, edge, (mpfr_ptr)0);
    mpfr_set_d(error, row->ulp + row->slope * argument, MPFR_RNDU);
    mpfr_mul_2si(error, error, unit, MPFR_RNDU);
    mpfr_set_d(absolute, row->absolute, MPFR_RNDU);
    mpfr_max(error, error, absolute, MPFR_RNDU);
    mpfr_sub(edge, value, error, MPFR_RNDD);
    answer->low = mpfr_get_d(edge, MPFR_RNDD);
    mpfr_add(edge, value, error, MPFR_RNDU);
    answer->high = mpfr_get_d(edge, MPFR_RNDU);
    if (id == CONFORM_F16) {
        answer->low = conform_to_double(id, conform_from_double(id, answer->low));
        answer->high = conform_to_double(id, conform_from_double(id, answer->high));
    }
    mpfr_clears(error, absolute, edge, (mpfr_ptr)0);
    answer->kind = CONFORM_WITHIN;
}

static double argument_of(vyre_op op, double x, double y)
{
    if (op != VYRE_OP_POW) {
        return fabs(x);
    }
    return x >= 0.5 && x <= 2 ? fabs(y) : fabs(y * log2(x));
}

/* As IEEE 754 has it for every function; MPFR knows one NaN only, and gives 1 for pow(1, NaN). */
static bool is_signalling(conform_id id, uint64_t bits)
{
    return conform_is_nan(id, bits) && !(bits & conform_least_normal(id) >> 1);
}

static conform_answer function(vyre_op op, conform_id id, const uint64_t *x,
                               const conform_mode *mode)
{
    conform_answer answer = {.kind = CONFORM_NO_ANSWER};
    bool has_two = op == VYRE_OP_ATAN2 || op == VYRE_OP_POW;
    double a = conform_to_double(id, x[0]), b = has_two ? conform_to_double(id, x[1]) : 0.0;
    mpfr_t first, second, value;
    mpfr_inits2(53, first, second, value, (mpfr_ptr)0);
    conform_exact_decode(first, id, x[0]);
    conform_exact_decode(second, id, has_two ? x[1] : 0);
    if (conform_exact_function(op, value, first, second)) {
        if (is_signalling(id, x[0]) || (has_two && is_signalling(id, x[1]))) {
            mpfr_set_nan(value);
        }
        const tolerance *row = find_tolerance(op, a, mode);
        if (op == VYRE_OP_POW && a >= 0.5 && a <= 2 && fabs(b) > POW_NEAR_ONE) {
            row = NULL;
        }
        answer.kind = CONFORM_FREE;
        answer.bits = flushed(id, conform_exact_round(id, value), mode);
        answer.may_flush = mode->flushes[id];
        if (row && isfinite(a) && isfinite(b) && !mpfr_nan_p(value) &&
            (op == VYRE_OP_POW || !mpfr_inf_p(value))) {
            conform_exact_begin();
            bound(&answer, id, value, row, argument_of(op, a, b));
        }
    }
    mpfr_clears(first, second, value, (mpfr_ptr)0);
    return answer;
}

/* / and sqrt as fast_math leaves them to the device. */
static void loosen(conform_answer *answer, vyre_op op, conform_id id, const uint64_t *x,
                   const conform_mode *mode)
{
    double a = conform_to_double(id, x[0]), b = conform_to_double(id, x[1]);
    double value = op == VYRE_OP_DIV ? a / b : sqrt(a);
    const tolerance *row = find_tolerance(op, a, mode);
    double least = ldexp(1.0, 2 - conform_types[id].emax);
    bool in_domain = row && fabs(value) >= least && fabs(value) <= (double)FLT_MAX &&
                     (op == VYRE_OP_SQRT ||
                      (fabs(b) >= least && fabs(b) <= 0x1p126 && (a == 0.0 || fabs(a) >= least)));
    answer->kind = CONFORM_FREE;
    if (in_domain) {
        mpfr_t exact_value;
        conform_exact_begin();
        mpfr_init2(exact_value, 53);
        mpfr_set_d(exact_value, value, MPFR_RNDN);
        bound(answer, id, exact_value, row, 0.0);
        mpfr_clear(exact_value);
    }
}

conform_answer conform_float(vyre_op op, conform_id result, conform_id operand, const uint64_t *x,
                             const conform_mode *mode)
{
    uint64_t seen[3], bits = 0;
    if (op == VYRE_OP_CAST) {
        return cast(result, operand, x[0]);
    }
    conform_answer answer = by_bits(op, operand, x);
    if (answer.kind != CONFORM_NO_ANSWER) {
        return answer;
    }
    bool sees_denormals = op == VYRE_OP_DIV || op == VYRE_OP_SQRT;
    for (uint32_t i = 0; i < 3; i++) {
        seen[i] = sees_denormals ? x[i] : flushed(operand, x[i], mode);
    }
    if (conform_exact_rounded(op, operand, seen, &bits)) {
        answer = exact(sees_denormals ? bits : flushed(operand, bits, mode));
        if (sees_denormals && mode->fast_math) {
            loosen(&answer, op, operand, x, mode);
        }
        return answer;
    }
    answer = function(op, operand, seen, mode);
    if (op == VYRE_OP_ATAN2 && mode->flushes[operand]) { /* or sees denormals as they are */
        conform_answer other = function(op, operand, x, mode);
        answer.kind = other.kind == CONFORM_FREE ? other.kind : answer.kind;
        answer.low = fmin(answer.low, other.low);
        answer.high = fmax(answer.high, other.high);
    }
    return answer;
}
