/* The kernels as the peer's steps. */
#include "tools/vyre-bench/kernels.h"

#include <string.h>

/* GROUPS of scan.vyre, compact.vyre and radix_sort.vyre, and of histogram.vyre. */
enum { TILE_GROUPS = 1056, HISTOGRAM_GROUPS = 528 };

static uint32_t groups_of(uint32_t count)
{
    return count / 256 + (count % 256 != 0);
}

static void add_step(kernel_recipe *r, peer_step step)
{
    if (r->params.step_count < KERNEL_MAX_STEPS) {
        r->steps[r->params.step_count++] = step;
    }
}

/* Workgroups of 4096 elements at a time, no more than the programs have. */
static uint32_t tile_groups_of(uint32_t count, uint32_t most)
{
    uint32_t tiles = count / 4096 + 1;
    return tiles < most ? tiles : most;
}

static void make_scan(kernel_recipe *r, uint32_t n)
{
    uint32_t groups = tile_groups_of(n, TILE_GROUPS);
    peer_step step = {.shader = PEER_SHADER_SCAN, .groups = groups, .count = n};
    add_step(r, step);
    step.phase = 1;
    add_step(r, step);
    r->params.sizes[2] = (uint64_t)groups * sizeof(uint32_t);
    r->params.buffer_count = 3;
}

static void make_compact(kernel_recipe *r, uint32_t n)
{
    uint32_t groups = tile_groups_of(n, TILE_GROUPS);
    peer_step step = {.shader = PEER_SHADER_COMPACT, .groups = groups, .count = n};
    add_step(r, step);
    step.kind = 1;
    add_step(r, step);
    r->params.sizes[2] = (uint64_t)groups * sizeof(uint32_t);
    r->params.sizes[3] = sizeof(uint32_t);
    r->params.buffer_count = 4;
}

/* In place, from copies of the pairs: keys, values, others, counts, totals, copies. */
static void make_sort(kernel_recipe *r, uint32_t n)
{
    uint32_t groups = tile_groups_of(n, TILE_GROUPS);
    for (uint32_t i = 0; i < 4; i++) {
        r->params.sizes[i] = (uint64_t)n * sizeof(uint32_t);
    }
    r->params.sizes[4] = (uint64_t)groups * 256 * sizeof(uint32_t);
    r->params.sizes[5] = 256 * sizeof(uint32_t);
    r->params.sizes[6] = r->params.sizes[7] = (uint64_t)n * sizeof(uint32_t);
    r->params.buffer_count = 8;
    r->first_in = 6;
    r->first_out = 0;
    r->params.reset_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        r->resets[i] = (peer_reset){.buffer = i, .from = 6 + i, .is_copy = true};
    }
    for (uint32_t k = 0; k < 12; k++) {
        add_step(r, (peer_step){.shader = PEER_SHADER_RADIX,
                                .kind = k % 3,
                                .groups = k % 3 == 1 ? 256 : groups,
                                .count = n,
                                .a = k / 3,
                                .b = groups});
    }
}

static uint32_t variants_of(bench_kernel_id id)
{
    switch (id) {
    case BENCH_KERNEL_COPY:
    case BENCH_KERNEL_MAP:
        return 2;
    case BENCH_KERNEL_PRODUCTS:
    case BENCH_KERNEL_PRODUCTS_BAND:
    case BENCH_KERNEL_APPEND:
        return 4;
    default:
        return 1;
    }
}

/* A word, 4 or 16 words an invocation; a word and an atomic each. */
static void make_append(kernel_recipe *r, uint32_t variant, uint32_t n)
{
    uint32_t words = variant == 1 ? 4 : variant == 2 ? 16 : 1;
    add_step(r, (peer_step){.shader = PEER_SHADER_APPEND,
                            .kind = variant,
                            .groups = groups_of(n / words),
                            .count = n / words});
    r->params.sizes[2] = sizeof(uint32_t);
    r->params.buffer_count = 3;
    r->resets[0] = (peer_reset){.buffer = 2};
    r->params.reset_count = 1;
}

