/* Uniformity: barriers and uniform loads must be reached by all invocations of a workgroup or by
 * none. Each variable is uniform or not, wherever it is read; control is uniform or not at each
 * place. Bodies are walked until nothing changes, functions once for each combination of uniform
 * arguments and control that they are called with.
 *
 * A `return`, `break` or `continue` in control that differs makes what follows differ too: up to
 * the next cut or the end of the function, in the whole loop, or up to the end of its body. A
 * `while` without a barrier draws on a budget of each invocation; once one such loop runs for
 * different numbers of trips, every one of them may end at different trips. */
#include "codegen/ir/validate.h"

#include <string.h>

#define BARRIER_KINDS ((1u << VY_STMT_BARRIER) | (1u << VY_STMT_UNIFORM_LOAD))
#define ASKS_KINDS    (BARRIER_KINDS | (1u << VY_STMT_SUBGROUP)) /* whether control is uniform */
#define SYNC_BIT      (1u << VY_STMT_GRID_SYNC)
#define MAX_ROUNDS    16 /* then all variables that are assigned count as differing */
#define MAX_CONTEXTS  64 /* of one function; then its arguments count as differing */

/* Why control differs: the statement whose condition or range differs, and the jump or loop that
 * spreads it, or 0. Both 0: control is uniform. */
typedef struct cause {
    uint32_t source;
    uint32_t via;
} cause;

/* What a function gives in one context of calls. */
typedef struct summary {
    struct summary *next;
    bool control_differs, value_differs;
    bool arguments[]; /* differ */
} summary;

/* The lists of the body being walked. */
typedef struct activation {
    uint32_t function;
    uint32_t call; /* the expression that calls it, 0 for the kernel */
    bool changed;  /* something became differing in this round */
    bool value_differs;
    vy_walk walk;
    cause at[VYRE_MAX_NESTING + 1];    /* control at the current place of each open list */
    cause entry[VYRE_MAX_NESTING + 1]; /* where the list's statement was entered */
} activation;

typedef struct analysis {
    vy_validator *v;
    const vyre_program *p;
    bool *expr_differs, *var_differs; /* by entry */
    cause *loops;                     /* by statement: of loops, from the jumps in them */
    uint32_t *first_stmt, *first_var; /* by function; one more entry ends the last */
    summary **summaries;              /* by function */
    uint32_t *summary_counts;
    activation *activations[VYRE_MAX_NESTING + 2]; /* by depth of calls */
    uint32_t depth;
    cause budget; /* why `while` budgets differ */
    bool budget_changed;
} analysis;

static bool differs(cause c)
{
    return c.source != 0;
}

