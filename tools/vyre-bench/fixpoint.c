/* Group fixpoint: passes until one changes nothing more, of which only the device knows which it
 * is, beside ways that know it before. From the call to the known end. */
#include "tools/vyre-bench/chain.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PASSES = 10000, GROUPS = 132, QUICK_GROUPS = 4, MAX_SUBMISSIONS = 1000 };
static const double case_budget_us = 2e6;
static const char exactly[] = BENCH_EXACTLY " as many passes";

/* The step of all groups, and a flag that the last pass leaves alone. */
static const char until_text[] =
    "program until\nworkgroup 256\ngrid over x\nfixpoint 10000 until changed\n"
    "param last : u32\ninout x : u32[]\nscratch changed : u32[1]\n"
    "kernel {\n    x[gid.x] = x[gid.x] * 3 + 1\n"
    "    if gid.x == 0 && pass + 1 < last { atomic_store(changed[0], 1) }\n}\n";

/* ---- Until ----------------------------------------------------------------------------------- */

typedef struct until {
    bench *bench;
    uint32_t count, last; /* elements; passes until nothing changes */
    uint32_t *host;
    bench_program program;
    vyre_buffer x;
    vyre_binding bindings[2];
    vyre_dispatch_params dispatch;
    uint64_t runs, wrong_runs; /* by their reports */
    char strategy[32];
} until;

static vyre_result sample_until(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    until *u = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_report report;
        uint64_t start = bench_now_ns();
        result = vyre_dispatch(u->program.pipeline, &u->dispatch, &report, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        if (result == VYRE_OK) {
            u->runs++;
            /* The limit itself cannot be told from convergence in the last pass. */
            u->wrong_runs += report.passes != u->last ||
                             (u->last < MOST_PASSES && report.convergence != VYRE_CONVERGENCE_YES);
            snprintf(u->strategy, sizeof u->strategy, "%s", report.strategy);
        }
    }
    return result;
}

static vyre_result check_until(void *state, bench_check *out, vyre_diag *diag)
{
    until *u = state;
    vyre_result result = vyre_buffer_download(u->bench->device, u->x, 0, u->host,
                                              (uint64_t)u->count * sizeof *u->host, diag);
    out->compared = u->count + u->runs;
    out->wrong = u->wrong_runs;
    if (result == VYRE_OK) {
        out->wrong += bench_step_wrong(u->host, u->count, u->runs * u->last);
    }
    return result;
}

static vyre_result until_make(until *u, bench *b, uint32_t groups, uint32_t passes, vyre_diag *diag)
{
    u->bench = b;
    u->count = groups * BENCH_GROUP_SIZE;
    u->last = passes;
    u->host = bench_indices(u->count);
    if (!u->host) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = bench_program_create(b->device, until_text, &u->program, diag);
    if (result == VYRE_OK) {
        result = bench_buffer_create(b->device, "x", u->host, (uint64_t)u->count * sizeof *u->host,
                                     &u->x, diag);
    }
    u->bindings[0] = bench_resident_binding(u->x);
    u->bindings[1] = (vyre_binding){.kind = VYRE_BINDING_NONE, .count = VYRE_COUNT_DECLARED};
    vyre_dispatch_params_init(&u->dispatch);
    u->dispatch.strategy = VYRE_STRATEGY_REPLAY; /* unless another one is asked for */
    u->dispatch.bindings = u->bindings;
    u->dispatch.binding_count = 2;
    u->dispatch.params = &u->last;
    u->dispatch.param_count = 1;
    return result;
}

static void until_finish(until *u)
{
    bench_program_destroy(&u->program);
    if (u->x.bits) {
        bench_buffer_destroy(u->bench->device, &u->x);
    }
    free(u->host);
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

/* A submission for each pass, 16 bytes read behind each; one workgroup that loops by itself; or
 * passes that end the fixpoint themselves. */
typedef enum vulkan_way { VULKAN_SUBMISSIONS, VULKAN_LOOP, VULKAN_GATED, VULKAN_WAYS } vulkan_way;

typedef struct vulkan_until {
    uint32_t count, last;
    uint32_t *host;
    peer_chain *chain;
    peer_program *loop;
    peer_until *gated;
    uint64_t runs, wrong_reads;
} vulkan_until;

static vyre_result sample_submissions(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    vulkan_until *u = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t start = bench_now_ns();
        for (uint32_t pass = 0; result == VYRE_OK && pass < u->last; pass++) {
            result = peer_chain_submit(u->chain, PEER_WAIT_POLL, diag);
            if (result == VYRE_OK) {
                result = peer_chain_wait(u->chain, diag);
            }
        }
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        u->runs += result == VYRE_OK;
        u->wrong_reads += bench_step_wrong(peer_chain_first(u->chain), 4, u->runs * u->last) != 0;
    }
    return result;
}

