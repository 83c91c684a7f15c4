/* The ways of group kernels by OpenCL on the host's processors, where the library runs there too.
 */
#include "tools/vyre-bench/kernels.h"

#ifdef VYRE_BENCH_HAVE_OPENCL

#include "tools/vyre-bench/peers/opencl.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WAYS = 2 };

typedef struct opencl_way {
    const kernel_work *work;
    peer_opencl_work *peer;
} opencl_way;

struct kernel_opencl {
    opencl_way ways[MAX_WAYS];
    uint32_t count;
};

void kernel_opencl_open(bench *b, vyre_diag *diag)
{
    if (b->info.type != VYRE_DEVICE_PROCESSOR) {
        snprintf(b->opencl_note, sizeof b->opencl_note, "this device is no processor");
    } else if (peer_opencl_create(&b->opencl, diag) != VYRE_OK) {
        snprintf(b->opencl_note, sizeof b->opencl_note, "%.190s", diag->message);
        vy_diag_clear(diag);
    } else {
        snprintf(b->opencl_note, sizeof b->opencl_note, "%.190s", peer_opencl_name(b->opencl));
    }
}

void kernel_opencl_close(bench *b)
{
    peer_opencl_destroy(&b->opencl);
}

static vyre_result sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    opencl_way *way = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t ns;
        result = peer_opencl_work_run(way->peer, &ns, diag);
        out[i] = (double)ns / 1e3;
    }
    return result;
}

/* Once more, over zeros, which are right nowhere but behind what stays. */
static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    opencl_way *way = state;
    const kernel_work *work = way->work;
    double ignored;
    for (uint32_t i = 0; i < work->out_count; i++) {
        memset(work->got[i], 0, (size_t)work->out_words[i] * sizeof(uint32_t));
    }
    vyre_result result = peer_opencl_work_write(way->peer, work->got[0], diag);
    if (result == VYRE_OK) {
        result = sample(way, &ignored, 1, diag);
    }
    if (result == VYRE_OK) {
        result = peer_opencl_work_read(way->peer, work->got[0], diag);
    }
    if (result == VYRE_OK) {
        kernel_work_compare(work, out);
    }
    return result;
}

vyre_result kernel_opencl_add(bench *b, bench_case *c, const kernel_work *work,
                              kernel_opencl **out_ways, vyre_diag *diag)
{
    kernel_opencl *all = calloc(1, sizeof *all);
    *out_ways = all;
    if (!all) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; b->opencl && i < MAX_WAYS && peer_opencl_way(work->id, i); i++) {
        opencl_way *way = &all->ways[all->count];
        const char *name = peer_opencl_way(work->id, i);
        way->work = work;
        if (peer_opencl_work_create(b->opencl, work->id, i, work->count, work->in, work->in_words,
                                    work->in_count, work->out_words[0], &way->peer,
                                    diag) != VYRE_OK) {
            bench_series_leave_out(c, "opencl", name, diag->message);
            vy_diag_clear(diag);
            continue;
        }
        all->count++;
        (void)bench_series_add(c, "opencl", name, sample, check, way);
    }
    return VYRE_OK;
}

void kernel_opencl_finish(kernel_opencl **ways)
{
    kernel_opencl *old = *ways;
    for (uint32_t i = 0; old && i < old->count; i++) {
        peer_opencl_work_destroy(&old->ways[i].peer);
    }
    free(old);
    *ways = NULL;
}

#else

void kernel_opencl_open(bench *b, vyre_diag *diag)
{
    (void)diag;
    snprintf(b->opencl_note, sizeof b->opencl_note, "built without CL/cl.h (ocl-icd-opencl-dev)");
}

void kernel_opencl_close(bench *b)
{
    (void)b;
}

vyre_result kernel_opencl_add(bench *b, bench_case *c, const kernel_work *work,
                              kernel_opencl **out_ways, vyre_diag *diag)
{
    (void)b;
    (void)c;
    (void)work;
    (void)diag;
    *out_ways = NULL;
    return VYRE_OK;
}

void kernel_opencl_finish(kernel_opencl **ways)
{
    (void)ways;
}

#endif
