/* What the files of group kernels share. */
#ifndef VY_BENCH_KERNELS_H
#define VY_BENCH_KERNELS_H

#include "tools/vyre-bench/bench.h"
#include "tools/vyre-bench/peers/kernels.h"

enum { KERNEL_INS = 4, KERNEL_OUTS = 2 };

/* One kernel at one size, with what it reads and must leave; words, of floats their bits.
 *   most       in: x                                  out: y, or the total, or the bins
 *   append     in: x                                  out: y, in any order; how many
 *   sort       in: keys, values                       out: keys, values
 *   SpMV       in: row_start, column, value, vector   out: y; count: elements, 16 in each row
 *   products   in: column, value, vector              out: a product for each element
 *   matmul     in: a, b, bias (zeros)                 out: c; count: rows and columns */
typedef struct kernel_work {
    bench_kernel_id id;
    uint32_t count;
    uint32_t in_count, out_count;
    uint32_t *in[KERNEL_INS], *wanted[KERNEL_OUTS], *got[KERNEL_OUTS];
    uint32_t in_words[KERNEL_INS], out_words[KERNEL_OUTS];
    uint32_t *scratch; /* of the way in plain C, and of sorting */
    uint64_t bytes;    /* that must be moved at least; 0: not what limits it */
} kernel_work;

/* `work` has an id and a count. */
vyre_result kernel_work_make(kernel_work *work, vyre_diag *diag);
void kernel_work_finish(kernel_work *work);
/* Counts where got differs from wanted; of what has no order, where it does when it is sorted. */
void kernel_work_compare(const kernel_work *work, bench_check *out);

/* The ways of a case; they live until kernel_ways_finish. */
typedef struct kernel_ways kernel_ways;
vyre_result kernel_ways_add(bench *b, bench_case *c, kernel_work *work, kernel_ways **out_ways,
                            vyre_diag *diag);
/* After the measurement: the library's whole times on the device as series of their own. */
vyre_result kernel_ways_report(kernel_ways *ways, bench_case *c, vyre_diag *diag);
void kernel_ways_finish(kernel_ways **ways);

/* Of OpenCL: b->opencl and its note. Where there is no such peer nothing is added. */
typedef struct kernel_opencl kernel_opencl;
void kernel_opencl_open(bench *b, vyre_diag *diag);
void kernel_opencl_close(bench *b);
vyre_result kernel_opencl_add(bench *b, bench_case *c, const kernel_work *work,
                              kernel_opencl **out_ways, vyre_diag *diag);
void kernel_opencl_finish(kernel_opencl **ways);

/* The peer's steps. */
enum { KERNEL_MAX_STEPS = 12 };
typedef struct kernel_recipe {
    peer_program_params params;
    peer_step steps[KERNEL_MAX_STEPS];
    peer_reset resets[2];
    uint32_t in_count, first_in, first_out; /* their buffers lie one behind the other */
} kernel_recipe;
/* False: it has no such way. `variant`: 0, 1, ... */
bool kernel_recipe_make(const kernel_work *work, uint32_t variant, kernel_recipe *out,
                        const char **out_name);

#endif
