/* Group step: what one more segment with its barrier costs the device. */
#include "tools/vyre-bench/chain.h"

enum { STEPS = 4000, CPU_STEPS = 200, SIDE_STEPS = 250, CPU_SIDE_STEPS = 20, QUICK_STEPS = 16 };

/* All steps by one dispatch: in one workgroup, and by workgroups that stay, beside a peer's. */
static vyre_result add_joined(bench *b, bench_case *c, chain_list *list, chain_params params,
                              vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    params.way = "in one workgroup";
    params.strategy = VYRE_STRATEGY_WORKGROUP;
    if (params.groups == 1) {
        result = chain_add(b, c, list, &params, diag);
    }
    params.way = "persistent";
    params.strategy = VYRE_STRATEGY_PERSISTENT;
    if (result == VYRE_OK) {
        result = chain_add(b, c, list, &params, diag);
    }
    params.way = "GLSL, workgroups that stay";
    if (result == VYRE_OK) {
        result = chain_add_stay(b, c, list, &params, b->info.compute_units, diag);
    }
    return result;
}

static vyre_result measure_case(bench *b, bench_group *group, uint32_t groups, uint32_t steps,
                                vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, "step", "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    chain_list list = {.count = 0};
    chain_params params = {.way = "replayed passes", .measure = CHAIN_STEP};
    params.groups = groups;
    params.steps = steps;
    bench_case_size(c, "workgroups", groups);
    bench_case_size(c, "steps", steps);
    vyre_result result = chain_add(b, c, &list, &params, diag);
    params.way = "dispatch and memory barrier";
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, &list, &params, diag);
    }
    c->base = c->series_count > 1 ? 1 : 0;
    params.way = "dispatch and memory barrier, dynamic uniform block";
    params.has_block = true;
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, &list, &params, diag);
    }
    params.has_block = false;
    if (result == VYRE_OK) {
        result = add_joined(b, c, &list, params, diag);
    }
    /* What barriers come on top of. */
    params.way = "dispatch without barrier";
    params.no_barriers = true;
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, &list, &params, diag);
    }
    bench_series_cuda(b, c, "stream", "step stream groups=%u steps=%u", groups, steps);
    bench_series_cuda(b, c, "graph", "step graph groups=%u steps=%u", groups, steps);
    bench_series_cuda(b, c, "grid.sync", "step cooperative groups=%u steps=%u", groups, steps);
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    chain_list_finish(&list);
    return result;
}

/* Segments of one pass on buffers of their own: nothing but the next pass waits for them. */
static vyre_result measure_side(bench *b, bench_group *group, uint32_t groups, uint32_t passes,
                                vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, "segment without hazards", "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    chain_list list = {.count = 0};
    chain_params params = {
        .way = "replayed passes", .measure = CHAIN_STEP, .is_side_by_side = true};
    params.groups = groups;
    params.steps = passes;
    bench_case_size(c, "workgroups", groups);
    bench_case_size(c, "segments", PEER_SIDE);
    bench_case_size(c, "passes", passes);
    vyre_result result = chain_add(b, c, &list, &params, diag);
    params.way = "dispatches, one memory barrier a pass";
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, &list, &params, diag);
    }
    c->base = c->series_count > 1 ? 1 : 0;
    params.way = "dispatches without barrier";
    params.no_barriers = true;
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, &list, &params, diag);
    }
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    chain_list_finish(&list);
    return result;
}

vyre_result bench_step(bench *b, bench_group *group, vyre_diag *diag)
{
    static const uint32_t groups[] = {1, 132, 528, 1056}, quick_groups[] = {1, 4};
    const uint32_t *list = b->quick ? quick_groups : groups;
    size_t count = b->quick ? VY_COUNT_OF(quick_groups) : VY_COUNT_OF(groups);
    bool is_cpu = bench_is_on_cpu(b);
    uint32_t steps = b->quick ? QUICK_STEPS : is_cpu ? CPU_STEPS : STEPS;
    uint32_t side_steps = b->quick ? QUICK_STEPS : is_cpu ? CPU_SIDE_STEPS : SIDE_STEPS;
    vyre_result result = VYRE_OK;
    group->title = "one step (256 invocations a workgroup) with its barrier, on the device";
    for (size_t i = 0; result == VYRE_OK && i < count; i++) {
        result = measure_case(b, group, list[i], steps, diag);
    }
    for (size_t i = 0; result == VYRE_OK && i < 2; i++) {
        result = measure_side(b, group, list[i], side_steps, diag);
    }
    return result;
}
