/* How a queue gets from slice to slice: what the last one left decides what the next one does. */
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/ratio.h"
#include "engine/megakernel/words.h"

#include <string.h>

/* ---- Requests -------------------------------------------------------------------------------- */

/* The slot of a request that has ended goes on in the next slice. */
static vyre_result complete(vy_mk_queue *q, const vyre_io_request *request, uint32_t status,
                            vyre_diag *diag)
{
    void *ring = vy_mk_memory_ring(&q->memory);
    uint64_t at = (uint64_t)request->tag * VYRE_SLOT_SIZE;
    size_t size = (size_t)q->slot_count * VYRE_SLOT_SIZE;
    if (!q->posts_io || request->tag >= q->slot_count) {
        return VYRE_OK; /* a request of the caller's own */
    }
    vyre_result code = vy_mk_memory_sync(q, at, VYRE_SLOT_SIZE, VYRE_MAPPED_FROM_DEVICE, diag);
    if (code == VYRE_OK &&
        vy_mk_get(ring, at / 4 + VYRE_SLOT_STATUS) == (uint32_t)VYRE_STATUS_WAIT_IO) {
        code = vyre_ring_complete_load(ring, size, request->tag, status, diag);
        q->has_work_again = true;
    }
    return code == VYRE_OK ? vy_mk_memory_sync(q, at, VYRE_SLOT_SIZE, VYRE_MAPPED_TO_DEVICE, diag)
                           : code;
}

/* Hands what slots asked for to the caller. Nothing of the queue is in flight, and no lock is held.
 */
static vyre_result serve(vy_mk_queue *q, vyre_diag *diag)
{
    uint32_t indices[VYRE_MAX_IO_SLOTS], count = 0;
    if (!q->params.io || q->io_size == 0 || q->variant.polls_io) {
        return VYRE_OK;
    }
    vyre_result code = vyre_io_poll(q->io, q->io_size, indices, &count, diag);
    for (uint32_t i = 0; code == VYRE_OK && i < count; i++) {
        vyre_io_request request;
        code = vyre_io_claim(q->io, q->io_size, indices[i], &request, diag);
        if (code != VYRE_OK) {
            break;
        }
        bool is_known = request.op >= VYRE_IO_READ && request.op <= VYRE_IO_FENCE;
        bool done = is_known && q->params.io(q->params.io_user, &request);
        const vyre_io_completion completion = {indices[i], done ? VYRE_IO_OK : VYRE_IO_ERROR};
        code = vyre_io_complete(q->io, q->io_size, &completion, 1, diag);
        if (code == VYRE_OK) {
            code = complete(q, &request, completion.status, diag);
        }
        if (code == VYRE_OK && q->posts_io && request.tag < q->slot_count) {
            code = vyre_io_release(q->io, q->io_size, indices[i], diag);
        }
    }
    return code;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static uint32_t word(const vy_mk_queue *q, uint32_t index)
{
    return vy_mk_get(q->memory.control, index);
}

/* Every partition was looked at to its end. */
static bool has_passed_partitions(const vy_mk_queue *q)
{
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        uint32_t begin = vy_mk_min(word(q, VYRE_CONTROL_PRIORITY_OFFSETS + p), q->slot_count);
        uint32_t end = vy_mk_min(word(q, VYRE_CONTROL_PRIORITY_OFFSETS + p + 1), q->slot_count);
        if (end > begin && word(q, VY_DRAIN_PARTITION_CURSORS + p) < end - begin) {
            return false;
        }
    }
    return true;
}

static void begin_pass(vy_mk_queue *q)
{
    q->position = q->plan.bounds[q->wave];
    q->pass_denied = word(q, VYRE_CONTROL_DENIED_COUNT);
    q->pass_requeues = word(q, VYRE_CONTROL_REQUEUE_COUNT);
    q->has_work_again = false;
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        vy_mk_put(q->memory.control, VY_DRAIN_PARTITION_CURSORS + p, 0);
    }
}

/* Over the same slots again, of which those that were denied are denied once more. */
static void repeat_pass(vy_mk_queue *q)
{
    vy_mk_put(q->memory.control, VYRE_CONTROL_DENIED_COUNT, q->pass_denied);
    begin_pass(q);
}

/* Keeps the first fault by its place among all items, which word 144 cannot name. */
static void note_fault(vy_mk_queue *q)
{
    uint32_t fault = word(q, VYRE_CONTROL_FIRST_FAULT);
    uint32_t slot = q->base + (VYRE_MAX_SLOTS - 1 - (fault >> 8));
    if (fault && (q->fault_code == 0 || slot < q->fault_slot)) {
        q->fault_slot = slot;
        q->fault_code = fault & 0xff;
    }
    if (q->plan.count > VY_MK_MAX_LAUNCH && q->slice_end == q->base + VY_MK_MAX_LAUNCH) {
        vy_mk_put(q->memory.control, VYRE_CONTROL_FIRST_FAULT,
                  0); /* it numbers another part next */
    }
}

/* All that was given back asks for requests, and there is none left nor one that will be: nobody
 * serves them, or they are the caller's own. */
