/* Programs: types, operators, and the builder that makes a program from C. `text.h` reads and
 * prints the same programs as `.vyre` text; docs/language.md states what every construct means. */
#ifndef VYRE_PROGRAM_H
#define VYRE_PROGRAM_H

#include "vyre/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element and value types. Numbers are stable. Vectors have 2 or 4 components of a 32-bit type;
 * vectors of bools are values only, and bf16 is a type of elements only: its loads give f32. */
#define VYRE_TYPES(X)                                                                              \
    /* name, number, keyword, bytes in memory, kind, component, components */                      \
    X(VOID, 0, "void", 0, NONE, VOID, 0)                                                           \
    X(BOOL, 1, "bool", 4, BOOL, BOOL, 1)                                                           \
    X(U32, 2, "u32", 4, UNSIGNED, U32, 1)                                                          \
    X(I32, 3, "i32", 4, SIGNED, I32, 1)                                                            \
    X(F32, 4, "f32", 4, FLOAT, F32, 1)                                                             \
    X(U8, 5, "u8", 1, UNSIGNED, U8, 1)                                                             \
    X(I8, 6, "i8", 1, SIGNED, I8, 1)                                                               \
    X(U16, 7, "u16", 2, UNSIGNED, U16, 1)                                                          \
    X(I16, 8, "i16", 2, SIGNED, I16, 1)                                                            \
    X(U64, 9, "u64", 8, UNSIGNED, U64, 1)                                                          \
    X(I64, 10, "i64", 8, SIGNED, I64, 1)                                                           \
    X(F16, 11, "f16", 2, FLOAT, F16, 1)                                                            \
    X(BF16, 12, "bf16", 2, FLOAT, BF16, 1)                                                         \
    X(F64, 13, "f64", 8, FLOAT, F64, 1)                                                            \
    X(BOOL2, 14, "bool2", 0, BOOL, BOOL, 2)                                                        \
    X(BOOL4, 15, "bool4", 0, BOOL, BOOL, 4)                                                        \
    X(U32X2, 16, "u32x2", 8, UNSIGNED, U32, 2)                                                     \
    X(U32X4, 17, "u32x4", 16, UNSIGNED, U32, 4)                                                    \
    X(I32X2, 18, "i32x2", 8, SIGNED, I32, 2)                                                       \
    X(I32X4, 19, "i32x4", 16, SIGNED, I32, 4)                                                      \
    X(F32X2, 20, "f32x2", 8, FLOAT, F32, 2)                                                        \
    X(F32X4, 21, "f32x4", 16, FLOAT, F32, 4)

typedef enum vyre_type {
#define VYRE_X(name, number, keyword, size, kind, component, components) VYRE_TYPE_##name = number,
    VYRE_TYPES(VYRE_X)
#undef VYRE_X
        VYRE_TYPE_COUNT,
    /* An integer literal that has not met a typed operand yet. Never in a finished program. */
    VYRE_TYPE_INT = 255
} vyre_type;

/* Size of one element in a buffer, in bytes; 0 for what has no form in memory (void, vectors of
 * bools) and for unknown numbers. */
VYRE_API uint32_t vyre_type_size(vyre_type type);
/* How text writes the type, such as "u32x4"; never NULL. */
VYRE_API const char *vyre_type_keyword(vyre_type type);

/* Operators. `form` is how text writes them, `shape` which operand types they take and what they
 * give (codegen/ir/ops.h explains the shapes). Leaves have their own vyre_build_* functions. */
