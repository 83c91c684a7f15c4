/* The validator's private parts: what its steps share. The steps run in the order of the functions
 * below; each one may rely on what those before it have checked. */
#ifndef VY_VALIDATE_H
#define VY_VALIDATE_H

#include "codegen/ir/walk.h"

#define VY_MAX_WORKGROUP_VOLUME 1024u
#define VY_MAX_ARRAY_COUNT      (1u << 16)
#define VY_MAX_CROSSING_ARRAY   64u /* elements of an array that lives across a grid_sync */

/* Sums over a function's body with the calls in it expanded. */
typedef struct vy_function_facts {
    uint64_t size;  /* operations and statements */
    uint32_t depth; /* of nested lists */
} vy_function_facts;

typedef struct vy_validator {
    vyre_program *program;
    vyre_diag *diag;
    vyre_result result; /* the first error */
    vy_names_state names;
    vy_arena scratch;
    uint32_t
        *kinds; /* by statement: bits 1 << vy_stmt_kind of itself and what it contains or calls */
    vy_function_facts *facts; /* by function; entry 0 is the kernel's */
} vy_validator;

void vy_validator_fail(vy_validator *v, vy_loc loc, const char *format, ...) VY_PRINTF(3, 4);
void vy_validator_no_memory(vy_validator *v);
/* " at 3:7", or nothing where there is no place. */
typedef struct vy_place_text {
    char text[32];
} vy_place_text;
vy_place_text vy_place(vy_loc loc);
/* "if", "for", "grid_sync", ... as text writes a statement. */
const char *vy_stmt_text(vy_stmt_kind kind);
/* The name of what a leaf or a call reads, as text writes it; NULL for other operators. */
const char *vy_expr_name(const vyre_program *program, const vy_expr *expr);

/* Header, buffers and counts. */
void vy_validate_header(vy_validator *v);
/* Names are free, unique and shadow nothing; variables are used within their list. */
void vy_validate_names(vy_validator *v);
/* Each statement by itself; functions' kinds, purity, size and returns; record sites. */
void vy_validate_bodies(vy_validator *v);
/* Where grid_sync may stand, and what may live across it. */
void vy_validate_syncs(vy_validator *v);
/* Barriers and uniform loads are in workgroup-uniform control flow. */
void vy_validate_uniformity(vy_validator *v);

#endif
