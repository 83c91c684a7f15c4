/* The performance passes of SPIRV-Tools' optimiser (spirv-opt -O), without its validator. */
#ifndef VY_BENCH_PEER_OPTIMISE_H
#define VY_BENCH_PEER_OPTIMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* False where it refuses the words, or memory ran out. out_words may be NULL: they are made and
 * dropped; else they are freed with free(). */
bool peer_spirv_optimise(const uint32_t *words, size_t count, uint32_t **out_words,
                         size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
