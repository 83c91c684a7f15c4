/* Telemetry of a ring, the watchdog, and what they feed back. */
#include "tests/megakernel/property.h"

#include "engine/megakernel/ratio.h"
#include "engine/megakernel/sketch.h"
#include "engine/megakernel/telemetry.h"
#include "engine/megakernel/words.h"

#define CONTROL_SIZE 640u

static uint32_t control[CONTROL_SIZE / 4];

static int clear_control(void **state)
{
    (void)state;
    memset(control, 0, sizeof control);
    return 0;
}

static vyre_ring_counts counts_of(uint32_t empty, uint32_t published, uint32_t done, uint32_t fault)
{
    vyre_ring_counts counts = {.slot_count = empty + published + done + fault,
                               .queue_depth = published + fault};
    counts.by_status[VYRE_STATUS_EMPTY] = empty;
    counts.by_status[VYRE_STATUS_PUBLISHED] = published;
    counts.by_status[VYRE_STATUS_DONE] = done;
    counts.by_status[VYRE_STATUS_FAULT] = fault;
    return counts;
}

static vy_mk_telemetry read_of(vyre_ring_counts counts)
{
    vy_mk_telemetry telemetry;
    vyre_diag diag;
    assert_int_equal(vy_mk_telemetry_read(&counts, control, sizeof control, &telemetry, &diag),
                     VYRE_OK);
    return telemetry;
}

/* ---- Telemetry ------------------------------------------------------------------------------- */

static void test_shares_of_a_ring(void **state)
{
    (void)state;
    vy_mk_telemetry t = read_of(counts_of(1, 2, 0, 1));
    assert_int_equal(t.slot_count, 4);
    assert_int_equal(t.queue_depth, 3);
    assert_int_equal(t.idle_ppm, 250000);
    assert_int_equal(t.density_bps, 7500);
    assert_int_equal(t.occupancy_bps, 7500);
    assert_int_equal(t.fault_slot_count, 1);
    t = read_of(counts_of(1, 0, 2, 0));
    assert_int_equal(t.idle_ppm, 333333);
    assert_int_equal(t.density_bps, 0);
    assert_int_equal(t.occupancy_bps, 6666);
    t = read_of(counts_of(0, 3, 0, 0));
    assert_int_equal(t.idle_ppm, 0);
    assert_int_equal(t.density_bps, 10000);
    t = read_of(counts_of(0, 0, 0, 0));
    assert_int_equal(t.idle_ppm + t.density_bps + t.occupancy_bps, 0);
    t = read_of(counts_of(UINT32_MAX, 0, 0, 0));
    assert_int_equal(t.idle_ppm, 1000000);
    assert_int_equal(t.occupancy_bps, 0);
}

static void test_counters_come_from_their_words(void **state)
{
    (void)state;
    static const uint32_t words[] = {VYRE_CONTROL_DONE_COUNT, VYRE_CONTROL_DENIED_COUNT,
                                     VYRE_CONTROL_FAULT_COUNT, VYRE_CONTROL_UNKNOWN_COUNT,
                                     VYRE_CONTROL_REQUEUE_COUNT};
    for (uint32_t i = 0; i < VY_COUNT_OF(words); i++) {
        vy_mk_put(control, words[i], 11 + i);
    }
    vy_mk_telemetry t = read_of(counts_of(1, 1, 1, 1));
    assert_int_equal(t.done_count, 11);
    assert_int_equal(t.denied_count, 12);
    assert_int_equal(t.fault_count, 13);
    assert_int_equal(t.unknown_count, 14);
    assert_int_equal(t.requeue_count, 15);
    assert_int_equal(t.hot_opcode_count, 0);
    vy_mk_put(control, VYRE_CONTROL_METRICS - 1, 1);
    vy_mk_put(control, VYRE_CONTROL_METRICS, 1);
    vy_mk_put(control, VYRE_CONTROL_METRICS + 31, UINT32_MAX);
    vy_mk_put(control, VYRE_CONTROL_METRICS + 32, 1);
    assert_int_equal(read_of(counts_of(1, 1, 1, 1)).hot_opcode_count, 2);
}

