/* Exact arithmetic of floats; see exact.h. MPFR rounds in a format by its precision and range of
 * exponents, with mpfr_subnormalize for what lies below the least normal number. */
#include <stdint.h>

#include "tests/conform/exact.h"

#define WORKING_BITS 200

void conform_exact_begin(void)
{
    (void)mpfr_set_emin(mpfr_get_emin_min());
    (void)mpfr_set_emax(mpfr_get_emax_max());
}

static void set_range(conform_id id)
{
    const conform_type *t = &conform_types[id];
    (void)mpfr_set_emin(4 - t->emax - (mpfr_exp_t)t->precision);
    (void)mpfr_set_emax(t->emax);
}

void conform_exact_decode(mpfr_t x, conform_id id, uint64_t bits)
{
    const conform_type *t = &conform_types[id];
    uint64_t magnitude = bits & ~conform_sign_bit(id), hidden = conform_least_normal(id);
    int is_negative = (bits & conform_sign_bit(id)) != 0;
    conform_exact_begin();
    mpfr_set_prec(x, (mpfr_prec_t)t->precision);
    if (magnitude > conform_infinity(id)) {
        mpfr_set_nan(x);
        return;
    }
    if (magnitude == conform_infinity(id)) {
        mpfr_set_inf(x, 1);
    } else {
        long exponent = (long)(magnitude >> (t->precision - 1));
        uint64_t fraction = magnitude & (hidden - 1);
        if (exponent > 0) {
            fraction |= hidden;
            exponent--;
        }
        mpfr_set_uj(x, fraction, MPFR_RNDN);
        mpfr_mul_2si(x, x, exponent + 3 - t->emax - (long)t->precision, MPFR_RNDN);
    }
    mpfr_setsign(x, x, is_negative, MPFR_RNDN);
}

/* Bits of a value that the format has. */
static uint64_t encode(conform_id id, const mpfr_t x)
{
    const conform_type *t = &conform_types[id];
    uint64_t sign = mpfr_signbit(x) ? conform_sign_bit(id) : 0;
    if (mpfr_nan_p(x)) {
        return conform_quiet_nan(id);
    }
    if (mpfr_inf_p(x)) {
        return sign | conform_infinity(id);
    }
    if (mpfr_zero_p(x)) {
        return sign;
    }
    /* In units of the least denormal, then of the last place. */
    long exponent = (long)mpfr_get_exp(x) + t->emax - 3;
    long shift = exponent > 0 ? exponent : 0;
    mpfr_t scaled;
    conform_exact_begin();
    mpfr_init2(scaled, (mpfr_prec_t)t->precision);
    mpfr_mul_2si(scaled, x, t->emax + (long)t->precision - 3 - shift, MPFR_RNDN);
    uint64_t fraction = mpfr_get_uj(scaled, MPFR_RNDN);
    if (sign) {
        mpfr_neg(scaled, scaled, MPFR_RNDN);
        fraction = mpfr_get_uj(scaled, MPFR_RNDN);
    }
    mpfr_clear(scaled);
    return sign | (fraction + ((uint64_t)shift << (t->precision - 1)));
}

uint64_t conform_exact_round(conform_id id, const mpfr_t x)
{
    mpfr_t r;
    mpfr_init2(r, (mpfr_prec_t)conform_types[id].precision);
    set_range(id);
    int ternary = mpfr_set(r, x, MPFR_RNDN);
    ternary = mpfr_check_range(r, ternary, MPFR_RNDN);
    mpfr_subnormalize(r, ternary, MPFR_RNDN);
    uint64_t bits = encode(id, r);
    mpfr_clear(r);
    return bits;
}

uint64_t conform_exact_from_double(conform_id id, double value)
{
    mpfr_t x;
    conform_exact_begin();
    mpfr_init2(x, 53);
    mpfr_set_d(x, value, MPFR_RNDN);
    uint64_t bits = conform_exact_round(id, x);
    mpfr_clear(x);
    return bits;
}

