/* Tickets: the public face of runs in flight. */
#include "engine/exec/debug.h"
#include "engine/exec/run.h"

static vyre_result check_device(const vyre_device *device, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device) {
        return vy_invalid(diag, "no device was given. Fix: pass the device of the ticket");
    }
    return VYRE_OK;
}

static uint64_t deadline_of(uint64_t timeout_ns)
{
    uint64_t now = vy_clock_ns();
    if (timeout_ns == 0) {
        return 0;
    }
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

static bool has_ended(vyre_device *device, vy_run *run)
{
    return vy_run_wait(device, run, 0, NULL) != VYRE_ERROR_TIMEOUT;
}

vyre_result vyre_ticket_poll(vyre_device *device, vyre_ticket ticket, int *out_is_done,
                             vyre_diag *diag)
{
    vyre_result code = check_device(device, diag);
    if (code == VYRE_OK && !out_is_done) {
        code = vy_invalid(diag, "out_is_done is NULL. Fix: pass where the answer goes");
    }
    if (code != VYRE_OK) {
        return code;
    }
    *out_is_done = 0;
    vy_run *run = vy_run_hold(device, ticket, diag);
    if (!run) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    *out_is_done = has_ended(device, run);
    vy_run_unhold(device, run);
    return VYRE_OK;
}

vyre_result vyre_ticket_wait(vyre_device *device, vyre_ticket *ticket, uint64_t timeout_ns,
                             vyre_report *out_report, vyre_diag *diag)
{
    vyre_result code = check_device(device, diag);
    if (code == VYRE_OK && !ticket) {
        code = vy_invalid(diag, "no ticket was given. Fix: pass the one that "
                                "vyre_dispatch_async gave");
    }
    if (code != VYRE_OK) {
        return code;
    }
    vy_run *run = vy_run_hold(device, *ticket, diag);
    if (!run) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    code = vy_run_wait(device, run, deadline_of(timeout_ns), diag);
    if (code == VYRE_OK) {
        code = vy_run_claim(device, run, *ticket, out_report, diag);
    }
    vy_run_unhold(device, run);
    if (code != VYRE_ERROR_TIMEOUT) {
        *ticket = (vyre_ticket){0};
    }
    return code;
}

/* Looks at each once; counts those that have not ended, with one that is awaited. */
static vyre_result look(vyre_device *device, const vyre_ticket *tickets, uint32_t count,
                        uint32_t *out_pending, uint32_t *out_first_ended, uint32_t *out_awaited,
                        vyre_diag *diag)
{
    *out_pending = 0;
    *out_first_ended = *out_awaited = count;
    for (uint32_t i = 0; i < count; i++) {
        if (tickets[i].bits == 0) {
            continue;
        }
        int is_done = 0;
        vyre_result code = vyre_ticket_poll(device, tickets[i], &is_done, diag);
        if (code != VYRE_OK) {
            return code;
        }
        if (is_done) {
            *out_first_ended = *out_first_ended == count ? i : *out_first_ended;
        } else {
            (*out_pending)++;
            *out_awaited = *out_awaited == count ? i : *out_awaited;
        }
    }
    return VYRE_OK;
}

/* The queue runs one after the other, so that the oldest is what any wait is for. */
#define SLICE_NS 1000000u

vyre_result vyre_ticket_wait_many(vyre_device *device, const vyre_ticket *tickets, uint32_t count,
                                  vyre_wait_mode mode, uint64_t timeout_ns, uint32_t *out_index,
                                  vyre_diag *diag)
{
    vyre_result code = check_device(device, diag);
    if (code == VYRE_OK && count && !tickets) {
        code = vy_invalid(diag, "tickets is NULL. Fix: pass them, or a count of 0");
    }
    uint64_t deadline = deadline_of(timeout_ns);
    while (code == VYRE_OK) {
        uint32_t pending = 0, ended = count, awaited = count;
        code = look(device, tickets, count, &pending, &ended, &awaited, diag);
        if (code != VYRE_OK) {
            break;
        }
        if (pending == 0 || (mode == VYRE_WAIT_ANY && ended < count)) {
            if (out_index) {
                *out_index = ended < count ? ended : 0;
            }
            return VYRE_OK;
        }
        uint64_t now = vy_clock_ns();
        if (deadline != UINT64_MAX && now >= deadline) {
            return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                               "%u of the runs have not ended within the time given. Fix: wait "
                               "again, or give more time",
                               (unsigned)pending);
        }
        vy_run *run = vy_run_hold(device, tickets[awaited], NULL);
        if (run) {
            uint64_t until = mode == VYRE_WAIT_ALL ? deadline : now + SLICE_NS;
            (void)vy_run_wait(device, run, until < deadline ? until : deadline, NULL);
            vy_run_unhold(device, run);
        }
    }
    return code;
}

uint32_t vy_ticket_passes(vyre_device *device, vyre_ticket ticket)
{
    vy_run *run = vy_run_hold(device, ticket, NULL);
    if (!run) {
        return 0;
    }
    uint32_t passes = run->replay.ended;
    vy_run_unhold(device, run);
    return passes;
}

vyre_result vyre_ticket_drop(vyre_device *device, vyre_ticket *ticket, vyre_diag *diag)
{
    vyre_result code = check_device(device, diag);
    if (code != VYRE_OK || !ticket || ticket->bits == 0) {
        return code;
    }
    vy_run *run = vy_run_hold(device, *ticket, diag);
    if (!run) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    *ticket = (vyre_ticket){0};
    vy_run_abandon(device, run);
    vy_run_unhold(device, run);
    return VYRE_OK;
}

vyre_result vyre_ticket_export(vyre_device *device, vyre_ticket ticket,
                               vyre_semaphore_point *out_point, vyre_diag *diag)
{
    vyre_result code = check_device(device, diag);
    if (code == VYRE_OK && !out_point) {
        code = vy_invalid(diag, "out_point is NULL. Fix: pass where it goes");
    }
    if (code != VYRE_OK) {
        return code;
    }
    *out_point = (vyre_semaphore_point){VK_NULL_HANDLE, 0};
    vy_run *run = vy_run_hold(device, ticket, diag);
    if (!run) {
        return VYRE_ERROR_INVALID_ARGUMENT;
    }
    uint64_t value = vy_run_last_value(device, run);
    vy_run_unhold(device, run);
    if (value == 0) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "the run's last submission has not been made. Fix: give a semaphore to "
                           "signal (vyre_dispatch_params.sync), or wait on the host");
    }
    *out_point = (vyre_semaphore_point){device->timeline, value};
    return VYRE_OK;
}
