/* Packing, unpacking and converting floats as bits. Owns nothing. */
#include "codegen/interp/float.h"

#include <string.h>

const vy_float_format *vy_float_format_get(vyre_type type)
{
    static const vy_float_format f16 = {0x8000u, 0x7c00u, 0x7e00u, 0x3c00u,
                                        0x3800u, 0x6400u, 11,      15};
    static const vy_float_format f32 = {0x80000000u, 0x7f800000u, 0x7fc00000u, 0x3f800000u,
                                        0x3f000000u, 0x4b000000u, 24,          127};
    static const vy_float_format f64 = {0x8000000000000000u,
                                        0x7ff0000000000000u,
                                        0x7ff8000000000000u,
                                        0x3ff0000000000000u,
                                        0x3fe0000000000000u,
                                        0x4330000000000000u,
                                        53,
                                        1023};
    switch ((int)type) {
    case VYRE_TYPE_F16:
        return &f16;
    case VYRE_TYPE_F32:
        return &f32;
    case VYRE_TYPE_F64:
        return &f64;
    default:
        return NULL;
    }
}

/* Bit 63 of the significand is set. */
static uint64_t pack_normalised(const vy_float_format *f, bool negative, int exponent,
                                uint64_t significand)
{
    uint64_t sign = negative ? f->sign : 0;
    int top = exponent + 63, least = 1 - f->bias;
    if (top > f->bias) {
        return sign | f->infinity;
    }
    int shift = 64 - (int)f->precision + (top < least ? least - top : 0);
    if (shift > 64) {
        return sign; /* less than half of the least denormal */
    }
    uint64_t kept = shift == 64 ? 0 : significand >> shift;
    uint64_t half = (uint64_t)1 << (shift - 1), rest = significand & (half - 1 + half);
    if (rest > half || (rest == half && (kept & 1))) {
        kept++;
    }
    /* The leading bit adds one to the exponent, and a carry out of the fraction another one, up to
     * infinity. */
    uint64_t biased = top < least ? 0 : (uint64_t)(top - least);
    return sign | ((biased << (f->precision - 1)) + kept);
}

uint64_t vy_float_pack(const vy_float_format *f, bool negative, int exponent, uint64_t significand)
{
    if (significand == 0) {
        return negative ? f->sign : 0;
    }
    while (!(significand >> 63)) {
        significand <<= 1;
        exponent--;
    }
    return pack_normalised(f, negative, exponent, significand);
}

vy_float_parts vy_float_unpack(const vy_float_format *f, uint64_t bits)
{
    uint32_t fraction_bits = f->precision - 1;
    uint64_t magnitude = bits & (f->sign - 1), exponent = magnitude >> fraction_bits;
    uint64_t significand = magnitude & (((uint64_t)1 << fraction_bits) - 1);
    if (exponent) {
        significand |= (uint64_t)1 << fraction_bits;
    } else {
        exponent = 1;
    }
    vy_float_parts parts = {.significand = significand,
                            .exponent = (int)exponent - f->bias - (int)fraction_bits,
                            .negative = (bits & f->sign) != 0};
    while (!(parts.significand >> 63) && parts.significand) {
        parts.significand <<= 1;
        parts.exponent--;
    }
    return parts;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double vy_float_widen(const vy_float_format *f, uint64_t bits)
{
    uint32_t fraction_bits = f->precision - 1;
    uint64_t magnitude = bits & (f->sign - 1), exponent = magnitude >> fraction_bits;
    uint64_t fraction = magnitude & (((uint64_t)1 << fraction_bits) - 1);
    uint64_t sign = bits & f->sign ? (uint64_t)1 << 63 : 0;
    if (exponent == 0) {
        /* 2^(1 - bias - fraction bits): the least denormal. */
        double least = double_of((uint64_t)(1024 - f->bias - (int)fraction_bits) << 52);
        double value = (double)fraction * least;
        return sign ? -value : value;
    }
    bool is_special = magnitude >= f->infinity;
    uint64_t wide = is_special ? 0x7ff : exponent + (uint64_t)(1023 - f->bias);
    return double_of(sign | wide << 52 | fraction << (52 - fraction_bits));
}

uint64_t vy_float_narrow(const vy_float_format *f, double value)
{
    uint64_t bits = double_bits(value), fraction = bits & 0xfffffffffffffu;
    uint64_t exponent = bits >> 52 & 0x7ff;
    bool negative = bits >> 63;
    if (exponent == 0x7ff) {
        return fraction ? f->nan : (negative ? f->sign : 0) | f->infinity;
    }
    if (exponent == 0) {
        return negative ? f->sign : 0;
    }
    return pack_normalised(f, negative, (int)exponent - 1023 - 63,
                           (fraction | (uint64_t)1 << 52) << 11);
}

double vy_f32_widen(uint32_t bits)
{
    return vy_float_widen(vy_float_format_get(VYRE_TYPE_F32), bits);
}

uint32_t vy_f32_narrow(double value)
{
    return (uint32_t)vy_float_narrow(vy_float_format_get(VYRE_TYPE_F32), value);
}
