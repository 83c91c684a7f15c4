/* Cases: inputs by subject, variant, size and seed, and the oracles' answers. */
#include "tests/support/oracle_case.h"

#include "tests/support/oracle.h"
#include "tests/support/oracle_make.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parts ----------------------------------------------------------------------------------- */

vy_slot *vy_case_add(vy_case *c, const char *name, uint32_t count, uint32_t uses)
{
    vy_slot *slot = &c->slots[c->slot_count++];
    slot->name = name;
    slot->count = count;
    if (uses & VY_SLOT_IN) {
        slot->in = calloc((size_t)count + 1, sizeof *slot->in);
    }
    if (uses & VY_SLOT_EXPECTED) {
        slot->expected = calloc((size_t)count + 1, sizeof *slot->expected);
    }
    if (uses & VY_SLOT_SLACK) {
        slot->slack = calloc((size_t)count + 1, sizeof *slot->slack);
    }
    bool failed = ((uses & VY_SLOT_IN) && !slot->in) ||
                  ((uses & VY_SLOT_EXPECTED) && !slot->expected) ||
                  ((uses & VY_SLOT_SLACK) && !slot->slack);
    return failed ? NULL : slot;
}

void vy_case_take(vy_case *c, const char *name, uint32_t count, uint32_t **words)
{
    vy_slot *slot = &c->slots[c->slot_count++];
    slot->name = name;
    slot->count = count;
    slot->in = *words;
    *words = NULL;
}

void vy_case_param(vy_case *c, uint32_t value)
{
    c->params[c->param_count++] = value;
}

void vy_case_param_float(vy_case *c, float value)
{
    vy_case_param(c, vy_case_float(value));
}

bool vy_case_text(vy_case *c, const uint8_t *bytes, uint32_t size)
{
    uint32_t words = size / 4 + (size % 4 != 0 || size == 0);
    vy_slot *text = vy_case_add(c, "text", words, VY_SLOT_IN);
    if (!text) {
        return false;
    }
    for (uint32_t i = 0; i < 4 * (size_t)words; i++) {
        uint32_t byte = i < size ? bytes[i] : 0xa5;
        text->in[i / 4] |= byte << 8 * (i % 4);
    }
    c->grid_elements = words;
    return true;
}

float vy_random_float(uint64_t *seed)
{
    return (float)((int32_t)(vy_oracle_random(seed) >> 8) - (1 << 23)) / (float)(1 << 23);
}

uint32_t vy_case_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint32_t vy_random_below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)((uint64_t)vy_oracle_random(seed) * limit >> 32);
}

uint32_t vy_root_of(uint32_t n)
{
    uint32_t root = 0;
    while ((uint64_t)(root + 1) * (root + 1) <= n) {
        root++;
    }
    return root;
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
    vy_slot *level = vy_case_add(c, "level", graph->node_count, VY_SLOT_IN | VY_SLOT_EXPECTED);
    if (!level) {
        return false;
    }
    set_sources(graph, c->variant, seed, level->in);
    memcpy(level->expected, level->in, (size_t)graph->node_count * sizeof *level->in);
    if (!vy_oracle_bfs(graph, level->expected, &deepest)) {
        return false;
    }
    vy_case_take(c, "row_start", graph->node_count + 1, &graph->row_start);
    vy_case_take(c, "column", graph->column_count, &graph->column);
    c->passes_expected = deepest + 1;
    return true;
}

static bool make_components(vy_case *c, vy_graph *graph)
{
    vy_slot *label = vy_case_add(c, "label", graph->node_count, VY_SLOT_EXPECTED);
    if (!label) {
        return false;
    }
    vy_oracle_components(graph, label->expected);
    vy_case_take(c, "edge_a", graph->edge_count, &graph->edge_a);
    vy_case_take(c, "edge_b", graph->edge_count, &graph->edge_b);
    return true;
}

static bool make_graph_case(vy_case *c, uint64_t seed)
{
    vy_graph graph;
    if (!vy_graph_create(graph_kind(c->variant), c->size, seed, &graph)) {
        return false;
    }
    bool is_bfs = c->subject == VY_SUBJECT_BFS || c->subject == VY_SUBJECT_BFS_QUEUE;
    bool ok = is_bfs ? make_bfs(c, &graph, seed) : make_components(c, &graph);
    vy_graph_destroy(&graph);
    c->convergence = VYRE_CONVERGENCE_YES;
    return ok;
}

