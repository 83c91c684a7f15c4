/* vyre-spv --diff: what differs between two programs, whatever the numbers of their ids. */
#include "tests/tools/support.h"

#include <dirent.h>
#include <spirv-tools/libspirv.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHADERS VYRE_SOURCE_DIR "/shaders"

#define PROGRAM(loop, factor, sum)                                                                 \
    "program sums\nworkgroup 64\ngrid over x\ninout x : u32[]\n"                                   \
    "kernel {\n    let i = gid.x\n    var n = 1\n    for e in 0 .. " loop " {\n"                   \
    "        n = n * " factor " + x[i ^ e]\n    }\n    x[i] = " sum "\n}\n"

static int setup(void **state)
{
    (void)state;
    enter_folder("diff");
    put_text("a.vyre", PROGRAM("8", "3", "n"));
    put_text("factor.vyre", PROGRAM("8", "5", "n"));
    put_text("more.vyre", PROGRAM("8", "3", "n + (i << 7)"));
    put_text("wide.vyre", PROGRAM("8", "3", "u32(u64(n) * 3 >> 1)"));
    put_text("named.vyre", "// Another name for everything.\nprogram others\nworkgroup 64\n"
                           "grid over buffer\ninout buffer : u32[]\n"
                           "kernel {\n    let which = gid.x\n    var sum = 1\n"
                           "    for step in 0 .. 8 {\n"
                           "        sum = sum * 3 + buffer[which ^ step]\n    }\n"
                           "    buffer[which] = sum\n}\n");
    put_text("two.vyre", "program sums\nworkgroup 64\ngrid over x\ninout x : u32[]\n"
                         "kernel {\n    x[gid.x] = 1\n    grid_sync\n    x[gid.x] = x[0]\n}\n");
    return 0;
}

static char *diff_of(const char *a, const char *b, int wanted)
{
    int code = run_tool("vyre-spv", "--diff", a, b, NULL);
    size_t size;
    char *text = get_file("out", &size);
    assert_non_null(text);
    if (code != wanted) {
        fail_msg("%s %s: %d\n%s", a, b, code, text);
    }
    return text;
}

static void expect_same(const char *a, const char *b)
{
    char *text = diff_of(a, b, 0);
    assert_null(strstr(text, "@@"));
    assert_non_null(strstr(text, ": the same\n"));
    free(text);
}

/* Lines of the text that begin with that sign, the files' own apart. */
static uint32_t count_lines(const char *text, char sign)
{
    uint32_t count = 0;
    const char head[] = {sign, sign, sign, 0};
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        count += *at == sign && strncmp(at, head, 3) != 0;
    }
    return count;
}

static void test_programs_of_other_names_are_the_same(void **state)
{
    (void)state;
    expect_same("a.vyre", "a.vyre");
    expect_same("a.vyre", "named.vyre");
    /* Whatever is said of the words, and wherever they come from. */
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "-o", "plain.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "-g1", "-o", "lines.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "-g", "-o", "full.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "-o", "a.vyk", NULL), 0);
    static const char *const all[] = {"a.vyre", "plain.spv", "lines.spv", "full.spv", "a.vyk"};
    /* Options of programs leave modules alone. */
    assert_int_equal(run_tool("vyre-spv", "--diff", "full.spv", "a.vyre", "--printf", "-g", NULL),
                     0);
    for (size_t i = 0; i < VY_COUNT_OF(all); i++) {
        for (size_t k = 0; k < VY_COUNT_OF(all); k++) {
            expect_same(all[i], all[k]);
        }
    }
}

