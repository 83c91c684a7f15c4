/* Group resident: one fixpoint of several segments, its state on the device or not. Each element
 * learns how far the next marker is, one place a segment, and in which pass it last learned; so
 * with markers `spacing` apart all is known after spacing / segments passes, the state does not
 * change from there on, and every way must end in the same state. */
#include "tools/vyre-bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { FAR = 0x40000000, MAX_WAYS = 8, TEXT_SIZE = 8192 };

typedef enum way { WAY_SPLIT, WAY_RECORDED, WAY_REPLAYED, WAY_UNTIL, WAY_HOST, WAY_COUNT } way;

static const char *const way_names[WAY_COUNT] = {
    "host-split, a dispatch a segment, contents up and down",
    "recorded anew for each run",
    "replayed",
    "until nothing changes",
    "until nothing changes, from host memory and back",
};

/* What all ways of a case share. */
typedef struct problem {
    uint32_t segments, passes, count, spacing;
    uint32_t *start; /* `count` elements; the passes of learning start as zeros */
    uint32_t *zeros;
} problem;

typedef struct resident {
    bench *bench;
    const problem *problem;
    way way;
    vyre_device *device; /* the bench's, or one on the peer's */
    bool owns_device;
    bench_program program;
    vyre_buffer a, when;
    vyre_binding bindings[4];
    vyre_dispatch_params dispatch;
    uint32_t pass; /* the parameter of WAY_SPLIT */
    uint32_t *host_a, *host_b, *host_when;
    uint32_t changed;
    uint64_t runs, wrong_runs; /* by passes */
} resident;

/* ---- Programs -------------------------------------------------------------------------------- */

/* One segment; the even ones go from a to b, the odd ones back. */
static void print_segment(char *text, uint32_t k, const char *from, const char *to, bool until)
{
    size_t at = strlen(text);
    snprintf(text + at, TEXT_SIZE - at,
             "    let v%u = min(%s[gid.x], %s[(gid.x + 1) %% len(%s)] + 1)\n"
             "    if v%u != %s[gid.x] {\n        when[gid.x] = p\n        %s\n    }\n"
             "    %s[gid.x] = v%u\n",
             k, from, from, from, k, from, until ? "atomic_store(changed[0], 1)" : "", to, k);
}

static void print_program(const problem *p, way which, char *text)
{
    bool until = which == WAY_UNTIL || which == WAY_HOST;
    snprintf(text, TEXT_SIZE,
             "program resident\nworkgroup 256\ngrid over a\nfixpoint 1%s\n"
             "inout a : u32[]\ninout when : u32[]\nscratch b : u32[len(a)]\n%s"
             "kernel {\n    let p = pass\n",
             until ? " until changed" : "", until ? "scratch changed : u32[1]\n" : "");
    for (uint32_t k = 0; k < p->segments; k++) {
        size_t at = strlen(text);
        snprintf(text + at, TEXT_SIZE - at, "%s", k ? "    grid_sync\n" : "");
        print_segment(text, k, k % 2 ? "b" : "a", k % 2 ? "a" : "b", until);
    }
    size_t at = strlen(text);
    snprintf(text + at, TEXT_SIZE - at, "}\n");
}

static void print_split_program(char *text)
{
    snprintf(text, TEXT_SIZE,
             "program one_segment\nworkgroup 256\ngrid over a\nparam p : u32\nin a : u32[]\n"
             "inout when : u32[]\nout b : u32[len(a)]\nout changed : u32[1]\nkernel {\n");
    print_segment(text, 0, "a", "b", true);
    size_t at = strlen(text);
    snprintf(text + at, TEXT_SIZE - at, "}\n");
}

/* ---- What must come out ---------------------------------------------------------------------- */

static uint32_t wanted_passes(const resident *r)
{
    const problem *p = r->problem;
    bool until = r->way == WAY_UNTIL || r->way == WAY_HOST;
    /* One more, in which nothing changes. */
    return until ? (p->spacing - 1 + p->segments - 1) / p->segments + 1 : p->passes;
}

static uint64_t count_wrong(const problem *p, const uint32_t *a, const uint32_t *when)
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t distance = p->spacing - 1 - i % p->spacing;
        uint32_t pass = distance ? (distance - 1) / p->segments : 0;
        wrong += a[i] != distance ? 1u : 0u;
        wrong += when[i] != pass ? 1u : 0u;
    }
    return wrong;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static vyre_result reset(resident *r, vyre_diag *diag)
{
    const problem *p = r->problem;
    uint64_t size = (uint64_t)p->count * sizeof(uint32_t);
    if (r->way == WAY_SPLIT || r->way == WAY_HOST) {
        memcpy(r->host_a, p->start, (size_t)size);
        memset(r->host_when, 0, (size_t)size);
        return VYRE_OK;
    }
    vyre_result result = vyre_buffer_upload(r->device, r->a, 0, p->start, size, diag);
    return result == VYRE_OK ? vyre_buffer_upload(r->device, r->when, 0, p->zeros, size, diag)
                             : result;
}

