/* How far a segment reaches: for each dimension an expression of the host's that no invocation at
 * or beyond it leaves anything behind of, so that workgroups wholly beyond it need not be launched.
 * Read from the program's statements: what is stored, counted, trapped or looped stands under
 * conditions on gid or wid against what the host knows, or behind a return under such a one. */
#include "codegen/interp/eval.h"
#include "codegen/kernel_parts.h"

#include <string.h>

#define MAX_NODES  96u /* of a segment; then it counts as reaching everywhere */
#define MAX_VALUE  64u /* entries of an expression */
#define MAX_LEVELS 96u /* of expressions and statements within each other */

enum {
    EVERYWHERE, /* also the number of the node that says so, likewise NOWHERE */
    NOWHERE,
    BELOW, /* value, plus one where is_last; times the workgroup's size where is_group */
    WHERE, /* everywhere if the value is true, else nowhere */
    LESSER,
    GREATER
};

typedef struct finder {
    vyre_kernel *kernel;
    const vyre_program *program;
    const vy_split *split;
    uint32_t *lets;          /* by variable: the statement that declares it, where ... */
    uint32_t *homes;         /* ... this segment, from 1, does */
    uint32_t segment, first; /* from 1; its first node */
    bool has_too_many;
    bool has_calls; /* the program, anywhere */
} finder;

/* By dimension: the node that says who comes to a place, or who leaves something behind. */
typedef struct reach {
    uint32_t node[3];
} reach;

/* ---- Nodes ----------------------------------------------------------------------------------- */

static uint32_t add_node(finder *f, vy_reach_node node)
{
    vyre_kernel *k = f->kernel;
    if (k->bounds.count - f->first >= MAX_NODES) {
        f->has_too_many = true;
    }
    if (f->has_too_many || !vy_vec_push(&k->arena, &k->bounds, node)) {
        return EVERYWHERE;
    }
    return k->bounds.count - 1;
}

static bool is_part(const finder *f, uint32_t node, uint8_t kind, uint32_t part)
{
    const vy_reach_node *b = &f->kernel->bounds.data[node];
    return b->kind == kind && (b->part[0] == part || b->part[1] == part);
}

static uint32_t lesser(finder *f, uint32_t a, uint32_t b)
{
    if (a == b || b == EVERYWHERE || a == NOWHERE) {
        return a;
    }
    if (a == EVERYWHERE || b == NOWHERE) {
        return b;
    }
    return add_node(f, (vy_reach_node){.kind = LESSER, .part = {a, b}});
}

