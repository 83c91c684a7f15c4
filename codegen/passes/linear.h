/* What indices are made of: a sum of values times numbers, plus a number, all modulo 2^32. Two
 * indices of the same terms lie as far from each other as their offsets, wherever both are in
 * bounds: no buffer has 2^32 elements. */
#ifndef VY_LINEAR_H
#define VY_LINEAR_H

#include "codegen/passes/ssa.h"

#define VY_LINEAR_TERMS 6u

typedef struct vy_linear_term {
    uint32_t value, factor;
} vy_linear_term;

typedef struct vy_linear {
    vy_linear_term terms[VY_LINEAR_TERMS]; /* by value, each once; no factor is 0 */
    uint32_t count, offset;
} vy_linear;

/* By instruction: how many of the lowest bits of an integer are zero whenever it is computed, also
 * round loops; 0 of everything else, 64 of what nobody computes but as 0. From the scratch memory;
 * NULL: there is none left. */
uint8_t *vy_ssa_low_zeros(const vy_ssa *ssa);

/* Of an integer of 32 or 64 bits. Where it is made of too much, of what it is itself. `zeros` by
 * instruction, as above. */
vy_linear vy_linear_find(const vy_ssa *ssa, const uint8_t *zeros, uint32_t value);
bool vy_linear_has_terms_of(const vy_linear *a, const vy_linear *b);
/* How many of the lowest bits of the sum are zero, but for the offset: at most 32. */
uint32_t vy_linear_zeros(const vy_linear *a, const uint8_t *zeros);

#endif
