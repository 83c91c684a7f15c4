/* Bodies: what each statement may do by itself, and what functions are: their kinds of statements,
 * purity, expanded size and depth, and whether they return on every path. Functions call only
 * functions that stand before them, so one pass in their order knows every callee. */
#include "codegen/ir/validate.h"

#include <stdlib.h>

#define KIND_BIT(kind) (1u << (kind))
#define IMPURE_KINDS                                                                               \
    (KIND_BIT(VY_STMT_STORE) | KIND_BIT(VY_STMT_ATOMIC) | KIND_BIT(VY_STMT_UNIFORM_LOAD) |         \
     KIND_BIT(VY_STMT_BARRIER) | KIND_BIT(VY_STMT_TRAP) | KIND_BIT(VY_STMT_SUBGROUP) |             \
     KIND_BIT(VY_STMT_PRINTF))

/* An open list, and the statement that holds it. */
typedef struct level {
    uint32_t kinds;
    bool returns;      /* a statement of the list returns on every path */
    bool body_returns; /* of an IF whose else part is open */
    bool all_return;   /* of a SWITCH: every case so far */
    bool has_default;
} level;

typedef struct bodies {
    vy_validator *v;
    uint32_t function; /* 0: the kernel */
    uint32_t site;
    bool has_calls; /* the program, anywhere */
    level levels[VYRE_MAX_NESTING + 1];
} bodies;

/* ---- Statements by themselves ---------------------------------------------------------------- */

static void check_writable(vy_validator *v, const vy_stmt *stmt)
{
    const vy_buffer *buffer = &v->program->buffers.data[stmt->ref];
    if (!vy_buffer_mode_writes((vyre_buffer_mode)buffer->mode)) {
        vy_validator_fail(v, stmt->loc,
                          "%s on the `%s` buffer `%s`, which a program only reads. Fix: declare "
                          "it `inout` or `out`%s",
                          stmt->kind == VY_STMT_STORE ? "a store" : "an atomic",
                          vy_buffer_mode_text((vyre_buffer_mode)buffer->mode), buffer->name,
                          stmt->kind == VY_STMT_STORE ? "" : ", or load it plainly");
    }
}

static bool order_is_legal(vyre_atomic atomic, vyre_order order)
{
    switch (atomic) {
    case VYRE_ATOMIC_LOAD:
        return order == VYRE_ORDER_RELAXED || order == VYRE_ORDER_ACQUIRE;
    case VYRE_ATOMIC_STORE:
        return order == VYRE_ORDER_RELAXED || order == VYRE_ORDER_RELEASE;
    default:
        return true;
    }
}

static void check_atomic(vy_validator *v, const vy_stmt *stmt)
{
    const vy_buffer *buffer = &v->program->buffers.data[stmt->ref];
    vyre_atomic atomic = (vyre_atomic)stmt->atomic;
    const char *text = vy_atomic_text(atomic);
    check_writable(v, stmt);
    bool has_atomics = buffer->type == VYRE_TYPE_U32 || buffer->type == VYRE_TYPE_I32 ||
                       buffer->type == VYRE_TYPE_U64 || buffer->type == VYRE_TYPE_I64 ||
                       buffer->type == VYRE_TYPE_F32;
    if (!has_atomics) {
        vy_validator_fail(
            v, stmt->loc,
            "%s on the %s buffer `%s`. Fix: make the buffer u32, i32, u64, i64 or f32", text,
            vyre_type_keyword((vyre_type)buffer->type), buffer->name);
    }
    bool has_f32 = atomic == VYRE_ATOMIC_ADD || atomic == VYRE_ATOMIC_EXCHANGE ||
                   atomic == VYRE_ATOMIC_LOAD || atomic == VYRE_ATOMIC_STORE;
    if (buffer->type == VYRE_TYPE_F32 && !has_f32) {
        vy_validator_fail(v, stmt->loc,
                          "%s on the f32 buffer `%s`: only atomic_add, atomic_exchange, "
                          "atomic_load and atomic_store take f32. Fix: use one of them, or a u32 "
                          "buffer with bitcast",
                          text, buffer->name);
    }
    if (!order_is_legal(atomic, (vyre_order)stmt->order)) {
        vy_validator_fail(v, stmt->loc, "%s cannot have this order. Fix: use relaxed or %s", text,
                          atomic == VYRE_ATOMIC_LOAD ? "acquire" : "release");
    }
}

