/* Atomics of one place by a whole subgroup, done once: the operands are joined within it, one lane
 * acts, and where the old values are asked for, each lane gets the one that it would have found had
 * the lanes acted one after another, in their order. Only integers of 32 bits without an order, and
 * only where the index is the same for all by what it is made of.
 *
 * Who takes part are the lanes that are active where the atomic stands, however they came there.
 * That the instructions of one block see the same lanes, and that these come together again behind
 * the lane that acts, is promised under maximal reconvergence alone. */
#include "codegen/spirv/emit_int.h"

#define MAX_DEPTH 8u

static bool is_uniform_leaf(const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
    case VYRE_OP_PARAM:
    case VYRE_OP_LENGTH:
    case VY_SSA_HOST_INDEX:
        return true;
    case VYRE_OP_BUILTIN:
        return (ins->ref >= VYRE_BUILTIN_WID_X && ins->ref <= VYRE_BUILTIN_PASS) ||
               ins->ref == VYRE_BUILTIN_LANES;
    default:
        return false;
    }
}

/* The same in all invocations of a workgroup, whatever way led there. */
static bool is_uniform(const vy_emitter *emitter, uint32_t instruction, uint32_t depth)
{
    const vy_ssa *ssa = emitter->ssa;
    if (!instruction || instruction >= ssa->ins.count || depth > MAX_DEPTH) {
        return false;
    }
    const vy_ins *ins = &ssa->ins.data[instruction];
    if (is_uniform_leaf(ins)) {
        return true;
    }
    if (ins->op < VYRE_OP_ADD || ins->op >= VYRE_OP_COUNT) {
        return false;
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (ins->arg[i] && !is_uniform(emitter, ins->arg[i], depth + 1)) {
            return false;
        }
    }
    return ins->arg[0] != 0;
}

/* The reduction that joins operands, and the operator that joins an old value with them. */
static bool find_join(vyre_atomic atomic, bool is_signed, SpvOp *out_reduce, vyre_op *out_op)
{
    switch ((int)atomic) {
    case VYRE_ATOMIC_ADD:
        *out_reduce = SpvOpGroupNonUniformIAdd, *out_op = VYRE_OP_ADD;
        return true;
    case VYRE_ATOMIC_SUB:
        *out_reduce = SpvOpGroupNonUniformIAdd, *out_op = VYRE_OP_SUB;
        return true;
    case VYRE_ATOMIC_MIN:
        *out_reduce = is_signed ? SpvOpGroupNonUniformSMin : SpvOpGroupNonUniformUMin;
        *out_op = VYRE_OP_MIN;
        return true;
    case VYRE_ATOMIC_MAX:
        *out_reduce = is_signed ? SpvOpGroupNonUniformSMax : SpvOpGroupNonUniformUMax;
        *out_op = VYRE_OP_MAX;
        return true;
    case VYRE_ATOMIC_AND:
        *out_reduce = SpvOpGroupNonUniformBitwiseAnd, *out_op = VYRE_OP_AND;
        return true;
    case VYRE_ATOMIC_OR:
        *out_reduce = SpvOpGroupNonUniformBitwiseOr, *out_op = VYRE_OP_OR;
        return true;
    case VYRE_ATOMIC_XOR:
        *out_reduce = SpvOpGroupNonUniformBitwiseXor, *out_op = VYRE_OP_XOR;
        return true;
    default:
        return false;
    }
}

/* What `joined` says of an instruction. */
enum { NOT_JOINED, JOINED, JOINED_WITH_OLD };

static bool can_join(vyre_type type, uint32_t atomic, uint32_t order)
{
    SpvOp reduce;
    vyre_op op;
    return order == VYRE_ORDER_RELAXED && (type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32) &&
           find_join((vyre_atomic)atomic, type == VYRE_TYPE_I32, &reduce, &op);
}

static uint32_t memory_of(const vyre_program *program, uint32_t buffer)
{
    return program->buffers.data[buffer].mode == VYRE_BUFFER_SHARED ? VYRE_AGGREGATE_SHARED
                                                                    : VYRE_AGGREGATE_STORAGE;
}

