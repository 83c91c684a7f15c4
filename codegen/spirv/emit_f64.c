/* Operators on f64. Devices keep its denormals (there is no device with f64 that does not; the
 * engine tests it), so comparisons and extremes are the device's own; signs, tests and NaNs are
 * handled on bits. Division, sqrt: emit_exact.c, fma: emit_fma.c. */
#include "codegen/spirv/emit_exact.h"

static uint32_t masked(const vy_format *f, uint32_t value, SpvOp op, uint64_t mask)
{
    uint32_t bits = vy_format_bits(f, value);
    bits = vy_i2c(&f->k, op, bits, mask);
    return vy_format_value(f, bits);
}

static uint32_t magnitude_of(const vy_format *f, uint32_t value)
{
    uint32_t bits = vy_format_bits(f, value);
    return vy_i2c(&f->k, SpvOpBitwiseAnd, bits, f->magnitude);
}

static uint32_t is_nan(const vy_format *f, uint32_t value)
{
    return vy_ib2c(&f->k, SpvOpUGreaterThan, magnitude_of(f, value), f->infinity);
}

uint32_t vy_emit_canonical_f64(vy_emitter *emitter, uint32_t value)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F64);
    uint32_t condition = is_nan(&f, value);
    uint32_t nan = vy_const_f64(f.m, f.nan);
    return vy_select(f.m, f.type, condition, nan, value);
}

/* Without SignedZeroInfNanPreserve a driver may take a == a for true. */
static uint32_t compare(const vy_format *f, vyre_op op, SpvOp on_float, const uint32_t *operands)
{
    vy_module *m = f->m;
    uint32_t value = vy_b2(m, on_float, operands[0], operands[1]);
    bool is_kept = (f->emitter->options->float_modes & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64);
    if (is_kept || (op != VYRE_OP_EQ && op != VYRE_OP_NE)) {
        return value;
    }
    uint32_t a = is_nan(f, operands[0]);
    uint32_t b = is_nan(f, operands[1]);
    uint32_t either = vy_b2(m, SpvOpLogicalOr, a, b);
    if (op == VYRE_OP_NE) {
        return vy_b2(m, SpvOpLogicalOr, value, either);
    }
    uint32_t neither = vy_b1(m, SpvOpLogicalNot, either);
    return vy_b2(m, SpvOpLogicalAnd, value, neither);
}

static uint32_t test(const vy_format *f, vyre_op op, uint32_t value)
{
    uint32_t magnitude = magnitude_of(f, value);
    SpvOp spv = op == VYRE_OP_IS_NAN   ? SpvOpUGreaterThan
                : op == VYRE_OP_IS_INF ? SpvOpIEqual
                                       : SpvOpULessThan;
    return vy_ib2c(&f->k, spv, magnitude, f->infinity);
}

/* Equal operands are joined on bits, so that min gives -0 and max +0. */
static uint32_t extreme(const vy_format *f, uint32_t a, uint32_t b, bool is_min)
{
    vy_module *m = f->m;
    uint32_t value = vy_glsl(m, is_min ? GLSLstd450NMin : GLSLstd450NMax, f->type, a, b);
    uint32_t equal = vy_b2(m, SpvOpFOrdEqual, a, b);
    uint32_t a_bits = vy_format_bits(f, a);
    uint32_t b_bits = vy_format_bits(f, b);
    uint32_t joined = vy_i2(&f->k, is_min ? SpvOpBitwiseOr : SpvOpBitwiseAnd, a_bits, b_bits);
    uint32_t same = vy_format_value(f, joined);
    return vy_select(m, f->type, equal, same, value);
}

static uint32_t copy_sign(const vy_format *f, uint32_t magnitude, uint32_t sign)
{
    uint32_t bits = magnitude_of(f, magnitude);
    uint32_t sign_bits = vy_format_bits(f, sign);
    sign_bits = vy_i2c(&f->k, SpvOpBitwiseAnd, sign_bits, f->sign);
    bits = vy_i2(&f->k, SpvOpBitwiseOr, bits, sign_bits);
    return vy_format_value(f, bits);
}

/* 1 with the value's sign, or 0 for zeros and NaN. */
static uint32_t sign_of(const vy_format *f, uint32_t value)
{
    const vy_ints *k = &f->k;
    uint32_t magnitude = magnitude_of(f, value);
    uint32_t less = vy_i2c(k, SpvOpISub, magnitude, 1);
    uint32_t has_sign = vy_ib2c(k, SpvOpULessThan, less, f->infinity);
    uint32_t bits = vy_format_bits(f, value);
    bits = vy_i2c(k, SpvOpBitwiseAnd, bits, f->sign);
    bits = vy_i2c(k, SpvOpBitwiseOr, bits, (uint64_t)f->bias << (f->precision - 1));
    uint32_t zero = vy_ic(k, 0);
    bits = vy_select_i(k, has_sign, bits, zero);
    return vy_format_value(f, bits);
}

/* ---- Rounding -------------------------------------------------------------------------------- */

