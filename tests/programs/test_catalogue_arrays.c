/* Programs over arrays: each program on a device, and at small sizes on the interpreter, against
 * plain C, element by element. Larger sizes: tests/soak. */
#include "codegen/base/base.h"
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

CATALOGUE_TESTS(bitset, BITSET, 1000003u)
CATALOGUE_TESTS(extremes, EXTREMES, 1000003u)
CATALOGUE_TESTS(radix_sort, RADIX_SORT, 1000003u)
CATALOGUE_TESTS(distinct, DISTINCT, 1000003u)
CATALOGUE_TESTS(rank_sort, RANK_SORT, 8193u)
CATALOGUE_TESTS(histogram_gather, HISTOGRAM_GATHER, 65537u)
CATALOGUE_TESTS(scan_group, SCAN_GROUP, 1000003u)
CATALOGUE_TESTS(segments, SEGMENTS, 300007u)
CATALOGUE_TESTS(bytecode, BYTECODE, 300007u)

/* Tiles of 4096: the last one short, whole, just begun; and workgroups with several. */
static void test_radix_sort_equals_oracle_at_tiles(void **state)
{
    static const uint32_t edges[] = {4095, 4096, 4097, 8193};
    static const uint32_t many[] = {1056 * 4096 + 4097};
    vy_check_sizes(*state, VY_SUBJECT_RADIX_SORT, edges, VY_COUNT_OF(edges), UINT32_MAX,
                   VY_RUN_DEVICE | VY_RUN_INTERPRETER);
    vy_check_sizes(*state, VY_SUBJECT_RADIX_SORT, many, VY_COUNT_OF(many), 1u << VY_VARIANT_NONE,
                   VY_RUN_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOGUE_ENTRIES(bitset),     CATALOGUE_ENTRIES(extremes),
        CATALOGUE_ENTRIES(radix_sort), CATALOGUE_ENTRIES(distinct),
        CATALOGUE_ENTRIES(rank_sort),  CATALOGUE_ENTRIES(histogram_gather),
        CATALOGUE_ENTRIES(scan_group), CATALOGUE_ENTRIES(segments),
        CATALOGUE_ENTRIES(bytecode),   cmocka_unit_test(test_radix_sort_equals_oracle_at_tiles),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
