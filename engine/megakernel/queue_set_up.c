/* The start of a queue: its parameters and items are checked, the queue is planned, and there is
 * room for it. Everything that can be refused is refused here, before anything is launched. */
#include "engine/megakernel/budget.h"
#include "engine/megakernel/config.h"
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/ratio.h"
#include "engine/megakernel/words.h"

#include <string.h>

#define CONTROL_SIZE ((size_t)VYRE_CONTROL_OBSERVABLES * 4)

/* ---- Parameters ------------------------------------------------------------------------------ */

static vyre_result refuse(vyre_diag *diag, const char *format, ...) VY_PRINTF(2, 3);

static vyre_result refuse(vyre_diag *diag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vyre_result code =
        vy_diag_setv(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0}, format, arguments);
    va_end(arguments);
    return code;
}

static vyre_result check_buffers(const vyre_queue_params *p, vyre_diag *diag)
{
    vyre_result code = vyre_io_check(p->io_queue, p->io_size, diag);
    if (code == VYRE_OK && (p->control || p->control_size)) {
        code = vy_mk_check_memory(p->control, p->control_size, 4, "a control buffer", diag);
        size_t most = CONTROL_SIZE + (size_t)VYRE_MAX_OBSERVABLES * 4;
        if (code == VYRE_OK && (p->control_size < CONTROL_SIZE || p->control_size > most)) {
            code =
                refuse(diag,
                       "a control buffer of %zu bytes is given, and one has %zu to %zu. Fix: take "
                       "the size from vyre_control_query_size",
                       p->control_size, CONTROL_SIZE, most);
        }
    }
    if (code == VYRE_OK && (p->debug_log || p->debug_size)) {
        code = vy_mk_check_memory(p->debug_log, p->debug_size, 4, "a debug log", diag);
        if (code == VYRE_OK && (p->debug_size < 4 || (p->debug_size / 4 - 1) % 4 != 0)) {
            code = refuse(diag,
                          "a debug log of %zu bytes is given. Fix: take the size from "
                          "vyre_debug_log_query_size",
                          p->debug_size);
        }
    }
    return code;
}

#define ALL_FLAGS 0x3ffu

static vyre_result check_flags(const vyre_queue_params *p, bool is_ring, vyre_diag *diag)
{
    if (p->flags & ~ALL_FLAGS) {
        return refuse(diag, "flags are 0x%x, with bits that mean nothing. Fix: use VYRE_QUEUE_*",
                      (unsigned)p->flags);
    }
    if ((p->flags & VYRE_QUEUE_PRUNE_ALL) && (p->flags & VYRE_QUEUE_KEEP_DUPLICATES)) {
        return refuse(diag, "all duplicates are to be dropped and to be kept. Fix: leave one of "
                            "VYRE_QUEUE_PRUNE_ALL and VYRE_QUEUE_KEEP_DUPLICATES out");
    }
    if ((p->flags & VYRE_QUEUE_BY_PRIORITY) && !is_ring) {
        return refuse(diag, "a queue of items has one priority, and VYRE_QUEUE_BY_PRIORITY is set. "
                            "Fix: publish a ring, and use vyre_dispatcher_run_ring");
    }
    if (!is_ring && p->tenant >= VYRE_MAX_TENANTS) {
        return refuse(diag,
                      "tenant %u is given, and there are masks for tenants 0 to %u. Fix: use "
                      "one of these",
                      (unsigned)p->tenant, VYRE_MAX_TENANTS - 1);
    }
    if (!is_ring && (uint32_t)p->priority >= VYRE_PRIORITY_COUNT) {
        return refuse(diag, "priority %u is none. Fix: use a vyre_priority", (unsigned)p->priority);
    }
    return VYRE_OK;
}

static vyre_result take_bindings(const vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    const vyre_binding *given = q->params.bindings ? q->params.bindings : q->bindings;
    uint32_t count = q->params.bindings ? q->params.binding_count : d->binding_count;
    if (count != d->binding_count) {
        return refuse(diag,
                      "%u bindings are given, and the handlers' program has %u buffers. Fix: give "
                      "one for each that is not shared",
                      (unsigned)count, (unsigned)d->binding_count);
    }
    for (uint32_t b = 0; b < count; b++) {
        q->bindings[b] = given[b];
        if (q->device) {
            q->bindings[b].in = NULL;
            q->bindings[b].out = NULL;
        }
        if (q->device && given[b].kind == VYRE_BINDING_HOST) {
            return refuse(diag,
                          "binding %u is host memory, and a queue may take several launches. Fix: "
                          "bind a resident buffer",
                          (unsigned)b);
        }
    }
    return VYRE_OK;
}

