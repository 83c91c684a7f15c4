/* Words without the passes for speed on the device: the interpreter's results by every strategy,
 * and who asks for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/differential.h"
#include "tests/support/engine_fixture.h"

#include <stdlib.h>

enum { SEEDS = 45, WAYS = 3 };

/* Replay, one workgroup, workgroups that stay; in turn. */
static vy_mode mode_of(const vyre_device *device, uint64_t seed, vy_generated *info)
{
    vy_mode mode = vy_mode_of_seed(device, seed);
    mode.optimised = false;
    mode.plain = true;
    mode.whole = seed % WAYS == 1;
    mode.stays = seed % WAYS == 2;
    mode.interface = mode.stays ? VYRE_INTERFACE_ADDRESS : mode.interface;
    for (int i = 0; mode.whole && i < 3; i++) {
        info->groups[i] = 1;
        info->elements[i] = i == 0 && info->elements[i] % 8 ? info->elements[i] % 8 : 1;
    }
    return mode;
}

static void test_results_are_the_same_without_passes(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    uint32_t whole = 0, stayed = 0, same = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_gen_case c;
        vy_comparison comparison;
        vy_gen_case_generate(seed, &c);
        vy_mode mode = mode_of(device, seed, &c.info);
        vy_compare(device, c.text.data, c.text.size, &c.info, &mode, NULL, &comparison);
        if (comparison.verdict != VY_SAME && comparison.verdict != VY_SKIPPED) {
            fail_msg("seed %u: %s\n%s", (unsigned)seed, comparison.message, c.text.data);
        }
        same += comparison.verdict == VY_SAME;
        whole += comparison.is_whole;
        stayed += comparison.has_stayed;
        assert_false(comparison.is_coarse);
        vy_gen_case_finish(&c);
    }
    print_message("    %u programs, %u as one workgroup, %u by workgroups that stay\n",
                  (unsigned)same, (unsigned)whole, (unsigned)stayed);
    assert_true(same > SEEDS / 2 && whole > 0 && stayed > 0);
    vyre_device_destroy(&device);
}

/* Large grids too: an invocation keeps its one element. */
static void test_large_grids_are_not_coarse(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { COUNT = 300000 };
    uint32_t *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    assert_true(x && y);
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = i * 7;
    }
    vyre_report reports[2];
    for (int k = 0; k < 2; k++) {
        setenv("VYRE_OPTIMIZE", k ? "0" : "1", 1);
        vyre_device *device = engine_open(0);
        engine_program p = engine_build(
            device, "program p\nworkgroup 64\ngrid over y\nin x : u32[]\nout y : u32[len(x)]\n"
                    "kernel { y[gid.x] = x[gid.x] + 1 }\n");
        const vyre_binding bindings[2] = {engine_host_in(x, COUNT), engine_host_out(y, COUNT)};
        vyre_dispatch_params dispatch = engine_elements(bindings, 2, COUNT);
        dispatch.elements[0] = 0; /* as the program says */
        dispatch.coarsening = VYRE_COARSENING_ALWAYS;
        reports[k] = must_dispatch(&p, &dispatch);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(y[i], i * 7 + 1);
        }
        engine_release(&p);
        engine_close(&device);
    }
    assert_true(reports[0].is_coarse);
    assert_false(reports[1].is_coarse);
    unsetenv("VYRE_OPTIMIZE");
    free(x);
    free(y);
}

static void test_environment_leaves_passes_out(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        const char *text;
        vyre_optimization wanted;
    } rows[] = {{NULL, VYRE_OPTIMIZATION_FULL},
                {"", VYRE_OPTIMIZATION_FULL},
                {"1", VYRE_OPTIMIZATION_FULL},
                {"0", VYRE_OPTIMIZATION_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].text) {
            setenv("VYRE_OPTIMIZE", rows[i].text, 1);
        } else {
            unsetenv("VYRE_OPTIMIZE");
        }
        vyre_device *device = engine_open(0);
        vyre_kernel_params params;
        vyre_device_kernel_params(device, &params);
        assert_int_equal(params.optimization, rows[i].wanted);
        engine_close(&device);
    }
    unsetenv("VYRE_OPTIMIZE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_the_same_without_passes),
        cmocka_unit_test(test_large_grids_are_not_coarse),
        cmocka_unit_test(test_environment_leaves_passes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
