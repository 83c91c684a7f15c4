/* Programs with subgroups through the engine: in the device's width and in every one that it can
 * pin, against the interpreter in that width; dispatched, recorded and in sequences; and what their
 * pipelines were created with. */
#include "engine/device/device.h"
#include "tests/engine/scene.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GROUPS 3u
#define MOST   (64u * GROUPS) /* invocations */
#define WORDS  12u            /* of each */

/* Every class of operations, over small and long types: values do not depend on the order of sums.
 */
static const char uniform_body[] =
    "inout o : u32[]\n"
    "kernel {\n"
    "  let i = gid.x\n"
    "  let at = i * 12\n"
    "  let first = subgroup_elect()\n"
    "  let some = subgroup_any(lid.x == 5)\n"
    "  let every = subgroup_all(lid.x < 24)\n"
    "  o[at] = lane | lanes << 8 | u32(first) << 16 | u32(some) << 17 | u32(every) << 18\n"
    "  let b = subgroup_ballot(i % 3 == 1)\n"
    "  o[at + 1] = b.x ^ b.y * 3\n"
    "  let up = subgroup_shuffle_up(i + 1, 1)\n"
    "  o[at + 2] = up\n"
    "  let other = subgroup_shuffle_xor(u8(i * 7), 2)\n"
    "  o[at + 3] = u32(other)\n"
    "  let one = subgroup_broadcast(f16(i) / f16(8.0), 1)\n"
    "  o[at + 4] = u32(bitcast<u16>(one))\n"
    "  let sum = subgroup_add(i16(i) - 40)\n"
    "  o[at + 5] = bitcast<u32>(i32(sum))\n"
    "  let before = subgroup_exclusive_min(i32(i ^ 9))\n"
    "  o[at + 6] = bitcast<u32>(before)\n"
    "  let top = subgroup_inclusive_max(f32(i % 5) - 2.0)\n"
    "  o[at + 7] = bitcast<u32>(top)\n"
    "  let bits = subgroup_xor(i * 0x10001)\n"
    "  o[at + 8] = bits\n"
    "  let start = subgroup_broadcast_first(i)\n"
    "  o[at + 9] = start\n"
    "  let product = subgroup_inclusive_mul(u8(i | 1))\n"
    "  o[at + 10] = u32(product)\n"
    "  o[at + 11] = i\n"
    "}\n";

/* With features that a device need not have. */
static const char long_body[] = "inout o : u32[]\n"
                                "kernel {\n"
                                "  let at = gid.x * 12\n"
                                "  let sum = subgroup_inclusive_add(u64(gid.x) << 31)\n"
                                "  o[at] = u32(sum)\n"
                                "  o[at + 1] = u32(sum >> 32)\n"
                                "  let least = subgroup_min(i64(gid.x) * -3)\n"
                                "  o[at + 2] = bitcast<u32>(i32(least))\n"
                                "  let joined = subgroup_or(u64(gid.x) << 40)\n"
                                "  o[at + 3] = u32(joined >> 40)\n"
                                "}\n";

static const char divergent_body[] = "inout o : u32[]\n"
                                     "kernel {\n"
                                     "  if gid.x % 3 == 1 {\n"
                                     "    let sum = subgroup_add(gid.x)\n"
                                     "    o[gid.x * 12] = sum\n"
                                     "  } else {\n"
                                     "    let bits = subgroup_ballot(gid.x % 2 == 0)\n"
                                     "    o[gid.x * 12 + 1] = bits.x\n"
                                     "  }\n"
                                     "}\n";

static const char plain_body[] = "inout o : u32[]\nkernel { o[gid.x * 12] = gid.x }\n";

/* `pinned` 0: the program leaves its width to the device. */
static void write_text(char *text, size_t size, const char *body, uint32_t volume, uint32_t pinned)
{
    char width[32] = "";
    if (pinned) {
        (void)snprintf(width, sizeof width, "subgroup %u\n", (unsigned)pinned);
    }
    (void)snprintf(text, size, "program lanes_of\nworkgroup %u\n%s%s", (unsigned)volume, width,
                   body);
}

static vyre_program *parse(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "lanes_of", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u: %s", (unsigned)diag.line, diag.message);
    }
    return program;
}

