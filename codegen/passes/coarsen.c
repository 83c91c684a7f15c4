/* Makes a segment coarse. The new form, for blocks j + r * T of `lanes` elements, T invocations in
 * all:
 *
 *   if the last of an invocation's blocks lies within the grid and every stream
 *       wide loads
 *       the front of each element; joined atomics that return what they found
 *       the body for each element, without its front and what became wide
 *       wide stores; the other joined atomics
 *   else
 *       for each element that is in the grid: the body as it was
 *
 * T is 1 where an invocation's blocks stand side by side. In the first case it is known, too, what
 * the segment compares gid.x with. Where all invocations of a workgroup are in it, which is the
 * same for all of them (`has_group`), one of them does the joined atomics for all. The bodies
 * follow each other, so that they are one order of the elements among those that there could be.
 * Needs the form behind all passes; keeps what it does. */
#include "codegen/passes/coarsen_make.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/wide.h"

/* By a power of two; the amount is below 32. */
static uint32_t shift(vy_coarsener *c, uint32_t block, vyre_op op, uint32_t value, uint32_t places)
{
    if (!places) {
        return value;
    }
    uint32_t amount = vy_make_number(c, places);
    uint32_t shifted = vy_make_u32(c, block, op, value, amount);
    c->ssa->ins.data[shifted].unchecked = true;
    return shifted;
}

/* The number of a block is below 2^32 where a block has several elements; else the last one's may
 * have wrapped, in a grid of that many. And `condition`. */
static uint32_t has_not_wrapped(vy_coarsener *c, uint32_t block, uint32_t number,
                                uint32_t condition)
{
    if (c->plan->lanes > 1 || c->plan->rounds == 1) {
        return condition;
    }
    uint32_t is_behind = vy_make(c, block, VYRE_OP_LE, VYRE_TYPE_BOOL, c->rounds[0], number);
    return vy_make(c, block, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, condition, is_behind);
}

/* ---- What the copies leave ------------------------------------------------------------------- */

static uint32_t slot_count(const vy_coarsener *c)
{
    return VY_COARSE_JOINS + c->ssa->program->buffers.count;
}

static uint32_t *sum_of(vy_coarsener *c, uint32_t block, uint32_t slot)
{
    return &c->sums[block * slot_count(c) + slot];
}

static vyre_type type_of_slot(const vy_coarsener *c, uint32_t slot)
{
    if (slot < VY_COARSE_JOINS) {
        return (vyre_type)c->plan->joins[slot].type;
    }
    const vy_buffer *buffer = &c->ssa->program->buffers.data[slot - VY_COARSE_JOINS];
    return vy_element_value_type((vyre_type)buffer->type);
}

/* Whether the slot is one; vectors have no phis, and one store that every element does. */
static bool is_slot(const vy_coarsener *c, uint32_t slot)
{
    return slot < VY_COARSE_JOINS ? slot < c->plan->join_count && !c->plan->joins[slot].is_ranked
                                  : c->plan->store_of[slot - VY_COARSE_JOINS] &&
                                        vy_type_components(type_of_slot(c, slot)) == 1;
}

/* What a copy begins with. */
static uint32_t first_sum(vy_coarsener *c, uint32_t slot, uint32_t element)
{
    if (slot < VY_COARSE_JOINS) {
        return c->joined[slot];
    }
    uint32_t buffer = slot - VY_COARSE_JOINS;
    return c->plan->is_loaded[buffer] ? c->loaded[vy_make_place_of(buffer, element)] : 0;
}

