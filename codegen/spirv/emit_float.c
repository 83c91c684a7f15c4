/* Operators on f32 that are exact, and those of f16, which are the same with a rounding behind them
 * where one is due. Signs and NaNs are handled on bits, where no float mode of the device can
 * change them. Division and sqrt: emit_exact.c, fma: emit_fma.c; functions with a tolerance:
 * emit_math.c, emit_trig.c. */
#include "codegen/spirv/emit_exact.h"

uint32_t vy_emit_is_nan_bits(vy_emitter *emitter, uint32_t bits)
{
    vy_module *m = &emitter->module;
    uint32_t magnitude = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    return vy_b2c(m, SpvOpUGreaterThan, magnitude, VY_F32_INFINITY);
}

static uint32_t is_nan(vy_emitter *emitter, uint32_t value)
{
    uint32_t bits = vy_bits_of(&emitter->module, value);
    return vy_emit_is_nan_bits(emitter, bits);
}

uint32_t vy_emit_canonical_nan(vy_emitter *emitter, uint32_t value, vyre_type type)
{
    vy_module *m = &emitter->module;
    if (type == VYRE_TYPE_F64) {
        return vy_emit_canonical_f64(emitter, value);
    }
    uint32_t condition = is_nan(emitter, value);
    uint32_t nan = vy_const_f32(m, VY_F32_NAN);
    return vy_select_f(m, condition, nan, value);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

/* Without SignedZeroInfNanPreserve a driver may take a == a for true. */
static uint32_t with_nan_test(vy_emitter *emitter, uint32_t value, const uint32_t *operands,
                              bool is_equal)
{
    vy_module *m = &emitter->module;
    uint32_t a = is_nan(emitter, operands[0]);
    uint32_t b = is_nan(emitter, operands[1]);
    uint32_t either = vy_b2(m, SpvOpLogicalOr, a, b);
    if (!is_equal) {
        return vy_b2(m, SpvOpLogicalOr, value, either);
    }
    uint32_t neither = vy_b1(m, SpvOpLogicalNot, either);
    return vy_b2(m, SpvOpLogicalAnd, value, neither);
}

bool vy_find_comparison(vyre_op op, SpvOp *out_float, SpvOp *out_key)
{
    static const struct {
        vyre_op op;
        SpvOp on_float, on_key;
    } rows[] = {
        {VYRE_OP_EQ, SpvOpFOrdEqual, SpvOpIEqual},
        {VYRE_OP_NE, SpvOpFUnordNotEqual, SpvOpINotEqual},
        {VYRE_OP_LT, SpvOpFOrdLessThan, SpvOpSLessThan},
        {VYRE_OP_LE, SpvOpFOrdLessThanEqual, SpvOpSLessThanEqual},
        {VYRE_OP_GT, SpvOpFOrdGreaterThan, SpvOpSGreaterThan},
        {VYRE_OP_GE, SpvOpFOrdGreaterThanEqual, SpvOpSGreaterThanEqual},
    };
    for (uint32_t i = 0; i < VY_COUNT_OF(rows); i++) {
        if (rows[i].op == op) {
            *out_float = rows[i].on_float;
            if (out_key) {
                *out_key = rows[i].on_key;
            }
            return true;
        }
    }
    return false;
}

/* Whether the device's own comparisons see denormals: promised with the mode, not asked for in
 * fast_math programs. */
static bool compares_denormals(const vy_emitter *emitter)
{
    return (emitter->options->float_modes & VYRE_FLOAT_DENORM_PRESERVE) ||
           emitter->ssa->program->fast_math;
}

/* Signed integers in the order of the floats; both zeros are 0. */
static uint32_t key_of(vy_emitter *emitter, uint32_t value)
{
    vy_module *m = &emitter->module;
    uint32_t bits = vy_bits_of(m, value);
    uint32_t magnitude = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    uint32_t is_negative = vy_b2c(m, SpvOpSLessThan, bits, 0);
    uint32_t negated = vy_u1(m, SpvOpSNegate, magnitude);
    return vy_select_u(m, is_negative, negated, magnitude);
}

static uint32_t compare_keys(vy_emitter *emitter, SpvOp op, const uint32_t *operands)
{
    vy_module *m = &emitter->module;
    uint32_t a = key_of(emitter, operands[0]);
    uint32_t b = key_of(emitter, operands[1]);
    uint32_t value = vy_b2(m, op, a, b);
    return with_nan_test(emitter, value, operands, op != SpvOpINotEqual);
}

/* The f32 that a literal is. */
static bool float_literal(const vy_emitter *emitter, uint32_t instruction, uint32_t *out_bits)
{
    uint64_t bits = 0;
    if (!vy_emitter_literal(emitter, instruction, &bits)) {
        return false;
    }
    bool is_half = vy_emitter_type(emitter, instruction) == VYRE_TYPE_F16;
    *out_bits = is_half ? vy_f16_as_f32((uint32_t)bits) : (uint32_t)bits;
    return true;
}

/* A literal operand that a flushed denormal compares with as the denormal itself does. */
static bool is_normal(const vy_emitter *emitter, uint32_t instruction)
{
    uint32_t bits = 0;
    return float_literal(emitter, instruction, &bits) && (bits & VY_F32_MAGNITUDE) > 0x00800000u &&
           (bits & VY_F32_MAGNITUDE) < VY_F32_INFINITY;
}

static uint32_t compare(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands)
{
    vyre_op op = (vyre_op)ins->op;
    SpvOp on_float = SpvOpFOrdEqual, on_key = SpvOpIEqual;
    uint32_t literal = 1;
    if (!vy_find_comparison(op, &on_float, &on_key)) {
        return 0;
    }
    if (float_literal(emitter, ins->arg[1], &literal) && literal == 0) {
        return vy_b2f(&emitter->module, on_float, operands[0], 0);
    }
    bool is_half = vy_emitter_type(emitter, ins->arg[0]) == VYRE_TYPE_F16; /* none is a denormal */
    if (!compares_denormals(emitter) && !is_half && !is_normal(emitter, ins->arg[0]) &&
        !is_normal(emitter, ins->arg[1])) {
        return compare_keys(emitter, on_key, operands);
    }
    uint32_t value = vy_b2(&emitter->module, on_float, operands[0], operands[1]);
    bool is_kept = (emitter->options->float_modes & VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE) != 0;
    if (is_kept || (op != VYRE_OP_EQ && op != VYRE_OP_NE)) {
        return value;
    }
    return with_nan_test(emitter, value, operands, op == VYRE_OP_EQ);
}

static uint32_t test(vy_emitter *emitter, vyre_op op, uint32_t value)
{
    vy_module *m = &emitter->module;
    uint32_t bits = vy_bits_of(m, value);
    if (op == VYRE_OP_IS_NAN) {
        return vy_emit_is_nan_bits(emitter, bits);
    }
    uint32_t magnitude = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    SpvOp spv = op == VYRE_OP_IS_INF ? SpvOpIEqual : SpvOpULessThan;
    return vy_b2c(m, spv, magnitude, VY_F32_INFINITY);
}

/* ---- Signs and extremes ---------------------------------------------------------------------- */

/* On bits: the larger or smaller in the order -inf ... -0, +0 ... inf; a NaN loses. */
static uint32_t extreme_bits(vy_emitter *emitter, uint32_t a, uint32_t b, bool is_min)
{
    vy_module *m = &emitter->module;
    uint32_t keys[2], values[2] = {a, b};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t bits = vy_bits_of(m, values[i]);
        uint32_t sign = vy_u2c(m, SpvOpShiftRightArithmetic, bits, 31);
        sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_MAGNITUDE);
        keys[i] = vy_u2(m, SpvOpBitwiseXor, bits, sign);
    }
    uint32_t first = vy_b2(m, is_min ? SpvOpSLessThan : SpvOpSGreaterThan, keys[0], keys[1]);
    uint32_t b_is_nan = is_nan(emitter, b);
    uint32_t a_is_nan = is_nan(emitter, a);
    uint32_t a_is_number = vy_b1(m, SpvOpLogicalNot, a_is_nan);
    first = vy_b2(m, SpvOpLogicalAnd, first, a_is_number);
    first = vy_b2(m, SpvOpLogicalOr, first, b_is_nan);
    return vy_select_f(m, first, a, b);
}

