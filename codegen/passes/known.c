/* See known.h. Every function is checked against all values of 8 bits by tests/passes. */
#include "codegen/passes/known.h"

int64_t vy_known_extend(uint64_t bits, uint32_t width)
{
    uint64_t sign = (uint64_t)1 << (width - 1);
    uint64_t extended = bits & sign ? bits | ~vy_known_mask(width) : bits;
    int64_t value;
    /* No conversion whose result is the compiler's choice. */
    value = extended <= INT64_MAX ? (int64_t)extended : -(int64_t)(~extended) - 1;
    return value;
}

static int64_t least(uint32_t width)
{
    return vy_known_extend((uint64_t)1 << (width - 1), width);
}

static int64_t largest(uint32_t width)
{
    return (int64_t)(vy_known_mask(width) >> 1);
}

/* ---- One from the other ---------------------------------------------------------------------- */

static void raise(uint64_t *low, uint64_t to)
{
    *low = *low < to ? to : *low;
}

static void lower(uint64_t *high, uint64_t to)
{
    *high = *high > to ? to : *high;
}

/* All ones from the highest bit that is set. */
static uint64_t filled(uint64_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return x | x >> 32;
}

static void bits_from_bounds(vy_known *k, uint32_t width)
{
    uint64_t differ = k->umin ^ k->umax;
    if (differ >> (width - 1)) {
        return; /* in the highest bit */
    }
    differ = filled(differ);
    k->ones |= k->umin & ~differ;
    k->zeros |= ~k->umin & ~differ;
}

static void signed_from_unsigned(vy_known *k, uint32_t width)
{
    uint64_t half = vy_known_mask(width) >> 1;
    if (k->umax <= half || k->umin > half) {
        int64_t low = vy_known_extend(k->umin, width), high = vy_known_extend(k->umax, width);
        k->smin = k->smin < low ? low : k->smin;
        k->smax = k->smax > high ? high : k->smax;
    }
}

static void unsigned_from_signed(vy_known *k, uint32_t width)
{
    if (k->smin >= 0 || k->smax < 0) {
        raise(&k->umin, (uint64_t)k->smin & vy_known_mask(width));
        lower(&k->umax, (uint64_t)k->smax & vy_known_mask(width));
    }
}

/* Whether there is a value left. */
static bool settle(vy_known *k, uint32_t width)
{
    for (int round = 0; round < 2; round++) {
        const vy_known before = *k;
        raise(&k->umin, k->ones);
        lower(&k->umax, ~k->zeros);
        unsigned_from_signed(k, width);
        if (k->umin > k->umax || k->smin > k->smax) {
            return false;
        }
        signed_from_unsigned(k, width);
        if (k->smin > k->smax) {
            return false;
        }
        bits_from_bounds(k, width);
        if (k->ones & k->zeros) {
            return false;
        }
        if (vy_known_same(k, &before)) {
            break;
        }
    }
    return true;
}

static vy_known settled(vy_known k, uint32_t width)
{
    const vy_known anything = vy_known_anything(width);
    if (vy_known_same(&k, &anything)) {
        return k;
    }
    return settle(&k, width) ? k : vy_known_anything(width);
}

vy_known vy_known_unsigned(uint64_t low, uint64_t high, uint32_t width)
{
    vy_known k = vy_known_anything(width);
    k.umin = low;
    k.umax = high;
    return settled(k, width);
}

vy_known vy_known_exact(uint64_t bits, uint32_t width)
{
    bits &= vy_known_mask(width);
    int64_t value = vy_known_extend(bits, width);
    return (vy_known){bits, bits, value, value, ~bits, bits};
}

vy_known vy_known_signed(int64_t low, int64_t high, uint32_t width)
{
    vy_known k = vy_known_anything(width);
    k.smin = low;
    k.smax = high;
    return settled(k, width);
}

vy_known vy_known_join(const vy_known *a, const vy_known *b)
{
    return (vy_known){
        .umin = a->umin < b->umin ? a->umin : b->umin,
        .umax = a->umax > b->umax ? a->umax : b->umax,
        .smin = a->smin < b->smin ? a->smin : b->smin,
        .smax = a->smax > b->smax ? a->smax : b->smax,
        .zeros = a->zeros & b->zeros,
        .ones = a->ones & b->ones,
    };
}

