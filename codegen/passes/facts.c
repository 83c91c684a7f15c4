/* What lowering must know about statements before it meets them: which variables a loop assigns,
 * where barriers, cuts and counted loops lie, which functions return early. Reads a validated
 * program; fills facts, functions and assigned of a vy_split. One walk with a stack of its own. */
#include "codegen/passes/split_parts.h"

typedef struct open_stmt {
    uint32_t stmt, mark; /* mark: pending assignments before it */
} open_stmt;

typedef struct fact_walk {
    vy_splitter *s;
    uint32_t function;
    bool has_calls; /* the program, anywhere */
    vy_function_facts *out;
    VY_VEC(uint32_t) work; /* statement * 2, + 1 to leave it */
    VY_VEC(open_stmt) open;
    VY_VEC(uint32_t) pending;
    uint32_t *stamp; /* by variable: the last loop that took it */
} fact_walk;

static void add_calls(fact_walk *w, vy_range range, vy_stmt_facts *facts)
{
    const vyre_program *program = w->s->program;
    if (!range.root) {
        return;
    }
    if (range.begin == 0 || range.end > program->exprs.count || range.root >= range.end) {
        w->s->invalid = true;
        return;
    }
    for (uint32_t e = range.begin; e < range.end && w->has_calls; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        if (expr->op != VYRE_OP_CALL) {
            continue;
        }
        /* Only earlier functions can be called, so what they do is known. */
        if (expr->ref == 0 || expr->ref >= program->functions.count ||
            (w->function && expr->ref >= w->function)) {
            w->s->invalid = true;
            return;
        }
        facts->has_barrier |= w->s->split->functions[expr->ref].has_barrier;
        facts->draws_budget |= w->s->split->functions[expr->ref].draws_budget;
    }
}

static void add_to_parent(fact_walk *w, const vy_stmt_facts *facts)
{
    if (w->open.count == 0) {
        w->out->has_barrier |= facts->has_barrier;
        w->out->draws_budget |= facts->draws_budget;
        return;
    }
    vy_stmt_facts *parent = &w->s->split->facts[w->open.data[w->open.count - 1].stmt];
    parent->has_cut |= facts->has_cut;
    parent->has_barrier |= facts->has_barrier;
    parent->draws_budget |= facts->draws_budget;
    parent->has_return |= facts->has_return;
}

/* Keeps of the assignments since `mark` one for each variable: the loop's list, and its share of
 * the enclosing loop's. */
static void take_assigned(fact_walk *w, uint32_t stmt, uint32_t mark)
{
    vy_split *split = w->s->split;
    vy_stmt_facts *facts = &split->facts[stmt];
    uint32_t kept = mark;
    facts->first_assigned = split->assigned.count;
    for (uint32_t i = mark; i < w->pending.count; i++) {
        uint32_t var = w->pending.data[i];
        if (w->stamp[var] != stmt && vy_vec_push(w->s->arena, &split->assigned, var)) {
            w->stamp[var] = stmt;
            w->pending.data[kept++] = var;
        }
    }
    w->pending.count = kept;
    facts->assigned_count = split->assigned.count - facts->first_assigned;
}

static void leave(fact_walk *w, uint32_t index)
{
    const vy_stmt *stmt = &w->s->program->stmts.data[index];
    vy_stmt_facts *facts = &w->s->split->facts[index];
    uint32_t mark = w->open.data[--w->open.count].mark;
    if (stmt->kind == VY_STMT_WHILE && !facts->has_barrier) {
        facts->draws_budget = true;
    }
    if (stmt->kind == VY_STMT_FOR || stmt->kind == VY_STMT_WHILE) {
        take_assigned(w, index, mark);
    }
    add_to_parent(w, facts);
}

