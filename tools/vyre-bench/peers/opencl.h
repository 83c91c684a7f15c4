/* A peer by OpenCL, for processors: what PoCL makes of the same kernels. The loader libOpenCL is
 * opened when it is needed, so that the tool starts without it. Thread-safety: external. */
#ifndef VY_BENCH_PEERS_OPENCL_H
#define VY_BENCH_PEERS_OPENCL_H

#include "tools/vyre-bench/peers/kernels.h"
#include "vyre/result.h"

typedef struct peer_opencl peer_opencl;

/* On the first processor that a platform has. Errors: NO_DEVICE (no loader, no processor),
 * KERNEL_COMPILE_FAILED, DISPATCH_FAILED. */
vyre_result peer_opencl_create(peer_opencl **out_opencl, vyre_diag *diag);
void peer_opencl_destroy(peer_opencl **opencl);
/* "Portable Computing Language, pthread-..." */
const char *peer_opencl_name(const peer_opencl *opencl);

/* A kernel with its buffers. */
typedef struct peer_opencl_work peer_opencl_work;
/* How a way of the kernel is called; NULL: there is no such way. `variant`: 0, 1, ... */
const char *peer_opencl_way(bench_kernel_id id, uint32_t variant);
/* `in` as in kernel_work, with the words of each; `out_words` of the first output. */
vyre_result peer_opencl_work_create(peer_opencl *opencl, bench_kernel_id id, uint32_t variant,
                                    uint32_t count, uint32_t *const *in, const uint32_t *in_words,
                                    uint32_t in_count, uint32_t out_words,
                                    peer_opencl_work **out_work, vyre_diag *diag);
void peer_opencl_work_destroy(peer_opencl_work **work);
/* Runs and waits. *out_ns: from the first kernel's start to the last one's
 * end. */
vyre_result peer_opencl_work_run(peer_opencl_work *work, uint64_t *out_ns, vyre_diag *diag);
vyre_result peer_opencl_work_write(peer_opencl_work *work, const uint32_t *words, vyre_diag *diag);
vyre_result peer_opencl_work_read(peer_opencl_work *work, uint32_t *out_words, vyre_diag *diag);

#endif
