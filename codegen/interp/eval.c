/* Operators over bool, u32 and i32, casts, and the way to eval_f32.c for the others. Owns nothing.
 */
#include "codegen/interp/eval.h"

static uint32_t from_bool(bool value)
{
    return value ? 1u : 0u;
}

/* Two's complement without the implementation-defined cast. */
static int32_t as_signed(uint32_t bits)
{
    return bits <= INT32_MAX ? (int32_t)bits : (int32_t)(bits - 0x80000000u) + INT32_MIN;
}

static uint32_t sign_extend(uint32_t value, uint32_t width)
{
    uint32_t sign = 1u << (width - 1);
    return (value ^ sign) - sign;
}

static uint32_t saturate_i32(int64_t value)
{
    if (value > INT32_MAX) {
        return 0x7fffffffu;
    }
    return value < INT32_MIN ? 0x80000000u : (uint32_t)value;
}

static uint32_t saturate_u32(int64_t value)
{
    if (value > (int64_t)UINT32_MAX) {
        return UINT32_MAX;
    }
    return value < 0 ? 0 : (uint32_t)value;
}

static uint32_t divide(bool is_signed, uint32_t a, uint32_t b)
{
    if (b == 0) {
        return UINT32_MAX; /* all ones, which is -1 as well */
    }
    if (!is_signed) {
        return a / b;
    }
    /* In 64 bits MIN / -1 is 2^31, whose low word is MIN. */
    return (uint32_t)((int64_t)as_signed(a) / as_signed(b));
}

static uint32_t remainder_of(bool is_signed, uint32_t a, uint32_t b)
{
    if (b == 0) {
        return 0;
    }
    return is_signed ? (uint32_t)((int64_t)as_signed(a) % as_signed(b)) : a % b;
}

static uint32_t shift_right(bool is_signed, uint32_t a, uint32_t amount)
{
    amount &= 31;
    uint32_t shifted = a >> amount;
    if (is_signed && (a & 0x80000000u) && amount) {
        shifted |= UINT32_MAX << (32 - amount);
    }
    return shifted;
}

static uint32_t rotate_left(uint32_t a, uint32_t amount)
{
    amount &= 31;
    return amount ? a << amount | a >> (32 - amount) : a;
}

static bool less(bool is_signed, uint32_t a, uint32_t b)
{
    return is_signed ? as_signed(a) < as_signed(b) : a < b;
}

static uint32_t multiply_high(bool is_signed, uint32_t a, uint32_t b)
{
    uint64_t product =
        is_signed ? (uint64_t)((int64_t)as_signed(a) * as_signed(b)) : (uint64_t)a * b;
    return (uint32_t)(product >> 32);
}

static uint32_t multiply_saturating(bool is_signed, uint32_t a, uint32_t b)
{
    if (is_signed) {
        return saturate_i32((int64_t)as_signed(a) * as_signed(b));
    }
    uint64_t product = (uint64_t)a * b;
    return product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
}

static uint32_t add_saturating(bool is_signed, uint32_t a, uint32_t b)
{
    return is_signed ? saturate_i32((int64_t)as_signed(a) + as_signed(b))
                     : saturate_u32((int64_t)a + (int64_t)b);
}

static uint32_t subtract_saturating(bool is_signed, uint32_t a, uint32_t b)
{
    return is_signed ? saturate_i32((int64_t)as_signed(a) - as_signed(b))
                     : saturate_u32((int64_t)a - (int64_t)b);
}

static uint32_t count_leading_zeros(uint32_t a)
{
    uint32_t count = 0;
    while (count < 32 && !(a & 0x80000000u >> count)) {
        count++;
    }
    return count;
}

static uint32_t count_trailing_zeros(uint32_t a)
{
    uint32_t count = 0;
    while (count < 32 && !(a >> count & 1)) {
        count++;
    }
    return count;
}

static uint32_t count_ones(uint32_t a)
{
    uint32_t count = 0;
    for (; a; a &= a - 1) {
        count++;
    }
    return count;
}

