// What the files of vyre-bench-cuda share: questions, and the peers that answer them.
#ifndef VY_BENCH_PEERS_CUDA_CUH
#define VY_BENCH_PEERS_CUDA_CUH

#include <cuda_runtime.h>

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr unsigned group_size = 256;

inline double now_us()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}

inline void check(cudaError_t code, const char *call)
{
    if (code != cudaSuccess) {
        throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
    }
}

#define CALL(...) check(__VA_ARGS__, #__VA_ARGS__)

struct question {
    std::string what, way;
    std::map<std::string, unsigned long long> sizes;

    explicit question(const std::string &line)
    {
        size_t at = 0, word = 0;
        while (at < line.size()) {
            size_t end = line.find(' ', at);
            end = end == std::string::npos ? line.size() : end;
            std::string text = line.substr(at, end - at);
            size_t equals = text.find('=');
            if (equals != std::string::npos) {
                sizes[text.substr(0, equals)] = std::stoull(text.substr(equals + 1));
            } else if (!text.empty()) {
                (word++ ? way : what) = text;
            }
            at = end + 1;
        }
    }
    unsigned long long size(const char *name, unsigned long long otherwise = 0) const
    {
        auto found = sizes.find(name);
        return found == sizes.end() ? otherwise : found->second;
    }
};

struct peer {
    unsigned long long compared = 0, wrong = 0;
    virtual ~peer()
    {
    }
    virtual double sample() = 0;
    // What all samples so far must have left.
    virtual void look()
    {
    }
};

// Memory of the device; words.
class device_words {
  public:
    device_words() = default;
    device_words(const device_words &) = delete;
    device_words &operator=(const device_words &) = delete;
    ~device_words()
    {
        cudaFree(words);
    }
    void allocate(size_t count)
    {
        size = count;
        CALL(cudaMalloc(&words, (count ? count : 1) * sizeof *words));
        CALL(cudaMemset(words, 0, (count ? count : 1) * sizeof *words));
    }
    void upload(const std::vector<unsigned> &from)
    {
        if (!words) {
            allocate(from.size());
        }
        CALL(cudaMemcpy(words, from.data(), from.size() * sizeof *words, cudaMemcpyHostToDevice));
    }
    std::vector<unsigned> download() const
    {
        std::vector<unsigned> now(size);
        CALL(cudaMemcpy(now.data(), words, size * sizeof *words, cudaMemcpyDeviceToHost));
        return now;
    }
    unsigned *data() const
    {
        return words;
    }
    float *floats() const
    {
        return reinterpret_cast<float *>(words);
    }
    size_t count() const
    {
        return size;
    }

  private:
    unsigned *words = nullptr;
    size_t size = 0;
};

// A stream and two events on it.
class device_clock {
  public:
    device_clock()
    {
        CALL(cudaStreamCreate(&stream));
        CALL(cudaEventCreate(&before));
        CALL(cudaEventCreate(&after));
    }
    ~device_clock()
    {
        cudaEventDestroy(after);
        cudaEventDestroy(before);
        cudaStreamDestroy(stream);
    }
    void start()
    {
        CALL(cudaEventRecord(before, stream));
    }
    double stop_us()
    {
        float ms;
        CALL(cudaEventRecord(after, stream));
        CALL(cudaStreamSynchronize(stream));
        CALL(cudaEventElapsedTime(&ms, before, after));
        return ms * 1e3;
    }
    cudaStream_t stream = nullptr;

  private:
    cudaEvent_t before = nullptr, after = nullptr;
};

std::unique_ptr<peer> make_kernel(const question &q);   // kernels.cu
std::unique_ptr<peer> make_fixpoint(const question &q); // fixpoint.cu

#endif
