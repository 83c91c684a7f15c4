/* Arithmetic and comparisons of integers, and operators on bool. Whatever SPIR-V leaves undefined
 * (division by zero, MIN / -1) is kept from its instructions by a select before them.
 *
 * An integer lives in a register of 32 or 64 bits. One of 8 or 16 bits lives in 32, extended by its
 * type: what may leave its range is wrapped, that is extended anew. Bits: emit_bits.c. */
#include "codegen/spirv/emit_int.h"

vy_ints vy_ints_of(vy_emitter *emitter, vyre_type type)
{
    uint32_t width = vy_type_width(type);
    vy_ints ints = {.emitter = emitter, .m = &emitter->module, .of = type, .width = width};
    ints.is_signed = vy_type_is_signed(type);
    ints.bits = width == 64 ? 64 : 32;
    ints.type = vy_type_integer(ints.m, ints.bits);
    return ints;
}

uint32_t vy_const_integer(vy_emitter *emitter, vyre_type type, uint64_t bits)
{
    vy_module *m = &emitter->module;
    if (vy_type_width(type) == 64) {
        return vy_const_u64(m, bits);
    }
    return vy_const_u32(m, vy_type_is_signed(type) ? (uint32_t)vy_type_signed_value(type, bits)
                                                   : (uint32_t)vy_type_bits(type, bits));
}

uint32_t vy_i1(const vy_ints *k, SpvOp op, uint32_t a)
{
    return vy_v1(k->m, op, k->type, a);
}

uint32_t vy_i2(const vy_ints *k, SpvOp op, uint32_t a, uint32_t b)
{
    return vy_v2(k->m, op, k->type, a, b);
}

uint32_t vy_ic(const vy_ints *k, uint64_t bits)
{
    return k->bits == 64 ? vy_const_u64(k->m, bits) : vy_const_u32(k->m, (uint32_t)bits);
}

uint32_t vy_i2c(const vy_ints *k, SpvOp op, uint32_t a, uint64_t literal)
{
    return vy_i2(k, op, a, vy_ic(k, literal));
}

uint32_t vy_shift_c(const vy_ints *k, SpvOp op, uint32_t a, uint32_t places)
{
    return vy_i2(k, op, a, vy_const_u32(k->m, places));
}

uint32_t vy_ib2c(const vy_ints *k, SpvOp op, uint32_t a, uint64_t literal)
{
    return vy_b2(k->m, op, a, vy_ic(k, literal));
}

uint32_t vy_select_i(const vy_ints *k, uint32_t condition, uint32_t a, uint32_t b)
{
    return vy_select(k->m, k->type, condition, a, b);
}

uint64_t vy_int_least(const vy_ints *k)
{
    return k->is_signed ? (uint64_t)0 - ((uint64_t)1 << (k->width - 1)) : 0;
}

uint64_t vy_int_most(const vy_ints *k)
{
    return k->is_signed ? ((uint64_t)1 << (k->width - 1)) - 1 : UINT64_MAX >> (64 - k->width);
}

/* The fields' bounds are constants: at others NVIDIA's driver (580) was seen to read field 0.
 * Neither shifts nor, for 16 bits, a mask: where such follow an exchange of bytes, that driver
 * stores another register. */
uint32_t vy_wrap(const vy_ints *k, uint32_t value)
{
    if (k->width == k->bits) {
        return value;
    }
    if (!k->is_signed && k->width == 8) {
        return vy_i2c(k, SpvOpBitwiseAnd, value, vy_int_most(k));
    }
    uint32_t first = vy_const_u32(k->m, 0), count = vy_const_u32(k->m, k->width);
    return vy_value(k->m, k->is_signed ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract, k->type,
                    VY_LIST(value, first, count));
}

uint32_t vy_emit_wrap(vy_emitter *emitter, vyre_type type, uint32_t value)
{
    if (vy_type_width(type) >= 32 || !vy_type_is_integer(type)) {
        return value;
    }
    vy_ints k = vy_ints_of(emitter, type);
    return vy_wrap(&k, value);
}

/* ---- Division -------------------------------------------------------------------------------- */

/* The divisor without the values that SPIR-V forbids; *out_zero: the condition for 0, or 0 where
 * the divisor is known to be another. MIN / -1 becomes MIN / 1, which is what it wraps to; narrow
 * types have room for it. */
