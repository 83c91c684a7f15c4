/* Growing text. */
#include "codegen/base/base.h"

#include <stdio.h>
#include <string.h>

void vy_text_init(vy_text *text, const vyre_allocator *allocator)
{
    *text = (vy_text){.allocator = vy_allocator_or_default(allocator)};
}

void vy_text_finish(vy_text *text)
{
    vy_free(&text->allocator, text->data, text->capacity);
    text->data = NULL;
    text->size = text->capacity = 0;
}

/* Room for `more` bytes and a final zero. */
static bool reserve(vy_text *text, size_t more)
{
    size_t need = 0;
    if (text->failed) {
        return false;
    }
    if (!vy_add_size(text->size, more, &need) || !vy_add_size(need, 1, &need)) {
        text->failed = true;
        return false;
    }
    if (need <= text->capacity) {
        return true;
    }
    size_t capacity = text->capacity > SIZE_MAX / 2 ? need : text->capacity * 2;
    if (capacity < need) {
        capacity = need;
    }
    if (capacity < 64) {
        capacity = 64;
    }
    char *grown = vy_realloc(&text->allocator, text->data, text->capacity, capacity);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->data = grown;
    text->capacity = capacity;
    return true;
}

void vy_text_append(vy_text *text, const char *bytes, size_t size)
{
    if (!reserve(text, size)) {
        return;
    }
    if (size) {
        memcpy(text->data + text->size, bytes, size);
    }
    text->size += size;
    text->data[text->size] = 0;
}

void vy_text_printf(vy_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0) {
        text->failed = true;
    }
    if (size < 0 || !reserve(text, (size_t)size)) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)size;
}

/* ---- In a caller's room ---------------------------------------------------------------------- */

void vy_fixed_text_printf(vy_fixed_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = text->length < text->size ? text->size - text->length : 0;
    int length = vsnprintf(room ? text->out + text->length : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0) {
        text->length += (size_t)length;
    }
}

void vy_fixed_text_json(vy_fixed_text *text, const char *value)
{
    if (!value) {
        vy_fixed_text_printf(text, "null");
        return;
    }
    vy_fixed_text_printf(text, "\"");
    for (const char *at = value; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\') {
            vy_fixed_text_printf(text, "\\%c", c);
        } else if (c < 0x20) {
            vy_fixed_text_printf(text, "\\u%04x", c);
        } else {
            vy_fixed_text_printf(text, "%c", c);
        }
    }
    vy_fixed_text_printf(text, "\"");
}
