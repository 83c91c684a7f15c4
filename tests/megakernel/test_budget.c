/* The device memory of a dispatch against its budget. */
#include "tests/megakernel/property.h"

#include "engine/megakernel/budget.h"

static const uint64_t abi[] = {640, 20480, 1028, 2048};

static vy_mk_budget budget_of(const uint64_t *sizes, uint32_t count, uint64_t alignment)
{
    return (vy_mk_budget){.sizes = sizes, .count = count, .alignment = alignment, .arena_count = 1};
}

static void test_arena_aligns_each_part(void **state)
{
    (void)state;
    static const struct {
        uint64_t size, alignment, aligned;
    } rows[] = {{0, 256, 0},     {1, 256, 256},   {255, 256, 256}, {256, 256, 256},
                {257, 256, 512}, {1028, 4, 1028}, {1, 1, 1},       {1028, 64, 1088}};
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vy_mk_budget budget = budget_of(&rows[i].size, 1, rows[i].alignment);
        uint64_t size = 7;
        assert_int_equal(vy_mk_arena_size(&budget, &size, &diag), VYRE_OK);
        assert_true(size == rows[i].aligned);
    }
    vy_mk_budget budget = budget_of(abi, VY_COUNT_OF(abi), 256);
    uint64_t size = 0;
    assert_int_equal(vy_mk_arena_size(&budget, &size, &diag), VYRE_OK);
    assert_int_equal(size, 768 + 20480 + 1280 + 2048);
    budget.count = 0;
    assert_int_equal(vy_mk_arena_size(&budget, &size, NULL), VYRE_OK);
    assert_int_equal(size, 0);
}

static void test_alignment_must_be_a_power_of_two(void **state)
{
    (void)state;
    static const uint64_t wrong[] = {0, 3, 255, 257, UINT64_MAX};
    vyre_diag diag;
    for (size_t i = 0; i < VY_COUNT_OF(wrong); i++) {
        vy_mk_budget budget = budget_of(abi, VY_COUNT_OF(abi), wrong[i]);
        uint64_t size = 7;
        check_error(vy_mk_budget_check(&budget, &size, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                    "alignment", "power of two");
        assert_true(size == 0);
    }
}

static void test_peak_counts_every_arena_in_flight(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_budget budget = budget_of(abi, VY_COUNT_OF(abi), 256);
    budget.policy_size = 28800;
    for (uint32_t arenas = 1; arenas <= 4; arenas++) {
        uint64_t size = 0;
        budget.arena_count = arenas;
        assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
        assert_int_equal(size, 28800 + arenas * 24576);
    }
    uint64_t size = 7;
    budget.arena_count = 0;
    check_error(vy_mk_budget_check(&budget, &size, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "no arena", "in flight");
    assert_true(size == 0);
}

static void test_budget_is_the_last_size_that_passes(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_budget budget = budget_of(abi, VY_COUNT_OF(abi), 256);
    budget.policy_size = 916384;
    budget.arena_count = 3;
    uint64_t size = 0, peak = 916384 + 3 * 24576;
    budget.budget_size = peak + 1;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
    budget.budget_size = peak;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
    assert_true(size == peak);
    budget.budget_size = peak - 1;
    check_error(vy_mk_budget_check(&budget, &size, &diag), &diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY,
                "needs 990112 bytes", "budget is 990111.");
    assert_true(size == peak);
    budget.budget_size = 1;
    assert_int_equal(vy_mk_budget_check(&budget, &size, NULL), VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    budget.budget_size = 0;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
}

static void test_overflow_is_found_at_its_exact_boundary(void **state)
{
    (void)state;
    vyre_diag diag;
    uint64_t size = 0;
    uint64_t aligning = UINT64_MAX - 255;
    vy_mk_budget budget = budget_of(&aligning, 1, 256);
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
    assert_true(size == UINT64_MAX - 255);
    aligning++;
    check_error(vy_mk_budget_check(&budget, &size, &diag), &diag, VYRE_ERROR_INVALID_ARGUMENT,
                "64 bits", "device memory");
    assert_true(size == 0);

    uint64_t parts[] = {UINT64_MAX - 5, 5};
    budget = budget_of(parts, 2, 1);
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
    assert_true(size == UINT64_MAX);
    budget.policy_size = 1;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    budget.policy_size = 0;
    parts[1] = 6;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_ERROR_INVALID_ARGUMENT);

    uint64_t third = UINT64_MAX / 3;
    budget = budget_of(&third, 1, 1);
    budget.arena_count = 3;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_OK);
    assert_true(size == UINT64_MAX);
    third++;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    /* An overflow is no lack of memory, whatever the budget. */
    budget.budget_size = 1;
    assert_int_equal(vy_mk_budget_check(&budget, &size, &diag), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_peak_is_what_its_parts_add_up_to(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20000; seed++) {
        uint64_t random = seed, sizes[6], expected = 0, got = 0;
        vy_mk_budget budget =
            budget_of(sizes, (uint32_t)(random_u64(&random) % 7), 1ull << random_u64(&random) % 13);
        budget.policy_size = random_wide(&random, 48);
        budget.arena_count = 1 + (uint32_t)random_wide(&random, 5);
        budget.budget_size = random_wide(&random, 50);
        for (uint32_t i = 0; i < budget.count; i++) {
            sizes[i] = random_wide(&random, 40);
            expected += (sizes[i] + budget.alignment - 1) / budget.alignment * budget.alignment;
        }
        expected = expected * budget.arena_count + budget.policy_size;
        bool fits = budget.budget_size == 0 || expected <= budget.budget_size;
        check_seed(vy_mk_budget_check(&budget, &got, NULL) ==
                       (fits ? VYRE_OK : VYRE_ERROR_DEVICE_OUT_OF_MEMORY),
                   seed);
        check_seed(got == expected, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_aligns_each_part),
        cmocka_unit_test(test_alignment_must_be_a_power_of_two),
        cmocka_unit_test(test_peak_counts_every_arena_in_flight),
        cmocka_unit_test(test_budget_is_the_last_size_that_passes),
        cmocka_unit_test(test_overflow_is_found_at_its_exact_boundary),
        cmocka_unit_test(test_peak_is_what_its_parts_add_up_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
