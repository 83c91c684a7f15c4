/* Rings of slots: their size, the state machine of a slot's status, and what readers see. Writes
 * status words alone; publish.c makes them PUBLISHED. */
#include "engine/megakernel/ring.h"

#include "engine/megakernel/atomic_word.h"

#include <string.h>

#define BIT(status) (1u << VYRE_STATUS_##status)

static const char *const status_names[VYRE_STATUS_COUNT] = {
    "EMPTY", "PUBLISHED", "CLAIMED", "DONE", "WAIT_IO", "YIELD", "REQUEUE", "FAULT",
};

/* PUBLISHED has no edge: only a publisher, who writes all of a slot, may set it. */
static const struct edge {
    const char *name;
    uint32_t from; /* bits of statuses */
    uint32_t to;
} edges[] = {
    [VYRE_EDGE_CLAIM] = {"CLAIM", BIT(PUBLISHED) | BIT(YIELD) | BIT(REQUEUE), VYRE_STATUS_CLAIMED},
    [VYRE_EDGE_DONE] = {"DONE", BIT(CLAIMED), VYRE_STATUS_DONE},
    [VYRE_EDGE_WAIT_IO] = {"WAIT_IO", BIT(CLAIMED), VYRE_STATUS_WAIT_IO},
    [VYRE_EDGE_READY] = {"READY", BIT(WAIT_IO), VYRE_STATUS_REQUEUE},
    [VYRE_EDGE_YIELD] = {"YIELD", BIT(CLAIMED), VYRE_STATUS_YIELD},
    [VYRE_EDGE_REQUEUE] = {"REQUEUE", BIT(CLAIMED), VYRE_STATUS_REQUEUE},
    [VYRE_EDGE_FAULT] = {"FAULT",
                         BIT(PUBLISHED) | BIT(CLAIMED) | BIT(WAIT_IO) | BIT(YIELD) | BIT(REQUEUE),
                         VYRE_STATUS_FAULT},
    [VYRE_EDGE_CANCEL] = {"CANCEL", BIT(PUBLISHED) | BIT(WAIT_IO) | BIT(YIELD) | BIT(REQUEUE),
                          VYRE_STATUS_EMPTY},
    [VYRE_EDGE_RESET] = {"RESET", BIT(DONE) | BIT(FAULT), VYRE_STATUS_EMPTY},
};

const char *vy_ring_status_name(uint32_t status)
{
    return status < VYRE_STATUS_COUNT ? status_names[status] : NULL;
}

vyre_result vy_ring_check(const void *ring, size_t size, uint32_t first, uint64_t count,
                          vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(ring, size, VYRE_SLOT_SIZE, "a ring", diag);
    if (code) {
        return code;
    }
    size_t slot_count = size / VYRE_SLOT_SIZE;
    if (slot_count > VYRE_MAX_SLOTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a ring of %zu slots has more than %u. Fix: use several rings",
                           slot_count, VYRE_MAX_SLOTS);
    }
    if (first + count > slot_count) {
        char last[32] = "";
        vy_fixed_text text = {last, sizeof last, 0};
        if (count > 1) {
            vy_fixed_text_printf(&text, " to %llu", (unsigned long long)(first + count - 1));
        }
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "slot %u%s: the ring has only %zu slots. Fix: begin lower, or take "
                           "fewer or another ring",
                           first, last, slot_count);
    }
    return VYRE_OK;
}

vyre_result vyre_ring_query_size(uint32_t slot_count, size_t *out_size, vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(out_size, sizeof *out_size, 1, "out_size", diag);
    if (!code && slot_count > VYRE_MAX_SLOTS) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "a ring of %u slots has more than %u. Fix: use several rings",
                           slot_count, VYRE_MAX_SLOTS);
    }
    if (!code) {
        *out_size = (size_t)slot_count * VYRE_SLOT_SIZE;
    }
    return code;
}

vyre_result vyre_ring_clear(void *ring, size_t size, vyre_diag *diag)
{
    vyre_result code = vy_ring_check(ring, size, 0, 0, diag);
    if (!code && size > 0) {
        memset(ring, 0, size);
    }
    return code;
}

