/* Linear algebra, networks, transforms and heat: each program on a device, and at small sizes on
 * the interpreter, against plain C, element by element. Larger sizes: tests/soak. */
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

PROGRAM_TESTS(spmv, SPMV, 300007u)
PROGRAM_TESTS(matmul, MATMUL, 65537u)
PROGRAM_TESTS(semiring_matmul, SEMIRING_MATMUL, 65537u)
PROGRAM_TESTS(linear_int4, LINEAR_INT4, 100003u)
PROGRAM_TESTS(matvec_int8, MATVEC_INT8, 1000003u)
PROGRAM_TESTS(softmax, SOFTMAX, 1000003u)
PROGRAM_TESTS(layer_norm, LAYER_NORM, 1000003u)
PROGRAM_TESTS(attention, ATTENTION, 65537u)
PROGRAM_TESTS(fft, FFT, 262144u)
PROGRAM_TESTS(ntt, NTT, 65537u)
PROGRAM_TESTS(heat, HEAT, 1000003u)

#define TWO(name)                                                                                  \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_realistic_size)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO(spmv),    TWO(matmul),     TWO(semiring_matmul), TWO(linear_int4), TWO(matvec_int8),
        TWO(softmax), TWO(layer_norm), TWO(attention),       TWO(fft),         TWO(ntt),
        TWO(heat),
    };
    return cmocka_run_group_tests(tests, vy_open_test_device, vy_close_test_device);
}
