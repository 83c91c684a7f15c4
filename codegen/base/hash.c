/* Hashing for keys: each 64-bit word is mixed into the state by xor, multiplication and a shift, so
 * that every bit of a word reaches every bit of the value after two words or the final mix. */
#include "codegen/base/base.h"

#define MULTIPLIER 0x9e3779b97f4a7c15u /* 2^64 divided by the golden ratio, odd */

void vy_hash_init(vy_hash *hash)
{
    hash->state = 0x6a09e667f3bcc908u; /* the fraction of the square root of 2 */
}

void vy_hash_u64(vy_hash *hash, uint64_t word)
{
    uint64_t state = (hash->state ^ word) * MULTIPLIER;
    state ^= state >> 29;
    hash->state = state * MULTIPLIER + 1;
}

void vy_hash_u32(vy_hash *hash, uint32_t word)
{
    vy_hash_u64(hash, word);
}

void vy_hash_bytes(vy_hash *hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    /* With the size, "a" then "bc" differs from "ab" then "c". */
    vy_hash_u64(hash, size);
    for (; size >= 8; byte += 8, size -= 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8; i++) {
            word |= (uint64_t)byte[i] << (8 * i);
        }
        vy_hash_u64(hash, word);
    }
    while (size) {
        uint64_t word = 0;
        size_t step = size < 8 ? size : 8;
        for (size_t i = 0; i < step; i++) {
            word |= (uint64_t)byte[i] << (8 * i);
        }
        vy_hash_u64(hash, word);
        byte += step;
        size -= step;
    }
}

uint64_t vy_hash_value(const vy_hash *hash)
{
    uint64_t value = hash->state;
    value ^= value >> 32;
    value *= MULTIPLIER;
    return value ^ (value >> 29);
}
