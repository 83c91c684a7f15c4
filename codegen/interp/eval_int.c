/* Operators on integers of every width: two's complement in the low bits of 64. Owns nothing. */
#include "codegen/interp/eval.h"
#include "codegen/interp/wide.h"

typedef struct integer_type {
    uint64_t mask, sign;
    uint32_t width;
    bool is_signed;
} integer_type;

static bool is_negative(const integer_type *t, uint64_t a)
{
    return t->is_signed && (a & t->sign);
}

/* With the sign in all upper bits. */
static uint64_t extend(const integer_type *t, uint64_t a)
{
    return is_negative(t, a) ? a | ~t->mask : a;
}

static uint64_t magnitude_of(const integer_type *t, uint64_t a)
{
    return is_negative(t, a) ? (0 - a) & t->mask : a;
}

static uint64_t least(const integer_type *t)
{
    return t->is_signed ? t->sign : 0;
}

static uint64_t largest(const integer_type *t)
{
    return t->is_signed ? t->sign - 1 : t->mask;
}

static bool less(const integer_type *t, uint64_t a, uint64_t b)
{
    uint64_t flip = t->is_signed ? t->sign : 0;
    return (a ^ flip) < (b ^ flip);
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static uint64_t divide(const integer_type *t, uint64_t a, uint64_t b)
{
    if (b == 0) {
        return t->mask; /* all ones, which is -1 as well */
    }
    /* MIN / -1 is the magnitude of MIN, whose bits are MIN's. */
    uint64_t quotient = magnitude_of(t, a) / magnitude_of(t, b);
    return (is_negative(t, a) != is_negative(t, b) ? 0 - quotient : quotient) & t->mask;
}

static uint64_t remainder_of(const integer_type *t, uint64_t a, uint64_t b)
{
    if (b == 0) {
        return 0;
    }
    uint64_t rest = magnitude_of(t, a) % magnitude_of(t, b);
    return (is_negative(t, a) ? 0 - rest : rest) & t->mask;
}

static uint64_t multiply_high(const integer_type *t, uint64_t a, uint64_t b)
{
    if (t->width <= 32) {
        return (extend(t, a) * extend(t, b)) >> t->width & t->mask;
    }
    uint64_t high = vy_wide_multiply(a, b).high;
    high -= is_negative(t, a) ? b : 0;
    high -= is_negative(t, b) ? a : 0;
    return high;
}

static uint64_t add_saturating(const integer_type *t, uint64_t a, uint64_t b)
{
    uint64_t sum = (a + b) & t->mask;
    if (!t->is_signed) {
        return sum < a ? t->mask : sum;
    }
    bool overflows = !((a ^ b) & t->sign) && ((a ^ sum) & t->sign);
    return overflows ? (is_negative(t, a) ? least(t) : largest(t)) : sum;
}

static uint64_t subtract_saturating(const integer_type *t, uint64_t a, uint64_t b)
{
    uint64_t difference = (a - b) & t->mask;
    if (!t->is_signed) {
        return a < b ? 0 : difference;
    }
    bool overflows = ((a ^ b) & t->sign) && ((a ^ difference) & t->sign);
    return overflows ? (is_negative(t, a) ? least(t) : largest(t)) : difference;
}

static uint64_t multiply_saturating(const integer_type *t, uint64_t a, uint64_t b)
{
    uint64_t product = (a * b) & t->mask, high = multiply_high(t, a, b);
    uint64_t expected = is_negative(t, product) ? t->mask : 0;
    if (high == expected) {
        return product;
    }
    return is_negative(t, a) != is_negative(t, b) ? least(t) : largest(t);
}

static uint64_t sign_of(const integer_type *t, uint64_t a)
{
    return is_negative(t, a) ? t->mask : a != 0;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static uint64_t shift_right(const integer_type *t, uint64_t a, uint64_t amount)
{
    amount &= t->width - 1;
    /* Complemented, the upper bits of a negative value are zeros, as a shift wants them. */
    return is_negative(t, a) ? ~(~extend(t, a) >> amount) & t->mask : a >> amount;
}

static uint64_t rotate_left(const integer_type *t, uint64_t a, uint64_t amount)
{
    amount &= t->width - 1;
    return amount ? (a << amount | a >> (t->width - amount)) & t->mask : a;
}

static uint64_t count_leading_zeros(const integer_type *t, uint64_t a)
{
    uint64_t count = 0;
    while (count < t->width && !(a & t->sign >> count)) {
        count++;
    }
    return count;
}

static uint64_t count_trailing_zeros(const integer_type *t, uint64_t a)
{
    uint64_t count = 0;
    while (count < t->width && !(a >> count & 1)) {
        count++;
    }
    return count;
}

static uint64_t count_ones(uint64_t a)
{
    uint64_t count = 0;
    for (; a; a &= a - 1) {
        count++;
    }
    return count;
}

static uint64_t reverse_bits(const integer_type *t, uint64_t a)
{
    uint64_t reversed = 0;
    for (uint32_t bit = 0; bit < t->width; bit++) {
        reversed = reversed << 1 | (a >> bit & 1);
    }
    return reversed;
}

static uint64_t ones(uint64_t count)
{
    return count ? UINT64_MAX >> (64 - count) : 0;
}

/* The part of [offset, offset + count) that lies in the value. */
static uint64_t clamp_field(const integer_type *t, uint64_t *offset, uint64_t count)
{
    *offset = *offset > t->width ? t->width : *offset;
    return count > t->width - *offset ? t->width - *offset : count;
}

static uint64_t extract_bits(const integer_type *t, uint64_t a, uint64_t offset, uint64_t count)
{
    count = clamp_field(t, &offset, count);
    if (count == 0) {
        return 0;
    }
    uint64_t field = a >> offset & ones(count), sign = (uint64_t)1 << (count - 1);
    return t->is_signed ? ((field ^ sign) - sign) & t->mask : field;
}

static uint64_t insert_bits(const integer_type *t, uint64_t base, uint64_t insert, uint64_t offset,
                            uint64_t count)
{
    count = clamp_field(t, &offset, count);
    if (count == 0) {
        return base;
    }
    uint64_t mask = ones(count) << offset;
    return (base & ~mask) | (insert << offset & mask);
}

static uint64_t dot4(const integer_type *t, uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (uint64_t offset = 0; offset < 32; offset += 8) {
        sum += extract_bits(t, a, offset, 8) * extract_bits(t, b, offset, 8);
    }
    return sum & t->mask;
}

/* ---- Operators ------------------------------------------------------------------------------- */

static uint64_t eval_rare(vyre_op op, const integer_type *t, const uint64_t *v)
{
    switch ((int)op) {
    case VYRE_OP_ABS:
        return magnitude_of(t, v[0]);
    case VYRE_OP_SIGN:
        return sign_of(t, v[0]);
    case VYRE_OP_ABS_DIFF:
        return (less(t, v[0], v[1]) ? v[1] - v[0] : v[0] - v[1]) & t->mask;
    case VYRE_OP_MUL_HIGH:
        return multiply_high(t, v[0], v[1]);
    case VYRE_OP_ADD_SAT:
        return add_saturating(t, v[0], v[1]);
    case VYRE_OP_SUB_SAT:
        return subtract_saturating(t, v[0], v[1]);
    case VYRE_OP_MUL_SAT:
        return multiply_saturating(t, v[0], v[1]);
    case VYRE_OP_ROTATE_LEFT:
        return rotate_left(t, v[0], v[1]);
    case VYRE_OP_ROTATE_RIGHT:
        return rotate_left(t, v[0], 0 - v[1]);
    case VYRE_OP_CLZ:
        return count_leading_zeros(t, v[0]);
    case VYRE_OP_CTZ:
        return count_trailing_zeros(t, v[0]);
    case VYRE_OP_POPCOUNT:
        return count_ones(v[0]);
    case VYRE_OP_REVERSE_BITS:
        return reverse_bits(t, v[0]);
    case VYRE_OP_EXTRACT_BITS:
        return extract_bits(t, v[0], v[1], v[2]);
    case VYRE_OP_INSERT_BITS:
        return insert_bits(t, v[0], v[1], v[2], v[3]);
    case VYRE_OP_UNPACK_BYTE:
        return extract_bits(t, v[0], (v[1] & 3) * 8, 8);
    case VYRE_OP_UNPACK_NIBBLE:
        return extract_bits(t, v[0], (v[1] & 7) * 4, 4);
    case VYRE_OP_DOT4:
        return dot4(t, v[0], v[1]);
    default:
        return 0;
    }
}

uint64_t vy_eval_integer(vyre_op op, uint32_t width, bool is_signed, const uint64_t *v)
{
    const integer_type type = {UINT64_MAX >> (64 - width), (uint64_t)1 << (width - 1), width,
                               is_signed};
    const integer_type *t = &type;
    switch ((int)op) {
    case VYRE_OP_ADD:
        return (v[0] + v[1]) & t->mask;
    case VYRE_OP_SUB:
        return (v[0] - v[1]) & t->mask;
    case VYRE_OP_MUL:
        return (v[0] * v[1]) & t->mask;
    case VYRE_OP_DIV:
        return divide(t, v[0], v[1]);
    case VYRE_OP_REM:
        return remainder_of(t, v[0], v[1]);
    case VYRE_OP_AND:
        return v[0] & v[1];
    case VYRE_OP_OR:
        return v[0] | v[1];
    case VYRE_OP_XOR:
        return v[0] ^ v[1];
    case VYRE_OP_SHL:
        return v[0] << (v[1] & (width - 1)) & t->mask;
    case VYRE_OP_SHR:
        return shift_right(t, v[0], v[1]);
    case VYRE_OP_EQ:
        return v[0] == v[1];
    case VYRE_OP_NE:
        return v[0] != v[1];
    case VYRE_OP_LT:
        return less(t, v[0], v[1]);
    case VYRE_OP_LE:
        return !less(t, v[1], v[0]);
    case VYRE_OP_GT:
        return less(t, v[1], v[0]);
    case VYRE_OP_GE:
        return !less(t, v[0], v[1]);
    case VYRE_OP_MIN:
        return less(t, v[1], v[0]) ? v[1] : v[0];
    case VYRE_OP_MAX:
        return less(t, v[0], v[1]) ? v[1] : v[0];
    case VYRE_OP_CLAMP: {
        uint64_t raised = less(t, v[0], v[1]) ? v[1] : v[0];
        return less(t, v[2], raised) ? v[2] : raised;
    }
    case VYRE_OP_NEGATE:
        return (0 - v[0]) & t->mask;
    case VYRE_OP_COMPLEMENT:
        return ~v[0] & t->mask;
    default:
        return eval_rare(op, t, v);
    }
}
