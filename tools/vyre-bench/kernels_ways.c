/* The ways of group kernels: programs of the library, the peer's shaders, plain C; CUDA's are asked
 * by name. */
#include "tools/vyre-bench/kernels.h"

#include "tools/common/system.h"

#include "bench_programs.h" /* bench_NAME_vyre: shaders/NAME.vyre */

#include <stdlib.h>
#include <string.h>

enum {
    MAX_SORTED_ON_CPU = 1 << 24,
    MAX_LIBRARY = 3,
    MAX_VULKAN = 4,
    MAX_BINDS = 8,
    NONE = -1,
    OUT = KERNEL_INS
};

/* ---- Programs -------------------------------------------------------------------------------- */

static const char copy_text[] = "program copy\nworkgroup 256\ngrid over y\n"
                                "in x : u32[]\ninout y : u32[]\n"
                                "kernel { y[gid.x] = x[gid.x] }\n";
static const char copy_wide_text[] = "program copy_wide\nworkgroup 256\ngrid over y\n"
                                     "in x : u32x4[]\ninout y : u32x4[]\n"
                                     "kernel { y[gid.x] = x[gid.x] }\n";
static const char map_text[] = "program map\nworkgroup 256\ngrid over y\n"
                               "in x : u32[]\ninout y : u32[]\n"
                               "kernel { y[gid.x] = x[gid.x] * 3 + 1 }\n";
static const char map_wide_text[] = "program map_wide\nworkgroup 256\ngrid over y\n"
                                    "in x : u32x4[]\ninout y : u32x4[]\n"
                                    "kernel { y[gid.x] = x[gid.x] * u32x4(3) + u32x4(1) }\n";
static const char sum_atomic_text[] = "program sum_atomic\nworkgroup 256\ngrid over x\n"
                                      "in x : u32[]\nout total : u32[1]\n"
                                      "kernel { atomic_add(total[0], x[gid.x]) }\n";
static const char odd_atomic_text[] =
    "program odd_atomic\nworkgroup 256\ngrid over x\n"
    "in x : u32[]\nout total : u32[1]\n"
    "kernel { if (x[gid.x] & 1) == 1 { atomic_add(total[0], 1) } }\n";
static const char append_text[] =
    "program append\nworkgroup 256\ngrid over x\n"
    "in x : u32[]\ninout y : u32[]\nout count : u32[1]\n"
    "kernel {\n    let v = x[gid.x]\n"
    "    if (v & 1) == 1 {\n        let k = atomic_add(count[0], 1)\n        y[k] = v\n    }\n}\n";
static const char products_text[] =
    "program products\nworkgroup 256\ngrid over y\n"
    "in column : u32[]\nin value : f32[]\nin x : f32[]\ninout y : f32[]\n"
    "kernel { y[gid.x] = value[gid.x] * x[column[gid.x]] }\n";
#define SUM_TEXT(name, value)                                                                      \
    "program " name "\nworkgroup 256\nin x : u32[]\nout total : u32[1]\nshared part : u32[256]\n"  \
    "kernel {\n    var sum = 0\n"                                                                  \
    "    for i in gid.x .. len(x) step group_size.x * num_groups.x { sum += " value " }\n"         \
    "    part[lid.x] = sum\n    barrier\n"                                                         \
    "    for k in 0 .. 8 {\n"                                                                      \
    "        if lid.x < 128 >> k { part[lid.x] += part[lid.x + (128 >> k)] }\n"                    \
    "        barrier\n    }\n"                                                                     \
    "    if lid.x == 0 { atomic_add(total[0], part[0]) }\n}\n"
static const char sum_text[] = SUM_TEXT("sum", "x[i]");
static const char odd_text[] = SUM_TEXT("odd", "x[i] & 1");

/* The buffers of its bindings: inputs from 0, outputs from OUT, NONE for scratch. */
typedef struct program_kind {
    bench_kernel_id id;
    const char *way, *text;
    uint32_t bind_count;
    int8_t binds[MAX_BINDS];
    uint32_t groups; /* 0: the program has its grid */
    bool is_square;  /* its params are count, count, count */
    uint32_t param_count, params[2];
    bool has_zeros; /* outputs or scratch that are made zero before each run */
    vyre_coarsening coarsening;
    bool is_alone; /* nothing is joined within subgroups */
} program_kind;

