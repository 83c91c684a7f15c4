/* vyre_dispatch: check, prepare, stage, run, read back. */
#include "engine/exec/replay.h"

#include <string.h>

static vyre_result check_pending(vyre_pipeline *p, vyre_diag *diag)
{
    if (p->pending == 0) {
        return VYRE_OK;
    }
    if (!vy_queue_is_done(p->device, p->pending)) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "an earlier dispatch of '%s' has not ended. Fix: wait for it "
                           "(vyre_device_wait), then call again",
                           vyre_kernel_name(p->kernel));
    }
    p->pending = 0;
    return VYRE_OK;
}

static vyre_result stage_inputs(vyre_pipeline *p, const vy_job *job, vyre_report *report,
                                vyre_diag *diag)
{
    vy_instance *in = p->instance;
    for (uint32_t i = 0; i < in->prologue_count; i++) {
        const vy_command *copy = &in->prologue[i];
        if (copy->kind == VY_COMMAND_COPY && copy->source == VY_MEM_UPLOAD) {
            memcpy((unsigned char *)in->upload.mapped + copy->source_offset,
                   job->params->bindings[copy->target].in, (size_t)copy->size);
            report->upload_size += copy->size;
        }
    }
    if (in->upload_size == 0) {
        return VYRE_OK;
    }
    return vy_block_flush(p->device, &in->upload, 0, in->upload_size, diag);
}

static vyre_result read_outputs(vyre_pipeline *p, const vy_job *job, vyre_report *report,
                                vyre_diag *diag)
{
    vy_instance *in = p->instance;
    if (in->epilogue_count == 0) {
        return VYRE_OK;
    }
    vyre_result code = vy_block_invalidate(p->device, &in->readback, 0, in->readback_size, diag);
    for (uint32_t i = 0; code == VYRE_OK && i < in->epilogue_count; i++) {
        const vy_command *copy = &in->epilogue[i];
        if (copy->source < VYRE_MAX_BUFFERS) {
            memcpy(job->params->bindings[copy->source].out,
                   (const unsigned char *)in->readback.mapped + copy->target_offset,
                   (size_t)copy->size);
            report->download_size += copy->size;
        }
    }
    if (code == VYRE_OK && job->records_size) {
        vy_report_records(p, in, &report->record);
    }
    return code;
}

static void count_transfers(vyre_device *device, const vyre_report *report)
{
    vy_mutex_lock(&device->counter_mutex);
    device->counters.uploads += report->upload_size > 0;
    device->counters.upload_size += report->upload_size;
    device->counters.downloads += report->download_size > 0;
    device->counters.download_size += report->download_size;
    vy_mutex_unlock(&device->counter_mutex);
}

static vyre_result run(vyre_pipeline *p, const vy_job *job, uint64_t deadline_ns,
                       vyre_report *report, uint64_t *out_value, vyre_diag *diag)
{
    vyre_result code = vy_pipeline_prepare(p, job->shape.is_folded, diag);
    if (code == VYRE_OK && !p->instance) {
        code = vy_instance_create(p, VY_MAX_LANES, true, &p->instance, diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_prepare(p, p->instance, job, true, diag);
    }
    if (code == VYRE_OK) {
        code = stage_inputs(p, job, report, diag);
    }
    if (code == VYRE_OK) {
        vy_report_memory(p->instance, report);
        code = vy_replay_run(p, p->instance, job, deadline_ns, report, out_value, diag);
    }
    if (code == VYRE_ERROR_TIMEOUT) {
        p->pending = *out_value;
        vy_count(p->device, parked, 1);
    } else if (code != VYRE_OK) {
        /* What was submitted before the failure must not outlive the call. */
        vy_queue_drain(p->device, *out_value);
    } else {
        code = read_outputs(p, job, report, diag);
        count_transfers(p->device, report);
    }
    return code;
}

vyre_result vyre_dispatch(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                          vyre_report *out_report, vyre_diag *diag)
{
    vyre_report report = {.device_dispatches_ns = VYRE_NS_NONE, .device_ns = VYRE_NS_NONE};
    uint64_t start = vy_clock_ns();
    vy_diag_clear(diag);
    if (out_report) {
        *out_report = report;
    }
    if (!pipeline || !params) {
        return vy_invalid(diag, "no pipeline or no parameters were given. Fix: pass both");
    }
    vyre_result code = check_pending(pipeline, diag);
    vy_job job;
    if (code == VYRE_OK) {
        code = vy_job_init(pipeline, params, false, &job, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    uint64_t value = 0;
    code = run(pipeline, &job, vy_deadline(params->timeout_ns), &report, &value, diag);
    vy_job_finish(pipeline, &job, value);
    report.wall_ns = vy_clock_ns() - start;
    if (out_report) {
        *out_report = report;
    }
    return code;
}
