// vyre-bench-cuda: the CUDA peers of vyre-bench, as CUDA's own guide would have them. Answers each
// line of its input by one line of JSON:
//     launch|result|submit|empty|step  stream|graph|cooperative  groups=N [steps=N] samples=N
//     reads  blocking|async  count=N samples=N
//     copy   upload|download  pinned=0|1 size=N samples=N
//     items  launches|chain|graph|update|queue|mapped|host  mixed=0|1 count=N samples=N
//     kernel plain|wide|cub|memcpy  id=N count=N samples=N
//     until  host|while|sync|block  groups=N passes=N samples=N
//     bfs    host|sync|queue  graph=N count=N samples=N
// "samples" are microseconds, for `step` and `kernel` on the device, and of a step for `step`;
// "compared" and "wrong" count what was checked since the question was first asked. The first line
// tells device and versions, or the error.
//     vyre-bench-cuda [DEVICE NAME]
#include "cuda.cuh"
#include "items.h"

#include <cooperative_groups.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

// ---- Kernels ------------------------------------------------------------------------------------

__global__ void step_once(unsigned *x, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        x[i] = x[i] * 3 + 1;
    }
}

__global__ void step_many(unsigned *x, unsigned count, unsigned steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < steps; k++) {
        if (i < count) {
            x[i] = x[i] * 3 + 1;
        }
        grid.sync();
    }
}

__global__ void do_nothing()
{
}

// One item by a launch of its own.
template <unsigned opcode>
__global__ void run_item(unsigned *data, unsigned input, unsigned output, unsigned param)
{
    data[output] = bench_item_value(data, opcode, input, param);
}

typedef void (*item_kernel)(unsigned *, unsigned, unsigned, unsigned);
const item_kernel item_kernels[BENCH_OPCODES] = {run_item<8>,  run_item<9>,  run_item<10>,
                                                 run_item<11>, run_item<12>, run_item<13>,
                                                 run_item<14>, run_item<15>};

// All items by one launch.
__global__ void run_queue(unsigned *data, const uint4 *items, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        uint4 item = items[i]; // opcode, input, output, param
        data[item.z] = bench_item_value(data, item.x, item.y, item.w);
    }
}

// ---- Steps --------------------------------------------------------------------------------------

class chain : public peer {
  public:
    explicit chain(const question &q)
        : what(q.what), way(q.way), groups(unsigned(q.size("groups", 1))),
          steps(q.what == "empty" ? 0 : unsigned(q.size("steps", 1))), count(groups * group_size)
    {
        std::vector<unsigned> start(count);
        for (unsigned i = 0; i < count; i++) {
            start[i] = i;
        }
        CALL(cudaStreamCreate(&stream));
        CALL(cudaEventCreate(&before));
        CALL(cudaEventCreate(&after));
        CALL(cudaMalloc(&x, count * sizeof *x));
        CALL(cudaMemcpy(x, start.data(), count * sizeof *x, cudaMemcpyHostToDevice));
        CALL(cudaMallocHost(&first, 16));
        if (way == "graph") {
            capture();
        } else if (way != "stream" && way != "cooperative") {
            throw std::runtime_error("no way " + way + " of " + what);
        }
    }
    ~chain() override
    {
        if (instance) {
            cudaGraphExecDestroy(instance);
            cudaGraphDestroy(graph);
        }
        cudaFreeHost(first);
        cudaFree(x);
        cudaEventDestroy(after);
        cudaEventDestroy(before);
        cudaStreamDestroy(stream);
    }

    double sample() override
    {
        if (what == "step") {
            return sample_step();
        }
        double start = now_us();
        submit();
        double us = now_us() - start;
        if (what == "result" && way != "graph") {
            CALL(cudaMemcpyAsync(first, x, 16, cudaMemcpyDeviceToHost, stream));
        }
        CALL(cudaStreamSynchronize(stream));
        us = what == "submit" ? us : now_us() - start;
        runs++;
        if (what == "result") {
            compare(first, 4);
        }
        return us;
    }

    void look() override
    {
        std::vector<unsigned> now(count);
        CALL(cudaMemcpy(now.data(), x, count * sizeof *x, cudaMemcpyDeviceToHost));
        if (steps) {
            compare(now.data(), count);
        }
    }

  private:
    std::string what, way;
    unsigned groups, steps, count;
    unsigned long long runs = 0;
    unsigned *x = nullptr, *first = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t before = nullptr, after = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t instance = nullptr;

    void enqueue()
    {
        if (steps == 0) {
            do_nothing<<<groups, 1, 0, stream>>>();
        }
        for (unsigned i = 0; i < steps; i++) {
            step_once<<<groups, group_size, 0, stream>>>(x, count);
        }
        CALL(cudaGetLastError());
    }