static uint32_t greater(finder *f, uint32_t a, uint32_t b)
{
    if (a == b || a == EVERYWHERE || b == NOWHERE || is_part(f, b, LESSER, a)) {
        return a;
    }
    if (b == EVERYWHERE || a == NOWHERE) {
        return b;
    }
    return add_node(f, (vy_reach_node){.kind = GREATER, .part = {a, b}});
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* What a variable stands for here: the expression it was bound to, or 0. A value from another
 * segment counts only where this one computes it anew: who has not reached its binding has another.
 */
static uint32_t bound_to(const finder *f, uint32_t var)
{
    uint32_t statement = f->homes[var] == f->segment ? f->lets[var] : 0;
    if (!statement && f->split->vars[var].crossing == VY_CROSSING_RECOMPUTE) {
        statement = f->split->vars[var].statement;
    }
    const vy_stmt *stmt = &f->program->stmts.data[statement];
    return statement && stmt->kind == VY_STMT_LET ? stmt->x.root : 0;
}

/* The expression behind lets. */
static uint32_t see_through(const finder *f, uint32_t index)
{
    const vy_expr *exprs = f->program->exprs.data;
    for (uint32_t i = 0; i < MAX_LEVELS && exprs[index].op == VYRE_OP_VARIABLE; i++) {
        uint32_t next = bound_to(f, exprs[index].ref);
        if (!next) {
            break;
        }
        index = next;
    }
    return index;
}

/* Appends what the host needs to evaluate the expression; false where it cannot. */
static bool copy_value(finder *f, uint32_t index, uint32_t begin, uint32_t level)
{
    vyre_kernel *k = f->kernel;
    index = see_through(f, index);
    vy_expr expr = f->program->exprs.data[index];
    bool is_index = expr.op == VYRE_OP_VARIABLE;
    if (level == MAX_LEVELS || k->host.exprs.count - begin >= MAX_VALUE) {
        return false;
    }
    if (is_index && f->split->vars[expr.ref].crossing == VY_CROSSING_HOST) {
        expr.ref = f->split->vars[expr.ref].slot;
        return vy_vec_push(&k->arena, &k->host.exprs, expr);
    }
    if (!vy_host_evaluable(f->program, (vy_range){index, index + 1, index}, NULL, NULL)) {
        return false;
    }
    uint32_t operands = vy_op_get((vyre_op)expr.op)->operand_count;
    for (uint32_t i = 0; i < operands; i++) {
        if (!copy_value(f, expr.arg[i], begin, level + 1)) {
            return false;
        }
        expr.arg[i] = k->host.exprs.count - 1;
    }
    return vy_vec_push(&k->arena, &k->host.exprs, expr);
}

static bool take_value(finder *f, uint32_t index, vy_range *out)
{
    vyre_kernel *k = f->kernel;
    uint32_t begin = k->host.exprs.count;
    if (!copy_value(f, index, begin, 0)) {
        k->host.exprs.count = begin;
        return false;
    }
    *out = (vy_range){begin, k->host.exprs.count, k->host.exprs.count - 1};
    return true;
}

/* ---- Conditions ------------------------------------------------------------------------------ */

/* Whether the expression is the invocation's place in that dimension, or its workgroup's. */
static bool is_place(const finder *f, uint32_t index, uint32_t axis, bool *out_is_group)
{
    const vy_expr *expr = &f->program->exprs.data[see_through(f, index)];
    *out_is_group = expr->op == VYRE_OP_BUILTIN && expr->ref == VYRE_BUILTIN_WID_X + axis;
    return *out_is_group || (expr->op == VYRE_OP_BUILTIN && expr->ref == VYRE_BUILTIN_GID_X + axis);
}

/* The comparison that holds when this one does not, and the one with its operands exchanged. */
static vyre_op opposite(vyre_op op)
{
    switch ((int)op) {
    case VYRE_OP_LT:
        return VYRE_OP_GE;
    case VYRE_OP_LE:
        return VYRE_OP_GT;
    case VYRE_OP_GT:
        return VYRE_OP_LE;
    case VYRE_OP_GE:
        return VYRE_OP_LT;
    case VYRE_OP_NE:
        return VYRE_OP_EQ;
    default:
        return VYRE_OP_NE;
    }
}

static vyre_op exchanged(vyre_op op)
{
    switch ((int)op) {
    case VYRE_OP_LT:
        return VYRE_OP_GT;
    case VYRE_OP_LE:
        return VYRE_OP_GE;
    case VYRE_OP_GT:
        return VYRE_OP_LT;
    case VYRE_OP_GE:
        return VYRE_OP_LE;
    default:
        return op;
    }
}

/* Who passes a comparison. */
static uint32_t compare(finder *f, const vy_expr *expr, bool truth, uint32_t axis)
{
    vyre_op op = truth ? (vyre_op)expr->op : opposite((vyre_op)expr->op);
    uint32_t limit = expr->arg[1];
    bool is_group;
    if (!is_place(f, expr->arg[0], axis, &is_group)) {
        if (!is_place(f, expr->arg[1], axis, &is_group)) {
            return EVERYWHERE;
        }
        op = exchanged(op);
        limit = expr->arg[0];
    }
    vy_reach_node node = {.kind = BELOW, .is_group = is_group};
    node.is_last = op == VYRE_OP_LE || op == VYRE_OP_EQ;
    bool is_limit = op == VYRE_OP_LT || node.is_last;
    return is_limit && take_value(f, limit, &node.value) ? add_node(f, node) : EVERYWHERE;
}

/* Who passes an expression that must be true, or false. */
static uint32_t passing(finder *f, uint32_t index, bool truth, uint32_t axis, uint32_t level)
{
    index = see_through(f, index);
    const vy_expr *expr = &f->program->exprs.data[index];
    vy_reach_node known = {.kind = WHERE, .is_false = !truth};
    uint32_t a, b;
    if (level == MAX_LEVELS || f->has_too_many) {
        return EVERYWHERE;
    }
    if (expr->type == VYRE_TYPE_BOOL && take_value(f, index, &known.value)) {
        return add_node(f, known);
    }
    switch (expr->op) {
    case VYRE_OP_NOT:
        return passing(f, expr->arg[0], !truth, axis, level + 1);
    case VYRE_OP_LOGICAL_AND:
    case VYRE_OP_LOGICAL_OR:
        a = passing(f, expr->arg[0], truth, axis, level + 1);
        b = passing(f, expr->arg[1], truth, axis, level + 1);
        return (expr->op == VYRE_OP_LOGICAL_AND) == truth ? lesser(f, a, b) : greater(f, a, b);
    case VYRE_OP_LT:
    case VYRE_OP_LE:
    case VYRE_OP_GT:
    case VYRE_OP_GE:
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
        return compare(f, expr, truth, axis);
    default:
        return EVERYWHERE;
    }
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void walk_list(finder *f, uint32_t first, reach *at, reach *left, uint32_t level);

static void leave_something(finder *f, const reach *at, reach *left)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        left->node[axis] = greater(f, left->node[axis], at->node[axis]);
    }
}

