/* The kernels in plain C, optimised as far as the compiler goes. */
#include "tools/vyre-bench/peers/kernels.h"

#include <string.h>

#ifdef _OPENMP
#define PARALLEL_FOR _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL_FOR
#endif

enum { CHUNKS = BENCH_CPU_CHUNKS };

const char *peer_kernel_cpu_name(void)
{
#ifdef _OPENMP
    return "plain C, OpenMP";
#else
    return "plain C, one core";
#endif
}

static uint32_t chunk_start(uint32_t count, int chunk)
{
    return (uint32_t)((uint64_t)count * (uint32_t)chunk / CHUNKS);
}

static void copy(uint32_t count, const uint32_t *restrict x, uint32_t *restrict y)
{
    PARALLEL_FOR
    for (uint32_t i = 0; i < count; i++) {
        y[i] = x[i];
    }
}

static void map(uint32_t count, const uint32_t *restrict x, uint32_t *restrict y)
{
    PARALLEL_FOR
    for (uint32_t i = 0; i < count; i++) {
        y[i] = x[i] * 3 + 1;
    }
}

/* The sum of x & mask, then x >> shift: what sums and counts need. */
static void sums_of_chunks(uint32_t count, const uint32_t *x, uint32_t mask, uint32_t *sums)
{
    PARALLEL_FOR
    for (int k = 0; k < CHUNKS; k++) {
        uint32_t sum = 0;
        for (uint32_t i = chunk_start(count, k); i < chunk_start(count, k + 1); i++) {
            sum += x[i] & mask;
        }
        sums[k] = sum;
    }
}

static uint32_t total(uint32_t count, const uint32_t *x, uint32_t mask)
{
    uint32_t sums[CHUNKS], sum = 0;
    sums_of_chunks(count, x, mask, sums);
    for (int k = 0; k < CHUNKS; k++) {
        sum += sums[k];
    }
    return sum;
}

static void histogram(uint32_t count, const uint32_t *x, uint32_t *bins)
{
    static uint32_t mine[CHUNKS][BENCH_BINS];
    memset(mine, 0, sizeof mine);
    memset(bins, 0, BENCH_BINS * sizeof *bins);
    PARALLEL_FOR
    for (int k = 0; k < CHUNKS; k++) {
        for (uint32_t i = chunk_start(count, k); i < chunk_start(count, k + 1); i++) {
            mine[k][x[i] & 255]++;
        }
    }
    for (int k = 0; k < CHUNKS; k++) {
        for (int i = 0; i < BENCH_BINS; i++) {
            bins[i] += mine[k][i];
        }
    }
}

static void before_chunks(uint32_t *sums)
{
    uint32_t sum = 0;
    for (int k = 0; k < CHUNKS; k++) {
        uint32_t own = sums[k];
        sums[k] = sum;
        sum += own;
    }
}

static void scan(uint32_t count, const uint32_t *restrict x, uint32_t *restrict y)
{
    uint32_t sums[CHUNKS];
    sums_of_chunks(count, x, UINT32_MAX, sums);
    before_chunks(sums);
    PARALLEL_FOR
    for (int k = 0; k < CHUNKS; k++) {
        uint32_t sum = sums[k];
        for (uint32_t i = chunk_start(count, k); i < chunk_start(count, k + 1); i++) {
            sum += x[i];
            y[i] = sum;
        }
    }
}

/* Returns how many it keeps. */
static uint32_t compact(uint32_t count, const uint32_t *restrict x, uint32_t *restrict y)
{
    uint32_t sums[CHUNKS], last;
    sums_of_chunks(count, x, 1, sums);
    last = sums[CHUNKS - 1];
    before_chunks(sums);
    last += sums[CHUNKS - 1];
    PARALLEL_FOR
    for (int k = 0; k < CHUNKS; k++) {
        uint32_t at = sums[k];
        for (uint32_t i = chunk_start(count, k); i < chunk_start(count, k + 1); i++) {
            if (x[i] & 1) {
                y[at++] = x[i];
            }
        }
    }
    return last;
}

