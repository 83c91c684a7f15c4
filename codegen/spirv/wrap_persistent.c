/* The entry point for workgroups that stay: as few as fill the card are launched. In each step of
 * the schedule, which the host has written beside the parameter block, they walk the logical
 * workgroups of one segment, launched workgroup w those of number w, w + launched, ...; where the
 * schedule says so, and before the first step, all meet.
 *
 * A logical workgroup is run by the same launched one in every step, so what an invocation spills
 * is its own. What steps and passes change is given to the bodies in Private variables, and so are
 * the words that they read of the parameter block: these are read once, since after each meeting
 * they would come from far again; rows of the schedule are read one step ahead. */
#include "codegen/spirv/emit.h"

/* ---- What the bodies are given --------------------------------------------------------------- */

static uint32_t held(vy_emitter *emitter, uint32_t *variable, const char *name)
{
    vy_module *m = &emitter->module;
    if (!*variable) {
        *variable = vy_global_variable(m, SpvStorageClassPrivate, vy_type_u32(m), 0);
        vy_module_name(m, *variable, name);
    }
    return *variable;
}

static uint32_t param_word(vy_emitter *emitter, uint32_t word)
{
    uint32_t variable = held(emitter, &emitter->held_params[word], "vy_param");
    return vy_u1(&emitter->module, SpvOpLoad, variable);
}

static uint32_t held_push(vy_emitter *emitter, uint32_t byte)
{
    const char *name = byte == VY_PUSH_PASS        ? "vy_pass"
                       : byte == VY_PUSH_EXECUTION ? "vy_step"
                                                   : "vy_host_index";
    return held(emitter, &emitter->held_push[byte / 4], name);
}

/* Of the body's words; in the entry point too. */
static uint32_t push_word(vy_emitter *emitter, uint32_t byte)
{
    uint32_t variable = held_push(emitter, byte);
    return vy_u1(&emitter->module, SpvOpLoad, variable);
}

static uint32_t turn(vy_emitter *emitter)
{
    uint32_t pass_index = push_word(emitter, VY_PUSH_PASS);
    return vy_u2c(&emitter->module, SpvOpBitwiseAnd, pass_index, VY_STATE_TURNS - 1);
}

static uint32_t leads(vy_emitter *emitter)
{
    uint32_t step = push_word(emitter, VY_PUSH_EXECUTION);
    return vy_b2c(&emitter->module, SpvOpIEqual, step, 0);
}

/* ---- The entry point ------------------------------------------------------------------------- */

typedef struct vy_walk {
    uint32_t first, launched, leader; /* this workgroup, of how many; a bool */
    uint32_t groups[3], total;
    uint32_t from, passes;        /* of this launch: passes from .. passes - 1, ... */
    uint32_t begin, end;          /* ... steps begin .. end - 1 of each */
    uint32_t patience, sync;      /* times to look; pointer to the sync word */
    uint32_t row, goal, arrivals; /* variables: of the next step; what the sync word must reach; of
                                     the workgroup, what its leader saw */
    /* Variables, of the step behind the next one: its row, and the loop indices that are held. It
     * is on its way while all meet. */
    uint32_t ahead, ahead_indices[VYRE_MAX_HOST_LOOPS];
} vy_walk;

static uint32_t load(vy_emitter *emitter, uint32_t variable)
{
    return vy_u1(&emitter->module, SpvOpLoad, variable);
}

static void store(vy_emitter *emitter, uint32_t variable, uint32_t value)
{
    vy_effect(&emitter->module, SpvOpStore, VY_LIST(variable, value));
}

/* What the launch was given. */
static uint32_t pushed(vy_emitter *emitter, uint32_t byte)
{
    return load(emitter, vy_push_pointer(emitter, byte));
}

/* A word of the schedule, at an index that no module knows: it lies in memory, since not every
 * device has as much of a uniform block. */
static uint32_t schedule_word(vy_emitter *emitter, uint32_t index)
{
    uint32_t slot = emitter->ssa->program->binding_count + VY_HIDDEN_SCHEDULE;
    uint32_t pointer = emitter->addressing->element(emitter, slot, VY_CELL_32, index);
    return vy_emit_load_word(emitter, pointer, emitter->addressing->access);
}