static vyre_result check(vyre_dispatcher *d, vy_mk_queue *q, uint64_t count, bool is_ring,
                         vyre_diag *diag)
{
    const vyre_queue_params *p = &q->params;
    vy_mk_config config;
    vy_mk_config_init(&config);
    config.worker_count = p->worker_count;
    config.max_wall_ns = p->max_wall_ns;
    vyre_result code = vy_mk_config_check(&config, count, diag);
    code = code == VYRE_OK ? check_buffers(p, diag) : code;
    code = code == VYRE_OK ? check_flags(p, is_ring, diag) : code;
    return code == VYRE_OK ? take_bindings(d, q, diag) : code;
}

/* ---- What is drained ------------------------------------------------------------------------- */

/* What kernels of their own would save. */
static vyre_result list_savings(vyre_dispatcher *d, vy_mk_queue *q, vy_mk_plan_params *params,
                                vyre_diag *diag)
{
    const uint32_t flags = q->params.flags;
    bool as_ring = (flags & VYRE_QUEUE_STRICT) || q->survey.has_packed || q->survey.has_requeues;
    if (!(flags & VYRE_QUEUE_ARRANGE) || (flags & VYRE_QUEUE_NO_SPECIAL) || as_ring) {
        return VYRE_OK;
    }
    vy_mk_cost *savings =
        vy_arena_alloc(&q->arena, vy_mk_trial_count(d->handler_count), sizeof *savings);
    if (!savings) {
        return vy_diag_no_memory(diag);
    }
    uint64_t launch_ns = atomic_load(&d->launch_ns);
    params->savings = savings;
    params->saving_count = vy_mk_trial_list_savings(d, savings);
    params->launch_cost =
        launch_ns > UINT64_MAX / VY_MK_COST_UNIT ? UINT64_MAX : launch_ns * VY_MK_COST_UNIT;
    return VYRE_OK;
}

static vyre_result plan_items(vyre_dispatcher *d, vy_mk_queue *q, const vyre_work_item *items,
                              uint32_t count, vyre_diag *diag)
{
    const vyre_queue_params *p = &q->params;
    vy_mk_plan_params params = {.flags = p->flags,
                                .wants_lineage = p->lineage || p->lineage_sets,
                                .lineage_limit = p->lineage_limit};
    vyre_result code = vy_mk_check_items(items, count, diag);
    if (code == VYRE_OK) {
        code = vy_mk_survey_items(&d->effects, d->handlers, d->handler_count, items, count,
                                  &q->survey, diag);
    }
    code = code == VYRE_OK ? list_savings(d, q, &params, diag) : code;
    if (code == VYRE_OK) {
        code = vy_mk_plan_build(&q->arena, &d->effects, &q->survey, &params, items, count, &q->plan,
                                diag);
    }
    bool as_ring = (p->flags & VYRE_QUEUE_STRICT) || q->survey.has_packed || q->survey.has_requeues;
    q->form = as_ring ? VY_DRAIN_OF_RING : VY_DRAIN_OF_ITEMS;
    q->slot_count = q->plan.count;
    if (code == VYRE_OK && as_ring && q->slot_count > VYRE_MAX_SLOTS) {
        code = refuse(diag,
                      "%u items are to be drained as a ring, which has at most %u slots. Fix: hand "
                      "them over in parts",
                      (unsigned)q->slot_count, VYRE_MAX_SLOTS);
    }
    return code;
}