#define VYRE_OPS(X)                                                                                \
    /* name, text, form, shape */                                                                  \
    X(NONE, "", LEAF, LEAF)                                                                        \
    X(LITERAL, "", LEAF, LEAF)                                                                     \
    X(BUILTIN, "", LEAF, LEAF)                                                                     \
    X(PARAM, "", LEAF, LEAF)                                                                       \
    X(VARIABLE, "", LEAF, LEAF)                                                                    \
    X(LENGTH, "len", LEAF, LEAF)                                                                   \
    X(LOAD, "", LEAF, INDEXED)                                                                     \
    X(ELEMENT, "", LEAF, INDEXED)                                                                  \
    X(TABLE, "", LEAF, INDEXED)                                                                    \
    X(CALL, "", LEAF, CALL)                                                                        \
    X(VECTOR, "", LEAF, VECTOR)                                                                    \
    X(SWIZZLE, "", LEAF, SWIZZLE)                                                                  \
    X(ADD, "+", INFIX, ARITHMETIC)                                                                 \
    X(SUB, "-", INFIX, ARITHMETIC)                                                                 \
    X(MUL, "*", INFIX, ARITHMETIC)                                                                 \
    X(DIV, "/", INFIX, ARITHMETIC)                                                                 \
    X(REM, "%", INFIX, INTEGER)                                                                    \
    X(AND, "&", INFIX, INTEGER)                                                                    \
    X(OR, "|", INFIX, INTEGER)                                                                     \
    X(XOR, "^", INFIX, INTEGER)                                                                    \
    X(SHL, "<<", INFIX, SHIFT)                                                                     \
    X(SHR, ">>", INFIX, SHIFT)                                                                     \
    X(EQ, "==", INFIX, EQUALITY)                                                                   \
    X(NE, "!=", INFIX, EQUALITY)                                                                   \
    X(LT, "<", INFIX, ORDER)                                                                       \
    X(LE, "<=", INFIX, ORDER)                                                                      \
    X(GT, ">", INFIX, ORDER)                                                                       \
    X(GE, ">=", INFIX, ORDER)                                                                      \
    X(LOGICAL_AND, "&&", INFIX, LOGIC)                                                             \
    X(LOGICAL_OR, "||", INFIX, LOGIC)                                                              \
    X(NEGATE, "-", PREFIX, SIGNED_UNARY)                                                           \
    X(NOT, "!", PREFIX, LOGIC_UNARY)                                                               \
    X(COMPLEMENT, "~", PREFIX, INTEGER_UNARY)                                                      \
    X(MIN, "min", CALL, ARITHMETIC)                                                                \
    X(MAX, "max", CALL, ARITHMETIC)                                                                \
    X(CLAMP, "clamp", CALL, ARITHMETIC3)                                                           \
    X(ABS, "abs", CALL, SIGNED_UNARY)                                                              \
    X(SIGN, "sign", CALL, SIGNED_UNARY)                                                            \
    X(ABS_DIFF, "abs_diff", CALL, ABS_DIFF)                                                        \
    X(MUL_HIGH, "mul_high", CALL, INTEGER)                                                         \
    X(ADD_SAT, "add_sat", CALL, INTEGER)                                                           \
    X(SUB_SAT, "sub_sat", CALL, INTEGER)                                                           \
    X(MUL_SAT, "mul_sat", CALL, INTEGER)                                                           \
    X(ROTATE_LEFT, "rotate_left", CALL, SHIFT)                                                     \
    X(ROTATE_RIGHT, "rotate_right", CALL, SHIFT)                                                   \
    X(CLZ, "clz", CALL, BIT_COUNT)                                                                 \
    X(CTZ, "ctz", CALL, BIT_COUNT)                                                                 \
    X(POPCOUNT, "popcount", CALL, BIT_COUNT)                                                       \
    X(REVERSE_BITS, "reverse_bits", CALL, INTEGER_UNARY)                                           \
    X(EXTRACT_BITS, "extract_bits", CALL, EXTRACT)                                                 \
    X(INSERT_BITS, "insert_bits", CALL, INSERT)                                                    \
    X(UNPACK_BYTE, "unpack_byte", CALL, SHIFT)                                                     \
    X(UNPACK_NIBBLE, "unpack_nibble", CALL, SHIFT)                                                 \
    X(DOT4, "dot4", CALL, INTEGER)                                                                 \
    X(SELECT, "select", CALL, SELECT)                                                              \
    X(CAST, "", LEAF, CAST)                                                                        \
    X(BITCAST, "bitcast", LEAF, BITCAST)                                                           \
    X(FLOOR, "floor", CALL, FLOAT_UNARY)                                                           \
    X(CEIL, "ceil", CALL, FLOAT_UNARY)                                                             \
    X(TRUNC, "trunc", CALL, FLOAT_UNARY)                                                           \
    X(FRACT, "fract", CALL, FLOAT_UNARY)                                                           \
    X(ROUND, "round", CALL, FLOAT_UNARY)                                                           \
    X(ROUND_EVEN, "round_even", CALL, FLOAT_UNARY)                                                 \
    X(SQRT, "sqrt", CALL, FLOAT_UNARY)                                                             \
    X(RSQRT, "rsqrt", CALL, FLOAT_UNARY)                                                           \
    X(RECIPROCAL, "reciprocal", CALL, FLOAT_UNARY)                                                 \
    X(EXP, "exp", CALL, FLOAT_UNARY)                                                               \
    X(EXP2, "exp2", CALL, FLOAT_UNARY)                                                             \
    X(LOG, "log", CALL, FLOAT_UNARY)                                                               \
    X(LOG2, "log2", CALL, FLOAT_UNARY)                                                             \
    X(SIN, "sin", CALL, FLOAT_UNARY)                                                               \
    X(COS, "cos", CALL, FLOAT_UNARY)                                                               \
    X(TAN, "tan", CALL, FLOAT_UNARY)                                                               \
    X(ASIN, "asin", CALL, FLOAT_UNARY)                                                             \
    X(ACOS, "acos", CALL, FLOAT_UNARY)                                                             \
    X(ATAN, "atan", CALL, FLOAT_UNARY)                                                             \
    X(SINH, "sinh", CALL, FLOAT_UNARY)                                                             \
    X(COSH, "cosh", CALL, FLOAT_UNARY)                                                             \
    X(TANH, "tanh", CALL, FLOAT_UNARY)                                                             \
    X(ATAN2, "atan2", CALL, FLOAT)                                                                 \
    X(POW, "pow", CALL, FLOAT)                                                                     \
    X(COPYSIGN, "copysign", CALL, FLOAT)                                                           \
    X(FMA, "fma", CALL, FLOAT3)                                                                    \
    X(IS_NAN, "is_nan", CALL, FLOAT_TEST)                                                          \
    X(IS_INF, "is_inf", CALL, FLOAT_TEST)                                                          \
    X(IS_FINITE, "is_finite", CALL, FLOAT_TEST)                                                    \
    X(ANY, "any", CALL, BOOL_REDUCE)                                                               \
    X(ALL, "all", CALL, BOOL_REDUCE)                                                               \
    X(DOT, "dot", CALL, DOT)

