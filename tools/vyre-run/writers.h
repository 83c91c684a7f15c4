/* Which statements of a segment write a buffer: what to look at where an element is wrong. */
#ifndef VYRE_RUN_WRITERS_H
#define VYRE_RUN_WRITERS_H

#include "codegen/ir/ir.h"

typedef struct writers {
    VY_VEC(uint32_t) stmts; /* STORE and ATOMIC statements, as the text has them */
} writers;

/* Of buffers[buffer], in the segment of that number, functions that it calls included. In `arena`.
 */
vyre_result find_writers(const vyre_program *program, uint32_t segment, uint32_t buffer,
                         vy_arena *arena, writers *out_writers, vyre_diag *diag);

#endif
