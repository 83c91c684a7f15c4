/* Hashing for keys: each 64-bit word is mixed into the state by xor, multiplication and a shift, so
 * that every bit of a word reaches every bit of the value after two words or the final mix. */
#include "codegen/base/base.h"

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
