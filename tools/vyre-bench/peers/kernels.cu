// The kernels of group kernels in CUDA: as they are first written, with 16 bytes a thread, and by
// CUB. What is made zero before a run is not timed, unless CUB does it. The device is kept busy
// until everything is enqueued, so that the time between the events has nothing of the host's in
// it.
#include "kernels_append.cuh"
#include "kernels_data.cuh"

#include <cub/cub.cuh>

namespace {

__global__ void keep_busy(unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < ns);
}

// ---- Streams ------------------------------------------------------------------------------------

__global__ void copy_plain(const unsigned *x, unsigned *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i];
    }
}

__global__ void map_plain(const unsigned *x, unsigned *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] * 3 + 1;
    }
}

__global__ void copy_wide(const uint4 *x, uint4 *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i];
    }
}

__global__ void map_wide(const uint4 *x, uint4 *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 v = x[i];
        y[i] = make_uint4(v.x * 3 + 1, v.y * 3 + 1, v.z * 3 + 1, v.w * 3 + 1);
    }
}

// ---- Sums ---------------------------------------------------------------------------------------

__device__ void add_block(unsigned sum, unsigned *total)
{
    __shared__ unsigned part[group_size];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned left = group_size / 2; left > 0; left /= 2) {
        if (threadIdx.x < left) {
            part[threadIdx.x] += part[threadIdx.x + left];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, part[0]);
    }
}

template <unsigned mask> __global__ void sum_plain(const unsigned *x, unsigned *total, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        sum += x[i] & mask;
    }
    add_block(sum, total);
}

template <unsigned mask> __global__ void sum_wide(const uint4 *x, unsigned *total, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uint4 v = x[i];
        sum += (v.x & mask) + (v.y & mask) + (v.z & mask) + (v.w & mask);
    }
    add_block(sum, total);
}

struct is_odd {
    __host__ __device__ unsigned operator()(unsigned x) const
    {
        return x & 1;
    }
};

// ---- Histogram ----------------------------------------------------------------------------------

__global__ void histogram_plain(const unsigned *x, unsigned *bins, unsigned n)
{
    __shared__ unsigned mine[BENCH_BINS];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        atomicAdd(&mine[x[i] & 255], 1);
    }
    __syncthreads();
    if (mine[threadIdx.x]) {
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
    }
}

