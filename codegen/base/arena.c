/* Arenas: a list of blocks, each at least twice as large as the one before up to a limit, and
 * growable arrays in them. AddressSanitizer learns what in a block is nobody's: what was not
 * allocated or was forgotten, a gap behind each allocation, the rows that an array does not have
 * yet, and the place that it had before it grew. */
#include "codegen/base/base.h"

#include <stdalign.h>
#include <string.h>

#if VY_HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

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

/* Memory that becomes nobody's, and that becomes somebody's again. */
static void close_memory(const void *at, size_t size)
{
#if VY_HAS_ADDRESS_SANITIZER
    __asan_poison_memory_region(at, size);
#else
    (void)at;
    (void)size;
#endif
}

static void open_memory(const void *at, size_t size)
{
#if VY_HAS_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(at, size);
#else
    (void)at;
    (void)size;
#endif
}

/* What an allocation takes of its block. */
static size_t taken(size_t size)
{
    return aligned(size) + (VY_HAS_ADDRESS_SANITIZER ? alignof(max_align_t) : 0);
}

/* Nothing of the block is anybody's. */
static void start(struct vy_arena_block *block, struct vy_arena_block *next, size_t size)
{
    const size_t used = aligned(sizeof *block);
    *block = (struct vy_arena_block){next, size, used};
    close_memory((char *)block + used, size - used);
}

void vy_arena_init(vy_arena *arena, const vyre_allocator *allocator)
{
    *arena = (vy_arena){.allocator = vy_allocator_or_default(allocator)};
}

void vy_arena_init_scratch(vy_arena *arena, vy_arena *owner)
{
    *arena = (vy_arena){.allocator = owner->allocator, .owner = owner};
}

void vy_arena_finish(vy_arena *arena)
{
    struct vy_arena_block *block = arena->head;
    while (block) {
        struct vy_arena_block *next = block->next;
        open_memory(block, block->size);
        vy_free(&arena->allocator, block, block->size);
        block = next;
    }
    arena->head = NULL;
}

/* Several blocks become one as large as all of them, so that the memory is soon one block's. */
void vy_arena_reset(vy_arena *arena)
{
    struct vy_arena_block *head = arena->head;
    if (head && !head->next) {
        start(head, NULL, head->size);
        return;
    }
    size_t size = 0;
    for (; head; head = head->next) {
        size = vy_add_size(size, head->size, &size) ? size : 0;
    }
    arena->first_size = size > arena->first_size ? size : arena->first_size;
    vy_arena_finish(arena);
}

static void fail(vy_arena *arena)
{
    for (; arena; arena = arena->owner) {
        arena->failed = true;
    }
}

static struct vy_arena_block *add_block(vy_arena *arena, size_t need)
{
    struct vy_arena_block *head = arena->head;
    size_t size = arena->first_size > FIRST_BLOCK_SIZE ? arena->first_size : FIRST_BLOCK_SIZE;
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
    start(block, NULL, size);
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

void vy_arena_expect(vy_arena *arena, size_t size)
{
    struct vy_arena_block *head = arena->head;
    const size_t overhead = aligned(sizeof *head);
    if ((head && head->size - head->used >= size) || size > SIZE_MAX / 2) {
        return;
    }
    const size_t whole = taken(size) + overhead;
    struct vy_arena_block *block = vy_realloc(&arena->allocator, NULL, 0, whole);
    if (!block) {
        fail(arena);
        return;
    }
    start(block, head, whole);
    arena->head = block;
}

/* What is in the memory is not said. */
static void *allocate(vy_arena *arena, size_t count, size_t size)
{
    size_t bytes = 0, need;
    const size_t overhead = aligned(sizeof(struct vy_arena_block)) + 2 * alignof(max_align_t);
    if (!vy_mul_size(count, size, &bytes) || !vy_add_size(bytes, overhead, &need)) {
        fail(arena);
        return NULL;
    }
    const size_t total = taken(bytes ? bytes : 1);
    struct vy_arena_block *block = arena->head;
    if (!block || block->size - block->used < total) {
        block = add_block(arena, aligned(sizeof *block) + total);
    }
    if (!block) {
        fail(arena);
        return NULL;
    }
    char *memory = (char *)block + block->used;
    block->used += total;
    open_memory(memory, bytes);
    return memory;
}

void *vy_arena_alloc(vy_arena *arena, size_t count, size_t size)
{
    void *memory = allocate(arena, count, size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

void *vy_arena_copy(vy_arena *arena, const void *from, size_t count, size_t size)
{
    void *memory = allocate(arena, count, size);
    if (memory && count) {
        memcpy(memory, from, count * size);
    }
    return memory;
}

char *vy_arena_text(vy_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        fail(arena);
        return NULL;
    }
    char *copy = allocate(arena, length + 1, 1);
    if (copy && length) {
        memcpy(copy, text, length);
    }
    if (copy) {
        copy[length] = '\0';
    }
    return copy;
}

/* The last allocation of the current block grows where it is. */
static bool extend(vy_arena *arena, const void *data, size_t old_size, size_t new_size)
{
    struct vy_arena_block *head = arena->head;
    size_t old_total = taken(old_size), more = taken(new_size) - old_total;
    if (!head || !data || (const char *)data + old_total != (const char *)head + head->used ||
        head->size - head->used < more) {
        return false;
    }
    head->used += more;
    return true;
}

void vy_vec_open_raw(void **data, uint32_t count, uint32_t more, size_t element_size)
{
    char *rows = NULL;
    memcpy(&rows, data, sizeof rows);
    if (rows) {
        open_memory(rows + count * element_size, more * element_size);
    }
}

bool vy_vec_grow_raw(vy_arena *arena, void **data, uint32_t count, uint32_t *capacity,
                     uint32_t more, size_t element_size)
{
    if (count > MAX_VEC_COUNT || more > MAX_VEC_COUNT - count) {
        fail(arena);
        return false;
    }
    /* Twice as much, or what is asked for at once, which is mostly all there will be. */
    uint32_t wanted = *capacity < 4                   ? 8
                      : *capacity > MAX_VEC_COUNT / 2 ? MAX_VEC_COUNT
                                                      : *capacity * 2;
    wanted = wanted < count + more ? count + more : wanted;
    /* The caller's pointer has another type than void *: it is read and written as bytes. */
    void *old = NULL;
    memcpy(&old, data, sizeof old);
    size_t total = 0;
    if (vy_mul_size(wanted, element_size, &total) && total < SIZE_MAX / 2 &&
        extend(arena, old, (size_t)*capacity * element_size, total)) {
        *capacity = wanted;
        return true;
    }
    char *grown = allocate(arena, wanted, element_size);
    if (!grown) {
        return false;
    }
    const size_t held = (size_t)count * element_size;
    if (count) {
        memcpy(grown, old, held);
        close_memory(old, held);
    }
    close_memory(grown + held, wanted * element_size - held);
    memcpy(data, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
