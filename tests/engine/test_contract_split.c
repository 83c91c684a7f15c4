/* Programs cut into segments: one dispatch each, in order, with everything bound to all of them. */
#include "tests/engine/forms.h"

#include "vyre/interp.h"
#include "vyre/text.h"

static vyre_result start(const engine_program *p, const vyre_binding *bindings, uint32_t count,
                         uint32_t elements, vyre_report *report, vyre_diag *diag)
{
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.bindings = bindings;
    params.binding_count = count;
    params.elements[0] = elements;
    return vyre_dispatch(p->pipeline, &params, report, diag);
}

/* The pipelines of the dispatches recorded, as numbers by first use: 0 1 2 0 1 2. */
static uint32_t list_pipelines(uint32_t *out, uint32_t capacity)
{
    uint32_t count = 0, found = 0, known = 0;
    VkPipeline seen[16];
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind != LAYER_DISPATCH) {
            continue;
        }
        uint32_t k = 0;
        while (k < known && seen[k] != events[i].pipeline) {
            k++;
        }
        if (k == known && known < 16) {
            seen[known++] = events[i].pipeline;
        }
        if (found < capacity) {
            out[found] = k;
        }
        found++;
    }
    return found;
}

static void count_segments(vyre_device *device, int form)
{
    (void)form;
    static const struct {
        const char *body;
        uint32_t segments, value;
    } cases[] = {
        {"a[0] = a[0] + 1", 1, 1},
        {"a[0] = a[0] + 1  grid_sync  a[0] = a[0] * 10", 2, 10},
        {"a[0] = a[0] + 1  grid_sync  a[0] = a[0] * 10  grid_sync  a[0] = a[0] + 3", 3, 13},
        /* First, last, side by side: what has no statements is no segment. */
        {"grid_sync  a[0] = a[0] + 1  grid_sync  a[0] = a[0] * 10", 2, 10},
        {"a[0] = a[0] + 1  grid_sync  a[0] = a[0] * 10  grid_sync", 2, 10},
        {"a[0] = a[0] + 1  grid_sync grid_sync  a[0] = a[0] * 10", 2, 10},
        {"grid_sync", 0, 0},
        {"", 0, 0},
        {"a[0] = a[0] + 1  return  grid_sync  a[0] = a[0] * 10", 2, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "program cut\nworkgroup 1\ninout a : u32[1]\nkernel { %s }\n",
                       cases[i].body);
        vyre_device_counters before, after;
        vyre_device_get_counters(device, &before);
        engine_program p = engine_build(device, text);
        vyre_device_get_counters(device, &after);
        assert_int_equal(vyre_kernel_segment_count(p.kernel), cases[i].segments);
        assert_int_equal(after.splits - before.splits, cases[i].segments > 1);
        assert_int_equal(after.segments - before.segments,
                         cases[i].segments > 1 ? cases[i].segments : 0);
        assert_int_equal(after.pipelines - before.pipelines, cases[i].segments);
        uint32_t a = 0, order[8];
        vyre_buffer buffer = engine_buffer(device, 4, NULL);
        vyre_binding bindings[] = {engine_resident(buffer, 0, 1)};
        layer_clear_events();
        vyre_report report = engine_run(&p, bindings, 1, NULL, 0, 1, 0);
        assert_int_equal(report.segments, cases[i].segments);
        assert_int_equal(report.dispatches_executed, cases[i].segments);
        assert_int_equal(list_pipelines(order, 8), cases[i].segments);
        for (uint32_t s = 0; s < cases[i].segments; s++) {
            assert_int_equal(order[s], s);
        }
        read_words(device, buffer, 0, &a, 1);
        assert_int_equal(a, cases[i].value);
        must_destroy(device, &buffer);
        engine_release(&p);
    }
}

static void test_split_makes_a_dispatch_of_each_segment(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, count_segments);
}

