/* What the tests of catalogues share: patterns of literals, hits as lists, and a matcher that
 * compares at every offset. */
#ifndef VY_TEST_SCAN_CATALOGUE_SUPPORT_H
#define VY_TEST_SCAN_CATALOGUE_SUPPORT_H

#include "vyre/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

/* Hits in the order in which they came. */
typedef struct hit_list {
    vyre_hit *hits;
    size_t count, capacity;
    size_t stop_at; /* hits after which no more are wanted; 0: all are */
} hit_list;

void hit_list_finish(hit_list *list);
int hit_list_add(void *user, const vyre_hit *hit);
bool hit_list_equal(const hit_list *a, const hit_list *b);
/* Prints where two lists part. */
void hit_list_print(const hit_list *got, const hit_list *wanted);

static inline vyre_pattern literal_of(const void *bytes, size_t size, uint32_t flags)
{
    return (vyre_pattern){.literal = bytes, .size = size, .flags = flags};
}
static inline vyre_pattern literal_text(const char *text)
{
    return literal_of(text, strlen(text), 0);
}

/* Every entry of its tables is in its bounds: classes, targets, offsets of outputs, rules, which
 * ascend and are in one automaton alone. */
void check_tables(const vyre_catalogue *catalogue);
/* All must be fine, and its tables checked; the caller destroys it. */
vyre_catalogue *make_catalogue(const vyre_pattern *patterns, uint32_t count,
                               vyre_grouping grouping);
vyre_catalogue_info info_of(const vyre_catalogue *catalogue);
/* The hits of a catalogue, and those of comparing each literal at each offset or of walking each
 * automaton as it was given. Lists are made empty first. */
void scan_list(const vyre_catalogue *catalogue, const void *bytes, size_t size, hit_list *out);
void naive_list(const vyre_pattern *patterns, uint32_t count, const void *bytes, size_t size,
                hit_list *out);
/* Both are equal; else the test fails and names the seed. */
void check_hits(const vyre_catalogue *catalogue, const vyre_pattern *patterns, uint32_t count,
                const void *bytes, size_t size, uint32_t seed);
/* check_hits for every text of up to `size` bytes of an alphabet. */
void check_all_texts(const vyre_catalogue *catalogue, const vyre_pattern *patterns, uint32_t count,
                     const char *alphabet, uint32_t size, uint32_t seed);

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 16) % limit;
}

#endif
