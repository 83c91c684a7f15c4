// The fixpoints of group fixpoint in CUDA: by the host, by a graph, within one launch.
#include "cuda.cuh"
#include "graphs.h"

#include <cooperative_groups.h>

namespace {

namespace cg = cooperative_groups;

// ---- Until a pass changes nothing ---------------------------------------------------------------

// Pass k of the step; the flag stays as it is in the last one.
__device__ void step_pass(unsigned *x, unsigned n, unsigned pass, unsigned last, unsigned *changed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = x[i] * 3 + 1;
    }
    if (i == 0 && pass + 1 < last) {
        *changed = 1;
    }
}

__global__ void step_once(unsigned *x, unsigned n, unsigned pass, unsigned last, unsigned *changed)
{
    step_pass(x, n, pass, last, changed);
}

// The body of a WHILE node: the pass lies in memory.
__global__ void step_while(unsigned *x, unsigned n, unsigned *pass, unsigned last,
                           cudaGraphConditionalHandle handle)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = x[i] * 3 + 1;
    }
    if (i == 0) {
        unsigned next = *pass + 1;
        *pass = next;
        cudaGraphSetConditional(handle, next < last);
    }
}

// flags: of three passes, so that one can be cleared while the others are set and read.
__global__ void step_sync(unsigned *x, unsigned n, unsigned last, unsigned *flags)
{
    cg::grid_group grid = cg::this_grid();
    for (unsigned pass = 0;; pass++) {
        if (grid.thread_rank() == 0) {
            flags[(pass + 1) % 3] = 0;
        }
        step_pass(x, n, pass, last, &flags[pass % 3]);
        grid.sync();
        if (*(volatile unsigned *)&flags[pass % 3] == 0) {
            return;
        }
    }
}

__global__ void step_block(unsigned *x, unsigned n, unsigned last)
{
    __shared__ unsigned changed;
    for (unsigned pass = 0;; pass++) {
        if (threadIdx.x == 0) {
            changed = 0;
        }
        __syncthreads();
        step_pass(x, n, pass, last, &changed);
        __syncthreads();
        bool again = changed != 0;
        __syncthreads();
        if (!again) {
            return;
        }
    }
}

class until_peer : public peer {
  public:
    explicit until_peer(const question &q)
        : way(q.way), groups(unsigned(q.size("groups", 1))), last(unsigned(q.size("passes", 1))),
          n(groups * group_size)
    {
        std::vector<unsigned> start(n);
        for (unsigned i = 0; i < n; i++) {
            start[i] = i;
        }
        x.upload(start);
        flags.allocate(4);
        CALL(cudaMallocHost(&found, sizeof *found));
        if (way == "while") {
            build();
        } else if (way != "host" && way != "sync" && way != "block") {
            throw std::runtime_error("no way " + way + " of until");
        }
    }
    ~until_peer() override
    {
        if (instance) {
            cudaGraphExecDestroy(instance);
        }
        if (graph) {
            cudaGraphDestroy(graph);
        }
        cudaFreeHost(found);
    }

    double sample() override
    {
        cudaStream_t s = clock.stream;
        double start = now_us();
        if (way == "host" || way == "host4") {
            run_by_host();
        } else if (way == "while") {
            CALL(cudaGraphLaunch(instance, s));
        } else if (way == "block") {
            step_block<<<1, group_size, 0, s>>>(x.data(), n, last);
            CALL(cudaGetLastError());
        } else {
            unsigned *words = x.data(), *of_passes = flags.data();
            void *arguments[] = {&words, &n, &last, &of_passes};
            CALL(cudaMemsetAsync(of_passes, 0, 3 * sizeof *of_passes, s));
            CALL(cudaLaunchCooperativeKernel((const void *)step_sync, dim3(groups),
                                             dim3(group_size), arguments, 0, s));
        }
        CALL(cudaStreamSynchronize(s));
        runs++;
        return now_us() - start;
    }

    // n steps are one: x = factor x + term.
    void look() override
    {
        unsigned factor = 1, term = 0, power = 3, sum = 1;
        for (unsigned long long k = runs * last; k; k >>= 1) {
            if (k & 1) {
                term = term * power + sum;
                factor *= power;
            }
            sum = sum * power + sum;
            power *= power;
        }
        std::vector<unsigned> now = x.download();
        compared += n;
        for (unsigned i = 0; i < n; i++) {
            wrong += now[i] != factor * i + term;
        }
    }

  private:
    std::string way;
    unsigned groups, last, n;
    unsigned long long runs = 0;
    device_words x, flags;
    unsigned *found = nullptr;
    device_clock clock;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t instance = nullptr;

    void run_by_host()
    {
        cudaStream_t s = clock.stream;
        *found = 1;
        for (unsigned pass = 0; *found; pass++) {
            CALL(cudaMemsetAsync(flags.data(), 0, sizeof *found, s));
            step_once<<<groups, group_size, 0, s>>>(x.data(), n, pass, last, flags.data());
            CALL(cudaMemcpyAsync(found, flags.data(), sizeof *found, cudaMemcpyDeviceToHost, s));
            CALL(cudaStreamSynchronize(s));
        }
    }

