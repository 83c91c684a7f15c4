/* How long queues took, over many of them, in memory of a fixed size. Pure. */
#ifndef VY_MEGAKERNEL_STATISTICS_H
#define VY_MEGAKERNEL_STATISTICS_H

#include "codegen/base/base.h"

/* Durations below 8 ns have a bucket each; from there on every power of two is cut into 8 equal
 * ones, so that a bucket's bounds are less than an eighth apart. */
#define VY_MK_BUCKETS_PER_OCTAVE 8u
#define VY_MK_BUCKETS            (VY_MK_BUCKETS_PER_OCTAVE * 62u)

/* Zero: nothing was added. Thread-safety: external. */
typedef struct vy_mk_statistics {
    uint64_t queue_count, item_count, sum_ns;
    uint64_t min_ns, max_ns; /* 0 where there is none */
    uint64_t buckets[VY_MK_BUCKETS];
} vy_mk_statistics;

/* The bucket of a duration, and the longest one that it has. */
uint32_t vy_mk_bucket_of(uint64_t ns);
uint64_t vy_mk_bucket_end(uint32_t bucket);

/* One queue. Errors: INVALID_ARGUMENT: a sum would pass 2^64 - 1; nothing was added. */
vyre_result vy_mk_statistics_add(vy_mk_statistics *statistics, uint64_t items, uint64_t ns,
                                 vyre_diag *diag);
/* Adds `other`. The same errors. */
vyre_result vy_mk_statistics_merge(vy_mk_statistics *statistics, const vy_mk_statistics *other,
                                   vyre_diag *diag);

/* The shortest time that share_bps (of 10000) of the queues did not pass, by the nearest rank: the
 * end of its bucket, less than an eighth too long, but never outside min and max. Share 0 is the
 * shortest; above 10000 counts as it. 0 without queues. */
uint64_t vy_mk_statistics_percentile(const vy_mk_statistics *statistics, uint32_t share_bps);

typedef struct vy_mk_latency {
    uint64_t queue_count, item_count;
    uint64_t min_ns, mean_ns, max_ns, p50_ns, p99_ns; /* mean: rounded down */
    uint64_t items_per_second; /* rounded down, 2^64 - 1 at most; 0 where no time passed */
} vy_mk_latency;

vy_mk_latency vy_mk_statistics_summary(const vy_mk_statistics *statistics);

#endif
