/* Regions of one buffer. */
#include "engine/megakernel/workspace.h"

#include "engine/megakernel/ratio.h"

#include <string.h>

uint32_t vy_mk_workspace_find(const vy_mk_region *regions, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(regions[i].name, name) == 0) {
            return i;
        }
    }
    return count;
}

static vyre_result check_regions(const vy_mk_region *regions, uint32_t count, uint64_t alignment,
                                 vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (alignment < 4 || (alignment & (alignment - 1)) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "an alignment of %llu bytes is none. Fix: pass a power of two from 4 on",
                           (unsigned long long)alignment);
    }
    if (count > VY_MK_MAX_REGIONS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a workspace of %u regions has more than %u. Fix: use several", count,
                           VY_MK_MAX_REGIONS);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!regions[i].name || !regions[i].name[0]) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "region %u of a workspace has no name. Fix: give it one", i);
        }
        uint32_t first = vy_mk_workspace_find(regions, i, regions[i].name);
        if (first < i) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "regions %u and %u of a workspace are both called '%s'. Fix: give "
                               "each a name of its own",
                               first, i, regions[i].name);
        }
    }
    return VYRE_OK;
}

vyre_result vy_mk_workspace_plan(const vy_mk_region *regions, uint32_t count, uint64_t alignment,
                                 uint64_t limit, vy_mk_place *out_places, uint64_t *out_size,
                                 vyre_diag *diag)
{
    vy_mk_place places[VY_MK_MAX_REGIONS];
    uint64_t end = 0;
    vyre_result code = check_regions(regions, count, alignment, diag);
    if (code) {
        return code;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = 0;
        places[i].offset = end;
        if (!vy_mk_mul(regions[i].words, 4, &size) || !vy_mk_add(end, size, &end) ||
            !vy_mk_add(end, alignment - 1, &end)) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "region '%s' of %llu words ends behind 2^64 bytes. Fix: pass the "
                               "words that are really needed",
                               regions[i].name, (unsigned long long)regions[i].words);
        }
        end &= ~(alignment - 1);
        places[i].size = size;
        if (limit && end > limit) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "region '%s' ends at byte %llu of a workspace of %llu. Fix: make "
                               "the workspace larger, or regions smaller",
                               regions[i].name, (unsigned long long)end, (unsigned long long)limit);
        }
    }
    if (count > 0) {
        memcpy(out_places, places, count * sizeof *places);
    }
    *out_size = end;
    return VYRE_OK;
}