static uint32_t reverse_bits(uint32_t a)
{
    uint32_t reversed = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
        reversed |= (a >> bit & 1) << (31 - bit);
    }
    return reversed;
}

static uint32_t mask_of(uint32_t count)
{
    return count >= 32 ? UINT32_MAX : (1u << count) - 1;
}

/* The part of [offset, offset + count) that lies in a word. */
static uint32_t clamp_field(uint32_t *offset, uint32_t count)
{
    *offset = *offset > 32 ? 32 : *offset;
    return count > 32 - *offset ? 32 - *offset : count;
}

static uint32_t extract_bits(bool is_signed, uint32_t a, uint32_t offset, uint32_t count)
{
    count = clamp_field(&offset, count);
    if (count == 0) {
        return 0;
    }
    uint32_t field = a >> offset & mask_of(count);
    return is_signed ? sign_extend(field, count) : field;
}

static uint32_t insert_bits(uint32_t base, uint32_t insert, uint32_t offset, uint32_t count)
{
    count = clamp_field(&offset, count);
    if (count == 0) {
        return base;
    }
    uint32_t mask = mask_of(count) << offset;
    return (base & ~mask) | (insert << offset & mask);
}

static uint32_t dot4(bool is_signed, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (uint32_t offset = 0; offset < 32; offset += 8) {
        sum += extract_bits(is_signed, a, offset, 8) * extract_bits(is_signed, b, offset, 8);
    }
    return sum;
}

static uint32_t sign_of(bool is_signed, uint32_t a)
{
    if (is_signed && (a & 0x80000000u)) {
        return UINT32_MAX;
    }
    return from_bool(a != 0);
}

/* The operators that a program is full of; false where op is none of them. */
static bool eval_common(vyre_op op, bool is_signed, uint32_t a, uint32_t b, uint32_t *out)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
        *out = a + b;
        return true;
    case VYRE_OP_SUB:
        *out = a - b;
        return true;
    case VYRE_OP_MUL:
        *out = a * b;
        return true;
    case VYRE_OP_DIV:
        *out = divide(is_signed, a, b);
        return true;
    case VYRE_OP_REM:
        *out = remainder_of(is_signed, a, b);
        return true;
    case VYRE_OP_AND:
        *out = a & b;
        return true;
    case VYRE_OP_OR:
        *out = a | b;
        return true;
    case VYRE_OP_XOR:
        *out = a ^ b;
        return true;
    case VYRE_OP_SHL:
        *out = a << (b & 31);
        return true;
    case VYRE_OP_SHR:
        *out = shift_right(is_signed, a, b);
        return true;
    case VYRE_OP_EQ:
        *out = from_bool(a == b);
        return true;
    case VYRE_OP_NE:
        *out = from_bool(a != b);
        return true;
    case VYRE_OP_LT:
        *out = from_bool(less(is_signed, a, b));
        return true;
    case VYRE_OP_LE:
        *out = from_bool(!less(is_signed, b, a));
        return true;
    case VYRE_OP_GT:
        *out = from_bool(less(is_signed, b, a));
        return true;
    case VYRE_OP_GE:
        *out = from_bool(!less(is_signed, a, b));
        return true;
    case VYRE_OP_MIN:
        *out = less(is_signed, b, a) ? b : a;
        return true;
    case VYRE_OP_MAX:
        *out = less(is_signed, a, b) ? b : a;
        return true;
    default:
        return false;
    }
}