typedef enum vyre_op {
#define VYRE_X(name, text, form, shape) VYRE_OP_##name,
    VYRE_OPS(VYRE_X)
#undef VYRE_X
        VYRE_OP_COUNT
} vyre_op;

/* Built-in values, all u32. lane: of the invocation in its subgroup, lanes: of the subgroup. */
/* clang-format off */
#define VYRE_BUILTINS(X)                                                                           \
    X(GID_X, "gid.x") X(GID_Y, "gid.y") X(GID_Z, "gid.z") X(LID_X, "lid.x") X(LID_Y, "lid.y")      \
    X(LID_Z, "lid.z") X(WID_X, "wid.x") X(WID_Y, "wid.y") X(WID_Z, "wid.z")                        \
    X(GROUP_SIZE_X, "group_size.x") X(GROUP_SIZE_Y, "group_size.y")                                \
    X(GROUP_SIZE_Z, "group_size.z") X(NUM_GROUPS_X, "num_groups.x")                                \
    X(NUM_GROUPS_Y, "num_groups.y") X(NUM_GROUPS_Z, "num_groups.z") X(PASS, "pass")                \
    X(LANE, "lane") X(LANES, "lanes")
/* clang-format on */

typedef enum vyre_builtin {
#define VYRE_X(name, text) VYRE_BUILTIN_##name,
    VYRE_BUILTINS(VYRE_X)
#undef VYRE_X
        VYRE_BUILTIN_COUNT
} vyre_builtin;

/* Read-modify-write and other atomic operations on storage and shared memory. */
/* clang-format off */
#define VYRE_ATOMICS(X)                                                                            \
    /* name, text, value operands, gives a value */                                                \
    X(ADD, "atomic_add", 1, 1) X(SUB, "atomic_sub", 1, 1) X(MIN, "atomic_min", 1, 1)               \
    X(MAX, "atomic_max", 1, 1) X(AND, "atomic_and", 1, 1) X(OR, "atomic_or", 1, 1)                 \
    X(XOR, "atomic_xor", 1, 1) X(EXCHANGE, "atomic_exchange", 1, 1)                                \
    X(COMPARE_EXCHANGE, "atomic_compare_exchange", 2, 1) X(LOAD, "atomic_load", 0, 1)              \
    X(STORE, "atomic_store", 1, 0)
