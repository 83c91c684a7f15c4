/* A segment made coarse: one launched invocation does several elements of a one-dimensional grid
 * that stand side by side, so that what each of them reads and writes at its own place becomes one
 * access of up to 16 bytes. Only for programs that cannot tell which invocation does an element. */
#ifndef VY_COARSEN_H
#define VY_COARSEN_H

#include "codegen/passes/ssa.h"

typedef struct vy_coarse {
    uint32_t elements; /* that an invocation does; 0: the segment is as it was */
    uint64_t streams;  /* bindings whose first element must lie at a multiple of 16 bytes */
    bool is_joined;    /* atomics of a workgroup are one; only where that was asked for */
    uint32_t shared;   /* bytes of the workgroup's memory that it needs */
} vy_coarse;

/* What is asked for besides. */
#define VY_COARSEN_JOINED 1u /* atomics of a workgroup become one */
/* Segments that store do several blocks an invocation, too, and elements of 16 bytes count: where
 * an invocation costs more than what it reads and writes. */
#define VY_COARSEN_LONG 2u

/* After all passes. Changes the segment where that can pay and keeps what it does; says how. Where
 * atomics of storage are joined within subgroups, also those whose old values are used, under
 * maximal reconvergence (VY_COARSEN_JOINED), one invocation does those of a workgroup, and elements
 * of neighbouring invocations may find what stands side by side. False: out of memory.
 *
 * In the new form the builtin gid.x is the number of the launched invocation, and it stands alone
 * for ceil(ELEMENTS / elements) of them. */
bool vy_ssa_coarsen(vy_ssa *ssa, uint32_t ways, vy_coarse *out_coarse);

#endif
