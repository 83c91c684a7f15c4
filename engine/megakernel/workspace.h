/* Where named regions lie in one buffer: behind one another, each aligned. Pure. */
#ifndef VY_MEGAKERNEL_WORKSPACE_H
#define VY_MEGAKERNEL_WORKSPACE_H

#include "codegen/base/base.h"

#define VY_MK_MAX_REGIONS 64u

typedef struct vy_mk_region {
    const char *name; /* of its own */
    uint64_t words;   /* of 4 bytes; 0: the region is there and takes nothing */
} vy_mk_region;

typedef struct vy_mk_place {
    uint64_t offset, size; /* in bytes */
} vy_mk_place;

/* Each region begins at the first multiple of `alignment` (bytes, a power of two from 4 on) behind
 * the one before, the first at 0; *out_size is the end of the last, itself rounded up, so that
 * workspaces may lie in a row. limit: bytes that there are; 0: any number. Errors, with out_places
 * and *out_size as they were: INVALID_ARGUMENT: an alignment that is none, more than
 * VY_MK_MAX_REGIONS, a region without a name or with another's, more than 2^64 - 1 bytes or more
 * than the limit; the message names the region that does not fit. */
vyre_result vy_mk_workspace_plan(const vy_mk_region *regions, uint32_t count, uint64_t alignment,
                                 uint64_t limit, vy_mk_place *out_places, uint64_t *out_size,
                                 vyre_diag *diag);
/* The region's number, or `count` where none is called so. */
uint32_t vy_mk_workspace_find(const vy_mk_region *regions, uint32_t count, const char *name);

#endif
