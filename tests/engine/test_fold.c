/* Grids of more workgroups than a device launches at once: what is launched, and that every
 * workgroup runs once and is told its own number. */
#include "tests/support/engine_fixture.h"

#include "engine/exec/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Pure ------------------------------------------------------------------------------------ */

static void expect_fold(const uint32_t most[3], uint64_t total, bool can)
{
    vy_snapshot snapshot = {.has = {false}};
    memcpy(snapshot.info.max_groups, most, sizeof snapshot.info.max_groups);
    uint32_t groups[3];
    if (vy_shape_fold(&snapshot, total, groups) != can) {
        fail_msg("%llu workgroups of %u x %u x %u", (unsigned long long)total, (unsigned)most[0],
                 (unsigned)most[1], (unsigned)most[2]);
    }
    if (!can) {
        return;
    }
    uint64_t launched = 1;
    for (int i = 0; i < 3; i++) {
        assert_true(groups[i] <= most[i]);
        launched *= groups[i];
    }
    assert_true(launched >= total);
    assert_true(launched <= UINT32_MAX); /* kernels count in 32 bits */
    assert_true(launched - total < (uint64_t)groups[1] * groups[2] || total == 0);
}

static void test_fold_launches_enough_and_never_wraps(void **state)
{
    (void)state;
    static const uint32_t least[3] = {65535, 65535, 65535}, nvidia[3] = {INT32_MAX, 65535, 65535};
    static const uint32_t four[3] = {4, 4, 4}, line[3] = {10, 1, 1}, all[3] = {UINT32_MAX, 1, 1};
    static const uint64_t totals[] = {
        0,           1,          2,          65534,     65535,
        65536,       65537,      131070,     131071,    (1u << 22) + 1,
        4294836225u, 4294836226, 0x80000000, 0x80000001};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        expect_fold(least, totals[i], true);
        expect_fold(nvidia, totals[i], true);
        expect_fold(all, totals[i], true);
    }
    for (uint64_t total = 0; total < 100; total++) {
        expect_fold(four, total, total <= 64);
        expect_fold(line, total, total <= 10);
    }
    /* 2^32 - 1 is 65535 x 65537: the nearest that fits in three times 65535 is more than that. */
    expect_fold(least, UINT32_MAX, false);
    expect_fold(nvidia, UINT32_MAX, true);
    expect_fold(all, UINT32_MAX, true);
    srand(5);
    for (int i = 0; i < 20000; i++) {
        uint64_t total = ((uint64_t)(uint32_t)rand() << 16 ^ (uint32_t)rand()) % 0xfffe0000u;
        expect_fold(least, total, true);
        expect_fold(nvidia, total, true);
    }
}

/* ---- On the device --------------------------------------------------------------------------- */

#define LINEAR "((wid.z * num_groups.y + wid.y) * num_groups.x + wid.x)"

/* `bad` counts workgroups that are told something else than what the host says. */
static const char each_text[] = "program each\nworkgroup 1\n"
                                "param x : u32\nparam y : u32\nparam z : u32\n"
                                "inout seen : u32[]\ninout bad : u32[1]\n"
                                "kernel {\n"
                                "  atomic_add(seen[" LINEAR "], 1)\n"
                                "  if num_groups.x != x || num_groups.y != y || num_groups.z != z\n"
                                "    || wid.x >= x || wid.y >= y || wid.z >= z\n"
                                "    || gid.x != wid.x || gid.y != wid.y || gid.z != wid.z {\n"
                                "    atomic_add(bad[0], 1) }\n"
                                "}\n";

static void run_each(const engine_program *p, const uint32_t grid[3], uint32_t *seen, uint32_t room,
                     int is_folded)
{
    uint32_t bad = 0, total = grid[0] * grid[1] * grid[2];
    assert_true(total < room);
    memset(seen, 0, (size_t)room * sizeof *seen);
    vyre_binding bindings[2] = {engine_host_inout(seen, room), engine_host_inout(&bad, 1)};
    vyre_dispatch_params params = engine_params(bindings, 2);
    params.params = grid;
    params.param_count = 3;
    memcpy(params.groups, grid, sizeof params.groups);
    vyre_report report = must_dispatch(p, &params);
    assert_int_equal(bad, 0);
    assert_memory_equal(report.groups, grid, sizeof report.groups);
    assert_int_equal(report.is_folded, is_folded);
    for (uint32_t i = 0; i < room; i++) {
        if (seen[i] != (i < total)) {
            fail_msg("%u x %u x %u: workgroup %u ran %u times", (unsigned)grid[0],
                     (unsigned)grid[1], (unsigned)grid[2], (unsigned)i, (unsigned)seen[i]);
        }
    }
}

