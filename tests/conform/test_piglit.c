/* The OpenCL tests of piglit, whose files hold the values that are expected: those that our
 * operators cover. VYRE_PIGLIT names the folder where it is not build/deps/piglit (tools/setup.sh).
 */
#include "tests/conform/cl_run.h"
#include "tests/support/differential.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char sample[] =
    "/*!\n[config]\nname: Sample\n\n[test]\nname: add_sat int2\n"
    "kernel_name: test_2_add_sat_int\nglobal_size: 2 0 0\n\n"
    "arg_out: 0 buffer int[4] 1 -1 2147483647 \\ # goes on\n 4 tolerance 0\n"
    "arg_in: 1 buffer int[4] 0 0X10 2147483647 4 # all\n"
    "arg_in: 2 float4 1.5 nan -inf 0x1p-3\n\n"
    "[test]\nname: other\nkernel_name: k\n"
    "arg_out: 0 buffer event_t[1] 7\n!*/\nkernel [test] void;\n";

static void test_reader_takes_types_values_and_tolerances(void **state)
{
    (void)state;
    cl_file file;
    cl_file_parse(&file, sample, sizeof sample - 1);
    assert_int_equal(file.test_count, 2);
    const cl_test *test = &file.tests[0];
    assert_string_equal(test->name, "add_sat int2");
    assert_string_equal(test->kernel, "test_2_add_sat_int");
    assert_string_equal(test->problem, "");
    assert_int_equal(test->global_size, 2);
    assert_int_equal(test->argument_count, 3);
    const cl_argument *argument = &test->arguments[0];
    assert_true(argument->is_output && argument->is_buffer);
    assert_int_equal(argument->type, CONFORM_I32);
    assert_int_equal(argument->count, 4);
    assert_int_equal(argument->values[1], 0xffffffffu);
    assert_int_equal(argument->values[3], 4);
    assert_int_equal(test->arguments[1].values[1], 16);
    assert_int_equal(test->arguments[2].width, 4);
    assert_int_equal(test->arguments[2].values[0], 0x3fc00000u);
    assert_int_equal(test->arguments[2].values[1], 0x7fc00000u);
    assert_int_equal(test->arguments[2].values[2], 0xff800000u);
    assert_int_equal(file.tests[1].arguments[0].type, CONFORM_TYPE_COUNT);
    cl_file_finish(&file);
}

/* A file's tests with a wrong value fail: the judge is awake. */
static void test_wrong_value_in_a_file_fails(void **state)
{
    (void)state;
    static const char text[] = "[test]\nname: add_sat int1\nkernel_name: test_1_add_sat_int\n"
                               "arg_out: 0 buffer int[2] 3 4 tolerance 0\n"
                               "arg_in: 1 buffer int[2] 1 2\narg_in: 2 buffer int[2] 2 3\n";
    cl_file file;
    cl_report report = {0};
    cl_file_parse(&file, text, sizeof text - 1);
    print_message("one line of a wrong element follows\n");
    cl_run_file(NULL, "generated_tests/sample", text, &file, &report);
    assert_int_equal(report.failed, 1);
    file.tests[0].arguments[0].values[1] = 5;
    cl_run_file(NULL, "generated_tests/sample", text, &file, &report);
    assert_int_equal(report.passed, 1);
    cl_file_finish(&file);
}

static void run_path(vyre_device *device, const char *root, const char *path, cl_report *report)
{
    char whole[1024];
    cl_file file;
    snprintf(whole, sizeof whole, "%.500s/%.500s", root, path);
    FILE *stream = fopen(whole, "rb");
    assert_non_null(stream);
    size_t capacity = 4u << 20;
    char *text = malloc(capacity);
    assert_non_null(text);
    size_t size = fread(text, 1, capacity - 1, stream);
    fclose(stream);
    text[size] = '\0';
    cl_file_parse(&file, text, size);
    cl_run_file(device, path, text, &file, report);
    cl_file_finish(&file);
    free(text);
}

/* In the order of names; files that are none of ours hold no [test] before their first kernel. */
static void run_folder(vyre_device *device, const char *root, const char *folder, cl_report *report)
{
    char whole[1024], path[512];
    struct dirent **entries = NULL;
    snprintf(whole, sizeof whole, "%.500s/%.500s", root, folder);
    int count = scandir(whole, &entries, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        snprintf(path, sizeof path, "%.250s%s%.250s", folder, folder[0] ? "/" : "", name);
        if (name[0] != '.' && !dot) {
            run_folder(device, root, path, report);
        } else if (dot && dot != name &&
                   (strcmp(dot, ".cl") == 0 || strcmp(dot, ".program_test") == 0)) {
            run_path(device, root, path, report);
        }
        free(entries[i]);
    }
    free(entries);
}

static void print_reasons(const char *what, const conform_report *report)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < report->reason_count; i++) {
        total += report->reasons[i].rows;
    }
    print_message("    %u %s:\n", total, what);
    for (uint32_t i = 0; i < report->reason_count; i++) {
        print_message("      %4u  %s\n", report->reasons[i].rows, report->reasons[i].message);
    }
}

static void test_piglit_holds_where_our_operators_cover_it(void **state)
{
    (void)state;
    const char *root = getenv("VYRE_PIGLIT");
    cl_report report = {0};
    root = root ? root : VYRE_PIGLIT_DIR;
    DIR *folder = opendir(root);
    if (!folder) {
        fail_msg("%s is not there: run tools/setup.sh, or set VYRE_PIGLIT", root);
    }
    closedir(folder);
    vyre_device *device = getenv("VYRE_TESTS_NO_DEVICE") ? NULL : vy_test_device();
    assert_true(device || getenv("VYRE_TESTS_NO_DEVICE"));
    run_folder(device, root, "", &report);
    vyre_device_destroy(&device);
    print_message("    %u tests: %u passed, %u as our language has it, %u failed; %llu elements\n",
                  report.tests, report.passed, report.differing, report.failed,
                  (unsigned long long)report.elements);
    print_reasons("differ from docs/language.md", &report.differences);
    print_reasons("not covered", &report.uncovered);
    assert_int_equal(report.failed, 0);
    assert_true(report.tests > 2500);
    assert_true(report.passed > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_takes_types_values_and_tolerances),
        cmocka_unit_test(test_wrong_value_in_a_file_fails),
        cmocka_unit_test(test_piglit_holds_where_our_operators_cover_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
