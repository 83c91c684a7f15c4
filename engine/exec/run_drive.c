/* What moves a run on: looks at what has ended, submits what may follow, and at last reads the
 * outputs. One thread at a time does it, whoever polls or waits, or the device's own. */
#include "engine/exec/run_parts.h"

#include <string.h>

#define TICK_NS 2000000u /* how long the device's thread sleeps at most while something runs */

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

/* Takes what the run holds back; its result is there afterwards. By the thread that drives it. */
static void end_run(vy_run *run, vyre_result code)
{
    vyre_pipeline *p = run->pipeline;
    vyre_device *device = p->device;
    if (code == VYRE_ERROR_DEVICE_LOST) {
        vy_run_note_loss(device, run, &run->diag);
    }
    if (code == VYRE_OK && !run->replay.is_sent) {
        code = vy_invalid(&run->diag,
                          "%s was given up before its last pass. Fix: wait for its "
                          "ticket, and destroy its pipeline later",
                          run->label);
    } else if (code == VYRE_OK && !run->is_abandoned) {
        code = read_outputs(run, &run->diag);
    }
    if (code == VYRE_OK) {
        vy_replay_fill_report(&run->replay, &run->report);
        count_run(device, &run->report);
    }
    vy_job_release(p, &run->job, run->replay.last_value);
    if (run->instance) {
        run->report.descriptor_writes = run->instance->descriptor_writes;
        if (code != VYRE_OK) {
            run->instance->is_shaped = false;
        }
        vy_pool_give(p, run->instance);
        run->instance = NULL;
    }
    run->result = code;
    run->report.wall_ns = vy_clock_ns() - run->start_ns;
    if (device->debug & VYRE_DEBUG_TRACE) {
        vy_log_write(&device->log, VYRE_LOG_DEBUG,
                     "ended %s: %s, %u passes, %u chunks, read back in %llu, all in %llu ns",
                     run->label, vyre_result_text(code), (unsigned)run->report.passes,
                     (unsigned)run->report.chunks, (unsigned long long)run->report.readback_ns,
                     (unsigned long long)run->report.wall_ns);
    }
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

bool vy_run_take_driving(vy_run *run)
{
    if (run->state != VY_RUN_ACTIVE || run->is_driven) {
        return false;
    }
    run->is_driven = true;
    run->replay.is_stopped = run->replay.is_stopped || run->is_stop_wanted;
    return true;
}

void vy_run_leave_driving(vyre_device *device, vy_run *run, bool has_ended)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    run->is_driven = false;
    if (has_ended && run->is_abandoned) {
        vy_run_give_back(runs, run);
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

/* A wait that failed: what the device may still write is kept until it is proven idle. The run ends
 * with its first error, which is not always the wait's. */
static vyre_result park(vyre_device *device, vy_run *run, vyre_result code, vyre_diag *diag)
{
    vy_mutex_lock(&device->runs->mutex);
    while (run->state == VY_RUN_ACTIVE && run->is_driven) {
        vy_condition_wait(&device->runs->changed, &device->runs->mutex, UINT64_MAX);
    }
    bool has_ended = run->state != VY_RUN_ACTIVE; /* another thread's wait did not fail */
    if (!has_ended && run->result == VYRE_OK) {
        run->result = code;
    } else if (!has_ended) {
        code = run->result;
        if (diag) {
            *diag = run->diag;
        }
    }
    vy_mutex_unlock(&device->runs->mutex);
    if (has_ended) {
        return VYRE_OK;
    }
    vy_log_write(&device->log, VYRE_LOG_WARNING,
                 "waiting for %s failed: its memory is kept until the device is proven idle",
                 run->label);
    vy_run_abandon(device, run);
    return code;
}

/* What the timeline must reach before the run can go on; after an error, before it can end. */
static uint64_t awaited(const vy_run *run)
{
    uint64_t value = run->result == VYRE_OK ? vy_replay_next_value(&run->replay) : 0;
    return value ? value : run->replay.last_value;
}

/* Blocks until the run may go on; the time counts as the run's, while it is still this one. */
static vyre_result block(vyre_device *device, vy_run *run, uint32_t generation, uint64_t value,
                         uint64_t deadline_ns, vyre_diag *diag)
{
    vy_runs *runs = device->runs;
    uint64_t start = vy_clock_ns();
    bool has_blocked = false;
    vyre_result code =
        vy_queue_wait_noting(device, value, deadline_ns, run->label, &has_blocked, diag);
    vy_mutex_lock(&runs->mutex);
    if (has_blocked && run->generation == generation) {
        run->blocked++;
        run->blocked_ns += vy_clock_ns() - start;
    }
    vy_mutex_unlock(&runs->mutex);
    return code;
}

vyre_result vy_run_wait(vyre_device *device, vy_run *run, uint64_t deadline_ns, vyre_diag *diag)
{
    vy_runs *runs = device->runs;
    for (;;) {
        vy_mutex_lock(&runs->mutex);
        if (run->state != VY_RUN_ACTIVE) {
            vy_mutex_unlock(&runs->mutex);
            return VYRE_OK;
        }
        uint32_t generation = run->generation;
        uint64_t now = vy_clock_ns();
        bool is_late = deadline_ns != UINT64_MAX && now >= deadline_ns;
        if (!vy_run_take_driving(run)) {
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
        vy_run_leave_driving(device, run, has_ended);
        if (is_late && !has_ended) {
            break;
        }
        vyre_result code = VYRE_OK;
        if (!has_ended) {
            code = block(device, run, generation, value, deadline_ns, diag);
        }
        if (code == VYRE_ERROR_TIMEOUT) {
            return code;
        }
        if (code != VYRE_OK && code != VYRE_ERROR_DEVICE_LOST) {
            return park(device, run, code, diag);
        }
    }
    return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                       "%s has not ended within the time given. Fix: wait again, or give more time",
                       run->label);
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
        vy_run_give_back(runs, run);
    } else if (run->state == VY_RUN_ACTIVE && !run->is_abandoned) {
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
        if (!is_end && runs->list[i]->is_abandoned && vy_run_take_driving(runs->list[i])) {
            run = runs->list[i];
        }
        vy_mutex_unlock(&runs->mutex);
        if (is_end) {
            return;
        }
        if (run) {
            vy_run_leave_driving(device, run, step(run));
        }
    }
}

/* Moves a run to its end whatever happens, without submitting more of it. Held by the caller. */
static void force_end(vyre_device *device, vy_run *run)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    uint32_t generation = run->generation;
    run->is_stop_wanted = true;
    while (run->state == VY_RUN_ACTIVE && run->generation == generation) {
        if (!vy_run_take_driving(run)) {
            vy_condition_wait(&runs->changed, &runs->mutex, UINT64_MAX);
            continue;
        }
        vy_mutex_unlock(&runs->mutex);
        vy_queue_drain(device, run->replay.last_value);
        bool has_ended = step(run);
        if (!has_ended && run->replay.is_stopped) {
            /* The timeline cannot be read: draining it was the proof. */
            end_run(run, run->result == VYRE_OK ? VYRE_ERROR_DISPATCH_FAILED : run->result);
            has_ended = true;
        }
        vy_run_leave_driving(device, run, has_ended);
        vy_mutex_lock(&runs->mutex);
    }
    if (run->state == VY_RUN_DONE && run->generation == generation) {
        vy_run_give_back(runs, run);
    }
    vy_mutex_unlock(&runs->mutex);
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
            run->waiters++;
        }
        vy_mutex_unlock(&runs->mutex);
        if (!run) {
            return;
        }
        if (is_meant) {
            force_end(device, run);
            vy_run_unhold(device, run);
        }
    }
}

