/* Queues in flight and their tickets: taken, driven by one thread at a time, given back. */
#include "engine/device/device.h"
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/words.h"

#include <string.h>

/* ---- Taking and giving back ------------------------------------------------------------------ */

static void free_queue(vyre_dispatcher *d, vy_mk_queue *q)
{
    if (q->has_arena) {
        vy_arena_finish(&q->arena);
        q->has_arena = false;
    }
    vy_mutex_lock(&d->mutex);
    q->state = VY_MK_FREE;
    q->is_driven = false;
    vy_mutex_unlock(&d->mutex);
}

/* Sets a queue free that was given up: one whose last slice has ended, or ends by then. */
static void reap(vyre_dispatcher *d, uint64_t deadline)
{
    bool has_freed = false;
    for (uint32_t i = 0; i < d->queue_count && !has_freed; i++) {
        vy_mk_queue *q = &d->queues[i];
        vyre_diag ignored;
        vy_mutex_lock(&d->mutex);
        bool is_ours = q->state == VY_MK_DROPPED && !q->is_driven;
        q->is_driven = q->is_driven || is_ours;
        vy_mutex_unlock(&d->mutex);
        if (!is_ours) {
            continue;
        }
        if (vy_mk_queue_land(d, q, deadline, &ignored) == VYRE_ERROR_TIMEOUT) {
            vy_mutex_lock(&d->mutex);
            q->is_driven = false;
            vy_mutex_unlock(&d->mutex);
        } else {
            free_queue(d, q);
            has_freed = true;
        }
    }
}

void vy_mk_queue_take_device(vyre_dispatcher *d, vy_mk_queue *q)
{
    q->device = d->device;
    q->generation = d->generation;
    q->limits = d->limits;
    q->most_groups = d->most_groups;
    q->offset_alignment = d->offset_alignment;
    for (uint32_t b = 0; b < d->binding_count; b++) {
        q->bindings[b] = d->bindings[b];
    }
}

/* One that is free, the one with the most memory; it is driven by the caller then. */
static vy_mk_queue *take_free(vyre_dispatcher *d)
{
    vy_mk_queue *best = NULL;
    vy_mutex_lock(&d->mutex);
    for (uint32_t i = 0; i < d->queue_count; i++) {
        vy_mk_queue *q = &d->queues[i];
        if (q->state == VY_MK_FREE &&
            (!best || q->memory.ring_capacity > best->memory.ring_capacity)) {
            best = q;
        }
    }
    if (best) {
        memset(best, 0, offsetof(vy_mk_queue, memory));
        best->state = VY_MK_SET_UP;
        best->is_driven = true;
        best->serial = ++d->serial & 0xffffffffffu;
        vy_mk_queue_take_device(d, best);
    }
    vy_mutex_unlock(&d->mutex);
    return best;
}

static vyre_queue_report no_report(void)
{
    return (vyre_queue_report){.fault_slot = VYRE_DIAG_NONE, .device_ns = VYRE_NS_NONE};
}

/* may_wait: for the last slice of one that was given up. */
static vyre_result take_queue(vyre_dispatcher *d, const vyre_queue_params *params, bool may_wait,
                              vy_mk_queue **out_queue, vyre_diag *diag)
{
    uint64_t called = vy_clock_ns();
    vyre_queue_params p;
    vyre_queue_params_init(&p);
    vyre_result code = params ? vy_params_read(vyre_queue_params, &p, params, diag) : VYRE_OK;
    if (code != VYRE_OK) {
        return code;
    }
    vy_mk_queue *q = take_free(d);
    if (!q) {
        reap(d, 0);
        q = take_free(d);
    }
    if (!q && may_wait) {
        reap(d, vy_deadline(p.max_wall_ns));
        q = take_free(d);
    }
    if (!q) {
        return vy_diag_set(
            diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
            "%u queues are in flight, as many as there may be. Fix: wait for one, or "
            "raise max_in_flight",
            (unsigned)d->queue_count);
    }
    vy_arena_init(&q->arena, &d->allocator);
    q->has_arena = true;
    q->called = called;
    q->params = p;
    q->report = no_report();
    q->deadline = vy_deadline(p.max_wall_ns);
    *out_queue = q;
    return VYRE_OK;
}

