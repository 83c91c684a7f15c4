/* Passes: how many, in which order, and what they do not cost. */
#include "tests/engine/forms.h"

static vyre_report run(const engine_program *p, const vyre_binding *bindings, uint32_t count,
                       uint32_t elements, uint32_t passes)
{
    return engine_run(p, bindings, count, NULL, 0, elements, passes);
}

static void count_passes(vyre_device *device, int form)
{
    (void)form;
    static const struct {
        const char *head;
        uint32_t given, passes;
    } cases[] = {
        {"", 0, 1},           {"", 7, 7},           {"fixpoint 4", 0, 4},
        {"fixpoint 4", 1, 1}, {"fixpoint 4", 9, 9}, {"fixpoint 1", 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        (void)snprintf(text, sizeof text,
                       "program n\nworkgroup 1\n%s\ninout a : u32[2]\n"
                       "kernel { a[0] = a[0] + 1  a[1] = a[1] * 10 + pass }\n",
                       cases[i].head);
        engine_program p = engine_build(device, text);
        uint32_t a[2] = {0, 0}, digits = 0;
        for (uint32_t k = 0; k < cases[i].passes; k++) {
            digits = digits * 10 + k;
        }
        vyre_binding bindings[] = {engine_host_inout(a, 2)};
        vyre_report report = run(&p, bindings, 1, 1, cases[i].given);
        assert_int_equal(report.passes, cases[i].passes);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_NONE);
        assert_int_equal(a[0], cases[i].passes);
        assert_int_equal(a[1], digits);
        engine_release(&p);
    }
}

static void test_fixpoint_is_the_programs_unless_passes_say_otherwise(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, count_passes);
}

static void repeat_whole(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program two\nworkgroup 1\nfixpoint 3\n"
                                            "inout a : u32[1]\n"
                                            "kernel { a[0] = a[0] + 1  grid_sync\n"
                                            "  a[0] = a[0] * 10 }\n");
    uint32_t a = 0, count = 0, found = 0;
    VkPipeline order[6] = {VK_NULL_HANDLE};
    vyre_buffer buffer = engine_buffer(device, 4, NULL);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 1)};
    layer_clear_events();
    vyre_report report = run(&p, bindings, 1, 1, 0);
    read_words(device, buffer, 0, &a, 1);
    assert_int_equal(a, 1110); /* not ((0 + 3) * 1000) */
    assert_int_equal(report.dispatches_executed, 6);
    assert_int_equal(report.dispatches_recorded, 6);
    assert_int_equal(report.barriers_elided, 0);
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_DISPATCH && found < 6) {
            order[found++] = events[i].pipeline;
        }
    }
    assert_int_equal(found, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(order[i] == order[i % 2]);
    }
    assert_true(order[0] != order[1]);
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_fixpoint_repeats_the_whole_sequence(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, repeat_whole);
}

static void chain(vyre_device *device, int form)
{
    (void)form;
    /* Five cuts, 4,096 workgroups, each reads what another one's neighbour wrote. */
    engine_program p = engine_build(device, "program chain\nworkgroup 1\ninout a : u32[]\n"
                                            "inout b : u32[]\n"
                                            "kernel {\n"
                                            "  let n = len(a)\n"
                                            "  b[gid.x] = a[n - 1 - gid.x] + 1  grid_sync\n"
                                            "  a[gid.x] = b[n - 1 - gid.x] * 3  grid_sync\n"
                                            "  b[gid.x] = a[(gid.x + 1) % n]  grid_sync\n"
                                            "  a[gid.x] = b[(gid.x + n - 1) % n] + 7  grid_sync\n"
                                            "  b[gid.x] = a[n - 1 - gid.x]  grid_sync\n"
                                            "  a[gid.x] = b[n - 1 - gid.x] + b[gid.x]\n"
                                            "}\n");
    enum { GROUPS = 4096 };
    static uint32_t a[GROUPS], b[GROUPS], expected[2][GROUPS];
    for (uint32_t i = 0; i < GROUPS; i++) {
        a[i] = expected[0][i] = i * 2654435761u;
        b[i] = 0;
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < GROUPS; i++) {
            expected[1][i] = (expected[0][i] + 1) * 3 + 7;
        }
        for (uint32_t i = 0; i < GROUPS; i++) {
            expected[0][i] = expected[1][i] + expected[1][GROUPS - 1 - i];
        }
    }
    vyre_binding bindings[] = {engine_host_inout(a, GROUPS), engine_host_inout(b, GROUPS)};
    vyre_report report = run(&p, bindings, 2, GROUPS, 2);
    assert_int_equal(report.segments, 6);
    assert_int_equal(report.dispatches_executed, 12);
    assert_int_equal(report.barriers_elided, 0);
    assert_memory_equal(a, expected[0], sizeof a);
    engine_release(&p);
}

