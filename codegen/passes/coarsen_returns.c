/* Joined atomics; and of those whose old values are used what all elements do before, and what each
 * of them finds. */
#include "codegen/passes/coarsen_make.h"

/* ---- Joined atomics -------------------------------------------------------------------------- */

/* One of two values, by the way that led there. */
static uint32_t either(vy_coarsener *c, uint32_t merge, vyre_type type, vy_phi_edge one,
                       vy_phi_edge other)
{
    uint32_t first = c->ssa->phi_edges.count;
    (void)vy_vec_push(c->ssa->arena, &c->ssa->phi_edges, one);
    (void)vy_vec_push(c->ssa->arena, &c->ssa->phi_edges, other);
    return vy_make_phi(c, merge, 0, type, first, 2);
}

/* Whether it is done where no operand may have been joined: what it finds may be used, or every
 * element has one. */
static bool is_always(const vy_coarse_join *join)
{
    bool tells = !join->returns || join->most <= UINT32_MAX / VY_COARSE_MOST;
    return join->is_certain || !tells;
}

static vy_ins atomic_of(const vy_coarsener *c, uint32_t j)
{
    const vy_coarse_join *join = &c->plan->joins[j];
    return (vy_ins){.op = VY_SSA_ATOMIC,
                    .type = join->type,
                    .atomic = join->atomic,
                    .order = VYRE_ORDER_RELAXED,
                    .unchecked = join->is_unchecked || (join->returns && !is_always(join)),
                    .ref = join->buffer,
                    .arg = {c->values[join->index], c->joined[j]},
                    .bits = join->is_ranked ? VY_JOIN_RANKED : 0,
                    .loc = join->loc};
}

/* A joined atomic, in `block` and behind; where no element may have one, only if something was
 * joined. One that returns is left out only where the sum tells that there is none, and leaves what
 * it found in place of the sum. Returns the block it ends in. */
static uint32_t put_atomic(vy_coarsener *c, uint32_t block, uint32_t j)
{
    const vy_coarse_join *join = &c->plan->joins[j];
    vy_ins atomic = atomic_of(c, j);
    if (is_always(join)) {
        uint32_t old = vy_ssa_append(c->ssa, block, atomic);
        c->joined[j] = join->returns ? old : c->joined[j];
        return block;
    }
    uint32_t identity = vy_make_identity(c, j), yes = vy_make_block(c), merge = vy_make_block(c);
    uint32_t cond = vy_make(c, block, VYRE_OP_NE, VYRE_TYPE_BOOL, c->joined[j], identity);
    if (c->ssa->arena->failed) {
        return block;
    }
    vy_make_branch(c, block, cond, yes, merge);
    vy_make_merge(c, block, merge);
    vy_make_begin(c, yes);
    uint32_t old = vy_ssa_append(c->ssa, yes, atomic);
    vy_make_jump(c, yes, merge);
    vy_make_begin(c, merge);
    if (join->returns) {
        uint32_t zero = vy_ssa_literal(c->ssa, (vyre_type)join->type, 0);
        c->joined[j] = either(c, merge, (vyre_type)join->type, (vy_phi_edge){block, zero},
                              (vy_phi_edge){yes, old});
    }
    return merge;
}

/* One for the workgroup where all of it is here, else one for the invocation. */
static uint32_t put_group_atomic(vy_coarsener *c, uint32_t block, uint32_t j)
{
    const vy_coarse_join *join = &c->plan->joins[j];
    if (!join->is_group) {
        return put_atomic(c, block, j);
    }
    vy_ins atomic = atomic_of(c, j);
    atomic.bits |= VY_JOIN_GROUP | (is_always(join) ? 0 : VY_JOIN_SKIPS);
    atomic.bits |= (uint64_t)join->word << VY_JOIN_WORD;
    if (c->is_staged) {
        atomic.bits |= j == c->plan->staged_join ? VY_JOIN_STAGED : 0;
        uint32_t found = vy_ssa_append(c->ssa, block, atomic);
        c->joined[j] = join->returns ? found : c->joined[j];
        return block;
    }
    uint32_t all = vy_make_block(c), some = vy_make_block(c), merge = vy_make_block(c);
    if (c->ssa->arena->failed) {
        return block;
    }
    vy_make_branch(c, block, c->has_group, all, some);
    vy_make_merge(c, block, merge);
    vy_make_begin(c, all);
    uint32_t old = vy_ssa_append(c->ssa, all, atomic);
    vy_make_jump(c, all, merge);
    vy_make_begin(c, some);
    uint32_t last = put_atomic(c, some, j);
    vy_make_jump(c, last, merge);
    vy_make_begin(c, merge);
    if (join->returns) {
        c->joined[j] = either(c, merge, (vyre_type)join->type, (vy_phi_edge){all, old},
                              (vy_phi_edge){last, c->joined[j]});
    }
    return merge;
}

