/* What a dispatch allocates, and whether it may. */
#include "engine/megakernel/budget.h"

#include "engine/megakernel/ratio.h"

#include <inttypes.h>

static vyre_result too_large(vyre_diag *diag)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                       "the device memory of a dispatch exceeds 64 bits of bytes. Fix: dispatch "
                       "fewer items at a time, and pass sizes that are really allocated");
}

vyre_result vy_mk_arena_size(const vy_mk_budget *budget, uint64_t *out_size, vyre_diag *diag)
{
    uint64_t alignment = budget->alignment;
    uint64_t total = 0;
    *out_size = 0;
    vy_diag_clear(diag);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "an alignment of %" PRIu64 " bytes is no power of two. Fix: pass the "
                           "device's minStorageBufferOffsetAlignment",
                           alignment);
    }
    for (uint32_t i = 0; i < budget->count; i++) {
        uint64_t size = 0;
        if (!vy_mk_add(budget->sizes[i], alignment - 1, &size) ||
            !vy_mk_add(total, size & ~(alignment - 1), &total)) {
            return too_large(diag);
        }
    }
    *out_size = total;
    return VYRE_OK;
}

vyre_result vy_mk_budget_check(const vy_mk_budget *budget, uint64_t *out_size, vyre_diag *diag)
{
    uint64_t arena = 0, size = 0;
    *out_size = 0;
    vyre_result result = vy_mk_arena_size(budget, &arena, diag);
    if (result) {
        return result;
    }
    if (budget->arena_count == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a dispatch has no arena to run in. Fix: count its own among those in "
                           "flight");
    }
    if (!vy_mk_mul(arena, budget->arena_count, &size) ||
        !vy_mk_add(size, budget->policy_size, &size)) {
        return too_large(diag);
    }
    *out_size = size;
    if (budget->budget_size != 0 && size > budget->budget_size) {
        return vy_diag_set(diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, (vy_loc){0, 0},
                           "a dispatch needs %" PRIu64 " bytes of device memory (%" PRIu64
                           ", and %u arenas of %" PRIu64 ") and its budget is %" PRIu64
                           ". Fix: raise the budget, keep fewer dispatches in flight, or dispatch "
                           "fewer items at a time",
                           size, budget->policy_size, budget->arena_count, arena,
                           budget->budget_size);
    }
    return VYRE_OK;
}
