/* What the kernels read and must leave, by the simplest loops. */
#include "tools/vyre-bench/kernels.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void set_sizes(kernel_work *w)
{
    uint32_t n = w->count, rows = n / BENCH_ROW;
    w->in_count = w->out_count = 1;
    w->in_words[0] = w->out_words[0] = n;
    w->bytes = (uint64_t)n * 8;
    switch (w->id) {
    case BENCH_KERNEL_SUM:
    case BENCH_KERNEL_ODD:
    case BENCH_KERNEL_HISTOGRAM:
        w->out_words[0] = w->id == BENCH_KERNEL_HISTOGRAM ? BENCH_BINS : 1;
        w->bytes = (uint64_t)n * 4;
        break;
    case BENCH_KERNEL_COMPACT:
        w->bytes = (uint64_t)n * 6; /* half of them stay */
        break;
    case BENCH_KERNEL_APPEND:
        w->out_count = 2;
        w->out_words[1] = 1;
        w->bytes = (uint64_t)n * 6;
        break;
    case BENCH_KERNEL_SORT:
        w->in_count = w->out_count = 2;
        w->in_words[1] = w->out_words[1] = n;
        w->bytes = (uint64_t)n * 16;
        break;
    case BENCH_KERNEL_SPMV:
    case BENCH_KERNEL_SPMV_BAND:
        w->in_count = 4;
        w->in_words[0] = rows + 1;
        w->in_words[1] = w->in_words[2] = n;
        w->in_words[3] = w->out_words[0] = rows;
        w->bytes = (uint64_t)n * 8 + (uint64_t)rows * 12;
        break;
    case BENCH_KERNEL_PRODUCTS:
    case BENCH_KERNEL_PRODUCTS_BAND:
        w->in_count = 3;
        w->in_words[1] = n;
        w->in_words[2] = rows;
        w->bytes = (uint64_t)n * 12 + (uint64_t)rows * 4;
        break;
    case BENCH_KERNEL_MATMUL:
        w->in_count = 3;
        w->in_words[0] = w->in_words[1] = w->out_words[0] = n * n;
        w->in_words[2] = n;
        w->bytes = 0;
        break;
    default:
        break;
    }
}

static bool allocate(kernel_work *w)
{
    bool ok = true;
    for (uint32_t i = 0; i < w->in_count; i++) {
        w->in[i] = calloc(w->in_words[i], sizeof(uint32_t));
        ok = ok && w->in[i];
    }
    for (uint32_t i = 0; i < w->out_count; i++) {
        w->wanted[i] = calloc(w->out_words[i], sizeof(uint32_t));
        w->got[i] = calloc(w->out_words[i], sizeof(uint32_t));
        ok = ok && w->wanted[i] && w->got[i];
    }
    if (w->id == BENCH_KERNEL_SORT || w->id == BENCH_KERNEL_APPEND) {
        w->scratch = calloc(2 * (size_t)w->count, sizeof(uint32_t));
        ok = ok && w->scratch;
    }
    return ok;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static void make_spmv(kernel_work *w)
{
    uint32_t rows = w->count / BENCH_ROW;
    for (uint32_t r = 0; r <= rows; r++) {
        w->in[0][r] = r * BENCH_ROW;
    }
    for (uint32_t e = 0; e < w->count; e++) {
        w->in[1][e] = bench_kernel_column(w->id, e, rows);
        w->in[2][e] = bits_of(bench_kernel_value(e));
    }
    for (uint32_t r = 0; r < rows; r++) {
        float sum = 0;
        w->in[3][r] = bits_of(bench_kernel_vector(r));
        for (uint32_t e = r * BENCH_ROW; e < (r + 1) * BENCH_ROW; e++) {
            sum += bench_kernel_value(e) * bench_kernel_vector(w->in[1][e]);
        }
        w->wanted[0][r] = bits_of(sum);
    }
}

static void make_products(kernel_work *w)
{
    uint32_t rows = w->count / BENCH_ROW;
    for (uint32_t r = 0; r < rows; r++) {
        w->in[2][r] = bits_of(bench_kernel_vector(r));
    }
    for (uint32_t e = 0; e < w->count; e++) {
        w->in[0][e] = bench_kernel_column(w->id, e, rows);
        w->in[1][e] = bits_of(bench_kernel_value(e));
        w->wanted[0][e] = bits_of(bench_kernel_value(e) * bench_kernel_vector(w->in[0][e]));
    }
}

/* Rows of integers, which floats hold exactly. */
static void make_matmul(kernel_work *w)
{
    uint32_t n = w->count;
    uint32_t *c = w->wanted[0];
    for (uint32_t i = 0; i < n * n; i++) {
        w->in[0][i] = bits_of(bench_kernel_a(i));
        w->in[1][i] = bits_of(bench_kernel_b(i));
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++) {
            uint32_t factor = (uint32_t)bench_kernel_a(i * n + k);
            const uint32_t *row = &w->in[1][k * n];
            for (uint32_t j = 0; j < n && factor; j++) {
                c[i * n + j] += factor * (uint32_t)float_of(row[j]);
            }
        }
    }
    for (uint32_t i = 0; i < n * n; i++) {
        c[i] = bits_of((float)c[i]);
    }
}

