/* Loops and what leaves them. A loop is: the header with its phis, which goes straight on to where
 * the condition is computed (that may take several blocks), the body, a continue block in which
 * only the index moves on, and the merge block. Phis stand for the variables that the loop assigns,
 * which facts.c has listed. */
#include "codegen/passes/build_parts.h"

#define FUNCTION_EXIT_KEYS 5u /* four components of its value, and the budget */

/* A phi of the header: its value before the first trip now, that of the next trips later. */
uint32_t vy_build_header_phi(vy_ssa_builder *b, const vy_loop *loop, uint32_t before,
                             vyre_type type, uint32_t initial, const char *name)
{
    uint32_t first = b->ssa->phi_edges.count;
    (void)vy_vec_push(b->ssa->arena, &b->ssa->phi_edges, (vy_phi_edge){before, initial});
    (void)vy_vec_push(b->ssa->arena, &b->ssa->phi_edges, (vy_phi_edge){loop->continue_block, 0});
    vy_ins phi = {.op = VY_SSA_PHI,
                  .type = (uint8_t)type,
                  .ref = first,
                  .bits = 2,
                  .name = name,
                  .loc = b->ssa->blocks.data[loop->header].loc};
    return vy_build_ins(b, phi);
}

void vy_build_close_phi(vy_ssa_builder *b, uint32_t phi, uint32_t next)
{
    const vy_ins *ins = &b->ssa->ins.data[phi];
    if (ins->op == VY_SSA_PHI && ins->ref + 1 < b->ssa->phi_edges.count) {
        b->ssa->phi_edges.data[ins->ref + 1].value = next;
    }
}

/* Makes the blocks and goes to the header; nothing is in it yet. */
vy_loop *vy_build_loop_open(vy_ssa_builder *b, vy_loc loc, vy_loc end_loc)
{
    vy_loop *loop = vy_arena_alloc(b->arena, 1, sizeof *loop);
    if (!loop) {
        return NULL;
    }
    loop->parent = b->activation->loop;
    b->activation->loop = loop;
    loop->header = vy_build_block(b, loc);
    loop->continue_block = vy_build_block(b, end_loc);
    loop->merge = vy_build_block(b, end_loc);
    vy_build_jump(b, loop->header);
    vy_build_place(b, loop->header);
    vy_block *header = &b->ssa->blocks.data[loop->header];
    header->merge_kind = VY_MERGE_LOOP;
    header->merge = loop->merge;
    header->continue_block = loop->continue_block;
    return loop;
}

static void add_key(const vy_ssa_builder *b, vy_loop *loop, uint32_t key)
{
    if (key &&
        b->keys.data[key].current) { /* without a value before the loop it is declared inside */
        loop->keys[loop->key_count++] = key;
    }
}

static void add_value_keys(vy_ssa_builder *b, vy_loop *loop, uint32_t function)
{
    vyre_type type = (vyre_type)b->program->functions.data[function].return_type;
    for (uint32_t c = 0; c < vy_type_components(type); c++) {
        add_key(b, loop, vy_key_value(b, function) + c);
    }
}

/* A loop statement with the phis of what it assigns; the header stays open for an index. */
static vy_loop *begin_loop(vy_ssa_builder *b, uint32_t index)
{
    const vy_stmt *stmt = &b->program->stmts.data[index];
    const vy_stmt_facts *facts = &b->split->facts[index];
    uint32_t before = b->block, function = b->activation->function;
    vy_loop *loop = vy_build_loop_open(b, stmt->loc, stmt->end_loc);
    if (!loop) {
        return NULL;
    }
    uint32_t most = 4 * facts->assigned_count + 6u;
    loop->keys = vy_arena_alloc(b->arena, most, sizeof *loop->keys);
    loop->phis = vy_arena_alloc(b->arena, most, sizeof *loop->phis);
    if (vy_build_stopped(b)) {
        return NULL;
    }
    for (uint32_t i = 0; i < facts->assigned_count; i++) {
        uint32_t var = b->split->assigned.data[facts->first_assigned + i], key = vy_key(b, var);
        for (uint32_t c = 0; key && c < vy_key_count(b, var); c++) {
            add_key(b, loop, key + c);
        }
    }
    if (facts->draws_budget) {
        add_key(b, loop, vy_key_budget(b));
    }
    if (facts->has_cut) {
        add_key(b, loop, b->execution_key);
    }
    if (function && facts->has_return) {
        add_value_keys(b, loop, function);
    }
    if (b->activation->exit && facts->has_return) {
        add_key(b, loop, vy_key_left(b, function));
    }
    for (uint32_t k = 0; k < loop->key_count; k++) {
        uint32_t key = loop->keys[k];
        loop->phis[k] = vy_build_header_phi(b, loop, before, vy_build_key_type(b, key),
                                            b->keys.data[key].current, vy_build_key_name(b, key));
        vy_build_assign(b, key, loop->phis[k]);
    }
    return loop;
}

