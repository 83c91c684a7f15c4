/* The lanes of one workgroup: frames of statement lists, the lanes active in each, and what every
 * statement does. Owns nothing; memory is the arena's that vy_machine_init was given. Frames are an
 * array and not the C stack, so that no chain of calls is too deep. */
#include "codegen/interp/machine.h"
#include "codegen/ir/walk.h"

#include <string.h>

uint32_t *vy_frame_block(const vy_machine *m, const vy_frame *frame, vy_block block)
{
    size_t index = (size_t)(frame - m->frames) * VY_BLOCK_COUNT + (size_t)block;
    return m->lane_words + index * m->volume;
}

static vy_frame *top(const vy_machine *m)
{
    return &m->frames[m->depth - 1];
}

/* Space is there: the plan counted the deepest chain. */
static vy_frame *push(vy_machine *m, vy_frame_kind kind, uint32_t stmt, uint32_t next)
{
    vy_frame *frame = &m->frames[m->depth++];
    *frame = (vy_frame){.kind = (uint8_t)kind, .stmt = stmt, .next = next};
    if (m->depth > 1) {
        frame->columns = frame[-1].columns;
        frame->call = frame[-1].call;
    }
    return frame;
}

static void set_active(const vy_machine *m, vy_frame *frame, const uint32_t *lanes, uint32_t count)
{
    memcpy(vy_frame_block(m, frame, VY_BLOCK_ACTIVE), lanes, count * sizeof *lanes);
    frame->active = count;
}

/* Lanes that jumped inside leave the frame below as well, until a loop or a call stops them. */
static void pop(vy_machine *m)
{
    m->depth--;
    if (m->depth == 0 || !m->jumped) {
        return;
    }
    vy_frame *frame = top(m);
    uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE), kept = 0;
    for (uint32_t i = 0; i < frame->active; i++) {
        if (m->states[lanes[i]] == VY_LANE_RUNS) {
            lanes[kept++] = lanes[i];
        }
    }
    frame->active = kept;
}

static void jump(vy_machine *m, vy_frame *frame, vy_lane_state state)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    for (uint32_t i = 0; i < frame->active; i++) {
        m->states[lanes[i]] = (uint8_t)state;
    }
    frame->active = 0;
    m->jumped = true;
}

