/* vyre-spv --explain: everything that modules declare is known, with the names of what has it. */
#include "tests/tools/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHADERS VYRE_SOURCE_DIR "/shaders"

static int setup(void **state)
{
    (void)state;
    enter_folder("explain");
    put_text("parts.vyre", "program parts\nworkgroup 64\nfixpoint 9 until more\nin a : f32[]\n"
                           "inout b : f32[]\nscratch more : u32[1]\n"
                           "kernel {\n"
                           "    b[gid.x] = a[gid.x] * 2.5 + sqrt(b[gid.x])\n"
                           "    atomic_or(more[0], u32(b[gid.x] < 9.0))\n"
                           "}\n");
    return 0;
}

static bool has(const char *path, const char *text)
{
    size_t size;
    char *found = get_file(path, &size);
    assert_non_null(found);
    bool is_there = strstr(found, text) != NULL;
    free(found);
    return is_there;
}

static void test_explain_names_what_is_declared(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "--explain", NULL), 0);
    static const char *const lines[] = {
        "parts.seg0\n  capabilities:\n",
        "    Shader                           all compute shaders of Vulkan need it\n",
        "    VulkanMemoryModelDeviceScope     atomics on storage act for the whole device\n",
        "  memory model:\n    Logical ",
        "    LocalSize 64 1 1                 invocations of a workgroup in x, y, z\n",
        "    NoContraction ",
        "    NonWritable                      the segment never writes it: the driver may keep "
        "what it "
        "has read\n      %a\n",
        "%vy_folded 3: the launched grid is folded\n",
        "5: f32 sqrt is the device's own\n",
        "%a 0, %b 1", /* bindings */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!has("out", lines[i])) {
            fail_msg("'%s' is not said", lines[i]);
        }
    }
    /* The other target and interface have other reasons. */
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "--explain", "--target", "vulkan1.2",
                              "--interface", "address", NULL),
                     0);
    assert_file_has("out", "PhysicalStorageBuffer64          buffers are reached by addresses");
    assert_file_has("out", "GLSL450 ");
    assert_false(has("out", "VulkanMemoryModel"));
    /* Of other modules' constants nothing is claimed. */
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "-o", "parts.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "parts.spv", "--explain", NULL), 0);
    assert_file_has("out", "SpecId                           a constant that is chosen");
    assert_false(has("out", "the launched grid is folded"));
}

static void test_explain_knows_all_that_is_made(void **state)
{
    (void)state;
    static const char *const forms[][4] = {{"vulkan1.2", "descriptor", "--aggregate", NULL},
                                           {"vulkan1.3", "address", "--coarse", NULL}};
    DIR *folder = opendir(SHADERS);
    assert_non_null(folder);
    uint32_t programs = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".vyre") != 0) {
            continue;
        }
        char path[600];
        snprintf(path, sizeof path, "%s/%s", SHADERS, entry->d_name);
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            assert_int_equal(run_tool("vyre-spv", path, "--explain", "--target", forms[i][0],
                                      "--interface", forms[i][1], forms[i][2], NULL),
                             0);
            if (has("out", "nothing is known")) {
                fail_msg("%s: something is not explained", entry->d_name);
            }
        }
        programs++;
    }
    closedir(folder);
    assert_true(programs > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain_names_what_is_declared),
        cmocka_unit_test(test_explain_knows_all_that_is_made),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
