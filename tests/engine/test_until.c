/* Fixpoints with `until`: the device ends them, and everybody counts the same passes. */
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static vyre_device *device;

static int open_device(void **state)
{
    (void)state;
    layer_reset();
    device = engine_has_no_device() ? NULL : engine_open(1);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

/* Counts a[0] down to zero, one a pass; the flag is set while it was not yet. */
static const char countdown_text[] = "program countdown\nworkgroup 1\n"
                                     "fixpoint 100000 until changed\n"
                                     "inout a : u32[3]\n"
                                     "scratch changed : u32[1]\n"
                                     "kernel {\n"
                                     "  if a[0] != 0 { a[0] = a[0] - 1  changed[0] = 1 }\n"
                                     "  grid_sync\n"
                                     "  a[1] = a[1] + 1\n"
                                     "  a[2] = a[2] + pass\n"
                                     "}\n";

static vyre_report count_down(const engine_program *p, uint32_t from, uint32_t limit,
                              uint32_t *out_a)
{
    uint32_t a[3] = {from, 0, 0};
    vyre_binding bindings[] = {engine_host_inout(a, 3), {.kind = VYRE_BINDING_NONE}};
    vyre_report report = engine_run(p, bindings, 2, NULL, 0, 1, limit);
    memcpy(out_a, a, sizeof a);
    return report;
}

static void test_until_runs_as_many_passes_as_needed(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, countdown_text);
    /* The flag is seen zero one pass after the last change. */
    static const uint32_t froms[] = {0, 1, 2, 3, 6, 7, 8, 100, 1000, 3000};
    for (size_t i = 0; i < sizeof froms / sizeof *froms; i++) {
        uint32_t a[3], n = froms[i] + 1;
        vyre_report report = count_down(&p, froms[i], 0, a);
        assert_int_equal(a[0], 0);
        assert_int_equal(a[1], n);
        assert_int_equal(a[2], (uint64_t)n * (n - 1) / 2);
        assert_int_equal(report.passes, n);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        assert_int_equal(report.dispatches_executed, 2 * n);
    }
    engine_release(&p);
}

static void test_until_stops_at_the_limit(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, countdown_text);
    static const struct {
        uint32_t from, limit, passes;
        vyre_convergence convergence;
    } cases[] = {
        {5, 6, 6, VYRE_CONVERGENCE_YES},   /* exactly enough */
        {5, 5, 5, VYRE_CONVERGENCE_LIMIT}, /* one too few */
        {5, 1, 1, VYRE_CONVERGENCE_LIMIT},
        {0, 1, 1, VYRE_CONVERGENCE_YES},
        {1u << 30, 3000, 3000, VYRE_CONVERGENCE_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t a[3];
        vyre_report report = count_down(&p, cases[i].from, cases[i].limit, a);
        assert_int_equal(report.passes, cases[i].passes);
        assert_int_equal(report.convergence, cases[i].convergence);
        assert_int_equal(a[1], cases[i].passes);
    }
    engine_release(&p);
}

static void test_until_leaves_the_flag_of_the_last_pass(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program flagged\nworkgroup 1\n"
                                            "fixpoint 10 until f\n"
                                            "inout f : u32[2]\nparam n : u32\n"
                                            "kernel { if pass < n { f[0] = pass + 5 } }\n");
    uint32_t n = 3, f[2] = {99, 42};
    vyre_binding bindings[] = {engine_host_inout(f, 2)};
    vyre_report report = engine_run(&p, bindings, 1, &n, 1, 1, 0);
    assert_int_equal(report.passes, 4);
    assert_int_equal(f[0], 0);
    assert_int_equal(f[1], 42); /* only element 0 is the library's to clear */
    n = 50;
    report = engine_run(&p, bindings, 1, &n, 1, 1, 0);
    assert_int_equal(report.passes, 10);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_LIMIT);
    assert_int_equal(f[0], 14); /* not cleared after the last pass */
    /* Zero before the first pass, whatever was there. */
    n = 0;
    f[0] = 7;
    report = engine_run(&p, bindings, 1, &n, 1, 1, 0);
    assert_int_equal(report.passes, 1);
    assert_int_equal(f[0], 0);
    engine_release(&p);
}

static void test_until_of_an_empty_flag_or_grid_converges_at_once(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program empty\nworkgroup 1\nfixpoint 9 until f\n"
                                            "grid over a\n"
                                            "inout a : u32[]\ninout f : u32[]\n"
                                            "kernel { a[0] = a[0] + 1  f[0] = 1 }\n");
    uint32_t a = 0, f = 3;
    vyre_binding no_flag[] = {engine_host_inout(&a, 1), engine_host_inout(NULL, 0)};
    vyre_report report = engine_run(&p, no_flag, 2, NULL, 0, 0, 0);
    assert_int_equal(report.passes, 1);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
    assert_int_equal(a, 1);
    vyre_binding no_grid[] = {engine_host_inout(NULL, 0), engine_host_inout(&f, 1)};
    report = engine_run(&p, no_grid, 2, NULL, 0, 0, 0);
    assert_int_equal(report.passes, 1);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
    assert_int_equal(f, 0);
    engine_release(&p);
}

