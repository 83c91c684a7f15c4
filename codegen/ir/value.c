/* Values as bits: literals, elements of tables, and where an expression's operands stand. */
#include "codegen/ir/ir.h"

uint64_t vy_expr_literal(const vy_expr *expr, uint32_t i)
{
    if (!vy_type_is_vector((vyre_type)expr->type)) {
        return expr->bits[0];
    }
    uint64_t bits = expr->bits[i >> 1 & 1] >> (i & 1 ? 32 : 0);
    return vy_type_bits((vyre_type)expr->type, bits & UINT32_MAX);
}

vyre_type vy_element_value_type(vyre_type type)
{
    return type == VYRE_TYPE_BF16 ? VYRE_TYPE_F32 : type;
}

uint32_t vy_param_type_words(vyre_type type)
{
    return vy_type_width(type) == 64 ? 2 : vy_type_components(type);
}

uint64_t vy_table_value(const vy_table *table, uint64_t index, uint32_t i)
{
    vyre_type type = (vyre_type)table->type;
    if (index >= table->count || i >= vy_type_components(type)) {
        return 0;
    }
    uint32_t size = vyre_type_size(type) / vy_type_components(type);
    const uint8_t *at = table->bytes + index * vyre_type_size(type) + (size_t)i * size;
    uint64_t bits = 0;
    for (uint32_t byte = 0; byte < size; byte++) {
        bits |= (uint64_t)at[byte] << 8 * byte;
    }
    return type == VYRE_TYPE_BF16 ? bits << 16 : vy_type_bits(type, bits);
}

uint64_t vy_float_of_integer(vyre_type type, bool is_negative, uint64_t magnitude)
{
    uint32_t width = vy_type_width(type);
    uint32_t precision = width == 64 ? 53 : width == 32 ? 24 : 11;
    uint64_t bias = width == 64 ? 1023 : width == 32 ? 127 : 15;
    uint64_t sign = (uint64_t)is_negative << (width - 1);
    if (magnitude == 0) {
        return sign;
    }
    uint32_t top = 63;
    while (!(magnitude >> top)) {
        top--;
    }
    uint64_t fraction = magnitude ^ (uint64_t)1 << top;
    fraction =
        top < precision ? fraction << (precision - 1 - top) : fraction >> (top - precision + 1);
    return sign | (bias + top) << (precision - 1) | fraction;
}

/* The bits of an infinity: the exponent's. */
static uint64_t exponent_mask(vyre_type type)
{
    switch (vy_type_width(type)) {
    case 64:
        return 0x7ff0000000000000u;
    case 32:
        return 0x7f800000u;
    default:
        return 0x7c00u;
    }
}

bool vy_float_is_nan(vyre_type type, uint64_t bits)
{
    uint64_t sign = (uint64_t)1 << (vy_type_width(type) - 1);
    return (bits & (sign - 1)) > exponent_mask(type);
}

bool vy_float_is_denormal(vyre_type type, uint64_t bits)
{
    uint64_t sign = (uint64_t)1 << (vy_type_width(type) - 1);
    return (bits & exponent_mask(type)) == 0 && (bits & (sign - 1)) != 0;
}

uint64_t vy_float_nan(vyre_type type)
{
    uint64_t exponent = exponent_mask(type);
    uint64_t below = exponent & (0 - exponent); /* its lowest bit */
    return exponent | below >> 1;
}

uint32_t vy_bf16_of_f32(uint32_t bits)
{
    if (vy_float_is_nan(VYRE_TYPE_F32, bits)) {
        return 0x7fc0u;
    }
    /* The upper half's lowest bit decides a tie; a carry is the next exponent, up to infinity. */
    return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