static uint32_t tail_start(const vy_emitter *emitter)
{
    const vyre_program *program = emitter->ssa->program;
    return vy_param_words(program->binding_count, program->param_words);
}

static void fill_held(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t count = tail_start(emitter), veil = vy_emit_param_veil(emitter);
    for (uint32_t w = 0; w < count; w++) {
        if (emitter->held_params[w]) {
            uint32_t value = vy_emit_param_word(emitter, w);
            store(emitter, emitter->held_params[w], vy_u2(m, SpvOpBitwiseXor, value, veil));
        }
    }
}

/* Reads a step's row: its segment, and the loop indices that bodies ask for. Nobody waits for it
 * before take_row. */
static void fetch_row(vy_emitter *emitter, const vy_walk *w, uint32_t step)
{
    vy_module *m = &emitter->module;
    uint32_t first = vy_u2c(m, SpvOpIMul, step, VY_ROW_WORDS);
    for (uint32_t i = 0; i < VYRE_MAX_HOST_LOOPS; i++) {
        if (w->ahead_indices[i]) {
            uint32_t place = vy_u2c(m, SpvOpIAdd, first, VY_ROW_INDICES + i);
            store(emitter, w->ahead_indices[i], schedule_word(emitter, place));
        }
    }
    store(emitter, w->ahead, schedule_word(emitter, first));
}

/* What was fetched is the next step's. */
static uint32_t take_row(vy_emitter *emitter, const vy_walk *w)
{
    for (uint32_t i = 0; i < VYRE_MAX_HOST_LOOPS; i++) {
        if (w->ahead_indices[i]) {
            uint32_t variable = emitter->held_push[VY_PUSH_INDICES / 4 + i];
            store(emitter, variable, load(emitter, w->ahead_indices[i]));
        }
    }
    return load(emitter, w->ahead);
}

/* The step behind that one, in the same pass or the next. */
static uint32_t step_behind(vy_emitter *emitter, const vy_walk *w, uint32_t step,
                            uint32_t *out_is_end)
{
    vy_module *m = &emitter->module;
    uint32_t one = vy_const_u32(m, 1), next = vy_u2(m, SpvOpIAdd, step, one);
    *out_is_end = vy_b2(m, SpvOpUGreaterThanEqual, next, w->end);
    return vy_select_u(m, *out_is_end, w->begin, next);
}

static vy_walk begin_walk(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vyre_program *program = emitter->ssa->program;
    uint32_t type = vy_type_u32(m), zero = vy_const_u32(m, 0);
    vy_walk w;
    fill_held(emitter);
    uint32_t id = vy_emit_builtin_variable(emitter, SpvBuiltInWorkgroupId);
    uint32_t size = vy_emit_builtin_variable(emitter, SpvBuiltInNumWorkgroups);
    uint32_t local = vy_emit_local_index(emitter);
    w.first = vy_extract(m, type, id, 0);
    w.launched = vy_extract(m, type, size, 0);
    w.leader = vy_b2(m, SpvOpIEqual, local, zero);
    for (uint32_t axis = 0; axis < 3; axis++) {
        w.groups[axis] = vy_emit_param_word(emitter, VY_PARAM_GROUPS + axis);
    }
    w.total = vy_emit_param_word(emitter, VY_PARAM_GROUP_TOTAL);
    w.from = pushed(emitter, VY_PUSH_PASS);
    w.passes = pushed(emitter, VY_PUSH_LAUNCH_PASSES);
    w.passes = vy_u2(m, SpvOpIAdd, w.from, w.passes);
    w.begin = pushed(emitter, VY_PUSH_LAUNCH_FIRST);
    w.end = pushed(emitter, VY_PUSH_LAUNCH_END);
    w.patience = vy_emit_param_word(emitter, tail_start(emitter) + VY_TAIL_PATIENCE);
    uint32_t slot = program->binding_count + VY_HIDDEN_SYNC;
    w.sync = emitter->addressing->element(emitter, slot, VY_CELL_32, zero);
    w.row = w.goal = w.ahead = 0;
    (void)held(emitter, &w.row, "vy_row");
    (void)held(emitter, &w.ahead, "vy_ahead");
    for (uint32_t i = 0; i < VYRE_MAX_HOST_LOOPS; i++) {
        w.ahead_indices[i] = 0;
        if (emitter->held_push[VY_PUSH_INDICES / 4 + i]) {
            (void)held(emitter, &w.ahead_indices[i], "vy_ahead_index");
        }
    }
    (void)held(emitter, &w.goal, "vy_goal");
    (void)held_push(emitter, VY_PUSH_PASS);
    (void)held_push(emitter, VY_PUSH_EXECUTION);
    w.arrivals = vy_global_variable(m, SpvStorageClassWorkgroup, type, 0);
    vy_module_name(m, w.arrivals, "vy_arrivals");
    return w;
}

