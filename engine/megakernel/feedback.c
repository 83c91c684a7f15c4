/* Counting what waits. */
#include "engine/megakernel/feedback.h"

#include "engine/megakernel/ratio.h"
#include "engine/megakernel/ring.h"

enum { TICKET = VYRE_SLOT_ARGS, CLASS, REQUIRED = 0, LOOK_AHEAD = 1 };

static bool is_one_of(const uint32_t *opcodes, uint32_t count, uint32_t opcode)
{
    for (uint32_t i = 0; i < count; i++) {
        if (opcodes[i] == opcode) {
            return true;
        }
    }
    return false;
}

static bool waits(uint32_t status)
{
    return status == VYRE_STATUS_PUBLISHED || status == VYRE_STATUS_WAIT_IO ||
           status == VYRE_STATUS_YIELD || status == VYRE_STATUS_REQUEUE;
}

typedef struct counting {
    vy_arena *arena;
    vy_mk_map map; /* by (ticket, opcode) */
    VY_VEC(vy_mk_window) windows;
} counting;

/* At most VYRE_MAX_SLOTS slots are counted, so no count wraps. */
static vyre_result count_slot(counting *c, const uint32_t words[VYRE_SLOT_WORDS], uint32_t slot,
                              vyre_diag *diag)
{
    if (words[CLASS] != REQUIRED && words[CLASS] != LOOK_AHEAD) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "slot %u of opcode 0x%08x has the class %u, which is none. Fix: name "
                           "the opcodes of windows alone, which vyre_ring_publish_window wrote",
                           slot, words[VYRE_SLOT_OPCODE], words[CLASS]);
    }
    const vy_mk_key key = {words[TICKET], words[VYRE_SLOT_OPCODE], 0};
    uint32_t known = c->map.keys.count, number = vy_mk_map_intern(&c->map, key);
    const vy_mk_window fresh = {words[TICKET], words[VYRE_SLOT_OPCODE], 0, 0};
    if (number == VY_MK_NONE || (number == known && !vy_vec_push(c->arena, &c->windows, fresh))) {
        return vy_diag_no_memory(diag);
    }
    vy_mk_window *window = &c->windows.data[number];
    ++*(words[CLASS] == REQUIRED ? &window->required_count : &window->look_ahead_count);
    return VYRE_OK;
}

vyre_result vy_mk_windows_read(vy_arena *arena, const void *ring, size_t size,
                               const uint32_t *opcodes, uint32_t opcode_count,
                               const vy_mk_window **out_windows, uint32_t *out_count,
                               vyre_diag *diag)
{
    counting c = {.arena = arena};
    *out_windows = NULL;
    *out_count = 0;
    vy_mk_map_init(&c.map, arena);
    vyre_result code = vy_ring_check(ring, size, 0, 0, diag);
    for (uint32_t slot = 0; !code && slot < size / VYRE_SLOT_SIZE; slot++) {
        uint32_t words[VYRE_SLOT_WORDS];
        code = vyre_ring_read(ring, size, slot, words, diag);
        if (!code && waits(words[VYRE_SLOT_STATUS]) &&
            is_one_of(opcodes, opcode_count, words[VYRE_SLOT_OPCODE])) {
            code = count_slot(&c, words, slot, diag);
        }
    }
    if (!code) {
        *out_windows = c.windows.data;
        *out_count = c.windows.count;
    }
    return code;
}

void vy_mk_feed_tasks(const vyre_task_counts *counts, vy_mk_request *request)
{
    uint64_t requeues = counts->requeues;
    if (!vy_mk_add(requeues, request->requeue_count, &requeues) || requeues > UINT32_MAX) {
        requeues = UINT32_MAX;
    }
    request->queue_length = counts->schedulable;
    request->requeue_count = (uint32_t)requeues;
    request->age = counts->max_age;
}