#define PROGRAM(kernel, name, source) .id = BENCH_KERNEL_##kernel, .way = name, .text = source
static const program_kind program_kinds[] = {
    {PROGRAM(COPY, "a word an invocation", copy_text), .bind_count = 2, .binds = {0, OUT}},
    {PROGRAM(COPY, "a word an invocation, one by one", copy_text), .bind_count = 2,
     .binds = {0, OUT}, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(COPY, "16 bytes an invocation", copy_wide_text), .bind_count = 2, .binds = {0, OUT}},
    {PROGRAM(MAP, "a word an invocation", map_text), .bind_count = 2, .binds = {0, OUT}},
    {PROGRAM(MAP, "a word an invocation, one by one", map_text), .bind_count = 2, .binds = {0, OUT},
     .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(MAP, "16 bytes an invocation", map_wide_text), .bind_count = 2, .binds = {0, OUT}},
    {PROGRAM(SUM, "workgroups sum", sum_text), .bind_count = 2, .binds = {0, OUT},
     .groups = BENCH_SUM_GROUPS, .has_zeros = true},
    {PROGRAM(SUM, "an atomic each", sum_atomic_text), .bind_count = 2, .binds = {0, OUT},
     .has_zeros = true},
    {PROGRAM(SUM, "an atomic each, one by one", sum_atomic_text), .bind_count = 2,
     .binds = {0, OUT}, .has_zeros = true, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(ODD, "workgroups sum", odd_text), .bind_count = 2, .binds = {0, OUT},
     .groups = BENCH_SUM_GROUPS, .has_zeros = true},
    {PROGRAM(ODD, "an atomic each", odd_atomic_text), .bind_count = 2, .binds = {0, OUT},
     .has_zeros = true},
    {PROGRAM(ODD, "an atomic each, one by one", odd_atomic_text), .bind_count = 2,
     .binds = {0, OUT}, .has_zeros = true, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(HISTOGRAM, "histogram.vyre", bench_histogram_vyre), .bind_count = 2, .binds = {0, OUT},
     .has_zeros = true},
    {PROGRAM(SCAN, "scan.vyre", bench_scan_vyre), .bind_count = 3, .binds = {0, OUT, NONE},
     .has_zeros = true},
    {PROGRAM(SCAN, "scan.vyre, one by one", bench_scan_vyre), .bind_count = 3,
     .binds = {0, OUT, NONE}, .has_zeros = true, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(COMPACT, "compact.vyre", bench_compact_vyre), .bind_count = 4,
     .binds = {0, OUT, OUT + 1, NONE}, .param_count = 2, .params = {1, 1}, .has_zeros = true},
    {PROGRAM(COMPACT, "compact.vyre, one by one", bench_compact_vyre), .bind_count = 4,
     .binds = {0, OUT, OUT + 1, NONE}, .param_count = 2, .params = {1, 1}, .has_zeros = true,
     .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(APPEND, "an atomic each", append_text), .bind_count = 3, .binds = {0, OUT, OUT + 1},
     .has_zeros = true},
    {PROGRAM(APPEND, "an atomic each, one by one", append_text), .bind_count = 3,
     .binds = {0, OUT, OUT + 1}, .has_zeros = true, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(APPEND, "an atomic each, subgroups not joined", append_text), .bind_count = 3,
     .binds = {0, OUT, OUT + 1}, .has_zeros = true, .is_alone = true},
    {PROGRAM(SORT, "radix_sort.vyre", bench_radix_sort_vyre), .bind_count = 6,
     .binds = {OUT, OUT + 1, NONE, NONE, NONE, NONE}, .param_count = 1, .has_zeros = true},
    {PROGRAM(SPMV, "spmv.vyre", bench_spmv_vyre), .bind_count = 5, .binds = {0, 1, 2, 3, OUT},
     .has_zeros = true},
    {PROGRAM(SPMV_BAND, "spmv.vyre", bench_spmv_vyre), .bind_count = 5, .binds = {0, 1, 2, 3, OUT},
     .has_zeros = true},
    {PROGRAM(PRODUCTS, "a word an invocation", products_text), .bind_count = 4,
     .binds = {0, 1, 2, OUT}},
    {PROGRAM(PRODUCTS, "a word an invocation, one by one", products_text), .bind_count = 4,
     .binds = {0, 1, 2, OUT}, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(PRODUCTS_BAND, "a word an invocation", products_text), .bind_count = 4,
     .binds = {0, 1, 2, OUT}},
    {PROGRAM(PRODUCTS_BAND, "a word an invocation, one by one", products_text), .bind_count = 4,
     .binds = {0, 1, 2, OUT}, .coarsening = VYRE_COARSENING_NEVER},
    {PROGRAM(MATMUL, "matmul.vyre", bench_matmul_vyre), .bind_count = 4, .binds = {0, 1, 2, OUT},
     .is_square = true, .has_zeros = true},
};