static void test_fairness_is_the_spread_of_those_that_have_any(void **state)
{
    (void)state;
    vy_mk_telemetry t = read_of(counts_of(1, 0, 0, 0));
    assert_true(t.tenant.total == 0 && t.tenant.skew == 0 && t.priority.skew == 0);
    vy_mk_put(control, VYRE_CONTROL_TENANT_FAIRNESS, 9);
    t = read_of(counts_of(1, 0, 0, 0));
    assert_true(t.tenant.total == 9 && t.tenant.skew == 0);
    vy_mk_put(control, VYRE_CONTROL_TENANT_FAIRNESS + 31, 4);
    vy_mk_put(control, VYRE_CONTROL_PRIORITY_FAIRNESS, UINT32_MAX);
    vy_mk_put(control, VYRE_CONTROL_PRIORITY_FAIRNESS + 4, 1);
    /* Their neighbours are no claims. */
    vy_mk_put(control, VYRE_CONTROL_TENANT_FAIRNESS - 1, 100);
    vy_mk_put(control, VYRE_CONTROL_PRIORITY_STARVATION, 100);
    vy_mk_put(control, VYRE_CONTROL_CURSOR, 100);
    t = read_of(counts_of(1, 0, 0, 0));
    assert_true(t.tenant.total == 13 && t.tenant.skew == 5);
    assert_true(t.priority.total == 4294967296u && t.priority.skew == UINT32_MAX - 1);
}

static void test_bytes_that_are_no_control_buffer_are_errors(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4, 636, 639, 641};
    vyre_diag diag;
    vyre_ring_counts counts = counts_of(1, 0, 0, 0);
    vy_mk_telemetry t = {.slot_count = 7};
    for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
        check_error(vy_mk_telemetry_read(&counts, control, sizes[i], &t, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, "control buffer", "bytes");
        assert_int_equal(t.slot_count, 0);
    }
    check_error(vy_mk_telemetry_read(&counts, NULL, CONTROL_SIZE, &t, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "control buffer", "NULL");
    check_error(vy_mk_telemetry_read(&counts, (const unsigned char *)control + 2, 4, &t, &diag),
                &diag, VYRE_ERROR_INVALID_ARGUMENT, "control buffer", "aligned");
}

static void test_counts_that_do_not_add_up_are_errors(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_telemetry t;
    vyre_ring_counts bad[4];
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        bad[i] = counts_of(3, 2, 1, 1);
    }
    bad[0].slot_count++;
    bad[1].queue_depth--;
    bad[2].unknown++;
    bad[3].by_status[VYRE_STATUS_CLAIMED] = UINT32_MAX;
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        check_error(vy_mk_telemetry_read(&bad[i], control, sizeof control, &t, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, "add up", "vyre_ring_count");
    }
}

static void test_random_rings_have_shares_that_fit(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20000; seed++) {
        uint64_t random = seed;
        vyre_ring_counts counts = {.unknown = (uint32_t)random_wide(&random, 20)};
        vy_mk_telemetry t;
        counts.slot_count = counts.queue_depth = counts.unknown;
        for (uint32_t s = 0; s < VYRE_STATUS_COUNT; s++) {
            uint32_t count = (uint32_t)random_wide(&random, 20);
            counts.by_status[s] = count;
            counts.slot_count += count;
            counts.queue_depth += s == VYRE_STATUS_EMPTY || s == VYRE_STATUS_DONE ? 0 : count;
        }
        for (size_t i = 0; i < VY_COUNT_OF(control); i++) {
            control[i] = (uint32_t)random_wide(&random, 32);
        }
        check_seed(vy_mk_telemetry_read(&counts, control, sizeof control, &t, NULL) == VYRE_OK,
                   seed);
        check_seed(t.idle_ppm <= VY_MK_PPM && t.density_bps <= t.occupancy_bps, seed);
        check_seed(t.occupancy_bps <= VY_MK_BPS, seed);
        check_seed(t.tenant.skew <= t.tenant.total && t.priority.skew <= t.priority.total, seed);
    }
}

/* ---- Watchdog -------------------------------------------------------------------------------- */

static vy_mk_health watch(vy_mk_watchdog *dog, uint32_t depth, uint32_t done, uint32_t faults)
{
    vy_mk_health health;
    vyre_diag diag;
    vy_mk_telemetry t = {.queue_depth = depth, .done_count = done, .fault_count = faults};
    assert_int_equal(vy_mk_watch(dog, &t, &health, &diag), VYRE_OK);
    return health;
}

