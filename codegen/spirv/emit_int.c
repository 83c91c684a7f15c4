/* Operators on u32, i32 and bool. Whatever SPIR-V leaves undefined (division by zero, shifts by the
 * width and more, empty bit fields) is kept from its instructions by a select before them. */
#include "codegen/spirv/emit.h"

typedef struct vy_pair {
    uint32_t low, high;
} vy_pair;

/* ---- Division -------------------------------------------------------------------------------- */

/* The divisor without the values that SPIR-V forbids; *out_zero: the condition for 0, or 0 where
 * the divisor is known to be another. MIN / -1 becomes MIN / 1, which is what it wraps to. */
static uint32_t safe_divisor(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                             bool is_signed, uint32_t *out_zero)
{
    vy_module *m = &emitter->module;
    uint32_t literal = 0;
    *out_zero = 0;
    bool is_literal = vy_emitter_literal(emitter, ins->arg[1], &literal);
    if (ins->unchecked) {
        return operands[1];
    }
    if (is_literal && literal != 0 && !(is_signed && literal == UINT32_MAX)) {
        return operands[1];
    }
    *out_zero = vy_b2c(m, SpvOpIEqual, operands[1], 0);
    uint32_t forbidden = *out_zero;
    if (is_signed) {
        uint32_t is_least = vy_b2c(m, SpvOpIEqual, operands[0], 0x80000000u);
        uint32_t is_minus_one = vy_b2c(m, SpvOpIEqual, operands[1], UINT32_MAX);
        uint32_t wraps = vy_b2(m, SpvOpLogicalAnd, is_least, is_minus_one);
        forbidden = vy_b2(m, SpvOpLogicalOr, forbidden, wraps);
    }
    uint32_t one = vy_const_u32(m, 1);
    return vy_select_u(m, forbidden, one, operands[1]);
}

static uint32_t divide(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                       bool is_signed)
{
    vy_module *m = &emitter->module;
    uint32_t zero = 0;
    uint32_t divisor = safe_divisor(emitter, ins, operands, is_signed, &zero);
    uint32_t quotient = vy_u2(m, is_signed ? SpvOpSDiv : SpvOpUDiv, operands[0], divisor);
    if (!zero) {
        return quotient;
    }
    uint32_t ones = vy_const_u32(m, UINT32_MAX);
    return vy_select_u(m, zero, ones, quotient);
}

/* With the divisor made 1, the remainder is 0 by itself where the divisor was 0. Signed: no OpSRem,
 * which drivers get wrong on negative operands. */
static uint32_t remainder_of(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                             bool is_signed)
{
    vy_module *m = &emitter->module;
    uint32_t zero = 0;
    uint32_t divisor = safe_divisor(emitter, ins, operands, is_signed, &zero);
    if (!is_signed) {
        return vy_u2(m, SpvOpUMod, operands[0], divisor);
    }
    uint32_t quotient = vy_u2(m, SpvOpSDiv, operands[0], divisor);
    uint32_t product = vy_u2(m, SpvOpIMul, quotient, divisor);
    return vy_u2(m, SpvOpISub, operands[0], product);
}

/* ---- Shifts and bits ------------------------------------------------------------------------- */

static uint32_t masked_amount(vy_emitter *emitter, const vy_ins *ins, uint32_t amount)
{
    uint32_t literal = 0;
    if (vy_emitter_literal(emitter, ins->arg[1], &literal)) {
        return vy_const_u32(&emitter->module, literal & 31);
    }
    return ins->unchecked ? amount : vy_u2c(&emitter->module, SpvOpBitwiseAnd, amount, 31);
}

static uint32_t shift(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands, SpvOp op)
{
    uint32_t amount = masked_amount(emitter, ins, operands[1]);
    return vy_u2(&emitter->module, op, operands[0], amount);
}

