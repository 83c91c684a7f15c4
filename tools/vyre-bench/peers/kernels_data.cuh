// What the CUDA kernels of a case read and must leave.
#ifndef VY_BENCH_PEERS_KERNELS_DATA_CUH
#define VY_BENCH_PEERS_KERNELS_DATA_CUH

#include "cuda.cuh"
#include "kernels.h"

#include <algorithm>
#include <cstring>

inline unsigned bits_of(float value)
{
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Inputs and what must come out, on the device; made once for a case.
struct kernel_data {
    unsigned id, count, rows = 0, kept = 0;
    device_words in[4], wanted[2];

    kernel_data(unsigned id, unsigned count) : id(id), count(count)
    {
        if (bench_kernel_is_spmv(id)) {
            make_spmv();
        } else if (bench_kernel_is_products(id)) {
            make_products();
        } else if (id == BENCH_KERNEL_APPEND) {
            make_append();
        } else if (id == BENCH_KERNEL_MATMUL) {
            make_matmul();
        } else {
            make_words();
        }
    }

  private:
    // The order by 16 bits of the keys; equal ones keep theirs.
    static std::vector<unsigned> placed(const std::vector<unsigned> &keys, unsigned shift,
                                        const std::vector<unsigned> &order)
    {
        std::vector<unsigned> place(65537), sorted(order.size());
        for (unsigned key : keys) {
            place[(key >> shift & 65535) + 1]++;
        }
        for (unsigned k = 0; k < 65536; k++) {
            place[k + 1] += place[k];
        }
        for (unsigned of : order) {
            sorted[place[keys[of] >> shift & 65535]++] = of;
        }
        return sorted;
    }

    void make_words()
    {
        std::vector<unsigned> x(count), y(id == BENCH_KERNEL_HISTOGRAM ? BENCH_BINS : count);
        unsigned sum = 0, kept = 0;
        for (unsigned i = 0; i < count; i++) {
            x[i] = bench_kernel_word(i);
            sum += id == BENCH_KERNEL_ODD ? x[i] & 1 : x[i];
            switch (id) {
            case BENCH_KERNEL_COPY:
                y[i] = x[i];
                break;
            case BENCH_KERNEL_MAP:
                y[i] = x[i] * 3 + 1;
                break;
            case BENCH_KERNEL_HISTOGRAM:
                y[x[i] & 255]++;
                break;
            case BENCH_KERNEL_COMPACT:
                if (x[i] & 1) {
                    y[kept++] = x[i];
                }
                break;
            case BENCH_KERNEL_SORT:
                y[i] = i;
                break;
            default:
                y[id == BENCH_KERNEL_SCAN ? i : 0] = sum;
                break;
            }
        }
        in[0].upload(x);
        if (id == BENCH_KERNEL_SORT) {
            in[1].upload(y);
            // The values are the keys' places.
            y = placed(x, 16, placed(x, 0, y));
            wanted[1].upload(y);
            for (unsigned i = 0; i < count; i++) {
                y[i] = x[y[i]];
            }
        } else if (id == BENCH_KERNEL_SUM || id == BENCH_KERNEL_ODD) {
            y.resize(1);
        }
        wanted[0].upload(y);
    }

    void make_spmv()
    {
        rows = count / BENCH_ROW;
        std::vector<unsigned> start(rows + 1), column(count), value(count), x(rows), y(rows);
        for (unsigned r = 0; r <= rows; r++) {
            start[r] = r * BENCH_ROW;
        }
        for (unsigned e = 0; e < count; e++) {
            column[e] = bench_kernel_column(id, e, rows);
            value[e] = bits_of(bench_kernel_value(e));
        }
        for (unsigned r = 0; r < rows; r++) {
            float sum = 0;
            for (unsigned e = start[r]; e < start[r + 1]; e++) {
                sum += bench_kernel_value(e) * bench_kernel_vector(column[e]);
            }
            x[r] = bits_of(bench_kernel_vector(r));
            y[r] = bits_of(sum);
        }
        in[0].upload(start);
        in[1].upload(column);
        in[2].upload(value);
        in[3].upload(x);
        wanted[0].upload(y);
    }

    void make_products()
    {
        rows = count / BENCH_ROW;
        std::vector<unsigned> column(count), value(count), x(rows), y(count);
        for (unsigned r = 0; r < rows; r++) {
            x[r] = bits_of(bench_kernel_vector(r));
        }
        for (unsigned e = 0; e < count; e++) {
            column[e] = bench_kernel_column(id, e, rows);
            value[e] = bits_of(bench_kernel_value(e));
            y[e] = bits_of(bench_kernel_value(e) * bench_kernel_vector(column[e]));
        }
        in[0].upload(column);
        in[1].upload(value);
        in[2].upload(x);
        wanted[0].upload(y);
    }

    // Sorted; zeros stay behind.
    void make_append()
    {
        std::vector<unsigned> x(count), y(count);
        for (unsigned i = 0; i < count; i++) {
            x[i] = bench_kernel_word(i);
            if (x[i] & 1) {
                y[kept++] = x[i];
            }
        }
        std::sort(y.begin(), y.begin() + kept);
        in[0].upload(x);
        wanted[0].upload(y);
        wanted[1].upload(std::vector<unsigned>{kept});
    }

    void make_matmul()
    {
        unsigned n = count;
        std::vector<unsigned> a(n * n), b(n * n), whole(n * n), c(n * n);
        for (unsigned i = 0; i < n * n; i++) {
            a[i] = bits_of(bench_kernel_a(i));
            b[i] = bits_of(bench_kernel_b(i));
            whole[i] = unsigned(bench_kernel_b(i));
        }
        for (unsigned i = 0; i < n; i++) {
            for (unsigned k = 0; k < n; k++) {
                unsigned factor = unsigned(bench_kernel_a(i * n + k));
                for (unsigned j = 0; j < n; j++) {
                    c[i * n + j] += factor * whole[k * n + j];
                }
            }
        }
        for (unsigned &word : c) {
            word = bits_of(float(word));
        }
        in[0].upload(a);
        in[1].upload(b);
        wanted[0].upload(c);
    }
};

inline std::shared_ptr<kernel_data> get_data(unsigned id, unsigned count)
{
    static std::weak_ptr<kernel_data> kept;
    std::shared_ptr<kernel_data> data = kept.lock();
    if (!data || data->id != id || data->count != count) {
        data = std::make_shared<kernel_data>(id, count);
        kept = data;
    }
    return data;
}

#endif
