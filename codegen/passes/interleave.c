/* Pass interleave: four trips of a loop side by side, so that what they load from memory is on its
 * way at once. For innermost loops that count up by one, carry nothing else from trip to trip, load
 * from memory that stays as it is, and have an effect; without one, drivers do the same by
 * themselves, and with one they may not, since they do not know what it could change.
 *
 *   for e in a .. b { early; late; rest }
 *
 * becomes, with a stop that is a multiple of four trips away,
 *
 *   for e in a .. stop step 4 { early 0; early 1; early 2; early 3
 *                               late 0; late 1; late 2; late 3; rest 0; rest 1; rest 2; rest 3 }
 *   for e in stop .. b { early; late; rest }
 *
 * Early is what the body's first block computes and loads from memory that stays as it is; late is
 * what else stands in that block, in its order: atomics, stores, other loads, and what needs them;
 * rest are the blocks behind it; one that does the same in all trips, as setting a flag, is done
 * once. Where late and rest access the same buffer, where written buffers may overlap, or where an
 * atomic has an order, each trip's late part stays before its rest.
 *
 * Needs licm before it, so that what no trip changes is outside. Keeps what is unchecked: whatever
 * was known of e in the body is known of all four trips, and each part stays behind the same
 * branches. */
#include "codegen/passes/flow.h"
#include "codegen/passes/passes.h"

#define TRIPS 4u
/* Of a body: what is longer has enough to do while it waits, and four of it take room. */
#define MAX_INSTRUCTIONS 64u
/* Known trips that drivers unroll by themselves. */
#define MAX_KNOWN_TRIPS 32u

typedef struct weave_loop {
    uint32_t preheader, header, test, body, last, next, merge; /* blocks; last: of the body */
    uint32_t phi, from, bound; /* the index, its value before the first trip, what it stays below */
    bool is_apart;             /* late parts may go before the rest of the trips before */
    bool is_once;              /* the rest is the same in all trips, and done once does as well */
} weave_loop;

typedef struct weaver {
    vy_ssa *ssa;
    vy_flow flow;
    vy_constant_memory memory;
    bool is_apart;
    uint32_t *values[TRIPS]; /* by instruction of the loop: what it is in the trip */
    uint32_t *blocks;        /* by block of the body: what it is in the trip being made */
    uint8_t *is_early;       /* by instruction of the body's first block */
    uint8_t *touched;        /* by buffer: bits of the parts that access it */
    VY_VEC(uint32_t) order;
} weaver;

enum { LATE = 1, REST = 2 };

/* ---- Which loops ----------------------------------------------------------------------------- */

static const vy_ins *ins_at(const weaver *w, uint32_t index)
{
    return &w->ssa->ins.data[index];
}

static const vy_block *block_at(const weaver *w, uint32_t block)
{
    return &w->ssa->blocks.data[block];
}

static bool is_inside(const weave_loop *loop, uint32_t block)
{
    return block >= loop->header && block < loop->merge;
}

static bool is_literal(const weaver *w, uint32_t value, uint64_t *out_bits)
{
    *out_bits = ins_at(w, value)->bits;
    return ins_at(w, value)->op == VYRE_OP_LITERAL;
}

/* What any block may have that is copied. */
static bool may_copy(const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
    case VY_SSA_PHI:
    case VYRE_OP_LOAD:
        return true;
    default:
        return vy_ssa_is_pure(ins);
    }
}

/* The header has the index alone, which begins at `from` and goes up by one in each trip. */
static bool has_index(const weaver *w, weave_loop *loop)
{
    const vy_block *header = block_at(w, loop->header);
    loop->phi = header->first;
    const vy_ins *phi = ins_at(w, loop->phi);
    if (header->end != VY_END_JUMP || !loop->phi || phi->op != VY_SSA_PHI || phi->next ||
        phi->bits != 2 || (phi->type != VYRE_TYPE_U32 && phi->type != VYRE_TYPE_I32)) {
        return false;
    }
    const vy_phi_edge *edges = &w->ssa->phi_edges.data[phi->ref];
    uint32_t back = edges[1].block == loop->next ? 1 : 0;
    const vy_ins *move = ins_at(w, edges[back].value);
    uint64_t step = 0;
    loop->from = edges[1 - back].value;
    uint32_t only = block_at(w, loop->next)->first;
    return edges[back].block == loop->next && edges[1 - back].block == loop->preheader &&
           move->op == VYRE_OP_ADD && move->arg[0] == loop->phi &&
           is_literal(w, move->arg[1], &step) && step == 1 &&
           (!only || (only == edges[back].value && !ins_at(w, only)->next));
}

