/* vyre-run --printf and vyre-spv --printf: lines in their documented form and order, the same of
 * device and interpreter, and errors that say the way out. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "program walk\n"
                           "workgroup 4\n"
                           "fixpoint 2\n"
                           "inout b : u32[]\n"
                           "kernel {\n"
                           "    let v = b[gid.x]\n"
                           "    if v % 2 == 1 {\n"
                           "        printf(\"odd %u, 100%% \\\"%x\\\"\", v, v)\n"
                           "    }\n"
                           "    b[gid.x] = v + 1\n"
                           "    grid_sync\n"
                           "    if gid.x == 2 { printf(\"%5.1f|%ld\", f32(v) / 2.0, -i64(v)) }\n"
                           "}\n";

static const char lines[] = "printf walk:8:16 pass 0 segment 0 invocation 1: odd 1, 100% \"1\"\n"
                            "printf walk:8:16 pass 0 segment 0 invocation 3: odd 3, 100% \"3\"\n"
                            "printf walk:12:28 pass 0 segment 1 invocation 2:   1.0|-2\n"
                            "printf walk:8:16 pass 1 segment 0 invocation 0: odd 1, 100% \"1\"\n"
                            "printf walk:8:16 pass 1 segment 0 invocation 2: odd 3, 100% \"3\"\n"
                            "printf walk:12:28 pass 1 segment 1 invocation 2:   1.5|-3\n";

#define RUN "walk.vyre", "--elements", "4", "--in", "b=0,1,2,3"

static bool has_device(void)
{
    const char *no = getenv("VYRE_TESTS_NO_DEVICE");
    const char *unvalidated = getenv("VYRE_TESTS_NO_VALIDATION");
    return !(no && strcmp(no, "1") == 0) && !(unvalidated && strcmp(unvalidated, "1") == 0);
}

static int set_up(void **state)
{
    (void)state;
    enter_folder("printf");
    put_text("walk.vyre", text);
    return 0;
}

static void assert_out(const char *wanted)
{
    size_t size = 0;
    char *out = get_file("out", &size);
    assert_non_null(out);
    assert_string_equal(out, wanted);
    free(out);
}

static void assert_no_complaint(void)
{
    size_t size = 0;
    char *err = get_file("err", &size);
    assert_non_null(err);
    assert_string_equal(err, "");
    free(err);
}

static void test_lines_come_first_and_in_order(void **state)
{
    (void)state;
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "%sb = 2, 3, 4, 5\n", lines);
    assert_int_equal(run_tool("vyre-run", RUN, "--printf", "--reference", NULL), 0);
    assert_out(wanted);
    assert_no_complaint();
    if (has_device()) {
        assert_int_equal(run_tool("vyre-run", RUN, "--printf", NULL), 0);
        assert_out(wanted);
    }
}

static void test_nobody_who_does_not_ask_sees_lines(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", RUN, "--reference", NULL), 0);
    assert_out("b = 2, 3, 4, 5\n");
    if (has_device()) {
        assert_int_equal(run_tool("vyre-run", RUN, NULL), 0);
        assert_out("b = 2, 3, 4, 5\n");
    }
}

static void test_check_compares_lines(void **state)
{
    (void)state;
    if (!has_device()) {
        return;
    }
    assert_int_equal(run_tool("vyre-run", RUN, "--printf", "--check", NULL), 0);
    assert_file_has("out", lines);
    assert_file_has("out", "check: device and interpreter agree bit for bit\n");
    /* Lanes are as many as on the device. */
    put_text("lanes.vyre", "program widths\nworkgroup 8\nkernel { printf(\"%u\", lanes) }\n");
    assert_int_equal(run_tool("vyre-run", "lanes.vyre", "--grid", "1", "--printf", "--check", NULL),
                     0);
}

static void test_many_lines_fit(void **state)
{
    (void)state;
    put_text("many.vyre", "program many\nworkgroup 64\ninout b : u32[]\nkernel {\n"
                          "    b[gid.x] = gid.x\n    printf(\"%u\", gid.x)\n}\n");
    if (!has_device()) {
        return;
    }
    unsetenv("VK_LAYER_SETTINGS_PATH");
    assert_int_equal(run_tool("vyre-run", "many.vyre", "--elements", "4000", "--in", "b[4000]=iota",
                              "--printf", "--check", NULL),
                     0);
    assert_file_has("out", "invocation 3999: 3999\n");
    assert_no_complaint();
    /* A user's own settings are the user's: too small ones are told of. */
    put_text("small.txt", "khronos_validation.printf_buffer_size = 1024\n");
    setenv("VK_LAYER_SETTINGS_PATH", "small.txt", 1);
    assert_int_equal(run_tool("vyre-run", "many.vyre", "--elements", "4000", "--in", "b[4000]=iota",
                              "--printf", NULL),
                     0);
    assert_file_has("err", "lines of printf statements were lost");
    assert_file_has("err", "Fix: give it more (khronos_validation.printf_buffer_size");
    unsetenv("VK_LAYER_SETTINGS_PATH");
}