/* At the end of a trip: whether the lane goes on with the loop. Ends its break or continue. */
static bool stays_in_loop(vy_machine *m, uint32_t lane)
{
    uint8_t state = m->states[lane];
    if (state == VY_LANE_BREAK || state == VY_LANE_CONTINUE) {
        m->states[lane] = VY_LANE_RUNS;
    }
    return state == VY_LANE_RUNS || state == VY_LANE_CONTINUE;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void push_call(vy_machine *m, vy_frame *caller, uint32_t index, const uint32_t *lanes,
                      uint32_t count)
{
    const vyre_program *program = m->program;
    const vy_expr *expr = &program->exprs.data[index];
    const vy_function *function = &program->functions.data[expr->ref];
    for (uint32_t a = 0; a < expr->arg[1] && a < function->parameter_count; a++) {
        uint32_t argument = program->call_args.data[expr->arg[0] + a];
        vyre_type type = (vyre_type)program->exprs.data[argument].type;
        vy_machine_copy(m, m->vars[function->first_parameter + a],
                        vy_machine_column(m, argument, caller->columns), vy_type_components(type),
                        lanes, count);
    }
    /* After the arguments: the result may lie in the columns of one of them. */
    uint64_t *result = vy_machine_column(m, index, caller->columns);
    uint32_t components = vy_type_components((vyre_type)expr->type);
    for (uint32_t c = 0; c < components; c++) {
        for (uint32_t i = 0; i < count; i++) {
            result[(size_t)c * m->volume + lanes[i]] = 0;
        }
    }
    vy_frame *frame = push(m, VY_FRAME_CALL, caller->pending, function->body);
    frame->columns = caller->columns + m->plan->stmt_columns[caller->pending];
    frame->call = m->depth;
    frame->result = result;
    set_active(m, frame, lanes, count);
}

static void finish_call(vy_machine *m, vy_frame *frame)
{
    /* All lanes of the caller run; those that returned here run again. The frame's own list has
     * lost them, so take the caller's. */
    vy_frame *caller = frame - 1;
    bool testing = caller->testing;
    const uint32_t *lanes = vy_frame_block(m, caller, testing ? VY_BLOCK_WAITING : VY_BLOCK_ACTIVE);
    uint32_t count = testing ? caller->waiting : caller->active;
    for (uint32_t i = 0; i < count; i++) {
        m->states[lanes[i]] = VY_LANE_RUNS;
    }
    m->depth--;
}

/* ---- Loops and branches ---------------------------------------------------------------------- */

static void begin_if(vy_machine *m, const vy_frame *parent, uint32_t index)
{
    const vy_stmt *stmt = &m->program->stmts.data[index];
    const uint32_t *lanes = vy_frame_block(m, parent, VY_BLOCK_ACTIVE);
    const uint64_t *condition = vy_machine_column(m, stmt->x.root, parent->columns);
    uint32_t count = parent->active;
    vy_frame *frame = push(m, VY_FRAME_IF, index, stmt->body);
    uint32_t *yes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    uint32_t *no = vy_frame_block(m, frame, VY_BLOCK_WAITING);
    for (uint32_t i = 0; i < count; i++) {
        if (condition[lanes[i]]) {
            yes[frame->active++] = lanes[i];
        } else {
            no[frame->waiting++] = lanes[i];
        }
    }
}

static void finish_if(vy_machine *m, vy_frame *frame)
{
    uint32_t other = m->program->stmts.data[frame->stmt].other;
    if (frame->waiting == 0 || other == 0) {
        pop(m);
        return;
    }
    set_active(m, frame, vy_frame_block(m, frame, VY_BLOCK_WAITING), frame->waiting);
    frame->kind = VY_FRAME_LIST;
    frame->next = other;
}

static bool has_value(const vyre_program *program, const vy_stmt *branch, uint64_t value)
{
    for (uint32_t i = 0; i < branch->value_count; i++) {
        if (program->values.data[branch->first_value + i] == value) {
            return true;
        }
    }
    return false;
}

/* The CASE of a selector's value, or 0. */
static uint32_t find_case(const vyre_program *program, const vy_stmt *stmt, uint64_t value)
{
    uint32_t fallback = 0;
    for (uint32_t c = stmt->body; c; c = program->stmts.data[c].next) {
        const vy_stmt *branch = &program->stmts.data[c];
        if (branch->value_count == 0) {
            fallback = c;
        } else if (has_value(program, branch, value)) {
            return c;
        }
    }
    return fallback;
}

static void begin_switch(vy_machine *m, const vy_frame *parent, uint32_t index)
{
    const vy_stmt *stmt = &m->program->stmts.data[index];
    const uint32_t *lanes = vy_frame_block(m, parent, VY_BLOCK_ACTIVE);
    const uint64_t *selector = vy_machine_column(m, stmt->x.root, parent->columns);
    vy_frame *frame = push(m, VY_FRAME_SWITCH, index, 0);
    uint32_t *inside = vy_frame_block(m, frame, VY_BLOCK_WAITING);
    uint32_t *chosen = vy_frame_block(m, frame, VY_BLOCK_A);
    frame->waiting = parent->active;
    frame->next_case = stmt->body;
    for (uint32_t i = 0; i < frame->waiting; i++) {
        inside[i] = lanes[i];
        bool again = i && selector[lanes[i]] == selector[lanes[i - 1]];
        chosen[i] = again ? chosen[i - 1] : find_case(m->program, stmt, selector[lanes[i]]);
    }
}

/* Takes the next case that some lane chose. */
static void next_case(vy_machine *m, vy_frame *frame)
{
    const uint32_t *inside = vy_frame_block(m, frame, VY_BLOCK_WAITING);
    const uint32_t *chosen = vy_frame_block(m, frame, VY_BLOCK_A);
    uint32_t *active = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    frame->active = 0;
    while (frame->next_case && frame->active == 0) {
        const vy_stmt *branch = &m->program->stmts.data[frame->next_case];
        for (uint32_t i = 0; i < frame->waiting; i++) {
            if (chosen[i] == frame->next_case) {
                active[frame->active++] = inside[i];
            }
        }
        frame->next = branch->body;
        frame->next_case = branch->next;
    }
    if (frame->active == 0) {
        pop(m);
    }
}

static void begin_trip(vy_machine *m, vy_frame *frame)
{
    const vy_stmt *stmt = &m->program->stmts.data[frame->stmt];
    if (frame->waiting == 0) {
        pop(m);
        return;
    }
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_WAITING);
    set_active(m, frame, lanes, frame->waiting);
    frame->next = stmt->body;
    if (frame->kind == VY_FRAME_FOR) {
        const uint32_t *value = vy_frame_block(m, frame, VY_BLOCK_A);
        uint64_t *index = m->vars[stmt->result];
        for (uint32_t i = 0; i < frame->waiting; i++) {
            index[lanes[i]] = value[lanes[i]];
        }
    }
}