/* A way from here to a block of the loop, with the values it brings. */
void vy_build_loop_edge(vy_ssa_builder *b, const vy_loop *loop, vy_edges *edges)
{
    vy_edge edge = {b->block, b->rows.count};
    if (!b->block) {
        return;
    }
    for (uint32_t k = 0; k < loop->key_count; k++) {
        (void)vy_vec_push(b->arena, &b->rows, b->keys.data[loop->keys[k]].current);
    }
    (void)vy_vec_push(b->arena, edges, edge);
}

void vy_build_leave(vy_ssa_builder *b, vy_loop *loop)
{
    vy_build_loop_edge(b, loop, &loop->breaks);
    vy_build_jump(b, loop->merge);
}

/* Places the block where the edges come together; false where there are none. */
static bool take_edges(vy_ssa_builder *b, const vy_loop *loop, uint32_t block,
                       const vy_edges *edges)
{
    uint32_t count = edges->count;
    vy_build_place(b, block);
    if (count == 0) {
        return false;
    }
    uint32_t *values = vy_arena_alloc(b->arena, count, sizeof *values);
    uint32_t *blocks = vy_arena_alloc(b->arena, count, sizeof *blocks);
    if (vy_build_stopped(b)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = edges->data[i].block;
    }
    for (uint32_t k = 0; k < loop->key_count; k++) {
        for (uint32_t i = 0; i < count; i++) {
            values[i] = b->rows.data[edges->data[i].first_value + k];
        }
        vy_build_phi(b, loop->keys[k], values, blocks, count);
    }
    return true;
}

/* The end of the body and the continue block, which stays open where a next trip can happen. */
bool vy_build_loop_continue(vy_ssa_builder *b, vy_loop *loop)
{
    vy_build_loop_edge(b, loop, &loop->continues);
    vy_build_jump(b, loop->continue_block);
    bool live = take_edges(b, loop, loop->continue_block, &loop->continues);
    for (uint32_t k = 0; k < loop->key_count && !vy_build_stopped(b); k++) {
        vy_build_close_phi(b, loop->phis[k],
                           live ? b->keys.data[loop->keys[k]].current : loop->phis[k]);
    }
    return live;
}

void vy_build_loop_end(vy_ssa_builder *b, vy_loop *loop)
{
    vy_build_jump(b, loop->header);
    b->activation->loop = loop->parent;
    if (!take_edges(b, loop, loop->merge, &loop->breaks) && !vy_build_stopped(b)) {
        b->ssa->blocks.data[loop->merge].end = VY_END_UNREACHABLE;
        b->block = 0;
    }
}

/* Behind a loop that a `return` of the function may have left: on to the function's end. */
static void leave_again(vy_ssa_builder *b, uint32_t index)
{
    const vy_activation *activation = b->activation;
    vy_loc loc = b->program->stmts.data[index].end_loc;
    if (!b->block || vy_build_stopped(b) || !activation->exit ||
        !b->split->facts[index].has_return) {
        return;
    }
    uint32_t left = vy_build_current(b, vy_key_left(b, activation->function));
    uint32_t out = vy_build_block(b, loc), next = vy_build_block(b, loc);
    vy_build_branch(b, left, out, next, next);
    vy_build_place(b, out);
    vy_build_leave(b, activation->loop);
    vy_build_place(b, next);
}

