/* Conformance: every operator by type, operand shape and edge value, on the interpreter, through
 * the folder and on the device, judged by an oracle of its own. VYRE_CONFORM=full runs more random
 * points, VYRE_CONFORM_TYPE=NAME one type alone. Needs no source tree. */
#include "tests/conform/batch.h"
#include "tests/conform/run.h"
#include "tests/support/differential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    vyre_device *device;
    conform_values values;
    conform_mode mode;
} fixture;

static uint32_t rounds(void)
{
    const char *how = getenv("VYRE_CONFORM");
    return how && strcmp(how, "full") == 0 ? 64 : 1;
}

static int open_device(void **state)
{
    static fixture shared;
    *state = &shared;
    conform_values_init(&shared.values, 1);
    if (getenv("VYRE_TESTS_NO_DEVICE")) {
        print_message("no device wanted: the interpreter alone\n");
        return 0;
    }
    shared.device = vy_test_device();
    if (shared.device) {
        shared.mode = conform_device_mode(shared.device);
    }
    return shared.device ? 0 : -1;
}

static int close_device(void **state)
{
    fixture *f = *state;
    vyre_device_destroy(&f->device);
    return 0;
}

/* Whether the device's own description says that it does not have that feature; limits are numbers
 * there. */
static bool lacks(const char *description, const char *name, size_t length)
{
    for (const char *at = description; (at = strstr(at, name)); at++) {
        const char *after = at + length;
        if (at[-1] == ' ' && *after == ' ') {
            after += strspn(after, " ");
            return strncmp(after, "no", 2) == 0 || strncmp(name, "max", 3) == 0;
        }
    }
    return false;
}

/* A refusal names a feature or limit, written as Vulkan's members are: shaderInt64. What the
 * language itself does not have yet says so. */