bool vy_known_meet(vy_known *a, const vy_known *b, uint32_t width)
{
    vy_known k = *a;
    if (b->umin == b->umax) { /* it is one of what the other may be, or not */
        uint64_t bits = b->umin;
        bool is_within = bits >= k.umin && bits <= k.umax && b->smin >= k.smin &&
                         b->smin <= k.smax && !(bits & k.zeros) && !(~bits & k.ones);
        *a = is_within ? *b : k;
        return is_within;
    }
    raise(&k.umin, b->umin);
    lower(&k.umax, b->umax);
    k.smin = k.smin < b->smin ? b->smin : k.smin;
    k.smax = k.smax > b->smax ? b->smax : k.smax;
    k.zeros |= b->zeros;
    k.ones |= b->ones;
    if (k.ones & k.zeros || !settle(&k, width)) {
        return false;
    }
    *a = k;
    return true;
}

bool vy_known_is_exact(const vy_known *a)
{
    return a->umin == a->umax;
}

bool vy_known_is_not_zero(const vy_known *a)
{
    return a->umin > 0;
}

/* ---- Sums, products -------------------------------------------------------------------------- */

/* Bits of a sum are known from the lowest up to where one of either operand is not. */
static void add_low_bits(vy_known *k, uint64_t x, uint64_t y, uint64_t known, bool is_sum,
                         uint32_t width)
{
    uint64_t low = ~known & (known + 1); /* lowest bit that is not known */
    uint64_t mask = known == UINT64_MAX ? UINT64_MAX : low - 1;
    uint64_t value = is_sum ? x + y : x - y;
    mask &= vy_known_mask(width);
    k->ones |= value & mask;
    k->zeros |= ~value & mask;
}

static bool add_fits_signed(int64_t x, int64_t y, uint32_t width)
{
    return y >= 0 ? x <= largest(width) - y : x >= least(width) - y;
}

static bool subtract_fits_signed(int64_t x, int64_t y, uint32_t width)
{
    return y >= 0 ? x >= least(width) + y : x <= largest(width) + y;
}

static vy_known add(const vy_known *a, const vy_known *b, uint32_t width, uint32_t *fits)
{
    uint64_t mask = vy_known_mask(width);
    vy_known k = vy_known_anything(width);
    if (a->umax <= mask - b->umax) {
        k.umin = a->umin + b->umin;
        k.umax = a->umax + b->umax;
        *fits |= VY_FITS_UNSIGNED;
    } else if (a->umin > mask - b->umin) { /* wraps for certain */
        k.umin = (a->umin + b->umin) & mask;
        k.umax = (a->umax + b->umax) & mask;
    }
    if (add_fits_signed(a->smin, b->smin, width) && add_fits_signed(a->smax, b->smax, width)) {
        k.smin = a->smin + b->smin;
        k.smax = a->smax + b->smax;
        *fits |= VY_FITS_SIGNED;
    }
    add_low_bits(&k, a->ones, b->ones, (a->ones | a->zeros) & (b->ones | b->zeros), true, width);
    return settled(k, width);
}

static vy_known subtract(const vy_known *a, const vy_known *b, uint32_t width, uint32_t *fits)
{
    uint64_t mask = vy_known_mask(width);
    vy_known k = vy_known_anything(width);
    if (a->umin >= b->umax) {
        k.umin = a->umin - b->umax;
        k.umax = a->umax - b->umin;
        *fits |= VY_FITS_UNSIGNED;
    } else if (a->umax < b->umin) {
        k.umin = (a->umin - b->umax) & mask;
        k.umax = (a->umax - b->umin) & mask;
    }
    if (subtract_fits_signed(a->smin, b->smax, width) &&
        subtract_fits_signed(a->smax, b->smin, width)) {
        k.smin = a->smin - b->smax;
        k.smax = a->smax - b->smin;
        *fits |= VY_FITS_SIGNED;
    }
    add_low_bits(&k, a->ones, b->ones, (a->ones | a->zeros) & (b->ones | b->zeros), false, width);
    return settled(k, width);
}

static uint32_t trailing_zeros(const vy_known *a, uint32_t width)
{
    uint32_t count = 0;
    while (count < width && a->zeros >> count & 1) {
        count++;
    }
    return count;
}

