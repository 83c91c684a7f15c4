/* A report's items, bytes and shares. */
#include "tests/megakernel/property.h"

#include "engine/megakernel/geometry.h"
#include "engine/megakernel/report.h"

static vy_mk_items items_of(vy_mk_outcome outcome)
{
    vy_mk_items items;
    vyre_diag diag;
    assert_int_equal(vy_mk_report_items(&outcome, &items, &diag), VYRE_OK);
    assert_int_equal(items.processed + items.denied + items.faulted + items.remaining,
                     items.initial);
    assert_int_equal(items.processed + items.not_processed, items.initial);
    return items;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void test_credit_is_given_on_full_completion_only(void **state)
{
    (void)state;
    static const vy_mk_pair pairs[] = {{0, 3}, {0, 4}, {1, 5}};
    vy_mk_outcome outcome = {
        .initial_count = 6, .published_count = 3, .done_count = 3, .pairs = pairs, .pair_count = 3};
    vy_mk_items items = items_of(outcome);
    assert_int_equal(items.done, 3);
    assert_int_equal(items.credited, 3);
    assert_int_equal(items.processed, 6);
    assert_int_equal(items.remaining, 0);
    for (uint32_t done = 0; done < 3; done++) {
        outcome.done_count = done;
        items = items_of(outcome);
        assert_int_equal(items.credited, 0);
        assert_int_equal(items.processed, done);
        assert_int_equal(items.remaining, 6 - done);
    }
    outcome.done_count = 2;
    outcome.fault_count = 1;
    items = items_of(outcome);
    assert_int_equal(items.credited, 0);
    assert_int_equal(items.faulted, 1);
    assert_int_equal(items.remaining, 3);
    assert_int_equal(items.not_processed, 4);
}

static void test_pairs_out_of_range_are_ignored(void **state)
{
    (void)state;
    static const vy_mk_pair pairs[] = {{5, 3}, {6, 4}, {UINT32_MAX, 5}};
    vy_mk_items items = items_of((vy_mk_outcome){.initial_count = 6,
                                                 .published_count = 3,
                                                 .done_count = 3,
                                                 .pairs = pairs,
                                                 .pair_count = 3});
    assert_int_equal(items.credited, 1);
    assert_int_equal(items.processed, 4);
    assert_int_equal(items.remaining, 2);
}

static void test_credit_ends_at_the_duplicates_that_there_are(void **state)
{
    (void)state;
    static const vy_mk_pair pairs[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}};
    vy_mk_outcome outcome = {
        .initial_count = 3, .published_count = 1, .done_count = 1, .pairs = pairs};
    for (outcome.pair_count = 0; outcome.pair_count <= 4; outcome.pair_count++) {
        uint32_t credited = outcome.pair_count < 2 ? outcome.pair_count : 2;
        assert_int_equal(items_of(outcome).credited, credited);
    }
}

static void test_denied_and_faulted_stand_apart(void **state)
{
    (void)state;
    vy_mk_items items = items_of((vy_mk_outcome){.initial_count = 10,
                                                 .published_count = 10,
                                                 .done_count = 4,
                                                 .denied_count = 3,
                                                 .fault_count = 2});
    assert_int_equal(items.processed, 4);
    assert_int_equal(items.denied, 3);
    assert_int_equal(items.faulted, 2);
    assert_int_equal(items.remaining, 1);
    assert_int_equal(items.not_processed, 6);
    items = items_of((vy_mk_outcome){0});
    assert_int_equal(items.initial + items.processed + items.remaining, 0);
    items = items_of((vy_mk_outcome){
        .initial_count = UINT32_MAX, .published_count = UINT32_MAX, .done_count = UINT32_MAX});
    assert_true(items.processed == UINT32_MAX);
}

static void test_counts_that_do_not_conserve_are_errors(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_items items = {.initial = 7};
    vy_mk_outcome outcome = {.initial_count = 4, .published_count = 5};
    check_error(vy_mk_report_items(&outcome, &items, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "5 items", "queue of 4");
    assert_int_equal(items.initial, 0);
    outcome = (vy_mk_outcome){.initial_count = 4,
                              .published_count = 4,
                              .done_count = 2,
                              .denied_count = 1,
                              .fault_count = 1};
    assert_int_equal(vy_mk_report_items(&outcome, &items, &diag), VYRE_OK);
    uint32_t *counts[] = {&outcome.done_count, &outcome.denied_count, &outcome.fault_count};
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        uint32_t old = (*counts[i])++;
        check_error(vy_mk_report_items(&outcome, &items, &diag), &diag, VYRE_ERROR_INTERNAL,
                    "counted", "of 4");
        *counts[i] = UINT32_MAX;
        assert_int_equal(vy_mk_report_items(&outcome, &items, NULL), VYRE_ERROR_INTERNAL);
        *counts[i] = old;
    }
}

