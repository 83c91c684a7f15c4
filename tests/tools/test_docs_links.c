/* What the documents name is there: files and headings that links lead to, functions and types of
 * the library, figures that were measured. */
#include "tests/tools/docs.h"
#include "tests/tools/support.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **documents;

static int find_documents(void **state)
{
    (void)state;
    documents = docs_list();
    return 0;
}

static int forget_documents(void **state)
{
    (void)state;
    docs_free_list(documents);
    return 0;
}

static bool is_word_letter(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The path of a link to `target` in the document; the file's size is returned in front of a '#'. */
static size_t get_link(const char *document, const char *target, char path[600])
{
    size_t length = strcspn(target, ")#");
    const char *slash = strrchr(document, '/');
    int folder = slash ? (int)(slash - document) + 1 : 0;
    if (length == 0) { /* the document itself */
        snprintf(path, 600, "%s", document);
    } else {
        snprintf(path, 600, "%.*s%.*s", folder, document, (int)length, target);
    }
    return length;
}

static void test_docs_links_lead_somewhere(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (size_t d = 0; documents[d]; d++) {
        char *text = docs_get(documents[d]);
        for (const char *at = strstr(text, "]("); at; at = strstr(at + 1, "](")) {
            char link[600], path[1200];
            if (strncmp(at + 2, "http", 4) == 0 || strncmp(at + 2, "mailto:", 7) == 0) {
                continue;
            }
            get_link(documents[d], at + 2, link);
            snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, link);
            if (access(path, R_OK) != 0) {
                fail_msg("%s links to %s, which is not there", documents[d], link);
            }
            count++;
        }
        free(text);
    }
    assert_true(count > 60);
}

/* A heading's anchor: small letters, '-' for blanks, and of signs '-' and '_' alone. */
static bool is_anchor_of(const char *heading, size_t length, const char *anchor, size_t size)
{
    size_t made = 0;
    for (size_t i = 0; i < length; i++) {
        char c = heading[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        } else if (c == ' ') {
            c = '-';
        } else if (!is_word_letter(c) && c != '-') {
            continue;
        }
        if (made == size || anchor[made] != c) {
            return false;
        }
        made++;
    }
    return made == size;
}

static bool has_anchor(const char *text, const char *anchor, size_t size)
{
    bool inside = false;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n"), level = strspn(at, "#");
        inside ^= strncmp(at, "```", 3) == 0;
        if (!inside && level > 0 && at[level] == ' ' &&
            is_anchor_of(at + level + 1, length - level - 1, anchor, size)) {
            return true;
        }
        at += length + (at[length] != 0);
    }
    return false;
}

static void test_docs_anchors_are_those_of_headings(void **state)
{
    (void)state;
    static const char page[] = "# One thing: `x.y`, and 2\n```\n# no heading\n```\n## B_c-d\n";
    assert_true(has_anchor(page, "one-thing-xy-and-2", 18));
    assert_true(has_anchor(page, "b_c-d", 5));
    assert_false(has_anchor(page, "no-heading", 10));
    assert_false(has_anchor(page, "b_c", 3));
    uint32_t count = 0;
    for (size_t d = 0; documents[d]; d++) {
        char *text = docs_get(documents[d]);
        for (const char *at = strstr(text, "]("); at; at = strstr(at + 1, "](")) {
            char link[600];
            const char *anchor = at + 2 + strcspn(at + 2, ")#");
            if (*anchor != '#' || strncmp(at + 2, "http", 4) == 0) {
                continue;
            }
            get_link(documents[d], at + 2, link);
            char *page_text = docs_get(link);
            size_t size = strcspn(++anchor, ")");
            if (!has_anchor(page_text, anchor, size)) {
                fail_msg("%s links to %s#%.*s, and there is no such heading", documents[d], link,
                         (int)size, anchor);
            }
            free(page_text);
            count++;
        }
        free(text);
    }
    assert_true(count > 30);
}

/* The word with nothing of a word on either side. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        if ((at == text || !is_word_letter(at[-1])) && !is_word_letter(at[length])) {
            return true;
        }
    }
    return false;
}

/* ---- Files and options ----------------------------------------------------------------------- */

