/* Operand values: for each type 64 edge values, of which the first 16 also become literals; all
 * pairs of edges, all triples of the first 16, and random points that favour borders. */
#ifndef CONFORM_VALUES_H
#define CONFORM_VALUES_H

#include "tests/conform/rows.h"

#define CONFORM_EDGES    64u
#define CONFORM_LITERALS 16u
#define CONFORM_PAIRS    (CONFORM_EDGES * CONFORM_EDGES)
#define CONFORM_TRIPLES  4096u /* CONFORM_LITERALS^3 */
#define CONFORM_RANDOM   4096u
/* Points in this order: pairs, triples, random. */
#define CONFORM_POINTS (CONFORM_PAIRS + CONFORM_TRIPLES + CONFORM_RANDOM)

typedef struct conform_values {
    uint64_t edges[CONFORM_TYPE_COUNT][CONFORM_EDGES];
    uint64_t amounts[CONFORM_EDGES];
    uint64_t seed; /* of the random points */
} conform_values;

void conform_values_init(conform_values *values, uint64_t seed);
/* What an input of the base type holds at a point. Of pairs, x0 and c0 depend on the point / 64
 * alone, x1, s0 and n0 on the point % 64; of triples, x0 on the point / 256, x1, s0 and n0 on the
 * point / 16 % 16, x2 and s1 on the point % 16. */
uint64_t conform_value(const conform_values *values, conform_id base, conform_slot slot,
                       uint32_t point);
uint64_t conform_random(uint64_t *seed);

#endif
