/* What a run needs to know of the program alone: which column every expression lies in, how deep
 * frames and columns get, and the host's walk over segments. Reads the program, makes a vy_plan in
 * the caller's arena. Nothing here follows calls: functions only call earlier ones, so their needs
 * are known when they are used. */
#include "codegen/interp/machine.h"
#include "codegen/ir/walk.h"

typedef struct list_at {
    uint32_t first, depth;
} list_at;

typedef struct planner {
    const vyre_program *program;
    vy_arena *arena;
    vy_plan *plan;
    uint32_t *last_use;               /* by expression */
    VY_VEC(uint32_t) free_columns[3]; /* of values of 1, 2 and 4 components */
    VY_VEC(list_at) work;
    uint32_t *function_columns; /* by function, with what it calls */
    uint32_t *function_frames;
    uint32_t host_loops; /* around the list that is planned */
    bool open_stretch;
    bool invalid;
} planner;

/* ---- Columns of expressions ------------------------------------------------------------------ */

static uint32_t operand_count(const vy_expr *expr)
{
    return expr->op == VYRE_OP_CALL ? expr->arg[1] : vy_expr_operand_count(expr);
}

static uint32_t operand_at(const vyre_program *program, const vy_expr *expr, uint32_t i)
{
    if (expr->op == VYRE_OP_CALL) {
        uint32_t at = expr->arg[0] + i;
        return at < program->call_args.count ? program->call_args.data[at] : 0;
    }
    return i < 4 ? expr->arg[i] : 0;
}

/* A call without a value has a column all the same. */
static uint32_t columns_of(const vy_expr *expr)
{
    uint32_t components = vy_type_components((vyre_type)expr->type);
    return components ? components : 1;
}

/* Values of one size use each other's columns, and no others: so the columns of an operand and of
 * the result are the same ones or have none in common. */
static uint32_t size_class(const vy_expr *expr)
{
    return columns_of(expr) / 2;
}

/* Gives back the columns of operands that nobody needs after `index`. */
static void release_operands(planner *p, uint32_t index)
{
    const vy_expr *expr = &p->program->exprs.data[index];
    uint32_t count = operand_count(expr);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = operand_at(p->program, expr, i);
        if (operand >= index) {
            p->invalid = true;
        } else if (operand && p->last_use[operand] == index) {
            p->last_use[operand] = UINT32_MAX; /* once, where it is an operand twice */
            uint32_t class = size_class(&p->program->exprs.data[operand]);
            (void)vy_vec_push(p->arena, &p->free_columns[class], p->plan->expr_column[operand]);
        }
    }
}

/* Columns are used again once their value is spent, so that a sum of 10^5 terms takes two. */
static void place_range(planner *p, vy_range range, uint32_t *columns)
{
    const vyre_program *program = p->program;
    if (range.root == 0) {
        return;
    }
    if (range.end > program->exprs.count || range.begin == 0 || range.root >= range.end) {
        p->invalid = true;
        return;
    }
    for (uint32_t e = range.begin; e < range.end; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        uint32_t count = operand_count(expr);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t operand = operand_at(program, expr, i);
            if (operand < e) {
                p->last_use[operand] = e;
            }
        }
    }
    p->last_use[range.root] = UINT32_MAX;
    for (uint32_t e = range.begin; e < range.end; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        uint32_t class = size_class(expr);
        release_operands(p, e);
        if (p->free_columns[class].count) {
            p->plan->expr_column[e] = p->free_columns[class].data[--p->free_columns[class].count];
        } else {
            p->plan->expr_column[e] = *columns;
            *columns += columns_of(expr);
        }
    }
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The needs of functions called in the range. */
static void measure_calls(planner *p, vy_range range, uint32_t caller, uint32_t *columns,
                          uint32_t *frames)
{
    for (uint32_t e = range.begin; range.root && e < range.end; e++) {
        const vy_expr *expr = &p->program->exprs.data[e];
        if (expr->op != VYRE_OP_CALL) {
            continue;
        }
        if (expr->ref == 0 || expr->ref >= p->program->functions.count ||
            (caller && expr->ref >= caller)) {
            p->invalid = true;
            return;
        }
        *columns = max_u32(*columns, p->function_columns[expr->ref]);
        *frames = max_u32(*frames, p->function_frames[expr->ref]);
    }
}

/* ---- Depth ----------------------------------------------------------------------------------- */

static void push_list(planner *p, uint32_t first, uint32_t depth)
{
    if (first) {
        list_at entry = {first, depth};
        (void)vy_vec_push(p->arena, &p->work, entry);
    }
}

