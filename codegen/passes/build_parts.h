/* What the files of the SSA builder share. build.c: statements, segments' ends; build_expr.c:
 * expressions and calls; build_control.c: joins, if, switch; build_loop.c: loops and what leaves
 * them.
 *
 * `keys` holds the value of every variable at the place where the builder stands, by key: that of
 * the variable, or a hidden one. Every change is logged, so that an arm of an
 * `if` can be undone at the price of what it assigned. Where `block` is 0 the place cannot be
 * reached. */
#ifndef VY_BUILD_PARTS_H
#define VY_BUILD_PARTS_H

#include "codegen/passes/edit.h"

/* Statement levels and calls within each other; drivers and SPIR-V stop at about 1,000 levels. */
#define VY_BUILD_MAX_DEPTH 700u

typedef struct vy_undo {
    uint32_t key, old;
} vy_undo;

/* A key, which is given to a variable or function where it is first met. */
typedef struct vy_key_state {
    uint32_t var, function; /* whose it is; 0: not one's */
    uint32_t current;
    uint32_t stamp, place; /* the last collection that met it, and where */
} vy_key_state;

typedef struct vy_touched {
    uint32_t begin, end;
} vy_touched;

/* What an arm changed. */
typedef struct vy_delta {
    uint32_t key, value, old;
} vy_delta;

/* One way into a merge block: where it ends (0: nowhere) and its deltas. */
typedef struct vy_arm {
    uint32_t end, first_delta, delta_count;
} vy_arm;

/* A way out of a loop, or to its next trip: a row of values, one for each key of the loop. */
typedef struct vy_edge {
    uint32_t block, first_value;
} vy_edge;

typedef VY_VEC(vy_edge) vy_edges;

typedef struct vy_loop {
    struct vy_loop *parent; /* the loop around it in the same function */
    uint32_t header, merge, continue_block;
    uint32_t *keys, key_count;
    uint32_t *phis; /* of the header, by key */
    vy_edges breaks, continues;
} vy_loop;

/* A function while it is inlined. */
typedef struct vy_activation {
    uint32_t function; /* 0: the kernel */
    vy_loop *exit;     /* the loop of one trip that early returns leave, or NULL */
    vy_loop *loop;     /* the innermost loop */
} vy_activation;

typedef struct vy_ssa_builder {
    const vyre_program *program;
    const vy_split *split;
    const vy_segment *segment;
    vy_arena *arena; /* of the builder; what stays goes to the form's own */
    vy_ssa *ssa;
    vyre_result result;
    vyre_diag *diag;
    uint32_t block, depth;
    vy_activation *activation;
    /* Of the split: values by expression, of a vector the place of its first component in `parts`;
     * first keys and private arrays by variable; first keys by function. */
    vy_lowering_tables tables;
    VY_VEC(vy_key_state) keys;
    VY_VEC(vy_touched) touched; /* values that the end has to forget */
    uint32_t stamp_now;
    /* Of a module that runs all passes (build_whole.c): */
    bool is_whole;
    uint32_t pass;          /* the value of `pass`; 0: the built-in one */
    uint32_t execution_key; /* of the number of the segment's execution in the pass; 0: none */
    uint32_t left_key;      /* of whether the kernel has returned; 0: none */
    uint32_t host_steps;    /* the body of the host's loop that vy_build_for makes next; 0: its
                               statements */
    VY_VEC(vy_undo) log;
    VY_VEC(vy_delta) deltas;
    VY_VEC(uint32_t) rows;  /* values of edges */
    VY_VEC(uint32_t) order; /* blocks as they were placed */
    VY_VEC(uint32_t) parts; /* components of vectors */
} vy_ssa_builder;

/* A value: one instruction for each component; count 0: there is none. */
typedef struct vy_parts {
    uint32_t count, id[4];
} vy_parts;

uint32_t vy_key_make(vy_ssa_builder *b, uint32_t var);
/* The first key of a variable, whose components follow; 0 without memory. */
static inline uint32_t vy_key(vy_ssa_builder *b, uint32_t var)
{
    uint32_t key = b->tables.first_key[var];
    return key || !var ? key : vy_key_make(b, var);
}
/* How many keys it has. */
uint32_t vy_key_count(const vy_ssa_builder *b, uint32_t var);
/* Keys of the hidden variables: while trips left, a function's value (the first of its components),
 * whether it has returned. */
uint32_t vy_key_budget(const vy_ssa_builder *b);
uint32_t vy_key_value(vy_ssa_builder *b, uint32_t function);
uint32_t vy_key_left(vy_ssa_builder *b, uint32_t function);

