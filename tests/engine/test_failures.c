/* Every call of Vulkan's that can fail fails, with every result that it may give, and every
 * allocation of host memory: each is an error with a type and a fix, or is got over; nothing is
 * left, and the device goes on. tests/soak/soak_failures.c has the whole product. */
#include "tests/support/engine_fixture.h"
#include "tests/support/scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void fail_calls(vyre_validation validation)
{
    scenario_state state = {.validation = validation};
    layer_scenario_params params;
    scenario_dispatch(&state, &params);
    uint32_t runs = layer_scenario_fail_calls(&params);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 200);
}

static void test_library_survives_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer_forget_coverage();
    fail_calls(VYRE_VALIDATION_OFF);
    if (layer_uncovered(false)) {
        (void)layer_uncovered(true);
        fail_msg("%u pairs of command and result were never tried",
                 (unsigned)layer_uncovered(false));
    }
    layer_cover cover[64];
    uint32_t count = layer_coverage(cover, 64), failed = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < LAYER_MAX_RESULTS; r++) {
            failed += cover[i].failed[r];
        }
    }
    print_message("%u commands, %u failures\n", (unsigned)count, (unsigned)failed);
    assert_true(count >= 28);
}

static void test_library_survives_each_failed_call_on_bad_memory(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_coherent_memory = true;
    layer.heaps = LAYER_HEAPS_SEPARATE;
    layer.no_optional = true;
    layer_forget_coverage();
    fail_calls(VYRE_VALIDATION_OFF);
    assert_int_equal(layer_uncovered(false), 0);
}

static void test_library_survives_each_failed_allocation(void **state)
{
    (void)state;
    NEED_DEVICE();
    scenario_state scenario = {.validation = VYRE_VALIDATION_OFF};
    layer_scenario_params params;
    scenario_dispatch(&scenario, &params);
    uint32_t runs = layer_scenario_fail_allocations(&params, 7);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 50);
}

/* The layer must be able to find fault: a scenario that hides errors, and one that leaks. */
static vyre_result ignore_errors(const vyre_allocator *allocator, void *user, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.allocator = allocator;
    vyre_device *device = NULL;
    vyre_result code = vyre_device_create(&params, &device, diag);
    vyre_device_destroy(&device);
    *(uint32_t *)user += code != VYRE_OK;
    return code;
}

static void test_scenario_counts_and_names_what_it_fails(void **state)
{
    (void)state;
    NEED_DEVICE();
    uint32_t errors = 0;
    layer_scenario_params params = {.run = ignore_errors, .user = &errors, .is_exhaustive = true};
    layer_forget_coverage();
    uint32_t runs = layer_scenario_fail_calls(&params);
    assert_true(errors > runs / 2);
    layer_cover cover[64];
    uint32_t count = layer_coverage(cover, 64);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(cover[i].command->name, "vkCreateDevice") == 0) {
            found = true;
            assert_int_equal(cover[i].command->results[6], VK_ERROR_DEVICE_LOST);
            for (uint32_t r = 0; r < 7; r++) {
                assert_int_equal(cover[i].failed[r], 1);
            }
            assert_true(cover[i].made > 7);
        }
    }
    assert_true(found);
}

static void test_loss_stays_until_it_is_revived(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_diag diag;
    uint32_t value = 3;
    vyre_buffer buffer = engine_buffer(device, 4, NULL);
    layer.loss_stays = true;
    layer.fail_only = "vkQueueSubmit";
    layer.failure = VK_ERROR_DEVICE_LOST;
    layer.fail_at = layer_fallible_calls() + 1;
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, &value, 4, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_string_equal(layer_failed(), "vkQueueSubmit");
    /* Not the engine's memory of it, but Vulkan's answer. */
    assert_int_equal(layer_wait_idle(), VK_ERROR_DEVICE_LOST);
    layer_revive();
    assert_int_equal(layer_wait_idle(), VK_SUCCESS);
    vyre_device_destroy(&device);
    assert_int_equal(layer_alive(), 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, engine_reset)
    const struct CMUnitTest tests[] = {
        T(test_scenario_counts_and_names_what_it_fails),
        T(test_loss_stays_until_it_is_revived),
        T(test_library_survives_each_failed_call),
        T(test_library_survives_each_failed_call_on_bad_memory),
        T(test_library_survives_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