static void measure_statement(planner *p, uint32_t index, uint32_t depth, uint32_t caller,
                              uint32_t *columns, uint32_t *frames)
{
    const vyre_program *program = p->program;
    const vy_stmt *stmt = &program->stmts.data[index];
    uint32_t own = 0, callee_columns = 0, callee_frames = 0;
    place_range(p, stmt->x, &own);
    place_range(p, stmt->y, &own);
    place_range(p, stmt->z, &own);
    for (uint32_t i = 0; i < VY_COUNT_OF(p->free_columns); i++) {
        p->free_columns[i].count = 0;
    }
    if (p->invalid || p->arena->failed) {
        return;
    }
    p->plan->stmt_columns[index] = own;
    measure_calls(p, stmt->x, caller, &callee_columns, &callee_frames);
    measure_calls(p, stmt->y, caller, &callee_columns, &callee_frames);
    measure_calls(p, stmt->z, caller, &callee_columns, &callee_frames);
    *columns = max_u32(*columns, own + callee_columns);
    *frames = max_u32(*frames, depth + 1 + callee_frames);
    if (stmt->kind == VY_STMT_WHILE) {
        p->plan->has_barrier[index] = vy_list_contains(program, stmt->body, VY_STMT_BARRIER) ||
                                      vy_list_contains(program, stmt->body, VY_STMT_UNIFORM_LOAD);
    }
    push_list(p, stmt->body, stmt->kind == VY_STMT_SWITCH ? depth : depth + 1);
    push_list(p, stmt->other, depth + 1);
}

/* Everything in the list, which stands in a frame of depth 1. */
static void measure_body(planner *p, uint32_t first, uint32_t caller, uint32_t *columns,
                         uint32_t *frames)
{
    *columns = 0;
    *frames = 1;
    push_list(p, first, 1);
    while (p->work.count && !p->invalid && !p->arena->failed) {
        list_at list = p->work.data[--p->work.count];
        for (uint32_t s = list.first; s && !p->invalid; s = p->program->stmts.data[s].next) {
            measure_statement(p, s, list.depth, caller, columns, frames);
        }
    }
    p->work.count = 0;
}

/* ---- The host's walk ------------------------------------------------------------------------- */

static uint32_t add_step(planner *p, vy_host_kind kind, uint32_t stmt)
{
    vy_host_step step = {.kind = (uint8_t)kind, .stmt = stmt};
    (void)vy_vec_push(p->arena, &p->plan->steps, step);
    p->open_stretch = false;
    return p->plan->steps.count - 1;
}

static void add_to_stretch(planner *p, uint32_t stmt)
{
    if (!p->open_stretch) {
        uint32_t at = add_step(p, VY_HOST_STRETCH, 0);
        if (p->arena->failed) {
            return;
        }
        p->plan->steps.data[at].first = p->plan->stretch_stmts.count;
        p->plan->steps.data[at].segment = p->plan->segment_count++;
        p->open_stretch = true;
    }
    if (vy_vec_push(p->arena, &p->plan->stretch_stmts, stmt)) {
        p->plan->steps.data[p->plan->steps.count - 1].count++;
    }
}

static void plan_list(planner *p, uint32_t first, uint32_t depth);

/* A host loop or `if` is bounded by cuts; one without any segment in it does nothing and goes. */
static void plan_host_for(planner *p, uint32_t index, uint32_t depth)
{
    const vy_stmt *stmt = &p->program->stmts.data[index];
    uint32_t begin = add_step(p, VY_HOST_FOR, index), segments = p->plan->segment_count;
    p->host_loops++;
    p->invalid = p->invalid || p->host_loops > VYRE_MAX_HOST_LOOPS;
    plan_list(p, stmt->body, depth + 1);
    p->host_loops--;
    uint32_t end = add_step(p, VY_HOST_FOR_END, index);
    if (p->arena->failed) {
        return;
    }
    if (segments == p->plan->segment_count) {
        p->plan->steps.count = begin;
        return;
    }
    p->plan->steps.data[begin].target = end + 1;
    p->plan->steps.data[end].target = begin;
    p->plan->is_host_index[stmt->result] = true;
}

static void plan_host_if(planner *p, uint32_t index, uint32_t depth)
{
    const vy_stmt *stmt = &p->program->stmts.data[index];
    uint32_t begin = add_step(p, VY_HOST_IF, index), segments = p->plan->segment_count;
    plan_list(p, stmt->body, depth + 1);
    uint32_t jump = add_step(p, VY_HOST_JUMP, index);
    plan_list(p, stmt->other, depth + 1);
    p->open_stretch = false;
    if (p->arena->failed) {
        return;
    }
    if (segments == p->plan->segment_count) {
        p->plan->steps.count = begin;
        return;
    }
    p->plan->steps.data[begin].target = jump + 1;
    p->plan->steps.data[jump].target = p->plan->steps.count;
}

