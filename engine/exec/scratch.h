/* Host memory for one piece of work at a time, kept for the next: after the first of a kind nothing
 * is taken from the host's allocator. Thread-safety: external. */
#ifndef VY_SCRATCH_H
#define VY_SCRATCH_H

#include "codegen/base/base.h"

typedef struct vy_scratch {
    vyre_allocator parent;
    unsigned char *memory;
    size_t size, used;
    size_t wanted;      /* of all that was asked for since the reset */
    void *spilled;      /* what did not fit: a list */
    vyre_allocator own; /* hands it out: to be given on by address */
} vy_scratch;

void vy_scratch_init(vy_scratch *scratch, const vyre_allocator *parent);
/* Everything handed out is gone; makes room for as much at once as was needed this time. */
void vy_scratch_reset(vy_scratch *scratch);
void vy_scratch_finish(vy_scratch *scratch);
/* The allocator to give on; `scratch` must not move while it is in use. */
const vyre_allocator *vy_scratch_allocator(vy_scratch *scratch);

#endif