/* ---- Meeting --------------------------------------------------------------------------------- */

/* while ((seen = *sync) < goal && looks++ < patience); in the leader. Gives what was seen last. */
static uint32_t spin(vy_emitter *emitter, const vy_walk *w, uint32_t goal, uint32_t before)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), zero = vy_const_u32(m, 0);
    uint32_t scope = vy_emit_device_scope(emitter);
    uint32_t header = vy_module_id(m), look = vy_module_id(m), again = vy_module_id(m);
    uint32_t done = vy_module_id(m), next = vy_module_id(m);
    vy_jump(m, header);
    vy_label(m, header);
    uint32_t looks = vy_value(m, SpvOpPhi, type, VY_LIST(zero, before, next, again));
    vy_effect(m, SpvOpLoopMerge, VY_LIST(done, again, SpvLoopControlMaskNone));
    vy_jump(m, look);
    vy_label(m, look);
    uint32_t seen = vy_value(m, SpvOpAtomicLoad, type, VY_LIST(w->sync, scope, zero));
    uint32_t waits = vy_b2(m, SpvOpULessThan, seen, goal);
    uint32_t may = vy_b2(m, SpvOpULessThan, looks, w->patience);
    uint32_t goes_on = vy_b2(m, SpvOpLogicalAnd, waits, may);
    vy_effect(m, SpvOpBranchConditional, VY_LIST(goes_on, again, done));
    vy_label(m, again);
    uint32_t one = vy_const_u32(m, 1);
    vy_effect(m, SpvOpIAdd, VY_LIST(type, next, looks, one));
    vy_jump(m, header);
    vy_label(m, done);
    return seen;
}

/* What the leader does: arrives, which releases; waits; acquires. */
static void lead(vy_emitter *emitter, const vy_walk *w, uint32_t goal, uint32_t block)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), zero = vy_const_u32(m, 0), one = vy_const_u32(m, 1);
    uint32_t scope = vy_emit_device_scope(emitter);
    uint32_t releases = vy_const_u32(m, (uint32_t)SpvMemorySemanticsReleaseMask |
                                            (uint32_t)SpvMemorySemanticsUniformMemoryMask |
                                            emitter->target->release);
    uint32_t acquires = vy_const_u32(m, (uint32_t)SpvMemorySemanticsAcquireMask |
                                            (uint32_t)SpvMemorySemanticsUniformMemoryMask |
                                            emitter->target->acquire);
    (void)vy_value(m, SpvOpAtomicIAdd, type, VY_LIST(w->sync, scope, releases, one));
    uint32_t seen = spin(emitter, w, goal, block);
    uint32_t stalled = vy_const_u32(m, VY_SYNC_STALLED);
    uint32_t gives_up = vy_module_id(m), goes_on = vy_module_id(m);
    uint32_t is_short = vy_b2(m, SpvOpULessThan, seen, goal);
    vy_if(m, is_short, gives_up, goes_on, goes_on);
    vy_label(m, gives_up);
    (void)vy_value(m, SpvOpAtomicOr, type, VY_LIST(w->sync, scope, zero, stalled));
    vy_jump(m, goes_on);
    vy_label(m, goes_on);
    uint32_t shown = vy_select_u(m, is_short, stalled, seen);
    vy_emit_store_word(emitter, w->arrivals, shown, emitter->target->shared_access);
    vy_effect(m, SpvOpMemoryBarrier, VY_LIST(scope, acquires));
}

