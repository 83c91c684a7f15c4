/* How kernels reach their buffers where nobody says it: by the kind of device, or as VYRE_BINDINGS
 * in the environment says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

/* What the report of a dispatch says. */
static void check_bindings(const char *environment, vyre_binding_mode mode, bool by_address)
{
    if (environment) {
        setenv("VYRE_BINDINGS", environment, 1);
    } else {
        unsetenv("VYRE_BINDINGS");
    }
    uint32_t x[70], y[70];
    vyre_device *device = engine_open(0);
    vyre_kernel_params params;
    vyre_device_kernel_params(device, &params);
    engine_program p = engine_build_bound(device,
                                          "program p\ninout y : u32[]\nin x : u32[]\n"
                                          "kernel { y[gid.x] = x[gid.x] + 1 }\n",
                                          mode);
    for (uint32_t i = 0; i < 70; i++) {
        x[i] = i * 3;
    }
    const vyre_binding bindings[2] = {engine_host_inout(y, 70), engine_host_in(x, 70)};
    vyre_dispatch_params dispatch = engine_elements(bindings, 2, 70);
    vyre_report report = must_dispatch(&p, &dispatch);
    assert_int_equal(y[69], 69 * 3 + 1);
    assert_int_equal(strcmp(report.bindings, "address") == 0, by_address);
    if (mode == VYRE_BINDINGS_AUTO) { /* no other words have to be made */
        assert_int_equal(params.interface == VYRE_INTERFACE_ADDRESS, by_address);
    }
    engine_release(&p);
    engine_close(&device);
}

static void test_auto_is_by_the_device_and_the_environment(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    engine_close(&device);
    bool is_processor = info.type == VYRE_DEVICE_PROCESSOR;
    check_bindings(NULL, VYRE_BINDINGS_AUTO, info.has_addresses && !is_processor);
    check_bindings("", VYRE_BINDINGS_AUTO, info.has_addresses && !is_processor);
    check_bindings("descriptor", VYRE_BINDINGS_AUTO, false);
    check_bindings("address", VYRE_BINDINGS_DESCRIPTOR, false);
    if (info.has_addresses) {
        check_bindings("address", VYRE_BINDINGS_AUTO, true);
        check_bindings("descriptor", VYRE_BINDINGS_ADDRESS, true);
    }
}

/* Workgroups that stay go by address alone: so they do where nobody says anything else. */
static void test_workgroups_that_stay_have_addresses(void **state)
{
    (void)state;
    NEED_DEVICE();
    unsetenv("VYRE_BINDINGS");
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    engine_program p = engine_build(device, "program p\nworkgroup 64\ninout y : u32[]\n"
                                            "kernel { y[gid.x] = y[gid.x] + 1\ngrid_sync\n"
                                            "y[gid.x] = y[gid.x] * 2 }\n");
    uint32_t y[64] = {5};
    const vyre_binding binding = engine_host_inout(y, 64);
    vyre_dispatch_params dispatch = engine_params(&binding, 1);
    memset(dispatch.elements, 0, sizeof dispatch.elements);
    dispatch.groups[0] = dispatch.groups[1] = dispatch.groups[2] = 1;
    dispatch.strategy = VYRE_STRATEGY_PERSISTENT;
    if (info.has_addresses) {
        vyre_report report = must_dispatch(&p, &dispatch);
        assert_string_equal(report.bindings, "address");
        assert_int_equal(y[0], 12);
    }
    engine_release(&p);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_auto_is_by_the_device_and_the_environment,
                                        engine_reset, engine_nothing_alive),
        cmocka_unit_test_setup_teardown(test_workgroups_that_stay_have_addresses, engine_reset,
                                        engine_nothing_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
