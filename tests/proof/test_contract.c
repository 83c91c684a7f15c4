/* docs/contract.md: every row is there once, in order, and names tests that exist and are run. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TESTS 4096
#define NAME_SIZE 128

/* The functions defined as tests, and those handed to cmocka, of all files under tests/. */
typedef struct names {
    char list[MAX_TESTS][NAME_SIZE];
    uint32_t count;
} names;

static int has_name(const names *n, const char *name)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (strcmp(n->list[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void add_name(names *n, const char *name, size_t length)
{
    assert_true(n->count < MAX_TESTS && length < NAME_SIZE);
    memcpy(n->list[n->count], name, length);
    n->list[n->count++][length] = 0;
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("%s cannot be read", path);
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = 0;
    fclose(file);
    return text;
}

/* `defined`: "void NAME(void **"; `run`: "cmocka_unit_test...(NAME" or "T(NAME". */
static void take_names(const char *text, names *defined, names *run)
{
    static const char *const starts[] = {"T(", "cmocka_unit_test(", "cmocka_unit_test_setup(",
                                         "cmocka_unit_test_setup_teardown("};
    for (const char *at = strstr(text, "void test_"); at; at = strstr(at, "void test_")) {
        at += strlen("void ");
        size_t length = name_length(at);
        if (strncmp(at + length, "(void **", 8) == 0) {
            add_name(defined, at, length);
        }
    }
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        for (const char *at = strstr(text, starts[s]); at; at = strstr(at, starts[s])) {
            at += strlen(starts[s]);
            const char *name = at + strspn(at, " \n");
            size_t length = name_length(name);
            if (strncmp(name, "test_", 5) == 0 && strchr(",)", name[length])) {
                add_name(run, name, length);
            }
        }
    }
}

static void take_folder(const char *path, names *defined, names *run)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        char child[1024];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (!dot) {
            take_folder(child, defined, run);
        } else if (strcmp(dot, ".c") == 0) {
            char *text = read_file(child);
            take_names(text, defined, run);
            free(text);
        }
    }
    closedir(folder);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Rows of a group, or of a part of one: numbers are never given twice, so there may be gaps. */
typedef struct group {
    char letter;
    uint32_t first, last;
} group;

static const group groups[] = {{'A', 1, 13}, {'B', 1, 18},  {'C', 1, 21},
                               {'D', 1, 15}, {'E', 1, 31},  {'F', 1, 18},
                               {'G', 1, 28}, {'H', 1, 104}, {'I', 1, 32}};

/* Copies the n-th cell of a table's line. */
static void cell(const char *line, uint32_t n, char *out, size_t size)
{
    const char *at = line;
    for (uint32_t i = 0; i <= n; i++) {
        at = strchr(at, '|');
        assert_non_null(at);
        at++;
    }
    at += strspn(at, " ");
    const char *end = strchr(at, '|');
    assert_non_null(end);
    while (end > at && end[-1] == ' ') {
        end--;
    }
    assert_true((size_t)(end - at) < size);
    memcpy(out, at, (size_t)(end - at));
    out[end - at] = 0;
}

static void check_tests(const char *row, const char *list, const names *defined, const names *run)
{
    uint32_t count = 0;
    char name[NAME_SIZE];
    for (const char *at = strchr(list, '`'); at; at = strchr(at, '`')) {
        at++;
        size_t length = name_length(at);
        assert_true(length < sizeof name && at[length] == '`');
        memcpy(name, at, length);
        name[length] = 0;
        if (!has_name(defined, name)) {
            fail_msg("%s names %s, which is no test", row, name);
        }
        if (!has_name(run, name)) {
            fail_msg("%s names %s, which no program runs", row, name);
        }
        count++;
        at += length + 1;
    }
    if (count == 0) {
        fail_msg("%s names no test", row);
    }
}

/* Line by line: the next row of the contract, or nothing of it. */
static void check_row(const char *line, const char *expected, const names *defined,
                      const names *run)
{
    char row[8], promise[1024], tests[1024];
    cell(line, 0, row, sizeof row);
    cell(line, 1, promise, sizeof promise);
    cell(line, 2, tests, sizeof tests);
    assert_string_equal(row, expected);
    if (strlen(promise) < 20) {
        fail_msg("%s promises nothing", row);
    }
    int is_argued = strstr(promise, "Argued") != NULL;
    if (is_argued && strcmp(row, "F17") != 0 && strcmp(row, "E21") != 0) {
        fail_msg("%s is argued, and needs a test", row);
    }
    if (strcmp(row, "F17") == 0) {
        assert_true(is_argued);
        assert_string_equal(tests, "Argued");
    } else {
        check_tests(row, tests, defined, run);
    }
}

static void test_contract_rows_name_tests_that_are_run(void **state)
{
    (void)state;
    names *defined = calloc(1, sizeof *defined), *run = calloc(1, sizeof *run);
    assert_true(defined && run);
    take_folder(VYRE_SOURCE_DIR "/tests", defined, run);
    assert_true(has_name(defined, "test_contract_rows_name_tests_that_are_run"));
    assert_true(has_name(run, "test_contract_rows_name_tests_that_are_run"));
    char *text = read_file(VYRE_SOURCE_DIR "/docs/contract.md");
    uint32_t g = 0, number = groups[0].first, rows = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "| ", 2) != 0 || line[2] < 'A' || line[2] > 'Z') {
            continue;
        }
        char expected[8];
        assert_true(g < sizeof groups / sizeof *groups);
        snprintf(expected, sizeof expected, "%c%u", groups[g].letter, (unsigned)number);
        check_row(line, expected, defined, run);
        rows++;
        if (number++ == groups[g].last && ++g < sizeof groups / sizeof *groups) {
            number = groups[g].first;
        }
    }
    assert_int_equal(rows, 280);
    assert_int_equal(g, sizeof groups / sizeof *groups);
    free(text);
    free(defined);
    free(run);
}

static void test_contract_reads_names_as_they_are_written(void **state)
{
    (void)state;
    names *defined = calloc(1, sizeof *defined), *run = calloc(1, sizeof *run);
    assert_true(defined && run);
    take_names("static void test_one(void **state)\n{\n}\n"
               "static void test_two(int a)\n"
               "    T(test_one),\n cmocka_unit_test_setup_teardown(\n  test_three, a, b),\n"
               "#define T(test) cmocka_unit_test(test)\n",
               defined, run);
    assert_int_equal(defined->count, 1);
    assert_true(has_name(defined, "test_one"));
    assert_int_equal(run->count, 2);
    assert_true(has_name(run, "test_one") && has_name(run, "test_three"));
    free(defined);
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contract_rows_name_tests_that_are_run),
        cmocka_unit_test(test_contract_reads_names_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