/* ---- The device's thread --------------------------------------------------------------------- */

vy_thread_result VY_THREAD_CALL vy_runs_drive(void *argument)
{
    vyre_device *device = argument;
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    while (!runs->is_ending) {
        uint64_t value = 0;
        for (uint32_t i = 0; i < runs->count; i++) {
            vy_run *run = runs->list[i];
            if (!vy_run_take_driving(run)) {
                continue;
            }
            vy_mutex_unlock(&runs->mutex);
            bool has_ended = step(run);
            uint64_t next = has_ended ? 0 : awaited(run);
            vy_run_leave_driving(device, run, has_ended);
            vy_mutex_lock(&runs->mutex);
            value = next && (value == 0 || next < value) ? next : value;
        }
        if (value) {
            vy_mutex_unlock(&runs->mutex);
            vyre_result code =
                vy_queue_wait(device, value, vy_clock_ns() + TICK_NS, "work in flight", NULL);
            vy_mutex_lock(&runs->mutex);
            if (code != VYRE_OK && code != VYRE_ERROR_TIMEOUT && !runs->is_ending) {
                vy_condition_wait(&runs->changed, &runs->mutex, TICK_NS);
            }
        } else if (!runs->is_ending) {
            vy_condition_wait(&runs->changed, &runs->mutex, runs->active ? TICK_NS : UINT64_MAX);
        }
    }
    vy_mutex_unlock(&runs->mutex);
    return 0;
}