/* What there is when a block begins; blocks come behind those that lead to them. */
static uint32_t begin_sum(vy_coarsener *c, uint32_t b, uint32_t slot, uint32_t element)
{
    const vy_flow *flow = &c->plan->flow;
    const uint32_t *preds = &flow->preds[flow->first_pred[b]];
    uint32_t count = flow->pred_count[b];
    if (b == 1) {
        return first_sum(c, slot, element);
    }
    if (!count) { /* nothing leads there: any value */
        return vy_ssa_literal(c->ssa, type_of_slot(c, slot), 0);
    }
    uint32_t value = *sum_of(c, preds[0], slot), first = c->ssa->phi_edges.count;
    bool is_same = true, is_whole = value != 0;
    for (uint32_t i = 1; i < count; i++) {
        is_same = is_same && *sum_of(c, preds[i], slot) == value;
        is_whole = is_whole && *sum_of(c, preds[i], slot) != 0;
    }
    if (is_same || !is_whole) {
        return is_whole ? value : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        vy_phi_edge edge = {c->blocks[preds[i]], *sum_of(c, preds[i], slot)};
        (void)vy_vec_push(c->ssa->arena, &c->ssa->phi_edges, edge);
    }
    return vy_make_phi(c, c->blocks[b], c->ssa->blocks.data[c->blocks[b]].last,
                       type_of_slot(c, slot), first, count);
}

/* What stands in the slots behind a copy. */
static void end_sums(vy_coarsener *c, uint32_t element)
{
    uint32_t buffers = c->ssa->program->buffers.count;
    for (uint32_t j = 0; j < c->plan->join_count; j++) {
        c->joined[j] = is_slot(c, j) ? *sum_of(c, c->plan->exit, j) : c->joined[j];
    }
    for (uint32_t b = 1; b < buffers; b++) {
        if (is_slot(c, VY_COARSE_JOINS + b)) {
            c->stored[vy_make_place_of(b, element)] =
                *sum_of(c, c->plan->exit, VY_COARSE_JOINS + b);
        }
    }
}