    // The number of the pass is cleared, then the WHILE node runs its body while it is below `last`.
    void build()
    {
        cudaGraphConditionalHandle handle;
        cudaGraphNode_t clear, loop, body;
        CALL(cudaGraphCreate(&graph, 0));
        CALL(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
        cudaMemsetParams zero = {};
        zero.dst = flags.data();
        zero.elementSize = sizeof(unsigned);
        zero.width = 1;
        zero.height = 1;
        CALL(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
        cudaGraphNodeParams node = {};
        node.type = cudaGraphNodeTypeConditional;
        node.conditional.handle = handle;
        node.conditional.type = cudaGraphCondTypeWhile;
        node.conditional.size = 1;
        CALL(cudaGraphAddNode(&loop, graph, &clear, nullptr, 1, &node));
        unsigned *words = x.data(), *pass = flags.data();
        void *arguments[] = {&words, &n, &pass, &last, &handle};
        cudaKernelNodeParams kernel = {};
        kernel.func = (void *)step_while;
        kernel.gridDim = dim3(groups);
        kernel.blockDim = dim3(group_size);
        kernel.kernelParams = arguments;
        CALL(cudaGraphAddKernelNode(&body, node.conditional.phGraph_out[0], nullptr, 0, &kernel));
        CALL(cudaGraphInstantiate(&instance, graph, 0));
        CALL(cudaGraphUpload(instance, clock.stream));
        CALL(cudaStreamSynchronize(clock.stream));
    }
};

// ---- Breadth-first search -----------------------------------------------------------------------

template <bool four>
__device__ void follow(const unsigned *__restrict__ row_start, const unsigned *__restrict__ column,
                       unsigned *level, unsigned v, unsigned depth, unsigned *changed)
{
    unsigned e = row_start[v], end = row_start[v + 1];
    // Four edges at once: their loads, and then their atomics, are on their way together.
    for (; four && e + 4 <= end; e += 4) {
        unsigned w[4], old[4];
        for (int i = 0; i < 4; i++) {
            w[i] = column[e + i];
        }
        for (int i = 0; i < 4; i++) {
            old[i] = atomicMin(&level[w[i]], depth + 1);
        }
        if (max(max(old[0], old[1]), max(old[2], old[3])) > depth + 1) {
            *changed = 1;
        }
    }
    for (; e < end; e++) {
        if (atomicMin(&level[column[e]], depth + 1) > depth + 1) {
            *changed = 1;
        }
    }
}

template <bool four>
__global__ void search_once(const unsigned *__restrict__ row_start,
                            const unsigned *__restrict__ column, unsigned *level, unsigned n,
                            unsigned depth, unsigned *changed)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] == depth) {
        follow<four>(row_start, column, level, v, depth, changed);
    }
}

template <bool four>
__global__ void search_sync(const unsigned *__restrict__ row_start,
                            const unsigned *__restrict__ column, unsigned *level, unsigned n,
                            unsigned *flags)
{
    cg::grid_group grid = cg::this_grid();
    for (unsigned depth = 0;; depth++) {
        if (grid.thread_rank() == 0) {
            flags[(depth + 1) % 3] = 0;
        }
        for (unsigned v = grid.thread_rank(); v < n; v += grid.size()) {
            if (*(volatile unsigned *)&level[v] == depth) {
                follow<four>(row_start, column, level, v, depth, &flags[depth % 3]);
            }
        }
        grid.sync();
        if (*(volatile unsigned *)&flags[depth % 3] == 0) {
            return;
        }
    }
}

// queue: two halves of n words; lengths: of three levels.
__global__ void search_queue(const unsigned *__restrict__ row_start,
                             const unsigned *__restrict__ column, unsigned *level, unsigned n,
                             unsigned *queue, unsigned *lengths)
{
    cg::grid_group grid = cg::this_grid();
    if (grid.thread_rank() == 0) {
        queue[0] = 0;
        lengths[0] = 1;
    }
    grid.sync();
    for (unsigned depth = 0;; depth++) {
        volatile unsigned *mine = queue + size_t(depth % 2) * n;
        unsigned *next = queue + size_t(1 - depth % 2) * n;
        unsigned length = *(volatile unsigned *)&lengths[depth % 3];
        if (length == 0) {
            return;
        }
        if (grid.thread_rank() == 0) {
            lengths[(depth + 2) % 3] = 0;
        }
        for (unsigned i = grid.thread_rank(); i < length; i += grid.size()) {
            unsigned v = mine[i];
            for (unsigned e = row_start[v]; e < row_start[v + 1]; e++) {
                unsigned w = column[e];
                if (atomicCAS(&level[w], BENCH_UNREACHED, depth + 1) == BENCH_UNREACHED) {
                    next[atomicAdd(&lengths[(depth + 1) % 3], 1)] = w;
                }
            }
        }
        grid.sync();
    }
}

// A graph and what must come out; made once for a case.
struct graph_data {
    unsigned kind, n;
    device_words row_start, column, start, wanted;

