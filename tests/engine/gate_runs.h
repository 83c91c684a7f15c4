/* Runs of gate_add_text and gate_countdown_text with the memory that they need, for tests that have
 * several of them in flight. */
#ifndef VY_TESTS_GATE_RUNS_H
#define VY_TESTS_GATE_RUNS_H

#include "tests/engine/gate.h"

#define SUM_COUNT 20u

typedef struct sum {
    uint32_t x[SUM_COUNT], y[SUM_COUNT], k;
    vyre_binding bindings[2];
    vyre_dispatch_params params;
    uint32_t done_count;
    vyre_ticket done_ticket;
    vyre_result done_result;
} sum;

/* vyre_dispatch_params.done, of a sum. */
void sum_note_done(void *user, vyre_ticket ticket, vyre_result result);
/* x counts up from k, y is 0xabababab. The sum must stay in place. */
void sum_init(sum *s, uint32_t k);

typedef struct countdown {
    uint32_t a[3];
    vyre_binding bindings[2];
    vyre_dispatch_params params;
} countdown;

/* One workgroup, which takes that many passes and one more. It must stay in place. */
void countdown_init(countdown *c, uint32_t from);

#endif