static uint32_t safe_divisor(const vy_ints *k, const vy_ins *ins, const uint32_t *operands,
                             uint32_t *out_zero)
{
    uint64_t literal = 0;
    *out_zero = 0;
    bool is_literal = vy_emitter_literal(k->emitter, ins->arg[1], &literal);
    bool is_minus_one = k->is_signed && literal == vy_type_bits(k->of, UINT64_MAX);
    if (ins->unchecked || (is_literal && literal != 0 && !is_minus_one)) {
        return operands[1];
    }
    *out_zero = vy_ib2c(k, SpvOpIEqual, operands[1], 0);
    uint32_t forbidden = *out_zero;
    if (k->is_signed && k->width == k->bits) {
        uint32_t is_least = vy_ib2c(k, SpvOpIEqual, operands[0], vy_int_least(k));
        uint32_t minus_one = vy_ib2c(k, SpvOpIEqual, operands[1], UINT64_MAX);
        uint32_t wraps = vy_b2(k->m, SpvOpLogicalAnd, is_least, minus_one);
        forbidden = vy_b2(k->m, SpvOpLogicalOr, forbidden, wraps);
    }
    uint32_t one = vy_ic(k, 1);
    return vy_select_i(k, forbidden, one, operands[1]);
}

static uint32_t divide(const vy_ints *k, const vy_ins *ins, const uint32_t *operands)
{
    uint32_t zero = 0;
    uint32_t divisor = safe_divisor(k, ins, operands, &zero);
    uint32_t quotient = vy_i2(k, k->is_signed ? SpvOpSDiv : SpvOpUDiv, operands[0], divisor);
    if (k->is_signed) {
        quotient = vy_wrap(k, quotient);
    }
    if (!zero) {
        return quotient;
    }
    uint32_t ones = vy_const_integer(k->emitter, k->of, UINT64_MAX);
    return vy_select_i(k, zero, ones, quotient);
}

/* With the divisor made 1, the remainder is 0 by itself where the divisor was 0. Signed: not by
 * SRem, which drivers get wrong on negative operands. */
static uint32_t remainder_of(const vy_ints *k, const vy_ins *ins, const uint32_t *operands)
{
    uint32_t zero = 0;
    uint32_t divisor = safe_divisor(k, ins, operands, &zero);
    if (!k->is_signed) {
        return vy_i2(k, SpvOpUMod, operands[0], divisor);
    }
    uint32_t quotient = vy_i2(k, SpvOpSDiv, operands[0], divisor);
    uint32_t product = vy_i2(k, SpvOpIMul, quotient, divisor);
    return vy_i2(k, SpvOpISub, operands[0], product);
}

/* ---- Wide and saturating arithmetic ---------------------------------------------------------- */

static vy_pair multiply_words(vy_module *m, uint32_t a, uint32_t b, bool is_signed)
{
    uint32_t type = vy_type_u32(m), pair_type = vy_type_u32_pair(m);
    uint32_t both =
        vy_value(m, is_signed ? SpvOpSMulExtended : SpvOpUMulExtended, pair_type, VY_LIST(a, b));
    vy_pair pair;
    pair.low = vy_extract(m, type, both, 0);
    pair.high = vy_extract(m, type, both, 1);
    return pair;
}

/* Of two words of 64 bits by their halves: the instruction for 64 bits is one that drivers have to
 * lower, too. */
static vy_pair multiply_halves(vy_emitter *emitter, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u64(m), places = vy_const_u32(m, 32);
    uint32_t ones = vy_const_u64(m, UINT32_MAX);
    uint32_t a_low = vy_v2(m, SpvOpBitwiseAnd, type, a, ones);
    uint32_t b_low = vy_v2(m, SpvOpBitwiseAnd, type, b, ones);
    uint32_t a_high = vy_v2(m, SpvOpShiftRightLogical, type, a, places);
    uint32_t b_high = vy_v2(m, SpvOpShiftRightLogical, type, b, places);
    uint32_t low = vy_v2(m, SpvOpIMul, type, a_low, b_low);
    uint32_t cross = vy_v2(m, SpvOpIMul, type, a_high, b_low);
    uint32_t other = vy_v2(m, SpvOpIMul, type, a_low, b_high);
    uint32_t high = vy_v2(m, SpvOpIMul, type, a_high, b_high);
    /* Neither sum leaves 64 bits: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1. */
    uint32_t carry = vy_v2(m, SpvOpShiftRightLogical, type, low, places);
    cross = vy_v2(m, SpvOpIAdd, type, cross, carry);
    uint32_t middle = vy_v2(m, SpvOpBitwiseAnd, type, cross, ones);
    other = vy_v2(m, SpvOpIAdd, type, other, middle);
    carry = vy_v2(m, SpvOpShiftRightLogical, type, cross, places);
    high = vy_v2(m, SpvOpIAdd, type, high, carry);
    carry = vy_v2(m, SpvOpShiftRightLogical, type, other, places);
    vy_pair pair;
    pair.high = vy_v2(m, SpvOpIAdd, type, high, carry);
    pair.low = vy_v2(m, SpvOpIMul, type, a, b);
    return pair;
}

