/* Queues of work items, as group megakernel has them, by the library's dispatcher. */
#ifndef VY_BENCH_MEGAKERNEL_H
#define VY_BENCH_MEGAKERNEL_H

#include "tools/vyre-bench/bench.h"

/* The items of a case, and what they leave. */
typedef struct queue_work {
    bool is_mixed;
    uint32_t count;
    bench_item *items;
    uint32_t *wanted, *got; /* a word for each item */
} queue_work;

/* How many of work->got are not what they must be. */
void queue_work_compare(const queue_work *work, bench_check *out);

#endif
