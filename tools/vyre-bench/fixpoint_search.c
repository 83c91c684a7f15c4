/* Breadth-first searches from node 0 until no node is new. */
#include "tools/vyre-bench/bench.h"
#include "tools/vyre-bench/peers/graphs.h"

#include "bench_programs.h" /* bench_NAME_vyre: shaders/NAME.vyre */

#include <stdlib.h>
#include <string.h>

enum { POWER = 1 << 20, GRID = 1000 * 1000, QUICK_POWER = 1 << 10, QUICK_GRID = 32 * 32 };
static const double case_budget_us = 4e6;

typedef struct graph {
    uint32_t kind, nodes, edges, depth; /* depth: the largest level */
    uint32_t *row_start, *column, *start, *wanted, *got;
    vyre_buffer buffers[3], level; /* row_start, column, start */
} graph;

typedef struct search {
    bench *bench;
    graph *graph;
    bench_program program;
    vyre_binding bindings[6];
    vyre_dispatch_params dispatch;
    uint64_t runs, wrong_runs;
    peer_program *peer;
    peer_step *steps;
    char strategy[32];
} search;

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* One level after the other, by a queue. */
static bool find_levels(graph *g)
{
    uint32_t *queue = malloc(g->nodes * sizeof *queue), head = 0, tail = 1;
    if (!queue) {
        return false;
    }
    memcpy(g->wanted, g->start, g->nodes * sizeof *g->wanted);
    queue[0] = 0;
    for (; head < tail; head++) {
        uint32_t v = queue[head];
        g->depth = g->wanted[v];
        for (uint32_t e = g->row_start[v]; e < g->row_start[v + 1]; e++) {
            uint32_t w = g->column[e];
            if (g->wanted[w] == BENCH_UNREACHED) {
                g->wanted[w] = g->wanted[v] + 1;
                queue[tail++] = w;
            }
        }
    }
    free(queue);
    return true;
}

static vyre_result graph_make(graph *g, vyre_diag *diag)
{
    uint32_t side = bench_graph_side(g->nodes);
    size_t size = g->nodes * sizeof(uint32_t);
    g->row_start = malloc(size + sizeof(uint32_t));
    g->start = malloc(size);
    g->wanted = malloc(size);
    g->got = malloc(size);
    if (!g->row_start || !g->start || !g->wanted || !g->got) {
        return vy_diag_no_memory(diag);
    }
    memset(g->start, 0xff, size);
    g->start[0] = g->row_start[0] = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        g->row_start[v + 1] = g->row_start[v] + bench_graph_degree(g->kind, v, g->nodes, side);
    }
    g->edges = g->row_start[g->nodes];
    g->column = malloc(g->edges * sizeof *g->column);
    for (uint32_t v = 0; g->column && v < g->nodes; v++) {
        for (uint32_t e = g->row_start[v]; e < g->row_start[v + 1]; e++) {
            g->column[e] = bench_graph_target(g->kind, v, e - g->row_start[v], g->nodes, side);
        }
    }
    return g->column && find_levels(g) ? VYRE_OK : vy_diag_no_memory(diag);
}

static vyre_result graph_upload(bench *b, graph *g, vyre_diag *diag)
{
    const uint32_t *const contents[3] = {g->row_start, g->column, g->start};
    const uint32_t counts[3] = {g->nodes + 1, g->edges, g->nodes};
    static const char *const names[3] = {"row_start", "column", "start"};
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < 3; i++) {
        result = bench_buffer_create(b->device, names[i], contents[i],
                                     (uint64_t)counts[i] * sizeof(uint32_t), &g->buffers[i], diag);
    }
    return result == VYRE_OK
               ? bench_buffer_create(b->device, "level", g->start,
                                     (uint64_t)g->nodes * sizeof(uint32_t), &g->level, diag)
               : result;
}

static void graph_finish(bench *b, graph *g)
{
    for (uint32_t i = 0; i < 4; i++) {
        vyre_buffer *buffer = i < 3 ? &g->buffers[i] : &g->level;
        if (buffer->bits) {
            bench_buffer_destroy(b->device, buffer);
        }
    }
    free(g->row_start);
    free(g->column);
    free(g->start);
    free(g->wanted);
    free(g->got);
}

static void compare(const graph *g, bench_check *out)
{
    out->compared += g->nodes;
    for (uint32_t v = 0; v < g->nodes; v++) {
        out->wrong += g->got[v] != g->wanted[v];
    }
}