/* What a function does is not looked at. */
static bool has_call(const finder *f, const vy_stmt *stmt)
{
    const vy_range ranges[3] = {stmt->x, stmt->y, stmt->z};
    for (uint32_t r = 0; r < 3 && f->has_calls; r++) {
        for (uint32_t i = ranges[r].begin; i < ranges[r].end; i++) {
            if (f->program->exprs.data[i].op == VYRE_OP_CALL) {
                return true;
            }
        }
    }
    return false;
}

static void walk_if(finder *f, const vy_stmt *stmt, reach *at, reach *left, uint32_t level)
{
    reach yes = *at, no = *at;
    for (uint32_t axis = 0; axis < 3; axis++) {
        yes.node[axis] = lesser(f, at->node[axis], passing(f, stmt->x.root, true, axis, 0));
        no.node[axis] = lesser(f, at->node[axis], passing(f, stmt->x.root, false, axis, 0));
    }
    const reach begins[2] = {yes, no};
    walk_list(f, stmt->body, &yes, left, level + 1);
    walk_list(f, stmt->other, &no, left, level + 1);
    if (memcmp(&yes, &begins[0], sizeof yes) == 0 && memcmp(&no, &begins[1], sizeof no) == 0) {
        return; /* who went in comes out */
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        at->node[axis] = greater(f, yes.node[axis], no.node[axis]);
    }
}

/* The trips of an invocation that begins at its own place end at the upper bound. */
static void walk_for(finder *f, const vy_stmt *stmt, const reach *at, reach *left, uint32_t level)
{
    reach within = *at;
    for (uint32_t axis = 0; axis < 3; axis++) {
        vy_reach_node node = {.kind = BELOW};
        if (is_place(f, stmt->x.root, axis, &node.is_group) &&
            take_value(f, stmt->y.root, &node.value)) {
            within.node[axis] = lesser(f, at->node[axis], add_node(f, node));
        }
    }
    walk_list(f, stmt->body, &within, left, level + 1);
}