uint32_t vy_spirv_aggregates(const vyre_program *program, uint32_t asked,
                             vyre_reconvergence reconvergence)
{
    uint32_t found = 0;
    if (reconvergence != VYRE_RECONVERGENCE_MAXIMAL) {
        return 0;
    }
    for (uint32_t i = 1; i < program->stmts.count; i++) {
        const vy_stmt *stmt = &program->stmts.data[i];
        if (stmt->kind != VY_STMT_ATOMIC || !stmt->ref || stmt->ref >= program->buffers.count ||
            !can_join((vyre_type)program->buffers.data[stmt->ref].type, stmt->atomic,
                      stmt->order)) {
            continue;
        }
        uint32_t memory = memory_of(program, stmt->ref) & asked;
        found |= memory;
        found |= memory && stmt->result ? VYRE_AGGREGATE_OLD : 0;
    }
    return found & asked;
}

/* Marks whose value an instruction takes. */
static void mark_uses(const vy_ssa *ssa, const vy_ins *ins, bool *is_used)
{
    if (ins->op == VY_SSA_PHI) {
        for (uint32_t e = 0; e < ins->bits; e++) {
            is_used[ssa->phi_edges.data[ins->ref + e].value] = true;
        }
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (ins->arg[i] < ssa->ins.count) {
            is_used[ins->arg[i]] = true;
        }
    }
}

static bool *find_used(const vy_ssa *ssa, vy_arena *arena)
{
    bool *is_used = vy_arena_alloc(arena, ssa->ins.count, sizeof *is_used);
    for (uint32_t b = 1; is_used && b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            mark_uses(ssa, &ssa->ins.data[i], is_used);
        }
        if (block->end == VY_END_BRANCH || block->end == VY_END_SWITCH) {
            is_used[block->cond] = true;
        }
    }
    return is_used;
}

static uint8_t judge(const vy_emitter *emitter, const vy_ins *ins, bool is_used)
{
    const vyre_program *program = emitter->ssa->program;
    const vy_spirv_options *options = emitter->options;
    bool has_old = (options->aggregate & VYRE_AGGREGATE_OLD) != 0;
    if (!can_join((vyre_type)program->buffers.data[ins->ref].type, ins->atomic, ins->order) ||
        !(options->aggregate & memory_of(program, ins->ref)) || (is_used && !has_old) ||
        !is_uniform(emitter, ins->arg[0], 0)) {
        return NOT_JOINED;
    }
    return is_used ? JOINED_WITH_OLD : JOINED;
}

bool vy_emit_find_aggregated(vy_emitter *emitter)
{
    const vy_ssa *ssa = emitter->ssa;
    vy_arena *arena = emitter->module.arena;
    if (!emitter->options->aggregate ||
        emitter->options->reconvergence != VYRE_RECONVERGENCE_MAXIMAL) {
        return true;
    }
    bool *is_used = find_used(ssa, arena);
    emitter->joined = vy_arena_alloc(arena, ssa->ins.count, sizeof *emitter->joined);
    if (!is_used || !emitter->joined) {
        return false;
    }
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            emitter->joined[i] =
                ins->op == VY_SSA_ATOMIC ? judge(emitter, ins, is_used[i]) : (uint8_t)NOT_JOINED;
        }
    }
    return true;
}

static uint8_t joined_of(const vy_emitter *emitter, const vy_ins *ins)
{
    return emitter->joined ? emitter->joined[ins - emitter->ssa->ins.data] : (uint8_t)NOT_JOINED;
}

bool vy_emit_is_aggregated(const vy_emitter *emitter, const vy_ins *ins)
{
    return joined_of(emitter, ins) != NOT_JOINED;
}

/* ---- Joining --------------------------------------------------------------------------------- */

typedef struct joining {
    vy_emitter *emitter;
    vyre_type type;
    SpvOp reduce;
    vyre_op op;
    uint32_t x, scope;
    uint32_t lanes, before; /* where they are counted: those active, those of them before this */
    bool is_counted;        /* x is the same for all and is summed up: times the lanes */
    bool is_same;           /* x is the same for all, and joined with itself is x */
} joining;

static uint32_t count(vy_module *m, SpvGroupOperation how, uint32_t ballot)
{
    return vy_value(m, SpvOpGroupNonUniformBallotBitCount, vy_type_u32(m),
                    VY_LIST(vy_const_u32(m, SpvScopeSubgroup), (uint32_t)how, ballot));
}

/* The lanes that are here and have it. */
static uint32_t ballot_of(vy_module *m, uint32_t condition)
{
    vy_module_capability(m, SpvCapabilityGroupNonUniform);
    vy_module_capability(m, SpvCapabilityGroupNonUniformBallot);
    return vy_value(m, SpvOpGroupNonUniformBallot, vy_type_u32_vector(m, 4),
                    VY_LIST(vy_const_u32(m, SpvScopeSubgroup), condition));
}

