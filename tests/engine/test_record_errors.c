/* Recordings that fail, and what recordings leave behind in the commands of others. */
#include "tests/engine/scene.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_record_counts_its_dispatches_before(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene(NULL);
    engine_program until =
        renderer_build(s.device,
                       "program until\nworkgroup 64\ngrid over a\nfixpoint 9 until f\n"
                       "inout a : u32[]\nscratch f : u32[1]\nkernel { a[gid.x] = 1 }\n",
                       VYRE_BINDINGS_AUTO);
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    renderer_begin(&scene_host, s.commands, 0);
    params.dispatch.passes = 2049;
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "4096");
    params.dispatch.passes = UINT32_MAX;
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "4096");
    params.dispatch.binding_count = 2;
    params.dispatch.passes = 4097; /* nothing stands between passes */
    refuse_record(&until, &params, VYRE_ERROR_INVALID_ARGUMENT, "4096");
    params.dispatch.passes = 4096;
    layer_clear_events();
    vyre_recording *recording = must_record(&until, &params);
    assert_int_equal(layer_count(LAYER_DISPATCH) + layer_count(LAYER_INDIRECT), 4096);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    vyre_recording_destroy(&recording);
    renderer_end(&scene_host, s.commands);
    engine_release(&until);
    close_scene(&s);
}

