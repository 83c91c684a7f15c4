/* docs/troubleshooting.md: every code has its row, every message that it quotes is one of the
 * project's, and links within the documents lead to headings that are there. */
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

/* ---- Links ----------------------------------------------------------------------------------- */

/* A heading as links name it: small letters, '-' for blanks, without marks. */
static void name_heading(const char *text, size_t length, char *out, size_t room)
{
    size_t size = 0;
    for (size_t i = 0; i < length && size + 1 < room; i++) {
        unsigned char c = (unsigned char)text[i];
        if (isalnum(c) || c == '_' || c == '-' || c >= 0x80) {
            out[size++] = (char)tolower(c);
        } else if (c == ' ') {
            out[size++] = '-';
        }
    }
    out[size] = 0;
}

static bool has_heading(const char *document, const char *anchor)
{
    for (const char *at = strstr(document, "\n#"); at; at = strstr(at + 1, "\n#")) {
        char name[300];
        const char *text = at + 1 + strspn(at + 1, "#");
        size_t length = strcspn(text, "\n");
        if (*text != ' ') {
            continue;
        }
        name_heading(text + 1, length - 1, name, sizeof name);
        if (strcmp(name, anchor) == 0) {
            return true;
        }
    }
    return false;
}

/* Links of one document with a '#': gives how many. */
static uint32_t check_anchors(const char *name)
{
    char *text = get_source(name);
    uint32_t count = 0;
    for (const char *at = strstr(text, "]("); at; at = strstr(at + 1, "](")) {
        size_t length = strcspn(at + 2, ")"), to_mark = strcspn(at + 2, "#)");
        if (to_mark == length || strncmp(at + 2, "http", 4) == 0) {
            continue;
        }
        char path[300], anchor[300];
        const char *folder = strchr(name, '/') && to_mark ? "docs/" : "";
        snprintf(path, sizeof path, "%s%.*s", folder, (int)to_mark, at + 2);
        snprintf(anchor, sizeof anchor, "%.*s", (int)(length - to_mark - 1), at + 3 + to_mark);
        char *target = get_source(to_mark ? path : name);
        if (!has_heading(target, anchor)) {
            fail_msg("%s links to %.*s, and there is no such heading", name, (int)length, at + 2);
        }
        free(target);
        count++;
    }
    free(text);
    return count;
}

static void test_links_lead_to_headings(void **state)
{
    (void)state;
    static const char *const documents[] = {"README.md",          "docs/engine.md",
                                            "docs/language.md",   "docs/measurements.md",
                                            "docs/passes.md",     "docs/performance.md",
                                            "docs/renderer.md",   "docs/spirv-interface.md",
                                            "docs/tools.md",      "docs/troubleshooting.md",
                                            "docs/megakernel.md", "docs/comparison.md"};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        count += check_anchors(documents[i]);
    }
    assert_true(count > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_has_its_row),
        cmocka_unit_test(test_quoted_messages_are_there),
        cmocka_unit_test(test_links_lead_to_headings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
