/* An allocator that fails its n-th allocation and counts what is live, for fail-nth tests. */
#ifndef VY_FAIL_ALLOCATOR_H
#define VY_FAIL_ALLOCATOR_H

#include "vyre/result.h"

#include <stdlib.h>

typedef struct vy_fail_allocator {
    size_t fail_at; /* the allocation that fails, from 1; 0: none */
    size_t calls;   /* allocations so far */
    size_t live_blocks;
    size_t live_size;
} vy_fail_allocator;

static inline void *vy_fail_reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    vy_fail_allocator *state = user;
    if (new_size == 0) {
        state->live_blocks -= old != NULL;
        state->live_size -= old ? old_size : 0;
        free(old);
        return NULL;
    }
    state->calls++;
    if (state->calls == state->fail_at) {
        return NULL;
    }
    void *memory = realloc(old, new_size);
    if (memory) {
        state->live_blocks += old == NULL;
        state->live_size += new_size - (old ? old_size : 0);
    }
    return memory;
}

static inline vyre_allocator vy_fail_allocator_get(vy_fail_allocator *state)
{
    return (vyre_allocator){state, vy_fail_reallocate};
}

#endif
