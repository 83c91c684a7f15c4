/* Programs over arrays: each program on a device, and at small sizes on the interpreter, against
 * plain C, element by element. Larger sizes: tests/soak. */
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PROGRAM_TESTS(name, subject, size)                                                         \
    static void test_##name##_equals_oracle_at_edge_sizes(void **state)                            \
    {                                                                                              \
        vy_check_edges(state, VY_SUBJECT_##subject);                                               \
    }                                                                                              \
    static void test_##name##_equals_oracle_at_a_realistic_size(void **state)                      \
    {                                                                                              \
        vy_check_device(state, VY_SUBJECT_##subject, size);                                        \
    }

PROGRAM_TESTS(bitset, BITSET, 1000003u)
PROGRAM_TESTS(extremes, EXTREMES, 1000003u)
PROGRAM_TESTS(radix_sort, RADIX_SORT, 1000003u)
PROGRAM_TESTS(distinct, DISTINCT, 1000003u)
PROGRAM_TESTS(rank_sort, RANK_SORT, 8193u)
PROGRAM_TESTS(histogram_gather, HISTOGRAM_GATHER, 65537u)
PROGRAM_TESTS(scan_group, SCAN_GROUP, 1000003u)
PROGRAM_TESTS(segments, SEGMENTS, 300007u)
PROGRAM_TESTS(bytecode, BYTECODE, 300007u)

#define TWO(name)                                                                                  \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_realistic_size)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO(bitset),           TWO(extremes),   TWO(radix_sort), TWO(distinct), TWO(rank_sort),
        TWO(histogram_gather), TWO(scan_group), TWO(segments),   TWO(bytecode),
    };
    return cmocka_run_group_tests(tests, vy_open_test_device, vy_close_test_device);
}
