/* Host memory: the only file that calls malloc. */
#include "codegen/base/base.h"

#include <stdlib.h>
#include <string.h>

static void *default_reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

vyre_allocator vy_allocator_or_default(const vyre_allocator *allocator)
{
    if (allocator && allocator->reallocate) {
        return *allocator;
    }
    return (vyre_allocator){NULL, default_reallocate};
}

bool vy_allocator_is_default(const vyre_allocator *allocator)
{
    return allocator->reallocate == default_reallocate;
}

void *vy_realloc(const vyre_allocator *allocator, void *old, size_t old_size, size_t new_size)
{
    vyre_allocator from = vy_allocator_or_default(allocator);
    return from.reallocate(from.user, old, old_size, new_size);
}

void *vy_alloc_zeroed(const vyre_allocator *allocator, size_t count, size_t size)
{
    size_t total = 0;
    if (!vy_mul_size(count, size, &total) || total == 0) {
        return NULL;
    }
    void *memory = vy_realloc(allocator, NULL, 0, total);
    if (memory) {
        memset(memory, 0, total);
    }
    return memory;
}

void vy_free(const vyre_allocator *allocator, void *memory, size_t size)
{
    if (memory) {
        (void)vy_realloc(allocator, memory, size, 0);
    }
}
