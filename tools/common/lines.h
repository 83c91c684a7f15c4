/* Lines that printf statements printed: kept while a program runs, then put in order. */
#ifndef VY_TOOLS_LINES_H
#define VY_TOOLS_LINES_H

#include "codegen/base/base.h"
#include "vyre/program.h"

#include <stdio.h>

typedef struct vy_lines {
    VY_VEC(vyre_printf_line) list; /* in the order in which they came, until they are sorted */
    vy_arena arena;
} vy_lines;

void vy_lines_init(vy_lines *lines);
void vy_lines_finish(vy_lines *lines);
/* Keeps a copy; `lines` is a vy_lines. For vyre_interp_params.print. */
void vy_lines_add(void *lines, const vyre_printf_line *line);
/* By pass, segment execution and invocation; lines of one of these stay as they came, which is the
 * order of its statements on the interpreter and on devices. False without memory, also where an
 * earlier line could not be kept. */
bool vy_lines_sort(vy_lines *lines);
/* "printf NAME:LINE:COLUMN pass P segment S invocation I: TEXT" and a line end. */
void vy_line_print(FILE *out, const vyre_printf_line *line);
/* Whether both are of the same statement in the same place, and say the same. */
bool vy_line_matches(const vyre_printf_line *a, const vyre_printf_line *b);
/* Of two sorted lists: how many lines differ; prints the first ones to `out`. */
uint64_t vy_lines_compare(const vy_lines *device, const vy_lines *reference, FILE *out);

#endif