/* NMin and NMax prefer the operand that is a number but leave the order of zeros open: equal
 * operands are joined on bits, so that min gives -0 and max +0. */
static uint32_t extreme(vy_emitter *emitter, uint32_t a, uint32_t b, bool is_min)
{
    if (!compares_denormals(emitter)) {
        return extreme_bits(emitter, a, b, is_min);
    }
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_f32(m);
    uint32_t value = vy_glsl(m, is_min ? GLSLstd450NMin : GLSLstd450NMax, type, a, b);
    uint32_t equal = vy_b2(m, SpvOpFOrdEqual, a, b);
    uint32_t a_bits = vy_bits_of(m, a);
    uint32_t b_bits = vy_bits_of(m, b);
    uint32_t joined = vy_u2(m, is_min ? SpvOpBitwiseOr : SpvOpBitwiseAnd, a_bits, b_bits);
    uint32_t zero = vy_f32_of(m, joined);
    return vy_select_f(m, equal, zero, value);
}

/* 1 with the value's sign, or 0 where it is neither more nor less than 0. Joined on bits: as a
 * chain of selects, a driver makes a sign instruction of it that may give -0. */
static uint32_t sign_of(vy_emitter *emitter, uint32_t value)
{
    vy_module *m = &emitter->module;
    uint32_t is_negative = vy_b2f(m, SpvOpFOrdLessThan, value, 0);
    uint32_t is_positive = vy_b2f(m, SpvOpFOrdGreaterThan, value, 0);
    uint32_t has_sign = vy_b2(m, SpvOpLogicalOr, is_negative, is_positive);
    uint32_t bits = vy_bits_of(m, value);
    bits = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_SIGN);
    bits = vy_u2c(m, SpvOpBitwiseOr, bits, VY_F32_ONE);
    uint32_t zero = vy_const_u32(m, 0);
    bits = vy_select_u(m, has_sign, bits, zero);
    return vy_f32_of(m, bits);
}