static void bind_once(vyre_device *device, int form)
{
    /* Each segment names another buffer, and all have the same table. */
    engine_program p = engine_build(device, "program table\nworkgroup 1\n"
                                            "inout a : u32[1]\ninout b : u32[1]\ninout c : u32[1]\n"
                                            "kernel { a[0] = 1  grid_sync  b[0] = 2\n"
                                            "  grid_sync  c[0] = 3 }\n");
    uint32_t a = 0, b = 0, c = 0;
    vyre_binding bindings[] = {engine_host_inout(&a, 1), engine_host_inout(&b, 1),
                               engine_host_inout(&c, 1)};
    vyre_report report = engine_run(&p, bindings, 3, NULL, 0, 1, 0);
    assert_int_equal(a * 100 + b * 10 + c, 123);
    /* Three buffers and the parameters, once for three segments, whatever the passes; by addresses
     * the parameters alone, for each chunk that may be in flight, and once for good. */
    bool by_address = form == FORM_ADDRESS || !engine_validates();
    uint32_t writes = report.descriptor_writes;
    assert_in_range(writes, by_address ? 1 : 4, by_address ? 2 : 4);
    report = engine_run(&p, bindings, 3, NULL, 0, 1, 50);
    assert_int_equal(report.descriptor_writes, by_address ? 0 : 4);
    engine_release(&p);
}

static void test_split_segments_share_one_table_of_buffers(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, bind_once);
}

/* Cuts inside blocks, host-evaluated branches and loops, and names that are given again. */
static const char nested_text[] =
    "program nested\nworkgroup 8\ninout a : u32[32]\nout y : u32[32]\nparam n : u32\n"
    "kernel {\n"
    "  let v = a[gid.x]\n"
    "  grid_sync\n"
    "  {\n"
    "    let w = v + 1\n"
    "    a[31 - gid.x] = w\n"
    "    grid_sync\n"
    "    y[gid.x] = w * 2 + a[gid.x]\n"
    "  }\n"
    "  if n > 2 {\n"
    "    let w = a[gid.x] * 3\n"
    "    grid_sync\n"
    "    for i in 0 .. n {\n"
    "      a[(gid.x + i) % 32] = w + i\n"
    "      grid_sync\n"
    "      if n > 3 {\n"
    "        let x = a[gid.x]\n"
    "        grid_sync\n"
    "        y[gid.x] = y[gid.x] + x\n"
    "      }\n"
    "    }\n"
    "  } else {\n"
    "    grid_sync\n"
    "    y[gid.x] = y[gid.x] + v * 5\n"
    "  }\n"
    "  grid_sync\n"
    "  y[gid.x] = y[gid.x] + v\n"
    "}\n";

static void nest(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, nested_text);
    for (uint32_t n = 0; n < 6; n++) {
        uint32_t a[32], y[32] = {0}, expected_a[32], expected_y[32] = {0};
        for (uint32_t i = 0; i < 32; i++) {
            a[i] = expected_a[i] = i * 7 + 1;
        }
        vyre_program *program = NULL;
        vyre_diag diag;
        vyre_interp_report told;
        vyre_host_buffer buffers[] = {{expected_a, 32}, {expected_y, 32}};
        vyre_interp_params params = {.struct_size = sizeof params,
                                     .buffers = buffers,
                                     .buffer_count = 2,
                                     .params = &n,
                                     .param_count = 1,
                                     .elements = {32, 0, 0}};
        assert_int_equal(
            vyre_program_parse(nested_text, strlen(nested_text), "nested", NULL, &program, &diag),
            VYRE_OK);
        assert_int_equal(vyre_interp_run(program, &params, &told, &diag), VYRE_OK);
        vyre_program_destroy(&program);
        vyre_binding bindings[] = {engine_host_inout(a, 32), engine_host_out(y, 32)};
        vyre_report report = engine_run(&p, bindings, 2, &n, 1, 32, 0);
        assert_memory_equal(a, expected_a, sizeof a);
        assert_memory_equal(y, expected_y, sizeof y);
        assert_int_equal(report.segments, told.segments);
    }
    engine_release(&p);
}

static void test_split_within_blocks_branches_and_loops(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, nest);
}

