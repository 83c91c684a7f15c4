/* Cases: inputs by subject, variant, size and seed, and the oracles' answers. */
#include "tests/support/oracle_case.h"

#include "tests/support/oracle.h"

#include <stdlib.h>
#include <string.h>

#define BIT(variant) (1u << VY_VARIANT_##variant)

static const struct {
    const char *name;
    uint32_t variants;
} subjects[VY_SUBJECT_COUNT] = {
    [VY_SUBJECT_BFS] = {"bfs", BIT(PATH) | BIT(GRID) | BIT(RANDOM) | BIT(DIRECTED)},
    [VY_SUBJECT_COMPONENTS] = {"components", BIT(PATH) | BIT(SHUFFLED) | BIT(GRID) | BIT(RANDOM)},
    [VY_SUBJECT_DATAFLOW] = {"dataflow", BIT(RANDOM) | BIT(WIDE)},
    [VY_SUBJECT_SCAN] = {"scan", BIT(RANDOM)},
    [VY_SUBJECT_COMPACT] = {"compact", BIT(RANDOM) | BIT(NONE) | BIT(ALL)},
    [VY_SUBJECT_HISTOGRAM] = {"histogram", BIT(RANDOM) | BIT(NONE)},
    [VY_SUBJECT_REDUCE] = {"reduce", BIT(RANDOM) | BIT(NONE)},
    [VY_SUBJECT_LIFE] = {"life", BIT(WIDE) | BIT(SQUARE) | BIT(BRIEF)},
};

const char *vy_subject_name(vy_subject subject)
{
    return subjects[subject].name;
}

const char *vy_variant_name(vy_variant variant)
{
    static const char *const names[VY_VARIANT_COUNT] = {
        [VY_VARIANT_PATH] = "path",         [VY_VARIANT_SHUFFLED] = "shuffled",
        [VY_VARIANT_GRID] = "grid",         [VY_VARIANT_RANDOM] = "random",
        [VY_VARIANT_DIRECTED] = "directed", [VY_VARIANT_WIDE] = "wide",
        [VY_VARIANT_SQUARE] = "square",     [VY_VARIANT_BRIEF] = "brief",
        [VY_VARIANT_NONE] = "none",         [VY_VARIANT_ALL] = "all",
    };
    return names[variant];
}

bool vy_subject_has(vy_subject subject, vy_variant variant)
{
    return (subjects[subject].variants >> variant) & 1;
}

/* A slot with room of its own for what is asked for; never NULL pointers for no elements. */
#define SLOT_IN       1u
#define SLOT_EXPECTED 2u

static vy_slot *add_slot(vy_case *c, const char *name, uint32_t count, uint32_t uses)
{
    vy_slot *slot = &c->slots[c->slot_count++];
    slot->name = name;
    slot->count = count;
    if (uses & SLOT_IN) {
        slot->in = calloc((size_t)count + 1, sizeof *slot->in);
    }
    if (uses & SLOT_EXPECTED) {
        slot->expected = calloc((size_t)count + 1, sizeof *slot->expected);
    }
    bool failed = ((uses & SLOT_IN) && !slot->in) || ((uses & SLOT_EXPECTED) && !slot->expected);
    return failed ? NULL : slot;
}

/* An input slot that takes *words over. */
static void take_slot(vy_case *c, const char *name, uint32_t count, uint32_t **words)
{
    vy_slot *slot = &c->slots[c->slot_count++];
    slot->name = name;
    slot->count = count;
    slot->in = *words;
    *words = NULL;
}

