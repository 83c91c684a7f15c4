/* Expressions that the host evaluates at a dispatch: buffer counts, and bounds and conditions
 * around a grid_sync. */
#include "codegen/ir/ir.h"

static bool is_host_type(uint8_t type)
{
    return type == VYRE_TYPE_BOOL || type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32;
}

static bool entry_evaluable(const vyre_program *program, const vy_expr *expr,
                            const bool *is_host_index)
{
    if (!is_host_type(expr->type)) {
        return false;
    }
    switch (expr->op) {
    case VYRE_OP_LITERAL:
    case VYRE_OP_PARAM:
        return true;
    case VYRE_OP_BUILTIN:
        return expr->ref >= VYRE_BUILTIN_GROUP_SIZE_X &&
               expr->ref <=
                   (program->grid_from ? VYRE_BUILTIN_GROUP_SIZE_Z : VYRE_BUILTIN_NUM_GROUPS_Z);
    case VYRE_OP_VARIABLE:
        return is_host_index && is_host_index[expr->ref];
    case VYRE_OP_LENGTH:
        return program->buffers.data[expr->ref].mode != VYRE_BUFFER_SHARED;
    case VYRE_OP_NONE:
    case VYRE_OP_LOAD:
    case VYRE_OP_ELEMENT:
    case VYRE_OP_TABLE:
    case VYRE_OP_CALL:
        return false;
    default:
        return true;
    }
}

bool vy_host_evaluable(const vyre_program *program, vy_range range, const bool *is_host_index,
                       uint32_t *out_offender)
{
    for (uint32_t i = range.begin; i < range.end; i++) {
        if (!entry_evaluable(program, &program->exprs.data[i], is_host_index)) {
            if (out_offender) {
                *out_offender = i;
            }
            return false;
        }
    }
    if (out_offender) {
        *out_offender = 0;
    }
    return true;
}

const char *vy_host_parts(const vyre_program *program)
{
    return program->grid_from ? "lengths of buffers that are not shared and group_size (with `grid "
                                "from` the device alone knows num_groups)"
                              : "lengths of buffers that are not shared, num_groups and group_size";
}

static uint32_t builtin_value(const vy_host_env *env, uint32_t builtin)
{
    if (builtin >= VYRE_BUILTIN_GROUP_SIZE_X && builtin <= VYRE_BUILTIN_GROUP_SIZE_Z) {
        return env->group_size[builtin - VYRE_BUILTIN_GROUP_SIZE_X];
    }
    if (builtin >= VYRE_BUILTIN_NUM_GROUPS_X && builtin <= VYRE_BUILTIN_NUM_GROUPS_Z) {
        return env->num_groups[builtin - VYRE_BUILTIN_NUM_GROUPS_X];
    }
    return 0;
}

static uint32_t evaluate_operator(const vyre_program *program, vy_range range, const vy_expr *expr,
                                  vy_eval_fn eval, const uint32_t *values)
{
    uint64_t operands[4] = {0};
    uint32_t count = vy_op_get((vyre_op)expr->op)->operand_count;
    vyre_type operand = VYRE_TYPE_VOID;
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = values[expr->arg[i] - range.begin];
    }
    if (count) {
        operand = (vyre_type)program->exprs.data[expr->arg[0]].type;
    }
    return (uint32_t)eval((vyre_op)expr->op, (vyre_type)expr->type, operand, operands, false);
}

uint32_t vy_host_evaluate(const vyre_program *program, vy_range range, const vy_host_env *env,
                          vy_eval_fn eval, uint32_t *scratch)
{
    if (range.end <= range.begin) {
        return 0;
    }
    for (uint32_t i = range.begin; i < range.end; i++) {
        const vy_expr *expr = &program->exprs.data[i];
        uint32_t value = 0;
        switch (expr->op) {
        case VYRE_OP_LITERAL:
            value = (uint32_t)expr->bits[0];
            break;
        case VYRE_OP_PARAM:
            value = env->params[program->params.data[expr->ref].word];
            break;
        case VYRE_OP_BUILTIN:
            value = builtin_value(env, expr->ref);
            break;
        case VYRE_OP_VARIABLE:
            value = env->indices[expr->ref];
            break;
        case VYRE_OP_LENGTH:
            value = env->lengths[program->buffers.data[expr->ref].binding];
            break;
        default:
            value = evaluate_operator(program, range, expr, eval, scratch);
            break;
        }
        if (expr->type == VYRE_TYPE_BOOL) {
            value = value != 0; /* a bool param is any word */
        }
        scratch[i - range.begin] = value;
    }
    return scratch[range.root - range.begin];
}

/* ---- Grids that the device reads ------------------------------------------------------------- */

/* Folded grids launch some workgroups more than there are, and count them in 32 bits. */
#define MAX_DEVICE_GROUPS 0x80000000u

uint32_t vy_grid_most(uint32_t volume, uint32_t asked)
{
    uint32_t most = volume ? UINT32_MAX / volume : 0;
    most = most < MAX_DEVICE_GROUPS ? most : MAX_DEVICE_GROUPS;
    return asked && asked < most ? asked : most;
}

bool vy_grid_clamp(uint32_t groups[3], uint32_t most)
{
    bool is_clamped = false;
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        is_clamped = is_clamped || groups[i] > most;
        groups[i] = groups[i] < most ? groups[i] : most;
        most /= groups[i];
    }
    return is_clamped;
}
