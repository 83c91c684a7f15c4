/* Programs by coarse words on a device, against the interpreter. */
#ifndef VY_TESTS_COARSE_RUN_H
#define VY_TESTS_COARSE_RUN_H

#include "tests/support/differential.h"

#define COARSE_MODES 4u
/* Both forms of memory and targets; borrowed memory and resident buffers. All ask for coarse words
 * however small the grid. */
extern const vy_mode coarse_modes[COARSE_MODES];

/* For n elements and buffers of that length. */
vy_generated coarse_info(uint32_t n, uint64_t seed);
/* Whether it ran by coarse words, or 2 where the device lacks what the program needs. Fails the
 * test where the results are not the interpreter's, or the words not valid. */
int coarse_compare(vyre_device *device, const char *text, vy_generated *info, const vy_mode *mode);

#endif
