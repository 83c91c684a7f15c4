/* Which of several measured ways to scan is taken. Pure. */
#include "codegen/base/base.h"
#include "vyre/scan.h"

const uint32_t vyre_scan_default_candidates[7] = {4096, 2048, 1024, 512, 256, 128, 64};

/* Of equally fast ones longer segments: there are fewer of them, and fewer bytes walked twice. */
static bool is_better(const vyre_scan_measurement *a, const vyre_scan_measurement *b)
{
    return a->best_ns < b->best_ns ||
           (a->best_ns == b->best_ns && a->segment_size > b->segment_size);
}

vyre_result vyre_scan_choose(const vyre_scan_measurement *measurements, uint32_t count,
                             uint32_t *out_index, vyre_diag *diag)
{
    uint32_t best = UINT32_MAX;
    vy_diag_clear(diag);
    if (!out_index || (count && !measurements)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%s is NULL. Fix: give the measurements and where their best goes",
                           out_index ? "measurements" : "out_index");
    }
    *out_index = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (measurements[i].best_ns != VYRE_NS_NONE &&
            (best == UINT32_MAX || is_better(&measurements[i], &measurements[best]))) {
            best = i;
        }
    }
    if (best == UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, (vy_loc){0, 0},
                           "none of %u candidates was scanned completely and in time. Fix: give "
                           "more time (timeout_ns), or other lengths",
                           (unsigned)count);
    }
    *out_index = best;
    return VYRE_OK;
}
