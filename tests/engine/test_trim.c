/* Workgroups that are left out where a segment does nothing beyond a bound: what is launched, that
 * results are those of the whole grid, and what it does to shapes and reports. */
#include "tests/engine/sequence_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ELEMENTS 1000u /* 16 workgroups of 64 */
#define GROUPS   16u

/* Expects exactly these dispatches, by their workgroups in x. */
static void expect_launched(const uint32_t *groups, uint32_t count)
{
    uint32_t event_count = 0, found = 0;
    const layer_event *events = layer_events(&event_count);
    for (uint32_t i = 0; i < event_count; i++) {
        if (events[i].kind == LAYER_DISPATCH) {
            assert_true(found < count);
            assert_int_equal(events[i].groups[0], groups[found]);
            assert_int_equal(events[i].groups[1], 1);
            found++;
        }
    }
    assert_int_equal(found, count);
}

static void fill(uint32_t *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = i * 2654435761u >> 7;
    }
}

/* `launched`, where it is given: what is recorded for it. */
static vyre_report run_words(const engine_program *p, vyre_device *device, vyre_buffer buffer,
                             uint32_t *words, const uint32_t *params, uint32_t passes,
                             const uint32_t *launched, uint32_t launched_count)
{
    vyre_binding binding = engine_resident(buffer, 0, ELEMENTS);
    vyre_dispatch_params run = engine_params(&binding, 1);
    memset(run.groups, 0, sizeof run.groups);
    run.flags = 0;
    run.params = params;
    run.param_count = params ? 3 : 0;
    run.passes = passes;
    vyre_diag diag;
    if (vyre_buffer_upload(device, buffer, 0, words, ELEMENTS * 4, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    layer_clear_events();
    vyre_report report = must_dispatch(p, &run);
    if (launched) {
        expect_launched(launched, launched_count);
    }
    if (vyre_buffer_download(device, buffer, 0, words, ELEMENTS * 4, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return report;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static const char tree_text[] = "program tree\nworkgroup 64\ngrid over x\n"
                                "inout x : u32[]\n"
                                "kernel {\n"
                                "  for level in 0 .. 9 {\n"
                                "    let width = 512 >> level\n"
                                "    if gid.x < width { x[gid.x] = x[gid.x] + x[gid.x + width] }\n"
                                "    grid_sync\n"
                                "  }\n"
                                "}\n";

static void run_tree(vyre_device *device, int form)
{
    (void)form;
    static const uint32_t launched[] = {8, 4, 2, 1, 1, 1, 1, 1, 1};
    engine_program p = engine_build(device, tree_text);
    vyre_buffer buffer = engine_buffer(device, ELEMENTS * 4, NULL);
    uint32_t words[ELEMENTS], sum = 0;
    fill(words, ELEMENTS);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        sum += words[i];
    }
    /* What the last level leaves in the others is of no interest: the host does the same. */
    uint32_t expected[2048] = {0};
    memcpy(expected, words, sizeof words);
    for (uint32_t width = 512; width >= 2; width /= 2) {
        for (uint32_t i = 0; i < width; i++) {
            expected[i] += i + width < ELEMENTS ? expected[i + width] : 0;
        }
    }
    vyre_report report = run_words(&p, device, buffer, words, NULL, 0, launched, 9);
    assert_memory_equal(words, expected, sizeof words);
    assert_int_equal(words[0] + words[1], sum);
    assert_int_equal(report.segments, 9);
    assert_int_equal(report.dispatches_executed, 9);
    assert_int_equal(report.workgroups_saved, 9 * GROUPS - 20);
    memcpy(words, expected, sizeof words);
    report = run_words(&p, device, buffer, words, NULL, 0, NULL, 0);
    assert_int_equal(report.recordings, 0);
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_trim_launches_what_each_level_needs(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_tree);
}

/* ---- Nothing at all -------------------------------------------------------------------------- */

static const char none_text[] = "program none\nworkgroup 64\ngrid over x\n"
                                "param a : u32\nparam b : u32\nparam c : u32\n"
                                "inout x : u32[]\n"
                                "kernel {\n"
                                "  if gid.x < a { x[gid.x] = x[gid.x] + 1 }\n"
                                "  grid_sync\n"
                                "  if gid.x < b { x[gid.x] = x[gid.x] * 3 }\n"
                                "  grid_sync\n"
                                "  if gid.x < c { x[gid.x] = x[gid.x] ^ pass }\n"
                                "}\n";

static void apply(uint32_t *x, const uint32_t limits[3], uint32_t passes)
{
    for (uint32_t pass = 0; pass < passes; pass++) {
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            x[i] += i < limits[0];
            x[i] *= i < limits[1] ? 3 : 1;
            x[i] ^= i < limits[2] ? pass : 0;
        }
    }
}

static uint32_t groups_of(uint32_t limit)
{
    uint32_t groups = limit / 64 + (limit % 64 != 0);
    return groups < GROUPS ? groups : GROUPS;
}

static void launch_none(vyre_device *device, int form)
{
    (void)form;
    static const uint32_t cases[][3] = {{0, 0, 0},
                                        {64, 0, 64},
                                        {0, 1000, 0},
                                        {0, 0, 65},
                                        {1, 999, 640},
                                        {960, 961, 1},
                                        {UINT32_MAX, 0, UINT32_MAX}};
    vyre_buffer buffer = engine_buffer(device, ELEMENTS * 4, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        engine_program p = engine_build(device, none_text);
        uint32_t words[ELEMENTS], expected[ELEMENTS], launches = 0, groups = 0;
        enum { PASSES = 3 };
        fill(words, ELEMENTS);
        memcpy(expected, words, sizeof words);
        apply(expected, cases[i], PASSES);
        for (uint32_t k = 0; k < 3; k++) {
            launches += cases[i][k] != 0;
            groups += groups_of(cases[i][k]);
        }
        vyre_report report = run_words(&p, device, buffer, words, cases[i], PASSES, NULL, 0);
        assert_memory_equal(words, expected, sizeof words);
        assert_int_equal(report.passes, PASSES);
        assert_int_equal(report.segments, 3);
        assert_int_equal(report.dispatches_recorded, launches * PASSES);
        assert_int_equal(report.dispatches_executed, launches * PASSES);
        assert_int_equal(report.workgroups_saved, (3 * GROUPS - groups) * PASSES);
        /* One before the first and one before each other. */
        assert_int_equal(report.barriers_recorded, launches * PASSES);
        engine_release(&p);
    }
    must_destroy(device, &buffer);
}

static void test_trim_launches_nothing_where_nothing_is_done(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, launch_none);
}

/* A pass that launches nothing is the last one: nobody sets the flag. */
static void test_trim_of_all_passes_converges(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char text[] = "program flag\nworkgroup 64\ngrid over x\n"
                               "fixpoint 4000000000 until changed\n"
                               "param a : u32\n"
                               "inout x : u32[]\nscratch changed : u32[1]\n"
                               "kernel { if gid.x < a && x[gid.x] > 0 {\n"
                               "  x[gid.x] = x[gid.x] - 1  changed[0] = 1 } }\n";
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, text);
    for (uint32_t limit = 0; limit <= 130; limit += 65) {
        uint32_t x[ELEMENTS];
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            x[i] = 1 + i % 7;
        }
        vyre_binding bindings[] = {engine_host_inout(x, ELEMENTS), {.kind = VYRE_BINDING_NONE}};
        vyre_dispatch_params run = engine_params(bindings, 2);
        memset(run.groups, 0, sizeof run.groups);
        run.params = &limit;
        run.param_count = 1;
        vyre_report report = must_dispatch(&p, &run);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        assert_int_equal(report.passes, limit ? 8 : 1);
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            assert_int_equal(x[i], i < limit ? 0 : 1 + i % 7);
        }
    }
    engine_release(&p);
    engine_close(&device);
}

