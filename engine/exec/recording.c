/* Recording into commands that others submit: the same plan as a dispatch's, in one piece. */
#include "engine/exec/recording.h"

#include "engine/exec/run.h"

#include <string.h>

#define MAX_SHAPES 16u         /* idle recordings that keep a shape of their own */
#define AWAIT_NS   2000000000u /* for a retirement, when a pipeline ends */

/* ---- The pipelines' lists -------------------------------------------------------------------- */

/* Under the pipeline's lock. */
static void link_in(vyre_recording **list, vyre_recording *r)
{
    r->previous = NULL;
    r->next = *list;
    if (r->next) {
        r->next->previous = r;
    }
    *list = r;
}

/* Under the pipeline's lock. */
static void link_out(vyre_recording **list, vyre_recording *r)
{
    if (r->previous) {
        r->previous->next = r->next;
    } else if (*list == r) {
        *list = r->next;
    }
    if (r->next) {
        r->next->previous = r->previous;
    }
    r->previous = r->next = NULL;
}

static void free_recording(vyre_recording *r)
{
    vyre_allocator allocator = r->allocator;
    vy_scratch_finish(&r->scratch);
    vy_free(&allocator, r, sizeof *r);
}

static vyre_recording *allocate(vyre_pipeline *p)
{
    vyre_recording *r = vy_alloc_zeroed(&p->allocator, 1, sizeof *r);
    if (r) {
        r->allocator = p->allocator;
        vy_scratch_init(&r->scratch, &p->allocator);
    }
    return r;
}

/* An idle one, whatever its shape, or a new one. */
static vyre_recording *acquire(vyre_pipeline *p)
{
    vy_mutex_lock(&p->mutex);
    vyre_recording *r = p->idle_recordings;
    if (r) {
        link_out(&p->idle_recordings, r);
    }
    vy_mutex_unlock(&p->mutex);
    if (!r) {
        r = allocate(p);
        if (!r) {
            return NULL;
        }
    }
    r->pipeline = p;
    r->is_given_up = false;
    r->retirement = (vyre_retirement){.frame = 0};
    r->report = (vyre_report){.enqueue_ns = VYRE_NS_NONE,
                              .wall_ns = VYRE_NS_NONE,
                              .wait_ns = VYRE_NS_NONE,
                              .plan_ns = VYRE_NS_NONE,
                              .record_ns = VYRE_NS_NONE,
                              .stage_ns = VYRE_NS_NONE,
                              .submit_ns = VYRE_NS_NONE,
                              .readback_ns = VYRE_NS_NONE,
                              .device_dispatches_ns = VYRE_NS_NONE,
                              .device_ns = VYRE_NS_NONE,
                              .device_start_ns = VYRE_NS_NONE};
    vy_mutex_lock(&p->mutex);
    link_in(&p->recordings, r);
    vy_mutex_unlock(&p->mutex);
    return r;
}

void vy_recording_give(vyre_recording *r)
{
    vyre_pipeline *p = r->pipeline;
    if (!p) {
        free_recording(r);
        return;
    }
    vy_job_release(p, &r->job, 0);
    vy_mutex_lock(&p->mutex);
    link_out(&p->recordings, r);
    link_in(&p->idle_recordings, r);
    vy_mutex_unlock(&p->mutex);
}

void vy_recordings_empty(vyre_pipeline *p)
{
    vy_mutex_lock(&p->mutex);
    vyre_recording *list = p->idle_recordings;
    p->idle_recordings = NULL;
    vy_mutex_unlock(&p->mutex);
    while (list) {
        vyre_recording *next = list->next;
        vy_instance_destroy(p->device, &list->instance);
        free_recording(list);
        list = next;
    }
}

/* ---- Retirement ------------------------------------------------------------------------------ */

static bool is_stated(const vyre_retirement *retirement)
{
    return retirement->semaphore || retirement->frame;
}

