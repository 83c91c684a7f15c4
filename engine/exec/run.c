/* The table of runs, and what moves one on from its start to its result. Locks: the table's is held
 * for a few words only, never over a wait, a callback or a Vulkan call. */
#include "engine/exec/run.h"

#include "engine/exec/recording.h"

#include <stdio.h>
#include <string.h>

#define INDEX_BITS 24u
#define FIELD_MASK 0xffffffu
#define TICK_NS    2000000u /* how long the device's thread sleeps at most while something runs */

struct vy_runs {
    vy_mutex mutex;
    vy_condition changed; /* a run was started, has ended, or is no longer driven */
    vy_engine_kernels kernels;
    vy_run **list;
    uint32_t count, capacity;
    uint32_t active, abandoned;
    vyre_pipeline *pipelines; /* under pipeline_mutex, as are */
    vyre_sequence *sequences;
    vy_mutex pipeline_mutex;
    vy_thread thread;
    bool has_thread, is_ending;
    bool has_mutex, has_changed, has_pipeline_mutex;
    vyre_loss loss; /* of the run that was seen lost first */
    uint64_t loss_value;
};

static vy_thread_result VY_THREAD_CALL drive_all(void *argument);

vyre_result vy_runs_create(vyre_device *device, vyre_diag *diag)
{
    vy_runs *runs = vy_alloc_zeroed(&device->allocator, 1, sizeof *runs);
    if (!runs) {
        return vy_diag_no_memory(diag);
    }
    device->runs = runs;
    runs->has_mutex = vy_mutex_init(&runs->mutex) == 0;
    runs->has_changed = vy_condition_init(&runs->changed) == 0;
    runs->has_pipeline_mutex = vy_mutex_init(&runs->pipeline_mutex) == 0;
    bool ok = vy_engine_kernels_init(&runs->kernels) && runs->has_mutex && runs->has_changed &&
              runs->has_pipeline_mutex;
    if (ok && device->has_driver_thread) {
        runs->has_thread = vy_thread_start(&runs->thread, drive_all, device) == 0;
        ok = runs->has_thread;
    }
    if (!ok) {
        vy_runs_destroy(device);
        return vy_diag_no_memory(diag);
    }
    device->evict = vy_pool_evict;
    return VYRE_OK;
}

static void free_run(vyre_device *device, vy_run *run)
{
    vy_scratch_finish(&run->scratch);
    vy_free(&device->allocator, run, sizeof *run);
}

void vy_runs_destroy(vyre_device *device)
{
    vy_runs *runs = device->runs;
    if (!runs) {
        return;
    }
    if (runs->has_thread) {
        vy_mutex_lock(&runs->mutex);
        runs->is_ending = true;
        vy_condition_signal_all(&runs->changed);
        vy_mutex_unlock(&runs->mutex);
        vy_thread_join(runs->thread);
    }
    for (uint32_t i = 0; i < runs->count; i++) {
        free_run(device, runs->list[i]);
    }
    vy_free(&device->allocator, runs->list, runs->capacity * sizeof(vy_run *));
    vy_engine_kernels_finish(device, &runs->kernels);
    if (runs->has_pipeline_mutex) {
        vy_mutex_finish(&runs->pipeline_mutex);
    }
    if (runs->has_changed) {
        vy_condition_finish(&runs->changed);
    }
    if (runs->has_mutex) {
        vy_mutex_finish(&runs->mutex);
    }
    device->evict = NULL;
    device->runs = NULL;
    vy_free(&device->allocator, runs, sizeof *runs);
}

