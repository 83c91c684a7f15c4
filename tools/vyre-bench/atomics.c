/* Group atomics: what joining atomics of one place within subgroups gives. Each kernel runs as it
 * is written and with its atomics joined, beside what somebody would write who does the joining by
 * hand: a tree in workgroup memory, or subgroup operations and workgroup memory, and then one
 * atomic for each workgroup. The device's time from first to last dispatch. */
#include "tools/vyre-bench/bench.h"

#include "codegen/kernel.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4, COUNT = 16 << 20, QUICK_COUNT = 16 << 10, CELLS = 256 };

typedef struct arrays arrays;

/* What the cells must be after one run: they begin as zeros, the first one as kernel_kind.start. */
typedef void (*wanted_fn)(const arrays *a, uint32_t *cells);

/* Statements with their declarations: "shared ..." lines first, or none. */
typedef struct kernel_kind {
    const char *name;
    const char *shared, *body; /* as it is written; run plain and joined */
    const char *tree_shared, *tree;
    const char *lanes_shared, *lanes;
    uint32_t start;
    bool has_slots; /* y is filled from the left with the elements that stay, in any order */
    wanted_fn wanted;
} kernel_kind;

/* What all ways of all kernels share. */
struct arrays {
    uint32_t count;
    uint32_t *x, *y;
    uint8_t *seen;
    vyre_buffer buffers[3]; /* x, y, cells */
};

typedef struct way {
    bench *bench;
    const kernel_kind *kind;
    arrays *arrays;
    bench_program program;
    vyre_binding bindings[3];
    vyre_dispatch_params dispatch;
} way;

/* ---- Kernels --------------------------------------------------------------------------------- */

/* x[i] = i * FACTOR + TERM */
#define FACTOR  2654435761u
#define TERM    12345u
#define INVERSE 244002641u

static void want_count(const arrays *a, uint32_t *cells)
{
    cells[0] = a->count;
}

static void want_sum(const arrays *a, uint32_t *cells)
{
    for (uint32_t i = 0; i < a->count; i++) {
        cells[0] += a->x[i];
    }
}

static void want_range(const arrays *a, uint32_t *cells)
{
    for (uint32_t i = 0; i < a->count; i++) {
        cells[0] = a->x[i] < cells[0] ? a->x[i] : cells[0];
        cells[1] = a->x[i] > cells[1] ? a->x[i] : cells[1];
    }
}

static void want_slots(const arrays *a, uint32_t *cells)
{
    for (uint32_t i = 0; i < a->count; i++) {
        cells[0] += a->x[i] >> 31;
    }
}

static void want_bins(const arrays *a, uint32_t *cells)
{
    for (uint32_t i = 0; i < a->count; i++) {
        cells[a->x[i] >> 24]++;
    }
}

/* A tree: halves are joined with halves. */
#define TREE(value, join)                                                                          \
    "part[lid.x] = " value "  barrier\n"                                                           \
    "for step in 0 .. 8 {\n    let near = 128 >> step\n"                                           \
    "    if lid.x < near { part[lid.x] = " join " }\n    barrier\n}\n"
#define NEAR "part[lid.x], part[lid.x + near]"

#define LANES_ADD(value)                                                                           \
    "let sum = subgroup_add(" value ")\nif lane == 0 { atomic_add(s[0], sum) }\nbarrier\n"         \
    "if lid.x == 0 { atomic_add(n[0], s[0]) }\n"
#define LANES_RANGE                                                                                \
    "if lid.x == 0 { s[0] = 0xffffffff }\nbarrier\nlet low = subgroup_min(x[gid.x])\n"             \
    "let high = subgroup_max(x[gid.x])\n"                                                          \
    "if lane == 0 { atomic_min(s[0], low)  atomic_max(s[1], high) }\nbarrier\n"                    \
    "if lid.x == 0 { atomic_min(n[0], s[0])  atomic_max(n[1], s[1]) }\n"