static uint32_t rotate(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                       bool is_left)
{
    vy_module *m = &emitter->module;
    uint32_t amount = masked_amount(emitter, ins, operands[1]);
    uint32_t zero = vy_const_u32(m, 0);
    uint32_t rest = vy_u2(m, SpvOpISub, zero, operands[1]);
    rest = vy_u2c(m, SpvOpBitwiseAnd, rest, 31);
    uint32_t up = vy_u2(m, SpvOpShiftLeftLogical, operands[0], is_left ? amount : rest);
    uint32_t down = vy_u2(m, SpvOpShiftRightLogical, operands[0], is_left ? rest : amount);
    return vy_u2(m, SpvOpBitwiseOr, up, down);
}

/* FindUMsb of 0 is -1, which makes 32 of itself. */
static uint32_t leading_zeros(vy_module *m, uint32_t a)
{
    uint32_t top = vy_const_u32(m, 31);
    uint32_t type = vy_type_u32(m);
    uint32_t msb = vy_glsl(m, GLSLstd450FindUMsb, type, a, 0);
    return vy_u2(m, SpvOpISub, top, msb);
}

static uint32_t trailing_zeros(vy_module *m, uint32_t a)
{
    uint32_t type = vy_type_u32(m);
    uint32_t lsb = vy_glsl(m, GLSLstd450FindILsb, type, a, 0);
    uint32_t is_zero = vy_b2c(m, SpvOpIEqual, a, 0);
    uint32_t width = vy_const_u32(m, 32);
    return vy_select_u(m, is_zero, width, lsb);
}

/* The part of a bit field that lies in a word. */
typedef struct vy_field {
    uint32_t offset, count, is_empty, drop; /* drop: 32 - count, modulo 32 */
} vy_field;

static vy_field clamp_field(vy_module *m, uint32_t offset, uint32_t count)
{
    vy_field field;
    uint32_t type = vy_type_u32(m);
    uint32_t width = vy_const_u32(m, 32);
    field.offset = vy_glsl(m, GLSLstd450UMin, type, offset, width);
    uint32_t room = vy_u2(m, SpvOpISub, width, field.offset);
    field.count = vy_glsl(m, GLSLstd450UMin, type, count, room);
    field.is_empty = vy_b2c(m, SpvOpIEqual, field.count, 0);
    field.drop = vy_u2(m, SpvOpISub, width, field.count);
    field.drop = vy_u2c(m, SpvOpBitwiseAnd, field.drop, 31);
    return field;
}

static uint32_t extract_bits(vy_module *m, const uint32_t *operands, bool is_signed)
{
    vy_field field = clamp_field(m, operands[1], operands[2]);
    uint32_t up = vy_u2(m, SpvOpISub, field.drop, field.offset);
    up = vy_u2c(m, SpvOpBitwiseAnd, up, 31);
    uint32_t value = vy_u2(m, SpvOpShiftLeftLogical, operands[0], up);
    value =
        vy_u2(m, is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, value, field.drop);
    uint32_t zero = vy_const_u32(m, 0);
    return vy_select_u(m, field.is_empty, zero, value);
}

static uint32_t insert_bits(vy_module *m, const uint32_t *operands)
{
    vy_field field = clamp_field(m, operands[2], operands[3]);
    uint32_t shift_by = vy_u2c(m, SpvOpBitwiseAnd, field.offset, 31);
    uint32_t ones = vy_const_u32(m, UINT32_MAX);
    uint32_t mask = vy_u2(m, SpvOpShiftRightLogical, ones, field.drop);
    mask = vy_u2(m, SpvOpShiftLeftLogical, mask, shift_by);
    uint32_t outside = vy_u1(m, SpvOpNot, mask);
    uint32_t kept = vy_u2(m, SpvOpBitwiseAnd, operands[0], outside);
    uint32_t added = vy_u2(m, SpvOpShiftLeftLogical, operands[1], shift_by);
    added = vy_u2(m, SpvOpBitwiseAnd, added, mask);
    uint32_t both = vy_u2(m, SpvOpBitwiseOr, kept, added);
    return vy_select_u(m, field.is_empty, operands[0], both);
}