/* The first segment of a pass looks after the flag, also where it has nothing else to do. */
static void test_trim_keeps_what_the_flag_needs(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char text[] = "program kept\nworkgroup 64\ngrid over x\n"
                               "fixpoint 100 until changed\n"
                               "param a : u32\n"
                               "inout x : u32[]\ninout y : u32[len(x)]\n"
                               "scratch changed : u32[1]\n"
                               "kernel { if gid.x < a { y[gid.x] = y[gid.x] + 1 }\n  grid_sync\n"
                               "  if x[gid.x] > 0 {\n"
                               "    x[gid.x] = x[gid.x] - 1  changed[0] = 1 } }\n";
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, text);
    for (uint32_t limit = 0; limit <= 130; limit += 65) {
        uint32_t x[ELEMENTS], y[ELEMENTS] = {0};
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            x[i] = i % 8;
        }
        vyre_binding bindings[] = {engine_host_inout(x, ELEMENTS),
                                   engine_host_inout(y, ELEMENTS),
                                   {.kind = VYRE_BINDING_NONE}};
        vyre_dispatch_params run = engine_params(bindings, 3);
        memset(run.groups, 0, sizeof run.groups);
        run.params = &limit;
        run.param_count = 1;
        run.strategy = VYRE_STRATEGY_REPLAY;
        vyre_report report = must_dispatch(&p, &run);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        assert_int_equal(report.passes, 8);
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            assert_int_equal(x[i], 0);
            assert_int_equal(y[i], i < limit ? 8 : 0);
        }
    }
    engine_release(&p);
    engine_close(&device);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* Values that reach further are recorded once, with the whole grid, and values that do not never.
 */
