/* The builder's private parts, shared by builder*.c: the pending pool of expression nodes that no
 * statement has taken yet, and the stack of open statement lists. */
#ifndef VY_BUILDER_H
#define VY_BUILDER_H

#include "codegen/ir/ir.h"

/* vyre_ref ids: the kind in the upper bits, the table's index below. */
typedef enum vy_ref_kind {
    VY_REF_NONE,
    VY_REF_BUFFER,
    VY_REF_VARIABLE,
    VY_REF_PARAM,
    VY_REF_TABLE,
    VY_REF_FUNCTION,
    VY_REF_CONSTANT
} vy_ref_kind;

#define VY_REF_SHIFT      28
#define VY_REF_INDEX_MASK ((1u << VY_REF_SHIFT) - 1)

enum {
    VY_NODE_USED = 1,     /* its handle was taken by an operator or a statement */
    VY_NODE_NEGATIVE = 2, /* of an untyped literal: the value is -bits */
    VY_NODE_SPECIAL = 4   /* an f32 infinity or NaN that becomes the float type it meets */
};

/* An expression that is being built. Operands are pool indices; handles are pool_base + index, so
 * that a handle from before the pool was emptied is told from a live one. */
typedef struct vy_node {
    uint16_t op;
    uint8_t type; /* VYRE_TYPE_INT while untyped */
    uint8_t flags;
    uint32_t ref;
    uint32_t placed; /* index in program->exprs */
    union {
        uint32_t arg[4];  /* CALL, VECTOR: first index into pool_args, count */
        uint64_t bits[2]; /* LITERAL; untyped: its magnitude */
    };
    vy_loc loc;
} vy_node;

typedef enum vy_frame_kind {
    VY_FRAME_KERNEL,
    VY_FRAME_FUNCTION, /* owner: the function */
    VY_FRAME_BODY,     /* owner: the statement; its body */
    VY_FRAME_OTHER,    /* owner: an if; its else part */
    VY_FRAME_SWITCH    /* owner: the switch; holds cases only */
} vy_frame_kind;

typedef struct vy_frame {
    vy_frame_kind kind;
    uint32_t owner;
    uint32_t last; /* last statement of the list, 0 while empty */
} vy_frame;

typedef struct vy_visit {
    uint32_t node, next;
} vy_visit;

struct vyre_builder {
    vyre_program *program;
    vy_arena scratch; /* everything below that grows */
    vyre_diag diag;   /* the first error */
    bool failed;
    vy_loc at;
    bool has_workgroup, has_grid, has_fixpoint, has_loop_limit, has_fast_math, has_subgroup_width;
    uint32_t function; /* the one whose body is open, or 0 */
    vy_names_state names;
    VY_VEC(vy_node) pool;
    VY_VEC(uint32_t) pool_args;
    VY_VEC(vy_visit) visits;
    uint32_t pool_base;
    uint32_t pool_live; /* handles that nothing has taken yet */
    uint32_t depth;     /* index of the innermost frame */
    vy_frame frames[VYRE_MAX_NESTING + 1];
};

/* builder.c */
/* Whether calls do nothing: no builder, or an error before. */
static inline bool vy_builder_stopped(const vyre_builder *b)
{
    return !b || b->failed;
}
void vy_builder_fail(vyre_builder *b, vyre_result code, vy_loc loc, const char *format, ...)
    VY_PRINTF(4, 5);
void vy_builder_no_memory(vyre_builder *b);
/* A copy of a declared name, or NULL after an error (NULL, empty, too long). */
const char *vy_builder_name(vyre_builder *b, const char *name, const char *what);
/* The table index behind a ref of that kind, 0 after an error. */
uint32_t vy_builder_ref(vyre_builder *b, vyre_ref ref, vy_ref_kind kind);
vy_ref_kind vy_builder_ref_kind(const vyre_builder *b, vyre_ref ref);
/* The type of a variable, VOID where the ref names none. */
vyre_type vy_builder_variable_type(const vyre_builder *b, vyre_ref ref);
vyre_ref vy_builder_make_ref(vyre_builder *b, vy_ref_kind kind, uint32_t index);
/* Whether values may have the type: all but void and bf16; an error otherwise. */
bool vy_builder_value_type(vyre_builder *b, vyre_type type, const char *what);
/* Whether elements in memory may have it: all but void and vectors of bools. */
bool vy_builder_element_type(vyre_builder *b, vyre_type type, const char *what);

/* builder_type.c */
/* Gives an untyped tree its type, down to its literals. False after an error. */
bool vy_builder_settle(vyre_builder *b, uint32_t node, vyre_type type);
/* The node becomes, or is, of that type; `what` names the place in the error. */
bool vy_builder_coerce(vyre_builder *b, uint32_t node, vyre_type type, const char *what);
/* u32, i32 or u64; untyped becomes u32. */
bool vy_builder_coerce_index(vyre_builder *b, uint32_t node, const char *what);
/* u32 or i32; untyped becomes u32. */
bool vy_builder_coerce_word(vyre_builder *b, uint32_t node, const char *what);
/* The one type of the nodes, which may still be untyped: untyped ones take it, and beside a vector
 * scalars of its components stay as they are. False after an error. */
bool vy_builder_unify(vyre_builder *b, const uint32_t *nodes, uint32_t count, const char *what,
                      vyre_type *out_type);
/* The type that an operator gives for operands that it also settles; false after an error. */
bool vy_builder_type_op(vyre_builder *b, vyre_op op, const uint32_t *nodes, vyre_type *out_type);

/* builder_printf.c: format and values of a PRINTF; after an error it is not to be appended. */
void vy_builder_fill_printf(vyre_builder *b, const char *format, const vyre_expr *values,
                            uint32_t count, vy_stmt *out);

/* builder_expr.c */
/* inf or nan, of the float type that it meets, f32 where it meets none. */
vyre_expr vy_builder_special(vyre_builder *b, uint32_t f32_bits);
/* Takes a handle: its pool index, or VY_NO_NODE after an error. */
#define VY_NO_NODE 0xffffffffu
uint32_t vy_builder_use(vyre_builder *b, vyre_expr expr, const char *what);
/* Places the tree in program->exprs; every node is typed by then. */
vy_range vy_builder_place(vyre_builder *b, uint32_t node);
/* Empties the pool once nothing in it is live. */
void vy_builder_release_pool(vyre_builder *b);
/* Makes room for what a text of that size has most likely. */
void vy_builder_expect(vyre_builder *b, size_t text_size);
/* A CALL node with checked arguments; unlike vyre_build_call also of a function without a value. */
uint32_t vy_builder_call(vyre_builder *b, uint32_t function, const vyre_expr *arguments,
                         uint32_t count);

#endif