static void test_fixpoint_sees_every_write_in_a_chain(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, chain);
}

static void close_over(vyre_device *device, int form)
{
    (void)form;
    /* A path of three edges is closed after three hops, with or without more passes. */
    engine_program p = engine_build(device, "program closure\nworkgroup 4\nfixpoint 3\n"
                                            "in edges : u32[4]\ninout reach : u32[4]\n"
                                            "scratch next : u32[4]\n"
                                            "kernel {\n"
                                            "  next[gid.x] = 0\n"
                                            "  grid_sync\n"
                                            "  if reach[gid.x] != 0 && edges[gid.x] < 4 {\n"
                                            "    next[edges[gid.x]] = 1\n"
                                            "  }\n"
                                            "  grid_sync\n"
                                            "  if next[gid.x] != 0 { reach[gid.x] = 1 }\n"
                                            "}\n");
    static const uint32_t edges[4] = {2, 9, 3, 1};
    for (uint32_t passes = 1; passes < 6; passes++) {
        uint32_t reach[4] = {1, 0, 0, 0};
        vyre_binding bindings[] = {
            engine_host_in(edges, 4), engine_host_inout(reach, 4), {.kind = VYRE_BINDING_NONE}};
        vyre_report report = run(&p, bindings, 3, 4, passes);
        assert_int_equal(report.dispatches_executed, 3 * passes);
        assert_int_equal(reach[2], 1);
        assert_int_equal(reach[3], passes >= 2);
        assert_int_equal(reach[1], passes >= 3);
    }
    engine_release(&p);
}

static void test_fixpoint_closes_over_three_hops(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, close_over);
}

static void accumulate(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program slots\nworkgroup 1\nout y : u32[4]\n"
                                            "kernel { y[0] = y[0] + 0xaa  grid_sync\n"
                                            "  y[2] = y[2] + 0xbb }\n");
    uint32_t y[4];
    for (uint32_t passes = 1; passes < 4; passes++) {
        memset(y, 0xff, sizeof y);
        vyre_binding bindings[] = {engine_host_out(y, 4)};
        (void)run(&p, bindings, 1, 1, passes);
        assert_int_equal(y[0], 0xaa * passes);
        assert_int_equal(y[1], 0);
        assert_int_equal(y[2], 0xbb * passes);
        assert_int_equal(y[3], 0);
    }
    engine_release(&p);
}

static void test_fixpoint_segments_add_to_one_output(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, accumulate);
}

