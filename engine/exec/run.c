/* The table of runs and their tickets. */
#include "engine/exec/run_parts.h"

#define INDEX_BITS 24u
#define FIELD_MASK 0xffffffu

static void collect(vyre_device *device)
{
    vy_runs_collect(device);
    vy_recordings_collect(device, NULL);
}

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
        runs->has_thread = vy_thread_start(&runs->thread, vy_runs_drive, device) == 0;
        ok = runs->has_thread;
    }
    if (!ok) {
        vy_runs_destroy(device);
        return vy_diag_no_memory(diag);
    }
    device->evict = vy_pool_evict;
    device->mover = vy_transfer_mover(device);
    device->collect = collect;
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
    device->mover = NULL;
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
    device->collect = NULL;
    device->runs = NULL;
    vy_free(&device->allocator, runs, sizeof *runs);
}

vy_engine_kernels *vy_runs_kernels(vyre_device *device)
{
    return &device->runs->kernels;
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

vy_run *vy_run_take(vyre_pipeline *pipeline)
{
    vyre_device *device = pipeline->device;
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    vy_run *run = find_free(runs);
    if (!run) {
        run = add_run(device);
    }
    if (run) {
        run->state = VY_RUN_ACTIVE;
        run->pipeline = pipeline;
        run->is_driven = true; /* by whoever starts it */
        run->is_abandoned = run->is_stop_wanted = false;
        run->last_count = 0;
        run->marks = NULL;
        run->blocked = 0;
        run->blocked_ns = 0;
        runs->active++;
    }
    vy_mutex_unlock(&runs->mutex);
    return run;
}

/* Under the lock: the run is free, its tickets are stale. */
void vy_run_give_back(vy_runs *runs, vy_run *run)
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

/* ---- Results ----------------------------------------------------------------------------------
 */

/* Under the lock. */
static vyre_result take_result(const vy_run *run, vyre_report *out_report, vyre_diag *diag)
{
    if (out_report) {
        *out_report = run->report;
        out_report->waits = run->blocked;
        out_report->wait_ns = run->blocked_ns;
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
    vy_run_give_back(device->runs, run);
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
        vy_run_give_back(runs, run);
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
    vy_run_give_back(device->runs, run);
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
