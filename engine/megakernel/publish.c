/* Publishing: single slots, items, batches. Everything is checked before a word is written, and a
 * slot's status is written behind its other words. */
#include "engine/megakernel/ring.h"

#include "engine/megakernel/atomic_word.h"

#include <string.h>

static vyre_result check_free(const void *ring, uint32_t slot, vyre_diag *diag)
{
    uint32_t status = vy_mk_get(ring, (size_t)slot * VYRE_SLOT_WORDS + VYRE_SLOT_STATUS);
    /* Who set DONE has read the arguments that are overwritten now. */
    atomic_thread_fence(memory_order_acquire);
    if (status == VYRE_STATUS_EMPTY || status == VYRE_STATUS_DONE) {
        return VYRE_OK;
    }
    if (status >= VYRE_STATUS_COUNT) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "slot %u has the status %u, which is none. Fix: find who else writes "
                           "there, and clear the ring",
                           slot, status);
    }
    return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                       "slot %u is %s, and only EMPTY and DONE ones are published to. Fix: %s",
                       slot, vy_ring_status_name(status),
                       status == VYRE_STATUS_FAULT
                           ? "move it by VYRE_EDGE_RESET"
                           : "wait until it is drained, or take another slot");
}

vyre_result vy_ring_check_slot(const void *ring, uint32_t slot, uint32_t opcode, vyre_diag *diag)
{
    if (!vyre_opcode_is_publishable(opcode)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "opcode 0x%08x for slot %u is the system's and has no meaning in a "
                           "slot. Fix: take one of VYRE_OPCODE_*, or a user's from %u on",
                           opcode, slot, VYRE_USER_OPCODE_FIRST);
    }
    return check_free(ring, slot, diag);
}

void vy_ring_write_slot(void *ring, uint32_t slot, const uint32_t words[VYRE_SLOT_WORDS])
{
    size_t at = (size_t)slot * VYRE_SLOT_WORDS;
    for (size_t i = VYRE_SLOT_STATUS + 1; i < VYRE_SLOT_WORDS; i++) {
        vy_mk_put(ring, at + i, words[i]);
    }
    vy_mk_store_word(ring, at + VYRE_SLOT_STATUS, VYRE_STATUS_PUBLISHED);
}

/* ---- Slots of any kind ----------------------------------------------------------------------- */

/* Elements are as far apart as the caller's struct is long. */
static vyre_result read_params(const vy_slot_list *list, uint32_t index, vyre_slot_params *out,
                               vyre_diag *diag)
{
    size_t stride = list->slots->struct_size ? list->slots->struct_size : sizeof *list->slots;
    const void *given = (const unsigned char *)list->slots + index * stride;
    uint32_t said;
    memcpy(&said, given, sizeof said);
    if ((said ? said : sizeof *list->slots) != stride) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "struct_size of element %u is %u, and the first's is %zu. Fix: set all "
                           "to sizeof(vyre_slot_params)",
                           index, said, stride);
    }
    return vy_params_read(vyre_slot_params, out, (const vyre_slot_params *)given, diag);
}

static vyre_result check_params(const vyre_slot_params *params, uint32_t slot, uint32_t max_args,
                                vyre_diag *diag)
{
    if (params->tenant >= VYRE_MAX_TENANTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "tenant %u of slot %u is none, there are %u. Fix: pass a lower one",
                           params->tenant, slot, VYRE_MAX_TENANTS);
    }
    if ((uint32_t)params->priority >= VYRE_PRIORITY_COUNT) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "priority %u of slot %u is none, there are %u. Fix: pass a "
                           "VYRE_PRIORITY_*",
                           (unsigned)params->priority, slot, (unsigned)VYRE_PRIORITY_COUNT);
    }
    if (params->arg_count > max_args) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "slot %u has %u arguments, of which at most %u fit. Fix: pass fewer, or "
                           "let one tell where the others lie",
                           slot, params->arg_count, max_args);
    }
    if (params->arg_count > 0 && !params->args) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "args of slot %u is NULL and arg_count is %u. Fix: pass the arguments, "
                           "or a count of 0",
                           slot, params->arg_count);
    }
    return VYRE_OK;
}

vyre_result vy_ring_check_list(const void *ring, uint32_t first, const vy_slot_list *list,
                               vyre_diag *diag)
{
    if (list->count > 0 && !list->slots) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "the list of slots is NULL and its count is %u. Fix: pass the list, or "
                           "a count of 0",
                           list->count);
    }
    vyre_result code = VYRE_OK;
    for (uint32_t i = 0; !code && i < list->count; i++) {
        vyre_slot_params params;
        code = read_params(list, i, &params, diag);
        if (!code) {
            code = check_params(&params, first + i, VYRE_SLOT_MAX_ARGS - list->prefix_count, diag);
        }
        if (!code) {
            code = vy_ring_check_slot(ring, first + i, params.opcode, diag);
        }
    }
    return code;
}

