/* Accesses of one lane to buffers: bounds, bools, atomics, the race check's hook. Out of bounds a
 * load or an atomic gives zero, and nothing is written. */
#include "codegen/interp/machine.h"

uint32_t vy_machine_invocation(const vy_machine *m, uint32_t lane)
{
    return m->group_index * m->volume + lane;
}

/* A negative i32 is out of bounds whatever the length. */
static bool in_bounds(const vy_memory *memory, vyre_type index_type, uint32_t index)
{
    return index < memory->count && (index_type != VYRE_TYPE_I32 || index <= INT32_MAX);
}

uint32_t vy_machine_load(vy_machine *m, uint32_t buffer, vyre_type index_type, uint32_t index,
                         uint32_t lane, vy_loc loc)
{
    const vy_memory *memory = &m->buffers[buffer];
    if (!in_bounds(memory, index_type, index)) {
        return 0;
    }
    if (memory->shadows) {
        vy_race_access(m, buffer, index, VY_ACCESS_LOAD, lane, loc);
    }
    bool is_bool = m->program->buffers.data[buffer].type == VYRE_TYPE_BOOL;
    return is_bool ? memory->words[index] != 0 : memory->words[index];
}

void vy_machine_store(vy_machine *m, const vy_stmt *stmt, vyre_type index_type, uint32_t index,
                      uint32_t value, uint32_t lane)
{
    const vy_memory *memory = &m->buffers[stmt->ref];
    if (!in_bounds(memory, index_type, index)) {
        return;
    }
    if (memory->shadows) {
        vy_race_access(m, stmt->ref, index, VY_ACCESS_STORE, lane, stmt->loc);
    }
    memory->words[index] = value;
}

/* The word that a read-modify-write leaves behind. */
static uint32_t updated(const vy_machine *m, vyre_atomic atomic, vyre_type type, uint32_t old,
                        const uint32_t *operands)
{
    uint64_t pair[2] = {old, operands[0]};
    vyre_op op = VYRE_OP_NONE;
    switch ((int)atomic) {
    case VYRE_ATOMIC_ADD:
        op = VYRE_OP_ADD;
        break;
    case VYRE_ATOMIC_SUB:
        op = VYRE_OP_SUB;
        break;
    case VYRE_ATOMIC_MIN:
        op = VYRE_OP_MIN;
        break;
    case VYRE_ATOMIC_MAX:
        op = VYRE_OP_MAX;
        break;
    case VYRE_ATOMIC_AND:
        op = VYRE_OP_AND;
        break;
    case VYRE_ATOMIC_OR:
        op = VYRE_OP_OR;
        break;
    case VYRE_ATOMIC_XOR:
        op = VYRE_OP_XOR;
        break;
    case VYRE_ATOMIC_EXCHANGE:
    case VYRE_ATOMIC_STORE:
        return operands[0];
    case VYRE_ATOMIC_COMPARE_EXCHANGE:
        return old == operands[0] ? operands[1] : old;
    default:
        return old;
    }
    return (uint32_t)vy_interp_eval(op, type, type, pair, m->flush_denormals);
}

uint32_t vy_machine_atomic(vy_machine *m, const vy_stmt *stmt, vyre_type index_type, uint32_t index,
                           const uint32_t *operands, uint32_t lane)
{
    const vy_memory *memory = &m->buffers[stmt->ref];
    if (!in_bounds(memory, index_type, index)) {
        return 0;
    }
    vyre_atomic atomic = (vyre_atomic)stmt->atomic;
    if (memory->shadows) {
        vy_access access = atomic == VYRE_ATOMIC_LOAD ? VY_ACCESS_ATOMIC_LOAD : VY_ACCESS_ATOMIC;
        vy_race_access(m, stmt->ref, index, access, lane, stmt->loc);
    }
    vyre_type type = (vyre_type)m->program->buffers.data[stmt->ref].type;
    uint32_t old = memory->words[index];
    if (atomic != VYRE_ATOMIC_LOAD) {
        memory->words[index] = updated(m, atomic, type, old, operands);
    }
    return old;
}