/* Every id another one, by spirv-as, which numbers them anew in the order in which they come. */
static void test_numbers_of_ids_make_no_difference(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "-o", "plain.spv", NULL), 0);
    size_t size;
    char *bytes = get_file("plain.spv", &size);
    assert_non_null(bytes);
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    spv_text text = NULL;
    spv_binary other = NULL;
    assert_int_equal(
        spvBinaryToText(context, (const uint32_t *)(void *)bytes, size / 4, 0, &text, NULL),
        SPV_SUCCESS);
    assert_int_equal(spvTextToBinaryWithOptions(context, text->str, text->length, 0, &other, NULL),
                     SPV_SUCCESS);
    assert_int_equal(other->wordCount, size / 4);
    assert_memory_not_equal(other->code, bytes, size);
    put_file("other.spv", other->code, other->wordCount * 4);
    expect_same("plain.spv", "other.spv");
    spvBinaryDestroy(other);
    spvTextDestroy(text);
    spvContextDestroy(context);
    free(bytes);
}

static void test_a_changed_constant_is_one_line(void **state)
{
    (void)state;
    char *text = diff_of("a.vyre", "factor.vyre", 1);
    assert_non_null(strstr(text, "--- a.vyre: sums.seg0\n+++ factor.vyre: sums.seg0\n@@ -"));
    assert_non_null(strstr(text, " @@ %vy_body\n"));
    assert_non_null(strstr(text, "\n-%"));
    const char *old = strstr(text, " = OpIMul %uint %n %uint_3\n+");
    assert_non_null(old);
    assert_non_null(strstr(old, " = OpIMul %uint %n %uint_5\n"));
    /* And the constant itself, one of which the other has no use for. */
    assert_in_range(count_lines(text, '-'), 1, 2);
    assert_in_range(count_lines(text, '+'), 1, 2);
    free(text);
}

static void test_what_came_is_told_and_counted(void **state)
{
    (void)state;
    char *text = diff_of("a.vyre", "more.vyre", 1);
    assert_non_null(strstr(text, " = OpShiftLeftLogical %uint %gid_x %uint_7\n+"));
    assert_non_null(strstr(text, "-OpStore "));
    assert_in_range(count_lines(text, '-'), 1, 3);
    assert_in_range(count_lines(text, '+'), 3, 5);
    const char *shift = strstr(text, " = OpShiftLeftLogical ");
    assert_int_equal(shift[-1], '\''); /* no value of the first has that number */
    assert_non_null(strstr(text, "\nsums.seg0: "));
    assert_non_null(strstr(text, "\n  words                    "));
    free(text);
    text = diff_of("a.vyre", "wide.vyre", 1);
    assert_non_null(strstr(text, "+OpCapability Int64\n"));
    assert_non_null(strstr(text, "\n  + capability Int64\n"));
    free(text);
    /* Counted the other way round. */
    text = diff_of("wide.vyre", "a.vyre", 1);
    assert_non_null(strstr(text, "\n  - capability Int64\n"));
    free(text);
    assert_int_equal(
        run_tool("vyre-spv", "--diff", "a.vyre", "a.vyre", "--target", "vulkan1.2", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "-o", "new.spv", NULL), 0);
    assert_int_equal(run_tool("vyre-spv", "a.vyre", "--target", "vulkan1.2", "-o", "old.spv", NULL),
                     0);
    text = diff_of("new.spv", "old.spv", 1);
    assert_non_null(strstr(text, "-OpMemoryModel Logical Vulkan\n"));
    assert_non_null(strstr(text, "+OpMemoryModel Logical GLSL450\n"));
    free(text);
}

static void test_segments_are_compared_one_by_one(void **state)
{
    (void)state;
    char *text = diff_of("two.vyre", "a.vyre", 1);
    assert_non_null(strstr(text, "sums.seg1: only in two.vyre\n"));
    free(text);
    text = diff_of("a.vyre", "two.vyre", 1);
    assert_non_null(strstr(text, "sums.seg1: only in two.vyre\n"));
    free(text);
    assert_int_equal(run_tool("vyre-spv", "--diff", "two.vyre", "two.vyre", "--segment", "1", NULL),
                     0);
    assert_file_has("out", "sums.seg1: the same\n");
    assert_fails(2, "no segment 2",
                 run_tool("vyre-spv", "--diff", "two.vyre", "two.vyre", "--segment", "2", NULL));
}