static void add_param(vy_case *c, uint32_t value)
{
    c->params[c->param_count++] = value;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static vy_graph_kind graph_kind(vy_variant variant)
{
    switch (variant) {
    case VY_VARIANT_PATH:
        return VY_GRAPH_PATH;
    case VY_VARIANT_SHUFFLED:
        return VY_GRAPH_SHUFFLED;
    case VY_VARIANT_GRID:
        return VY_GRAPH_GRID;
    case VY_VARIANT_DIRECTED:
        return VY_GRAPH_DIRECTED;
    default:
        return VY_GRAPH_RANDOM;
    }
}

static void set_sources(const vy_graph *graph, vy_variant variant, uint64_t seed, uint32_t *level)
{
    for (uint32_t v = 0; v < graph->node_count; v++) {
        bool is_source = v == 0;
        if (variant == VY_VARIANT_GRID) {
            is_source = v % graph->width % 64 == 0 && v / graph->width % 64 == 0;
        }
        if (variant == VY_VARIANT_DIRECTED) {
            is_source = v % 64 == 0;
        }
        level[v] = is_source ? 0 : UINT32_MAX;
    }
    /* Of a random graph's three parts one keeps no source, most of the time. */
    if (variant == VY_VARIANT_RANDOM && graph->node_count) {
        level[vy_oracle_random(&seed) % graph->node_count] = 0;
    }
}

static bool make_bfs(vy_case *c, vy_graph *graph, uint64_t seed)
{
    uint32_t deepest = 0;
    vy_slot *level = add_slot(c, "level", graph->node_count, SLOT_IN | SLOT_EXPECTED);
    if (!level) {
        return false;
    }
    set_sources(graph, c->variant, seed, level->in);
    memcpy(level->expected, level->in, (size_t)graph->node_count * sizeof *level->in);
    if (!vy_oracle_bfs(graph, level->expected, &deepest)) {
        return false;
    }
    take_slot(c, "row_start", graph->node_count + 1, &graph->row_start);
    take_slot(c, "column", graph->column_count, &graph->column);
    c->passes_expected = deepest + 1;
    return true;
}

static bool make_components(vy_case *c, vy_graph *graph)
{
    vy_slot *label = add_slot(c, "label", graph->node_count, SLOT_EXPECTED);
    if (!label) {
        return false;
    }
    vy_oracle_components(graph, label->expected);
    take_slot(c, "edge_a", graph->edge_count, &graph->edge_a);
    take_slot(c, "edge_b", graph->edge_count, &graph->edge_b);
    return true;
}

static bool make_graph_case(vy_case *c, uint64_t seed)
{
    vy_graph graph;
    if (!vy_graph_create(graph_kind(c->variant), c->size, seed, &graph)) {
        return false;
    }
    bool ok = c->subject == VY_SUBJECT_BFS ? make_bfs(c, &graph, seed) : make_components(c, &graph);
    vy_graph_destroy(&graph);
    c->convergence = VYRE_CONVERGENCE_YES;
    return ok;
}

static bool make_dataflow(vy_case *c, uint64_t seed)
{
    vy_flow flow;
    uint32_t words = c->variant == VY_VARIANT_WIDE ? 3 : 1;
    if (!vy_flow_create(c->size, words, seed, &flow)) {
        return false;
    }
    uint32_t count = c->size * words;
    vy_slot *into = add_slot(c, "into", count, SLOT_EXPECTED);
    vy_slot *outof = add_slot(c, "outof", count, SLOT_EXPECTED);
    bool ok = into && outof && vy_oracle_dataflow(&flow, into->expected, outof->expected);
    take_slot(c, "pred_start", c->size + 1, &flow.pred_start);
    take_slot(c, "pred", flow.pred_count, &flow.pred);
    take_slot(c, "gen", count, &flow.gen);
    take_slot(c, "kill", count, &flow.kill);
    vy_flow_destroy(&flow);
    add_param(c, words);
    c->grid_elements = count;
    c->convergence = VYRE_CONVERGENCE_YES;
    return ok;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static vy_slot *add_random(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_slot(c, "x", c->size, SLOT_IN);
    for (uint32_t i = 0; x && i < c->size; i++) {
        x->in[i] = c->variant == VY_VARIANT_NONE ? 0x12345678 : vy_oracle_random(&seed);
    }
    return x;
}

static bool make_scan(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_random(c, seed);
    vy_slot *y = add_slot(c, "y", c->size, SLOT_EXPECTED);
    if (!x || !y) {
        return false;
    }
    vy_oracle_scan(x->in, c->size, y->expected);
    return true;
}

static bool make_compact(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_random(c, seed);
    vy_slot *y = add_slot(c, "y", c->size, SLOT_EXPECTED);
    vy_slot *kept = add_slot(c, "kept", 1, SLOT_EXPECTED);
    uint32_t mask = c->variant == VY_VARIANT_ALL ? 0 : 3;
    uint32_t want = c->variant == VY_VARIANT_ALL ? 0 : 1; /* where all are equal, they are even */
    if (!x || !y || !kept) {
        return false;
    }
    kept->expected[0] = vy_oracle_compact(x->in, c->size, mask, want, y->expected);
    add_param(c, mask);
    add_param(c, want);
    return true;
}

static bool make_histogram(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_random(c, seed);
    vy_slot *bins = add_slot(c, "bins", 256, SLOT_EXPECTED);
    if (!x || !bins) {
        return false;
    }
    vy_oracle_histogram(x->in, c->size, bins->expected);
    return true;
}

/* Full significands, signs, and exponents of 2^-8 to 2^7, so that sums round but never come near to
 * denormals, which devices may flush. */
static bool make_reduce(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_slot(c, "x", c->size, SLOT_IN);
    vy_slot *total = add_slot(c, "total", 1, SLOT_EXPECTED);
    float *values = malloc(((size_t)c->size + 1) * sizeof *values);
    bool ok = x && total && values;
    for (uint32_t i = 0; ok && i < c->size; i++) {
        uint32_t bits = vy_oracle_random(&seed);
        bits = (bits & 0x807fffff) | (119 + (bits >> 23 & 15)) << 23;
        x->in[i] = c->variant == VY_VARIANT_NONE ? 0x3dcccccd : bits; /* 0.1 */
    }
    if (ok) {
        memcpy(values, x->in, (size_t)c->size * sizeof *values);
        ok = vy_oracle_reduce(values, c->size, total->expected);
    }
    free(values);
    return ok;
}

static bool make_life(vy_case *c, uint64_t seed)
{
    uint32_t width = c->size, height = c->size ? 1 : 0;
    if (c->variant != VY_VARIANT_WIDE && c->size) {
        width = 1;
        while ((uint64_t)width * width < c->size) {
            width++;
        }
        height = (c->size + width - 1) / width;
    }
    uint32_t count = width * height;
    vy_slot *cells = add_slot(c, "cells", count, SLOT_IN | SLOT_EXPECTED);
    if (!cells) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        cells->in[i] = vy_oracle_random(&seed) % 3 == 0;
        cells->expected[i] = cells->in[i];
    }
    add_param(c, width);
    c->grid_elements = count;
    c->passes = c->variant == VY_VARIANT_BRIEF ? VY_CASE_BRIEF_GENERATIONS : VY_CASE_GENERATIONS;
    c->passes_expected = c->passes;
    return vy_oracle_life(cells->expected, width, height, c->passes);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

bool vy_case_init(vy_case *out_case, vy_subject subject, vy_variant variant, uint32_t size,
                  uint64_t seed)
{
    *out_case =
        (vy_case){.subject = subject, .variant = variant, .size = size, .grid_elements = size};
    switch (subject) {
    case VY_SUBJECT_BFS:
    case VY_SUBJECT_COMPONENTS:
        return make_graph_case(out_case, seed);
    case VY_SUBJECT_DATAFLOW:
        return make_dataflow(out_case, seed);
    case VY_SUBJECT_SCAN:
        return make_scan(out_case, seed);
    case VY_SUBJECT_COMPACT:
        return make_compact(out_case, seed);
    case VY_SUBJECT_HISTOGRAM:
        return make_histogram(out_case, seed);
    case VY_SUBJECT_REDUCE:
        return make_reduce(out_case, seed);
    case VY_SUBJECT_LIFE:
        return make_life(out_case, seed);
    case VY_SUBJECT_COUNT:
        break;
    }
    return false;
}

void vy_case_finish(vy_case *c)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        free(c->slots[i].in);
        free(c->slots[i].expected);
        free(c->slots[i].out);
    }
    memset(c, 0, sizeof *c);
}

bool vy_case_keep_outputs(vy_case *c)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        vy_slot *slot = &c->slots[i];
        if (slot->expected && !slot->out) {
            slot->out = malloc(((size_t)slot->count + 1) * sizeof *slot->out);
            if (!slot->out) {
                return false;
            }
        }
    }
    return true;
}

vy_slot *vy_case_find(vy_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        if (strcmp(c->slots[i].name, name) == 0) {
            return &c->slots[i];
        }
    }
    return NULL;
}
