/* Group kernels: streaming and classic kernels as plain programs, beside shaders, CUDA's kernels
 * and its library, and plain C. Everything lies in the device's memory, and the device's time from
 * the first dispatch's start to the last one's end is taken; of plain C the host's. */
#include "tools/vyre-bench/kernels.h"

#include <string.h>

enum { SMALL = 1 << 20, LARGE = 1 << 26, QUICK = 1 << 16 };
enum { SQUARE = 1024, CPU_SQUARE = 256, QUICK_SQUARE = 128 };
static const double case_budget_us = 2e6;
static const uint32_t rounds = 5, batch = 10;

static const char *const names[BENCH_KERNELS] = {
    [BENCH_KERNEL_COPY] = "copy",
    [BENCH_KERNEL_MAP] = "map",
    [BENCH_KERNEL_SUM] = "sum",
    [BENCH_KERNEL_ODD] = "count of odd words",
    [BENCH_KERNEL_HISTOGRAM] = "histogram of bytes",
    [BENCH_KERNEL_SCAN] = "inclusive scan",
    [BENCH_KERNEL_COMPACT] = "compaction, the odd ones",
    [BENCH_KERNEL_APPEND] = "append, the odd ones",
    [BENCH_KERNEL_SORT] = "radix sort of pairs",
    [BENCH_KERNEL_SPMV] = "sparse matrix, 16 a row",
    [BENCH_KERNEL_SPMV_BAND] = "banded matrix, 16 a row",
    [BENCH_KERNEL_PRODUCTS] = "products of a sparse matrix's values",
    [BENCH_KERNEL_PRODUCTS_BAND] = "products of a banded matrix's values",
    [BENCH_KERNEL_MATMUL] = "matrix product, f32",
};

/* Bytes a microsecond of the fastest copy with 16 bytes an invocation. */
static double find_rate(const bench_case *c)
{
    double rate = 0;
    for (uint32_t i = 0; i < c->series_count; i++) {
        const bench_series *s = &c->series[i];
        if (s->sample_count && strstr(s->way, "16 bytes") && s->median > 0 &&
            (double)c->data_size / s->median > rate) {
            rate = (double)c->data_size / s->median;
        }
    }
    return rate;
}

static vyre_result measure_case(bench *b, bench_group *group, kernel_work work, double *rate,
                                vyre_diag *diag)
{
    kernel_ways *ways = NULL;
    bench_case *c = bench_case_add(b, group, names[work.id], "us");
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    bench_case_size(c, work.id == BENCH_KERNEL_MATMUL ? "rows" : "elements", work.count);
    vyre_result result = kernel_work_make(&work, diag);
    c->data_size = work.bytes;
    c->budget_us = b->quick ? c->budget_us / 4 : case_budget_us;
    c->rounds = b->quick ? c->rounds : rounds;
    c->batch = b->quick ? c->batch : batch;
    if (result == VYRE_OK) {
        result = kernel_ways_add(b, c, &work, &ways, diag);
    }
    if (result == VYRE_OK) {
        result = bench_measure(b, c, diag);
    }
    if (result == VYRE_OK) {
        result = kernel_ways_report(ways, c, diag);
    }
    if (result == VYRE_OK) {
        bench_choose_base(c);
        *rate = work.id == BENCH_KERNEL_COPY ? find_rate(c) : *rate;
    }
    if (result == VYRE_OK && *rate > 0 && work.bytes) {
        c->limit.value = (double)work.bytes / *rate;
        snprintf(c->limit.text, sizeof c->limit.text,
                 "%.4g bytes at %.0f GB/s, this run's copy of 16 bytes an invocation",
                 (double)work.bytes, *rate / 1e3);
    }
    kernel_ways_finish(&ways);
    kernel_work_finish(&work);
    return result;
}

bool bench_has_kernel(const char *part_of_name)
{
    for (uint32_t id = 0; id < BENCH_KERNELS; id++) {
        if (strstr(names[id], part_of_name)) {
            return true;
        }
    }
    return false;
}

static bool is_asked(const bench *b, uint32_t id)
{
    return !b->kernel || id == BENCH_KERNEL_COPY || strstr(names[id], b->kernel);
}

vyre_result bench_kernels(bench *b, bench_group *group, vyre_diag *diag)
{
    static const uint32_t sizes[] = {SMALL, LARGE};
    vyre_result result = VYRE_OK;
    kernel_opencl_open(b, diag);
    if (b->processor_time) {
        printf("- Times of Vulkan's ways are what the device's threads have run, whatever else the "
               "machine did\n");
    }
    printf("- %s: %s\n", b->opencl ? "OpenCL" : "no OpenCL peer", b->opencl_note);
    group->title = "streaming and classic kernels on resident data, on the device";
    bool is_cpu = bench_is_on_cpu(b);
    size_t count = b->quick || is_cpu ? 1 : VY_COUNT_OF(sizes);
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        double rate = 0;
        for (uint32_t id = 0; result == VYRE_OK && id < BENCH_KERNEL_MATMUL; id++) {
            kernel_work work = {.id = (bench_kernel_id)id, .count = b->quick ? QUICK : sizes[i]};
            if (is_asked(b, id)) {
                result = measure_case(b, group, work, &rate, diag);
            }
        }
    }
    if (result == VYRE_OK && is_asked(b, BENCH_KERNEL_MATMUL)) {
        double rate = 0;
        uint32_t square = b->quick ? QUICK_SQUARE : is_cpu ? CPU_SQUARE : SQUARE;
        kernel_work work = {.id = BENCH_KERNEL_MATMUL, .count = square};
        result = measure_case(b, group, work, &rate, diag);
    }
    kernel_opencl_close(b);
    return result;
}
