/* GPU-assisted validation finds an access out of bounds in modules of ours, in both ways of
 * reaching buffers. Ours have none: their comparison with the length is turned round, so that
 * invocations behind the end store, and none before it. */
#include "codegen/kernel.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/engine_run.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <string.h>

#define COUNT  100u
#define GROUPS 16u

static const char text[] = "program beyond\nworkgroup 64\ninout cells : u32[]\n"
                           "kernel {\n"
                           "    let i = gid.x\n"
                           "    if i < len(cells) { cells[i] = i }\n"
                           "}\n";

static char messages[16384];
static uint32_t message_count;

static void keep_message(void *user, const vyre_log_message *message)
{
    (void)user;
    size_t length = strlen(messages);
    if (message->source == VYRE_LOG_VALIDATION && !message->allowed) {
        message_count++;
        snprintf(messages + length, sizeof messages - length, "%s: %s\n", message->id,
                 message->text);
    }
}

/* How many comparisons were turned. */
static uint32_t turn(vyre_kernel *kernel)
{
    uint32_t turned = 0;
    vy_kernel_segment *segment = (vy_kernel_segment *)vy_kernel_get_segment(kernel, 0);
    for (uint32_t at = 5; at < segment->word_count; at += segment->words[at] >> 16) {
        if ((segment->words[at] & 0xffff) == SpvOpULessThan) {
            segment->words[at] = (segment->words[at] & 0xffff0000u) | SpvOpUGreaterThanEqual;
            turned++;
        }
    }
    return turned;
}

static engine_program build(vyre_device *device, vyre_interface interface, int is_planted)
{
    engine_program out = {NULL, NULL};
    vyre_program *program = NULL;
    vyre_kernel_params params;
    vyre_pipeline_params pipeline;
    vyre_diag diag;
    vyre_device_kernel_params(device, &params);
    params.interface = interface;
    vyre_pipeline_params_init(&pipeline);
    pipeline.bindings =
        interface == VYRE_INTERFACE_ADDRESS ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR;
    assert_int_equal(vyre_program_parse(text, strlen(text), "beyond", NULL, &program, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_kernel_compile(program, &params, &out.kernel, &diag), VYRE_OK);
    if (is_planted) {
        assert_int_equal(turn(out.kernel), 1);
    }
    if (vyre_pipeline_create(device, out.kernel, &pipeline, &out.pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    return out;
}

/* Runs it over more invocations than there are elements; what the layer says lies in messages. */
static uint64_t run(vyre_interface interface, int is_planted)
{
    vyre_device_params params;
    vyre_diag diag;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_GPU_ASSISTED;
    params.log = keep_message;
    messages[0] = '\0';
    message_count = 0;
    vyre_device *device = engine_open_with(&params);
    engine_program p = build(device, interface, is_planted);
    vyre_buffer buffer = {0};
    vyre_buffer_params wanted = {.size = 4 * COUNT, .name = "the host's cells"};
    assert_int_equal(vyre_buffer_create(device, &wanted, &buffer, &diag), VYRE_OK);
    vyre_binding bindings[] = {engine_resident(buffer, 0, COUNT)};
    vyre_dispatch_params dispatch = engine_params(bindings, 1);
    dispatch.groups[0] = GROUPS;
    layer.no_judge = true;
    assert_int_equal(vyre_dispatch(p.pipeline, &dispatch, NULL, &diag), VYRE_OK);
    uint32_t cells[COUNT];
    assert_int_equal(vyre_buffer_download(device, buffer, 0, cells, sizeof cells, &diag), VYRE_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(cells[i], is_planted ? 0 : i);
    }
    uint64_t failures = vyre_device_validation_failures(device);
    engine_release(&p);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    vyre_device_destroy(&device);
    return failures;
}

static void expect_found(vyre_interface interface, const char *expected)
{
    assert_int_equal(run(interface, 0), 0);
    assert_string_equal(messages, "");
    uint64_t failures = run(interface, 1);
    if (failures == 0 || !strstr(messages, expected) || !strstr(messages, "beyond.seg0")) {
        fail_msg("%llu failures, %u messages, no %s in:\n%s", (unsigned long long)failures,
                 (unsigned)message_count, expected, messages);
    }
}

static void test_store_out_of_bounds_is_found_by_descriptor(void **state)
{
    (void)state;
    if (engine_has_no_device() || !engine_validates()) {
        return;
    }
    expect_found(VYRE_INTERFACE_DESCRIPTOR, "ut of bounds");
}

static void test_store_out_of_bounds_is_found_by_address(void **state)
{
    (void)state;
    if (engine_has_no_device() || !engine_validates()) {
        return;
    }
    expect_found(VYRE_INTERFACE_ADDRESS, "ut of bounds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_out_of_bounds_is_found_by_descriptor),
        cmocka_unit_test(test_store_out_of_bounds_is_found_by_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
