/* Cases of programs over graphs, with queues and searches from every node. */
#include "tests/support/oracle.h"
#include "tests/support/oracle_make.h"

#include <stdlib.h>
#include <string.h>

static bool create_graph(const vy_case *c, uint64_t seed, vy_graph *out_graph)
{
    vy_graph_kind kind = c->variant == VY_VARIANT_PATH     ? VY_GRAPH_PATH
                         : c->variant == VY_VARIANT_GRID   ? VY_GRAPH_GRID
                         : c->variant == VY_VARIANT_RANDOM ? VY_GRAPH_RANDOM
                                                           : VY_GRAPH_DIRECTED;
    return vy_graph_create(kind, c->size, seed, out_graph);
}

/* Distances from node 0 by a queue of nodes that came nearer, where `is_kept` says which entries of
 * `column` count. NULL costs are 1. */
static bool search(const vy_graph *graph, const uint32_t *cost, const uint8_t *is_kept,
                   uint32_t *distance, uint32_t *out_deepest)
{
    uint32_t n = graph->node_count, begin = 0, count = 0;
    uint32_t *ring = malloc(((size_t)n + 1) * sizeof *ring);
    uint8_t *is_queued = calloc((size_t)n + 1, 1);
    bool ok = ring && is_queued;
    *out_deepest = 0;
    for (uint32_t v = 0; v < n; v++) {
        distance[v] = v ? UINT32_MAX : 0;
    }
    if (ok && n) {
        ring[count++] = 0;
    }
    while (ok && count) {
        uint32_t v = ring[begin];
        begin = begin + 1 == n ? 0 : begin + 1;
        count--;
        is_queued[v] = 0;
        *out_deepest = distance[v] > *out_deepest ? distance[v] : *out_deepest;
        for (uint32_t e = graph->row_start[v]; e < graph->row_start[v + 1]; e++) {
            uint32_t w = graph->column[e], reach = distance[v] + (cost ? cost[e] : 1);
            if ((is_kept && !is_kept[e]) || reach >= distance[w]) {
                continue;
            }
            distance[w] = reach;
            if (!is_queued[w]) {
                is_queued[w] = 1;
                ring[(begin + (uint64_t)count++) % n] = w;
            }
        }
    }
    free(ring);
    free(is_queued);
    return ok;
}

/* ---- Reachability ---------------------------------------------------------------------------- */

bool vy_make_reach(vy_case *c, uint64_t seed)
{
    vy_graph graph;
    uint32_t kinds = 1 + vy_random_below(&seed, 7), words = c->size / 32 + (c->size % 32 != 0);
    if (!create_graph(c, seed, &graph)) {
        return false;
    }
    vy_slot *kind = vy_case_add(c, "kind", graph.column_count, VY_SLOT_IN);
    vy_slot *reached = vy_case_add(c, "reached", words, VY_SLOT_IN | VY_SLOT_EXPECTED);
    uint8_t *is_kept = malloc((size_t)graph.column_count + 1);
    uint32_t *distance = malloc(((size_t)c->size + 1) * sizeof *distance), deepest = 0;
    bool ok = kind && reached && is_kept && distance;
    for (uint32_t e = 0; ok && e < graph.column_count; e++) {
        kind->in[e] = vy_random_below(&seed, 16) ? 7 : vy_oracle_random(&seed) % 8;
        is_kept[e] = (kind->in[e] & kinds) != 0;
    }
    ok = ok && search(&graph, NULL, is_kept, distance, &deepest);
    for (uint32_t v = 0; ok && v < c->size; v++) {
        reached->in[v / 32] |= (uint32_t)(v == 0) << v % 32;
        reached->expected[v / 32] |= (uint32_t)(distance[v] != UINT32_MAX) << v % 32;
    }
    vy_case_take(c, "row_start", c->size + 1, &graph.row_start);
    vy_case_take(c, "column", graph.column_count, &graph.column);
    vy_graph_destroy(&graph);
    free(is_kept);
    free(distance);
    vy_case_param(c, kinds);
    c->grid_elements = c->size + 1;
    c->convergence = VYRE_CONVERGENCE_YES;
    c->passes_expected = deepest + 1;
    return ok;
}

bool vy_make_shortest_paths(vy_case *c, uint64_t seed)
{
    vy_graph graph;
    uint32_t deepest;
    if (!create_graph(c, seed, &graph)) {
        return false;
    }
    vy_slot *cost = vy_case_add(c, "cost", graph.column_count, VY_SLOT_IN);
    vy_slot *distance = vy_case_add(c, "distance", c->size, VY_SLOT_IN | VY_SLOT_EXPECTED);
    bool ok = cost && distance;
    for (uint32_t e = 0; ok && e < graph.column_count; e++) {
        cost->in[e] = 1 + vy_random_below(&seed, 100);
    }
    ok = ok && search(&graph, cost->in, NULL, distance->expected, &deepest);
    for (uint32_t v = 1; ok && v < c->size; v++) {
        distance->in[v] = UINT32_MAX;
    }
    vy_case_take(c, "row_start", c->size + 1, &graph.row_start);
    vy_case_take(c, "column", graph.column_count, &graph.column);
    vy_graph_destroy(&graph);
    c->convergence = VYRE_CONVERGENCE_YES;
    return ok;
}

