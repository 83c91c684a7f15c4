/* What a printf statement says: its format, and its values by the format's conversions. */
#include "codegen/base/printf.h"
#include "codegen/ir/builder.h"

#include <stdio.h>
#include <string.h>

#define HINT_SIZE 80

/* The type that a literal without one takes, which a conversion stands for. */
static vyre_type main_type(const vy_conversion *c)
{
    if (c->components > 1) {
        bool is_two = c->components == 2;
        switch (c->class) {
        case VY_CONVERSION_SIGNED:
            return is_two ? VYRE_TYPE_I32X2 : VYRE_TYPE_I32X4;
        case VY_CONVERSION_UNSIGNED:
            return is_two ? VYRE_TYPE_U32X2 : VYRE_TYPE_U32X4;
        default:
            return is_two ? VYRE_TYPE_F32X2 : VYRE_TYPE_F32X4;
        }
    }
    switch (c->class) {
    case VY_CONVERSION_SIGNED:
        return c->is_long ? VYRE_TYPE_I64 : VYRE_TYPE_I32;
    case VY_CONVERSION_UNSIGNED:
        return c->is_long ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
    default:
        return c->is_long ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
    }
}

static bool takes(const vy_conversion *c, vyre_type type)
{
    vyre_type component = vy_type_component(type);
    bool is_right_class = c->class == VY_CONVERSION_FLOAT    ? vy_type_is_float(component)
                          : !vy_type_is_integer(component)   ? false
                          : c->class == VY_CONVERSION_SIGNED ? vy_type_is_signed(component)
                                                             : !vy_type_is_signed(component);
    return is_right_class && vy_type_components(type) == c->components &&
           (vy_type_width(component) == 64) == c->is_long;
}

/* What to write for a value of that type. */
static void hint(vyre_type type, char out[HINT_SIZE])
{
    vyre_type component = vy_type_component(type);
    uint32_t count = vy_type_components(type);
    char vector[3] = {'v', (char)('0' + count % 10), '\0'};
    if (component == VYRE_TYPE_BOOL) {
        snprintf(out, HINT_SIZE, "%s",
                 count > 1 ? "print its components, each as u32(b.x) by %u"
                           : "write %u, and convert it: u32(b)");
        return;
    }
    char letter = vy_type_is_float(component) ? 'f' : vy_type_is_signed(component) ? 'd' : 'u';
    snprintf(out, HINT_SIZE, "write %%%s%s%c, or convert the value", count > 1 ? vector : "",
             vy_type_width(component) == 64 ? "l" : "", letter);
}

static bool check_format(vyre_builder *b, const char *format)
{
    size_t length = 0;
    for (; format && format[length]; length++) {
        unsigned char c = (unsigned char)format[length];
        if (length == VYRE_MAX_NAME) {
            break;
        }
        if (c == '\n') {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                            "the format of a printf has a line end. Fix: leave it out: each printf "
                            "is a line of its own");
            return false;
        }
        if (c < ' ' || c > '~') {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                            "the format of a printf has the byte 0x%02x. Fix: write printable "
                            "ASCII",
                            (unsigned)c);
            return false;
        }
    }
    if (!format || format[length]) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at, "the format of a printf %s. Fix: %s",
                        format ? "has more than 255 bytes" : "is missing",
                        format ? "shorten it, or write two printf" : "pass a text");
        return false;
    }
    return true;
}

static bool check_counts(vyre_builder *b, const vy_conversion *list, uint32_t count,
                         uint32_t values)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < count; i++) {
        words += vy_conversion_words(&list[i]);
    }
    if (count != values) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the format of a printf has %u conversion%s, but %u value%s given. Fix: "
                        "pass one for each, and write %%%% for the sign itself",
                        count, count == 1 ? "" : "s", values, values == 1 ? " is" : "s are");
        return false;
    }
    if (words > VYRE_MAX_PRINTF_WORDS) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "the values of a printf take %u words of the %u that a line has. Fix: "
                        "write two printf",
                        words, VYRE_MAX_PRINTF_WORDS);
        return false;
    }
    return true;
}

/* Types the value and places it behind those before. */
static vy_range take_value(vyre_builder *b, const char *format, const vy_conversion *c,
                           vyre_expr value)
{
    const vy_range none = {0, 0, 0};
    uint32_t index = vy_builder_use(b, value, "a value of a printf");
    if (index == VY_NO_NODE) {
        return none;
    }
    const vy_node *node = &b->pool.data[index];
    vyre_type type = (vyre_type)node->type, own = main_type(c);
    bool is_open = c->components == 1 && (type == VYRE_TYPE_INT || (node->flags & VY_NODE_SPECIAL));
    if (is_open && (type == VYRE_TYPE_INT || takes(c, VYRE_TYPE_F64))) {
        return vy_builder_coerce(b, index, own, "the value") ? vy_builder_place(b, index) : none;
    }
    if (type == VYRE_TYPE_INT && !vy_builder_settle(b, index, VYRE_TYPE_U32)) {
        return none;
    }
    type = (vyre_type)b->pool.data[index].type;
    if (!takes(c, type)) {
        char fix[HINT_SIZE];
        hint(type, fix);
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->pool.data[index].loc,
                        "%.*s prints %s, not %s. Fix: %s", (int)(c->end - c->begin),
                        format + c->begin, vyre_type_keyword(own), vyre_type_keyword(type), fix);
        return none;
    }
    return vy_builder_place(b, index);
}

static void mark_printed(vyre_program *p, vy_range range)
{
    for (uint32_t e = range.begin; e < range.end; e++) {
        p->exprs.data[e].is_printed = 1;
    }
}

void vy_builder_fill_printf(vyre_builder *b, const char *format, const vyre_expr *values,
                            uint32_t count, vy_stmt *out)
{
    vyre_program *p = b->program;
    vy_conversion list[VYRE_MAX_PRINTF_VALUES + 1];
    const char *fault = NULL;
    if (!check_format(b, format)) {
        return;
    }
    uint32_t found = vy_printf_parse(format, list, &fault);
    if (fault) {
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at, "the conversion %.*s of a printf %s",
                        (int)(list[found].end - list[found].begin), format + list[found].begin,
                        fault);
        return;
    }
    if (!check_counts(b, list, found, values ? count : 0)) {
        return;
    }
    out->first_value = p->values.count;
    out->value_count = found;
    for (uint32_t i = 0; i < found && !b->failed; i++) {
        vy_range range = take_value(b, format, &list[i], values[i]);
        out->x.begin = i ? out->x.begin : range.begin;
        out->x.end = range.end;
        out->x.root = range.root;
        if (!b->failed && !vy_vec_push(&p->arena, &p->values, range.root - out->x.begin)) {
            vy_builder_no_memory(b);
        }
    }
    if (b->failed) {
        return;
    }
    mark_printed(p, out->x);
    out->name = vy_arena_text(&p->arena, format, strlen(format));
    if (!out->name) {
        vy_builder_no_memory(b);
    }
}
