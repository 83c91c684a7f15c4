/* What the programs in shaders/ compute, in plain C that shares no algorithm with them, and graphs
 * and inputs by seed to run them on. Words are u32, f32 bits or bools, as the program has them.
 * Functions that allocate return false without memory. */
#ifndef VY_ORACLE_H
#define VY_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* The next number of a seeded sequence, the same everywhere. */
uint32_t vy_oracle_random(uint64_t *state);

/* ---- Graphs ---------------------------------------------------------------------------------- */

typedef enum vy_graph_kind {
    VY_GRAPH_PATH,     /* 0 -- 1 -- 2 ... */
    VY_GRAPH_SHUFFLED, /* a path through the nodes in a scattered order */
    VY_GRAPH_GRID,     /* nearly square, four neighbours */
    VY_GRAPH_RANDOM,   /* two random edges for each node within one of three parts of the nodes;
                          every 16th node is alone */
    VY_GRAPH_DIRECTED  /* the same, and the rows hold the edges from edge_a to edge_b only */
} vy_graph_kind;

typedef struct vy_graph {
    uint32_t node_count, edge_count, width; /* width: of a grid */
    uint32_t *edge_a, *edge_b;
    uint32_t column_count;
    uint32_t *row_start, *column; /* the same in compressed rows, both ways */
} vy_graph;

bool vy_graph_create(vy_graph_kind kind, uint32_t node_count, uint64_t seed, vy_graph *out_graph);
void vy_graph_destroy(vy_graph *graph);

/* A control-flow graph with sets: most blocks fall through from the one before, and some are jumped
 * to from anywhere; about three quarters of the bits are killed in each block and an eighth made.
 */
typedef struct vy_flow {
    uint32_t block_count, words, pred_count;
    uint32_t *pred_start, *pred, *gen, *kill;
} vy_flow;

bool vy_flow_create(uint32_t block_count, uint32_t words, uint64_t seed, vy_flow *out_flow);
void vy_flow_destroy(vy_flow *flow);

/* ---- Results --------------------------------------------------------------------------------- */

/* Levels from the nodes of level 0, by a queue; *out_deepest gets the largest level reached. */
bool vy_oracle_bfs(const vy_graph *graph, uint32_t *level, uint32_t *out_deepest);
/* The smallest node of every node's component, by union-find. */
void vy_oracle_components(const vy_graph *graph, uint32_t *out_label);
/* The least fixpoint, by a worklist over the successors. */
bool vy_oracle_dataflow(const vy_flow *flow, uint32_t *out_into, uint32_t *out_outof);
void vy_oracle_scan(const uint32_t *x, uint32_t count, uint32_t *out_y);
/* out_y has count words, those past the result's end are zero. Returns how many were kept. */
uint32_t vy_oracle_compact(const uint32_t *x, uint32_t count, uint32_t mask, uint32_t want,
                           uint32_t *out_y);
void vy_oracle_histogram(const uint32_t *x, uint32_t count, uint32_t out_bins[256]);
/* The sum over the tree that reduce.vyre documents, as f32 bits. */
bool vy_oracle_reduce(const float *x, uint32_t count, uint32_t *out_bits);
/* That many generations on a torus of width x height cells, in place. */
bool vy_oracle_life(uint32_t *cells, uint32_t width, uint32_t height, uint32_t generations);
/* BLAKE3's 32 bytes, each word with its first byte in the lowest bits. */
void vy_oracle_blake3(const uint8_t *bytes, uint32_t size, uint32_t out_hash[8]);

#endif