static void test_trim_records_other_values_once(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        uint32_t limit, recordings, groups; /* that are launched in the first segment */
    } runs[] = {{64, 1, 1},   {64, 0, 1}, {1, 0, 1},    {65, 1, 16}, {1000, 0, 16},
                {130, 0, 16}, {64, 0, 1}, {999, 0, 16}, {0, 1, 0},   {500, 0, 16}};
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, none_text);
    vyre_buffer buffer = engine_buffer(device, ELEMENTS * 4, NULL);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const uint32_t limits[3] = {runs[i].limit, 0, 0};
        uint32_t words[ELEMENTS], expected[ELEMENTS];
        fill(words, ELEMENTS);
        memcpy(expected, words, sizeof words);
        apply(expected, limits, 2);
        vyre_report report = run_words(&p, device, buffer, words, limits, 2, NULL, 0);
        assert_memory_equal(words, expected, sizeof words);
        assert_int_equal(report.recordings, runs[i].recordings);
        bool is_whole = runs[i].groups == GROUPS;
        uint64_t saved = is_whole ? 0 : 2 * (3 * GROUPS - runs[i].groups);
        assert_int_equal(report.workgroups_saved, saved);
        assert_int_equal(report.dispatches_executed, is_whole ? 6 : runs[i].groups ? 2 : 0);
    }
    must_destroy(device, &buffer);
    engine_release(&p);
    engine_close(&device);
}

/* ---- What a program can see ------------------------------------------------------------------ */

static void test_trim_is_not_seen(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char text[] = "program seen\nworkgroup 8, 4, 2\n"
                               "out y : u32[40000]\n"
                               "kernel {\n"
                               "  if gid.x < 9 && gid.y == 5 && wid.z < 2 {\n"
                               "    let at = (gid.z * 16 + gid.x) * 4\n"
                               "    y[at] = num_groups.x * 10000 + num_groups.y * 100\n"
                               "      + num_groups.z\n"
                               "    y[at + 1] = wid.x * 10000 + wid.y * 100 + wid.z\n"
                               "    y[at + 2] = lid.x * 10000 + lid.y * 100 + lid.z\n"
                               "    y[at + 3] = group_size.x\n"
                               "  }\n"
                               "}\n";
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, text);
    static uint32_t y[40000];
    vyre_binding binding = engine_host_out(y, 40000);
    vyre_dispatch_params run = engine_params(&binding, 1);
    run.groups[0] = 12;
    run.groups[1] = 7;
    run.groups[2] = 5;
    layer_clear_events();
    vyre_report report = must_dispatch(&p, &run);
    assert_int_equal(report.groups[0], 12);
    assert_int_equal(report.workgroups_saved, 12 * 7 * 5 - 2 * 2 * 2);
    for (uint32_t z = 0; z < 4; z++) {
        for (uint32_t x = 0; x < 9; x++) {
            const uint32_t *at = &y[(z * 16 + x) * 4];
            assert_int_equal(at[0], 120705);
            assert_int_equal(at[1], x / 8 * 10000 + 100 + z / 2);
            assert_int_equal(at[2], x % 8 * 10000 + 100 + z % 2);
            assert_int_equal(at[3], 8);
        }
    }
    engine_release(&p);
    engine_close(&device);
}

