/* Recording into a host's command buffer: the same plan as a dispatch's, in one piece. */
#include "engine/exec/judge.h"
#include "engine/exec/replay.h"
#include "vyre/vulkan.h"

#include <string.h>

struct vyre_recording {
    vyre_pipeline *pipeline;
    vy_instance *instance;
    vy_job job; /* its buffers stay acquired */
    vyre_dispatch_params params;
    vyre_report report;
};

/* All passes, with the copies that a dispatch's host would have read. */
static vyre_result record_all(vyre_recording *r, const vyre_record_params *params, vyre_diag *diag)
{
    vyre_pipeline *p = r->pipeline;
    vy_instance *in = r->instance;
    vy_command prologue[2 * VYRE_MAX_BUFFERS + 5] = {{.kind = VY_COMMAND_COPY,
                                                      .target = VY_MEM_BLOCK,
                                                      .source = VY_MEM_HOST_BLOCK,
                                                      .size = in->state_offset}};
    memcpy(&prologue[1], in->prologue, in->prologue_count * sizeof *prologue);
    vy_chunk_input input;
    vy_replay_plan_input(p, in, &input);
    input.prologue = prologue;
    input.prologue_count = 1 + in->prologue_count;
    input.epilogue = in->epilogue;
    input.epilogue_count = in->epilogue_count;
    input.count = in->dispatch_count;
    input.passes = in->dispatch_count ? r->job.shape.passes : 0;
    input.is_start = true;
    input.reads_state = p->judge != VK_NULL_HANDLE;
    input.state_offset = vy_instance_state_readback(in, 0);
    input.has_host_end = input.reads_state || input.epilogue_count > 0;
    input.before = params->before == VYRE_BARRIERS_LIBRARY ? VY_BORDER_ALL : VY_BORDER_NONE;
    input.after = params->after == VYRE_BARRIERS_LIBRARY ? VY_BORDER_ALL : VY_BORDER_NONE;
    vy_arena arena;
    vy_arena_init(&arena, &p->device->allocator);
    vy_chunk_plan plan;
    vyre_result code =
        vy_chunk_plan_build(&input, &arena, &plan) ? VYRE_OK : vy_diag_no_memory(diag);
    if (code == VYRE_OK) {
        vy_record_plan(p, in, 0, &plan, params->command_buffer);
        r->report.chunks = 1;
        r->report.recordings = 1;
        r->report.dispatches_recorded = plan.dispatches + plan.judges;
        r->report.barriers_recorded = plan.barriers;
        r->report.barriers_elided = plan.elided;
        vy_count(p->device, recordings, 1);
        vy_count(p->device, dispatches, plan.dispatches + plan.judges);
        vy_count(p->device, barriers, plan.barriers);
    }
    vy_arena_finish(&arena);
    return code;
}

static vyre_result check_passes(const vyre_recording *r, vyre_diag *diag)
{
    uint64_t each = (uint64_t)r->job.dispatch_count + (r->pipeline->judge != VK_NULL_HANDLE);
    uint64_t all = r->job.dispatch_count ? each * r->job.shape.passes : 0;
    if (all > VY_CHUNK_DISPATCHES) {
        return vy_invalid(diag,
                          "%u passes of %llu dispatches are more than the %u that one recording "
                          "holds. Fix: set `passes` lower and record several times, or call "
                          "vyre_dispatch",
                          (unsigned)r->job.shape.passes, (unsigned long long)each,
                          VY_CHUNK_DISPATCHES);
    }
    return VYRE_OK;
}

vyre_result vyre_record(vyre_pipeline *pipeline, const vyre_record_params *params,
                        vyre_recording **out_recording, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_recording) {
        return vy_invalid(diag, "out_recording is NULL. Fix: pass where the recording goes");
    }
    *out_recording = NULL;
    if (!pipeline || !params || !params->command_buffer) {
        return vy_invalid(diag, "no pipeline, parameters or command buffer was given. Fix: pass "
                                "all three");
    }
    vyre_device *device = pipeline->device;
    vyre_recording *r = vy_alloc_zeroed(&device->allocator, 1, sizeof *r);
    if (!r) {
        return vy_diag_no_memory(diag);
    }
    r->pipeline = pipeline;
    r->params = params->dispatch;
    pipeline->recording_count++;
    vyre_result code = vy_job_init(pipeline, &r->params, true, &r->job, diag);
    if (code == VYRE_OK) {
        code = check_passes(r, diag);
    }
    if (code == VYRE_OK) {
        code = vy_pipeline_prepare(pipeline, r->job.shape.is_folded, diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_create(pipeline, 1, false, &r->instance, diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_prepare(pipeline, r->instance, &r->job, false, diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_write_block(pipeline, r->instance, &r->job, 0, 0, diag);
    }
    if (code == VYRE_OK) {
        memset(r->instance->readback.mapped, 0, (size_t)r->instance->readback_size);
        code = vy_block_flush(device, &r->instance->readback, 0, r->instance->readback_size, diag);
    }
    if (code == VYRE_OK) {
        code = record_all(r, params, diag);
    }
    /* The caller's arrays were borrowed for this call. */
    r->params.bindings = NULL;
    r->params.params = NULL;
    if (code != VYRE_OK) {
        vyre_recording_destroy(&r);
        return code;
    }
    *out_recording = r;
    return VYRE_OK;
}

vyre_result vyre_recording_report(vyre_recording *r, vyre_report *out_report, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!r || !out_report) {
        return vy_invalid(diag, "no recording or no report was given. Fix: pass both");
    }
    vy_instance *in = r->instance;
    vyre_report report = r->report;
    report.strategy = "replay";
    report.passes = r->job.shape.passes;
    report.segments = r->job.execution_count;
    report.is_folded = r->job.shape.is_folded;
    report.device_ns = report.device_dispatches_ns = report.wall_ns = VYRE_NS_NONE;
    vyre_result code =
        vy_block_invalidate(r->pipeline->device, &in->readback, 0, in->readback_size, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (r->pipeline->judge && r->job.dispatch_count == 0) {
        report.passes = 1;
        report.convergence = VYRE_CONVERGENCE_YES;
    } else if (r->pipeline->judge) {
        uint32_t state[VY_STATE_WORDS];
        vy_report_state(in, 0, state);
        report.passes = state[VY_STATE_PASSES];
        report.convergence =
            state[VY_STATE_CONVERGED] ? VYRE_CONVERGENCE_YES : VYRE_CONVERGENCE_LIMIT;
    }
    if (r->job.records_size) {
        vy_report_records(r->pipeline, in, &report.record);
    }
    report.dispatches_executed = (uint64_t)report.passes * r->job.dispatch_count;
    vy_report_memory(in, &report);
    *out_report = report;
    return VYRE_OK;
}

void vyre_recording_destroy(vyre_recording **recording)
{
    if (!recording || !*recording) {
        return;
    }
    vyre_recording *r = *recording;
    vyre_device *device = r->pipeline->device;
    *recording = NULL;
    vy_instance_destroy(device, &r->instance);
    vy_job_finish(r->pipeline, &r->job, 0);
    r->pipeline->recording_count--;
    vy_free(&device->allocator, r, sizeof *r);
}
