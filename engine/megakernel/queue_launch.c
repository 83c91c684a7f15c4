/* One slice of a queue: which part of it, with what bound, on the device or on the interpreter. */
#include "engine/megakernel/dispatcher.h"
#include "engine/megakernel/ratio.h"
#include "engine/megakernel/words.h"
#include "vyre/interp.h"

#include <string.h>

/* ---- How much -------------------------------------------------------------------------------- */

/* Workgroups in powers of four, as far as the device keeps them resident: few sizes, so that what
 * was recorded fits most queues. Those that find nothing leave at once. */
static uint32_t count_groups(const vy_mk_queue *q, uint32_t items)
{
    const vy_mk_launch *launch = &q->recommendation.launch;
    bool is_shed = q->recommendation.worker_count < q->params.worker_count;
    uint32_t most = is_shed ? launch->group_count : q->most_groups;
    uint64_t needed = vy_mk_div_up(items, q->variant.workgroup), rounded = 1;
    most = q->params.group_cap ? vy_mk_min(most, q->params.group_cap) : most;
    while (rounded < needed) {
        rounded *= 4;
    }
    return rounded < most ? (uint32_t)rounded : most;
}

static uint32_t lanes_of(const vy_mk_queue *q)
{
    return q->slice_groups * q->variant.workgroup;
}

static uint32_t rounds_left(const vyre_dispatcher *d, const vy_mk_queue *q)
{
    uint64_t rounds = q->round_ns ? d->slice_ns / q->round_ns : VY_MK_FIRST_ROUNDS;
    return rounds < 1 ? 1 : rounds > UINT32_MAX ? UINT32_MAX : (uint32_t)rounds;
}

/* Whole waves that fit in one slice, from the next one on. */
static uint32_t count_waves(const vyre_dispatcher *d, const vy_mk_queue *q, uint32_t limit)
{
    const uint32_t *bounds = q->plan.bounds;
    uint64_t rounds = 0, most = rounds_left(d, q);
    uint32_t lanes = q->recommendation.launch.lane_count, waves = 0;
    while (q->wave + waves < q->plan.part_count && waves < VY_MK_MAX_WAVES) {
        uint32_t first = bounds[q->wave + waves], end = bounds[q->wave + waves + 1];
        bool has_own = q->plan.own && q->plan.own[q->wave + waves] != VY_MK_NONE;
        rounds += vy_mk_div_up(end - first, lanes);
        if (rounds > most || end > limit || has_own) {
            break;
        }
        waves++;
    }
    return waves;
}

static uint32_t largest_wave(const vy_mk_queue *q)
{
    uint32_t largest = 1;
    for (uint32_t w = q->wave; w < q->wave + q->slice_waves; w++) {
        largest = vy_mk_max(largest, q->plan.bounds[w + 1] - q->plan.bounds[w]);
    }
    return largest;
}

static void choose_slice(const vyre_dispatcher *d, vy_mk_queue *q)
{
    uint32_t end = q->plan.bounds[q->wave + 1];
    bool is_items = q->form == VY_DRAIN_OF_ITEMS;
    q->base = is_items ? q->position / VY_MK_MAX_LAUNCH * VY_MK_MAX_LAUNCH : 0;
    uint64_t limit = (uint64_t)q->base + VY_MK_MAX_LAUNCH;
    q->slice_begin = q->position;
    q->slice_end = end < limit ? end : (uint32_t)limit;
    q->slice_waves = 1;
    q->variant.in_waves = false;
    if (q->plan.own) {
        q->variant.opcode = q->plan.own[q->wave];
        q->variant.is_special = q->variant.opcode != VY_MK_NONE;
    }
    if (is_items && q->wave + 1 < q->plan.part_count && q->position == q->plan.bounds[q->wave]) {
        uint32_t waves = count_waves(d, q, limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX);
        if (waves > 1) {
            q->slice_waves = waves;
            q->slice_end = q->plan.bounds[q->wave + waves];
            q->variant.in_waves = true;
        }
    }
    uint32_t items = q->variant.in_waves ? largest_wave(q) : q->slice_end - q->slice_begin;
    q->slice_groups = count_groups(q, items);
    q->slice_rounds = q->variant.in_waves ? UINT32_MAX : rounds_left(d, q);
    bool is_last = q->wave + q->slice_waves == q->plan.part_count;
    q->slice_reads_ring =
        q->form == VY_DRAIN_OF_RING &&
        (!q->memory.mapped || (is_last && vy_mk_div_up(items, lanes_of(q)) <= q->slice_rounds));
}

/* ---- What is bound --------------------------------------------------------------------------- */

#define MOST_BINDINGS ((uint32_t)VY_DRAIN_WAVE_BINDINGS + VY_MK_MAX_BINDINGS)
#define MOST_PARAMS   ((uint32_t)VY_DRAIN_PARAMS + 4 * VYRE_MAX_PARAMS)

typedef struct slice {
    vyre_binding bindings[MOST_BINDINGS];
    uint32_t binding_count;
    uint32_t params[MOST_PARAMS];
    uint32_t param_count;
    uint32_t *bounds;
} slice;

