/* Runs of a sequence: submitted, waited for once, and what they left. */
#include "engine/exec/run.h"
#include "engine/exec/sequence.h"

#include <string.h>

static vyre_result submit(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    for (uint32_t i = 0; i < s->command_count; i += VY_MAX_BATCHES) {
        vy_batch batches[VY_MAX_BATCHES];
        uint64_t values[VY_MAX_BATCHES];
        uint32_t count = 0;
        for (; count < VY_MAX_BATCHES && i + count < s->command_count; count++) {
            batches[count] =
                (vy_batch){.commands = &s->commands[i + count].buffer, .command_count = 1};
        }
        vyre_result code =
            vy_queue_submit_batches(s->device, batches, count, "a sequence", values, diag);
        if (code != VYRE_OK) {
            return code;
        }
        s->value = values[count - 1];
        report->submissions++;
        report->chunks += count;
    }
    report->submit_ns = vy_clock_ns() - start;
    report->recordings = 0;
    report->recordings_reused = s->command_count;
    vy_count(s->device, recordings_reused, s->command_count);
    return VYRE_OK;
}

/* What each time that a step ran came to. */
static void read_passes(const vyre_sequence *s, vyre_report *report)
{
    const unsigned char *states = s->states.mapped;
    uint64_t total = vy_sequence_total(s);
    for (uint64_t n = 0; n < total; n++) {
        const vyre_recording *r = s->steps[vy_sequence_step(s, n)];
        uint32_t limit = r->job.shape.passes, passes = limit, state[VY_STATE_WORDS] = {0};
        bool has_until = r->pipeline->has_until, has_converged = true;
        if (vy_sequence_is_counted(r)) {
            memcpy(state, states, sizeof state);
            states += VY_SEQUENCE_STATE_SIZE;
            passes = has_until ? state[vy_state_passes(limit)] : limit;
            has_converged = state[vy_state_flag(limit - 1)] == 0;
            vyre_report step = {.is_folded = 0};
            vy_report_grid(r->pipeline, state, &step);
            report->is_folded |= step.is_folded;
            report->is_grid_clamped |= step.is_grid_clamped;
        } else if (has_until) {
            passes = 1; /* an empty grid */
        }
        report->passes += passes;
        report->passes_saved += limit - passes;
        const vy_trim *trim = &r->instance->trim;
        report->dispatches_executed += (uint64_t)passes * trim->launches;
        report->workgroups_saved += vy_trim_saved(trim, passes);
        if (has_until && !has_converged) {
            report->convergence = VYRE_CONVERGENCE_LIMIT;
        } else if (has_until && report->convergence == VYRE_CONVERGENCE_NONE) {
            report->convergence = VYRE_CONVERGENCE_YES;
        }
    }
}

static vyre_result read_steps(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    for (uint32_t i = 0; i < vy_sequence_step_count(s); i++) {
        vyre_report step;
        vyre_result code = vyre_recording_report(s->steps[i], &step, diag);
        if (code != VYRE_OK) {
            return code;
        }
        report->segments += step.segments;
        report->is_folded |= step.is_folded;
        if (report->record.kind == VYRE_RECORD_NONE) {
            report->record = step.record;
        }
        report->scratch_size += step.scratch_size;
        report->spill_size += step.spill_size;
        report->argument_size += step.argument_size;
        report->staging_size += step.staging_size;
    }
    report->staging_size += s->readback.size + s->states.size;
    vyre_result code = vy_block_invalidate(s->device, &s->states, 0, s->states.size, diag);
    if (code == VYRE_OK) {
        read_passes(s, report);
    }
    return code;
}

static vyre_result read_times(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    uint64_t ticks[VY_TIME_COUNT] = {0};
    if (!s->queries) {
        return VYRE_OK;
    }
    VkResult result = s->device->vk.vkGetQueryPoolResults(
        s->device->device, s->queries, 0, VY_TIME_COUNT, sizeof ticks, ticks, sizeof ticks[0],
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS) {
        return vy_vk_error(s->device, diag, result, "vkGetQueryPoolResults");
    }
    if (s->dispatch_count) {
        report->device_dispatches_ns =
            vy_ticks_to_ns(s->device, ticks[VY_TIME_FIRST], ticks[VY_TIME_LAST]);
    }
    report->device_ns = vy_ticks_to_ns(s->device, ticks[VY_TIME_BEGIN], ticks[VY_TIME_END]);
    report->device_start_ns = vy_device_host_time(s->device, ticks[VY_TIME_BEGIN]);
    return VYRE_OK;
}

