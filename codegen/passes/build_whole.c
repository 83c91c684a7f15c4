/* All segments and all passes of a program as one segment in SSA form, for a grid of one workgroup:
 * the host's steps become control flow, a barrier stands where a dispatch would end, values that
 * live across a cut simply live. Reads a validated program and its split.
 *
 * Segments are sealed: what one assigns is forgotten at its end, apart from the variables that
 * cross cuts, so that nothing flows where separate modules would have nothing. A segment that
 * invocations may leave is a loop of one trip, as an inlined function is. */
#include "codegen/ir/walk.h"
#include "codegen/passes/build_parts.h"

typedef VY_VEC(uint32_t) id_list;

/* What the builder needs beyond; it lies behind the shared state, which comes first. */
typedef struct whole {
    vy_ssa_builder b;
    uint32_t local;      /* linear number of the invocation in its workgroup */
    uint32_t is_element; /* where only some of them run; 0: all do */
} whole;

static whole *whole_of(vy_ssa_builder *b)
{
    return (whole *)(void *)b;
}

static uint32_t u32_literal(vy_ssa_builder *b, uint32_t value)
{
    return vy_ssa_literal(b->ssa, VYRE_TYPE_U32, value);
}

static uint32_t builtin(vy_ssa_builder *b, vyre_builtin which)
{
    return vy_build_ins(
        b, (vy_ins){.op = VYRE_OP_BUILTIN, .type = VYRE_TYPE_U32, .ref = (uint32_t)which});
}

static const vy_loc nowhere = {0, 0};

/* ---- Shared memory --------------------------------------------------------------------------- */

typedef struct shared_walk {
    const vyre_program *program;
    vy_arena *arena;
    bool *is_used;  /* by buffer */
    bool *is_known; /* by function: looked at */
    id_list work;   /* statements whose lists are to be looked at */
} shared_walk;

static void use_range(shared_walk *w, vy_range range)
{
    for (uint32_t e = range.root ? range.begin : range.end; e < range.end; e++) {
        const vy_expr *expr = &w->program->exprs.data[e];
        if (expr->op == VYRE_OP_LOAD) {
            w->is_used[expr->ref] = true;
        } else if (expr->op == VYRE_OP_CALL && !w->is_known[expr->ref]) {
            uint32_t body = w->program->functions.data[expr->ref].body;
            w->is_known[expr->ref] = true;
            if (body) {
                (void)vy_vec_push(w->arena, &w->work, body);
            }
        }
    }
}

static void use_stmt(shared_walk *w, const vy_stmt *stmt)
{
    if (stmt->kind == VY_STMT_STORE || stmt->kind == VY_STMT_ATOMIC ||
        stmt->kind == VY_STMT_UNIFORM_LOAD) {
        w->is_used[stmt->ref] = true;
    }
    use_range(w, stmt->x);
    use_range(w, stmt->y);
    use_range(w, stmt->z);
    if (vy_stmt_has_lists((vy_stmt_kind)stmt->kind)) {
        if (stmt->body) {
            (void)vy_vec_push(w->arena, &w->work, stmt->body);
        }
        if (stmt->other) {
            (void)vy_vec_push(w->arena, &w->work, stmt->other);
        }
    }
}

/* By buffer, whether the segment names it; NULL: out of memory. */
static bool *find_used(vy_ssa_builder *b)
{
    const vyre_program *program = b->program;
    shared_walk w = {.program = program, .arena = b->arena};
    w.is_used = vy_arena_alloc(b->arena, program->buffers.count + 1u, sizeof *w.is_used);
    w.is_known = vy_arena_alloc(b->arena, program->functions.count + 1u, sizeof *w.is_known);
    if (!w.is_used || !w.is_known) {
        return NULL;
    }
    for (uint32_t i = 0; i < b->segment->stmt_count; i++) {
        use_stmt(&w, &program->stmts.data[b->split->stmts.data[b->segment->first_stmt + i]]);
        while (w.work.count && !b->arena->failed) {
            for (uint32_t s = w.work.data[--w.work.count]; s; s = program->stmts.data[s].next) {
                use_stmt(&w, &program->stmts.data[s]);
            }
        }
    }
    return b->arena->failed ? NULL : w.is_used;
}