/* The block behind the header compares the index with a bound that no trip changes. */
static bool has_test(const weaver *w, weave_loop *loop)
{
    const vy_block *test = block_at(w, loop->test);
    const vy_ins *compare = ins_at(w, test->cond);
    if (loop->test != loop->header + 1 || test->end != VY_END_BRANCH ||
        test->merge_kind != VY_MERGE_NONE || test->target[1] != loop->merge ||
        test->target[0] != loop->test + 1 || compare->op != VYRE_OP_LT ||
        compare->arg[0] != loop->phi || compare->block != loop->test) {
        return false;
    }
    for (uint32_t i = test->first; i; i = ins_at(w, i)->next) {
        const vy_ins *ins = ins_at(w, i);
        if (i != test->cond && (ins->op >= VYRE_OP_COUNT || vy_ssa_operand_count(ins) != 0)) {
            return false;
        }
    }
    loop->bound = compare->arg[1];
    uint64_t from = 0, bound = 0;
    return loop->bound != loop->phi &&
           !(is_literal(w, loop->from, &from) && is_literal(w, loop->bound, &bound) &&
             bound - from <= MAX_KNOWN_TRIPS);
}

/* Every way through the body goes from its first block to its last, and on. */
static bool has_body(const weaver *w, weave_loop *loop)
{
    loop->body = loop->test + 1;
    loop->last = loop->next - 1;
    if (loop->next <= loop->body || loop->merge != loop->next + 1 ||
        w->flow.pred_count[loop->next] != 1 || block_at(w, loop->last)->end != VY_END_JUMP) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t b = loop->body; b <= loop->last; b++) {
        const vy_block *block = block_at(w, b);
        if (block->merge_kind == VY_MERGE_LOOP || block->end == VY_END_RETURN ||
            block->end == VY_END_UNREACHABLE || !vy_flow_is_reachable(&w->flow, b)) {
            return false;
        }
        for (uint32_t s = 0, to = 0; (to = vy_ssa_successor(w->ssa, block, s)) != 0; s++) {
            if (to > loop->last && b != loop->last) {
                return false;
            }
        }
        for (uint32_t i = block->first; i; i = ins_at(w, i)->next) {
            if (++count > MAX_INSTRUCTIONS || !may_copy(ins_at(w, i))) {
                return false;
            }
        }
    }
    return true;
}

static bool find_early(const weaver *w, const weave_loop *loop, uint32_t index)
{
    const vy_ins *ins = ins_at(w, index);
    uint32_t count = vy_ssa_operand_count(ins);
    if (vy_ssa_has_effect(ins) ||
        (ins->op == VYRE_OP_LOAD && !vy_constant_memory_has(&w->memory, w->ssa, ins->ref))) {
        return false;
    }
    for (uint32_t a = 0; a < count; a++) {
        if (ins_at(w, ins->arg[a])->block == loop->body && !w->is_early[ins->arg[a]]) {
            return false;
        }
    }
    return true;
}

/* Notes what the parts access. */
static void touch(const weaver *w, weave_loop *loop, const vy_ins *ins, uint8_t part)
{
    bool is_atomic = ins->op == VY_SSA_ATOMIC;
    if (ins->op == VYRE_OP_LOAD || ins->op == VY_SSA_STORE || is_atomic) {
        w->touched[ins->ref] |= part;
    }
    loop->is_apart = loop->is_apart && !(is_atomic && ins->order != VYRE_ORDER_RELAXED);
}