vy_pair vy_multiply_wide(const vy_ints *k, uint32_t a, uint32_t b)
{
    if (k->bits == 32) {
        return multiply_words(k->m, a, b, k->is_signed);
    }
    vy_pair pair = multiply_halves(k->emitter, a, b);
    if (k->is_signed) {
        uint32_t a_sign = vy_shift_c(k, SpvOpShiftRightArithmetic, a, 63);
        uint32_t b_sign = vy_shift_c(k, SpvOpShiftRightArithmetic, b, 63);
        uint32_t less = vy_i2(k, SpvOpBitwiseAnd, a_sign, b);
        pair.high = vy_i2(k, SpvOpISub, pair.high, less);
        less = vy_i2(k, SpvOpBitwiseAnd, b_sign, a);
        pair.high = vy_i2(k, SpvOpISub, pair.high, less);
    }
    return pair;
}

static uint32_t multiply_high(const vy_ints *k, const uint32_t *operands)
{
    if (k->width == k->bits) {
        return vy_multiply_wide(k, operands[0], operands[1]).high;
    }
    uint32_t product = vy_i2(k, SpvOpIMul, operands[0], operands[1]);
    return vy_shift_c(k, k->is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, product,
                      k->width);
}

/* The lesser or greater. Of 32 bits by the instruction: NVIDIA's driver (580) was seen to take
 * comparisons and choices that bring a difference into a range for others than they are; of 64 bits
 * such choices go by halves. */
static uint32_t extreme(const vy_ints *k, uint32_t a, uint32_t b, bool is_least, bool is_signed)
{
    if (k->bits == 32) {
        enum GLSLstd450 op = is_least ? GLSLstd450UMin : GLSLstd450UMax;
        if (is_signed) {
            op = is_least ? GLSLstd450SMin : GLSLstd450SMax;
        }
        return vy_glsl(k->m, op, k->type, a, b);
    }
    SpvOp op = is_least ? SpvOpULessThan : SpvOpUGreaterThan;
    if (is_signed) {
        op = is_least ? SpvOpSLessThan : SpvOpSGreaterThan;
    }
    uint32_t first = vy_b2(k->m, op, a, b);
    return vy_select_i(k, first, a, b);
}

/* A number that the register holds, brought into the range of a narrow type. */
static uint32_t saturate_narrow(const vy_ints *k, uint32_t value, bool is_negative_possible)
{
    bool is_signed = k->is_signed || is_negative_possible;
    uint32_t most = vy_ic(k, vy_int_most(k)), least = vy_ic(k, vy_int_least(k));
    value = extreme(k, value, most, true, is_signed);
    return is_signed ? extreme(k, value, least, false, true) : value;
}

/* The largest value where `sign` is not negative, else the least. */
static uint32_t limit_of(const vy_ints *k, uint32_t sign)
{
    uint32_t ones = vy_shift_c(k, SpvOpShiftRightArithmetic, sign, k->bits - 1);
    return vy_i2c(k, SpvOpBitwiseXor, ones, vy_int_most(k));
}

/* The sum overflows where its sign differs from both operands', the difference where the operands'
 * signs differ and its own differs from the first. */
static uint32_t saturate_signed(const vy_ints *k, const uint32_t *operands, bool is_sum)
{
    uint32_t a = operands[0], b = operands[1];
    uint32_t value = vy_i2(k, is_sum ? SpvOpIAdd : SpvOpISub, a, b);
    uint32_t turned = vy_i2(k, SpvOpBitwiseXor, a, value);
    uint32_t other = vy_i2(k, SpvOpBitwiseXor, b, is_sum ? value : a);
    uint32_t both = vy_i2(k, SpvOpBitwiseAnd, turned, other);
    uint32_t overflows = vy_ib2c(k, SpvOpSLessThan, both, 0);
    uint32_t limit = limit_of(k, a);
    return vy_select_i(k, overflows, limit, value);
}