static vyre_result sample_loop(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    vulkan_until *u = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t start = bench_now_ns();
        result = peer_program_run(u->loop, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        u->runs += result == VYRE_OK;
    }
    return result;
}

static vyre_result sample_gated(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    vulkan_until *u = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint32_t passes = 0;
        uint64_t start = bench_now_ns();
        result = peer_until_run(u->gated, &passes, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        u->runs += result == VYRE_OK;
        u->wrong_reads += passes != u->last;
    }
    return result;
}

static vyre_result check_vulkan(void *state, bench_check *out, vyre_diag *diag)
{
    vulkan_until *u = state;
    vyre_result result = u->chain   ? peer_chain_read(u->chain, 0, u->host, diag)
                         : u->gated ? peer_until_read(u->gated, u->host, diag)
                                    : peer_program_read(u->loop, 0, u->host, diag);
    out->compared = u->count;
    out->wrong = u->wrong_reads;
    if (result == VYRE_OK) {
        out->wrong += bench_step_wrong(u->host, u->count, u->runs * u->last);
    }
    return result;
}

static vyre_result make_loop(vulkan_until *u, bench *b, vyre_diag *diag)
{
    peer_step step = {.shader = PEER_SHADER_LOOP, .groups = 1, .count = u->count, .a = u->last};
    peer_program_params params = {.sizes = {(uint64_t)u->count * sizeof *u->host},
                                  .buffer_count = 1,
                                  .steps = &step,
                                  .step_count = 1};
    vyre_result result = peer_program_create(b->peer, &params, &u->loop, diag);
    return result == VYRE_OK ? peer_program_write(u->loop, 0, u->host, diag) : result;
}

