/* Random well-formed programs for differential tests: race-free by construction, so that every
 * order of invocations gives the same bits, with control flow driven by input data so that nothing
 * folds away. Reads a seed, makes `.vyre` text. The same seed gives the same text everywhere. */
#ifndef VY_GENERATE_H
#define VY_GENERATE_H

#include "codegen/base/base.h"

/* What a program holds: bit i of `constructs` is the i-th name of vy_generate_construct_name. */
typedef struct vy_generated {
    uint64_t constructs[4];
    uint32_t elements; /* grid to run it with, in workgroups of the program's size x 1 x 1 */
    uint32_t groups;
    uint32_t seed_lengths[4]; /* elements of ints, floats, flags, words */
    uint32_t params[3];       /* p (u32), q (i32), r (f32 bits) */
} vy_generated;

/* Writes the program of that seed. */
void vy_generate(uint64_t seed, vy_text *out, vy_generated *out_info);

/* Names of all constructs and operators that programs are counted by; NULL past the last. */
const char *vy_generate_construct_name(uint32_t index);

/* The contents of an input: element i of buffer `which` (0 ints: i32, 1 floats: f32 bits, 2 flags:
 * bool words, 3 words: u32), with edge values among them. */
uint32_t vy_generate_input(uint64_t seed, uint32_t which, uint32_t index);

#endif