    void capture()
    {
        CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        enqueue();
        if (what == "result") {
            CALL(cudaMemcpyAsync(first, x, 16, cudaMemcpyDeviceToHost, stream));
        }
        CALL(cudaStreamEndCapture(stream, &graph));
        CALL(cudaGraphInstantiate(&instance, graph, 0));
        CALL(cudaGraphUpload(instance, stream));
        CALL(cudaStreamSynchronize(stream));
    }

    void submit()
    {
        if (way == "graph") {
            CALL(cudaGraphLaunch(instance, stream));
        } else if (way == "stream") {
            enqueue();
        } else if (steps == 0) {
            CALL(cudaLaunchCooperativeKernel((const void *)do_nothing, dim3(groups), dim3(1),
                                             nullptr, 0, stream));
        } else {
            void *arguments[] = {&x, &count, &steps};
            CALL(cudaLaunchCooperativeKernel((const void *)step_many, dim3(groups),
                                             dim3(group_size), arguments, 0, stream));
        }
    }

    double sample_step()
    {
        float ms;
        CALL(cudaEventRecord(before, stream));
        submit();
        CALL(cudaEventRecord(after, stream));
        CALL(cudaStreamSynchronize(stream));
        CALL(cudaEventElapsedTime(&ms, before, after));
        runs++;
        return ms * 1e3 / steps;
    }

    // n steps are one: x = factor x + term.
    void compare(const unsigned *found, unsigned length)
    {
        unsigned factor = 1, term = 0, power = 3, sum = 1;
        for (unsigned long long n = runs * steps; n; n >>= 1) {
            if (n & 1) {
                term = term * power + sum;
                factor *= power;
            }
            sum = sum * power + sum;
            power *= power;
        }
        compared += length;
        for (unsigned i = 0; i < length; i++) {
            wrong += found[i] != factor * i + term;
        }
    }
};

// ---- Copies -------------------------------------------------------------------------------------

class copies : public peer {
  public:
    explicit copies(const question &q)
        : uploads(q.way == "upload"), async(q.way == "async"), pinned(async || q.size("pinned")),
          count(q.what == "reads" ? q.size("count", 1) : 1),
          size(q.what == "reads" ? 16 : q.size("size", 16)), data(count * size)
    {
        CALL(cudaStreamCreate(&stream));
        CALL(cudaMalloc(&device, count * stride()));
        if (pinned) {
            CALL(cudaMallocHost(&host, data.size()));
        } else {
            pageable.resize(data.size());
            host = pageable.data();
        }
        for (size_t i = 0; i < data.size(); i++) {
            data[i] = (unsigned char)(i * 7 + i / 251);
        }
        for (size_t i = 0; i < count; i++) {
            CALL(cudaMemcpy(device + i * stride(), &data[i * size], size, cudaMemcpyHostToDevice));
        }
        std::memset(host, 0, data.size());
    }
    ~copies() override
    {
        if (pinned) {
            cudaFreeHost(host);
        }
        cudaFree(device);
        cudaStreamDestroy(stream);
    }

    double sample() override
    {
        size_t last = data.size() - 1;
        if (uploads) {
            data[0]++;
            std::memcpy(host, data.data(), data.size());
        } else {
            host[0] = (unsigned char)~data[0];
            host[last] = (unsigned char)~data[last];
        }
        double start = now_us();
        move();
        double us = now_us() - start;
        if (!uploads) {
            compared += 2;
            wrong += (host[0] != data[0]) + (host[last] != data[last]);
        }
        return us;
    }

    void look() override
    {
        std::vector<unsigned char> now(data.size());
        if (uploads) {
            CALL(cudaMemcpy(now.data(), device, data.size(), cudaMemcpyDeviceToHost));
        } else {
            std::memcpy(now.data(), host, data.size());
        }
        compared += now.size();
        for (size_t i = 0; i < now.size(); i++) {
            wrong += now[i] != data[i];
        }
    }

  private:
    bool uploads, async, pinned;
    size_t count, size;
    std::vector<unsigned char> data, pageable;
    unsigned char *host = nullptr, *device = nullptr;
    cudaStream_t stream = nullptr;

    size_t stride() const
    {
        return count == 1 ? size : (size + 255) / 256 * 256;
    }

