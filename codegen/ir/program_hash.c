/* Both hashes of a program, made when they are asked for. The first is over what a program means
 * and nothing else: no names, no places, and expressions numbered from the start of their range, so
 * that the order in which they were built cannot be seen. */
#include "codegen/ir/validate.h"

#include <string.h>

static void hash_name(vy_hash *hash, const char *name)
{
    vy_hash_bytes(hash, name, strlen(name));
}

static void hash_call(vy_hash *hash, const vyre_program *p, const vy_expr *call, uint32_t begin)
{
    vy_hash_u32(hash, call->arg[1]);
    for (uint32_t a = 0; a < call->arg[1]; a++) {
        vy_hash_u32(hash, p->call_args.data[call->arg[0] + a] - begin);
    }
}

/* Two operands in a word: how many words there are follows from the first one. */
static void hash_range(vy_hash *hash, const vyre_program *p, const vy_range *range)
{
    for (uint32_t i = range->begin; i < range->end; i++) {
        const vy_expr *expr = &p->exprs.data[i];
        uint32_t count = vy_expr_operand_count(expr);
        bool is_literal = expr->op == VYRE_OP_LITERAL;
        vy_hash_u64(hash, (uint64_t)(is_literal ? 0 : expr->ref) << 32 | (uint64_t)count << 24 |
                              (uint64_t)expr->op << 8 | expr->type);
        if (is_literal) {
            vy_hash_u64(hash, expr->bits[0]);
            vy_hash_u64(hash, expr->bits[1]);
        }
        for (uint32_t a = 0; a < count; a += 2) {
            uint64_t first = expr->arg[a] - range->begin;
            uint64_t second = a + 1 < count ? expr->arg[a + 1] - range->begin : 0;
            vy_hash_u64(hash, first | second << 32);
        }
        if (expr->op == VYRE_OP_CALL) {
            hash_call(hash, p, expr, range->begin);
        }
    }
}

static uint32_t size_of(const vy_range *range)
{
    return range->end - range->begin;
}

static void hash_stmt(vy_hash *hash, const vyre_program *p, const vy_stmt *stmt)
{
    vy_hash_u64(hash, (uint64_t)stmt->kind | (uint64_t)stmt->atomic << 8 |
                          (uint64_t)stmt->order << 16 | (uint64_t)stmt->down << 24 |
                          (uint64_t)stmt->bits << 32);
    vy_hash_u64(hash, (uint64_t)stmt->ref << 32 | stmt->result);
    vy_hash_u64(hash,
                stmt->subgroup | (uint64_t)stmt->outside << 8 | (uint64_t)size_of(&stmt->x) << 32);
    vy_hash_u64(hash, size_of(&stmt->y) | (uint64_t)size_of(&stmt->z) << 32);
    for (uint32_t r = 0; r < 3; r++) {
        hash_range(hash, p, vy_stmt_range(stmt, r));
    }
    if (stmt->kind == VY_STMT_ARRAY) {
        vy_hash_u32(hash, p->vars.data[stmt->ref].type);
        vy_hash_u32(hash, p->vars.data[stmt->ref].array_count);
    }
    if (stmt->kind == VY_STMT_PRINTF) {
        hash_name(hash, stmt->name);
    }
    vy_hash_u32(hash, stmt->value_count);
    for (uint32_t i = 0; i < stmt->value_count; i++) {
        vy_hash_u32(hash, p->values.data[stmt->first_value + i]);
    }
}

static void hash_list(vy_hash *hash, const vyre_program *p, uint32_t first)
{
    vy_walk walk;
    uint32_t index = 0;
    vy_walk_begin(&walk, p, first);
    for (vy_walk_event event; (event = vy_walk_next(&walk, &index)) != VY_WALK_END;) {
        vy_hash_u32(hash, (uint32_t)event);
        if (event == VY_WALK_ENTER) {
            hash_stmt(hash, p, &p->stmts.data[index]);
        }
    }
    vy_hash_u32(hash, VY_WALK_END);
}

static uint64_t hash_meaning(const vyre_program *p)
{
    vy_hash hash;
    vy_hash_init(&hash);
    for (int i = 0; i < 3; i++) {
        vy_hash_u32(&hash, p->workgroup[i]);
    }
    vy_hash_u32(&hash, p->grid_over);
    if (p->grid_from) {
        vy_hash_bytes(&hash, "grid from", 9);
        vy_hash_u32(&hash, p->grid_from);
    }
    if (p->grid_of[0].root) {
        vy_hash_bytes(&hash, "grid of", 7);
        for (int i = 0; i < 3; i++) {
            vy_hash_u32(&hash, size_of(&p->grid_of[i]));
            hash_range(&hash, p, &p->grid_of[i]);
        }
    }
    vy_hash_u32(&hash, p->passes);
    vy_hash_u32(&hash, p->until);
    vy_hash_u32(&hash, p->loop_limit);
    vy_hash_u32(&hash, p->fast_math);
    vy_hash_u32(&hash, p->subgroup_width);
    vy_hash_u32(&hash, p->buffers.count);
    for (uint32_t i = 1; i < p->buffers.count; i++) {
        vy_hash_u32(&hash, p->buffers.data[i].mode);
        vy_hash_u32(&hash, p->buffers.data[i].type);
        vy_hash_u32(&hash, size_of(&p->buffers.data[i].count));
        hash_range(&hash, p, &p->buffers.data[i].count);
    }
    vy_hash_u32(&hash, p->params.count);
    for (uint32_t i = 1; i < p->params.count; i++) {
        vy_hash_u32(&hash, p->params.data[i].type);
    }
    vy_hash_u32(&hash, p->tables.count);
    for (uint32_t i = 1; i < p->tables.count; i++) {
        const vy_table *table = &p->tables.data[i];
        vy_hash_u32(&hash, table->type);
        vy_hash_u32(&hash, table->count);
        vy_hash_bytes(&hash, table->bytes,
                      (size_t)table->count * vyre_type_size((vyre_type)table->type));
    }
    vy_hash_u32(&hash, p->functions.count);
    for (uint32_t i = 1; i < p->functions.count; i++) {
        const vy_function *function = &p->functions.data[i];
        vy_hash_u32(&hash, function->return_type);
        vy_hash_u32(&hash, function->parameter_count);
        for (uint32_t a = 0; a < function->parameter_count; a++) {
            vy_hash_u32(&hash, p->vars.data[function->first_parameter + a].type);
        }
        hash_list(&hash, p, function->body);
    }
    hash_list(&hash, p, p->body);
    return vy_hash_value(&hash);
}

static uint64_t hash_interface(const vyre_program *p)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_u32(&hash, p->binding_count);
    for (uint32_t i = 1; i < p->buffers.count; i++) {
        const vy_buffer *buffer = &p->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED) {
            hash_name(&hash, buffer->name);
            vy_hash_u32(&hash, buffer->mode);
            vy_hash_u32(&hash, buffer->type);
        }
    }
    vy_hash_u32(&hash, p->params.count);
    for (uint32_t i = 1; i < p->params.count; i++) {
        hash_name(&hash, p->params.data[i].name);
        vy_hash_u32(&hash, p->params.data[i].type);
    }
    return vy_hash_value(&hash);
}

uint64_t vyre_program_hash(const vyre_program *program)
{
    return program ? hash_meaning(program) : 0;
}

uint64_t vyre_program_interface_hash(const vyre_program *program)
{
    return program ? hash_interface(program) : 0;
}
