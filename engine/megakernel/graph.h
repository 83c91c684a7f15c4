/* Which work item must run before which: the edges of a queue, from the places that its items read
 * and write. Waves and lineage are read off them.
 *
 * Two items are ordered where one writes what the other reads or writes, and they do not both
 * update it by one commutative opcode with nothing of another kind between. Opaque items read and
 * write both their handles, so they are ordered against every item that touches one of them, and
 * against no other; control words they touch only where they say so. An item that orders all is
 * ordered against every other.
 *
 * The edges are few: not one for each such pair, but O(count) from which all the pairs follow. For
 * that, joins stand between many items and many others: nodes that are no items, numbered from
 * item_count on. */
#ifndef VY_MEGAKERNEL_GRAPH_H
#define VY_MEGAKERNEL_GRAPH_H

#include "engine/megakernel/effects.h"

/* Why an edge is there. One at or out of a join may have all three. */
typedef enum vy_mk_hazard {
    /* `to` reads what `from` wrote, or leaves some of it as it was. One that reads all control
     * words counts as reading what was written to any of them, also where it was written over
     * since. */
    VY_MK_RAW = 1,
    VY_MK_WAR = 2, /* `to` writes over what `from` read */
    VY_MK_WAW = 4  /* `to` writes over what `from` wrote */
} vy_mk_hazard;

#define VY_MK_ALL_HAZARDS 7u

typedef struct vy_mk_edge {
    uint32_t from, to;
    uint32_t hazards; /* vy_mk_hazard, or'ed */
} vy_mk_edge;

/* Every edge into a node stands before every edge out of it: one walk over the edges in their order
 * sees all nodes in topological order. */
typedef struct vy_mk_graph {
    const vy_mk_edge *edges;
    uint32_t edge_count;
    uint32_t item_count, node_count; /* node_count - item_count joins */
} vy_mk_graph;

/* O(count). `arena` holds the edges, and nothing is allocated for fewer than two items. Errors:
 * INVALID_ARGUMENT: items as vy_mk_check_items; OUT_OF_HOST_MEMORY, and so with more than 2^31
 * edges, places or nodes. */
VYRE_CHECK vyre_result vy_mk_graph_build(vy_arena *arena, const vy_mk_effects *table,
                                         const vyre_work_item *items, uint64_t count,
                                         vy_mk_graph *out_graph, vyre_diag *diag);

#endif
