/* Integers and bools by the tables of docs/language.md, in 128 bits; see oracle.h. */
#include "tests/conform/oracle.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static conform_answer exact(uint64_t bits)
{
    conform_answer answer = {.kind = CONFORM_EXACT, .bits = bits};
    return answer;
}

static wide value_of(conform_id id, uint64_t bits)
{
    bits &= conform_mask(id);
    if (conform_types[id].kind == CONFORM_SIGNED && (bits & conform_sign_bit(id))) {
        return (wide)bits - (wide)conform_mask(id) - 1;
    }
    return (wide)bits;
}

static wide greatest(conform_id id)
{
    uint64_t all = conform_mask(id);
    return (wide)(conform_types[id].kind == CONFORM_SIGNED ? all >> 1 : all);
}

static wide least(conform_id id)
{
    return conform_types[id].kind == CONFORM_SIGNED ? -greatest(id) - 1 : 0;
}

static uint64_t wrap(conform_id id, wide value)
{
    return (uint64_t)(unsigned_wide)value & conform_mask(id);
}

static uint64_t saturate(conform_id id, wide value)
{
    if (value > greatest(id)) {
        value = greatest(id);
    }
    return wrap(id, value < least(id) ? least(id) : value);
}

static uint64_t divide(conform_id id, wide a, wide b)
{
    if (b == 0) {
        return conform_mask(id);
    }
    return wrap(id, a / b); /* MIN / -1 does not fit and wraps to MIN */
}

static uint64_t multiply_saturating(conform_id id, uint64_t a, uint64_t b)
{
    if (conform_types[id].kind == CONFORM_SIGNED) {
        return saturate(id, value_of(id, a) * value_of(id, b));
    }
    unsigned_wide product = (unsigned_wide)a * b;
    return product > conform_mask(id) ? conform_mask(id) : (uint64_t)product;
}

static uint64_t multiply_high(conform_id id, uint64_t a, uint64_t b)
{
    uint32_t width = conform_types[id].width;
    if (conform_types[id].kind == CONFORM_SIGNED) {
        return wrap(id, (value_of(id, a) * value_of(id, b)) >> width);
    }
    return (uint64_t)(((unsigned_wide)a * b) >> width);
}

static uint64_t rotate_left(conform_id id, uint64_t a, uint32_t by)
{
    uint64_t result = 0;
    uint32_t width = conform_types[id].width;
    for (uint32_t bit = 0; bit < width; bit++) {
        result |= (a >> bit & 1) << ((bit + by) % width);
    }
    return result;
}

static uint64_t reverse(conform_id id, uint64_t a)
{
    uint64_t result = 0;
    uint32_t width = conform_types[id].width;
    for (uint32_t bit = 0; bit < width; bit++) {
        result |= (a >> bit & 1) << (width - 1 - bit);
    }
    return result;
}

static uint64_t count_bits(conform_id id, vyre_op op, uint64_t a)
{
    uint32_t width = conform_types[id].width, ones = 0, below = width, above = width;
    for (uint32_t bit = 0; bit < width; bit++) {
        if (a >> bit & 1) {
            ones++;
            below = below == width ? bit : below;
            above = width - 1 - bit;
        }
    }
    return op == VYRE_OP_POPCOUNT ? ones : op == VYRE_OP_CTZ ? below : above;
}

/* The bits of a from `first` on, `count` of them, moved down; with a sign where the type has one.
 */
static uint64_t field(conform_id id, uint64_t a, uint32_t first, uint32_t count)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < count; i++) {
        result |= (a >> (first + i) & 1) << i;
    }
    if (conform_types[id].kind == CONFORM_SIGNED && count > 0 && (result >> (count - 1) & 1)) {
        for (uint32_t i = count; i < conform_types[id].width; i++) {
            result |= (uint64_t)1 << i;
        }
    }
    return result;
}

static uint64_t extract_or_insert(conform_id id, vyre_op op, const uint64_t *x)
{
    uint32_t width = conform_types[id].width, at = op == VYRE_OP_EXTRACT_BITS ? 1 : 2;
    uint64_t offset = x[at] & 0xffffffffu, count = x[at + 1] & 0xffffffffu;
    offset = offset < width ? offset : width;
    count = count < width - offset ? count : width - offset;
    if (op == VYRE_OP_EXTRACT_BITS) {
        return field(id, x[0], (uint32_t)offset, (uint32_t)count);
    }
    uint64_t result = x[0];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bit = (uint64_t)1 << (offset + i);
        result = (x[1] >> i & 1) ? result | bit : result & ~bit;
    }
    return result;
}

static uint64_t dot4(conform_id id, uint64_t a, uint64_t b)
{
    wide sum = 0;
    conform_id byte = conform_types[id].kind == CONFORM_SIGNED ? CONFORM_I8 : CONFORM_U8;
    for (uint32_t i = 0; i < 4; i++) {
        sum += value_of(byte, a >> (8 * i)) * value_of(byte, b >> (8 * i));
    }
    return wrap(id, sum);
}

static bool compares(vyre_op op, wide a, wide b)
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