/* Inputs, then the output, which some kernels want to be zero. A bias of zeros is left out. */
static void set_buffers(kernel_recipe *r, const kernel_work *work)
{
    r->in_count = work->id == BENCH_KERNEL_MATMUL ? 2 : work->in_count;
    r->first_out = r->in_count;
    r->params.buffer_count = r->in_count + 1;
    for (uint32_t i = 0; i < r->in_count; i++) {
        r->params.sizes[i] = (uint64_t)work->in_words[i] * sizeof(uint32_t);
    }
    r->params.sizes[r->first_out] = (uint64_t)work->out_words[0] * sizeof(uint32_t);
    r->resets[0] = (peer_reset){.buffer = r->first_out};
}

bool kernel_recipe_make(const kernel_work *work, uint32_t variant, kernel_recipe *out,
                        const char **out_name)
{
    uint32_t n = work->count;
    static const char *const names[] = {"GLSL", "GLSL, 16 bytes an invocation",
                                        "GLSL, 64 bytes an invocation",
                                        "GLSL, an atomic each, checked"};
    if (variant >= variants_of(work->id)) {
        return false;
    }
    memset(out, 0, sizeof *out);
    *out_name = names[variant];
    if (bench_kernel_is_products(work->id) && variant > 1) {
        *out_name = variant == 2 ? "GLSL, checked" : "GLSL, 16 bytes an invocation, checked";
    }
    set_buffers(out, work);
    switch (work->id) {
    case BENCH_KERNEL_SUM:
    case BENCH_KERNEL_ODD:
        add_step(out, (peer_step){.shader = PEER_SHADER_SUM,
                                  .kind = work->id == BENCH_KERNEL_ODD,
                                  .groups = BENCH_SUM_GROUPS,
                                  .count = n});
        out->params.reset_count = 1;
        break;
    case BENCH_KERNEL_HISTOGRAM:
        add_step(out, (peer_step){.shader = PEER_SHADER_HISTOGRAM,
                                  .groups = tile_groups_of(n, HISTOGRAM_GROUPS),
                                  .count = n});
        out->params.reset_count = 1;
        break;
    case BENCH_KERNEL_SCAN:
        make_scan(out, n);
        break;
    case BENCH_KERNEL_COMPACT:
        make_compact(out, n);
        break;
    case BENCH_KERNEL_APPEND:
        make_append(out, variant, n);
        break;
    case BENCH_KERNEL_SORT:
        make_sort(out, n);
        break;
    case BENCH_KERNEL_SPMV:
    case BENCH_KERNEL_SPMV_BAND:
        add_step(out, (peer_step){.shader = PEER_SHADER_SPMV,
                                  .groups = groups_of(n / BENCH_ROW),
                                  .count = n / BENCH_ROW});
        break;
    case BENCH_KERNEL_PRODUCTS:
    case BENCH_KERNEL_PRODUCTS_BAND:
        add_step(out, (peer_step){.shader = PEER_SHADER_PRODUCTS,
                                  .kind = variant,
                                  .groups = groups_of(variant % 2 ? n / 4 : n),
                                  .count = variant % 2 ? n / 4 : n});
        break;
    case BENCH_KERNEL_MATMUL:
        add_step(out, (peer_step){.shader = PEER_SHADER_MATMUL,
                                  .groups = (n / 64) * (n / 64),
                                  .count = n * n,
                                  .a = n});
        break;
    default:
        add_step(out, (peer_step){.shader = PEER_SHADER_STREAM,
                                  .kind = (work->id == BENCH_KERNEL_MAP) + 2 * variant,
                                  .groups = groups_of(variant ? n / 4 : n),
                                  .count = variant ? n / 4 : n});
        break;
    }
    out->params.steps = out->steps;
    out->params.resets = out->resets;
    return true;
}