/* Which instructions are early, what the other parts touch; whether all of it pays. */
static bool find_parts(const weaver *w, weave_loop *loop)
{
    bool loads = false, acts = false;
    uint32_t buffers = w->ssa->program->buffers.count;
    loop->is_apart = w->is_apart;
    for (uint32_t b = 0; b < buffers; b++) {
        w->touched[b] = 0;
    }
    for (uint32_t b = loop->body; b <= loop->last; b++) {
        for (uint32_t i = block_at(w, b)->first; i; i = ins_at(w, i)->next) {
            const vy_ins *ins = ins_at(w, i);
            bool is_first = b == loop->body;
            w->is_early[i] = is_first && find_early(w, loop, i);
            loads = loads || (w->is_early[i] && ins->op == VYRE_OP_LOAD);
            acts = acts || vy_ssa_has_effect(ins);
            if (!w->is_early[i]) {
                touch(w, loop, ins, is_first ? LATE : REST);
            }
        }
    }
    for (uint32_t b = 0; b < buffers; b++) {
        loop->is_apart = loop->is_apart && w->touched[b] != (LATE | REST);
    }
    return loads && acts;
}

/* if condition { stores of values that no trip changes, where no trip changes } */
static bool is_once(const weaver *w, const weave_loop *loop)
{
    const vy_block *first = block_at(w, loop->body), *then = block_at(w, loop->body + 1);
    if (loop->last != loop->body + 2 || first->end != VY_END_BRANCH ||
        first->target[0] != loop->body + 1 || first->target[1] != loop->last ||
        block_at(w, loop->last)->first || then->end != VY_END_JUMP ||
        !is_inside(loop, ins_at(w, first->cond)->block)) {
        return false;
    }
    for (uint32_t i = then->first; i; i = ins_at(w, i)->next) {
        const vy_ins *ins = ins_at(w, i);
        bool stores = ins->op == VY_SSA_STORE ||
                      (ins->op == VY_SSA_ATOMIC && ins->atomic == VYRE_ATOMIC_STORE);
        if (!stores || is_inside(loop, ins_at(w, ins->arg[0])->block) ||
            is_inside(loop, ins_at(w, ins->arg[1])->block)) {
            return false;
        }
    }
    return true;
}

static bool find_loop(const weaver *w, uint32_t header, weave_loop *loop)
{
    const vy_block *block = block_at(w, header);
    if (block->merge_kind != VY_MERGE_LOOP || !vy_flow_is_reachable(&w->flow, header)) {
        return false;
    }
    *loop = (weave_loop){.preheader = vy_flow_preheader(&w->flow, header),
                         .header = header,
                         .test = block->target[0],
                         .next = block->continue_block,
                         .merge = block->merge};
    if (!loop->preheader || !has_index(w, loop) || !has_test(w, loop) || !has_body(w, loop) ||
        !find_parts(w, loop)) {
        return false;
    }
    loop->is_once = loop->is_apart && is_once(w, loop);
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static uint32_t value_of(const weaver *w, const weave_loop *loop, uint32_t trip, uint32_t value)
{
    return is_inside(loop, ins_at(w, value)->block) ? w->values[trip][value] : value;
}

static void copy_phi(weaver *w, const weave_loop *loop, uint32_t trip, vy_ins *ins)
{
    vy_ssa *ssa = w->ssa;
    uint32_t first = ssa->phi_edges.count;
    for (uint32_t e = 0; e < ins->bits; e++) {
        vy_phi_edge edge = ssa->phi_edges.data[ins->ref + e];
        edge.block = w->blocks[edge.block];
        edge.value = value_of(w, loop, trip, edge.value);
        (void)vy_vec_push(ssa->arena, &ssa->phi_edges, edge);
    }
    ins->ref = first;
}

static void copy(weaver *w, const weave_loop *loop, uint32_t trip, uint32_t block, uint32_t index)
{
    vy_ins ins = *ins_at(w, index);
    uint32_t count = vy_ssa_operand_count(&ins);
    for (uint32_t a = 0; a < count; a++) {
        ins.arg[a] = value_of(w, loop, trip, ins.arg[a]);
    }
    if (ins.op == VY_SSA_PHI) {
        copy_phi(w, loop, trip, &ins);
    }
    w->values[trip][index] = vy_ssa_append(w->ssa, block, ins);
}

/* Whether an early instruction is the same in all trips, and has none to be copied. */
static bool is_common(const weaver *w, const weave_loop *loop, uint32_t trip, uint32_t index)
{
    const vy_ins *ins = ins_at(w, index);
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        if (value_of(w, loop, trip, ins->arg[a]) != value_of(w, loop, 0, ins->arg[a])) {
            return false;
        }
    }
    return trip > 0;
}