static uint32_t masked(vy_emitter *emitter, uint32_t value, SpvOp op, uint32_t mask)
{
    vy_module *m = &emitter->module;
    uint32_t bits = vy_bits_of(m, value);
    bits = vy_u2c(m, op, bits, mask);
    return vy_f32_of(m, bits);
}

static uint32_t copy_sign(vy_emitter *emitter, uint32_t magnitude, uint32_t sign)
{
    vy_module *m = &emitter->module;
    uint32_t bits = vy_bits_of(m, magnitude);
    bits = vy_u2c(m, SpvOpBitwiseAnd, bits, VY_F32_MAGNITUDE);
    uint32_t sign_bits = vy_bits_of(m, sign);
    sign_bits = vy_u2c(m, SpvOpBitwiseAnd, sign_bits, VY_F32_SIGN);
    bits = vy_u2(m, SpvOpBitwiseOr, bits, sign_bits);
    return vy_f32_of(m, bits);
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* Rounding never makes a negative value positive; the sign of a zero is ours to keep. */
static uint32_t round_by(vy_emitter *emitter, uint32_t value, enum GLSLstd450 op)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_f32(m);
    uint32_t rounded = vy_glsl(m, op, type, value, 0);
    return copy_sign(emitter, rounded, value);
}

/* Half away from zero: x - trunc(x) is exact, and so is trunc(x) + 1 wherever it is not zero. */
static uint32_t round_away(vy_emitter *emitter, uint32_t value)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_f32(m);
    uint32_t whole = vy_glsl(m, GLSLstd450Trunc, type, value, 0);
    uint32_t part = vy_f2(m, SpvOpFSub, value, whole);
    part = masked(emitter, part, SpvOpBitwiseAnd, VY_F32_MAGNITUDE);
    uint32_t away = vy_b2f(m, SpvOpFOrdGreaterThanEqual, part, 0x3f000000u);
    uint32_t one = vy_const_f32(m, VY_F32_ONE);
    uint32_t unit = copy_sign(emitter, one, value);
    uint32_t next = vy_f2(m, SpvOpFAdd, whole, unit);
    uint32_t rounded = vy_select_f(m, away, next, whole);
    return copy_sign(emitter, rounded, value);
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* The reciprocal of a power of two, where that is a normal number too. */
static bool exact_reciprocal(uint32_t bits, uint32_t *out_bits)
{
    uint32_t exponent = bits >> 23 & 0xff;
    if ((bits & 0x7fffffu) || exponent < 1 || exponent > 253) {
        return false;
    }
    *out_bits = (bits & VY_F32_SIGN) | (254 - exponent) << 23;
    return true;
}