static vyre_result read_all(vyre_sequence *s, vyre_report *report, vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    vyre_result code = read_steps(s, report, diag);
    if (code == VYRE_OK) {
        code = read_times(s, report, diag);
    }
    if (code == VYRE_OK) {
        code = vy_block_invalidate(s->device, &s->readback, 0, s->readback.size, diag);
    }
    for (uint32_t i = 0; code == VYRE_OK && i < s->download_count; i++) {
        const vyre_download *d = &s->downloads[i];
        if (d->size) {
            const vy_region *region = &s->regions[s->region_of[i]];
            uint64_t at = region->start + (d->offset - region->range.offset);
            memcpy(d->data, (const unsigned char *)s->readback.mapped + at, (size_t)d->size);
        }
    }
    for (uint32_t i = 0; i < s->region_count; i++) {
        report->download_size += s->regions[i].range.size;
    }
    report->downloads = s->region_count;
    report->readback_ns = vy_clock_ns() - start;
    return code;
}

static void count_run(vyre_device *device, const vyre_report *report)
{
    vy_mutex_lock(&device->counter_mutex);
    device->counters.downloads += report->downloads;
    device->counters.download_size += report->download_size;
    device->counters.passes += report->passes;
    vy_mutex_unlock(&device->counter_mutex);
}

/* Whether it can be submitted now. */
static vyre_result check_ready(const vyre_sequence *s, vyre_diag *diag)
{
    if (!s || !s->device) {
        return vy_invalid(diag, "no sequence was given, or its device was destroyed. Fix: pass one "
                                "that vyre_sequence_create gave");
    }
    for (uint32_t i = 0; i < vy_sequence_step_count(s); i++) {
        if (!s->steps[i]->pipeline) {
            vyre_result code =
                vy_invalid(diag,
                           "the pipeline of step %u was destroyed. Fix: destroy the sequence "
                           "before its pipelines",
                           (unsigned)i);
            if (diag) {
                diag->segment = i;
            }
            return code;
        }
    }
    if (!vy_queue_is_done(s->device, s->value)) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "the sequence's run before has not ended. Fix: wait for it "
                           "(vyre_device_wait), then run it again");
    }
    return VYRE_OK;
}

vyre_result vyre_sequence_run(vyre_sequence *s, uint64_t timeout_ns, vyre_report *out_report,
                              vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    vy_diag_clear(diag);
    vyre_result code = check_ready(s, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vyre_report report = {.strategy = "replay",
                          .strategy_reason = "recordings and sequences replay each segment",
                          .bindings =
                              vy_sequence_step_count(s) ? s->steps[0]->instance->binder->name : "",
                          .dispatches_recorded = s->dispatch_count,
                          .barriers_recorded = s->barriers,
                          .barriers_elided = s->elided,
                          .device_ns = VYRE_NS_NONE,
                          .device_dispatches_ns = VYRE_NS_NONE,
                          .device_start_ns = VYRE_NS_NONE};
    for (uint32_t i = 0; i < vy_sequence_step_count(s); i++) {
        report.is_coarse |= s->steps[i]->job.is_coarse;
    }
    code = submit(s, &report, diag);
    report.enqueue_ns = vy_clock_ns() - start;
    if (code == VYRE_OK) {
        uint64_t wait_start = vy_clock_ns();
        code = vy_queue_wait(s->device, s->value, vy_deadline(timeout_ns), "the sequence", diag);
        report.wait_ns = vy_clock_ns() - wait_start;
        report.waits = 1;
    }
    if (code == VYRE_OK) {
        code = read_all(s, &report, diag);
    }
    if (code == VYRE_OK) {
        count_run(s->device, &report);
    }
    report.wall_ns = vy_clock_ns() - start;
    if (out_report) {
        *out_report = report;
    }
    return code;
}
