/* What is known of a device that was lost: of its runs, the one that came first. */
#include "engine/exec/run_parts.h"

#include <stdio.h>
#include <string.h>

void vy_run_note_loss(vyre_device *device, const vy_run *run, vyre_diag *diag)
{
    vy_runs *runs = device->runs;
    vyre_loss loss = {.is_lost = 1, .segment = VYRE_DIAG_NONE, .pass = VYRE_DIAG_NONE};
    uint64_t value = vy_replay_describe(&run->replay, &loss);
    if (value) {
        snprintf(loss.program, sizeof loss.program, "%s", run->label);
        vy_mutex_lock(&runs->mutex);
        if (runs->loss_value == 0 || value < runs->loss_value) {
            runs->loss = loss;
            runs->loss_value = value;
        }
        vy_mutex_unlock(&runs->mutex);
    }
    if (diag) {
        diag->segment = loss.segment;
        diag->pass = loss.pass;
    }
}

/* Runs that nobody has looked at since tell of it too, and stay as they are. */
static void ask_runs(vyre_device *device)
{
    vy_runs *runs = device->runs;
    vy_mutex_lock(&runs->mutex);
    for (uint32_t i = 0; i < runs->count; i++) {
        vy_run *run = runs->list[i];
        if (!vy_run_take_driving(run)) {
            continue;
        }
        vy_mutex_unlock(&runs->mutex);
        vy_run_note_loss(device, run, NULL);
        vy_run_leave_driving(device, run, false);
        vy_mutex_lock(&runs->mutex);
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
    ask_runs(device);
    vy_mutex_lock(&runs->mutex);
    if (runs->loss_value) {
        *out_loss = runs->loss;
        memcpy(out_loss->fault, base.fault, sizeof base.fault);
    }
    vy_mutex_unlock(&runs->mutex);
}
