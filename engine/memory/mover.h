/* Fills and copies by the engine's kernels instead of by commands. The kernels lie above memory/,
 * so whoever has them registers them at the device (device->mover; NULL where there are no
 * addresses).
 */
#ifndef VY_MOVER_H
#define VY_MOVER_H

#include "engine/device/device.h"

/* A fill where `source` is 0, else a copy; addresses are multiples of 4, ranges do not overlap. */
typedef struct vy_move {
    VkDeviceAddress source, target;
    uint32_t count, word; /* words to move; what fills */
} vy_move;

#define VY_MOVE_STRIDE 128u /* bytes of a parameter block, aligned */

struct vy_mover {
    /* Makes the kernels where they are not there yet. */
    vyre_result (*prepare)(vyre_device *device, vyre_diag *diag);
    /* `block`: mapped memory that the device reads where it lies, at the address that is recorded.
     */
    void (*write_block)(const vy_move *move, void *block);
    /* One dispatch. What it names is the block's address, and of the move only whether it fills and
     * the count: the rest may be another one whenever the commands are submitted again. *bound:
     * what is bound, VK_NULL_HANDLE at the start. */
    void (*record)(vyre_device *device, const vy_move *move, VkDeviceAddress block,
                   VkCommandBuffer commands, VkPipeline *bound);
};

#endif