vy_engine_kernels *vy_runs_kernels(vyre_device *device)
{
    return &device->runs->kernels;
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

void vy_pool_add_pipeline(vyre_pipeline *p)
{
    vy_runs *runs = p->device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    p->previous = NULL;
    p->next = runs->pipelines;
    if (p->next) {
        p->next->previous = p;
    }
    runs->pipelines = p;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

void vy_pool_remove_pipeline(vyre_pipeline *p)
{
    vy_runs *runs = p->device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    if (p->previous) {
        p->previous->next = p->next;
    } else if (runs->pipelines == p) {
        runs->pipelines = p->next;
    }
    if (p->next) {
        p->next->previous = p->previous;
    }
    p->previous = p->next = NULL;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

void vy_runs_each_pipeline(vyre_device *device, void (*visit)(void *user, vyre_pipeline *pipeline),
                           void *user)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    for (vyre_pipeline *p = runs->pipelines; p; p = p->next) {
        visit(user, p);
    }
    vy_mutex_unlock(&runs->pipeline_mutex);
}

static void empty_one(void *unused, vyre_pipeline *p)
{
    (void)unused;
    vy_pool_empty(p);
}

uint64_t vy_pool_evict(vyre_device *device)
{
    uint64_t blocks = 0, before = 0, after = 0;
    vy_runs_collect(device);
    vy_memory_usage(device, &blocks, &before);
    vy_runs_each_pipeline(device, empty_one, NULL);
    vy_memory_usage(device, &blocks, &after);
    return before > after ? before - after : 0;
}

void vy_runs_detach_pipelines(vyre_device *device)
{
    vy_runs *runs = device->runs;
    while (runs && runs->pipelines) {
        vyre_pipeline *p = runs->pipelines;
        vy_pool_remove_pipeline(p);
        vy_pool_empty(p);
        vy_recordings_detach(p);
        vy_pipeline_detach(p);
    }
}

void vy_runs_add_sequence(vyre_device *device, vyre_sequence *s)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->pipeline_mutex);
    *vy_sequence_next(s) = runs->sequences;
    if (runs->sequences) {
        *vy_sequence_previous(runs->sequences) = s;
    }
    runs->sequences = s;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

void vy_runs_remove_sequence(vyre_device *device, vyre_sequence *s)
{
    vy_runs *runs = device->runs;
    vyre_sequence **next = vy_sequence_next(s), **previous = vy_sequence_previous(s);
    vy_mutex_lock(&runs->pipeline_mutex);
    if (*previous) {
        *vy_sequence_next(*previous) = *next;
    } else {
        runs->sequences = *next;
    }
    if (*next) {
        *vy_sequence_previous(*next) = *previous;
    }
    *next = *previous = NULL;
    vy_mutex_unlock(&runs->pipeline_mutex);
}

vyre_sequence *vy_runs_first_sequence(vyre_device *device)
{
    return device->runs ? device->runs->sequences : NULL;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Under the lock. */
static vy_run *find_free(vy_runs *runs)
{
    for (uint32_t i = 0; i < runs->count; i++) {
        vy_run *run = runs->list[i];
        if (run->state == VY_RUN_FREE && run->waiters == 0 && run->generation < FIELD_MASK) {
            return run;
        }
    }
    return NULL;
}

/* Under the lock. */
static vy_run *add_run(vyre_device *device)
{
    vy_runs *runs = device->runs;
    if (runs->count == runs->capacity) {
        uint32_t capacity = runs->capacity ? 2 * runs->capacity : 8;
        vy_run **list = vy_realloc(&device->allocator, runs->list,
                                   runs->capacity * sizeof(vy_run *), capacity * sizeof(vy_run *));
        if (!list) {
            return NULL;
        }
        runs->list = list;
        runs->capacity = capacity;
    }
    vy_run *run = vy_alloc_zeroed(&device->allocator, 1, sizeof *run);
    if (run) {
        run->index = runs->count;
        run->generation = 1;
        vy_scratch_init(&run->scratch, &device->allocator);
        runs->list[runs->count++] = run;
    }
    return run;
}

vy_run *vy_run_take(vyre_device *device)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    vy_run *run = find_free(runs);
    if (!run) {
        run = add_run(device);
    }
    if (run) {
        run->state = VY_RUN_ACTIVE;
        run->is_driven = true; /* by whoever starts it */
        run->is_abandoned = run->is_stop_wanted = false;
        runs->active++;
    }
    vy_mutex_unlock(&runs->mutex);
    return run;
}

/* Under the lock: the run is free, its tickets are stale. */
static void give_back(vy_runs *runs, vy_run *run)
{
    runs->active -= run->state == VY_RUN_ACTIVE;
    runs->abandoned -= run->is_abandoned;
    run->state = VY_RUN_FREE;
    run->is_abandoned = false;
    run->is_driven = false;
    run->generation++;
    run->pipeline = NULL;
    vy_condition_signal_all(&runs->changed);
}

vyre_ticket vy_run_ticket(const vyre_device *device, const vy_run *run)
{
    return (vyre_ticket){(uint64_t)device->id << 48 | (uint64_t)run->generation << INDEX_BITS |
                         run->index};
}

vy_run *vy_run_hold(vyre_device *device, vyre_ticket ticket, vyre_diag *diag)
{
    vy_runs *runs = device->runs;
    uint32_t index = (uint32_t)(ticket.bits & FIELD_MASK);
    uint32_t generation = (uint32_t)(ticket.bits >> INDEX_BITS & FIELD_MASK);
    vy_run *run = NULL;
    vy_mutex_lock(&runs->mutex);
    if (index < runs->count) {
        run = runs->list[index];
        bool is_live = run->state != VY_RUN_FREE && run->generation == generation &&
                       !run->is_abandoned && ticket.bits >> 48 == device->id;
        run->waiters += is_live;
        run = is_live ? run : NULL;
    }
    vy_mutex_unlock(&runs->mutex);
    if (!run) {
        (void)vy_invalid(diag,
                         "the ticket (0x%llx) is none, another device's, or was waited for or "
                         "dropped before. Fix: use each ticket that vyre_dispatch_async gave once",
                         (unsigned long long)ticket.bits);
    }
    return run;
}

void vy_run_unhold(vyre_device *device, vy_run *run)
{
    vy_mutex_lock(&device->runs->mutex);
    run->waiters--;
    vy_mutex_unlock(&device->runs->mutex);
}

/* ---- The end of a run ------------------------------------------------------------------------ */

static vyre_result read_outputs(vy_run *run, vyre_diag *diag)
{
    vy_instance *in = run->instance;
    vyre_report *report = &run->report;
    const vy_moves *moves = &in->moves;
    if (moves->epilogue_count == 0) {
        return VYRE_OK;
    }
    uint64_t start = vy_clock_ns();
    vyre_result code =
        vy_block_invalidate(run->pipeline->device, &in->readback, 0, moves->readback_size, diag);
    for (uint32_t i = 0; code == VYRE_OK && i < moves->epilogue_count; i++) {
        const vy_command *copy = &moves->epilogue[i];
        if (copy->source < VYRE_MAX_BUFFERS) {
            memcpy(run->job.bindings[copy->source].out,
                   (const unsigned char *)in->readback.mapped + copy->target_offset,
                   (size_t)copy->size);
            report->download_size += copy->size;
            report->downloads++;
        }
    }
    if (code == VYRE_OK && run->job.records_size) {
        vy_report_records(run->pipeline, in, &report->record);
    }
    report->readback_ns += vy_clock_ns() - start;
    return code;
}

static void count_run(vyre_device *device, const vyre_report *report)
{
    vy_mutex_lock(&device->counter_mutex);
    device->counters.uploads += report->uploads;
    device->counters.upload_size += report->upload_size;
    device->counters.downloads += report->downloads;
    device->counters.download_size += report->download_size;
    device->counters.passes += report->passes;
    vy_mutex_unlock(&device->counter_mutex);
}

static void note_loss(vyre_device *device, const vy_run *run)
{
    vy_runs *runs = device->runs;
    vyre_loss loss = {.is_lost = 1, .segment = VYRE_DIAG_NONE, .pass = VYRE_DIAG_NONE};
    uint64_t value = vy_replay_next_value(&run->replay);
    if (value == 0) {
        return;
    }
    snprintf(loss.program, sizeof loss.program, "%s", run->label);
    vy_replay_describe(&run->replay, &loss);
    vy_mutex_lock(&runs->mutex);
    if (runs->loss_value == 0 || value < runs->loss_value) {
        runs->loss = loss;
        runs->loss_value = value;
    }
    vy_mutex_unlock(&runs->mutex);
}

void vyre_device_get_loss(vyre_device *device, vyre_loss *out_loss)
{
    vyre_loss base = {.segment = VYRE_DIAG_NONE, .pass = VYRE_DIAG_NONE};
    if (device) {
        vy_device_loss_base(device, &base);
    }
    *out_loss = base;
    if (!device || !base.is_lost || !device->runs) {
        return;
    }
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    if (runs->loss_value) {
        *out_loss = runs->loss;
        memcpy(out_loss->fault, base.fault, sizeof base.fault);
    }
    vy_mutex_unlock(&runs->mutex);
}

/* Takes what the run holds back; its result is there afterwards. By the thread that drives it. */
static void end_run(vy_run *run, vyre_result code)
{
    vyre_pipeline *p = run->pipeline;
    vyre_device *device = p->device;
    if (code == VYRE_ERROR_DEVICE_LOST) {
        note_loss(device, run);
        run->diag.segment = device->runs->loss.segment;
        run->diag.pass = device->runs->loss.pass;
    }
    if (code == VYRE_OK && !run->is_abandoned) {
        code = read_outputs(run, &run->diag);
    }
    if (code == VYRE_OK) {
        vy_replay_fill_report(&run->replay, &run->report);
        count_run(device, &run->report);
    }
    vy_job_release(p, &run->job, run->replay.last_value);
    if (run->instance) {
        if (code != VYRE_OK) {
            run->instance->is_shaped = false;
        }
        vy_pool_give(p, run->instance);
        run->instance = NULL;
    }
    run->result = code;
    run->report.wall_ns = vy_clock_ns() - run->start_ns;
    if (run->done) {
        run->done(run->done_user, vy_run_ticket(device, run), code);
    }
}

/* Moves a run on, by the thread that drives it; true when it has ended. */
static bool step(vy_run *run)
{
    vyre_device *device = run->pipeline->device;
    vyre_result code = run->result;
    if (code == VYRE_OK) {
        code = vy_replay_advance(&run->replay, &run->report, &run->diag);
    }
    if (code == VYRE_ERROR_DEVICE_LOST) {
        end_run(run, code);
        return true;
    }
    if (code != VYRE_OK) {
        /* Nothing is given on that the device may still use. */
        run->result = code;
        run->replay.is_stopped = true;
        if (vy_queue_is_done(device, run->replay.last_value)) {
            end_run(run, code);
            return true;
        }
        return false;
    }
    if (run->replay.is_sent || run->replay.is_stopped) {
        /* The timeline tells from here on when the buffers are free. */
        vy_job_release(run->pipeline, &run->job, run->replay.last_value);
    }
    if (vy_replay_is_over(&run->replay)) {
        end_run(run, VYRE_OK);
        return true;
    }
    return false;
}

/* Takes the run to drive it, if nobody has it and it has not ended. Under the lock. */
static bool take_driving(vy_run *run)
{
    if (run->state != VY_RUN_ACTIVE || run->is_driven) {
        return false;
    }
    run->is_driven = true;
    run->replay.is_stopped = run->replay.is_stopped || run->is_stop_wanted;
    return true;
}

static void leave_driving(vyre_device *device, vy_run *run, bool has_ended)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    run->is_driven = false;
    if (has_ended && run->is_abandoned) {
        give_back(runs, run);
        vy_count(device, parked_alive, -1);
    } else if (has_ended) {
        runs->active--;
        run->state = VY_RUN_DONE;
        vy_condition_signal_all(&runs->changed);
    } else {
        vy_condition_signal_all(&runs->changed);
    }
    vy_mutex_unlock(&runs->mutex);
}