static vyre_result plan_ring(vy_mk_queue *q, void *ring, size_t size, vyre_diag *diag)
{
    vyre_ring_counts counts;
    vyre_result code = vyre_ring_count(ring, size, &counts, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t *bounds = vy_arena_alloc(&q->arena, 2, sizeof *bounds);
    if (!bounds) {
        return vy_diag_no_memory(diag);
    }
    q->form = VY_DRAIN_OF_RING;
    q->ring = ring;
    q->is_ring = true;
    q->slot_count = bounds[1] = counts.slot_count;
    q->plan = (vy_mk_plan){.bounds = bounds, .part_count = 1, .wave_count = 1};
    for (uint32_t s = 0; s < q->slot_count; s++) {
        uint32_t status = vy_mk_get(ring, (size_t)s * VYRE_SLOT_WORDS + VYRE_SLOT_STATUS);
        bool waits = status == VYRE_STATUS_PUBLISHED || status == VYRE_STATUS_YIELD ||
                     status == VYRE_STATUS_REQUEUE || status == VYRE_STATUS_WAIT_IO;
        q->plan.count += waits ? 1 : 0;
        q->posts_io = q->posts_io || vy_mk_get(ring, (size_t)s * VYRE_SLOT_WORDS +
                                                         VYRE_SLOT_OPCODE) == VYRE_OPCODE_LOAD_MISS;
    }
    return VYRE_OK;
}

/* Items as slots; the ring's other slots are not looked at. */
static void fill_slots(const vy_mk_queue *q, void *ring)
{
    memset(ring, 0, (size_t)q->slot_count * VYRE_SLOT_SIZE);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        const vyre_work_item *item = &q->plan.items[s];
        size_t at = (size_t)s * VYRE_SLOT_WORDS;
        vy_mk_put(ring, at + VYRE_SLOT_STATUS, VYRE_STATUS_PUBLISHED);
        vy_mk_put(ring, at + VYRE_SLOT_OPCODE, item->opcode);
        vy_mk_put(ring, at + VYRE_SLOT_TENANT, q->params.tenant);
        vy_mk_put(ring, at + VYRE_SLOT_PRIORITY, (uint32_t)q->params.priority);
        vy_mk_put(ring, at + VYRE_SLOT_ARGS, item->input);
        vy_mk_put(ring, at + VYRE_SLOT_ARGS + 1, item->output);
        vy_mk_put(ring, at + VYRE_SLOT_ARGS + 2, item->param);
    }
}

static uint64_t ring_size(const vy_mk_queue *q)
{
    return (uint64_t)q->slot_count *
           (q->form == VY_DRAIN_OF_RING ? VYRE_SLOT_SIZE : sizeof(vyre_work_item));
}

/* ---- Control, log, I/O ----------------------------------------------------------------------- */

/* What counts begins at 0; masks, quotas, partitions, epoch and observables stay. */
static void reset_counts(void *control)
{
    static const struct {
        uint32_t first, count;
    } zeroed[] = {{VYRE_CONTROL_SHUTDOWN, 2},
                  {VYRE_CONTROL_TENANT_FAIRNESS, 32},
                  {VYRE_CONTROL_METRICS, VYRE_METRIC_COUNT},
                  {VYRE_CONTROL_PRIORITY_STARVATION, 25}};
    for (size_t z = 0; z < VY_COUNT_OF(zeroed); z++) {
        for (uint32_t w = 0; w < zeroed[z].count; w++) {
            vy_mk_put(control, zeroed[z].first + w, 0);
        }
    }
}

static vyre_result encode_control(vy_mk_queue *q, vyre_diag *diag)
{
    void *control = q->memory.control;
    if (q->params.control) {
        memcpy(control, q->params.control, q->control_size);
        reset_counts(control);
        return VYRE_OK;
    }
    vyre_control_params params;
    vyre_control_params_init(&params);
    params.tenant_count = q->is_ring ? VYRE_MAX_TENANTS : q->params.tenant + 1;
    params.slot_count = q->is_ring ? q->slot_count : 0;
    return vyre_control_encode(&params, control, q->control_size, diag);
}

static void encode_rest(vy_mk_queue *q)
{
    if (q->params.debug_log) {
        memset(q->memory.debug_log, 0, q->params.debug_size);
    }
    memset(q->io, 0, q->io_size);
    if (q->io_size && q->params.io_queue) {
        memcpy(q->io, q->params.io_queue, q->io_size);
    }
}

/* ---- Policy and budget ----------------------------------------------------------------------- */

static vyre_result decide(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    const vyre_queue_params *p = &q->params;
    const vy_mk_request request = {
        .queue_length = q->slot_count,
        .worker_count = p->worker_count,
        .hits_per_item = p->hits_per_item,
        .hot_opcode_count = p->hot_opcode_count,
        .hot_window_count = p->hot_window_count,
        .requeue_count = p->requeue_count,
        .age = p->age,
        .node_count = p->node_count,
        .edge_count = p->edge_count,
        .density_bps = p->density_bps,
        .pressure_bps = p->pressure_bps,
        .resident_size = p->resident_size,
        .budget_size = p->budget_size,
        .group_cap = p->group_cap,
    };
    vy_mutex_lock(&d->mutex);
    vy_mk_topology previous = d->topology;
    vy_mutex_unlock(&d->mutex);
    q->report.budget_size = p->budget_size;
    vyre_result code = vy_mk_recommend(vy_mk_policy_standard(), &request, &q->limits, previous,
                                       &q->recommendation, diag);
    if (code == VYRE_OK) {
        vy_mutex_lock(&d->mutex);
        d->topology = q->recommendation.topology;
        vy_mutex_unlock(&d->mutex);
    } else if (code == VYRE_ERROR_DEVICE_OUT_OF_MEMORY) {
        q->report.peak_size = p->resident_size; /* there are no hits beside it */
    }
    return code;
}