/* ---- The library ----------------------------------------------------------------------------- */

static vyre_result sample_library(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    search *s = state;
    graph *g = s->graph;
    vyre_copy copy = {
        .source = g->buffers[2], .target = g->level, .size = (uint64_t)g->nodes * sizeof(uint32_t)};
    vyre_transfer_params transfer;
    vyre_result result = VYRE_OK;
    vyre_transfer_params_init(&transfer);
    transfer.copies = &copy;
    transfer.copy_count = 1;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_report report;
        result = vyre_transfer(s->bench->device, &transfer, diag);
        uint64_t start = bench_now_ns();
        if (result == VYRE_OK) {
            result = vyre_dispatch(s->program.pipeline, &s->dispatch, &report, diag);
        }
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        if (result == VYRE_OK) {
            s->runs++;
            s->wrong_runs +=
                report.passes != g->depth + 1 || report.convergence != VYRE_CONVERGENCE_YES;
            snprintf(s->strategy, sizeof s->strategy, "%s", report.strategy);
        }
    }
    return result;
}

static vyre_result check_library(void *state, bench_check *out, vyre_diag *diag)
{
    search *s = state;
    graph *g = s->graph;
    double ignored;
    vyre_result result = sample_library(s, &ignored, 1, diag);
    out->compared = s->runs;
    out->wrong = s->wrong_runs;
    if (result == VYRE_OK) {
        result = vyre_buffer_download(s->bench->device, g->level, 0, g->got,
                                      (uint64_t)g->nodes * sizeof(uint32_t), diag);
    }
    if (result == VYRE_OK) {
        compare(g, out);
    }
    return result;
}

static vyre_result add_library(search *s, bench_case *c, const char *way, const char *text,
                               uint32_t bindings, vyre_strategy strategy, vyre_diag *diag)
{
    graph *g = s->graph;
    for (uint32_t i = 0; i < bindings; i++) {
        s->bindings[i] =
            i < 3 ? bench_resident_binding(i < 2 ? g->buffers[i] : g->level)
                  : (vyre_binding){.kind = VYRE_BINDING_NONE, .count = VYRE_COUNT_DECLARED};
    }
    vyre_dispatch_params_init(&s->dispatch);
    s->dispatch.strategy = strategy;
    s->dispatch.bindings = s->bindings;
    s->dispatch.binding_count = bindings;
    (void)bench_series_vyre(c, way, s->bench->device, sample_library, check_library, s);
    return bench_program_create(s->bench->device, text, &s->program, diag);
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

static vyre_result sample_vulkan(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    search *s = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        result = peer_program_reset(s->peer, diag);
        uint64_t start = bench_now_ns();
        if (result == VYRE_OK) {
            result = peer_program_run(s->peer, diag);
        }
        out[i] = (double)(bench_now_ns() - start) / 1e3;
    }
    return result;
}

static vyre_result check_vulkan(void *state, bench_check *out, vyre_diag *diag)
{
    search *s = state;
    double ignored;
    vyre_result result = sample_vulkan(s, &ignored, 1, diag);
    if (result == VYRE_OK) {
        result = peer_program_read(s->peer, 2, s->graph->got, diag);
    }
    if (result == VYRE_OK) {
        compare(s->graph, out);
    }
    return result;
}

static vyre_result make_vulkan(search *s, vyre_diag *diag)
{
    graph *g = s->graph;
    const uint32_t *const contents[2] = {g->row_start, g->column};
    uint64_t size = (uint64_t)g->nodes * sizeof(uint32_t);
    peer_reset reset = {.buffer = 2, .from = 4, .is_copy = true};
    peer_program_params params = {.sizes = {size + sizeof(uint32_t),
                                            (uint64_t)g->edges * sizeof(uint32_t), size,
                                            sizeof(uint32_t), size},
                                  .buffer_count = 5,
                                  .steps = s->steps,
                                  .step_count = g->depth,
                                  .resets = &reset,
                                  .reset_count = 1};
    for (uint32_t pass = 0; pass < g->depth; pass++) {
        s->steps[pass] = (peer_step){.shader = PEER_SHADER_BFS,
                                     .groups = (g->nodes + 255) / 256,
                                     .count = g->nodes,
                                     .a = pass};
    }
    vyre_result result = peer_program_create(s->bench->peer, &params, &s->peer, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < 2; i++) {
        result = peer_program_write(s->peer, i, contents[i], diag);
    }
    return result == VYRE_OK ? peer_program_write(s->peer, 4, g->start, diag) : result;
}

