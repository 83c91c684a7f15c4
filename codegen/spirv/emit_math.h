/* What the two files of functions with a tolerance share. */
#ifndef VY_SPIRV_EMIT_MATH_H
#define VY_SPIRV_EMIT_MATH_H

#include "codegen/spirv/emit.h"

/* The constant, f32 arithmetic and comparison with it; `value` must be an f32 literal. */
uint32_t vy_const_float(vy_module *module, float value);
/* a / b within 2.5 ULP, for normal b below 2^125. */
uint32_t vy_quotient(vy_module *module, uint32_t a, uint32_t b);
uint32_t vy_f2l(vy_module *module, SpvOp op, uint32_t a, float value);
uint32_t vy_b2l(vy_module *module, SpvOp op, uint32_t a, float value);
/* a or b, literals both. */
uint32_t vy_select_l(vy_module *module, uint32_t condition, float a, float b);
/* condition ? literal : value. */
uint32_t vy_replace_l(vy_module *module, uint32_t condition, float literal, uint32_t value);
/* ... ((c[0] z + c[1]) z + c[2]) ... */
uint32_t vy_polynomial(vy_module *module, uint32_t z, const float *coefficients, uint32_t count);
uint32_t vy_magnitude(vy_module *module, uint32_t value);
/* magnitude with the sign bit of `sign` turned on where it has one. */
uint32_t vy_with_sign(vy_module *module, uint32_t magnitude, uint32_t sign);
/* The NaN where x is one, else the value. */
uint32_t vy_keep_nan(vy_emitter *emitter, uint32_t x, uint32_t value);

#endif
