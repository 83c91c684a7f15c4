/* The text form of programs (`.vyre`; docs/language.md). */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include "vyre/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_MAX_SOURCE ((size_t)64 << 20)

/* Parses and checks one program. `text` need not end in a zero; `file_name` (may be NULL) is copied
 * into errors. Errors: INVALID_PROGRAM with line, column and a fix; OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_program_parse(const char *text, size_t size,
                                                   const char *file_name,
                                                   const vyre_allocator *allocator,
                                                   vyre_program **out_program, vyre_diag *diag);

/* Prints a program as text that parses to an equal program. `*out_text` ends in a zero, comes from
 * the allocator and is freed with vyre_text_free; *out_size is without the zero. Errors:
 * OUT_OF_HOST_MEMORY; INVALID_PROGRAM where an expression needs more than VYRE_MAX_NESTING
 * parentheses within each other, which text cannot say. */
VYRE_API VYRE_CHECK vyre_result vyre_program_print(const vyre_program *program,
                                                   const vyre_allocator *allocator, char **out_text,
                                                   size_t *out_size);
/* Frees what vyre_program_print gave with that allocator; NULL is no error. */
VYRE_API void vyre_text_free(const vyre_allocator *allocator, char *text, size_t size);

/* Writes an error as people read it: "FILE:LINE:COL: error: what; fix", then the source line and a
 * caret where `text` is given. Cut at `out_size`; returns the length without the final zero. */
VYRE_API size_t vyre_diag_format(const vyre_diag *diag, const char *text, size_t text_size,
                                 char *out, size_t out_size);

#ifdef __cplusplus
}
#endif
#endif