static void carry(vyre_device *device, int form)
{
    (void)form;
    /* An atomic is done once, a load sees what was there, an assigned variable keeps its value. */
    engine_program p = engine_build(device, "program carry\nworkgroup 16\n"
                                            "inout c : u32[1]\ninout a : u32[64]\n"
                                            "out t : u32[64]\nout u : u32[64]\nout w : u32[64]\n"
                                            "kernel {\n"
                                            "  let ticket = atomic_add(c[0], 1)\n"
                                            "  let before = a[gid.x]\n"
                                            "  var x = gid.x\n"
                                            "  x = x + before\n"
                                            "  a[gid.x] = 0\n"
                                            "  if gid.x % 2 == 1 { return }\n"
                                            "  let late = before * 2\n"
                                            "  grid_sync\n"
                                            "  t[gid.x] = ticket\n"
                                            "  u[gid.x] = before + late\n"
                                            "  x = x + 1\n"
                                            "  grid_sync\n"
                                            "  w[gid.x] = x\n"
                                            "}\n");
    uint32_t c = 0, a[64], t[64], u[64], w[64], seen[64] = {0};
    for (uint32_t i = 0; i < 64; i++) {
        a[i] = i + 500;
    }
    vyre_binding bindings[] = {engine_host_inout(&c, 1), engine_host_inout(a, 64),
                               engine_host_out(t, 64), engine_host_out(u, 64),
                               engine_host_out(w, 64)};
    vyre_report report = engine_run(&p, bindings, 5, NULL, 0, 64, 0);
    assert_int_equal(report.segments, 3);
    assert_true(report.spill_size > 0);
    assert_int_equal(c, 64);
    for (uint32_t i = 0; i < 64; i++) {
        assert_in_range(t[i], 0, 63);
        seen[t[i]]++;
        assert_int_equal(a[i], 0);
        /* `late` was not reached where the segment was left before: it is zero then. */
        assert_int_equal(u[i], (i + 500) * (i % 2 ? 1 : 3));
        assert_int_equal(w[i], i + i + 500 + 1);
    }
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(seen[i], 1);
    }
    engine_release(&p);
}

static void test_split_carries_values_and_repeats_nothing(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, carry);
}

static void test_split_is_refused_where_invocations_would_differ(void **state)
{
    (void)state;
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"if a[gid.x] > 1 { grid_sync }", "grid_sync"},
        {"for i in 0 .. a[0] { grid_sync }", "grid_sync"},
        {"while a[0] > 1 { grid_sync }", "grid_sync"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        (void)snprintf(text, sizeof text,
                       "program bad\nworkgroup 1\ninout a : u32[4]\nkernel {\n %s\n}\n",
                       cases[i].body);
        vyre_program *program = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_program_parse(text, strlen(text), "bad", NULL, &program, &diag),
                         VYRE_ERROR_INVALID_PROGRAM);
        assert_non_null(strstr(diag.message, cases[i].says));
        assert_non_null(strstr(diag.message, "Fix: "));
        assert_int_equal(diag.line, 5);
        assert_null(program);
    }
}

static const char three_text[] = "program three\nworkgroup 1\ninout a : u32[1]\n"
                                 "kernel { a[0] = 1  grid_sync  a[0] = 2  grid_sync  a[0] = 3 }\n";

static void name_segment(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, three_text);
    static const char *calls[] = {"vkCreateShaderModule", "vkCreateComputePipelines"};
    static const struct {
        VkResult failure;
        vyre_result code;
    } failures[] = {
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, VYRE_ERROR_DEVICE_OUT_OF_MEMORY},
        {VK_ERROR_OUT_OF_HOST_MEMORY, VYRE_ERROR_OUT_OF_HOST_MEMORY},
        {VK_ERROR_UNKNOWN, VYRE_OK}, /* whatever it is called */
    };
    for (size_t c = 0; c < 2; c++) {
        for (size_t f = 0; f < 3; f++) {
            for (uint32_t segment = 0; segment < 3; segment++) {
                vyre_pipeline *other = NULL;
                vyre_diag diag;
                layer.fail_only = calls[c];
                layer.failure = failures[f].failure;
                layer.fail_at = layer_fallible_calls() + 1 + segment;
                vyre_result code = vyre_pipeline_create(device, p.kernel, NULL, &other, &diag);
                layer.fail_at = 0;
                layer.fail_only = NULL;
                assert_int_not_equal(code, VYRE_OK);
                if (failures[f].code != VYRE_OK) {
                    assert_int_equal(code, failures[f].code);
                }
                assert_int_equal(diag.segment, segment);
                assert_null(other);
            }
        }
    }
    engine_release(&p);
}

static void test_split_errors_name_the_segment(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, name_segment);
}

/* ---- Warm-up --------------------------------------------------------------------------------- */

static uint32_t empty_dispatches(void)
{
    uint32_t count = 0, empty = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        empty += events[i].kind == LAYER_DISPATCH && events[i].groups[0] == 0;
    }
    return empty;
}

