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

/* ---- Parts ----------------------------------------------------------------------------------- */

static vyre_type type_of(const vy_ssa_builder *b, uint32_t expr)
{
    return (vyre_type)b->program->exprs.data[expr].type;
}

static vy_parts value_of(const vy_ssa_builder *b, uint32_t expr)
{
    vy_parts parts = {.count = vy_type_components(type_of(b, expr))};
    uint32_t value = b->tables.values[expr];
    if (parts.count < 2) {
        parts.count = 1; /* a call without a value too */
        parts.id[0] = value;
        return parts;
    }
    for (uint32_t c = 0; c < parts.count && value + c < b->parts.count; c++) {
        parts.id[c] = b->parts.data[value + c];
    }
    return parts;
}

static void keep_value(vy_ssa_builder *b, uint32_t expr, vy_parts value)
{
    uint32_t *at = &b->tables.values[expr];
    if (vy_type_components(type_of(b, expr)) < 2) {
        *at = value.id[0];
        return;
    }
    *at = b->parts.count;
    for (uint32_t c = 0; c < value.count; c++) {
        (void)vy_vec_push(b->arena, &b->parts, value.id[c]);
    }
}

/* Component `c`; a scalar counts for all. */
static uint32_t part(const vy_parts *parts, uint32_t c)
{
    return parts->id[parts->count > 1 ? c : 0];
}

vy_parts vy_build_take_apart(vy_ssa_builder *b, uint32_t value, vyre_type type, vy_loc loc)
{
    vy_parts parts = {.count = vy_type_components(type)};
    if (parts.count < 2) {
        return (vy_parts){1, {value}};
    }
    for (uint32_t c = 0; c < parts.count; c++) {
        parts.id[c] = vy_build_ins(b, (vy_ins){.op = VY_SSA_COMPONENT,
                                               .type = (uint8_t)vy_type_component(type),
                                               .ref = c,
                                               .arg = {value},
                                               .loc = loc});
    }
    return parts;
}