/* The same answer, in one pass. */
static bool make_union_find(vy_case *c, uint64_t seed)
{
    bool ok = make_graph_case(c, seed);
    c->convergence = VYRE_CONVERGENCE_NONE;
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
    vy_slot *into = vy_case_add(c, "into", count, VY_SLOT_EXPECTED);
    vy_slot *outof = vy_case_add(c, "outof", count, VY_SLOT_EXPECTED);
    bool ok = into && outof && vy_oracle_dataflow(&flow, into->expected, outof->expected);
    vy_case_take(c, "pred_start", c->size + 1, &flow.pred_start);
    vy_case_take(c, "pred", flow.pred_count, &flow.pred);
    vy_case_take(c, "gen", count, &flow.gen);
    vy_case_take(c, "kill", count, &flow.kill);
    vy_flow_destroy(&flow);
    vy_case_param(c, words);
    c->grid_elements = count;
    c->convergence = VYRE_CONVERGENCE_YES;
    return ok;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static vy_slot *add_random(vy_case *c, uint64_t seed)
{
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    for (uint32_t i = 0; x && i < c->size; i++) {
        x->in[i] = c->variant == VY_VARIANT_NONE ? 0x12345678 : vy_oracle_random(&seed);
    }
    return x;
}

static bool make_scan(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_random(c, seed);
    vy_slot *y = vy_case_add(c, "y", c->size, VY_SLOT_EXPECTED);
    if (!x || !y) {
        return false;
    }
    vy_oracle_scan(x->in, c->size, y->expected);
    return true;
}

static bool make_compact(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_random(c, seed);
    vy_slot *y = vy_case_add(c, "y", c->size, VY_SLOT_EXPECTED);
    vy_slot *kept = vy_case_add(c, "kept", 1, VY_SLOT_EXPECTED);
    uint32_t mask = c->variant == VY_VARIANT_ALL ? 0 : 3;
    uint32_t want = c->variant == VY_VARIANT_ALL ? 0 : 1; /* where all are equal, they are even */
    if (!x || !y || !kept) {
        return false;
    }
    kept->expected[0] = vy_oracle_compact(x->in, c->size, mask, want, y->expected);
    vy_case_param(c, mask);
    vy_case_param(c, want);
    return true;
}

static bool make_histogram(vy_case *c, uint64_t seed)
{
    vy_slot *x = add_random(c, seed);
    vy_slot *bins = vy_case_add(c, "bins", 256, VY_SLOT_EXPECTED);
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
    vy_slot *x = vy_case_add(c, "x", c->size, VY_SLOT_IN);
    vy_slot *total = vy_case_add(c, "total", 1, VY_SLOT_EXPECTED);
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
    vy_slot *cells = vy_case_add(c, "cells", count, VY_SLOT_IN | VY_SLOT_EXPECTED);
    if (!cells) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        cells->in[i] = vy_oracle_random(&seed) % 3 == 0;
        cells->expected[i] = cells->in[i];
    }
    vy_case_param(c, width);
    c->grid_elements = count;
    c->passes = c->variant == VY_VARIANT_BRIEF ? VY_CASE_BRIEF_GENERATIONS : VY_CASE_GENERATIONS;
    c->passes_expected = c->passes;
    return vy_oracle_life(cells->expected, width, height, c->passes);
}

/* ---- Subjects -------------------------------------------------------------------------------- */

#define BIT(variant) (1u << VY_VARIANT_##variant)
#define LIBRARY      "shaders"
#define TESTS        "tests/programs"