static void warm_up(vyre_device *device, int form)
{
    bool is_address = form == FORM_ADDRESS;
    static const char *texts[] = {
        three_text,
        /* Everything hidden: spill slots, records, a large table's place is the tables' own. */
        "program much\nworkgroup 8\nfixpoint 9 until f\n"
        "inout a : u32[]\nscratch f : u32[1]\nscratch keep k : u32[4]\nuniform u : u32[]\n"
        "kernel { let v = a[gid.x]  a[gid.x] = u[0]  if v == 77 { trap(3) }\n"
        "  grid_sync  a[gid.x] = v + k[0] }\n",
        "program none\nworkgroup 1\nkernel { }\n",
    };
    static const uint32_t segments[] = {3, 2, 0}, moves[] = {2, 2, 0};
    for (size_t i = 0; i < 3; i++) {
        engine_program p = engine_build(device, texts[i]);
        vyre_diag diag;
        layer_clear_events();
        int32_t alive = layer_alive();
        vyre_device_counters before, after;
        vyre_device_get_counters(device, &before);
        assert_int_equal(vyre_pipeline_warm_up(p.pipeline, &diag), VYRE_OK);
        assert_int_equal(vyre_pipeline_warm_up(p.pipeline, &diag), VYRE_OK);
        vyre_device_get_counters(device, &after);
        uint32_t each = segments[i] + (is_address || !engine_validates() ? moves[i] : 0);
        assert_int_equal(empty_dispatches(), 2 * each);
        assert_int_equal(layer_count(LAYER_DISPATCH), 2 * each);
        assert_int_equal(layer_count(LAYER_SUBMIT), segments[i] ? 2 : 0);
        assert_int_equal(after.instances, before.instances);
        /* The engine's own kernels stay; nothing else does. */
        assert_int_equal(layer_alive() >= alive, 1);
        engine_release(&p);
    }
    assert_int_equal(vyre_pipeline_warm_up(NULL, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    /* The same results, and the variant for overlaps too once there is one. */
    engine_program p = engine_build(device, "program pair\nworkgroup 1\n"
                                            "inout a : u32[]\ninout b : u32[]\n"
                                            "kernel { a[0] = a[0] + 1  b[0] = b[0] * 2 }\n");
    vyre_buffer buffer = engine_buffer(device, 1024, NULL);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 4), engine_resident(buffer, 0, 4)};
    vyre_report report;
    vyre_diag diag;
    uint32_t word = 0;
    assert_int_equal(start(&p, bindings, 2, 1, &report, &diag), VYRE_OK);
    layer_clear_events();
    assert_int_equal(vyre_pipeline_warm_up(p.pipeline, &diag), VYRE_OK);
    assert_int_equal(empty_dispatches(), 2 * (is_address || !engine_validates() ? 3 : 1));
    read_words(device, buffer, 0, &word, 1);
    assert_int_equal(word, 2);
    assert_int_equal(start(&p, bindings, 2, 1, &report, &diag), VYRE_OK);
    assert_int_equal(report.recordings, 0);
    read_words(device, buffer, 0, &word, 1);
    assert_int_equal(word, 6);
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_warm_up_dispatches_no_workgroup_of_each_segment(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, warm_up);
    in_each_form(LAYER_HEAPS_SEPARATE, warm_up);
}

static void fail_warm_up(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, three_text);
    vyre_diag diag;
    bool ended = false;
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (uint32_t n = 1; !ended && n < 60; n++) {
        layer.fail_at = layer_fallible_calls() + n;
        vyre_result code = vyre_pipeline_warm_up(p.pipeline, &diag);
        layer.fail_at = 0;
        ended = code == VYRE_OK;
        assert_true(ended || code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        uint32_t a = 0;
        vyre_binding bindings[] = {engine_host_inout(&a, 1)};
        (void)engine_run(&p, bindings, 1, NULL, 0, 1, 0);
        assert_int_equal(a, 3);
        (void)vyre_device_trim(device);
    }
    assert_true(ended);
    engine_release(&p);
}

static void test_warm_up_survives_each_failed_call(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, fail_warm_up);
    in_each_form(LAYER_HEAPS_SEPARATE, fail_warm_up);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_makes_a_dispatch_of_each_segment),
        cmocka_unit_test(test_split_segments_share_one_table_of_buffers),
        cmocka_unit_test(test_split_within_blocks_branches_and_loops),
        cmocka_unit_test(test_split_carries_values_and_repeats_nothing),
        cmocka_unit_test(test_split_is_refused_where_invocations_would_differ),
        cmocka_unit_test(test_split_errors_name_the_segment),
        cmocka_unit_test(test_warm_up_dispatches_no_workgroup_of_each_segment),
        cmocka_unit_test(test_warm_up_survives_each_failed_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
