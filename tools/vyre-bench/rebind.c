/* Group rebind: a recorded chain bound to other buffers each time, as the loop of a program that
 * submits once a frame: one submission, then looks at the device until it has ended, then the next.
 * What is timed is the call alone, from before it to its return. Another series is that of a
 * program whose frame does something else on the device just before. */
#include "tools/vyre-bench/chain.h"

enum { ROUNDS = 20, BATCH = 50, PAUSE_US = 10000 };
static const double budget_us = 90e6; /* 5,000 dispatches take some 10 ms of the device */

/* The driver's own part: the same commands again, and the least that can be submitted as long after
 * what was submitted before. */
static vyre_result add_as_recorded(bench *b, bench_case *c, chain_list *list, chain_params params,
                                   vyre_diag *diag)
{
    uint32_t steps = params.steps;
    params.way = "the same buffers, as recorded";
    params.is_watched = true;
    params.records_again = false;
    params.sets = 1;
    vyre_result result = chain_add_peer(b, c, list, &params, diag);
    c->base = c->series_count - 1;
    if (steps == 1) {
        return result;
    }
    params.way = "the same, right behind another run";
    params.is_behind = true;
    params.is_watched = false;
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, list, &params, diag);
    }
    params.way = "one dispatch, after 10 ms";
    params.is_behind = false;
    params.is_watched = true;
    params.pause_us = PAUSE_US;
    params.steps = 1;
    return result == VYRE_OK ? chain_add_peer(b, c, list, &params, diag) : result;
}

static vyre_result add_chains(bench *b, bench_case *c, chain_list *list, uint32_t steps,
                              vyre_diag *diag)
{
    chain_params params = {.way = "other buffers each time",
                           .measure = CHAIN_SUBMIT,
                           .groups = 1,
                           .sets = PEER_SETS,
                           .is_watched = true};
    params.steps = steps;
    vyre_result result = chain_add(b, c, list, &params, diag);
    params.is_behind = true;
    params.way = "the same, right behind another run";
    if (result == VYRE_OK && steps > 1) {
        result = chain_add(b, c, list, &params, diag);
    }
    params.way = "recorded again each time";
    params.is_watched = params.is_behind = false;
    params.records_again = true;
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, list, &params, diag);
    }
    return result == VYRE_OK ? add_as_recorded(b, c, list, params, diag) : result;
}

/* Behind the series that were measured, what some of them were made of. */
static vyre_result add_parts(bench *b, bench_case *c, vyre_diag *diag)
{
    uint32_t measured = c->series_count;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < measured; i++) {
        const chain_watch *watch = chain_series_watch(&c->series[i]);
        if (watch) {
            result = chain_watch_report(b, c, i, watch, diag);
        }
    }
    return result;
}

static void note_costs(bench_series *s)
{
    snprintf(s->note, sizeof s->note, "%llu descriptor writes, %llu recordings in %u calls",
             (unsigned long long)s->costs.descriptor_writes,
             (unsigned long long)s->costs.recordings, s->sample_count);
}

static vyre_result measure_case(bench *b, bench_group *group, uint32_t steps, double target,
                                vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, "call to return", "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    chain_list list = {.count = 0};
    bench_case_size(c, "dispatches", steps);
    c->rounds = b->quick ? c->rounds : ROUNDS;
    c->batch = b->quick ? c->batch : BATCH;
    c->budget_us = b->quick ? c->budget_us : budget_us;
    c->target.value = target;
    snprintf(c->target.text, sizeof c->target.text, "%s", target > 0 ? "the mark to meet" : "");
    vyre_result result = add_chains(b, c, &list, steps, diag);
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    if (result == VYRE_OK) {
        note_costs(&c->series[0]);
        result = add_parts(b, c, diag);
    }
    chain_list_finish(&list);
    return result;
}

vyre_result bench_rebind(bench *b, bench_group *group, vyre_diag *diag)
{
    group->title = "recorded dispatches with other buffers each time, call to return";
    vyre_result result = measure_case(b, group, 1, 0, diag);
    return result == VYRE_OK ? measure_case(b, group, b->quick ? 50 : 5000, b->quick ? 0 : 12, diag)
                             : result;
}
