/* Which opcodes contributed to what an item leaves: its own, and those of all that it depends on.
 * Computed exactly, on the host, from the edges that the queue has. */
#ifndef VY_MEGAKERNEL_LINEAGE_H
#define VY_MEGAKERNEL_LINEAGE_H

#include "engine/megakernel/graph.h"

#define VY_MK_LINEAGE_ITEMS   256u /* the limit by default */
#define VY_MK_LINEAGE_OPCODES 256u /* different ones, at most */

typedef struct vy_mk_lineage_params {
    uint32_t max_items; /* 0 means VY_MK_LINEAGE_ITEMS */
    /* Of vy_mk_graph: the edges that count; 0: all, so that an opcode contributes wherever its item
     * must have run before. VY_MK_RAW alone: where what it wrote flows in. */
    uint32_t hazards;
} vy_mk_lineage_params;

/* Empty (all zero) with more items or different opcodes than the limits. */
typedef struct vy_mk_lineage {
    uint32_t item_count;
    const uint32_t *opcodes; /* the different ones, in the order in which they come */
    uint32_t opcode_count;
    const uint64_t *sets; /* set_words for each item: bit k of them is opcodes[k] */
    uint32_t set_words;
    const uint32_t *folded; /* by item: bit b: an opcode whose remainder by 32 is b */
} vy_mk_lineage;

/* Along the graph's edges: O(edges * opcodes / 64). The graph is of these items. params may be
 * NULL; `arena` holds what is made. Errors: INVALID_ARGUMENT: items as vy_mk_check_items, or
 * another number of them than the graph's, hazards that are none; OUT_OF_HOST_MEMORY. */
VYRE_CHECK vyre_result vy_mk_lineage_by_flow(vy_arena *arena, const vyre_work_item *items,
                                             uint64_t count, const vy_mk_graph *graph,
                                             const vy_mk_lineage_params *params,
                                             vy_mk_lineage *out_lineage, vyre_diag *diag);

/* Two items of one region. */
typedef struct vy_mk_neighbours {
    uint32_t a, b;
} vy_mk_neighbours;

/* Each item has the opcodes of all items that neighbours connect it with, over any number of them.
 * params->hazards is not looked at. Errors as above, and neighbours that are no items. */
VYRE_CHECK vyre_result vy_mk_lineage_by_region(vy_arena *arena, const vyre_work_item *items,
                                               uint64_t count, const vy_mk_neighbours *neighbours,
                                               uint32_t neighbour_count,
                                               const vy_mk_lineage_params *params,
                                               vy_mk_lineage *out_lineage, vyre_diag *diag);

#endif
