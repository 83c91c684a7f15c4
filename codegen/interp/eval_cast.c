/* Casts between all scalar types, by integer arithmetic. Owns nothing. */
#include "codegen/interp/eval.h"
#include "codegen/interp/float.h"

/* Truncated and saturated. */
static uint64_t integer_of_float(vyre_type result, const vy_float_format *f, uint64_t bits)
{
    uint64_t magnitude = bits & (f->sign - 1), whole = UINT64_MAX;
    bool negative = bits & f->sign;
    if (magnitude > f->infinity || magnitude == 0) {
        return 0;
    }
    if (magnitude < f->infinity) {
        vy_float_parts parts = vy_float_unpack(f, bits);
        if (parts.exponent <= 0) {
            whole = parts.exponent > -64 ? parts.significand >> -parts.exponent : 0;
        }
    }
    uint64_t sign = (uint64_t)1 << (vy_type_width(result) - 1), limit = sign - 1 + sign;
    if (vy_type_is_signed(result)) {
        limit = negative ? sign : sign - 1;
    } else if (negative) {
        limit = 0;
    }
    whole = whole > limit ? limit : whole;
    return vy_type_bits(result, negative ? 0 - whole : whole);
}

static uint64_t float_of_float(const vy_float_format *to, const vy_float_format *f, uint64_t bits)
{
    uint64_t magnitude = bits & (f->sign - 1);
    bool negative = bits & f->sign;
    if (magnitude > f->infinity) {
        return to->nan;
    }
    if (magnitude == f->infinity) {
        return (negative ? to->sign : 0) | to->infinity;
    }
    vy_float_parts parts = vy_float_unpack(f, bits);
    return vy_float_pack(to, negative, parts.exponent, parts.significand);
}

static uint64_t cast_float(vyre_type result, const vy_float_format *f, uint64_t bits)
{
    const vy_float_format *to = vy_float_format_get(result);
    if (to) {
        return float_of_float(to, f, bits);
    }
    if (result == VYRE_TYPE_BOOL) {
        return (bits & (f->sign - 1)) != 0;
    }
    return vy_type_is_integer(result) ? integer_of_float(result, f, bits) : 0;
}

/* From bools and integers. */
static uint64_t cast_integer(vyre_type result, vyre_type operand, uint64_t bits)
{
    const vy_float_format *to = vy_float_format_get(result);
    uint64_t wide = (uint64_t)vy_type_signed_value(operand, bits);
    if (to) {
        bool negative = vy_type_is_signed(operand) && wide >> 63;
        return vy_float_pack(to, negative, 0, negative ? 0 - wide : wide);
    }
    return result == VYRE_TYPE_BOOL || vy_type_is_integer(result) ? vy_type_bits(result, wide) : 0;
}

uint64_t vy_eval_cast(vyre_type result, vyre_type operand, uint64_t bits)
{
    const vy_float_format *from = vy_float_format_get(operand);
    if (result == operand) {
        return operand == VYRE_TYPE_BOOL ? bits != 0 : bits;
    }
    if (from) {
        return cast_float(result, from, bits);
    }
    return operand == VYRE_TYPE_BOOL || vy_type_is_integer(operand)
               ? cast_integer(result, operand, bits)
               : 0;
}
