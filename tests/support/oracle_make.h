/* Parts of cases, shared by the files that make them: what oracle_case.c's table names. */
#ifndef VY_ORACLE_MAKE_H
#define VY_ORACLE_MAKE_H

#include "tests/support/oracle_case.h"

#include <stddef.h>

/* A slot with room of its own for what is asked for; never NULL pointers for no elements. NULL
 * without memory. Slots of a case do not move. */
#define VY_SLOT_IN       1u
#define VY_SLOT_EXPECTED 2u
#define VY_SLOT_SLACK    4u
vy_slot *vy_case_add(vy_case *c, const char *name, uint32_t count, uint32_t uses);
/* An input slot that takes *words over. */
void vy_case_take(vy_case *c, const char *name, uint32_t count, uint32_t **words);
void vy_case_param(vy_case *c, uint32_t value);
void vy_case_param_float(vy_case *c, float value);

/* "text": that many bytes, and one word at least; the last word's other bytes are not zero. */
bool vy_case_text(vy_case *c, const uint8_t *bytes, uint32_t size);
/* In [-1, 1), and a multiple of 2^-23. */
float vy_random_float(uint64_t *seed);
uint32_t vy_case_float(float value);
/* From 0 to limit - 1. */
uint32_t vy_random_below(uint64_t *seed, uint32_t limit);
/* The largest number whose square is at most n. */
uint32_t vy_root_of(uint32_t n);

/* Each fills a case whose subject, variant and size are set; false without memory. */
typedef bool (*vy_case_maker)(vy_case *c, uint64_t seed);

/* Arrays. */
bool vy_make_bitset(vy_case *c, uint64_t seed);
bool vy_make_extremes(vy_case *c, uint64_t seed);
bool vy_make_radix_sort(vy_case *c, uint64_t seed);
bool vy_make_rank_sort(vy_case *c, uint64_t seed);
bool vy_make_distinct(vy_case *c, uint64_t seed);
bool vy_make_histogram_gather(vy_case *c, uint64_t seed);
bool vy_make_scan_group(vy_case *c, uint64_t seed);
bool vy_make_segments(vy_case *c, uint64_t seed);
bool vy_make_bytecode(vy_case *c, uint64_t seed);

/* Numbers. */
bool vy_make_spmv(vy_case *c, uint64_t seed);
bool vy_make_matmul(vy_case *c, uint64_t seed);
bool vy_make_semiring_matmul(vy_case *c, uint64_t seed);
bool vy_make_linear_int4(vy_case *c, uint64_t seed);
bool vy_make_matvec_int8(vy_case *c, uint64_t seed);
bool vy_make_softmax(vy_case *c, uint64_t seed);
bool vy_make_layer_norm(vy_case *c, uint64_t seed);
bool vy_make_attention(vy_case *c, uint64_t seed);
bool vy_make_fft(vy_case *c, uint64_t seed);
bool vy_make_ntt(vy_case *c, uint64_t seed);
bool vy_make_heat(vy_case *c, uint64_t seed);

/* Text. */
bool vy_make_utf8(vy_case *c, uint64_t seed);
bool vy_make_lines(vy_case *c, uint64_t seed);
bool vy_make_base64(vy_case *c, uint64_t seed);
bool vy_make_aho_corasick(vy_case *c, uint64_t seed);
bool vy_make_dfa_scan(vy_case *c, uint64_t seed);
bool vy_make_nfa(vy_case *c, uint64_t seed);
bool vy_make_brackets(vy_case *c, uint64_t seed);

/* Hashes and ciphers. */
bool vy_make_fnv1a(vy_case *c, uint64_t seed);
bool vy_make_crc32(vy_case *c, uint64_t seed);
bool vy_make_adler32(vy_case *c, uint64_t seed);
bool vy_make_blake3(vy_case *c, uint64_t seed);
bool vy_make_aes_ctr(vy_case *c, uint64_t seed);

/* Graphs. */
bool vy_make_reach(vy_case *c, uint64_t seed);
bool vy_make_bfs_group(vy_case *c, uint64_t seed);
bool vy_make_shortest_paths(vy_case *c, uint64_t seed);
bool vy_make_closure(vy_case *c, uint64_t seed);

#endif
