/* A block from which memory is cut; what does not fit is taken from the parent until the reset. */
#include "engine/exec/scratch.h"

#include <string.h>

#define ALIGNMENT 16u

typedef struct spill {
    struct spill *next;
    size_t size;
} spill;

#define HEADER ((sizeof(spill) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

static void *take(vy_scratch *s, size_t size)
{
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    s->wanted += size;
    if (size <= s->size - s->used) {
        void *memory = s->memory + s->used;
        s->used += size;
        return memory;
    }
    spill *block = vy_realloc(&s->parent, NULL, 0, HEADER + size);
    if (!block) {
        return NULL;
    }
    block->next = s->spilled;
    block->size = HEADER + size;
    s->spilled = block;
    return (unsigned char *)block + HEADER;
}

static void *reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        return NULL;
    }
    void *memory = take(user, new_size);
    if (memory && old) {
        memcpy(memory, old, old_size < new_size ? old_size : new_size);
    }
    return memory;
}

void vy_scratch_init(vy_scratch *s, const vyre_allocator *parent)
{
    *s = (vy_scratch){.parent = *parent};
}

static void drop_spilled(vy_scratch *s)
{
    for (spill *block = s->spilled; block;) {
        spill *next = block->next;
        vy_free(&s->parent, block, block->size);
        block = next;
    }
    s->spilled = NULL;
}

void vy_scratch_reset(vy_scratch *s)
{
    bool is_short = s->spilled != NULL;
    drop_spilled(s);
    if (is_short) {
        /* Short of memory it stays as it is: the next one spills again. */
        unsigned char *memory = vy_realloc(&s->parent, NULL, 0, s->wanted);
        if (memory) {
            vy_free(&s->parent, s->memory, s->size);
            s->memory = memory;
            s->size = s->wanted;
        }
    }
    s->used = s->wanted = 0;
}

void vy_scratch_finish(vy_scratch *s)
{
    drop_spilled(s);
    vy_free(&s->parent, s->memory, s->size);
    *s = (vy_scratch){.parent = s->parent};
}

const vyre_allocator *vy_scratch_allocator(vy_scratch *s)
{
    s->own = (vyre_allocator){s, reallocate};
    return &s->own;
}