static vy_known multiply(const vy_known *a, const vy_known *b, uint32_t width)
{
    uint64_t mask = vy_known_mask(width);
    vy_known k = vy_known_anything(width);
    if (b->umax == 0 || a->umax <= mask / b->umax) {
        k.umin = a->umin * b->umin;
        k.umax = a->umax * b->umax;
    }
    if (width <= 32) {
        int64_t corners[4] = {a->smin * b->smin, a->smin * b->smax, a->smax * b->smin,
                              a->smax * b->smax};
        int64_t low = corners[0], high = corners[0];
        for (int i = 1; i < 4; i++) {
            low = corners[i] < low ? corners[i] : low;
            high = corners[i] > high ? corners[i] : high;
        }
        if (low >= least(width) && high <= largest(width)) {
            k.smin = low;
            k.smax = high;
        }
    }
    uint32_t zeros = trailing_zeros(a, width) + trailing_zeros(b, width);
    k.zeros |= zeros >= width ? mask : ((uint64_t)1 << zeros) - 1;
    return settled(k, width);
}

/* ---- Division -------------------------------------------------------------------------------- */

/* By zero: all ones. */
static vy_known divide(const vy_known *a, const vy_known *b, bool is_signed, uint32_t width)
{
    if (!is_signed || (a->smin >= 0 && b->smin > 0)) {
        return b->umin == 0 ? vy_known_anything(width)
                            : vy_known_unsigned(a->umin / b->umax, a->umax / b->umin, width);
    }
    if (b->smin <= 0) {
        return vy_known_anything(width);
    }
    int64_t low = a->smin / (a->smin < 0 ? b->smin : b->smax);
    int64_t high = a->smax / (a->smax < 0 ? b->smax : b->smin);
    return vy_known_signed(low, high, width);
}