/* Writable storage may change between the loads of two invocations: other workgroups write it. */
static void check_uniform_load(vy_validator *v, const vy_stmt *stmt)
{
    const vy_buffer *buffer = &v->program->buffers.data[stmt->ref];
    if (buffer->mode != VYRE_BUFFER_SHARED &&
        vy_buffer_mode_writes((vyre_buffer_mode)buffer->mode)) {
        vy_validator_fail(v, stmt->loc,
                          "a uniform load of the `%s` buffer `%s`, which other workgroups may "
                          "write meanwhile. Fix: let one invocation copy the element to a shared "
                          "buffer, and load it from there",
                          vy_buffer_mode_text((vyre_buffer_mode)buffer->mode), buffer->name);
    }
}

static void check_step(vy_validator *v, const vy_stmt *stmt)
{
    const vy_expr *step = &v->program->exprs.data[stmt->z.root];
    if (!stmt->z.root || step->op != VYRE_OP_LITERAL) {
        return;
    }
    bool is_negative = step->type == VYRE_TYPE_I32 && (step->bits[0] & 0x80000000u);
    if (step->bits[0] == 0 || is_negative) {
        vy_validator_fail(v, step->loc, "the step of a `for` is not above 0. Fix: %s",
                          is_negative ? "write the step without the sign, and `down` behind it"
                                      : "use at least 1");
    }
}

static void check_array(vy_validator *v, const vy_stmt *stmt)
{
    const vy_var *array = &v->program->vars.data[stmt->ref];
    if (array->array_count == 0 || array->array_count > VY_MAX_ARRAY_COUNT) {
        vy_validator_fail(v, stmt->loc,
                          "the private array `%s` has %u elements. Fix: use 1 to %u, or a scratch "
                          "buffer",
                          array->name, array->array_count, VY_MAX_ARRAY_COUNT);
    }
}

typedef struct case_value {
    uint32_t value, stmt;
} case_value;

static int compare_values(const void *a, const void *b)
{
    const case_value *x = a, *y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return x->stmt < y->stmt ? -1 : x->stmt > y->stmt;
}

static void check_switch(vy_validator *v, const vy_stmt *stmt)
{
    const vyre_program *p = v->program;
    uint32_t count = 0, first_default = 0;
    for (uint32_t c = stmt->body; c; c = p->stmts.data[c].next) {
        count += p->stmts.data[c].value_count;
        if (p->stmts.data[c].value_count) {
            continue;
        }
        if (first_default) {
            vy_validator_fail(v, p->stmts.data[c].loc,
                              "a `switch` has two `default`s, the first%s. Fix: keep one",
                              vy_place(p->stmts.data[first_default].loc).text);
        }
        first_default = c;
    }
    case_value *values = vy_arena_alloc(&v->scratch, count, sizeof *values);
    if (!values) {
        vy_validator_no_memory(v);
        return;
    }
    uint32_t filled = 0;
    for (uint32_t c = stmt->body; c; c = p->stmts.data[c].next) {
        for (uint32_t i = 0; i < p->stmts.data[c].value_count; i++) {
            values[filled++] = (case_value){p->values.data[p->stmts.data[c].first_value + i], c};
        }
    }
    qsort(values, count, sizeof *values, compare_values);
    for (uint32_t i = 1; i < count; i++) {
        if (values[i].value == values[i - 1].value) {
            bool is_signed = p->exprs.data[stmt->x.root].type == VYRE_TYPE_I32;
            uint32_t value = values[i].value;
            long long shown =
                is_signed && value > INT32_MAX ? (long long)value - 0x100000000 : value;
            vy_validator_fail(v, p->stmts.data[values[i].stmt].loc,
                              "the case %lld is there twice. Fix: remove one", shown);
            return;
        }
    }
}