static conform_answer boolean(vyre_op op, const uint64_t *x)
{
    bool a = (x[0] & 0xffffffffu) != 0, b = (x[1] & 0xffffffffu) != 0;
    switch ((int)op) {
    case VYRE_OP_EQ:
        return exact(a == b);
    case VYRE_OP_NE:
        return exact(a != b);
    case VYRE_OP_LOGICAL_AND:
        return exact(a && b);
    case VYRE_OP_LOGICAL_OR:
        return exact(a || b);
    case VYRE_OP_NOT:
        return exact(!a);
    default:
        return (conform_answer){.kind = CONFORM_NO_ANSWER};
    }
}

/* Bit by bit, and by amounts of bits. */
static conform_answer bits_of(vyre_op op, conform_id id, const uint64_t *x)
{
    uint32_t width = conform_types[id].width, amount = (uint32_t)(x[1] % width);
    uint32_t left = op == VYRE_OP_ROTATE_RIGHT ? width - amount : amount;
    switch ((int)op) {
    case VYRE_OP_AND:
        return exact(x[0] & x[1]);
    case VYRE_OP_OR:
        return exact(x[0] | x[1]);
    case VYRE_OP_XOR:
        return exact(x[0] ^ x[1]);
    case VYRE_OP_COMPLEMENT:
        return exact(~x[0] & conform_mask(id));
    case VYRE_OP_SHL:
        return exact(x[0] << amount & conform_mask(id));
    case VYRE_OP_SHR:
        return exact(wrap(id, value_of(id, x[0]) >> amount));
    case VYRE_OP_ROTATE_LEFT:
    case VYRE_OP_ROTATE_RIGHT:
        return exact(rotate_left(id, x[0], left));
    case VYRE_OP_CLZ:
    case VYRE_OP_CTZ:
    case VYRE_OP_POPCOUNT:
        return exact(count_bits(id, op, x[0]));
    case VYRE_OP_REVERSE_BITS:
        return exact(reverse(id, x[0]));
    case VYRE_OP_EXTRACT_BITS:
    case VYRE_OP_INSERT_BITS:
        return exact(extract_or_insert(id, op, x));
    case VYRE_OP_UNPACK_BYTE:
        return exact(field(id, x[0], (uint32_t)(x[1] % (width / 8)) * 8, 8));
    case VYRE_OP_UNPACK_NIBBLE:
        return exact(field(id, x[0], (uint32_t)(x[1] % (width / 4)) * 4, 4));
    default:
        return (conform_answer){.kind = CONFORM_NO_ANSWER};
    }
}

static conform_answer arithmetic(vyre_op op, conform_id id, const uint64_t *x)
{
    wide a = value_of(id, x[0]), b = value_of(id, x[1]), c = value_of(id, x[2]);
    wide least_of = a < b ? a : b, greatest_of = a < b ? b : a;
    switch ((int)op) {
    case VYRE_OP_ADD:
        return exact(wrap(id, a + b));
    case VYRE_OP_SUB:
        return exact(wrap(id, a - b));
    case VYRE_OP_MUL:
        return exact((uint64_t)((unsigned_wide)x[0] * x[1]) & conform_mask(id));
    case VYRE_OP_DIV:
        return exact(divide(id, a, b));
    case VYRE_OP_REM:
        return exact(b == 0 ? 0 : wrap(id, a % b));
    case VYRE_OP_NEGATE:
        return exact(wrap(id, -a));
    case VYRE_OP_MIN:
        return exact(wrap(id, least_of));
    case VYRE_OP_MAX:
        return exact(wrap(id, greatest_of));
    case VYRE_OP_CLAMP:
        return exact(wrap(id, greatest_of < c ? greatest_of : c));
    case VYRE_OP_ABS:
        return exact(wrap(id, a < 0 ? -a : a));
    case VYRE_OP_SIGN:
        return exact(wrap(id, a < 0 ? -1 : a > 0));
    case VYRE_OP_ABS_DIFF:
        return exact(wrap(id, greatest_of - least_of));
    case VYRE_OP_ADD_SAT:
        return exact(saturate(id, a + b));
    case VYRE_OP_SUB_SAT:
        return exact(saturate(id, a - b));
    case VYRE_OP_MUL_SAT:
        return exact(multiply_saturating(id, x[0], x[1]));
    case VYRE_OP_MUL_HIGH:
        return exact(multiply_high(id, x[0], x[1]));
    case VYRE_OP_DOT4:
        return exact(dot4(id, x[0], x[1]));
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
    case VYRE_OP_LT:
    case VYRE_OP_LE:
    case VYRE_OP_GT:
    case VYRE_OP_GE:
        return exact(compares(op, a, b));
    default:
        return (conform_answer){.kind = CONFORM_NO_ANSWER};
    }
}

conform_answer conform_integer(vyre_op op, conform_id result, conform_id operand, const uint64_t *x)
{
    if (op == VYRE_OP_CAST) {
        bool from_bool = operand == CONFORM_BOOL;
        wide value = from_bool ? (x[0] & 0xffffffffu) != 0 : value_of(operand, x[0]);
        return exact(result == CONFORM_BOOL ? value != 0 : wrap(result, value));
    }
    if (operand == CONFORM_BOOL) {
        return boolean(op, x);
    }
    conform_answer answer = bits_of(op, operand, x);
    return answer.kind != CONFORM_NO_ANSWER ? answer : arithmetic(op, operand, x);
}
