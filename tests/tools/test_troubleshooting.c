/* docs/troubleshooting.md: every code has its row, every message that it quotes is one of the
 * project's. */
#define _XOPEN_SOURCE 700 /* nftw */

#include "tests/tools/support.h"
#include "vyre/result.h"

#include <ctype.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE VYRE_SOURCE_DIR "/"

static char *get_source(const char *name)
{
    char path[600];
    size_t size;
    snprintf(path, sizeof path, SOURCE "%s", name);
    char *text = get_file(path, &size);
    if (!text) {
        fail_msg("there is no %s", name);
    }
    return text;
}

/* ---- Codes ----------------------------------------------------------------------------------- */

static void test_every_code_has_its_row(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int number;
    } codes[] = {
#define VYRE_X(name, number, text, next) {#name, number},
        VYRE_RESULTS(VYRE_X)
#undef VYRE_X
    };
    char *document = get_source("docs/troubleshooting.md");
    uint32_t rows = 0;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char row[100];
        snprintf(row, sizeof row, "\n| `VYRE_%s` | %d | ", codes[i].name, codes[i].number);
        if (!strstr(document, row)) {
            fail_msg("docs/troubleshooting.md has no row that begins with:%s", row);
        }
    }
    for (const char *at = strstr(document, "\n| `VYRE_"); at; at = strstr(at + 1, "\n| `VYRE_")) {
        rows++;
    }
    assert_int_equal(rows, sizeof codes / sizeof codes[0]);
    free(document);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The sources of engine, compiler and tools, with what stands between two parts of a string left
 * out. */
static vy_text sources;

static int add_source(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    size_t size, length = strlen(path);
    (void)about;
    (void)where;
    if (kind != FTW_F || length < 2 || strcmp(path + length - 2, ".c") != 0) {
        return 0;
    }
    char *text = get_file(path, &size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        size_t next = i + 1;
        while (text[i] == '"' && isspace((unsigned char)text[next])) {
            next++;
        }
        if (text[i] == '"' && next > i + 1 && text[next] == '"') {
            i = next;
        } else {
            vy_text_append(&sources, &text[i], 1);
        }
    }
    free(text);
    return 0;
}

/* What stands between "..." of a quotation is said by one message; here each part is looked for. */
static void check_quotation(const char *text, size_t length)
{
    char copy[200];
    assert_true(length > 3 && length < sizeof copy);
    memcpy(copy, text, length);
    copy[length] = 0;
    for (char *part = copy, *end; part; part = end) {
        end = strstr(part, " ... ");
        if (end) {
            *end = 0;
            end += strlen(" ... ");
        }
        if (!strstr(sources.data, part)) {
            fail_msg("docs/troubleshooting.md quotes a message with '%s', which is in none", part);
        }
    }
}

static void test_quoted_messages_are_there(void **state)
{
    (void)state;
    static const char *const folders[] = {"engine", "codegen", "tools"};
    vy_text_init(&sources, NULL);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char path[600];
        snprintf(path, sizeof path, SOURCE "%s", folders[i]);
        assert_int_equal(nftw(path, add_source, 16, FTW_PHYS), 0);
    }
    vy_text_append(&sources, "", 1);
    assert_true(sources.size > 1000000);

    char *document = get_source("docs/troubleshooting.md");
    const char *begin = strstr(document, "\n## Messages\n");
    assert_non_null(begin);
    const char *end = strstr(begin, "\n### ");
    assert_non_null(end);
    uint32_t count = 0;
    for (const char *line = strstr(begin, "\n| "); line && line < end;
         line = strstr(line + 1, "\n| ")) {
        const char *cell_end = strstr(line + 3, " | ");
        for (const char *at = strchr(line, '"'); at && at < cell_end; at = strchr(at, '"')) {
            const char *close = strchr(at + 1, '"');
            assert_non_null(close);
            check_quotation(at + 1, (size_t)(close - at) - 1);
            at = close + 1;
            count++;
        }
    }
    assert_true(count > 30);
    free(document);
    vy_text_finish(&sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_has_its_row),
        cmocka_unit_test(test_quoted_messages_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