/* What the interpreter makes of it in that width. */
static void interpret(const char *text, uint32_t width, uint32_t words, uint32_t *o)
{
    vyre_program *program = parse(text);
    vyre_host_buffer buffer = {.data = o, .count = words};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = &buffer,
                                 .buffer_count = 1,
                                 .groups = {GROUPS, 1, 1},
                                 .subgroup_width = width};
    vyre_diag diag;
    if (vyre_interp_run(program, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
}

static void expect_equal(const uint32_t *got, const uint32_t *wanted, uint32_t words,
                         uint32_t width)
{
    for (uint32_t i = 0; i < words; i++) {
        if (got[i] != wanted[i]) {
            fail_msg("width %u, invocation %u, word %u: 0x%x, not 0x%x", (unsigned)width,
                     (unsigned)(i / WORDS), (unsigned)(i % WORDS), (unsigned)got[i],
                     (unsigned)wanted[i]);
        }
    }
}

/* On both; the dispatch's pipeline was created with `required` and `is_full`. */
static void compare(vyre_device *device, const char *text, uint32_t volume, uint32_t width,
                    uint32_t required, bool is_full)
{
    uint32_t wanted[MOST * WORDS] = {0}, got[MOST * WORDS] = {0};
    uint32_t words = volume * GROUPS * WORDS, count = 0, dispatches = 0;
    interpret(text, width, words, wanted);
    engine_program p = engine_build(device, text);
    vyre_buffer buffer = engine_buffer(device, sizeof got, got);
    vyre_binding bindings[] = {engine_resident(buffer, 0, words)};
    vyre_dispatch_params params = engine_params(bindings, 1);
    params.groups[0] = GROUPS;
    layer_clear_events();
    vyre_diag diag;
    if (vyre_dispatch(p.pipeline, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_DISPATCH) {
            dispatches++;
            assert_int_equal(layer_pipeline_width(events[i].pipeline), required);
            assert_int_equal(layer_pipeline_is_full(events[i].pipeline), is_full);
        }
    }
    assert_int_equal(dispatches, 1);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, got, words * sizeof *got, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    expect_equal(got, wanted, words, width);
    engine_release(&p);
}

/* ---- Widths ---------------------------------------------------------------------------------- */

static void test_programs_run_in_the_devices_width(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    static const uint32_t volumes[] = {64, 48, 20, 5, 1}; /* with partial subgroups among them */
    for (int validated = 0; validated < 2; validated++) {
        vyre_device *device = engine_open(validated);
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        uint32_t width = info.subgroup_size;
        uint32_t pinned = vy_snapshot_can_pin(&device->snapshot, width) ? width : 0;
        for (size_t i = 0; i < VY_COUNT_OF(volumes); i++) {
            char text[2048];
            write_text(text, sizeof text, uniform_body, volumes[i], 0);
            compare(device, text, volumes[i], width, pinned, false);
            if (device->snapshot.has[VY_FEATURE_shaderInt64]) {
                write_text(text, sizeof text, long_body, volumes[i], 0);
                compare(device, text, volumes[i], width, pinned, false);
            }
            write_text(text, sizeof text, plain_body, volumes[i], 0);
            compare(device, text, volumes[i], width, 0, false);
        }
        engine_close(&device);
    }
}

static void test_programs_run_in_every_width_that_can_be_pinned(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(1);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    for (uint32_t width = 1; width <= 64; width *= 2) {
        if (width < info.min_subgroup_size || width > info.max_subgroup_size) {
            continue;
        }
        char text[2048];
        print_message("%u lanes\n", (unsigned)width);
        write_text(text, sizeof text, uniform_body, 64, width);
        compare(device, text, 64, width, width, true);
        write_text(text, sizeof text, long_body, 64, width);
        compare(device, text, 64, width, width, true);
        write_text(text, sizeof text, plain_body, 64, width);
        compare(device, text, 64, width, width, true);
    }
    engine_close(&device);
}

static void test_devices_that_pin_nothing_run_in_their_width(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    char text[2048];
    for (int way = 0; way < 2; way++) {
        layer.hide_feature = way ? NULL : "subgroupSizeControl";
        layer.no_pinned_width = way;
        vyre_device *device = engine_open(1);
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        write_text(text, sizeof text, uniform_body, 48, 0);
        compare(device, text, 48, info.subgroup_size, 0, false);
        engine_close(&device);
    }
    layer.hide_feature = "computeFullSubgroups"; /* which only pinned programs need */
    layer.no_pinned_width = false;
    vyre_device *device = engine_open(1);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    uint32_t pinned =
        vy_snapshot_can_pin(&device->snapshot, info.subgroup_size) ? info.subgroup_size : 0;
    write_text(text, sizeof text, uniform_body, 48, 0);
    compare(device, text, 48, info.subgroup_size, pinned, false);
    engine_close(&device);
}

/* ---- Recordings and sequences ---------------------------------------------------------------- */

static void test_sequences_run_in_the_same_width(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(1);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    uint32_t wanted[MOST * WORDS] = {0}, got[MOST * WORDS] = {0}, words = MOST * WORDS;
    char text[2048];
    write_text(text, sizeof text, uniform_body, 64, 0);
    interpret(text, info.subgroup_size, words, wanted);
    engine_program p = engine_build(device, text);
    vyre_buffer buffer = engine_buffer(device, sizeof got, got);
    vyre_binding bindings[] = {engine_resident(buffer, 0, words)};
    vyre_step step = {.pipeline = p.pipeline};
    vyre_dispatch_params_init(&step.dispatch);
    step.dispatch.bindings = bindings;
    step.dispatch.binding_count = 1;
    step.dispatch.groups[0] = GROUPS;
    vyre_download download = {.buffer = buffer, .data = got, .size = sizeof got};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &step;
    params.group_count = 1;
    params.repeat = 2;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    if (vyre_sequence_create(device, &params, &sequence, &diag) != VYRE_OK ||
        vyre_sequence_run(sequence, 0, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    expect_equal(got, wanted, words, info.subgroup_size);
    vyre_sequence_destroy(&sequence);
    engine_release(&p);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_close(&device);
}

static void test_recordings_run_in_the_same_width(void **state)
{
    (void)state;
    NEED_DEVICE();
    const uint32_t *mapped = NULL;
    uint32_t wanted[MOST * WORDS] = {0}, words = MOST * WORDS;
    VkBuffer own = renderer_buffer(&scene_host, sizeof wanted, RENDERER_USAGE, NULL);
    VkBuffer back =
        renderer_buffer(&scene_host, sizeof wanted, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &mapped);
    VkCommandBuffer commands = renderer_commands(&scene_host, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vyre_device *device = renderer_adopt(&scene_host, NULL);
    vyre_diag diag;
    assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    vyre_buffer buffer = renderer_import(device, own, sizeof wanted, RENDERER_USAGE);
    char text[2048];
    write_text(text, sizeof text, uniform_body, 64,
               vy_snapshot_can_pin(&device->snapshot, info.subgroup_size) ? info.subgroup_size : 0);
    interpret(text, info.subgroup_size, words, wanted);
    engine_program p = renderer_build(device, text, VYRE_BINDINGS_AUTO);
    vyre_binding bindings[] = {engine_resident(buffer, 0, words)};
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = commands;
    params.dispatch.bindings = bindings;
    params.dispatch.binding_count = 1;
    params.dispatch.groups[0] = GROUPS;
    renderer_begin(&scene_host, commands, 0);
    vyre_recording *recording = must_record(&p, &params);
    renderer_copy_back(&scene_host, commands, own, back, sizeof wanted);
    renderer_end(&scene_host, commands);
    renderer_submit_and_wait(&scene_host, commands);
    expect_equal(mapped, wanted, words, info.subgroup_size);
    vyre_recording_destroy(&recording);
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- Divergence ------------------------------------------------------------------------------ */

typedef struct warnings {
    uint32_t count;
    char text[512];
} warnings;

static void take_warning(void *user, const vyre_log_message *message)
{
    warnings *w = user;
    if (strstr(message->text, "only some invocations reach")) {
        assert_int_equal(message->level, VYRE_LOG_WARNING);
        assert_int_equal(message->is_failure, 0);
        w->count++;
        (void)snprintf(w->text, sizeof w->text, "%s", message->text);
    }
}

static void test_divergent_programs_run_where_lanes_come_together(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    char text[2048];
    write_text(text, sizeof text, divergent_body, 20, 0);
    if (device->snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence]) {
        uint32_t pinned =
            vy_snapshot_can_pin(&device->snapshot, info.subgroup_size) ? info.subgroup_size : 0;
        compare(device, text, 20, info.subgroup_size, pinned, false);
    }
    engine_close(&device);
}

static void test_divergent_programs_run_with_a_warning_where_validated(void **state)
{
    (void)state;
    if (engine_has_no_device() || !engine_validates()) {
        return;
    }
    warnings w = {0, ""};
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_ON;
    params.log = take_warning;
    params.log_user = &w;
    params.log_level = VYRE_LOG_WARNING;
    vyre_device *device = engine_open_with(&params);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    uint32_t pinned =
        vy_snapshot_can_pin(&device->snapshot, info.subgroup_size) ? info.subgroup_size : 0;
    char text[2048];
    write_text(text, sizeof text, uniform_body, 20, 0);
    compare(device, text, 20, info.subgroup_size, pinned, false);
    assert_int_equal(w.count, 0);
    write_text(text, sizeof text, divergent_body, 20, 0);
    compare(device, text, 20, info.subgroup_size, pinned, false);
    assert_int_equal(w.count, 1);
    assert_non_null(strstr(w.text, "VK_KHR_shader_maximal_reconvergence"));
    assert_non_null(strstr(w.text, "'lanes_of' has a subgroup operation in line 6 "));
    engine_close(&device);
}

static void test_kernels_ask_for_the_reconvergence_there_is(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    bool *has = device->snapshot.has_extension;
    bool kept[2] = {has[VY_EXTENSION_KHR_shader_maximal_reconvergence],
                    has[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow]};
    static const vyre_reconvergence wanted[4] = {
        VYRE_RECONVERGENCE_NONE, VYRE_RECONVERGENCE_MAXIMAL, VYRE_RECONVERGENCE_UNIFORM,
        VYRE_RECONVERGENCE_MAXIMAL};
    for (uint32_t i = 0; i < 4; i++) {
        vyre_kernel_params params;
        has[VY_EXTENSION_KHR_shader_maximal_reconvergence] = i & 1;
        has[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow] = i & 2;
        vyre_device_kernel_params(device, &params);
        assert_int_equal(params.reconvergence, wanted[i]);
    }
    has[VY_EXTENSION_KHR_shader_maximal_reconvergence] = kept[0];
    has[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow] = kept[1];
    engine_close(&device);
    layer.hide_extension = "VK_KHR_shader_maximal_reconvergence";
    vyre_kernel_params params;
    device = engine_open(0);
    vyre_device_kernel_params(device, &params);
    assert_int_not_equal(params.reconvergence, VYRE_RECONVERGENCE_MAXIMAL);
    engine_close(&device);
    layer.hide_extension = NULL;
    if (engine_validates()) {
        device = engine_open(1);
        vyre_device_kernel_params(device, &params);
        assert_int_not_equal(params.reconvergence, VYRE_RECONVERGENCE_MAXIMAL);
        engine_close(&device);
    }
}

/* ---- Kernel files ---------------------------------------------------------------------------- */

/* Words that ask for maximal reconvergence are not those that a device without it gets. */
static void test_files_made_for_reconvergence_are_compiled_anew_without_it(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *device = engine_open(0);
    vyre_kernel_params with, without;
    vyre_device_kernel_params(device, &with);
    engine_close(&device);
    char text[2048];
    write_text(text, sizeof text, uniform_body, 64, 0);
    vyre_program *program = parse(text);
    vyre_kernel *made = NULL, *loaded = NULL;
    vyre_diag diag;
    void *data = NULL;
    size_t size = 0;
    with.reconvergence = VYRE_RECONVERGENCE_MAXIMAL;
    assert_int_equal(vyre_kernel_compile(program, &with, &made, &diag), VYRE_OK);
    const vyre_kernel *list[] = {made};
    assert_int_equal(vyre_kernel_save(list, 1, NULL, &data, &size, &diag), VYRE_OK);
    assert_int_equal(vyre_kernel_load(data, size, &with, &loaded, &diag), VYRE_OK);
    assert_int_equal(vyre_kernel_is_precompiled(loaded), 1);
    vyre_kernel_destroy(&loaded);
    layer.hide_extension = "VK_KHR_shader_maximal_reconvergence";
    device = engine_open(0);
    vyre_device_kernel_params(device, &without);
    assert_int_equal(vyre_kernel_load(data, size, &without, &loaded, &diag), VYRE_OK);
    assert_int_equal(vyre_kernel_is_precompiled(loaded), 0);
    vyre_pipeline *pipeline = NULL;
    assert_int_equal(vyre_pipeline_create(device, loaded, NULL, &pipeline, &diag), VYRE_OK);
    vyre_pipeline_destroy(&pipeline);
    vyre_kernel_destroy(&loaded);
    assert_int_equal(vyre_kernel_load(data, size, &with, &loaded, &diag), VYRE_OK);
    assert_int_equal(vyre_pipeline_create(device, loaded, NULL, &pipeline, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "shaderMaximalReconvergence"));
    assert_non_null(strstr(diag.message, "Fix: compile it with vyre_device_kernel_params"));
    vyre_kernel_destroy(&loaded);
    vyre_kernel_free_data(NULL, &data, size);
    vyre_kernel_destroy(&made);
    vyre_program_destroy(&program);
    engine_close(&device);
}

static int reset(void **state)
{
    (void)state;
    layer_reset();
    return 0;
}

static int nothing_alive(void **state)
{
    (void)state;
    assert_int_equal(layer_alive(), 0);
    return 0;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, reset, nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_programs_run_in_the_devices_width),
        T(test_programs_run_in_every_width_that_can_be_pinned),
        T(test_devices_that_pin_nothing_run_in_their_width),
        T(test_sequences_run_in_the_same_width),
        cmocka_unit_test_setup_teardown(test_recordings_run_in_the_same_width, scene_open_validated,
                                        scene_close_host),
        T(test_divergent_programs_run_where_lanes_come_together),
        T(test_divergent_programs_run_with_a_warning_where_validated),
        T(test_kernels_ask_for_the_reconvergence_there_is),
        T(test_files_made_for_reconvergence_are_compiled_anew_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