static vyre_result find_stuck(const vy_mk_queue *q, bool *out_is_stuck, vyre_diag *diag)
{
    const void *ring = vy_mk_memory_ring(&q->memory);
    *out_is_stuck = q->posts_io && !q->variant.polls_io && !q->has_work_again;
    for (size_t r = 0; r < q->io_size / (VYRE_IO_WORDS * 4) && *out_is_stuck; r++) {
        uint32_t status = vy_mk_get(q->io, r * VYRE_IO_WORDS + VYRE_IO_STATUS);
        *out_is_stuck = status != (uint32_t)VYRE_STATUS_EMPTY;
    }
    if (!*out_is_stuck) {
        return VYRE_OK;
    }
    vyre_result code = vy_mk_memory_sync(q, 0, (uint64_t)q->slot_count * VYRE_SLOT_SIZE,
                                         VYRE_MAPPED_FROM_DEVICE, diag);
    for (size_t s = 0; s < q->slot_count && *out_is_stuck && code == VYRE_OK; s++) {
        uint32_t status = vy_mk_get(ring, s * VYRE_SLOT_WORDS + VYRE_SLOT_STATUS);
        bool is_back = status == VYRE_STATUS_REQUEUE || status == VYRE_STATUS_YIELD;
        *out_is_stuck = !is_back || vy_mk_get(ring, s * VYRE_SLOT_WORDS + VYRE_SLOT_OPCODE) ==
                                        VYRE_OPCODE_LOAD_MISS;
    }
    return code;
}

/* What follows the slice that has landed; *out_is_done: nothing. */
static vyre_result advance(vy_mk_queue *q, bool *out_is_done, vyre_diag *diag)
{
    bool is_stuck = false;
    note_fault(q);
    *out_is_done = true;
    bool is_stopped =
        (q->params.flags & VYRE_QUEUE_PERSISTENT) && word(q, VYRE_CONTROL_SHUTDOWN) != 0;
    if (q->report.record.kind != VYRE_RECORD_NONE || is_stopped) {
        return VYRE_OK;
    }
    uint32_t cursor = word(q, VYRE_CONTROL_CURSOR), end = q->slice_end - q->base;
    q->position = q->variant.in_waves ? q->slice_end : q->base + vy_mk_min(cursor, end);
    bool has_passed = q->variant.by_priority
                          ? has_passed_partitions(q)
                          : q->position == q->plan.bounds[q->wave + q->slice_waves];
    if (!has_passed) {
        *out_is_done = false;
        return VYRE_OK;
    }
    bool again = word(q, VYRE_CONTROL_REQUEUE_COUNT) != q->pass_requeues || q->has_work_again;
    if (q->form == VY_DRAIN_OF_RING && again) {
        vyre_result code = find_stuck(q, &is_stuck, diag);
        if (code != VYRE_OK) {
            return code;
        }
        again = !is_stuck;
    }
    if (q->form == VY_DRAIN_OF_RING && again) {
        repeat_pass(q);
        *out_is_done = false;
        return VYRE_OK;
    }
    q->wave += q->slice_waves;
    *out_is_done = q->wave == q->plan.part_count;
    if (!*out_is_done) {
        begin_pass(q);
    }
    return VYRE_OK;
}

/* ---- Driving --------------------------------------------------------------------------------- */

static vyre_result end(vy_mk_queue *q, vyre_diag *diag)
{
    vyre_result code = vy_mk_queue_give_out(q, diag);
    code = code == VYRE_OK ? vy_mk_queue_tell(q, diag) : code;
    if (code == VYRE_OK) {
        q->state = VY_MK_ENDED;
    }
    return code;
}

static vyre_result fail(vy_mk_queue *q, vyre_result code, vyre_diag *diag)
{
    vyre_diag ignored;
    q->result = code;
    vy_diag_clear(&q->diag);
    if (diag) {
        q->diag = *diag;
    }
    if (q->report.launches > 0) {
        (void)vy_mk_queue_tell(q, &ignored);
    }
    q->state = VY_MK_ENDED;
    return code;
}

static vyre_result time_out(vy_mk_queue *q, bool is_limit, vyre_diag *diag)
{
    vyre_result code = vy_mk_queue_tell(q, diag);
    if (code != VYRE_OK) {
        return code;
    }
    const char *fix = is_limit ? "give it more time with vyre_dispatcher_resume, or a longer "
                                 "max_wall_ns"
                               : "wait again";
    return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                       "%u of %u items were processed in time. Fix: %s",
                       (unsigned)q->report.processed, (unsigned)q->report.given, fix);
}

/* A slice has landed: serve what it asked for, and see what is next. */
static vyre_result go_on(vy_mk_queue *q, vyre_diag *diag)
{
    bool is_done = false;
    vyre_result code = serve(q, diag);
    if (code == VYRE_OK) {
        code = advance(q, &is_done, diag);
    }
    return code == VYRE_OK && is_done ? end(q, diag) : code;
}

vyre_result vy_mk_queue_drive(vyre_dispatcher *d, vy_mk_queue *q, uint64_t deadline,
                              vyre_diag *diag)
{
    vyre_result code = VYRE_OK;
    while (code == VYRE_OK && q->state != VY_MK_ENDED) {
        uint64_t until = deadline < q->deadline ? deadline : q->deadline;
        bool is_late = vy_clock_ns() >= q->deadline;
        if (q->state == VY_MK_READY) {
            if (is_late) {
                return time_out(q, true, diag);
            }
            code = vy_mk_queue_launch(d, q, diag);
        } else {
            code = vy_mk_queue_land(d, q, until, diag);
            if (code == VYRE_ERROR_TIMEOUT) {
                return time_out(q, is_late || until == q->deadline, diag);
            }
            code = code == VYRE_OK ? go_on(q, diag) : code;
        }
        if (code == VYRE_ERROR_DEVICE_LOST && vy_mk_queue_recover(d, q, diag)) {
            code = VYRE_OK;
        }
    }
    if (code != VYRE_OK) {
        return fail(q, code, diag);
    }
    if (q->result != VYRE_OK && diag) {
        *diag = q->diag;
    }
    return q->result;
}