static void test_record_refuses_wrong_parameters(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene(NULL);
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    params.command_buffer = VK_NULL_HANDLE;
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "command buffer");
    params = recording_of(s.commands, s.list, s.buffer);
    params.struct_size = 8;
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "struct_size");
    params = recording_of(s.commands, s.list, s.buffer);
    params.dispatch.struct_size = 8;
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "struct_size");
    params = recording_of(s.commands, s.list, s.buffer);
    params.dispatch.binding_count = 2;
    refuse_record(&s.program, &params, VYRE_ERROR_INVALID_ARGUMENT, "3 buffers");
    vyre_diag diag;
    vyre_recording *recording = NULL;
    assert_int_equal(vyre_record(NULL, &params, &recording, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_record(s.program.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_recording_retire_at(NULL, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_recording_report(NULL, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_recording_is_retired(NULL), 0);
    vyre_recording_destroy(NULL);
    vyre_device_retire(NULL, 1);
    close_scene(&s);
}

static void test_record_owns_keep_memory_of_its_size(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene(NULL);
    engine_program keep = renderer_build(s.device,
                                         "program keep\nworkgroup 1\ngrid over a\n"
                                         "inout a : u32[]\nscratch keep k : u32[len(a)]\n"
                                         "kernel { k[gid.x] = k[gid.x] + 1\n"
                                         "  a[gid.x] = k[gid.x] }\n",
                                         VYRE_BINDINGS_AUTO);
    vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
    params.dispatch.binding_count = 2;
    refuse_record(&keep, &params, VYRE_ERROR_INVALID_ARGUMENT, "call vyre_dispatch once");
    vyre_report report = engine_run(&keep, s.list, 2, NULL, 0, 0, 0);
    assert_int_equal(report.passes, 1);
    renderer_begin(&scene_host, s.commands, 0);
    vyre_recording *recording = must_record(&keep, &params);
    renderer_end(&scene_host, s.commands);
    vyre_diag diag;
    s.list[0].count = 7;
    assert_int_equal(vyre_dispatch(keep.pipeline, &params.dispatch, NULL, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "keep"));
    renderer_submit_and_wait(&scene_host, s.commands);
    uint32_t words[COUNT];
    assert_int_equal(vyre_buffer_download(s.device, s.buffer, 0, words, SIZE, &diag), VYRE_OK);
    assert_int_equal(words[COUNT - 1], 2);
    vyre_recording_destroy(&recording);
    assert_int_equal(vyre_dispatch(keep.pipeline, &params.dispatch, NULL, &diag), VYRE_OK);
    engine_release(&keep);
    close_scene(&s);
}

static void assert_nothing_recorded(void)
{
    assert_int_equal(layer_count(LAYER_DISPATCH) + layer_count(LAYER_INDIRECT) +
                         layer_count(LAYER_BARRIER) + layer_count(LAYER_FILL) +
                         layer_count(LAYER_COPY) + layer_count(LAYER_SUBMIT),
                     0);
}

static void test_record_survives_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    scene s = open_scene(NULL);
    vyre_diag diag;
    uint32_t failures = 0;
    for (uint32_t n = 1;; n++) {
        vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
        vyre_recording *recording = NULL;
        renderer_begin(&scene_host, s.commands, 0);
        layer_clear_events();
        layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        layer.fail_at = layer_fallible_calls() + n;
        vyre_result code = vyre_record(s.program.pipeline, &params, &recording, &diag);
        bool has_failed = layer_fallible_calls() >= layer.fail_at;
        layer.fail_at = 0;
        renderer_end(&scene_host, s.commands);
        if (code == VYRE_OK) { /* also where it was the name of something that failed */
            vyre_recording_destroy(&recording);
        } else {
            failures++;
            assert_true(has_failed);
            assert_non_null(strstr(diag.message, "Fix:"));
            assert_null(recording);
            assert_nothing_recorded();
        }
        assert_int_equal(vyre_buffer_destroy(s.device, &s.buffer, &diag), VYRE_OK);
        s.buffer = renderer_import(s.device, s.own, SIZE, RENDERER_USAGE);
        (void)vyre_device_trim(s.device);
        if (!has_failed) {
            break;
        }
    }
    assert_true(failures > 3);
    close_scene(&s);
}

static void test_record_survives_each_failed_allocation(void **state)
{
    (void)state;
    NEED_DEVICE();
    vy_fail_allocator memory = {0};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    scene s = open_scene(&allocator);
    uint32_t failures = 0;
    for (size_t n = 1;; n++) {
        engine_program p = renderer_build(s.device, reverse_text, VYRE_BINDINGS_AUTO);
        vyre_record_params params = recording_of(s.commands, s.list, s.buffer);
        vyre_recording *recording = NULL;
        vyre_diag diag;
        renderer_begin(&scene_host, s.commands, 0);
        layer_clear_events();
        memory.fail_at = memory.calls + n;
        vyre_result code = vyre_record(p.pipeline, &params, &recording, &diag);
        bool has_failed = memory.calls >= memory.fail_at;
        memory.fail_at = 0;
        renderer_end(&scene_host, s.commands);
        if (code != VYRE_OK) {
            failures++;
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(recording);
            assert_nothing_recorded();
        }
        vyre_recording_destroy(&recording);
        engine_release(&p);
        if (!has_failed) {
            break;
        }
    }
    assert_true(failures > 3);
    close_scene(&s);
    assert_int_equal(memory.live_blocks, 0);
}

/* ---- What is left behind ----------------------------------------------------------------------
 */

/* Only these stand in a renderer's command buffer: none sets graphics state, dynamic state, or more
 * than set 0, the push constants and the pipeline of compute. Labels are closed where they were
 * opened. */
static const char *const allowed[] = {"vkCmdBeginDebugUtilsLabelEXT",
                                      "vkCmdBindDescriptorSets",
                                      "vkCmdBindPipeline",
                                      "vkCmdCopyBuffer",
                                      "vkCmdDispatch",
                                      "vkCmdDispatchIndirect",
                                      "vkCmdEndDebugUtilsLabelEXT",
                                      "vkCmdFillBuffer",
                                      "vkCmdPipelineBarrier",
                                      "vkCmdPipelineBarrier2",
                                      "vkCmdPushConstants",
                                      "vkCmdPushDescriptorSetKHR",
                                      "vkCmdResetQueryPool",
                                      "vkCmdWriteTimestamp"};

static void check_commands(const char *name)
{
    char path[512], word[64];
    snprintf(path, sizeof path, "%s/engine/%s", VYRE_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    uint32_t found = 0;
    for (const char *at = strstr(text, "vkCmd"); at; at = strstr(at + 1, "vkCmd")) {
        size_t length =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        bool is_allowed = false;
        for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
            is_allowed = is_allowed || strcmp(allowed[i], word) == 0;
        }
        if (!is_allowed) {
            fail_msg("%s records %s: say in vulkan.h what it leaves behind", name, word);
        }
        found++;
    }
    assert_true(found > 0);
}

static void test_record_leaves_documented_state_behind(void **state)
{
    (void)state;
    static const char *const files[] = {"exec/record.c", "exec/bind_push.c", "exec/bind_set.c",
                                        "exec/ownership.c", "device/commands.c"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        check_commands(files[i]);
    }
}

int main(void)
{
#define T(test)     cmocka_unit_test_setup_teardown(test, scene_open_validated, scene_close_host)
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, scene_open_plain, scene_close_host)
    const struct CMUnitTest tests[] = {
        PLAIN(test_record_counts_its_dispatches_before),
        T(test_record_refuses_wrong_parameters),
        T(test_record_owns_keep_memory_of_its_size),
        PLAIN(test_record_survives_each_failed_call),
        PLAIN(test_record_survives_each_failed_allocation),
        cmocka_unit_test(test_record_leaves_documented_state_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