/* clang-format on */

typedef enum vyre_atomic {
#define VYRE_X(name, text, operands, result) VYRE_ATOMIC_##name,
    VYRE_ATOMICS(VYRE_X)
#undef VYRE_X
        VYRE_ATOMIC_COUNT
} vyre_atomic;

/* Subgroup operations. A row's kind: which operands (x, y) it takes and what it gives.
 *   ELECT () -> bool
 *   VOTE (bool) -> bool
 *   BALLOT (bool) -> u32x4: bit of lane l in component l / 32
 *   VALUE (T) -> T
 *   LANE (T, u32) -> T
 *   REDUCE, INCLUSIVE, EXCLUSIVE (T) -> T
 * T is any number or vector of numbers (AND, OR, XOR: integers), bool too for VALUE and LANE. */
#define VYRE_SUBGROUPS(X)                                                                          \
    /* name, text, kind, operator */                                                               \
    X(ELECT, "subgroup_elect", ELECT, NONE)                                                        \
    X(ANY, "subgroup_any", VOTE, LOGICAL_OR)                                                       \
    X(ALL, "subgroup_all", VOTE, LOGICAL_AND)                                                      \
    X(BALLOT, "subgroup_ballot", BALLOT, NONE)                                                     \
    X(BROADCAST_FIRST, "subgroup_broadcast_first", VALUE, NONE)                                    \
    X(BROADCAST, "subgroup_broadcast", LANE, NONE)                                                 \
    X(SHUFFLE, "subgroup_shuffle", LANE, NONE)                                                     \
    X(SHUFFLE_XOR, "subgroup_shuffle_xor", LANE, NONE)                                             \
    X(SHUFFLE_UP, "subgroup_shuffle_up", LANE, NONE)                                               \
    X(SHUFFLE_DOWN, "subgroup_shuffle_down", LANE, NONE)                                           \
    X(ADD, "subgroup_add", REDUCE, ADD)                                                            \
    X(MUL, "subgroup_mul", REDUCE, MUL)                                                            \
    X(MIN, "subgroup_min", REDUCE, MIN)                                                            \
    X(MAX, "subgroup_max", REDUCE, MAX)                                                            \
    X(AND, "subgroup_and", REDUCE, AND)                                                            \
    X(OR, "subgroup_or", REDUCE, OR)                                                               \
    X(XOR, "subgroup_xor", REDUCE, XOR)                                                            \
    X(INCLUSIVE_ADD, "subgroup_inclusive_add", INCLUSIVE, ADD)                                     \
    X(INCLUSIVE_MUL, "subgroup_inclusive_mul", INCLUSIVE, MUL)                                     \
    X(INCLUSIVE_MIN, "subgroup_inclusive_min", INCLUSIVE, MIN)                                     \
    X(INCLUSIVE_MAX, "subgroup_inclusive_max", INCLUSIVE, MAX)                                     \
    X(INCLUSIVE_AND, "subgroup_inclusive_and", INCLUSIVE, AND)                                     \
    X(INCLUSIVE_OR, "subgroup_inclusive_or", INCLUSIVE, OR)                                        \
    X(INCLUSIVE_XOR, "subgroup_inclusive_xor", INCLUSIVE, XOR)                                     \
    X(EXCLUSIVE_ADD, "subgroup_exclusive_add", EXCLUSIVE, ADD)                                     \
    X(EXCLUSIVE_MUL, "subgroup_exclusive_mul", EXCLUSIVE, MUL)                                     \
    X(EXCLUSIVE_MIN, "subgroup_exclusive_min", EXCLUSIVE, MIN)                                     \
    X(EXCLUSIVE_MAX, "subgroup_exclusive_max", EXCLUSIVE, MAX)                                     \
    X(EXCLUSIVE_AND, "subgroup_exclusive_and", EXCLUSIVE, AND)                                     \
    X(EXCLUSIVE_OR, "subgroup_exclusive_or", EXCLUSIVE, OR)                                        \
    X(EXCLUSIVE_XOR, "subgroup_exclusive_xor", EXCLUSIVE, XOR)

