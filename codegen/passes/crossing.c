/* How values get from one segment to another. Reads the segments and what their statements mention;
 * fills the crossings of variables and the lists of every segment. Only variables that a segment
 * declares at host level can be seen by another one.
 * A value may be computed again only where nobody can tell: its initialiser gives the same in every
 * later segment, and no invocation can leave its segment before the declaration, since a name whose
 * binding was not reached is zero from then on. */
#include "codegen/passes/split_parts.h"

#define MAX_RECOMPUTE_COST 16u
#define MAX_ARRAY_WORDS    64u

typedef struct mention {
    uint32_t var;
    bool assigned;
} mention;

typedef struct crossing_walk {
    vy_splitter *s;
    VY_VEC(mention) mentions; /* of all segments, one for each variable and segment */
    uint32_t *first_mention;  /* by segment, and one more */
    uint32_t *stamp;          /* by variable: place of its last mention + 1 */
    uint32_t *cost;           /* by variable: operations to compute it again, 0: cannot */
    uint32_t *declaration;    /* by variable: statement at host level, 0: none */
    bool *assigned;           /* by variable: after its declaration */
    VY_VEC(uint32_t) work;
} crossing_walk;

static void add_mention(crossing_walk *w, uint32_t segment, uint32_t var, bool assigned)
{
    uint32_t at = w->stamp[var];
    if (at <= w->first_mention[segment]) {
        at = w->mentions.count + 1;
        if (!vy_vec_push(w->s->arena, &w->mentions, (mention){var, false})) {
            return;
        }
        w->stamp[var] = at;
    }
    w->mentions.data[at - 1].assigned |= assigned;
}

static void add_range(crossing_walk *w, uint32_t segment, vy_range range)
{
    const vyre_program *program = w->s->program;
    w->s->split->segments.data[segment].expr_count += range.root ? range.end - range.begin : 0;
    for (uint32_t e = range.root ? range.begin : range.end; e < range.end; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        if (expr->op == VYRE_OP_VARIABLE || expr->op == VYRE_OP_ELEMENT) {
            add_mention(w, segment, expr->ref, false);
        }
    }
}

static void add_stmt(crossing_walk *w, uint32_t segment, const vy_stmt *stmt)
{
    bool assigns = stmt->kind == VY_STMT_ASSIGN || stmt->kind == VY_STMT_ARRAY_STORE;
    if (stmt->kind == VY_STMT_PRINTF && !w->s->split->prints) {
        return;
    }
    add_range(w, segment, stmt->x);
    add_range(w, segment, stmt->y);
    add_range(w, segment, stmt->z);
    if (assigns) {
        add_mention(w, segment, stmt->ref, true);
        w->assigned[stmt->ref] = true;
    }
}

/* Everything inside one statement of a segment. */
static void add_tree(crossing_walk *w, uint32_t segment, uint32_t root)
{
    const vyre_program *program = w->s->program;
    w->work.count = 0;
    (void)vy_vec_push(w->s->arena, &w->work, root);
    while (w->work.count && !w->s->arena->failed) {
        uint32_t i = w->work.data[--w->work.count];
        const vy_stmt *stmt = &program->stmts.data[i];
        add_stmt(w, segment, stmt);
        if (i != root && stmt->next) {
            (void)vy_vec_push(w->s->arena, &w->work, stmt->next);
        }
        if (vy_stmt_has_lists((vy_stmt_kind)stmt->kind)) {
            if (stmt->other) {
                (void)vy_vec_push(w->s->arena, &w->work, stmt->other);
            }
            if (stmt->body) {
                (void)vy_vec_push(w->s->arena, &w->work, stmt->body);
            }
        }
    }
}

static void scan_segments(crossing_walk *w)
{
    vy_split *split = w->s->split;
    for (uint32_t g = 0; g < split->segments.count && !w->s->arena->failed; g++) {
        const vy_segment *segment = &split->segments.data[g];
        w->first_mention[g] = w->mentions.count;
        for (uint32_t i = 0; i < segment->stmt_count; i++) {
            uint32_t stmt = split->stmts.data[segment->first_stmt + i];
            uint32_t var = vy_declared_variable(&w->s->program->stmts.data[stmt]);
            if (var) {
                w->declaration[var] = stmt;
                split->vars[var].home = g;
                split->vars[var].statement = stmt;
                add_mention(w, g, var, false);
            }
            add_tree(w, g, stmt);
        }
    }
    w->first_mention[split->segments.count] = w->mentions.count;
}

