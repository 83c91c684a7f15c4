/* Graphs: each program on a device, and at small sizes on the interpreter, against plain C, element
 * by element. Larger sizes: tests/soak. */
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

PROGRAM_TESTS(reach, REACH, 300007u)
PROGRAM_TESTS(bfs_queue, BFS_QUEUE, 300007u)
PROGRAM_TESTS(bfs_group, BFS_GROUP, 300007u)
PROGRAM_TESTS(shortest_paths, SHORTEST_PATHS, 100003u)
PROGRAM_TESTS(closure, CLOSURE, 65537u)
PROGRAM_TESTS(union_find, UNION_FIND, 300007u)

#define TWO(name)                                                                                  \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_realistic_size)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO(reach),          TWO(bfs_queue), TWO(bfs_group),
        TWO(shortest_paths), TWO(closure),   TWO(union_find),
    };
    return cmocka_run_group_tests(tests, vy_open_test_device, vy_close_test_device);
}