static void store_zero(vy_ssa_builder *b, uint32_t buffer, uint32_t index)
{
    vyre_type type = vy_element_value_type((vyre_type)b->program->buffers.data[buffer].type);
    vy_parts parts = {.count = vy_type_components(type)};
    for (uint32_t c = 0; c < parts.count; c++) {
        parts.id[c] = vy_build_zero(b, vy_type_component(type));
    }
    uint32_t value = vy_build_put_together(b, parts, type, nowhere);
    (void)vy_build_ins(
        b, (vy_ins){.op = VY_SSA_STORE, .ref = buffer, .arg = {index, value}, .loc = nowhere});
}

/* if (local < count) buffer[local] = 0 */
static void clear_once(vy_ssa_builder *b, uint32_t buffer, uint32_t count)
{
    uint32_t local = whole_of(b)->local;
    uint32_t inside = vy_build_block(b, nowhere), merge = vy_build_block(b, nowhere);
    uint32_t has = vy_build_op2(b, VYRE_OP_LT, VYRE_TYPE_BOOL, local, count, nowhere);
    vy_build_branch(b, has, inside, merge, merge);
    vy_build_place(b, inside);
    store_zero(b, buffer, local);
    vy_build_jump(b, merge);
    vy_build_place(b, merge);
}

/* for (at = local; at < count; at += volume) buffer[at] = 0 */
static void clear_by_loop(vy_ssa_builder *b, uint32_t buffer, uint32_t count, uint32_t volume)
{
    uint32_t before = b->block;
    vy_loop *loop = vy_build_loop_open(b, nowhere, nowhere);
    if (!loop) {
        return;
    }
    uint32_t local = whole_of(b)->local;
    uint32_t at = vy_build_header_phi(b, loop, before, VYRE_TYPE_U32, local, NULL);
    uint32_t test = vy_build_block(b, nowhere), body = vy_build_block(b, nowhere);
    vy_build_jump(b, test);
    vy_build_place(b, test);
    uint32_t more = vy_build_op2(b, VYRE_OP_LT, VYRE_TYPE_BOOL, at, count, nowhere);
    vy_build_loop_edge(b, loop, &loop->breaks);
    vy_build_branch(b, more, body, loop->merge, 0);
    vy_build_place(b, body);
    store_zero(b, buffer, at);
    if (vy_build_loop_continue(b, loop)) {
        uint32_t step = u32_literal(b, volume);
        vy_build_close_phi(b, at, vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, at, step, nowhere));
    }
    vy_build_loop_end(b, loop);
}

/* Programs with shared buffers have a fixed workgroup size. */
static void clear_shared(vy_ssa_builder *b)
{
    const vyre_program *program = b->program;
    const bool *is_used = find_used(b);
    uint32_t volume = program->workgroup[0] * program->workgroup[1] * program->workgroup[2];
    bool is_any = false;
    for (uint32_t i = 1; is_used && i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED || !is_used[i]) {
            continue;
        }
        uint32_t count = (uint32_t)program->exprs.data[buffer->count.root].bits[0];
        is_any = true;
        if (count <= volume) {
            clear_once(b, i, u32_literal(b, count));
        } else {
            clear_by_loop(b, i, u32_literal(b, count), volume);
        }
    }
    if (is_any) {
        vy_build_barrier(b, b->segment->loc);
    }
}

/* ---- A segment ------------------------------------------------------------------------------- */

/* The keys of what crosses cuts and may be changed here; arrays have none. */
static id_list out_keys(vy_ssa_builder *b)
{
    id_list keys = {0};
    for (uint32_t i = 0; i < b->segment->out_count; i++) {
        uint32_t var = b->split->var_lists.data[b->segment->first_out + i];
        bool is_array = b->program->vars.data[var].kind == VY_VAR_ARRAY;
        for (uint32_t c = 0; !is_array && c < vy_key_count(b, var); c++) {
            (void)vy_vec_push(b->arena, &keys, vy_key(b, var) + c);
        }
    }
    return keys;
}

static bool can_be_left(const vy_ssa_builder *b)
{
    bool can = false;
    for (uint32_t i = 0; i < b->segment->stmt_count; i++) {
        can |= b->split->facts[b->split->stmts.data[b->segment->first_stmt + i]].has_return;
    }
    return can;
}

/* Only invocations with an element go on. */
static void leave_beyond(vy_ssa_builder *b, vy_loop *exit)
{
    uint32_t out = vy_build_block(b, b->segment->loc), stay = vy_build_block(b, b->segment->loc);
    vy_build_branch(b, whole_of(b)->is_element, stay, out, stay);
    vy_build_place(b, out);
    vy_build_leave(b, exit);
    vy_build_place(b, stay);
}

