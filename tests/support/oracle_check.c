/* Tests of programs against their oracles; see oracle_check.h. */
#include "tests/support/oracle_check.h"

#include "codegen/base/base.h"
#include "tests/support/differential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

bool vy_is_without_device(void)
{
    return getenv("VYRE_TESTS_NO_DEVICE") != NULL;
}

int vy_check_open(void **state)
{
    *state = vy_is_without_device() ? NULL : vy_test_device();
    return 0;
}

int vy_check_close(void **state)
{
    vyre_device *device = *state;
    vyre_device_destroy(&device);
    *state = NULL;
    return 0;
}

static bool is_deep(vy_subject subject, vy_variant variant)
{
    bool goes_node_by_node = subject == VY_SUBJECT_BFS || subject == VY_SUBJECT_BFS_QUEUE ||
                             subject == VY_SUBJECT_REACH || subject == VY_SUBJECT_SHORTEST_PATHS;
    return goes_node_by_node && variant == VY_VARIANT_PATH;
}

void vy_check_sizes(vyre_device *device, vy_subject subject, const uint32_t *sizes, uint32_t count,
                    uint32_t variants, uint32_t ways)
{
    vy_prepared prepared;
    uint32_t checked = 0;
    if (!device) {
        assert_true(vy_is_without_device());
        ways &= VY_RUN_INTERPRETER;
    }
    if (!ways) {
        print_message("no device wanted: not run\n");
        return;
    }
    bool ok = vy_prepare(device, subject, &prepared);
    for (uint32_t v = 0; v < VY_VARIANT_COUNT && ok; v++) {
        for (uint32_t i = 0; i < count && ok; i++) {
            bool is_wanted = vy_subject_has(subject, (vy_variant)v) && (variants >> v & 1) &&
                             (sizes[i] <= 2000 || !is_deep(subject, (vy_variant)v));
            if (is_wanted) {
                ok = vy_check(&prepared, subject, (vy_variant)v, sizes[i], ways);
                checked++;
            }
        }
    }
    vy_prepared_finish(&prepared);
    assert_true(ok);
    assert_int_not_equal(checked, 0);
}

void vy_check_edges(void **state, vy_subject subject)
{
    static const uint32_t sizes[] = {0, 1, 2, 37, 255, 256, 257, 2000};
    vy_check_sizes(*state, subject, sizes, VY_COUNT_OF(sizes), UINT32_MAX,
                   VY_RUN_DEVICE | VY_RUN_INTERPRETER);
}

void vy_check_device(void **state, vy_subject subject, uint32_t size)
{
    vy_check_sizes(*state, subject, &size, 1, UINT32_MAX, VY_RUN_DEVICE);
}