static void test_items_are_conserved(void **state)
{
    (void)state;
    enum { MAX_PAIRS = 64 };
    for (uint32_t seed = 1; seed <= 20000; seed++) {
        uint64_t random = seed;
        vy_mk_pair pairs[MAX_PAIRS];
        vy_mk_outcome o = {.initial_count = (uint32_t)random_wide(&random, 12), .pairs = pairs};
        vy_mk_items items;
        o.pair_count = (uint32_t)(random_u64(&random) % (MAX_PAIRS + 1));
        for (uint32_t i = 0; i < o.pair_count; i++) {
            pairs[i] = (vy_mk_pair){(uint32_t)random_wide(&random, 12), i};
        }
        o.published_count = (uint32_t)(random_u64(&random) % ((uint64_t)o.initial_count + 1));
        o.done_count = seed % 2
                           ? o.published_count
                           : (uint32_t)(random_u64(&random) % ((uint64_t)o.published_count + 1));
        uint32_t rest = o.published_count - o.done_count;
        o.denied_count = (uint32_t)(random_u64(&random) % ((uint64_t)rest + 1));
        o.fault_count = (uint32_t)(random_u64(&random) % ((uint64_t)rest - o.denied_count + 1));
        check_seed(vy_mk_report_items(&o, &items, NULL) == VYRE_OK, seed);
        check_seed((uint64_t)items.processed + items.denied + items.faulted + items.remaining ==
                       o.initial_count,
                   seed);
        check_seed(items.processed == items.done + items.credited, seed);
        check_seed(items.credited == 0 || items.done == o.published_count, seed);
        check_seed(items.processed + items.not_processed == o.initial_count, seed);
    }
}

/* ---- Bytes and time -------------------------------------------------------------------------- */

static void test_bytes_are_summed(void **state)
{
    (void)state;
    static const uint64_t inputs[] = {4, 8, 12, 16}, outputs[] = {5, 7, 11, 13};
    vyre_diag diag;
    vy_mk_bytes bytes;
    assert_int_equal(vy_mk_report_bytes(inputs, 4, outputs, 4, &bytes, &diag), VYRE_OK);
    assert_int_equal(bytes.uploaded, 40);
    assert_int_equal(bytes.read_back, 36);
    assert_int_equal(bytes.moved, 76);
    assert_int_equal(vy_mk_report_bytes(NULL, 0, NULL, 0, &bytes, NULL), VYRE_OK);
    assert_true(bytes.uploaded == 0 && bytes.read_back == 0 && bytes.moved == 0);
}

