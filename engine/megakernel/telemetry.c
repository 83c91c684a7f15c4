/* Figures of a ring, and what follows from them. */
#include "engine/megakernel/telemetry.h"

#include "engine/megakernel/ratio.h"
#include "engine/megakernel/words.h"

/* Words of VYRE_CONTROL_TENANT_FAIRNESS. */
#define TENANT_FAIRNESS_COUNT 32u

/* ---- Telemetry ------------------------------------------------------------------------------- */

static vyre_result check_counts(const vyre_ring_counts *counts, vyre_diag *diag)
{
    uint64_t total = counts->unknown;
    for (uint32_t s = 0; s < VYRE_STATUS_COUNT; s++) {
        total += counts->by_status[s];
    }
    uint64_t idle = (uint64_t)counts->by_status[VYRE_STATUS_EMPTY] +
                    counts->by_status[VYRE_STATUS_DONE] + counts->queue_depth;
    if (total != counts->slot_count || idle != counts->slot_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the counts of a ring of %u slots, %u of them waiting, do not add up. "
                           "Fix: pass them as vyre_ring_count gave them",
                           counts->slot_count, counts->queue_depth);
    }
    return VYRE_OK;
}

static vyre_result check_control(const void *control, size_t size, vyre_diag *diag)
{
    vyre_result result = vy_mk_check_memory(control, size, 4, "a control buffer", diag);
    if (!result && size / 4 < VYRE_CONTROL_OBSERVABLES) {
        result = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                             "a control buffer of %zu bytes lacks words that telemetry reads. Fix: "
                             "pass all of it, at least %u bytes",
                             size, 4 * (unsigned)VYRE_CONTROL_OBSERVABLES);
    }
    return result;
}

static vy_mk_fairness read_fairness(const void *control, uint32_t first, uint32_t count)
{
    vy_mk_fairness fairness = {0, 0};
    uint32_t most = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t claims = vy_mk_get(control, first + i);
        fairness.total += claims;
        most = vy_mk_max(most, claims);
        least = claims ? vy_mk_min(least, claims) : least;
    }
    fairness.skew = most ? most - least : 0;
    return fairness;
}

static uint32_t count_hot_opcodes(const void *control)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < VYRE_METRIC_COUNT; i++) {
        count += vy_mk_get(control, VYRE_CONTROL_METRICS + i) != 0 ? 1 : 0;
    }
    return count;
}

vyre_result vy_mk_telemetry_read(const vyre_ring_counts *counts, const void *control, size_t size,
                                 vy_mk_telemetry *out_telemetry, vyre_diag *diag)
{
    *out_telemetry = (vy_mk_telemetry){0};
    vyre_result result = check_control(control, size, diag);
    result = result ? result : check_counts(counts, diag);
    if (result) {
        return result;
    }
    uint32_t total = counts->slot_count, empty = counts->by_status[VYRE_STATUS_EMPTY];
    *out_telemetry = (vy_mk_telemetry){
        .slot_count = total,
        .queue_depth = counts->queue_depth,
        .idle_ppm = vy_mk_ratio(empty, total, VY_MK_PPM),
        .density_bps = vy_mk_ratio(counts->queue_depth, total, VY_MK_BPS),
        .occupancy_bps = vy_mk_ratio(total - empty, total, VY_MK_BPS),
        .fault_slot_count = counts->by_status[VYRE_STATUS_FAULT],
        .requeue_slot_count = counts->by_status[VYRE_STATUS_REQUEUE],
        .done_count = vy_mk_get(control, VYRE_CONTROL_DONE_COUNT),
        .denied_count = vy_mk_get(control, VYRE_CONTROL_DENIED_COUNT),
        .fault_count = vy_mk_get(control, VYRE_CONTROL_FAULT_COUNT),
        .unknown_count = vy_mk_get(control, VYRE_CONTROL_UNKNOWN_COUNT),
        .requeue_count = vy_mk_get(control, VYRE_CONTROL_REQUEUE_COUNT),
        .hot_opcode_count = count_hot_opcodes(control),
        .tenant = read_fairness(control, VYRE_CONTROL_TENANT_FAIRNESS, TENANT_FAIRNESS_COUNT),
        .priority = read_fairness(control, VYRE_CONTROL_PRIORITY_FAIRNESS, VYRE_PRIORITY_COUNT),
    };
    return VYRE_OK;
}

/* ---- Watchdog -------------------------------------------------------------------------------- */

vyre_result vy_mk_watch(vy_mk_watchdog *watchdog, const vy_mk_telemetry *telemetry,
                        vy_mk_health *out_health, vyre_diag *diag)
{
    *out_health = (vy_mk_health){0, false};
    vy_diag_clear(diag);
    if (watchdog->has_sample && telemetry->done_count < watchdog->done_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u slots are done where %u were before. Fix: begin with a new watchdog "
                           "when a control buffer is encoded anew",
                           telemetry->done_count, watchdog->done_count);
    }
    if (watchdog->has_sample) {
        bool has_faults = telemetry->fault_count > 0 || telemetry->fault_slot_count > 0;
        out_health->done_delta = telemetry->done_count - watchdog->done_count;
        out_health->is_stall_suspected =
            telemetry->queue_depth > 0 && out_health->done_delta == 0 && !has_faults;
    }
    watchdog->done_count = telemetry->done_count;
    watchdog->has_sample = true;
    return VYRE_OK;
}

/* ---- Feedback -------------------------------------------------------------------------------- */

vyre_result vy_mk_count_hot_windows(const vy_mk_policy *policy, const vy_mk_window *windows,
                                    uint32_t count, uint32_t *out_count, vyre_diag *diag)
{
    uint32_t hot = 0;
    *out_count = 0;
    vy_diag_clear(diag);
    for (uint32_t i = 0; i < count; i++) {
        const vy_mk_window *window = &windows[i];
        uint64_t demand = (uint64_t)window->required_count + window->look_ahead_count;
        if (demand > UINT32_MAX) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "the window of ticket %u and opcode %u asks for %u slots and %u "
                               "ahead, more than 32 bits count. Fix: count the slots of one ring",
                               window->ticket, window->opcode, window->required_count,
                               window->look_ahead_count);
        }
        hot += demand >= policy->window_demand ? 1 : 0;
    }
    *out_count = hot;
    return VYRE_OK;
}

vyre_result vy_mk_feed_back(const vy_mk_policy *policy, const vy_mk_telemetry *telemetry,
                            const vy_mk_window *windows, uint32_t window_count,
                            vy_mk_request *request, vyre_diag *diag)
{
    uint32_t hot_windows = 0;
    vyre_result result = vy_mk_count_hot_windows(policy, windows, window_count, &hot_windows, diag);
    if (result) {
        return result;
    }
    request->node_count = telemetry->slot_count;
    request->edge_count = telemetry->queue_depth;
    request->density_bps = telemetry->density_bps;
    request->hot_opcode_count = telemetry->hot_opcode_count;
    request->hot_window_count = hot_windows;
    request->requeue_count = vy_mk_max(telemetry->requeue_count, telemetry->requeue_slot_count);
    return VYRE_OK;
}
