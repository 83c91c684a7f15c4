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
    VY_SHAPE_INDEXED,       /* (u32, i32 or u64 index) -> the element type of `ref` */
    VY_SHAPE_CALL,          /* the function's */
    VY_SHAPE_VECTOR,        /* 1 to 4 parts -> the node's type; see vy_expr_operand_count */
    VY_SHAPE_SWIZZLE,       /* (vector) -> the components that `ref` names: VY_SWIZZLE_* */
    VY_SHAPE_ARITHMETIC,    /* (T, T) -> T, numbers */
    VY_SHAPE_ARITHMETIC3,   /* (T, T, T) -> T, numbers */
    VY_SHAPE_INTEGER,       /* (T, T) -> T, integers; DOT4: u32 i32 */
    VY_SHAPE_INTEGER_UNARY, /* (T) -> T, integers */
    VY_SHAPE_SIGNED_UNARY,  /* (T) -> T, signed integers and floats; NEGATE also unsigned ones
                               (wraps) when not a literal */
    VY_SHAPE_SHIFT,       /* (T, integer amount) -> T, integers; amount modulo the width; UNPACK_*:
                             u32 i32 */
    VY_SHAPE_EQUALITY,    /* (T, T) -> bool, any type */
    VY_SHAPE_ORDER,       /* (T, T) -> bool, numbers */
    VY_SHAPE_LOGIC,       /* (bool, bool) -> bool */
    VY_SHAPE_LOGIC_UNARY, /* (bool) -> bool */
    VY_SHAPE_ABS_DIFF,    /* (T, T) -> T for floats, the unsigned type of the width for integers */
    VY_SHAPE_BIT_COUNT,   /* (integer) -> u32 */
    VY_SHAPE_EXTRACT,     /* (T, u32 offset, u32 count) -> T, integers (signed: sign-extends) */
    VY_SHAPE_INSERT,      /* (T, T, u32 offset, u32 count) -> T, integers */
    VY_SHAPE_SELECT,      /* (bool, T, T) -> T, any type */
    VY_SHAPE_CAST,        /* any -> the node's type */
    VY_SHAPE_BITCAST,     /* number -> the node's type, same size */
    VY_SHAPE_FLOAT_UNARY, /* (T) -> T, floats; those of the tolerance table: not f64 */
    VY_SHAPE_FLOAT,       /* (T, T) -> T, likewise */
    VY_SHAPE_FLOAT3,      /* (T, T, T) -> T, likewise */
    VY_SHAPE_FLOAT_TEST,  /* (T) -> bool, floats */
    VY_SHAPE_BOOL_REDUCE, /* (bool2 or bool4) -> bool */
    VY_SHAPE_DOT          /* (V, V) -> component, vectors of numbers: products, summed x first */
} vy_shape;
/* T may be a vector of what the shape names; the operator then works component by component and a
 * result of bool or u32 is a vector too. The condition of a SELECT and the amount, offset and count
 * of bit operations are scalars for all components, or vectors of as many. */

/* `ref` of a SWIZZLE: the count in the upper bits, two bits for each component below. */
#define VY_SWIZZLE(count, components) ((uint32_t)(count) << 8 | (uint32_t)(components))
static inline uint32_t vy_swizzle_count(uint32_t ref)
{
    return ref >> 8 & 7;
}
static inline uint32_t vy_swizzle_component(uint32_t ref, uint32_t i)
{
    return ref >> 2 * i & 3;
}

typedef struct vy_op_info {
    const char *name; /* "ADD" */
    const char *text; /* "+" */
    vy_form form;
    vy_shape shape;
    uint8_t operand_count; /* VECTOR: as many as are given, see vy_expr_operand_count */
} vy_op_info;

extern const vy_op_info vy_op_rows[VYRE_OP_COUNT];
/* Never NULL; the row of NONE for numbers that are no operator. */
static inline const vy_op_info *vy_op_get(vyre_op op)
{
    unsigned row = (unsigned)op;
    return &vy_op_rows[row < VYRE_OP_COUNT ? row : VYRE_OP_NONE];
}
/* The operator whose text is written as a call, or NONE. */
vyre_op vy_op_find_call(const char *name, size_t length);

/* One row of the tolerance table: f32 functions that are not bit-exact, no wider than Vulkan's. For
 * arguments in [low, high] the error against the exact result is at most ulp + ulp_slope * |x|
 * units in the last place (POW: |y * log2 x| in place of |x|; |y| for x from 0.5 to 2, where |y| is
 * at most 2^20) or at most `absolute`, whichever is larger; special values as docs/language.md
 * lists them. */
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

