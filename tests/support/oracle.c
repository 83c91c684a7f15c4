/* The oracles: obvious sequential algorithms. */
#include "tests/support/oracle.h"

#include <stdlib.h>
#include <string.h>

uint32_t vy_oracle_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

bool vy_oracle_bfs(const vy_graph *graph, uint32_t *level, uint32_t *out_deepest)
{
    uint32_t *queue = malloc(((size_t)graph->node_count + 1) * sizeof *queue);
    uint32_t begin = 0, end = 0;
    *out_deepest = 0;
    if (!queue) {
        return false;
    }
    for (uint32_t v = 0; v < graph->node_count; v++) {
        if (level[v] == 0) {
            queue[end++] = v;
        }
    }
    while (begin < end) {
        uint32_t v = queue[begin++];
        *out_deepest = level[v];
        for (uint32_t e = graph->row_start[v]; e < graph->row_start[v + 1]; e++) {
            uint32_t w = graph->column[e];
            if (level[w] == UINT32_MAX) {
                level[w] = level[v] + 1;
                queue[end++] = w;
            }
        }
    }
    free(queue);
    return true;
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

void vy_oracle_components(const vy_graph *graph, uint32_t *out_label)
{
    for (uint32_t v = 0; v < graph->node_count; v++) {
        out_label[v] = v;
    }
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t a = find_root(out_label, graph->edge_a[e]);
        uint32_t b = find_root(out_label, graph->edge_b[e]);
        if (a < b) {
            out_label[b] = a;
        } else {
            out_label[a] = b;
        }
    }
    for (uint32_t v = 0; v < graph->node_count; v++) {
        out_label[v] = find_root(out_label, v);
    }
}

/* ---- Dataflow -------------------------------------------------------------------------------- */

typedef struct worklist {
    uint32_t *succ_start, *succ, *queue; /* the queue is a ring of block_count entries */
    uint8_t *is_queued;
    uint32_t begin, count;
} worklist;

static void worklist_finish(worklist *list)
{
    free(list->succ_start);
    free(list->succ);
    free(list->queue);
    free(list->is_queued);
}

/* The successors from the predecessors, and every block queued once. */
static bool worklist_init(const vy_flow *flow, worklist *list)
{
    uint32_t n = flow->block_count;
    memset(list, 0, sizeof *list);
    list->succ_start = calloc((size_t)n + 2, sizeof *list->succ_start);
    list->succ = malloc(((size_t)flow->pred_count + 1) * sizeof *list->succ);
    list->queue = malloc(((size_t)n + 1) * sizeof *list->queue);
    list->is_queued = malloc((size_t)n + 1);
    if (!list->succ_start || !list->succ || !list->queue || !list->is_queued) {
        return false;
    }
    /* Entry b + 1 is where the next successor of b goes, and ends as where b + 1 begins. */
    for (uint32_t e = 0; e < flow->pred_count; e++) {
        list->succ_start[flow->pred[e] + 2]++;
    }
    for (uint32_t b = 0; b < n; b++) {
        list->succ_start[b + 2] += list->succ_start[b + 1];
        list->queue[b] = b;
        list->is_queued[b] = 1;
    }
    for (uint32_t b = 0; b < n; b++) {
        for (uint32_t e = flow->pred_start[b]; e < flow->pred_start[b + 1]; e++) {
            list->succ[list->succ_start[flow->pred[e] + 1]++] = b;
        }
    }
    list->count = n;
    return true;
}

/* Meets and transfers one block; whether its outgoing set changed. */
static bool update_block(const vy_flow *flow, uint32_t b, uint32_t *into, uint32_t *outof)
{
    bool has_changed = false;
    for (uint32_t w = 0; w < flow->words; w++) {
        size_t at = (size_t)b * flow->words + w;
        for (uint32_t e = flow->pred_start[b]; e < flow->pred_start[b + 1]; e++) {
            into[at] |= outof[(size_t)flow->pred[e] * flow->words + w];
        }
        uint32_t next = flow->gen[at] | (into[at] & ~flow->kill[at]);
        has_changed |= next != outof[at];
        outof[at] = next;
    }
    return has_changed;
}

