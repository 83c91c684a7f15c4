/* Programs: their end, their accessors and questions about what they contain. */
#include "codegen/ir/walk.h"

void vyre_program_destroy(vyre_program **program)
{
    if (!program || !*program) {
        return;
    }
    vyre_program *p = *program;
    *program = NULL;
    /* Releases what this holder did, acquires what the others did. */
    if (atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) != 0) {
        return;
    }
    vyre_allocator memory = p->arena.allocator;
    vy_arena_finish(&p->arena);
    vy_free(&memory, p, sizeof *p);
}

vyre_program *vy_program_hold(const vyre_program *program)
{
    vyre_program *held = (vyre_program *)program; /* the count is no part of what it says */
    atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
    return held;
}

const char *vyre_program_name(const vyre_program *program)
{
    return program && program->name ? program->name : "";
}

static bool range_calls(const vyre_program *program, const vy_range *range, uint32_t kinds)
{
    for (uint32_t i = range->begin; i < range->end; i++) {
        const vy_expr *expr = &program->exprs.data[i];
        if (expr->op == VYRE_OP_CALL && (program->functions.data[expr->ref].kinds & kinds)) {
            return true;
        }
    }
    return false;
}

bool vy_list_contains(const vyre_program *program, uint32_t first, vy_stmt_kind kind)
{
    vy_walk walk;
    uint32_t index = 0;
    uint32_t kinds = 1u << kind;
    vy_walk_begin(&walk, program, first);
    for (vy_walk_event event; (event = vy_walk_next(&walk, &index)) != VY_WALK_END;) {
        if (event != VY_WALK_ENTER) {
            continue;
        }
        const vy_stmt *stmt = &program->stmts.data[index];
        if (stmt->kind == kind || range_calls(program, &stmt->x, kinds) ||
            range_calls(program, &stmt->y, kinds) || range_calls(program, &stmt->z, kinds)) {
            return true;
        }
    }
    return false;
}

static bool has_type(const vyre_program *program, bool (*is_it)(vyre_type type, uint32_t width),
                     uint32_t width)
{
    for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
        if (program->uses.types >> type & 1 && is_it((vyre_type)type, width)) {
            return true;
        }
    }
    return false;
}

static bool is_float(vyre_type type, uint32_t width)
{
    (void)width;
    return vy_type_is_float(type);
}

static bool is_of_width(vyre_type type, uint32_t width)
{
    return vy_type_width(type) == width;
}

bool vy_program_has_floats(const vyre_program *program)
{
    return has_type(program, is_float, 0);
}

bool vy_program_has_width(const vyre_program *program, uint32_t width)
{
    return has_type(program, is_of_width, width);
}

bool vy_program_has_prints(const vyre_program *program)
{
    return vy_program_has_kind(program, VY_STMT_PRINTF);
}

vy_range vy_printf_value(const vyre_program *program, const vy_stmt *stmt, uint32_t i)
{
    const uint32_t *roots = &program->values.data[stmt->first_value];
    uint32_t begin = i ? roots[i - 1] + 1 : 0;
    return (vy_range){stmt->x.begin + begin, stmt->x.begin + roots[i] + 1,
                      stmt->x.begin + roots[i]};
}

/* The text of what makes the workgroup's shape visible, or NULL. What is printed is no result, so
 * it may show the shape that was chosen. */
static const char *shape_use(const vyre_program *program)
{
    const uint64_t global = (uint64_t)1 << VYRE_BUILTIN_GID_X | (uint64_t)1 << VYRE_BUILTIN_GID_Y |
                            (uint64_t)1 << VYRE_BUILTIN_GID_Z | (uint64_t)1 << VYRE_BUILTIN_PASS;
    bool has_others = (program->uses.builtins & ~global) != 0;
    for (uint32_t i = 1; has_others && i < program->exprs.count; i++) {
        const vy_expr *expr = &program->exprs.data[i];
        if (expr->is_printed) {
            continue;
        }
        if (expr->op == VYRE_OP_BUILTIN && !(global >> expr->ref & 1)) {
            return vy_builtin_text((vyre_builtin)expr->ref);
        }
    }
    const uint64_t kinds = (uint64_t)1 << VY_STMT_BARRIER | (uint64_t)1 << VY_STMT_UNIFORM_LOAD |
                           (uint64_t)1 << VY_STMT_SUBGROUP;
    for (uint32_t i = 1; program->uses.kinds & kinds && i < program->stmts.count; i++) {
        switch (program->stmts.data[i].kind) {
        case VY_STMT_BARRIER:
            return "barrier";
        case VY_STMT_UNIFORM_LOAD:
            return "a uniform load";
        case VY_STMT_SUBGROUP:
            return vy_subgroup_get((vyre_subgroup)program->stmts.data[i].subgroup)->text;
        default:
            break;
        }
    }
    if (program->grid_from) {
        return "`grid from`";
    }
    if (program->grid_of[0].root) {
        return "`grid of`";
    }
    return program->shared_count ? "shared memory" : NULL;
}

bool vy_program_is_workgroup_agnostic(const vyre_program *program, const char **out_use)
{
    const char *use = shape_use(program);
    if (out_use) {
        *out_use = use;
    }
    return use == NULL;
}

const char *vyre_record_kind_text(vyre_record_kind kind)
{
    static const char *const texts[] = {
        [VYRE_RECORD_NONE] = "none",
        [VYRE_RECORD_TRAP] = "trap",
        [VYRE_RECORD_LOOP_LIMIT] = "loop_limit",
        [VYRE_RECORD_LOAD_OUTSIDE] = "load_outside",
        [VYRE_RECORD_STORE_OUTSIDE] = "store_outside",
        [VYRE_RECORD_ATOMIC_OUTSIDE] = "atomic_outside",
    };
    return (uint32_t)kind < VY_COUNT_OF(texts) ? texts[kind] : "unknown";
}