static void test_fold_runs_each_workgroup_once(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 65535;
    static const struct {
        uint32_t grid[3];
        int is_folded;
    } rows[] = {{{65535, 1, 1}, 0}, {{65536, 1, 1}, 1}, {{65537, 1, 1}, 1},
                {{1, 65535, 1}, 0}, {{1, 65536, 1}, 1}, {{1, 1, 65537}, 1},
                {{2, 65537, 3}, 1}, {{65536, 2, 1}, 1}, {{(1u << 22) + 1, 1, 1}, 1},
                {{41, 37, 53}, 0},  {{3, 1, 70001}, 1}};
    uint32_t room = (1u << 22) + 100, *seen = malloc((size_t)room * sizeof *seen);
    assert_non_null(seen);
    uint64_t groups = 0;
    for (int mode = VYRE_BINDINGS_ADDRESS; mode <= VYRE_BINDINGS_DESCRIPTOR; mode++) {
        vyre_device *device = engine_open(0);
        engine_program p = engine_build_bound(device, each_text, (vyre_binding_mode)mode);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            uint32_t total = rows[i].grid[0] * rows[i].grid[1] * rows[i].grid[2];
            bool is_huge = total > 1u << 20 && mode != VYRE_BINDINGS_ADDRESS; /* once will do */
            if (is_huge || (groups + total > ENGINE_MANY_GROUPS && total > 1000)) {
                continue;
            }
            groups += total;
            run_each(&p, rows[i].grid, seen, total + 70000 < room ? total + 70000 : room,
                     rows[i].is_folded);
        }
        engine_release(&p);
        engine_close(&device);
    }
    free(seen);
}

static void test_fold_on_a_device_that_launches_four(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 4;
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, each_text);
    uint32_t seen[256];
    for (uint32_t x = 1; x <= 64; x++) {
        for (uint32_t y = 1; x * y <= 64; y += x < 9 ? 1 : 3) {
            uint32_t grid[3] = {x, y, 64 / (x * y)};
            run_each(&p, grid, seen, 256, grid[0] > 4 || grid[1] > 4 || grid[2] > 4);
        }
    }
    uint32_t bad = 0;
    vyre_binding bindings[2] = {engine_host_inout(seen, 256), engine_host_inout(&bad, 1)};
    vyre_dispatch_params params = engine_params(bindings, 2);
    static const uint32_t grid[3] = {65, 1, 1};
    params.params = grid;
    params.param_count = 3;
    params.groups[0] = 65;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "maxComputeWorkGroupCount of 4 x 4 x 4. Fix: "));
    engine_release(&p);
    engine_close(&device);
}

/* Refused, where the launched workgroups would wrap around and the first run twice. */
static void test_fold_refuses_what_would_wrap(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 65535;
    vyre_device *device = engine_open(0);
    engine_program p = engine_build(device, "program wrap\nworkgroup 1\ninout a : u32[1]\n"
                                            "kernel { atomic_add(a[0], 1 + wid.x) }\n");
    uint32_t a = 0;
    vyre_binding bindings[1] = {engine_host_inout(&a, 1)};
    vyre_dispatch_params params = engine_params(bindings, 1);
    params.groups[0] = UINT32_MAX;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "4294967295 workgroups"));
    assert_int_equal(a, 0);
    engine_release(&p);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold_launches_enough_and_never_wraps),
        cmocka_unit_test_setup_teardown(test_fold_runs_each_workgroup_once, engine_reset,
                                        engine_nothing_alive),
        cmocka_unit_test_setup_teardown(test_fold_on_a_device_that_launches_four, engine_reset,
                                        engine_nothing_alive),
        cmocka_unit_test_setup_teardown(test_fold_refuses_what_would_wrap, engine_reset,
                                        engine_nothing_alive),
    };
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
