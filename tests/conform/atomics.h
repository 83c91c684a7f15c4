/* Programs that apply every atomic, in every order that it may have, to storage and shared memory,
 * and what each gives. */
#ifndef CONFORM_ATOMICS_H
#define CONFORM_ATOMICS_H

#include "codegen/base/base.h"
#include "tests/conform/oracle.h"

/* One atomic with one order, on elements [place * CONFORM_ATOMIC_POINTS, ...). */
typedef struct conform_atomic {
    vyre_atomic atomic;
    vyre_order order;
    bool gives_value;
} conform_atomic;

#define CONFORM_ATOMIC_POINTS 1024u
#define CONFORM_MAX_ATOMICS   48u

bool conform_atomic_takes(vyre_atomic atomic, conform_id type);
/* All atomics of a type with all orders that each may have; their number. */
uint32_t conform_atomics_of(conform_id type, conform_atomic *atomics);
/* `name(place, operands, order)`, the operands by the number that the atomic takes. */
void conform_atomic_text(const conform_atomic *atomic, const char *place, const char *x,
                         const char *y, vy_text *text);
/* What is in memory afterwards. False: more than one answer is right, and *also the other one. */
bool conform_atomic_answer(vyre_atomic atomic, conform_id type, uint64_t old, uint64_t x,
                           uint64_t y, uint64_t *now, uint64_t *also);

#endif
