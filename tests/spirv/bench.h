/* One operator at a time: a module that computes out[0] = op(x[0], y[0], z[0], w[0]), run on the
 * host for operands given as bits. */
#ifndef VY_TESTS_BENCH_H
#define VY_TESTS_BENCH_H

#include "form.h"
#include "tests/support/machine.h"

typedef struct bench {
    form form;
    machine machine;
    uint32_t memory[5][1]; /* x y z w, out */
    uint32_t params[64];
} bench;

void bench_init(bench *b, vyre_op op, vyre_type operand, vyre_type result, uint32_t operand_count);
/* The second operand a literal. */
void bench_init_literal(bench *b, vyre_op op, vyre_type type, uint32_t literal);
/* Other operand types: by operand. */
void bench_init_typed(bench *b, vyre_op op, const vyre_type *types, uint32_t count,
                      vyre_type result);
void bench_finish(bench *b);
uint32_t bench_run(bench *b, uint32_t x, uint32_t y, uint32_t z, uint32_t w);

/* Bits of f32, and back, and the f32 rules of equality: NaNs are one value. */
uint32_t bits_of(float value);
float float_of(uint32_t bits);
bool is_same_f32(uint32_t a, uint32_t b);
/* The next pseudo-random word; *state may be any number. */
uint32_t next_random(uint64_t *state);

#endif