static void test_trouble_is_no_difference(void **state)
{
    (void)state;
    assert_fails(2, "--diff compares two files (1 given)",
                 run_tool("vyre-spv", "--diff", "a.vyre", NULL));
    assert_fails(2, "--diff compares two files (3 given)",
                 run_tool("vyre-spv", "--diff", "a.vyre", "a.vyre", "a.vyre", NULL));
    assert_fails(2, "without other output",
                 run_tool("vyre-spv", "--diff", "a.vyre", "a.vyre", "--stats", NULL));
    assert_fails(2, "missing.vyre", run_tool("vyre-spv", "--diff", "a.vyre", "missing.vyre", NULL));
    static const uint32_t words[] = {SpvMagicNumber, 0x10600, 0, 9, 0, 0x00010000 | 999};
    put_file("odd.spv", words, sizeof words);
    assert_fails(2, "cannot be disassembled",
                 run_tool("vyre-spv", "--diff", "odd.spv", "a.vyre", NULL));
}

static void test_colors_are_for_terminals(void **state)
{
    (void)state;
    char *text = diff_of("a.vyre", "factor.vyre", 1);
    assert_null(strchr(text, '\033'));
    free(text);
    assert_int_equal(run_on_terminal(NULL, "", "vyre-spv", "--diff", "a.vyre", "factor.vyre", NULL),
                     1);
    assert_file_has("out", "\033[31m-");
    assert_file_has("out", "\033[32m+");
}

/* Sums over the hunks' heads: how many lines each side has in them. */
static void count_heads(const char *text, uint32_t *out_old, uint32_t *out_new)
{
    *out_old = *out_new = 0;
    for (const char *at = text; (at = strstr(at, "\n@@ -")) != NULL; at++) {
        unsigned old_count, new_count;
        assert_int_equal(sscanf(at, "\n@@ -%*u,%u +%*u,%u @@", &old_count, &new_count), 2);
        *out_old += old_count;
        *out_new += new_count;
    }
}

/* Any two programs: the heads count the lines that stand below them, and what is gone one way is
 * new the other way. */
static void test_every_pair_of_programs_adds_up(void **state)
{
    (void)state;
    char last[600] = "a.vyre";
    DIR *folder = opendir(SHADERS);
    assert_non_null(folder);
    uint32_t programs = 0;
    for (struct dirent *entry; programs < 15 && (entry = readdir(folder)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[600];
        if (!dot || strcmp(dot, ".vyre") != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", SHADERS, entry->d_name);
        free(diff_of(path, path, 0));
        char *text = diff_of(last, path, 1);
        char *begin = strchr(text, '\n'), *summary = strstr(text, " gone, ");
        assert_non_null(begin);
        assert_non_null(summary);
        unsigned gone, came;
        while (summary[-1] != ':') {
            summary--;
        }
        assert_int_equal(sscanf(summary, " %u %*s gone, %u new", &gone, &came), 2);
        char *second = strstr(summary, "\n--- "); /* of another segment */
        if (second) {
            second[1] = 0;
        }
        uint32_t old_count, new_count;
        count_heads(text, &old_count, &new_count);
        while (summary[-1] != '\n') {
            summary--;
        }
        *summary = 0;
        uint32_t kept = count_lines(text, ' ');
        assert_int_equal(count_lines(text, '-'), gone);
        assert_int_equal(count_lines(text, '+'), came);
        assert_int_equal(old_count, kept + gone);
        assert_int_equal(new_count, kept + came);
        free(text);
        snprintf(last, sizeof last, "%s", path);
        programs++;
    }
    closedir(folder);
    assert_int_equal(programs, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_of_other_names_are_the_same),
        cmocka_unit_test(test_numbers_of_ids_make_no_difference),
        cmocka_unit_test(test_a_changed_constant_is_one_line),
        cmocka_unit_test(test_what_came_is_told_and_counted),
        cmocka_unit_test(test_segments_are_compared_one_by_one),
        cmocka_unit_test(test_trouble_is_no_difference),
        cmocka_unit_test(test_colors_are_for_terminals),
        cmocka_unit_test(test_every_pair_of_programs_adds_up),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
