/* Latencies: buckets, percentiles against a sorted list, sums that do not overflow unseen. */
#include "engine/megakernel/statistics.h"

#include "tests/megakernel/refused.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_bucket(uint64_t ns)
{
    uint32_t bucket = vy_mk_bucket_of(ns);
    assert_true(bucket < VY_MK_BUCKETS);
    uint64_t end = vy_mk_bucket_end(bucket);
    assert_true(end >= ns && end - ns <= ns / 8);
    assert_true(bucket == 0 || vy_mk_bucket_end(bucket - 1) < ns);
}

static void test_buckets_hold_every_duration_within_an_eighth(void **state)
{
    (void)state;
    for (uint64_t ns = 0; ns < 100000; ns++) {
        check_bucket(ns);
    }
    for (uint32_t bit = 3; bit < 64; bit++) {
        for (uint64_t d = 0; d < 3; d++) {
            check_bucket(((uint64_t)1 << bit) + d);
            check_bucket(((uint64_t)1 << bit) - d);
        }
    }
    check_bucket(UINT64_MAX);
    assert_int_equal(vy_mk_bucket_of(0), 0);
    assert_int_equal(vy_mk_bucket_of(7), 7);
    assert_int_equal(vy_mk_bucket_of(UINT64_MAX), VY_MK_BUCKETS - 1);
    assert_true(vy_mk_bucket_end(VY_MK_BUCKETS - 1) == UINT64_MAX);
    for (uint32_t i = 1; i < VY_MK_BUCKETS; i++) {
        assert_int_equal(vy_mk_bucket_of(vy_mk_bucket_end(i)), i);
        assert_int_equal(vy_mk_bucket_of(vy_mk_bucket_end(i - 1) + 1), i);
    }
}

static void test_statistics_have_their_numbers(void **state)
{
    (void)state;
    vy_mk_statistics s = {0};
    vyre_diag diag;
    /* 1 to 7 ns are exact. */
    for (uint64_t ns = 7; ns >= 1; ns--) {
        assert_int_equal(vy_mk_statistics_add(&s, 10 * ns, ns, &diag), VYRE_OK);
    }
    vy_mk_latency l = vy_mk_statistics_summary(&s);
    assert_int_equal(l.queue_count, 7);
    assert_int_equal(l.item_count, 280);
    assert_int_equal(l.min_ns, 1);
    assert_int_equal(l.mean_ns, 4);
    assert_int_equal(l.max_ns, 7);
    assert_int_equal(l.p50_ns, 4);
    assert_int_equal(l.p99_ns, 7);
    assert_true(l.items_per_second == 10000000000u);
    assert_int_equal(vy_mk_statistics_percentile(&s, 0), 1);
    assert_int_equal(vy_mk_statistics_percentile(&s, 1428), 1);
    assert_int_equal(vy_mk_statistics_percentile(&s, 1429), 2);
    assert_int_equal(vy_mk_statistics_percentile(&s, 10000), 7);
    assert_int_equal(vy_mk_statistics_percentile(&s, UINT32_MAX), 7);
}

static void test_statistics_of_nothing_are_zeros(void **state)
{
    (void)state;
    const vy_mk_statistics s = {0};
    const vy_mk_latency zeros = {0};
    vy_mk_latency l = vy_mk_statistics_summary(&s);
    assert_memory_equal(&l, &zeros, sizeof l);
    assert_int_equal(vy_mk_statistics_percentile(&s, 10000), 0);
    /* A queue that took no time has no rate. */
    vy_mk_statistics one = {0};
    assert_int_equal(vy_mk_statistics_add(&one, 5, 0, NULL), VYRE_OK);
    l = vy_mk_statistics_summary(&one);
    assert_true(l.queue_count == 1 && l.items_per_second == 0 && l.p99_ns == 0);
}

enum { SAMPLES = 20000 };