    void move()
    {
        for (size_t i = 0; i < count; i++) {
            unsigned char *far = device + i * stride(), *near = host + i * size;
            if (uploads) {
                CALL(cudaMemcpy(far, near, size, cudaMemcpyHostToDevice));
            } else if (async) {
                CALL(cudaMemcpyAsync(near, far, size, cudaMemcpyDeviceToHost, stream));
            } else {
                CALL(cudaMemcpy(near, far, size, cudaMemcpyDeviceToHost));
            }
        }
        if (async) {
            CALL(cudaStreamSynchronize(stream));
        }
    }
};

// ---- Work items ---------------------------------------------------------------------------------

class work_items : public peer {
  public:
    explicit work_items(const question &q)
        : way(q.way), count(unsigned(q.size("count", 1))), items(count),
          words(BENCH_SOURCES + count)
    {
        for (unsigned i = 0; i < count; i++) {
            items[i] = bench_item_at(i, q.size("mixed") ? 1 : 0);
        }
        for (unsigned k = 0; k < BENCH_SOURCES; k++) {
            words[k] = bench_item_source(k);
        }
        CALL(cudaStreamCreate(&stream));
        CALL(cudaMalloc(&data, words.size() * sizeof(unsigned)));
        CALL(cudaMemcpy(data, words.data(), words.size() * sizeof(unsigned),
                        cudaMemcpyHostToDevice));
        CALL(cudaMalloc(&queue, count * sizeof(bench_item)));
        CALL(cudaMallocHost(&pinned, count * sizeof(bench_item)));
        std::memcpy(pinned, items.data(), count * sizeof(bench_item));
        if (way == "chain" || way == "graph" || way == "update") {
            build(way != "graph");
        } else if (way != "launches" && way != "queue" && way != "mapped" &&
                   way != "host") {
            throw std::runtime_error("no way " + way + " of items");
        }
        clear();
    }
    ~work_items() override
    {
        if (instance) {
            cudaGraphExecDestroy(instance);
        }
        if (graph) {
            cudaGraphDestroy(graph);
        }
        cudaFreeHost(pinned);
        cudaFree(queue);
        cudaFree(data);
        cudaStreamDestroy(stream);
    }

    double sample() override
    {
        double start = now_us();
        submit();
        CALL(cudaStreamSynchronize(stream));
        return now_us() - start;
    }

    // All samples since the last look left the same.
    void look() override
    {
        std::vector<unsigned> now(count);
        CALL(cudaMemcpy(now.data(), data + BENCH_SOURCES, count * sizeof(unsigned),
                        cudaMemcpyDeviceToHost));
        compared += count;
        for (unsigned i = 0; i < count; i++) {
            const bench_item &item = items[i];
            wrong += now[i] != bench_item_value(words.data(), item.opcode, item.input, item.param);
        }
        clear();
    }

  private:
    std::string way;
    unsigned count;
    std::vector<bench_item> items;
    std::vector<unsigned> words; // of the sources
    std::vector<cudaGraphNode_t> nodes;
    unsigned *data = nullptr;
    bench_item *queue = nullptr, *pinned = nullptr;
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t instance = nullptr;

    void clear()
    {
        CALL(cudaMemset(data + BENCH_SOURCES, 0, count * sizeof(unsigned)));
        CALL(cudaDeviceSynchronize());
    }

    // What a node's parameters point to is read during the call that takes them.
    struct node_parameters {
        void *arguments[4];
        cudaKernelNodeParams node = {};

        node_parameters(unsigned **data, bench_item *item)
            : arguments{data, &item->input, &item->output, &item->param}
        {
            node.func = (void *)item_kernels[item->opcode - BENCH_FIRST_OPCODE];
            node.gridDim = dim3(1);
            node.blockDim = dim3(1);
            node.kernelParams = arguments;
        }
    };

    void build(bool is_chain)
    {
        nodes.resize(count);
        CALL(cudaGraphCreate(&graph, 0));
        for (unsigned i = 0; i < count; i++) {
            node_parameters p(&data, &items[i]);
            bool follows = is_chain && i > 0;
            CALL(cudaGraphAddKernelNode(&nodes[i], graph, follows ? &nodes[i - 1] : nullptr,
                                        follows ? 1 : 0, &p.node));
        }
        CALL(cudaGraphInstantiate(&instance, graph, 0));
        CALL(cudaGraphUpload(instance, stream));
        CALL(cudaStreamSynchronize(stream));
    }

