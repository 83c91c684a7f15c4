/* Widths and grids. */
#include "engine/megakernel/geometry.h"

#include "engine/megakernel/ratio.h"

#include <inttypes.h>

static vyre_result check_limits(const vy_mk_limits *limits, vyre_diag *diag)
{
    const struct {
        const char *name;
        uint32_t value;
    } needed[] = {
        {"maxComputeWorkGroupSize[0]", limits->max_width},
        {"maxComputeWorkGroupInvocations", limits->max_invocations},
        {"maxComputeWorkGroupCount[0]", limits->max_groups},
    };
    for (size_t i = 0; i < VY_COUNT_OF(needed); i++) {
        if (needed[i].value == 0) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "the device's %s is 0, and nothing fits in it. Fix: pass the limits "
                               "as the driver reports them, or use another device",
                               needed[i].name);
        }
    }
    return VYRE_OK;
}

static uint32_t max_width(const vy_mk_limits *limits)
{
    return vy_mk_min(limits->max_width, limits->max_invocations);
}

/* ---- Reference ------------------------------------------------------------------------------- */

static uint32_t reference_workers(const vy_mk_limits *limits, uint32_t asked)
{
    if (asked != 0) {
        return vy_mk_min(asked, limits->max_groups);
    }
    uint32_t least =
        limits->max_invocations >= VY_MK_POWERFUL_INVOCATIONS ? VY_MK_POWERFUL_WORKERS : 1;
    uint32_t share = vy_mk_min(limits->max_groups / VY_MK_OCCUPANCY_DIVISOR, VY_MK_MAX_GROUPS);
    return vy_mk_min(vy_mk_max(share, least), limits->max_groups);
}

vyre_result vy_mk_reference_plan(const vy_mk_limits *limits, uint32_t queue_length,
                                 uint32_t worker_count, vy_mk_reference *out_reference,
                                 vyre_diag *diag)
{
    *out_reference = (vy_mk_reference){0};
    vy_diag_clear(diag);
    vyre_result result = check_limits(limits, diag);
    if (result) {
        return result;
    }
    uint32_t workers = reference_workers(limits, worker_count);
    uint32_t width = vy_mk_min(workers, limits->max_width);
    uint32_t covering = (uint32_t)vy_mk_div_up(vy_mk_max(queue_length, 1), width);
    out_reference->worker_count = workers;
    out_reference->width = width;
    out_reference->slot_count = (uint64_t)covering * width;
    out_reference->covering_count = covering;
    out_reference->group_count = vy_mk_min(vy_mk_min(covering, workers), VY_MK_MAX_GROUPS);
    return VYRE_OK;
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static vyre_result check_subgroup(const vy_mk_limits *limits, vyre_diag *diag)
{
    uint32_t size = limits->subgroup_size;
    if (size == 0 || (size & (size - 1)) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the device's subgroup size is %u, which is no power of two. Fix: pass "
                           "the size as the driver reports it",
                           size);
    }
    if (size > max_width(limits)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a subgroup of %u invocations does not fit in a workgroup of %u. Fix: "
                           "pass the limits as the driver reports them",
                           size, max_width(limits));
    }
    return VYRE_OK;
}

static vyre_result choose_multiple(const vy_mk_limits *limits, uint32_t asked,
                                   uint32_t *out_multiple, vyre_diag *diag)
{
    uint32_t fitting = max_width(limits) / limits->subgroup_size;
    if (asked == 0) {
        uint32_t preferred = vy_mk_min(fitting, VY_MK_PREFERRED_WIDTH / limits->subgroup_size);
        *out_multiple = VY_MK_MAX_MULTIPLE;
        while (*out_multiple > 1 && *out_multiple > preferred) {
            *out_multiple /= 2;
        }
        return VYRE_OK;
    }
    if (asked > VY_MK_MAX_MULTIPLE || (asked & (asked - 1)) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a workgroup of %u subgroups is none that a queue is drained by. Fix: "
                           "ask for 1, 2, 4 or 8, or for 0, which chooses",
                           asked);
    }
    if (asked > fitting) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u subgroups of %u invocations do not fit in the device's workgroups "
                           "of %u. Fix: ask for fewer, or for 0, which chooses",
                           asked, limits->subgroup_size, max_width(limits));
    }
    *out_multiple = asked;
    return VYRE_OK;
}

/* Slots and lanes together that leave the cursor, and what lanes add to it, in 32 bits: beyond the
 * slots it gets as far as the last claim reaches, and then once by each subgroup. */
static uint32_t cursor_room(const vy_mk_limits *limits)
{
    return UINT32_MAX - (limits->subgroup_size - 1);
}

/* Workgroups that the machine keeps resident at the share asked for, at least one. */
static uint64_t machine_groups(const vy_mk_limits *limits, uint32_t width, uint32_t share_bps)
{
    uint64_t units = limits->unit_count ? limits->unit_count : VY_MK_ASSUMED_UNITS;
    uint64_t groups = units * VY_MK_LANES_PER_UNIT / width;
    if (share_bps != 0 && share_bps < VY_MK_BPS) {
        groups = groups * share_bps / VY_MK_BPS; /* below 2^42 * 10^4 */
    }
    return groups ? groups : 1;
}

static uint32_t count_groups(const vy_mk_limits *limits, const vy_mk_launch_request *request,
                             uint32_t width)
{
    uint64_t bounds[] = {
        machine_groups(limits, width, request->share_bps),
        limits->max_groups,
        request->group_cap ? request->group_cap : UINT32_MAX,
        (cursor_room(limits) - request->queue_length) / width,
    };
    uint64_t groups = vy_mk_div_up(request->queue_length, width);
    for (size_t i = 0; i < VY_COUNT_OF(bounds); i++) {
        groups = groups < bounds[i] ? groups : bounds[i];
    }
    return (uint32_t)groups;
}

vyre_result vy_mk_launch_plan(const vy_mk_limits *limits, const vy_mk_launch_request *request,
                              vy_mk_launch *out_launch, vyre_diag *diag)
{
    *out_launch = (vy_mk_launch){0};
    vy_diag_clear(diag);
    vyre_result result = check_limits(limits, diag);
    result = result ? result : check_subgroup(limits, diag);
    uint32_t multiple = 0;
    result = result ? result : choose_multiple(limits, request->multiple, &multiple, diag);
    if (result) {
        return result;
    }
    uint32_t width = multiple * limits->subgroup_size;
    uint64_t length = request->queue_length;
    uint32_t longest = cursor_room(limits) - width;
    if (length > longest) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a queue of %" PRIu64 " slots would wrap the 32-bit cursor that workers "
                           "of %u lanes share. Fix: dispatch at most %u at a time",
                           length, width, longest);
    }
    out_launch->multiple = multiple;
    out_launch->width = width;
    if (length != 0) {
        out_launch->group_count = count_groups(limits, request, width);
        out_launch->lane_count = width * out_launch->group_count;
        out_launch->round_count = (uint32_t)vy_mk_div_up(length, out_launch->lane_count);
    }
    return VYRE_OK;
}
