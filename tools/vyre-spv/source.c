/* The program's lines above their assembly. Words and assembly are walked side by side: each
 * instruction has one line of assembly, and as many more as its text has ends of lines. */
#include "tools/vyre-spv/spv.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_SET "NonSemantic.Shader.DebugInfo.100"
#define MOST_IDS  4194303u
#define IS(name)  ((uint32_t)NonSemanticShaderDebugInfo100##name)

typedef struct walk {
    const module *m;
    uint32_t bound, set;    /* set: the id of the debug information's, or 0 */
    const uint32_t **found; /* by id: the OpString, OpConstant or OpExtInst that makes it */
    vy_text own;            /* the text that the module has */
    const char *text, *file;
    size_t size;
    size_t *lines; /* where each begins */
    size_t line_count;
} walk;

typedef struct place {
    const char *file; /* NULL: that of the text */
    uint32_t line;    /* 0: not known */
} place;

/* ---- Words ----------------------------------------------------------------------------------- */

/* Word of an instruction that its text begins at; 0: it has none. */
static uint32_t text_word(uint32_t op)
{
    switch (op) {
    case SpvOpSourceContinued:
    case SpvOpSourceExtension:
    case SpvOpExtension:
    case SpvOpModuleProcessed:
        return 1;
    case SpvOpString:
    case SpvOpName:
    case SpvOpExtInstImport:
        return 2;
    case SpvOpMemberName:
    case SpvOpEntryPoint:
    case SpvOpDecorateString:
        return 3;
    case SpvOpSource:
    case SpvOpMemberDecorateString:
        return 4;
    default:
        return 0;
    }
}

/* Its text, up to a zero or the instruction's end. */
static const char *text_of(const uint32_t *words, size_t *out_size)
{
    uint32_t at = text_word(words[0] & 0xffffu), length = words[0] >> 16;
    *out_size = 0;
    if (!at || at >= length) {
        return "";
    }
    const char *text = (const char *)(words + at);
    const char *end = memchr(text, 0, (length - at) * sizeof *words);
    *out_size = end ? (size_t)(end - text) : (length - at) * sizeof *words;
    return text;
}

static uint32_t line_count(const uint32_t *words)
{
    size_t size;
    const char *text = text_of(words, &size);
    uint32_t count = 1;
    for (size_t i = 0; i < size; i++) {
        count += text[i] == '\n';
    }
    return count;
}

static const uint32_t *made_by(const walk *w, uint32_t id, SpvOp op)
{
    const uint32_t *words = id < w->bound ? w->found[id] : NULL;
    return words && (words[0] & 0xffffu) == (uint32_t)op ? words : NULL;
}

/* A string with a zero behind it, or NULL. */
static const char *string_of(const walk *w, uint32_t id)
{
    const uint32_t *words = made_by(w, id, SpvOpString);
    size_t size = 0;
    const char *text = words ? text_of(words, &size) : NULL;
    return text && size < ((words[0] >> 16) - 2) * sizeof *words ? text : NULL;
}

/* The number of an instruction of the debug information, or UINT32_MAX. */
static uint32_t debug_number(const walk *w, const uint32_t *words)
{
    bool is_debug =
        (words[0] & 0xffffu) == SpvOpExtInst && words[0] >> 16 >= 5 && w->set && words[3] == w->set;
    return is_debug ? words[4] : UINT32_MAX;
}

/* ---- What the module has of the text --------------------------------------------------------- */

static void append_string(walk *w, uint32_t id)
{
    size_t size;
    const uint32_t *words = made_by(w, id, SpvOpString);
    const char *text = words ? text_of(words, &size) : NULL;
    if (text) {
        vy_text_append(&w->own, text, size);
    }
}

/* The first text, whole. */
static void find_own_text(walk *w)
{
    bool is_begun = false, is_over = false;
    for (size_t at = 5; at < w->m->count; at += w->m->words[at] >> 16) {
        const uint32_t *words = w->m->words + at;
        uint32_t op = words[0] & 0xffffu, length = words[0] >> 16, number = debug_number(w, words);
        size_t size;
        if (op == SpvOpSource || number == IS(DebugSource)) {
            is_over = is_begun;
        }
        if (is_over) {
            continue;
        }
        if (op == SpvOpSource && length > 4) {
            w->file = string_of(w, words[3]);
            const char *text = text_of(words, &size);
            vy_text_append(&w->own, text, size);
            is_begun = true;
        } else if (op == SpvOpSourceContinued && is_begun) {
            const char *text = text_of(words, &size);
            vy_text_append(&w->own, text, size);
        } else if (number == IS(DebugSource) && length > 6) {
            w->file = string_of(w, words[5]);
            append_string(w, words[6]);
            is_begun = true;
        } else if (number == IS(DebugSourceContinued) && length > 5 && is_begun) {
            append_string(w, words[5]);
        }
    }
    w->text = is_begun ? w->own.data : NULL;
    w->size = w->own.size;
}

static bool find_lines(walk *w)
{
    size_t count = 1;
    for (size_t i = 0; i < w->size; i++) {
        count += w->text[i] == '\n';
    }
    w->lines = calloc(count, sizeof *w->lines);
    for (size_t i = 0; w->lines && w->text && i < w->size; i++) {
        if (i == 0 || w->text[i - 1] == '\n') {
            w->lines[w->line_count++] = i;
        }
    }
    return w->lines != NULL;
}