/* By zero: 0. */
static vy_known remainder_of(const vy_known *a, const vy_known *b, bool is_signed, uint32_t width)
{
    if (!is_signed || (a->smin >= 0 && b->smin >= 0)) {
        if (a->umax < b->umin) {
            return *a;
        }
        uint64_t high = b->umax ? b->umax - 1 : 0;
        return vy_known_unsigned(0, a->umax < high ? a->umax : high, width);
    }
    int64_t low = a->smin < 0 ? a->smin : 0, high = a->smax > 0 ? a->smax : 0;
    if (b->smin > least(width)) { /* less than the larger magnitude */
        int64_t most = b->smax > -b->smin ? b->smax : -b->smin;
        most = most > 0 ? most - 1 : 0;
        low = low < -most ? -most : low;
        high = high > most ? most : high;
    }
    return vy_known_signed(low, high, width);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static vy_known combine(vyre_op op, const vy_known *a, const vy_known *b, uint32_t width)
{
    vy_known k = vy_known_anything(width);
    if (op == VYRE_OP_AND) {
        k.zeros = a->zeros | b->zeros;
        k.ones = a->ones & b->ones;
        k.umax = a->umax < b->umax ? a->umax : b->umax;
    } else if (op == VYRE_OP_OR) {
        k.zeros = a->zeros & b->zeros;
        k.ones = a->ones | b->ones;
        k.umin = a->umin > b->umin ? a->umin : b->umin;
        k.umax = filled(a->umax | b->umax);
    } else {
        k.zeros = (a->zeros & b->zeros) | (a->ones & b->ones);
        k.ones = (a->zeros & b->ones) | (a->ones & b->zeros);
        k.umax = filled(a->umax | b->umax);
    }
    return settled(k, width);
}

/* The amounts that are shifted by: they count modulo the width. */
static void shift_amounts(const vy_known *b, uint32_t width, uint32_t *low, uint32_t *high)
{
    *low = 0;
    *high = width - 1;
    if (vy_known_is_exact(b)) {
        *low = *high = (uint32_t)(b->umin & (width - 1));
    } else if (b->umax < width) {
        *low = (uint32_t)b->umin;
        *high = (uint32_t)b->umax;
    }
}

static vy_known shift_left(const vy_known *a, const vy_known *b, uint32_t width)
{
    uint64_t mask = vy_known_mask(width);
    uint32_t low, high;
    vy_known k = vy_known_anything(width);
    shift_amounts(b, width, &low, &high);
    if (a->umax <= mask >> high) {
        k.umin = a->umin << low;
        k.umax = a->umax << high;
    }
    if (low == high) {
        k.ones = a->ones << low & mask;
        k.zeros = a->zeros << low | ~mask;
    }
    /* At least `low` zeros at the end. */
    k.zeros |= ((uint64_t)1 << low) - 1;
    return settled(k, width);
}

static vy_known shift_right(const vy_known *a, const vy_known *b, bool is_signed, uint32_t width)
{
    uint32_t low, high;
    vy_known k = vy_known_anything(width);
    shift_amounts(b, width, &low, &high);
    if (!is_signed || a->smin >= 0) {
        k.umin = a->umin >> high;
        k.umax = a->umax >> low;
        if (low == high) {
            k.ones = a->ones >> low;
            k.zeros = a->zeros >> low;
            k.zeros |= ~(vy_known_mask(width) >> low);
        }
        return settled(k, width);
    }
    /* Halving goes toward -1, and toward 0. */
    return vy_known_signed(a->smin, a->smax < 0 ? -1 : a->smax, width);
}

static vy_known complement(const vy_known *a, uint32_t width)
{
    uint64_t mask = vy_known_mask(width);
    vy_known k = {.umin = ~a->umax & mask,
                  .umax = ~a->umin & mask,
                  .smin = -1 - a->smax,
                  .smax = -1 - a->smin,
                  .zeros = a->ones | ~mask,
                  .ones = a->zeros & mask};
    return settled(k, width);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static vy_known pick(const vy_known *a, const vy_known *b, bool is_least, bool is_signed,
                     uint32_t width)
{
    if (is_signed) {
        bool low = (a->smin < b->smin) == is_least, high = (a->smax < b->smax) == is_least;
        return vy_known_signed(low ? a->smin : b->smin, high ? a->smax : b->smax, width);
    }
    bool low = (a->umin < b->umin) == is_least, high = (a->umax < b->umax) == is_least;
    return vy_known_unsigned(low ? a->umin : b->umin, high ? a->umax : b->umax, width);
}

/* |MIN| is MIN. */
static vy_known absolute(const vy_known *a, bool is_signed, uint32_t width)
{
    if (!is_signed || a->smin >= 0) {
        return *a;
    }
    if (a->smin == least(width)) {
        return vy_known_anything(width);
    }
    int64_t low = a->smax < 0 ? -a->smax : 0;
    int64_t high = a->smax > -a->smin ? a->smax : -a->smin;
    return vy_known_signed(low, high, width);
}

static vy_known negate(const vy_known *a, uint32_t width)
{
    vy_known zero = vy_known_exact(0, width);
    uint32_t fits = 0;
    return subtract(&zero, a, width, &fits);
}

/* Bits [offset, offset + count) with both known, moved down. */
static vy_known extract(const vy_known *count, bool is_signed, uint32_t width)
{
    if (is_signed || count->umax >= width) {
        return vy_known_anything(width);
    }
    return vy_known_unsigned(0, vy_known_mask((uint32_t)count->umax), width);
}

static bool is_anything(const vy_known *k, uint32_t width)
{
    const vy_known anything = vy_known_anything(width);
    return vy_known_same(k, &anything);
}

/* Most values of most programs: sums, differences and the like of anything with something. Nothing
 * fits then, but for 0 and for what -1 is taken from. */
static bool gives_anything(vyre_op op, const vy_known *a, const vy_known *b, uint32_t width)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
        return (is_anything(a, width) && b->umax != 0) || (is_anything(b, width) && a->umax != 0);
    case VYRE_OP_SUB:
        return (is_anything(a, width) && b->umax != 0) ||
               (is_anything(b, width) && a->umin != vy_known_mask(width));
    case VYRE_OP_XOR:
        return is_anything(a, width) || is_anything(b, width);
    case VYRE_OP_AND:
    case VYRE_OP_OR:
    case VYRE_OP_MUL:
        return is_anything(a, width) && is_anything(b, width);
    default:
        return false;
    }
}

