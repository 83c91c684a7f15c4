/* The start of a run: checked, its instance taken and prepared, inputs staged, first chunks
 * submitted. */
#include "engine/exec/run_parts.h"
#include "engine/exec/strategy.h"

#include <string.h>

/* ---- The start of a run ---------------------------------------------------------------------- */

static vyre_result stage_inputs(vy_run *run, vyre_diag *diag)
{
    vy_instance *in = run->instance;
    const vy_moves *moves = &in->moves;
    for (uint32_t i = 0; i < moves->prologue_count; i++) {
        const vy_command *copy = &moves->prologue[i];
        if (copy->kind == VY_COMMAND_COPY && copy->source == VY_MEM_UPLOAD) {
            memcpy((unsigned char *)in->upload.mapped + copy->source_offset,
                   run->job.bindings[copy->target].in, (size_t)copy->size);
            run->report.upload_size += copy->size;
            run->report.uploads++;
        }
    }
    return moves->upload_size
               ? vy_block_flush(run->pipeline->device, &in->upload, 0, moves->upload_size, diag)
               : VYRE_OK;
}

static vy_choice choice_of(const vy_job *job)
{
    return (vy_choice){.interface = job->binder->interface,
                       .is_aliased = job->is_aliased,
                       .is_folded = job->shape.is_folded,
                       .is_wide = job->is_wide,
                       .is_whole = job->is_whole,
                       .is_coarse = job->is_coarse,
                       .is_persistent = job->is_persistent,
                       .is_large = job->is_large};
}

/* Pipelines, instance, and what the dispatch is made of in it. */
static vyre_result make_ready(vy_run *run, vyre_diag *diag)
{
    vyre_pipeline *p = run->pipeline;
    vy_job *job = &run->job;
    vy_choice choice = choice_of(job);
    vy_moves_list(p, job, &run->moves);
    vyre_result code = vy_pipeline_prepare(p, choice, diag);
    if (code != VYRE_OK && vy_strategy_falls_back(p, job, code)) {
        choice = choice_of(job);
        vy_moves_list(p, job, &run->moves); /* replay begins with a state of its own */
        code = vy_pipeline_prepare(p, choice, diag);
    }
    if (code == VYRE_OK) {
        code = vy_engine_kernels_prepare(p->device, job->binder,
                                         vy_engine_needs(p, run->moves.block_count > 0), diag);
    }
    if (code == VYRE_OK) {
        code = vy_pool_take(p, job, choice, &run->moves, &run->instance, diag);
    }
    if (code == VYRE_OK) {
        run->instance->descriptor_writes = 0;
        code = vy_instance_prepare(p, run->instance, job, choice, &run->moves, true, diag);
    }
    uint64_t start = vy_clock_ns();
    run->report.plan_ns = start - run->start_ns;
    if (code == VYRE_OK) {
        vy_report_memory(run->instance, &run->report);
        code = stage_inputs(run, diag);
    }
    uint32_t lanes = vy_replay_lanes(p, job);
    for (uint32_t l = 0; code == VYRE_OK && l < lanes; l++) {
        code = vy_instance_write_blocks(p, run->instance, job, l, diag);
    }
    run->report.stage_ns = vy_clock_ns() - start;
    return code;
}

static vyre_result take_sync(vy_run *run, const vyre_host_sync *sync, vyre_diag *diag)
{
    vy_replay *r = &run->replay;
    if (!sync) {
        return VYRE_OK;
    }
    for (uint32_t i = 0; i < sync->wait_count; i++) {
        run->waits[i] = (vy_semaphore){sync->waits[i].semaphore, sync->waits[i].value};
    }
    for (uint32_t i = 0; i < sync->signal_count; i++) {
        run->signals[i] = (vy_semaphore){sync->signals[i].semaphore, sync->signals[i].value};
    }
    r->waits = run->waits;
    r->signals = run->signals;
    r->wait_count = sync->wait_count;
    r->signal_count = sync->signal_count;
    return vy_ownership_record(run->pipeline, run->instance, &run->job, sync, &r->before, &r->after,
                               diag);
}

