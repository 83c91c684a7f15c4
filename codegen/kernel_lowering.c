/* Which of a program's types and operations its modules make of others, in words. Reads the program
 * that the kernel holds. */
#include "codegen/kernel_parts.h"

typedef enum subject {
    SMALL_INTEGERS,
    HALVES,
    BF16,
    OPERATOR,
    FIELDS,
    ADDITION,
    REDUCTION
} subject;

typedef struct row {
    subject subject;
    uint8_t op, type; /* OPERATOR: of operands of that component type */
    const char *text;
} row;

static const row rows[] = {
    {SMALL_INTEGERS, 0, 0, "u8 i8 u16 i16: in 32 bits"},
    {HALVES, 0, 0, "f16: in f32, rounded after each operation"},
    {BF16, 0, 0, "bf16: in f32, rounded where stored"},
    {OPERATOR, VYRE_OP_DIV, VYRE_TYPE_F32, "f32 division: by integers, or constant 4"},
    {OPERATOR, VYRE_OP_SQRT, VYRE_TYPE_F32, "f32 square root: by integers, or constant 5"},
    {OPERATOR, VYRE_OP_FMA, VYRE_TYPE_F32, "f32 fma: by integers, or constant 6"},
    {OPERATOR, VYRE_OP_DIV, VYRE_TYPE_F16, "f16 division: by that of f32"},
    {OPERATOR, VYRE_OP_SQRT, VYRE_TYPE_F16, "f16 square root: by that of f32"},
    {OPERATOR, VYRE_OP_FMA, VYRE_TYPE_F16, "f16 fma: by exact sums of f32"},
    {OPERATOR, VYRE_OP_DIV, VYRE_TYPE_F64, "f64 division: by integers, or constant 7"},
    {OPERATOR, VYRE_OP_SQRT, VYRE_TYPE_F64, "f64 square root: by integers, or constant 8"},
    {OPERATOR, VYRE_OP_FMA, VYRE_TYPE_F64, "f64 fma: by integers, or constant 9"},
    {FIELDS, 0, 0, "bits and high products of 64-bit integers: by halves"},
    {ADDITION, 0, 0, "f32 atomic_add: by compare and exchange"},
    {REDUCTION, 0, 0, "subgroup reductions of 64 bits: lane by lane"},
};

static vyre_type component_of(const vyre_program *p, uint32_t expr)
{
    return vy_type_component((vyre_type)p->exprs.data[expr].type);
}

static bool is_small_integer(vyre_type type)
{
    return vy_type_is_integer(type) && vy_type_width(type) < 32;
}

static bool is_by_halves(const vyre_program *p, const vy_expr *e)
{
    switch ((int)e->op) {
    case VYRE_OP_CLZ:
    case VYRE_OP_CTZ:
    case VYRE_OP_POPCOUNT:
    case VYRE_OP_REVERSE_BITS:
    case VYRE_OP_EXTRACT_BITS:
    case VYRE_OP_INSERT_BITS:
    case VYRE_OP_MUL_HIGH:
        return vy_type_width(component_of(p, e->arg[0])) == 64;
    default:
        return false;
    }
}

static bool has_expr(const vyre_program *p, const row *r)
{
    for (uint32_t i = 1; i < p->exprs.count; i++) {
        const vy_expr *e = &p->exprs.data[i];
        vyre_type type = component_of(p, i);
        bool is_it = false;
        switch (r->subject) {
        case SMALL_INTEGERS:
            is_it = is_small_integer(type);
            break;
        case HALVES:
            is_it = type == VYRE_TYPE_F16;
            break;
        case OPERATOR:
            /* In fast_math programs division and square root are the device's. */
            is_it = e->op == r->op && type == (vyre_type)r->type &&
                    (!p->fast_math || e->op == VYRE_OP_FMA);
            break;
        case FIELDS:
            is_it = is_by_halves(p, e);
            break;
        default:
            break;
        }
        if (is_it) {
            return true;
        }
    }
    return false;
}

static bool has_bf16(const vyre_program *p)
{
    for (uint32_t i = 1; i < p->buffers.count; i++) {
        if (p->buffers.data[i].type == VYRE_TYPE_BF16) {
            return true;
        }
    }
    for (uint32_t i = 1; i < p->tables.count; i++) {
        if (p->tables.data[i].type == VYRE_TYPE_BF16) {
            return true;
        }
    }
    return false;
}

static bool has_statement(const vyre_program *p, subject of)
{
    for (uint32_t i = 1; i < p->stmts.count; i++) {
        const vy_stmt *s = &p->stmts.data[i];
        if (of == ADDITION && s->kind == VY_STMT_ATOMIC && s->atomic == VYRE_ATOMIC_ADD &&
            p->buffers.data[s->ref].type == VYRE_TYPE_F32) {
            return true;
        }
        if (of == REDUCTION && s->kind == VY_STMT_SUBGROUP && vy_kernel_is_by_lanes(p, s)) {
            return true;
        }
    }
    return false;
}

static bool has(const vyre_program *p, const row *r)
{
    switch (r->subject) {
    case BF16:
        return has_bf16(p);
    case ADDITION:
    case REDUCTION:
        return has_statement(p, r->subject);
    default:
        return has_expr(p, r);
    }
}

const char *vy_kernel_lowering(const vyre_kernel *kernel, uint32_t index)
{
    const vyre_program *program = kernel->variants->program;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        if (has(program, &rows[i]) && index-- == 0) {
            return rows[i].text;
        }
    }
    return NULL;
}

/* Functions of the tolerance table, and floats that are joined in an order which nothing says; what
 * is only printed is no result. */
bool vy_kernel_is_of_inexact(const vyre_program *program)
{
    bool found = program->fast_math, has_floats = vy_program_has_floats(program);
    bool has_joins = vy_program_has_kind(program, VY_STMT_ATOMIC) ||
                     vy_program_has_kind(program, VY_STMT_SUBGROUP);
    for (uint32_t i = 1; has_floats && i < program->exprs.count; i++) {
        const vy_expr *expr = &program->exprs.data[i];
        found |= !expr->is_printed && vy_type_is_float((vyre_type)expr->type) &&
                 vy_tolerance_find((vyre_op)expr->op) != NULL;
    }
    for (uint32_t i = 1; has_joins && i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        if (stmt->kind == VY_STMT_ATOMIC) {
            found |= stmt->atomic == VYRE_ATOMIC_ADD && stmt->ref < program->buffers.count &&
                     vy_type_is_float((vyre_type)program->buffers.data[stmt->ref].type);
        } else if (stmt->kind == VY_STMT_SUBGROUP) {
            vyre_op op = (vyre_op)vy_subgroup_get((vyre_subgroup)stmt->subgroup)->op;
            found |= (op == VYRE_OP_ADD || op == VYRE_OP_MUL) &&
                     vy_type_is_float((vyre_type)program->vars.data[stmt->result].type);
        }
    }
    return found;
}