/* ---- Ways ------------------------------------------------------------------------------------ */

typedef struct library_way {
    kernel_ways *all;
    const program_kind *kind;
    bench_program program;
    vyre_binding bindings[MAX_BINDS];
    vyre_dispatch_params dispatch;
    uint32_t params[3];
    double *whole; /* us: the times with all commands, of all samples */
    uint32_t whole_count, whole_capacity, series;
} library_way;

typedef struct vulkan_way {
    kernel_ways *all;
    kernel_recipe recipe;
    peer_program *program;
} vulkan_way;

struct kernel_ways {
    bench *bench;
    kernel_work *work;
    vyre_buffer in[KERNEL_INS], out[KERNEL_OUTS];
    library_way library[MAX_LIBRARY];
    vulkan_way vulkan[MAX_VULKAN];
    peer_copies *copies; /* by vkCmdCopyBuffer */
    kernel_opencl *opencl;
    uint32_t library_count, vulkan_count;
};

/* ---- The library ----------------------------------------------------------------------------- */

/* What is sorted in place is put back before each run. */
static vyre_result put_back(kernel_ways *all, vyre_diag *diag)
{
    const kernel_work *work = all->work;
    vyre_copy copies[KERNEL_OUTS];
    vyre_transfer_params transfer;
    if (work->id != BENCH_KERNEL_SORT) {
        return VYRE_OK;
    }
    for (uint32_t i = 0; i < KERNEL_OUTS; i++) {
        copies[i] = (vyre_copy){.source = all->in[i],
                                .target = all->out[i],
                                .size = (uint64_t)work->count * sizeof(uint32_t)};
    }
    vyre_transfer_params_init(&transfer);
    transfer.copies = copies;
    transfer.copy_count = KERNEL_OUTS;
    return vyre_transfer(all->bench->device, &transfer, diag);
}

static bool keep_whole(library_way *way, double us)
{
    if (way->whole_count == way->whole_capacity) {
        uint32_t capacity = way->whole_capacity ? way->whole_capacity * 2 : 64;
        double *grown = realloc(way->whole, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        way->whole = grown;
        way->whole_capacity = capacity;
    }
    way->whole[way->whole_count++] = us;
    return true;
}

static vyre_result sample_library(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    library_way *way = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_report report;
        result = put_back(way->all, diag);
        uint64_t start = bench_work_ns(way->all->bench);
        if (result == VYRE_OK) {
            result = vyre_dispatch(way->program.pipeline, &way->dispatch, &report, diag);
        }
        uint64_t ns = bench_work_ns(way->all->bench) - start;
        if (!way->all->bench->processor_time && result == VYRE_OK &&
            report.device_dispatches_ns != VYRE_NS_NONE) {
            ns = report.device_dispatches_ns;
            result =
                keep_whole(way, (double)report.device_ns / 1e3) ? result : vy_diag_no_memory(diag);
        }
        out[i] = (double)ns / 1e3;
    }
    return result;
}

