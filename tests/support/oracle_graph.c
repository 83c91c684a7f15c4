/* Graphs for the oracles: made from a kind, a size and a seed, as edges and as compressed rows. */
#include "tests/support/oracle.h"

#include <stdlib.h>
#include <string.h>

static uint32_t root_of(uint32_t n)
{
    uint32_t root = 0;
    while ((uint64_t)(root + 1) * (root + 1) <= n) {
        root++;
    }
    return root;
}

static void add_edge(vy_graph *graph, uint32_t a, uint32_t b)
{
    graph->edge_a[graph->edge_count] = a;
    graph->edge_b[graph->edge_count++] = b;
}

/* A permutation of the nodes; the prime divides no size that tests use. */
static uint32_t scatter(uint32_t v, uint32_t n)
{
    return (uint32_t)((v * UINT64_C(2654435761) + 12345) % n);
}

static void add_path(vy_graph *graph)
{
    for (uint32_t v = 0; v + 1 < graph->node_count; v++) {
        add_edge(graph, v, v + 1);
    }
}

static void add_shuffled(vy_graph *graph)
{
    for (uint32_t v = 0; v + 1 < graph->node_count; v++) {
        add_edge(graph, scatter(v, graph->node_count), scatter(v + 1, graph->node_count));
    }
}

static void add_grid(vy_graph *graph)
{
    graph->width = root_of(graph->node_count);
    for (uint32_t v = 0; v < graph->node_count; v++) {
        if ((v + 1) % graph->width != 0 && v + 1 < graph->node_count) {
            add_edge(graph, v, v + 1);
        }
        if (v + graph->width < graph->node_count) {
            add_edge(graph, v, v + graph->width);
        }
    }
}

static void add_random(vy_graph *graph, uint64_t seed)
{
    uint32_t part = graph->node_count / 3 + 1;
    for (uint32_t v = 0; v < graph->node_count; v++) {
        uint32_t first = v / part * part;
        uint32_t size = graph->node_count - first < part ? graph->node_count - first : part;
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t w = first + vy_oracle_random(&seed) % size;
            if (v % 16 != 15 && w % 16 != 15) {
                add_edge(graph, scatter(v, graph->node_count), scatter(w, graph->node_count));
            }
        }
    }
}

static bool build_rows(vy_graph *graph, uint32_t ways)
{
    uint32_t n = graph->node_count;
    const uint32_t *ends[2] = {graph->edge_a, graph->edge_b};
    graph->column_count = graph->edge_count * ways;
    graph->row_start = calloc((size_t)n + 2, sizeof *graph->row_start);
    graph->column = malloc(((size_t)graph->column_count + 1) * sizeof *graph->column);
    if (!graph->row_start || !graph->column) {
        return false;
    }
    /* Entry v + 1 is where the next neighbour of v goes, and ends as where v + 1 begins. */
    for (uint32_t way = 0; way < ways; way++) {
        for (uint32_t e = 0; e < graph->edge_count; e++) {
            graph->row_start[ends[way][e] + 2]++;
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        graph->row_start[v + 2] += graph->row_start[v + 1];
    }
    for (uint32_t way = 0; way < ways; way++) {
        for (uint32_t e = 0; e < graph->edge_count; e++) {
            graph->column[graph->row_start[ends[way][e] + 1]++] = ends[1 - way][e];
        }
    }
    return true;
}

bool vy_graph_create(vy_graph_kind kind, uint32_t node_count, uint64_t seed, vy_graph *out_graph)
{
    size_t room = (size_t)node_count * 2 + 1;
    memset(out_graph, 0, sizeof *out_graph);
    out_graph->node_count = node_count;
    out_graph->edge_a = malloc(room * sizeof *out_graph->edge_a);
    out_graph->edge_b = malloc(room * sizeof *out_graph->edge_b);
    if (!out_graph->edge_a || !out_graph->edge_b) {
        vy_graph_destroy(out_graph);
        return false;
    }
    switch (kind) {
    case VY_GRAPH_PATH:
        add_path(out_graph);
        break;
    case VY_GRAPH_SHUFFLED:
        add_shuffled(out_graph);
        break;
    case VY_GRAPH_GRID:
        add_grid(out_graph);
        break;
    case VY_GRAPH_RANDOM:
    case VY_GRAPH_DIRECTED:
        add_random(out_graph, seed);
        break;
    }
    if (!build_rows(out_graph, kind == VY_GRAPH_DIRECTED ? 1 : 2)) {
        vy_graph_destroy(out_graph);
        return false;
    }
    return true;
}

void vy_graph_destroy(vy_graph *graph)
{
    free(graph->edge_a);
    free(graph->edge_b);
    free(graph->row_start);
    free(graph->column);
    memset(graph, 0, sizeof *graph);
}

/* ---- Control flow ---------------------------------------------------------------------------- */

bool vy_flow_create(uint32_t block_count, uint32_t words, uint64_t seed, vy_flow *out_flow)
{
    size_t set_words = (size_t)block_count * words;
    memset(out_flow, 0, sizeof *out_flow);
    out_flow->block_count = block_count;
    out_flow->words = words;
    out_flow->pred_start = calloc((size_t)block_count + 1, sizeof *out_flow->pred_start);
    out_flow->pred = malloc(((size_t)block_count * 3 + 1) * sizeof *out_flow->pred);
    out_flow->gen = malloc((set_words + 1) * sizeof *out_flow->gen);
    out_flow->kill = malloc((set_words + 1) * sizeof *out_flow->kill);
    if (!out_flow->pred_start || !out_flow->pred || !out_flow->gen || !out_flow->kill) {
        vy_flow_destroy(out_flow);
        return false;
    }
    for (uint32_t b = 0; b < block_count; b++) {
        uint32_t kind = vy_oracle_random(&seed) % 8;
        if (b > 0 && kind != 0) {
            out_flow->pred[out_flow->pred_count++] = b - 1;
        }
        for (uint32_t i = 0; i < kind % 3; i++) {
            out_flow->pred[out_flow->pred_count++] = vy_oracle_random(&seed) % block_count;
        }
        out_flow->pred_start[b + 1] = out_flow->pred_count;
    }
    for (size_t i = 0; i < set_words; i++) {
        uint32_t a = vy_oracle_random(&seed), b = vy_oracle_random(&seed);
        out_flow->gen[i] = a & b & vy_oracle_random(&seed);
        out_flow->kill[i] = vy_oracle_random(&seed);
        out_flow->kill[i] |= vy_oracle_random(&seed);
    }
    return true;
}

void vy_flow_destroy(vy_flow *flow)
{
    free(flow->pred_start);
    free(flow->pred);
    free(flow->gen);
    free(flow->kill);
    memset(flow, 0, sizeof *flow);
}
