/* Sums and shares of a report. */
#include "engine/megakernel/report.h"

#include "engine/megakernel/ratio.h"

/* ---- Items ----------------------------------------------------------------------------------- */

static uint32_t count_credit(const vy_mk_outcome *outcome)
{
    uint32_t credit = 0;
    uint32_t duplicates = outcome->initial_count - outcome->published_count;
    if (outcome->done_count < outcome->published_count) {
        return 0;
    }
    for (uint32_t i = 0; i < outcome->pair_count && credit < duplicates; i++) {
        credit += outcome->pairs[i].early < outcome->initial_count ? 1 : 0;
    }
    return credit;
}

vyre_result vy_mk_report_items(const vy_mk_outcome *outcome, vy_mk_items *out_items,
                               vyre_diag *diag)
{
    *out_items = (vy_mk_items){0};
    vy_diag_clear(diag);
    if (outcome->published_count > outcome->initial_count) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u items were published of a queue of %u. Fix: count the items before "
                           "duplicates are taken out",
                           outcome->published_count, outcome->initial_count);
    }
    uint64_t counted = (uint64_t)outcome->done_count + outcome->denied_count + outcome->fault_count;
    if (counted > outcome->published_count) {
        return vy_diag_set(diag, VYRE_ERROR_INTERNAL, (vy_loc){0, 0},
                           "the kernel counted %u slots done, %u denied and %u faulted of %u that "
                           "were published. Fix: see whether an item writes the control words that "
                           "count, and else report this with the queue",
                           outcome->done_count, outcome->denied_count, outcome->fault_count,
                           outcome->published_count);
    }
    vy_mk_items items = {
        .initial = outcome->initial_count,
        .done = outcome->done_count,
        .credited = count_credit(outcome),
        .denied = outcome->denied_count,
        .faulted = outcome->fault_count,
    };
    items.processed = items.done + items.credited; /* at most initial, as both parts are bounded */
    items.not_processed = items.initial - items.processed;
    items.remaining = items.not_processed - items.denied - items.faulted;
    *out_items = items;
    return VYRE_OK;
}

/* ---- Bytes and time -------------------------------------------------------------------------- */

static bool sum(const uint64_t *sizes, uint32_t count, uint64_t *out_sum)
{
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++) {
        fits = vy_mk_add(*out_sum, sizes[i], out_sum);
    }
    return fits;
}

vyre_result vy_mk_report_bytes(const uint64_t *input_sizes, uint32_t input_count,
                               const uint64_t *output_sizes, uint32_t output_count,
                               vy_mk_bytes *out_bytes, vyre_diag *diag)
{
    vy_mk_bytes bytes = {0, 0, 0};
    *out_bytes = bytes;
    vy_diag_clear(diag);
    if (!sum(input_sizes, input_count, &bytes.uploaded) ||
        !sum(output_sizes, output_count, &bytes.read_back) ||
        !vy_mk_add(bytes.uploaded, bytes.read_back, &bytes.moved)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the bytes that a dispatch moves exceed 64 bits. Fix: pass sizes that "
                           "are really moved");
    }
    *out_bytes = bytes;
    return VYRE_OK;
}

vyre_result vy_mk_report_elapsed(uint64_t seconds, uint32_t nanoseconds, uint64_t *out_ns,
                                 vyre_diag *diag)
{
    uint64_t ns = 0;
    *out_ns = 0;
    vy_diag_clear(diag);
    if (!vy_mk_mul(seconds, 1000000000u, &ns) || !vy_mk_add(ns, nanoseconds, &ns)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a duration exceeds 64 bits of nanoseconds. Fix: measure with a clock "
                           "that does not jump");
    }
    *out_ns = ns;
    return VYRE_OK;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

uint32_t vy_mk_occupancy_proxy_bps(uint64_t published_count, uint32_t group_count, uint32_t width)
{
    uint64_t lanes = (uint64_t)vy_mk_max(group_count, 1) * vy_mk_max(width, 1);
    return vy_mk_ratio(published_count, lanes, VY_MK_BPS);
}

uint32_t vy_mk_frontier_density_bps(uint64_t published_count, uint64_t slot_count)
{
    return vy_mk_ratio(published_count, slot_count ? slot_count : 1, VY_MK_BPS);
}

uint32_t vy_mk_lane_busy_bps(uint32_t executed_count, uint32_t group_count, uint32_t width,
                             uint32_t round_count)
{
    uint64_t turns = (uint64_t)group_count * width;
    if (!vy_mk_mul(turns, round_count, &turns)) {
        return 0; /* 2^32 slots are less than a ten-thousandth of 2^64 turns */
    }
    return vy_mk_ratio(executed_count, turns, VY_MK_BPS);
}
