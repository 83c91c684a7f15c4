/* Drops work items that are exact duplicates of earlier ones: all four words are equal. */
#ifndef VY_MEGAKERNEL_PRUNE_H
#define VY_MEGAKERNEL_PRUNE_H

#include "engine/megakernel/effects.h"

typedef enum vy_mk_prune_rule {
    /* A duplicate is dropped where that cannot be seen: its opcode is pure or idempotent, and
     * between it and the last equal item that is kept no kept item writes what it reads, reads or
     * writes what it writes, or orders all. An item that writes its own input is always kept: what
     * it would read the second time is not what it read the first. */
    VY_MK_PRUNE_BY_EFFECTS,
    /* All are dropped, whatever they do. Two additions become one: only for queues that are sets.
     */
    VY_MK_PRUNE_UNCONDITIONAL
} vy_mk_prune_rule;

/* Places in the input, early < late: late was dropped, early is the last equal one kept before it.
 */
typedef struct vy_mk_pair {
    uint32_t early, late;
} vy_mk_pair;

/* What is left, in its order. */
typedef struct vy_mk_pruned {
    const vyre_work_item *items; /* where nothing was dropped, the caller's */
    uint32_t item_count;
    const vy_mk_pair *pairs; /* in the order of `late` */
    uint32_t pair_count;
} vy_mk_pruned;

/* Items whose outputs all differ cannot be duplicates. Up to this many with outputs in a range of
 * this many values are found to be so by a bit map on the stack, and then nothing is allocated. */
#define VY_MK_PRUNE_WINDOW 4096u

/* One pass, O(count). `arena` holds what is made; table as in vy_mk_effects_find. Errors:
 * INVALID_ARGUMENT: items as vy_mk_check_items, a rule that is none; OUT_OF_HOST_MEMORY. */
VYRE_CHECK vyre_result vy_mk_prune(vy_arena *arena, const vy_mk_effects *table,
                                   vy_mk_prune_rule rule, const vyre_work_item *items,
                                   uint64_t count, vy_mk_pruned *out_pruned, vyre_diag *diag);

/* How many of the input's items are done when done_count of the kept ones are: a duplicate counts
 * where all kept ones are done, and only then, since which ones are done is not looked at. Pairs
 * that are not two places of the input (early < late < item_count) count for nothing, and the sum
 * never passes item_count. */
uint32_t vy_mk_prune_credit(const vy_mk_pair *pairs, uint32_t pair_count, uint32_t item_count,
                            uint32_t kept_count, uint32_t done_count);

#endif
