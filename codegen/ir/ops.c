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
    OPERANDS_VECTOR = 0,
    OPERANDS_SWIZZLE = 1,
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
    OPERANDS_FLOAT_TEST = 1,
    OPERANDS_BOOL_REDUCE = 1,
    OPERANDS_DOT = 2
};

const vy_op_info vy_op_rows[VYRE_OP_COUNT] = {
#define VYRE_X(name, text, form, shape)                                                            \
    {#name, text, VY_FORM_##form, VY_SHAPE_##shape, OPERANDS_##shape},
    VYRE_OPS(VYRE_X)
#undef VYRE_X
};

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

/* ---- Subgroup operations --------------------------------------------------------------------- */

enum {
    SUBGROUP_OPERANDS_ELECT = 0,
    SUBGROUP_OPERANDS_VOTE = 1,
    SUBGROUP_OPERANDS_BALLOT = 1,
    SUBGROUP_OPERANDS_VALUE = 1,
    SUBGROUP_OPERANDS_LANE = 2,
    SUBGROUP_OPERANDS_REDUCE = 1,
    SUBGROUP_OPERANDS_INCLUSIVE = 1,
    SUBGROUP_OPERANDS_EXCLUSIVE = 1
};

const vy_subgroup_info *vy_subgroup_get(vyre_subgroup op)
{
    static const vy_subgroup_info rows[] = {
#define VYRE_X(name, text, kind, op)                                                               \
    {text, VY_SUBGROUP_##kind, VYRE_OP_##op, SUBGROUP_OPERANDS_##kind},
        VYRE_SUBGROUPS(VYRE_X)
#undef VYRE_X
    };
    unsigned row = (unsigned)op;
    return &rows[row < VY_COUNT_OF(rows) ? row : VYRE_SUBGROUP_ELECT];
}

vyre_subgroup vy_subgroup_find(const char *name, size_t length)
{
    for (unsigned op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        const char *text = vy_subgroup_get((vyre_subgroup)op)->text;
        if (strlen(text) == length && memcmp(text, name, length) == 0) {
            return (vyre_subgroup)op;
        }
    }
    return VYRE_SUBGROUP_COUNT;
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* Bits of a component of that kind, where all of them have `size` bytes. */
#define WIDTH(kind, size, components)                                                              \
    (VY_KIND_##kind == VY_KIND_BOOL ? 1 : 8 * (size) / (components))

const vy_type_row vy_type_rows[VYRE_TYPE_COUNT] = {
#define VYRE_X(name, number, keyword, size, kind, component, components)                           \
    [number] = {size, VY_KIND_##kind, VYRE_TYPE_##component, components,                           \
                WIDTH(kind, size, (components ? components : 1))},
    VYRE_TYPES(VYRE_X)
#undef VYRE_X
};

static const char *const type_keywords[VYRE_TYPE_COUNT] = {
#define VYRE_X(name, number, keyword, size, kind, component, components) [number] = keyword,
    VYRE_TYPES(VYRE_X)
#undef VYRE_X
};

uint32_t vyre_type_size(vyre_type type)
{
    return vy_type_row_of(type)->size;
}

const char *vyre_type_keyword(vyre_type type)
{
    if ((unsigned)type == VYRE_TYPE_INT) {
        return "integer literal";
    }
    return (unsigned)type < VYRE_TYPE_COUNT ? type_keywords[type] : "unknown type";
}

vyre_type vy_type_vector(vyre_type component, uint32_t count)
{
    for (unsigned type = 0; type < VYRE_TYPE_COUNT; type++) {
        const vy_type_row *row = &vy_type_rows[type];
        if (row->component == (uint8_t)component && row->components == count) {
            return (vyre_type)type;
        }
    }
    return VYRE_TYPE_VOID;
}

vyre_type vy_type_of_width(bool is_signed, uint32_t width)
{
    switch (width) {
    case 8:
        return is_signed ? VYRE_TYPE_I8 : VYRE_TYPE_U8;
    case 16:
        return is_signed ? VYRE_TYPE_I16 : VYRE_TYPE_U16;
    case 32:
        return is_signed ? VYRE_TYPE_I32 : VYRE_TYPE_U32;
    case 64:
        return is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    default:
        return VYRE_TYPE_VOID;
    }
}

int64_t vy_type_signed_value(vyre_type type, uint64_t bits)
{
    uint32_t width = vy_type_width(type);
    bits = vy_type_bits(type, bits);
    if (vy_type_is_signed(type) && width < 64 && bits >> (width - 1)) {
        bits |= ~(uint64_t)0 << width;
    }
    return (int64_t)bits;
}
