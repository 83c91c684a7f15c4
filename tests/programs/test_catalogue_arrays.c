/* Programs over arrays: each program on a device, and at small sizes on the interpreter, against
 * plain C, element by element. Larger sizes: tests/soak. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOGUE_ENTRIES(bitset),     CATALOGUE_ENTRIES(extremes),
        CATALOGUE_ENTRIES(radix_sort), CATALOGUE_ENTRIES(distinct),
        CATALOGUE_ENTRIES(rank_sort),  CATALOGUE_ENTRIES(histogram_gather),
        CATALOGUE_ENTRIES(scan_group), CATALOGUE_ENTRIES(segments),
        CATALOGUE_ENTRIES(bytecode),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
