/* Ratios, configuration, reference and launch geometry. */
#include "tests/megakernel/property.h"

#include "engine/megakernel/config.h"
#include "engine/megakernel/geometry.h"
#include "engine/megakernel/ratio.h"

static const vy_mk_limits desktop = {1024, 1024, 65535, 32, 60};
static const vy_mk_limits narrow = {256, 256, 65535, 32, 0};

/* ---- Ratio ----------------------------------------------------------------------------------- */

/* The product's high and low halves. */
static void multiply(uint64_t a, uint32_t b, uint64_t *out_high, uint64_t *out_low)
{
    uint64_t low = (a & UINT32_MAX) * b;
    uint64_t high = (a >> 32) * b + (low >> 32);
    *out_high = high >> 32;
    *out_low = high << 32 | (low & UINT32_MAX);
}

static bool is_at_most(uint64_t a, uint32_t b, uint64_t c, uint32_t d)
{
    uint64_t ab[2], cd[2];
    multiply(a, b, &ab[0], &ab[1]);
    multiply(c, d, &cd[0], &cd[1]);
    return ab[0] < cd[0] || (ab[0] == cd[0] && ab[1] <= cd[1]);
}

static void test_ratio_is_exact_at_its_ends(void **state)
{
    (void)state;
    assert_int_equal(vy_mk_ratio(0, 0, 10000), 0);
    assert_int_equal(vy_mk_ratio(5, 0, 10000), 0);
    assert_int_equal(vy_mk_ratio(0, 7, 10000), 0);
    assert_int_equal(vy_mk_ratio(1, 2, 10000), 5000);
    assert_int_equal(vy_mk_ratio(1, 3, 10000), 3333);
    assert_int_equal(vy_mk_ratio(7, 7, 10000), 10000);
    assert_int_equal(vy_mk_ratio(8, 7, 10000), 10000);
    assert_int_equal(vy_mk_ratio(UINT64_MAX, UINT64_MAX, 10000), 10000);
    assert_int_equal(vy_mk_ratio(UINT64_MAX - 1, UINT64_MAX, 10000), 9999);
    assert_int_equal(vy_mk_ratio(UINT64_MAX / 2, UINT64_MAX, 10000), 4999);
    assert_int_equal(vy_mk_ratio(UINT64_MAX / 2 + 1, UINT64_MAX, 10000), 5000);
    assert_int_equal(vy_mk_ratio(UINT64_MAX - 1, UINT64_MAX, UINT32_MAX), UINT32_MAX - 1);
    assert_int_equal(vy_mk_ratio(UINT32_MAX, 1ull << 32, UINT32_MAX), UINT32_MAX - 1);
}

static void test_ratio_is_the_floor_of_the_exact_quotient(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 200000; seed++) {
        uint64_t random = seed;
        uint64_t part = random_wide(&random, 64), whole = random_wide(&random, 64);
        uint32_t scale = seed % 3 ? VY_MK_BPS : (uint32_t)random_u64(&random);
        uint32_t ratio = vy_mk_ratio(part, whole, scale);
        if (whole == 0 || part >= whole) {
            check_seed(ratio == (whole ? scale : 0), seed);
            continue;
        }
        check_seed(is_at_most(whole, ratio, part, scale), seed);
        check_seed(!is_at_most(whole, ratio + 1, part, scale), seed);
    }
}

