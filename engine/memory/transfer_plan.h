/* What a list of transfers comes to: ranges fused for staging, and which of the commands must wait
 * for earlier ones. Plain data in, plain data out; nothing is allocated. */
#ifndef VY_TRANSFER_PLAN_H
#define VY_TRANSFER_PLAN_H

#include "codegen/base/base.h"

/* Bytes of a buffer; `key` tells buffers apart. */
typedef struct vy_range {
    uint64_t key, offset, size;
} vy_range;

/* A range with its place among the ones that were given. */
typedef struct vy_placed_range {
    vy_range range;
    uint32_t index;
} vy_placed_range;

/* A range that is copied by one command: the union of ranges that touch or overlap. `start`: where
 * it lies in staging. */
typedef struct vy_region {
    vy_range range;
    uint64_t start;
} vy_region;

#define VY_REGION_ALIGNMENT 16u
#define VY_NO_REGION        UINT32_MAX

bool vy_ranges_overlap(const vy_range *a, const vy_range *b);

typedef struct vy_fused {
    uint32_t region_count;
    uint64_t size; /* of staging */
} vy_fused;

/* Sorts `ranges` (count of them, overwritten) and writes regions, sorted by key and offset, and for
 * each index the region that holds its range (VY_NO_REGION where that is empty). Both outputs have
 * room for `count`. Regions of other keys, or with a gap between, stay apart. False where staging
 * would pass 2^63 bytes. */
bool vy_fuse(vy_placed_range *ranges, uint32_t count, vy_region *out_regions,
             uint32_t *out_region_of, vy_fused *out_fused);
/* Whether one of the regions (as vy_fuse makes them) holds all of `range`. */
bool vy_regions_cover(const vy_region *regions, uint32_t count, const vy_range *range);

/* What one command reads and writes; size 0: nothing. */
typedef struct vy_access {
    vy_range read, write;
} vy_access;

typedef struct vy_point {
    uint64_t key, offset;
} vy_point;

/* Room for vy_find_barriers: 4 points and 32 words for each command. */
typedef struct vy_hazard_room {
    vy_point *points;
    uint32_t *words;
} vy_hazard_room;

/* out_barriers[i]: a barrier stands before command i, because it writes what one behind the last
 * barrier reads or writes, or reads what that writes. As few as there can be in this order. */
void vy_find_barriers(const vy_access *accesses, uint32_t count, const vy_hazard_room *room,
                      bool *out_barriers);

#endif