static void walk_cases(finder *f, const vy_stmt *stmt, const reach *at, reach *left, uint32_t level)
{
    for (uint32_t i = stmt->body; i; i = f->program->stmts.data[i].next) {
        reach within = *at;
        walk_list(f, f->program->stmts.data[i].body, &within, left, level + 1);
    }
}

/* Nothing further can be found out then. */
static bool reaches_all(const reach *left)
{
    return left->node[0] == EVERYWHERE && left->node[1] == EVERYWHERE &&
           left->node[2] == EVERYWHERE;
}

static void walk_stmt(finder *f, uint32_t index, reach *at, reach *left, uint32_t level)
{
    const vy_stmt *stmt = &f->program->stmts.data[index];
    if (reaches_all(left)) {
        return;
    }
    if (has_call(f, stmt) || level == MAX_LEVELS) {
        leave_something(f, at, left);
    }
    switch ((vy_stmt_kind)stmt->kind) {
    case VY_STMT_LET:
        f->lets[stmt->ref] = index;
        f->homes[stmt->ref] = f->segment;
        break;
    case VY_STMT_IF:
        walk_if(f, stmt, at, left, level);
        break;
    case VY_STMT_FOR:
        walk_for(f, stmt, at, left, level);
        break;
    case VY_STMT_SWITCH:
        walk_cases(f, stmt, at, left, level);
        break;
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        walk_list(f, stmt->body, at, left, level + 1);
        break;
    case VY_STMT_RETURN:
        at->node[0] = at->node[1] = at->node[2] = NOWHERE;
        break;
    case VY_STMT_VAR:
    case VY_STMT_ARRAY:
    case VY_STMT_ASSIGN:
    case VY_STMT_ARRAY_STORE:
    case VY_STMT_UNIFORM_LOAD:
    case VY_STMT_SUBGROUP:
    case VY_STMT_BARRIER:
    case VY_STMT_BREAK: /* what follows counts as reached */
    case VY_STMT_CONTINUE:
        break;
    case VY_STMT_PRINTF:
        if (f->split->prints) {
            leave_something(f, at, left);
        }
        break;
    default: /* stores, atomics, traps; calls; `while`, which may leave a record */
        leave_something(f, at, left);
        break;
    }
}

static void walk_list(finder *f, uint32_t first, reach *at, reach *left, uint32_t level)
{
    for (uint32_t i = first; i && level < MAX_LEVELS; i = f->program->stmts.data[i].next) {
        walk_stmt(f, i, at, left, level);
    }
    if (level == MAX_LEVELS) {
        leave_something(f, at, left);
    }
}

static void find_segment(finder *f, uint32_t segment, vy_segment_reach *out)
{
    const vy_segment *s = &f->split->segments.data[segment];
    reach at = {{EVERYWHERE, EVERYWHERE, EVERYWHERE}}, left = {{NOWHERE, NOWHERE, NOWHERE}};
    uint32_t first_value = f->kernel->host.exprs.count;
    f->segment = segment + 1;
    f->first = f->kernel->bounds.count;
    f->has_too_many = false;
    for (uint32_t i = 0; i < s->stmt_count && !reaches_all(&left); i++) {
        walk_stmt(f, f->split->stmts.data[s->first_stmt + i], &at, &left, 0);
    }
    /* Values for later segments are stored by every invocation. */
    bool is_everywhere = s->out_count > 0 || f->has_too_many;
    for (uint32_t axis = 0; axis < 3; axis++) {
        out->root[axis] = is_everywhere ? (uint32_t)EVERYWHERE : left.node[axis];
        f->kernel->has_bounds |= out->root[axis] != EVERYWHERE;
    }
    if (out->root[0] == EVERYWHERE && out->root[1] == EVERYWHERE && out->root[2] == EVERYWHERE) {
        f->kernel->bounds.count = f->first;
        f->kernel->host.exprs.count = first_value;
    }
    out->first = f->first;
    out->end = f->kernel->bounds.count;
}