uint32_t vy_make_group_begin(vy_coarsener *c, uint32_t block)
{
    vy_ins begin = {.op = VY_SSA_GROUP_BEGIN, .type = VYRE_TYPE_VOID};
    for (uint32_t j = 0; j < c->plan->join_count; j++) {
        if (c->plan->joins[j].is_group) {
            begin.arg[begin.ref++] = vy_make_identity(c, j);
        }
    }
    if (!begin.ref) {
        return block;
    }
    if (c->is_staged) {
        (void)vy_ssa_append(c->ssa, block, begin);
        return block;
    }
    uint32_t all = vy_make_block(c), merge = vy_make_block(c);
    if (c->ssa->arena->failed) {
        return block;
    }
    vy_make_branch(c, block, c->has_group, all, merge);
    vy_make_merge(c, block, merge);
    vy_make_begin(c, all);
    (void)vy_ssa_append(c->ssa, all, begin);
    vy_make_jump(c, all, merge);
    vy_make_begin(c, merge);
    return merge;
}

uint32_t vy_make_joined(vy_coarsener *c, uint32_t block, bool returns)
{
    for (uint32_t j = 0; j < c->plan->join_count && !c->ssa->arena->failed; j++) {
        if (c->plan->joins[j].returns == returns) {
            block = put_group_atomic(c, block, j);
        }
    }
    return block;
}

/* ---- Fronts ---------------------------------------------------------------------------------- */

/* Whether the element goes from a block to another one. */
static uint32_t goes(vy_coarsener *c, uint32_t block, uint32_t from, uint32_t to)
{
    const vy_block *end = &c->from->blocks.data[from];
    uint32_t comes = c->comes[from], cond = c->values[end->cond];
    if (end->end != VY_END_BRANCH) {
        return comes;
    }
    if (end->target[0] != to) {
        cond = vy_make(c, block, VYRE_OP_NOT, VYRE_TYPE_BOOL, cond, 0);
    }
    return comes ? vy_make(c, block, VYRE_OP_LOGICAL_AND, VYRE_TYPE_BOOL, comes, cond) : cond;
}

static uint32_t choose(vy_coarsener *c, uint32_t block, vyre_type type, uint32_t cond, uint32_t yes,
                       uint32_t no)
{
    vy_ins select = {.op = VYRE_OP_SELECT, .type = (uint8_t)type, .arg = {cond, yes, no}};
    return cond ? vy_ssa_append(c->ssa, block, select) : yes;
}

static uint32_t choose_phi(vy_coarsener *c, uint32_t block, uint32_t b, const vy_ins *phi)
{
    const vy_phi_edge *edges = &c->from->phi_edges.data[phi->ref];
    uint32_t value = c->values[edges[phi->bits - 1].value];
    for (uint64_t e = phi->bits - 1; e-- > 0;) {
        uint32_t cond = goes(c, block, edges[e].block, b);
        value = choose(c, block, (vyre_type)phi->type, cond, c->values[edges[e].value], value);
    }
    return value;
}

static void add_operand(vy_coarsener *c, uint32_t block, uint32_t index)
{
    const vy_ins *ins = &c->from->ins.data[index];
    uint32_t join = c->plan->join_of[index];
    uint32_t operand = choose(c, block, (vyre_type)c->plan->joins[join].type, c->comes[ins->block],
                              c->values[ins->arg[1]], vy_make_identity(c, join));
    vy_make_sum(c, block, &c->joined[join], join, operand);
    c->values[index] = c->comes[ins->block]; /* until it is ranked */
}

