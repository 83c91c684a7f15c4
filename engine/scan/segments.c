/* Files cut into segments. Pure. */
#include "codegen/base/base.h"
#include "vyre/scan.h"

static uint64_t count_of(uint32_t file_size, uint32_t segment_size)
{
    return ((uint64_t)file_size + segment_size - 1) / segment_size;
}

static vyre_result check(const uint32_t *file_sizes, uint32_t file_count, uint32_t segment_size,
                         const vyre_scan_segment *out_segments, uint32_t capacity,
                         uint64_t *out_total, vyre_diag *diag)
{
    *out_total = 0;
    if ((file_count && !file_sizes) || (capacity && !out_segments)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%s is NULL. Fix: give as many as are counted, or count none",
                           file_count && !file_sizes ? "file_sizes" : "out_segments");
    }
    if (segment_size == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "segment_size is 0. Fix: use at least 1, or VYRE_SEGMENT_WHOLE for a "
                           "segment for each file");
    }
    for (uint32_t i = 0; i < file_count; i++) {
        *out_total += count_of(file_sizes[i], segment_size);
        if (*out_total > UINT32_MAX) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "the files up to number %u make more than 2^32 - 1 segments of %u "
                               "bytes. Fix: use longer segments, or fewer files at once",
                               (unsigned)i, (unsigned)segment_size);
        }
    }
    return VYRE_OK;
}

vyre_result vyre_scan_plan_segments(const uint32_t *file_sizes, uint32_t file_count,
                                    uint32_t segment_size, uint32_t overlap,
                                    vyre_scan_segment *out_segments, uint32_t capacity,
                                    uint32_t *out_count, vyre_diag *diag)
{
    uint64_t total = 0;
    uint32_t count = 0;
    vy_diag_clear(diag);
    if (!out_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "out_count is NULL. Fix: say where the number of segments goes");
    }
    *out_count = 0;
    vyre_result result =
        check(file_sizes, file_count, segment_size, out_segments, capacity, &total, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t file = 0; file < file_count && count < capacity; file++) {
        uint32_t size = file_sizes[file];
        for (uint32_t start = 0; start < size && count < capacity;) {
            uint32_t end = size - start > segment_size ? start + segment_size : size;
            uint32_t before = start < overlap ? start : overlap;
            out_segments[count++] = (vyre_scan_segment){file, start - before, start, end};
            start = end;
        }
    }
    *out_count = (uint32_t)total;
    return VYRE_OK;
}