static void begin_for(vy_machine *m, const vy_frame *parent, uint32_t index)
{
    const vy_stmt *stmt = &m->program->stmts.data[index];
    const uint32_t *lanes = vy_frame_block(m, parent, VY_BLOCK_ACTIVE);
    const uint64_t *from = vy_machine_column(m, stmt->x.root, parent->columns);
    const uint64_t *to = vy_machine_column(m, stmt->y.root, parent->columns);
    const uint64_t *steps =
        stmt->z.root ? vy_machine_column(m, stmt->z.root, parent->columns) : NULL;
    vyre_type type = (vyre_type)m->program->vars.data[stmt->result].type;
    uint32_t count = parent->active;
    vy_frame *frame = push(m, VY_FRAME_FOR, index, 0);
    uint32_t *inside = vy_frame_block(m, frame, VY_BLOCK_WAITING);
    uint32_t *values = vy_frame_block(m, frame, VY_BLOCK_A);
    uint32_t *step = vy_frame_block(m, frame, VY_BLOCK_B);
    uint32_t *trips = vy_frame_block(m, frame, VY_BLOCK_C);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i], first = (uint32_t)from[lane], end = (uint32_t)to[lane];
        const uint64_t pair[2] = {first, end};
        if (!vy_interp_eval(VYRE_OP_LT, VYRE_TYPE_BOOL, type, pair, false)) {
            continue;
        }
        step[lane] = steps && steps[lane] ? (uint32_t)steps[lane] : 1;
        trips[lane] = (end - first - 1) / step[lane] + 1;
        values[lane] = stmt->down ? end - 1 : first;
        inside[frame->waiting++] = lane;
    }
    begin_trip(m, frame);
}

static void next_for_trip(vy_machine *m, vy_frame *frame)
{
    bool down = m->program->stmts.data[frame->stmt].down;
    uint32_t *inside = vy_frame_block(m, frame, VY_BLOCK_WAITING), kept = 0;
    uint32_t *values = vy_frame_block(m, frame, VY_BLOCK_A);
    const uint32_t *step = vy_frame_block(m, frame, VY_BLOCK_B);
    uint32_t *trips = vy_frame_block(m, frame, VY_BLOCK_C);
    for (uint32_t i = 0; i < frame->waiting; i++) {
        uint32_t lane = inside[i];
        if (stays_in_loop(m, lane) && --trips[lane] > 0) {
            values[lane] = down ? values[lane] - step[lane] : values[lane] + step[lane];
            inside[kept++] = lane;
        }
    }
    frame->waiting = kept;
    begin_trip(m, frame);
}

static void begin_while(vy_machine *m, const vy_frame *parent, uint32_t index)
{
    vy_frame *frame = push(m, VY_FRAME_WHILE, index, 0);
    memcpy(vy_frame_block(m, frame, VY_BLOCK_WAITING), vy_frame_block(m, parent, VY_BLOCK_ACTIVE),
           parent->active * sizeof(uint32_t));
    frame->waiting = parent->active;
    frame->testing = true;
    frame->budget = m->program->loop_limit;
}

/* The condition has been evaluated. A loop with a barrier counts its own trips, so that all lanes
 * leave it together; the others share a budget. */
static void decide_while(vy_machine *m, vy_frame *frame)
{
    const vy_stmt *stmt = &m->program->stmts.data[frame->stmt];
    bool own = m->plan->has_barrier[frame->stmt];
    const uint64_t *condition = vy_machine_column(m, stmt->x.root, frame->columns);
    uint32_t *inside = vy_frame_block(m, frame, VY_BLOCK_WAITING), kept = 0;
    for (uint32_t i = 0; i < frame->waiting; i++) {
        uint32_t lane = inside[i];
        uint32_t *budget = own ? &frame->budget : &m->budgets[lane];
        if (!condition[lane]) {
            continue;
        }
        if (*budget == 0) {
            vy_machine_record(m, stmt, lane, frame->columns);
            continue;
        }
        *budget -= own ? 0 : 1;
        inside[kept++] = lane;
    }
    frame->budget -= own && kept;
    frame->waiting = kept;
    frame->testing = false;
    begin_trip(m, frame);
}