static void copy_part(weaver *w, const weave_loop *loop, uint32_t trip, uint32_t block,
                      bool is_early)
{
    for (uint32_t i = block_at(w, loop->body)->first; i; i = ins_at(w, i)->next) {
        if (is_early && w->is_early[i] && is_common(w, loop, trip, i)) {
            w->values[trip][i] = w->values[0][i];
        } else if (w->is_early[i] == is_early) {
            copy(w, loop, trip, block, i);
        }
    }
}

/* As block b ends, which is not the last one. */
static void copy_end(weaver *w, const weave_loop *loop, uint32_t trip, uint32_t block, uint32_t b)
{
    vy_ssa *ssa = w->ssa;
    const vy_block from = ssa->blocks.data[b];
    uint32_t first_case = ssa->cases.count;
    for (uint32_t i = 0; from.end == VY_END_SWITCH && i < from.case_count; i++) {
        vy_case entry = ssa->cases.data[from.first_case + i];
        entry.block = w->blocks[entry.block];
        (void)vy_vec_push(ssa->arena, &ssa->cases, entry);
    }
    vy_block *to = &ssa->blocks.data[block];
    to->end = from.end;
    to->merge_kind = from.merge_kind;
    to->cond = value_of(w, loop, trip, from.cond);
    to->target[0] = w->blocks[from.target[0]];
    to->target[1] = from.end == VY_END_BRANCH ? w->blocks[from.target[1]] : 0;
    to->merge = from.merge ? w->blocks[from.merge] : 0;
    to->first_case = first_case;
    to->case_count = from.case_count;
}

/* An empty one, like b. */
static uint32_t make_block(weaver *w, uint32_t b)
{
    const vy_block from = *block_at(w, b);
    uint32_t block = vy_ssa_add_block(w->ssa, from.loc);
    w->ssa->blocks.data[block].call = from.call;
    return block;
}

/* The blocks behind the body's first one, from `block` on; returns the one that they end in. */
static uint32_t copy_rest(weaver *w, const weave_loop *loop, uint32_t trip, uint32_t block)
{
    w->blocks[loop->body] = block;
    for (uint32_t b = loop->body + 1; b <= loop->last; b++) {
        w->blocks[b] = make_block(w, b);
    }
    for (uint32_t b = loop->body; b < loop->last && !w->ssa->arena->failed; b++) {
        copy_end(w, loop, trip, w->blocks[b], b);
        (void)vy_vec_push(w->ssa->scratch, &w->order, w->blocks[b + 1]);
        for (uint32_t i = block_at(w, b + 1)->first; i; i = ins_at(w, i)->next) {
            copy(w, loop, trip, w->blocks[b + 1], i);
        }
    }
    return w->blocks[loop->last];
}

/* ---- The new loop ---------------------------------------------------------------------------- */

static uint32_t make(weaver *w, const weave_loop *loop, uint32_t block, uint32_t op, uint32_t a,
                     uint32_t b)
{
    const vy_ins *phi = ins_at(w, loop->phi);
    bool is_bool = op == VYRE_OP_LT || op == VYRE_OP_LOGICAL_OR;
    vy_ins ins = {.op = (uint16_t)op,
                  .type = is_bool ? (uint8_t)VYRE_TYPE_BOOL : phi->type,
                  .arg = {a, b},
                  .call = phi->call,
                  .loc = phi->loc};
    return vy_ssa_append(w->ssa, block, ins);
}

static uint32_t number(weaver *w, const weave_loop *loop, uint32_t value)
{
    return vy_ssa_literal(w->ssa, (vyre_type)ins_at(w, loop->phi)->type, value);
}

/* Where the four trips stop, in front of the loop. The distance may be any number of 32 bits, and
 * is taken modulo 2^32, of signed indices too. */
