/* Random programs that access neighbours: groups of loads and stores, complete or not, in any
 * order, with accesses between them that touch the same elements, may touch them, or do not. Each
 * invocation has 16 elements of every buffer of its own, so that no order of them makes a
 * difference. The same seed gives the same text everywhere. */
#ifndef VY_TESTS_NEIGHBOURS_H
#define VY_TESTS_NEIGHBOURS_H

#include "codegen/base/base.h"

/* in x, inout y, inout z, inout k : u32[8]; workgroups of 8, a grid of what y has. Types of x, y
 * and z are among those given. */
void vy_neighbours_write(vy_text *out, uint64_t seed, const char *const *types,
                         uint32_t type_count);

#endif