static joining begin(vy_emitter *emitter, const vy_ins *ins, uint32_t x)
{
    vy_module *m = &emitter->module;
    joining j = {.emitter = emitter, .reduce = SpvOpMax, .op = VYRE_OP_NONE, .x = x};
    j.type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    (void)find_join((vyre_atomic)ins->atomic, j.type == VYRE_TYPE_I32, &j.reduce, &j.op);
    j.scope = vy_const_u32(m, SpvScopeSubgroup);
    bool is_one = is_uniform(emitter, ins->arg[1], 0);
    j.is_counted = is_one && j.reduce == SpvOpGroupNonUniformIAdd;
    j.is_same = is_one && !j.is_counted && j.reduce != SpvOpGroupNonUniformBitwiseXor;
    vy_module_capability(m, SpvCapabilityGroupNonUniform);
    if (j.is_counted) {
        uint32_t ballot = ballot_of(m, vy_const_bool(m, true));
        j.lanes = count(m, SpvGroupOperationReduce, ballot);
        j.before = count(m, SpvGroupOperationExclusiveScan, ballot);
    }
    return j;
}

/* The operands of all lanes, or of those before this one. */
static uint32_t join(const joining *j, SpvGroupOperation how)
{
    vy_module *m = &j->emitter->module;
    if (j->is_counted) {
        uint32_t lanes = how == SpvGroupOperationReduce ? j->lanes : j->before;
        return j->x == vy_const_u32(m, 1) ? lanes : vy_u2(m, SpvOpIMul, lanes, j->x);
    }
    if (j->is_same) {
        return j->x; /* of the first lane, which has none before it, nobody asks */
    }
    vy_module_capability(m, SpvCapabilityGroupNonUniformArithmetic);
    return vy_value(m, j->reduce, vy_type_u32(m), VY_LIST(j->scope, (uint32_t)how, j->x));
}

/* Whether this lane is the one that acts: the first. */
static uint32_t is_first(const joining *j)
{
    vy_module *m = &j->emitter->module;
    return j->is_counted
               ? vy_b2(m, SpvOpIEqual, j->before, vy_const_u32(m, 0))
               : vy_value(m, SpvOpGroupNonUniformElect, vy_type_bool(m), VY_LIST(j->scope));
}

/* What this lane would have found. first: what the lane that acted did. */
static uint32_t old_of(const joining *j, uint32_t first, uint32_t before, uint32_t acts)
{
    vy_module *m = &j->emitter->module;
    vy_module_capability(m, SpvCapabilityGroupNonUniformBallot);
    first =
        vy_value(m, SpvOpGroupNonUniformBroadcastFirst, vy_type_u32(m), VY_LIST(j->scope, first));
    vy_ins ins = {.op = (uint16_t)j->op, .type = (uint8_t)j->type};
    const uint32_t operands[4] = {first, before, 0, 0};
    uint32_t old = vy_emit_integer(j->emitter, &ins, operands, j->type);
    return j->is_same ? vy_select_u(m, acts, first, old) : old;
}

uint32_t vy_emit_aggregated(vy_emitter *emitter, const vy_ins *ins, uint32_t x,
                            vy_aggregated_fn act, const void *place)
{
    vy_module *m = &emitter->module;
    bool has_old = joined_of(emitter, ins) == JOINED_WITH_OLD;
    joining j = begin(emitter, ins, x);
    uint32_t total = join(&j, SpvGroupOperationReduce);
    uint32_t zero = vy_const_u32(m, 0), before = emitter->current_label;
    uint32_t mine =
        has_old && !(ins->bits & VY_JOIN_RANKED) ? join(&j, SpvGroupOperationExclusiveScan) : zero;
    uint32_t acts = is_first(&j);
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, acts, inside, merge, merge);
    vy_emitter_label(emitter, inside);
    uint32_t old = act(emitter, ins, place, total);
    vy_jump(m, merge);
    vy_emitter_label(emitter, merge);
    if (!has_old) {
        return 0;
    }
    old = vy_value(m, SpvOpPhi, vy_type_u32(m), VY_LIST(zero, before, old, inside));
    return old_of(&j, old, mine, acts);
}

uint32_t vy_emit_rank(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    uint32_t ballot = ballot_of(m, vy_emitter_value(emitter, ins->arg[0], ins->loc));
    uint32_t before = count(m, SpvGroupOperationExclusiveScan, ballot);
    uint32_t lanes = count(m, SpvGroupOperationReduce, ballot);
    return vy_v2(m, SpvOpCompositeConstruct, vy_type_u32_vector(m, 2), before, lanes);
}