/* Bits [offset, offset + width) with offset + width <= 32, extended to a word. */
static uint32_t unpack_at(vy_module *m, uint32_t a, uint32_t offset, uint32_t width, bool is_signed)
{
    if (!is_signed) {
        uint32_t low = vy_u2(m, SpvOpShiftRightLogical, a, offset);
        return vy_u2c(m, SpvOpBitwiseAnd, low, (1u << width) - 1);
    }
    uint32_t rest = vy_const_u32(m, 32 - width);
    uint32_t up = vy_u2(m, SpvOpISub, rest, offset);
    uint32_t high = vy_u2(m, SpvOpShiftLeftLogical, a, up);
    return vy_u2(m, SpvOpShiftRightArithmetic, high, rest);
}

/* width a power of two. */
static uint32_t unpack(vy_module *m, const uint32_t *operands, uint32_t width, bool is_signed)
{
    uint32_t offset = vy_u2c(m, SpvOpBitwiseAnd, operands[1], 32 / width - 1);
    offset = vy_u2c(m, SpvOpIMul, offset, width);
    return unpack_at(m, operands[0], offset, width, is_signed);
}

static uint32_t dot4(vy_module *m, const uint32_t *operands, bool is_signed)
{
    uint32_t sum = 0;
    for (uint32_t byte = 0; byte < 4; byte++) {
        uint32_t offset = vy_const_u32(m, byte * 8);
        uint32_t a = unpack_at(m, operands[0], offset, 8, is_signed);
        uint32_t b = unpack_at(m, operands[1], offset, 8, is_signed);
        uint32_t product = vy_u2(m, SpvOpIMul, a, b);
        sum = sum ? vy_u2(m, SpvOpIAdd, sum, product) : product;
    }
    return sum;
}

/* ---- Wide and saturating arithmetic ---------------------------------------------------------- */

static vy_pair multiply_wide(vy_module *m, const uint32_t *operands, bool is_signed)
{
    uint32_t type = vy_type_u32(m), pair_type = vy_type_u32_pair(m);
    uint32_t both = vy_value(m, is_signed ? SpvOpSMulExtended : SpvOpUMulExtended, pair_type,
                             VY_LIST(operands[0], operands[1]));
    vy_pair pair;
    pair.low = vy_extract(m, type, both, 0);
    pair.high = vy_extract(m, type, both, 1);
    return pair;
}

/* The largest value where `sign` is not negative, else the least. */
static uint32_t limit_of(vy_module *m, uint32_t sign)
{
    uint32_t ones = vy_u2c(m, SpvOpShiftRightArithmetic, sign, 31);
    return vy_u2c(m, SpvOpBitwiseXor, ones, 0x7fffffffu);
}

/* The sum overflows where its sign differs from both operands', the difference where the operands'
 * signs differ and its own differs from the first. */
static uint32_t saturate_signed(vy_module *m, const uint32_t *operands, bool is_sum)
{
    uint32_t a = operands[0], b = operands[1];
    uint32_t value = vy_u2(m, is_sum ? SpvOpIAdd : SpvOpISub, a, b);
    uint32_t turned = vy_u2(m, SpvOpBitwiseXor, a, value);
    uint32_t other = vy_u2(m, SpvOpBitwiseXor, b, is_sum ? value : a);
    uint32_t both = vy_u2(m, SpvOpBitwiseAnd, turned, other);
    uint32_t overflows = vy_b2c(m, SpvOpSLessThan, both, 0);
    uint32_t limit = limit_of(m, a);
    return vy_select_u(m, overflows, limit, value);
}