static vyre_binding host(const void *in, void *out, size_t words)
{
    return (vyre_binding){
        .kind = VYRE_BINDING_HOST, .count = (uint32_t)words, .in = in, .out = out};
}

static vyre_binding resident(vyre_buffer buffer, uint64_t offset, uint64_t count)
{
    return (vyre_binding){.kind = VYRE_BINDING_RESIDENT,
                          .count = (uint32_t)count,
                          .buffer = buffer,
                          .offset = offset};
}

static vyre_binding bind_ring(const vy_mk_queue *q)
{
    const vy_mk_memory *m = &q->memory;
    bool is_items = q->form == VY_DRAIN_OF_ITEMS;
    uint64_t unit = is_items ? sizeof(vyre_work_item) : 4, offset = (uint64_t)q->base * unit;
    uint64_t left = (m->ring_capacity - offset) / unit;
    uint64_t most = is_items ? VY_MK_MAX_LAUNCH : UINT32_MAX;
    uint64_t count = left < most ? left : most;
    if (!m->mapped) {
        unsigned char *at = (unsigned char *)m->host + offset;
        return host(at, is_items ? NULL : at, (size_t)count);
    }
    vyre_binding binding = resident(m->buffer, m->ring_offset + offset, count);
    if (q->slice_reads_ring) {
        binding.out = m->host;
        binding.out_size = (uint64_t)q->slot_count * VYRE_SLOT_SIZE;
    }
    return binding;
}

static void bind_control(const vy_mk_queue *q, vyre_binding *bindings)
{
    const vy_mk_memory *m = &q->memory;
    size_t words = q->control_size / 4;
    bindings[VY_DRAIN_CONTROL] =
        m->mapped ? resident(m->buffer, 0, words) : host(m->control, m->control, words);
    bindings[VY_DRAIN_RESULT] =
        m->mapped ? resident(m->result, 0, words) : host(m->control, m->control, 0);
}

static vyre_result bind(vyre_dispatcher *d, vy_mk_queue *q, slice *s, vyre_diag *diag)
{
    vy_mk_memory *m = &q->memory;
    bind_control(q, s->bindings);
    s->bindings[VY_DRAIN_RING] = bind_ring(q);
    bool has_log = q->params.debug_log != NULL;
    s->bindings[VY_DRAIN_DEBUG_LOG] =
        host(m->debug_log, m->debug_log, has_log ? q->params.debug_size / 4 : 0);
    s->bindings[VY_DRAIN_IO] = host(q->io, q->io, q->io_size / 4);
    s->binding_count = VY_DRAIN_BINDINGS;
    if (q->variant.in_waves) {
        s->bounds = vy_arena_alloc(&q->arena, (size_t)q->slice_waves + 1, sizeof *s->bounds);
        if (!s->bounds) {
            return vy_diag_no_memory(diag);
        }
        for (uint32_t w = 0; w <= q->slice_waves; w++) {
            s->bounds[w] = q->plan.bounds[q->wave + w] - q->base;
        }
        s->bindings[VY_DRAIN_BOUNDS] = host(s->bounds, NULL, (size_t)q->slice_waves + 1);
        s->bindings[VY_DRAIN_CURSORS] = (vyre_binding){.kind = VYRE_BINDING_NONE};
        s->binding_count = VY_DRAIN_WAVE_BINDINGS;
    }
    for (uint32_t b = 0; b < d->binding_count; b++) {
        s->bindings[s->binding_count++] = q->bindings[b];
    }
    uint32_t *p = s->params;
    p[VY_DRAIN_SLOT_COUNT] = q->slice_end - q->base;
    p[VY_DRAIN_MAX_CLAIMS] = q->slice_rounds;
    p[VY_DRAIN_PERSISTENT] = (q->params.flags & VYRE_QUEUE_PERSISTENT) != 0;
    p[VY_DRAIN_TENANT] = q->params.tenant;
    p[VY_DRAIN_PRIORITY] = (uint32_t)q->params.priority;
    p[VY_DRAIN_WAVES] = q->slice_waves;
    s->param_count = VY_DRAIN_PARAMS + d->param_count;
    if (d->param_count) {
        memcpy(p + VY_DRAIN_PARAMS, d->params, d->param_count * sizeof *p);
    }
    vy_mk_put(m->control, VYRE_CONTROL_CURSOR, q->variant.in_waves ? 0 : q->slice_begin - q->base);
    return vy_mk_memory_send_control(q, diag);
}

/* ---- Executors ------------------------------------------------------------------------------- */

