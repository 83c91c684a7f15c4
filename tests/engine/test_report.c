/* Reports and counters as JSON: every member under its name, whatever its value. */
#include "codegen/base/base.h"
#include "vyre/dispatch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Whether `text` has the member with that value, as it is printed. */
static int has(const char *text, const char *name, const char *value)
{
    char part[256];
    snprintf(part, sizeof part, "\"%s\": %s", name, value);
    const char *at = strstr(text, part);
    return at && strchr(",}", at[strlen(part)]) != NULL;
}

static int has_number(const char *text, const char *name, uint64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    return has(text, name, number);
}

#define REPORT_NUMBERS(X)                                                                          \
    X(passes)                                                                                      \
    X(segments)                                                                                    \
    X(chunks)                                                                                      \
    X(submissions)                                                                                 \
    X(waits)                                                                                       \
    X(dispatches_recorded)                                                                         \
    X(dispatches_executed)                                                                         \
    X(workgroups_saved)                                                                            \
    X(passes_saved)                                                                                \
    X(barriers_recorded)                                                                           \
    X(barriers_elided)                                                                             \
    X(upload_size)                                                                                 \
    X(download_size)                                                                               \
    X(uploads)                                                                                     \
    X(downloads)                                                                                   \
    X(descriptor_writes)                                                                           \
    X(recordings)                                                                                  \
    X(recordings_reused)                                                                           \
    X(spill_size)                                                                                  \
    X(staging_size)                                                                                \
    X(scratch_size)                                                                                \
    X(argument_size)

#define REPORT_TIMES(X)                                                                            \
    X(wall_ns)                                                                                     \
    X(enqueue_ns)                                                                                  \
    X(wait_ns)                                                                                     \
    X(plan_ns)                                                                                     \
    X(record_ns)                                                                                   \
    X(stage_ns)                                                                                    \
    X(submit_ns)                                                                                   \
    X(readback_ns)                                                                                 \
    X(device_dispatches_ns)                                                                        \
    X(device_ns)                                                                                   \
    X(device_start_ns)

static void test_report_prints_every_member(void **state)
{
    (void)state;
    vyre_report report = {.strategy = "replay",
                          .strategy_reason = "asked for",
                          .bindings = "push descriptor",
                          .convergence = VYRE_CONVERGENCE_LIMIT,
                          .is_coarse = 1,
                          .is_folded = 1};
    unsigned value = 1000;
#define X(name) report.name = ++value;
    REPORT_NUMBERS(X)
    REPORT_TIMES(X)
#undef X
    report.upload_size = ((uint64_t)1 << 40) + 7;
    char text[4096];
    size_t length = vyre_report_format_json(&report, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(strncmp(text, "{\"schema\": \"vyre.report/1\", ", 28), 0);
    assert_int_equal(text[length - 1], '}');
    assert_true(has(text, "strategy", "\"replay\""));
    assert_true(has(text, "strategy_reason", "\"asked for\""));
    assert_true(has(text, "bindings", "\"push descriptor\""));
    assert_true(has(text, "converged", "false"));
    assert_true(has(text, "record", "null"));
    assert_true(has(text, "is_folded", "true"));
    assert_true(has(text, "is_coarse", "true"));
#define X(name)                                                                                    \
    if (!has_number(text, #name, report.name)) {                                                   \
        fail_msg(#name " is not in %s", text);                                                     \
    }
    REPORT_NUMBERS(X)
    REPORT_TIMES(X)
#undef X
}

static void test_report_says_null_for_what_was_not_measured(void **state)
{
    (void)state;
    vyre_report report = {.convergence = VYRE_CONVERGENCE_NONE};
#define X(name) report.name = VYRE_NS_NONE;
    REPORT_TIMES(X)
#undef X
    report.record = (vyre_fault_record){.kind = VYRE_RECORD_TRAP,
                                        .code = 9,
                                        .line = 3,
                                        .column = 4,
                                        .pass = 5,
                                        .segment = 6,
                                        .invocation = 4000000000u};
    char text[4096];
    (void)vyre_report_format_json(&report, text, sizeof text);
#define X(name) assert_true(has(text, #name, "null"));
    REPORT_TIMES(X)
#undef X
    assert_true(has(text, "strategy", "null"));
    assert_true(has(text, "converged", "null"));
    assert_true(has(text, "record",
                    "{\"kind\": \"trap\", \"code\": 9, \"line\": 3, \"column\": 4, \"pass\": 5, "
                    "\"segment\": 6, \"invocation\": 4000000000}"));
    report.wall_ns = 0;
    report.convergence = VYRE_CONVERGENCE_YES;
    report.record.kind = VYRE_RECORD_LOOP_LIMIT;
    (void)vyre_report_format_json(&report, text, sizeof text);
    assert_true(has(text, "wall_ns", "0"));
    assert_true(has(text, "converged", "true"));
    assert_non_null(strstr(text, "\"kind\": \"loop_limit\""));
}

static void test_json_is_cut_at_the_room_there_is(void **state)
{
    (void)state;
    vyre_device_counters counters = {.submissions = 5, .segments = UINT64_MAX};
    char whole[4096];
    size_t length = vyre_device_counters_format_json(&counters, whole, sizeof whole);
    assert_int_equal(length, strlen(whole));
    assert_int_equal(vyre_device_counters_format_json(&counters, NULL, 0), length);
    for (size_t size = 1; size <= length + 1; size++) {
        char *room = malloc(size);
        memset(room, 'x', size);
        assert_int_equal(vyre_device_counters_format_json(&counters, room, size), length);
        assert_int_equal(strlen(room), size - 1);
        assert_int_equal(strncmp(room, whole, size - 1), 0);
        free(room);
    }
    assert_true(vyre_report_format_json(NULL, whole, sizeof whole) > 0);
    assert_string_equal(whole, "{\"schema\": \"vyre.report/1\"}");
}

static void test_counters_print_every_member(void **state)
{
    (void)state;
    vyre_device_counters counters;
    uint64_t *words = (uint64_t *)(void *)&counters;
    for (size_t i = 0; i < sizeof counters / sizeof *words; i++) {
        words[i] = 7000 + i;
    }
    char text[4096];
    (void)vyre_device_counters_format_json(&counters, text, sizeof text);
    assert_int_equal(strncmp(text, "{\"schema\": \"vyre.counters/1\", ", 30), 0);
    for (size_t i = 0; i < sizeof counters / sizeof *words; i++) {
        char number[32];
        snprintf(number, sizeof number, ": %u", (unsigned)(7000 + i));
        assert_non_null(strstr(text, number));
    }
    assert_true(has_number(text, "submissions", counters.submissions));
    assert_true(has_number(text, "instance_forks", counters.instance_forks));
    assert_true(has_number(text, "parked_alive", counters.parked_alive));
    assert_true(has_number(text, "segments", counters.segments));
}

static void test_clock_goes_on(void **state)
{
    (void)state;
    uint64_t before = vyre_clock_ns(), after = before;
    for (int i = 0; i < 1000000 && after == before; i++) {
        after = vyre_clock_ns();
    }
    assert_true(after > before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_prints_every_member),
        cmocka_unit_test(test_report_says_null_for_what_was_not_measured),
        cmocka_unit_test(test_json_is_cut_at_the_room_there_is),
        cmocka_unit_test(test_counters_print_every_member),
        cmocka_unit_test(test_clock_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