static uint32_t make_stop(weaver *w, weave_loop *loop)
{
    vy_ssa *ssa = w->ssa;
    uint32_t before = loop->preheader, zero = number(w, loop, 0);
    uint32_t mask = number(w, loop, ~(TRIPS - 1));
    if (is_inside(loop, ins_at(w, loop->bound)->block)) { /* of no operands */
        vy_ins bound = *ins_at(w, loop->bound);
        loop->bound = vy_ssa_append(ssa, before, bound);
    }
    uint32_t has = make(w, loop, before, VYRE_OP_LT, loop->from, loop->bound);
    uint32_t trips = make(w, loop, before, VYRE_OP_SUB, loop->bound, loop->from);
    uint32_t whole = make(w, loop, before, VYRE_OP_SELECT, has, trips);
    ssa->ins.data[whole].arg[2] = zero;
    whole = make(w, loop, before, VYRE_OP_AND, whole, mask);
    return make(w, loop, before, VYRE_OP_ADD, loop->from, whole);
}

static void jump(weaver *w, uint32_t from, uint32_t to)
{
    w->ssa->blocks.data[from].end = VY_END_JUMP;
    w->ssa->blocks.data[from].target[0] = to;
}

/* The header, with the index of the first trip, which is returned, and the test. */
static uint32_t make_head(weaver *w, weave_loop *loop, const uint32_t *made, uint32_t stop)
{
    enum { HEADER, TEST, BODY, NEXT, MERGE };
    vy_ssa *ssa = w->ssa;
    uint32_t first = ssa->phi_edges.count;
    (void)vy_vec_push(ssa->arena, &ssa->phi_edges, (vy_phi_edge){loop->preheader, loop->from});
    (void)vy_vec_push(ssa->arena, &ssa->phi_edges, (vy_phi_edge){made[NEXT], 0});
    vy_ins phi = *ins_at(w, loop->phi);
    phi.ref = first;
    uint32_t index = vy_ssa_append(ssa, made[HEADER], phi);
    jump(w, made[HEADER], made[TEST]);
    ssa->blocks.data[made[HEADER]].merge_kind = VY_MERGE_LOOP;
    ssa->blocks.data[made[HEADER]].merge = made[MERGE];
    ssa->blocks.data[made[HEADER]].continue_block = made[NEXT];
    uint32_t compare = block_at(w, loop->test)->cond;
    for (uint32_t i = block_at(w, loop->test)->first; i; i = ins_at(w, i)->next) {
        vy_ins ins = *ins_at(w, i);
        uint32_t value = i == compare ? make(w, loop, made[TEST], VYRE_OP_LT, index, stop)
                                      : vy_ssa_append(ssa, made[TEST], ins);
        for (uint32_t t = 0; t < TRIPS; t++) {
            w->values[t][i] = value;
        }
    }
    vy_block *test = &ssa->blocks.data[made[TEST]];
    test->end = VY_END_BRANCH;
    test->cond = w->values[0][compare];
    test->target[0] = made[BODY];
    test->target[1] = made[MERGE];
    uint32_t next = make(w, loop, made[NEXT], VYRE_OP_ADD, index, number(w, loop, TRIPS));
    if (!ssa->arena->failed) {
        ssa->phi_edges.data[first + 1].value = next;
    }
    jump(w, made[NEXT], made[HEADER]);
    return index;
}

/* Four trips, from `block` on; returns the block that they end in. */
static uint32_t make_trips(weaver *w, const weave_loop *loop, uint32_t block, uint32_t index)
{
    for (uint32_t t = 0; t < TRIPS && !w->ssa->arena->failed; t++) {
        w->values[t][loop->phi] =
            t ? make(w, loop, block, VYRE_OP_ADD, index, number(w, loop, t)) : index;
        copy_part(w, loop, t, block, true);
    }
    for (uint32_t t = 0; loop->is_apart && t < TRIPS && !w->ssa->arena->failed; t++) {
        copy_part(w, loop, t, block, false);
    }
    uint32_t rests = loop->is_once ? 1 : TRIPS;
    uint32_t *cond = &w->values[0][block_at(w, loop->body)->cond];
    for (uint32_t t = 1; loop->is_once && t < TRIPS && !w->ssa->arena->failed; t++) {
        uint32_t other = w->values[t][block_at(w, loop->body)->cond];
        *cond = make(w, loop, block, VYRE_OP_LOGICAL_OR, *cond, other);
    }
    for (uint32_t t = 0; t < rests && !w->ssa->arena->failed; t++) {
        if (!loop->is_apart) {
            copy_part(w, loop, t, block, false);
        }
        block = copy_rest(w, loop, t, block);
    }
    return block;
}

