/* Parts a queue into waves: items of one wave run in any order or at once, waves one after the
 * other. Run so, the queue leaves what it leaves when its items run one by one in their order. */
#ifndef VY_MEGAKERNEL_WAVES_H
#define VY_MEGAKERNEL_WAVES_H

#include "engine/megakernel/graph.h"

typedef struct vy_mk_wave {
    uint32_t first, count; /* of the new order */
} vy_mk_wave;

/* An item's wave is the length of the longest path to it, so there are as few as there can be. In a
 * wave items keep their order. Where nothing is ordered there is one wave, and for no items none.
 */
typedef struct vy_mk_waves {
    const vy_mk_wave *waves;
    uint32_t wave_count, item_count;
    const uint32_t *place_of; /* by index in the input: index in the new order */
    const uint32_t *item_at;  /* by index in the new order: index in the input */
} vy_mk_waves;

/* O(count + edges). `arena` holds what is made. Errors: OUT_OF_HOST_MEMORY. */
VYRE_CHECK vyre_result vy_mk_waves_build(vy_arena *arena, const vy_mk_graph *graph,
                                         vy_mk_waves *out_waves, vyre_diag *diag);
/* The items in the new order; both arrays have waves->item_count, and are not the same. */
void vy_mk_waves_arrange(const vy_mk_waves *waves, const vyre_work_item *items,
                         vyre_work_item *out_items);

#endif
