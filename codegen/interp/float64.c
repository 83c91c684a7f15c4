/* + - * / sqrt and fma of f64 on bits. A sum or product is an fma with one operand that changes
 * nothing, so only three algorithms stand here. Owns nothing. */
#include "codegen/interp/float.h"
#include "codegen/interp/wide.h"

#define SIGN       0x8000000000000000u
#define INFINITE   0x7ff0000000000000u
#define NOT_NUMBER 0x7ff8000000000000u
#define ONE        0x3ff0000000000000u

static uint64_t magnitude_of(uint64_t bits)
{
    return bits & ~SIGN;
}

static bool is_nan(uint64_t bits)
{
    return magnitude_of(bits) > INFINITE;
}

static bool is_infinite(uint64_t bits)
{
    return magnitude_of(bits) == INFINITE;
}

static bool is_zero(uint64_t bits)
{
    return magnitude_of(bits) == 0;
}

static vy_float_parts parts_of(uint64_t bits)
{
    return vy_float_unpack(vy_float_format_get(VYRE_TYPE_F64), bits);
}

static uint64_t pack(bool negative, int exponent, uint64_t significand)
{
    return vy_float_pack(vy_float_format_get(VYRE_TYPE_F64), negative, exponent, significand);
}

/* ---- Fused multiply and add ------------------------------------------------------------------ */

/* value * 2^exponent with 128 bits, bit 126 the highest one. */
typedef struct wide_number {
    vy_wide value;
    int exponent;
    bool negative;
} wide_number;

static wide_number multiply(uint64_t x, uint64_t y)
{
    vy_float_parts a = parts_of(x), b = parts_of(y);
    wide_number product = {.value = vy_wide_multiply(a.significand, b.significand),
                           .exponent = a.exponent + b.exponent,
                           .negative = a.negative != b.negative};
    if (product.value.high >> 63) {
        /* Nothing is lost: of 128 bits the product takes the upper 106. */
        product.value = vy_wide_shift_right(product.value, 1);
        product.exponent++;
    }
    return product;
}

static wide_number widen(uint64_t z)
{
    vy_float_parts c = parts_of(z);
    return (wide_number){.value = vy_wide_shift_right((vy_wide){c.significand, 0}, 1),
                         .exponent = c.exponent - 63,
                         .negative = c.negative};
}

static uint64_t pack_wide(bool negative, int exponent, vy_wide value)
{
    while (!(value.high >> 63)) {
        value = vy_wide_shift_left_one(value);
        exponent--;
    }
    return pack(negative, exponent + 64, value.high | (value.low != 0));
}

static uint64_t add_wide(wide_number a, wide_number b)
{
    bool swap =
        a.exponent < b.exponent || (a.exponent == b.exponent && vy_wide_less(a.value, b.value));
    wide_number large = swap ? b : a, small = swap ? a : b;
    /* What is shifted out leaves its trace in the lowest bit. That is far enough down: bits are
     * lost from a shift of 22 on, and a difference then loses one leading bit at most. */
    vy_wide shifted =
        vy_wide_shift_right_sticky(small.value, (uint32_t)(large.exponent - small.exponent));
    vy_wide sum = large.negative == small.negative ? vy_wide_add(large.value, shifted)
                                                   : vy_wide_subtract(large.value, shifted);
    if (sum.high == 0 && sum.low == 0) {
        return 0; /* x - x is +0 in rounding to nearest */
    }
    return pack_wide(large.negative, large.exponent, sum);
}

uint64_t vy_f64_fma(uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t sign = (x ^ y) & SIGN;
    bool is_product_infinite = is_infinite(x) || is_infinite(y);
    bool is_product_zero = is_zero(x) || is_zero(y);
    if (is_nan(x) || is_nan(y) || is_nan(z) || (is_product_infinite && is_product_zero)) {
        return NOT_NUMBER;
    }
    if (is_product_infinite) {
        return is_infinite(z) && (z & SIGN) != sign ? NOT_NUMBER : sign | INFINITE;
    }
    if (is_infinite(z)) {
        return z;
    }
    if (is_product_zero) {
        return is_zero(z) ? z & sign : z; /* zeros of two signs give +0 */
    }
    wide_number product = multiply(x, y);
    if (is_zero(z)) {
        return pack_wide(product.negative, product.exponent, product.value);
    }
    return add_wide(product, widen(z));
}

uint64_t vy_f64_add(uint64_t x, uint64_t y)
{
    return vy_f64_fma(x, ONE, y);
}

uint64_t vy_f64_sub(uint64_t x, uint64_t y)
{
    return vy_f64_fma(x, ONE, y ^ SIGN);
}

uint64_t vy_f64_mul(uint64_t x, uint64_t y)
{
    /* A zero of the product's own sign, which the sum keeps. */
    return vy_f64_fma(x, y, (x ^ y) & SIGN);
}

/* ---- Division and square root ---------------------------------------------------------------- */

uint64_t vy_f64_div(uint64_t x, uint64_t y)
{
    uint64_t sign = (x ^ y) & SIGN;
    if (is_nan(x) || is_nan(y) || (is_zero(x) && is_zero(y)) ||
        (is_infinite(x) && is_infinite(y))) {
        return NOT_NUMBER;
    }
    if (is_infinite(x) || is_zero(y)) {
        return sign | INFINITE;
    }
    if (is_zero(x) || is_infinite(y)) {
        return sign;
    }
    /* Bit by bit, as on paper; the remainder is below twice the divisor and so takes 65 bits. */
    vy_float_parts a = parts_of(x), b = parts_of(y);
    uint64_t remainder = a.significand, quotient = 0;
    bool carry = false;
    for (uint32_t i = 0; i < 64; i++) {
        bool fits = carry || remainder >= b.significand;
        remainder -= fits ? b.significand : 0;
        quotient = quotient << 1 | fits;
        carry = remainder >> 63;
        remainder <<= 1;
    }
    return pack(sign != 0, a.exponent - b.exponent - 63, quotient | (carry || remainder != 0));
}

uint64_t vy_f64_sqrt(uint64_t x)
{
    if (is_zero(x)) {
        return x;
    }
    if (is_nan(x) || (x & SIGN)) {
        return NOT_NUMBER;
    }
    if (is_infinite(x)) {
        return x;
    }
    vy_float_parts a = parts_of(x);
    uint64_t significand = a.significand;
    if (a.exponent % 2 != 0) {
        significand >>= 1; /* its lowest 11 bits are zero */
        a.exponent++;
    }
    /* 58 bits of the root, two bits of the radicand for each: root^2 + remainder is
     * significand * 2^52. */
    uint64_t root = 0, remainder = 0;
    for (uint32_t i = 0; i < 58; i++) {
        uint64_t pair = i < 32 ? significand >> (62 - 2 * i) & 3 : 0;
        uint64_t trial = root << 2 | 1;
        remainder = remainder << 2 | pair;
        bool fits = remainder >= trial;
        remainder -= fits ? trial : 0;
        root = root << 1 | fits;
    }
    return pack(false, a.exponent / 2 - 26, root | (remainder != 0));
}
