/* vyre-spv --source: the program's lines above their assembly, which stays what it is; and the
 * amounts of debug information. */
#include "tests/tools/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHADERS VYRE_SOURCE_DIR "/shaders"

static int setup(void **state)
{
    (void)state;
    enter_folder("source");
    put_text("twice.vyre", "program twice\nworkgroup 64\ngrid over x\ninout x : u32[]\n"
                           "fn more(a : u32) -> u32 {\n"
                           "    return a * 3\n"
                           "}\n"
                           "kernel {\r\n"
                           "    let i = gid.x\n"
                           "    for e in 0 .. x[i] {\n"
                           "        x[i] = more(x[i]) + e\n"
                           "    }\n"
                           "}\n");
    return 0;
}

static char *out_of(const char *const *arguments)
{
    size_t size;
    int code = run_tool("vyre-spv", arguments[0], arguments[1], arguments[2], arguments[3], NULL);
    if (code != 0) {
        fail_msg("%s %s: %d", arguments[0], arguments[1], code);
    }
    char *text = get_file("out", &size);
    assert_non_null(text);
    return text;
}

/* The next line of the text, cut off; NULL behind the last. */
static char *next_line(char **at)
{
    char *line = *at;
    if (!line || !*line) {
        return NULL;
    }
    char *end = strchr(line, '\n');
    *at = end ? end + 1 : NULL;
    if (end) {
        *end = 0;
    }
    return line;
}

static bool is_comment(const char *line)
{
    return strncmp(line, "               ; ", 17) == 0;
}

static void test_lines_stand_above_their_assembly(void **state)
{
    (void)state;
    static const char *const wanted[] = {"               ; 10 |     for e in 0 .. x[i] {",
                                         "OpLoad",
                                         "               ; 11 |         x[i] = more(x[i]) + e",
                                         "OpLoad",
                                         "               ; 6 |     return a * 3",
                                         "OpIMul",
                                         "               ; 11 |         x[i] = more(x[i]) + e",
                                         "OpIAdd",
                                         "OpStore"};
    for (int i = 0; i < 2; i++) {
        const char *const arguments[4] = {"twice.vyre", i ? "-S" : "--source"};
        char *text = out_of(arguments);
        const char *at = text;
        for (size_t k = 0; k < VY_COUNT_OF(wanted); k++) {
            const char *found = strstr(at, wanted[k]);
            if (!found) {
                fail_msg("no '%s' behind what comes before it:\n%s", wanted[k], at);
            }
            at = found + strlen(wanted[k]);
        }
        assert_null(strstr(text, "OpLine")); /* which nobody asked for */
        assert_null(strchr(text, '\r'));
        free(text);
    }
}

/* Without the comments it is what -g1 gives without its lines, and what -g gives as it is. */
static void check_rest(const char *path, const char *level, bool has_lines)
{
    const char *const with[4] = {path, "--source", has_lines ? level : NULL};
    const char *const without[4] = {path, level};
    char *told = out_of(with), *plain = out_of(without), *a = told, *b = plain, *line;
    uint32_t comments = 0;
    while ((line = next_line(&a)) != NULL) {
        if (is_comment(line)) {
            comments++;
            continue;
        }
        char *other = next_line(&b);
        while (other && !has_lines && strstr(other, " OpLine ")) {
            other = next_line(&b);
        }
        if (!other || strcmp(line, other) != 0) {
            fail_msg("%s %s: '%s', not '%s'", path, level, line, other ? other : "the end");
        }
    }
    assert_null(next_line(&b));
    assert_true(comments > 0);
    free(told);
    free(plain);
}