static void test_stalls_are_suspected_without_progress(void **state)
{
    (void)state;
    vy_mk_watchdog dog = {0};
    vy_mk_health health = watch(&dog, 5, 3, 0);
    assert_true(health.done_delta == 0 && !health.is_stall_suspected);
    assert_true(watch(&dog, 5, 3, 0).is_stall_suspected);
    assert_true(watch(&dog, 1, 3, 0).is_stall_suspected);
    assert_false(watch(&dog, 0, 3, 0).is_stall_suspected);
    assert_false(watch(&dog, 1, 3, 1).is_stall_suspected);
    health = watch(&dog, 1, 4, 0);
    assert_true(health.done_delta == 1 && !health.is_stall_suspected);
    health = watch(&dog, 1, UINT32_MAX, 0);
    assert_true(health.done_delta == UINT32_MAX - 4);
    vy_mk_telemetry t = {.queue_depth = 1, .done_count = UINT32_MAX, .fault_slot_count = 1};
    assert_int_equal(vy_mk_watch(&dog, &t, &health, NULL), VYRE_OK);
    assert_false(health.is_stall_suspected);
    dog = (vy_mk_watchdog){0};
    assert_false(watch(&dog, 5, 0, 0).is_stall_suspected);
    assert_true(watch(&dog, 5, 0, 0).is_stall_suspected);
}