static void build_statements(vy_ssa_builder *b)
{
    for (uint32_t i = 0; i < b->segment->stmt_count && b->block && !vy_build_stopped(b); i++) {
        vy_build_stmt(b, b->split->stmts.data[b->segment->first_stmt + i]);
    }
}

/* Forgets what was assigned since the mark, apart from `keys`. */
static void seal(vy_ssa_builder *b, uint32_t mark, const id_list *keys)
{
    uint32_t *values = vy_arena_alloc(b->arena, keys->count + 1u, sizeof *values);
    if (!values) {
        return;
    }
    for (uint32_t k = 0; k < keys->count; k++) {
        values[k] = vy_build_current(b, keys->data[k]);
    }
    for (uint32_t i = b->log.count; i-- > mark;) {
        b->keys.data[b->log.data[i].key].current = b->log.data[i].old;
    }
    b->log.count = mark;
    for (uint32_t k = 0; k < keys->count; k++) {
        vy_build_assign(b, keys->data[k], values[k]);
    }
}

static void build_segment(vy_ssa_builder *b, uint32_t index)
{
    b->segment = &b->split->segments.data[index];
    clear_shared(b);
    uint32_t mark = vy_build_log_mark(b);
    id_list keys = out_keys(b);
    vy_build_begin_segment(b);
    vy_loop *exit = NULL;
    if (whole_of(b)->is_element || can_be_left(b)) {
        vy_build_assign(b, vy_key_left(b, 0), vy_build_zero(b, VYRE_TYPE_BOOL));
        exit = vy_build_exit_begin_with(b, keys.data, keys.count, b->segment->loc);
    }
    if (vy_build_stopped(b)) {
        return;
    }
    b->activation->exit = exit;
    if (whole_of(b)->is_element) {
        leave_beyond(b, exit);
    }
    build_statements(b);
    if (exit && !vy_build_stopped(b)) {
        vy_build_exit_end(b, exit);
    }
    b->activation->exit = NULL;
    if (vy_build_stopped(b)) {
        return;
    }
    seal(b, mark, &keys);
    uint32_t number =
        vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, vy_build_current(b, b->execution_key),
                     u32_literal(b, 1), nowhere);
    vy_build_assign(b, b->execution_key, number);
    vy_build_barrier(b, b->segment->loc);
}

/* ---- The host's steps ------------------------------------------------------------------------ */

static vy_arm build_arm(vy_ssa_builder *b, uint32_t steps, uint32_t block, uint32_t merge,
                        uint32_t mark)
{
    vy_build_place(b, block);
    vy_build_steps(b, steps);
    uint32_t end = b->block;
    vy_build_jump(b, merge);
    b->block = end;
    return vy_build_end_arm(b, mark);
}

static void build_if(vy_ssa_builder *b, const vy_step *step)
{
    const vy_stmt *stmt = &b->program->stmts.data[step->stmt];
    uint32_t cond = vy_build_range(b, stmt->x);
    uint32_t header = b->block, first_delta = b->deltas.count, mark = vy_build_log_mark(b);
    vy_arm arms[2] = {{header, first_delta, 0}, {header, first_delta, 0}};
    uint32_t merge = vy_build_block(b, stmt->end_loc);
    uint32_t yes = step->body ? vy_build_block(b, stmt->loc) : merge;
    uint32_t no = step->other ? vy_build_block(b, stmt->loc) : merge;
    if (vy_build_stopped(b)) {
        return;
    }
    vy_build_branch(b, cond, yes, no, merge);
    if (step->body) {
        arms[0] = build_arm(b, step->body, yes, merge, mark);
    }
    if (step->other) {
        arms[1] = build_arm(b, step->other, no, merge, mark);
    }
    vy_build_join(b, merge, arms, 2, first_delta);
}

