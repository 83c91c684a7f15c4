/* Facts about operators as data: the rows of VYRE_OPS with their forms and shapes. What an operator
 * computes is not here: it stands once as plain C in interp/ and once as an emission in spirv/. */
#ifndef VY_OPS_H
#define VY_OPS_H

#include "codegen/base/base.h"
#include "vyre/program.h"

typedef enum vy_form {
    VY_FORM_LEAF,   /* written in a way of its own */
    VY_FORM_INFIX,  /* a + b */
    VY_FORM_PREFIX, /* -a */
    VY_FORM_CALL    /* min(a, b) */
} vy_form;

/* Which operands an operator takes and what it gives. T: one type, the same in all places. */
typedef enum vy_shape {
    VY_SHAPE_LEAF,          /* no operands, or typed by what it names */
    VY_SHAPE_INDEXED,       /* (u32 or i32 index) -> the element type of `ref` */
    VY_SHAPE_CALL,          /* the function's */
    VY_SHAPE_ARITHMETIC,    /* (T, T) -> T, u32 i32 f32 */
    VY_SHAPE_ARITHMETIC3,   /* (T, T, T) -> T, u32 i32 f32 */
    VY_SHAPE_INTEGER,       /* (T, T) -> T, u32 i32 */
    VY_SHAPE_INTEGER_UNARY, /* (T) -> T, u32 i32 */
    VY_SHAPE_SIGNED_UNARY,  /* (T) -> T, i32 f32; NEGATE also u32 (wraps) when not a literal */
    VY_SHAPE_SHIFT,         /* (T, u32 or i32 amount) -> T, T u32 i32; amount modulo the width */
    VY_SHAPE_EQUALITY,      /* (T, T) -> bool, any type */
    VY_SHAPE_ORDER,         /* (T, T) -> bool, u32 i32 f32 */
    VY_SHAPE_LOGIC,         /* (bool, bool) -> bool */
    VY_SHAPE_LOGIC_UNARY,   /* (bool) -> bool */
    VY_SHAPE_ABS_DIFF,      /* (T, T) -> u32 for u32 and i32, f32 for f32 */
    VY_SHAPE_BIT_COUNT,     /* (u32 or i32) -> u32 */
    VY_SHAPE_EXTRACT,       /* (T, u32 offset, u32 count) -> T, u32 i32 (sign-extends) */
    VY_SHAPE_INSERT,        /* (T, T, u32 offset, u32 count) -> T */
    VY_SHAPE_SELECT,        /* (bool, T, T) -> T, any type */
    VY_SHAPE_CAST,          /* any -> the node's type */
    VY_SHAPE_BITCAST,       /* u32 i32 f32 -> the node's type, same size */
    VY_SHAPE_FLOAT_UNARY,   /* (f32) -> f32 */
    VY_SHAPE_FLOAT,         /* (f32, f32) -> f32 */
    VY_SHAPE_FLOAT3,        /* (f32, f32, f32) -> f32 */
    VY_SHAPE_FLOAT_TEST     /* (f32) -> bool */
} vy_shape;

typedef struct vy_op_info {
    const char *name; /* "ADD" */
    const char *text; /* "+" */
    vy_form form;
    vy_shape shape;
    uint8_t operand_count;
} vy_op_info;

/* Never NULL; the row of NONE for numbers that are no operator. */
const vy_op_info *vy_op_get(vyre_op op);
/* The operator whose text is written as a call, or NONE. */
vyre_op vy_op_find_call(const char *name, size_t length);

/* One row of the tolerance table: f32 functions that are not bit-exact, no wider than Vulkan's. For
 * arguments in [low, high] the error against the exact result is at most ulp + ulp_slope * |x|
 * units in the last place (POW: |y * log2 x| in place of |x|; |y| for x from 0.5 to 2) or at most
 * `absolute`, whichever is larger; special values as docs/language.md lists them. */
typedef struct vy_tolerance {
    vyre_op op;
    double low, high; /* domain of the (first) argument */
    double ulp, absolute;
    double ulp_slope;
} vy_tolerance;
/* The row of op with the widest domain, or NULL where the operator is exact. */
const vy_tolerance *vy_tolerance_find(vyre_op op);
/* The row that holds for this first argument, or NULL: exact, or outside the domain. */
const vy_tolerance *vy_tolerance_find_at(vyre_op op, double x);

const char *vy_builtin_text(vyre_builtin builtin);
const char *vy_atomic_text(vyre_atomic atomic);
uint32_t vy_atomic_operand_count(vyre_atomic atomic);
const char *vy_buffer_mode_text(vyre_buffer_mode mode);
bool vy_buffer_mode_writes(vyre_buffer_mode mode);
bool vy_buffer_mode_is_input(vyre_buffer_mode mode);
bool vy_buffer_mode_is_output(vyre_buffer_mode mode);
bool vy_type_is_integer(vyre_type type);

#endif