    graph_data(unsigned kind, unsigned n) : kind(kind), n(n)
    {
        unsigned side = bench_graph_side(n);
        std::vector<unsigned> rows(n + 1), columns, levels(n, BENCH_UNREACHED), queue(1, 0);
        for (unsigned v = 0; v < n; v++) {
            unsigned degree = bench_graph_degree(kind, v, n, side);
            for (unsigned k = 0; k < degree; k++) {
                columns.push_back(bench_graph_target(kind, v, k, n, side));
            }
            rows[v + 1] = unsigned(columns.size());
        }
        row_start.upload(rows);
        column.upload(columns);
        levels[0] = 0;
        start.upload(levels);
        for (size_t head = 0; head < queue.size(); head++) {
            unsigned v = queue[head];
            for (unsigned e = rows[v]; e < rows[v + 1]; e++) {
                if (levels[columns[e]] == BENCH_UNREACHED) {
                    levels[columns[e]] = levels[v] + 1;
                    queue.push_back(columns[e]);
                }
            }
        }
        wanted.upload(levels);
    }
};

std::shared_ptr<graph_data> get_graph(unsigned kind, unsigned n)
{
    static std::weak_ptr<graph_data> kept;
    std::shared_ptr<graph_data> data = kept.lock();
    if (!data || data->kind != kind || data->n != n) {
        data = std::make_shared<graph_data>(kind, n);
        kept = data;
    }
    return data;
}

class search_peer : public peer {
  public:
    explicit search_peer(const question &q)
        : way(q.way), n(unsigned(q.size("count", 1))), blocks((n + group_size - 1) / group_size),
          graph(get_graph(unsigned(q.size("graph")), n))
    {
        level.allocate(n);
        flags.allocate(4);
        CALL(cudaMallocHost(&found, sizeof *found));
        if (way == "sync" || way == "sync4" || way == "queue") {
            resident_blocks();
            queue.allocate(way == "queue" ? 2 * size_t(n) : 1);
        } else if (way != "host" && way != "host4") {
            throw std::runtime_error("no way " + way + " of bfs");
        }
    }
    ~search_peer() override
    {
        cudaFreeHost(found);
    }

    double sample() override
    {
        cudaStream_t s = clock.stream;
        CALL(cudaMemcpyAsync(level.data(), graph->start.data(), n * sizeof(unsigned),
                             cudaMemcpyDeviceToDevice, s));
        CALL(cudaStreamSynchronize(s));
        double start = now_us();
        if (way == "host" || way == "host4") {
            run_by_host();
        } else {
            unsigned *rows = graph->row_start.data(), *columns = graph->column.data();
            unsigned *levels = level.data(), *words = flags.data(), *places = queue.data();
            void *of_sync[] = {&rows, &columns, &levels, &n, &words};
            void *of_queue[] = {&rows, &columns, &levels, &n, &places, &words};
            CALL(cudaMemsetAsync(words, 0, 3 * sizeof *words, s));
            CALL(cudaLaunchCooperativeKernel(kernel(), dim3(blocks), dim3(group_size),
                                             way == "queue" ? of_queue : of_sync, 0, s));
        }
        CALL(cudaStreamSynchronize(s));
        return now_us() - start;
    }

    void look() override
    {
        std::vector<unsigned> now = level.download(), wanted = graph->wanted.download();
        compared += n;
        for (unsigned v = 0; v < n; v++) {
            wrong += now[v] != wanted[v];
        }
    }

  private:
    std::string way;
    unsigned n, blocks;
    std::shared_ptr<graph_data> graph;
    device_words level, flags, queue;
    unsigned *found = nullptr;
    device_clock clock;

    const void *kernel() const
    {
        return way == "queue"   ? (const void *)search_queue
               : way == "sync4" ? (const void *)search_sync<true>
                                : (const void *)search_sync<false>;
    }

    // As many as the device holds at once, and not more than there is work for.
    void resident_blocks()
    {
        int device, processors, each;
        CALL(cudaGetDevice(&device));
        CALL(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel(), int(group_size), 0));
        unsigned most = unsigned(processors * each);
        blocks = blocks < most ? blocks : most;
    }

    void run_by_host()
    {
        cudaStream_t s = clock.stream;
        *found = 1;
        for (unsigned depth = 0; *found; depth++) {
            CALL(cudaMemsetAsync(flags.data(), 0, sizeof *found, s));
            auto pass = way == "host4" ? search_once<true> : search_once<false>;
            pass<<<blocks, group_size, 0, s>>>(graph->row_start.data(), graph->column.data(),
                                               level.data(), n, depth, flags.data());
            CALL(cudaMemcpyAsync(found, flags.data(), sizeof *found, cudaMemcpyDeviceToHost, s));
            CALL(cudaStreamSynchronize(s));
        }
    }
};

} // namespace

std::unique_ptr<peer> make_fixpoint(const question &q)
{
    if (q.what == "bfs") {
        return std::unique_ptr<peer>(new search_peer(q));
    }
    return std::unique_ptr<peer>(new until_peer(q));
}