/* By the lower half of the keys, then by the upper one; equal keys keep their order. */
static void count_and_place(kernel_work *w, const uint32_t *keys, uint32_t shift,
                            const uint32_t *order, uint32_t *out)
{
    enum { DIGITS = 65536 };
    static uint32_t place[DIGITS + 1];
    memset(place, 0, sizeof place);
    for (uint32_t i = 0; i < w->count; i++) {
        place[(keys[i] >> shift & (DIGITS - 1)) + 1]++;
    }
    for (uint32_t k = 0; k < DIGITS; k++) {
        place[k + 1] += place[k];
    }
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t of = order ? order[i] : i;
        out[place[keys[of] >> shift & (DIGITS - 1)]++] = of;
    }
}

/* The values are the keys' places. */
static void make_sort(kernel_work *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        w->in[0][i] = bench_kernel_word(i);
        w->in[1][i] = i;
    }
    count_and_place(w, w->in[0], 0, NULL, w->scratch);
    count_and_place(w, w->in[0], 16, w->scratch, w->wanted[1]);
    for (uint32_t i = 0; i < w->count; i++) {
        w->wanted[0][i] = w->in[0][w->wanted[1][i]];
    }
}

static int digit_of(uint32_t word, uint32_t round)
{
    return (int)(word >> 11 * round & 2047);
}

/* In three rounds, over words of scratch: the last one leaves the result there. */
static void sort_words(uint32_t *words, uint32_t count, uint32_t *scratch)
{
    static uint32_t place[2049];
    uint32_t *from = words, *to = scratch;
    for (uint32_t round = 0; round < 3; round++) {
        memset(place, 0, sizeof place);
        for (uint32_t i = 0; i < count; i++) {
            place[digit_of(from[i], round) + 1]++;
        }
        for (uint32_t k = 0; k < 2048; k++) {
            place[k + 1] += place[k];
        }
        for (uint32_t i = 0; i < count; i++) {
            to[place[digit_of(from[i], round)]++] = from[i];
        }
        to = from;
        from = from == words ? scratch : words;
    }
    memcpy(words, scratch, (size_t)count * sizeof *words);
}

/* Sorted; zeros stay behind. */
static void make_append(kernel_work *w)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t x = bench_kernel_word(i);
        w->in[0][i] = x;
        if (x & 1) {
            w->wanted[0][kept++] = x;
        }
    }
    w->wanted[1][0] = kept;
    sort_words(w->wanted[0], kept, w->scratch);
}

static void make_words(kernel_work *w)
{
    uint32_t *wanted = w->wanted[0], sum = 0, kept = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t x = bench_kernel_word(i);
        w->in[0][i] = x;
        sum += w->id == BENCH_KERNEL_ODD ? x & 1 : x;
        switch (w->id) {
        case BENCH_KERNEL_COPY:
            wanted[i] = x;
            break;
        case BENCH_KERNEL_MAP:
            wanted[i] = x * 3 + 1;
            break;
        case BENCH_KERNEL_HISTOGRAM:
            wanted[x % BENCH_BINS]++;
            break;
        case BENCH_KERNEL_COMPACT:
            if (x & 1) {
                wanted[kept++] = x;
            }
            break;
        default: /* scans; of the others the last one stays */
            wanted[w->id == BENCH_KERNEL_SCAN ? i : 0] = sum;
            break;
        }
    }
}

vyre_result kernel_work_make(kernel_work *work, vyre_diag *diag)
{
    set_sizes(work);
    if (!allocate(work)) {
        return vy_diag_no_memory(diag);
    }
    if (bench_kernel_is_spmv(work->id)) {
        make_spmv(work);
    } else if (bench_kernel_is_products(work->id)) {
        make_products(work);
    } else if (work->id == BENCH_KERNEL_MATMUL) {
        make_matmul(work);
    } else if (work->id == BENCH_KERNEL_APPEND) {
        make_append(work);
    } else if (work->id == BENCH_KERNEL_SORT) {
        make_sort(work);
    } else {
        make_words(work);
    }
    return VYRE_OK;
}

void kernel_work_finish(kernel_work *work)
{
    for (uint32_t i = 0; i < KERNEL_INS; i++) {
        free(work->in[i]);
    }
    for (uint32_t i = 0; i < KERNEL_OUTS; i++) {
        free(work->wanted[i]);
        free(work->got[i]);
    }
    free(work->scratch);
    memset(work, 0, sizeof *work);
}

void kernel_work_compare(const kernel_work *work, bench_check *out)
{
    if (work->id == BENCH_KERNEL_APPEND) {
        sort_words(work->got[0], work->wanted[1][0], work->scratch);
    }
    for (uint32_t k = 0; k < work->out_count; k++) {
        out->compared += work->out_words[k];
        for (uint32_t i = 0; i < work->out_words[k]; i++) {
            out->wrong += work->got[k][i] != work->wanted[k][i];
        }
    }
}
