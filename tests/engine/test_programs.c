/* The programs of shaders/ on a device, and up to 2,000 elements on the interpreter, against plain
 * C: every element, the passes and the convergence. */
#include "codegen/base/base.h"
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LARGE_PRIME 1000003u
#define FOLDED_SIZE (65535u * 256u + 1u) /* one workgroup more than a dimension surely holds */
#define PATH_LENGTH 70000u

/* And where scans and sums take one level more. */
static void check_prime(void **state, vy_subject subject)
{
    static const uint32_t sizes[] = {65536, 65537, LARGE_PRIME};
    vy_check_sizes(*state, subject, sizes, VY_COUNT_OF(sizes), UINT32_MAX, VY_RUN_DEVICE);
}

static void check_folded(void **state, vy_subject subject, vy_variant variant)
{
    static const uint32_t sizes[] = {FOLDED_SIZE};
    vy_check_sizes(*state, subject, sizes, 1, 1u << variant, VY_RUN_DEVICE);
}

#define PROGRAM_TESTS(name, subject, folded)                                                       \
    static void test_##name##_equals_oracle_at_edge_sizes(void **state)                            \
    {                                                                                              \
        vy_check_edges(state, VY_SUBJECT_##subject);                                               \
    }                                                                                              \
    static void test_##name##_equals_oracle_at_a_large_prime(void **state)                         \
    {                                                                                              \
        check_prime(state, VY_SUBJECT_##subject);                                                  \
    }                                                                                              \
    static void test_##name##_equals_oracle_on_a_folded_grid(void **state)                         \
    {                                                                                              \
        check_folded(state, VY_SUBJECT_##subject, VY_VARIANT_##folded);                            \
    }

/* Programs that go through tiles of 4096: the last one short, whole, just begun; and so many that
 * each workgroup has several. */
static void check_tiles(void **state, vy_subject subject)
{
    static const uint32_t edges[] = {4095, 4096, 4097, 8191, 8193};
    static const uint32_t many[] = {2 * 1056 * 4096 - 1, 2 * 1056 * 4096 + 4097};
    vy_check_sizes(*state, subject, edges, VY_COUNT_OF(edges), UINT32_MAX,
                   VY_RUN_DEVICE | VY_RUN_INTERPRETER);
    vy_check_sizes(*state, subject, many, VY_COUNT_OF(many), 1u << VY_VARIANT_RANDOM,
                   VY_RUN_DEVICE);
}

#define TILE_TESTS(name, subject)                                                                  \
    static void test_##name##_equals_oracle_at_edge_sizes(void **state)                            \
    {                                                                                              \
        vy_check_edges(state, VY_SUBJECT_##subject);                                               \
    }                                                                                              \
    static void test_##name##_equals_oracle_at_a_large_prime(void **state)                         \
    {                                                                                              \
        check_prime(state, VY_SUBJECT_##subject);                                                  \
    }                                                                                              \
    static void test_##name##_equals_oracle_at_tiles(void **state)                                 \
    {                                                                                              \
        check_tiles(state, VY_SUBJECT_##subject);                                                  \
    }
#define THREE_OF_TILES(name)                                                                       \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_large_prime),                            \
        cmocka_unit_test(test_##name##_equals_oracle_at_tiles)

PROGRAM_TESTS(bfs, BFS, DIRECTED) /* both ways, the columns exceed some devices' buffers */
PROGRAM_TESTS(components, COMPONENTS, RANDOM)
PROGRAM_TESTS(dataflow, DATAFLOW, RANDOM)
TILE_TESTS(scan, SCAN)
TILE_TESTS(compact, COMPACT)
TILE_TESTS(histogram, HISTOGRAM)
PROGRAM_TESTS(reduce, REDUCE, RANDOM)
PROGRAM_TESTS(life, LIFE, BRIEF) /* a hundred generations of it are in tests/soak */

/* The flag ends it after exactly as many passes as the path has nodes, neither sooner nor later. */
static void test_bfs_reaches_the_far_end_of_a_long_path(void **state)
{
    vy_prepared prepared;
    vy_case c;
    if (vy_is_without_device()) {
        print_message("no device wanted: not run\n");
        return;
    }
    assert_non_null(*state);
    bool ok = vy_prepare(*state, VY_SUBJECT_BFS, &prepared);
    assert_true(vy_case_init(&c, VY_SUBJECT_BFS, VY_VARIANT_PATH, PATH_LENGTH, 1));
    assert_true(vy_case_keep_outputs(&c));
    assert_int_equal(c.passes_expected, PATH_LENGTH);
    ok = ok && vy_case_run(&prepared, &c, VY_RUN_DEVICE);
    uint32_t last = vy_case_find(&c, "level")->out[PATH_LENGTH - 1];
    vy_case_finish(&c);
    vy_prepared_finish(&prepared);
    assert_true(ok);
    assert_int_equal(last, PATH_LENGTH - 1);
}

/* A path of n nodes takes about log2 n passes, in any order of its nodes. */
static void test_components_passes_grow_slowly(void **state)
{
    static const vy_variant variants[] = {VY_VARIANT_PATH, VY_VARIANT_SHUFFLED, VY_VARIANT_GRID,
                                          VY_VARIANT_RANDOM};
    vy_prepared prepared;
    (void)state;
    assert_true(vy_prepare(NULL, VY_SUBJECT_COMPONENTS, &prepared));
    for (uint32_t i = 0; i < VY_COUNT_OF(variants); i++) {
        vy_case c;
        assert_true(vy_case_init(&c, VY_SUBJECT_COMPONENTS, variants[i], 20000, 7));
        assert_true(vy_case_run(&prepared, &c, VY_RUN_INTERPRETER));
        assert_in_range(c.passes_run, 2, 20);
        vy_case_finish(&c);
    }
    vy_prepared_finish(&prepared);
}

#define THREE(name)                                                                                \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_large_prime),                            \
        cmocka_unit_test(test_##name##_equals_oracle_on_a_folded_grid)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components_passes_grow_slowly),
        THREE(bfs),
        THREE(components),
        THREE(dataflow),
        THREE_OF_TILES(scan),
        THREE_OF_TILES(compact),
        THREE_OF_TILES(histogram),
        THREE(reduce),
        THREE(life),
        cmocka_unit_test(test_bfs_reaches_the_far_end_of_a_long_path),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
