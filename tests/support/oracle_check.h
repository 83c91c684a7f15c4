/* Tests of programs against their oracles, for cmocka: sizes to run and the device to run them on.
 */
#ifndef VY_ORACLE_CHECK_H
#define VY_ORACLE_CHECK_H

#include "tests/support/oracle_run.h"

#include <stdbool.h>

/* VYRE_TESTS_NO_DEVICE is set: only the interpreter runs. */
bool vy_is_without_device(void);
/* A group's set-up and tear-down: *state is the device, or NULL. A test that wants one fails then;
 * a set-up that fails need not count. */
int vy_check_open(void **state);
int vy_check_close(void **state);

/* Every size in every variant of the set (bits 1 << vy_variant), in the ways asked for (VY_RUN_*).
 * Where a graph needs as many passes as it has nodes, only sizes up to 2,000. */
void vy_check_sizes(vyre_device *device, vy_subject subject, const uint32_t *sizes, uint32_t count,
                    uint32_t variants, uint32_t ways);
/* 0, 1, 2, odd, and around a workgroup, on device and interpreter. */
void vy_check_edges(void **state, vy_subject subject);
/* One size in all variants, on the device. */
void vy_check_device(void **state, vy_subject subject, uint32_t size);

/* Both for one program, and how a list of tests names them. */
#define CATALOGUE_TESTS(name, subject, size)                                                       \
    static void test_##name##_equals_oracle_at_edge_sizes(void **state)                            \
    {                                                                                              \
        vy_check_edges(state, VY_SUBJECT_##subject);                                               \
    }                                                                                              \
    static void test_##name##_equals_oracle_at_a_realistic_size(void **state)                      \
    {                                                                                              \
        vy_check_device(state, VY_SUBJECT_##subject, size);                                        \
    }
#define CATALOGUE_ENTRIES(name)                                                                    \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_realistic_size)

#endif