__global__ void histogram_wide(const uint4 *x, unsigned *bins, unsigned n)
{
    __shared__ unsigned mine[BENCH_BINS];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uint4 v = x[i];
        atomicAdd(&mine[v.x & 255], 1);
        atomicAdd(&mine[v.y & 255], 1);
        atomicAdd(&mine[v.z & 255], 1);
        atomicAdd(&mine[v.w & 255], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// ---- Scans --------------------------------------------------------------------------------------

// Inclusive, over the block.
__device__ unsigned block_scan(unsigned value)
{
    __shared__ unsigned part[group_size];
    unsigned lane = threadIdx.x;
    part[lane] = value;
    __syncthreads();
    for (unsigned near = 1; near < group_size; near *= 2) {
        unsigned add = lane >= near ? part[lane - near] : 0;
        __syncthreads();
        part[lane] += add;
        __syncthreads();
    }
    return part[lane];
}

// Also in place.
__global__ void scan_blocks(const unsigned *x, unsigned *y, unsigned *sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned total = block_scan(i < n ? x[i] : 0);
    if (i < n) {
        y[i] = total;
    }
    if (threadIdx.x == group_size - 1) {
        sums[blockIdx.x] = total;
    }
}

__global__ void add_before(unsigned *y, const unsigned *sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0) {
        y[i] += sums[blockIdx.x - 1];
    }
}

// Four elements a thread; n of uint4.
__global__ void scan_blocks_wide(const uint4 *x, uint4 *y, unsigned *sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = i < n ? x[i] : make_uint4(0, 0, 0, 0);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    unsigned total = block_scan(v.w), before = total - v.w;
    if (i < n) {
        y[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
    }
    if (threadIdx.x == group_size - 1) {
        sums[blockIdx.x] = total;
    }
}

__global__ void add_before_wide(uint4 *y, const unsigned *sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0) {
        unsigned before = sums[blockIdx.x - 1];
        uint4 v = y[i];
        y[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
    }
}

__global__ void rank_odd(const unsigned *x, unsigned *rank, unsigned *sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned total = block_scan(i < n ? x[i] & 1 : 0);
    if (i < n) {
        rank[i] = total;
    }
    if (threadIdx.x == group_size - 1) {
        sums[blockIdx.x] = total;
    }
}

__global__ void place_odd(const unsigned *x, const unsigned *rank, const unsigned *sums,
                          unsigned *y, unsigned *kept, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned place = rank[i] + (blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0);
        if (x[i] & 1) {
            y[place - 1] = x[i];
        }
        if (i == n - 1) {
            *kept = place;
        }
    }
}

struct keeps_odd {
    __host__ __device__ bool operator()(unsigned x) const
    {
        return x & 1;
    }
};

unsigned blocks_of(unsigned n)
{
    return n / group_size + (n % group_size != 0);
}

// Scans `n` words of sums in place; the words behind them are the next levels'.
void scan_sums(unsigned *sums, unsigned n, cudaStream_t stream)
{
    if (n <= 1) {
        return;
    }
    unsigned blocks = blocks_of(n);
    scan_blocks<<<blocks, group_size, 0, stream>>>(sums, sums, sums + n, n);
    if (blocks > 1) {
        scan_sums(sums + n, blocks, stream);
        add_before<<<blocks, group_size, 0, stream>>>(sums, sums + n, n);
    }
}

// ---- Sorting, tile by tile of 256 pairs ---------------------------------------------------------

constexpr unsigned sort_tiles = 16; // of a block; a tile is group_size keys

// How often each digit occurs in each block: by digit, then block.
__global__ void sort_count(const unsigned *keys, unsigned *counts, unsigned n, unsigned shift)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned tile = 0; tile < sort_tiles; tile++) {
        unsigned i = (blockIdx.x * sort_tiles + tile) * group_size + threadIdx.x;
        if (i < n) {
            atomicAdd(&mine[keys[i] >> shift & 255], 1);
        }
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// A block for each digit: its counts become those of the blocks before.
__global__ void sort_sum(unsigned *counts, unsigned *totals, unsigned blocks)
{
    __shared__ unsigned last;
    unsigned *mine = counts + size_t(blockIdx.x) * blocks, before = 0;
    for (unsigned first = 0; first < blocks; first += group_size) {
        unsigned block = first + threadIdx.x, count = block < blocks ? mine[block] : 0;
        unsigned sum = block_scan(count);
        if (block < blocks) {
            mine[block] = before + sum - count;
        }
        if (threadIdx.x == group_size - 1) {
            last = sum;
        }
        __syncthreads();
        before += last;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = before;
    }
}

__global__ void sort_scatter(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                             unsigned *values_out, const unsigned *counts, const unsigned *totals,
                             unsigned n, unsigned shift)
{
    __shared__ unsigned place[256], who[256][8];
    unsigned lane = threadIdx.x, word_of = lane / 32, total = totals[lane];
    unsigned smaller = block_scan(total) - total;
    place[lane] = smaller + counts[lane * gridDim.x + blockIdx.x];
    for (unsigned word = 0; word < 8; word++) {
        who[lane][word] = 0;
    }
    __syncthreads();
    for (unsigned tile = 0; tile < sort_tiles; tile++) {
        unsigned i = (blockIdx.x * sort_tiles + tile) * group_size + lane;
        unsigned key = i < n ? keys[i] : 0, value = i < n ? values[i] : 0;
        unsigned digit = key >> shift & 255;
        if (i < n) {
            atomicOr(&who[digit][word_of], 1u << lane % 32);
        }
        __syncthreads();
        if (i < n) {
            unsigned to = place[digit] + __popc(who[digit][word_of] & ((1u << lane % 32) - 1));
            for (unsigned word = 0; word < word_of; word++) {
                to += __popc(who[digit][word]);
            }
            keys_out[to] = key;
            values_out[to] = value;
        }
        __syncthreads();
        unsigned seen = 0;
        for (unsigned word = 0; word < 8; word++) {
            seen += __popc(who[lane][word]);
            who[lane][word] = 0;
        }
        place[lane] += seen;
        __syncthreads();
    }
}

// ---- Matrices -----------------------------------------------------------------------------------

__global__ void spmv_plain(const unsigned *row_start, const unsigned *column, const float *value,
                           const float *x, float *y, unsigned rows)
{
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0;
        for (unsigned e = row_start[r]; e < row_start[r + 1]; e++) {
            sum += value[e] * x[column[e]];
        }
        y[r] = sum;
    }
}

