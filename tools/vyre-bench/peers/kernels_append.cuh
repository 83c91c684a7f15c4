// Appending what stays in any order, and the products of a sparse matrix's values: an element a
// thread, and the best that is known.
#ifndef VY_BENCH_PEERS_KERNELS_APPEND_CUH
#define VY_BENCH_PEERS_KERNELS_APPEND_CUH

#include "cuda.cuh"

namespace {

// The compiler joins the atomics of a warp.
__global__ void append_plain(const unsigned *x, unsigned *y, unsigned *count, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (x[i] & 1)) {
        y[atomicAdd(count, 1)] = x[i];
    }
}

// The words of one place of all lanes side by side; returns how many stay.
__device__ unsigned put_place(unsigned v, unsigned *to, unsigned before)
{
    unsigned kept = __ballot_sync(0xffffffffu, v & 1);
    if (v & 1) {
        to[__popc(kept & before)] = v;
    }
    return __popc(kept);
}

__device__ unsigned kept_of(uint4 v)
{
    return __popc(__ballot_sync(0xffffffffu, v.x & 1)) +
           __popc(__ballot_sync(0xffffffffu, v.y & 1)) +
           __popc(__ballot_sync(0xffffffffu, v.z & 1)) +
           __popc(__ballot_sync(0xffffffffu, v.w & 1));
}

// An atomic for the 128 words of a warp; n of uint4.
__global__ void append_wide(const uint4 *x, unsigned *y, unsigned *count, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned before = (1u << lane) - 1;
    uint4 v = i < n ? x[i] : make_uint4(0, 0, 0, 0);
    unsigned total = kept_of(v), first = 0;
    if (lane == 0 && total > 0) {
        first = atomicAdd(count, total);
    }
    unsigned *to = y + __shfl_sync(0xffffffffu, first, 0);
    to += put_place(v.x, to, before);
    to += put_place(v.y, to, before);
    to += put_place(v.z, to, before);
    to += put_place(v.w, to, before);
}

constexpr unsigned append_fours = 4; // of a thread; a block has 4096 words

// An atomic for the words of a block, which are put together in shared memory; n of uint4.
__global__ void append_block(const uint4 *x, unsigned *y, unsigned *count, unsigned n)
{
    __shared__ unsigned stage[group_size * append_fours * 4], part[group_size / 32], place;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = (1u << lane) - 1;
    unsigned mine = 0, start = 0, total = 0;
    uint4 v[append_fours];
    for (unsigned k = 0; k < append_fours; k++) {
        unsigned i = (blockIdx.x * append_fours + k) * group_size + threadIdx.x;
        v[k] = i < n ? x[i] : make_uint4(0, 0, 0, 0);
    }
    for (unsigned k = 0; k < append_fours; k++) {
        mine += kept_of(v[k]);
    }
    if (lane == 0) {
        part[warp] = mine;
    }
    __syncthreads();
    for (unsigned w = 0; w < group_size / 32; w++) {
        start += w < warp ? part[w] : 0;
        total += part[w];
    }
    if (threadIdx.x == 0) {
        place = atomicAdd(count, total);
    }
    unsigned *to = stage + start;
    for (unsigned k = 0; k < append_fours; k++) {
        to += put_place(v[k].x, to, before);
        to += put_place(v[k].y, to, before);
        to += put_place(v[k].z, to, before);
        to += put_place(v[k].w, to, before);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < total; i += group_size) {
        y[place + i] = stage[i];
    }
}

__global__ void products_plain(const unsigned *column, const float *value, const float *x, float *y,
                               unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = value[i] * x[column[i]];
    }
}

// n of uint4.
__global__ void products_wide(const uint4 *column, const float4 *value, const float *x, float4 *y,
                              unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 c = column[i];
        float4 v = value[i];
        y[i] = make_float4(v.x * x[c.x], v.y * x[c.y], v.z * x[c.z], v.w * x[c.w]);
    }
}

} // namespace

#endif