/* ---- while ----------------------------------------------------------------------------------- */

/* One trip's worth is taken off `left`; without any left the loop ends with a record. */
static uint32_t count_trip(vy_ssa_builder *b, vy_loop *loop, const vy_stmt *stmt, uint32_t left)
{
    uint32_t zero = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, 0);
    uint32_t one = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, 1);
    uint32_t spent = vy_build_op2(b, VYRE_OP_EQ, VYRE_TYPE_BOOL, left, zero, stmt->loc);
    uint32_t limit = vy_build_block(b, stmt->loc), go = vy_build_block(b, stmt->loc);
    vy_build_branch(b, spent, limit, go, go);
    vy_build_place(b, limit);
    vy_build_record(b, stmt->site, stmt->loc);
    vy_build_leave(b, loop);
    vy_build_place(b, go);
    return vy_build_op2(b, VYRE_OP_SUB, VYRE_TYPE_U32, left, one, stmt->loc);
}

void vy_build_while(vy_ssa_builder *b, uint32_t index)
{
    const vy_stmt *stmt = &b->program->stmts.data[index];
    /* With a barrier inside it counts for itself, so that the count is uniform. */
    bool own = b->split->facts[index].has_barrier;
    uint32_t before = b->block, counter = 0;
    vy_loop *loop = begin_loop(b, index);
    if (!loop || vy_build_stopped(b)) {
        return;
    }
    if (own) {
        uint32_t limit = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, b->program->loop_limit);
        counter = vy_build_header_phi(b, loop, before, VYRE_TYPE_U32, limit, NULL);
    }
    uint32_t test = vy_build_block(b, stmt->loc), next = 0;
    vy_build_jump(b, test);
    vy_build_place(b, test);
    uint32_t cond = vy_build_range(b, stmt->x);
    if (b->block) {
        uint32_t check = vy_build_block(b, stmt->loc);
        vy_build_loop_edge(b, loop, &loop->breaks);
        vy_build_branch(b, cond, check, loop->merge, 0);
        vy_build_place(b, check);
        next = count_trip(b, loop, stmt, own ? counter : vy_build_current(b, vy_key_budget(b)));
        if (!own) {
            vy_build_assign(b, vy_key_budget(b), next);
        }
        vy_build_list(b, stmt->body);
    }
    bool live = vy_build_loop_continue(b, loop);
    if (own && !vy_build_stopped(b)) {
        vy_build_close_phi(b, counter, live ? next : counter);
    }
    vy_build_loop_end(b, loop);
    leave_again(b, index);
}

/* ---- for ------------------------------------------------------------------------------------- */

typedef struct for_plan {
    vyre_type type;
    uint32_t first, to, step, trips; /* trips 0: the index is compared with `to` */
} for_plan;

/* How often a loop runs: 0 where from >= to, else (to - from - 1) / step + 1, counted in u32, where
 * the difference of two i32 fits. */
