/* Atomics of one place by a whole subgroup, done once: the operands are joined within it, one lane
 * acts, and where the old values are asked for, each lane gets the one that it would have found had
 * the lanes acted one after another, in their order. Only integers of 32 bits without an order, and
 * only where the index is the same for all by what it is made of. */
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

bool vy_emit_is_aggregated(const vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    SpvOp reduce;
    vyre_op op;
    return emitter->options->aggregate && ins->order == VYRE_ORDER_RELAXED &&
           (type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32) &&
           find_join((vyre_atomic)ins->atomic, type == VYRE_TYPE_I32, &reduce, &op) &&
           is_uniform(emitter, ins->arg[0], 0);
}

static uint32_t reduce_by(vy_module *m, SpvOp op, SpvGroupOperation how, uint32_t x)
{
    uint32_t scope = vy_const_u32(m, SpvScopeSubgroup);
    return vy_value(m, op, vy_type_u32(m), VY_LIST(scope, (uint32_t)how, x));
}

uint32_t vy_emit_aggregated(vy_emitter *emitter, const vy_ins *ins, uint32_t x,
                            vy_aggregated_fn act, const void *place)
{
    vy_module *m = &emitter->module;
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    SpvOp reduce = SpvOpNop;
    vyre_op op = VYRE_OP_NONE;
    (void)find_join((vyre_atomic)ins->atomic, type == VYRE_TYPE_I32, &reduce, &op);
    vy_module_capability(m, SpvCapabilityGroupNonUniform);
    vy_module_capability(m, SpvCapabilityGroupNonUniformArithmetic);
    vy_module_capability(m, SpvCapabilityGroupNonUniformBallot);
    uint32_t word = vy_type_u32(m), scope = vy_const_u32(m, SpvScopeSubgroup);
    uint32_t total = reduce_by(m, reduce, SpvGroupOperationReduce, x);
    uint32_t mine = reduce_by(m, reduce, SpvGroupOperationExclusiveScan, x);
    uint32_t acts = vy_value(m, SpvOpGroupNonUniformElect, vy_type_bool(m), VY_LIST(scope));
    uint32_t zero = vy_const_u32(m, 0), before = emitter->current_label;
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, acts, inside, merge, merge);
    vy_emitter_label(emitter, inside);
    uint32_t old = act(emitter, ins, place, total);
    vy_jump(m, merge);
    vy_emitter_label(emitter, merge);
    old = vy_value(m, SpvOpPhi, word, VY_LIST(zero, before, old, inside));
    /* The lane that acts is the first one. Where the old values are not used, drivers drop this. */
    old = vy_value(m, SpvOpGroupNonUniformBroadcastFirst, word, VY_LIST(scope, old));
    vy_ins join = {.op = (uint16_t)op, .type = (uint8_t)type, .loc = ins->loc};
    const uint32_t operands[4] = {old, mine, 0, 0};
    return vy_emit_integer(emitter, &join, operands, type);
}
