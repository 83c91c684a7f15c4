/* Packed slots: several operations in one slot's arguments, as bytes
 *
 *   count, argument words, (opcode, offset) of each operation, 0 up to a word; arguments; 0
 *
 * There is one encoding of a list of operations; the decoder takes no other. */
#include "engine/megakernel/ring.h"

static uint32_t head_words(uint32_t count)
{
    return (2 + 2 * count + 3) / 4;
}

static uint32_t get_byte(const uint32_t *args, uint32_t index)
{
    return args[index / 4] >> index % 4 * 8 & 0xff;
}

static void put_byte(uint32_t *args, uint32_t index, uint32_t value)
{
    args[index / 4] |= value << index % 4 * 8;
}

static vyre_result bad_ops(vyre_diag *diag, uint32_t slot, uint32_t op, const char *what)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                       "operation %u of packed slot %u %s", op, slot, what);
}

static vyre_result check_ops(uint32_t slot, const vyre_packed_op *ops, uint32_t count,
                             vyre_diag *diag)
{
    if (count == 0 || count > VYRE_MAX_PACKED_OPS || !ops) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "packed slot %u has %u operations%s. Fix: pass 1 to %u", slot, count,
                           ops ? "" : " at NULL", VYRE_MAX_PACKED_OPS);
    }
    uint64_t words = head_words(count);
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].opcode == VYRE_OPCODE_PACKED_SLOT) {
            return bad_ops(diag, slot, i,
                           "is a packed slot itself. Fix: pass its operations, or publish it "
                           "alone");
        }
        if (ops[i].opcode > 255) {
            return bad_ops(diag, slot, i,
                           "has an opcode over 255, which fits in no byte. Fix: publish it in a "
                           "slot of its own");
        }
        if (!vyre_opcode_is_publishable(ops[i].opcode)) {
            return bad_ops(diag, slot, i,
                           "has an opcode of the system's with no meaning in a slot. Fix: take "
                           "one of VYRE_OPCODE_*, or a user's");
        }
        if (ops[i].arg_count > 0 && !ops[i].args) {
            return bad_ops(diag, slot, i, "has arguments at NULL. Fix: pass them, or a count of 0");
        }
        words += ops[i].arg_count;
    }
    if (words > VYRE_SLOT_MAX_ARGS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "packed slot %u needs %llu words, %u of them for its head, of which "
                           "there are %u. Fix: use two slots",
                           slot, (unsigned long long)words, head_words(count), VYRE_SLOT_MAX_ARGS);
    }
    return VYRE_OK;
}

static void encode(const vyre_packed_op *ops, uint32_t count, uint32_t out_args[VYRE_SLOT_MAX_ARGS])
{
    uint32_t head = head_words(count), offset = 0;
    for (uint32_t i = 0; i < VYRE_SLOT_MAX_ARGS; i++) {
        out_args[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        put_byte(out_args, 2 + 2 * i, ops[i].opcode);
        put_byte(out_args, 3 + 2 * i, offset);
        for (uint32_t k = 0; k < ops[i].arg_count; k++) {
            out_args[head + offset++] = ops[i].args[k];
        }
    }
    put_byte(out_args, 0, count);
    put_byte(out_args, 1, offset);
}

vyre_result vyre_ring_publish_packed(void *ring, size_t size, uint32_t slot, uint32_t tenant,
                                     vyre_priority priority, const vyre_packed_op *ops,
                                     uint32_t count, vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_result code = check_ops(slot, ops, count, diag);
    if (code) {
        return code;
    }
    uint32_t args[VYRE_SLOT_MAX_ARGS];
    encode(ops, count, args);
    vyre_slot_params params = {sizeof params, VYRE_OPCODE_PACKED_SLOT, tenant, priority,
                               args,          VYRE_SLOT_MAX_ARGS};
    return vyre_ring_publish(ring, size, slot, &params, diag);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static vyre_result bad_head(vyre_diag *diag, const char *what, uint32_t value)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                       "the words of a packed slot %s (%u). Fix: pass arguments that "
                       "vyre_ring_publish_packed wrote",
                       what, value);
}

static vyre_result check_head(const uint32_t args[VYRE_SLOT_MAX_ARGS], vyre_diag *diag)
{
    uint32_t count = get_byte(args, 0), total = get_byte(args, 1), last = 0;
    if (count == 0 || count > VYRE_MAX_PACKED_OPS) {
        return bad_head(diag, "have a count of operations that is not 1 to 23", count);
    }
    uint32_t head = head_words(count);
    if (head + total > VYRE_SLOT_MAX_ARGS) {
        return bad_head(diag, "have more argument words than fit behind their head", total);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t opcode = get_byte(args, 2 + 2 * i), offset = get_byte(args, 3 + 2 * i);
        if (!vyre_opcode_is_publishable(opcode)) {
            return bad_head(diag, "have an opcode that may not be packed", opcode);
        }
        if (offset < last || offset > total || (i == 0 && offset != 0)) {
            return bad_head(diag, "have an offset that does not follow the one before", offset);
        }
        last = offset;
    }
    for (uint32_t i = 2 + 2 * count; i < 4 * head; i++) {
        if (get_byte(args, i)) {
            return bad_head(diag, "have a byte between head and arguments", get_byte(args, i));
        }
    }
    for (uint32_t i = head + total; i < VYRE_SLOT_MAX_ARGS; i++) {
        if (args[i]) {
            return bad_head(diag, "have a word behind their arguments", args[i]);
        }
    }
    return VYRE_OK;
}

vyre_result vyre_packed_decode(const uint32_t args[VYRE_SLOT_MAX_ARGS],
                               vyre_packed_op out_ops[VYRE_MAX_PACKED_OPS], uint32_t *out_count,
                               vyre_diag *diag)
{
    vy_diag_clear(diag);
    vyre_result code = check_head(args, diag);
    if (code) {
        return code;
    }
    uint32_t count = get_byte(args, 0), total = get_byte(args, 1), head = head_words(count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = get_byte(args, 3 + 2 * i);
        uint32_t end = i + 1 < count ? get_byte(args, 5 + 2 * i) : total;
        vyre_packed_op op = {get_byte(args, 2 + 2 * i), end > offset ? args + head + offset : NULL,
                             end - offset};
        out_ops[i] = op;
    }
    *out_count = count;
    return VYRE_OK;
}
