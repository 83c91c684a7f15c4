/* Keys in the order in which they came, and a table of their numbers, open to linear probing and at
 * most half full. */
#include "engine/megakernel/map.h"

#define FIRST_SLOTS ((size_t)16)

void vy_mk_map_init(vy_mk_map *map, vy_arena *arena)
{
    *map = (vy_mk_map){.arena = arena};
}

/* The slot that holds the key, or the free one where it would stand. */
static size_t probe(const vy_mk_map *map, vy_mk_key key)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_u64(&hash, key.a);
    vy_hash_u64(&hash, key.b);
    vy_hash_u32(&hash, key.kind);
    size_t at = (size_t)vy_hash_value(&hash) & (map->slot_count - 1);
    for (; map->slots[at] != 0; at = (at + 1) & (map->slot_count - 1)) {
        const vy_mk_key *other = &map->keys.data[map->slots[at] - 1];
        if (other->a == key.a && other->b == key.b && other->kind == key.kind) {
            break;
        }
    }
    return at;
}

static bool grow(vy_mk_map *map)
{
    size_t count = FIRST_SLOTS;
    if (map->slot_count && !vy_mul_size(map->slot_count, 2, &count)) {
        map->arena->failed = true;
        return false;
    }
    uint32_t *slots = vy_arena_alloc(map->arena, count, sizeof *slots);
    if (!slots) {
        return false;
    }
    map->slots = slots;
    map->slot_count = count;
    for (uint32_t i = 0; i < map->keys.count; i++) {
        slots[probe(map, map->keys.data[i])] = i + 1;
    }
    return true;
}

uint32_t vy_mk_map_intern(vy_mk_map *map, vy_mk_key key)
{
    if (map->keys.count >= map->slot_count / 2 && !grow(map)) {
        return VY_MK_NONE;
    }
    size_t at = probe(map, key);
    if (map->slots[at] == 0) {
        if (!vy_vec_push(map->arena, &map->keys, key)) {
            return VY_MK_NONE;
        }
        map->slots[at] = map->keys.count;
    }
    return map->slots[at] - 1;
}

uint32_t vy_mk_map_find(const vy_mk_map *map, vy_mk_key key)
{
    if (map->slot_count == 0) {
        return VY_MK_NONE;
    }
    uint32_t found = map->slots[probe(map, key)];
    return found ? found - 1 : VY_MK_NONE;
}
