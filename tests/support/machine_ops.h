/* What the machine's instructions compute, on words; each ends the test where the result is
 * undefined or the instruction is unknown. */
#ifndef VY_TESTS_MACHINE_OPS_H
#define VY_TESTS_MACHINE_OPS_H

#include "tests/support/machine.h"

uint32_t machine_scalar(uint32_t op, uint32_t a, uint32_t b);
/* OpUMulExtended, OpSMulExtended: both words. */
uint64_t machine_product(uint32_t op, uint32_t a, uint32_t b);
/* GLSL.std.450. */
uint32_t machine_glsl(const machine *m, uint32_t function, uint32_t a, uint32_t b);
/* What an atomic leaves in memory. */
uint32_t machine_atomic(uint32_t op, uint32_t old, uint32_t x);

#endif