/* What the timeline must reach before the run can go on. */
static uint64_t awaited(const vy_run *run)
{
    uint64_t value = vy_replay_next_value(&run->replay);
    return value ? value : run->replay.last_value;
}

vyre_result vy_run_wait(vyre_device *device, vy_run *run, uint64_t deadline_ns, vyre_diag *diag)
{
    vy_runs *runs = device->runs;
    uint64_t waited_ns = 0;
    uint32_t waits = 0;
    for (;;) {
        vy_mutex_lock(&runs->mutex);
        if (run->state != VY_RUN_ACTIVE) {
            run->report.wait_ns += waited_ns;
            run->report.waits += waits;
            vy_mutex_unlock(&runs->mutex);
            return VYRE_OK;
        }
        uint64_t now = vy_clock_ns();
        bool is_late = deadline_ns != UINT64_MAX && now >= deadline_ns;
        if (!take_driving(run)) {
            if (!is_late) {
                vy_condition_wait(&runs->changed, &runs->mutex,
                                  deadline_ns == UINT64_MAX ? UINT64_MAX : deadline_ns - now);
            }
            vy_mutex_unlock(&runs->mutex);
            if (is_late) {
                break;
            }
            continue;
        }
        vy_mutex_unlock(&runs->mutex);
        bool has_ended = step(run);
        uint64_t value = awaited(run);
        uint64_t start = vy_clock_ns();
        leave_driving(device, run, has_ended);
        if (is_late && !has_ended) {
            break;
        }
        vyre_result code = VYRE_OK;
        if (!has_ended) {
            code = vy_queue_wait(device, value, deadline_ns, run->label, diag);
            waited_ns += vy_clock_ns() - start;
            waits++;
        }
        if (code == VYRE_ERROR_TIMEOUT) {
            return code;
        }
        if (code != VYRE_OK && code != VYRE_ERROR_DEVICE_LOST) {
            /* What the device may still write is kept until it is proven idle. */
            vy_run_abandon(device, run);
            return code;
        }
    }
    return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                       "%s has not ended within the time given. Fix: wait again, or give more time",
                       run->label);
}

