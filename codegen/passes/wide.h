/* Accesses of elements that stand side by side, as the words that they are: for coarsen.c, which
 * has them of several elements of the grid, and widen.c, of one. */
#ifndef VY_WIDE_H
#define VY_WIDE_H

#include "codegen/passes/edit.h"

#define VY_WIDE_SIZE  16u /* bytes of one access, at most */
#define VY_WIDE_LANES 16u /* elements, likewise */
#define VY_WIDE_PART  8u  /* bytes of an element that is one of several, at most */

/* Bytes of an element that may be part of such an access, `most` or less, or 0. */
uint32_t vy_wide_element_size(const vyre_program *program, uint32_t buffer, uint32_t most);

typedef struct vy_wide {
    uint32_t buffer, lanes; /* a power of two of elements, or one; 4 to 16 bytes together */
    uint32_t index;         /* u32: which of the blocks of so many */
    vy_loc loc;
} vy_wide;

/* Behind `after`, or at the front of the block where that is 0: the load and the elements, which
 * stay values of their own; the words and the store. Both return the last instruction. */
uint32_t vy_wide_load(vy_ssa *ssa, uint32_t block, uint32_t after, const vy_wide *wide,
                      uint32_t *out_elements);
uint32_t vy_wide_store(vy_ssa *ssa, uint32_t block, uint32_t after, const vy_wide *wide,
                       const uint32_t *elements);

#endif
