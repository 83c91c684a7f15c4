/* The kernels of group kernels, which all its ways run: their names and what they read. Also for
 * CUDA. Floats are small integers, so that no order of sums changes a bit. */
#ifndef VY_BENCH_PEERS_KERNELS_H
#define VY_BENCH_PEERS_KERNELS_H

#include "items.h" /* bench_item_hash */

#include <stdbool.h>

typedef enum bench_kernel_id {
    BENCH_KERNEL_COPY,
    BENCH_KERNEL_MAP, /* 3 x + 1 */
    BENCH_KERNEL_SUM,
    BENCH_KERNEL_ODD,       /* how many are odd */
    BENCH_KERNEL_HISTOGRAM, /* of the low bytes */
    BENCH_KERNEL_SCAN,
    BENCH_KERNEL_COMPACT, /* keeps the odd ones */
    BENCH_KERNEL_APPEND,  /* likewise, in any order, and counts them */
    BENCH_KERNEL_SORT,    /* pairs, by their keys */
    BENCH_KERNEL_SPMV,
    BENCH_KERNEL_SPMV_BAND, /* columns beside the diagonal, not from all over the vector */
    BENCH_KERNEL_PRODUCTS,  /* of the values of a sparse matrix with the vector's */
    BENCH_KERNEL_PRODUCTS_BAND,
    BENCH_KERNEL_MATMUL,
    BENCH_KERNELS
} bench_kernel_id;

enum {
    BENCH_BINS = 256,
    BENCH_ROW = 16,          /* elements of a sparse row */
    BENCH_SUM_GROUPS = 2048, /* workgroups of 256 that sum and count */
    BENCH_CPU_CHUNKS = 64
};

/* Element i of what most kernels read. */
BENCH_ITEM_FUNCTION uint32_t bench_kernel_word(uint32_t i)
{
    return bench_item_hash(i + 0x9e3779b9u);
}

BENCH_ITEM_FUNCTION bool bench_kernel_is_spmv(uint32_t id)
{
    return id == BENCH_KERNEL_SPMV || id == BENCH_KERNEL_SPMV_BAND;
}
BENCH_ITEM_FUNCTION bool bench_kernel_is_products(uint32_t id)
{
    return id == BENCH_KERNEL_PRODUCTS || id == BENCH_KERNEL_PRODUCTS_BAND;
}
/* Of a sparse matrix with `rows` rows and columns: element e. Its column is anywhere, or, as in a
 * stencil's matrix, one of the 16 around the diagonal, which end where they began. */
BENCH_ITEM_FUNCTION uint32_t bench_kernel_column(uint32_t id, uint32_t e, uint32_t rows)
{
    bool is_band = id == BENCH_KERNEL_SPMV_BAND || id == BENCH_KERNEL_PRODUCTS_BAND;
    uint32_t beside = e / BENCH_ROW + e % BENCH_ROW + rows - BENCH_ROW / 2;
    return (is_band ? beside : bench_item_hash(e)) % rows;
}
BENCH_ITEM_FUNCTION float bench_kernel_value(uint32_t e)
{
    return (float)(bench_item_hash(e ^ 0x55555555u) % 8u);
}
BENCH_ITEM_FUNCTION float bench_kernel_vector(uint32_t k)
{
    return (float)(k % 16u);
}

/* Element i of the dense matrices. */
BENCH_ITEM_FUNCTION float bench_kernel_a(uint32_t i)
{
    return (float)(bench_item_hash(i) % 4u);
}
BENCH_ITEM_FUNCTION float bench_kernel_b(uint32_t i)
{
    return (float)(bench_item_hash(i + 0x01234567u) % 4u);
}

#ifndef __CUDACC__
/* The kernel in plain C, over all cores where the compiler has OpenMP. `count` as in kernel_work;
 * `in` and `out` likewise. */
void peer_kernel_on_cpu(bench_kernel_id id, uint32_t count, uint32_t *const *in,
                        uint32_t *const *out, uint32_t *scratch);
/* "plain C, OpenMP" */
const char *peer_kernel_cpu_name(void);
#endif

#endif