__global__ void spmv_wide(const unsigned *row_start, const unsigned *column, const float *value,
                          const float *x, float *y, unsigned rows)
{
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    float sum = 0;
    if (r < rows) {
        for (unsigned e = row_start[r] + lane; e < row_start[r + 1]; e += 16) {
            sum += value[e] * x[column[e]];
        }
    }
    for (unsigned near = 8; near > 0; near /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, near, 16);
    }
    if (r < rows && lane == 0) {
        y[r] = sum;
    }
}

// Blocks of 16 x 16 threads; n is a multiple of 16.
__global__ void matmul_plain(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (unsigned first = 0; first < n; first += 16) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (unsigned s = 0; s < 16; s++) {
            sum += tile_a[y][s] * tile_b[s][x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// As matmul.vyre; n is a multiple of 64.
__global__ void matmul_wide(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float strip_a[16][65], strip_b[16][64];
    unsigned lane = threadIdx.x, x = lane % 16, y = lane / 16;
    unsigned top = blockIdx.y * 64, left = blockIdx.x * 64;
    float sums[4][4] = {};
    for (unsigned first = 0; first < n; first += 16) {
        for (unsigned k = 0; k < 4; k++) {
            strip_a[x][k * 16 + y] = a[(top + k * 16 + y) * n + first + x];
            strip_b[k * 4 + lane / 64][lane % 64] =
                b[(first + k * 4 + lane / 64) * n + left + lane % 64];
        }
        __syncthreads();
#pragma unroll
        for (unsigned s = 0; s < 16; s++) {
            for (unsigned i = 0; i < 4; i++) {
                for (unsigned j = 0; j < 4; j++) {
                    sums[i][j] += strip_a[s][y + i * 16] * strip_b[s][x + j * 16];
                }
            }
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 4; j++) {
            c[(top + y + i * 16) * n + left + x + j * 16] = sums[i][j];
        }
    }
}

// ---- One way ------------------------------------------------------------------------------------

__global__ void count_wrong(const unsigned *found, const unsigned *wanted, unsigned *wrong,
                            unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && found[i] != wanted[i]) {
        atomicAdd(wrong, 1);
    }
}

class kernel_peer : public peer {
  public:
    explicit kernel_peer(const question &q)
        : way(q.way), id(unsigned(q.size("id"))), n(unsigned(q.size("count", 1))),
          data(get_data(id, n))
    {
        for (unsigned k = 0; k < 2; k++) {
            if (data->wanted[k].data()) {
                out[k].allocate(data->wanted[k].count());
            }
        }
        wrong_words.allocate(1);
        kept.allocate(1);
        if (way != "cub" && (id == BENCH_KERNEL_SCAN || id == BENCH_KERNEL_COMPACT)) {
            sums.allocate(n / 128 + 16);
            rank.allocate(id == BENCH_KERNEL_COMPACT ? n : 0);
        }
        if (way == "plain" && id == BENCH_KERNEL_SORT) {
            space.allocate(2 * size_t(n));
            sums.allocate(256 * size_t(sort_blocks()));
            rank.allocate(256);
        }
        if (id == BENCH_KERNEL_APPEND) {
            size_t size = 0;
            rank.allocate(n);
            sort_kept(nullptr, size);
            space.allocate(size / sizeof(unsigned) + 1);
        }
        if (way == "cub") {
            size_t size = 0;
            run_cub(nullptr, size);
            space.allocate(size / sizeof(unsigned) + 1);
        }
        is_cleared = id == BENCH_KERNEL_SUM || id == BENCH_KERNEL_ODD ||
                     id == BENCH_KERNEL_HISTOGRAM || id == BENCH_KERNEL_APPEND;
    }

    double sample() override
    {
        if (is_cleared) {
            clear(id == BENCH_KERNEL_APPEND ? 1 : 0); // of what is appended how many there are
        }
        keep_busy<<<1, 1, 0, clock.stream>>>(100000);
        clock.start();
        run();
        CALL(cudaGetLastError());
        return clock.stop_us();
    }

    // All samples left the same: once more, over zeros.
    void look() override
    {
        clear(0);
        sample();
        if (id == BENCH_KERNEL_APPEND) {
            size_t size = space.count() * sizeof(unsigned);
            sort_kept(space.data(), size);
            CALL(cudaMemcpyAsync(out[0].data(), rank.data(), data->kept * sizeof(unsigned),
                                 cudaMemcpyDeviceToDevice, clock.stream));
            CALL(cudaStreamSynchronize(clock.stream));
        }
        for (unsigned k = 0; k < 2 && data->wanted[k].data(); k++) {
            unsigned length = unsigned(data->wanted[k].count()), found = 0;
            CALL(cudaMemset(wrong_words.data(), 0, sizeof found));
            count_wrong<<<blocks_of(length), group_size>>>(out[k].data(), data->wanted[k].data(),
                                                           wrong_words.data(), length);
            CALL(cudaMemcpy(&found, wrong_words.data(), sizeof found, cudaMemcpyDeviceToHost));
            compared += length;
            wrong += found;
        }
    }

  private:
    std::string way;
    unsigned id, n;
    std::shared_ptr<kernel_data> data;
    device_words out[2], sums, rank, kept, space, wrong_words;
    device_clock clock;
    bool is_cleared = false;

    void clear(unsigned first)
    {
        for (unsigned k = first; k < 2; k++) {
            if (out[k].data()) {
                CALL(cudaMemsetAsync(out[k].data(), 0, out[k].count() * sizeof(unsigned),
                                     clock.stream));
            }
        }
        CALL(cudaStreamSynchronize(clock.stream));
    }

    // What was appended in any order; what stands behind it stays.
    void sort_kept(void *at, size_t &size)
    {
        CALL(cub::DeviceRadixSort::SortKeys(at, size, out[0].data(), rank.data(), data->kept, 0, 32,
                                            clock.stream));
    }

    void run()
    {
        if (way == "cub") {
            size_t size = space.count() * sizeof(unsigned);
            run_cub(space.data(), size);
        } else if (way == "memcpy") {
            CALL(cudaMemcpyAsync(out[0].data(), data->in[0].data(), n * sizeof(unsigned),
                                 cudaMemcpyDeviceToDevice, clock.stream));
        } else if (way == "plain") {
            run_plain();
        } else if (way == "wide") {
            run_wide();
        } else if (way == "block" && id == BENCH_KERNEL_APPEND) {
            const uint4 *x = reinterpret_cast<const uint4 *>(data->in[0].data());
            append_block<<<blocks_of((n / 4 + append_fours - 1) / append_fours), group_size, 0,
                           clock.stream>>>(x, out[0].data(), out[1].data(), n / 4);
        } else {
            throw std::runtime_error("no way " + way + " of kernel");
        }
    }

    unsigned sort_blocks() const
    {
        return (n + group_size * sort_tiles - 1) / (group_size * sort_tiles);
    }

    void sort_round(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                    unsigned *values_out, unsigned shift)
    {
        unsigned blocks = sort_blocks();
        unsigned *counts = sums.data(), *totals = rank.data();
        cudaStream_t s = clock.stream;
        sort_count<<<blocks, group_size, 0, s>>>(keys, counts, n, shift);
        sort_sum<<<256, group_size, 0, s>>>(counts, totals, blocks);
        sort_scatter<<<blocks, group_size, 0, s>>>(keys, values, keys_out, values_out, counts,
                                                   totals, n, shift);
    }

    void sort()
    {
        unsigned *to[2] = {out[0].data(), out[1].data()};
        unsigned *between[2] = {space.data(), space.data() + n};
        sort_round(data->in[0].data(), data->in[1].data(), between[0], between[1], 0);
        sort_round(between[0], between[1], to[0], to[1], 8);
        sort_round(to[0], to[1], between[0], between[1], 16);
        sort_round(between[0], between[1], to[0], to[1], 24);
    }

    void run_plain()
    {
        const unsigned *x = data->in[0].data();
        unsigned *y = out[0].data(), blocks = blocks_of(n);
        cudaStream_t s = clock.stream;
        switch (id) {
        case BENCH_KERNEL_COPY:
            copy_plain<<<blocks, group_size, 0, s>>>(x, y, n);
            break;
        case BENCH_KERNEL_MAP:
            map_plain<<<blocks, group_size, 0, s>>>(x, y, n);
            break;
        case BENCH_KERNEL_SUM:
            sum_plain<~0u><<<BENCH_SUM_GROUPS, group_size, 0, s>>>(x, y, n);
            break;
        case BENCH_KERNEL_ODD:
            sum_plain<1><<<BENCH_SUM_GROUPS, group_size, 0, s>>>(x, y, n);
            break;
        case BENCH_KERNEL_HISTOGRAM:
            histogram_plain<<<blocks, group_size, 0, s>>>(x, y, n);
            break;
        case BENCH_KERNEL_SCAN:
            scan_blocks<<<blocks, group_size, 0, s>>>(x, y, sums.data(), n);
            scan_sums(sums.data(), blocks, s);
            add_before<<<blocks, group_size, 0, s>>>(y, sums.data(), n);
            break;
        case BENCH_KERNEL_COMPACT:
            rank_odd<<<blocks, group_size, 0, s>>>(x, rank.data(), sums.data(), n);
            scan_sums(sums.data(), blocks, s);
            place_odd<<<blocks, group_size, 0, s>>>(x, rank.data(), sums.data(), y, kept.data(), n);
            break;
        case BENCH_KERNEL_APPEND:
            append_plain<<<blocks, group_size, 0, s>>>(x, y, out[1].data(), n);
            break;
        case BENCH_KERNEL_SORT:
            sort();
            break;
        case BENCH_KERNEL_PRODUCTS:
        case BENCH_KERNEL_PRODUCTS_BAND:
            products_plain<<<blocks, group_size, 0, s>>>(x, data->in[1].floats(),
                                                         data->in[2].floats(), out[0].floats(), n);
            break;
        case BENCH_KERNEL_SPMV:
        case BENCH_KERNEL_SPMV_BAND:
            spmv_plain<<<blocks_of(data->rows), group_size, 0, s>>>(
                x, data->in[1].data(), data->in[2].floats(), data->in[3].floats(), out[0].floats(),
                data->rows);
            break;
        case BENCH_KERNEL_MATMUL:
            matmul_plain<<<dim3(n / 16, n / 16), group_size, 0, s>>>(
                data->in[0].floats(), data->in[1].floats(), out[0].floats(), n);
            break;
        default:
            throw std::runtime_error("no plain way of this kernel");
        }
    }

    void run_wide()
    {
        const uint4 *x = reinterpret_cast<const uint4 *>(data->in[0].data());
        uint4 *y = reinterpret_cast<uint4 *>(out[0].data());
        unsigned blocks = blocks_of(n / 4);
        cudaStream_t s = clock.stream;
        switch (id) {
        case BENCH_KERNEL_COPY:
            copy_wide<<<blocks, group_size, 0, s>>>(x, y, n / 4);
            break;
        case BENCH_KERNEL_MAP:
            map_wide<<<blocks, group_size, 0, s>>>(x, y, n / 4);
            break;
        case BENCH_KERNEL_SUM:
            sum_wide<~0u><<<BENCH_SUM_GROUPS, group_size, 0, s>>>(x, out[0].data(), n / 4);
            break;
        case BENCH_KERNEL_ODD:
            sum_wide<1><<<BENCH_SUM_GROUPS, group_size, 0, s>>>(x, out[0].data(), n / 4);
            break;
        case BENCH_KERNEL_HISTOGRAM:
            histogram_wide<<<BENCH_SUM_GROUPS, group_size, 0, s>>>(x, out[0].data(), n / 4);
            break;
        case BENCH_KERNEL_SCAN:
            scan_blocks_wide<<<blocks, group_size, 0, s>>>(x, y, sums.data(), n / 4);
            scan_sums(sums.data(), blocks, s);
            add_before_wide<<<blocks, group_size, 0, s>>>(y, sums.data(), n / 4);
            break;
        case BENCH_KERNEL_APPEND:
            append_wide<<<blocks, group_size, 0, s>>>(x, out[0].data(), out[1].data(), n / 4);
            break;
        case BENCH_KERNEL_PRODUCTS:
        case BENCH_KERNEL_PRODUCTS_BAND:
            products_wide<<<blocks, group_size, 0, s>>>(
                x, reinterpret_cast<const float4 *>(data->in[1].data()), data->in[2].floats(),
                reinterpret_cast<float4 *>(y), n / 4);
            break;
        case BENCH_KERNEL_SPMV:
        case BENCH_KERNEL_SPMV_BAND:
            spmv_wide<<<blocks_of(data->rows * 16), group_size, 0, s>>>(
                data->in[0].data(), data->in[1].data(), data->in[2].floats(), data->in[3].floats(),
                out[0].floats(), data->rows);
            break;
        case BENCH_KERNEL_MATMUL:
            matmul_wide<<<dim3(n / 64, n / 64), group_size, 0, s>>>(
                data->in[0].floats(), data->in[1].floats(), out[0].floats(), n);
            break;
        default:
            throw std::runtime_error("no wide way of this kernel");
        }
    }

    // The low bytes are the first of four channels.
    void run_cub_histogram(void *at, size_t &size)
    {
        cuda::std::array<unsigned *, 1> bins = {out[0].data()};
        cuda::std::array<int, 1> levels = {BENCH_BINS + 1}, lower = {0}, upper = {BENCH_BINS};
        CALL((cub::DeviceHistogram::MultiHistogramEven<4, 1>(
            at, size, reinterpret_cast<const unsigned char *>(data->in[0].data()), bins, levels,
            lower, upper, int(n), clock.stream)));
    }

    // Without `at` it only says how much space it needs.
    void run_cub(void *at, size_t &size)
    {
        const unsigned *x = data->in[0].data();
        unsigned *y = out[0].data();
        cudaStream_t s = clock.stream;
        switch (id) {
        case BENCH_KERNEL_SUM:
            CALL(cub::DeviceReduce::Sum(at, size, x, y, n, s));
            break;
        case BENCH_KERNEL_ODD:
            CALL(cub::DeviceReduce::TransformReduce(at, size, x, y, n, cuda::std::plus<>{},
                                                    is_odd{}, 0u, s));
            break;
        case BENCH_KERNEL_HISTOGRAM:
            run_cub_histogram(at, size);
            break;
        case BENCH_KERNEL_SCAN:
            CALL(cub::DeviceScan::InclusiveSum(at, size, x, y, n, s));
            break;
        case BENCH_KERNEL_COMPACT:
            CALL(cub::DeviceSelect::If(at, size, x, y, kept.data(), n, keeps_odd{}, s));
            break;
        case BENCH_KERNEL_SORT:
            CALL(cub::DeviceRadixSort::SortPairs(at, size, x, y, data->in[1].data(), out[1].data(),
                                                 n, 0, 32, s));
            break;
        default:
            throw std::runtime_error("no way of CUB for this kernel");
        }
    }
};

} // namespace

std::unique_ptr<peer> make_kernel(const question &q)
{
    return std::unique_ptr<peer>(new kernel_peer(q));
}