static vyre_result no_such_edge(uint32_t slot, uint32_t status, const struct edge *edge,
                                vyre_diag *diag)
{
    if (status >= VYRE_STATUS_COUNT) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "slot %u has the status %u, which is none. Fix: find who else writes "
                           "there, and clear the ring",
                           slot, status);
    }
    char list[96];
    vy_fixed_text text = {list, sizeof list, 0};
    for (uint32_t i = 0; i < VYRE_STATUS_COUNT; i++) {
        if (edge->from >> i & 1) {
            vy_fixed_text_printf(&text, "%s%s", text.length ? ", " : "", status_names[i]);
        }
    }
    if (status == VYRE_STATUS_CLAIMED) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "slot %u is CLAIMED, and %s leaves from %s alone. Fix: wait until who "
                           "claimed it leaves it",
                           slot, edge->name, list);
    }
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                       "slot %u is %s, and %s leaves from %s alone. Fix: take an edge that leaves "
                       "from %s",
                       slot, status_names[status], edge->name, list, status_names[status]);
}

vyre_result vyre_ring_move(void *ring, size_t size, uint32_t slot, vyre_slot_edge edge,
                           vyre_diag *diag)
{
    vyre_result code = vy_ring_check(ring, size, slot, 1, diag);
    if (code) {
        return code;
    }
    if ((size_t)edge >= VY_COUNT_OF(edges)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u is no edge for slot %u, there are %zu. Fix: pass a VYRE_EDGE_*",
                           (unsigned)edge, slot, VY_COUNT_OF(edges));
    }
    size_t at = (size_t)slot * VYRE_SLOT_WORDS + VYRE_SLOT_STATUS;
    uint32_t status = vy_mk_load_word(ring, at);
    do { /* others may move it meanwhile */
        if (status >= VYRE_STATUS_COUNT || !(edges[edge].from >> status & 1)) {
            return no_such_edge(slot, status, &edges[edge], diag);
        }
    } while (!vy_mk_swap_word(ring, at, &status, edges[edge].to));
    return VYRE_OK;
}

vyre_result vyre_ring_count(const void *ring, size_t size, vyre_ring_counts *out_counts,
                            vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(out_counts, sizeof *out_counts, 1, "out_counts", diag);
    if (!code) {
        code = vy_ring_check(ring, size, 0, 0, diag);
    }
    if (code) {
        return code;
    }
    vyre_ring_counts counts = {{0}, 0, (uint32_t)(size / VYRE_SLOT_SIZE), 0};
    for (size_t i = 0; i < counts.slot_count; i++) {
        uint32_t status = vy_mk_get(ring, i * VYRE_SLOT_WORDS + VYRE_SLOT_STATUS);
        ++*(status < VYRE_STATUS_COUNT ? &counts.by_status[status] : &counts.unknown);
    }
    counts.queue_depth = counts.slot_count - counts.by_status[VYRE_STATUS_EMPTY] -
                         counts.by_status[VYRE_STATUS_DONE];
    *out_counts = counts;
    return VYRE_OK;
}

vyre_result vyre_ring_read(const void *ring, size_t size, uint32_t slot,
                           uint32_t out_words[VYRE_SLOT_WORDS], vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(out_words, VYRE_SLOT_SIZE, 1, "out_words", diag);
    if (!code) {
        code = vy_ring_check(ring, size, slot, 1, diag);
    }
    if (code) {
        return code;
    }
    size_t at = (size_t)slot * VYRE_SLOT_WORDS;
    uint32_t status = vy_mk_get(ring, at + VYRE_SLOT_STATUS);
    /* What was there when the status was set is there now. */
    atomic_thread_fence(memory_order_acquire);
    for (size_t i = 0; i < VYRE_SLOT_WORDS; i++) {
        out_words[i] = i == VYRE_SLOT_STATUS ? status : vy_mk_get(ring, at + i);
    }
    return VYRE_OK;
}
