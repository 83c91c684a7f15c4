/* What a queue came to: the report, and what is the caller's. */
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/ratio.h"
#include "engine/megakernel/report.h"
#include "engine/megakernel/words.h"

#include <string.h>

static const char *claim_name(vyre_claim claim)
{
    switch (claim) {
    case VYRE_CLAIM_LANE:
        return "lane";
    case VYRE_CLAIM_SUBGROUP:
        return "subgroup";
    default:
        return "workgroup";
    }
}

/* ---- The plan -------------------------------------------------------------------------------- */

void vy_mk_queue_tell_plan(vy_mk_queue *q)
{
    const vy_mk_lineage *l = &q->plan.lineage;
    const vyre_queue_params *p = &q->params;
    vyre_queue_report *r = &q->report;
    r->published = q->plan.count;
    r->deduped = q->plan.pair_count;
    r->waves = q->plan.count ? q->plan.wave_count : 0;
    r->plan_ns = q->plan.plan_ns;
    r->lineage_ns = q->plan.lineage_ns;
    r->lineage_items = l->item_count;
    r->lineage_opcode_count = l->opcode_count;
    if (p->lineage && l->item_count) {
        memcpy(p->lineage, l->folded,
               vy_mk_min(l->item_count, p->lineage_capacity) * sizeof *p->lineage);
    }
    for (uint32_t i = 0; p->lineage_sets && i < vy_mk_min(l->item_count, p->lineage_capacity);
         i++) {
        memset(p->lineage_sets[i], 0, sizeof p->lineage_sets[i]);
        memcpy(p->lineage_sets[i], l->sets + (size_t)i * l->set_words,
               l->set_words * sizeof *l->sets);
    }
    if (p->lineage_opcodes && l->opcode_count) {
        memcpy(p->lineage_opcodes, l->opcodes, l->opcode_count * sizeof *l->opcodes);
    }
}

/* ---- The report ------------------------------------------------------------------------------ */

static vyre_result tell_items(vy_mk_queue *q, vyre_diag *diag)
{
    vyre_queue_report *r = &q->report;
    vyre_control_report control;
    vy_mk_items items;
    vyre_result code = vyre_control_read(q->memory.control, q->control_size, &control, diag);
    if (code != VYRE_OK) {
        return code;
    }
    const vy_mk_outcome outcome = {.initial_count = r->given,
                                   .published_count = r->published,
                                   .done_count = control.done_count,
                                   .denied_count = control.denied_count,
                                   .fault_count = control.fault_count,
                                   .pairs = q->plan.pairs,
                                   .pair_count = q->plan.pair_count};
    code = vy_mk_report_items(&outcome, &items, diag);
    if (code != VYRE_OK) {
        return code;
    }
    r->processed = items.processed;
    r->remaining = items.remaining;
    r->denied = items.denied;
    r->faulted = items.faulted;
    r->unknown = control.unknown_count;
    r->requeues = control.requeue_count;
    r->epoch = control.epoch;
    r->was_shut_down = control.shutdown;
    r->fault_code = q->fault_code;
    r->fault_slot = VYRE_DIAG_NONE;
    if (q->fault_code) {
        r->fault_slot = q->plan.given_at ? q->plan.given_at[q->fault_slot] : q->fault_slot;
    }
    return VYRE_OK;
}

/* Sums of bytes that cannot overflow unseen. */
static vyre_result tell_bytes(vy_mk_queue *q, vyre_diag *diag)
{
    vyre_queue_report *r = &q->report;
    vy_mk_bytes bytes;
    const uint64_t direct =
        q->memory.mapped
            ? (uint64_t)q->slot_count *
                  (q->form == VY_DRAIN_OF_RING ? VYRE_SLOT_SIZE : sizeof(vyre_work_item))
            : 0;
    const uint64_t uploads[] = {q->uploaded, direct};
    vyre_result code = vy_mk_report_bytes(uploads, 2, &q->read_back, 1, &bytes, diag);
    if (code == VYRE_OK) {
        r->upload_size = bytes.uploaded;
        r->readback_size = bytes.read_back;
        r->moved_size = bytes.moved;
    }
    return code;
}