/* Recursion ends at the language's limit of nesting, which the split has kept to. */
void vy_build_steps(vy_ssa_builder *b, uint32_t first)
{
    for (uint32_t i = first; i && !vy_build_stopped(b); i = b->split->steps.data[i].next) {
        const vy_step *step = &b->split->steps.data[i];
        if (step->kind == VY_STEP_SEGMENT) {
            build_segment(b, step->segment);
        } else if (step->kind == VY_STEP_LOOP) {
            b->host_steps = step->body;
            vy_build_for(b, step->stmt);
        } else {
            build_if(b, step);
        }
    }
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* FLAG[0] = 0 by one invocation, seen by all. */
static void clear_flag(vy_ssa_builder *b)
{
    uint32_t zero = u32_literal(b, 0);
    uint32_t inside = vy_build_block(b, nowhere), merge = vy_build_block(b, nowhere);
    uint32_t is_first =
        vy_build_op2(b, VYRE_OP_EQ, VYRE_TYPE_BOOL, whole_of(b)->local, zero, nowhere);
    vy_build_branch(b, is_first, inside, merge, merge);
    vy_build_place(b, inside);
    store_zero(b, b->program->until, zero);
    vy_build_jump(b, merge);
    vy_build_place(b, merge);
    vy_build_barrier(b, nowhere);
}

/* Whether the pass left the flag set; everybody has read it before anybody goes on. */
static uint32_t read_flag(vy_ssa_builder *b)
{
    uint32_t zero = u32_literal(b, 0);
    uint32_t flag = vy_build_ins(
        b, (vy_ins){
               .op = VYRE_OP_LOAD, .type = VYRE_TYPE_U32, .ref = b->program->until, .arg = {zero}});
    vy_build_barrier(b, nowhere);
    return vy_build_op2(b, VYRE_OP_NE, VYRE_TYPE_BOOL, flag, zero, nowhere);
}

static uint32_t load_word(vy_ssa_builder *b, uint32_t word)
{
    return vy_build_ins(
        b, (vy_ins){.op = VY_SSA_SPILL_LOAD, .type = VYRE_TYPE_U32, .ref = word, .loc = nowhere});
}

static void store_word(vy_ssa_builder *b, uint32_t word, uint32_t value)
{
    (void)vy_build_ins(
        b, (vy_ins){.op = VY_SSA_SPILL_STORE, .ref = word, .arg = {value}, .loc = nowhere});
}

static uint32_t choose(vy_ssa_builder *b, uint32_t cond, uint32_t yes, uint32_t no)
{
    return vy_build_ins(b, (vy_ins){.op = VYRE_OP_SELECT,
                                    .type = VYRE_TYPE_U32,
                                    .arg = {cond, yes, no},
                                    .loc = nowhere});
}

/* What the passes begin with. */
typedef struct pass_range {
    uint32_t first, count; /* passes of this launch */
    uint32_t goes;         /* `until`: the launches before have not converged */
    uint32_t before;       /* `until`: passes that they ran */
} pass_range;

static pass_range begin_passes(vy_ssa_builder *b)
{
    pass_range range = {.first = builtin(b, VYRE_BUILTIN_PASS)};
    range.count = vy_build_ins(b, (vy_ins){.op = VY_SSA_HOST_INDEX,
                                           .type = VYRE_TYPE_U32,
                                           .ref = VY_WHOLE_INDEX_PASSES,
                                           .loc = nowhere});
    if (b->program->until) {
        uint32_t zero = u32_literal(b, 0);
        range.before = load_word(b, VY_WHOLE_WORD_PASSES);
        uint32_t converged = load_word(b, VY_WHOLE_WORD_CONVERGED);
        uint32_t is_start = vy_build_op2(b, VYRE_OP_EQ, VYRE_TYPE_BOOL, range.first, zero, nowhere);
        range.goes = vy_build_op2(b, VYRE_OP_EQ, VYRE_TYPE_BOOL, converged, zero, nowhere);
        range.goes =
            vy_build_op2(b, VYRE_OP_LOGICAL_OR, VYRE_TYPE_BOOL, is_start, range.goes, nowhere);
    }
    return range;
}

static void build_pass(vy_ssa_builder *b)
{
    vy_build_assign(b, b->execution_key, u32_literal(b, 0));
    vy_build_steps(b, b->split->first_step);
}

static void build_passes(vy_ssa_builder *b)
{
    pass_range range = begin_passes(b);
    uint32_t before = b->block, goes = 0, goes_on = 0;
    bool has_until = b->program->until != 0;
    vy_loop *loop = vy_build_loop_open(b, nowhere, nowhere);
    if (!loop) {
        return;
    }
    uint32_t at = vy_build_header_phi(b, loop, before, VYRE_TYPE_U32, u32_literal(b, 0), "passes");
    if (has_until) {
        goes = vy_build_header_phi(b, loop, before, VYRE_TYPE_BOOL, range.goes, "goes");
    }
    uint32_t test = vy_build_block(b, nowhere), body = vy_build_block(b, nowhere);
    vy_build_jump(b, test);
    vy_build_place(b, test);
    uint32_t more = vy_build_op2(b, VYRE_OP_LT, VYRE_TYPE_BOOL, at, range.count, nowhere);
    if (has_until) {
        more = vy_build_op2(b, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, more, goes, nowhere);
    }
    vy_build_loop_edge(b, loop, &loop->breaks);
    vy_build_branch(b, more, body, loop->merge, 0);
    vy_build_place(b, body);
    b->pass = vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, range.first, at, nowhere);
    if (has_until) {
        clear_flag(b);
    }
    build_pass(b);
    if (has_until && !vy_build_stopped(b)) {
        goes_on = read_flag(b);
    }
    if (!vy_build_stopped(b) && vy_build_loop_continue(b, loop)) {
        uint32_t next = vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, at, u32_literal(b, 1), nowhere);
        vy_build_close_phi(b, at, next);
        if (has_until) {
            vy_build_close_phi(b, goes, goes_on);
        }
    }
    if (vy_build_stopped(b)) {
        return;
    }
    vy_build_loop_end(b, loop);
    if (has_until) {
        uint32_t sum = vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, range.first, at, nowhere);
        store_word(b, VY_WHOLE_WORD_PASSES, choose(b, range.goes, sum, range.before));
        store_word(b, VY_WHOLE_WORD_CONVERGED,
                   choose(b, goes, u32_literal(b, 0), u32_literal(b, 1)));
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void find_local(whole *w)
{
    vy_ssa_builder *b = &w->b;
    const uint32_t *size = b->program->workgroup;
    w->local = builtin(b, VYRE_BUILTIN_LID_X);
    if (!vy_program_is_workgroup_agnostic(b->program, NULL)) {
        uint32_t stride = size[0];
        for (uint32_t axis = 1; axis < 3; axis++) {
            uint32_t place = builtin(b, (vyre_builtin)(VYRE_BUILTIN_LID_X + axis));
            place =
                vy_build_op2(b, VYRE_OP_MUL, VYRE_TYPE_U32, place, u32_literal(b, stride), nowhere);
            w->local = vy_build_op2(b, VYRE_OP_ADD, VYRE_TYPE_U32, w->local, place, nowhere);
            stride *= size[axis];
        }
        return;
    }
    /* Its size may be another one, and only the first invocation is asked for. */
    for (uint32_t axis = 1; axis < 3; axis++) {
        uint32_t place = builtin(b, (vyre_builtin)(VYRE_BUILTIN_LID_X + axis));
        w->local = vy_build_op2(b, VYRE_OP_OR, VYRE_TYPE_U32, w->local, place, nowhere);
    }
    w->is_element =
        vy_build_ins(b, (vy_ins){.op = VY_SSA_IS_ELEMENT, .type = VYRE_TYPE_BOOL, .loc = nowhere});
}

