/* Waiting for a scan: what its launches left is checked, hits are fetched, written again where
 * there was no room for them, and put in order. */
#include "engine/scan/scanner.h"

#include <string.h>

#define NO_PLACE ((vy_loc){0, 0})

/* ---- Ends ------------------------------------------------------------------------------------ */

static void leave(vyre_scanner *s, vyre_scan_batch *b)
{
    vy_mutex_lock(&s->mutex);
    for (vyre_scan_batch **at = &s->busy; *at; at = &(*at)->next) {
        if (*at == b) {
            *at = b->next;
            break;
        }
    }
    vy_mutex_unlock(&s->mutex);
    b->scanner = NULL;
    b->next = NULL;
}

void vy_scan_give_up(vyre_scanner *s, vyre_scan_batch *b)
{
    for (uint32_t i = 0; i < s->bank_count && i < b->part_count; i++) {
        vy_scan_part *part = &b->parts[i];
        if (part->is_submitted && !part->has_ended) {
            /* Neither the host's rows nor the batch's words may be in use behind this. */
            vyre_result code = vyre_ticket_wait(b->device, &part->ticket, UINT64_MAX, NULL, NULL);
            (void)code; /* it has ended, well or not */
        }
        part->is_submitted = false;
        part->has_ended = true;
    }
    b->hit_count = 0;
    leave(s, b);
}

/* ---- What a launch left ---------------------------------------------------------------------- */

static vyre_result check_part(const vyre_scanner *s, vy_scan_part *part, uint32_t bank_index,
                              vyre_diag *diag)
{
    uint64_t queued =
        (uint64_t)part->params[VY_SCAN_ROW_COUNT] * s->banks[bank_index].automaton_count;
    if (part->report.record.kind != VYRE_RECORD_NONE) {
        return vy_diag_set(
            diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
            "one segment of the batch has more hits than its share of the 4294967295 "
            "that can be counted. Fix: use a smaller segment_size, fewer patterns, "
            "or fewer files at once");
    }
    if (part->words[VYRE_SCAN_DONE_COUNT] != (uint32_t)queued) {
        return vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, NO_PLACE,
                           "%u of %llu segments were walked. Fix: report it with the device and "
                           "its driver",
                           (unsigned)part->words[VYRE_SCAN_DONE_COUNT], (unsigned long long)queued);
    }
    if (part->words[VYRE_SCAN_HIT_HEAD] == VY_SCAN_TOO_MANY) {
        return vy_diag_set(
            diag, VYRE_ERROR_INVALID_ARGUMENT, NO_PLACE,
            "the batch has more than 4294967294 hits. Fix: scan fewer files at once");
    }
    part->total = part->words[VYRE_SCAN_HIT_HEAD];
    return VYRE_OK;
}

static void add_report(const vyre_scanner *s, vyre_scan_batch *b, const vy_scan_part *part,
                       uint32_t bank_index)
{
    vyre_scan_report *r = &b->report;
    uint64_t tiles = ((uint64_t)part->params[VY_SCAN_ROW_COUNT] + s->workgroup - 1) / s->workgroup *
                     s->banks[bank_index].automaton_count;
    uint64_t claimed = part->words[VYRE_SCAN_HEAD];
    r->claimed_count += claimed < tiles ? claimed : tiles;
    r->done_count += part->words[VYRE_SCAN_DONE_COUNT];
    r->hit_count += part->total;
    r->read_back_size += part->report.download_size;
    uint64_t lanes = (uint64_t)part->groups * s->workgroup;
    uint64_t bps = (uint64_t)part->words[VYRE_SCAN_DONE_COUNT] * 10000 / lanes;
    r->occupancy_bps = bps > 10000 ? 10000 : (uint32_t)bps;
    if (part->report.device_ns != VYRE_NS_NONE) {
        r->device_ns = r->device_ns == VYRE_NS_NONE ? part->report.device_ns
                                                    : r->device_ns + part->report.device_ns;
    }
}

/* ---- Hits ------------------------------------------------------------------------------------ */

static vyre_result copy_hits(vyre_scan_batch *b, const vy_scan_part *part, uint64_t first,
                             uint32_t count, vyre_diag *diag)
{
    const uint64_t size = (uint64_t)count * sizeof(vyre_hit);
    const uint64_t to = first * sizeof(vyre_hit);
    b->report.read_back_size += size;
    if (!b->hits_buffer.bits) {
        return vyre_buffer_download(b->device, part->hits, 0, b->hits + first, size, diag);
    }
    const vyre_copy copy = {part->hits, b->hits_buffer, 0, to, size};
    vyre_transfer_params params;
    vyre_transfer_params_init(&params);
    params.copies = &copy;
    params.copy_count = 1;
    vyre_result code = vyre_transfer(b->device, &params, diag);
    if (code == VYRE_OK && !b->hits_are_coherent) {
        code = vyre_buffer_sync_mapped(b->device, b->hits_buffer, to, size, VYRE_MAPPED_FROM_DEVICE,
                                       diag);
    }
    return code;
}

/* `count` hits from the start of the device's become the batch's from `first` on; those that came
 * with the launch are there. */
static vyre_result fetch(vyre_scan_batch *b, const vy_scan_part *part, uint64_t first,
                         uint32_t count, vyre_diag *diag)
{
    if (count <= VY_SCAN_INLINE_HITS && part->hit_capacity >= VY_SCAN_INLINE_HITS) {
        memcpy(b->hits + first, part->inline_hits, (size_t)count * sizeof *b->hits);
        return VYRE_OK;
    }
    b->report.waits++;
    return copy_hits(b, part, first, count, diag);
}