static void next_while_trip(vy_machine *m, vy_frame *frame)
{
    uint32_t *inside = vy_frame_block(m, frame, VY_BLOCK_WAITING), kept = 0;
    for (uint32_t i = 0; i < frame->waiting; i++) {
        if (stays_in_loop(m, inside[i])) {
            inside[kept++] = inside[i];
        }
    }
    frame->waiting = kept;
    frame->testing = kept > 0;
    if (kept == 0) {
        pop(m);
    }
}

static void finish(vy_machine *m, vy_frame *frame)
{
    switch ((vy_frame_kind)frame->kind) {
    case VY_FRAME_STRETCH:
    case VY_FRAME_LIST:
        pop(m);
        return;
    case VY_FRAME_IF:
        finish_if(m, frame);
        return;
    case VY_FRAME_SWITCH:
        next_case(m, frame);
        return;
    case VY_FRAME_FOR:
        next_for_trip(m, frame);
        return;
    case VY_FRAME_WHILE:
        next_while_trip(m, frame);
        return;
    case VY_FRAME_CALL:
        finish_call(m, frame);
        return;
    }
}

static void give_back(vy_machine *m, vy_frame *frame, const vy_stmt *stmt)
{
    if (frame->call && stmt->x.root) {
        vyre_type type = (vyre_type)m->program->exprs.data[stmt->x.root].type;
        vy_machine_copy(m, m->frames[frame->call - 1].result,
                        vy_machine_column(m, stmt->x.root, frame->columns),
                        vy_type_components(type), vy_frame_block(m, frame, VY_BLOCK_ACTIVE),
                        frame->active);
    }
    jump(m, frame, VY_LANE_RETURN);
}

static void push_list(vy_machine *m, const vy_frame *parent, uint32_t index)
{
    vy_frame *frame = push(m, VY_FRAME_LIST, index, m->program->stmts.data[index].body);
    set_active(m, frame, vy_frame_block(m, parent, VY_BLOCK_ACTIVE), parent->active);
}

/* The statement's expressions have been evaluated; some lane is active. */
static void execute(vy_machine *m, vy_frame *frame, uint32_t index)
{
    const vy_stmt *stmt = &m->program->stmts.data[index];
    switch ((int)stmt->kind) {
    case VY_STMT_IF:
        begin_if(m, frame, index);
        return;
    case VY_STMT_SWITCH:
        begin_switch(m, frame, index);
        return;
    case VY_STMT_FOR:
        begin_for(m, frame, index);
        return;
    case VY_STMT_WHILE:
        begin_while(m, frame, index);
        return;
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        push_list(m, frame, index);
        return;
    case VY_STMT_BREAK:
        jump(m, frame, VY_LANE_BREAK);
        return;
    case VY_STMT_CONTINUE:
        jump(m, frame, VY_LANE_CONTINUE);
        return;
    case VY_STMT_RETURN:
        give_back(m, frame, stmt);
        return;
    default:
        vy_machine_execute(m, frame, stmt);
        return;
    }
}

/* ---- The walk -------------------------------------------------------------------------------- */

static uint32_t next_statement(const vy_machine *m, vy_frame *frame)
{
    if (frame->active == 0) {
        return 0;
    }
    if (frame->kind == VY_FRAME_STRETCH) {
        return frame->next < m->stretch_count
                   ? m->plan->stretch_stmts.data[m->stretch_first + frame->next++]
                   : 0;
    }
    uint32_t stmt = frame->next;
    if (stmt) {
        frame->next = m->program->stmts.data[stmt].next;
    }
    return stmt;
}

