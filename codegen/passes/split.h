/* Cutting a program at its grid-wide barriers. Reads a validated program; makes the static
 * segments, the host's walk over them, and how each value that is live across a cut gets from one
 * segment to another: recomputed, or through a spill slot of a hidden resident buffer.
 *
 * A cut stands at every grid_sync, and before, at the end of each iteration of, and after every
 * `for` or `if` that contains one. A maximal stretch of statements between cuts is a segment; empty
 * stretches are none. Segments are numbered in textual order from 0. */
#ifndef VY_SPLIT_H
#define VY_SPLIT_H

#include "codegen/ir/ir.h"

typedef enum vy_step_kind {
    VY_STEP_SEGMENT,
    VY_STEP_LOOP, /* `for` statement stmt: bounds x, y, z by the host; body */
    VY_STEP_IF    /* `if` statement stmt: condition x by the host; body, other */
} vy_step_kind;

/* The host's program: lists linked by next; entry 0 is reserved. */
typedef struct vy_step {
    uint8_t kind;
    uint32_t next, body, other;
    uint32_t segment; /* SEGMENT */
    uint32_t stmt;    /* LOOP, IF */
    uint32_t slot;    /* LOOP: its index's place among the pushed host loop indices = loop depth */
} vy_step;

/* How a variable crosses cuts. */
typedef enum vy_crossing {
    VY_CROSSING_NONE,      /* used in one segment only, or not at all */
    VY_CROSSING_HOST,      /* a host loop's index: pushed */
    VY_CROSSING_RECOMPUTE, /* a `let` whose initialiser gives the same in later segments */
    VY_CROSSING_SPILL
} vy_crossing;

typedef struct vy_var_crossing {
    uint8_t crossing;
    uint32_t home;      /* the segment that declares it */
    uint32_t statement; /* RECOMPUTE: its declaring statement */
    uint32_t slot;  /* SPILL: first word, in units of one word an invocation; HOST: index slot */
    uint32_t words; /* SPILL: of all components and elements; 64 bits take two */
} vy_var_crossing;

typedef struct vy_segment {
    uint32_t first_stmt, stmt_count; /* entries of vy_split.stmts: statement ids, in order */
    /* Entries of vy_split.var_lists, variable ids in ascending order: */
    uint32_t first_in, in_count;   /* crossing variables read here that another segment (or an
                                      earlier run of this one) may have set: loaded at the start,
                                      or recomputed, in an order where operands come first */
    uint32_t first_out, out_count; /* SPILL variables declared or assigned here: stored on every
                                      way out; those declared here are zero at the start */
    uint32_t expr_count;           /* of its statements, without what they call */
    vy_loc loc;                    /* first statement */
    const char *name;              /* of the region it lies in, or NULL */
} vy_segment;

/* What lowering asks about a statement and everything inside it, calls followed. */
typedef struct vy_stmt_facts {
    uint32_t first_assigned, assigned_count; /* FOR, WHILE: entries of vy_split.assigned */
    bool has_cut;                            /* a grid_sync */
    bool has_barrier;                        /* a barrier or a uniform load */
    bool draws_budget; /* a `while` without barrier, which draws on the segment's budget */
    bool has_return;   /* a `return` of this function, calls not followed */
} vy_stmt_facts;

typedef struct vy_function_facts {
    bool has_barrier, draws_budget;
    bool returns_early; /* a `return` stands where something may still follow */
} vy_function_facts;

/* Whole tables, so that lowering a segment costs what is in it: zero, and left so by whoever lowers
 * one. */
typedef struct vy_lowering_tables {
    uint32_t *values;        /* by expression */
    uint32_t *first_key;     /* by variable */
    uint32_t *arrays;        /* by variable */
    uint32_t *function_keys; /* by function */
} vy_lowering_tables;

typedef struct vy_split {
    VY_VEC(vy_step) steps;
    uint32_t first_step;
    VY_VEC(vy_segment) segments; /* entry 0 is segment 0: not reserved */
    VY_VEC(uint32_t) stmts;
    VY_VEC(uint32_t) var_lists;
    vy_var_crossing *vars;        /* by variable */
    vy_stmt_facts *facts;         /* by statement */
    vy_function_facts *functions; /* by function */
    VY_VEC(uint32_t) assigned;    /* variables that loops assign, each once per loop */
    uint32_t spill_words;         /* per invocation */
    vy_prints prints;
    vy_lowering_tables lowering;
    bool keeps_bindings; /* set by who has it: forms say what variables are, for debuggers */
} vy_split;

/* Memory from the arena. Fails with INVALID_PROGRAM where an array over 256 bytes crosses. */
vyre_result vy_split_program(const vyre_program *program, vy_prints prints, vy_arena *arena,
                             vy_split *out_split, vyre_diag *diag);

#endif