/* Operations to compute the range again, 0 where that could give something else. */
static uint32_t recompute_cost(crossing_walk *w, vy_range range)
{
    const vyre_program *program = w->s->program;
    uint32_t cost = 1;
    for (uint32_t e = range.begin; e < range.end && cost <= MAX_RECOMPUTE_COST; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        switch ((int)expr->op) {
        case VYRE_OP_BUILTIN:
            if (expr->ref >= VYRE_BUILTIN_LANE) {
                return 0; /* lanes may be dealt out anew in another dispatch */
            }
            break;
        case VYRE_OP_LITERAL:
        case VYRE_OP_PARAM:
        case VYRE_OP_LENGTH:
            break;
        case VYRE_OP_VARIABLE:
            if (w->s->split->vars[expr->ref].crossing == VY_CROSSING_HOST) {
                break;
            }
            if (w->cost[expr->ref] == 0) {
                return 0;
            }
            cost += w->cost[expr->ref];
            break;
        case VYRE_OP_LOAD: {
            vyre_buffer_mode mode = (vyre_buffer_mode)program->buffers.data[expr->ref].mode;
            if (mode != VYRE_BUFFER_IN && mode != VYRE_BUFFER_UNIFORM) {
                return 0;
            }
            cost++;
            break;
        }
        case VYRE_OP_ELEMENT:
        case VYRE_OP_CALL:
            return 0;
        default:
            /* Two modules may round these differently on one device. */
            if (vy_tolerance_find((vyre_op)expr->op) ||
                (program->fast_math && vy_type_is_float((vyre_type)expr->type))) {
                return 0;
            }
            cost++;
        }
    }
    return cost <= MAX_RECOMPUTE_COST ? cost : 0;
}

static void find_recomputable(crossing_walk *w)
{
    vy_split *split = w->s->split;
    for (uint32_t g = 0; g < split->segments.count; g++) {
        const vy_segment *segment = &split->segments.data[g];
        for (uint32_t i = 0; i < segment->stmt_count; i++) {
            uint32_t index = split->stmts.data[segment->first_stmt + i];
            const vy_stmt *stmt = &w->s->program->stmts.data[index];
            if (split->facts[index].has_return) {
                break;
            }
            if (stmt->kind == VY_STMT_LET ||
                (stmt->kind == VY_STMT_VAR && !w->assigned[stmt->ref])) {
                w->cost[stmt->ref] = recompute_cost(w, stmt->x);
            }
        }
    }
}

static vyre_result decide(crossing_walk *w, vyre_diag *diag)
{
    vy_split *split = w->s->split;
    for (uint32_t g = 0; g < split->segments.count; g++) {
        for (uint32_t m = w->first_mention[g]; m < w->first_mention[g + 1]; m++) {
            uint32_t var = w->mentions.data[m].var;
            vy_var_crossing *crossing = &split->vars[var];
            if (w->declaration[var] && crossing->home != g) {
                crossing->crossing = w->cost[var] ? VY_CROSSING_RECOMPUTE : VY_CROSSING_SPILL;
            }
        }
    }
    for (uint32_t v = 1; v < w->s->program->vars.count; v++) {
        const vy_var *var = &w->s->program->vars.data[v];
        vy_var_crossing *crossing = &split->vars[v];
        if (crossing->crossing != VY_CROSSING_SPILL) {
            continue;
        }
        crossing->words = vy_type_components((vyre_type)var->type) *
                          (vy_type_width((vyre_type)var->type) == 64 ? 2 : 1);
        if (var->kind == VY_VAR_ARRAY) {
            crossing->words *= var->array_count;
        }
        if (crossing->words > MAX_ARRAY_WORDS) {
            return vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, var->loc,
                               "the private array \"%s\" is used on both sides of a grid_sync and "
                               "takes %u bytes of the 256 that may be kept. Fix: make it smaller, "
                               "or keep the values in a scratch buffer",
                               var->name ? var->name : "", (unsigned)crossing->words * 4u);
        }
        crossing->slot = split->spill_words;
        split->spill_words += crossing->words;
    }
    return VYRE_OK;
}

/* Heap sort: no recursion, no allocation. */
static void sift(uint32_t *list, uint32_t at, uint32_t count)
{
    while (at * 2 + 1 < count) {
        uint32_t child = at * 2 + 1;
        child += child + 1 < count && list[child + 1] > list[child];
        if (list[at] >= list[child]) {
            return;
        }
        uint32_t swap = list[at];
        list[at] = list[child];
        list[child] = swap;
        at = child;
    }
}

