/* Graphs: each program on a device, and at small sizes on the interpreter, against plain C, element
 * by element. Larger sizes: tests/soak. */
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

CATALOGUE_TESTS(reach, REACH, 300007u)
CATALOGUE_TESTS(bfs_queue, BFS_QUEUE, 300007u)
CATALOGUE_TESTS(bfs_group, BFS_GROUP, 300007u)
CATALOGUE_TESTS(shortest_paths, SHORTEST_PATHS, 100003u)
CATALOGUE_TESTS(closure, CLOSURE, 65537u)
CATALOGUE_TESTS(union_find, UNION_FIND, 300007u)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOGUE_ENTRIES(reach),     CATALOGUE_ENTRIES(bfs_queue),
        CATALOGUE_ENTRIES(bfs_group), CATALOGUE_ENTRIES(shortest_paths),
        CATALOGUE_ENTRIES(closure),   CATALOGUE_ENTRIES(union_find),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
