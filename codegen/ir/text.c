/* Errors as people read them, and the release of printed text. */
#include "vyre/text.h"

#include "codegen/base/base.h"

#include <stdio.h>
#include <string.h>

#define MAX_SHOWN 100 /* bytes of a source line */

void vyre_text_free(const vyre_allocator *allocator, char *text, size_t size)
{
    vyre_allocator memory = vy_allocator_or_default(allocator);
    if (text) {
        vy_free(&memory, text, size + 1);
    }
}

/* Text into a buffer of fixed size; what does not fit is left out. */
typedef struct fixed_text {
    char *out;
    size_t size, capacity; /* with the final zero */
} fixed_text;

static void put(fixed_text *text, char c)
{
    if (text->size + 1 < text->capacity) {
        text->out[text->size++] = c;
        text->out[text->size] = '\0';
    }
}

static void put_text(fixed_text *text, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && bytes[i]; i++) {
        put(text, bytes[i]);
    }
}

/* The bytes [*begin, *end) of a line from 1, without its end. */
static bool find_line(const char *text, size_t size, uint32_t line, size_t *begin, size_t *end)
{
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (uint32_t i = 1; i < line; i++) {
        const char *newline = at < size ? memchr(text + at, '\n', size - at) : NULL;
        if (!newline) {
            return false;
        }
        at = (size_t)(newline - text) + 1;
    }
    const char *newline = at < size ? memchr(text + at, '\n', size - at) : NULL;
    *begin = at;
    *end = newline ? (size_t)(newline - text) : size;
    if (*end > *begin && text[*end - 1] == '\r') {
        (*end)--;
    }
    return true;
}

static void put_line(fixed_text *out, const char *text, size_t begin, size_t end, uint32_t column)
{
    size_t caret = begin + (column > 0 ? column - 1 : 0);
    if (caret > end) {
        caret = end;
    }
    /* Of a long line the part around the place. */
    size_t from = caret - begin > MAX_SHOWN * 3 / 4 ? caret - MAX_SHOWN / 2 : begin;
    size_t to = end - from > MAX_SHOWN ? from + MAX_SHOWN : end;
    put_text(out, "\n    ", 5);
    put_text(out, from > begin ? "..." : "", 3);
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)text[i];
        put(out, c == '\t' || c >= 0x80 || (c >= ' ' && c < 0x7f) ? text[i] : '?');
    }
    put_text(out, to < end ? "..." : "", 3);
    put_text(out, "\n    ", 5);
    put_text(out, from > begin ? "   " : "", 3);
    for (size_t i = from; i < caret; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c & 0xc0) != 0x80) { /* the later bytes of a UTF-8 character take no column */
            put(out, c == '\t' ? '\t' : ' ');
        }
    }
    put(out, '^');
}

size_t vyre_diag_format(const vyre_diag *diag, const char *text, size_t text_size, char *out,
                        size_t out_size)
{
    if (!out || out_size == 0) {
        return 0;
    }
    out[0] = '\0';
    if (!diag) {
        return 0;
    }
    fixed_text to = {out, 0, out_size};
    char place[32];
    put_text(&to, diag->file, sizeof diag->file);
    if (diag->line > 0) {
        snprintf(place, sizeof place, "%s%u:%u", diag->file[0] ? ":" : "", (unsigned)diag->line,
                 (unsigned)diag->column);
        put_text(&to, place, sizeof place);
    }
    put_text(&to, to.size > 0 ? ": " : "", 2);
    put_text(&to, "error: ", 7);
    const char *message = diag->message[0] ? diag->message : vyre_result_text(diag->code);
    put_text(&to, message, sizeof diag->message);
    size_t begin, end;
    if (text && diag->line > 0 && find_line(text, text_size, diag->line, &begin, &end)) {
        put_line(&to, text, begin, end, diag->column);
    }
    return to.size;
}
