/* Accesses of one lane to buffers: bounds, element sizes, atomics, the race check's hook. Out of
 * bounds a load or an atomic gives zero, and nothing is written. */
#include "codegen/interp/float.h"
#include "codegen/interp/machine.h"

#include <string.h>

uint32_t vy_machine_invocation(const vy_machine *m, uint32_t lane)
{
    return m->group_index * m->volume + lane;
}

/* A negative i32 is out of bounds whatever the length. */
static bool in_bounds(const vy_memory *memory, vyre_type index_type, uint64_t index)
{
    return index < memory->count && (index_type != VYRE_TYPE_I32 || index <= INT32_MAX);
}

/* The caller's memory may be aligned to nothing. */
static uint64_t read_bits(const uint8_t *at, uint32_t size)
{
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    uint64_t bits;
    switch (size) {
    case 1:
        memcpy(&byte, at, sizeof byte);
        return byte;
    case 2:
        memcpy(&half, at, sizeof half);
        return half;
    case 4:
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&bits, at, sizeof bits);
        return bits;
    }
}

static void write_bits(uint8_t *at, uint32_t size, uint64_t bits)
{
    uint8_t byte = (uint8_t)bits;
    uint16_t half = (uint16_t)bits;
    uint32_t word = (uint32_t)bits;
    switch (size) {
    case 1:
        memcpy(at, &byte, sizeof byte);
        return;
    case 2:
        memcpy(at, &half, sizeof half);
        return;
    case 4:
        memcpy(at, &word, sizeof word);
        return;
    default:
        memcpy(at, &bits, sizeof bits);
        return;
    }
}

/* The value of a component as it lies in memory. */
static uint64_t value_of(vyre_type type, uint64_t bits)
{
    if (type == VYRE_TYPE_BOOL) {
        return bits != 0;
    }
    return type == VYRE_TYPE_BF16 ? bits << 16 : bits;
}

uint64_t vy_machine_stored(vyre_type type, uint64_t value)
{
    return type == VYRE_TYPE_BF16 ? (uint64_t)vy_bf16_of_f32((uint32_t)value) << 16 : value;
}

void vy_machine_load(vy_machine *m, uint32_t buffer, vyre_type index_type, uint64_t index,
                     uint32_t lane, vy_loc loc, uint64_t *out)
{
    const vy_memory *memory = &m->buffers[buffer];
    bool inside = in_bounds(memory, index_type, index);
    const uint8_t *at = inside ? memory->bytes + index * memory->element_size : NULL;
    if (inside && memory->shadows) {
        vy_race_access(m, buffer, (uint32_t)index, VY_ACCESS_LOAD, lane, loc);
    }
    for (uint32_t c = 0; c < memory->components; c++) {
        *out =
            inside ? value_of((vyre_type)memory->type, read_bits(at, memory->component_size)) : 0;
        out += m->volume;
        at += inside ? memory->component_size : 0;
    }
}

static void note_write(const vy_machine *m, const vy_stmt *stmt, uint64_t index, uint32_t lane)
{
    vy_interp_watch *watch = m->watch;
    if (watch && stmt->ref == watch->buffer && index == watch->element) {
        watch->stmt = (uint32_t)(stmt - m->program->stmts.data);
        bool is_again = watch->pass == m->pass && watch->execution == m->execution;
        watch->writes = is_again ? watch->writes + 1 : 1;
        watch->pass = m->pass;
        watch->execution = m->execution;
        watch->invocation = vy_machine_invocation(m, lane);
    }
}

void vy_machine_store(vy_machine *m, const vy_stmt *stmt, vyre_type index_type, uint64_t index,
                      const uint64_t *value, uint32_t lane)
{
    const vy_memory *memory = &m->buffers[stmt->ref];
    if (!in_bounds(memory, index_type, index)) {
        return;
    }
    if (memory->shadows) {
        vy_race_access(m, stmt->ref, (uint32_t)index, VY_ACCESS_STORE, lane, stmt->loc);
    }
    note_write(m, stmt, index, lane);
    uint8_t *at = memory->bytes + index * memory->element_size;
    for (uint32_t c = 0; c < memory->components; c++) {
        bool is_bf16 = memory->type == VYRE_TYPE_BF16;
        write_bits(at, memory->component_size, is_bf16 ? vy_bf16_of_f32((uint32_t)*value) : *value);
        value += m->volume;
        at += memory->component_size;
    }
}

/* What a read-modify-write leaves behind. */
static uint64_t updated(const vy_machine *m, vyre_atomic atomic, vyre_type type, uint64_t old,
                        const uint64_t *operands)
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
    return vy_interp_eval(op, type, type, pair, m->flush_denormals);
}

uint64_t vy_machine_atomic(vy_machine *m, const vy_stmt *stmt, vyre_type index_type, uint64_t index,
                           const uint64_t *operands, uint32_t lane)
{
    const vy_memory *memory = &m->buffers[stmt->ref];
    if (!in_bounds(memory, index_type, index)) {
        return 0;
    }
    vyre_atomic atomic = (vyre_atomic)stmt->atomic;
    if (memory->shadows) {
        vy_access access = atomic == VYRE_ATOMIC_LOAD ? VY_ACCESS_ATOMIC_LOAD : VY_ACCESS_ATOMIC;
        vy_race_access(m, stmt->ref, (uint32_t)index, access, lane, stmt->loc);
    }
    vyre_type type = (vyre_type)memory->type;
    uint8_t *at = memory->bytes + index * memory->element_size;
    uint64_t old = read_bits(at, memory->component_size);
    if (atomic != VYRE_ATOMIC_LOAD) {
        note_write(m, stmt, index, lane);
        write_bits(at, memory->component_size, updated(m, atomic, type, old, operands));
    }
    return old;
}