static vyre_result take_result(const vy_run *run, vyre_report *out_report, vyre_diag *diag)
{
    if (out_report) {
        *out_report = run->report;
    }
    if (run->result != VYRE_OK && diag) {
        *diag = run->diag;
    }
    return run->result;
}

vyre_result vy_run_finish(vyre_device *device, vy_run *run, vyre_report *out_report,
                          vyre_diag *diag)
{
    vy_mutex_lock(&device->runs->mutex);
    vyre_result code = take_result(run, out_report, diag);
    give_back(device->runs, run);
    vy_mutex_unlock(&device->runs->mutex);
    return code;
}

vyre_result vy_run_claim(vyre_device *device, vy_run *run, vyre_ticket ticket,
                         vyre_report *out_report, vyre_diag *diag)
{
    vy_runs *runs = device->runs;
    vyre_result code = VYRE_ERROR_INVALID_ARGUMENT;
    vy_mutex_lock(&runs->mutex);
    bool is_ours = run->state == VY_RUN_DONE && vy_run_ticket(device, run).bits == ticket.bits;
    if (is_ours) {
        code = take_result(run, out_report, diag);
        give_back(runs, run);
    }
    vy_mutex_unlock(&runs->mutex);
    if (!is_ours) {
        (void)vy_invalid(diag, "another thread waited for the ticket. Fix: wait for it once");
    }
    return code;
}