static void sort(uint32_t *list, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;) {
        sift(list, i, count);
    }
    for (uint32_t end = count; end-- > 1;) {
        uint32_t swap = list[0];
        list[0] = list[end];
        list[end] = swap;
        sift(list, 0, end);
    }
}

/* A value that is computed again needs what it is computed from. */
static void add_operands(crossing_walk *w, uint32_t segment, uint32_t var)
{
    const vyre_program *program = w->s->program;
    vy_split *split = w->s->split;
    vy_range range = program->stmts.data[split->vars[var].statement].x;
    for (uint32_t e = range.begin; e < range.end; e++) {
        const vy_expr *expr = &program->exprs.data[e];
        if (expr->op != VYRE_OP_VARIABLE || w->stamp[expr->ref] == segment + 1) {
            continue;
        }
        w->stamp[expr->ref] = segment + 1;
        if (split->vars[expr->ref].crossing == VY_CROSSING_NONE) {
            split->vars[expr->ref].crossing = VY_CROSSING_RECOMPUTE;
        }
        (void)vy_vec_push(w->s->arena, &split->var_lists, expr->ref);
    }
}

static void list_segment(crossing_walk *w, uint32_t g)
{
    vy_split *split = w->s->split;
    vy_segment *segment = &split->segments.data[g];
    segment->first_out = split->var_lists.count;
    for (uint32_t m = w->first_mention[g]; m < w->first_mention[g + 1]; m++) {
        const mention *at = &w->mentions.data[m];
        const vy_var_crossing *crossing = &split->vars[at->var];
        if (crossing->crossing == VY_CROSSING_SPILL && (crossing->home == g || at->assigned)) {
            (void)vy_vec_push(w->s->arena, &split->var_lists, at->var);
        }
    }
    segment->out_count = split->var_lists.count - segment->first_out;
    segment->first_in = split->var_lists.count;
    for (uint32_t m = w->first_mention[g]; m < w->first_mention[g + 1]; m++) {
        uint32_t var = w->mentions.data[m].var;
        const vy_var_crossing *crossing = &split->vars[var];
        bool is_host = crossing->crossing == VY_CROSSING_HOST;
        if (is_host || (w->declaration[var] && crossing->home != g)) {
            w->stamp[var] = g + 1;
            (void)vy_vec_push(w->s->arena, &split->var_lists, var);
        }
    }
    for (uint32_t i = segment->first_in; i < split->var_lists.count && !w->s->arena->failed; i++) {
        uint32_t var = split->var_lists.data[i];
        if (split->vars[var].crossing == VY_CROSSING_RECOMPUTE) {
            add_operands(w, g, var);
        }
    }
    segment->in_count = split->var_lists.count - segment->first_in;
    if (!w->s->arena->failed && split->var_lists.count) {
        sort(&split->var_lists.data[segment->first_out], segment->out_count);
        sort(&split->var_lists.data[segment->first_in], segment->in_count);
    }
}

vyre_result vy_split_find_crossings(vy_splitter *s, vyre_diag *diag)
{
    crossing_walk w = {.s = s};
    uint32_t vars = s->program->vars.count;
    if (s->split->steps.count == 2 && s->split->segments.count == 1) {
        /* One segment, which runs once a pass: nothing gets anywhere. */
        s->split->segments.data[0].expr_count = s->program->exprs.count - 1;
        return VYRE_OK;
    }
    w.first_mention =
        vy_arena_alloc(s->arena, s->split->segments.count + 1u, sizeof *w.first_mention);
    w.stamp = vy_arena_alloc(s->arena, vars, sizeof *w.stamp);
    w.cost = vy_arena_alloc(s->arena, vars, sizeof *w.cost);
    w.declaration = vy_arena_alloc(s->arena, vars, sizeof *w.declaration);
    w.assigned = vy_arena_alloc(s->arena, vars, sizeof *w.assigned);
    if (s->arena->failed) {
        return VYRE_OK; /* the caller looks at the arena */
    }
    scan_segments(&w);
    if (s->arena->failed) {
        return VYRE_OK;
    }
    find_recomputable(&w);
    vyre_result result = decide(&w, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t v = 0; v < vars; v++) {
        w.stamp[v] = 0;
    }
    for (uint32_t g = 0; g < s->split->segments.count && !s->arena->failed; g++) {
        list_segment(&w, g);
    }
    return VYRE_OK;
}