typedef enum vyre_subgroup {
#define VYRE_X(name, text, kind, op) VYRE_SUBGROUP_##name,
    VYRE_SUBGROUPS(VYRE_X)
#undef VYRE_X
        VYRE_SUBGROUP_COUNT
} vyre_subgroup;

typedef enum vyre_order {
    VYRE_ORDER_RELAXED, /* the default */
    VYRE_ORDER_ACQUIRE, /* loads and read-modify-writes */
    VYRE_ORDER_RELEASE, /* stores and read-modify-writes */
    VYRE_ORDER_ACQ_REL  /* read-modify-writes */
} vyre_order;

/* Roles of buffers (docs/language.md, "Buffers"). */
#define VYRE_BUFFER_MODES(X)                                                                       \
    /* name, keyword, device may write, host provides contents, host gets contents */              \
    X(IN, "in", 0, 1, 0)                                                                           \
    X(OUT, "out", 1, 0, 1)                                                                         \
    X(INOUT, "inout", 1, 1, 1)                                                                     \
    X(SCRATCH, "scratch", 1, 0, 0)                                                                 \
    X(SCRATCH_KEEP, "scratch keep", 1, 0, 0)                                                       \
    X(UNIFORM, "uniform", 0, 1, 0)                                                                 \
    X(SHARED, "shared", 1, 0, 0)

typedef enum vyre_buffer_mode {
#define VYRE_X(name, keyword, writes, input, output) VYRE_BUFFER_##name,
    VYRE_BUFFER_MODES(VYRE_X)
#undef VYRE_X
        VYRE_BUFFER_MODE_COUNT
} vyre_buffer_mode;

#define VYRE_MAX_NESTING        256u
#define VYRE_MAX_OPERATIONS     (1u << 24)
#define VYRE_MAX_BUFFERS        24u /* in descriptor form, without shared ones */
#define VYRE_MAX_SHARED         64u
#define VYRE_MAX_PARAMS         256u
#define VYRE_MAX_NAME           255u
#define VYRE_MAX_HOST_LOOPS     8u /* host-evaluated loops within each other */
#define VYRE_MAX_PRINTF_VALUES  16u
#define VYRE_MAX_PRINTF_WORDS   32u /* of all values; 64 bits are two, a vector one a component */
#define VYRE_DEFAULT_LOOP_LIMIT (1u << 22)
/* Invocations of a workgroup with `grid over`, where the program does not say; one else. */
#define VYRE_DEFAULT_WORKGROUP 64u

/* A finished program. Thread-safety: immutable. */
typedef struct vyre_program vyre_program;

/* Kernels of it may live on. Sets *program to NULL; NULL is no error. */
VYRE_API void vyre_program_destroy(vyre_program **program);
/* The name that stands behind `program`; lives as long as the program. */
VYRE_API const char *vyre_program_name(const vyre_program *program);
/* Equal for equal programs: over the canonical form, without names, comments and places. Both
 * hashes are made when they are asked for, in time that grows with the program. */
VYRE_API uint64_t vyre_program_hash(const vyre_program *program);
/* Over what a caller sees: names, order, types and roles of buffers and parameters. */
VYRE_API uint64_t vyre_program_interface_hash(const vyre_program *program);

/* A line that a printf statement printed, alive during the call that it is given to. */
typedef struct vyre_printf_line {
    const char *text;                   /* without a line end */
    const char *program;                /* its name */
    uint32_t line, column;              /* of the statement; 0: not known */
    uint32_t pass, segment, invocation; /* as of vyre_fault_record */
    uint32_t execution;                 /* of the pass: how many segments ran before this one */
} vyre_printf_line;

/* ---- Builder ----------------------------------------------------------------------------------
 * Errors are sticky: the first one is kept and `finish` reports it; calls after it do nothing and
 * return id 0. An expression is a tree: each handle is used exactly once, and its operations are
 * evaluated where the statement that takes it stands. Bind it with vyre_build_let to use it again.
 * Statements are appended where the builder stands; *_begin opens a nested list that
 * vyre_build_end closes. Names are copied. Thread-safety: external. */
typedef struct vyre_builder vyre_builder;
/* A value that no statement has taken yet. Id 0: none, where one may be left out. */
typedef struct vyre_expr {
    uint32_t id;
} vyre_expr;
/* A declared thing: buffer, variable, parameter, table or function. Kinds are checked. */
typedef struct vyre_ref {
    uint32_t id;
} vyre_ref;

