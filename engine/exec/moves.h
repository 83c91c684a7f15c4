/* What a dispatch copies and makes zero before its first pass, and copies back after its last.
 * Pure: decided from the job alone. */
#ifndef VY_MOVES_H
#define VY_MOVES_H

#include "engine/exec/job.h"

typedef struct vy_moves {
    vy_command prologue[2 * VYRE_MAX_BUFFERS + 4], epilogue[VYRE_MAX_BUFFERS + 2];
    uint32_t prologue_count, epilogue_count;
    /* The flag's element 0 after the passes, where the caller sees it, by vy_moves_flag; the state
     * for the host (kind 0: there is none), whose target_offset is the lane's. */
    vy_command flag, state;
    bool has_flag;
    uint32_t block_count;    /* of these, done by kernels: each has a parameter block */
    uint64_t records_offset; /* in the readback memory */
    uint64_t upload_size, readback_size;
    uint64_t mapped; /* bindings that the host may read where they lie */
} vy_moves;

/* A kernel moves so many bytes at most: drivers were seen to keep offsets in 32 bits. Larger
 * transfers are several dispatches, with a block each, the first of which is the command's. */
#define VY_MOVE_SIZE ((uint64_t)1 << 32)
static inline uint32_t vy_move_pieces(uint64_t size)
{
    return (uint32_t)((size + VY_MOVE_SIZE - 1) / VY_MOVE_SIZE);
}

/* The state's copies of the lanes lie at the start of the readback memory. */
#define VY_STATE_STRIDE 128u

/* From that flag word. */
vy_command vy_moves_flag(const vy_moves *moves, uint32_t turn);
void vy_moves_list(const vyre_pipeline *pipeline, const vy_job *job, vy_moves *out_moves);
/* What the host reads after the end: with `has_readback` the readback memory too. */
uint64_t vy_moves_host_reads(const vy_moves *moves, bool has_readback);
bool vy_moves_are_same(const vy_moves *a, const vy_moves *b);

#endif
