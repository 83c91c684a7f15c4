/* What a segment touches: read from the instructions that are left. */
#include "codegen/passes/ssa.h"

/* Where the access lies: the buffer, or the flag's element 0, or either of them. */
static uint64_t bits_of(const vy_ssa *ssa, const vy_buffer *buffer, const vy_ins *ins)
{
    uint64_t bit = buffer->binding < 61 ? (uint64_t)1 << buffer->binding : 0;
    if (ssa->is_whole || !ssa->program->until || ins->ref != ssa->program->until) {
        return bit;
    }
    const vy_ins *index = &ssa->ins.data[ins->arg[0]];
    if (index->op != VYRE_OP_LITERAL) {
        return bit | VY_ACCESS_FLAG;
    }
    return index->bits == 0 ? VY_ACCESS_FLAG : bit;
}

static void add_buffer(const vy_ssa *ssa, vy_access *access, const vy_ins *ins, bool reads,
                       bool writes, bool atomic)
{
    const vy_buffer *buffer = &ssa->program->buffers.data[ins->ref];
    if (buffer->mode == VYRE_BUFFER_SHARED) {
        access->has_shared = true;
        return;
    }
    uint64_t bit = bits_of(ssa, buffer, ins);
    access->reads |= reads ? bit : 0;
    access->writes |= writes ? bit : 0;
    access->atomics |= atomic ? bit : 0;
}

static void add_ins(const vy_ssa *ssa, vy_access *access, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LOAD:
    case VY_SSA_LOAD_WIDE:
        add_buffer(ssa, access, ins, true, false, false);
        break;
    case VY_SSA_STORE:
    case VY_SSA_STORE_WIDE:
    case VY_SSA_UNSTAGE:
        add_buffer(ssa, access, ins, false, true, false);
        break;
    case VY_SSA_ATOMIC:
        add_buffer(ssa, access, ins, ins->atomic != VYRE_ATOMIC_STORE,
                   ins->atomic != VYRE_ATOMIC_LOAD, true);
        break;
    case VY_SSA_BARRIER:
        access->has_barrier = true;
        break;
    case VY_SSA_SPILL_LOAD:
        access->reads |= VY_ACCESS_SPILL;
        break;
    case VY_SSA_SPILL_STORE:
        access->writes |= VY_ACCESS_SPILL;
        break;
    case VY_SSA_RECORD:
        access->reads |= VY_ACCESS_RECORDS;
        access->writes |= VY_ACCESS_RECORDS;
        access->atomics |= VY_ACCESS_RECORDS;
        break;
    default:
        break;
    }
}

void vy_ssa_access(const vy_ssa *ssa, vy_access *out_access)
{
    *out_access = (vy_access){0};
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            add_ins(ssa, out_access, &ssa->ins.data[i]);
        }
    }
}
