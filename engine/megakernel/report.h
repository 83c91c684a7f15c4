/* The arithmetic of a dispatch's report: what became of the items, bytes, shares. Pure. */
#ifndef VY_MEGAKERNEL_REPORT_H
#define VY_MEGAKERNEL_REPORT_H

#include "engine/megakernel/prune.h"

/* ---- Items ----------------------------------------------------------------------------------- */

/* What was handed in, what was published of it, and what the drained control buffer counted. */
typedef struct vy_mk_outcome {
    uint32_t initial_count, published_count;
    uint32_t done_count, denied_count, fault_count;
    const vy_mk_pair *pairs; /* duplicates that were not published */
    uint32_t pair_count;
} vy_mk_outcome;

/* processed + denied + faulted + remaining = initial. */
typedef struct vy_mk_items {
    uint32_t initial;
    uint32_t done;      /* slots that ran to their end */
    uint32_t credited;  /* duplicates of which that is as good as done */
    uint32_t processed; /* done + credited */
    uint32_t denied, faulted;
    uint32_t remaining;     /* what nothing became of: not drained, or a duplicate without credit */
    uint32_t not_processed; /* initial - processed: denied, faulted and remaining */
} vy_mk_items;

/* Duplicates are credited only if every published item is done, and then each pair whose early
 * number is one of the queue's, up to the duplicates that there are. Time and memory: O(pairs), 0.
 * Errors: INVALID_ARGUMENT: more published than handed in; INTERNAL: the kernel counted more slots
 * than were published. */
vyre_result vy_mk_report_items(const vy_mk_outcome *outcome, vy_mk_items *out_items,
                               vyre_diag *diag);

/* ---- Bytes and time -------------------------------------------------------------------------- */

typedef struct vy_mk_bytes {
    uint64_t uploaded, read_back, moved; /* moved: both */
} vy_mk_bytes;

/* Sums of buffer sizes. Errors: INVALID_ARGUMENT: more than 2^64 - 1 bytes. */
vyre_result vy_mk_report_bytes(const uint64_t *input_sizes, uint32_t input_count,
                               const uint64_t *output_sizes, uint32_t output_count,
                               vy_mk_bytes *out_bytes, vyre_diag *diag);
/* A duration in nanoseconds. Errors: INVALID_ARGUMENT: more than 2^64 - 1. */
vyre_result vy_mk_report_elapsed(uint64_t seconds, uint32_t nanoseconds, uint64_t *out_ns,
                                 vyre_diag *diag);

/* ---- Shares, of 10000 ------------------------------------------------------------------------ */

/* How full the launch is: published items for each invocation launched, at most 10000. One that
 * drains a queue longer than it is wide is full. 0 groups and 0 width count as 1. */
uint32_t vy_mk_occupancy_proxy_bps(uint64_t published_count, uint32_t group_count, uint32_t width);
/* How full the ring is: published items for each slot of it, whoever drains them. Where a lane
 * serves one slot each and the launch covers the ring, this is the same as the one above. 0 slots
 * count as 1. */
uint32_t vy_mk_frontier_density_bps(uint64_t published_count, uint64_t slot_count);
/* How evenly the lanes worked: slots that were executed of those that all lanes would have in as
 * many rounds as the longest took, at most 10000; 0 where nothing was launched. */
uint32_t vy_mk_lane_busy_bps(uint32_t executed_count, uint32_t group_count, uint32_t width,
                             uint32_t round_count);

#endif