vy_known vy_known_compute(vyre_op op, bool is_signed, uint32_t width,
                          const vy_known *const *operands, uint32_t *out_fits)
{
    const vy_known *a = operands[0], *b = operands[1];
    uint32_t fits = 0;
    if (gives_anything(op, a, b, width)) {
        if (out_fits) {
            *out_fits = 0;
        }
        return vy_known_anything(width);
    }
    vy_known k = vy_known_anything(width);
    switch ((int)op) {
    case VYRE_OP_ADD:
        k = add(a, b, width, &fits);
        break;
    case VYRE_OP_SUB:
        k = subtract(a, b, width, &fits);
        break;
    case VYRE_OP_MUL:
        k = multiply(a, b, width);
        break;
    case VYRE_OP_DIV:
        k = divide(a, b, is_signed, width);
        break;
    case VYRE_OP_REM:
        k = remainder_of(a, b, is_signed, width);
        break;
    case VYRE_OP_AND:
    case VYRE_OP_OR:
    case VYRE_OP_XOR:
        k = combine(op, a, b, width);
        break;
    case VYRE_OP_SHL:
        k = shift_left(a, b, width);
        break;
    case VYRE_OP_SHR:
        k = shift_right(a, b, is_signed, width);
        break;
    case VYRE_OP_COMPLEMENT:
        k = complement(a, width);
        break;
    case VYRE_OP_NEGATE:
        k = negate(a, width);
        break;
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
        k = pick(a, b, op == VYRE_OP_MIN, is_signed, width);
        break;
    case VYRE_OP_CLAMP:
        k = pick(a, b, false, is_signed, width);
        k = pick(&k, operands[2], true, is_signed, width);
        break;
    case VYRE_OP_ABS:
        k = absolute(a, is_signed, width);
        break;
    case VYRE_OP_SIGN:
        k = is_signed ? vy_known_signed(a->smin < 0 ? -1 : 0, a->smax > 0 ? 1 : 0, width)
                      : vy_known_unsigned(a->umin ? 1 : 0, a->umax ? 1 : 0, width);
        break;
    case VYRE_OP_EXTRACT_BITS:
        k = extract(operands[2], is_signed, width);
        break;
    case VYRE_OP_UNPACK_BYTE:
    case VYRE_OP_UNPACK_NIBBLE: {
        int64_t half = op == VYRE_OP_UNPACK_BYTE ? 128 : 8;
        if (half * 2 <= largest(width)) {
            k = is_signed ? vy_known_signed(-half, half - 1, width)
                          : vy_known_unsigned(0, (uint64_t)half * 2 - 1, width);
        }
        break;
    }
    default:
        break;
    }
    if (out_fits) {
        *out_fits = fits;
    }
    return k;
}

vy_known vy_known_resize(const vy_known *a, bool is_signed, uint32_t from, uint32_t to)
{
    if (to == from) {
        return *a;
    }
    if (to > from) {
        return is_signed ? vy_known_signed(a->smin, a->smax, to)
                         : vy_known_unsigned(a->umin, a->umax, to);
    }
    uint64_t mask = vy_known_mask(to);
    if (a->umax <= mask) {
        return vy_known_unsigned(a->umin, a->umax, to);
    }
    vy_known k = vy_known_anything(to);
    k.ones = a->ones & mask;
    k.zeros |= a->zeros & mask;
    return settled(k, to);
}

static int order(bool less, bool not_less)
{
    return less ? 1 : not_less ? 0 : -1;
}

int vy_known_compare(vyre_op op, bool is_signed, const vy_known *a, const vy_known *b)
{
    switch ((int)op) {
    case VYRE_OP_EQ:
    case VYRE_OP_NE: {
        bool apart = a->umax < b->umin || b->umax < a->umin || a->smax < b->smin ||
                     b->smax < a->smin || (a->ones & b->zeros) != 0 || (a->zeros & b->ones) != 0;
        bool equal = vy_known_is_exact(a) && vy_known_is_exact(b) && a->umin == b->umin;
        return !apart && !equal ? -1 : equal == (op == VYRE_OP_EQ);
    }
    case VYRE_OP_LT:
        return is_signed ? order(a->smax < b->smin, a->smin >= b->smax)
                         : order(a->umax < b->umin, a->umin >= b->umax);
    case VYRE_OP_LE:
        return is_signed ? order(a->smax <= b->smin, a->smin > b->smax)
                         : order(a->umax <= b->umin, a->umin > b->umax);
    case VYRE_OP_GT:
        return vy_known_compare(VYRE_OP_LT, is_signed, b, a);
    case VYRE_OP_GE:
        return vy_known_compare(VYRE_OP_LE, is_signed, b, a);
    default:
        return -1;
    }
}
