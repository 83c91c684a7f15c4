/* Neighbours that one invocation accesses, as one access of up to 16 bytes: x[4 * i], x[4 * i + 1],
 * x[4 * i + 2] and x[4 * i + 3]. For segments that coarsen.h leaves as they are. */
#ifndef VY_WIDEN_H
#define VY_WIDEN_H

#include "codegen/passes/coarsen.h"

/* Behind all passes. Keeps what the segment does, and its blocks. *out_streams: bindings whose
 * first element must lie at a multiple of 16 bytes; 0: nothing was changed. False: out of memory.
 */
bool vy_ssa_widen(vy_ssa *ssa, uint64_t *out_streams);
/* The segment made coarse; where it stays as it was, widened: then `elements` is 1 if anything was
 * changed. False: out of memory. */
bool vy_ssa_coarsen_or_widen(vy_ssa *ssa, uint32_t ways, vy_coarse *out_coarse);
/* Whether vy_ssa_widen would change anything. False: out of memory. */
bool vy_ssa_has_neighbours(vy_ssa *ssa, bool *out_has);

#endif
