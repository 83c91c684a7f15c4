/* Accesses out of bounds made visible: before every statement that accesses an element comes
 * `if !(index < length) { trap }` with a record of its own kind. What the program computes stays as
 * it is: such an access still gives zero, or does nothing. */
#include "codegen/ir/walk.h"

#include <string.h>

typedef struct maker {
    vyre_program *p;
    vy_arena scratch;
    bool failed;       /* out of memory */
    uint32_t count;    /* expressions of the program as it was */
    uint32_t *parents; /* by expression: its user, 0: a root */
    uint32_t *copies;  /* by expression: its copy in the range that is made */
    bool *wanted;      /* by expression: a part of the tree that is copied */
} maker;

/* One access: element `index` of what `op` and `ref` name. */
typedef struct access {
    vyre_record_kind kind;
    vyre_op op; /* LOAD: of a buffer, ELEMENT: of a private array, TABLE */
    uint32_t ref, index;
    uint32_t expr; /* the access itself, whose users may guard it; 0: nothing does */
    vy_loc loc;
} access;

/* ---- Expressions ----------------------------------------------------------------------------- */

static uint32_t push(maker *m, vy_expr expr)
{
    if (m->failed || !vy_vec_push(&m->p->arena, &m->p->exprs, expr)) {
        m->failed = true;
        return 0;
    }
    return m->p->exprs.count - 1;
}

static uint32_t unary(maker *m, vyre_op op, vyre_type type, uint32_t operand, vy_loc loc)
{
    return push(m, (vy_expr){.op = op, .type = type, .arg = {operand}, .loc = loc});
}

static uint32_t binary(maker *m, vyre_op op, uint32_t left, uint32_t right, vy_loc loc)
{
    return push(m, (vy_expr){.op = op, .type = VYRE_TYPE_BOOL, .arg = {left, right}, .loc = loc});
}

static void copy_call_arguments(maker *m, vy_expr *expr)
{
    uint32_t first = m->p->call_args.count;
    for (uint32_t a = 0; a < expr->arg[1] && !m->failed; a++) {
        uint32_t argument = m->p->call_args.data[expr->arg[0] + a];
        m->failed = !vy_vec_push(&m->p->arena, &m->p->call_args, m->copies[argument]);
    }
    expr->arg[0] = first;
}

static void want_operands(maker *m, const vy_expr *expr)
{
    uint32_t count = vy_expr_operand_count(expr);
    for (uint32_t a = 0; a < count; a++) {
        m->wanted[expr->arg[a]] = true;
    }
    for (uint32_t a = 0; expr->op == VYRE_OP_CALL && a < expr->arg[1]; a++) {
        m->wanted[m->p->call_args.data[expr->arg[0] + a]] = true;
    }
}

/* The tree below `root`, whose entries lie between `begin` and it. */
static uint32_t copy_tree(maker *m, uint32_t begin, uint32_t root)
{
    memset(m->wanted + begin, 0, (root - begin + 1) * sizeof *m->wanted);
    m->wanted[root] = true;
    for (uint32_t e = root; e >= begin; e--) {
        if (m->wanted[e]) {
            want_operands(m, &m->p->exprs.data[e]);
        }
    }
    for (uint32_t e = begin; e <= root && !m->failed; e++) {
        if (!m->wanted[e]) {
            continue;
        }
        vy_expr expr = m->p->exprs.data[e];
        uint32_t count = vy_expr_operand_count(&expr);
        for (uint32_t a = 0; a < count; a++) {
            expr.arg[a] = m->copies[expr.arg[a]];
        }
        if (expr.op == VYRE_OP_CALL) {
            copy_call_arguments(m, &expr);
        }
        m->copies[e] = push(m, expr);
    }
    return m->copies[root];
}

static uint32_t push_length(maker *m, const access *a)
{
    if (a->op == VYRE_OP_LOAD) {
        return push(
            m,
            (vy_expr){.op = VYRE_OP_LENGTH, .type = VYRE_TYPE_U32, .ref = a->ref, .loc = a->loc});
    }
    uint32_t count = a->op == VYRE_OP_TABLE ? m->p->tables.data[a->ref].count
                                            : m->p->vars.data[a->ref].array_count;
    return push(
        m, (vy_expr){.op = VYRE_OP_LITERAL, .type = VYRE_TYPE_U32, .bits = {count}, .loc = a->loc});
}

static vy_range range_from(const maker *m, uint32_t begin)
{
    return (vy_range){begin, m->p->exprs.count, m->p->exprs.count - 1};
}