/* Nobody waits for it any more. */
static void leave(vyre_dispatcher *d, vy_mk_queue *q)
{
    vy_mk_trial_end(d, q, VYRE_ERROR_TIMEOUT);
    if (q->state != VY_MK_RUNNING) {
        free_queue(d, q);
        return;
    }
    vy_mutex_lock(&d->mutex);
    q->state = VY_MK_DROPPED;
    q->is_driven = false;
    vy_mutex_unlock(&d->mutex);
}

void vy_mk_queues_finish(vyre_dispatcher *d)
{
    for (uint32_t i = 0; i < d->queue_count; i++) {
        vy_mk_queue *q = &d->queues[i];
        vyre_diag ignored;
        if (q->state == VY_MK_RUNNING || q->state == VY_MK_DROPPED) {
            (void)vy_mk_queue_land(d, q, UINT64_MAX, &ignored);
        }
        if (q->has_arena) {
            vy_arena_finish(&q->arena);
            q->has_arena = false;
        }
        vy_mk_memory_finish(d, &q->memory);
    }
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void add_claims(vyre_dispatcher *d, const vy_mk_queue *q)
{
    uint32_t claims[VYRE_PRIORITY_COUNT];
    vyre_diag ignored;
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        claims[p] = vy_mk_get(q->memory.control, VYRE_CONTROL_PRIORITY_FAIRNESS + p);
    }
    uint32_t starvation = vy_mk_get(q->memory.control, VYRE_CONTROL_PRIORITY_STARVATION);
    if (vy_mk_priority_should_drain(vy_mk_policy_standard(), &d->totals)) {
        (void)vy_mk_priority_drain(&d->totals);
    }
    vyre_result code = vy_mk_priority_add(&d->totals, claims, starvation, &ignored);
    (void)code; /* an overflow, which draining has made impossible */
}

static void count(vyre_dispatcher *d, vy_mk_queue *q, vyre_result code)
{
    vyre_diag ignored;
    vy_mk_trial_end(d, q, code);
    vy_mutex_lock(&d->mutex);
    if (code == VYRE_ERROR_TIMEOUT) {
        d->counters.timeouts++;
    } else {
        d->counters.queues++;
        d->counters.items += q->report.given;
        d->counters.launches += q->report.launches;
        vyre_result sum =
            vy_mk_statistics_add(&d->statistics, q->report.given, q->report.wall_ns, &ignored);
        (void)sum; /* 2^64 ns are 584 years */
        if (q->report.launches) {
            add_claims(d, q);
        }
    }
    vy_mutex_unlock(&d->mutex);
}

/* ---- Run ------------------------------------------------------------------------------------- */

static vyre_result run(vyre_dispatcher *d, const vyre_work_item *items, uint32_t item_count,
                       bool is_ring, void *ring, size_t size, const vyre_queue_params *params,
                       vyre_queue_report *out_report, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vy_diag_clear(diag);
    vyre_result code = take_queue(d, params, true, &q, diag);
    if (code == VYRE_ERROR_BUSY && out_report) {
        *out_report = no_report(); /* nothing is known */
    }
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_mk_queue_set_up(d, q, items, item_count, is_ring, ring, size, diag);
    if (code == VYRE_OK) {
        code = vy_mk_queue_drive(d, q, UINT64_MAX, diag);
    }
    if (code != VYRE_ERROR_INVALID_ARGUMENT) {
        q->report.wall_ns = vy_clock_ns() - q->called;
        count(d, q, code);
        if (out_report) {
            *out_report = q->report;
        }
    }
    leave(d, q);
    return code;
}

static vyre_result check_dispatcher(const vyre_dispatcher *d, vyre_diag *diag)
{
    return d ? VYRE_OK : vy_invalid(diag, "the dispatcher is NULL. Fix: create it first");
}