static uint32_t add_saturating(vy_module *m, const uint32_t *operands, bool is_signed)
{
    if (is_signed) {
        return saturate_signed(m, operands, true);
    }
    uint32_t sum = vy_u2(m, SpvOpIAdd, operands[0], operands[1]);
    uint32_t carries = vy_b2(m, SpvOpULessThan, sum, operands[0]);
    uint32_t limit = vy_const_u32(m, UINT32_MAX);
    return vy_select_u(m, carries, limit, sum);
}

static uint32_t subtract_saturating(vy_module *m, const uint32_t *operands, bool is_signed)
{
    if (is_signed) {
        return saturate_signed(m, operands, false);
    }
    uint32_t difference = vy_u2(m, SpvOpISub, operands[0], operands[1]);
    uint32_t borrows = vy_b2(m, SpvOpULessThan, operands[0], operands[1]);
    uint32_t limit = vy_const_u32(m, 0);
    return vy_select_u(m, borrows, limit, difference);
}

static uint32_t multiply_saturating(vy_module *m, const uint32_t *operands, bool is_signed)
{
    vy_pair product = multiply_wide(m, operands, is_signed);
    uint32_t limit, fits;
    if (is_signed) {
        uint32_t extended = vy_u2c(m, SpvOpShiftRightArithmetic, product.low, 31);
        fits = vy_b2(m, SpvOpIEqual, product.high, extended);
        uint32_t sign = vy_u2(m, SpvOpBitwiseXor, operands[0], operands[1]);
        limit = limit_of(m, sign);
    } else {
        fits = vy_b2c(m, SpvOpIEqual, product.high, 0);
        limit = vy_const_u32(m, UINT32_MAX);
    }
    return vy_select_u(m, fits, product.low, limit);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static uint32_t pick(vy_module *m, SpvOp compare, uint32_t a, uint32_t b)
{
    uint32_t first = vy_b2(m, compare, a, b);
    return vy_select_u(m, first, a, b);
}

static uint32_t abs_diff(vy_module *m, const uint32_t *operands, bool is_signed)
{
    uint32_t less = vy_b2(m, is_signed ? SpvOpSLessThan : SpvOpULessThan, operands[0], operands[1]);
    uint32_t up = vy_u2(m, SpvOpISub, operands[1], operands[0]);
    uint32_t down = vy_u2(m, SpvOpISub, operands[0], operands[1]);
    return vy_select_u(m, less, up, down);
}

static uint32_t absolute(vy_module *m, uint32_t a, bool is_signed)
{
    if (!is_signed) {
        return a;
    }
    uint32_t is_negative = vy_b2c(m, SpvOpSLessThan, a, 0);
    uint32_t negated = vy_u1(m, SpvOpSNegate, a);
    return vy_select_u(m, is_negative, negated, a);
}

static uint32_t sign_of(vy_module *m, uint32_t a, bool is_signed)
{
    uint32_t is_zero = vy_b2c(m, SpvOpIEqual, a, 0);
    uint32_t zero = vy_const_u32(m, 0), one = vy_const_u32(m, 1);
    uint32_t magnitude = vy_select_u(m, is_zero, zero, one);
    if (!is_signed) {
        return magnitude;
    }
    uint32_t ones = vy_u2c(m, SpvOpShiftRightArithmetic, a, 31);
    return vy_u2(m, SpvOpBitwiseOr, ones, magnitude);
}

static uint32_t clamp(vy_module *m, const uint32_t *operands, bool is_signed)
{
    SpvOp greater = is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan;
    SpvOp less = is_signed ? SpvOpSLessThan : SpvOpULessThan;
    uint32_t above = pick(m, greater, operands[0], operands[1]);
    return pick(m, less, above, operands[2]);
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

/* Operators that are one instruction. */
static bool plain(vyre_op op, SpvOp *out)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
        *out = SpvOpIAdd;
        return true;
    case VYRE_OP_SUB:
        *out = SpvOpISub;
        return true;
    case VYRE_OP_MUL:
        *out = SpvOpIMul;
        return true;
    case VYRE_OP_AND:
        *out = SpvOpBitwiseAnd;
        return true;
    case VYRE_OP_OR:
        *out = SpvOpBitwiseOr;
        return true;
    case VYRE_OP_XOR:
        *out = SpvOpBitwiseXor;
        return true;
    case VYRE_OP_NEGATE:
        *out = SpvOpSNegate;
        return true;
    case VYRE_OP_COMPLEMENT:
        *out = SpvOpNot;
        return true;
    case VYRE_OP_POPCOUNT:
        *out = SpvOpBitCount;
        return true;
    case VYRE_OP_REVERSE_BITS:
        *out = SpvOpBitReverse;
        return true;
    default:
        return false;
    }
}

