#include "tests/tools/docs.h"

#include "tests/tools/support.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DOCUMENTS 64
#define LEAST_REASON   8 /* letters of a comment that says why */

static struct {
    const char *document; /* a literal of the caller's */
    uint32_t line;
} taken[400];
static uint32_t taken_count;

char **docs_list(void)
{
    static const char find[] = "cd \"$1\" && { ls *.md; find docs engine codegen examples include "
                               "shaders tests tools -name "
                               "'*.md'; } | LC_ALL=C sort";
    char **list = calloc(MOST_DOCUMENTS + 1, sizeof *list);
    uint32_t count = 0;
    size_t size;
    assert_non_null(list);
    enter_folder("docs-list");
    assert_int_equal(run_tool("/usr/bin/env", "bash", "-c", find, "bash", VYRE_SOURCE_DIR, NULL),
                     0);
    char *names = get_file("out", &size);
    for (char *at = names; *at;) {
        size_t length = strcspn(at, "\n");
        assert_true(count < MOST_DOCUMENTS && at[length] == '\n');
        list[count] = malloc(length + 1);
        assert_non_null(list[count]);
        memcpy(list[count], at, length);
        list[count++][length] = 0;
        at += length + 1;
    }
    assert_true(count > 15);
    free(names);
    return list;
}

void docs_free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++) {
        free(list[i]);
    }
    free(list);
}

char *docs_get(const char *name)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, name);
    char *text = get_file(path, &size);
    if (!text) {
        fail_msg("there is no %s", name);
    }
    return text;
}

static size_t line_size(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? (size_t)(end - at) + 1 : strlen(at);
}

/* Behind the `begin` of the comment that ends right above `fence`; NULL: there is none. */
static const char *find_mark(const char *comment, const char *fence, const char *begin,
                             size_t *out_size)
{
    size_t length = strlen(begin);
    if (!comment || strncmp(comment, begin, length) != 0) {
        return NULL;
    }
    const char *end = strstr(comment + length, " -->\n");
    if (!end || end + 5 != fence) {
        return NULL;
    }
    *out_size = (size_t)(end - comment) - length;
    return comment + length;
}

bool docs_next_block(const char **at, uint32_t *line, vy_block *out)
{
    const char *comment = NULL; /* the last one */
    memset(out, 0, sizeof *out);
    for (const char *p = *at; *p; p += line_size(p)) {
        ++*line;
        size_t indent = strspn(p, " ");
        if (!out->text && strncmp(p + indent, "```", 3) == 0) {
            size_t length = strcspn(p + indent + 3, " \r\n");
            out->line = *line;
            out->indent = (uint32_t)indent;
            snprintf(out->language, sizeof out->language, "%.*s", (int)length, p + indent + 3);
            out->text = p + line_size(p);
            out->not_run = find_mark(comment, p, "<!-- not run: ", &out->mark_size);
            out->left_out =
                out->not_run ? NULL : find_mark(comment, p, "<!-- left out: ", &out->mark_size);
        } else if (out->text && strncmp(p + indent, "```", 3) == 0) {
            out->size = (size_t)(p - out->text);
            *at = p + line_size(p);
            return true;
        }
        comment = strncmp(p + indent, "<!--", 4) == 0 ? p + indent : comment;
    }
    if (out->text) {
        fail_msg("the block of line %u has no end", (unsigned)out->line);
    }
    return false;
}

void docs_note_run(const char *document, const vy_block *block)
{
    assert_true(taken_count < VY_COUNT_OF(taken));
    taken[taken_count].document = document;
    taken[taken_count++].line = block->line;
}

char *docs_copy(const vy_block *block)
{
    char *copy = malloc(block->size + 1);
    assert_non_null(copy);
    memcpy(copy, block->text, block->size);
    copy[block->size] = 0;
    return copy;
}

char *docs_join(const char *document, const char *language, const char *file)
{
    vy_text out;
    vy_block block;
    uint32_t line = 0;
    char *text = docs_get(document);
    const char *at = text;
    vy_text_init(&out, NULL);
    while (docs_next_block(&at, &line, &block)) {
        if (block.not_run || strcmp(block.language, language) != 0) {
            continue;
        }
        docs_note_run(document, &block);
        if (file) {
            vy_text_printf(&out, "#line %u \"%s\"\n", (unsigned)block.line + 1, file);
        }
        vy_text_append(&out, block.text, block.size);
    }
    vy_text_append(&out, "", 1);
    char *copy = malloc(out.size);
    assert_non_null(copy);
    memcpy(copy, out.data, out.size);
    vy_text_finish(&out);
    free(text);
    return copy;
}

uint32_t docs_find_unrun(const char *document, const char *text)
{
    vy_block block;
    uint32_t line = 0;
    while (docs_next_block(&text, &line, &block)) {
        bool is_run = false;
        for (uint32_t i = 0; i < taken_count && !is_run; i++) {
            is_run = taken[i].line == block.line && strcmp(taken[i].document, document) == 0;
        }
        if (!is_run && !(block.not_run && block.mark_size >= LEAST_REASON)) {
            return block.line;
        }
    }
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at)) {
        at++;
    }
    return at;
}

bool docs_matches(const char *wanted, const char *printed)
{
    const char *retry = NULL, *rest = NULL; /* behind the last "...", and what it left */
    wanted = skip_blanks(wanted);
    printed = skip_blanks(printed);
    for (;;) {
        if (strncmp(wanted, "...", 3) == 0) {
            retry = wanted = skip_blanks(wanted + 3);
            rest = printed = skip_blanks(printed);
            continue;
        }
        bool blank = is_blank(*wanted) || is_blank(*printed);
        const char *a = skip_blanks(wanted), *b = skip_blanks(printed);
        if (!*a && !*b) {
            return true;
        }
        if (blank && strncmp(a, "...", 3) == 0) {
            wanted = a;
        } else if (blank && is_blank(*wanted) && is_blank(*printed)) {
            wanted = a;
            printed = b;
        } else if (*wanted && *wanted == *printed) {
            wanted++;
            printed++;
        } else if (retry && !*retry) {
            return true;
        } else if (retry && *rest) {
            wanted = retry;
            printed = ++rest;
        } else {
            return false;
        }
    }
}
