/* What a queue of items becomes before it is published: checked, without duplicates, in waves,
 * arranged by opcode. Pure. */
#ifndef VY_MEGAKERNEL_QUEUE_PLAN_H
#define VY_MEGAKERNEL_QUEUE_PLAN_H

#include "engine/megakernel/fusion.h"
#include "engine/megakernel/lineage.h"
#include "engine/megakernel/prune.h"
#include "engine/megakernel/waves.h"
#include "vyre/dispatcher.h"

#define VY_MK_SURVEY_OPCODES 64u  /* different ones that are told apart */
#define VY_MK_SURVEY_SLOTS   256u /* a power of two */

/* The opcodes of a queue. */
typedef struct vy_mk_survey {
    /* By place: in the order in which they come. */
    uint32_t opcodes[VY_MK_SURVEY_OPCODES], effects[VY_MK_SURVEY_OPCODES];
    uint32_t opcode_count; /* VY_MK_SURVEY_OPCODES + 1: more */
    uint8_t
        slots[VY_MK_SURVEY_SLOTS]; /* by opcode modulo that many: the place of one of them + 1 */
    bool has_packed, has_requeues;
    bool is_idempotent; /* all of them: the queue may run twice */
} vy_mk_survey;

/* One pass over the items. requeues: of `table`'s handlers those that may give slots back have
 * VYRE_EFFECT_REQUEUES in handlers[i].effects. Errors: INVALID_ARGUMENT: an opcode that may not be
 * published, with the item's number. */
vyre_result vy_mk_survey_items(const vy_mk_effects *table, const vyre_handler *handlers,
                               uint32_t handler_count, const vyre_work_item *items, uint32_t count,
                               vy_mk_survey *out_survey, vyre_diag *diag);
/* Of an opcode that the survey has, with no more than VY_MK_SURVEY_OPCODES. */
uint32_t vy_mk_survey_place(const vy_mk_survey *survey, uint32_t opcode);

/* What can be said of a queue at once. */
typedef enum vy_mk_relation {
    VY_MK_UNKNOWN,
    VY_MK_UNORDERED, /* items may be equal, and run in any order */
    VY_MK_DISJOINT   /* nor are any two equal: each writes what no other touches */
} vy_mk_relation;

/* O(count); `arena` has what it needs for large handles. */
vy_mk_relation vy_mk_relate(vy_arena *arena, const vy_mk_survey *survey,
                            const vyre_work_item *items, uint32_t count);

typedef struct vy_mk_plan {
    const vyre_work_item
        *items; /* to be published, in their order; the caller's where none changed */
    uint32_t count;
    const uint32_t *given_at; /* by place in `items`: number in the queue given; NULL: the same */
    /* Parts that are drained one after the other: waves, and of these runs of an opcode that a
     * kernel of its own drains. */
    const uint32_t *bounds; /* part_count + 1: where each begins; the last: count */
    const uint32_t
        *own; /* by part: the opcode of its kernel, VY_MK_NONE: that for all; NULL: none */
    uint32_t part_count; /* at least 1 */
    uint32_t wave_count;
    const vy_mk_pair *pairs;
    uint32_t pair_count;
    vy_mk_lineage lineage;
    uint64_t plan_ns, arrange_ns, lineage_ns;
} vy_mk_plan;

typedef struct vy_mk_plan_params {
    uint32_t flags; /* VYRE_QUEUE_* */
    bool wants_lineage;
    uint32_t lineage_limit;
    /* What a kernel of its own saves, by opcode, for each item, and what a launch costs, in one
     * unit: with VYRE_QUEUE_ARRANGE runs that are worth one get it. */
    const vy_mk_cost *savings;
    uint32_t saving_count;
    uint64_t launch_cost;
} vy_mk_plan_params;

/* `arena` holds what is made. Errors: those of its steps. */
vyre_result vy_mk_plan_build(vy_arena *arena, const vy_mk_effects *table,
                             const vy_mk_survey *survey, const vy_mk_plan_params *params,
                             const vyre_work_item *items, uint32_t count, vy_mk_plan *out_plan,
                             vyre_diag *diag);

#endif
