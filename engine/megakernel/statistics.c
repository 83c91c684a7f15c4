/* Durations in a histogram by powers of two. */
#include "engine/megakernel/statistics.h"

#include "engine/megakernel/ratio.h"

enum { PART_BITS = 3 }; /* of VY_MK_BUCKETS_PER_OCTAVE */
_Static_assert(1u << PART_BITS == VY_MK_BUCKETS_PER_OCTAVE, "parts of an octave");
_Static_assert(VY_MK_BUCKETS == (64 - PART_BITS + 1) * VY_MK_BUCKETS_PER_OCTAVE,
               "a bucket for each duration");

uint32_t vy_mk_bucket_of(uint64_t ns)
{
    uint32_t octave = 0;
    while (ns >> octave >= 2 * VY_MK_BUCKETS_PER_OCTAVE) {
        octave++;
    }
    /* What is left is below 8 in the first octave, and 8 to 15 in all others. */
    return octave * VY_MK_BUCKETS_PER_OCTAVE + (uint32_t)(ns >> octave);
}

uint64_t vy_mk_bucket_end(uint32_t bucket)
{
    uint32_t octave = bucket / VY_MK_BUCKETS_PER_OCTAVE;
    uint64_t part = bucket % VY_MK_BUCKETS_PER_OCTAVE;
    if (octave == 0) {
        return part;
    }
    octave--;
    uint64_t begin = (VY_MK_BUCKETS_PER_OCTAVE + part) << octave;
    return begin + (((uint64_t)1 << octave) - 1);
}

static vyre_result overflow(vyre_diag *diag)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                       "the sums of queues' times or items exceed 64 bits. Fix: begin new "
                       "statistics from time to time");
}

vyre_result vy_mk_statistics_add(vy_mk_statistics *statistics, uint64_t items, uint64_t ns,
                                 vyre_diag *diag)
{
    vy_mk_statistics *s = statistics;
    uint64_t queue_count, item_count, sum_ns;
    vy_diag_clear(diag);
    if (!vy_mk_add(s->queue_count, 1, &queue_count) ||
        !vy_mk_add(s->item_count, items, &item_count) || !vy_mk_add(s->sum_ns, ns, &sum_ns)) {
        return overflow(diag);
    }
    s->min_ns = s->queue_count == 0 || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = ns > s->max_ns ? ns : s->max_ns;
    s->queue_count = queue_count;
    s->item_count = item_count;
    s->sum_ns = sum_ns;
    s->buckets[vy_mk_bucket_of(ns)]++; /* at most queue_count */
    return VYRE_OK;
}

vyre_result vy_mk_statistics_merge(vy_mk_statistics *statistics, const vy_mk_statistics *other,
                                   vyre_diag *diag)
{
    vy_mk_statistics *s = statistics;
    uint64_t queue_count, item_count, sum_ns;
    vy_diag_clear(diag);
    if (!vy_mk_add(s->queue_count, other->queue_count, &queue_count) ||
        !vy_mk_add(s->item_count, other->item_count, &item_count) ||
        !vy_mk_add(s->sum_ns, other->sum_ns, &sum_ns)) {
        return overflow(diag);
    }
    if (other->queue_count > 0) {
        s->min_ns = s->queue_count == 0 || other->min_ns < s->min_ns ? other->min_ns : s->min_ns;
        s->max_ns = other->max_ns > s->max_ns ? other->max_ns : s->max_ns;
    }
    s->queue_count = queue_count;
    s->item_count = item_count;
    s->sum_ns = sum_ns;
    for (uint32_t i = 0; i < VY_MK_BUCKETS; i++) {
        s->buckets[i] += other->buckets[i];
    }
    return VYRE_OK;
}

/* ceil(count * share / 10000), without the product. */
static uint64_t rank_of(uint64_t count, uint32_t share_bps)
{
    uint64_t whole = count / VY_MK_BPS * share_bps;
    return whole + vy_mk_div_up(count % VY_MK_BPS * share_bps, VY_MK_BPS);
}

uint64_t vy_mk_statistics_percentile(const vy_mk_statistics *statistics, uint32_t share_bps)
{
    uint64_t rank = rank_of(statistics->queue_count, vy_mk_min(share_bps, VY_MK_BPS));
    uint64_t seen = 0;
    if (rank == 0) {
        return statistics->min_ns;
    }
    uint32_t bucket = 0;
    while (bucket < VY_MK_BUCKETS - 1 && (seen += statistics->buckets[bucket]) < rank) {
        bucket++;
    }
    uint64_t end = vy_mk_bucket_end(bucket);
    end = end < statistics->min_ns ? statistics->min_ns : end;
    return end > statistics->max_ns ? statistics->max_ns : end;
}

/* items * 10^9 / ns, digit by digit. */
static uint64_t rate_of(uint64_t items, uint64_t ns)
{
    uint64_t quotient = ns ? items / ns : 0, remainder = ns ? items % ns : 0;
    for (uint32_t digit = 0; ns && digit < 9; digit++) {
        uint64_t more = 0, left = 0;
        /* remainder * 10 in ten additions below ns. */
        for (uint32_t i = 0; i < 10; i++) {
            bool carries = left >= ns - remainder;
            left = carries ? left - (ns - remainder) : left + remainder;
            more += carries ? 1 : 0;
        }
        remainder = left;
        if (!vy_mk_mul(quotient, 10, &quotient) || !vy_mk_add(quotient, more, &quotient)) {
            return UINT64_MAX;
        }
    }
    return quotient;
}

vy_mk_latency vy_mk_statistics_summary(const vy_mk_statistics *statistics)
{
    return (vy_mk_latency){
        .queue_count = statistics->queue_count,
        .item_count = statistics->item_count,
        .min_ns = statistics->min_ns,
        .mean_ns = statistics->queue_count ? statistics->sum_ns / statistics->queue_count : 0,
        .max_ns = statistics->max_ns,
        .p50_ns = vy_mk_statistics_percentile(statistics, 5000),
        .p99_ns = vy_mk_statistics_percentile(statistics, 9900),
        .items_per_second = rate_of(statistics->item_count, statistics->sum_ns),
    };
}