static bool begin(walk *w, const module *m, const char *source)
{
    *w = (walk){.m = m, .bound = m->words[3] < MOST_IDS ? m->words[3] : MOST_IDS};
    vy_text_init(&w->own, NULL);
    w->found = calloc((size_t)w->bound + 1, sizeof *w->found);
    if (!w->found) {
        return false;
    }
    for (size_t at = 5; at < m->count; at += m->words[at] >> 16) {
        const uint32_t *words = m->words + at;
        uint32_t op = words[0] & 0xffffu, length = words[0] >> 16;
        uint32_t id = op == SpvOpString && length > 2 ? words[1]
                      : (op == SpvOpConstant && length > 3) || (op == SpvOpExtInst && length > 4)
                          ? words[2]
                          : 0;
        if (id && id < w->bound) {
            w->found[id] = words;
        }
        size_t size;
        if (op == SpvOpExtInstImport && length > 2) {
            const char *name = text_of(words, &size);
            bool is_set = size == sizeof DEBUG_SET - 1 && memcmp(name, DEBUG_SET, size) == 0;
            w->set = is_set ? words[1] : w->set;
        }
    }
    if (source) {
        w->text = source;
        w->size = strlen(source);
    } else {
        find_own_text(w);
    }
    return !w->own.failed && find_lines(w);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static uint32_t constant_of(const walk *w, uint32_t id)
{
    const uint32_t *words = made_by(w, id, SpvOpConstant);
    return words ? words[3] : 0;
}

static void set_file(const walk *w, const char *file, place *out)
{
    bool is_own = !file || !w->file || strcmp(file, w->file) == 0;
    out->file = is_own ? NULL : file;
}

/* Whether the instruction says of others where they come from; then, what it says. */
static bool is_place(const walk *w, const uint32_t *words, place *inout)
{
    uint32_t op = words[0] & 0xffffu, length = words[0] >> 16, number = debug_number(w, words);
    if (op == SpvOpLine && length > 3) {
        inout->line = words[2];
        set_file(w, string_of(w, words[1]), inout);
        return true;
    }
    if (number == IS(DebugLine) && length > 6) {
        const uint32_t *source = made_by(w, words[5], SpvOpExtInst);
        inout->line = constant_of(w, words[6]);
        set_file(w, source && source[0] >> 16 > 5 ? string_of(w, source[5]) : NULL, inout);
        return true;
    }
    if (op == SpvOpNoLine || number == IS(DebugNoLine)) {
        inout->line = 0;
        return true;
    }
    return number != UINT32_MAX; /* scopes and values stay with what follows */
}

/* "; 26 |     let m = four(x[i] + e)" */
static void write_line(const walk *w, const place *at, vy_text *out)
{
    enum { COLUMN = 15 };
    bool is_there = !at->file && at->line <= w->line_count;
    vy_text_printf(out, "%*s; ", COLUMN, "");
    if (!is_there) {
        vy_text_printf(out, "%s%sline %u\n", at->file ? at->file : "", at->file ? ", " : "",
                       at->line);
        return;
    }
    const char *line = w->text + w->lines[at->line - 1];
    size_t rest = w->size - w->lines[at->line - 1];
    const char *end = memchr(line, '\n', rest);
    size_t length = end ? (size_t)(end - line) : rest;
    while (length && (line[length - 1] == '\r' || line[length - 1] == ' ')) {
        length--;
    }
    vy_text_printf(out, "%u | ", at->line);
    vy_text_append(out, line, length);
    vy_text_printf(out, "\n");
}

static const char *skip_lines(const char *at, uint32_t count)
{
    for (; count && *at; count--) {
        const char *end = strchr(at, '\n');
        at = end ? end + 1 : at + strlen(at);
    }
    return at;
}

static void write_all(const walk *w, const char *assembly, bool hides_lines, vy_text *out)
{
    const char *at = assembly, *held = NULL;
    place now = {0}, shown = {0};
    while (*at == ';') {
        at = skip_lines(at, 1);
    }
    vy_text_append(out, assembly, (size_t)(at - assembly));
    for (size_t i = 5; i < w->m->count; i += w->m->words[i] >> 16) {
        const uint32_t *words = w->m->words + i;
        const char *next = skip_lines(at, line_count(words));
        uint32_t op = words[0] & 0xffffu;
        if (op == SpvOpFunctionEnd) {
            now = shown = (place){0};
        }
        if (is_place(w, words, &now)) {
            bool is_hidden = hides_lines && (op == SpvOpLine || op == SpvOpNoLine);
            held = held || is_hidden ? held : at;
        } else {
            bool is_new = now.line != shown.line || now.file != shown.file;
            if (now.line && is_new) {
                write_line(w, &now, out);
                shown = now;
            }
            const char *first = held ? held : at;
            vy_text_append(out, first, (size_t)(next - first));
            held = NULL;
        }
        at = next;
    }
    vy_text_append(out, at, strlen(at));
}

vyre_result add_source(const module *m, const char *source, bool hides_lines, vy_text *text,
                       vyre_diag *diag)
{
    walk w;
    vy_text out;
    vy_text_init(&out, NULL);
    bool is_begun = begin(&w, m, source);
    if (is_begun && text->data) {
        write_all(&w, text->data, hides_lines, &out);
    }
    bool failed = !is_begun || out.failed;
    free(w.found);
    free(w.lines);
    vy_text_finish(&w.own);
    if (failed) {
        vy_text_finish(&out);
        return vy_diag_no_memory(diag);
    }
    vy_text_finish(text);
    *text = out;
    return VYRE_OK;
}
