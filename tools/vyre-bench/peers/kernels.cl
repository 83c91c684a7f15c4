// The kernels of group kernels in OpenCL C, for processors: parts of the data in one item each
// where results depend on what lies before, items side by side elsewhere.
#define CHUNKS 64
#define BINS   256

kernel void copy(uint count, global const uint *x, global uint *y)
{
    uint i = get_global_id(0);
    if (i < count) {
        y[i] = x[i];
    }
}

kernel void copy_wide(uint count, global const uint4 *x, global uint4 *y)
{
    uint i = get_global_id(0);
    if (i < count / 4) {
        y[i] = x[i];
    }
}

kernel void map(uint count, global const uint *x, global uint *y)
{
    uint i = get_global_id(0);
    if (i < count) {
        y[i] = x[i] * 3 + 1;
    }
}

kernel void map_wide(uint count, global const uint4 *x, global uint4 *y)
{
    uint i = get_global_id(0);
    if (i < count / 4) {
        y[i] = x[i] * 3 + 1;
    }
}

uint first_of(uint count, uint chunk)
{
    return (uint)((ulong)count * chunk / CHUNKS);
}

// Of x & mask.
kernel void sums(uint count, uint mask, global const uint *x, global uint *sums)
{
    uint k = get_global_id(0), sum = 0;
    for (uint i = first_of(count, k); i < first_of(count, k + 1); i++) {
        sum += x[i] & mask;
    }
    sums[k] = sum;
}

kernel void total(global const uint *sums, global uint *out)
{
    uint sum = 0;
    for (uint k = 0; k < CHUNKS; k++) {
        sum += sums[k];
    }
    out[0] = sum;
}

kernel void before(global uint *sums)
{
    uint sum = 0;
    for (uint k = 0; k < CHUNKS; k++) {
        uint own = sums[k];
        sums[k] = sum;
        sum += own;
    }
}

kernel void scan(uint count, global const uint *x, global const uint *sums, global uint *y)
{
    uint k = get_global_id(0), sum = sums[k];
    for (uint i = first_of(count, k); i < first_of(count, k + 1); i++) {
        sum += x[i];
        y[i] = sum;
    }
}

kernel void compact(uint count, global const uint *x, global const uint *sums, global uint *y)
{
    uint k = get_global_id(0), at = sums[k];
    for (uint i = first_of(count, k); i < first_of(count, k + 1); i++) {
        if (x[i] & 1) {
            y[at++] = x[i];
        }
    }
}

kernel void bins(uint count, global const uint *x, global uint *mine)
{
    uint k = get_global_id(0), own[BINS] = {0};
    for (uint i = first_of(count, k); i < first_of(count, k + 1); i++) {
        own[x[i] & 255]++;
    }
    for (uint i = 0; i < BINS; i++) {
        mine[k * BINS + i] = own[i];
    }
}

kernel void join(global const uint *mine, global uint *out)
{
    uint i = get_global_id(0), sum = 0;
    for (uint k = 0; k < CHUNKS; k++) {
        sum += mine[k * BINS + i];
    }
    out[i] = sum;
}

kernel void spmv(uint rows, global const uint *first, global const uint *column,
                 global const float *value, global const float *vector, global float *y)
{
    uint r = get_global_id(0);
    if (r < rows) {
        float sum = 0;
        for (uint e = first[r]; e < first[r + 1]; e++) {
            sum += value[e] * vector[column[e]];
        }
        y[r] = sum;
    }
}

// Four rows of eight columns an item; n is a multiple of eight.
kernel void matmul(uint n, global const float *a, global const float *b, global float *c)
{
    uint j = get_global_id(0) * 8, i = get_global_id(1) * 4;
    float8 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (uint k = 0; k < n; k++) {
        float8 row = vload8(0, b + (size_t)k * n + j);
        s0 += a[(size_t)i * n + k] * row;
        s1 += a[(size_t)(i + 1) * n + k] * row;
        s2 += a[(size_t)(i + 2) * n + k] * row;
        s3 += a[(size_t)(i + 3) * n + k] * row;
    }
    vstore8(s0, 0, c + (size_t)i * n + j);
    vstore8(s1, 0, c + (size_t)(i + 1) * n + j);
    vstore8(s2, 0, c + (size_t)(i + 2) * n + j);
    vstore8(s3, 0, c + (size_t)(i + 3) * n + j);
}