static uint32_t round_by(const vy_format *f, uint32_t value, enum GLSLstd450 op)
{
    uint32_t rounded = vy_glsl(f->m, op, f->type, value, 0);
    return copy_sign(f, rounded, value);
}

/* Half away from zero: x - trunc(x) is exact, and so is trunc(x) + 1 wherever it is not zero. */
static uint32_t round_away(const vy_format *f, uint32_t value)
{
    vy_module *m = f->m;
    uint32_t whole = vy_glsl(m, GLSLstd450Trunc, f->type, value, 0);
    uint32_t part = vy_exact2(m, SpvOpFSub, f->type, value, whole);
    part = masked(f, part, SpvOpBitwiseAnd, f->magnitude);
    uint32_t half = vy_const_f64(m, (uint64_t)1022 << 52),
             one = vy_const_f64(m, (uint64_t)1023 << 52);
    uint32_t away = vy_b2(m, SpvOpFOrdGreaterThanEqual, part, half);
    uint32_t unit = copy_sign(f, one, value);
    uint32_t next = vy_exact2(m, SpvOpFAdd, f->type, whole, unit);
    uint32_t rounded = vy_select(m, f->type, away, next, whole);
    return copy_sign(f, rounded, value);
}

static uint32_t emit_rounding(const vy_format *f, const vy_ins *ins, uint32_t value)
{
    switch ((int)ins->op) {
    case VYRE_OP_FLOOR:
        return round_by(f, value, GLSLstd450Floor);
    case VYRE_OP_CEIL:
        return round_by(f, value, GLSLstd450Ceil);
    case VYRE_OP_TRUNC:
        return round_by(f, value, GLSLstd450Trunc);
    case VYRE_OP_ROUND_EVEN:
        return round_by(f, value, GLSLstd450RoundEven);
    case VYRE_OP_ROUND:
        return round_away(f, value);
    case VYRE_OP_FRACT: {
        uint32_t whole = round_by(f, value, GLSLstd450Floor);
        return vy_exact2(f->m, SpvOpFSub, f->type, value, whole);
    }
    default:
        return vy_emitter_fail(f->emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "operator %s has no meaning on f64. Fix: report it with the program",
                               vy_op_get((vyre_op)ins->op)->name);
    }
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static uint32_t emit_arithmetic(const vy_format *f, const vy_ins *ins, const uint32_t *operands)
{
    vy_emitter *emitter = f->emitter;
    bool is_fast = emitter->ssa->program->fast_math;
    switch ((int)ins->op) {
    case VYRE_OP_ADD:
        return vy_sum(f, SpvOpFAdd, operands[0], operands[1]);
    case VYRE_OP_SUB:
        return vy_sum(f, SpvOpFSub, operands[0], operands[1]);
    case VYRE_OP_MUL:
        return vy_exact2(f->m, SpvOpFMul, f->type, operands[0], operands[1]);
    case VYRE_OP_DIV:
        return is_fast ? vy_v2(f->m, SpvOpFDiv, f->type, operands[0], operands[1])
                       : vy_helper_call(emitter, VY_HELPER_DIVIDE_F64, operands[0], operands[1]);
    case VYRE_OP_SQRT:
        return is_fast ? vy_glsl(f->m, GLSLstd450Sqrt, f->type, operands[0], 0)
                       : vy_helper_call(emitter, VY_HELPER_SQRT_F64, operands[0], 0);
    case VYRE_OP_FMA:
        return vy_helper_call3(emitter, VY_HELPER_FMA_F64, operands[0], operands[1], operands[2]);
    default:
        return emit_rounding(f, ins, operands[0]);
    }
}

uint32_t vy_emit_f64(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F64);
    SpvOp op = SpvOpMax;
    if (vy_find_comparison((vyre_op)ins->op, &op, NULL)) {
        return compare(&f, (vyre_op)ins->op, op, operands);
    }
    switch ((int)ins->op) {
    case VYRE_OP_MIN:
        return extreme(&f, operands[0], operands[1], true);
    case VYRE_OP_MAX:
        return extreme(&f, operands[0], operands[1], false);
    case VYRE_OP_CLAMP: {
        uint32_t above = extreme(&f, operands[0], operands[1], false);
        return extreme(&f, above, operands[2], true);
    }
    case VYRE_OP_ABS_DIFF: {
        uint32_t difference = vy_exact2(f.m, SpvOpFSub, f.type, operands[0], operands[1]);
        return masked(&f, difference, SpvOpBitwiseAnd, f.magnitude);
    }
    case VYRE_OP_NEGATE:
        return masked(&f, operands[0], SpvOpBitwiseXor, f.sign);
    case VYRE_OP_ABS:
        return masked(&f, operands[0], SpvOpBitwiseAnd, f.magnitude);
    case VYRE_OP_COPYSIGN:
        return copy_sign(&f, operands[0], operands[1]);
    case VYRE_OP_SIGN:
        return sign_of(&f, operands[0]);
    case VYRE_OP_IS_NAN:
    case VYRE_OP_IS_INF:
    case VYRE_OP_IS_FINITE:
        return test(&f, (vyre_op)ins->op, operands[0]);
    default:
        return emit_arithmetic(&f, ins, operands);
    }
}