static vyre_result run_split(resident *r, uint32_t *out_passes, vyre_diag *diag)
{
    const problem *p = r->problem;
    vyre_result result = VYRE_OK;
    for (r->pass = 0; result == VYRE_OK && r->pass < p->passes; r->pass++) {
        for (uint32_t k = 0; result == VYRE_OK && k < p->segments; k++) {
            r->bindings[0].in = k % 2 ? r->host_b : r->host_a;
            r->bindings[2].out = k % 2 ? r->host_a : r->host_b;
            result = vyre_dispatch(r->program.pipeline, &r->dispatch, NULL, diag);
        }
    }
    *out_passes = r->pass;
    return result;
}

static vyre_result run(resident *r, uint32_t *out_passes, vyre_diag *diag)
{
    if (r->way == WAY_SPLIT) {
        return run_split(r, out_passes, diag);
    }
    if (r->way == WAY_RECORDED) {
        return peer_record_and_run(r->bench->peer, r->program.pipeline, &r->dispatch, out_passes,
                                   diag);
    }
    vyre_report report;
    vyre_result result = vyre_dispatch(r->program.pipeline, &r->dispatch, &report, diag);
    *out_passes = result == VYRE_OK ? report.passes : 0;
    return result;
}

static vyre_result sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    resident *r = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint32_t passes = 0;
        result = reset(r, diag);
        uint64_t start = bench_now_ns();
        if (result == VYRE_OK) {
            result = run(r, &passes, diag);
        }
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        r->runs++;
        r->wrong_runs += passes != wanted_passes(r);
    }
    return result;
}

/* Every run's passes, and the state that the last one left. */
static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    resident *r = state;
    const problem *p = r->problem;
    uint64_t size = (uint64_t)p->count * sizeof(uint32_t);
    vyre_result result = VYRE_OK;
    if (r->way != WAY_SPLIT && r->way != WAY_HOST) {
        result = vyre_buffer_download(r->device, r->a, 0, r->host_a, size, diag);
    }
    if (result == VYRE_OK && r->way != WAY_SPLIT && r->way != WAY_HOST) {
        result = vyre_buffer_download(r->device, r->when, 0, r->host_when, size, diag);
    }
    if (result == VYRE_OK) {
        *out = (bench_check){r->runs + 2 * (uint64_t)p->count,
                             r->wrong_runs + count_wrong(p, r->host_a, r->host_when)};
    }
    return result;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void finish(resident *r)
{
    bench_program_destroy(&r->program);
    if (r->device) {
        bench_buffer_destroy(r->device, &r->a);
        bench_buffer_destroy(r->device, &r->when);
    }
    if (r->owns_device) {
        vyre_device_destroy(&r->device);
    }
    free(r->host_a);
    free(r->host_b);
    free(r->host_when);
}

static void bind(resident *r)
{
    vyre_binding *b = r->bindings;
    vyre_binding host = {.kind = VYRE_BINDING_HOST, .count = r->problem->count};
    vyre_dispatch_params_init(&r->dispatch);
    r->dispatch.strategy = VYRE_STRATEGY_REPLAY; /* unless another one is asked for */
    r->dispatch.bindings = b;
    r->dispatch.passes = r->problem->passes;
    r->dispatch.binding_count = r->way == WAY_RECORDED || r->way == WAY_REPLAYED ? 3 : 4;
    b[0] = b[1] = b[2] = b[3] = host;
    if (r->way == WAY_SPLIT) {
        b[1].in = b[1].out = r->host_when;
        b[3].out = &r->changed;
        b[3].count = 1;
        r->dispatch.passes = 0;
        r->dispatch.params = &r->pass;
        r->dispatch.param_count = 1;
        return;
    }
    if (r->way == WAY_HOST) {
        b[0].in = b[0].out = r->host_a;
        b[1].in = b[1].out = r->host_when;
    } else {
        b[0] = bench_resident_binding(r->a);
        b[1] = bench_resident_binding(r->when);
    }
    b[2] = b[3] = (vyre_binding){.kind = VYRE_BINDING_NONE, .count = VYRE_COUNT_DECLARED};
}