static vyre_result begin(vy_run *run, const vyre_dispatch_params *params, vyre_diag *diag)
{
    vyre_pipeline *p = run->pipeline;
    vyre_result code = vy_job_init(p, params, false, &run->scratch, &run->job, diag);
    if (code == VYRE_OK) {
        code = vy_ownership_check(p, &run->job, params->sync, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    /* A call that stops within a pass asks for replay. */
    run->job.last_count = run->last_count < run->job.dispatch_count ? run->last_count : 0;
    run->job.is_marked = run->marks != NULL;
    code = make_ready(run, diag);
    if (code == VYRE_OK) {
        run->replay = (vy_replay){.pipeline = p,
                                  .instance = run->instance,
                                  .limit = run->job.shape.passes,
                                  .last_count = run->job.last_count,
                                  .marks = run->marks,
                                  .is_timed = (params->flags & VYRE_DISPATCH_TIMED) != 0,
                                  .rounds = vy_persistent_rounds(&run->job),
                                  .whole_stride = run->job.shape.invocations * sizeof(uint32_t),
                                  .label = run->label};
        code = take_sync(run, params->sync, diag);
    }
    if (code == VYRE_OK) {
        run->report.strategy = vy_strategy_text(&run->job);
        run->report.strategy_reason = run->job.strategy_reason;
        run->report.bindings = run->job.binder->name;
        run->report.is_coarse = run->job.is_coarse;
        run->report.is_folded = run->job.shape.is_folded;
        const vy_shape *told = run->job.is_persistent ? &run->job.replay_shape : &run->job.shape;
        memcpy(run->report.groups, told->groups, sizeof run->report.groups);
        run->report.segments = run->job.execution_count;
        code = vy_replay_start(&run->replay, &run->report, diag);
    }
    return code;
}

static void trace(const vy_run *run)
{
    const vyre_report *r = &run->report;
    const vy_shape *shape = &run->job.shape;
    const vyre_pipeline *p = run->pipeline;
    vy_log_write(&p->device->log, VYRE_LOG_DEBUG,
                 "started %s: %u buffers by %s, %u x %u x %u workgroups%s, %u segments, %u passes; "
                 "planned in %llu, staged in %llu, recorded in %llu, submitted in %llu, all in "
                 "%llu ns",
                 run->label, (unsigned)p->binding_count, r->bindings, (unsigned)shape->groups[0],
                 (unsigned)shape->groups[1], (unsigned)shape->groups[2],
                 shape->is_folded ? " (folded)" : "", (unsigned)r->segments,
                 (unsigned)shape->passes, (unsigned long long)r->plan_ns,
                 (unsigned long long)r->stage_ns, (unsigned long long)r->record_ns,
                 (unsigned long long)r->submit_ns, (unsigned long long)r->enqueue_ns);
}

/* By hand: printf's code and tables are cold when a run begins, and cost microseconds then. */
static void put_label(vy_run *run, const char *text)
{
    size_t at = 0;
    for (; text[at] && at + 1 < sizeof run->label; at++) {
        run->label[at] = text[at];
    }
    run->label[at] = 0;
}

vyre_result vy_run_start(vyre_pipeline *p, const vyre_dispatch_params *params, vy_run *run,
                         vyre_diag *diag)
{
    vyre_device *device = p->device;
    run->instance = NULL;
    run->result = VYRE_OK;
    run->start_ns = vy_clock_ns();
    run->done = params->done;
    run->done_user = params->done_user;
    run->replay = (vy_replay){.pipeline = p};
    run->report = (vyre_report){.device_dispatches_ns = VYRE_NS_NONE,
                                .device_ns = VYRE_NS_NONE,
                                .device_start_ns = VYRE_NS_NONE};
    vy_diag_clear(&run->diag);
    put_label(run, params->label ? params->label : vyre_kernel_name(p->kernel));
    vy_runs_collect(device);
    vy_scratch_reset(&run->scratch);
    vyre_result code = begin(run, params, diag);
    if (code == VYRE_OK) {
        if (run->replay.is_sent) {
            vy_job_release(p, &run->job, run->replay.last_value);
        }
        run->report.enqueue_ns = vy_clock_ns() - run->start_ns;
        if (device->debug & VYRE_DEBUG_TRACE) {
            trace(run);
        }
        vy_run_leave_driving(device, run, false);
        return VYRE_OK;
    }
    if (code == VYRE_ERROR_DEVICE_LOST) {
        vy_run_note_loss(device, run, diag);
    }
    vy_queue_drain(device, run->replay.last_value);
    vy_job_release(p, &run->job, run->replay.last_value);
    if (run->instance) {
        run->instance->is_shaped = false;
        vy_pool_give(p, run->instance);
        run->instance = NULL;
    }
    vy_mutex_lock(&device->runs->mutex);
    vy_run_give_back(device->runs, run);
    vy_mutex_unlock(&device->runs->mutex);
    return code;
}