static uint32_t count_trips(vy_ssa_builder *b, const vy_stmt *stmt, for_plan *plan, uint32_t from)
{
    vy_loc loc = stmt->loc;
    bool is_signed = plan->type == VYRE_TYPE_I32;
    uint32_t zero = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, 0);
    uint32_t one = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, 1);
    uint32_t runs = vy_build_op2(b, VYRE_OP_LT, VYRE_TYPE_BOOL, from, plan->to, loc);
    uint32_t distance = vy_build_op2(b, VYRE_OP_SUB, plan->type, plan->to, from, loc);
    uint32_t step = plan->step;
    if (is_signed) {
        distance = vy_build_op1(b, VYRE_OP_BITCAST, VYRE_TYPE_U32, distance, loc);
    }
    const vy_ins *ins = &b->ssa->ins.data[plan->step];
    if (ins->op == VYRE_OP_LITERAL) {
        uint64_t bits = ins->bits ? ins->bits : 1;
        step = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, bits);
        plan->step = vy_ssa_literal(b->ssa, plan->type, bits);
    } else {
        if (is_signed) {
            step = vy_build_op1(b, VYRE_OP_BITCAST, VYRE_TYPE_U32, step, loc);
        }
        uint32_t none = vy_build_op2(b, VYRE_OP_EQ, VYRE_TYPE_BOOL, step, zero, loc);
        step = vy_build_ins(b, (vy_ins){.op = VYRE_OP_SELECT,
                                        .type = VYRE_TYPE_U32,
                                        .arg = {none, one, step},
                                        .loc = loc});
        plan->step = is_signed ? vy_build_op1(b, VYRE_OP_BITCAST, VYRE_TYPE_I32, step, loc) : step;
    }
    uint32_t trips = distance;
    if (step != one) {
        trips = vy_build_op2(b, VYRE_OP_SUB, VYRE_TYPE_U32, trips, one, loc);
        trips = vy_build_op2(b, VYRE_OP_DIV, VYRE_TYPE_U32, trips, step, loc);
        trips = vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, trips, one, loc);
    }
    return vy_build_ins(b, (vy_ins){.op = VYRE_OP_SELECT,
                                    .type = VYRE_TYPE_U32,
                                    .arg = {runs, trips, zero},
                                    .loc = loc});
}

/* What the host would evaluate no driver knows, as it knows no pushed index: Mesa 25.0.7 was seen
 * to unroll such loops wrongly, and code of many segments would grow. */
static uint32_t hide(vy_ssa_builder *b, vyre_type type, uint32_t value, vy_loc loc)
{
    uint32_t zero = vy_build_ins(b, (vy_ins){.op = VY_SSA_HOST_INDEX,
                                             .type = (uint8_t)type,
                                             .ref = VY_WHOLE_INDEX_ZERO,
                                             .loc = loc});
    return vy_build_op2(b, VYRE_OP_ADD, type, value, zero, loc);
}

static for_plan plan_for(vy_ssa_builder *b, const vy_stmt *stmt, bool is_hidden)
{
    for_plan plan = {.type = (vyre_type)b->program->vars.data[stmt->result].type};
    uint32_t from = vy_build_range(b, stmt->x);
    uint32_t one = vy_ssa_literal(b->ssa, plan.type, 1);
    plan.to = vy_build_range(b, stmt->y);
    if (is_hidden) {
        plan.to = hide(b, plan.type, plan.to, stmt->loc);
    }
    plan.step = stmt->z.root ? vy_build_range(b, stmt->z) : one;
    plan.first = from;
    if (stmt->down || plan.step != one) {
        plan.trips = count_trips(b, stmt, &plan, from);
    }
    if (stmt->down) {
        plan.first = vy_build_op2(b, VYRE_OP_SUB, plan.type, plan.to, one, stmt->loc);
    }
    return plan;
}

void vy_build_for(vy_ssa_builder *b, uint32_t index)
{
    const vy_stmt *stmt = &b->program->stmts.data[index];
    const char *name = b->program->vars.data[stmt->result].name;
    uint32_t steps = b->host_steps;
    b->host_steps = 0;
    for_plan plan = plan_for(b, stmt, steps != 0);
    uint32_t before = b->block, trips = 0;
    if (!before) {
        return;
    }
    vy_loop *loop = begin_loop(b, index);
    if (!loop || vy_build_stopped(b)) {
        return;
    }
    uint32_t at = vy_build_header_phi(b, loop, before, plan.type, plan.first, name);
    if (plan.trips) {
        trips = vy_build_header_phi(b, loop, before, VYRE_TYPE_U32, plan.trips, NULL);
    }
    uint32_t test = vy_build_block(b, stmt->loc), body = vy_build_block(b, stmt->loc);
    vy_build_jump(b, test);
    vy_build_place(b, test);
    uint32_t zero = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, 0);
    uint32_t cond = plan.trips
                        ? vy_build_op2(b, VYRE_OP_NE, VYRE_TYPE_BOOL, trips, zero, stmt->loc)
                        : vy_build_op2(b, VYRE_OP_LT, VYRE_TYPE_BOOL, at, plan.to, stmt->loc);
    vy_build_loop_edge(b, loop, &loop->breaks);
    vy_build_branch(b, cond, body, loop->merge, 0);
    vy_build_place(b, body);
    vy_build_assign(b, vy_key(b, stmt->result), at);
    if (steps) {
        vy_build_steps(b, steps);
    } else {
        vy_build_list(b, stmt->body);
    }
    if (vy_build_loop_continue(b, loop)) {
        uint32_t one = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, 1);
        vy_build_close_phi(b, at,
                           vy_build_op2(b, stmt->down ? VYRE_OP_SUB : VYRE_OP_ADD, plan.type, at,
                                        plan.step, stmt->end_loc));
        if (trips) {
            vy_build_close_phi(
                b, trips, vy_build_op2(b, VYRE_OP_SUB, VYRE_TYPE_U32, trips, one, stmt->end_loc));
        }
    } else if (!vy_build_stopped(b)) {
        vy_build_close_phi(b, at, at);
        vy_build_close_phi(b, trips, trips);
    }
    vy_build_loop_end(b, loop);
    leave_again(b, index);
}