static void test_assembly_stays_what_it_is(void **state)
{
    (void)state;
    DIR *folder = opendir(SHADERS);
    assert_non_null(folder);
    uint32_t programs = 0;
    for (struct dirent *entry; programs < 12 && (entry = readdir(folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[600];
        if (dot && strcmp(dot, ".vyre") == 0) {
            snprintf(path, sizeof path, "%s/%s", SHADERS, entry->d_name);
            check_rest(path, "-g1", false);
            check_rest(path, "-g1", true);
            check_rest(path, "-g", true);
            programs++;
        }
    }
    closedir(folder);
    assert_int_equal(programs, 12);
}

/* A module tells the text itself, where it has it. */
static void test_modules_tell_their_own_lines(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-g", "-o", "full.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "full.spv", "--source", NULL), 0);
    assert_file_has("out", "               ; 6 |     return a * 3\n");
    assert_file_has("out", "               OpLine "); /* the file's own */
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-g1", "-o", "lines.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "lines.spv", "--source", NULL), 0);
    assert_file_has("out", "               ; line 6\n");
    /* Kernel files have the lines, and a text of their own. */
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-o", "twice.vyk", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.vyk", "--source", NULL), 0);
    assert_file_has("out", "               ; line 6\n");
    assert_int_equal(run_tool("vyre-spv", "twice.vyre", "--source", "-o", "twice.spvasm", NULL), 0);
    assert_file_has("twice.spvasm", "               ; 6 |     return a * 3\n");
    assert_fails(2, "--source is of assembly",
                 run_tool("vyre-spv", "twice.vyre", "--source", "-o", "a.spv", NULL));
}

static void test_debug_information_has_two_amounts(void **state)
{
    (void)state;
    static const char set[] = "NonSemantic.Shader.DebugInfo.100";
    static const char *const plain[4] = {"twice.vyre"}, *const lines[4] = {"twice.vyre", "-g1"},
                             *const full[4] = {"twice.vyre", "-g"};
    char *text = out_of(plain);
    assert_null(strstr(text, "OpName"));
    free(text);
    text = out_of(lines);
    assert_non_null(strstr(text, "OpLine"));
    assert_null(strstr(text, set));
    free(text);
    text = out_of(full);
    assert_non_null(strstr(text, "OpLine"));
    assert_non_null(strstr(text, set));
    assert_non_null(strstr(text, "    return a * 3\n")); /* the text itself */
    free(text);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run_tool("vyre-spv", "twice.vyre", "-g", "--validate", "--requires",
                                  "--target", i & 1 ? "vulkan1.2" : "vulkan1.3", "--interface",
                                  i & 2 ? "address" : "descriptor", NULL),
                         0);
        assert_file_has("out", "twice.seg0: valid");
        size_t size;
        text = get_file("out", &size);
        assert_non_null(text);
        assert_int_equal(strstr(text, "VK_KHR_shader_non_semantic_info\n") != NULL, i & 1);
        free(text);
    }
}

/* What a device is given does not change what comes out. */
static void test_runs_take_debug_information(void **state)
{
    (void)state;
    assert_fails(2, "-g is for a single run",
                 run_tool("vyre-run", "--examples", "-g", "twice.vyre", NULL));
    if (has_no_device()) {
        return;
    }
    assert_int_equal(
        run_tool("vyre-run", "twice.vyre", "--in", "x=1,2,3", "--check", "-g", "--out", "x", NULL),
        0);
    assert_file_has("out", "3");
    assert_int_equal(
        run_tool("vyre-run", "twice.vyre", "--in", "x=1,2,3", "--validate", "-g", NULL), 0);
}

/* Where a function is debugged is said in its first block, also behind spirv-opt, which puts
 * another one in front of those with early returns. */
static void test_optimised_modules_define_functions_at_the_front(void **state)
{
    (void)state;
    int code =
        run_tool("vyre-spv", "twice.vyre", "--opt", "-g", "--validate", "-o", "twice.spv", NULL);
    if (code != 0) {
        assert_fails(1, "spirv-opt, which was not found", code);
        return;
    }
    assert_int_equal(run_tool("vyre-spv", "twice.spv", "--validate", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "twice.spv", NULL), 0);
    size_t size;
    char *listing = get_file("out", &size);
    uint32_t functions = 0, labels = 0, definitions = 0;
    char *at = listing;
    for (char *line = next_line(&at); line; line = next_line(&at)) {
        bool is_function = strstr(line, "= OpFunction ") != NULL;
        functions += is_function;
        labels = is_function ? 0 : labels + (strstr(line, "= OpLabel") != NULL);
        if (strstr(line, " DebugFunctionDefinition ")) {
            assert_int_equal(labels, 1);
            definitions++;
        }
    }
    assert_true(functions > 0);
    assert_int_equal(definitions, functions);
    free(listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_stand_above_their_assembly),
        cmocka_unit_test(test_assembly_stays_what_it_is),
        cmocka_unit_test(test_modules_tell_their_own_lines),
        cmocka_unit_test(test_debug_information_has_two_amounts),
        cmocka_unit_test(test_runs_take_debug_information),
        cmocka_unit_test(test_optimised_modules_define_functions_at_the_front),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