static vyre_result clear_outputs(kernel_ways *all, vyre_diag *diag)
{
    const kernel_work *work = all->work;
    bool has_rest = work->id == BENCH_KERNEL_COMPACT || work->id == BENCH_KERNEL_APPEND;
    uint32_t word = has_rest ? 0 : UINT32_MAX;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < work->out_count; i++) {
        result = vyre_buffer_fill(all->bench->device, all->out[i], 0,
                                  (uint64_t)work->out_words[i] * sizeof(uint32_t), word, diag);
    }
    return result;
}

/* Others have written the same: once more by this way, over something else. */
static vyre_result check_library(void *state, bench_check *out, vyre_diag *diag)
{
    library_way *way = state;
    kernel_ways *all = way->all;
    const kernel_work *work = all->work;
    double ignored;
    uint32_t kept = way->whole_count;
    vyre_result result = clear_outputs(all, diag);
    if (result == VYRE_OK) {
        result = sample_library(way, &ignored, 1, diag);
        way->whole_count = kept;
    }
    for (uint32_t i = 0; result == VYRE_OK && i < work->out_count; i++) {
        result = vyre_buffer_download(all->bench->device, all->out[i], 0, work->got[i],
                                      (uint64_t)work->out_words[i] * sizeof(uint32_t), diag);
    }
    if (result == VYRE_OK) {
        kernel_work_compare(work, out);
    }
    return result;
}

static void bind(library_way *way)
{
    kernel_ways *all = way->all;
    const program_kind *kind = way->kind;
    vyre_dispatch_params_init(&way->dispatch);
    way->dispatch.strategy = VYRE_STRATEGY_REPLAY; /* unless another one is asked for */
    for (uint32_t i = 0; i < kind->bind_count; i++) {
        int at = kind->binds[i];
        way->bindings[i] =
            at == NONE ? (vyre_binding){.kind = VYRE_BINDING_NONE, .count = VYRE_COUNT_DECLARED}
                       : bench_resident_binding(at < OUT ? all->in[at] : all->out[at - OUT]);
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(way->params); i++) {
        way->params[i] = kind->is_square ? all->work->count : kind->params[i < 2 ? i : 1];
    }
    way->dispatch.bindings = way->bindings;
    way->dispatch.binding_count = kind->bind_count;
    way->dispatch.params = way->params;
    way->dispatch.param_count = kind->is_square ? 3 : kind->param_count;
    way->dispatch.groups[0] = kind->groups;
    way->dispatch.flags = VYRE_DISPATCH_TIMED;
    way->dispatch.coarsening = kind->coarsening;
}

static vyre_result add_library(kernel_ways *all, bench_case *c, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(program_kinds); i++) {
        const program_kind *kind = &program_kinds[i];
        if (kind->id != all->work->id || all->library_count == MAX_LIBRARY) {
            continue;
        }
        library_way *way = &all->library[all->library_count++];
        way->all = all;
        way->kind = kind;
        result = bench_program_create_as(all->bench->device, kind->text, !kind->is_alone,
                                         all->bench->bindings, &way->program, diag);
        bind(way);
        way->series = c->series_count;
        (void)bench_series_vyre(c, kind->way, all->bench->device, sample_library, check_library,
                                way);
    }
    return result;
}

static vyre_result make_buffers(kernel_ways *all, vyre_diag *diag)
{
    const kernel_work *work = all->work;
    vyre_device *device = all->bench->device;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < work->in_count; i++) {
        result =
            bench_buffer_create(device, "in", work->in[i],
                                (uint64_t)work->in_words[i] * sizeof(uint32_t), &all->in[i], diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < work->out_count; i++) {
        result = bench_buffer_create(device, "out", NULL,
                                     (uint64_t)work->out_words[i] * sizeof(uint32_t), &all->out[i],
                                     diag);
    }
    /* How many stay. */
    if (result == VYRE_OK && work->id == BENCH_KERNEL_COMPACT) {
        result = bench_buffer_create(device, "kept", NULL, sizeof(uint32_t), &all->out[1], diag);
    }
    return result;
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

static vyre_result sample_vulkan(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    vulkan_way *way = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        result = peer_program_reset(way->program, diag);
        uint64_t start = bench_work_ns(way->all->bench);
        if (result == VYRE_OK) {
            result = peer_program_run(way->program, diag);
        }
        uint64_t ns = bench_work_ns(way->all->bench) - start;
        uint64_t device_ns = result == VYRE_OK && !way->all->bench->processor_time
                                 ? peer_program_device_ns(way->program)
                                 : UINT64_MAX;
        out[i] = (double)(device_ns == UINT64_MAX ? ns : device_ns) / 1e3;
    }
    return result;
}

