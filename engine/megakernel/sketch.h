/* A count-min sketch: how often keys were counted, in memory of a fixed size, never too few. */
#ifndef VY_MEGAKERNEL_SKETCH_H
#define VY_MEGAKERNEL_SKETCH_H

#include "codegen/base/base.h"

#define VY_MK_SKETCH_MAX_ROWS    16u
#define VY_MK_SKETCH_MAX_COLUMNS 65536u

/* Zero cells are an empty sketch. A key has a cell in each row; others may share it. A cell ends at
 * 2^32 - 1, which then means that many or more. Thread-safety: external. */
typedef struct vy_mk_sketch {
    uint32_t *cells; /* the caller's, row after row */
    uint32_t row_count, column_count;
} vy_mk_sketch;

/* INVALID_ARGUMENT: no row or column, more than the limits, cells that are not rows * columns. */
vyre_result vy_mk_sketch_check(const vy_mk_sketch *sketch, uint32_t cell_count, vyre_diag *diag);
void vy_mk_sketch_add(const vy_mk_sketch *sketch, uint64_t key, uint32_t count);
/* At least what was added for the key. */
uint32_t vy_mk_sketch_estimate(const vy_mk_sketch *sketch, uint64_t key);
/* Adds `other` to `sketch`. Errors: INVALID_ARGUMENT: they differ in shape. */
vyre_result vy_mk_sketch_merge(const vy_mk_sketch *sketch, const vy_mk_sketch *other,
                               vyre_diag *diag);

#endif