static void test_a_done_count_that_goes_backwards_is_an_error(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_watchdog dog = {0};
    vy_mk_health health;
    (void)watch(&dog, 5, 10, 0);
    vy_mk_telemetry t = {.queue_depth = 5, .done_count = 9};
    check_error(vy_mk_watch(&dog, &t, &health, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "9 slots", "10 were");
    assert_true(health.done_delta == 0 && !health.is_stall_suspected);
    assert_int_equal(dog.done_count, 10);
    assert_true(watch(&dog, 5, 10, 0).is_stall_suspected);
    assert_int_equal(watch(&dog, 5, 11, 0).done_delta, 1);
}

/* ---- Feedback -------------------------------------------------------------------------------- */

static void test_windows_are_hot_from_four_slots_on(void **state)
{
    (void)state;
    const vy_mk_window windows[] = {
        {1, 8, 3, 0}, {1, 9, 2, 2}, {2, 8, 0, 5}, {3, 8, 1, 2}, {4, 8, UINT32_MAX, 0}};
    vyre_diag diag;
    uint32_t count = 7;
    assert_int_equal(vy_mk_count_hot_windows(vy_mk_policy_standard(), windows, 5, &count, &diag),
                     VYRE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(vy_mk_count_hot_windows(vy_mk_policy_standard(), NULL, 0, &count, &diag),
                     VYRE_OK);
    assert_int_equal(count, 0);
    const vy_mk_window over[] = {{1, 8, 4, 0}, {77, 8, UINT32_MAX, 1}};
    check_error(vy_mk_count_hot_windows(vy_mk_policy_standard(), over, 2, &count, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "ticket 77", "32 bits");
    assert_int_equal(count, 0);
}

static void test_feedback_fills_the_next_request(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_window windows[] = {{1, 8, 4, 0}, {2, 8, 4, 0}, {3, 8, 4, 0}, {4, 8, 4, 0}};
    vy_mk_request request = {.queue_length = 60, .worker_count = 64, .age = 3};
    for (uint32_t opcode = 0; opcode < 9; opcode++) {
        vy_mk_put(control, VYRE_CONTROL_METRICS + opcode, 1);
    }
    vyre_ring_counts counts = counts_of(40, 58, 0, 0);
    counts.by_status[VYRE_STATUS_REQUEUE] = 2;
    counts.slot_count += 2;
    counts.queue_depth += 2;
    vy_mk_telemetry t = read_of(counts);
    assert_int_equal(vy_mk_feed_back(vy_mk_policy_standard(), &t, windows, 4, &request, &diag),
                     VYRE_OK);
    assert_int_equal(request.queue_length, 60);
    assert_int_equal(request.worker_count, 64);
    assert_int_equal(request.age, 3);
    assert_int_equal(request.node_count, 100);
    assert_int_equal(request.edge_count, 60);
    assert_int_equal(request.density_bps, 6000);
    assert_int_equal(request.hot_opcode_count, 9);
    assert_int_equal(request.hot_window_count, 4);
    assert_int_equal(request.requeue_count, 2);
    t.requeue_count = 5;
    assert_int_equal(vy_mk_feed_back(vy_mk_policy_standard(), &t, windows, 3, &request, &diag),
                     VYRE_OK);
    assert_int_equal(request.requeue_count, 5);
    assert_int_equal(request.hot_window_count, 3);

    vy_mk_limits limits = {1024, 1024, 65535, 32, 60};
    vy_mk_recommendation r;
    assert_int_equal(vy_mk_recommend(vy_mk_policy_standard(), &request, &limits,
                                     VY_MK_TOPOLOGY_EMPTY, &r, &diag),
                     VYRE_OK);
    assert_int_equal(r.topology, VY_MK_TOPOLOGY_DENSE_FRONTIER);
    assert_int_equal(r.pressure, VY_MK_PRESSURE_SATURATED);
    assert_int_equal(r.promotion_evidence.route, VY_MK_ROUTE_OPCODE_JIT);
    assert_true(r.age_first);

    vy_mk_request before = request;
    windows[3].look_ahead_count = UINT32_MAX;
    assert_int_equal(vy_mk_feed_back(vy_mk_policy_standard(), &t, windows, 4, &request, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(before.node_count == request.node_count &&
                before.density_bps == request.density_bps);
    assert_int_equal(before.hot_window_count, request.hot_window_count);
}

/* ---- Sketch ---------------------------------------------------------------------------------- */

static void test_sketches_never_count_too_few(void **state)
{
    (void)state;
    enum { ROWS = 4, COLUMNS = 64, KEYS = 300 };
    for (uint32_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        uint32_t cells[2][ROWS * COLUMNS] = {{0}, {0}};
        uint64_t keys[KEYS];
        uint32_t counts[KEYS];
        vy_mk_sketch a = {cells[0], ROWS, COLUMNS}, b = {cells[1], ROWS, COLUMNS};
        check_seed(vy_mk_sketch_check(&a, ROWS * COLUMNS, NULL) == VYRE_OK, seed);
        check_seed(vy_mk_sketch_estimate(&a, seed) == 0, seed);
        for (uint32_t i = 0; i < KEYS; i++) {
            keys[i] = random_u64(&random);
            counts[i] = (uint32_t)random_wide(&random, seed % 2 ? 10 : 32);
            vy_mk_sketch_add(i % 2 ? &a : &b, keys[i], counts[i]);
        }
        check_seed(vy_mk_sketch_merge(&a, &b, NULL) == VYRE_OK, seed);
        for (uint32_t i = 0; i < KEYS; i++) {
            check_seed(vy_mk_sketch_estimate(&a, keys[i]) >= counts[i], seed);
        }
    }
    uint32_t cells[4] = {0};
    vy_mk_sketch sketch = {cells, 2, 2};
    vy_mk_sketch_add(&sketch, 5, UINT32_MAX - 1);
    assert_true(vy_mk_sketch_estimate(&sketch, 5) == UINT32_MAX - 1);
    vy_mk_sketch_add(&sketch, 5, 1);
    assert_true(vy_mk_sketch_estimate(&sketch, 5) == UINT32_MAX);
    vy_mk_sketch_add(&sketch, 5, 1);
    assert_true(vy_mk_sketch_estimate(&sketch, 5) == UINT32_MAX);
}

static void test_sketches_refuse_shapes_that_differ(void **state)
{
    (void)state;
    static const struct {
        uint32_t rows, columns, cells;
    } bad[] = {{0, 4, 0}, {17, 4, 68}, {4, 0, 0}, {1, 65537, 65537}, {2, 4, 7}, {2, 4, 9}};
    vyre_diag diag;
    uint32_t cells[16] = {0};
    for (size_t i = 0; i < VY_COUNT_OF(bad); i++) {
        vy_mk_sketch sketch = {cells, bad[i].rows, bad[i].columns};
        check_error(vy_mk_sketch_check(&sketch, bad[i].cells, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, "sketch", "rows");
    }
    vy_mk_sketch none = {NULL, 2, 4};
    check_error(vy_mk_sketch_check(&none, 8, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT, "sketch",
                "memory for 0");
    vy_mk_sketch a = {cells, 2, 4}, b = {cells + 8, 4, 2}, c = {cells + 8, 2, 3};
    check_error(vy_mk_sketch_merge(&a, &b, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "one of 4 of 2", "one shape");
    assert_int_equal(vy_mk_sketch_merge(&a, &c, NULL), VYRE_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_shares_of_a_ring, clear_control),
        cmocka_unit_test_setup(test_counters_come_from_their_words, clear_control),
        cmocka_unit_test_setup(test_fairness_is_the_spread_of_those_that_have_any, clear_control),
        cmocka_unit_test_setup(test_bytes_that_are_no_control_buffer_are_errors, clear_control),
        cmocka_unit_test_setup(test_counts_that_do_not_add_up_are_errors, clear_control),
        cmocka_unit_test_setup(test_random_rings_have_shares_that_fit, clear_control),
        cmocka_unit_test_setup(test_stalls_are_suspected_without_progress, clear_control),
        cmocka_unit_test_setup(test_a_done_count_that_goes_backwards_is_an_error, clear_control),
        cmocka_unit_test_setup(test_windows_are_hot_from_four_slots_on, clear_control),
        cmocka_unit_test_setup(test_feedback_fills_the_next_request, clear_control),
        cmocka_unit_test_setup(test_sketches_never_count_too_few, clear_control),
        cmocka_unit_test_setup(test_sketches_refuse_shapes_that_differ, clear_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
