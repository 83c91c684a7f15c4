/* tools/gpu-check.sh: its options, and what it says of steps that pass, fail, take too long or are
 * not come to. The steps are scripts in the place of a build's programs: no device is needed. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GPU_CHECK VYRE_SOURCE_DIR "/tools/gpu-check.sh"

static char build[600], out[600];

static void put_script(const char *name, const char *lines)
{
    char path[128], text[512];
    snprintf(path, sizeof path, "build/bin/%s", name);
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", lines);
    put_text(path, text);
    assert_int_equal(chmod(path, 0755), 0);
}

static int enter(void **state)
{
    (void)state;
    enter_folder("test-gpu-check");
    (void)mkdir("build", 0777);
    (void)mkdir("build/bin", 0777);
    char folder[512];
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(build, sizeof build, "%s/build", folder);
    snprintf(out, sizeof out, "%s/out-of-steps", folder);
    put_script("test_report", "echo begun; sleep 60");
    put_script("test_wide", "echo wide");
    put_script("test_chain", "echo bad; exit 3");
    put_script("soak_differential", "echo $VYRE_SEEDS");
    return 0;
}

static void assert_result(const char *line)
{
    assert_file_has("out-of-steps/results.txt", line);
}

static void test_gpu_check_refuses_bad_options(void **state)
{
    static const struct {
        const char *option, *value, *wanted;
    } rows[] = {{"--jobs", "0", "--jobs takes a count"},
                {"--jobs", "many", "--jobs takes a count"},
                {"--limit", "0", "--limit takes seconds"},
                {"--limit", "1m", "--limit takes seconds"},
                {"--seeds", "0", "--seeds takes COUNT or FIRST:COUNT"},
                {"--seeds", "1:", "--seeds takes COUNT or FIRST:COUNT"},
                {"--seed", "1", "unknown argument: --seed"},
                {"--only", NULL, "--only needs a value"},
                {"--pack", "/nowhere/x.tar.gz", "--pack needs a --build within the checkout"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_fails(2, rows[i].wanted,
                     run_tool(GPU_CHECK, "--build", build, rows[i].option, rows[i].value, NULL));
    }
    assert_int_equal(run_tool(GPU_CHECK, "--help", NULL), 0);
    assert_file_has("out", "usage: tools/gpu-check.sh");
    assert_fails(1, "no step matches nothing",
                 run_tool(GPU_CHECK, "--build", build, "--out", out, "--only", "nothing", NULL));
}

static void test_gpu_check_says_what_each_step_came_to(void **state)
{
    (void)state;
    assert_int_equal(
        run_tool(GPU_CHECK, "--build", build, "--out", out, "--only", "test_wide", NULL), 0);
    assert_file_has("out", "all 1 steps passed");
    assert_result("passed     test_wide");
    assert_file_has("out-of-steps/test_wide.txt", "wide");
    assert_fails(1, "1 of 2 steps passed",
                 run_tool(GPU_CHECK, "--build", build, "--out", out, "--jobs", "2", "--only",
                          "test_wide|test_chain", NULL));
    assert_result("FAILED     test_chain");
    assert_result("passed     test_wide");
    assert_file_has("out", "bad");
}

static void test_gpu_check_ends_by_its_limit(void **state)
{
    (void)state;
    assert_fails(1, "0 of 2 steps passed",
                 run_tool(GPU_CHECK, "--build", build, "--out", out, "--limit", "2", "--only",
                          "test_report|test_wide", NULL));
    assert_result("unfinished test_report");
    assert_result("not run    test_wide");
    assert_file_has("out-of-steps/test_report.txt", "begun");
}

static void test_gpu_check_gives_every_seed_once(void **state)
{
    (void)state;
    assert_int_equal(run_tool(GPU_CHECK, "--build", build, "--out", out, "--jobs", "3", "--only",
                              "seeds-", "--seeds", "7:501", NULL),
                     0);
    assert_file_has("out-of-steps/seeds-7.txt", "7:250");
    assert_file_has("out-of-steps/seeds-257.txt", "257:250");
    assert_file_has("out-of-steps/seeds-507.txt", "507:1");
    assert_file_has("out", "all 3 steps passed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_check_refuses_bad_options),
        cmocka_unit_test(test_gpu_check_says_what_each_step_came_to),
        cmocka_unit_test(test_gpu_check_ends_by_its_limit),
        cmocka_unit_test(test_gpu_check_gives_every_seed_once),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