/* Room for all of them, or for as many as one launch may write or memory holds. */
static vyre_result fetch_in_parts(vyre_scanner *s, vyre_scan_batch *b, uint32_t bank_index,
                                  uint64_t first, vyre_diag *diag)
{
    vy_scan_part *part = &b->parts[bank_index];
    uint32_t wanted = part->total < VYRE_MAX_HITS ? (uint32_t)part->total : VYRE_MAX_HITS;
    uint64_t fetched = 0;
    vyre_result code = VYRE_OK;
    b->report.dropped_count += part->total - part->hit_capacity;
    if (wanted > part->hit_capacity) {
        code = vy_scan_part_hits(b, part, wanted, diag);
        if (code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY) {
            vy_diag_clear(diag);
            code = VYRE_OK; /* by as many as there is room for */
        }
    }
    while (code == VYRE_OK && fetched < part->total) {
        code = vy_scan_again(s, b, bank_index, (uint32_t)fetched, diag);
        uint64_t left = part->total - fetched;
        uint32_t count = left < part->hit_capacity ? (uint32_t)left : part->hit_capacity;
        if (code == VYRE_OK) {
            code = fetch(b, part, first + fetched, count, diag);
        }
        fetched += count;
    }
    return code;
}

static vyre_result fetch_part(vyre_scanner *s, vyre_scan_batch *b, uint32_t bank_index,
                              uint64_t first, vyre_diag *diag)
{
    vy_scan_part *part = &b->parts[bank_index];
    vyre_result code = part->total <= part->hit_capacity
                           ? fetch(b, part, first, (uint32_t)part->total, diag)
                           : fetch_in_parts(s, b, bank_index, first, diag);
    if (code == VYRE_OK && s->banks[bank_index].automaton_count > 1) {
        vy_scan_order_rules(b->hits + first, part->total);
    }
    return code;
}

static vyre_result merge(vyre_scanner *s, vyre_scan_batch *b, vyre_diag *diag)
{
    uint64_t *ends = vy_alloc_zeroed(&b->allocator, s->bank_count, sizeof *ends);
    vyre_hit *spare = vy_alloc_zeroed(&b->allocator, (size_t)b->hit_count, sizeof *spare);
    vyre_result code = ends && spare ? VYRE_OK : vy_diag_no_memory(diag);
    if (code == VYRE_OK) {
        uint64_t end = 0;
        for (uint32_t i = 0; i < s->bank_count; i++) {
            ends[i] = end += b->parts[i].total;
        }
        vy_scan_merge(b->hits, spare, ends, s->bank_count);
    }
    vy_free(&b->allocator, spare, (size_t)b->hit_count * sizeof *spare);
    vy_free(&b->allocator, ends, s->bank_count * sizeof *ends);
    return code;
}

static vyre_result fetch_all(vyre_scanner *s, vyre_scan_batch *b, vyre_diag *diag)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->bank_count; i++) {
        total += b->parts[i].total;
    }
    vyre_result code = vy_scan_batch_room(b, total, diag);
    b->hit_count = 0;
    for (uint32_t i = 0; i < s->bank_count && code == VYRE_OK; i++) {
        if (b->parts[i].total) {
            code = fetch_part(s, b, i, b->hit_count, diag);
        }
        b->hit_count += b->parts[i].total;
    }
    if (code == VYRE_OK && s->bank_count > 1 && total) {
        code = merge(s, b, diag);
    }
    return code;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* The first error of all; TIMEOUT leaves the others to be waited for. */
static vyre_result wait_for_parts(vyre_scanner *s, vyre_scan_batch *b, uint64_t timeout_ns,
                                  vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    vyre_result first = VYRE_OK;
    for (uint32_t i = 0; i < s->bank_count; i++) {
        vy_scan_part *part = &b->parts[i];
        if (part->has_ended || !part->is_submitted) {
            continue;
        }
        uint64_t passed = vy_clock_ns() - start;
        uint64_t left = timeout_ns == UINT64_MAX ? UINT64_MAX
                        : timeout_ns > passed    ? timeout_ns - passed
                                                 : 0;
        vyre_result code = vyre_ticket_wait(b->device, &part->ticket, left, &part->report,
                                            first == VYRE_OK ? diag : NULL);
        if (code == VYRE_ERROR_TIMEOUT) {
            return first == VYRE_OK ? code : first;
        }
        part->has_ended = true;
        part->is_submitted = false;
        b->report.waits++;
        if (code == VYRE_OK) {
            code = check_part(s, part, i, first == VYRE_OK ? diag : NULL);
            add_report(s, b, part, i);
        }
        first = first == VYRE_OK ? code : first;
    }
    return first;
}

vyre_result vy_scan_wait(vyre_scanner *s, vyre_scan_batch *b, uint64_t timeout_ns, vyre_diag *diag)
{
    vyre_result code =
        s->device ? wait_for_parts(s, b, timeout_ns, diag) : vy_scan_on_host(s, b, diag);
    if (code == VYRE_ERROR_TIMEOUT) {
        return code;
    }
    if (code == VYRE_OK && s->device) {
        uint32_t allocations = b->allocations;
        code = fetch_all(s, b, diag);
        b->report.allocations += b->allocations - allocations;
    }
    b->report.moved_size = b->report.uploaded_size + b->report.read_back_size;
    b->report.wall_ns = vy_clock_ns() - b->start_ns;
    if (code != VYRE_OK) {
        vy_scan_give_up(s, b);
    } else {
        leave(s, b);
    }
    return code;
}