static void enter(fact_walk *w, uint32_t index)
{
    const vyre_program *program = w->s->program;
    const vy_stmt *stmt = &program->stmts.data[index];
    vy_stmt_facts *facts = &w->s->split->facts[index];
    vy_arena *arena = w->s->arena;
    facts->has_cut = stmt->kind == VY_STMT_GRID_SYNC;
    facts->has_barrier = stmt->kind == VY_STMT_BARRIER || stmt->kind == VY_STMT_UNIFORM_LOAD;
    facts->has_return = stmt->kind == VY_STMT_RETURN;
    add_calls(w, stmt->x, facts);
    add_calls(w, stmt->y, facts);
    add_calls(w, stmt->z, facts);
    if (stmt->kind == VY_STMT_ASSIGN) {
        (void)vy_vec_push(arena, &w->pending, stmt->ref);
    }
    if (stmt->next) {
        (void)vy_vec_push(arena, &w->work, stmt->next * 2);
    }
    if (!vy_stmt_has_lists((vy_stmt_kind)stmt->kind)) {
        add_to_parent(w, facts);
        return;
    }
    if (w->open.count > VYRE_MAX_NESTING * 2) {
        w->s->invalid = true;
        return;
    }
    (void)vy_vec_push(arena, &w->work, index * 2 + 1);
    (void)vy_vec_push(arena, &w->open, (open_stmt){index, w->pending.count});
    if (stmt->other) {
        (void)vy_vec_push(arena, &w->work, stmt->other * 2);
    }
    if (stmt->body) {
        (void)vy_vec_push(arena, &w->work, stmt->body * 2);
    }
}

static void walk(fact_walk *w, uint32_t first)
{
    w->open.count = w->work.count = w->pending.count = 0;
    if (first) {
        (void)vy_vec_push(w->s->arena, &w->work, first * 2);
    }
    while (w->work.count && !w->s->invalid && !w->s->arena->failed) {
        uint32_t item = w->work.data[--w->work.count];
        if (item & 1) {
            leave(w, item / 2);
        } else {
            enter(w, item / 2);
        }
    }
}

/* Whether some `return` stands where a later statement of the function may still run. */
static bool returns_early(fact_walk *w, uint32_t first)
{
    const vy_stmt_facts *facts = w->s->split->facts;
    w->work.count = 0;
    (void)vy_vec_push(w->s->arena, &w->work, first);
    while (w->work.count && !w->s->arena->failed) {
        for (uint32_t i = w->work.data[--w->work.count]; i;) {
            const vy_stmt *stmt = &w->s->program->stmts.data[i];
            bool is_last = stmt->next == 0 || stmt->kind == VY_STMT_CASE;
            if (stmt->kind == VY_STMT_RETURN) {
                break; /* the rest of this list is dead */
            }
            if (facts[i].has_return) {
                if (!is_last || stmt->kind == VY_STMT_FOR || stmt->kind == VY_STMT_WHILE) {
                    return true;
                }
                (void)vy_vec_push(w->s->arena, &w->work, stmt->body);
                (void)vy_vec_push(w->s->arena, &w->work, stmt->other);
            }
            i = stmt->next;
        }
    }
    return false;
}

void vy_split_find_facts(vy_splitter *s)
{
    const vyre_program *program = s->program;
    fact_walk w = {.s = s, .has_calls = vy_program_has_op(program, VYRE_OP_CALL)};
    vy_function_facts body = {.returns_early = false};
    w.stamp = vy_arena_alloc(s->arena, program->vars.count, sizeof *w.stamp);
    if (s->arena->failed) {
        return;
    }
    for (uint32_t f = 1; f < program->functions.count && !s->invalid && !s->arena->failed; f++) {
        const vy_function *function = &program->functions.data[f];
        w.function = f;
        w.out = &s->split->functions[f];
        walk(&w, function->body);
        if (!s->invalid && !s->arena->failed) {
            w.out->returns_early = returns_early(&w, function->body);
        }
    }
    w.function = 0;
    w.out = &body;
    if (!s->invalid && !s->arena->failed) {
        walk(&w, program->body);
    }
}
