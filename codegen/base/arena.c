/* Arenas: a list of blocks, each at least twice as large as the one before up to a limit, and
 * growable arrays in them. */
#include "codegen/base/base.h"

#include <stdalign.h>
#include <string.h>

#define FIRST_BLOCK_SIZE ((size_t)4096)
#define LAST_BLOCK_SIZE  ((size_t)1 << 20)
#define MAX_VEC_COUNT    0x80000000u

struct vy_arena_block {
    struct vy_arena_block *next;
    size_t size, used; /* of everything, this header included */
};

static size_t aligned(size_t size)
{
    const size_t unit = alignof(max_align_t);
    return (size + unit - 1) / unit * unit;
}

void vy_arena_init(vy_arena *arena, const vyre_allocator *allocator)
{
    *arena = (vy_arena){.allocator = vy_allocator_or_default(allocator)};
}

void vy_arena_finish(vy_arena *arena)
{
    struct vy_arena_block *block = arena->head;
    while (block) {
        struct vy_arena_block *next = block->next;
        vy_free(&arena->allocator, block, block->size);
        block = next;
    }
    arena->head = NULL;
}

static struct vy_arena_block *add_block(vy_arena *arena, size_t need)
{
    struct vy_arena_block *head = arena->head;
    size_t size = FIRST_BLOCK_SIZE;
    if (head) {
        size = head->size < LAST_BLOCK_SIZE / 2 ? head->size * 2 : LAST_BLOCK_SIZE;
    }
    bool is_large = need > size;
    if (is_large) {
        size = need;
    }
    struct vy_arena_block *block = vy_realloc(&arena->allocator, NULL, 0, size);
    if (!block) {
        return NULL;
    }
    *block = (struct vy_arena_block){NULL, size, aligned(sizeof *block)};
    if (is_large && head) {
        /* It will be full: small allocations go on in the block they were in. */
        block->next = head->next;
        head->next = block;
    } else {
        block->next = head;
        arena->head = block;
    }
    return block;
}

void *vy_arena_alloc(vy_arena *arena, size_t count, size_t size)
{
    size_t total = 0, need = 0;
    const size_t overhead = aligned(sizeof(struct vy_arena_block)) + alignof(max_align_t);
    if (!vy_mul_size(count, size, &total) || !vy_add_size(total, overhead, &need)) {
        arena->failed = true;
        return NULL;
    }
    total = aligned(total ? total : 1);
    struct vy_arena_block *block = arena->head;
    if (!block || block->size - block->used < total) {
        block = add_block(arena, aligned(sizeof *block) + total);
    }
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    char *memory = (char *)block + block->used;
    block->used += total;
    memset(memory, 0, total);
    return memory;
}

char *vy_arena_text(vy_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        arena->failed = true;
        return NULL;
    }
    char *copy = vy_arena_alloc(arena, length + 1, 1);
    if (copy && length) {
        memcpy(copy, text, length);
    }
    return copy;
}

bool vy_vec_reserve_raw(vy_arena *arena, void **data, uint32_t count, uint32_t *capacity,
                        uint32_t more, size_t element_size)
{
    if (more <= *capacity - count) {
        return true;
    }
    if (count > MAX_VEC_COUNT || more > MAX_VEC_COUNT - count) {
        arena->failed = true;
        return false;
    }
    uint32_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < count + more) {
        wanted = wanted >= MAX_VEC_COUNT / 2 ? MAX_VEC_COUNT : wanted * 2;
    }
    void *grown = vy_arena_alloc(arena, wanted, element_size);
    if (!grown) {
        return false;
    }
    /* The caller's pointer has another type than void *: it is read and written as bytes. */
    void *old = NULL;
    memcpy(&old, data, sizeof old);
    if (count) {
        memcpy(grown, old, (size_t)count * element_size);
    }
    memcpy(data, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
