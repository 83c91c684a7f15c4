/* The scopes of a program's text, for debug information: the kernel and every function are a root,
 * a statement with statements of its own is a block within. They lie sorted by where they begin, so
 * that the scope of a place is found by search. Memory from the arena, whose failure is sticky. */
#ifndef VY_SPIRV_DEBUG_SCOPES_H
#define VY_SPIRV_DEBUG_SCOPES_H

#include "codegen/ir/ir.h"

#define VY_NO_SCOPE UINT32_MAX

typedef struct vy_scope {
    vy_loc begin, end;
    uint32_t parent;   /* VY_NO_SCOPE: a root */
    uint32_t function; /* of its root; 0: the kernel */
    const char *name;  /* of a region, or NULL */
} vy_scope;

typedef struct vy_scopes {
    const vyre_program *program;
    vy_arena *arena;
    VY_VEC(vy_scope) rows;
    uint32_t kernel; /* its root */
    uint32_t *roots; /* by function */
} vy_scopes;

void vy_scopes_find(vy_scopes *scopes, const vyre_program *program, vy_arena *arena);
/* The innermost one around a place; the kernel's root where there is none. */
uint32_t vy_scope_at(const vy_scopes *scopes, vy_loc loc);
/* The root of a function, 0: of the kernel. */
uint32_t vy_scope_of_function(const vy_scopes *scopes, uint32_t function);

#endif
