/* Fills, copies and gathers by the engine's kernels instead of by commands. The kernels lie above
 * memory/, so whoever has them registers them at the device (device->mover; NULL where there are no
 * addresses).
 */
#ifndef VY_MOVER_H
#define VY_MOVER_H

#include "engine/memory/memory.h"

/* A fill where `source` is 0, a gather where there is a table, else a copy; addresses are multiples
 * of 4, ranges do not overlap. A gather moves single words: the table has two words for each, its
 * place behind `source` and that behind `target`, and the spans are the words from there on that it
 * reaches. */
typedef struct vy_move {
    VkDeviceAddress source, target, table;
    uint32_t count, word; /* words to move; what fills */
    uint32_t source_span, target_span;
} vy_move;

/* Bytes from a parameter block to the next: the most that minUniformBufferOffsetAlignment may be.
 */
#define VY_MOVE_STRIDE    256u
#define VY_MOVE_WORKGROUP 256u

/* Workgroups of a move: grids depend on nothing else. */
static inline uint32_t vy_move_groups(const vy_move *move)
{
    return move->count / VY_MOVE_WORKGROUP + (move->count % VY_MOVE_WORKGROUP != 0);
}

/* What is bound for moves whose parameter blocks lie in one block of memory. All zero: nothing. It
 * ends with its pool. */
typedef struct vy_move_set {
    VkDescriptorPool pool;
    VkDescriptorSet set;
    uint64_t serial; /* of the memory that it was written for */
} vy_move_set;

struct vy_mover {
    /* Makes the kernels where they are not there yet. */
    vyre_result (*prepare)(vyre_device *device, vyre_diag *diag);
    /* Binds the memory where the set is not one of it yet, after `prepare`; nothing that uses the
     * set is in flight then. */
    vyre_result (*attach)(vyre_device *device, const vy_block *blocks, vy_move_set *set,
                          vyre_diag *diag);
    /* `block`: mapped memory that the device reads where it lies, at the offset that is recorded.
     */
    void (*write_block)(const vy_move *move, void *block);
    /* One dispatch. What it names is the block's place, and of the move only which kernel it takes
     * and vy_move_groups: the rest may be another one whenever the commands are submitted again.
     * *bound: what is bound, VK_NULL_HANDLE at the start. */
    void (*record)(vyre_device *device, const vy_move *move, const vy_move_set *set,
                   uint32_t offset, VkCommandBuffer commands, VkPipeline *bound);
};

#endif