/* Device memory that queues in flight hold beside this one. */
static uint64_t others_size(vyre_dispatcher *d, const vy_mk_queue *q)
{
    uint64_t size = 0;
    vy_mutex_lock(&d->mutex);
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const vy_mk_queue *other = &d->queues[i];
        if (other != q && other->state != VY_MK_FREE) {
            size += other->memory.ring_offset + other->memory.ring_capacity;
        }
    }
    vy_mutex_unlock(&d->mutex);
    return size;
}

static vyre_result check_budget(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    const uint64_t sizes[] = {vy_mk_control_room(q->control_size),
                              vy_mk_ring_capacity(ring_size(q)), q->params.debug_size, q->io_size};
    const vy_mk_budget budget = {.policy_size = q->recommendation.peak_size + others_size(d, q),
                                 .sizes = sizes,
                                 .count = VY_COUNT_OF(sizes),
                                 .alignment = q->offset_alignment,
                                 .arena_count = 1,
                                 .budget_size = q->params.budget_size};
    return vy_mk_budget_check(&budget, &q->report.peak_size, diag);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static vyre_result write_ring(vy_mk_queue *q, vyre_diag *diag)
{
    void *to = vy_mk_memory_ring(&q->memory);
    if (q->ring) {
        memcpy(to, q->ring, (size_t)ring_size(q));
    } else if (q->form == VY_DRAIN_OF_RING) {
        fill_slots(q, to);
    } else {
        memcpy(to, q->plan.items, (size_t)ring_size(q));
    }
    return vy_mk_memory_sync(q, 0, ring_size(q), VYRE_MAPPED_TO_DEVICE, diag);
}

static void choose_variant(vyre_dispatcher *d, vy_mk_queue *q)
{
    bool by_priority = (q->params.flags & VYRE_QUEUE_BY_PRIORITY) != 0;
    q->variant = (vy_mk_variant){
        .form = q->form,
        .claim = by_priority ? VYRE_CLAIM_LANE : d->claim,
        .workgroup = q->recommendation.launch.width,
        .by_priority = by_priority,
        .polls_io = d->io_function && q->io_size > 0,
    };
    vy_mk_trial_choose(d, q);
}

static vyre_result change_device(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    vy_mutex_lock(&d->mutex);
    vy_mk_queue_take_device(d, q);
    vy_mutex_unlock(&d->mutex);
    vyre_result code = take_bindings(d, q, diag);
    code = code == VYRE_OK ? decide(d, q, diag) : code;
    q->variant.workgroup = q->recommendation.launch.width;
    return code;
}

static vyre_result reserve(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    uint32_t allocations = 0;
    vyre_result code = vy_mk_memory_reserve(d, q, ring_size(q), &allocations, diag);
    q->report.resident_allocations += allocations;
    q->report.was_resident = q->memory.mapped && q->report.resident_allocations == 0;
    return code;
}

/* Everything but the ring is as it is before the first launch. */
static vyre_result rewind(vy_mk_queue *q, vyre_diag *diag)
{
    vyre_result code = encode_control(q, diag);
    encode_rest(q);
    q->wave = q->position = q->base = q->fault_code = 0;
    q->pass_denied = q->pass_requeues = 0;
    q->has_work_again = q->has_ring = false;
    q->state = code == VYRE_OK ? VY_MK_READY : q->state;
    return code;
}

vyre_result vy_mk_queue_restart(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    uint64_t start = vy_clock_ns();
    vyre_result code = q->was_recovered ? change_device(d, q, diag) : VYRE_OK;
    code = code == VYRE_OK ? reserve(d, q, diag) : code;
    code = code == VYRE_OK ? write_ring(q, diag) : code;
    code = code == VYRE_OK ? rewind(q, diag) : code;
    uint64_t took = vy_clock_ns() - start;
    q->report.publish_ns += took;
    q->first_submit += q->first_submit ? took : 0; /* each time is told once */
    return code;
}

/* Items that outlive the call, where the queue may have to run again. */
static vyre_result keep_items(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    if (!d->recover || q->is_ring) {
        return VYRE_OK;
    }
    vyre_work_item *copy = vy_arena_alloc(&q->arena, q->plan.count, sizeof *copy);
    if (!copy) {
        return vy_diag_no_memory(diag);
    }
    memcpy(copy, q->plan.items, q->plan.count * sizeof *copy);
    q->plan.items = copy;
    return VYRE_OK;
}

/* Policy, budget, program: what does not need the items any more. */
static vyre_result prepare(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    q->report.publish_ns = q->plan.arrange_ns;
    q->control_size =
        q->params.control ? q->params.control_size : CONTROL_SIZE + (size_t)d->observable_count * 4;
    q->io_size = q->params.io_size ? q->params.io_size : q->posts_io ? sizeof q->io : 0;
    vyre_result code = decide(d, q, diag);
    code = code == VYRE_OK ? check_budget(d, q, diag) : code;
    if (code == VYRE_OK) {
        choose_variant(d, q);
        q->round_ns = atomic_load(&d->round_ns);
    }
    return code;
}

vyre_result vy_mk_queue_set_up(vyre_dispatcher *d, vy_mk_queue *q, const vyre_work_item *items,
                               uint32_t count, bool is_ring, void *ring, size_t size,
                               vyre_diag *diag)
{
    vyre_result code = check(d, q, count, is_ring, diag);
    if (code == VYRE_OK && is_ring) {
        code = plan_ring(q, ring, size, diag);
    } else if (code == VYRE_OK && count > 0) {
        code = plan_items(d, q, items, count, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    q->report.given = is_ring ? q->plan.count : count;
    vy_mk_queue_tell_plan(q);
    if (q->plan.count == 0) {
        q->state = VY_MK_ENDED;
        return VYRE_OK;
    }
    code = prepare(d, q, diag);
    code = code == VYRE_OK ? keep_items(d, q, diag) : code;
    code = code == VYRE_OK ? vy_mk_queue_restart(d, q, diag) : code;
    /* Where an earlier queue met the loss. */
    return code == VYRE_ERROR_DEVICE_LOST && vy_mk_queue_recover(d, q, diag) ? VYRE_OK : code;
}

/* ---- Items in place -------------------------------------------------------------------------- */

vyre_result vy_mk_queue_map(vyre_dispatcher *d, vy_mk_queue *q, uint32_t count,
                            vyre_work_item **out_items, vyre_diag *diag)
{
    const uint32_t planned = VYRE_QUEUE_PRUNE_ALL | VYRE_QUEUE_ARRANGE | VYRE_QUEUE_STRICT;
    vyre_result code = check(d, q, count, false, diag);
    if (code == VYRE_OK && (q->params.flags & planned)) {
        code = refuse(diag,
                      "flags are 0x%x, and items in place are not looked at. Fix: leave out "
                      "VYRE_QUEUE_PRUNE_ALL, VYRE_QUEUE_ARRANGE and VYRE_QUEUE_STRICT",
                      (unsigned)q->params.flags);
    }
    if (code == VYRE_OK && count == 0) {
        code = refuse(diag, "room for no item is asked for. Fix: ask for 1 or more");
    }
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t *bounds = vy_arena_alloc(&q->arena, 2, sizeof *bounds);
    if (!bounds) {
        return vy_diag_no_memory(diag);
    }
    bounds[1] = q->slot_count = count;
    q->plan = (vy_mk_plan){.count = count, .bounds = bounds, .part_count = 1, .wave_count = 1};
    q->form = VY_DRAIN_OF_ITEMS;
    q->is_in_place = true;
    code = prepare(d, q, diag);
    code = code == VYRE_OK ? reserve(d, q, diag) : code;
    if (code == VYRE_OK) {
        *out_items = vy_mk_memory_ring(&q->memory);
        q->state = VY_MK_MAPPED;
    }
    return code;
}

vyre_result vy_mk_queue_unmap(vyre_dispatcher *d, vy_mk_queue *q, uint32_t count, vyre_diag *diag)
{
    (void)d;
    if (count > q->slot_count) {
        return refuse(diag, "%u items were written, and there is room for %u. Fix: map as many",
                      (unsigned)count, (unsigned)q->slot_count);
    }
    uint32_t *bounds = vy_arena_alloc(&q->arena, 2, sizeof *bounds);
    if (!bounds) {
        return vy_diag_no_memory(diag);
    }
    bounds[1] = q->slot_count = q->plan.count = q->report.given = count;
    q->plan.bounds = bounds;
    vy_mk_queue_tell_plan(q);
    q->deadline = q->params.max_wall_ns > UINT64_MAX - vy_clock_ns()
                      ? UINT64_MAX
                      : vy_clock_ns() + q->params.max_wall_ns;
    if (count == 0) {
        q->state = VY_MK_ENDED;
        return VYRE_OK;
    }
    vyre_result code = vy_mk_memory_sync(q, 0, ring_size(q), VYRE_MAPPED_TO_DEVICE, diag);
    return code == VYRE_OK ? rewind(q, diag) : code;
}
