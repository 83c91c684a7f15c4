/* What does something need, by way of others? Reads edges from a file and asks the device, once for
 * each name, by a program of the library's collection: shaders/reach.vyre, which follows edges
 * until a pass finds nothing new. The graph goes to the device once and stays there. reach FILE
 * NAME... */
#include "reach.h"

#include <vyre/vyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 1024u
#define MAX_EDGES 4096u
#define WORDS     (MAX_NODES / 32)

typedef struct graph {
    char names[MAX_NODES][64];
    uint32_t node_count, edge_count;
    uint32_t from[MAX_EDGES], to[MAX_EDGES];
    uint32_t row_start[MAX_NODES + 1]; /* node n's edges: column[row_start[n]] and following */
    uint32_t column[MAX_EDGES], kind[MAX_EDGES];
} graph;

enum { ROW_START, COLUMN, KIND, REACHED, DONE, FRESH, CHANGED, BINDINGS }; /* as declared */

typedef struct search {
    vyre_device *device;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    vyre_buffer buffers[3]; /* row_start, column, kind */
} search;

static uint32_t find(const graph *g, const char *name)
{
    uint32_t node = 0;
    while (node < g->node_count && strcmp(g->names[node], name) != 0) {
        node++;
    }
    return node;
}

static uint32_t find_or_add(graph *g, const char *name)
{
    uint32_t node = find(g, name);
    if (node == g->node_count && node < MAX_NODES) {
        strcpy(g->names[g->node_count++], name);
    }
    return node;
}

static int read_edges(graph *g, const char *path)
{
    char line[256], from[64], to[64];
    unsigned number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    int result = 0;
    while (!result && fgets(line, sizeof line, file)) {
        number++;
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        result = sscanf(line, "%63s %63s", from, to) != 2 || g->edge_count == MAX_EDGES;
        if (!result) {
            g->from[g->edge_count] = find_or_add(g, from);
            g->to[g->edge_count] = find_or_add(g, to);
            result = g->from[g->edge_count] == MAX_NODES || g->to[g->edge_count] == MAX_NODES;
            g->edge_count++;
        }
    }
    if (result) {
        fprintf(stderr, "%s:%u: not two names, or too many\n", path, number);
    }
    fclose(file);
    return result;
}

/* Edges by the node that they lead from. */
static void sort_edges(graph *g)
{
    uint32_t next[MAX_NODES] = {0};
    for (uint32_t e = 0; e < g->edge_count; e++) {
        g->row_start[g->from[e] + 1]++;
    }
    for (uint32_t n = 0; n < g->node_count; n++) {
        g->row_start[n + 1] += g->row_start[n];
        next[n] = g->row_start[n];
    }
    for (uint32_t e = 0; e < g->edge_count; e++) {
        uint32_t place = next[g->from[e]]++;
        g->column[place] = g->to[e];
        g->kind[place] = 1;
    }
}

static vyre_result prepare(search *s, const graph *g, vyre_diag *diag)
{
    const void *data[3] = {g->row_start, g->column, g->kind};
    const uint64_t sizes[3] = {4ull * (g->node_count + 1), 4ull * g->edge_count,
                               4ull * g->edge_count};
    vyre_kernel_params wanted;
    vyre_upload uploads[3];
    vyre_result result = vyre_device_create(NULL, &s->device, diag);
    if (result == VYRE_OK) {
        vyre_device_kernel_params(s->device, &wanted);
        result = vyre_kernel_load(reach, reach_size, &wanted, &s->kernel, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(s->device, s->kernel, NULL, &s->pipeline, diag);
    }
    for (int i = 0; i < 3 && result == VYRE_OK; i++) {
        vyre_buffer_params params = {.size = sizes[i]};
        result = vyre_buffer_create(s->device, &params, &s->buffers[i], diag);
        uploads[i] = (vyre_upload){.buffer = s->buffers[i], .size = sizes[i], .data = data[i]};
    }
    vyre_transfer_params transfer = {.upload_count = 3, .uploads = uploads};
    return result == VYRE_OK ? vyre_transfer(s->device, &transfer, diag) : result;
}

/* reached: a bit for each node, in and out. */
static vyre_result follow(search *s, uint32_t *reached, uint32_t word_count, uint32_t *out_passes,
                          vyre_diag *diag)
{
    const uint32_t kinds = 1;
    vyre_report report;
    vyre_binding bindings[BINDINGS] = {{0}}; /* scratch: the library's own */
    for (int i = ROW_START; i <= KIND; i++) {
        bindings[i] = (vyre_binding){
            .kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = s->buffers[i]};
    }
    bindings[REACHED] = (vyre_binding){
        .kind = VYRE_BINDING_HOST, .count = word_count, .in = reached, .out = reached};
    vyre_dispatch_params params = {
        .bindings = bindings, .binding_count = BINDINGS, .params = &kinds, .param_count = 1};
    vyre_result result = vyre_dispatch(s->pipeline, &params, &report, diag);
    *out_passes = result == VYRE_OK ? report.passes : 0;
    return result;
}

static vyre_result ask(search *s, const graph *g, const char *name, vyre_diag *diag)
{
    uint32_t reached[WORDS] = {0}, passes, node = find(g, name);
    if (node == g->node_count) {
        printf("%s: unknown\n", name);
        return VYRE_OK;
    }
    reached[node / 32] = 1u << node % 32;
    vyre_result result = follow(s, reached, (g->node_count + 31) / 32, &passes, diag);
    if (result == VYRE_OK) {
        printf("%s needs, in %u passes:", name, (unsigned)passes);
        for (uint32_t n = 0; n < g->node_count; n++) {
            if (n != node && (reached[n / 32] >> n % 32 & 1)) {
                printf(" %s", g->names[n]);
            }
        }
        putchar('\n');
    }
    return result;
}

int main(int argc, char **argv)
{
    static graph g;
    search s = {.device = NULL};
    vyre_diag diag;
    if (argc < 3) {
        fprintf(stderr, "usage: reach FILE NAME...\n");
        return 2;
    }
    if (read_edges(&g, argv[1])) {
        return 1;
    }
    sort_edges(&g);
    vyre_result result = prepare(&s, &g, &diag);
    for (int i = 2; i < argc && result == VYRE_OK; i++) {
        result = ask(&s, &g, argv[i], &diag);
    }
    if (result != VYRE_OK) {
        fprintf(stderr, "%s: %s\n", vyre_result_name(result), diag.message);
    }
    vyre_pipeline_destroy(&s.pipeline);
    vyre_kernel_destroy(&s.kernel);
    vyre_device_destroy(&s.device); /* and its buffers */
    return result != VYRE_OK;
}