/* Puts the four trips before the loop, which goes on where they stop. */
static void interleave(weaver *w, weave_loop *loop)
{
    enum { HEADER, TEST, BODY, NEXT, MERGE, MADE };
    vy_ssa *ssa = w->ssa;
    const uint32_t like[MADE] = {loop->header, loop->test, loop->body, loop->next, loop->merge};
    uint32_t made[MADE];
    for (uint32_t b = 0; b < MADE; b++) {
        made[b] = make_block(w, like[b]);
    }
    uint32_t stop = make_stop(w, loop);
    if (ssa->arena->failed) {
        return;
    }
    uint32_t index = make_head(w, loop, made, stop);
    for (uint32_t b = HEADER; b <= BODY; b++) {
        (void)vy_vec_push(ssa->scratch, &w->order, made[b]);
    }
    jump(w, make_trips(w, loop, made[BODY], index), made[NEXT]);
    (void)vy_vec_push(ssa->scratch, &w->order, made[NEXT]);
    (void)vy_vec_push(ssa->scratch, &w->order, made[MERGE]);
    jump(w, loop->preheader, made[HEADER]);
    jump(w, made[MERGE], loop->header);
    vy_phi_edge *edges = &ssa->phi_edges.data[ins_at(w, loop->phi)->ref];
    vy_phi_edge *entry = edges[0].block == loop->preheader ? &edges[0] : &edges[1];
    *entry = (vy_phi_edge){made[MERGE], index};
    ssa->is_folded = ssa->is_live = false;
}

/* ---- The pass -------------------------------------------------------------------------------- */

static bool prepare(weaver *w)
{
    vy_ssa *ssa = w->ssa;
    vy_arena *scratch = ssa->scratch;
    for (uint32_t t = 0; t < TRIPS; t++) {
        w->values[t] = vy_arena_alloc(scratch, ssa->ins.count, sizeof *w->values[t]);
    }
    w->blocks = vy_arena_alloc(scratch, ssa->blocks.count, sizeof *w->blocks);
    w->is_early = vy_arena_alloc(scratch, ssa->ins.count, sizeof *w->is_early);
    w->touched = vy_arena_alloc(scratch, ssa->program->buffers.count, sizeof *w->touched);
    vy_ssa_index_literals(ssa);
    return !ssa->arena->failed && !scratch->failed && vy_flow_find(ssa, &w->flow);
}

/* Whether some loop carries its index alone: most have more, and nothing more is looked at then. */
static bool may_interleave(const vy_ssa *ssa)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        if (block->merge_kind == VY_MERGE_LOOP && block->first &&
            ssa->ins.data[block->first].op == VY_SSA_PHI && !ssa->ins.data[block->first].next) {
            return true;
        }
    }
    return false;
}

bool vy_pass_interleave(vy_ssa *ssa, const vy_pass_context *context)
{
    weaver w = {.ssa = ssa, .is_apart = context && context->is_apart};
    uint32_t blocks = ssa->blocks.count, changed = 0;
    if (!may_interleave(ssa)) {
        return true;
    }
    w.memory = vy_constant_memory_find(ssa);
    if (!prepare(&w)) {
        return false;
    }
    for (uint32_t b = 1; b < blocks && !ssa->arena->failed; b++) {
        weave_loop loop;
        if (find_loop(&w, b, &loop)) {
            interleave(&w, &loop);
            changed++;
        }
        (void)vy_vec_push(ssa->scratch, &w.order, b);
    }
    if (changed && !ssa->arena->failed && !ssa->scratch->failed) {
        vy_ssa_reorder(ssa, w.order.data, w.order.count);
    }
    return !ssa->arena->failed && !ssa->scratch->failed;
}