static bool is_path_letter(char c)
{
    return is_word_letter(c) || c == '/' || c == '.' || c == '-' || c == '*';
}

/* Paths that begin with a folder of the project's, and patterns of paths, are there. */
static void test_docs_name_files_that_are_there(void **state)
{
    (void)state;
    static const char *const folders[] = {"docs/",   "tools/",    "tests/",        "codegen/",
                                          "engine/", "examples/", "include/vyre/", "shaders/"};
    vy_text list;
    uint32_t count = 0;
    vy_text_init(&list, NULL);
    for (size_t d = 0; documents[d]; d++) {
        char *text = docs_get(documents[d]);
        for (const char *at = text; *at; at++) {
            size_t length = 0;
            for (size_t f = 0; f < VY_COUNT_OF(folders) && !length; f++) {
                bool begins = at == text || (!is_path_letter(at[-1]) && at[-1] != '(');
                if (begins && strncmp(at, folders[f], strlen(folders[f])) == 0) {
                    while (is_path_letter(at[length])) {
                        length++;
                    }
                }
            }
            while (length && strchr(".-", at[length - 1])) {
                length--;
            }
            if (length) {
                vy_text_printf(&list, "%s %.*s\n", documents[d], (int)length, at);
                at += length - 1;
                count++;
            }
        }
        free(text);
    }
    assert_true(count > 150);
    enter_folder("docs-list");
    put_text("names", list.data);
    vy_text_finish(&list);
    /* Some are named without their suffix: tests, and parts of the library. */
    static const char look[] =
        "while read -r from name; do\n"
        "    for way in \"$1/$name\" \"$1/$name.c\" \"$1/include/$name\"; do\n"
        "        compgen -G \"$way\" >/dev/null && continue 2\n"
        "    done\n"
        "    echo \"$from names $name, which is not there\"\n"
        "done <names\n";
    assert_int_equal(run_tool("/usr/bin/env", "bash", "-c", look, "bash", VYRE_SOURCE_DIR, NULL),
                     0);
    size_t size;
    char *missing = get_file("out", &size);
    assert_string_equal(missing, "");
    free(missing);
}

/* Options are those of a tool, of a script or of the programs that are named beside them. */
static void test_docs_name_options_that_there_are(void **state)
{
    (void)state;
    static const char all[] =
        "for tool in \"$1\"/bin/vyre-{bench,demo,run,scan,spv} \"$2\"/tools/*.sh; do\n"
        "    \"$tool\" --help || exit 1\n"
        "done\n"
        /* cmake, ctest, pkg-config, examples/renderer */
        "printf '  %s \\n' --install --prefix --build --fresh --test-dir --static --headless "
        "--frames --png\n";
    enter_folder("docs-list");
    assert_int_equal(
        run_tool("/usr/bin/env", "bash", "-c", all, "bash", VYRE_BINARY_DIR, VYRE_SOURCE_DIR, NULL),
        0);
    size_t size;
    char *help = get_file("out", &size);
    uint32_t count = 0;
    for (size_t d = 0; documents[d]; d++) {
        char *text = docs_get(documents[d]);
        for (const char *at = strstr(text, "--"); at; at = strstr(at + 2, "--")) {
            char option[80];
            size_t length = 2;
            while (is_word_letter(at[length]) || at[length] == '-') {
                length++;
            }
            bool begins = at == text || strchr(" `(\n\"", at[-1]) != NULL;
            if (!begins || length < 4 || at[2] == '-' || length + 1 > sizeof option) {
                continue;
            }
            snprintf(option, sizeof option, "%.*s", (int)length, at);
            if (!has_word(help, option)) {
                fail_msg("%s names %s, which is no option", documents[d], option);
            }
            count++;
        }
        free(text);
    }
    assert_true(count > 150);
    free(help);
}

