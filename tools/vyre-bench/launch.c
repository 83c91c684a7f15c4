/* Group launch: what one small piece of work costs the host. */
#include "tools/vyre-bench/chain.h"

enum { GROUPS = 132 };

static vyre_result add_chains(bench *b, bench_case *c, chain_list *list, chain_params params,
                              vyre_diag *diag)
{
    bool submits = params.measure == CHAIN_SUBMIT;
    params.way = submits ? "vyre_dispatch_async" : "vyre_dispatch";
    vyre_result result = chain_add(b, c, list, &params, diag);
    params.way = submits ? "vkQueueSubmit" : "submit, poll the timeline";
    params.wait = PEER_WAIT_POLL;
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, list, &params, diag);
    }
    params.way = "submit, wait for the fence";
    params.wait = PEER_WAIT_FENCE;
    if (result == VYRE_OK && !submits) {
        result = chain_add_peer(b, c, list, &params, diag);
    }
    return result;
}

static vyre_result measure_case(bench *b, bench_group *group, const char *name, const char *cuda,
                                const chain_params *params, vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, name, "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    chain_list list = {.count = 0};
    bench_case_size(c, "workgroups", params->groups);
    vyre_result result = add_chains(b, c, &list, *params, diag);
    c->base = c->series_count > 1 ? 1 : 0;
    bench_series_cuda(b, c, "stream", "%s stream groups=%u", cuda, params->groups);
    bench_series_cuda(b, c, "graph", "%s graph groups=%u", cuda, params->groups);
    if (params->measure == CHAIN_WALL) {
        bench_series_cuda(b, c, "cooperative", "%s cooperative groups=%u", cuda, params->groups);
    }
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    chain_list_finish(&list);
    return result;
}

vyre_result bench_launch(bench *b, bench_group *group, vyre_diag *diag)
{
    static const struct {
        const char *name, *cuda;
        chain_params params;
    } cases[] = {
        {"one dispatch", "launch", {.measure = CHAIN_WALL, .groups = GROUPS, .steps = 1}},
        {"one dispatch, 16 bytes of result",
         "result",
         {.measure = CHAIN_WALL, .groups = GROUPS, .steps = 1, .reads_first = true}},
        {"submission alone", "submit", {.measure = CHAIN_SUBMIT, .groups = GROUPS, .steps = 1}},
        {"empty program", "empty", {.measure = CHAIN_WALL, .groups = 1}},
    };
    vyre_result result = VYRE_OK;
    group->title = "one small piece of work, seen from the host";
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(cases); i++) {
        result = measure_case(b, group, cases[i].name, cases[i].cuda, &cases[i].params, diag);
    }
    return result;
}
