/* Where grid_sync may stand: at the top level, in blocks and regions, and in `for`s and `if`s whose
 * bounds and conditions the host evaluates at a dispatch. And what may live across it. */
#include "codegen/ir/validate.h"

#include <stdio.h>

#define SYNC_BIT (1u << VY_STMT_GRID_SYNC)

typedef struct syncs {
    vy_validator *v;
    vy_walk walk;
    bool *is_host_index; /* by variable */
    uint32_t *array_cut; /* by variable: the stretch between cuts that declares the array */
    uint32_t cut;
    uint32_t loops;    /* host-evaluated ones that are open */
    uint32_t bad;      /* an open statement that cannot hold a grid_sync, or 0 */
    uint32_t offender; /* the entry of its bound or condition that the host cannot evaluate, or 0 */
} syncs;

static bool holds_sync(const syncs *s, uint32_t index)
{
    return (s->v->kinds[index] & SYNC_BIT) &&
           s->v->program->stmts.data[index].kind != VY_STMT_GRID_SYNC;
}

/* "kernel > for i (line 4) > if (line 5)" */
static void write_path(const syncs *s, char *out, size_t size)
{
    const vyre_program *p = s->v->program;
    int used = snprintf(out, size, "kernel");
    for (uint32_t d = 1; d <= s->walk.depth && used >= 0 && (size_t)used < size; d++) {
        const vy_stmt *stmt = &p->stmts.data[s->walk.open[d].stmt];
        bool is_else = s->walk.open[d].is_other;
        const char *name = stmt->kind == VY_STMT_FOR ? p->vars.data[stmt->result].name : NULL;
        char line[24] = "";
        if (stmt->loc.line) {
            snprintf(line, sizeof line, " (line %u)", stmt->loc.line);
        }
        used += snprintf(out + used, size - (size_t)used, " > %s%s%.40s%s",
                         is_else ? "else" : vy_stmt_text((vy_stmt_kind)stmt->kind), name ? " " : "",
                         name ? name : "", line);
    }
}

static const char *offender_text(const syncs *s)
{
    const vyre_program *p = s->v->program;
    const vy_expr *expr = &p->exprs.data[s->offender];
    const char *name = vy_expr_name(p, expr);
    return name ? name : "a value that is neither bool, u32 nor i32";
}

static void fail_placement(const syncs *s, const vy_stmt *sync)
{
    const vy_stmt *bad = &s->v->program->stmts.data[s->bad];
    char path[400];
    write_path(s, path, sizeof path);
    if (s->offender) {
        vy_validator_fail(s->v, sync->loc,
                          "grid_sync stands at %s, and the host cannot evaluate the %s of the "
                          "`%s` before a dispatch: `%.60s`. Fix: use only literals, params, "
                          "indices of such loops, %s there",
                          path, bad->kind == VY_STMT_IF ? "condition" : "range",
                          vy_stmt_text((vy_stmt_kind)bad->kind), offender_text(s),
                          vy_host_parts(s->v->program));
    } else if (bad->kind == VY_STMT_FOR) {
        vy_validator_fail(s->v, sync->loc,
                          "grid_sync stands at %s, within more than %u loops. Fix: join some of "
                          "the loops",
                          path, VYRE_MAX_HOST_LOOPS);
    } else {
        vy_validator_fail(s->v, sync->loc,
                          "grid_sync stands at %s, inside a `%s`. Fix: put it at the top level, "
                          "or into a `for` or `if` that the host can evaluate; what runs until a "
                          "flag says so is `fixpoint N until FLAG`",
                          path, vy_stmt_text((vy_stmt_kind)bad->kind));
    }
}

/* A statement that holds a grid_sync is entered. */
static void enter_holder(syncs *s, uint32_t index)
{
    const vyre_program *p = s->v->program;
    const vy_stmt *stmt = &p->stmts.data[index];
    if (s->bad) {
        return;
    }
    bool ok = true;
    switch (stmt->kind) {
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        return;
    case VY_STMT_IF:
        ok = vy_host_evaluable(p, stmt->x, s->is_host_index, &s->offender);
        break;
    case VY_STMT_FOR:
        ok = vy_host_evaluable(p, stmt->x, s->is_host_index, &s->offender) &&
             vy_host_evaluable(p, stmt->y, s->is_host_index, &s->offender) &&
             vy_host_evaluable(p, stmt->z, s->is_host_index, &s->offender);
        ok = ok && s->loops < VYRE_MAX_HOST_LOOPS;
        s->loops++;
        s->is_host_index[stmt->result] = true;
        break;
    default:
        ok = false;
        break;
    }
    if (!ok) {
        s->bad = index;
    }
}