/* What is done whether or not the element comes there has lost its proofs. */
static void put_front(vy_coarsener *c, uint32_t block, uint32_t index, const vy_body_copy *copy)
{
    vy_ins ins = c->from->ins.data[index];
    if (ins.op == VYRE_OP_LITERAL) {
        c->values[index] = vy_ssa_literal(c->ssa, (vyre_type)ins.type, ins.bits);
    } else if (vy_coarse_is_place(&ins)) {
        c->values[index] = copy->place;
    } else if (c->plan->roles[index] == VY_COARSE_LOAD) {
        c->values[index] = c->loaded[vy_make_place_of(ins.ref, copy->element)];
    } else if (ins.op == VY_SSA_PHI) {
        c->values[index] = choose_phi(c, block, ins.block, &ins);
    } else {
        ins.unchecked = ins.unchecked && !c->comes[ins.block];
        c->values[index] = vy_make_copy(c, block, ins);
    }
}

/* Of one element, at the end of the block. */
void vy_make_front(vy_coarsener *c, uint32_t block, const vy_body_copy *copy)
{
    const vy_coarse_plan *plan = c->plan;
    for (uint32_t b = 1; b < c->from->blocks.count && !c->ssa->arena->failed; b++) {
        if (b > 1 && plan->is_asked[b]) {
            uint32_t header = plan->header_of[b], pred = plan->flow.preds[plan->flow.first_pred[b]];
            c->comes[b] = header ? c->comes[header] : goes(c, block, pred, b);
        }
        for (uint32_t i = c->from->blocks.data[b].first; i; i = c->from->ins.data[i].next) {
            if (plan->roles[i] == VY_COARSE_RETURNS) {
                add_operand(c, block, i);
            } else if (plan->is_front[i]) {
                put_front(c, block, i, copy);
            }
        }
    }
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

/* What stands before the lanes becomes what stands behind them. */
static uint32_t rank(vy_coarsener *c, uint32_t block, uint32_t index)
{
    const vy_ins *ins = &c->from->ins.data[index];
    uint32_t j = c->plan->join_of[index], has = c->values[index];
    vyre_type type = (vyre_type)c->plan->joins[j].type;
    vyre_op op = c->plan->joins[j].atomic == VYRE_ATOMIC_SUB ? VYRE_OP_SUB : VYRE_OP_ADD;
    has = has ? has : vy_ssa_literal(c->ssa, VYRE_TYPE_BOOL, 1);
    uint32_t ranks = vy_make(c, block, VY_SSA_RANK, VYRE_TYPE_U32X2, has, 0), found[2];
    for (uint32_t i = 0; i < 2; i++) {
        vy_ins part = {.op = VY_SSA_COMPONENT, .type = VYRE_TYPE_U32, .ref = i, .arg = {ranks}};
        uint32_t lanes = vy_ssa_append(c->ssa, block, part);
        if (type != VYRE_TYPE_U32) {
            lanes = vy_make(c, block, VYRE_OP_BITCAST, type, lanes, 0);
        }
        if (c->from->ins.data[ins->arg[1]].bits != 1) {
            lanes = vy_make(c, block, VYRE_OP_MUL, type, lanes, c->values[ins->arg[1]]);
        }
        found[i] = vy_make(c, block, op, type, c->joined[j], lanes);
    }
    c->joined[j] = found[1];
    return found[0];
}

void vy_make_ranks(vy_coarsener *c, uint32_t block)
{
    const vy_coarse_plan *plan = c->plan;
    for (uint32_t b = 1; plan->is_front && b < c->from->blocks.count; b++) {
        for (uint32_t i = c->from->blocks.data[b].first; i; i = c->from->ins.data[i].next) {
            if (plan->roles[i] == VY_COARSE_RETURNS && plan->joins[plan->join_of[i]].is_ranked) {
                c->values[i] = rank(c, block, i);
            }
        }
    }
}