static void cost(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program costs\nworkgroup 1\n"
                                            "in x : u32[4]\ninout a : u32[4]\nout y : u32[4]\n"
                                            "kernel { a[0] = a[0] + x[0]  grid_sync\n"
                                            "  y[0] = a[0] }\n");
    static const uint32_t passes[] = {1, 8, 64, 1000};
    uint32_t writes = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t x[4] = {3, 0, 0, 0}, a[4] = {0}, y[4];
        vyre_binding bindings[] = {engine_host_in(x, 4), engine_host_inout(a, 4),
                                   engine_host_out(y, 4)};
        for (uint32_t call = 0; call < 3; call++) {
            vyre_device_counters before, after;
            vyre_device_get_counters(device, &before);
            a[0] = 0;
            vyre_report report = run(&p, bindings, 3, 1, passes[i]);
            vyre_device_get_counters(device, &after);
            assert_int_equal(y[0], 3 * passes[i]);
            assert_int_equal(report.upload_size, 32);
            assert_int_equal(report.download_size, 32);
            assert_int_equal(report.submissions, 1);
            assert_int_equal(report.recordings, call == 0);
            if (i + call > 0) { /* the first makes the engine's own too */
                assert_int_equal(after.modules, before.modules);
                assert_int_equal(after.pipelines, before.pipelines);
            }
            assert_int_equal(after.passes - before.passes, passes[i]);
            assert_int_equal(report.dispatches_recorded, 2 * passes[i]);
            /* With the transfers that kernels make: as many whatever the passes. */
            assert_in_range(after.dispatches - before.dispatches, call == 0 ? 2 * passes[i] : 0,
                            call == 0 ? 2 * passes[i] + 5 : 0);
            if (call == 0) {
                /* By addresses the blocks' alone, and once. */
                bool by_address = strcmp(report.bindings, "address") == 0;
                writes = i == 0 ? report.descriptor_writes : by_address ? 0 : writes;
                assert_int_equal(report.descriptor_writes, writes);
                assert_true(!by_address || writes <= 2);
            } else {
                assert_int_equal(report.descriptor_writes, 0);
                assert_int_equal(after.descriptor_writes, before.descriptor_writes);
                assert_int_equal(after.barriers, before.barriers);
                assert_int_equal(after.memory_size, before.memory_size);
            }
        }
    }
    engine_release(&p);
}

static void test_fixpoint_passes_cost_no_bytes_and_calls_no_recordings(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, cost);
}

static void measure(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program times\nworkgroup 1\ninout a : u32[4]\n"
                                            "kernel { a[0] = a[0] + 1  grid_sync\n"
                                            "  a[1] = a[0] }\n");
    uint32_t a[4] = {0};
    vyre_binding bindings[] = {engine_host_inout(a, 4)};
    for (uint32_t passes = 1; passes < 1000; passes *= 9) {
        vyre_dispatch_params params;
        vyre_dispatch_params_init(&params);
        params.strategy = VYRE_STRATEGY_REPLAY;
        params.bindings = bindings;
        params.binding_count = 1;
        params.groups[0] = 1;
        params.passes = passes;
        params.flags = VYRE_DISPATCH_TIMED;
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(vyre_dispatch(p.pipeline, &params, &report, &diag), VYRE_OK);
        assert_true(report.wall_ns >= report.wait_ns);
        assert_true(report.wall_ns >= report.enqueue_ns);
        assert_true(report.enqueue_ns >= report.plan_ns);
        assert_true(report.wall_ns >= report.plan_ns + report.record_ns + report.stage_ns +
                                          report.submit_ns + report.readback_ns);
        assert_true(report.device_ns != VYRE_NS_NONE);
        assert_true(report.device_ns >= report.device_dispatches_ns);
        assert_true(report.device_dispatches_ns > 0);
    }
    engine_release(&p);
}

static void test_fixpoint_is_timed_as_a_whole(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, measure);
}

/* Each pass of a fixpoint with `until` reads blocks that were copied, and state that is read back.
 */
