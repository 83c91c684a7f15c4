/* vyre-spv --coarse: what it shows, and where it has nothing to show. */
#include "tests/tools/support.h"

#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    (void)state;
    enter_folder("coarse_command");
    put_text("map.vyre", "program map\nworkgroup 64\ngrid over y\nin x : u32[]\ninout y : u32[]\n"
                         "kernel { y[gid.x] = x[gid.x] + 1 }\n");
    put_text("near.vyre", "program near\nworkgroup 64\nin x : u32[]\ninout y : u32[]\n"
                          "kernel { y[gid.x] = x[gid.x + 1] }\n");
    return 0;
}

static bool has(const char *text)
{
    size_t size;
    char *out = get_file("out", &size);
    assert_non_null(out);
    bool found = strstr(out, text) != NULL;
    free(out);
    return found;
}

static void test_spv_shows_coarse_words(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "map.vyre", "--interface", "address", NULL), 0);
    assert_false(has("Aligned 16"));
    assert_int_equal(run_tool("vyre-spv", "map.vyre", "--coarse", "--interface", "address", NULL),
                     0);
    assert_file_has("out", "Aligned 16");
    assert_int_equal(
        run_tool("vyre-spv", "map.vyre", "--coarse", "--validate", "--target", "vulkan1.2", NULL),
        0);
    assert_file_has("out", "map.seg0: valid for vulkan1.2");
    /* Nothing is coarse: the words are the ones there are. */
    char *plain, *coarse;
    size_t size;
    assert_int_equal(run_tool("vyre-spv", "near.vyre", NULL), 0);
    plain = get_file("out", &size);
    assert_int_equal(run_tool("vyre-spv", "near.vyre", "--coarse", NULL), 0);
    coarse = get_file("out", &size);
    assert_non_null(plain);
    assert_non_null(coarse);
    assert_string_equal(plain, coarse);
    free(plain);
    free(coarse);
}

static void test_spv_refuses_coarse_kernel_files(void **state)
{
    (void)state;
    static const char text[] = "kernel files have no coarse words";
    assert_fails(2, text, run_tool("vyre-spv", "map.vyre", "--coarse", "--format", "kernel", NULL));
    assert_fails(2, text, run_tool("vyre-spv", "map.vyre", "--coarse", "-o", "map.vyk", NULL));
    assert_int_equal(run_tool("vyre-spv", "map.vyre", "-o", "map.spv", NULL), 0);
    assert_fails(1, "--coarse, --printf and --graph, which need a program",
                 run_tool("vyre-spv", "map.spv", "--coarse", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spv_shows_coarse_words),
        cmocka_unit_test(test_spv_refuses_coarse_kernel_files),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
