/* Every call of Vulkan's that can fail, with every result that it may give, on good and on bad
 * devices, and every allocation of host memory. A part of it is tests/engine/test_failures.c. */
#include "tests/support/scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void whole_product(void)
{
    layer_settings settings = layer;
    scenario_state state = {.validation = VYRE_VALIDATION_OFF};
    layer_scenario_params params;
    scenario_dispatch(&state, &params);
    params.is_exhaustive = true;
    uint32_t runs = layer_scenario_fail_calls(&params);
    layer = settings;
    runs += layer_scenario_fail_allocations(&params, 1);
    print_message("%u runs\n", (unsigned)runs);
    assert_int_equal(layer_uncovered(true), 0);
}

static int reset(void **state)
{
    (void)state;
    layer_reset();
    layer_forget_coverage();
    return 0;
}

static void test_product_on_the_device_as_it_is(void **state)
{
    (void)state;
    whole_product();
}

static void test_product_on_bad_memory(void **state)
{
    (void)state;
    layer.no_coherent_memory = true;
    layer.heaps = LAYER_HEAPS_SEPARATE;
    whole_product();
}

static void test_product_without_anything_optional(void **state)
{
    (void)state;
    layer.no_optional = true;
    layer.no_timestamps = true;
    whole_product();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_product_on_the_device_as_it_is, reset),
        cmocka_unit_test_setup(test_product_on_bad_memory, reset),
        cmocka_unit_test_setup(test_product_without_anything_optional, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
