/* Slots that ask for bytes: LOAD_MISS, which a kernel turns into a request of the I/O queue, and
 * whose answer a host writes into them. Arguments as docs/megakernel.md has them. */
#include "engine/megakernel/ring.h"

#include "engine/megakernel/atomic_word.h"

#include <string.h>

enum {
    LOAD_SOURCE = VYRE_SLOT_ARGS,
    LOAD_TARGET,
    LOAD_OFFSET_LOW,
    LOAD_OFFSET_HIGH,
    LOAD_SIZE,
    LOAD_ANSWER = VYRE_SLOT_WORDS - 1 /* 0, then VYRE_IO_OK or VYRE_IO_ERROR */
};

vyre_result vyre_ring_publish_load(void *ring, size_t size, uint32_t slot, uint32_t tenant,
                                   vyre_priority priority, const vyre_load_params *params,
                                   vyre_diag *diag)
{
    vyre_load_params load;
    vyre_result code = vy_ring_check(ring, size, slot, 1, diag);
    if (!code) {
        code = vy_params_read(vyre_load_params, &load, params, diag);
    }
    if (code) {
        return code;
    }
    /* Checked as an opcode that anybody may publish: this one has no other way in. */
    const vyre_slot_params as_nop = {
        .opcode = VYRE_OPCODE_NOP, .tenant = tenant, .priority = priority};
    const vy_slot_list list = {.slots = &as_nop, .count = 1};
    code = vy_ring_check_list(ring, slot, &list, diag);
    if (code) {
        return code;
    }
    const uint32_t words[VYRE_SLOT_WORDS] = {
        [VYRE_SLOT_OPCODE] = VYRE_OPCODE_LOAD_MISS,
        [VYRE_SLOT_TENANT] = tenant,
        [VYRE_SLOT_PRIORITY] = (uint32_t)priority,
        [LOAD_SOURCE] = load.source,
        [LOAD_TARGET] = load.target,
        [LOAD_OFFSET_LOW] = (uint32_t)load.offset,
        [LOAD_OFFSET_HIGH] = (uint32_t)(load.offset >> 32),
        [LOAD_SIZE] = load.size,
    };
    vy_ring_write_slot(ring, slot, words);
    return VYRE_OK;
}

static vyre_result check_opcode(uint32_t opcode, vyre_diag *diag)
{
    if (opcode != VYRE_OPCODE_LOAD_MISS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a slot of opcode 0x%08x asks for no bytes. Fix: pass one of "
                           "VYRE_OPCODE_LOAD_MISS (0x%x)",
                           opcode, VYRE_OPCODE_LOAD_MISS);
    }
    return VYRE_OK;
}

vyre_result vyre_slot_read_load(const uint32_t words[VYRE_SLOT_WORDS], vyre_load_params *out_params,
                                vyre_diag *diag)
{
    vyre_load_params known;
    vyre_result code = vy_mk_check_memory(words, VYRE_SLOT_SIZE, 1, "a slot's words", diag);
    if (!code) {
        code = vy_mk_check_memory(out_params, sizeof *out_params, 1, "out_params", diag);
    }
    if (!code) {
        code = check_opcode(words[VYRE_SLOT_OPCODE], diag);
    }
    if (!code) {
        code = vy_params_read(vyre_load_params, &known, out_params, diag);
    }
    if (code) {
        return code;
    }
    out_params->source = words[LOAD_SOURCE];
    out_params->target = words[LOAD_TARGET];
    out_params->offset = words[LOAD_OFFSET_LOW] | (uint64_t)words[LOAD_OFFSET_HIGH] << 32;
    out_params->size = words[LOAD_SIZE];
    return VYRE_OK;
}

/* READY leaves from WAIT_IO alone, and takes no slot away from whoever has it. */
static vyre_result not_waiting(uint32_t slot, uint32_t status, vyre_diag *diag)
{
    const char *name = vy_ring_status_name(status);
    bool is_claimed = status == VYRE_STATUS_CLAIMED;
    return vy_diag_set(diag, is_claimed ? VYRE_ERROR_BUSY : VYRE_ERROR_INVALID_ARGUMENT,
                       (vy_loc){0, 0},
                       "slot %u is %s (%u), and only one that is WAIT_IO waits for a request. "
                       "Fix: %s",
                       slot, name ? name : "of no status", status,
                       is_claimed ? "wait until the launch has ended"
                                  : "complete each request once, by the slot in its tag");
}

vyre_result vyre_ring_complete_load(void *ring, size_t size, uint32_t slot, uint32_t io_status,
                                    vyre_diag *diag)
{
    vyre_result code = vy_ring_check(ring, size, slot, 1, diag);
    if (!code && io_status != VYRE_IO_OK && io_status != VYRE_IO_ERROR) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "0x%x for slot %u is no status that a request ends with. Fix: pass "
                           "VYRE_IO_OK (0x%x) or VYRE_IO_ERROR (0x%x)",
                           io_status, slot, VYRE_IO_OK, VYRE_IO_ERROR);
    }
    if (code) {
        return code;
    }
    size_t at = (size_t)slot * VYRE_SLOT_WORDS;
    uint32_t status = vy_mk_load_word(ring, at + VYRE_SLOT_STATUS);
    code = status == VYRE_STATUS_WAIT_IO ? VYRE_OK : not_waiting(slot, status, diag);
    if (!code) {
        code = check_opcode(vy_mk_get(ring, at + VYRE_SLOT_OPCODE), diag);
    }
    if (!code) {
        vy_mk_put(ring, at + LOAD_ANSWER, io_status);
        vy_mk_store_word(ring, at + VYRE_SLOT_STATUS, VYRE_STATUS_REQUEUE);
    }
    return code;
}