static void tell_launch(vy_mk_queue *q)
{
    vyre_queue_report *r = &q->report;
    const vy_mk_recommendation *n = &q->recommendation;
    uint32_t groups = q->slice_groups, width = q->variant.workgroup;
    r->form = q->form == VY_DRAIN_OF_RING ? "ring" : "items";
    r->claim = claim_name(q->variant.claim);
    r->is_special = q->variant.is_special;
    r->topology = vy_mk_topology_name(n->topology);
    r->pressure = vy_mk_pressure_name(n->pressure);
    r->mode = vy_mk_mode_name(n->mode);
    r->route = vy_mk_route_name(n->promotion_evidence.route);
    r->worker_count = n->worker_count;
    r->workgroup = width;
    r->group_count = groups;
    r->hit_capacity = n->hit_capacity;
    uint64_t slots = q->memory.ring_capacity /
                     (q->form == VY_DRAIN_OF_RING ? VYRE_SLOT_SIZE : sizeof(vyre_work_item));
    r->occupancy_proxy_bps = vy_mk_occupancy_proxy_bps(r->published, groups, width);
    r->frontier_density_bps = vy_mk_frontier_density_bps(r->published, slots);
    uint32_t executed = r->processed - vy_mk_min(r->processed, r->deduped) + r->faulted;
    uint64_t rounds = q->executed_rounds;
    r->lane_busy_bps = vy_mk_lane_busy_bps(executed, groups, width,
                                           rounds > UINT32_MAX ? UINT32_MAX : (uint32_t)rounds);
}

vyre_result vy_mk_queue_tell(vy_mk_queue *q, vyre_diag *diag)
{
    uint64_t now = vy_clock_ns();
    q->report.wall_ns = now - q->called;
    q->report.dispatch_ns = q->first_submit ? now - q->first_submit : 0;
    vyre_result code = tell_items(q, diag);
    if (code == VYRE_OK) {
        tell_launch(q);
        code = tell_bytes(q, diag);
    }
    return code;
}

/* ---- What is the caller's -------------------------------------------------------------------- */

/* The ring as the device left it, in memory.host. */
static vyre_result fetch_ring(vy_mk_queue *q, vyre_diag *diag)
{
    uint64_t size = (uint64_t)q->slot_count * VYRE_SLOT_SIZE;
    if (q->has_ring || !q->memory.mapped) {
        return VYRE_OK;
    }
    vyre_result code = vyre_buffer_download(q->device, q->memory.buffer, q->memory.ring_offset,
                                            q->memory.host, size, diag);
    if (code == VYRE_OK) {
        q->has_ring = true;
        q->read_back += size;
        q->report.readback_buffers++;
        q->report.sync_points++;
    }
    return code;
}

/* Counted by status, the slots must say what the counters say. */
static vyre_result count_statuses(vy_mk_queue *q, vyre_diag *diag)
{
    vyre_ring_counts *c = &q->report.statuses;
    vyre_result code =
        vyre_ring_count(q->memory.host, (size_t)q->slot_count * VYRE_SLOT_SIZE, c, diag);
    if (code != VYRE_OK) {
        return code;
    }
    q->report.waiting = c->by_status[VYRE_STATUS_WAIT_IO];
    uint32_t done = vy_mk_get(q->memory.control, VYRE_CONTROL_DONE_COUNT);
    uint32_t faults = vy_mk_get(q->memory.control, VYRE_CONTROL_FAULT_COUNT);
    if (!q->is_ring &&
        (c->by_status[VYRE_STATUS_DONE] != done || c->by_status[VYRE_STATUS_FAULT] != faults)) {
        return vy_diag_set(
            diag, VYRE_ERROR_INTERNAL, (vy_loc){0, 0},
            "%u slots are DONE and %u FAULT, and the kernel counted %u and %u. Fix: see "
            "whether a handler writes the queue's own buffers, and else report it",
            (unsigned)c->by_status[VYRE_STATUS_DONE], (unsigned)c->by_status[VYRE_STATUS_FAULT],
            (unsigned)done, (unsigned)faults);
    }
    return VYRE_OK;
}

vyre_result vy_mk_queue_give_out(vy_mk_queue *q, vyre_diag *diag)
{
    const vyre_queue_params *p = &q->params;
    vyre_result code = VYRE_OK;
    if (q->form == VY_DRAIN_OF_RING && (q->is_ring || (p->flags & VYRE_QUEUE_STRICT))) {
        code = fetch_ring(q, diag);
        code = code == VYRE_OK ? count_statuses(q, diag) : code;
    }
    if (code != VYRE_OK) {
        return code;
    }
    if (q->is_ring) {
        memcpy(q->ring, q->memory.host, (size_t)q->slot_count * VYRE_SLOT_SIZE);
    }
    if (p->control) {
        memcpy(p->control, q->memory.control, q->control_size);
    }
    if (p->debug_log) {
        memcpy(p->debug_log, q->memory.debug_log, p->debug_size);
    }
    if (p->io_queue) {
        memcpy(p->io_queue, q->io, p->io_size);
    }
    return VYRE_OK;
}
