/* Lines of printf statements from a device, through the validation layer: the interpreter's, each
 * as often, by the same passes, segments and invocations; results stay what they are. */
#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/base/printf.h"
#include "vyre/interp.h"
#include "vyre/text.h"
#include "vyre/vulkan.h"

#define MOST_LINES 4096u
#define SETTINGS   VYRE_BINARY_DIR "/printf-settings.txt"

typedef struct lines {
    char text[MOST_LINES][192];
    uint32_t count, lost;
    char others[4096];   /* messages that are no lines */
    char messages[1024]; /* the last line that was a message */
} lines;

static lines device_lines, interpreter_lines;

static void note_line(void *user, const vyre_printf_line *line)
{
    lines *l = user;
    assert_true(l->count < MOST_LINES);
    snprintf(l->text[l->count++], sizeof l->text[0],
             "%s:%u:%u pass %u execution %u segment %u "
             "invocation %u: %s",
             line->program, line->line, line->column, line->pass, line->execution, line->segment,
             line->invocation, line->text);
}

static void note_message(void *user, const vyre_log_message *message)
{
    lines *l = user;
    if (message->source == VYRE_LOG_PRINTF && message->level == VYRE_LOG_INFO) {
        assert_false(message->is_failure);
        snprintf(l->messages, sizeof l->messages, "%s", message->text);
    } else if (message->source == VYRE_LOG_PRINTF) {
        assert_int_equal(message->level, VYRE_LOG_WARNING);
        assert_non_null(strstr(message->text, ". Fix: "));
        l->lost++;
    } else {
        size_t used = strlen(l->others);
        snprintf(l->others + used, sizeof l->others - used, "%s\n", message->text);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void check_same_lines(uint32_t least)
{
    assert_string_equal(device_lines.others, "");
    assert_int_equal(device_lines.lost, 0);
    qsort(device_lines.text, device_lines.count, sizeof device_lines.text[0], compare_lines);
    qsort(interpreter_lines.text, interpreter_lines.count, sizeof device_lines.text[0],
          compare_lines);
    for (uint32_t i = 0; i < device_lines.count && i < interpreter_lines.count; i++) {
        assert_string_equal(device_lines.text[i], interpreter_lines.text[i]);
    }
    assert_int_equal(device_lines.count, interpreter_lines.count);
    if (device_lines.count < least) {
        fail_msg("only %u lines", device_lines.count);
    }
}

/* The layer's own buffer takes twenty lines. It reads its settings once in a process. */
static int set_up(void **state)
{
    (void)state;
    FILE *file = fopen(SETTINGS, "w");
    assert_non_null(file);
    assert_true(fputs("khronos_validation.printf_buffer_size = 65536\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    setenv("VK_LAYER_SETTINGS_PATH", SETTINGS, 1);
    memset(&device_lines, 0, sizeof device_lines);
    memset(&interpreter_lines, 0, sizeof interpreter_lines);
    return engine_reset(state);
}

static int tear_down(void **state)
{
    unsetenv("VK_LAYER_SETTINGS_PATH");
    unsetenv("VYRE_PRINTF");
    (void)remove(SETTINGS);
    return engine_nothing_alive(state);
}

/* NULL where there is no device, or no layer. */
static vyre_device *open_printing(void)
{
    if (engine_has_no_device() || !engine_validates()) {
        return NULL;
    }
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.prints = 1;
    params.log = note_message;
    params.log_user = &device_lines;
    params.print = note_line;
    params.print_user = &device_lines;
    return engine_open_with(&params);
}

/* ---- The same lines -------------------------------------------------------------------------- */

typedef struct run {
    const char *text;
    uint32_t length; /* of the one binding, `inout b : u32[]` */
    uint32_t elements[3], groups[3], workgroup[3];
    uint32_t lines; /* at least */
} run;

#define B "inout b : u32[]\n"

static const run runs[] = {
    /* Divergent control flow, loops, functions and every class of value. */
    {"program flow\nworkgroup 8\n" B "fn f(x: u32) -> u32 {\nprintf(\"f %u\", x)\nreturn x * 2\n}\n"
     "kernel {\nlet v = b[gid.x]\nif v % 3 == 1 {\nprintf(\"odd %u 100%% %5d|%-6x|%#o %ulu\", v, "
     "-i32(v), v, v, 7)\n} else if v > 20 {\nlet y = f(v)\nprintf(\"%u\", y)\n}\n"
     "for i in 0 .. v % 4 {\nif i == 2 { break }\nprintf(\"trip %u\", i)\n}\n"
     "var n = v % 5\nwhile n > 0 {\nprintf(\"%u left\", n)\nn -= 1\n}\n"
     "b[gid.x] = v + n\n}\n",
     40,
     {40, 1, 1},
     {0},
     {0},
     100},
    {"program values\nworkgroup 4\n" B "kernel {\nlet v = b[gid.x]\nlet h = f16(v) / 3.0h\n"
     "let s = i8(i32(v) - 5)\nlet w = u16(v * 3000)\n"
     "printf(\"%f %d %u %g\", h, s, w, f32(v) * 0.25)\n"
     "printf(\"%lu %ld %lx %lf\", u64(v) << 40, -i64(v), ~u64(v), f64(v) * 0.1d)\n"
     "printf(\"%v2u %v4d %.2v4f\", u32x2(v, 1), i32x4(i32(v)), f32x4(1.0, f32(v), -0.5, inf))\n"
     "printf(\"%f %e %g %+.1f\", f32(v) / 0.0, -1.0 / f32(v - v), 0.0 / f32(v - v), -0.0)\n"
     "printf(\"no values\")\n}\n",
     6,
     {6, 1, 1},
     {0},
     {0},
     30},
    /* Cuts: values that live on for the line alone, segments of lines alone, the host's loops. */
    {"program cuts\nworkgroup 4\nfixpoint 3\n" B "kernel {\nprintf(\"begin\")\nlet v = b[gid.x]\n"
     "b[gid.x] = v + 1\ngrid_sync\nprintf(\"%u was %u\", b[gid.x], v)\ngrid_sync\n"
     "for i in 0 .. 3 {\nb[gid.x] += i\ngrid_sync\nprintf(\"%u: %u\", i, b[gid.x])\n}\n"
     "printf(\"%u, pass %u\", v, pass)\n}\n",
     10,
     {0},
     {2, 1, 1},
     {0},
     100},
    /* A fixpoint that the device ends: no lines of passes that do not run. */
    {"program ends\nworkgroup 2\nfixpoint 1000 until go\n" B "scratch go : u32[1]\nkernel {\n"
     "let v = b[gid.x]\nif v > 0 {\nb[gid.x] = v - 1\natomic_store(go[0], 1)\n"
     "printf(\"%u in %u\", v, pass)\n}\n}\n",
     4,
     {4, 1, 1},
     {0},
     {0},
     6},
    /* Three dimensions. */
    {"program deep\nworkgroup 2, 3, 1\n" B "kernel {\n"
     "printf(\"%u %u %u of %u\", gid.x, gid.y, gid.z, num_groups.y)\n"
     "if lid.y == 1 && wid.z == 1 { b[0] = 1 }\n}\n",
     1,
     {0},
     {2, 3, 2},
     {0},
     72},
    /* More workgroups in x than a dispatch takes: one line from the far end. */
    {"program far\nworkgroup 1\n" B "kernel {\nif gid.x >= 69998 { printf(\"%u\", gid.x) }\n}\n",
     1,
     {0},
     {70000, 1, 1},
     {0},
     2},
    /* Another workgroup size: what it prints of that is no result. */
    {"program agnostic\n" B "kernel {\nb[gid.x] = gid.x\nprintf(\"%u\", lid.x)\n}\n",
     10,
     {10, 1, 1},
     {0},
     {4, 1, 1},
     10},
    /* Shared memory and barriers. */
    {"program shares\nworkgroup 8\n" B "shared w : u32[8]\nkernel {\nw[lid.x] = b[gid.x]\nbarrier\n"
     "printf(\"%u\", w[7 - lid.x])\nbarrier\nb[gid.x] = w[7 - lid.x]\n}\n",
     16,
     {16, 1, 1},
     {0},
     {0},
     16},
};

#define RUNS (sizeof runs / sizeof *runs)

static void fill(uint32_t *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        data[i] = i;
    }
}

static void interpret(const run *r, uint32_t *data, uint32_t flush)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_host_buffer buffers[] = {{data, r->length}, {NULL, UINT32_MAX}};
    vyre_interp_params params = {.buffers = buffers,
                                 .buffer_count = strstr(r->text, "scratch") ? 2 : 1,
                                 .flush_denormals = flush != 0,
                                 .print = note_line,
                                 .print_user = &interpreter_lines};
    memcpy(params.groups, r->groups, sizeof params.groups);
    memcpy(params.elements, r->elements, sizeof params.elements);
    memcpy(params.workgroup, r->workgroup, sizeof params.workgroup);
    if (vyre_program_parse(r->text, strlen(r->text), "test", NULL, &program, &diag) != VYRE_OK ||
        vyre_interp_run(program, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    vyre_program_destroy(&program);
}

/* The kernel as the device has it, or for the old target. */
static engine_program build(vyre_device *device, const run *r, vyre_binding_mode bindings,
                            bool is_old, int prints)
{
    engine_program p = {0};
    vyre_program *program = NULL;
    vyre_kernel_params params;
    vyre_pipeline_params pipeline;
    vyre_diag diag;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.prints, prints);
    if (is_old) {
        params.target = VYRE_TARGET_VULKAN_1_2;
    }
    vyre_pipeline_params_init(&pipeline);
    pipeline.bindings = bindings;
    memcpy(pipeline.workgroup, r->workgroup, sizeof pipeline.workgroup);
    if (vyre_program_parse(r->text, strlen(r->text), "test", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &params, &p.kernel, &diag) != VYRE_OK ||
        vyre_pipeline_create(device, p.kernel, &pipeline, &p.pipeline, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    engine_note(p.kernel);
    vyre_program_destroy(&program);
    return p;
}

static vyre_report execute(const engine_program *p, const run *r, uint32_t *data,
                           vyre_strategy strategy)
{
    vyre_binding bindings[] = {engine_host_inout(data, r->length), {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params = engine_params(bindings, strstr(r->text, "scratch") ? 2 : 1);
    params.strategy = strategy;
    memcpy(params.groups, r->groups, sizeof params.groups);
    memcpy(params.elements, r->elements, sizeof params.elements);
    return must_dispatch(p, &params);
}

static void check_run(vyre_device *device, const run *r, vyre_binding_mode bindings, bool is_old)
{
    uint32_t *data = calloc(r->length, sizeof *data), *wanted = calloc(r->length, sizeof *wanted);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_true(data && wanted);
    engine_program p = build(device, r, bindings, is_old, 1);
    fill(wanted, r->length);
    interpret(r, wanted, info.denormals == VYRE_ANSWER_NO);
    /* The second time the recording is there already. */
    for (int again = 0; again < 2; again++) {
        device_lines.count = 0;
        fill(data, r->length);
        (void)execute(&p, r, data, VYRE_STRATEGY_AUTO);
        assert_memory_equal(data, wanted, r->length * sizeof *data);
        check_same_lines(r->lines);
    }
    interpreter_lines.count = 0;
    engine_release(&p);
    free(data);
    free(wanted);
}

static void test_lines_are_the_interpreters(void **state)
{
    (void)state;
    vyre_device *device = open_printing();
    NEED_OPEN(device);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    for (size_t i = 0; i < RUNS; i++) {
        check_run(device, &runs[i], VYRE_BINDINGS_DESCRIPTOR, false);
        check_run(device, &runs[i], VYRE_BINDINGS_DESCRIPTOR, true);
        if (info.has_addresses) {
            check_run(device, &runs[i], VYRE_BINDINGS_ADDRESS, false);
        }
    }
    engine_close(&device);
}

/* Kernels that do not print on a device that would, and the other way round, are as ever. */
static void test_who_does_not_ask_gets_none(void **state)
{
    (void)state;
    vyre_device *device = open_printing();
    NEED_OPEN(device);
    uint32_t data[40];
    vyre_kernel_params params;
    vyre_program *program = NULL;
    vyre_diag diag;
    engine_program p = {0};
    vyre_device_kernel_params(device, &params);
    params.prints = 0;
    const run *r = &runs[0];
    assert_int_equal(vyre_program_parse(r->text, strlen(r->text), NULL, NULL, &program, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_kernel_compile(program, &params, &p.kernel, &diag), VYRE_OK);
    assert_int_equal(vyre_pipeline_create(device, p.kernel, NULL, &p.pipeline, &diag), VYRE_OK);
    engine_note(p.kernel);
    fill(data, 40);
    (void)execute(&p, r, data, VYRE_STRATEGY_AUTO);
    assert_int_equal(device_lines.count, 0);
    engine_release(&p);
    engine_close(&device);

    device = engine_open(0);
    params.prints = 1;
    assert_int_equal(vyre_kernel_compile(program, &params, &p.kernel, &diag), VYRE_OK);
    assert_int_equal(vyre_pipeline_create(device, p.kernel, NULL, &p.pipeline, &diag), VYRE_OK);
    engine_note(p.kernel);
    fill(data, 40);
    (void)execute(&p, r, data, VYRE_STRATEGY_AUTO);
    assert_int_equal(data[39], 39);
    engine_release(&p);
    engine_close(&device);
    vyre_program_destroy(&program);
}

/* ---- Ways to run, limits and errors ------------------------------------------------------------
 */

static void test_strategies_that_cannot_print_are_refused(void **state)
{
    (void)state;
    vyre_device *device = open_printing();
    NEED_OPEN(device);
    static const vyre_strategy refused[] = {VYRE_STRATEGY_WORKGROUP, VYRE_STRATEGY_PERSISTENT};
    uint32_t data[40];
    engine_program p = build(device, &runs[0], VYRE_BINDINGS_DESCRIPTOR, false, 1);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        vyre_binding binding = engine_host_inout(data, 40);
        vyre_dispatch_params params = engine_params(&binding, 1);
        vyre_diag diag;
        fill(data, 40);
        params.strategy = refused[i];
        memcpy(params.elements, runs[0].elements, sizeof params.elements);
        memset(params.groups, 0, sizeof params.groups);
        assert_int_not_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_OK);
        assert_non_null(strstr(diag.message, "printf"));
        assert_non_null(strstr(diag.message, "Fix: "));
    }
    assert_int_equal(device_lines.count, 0);
    engine_release(&p);
    engine_close(&device);
}

#define MANY 3000u

static void test_lines_that_do_not_fit_are_told_of(void **state)
{
    (void)state;
    vyre_device *device = open_printing();
    NEED_OPEN(device);
    static const run many = {"program many\nworkgroup 64\n" B
                             "kernel {\nb[gid.x] = 7\nprintf(\"%u\", gid.x)\n}\n",
                             MANY,
                             {MANY, 1, 1},
                             {0},
                             {0},
                             1};
    uint32_t *data = calloc(MANY, sizeof *data);
    assert_non_null(data);
    engine_program p = build(device, &many, VYRE_BINDINGS_DESCRIPTOR, false, 1);
    fill(data, MANY);
    (void)execute(&p, &many, data, VYRE_STRATEGY_AUTO);
    assert_true(device_lines.lost > 0);
    assert_true(device_lines.count > 0 && device_lines.count < MANY);
    assert_int_equal(data[MANY - 1], 7);
    /* Not a fault of the program: engine_close finds no failure of validation. */
    assert_int_equal(vyre_device_validation_failures(device), 0);
    engine_release(&p);
    engine_close(&device);
    free(data);
}

/* By a call of its own: layers print on a thread of theirs, call by call. Where that call fails,
 * what was begun has ended before anyone is told. */
static void test_ends_are_signalled_behind_lines(void **state)
{
    (void)state;
    vyre_device *device = open_printing();
    NEED_OPEN(device);
    uint32_t data[40];
    engine_program p = build(device, &runs[0], VYRE_BINDINGS_DESCRIPTOR, false, 1);
    fill(data, 40);
    layer_clear_events();
    (void)execute(&p, &runs[0], data, VYRE_STRATEGY_REPLAY);
    uint32_t submits = layer_count(LAYER_SUBMIT);
    assert_true(submits >= 2);
    assert_int_equal(submits % 2, 0);
    for (uint32_t n = 1; n <= submits; n++) {
        vyre_binding binding = engine_host_inout(data, 40);
        vyre_dispatch_params params = engine_params(&binding, 1);
        vyre_diag diag;
        memcpy(params.elements, runs[0].elements, sizeof params.elements);
        memset(params.groups, 0, sizeof params.groups);
        fill(data, 40);
        layer.fail_only = "vkQueueSubmit";
        layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        layer.fail_at = layer_fallible_calls() + n;
        assert_int_not_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_OK);
        assert_int_equal(diag.vk_result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        layer.fail_at = 0;
    }
    device_lines.count = 0;
    fill(data, 40);
    (void)execute(&p, &runs[0], data, VYRE_STRATEGY_REPLAY);
    assert_true(device_lines.count >= runs[0].lines);
    engine_release(&p);
    engine_close(&device);
}

/* Of several batches the first ones may have signalled when a later one fails: then the timeline
 * goes on from there, and never back. */
static void test_batches_that_were_done_count_when_one_fails(void **state)
{
    (void)state;
    vyre_device *device = open_printing();
    NEED_OPEN(device);
    const vy_batch batches[2] = {{.command_count = 0}, {.command_count = 0}};
    for (uint32_t n = 1; n <= 4; n++) { /* work and end of each */
        uint64_t values[2] = {0, 0}, before = atomic_load(&device->submitted);
        vyre_diag diag;
        layer.fail_only = "vkQueueSubmit";
        layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        layer.fail_at = layer_fallible_calls() + n;
        assert_int_not_equal(vy_queue_submit_batches(device, batches, 2, "test", values, &diag),
                             VYRE_OK);
        layer.fail_at = 0;
        assert_int_equal(atomic_load(&device->submitted), before + (n - 1) / 2);
        assert_int_equal(vy_queue_submit_batches(device, batches, 2, "test", values, &diag),
                         VYRE_OK);
        bool has_blocked = false;
        assert_int_equal(
            vy_queue_wait_noting(device, values[1], UINT64_MAX, "test", &has_blocked, &diag),
            VYRE_OK);
    }
    assert_int_equal(vyre_device_validation_failures(device), 0);
    engine_close(&device);
}

/* For hosts' own messengers. */
static void test_messages_become_lines(void **state)
{
    (void)state;
    const vyre_printf_line where = {.program = "life", .line = 12, .column = 5, .segment = 1};
    char message[256] = "[ ID ] Object 0 | ", line[256];
    vy_text text;
    vy_text_init(&text, NULL);
    vy_printf_encode(&text, &where, "100%% is all", 0);
    /* As the layer does. */
    snprintf(message + strlen(message), sizeof message - strlen(message),
             "%.*s3 execution 4 invocation 7 [%s", (int)(strstr(text.data, "%u") - text.data),
             text.data, strchr(text.data, '[') + 1);
    vy_text_finish(&text);
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT, .pMessage = message};
    static const char wanted[] = "printf life:12:5 pass 3 segment 1 invocation 7: 100% is all";
    assert_int_equal(vyre_format_debug_message(&data, line, sizeof line), strlen(wanted));
    assert_string_equal(line, wanted);
    assert_int_equal(vyre_format_debug_message(&data, NULL, 0), strlen(wanted));
    assert_int_equal(vyre_format_debug_message(&data, line, 11), strlen(wanted));
    assert_string_equal(line, "printf lif");
}

static void test_the_environment_asks_too(void **state)
{
    (void)state;
    if (engine_has_no_device() || !engine_validates()) {
        return;
    }
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    for (int asked = 0; asked < 2; asked++) {
        static const run one = {"program one\nworkgroup 1\n" B
                                "kernel {\nprintf(\"%u\", b[0])\nb[0] = 1\n}\n",
                                1,
                                {0},
                                {1, 1, 1},
                                {0},
                                1};
        uint32_t data = 8;
        vyre_device_info info;
        setenv("VYRE_PRINTF", asked ? "1" : "0", 1);
        params.log = note_message;
        params.log_user = &device_lines;
        vyre_device *device = engine_open_with(&params);
        vyre_device_get_info(device, &info);
        assert_true(!asked || info.validation == VYRE_VALIDATION_ON);
        engine_program p = build(device, &one, VYRE_BINDINGS_AUTO, false, asked);
        (void)execute(&p, &one, &data, VYRE_STRATEGY_AUTO);
        /* Where nobody takes lines they are messages. */
        assert_string_equal(device_lines.messages,
                            asked ? "printf one:5:8 pass 0 segment 0 invocation 0: 8" : "");
        engine_release(&p);
        engine_close(&device);
    }
}

static void test_the_layer_does_one_of_two_things(void **state)
{
    (void)state;
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.prints = 1;
    params.validation = VYRE_VALIDATION_GPU_ASSISTED;
    vyre_device *device = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_device_create(&params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(device);
    assert_non_null(strstr(diag.message, "GPU-assisted"));
    assert_non_null(strstr(diag.message, ". Fix: leave one out"));
}

int main(void)
{
#define PRINTF_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PRINTF_TEST(test_lines_are_the_interpreters),
        PRINTF_TEST(test_who_does_not_ask_gets_none),
        PRINTF_TEST(test_strategies_that_cannot_print_are_refused),
        PRINTF_TEST(test_lines_that_do_not_fit_are_told_of),
        PRINTF_TEST(test_ends_are_signalled_behind_lines),
        PRINTF_TEST(test_batches_that_were_done_count_when_one_fails),
        PRINTF_TEST(test_messages_become_lines),
        PRINTF_TEST(test_the_environment_asks_too),
        PRINTF_TEST(test_the_layer_does_one_of_two_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