void vy_kernel_find_bounds(vyre_kernel *kernel, const vyre_program *program, const vy_split *split,
                           vy_arena *work)
{
    const vy_reach_node constants[2] = {{.kind = EVERYWHERE}, {.kind = NOWHERE}};
    finder f = {.kernel = kernel,
                .program = program,
                .split = split,
                .has_calls = vy_program_has_op(program, VYRE_OP_CALL)};
    f.lets = vy_arena_alloc(work, program->vars.count, sizeof *f.lets);
    f.homes = vy_arena_alloc(work, program->vars.count, sizeof *f.homes);
    kernel->segment_bounds =
        vy_arena_alloc(&kernel->arena, split->segments.count, sizeof *kernel->segment_bounds);
    if (!f.lets || !f.homes || !kernel->segment_bounds ||
        !vy_vec_push(&kernel->arena, &kernel->bounds, constants[EVERYWHERE]) ||
        !vy_vec_push(&kernel->arena, &kernel->bounds, constants[NOWHERE])) {
        return;
    }
    for (uint32_t s = 0; s < split->segments.count; s++) {
        find_segment(&f, s, &kernel->segment_bounds[s]);
    }
}

/* ---- Evaluating ------------------------------------------------------------------------------ */

bool vy_kernel_has_bounds(const vyre_kernel *kernel)
{
    return kernel->has_bounds;
}

/* In invocations, above 2^32 where there is no bound. */
static uint64_t evaluate(const vyre_kernel *kernel, const vy_reach_node *node,
                         const uint64_t *parts, const vy_host_env *env, uint32_t group_size)
{
    uint32_t scratch[MAX_VALUE + 1];
    uint64_t value = 0;
    if (node->kind == BELOW || node->kind == WHERE) {
        value = vy_host_evaluate(&kernel->host, node->value, env, vy_interp_eval, scratch);
    }
    switch (node->kind) {
    case BELOW:
        return (value + node->is_last) * (node->is_group ? group_size : 1);
    case WHERE:
        return (value != 0) != node->is_false ? UINT64_MAX : 0;
    case LESSER:
        return parts[0] < parts[1] ? parts[0] : parts[1];
    default:
        return parts[0] > parts[1] ? parts[0] : parts[1];
    }
}

void vy_kernel_extent(const vyre_kernel *kernel, const vy_kernel_env *env,
                      const vy_execution *execution, uint32_t out_groups[3])
{
    const vy_segment_reach *bound = &kernel->segment_bounds[execution->segment];
    vy_host_env host = {
        .params = env->params, .lengths = env->lengths, .indices = execution->indices};
    memcpy(host.num_groups, env->groups, sizeof host.num_groups);
    memcpy(host.group_size, env->workgroup, sizeof host.group_size);
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint64_t values[MAX_NODES];
        uint32_t root = bound->root[axis], size = env->workgroup[axis];
        out_groups[axis] = root == NOWHERE ? 0 : env->groups[axis];
        for (uint32_t n = bound->first; root > NOWHERE && n <= root; n++) {
            const vy_reach_node *node = &kernel->bounds.data[n];
            uint64_t parts[2] = {0, 0};
            for (uint32_t i = 0; i < 2; i++) {
                uint32_t part = node->part[i];
                parts[i] = part == EVERYWHERE ? UINT64_MAX : 0;
                if (part > NOWHERE) {
                    parts[i] = values[part - bound->first];
                }
            }
            values[n - bound->first] = evaluate(kernel, node, parts, &host, size);
        }
        if (root > NOWHERE) {
            uint64_t extent = values[root - bound->first];
            uint64_t groups = extent / size + (extent % size != 0);
            out_groups[axis] = groups < env->groups[axis] ? (uint32_t)groups : env->groups[axis];
        }
    }
}
