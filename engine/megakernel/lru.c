/* Keys by use. Capacities are small, so a walk over all hashes costs less than chains would. */
#include "engine/megakernel/lru.h"

#include <string.h>

typedef struct vy_mk_lru_entry {
    uint64_t hash, used; /* used: the clock at its last use; 0: free */
    size_t size;
} vy_mk_lru_entry;

vyre_result vy_mk_lru_init(vy_mk_lru *lru, const vyre_allocator *allocator, uint32_t capacity,
                           uint32_t max_key_size, vyre_diag *diag)
{
    *lru = (vy_mk_lru){0};
    vy_diag_clear(diag);
    if (capacity == 0 || capacity > VY_MK_LRU_MAX_CAPACITY || max_key_size == 0 ||
        max_key_size > VY_MK_LRU_MAX_KEY) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a cache of %u keys of %u bytes is none. Fix: pass 1 to %u keys of 1 to "
                           "%u bytes",
                           capacity, max_key_size, VY_MK_LRU_MAX_CAPACITY, VY_MK_LRU_MAX_KEY);
    }
    lru->allocator = vy_allocator_or_default(allocator);
    lru->capacity = capacity;
    lru->max_key_size = max_key_size;
    lru->counters.capacity = capacity;
    lru->entries = vy_alloc_zeroed(&lru->allocator, capacity, sizeof *lru->entries);
    lru->keys = vy_alloc_zeroed(&lru->allocator, capacity, max_key_size);
    if (!lru->entries || !lru->keys) {
        vy_mk_lru_finish(lru);
        return vy_diag_no_memory(diag);
    }
    return VYRE_OK;
}

void vy_mk_lru_finish(vy_mk_lru *lru)
{
    if (lru->entries) {
        vy_free(&lru->allocator, lru->entries, lru->capacity * sizeof *lru->entries);
    }
    if (lru->keys) {
        vy_free(&lru->allocator, lru->keys, (size_t)lru->capacity * lru->max_key_size);
    }
    *lru = (vy_mk_lru){0};
}

static uint64_t hash_of(const void *key, size_t size)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, key, size);
    return vy_hash_value(&hash);
}

static unsigned char *key_at(const vy_mk_lru *lru, uint32_t index)
{
    return lru->keys + (size_t)index * lru->max_key_size;
}

static uint32_t look_up(const vy_mk_lru *lru, const void *key, size_t size, uint64_t hash)
{
    for (uint32_t i = 0; i < lru->capacity; i++) {
        const vy_mk_lru_entry *entry = &lru->entries[i];
        if (entry->used && entry->hash == hash && entry->size == size &&
            (size == 0 || memcmp(key_at(lru, i), key, size) == 0)) {
            return i;
        }
    }
    return VY_MK_LRU_NONE;
}

uint32_t vy_mk_lru_find(vy_mk_lru *lru, const void *key, size_t size)
{
    uint32_t index = look_up(lru, key, size, hash_of(key, size));
    if (index == VY_MK_LRU_NONE) {
        lru->counters.misses++;
    } else {
        lru->counters.hits++;
        lru->entries[index].used = ++lru->clock;
    }
    return index;
}

vy_mk_lru_insertion vy_mk_lru_insert(vy_mk_lru *lru, const void *key, size_t size)
{
    if (size > lru->max_key_size) {
        return (vy_mk_lru_insertion){VY_MK_LRU_NONE, false, false};
    }
    uint64_t hash = hash_of(key, size);
    vy_mk_lru_insertion out = {look_up(lru, key, size, hash), false, false};
    if (out.index == VY_MK_LRU_NONE) {
        out.index = 0;
        for (uint32_t i = 1; i < lru->capacity; i++) {
            out.index = lru->entries[i].used < lru->entries[out.index].used ? i : out.index;
        }
        out.is_new = true;
        out.was_evicted = lru->entries[out.index].used != 0;
        lru->counters.evictions += out.was_evicted;
        lru->counters.entries += !out.was_evicted;
        lru->entries[out.index].hash = hash;
        lru->entries[out.index].size = size;
        if (size > 0) {
            memcpy(key_at(lru, out.index), key, size);
        }
    }
    lru->entries[out.index].used = ++lru->clock;
    return out;
}

void vy_mk_lru_remove(vy_mk_lru *lru, uint32_t index)
{
    if (vy_mk_lru_has(lru, index)) {
        lru->entries[index].used = 0;
        lru->counters.entries--;
    }
}

bool vy_mk_lru_has(const vy_mk_lru *lru, uint32_t index)
{
    return index < lru->capacity && lru->entries[index].used != 0;
}
