/* What all tools share: exit codes, errors on a stream, command lines, files. Thread-safety:
 * external. */
#ifndef VY_TOOL_H
#define VY_TOOL_H

#include "codegen/base/base.h"

#include <stdio.h>

enum {
    VY_EXIT_OK = 0,
    VY_EXIT_FAILED = 1, /* input, device or run failed, or results differ */
    VY_EXIT_USAGE = 2,
    VY_EXIT_INTERRUPTED = 130
};

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Prints "FILE:LINE:COL: error: what; fix" with the source line where `text` is not NULL; `file` is
 * named where the diagnostic names none (may be NULL). Gives VY_EXIT_FAILED. */
int vy_tool_fail(FILE *err, const vyre_diag *diag, const char *file, const char *text, size_t size);
/* Prints "TOOL: error: message" and where help is. Gives VY_EXIT_USAGE. */
int vy_tool_usage(FILE *err, const char *tool, const char *format, ...) VY_PRINTF(3, 4);
/* From now on an interrupt (control-C) ends the process with VY_EXIT_INTERRUPTED. */
void vy_tool_catch_interrupt(void);
/* With `defer` the first interrupt only makes vy_tool_is_interrupted true, for work that has
 * something to bring to an end; any other ends the process. */
void vy_tool_defer_interrupt(bool defer);
bool vy_tool_is_interrupted(void);

/* ---- Command lines --------------------------------------------------------------------------- */

typedef struct vy_option {
    const char *name;  /* "--in" or "-o"; NULL: a group's heading, which is the help */
    int id;            /* over 0; of a heading 0 */
    const char *value; /* what it takes, such as "NAME=V"; NULL: nothing */
    const char *help;  /* one line, or several with '\n' */
} vy_option;

enum {
    VY_ARG_END = 0,
    VY_ARG_POSITIONAL = -1, /* value: the argument */
    VY_ARG_ERROR = -2       /* error: what is wrong */
};

/* A walk over arguments; `--name VALUE` and `--name=VALUE` mean the same, `--` ends the options. */
typedef struct vy_args {
    int count, at;
    char *const *arguments;
    const vy_option *options;
    uint32_t option_count;
    bool only_positional;
    const char *value;
    char error[256];
} vy_args;

/* The next option's id, or a VY_ARG_*; its value is in args->value. */
int vy_args_next(vy_args *args);
#define VY_HEADING(text)                                                                           \
    {                                                                                              \
        NULL, 0, NULL, text                                                                        \
    }
/* The lines of --help about options, below the headings of their groups. */
void vy_options_print(FILE *out, const vy_option *options, uint32_t count);
/* Cuts text as a shell does: blanks separate, quotes and backslashes keep. Words belong to the
 * arena, (*out_words)[*out_count] is NULL. Errors: INVALID_ARGUMENT for an open quote. */
vyre_result vy_split_words(vy_arena *arena, const char *text, size_t size, char ***out_words,
                           int *out_count, vyre_diag *diag);

/* A whole decimal number within [low, high]; false otherwise. */
bool vy_parse_u32(const char *text, uint32_t low, uint32_t high, uint32_t *out_value);
/* "X", "X,Y" or "X,Y,Z" of numbers from 1; the ones left out are 1. */
bool vy_parse_triple(const char *text, uint32_t out_values[3]);

/* ---- Files ----------------------------------------------------------------------------------- */

/* A whole file, or standard input for "-"; *out_data ends in a zero that *out_size does not count,
 * and is freed with free(). Errors: IO, OUT_OF_HOST_MEMORY. */
vyre_result vy_file_read(const char *path, size_t limit, char **out_data, size_t *out_size,
                         vyre_diag *diag);
/* The same of a stream that is open already; `name` is for messages. */
vyre_result vy_stream_read(FILE *stream, const char *name, size_t limit, char **out_data,
                           size_t *out_size, vyre_diag *diag);
/* The file is there whole or not at all. Errors: IO. */
vyre_result vy_file_write(const char *path, const void *data, size_t size, vyre_diag *diag);
/* `path` as seen from the folder of the file `from`, in the arena; NULL without memory. */
const char *vy_path_beside(vy_arena *arena, const char *from, const char *path);
bool vy_path_has_suffix(const char *path, const char *suffix);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A quoted string; bytes that are no UTF-8 become U+FFFD. */
void vy_json_string(vy_text *out, const char *text);

#endif