/* ---- Leaving --------------------------------------------------------------------------------- */

void vy_build_break(vy_ssa_builder *b)
{
    if (b->activation->loop && b->activation->loop != b->activation->exit) {
        vy_build_leave(b, b->activation->loop);
    }
}

void vy_build_continue(vy_ssa_builder *b)
{
    vy_loop *loop = b->activation->loop;
    if (loop && loop != b->activation->exit) {
        vy_build_loop_edge(b, loop, &loop->continues);
        vy_build_jump(b, loop->continue_block);
    }
}

/* The loop with room for its keys; the header stays open. */
static vy_loop *open_exit(vy_ssa_builder *b, uint32_t most_keys, vy_loc loc)
{
    vy_loop *loop = vy_build_loop_open(b, loc, loc);
    if (loop) {
        loop->keys = vy_arena_alloc(b->arena, most_keys, sizeof *loop->keys);
    }
    return loop && loop->keys ? loop : NULL;
}

static vy_loop *enter_exit(vy_ssa_builder *b, vy_loop *loop, vy_loc loc)
{
    uint32_t body = vy_build_block(b, loc);
    vy_build_jump(b, body);
    vy_build_place(b, body);
    return loop;
}

vy_loop *vy_build_exit_begin(vy_ssa_builder *b, uint32_t function, vy_loc loc)
{
    vy_loop *loop = open_exit(b, FUNCTION_EXIT_KEYS, loc);
    if (!loop) {
        return NULL;
    }
    add_value_keys(b, loop, function);
    if (b->split->functions[function].draws_budget) {
        add_key(b, loop, vy_key_budget(b));
    }
    return enter_exit(b, loop, loc);
}

vy_loop *vy_build_exit_begin_with(vy_ssa_builder *b, const uint32_t *keys, uint32_t count,
                                  vy_loc loc)
{
    vy_loop *loop = open_exit(b, count, loc);
    if (!loop) {
        return NULL;
    }
    for (uint32_t k = 0; k < count; k++) {
        add_key(b, loop, keys[k]);
    }
    return enter_exit(b, loop, loc);
}

void vy_build_exit_end(vy_ssa_builder *b, vy_loop *loop)
{
    vy_build_leave(b, loop);
    vy_build_place(b, loop->continue_block); /* there is no second trip */
    vy_build_loop_end(b, loop);
}

void vy_build_return_value(vy_ssa_builder *b, vy_parts value)
{
    vy_activation *activation = b->activation;
    for (uint32_t c = 0; c < value.count; c++) {
        vy_build_assign(b, vy_key_value(b, activation->function) + c, value.id[c]);
    }
    if (!activation->exit) {
        return; /* nothing of the function follows */
    }
    if (activation->loop != activation->exit) {
        vy_build_assign(b, vy_key_left(b, activation->function),
                        vy_ssa_literal(b->ssa, VYRE_TYPE_BOOL, 1));
    }
    vy_build_leave(b, activation->loop);
}
