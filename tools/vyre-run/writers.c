/* The statements of a segment that write a buffer, found in the program's text. */
#include "tools/vyre-run/writers.h"

#include "codegen/interp/machine.h"
#include "codegen/ir/walk.h"

typedef struct finder {
    const vyre_program *program;
    uint32_t buffer;
    vy_arena *arena;
    writers *found;
    bool *is_known;          /* by function: in the list, or looked through */
    VY_VEC(uint32_t) called; /* functions to be looked through */
} finder;

static void take_calls(finder *f, vy_range range)
{
    for (uint32_t i = range.begin; range.root && i < range.end; i++) {
        const vy_expr *expr = &f->program->exprs.data[i];
        if (expr->op == VYRE_OP_CALL && !f->is_known[expr->ref]) {
            f->is_known[expr->ref] = true;
            (void)vy_vec_push(f->arena, &f->called, expr->ref);
        }
    }
}

static void take_stmt(finder *f, uint32_t index)
{
    const vy_stmt *stmt = &f->program->stmts.data[index];
    bool is_store = stmt->kind == VY_STMT_STORE ||
                    (stmt->kind == VY_STMT_ATOMIC && stmt->atomic != VYRE_ATOMIC_LOAD);
    if (is_store && stmt->ref == f->buffer) {
        (void)vy_vec_push(f->arena, &f->found->stmts, index);
    }
    for (uint32_t i = 0; i < 3; i++) {
        take_calls(f, *vy_stmt_range(stmt, i));
    }
}

/* `is_list`: those behind it, too. */
static void take_stmts(finder *f, uint32_t first, bool is_list)
{
    vy_walk walk;
    uint32_t stmt = 0;
    vy_walk_event event;
    vy_walk_begin(&walk, f->program, first);
    while ((event = vy_walk_next(&walk, &stmt)) != VY_WALK_END) {
        if (event == VY_WALK_ENTER) {
            take_stmt(f, stmt);
        }
        bool has_lists = vy_stmt_has_lists((vy_stmt_kind)f->program->stmts.data[stmt].kind);
        if (!is_list && stmt == first && (event == VY_WALK_LEAVE || !has_lists)) {
            return;
        }
    }
}

vyre_result find_writers(const vyre_program *program, uint32_t segment, uint32_t buffer,
                         vy_arena *arena, writers *out_writers, vyre_diag *diag)
{
    vy_plan plan;
    *out_writers = (writers){.stmts = {0}};
    finder f = {.program = program, .buffer = buffer, .arena = arena, .found = out_writers};
    vyre_result result = vy_plan_build(program, VY_PRINTS_DROPPED, arena, &plan, diag);
    if (result != VYRE_OK) {
        return result;
    }
    f.is_known = vy_arena_alloc(arena, (size_t)program->functions.count + 1, sizeof *f.is_known);
    for (uint32_t i = 0; f.is_known && i < plan.steps.count; i++) {
        const vy_host_step *step = &plan.steps.data[i];
        bool is_meant = step->kind == VY_HOST_STRETCH && step->segment == segment;
        for (uint32_t k = 0; is_meant && k < step->count; k++) {
            take_stmts(&f, plan.stretch_stmts.data[step->first + k], false);
        }
    }
    for (uint32_t i = 0; i < f.called.count; i++) {
        take_stmts(&f, program->functions.data[f.called.data[i]].body, true);
    }
    return arena->failed ? vy_diag_no_memory(diag) : VYRE_OK;
}