#define LANES_SLOTS                                                                                \
    "let stays = x[gid.x] >> 31 == 1\nlet before = subgroup_exclusive_add(u32(stays))\n"           \
    "let sum = subgroup_add(u32(stays))\nvar mine = 0\n"                                           \
    "if lane == 0 { let k = atomic_add(s[0], sum)  mine = k }\n"                                   \
    "let first = subgroup_broadcast_first(mine)\nbarrier\n"                                        \
    "if lid.x == 0 { let k = atomic_add(n[0], s[0])  s[1] = k }\nbarrier\n"                        \
    "if stays { y[s[1] + first + before & len(y) - 1] = x[gid.x] }\n"
#define SHARED_SLOTS                                                                               \
    "let stays = x[gid.x] >> 31 == 1\nvar mine = 0\n"                                              \
    "if stays { let k = atomic_add(s[0], 1)  mine = k }\nbarrier\n"                                \
    "if lid.x == 0 { let k = atomic_add(n[0], s[0])  s[1] = k }\nbarrier\n"                        \
    "if stays { y[s[1] + mine & len(y) - 1] = x[gid.x] }\n"
#define SHARED_BINS                                                                                \
    "atomic_add(s[x[gid.x] >> 24], 1)\nbarrier\n"                                                  \
    "if s[lid.x] != 0 { atomic_add(n[lid.x], s[lid.x]) }\n"

#define PART "shared part : u32[256]\n"
#define S2   "shared s : u32[2]\n"
#define S256 "shared s : u32[256]\n"

static const kernel_kind kinds[] = {
    {"storage: count", "", "atomic_add(n[0], 1)\n", PART,
     TREE("1", "part[lid.x] + part[lid.x + near]") "if lid.x == 0 { atomic_add(n[0], part[0]) }\n",
     S2, LANES_ADD("1u"), 0, false, want_count},
    {"storage: sum", "", "atomic_add(n[0], x[gid.x])\n", PART,
     TREE("x[gid.x]",
          "part[lid.x] + part[lid.x + near]") "if lid.x == 0 { atomic_add(n[0], part[0]) }\n",
     S2, LANES_ADD("x[gid.x]"), 0, false, want_sum},
    {"storage: least and greatest", "", "atomic_min(n[0], x[gid.x])  atomic_max(n[1], x[gid.x])\n",
     PART,
     TREE("x[gid.x]",
          "min(" NEAR ")") "if lid.x == 0 { atomic_min(n[0], part[0]) "
                           "}\nbarrier\n" TREE("x[gid.x]",
                                               "max(" NEAR
                                               ")") "if lid.x == 0 { atomic_max(n[1], part[0]) }\n",
     S2, LANES_RANGE, UINT32_MAX, false, want_range},
    {"storage: a slot for each that stays", "",
     "if x[gid.x] >> 31 == 1 { let k = atomic_add(n[0], 1)  y[k & len(y) - 1] = x[gid.x] }\n", S2,
     SHARED_SLOTS, S2, LANES_SLOTS, 0, true, want_slots},
    {"storage: histogram of 256", "", "atomic_add(n[x[gid.x] >> 24], 1)\n", S256, SHARED_BINS, NULL,
     NULL, 0, false, want_bins},
    {"workgroup memory: count", S2,
     "atomic_add(s[0], 1)\nbarrier\nif lid.x == 0 { atomic_add(n[0], s[0]) }\n", PART,
     TREE("1", "part[lid.x] + part[lid.x + near]") "if lid.x == 0 { atomic_add(n[0], part[0]) }\n",
     S2, LANES_ADD("1u"), 0, false, want_count},
    {"workgroup memory: sum", S2,
     "atomic_add(s[0], x[gid.x])\nbarrier\nif lid.x == 0 { atomic_add(n[0], s[0]) }\n", PART,
     TREE("x[gid.x]",
          "part[lid.x] + part[lid.x + near]") "if lid.x == 0 { atomic_add(n[0], part[0]) }\n",
     S2, LANES_ADD("x[gid.x]"), 0, false, want_sum},
    {"workgroup memory: least and greatest", S2,
     "if lid.x == 0 { s[0] = 0xffffffff }\nbarrier\n"
     "atomic_min(s[0], x[gid.x])  atomic_max(s[1], x[gid.x])\nbarrier\n"
     "if lid.x == 0 { atomic_min(n[0], s[0])  atomic_max(n[1], s[1]) }\n",
     NULL, NULL, S2, LANES_RANGE, UINT32_MAX, false, want_range},
    {"workgroup memory: a slot for each that stays", S2, SHARED_SLOTS, NULL, NULL, S2, LANES_SLOTS,
     0, true, want_slots},
    {"workgroup memory: histogram of 256", S256, SHARED_BINS, NULL, NULL, NULL, NULL, 0, false,
     want_bins},
};

