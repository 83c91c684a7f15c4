/* A hash map that numbers keys in the order in which they come: 0, 1, 2, ... Values live in arrays
 * of the caller's by that number, so that nothing depends on the order of hashes. */
#ifndef VY_MEGAKERNEL_MAP_H
#define VY_MEGAKERNEL_MAP_H

#include "codegen/base/base.h"

#define VY_MK_NONE UINT32_MAX

/* kind: tells apart keys of different sorts in one map. */
typedef struct vy_mk_key {
    uint64_t a, b;
    uint32_t kind;
} vy_mk_key;

/* Thread-safety: external; any number of finds at a time. */
typedef struct vy_mk_map {
    vy_arena *arena; /* kept; nothing is allocated before the first key */
    VY_VEC(vy_mk_key) keys;
    uint32_t *slots; /* number + 1; 0: free */
    size_t slot_count;
} vy_mk_map;

void vy_mk_map_init(vy_mk_map *map, vy_arena *arena);
/* The key's number, a new one if it is new: then it is keys.count - 1. VY_MK_NONE where there is no
 * memory (sticky in the arena). */
uint32_t vy_mk_map_intern(vy_mk_map *map, vy_mk_key key);
/* Its number, or VY_MK_NONE where it has none. */
uint32_t vy_mk_map_find(const vy_mk_map *map, vy_mk_key key);

#endif
