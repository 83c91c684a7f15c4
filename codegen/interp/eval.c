/* Operators over bools, selection, and the way to the files of the other kinds. Owns nothing. */
#include "codegen/interp/eval.h"

static uint64_t eval_bool(vyre_op op, const uint64_t *operands)
{
    bool a = operands[0] != 0;
    switch ((int)op) {
    case VYRE_OP_EQ:
        return a == (operands[1] != 0);
    case VYRE_OP_NE:
        return a != (operands[1] != 0);
    case VYRE_OP_LOGICAL_AND:
        return a && operands[1] != 0;
    case VYRE_OP_LOGICAL_OR:
        return a || operands[1] != 0;
    case VYRE_OP_NOT:
        return !a;
    default:
        return 0;
    }
}

uint64_t vy_interp_eval(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                        bool flush_denormals)
{
    if (op == VYRE_OP_SELECT) {
        return operands[0] ? operands[1] : operands[2];
    }
    if (op == VYRE_OP_BITCAST) {
        return operand == VYRE_TYPE_BOOL ? operands[0] != 0 : operands[0];
    }
    if (op == VYRE_OP_CAST) {
        return vy_eval_cast(result, operand, operands[0]);
    }
    switch ((int)operand) {
    case VYRE_TYPE_BOOL:
        return eval_bool(op, operands);
    case VYRE_TYPE_U8:
    case VYRE_TYPE_I8:
        return vy_eval_integer(op, 8, operand == VYRE_TYPE_I8, operands);
    case VYRE_TYPE_U16:
    case VYRE_TYPE_I16:
        return vy_eval_integer(op, 16, operand == VYRE_TYPE_I16, operands);
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32:
        return vy_eval_integer(op, 32, operand == VYRE_TYPE_I32, operands);
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64:
        return vy_eval_integer(op, 64, operand == VYRE_TYPE_I64, operands);
    case VYRE_TYPE_F16:
    case VYRE_TYPE_F32:
    case VYRE_TYPE_F64:
        return vy_eval_float(op, result, operand, operands, flush_denormals);
    default:
        return 0;
    }
}