vyre_result vyre_dispatcher_run(vyre_dispatcher *dispatcher, const vyre_work_item *items,
                                uint32_t item_count, const vyre_queue_params *params,
                                vyre_queue_report *out_report, vyre_diag *diag)
{
    vyre_result code = check_dispatcher(dispatcher, diag);
    return code == VYRE_OK
               ? run(dispatcher, items, item_count, false, NULL, 0, params, out_report, diag)
               : code;
}

vyre_result vyre_dispatcher_run_bytes(vyre_dispatcher *dispatcher, const void *items, size_t size,
                                      const vyre_queue_params *params,
                                      vyre_queue_report *out_report, vyre_diag *diag)
{
    vyre_result code = check_dispatcher(dispatcher, diag);
    if (code == VYRE_OK) {
        code = vy_mk_check_memory(items, size, sizeof(vyre_work_item), "a queue of items", diag);
    }
    if (code == VYRE_OK && size / sizeof(vyre_work_item) > UINT32_MAX) {
        code = vy_invalid(
            diag, "%zu bytes hold more than 2^32 - 1 items. Fix: hand them over in parts", size);
    }
    return code == VYRE_OK ? run(dispatcher, items, (uint32_t)(size / sizeof(vyre_work_item)),
                                 false, NULL, 0, params, out_report, diag)
                           : code;
}

vyre_result vyre_dispatcher_run_ring(vyre_dispatcher *dispatcher, void *ring, size_t size,
                                     const vyre_queue_params *params, vyre_queue_report *out_report,
                                     vyre_diag *diag)
{
    vyre_result code = check_dispatcher(dispatcher, diag);
    return code == VYRE_OK ? run(dispatcher, NULL, 0, true, ring, size, params, out_report, diag)
                           : code;
}

/* ---- Tickets --------------------------------------------------------------------------------- */

static vyre_queue_ticket ticket_of(const vyre_dispatcher *d, const vy_mk_queue *q)
{
    uint64_t index = (uint64_t)(q - d->queues) + 1;
    return (vyre_queue_ticket){(uint64_t)d->id << 48 | q->serial << 8 | index};
}

/* The ticket's queue, driven by this thread from then on. Errors: INVALID_ARGUMENT: stale or
 * another's; BUSY: another thread drives it. */
static vyre_result hold_any(vyre_dispatcher *d, vyre_queue_ticket ticket, vy_mk_queue **out_queue,
                            vyre_diag *diag)
{
    vyre_result code = check_dispatcher(d, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_diag_clear(diag);
    uint64_t index = (ticket.bits & 0xff) - 1;
    vy_mutex_lock(&d->mutex);
    vy_mk_queue *q = index < d->queue_count ? &d->queues[index] : NULL;
    bool is_stale = !q || ticket.bits >> 48 != d->id || q->state == VY_MK_FREE ||
                    q->state == VY_MK_DROPPED || q->state == VY_MK_SET_UP ||
                    q->serial != (ticket.bits >> 8 & 0xffffffffffu);
    bool is_busy = !is_stale && q->is_driven;
    if (!is_stale && !is_busy) {
        q->is_driven = true;
    }
    vy_mutex_unlock(&d->mutex);
    if (is_stale) {
        return vy_invalid(diag,
                          "the ticket is stale or another dispatcher's. Fix: use each ticket until "
                          "it was waited for or dropped, and no longer");
    }
    if (is_busy) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "another thread waits for this queue. Fix: let one thread wait for it");
    }
    *out_queue = q;
    return VYRE_OK;
}

static void let_go(vyre_dispatcher *d, vy_mk_queue *q)
{
    vy_mutex_lock(&d->mutex);
    q->is_driven = false;
    vy_mutex_unlock(&d->mutex);
}