static const struct {
    const char *name, *folder;
    uint32_t variants;
    vy_case_maker make;
    uint32_t workgroup; /* 0: the program counts its workgroups, which are few */
} subjects[VY_SUBJECT_COUNT] = {
    [VY_SUBJECT_BFS] = {"bfs", LIBRARY, BIT(PATH) | BIT(GRID) | BIT(RANDOM) | BIT(DIRECTED),
                        make_graph_case, 256u},
    [VY_SUBJECT_COMPONENTS] = {"components", LIBRARY,
                               BIT(PATH) | BIT(SHUFFLED) | BIT(GRID) | BIT(RANDOM), make_graph_case,
                               256u},
    [VY_SUBJECT_DATAFLOW] = {"dataflow", LIBRARY, BIT(RANDOM) | BIT(WIDE), make_dataflow, 256u},
    [VY_SUBJECT_SCAN] = {"scan", LIBRARY, BIT(RANDOM), make_scan, 0},
    [VY_SUBJECT_COMPACT] = {"compact", LIBRARY, BIT(RANDOM) | BIT(NONE) | BIT(ALL), make_compact,
                            0},
    [VY_SUBJECT_HISTOGRAM] = {"histogram", LIBRARY, BIT(RANDOM) | BIT(NONE), make_histogram, 0},
    [VY_SUBJECT_REDUCE] = {"reduce", LIBRARY, BIT(RANDOM) | BIT(NONE), make_reduce, 256u},
    [VY_SUBJECT_LIFE] = {"life", LIBRARY, BIT(WIDE) | BIT(SQUARE) | BIT(BRIEF), make_life, 256u},
    [VY_SUBJECT_BITSET] = {"bitset", LIBRARY, BIT(RANDOM) | BIT(NONE), vy_make_bitset, 256u},
    [VY_SUBJECT_EXTREMES] = {"extremes", LIBRARY, BIT(RANDOM) | BIT(NONE) | BIT(ALL),
                             vy_make_extremes, 256u},
    [VY_SUBJECT_RADIX_SORT] = {"radix_sort", LIBRARY, BIT(RANDOM) | BIT(NONE) | BIT(ALL),
                               vy_make_radix_sort, 0},
    [VY_SUBJECT_DISTINCT] = {"distinct", LIBRARY, BIT(RANDOM) | BIT(NONE) | BIT(ALL),
                             vy_make_distinct, 256u},
    [VY_SUBJECT_SPMV] = {"spmv", LIBRARY, BIT(RANDOM) | BIT(WIDE) | BIT(NONE), vy_make_spmv, 256u},
    [VY_SUBJECT_MATMUL] = {"matmul", LIBRARY, BIT(RANDOM) | BIT(WIDE) | BIT(SQUARE), vy_make_matmul,
                           0},
    [VY_SUBJECT_SEMIRING_MATMUL] = {"semiring_matmul", LIBRARY, BIT(RANDOM) | BIT(SQUARE),
                                    vy_make_semiring_matmul, 256u},
    [VY_SUBJECT_LINEAR_INT4] = {"linear_int4", LIBRARY, BIT(RANDOM), vy_make_linear_int4, 256u},
    [VY_SUBJECT_SOFTMAX] = {"softmax", LIBRARY, BIT(RANDOM) | BIT(WIDE), vy_make_softmax, 256u},
    [VY_SUBJECT_LAYER_NORM] = {"layer_norm", LIBRARY, BIT(RANDOM) | BIT(WIDE), vy_make_layer_norm,
                               256u},
    [VY_SUBJECT_ATTENTION] = {"attention", LIBRARY, BIT(RANDOM), vy_make_attention, 256u},
    [VY_SUBJECT_FFT] = {"fft", LIBRARY, BIT(RANDOM) | BIT(ALL), vy_make_fft, 256u},
    [VY_SUBJECT_HEAT] = {"heat", LIBRARY, BIT(WIDE) | BIT(SQUARE), vy_make_heat, 256u},
    [VY_SUBJECT_UTF8] = {"utf8", LIBRARY, BIT(RANDOM) | BIT(NONE) | BIT(ALL), vy_make_utf8, 256u},
    [VY_SUBJECT_LINES] = {"lines", LIBRARY, BIT(RANDOM) | BIT(NONE), vy_make_lines, 256u},
    [VY_SUBJECT_BASE64] = {"base64", LIBRARY, BIT(RANDOM) | BIT(NONE), vy_make_base64, 256u},
    [VY_SUBJECT_AHO_CORASICK] = {"aho_corasick", LIBRARY, BIT(RANDOM) | BIT(ALL),
                                 vy_make_aho_corasick, 256u},
    [VY_SUBJECT_DFA_SCAN] = {"dfa_scan", LIBRARY, BIT(RANDOM), vy_make_dfa_scan, 256u},
    [VY_SUBJECT_FNV1A] = {"fnv1a", LIBRARY, BIT(RANDOM), vy_make_fnv1a, 256u},
    [VY_SUBJECT_CRC32] = {"crc32", LIBRARY, BIT(RANDOM) | BIT(ALL), vy_make_crc32, 256u},
    [VY_SUBJECT_ADLER32] = {"adler32", LIBRARY, BIT(RANDOM) | BIT(ALL), vy_make_adler32, 256u},
    [VY_SUBJECT_BLAKE3] = {"blake3", LIBRARY, BIT(RANDOM), vy_make_blake3, 256u},
    [VY_SUBJECT_AES_CTR] = {"aes_ctr", LIBRARY, BIT(RANDOM), vy_make_aes_ctr, 256u},
    [VY_SUBJECT_REACH] = {"reach", LIBRARY, BIT(PATH) | BIT(GRID) | BIT(RANDOM) | BIT(DIRECTED),
                          vy_make_reach, 256u},
    [VY_SUBJECT_BFS_QUEUE] = {"bfs_queue", LIBRARY,
                              BIT(PATH) | BIT(GRID) | BIT(RANDOM) | BIT(DIRECTED), make_graph_case,
                              256u},
    [VY_SUBJECT_SHORTEST_PATHS] = {"shortest_paths", LIBRARY,
                                   BIT(PATH) | BIT(GRID) | BIT(RANDOM) | BIT(DIRECTED),
                                   vy_make_shortest_paths, 256u},
    [VY_SUBJECT_CLOSURE] = {"closure", LIBRARY, BIT(PATH) | BIT(RANDOM), vy_make_closure, 256u},
    [VY_SUBJECT_RANK_SORT] = {"rank_sort", TESTS, BIT(RANDOM) | BIT(NONE), vy_make_rank_sort, 64u},
    [VY_SUBJECT_HISTOGRAM_GATHER] = {"histogram_gather", TESTS, BIT(RANDOM),
                                     vy_make_histogram_gather, 256u},
    [VY_SUBJECT_SCAN_GROUP] = {"scan_group", TESTS, BIT(RANDOM), vy_make_scan_group, 128u},
    [VY_SUBJECT_SEGMENTS] = {"segments", TESTS, BIT(RANDOM), vy_make_segments, 64u},
    [VY_SUBJECT_BYTECODE] = {"bytecode", TESTS, BIT(RANDOM), vy_make_bytecode, 64u},
    [VY_SUBJECT_MATVEC_INT8] = {"matvec_int8", TESTS, BIT(RANDOM) | BIT(NONE), vy_make_matvec_int8,
                                64u},
    [VY_SUBJECT_NTT] = {"ntt", TESTS, BIT(RANDOM), vy_make_ntt, 256u},
    [VY_SUBJECT_NFA] = {"nfa", TESTS, BIT(RANDOM), vy_make_nfa, 64u},
    [VY_SUBJECT_BRACKETS] = {"brackets", TESTS, BIT(RANDOM) | BIT(ALL), vy_make_brackets, 64u},
    [VY_SUBJECT_BFS_GROUP] = {"bfs_group", TESTS, BIT(RANDOM), vy_make_bfs_group, 128u},
    [VY_SUBJECT_UNION_FIND] = {"union_find", TESTS,
                               BIT(PATH) | BIT(SHUFFLED) | BIT(GRID) | BIT(RANDOM), make_union_find,
                               64u},
};

const char *vy_subject_name(vy_subject subject)
{
    return subjects[subject].name;
}

const char *vy_subject_folder(vy_subject subject)
{
    return subjects[subject].folder;
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

/* ---- Cases ----------------------------------------------------------------------------------- */

bool vy_case_init(vy_case *out_case, vy_subject subject, vy_variant variant, uint32_t size,
                  uint64_t seed)
{
    *out_case = (vy_case){.subject = subject,
                          .variant = variant,
                          .size = size,
                          .grid_elements = size,
                          .workgroup = subjects[subject].workgroup};
    return subjects[subject].make(out_case, seed);
}

void vy_case_finish(vy_case *c)
{
    for (uint32_t i = 0; i < c->slot_count; i++) {
        free(c->slots[i].in);
        free(c->slots[i].expected);
        free(c->slots[i].out);
        free(c->slots[i].slack);
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
