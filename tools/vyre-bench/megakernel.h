/* Queues of work items, as group megakernel has them, by the library's dispatcher. */
#ifndef VY_BENCH_MEGAKERNEL_H
#define VY_BENCH_MEGAKERNEL_H

#include "tools/vyre-bench/bench.h"
#include "vyre/dispatcher.h"

/* The items of a case, and what they leave. */
typedef struct queue_work {
    bool is_mixed;
    uint32_t count;
    bench_item *items;
    uint32_t *wanted, *got; /* a word for each item */
} queue_work;

/* How many of work->got are not what they must be. */
void queue_work_compare(const queue_work *work, bench_check *out);

typedef enum queue_form {
    QUEUE_ITEMS,
    QUEUE_IN_FLIGHT, /* several queues submitted before the first is waited for; each one's part */
    QUEUE_IN_PLACE,  /* written where the device reads them */
    QUEUE_RING       /* published into a ring first */
} queue_form;

/* One way of draining them. */
typedef struct queue_kind {
    const char *way;
    vyre_claim claim;
    uint32_t flags; /* VYRE_QUEUE_* */
    queue_form form;
} queue_kind;

/* `data`: the sources, and a word for each of up to max_count items. The library is destroyed by
 * the caller also after an error. */
typedef struct queue_library queue_library;
typedef struct queue_series queue_series;
vyre_result queue_library_create(bench *b, const uint32_t *data, uint32_t max_count,
                                 queue_library **out_library, vyre_diag *diag);
void queue_library_destroy(queue_library **library);
/* What series are of from here to the end. */
void queue_library_begin(queue_library *library, const queue_work *work);
void queue_library_end(queue_library *library);
/* Adds a series; none where the device cannot claim in that way. */
vyre_result queue_library_add(queue_library *library, bench_case *c, const queue_work *work,
                              const queue_kind *kind, vyre_diag *diag);
/* After bench_measure: where the time goes, into the notes. */
vyre_result queue_series_note(bench_case *c, vyre_diag *diag);

#endif
