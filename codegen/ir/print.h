/* The printer's parts, shared by print*.c, and its output in pieces. */
#ifndef VY_PRINT_H
#define VY_PRINT_H

#include "codegen/ir/ir.h"

/* A piece of an expression that is still to be printed. */
typedef struct vy_print_item {
    const char *text; /* NULL: the expression */
    uint32_t expr;
    uint8_t level; /* infix operators below this level need parentheses */
    bool is_typed; /* an integer literal here takes its type from what stands around it */
} vy_print_item;

typedef struct vy_printer {
    const vyre_program *program;
    vy_arena arena;
    vy_text *out;
    uint32_t indent;
    bool *is_untyped;  /* by expression: as text an integer that takes any type */
    uint16_t *nesting; /* by expression: parentheses and the like that its text opens */
    bool is_too_deep;
    VY_VEC(vy_print_item) items;
} vy_printer;

/* print.c */
/* A finished program's constants, params and buffers, and its functions: what may stand in another
 * program that has these names free. Errors: OUT_OF_HOST_MEMORY, INVALID_PROGRAM (as
 * vyre_program_print). Thread-safety: safe for one program. */
vyre_result vy_program_print_parts(const vyre_program *program, vy_text *declarations,
                                   vy_text *functions);

/* print_expression.c */
/* Fills is_untyped and nesting. */
bool vy_print_analyse(vy_printer *p);
/* Prints a range's value. `opened`: parentheses that the statement puts around it. */
void vy_print_expression(vy_printer *p, const vy_range *range, bool is_typed, uint32_t opened);
/* A literal of that type and these bits; an integer without a suffix where `is_plain`. */
void vy_print_literal(vy_printer *p, vyre_type type, uint64_t bits, bool is_plain);
/* A named constant's or a table element's value; vectors with their components. */
void vy_print_vector(vy_printer *p, vyre_type type, const uint64_t *components);

/* print_statement.c */
void vy_print_list(vy_printer *p, uint32_t first);

#endif