static uint32_t divide(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands)
{
    vy_module *m = &emitter->module;
    uint32_t literal = 0, reciprocal = 0;
    if (emitter->ssa->program->fast_math) {
        return vy_f2(m, SpvOpFDiv, operands[0], operands[1]);
    }
    /* The same real number rounded once, either way. */
    if (float_literal(emitter, ins->arg[1], &literal) && exact_reciprocal(literal, &reciprocal)) {
        return vy_f2c(m, SpvOpFMul, operands[0], reciprocal);
    }
    return vy_helper_call(emitter, VY_HELPER_DIVIDE, operands[0], operands[1]);
}

static uint32_t square_root(vy_emitter *emitter, uint32_t value)
{
    vy_module *m = &emitter->module;
    if (emitter->ssa->program->fast_math) {
        uint32_t type = vy_type_f32(m);
        return vy_glsl(m, GLSLstd450Sqrt, type, value, 0);
    }
    return vy_helper_call(emitter, VY_HELPER_SQRT, value, 0);
}

static bool find_helper(vyre_op op, vy_helper *out)
{
    switch ((int)op) {
#define ROW(name)                                                                                  \
    case VYRE_OP_##name:                                                                           \
        *out = VY_HELPER_##name;                                                                   \
        return true
        ROW(RSQRT);
        ROW(RECIPROCAL);
        ROW(EXP);
        ROW(EXP2);
        ROW(LOG);
        ROW(LOG2);
        ROW(SIN);
        ROW(COS);
        ROW(TAN);
        ROW(ASIN);
        ROW(ACOS);
        ROW(ATAN);
        ROW(ATAN2);
        ROW(SINH);
        ROW(COSH);
        ROW(TANH);
        ROW(POW);
#undef ROW
    default:
        return false;
    }
}

static uint32_t emit_rounding(vy_emitter *emitter, const vy_ins *ins, uint32_t value)
{
    vy_module *m = &emitter->module;
    switch ((int)ins->op) {
    case VYRE_OP_FLOOR:
        return round_by(emitter, value, GLSLstd450Floor);
    case VYRE_OP_CEIL:
        return round_by(emitter, value, GLSLstd450Ceil);
    case VYRE_OP_TRUNC:
        return round_by(emitter, value, GLSLstd450Trunc);
    case VYRE_OP_ROUND_EVEN:
        return round_by(emitter, value, GLSLstd450RoundEven);
    case VYRE_OP_ROUND:
        return round_away(emitter, value);
    case VYRE_OP_FRACT: {
        uint32_t whole = round_by(emitter, value, GLSLstd450Floor);
        return vy_f2(m, SpvOpFSub, value, whole);
    }
    default:
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "operator %s has no meaning on f32. Fix: report it with the program",
                               vy_op_get((vyre_op)ins->op)->name);
    }
}