/* In the range of the format. False: not one of these. The ternary value is 0 where r is exact. */
static bool compute_rounded(vyre_op op, mpfr_t r, mpfr_t *x, int *ternary)
{
    *ternary = 0;
    switch ((int)op) {
    case VYRE_OP_ADD:
        *ternary = mpfr_add(r, x[0], x[1], MPFR_RNDN);
        return true;
    case VYRE_OP_SUB:
    case VYRE_OP_ABS_DIFF:
        *ternary = mpfr_sub(r, x[0], x[1], MPFR_RNDN);
        return true;
    case VYRE_OP_MUL:
        *ternary = mpfr_mul(r, x[0], x[1], MPFR_RNDN);
        return true;
    case VYRE_OP_DIV:
        *ternary = mpfr_div(r, x[0], x[1], MPFR_RNDN);
        return true;
    case VYRE_OP_SQRT:
        *ternary = mpfr_sqrt(r, x[0], MPFR_RNDN);
        return true;
    case VYRE_OP_FMA:
        *ternary = mpfr_fma(r, x[0], x[1], x[2], MPFR_RNDN);
        return true;
    case VYRE_OP_FRACT:
        mpfr_floor(r, x[0]);
        *ternary = mpfr_sub(r, x[0], r, MPFR_RNDN);
        return true;
    case VYRE_OP_FLOOR:
        mpfr_floor(r, x[0]);
        return true;
    case VYRE_OP_CEIL:
        mpfr_ceil(r, x[0]);
        return true;
    case VYRE_OP_TRUNC:
        mpfr_trunc(r, x[0]);
        return true;
    case VYRE_OP_ROUND:
        mpfr_round(r, x[0]);
        return true;
    case VYRE_OP_ROUND_EVEN:
        mpfr_roundeven(r, x[0]);
        return true;
    default:
        return false;
    }
}

static uint32_t operand_count(vyre_op op)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_ABS_DIFF:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
        return 2;
    case VYRE_OP_FMA:
        return 3;
    default:
        return 1;
    }
}

bool conform_exact_rounded(vyre_op op, conform_id id, const uint64_t *x, uint64_t *out_bits)
{
    mpfr_t operands[3], r;
    int ternary = 0;
    for (uint32_t i = 0; i < 3; i++) {
        mpfr_init2(operands[i], 2);
        conform_exact_decode(operands[i], id, i < operand_count(op) ? x[i] : 0);
    }
    mpfr_init2(r, (mpfr_prec_t)conform_types[id].precision);
    set_range(id);
    bool is_rounded = compute_rounded(op, r, operands, &ternary);
    if (is_rounded && ternary != 0) {
        mpfr_subnormalize(r, ternary, MPFR_RNDN);
    } else if (is_rounded && !mpfr_nan_p(r) && !mpfr_inf_p(r) && !mpfr_zero_p(r)) {
        mpfr_subnormalize(r, 0, MPFR_RNDN);
    }
    if (op == VYRE_OP_ABS_DIFF) {
        mpfr_abs(r, r, MPFR_RNDN);
    }
    *out_bits = encode(id, r);
    mpfr_clear(r);
    for (uint32_t i = 0; i < 3; i++) {
        mpfr_clear(operands[i]);
    }
    return is_rounded;
}

static bool compute_function(vyre_op op, mpfr_t r, const mpfr_t x, const mpfr_t y)
{
    typedef int (*unary_fn)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    static const struct {
        vyre_op op;
        unary_fn function;
    } functions[] = {
        {VYRE_OP_RSQRT, mpfr_rec_sqrt}, {VYRE_OP_EXP, mpfr_exp},   {VYRE_OP_EXP2, mpfr_exp2},
        {VYRE_OP_LOG, mpfr_log},        {VYRE_OP_LOG2, mpfr_log2}, {VYRE_OP_SIN, mpfr_sin},
        {VYRE_OP_COS, mpfr_cos},        {VYRE_OP_TAN, mpfr_tan},   {VYRE_OP_ASIN, mpfr_asin},
        {VYRE_OP_ACOS, mpfr_acos},      {VYRE_OP_ATAN, mpfr_atan}, {VYRE_OP_SINH, mpfr_sinh},
        {VYRE_OP_COSH, mpfr_cosh},      {VYRE_OP_TANH, mpfr_tanh},
    };
    if (op == VYRE_OP_RECIPROCAL) {
        mpfr_ui_div(r, 1, x, MPFR_RNDN);
        return true;
    }
    if (op == VYRE_OP_ATAN2) {
        mpfr_atan2(r, x, y, MPFR_RNDN);
        return true;
    }
    if (op == VYRE_OP_POW) {
        mpfr_pow(r, x, y, MPFR_RNDN);
        return true;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (functions[i].op == op) {
            functions[i].function(r, x, MPFR_RNDN);
            return true;
        }
    }
    return false;
}

bool conform_exact_function(vyre_op op, mpfr_t out, const mpfr_t x, const mpfr_t y)
{
    conform_exact_begin();
    mpfr_set_prec(out, WORKING_BITS);
    bool is_function = compute_function(op, out, x, y);
    if (op == VYRE_OP_RSQRT && mpfr_zero_p(x) && mpfr_signbit(x)) {
        mpfr_set_inf(out, -1); /* as 1 / sqrt(x) of C */
    }
    return is_function;
}