static vyre_result add_vulkan(search *s, bench_case *c, vyre_diag *diag)
{
    static const char way[] = BENCH_EXACTLY " as many passes, recorded, bfs.comp";
    if (!s->bench->peer) {
        return VYRE_OK;
    }
    s->steps = calloc(s->graph->depth + 1, sizeof *s->steps);
    if (!s->steps) {
        return vy_diag_no_memory(diag);
    }
    if (make_vulkan(s, diag) != VYRE_OK) {
        bench_series_leave_out(c, "vulkan", way, diag->message);
        vy_diag_clear(diag);
    } else {
        (void)bench_series_add(c, "vulkan", way, sample_vulkan, check_vulkan, s);
    }
    return VYRE_OK;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void add_cuda(bench *b, bench_case *c, const graph *g)
{
    static const char *const ways[][2] = {{"a launch a level, its flag read", "host"},
                                          {"a launch a level, four edges at once", "host4"},
                                          {"grid.sync, all nodes a level", "sync"},
                                          {"grid.sync, four edges at once", "sync4"},
                                          {"grid.sync, a queue", "queue"}};
    for (size_t i = 0; i < VY_COUNT_OF(ways); i++) {
        (void)bench_series_cuda(b, c, ways[i][0], "bfs %s graph=%u count=%u", ways[i][1], g->kind,
                                g->nodes);
    }
}

static vyre_result measure_ways(bench *b, bench_case *c, graph *g, search *ways, vyre_diag *diag)
{
    vyre_result result = add_library(&ways[0], c, "bfs.vyre: all nodes a level", bench_bfs_vyre, 4,
                                     VYRE_STRATEGY_REPLAY, diag);
    if (result == VYRE_OK) {
        result = add_library(&ways[1], c, "bfs_queue.vyre: a queue", bench_bfs_queue_vyre, 6,
                             VYRE_STRATEGY_REPLAY, diag);
    }
    if (result == VYRE_OK && b->info.compute_units) {
        result = add_library(&ways[2], c, "bfs.vyre: all nodes a level, persistent", bench_bfs_vyre,
                             4, VYRE_STRATEGY_PERSISTENT, diag);
    }
    if (result == VYRE_OK) {
        result = add_vulkan(&ways[3], c, diag);
    }
    add_cuda(b, c, g);
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    bench_choose_base(c);
    for (uint32_t i = 0; i < (b->info.compute_units ? 3u : 2u); i++) {
        snprintf(c->series[i].note, sizeof c->series[i].note, "strategy %s", ways[i].strategy);
    }
    return result;
}

static vyre_result measure_case(bench *b, bench_group *group, uint32_t kind, uint32_t nodes,
                                vyre_diag *diag)
{
    static const char *const names[BENCH_GRAPHS] = {"search, hubs", "search, a grid"};
    graph g = {.kind = kind, .nodes = nodes};
    search ways[4];
    for (uint32_t i = 0; i < VY_COUNT_OF(ways); i++) {
        ways[i] = (search){.bench = b, .graph = &g};
    }
    bench_case *c = bench_case_add(b, group, names[kind], "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    c->budget_us = b->quick ? c->budget_us : case_budget_us;
    vyre_result result = graph_make(&g, diag);
    bench_case_size(c, "nodes", nodes);
    bench_case_size(c, "edges", g.edges);
    bench_case_size(c, "levels", g.depth + 1);
    if (result == VYRE_OK) {
        result = graph_upload(b, &g, diag);
    }
    if (result == VYRE_OK) {
        result = measure_ways(b, c, &g, ways, diag);
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(ways); i++) {
        bench_program_destroy(&ways[i].program);
        peer_program_destroy(&ways[i].peer);
        free(ways[i].steps);
    }
    graph_finish(b, &g);
    return result;
}

vyre_result bench_fixpoint_searches(bench *b, bench_group *group, vyre_diag *diag)
{
    vyre_result result =
        measure_case(b, group, BENCH_GRAPH_POWER, b->quick ? QUICK_POWER : POWER, diag);
    return result == VYRE_OK
               ? measure_case(b, group, BENCH_GRAPH_GRID, b->quick ? QUICK_GRID : GRID, diag)
               : result;
}