static uint32_t sum_of(vy_emitter *emitter, SpvOp op, const uint32_t *operands)
{
    vy_format f = vy_format_of(emitter, VYRE_TYPE_F32);
    return vy_sum(&f, op, operands[0], operands[1]);
}

static uint32_t fused(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                      vyre_type type)
{
    if (type == VYRE_TYPE_F16) {
        uint32_t addend = 1;
        bool adds_zero = float_literal(emitter, ins->arg[2], &addend) && addend == 0;
        return vy_emit_fma_half(emitter, operands[0], operands[1], operands[2], adds_zero);
    }
    return vy_helper_call3(emitter, VY_HELPER_FMA, operands[0], operands[1], operands[2]);
}

static uint32_t emit_f32(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                         vyre_type type)
{
    vy_module *m = &emitter->module;
    switch ((int)ins->op) {
    case VYRE_OP_ADD:
        return sum_of(emitter, SpvOpFAdd, operands);
    case VYRE_OP_SUB:
        return sum_of(emitter, SpvOpFSub, operands);
    case VYRE_OP_MUL:
        return vy_f2(m, SpvOpFMul, operands[0], operands[1]);
    case VYRE_OP_DIV:
        return divide(emitter, ins, operands);
    case VYRE_OP_SQRT:
        return square_root(emitter, operands[0]);
    case VYRE_OP_FMA:
        return fused(emitter, ins, operands, type);
    case VYRE_OP_MIN:
        return extreme(emitter, operands[0], operands[1], true);
    case VYRE_OP_MAX:
        return extreme(emitter, operands[0], operands[1], false);
    case VYRE_OP_CLAMP: {
        uint32_t above = extreme(emitter, operands[0], operands[1], false);
        return extreme(emitter, above, operands[2], true);
    }
    case VYRE_OP_ABS_DIFF: {
        uint32_t difference = vy_f2(m, SpvOpFSub, operands[0], operands[1]);
        return masked(emitter, difference, SpvOpBitwiseAnd, VY_F32_MAGNITUDE);
    }
    case VYRE_OP_NEGATE:
        return masked(emitter, operands[0], SpvOpBitwiseXor, VY_F32_SIGN);
    case VYRE_OP_ABS:
        return masked(emitter, operands[0], SpvOpBitwiseAnd, VY_F32_MAGNITUDE);
    case VYRE_OP_COPYSIGN:
        return copy_sign(emitter, operands[0], operands[1]);
    case VYRE_OP_SIGN:
        return sign_of(emitter, operands[0]);
    default:
        return emit_rounding(emitter, ins, operands[0]);
    }
}

/* What an f32 operator makes of f16 operands that is no f16 yet. An fma has been rounded. */
static bool is_rounded_after(vyre_op op)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
    case VYRE_OP_SUB:
    case VYRE_OP_MUL:
    case VYRE_OP_DIV:
    case VYRE_OP_SQRT:
    case VYRE_OP_ABS_DIFF:
    case VYRE_OP_FRACT:
        return true;
    default:
        return false;
    }
}

uint32_t vy_emit_f32(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                     vyre_type type)
{
    vy_helper helper = VY_HELPER_COUNT;
    vyre_op op = (vyre_op)ins->op;
    if (op >= VYRE_OP_EQ && op <= VYRE_OP_GE) {
        return compare(emitter, ins, operands);
    }
    if (op == VYRE_OP_IS_NAN || op == VYRE_OP_IS_INF || op == VYRE_OP_IS_FINITE) {
        return test(emitter, op, operands[0]);
    }
    bool is_function = find_helper(op, &helper);
    uint32_t value = is_function ? vy_helper_call(emitter, helper, operands[0], operands[1])
                                 : emit_f32(emitter, ins, operands, type);
    bool rounds = type == VYRE_TYPE_F16 && (is_function || is_rounded_after(op));
    return rounds && value ? vy_emit_round_f16(emitter, value) : value;
}