/* Evaluates what is left of the pending statement's expressions; false where a call comes first. */
static bool evaluate(vy_machine *m, vy_frame *frame)
{
    const vy_stmt *stmt = &m->program->stmts.data[frame->pending];
    vy_block block = frame->testing ? VY_BLOCK_WAITING : VY_BLOCK_ACTIVE;
    const uint32_t *lanes = vy_frame_block(m, frame, block);
    uint32_t count = frame->testing ? frame->waiting : frame->active;
    for (; frame->phase < 3; frame->phase++, frame->entry = 0) {
        const vy_range *range = frame->phase == 0   ? &stmt->x
                                : frame->phase == 1 ? &stmt->y
                                                    : &stmt->z;
        if (range->root == 0) {
            continue;
        }
        for (uint32_t e = frame->entry ? frame->entry : range->begin; e < range->end; e++) {
            if (m->program->exprs.data[e].op == VYRE_OP_CALL) {
                frame->entry = e + 1;
                push_call(m, frame, e, lanes, count);
                return false;
            }
            vy_machine_eval_entry(m, e, frame->columns, lanes, count);
        }
    }
    return true;
}

static void step(vy_machine *m)
{
    vy_frame *frame = top(m);
    if (frame->pending == 0) {
        frame->pending = frame->testing ? frame->stmt : next_statement(m, frame);
        frame->phase = 0;
        frame->entry = 0;
    }
    if (frame->pending == 0) {
        finish(m, frame);
        return;
    }
    if (m->program->stmts.data[frame->pending].kind == VY_STMT_PRINTF && !m->print) {
        frame->pending = 0;
        return;
    }
    /* The condition of a `while` belongs to the loop's own frame, before each trip. */
    bool is_while = !frame->testing && m->program->stmts.data[frame->pending].kind == VY_STMT_WHILE;
    if (!is_while && !evaluate(m, frame)) {
        return;
    }
    uint32_t stmt = frame->pending;
    frame->pending = 0;
    if (frame->testing) {
        decide_while(m, frame);
    } else {
        execute(m, frame, stmt);
    }
}

static void set_group(vy_machine *m, uint32_t index)
{
    const uint32_t *groups = m->bound->groups;
    m->group_index = index;
    m->group[0] = index % groups[0];
    m->group[1] = index / groups[0] % groups[1];
    m->group[2] = index / groups[0] / groups[1];
    for (uint32_t i = 0; i < m->kept_count; i++) {
        uint32_t var = m->kept_vars[i];
        m->vars[var] = m->kept_values[i] + vy_machine_var_size(m, var) * index;
    }
}

void vy_machine_begin_segment(vy_machine *m)
{
    vy_race_segment(&m->races);
    m->segment_recorded = false;
    if (m->kept_count == 0 || m->bound->group_count == 0) {
        return;
    }
    set_group(m, 0);
    for (uint32_t i = 0; i < m->stretch_count; i++) {
        uint32_t stmt = m->plan->stretch_stmts.data[m->stretch_first + i];
        uint32_t var = vy_declared_variable(&m->program->stmts.data[stmt]);
        if (var && m->plan->is_kept[var]) {
            /* The first workgroup's values are followed by those of all others. */
            memset(m->vars[var], 0,
                   vy_machine_var_size(m, var) * m->bound->group_count * sizeof *m->vars[var]);
        }
    }
}

static bool is_inside(const vy_machine *m, uint32_t lane)
{
    for (int i = 0; i < 3; i++) {
        uint32_t at = m->group[i] * m->bound->size[i] + m->local_ids[i][lane];
        if (at >= m->bound->elements[i]) {
            return false;
        }
    }
    return true;
}

void vy_machine_run_group(vy_machine *m, uint32_t index)
{
    set_group(m, index);
    vy_race_group(&m->races);
    vy_frame *frame = push(m, VY_FRAME_STRETCH, 0, 0);
    uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    for (uint32_t lane = 0; lane < m->volume; lane++) {
        m->budgets[lane] = m->program->loop_limit;
        m->states[lane] = VY_LANE_RUNS;
        if (!m->bound->limited || is_inside(m, lane)) {
            lanes[frame->active++] = lane;
        }
    }
    m->jumped = false;
    for (uint32_t i = 1; i < m->program->buffers.count; i++) {
        const vy_memory *memory = &m->buffers[i];
        if (m->program->buffers.data[i].mode == VYRE_BUFFER_SHARED) {
            memset(memory->bytes, 0, (size_t)memory->count * memory->element_size);
        }
    }
    while (m->depth) {
        step(m);
    }
}