/* All launched workgroups; whether somebody waited in vain. Begun in a block of its own. */
static uint32_t meet(vy_emitter *emitter, const vy_walk *w)
{
    vy_module *m = &emitter->module;
    vy_emit_full_barrier(emitter);
    uint32_t goal = load(emitter, w->goal);
    goal = vy_u2(m, SpvOpIAdd, goal, w->launched);
    store(emitter, w->goal, goal);
    uint32_t leads = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, w->leader, leads, merge, merge);
    vy_label(m, leads);
    lead(emitter, w, goal, leads);
    vy_jump(m, merge);
    vy_label(m, merge);
    vy_emit_full_barrier(emitter);
    uint32_t shown = vy_emit_load_word(emitter, w->arrivals, emitter->target->shared_access);
    return vy_b2c(m, SpvOpUGreaterThanEqual, shown, VY_SYNC_STALLED);
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* The logical workgroup of that number, as a vector; most grids have one dimension, and a division
 * takes long. Ends in the block *out_block. */
static uint32_t group_of(vy_emitter *emitter, const vy_walk *w, uint32_t number, uint32_t before,
                         uint32_t *out_block, uint32_t out_group[3])
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m), zero = vy_const_u32(m, 0);
    uint32_t divide = vy_module_id(m), merge = vy_module_id(m);
    uint32_t is_flat = vy_b2(m, SpvOpIEqual, w->groups[0], w->total);
    vy_if(m, is_flat, merge, divide, merge);
    vy_label(m, divide);
    uint32_t x = vy_u2(m, SpvOpUMod, number, w->groups[0]);
    uint32_t row = vy_u2(m, SpvOpUDiv, number, w->groups[0]);
    uint32_t y = vy_u2(m, SpvOpUMod, row, w->groups[1]);
    uint32_t z = vy_u2(m, SpvOpUDiv, row, w->groups[1]);
    vy_jump(m, merge);
    vy_label(m, merge);
    out_group[0] = vy_value(m, SpvOpPhi, type, VY_LIST(number, before, x, divide));
    out_group[1] = vy_value(m, SpvOpPhi, type, VY_LIST(zero, before, y, divide));
    out_group[2] = vy_value(m, SpvOpPhi, type, VY_LIST(zero, before, z, divide));
    *out_block = merge;
    return vy_value(m, SpvOpCompositeConstruct, vy_type_u32_vector(m, 3), out_group, 3);
}

static bool uses_shared(const vy_emitter *emitter, const bool *is_used)
{
    bool is_any = false;
    for (uint32_t i = 0; i < emitter->ssa->program->buffers.count; i++) {
        is_any = is_any || is_used[i];
    }
    return is_any;
}

/* One logical workgroup, in the block `block`. */
static void call_body(vy_emitter *emitter, const vy_walk *w, uint32_t segment, uint32_t number,
                      uint32_t block)
{
    vy_module *m = &emitter->module;
    const bool *is_used =
        emitter->bodies_shared + (size_t)segment * emitter->ssa->program->buffers.count;
    uint32_t nothing = vy_type_void(m), axes[3], merge = 0;
    uint32_t group = group_of(emitter, w, number, block, &block, axes);
    if (emitter->options->agnostic) {
        uint32_t inside = vy_module_id(m);
        uint32_t beyond = vy_wrap_is_beyond_elements(emitter, axes);
        merge = vy_module_id(m);
        vy_if(m, beyond, merge, inside, merge);
        vy_label(m, inside);
    }
    (void)vy_wrap_clear_shared(emitter, is_used, block);
    (void)vy_value(m, SpvOpFunctionCall, nothing, VY_LIST(emitter->bodies[segment], group));
    if (uses_shared(emitter, is_used)) {
        vy_label(m, vy_emit_barrier_ways(emitter)); /* before the next one makes it zero */
    }
    if (merge) {
        vy_jump(m, merge);
        vy_label(m, merge);
    }
}