/* Behind the joined atomic: what the element finds there, and leaves to the next one. */
static uint32_t find_old(vy_coarsener *c, uint32_t b, uint32_t join, uint32_t operand)
{
    const vy_coarse_join *j = &c->plan->joins[join];
    vyre_op op = j->atomic == VYRE_ATOMIC_SUB ? VYRE_OP_SUB : VYRE_OP_ADD;
    uint32_t *sum = sum_of(c, b, join), old = *sum;
    *sum = vy_make(c, c->blocks[b], op, (vyre_type)j->type, old, operand);
    return old;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static uint32_t copy_phi(vy_coarsener *c, uint32_t to, vy_ins ins)
{
    uint32_t first = c->ssa->phi_edges.count;
    for (uint32_t e = 0; e < ins.bits; e++) {
        vy_phi_edge edge = c->from->phi_edges.data[ins.ref + e];
        edge.block = c->blocks[edge.block];
        edge.value = c->values[edge.value];
        (void)vy_vec_push(c->ssa->arena, &c->ssa->phi_edges, edge);
    }
    ins.ref = first;
    return vy_ssa_append(c->ssa, to, ins);
}

static uint32_t copy_plain(vy_coarsener *c, uint32_t to, vy_ins ins)
{
    return ins.op == VY_SSA_PHI ? copy_phi(c, to, ins) : vy_make_copy(c, to, ins);
}

static void copy_instruction(vy_coarsener *c, uint32_t b, uint32_t index, const vy_body_copy *copy)
{
    const vy_ins ins = c->from->ins.data[index];
    vy_coarse_role role = VY_COARSE_PLAIN;
    if (copy->element != UINT32_MAX && c->plan->is_front && c->plan->is_front[index]) {
        return;
    }
    if (ins.op == VYRE_OP_LITERAL) {
        c->values[index] = vy_ssa_literal(c->ssa, (vyre_type)ins.type, ins.bits);
        return;
    }
    if (vy_coarse_is_place(&ins)) {
        c->values[index] = copy->place;
        return;
    }
    if (copy->element != UINT32_MAX) {
        role = (vy_coarse_role)c->plan->roles[index];
    }
    if (role == VY_COARSE_PLAIN && c->is_staged && index == c->plan->staged_store) {
        vy_ins stage = {
            .op = VY_SSA_STAGE, .ref = ins.ref, .arg = {c->plan->staged_atomic, ins.arg[1]}};
        (void)vy_make_copy(c, c->blocks[b], stage);
        return;
    }
    if (role == VY_COARSE_PLAIN) {
        c->values[index] = copy_plain(c, c->blocks[b], ins);
        return;
    }
    if (role == VY_COARSE_RETURNS) {
        uint32_t join = c->plan->join_of[index];
        if (!c->plan->joins[join].is_ranked) {
            c->values[index] = find_old(c, b, join, c->values[ins.arg[1]]);
        }
        return;
    }
    if (role == VY_COARSE_JOINED) {
        uint32_t join = c->plan->join_of[index];
        vy_make_sum(c, c->blocks[b], sum_of(c, b, join), join, c->values[ins.arg[1]]);
        return;
    }
    uint32_t at = vy_make_place_of(ins.ref, copy->element);
    if (role == VY_COARSE_LOAD) {
        c->values[index] = c->loaded[at];
    } else if (is_slot(c, VY_COARSE_JOINS + ins.ref)) {
        *sum_of(c, b, VY_COARSE_JOINS + ins.ref) = c->values[ins.arg[1]];
    } else {
        c->stored[at] = c->values[ins.arg[1]];
    }
}

static void copy_end(vy_coarsener *c, uint32_t b, const vy_body_copy *copy)
{
    vy_ssa *ssa = c->ssa;
    const vy_block from = c->from->blocks.data[b];
    if (from.end == VY_END_RETURN) {
        vy_make_jump(c, c->blocks[b], copy->after);
        return;
    }
    uint32_t first_case = ssa->cases.count;
    for (uint32_t i = 0; from.end == VY_END_SWITCH && i < from.case_count; i++) {
        vy_case entry = c->from->cases.data[from.first_case + i];
        entry.block = c->blocks[entry.block];
        (void)vy_vec_push(ssa->arena, &ssa->cases, entry);
    }
    vy_block *to = &ssa->blocks.data[c->blocks[b]];
    to->end = from.end;
    to->merge_kind = from.merge_kind;
    to->cond = c->values[from.cond];
    to->target[0] = c->blocks[from.target[0]];
    to->target[1] = c->blocks[from.target[1]];
    to->merge = c->blocks[from.merge];
    to->first_case = first_case;
    to->case_count = from.case_count;
    to->call = from.call;
    to->loc = from.loc;
}

/* Behind block `before`. */
static void copy_body(vy_coarsener *c, uint32_t before, const vy_body_copy *copy)
{
    vy_ssa *ssa = c->ssa;
    for (uint32_t b = 1; b < c->from->blocks.count; b++) {
        c->blocks[b] = vy_make_block(c);
    }
    if (ssa->arena->failed) {
        return;
    }
    vy_make_jump(c, before, c->blocks[1]);
    for (uint32_t b = 1; b < c->from->blocks.count; b++) {
        vy_make_begin(c, c->blocks[b]);
        for (uint32_t v = 0; copy->element != UINT32_MAX && v < slot_count(c); v++) {
            *sum_of(c, b, v) = is_slot(c, v) ? begin_sum(c, b, v, copy->element) : 0;
        }
        uint32_t i = c->from->blocks.data[b].first;
        for (; i && !ssa->arena->failed; i = c->from->ins.data[i].next) {
            copy_instruction(c, b, i, copy);
        }
        copy_end(c, b, copy);
    }
    if (copy->element != UINT32_MAX) {
        end_sums(c, copy->element);
    }
}

/* ---- Wide accesses --------------------------------------------------------------------------- */

static void load_wide(vy_coarsener *c, uint32_t block, uint32_t buffer, uint32_t round)
{
    vy_wide wide = {buffer, c->plan->lanes, c->rounds[round], {0, 0}};
    (void)vy_wide_load(c->ssa, block, c->ssa->blocks.data[block].last, &wide,
                       &c->loaded[vy_make_place_of(buffer, round * c->plan->lanes)]);
}

static void store_wide(vy_coarsener *c, uint32_t block, uint32_t buffer, uint32_t round)
{
    vy_wide wide = {buffer, c->plan->lanes, c->rounds[round],
                    c->from->ins.data[c->plan->store_of[buffer]].loc};
    (void)vy_wide_store(c->ssa, block, c->ssa->blocks.data[block].last, &wide,
                        &c->stored[vy_make_place_of(buffer, round * c->plan->lanes)]);
}

/* ---- As a whole ------------------------------------------------------------------------------ */

static void begin_wide(vy_coarsener *c, uint32_t block)
{
    const vy_coarse_plan *plan = c->plan;
    for (uint32_t r = 0; r < plan->rounds; r++) {
        c->firsts[r] = shift(c, block, VYRE_OP_SHL, c->rounds[r], plan->lane_shift);
        for (uint32_t b = 1; b < c->ssa->program->buffers.count; b++) {
            if (plan->is_loaded[b]) {
                load_wide(c, block, b, r);
            }
        }
    }
    for (uint32_t j = 0; j < plan->join_count; j++) {
        c->joined[j] = vy_make_identity(c, j);
    }
}

/* In `block`; uses the element's front, if there is one. */
static vy_body_copy begin_copy(vy_coarsener *c, uint32_t block, uint32_t element, uint32_t after)
{
    const vy_coarse_plan *plan = c->plan;
    uint32_t lane = element & (plan->lanes - 1), first = c->firsts[element >> plan->lane_shift];
    vy_body_copy copy = {first, element, after};
    if (lane) {
        uint32_t offset = vy_make_number(c, lane);
        copy.place = vy_make_u32(c, block, VYRE_OP_ADD, first, offset);
    }
    if (plan->is_front) {
        c->values = &c->fronts[(size_t)element * plan->form.ins.count];
    }
    return copy;
}

/* Behind the entry block; returns the block it ends in. */
static uint32_t make_wide(vy_coarsener *c, uint32_t before)
{
    const vy_coarse_plan *plan = c->plan;
    uint32_t elements = plan->rounds * plan->lanes;
    if (!c->is_staged) {
        before = vy_make_group_begin(c, before);
    }
    begin_wide(c, before);
    if (c->is_staged) { /* what is loaded comes while they wait */
        before = vy_make_group_begin(c, before);
    }
    for (uint32_t e = 0; plan->is_front && e < elements && !c->ssa->arena->failed; e++) {
        vy_body_copy copy = begin_copy(c, before, e, 0);
        vy_make_front(c, before, &copy);
    }
    before = vy_make_joined(c, before, true);
    for (uint32_t e = 0; e < elements && !c->ssa->arena->failed; e++) {
        uint32_t after = vy_make_block(c);
        vy_body_copy copy = begin_copy(c, before, e, after);
        vy_make_ranks(c, before);
        copy_body(c, before, &copy);
        vy_make_begin(c, after);
        before = after;
    }
    for (uint32_t r = 0; r < plan->rounds && !c->ssa->arena->failed; r++) {
        for (uint32_t b = 1; b < c->ssa->program->buffers.count; b++) {
            if (plan->store_of[b]) {
                store_wide(c, before, b, r);
            }
        }
    }
    if (c->is_staged) {
        const vy_ins *store = &c->from->ins.data[plan->staged_store];
        vy_ins unstage = {.op = VY_SSA_UNSTAGE, .ref = store->ref, .loc = store->loc};
        unstage.bits = plan->staged_offset;
        (void)vy_ssa_append(c->ssa, before, unstage);
    }
    return vy_make_joined(c, before, false);
}

/* ---- One by one ------------------------------------------------------------------------------ */

/* The element of number t of the invocation, and whether the grid has it. The number of its block
 * is compared first: behind the last block, the element's own number may have wrapped. */
static uint32_t find_element(vy_coarsener *c, uint32_t block, uint32_t t, uint32_t *out_place)
{
    const vy_coarse_plan *plan = c->plan;
    uint32_t all = vy_make_number(c, plan->rounds * plan->lanes), one = vy_make_number(c, 1);
    uint32_t elements = vy_make(c, block, VY_SSA_ELEMENTS, VYRE_TYPE_U32, 0, 0);
    uint32_t inside = vy_make(c, block, VYRE_OP_LT, VYRE_TYPE_BOOL, t, all);
    uint32_t lane = t, at = c->rounds[0];
    if (plan->rounds > 1) {
        uint32_t mask = vy_make_number(c, plan->lanes - 1);
        uint32_t round = shift(c, block, VYRE_OP_SHR, t, plan->lane_shift);
        uint32_t distance = vy_make_u32(c, block, VYRE_OP_MUL, round, c->count);
        lane = vy_make_u32(c, block, VYRE_OP_AND, t, mask);
        at = vy_make_u32(c, block, VYRE_OP_ADD, at, distance);
        uint32_t last = vy_make_u32(c, block, VYRE_OP_SUB, elements, one);
        last = shift(c, block, VYRE_OP_SHR, last, plan->lane_shift);
        uint32_t is_block = vy_make(c, block, VYRE_OP_LE, VYRE_TYPE_BOOL, at, last);
        inside = vy_make(c, block, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, inside, is_block);
        inside = has_not_wrapped(c, block, at, inside);
    }
    uint32_t first = shift(c, block, VYRE_OP_SHL, at, plan->lane_shift);
    *out_place = vy_make_u32(c, block, VYRE_OP_ADD, first, lane);
    uint32_t is_element = vy_make(c, block, VYRE_OP_LT, VYRE_TYPE_BOOL, *out_place, elements);
    return vy_make(c, block, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, inside, is_element);
}

/* A loop over the elements, entered from `before`; returns the block behind it. */
static uint32_t make_one_by_one(vy_coarsener *c, uint32_t before)
{
    vy_ssa *ssa = c->ssa;
    uint32_t header = vy_make_block(c), test = vy_make_block(c), step = vy_make_block(c),
             end = vy_make_block(c);
    uint32_t zero = vy_make_number(c, 0), one = vy_make_number(c, 1), first = ssa->phi_edges.count;
    bool has_room = vy_vec_push(ssa->arena, &ssa->phi_edges, (vy_phi_edge){before, zero}) &&
                    vy_vec_push(ssa->arena, &ssa->phi_edges, (vy_phi_edge){step, 0});
    if (!has_room || ssa->arena->failed) {
        return before;
    }
    vy_make_jump(c, before, header);
    vy_make_begin(c, header);
    uint32_t t = vy_make_phi(c, header, 0, VYRE_TYPE_U32, first, 2);
    vy_make_jump(c, header, test);
    ssa->blocks.data[header].merge_kind = VY_MERGE_LOOP;
    ssa->blocks.data[header].merge = end;
    ssa->blocks.data[header].continue_block = step;
    vy_make_begin(c, test);
    vy_body_copy copy = {0, UINT32_MAX, step};
    uint32_t is_element = find_element(c, test, t, &copy.place);
    copy_body(c, test, &copy);
    vy_make_branch(c, test, is_element, c->blocks[1], end);
    vy_make_begin(c, step);
    uint32_t next = vy_make_u32(c, step, VYRE_OP_ADD, t, one);
    ssa->phi_edges.data[first + 1].value = next;
    vy_make_jump(c, step, header);
    vy_make_begin(c, end);
    return end;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static uint32_t make_builtin(vy_coarsener *c, vyre_builtin builtin)
{
    vy_ins ins = {.op = VYRE_OP_BUILTIN, .type = VYRE_TYPE_U32, .ref = (uint32_t)builtin};
    return vy_ssa_append(c->ssa, 1, ins);
}

/* Whether the last block of the workgroup's last invocation may be done as a whole, so that all of
 * them may: those that only fill up a workgroup, which are not here, would have it beyond the grid.
 * The same for the workgroup. In y and z it is one wide, or some of it may not be here. */
static uint32_t make_has_group(vy_coarsener *c, uint32_t whole)
{
    const vy_coarse_plan *plan = c->plan;
    uint32_t one = vy_make_number(c, 1);
    uint32_t size = make_builtin(c, VYRE_BUILTIN_GROUP_SIZE_X);
    uint32_t last = make_builtin(c, VYRE_BUILTIN_WID_X);
    last = vy_make_u32(c, 1, VYRE_OP_MUL, last, size);
    last = vy_make_u32(c, 1, VYRE_OP_ADD, last, size);
    last = vy_make_u32(c, 1, VYRE_OP_SUB, last, one);
    if (plan->rounds > 1) {
        uint32_t rounds = vy_make_number(c, plan->rounds - 1);
        uint32_t distance = vy_make_u32(c, 1, VYRE_OP_MUL, rounds, c->count);
        last = vy_make_u32(c, 1, VYRE_OP_ADD, last, distance);
    }
    uint32_t height = make_builtin(c, VYRE_BUILTIN_GROUP_SIZE_Y);
    uint32_t depth = make_builtin(c, VYRE_BUILTIN_GROUP_SIZE_Z);
    height = vy_make_u32(c, 1, VYRE_OP_MUL, height, depth);
    uint32_t is_line = vy_make(c, 1, VYRE_OP_EQ, VYRE_TYPE_BOOL, height, one);
    uint32_t is_inside = vy_make(c, 1, VYRE_OP_LT, VYRE_TYPE_BOOL, last, whole);
    return vy_make(c, 1, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, is_line, is_inside);
}

/* Which blocks are the invocation's, and whether they may be done as a whole. */
static uint32_t begin_entry(vy_coarsener *c)
{
    const vy_coarse_plan *plan = c->plan;
    const vyre_program *program = c->ssa->program;
    uint32_t one = vy_make_number(c, 1);
    uint32_t elements = vy_make(c, 1, VY_SSA_ELEMENTS, VYRE_TYPE_U32, 0, 0);
    c->rounds[0] = make_builtin(c, VYRE_BUILTIN_GID_X);
    if (plan->is_near) {
        c->rounds[0] = shift(c, 1, VYRE_OP_SHL, c->rounds[0], plan->round_shift);
        c->count = one;
    } else if (plan->rounds > 1) {
        c->count = vy_make_u32(c, 1, VYRE_OP_SUB, elements, one);
        c->count = shift(c, 1, VYRE_OP_SHR, c->count, plan->lane_shift + plan->round_shift);
        c->count = vy_make_u32(c, 1, VYRE_OP_ADD, c->count, one);
    }
    for (uint32_t r = 1; r < plan->rounds; r++) {
        c->rounds[r] = vy_make_u32(c, 1, VYRE_OP_ADD, c->rounds[r - 1], c->count);
    }
    uint32_t whole = elements;
    for (uint32_t i = 0; i < plan->limit_count; i++) {
        uint32_t limit = vy_ssa_append(c->ssa, 1, plan->limits[i]);
        whole = vy_make_u32(c, 1, VYRE_OP_MIN, whole, limit);
    }
    for (uint32_t b = 1; b < program->buffers.count; b++) {
        if (plan->is_loaded[b] || plan->store_of[b]) {
            vy_ins length = {.op = VYRE_OP_LENGTH, .type = VYRE_TYPE_U32, .ref = b};
            uint32_t value = vy_ssa_append(c->ssa, 1, length);
            whole = vy_make_u32(c, 1, VYRE_OP_MIN, whole, value);
        }
    }
    whole = shift(c, 1, VYRE_OP_SHR, whole, plan->lane_shift);
    c->has_group = plan->group_count ? make_has_group(c, whole) : 0;
    uint32_t last = c->rounds[plan->rounds - 1];
    uint32_t is_whole = vy_make(c, 1, VYRE_OP_LT, VYRE_TYPE_BOOL, last, whole);
    return has_not_wrapped(c, 1, last, is_whole);
}

/* Whether all of the workgroup is here and what it may append has room. */
static uint32_t make_has_stage(vy_coarsener *c)
{
    uint32_t most = VY_COARSE_STAGE / (c->plan->rounds * c->plan->lanes);
    uint32_t size = make_builtin(c, VYRE_BUILTIN_GROUP_SIZE_X);
    most = vy_make_number(c, most);
    uint32_t has_room = vy_make(c, 1, VYRE_OP_LE, VYRE_TYPE_BOOL, size, most);
    return vy_make(c, 1, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, c->has_group, has_room);
}

/* Where all of the workgroup is here, what it appends is staged. Returns the block for the others;
 * both come to `merge`. */
static uint32_t make_staged(vy_coarsener *c, uint32_t entry, uint32_t merge)
{
    uint32_t staged = vy_make_block(c), others = vy_make_block(c);
    if (c->ssa->arena->failed) {
        return entry;
    }
    vy_make_branch(c, entry, make_has_stage(c), staged, others);
    vy_make_merge(c, entry, merge);
    vy_make_begin(c, staged);
    c->from = &c->plan->form;
    c->is_staged = true;
    uint32_t *values = c->values;
    vy_make_jump(c, make_wide(c, staged), merge);
    c->values = values;
    c->is_staged = false;
    vy_make_begin(c, others);
    return others;
}

static void coarsen(vy_coarsener *c, const vy_ssa *segment)
{
    uint32_t entry = vy_make_block(c), wide = vy_make_block(c), single = vy_make_block(c);
    uint32_t merge = vy_make_block(c), all = c->plan->staged_store ? vy_make_block(c) : 0;
    if (!merge) {
        return;
    }
    vy_make_begin(c, entry);
    uint32_t is_whole = begin_entry(c);
    if (all) {
        entry = make_staged(c, entry, all);
    }
    vy_make_branch(c, entry, is_whole, wide, single);
    vy_make_merge(c, entry, merge);
    vy_make_begin(c, wide);
    c->from = &c->plan->form;
    uint32_t *values = c->values;
    vy_make_jump(c, make_wide(c, wide), merge);
    vy_make_begin(c, single);
    c->from = segment;
    c->values = values;
    vy_make_jump(c, make_one_by_one(c, single), merge);
    vy_make_begin(c, merge);
    if (all) {
        vy_make_jump(c, merge, all);
        vy_make_begin(c, all);
    }
    c->ssa->blocks.data[all ? all : merge].end = VY_END_RETURN;
}

bool vy_ssa_coarsen(vy_ssa *ssa, uint32_t ways, vy_coarse *out_coarse)
{
    vy_coarse_plan plan;
    vy_arena *scratch = ssa->scratch;
    *out_coarse = (vy_coarse){0};
    if (!vy_coarse_find(ssa, ways, &plan)) {
        return false;
    }
    if (!plan.lanes) {
        return true;
    }
    vy_ssa made;
    vy_ssa_init(&made, ssa->program, ssa->arena);
    made.scratch = scratch;
    made.calls.data = ssa->calls.data;
    made.calls.count = made.calls.capacity = ssa->calls.count;
    vy_coarsener c = {.ssa = &made, .plan = &plan};
    size_t elements = (size_t)ssa->program->buffers.count * VY_COARSE_MOST;
    size_t values = (size_t)ssa->ins.count + plan.form.ins.count, blocks = ssa->blocks.count;
    c.values = vy_arena_alloc(scratch, values, sizeof *c.values);
    c.blocks = vy_arena_alloc(scratch, blocks, sizeof *c.blocks);
    c.comes = vy_arena_alloc(scratch, blocks, sizeof *c.comes);
    if (plan.is_front) {
        size_t fronts = (size_t)plan.rounds * plan.lanes * plan.form.ins.count;
        c.fronts = vy_arena_alloc(scratch, fronts, sizeof *c.fronts);
    }
    c.sums = vy_arena_alloc(scratch, blocks * slot_count(&c), sizeof *c.sums);
    c.loaded = vy_arena_alloc(scratch, elements, sizeof *c.loaded);
    c.stored = vy_arena_alloc(scratch, elements, sizeof *c.stored);
    if (ssa->arena->failed || scratch->failed) {
        return false;
    }
    coarsen(&c, ssa);
    if (ssa->arena->failed || scratch->failed) {
        return false;
    }
    vy_ssa_reorder(&made, c.order.data, c.order.count);
    if (ssa->arena->failed || scratch->failed || !vy_pass_dce(&made, NULL)) {
        return false;
    }
    *ssa = made;
    out_coarse->elements = plan.rounds * plan.lanes;
    out_coarse->streams = plan.streams;
    out_coarse->is_joined = plan.group_count > 0;
    out_coarse->shared = plan.group_count * (uint32_t)sizeof(uint32_t);
    if (plan.staged_store) { /* words for the others' way, too, and for how many */
        out_coarse->shared +=
            out_coarse->shared + (VY_COARSE_STAGE + 1) * (uint32_t)sizeof(uint32_t);
    }
    return true;
}