/* The same of one that was submitted. */
static vyre_result hold(vyre_dispatcher *d, vyre_queue_ticket ticket, vy_mk_queue **out_queue,
                        vyre_diag *diag)
{
    vyre_result code = hold_any(d, ticket, out_queue, diag);
    if (code == VYRE_OK && (*out_queue)->state == VY_MK_MAPPED) {
        let_go(d, *out_queue);
        code = vy_invalid(diag, "the ticket's queue is being written. Fix: submit it with "
                                "vyre_dispatcher_submit_mapped first");
    }
    return code;
}

static vyre_result submit(vyre_dispatcher *d, const vyre_work_item *items, uint32_t item_count,
                          bool is_ring, void *ring, size_t size, const vyre_queue_params *params,
                          vyre_queue_ticket *out_ticket, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vy_diag_clear(diag);
    if (!out_ticket) {
        return vy_invalid(diag, "out_ticket is NULL. Fix: pass where the ticket goes");
    }
    *out_ticket = (vyre_queue_ticket){0};
    vyre_result code = take_queue(d, params, false, &q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_mk_queue_set_up(d, q, items, item_count, is_ring, ring, size, diag);
    if (code == VYRE_OK && q->state == VY_MK_READY) {
        code = vy_mk_queue_launch(d, q, diag);
        if (code == VYRE_ERROR_DEVICE_LOST && vy_mk_queue_recover(d, q, diag)) {
            code = vy_mk_queue_launch(d, q, diag);
        }
    }
    if (code != VYRE_OK) {
        leave(d, q);
        return code;
    }
    *out_ticket = ticket_of(d, q);
    vy_mutex_lock(&d->mutex);
    q->is_driven = false;
    vy_mutex_unlock(&d->mutex);
    return VYRE_OK;
}

vyre_result vyre_dispatcher_submit(vyre_dispatcher *dispatcher, const vyre_work_item *items,
                                   uint32_t item_count, const vyre_queue_params *params,
                                   vyre_queue_ticket *out_ticket, vyre_diag *diag)
{
    vyre_result code = check_dispatcher(dispatcher, diag);
    return code == VYRE_OK
               ? submit(dispatcher, items, item_count, false, NULL, 0, params, out_ticket, diag)
               : code;
}

vyre_result vyre_dispatcher_map(vyre_dispatcher *dispatcher, uint32_t item_count,
                                const vyre_queue_params *params, vyre_work_item **out_items,
                                vyre_queue_ticket *out_ticket, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vyre_result code = check_dispatcher(dispatcher, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_diag_clear(diag);
    if (!out_items || !out_ticket) {
        return vy_invalid(diag, "out_items or out_ticket is NULL. Fix: pass where they go");
    }
    *out_items = NULL;
    *out_ticket = (vyre_queue_ticket){0};
    code = take_queue(dispatcher, params, false, &q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_mk_queue_map(dispatcher, q, item_count, out_items, diag);
    if (code != VYRE_OK) {
        leave(dispatcher, q);
        return code;
    }
    *out_ticket = ticket_of(dispatcher, q);
    let_go(dispatcher, q);
    return VYRE_OK;
}

vyre_result vyre_dispatcher_submit_mapped(vyre_dispatcher *dispatcher, vyre_queue_ticket ticket,
                                          uint32_t item_count, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vyre_result code = hold_any(dispatcher, ticket, &q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (q->state != VY_MK_MAPPED) {
        let_go(dispatcher, q);
        return vy_invalid(diag, "the ticket's queue is not being written. Fix: take it from "
                                "vyre_dispatcher_map, and submit it once");
    }
    code = vy_mk_queue_unmap(dispatcher, q, item_count, diag);
    if (code == VYRE_OK && q->state == VY_MK_READY) {
        code = vy_mk_queue_launch(dispatcher, q, diag);
    }
    let_go(dispatcher, q);
    return code;
}

vyre_result vyre_dispatcher_submit_ring(vyre_dispatcher *dispatcher, void *ring, size_t size,
                                        const vyre_queue_params *params,
                                        vyre_queue_ticket *out_ticket, vyre_diag *diag)
{
    vyre_result code = check_dispatcher(dispatcher, diag);
    return code == VYRE_OK ? submit(dispatcher, NULL, 0, true, ring, size, params, out_ticket, diag)
                           : code;
}

vyre_result vyre_dispatcher_poll(vyre_dispatcher *dispatcher, vyre_queue_ticket ticket,
                                 int *out_is_done, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vyre_diag ignored;
    if (!out_is_done) {
        return vy_invalid(diag, "out_is_done is NULL. Fix: pass where the answer goes");
    }
    vyre_result code = hold(dispatcher, ticket, &q, diag);
    if (code == VYRE_ERROR_BUSY) {
        *out_is_done = 0; /* who waits for it sees its end */
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_mk_queue_drive(dispatcher, q, 0, &ignored);
    *out_is_done =
        q->state == VY_MK_ENDED || (q->state == VY_MK_READY && vy_clock_ns() >= q->deadline);
    let_go(dispatcher, q);
    return VYRE_OK;
}

vyre_result vyre_dispatcher_wait(vyre_dispatcher *dispatcher, vyre_queue_ticket *ticket,
                                 uint64_t timeout_ns, vyre_queue_report *out_report,
                                 vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vyre_result code = hold(dispatcher, ticket ? *ticket : (vyre_queue_ticket){0}, &q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint64_t deadline = timeout_ns == UINT64_MAX ? UINT64_MAX
                        : timeout_ns             ? vy_deadline(timeout_ns)
                                                 : 0;
    code = vy_mk_queue_drive(dispatcher, q, deadline, diag);
    q->report.wall_ns = vy_clock_ns() - q->called;
    count(dispatcher, q, code);
    if (out_report) {
        *out_report = q->report;
    }
    if (code == VYRE_ERROR_TIMEOUT) {
        let_go(dispatcher, q);
    } else {
        leave(dispatcher, q);
        *ticket = (vyre_queue_ticket){0};
    }
    return code;
}

vyre_result vyre_dispatcher_resume(vyre_dispatcher *dispatcher, vyre_queue_ticket ticket,
                                   uint64_t max_wall_ns, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vyre_result code = hold(dispatcher, ticket, &q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (max_wall_ns == 0) {
        code = vy_invalid(diag, "0 ns are given to go on. Fix: give 1 ns or more");
    } else {
        q->deadline = vy_deadline(max_wall_ns);
    }
    let_go(dispatcher, q);
    return code;
}

vyre_result vyre_dispatcher_drop(vyre_dispatcher *dispatcher, vyre_queue_ticket *ticket,
                                 vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vyre_result code = hold_any(dispatcher, ticket ? *ticket : (vyre_queue_ticket){0}, &q, diag);
    if (code == VYRE_OK) {
        leave(dispatcher, q);
        *ticket = (vyre_queue_ticket){0};
    }
    return code;
}

/* ---- Warm-up --------------------------------------------------------------------------------- */

vyre_result vyre_dispatcher_warm_up(vyre_dispatcher *dispatcher, vyre_diag *diag)
{
    vy_mk_queue *q = NULL;
    vy_mk_launch launch;
    uint64_t compile_ns = 0;
    const vy_mk_launch_request request = {.queue_length = 1};
    vyre_result code = check_dispatcher(dispatcher, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_diag_clear(diag);
    code = take_queue(dispatcher, NULL, true, &q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_mk_launch_plan(&q->limits, &request, &launch, diag);
    for (int waves = 0; code == VYRE_OK && waves < 2; waves++) {
        q->variant = (vy_mk_variant){.form = VY_DRAIN_OF_ITEMS,
                                     .claim = dispatcher->claim,
                                     .workgroup = launch.width,
                                     .in_waves = waves == 1};
        code = vy_mk_program_take(dispatcher, q, &q->program, &compile_ns, diag);
        if (code == VYRE_OK) {
            vy_mk_program_give(dispatcher, q->program);
        }
    }
    free_queue(dispatcher, q);
    return code;
}