static uint32_t eval_integer(vyre_op op, bool is_signed, const uint32_t *operands)
{
    const vy_op_info *info = vy_op_get(op);
    uint32_t a = operands[0], value = 0;
    uint32_t b = info->operand_count > 1 ? operands[1] : 0;
    if (eval_common(op, is_signed, a, b, &value)) {
        return value;
    }
    switch ((int)op) {
    case VYRE_OP_NEGATE:
        return 0u - a;
    case VYRE_OP_COMPLEMENT:
        return ~a;
    case VYRE_OP_CLAMP:
        a = less(is_signed, a, b) ? b : a;
        return less(is_signed, operands[2], a) ? operands[2] : a;
    case VYRE_OP_ABS:
        return is_signed && (a & 0x80000000u) ? 0u - a : a;
    case VYRE_OP_SIGN:
        return sign_of(is_signed, a);
    case VYRE_OP_ABS_DIFF:
        return less(is_signed, a, b) ? b - a : a - b;
    case VYRE_OP_MUL_HIGH:
        return multiply_high(is_signed, a, b);
    case VYRE_OP_ADD_SAT:
        return add_saturating(is_signed, a, b);
    case VYRE_OP_SUB_SAT:
        return subtract_saturating(is_signed, a, b);
    case VYRE_OP_MUL_SAT:
        return multiply_saturating(is_signed, a, b);
    case VYRE_OP_ROTATE_LEFT:
        return rotate_left(a, b);
    case VYRE_OP_ROTATE_RIGHT:
        return rotate_left(a, 0u - b);
    case VYRE_OP_CLZ:
        return count_leading_zeros(a);
    case VYRE_OP_CTZ:
        return count_trailing_zeros(a);
    case VYRE_OP_POPCOUNT:
        return count_ones(a);
    case VYRE_OP_REVERSE_BITS:
        return reverse_bits(a);
    case VYRE_OP_EXTRACT_BITS:
        return extract_bits(is_signed, a, b, operands[2]);
    case VYRE_OP_INSERT_BITS:
        return insert_bits(a, b, operands[2], operands[3]);
    case VYRE_OP_UNPACK_BYTE:
        return extract_bits(is_signed, a, (b & 3) * 8, 8);
    case VYRE_OP_UNPACK_NIBBLE:
        return extract_bits(is_signed, a, (b & 7) * 4, 4);
    case VYRE_OP_DOT4:
        return dot4(is_signed, a, b);
    default:
        return 0;
    }
}

static uint32_t eval_bool(vyre_op op, const uint32_t *operands)
{
    bool a = operands[0] != 0;
    switch ((int)op) {
    case VYRE_OP_EQ:
        return from_bool(a == (operands[1] != 0));
    case VYRE_OP_NE:
        return from_bool(a != (operands[1] != 0));
    case VYRE_OP_LOGICAL_AND:
        return from_bool(a && operands[1] != 0);
    case VYRE_OP_LOGICAL_OR:
        return from_bool(a || operands[1] != 0);
    case VYRE_OP_NOT:
        return from_bool(!a);
    default:
        return 0;
    }
}

/* From bool, u32 and i32. */
static uint32_t cast_integer(vyre_type result, vyre_type operand, uint32_t a)
{
    if (operand == VYRE_TYPE_BOOL) {
        a = from_bool(a != 0);
    }
    switch ((int)result) {
    case VYRE_TYPE_BOOL:
        return from_bool(a != 0);
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32:
        return a;
    case VYRE_TYPE_F32:
        return vy_f32_narrow(operand == VYRE_TYPE_I32 ? (double)as_signed(a) : (double)a);
    default:
        return 0;
    }
}

uint64_t vy_interp_eval(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *values,
                        bool flush_denormals)
{
    uint32_t operands[4] = {0}, count = vy_op_get(op)->operand_count;
    count = op == VYRE_OP_CAST || op == VYRE_OP_BITCAST ? 1 : count;
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = (uint32_t)values[i];
    }
    if (op == VYRE_OP_SELECT) {
        return operands[0] ? operands[1] : operands[2];
    }
    if (op == VYRE_OP_BITCAST || (op == VYRE_OP_CAST && result == operand)) {
        return operand == VYRE_TYPE_BOOL ? from_bool(operands[0] != 0) : operands[0];
    }
    switch ((int)operand) {
    case VYRE_TYPE_BOOL:
        return op == VYRE_OP_CAST ? cast_integer(result, operand, operands[0])
                                  : eval_bool(op, operands);
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32:
        return op == VYRE_OP_CAST ? cast_integer(result, operand, operands[0])
                                  : eval_integer(op, operand == VYRE_TYPE_I32, operands);
    case VYRE_TYPE_F32:
        return vy_interp_eval_f32(op, result, operands, flush_denormals);
    default:
        return 0;
    }
}
