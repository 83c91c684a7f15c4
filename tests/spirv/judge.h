/* Judges of modules: spirv-val, stored assembly, and questions about instructions. Functions end
 * the test where the judgment is against it. */
#ifndef VY_TESTS_JUDGE_H
#define VY_TESTS_JUDGE_H

#include "vyre/kernel.h"

#include <stdbool.h>
#include <stdint.h>

void judge_valid(const uint32_t *words, uint32_t word_count, vyre_target target);
/* For words that are made wrong. */
bool judge_is_valid(const uint32_t *words, uint32_t word_count, vyre_target target);

/* Compares with tests/spirv/golden/NAME.spvasm; rewrites it where VYRE_UPDATE_GOLDEN is set. */
void judge_golden(const uint32_t *words, uint32_t word_count, const char *name);

#define JUDGE_ANY UINT32_MAX

/* Walks instructions: the next one behind `offset` (0: the first) with this opcode, or JUDGE_ANY;
 * its offset, or 0. */
uint32_t judge_find(const uint32_t *words, uint32_t word_count, uint32_t offset, uint32_t op);
uint32_t judge_count(const uint32_t *words, uint32_t word_count, uint32_t op);
bool judge_has_capability(const uint32_t *words, uint32_t word_count, uint32_t capability);
/* Whether `id` has the decoration; *out_operand (may be NULL) its first operand. */
bool judge_is_decorated(const uint32_t *words, uint32_t word_count, uint32_t id,
                        uint32_t decoration, uint32_t *out_operand);
/* The variable with that binding, or 0. */
uint32_t judge_binding(const uint32_t *words, uint32_t word_count, uint32_t binding);
/* The value of a 32-bit OpConstant. */
uint32_t judge_constant(const uint32_t *words, uint32_t word_count, uint32_t id);

#endif