/* A program without anything but its name. allocator may be NULL: malloc. Errors:
 * OUT_OF_HOST_MEMORY, INVALID_ARGUMENT (no name). */
VYRE_API VYRE_CHECK vyre_result vyre_builder_create(const char *program_name,
                                                    const vyre_allocator *allocator,
                                                    vyre_builder **out_builder);
/* Gives up what was built. Sets *builder to NULL; NULL is no error. */
VYRE_API void vyre_builder_destroy(vyre_builder **builder);
/* The place (from 1) that errors of the following calls name; 0 for none. */
VYRE_API void vyre_builder_at(vyre_builder *builder, uint32_t line, uint32_t column);
/* Checks the whole program and gives it; the builder is destroyed and nulled either way. */
VYRE_API VYRE_CHECK vyre_result vyre_builder_finish(vyre_builder **builder,
                                                    vyre_program **out_program, vyre_diag *diag);

/* For debugging: from now on accesses out of bounds leave a record (interp.h), with the place of
 * the access in the text, on the interpreter and on devices; such an access still gives zero or
 * does nothing. The first record of a run is reported, as of traps. What && and || do not need, and
 * what select does not choose, is no access for this, and neither is what a `while` reads in the
 * test that ends it. Kernels take more instructions and run slower, and cannot be saved. Changes
 * the program, which nothing else may use meanwhile. Errors: INVALID_ARGUMENT (called twice, or
 * after a kernel was made), INVALID_PROGRAM (beyond a limit of the language with what is added: the
 * program then can only be destroyed), OUT_OF_HOST_MEMORY (likewise). */
VYRE_API VYRE_CHECK vyre_result vyre_program_record_bounds(vyre_program *program, vyre_diag *diag);

/* Header. Each at most once. Without a workgroup: VYRE_DEFAULT_WORKGROUP x 1 x 1 with grid_over (or
 * the subgroup width, where that is more), else 1 x 1 x 1. */
VYRE_API void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z);
/* One invocation for each element of that buffer. */
VYRE_API void vyre_build_grid_over(vyre_builder *b, vyre_ref buffer);
/* The workgroups in x, y and z are the first three elements of an `in` or `uniform` buffer of u32,
 * which the device reads when the program runs. Instead of vyre_build_grid_over. */
VYRE_API void vyre_build_grid_from(vyre_builder *b, vyre_ref buffer);
/* As many workgroups in x, y and z: u32s that the host can evaluate before the dispatch, as the
 * counts of buffers, but not of num_groups. Ids 0 of y and z stand for 1. Instead of
 * vyre_build_grid_over. */
VYRE_API void vyre_build_grid_of(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z);
/* So many passes of the kernel. */
VYRE_API void vyre_build_fixpoint(vyre_builder *b, uint32_t passes);
/* Passes until one leaves element 0 of the flag zero, at most so many. */
VYRE_API void vyre_build_fixpoint_until(vyre_builder *b, uint32_t passes, vyre_ref flag);
/* Trips that `while` loops share before they are ended. */
VYRE_API void vyre_build_loop_limit(vyre_builder *b, uint32_t trips);
/* Division and square root as the device has them, within Vulkan's bounds. */
VYRE_API void vyre_build_fast_math(vyre_builder *b);
/* The subgroup width that the program needs, a power of two of 1 to 128: workgroup size x must be a
 * multiple of it, and it runs where the device can pin it. */
VYRE_API void vyre_build_subgroup_width(vyre_builder *b, uint32_t width);

/* Declarations. A buffer's count: an expression the host can evaluate, or id 0 for "what is
 * bound". Tables hold `count` elements as they lie in memory, vyre_type_size(type) bytes each. */
VYRE_API vyre_ref vyre_build_buffer(vyre_builder *b, vyre_buffer_mode mode, const char *name,
                                    vyre_type type, vyre_expr count);
/* A value that each dispatch gives, the same for all invocations. */
VYRE_API vyre_ref vyre_build_param(vyre_builder *b, const char *name, vyre_type type);
/* Constants that are indexed; copied. */
VYRE_API vyre_ref vyre_build_table(vyre_builder *b, const char *name, vyre_type type,
                                   const void *elements, uint32_t count);
