/* The tables behind ops.h: one row per operator, atomic, buffer mode and type, made from the lists
 * in include/vyre/program.h, and the tolerances of the f32 functions that are not exact. */
#include "codegen/ir/ops.h"

#include <float.h>
#include <string.h>

/* Operands by shape; named so that the rows below can be constants. */
enum {
    OPERANDS_LEAF = 0,
    OPERANDS_INDEXED = 1,
    OPERANDS_CALL = 0,
    OPERANDS_ARITHMETIC = 2,
    OPERANDS_ARITHMETIC3 = 3,
    OPERANDS_INTEGER = 2,
    OPERANDS_INTEGER_UNARY = 1,
    OPERANDS_SIGNED_UNARY = 1,
    OPERANDS_SHIFT = 2,
    OPERANDS_EQUALITY = 2,
    OPERANDS_ORDER = 2,
    OPERANDS_LOGIC = 2,
    OPERANDS_LOGIC_UNARY = 1,
    OPERANDS_ABS_DIFF = 2,
    OPERANDS_BIT_COUNT = 1,
    OPERANDS_EXTRACT = 3,
    OPERANDS_INSERT = 4,
    OPERANDS_SELECT = 3,
    OPERANDS_CAST = 1,
    OPERANDS_BITCAST = 1,
    OPERANDS_FLOAT_UNARY = 1,
    OPERANDS_FLOAT = 2,
    OPERANDS_FLOAT3 = 3,
    OPERANDS_FLOAT_TEST = 1
};