void vy_run_cancel(vyre_device *device, vy_run *run)
{
    vy_mutex_lock(&device->runs->mutex);
    give_back(device->runs, run);
    vy_mutex_unlock(&device->runs->mutex);
}

uint64_t vy_run_last_value(vyre_device *device, vy_run *run)
{
    vy_runs *runs = device->runs;
    uint64_t value = 0;
    vy_mutex_lock(&runs->mutex);
    while (run->state == VY_RUN_ACTIVE && run->is_driven) {
        vy_condition_wait(&runs->changed, &runs->mutex, UINT64_MAX);
    }
    if (run->state == VY_RUN_DONE || run->replay.is_sent) {
        value = run->replay.last_value;
    }
    vy_mutex_unlock(&runs->mutex);
    return value;
}

void vy_run_abandon(vyre_device *device, vy_run *run)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    while (run->state == VY_RUN_ACTIVE && run->is_driven) {
        /* It may be writing the caller's memory. */
        vy_condition_wait(&runs->changed, &runs->mutex, UINT64_MAX);
    }
    if (run->state == VY_RUN_DONE) {
        give_back(runs, run);
    } else if (run->state == VY_RUN_ACTIVE) {
        run->is_abandoned = run->is_stop_wanted = true;
        runs->abandoned++;
        vy_count(device, parked, 1);
        vy_count(device, parked_alive, 1);
    }
    vy_mutex_unlock(&runs->mutex);
    vy_runs_collect(device);
}