static void test_json_has_the_lines(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", RUN, "--printf", "--reference", "--json", NULL), 0);
    assert_file_has("out",
                    "\"printf\": [\n    {\"line\": 8, \"column\": 16, \"pass\": 0, \"segment\": "
                    "0, \"invocation\": 1, \"text\": \"odd 1, 100% \\\"1\\\"\"},\n");
    assert_int_equal(run_tool("vyre-run", RUN, "--reference", "--json", NULL), 0);
    size_t size = 0;
    char *out = get_file("out", &size);
    assert_null(strstr(out, "printf"));
    free(out);
}

static void test_what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    static const char *const others[][2] = {
        {"--validate", NULL}, {"--bisect", NULL}, {"--step", NULL}, {"--examples", NULL},
        {"--repeat", "2"},    {"--warmup", "1"},  {"--trace", "t"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(others); i++) {
        assert_fails(2, others[i][0],
                     run_tool("vyre-run", RUN, "--printf", others[i][0], others[i][1], NULL));
    }
}

static void test_a_missing_layer_names_its_package(void **state)
{
    (void)state;
    if (!has_device()) {
        return;
    }
    setenv("VK_LAYER_PATH", "/nonexistent", 1);
    int code = run_tool("vyre-run", RUN, "--printf", NULL);
    unsetenv("VK_LAYER_PATH");
    assert_fails(1, "printf statements print by the validation layer", code);
    assert_file_has("err", "Debian: vulkan-validationlayers");
}

static void test_kernel_files_print_what_their_text_says(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "walk.vyre", "-o", "walk.vyk", NULL), 0);
    assert_int_equal(run_tool("vyre-run", "walk.vyk", "--elements", "4", "--in", "b=0,1,2,3",
                              "--printf", "--reference", NULL),
                     0);
    assert_file_has("out", lines);
    if (has_device()) {
        assert_int_equal(run_tool("vyre-run", "walk.vyk", "--elements", "4", "--in", "b=0,1,2,3",
                                  "--printf", NULL),
                         0);
        assert_file_has("out", lines);
    }
    assert_fails(2, "kernel files have no words that print",
                 run_tool("vyre-spv", "walk.vyre", "--printf", "-o", "other.vyk", NULL));
}

static void test_spv_keeps_statements_where_asked(void **state)
{
    (void)state;
    size_t size = 0;
    assert_int_equal(run_tool("vyre-spv", "walk.vyre", NULL), 0);
    char *out = get_file("out", &size);
    assert_null(strstr(out, "NonSemantic"));
    assert_null(strstr(out, "OpString"));
    free(out);
    assert_int_equal(run_tool("vyre-spv", "walk.vyre", "--printf", "--validate", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "walk.vyre", "--printf", NULL), 0);
    assert_file_has("out", "OpExtInstImport \"NonSemantic.DebugPrintf\"");
    assert_file_has("out", "OpString \"vyre-printf walk:8:16 segment 0 pass %u execution %u "
                           "invocation %u [%x %x] odd ");
    assert_int_equal(
        run_tool("vyre-spv", "walk.vyre", "--printf", "--explain", "--target", "vulkan1.2", NULL),
        0);
    assert_file_has("out", "SPV_KHR_non_semantic_info");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_lines_come_first_and_in_order, set_up),
        cmocka_unit_test_setup(test_nobody_who_does_not_ask_sees_lines, set_up),
        cmocka_unit_test_setup(test_check_compares_lines, set_up),
        cmocka_unit_test_setup(test_many_lines_fit, set_up),
        cmocka_unit_test_setup(test_json_has_the_lines, set_up),
        cmocka_unit_test_setup(test_what_does_not_go_together_is_refused, set_up),
        cmocka_unit_test_setup(test_a_missing_layer_names_its_package, set_up),
        cmocka_unit_test_setup(test_kernel_files_print_what_their_text_says, set_up),
        cmocka_unit_test_setup(test_spv_keeps_statements_where_asked, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
