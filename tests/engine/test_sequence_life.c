/* Sequences: what they refuse, hold, and survive. */
#include "tests/engine/sequence_support.h"
#include "tests/support/fail_allocator.h"

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refuse(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text);
    vyre_device *stranger = NULL; /* not through the layer, which is one device's */
    vyre_diag diag;
    assert_int_equal(vyre_device_create(NULL, &stranger, &diag), VYRE_OK);
    engine_program foreign = engine_build(stranger, add_text);
    uint32_t k = 1, memory[4] = {0};
    vyre_buffer a = engine_buffer(device, 16, NULL), gone = engine_buffer(device, 16, NULL);
    vyre_buffer stale = gone;
    must_destroy(device, &gone);
    vyre_binding good[] = {engine_resident(a, 0, 4)}, host[] = {engine_host_inout(memory, 4)};
    vyre_binding dead[] = {engine_resident(stale, 0, 4)}, small[] = {engine_resident(a, 0, 5)};
    struct vyre_host_sync *sync = (struct vyre_host_sync *)(void *)memory;
    vyre_step steps[] = {step_of(&add, good, 1, &k, 1), step_of(&add, good, 1, &k, 1),
                         step_of(&add, good, 1, &k, 1)};
    const struct {
        vyre_pipeline *pipeline;
        const vyre_binding *bindings;
        uint32_t params, passes;
        struct vyre_host_sync *sync;
        const char *says;
    } cases[] = {
        {NULL, good, 1, 0, NULL, "has no pipeline"},
        {foreign.pipeline, good, 1, 0, NULL, "another device"},
        {add.pipeline, host, 1, 0, NULL, "host memory"},
        {add.pipeline, dead, 1, 0, NULL, "was destroyed"},
        {add.pipeline, small, 1, 0, NULL, "4 elements"},
        {add.pipeline, good, 0, 0, NULL, "take 1 words"},
        {add.pipeline, good, 1, 4097, NULL, "4097 passes"},
        {add.pipeline, good, 1, 0, sync, "`sync`"},
    };
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.prefix = steps;
    params.prefix_count = 1;
    params.group = steps + 1;
    params.group_count = 2;
    params.repeat = 1;
    vyre_sequence *sequence = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t index = (uint32_t)i % 3;
        vyre_step saved = steps[index];
        steps[index].pipeline = cases[i].pipeline;
        steps[index].dispatch.bindings = cases[i].bindings;
        steps[index].dispatch.param_count = cases[i].params;
        steps[index].dispatch.passes = cases[i].passes;
        steps[index].dispatch.sync = cases[i].sync;
        layer_clear_events();
        assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        if (!strstr(diag.message, cases[i].says) || !strstr(diag.message, "Fix: ")) {
            fail_msg("case %u says: %s", (unsigned)i, diag.message);
        }
        assert_int_equal(diag.segment, index);
        assert_null(sequence);
        assert_int_equal(layer_count(LAYER_SUBMIT), 0);
        steps[index] = saved;
    }
    params.repeat = 1u << 20;
    assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "1048576 are the most"));
    params.repeat = UINT32_MAX;
    params.group_count = UINT32_MAX;
    assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "1048576 are the most"));
    /* Nothing stayed in use. */
    must_destroy(device, &a);
    engine_release(&add);
    engine_release(&foreign);
    engine_close(&stranger);
}

static void test_sequence_errors_name_the_step(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, refuse);
}

static void refuse_ranges(vyre_device *device, int form)
{
    (void)form;
    vyre_buffer a = engine_buffer(device, 64, NULL);
    unsigned char data[128];
    const struct {
        uint64_t offset, size;
        bool fills, downloads; /* whether it is taken */
    } cases[] = {
        {0, 64, true, true},   {64, 0, true, true},           {61, 3, false, true},
        {2, 4, false, true},   {0, 6, false, true},           {0, 68, false, false},
        {68, 0, false, false}, {4, UINT64_MAX, false, false}, {UINT64_MAX - 3, 4, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t down = 0; down < 2; down++) {
            vyre_fill fill = {a, cases[i].offset, cases[i].size, 1};
            vyre_download download = {a, cases[i].offset, cases[i].size, data};
            vyre_sequence_params params;
            vyre_sequence_params_init(&params);
            params.fills = &fill;
            params.fill_count = !down;
            params.downloads = &download;
            params.download_count = down;
            vyre_sequence *sequence = NULL;
            vyre_diag diag;
            vyre_result code = vyre_sequence_create(device, &params, &sequence, &diag);
            bool is_good = down ? cases[i].downloads : cases[i].fills;
            assert_int_equal(code, is_good ? VYRE_OK : VYRE_ERROR_INVALID_ARGUMENT);
            if (!is_good) {
                assert_non_null(strstr(diag.message, "Fix: stay within the buffer"));
            }
            vyre_sequence_destroy(&sequence);
        }
    }
    must_destroy(device, &a);
}