void vy_runs_collect(vyre_device *device)
{
    vy_runs *runs = device->runs;
    for (uint32_t i = 0;; i++) {
        vy_run *run = NULL;
        vy_mutex_lock(&runs->mutex);
        bool is_end = runs->abandoned == 0 || i >= runs->count;
        if (!is_end && runs->list[i]->is_abandoned && take_driving(runs->list[i])) {
            run = runs->list[i];
        }
        vy_mutex_unlock(&runs->mutex);
        if (is_end) {
            return;
        }
        if (run) {
            leave_driving(device, run, step(run));
        }
    }
}

void vy_runs_end(vyre_device *device, const vyre_pipeline *pipeline)
{
    vy_runs *runs = device->runs;
    for (uint32_t i = 0; runs; i++) {
        vy_mutex_lock(&runs->mutex);
        vy_run *run = i < runs->count ? runs->list[i] : NULL;
        bool is_meant =
            run && run->state != VY_RUN_FREE && (!pipeline || run->pipeline == pipeline);
        if (is_meant) {
            run->is_stop_wanted = true;
            run->waiters++;
        }
        vy_mutex_unlock(&runs->mutex);
        if (!run) {
            return;
        }
        if (!is_meant) {
            continue;
        }
        if (run->is_abandoned) {
            vy_queue_drain(device, run->replay.last_value);
            vy_runs_collect(device);
        } else if (vy_run_wait(device, run, UINT64_MAX, NULL) == VYRE_OK) {
            (void)vy_run_finish(device, run, NULL, NULL);
        }
        vy_run_unhold(device, run);
    }
}

/* ---- The device's thread --------------------------------------------------------------------- */

static vy_thread_result VY_THREAD_CALL drive_all(void *argument)
{
    vyre_device *device = argument;
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    while (!runs->is_ending) {
        uint64_t value = 0;
        for (uint32_t i = 0; i < runs->count; i++) {
            vy_run *run = runs->list[i];
            if (!take_driving(run)) {
                continue;
            }
            vy_mutex_unlock(&runs->mutex);
            bool has_ended = step(run);
            uint64_t next = has_ended ? 0 : awaited(run);
            leave_driving(device, run, has_ended);
            vy_mutex_lock(&runs->mutex);
            value = next && (value == 0 || next < value) ? next : value;
        }
        if (value) {
            vy_mutex_unlock(&runs->mutex);
            (void)vy_queue_wait(device, value, vy_clock_ns() + TICK_NS, "work in flight", NULL);
            vy_mutex_lock(&runs->mutex);
        } else if (!runs->is_ending) {
            vy_condition_wait(&runs->changed, &runs->mutex, runs->active ? TICK_NS : UINT64_MAX);
        }
    }
    vy_mutex_unlock(&runs->mutex);
    return 0;
}

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

