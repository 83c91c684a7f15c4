/* Whether a program for one opcode is faster than the general one: found by measuring queues that
 * come anyway, once there are enough of them. */
#include "engine/megakernel/dispatcher.h"

/* Shorter queues cost what a launch costs, whatever drains them. */
#define LEAST_ITEMS 4096u
/* Queues before the first trial: making a program takes long, and pays for those that come often.
 */
#define DELAY 16u

static const uint32_t builtins[] = {
    VYRE_OPCODE_NOP,          VYRE_OPCODE_STORE_U32, VYRE_OPCODE_ATOMIC_ADD,  VYRE_OPCODE_LOAD_U32,
    VYRE_OPCODE_COMPARE_SWAP, VYRE_OPCODE_MEMCPY,    VYRE_OPCODE_BATCH_FENCE, VYRE_OPCODE_PRINTF};

uint32_t vy_mk_trial_count(uint32_t handler_count)
{
    return handler_count + (uint32_t)VY_COUNT_OF(builtins);
}

static uint32_t opcode_of(const vyre_dispatcher *d, uint32_t row)
{
    return row < d->handler_count ? d->handlers[row].opcode : builtins[row - d->handler_count];
}

static vy_mk_trial *find(vyre_dispatcher *d, uint32_t opcode)
{
    for (uint32_t row = 0; row < vy_mk_trial_count(d->handler_count); row++) {
        if (opcode_of(d, row) == opcode) {
            return &d->trials[row];
        }
    }
    return NULL;
}

uint32_t vy_mk_trial_list_savings(vyre_dispatcher *d, vy_mk_cost *out_savings)
{
    uint32_t count = 0;
    vy_mutex_lock(&d->mutex);
    for (uint32_t row = 0; row < vy_mk_trial_count(d->handler_count); row++) {
        const uint64_t *ns = d->costs[row].ns;
        if (vy_mk_trial_adopted(&d->trials[row]) && ns[VY_MK_CHALLENGER] &&
            ns[VY_MK_CHAMPION] > ns[VY_MK_CHALLENGER]) {
            uint64_t saved = ns[VY_MK_CHAMPION] - ns[VY_MK_CHALLENGER];
            out_savings[count++] = (vy_mk_cost){opcode_of(d, row), saved};
        }
    }
    vy_mutex_unlock(&d->mutex);
    return count;
}

void vy_mk_trial_choose(vyre_dispatcher *d, vy_mk_queue *q)
{
    uint32_t flags = q->params.flags;
    if (q->form != VY_DRAIN_OF_ITEMS || q->survey.opcode_count != 1 ||
        (flags & VYRE_QUEUE_NO_SPECIAL)) {
        return;
    }
    q->variant.opcode = q->survey.opcodes[0];
    vy_mk_trial *trial = find(d, q->variant.opcode);
    if (!trial || (flags & VYRE_QUEUE_SPECIAL)) {
        q->variant.is_special = trial != NULL;
        return;
    }
    vy_mutex_lock(&d->mutex);
    if (q->plan.count < LEAST_ITEMS || q->plan.wave_count > 1) {
        q->variant.is_special = vy_mk_trial_adopted(trial);
    } else {
        trial->rule.delay = DELAY;
        vy_mk_turn turn = vy_mk_trial_next(trial);
        q->variant.is_special = turn.way == VY_MK_CHALLENGER;
        q->trial = turn.is_timed ? trial : NULL;
        q->way = turn.way;
        d->counters.special_trials += turn.is_timed ? 1 : 0;
    }
    vy_mutex_unlock(&d->mutex);
}

void vy_mk_trial_end(vyre_dispatcher *d, vy_mk_queue *q, vyre_result result)
{
    vyre_queue_report *r = &q->report;
    uint64_t cost = UINT64_MAX;
    if (!q->trial) {
        return;
    }
    if (result == VYRE_OK && r->published) {
        uint64_t took = r->device_ns != VYRE_NS_NONE ? r->device_ns : r->dispatch_ns;
        cost = took / r->published * VY_MK_COST_UNIT +
               took % r->published * VY_MK_COST_UNIT / r->published;
    }
    if (!(q->params.flags & VYRE_QUEUE_TIMED)) {
        r->device_ns = VYRE_NS_NONE; /* the caller did not ask */
    }
    vy_mutex_lock(&d->mutex);
    if (cost != UINT64_MAX) {
        d->costs[q->trial - d->trials].ns[q->way] = cost + 1;
    }
    vy_mk_verdict verdict = vy_mk_trial_record(q->trial, q->way, cost);
    if (verdict == VY_MK_VERDICT_SWITCHED && vy_mk_trial_adopted(q->trial)) {
        d->counters.special_adoptions++;
    }
    vy_mutex_unlock(&d->mutex);
    q->trial = NULL;
}