/* All samples left the same: once more, over zeros, which are right nowhere but behind what stays.
 */
static vyre_result check_vulkan(void *state, bench_check *out, vyre_diag *diag)
{
    vulkan_way *way = state;
    const kernel_work *work = way->all->work;
    double ignored;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < work->out_count; i++) {
        memset(work->got[i], 0, (size_t)work->out_words[i] * sizeof(uint32_t));
        result = peer_program_write(way->program, way->recipe.first_out + i, work->got[i], diag);
    }
    if (result == VYRE_OK) {
        result = sample_vulkan(way, &ignored, 1, diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < work->out_count; i++) {
        result = peer_program_read(way->program, way->recipe.first_out + i, work->got[i], diag);
    }
    if (result == VYRE_OK) {
        kernel_work_compare(work, out);
    }
    return result;
}

static void tell_failure(bench *b, vyre_diag *diag)
{
    snprintf(b->peer_note, sizeof b->peer_note, "%s", diag->message);
    vy_diag_clear(diag);
}

static void add_vulkan(kernel_ways *all, bench_case *c, vyre_diag *diag)
{
    const kernel_work *work = all->work;
    for (uint32_t i = 0; all->bench->peer && i < MAX_VULKAN; i++) {
        vulkan_way *way = &all->vulkan[all->vulkan_count];
        const char *name;
        if (!kernel_recipe_make(work, i, &way->recipe, &name)) {
            break;
        }
        way->all = all;
        vyre_result result =
            peer_program_create(all->bench->peer, &way->recipe.params, &way->program, diag);
        for (uint32_t k = 0; result == VYRE_OK && k < way->recipe.in_count; k++) {
            result = peer_program_write(way->program, way->recipe.first_in + k, work->in[k], diag);
        }
        if (result != VYRE_OK) {
            tell_failure(all->bench, diag);
            peer_program_destroy(&way->program);
            bench_series_leave_out(c, "vulkan", name, all->bench->peer_note);
            continue;
        }
        all->vulkan_count++;
        (void)bench_series_add(c, "vulkan", name, sample_vulkan, check_vulkan, way);
    }
}

static vyre_result sample_copies(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    kernel_ways *all = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t start = bench_work_ns(all->bench);
        result = peer_copies_run(all->copies, NULL, diag);
        uint64_t ns = bench_work_ns(all->bench) - start;
        uint64_t device_ns =
            all->bench->processor_time ? UINT64_MAX : peer_copies_device_ns(all->copies);
        out[i] = (double)(device_ns == UINT64_MAX ? ns : device_ns) / 1e3;
    }
    return result;
}

static vyre_result check_copies(void *state, bench_check *out, vyre_diag *diag)
{
    kernel_ways *all = state;
    vyre_result result = peer_copies_fetch_target(all->copies, all->work->got[0], diag);
    if (result == VYRE_OK) {
        kernel_work_compare(all->work, out);
    }
    return result;
}

static void add_copies(kernel_ways *all, bench_case *c, vyre_diag *diag)
{
    const kernel_work *work = all->work;
    if (!all->bench->peer || work->id != BENCH_KERNEL_COPY) {
        return;
    }
    if (peer_copies_create(all->bench->peer, PEER_DEVICE, 1, (uint64_t)work->count * 4,
                           &all->copies, diag) != VYRE_OK) {
        tell_failure(all->bench, diag);
        return;
    }
    if (peer_copies_fill(all->copies, work->in[0], diag) != VYRE_OK) {
        tell_failure(all->bench, diag);
        return;
    }
    (void)bench_series_add(c, "vulkan", "vkCmdCopyBuffer", sample_copies, check_copies, all);
}

/* ---- Plain C --------------------------------------------------------------------------------- */