static vyre_result add_vulkan(bench *b, bench_case *c, vulkan_until *u, vulkan_way way,
                              vyre_diag *diag)
{
    static const struct {
        const char *name;
        bench_sample_fn sample;
    } rows[VULKAN_WAYS] = {
        [VULKAN_SUBMISSIONS] = {"a submission a pass, its flag read", sample_submissions},
        [VULKAN_LOOP] = {"GLSL, a loop in the workgroup", sample_loop},
        [VULKAN_GATED] = {"GLSL, passes that look at the flag, in chunks", sample_gated},
    };
    uint32_t groups = u->count / BENCH_GROUP_SIZE;
    if (!b->peer) {
        return VYRE_OK;
    }
    if (way == VULKAN_SUBMISSIONS && u->last > MAX_SUBMISSIONS) {
        bench_series_leave_out(c, "vulkan", rows[way].name, "more than 1000 submissions");
        return VYRE_OK;
    }
    u->host = bench_indices(u->count);
    if (!u->host) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = VYRE_OK;
    if (way == VULKAN_LOOP) {
        result = make_loop(u, b, diag);
    } else if (way == VULKAN_GATED) {
        result = peer_until_create(b->peer, groups, u->last, MOST_PASSES, &u->gated, diag);
    } else {
        result = peer_chain_create(b->peer, groups, 1, PEER_READ_BACK, &u->chain, diag);
    }
    if (result != VYRE_OK) {
        bench_series_leave_out(c, "vulkan", rows[way].name, diag->message);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    (void)bench_series_add(c, "vulkan", rows[way].name, rows[way].sample, check_vulkan, u);
    return VYRE_OK;
}

static void vulkan_finish(vulkan_until *u)
{
    peer_chain_destroy(&u->chain);
    peer_program_destroy(&u->loop);
    peer_until_destroy(&u->gated);
    free(u->host);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void add_cuda(bench *b, bench_case *c, uint32_t groups, uint32_t passes)
{
    static const char *const ways[][2] = {{"a launch a pass, its flag read", "host"},
                                          {"a graph with a WHILE node", "while"},
                                          {"grid.sync", "sync"},
                                          {"a loop in one block", "block"}};
    for (size_t i = 0; i < VY_COUNT_OF(ways); i++) {
        if (groups == 1 || i + 1 < VY_COUNT_OF(ways)) {
            (void)bench_series_cuda(b, c, ways[i][0], "until %s groups=%u passes=%u", ways[i][1],
                                    groups, passes);
        }
    }
}

static vyre_result add_exact(bench *b, bench_case *c, chain_list *list, uint32_t groups,
                             uint32_t passes, vyre_diag *diag)
{
    chain_params params = {
        .way = exactly, .measure = CHAIN_WALL, .groups = groups, .steps = passes};
    vyre_result result = chain_add(b, c, list, &params, diag);
    if (result == VYRE_OK) {
        result = chain_add_peer(b, c, list, &params, diag);
    }
    params.way = "exactly as many passes, persistent";
    params.strategy = VYRE_STRATEGY_PERSISTENT;
    return result == VYRE_OK ? chain_add(b, c, list, &params, diag) : result;
}

/* One dispatch of one workgroup. */
static vyre_result add_whole(bench *b, bench_case *c, until *u, uint32_t passes, vyre_diag *diag)
{
    vyre_result result = until_make(u, b, 1, passes, diag);
    u->dispatch.strategy = VYRE_STRATEGY_WORKGROUP;
    if (result == VYRE_OK) {
        (void)bench_series_vyre(c, "until nothing changes, in one workgroup", b->device,
                                sample_until, check_until, u);
    }
    return result;
}

/* By workgroups that stay; left out, with the reason, where that cannot be. */
static vyre_result add_persistent(bench *b, bench_case *c, until *u, uint32_t groups,
                                  uint32_t passes, vyre_diag *diag)
{
    static const char way[] = "until nothing changes, persistent";
    double ignored;
    vyre_result result = until_make(u, b, groups, passes, diag);
    u->dispatch.strategy = VYRE_STRATEGY_PERSISTENT;
    if (result == VYRE_OK) {
        result = sample_until(u, &ignored, 1, diag);
    }
    if (result == VYRE_ERROR_INVALID_ARGUMENT) {
        bench_series_leave_out(c, "vyre", way, diag->message);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    if (result == VYRE_OK) {
        (void)bench_series_vyre(c, way, b->device, sample_until, check_until, u);
    }
    return result;
}

/* What the program is meant to reach: its own passes where their number is known before. */
static void set_target(bench_case *c, const until *u)
{
    snprintf(c->series[0].note, sizeof c->series[0].note, "strategy %s", u->strategy);
    c->target.value = c->series[1].median;
    snprintf(c->target.text, sizeof c->target.text, "its recorded passes");
}

static vyre_result measure_until(bench *b, bench_group *group, const char *name, uint32_t groups,
                                 uint32_t passes, vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, name, "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    chain_list list = {.count = 0};
    until own = {.bench = b}, whole = {.bench = b}, stays = {.bench = b};
    vulkan_until submissions = {.count = groups * BENCH_GROUP_SIZE, .last = passes};
    vulkan_until loop = submissions, gated = submissions;
    bench_case_size(c, "workgroups", groups);
    bench_case_size(c, "passes", passes);
    c->budget_us = b->quick ? c->budget_us : case_budget_us;
    vyre_result result = until_make(&own, b, groups, passes, diag);
    if (result == VYRE_OK) {
        (void)bench_series_vyre(c, "until nothing changes", b->device, sample_until, check_until,
                                &own);
        result = add_exact(b, c, &list, groups, passes, diag);
    }
    if (result == VYRE_OK) {
        result = add_vulkan(b, c, &submissions, VULKAN_SUBMISSIONS, diag);
    }
    if (result == VYRE_OK) {
        result = add_vulkan(b, c, &gated, VULKAN_GATED, diag);
    }
    if (result == VYRE_OK && groups == 1) {
        result = add_vulkan(b, c, &loop, VULKAN_LOOP, diag);
    }
    if (result == VYRE_OK && groups == 1) {
        result = add_whole(b, c, &whole, passes, diag);
    }
    if (result == VYRE_OK) {
        result = add_persistent(b, c, &stays, groups, passes, diag);
    }
    add_cuda(b, c, groups, passes);
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    if (result == VYRE_OK) {
        bench_choose_base(c);
        set_target(c, &own);
    }
    until_finish(&own);
    until_finish(&whole);
    until_finish(&stays);
    vulkan_finish(&submissions);
    vulkan_finish(&loop);
    vulkan_finish(&gated);
    chain_list_finish(&list);
    return result;
}

vyre_result bench_fixpoint(bench *b, bench_group *group, vyre_diag *diag)
{
    static const uint32_t passes[] = {1, 10, 100, 1000}, small[] = {1, 100, MOST_PASSES},
                          quick[] = {1, 10};
    const uint32_t *list = b->quick ? quick : passes, *small_list = b->quick ? quick : small;
    size_t count = b->quick ? VY_COUNT_OF(quick) : VY_COUNT_OF(passes);
    size_t small_count = b->quick ? VY_COUNT_OF(quick) : VY_COUNT_OF(small);
    vyre_result result = VYRE_OK;
    group->title = "passes until one changes nothing, from the call to the known end";
    for (size_t i = 0; result == VYRE_OK && i < count; i++) {
        result = measure_until(b, group, "until", b->quick ? QUICK_GROUPS : GROUPS, list[i], diag);
    }
    for (size_t i = 0; result == VYRE_OK && i < small_count; i++) {
        result = measure_until(b, group, "until, one workgroup", 1, small_list[i], diag);
    }
    return result == VYRE_OK ? bench_fixpoint_searches(b, group, diag) : result;
}
