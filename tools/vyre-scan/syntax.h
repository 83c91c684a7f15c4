/* Extended regular expressions as libfa reads them. Thread-safety: external. */
#ifndef VY_SCAN_SYNTAX_H
#define VY_SCAN_SYNTAX_H

#include "codegen/base/base.h"

/* The alternatives of an expression by the borders of the line that they are bound to. */
enum {
    SYNTAX_LINE_START = 1,
    SYNTAX_LINE_END = 2,
    SYNTAX_KINDS = 4 /* and both */
};

typedef struct scan_syntax {
    vy_text alternatives[SYNTAX_KINDS]; /* an expression of libfa's */
    bool is_there[SYNTAX_KINDS];
} scan_syntax;

/* Errors: INVALID_ARGUMENT (at that column, from 1), UNSUPPORTED_FEATURE, OUT_OF_HOST_MEMORY. */
vyre_result scan_syntax_parse(const char *text, size_t size, bool is_caseless,
                              scan_syntax *out_syntax, vyre_diag *diag);
void scan_syntax_finish(scan_syntax *syntax);

typedef struct scan_byte_set {
    bool has[256];
} scan_byte_set;
/* Appends an expression of libfa's for one byte of the set, which is not empty. */
void scan_syntax_append_set(vy_text *out, const scan_byte_set *set);

#endif