/* Joins to `value` what must hold for the access's value to be used. */
static uint32_t push_guards(maker *m, const access *a, uint32_t begin, uint32_t value)
{
    for (uint32_t child = a->expr, user; child && (user = m->parents[child]); child = user) {
        vy_expr expr = m->p->exprs.data[user];
        bool is_logic = expr.op == VYRE_OP_LOGICAL_AND || expr.op == VYRE_OP_LOGICAL_OR;
        if (!(is_logic || expr.op == VYRE_OP_SELECT) || expr.arg[0] == child) {
            continue;
        }
        bool is_true =
            expr.op == VYRE_OP_LOGICAL_AND || (expr.op == VYRE_OP_SELECT && expr.arg[1] == child);
        uint32_t guard = copy_tree(m, begin, expr.arg[0]);
        if (vy_type_is_vector((vyre_type)m->p->exprs.data[guard].type)) {
            vyre_op op = is_true ? VYRE_OP_ANY : VYRE_OP_ALL;
            guard = unary(m, op, VYRE_TYPE_BOOL, guard, a->loc);
        }
        if (!is_true) {
            guard = unary(m, VYRE_OP_NOT, VYRE_TYPE_BOOL, guard, a->loc);
        }
        value = binary(m, VYRE_OP_LOGICAL_AND, value, guard, a->loc);
    }
    return value;
}