/* A named scalar constant, by the low bits of `bits`; vyre_build_constant_value gives its value
 * where it is used. */
VYRE_API vyre_ref vyre_build_constant(vyre_builder *b, const char *name, vyre_type type,
                                      uint64_t bits);
/* A named vector constant: the bits of each component. */
VYRE_API vyre_ref vyre_build_vector_constant(vyre_builder *b, const char *name, vyre_type type,
                                             const uint32_t *components);

/* Functions, before the body: begin, parameters, statements, vyre_build_end. */
VYRE_API vyre_ref vyre_build_function_begin(vyre_builder *b, const char *name,
                                            vyre_type return_type);
/* The next parameter of the function that has just begun. */
VYRE_API vyre_ref vyre_build_function_parameter(vyre_builder *b, const char *name, vyre_type type);

/* Expressions. */
VYRE_API vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value);
/* A literal of i32. */
VYRE_API vyre_expr vyre_build_i32(vyre_builder *b, int32_t value);
/* A literal of f32. */
VYRE_API vyre_expr vyre_build_f32(vyre_builder *b, float value);
/* A literal of bool; any value but 0 is true. */
VYRE_API vyre_expr vyre_build_bool(vyre_builder *b, int value);
/* A literal of any scalar type but bf16, by the low bits of `bits`. */
VYRE_API vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits);
/* An integer that takes its type from the operand it meets, u32 when there is none. */
VYRE_API vyre_expr vyre_build_int(vyre_builder *b, uint64_t value);
/* The value of a named constant. */
VYRE_API vyre_expr vyre_build_constant_value(vyre_builder *b, vyre_ref constant);
/* A built-in value, such as gid.x. */
VYRE_API vyre_expr vyre_build_builtin(vyre_builder *b, vyre_builtin builtin);
/* The value of a parameter. */
VYRE_API vyre_expr vyre_build_param_value(vyre_builder *b, vyre_ref param);
/* The value of a variable, a loop's index or a function's parameter. */
VYRE_API vyre_expr vyre_build_variable(vyre_builder *b, vyre_ref variable);
/* `len`: the number of elements bound to the buffer. */
VYRE_API vyre_expr vyre_build_length(vyre_builder *b, vyre_ref buffer);
/* An element of a buffer, a private array or a table. Out of bounds gives zero. */
VYRE_API vyre_expr vyre_build_load(vyre_builder *b, vyre_ref place, vyre_expr index);
/* Operators with 1 to 4 operands; the unused ones have id 0. */
VYRE_API vyre_expr vyre_build_op(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y, vyre_expr z,
                                 vyre_expr w);
/* Converts as docs/language.md says: `type(value)`. */
VYRE_API vyre_expr vyre_build_cast(vyre_builder *b, vyre_type type, vyre_expr value);
/* The same bits as a value of another type of that size. */
VYRE_API vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type type, vyre_expr value);
/* A vector of 1 to 4 parts: one scalar for all components, or scalars and vectors that have as many
 * components together as the type. */
VYRE_API vyre_expr vyre_build_vector(vyre_builder *b, vyre_type type, const vyre_expr *parts,
                                     uint32_t count);
/* 1, 2 or 4 components of a vector, each named x y z w, as a scalar or vector. */
VYRE_API vyre_expr vyre_build_swizzle(vyre_builder *b, vyre_expr vector, const char *components);
/* The value of a function. Errors at the end: one that gives none. */
VYRE_API vyre_expr vyre_build_call(vyre_builder *b, vyre_ref function, const vyre_expr *arguments,
                                   uint32_t count);

/* Statements. `type` VYRE_TYPE_VOID takes the type of the value. */
VYRE_API vyre_ref vyre_build_let(vyre_builder *b, const char *name, vyre_type type,
                                 vyre_expr value);
/* A variable that vyre_build_assign can change. */
VYRE_API vyre_ref vyre_build_var(vyre_builder *b, const char *name, vyre_type type,
                                 vyre_expr value);
/* A private array of `count` elements, zero at this statement. */
VYRE_API vyre_ref vyre_build_array(vyre_builder *b, const char *name, vyre_type type,
                                   uint32_t count);
