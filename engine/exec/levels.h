/* In which order a chunk's dispatches need the fewest barriers. Pure. */
#ifndef VY_LEVELS_H
#define VY_LEVELS_H

#include "engine/exec/plan.h"

/* Dispatch n of a list is execution first + n % count of pass n / count of the chunk. *out_order
 * has every one of `passes` passes once, those with a hazard between them as in the list. A barrier
 * between dispatches is then needed as often as the longest chain of hazards is long, which no
 * other order goes below. Memory from the arena; false when it failed. */
bool vy_levels_order(const vy_chunk_input *input, uint32_t passes, vy_arena *arena,
                     uint32_t **out_order);

#endif