/* Those with one operand or with a second one that is no value like the first. */
static uint32_t emit_bits(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                          bool is_signed)
{
    vy_module *m = &emitter->module;
    switch ((int)ins->op) {
    case VYRE_OP_SHL:
        return shift(emitter, ins, operands, SpvOpShiftLeftLogical);
    case VYRE_OP_SHR:
        return shift(emitter, ins, operands,
                     is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical);
    case VYRE_OP_ROTATE_LEFT:
        return rotate(emitter, ins, operands, true);
    case VYRE_OP_ROTATE_RIGHT:
        return rotate(emitter, ins, operands, false);
    case VYRE_OP_CLZ:
        return leading_zeros(m, operands[0]);
    case VYRE_OP_CTZ:
        return trailing_zeros(m, operands[0]);
    case VYRE_OP_EXTRACT_BITS:
        return extract_bits(m, operands, is_signed);
    case VYRE_OP_INSERT_BITS:
        return insert_bits(m, operands);
    case VYRE_OP_UNPACK_BYTE:
        return unpack(m, operands, 8, is_signed);
    case VYRE_OP_UNPACK_NIBBLE:
        return unpack(m, operands, 4, is_signed);
    case VYRE_OP_DOT4:
        return dot4(m, operands, is_signed);
    default:
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                               "operator %s has no meaning on integers. Fix: report it with the "
                               "program",
                               vy_op_get((vyre_op)ins->op)->name);
    }
}

uint32_t vy_emit_integer(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                         bool is_signed)
{
    vy_module *m = &emitter->module;
    SpvOp op;
    if (comparison((vyre_op)ins->op, is_signed, &op)) {
        return vy_b2(m, op, operands[0], operands[1]);
    }
    if (plain((vyre_op)ins->op, &op)) {
        return operands[1] ? vy_u2(m, op, operands[0], operands[1]) : vy_u1(m, op, operands[0]);
    }
    switch ((int)ins->op) {
    case VYRE_OP_DIV:
        return divide(emitter, ins, operands, is_signed);
    case VYRE_OP_REM:
        return remainder_of(emitter, ins, operands, is_signed);
    case VYRE_OP_MIN:
        return pick(m, is_signed ? SpvOpSLessThan : SpvOpULessThan, operands[0], operands[1]);
    case VYRE_OP_MAX:
        return pick(m, is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan, operands[0], operands[1]);
    case VYRE_OP_CLAMP:
        return clamp(m, operands, is_signed);
    case VYRE_OP_ABS:
        return absolute(m, operands[0], is_signed);
    case VYRE_OP_SIGN:
        return sign_of(m, operands[0], is_signed);
    case VYRE_OP_ABS_DIFF:
        return abs_diff(m, operands, is_signed);
    case VYRE_OP_MUL_HIGH:
        return multiply_wide(m, operands, is_signed).high;
    case VYRE_OP_ADD_SAT:
        return add_saturating(m, operands, is_signed);
    case VYRE_OP_SUB_SAT:
        return subtract_saturating(m, operands, is_signed);
    case VYRE_OP_MUL_SAT:
        return multiply_saturating(m, operands, is_signed);
    default:
        return emit_bits(emitter, ins, operands, is_signed);
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
