/* One operator on many operands at once, on the device: out[i] = op(x[i], y[i], z[i], w[i]). Values
 * are bits, as vy_type_bits has them. */
#ifndef VY_TESTS_BATCH_H
#define VY_TESTS_BATCH_H

#include "gpu.h"

#define BATCH_MAX 65536u

typedef struct batch {
    vyre_op op;
    uint32_t operand_count, count; /* of operators' operands, of tuples */
    vyre_type types[4], result;
    const uint64_t *operands[4];
    bool has_literal; /* the last operand is operands[last][0] as a literal */
    vyre_target target;
    vyre_interface interface;
    const gpu_spec *specs;
    uint32_t spec_count;
} batch;

void batch_run(gpu *g, const batch *b, uint64_t *out);
/* Elements as they lie in memory, and back. */
void batch_pack(vyre_type type, const uint64_t *values, uint32_t count, uint8_t *out);
void batch_unpack(vyre_type type, const uint8_t *bytes, uint32_t count, uint64_t *out);

/* Every pair of the values, in two arrays of count * count. */
void batch_pairs(const uint64_t *values, uint32_t count, uint64_t *out_x, uint64_t *out_y);
/* Values at the edges of an integer type, then random ones: `count` in all. */
void batch_integers(vyre_type type, uint64_t *out, uint32_t count);
/* The same of a float type: zeros, denormals, infinities, NaN, ties, then random bits. */
void batch_floats(vyre_type type, uint64_t *out, uint32_t count);

/* Conversions of f16 and back, rounded to nearest even, for judging. */
double batch_f16_value(uint64_t bits);
uint64_t batch_f16_of(double value);
double batch_double(uint64_t bits);
uint64_t batch_bits(double value);
/* Equal, or NaNs both. */
bool batch_same_float(vyre_type type, uint64_t a, uint64_t b);

#endif