void vy_ring_write_list(void *ring, uint32_t first, const vy_slot_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        vyre_slot_params params;
        if (read_params(list, i, &params, NULL)) {
            return; /* not after the check */
        }
        uint32_t words[VYRE_SLOT_WORDS] = {0, params.opcode, params.tenant, params.priority};
        uint32_t at = VYRE_SLOT_ARGS;
        for (uint32_t k = 0; k < list->prefix_count; k++) {
            words[at++] = list->prefix[k];
        }
        for (uint32_t k = 0; k < params.arg_count; k++) {
            words[at++] = params.args[k];
        }
        vy_ring_write_slot(ring, first + i, words);
    }
}

vyre_result vyre_ring_publish(void *ring, size_t size, uint32_t slot,
                              const vyre_slot_params *params, vyre_diag *diag)
{
    static const vyre_slot_params defaults = {0};
    vy_slot_list list = {params ? params : &defaults, 1, 0, {0}};
    vyre_result code = vy_ring_check(ring, size, slot, 1, diag);
    if (!code) {
        code = vy_ring_check_list(ring, slot, &list, diag);
    }
    if (!code) {
        vy_ring_write_list(ring, slot, &list);
    }
    return code;
}

vyre_result vyre_ring_publish_batch(void *ring, size_t size, uint32_t first,
                                    const vyre_slot_params *slots, uint32_t count, uint32_t tag,
                                    vyre_diag *diag)
{
    vy_slot_list list = {slots, count, 0, {0}};
    vyre_result code = vy_ring_check(ring, size, first, (uint64_t)count + 1, diag);
    if (!code) {
        code = vy_ring_check_list(ring, first, &list, diag);
    }
    if (!code) {
        code = vy_ring_check_slot(ring, first + count, VYRE_OPCODE_BATCH_FENCE, diag);
    }
    if (code) {
        return code;
    }
    vy_ring_write_list(ring, first, &list);
    const uint32_t fence[VYRE_SLOT_WORDS] = {
        0, VYRE_OPCODE_BATCH_FENCE, 0, VYRE_PRIORITY_NORMAL, count, tag};
    vy_ring_write_slot(ring, first + count, fence);
    return VYRE_OK;
}

/* ---- Items ----------------------------------------------------------------------------------- */

enum { ITEM_WORDS = sizeof(vyre_work_item) / 4 };

/* Items as their words lie in memory. */
static vyre_result publish_items(void *ring, size_t size, uint32_t first, const void *items,
                                 size_t count, vyre_diag *diag)
{
    vyre_result code = vy_ring_check(ring, size, first, count, diag);
    for (uint32_t i = 0; !code && i < count; i++) {
        code = vy_ring_check_slot(ring, first + i, vy_mk_get(items, (size_t)i * ITEM_WORDS), diag);
    }
    if (code) {
        return code;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words[VYRE_SLOT_WORDS] = {0};
        words[VYRE_SLOT_OPCODE] = vy_mk_get(items, (size_t)i * ITEM_WORDS);
        words[VYRE_SLOT_PRIORITY] = VYRE_PRIORITY_NORMAL;
        for (uint32_t k = 1; k < ITEM_WORDS; k++) {
            words[VYRE_SLOT_ARGS + k - 1] = vy_mk_get(items, (size_t)i * ITEM_WORDS + k);
        }
        vy_ring_write_slot(ring, first + i, words);
    }
    return VYRE_OK;
}

vyre_result vyre_ring_publish_items(void *ring, size_t size, uint32_t first,
                                    const vyre_work_item *items, uint32_t count, vyre_diag *diag)
{
    if (count > 0 && !items) {
        vy_diag_clear(diag);
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "items is NULL and their count is %u. Fix: pass the items, or a count "
                           "of 0",
                           count);
    }
    return publish_items(ring, size, first, items, count, diag);
}

vyre_result vyre_ring_publish_bytes(void *ring, size_t size, uint32_t first, const void *items,
                                    size_t items_size, vyre_diag *diag)
{
    vyre_result code =
        vy_mk_check_memory(items, items_size, sizeof(vyre_work_item), "a list of items", diag);
    if (!code) {
        code = publish_items(ring, size, first, items, items_size / sizeof(vyre_work_item), diag);
    }
    return code;
}
