/* Transfer objects: a command buffer with staging each way, and running commands with one. For the
 * files of engine/memory/ alone. */
#ifndef VY_TRANSFER_H
#define VY_TRANSFER_H

#include "engine/device/commands.h"
#include "engine/memory/memory.h"

struct vy_transfer {
    vy_transfer *next;
    vy_commands commands;
    vy_block upload, readback;
    void *room; /* host memory for plans */
    size_t room_size;
    uint64_t value; /* of the last submission */
};

vyre_result vy_transfer_acquire(vyre_device *device, vy_transfer **out_transfer, vyre_diag *diag);
/* For the next one, at once or when its last submission has ended. */
void vy_transfer_give_back(vyre_device *device, vy_transfer *transfer);

/* A fill where there is no source, else a copy. */
typedef struct vy_step {
    VkBuffer source, target;
    uint64_t source_offset, target_offset, size;
    uint32_t word;
} vy_step;

typedef struct vy_steps {
    const vy_step *steps;
    const bool *barriers; /* before each; NULL: none */
    uint32_t count;
    bool reads_back; /* the host reads what was copied */
} vy_steps;

/* Records, submits and waits; ordered after and before everything else on the queue. */
vyre_result vy_transfer_run(vyre_device *device, vy_transfer *transfer, const vy_steps *steps,
                            vyre_diag *diag);

#endif