static bool names_what_is_missing(const vyre_device *device, const char *message)
{
    static char description[16384];
    if (strstr(message, "is not available yet")) {
        return true;
    }
    if (device) {
        vyre_device_describe(device, description, sizeof description);
    }
    for (const char *at = message; *at;) {
        char name[128];
        size_t length =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        if (length > 0 && length < sizeof name) {
            memcpy(name, at, length);
            name[length] = '\0';
            if (device && strpbrk(name + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
                lacks(description, name, length)) {
                return true;
            }
        }
        at += length ? length : 1;
    }
    return false;
}

/* The judge is awake: an operator judged as another one fails in every shape. */
static void test_wrong_operators_are_found(void **state)
{
    fixture *f = *state;
    conform_report report = {0};
    conform_runner runner = {.mode = f->mode,
                             .values = &f->values,
                             .report = &report,
                             .planted = VYRE_OP_SHR,
                             .planted_as = VYRE_OP_ROTATE_RIGHT};
    conform_run_shape(&runner, CONFORM_I32, CONFORM_BUFFERS);
    assert_in_range(report.failures, 2, 3); /* by u32, i32 and where there are more types itself */
    conform_run_shape(&runner, CONFORM_I32, CONFORM_SECOND_LITERAL);
    assert_in_range(report.failures, 4, 6);
    runner.planted = VYRE_OP_EXP;
    runner.planted_as = VYRE_OP_EXP2;
    report.failures = 0;
    conform_run_shape(&runner, CONFORM_F32, CONFORM_FIRST_PARAM);
    assert_int_equal(report.failures, 1);
}

/* The judge of refusals is awake. */
static void test_refusals_name_what_the_device_lacks(void **state)
{
    (void)state;
    assert_true(lacks("  shaderInt64     no\n", "shaderInt64", 11));
    assert_false(lacks("  shaderInt64     yes\n", "shaderInt64", 11));
    assert_false(lacks("  shaderInt64X    no\n", "shaderInt64", 11));
    assert_false(names_what_is_missing(NULL, "the device is too small. Fix: use another one"));
}

static void run_base(fixture *f, conform_id base)
{
    conform_report report = {0};
    conform_runner runner = {
        .device = f->device, .mode = f->mode, .values = &f->values, .report = &report};
    const char *only = getenv("VYRE_CONFORM_TYPE");
    if (only && strcmp(only, conform_types[base].keyword) != 0) {
        return;
    }
    for (int shape = 0; shape < CONFORM_SHAPE_COUNT; shape++) {
        conform_run_shape(&runner, base, (conform_shape)shape);
    }
    for (uint32_t round = 1; round < rounds(); round++) {
        conform_values_init(&f->values, 1 + round);
        conform_run_shape(&runner, base, CONFORM_BUFFERS);
        conform_run_shape(&runner, base, CONFORM_ALL_LITERAL);
    }
    conform_values_init(&f->values, 1);
    conform_print_report(&report);
    assert_int_equal(report.failures, 0);
    for (uint32_t i = 0; i < report.reason_count; i++) {
        if (!names_what_is_missing(f->device, report.reasons[i].message)) {
            fail_msg("refused without a feature or limit that the device lacks: %s",
                     report.reasons[i].message);
        }
    }
}

#define BASE(name, ID)                                                                             \
    static void test_operators_of_##name(void **state)                                             \
    {                                                                                              \
        run_base(*state, CONFORM_##ID);                                                            \
    }
BASE(bool, BOOL)
BASE(u8, U8)
BASE(i8, I8)
BASE(u16, U16)
BASE(i16, I16)
BASE(u32, U32)
BASE(i32, I32)
BASE(u64, U64)
BASE(i64, I64)
BASE(f16, F16)
BASE(bf16, BF16)
BASE(f32, F32)
BASE(f64, F64)

/* The interpreter does as it is told about denormals, whatever the device does. */
static void test_interpreter_flushes_denormals_or_keeps_them(void **state)
{
    fixture *f = *state;
    conform_report report = {0};
    conform_runner runner = {.mode = f->mode, .values = &f->values, .report = &report};
    runner.mode.flushes[CONFORM_F32] = !f->mode.flushes[CONFORM_F32];
    conform_run_shape(&runner, CONFORM_F32, CONFORM_BUFFERS);
    conform_run_shape(&runner, CONFORM_F32, CONFORM_SAME);
    conform_print_report(&report);
    assert_int_equal(report.failures, 0);
    assert_true(report.rows > 40);
}

/* Sizes that are no multiples of a word, from below one on, next to what lies behind them. */
static void test_narrow_buffers_of_every_size_keep_their_elements(void **state)
{
    fixture *f = *state;
    static const conform_id narrow[] = {CONFORM_U8, CONFORM_I16, CONFORM_F16, CONFORM_BF16};
    const uint32_t groups[3] = {1, 1, 1};
    for (size_t t = 0; t < sizeof narrow / sizeof narrow[0]; t++) {
        const char *k = conform_types[narrow[t]].keyword;
        char text[256];
        snprintf(text, sizeof text,
                 "program copy\nworkgroup 64\nin x : %s[]\nout o : %s[]\nkernel {\n"
                 "    if gid.x < len(o) { o[gid.x] = x[gid.x] }\n}\n",
                 k, k);
        for (uint32_t n = 1; n < 12; n++) {
            uint8_t in[32], out[32];
            uint32_t size = n * conform_size(narrow[t]);
            for (uint32_t i = 0; i < sizeof in; i++) {
                in[i] = (uint8_t)(0x10 + i + n);
                out[i] = 0xee;
            }
            const conform_buffer buffers[] = {{VYRE_BUFFER_IN, n, in}, {VYRE_BUFFER_OUT, n, out}};
            assert_true(conform_run(f->device, text, buffers, 2, groups));
            assert_memory_equal(in, out, size);
            assert_int_equal(out[size], 0xee);
        }
    }
}

int main(void)
{
#define ROW(name) cmocka_unit_test(test_operators_of_##name)
    const struct CMUnitTest tests[] = {
        ROW(bool),
        ROW(u8),
        ROW(i8),
        ROW(u16),
        ROW(i16),
        ROW(u32),
        ROW(i32),
        ROW(u64),
        ROW(i64),
        ROW(f16),
        ROW(bf16),
        ROW(f32),
        ROW(f64),
        cmocka_unit_test(test_narrow_buffers_of_every_size_keep_their_elements),
        cmocka_unit_test(test_wrong_operators_are_found),
        cmocka_unit_test(test_refusals_name_what_the_device_lacks),
        cmocka_unit_test(test_interpreter_flushes_denormals_or_keeps_them),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