/* for (g = first; g < total; g += launched): totals are below 2^31. Begun in `before`; ends in a
 * jump to `after`. */
static void walk_segment(vy_emitter *emitter, const vy_walk *w, uint32_t segment, uint32_t before,
                         uint32_t after)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m);
    uint32_t header = vy_module_id(m), body = vy_module_id(m), again = vy_module_id(m);
    uint32_t merge = vy_module_id(m), next = vy_module_id(m);
    vy_jump(m, header);
    vy_label(m, header);
    uint32_t number = vy_value(m, SpvOpPhi, type, VY_LIST(w->first, before, next, again));
    uint32_t more = vy_b2(m, SpvOpULessThan, number, w->total);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, again, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_label(m, body);
    call_body(emitter, w, segment, number, body);
    vy_jump(m, again);
    vy_label(m, again);
    vy_effect(m, SpvOpIAdd, VY_LIST(type, next, number, w->launched));
    vy_jump(m, header);
    vy_label(m, merge);
    vy_jump(m, after);
}

/* The segment of the row, by a switch; `after` is the block behind it. */
static void run_step(vy_emitter *emitter, const vy_walk *w, uint32_t row, uint32_t after)
{
    vy_module *m = &emitter->module;
    uint32_t segment = vy_u2c(m, SpvOpBitwiseAnd, row, ~VY_ROW_MEETS);
    uint32_t count = emitter->segment_count;
    vy_words operands = {0};
    vy_words_append(m->arena, &operands, VY_LIST(segment, after));
    uint32_t *labels = vy_arena_alloc(m->arena, count, sizeof *labels);
    for (uint32_t i = 0; labels && i < count; i++) {
        labels[i] = vy_module_id(m);
        vy_words_append(m->arena, &operands, VY_LIST(i, labels[i]));
    }
    vy_effect(m, SpvOpSelectionMerge, VY_LIST(after, SpvSelectionControlMaskNone));
    vy_effect(m, SpvOpSwitch, operands.data, operands.count);
    for (uint32_t i = 0; labels && i < count; i++) {
        vy_label(m, labels[i]);
        walk_segment(emitter, w, i, labels[i], after);
    }
}

/* The next step, whose row is 0 behind the last one. The row of the step behind it is asked for. */
static void advance(vy_emitter *emitter, const vy_walk *w)
{
    vy_module *m = &emitter->module;
    uint32_t step_variable = emitter->held_push[VY_PUSH_EXECUTION / 4];
    uint32_t pass_variable = emitter->held_push[VY_PUSH_PASS / 4];
    uint32_t zero = vy_const_u32(m, 0), one = vy_const_u32(m, 1), is_end, unused;
    uint32_t pass = load(emitter, pass_variable);
    uint32_t step = step_behind(emitter, w, load(emitter, step_variable), &is_end);
    uint32_t next = vy_u2(m, SpvOpIAdd, pass, one);
    pass = vy_select_u(m, is_end, next, pass);
    store(emitter, step_variable, step);
    store(emitter, pass_variable, pass);
    uint32_t row = take_row(emitter, w);
    uint32_t is_over = vy_b2(m, SpvOpUGreaterThanEqual, pass, w->passes);
    store(emitter, w->row, vy_select_u(m, is_over, zero, row));
    fetch_row(emitter, w, step_behind(emitter, w, step, &unused));
}

/* At the first step of a pass of a program with `until`, in the block `before`: whether the
 * fixpoint is over. Then nothing of the flag is left, so that later launches see it too. Ends in
 * the block *out_block. */
