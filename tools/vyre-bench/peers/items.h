/* The work items of group megakernel, which all its ways run: what they are and what they leave.
 * One buffer of words holds BENCH_SOURCES words that are only read, then a word for each item's
 * result, so that an index of a word is also the name of what an item reads or writes. Also for
 * CUDA; megakernel_vyre.c and items.comp say the same in their languages. */
#ifndef VY_BENCH_PEERS_ITEMS_H
#define VY_BENCH_PEERS_ITEMS_H

#include <stdint.h>

#ifdef __CUDACC__
#define BENCH_ITEM_FUNCTION static inline __host__ __device__
#else
#define BENCH_ITEM_FUNCTION static inline
#endif

#define BENCH_SOURCES      65536u
#define BENCH_FIRST_OPCODE 8u
#define BENCH_OPCODES      8u

/* As it lies in a queue: 16 bytes. */
typedef struct bench_item {
    uint32_t opcode, input, output, param;
} bench_item;

BENCH_ITEM_FUNCTION uint32_t bench_item_hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* What word k of the sources holds. */
BENCH_ITEM_FUNCTION uint32_t bench_item_source(uint32_t k)
{
    return bench_item_hash(k + 0x5bd1e995u);
}

/* Item i of the queue: of the first opcode, or of any. */
BENCH_ITEM_FUNCTION bench_item bench_item_at(uint32_t i, uint32_t is_mixed)
{
    uint32_t hash = bench_item_hash(i);
    bench_item item;
    item.opcode = BENCH_FIRST_OPCODE + (is_mixed ? hash % BENCH_OPCODES : 0u);
    item.input = (hash >> 8) % BENCH_SOURCES;
    item.output = BENCH_SOURCES + i;
    item.param = hash ^ i << 7;
    return item;
}

BENCH_ITEM_FUNCTION uint32_t bench_item_popcount(uint32_t x)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popc(x);
#else
    return (uint32_t)__builtin_popcount(x);
#endif
}

/* What an item of that opcode leaves in its output. */
BENCH_ITEM_FUNCTION uint32_t bench_item_value(const uint32_t *data, uint32_t opcode, uint32_t input,
                                              uint32_t param)
{
    uint32_t x = data[input], v = x ^ param;
    switch (opcode) {
    case 8:
        return x * 3u + param;
    case 9:
        return x + param;
    case 10:
        return v << 13 | v >> 19;
    case 11:
        for (uint32_t round = 0; round < 4; round++) {
            v *= 0x9e3779b1u;
            v ^= v >> 15;
        }
        return v;
    case 12:
        return data[x % BENCH_SOURCES] ^ param;
    case 13:
        return bench_item_popcount(v) * 0x01000193u + x;
    case 14:
        v = x > (param & 0xffffu) ? x : param & 0xffffu;
        return v < param ? v : param;
    case 15:
        for (uint32_t k = 0; k < 16; k++) {
            v = v * 5u + (v >> 7 ^ k);
        }
        return v;
    default:
        return 0;
    }
}

#endif