bool vy_oracle_dataflow(const vy_flow *flow, uint32_t *out_into, uint32_t *out_outof)
{
    worklist list;
    size_t size = (size_t)flow->block_count * flow->words * sizeof *out_into;
    if (!worklist_init(flow, &list)) {
        worklist_finish(&list);
        return false;
    }
    memset(out_into, 0, size);
    memset(out_outof, 0, size);
    while (list.count) {
        uint32_t b = list.queue[list.begin];
        list.begin = list.begin + 1 == flow->block_count ? 0 : list.begin + 1;
        list.count--;
        list.is_queued[b] = 0;
        if (!update_block(flow, b, out_into, out_outof)) {
            continue;
        }
        for (uint32_t e = list.succ_start[b]; e < list.succ_start[b + 1]; e++) {
            uint32_t s = list.succ[e];
            if (!list.is_queued[s]) {
                list.is_queued[s] = 1;
                list.queue[(uint32_t)(((uint64_t)list.begin + list.count) % flow->block_count)] = s;
                list.count++;
            }
        }
    }
    worklist_finish(&list);
    return true;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

void vy_oracle_scan(const uint32_t *x, uint32_t count, uint32_t *out_y)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += x[i];
        out_y[i] = sum;
    }
}

uint32_t vy_oracle_compact(const uint32_t *x, uint32_t count, uint32_t mask, uint32_t want,
                           uint32_t *out_y)
{
    uint32_t kept = 0;
    memset(out_y, 0, (size_t)count * sizeof *out_y);
    for (uint32_t i = 0; i < count; i++) {
        if ((x[i] & mask) == want) {
            out_y[kept++] = x[i];
        }
    }
    return kept;
}

void vy_oracle_histogram(const uint32_t *x, uint32_t count, uint32_t out_bins[256])
{
    memset(out_bins, 0, 256 * sizeof *out_bins);
    for (uint32_t i = 0; i < count; i++) {
        out_bins[x[i] & 255]++;
    }
}

bool vy_oracle_reduce(const float *x, uint32_t count, uint32_t *out_bits)
{
    size_t room = ((size_t)count + 255) / 256 * 256;
    float *level = malloc((room + 256) * sizeof *level);
    if (!level) {
        return false;
    }
    level[0] = 0.0f;
    if (count) {
        memcpy(level, x, (size_t)count * sizeof *level);
    }
    uint32_t length = count;
    while (length) {
        /* Pad to whole blocks, then add neighbours eight times. */
        while (length % 256 != 0) {
            level[length++] = 0.0f;
        }
        for (uint32_t round = 0; round < 8; round++) {
            length /= 2;
            for (uint32_t i = 0; i < length; i++) {
                level[i] = level[2 * (size_t)i] + level[2 * (size_t)i + 1];
            }
        }
        if (length == 1) {
            break;
        }
    }
    memcpy(out_bits, level, sizeof *out_bits);
    free(level);
    return true;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Each cell and its two neighbours of the same row. */
static void sum_rows(const uint32_t *cells, uint32_t width, uint32_t height, uint8_t *out_sums)
{
    for (uint32_t y = 0; y < height; y++) {
        const uint32_t *row = cells + (size_t)y * width;
        uint8_t *sums = out_sums + (size_t)y * width;
        for (uint32_t x = 0; x < width; x++) {
            uint32_t left = x ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
            sums[x] = (uint8_t)(row[left] + row[x] + row[right]);
        }
    }
}

bool vy_oracle_life(uint32_t *cells, uint32_t width, uint32_t height, uint32_t generations)
{
    uint8_t *sums = malloc((size_t)width * height + 1);
    if (!sums) {
        return false;
    }
    for (uint32_t g = 0; g < generations; g++) {
        sum_rows(cells, width, height, sums);
        for (uint32_t y = 0; y < height; y++) {
            size_t above = (size_t)(y ? y - 1 : height - 1) * width;
            size_t below = (size_t)(y + 1 < height ? y + 1 : 0) * width;
            size_t here = (size_t)y * width;
            for (uint32_t x = 0; x < width; x++) {
                uint32_t nine = (uint32_t)sums[above + x] + sums[here + x] + sums[below + x];
                uint32_t *cell = &cells[here + x];
                *cell = nine == 3 || (nine == 4 && *cell);
            }
        }
    }
    free(sums);
    return true;
}
