/* Regions of a workspace: where they lie, and what does not fit. */
#include "engine/megakernel/workspace.h"

#include "tests/megakernel/refused.h"

#include <stdio.h>

static const uint64_t none = 0xdeadbeef;

static void test_regions_lie_behind_one_another(void **state)
{
    (void)state;
    const vy_mk_region regions[] = {
        {"control", 161}, {"ring", 16 * 300}, {"debug", 257}, {"io", 512}, {"hits", 0}};
    static const struct {
        uint64_t alignment, offsets[5], size;
    } cases[] = {
        {4, {0, 644, 19844, 20872, 22920}, 22920},
        {64, {0, 704, 19904, 20992, 23040}, 23040},
        {256, {0, 768, 19968, 21248, 23296}, 23296},
        {65536, {0, 65536, 131072, 196608, 262144}, 262144},
    };
    for (size_t c = 0; c < VY_COUNT_OF(cases); c++) {
        vy_mk_place places[5];
        uint64_t size = none;
        vyre_diag diag;
        assert_int_equal(
            vy_mk_workspace_plan(regions, 5, cases[c].alignment, 0, places, &size, &diag), VYRE_OK);
        for (uint32_t i = 0; i < 5; i++) {
            assert_int_equal(places[i].offset, cases[c].offsets[i]);
            assert_int_equal(places[i].size, 4 * regions[i].words);
        }
        assert_int_equal(size, cases[c].size);
        /* Exactly that much is enough. */
        assert_int_equal(
            vy_mk_workspace_plan(regions, 5, cases[c].alignment, size, places, &size, &diag),
            VYRE_OK);
        assert_refused(
            vy_mk_workspace_plan(regions, 5, cases[c].alignment, size - 1, places, &size, &diag),
            INVALID_ARGUMENT, &diag, "region '|ends at byte");
        assert_int_equal(size, cases[c].size);
    }
}

static void test_regions_never_overlap_and_leave_no_unit_between(void **state)
{
    (void)state;
    uint64_t seed = 12345;
    vy_mk_region regions[VY_MK_MAX_REGIONS];
    char names[VY_MK_MAX_REGIONS][8];
    vy_mk_place places[VY_MK_MAX_REGIONS];
    for (uint32_t round = 0; round < 500; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t count = (uint32_t)(seed >> 40) % (VY_MK_MAX_REGIONS + 1);
        uint64_t alignment = (uint64_t)4 << (seed >> 60);
        for (uint32_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            snprintf(names[i], sizeof names[i], "r%u", i);
            regions[i] = (vy_mk_region){names[i], (seed >> 33) % 5000};
        }
        uint64_t size = none, end = 0;
        assert_int_equal(vy_mk_workspace_plan(regions, count, alignment, 0, places, &size, NULL),
                         VYRE_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(places[i].offset % alignment, 0);
            assert_true(places[i].offset >= end && places[i].offset - end < alignment);
            end = places[i].offset + places[i].size;
        }
        assert_true(size % alignment == 0 && size >= end && size - end < alignment);
    }
}

static void test_regions_find_overflow_at_its_boundary(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_place places[2] = {{none, none}, {none, none}};
    uint64_t size = none;
    const uint64_t most = UINT64_MAX / 4; /* words: 2^64 - 4 bytes */
    const vy_mk_region one[] = {{"a", most}};
    assert_int_equal(vy_mk_workspace_plan(one, 1, 4, 0, places, &size, &diag), VYRE_OK);
    assert_true(size == UINT64_MAX - 3 && places[0].size == size && places[0].offset == 0);
    const vy_mk_region more[] = {{"a", most}, {"b", 1}};
    assert_refused(vy_mk_workspace_plan(more, 2, 4, 0, places, &size, &diag), INVALID_ARGUMENT,
                   &diag, "region 'b'|2^64");
    /* Rounding up passes it too. */
    assert_refused(vy_mk_workspace_plan(one, 1, 8, 0, places, &size, &diag), INVALID_ARGUMENT,
                   &diag, "region 'a'|2^64");
    const vy_mk_region product[] = {{"x", 1}, {"c", most + 1}};
    assert_refused(vy_mk_workspace_plan(product, 2, 4, 0, places, &size, &diag), INVALID_ARGUMENT,
                   &diag, "region 'c'|2^64");
    assert_true(size == UINT64_MAX - 3 && places[0].size == size && places[1].offset == none);
}

static void test_regions_that_are_none_are_refused(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_mk_place places[VY_MK_MAX_REGIONS + 1] = {{none, none}};
    uint64_t size = none;
    vy_mk_region regions[VY_MK_MAX_REGIONS + 1];
    char names[VY_MK_MAX_REGIONS + 1][8];
    for (uint32_t i = 0; i <= VY_MK_MAX_REGIONS; i++) {
        snprintf(names[i], sizeof names[i], "r%u", i);
        regions[i] = (vy_mk_region){names[i], 1};
    }
    static const uint64_t alignments[] = {0, 1, 2, 3, 5, 6, 12, 24, UINT64_MAX};
    for (size_t i = 0; i < VY_COUNT_OF(alignments); i++) {
        assert_refused(vy_mk_workspace_plan(regions, 1, alignments[i], 0, places, &size, &diag),
                       INVALID_ARGUMENT, &diag, "alignment|power of two");
    }
    assert_refused(vy_mk_workspace_plan(regions, VY_MK_MAX_REGIONS + 1, 4, 0, places, &size, &diag),
                   INVALID_ARGUMENT, &diag, "65 regions|64");
    regions[7].name = "";
    assert_refused(vy_mk_workspace_plan(regions, 8, 4, 0, places, &size, &diag), INVALID_ARGUMENT,
                   &diag, "region 7|no name");
    regions[7].name = NULL;
    assert_refused(vy_mk_workspace_plan(regions, 8, 4, 0, places, &size, &diag), INVALID_ARGUMENT,
                   &diag, "region 7|no name");
    regions[7].name = "r2";
    assert_refused(vy_mk_workspace_plan(regions, 8, 4, 0, places, &size, &diag), INVALID_ARGUMENT,
                   &diag, "regions 2 and 7|'r2'");
    assert_true(size == none && places[0].offset == none);
    regions[7].name = names[7];
    assert_int_equal(vy_mk_workspace_plan(regions, VY_MK_MAX_REGIONS, 4, 0, places, &size, &diag),
                     VYRE_OK);
    assert_int_equal(size, 4 * VY_MK_MAX_REGIONS);
    assert_int_equal(vy_mk_workspace_plan(NULL, 0, 4, 0, NULL, &size, &diag), VYRE_OK);
    assert_int_equal(size, 0);
}

static void test_regions_are_found_by_name(void **state)
{
    (void)state;
    const vy_mk_region regions[] = {{"control", 1}, {"ring", 2}, {"io", 3}};
    assert_int_equal(vy_mk_workspace_find(regions, 3, "control"), 0);
    assert_int_equal(vy_mk_workspace_find(regions, 3, "io"), 2);
    assert_int_equal(vy_mk_workspace_find(regions, 3, "i"), 3);
    assert_int_equal(vy_mk_workspace_find(regions, 2, "io"), 2);
    assert_int_equal(vy_mk_workspace_find(regions, 0, "control"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions_lie_behind_one_another),
        cmocka_unit_test(test_regions_never_overlap_and_leave_no_unit_between),
        cmocka_unit_test(test_regions_find_overflow_at_its_boundary),
        cmocka_unit_test(test_regions_that_are_none_are_refused),
        cmocka_unit_test(test_regions_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