static bool has_retired(const vyre_recording *r)
{
    vyre_device *device = r->pipeline->device;
    const vyre_retirement *when = &r->retirement;
    if (atomic_load(&device->lost)) {
        return true;
    }
    if (when->semaphore) {
        uint64_t value = 0;
        VkResult result =
            device->vk.vkGetSemaphoreCounterValue(device->device, when->semaphore, &value);
        return result == VK_SUCCESS && value >= when->value;
    }
    return when->frame && when->frame <= atomic_load(&device->retired_frame);
}

int vyre_recording_is_retired(const vyre_recording *r)
{
    return r && r->pipeline && is_stated(&r->retirement) && has_retired(r);
}

static vyre_result check_retirement(const vyre_retirement *retirement, vyre_diag *diag)
{
    if (retirement->semaphore && retirement->frame) {
        return vy_invalid(diag, "a semaphore and a frame are given. Fix: give one of them");
    }
    if (retirement->semaphore && retirement->value == 0) {
        return vy_invalid(diag, "the semaphore's value is 0, which every timeline has from the "
                                "start. Fix: give the value that the submission signals");
    }
    return VYRE_OK;
}

vyre_result vyre_recording_retire_at(vyre_recording *r, const vyre_retirement *retirement,
                                     vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!r || !retirement) {
        return vy_invalid(diag, "no recording or no retirement was given. Fix: pass both");
    }
    vyre_result code = check_retirement(retirement, diag);
    if (code == VYRE_OK) {
        r->retirement = *retirement;
    }
    return code;
}

/* Taken back from the host's giving up, so that no other thread finds it too. */
static vyre_recording *take_retired(vyre_pipeline *p)
{
    vy_mutex_lock(&p->mutex);
    vyre_recording *r = p->recordings;
    while (r && !(r->is_given_up && has_retired(r))) {
        r = r->next;
    }
    if (r) {
        r->is_given_up = false;
    }
    vy_mutex_unlock(&p->mutex);
    return r;
}

static void collect_one(void *unused, vyre_pipeline *p)
{
    (void)unused;
    for (vyre_recording *r = take_retired(p); r; r = take_retired(p)) {
        vy_recording_give(r);
    }
}

void vy_recordings_collect(vyre_device *device, vyre_pipeline *p)
{
    if (p) {
        collect_one(NULL, p);
    } else {
        vy_runs_each_pipeline(device, collect_one, NULL);
    }
}

void vyre_device_retire(vyre_device *device, uint64_t frame)
{
    if (!device) {
        return;
    }
    uint64_t before = atomic_load(&device->retired_frame);
    while (before < frame &&
           !atomic_compare_exchange_weak(&device->retired_frame, &before, frame)) {
    }
    vy_recordings_collect(device, NULL);
}

/* The device must be done with it: those given up whose retirement has not come are waited for. A
 * value that never comes must not hang the end of a program: once the device is idle, what was
 * submitted has ended, and the rest must not be submitted any more. */
static void await(const vyre_recording *r)
{
    vyre_device *device = r->pipeline->device;
    if (has_retired(r)) {
        return;
    }
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &r->retirement.semaphore,
        .pValues = &r->retirement.value,
    };
    if (!r->retirement.semaphore ||
        device->vk.vkWaitSemaphores(device->device, &info, AWAIT_NS) != VK_SUCCESS) {
        vy_queue_settle(device);
    }
}

