/* vyre-spv --explain: everything that modules declare is known, with the names of what has it. */
#include "tests/tools/support.h"

#include <ctype.h>
#include <dirent.h>
#include <spirv-tools/libspirv.h>
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

/* ---- What the emitter can make --------------------------------------------------------------- */

#define MOST_NAMES 200u

typedef struct name_list {
    char names[MOST_NAMES][80];
    size_t count;
} name_list;

static void add_name(name_list *list, const char *name, size_t length)
{
    assert_true(length < sizeof list->names[0]);
    for (size_t i = 0; i < list->count; i++) {
        if (strlen(list->names[i]) == length && memcmp(list->names[i], name, length) == 0) {
            return;
        }
    }
    assert_true(list->count < MOST_NAMES);
    memcpy(list->names[list->count], name, length);
    list->names[list->count++][length] = 0;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* What stands behind the prefix, and begins with a capital; with `keeps` the prefix too. */
static void find_names(const char *text, const char *prefix, bool keeps, name_list *out)
{
    size_t skip = strlen(prefix);
    for (const char *at = text; (at = strstr(at, prefix)) != NULL; at += skip) {
        const char *name = at + skip, *end = name;
        while (is_name(*end)) {
            end++;
        }
        const char *first = keeps ? at + (prefix[0] == '"') : name;
        if (isupper((unsigned char)*name) || (keeps && end > name)) {
            add_name(out, first, (size_t)(end - first));
        }
    }
}

/* By the sources of the emitter. */
static void find_all_names(const char *const *prefixes, bool keeps, name_list *out)
{
    static const char folder_name[] = VYRE_SOURCE_DIR "/codegen/spirv";
    DIR *folder = opendir(folder_name);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0)) {
            continue;
        }
        char path[600];
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder_name, entry->d_name);
        char *text = get_file(path, &size);
        assert_non_null(text);
        for (size_t i = 0; prefixes[i]; i++) {
            find_names(text, prefixes[i], keeps, out);
        }
        free(text);
    }
    closedir(folder);
}

/* A module of that one line, whose operands are what its grammar takes; false: none of them. */
static bool put_module(const char *line)
{
    static const char *const operands[] = {"", " 1", " 1 1 1", " WorkgroupId", NULL};
    for (size_t i = 0; operands[i]; i++) {
        char text[320];
        snprintf(text, sizeof text, "%s%s\n", line, operands[i]);
        spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
        spv_binary binary = NULL;
        bool is_right = spvTextToBinary(context, text, strlen(text), &binary, NULL) == SPV_SUCCESS;
        if (is_right) {
            put_file("one.spv", binary->code, binary->wordCount * 4);
        }
        spvBinaryDestroy(binary);
        spvContextDestroy(context);
        if (is_right) {
            return true;
        }
    }
    return false;
}

static void check_names(const char *format, const name_list *list, size_t least)
{
    assert_true(list->count >= least);
    for (size_t i = 0; i < list->count; i++) {
        char line[256];
        snprintf(line, sizeof line, format, list->names[i]);
        if (!put_module(line)) {
            fail_msg("'%s' is no assembly", line);
        }
        assert_int_equal(run_tool("vyre-spv", "one.spv", "--explain", NULL), 0);
        if (!has("out", list->names[i]) || has("out", "nothing is known")) {
            fail_msg("'%s' is not explained", line);
        }
    }
}

static void test_explain_knows_all_that_the_emitter_can_make(void **state)
{
    (void)state;
    static const struct {
        const char *prefixes[4], *format;
        bool keeps;
        size_t least;
    } kinds[] = {
        {{"SpvCapability"}, "OpCapability %s", false, 15},
        {{"SpvExecutionMode"}, "OpExecutionMode %%1 %s", false, 5},
        {{"SpvDecoration"}, "OpDecorate %%1 %s", false, 10},
        {{"SpvMemoryModel"}, "OpMemoryModel Logical %s", false, 2},
        {{"SpvAddressingModel"}, "OpMemoryModel %s GLSL450", false, 2},
        {{"\"SPV_"}, "OpExtension \"%s\"", true, 3},
        {{"\"NonSemantic.", "\"GLSL."}, "%%1 = OpExtInstImport \"%s\"", true, 2},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        name_list *list = calloc(1, sizeof *list);
        assert_non_null(list);
        find_all_names(kinds[i].prefixes, kinds[i].keeps, list);
        check_names(kinds[i].format, list, kinds[i].least);
        free(list);
    }
}

/* The text in the words is none of the module's lines. */
static void test_explain_reads_no_lines_of_the_text(void **state)
{
    (void)state;
    put_text("sly.vyre", "program sly\n// a\nOpCapability Kernel\nout y : u32[1]\n"
                         "kernel { y[0] = 7 }\n");
    assert_int_equal(run_tool("vyre-spv", "sly.vyre", NULL), 1); /* it is no comment */
    put_text("sly.vyre", "program sly\n/*\nOpCapability Kernel\n*/\nout y : u32[1]\n"
                         "kernel { y[0] = 7 }\n");
    assert_int_equal(run_tool("vyre-spv", "sly.vyre", "-g", "--explain", NULL), 0);
    assert_false(has("out", "Kernel"));
    assert_file_has("out", "  instruction sets:\n    NonSemantic.Shader.DebugInfo.100 debug");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain_names_what_is_declared),
        cmocka_unit_test(test_explain_knows_all_that_is_made),
        cmocka_unit_test(test_explain_knows_all_that_the_emitter_can_make),
        cmocka_unit_test(test_explain_reads_no_lines_of_the_text),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
