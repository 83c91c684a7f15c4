/* Linear algebra, networks, transforms and heat: each program on a device, and at small sizes on
 * the interpreter, against plain C, element by element. Larger sizes: tests/soak. */
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

CATALOGUE_TESTS(spmv, SPMV, 300007u)
CATALOGUE_TESTS(matmul, MATMUL, 65537u)
CATALOGUE_TESTS(semiring_matmul, SEMIRING_MATMUL, 65537u)
CATALOGUE_TESTS(linear_int4, LINEAR_INT4, 100003u)
CATALOGUE_TESTS(matvec_int8, MATVEC_INT8, 1000003u)
CATALOGUE_TESTS(softmax, SOFTMAX, 1000003u)
CATALOGUE_TESTS(layer_norm, LAYER_NORM, 1000003u)
CATALOGUE_TESTS(attention, ATTENTION, 65537u)
CATALOGUE_TESTS(fft, FFT, 262144u)
CATALOGUE_TESTS(ntt, NTT, 65537u)
CATALOGUE_TESTS(heat, HEAT, 1000003u)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOGUE_ENTRIES(spmv),
        CATALOGUE_ENTRIES(matmul),
        CATALOGUE_ENTRIES(semiring_matmul),
        CATALOGUE_ENTRIES(linear_int4),
        CATALOGUE_ENTRIES(matvec_int8),
        CATALOGUE_ENTRIES(softmax),
        CATALOGUE_ENTRIES(layer_norm),
        CATALOGUE_ENTRIES(attention),
        CATALOGUE_ENTRIES(fft),
        CATALOGUE_ENTRIES(ntt),
        CATALOGUE_ENTRIES(heat),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
