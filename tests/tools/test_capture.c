/* vyre-run --capture: what it asks of RenderDoc, by a library of our own in its place; and where
 * RenderDoc is installed (with renderdoccmd), what stands in a capture. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char steps[] =
    "program steps\ngrid over x\ninout x : u32[]\nscratch doubled : u32[len(x)]\n"
    "kernel {\n"
    "    if gid.x < len(x) { doubled[gid.x] = 2 * x[gid.x] }\n"
    "    grid_sync\n"
    "    if gid.x < len(x) { x[gid.x] = doubled[len(x) - 1 - gid.x] }\n"
    "}\n";

/* What it was: a driver's libraries may lie there. */
static const char *library_path;

static void look_first_in(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", folder, library_path ? ":" : "",
             library_path ? library_path : "");
    assert_int_equal(setenv("LD_LIBRARY_PATH", path, 1), 0);
}

static void use_fake(const char *wrong)
{
    unlink("log");
    unlink("out.rdc");
    assert_int_equal(setenv("FAKE_RENDERDOC_LOG", "log", 1), 0);
    assert_int_equal(setenv("FAKE_RENDERDOC", wrong, 1), 0);
    look_first_in(VYRE_BINARY_DIR "/lib/fakes");
}

static int capture(const char *path)
{
    return run_tool("vyre-run", "steps.vyre", "--in", "x=1,2,3", "--check", "--capture", path,
                    NULL);
}

static void test_capture_holds_one_run(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    use_fake("");
    assert_int_equal(capture("out.rdc"), 0);
    assert_file_has("out", "x = 6, 4, 2");
    assert_file_has("out", "capture: out.rdc (strategy replay, buffers by descriptor)");
    size_t size;
    char *text = get_file("out.rdc", &size);
    assert_non_null(text);
    assert_string_equal(text, "captured");
    free(text);
    char *log = get_file("log", &size);
    assert_non_null(log);
    /* The template lies beside the file, whose name comes with a move. */
    const char *after = strstr(log, "version 1.1.2\ntemplate out.rdc.");
    assert_ptr_equal(after, log);
    after = strchr(strchr(log, '\n') + 1, '\n');
    assert_string_equal(after, "\nstart\nend\n");
    free(log);
    assert_int_equal(capture("no/folder/out.rdc") != 0, 1);
    assert_file_has("err", "'no/folder/out.rdc' cannot be captured");
    assert_file_has("err", "Fix: ");
}

static void test_capture_says_what_is_missing(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    static const struct {
        const char *wrong, *message;
    } cases[] = {{"old", "does not offer version 1.1.2 of its interface. Fix: update it"},
                 {"deaf", "its layer VK_LAYER_RENDERDOC_Capture was not loaded"},
                 {"failing", "RenderDoc wrote no capture"}};
    for (uint32_t i = 0; i < VY_COUNT_OF(cases); i++) {
        use_fake(cases[i].wrong);
        assert_fails(1, cases[i].message, capture("out.rdc"));
        assert_int_equal(access("out.rdc", F_OK), -1);
    }
    /* One that cannot be loaded, before any other of its name. */
    put_text("librenderdoc.so", "this is no library");
    char folder[512];
    assert_non_null(getcwd(folder, sizeof folder));
    look_first_in(folder);
    assert_fails(1,
                 "--capture needs RenderDoc, whose library librenderdoc.so cannot be loaded. Fix: "
                 "install it (Debian: librenderdoc)",
                 capture("out.rdc"));
}

static void test_capture_is_of_one_run_by_descriptor(void **state)
{
    (void)state;
    assert_fails(2, "--capture is of one run on a device",
                 run_tool("vyre-run", "steps.vyre", "--capture", "x.rdc", "--reference", NULL));
    assert_fails(2, "--capture is of one run on a device",
                 run_tool("vyre-run", "steps.vyre", "--capture", "x.rdc", "--repeat", "2", NULL));
    assert_fails(2, "--capture is for a single run, not --examples",
                 run_tool("vyre-run", "steps.vyre", "--capture", "x.rdc", "--examples", NULL));
    assert_fails(
        2, "buffers by descriptor",
        run_tool("vyre-run", "steps.vyre", "--capture", "x.rdc", "--interface", "address", NULL));
}

/* RenderDoc itself. */
static void test_capture_has_segments_and_buffers_by_name(void **state)
{
    (void)state;
    const char *program = "/usr/bin/renderdoccmd";
    if (has_no_device()) {
        return;
    }
    if (access(program, X_OK) != 0) {
        print_message("renderdoccmd is not installed: no capture of RenderDoc's is looked at\n");
        return;
    }
    assert_int_equal(
        library_path ? setenv("LD_LIBRARY_PATH", library_path, 1) : unsetenv("LD_LIBRARY_PATH"), 0);
    unlink("real.rdc");
    assert_int_equal(capture("real.rdc"), 0);
    assert_int_equal(
        run_tool(program, "convert", "-f", "real.rdc", "-o", "real.zip.xml", "-c", "zip.xml", NULL),
        0);
    static const char *const texts[] = {">segment steps.seg0, steps.vyre:6, pass 0<",
                                        ">segment steps.seg1, steps.vyre:8, pass 0<",
                                        ">x<",
                                        ">doubled<",
                                        "vkCmdDispatch",
                                        "vkCmdPipelineBarrier"};
    for (uint32_t i = 0; i < VY_COUNT_OF(texts); i++) {
        assert_file_has("real.zip.xml", texts[i]);
    }
}

int main(void)
{
    static char kept[2048];
    const char *given = getenv("LD_LIBRARY_PATH");
    if (given && strlen(given) < sizeof kept) {
        memcpy(kept, given, strlen(given) + 1);
        library_path = kept;
    }
    enter_folder("test_capture");
    put_text("steps.vyre", steps);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture_holds_one_run),
        cmocka_unit_test(test_capture_says_what_is_missing),
        cmocka_unit_test(test_capture_is_of_one_run_by_descriptor),
        cmocka_unit_test(test_capture_has_segments_and_buffers_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