/* Folded grids are launched whole or not at all; those that the device reads are not looked at. */
static void test_trim_of_folded_and_indirect_grids(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 4;
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, none_text);
    vyre_buffer buffer = engine_buffer(device, ELEMENTS * 4, NULL);
    const uint32_t limits[3] = {64, 0, 500};
    uint32_t words[ELEMENTS], expected[ELEMENTS];
    fill(words, ELEMENTS);
    memcpy(expected, words, sizeof words);
    apply(expected, limits, 1);
    vyre_report report = run_words(&p, device, buffer, words, limits, 1, NULL, 0);
    assert_memory_equal(words, expected, sizeof words);
    assert_true(report.is_folded);
    assert_int_equal(report.dispatches_executed, 2);
    assert_int_equal(report.workgroups_saved, GROUPS);
    engine_release(&p);
    p = engine_build(device, "program device\nworkgroup 64\ngrid from counts\n"
                             "in counts : u32[3]\ninout x : u32[]\n"
                             "kernel { if gid.x < 70 { x[gid.x] = gid.x + 1 } }\n");
    uint32_t counts[3] = {GROUPS, 1, 1};
    memset(words, 0, sizeof words);
    vyre_binding bindings[] = {engine_host_in(counts, 3), engine_host_inout(words, ELEMENTS)};
    vyre_dispatch_params run = engine_params(bindings, 2);
    memset(run.groups, 0, sizeof run.groups);
    run.max_groups = 64;
    report = must_dispatch(&p, &run);
    assert_int_equal(report.workgroups_saved, 0);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(words[i], i < 70 ? i + 1 : 0);
    }
    engine_release(&p);
    must_destroy(device, &buffer);
    engine_close(&device);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

static void test_trim_in_sequences(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, none_text);
    const uint32_t limits[3] = {100, 0, 1};
    uint32_t words[ELEMENTS], expected[ELEMENTS];
    fill(words, ELEMENTS);
    memcpy(expected, words, sizeof words);
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding binding = engine_resident(buffer, 0, ELEMENTS);
    vyre_step group = step_of(&p, &binding, 1, limits, 3);
    group.dispatch.groups[0] = 0;
    group.dispatch.passes = 2;
    vyre_download download = {.buffer = buffer, .size = sizeof words, .data = words};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &group;
    params.group_count = 1;
    params.repeat = 3;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = make(device, &params);
    for (uint32_t k = 0; k < 2; k++) {
        vyre_report report = run(sequence);
        for (uint32_t i = 0; i < 3; i++) {
            apply(expected, limits, 2);
        }
        assert_memory_equal(words, expected, sizeof words);
        assert_int_equal(report.dispatches_recorded, 12);
        assert_int_equal(report.dispatches_executed, 12);
        assert_int_equal(report.workgroups_saved, 6 * (3 * GROUPS - 3));
    }
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &buffer);
    engine_release(&p);
    engine_close(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, engine_reset)
    const struct CMUnitTest tests[] = {
        T(test_trim_launches_what_each_level_needs),
        T(test_trim_launches_nothing_where_nothing_is_done),
        T(test_trim_of_all_passes_converges),
        T(test_trim_keeps_what_the_flag_needs),
        T(test_trim_records_other_values_once),
        T(test_trim_is_not_seen),
        T(test_trim_of_folded_and_indirect_grids),
        T(test_trim_in_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, engine_nothing_alive);
}