void vy_recordings_detach(vyre_pipeline *p)
{
    vy_recordings_empty(p);
    uint32_t left = 0;
    if (p->recordings) {
        /* Steps of sequences are in flight on the device's own timeline. */
        vy_queue_drain(p->device, vy_queue_submitted(p->device));
    }
    while (p->recordings) {
        vyre_recording *r = p->recordings;
        if (r->is_given_up) {
            await(r);
        }
        left += !r->is_given_up;
        link_out(&p->recordings, r);
        vy_job_release(p, &r->job, 0);
        vy_instance_destroy(p->device, &r->instance);
        r->pipeline = NULL;
        if (r->is_given_up) {
            free_recording(r);
        }
    }
    if (left) {
        vy_log_write(&p->device->log, VYRE_LOG_WARNING,
                     "%u recordings or steps of sequences of %s outlive it: commands that were "
                     "recorded must not be submitted. Fix: destroy them first",
                     (unsigned)left, vyre_kernel_name(p->kernel));
    }
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static vyre_result check_passes(const vyre_recording *r, vyre_diag *diag)
{
    uint64_t each = r->job.dispatch_count;
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

/* The instance of an idle recording of the same shape, if there is one; else, as long as few shapes
 * are kept, the recording's own is left to its shape. Where its own launches too little alone, it
 * is made over to launch everything, which does for all values that are to come. */
static void choose_instance(vyre_recording *r, vy_choice choice)
{
    vyre_pipeline *p = r->pipeline;
    bool is_alike = r->instance && vy_instance_is_alike(r->instance, &r->job, choice, &r->moves);
    if (is_alike && !vy_instance_has_shape(r->instance, &r->job, choice, &r->moves)) {
        vy_job_widen(&r->job);
    }
    if (is_alike) {
        return;
    }
    uint32_t idle = 0;
    vy_mutex_lock(&p->mutex);
    vyre_recording *other = p->idle_recordings;
    while (other && !(other->instance &&
                      vy_instance_has_shape(other->instance, &r->job, choice, &r->moves))) {
        other = other->next;
        idle++;
    }
    if (other) {
        vy_instance *own = r->instance;
        r->instance = other->instance;
        other->instance = own;
    }
    vy_mutex_unlock(&p->mutex);
    bool is_kept = !other && r->instance && r->instance->is_shaped && idle < MAX_SHAPES;
    vyre_recording *keeper = is_kept ? allocate(p) : NULL;
    if (keeper) {
        keeper->instance = r->instance;
        r->instance = NULL;
        vy_mutex_lock(&p->mutex);
        link_in(&p->idle_recordings, keeper);
        vy_mutex_unlock(&p->mutex);
    }
}

static vyre_result prepare(vyre_recording *r, vyre_diag *diag)
{
    vyre_pipeline *p = r->pipeline;
    vyre_device *device = p->device;
    const vy_job *job = &r->job;
    vy_choice choice = {.interface = job->binder->interface,
                        .is_aliased = job->is_aliased,
                        .is_folded = job->shape.is_folded,
                        .is_wide = job->is_wide,
                        .is_coarse = job->is_coarse};
    vy_moves_list(p, job, &r->moves);
    vyre_result code = check_passes(r, diag);
    if (code == VYRE_OK) {
        code = vy_ownership_check(p, job, job->params->sync, diag);
    }
    if (code == VYRE_OK) {
        choose_instance(r, choice);
    }
    if (code == VYRE_OK) {
        code = vy_pipeline_prepare(p, choice, diag);
    }
    if (code == VYRE_OK) {
        code = vy_engine_kernels_prepare(device, job->binder,
                                         vy_engine_needs(p, r->moves.block_count > 0), diag);
    }
    if (code == VYRE_OK && r->instance && r->instance->binder != job->binder) {
        vy_instance_destroy(device, &r->instance);
    }
    if (code == VYRE_OK && !r->instance) {
        code = vy_instance_create(p, job->binder, true, &r->instance, diag);
    }
    if (code == VYRE_OK) {
        r->instance->descriptor_writes = 0;
        code = vy_instance_prepare(p, r->instance, job, choice, &r->moves, false, diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_write_blocks(p, r->instance, job, 0, diag);
    }
    if (code == VYRE_OK) {
        memset(r->instance->readback.mapped, 0, (size_t)r->instance->readback.size);
        code = vy_block_flush(device, &r->instance->readback, 0, r->instance->readback.size, diag);
    }
    return code;
}

vyre_result vy_recording_take(vyre_pipeline *p, const vyre_dispatch_params *params,
                              vyre_recording **out_recording, vyre_diag *diag)
{
    vy_recordings_collect(p->device, p);
    vyre_recording *r = acquire(p);
    *out_recording = r;
    if (!r) {
        return vy_diag_no_memory(diag);
    }
    vy_scratch_reset(&r->scratch);
    vyre_result code = vy_job_init(p, params, true, &r->scratch, &r->job, diag);
    if (code == VYRE_OK) {
        code = prepare(r, diag);
    }
    /* The caller's arrays were borrowed for this call. */
    r->job.params = NULL;
    if (code != VYRE_OK) {
        *out_recording = NULL;
        vy_recording_give(r);
    }
    return code;
}

/* What was done for the same recording before, and still stands. */
static uint32_t leave_out_done(vy_command *list, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].target != VY_MEM_BLOCK && list[i].target != VY_MEM_RECORDS) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

vyre_result vy_recording_record(vyre_recording *r, VkCommandBuffer commands, vy_border before,
                                vy_border after, uint32_t parts, const vyre_host_sync *sync,
                                vyre_diag *diag)
{
    vyre_pipeline *p = r->pipeline;
    vy_instance *in = r->instance;
    vy_command prologue[VY_MAX_PROLOGUE];
    vy_chunk_input input;
    vy_replay_plan_input(p, in, &input);
    input.prologue = prologue;
    input.prologue_count = vy_replay_prologue(in, true, prologue);
    if (parts & VY_RECORDING_AGAIN) {
        input.prologue_count = leave_out_done(prologue, input.prologue_count);
    }
    input.epilogue = in->moves.epilogue;
    input.epilogue_count = parts & VY_RECORDING_NO_END ? 0 : in->moves.epilogue_count;
    input.count = in->dispatch_count;
    input.passes = in->dispatch_count ? r->job.shape.passes : 0;
    /* Of an empty grid word 0, which nobody sets. */
    vy_replay_ends(p, in, 0, parts & VY_RECORDING_NO_STATE ? 0 : 1,
                   input.passes ? vy_state_flag(input.passes - 1) : 0, &input);
    input.host_reads =
        vy_moves_host_reads(&in->moves, input.reads_state || input.epilogue_count > 0);
    input.before = before;
    input.after = after;
    vy_arena arena;
    vy_arena_init(&arena, vy_scratch_allocator(&r->scratch));
    vy_chunk_plan plan;
    vyre_result code =
        vy_chunk_plan_build(&input, &arena, &plan) ? VYRE_OK : vy_diag_no_memory(diag);
    if (code == VYRE_OK) {
        /* Nothing fails from here on. */
        vy_ownership_transfer(p, &r->job, sync, true, commands);
        vy_record_plan(p, in, 0, &plan, VK_NULL_HANDLE, commands);
        vy_ownership_transfer(p, &r->job, sync, false, commands);
        r->report.chunks = 1;
        r->report.recordings++;
        r->report.dispatches_recorded += plan.dispatches;
        r->report.barriers_recorded += plan.barriers;
        r->report.barriers_elided += plan.elided;
        vy_count(p->device, dispatches, plan.dispatches + plan.moves);
        vy_count(p->device, barriers, plan.barriers);
        vy_count(p->device, barriers_elided, plan.elided);
    }
    vy_arena_finish(&arena);
    /* Made as large as it must be for the next one here, where that one's call need not. The
     * instance has its own copy of the executions. */
    r->job.executions = NULL;
    vy_scratch_reset(&r->scratch);
    return code;
}

/* ---- Public ---------------------------------------------------------------------------------- */

/* The caller's structures, made whole; everything that is wrong with them alone. */
static vyre_result read_params(const vyre_pipeline *p, const vyre_record_params *given,
                               vyre_record_params *out, vyre_diag *diag)
{
    if (!p || !p->device || !given) {
        return vy_invalid(diag, "no pipeline (or one whose device was destroyed) or no parameters "
                                "were given. Fix: pass both");
    }
    vyre_result code = vy_params_read(vyre_record_params, out, given, diag);
    if (code == VYRE_OK) {
        code = vy_params_read(vyre_dispatch_params, &out->dispatch, &given->dispatch, diag);
    }
    if (code == VYRE_OK && !out->command_buffer) {
        code = vy_invalid(diag, "no command buffer was given. Fix: pass one that is recording");
    }
    if (code == VYRE_OK) {
        code = check_retirement(&out->retirement, diag);
    }
    uint64_t retired = atomic_load(&p->device->retired_frame);
    if (code == VYRE_OK && out->retirement.frame && out->retirement.frame <= retired) {
        code = vy_invalid(diag,
                          "frame %llu is to retire the recording, and frames up to %llu are "
                          "retired already. Fix: number the frames upwards, and give the one that "
                          "is being recorded",
                          (unsigned long long)out->retirement.frame, (unsigned long long)retired);
    }
    return code;
}

static vy_border border_of(vyre_barriers barriers)
{
    return barriers == VYRE_BARRIERS_LIBRARY ? VY_BORDER_ALL : VY_BORDER_NONE;
}

vyre_result vyre_record(vyre_pipeline *pipeline, const vyre_record_params *given,
                        vyre_recording **out_recording, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_recording) {
        return vy_invalid(diag, "out_recording is NULL. Fix: pass where the recording goes");
    }
    *out_recording = NULL;
    vyre_record_params params;
    vyre_recording *r = NULL;
    vyre_result code = read_params(pipeline, given, &params, diag);
    if (code == VYRE_OK) {
        code = vy_recording_take(pipeline, &params.dispatch, &r, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    r->retirement = params.retirement;
    code = vy_recording_record(r, params.command_buffer, border_of(params.before),
                               border_of(params.after), 0, params.dispatch.sync, diag);
    if (code != VYRE_OK) {
        vy_recording_give(r);
        return code;
    }
    vy_count(pipeline->device, recordings, 1);
    *out_recording = r;
    return VYRE_OK;
}

vyre_result vyre_recording_report(vyre_recording *r, vyre_report *out_report, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!r || !r->pipeline || !out_report) {
        return vy_invalid(diag, "no recording (or one whose pipeline was destroyed) or no report "
                                "was given. Fix: pass both");
    }
    vy_instance *in = r->instance;
    vyre_report report = r->report;
    report.strategy = "replay";
    report.strategy_reason = "recordings and sequences replay each segment";
    report.bindings = in->binder->name;
    report.passes = r->job.shape.passes;
    report.segments = r->job.execution_count;
    report.is_coarse = r->job.is_coarse;
    report.is_folded = r->job.shape.is_folded;
    memcpy(report.groups, r->job.shape.groups, sizeof report.groups);
    report.descriptor_writes = in->descriptor_writes;
    vyre_result code =
        vy_block_invalidate(r->pipeline->device, &in->readback, 0, in->moves.readback_size, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t state[VY_STATE_WORDS];
    vy_report_state(in, 0, state);
    vy_report_grid(r->pipeline, state, &report);
    if (r->pipeline->has_until && r->job.dispatch_count == 0) {
        report.passes = 1;
        report.convergence = VYRE_CONVERGENCE_YES;
    } else if (r->pipeline->has_until) {
        report.passes = state[vy_state_passes(r->job.shape.passes)];
        bool has_converged = state[vy_state_flag(r->job.shape.passes - 1)] == 0;
        report.convergence = has_converged ? VYRE_CONVERGENCE_YES : VYRE_CONVERGENCE_LIMIT;
        report.passes_saved = r->job.shape.passes - report.passes;
    }
    if (r->job.records_size) {
        vy_report_records(r->pipeline, in, &report.record);
    }
    report.dispatches_executed = (uint64_t)report.passes * in->trim.launches;
    report.workgroups_saved = vy_trim_saved(&in->trim, report.passes);
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
    vyre_pipeline *p = r->pipeline;
    *recording = NULL;
    bool is_awaited = false;
    if (p) {
        vy_mutex_lock(&p->mutex);
        is_awaited = is_stated(&r->retirement) && !has_retired(r);
        r->is_given_up = is_awaited;
        vy_mutex_unlock(&p->mutex);
    }
    if (!is_awaited) {
        vy_recording_give(r);
    }
}
