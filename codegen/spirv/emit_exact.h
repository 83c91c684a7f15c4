/* Floats taken apart, for the files that compute on their bits. */
#ifndef VY_SPIRV_EMIT_EXACT_H
#define VY_SPIRV_EMIT_EXACT_H

#include "codegen/spirv/emit_int.h"

/* f32 or f64. */
typedef struct vy_format {
    vy_emitter *emitter;
    vy_module *m;
    vy_ints k;          /* unsigned integers of its width */
    uint32_t precision; /* 24 or 53, with the hidden bit */
    uint32_t bias;
    uint32_t type; /* the float's, as an id */
    uint64_t sign, magnitude, infinity, nan, hidden;
} vy_format;

/* A finite operand: magnitude = mantissa * 2^(exponent - bias - precision + 1), the mantissa with
 * its top bit in the place of the hidden one, the exponent (a u32 with a sign) below 1 for
 * denormals; mantissa 0 for zero. */
typedef struct vy_float_parts {
    uint32_t bits, magnitude, mantissa, exponent;
    uint32_t is_zero, is_inf, is_nan;
} vy_float_parts;

vy_format vy_format_of(vy_emitter *emitter, vyre_type type);
vy_float_parts vy_take_apart(const vy_format *f, uint32_t value);
uint32_t vy_format_bits(const vy_format *f, uint32_t value);
uint32_t vy_format_value(const vy_format *f, uint32_t bits);
/* The magnitude's bits of value * 2^(exponent - bias - precision - 1), value in [2, 4) *
 * 2^precision with its lowest bit saying whether more was there: rounded to nearest even; a
 * denormal result drops more bits than the two; where all are dropped it is 0. Exponents up to
 * twice the bias. */
uint32_t vy_round_to_even(const vy_format *f, uint32_t value, uint32_t exponent);
/* a + b, or a - b where `op` is OpFSub, with the right zero on every device. */
uint32_t vy_sum(const vy_format *f, SpvOp op, uint32_t a, uint32_t b);

/* A choice by a specialisation constant. The two ways are blocks and not operands of a select, so
 * that drivers drop the one that is not taken. */
typedef struct vy_native_choice {
    uint32_t native, exact, merge; /* labels */
    uint32_t value;                /* of the native way */
} vy_native_choice;

void vy_begin_native(vy_module *m, vy_native_choice *choice, uint32_t spec_id, const char *name);
void vy_end_native(vy_module *m, const vy_native_choice *choice);
/* `exact`: the label of the block that `value` was made in. */
uint32_t vy_merge_exact(vy_module *m, const vy_native_choice *choice, uint32_t type, uint32_t value,
                        uint32_t exact);

#endif