/* OpenMP's threads look for more to do for some milliseconds, which the way behind this one would
 * have to bear, most of all where the device is the processor. */
static void let_threads_rest(void)
{
    enum { MOST_LOOKS = 100 };
    const uint64_t pause_ns = 1000000;
    uint64_t before = vy_other_threads_ns(), now = before;
    for (uint32_t i = 0; i < MOST_LOOKS && (i == 0 || now - before > pause_ns / 10); i++) {
        before = now;
        vy_pause_ns(pause_ns);
        now = vy_other_threads_ns();
    }
}

static vyre_result sample_cpu(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    const kernel_ways *all = state;
    const kernel_work *work = all->work;
    (void)diag;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = bench_now_ns();
        peer_kernel_on_cpu(work->id, work->count, work->in, work->got, work->scratch);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
    }
    let_threads_rest();
    return VYRE_OK;
}

static vyre_result check_cpu(void *state, bench_check *out, vyre_diag *diag)
{
    const kernel_ways *all = state;
    const kernel_work *work = all->work;
    double ignored;
    for (uint32_t i = 0; i < work->out_count; i++) {
        memset(work->got[i], 0, (size_t)work->out_words[i] * sizeof(uint32_t));
    }
    vyre_result result = sample_cpu(state, &ignored, 1, diag);
    kernel_work_compare(work, out);
    return result;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

typedef struct cuda_kind {
    bench_kernel_id id;
    const char *way, *command;
} cuda_kind;

static const cuda_kind cuda_kinds[] = {
    {BENCH_KERNEL_COPY, "a word a thread", "plain"},
    {BENCH_KERNEL_COPY, "uint4, 16 bytes a thread", "wide"},
    {BENCH_KERNEL_COPY, "cudaMemcpy", "memcpy"},
    {BENCH_KERNEL_MAP, "a word a thread", "plain"},
    {BENCH_KERNEL_MAP, "uint4, 16 bytes a thread", "wide"},
    {BENCH_KERNEL_SUM, "blocks sum", "plain"},
    {BENCH_KERNEL_SUM, "blocks sum, uint4", "wide"},
    {BENCH_KERNEL_SUM, "cub::DeviceReduce", "cub"},
    {BENCH_KERNEL_ODD, "blocks sum", "plain"},
    {BENCH_KERNEL_ODD, "blocks sum, uint4", "wide"},
    {BENCH_KERNEL_ODD, "cub::DeviceReduce", "cub"},
    {BENCH_KERNEL_HISTOGRAM, "a word a thread", "plain"},
    {BENCH_KERNEL_HISTOGRAM, "uint4, 2048 blocks", "wide"},
    {BENCH_KERNEL_HISTOGRAM, "cub::DeviceHistogram", "cub"},
    {BENCH_KERNEL_SCAN, "block after block", "plain"},
    {BENCH_KERNEL_SCAN, "block after block, uint4", "wide"},
    {BENCH_KERNEL_SCAN, "cub::DeviceScan", "cub"},
    {BENCH_KERNEL_COMPACT, "block after block", "plain"},
    {BENCH_KERNEL_COMPACT, "cub::DeviceSelect", "cub"},
    {BENCH_KERNEL_APPEND, "an atomic each", "plain"},
    {BENCH_KERNEL_APPEND, "an atomic a warp, uint4", "wide"},
    {BENCH_KERNEL_APPEND, "an atomic a block, 4 uint4 a thread", "block"},
    {BENCH_KERNEL_SORT, "tiles of 256 pairs", "plain"},
    {BENCH_KERNEL_SORT, "cub::DeviceRadixSort", "cub"},
    {BENCH_KERNEL_SPMV, "a row a thread", "plain"},
    {BENCH_KERNEL_SPMV, "a row half a warp", "wide"},
    {BENCH_KERNEL_SPMV_BAND, "a row a thread", "plain"},
    {BENCH_KERNEL_SPMV_BAND, "a row half a warp", "wide"},
    {BENCH_KERNEL_PRODUCTS, "an element a thread", "plain"},
    {BENCH_KERNEL_PRODUCTS, "uint4 and float4, 4 elements a thread", "wide"},
    {BENCH_KERNEL_PRODUCTS_BAND, "an element a thread", "plain"},
    {BENCH_KERNEL_PRODUCTS_BAND, "uint4 and float4, 4 elements a thread", "wide"},
    {BENCH_KERNEL_MATMUL, "tiles of 16 by 16", "plain"},
    {BENCH_KERNEL_MATMUL, "tiles of 64 by 64, 4 by 4 a thread", "wide"},
};

static void add_cuda(kernel_ways *all, bench_case *c)
{
    const kernel_work *work = all->work;
    for (size_t i = 0; i < VY_COUNT_OF(cuda_kinds); i++) {
        if (cuda_kinds[i].id == work->id) {
            (void)bench_series_cuda(all->bench, c, cuda_kinds[i].way, "kernel %s id=%u count=%u",
                                    cuda_kinds[i].command, (unsigned)work->id, work->count);
        }
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

vyre_result kernel_ways_add(bench *b, bench_case *c, kernel_work *work, kernel_ways **out_ways,
                            vyre_diag *diag)
{
    kernel_ways *all = calloc(1, sizeof *all);
    *out_ways = all;
    if (!all) {
        return vy_diag_no_memory(diag);
    }
    all->bench = b;
    all->work = work;
    vyre_result result = make_buffers(all, diag);
    if (result == VYRE_OK) {
        result = add_library(all, c, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    add_vulkan(all, c, diag);
    add_copies(all, c, diag);
    add_cuda(all, c);
    result = kernel_opencl_add(b, c, work, &all->opencl, diag);
    if (result != VYRE_OK) {
        return result;
    }
    if (work->id == BENCH_KERNEL_SORT && work->count > MAX_SORTED_ON_CPU) {
        bench_series_leave_out(c, "cpu", "plain C, one core", "takes seconds");
        return VYRE_OK;
    }
    if (work->id == BENCH_KERNEL_SORT) {
        (void)bench_series_add(c, "cpu", "plain C, one core", sample_cpu, check_cpu, all);
        return VYRE_OK;
    }
    (void)bench_series_add(c, "cpu", peer_kernel_cpu_name(), sample_cpu, check_cpu, all);
    return VYRE_OK;
}

/* The last samples are those of the turns; before them lie those of the
 * warm-up. */
vyre_result kernel_ways_report(kernel_ways *all, bench_case *c, vyre_diag *diag)
{
    static const char *const names[MAX_LIBRARY] = {
        "the first of these, with what is made zero before it", "the second, likewise",
        "the third, likewise"};
    for (uint32_t i = 0; i < all->library_count; i++) {
        library_way *way = &all->library[i];
        uint32_t count = c->series[way->series].sample_count;
        if (!way->kind->has_zeros || way->whole_count < count) {
            continue;
        }
        double *samples = vy_arena_alloc(&all->bench->arena, count, sizeof *samples);
        if (!samples) {
            return vy_diag_no_memory(diag);
        }
        memcpy(samples, way->whole + way->whole_count - count, count * sizeof *samples);
        bench_series *s = bench_series_derive(c, "vyre", names[i], samples, count);
        if (s) {
            snprintf(s->note, sizeof s->note, "%s", way->kind->way);
        }
    }
    return VYRE_OK;
}

void kernel_ways_finish(kernel_ways **ways)
{
    kernel_ways *old = *ways;
    for (uint32_t i = 0; old && i < MAX_LIBRARY; i++) {
        bench_program_destroy(&old->library[i].program);
        free(old->library[i].whole);
    }
    for (uint32_t i = 0; old && i < MAX_VULKAN; i++) {
        peer_program_destroy(&old->vulkan[i].program);
    }
    for (uint32_t i = 0; old && i < KERNEL_INS + KERNEL_OUTS; i++) {
        vyre_buffer *buffer = i < KERNEL_INS ? &old->in[i] : &old->out[i - KERNEL_INS];
        if (buffer->bits) {
            bench_buffer_destroy(old->bench->device, buffer);
        }
    }
    if (old) {
        peer_copies_destroy(&old->copies);
        kernel_opencl_finish(&old->opencl);
    }
    free(old);
    *ways = NULL;
}
