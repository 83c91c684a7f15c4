/* Programs of control flow that compilers, validators and drivers are known to get wrong. */
#ifndef VY_TESTS_SHAPES_H
#define VY_TESTS_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_SIZE 4000

/* Writes program i with that workgroup size; false past the last. Interface: in x : u32[],
 * inout y : u32[], inout n : i32[], param k : u32. */
bool shape_text(uint32_t i, uint32_t workgroup, char out[SHAPE_SIZE]);

#endif
