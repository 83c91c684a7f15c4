/* Group checks: what it costs that every access is checked. Each kernel runs as it is and made
 * without checks, by addresses and by descriptors; its indices are all in bounds. The device's time
 * from first to last dispatch. */
#include "tools/vyre-bench/bench.h"

#include "codegen/kernel.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4, COUNT = 32 << 20, QUICK_COUNT = 16 << 10, TABLE = 256 };

/* What a kernel's y[i] is: x are the inputs, p a permutation of the places. */
typedef uint32_t (*wanted_fn)(const uint32_t *x, const uint32_t *p, uint32_t i);

typedef struct kernel_kind {
    const char *name, *body;
    uint32_t invocation_size; /* elements for each invocation */
    uint32_t element_size;    /* bytes read and written for each element */
    wanted_fn wanted;
} kernel_kind;

static uint32_t wanted_stream(const uint32_t *x, const uint32_t *p, uint32_t i)
{
    (void)p;
    return x[i] * 3 + 1;
}

static uint32_t wanted_gather(const uint32_t *x, const uint32_t *p, uint32_t i)
{
    return x[p[i]];
}

static uint32_t wanted_scatter(const uint32_t *x, const uint32_t *p, uint32_t i)
{
    (void)p;
    return x[i] + 5; /* at p[i] */
}

static uint32_t wanted_shared(const uint32_t *x, const uint32_t *p, uint32_t i)
{
    (void)p;
    uint32_t sum = 0, first = i - i % TABLE;
    for (uint32_t k = 0; k < 64; k++) {
        sum += x[first + (i % TABLE + k * 7) % TABLE];
    }
    return sum;
}

static uint32_t wanted_array(const uint32_t *x, const uint32_t *p, uint32_t i)
{
    (void)p;
    uint32_t a[16], v = x[i];
    for (uint32_t k = 0; k < 16; k++) {
        a[k] = x[i] * k;
    }
    for (uint32_t k = 0; k < 64; k++) {
        v = v * 5 + a[(v >> 7) & 15];
    }
    return v;
}

static const kernel_kind kinds[] = {
    {"stream", "y[gid.x] = x[gid.x] * 3 + 1", 1, 8, wanted_stream},
    {"stream, 4 elements an invocation",
     "let i = gid.x * 4  y[i] = x[i] * 3 + 1  y[i + 1] = x[i + 1] * 3 + 1\n"
     "y[i + 2] = x[i + 2] * 3 + 1  y[i + 3] = x[i + 3] * 3 + 1",
     4, 8, wanted_stream},
    {"gather", "y[gid.x] = x[p[gid.x]]", 1, 12, wanted_gather},
    {"scatter", "y[p[gid.x]] = x[gid.x] + 5", 1, 12, wanted_scatter},
    {"workgroup memory, 64 loads",
     "s[lid.x] = x[gid.x]  barrier  var v = 0u\n"
     "for k in 0 .. 64 { v = v + s[(lid.x + k * 7) & 255] }\n  y[gid.x] = v",
     1, 8, wanted_shared},
    {"private array, 64 loads",
     "var a : u32[16]  for k in 0 .. 16 { a[k] = x[gid.x] * k }  var v = x[gid.x]\n"
     "for k in 0 .. 64 { v = v * 5 + a[v >> 7 & 15] }\n  y[gid.x] = v",
     1, 8, wanted_array},
};

/* What all ways of all kernels share. */
typedef struct arrays {
    uint32_t count;
    uint32_t *x, *p, *y;
    vyre_buffer buffers[3];
} arrays;

typedef struct way {
    bench *bench;
    const kernel_kind *kind;
    arrays *arrays;
    bench_program program;
    vyre_binding bindings[3];
    vyre_dispatch_params dispatch;
} way;

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

