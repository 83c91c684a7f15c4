/* The library on the peer's device, recorded into a command buffer of the peer's for each run. */
#include "tools/vyre-bench/peers/parts.h"

vyre_result peer_adopt(peer *p, vyre_device **out_device, vyre_diag *diag)
{
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = vkGetInstanceProcAddr;
    params.instance = p->instance;
    params.physical_device = p->physical;
    params.device = p->device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = p->queue;
    params.queue_family = p->family;
    params.features = &p->chain.features;
    vyre_result result = vyre_device_adopt(&params, out_device, diag);
    if (result == VYRE_OK) {
        result = vyre_device_probe(*out_device, diag);
    }
    return result;
}

static vyre_result record(peer *p, peer_commands *c, vyre_pipeline *pipeline,
                          const vyre_dispatch_params *dispatch, vyre_recording **out,
                          vyre_diag *diag)
{
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = c->commands;
    params.dispatch = *dispatch;
    vyre_result result = peer_commands_begin(p, c, diag);
    if (result == VYRE_OK) {
        result = vyre_record(pipeline, &params, out, diag);
    }
    return result == VYRE_OK ? peer_commands_end(p, c, diag) : result;
}

vyre_result peer_record_and_run(peer *p, vyre_pipeline *pipeline,
                                const vyre_dispatch_params *dispatch, uint32_t *out_passes,
                                vyre_diag *diag)
{
    peer_commands commands;
    vyre_recording *recording = NULL;
    vyre_report report;
    vyre_result result = peer_commands_create(p, false, &commands, diag);
    if (result == VYRE_OK) {
        result = record(p, &commands, pipeline, dispatch, &recording, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_submit(p, &commands, PEER_WAIT_POLL, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_wait(p, &commands, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_recording_report(recording, &report, diag);
        *out_passes = result == VYRE_OK ? report.passes : 0;
    }
    peer_commands_destroy(p, &commands);
    vyre_recording_destroy(&recording);
    return result;
}