uint32_t vy_build_put_together(vy_ssa_builder *b, vy_parts parts, vyre_type type, vy_loc loc)
{
    if (parts.count < 2) {
        return parts.id[0];
    }
    vy_ins ins = {.op = VY_SSA_COMPOSE, .type = (uint8_t)type, .loc = loc};
    for (uint32_t c = 0; c < parts.count; c++) {
        ins.arg[c] = parts.id[c];
    }
    return vy_build_ins(b, ins);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Parameters are bound before the body; what the function declares is forgotten behind it, so that
 * the next call finds nothing. */
static vy_parts build_call(vy_ssa_builder *b, const vy_expr *expr)
{
    const vyre_program *program = b->program;
    uint32_t f = expr->ref;
    const vy_function *function = &program->functions.data[f];
    vyre_type type = (vyre_type)function->return_type;
    uint32_t components = vy_type_components(type), value_key = vy_key_value(b, f);
    vy_activation *outer = b->activation, activation = {.function = f};
    vy_parts value = {.count = components ? components : 1};
    if (!vy_build_deeper(b, expr->loc)) {
        return value;
    }
    vy_call call = {b->ssa->call, f, expr->loc};
    if (vy_vec_push(b->ssa->arena, &b->ssa->calls, call)) {
        b->ssa->call = b->ssa->calls.count - 1;
    }
    for (uint32_t i = 0; i < function->parameter_count && i < expr->arg[1]; i++) {
        vy_parts argument = value_of(b, program->call_args.data[expr->arg[0] + i]);
        uint32_t key = vy_key(b, function->first_parameter + i);
        for (uint32_t c = 0; key && c < argument.count; c++) {
            vy_build_assign(b, key + c, argument.id[c]);
        }
    }
    for (uint32_t c = 0; c < components; c++) {
        vy_build_assign(b, value_key + c, vy_build_zero(b, vy_type_component(type)));
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
    b->ssa->call = call.around;
    b->depth--;
    for (uint32_t c = 0; c < components; c++) {
        value.id[c] = vy_build_current(b, value_key + c);
        vy_build_forget(b, value_key + c);
    }
    /* A function's variables lie together, parameters first. */
    for (uint32_t v = function->first_parameter;
         v < program->vars.count && program->vars.data[v].function == f; v++) {
        uint32_t key = b->tables.first_key[v];
        for (uint32_t c = 0; key && c < vy_key_count(b, v); c++) {
            vy_build_forget(b, key + c);
        }
    }
    vy_build_forget(b, vy_key_left(b, f));
    return value;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

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

static vy_parts build_literal(vy_ssa_builder *b, const vy_expr *expr)
{
    vyre_type type = (vyre_type)expr->type;
    vy_parts parts = {.count = vy_type_components(type)};
    for (uint32_t c = 0; c < parts.count; c++) {
        parts.id[c] = vy_ssa_literal(b->ssa, vy_type_component(type), vy_expr_literal(expr, c));
    }
    return parts;
}

static vy_parts build_variable(vy_ssa_builder *b, const vy_expr *expr)
{
    vyre_type type = (vyre_type)expr->type;
    uint32_t key = vy_key(b, expr->ref);
    vy_parts parts = {.count = vy_type_components(type)};
    for (uint32_t c = 0; c < parts.count; c++) {
        uint32_t value = key ? vy_build_current(b, key + c) : 0;
        parts.id[c] = value ? value : vy_build_zero(b, vy_type_component(type));
    }
    return parts;
}

static vy_parts build_param(vy_ssa_builder *b, const vy_expr *expr)
{
    vyre_type type = (vyre_type)expr->type;
    vy_parts parts = {.count = vy_type_components(type)};
    for (uint32_t c = 0; c < parts.count; c++) {
        parts.id[c] = vy_build_ins(b, (vy_ins){.op = VYRE_OP_PARAM,
                                               .type = (uint8_t)vy_type_component(type),
                                               .ref = expr->ref,
                                               .bits = c,
                                               .loc = expr->loc});
    }
    return parts;
}

static vy_parts build_vector(const vy_ssa_builder *b, const vy_expr *expr)
{
    uint32_t given = vy_expr_operand_count(expr);
    vy_parts parts = {.count = vy_type_components((vyre_type)expr->type)};
    uint32_t count = 0;
    for (uint32_t i = 0; i < given; i++) {
        vy_parts operand = value_of(b, expr->arg[i]);
        for (uint32_t c = 0; c < operand.count && count < parts.count; c++) {
            parts.id[count++] = operand.id[c];
        }
    }
    for (; count < parts.count; count++) {
        parts.id[count] = parts.id[0]; /* one scalar for all */
    }
    return parts;
}

static vy_parts build_swizzle(const vy_ssa_builder *b, const vy_expr *expr)
{
    vy_parts operand = value_of(b, expr->arg[0]), parts = {.count = vy_swizzle_count(expr->ref)};
    for (uint32_t c = 0; c < parts.count; c++) {
        parts.id[c] = operand.id[vy_swizzle_component(expr->ref, c)];
    }
    return parts;
}

/* Any, all, dot: over the components from x on. */
static vy_parts build_reduction(vy_ssa_builder *b, const vy_expr *expr)
{
    vyre_type type = (vyre_type)expr->type;
    vyre_op op = expr->op == VYRE_OP_ANY   ? VYRE_OP_LOGICAL_OR
                 : expr->op == VYRE_OP_ALL ? VYRE_OP_LOGICAL_AND
                                           : VYRE_OP_ADD;
    vy_parts x = value_of(b, expr->arg[0]), y = value_of(b, expr->arg[1]);
    uint32_t sum = 0;
    for (uint32_t c = 0; c < x.count; c++) {
        uint32_t term = x.id[c];
        if (expr->op == VYRE_OP_DOT) {
            term = vy_build_op2(b, VYRE_OP_MUL, type, term, y.id[c], expr->loc);
        }
        sum = c ? vy_build_op2(b, op, type, sum, term, expr->loc) : term;
    }
    return (vy_parts){1, {sum}};
}

static vy_parts build_indexed(vy_ssa_builder *b, const vy_expr *expr)
{
    vy_ins ins = {.op = expr->op, .type = expr->type, .ref = expr->ref, .loc = expr->loc};
    if (expr->op == VYRE_OP_ELEMENT) {
        ins.op = VY_SSA_ARRAY_LOAD;
        ins.ref = b->tables.arrays[expr->ref];
    }
    ins.arg[0] = value_of(b, expr->arg[0]).id[0];
    uint32_t value = vy_build_ins(b, ins);
    return vy_build_take_apart(b, value, (vyre_type)expr->type, expr->loc);
}

static vy_parts build_operator(vy_ssa_builder *b, const vy_expr *expr)
{
    vy_parts operands[4] = {{0}}, parts = {.count = vy_type_components((vyre_type)expr->type)};
    uint32_t count = vy_expr_operand_count(expr);
    for (uint32_t i = 0; i < count && i < 4; i++) {
        operands[i] = value_of(b, expr->arg[i]);
    }
    for (uint32_t c = 0; c < parts.count; c++) {
        vy_ins ins = {.op = expr->op,
                      .type = (uint8_t)vy_type_component((vyre_type)expr->type),
                      .loc = expr->loc};
        for (uint32_t i = 0; i < count && i < 4; i++) {
            ins.arg[i] = part(&operands[i], c);
        }
        parts.id[c] = vy_build_ins(b, ins);
    }
    return parts;
}

static vy_parts build_expr(vy_ssa_builder *b, const vy_expr *expr)
{
    switch ((int)expr->op) {
    case VYRE_OP_LITERAL:
        return build_literal(b, expr);
    case VYRE_OP_VARIABLE:
        return build_variable(b, expr);
    case VYRE_OP_PARAM:
        return build_param(b, expr);
    case VYRE_OP_CALL:
        return build_call(b, expr);
    case VYRE_OP_LENGTH:
        return (vy_parts){1, {build_length(b, expr)}};
    case VYRE_OP_BUILTIN:
        if (expr->ref == VYRE_BUILTIN_PASS && b->pass) {
            return (vy_parts){1, {b->pass}};
        }
        return (vy_parts){1,
                          {vy_build_ins(b, (vy_ins){.op = VYRE_OP_BUILTIN,
                                                    .type = expr->type,
                                                    .ref = expr->ref,
                                                    .loc = expr->loc})}};
    case VYRE_OP_LOAD:
    case VYRE_OP_TABLE:
    case VYRE_OP_ELEMENT:
        return build_indexed(b, expr);
    case VYRE_OP_VECTOR:
        return build_vector(b, expr);
    case VYRE_OP_SWIZZLE:
        return build_swizzle(b, expr);
    case VYRE_OP_ANY:
    case VYRE_OP_ALL:
    case VYRE_OP_DOT:
        return build_reduction(b, expr);
    default:
        return build_operator(b, expr);
    }
}

/* Most expressions: operators over scalars, and what those read. Whether it was one. */
static inline bool build_scalar(vy_ssa_builder *b, const vy_expr *expr, uint32_t *value)
{
    const vy_op_info *info = vy_op_get((vyre_op)expr->op);
    uint32_t key;
    if (vy_type_components((vyre_type)expr->type) != 1) {
        return false;
    }
    if (expr->op == VYRE_OP_LITERAL) {
        *value = vy_ssa_literal(b->ssa, (vyre_type)expr->type, expr->bits[0]);
        return true;
    }
    if (expr->op == VYRE_OP_VARIABLE) {
        key = vy_key(b, expr->ref);
        *value = key ? vy_build_current(b, key) : 0;
        *value = *value ? *value : vy_build_zero(b, (vyre_type)expr->type);
        return true;
    }
    if (info->form == VY_FORM_LEAF || info->shape == VY_SHAPE_BOOL_REDUCE ||
        info->shape == VY_SHAPE_DOT) {
        return false;
    }
    vy_ins *ins = vy_ssa_add(b->ssa, b->block);
    if (ins) {
        const uint32_t *values = b->tables.values;
        ins->op = expr->op;
        ins->type = expr->type;
        ins->loc = expr->loc;
        for (uint32_t i = 0; i < info->operand_count; i++) {
            ins->arg[i] = values[expr->arg[i]];
        }
        *value = b->ssa->ins.count - 1;
    }
    return true;
}

vy_parts vy_build_value(vy_ssa_builder *b, vy_range range)
{
    if (!range.root) {
        return (vy_parts){0};
    }
    if (!vy_vec_push(b->arena, &b->touched, (vy_touched){range.begin, range.end})) {
        return (vy_parts){0};
    }
    const vy_expr *exprs = b->program->exprs.data;
    for (uint32_t e = range.begin; e < range.end && b->block && !vy_build_stopped(b); e++) {
        if (!build_scalar(b, &exprs[e], &b->tables.values[e])) {
            keep_value(b, e, build_expr(b, &exprs[e]));
        }
    }
    return value_of(b, range.root);
}

uint32_t vy_build_range(vy_ssa_builder *b, vy_range range)
{
    return vy_build_value(b, range).id[0];
}
