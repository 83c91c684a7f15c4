/* vyre_dispatch, at once or later. */
#include "engine/exec/debug.h"
#include "engine/exec/run.h"

#include <string.h>

static vyre_result check_pipeline(const vyre_pipeline *pipeline, const void *params,
                                  vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!pipeline || !params) {
        return vy_invalid(diag, "no pipeline or no parameters were given. Fix: pass both");
    }
    if (!pipeline->device) {
        return vy_invalid(diag, "the pipeline's device was destroyed. Fix: destroy the pipeline");
    }
    return VYRE_OK;
}

/* The call's own copy: short structs of older callers are made whole. */
static vyre_result start(vyre_pipeline *pipeline, const vyre_dispatch_params *given,
                         uint32_t last_count, vy_marks *marks, vy_run **out_run, vyre_diag *diag)
{
    vyre_dispatch_params params;
    vyre_result code = check_pipeline(pipeline, given, diag);
    if (code == VYRE_OK) {
        code = vy_params_read(vyre_dispatch_params, &params, given, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    vy_run *run = vy_run_take(pipeline);
    if (!run) {
        return vy_diag_no_memory(diag);
    }
    run->last_count = last_count;
    run->marks = marks;
    code = vy_run_start(pipeline, &params, run, diag);
    *out_run = code == VYRE_OK ? run : NULL;
    return code;
}

static vyre_result run_to_end(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                              vy_marks *marks, vyre_report *out_report, vyre_diag *diag)
{
    uint64_t begin = vy_clock_ns();
    if (out_report) {
        *out_report = (vyre_report){.device_dispatches_ns = VYRE_NS_NONE,
                                    .device_ns = VYRE_NS_NONE,
                                    .device_start_ns = VYRE_NS_NONE};
    }
    vy_run *run = NULL;
    vyre_result code = start(pipeline, params, 0, marks, &run, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vyre_device *device = pipeline->device;
    uint64_t timeout = params->timeout_ns;
    uint64_t deadline = timeout == 0 || timeout > UINT64_MAX - begin ? UINT64_MAX : begin + timeout;
    code = vy_run_wait(device, run, deadline, diag);
    if (code == VYRE_OK) {
        return vy_run_finish(device, run, out_report, diag);
    }
    if (code == VYRE_ERROR_TIMEOUT) {
        vy_run_abandon(device, run);
    }
    return code;
}

vyre_result vyre_dispatch(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                          vyre_report *out_report, vyre_diag *diag)
{
    return run_to_end(pipeline, params, NULL, out_report, diag);
}

vyre_result vy_dispatch_marked(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                               vy_marks *marks, vyre_report *out_report, vyre_diag *diag)
{
    vyre_dispatch_params timed;
    vyre_result code = check_pipeline(pipeline, params, diag);
    if (code == VYRE_OK) {
        code = vy_params_read(vyre_dispatch_params, &timed, params, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    timed.strategy = VYRE_STRATEGY_REPLAY;
    timed.flags |= VYRE_DISPATCH_TIMED;
    return run_to_end(pipeline, &timed, marks, out_report, diag);
}

static vyre_result start_async(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                               uint32_t last_count, vyre_ticket *out_ticket, vyre_diag *diag)
{
    if (!out_ticket) {
        vy_diag_clear(diag);
        return vy_invalid(diag, "out_ticket is NULL. Fix: pass where the ticket goes");
    }
    *out_ticket = (vyre_ticket){0};
    vy_run *run = NULL;
    vyre_result code = start(pipeline, params, last_count, NULL, &run, diag);
    if (code == VYRE_OK) {
        *out_ticket = vy_run_ticket(pipeline->device, run);
    }
    return code;
}

vyre_result vyre_dispatch_async(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                                vyre_ticket *out_ticket, vyre_diag *diag)
{
    return start_async(pipeline, params, 0, out_ticket, diag);
}

vyre_result vy_dispatch_prefix(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                               uint32_t executions, vyre_ticket *out_ticket, vyre_diag *diag)
{
    vyre_dispatch_params whole;
    vyre_result code = check_pipeline(pipeline, params, diag);
    if (code == VYRE_OK) {
        code = vy_params_read(vyre_dispatch_params, &whole, params, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    whole.strategy = executions ? VYRE_STRATEGY_REPLAY : whole.strategy;
    return start_async(pipeline, &whole, executions, out_ticket, diag);
}

vyre_result vyre_dispatch_query_outputs(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                                        vyre_output *out_outputs, uint32_t capacity,
                                        uint32_t *out_count, vyre_diag *diag)
{
    vyre_result code = check_pipeline(pipeline, params, diag);
    if (code == VYRE_OK && (!out_count || (capacity && !out_outputs))) {
        code = vy_invalid(diag, "out_count or out_outputs is NULL. Fix: pass where they go");
    }
    if (code != VYRE_OK) {
        return code;
    }
    *out_count = 0;
    vy_run *run = vy_run_take(pipeline); /* for its memory */
    if (!run) {
        return vy_diag_no_memory(diag);
    }
    vy_scratch_reset(&run->scratch);
    code = vy_job_init(pipeline, params, false, &run->scratch, &run->job, diag);
    for (uint32_t b = 0; code == VYRE_OK && b < pipeline->binding_count; b++) {
        vyre_binding_info info;
        vyre_kernel_binding(pipeline->kernel, b, &info);
        const vyre_binding *given = &run->job.bindings[b];
        if (info.mode == VYRE_BUFFER_IN || info.mode == VYRE_BUFFER_UNIFORM ||
            info.mode == VYRE_BUFFER_SCRATCH_KEEP) {
            continue;
        }
        uint64_t size = vy_job_size(&run->job, b);
        vyre_output output = {.binding = b,
                              .offset = given->out_offset,
                              .size = given->out_size ? given->out_size : size - given->out_offset};
        if (given->kind == VYRE_BINDING_RESIDENT) {
            output.buffer = given->buffer;
            output.offset += given->offset;
        }
        if (*out_count < capacity) {
            out_outputs[*out_count] = output;
        }
        (*out_count)++;
    }
    vy_job_release(pipeline, &run->job, 0);
    vy_run_cancel(pipeline->device, run);
    return code;
}
