/* Chunks that are handed out from front to back; a chunk is given back once everything in it is. */
#include "engine/memory/reserve.h"

#include <string.h>

struct vy_reserve_chunk {
    vy_reserve_chunk *next, *previous;
    size_t size, used; /* bytes behind this header */
    size_t live_count;
};

/* Stands before every block. */
typedef struct block_header {
    vy_reserve_chunk *chunk;
    size_t size;
} block_header;

/* VMA's creation takes some 20 KiB, its first allocation a pool of 1,024 (100 KiB), a new memory
 * block a few KiB for each memory type that is tried; its lists of ranges grow by half. Devices
 * with many memory types were seen to need more than 128 KiB in one call. */
#define BASE_ROOM ((size_t)512 << 10)
#define ALIGNMENT 16u

static size_t header_size(void)
{
    return (sizeof(vy_reserve_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static unsigned char *contents(vy_reserve_chunk *chunk)
{
    return (unsigned char *)chunk + header_size();
}

void vy_reserve_init(vy_reserve *reserve, const vyre_allocator *allocator)
{
    *reserve = (vy_reserve){.allocator = *allocator};
}

static void free_chunk(vy_reserve *reserve, vy_reserve_chunk *chunk)
{
    if (chunk->previous) {
        chunk->previous->next = chunk->next;
    } else {
        reserve->current = chunk->next;
    }
    if (chunk->next) {
        chunk->next->previous = chunk->previous;
    }
    vy_free(&reserve->allocator, chunk, header_size() + chunk->size);
}

void vy_reserve_finish(vy_reserve *reserve)
{
    while (reserve->current) {
        free_chunk(reserve, reserve->current);
    }
}

static bool add_chunk(vy_reserve *reserve, size_t size)
{
    size_t total = 0;
    if (!vy_add_size(size, header_size(), &total)) {
        return false;
    }
    vy_reserve_chunk *chunk = vy_realloc(&reserve->allocator, NULL, 0, total);
    if (!chunk) {
        return false;
    }
    *chunk = (vy_reserve_chunk){.next = reserve->current, .size = size};
    if (reserve->current) {
        reserve->current->previous = chunk;
    }
    reserve->current = chunk;
    return true;
}

bool vy_reserve_fill(vy_reserve *reserve)
{
    if (reserve->live_size > SIZE_MAX / 8) {
        return false;
    }
    size_t room = BASE_ROOM + 2 * reserve->live_size;
    const vy_reserve_chunk *current = reserve->current;
    if (current && current->size - current->used >= room) {
        return true;
    }
    return add_chunk(reserve, room + room / 2);
}

static void *take_from(vy_reserve_chunk *chunk, size_t size, size_t alignment)
{
    uintptr_t base = (uintptr_t)contents(chunk);
    uintptr_t start = base + chunk->used + sizeof(block_header);
    start = (start + alignment - 1) / alignment * alignment;
    size_t offset = (size_t)(start - base);
    if (offset > chunk->size || chunk->size - offset < size) {
        return NULL;
    }
    unsigned char *memory = contents(chunk) + offset;
    block_header header = {chunk, size};
    memcpy(memory - sizeof header, &header, sizeof header);
    chunk->used = offset + size;
    chunk->live_count++;
    return memory;
}

void *vy_reserve_take(vy_reserve *reserve, size_t size, size_t alignment)
{
    if (alignment < ALIGNMENT) {
        alignment = ALIGNMENT;
    }
    size_t needed = 0;
    if (!vy_add_size(size, alignment + sizeof(block_header), &needed)) {
        return NULL;
    }
    void *memory = reserve->current ? take_from(reserve->current, size, alignment) : NULL;
    if (!memory && add_chunk(reserve, needed + BASE_ROOM)) {
        memory = take_from(reserve->current, size, alignment);
    }
    if (memory) {
        reserve->live_size += size;
    }
    return memory;
}

static block_header header_of(const void *memory)
{
    block_header header;
    memcpy(&header, (const unsigned char *)memory - sizeof header, sizeof header);
    return header;
}

size_t vy_reserve_size_of(const void *memory)
{
    return header_of(memory).size;
}

void vy_reserve_give(vy_reserve *reserve, void *memory)
{
    if (!memory) {
        return;
    }
    block_header header = header_of(memory);
    reserve->live_size -= header.size;
    if (--header.chunk->live_count > 0) {
        return;
    }
    if (header.chunk == reserve->current) {
        header.chunk->used = 0;
    } else {
        free_chunk(reserve, header.chunk);
    }
}
