/* What passes ask about control flow: predecessors, dominators, loops. Found once for a pass; holds
 * as long as blocks and their ends stay as they are. */
#ifndef VY_FLOW_H
#define VY_FLOW_H

#include "codegen/passes/ssa.h"

/* All by block. */
typedef struct vy_flow {
    const vy_ssa *ssa;
    uint32_t *first_pred, *pred_count; /* entries of preds, each predecessor once */
    uint32_t *preds;
    uint32_t *idom;                     /* 0: the entry, or unreachable */
    uint32_t *enter, *exit;             /* interval in the dominator tree */
    uint32_t *first_child, *next_child; /* dominator tree, children in the order of blocks */
    uint32_t *loop;   /* header of the innermost loop that it lies in, header included; 0: none */
    uint32_t *around; /* of a loop's header: header of the loop around it, or 0 */
} vy_flow;

/* False: out of memory. */
bool vy_flow_find(vy_ssa *ssa, vy_flow *out_flow);
bool vy_flow_is_reachable(const vy_flow *flow, uint32_t block);
/* Of itself too. */
bool vy_flow_dominates(const vy_flow *flow, uint32_t a, uint32_t b);
/* Whether the block lies in the loop: header, body, continue block, what leaves it from inside. */
bool vy_flow_is_inside(const vy_flow *flow, uint32_t block, uint32_t header);
/* The one block that enters the loop and does nothing else, or 0. */
uint32_t vy_flow_preheader(const vy_flow *flow, uint32_t header);

/* Walk over the dominator tree without recursion:
 *   for (uint32_t b = 1; b;) { enter(b); b = vy_flow_next(flow, b, leave, user); } */
uint32_t vy_flow_next(const vy_flow *flow, uint32_t block,
                      void (*leave)(void *user, uint32_t block), void *user);

/* Whether nothing that may overlap the buffer is written in this segment: its elements stay what
 * they are. Written ranges may overlap each other, so a buffer that could be written counts as
 * changing as soon as the segment writes to any. */
typedef struct vy_constant_memory {
    bool writes_storage;
} vy_constant_memory;
vy_constant_memory vy_constant_memory_find(const vy_ssa *ssa);
bool vy_constant_memory_has(const vy_constant_memory *memory, const vy_ssa *ssa, uint32_t buffer);

#endif