static void test_sequence_checks_its_ranges(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, refuse_ranges);
}

/* ---- Lifetimes ------------------------------------------------------------------------------- */

static void outlive(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text), other = engine_build(device, add_text);
    vyre_buffer a = engine_buffer(device, 16, NULL), b = engine_buffer(device, 16, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 4)};
    uint32_t k = 1, words[4];
    vyre_step steps[] = {step_of(&other, bindings, 1, &k, 1), step_of(&add, bindings, 1, &k, 1)};
    vyre_download download = {.buffer = b, .size = 16, .data = words};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.prefix = steps;
    params.prefix_count = 2;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = make(device, &params);
    vyre_buffer kept = a;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &a, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(a.bits, kept.bits);
    kept = b;
    assert_int_equal(vyre_buffer_destroy(device, &kept, &diag), VYRE_ERROR_BUSY);
    (void)run(sequence);
    /* A pipeline that goes first takes its step along: nothing is submitted any more. */
    engine_release(&add);
    layer_clear_events();
    vyre_report report;
    assert_int_equal(vyre_sequence_run(sequence, 0, &report, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "step 1"));
    assert_int_equal(diag.segment, 1);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &a);
    must_destroy(device, &b);
    engine_release(&other);
    vyre_sequence_destroy(&sequence);
    vyre_sequence_destroy(NULL);
    assert_int_equal(vyre_sequence_run(NULL, 0, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_sequence_holds_its_buffers_and_notices_lost_pipelines(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, outlive);
}

static void time_out(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text);
    vyre_buffer a = engine_buffer(device, 16, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 4)};
    uint32_t k = 1, words[4] = {77, 77, 77, 77};
    vyre_step step = step_of(&add, bindings, 1, &k, 1);
    vyre_download download = {.buffer = a, .size = 16, .data = words};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &step;
    params.group_count = 1;
    params.repeat = 3;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = make(device, &params);
    vyre_report report;
    vyre_diag diag;
    layer.timeouts = UINT32_MAX;
    assert_int_equal(vyre_sequence_run(sequence, 1000000, &report, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(words[0], 77); /* nothing was written */
    layer_clear_events();
    assert_int_equal(vyre_sequence_run(sequence, 1000000, &report, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    layer.timeouts = 0;
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    (void)run(sequence);
    assert_int_equal(words[0], 6); /* the one that timed out ran too */
    /* Destroying waits for a run in flight. */
    layer.timeouts = 3;
    assert_int_equal(vyre_sequence_run(sequence, 1, &report, &diag), VYRE_ERROR_TIMEOUT);
    layer.timeouts = 0;
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &a);
    engine_release(&add);
}

static void test_sequence_that_times_out_is_busy(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, time_out);
}

static void fail_each(vyre_device *device, int form)
{
    (void)form;
    engine_program down = engine_build(device, until_text);
    vyre_buffer a = engine_buffer(device, 16, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 3), {.kind = VYRE_BINDING_NONE}};
    uint32_t words[4] = {1, 2, 3, 4};
    vyre_step step = step_of(&down, bindings, 2, NULL, 0);
    vyre_fill fill = {a, 0, 16, 2};
    vyre_download download = {.buffer = a, .size = 16, .data = words};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &step;
    params.group_count = 1;
    params.repeat = 2;
    params.fills = &fill;
    params.fill_count = 1;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    bool ended = false;
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (uint32_t n = 1; !ended && n < 60; n++) {
        layer.fail_at = layer_fallible_calls() + n;
        vyre_result code = vyre_sequence_create(device, &params, &sequence, &diag);
        if (code == VYRE_OK) {
            memset(words, 9, sizeof words);
            code = vyre_sequence_run(sequence, 0, NULL, &diag);
            ended = code == VYRE_OK;
            assert_int_equal(words[1], ended ? 6 : 0x09090909);
        }
        layer.fail_at = 0;
        assert_true(code == VYRE_OK || code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        vyre_sequence_destroy(&sequence);
        /* As good as new. */
        sequence = make(device, &params);
        (void)run(sequence);
        assert_int_equal(words[0], 0);
        assert_int_equal(words[1], 2 + 3 + 1);
        vyre_sequence_destroy(&sequence);
        (void)vyre_device_trim(device);
    }
    assert_true(ended);
    must_destroy(device, &a);
    engine_release(&down);
}

static void test_sequence_survives_each_failed_call(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, fail_each);
    in_each_form(LAYER_HEAPS_SEPARATE, fail_each);
}