static vyre_result make_ready(vy_run *run, vyre_diag *diag)
{
    vyre_pipeline *p = run->pipeline;
    vy_job *job = &run->job;
    vy_choice choice = {job->binder->interface, job->is_aliased, job->shape.is_folded};
    vy_moves_list(p, job, &run->moves);
    vyre_result code = vy_pipeline_prepare(p, choice, diag);
    if (code == VYRE_OK) {
        code = vy_engine_kernels_prepare(p->device, job->binder, p->has_until,
                                         run->moves.block_count > 0, diag);
    }
    if (code == VYRE_OK) {
        code = vy_pool_take(p, job, choice, &run->moves, &run->instance, diag);
    }
    if (code == VYRE_OK) {
        run->instance->descriptor_writes = 0;
        code = vy_instance_prepare(p, run->instance, job, choice, &run->moves, true, diag);
    }
    uint64_t start = vy_clock_ns();
    if (code == VYRE_OK) {
        vy_report_memory(run->instance, &run->report);
        code = stage_inputs(run, diag);
    }
    for (uint32_t l = 0; code == VYRE_OK && l < VY_MAX_LANES; l++) {
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
    if (sync->wait_count > VY_MAX_HOST_SEMAPHORES || sync->signal_count > VY_MAX_HOST_SEMAPHORES) {
        return vy_invalid(diag,
                          "more than %u semaphores to wait for or to signal were given. Fix: "
                          "give fewer",
                          VY_MAX_HOST_SEMAPHORES);
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
    run->report.plan_ns = vy_clock_ns() - run->start_ns;
    if (code != VYRE_OK) {
        return code;
    }
    code = make_ready(run, diag);
    if (code == VYRE_OK) {
        run->replay = (vy_replay){.pipeline = p,
                                  .instance = run->instance,
                                  .limit = run->job.shape.passes,
                                  .label = run->label};
        code = take_sync(run, params->sync, diag);
    }
    if (code == VYRE_OK) {
        run->report.strategy = "replay";
        run->report.bindings = run->job.binder->name;
        run->report.is_folded = run->job.shape.is_folded;
        run->report.segments = run->job.execution_count;
        code = vy_replay_start(&run->replay, &run->report, diag);
        run->report.descriptor_writes = run->instance->descriptor_writes;
    }
    return code;
}

vyre_result vy_run_start(vyre_pipeline *p, const vyre_dispatch_params *params, vy_run *run,
                         vyre_diag *diag)
{
    vyre_device *device = p->device;
    run->pipeline = p;
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
    snprintf(run->label, sizeof run->label, "%.63s",
             params->label ? params->label : vyre_kernel_name(p->kernel));
    vy_runs_collect(device);
    vy_scratch_reset(&run->scratch);
    vyre_result code = begin(run, params, diag);
    if (code == VYRE_OK) {
        if (run->replay.is_sent) {
            vy_job_release(p, &run->job, run->replay.last_value);
        }
        run->report.enqueue_ns = vy_clock_ns() - run->start_ns;
        leave_driving(device, run, false);
        return VYRE_OK;
    }
    vy_queue_drain(device, run->replay.last_value);
    vy_job_release(p, &run->job, run->replay.last_value);
    if (run->instance) {
        run->instance->is_shaped = false;
        vy_pool_give(p, run->instance);
        run->instance = NULL;
    }
    vy_mutex_lock(&device->runs->mutex);
    give_back(device->runs, run);
    vy_mutex_unlock(&device->runs->mutex);
    return code;
}