static activation *current(analysis *a)
{
    return a->activations[a->depth];
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* What a condition's difference comes from: its first leaf that differs. */
static const char *leaf_text(const analysis *a, const vy_stmt *stmt)
{
    const vyre_program *p = a->p;
    for (uint32_t r = 0; r < 3; r++) {
        const vy_range *range = vy_stmt_range(stmt, r);
        for (uint32_t i = range->begin; i < range->end; i++) {
            const vy_expr *expr = &p->exprs.data[i];
            if (!a->expr_differs[i]) {
                continue;
            }
            const char *name = vy_expr_name(p, expr);
            if (name) {
                return name;
            }
        }
    }
    return "a value";
}

static const char *via_text(const analysis *a, uint32_t via)
{
    switch (a->p->stmts.data[via].kind) {
    case VY_STMT_RETURN:
        return "after the `return`";
    case VY_STMT_BREAK:
        return "in a loop with the `break`";
    case VY_STMT_CONTINUE:
        return "after the `continue`";
    default:
        return "in or after what may use up its loop_limit, the `while`";
    }
}

static void fail_barrier(analysis *a, const vy_stmt *barrier, cause why)
{
    const vyre_program *p = a->p;
    const vy_stmt *source = &p->stmts.data[why.source];
    const activation *act = current(a);
    vy_place_text at = vy_place(source->loc);
    vy_place_text via = vy_place(p->stmts.data[why.via].loc);
    vy_place_text call = vy_place(p->exprs.data[act->call].loc);
    bool is_called = act->function != 0;
    vy_validator_fail(
        a->v, barrier->loc,
        "a %s must be reached by the whole workgroup or not at all, but it stands %s%s%s`%s`%s, "
        "whose %s differs between invocations (`%.60s`)%s%s. Fix: move it out of there, or make "
        "the %s uniform, such as by `let x = uniform shared_buffer[0]`",
        vy_stmt_text((vy_stmt_kind)barrier->kind), why.via ? via_text(a, why.via) : "",
        why.via ? via.text : "", why.via ? " under the " : "in the ",
        vy_stmt_text((vy_stmt_kind)source->kind), at.text,
        source->kind == VY_STMT_FOR ? "range" : "condition", leaf_text(a, source),
        is_called ? "; called" : "", is_called ? call.text : "",
        source->kind == VY_STMT_FOR ? "range" : "condition");
}

static void check_barrier(analysis *a, const vy_stmt *stmt)
{
    const activation *act = current(a);
    if (differs(act->at[act->walk.depth])) {
        fail_barrier(a, stmt, act->at[act->walk.depth]);
    }
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static bool analyse_call(analysis *a, uint32_t index);

static bool entry_differs(analysis *a, uint32_t index)
{
    const vy_expr *expr = &a->p->exprs.data[index];
    switch (expr->op) {
    case VYRE_OP_LITERAL:
    case VYRE_OP_PARAM:
    case VYRE_OP_LENGTH:
        return false;
    case VYRE_OP_BUILTIN:
        return expr->ref <= VYRE_BUILTIN_LID_Z || expr->ref == VYRE_BUILTIN_LANE;
    case VYRE_OP_VARIABLE:
        return a->var_differs[expr->ref];
    case VYRE_OP_ELEMENT:
        return true;
    case VYRE_OP_LOAD: {
        uint8_t mode = a->p->buffers.data[expr->ref].mode;
        bool is_constant = mode == VYRE_BUFFER_IN || mode == VYRE_BUFFER_UNIFORM;
        return !is_constant || a->expr_differs[expr->arg[0]];
    }
    case VYRE_OP_CALL:
        return analyse_call(a, index);
    default: {
        bool any = false;
        for (uint32_t i = 0; i < vy_expr_operand_count(expr); i++) {
            any |= a->expr_differs[expr->arg[i]];
        }
        return any;
    }
    }
}

static bool range_differs(analysis *a, const vy_range *range)
{
    for (uint32_t i = range->begin; i < range->end && a->v->result == VYRE_OK; i++) {
        a->expr_differs[i] = entry_differs(a, i);
    }
    return range->root && a->expr_differs[range->root];
}

static void set_var(analysis *a, uint32_t var, bool value_differs)
{
    const activation *act = current(a);
    /* Under differing control some invocations keep what they had, or zero. */
    bool now = value_differs || differs(act->at[act->walk.depth]);
    if (var && now && !a->var_differs[var]) {
        a->var_differs[var] = true;
        current(a)->changed = true;
    }
}

/* ---- Control --------------------------------------------------------------------------------- */

static void set_loop(analysis *a, uint32_t loop, cause why)
{
    if (!differs(a->loops[loop])) {
        a->loops[loop] = why;
        current(a)->changed = true;
    }
}

/* Control differs from here on in all open lists from that depth inwards. */
static void spread(activation *act, uint32_t from, cause why)
{
    for (uint32_t d = from; d <= act->walk.depth; d++) {
        if (!differs(act->at[d])) {
            act->at[d] = why;
        }
    }
}

static bool is_loop(const vy_stmt *stmt)
{
    return stmt->kind == VY_STMT_FOR || stmt->kind == VY_STMT_WHILE;
}

static void jump(analysis *a, uint32_t index)
{
    activation *act = current(a);
    uint8_t kind = a->p->stmts.data[index].kind;
    cause why = act->at[act->walk.depth];
    if (!differs(why)) {
        return;
    }
    if (!why.via) {
        why.via = index;
    }
    uint32_t depth = act->walk.depth;
    for (; depth > 0; depth--) {
        uint32_t open = act->walk.open[depth].stmt;
        if (!is_loop(&a->p->stmts.data[open])) {
            continue;
        }
        if (kind == VY_STMT_CONTINUE) {
            break;
        }
        /* The trips of a loop with a grid_sync end in cuts, where everybody is back. */
        if (!(a->v->kinds[open] & SYNC_BIT)) {
            set_loop(a, open, why);
        }
        if (kind == VY_STMT_BREAK) {
            break;
        }
    }
    spread(act, depth, why);
}

/* Everybody who returned takes part again. */
static void cut(activation *act)
{
    for (uint32_t d = 0; d <= act->walk.depth; d++) {
        act->at[d] = (cause){0, 0};
    }
}

static void enter_while(analysis *a, uint32_t index, cause *control)
{
    if (a->v->kinds[index] & BARRIER_KINDS) {
        return;
    }
    if (differs(a->budget)) {
        cause why = a->budget;
        why.via = index;
        set_loop(a, index, why);
        if (!differs(*control)) {
            *control = why;
        }
    } else if (differs(*control)) {
        a->budget = *control;
        a->budget_changed = true;
    }
}

/* A statement with lists; the walk has opened its list already. */
static void enter_holder(analysis *a, uint32_t index, bool range)
{
    activation *act = current(a);
    const vy_stmt *stmt = &a->p->stmts.data[index];
    uint32_t depth = act->walk.depth;
    cause outer = act->at[depth - 1];
    if (stmt->kind == VY_STMT_CASE) {
        outer = act->entry[depth - 1]; /* a jump in one case is none in the next */
    } else if ((a->v->kinds[index] & SYNC_BIT) && stmt->kind != VY_STMT_BLOCK &&
               stmt->kind != VY_STMT_REGION) {
        act->at[depth] = (cause){0, 0};
        cut(act);
        outer = (cause){0, 0};
    }
    cause control = outer;
    if (!differs(control) && range) {
        control = (cause){index, 0};
    }
    if (is_loop(stmt) && !differs(control)) {
        control = a->loops[index];
    }
    if (stmt->kind == VY_STMT_WHILE) {
        enter_while(a, index, &control);
    }
    act->entry[depth] = control;
    act->at[depth] = control;
    if (stmt->kind == VY_STMT_FOR) {
        set_var(a, stmt->result, range);
    }
}

static void enter(analysis *a, uint32_t index)
{
    const vy_stmt *stmt = &a->p->stmts.data[index];
    bool holds = vy_stmt_has_lists((vy_stmt_kind)stmt->kind);
    activation *act = current(a);
    if (holds) {
        /* Conditions are evaluated where the statement stands. */
        act->at[act->walk.depth] = act->at[act->walk.depth - 1];
    }
    bool x = range_differs(a, &stmt->x);
    bool y = range_differs(a, &stmt->y);
    bool z = range_differs(a, &stmt->z);
    if (holds) {
        enter_holder(a, index, x || y || z);
        return;
    }
    switch (stmt->kind) {
    case VY_STMT_LET:
    case VY_STMT_VAR:
    case VY_STMT_ASSIGN:
        set_var(a, stmt->ref, x);
        break;
    case VY_STMT_CALL:
        set_var(a, stmt->result, x);
        break;
    case VY_STMT_ATOMIC:
        set_var(a, stmt->result, true);
        break;
    case VY_STMT_SUBGROUP:
        set_var(a, stmt->result, true);
        if (differs(act->at[act->walk.depth]) && !a->v->program->has_divergent_subgroup) {
            a->v->program->has_divergent_subgroup = true;
            a->v->program->divergent_subgroup = stmt->loc;
        }
        break;
    case VY_STMT_UNIFORM_LOAD:
        check_barrier(a, stmt);
        if (x) {
            vy_validator_fail(a->v, stmt->loc,
                              "the index of the uniform load of `%.60s` differs between "
                              "invocations. Fix: use an index that is the same for the workgroup",
                              a->p->buffers.data[stmt->ref].name);
        }
        break;
    case VY_STMT_BARRIER:
        check_barrier(a, stmt);
        break;
    case VY_STMT_RETURN:
        act->value_differs |= x || differs(act->at[act->walk.depth]);
        jump(a, index);
        break;
    case VY_STMT_BREAK:
    case VY_STMT_CONTINUE:
        jump(a, index);
        break;
    case VY_STMT_GRID_SYNC:
        cut(act);
        break;
    default:
        break;
    }
}

static void leave(analysis *a, uint32_t index)
{
    activation *act = current(a);
    const vy_stmt *stmt = &a->p->stmts.data[index];
    bool is_cut =
        (a->v->kinds[index] & SYNC_BIT) && (stmt->kind == VY_STMT_FOR || stmt->kind == VY_STMT_IF);
    if (is_cut) {
        cut(act);
    }
}

static void walk_once(analysis *a, uint32_t first, cause outer)
{
    activation *act = current(a);
    uint32_t index = 0;
    vy_walk_begin(&act->walk, a->p, first);
    act->at[0] = outer;
    act->entry[0] = outer;
    act->changed = false;
    for (vy_walk_event event; (event = vy_walk_next(&act->walk, &index)) != VY_WALK_END;) {
        if (a->v->result != VYRE_OK) {
            return;
        }
        if (event == VY_WALK_ENTER) {
            enter(a, index);
            continue;
        }
        leave(a, index);
        if (event == VY_WALK_ELSE) {
            act->at[act->walk.depth] = act->entry[act->walk.depth];
        }
    }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Walks a body until nothing changes. */
static void analyse_body(analysis *a, uint32_t first, cause outer, uint32_t vars_begin,
                         uint32_t vars_end)
{
    activation *act = current(a);
    for (uint32_t round = 1; a->v->result == VYRE_OK; round++) {
        walk_once(a, first, outer);
        if (!act->changed) {
            return;
        }
        for (uint32_t i = vars_begin; i < vars_end && round == MAX_ROUNDS; i++) {
            a->var_differs[i] |= a->p->vars.data[i].kind == VY_VAR_VAR;
        }
    }
}

static bool open_activation(analysis *a, uint32_t depth)
{
    if (!a->activations[depth]) {
        a->activations[depth] = vy_arena_alloc(&a->v->scratch, 1, sizeof(activation));
    }
    if (!a->activations[depth]) {
        vy_validator_no_memory(a->v);
        return false;
    }
    a->depth = depth;
    return true;
}

/* The summary of these arguments, or of arguments that all differ. */
static summary *find_summary(analysis *a, const vy_expr *call, bool control_differs, bool all)
{
    const uint32_t *arguments = a->p->call_args.data + call->arg[0];
    for (summary *s = a->summaries[call->ref]; s; s = s->next) {
        bool same = s->control_differs == control_differs;
        for (uint32_t i = 0; i < call->arg[1] && same; i++) {
            same = s->arguments[i] == (all || a->expr_differs[arguments[i]]);
        }
        if (same) {
            return s;
        }
    }
    return NULL;
}

static summary *add_summary(analysis *a, const vy_expr *call, bool control_differs)
{
    uint32_t count = call->arg[1];
    bool is_full = a->summary_counts[call->ref] >= MAX_CONTEXTS;
    summary *s = vy_arena_alloc(&a->v->scratch, 1, sizeof *s + count * sizeof s->arguments[0]);
    if (!s) {
        vy_validator_no_memory(a->v);
        return NULL;
    }
    s->control_differs = control_differs;
    for (uint32_t i = 0; i < count; i++) {
        s->arguments[i] = is_full || a->expr_differs[a->p->call_args.data[call->arg[0] + i]];
    }
    s->next = a->summaries[call->ref];
    a->summaries[call->ref] = s;
    a->summary_counts[call->ref]++;
    return s;
}

/* Whether the call's value differs. Recursion is as deep as calls are nested, at most
 * VYRE_MAX_NESTING. */
static bool analyse_call(analysis *a, uint32_t index)
{
    const vy_expr *call = &a->p->exprs.data[index];
    const vy_function *callee = &a->p->functions.data[call->ref];
    activation *outer = current(a);
    cause control = outer->at[outer->walk.depth];
    summary *s = find_summary(a, call, differs(control), false);
    if (!s && a->summary_counts[call->ref] >= MAX_CONTEXTS) {
        s = find_summary(a, call, differs(control), true);
    }
    if (s) {
        return s->value_differs;
    }
    s = add_summary(a, call, differs(control));
    uint32_t depth = a->depth;
    if (!s || !open_activation(a, depth + 1)) {
        return false;
    }
    activation *act = current(a);
    act->function = call->ref;
    act->call = index;
    act->value_differs = false;
    uint32_t begin = a->first_var[call->ref], end = a->first_var[call->ref + 1];
    memset(a->var_differs + begin, 0, (end - begin) * sizeof *a->var_differs);
    memcpy(a->var_differs + begin, s->arguments, callee->parameter_count * sizeof *a->var_differs);
    uint32_t stmts = a->first_stmt[call->ref];
    memset(a->loops + stmts, 0, (a->first_stmt[call->ref + 1] - stmts) * sizeof *a->loops);
    analyse_body(a, callee->body, control, begin, end);
    s->value_differs = act->value_differs;
    a->depth = depth;
    return s->value_differs;
}

/* Statements and variables of functions lie one function behind the other, the kernel's last. */
static void find_firsts(analysis *a)
{
    const vyre_program *p = a->p;
    uint32_t stmt = p->body ? p->body : p->stmts.count;
    uint32_t var = p->vars.count;
    while (var > 1 && p->vars.data[var - 1].function == 0) {
        var--;
    }
    for (uint32_t f = p->functions.count; f > 0; f--) {
        if (f < p->functions.count) {
            var = p->functions.data[f].first_parameter;
            stmt = p->functions.data[f].body ? p->functions.data[f].body : stmt;
        }
        a->first_stmt[f] = stmt;
        a->first_var[f] = var;
    }
}

/* Whether anything in the program must be reached by a whole workgroup, or says so of itself. */
static bool asks_for_uniformity(const vyre_program *p)
{
    for (uint32_t i = 1; i < p->stmts.count; i++) {
        if (ASKS_KINDS >> p->stmts.data[i].kind & 1) {
            return true;
        }
    }
    return false;
}

void vy_validate_uniformity(vy_validator *v)
{
    const vyre_program *p = v->program;
    if (!asks_for_uniformity(p)) {
        return;
    }
    vy_arena *arena = &v->scratch;
    analysis *a = vy_arena_alloc(arena, 1, sizeof *a);
    if (!a) {
        vy_validator_no_memory(v);
        return;
    }
    a->v = v;
    a->p = p;
    a->expr_differs = vy_arena_alloc(arena, p->exprs.count, sizeof *a->expr_differs);
    a->var_differs = vy_arena_alloc(arena, p->vars.count, sizeof *a->var_differs);
    a->loops = vy_arena_alloc(arena, p->stmts.count, sizeof *a->loops);
    a->first_stmt = vy_arena_alloc(arena, (size_t)p->functions.count + 1, sizeof *a->first_stmt);
    a->first_var = vy_arena_alloc(arena, (size_t)p->functions.count + 1, sizeof *a->first_var);
    a->summaries = vy_arena_alloc(arena, p->functions.count, sizeof *a->summaries);
    a->summary_counts = vy_arena_alloc(arena, p->functions.count, sizeof *a->summary_counts);
    if (arena->failed || !open_activation(a, 0)) {
        vy_validator_no_memory(v);
        return;
    }
    find_firsts(a);
    do {
        a->budget_changed = false;
        memset(a->summaries, 0, p->functions.count * sizeof *a->summaries);
        memset(a->summary_counts, 0, p->functions.count * sizeof *a->summary_counts);
        analyse_body(a, p->body, (cause){0, 0}, a->first_var[p->functions.count], p->vars.count);
    } while (a->budget_changed && v->result == VYRE_OK);
}