/* Pairs by one digit of 8 bits. */
static void sort_round(uint32_t count, uint32_t shift, uint32_t *const *from, uint32_t *const *to)
{
    uint32_t place[BENCH_BINS] = {0}, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        place[from[0][i] >> shift & 255]++;
    }
    for (int k = 0; k < BENCH_BINS; k++) {
        uint32_t own = place[k];
        place[k] = sum;
        sum += own;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = place[from[0][i] >> shift & 255]++;
        to[0][at] = from[0][i];
        to[1][at] = from[1][i];
    }
}

static void sort(uint32_t count, uint32_t *const *in, uint32_t *const *out, uint32_t *scratch)
{
    uint32_t *const other[2] = {scratch, scratch + count};
    sort_round(count, 0, in, other);
    sort_round(count, 8, other, out);
    sort_round(count, 16, out, other);
    sort_round(count, 24, other, out);
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void spmv(uint32_t rows, uint32_t *const *in, uint32_t *y)
{
    PARALLEL_FOR
    for (uint32_t r = 0; r < rows; r++) {
        float sum = 0;
        for (uint32_t e = in[0][r]; e < in[0][r + 1]; e++) {
            sum += as_float(in[2][e]) * as_float(in[3][in[1][e]]);
        }
        memcpy(&y[r], &sum, sizeof sum);
    }
}

/* Row by row, so that the innermost loop walks along rows of b and c. */
static void matmul(uint32_t n, const float *restrict a, const float *restrict b, float *restrict c)
{
    PARALLEL_FOR
    for (uint32_t i = 0; i < n; i++) {
        memset(&c[(size_t)i * n], 0, n * sizeof *c);
        for (uint32_t k = 0; k < n; k++) {
            float factor = a[(size_t)i * n + k];
            for (uint32_t j = 0; j < n; j++) {
                c[(size_t)i * n + j] += factor * b[(size_t)k * n + j];
            }
        }
    }
}

static void products(uint32_t n, uint32_t *const *in, uint32_t *y)
{
    PARALLEL_FOR
    for (uint32_t e = 0; e < n; e++) {
        float product = as_float(in[1][e]) * as_float(in[2][in[0][e]]);
        memcpy(&y[e], &product, sizeof product);
    }
}

void peer_kernel_on_cpu(bench_kernel_id id, uint32_t count, uint32_t *const *in,
                        uint32_t *const *out, uint32_t *scratch)
{
    switch (id) {
    case BENCH_KERNEL_COPY:
        copy(count, in[0], out[0]);
        break;
    case BENCH_KERNEL_MAP:
        map(count, in[0], out[0]);
        break;
    case BENCH_KERNEL_SUM:
        out[0][0] = total(count, in[0], UINT32_MAX);
        break;
    case BENCH_KERNEL_ODD:
        out[0][0] = total(count, in[0], 1);
        break;
    case BENCH_KERNEL_HISTOGRAM:
        histogram(count, in[0], out[0]);
        break;
    case BENCH_KERNEL_SCAN:
        scan(count, in[0], out[0]);
        break;
    case BENCH_KERNEL_COMPACT:
        (void)compact(count, in[0], out[0]);
        break;
    case BENCH_KERNEL_APPEND:
        out[1][0] = compact(count, in[0], out[0]);
        break;
    case BENCH_KERNEL_SORT:
        sort(count, in, out, scratch);
        break;
    case BENCH_KERNEL_SPMV:
    case BENCH_KERNEL_SPMV_BAND:
        spmv(count / BENCH_ROW, in, out[0]);
        break;
    case BENCH_KERNEL_PRODUCTS:
    case BENCH_KERNEL_PRODUCTS_BAND:
        products(count, in, out[0]);
        break;
    case BENCH_KERNEL_MATMUL:
        matmul(count, (const float *)in[0], (const float *)in[1], (float *)out[0]);
        break;
    case BENCH_KERNELS:
        break;
    }
}