static void check_stmt(bodies *b, const vy_stmt *stmt)
{
    vy_validator *v = b->v;
    switch (stmt->kind) {
    case VY_STMT_STORE:
        check_writable(v, stmt);
        break;
    case VY_STMT_ATOMIC:
        check_atomic(v, stmt);
        break;
    case VY_STMT_UNIFORM_LOAD:
        check_uniform_load(v, stmt);
        break;
    case VY_STMT_ARRAY:
        check_array(v, stmt);
        break;
    case VY_STMT_SWITCH:
        check_switch(v, stmt);
        break;
    case VY_STMT_FOR:
        check_step(v, stmt);
        break;
    case VY_STMT_GRID_SYNC:
        if (b->function) {
            vy_validator_fail(v, stmt->loc,
                              "grid_sync stands in the function `%s`. Fix: put it in the kernel's "
                              "body, between the calls",
                              v->program->functions.data[b->function].name);
        }
        break;
    default:
        break;
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The rules of one call, and what it adds: kinds of statements, size, depth. */
static uint32_t add_call(bodies *b, const vy_stmt *stmt, uint32_t index, uint32_t depth)
{
    vy_validator *v = b->v;
    const vyre_program *p = v->program;
    const vy_expr *call = &p->exprs.data[index];
    const vy_function *callee = &p->functions.data[call->ref];
    if (b->function && call->ref >= b->function) {
        vy_validator_fail(v, call->loc,
                          "functions do not recurse, but `%s` calls `%s`: %s > %s. Fix: use a loop",
                          p->functions.data[b->function].name, callee->name,
                          p->functions.data[b->function].name, callee->name);
        return 0;
    }
    if (call->arg[1] != callee->parameter_count) {
        vy_validator_fail(v, call->loc,
                          "`%s` got a parameter after it was called. Fix: declare parameters "
                          "before calls are built",
                          callee->name);
        return 0;
    }
    /* Recording bounds is no effect that an order could be seen of. */
    if (callee->impure && !p->records_bounds &&
        (stmt->kind != VY_STMT_CALL || index != stmt->x.root)) {
        vy_validator_fail(v, call->loc,
                          "`%s` has effects and is called inside an expression. Fix: bind it by "
                          "itself first: `let value = %s(...)`",
                          callee->name, callee->name);
    }
    if (stmt->kind == VY_STMT_PRINTF && (callee->kinds & KIND_BIT(VY_STMT_WHILE))) {
        /* Whether it prints would tell what is left to the others. */
        vy_validator_fail(v, call->loc,
                          "`%s` has a `while`, whose trips are counted, and is called for a "
                          "printf. Fix: bind it by itself first: `let value = %s(...)`",
                          callee->name, callee->name);
    }
    vy_function_facts *facts = &b->v->facts[b->function];
    const vy_function_facts *inner = &b->v->facts[call->ref];
    facts->size += inner->size;
    if (facts->depth < depth + 1 + inner->depth) {
        facts->depth = depth + 1 + inner->depth;
    }
    if (facts->size > VYRE_MAX_OPERATIONS) {
        vy_validator_fail(v, call->loc,
                          "with its calls expanded the program has more than %u operations. Fix: "
                          "call less, or make `%s` smaller",
                          VYRE_MAX_OPERATIONS, callee->name);
    }
    if (facts->depth > VYRE_MAX_NESTING) {
        vy_validator_fail(v, call->loc,
                          "with its calls expanded the program is nested more than %u deep. Fix: "
                          "call `%s` from less deep",
                          VYRE_MAX_NESTING, callee->name);
    }
    return callee->kinds;
}

static uint32_t add_ranges(bodies *b, const vy_stmt *stmt, uint32_t depth)
{
    const vyre_program *p = b->v->program;
    uint32_t kinds = 0;
    for (uint32_t r = 0; r < 3; r++) {
        const vy_range *range = vy_stmt_range(stmt, r);
        b->v->facts[b->function].size += range->end - range->begin;
        for (uint32_t i = range->begin; b->has_calls && i < range->end && b->v->result == VYRE_OK;
             i++) {
            if (p->exprs.data[i].op == VYRE_OP_CALL) {
                kinds |= add_call(b, stmt, i, depth);
            }
        }
    }
    return kinds;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void enter(bodies *b, uint32_t index, uint32_t depth)
{
    vy_validator *v = b->v;
    vy_stmt *stmt = &v->program->stmts.data[index];
    vy_function_facts *facts = &v->facts[b->function];
    bool has_lists = vy_stmt_has_lists((vy_stmt_kind)stmt->kind);
    facts->size++;
    if (facts->depth < depth) {
        facts->depth = depth;
    }
    if (stmt->kind == VY_STMT_TRAP || stmt->kind == VY_STMT_WHILE) {
        stmt->site = b->site++;
    }
    check_stmt(b, stmt);
    v->kinds[index] = KIND_BIT(stmt->kind) | add_ranges(b, stmt, depth);
    if (has_lists) {
        b->levels[depth] = (level){.kinds = v->kinds[index], .all_return = true};
    } else {
        b->levels[depth].kinds |= v->kinds[index];
        b->levels[depth].returns |= stmt->kind == VY_STMT_RETURN;
    }
}

/* `depth` is that of the list that the statement stands in. */
static void leave(bodies *b, uint32_t index, uint32_t depth)
{
    const vy_stmt *stmt = &b->v->program->stmts.data[index];
    const level *inner = &b->levels[depth + 1];
    level *outer = &b->levels[depth];
    bool returns = false;
    switch (stmt->kind) {
    case VY_STMT_IF:
        returns = inner->body_returns && inner->returns;
        break;
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        returns = inner->returns;
        break;
    case VY_STMT_SWITCH:
        returns = inner->all_return && inner->has_default;
        break;
    case VY_STMT_CASE:
        outer->all_return &= inner->returns;
        outer->has_default |= stmt->value_count == 0;
        break;
    default:
        break;
    }
    b->v->kinds[index] = inner->kinds;
    outer->kinds |= inner->kinds;
    outer->returns |= returns;
}

static void check_list(bodies *b, uint32_t first)
{
    vy_walk walk;
    uint32_t index = 0;
    vy_walk_begin(&walk, b->v->program, first);
    b->levels[0] = (level){0};
    for (vy_walk_event event; (event = vy_walk_next(&walk, &index)) != VY_WALK_END;) {
        if (b->v->result != VYRE_OK) {
            return;
        }
        if (event == VY_WALK_ENTER) {
            enter(b, index, walk.depth);
        } else if (event == VY_WALK_ELSE) {
            b->levels[walk.depth].body_returns = b->levels[walk.depth].returns;
            b->levels[walk.depth].returns = false;
        } else {
            leave(b, index, walk.depth);
        }
    }
}

void vy_validate_bodies(vy_validator *v)
{
    vyre_program *p = v->program;
    bodies b = {.v = v, .has_calls = vy_program_has_op(p, VYRE_OP_CALL)};
    for (uint32_t f = 1; f < p->functions.count && v->result == VYRE_OK; f++) {
        vy_function *function = &p->functions.data[f];
        b.function = f;
        check_list(&b, function->body);
        function->kinds = b.levels[0].kinds;
        function->impure = (function->kinds & IMPURE_KINDS) != 0;
        if (function->return_type != VYRE_TYPE_VOID && !b.levels[0].returns) {
            vy_validator_fail(v, function->loc,
                              "`%s` can end without a value. Fix: end every path with `return`",
                              function->name);
        }
    }
    b.function = 0;
    if (v->result == VYRE_OK) {
        check_list(&b, p->body);
    }
    p->site_count = b.site;
    if (v->facts[0].size > VYRE_MAX_OPERATIONS) {
        vy_validator_fail(v, (vy_loc){0, 0},
                          "the program has more than %u operations. Fix: make it smaller",
                          VYRE_MAX_OPERATIONS);
    }
}