/* Whether the access is out of bounds, as a range of its own. */
static vy_range make_condition(maker *m, const access *a, uint32_t begin)
{
    uint32_t first = m->p->exprs.count;
    uint32_t index = copy_tree(m, begin, a->index);
    vyre_type type = (vyre_type)m->p->exprs.data[a->index].type;
    uint32_t length = push_length(m, a);
    if (type == VYRE_TYPE_I32) {
        index = unary(m, VYRE_OP_BITCAST, VYRE_TYPE_U32, index, a->loc);
    } else if (type == VYRE_TYPE_U64) {
        length = unary(m, VYRE_OP_CAST, VYRE_TYPE_U64, length, a->loc);
    }
    uint32_t outside = binary(m, VYRE_OP_GE, index, length, a->loc);
    (void)push_guards(m, a, begin, outside);
    return range_from(m, first);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static uint32_t push_stmt(maker *m, vy_stmt stmt)
{
    if (m->failed || !vy_vec_push(&m->p->arena, &m->p->stmts, stmt)) {
        m->failed = true;
        return 0;
    }
    return m->p->stmts.count - 1;
}

/* A check behind `*last`, or the first of its list; `begin`: of the range that has the access. */
static void add_check(maker *m, const access *a, uint32_t begin, uint32_t *first, uint32_t *last)
{
    vy_stmt trap = {.kind = VY_STMT_TRAP,
                    .outside = (uint8_t)a->kind,
                    .bits = VYRE_DIAG_NONE,
                    .loc = a->loc,
                    .end_loc = a->loc};
    if (a->op == VYRE_OP_LOAD && m->p->buffers.data[a->ref].mode != VYRE_BUFFER_SHARED) {
        trap.bits = m->p->buffers.data[a->ref].binding;
    }
    trap.name = a->op == VYRE_OP_LOAD    ? m->p->buffers.data[a->ref].name
                : a->op == VYRE_OP_TABLE ? m->p->tables.data[a->ref].name
                                         : m->p->vars.data[a->ref].name;
    vy_stmt check = {.kind = VY_STMT_IF, .loc = a->loc, .end_loc = a->loc};
    check.x = make_condition(m, a, begin);
    uint32_t index = m->p->exprs.count;
    (void)copy_tree(m, begin, a->index);
    trap.x = range_from(m, index);
    uint32_t length = m->p->exprs.count;
    (void)push_length(m, a);
    trap.y = range_from(m, length);
    check.body = push_stmt(m, trap);
    uint32_t place = push_stmt(m, check);
    if (*last) {
        m->p->stmts.data[*last].next = place;
    } else {
        *first = place;
    }
    *last = place;
}

/* What the statement itself accesses. */
static bool find_own_access(const vyre_program *p, const vy_stmt *stmt, access *out)
{
    *out = (access){.op = VYRE_OP_LOAD, .ref = stmt->ref, .index = stmt->x.root, .loc = stmt->loc};
    switch ((int)stmt->kind) {
    case VY_STMT_STORE:
        out->kind = VYRE_RECORD_STORE_OUTSIDE;
        return true;
    case VY_STMT_ARRAY_STORE:
        out->kind = VYRE_RECORD_STORE_OUTSIDE;
        out->op = VYRE_OP_ELEMENT;
        return true;
    case VY_STMT_ATOMIC:
        out->kind = VYRE_RECORD_ATOMIC_OUTSIDE;
        return true;
    case VY_STMT_UNIFORM_LOAD:
        out->kind = VYRE_RECORD_LOAD_OUTSIDE;
        out->loc =
            p->exprs.data[stmt->x.root].loc.line ? p->exprs.data[stmt->x.root].loc : stmt->loc;
        return true;
    default:
        return false;
    }
}

/* Checks of all that the statement accesses, in the order of its evaluation. */
static void make_checks(maker *m, const vy_stmt *stmt, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (uint32_t r = 0; r < 3; r++) {
        vy_range range = *vy_stmt_range(stmt, r);
        for (uint32_t e = range.begin; range.root && e < range.end; e++) {
            const vy_expr *expr = &m->p->exprs.data[e];
            if (expr->op == VYRE_OP_LOAD || expr->op == VYRE_OP_ELEMENT ||
                expr->op == VYRE_OP_TABLE) {
                access a = {.kind = VYRE_RECORD_LOAD_OUTSIDE,
                            .op = (vyre_op)expr->op,
                            .ref = expr->ref,
                            .index = expr->arg[0],
                            .expr = e,
                            .loc = expr->loc.line ? expr->loc : stmt->loc};
                add_check(m, &a, range.begin, first, last);
            }
        }
    }
    access own;
    if (find_own_access(m->p, stmt, &own)) {
        add_check(m, &own, stmt->x.begin, first, last);
    }
}

/* The first check takes the statement's place, which moves behind the last one. */
static void check_statement(maker *m, uint32_t place)
{
    vy_stmt stmt = m->p->stmts.data[place];
    uint32_t first, last;
    if (stmt.kind == VY_STMT_PRINTF) {
        return; /* most runs go without what it reads */
    }
    make_checks(m, &stmt, &first, &last);
    if (!first || m->failed) {
        return;
    }
    if (stmt.kind == VY_STMT_WHILE) {
        /* What the condition reads in each trip that is made. */
        uint32_t again, end;
        make_checks(m, &stmt, &again, &end);
        if (m->failed) {
            return;
        }
        m->p->stmts.data[end].next = stmt.body;
        stmt.body = again;
    }
    uint32_t moved = push_stmt(m, stmt);
    if (moved) {
        m->p->stmts.data[last].next = moved;
        m->p->stmts.data[place] = m->p->stmts.data[first];
    }
}

static void find_parents(maker *m)
{
    for (uint32_t e = 1; e < m->count; e++) {
        const vy_expr *expr = &m->p->exprs.data[e];
        uint32_t count = vy_expr_operand_count(expr);
        for (uint32_t a = 0; a < count; a++) {
            m->parents[expr->arg[a]] = e;
        }
        for (uint32_t a = 0; expr->op == VYRE_OP_CALL && a < expr->arg[1]; a++) {
            m->parents[m->p->call_args.data[expr->arg[0] + a]] = e;
        }
    }
    m->parents[0] = 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

static uint32_t deepest(const vyre_program *p, uint32_t first)
{
    vy_walk walk;
    uint32_t most = 0, index;
    vy_walk_begin(&walk, p, first);
    while (vy_walk_next(&walk, &index) != VY_WALK_END) {
        most = walk.depth > most ? walk.depth : most;
    }
    return most;
}

static vyre_result check_use(const vyre_program *p, vyre_diag *diag)
{
    if (p->records_bounds || atomic_load(&p->holders) != 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the program records its bounds already, or a kernel was made of it. "
                           "Fix: call vyre_program_record_bounds once, right after the program was "
                           "parsed or built");
    }
    uint32_t depth = deepest(p, p->body);
    for (uint32_t f = 1; f < p->functions.count; f++) {
        uint32_t inner = deepest(p, p->functions.data[f].body);
        depth = inner > depth ? inner : depth;
    }
    if (depth + 2 > VYRE_MAX_NESTING) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){0, 0},
                           "the program is nested %u deep, and recording its bounds takes one more "
                           "than the %u that are allowed. Fix: nest less",
                           (unsigned)depth, VYRE_MAX_NESTING);
    }
    return VYRE_OK;
}

vyre_result vyre_program_record_bounds(vyre_program *program, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!program) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "there is no program. Fix: pass one");
    }
    vyre_result code = check_use(program, diag);
    if (code != VYRE_OK) {
        return code;
    }
    maker m = {.p = program, .count = program->exprs.count};
    vy_arena_init(&m.scratch, &program->arena.allocator);
    m.parents = vy_arena_alloc(&m.scratch, (size_t)m.count + 1, sizeof *m.parents);
    m.copies = vy_arena_alloc(&m.scratch, (size_t)m.count + 1, sizeof *m.copies);
    m.wanted = vy_arena_alloc(&m.scratch, (size_t)m.count + 1, sizeof *m.wanted);
    m.failed = !m.parents || !m.copies || !m.wanted;
    if (!m.failed) {
        find_parents(&m);
    }
    uint32_t count = program->stmts.count;
    for (uint32_t i = 1; i < count && !m.failed; i++) {
        check_statement(&m, i);
    }
    vy_arena_finish(&m.scratch);
    program->records_bounds = true;
    return m.failed ? vy_diag_no_memory(diag)
                    : vy_program_validate(program, VY_NAMES_CHECKED, diag);
}