/* ---- Closure --------------------------------------------------------------------------------- */

/* What `from` reaches in one edge or more, over the rows of bits, into a row. */
static void closure_row(const uint32_t *edges, uint32_t nodes, uint32_t words, uint32_t from,
                        uint32_t *stack, uint32_t *out_row)
{
    uint32_t depth = 0;
    stack[depth++] = from;
    while (depth) {
        const uint32_t *row = edges + (size_t)stack[--depth] * words;
        for (uint32_t w = 0; w < words; w++) {
            uint32_t fresh = row[w] & ~out_row[w];
            out_row[w] |= fresh;
            for (uint32_t bit = 0; fresh && bit < 32; bit++) {
                if (fresh >> bit & 1 && w * 32 + bit < nodes) {
                    stack[depth++] = w * 32 + bit;
                }
            }
        }
    }
}

/* As many nodes as `size` words hold. RANDOM: an edge of each node or so; PATH: a path backwards.
 */
bool vy_make_closure(vy_case *c, uint64_t seed)
{
    uint32_t nodes = 0;
    while ((uint64_t)(nodes + 1) * (nodes / 32 + 1) <= c->size) {
        nodes++;
    }
    uint32_t words = nodes / 32 + (nodes % 32 != 0);
    vy_slot *edges = vy_case_add(c, "edges", nodes * words, VY_SLOT_IN | VY_SLOT_EXPECTED);
    uint32_t *stack = malloc(((size_t)nodes + 2) * sizeof *stack);
    bool ok = edges && stack;
    for (uint32_t v = 0; ok && v < nodes; v++) {
        uint32_t out = c->variant == VY_VARIANT_PATH ? v != 0 : vy_random_below(&seed, 3);
        for (uint32_t e = 0; e < out; e++) {
            uint32_t to = c->variant == VY_VARIANT_PATH ? v - 1 : vy_random_below(&seed, nodes);
            edges->in[(size_t)v * words + to / 32] |= 1u << to % 32;
        }
    }
    for (uint32_t v = 0; ok && v < nodes; v++) {
        closure_row(edges->in, nodes, words, v, stack, edges->expected + (size_t)v * words);
    }
    free(stack);
    vy_case_param(c, nodes);
    c->grid_elements = nodes * words;
    return ok;
}

/* ---- Many small graphs ----------------------------------------------------------------------- */

static void small_levels(const uint32_t *row_start, const uint32_t *column, uint32_t source,
                         uint32_t *level, uint32_t *out_waves)
{
    uint32_t queue[128], begin = 0, end = 0;
    for (uint32_t v = 0; v < 128; v++) {
        level[v] = UINT32_MAX;
    }
    level[source] = 0;
    queue[end++] = source;
    while (begin < end) {
        uint32_t v = queue[begin++];
        *out_waves = level[v] + 1;
        for (uint32_t e = row_start[v]; e < row_start[v + 1]; e++) {
            if (level[column[e]] == UINT32_MAX) {
                level[column[e]] = level[v] + 1;
                queue[end++] = column[e];
            }
        }
    }
}

bool vy_make_bfs_group(vy_case *c, uint64_t seed)
{
    uint32_t graphs = c->size / 128 + (c->size % 128 != 0);
    vy_slot *row_start = vy_case_add(c, "row_start", 129 * graphs, VY_SLOT_IN);
    vy_slot *column = vy_case_add(c, "column", 3 * 128 * graphs, VY_SLOT_IN);
    vy_slot *source = vy_case_add(c, "source", graphs, VY_SLOT_IN);
    vy_slot *level = vy_case_add(c, "level", 128 * graphs, VY_SLOT_EXPECTED);
    vy_slot *waves = vy_case_add(c, "waves", graphs, VY_SLOT_EXPECTED);
    uint32_t edges = 0;
    if (!row_start || !column || !source || !level || !waves) {
        return false;
    }
    for (uint32_t g = 0; g < graphs; g++) {
        for (uint32_t v = 0; v < 128; v++) {
            row_start->in[g * 129 + v] = edges;
            for (uint32_t out = vy_random_below(&seed, 4); out > 0; out--) {
                column->in[edges++] = vy_random_below(&seed, 128);
            }
        }
        row_start->in[g * 129 + 128] = edges;
        source->in[g] = vy_random_below(&seed, 128);
        small_levels(row_start->in + (size_t)g * 129, column->in, source->in[g],
                     level->expected + (size_t)g * 128, &waves->expected[g]);
    }
    c->grid_elements = 128 * graphs;
    return true;
}