static uint32_t add_saturating(const vy_ints *k, const uint32_t *operands)
{
    if (k->width < k->bits) {
        uint32_t sum = vy_i2(k, SpvOpIAdd, operands[0], operands[1]);
        return saturate_narrow(k, sum, false);
    }
    if (k->is_signed) {
        return saturate_signed(k, operands, true);
    }
    uint32_t sum = vy_i2(k, SpvOpIAdd, operands[0], operands[1]);
    uint32_t carries = vy_b2(k->m, SpvOpULessThan, sum, operands[0]);
    uint32_t limit = vy_ic(k, UINT64_MAX);
    return vy_select_i(k, carries, limit, sum);
}

static uint32_t subtract_saturating(const vy_ints *k, const uint32_t *operands)
{
    if (k->width < k->bits) {
        uint32_t difference = vy_i2(k, SpvOpISub, operands[0], operands[1]);
        return saturate_narrow(k, difference, true);
    }
    if (k->is_signed) {
        return saturate_signed(k, operands, false);
    }
    uint32_t difference = vy_i2(k, SpvOpISub, operands[0], operands[1]);
    uint32_t borrows = vy_b2(k->m, SpvOpULessThan, operands[0], operands[1]);
    uint32_t limit = vy_ic(k, 0);
    return vy_select_i(k, borrows, limit, difference);
}

static uint32_t multiply_saturating(const vy_ints *k, const uint32_t *operands)
{
    if (k->width < k->bits) {
        uint32_t narrow = vy_i2(k, SpvOpIMul, operands[0], operands[1]);
        return saturate_narrow(k, narrow, false);
    }
    vy_pair product = vy_multiply_wide(k, operands[0], operands[1]);
    uint32_t limit, fits;
    if (k->is_signed) {
        uint32_t extended = vy_shift_c(k, SpvOpShiftRightArithmetic, product.low, k->bits - 1);
        fits = vy_b2(k->m, SpvOpIEqual, product.high, extended);
        uint32_t sign = vy_i2(k, SpvOpBitwiseXor, operands[0], operands[1]);
        limit = limit_of(k, sign);
    } else {
        fits = vy_ib2c(k, SpvOpIEqual, product.high, 0);
        limit = vy_ic(k, UINT64_MAX);
    }
    return vy_select_i(k, fits, product.low, limit);
}

/* ---- The rest -------------------------------------------------------------------------------- */

/* Of the unsigned type: narrow ones have room for it. */
static uint32_t abs_diff(const vy_ints *k, const uint32_t *operands)
{
    uint32_t less =
        vy_b2(k->m, k->is_signed ? SpvOpSLessThan : SpvOpULessThan, operands[0], operands[1]);
    uint32_t up = vy_i2(k, SpvOpISub, operands[1], operands[0]);
    uint32_t down = vy_i2(k, SpvOpISub, operands[0], operands[1]);
    return vy_select_i(k, less, up, down);
}

static uint32_t absolute(const vy_ints *k, uint32_t a)
{
    if (!k->is_signed) {
        return a;
    }
    uint32_t is_negative = vy_ib2c(k, SpvOpSLessThan, a, 0);
    uint32_t negated = vy_i1(k, SpvOpSNegate, a);
    uint32_t value = vy_select_i(k, is_negative, negated, a);
    return vy_wrap(k, value);
}

static uint32_t sign_of(const vy_ints *k, uint32_t a)
{
    uint32_t is_zero = vy_ib2c(k, SpvOpIEqual, a, 0);
    uint32_t zero = vy_ic(k, 0), one = vy_ic(k, 1);
    uint32_t magnitude = vy_select_i(k, is_zero, zero, one);
    if (!k->is_signed) {
        return magnitude;
    }
    uint32_t ones = vy_shift_c(k, SpvOpShiftRightArithmetic, a, k->bits - 1);
    return vy_i2(k, SpvOpBitwiseOr, ones, magnitude);
}

static uint32_t clamp(const vy_ints *k, const uint32_t *operands)
{
    uint32_t above = extreme(k, operands[0], operands[1], false, k->is_signed);
    return extreme(k, above, operands[2], true, k->is_signed);
}

static bool comparison(vyre_op op, bool is_signed, SpvOp *out)
{
    switch ((int)op) {
    case VYRE_OP_EQ:
        *out = SpvOpIEqual;
        return true;
    case VYRE_OP_NE:
        *out = SpvOpINotEqual;
        return true;
    case VYRE_OP_LT:
        *out = is_signed ? SpvOpSLessThan : SpvOpULessThan;
        return true;
    case VYRE_OP_LE:
        *out = is_signed ? SpvOpSLessThanEqual : SpvOpULessThanEqual;
        return true;
    case VYRE_OP_GT:
        *out = is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan;
        return true;
    case VYRE_OP_GE:
        *out = is_signed ? SpvOpSGreaterThanEqual : SpvOpUGreaterThanEqual;
        return true;
    default:
        return false;
    }
}

