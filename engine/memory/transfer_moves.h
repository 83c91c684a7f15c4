/* Which steps of a submission kernels make, one each or many by one gather, and what these read: a
 * parameter block for each part, and behind the blocks the gathers' tables. For transfer.c alone.
 */
#ifndef VY_TRANSFER_MOVES_H
#define VY_TRANSFER_MOVES_H

#include "engine/memory/transfer.h"

/* What kernels make of the steps; all 0: nothing. */
typedef struct vy_moves {
    uint32_t steps, parts;
    uint32_t words;  /* of all gathers: a table has two for each */
    uint64_t tables; /* byte of the blocks' memory where they begin */
} vy_moves;

/* Steps from `first` on that are made together. */
typedef struct vy_part {
    vy_move move;
    uint32_t first, steps;
    bool is_move; /* else one step, by a command */
} vy_part;

typedef struct vy_cursor {
    const vy_transfer *t;
    const vy_steps *s;
    uint32_t next;        /* step */
    uint32_t left, words; /* steps that may be moves yet, and words in tables so far */
    VkDeviceAddress tables;
} vy_cursor;

/* Makes the kernels, and room for blocks and tables, where that is worth it and can be had. */
vy_moves vy_moves_plan(vyre_device *device, vy_transfer *transfer, const vy_steps *steps);

vy_cursor vy_moves_begin(const vy_transfer *transfer, const vy_steps *steps, const vy_moves *moves);
/* false: behind the last. The same parts each time that one goes over the same steps. */
bool vy_moves_next(vy_cursor *cursor, vy_part *out_part);
/* Whether the step would be a move, were it next. */
bool vy_moves_has(const vy_cursor *cursor, uint32_t step);
bool vy_steps_has_barrier(const vy_steps *steps, uint32_t step);

/* Block and table of the index-th part by a kernel, which is noted in transfer->kept. */
void vy_moves_write(vyre_device *device, vy_transfer *transfer, const vy_steps *steps,
                    uint32_t index, const vy_part *part);
/* What was written, for the device. */
vyre_result vy_moves_flush(vyre_device *device, const vy_transfer *transfer, const vy_moves *moves,
                           vyre_diag *diag);
/* Whether kept commands do these very steps, with blocks and tables as they are. */
bool vy_moves_repeat(const vy_transfer *transfer, const vy_steps *steps);
/* Whether the kept commands do these steps; blocks and tables are then written anew. */
bool vy_moves_reuse(vyre_device *device, vy_transfer *transfer, const vy_steps *steps,
                    const vy_moves *moves);

#endif