    void submit()
    {
        if (way == "launches") {
            for (const bench_item &item : items) {
                item_kernels[item.opcode - BENCH_FIRST_OPCODE]<<<1, 1, 0, stream>>>(
                    data, item.input, item.output, item.param);
            }
            CALL(cudaGetLastError());
        } else if (way == "queue" || way == "mapped" || way == "host") {
            const bench_item *from = pinned;
            if (way == "host") {
                std::memcpy(pinned, items.data(), count * sizeof(bench_item));
            }
            if (way != "mapped") {
                CALL(cudaMemcpyAsync(queue, pinned, count * sizeof(bench_item),
                                     cudaMemcpyHostToDevice, stream));
                from = queue;
            }
            run_queue<<<(count + group_size - 1) / group_size, group_size, 0, stream>>>(
                data, reinterpret_cast<const uint4 *>(from), count);
            CALL(cudaGetLastError());
        } else {
            for (unsigned i = 0; way == "update" && i < count; i++) {
                node_parameters p(&data, &items[i]);
                CALL(cudaGraphExecKernelNodeSetParams(instance, nodes[i], &p.node));
            }
            CALL(cudaGraphLaunch(instance, stream));
        }
    }
};

// ---- Answers ------------------------------------------------------------------------------------

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        out += c == '"' || c == '\\' || (unsigned char)c < 0x20 ? '\'' : c;
    }
    return out + "\"";
}

void answer(const std::string &text)
{
    std::fputs((text + "\n").c_str(), stdout);
    std::fflush(stdout);
}

std::unique_ptr<peer> make_peer(const question &q)
{
    if (q.what == "reads" || q.what == "copy") {
        return std::unique_ptr<peer>(new copies(q));
    }
    if (q.what == "items") {
        return std::unique_ptr<peer>(new work_items(q));
    }
    if (q.what == "kernel") {
        return make_kernel(q);
    }
    if (q.what == "until" || q.what == "bfs") {
        return make_fixpoint(q);
    }
    for (const char *name : {"launch", "result", "submit", "empty", "step"}) {
        if (q.what == name) {
            return std::unique_ptr<peer>(new chain(q));
        }
    }
    throw std::runtime_error("no question " + q.what);
}

// A case's peers live while its series take turns, and go when another case begins.
class server {
  public:
    void ask(const std::string &line)
    {
        size_t at = line.find(" samples=");
        question q(line);
        std::string key = line.substr(0, at), of_case = q.what + " " + rest(q);
        if (of_case != current) {
            peers.clear();
            current = of_case;
        }
        std::unique_ptr<peer> &p = peers[key];
        if (!p) {
            p = make_peer(q);
        }
        std::string list;
        for (unsigned long long i = 0; i < q.size("samples", 1); i++) {
            char number[40];
            std::snprintf(number, sizeof number, "%s%.4f", i ? "," : "", p->sample());
            list += number;
        }
        p->look();
        answer("{\"samples\":[" + list + "],\"compared\":" + std::to_string(p->compared) +
               ",\"wrong\":" + std::to_string(p->wrong) + "}");
    }

  private:
    std::map<std::string, std::unique_ptr<peer>> peers;
    std::string current;

    static std::string rest(const question &q)
    {
        std::string text;
        for (const auto &size : q.sizes) {
            if (size.first != "samples" && size.first != "pinned") {
                text += size.first + "=" + std::to_string(size.second) + " ";
            }
        }
        return text;
    }
};

// Of the name that Vulkan has for it; any where none is given.
std::string open_device(const char *name)
{
    int count = 0, driver = 0, runtime = 0;
    CALL(cudaGetDeviceCount(&count));
    for (int i = 0; i < count; i++) {
        cudaDeviceProp properties;
        CALL(cudaGetDeviceProperties(&properties, i));
        if (!name || std::strcmp(properties.name, name) == 0) {
            CALL(cudaSetDevice(i));
            CALL(cudaFree(nullptr)); // makes the context
            CALL(cudaDriverGetVersion(&driver));
            CALL(cudaRuntimeGetVersion(&runtime));
            char version[80];
            std::snprintf(version, sizeof version, "CUDA %d.%d, driver for %d.%d", runtime / 1000,
                          runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
            return "{\"schema\":\"vyre.bench.cuda/1\",\"device\":" + quoted(properties.name) +
                   ",\"version\":" + quoted(version) + "}";
        }
    }
    throw std::runtime_error(std::string("no CUDA device is called ") + (name ? name : "anything"));
}

} // namespace

int main(int argument_count, char **arguments)
{
    char line[256];
    try {
        answer(open_device(argument_count > 1 ? arguments[1] : nullptr));
    } catch (const std::exception &error) {
        answer("{\"error\":" + quoted(error.what()) + "}");
        return 1;
    }
    server s;
    while (std::fgets(line, sizeof line, stdin)) {
        line[std::strcspn(line, "\r\n")] = 0;
        try {
            s.ask(line);
        } catch (const std::exception &error) {
            answer("{\"error\":" + quoted(error.what()) + "}");
        }
    }
    return 0;
}
