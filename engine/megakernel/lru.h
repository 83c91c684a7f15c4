/* Numbers for a few keys: the one that was not used for longest makes room for a new one. Values
 * lie in an array of the caller's by that number; nothing depends on the order of hashes. */
#ifndef VY_MEGAKERNEL_LRU_H
#define VY_MEGAKERNEL_LRU_H

#include "codegen/base/base.h"

#define VY_MK_LRU_NONE         UINT32_MAX
#define VY_MK_LRU_PIPELINES    64u /* capacity of a dispatcher's */
#define VY_MK_LRU_MAX_CAPACITY 4096u
#define VY_MK_LRU_MAX_KEY      65536u

typedef struct vy_mk_lru_counters {
    uint64_t hits, misses, evictions; /* since it was made */
    uint32_t entries, capacity;
} vy_mk_lru_counters;

/* Thread-safety: external. */
typedef struct vy_mk_lru {
    vyre_allocator allocator;
    struct vy_mk_lru_entry *entries;
    unsigned char *keys;
    uint32_t capacity, max_key_size;
    uint64_t clock; /* counts uses */
    vy_mk_lru_counters counters;
} vy_mk_lru;

/* Room for `capacity` keys of max_key_size bytes at most; all of its memory. allocator: NULL:
 * malloc. Errors, with *lru all zero: INVALID_ARGUMENT: a capacity or size that is 0 or above the
 * limit; OUT_OF_HOST_MEMORY. */
VYRE_CHECK vyre_result vy_mk_lru_init(vy_mk_lru *lru, const vyre_allocator *allocator,
                                      uint32_t capacity, uint32_t max_key_size, vyre_diag *diag);
/* All zero is allowed. */
void vy_mk_lru_finish(vy_mk_lru *lru);

/* The key's number, below the capacity, or VY_MK_LRU_NONE. Counts a hit or a miss, and as a use. */
uint32_t vy_mk_lru_find(vy_mk_lru *lru, const void *key, size_t size);

typedef struct vy_mk_lru_insertion {
    uint32_t index;   /* VY_MK_LRU_NONE: the key is longer than the keys may be */
    bool is_new;      /* it was not there before */
    bool was_evicted; /* the number had another key, whose value the caller takes away */
} vy_mk_lru_insertion;

/* The key's number, the lowest free one where it is new, or that of the one not used for longest.
 * Counts as a use, but as neither hit nor miss. */
vy_mk_lru_insertion vy_mk_lru_insert(vy_mk_lru *lru, const void *key, size_t size);
/* The number is free again; one that is none or is free changes nothing. No eviction. */
void vy_mk_lru_remove(vy_mk_lru *lru, uint32_t index);
/* Whether the number has a key: for who walks over all values. */
bool vy_mk_lru_has(const vy_mk_lru *lru, uint32_t index);

#endif
