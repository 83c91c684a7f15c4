/* Transfer objects: command buffers with staging each way, and running commands with one. For the
 * files of engine/memory/ alone. */
#ifndef VY_TRANSFER_H
#define VY_TRANSFER_H

#include "engine/device/commands.h"
#include "engine/memory/memory.h"
#include "engine/memory/mover.h"

#define VY_TRANSFER_SLOTS 2u  /* submissions in flight */
#define VY_KEPT_MOVES     64u /* of a recording that is kept */
#define VY_KEPT_RANGES    256u
/* Above, a copy command costs less than it moves faster. */
#define VY_MAX_MOVE_SIZE ((uint64_t)64 << 10)

typedef struct vy_kept_part {
    vy_move move; /* as in its block */
    bool has_barrier;
} vy_kept_part;

typedef struct vy_kept_range {
    VkDeviceAddress source, target;
    uint32_t size, word;
    bool has_barrier;
} vy_kept_range;

/* What the first slot's commands are a recording of, where that was moves by kernels alone: such
 * commands name no buffers, and can be submitted again. Count 0: of nothing that is kept. */
typedef struct vy_kept {
    vy_kept_part parts[VY_KEPT_MOVES];
    vy_kept_range ranges[VY_KEPT_RANGES]; /* of the first steps, as in the tables */
    uint32_t count, steps;
    bool reads_back;
} vy_kept;

struct vy_transfer {
    vy_transfer *next;
    vy_commands commands[VY_TRANSFER_SLOTS]; /* all but the first are made when they are used */
    vy_block upload, readback;
    vy_block blocks; /* parameters of moves, VY_MOVE_STRIDE each, and tables */
    vy_move_set set; /* of the blocks */
    vy_kept kept;
    void *room; /* host memory for plans */
    size_t room_size;
    uint64_t value; /* of the last submission */
};

vyre_result vy_transfer_acquire(vyre_device *device, vy_transfer **out_transfer, vyre_diag *diag);
/* For the next one, at once or when its last submission has ended. */
void vy_transfer_give_back(vyre_device *device, vy_transfer *transfer);

/* A fill where there is no source, else a copy. Addresses are those of the ranges, 0 where unknown.
 */
typedef struct vy_step {
    VkBuffer source, target;
    uint64_t source_offset, target_offset, size;
    VkDeviceAddress source_address, target_address;
    uint32_t word;
} vy_step;

typedef struct vy_steps {
    const vy_step *steps;
    const bool *barriers; /* before each; NULL: none */
    uint32_t count;
    uint32_t slot;   /* whose last submission has ended */
    bool is_alone;   /* nothing else of the transfer object is in flight, nor will be */
    bool reads_back; /* the host reads what was copied */
} vy_steps;

/* Records and submits, ordered after and before everything else on the queue. Small steps of a
 * submission that is alone are made by kernels where the device has them. */
vyre_result vy_transfer_submit(vyre_device *device, vy_transfer *transfer, const vy_steps *steps,
                               vyre_diag *diag);

#endif