static void test_until_grows_its_chunks(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, countdown_text);
    uint32_t a[3];
    /* 1 + 4 + 4 + 4 + 8 passes, and a sixth chunk ahead at most. */
    vyre_report report = count_down(&p, 14, 0, a);
    assert_int_equal(report.passes, 15);
    assert_in_range(report.chunks, 5, 6);
    assert_in_range(report.submissions, 3, report.chunks);
    /* Up to three passes are submitted by the call itself, which hosts rely on. */
    for (uint32_t limit = 1; limit <= 4; limit++) {
        report = count_down(&p, 1u << 30, limit, a);
        assert_int_equal(report.passes, limit);
        assert_int_equal(report.submissions, limit <= 3 ? 1 : 2);
    }
    engine_release(&p);
    /* A dispatch for each segment and pass, none of them by the device's arguments, and no other. A
     * pipeline that has recorded nothing yet: */
    p = engine_build_bound(device, countdown_text, VYRE_BINDINGS_DESCRIPTOR);
    layer_clear_events();
    report = count_down(&p, 2, 0, a);
    assert_int_equal(layer_count(LAYER_INDIRECT), 0);
    assert_int_equal(layer_count(LAYER_DISPATCH), report.dispatches_recorded);
    assert_int_equal(report.dispatches_recorded, 2 * (1 + 4)); /* none is ahead so early */
    engine_release(&p);
}

/* What ends in a chunk is known from the chunk's own submission, outputs too. */
static void test_until_that_ends_in_a_chunk_submits_nothing_behind_it(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, countdown_text);
    uint32_t a[3];
    for (int i = 0; i < 3; i++) {
        vyre_report report = count_down(&p, 0, 0, a);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(report.chunks, 1);
        assert_int_equal(report.passes, 1);
        assert_int_equal(a[1], 1);
    }
    /* The later chunk's copies may not undo it. */
    for (uint32_t from = 1; from < 40; from++) {
        vyre_report report = count_down(&p, from, 0, a);
        assert_int_equal(report.passes, from + 1);
        assert_int_equal(a[0], 0);
        assert_int_equal(a[1], from + 1);
        assert_true(report.submissions <= report.chunks);
    }
    engine_release(&p);
}

/* Outputs of some size are copied once, when it is known that they are the last. */
static void test_until_copies_large_outputs_at_the_end(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const uint32_t counts[] = {16384, 16385}; /* words: the most that is copied each time */
    engine_program p = engine_build(device, "program large\nworkgroup 1\nfixpoint 99 until f\n"
                                            "inout a : u32[]\nscratch f : u32[1]\n"
                                            "kernel { if a[0] != 0 { a[0] = a[0] - 1  f[0] = 1 }\n"
                                            "  grid_sync  a[len(a) - 1] = pass + 7 }\n");
    for (int i = 0; i < 2; i++) {
        uint32_t *a = calloc(counts[i], sizeof *a);
        assert_non_null(a);
        vyre_binding bindings[] = {engine_host_inout(a, counts[i]), {.kind = VYRE_BINDING_NONE}};
        vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 1, 0);
        assert_int_equal(report.passes, 1);
        assert_int_equal(report.submissions, i == 0 ? 1 : 2);
        assert_int_equal(report.download_size, 4 * counts[i]);
        assert_int_equal(a[counts[i] - 1], 7);
        a[0] = 5;
        report = engine_run(&p, bindings, 2, NULL, 0, 1, 0);
        assert_int_equal(report.passes, 6);
        assert_int_equal(a[0], 0);
        assert_int_equal(a[counts[i] - 1], 12);
        a[0] = 5;
        report = engine_run(&p, bindings, 2, NULL, 0, 1, 6); /* at the limit: in the last chunk */
        assert_int_equal(report.passes, 6);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        assert_int_equal(a[counts[i] - 1], 12);
        free(a);
    }
    engine_release(&p);
}

/* A pass of more dispatches than a chunk holds: the pieces are of one pass, and share its flag. */
static void test_until_of_passes_that_are_cut(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program cut\nworkgroup 1\nfixpoint 9 until f\n"
                                            "inout a : u32[2]\nscratch f : u32[1]\nparam n : u32\n"
                                            "kernel {\n"
                                            "  for i in 0 .. n { a[1] = a[1] + 1  grid_sync\n"
                                            "    if i == n - 1 && a[0] != 0 {\n"
                                            "      a[0] = a[0] - 1  f[0] = 1 } }\n"
                                            "}\n");
    static const uint32_t trips[] = {2047, 2048, 2049};
    for (size_t i = 0; i < 3; i++) {
        uint32_t a[2] = {2, 0};
        vyre_binding bindings[] = {engine_host_inout(a, 2), {.kind = VYRE_BINDING_NONE}};
        vyre_report report = engine_run(&p, bindings, 2, &trips[i], 1, 1, 0);
        assert_int_equal(report.passes, 3);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        assert_int_equal(a[0], 0);
        assert_int_equal(a[1], 3 * trips[i]);
    }
    engine_release(&p);
}

static void test_until_flag_has_memory_of_its_own(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build_aliased(device, "program own\nworkgroup 1\n"
                                                    "fixpoint 9 until f\n"
                                                    "inout a : u32[]\ninout f : u32[]\n"
                                                    "kernel { a[0] = 1 f[0] = 0 }\n");
    vyre_buffer buffer = engine_buffer(device, 1024, NULL);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 256), engine_resident(buffer, 256, 1)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.bindings = bindings;
    params.binding_count = 2;
    params.groups[0] = 1;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "`until` flag"));
    bindings[0].count = 64;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_OK);
    engine_release(&p);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)
    const struct CMUnitTest tests[] = {
        T(test_until_runs_as_many_passes_as_needed),
        T(test_until_stops_at_the_limit),
        T(test_until_leaves_the_flag_of_the_last_pass),
        T(test_until_of_an_empty_flag_or_grid_converges_at_once),
        T(test_until_grows_its_chunks),
        T(test_until_that_ends_in_a_chunk_submits_nothing_behind_it),
        T(test_until_copies_large_outputs_at_the_end),
        T(test_until_of_passes_that_are_cut),
        T(test_until_flag_has_memory_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