vyre_result vy_ssa_build_whole(const vyre_program *program, const vy_split *split, vy_arena *arena,
                               vy_arena *scratch, vy_ssa *out_ssa, vyre_diag *diag)
{
    vy_segment all = {.loc = nowhere};
    vy_activation kernel = {0};
    whole w = {.b = {.program = program,
                     .split = split,
                     .segment = &all,
                     .arena = scratch,
                     .ssa = out_ssa,
                     .diag = diag,
                     .activation = &kernel,
                     .depth = 1,
                     .is_whole = true}};
    vy_ssa_builder *b = &w.b;
    for (uint32_t g = 0; g < split->segments.count; g++) {
        all.expr_count += split->segments.data[g].expr_count;
    }
    vy_ssa_init(out_ssa, program, arena);
    out_ssa->scratch = scratch;
    out_ssa->is_whole = true;
    vy_build_begin_tables(b);
    uint32_t entry = vy_ssa_add_block(out_ssa, nowhere);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    vy_build_place(b, entry);
    find_local(&w);
    build_passes(b);
    if (!vy_build_stopped(b)) {
        out_ssa->blocks.data[b->block].end = VY_END_RETURN;
        vy_ssa_reorder(out_ssa, b->order.data, b->order.count);
    }
    vy_build_end_tables(b);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    return b->result;
}
