/* What is known of a device that was lost: of its runs, the one that came first. */
#include "engine/exec/run_parts.h"

#include <stdio.h>
#include <string.h>

void vy_run_note_loss(vyre_device *device, const vy_run *run)
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
