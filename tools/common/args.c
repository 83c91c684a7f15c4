/* Command lines: options by table, words as a shell cuts them, numbers. */
#include "tools/common/tool.h"

#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

static const vy_option *find_option(const vy_args *args, const char *name, size_t length)
{
    for (uint32_t i = 0; i < args->option_count; i++) {
        const char *candidate = args->options[i].name;
        if (candidate && strlen(candidate) == length && memcmp(candidate, name, length) == 0) {
            return &args->options[i];
        }
    }
    return NULL;
}

static int refuse(vy_args *args, const char *what, const char *argument)
{
    snprintf(args->error, sizeof args->error, "%.100s %s", argument, what);
    return VY_ARG_ERROR;
}

int vy_args_next(vy_args *args)
{
    args->value = NULL;
    if (args->at >= args->count) {
        return VY_ARG_END;
    }
    const char *argument = args->arguments[args->at++];
    if (!args->only_positional && strcmp(argument, "--") == 0) {
        args->only_positional = true;
        return vy_args_next(args); /* at most once */
    }
    if (args->only_positional || argument[0] != '-' || !argument[1]) {
        args->value = argument;
        return VY_ARG_POSITIONAL;
    }
    const char *equals = argument[1] == '-' ? strchr(argument, '=') : NULL;
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    const vy_option *option = find_option(args, argument, length);
    if (!option) {
        return refuse(args, "is no option", argument);
    }
    if (!option->value) {
        return equals ? refuse(args, "takes no value", option->name) : option->id;
    }
    if (!equals && args->at >= args->count) {
        snprintf(args->error, sizeof args->error, "%s takes a value: %s", option->name,
                 option->value);
        return VY_ARG_ERROR;
    }
    args->value = equals ? equals + 1 : args->arguments[args->at++];
    return option->id;
}

void vy_options_print(FILE *out, const vy_option *options, uint32_t count)
{
    enum { COLUMN = 26 };
    for (uint32_t i = 0; i < count; i++) {
        if (!options[i].name) {
            fprintf(out, "%s%s:\n", i ? "\n" : "", options[i].help);
            continue;
        }
        int width = fprintf(out, "  %s%s%s", options[i].name, options[i].value ? " " : "",
                            options[i].value ? options[i].value : "");
        for (const char *line = options[i].help; line; width = 0) {
            const char *end = strchr(line, '\n');
            size_t length = end ? (size_t)(end - line) : strlen(line);
            if (width >= COLUMN) {
                fputc('\n', out);
                width = 0;
            }
            fprintf(out, "%*s%.*s\n", COLUMN - width, "", (int)length, line);
            line = end ? end + 1 : NULL;
        }
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

typedef struct splitter {
    const char *text;
    size_t size, at;
    char *out;
    bool open; /* a quote that nothing closes */
} splitter;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies one word to s->out, without its quotes, and ends it with a zero. */
static void take_word(splitter *s)
{
    char quote = 0;
    for (; s->at < s->size && (quote || !is_blank(s->text[s->at])); s->at++) {
        char c = s->text[s->at];
        bool escapes = c == '\\' && quote != '\'' && s->at + 1 < s->size;
        if (quote == '"' && escapes) {
            char next = s->text[s->at + 1];
            escapes = next == '"' || next == '\\' || next == '$' || next == '`';
        }
        if (escapes) {
            *s->out++ = s->text[++s->at];
        } else if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? 0 : c;
        } else {
            *s->out++ = c;
        }
    }
    *s->out++ = 0;
    s->open = s->open || quote != 0;
}

vyre_result vy_split_words(vy_arena *arena, const char *text, size_t size, char ***out_words,
                           int *out_count, vyre_diag *diag)
{
    VY_VEC(char *) words = {0};
    splitter s = {.text = text, .size = size};
    /* A word is shorter than its text, and a blank stands between two. */
    s.out = vy_arena_alloc(arena, size + 1, 1);
    *out_words = NULL;
    *out_count = 0;
    while (s.out) {
        while (s.at < size && is_blank(text[s.at])) {
            s.at++;
        }
        if (s.at >= size) {
            break;
        }
        char *word = s.out;
        take_word(&s);
        (void)vy_vec_push(arena, &words, word);
    }
    (void)vy_vec_push(arena, &words, (char *)NULL);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    if (s.open) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a quote is opened and never closed. Fix: close it on the same line");
    }
    *out_words = words.data;
    *out_count = (int)words.count - 1;
    return VYRE_OK;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static const char *take_u32(const char *text, uint32_t *out_value)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX) {
            return NULL;
        }
    }
    *out_value = (uint32_t)value;
    return at == text ? NULL : at;
}

bool vy_parse_u32(const char *text, uint32_t low, uint32_t high, uint32_t *out_value)
{
    uint32_t value;
    const char *end = take_u32(text, &value);
    if (!end || *end || value < low || value > high) {
        return false;
    }
    *out_value = value;
    return true;
}

bool vy_parse_triple(const char *text, uint32_t out_values[3])
{
    uint32_t values[3] = {1, 1, 1};
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        at = take_u32(at, &values[i]);
        if (!at || values[i] == 0) {
            return false;
        }
        if (!*at) {
            memcpy(out_values, values, sizeof values);
            return true;
        }
        if (*at++ != ',') {
            return false;
        }
    }
    return false;
}
