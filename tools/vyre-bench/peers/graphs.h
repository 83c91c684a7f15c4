/* The graphs of group fixpoint: who leads where, by numbers alone. Also for CUDA. */
#ifndef VY_BENCH_PEERS_GRAPHS_H
#define VY_BENCH_PEERS_GRAPHS_H

#include "items.h" /* bench_item_hash */

enum { BENCH_GRAPH_POWER, BENCH_GRAPH_GRID, BENCH_GRAPHS };

#define BENCH_UNREACHED 0xffffffffu

/* Of a square grid; `nodes` is a square. */
BENCH_ITEM_FUNCTION uint32_t bench_graph_side(uint32_t nodes)
{
    uint32_t side = 1;
    while ((side + 1) * (side + 1) <= nodes) {
        side++;
    }
    return side;
}

/* How many edges leave node v. POWER: 4 or more from every node, twice as many from half as many
 * nodes, up to 4096; `nodes` is a power of two. GRID: to the neighbours; side: bench_graph_side. */
BENCH_ITEM_FUNCTION uint32_t bench_graph_degree(uint32_t graph, uint32_t v, uint32_t nodes,
                                                uint32_t side)
{
    uint32_t hash = bench_item_hash(v), degree = 4, x, y;
    if (graph == BENCH_GRAPH_POWER) {
        while (degree < 4096 && (hash & 1) && degree < nodes) {
            degree *= 2;
            hash >>= 1;
        }
        return degree;
    }
    x = v % side;
    y = v / side;
    return (x > 0 ? 1u : 0u) + (x + 1 < side ? 1u : 0u) + (y > 0 ? 1u : 0u) +
           (y + 1 < side ? 1u : 0u);
}

/* Where edge k of node v leads. POWER: more often to few nodes, which lie anywhere. */
BENCH_ITEM_FUNCTION uint32_t bench_graph_target(uint32_t graph, uint32_t v, uint32_t k,
                                                uint32_t nodes, uint32_t side)
{
    uint32_t x, y;
    if (graph == BENCH_GRAPH_POWER) {
        uint64_t hash = bench_item_hash(v * 4099u + k);
        uint64_t square = hash * hash >> 32;
        return (uint32_t)(square * nodes >> 32) * 0x9e3779b1u & (nodes - 1);
    }
    x = v % side;
    y = v / side;
    if (x > 0 && k-- == 0) {
        return v - 1;
    }
    if (x + 1 < side && k-- == 0) {
        return v + 1;
    }
    return y > 0 && k == 0 ? v - side : v + side;
}

#endif