static void test_sums_and_products_refuse_overflow(void **state)
{
    (void)state;
    uint64_t out = 7;
    assert_true(vy_mk_add(UINT64_MAX - 1, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_false(vy_mk_add(UINT64_MAX, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_true(vy_mk_mul(UINT64_MAX, 0, &out));
    assert_true(out == 0);
    assert_true(vy_mk_mul(UINT64_MAX / 3, 3, &out));
    assert_true(out == UINT64_MAX);
    assert_false(vy_mk_mul(UINT64_MAX / 3 + 1, 3, &out));
    assert_true(out == UINT64_MAX);
    assert_int_equal(vy_mk_div_up(0, 4), 0);
    assert_int_equal(vy_mk_div_up(4, 4), 1);
    assert_int_equal(vy_mk_div_up(5, 4), 2);
    assert_true(vy_mk_div_up(UINT64_MAX, 2) == UINT64_MAX / 2 + 1);
}

/* ---- Configuration --------------------------------------------------------------------------- */

static void test_config_defaults_are_valid(void **state)
{
    (void)state;
    vy_mk_config config;
    vyre_diag diag;
    vy_mk_config_init(&config);
    assert_int_equal(config.worker_count, 64);
    assert_true(config.max_wall_ns == 60000000000u);
    assert_true(config.budget_size == 0 && config.node_count == 0 && config.hits_per_item == 0);
    assert_int_equal(vy_mk_config_check(&config, 0, &diag), VYRE_OK);
    assert_int_equal(diag.code, VYRE_OK);
    assert_int_equal(vy_mk_config_check(&config, 0, NULL), VYRE_OK);
}

static void test_config_refuses_no_worker_no_time_and_too_many_items(void **state)
{
    (void)state;
    vy_mk_config config;
    vyre_diag diag;
    vy_mk_config_init(&config);
    config.worker_count = 0;
    check_error(vy_mk_config_check(&config, 1, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "0 workers", "worker_count");
    config.worker_count = 1;
    config.max_wall_ns = 0;
    check_error(vy_mk_config_check(&config, 1, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "time limit", "0 ns");
    config.max_wall_ns = 1;
    assert_int_equal(vy_mk_config_check(&config, 4294967294u, &diag), VYRE_OK);
    assert_int_equal(vy_mk_config_check(&config, 4294967295u, &diag), VYRE_OK);
    check_error(vy_mk_config_check(&config, 4294967296u, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "4294967296", "4294967295");
}

/* ---- Reference ------------------------------------------------------------------------------- */

static vy_mk_reference plan_reference(const vy_mk_limits *limits, uint32_t length, uint32_t workers)
{
    vy_mk_reference reference;
    vyre_diag diag;
    assert_int_equal(vy_mk_reference_plan(limits, length, workers, &reference, &diag), VYRE_OK);
    return reference;
}

static void test_reference_has_its_pinned_numbers(void **state)
{
    (void)state;
    vy_mk_reference r = plan_reference(&narrow, 300, 64);
    assert_int_equal(r.width, 64);
    assert_int_equal(r.slot_count, 320);
    assert_int_equal(r.group_count, 5);
    assert_int_equal(r.covering_count, 5);
    r = plan_reference(&narrow, 300, 1000);
    assert_int_equal(r.worker_count, 1000);
    assert_int_equal(r.width, 256);
    assert_int_equal(r.slot_count, 512);
    assert_int_equal(r.group_count, 2);
    r = plan_reference(&narrow, 0, 64);
    assert_int_equal(r.slot_count, 64);
    assert_int_equal(r.group_count, 1);
    r = plan_reference(&narrow, UINT32_MAX, 64);
    assert_true(r.slot_count == 4294967296u);
    assert_int_equal(r.covering_count, 67108864);
}

static void test_reference_caps_its_grid_and_so_leaves_slots(void **state)
{
    (void)state;
    vy_mk_reference r = plan_reference(&narrow, 4096, 64);
    assert_int_equal(r.group_count, r.covering_count);
    r = plan_reference(&narrow, 4097, 64);
    assert_int_equal(r.group_count, 64);
    assert_int_equal(r.covering_count, 65);
    r = plan_reference(&narrow, 10000, 1);
    assert_int_equal(r.width, 1);
    assert_int_equal(r.group_count, 1);
    assert_int_equal(r.slot_count, 10000);
    for (uint32_t groups = 1023; groups <= 1025; groups++) {
        r = plan_reference(&narrow, groups * 256, 2000);
        assert_int_equal(r.group_count, groups < 1024 ? groups : 1024);
    }
}

static void test_reference_chooses_workers_by_the_device(void **state)
{
    (void)state;
    static const struct {
        uint32_t max_groups, max_invocations, asked, workers;
    } rows[] = {
        {65535, 1024, 0, 255},
        {255, 1024, 0, 1},
        {256, 1024, 0, 1},
        {511, 1024, 0, 1},
        {512, 1024, 0, 2},
        {262143, 1024, 0, 1023},
        {262144, 1024, 0, 1024},
        {262400, 1024, 0, 1024},
        {UINT32_MAX, 1024, 0, 1024},
        {512, 4095, 0, 2},
        {512, 4096, 0, 64},
        {63, 4096, 0, 63},
        {64, 4096, 0, 64},
        {65, 4097, 0, 64},
        {16384, 4096, 0, 64},
        {16640, 4096, 0, 65},
        {1, 1, 0, 1},
        {100, 1024, 99, 99},
        {100, 1024, 100, 100},
        {100, 1024, 101, 100},
        {100, 1024, UINT32_MAX, 100},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_limits limits = {1024, rows[i].max_invocations, rows[i].max_groups, 32, 0};
        assert_int_equal(plan_reference(&limits, 5000, rows[i].asked).worker_count,
                         rows[i].workers);
    }
}

static void test_limits_of_zero_are_errors(void **state)
{
    (void)state;
    static const char *const names[] = {"maxComputeWorkGroupSize", "maxComputeWorkGroupInvocations",
                                        "maxComputeWorkGroupCount"};
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        vy_mk_limits limits = desktop;
        uint32_t *members[] = {&limits.max_width, &limits.max_invocations, &limits.max_groups};
        vy_mk_reference reference = {.width = 7};
        vy_mk_launch launch = {.width = 7};
        vy_mk_launch_request request = {.queue_length = 10};
        *members[i] = 0;
        check_error(vy_mk_reference_plan(&limits, 10, 64, &reference, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, names[i], "is 0");
        assert_int_equal(reference.width, 0);
        check_error(vy_mk_launch_plan(&limits, &request, &launch, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, names[i], "is 0");
        assert_int_equal(launch.width, 0);
        assert_int_equal(vy_mk_launch_plan(&limits, &request, &launch, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static vy_mk_launch plan_launch(const vy_mk_limits *limits, vy_mk_launch_request request)
{
    vy_mk_launch launch;
    vyre_diag diag;
    assert_int_equal(vy_mk_launch_plan(limits, &request, &launch, &diag), VYRE_OK);
    return launch;
}

static void test_launch_width_follows_the_limits_alone(void **state)
{
    (void)state;
    static const struct {
        uint32_t max_width, max_invocations, subgroup, multiple;
    } rows[] = {
        {1024, 1024, 32, 8}, {1024, 1024, 64, 4}, {1024, 1024, 128, 2}, {1024, 1024, 8, 8},
        {1024, 1024, 1, 8},  {255, 1024, 32, 4},  {256, 1024, 32, 8},   {257, 1024, 32, 8},
        {1024, 127, 32, 2},  {1024, 128, 32, 4},  {1024, 129, 32, 4},   {32, 1024, 32, 1},
        {63, 64, 32, 1},     {64, 64, 32, 2},     {1024, 1024, 512, 1}, {1, 1, 1, 1},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_limits limits = {rows[i].max_width, rows[i].max_invocations, 65535, rows[i].subgroup,
                               20};
        for (uint64_t length = 0; length <= 1000000; length = 10 * length + 1) {
            vy_mk_launch launch =
                plan_launch(&limits, (vy_mk_launch_request){.queue_length = length,
                                                            .group_cap = (uint32_t)length % 100});
            assert_int_equal(launch.multiple, rows[i].multiple);
            assert_int_equal(launch.width, rows[i].multiple * rows[i].subgroup);
        }
    }
}

static void test_launch_takes_the_multiple_asked_for(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_launch launch;
    for (uint32_t multiple = 1; multiple <= 17; multiple++) {
        vy_mk_launch_request request = {.queue_length = 100, .multiple = multiple};
        if (multiple == 1 || multiple == 2 || multiple == 4 || multiple == 8) {
            assert_int_equal(plan_launch(&desktop, request).width, 32 * multiple);
        } else {
            check_error(vy_mk_launch_plan(&desktop, &request, &launch, &diag), &diag,
                        VYRE_ERROR_INVALID_ARGUMENT, "1, 2, 4 or 8", "none");
        }
    }
    vy_mk_limits small = {255, 1024, 65535, 32, 0};
    vy_mk_launch_request request = {.queue_length = 100, .multiple = 8};
    check_error(vy_mk_launch_plan(&small, &request, &launch, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "do not fit", "255");
    small.max_width = 256;
    assert_int_equal(plan_launch(&small, request).width, 256);
}

static void test_launch_refuses_subgroups_of_no_device(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 3, 33, 96, UINT32_MAX};
    vyre_diag diag;
    vy_mk_launch launch;
    vy_mk_launch_request request = {.queue_length = 100};
    vy_mk_limits limits = desktop;
    for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
        limits.subgroup_size = sizes[i];
        check_error(vy_mk_launch_plan(&limits, &request, &launch, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, "subgroup size", "power of two");
    }
    limits = (vy_mk_limits){1024, 31, 65535, 32, 0};
    check_error(vy_mk_launch_plan(&limits, &request, &launch, &diag), &diag,
                VYRE_ERROR_INVALID_ARGUMENT, "does not fit", "31");
}

static void test_launch_grid_is_bounded_by_queue_machine_share_and_cap(void **state)
{
    (void)state;
    /* 60 units of 1024 lanes at width 256: 240 workgroups. */
    static const struct {
        vy_mk_launch_request request;
        uint32_t groups, rounds;
    } rows[] = {
        {{0, 0, 0, 0}, 0, 0},
        {{1, 0, 0, 0}, 1, 1},
        {{255, 0, 0, 0}, 1, 1},
        {{256, 0, 0, 0}, 1, 1},
        {{257, 0, 0, 0}, 2, 1},
        {{61183, 0, 0, 0}, 239, 1},
        {{61184, 0, 0, 0}, 239, 1},
        {{61185, 0, 0, 0}, 240, 1},
        {{61440, 0, 0, 0}, 240, 1},
        {{61441, 0, 0, 0}, 240, 2},
        {{1000000, 0, 10000, 0}, 240, 17},
        {{1000000, 0, 10001, 0}, 240, 17},
        {{1000000, 0, 9999, 0}, 239, 17},
        {{1000000, 0, 5000, 0}, 120, 33},
        {{1000000, 0, 42, 0}, 1, 3907},
        {{1000000, 0, 41, 0}, 1, 3907},
        {{1000000, 0, 1, 0}, 1, 3907},
        {{1000000, 239, 0, 0}, 239, 17},
        {{1000000, 240, 0, 0}, 240, 17},
        {{1000000, 241, 0, 0}, 240, 17},
        {{10000, 1, 0, 0}, 1, 40},
        {{4294967008u, 0, 0, 0}, 1, 16777215},
        {{4294966752u, 0, 0, 0}, 2, 8388607},
        {{4294966753u, 0, 0, 0}, 1, 16777214},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_launch launch = plan_launch(&desktop, rows[i].request);
        if (launch.group_count != rows[i].groups || launch.round_count != rows[i].rounds) {
            fail_msg("row %u: %u groups, %u rounds", (unsigned)i, launch.group_count,
                     launch.round_count);
        }
        assert_int_equal(launch.lane_count, launch.group_count * launch.width);
    }
    vy_mk_launch_request many = {.queue_length = 1000000};
    vy_mk_limits limits = desktop;
    limits.unit_count = 0;
    assert_int_equal(plan_launch(&limits, many).group_count, 512);
    limits.max_groups = 511;
    assert_int_equal(plan_launch(&limits, many).group_count, 511);
    limits = desktop;
    limits.unit_count = UINT32_MAX;
    assert_int_equal(plan_launch(&limits, many).group_count, 3907);
}

static void test_launch_refuses_queues_that_wrap_the_cursor(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {4294967009u, 4294967295u, 4294967296u, UINT64_MAX};
    vyre_diag diag;
    vy_mk_launch launch;
    for (size_t i = 0; i < VY_COUNT_OF(lengths); i++) {
        vy_mk_launch_request request = {.queue_length = lengths[i]};
        check_error(vy_mk_launch_plan(&desktop, &request, &launch, &diag), &diag,
                    VYRE_ERROR_INVALID_ARGUMENT, "cursor", "4294967008");
        assert_int_equal(launch.width, 0);
    }
}

/* Drains as the kernel does: subgroups in any order advance the cursor by their width until it has
 * passed the end. Returns whether each slot was taken once. */
static bool drain(uint32_t length, uint32_t subgroup, uint32_t subgroups, uint64_t *random)
{
    enum { MAX_SUBGROUPS = 8192, MAX_LENGTH = 70000 };
    static unsigned char taken[MAX_LENGTH];
    static uint32_t alive[MAX_SUBGROUPS];
    uint32_t cursor = 0, alive_count = subgroups;
    assert_true(subgroups <= MAX_SUBGROUPS && length <= MAX_LENGTH);
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0; i < subgroups; i++) {
        alive[i] = i;
    }
    while (alive_count > 0) {
        uint32_t who = (uint32_t)(random_u64(random) % alive_count);
        uint32_t first = cursor;
        cursor += subgroup;
        for (uint32_t lane = 0; lane < subgroup && first + lane < length; lane++) {
            taken[first + lane]++;
        }
        if (first >= length) {
            alive[who] = alive[--alive_count];
        }
    }
    for (uint32_t i = 0; i < length; i++) {
        if (taken[i] != 1) {
            return false;
        }
    }
    return cursor <= length + subgroups * subgroup + subgroup - 1;
}

static void test_any_grid_drains_any_queue(void **state)
{
    (void)state;
    static const uint32_t workers[] = {1, 7, 64, 1000};
    static const uint32_t lengths[] = {1,    2,    10,    11,    31,    32,    33,   63,
                                       64,   65,   255,   256,   257,   300,   4095, 4096,
                                       4097, 9999, 10000, 10001, 65535, 65536, 65537};
    for (uint32_t seed = 1; seed <= VY_COUNT_OF(workers) * (VY_COUNT_OF(lengths) + 20); seed++) {
        uint64_t random = seed;
        uint32_t at = seed / VY_COUNT_OF(workers);
        uint32_t length =
            at < VY_COUNT_OF(lengths) ? lengths[at] : (uint32_t)(random_u64(&random) % 65536) + 1;
        vy_mk_limits limits = desktop;
        limits.subgroup_size = 8u << random_u64(&random) % 4;
        vy_mk_launch launch = plan_launch(
            &limits, (vy_mk_launch_request){.queue_length = length,
                                            .group_cap = workers[seed % VY_COUNT_OF(workers)]});
        check_seed(launch.group_count >= 1, seed);
        check_seed(launch.group_count <= workers[seed % VY_COUNT_OF(workers)], seed);
        check_seed((uint64_t)launch.lane_count * launch.round_count >= length, seed);
        check_seed(
            drain(length, limits.subgroup_size, launch.group_count * launch.multiple, &random),
            seed);
    }
}

static void test_launch_keeps_to_all_limits(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 50000; seed++) {
        uint64_t random = seed;
        vy_mk_limits limits = {1 + (uint32_t)random_wide(&random, 14),
                               1 + (uint32_t)random_wide(&random, 14),
                               1 + (uint32_t)random_wide(&random, 31),
                               1u << random_u64(&random) % 8, (uint32_t)random_wide(&random, 32)};
        vy_mk_launch_request request = {random_wide(&random, 33),
                                        (uint32_t)random_wide(&random, 32),
                                        (uint32_t)(random_u64(&random) % 12000), 0};
        vy_mk_launch launch;
        vyre_result result = vy_mk_launch_plan(&limits, &request, &launch, NULL);
        uint32_t widest = vy_mk_min(limits.max_width, limits.max_invocations);
        if (result) {
            check_seed(limits.subgroup_size > widest ||
                           request.queue_length > UINT32_MAX - 9 * limits.subgroup_size,
                       seed);
            continue;
        }
        check_seed(launch.width == launch.multiple * limits.subgroup_size, seed);
        check_seed(launch.width <= widest && launch.group_count <= limits.max_groups, seed);
        check_seed(!request.group_cap || launch.group_count <= request.group_cap, seed);
        check_seed((launch.group_count == 0) == (request.queue_length == 0), seed);
        check_seed(request.queue_length + (uint64_t)launch.group_count * launch.width +
                           limits.subgroup_size - 1 <=
                       UINT32_MAX,
                   seed);
        check_seed((uint64_t)launch.round_count * launch.lane_count >= request.queue_length, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio_is_exact_at_its_ends),
        cmocka_unit_test(test_ratio_is_the_floor_of_the_exact_quotient),
        cmocka_unit_test(test_sums_and_products_refuse_overflow),
        cmocka_unit_test(test_config_defaults_are_valid),
        cmocka_unit_test(test_config_refuses_no_worker_no_time_and_too_many_items),
        cmocka_unit_test(test_reference_has_its_pinned_numbers),
        cmocka_unit_test(test_reference_caps_its_grid_and_so_leaves_slots),
        cmocka_unit_test(test_reference_chooses_workers_by_the_device),
        cmocka_unit_test(test_limits_of_zero_are_errors),
        cmocka_unit_test(test_launch_width_follows_the_limits_alone),
        cmocka_unit_test(test_launch_takes_the_multiple_asked_for),
        cmocka_unit_test(test_launch_refuses_subgroups_of_no_device),
        cmocka_unit_test(test_launch_grid_is_bounded_by_queue_machine_share_and_cap),
        cmocka_unit_test(test_launch_refuses_queues_that_wrap_the_cursor),
        cmocka_unit_test(test_any_grid_drains_any_queue),
        cmocka_unit_test(test_launch_keeps_to_all_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
