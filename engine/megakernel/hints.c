/* Hints of a queue's parameters, from what its ring and the last drain show. */
#include "engine/megakernel/feedback.h"
#include "vyre/dispatcher.h"

vyre_result vyre_queue_params_read_ring(vyre_queue_params *params, const void *ring, size_t size,
                                        const void *control, size_t control_size,
                                        const uint32_t *window_opcodes,
                                        uint32_t window_opcode_count, vyre_diag *diag)
{
    vyre_ring_counts counts;
    vy_mk_telemetry telemetry = {0};
    const vy_mk_window *windows = NULL;
    uint32_t window_count = 0;
    vy_mk_request request = {0};
    vy_arena arena;
    vy_diag_clear(diag);
    vy_arena_init(&arena, NULL);
    vyre_result code = vyre_ring_count(ring, size, &counts, diag);
    if (code == VYRE_OK) {
        code = vy_mk_telemetry_read(&counts, control, control_size, &telemetry, diag);
    }
    if (code == VYRE_OK) {
        code = vy_mk_windows_read(&arena, ring, size, window_opcodes, window_opcode_count, &windows,
                                  &window_count, diag);
    }
    if (code == VYRE_OK) {
        code = vy_mk_feed_back(vy_mk_policy_standard(), &telemetry, windows, window_count, &request,
                               diag);
    }
    vy_arena_finish(&arena);
    if (code == VYRE_OK) {
        params->node_count = request.node_count;
        params->edge_count = request.edge_count;
        params->density_bps = request.density_bps;
        params->requeue_count = request.requeue_count;
        params->hot_opcode_count = request.hot_opcode_count;
        params->hot_window_count = request.hot_window_count;
    }
    return code;
}

void vyre_queue_params_read_tasks(vyre_queue_params *params, const vyre_task_counts *counts)
{
    vy_mk_request request = {.requeue_count = params->requeue_count};
    vy_mk_feed_tasks(counts, &request);
    params->requeue_count = request.requeue_count;
    params->age = request.age;
}
