/* Another device after a loss, once for a queue. */
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/recovery.h"
#include "engine/megakernel/words.h"

/* Bindings of the queue's own are on the device that is lost. */
static bool may_run_again(const vy_mk_queue *q)
{
    uint32_t attempt = q->was_recovered ? 2 : 1;
    uint32_t done = q->report.launches ? vy_mk_get(q->memory.control, VYRE_CONTROL_DONE_COUNT) : 0;
    bool is_idempotent = !q->is_ring && q->survey.is_idempotent;
    return !q->params.bindings && !q->is_in_place &&
           vy_mk_may_retry(VY_MK_FAILURE_DEVICE_LOSS, attempt, done, is_idempotent);
}

/* The device that follows, asked for by the first queue that saw the loss. */
static bool replace_device(vyre_dispatcher *d, const vy_mk_queue *q)
{
    vyre_device *device = NULL;
    bool is_there = true;
    vy_mutex_lock(&d->compile_mutex);
    if (q->generation == d->generation) {
        vyre_binding bindings[VY_MK_MAX_BINDINGS];
        for (uint32_t b = 0; b < d->binding_count; b++) {
            bindings[b] = d->bindings[b];
        }
        is_there = d->recover(d->recover_user, &device, bindings, d->binding_count) && device;
        if (is_there) {
            vy_mutex_lock(&d->mutex);
            for (uint32_t b = 0; b < d->binding_count; b++) {
                d->bindings[b] = bindings[b];
            }
            d->device = device;
            d->generation++;
            d->counters.recoveries++;
            vyre_diag ignored;
            is_there = vy_mk_dispatcher_look_at_device(d, &ignored) == VYRE_OK;
            vy_mutex_unlock(&d->mutex);
        }
    }
    vy_mutex_unlock(&d->compile_mutex);
    return is_there;
}

bool vy_mk_queue_recover(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    vyre_diag ignored;
    if (!d->recover || !may_run_again(q)) {
        return false;
    }
    if (q->program) {
        vy_mk_program_give(d, q->program);
        q->program = NULL;
    }
    q->slice = (vyre_ticket){0};
    if (!replace_device(d, q)) {
        return false;
    }
    q->was_recovered = true;
    if (vy_mk_queue_restart(d, q, &ignored) != VYRE_OK) {
        return false;
    }
    vy_diag_clear(diag);
    return true;
}
