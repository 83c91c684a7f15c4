/* Warm-up: drivers that compile at the first dispatch do so at one of no workgroups too. */
#include "engine/exec/bind.h"
#include "engine/exec/own_kernels.h"
#include "engine/exec/run.h"

static vyre_result run_empty(vyre_pipeline *p, vy_instance *in, bool has_moves, vyre_diag *diag)
{
    vyre_device *device = p->device;
    vy_commands commands;
    uint64_t value = 0;
    vyre_result code = vy_commands_create(device, "vyre warm up", &commands, diag);
    if (code != VYRE_OK) {
        return code;
    }
    code = vy_commands_begin(device, &commands, true, diag);
    if (code == VYRE_OK) {
        vy_record_empty(p, in, has_moves, commands.buffer);
        code = vy_commands_end(device, &commands, diag);
    }
    if (code == VYRE_OK) {
        code = vy_queue_submit(device, commands.buffer, "a warm-up", &value, diag);
    }
    if (code == VYRE_OK) {
        code = vy_queue_wait(device, value, UINT64_MAX, "a warm-up", diag);
    }
    vy_queue_drain(device, value);
    vy_commands_destroy(device, &commands);
    return code;
}

static vyre_result warm_choice(vyre_pipeline *p, vy_choice choice, vyre_diag *diag)
{
    const vy_binder *binder = p->binders[choice.interface];
    bool has_moves = !binder->is_by_handle; /* kernels fill and copy */
    vy_instance *in = NULL;
    vyre_result code = vy_pipeline_prepare(p, choice, diag);
    if (code == VYRE_OK) {
        code = vy_engine_kernels_prepare(p->device, binder, vy_engine_needs(p, has_moves), diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_create(p, binder, true, &in, diag);
    }
    if (code == VYRE_OK) {
        code = vy_instance_prepare_empty(p, in, choice, diag);
    }
    if (code == VYRE_OK) {
        code = run_empty(p, in, has_moves, diag);
    }
    vy_instance_destroy(p->device, &in);
    return code;
}

/* Another thread may be making it. */
static bool exists(vyre_pipeline *p, vy_choice choice)
{
    vy_mutex_lock(&p->mutex);
    bool does = p->variants[vy_choice_index(choice)] != NULL;
    vy_mutex_unlock(&p->mutex);
    return does;
}

vyre_result vyre_pipeline_warm_up(vyre_pipeline *pipeline, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!pipeline || !pipeline->device) {
        return vy_invalid(diag, "no pipeline was given, or its device was destroyed. Fix: pass one "
                                "of a device that is alive");
    }
    vyre_result code = vy_check_lost(pipeline->device, diag);
    for (uint32_t i = 0; i < VY_CHOICES && code == VYRE_OK; i++) {
        vy_choice choice = vy_choice_get(i);
        if (pipeline->segment_count && exists(pipeline, choice)) {
            code = warm_choice(pipeline, choice, diag);
        }
    }
    return code;
}
