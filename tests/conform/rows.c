/* Rows by the shapes of codegen/ir/ops.h; see rows.h. */
#include "tests/conform/rows.h"

#include "codegen/ir/ops.h"

#include <string.h>

conform_id conform_slot_type(conform_id base, conform_slot slot)
{
    switch (slot) {
    case CONFORM_S0:
    case CONFORM_S1:
        return CONFORM_U32;
    case CONFORM_N0:
        return CONFORM_I32;
    case CONFORM_C0:
        return CONFORM_BOOL;
    default:
        return base;
    }
}

const char *conform_slot_name(conform_slot slot)
{
    static const char *const names[CONFORM_SLOT_COUNT] = {"x0", "x1", "x2", "s0", "s1", "n0", "c0"};
    return names[slot];
}

/* Functions with a tolerance are for floats that Vulkan has them for; bf16 is for storage. */
static bool takes_float(vyre_op op, conform_id base)
{
    static const vyre_op of_f64[] = {VYRE_OP_FLOOR,  VYRE_OP_CEIL,   VYRE_OP_TRUNC,
                                     VYRE_OP_FRACT,  VYRE_OP_ROUND,  VYRE_OP_ROUND_EVEN,
                                     VYRE_OP_SQRT,   VYRE_OP_FMA,    VYRE_OP_COPYSIGN,
                                     VYRE_OP_IS_NAN, VYRE_OP_IS_INF, VYRE_OP_IS_FINITE};
    if (base != CONFORM_F64) {
        return base == CONFORM_F32 || base == CONFORM_F16;
    }
    for (size_t i = 0; i < VY_COUNT_OF(of_f64); i++) {
        if (of_f64[i] == op) {
            return true;
        }
    }
    return false;
}

/* Whether that operator, of that shape, takes T: then with what operands and result. */
static bool shape_takes(vyre_op op, vy_shape shape, conform_row *row)
{
    conform_id base = row->operand;
    conform_kind kind = conform_types[base].kind;
    bool is_integer = conform_is_integer(base);
    bool is_number = is_integer || (kind == CONFORM_FLOAT && base != CONFORM_BF16);
    bool is_word = conform_types[base].width == 32 ||
                   (op != VYRE_OP_DOT4 && op != VYRE_OP_UNPACK_BYTE && op != VYRE_OP_UNPACK_NIBBLE);
    switch (shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
        return is_number;
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
        return is_integer && is_word;
    case VY_SHAPE_SIGNED_UNARY:
        return is_number && (kind != CONFORM_UNSIGNED || op == VYRE_OP_NEGATE);
    case VY_SHAPE_SHIFT:
        row->slots[1] = CONFORM_S0;
        return is_integer && is_word;
    case VY_SHAPE_EQUALITY:
        row->result = CONFORM_BOOL;
        return is_number || kind == CONFORM_BOOLEAN;
    case VY_SHAPE_ORDER:
        row->result = CONFORM_BOOL;
        return is_number;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        return kind == CONFORM_BOOLEAN;
    case VY_SHAPE_ABS_DIFF:
        row->result = is_integer ? conform_unsigned_of(base) : base;
        return is_number;
    case VY_SHAPE_BIT_COUNT:
        row->result = CONFORM_U32;
        return is_integer;
    case VY_SHAPE_EXTRACT:
        row->slots[1] = CONFORM_S0;
        row->slots[2] = CONFORM_S1;
        return is_integer;
    case VY_SHAPE_INSERT:
        row->slots[2] = CONFORM_S0;
        row->slots[3] = CONFORM_S1;
        return is_integer;
    case VY_SHAPE_SELECT:
        row->slots[0] = CONFORM_C0;
        row->slots[1] = CONFORM_X0;
        row->slots[2] = CONFORM_X1;
        return base != CONFORM_BF16;
    case VY_SHAPE_FLOAT_TEST:
        row->result = CONFORM_BOOL;
        return takes_float(op, base);
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
        return takes_float(op, base);
    default:
        return false;
    }
}

static conform_row row_of(vyre_op op, conform_id base)
{
    conform_row row = {.op = op, .result = base, .operand = base};
    row.slots[0] = CONFORM_X0;
    row.slots[1] = CONFORM_X1;
    row.slots[2] = CONFORM_X2;
    row.count = vy_op_get(op)->operand_count;
    return row;
}

/* bf16 is a type of elements alone: what a load gives is f32, what a store takes too. */
static bool casts(conform_id from, conform_id to)
{
    if (from == CONFORM_BF16 || to == CONFORM_BF16) {
        return from == CONFORM_F32 || to == CONFORM_F32 || from == to;
    }
    return true;
}

static uint32_t casts_of(conform_id base, conform_row *rows)
{
    uint32_t count = 0;
    for (int to = 0; to < CONFORM_TYPE_COUNT; to++) {
        bool bits_only = to != CONFORM_BOOL && base != CONFORM_BOOL && to != CONFORM_BF16 &&
                         base != CONFORM_BF16;
        if (!casts(base, (conform_id)to)) {
            continue;
        }
        rows[count] = row_of(VYRE_OP_CAST, base);
        rows[count++].result = (conform_id)to;
        if (bits_only && conform_types[to].width == conform_types[base].width) {
            rows[count] = row_of(VYRE_OP_BITCAST, base);
            rows[count++].result = (conform_id)to;
        }
    }
    return count;
}

uint32_t conform_rows_of(conform_id base, conform_row *rows)
{
    uint32_t count = 0;
    for (int op = 0; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        conform_row row = row_of((vyre_op)op, base);
        if (info->form == VY_FORM_LEAF || !shape_takes((vyre_op)op, info->shape, &row)) {
            continue;
        }
        rows[count++] = row;
        if (info->shape == VY_SHAPE_SHIFT) {
            row.slots[1] = CONFORM_N0;
            rows[count++] = row;
            row.slots[1] = CONFORM_X1;
            rows[count++] = row;
        }
    }
    return count + casts_of(base, rows + count);
}