/* Recursion ends at the language's limit of nesting. */
static void plan_list(planner *p, uint32_t first, uint32_t depth)
{
    if (depth > VYRE_MAX_NESTING + 1) {
        p->invalid = true;
        return;
    }
    for (uint32_t s = first; s && !p->invalid && !p->arena->failed;
         s = p->program->stmts.data[s].next) {
        const vy_stmt *stmt = &p->program->stmts.data[s];
        bool cut = vy_list_contains(p->program, stmt->body, VY_STMT_GRID_SYNC) ||
                   vy_list_contains(p->program, stmt->other, VY_STMT_GRID_SYNC);
        if (stmt->kind == VY_STMT_GRID_SYNC) {
            p->open_stretch = false;
        } else if (stmt->kind == VY_STMT_PRINTF && !p->plan->prints) {
            /* as if it were not there */
        } else if (!cut) {
            add_to_stretch(p, s);
        } else if (stmt->kind == VY_STMT_FOR) {
            plan_host_for(p, s, depth);
        } else if (stmt->kind == VY_STMT_IF) {
            plan_host_if(p, s, depth);
        } else if (stmt->kind == VY_STMT_BLOCK || stmt->kind == VY_STMT_REGION) {
            plan_list(p, stmt->body, depth + 1);
        } else {
            p->invalid = true;
        }
    }
}

static void find_kept(planner *p)
{
    vy_plan *plan = p->plan;
    if (plan->steps.count <= 1) {
        return; /* one segment: nothing outlives a workgroup's turn */
    }
    for (uint32_t i = 0; i < plan->stretch_stmts.count; i++) {
        uint32_t var = vy_declared_variable(&p->program->stmts.data[plan->stretch_stmts.data[i]]);
        if (var) {
            plan->is_kept[var] = true;
        }
    }
}

static uint32_t range_size(vy_range range)
{
    return range.root ? range.end - range.begin : 0;
}

static void measure_host_ranges(planner *p)
{
    const vyre_program *program = p->program;
    uint32_t most = 1;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        most = max_u32(most, range_size(program->buffers.data[i].count));
    }
    for (uint32_t i = 0; i < 3; i++) {
        most = max_u32(most, range_size(program->grid_of[i]));
    }
    for (uint32_t i = 0; i < p->plan->steps.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[p->plan->steps.data[i].stmt];
        if (p->plan->steps.data[i].stmt) {
            most = max_u32(most, range_size(stmt->x));
            most = max_u32(most, range_size(stmt->y));
            most = max_u32(most, range_size(stmt->z));
        }
    }
    p->plan->host_scratch = most;
}

static size_t at_least_one(uint32_t count)
{
    return count ? count : 1;
}

static void allocate_tables(planner *p)
{
    const vyre_program *program = p->program;
    vy_plan *plan = p->plan;
    size_t exprs = at_least_one(program->exprs.count), stmts = at_least_one(program->stmts.count);
    size_t vars = at_least_one(program->vars.count);
    size_t functions = at_least_one(program->functions.count);
    plan->expr_column = vy_arena_alloc(p->arena, exprs, sizeof *plan->expr_column);
    plan->stmt_columns = vy_arena_alloc(p->arena, stmts, sizeof *plan->stmt_columns);
    plan->has_barrier = vy_arena_alloc(p->arena, stmts, sizeof *plan->has_barrier);
    plan->is_kept = vy_arena_alloc(p->arena, vars, sizeof *plan->is_kept);
    plan->is_host_index = vy_arena_alloc(p->arena, vars, sizeof *plan->is_host_index);
    p->last_use = vy_arena_alloc(p->arena, exprs, sizeof *p->last_use);
    p->function_columns = vy_arena_alloc(p->arena, functions, sizeof *p->function_columns);
    p->function_frames = vy_arena_alloc(p->arena, functions, sizeof *p->function_frames);
}

vyre_result vy_plan_build(const vyre_program *program, vy_prints prints, vy_arena *arena,
                          vy_plan *out_plan, vyre_diag *diag)
{
    vy_loc nowhere = {0, 0};
    planner p = {.program = program, .arena = arena, .plan = out_plan};
    *out_plan = (vy_plan){.prints = prints};
    allocate_tables(&p);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t f = 1; f < program->functions.count; f++) {
        measure_body(&p, program->functions.data[f].body, f, &p.function_columns[f],
                     &p.function_frames[f]);
    }
    measure_body(&p, program->body, 0, &out_plan->columns, &out_plan->frames);
    plan_list(&p, program->body, 1);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    if (p.invalid) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, nowhere,
                           "the program is not well formed. Fix: make it with vyre_builder_finish "
                           "or vyre_program_parse, which check it");
    }
    find_kept(&p);
    measure_host_ranges(&p);
    return VYRE_OK;
}