/* ---- Samples --------------------------------------------------------------------------------- */

static vyre_result sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    way *w = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_report report;
        uint64_t start = bench_now_ns();
        result = vyre_dispatch(w->program.pipeline, &w->dispatch, &report, diag);
        uint64_t ns = bench_now_ns() - start;
        if (result == VYRE_OK && report.device_dispatches_ns != VYRE_NS_NONE) {
            ns = report.device_dispatches_ns;
        }
        out[i] = (double)ns / 1e3;
    }
    return result;
}

/* Each element that stays stands in y once, and nothing else does. */
static void check_slots(const way *w, uint32_t slots, bench_check *out)
{
    arrays *a = w->arrays;
    memset(a->seen, 0, a->count);
    for (uint32_t k = 0; k < slots && k < a->count; k++) {
        uint32_t i = (a->y[k] - TERM) * INVERSE;
        bool is_new = i < a->count && a->y[k] >> 31 == 1 && !a->seen[i];
        if (is_new) {
            a->seen[i] = 1;
        }
        out->wrong += !is_new;
        out->compared++;
    }
}

/* Samples went on from what was there: once more, from the start. */
static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    way *w = state;
    arrays *a = w->arrays;
    vyre_device *device = w->bench->device;
    uint32_t got[CELLS] = {w->kind->start}, wanted[CELLS] = {w->kind->start};
    vyre_result result = vyre_buffer_upload(device, a->buffers[2], 0, got, sizeof got, diag);
    if (result == VYRE_OK) {
        result = vyre_buffer_fill(device, a->buffers[1], 0, (uint64_t)a->count * 4, 0, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_dispatch(w->program.pipeline, &w->dispatch, NULL, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_buffer_download(device, a->buffers[2], 0, got, sizeof got, diag);
    }
    if (result == VYRE_OK && w->kind->has_slots) {
        result = vyre_buffer_download(device, a->buffers[1], 0, a->y, (uint64_t)a->count * 4, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    w->kind->wanted(a, wanted);
    for (uint32_t i = 0; i < CELLS; i++) {
        out->wrong += got[i] != wanted[i];
        out->compared++;
    }
    if (w->kind->has_slots) {
        check_slots(w, wanted[0], out);
    }
    return VYRE_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static vyre_result make_program(way *w, const char *shared, const char *body, uint32_t aggregate,
                                vyre_diag *diag)
{
    char text[2048];
    vyre_program *program = NULL;
    vyre_kernel_params params;
    vyre_device *device = w->bench->device;
    snprintf(text, sizeof text,
             "program atomics\nworkgroup 256\nin x : u32[]\ninout y : u32[]\n"
             "inout n : u32[256]\n%skernel {\n%s}\n",
             shared, body);
    vyre_device_kernel_params(device, &params);
    if (aggregate && params.reconvergence != VYRE_RECONVERGENCE_MAXIMAL) {
        return VYRE_ERROR_UNSUPPORTED_FEATURE; /* nothing would be joined */
    }
    params.aggregate = aggregate;
    vyre_result result = vyre_program_parse(text, strlen(text), "atomics", NULL, &program, diag);
    if (result == VYRE_OK) {
        result = vyre_kernel_compile(program, &params, &w->program.kernel, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(device, w->program.kernel, NULL, &w->program.pipeline, diag);
    }
    vyre_program_destroy(&program);
    return result;
}

static void bind(way *w)
{
    for (uint32_t b = 0; b < 3; b++) {
        w->bindings[b] = bench_resident_binding(w->arrays->buffers[b]);
    }
    vyre_dispatch_params_init(&w->dispatch);
    w->dispatch.coarsening = VYRE_COARSENING_NEVER; /* an atomic is joined as the case says */
    w->dispatch.strategy = VYRE_STRATEGY_REPLAY;    /* unless another one is asked for */
    w->dispatch.bindings = w->bindings;
    w->dispatch.binding_count = 3;
    w->dispatch.flags = VYRE_DISPATCH_TIMED;
    w->dispatch.elements[0] = w->arrays->count;
}

static vyre_result make_arrays(bench *b, arrays *a, vyre_diag *diag)
{
    uint64_t size = (uint64_t)a->count * sizeof(uint32_t);
    a->x = bench_indices(a->count);
    a->y = bench_indices(a->count);
    a->seen = malloc(a->count);
    if (!a->x || !a->y || !a->seen) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < a->count; i++) {
        a->x[i] = i * FACTOR + TERM;
    }
    vyre_result result = bench_buffer_create(b->device, "x", a->x, size, &a->buffers[0], diag);
    if (result == VYRE_OK) {
        result = bench_buffer_create(b->device, "y", a->y, size, &a->buffers[1], diag);
    }
    if (result == VYRE_OK) {
        result = bench_buffer_create(b->device, "n", a->y, CELLS * sizeof(uint32_t), &a->buffers[2],
                                     diag);
    }
    return result;
}

static void free_arrays(bench *b, arrays *a)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (a->buffers[i].bits) {
            bench_buffer_destroy(b->device, &a->buffers[i]);
        }
    }
    free(a->x);
    free(a->y);
    free(a->seen);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* Ways by subgroups are left out where the device has none for them. */
static vyre_result add_way(bench_case *c, way *w, const char *name, const char *shared,
                           const char *body, uint32_t aggregate, vyre_diag *diag)
{
    if (!body) {
        return VYRE_OK;
    }
    vyre_result result = make_program(w, shared, body, aggregate, diag);
    if (result == VYRE_ERROR_UNSUPPORTED_FEATURE) {
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    bind(w);
    (void)bench_series_vyre(c, name, w->bench->device, sample, check, w);
    return result;
}

static vyre_result measure_case(bench *b, bench_group *group, const kernel_kind *kind, arrays *a,
                                vyre_diag *diag)
{
    way ways[WAYS] = {{.bench = NULL}};
    bench_case *c = bench_case_add(b, group, kind->name, "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        ways[i] = (way){.bench = b, .kind = kind, .arrays = a};
    }
    bench_case_size(c, "invocations", a->count);
    vyre_result result = add_way(c, &ways[0], "as written", kind->shared, kind->body, 0, diag);
    if (result == VYRE_OK) {
        result = add_way(c, &ways[1], "joined", kind->shared, kind->body, VYRE_AGGREGATE_ALL, diag);
    }
    if (result == VYRE_OK) {
        result = add_way(c, &ways[2], "by hand, in workgroup memory", kind->tree_shared, kind->tree,
                         0, diag);
    }
    if (result == VYRE_OK) {
        result = add_way(c, &ways[3], "by hand, with subgroup operations", kind->lanes_shared,
                         kind->lanes, 0, diag);
    }
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        bench_program_destroy(&ways[i].program);
    }
    return result;
}

vyre_result bench_atomics(bench *b, bench_group *group, vyre_diag *diag)
{
    arrays a = {.count = b->quick ? QUICK_COUNT : COUNT};
    group->title = "atomics as written and joined within subgroups, on the device";
    vyre_result result = make_arrays(b, &a, diag);
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(kinds); i++) {
        result = measure_case(b, group, &kinds[i], &a, diag);
    }
    free_arrays(b, &a);
    return result;
}