static void converge(vyre_device *device, int form)
{
    engine_program p = engine_build(device, "program down\nworkgroup 1\n"
                                            "fixpoint 5000 until changed\n"
                                            "inout a : u32[3]\nscratch changed : u32[1]\n"
                                            "kernel {\n"
                                            "  if a[0] != 0 { a[0] = a[0] - 1  changed[0] = 1 }\n"
                                            "  grid_sync\n"
                                            "  a[1] = a[1] + 1  a[2] = a[2] + pass\n"
                                            "}\n");
    static const uint32_t froms[] = {0, 1, 2, 3, 10, 100, 1500};
    vyre_buffer buffer = engine_buffer(device, 512, NULL), flag = engine_buffer(device, 16, NULL);
    for (size_t i = 0; i < sizeof froms / sizeof *froms; i++) {
        for (uint32_t resident = 0; resident < 2; resident++) {
            uint32_t a[3] = {froms[i], 0, 0}, changed = 9, n = froms[i] + 1;
            write_words(device, buffer, a, 3);
            fill_words(device, flag, 16, 0xffffffff);
            vyre_binding bindings[] = {engine_host_inout(a, 3), engine_host_out(&changed, 1)};
            if (resident) {
                bindings[0] = engine_resident(buffer, 0, 3);
                bindings[1] = engine_resident(flag, 0, 1);
                bindings[0].out = a;
                bindings[1].out = &changed;
            }
            vyre_report report = run(&p, bindings, 2, 1, 0);
            check_form(&report, form, engine_validates());
            assert_int_equal(report.passes, n);
            assert_int_equal(report.passes_saved, 5000 - n);
            assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
            assert_int_equal(report.dispatches_executed, 2 * n);
            assert_int_equal(a[0], 0);
            assert_int_equal(a[1], n);
            assert_int_equal(a[2], n * (n - 1) / 2);
            assert_int_equal(changed, 0);
        }
    }
    must_destroy(device, &buffer);
    must_destroy(device, &flag);
    engine_release(&p);
}

static void test_fixpoint_converges_with_blocks_that_are_copied(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_SEPARATE, converge);
    in_each_form(LAYER_HEAPS_REAL, converge);
}

static void keep(vyre_device *device, int form)
{
    (void)form;
    /* One memory for all replay instances of the pipeline, whatever runs at once. */
    engine_program p = engine_build(device, "program keeper\nworkgroup 1\nout y : u32[1]\n"
                                            "scratch keep n : u32[1]\nscratch s : u32[1]\n"
                                            "kernel { s[0] = s[0] + 1  n[0] = n[0] + s[0]\n"
                                            "  y[0] = n[0] }\n");
    enum { RUNS = 6 };
    uint32_t y[RUNS];
    vyre_binding bindings[RUNS][3];
    vyre_ticket tickets[RUNS];
    vyre_diag diag;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < RUNS; i++) {
            bindings[i][0] = engine_host_out(&y[i], 1);
            bindings[i][1] = bindings[i][2] = (vyre_binding){.kind = VYRE_BINDING_NONE};
            vyre_dispatch_params params;
            vyre_dispatch_params_init(&params);
            params.strategy = VYRE_STRATEGY_REPLAY;
            params.bindings = bindings[i];
            params.binding_count = 3;
            params.groups[0] = 1;
            assert_int_equal(vyre_dispatch_async(p.pipeline, &params, &tickets[i], &diag), VYRE_OK);
        }
        for (uint32_t i = RUNS; i-- > 0;) {
            assert_int_equal(vyre_ticket_wait(device, &tickets[i], UINT64_MAX, NULL, &diag),
                             VYRE_OK);
            assert_int_equal(y[i], round * RUNS + i + 1);
        }
    }
    vyre_binding given[] = {
        engine_host_out(y, 1), engine_host_out(y, 1), {.kind = VYRE_BINDING_NONE}};
    given[1].kind = VYRE_BINDING_RESIDENT;
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.bindings = given;
    params.binding_count = 3;
    params.groups[0] = 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    engine_release(&p);
}

static void test_scratch_that_is_kept_is_one_for_all_instances(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixpoint_is_the_programs_unless_passes_say_otherwise),
        cmocka_unit_test(test_fixpoint_repeats_the_whole_sequence),
        cmocka_unit_test(test_fixpoint_sees_every_write_in_a_chain),
        cmocka_unit_test(test_fixpoint_closes_over_three_hops),
        cmocka_unit_test(test_fixpoint_segments_add_to_one_output),
        cmocka_unit_test(test_fixpoint_passes_cost_no_bytes_and_calls_no_recordings),
        cmocka_unit_test(test_fixpoint_is_timed_as_a_whole),
        cmocka_unit_test(test_fixpoint_converges_with_blocks_that_are_copied),
        cmocka_unit_test(test_scratch_that_is_kept_is_one_for_all_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