/* ---- Subgroup operations --------------------------------------------------------------------- */

typedef enum vy_subgroup_kind {
    VY_SUBGROUP_ELECT,
    VY_SUBGROUP_VOTE,
    VY_SUBGROUP_BALLOT,
    VY_SUBGROUP_VALUE,
    VY_SUBGROUP_LANE,
    VY_SUBGROUP_REDUCE,
    VY_SUBGROUP_INCLUSIVE,
    VY_SUBGROUP_EXCLUSIVE
} vy_subgroup_kind;

typedef struct vy_subgroup_info {
    const char *text;
    vy_subgroup_kind kind;
    vyre_op op; /* of votes, reductions and scans */
    uint8_t operand_count;
} vy_subgroup_info;

/* Never NULL; of numbers that are no operation, ELECT's. */
const vy_subgroup_info *vy_subgroup_get(vyre_subgroup op);
/* VYRE_SUBGROUP_COUNT where there is none. */
vyre_subgroup vy_subgroup_find(const char *name, size_t length);

/* ---- Other tables ---------------------------------------------------------------------------- */

const char *vy_builtin_text(vyre_builtin builtin);
const char *vy_atomic_text(vyre_atomic atomic);
uint32_t vy_atomic_operand_count(vyre_atomic atomic);
const char *vy_buffer_mode_text(vyre_buffer_mode mode);
bool vy_buffer_mode_writes(vyre_buffer_mode mode);
bool vy_buffer_mode_is_input(vyre_buffer_mode mode);
bool vy_buffer_mode_is_output(vyre_buffer_mode mode);

/* ---- Types ----------------------------------------------------------------------------------- */

typedef enum vy_type_kind {
    VY_KIND_NONE,
    VY_KIND_BOOL,
    VY_KIND_UNSIGNED,
    VY_KIND_SIGNED,
    VY_KIND_FLOAT
} vy_type_kind;

typedef struct vy_type_row {
    uint8_t size, kind, component, components, width;
} vy_type_row;
extern const vy_type_row vy_type_rows[VYRE_TYPE_COUNT];

/* The row of VOID for unknown numbers. */
static inline const vy_type_row *vy_type_row_of(vyre_type type)
{
    unsigned row = (unsigned)type;
    return &vy_type_rows[row < VYRE_TYPE_COUNT ? row : VYRE_TYPE_VOID];
}
/* Of a component. */
static inline vy_type_kind vy_type_kind_of(vyre_type type)
{
    return (vy_type_kind)vy_type_row_of(type)->kind;
}
/* 1 for scalars, 0 for void and unknown numbers. */
static inline uint32_t vy_type_components(vyre_type type)
{
    return vy_type_row_of(type)->components;
}
/* The scalar type of the components; of a scalar itself. */
static inline vyre_type vy_type_component(vyre_type type)
{
    return (vyre_type)vy_type_row_of(type)->component;
}
/* The vector of `count` such components, the scalar itself for 1, VOID where there is none. */
vyre_type vy_type_vector(vyre_type component, uint32_t count);
/* Bits of a component: 8 to 64; of bool 1. */
static inline uint32_t vy_type_width(vyre_type type)
{
    return vy_type_row_of(type)->width;
}
static inline bool vy_type_is_vector(vyre_type type)
{
    return vy_type_components(type) > 1;
}
/* Of a scalar of any width or its vectors. */
static inline bool vy_type_is_integer(vyre_type type)
{
    vy_type_kind kind = vy_type_kind_of(type);
    return kind == VY_KIND_UNSIGNED || kind == VY_KIND_SIGNED;
}
static inline bool vy_type_is_signed(vyre_type type)
{
    return vy_type_kind_of(type) == VY_KIND_SIGNED;
}
static inline bool vy_type_is_float(vyre_type type)
{
    return vy_type_kind_of(type) == VY_KIND_FLOAT;
}
/* The integer scalar of that signedness and width, VOID where there is none. */
vyre_type vy_type_of_width(bool is_signed, uint32_t width);
/* The low bits of a scalar of that type: how values are kept in 64 bits everywhere. bool: 0 or 1.
 */
static inline uint64_t vy_type_bits(vyre_type type, uint64_t bits)
{
    uint32_t width = vy_type_width(type);
    if (width == 1) {
        return bits != 0;
    }
    return width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
}
/* The same, with the sign of signed integers copied upwards. */
int64_t vy_type_signed_value(vyre_type type, uint64_t bits);

#endif
