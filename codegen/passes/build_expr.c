/* Expressions in evaluation order, and calls, whose functions are built where they are called. */
#include "codegen/passes/build_parts.h"

uint32_t vy_build_ins(vy_ssa_builder *b, vy_ins ins)
{
    return b->block ? vy_ssa_append(b->ssa, b->block, ins) : 0;
}

uint32_t vy_build_op1(vy_ssa_builder *b, vyre_op op, vyre_type type, uint32_t x, vy_loc loc)
{
    return vy_build_ins(
        b, (vy_ins){.op = (uint16_t)op, .type = (uint8_t)type, .arg = {x}, .loc = loc});
}

uint32_t vy_build_op2(vy_ssa_builder *b, vyre_op op, vyre_type type, uint32_t x, uint32_t y,
                      vy_loc loc)
{
    return vy_build_ins(
        b, (vy_ins){.op = (uint16_t)op, .type = (uint8_t)type, .arg = {x, y}, .loc = loc});
}

uint32_t vy_build_zero(vy_ssa_builder *b, vyre_type type)
{
    return vy_ssa_literal(b->ssa, type, 0);
}

static uint32_t value_of(const vy_ssa_builder *b, uint32_t expr)
{
    uint32_t at = expr - b->expr_base;
    return expr >= b->expr_base && at < b->expr_count ? b->values[at] : 0;
}

/* Parameters are bound before the body; what the function declares is forgotten behind it, so that
 * the next call finds nothing. */
static uint32_t build_call(vy_ssa_builder *b, const vy_expr *expr)
{
    const vyre_program *program = b->program;
    uint32_t f = expr->ref;
    const vy_function *function = &program->functions.data[f];
    vyre_type type = (vyre_type)function->return_type;
    vy_activation *outer = b->activation, activation = {.function = f};
    const vy_bounds *bounds = &b->split->functions[f].bounds;
    if (!vy_build_deeper(b, expr->loc)) {
        return 0;
    }
    for (uint32_t i = 0; i < function->parameter_count && i < expr->arg[1]; i++) {
        uint32_t argument = program->call_args.data[expr->arg[0] + i];
        vy_build_assign(b, vy_key(b, function->first_parameter + i), value_of(b, argument));
    }
    if (type != VYRE_TYPE_VOID) {
        vy_build_assign(b, vy_key_value(b, f), vy_build_zero(b, type));
    }
    b->activation = &activation;
    if (b->split->functions[f].returns_early) {
        vy_build_assign(b, vy_key_left(b, f), vy_build_zero(b, VYRE_TYPE_BOOL));
        activation.exit = vy_build_exit_begin(b, f, expr->loc);
    }
    if (!vy_build_stopped(b)) {
        vy_build_list(b, function->body);
    }
    if (activation.exit && !vy_build_stopped(b)) {
        vy_build_exit_end(b, activation.exit);
    }
    b->activation = outer;
    b->depth--;
    uint32_t value = type == VYRE_TYPE_VOID ? 0 : b->current[vy_key_value(b, f)];
    for (uint32_t v = bounds->var_begin; v < bounds->var_end; v++) {
        if (program->vars.data[v].function == f) {
            b->current[vy_key(b, v)] = 0;
        }
    }
    b->current[vy_key_value(b, f)] = 0;
    b->current[vy_key_left(b, f)] = 0;
    return value;
}

static uint32_t build_length(vy_ssa_builder *b, const vy_expr *expr)
{
    const vy_buffer *buffer = &b->program->buffers.data[expr->ref];
    const vy_expr *count = &b->program->exprs.data[buffer->count.root];
    if (buffer->mode == VYRE_BUFFER_SHARED && count->op == VYRE_OP_LITERAL) {
        return vy_ssa_literal(b->ssa, VYRE_TYPE_U32, count->bits[0]);
    }
    return vy_build_ins(
        b,
        (vy_ins){.op = VYRE_OP_LENGTH, .type = VYRE_TYPE_U32, .ref = expr->ref, .loc = expr->loc});
}

static uint32_t build_expr(vy_ssa_builder *b, const vy_expr *expr)
{
    vy_ins ins = {.op = expr->op, .type = expr->type, .ref = expr->ref, .loc = expr->loc};
    switch ((int)expr->op) {
    case VYRE_OP_LITERAL:
        return vy_ssa_literal(b->ssa, (vyre_type)expr->type, expr->bits[0]);
    case VYRE_OP_VARIABLE: {
        uint32_t value = b->current[vy_key(b, expr->ref)];
        return value ? value : vy_build_zero(b, (vyre_type)expr->type);
    }
    case VYRE_OP_CALL:
        return build_call(b, expr);
    case VYRE_OP_LENGTH:
        return build_length(b, expr);
    case VYRE_OP_ELEMENT:
        ins.op = VY_SSA_ARRAY_LOAD;
        ins.ref = b->arrays[expr->ref - b->var_base];
        break;
    default:
        break;
    }
    uint32_t count = vy_ssa_operand_count(&ins);
    for (uint32_t i = 0; i < count && i < 4; i++) {
        ins.arg[i] = value_of(b, expr->arg[i]);
    }
    return vy_build_ins(b, ins);
}

uint32_t vy_build_range(vy_ssa_builder *b, vy_range range)
{
    if (!range.root) {
        return 0;
    }
    for (uint32_t e = range.begin; e < range.end && b->block && !vy_build_stopped(b); e++) {
        uint32_t value = build_expr(b, &b->program->exprs.data[e]);
        b->values[e - b->expr_base] = value;
    }
    return value_of(b, range.root);
}