static void test_percentiles_are_those_of_the_sorted_list(void **state)
{
    (void)state;
    static uint64_t list[SAMPLES];
    static const uint32_t shares[] = {1, 100, 2500, 5000, 9000, 9900, 9990, 9999, 10000};
    uint64_t seed = 7;
    vy_mk_statistics s = {0};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        list[i] = seed >> (20 + (seed >> 7) % 40);
        assert_int_equal(vy_mk_statistics_add(&s, 1, list[i], NULL), VYRE_OK);
    }
    qsort(list, SAMPLES, sizeof *list, by_size);
    for (size_t i = 0; i < VY_COUNT_OF(shares); i++) {
        uint64_t exact = list[((uint64_t)SAMPLES * shares[i] + 9999) / 10000 - 1];
        uint64_t got = vy_mk_statistics_percentile(&s, shares[i]);
        assert_true(got >= exact && got - exact <= exact / 8 && got <= s.max_ns);
    }
    /* One value: all percentiles are it, whatever its bucket's end. */
    vy_mk_statistics same = {0};
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(vy_mk_statistics_add(&same, 1, 1000001, NULL), VYRE_OK);
    }
    vy_mk_latency l = vy_mk_statistics_summary(&same);
    assert_true(l.p50_ns == 1000001 && l.p99_ns == 1000001 && l.mean_ns == 1000001);
    assert_int_equal(l.items_per_second, 999);
}

static void test_merged_statistics_are_those_of_all(void **state)
{
    (void)state;
    vy_mk_statistics parts[3] = {{0}}, all = {0}, merged = {0};
    uint64_t seed = 99;
    for (uint32_t i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        assert_int_equal(vy_mk_statistics_add(&parts[i % 2], i, seed >> 40, NULL), VYRE_OK);
        assert_int_equal(vy_mk_statistics_add(&all, i, seed >> 40, NULL), VYRE_OK);
    }
    for (uint32_t i = 0; i < 3; i++) { /* the last is empty */
        assert_int_equal(vy_mk_statistics_merge(&merged, &parts[i], NULL), VYRE_OK);
    }
    assert_memory_equal(&merged, &all, sizeof all);
}

static void test_statistics_refuse_overflow(void **state)
{
    (void)state;
    vyre_diag diag;
    static const struct {
        uint64_t queues, items, ns;
    } full[] = {{UINT64_MAX, 0, 0}, {1, UINT64_MAX - 4, 0}, {1, 0, UINT64_MAX - 4}};
    for (size_t i = 0; i < VY_COUNT_OF(full); i++) {
        vy_mk_statistics s = {
            .queue_count = full[i].queues, .item_count = full[i].items, .sum_ns = full[i].ns};
        vy_mk_statistics before = s, other = {0};
        assert_refused(vy_mk_statistics_add(&s, 5, 5, &diag), INVALID_ARGUMENT, &diag, "64 bits");
        assert_memory_equal(&s, &before, sizeof s);
        assert_int_equal(vy_mk_statistics_add(&other, 5, 5, &diag), VYRE_OK);
        assert_refused(vy_mk_statistics_merge(&s, &other, &diag), INVALID_ARGUMENT, &diag,
                       "64 bits");
        assert_memory_equal(&s, &before, sizeof s);
        if (full[i].queues == 1) {
            assert_int_equal(vy_mk_statistics_add(&s, 4, 4, &diag), VYRE_OK);
        }
    }
}

static void test_rates_are_exact_and_end_at_64_bits(void **state)
{
    (void)state;
    static const struct {
        uint64_t items, ns, rate;
    } cases[] = {
        {1, 1000000000, 1},
        {1, 1000000001, 0},
        {256, 4000, 64000000},
        {1, 3, 333333333},
        {2, 3, 666666666},
        {UINT64_MAX, UINT64_MAX, 1000000000},
        {UINT64_MAX - 1, UINT64_MAX, 999999999},
        {18446744073u, 1, 18446744073000000000u},
        {18446744074u, 1, UINT64_MAX},
        {UINT64_MAX, 1, UINT64_MAX},
        {0, 5, 0},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        const vy_mk_statistics s = {
            .queue_count = 1, .item_count = cases[i].items, .sum_ns = cases[i].ns};
        assert_true(vy_mk_statistics_summary(&s).items_per_second == cases[i].rate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_hold_every_duration_within_an_eighth),
        cmocka_unit_test(test_statistics_have_their_numbers),
        cmocka_unit_test(test_statistics_of_nothing_are_zeros),
        cmocka_unit_test(test_percentiles_are_those_of_the_sorted_list),
        cmocka_unit_test(test_merged_statistics_are_those_of_all),
        cmocka_unit_test(test_statistics_refuse_overflow),
        cmocka_unit_test(test_rates_are_exact_and_end_at_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