/* Operators that are one instruction, and whether that may leave the range of a narrow type. */
static const struct plain {
    uint16_t spv;
    bool wraps;
} plain_ops[VYRE_OP_COUNT] = {
    [VYRE_OP_ADD] = {SpvOpIAdd, true},       [VYRE_OP_SUB] = {SpvOpISub, true},
    [VYRE_OP_MUL] = {SpvOpIMul, true},       [VYRE_OP_AND] = {SpvOpBitwiseAnd, false},
    [VYRE_OP_OR] = {SpvOpBitwiseOr, false},  [VYRE_OP_XOR] = {SpvOpBitwiseXor, false},
    [VYRE_OP_NEGATE] = {SpvOpSNegate, true}, [VYRE_OP_COMPLEMENT] = {SpvOpNot, true},
};

uint32_t vy_emit_plain(vy_emitter *emitter, const vy_ins *ins)
{
    if (ins->op >= VYRE_OP_COUNT || vy_op_rows[ins->op].operand_count != 2 ||
        !plain_ops[ins->op].spv || (ins->type != VYRE_TYPE_U32 && ins->type != VYRE_TYPE_I32) ||
        ins->arg[0] >= emitter->ssa->ins.count || ins->arg[1] >= emitter->ssa->ins.count) {
        return 0;
    }
    uint32_t a = emitter->values[ins->arg[0]], b = emitter->values[ins->arg[1]];
    return a && b ? vy_u2(&emitter->module, (SpvOp)plain_ops[ins->op].spv, a, b) : 0;
}

uint32_t vy_emit_integer(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                         vyre_type type)
{
    vy_ints k = vy_ints_of(emitter, type);
    const struct plain *plain = &plain_ops[ins->op];
    SpvOp op;
    if (comparison((vyre_op)ins->op, k.is_signed, &op)) {
        return vy_b2(k.m, op, operands[0], operands[1]);
    }
    if (plain->spv) {
        op = (SpvOp)plain->spv;
        uint32_t value =
            operands[1] ? vy_i2(&k, op, operands[0], operands[1]) : vy_i1(&k, op, operands[0]);
        return plain->wraps ? vy_wrap(&k, value) : value;
    }
    switch ((int)ins->op) {
    case VYRE_OP_DIV:
        return divide(&k, ins, operands);
    case VYRE_OP_REM:
        return remainder_of(&k, ins, operands);
    case VYRE_OP_MIN:
        return extreme(&k, operands[0], operands[1], true, k.is_signed);
    case VYRE_OP_MAX:
        return extreme(&k, operands[0], operands[1], false, k.is_signed);
    case VYRE_OP_CLAMP:
        return clamp(&k, operands);
    case VYRE_OP_ABS:
        return absolute(&k, operands[0]);
    case VYRE_OP_SIGN:
        return sign_of(&k, operands[0]);
    case VYRE_OP_ABS_DIFF:
        return abs_diff(&k, operands);
    case VYRE_OP_MUL_HIGH:
        return multiply_high(&k, operands);
    case VYRE_OP_ADD_SAT:
        return add_saturating(&k, operands);
    case VYRE_OP_SUB_SAT:
        return subtract_saturating(&k, operands);
    case VYRE_OP_MUL_SAT:
        return multiply_saturating(&k, operands);
    default:
        return vy_emit_bits(emitter, ins, operands, type);
    }
}

uint32_t vy_emit_bool(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands)
{
    vy_module *m = &emitter->module;
    switch ((int)ins->op) {
    case VYRE_OP_EQ:
        return vy_b2(m, SpvOpLogicalEqual, operands[0], operands[1]);
    case VYRE_OP_NE:
        return vy_b2(m, SpvOpLogicalNotEqual, operands[0], operands[1]);
    case VYRE_OP_LOGICAL_AND:
        return vy_b2(m, SpvOpLogicalAnd, operands[0], operands[1]);
    case VYRE_OP_LOGICAL_OR:
        return vy_b2(m, SpvOpLogicalOr, operands[0], operands[1]);
    case VYRE_OP_NOT:
        return vy_b1(m, SpvOpLogicalNot, operands[0]);
    default:
        return vy_emitter_fail(
            emitter, VYRE_ERROR_INTERNAL, ins->loc,
            "operator %s has no meaning on bool. Fix: report it with the program",
            vy_op_get((vyre_op)ins->op)->name);
    }
}