static uint32_t look_at_flag(vy_emitter *emitter, const vy_walk *w, uint32_t before,
                             uint32_t *out_block)
{
    vy_module *m = &emitter->module;
    uint32_t looks = vy_module_id(m), seen = vy_module_id(m), ends = vy_module_id(m);
    uint32_t ended = vy_module_id(m), merge = vy_module_id(m);
    uint32_t step = load(emitter, emitter->held_push[VY_PUSH_EXECUTION / 4]);
    uint32_t is_first = vy_b2(m, SpvOpIEqual, step, w->begin);
    vy_if(m, is_first, looks, merge, merge);
    vy_label(m, looks);
    uint32_t is_over = vy_emit_gate(emitter);
    vy_jump(m, seen);
    vy_label(m, seen);
    uint32_t is_one = vy_b2c(m, SpvOpIEqual, w->first, 0);
    is_one = vy_b2(m, SpvOpLogicalAnd, is_one, w->leader);
    is_one = vy_b2(m, SpvOpLogicalAnd, is_one, is_over);
    vy_if(m, is_one, ends, ended, ended);
    vy_label(m, ends);
    vy_emit_end_flag(emitter);
    vy_jump(m, ended);
    vy_label(m, ended);
    vy_jump(m, merge);
    vy_label(m, merge);
    *out_block = merge;
    uint32_t no = vy_const_bool(m, false);
    return vy_value(m, SpvOpPhi, vy_type_bool(m), VY_LIST(no, before, is_over, ended));
}

static void emit_loop(vy_emitter *emitter, const vy_walk *w)
{
    vy_module *m = &emitter->module;
    uint32_t boolean = vy_type_bool(m), no = vy_const_bool(m, false);
    uint32_t header = vy_module_id(m), check = vy_module_id(m), meeting = vy_module_id(m);
    uint32_t met = vy_module_id(m), run = vy_module_id(m), after = vy_module_id(m);
    uint32_t again = vy_module_id(m), done = vy_module_id(m), from = vy_module_id(m);
    vy_jump(m, header);
    vy_label(m, header);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(done, again, SpvLoopControlMaskNone));
    vy_jump(m, check);
    vy_label(m, check);
    uint32_t row = load(emitter, w->row);
    uint32_t meets = vy_b2c(m, SpvOpUGreaterThanEqual, row, VY_ROW_MEETS);
    vy_if(m, meets, meeting, met, met);
    vy_label(m, meeting);
    uint32_t is_stalled = meet(emitter, w);
    vy_jump(m, from);
    vy_label(m, from);
    vy_jump(m, met);
    vy_label(m, met);
    uint32_t stalled = vy_value(m, SpvOpPhi, boolean, VY_LIST(no, check, is_stalled, from));
    uint32_t pass = load(emitter, emitter->held_push[VY_PUSH_PASS / 4]);
    uint32_t is_over = vy_b2(m, SpvOpUGreaterThanEqual, pass, w->passes);
    is_over = vy_b2(m, SpvOpLogicalOr, is_over, stalled);
    if (emitter->ssa->program->until) {
        uint32_t flag = vy_module_id(m), block = flag;
        vy_effect(m, SpvOpBranchConditional, VY_LIST(is_over, done, flag));
        vy_label(m, flag);
        is_over = look_at_flag(emitter, w, flag, &block);
    }
    vy_effect(m, SpvOpBranchConditional, VY_LIST(is_over, done, run));
    vy_label(m, run);
    run_step(emitter, w, row, after);
    vy_label(m, after);
    advance(emitter, w);
    vy_jump(m, again);
    vy_label(m, again);
    vy_jump(m, header);
    vy_label(m, done);
}

static void emit(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    uint32_t label = 0, function = vy_wrap_begin_entry(emitter, &label);
    vy_walk w = begin_walk(emitter);
    uint32_t zero = vy_const_u32(m, 0), meets = vy_const_u32(m, VY_ROW_MEETS);
    store(emitter, w.goal, zero);
    store(emitter, emitter->held_push[VY_PUSH_PASS / 4], w.from);
    store(emitter, emitter->held_push[VY_PUSH_EXECUTION / 4], w.begin);
    fetch_row(emitter, &w, w.begin);
    uint32_t row = take_row(emitter, &w), unused;
    store(emitter, w.row, vy_u2(m, SpvOpBitwiseOr, row, meets));
    fetch_row(emitter, &w, step_behind(emitter, &w, w.begin, &unused));
    emit_loop(emitter, &w);
    vy_wrap_end_entry(emitter, function);
}

const vy_spirv_wrapper vy_spirv_wrapper_persistent = {
    .emit = emit, .param_word = param_word, .push_word = push_word, .turn = turn, .leads = leads};