/* build.c */
void vy_build_fail(vy_ssa_builder *b, vyre_result result, vy_loc loc, const char *message);
static inline bool vy_build_stopped(const vy_ssa_builder *b)
{
    return b->result != VYRE_OK || b->ssa->arena->failed;
}
bool vy_build_deeper(vy_ssa_builder *b, vy_loc loc);
void vy_build_list(vy_ssa_builder *b, uint32_t first);
void vy_build_stmt(vy_ssa_builder *b, uint32_t index);
void vy_build_barrier(vy_ssa_builder *b, vy_loc loc);
void vy_build_record(vy_ssa_builder *b, uint32_t site, vy_loc loc);
/* What a segment (b->segment) finds at its start. */
void vy_build_begin_segment(vy_ssa_builder *b);
/* Takes the split's tables, and leaves them as they were. */
void vy_build_begin_tables(vy_ssa_builder *b);
void vy_build_end_tables(vy_ssa_builder *b);
void vy_build_assign(vy_ssa_builder *b, uint32_t key, uint32_t value);
/* The value of a key where the builder stands. */
static inline uint32_t vy_build_current(const vy_ssa_builder *b, uint32_t key)
{
    return b->keys.data[key].current;
}
/* Without a log: for what no arm or loop can see. */
void vy_build_forget(vy_ssa_builder *b, uint32_t key);
vyre_type vy_build_key_type(const vy_ssa_builder *b, uint32_t key);
const char *vy_build_key_name(const vy_ssa_builder *b, uint32_t key);
uint32_t vy_build_block(vy_ssa_builder *b, vy_loc loc);
void vy_build_place(vy_ssa_builder *b, uint32_t block);
/* Ends the block where the builder stands; it stands nowhere then. */
void vy_build_jump(vy_ssa_builder *b, uint32_t target);
void vy_build_branch(vy_ssa_builder *b, uint32_t cond, uint32_t yes, uint32_t no, uint32_t merge);

/* build_expr.c */
uint32_t vy_build_ins(vy_ssa_builder *b, vy_ins ins);
uint32_t vy_build_op1(vy_ssa_builder *b, vyre_op op, vyre_type type, uint32_t x, vy_loc loc);
uint32_t vy_build_op2(vy_ssa_builder *b, vyre_op op, vyre_type type, uint32_t x, uint32_t y,
                      vy_loc loc);
/* The value of a scalar expression, 0 where there is none. */
uint32_t vy_build_range(vy_ssa_builder *b, vy_range range);
vy_parts vy_build_value(vy_ssa_builder *b, vy_range range);
/* What COMPONENTs of a vector that was loaded as a whole are, or the scalar itself. */
vy_parts vy_build_take_apart(vy_ssa_builder *b, uint32_t value, vyre_type type, vy_loc loc);
/* The one value that is stored as a whole. */
uint32_t vy_build_put_together(vy_ssa_builder *b, vy_parts parts, vyre_type type, vy_loc loc);
uint32_t vy_build_zero(vy_ssa_builder *b, vyre_type type);

/* build_control.c */
uint32_t vy_build_log_mark(const vy_ssa_builder *b);
/* Takes what changed since the mark as deltas and undoes it. */
vy_arm vy_build_end_arm(vy_ssa_builder *b, uint32_t mark);
/* Places the merge block of the arms and gives every changed variable its value there. */
void vy_build_join(vy_ssa_builder *b, uint32_t merge, const vy_arm *arms, uint32_t count,
                   uint32_t first_delta);
/* The variable's value where `count` blocks come together: a phi unless all agree. */
void vy_build_phi(vy_ssa_builder *b, uint32_t key, const uint32_t *values, const uint32_t *blocks,
                  uint32_t count);
void vy_build_if(vy_ssa_builder *b, const vy_stmt *stmt);
void vy_build_switch(vy_ssa_builder *b, const vy_stmt *stmt);

/* build_loop.c */
void vy_build_for(vy_ssa_builder *b, uint32_t index);
void vy_build_while(vy_ssa_builder *b, uint32_t index);
void vy_build_break(vy_ssa_builder *b);
void vy_build_continue(vy_ssa_builder *b);
/* Their parts. Makes the blocks and goes to the header; nothing is in it yet. */
vy_loop *vy_build_loop_open(vy_ssa_builder *b, vy_loc loc, vy_loc end_loc);
/* A phi of the header: its value before the first trip now, that of the next trips later. */
uint32_t vy_build_header_phi(vy_ssa_builder *b, const vy_loop *loop, uint32_t before,
                             vyre_type type, uint32_t initial, const char *name);
void vy_build_close_phi(vy_ssa_builder *b, uint32_t phi, uint32_t next);
/* A way from here to a block of the loop, with the values it brings. */
void vy_build_loop_edge(vy_ssa_builder *b, const vy_loop *loop, vy_edges *edges);
void vy_build_leave(vy_ssa_builder *b, vy_loop *loop);
/* The end of the body and the continue block, which stays open where a next trip can happen. */
bool vy_build_loop_continue(vy_ssa_builder *b, vy_loop *loop);
void vy_build_loop_end(vy_ssa_builder *b, vy_loop *loop);
/* A loop of one trip around an inlined function: how its early returns get to its end. */
vy_loop *vy_build_exit_begin(vy_ssa_builder *b, uint32_t function, vy_loc loc);
/* The same around a segment, with these keys. */
vy_loop *vy_build_exit_begin_with(vy_ssa_builder *b, const uint32_t *keys, uint32_t count,
                                  vy_loc loc);
void vy_build_exit_end(vy_ssa_builder *b, vy_loop *loop);
void vy_build_return_value(vy_ssa_builder *b, vy_parts value);

/* build_whole.c: the host's steps from `first` on, as control flow. */
void vy_build_steps(vy_ssa_builder *b, uint32_t first);

#endif
