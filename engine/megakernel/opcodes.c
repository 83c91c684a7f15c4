/* The table of the system's opcodes, and whose the others are. */
#include "engine/megakernel/opcodes.h"
#include "engine/megakernel/words.h"

#define RESERVED_FIRST 0xfff0u /* within the users' space, to 0xffff */
#define RESERVED_LAST  0xffffu
#define TOP_BIT        0x80000000u

typedef struct system_opcode {
    uint32_t opcode;
    const char *name;
    bool is_publishable;
} system_opcode;

static const system_opcode system_opcodes[] = {
    {VYRE_OPCODE_NOP, "NOP", true},
    {VYRE_OPCODE_STORE_U32, "STORE_U32", true},
    {VYRE_OPCODE_ATOMIC_ADD, "ATOMIC_ADD", true},
    {VYRE_OPCODE_LOAD_U32, "LOAD_U32", true},
    {VYRE_OPCODE_COMPARE_SWAP, "COMPARE_SWAP", true},
    {VYRE_OPCODE_MEMCPY, "MEMCPY", true},
    {VYRE_OPCODE_DFA_STEP, "DFA_STEP", false}, /* reserved */
    {VYRE_OPCODE_BATCH_FENCE, "BATCH_FENCE", true},
    {VYRE_OPCODE_LOAD_MISS, "LOAD_MISS", false}, /* kept for kernels */
    {VYRE_OPCODE_PRINTF, "PRINTF", true},
    {VYRE_OPCODE_PACKED_SLOT, "PACKED_SLOT", true},
    {VYRE_OPCODE_SHUTDOWN, "SHUTDOWN", true},
};

/* NULL where the opcode has no row. */
static const system_opcode *find_system_opcode(uint32_t opcode)
{
    for (size_t i = 0; i < VY_COUNT_OF(system_opcodes); i++) {
        if (system_opcodes[i].opcode == opcode) {
            return &system_opcodes[i];
        }
    }
    return NULL;
}

const char *vy_mk_opcode_name(uint32_t opcode)
{
    const system_opcode *row = find_system_opcode(opcode);
    if (row) {
        return row->name;
    }
    if (vyre_opcode_is_system(opcode)) {
        return "reserved";
    }
    const uint32_t tenants_end = VYRE_TENANT_OPCODE_0 + VYRE_MAX_TENANTS * VYRE_TENANT_OPCODES;
    return opcode >= VYRE_TENANT_OPCODE_0 && opcode < tenants_end ? "of a tenant" : "of a user";
}

int vyre_opcode_is_system(uint32_t opcode)
{
    return opcode < VYRE_USER_OPCODE_FIRST || (opcode & TOP_BIT) != 0 ||
           (opcode >= RESERVED_FIRST && opcode <= RESERVED_LAST);
}

int vyre_opcode_is_publishable(uint32_t opcode)
{
    const system_opcode *row = find_system_opcode(opcode);
    return row ? row->is_publishable : !vyre_opcode_is_system(opcode);
}

vyre_result vyre_opcode_of_tenant(uint32_t tenant, uint32_t local, uint32_t *out_opcode,
                                  vyre_diag *diag)
{
    const vy_loc nowhere = {0, 0};
    vy_diag_clear(diag);
    if (!out_opcode) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "out_opcode is NULL. Fix: pass where the opcode goes");
    }
    if (tenant >= VYRE_MAX_TENANTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "there is no tenant %u. Fix: name one of 0 to %u", (unsigned)tenant,
                           (unsigned)VYRE_MAX_TENANTS - 1);
    }
    if (local >= VYRE_TENANT_OPCODES) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "a tenant has no opcode %u of its own. Fix: number them from 0 to %u",
                           (unsigned)local, (unsigned)VYRE_TENANT_OPCODES - 1);
    }
    *out_opcode = VYRE_TENANT_OPCODE_0 + tenant * VYRE_TENANT_OPCODES + local;
    return VYRE_OK;
}
