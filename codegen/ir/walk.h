/* A walk over the statements of a list and of the lists within, in textual order, without
 * recursion. A program's lists are nested at most VYRE_MAX_NESTING deep. */
#ifndef VY_WALK_H
#define VY_WALK_H

#include "codegen/ir/ir.h"

typedef enum vy_walk_event {
    VY_WALK_END,   /* the list is done */
    VY_WALK_ENTER, /* a statement; the lists within follow */
    VY_WALK_ELSE,  /* between body and other of an IF */
    VY_WALK_LEAVE  /* a statement that holds lists is done */
} vy_walk_event;

typedef struct vy_walk {
    const vyre_program *program;
    uint32_t next; /* the statement to enter, 0: the list is done */
    uint32_t depth;
    struct {
        uint32_t stmt;
        bool is_other;
    } open[VYRE_MAX_NESTING + 1]; /* open[1 .. depth]: the statements whose lists are walked */
} vy_walk;

void vy_walk_begin(vy_walk *walk, const vyre_program *program, uint32_t first);
vy_walk_event vy_walk_next(vy_walk *walk, uint32_t *out_stmt);

bool vy_stmt_has_lists(vy_stmt_kind kind);
/* The variable that a statement declares in the list where it stands, or 0. */
uint32_t vy_declared_variable(const vy_stmt *stmt);

/* The ranges of a statement in evaluation order. */
static inline const vy_range *vy_stmt_range(const vy_stmt *stmt, uint32_t i)
{
    return i == 0 ? &stmt->x : i == 1 ? &stmt->y : &stmt->z;
}

/* Of a TRAP or WHILE. */
static inline vyre_record_kind vy_stmt_record_kind(const vy_stmt *stmt)
{
    return stmt->outside                ? (vyre_record_kind)stmt->outside
           : stmt->kind == VY_STMT_TRAP ? VYRE_RECORD_TRAP
                                        : VYRE_RECORD_LOOP_LIMIT;
}

#endif