/* All public headers, one after the other, and what the CMake package defines. */
static char *get_headers(void)
{
    static const char *const names[] = {
        "include/vyre/buffer.h",     "include/vyre/device.h",  "include/vyre/dispatch.h",
        "include/vyre/dispatcher.h", "include/vyre/interp.h",  "include/vyre/kernel.h",
        "include/vyre/megakernel.h", "include/vyre/program.h", "include/vyre/result.h",
        "include/vyre/scan.h",       "include/vyre/text.h",    "include/vyre/vma.h",
        "include/vyre/vulkan.h",     "include/vyre/vyre.h",    "tools/cmake/VyreAddKernel.cmake"};
    vy_text out;
    vy_text_init(&out, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *text = docs_get(names[i]);
        vy_text_append(&out, text, strlen(text));
        free(text);
    }
    vy_text_append(&out, "", 1);
    char *copy = malloc(out.size);
    assert_non_null(copy);
    memcpy(copy, out.data, out.size);
    vy_text_finish(&out);
    return copy;
}

/* Functions, types and constants that a document for users of the engine names are there; names
 * that end in _ stand for several. */
static void check_names(const char *document, const char *prefix, const char *headers)
{
    char *text = docs_get(document);
    uint32_t count = 0;
    for (const char *at = strstr(text, prefix); at; at = strstr(at + 1, prefix)) {
        char word[80];
        size_t length = 0;
        while (is_word_letter(at[length]) && length + 1 < sizeof word) {
            word[length] = at[length];
            length++;
        }
        word[length] = 0;
        bool is_inside = at != text && (is_word_letter(at[-1]) || at[-1] == '-');
        if (is_inside || word[length - 1] == '_') {
            continue;
        }
        char row[sizeof word + 8]; /* of a list of results */
        snprintf(row, sizeof row, "X(%s,", word + 5);
        if (!has_word(headers, word) && !strstr(headers, row)) {
            fail_msg("%s names %s, which no header has", document, word);
        }
        count++;
    }
    assert_true(count > 3);
    free(text);
}

static void test_docs_name_what_there_is(void **state)
{
    (void)state;
    char *headers = get_headers();
    static const char *const names[] = {"docs/engine.md", "docs/renderer.md", "docs/megakernel.md",
                                        "docs/scan.md", "docs/troubleshooting.md"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_names(names[i], "vyre_", headers);
        check_names(names[i], "VYRE_", headers);
    }
    free(headers);
}

static bool has_figure(const char *text, const char *figure, size_t length)
{
    for (const char *at = strstr(text, figure); at; at = strstr(at + 1, figure)) {
        bool is_whole = at == text || !strchr("0123456789.,", at[-1]);
        bool ends =
            !strchr("0123456789.", at[length]) && !(at[length] == ',' && at[length + 1] != ' ');
        if (is_whole && ends) {
            return true;
        }
    }
    return false;
}

/* Microseconds in the tables of docs/comparison.md are figures of docs/measurements.md; they stand
 * behind the first cell of a row. */
static void test_docs_compare_by_measured_figures(void **state)
{
    (void)state;
    char *text = docs_get("docs/comparison.md"), *source = docs_get("docs/measurements.md");
    const char *at = strstr(text, "\n## What was measured\n");
    assert_non_null(at);
    uint32_t count = 0;
    bool is_first_cell = true;
    for (at = strchr(at + 1, '\n'); at && strncmp(at, "\n## ", 4) != 0 && *at; at++) {
        size_t length = strspn(at, "0123456789.");
        if (*at == '\n') {
            is_first_cell = true;
        } else if (strncmp(at, " | ", 3) == 0) {
            is_first_cell = false;
        } else if (!is_first_cell && length > 1) {
            char figure[40];
            snprintf(figure, sizeof figure, "%.*s", (int)length, at);
            /* What a head of a table says is no time: "1,000". */
            if (at[length] != ',' && at[-1] != ',' && strcmp(figure, "10") &&
                strcmp(figure, "100") && !has_figure(source, figure, length)) {
                fail_msg("docs/comparison.md says %s, and docs/measurements.md does not", figure);
            }
            count++;
            at += length - 1;
        }
    }
    assert_true(count > 20);
    free(text);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docs_links_lead_somewhere),
        cmocka_unit_test(test_docs_anchors_are_those_of_headings),
        cmocka_unit_test(test_docs_name_files_that_are_there),
        cmocka_unit_test(test_docs_name_options_that_there_are),
        cmocka_unit_test(test_docs_name_what_there_is),
        cmocka_unit_test(test_docs_compare_by_measured_figures),
    };
    return cmocka_run_group_tests(tests, find_documents, forget_documents);
}