static void test_byte_sums_refuse_overflow(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_bytes bytes;
    uint64_t whole[] = {UINT64_MAX - 1, 1}, over[] = {UINT64_MAX, 1}, one[] = {1}, none[] = {0};
    assert_int_equal(vy_mk_report_bytes(whole, 2, none, 1, &bytes, &diag), VYRE_OK);
    assert_true(bytes.uploaded == UINT64_MAX && bytes.moved == UINT64_MAX);
    assert_int_equal(vy_mk_report_bytes(none, 1, whole, 2, &bytes, &diag), VYRE_OK);
    assert_true(bytes.read_back == UINT64_MAX && bytes.moved == UINT64_MAX);
    check_error(vy_mk_report_bytes(over, 2, none, 1, &bytes, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "64 bits", "bytes");
    assert_true(bytes.uploaded == 0 && bytes.read_back == 0 && bytes.moved == 0);
    assert_int_equal(vy_mk_report_bytes(none, 1, over, 2, &bytes, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vy_mk_report_bytes(whole, 2, one, 1, &bytes, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_durations_refuse_overflow(void **state)
{
    (void)state;
    vyre_diag diag;
    uint64_t ns = 7;
    assert_int_equal(vy_mk_report_elapsed(60, 5, &ns, &diag), VYRE_OK);
    assert_true(ns == 60000000005u);
    assert_int_equal(vy_mk_report_elapsed(18446744073u, 709551615, &ns, &diag), VYRE_OK);
    assert_true(ns == UINT64_MAX);
    check_error(vy_mk_report_elapsed(18446744073u, 709551616, &ns, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "64 bits", "duration");
    assert_true(ns == 0);
    assert_int_equal(vy_mk_report_elapsed(18446744074u, 0, &ns, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
}

/* ---- Shares ---------------------------------------------------------------------------------- */

static void test_shares_have_their_pinned_numbers_and_caps(void **state)
{
    (void)state;
    assert_int_equal(vy_mk_occupancy_proxy_bps(32, 1, 64), 5000);
    assert_int_equal(vy_mk_frontier_density_bps(32, 64), 5000);
    assert_int_equal(vy_mk_occupancy_proxy_bps(300, 5, 64), 9375);
    assert_int_equal(vy_mk_frontier_density_bps(300, 320), 9375);
    assert_int_equal(vy_mk_occupancy_proxy_bps(63, 1, 64), 9843);
    assert_int_equal(vy_mk_occupancy_proxy_bps(64, 1, 64), 10000);
    assert_int_equal(vy_mk_occupancy_proxy_bps(65, 1, 64), 10000);
    assert_int_equal(vy_mk_frontier_density_bps(65, 64), 10000);
    assert_int_equal(vy_mk_occupancy_proxy_bps(0, 0, 0), 0);
    assert_int_equal(vy_mk_occupancy_proxy_bps(1, 0, 2), 5000);
    assert_int_equal(vy_mk_occupancy_proxy_bps(1, 2, 0), 5000);
    assert_int_equal(vy_mk_frontier_density_bps(0, 0), 0);
    assert_int_equal(vy_mk_frontier_density_bps(1, 0), 10000);
    assert_int_equal(vy_mk_occupancy_proxy_bps(UINT64_MAX, UINT32_MAX, UINT32_MAX), 10000);
}

static void test_occupancy_and_density_differ_where_workers_drain(void **state)
{
    (void)state;
    /* 1000 items in a ring of 4096 slots, drained by two workgroups of 256. */
    assert_int_equal(vy_mk_occupancy_proxy_bps(1000, 2, 256), 10000);
    assert_int_equal(vy_mk_frontier_density_bps(1000, 4096), 2441);
    /* A queue that fills its ring and not the launch. */
    assert_int_equal(vy_mk_occupancy_proxy_bps(300, 2, 256), 5859);
    assert_int_equal(vy_mk_frontier_density_bps(300, 300), 10000);
    /* With the reference geometry, covered by its grid, they are the same. */
    vy_mk_limits limits = {256, 256, 65535, 32, 0};
    for (uint32_t length = 1; length <= 4096; length += 13) {
        vy_mk_reference r;
        assert_int_equal(vy_mk_reference_plan(&limits, length, 64, &r, NULL), VYRE_OK);
        assert_int_equal(vy_mk_occupancy_proxy_bps(length, r.covering_count, r.width),
                         vy_mk_frontier_density_bps(length, r.slot_count));
    }
}

static void test_lane_busy_is_the_share_of_turns(void **state)
{
    (void)state;
    assert_int_equal(vy_mk_lane_busy_bps(256, 2, 64, 2), 10000);
    assert_int_equal(vy_mk_lane_busy_bps(255, 2, 64, 2), 9960);
    assert_int_equal(vy_mk_lane_busy_bps(257, 2, 64, 2), 10000);
    assert_int_equal(vy_mk_lane_busy_bps(128, 2, 64, 2), 5000);
    assert_int_equal(vy_mk_lane_busy_bps(0, 2, 64, 2), 0);
    assert_int_equal(vy_mk_lane_busy_bps(5, 0, 64, 2), 0);
    assert_int_equal(vy_mk_lane_busy_bps(5, 2, 0, 2), 0);
    assert_int_equal(vy_mk_lane_busy_bps(5, 2, 64, 0), 0);
    assert_int_equal(vy_mk_lane_busy_bps(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX), 0);
    assert_int_equal(vy_mk_lane_busy_bps(UINT32_MAX, UINT32_MAX, 1, 1), 10000);
    assert_int_equal(vy_mk_lane_busy_bps(UINT32_MAX, UINT32_MAX, 2, 1), 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_credit_is_given_on_full_completion_only),
        cmocka_unit_test(test_pairs_out_of_range_are_ignored),
        cmocka_unit_test(test_credit_ends_at_the_duplicates_that_there_are),
        cmocka_unit_test(test_denied_and_faulted_stand_apart),
        cmocka_unit_test(test_counts_that_do_not_conserve_are_errors),
        cmocka_unit_test(test_items_are_conserved),
        cmocka_unit_test(test_bytes_are_summed),
        cmocka_unit_test(test_byte_sums_refuse_overflow),
        cmocka_unit_test(test_durations_refuse_overflow),
        cmocka_unit_test(test_shares_have_their_pinned_numbers_and_caps),
        cmocka_unit_test(test_occupancy_and_density_differ_where_workers_drain),
        cmocka_unit_test(test_lane_busy_is_the_share_of_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
