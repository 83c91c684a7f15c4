/* -O0 of vyre-spv and vyre-run. */
#include "tests/tools/support.h"

#include <stdlib.h>

static int setup(void **state)
{
    (void)state;
    enter_folder("unoptimized");
    put_text("twice.vyre",
             "program twice\ngrid over y\ninout y : u32[]\n"
             "kernel { if gid.x < len(y) { y[gid.x] = y[gid.x] + y[gid.x] * 1u } }\n");
    return 0;
}

static size_t size_of(const char *path)
{
    size_t size;
    free(get_file(path, &size));
    return size;
}

static void test_spv_leaves_passes_out(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-O0", "--dump-after", "all", NULL), 0);
    assert_file_has("out", "; segment 0 after build\n");
    assert_file_has("out", "; segment 0 after canonical-nan\n");
    assert_file_lacks("out", "; segment 0 after fold\n");
    assert_fails(1, "pass fold does not run without optimization. Fix: name build, all, ",
                 run_tool("vyre-spv", "twice.vyre", "-O0", "--dump-after", "fold", NULL));
    /* The last one counts. */
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-O0", "-O1", "--dump-after", "fold", NULL),
                     0);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "1.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-O0", "-o", "0.spv", NULL), 0);
    assert_true(size_of("0.spv") > size_of("1.spv"));
    assert_int_equal(run_tool("vyre-spv", "0.spv", "--validate", NULL), 0);
    assert_fails(1, "-O0, --coarse", run_tool("vyre-spv", "0.spv", "-O0", NULL));
}

/* Files made so give their words to -O0 alone. */
static void test_kernel_files_are_for_the_same_option(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-O0", "-o", "plain.vyk", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-O0", "-o", "plain.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "best.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "plain.vyk", "-O0", "-o", "a.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "plain.vyk", "-o", "b.spv", NULL), 0);
    assert_int_equal(size_of("a.spv"), size_of("plain.spv"));
    assert_int_equal(size_of("b.spv"), size_of("best.spv"));
}

static void test_run_leaves_passes_out(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_tool("vyre-run", "twice.vyre", "-O0", "--check", "--in", "y=1,2,3", NULL),
                     0);
    assert_file_has("out", "y = 2, 4, 6\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-O0", "-o", "plain.vyk", NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_tool("vyre-run", "plain.vyk", i ? "-O0" : "--time", "--report", "--in",
                                  "y=1,2,3", NULL),
                         0);
        assert_file_has("out", i ? "kernel: from the file\n" : "kernel: compiled\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spv_leaves_passes_out),
        cmocka_unit_test(test_kernel_files_are_for_the_same_option),
        cmocka_unit_test(test_run_leaves_passes_out),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