const vy_op_info *vy_op_get(vyre_op op)
{
    static const vy_op_info rows[] = {
#define VYRE_X(name, text, form, shape)                                                            \
    {#name, text, VY_FORM_##form, VY_SHAPE_##shape, OPERANDS_##shape},
        VYRE_OPS(VYRE_X)
#undef VYRE_X
    };
    unsigned row = (unsigned)op;
    return &rows[row < VY_COUNT_OF(rows) ? row : VYRE_OP_NONE];
}

vyre_op vy_op_find_call(const char *name, size_t length)
{
    for (unsigned op = 1; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        if (info->form == VY_FORM_CALL && strlen(info->text) == length &&
            memcmp(info->text, name, length) == 0) {
            return (vyre_op)op;
        }
    }
    return VYRE_OP_NONE;
}

/* Vulkan 1.3, "Precision of Individual SPIR-V instructions" and "Precision of GLSL.std.450
 * Instructions". Rows of one operator stand together, the widest domain first; among several the
 * last that holds an argument counts. Where Vulkan inherits a bound from a formula (tan from sin
 * and cos, asin from atan2, sinh from exp, pow from exp2 and log2) the row is the smallest that the
 * formula gives over the domain. */
static const vy_tolerance tolerances[] = {
    /* op, low, high, ulp, absolute, ulp_slope */
    {VYRE_OP_RSQRT, FLT_MIN, FLT_MAX, 2, 0, 0},
    {VYRE_OP_RECIPROCAL, -0x1p126, 0x1p126, 2.5, 0, 0},
    {VYRE_OP_EXP, -87, 88, 3, 0, 2},
    {VYRE_OP_EXP2, -126, 127, 3, 0, 2},
    {VYRE_OP_LOG, FLT_MIN, FLT_MAX, 3, 0, 0},
    {VYRE_OP_LOG, 0.5, 2, 0, 0x1p-21, 0},
    {VYRE_OP_LOG2, FLT_MIN, FLT_MAX, 3, 0, 0},
    {VYRE_OP_LOG2, 0.5, 2, 0, 0x1p-21, 0},
    {VYRE_OP_SIN, -3.14159265, 3.14159265, 0, 0x1p-11, 0},
    {VYRE_OP_COS, -3.14159265, 3.14159265, 0, 0x1p-11, 0},
    {VYRE_OP_TAN, -1.25, 1.25, 0, 0x1p-11, 0},
    {VYRE_OP_ASIN, -1, 1, 4096, 0, 0},
    {VYRE_OP_ACOS, -1, 1, 4096, 0, 0},
    {VYRE_OP_ATAN, -FLT_MAX, FLT_MAX, 4096, 0, 0},
    {VYRE_OP_ATAN2, -FLT_MAX, FLT_MAX, 4096, 0, 0},
    {VYRE_OP_SINH, -87, 87, 3, 0x1p-22, 2},
    {VYRE_OP_COSH, -87, 87, 3, 0, 2},
    {VYRE_OP_TANH, -87, 87, 3, 0x1p-22, 2},
    {VYRE_OP_POW, FLT_MIN, FLT_MAX, 3, 0, 3},
    /* There log2 has an absolute bound in Vulkan, 2^-21, which the exponent multiplies. */
    {VYRE_OP_POW, 0.5, 2, 3, 0, 9},
};

const vy_tolerance *vy_tolerance_find(vyre_op op)
{
    for (size_t i = 0; i < VY_COUNT_OF(tolerances); i++) {
        if (tolerances[i].op == op) {
            return &tolerances[i];
        }
    }
    return NULL;
}

const vy_tolerance *vy_tolerance_find_at(vyre_op op, double x)
{
    const vy_tolerance *found = NULL;
    for (size_t i = 0; i < VY_COUNT_OF(tolerances); i++) {
        const vy_tolerance *row = &tolerances[i];
        if (row->op == op && x >= row->low && x <= row->high) {
            found = row;
        }
    }
    return found;
}

const char *vy_builtin_text(vyre_builtin builtin)
{
    switch (builtin) {
#define VYRE_X(name, text)                                                                         \
    case VYRE_BUILTIN_##name:                                                                      \
        return text;
        VYRE_BUILTINS(VYRE_X)
#undef VYRE_X
    case VYRE_BUILTIN_COUNT:
        break;
    }
    return "";
}

const char *vy_atomic_text(vyre_atomic atomic)
{
    switch (atomic) {
#define VYRE_X(name, text, operands, result)                                                       \
    case VYRE_ATOMIC_##name:                                                                       \
        return text;
        VYRE_ATOMICS(VYRE_X)
#undef VYRE_X
    case VYRE_ATOMIC_COUNT:
        break;
    }
    return "";
}

uint32_t vy_atomic_operand_count(vyre_atomic atomic)
{
    switch (atomic) {
#define VYRE_X(name, text, operands, result)                                                       \
    case VYRE_ATOMIC_##name:                                                                       \
        return operands;
        VYRE_ATOMICS(VYRE_X)
#undef VYRE_X
    case VYRE_ATOMIC_COUNT:
        break;
    }
    return 0;
}

typedef struct mode_row {
    const char *keyword;
    bool writes, is_input, is_output;
} mode_row;

static const mode_row *mode_get(vyre_buffer_mode mode)
{
    static const mode_row rows[] = {
#define VYRE_X(name, keyword, writes, input, output) {keyword, writes, input, output},
        VYRE_BUFFER_MODES(VYRE_X)
#undef VYRE_X
            {"", false, false, false}};
    unsigned row = (unsigned)mode;
    return &rows[row < VYRE_BUFFER_MODE_COUNT ? row : VYRE_BUFFER_MODE_COUNT];
}

const char *vy_buffer_mode_text(vyre_buffer_mode mode)
{
    return mode_get(mode)->keyword;
}

bool vy_buffer_mode_writes(vyre_buffer_mode mode)
{
    return mode_get(mode)->writes;
}

bool vy_buffer_mode_is_input(vyre_buffer_mode mode)
{
    return mode_get(mode)->is_input;
}

bool vy_buffer_mode_is_output(vyre_buffer_mode mode)
{
    return mode_get(mode)->is_output;
}

bool vy_type_is_integer(vyre_type type)
{
    return type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32;
}

uint32_t vyre_type_size(vyre_type type)
{
    switch ((unsigned)type) {
#define VYRE_X(name, number, keyword, size)                                                        \
    case VYRE_TYPE_##name:                                                                         \
        return size;
        VYRE_TYPES(VYRE_X)
#undef VYRE_X
    }
    return 0;
}

const char *vyre_type_keyword(vyre_type type)
{
    switch ((unsigned)type) {
#define VYRE_X(name, number, keyword, size)                                                        \
    case VYRE_TYPE_##name:                                                                         \
        return keyword;
        VYRE_TYPES(VYRE_X)
#undef VYRE_X
    case VYRE_TYPE_INT:
        return "integer literal";
    }
    return "unknown type";
}
