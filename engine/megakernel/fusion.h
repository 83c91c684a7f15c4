/* Which items of a wave may share one launch of a kernel that knows their opcode: an optional
 * planner, for queues in which a switch over all handlers costs more than launches.
 *
 * The rule. Two items are adjacent where they have one opcode and stand in one wave. Of each wave a
 * greedy maximal independent set is taken in the order of (cost, degree, index): the items that
 * lead a group; and each group is its leader with those adjacent to it, in their order. Adjacency
 * is an equivalence, so there is one group for each opcode of a wave, led by its first item; a
 * degree is the number of others in the group. A launch of its own can save no more than all that
 * the group costs: so groups that cost less than a launch stay together in the wave's rest, the
 * last of its groups. A rest of one opcode needs its launch anyway and is a group like others. An
 * opcode without a cost counts 0 ns.
 *
 * There are no estimates in it: costs and the launch are measured, and the caller's. */
#ifndef VY_MEGAKERNEL_FUSION_H
#define VY_MEGAKERNEL_FUSION_H

#include "engine/megakernel/waves.h"

#define VY_MK_FUSION_ITEMS 4096u /* the limit by default: more fill a device by themselves */

typedef struct vy_mk_cost {
    uint32_t opcode;
    uint64_t cost_ns; /* of one item */
} vy_mk_cost;

typedef struct vy_mk_fusion_params {
    const vy_mk_cost *costs; /* an opcode stands at most once */
    uint32_t cost_count;
    uint64_t launch_ns; /* what one more launch costs; 0: all groups are worth theirs */
    uint32_t max_items; /* 0 means VY_MK_FUSION_ITEMS */
} vy_mk_fusion_params;

typedef struct vy_mk_group {
    uint32_t first, count; /* of the new order */
    uint32_t wave;
    bool is_rest;     /* of several opcodes, for the kernel that knows all */
    uint32_t opcode;  /* where it is not */
    uint64_t cost_ns; /* of all its items; UINT64_MAX where it would pass that */
} vy_mk_group;

/* Groups stand in the order of their waves, and in one wave in the order in which their leaders are
 * taken, the rest last. With more items than the limit each wave is one rest, in its order. */
typedef struct vy_mk_fusion {
    const vy_mk_group *groups;
    uint32_t group_count, item_count;
    const uint32_t *place_of; /* by index in the input: index in the new order */
    const uint32_t *item_at;  /* by index in the new order: index in the input */
} vy_mk_fusion;

/* O(count + groups log groups). waves: of these items; NULL: they are one wave, since the caller
 * knows that they do not depend on each other. params may be NULL; `arena` holds what is made.
 * Errors: INVALID_ARGUMENT: items as vy_mk_check_items, waves of another number of items, an opcode
 * with two costs; OUT_OF_HOST_MEMORY. */
VYRE_CHECK vyre_result vy_mk_fusion_plan(vy_arena *arena, const vyre_work_item *items,
                                         uint64_t count, const vy_mk_waves *waves,
                                         const vy_mk_fusion_params *params,
                                         vy_mk_fusion *out_fusion, vyre_diag *diag);

#endif