static vyre_result run_on_interpreter(const vyre_dispatcher *d, vy_mk_queue *q, const slice *s,
                                      vyre_diag *diag)
{
    vyre_host_buffer buffers[MOST_BINDINGS];
    for (uint32_t b = 0; b < s->binding_count; b++) {
        const vyre_binding *given = &s->bindings[b];
        void *data = given->out ? given->out : (void *)(uintptr_t)given->in;
        buffers[b] =
            (vyre_host_buffer){data, given->kind == VYRE_BINDING_NONE ? UINT32_MAX : given->count};
    }
    const vyre_interp_params params = {.struct_size = sizeof params,
                                       .allocator = &d->allocator,
                                       .buffers = buffers,
                                       .buffer_count = s->binding_count,
                                       .params = s->params,
                                       .param_count = s->param_count,
                                       .groups = {q->slice_groups, 1, 1},
                                       .passes = q->slice_waves};
    vyre_interp_report report;
    vyre_result code = vyre_interp_run(q->program->program, &params, &report, diag);
    if (code == VYRE_OK) {
        q->report.record = report.record;
    }
    return code;
}

static vyre_result run_on_device(vy_mk_queue *q, const slice *s, vyre_diag *diag)
{
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY; /* warmed up before there is work */
    params.bindings = s->bindings;
    params.binding_count = s->binding_count;
    params.params = s->params;
    params.param_count = s->param_count;
    params.groups[0] = q->slice_groups;
    params.passes = q->slice_waves;
    params.flags = (q->params.flags & VYRE_QUEUE_TIMED) || q->trial ? VYRE_DISPATCH_TIMED : 0;
    params.label = "queue";
    return vyre_dispatch_async(q->program->pipeline, &params, &q->slice, diag);
}

vyre_result vy_mk_queue_launch(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag)
{
    slice s;
    uint64_t compile_ns = 0;
    s.bounds = NULL;
    choose_slice(d, q);
    vyre_result code = vy_mk_program_take(d, q, &q->program, &compile_ns, diag);
    q->report.compile_ns += compile_ns;
    q->first_submit += q->first_submit ? compile_ns : 0; /* each time is told once */
    q->report.was_compiled =
        q->report.launches == 0 ? compile_ns == 0 : q->report.was_compiled && compile_ns == 0;
    if (code != VYRE_OK) {
        q->program = NULL;
        return code;
    }
    code = bind(d, q, &s, diag);
    q->slice_start = vy_clock_ns();
    q->first_submit = q->first_submit ? q->first_submit : q->slice_start;
    if (code == VYRE_OK) {
        code = q->device ? run_on_device(q, &s, diag) : run_on_interpreter(d, q, &s, diag);
    }
    if (code != VYRE_OK) {
        vy_mk_program_give(d, q->program);
        q->program = NULL;
        return code;
    }
    q->report.launches++;
    q->state = VY_MK_RUNNING;
    return VYRE_OK;
}

/* ---- The end of a slice ---------------------------------------------------------------------- */

static void add_costs(vy_mk_queue *q, const vyre_report *report)
{
    vyre_queue_report *r = &q->report;
    q->uploaded += report->upload_size;
    q->read_back += report->download_size;
    r->readback_buffers += report->downloads;
    r->sync_points += 1;
    if (report->device_ns != VYRE_NS_NONE) {
        r->device_ns = (r->device_ns == VYRE_NS_NONE ? 0 : r->device_ns) + report->device_ns;
    }
    r->record = report->record;
}

/* What a round takes, for the slices that follow. */
static void note_time(vyre_dispatcher *d, vy_mk_queue *q)
{
    uint64_t took = vy_clock_ns() - q->slice_start, rounds = 0;
    uint32_t lanes = lanes_of(q);
    for (uint32_t w = 0; w < q->slice_waves; w++) {
        uint32_t items = q->variant.in_waves
                             ? q->plan.bounds[q->wave + w + 1] - q->plan.bounds[q->wave + w]
                             : q->slice_end - q->slice_begin;
        rounds += vy_mk_div_up(items, lanes);
    }
    rounds = rounds < q->slice_rounds ? rounds : q->slice_rounds;
    q->executed_rounds += rounds;
    q->round_ns = rounds ? took / rounds + 1 : q->round_ns;
    atomic_store(&d->round_ns, q->round_ns);
    uint64_t least = atomic_load(&d->launch_ns);
    if (least == 0 || took < least) {
        atomic_store(&d->launch_ns, took); /* what one costs, whatever it does */
    }
}

vyre_result vy_mk_queue_land(vyre_dispatcher *d, vy_mk_queue *q, uint64_t deadline, vyre_diag *diag)
{
    vyre_report report;
    uint64_t now = vy_clock_ns();
    vyre_result code = VYRE_OK;
    if (q->device) {
        uint64_t timeout = deadline == UINT64_MAX ? UINT64_MAX
                           : deadline > now       ? deadline - now
                                                  : 0;
        code = vyre_ticket_wait(q->device, &q->slice, timeout, &report, diag);
        if (code == VYRE_ERROR_TIMEOUT) {
            return code;
        }
        if (code == VYRE_OK) {
            add_costs(q, &report);
            code = vy_mk_memory_fetch_control(q, diag);
        }
    }
    note_time(d, q);
    vy_mk_program_give(d, q->program);
    q->program = NULL;
    q->state = VY_MK_READY;
    q->has_ring = q->slice_reads_ring;
    return code;
}