/* Every allocation of host memory in turn, of a dispatch with all kinds of bindings, of a warm-up,
 * and of a sequence. */
static vyre_result do_all(vyre_device *device, const engine_program *p, vyre_buffer a,
                          uint32_t *words, vyre_diag *diag)
{
    vyre_binding bindings[] = {engine_host_inout(words, 3), {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params dispatch;
    vyre_dispatch_params_init(&dispatch);
    dispatch.bindings = bindings;
    dispatch.binding_count = 2;
    dispatch.groups[0] = 1;
    vyre_result code = vyre_dispatch(p->pipeline, &dispatch, NULL, diag);
    bindings[0] = engine_resident(a, 0, 3);
    bindings[0].out = words;
    if (code == VYRE_OK) {
        code = vyre_dispatch(p->pipeline, &dispatch, NULL, diag);
    }
    if (code == VYRE_OK) {
        code = vyre_pipeline_warm_up(p->pipeline, diag);
    }
    vyre_step step = step_of(p, bindings, 2, NULL, 0);
    vyre_fill fill = {a, 0, 16, 2};
    vyre_download download = {.buffer = a, .size = 12, .data = words};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &step;
    params.group_count = 1;
    params.repeat = 2;
    params.fills = &fill;
    params.fill_count = 1;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = NULL;
    if (code == VYRE_OK) {
        code = vyre_sequence_create(device, &params, &sequence, diag);
    }
    if (code == VYRE_OK) {
        code = vyre_sequence_run(sequence, 0, NULL, diag);
    }
    vyre_sequence_destroy(&sequence);
    return code;
}

static void fail_host_memory(vyre_binding_mode mode)
{
    bool ended = false;
    uint32_t failures = 0;
    for (uint32_t n = 1; !ended && n < 400; n++) {
        vy_fail_allocator memory = {0, 0, 0, 0};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_device_params params;
        vyre_device_params_init(&params);
        params.allocator = &allocator;
        params.cache_dir = "";
        vyre_device *device = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_OK);
        engine_program p = engine_build_bound(device, until_text, mode);
        vyre_buffer a = engine_buffer(device, 16, NULL);
        uint32_t words[3] = {2, 0, 0};
        memory.fail_at = memory.calls + n;
        vyre_result code = do_all(device, &p, a, words, &diag);
        memory.fail_at = 0;
        ended = code == VYRE_OK;
        failures += !ended;
        assert_true(ended || code == VYRE_ERROR_OUT_OF_HOST_MEMORY);
        words[0] = 2;
        assert_int_equal(do_all(device, &p, a, words, &diag), VYRE_OK);
        assert_int_equal(words[0], 0);
        assert_int_equal(words[1], 2 + 3 + 1);
        must_destroy(device, &a);
        engine_release(&p);
        vyre_device_destroy(&device);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
    }
    assert_true(ended);
    assert_in_range(failures, 10, 399);
}

static void test_runs_survive_each_failed_allocation(void **state)
{
    (void)state;
    if (!engine_has_no_device()) {
        layer_reset();
        fail_host_memory(VYRE_BINDINGS_DESCRIPTOR);
        fail_host_memory(VYRE_BINDINGS_AUTO);
    }
}

static void test_sequence_outlives_its_device(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    layer_reset();
    vyre_device *device = engine_open(1);
    vyre_buffer a = engine_buffer(device, 16, NULL);
    vyre_fill fill = {a, 0, 16, 2};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.fills = &fill;
    params.fill_count = 1;
    vyre_sequence *sequence = make(device, &params);
    (void)run(sequence);
    engine_close(&device);
    assert_int_equal(layer_alive(), 0);
    vyre_diag diag;
    assert_int_equal(vyre_sequence_run(sequence, 0, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_sequence_destroy(&sequence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence_errors_name_the_step),
        cmocka_unit_test(test_sequence_checks_its_ranges),
        cmocka_unit_test(test_sequence_holds_its_buffers_and_notices_lost_pipelines),
        cmocka_unit_test(test_sequence_that_times_out_is_busy),
        cmocka_unit_test(test_sequence_survives_each_failed_call),
        cmocka_unit_test(test_runs_survive_each_failed_allocation),
        cmocka_unit_test(test_sequence_outlives_its_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