static void leave_holder(syncs *s, uint32_t index)
{
    const vy_stmt *stmt = &s->v->program->stmts.data[index];
    if (stmt->kind == VY_STMT_FOR) {
        s->loops--;
        s->is_host_index[stmt->result] = false;
    }
}

/* Whether the statement bounds its lists by cuts: blocks and regions do not. */
static bool has_cuts(const syncs *s, uint32_t index)
{
    uint8_t kind = s->v->program->stmts.data[index].kind;
    return holds_sync(s, index) && (kind == VY_STMT_FOR || kind == VY_STMT_IF);
}

static void check_jump(syncs *s, const vy_stmt *jump)
{
    const vyre_program *p = s->v->program;
    for (uint32_t d = s->walk.depth; d > 0; d--) {
        uint32_t index = s->walk.open[d].stmt;
        const vy_stmt *loop = &p->stmts.data[index];
        if (loop->kind != VY_STMT_FOR && loop->kind != VY_STMT_WHILE) {
            continue;
        }
        if (holds_sync(s, index)) {
            vy_validator_fail(s->v, jump->loc,
                              "`%s` acts on the `for`%s, which holds a grid_sync and runs the same "
                              "trips for the whole grid. Fix: guard the statements by an `if`",
                              vy_stmt_text((vy_stmt_kind)jump->kind), vy_place(loop->loc).text);
        }
        return;
    }
}

static void check_array(syncs *s, uint32_t var, vy_loc loc)
{
    const vy_var *array = &s->v->program->vars.data[var];
    if (array->array_count > VY_MAX_CROSSING_ARRAY && s->array_cut[var] != s->cut) {
        vy_validator_fail(s->v, loc,
                          "the array `%s` of %u elements lives across a grid_sync, where at most "
                          "%u do. Fix: make it smaller, or use a scratch buffer",
                          array->name, array->array_count, VY_MAX_CROSSING_ARRAY);
    }
}

static void check_arrays(syncs *s, const vy_stmt *stmt)
{
    for (uint32_t r = 0; r < 3; r++) {
        const vy_range *range = vy_stmt_range(stmt, r);
        for (uint32_t i = range->begin; i < range->end; i++) {
            const vy_expr *expr = &s->v->program->exprs.data[i];
            if (expr->op == VYRE_OP_ELEMENT) {
                check_array(s, expr->ref, expr->loc);
            }
        }
    }
    if (stmt->kind == VY_STMT_ARRAY_STORE) {
        check_array(s, stmt->ref, stmt->loc);
    } else if (stmt->kind == VY_STMT_ARRAY) {
        s->array_cut[stmt->ref] = s->cut;
    }
}

static void enter(syncs *s, uint32_t index)
{
    const vy_stmt *stmt = &s->v->program->stmts.data[index];
    check_arrays(s, stmt);
    switch (stmt->kind) {
    case VY_STMT_BREAK:
    case VY_STMT_CONTINUE:
        check_jump(s, stmt);
        break;
    case VY_STMT_GRID_SYNC:
        s->cut++;
        if (s->bad) {
            fail_placement(s, stmt);
        }
        break;
    default:
        if (holds_sync(s, index)) {
            enter_holder(s, index);
        }
        s->cut += has_cuts(s, index);
        break;
    }
}

void vy_validate_syncs(vy_validator *v)
{
    const vyre_program *p = v->program;
    uint32_t index = 0;
    if (!vy_program_has_kind(p, VY_STMT_GRID_SYNC)) {
        return; /* nothing holds one, and nothing lives across one */
    }
    syncs *s = vy_arena_alloc(&v->scratch, 1, sizeof *s);
    bool *is_host_index = vy_arena_alloc(&v->scratch, p->vars.count, sizeof *is_host_index);
    uint32_t *array_cut = vy_arena_alloc(&v->scratch, p->vars.count, sizeof *array_cut);
    if (!s || !is_host_index || !array_cut) {
        vy_validator_no_memory(v);
        return;
    }
    s->v = v;
    s->is_host_index = is_host_index;
    s->array_cut = array_cut;
    vy_walk_begin(&s->walk, p, p->body);
    for (vy_walk_event event; (event = vy_walk_next(&s->walk, &index)) != VY_WALK_END;) {
        if (v->result != VYRE_OK) {
            return;
        }
        if (event == VY_WALK_ENTER) {
            enter(s, index);
            continue;
        }
        s->cut += has_cuts(s, index);
        if (event == VY_WALK_LEAVE && holds_sync(s, index)) {
            leave_holder(s, index);
        }
    }
}