static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    way *w = state;
    arrays *a = w->arrays;
    uint64_t size = (uint64_t)a->count * sizeof(uint32_t);
    vyre_device *device = w->bench->device;
    /* Others have written the same to y: once more by this one. */
    vyre_result result = vyre_buffer_fill(device, a->buffers[2], 0, size, 0, diag);
    if (result == VYRE_OK) {
        result = vyre_dispatch(w->program.pipeline, &w->dispatch, NULL, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_buffer_download(device, a->buffers[2], 0, a->y, size, diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < a->count; i++) {
        uint32_t at = w->kind->wanted == wanted_scatter ? a->p[i] : i;
        out->wrong += a->y[at] != w->kind->wanted(a->x, a->p, i);
        out->compared++;
    }
    return result;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static vyre_result make_program(way *w, bool is_unchecked, vyre_binding_mode mode, vyre_diag *diag)
{
    char text[1024];
    vyre_program *program = NULL;
    vyre_kernel_params params;
    vyre_pipeline_params options;
    vyre_device *device = w->bench->device;
    snprintf(text, sizeof text,
             "program checks\nworkgroup 256\nin x : u32[]\nin p : u32[]\ninout y : u32[]\n%s"
             "kernel {\n%s\n}\n",
             strstr(w->kind->body, "s[lid") ? "shared s : u32[256]\n" : "", w->kind->body);
    vyre_device_kernel_params(device, &params);
    vyre_pipeline_params_init(&options);
    options.bindings = mode;
    vyre_result result = vyre_program_parse(text, strlen(text), "checks", NULL, &program, diag);
    if (result == VYRE_OK) {
        result = is_unchecked
                     ? vy_kernel_compile_unchecked(program, &params, &w->program.kernel, diag)
                     : vyre_kernel_compile(program, &params, &w->program.kernel, diag);
    }
    if (result == VYRE_OK) {
        result =
            vyre_pipeline_create(device, w->program.kernel, &options, &w->program.pipeline, diag);
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
    w->dispatch.coarsening = VYRE_COARSENING_NEVER; /* accesses are those that the case writes */
    w->dispatch.strategy = VYRE_STRATEGY_REPLAY;    /* unless another one is asked for */
    w->dispatch.bindings = w->bindings;
    w->dispatch.binding_count = 3;
    w->dispatch.flags = VYRE_DISPATCH_TIMED;
    w->dispatch.elements[0] = w->arrays->count / w->kind->invocation_size;
}

/* A permutation without neighbours: odd factors and shifts can be undone in any number of bits. */
static uint32_t permuted(uint32_t i, uint32_t mask)
{
    for (int round = 0; round < 3; round++) {
        i = i * 0x9e3779b1u & mask;
        i ^= i >> 9;
    }
    return i;
}

static vyre_result make_arrays(bench *b, arrays *a, vyre_diag *diag)
{
    static const char *const names[3] = {"x", "p", "y"};
    uint64_t size = (uint64_t)a->count * sizeof(uint32_t);
    a->x = bench_indices(a->count);
    a->p = bench_indices(a->count);
    a->y = bench_indices(a->count);
    if (!a->x || !a->p || !a->y) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < a->count; i++) {
        a->x[i] = i * 2654435761u + 12345;
        a->p[i] = permuted(i, a->count - 1);
    }
    const uint32_t *const contents[3] = {a->x, a->p, a->y};
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; i < 3 && result == VYRE_OK; i++) {
        result = bench_buffer_create(b->device, names[i], contents[i], size, &a->buffers[i], diag);
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
    free(a->p);
    free(a->y);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void note_costs(bench_case *c)
{
    for (uint32_t i = 0; i < c->series_count; i += 2) {
        double unchecked = c->series[i + 1].median;
        if (unchecked > 0) {
            snprintf(c->series[i].note, sizeof c->series[i].note, "checks cost %+.1f %%",
                     100 * (c->series[i].median / unchecked - 1));
        }
    }
}

static vyre_result measure_case(bench *b, bench_group *group, const kernel_kind *kind, arrays *a,
                                vyre_diag *diag)
{
    static const char *const names[WAYS] = {"checked, by addresses", "unchecked, by addresses",
                                            "checked, by descriptors", "unchecked, by descriptors"};
    way ways[WAYS] = {{.bench = NULL}};
    bench_case *c = bench_case_add(b, group, kind->name, "us");
    vyre_result result = c ? VYRE_OK : vy_diag_no_memory(diag);
    if (c) {
        bench_case_size(c, "elements", a->count);
        c->data_size = (uint64_t)a->count * kind->element_size;
    }
    /* Descriptors alone where the device has no addresses. */
    uint32_t first = b->info.has_addresses ? 0 : 2;
    for (uint32_t i = first; result == VYRE_OK && i < WAYS; i++) {
        ways[i] = (way){.bench = b, .kind = kind, .arrays = a};
        result = make_program(&ways[i], i % 2 == 1,
                              i < 2 ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR, diag);
        bind(&ways[i]);
        (void)bench_series_vyre(c, names[i], b->device, sample, check, &ways[i]);
    }
    if (result == VYRE_OK) {
        c->base = 1;
        result = bench_measure(b, c, diag);
        note_costs(c);
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        bench_program_destroy(&ways[i].program);
    }
    return result;
}

vyre_result bench_checks(bench *b, bench_group *group, vyre_diag *diag)
{
    arrays a = {.count = b->quick ? QUICK_COUNT : COUNT};
    group->title = "what it costs that every access is checked, on the device";
    vyre_result result = make_arrays(b, &a, diag);
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(kinds); i++) {
        result = measure_case(b, group, &kinds[i], &a, diag);
    }
    free_arrays(b, &a);
    return result;
}