/* Gives a variable another value. */
VYRE_API void vyre_build_assign(vyre_builder *b, vyre_ref variable, vyre_expr value);
/* Stores to an element of a buffer or a private array; out of bounds does nothing. */
VYRE_API void vyre_build_store(vyre_builder *b, vyre_ref place, vyre_expr index, vyre_expr value);
/* `name` NULL drops the old value. x: operand; y: the new value of a compare_exchange, whose x is
 * what is expected. */
VYRE_API vyre_ref vyre_build_atomic(vyre_builder *b, vyre_atomic op, vyre_order order,
                                    const char *name, vyre_ref buffer, vyre_expr index, vyre_expr x,
                                    vyre_expr y);
/* A subgroup operation over the invocations that reach it; operands as its row says. */
VYRE_API vyre_ref vyre_build_subgroup(vyre_builder *b, vyre_subgroup op, const char *name,
                                      vyre_expr x, vyre_expr y);
/* barrier, load, barrier: the value is uniform over the workgroup. */
VYRE_API vyre_ref vyre_build_uniform_load(vyre_builder *b, const char *name, vyre_ref buffer,
                                          vyre_expr index);
/* A call as a statement; `name` NULL drops the value. */
VYRE_API vyre_ref vyre_build_call_statement(vyre_builder *b, const char *name, vyre_ref function,
                                            const vyre_expr *arguments, uint32_t count);
/* Opens the list of what is done where the condition is true. */
VYRE_API void vyre_build_if_begin(vyre_builder *b, vyre_expr condition);
/* Closes that list and opens the one for where it is false. */
VYRE_API void vyre_build_else(vyre_builder *b);
/* Opens a switch, in which vyre_build_case_begin opens bodies. */
VYRE_API void vyre_build_switch_begin(vyre_builder *b, vyre_expr selector);
/* Opens the body of the values given; count 0 is `default`. Closed by vyre_build_end. */
VYRE_API void vyre_build_case_begin(vyre_builder *b, const uint32_t *values, uint32_t count);
/* for name in from .. to step s [down]: step id 0 is 1. `down` runs from to-1, to-1-s, ... >= from.
 */
VYRE_API vyre_ref vyre_build_for_begin(vyre_builder *b, const char *name, vyre_expr from,
                                       vyre_expr to, vyre_expr step);
/* As vyre_build_for_begin, from above down. */
VYRE_API vyre_ref vyre_build_for_down_begin(vyre_builder *b, const char *name, vyre_expr from,
                                            vyre_expr to, vyre_expr step);
/* The condition's expressions are evaluated before every trip. */
VYRE_API void vyre_build_while_begin(vyre_builder *b, vyre_expr condition);
/* Opens a list whose names end with it. */
VYRE_API void vyre_build_block_begin(vyre_builder *b);
/* Opens a list with a name for debuggers and texts. */
VYRE_API void vyre_build_region_begin(vyre_builder *b, const char *name);
/* Closes the list that was opened last: of a function, branch, case, loop, block or region. */
VYRE_API void vyre_build_end(vyre_builder *b);
/* Leaves the innermost loop. */
VYRE_API void vyre_build_break(vyre_builder *b);
/* Goes on with the next trip of the innermost loop. */
VYRE_API void vyre_build_continue(vyre_builder *b);
/* In a function with a value: that value; elsewhere id 0. */
VYRE_API void vyre_build_return(vyre_builder *b, vyre_expr value);
/* A barrier of the workgroup. */
VYRE_API void vyre_build_barrier(vyre_builder *b);
/* A barrier of the whole grid, at which the program is cut. */
VYRE_API void vyre_build_grid_sync(vyre_builder *b);
/* Leaves a record with that code, and goes on. */
VYRE_API void vyre_build_trap(vyre_builder *b, uint32_t code);
/* Prints a line, where whoever runs the program asks for that, and changes nothing else: the format
 * with a value in place of each of its conversions, which docs/language.md lists, of at most
 * VYRE_MAX_PRINTF_VALUES. Literals without a type take the conversion's. The format is copied.
 * Errors at the end: conversions that do not exist or fit their values, too many or too few values,
 * a format of more than VYRE_MAX_NAME bytes or with others than printable ASCII. */
VYRE_API void vyre_build_printf(vyre_builder *b, const char *format, const vyre_expr *values,
                                uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
