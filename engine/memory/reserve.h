/* Host memory for VMA, which cannot survive a failed allocation: taken from the host's allocator
 * before VMA is called, so that it does not fail inside. Thread-safety: external. */
#ifndef VY_RESERVE_H
#define VY_RESERVE_H

#include "codegen/base/base.h"

typedef struct vy_reserve_chunk vy_reserve_chunk;

typedef struct vy_reserve {
    vyre_allocator allocator;
    vy_reserve_chunk *current; /* head of the list of chunks */
    size_t live_size;          /* given out */
} vy_reserve;

void vy_reserve_init(vy_reserve *reserve, const vyre_allocator *allocator);
void vy_reserve_finish(vy_reserve *reserve);
/* Makes room for what one call of VMA may need; false where the host's allocator has none. */
bool vy_reserve_fill(vy_reserve *reserve);
/* NULL only where a call needs far more than was foreseen and the host's allocator fails too. */
void *vy_reserve_take(vy_reserve *reserve, size_t size, size_t alignment);
void vy_reserve_give(vy_reserve *reserve, void *memory);
size_t vy_reserve_size_of(const void *memory);

#endif