static vyre_result prepare(resident *r, vyre_diag *diag)
{
    const problem *p = r->problem;
    uint64_t size = (uint64_t)p->count * sizeof(uint32_t);
    char text[TEXT_SIZE];
    r->host_a = bench_indices(p->count);
    r->host_b = bench_indices(p->count);
    r->host_when = bench_indices(p->count);
    if (!r->host_a || !r->host_b || !r->host_when) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = VYRE_OK;
    r->device = r->bench->device;
    if (r->way == WAY_RECORDED) {
        r->device = NULL;
        result = peer_adopt(r->bench->peer, &r->device, diag);
        r->owns_device = true;
    }
    if (r->way == WAY_SPLIT) {
        print_split_program(text);
    } else {
        print_program(p, r->way, text);
    }
    if (result == VYRE_OK) {
        result = bench_program_create(r->device, text, &r->program, diag);
    }
    if (result == VYRE_OK) {
        result = bench_buffer_create(r->device, "a", NULL, size, &r->a, diag);
    }
    if (result == VYRE_OK) {
        result = bench_buffer_create(r->device, "when", NULL, size, &r->when, diag);
    }
    bind(r);
    return result;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static vyre_result make_problem(problem *p, vyre_diag *diag)
{
    p->spacing = p->segments * p->passes / 4;
    p->start = malloc((size_t)p->count * sizeof *p->start);
    p->zeros = calloc(p->count, sizeof *p->zeros);
    if (!p->start || !p->zeros) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        p->start[i] = i % p->spacing == p->spacing - 1 ? 0 : FAR;
    }
    return VYRE_OK;
}

/* Where both arrays are larger than any cache, each segment reads one and writes the other. */
static vyre_result find_limit(bench *b, const problem *p, bench_case *c, vyre_diag *diag)
{
    peer_copies *copies = NULL;
    uint64_t size = (uint64_t)p->count * sizeof(uint32_t), best = UINT64_MAX;
    if (!b->peer || size < 64u << 20) {
        return VYRE_OK;
    }
    vyre_result result = peer_copies_create(b->peer, PEER_DEVICE, 1, size, &copies, diag);
    for (int i = 0; result == VYRE_OK && i < 10; i++) {
        result = peer_copies_run(copies, NULL, diag);
        uint64_t ns = result == VYRE_OK ? peer_copies_device_ns(copies) : UINT64_MAX;
        best = ns < best ? ns : best;
    }
    peer_copies_destroy(&copies);
    if (best != UINT64_MAX) {
        c->limit.value = (double)best / 1e3 * p->segments * p->passes;
        snprintf(c->limit.text, sizeof c->limit.text,
                 "as many copies on the device, %.2f TB/s read and written",
                 2e-3 * (double)size / (double)best);
    }
    return result;
}

static vyre_result measure_case(bench *b, bench_group *group, problem *p, vyre_diag *diag)
{
    resident ways[WAY_COUNT];
    bench_case *c = bench_case_add(b, group, "fixpoint", "us");
    vyre_result result = c ? make_problem(p, diag) : vy_diag_no_memory(diag);
    memset(ways, 0, sizeof ways);
    if (c) {
        bench_case_size(c, "segments", p->segments);
        bench_case_size(c, "passes", p->passes);
        bench_case_size(c, "bytes", (uint64_t)p->count * sizeof(uint32_t));
    }
    for (uint32_t i = 0; result == VYRE_OK && i < WAY_COUNT; i++) {
        ways[i] = (resident){.bench = b, .problem = p, .way = (way)i};
        if (i == WAY_RECORDED && !b->peer) {
            continue;
        }
        result = prepare(&ways[i], diag);
        (void)bench_series_vyre(c, way_names[i], NULL, sample, check, &ways[i]);
    }
    if (result == VYRE_OK) {
        result = find_limit(b, p, c, diag);
    }
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    for (uint32_t i = 0; i < WAY_COUNT; i++) {
        finish(&ways[i]);
    }
    free(p->start);
    free(p->zeros);
    return result;
}

vyre_result bench_resident(bench *b, bench_group *group, vyre_diag *diag)
{
    enum { KI = 1u << 10, MI = 1u << 20 };
    static const problem all[] = {
        {.segments = 2, .passes = 16, .count = KI},
        {.segments = 2, .passes = 128, .count = KI},
        {.segments = 8, .passes = 16, .count = KI},
        {.segments = 8, .passes = 128, .count = KI},
        {.segments = 2, .passes = 16, .count = 64 * KI},
        {.segments = 2, .passes = 128, .count = 64 * KI},
        {.segments = 8, .passes = 16, .count = 64 * KI},
        {.segments = 8, .passes = 128, .count = 64 * KI},
        {.segments = 2, .passes = 16, .count = MI},
        {.segments = 2, .passes = 128, .count = MI},
        {.segments = 8, .passes = 16, .count = MI},
        {.segments = 8, .passes = 128, .count = MI},
        {.segments = 2, .passes = 16, .count = 16 * MI},
    };
    static const problem quick[] = {
        {.segments = 2, .passes = 8, .count = KI},
        {.segments = 4, .passes = 16, .count = KI},
    };
    size_t count = b->quick ? VY_COUNT_OF(quick) : VY_COUNT_OF(all);
    vyre_result result = VYRE_OK;
    group->title = "one fixpoint of several segments, from the call to its end";
    for (size_t i = 0; result == VYRE_OK && i < count; i++) {
        problem p = b->quick ? quick[i] : all[i];
        result = measure_case(b, group, &p, diag);
    }
    return result;
}
