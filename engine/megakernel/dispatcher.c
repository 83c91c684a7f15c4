/* The dispatcher object: made from handlers and buffers, with its counters. */
#include "engine/megakernel/dispatcher.h"

#include "codegen/parts.h"
#include "engine/device/device.h"

#include <string.h>

/* ---- Creation -------------------------------------------------------------------------------- */

static void look_at_limits(vyre_dispatcher *d)
{
    vyre_device_info info;
    d->offset_alignment = 4;
    if (!d->device) {
        d->limits = (vy_mk_limits){.max_width = 64,
                                   .max_invocations = 64,
                                   .max_groups = 65535,
                                   .subgroup_size = 32,
                                   .unit_count = 1};
        return;
    }
    vyre_device_get_info(d->device, &info);
    d->limits = (vy_mk_limits){.max_width = info.max_workgroup[0],
                               .max_invocations = info.max_workgroup_invocations,
                               .max_groups = info.max_groups[0],
                               .subgroup_size = info.subgroup_size ? info.subgroup_size : 1};
    d->offset_alignment = info.offset_alignment > 4 ? info.offset_alignment : 4;
}

vyre_result vy_mk_dispatcher_look_at_device(vyre_dispatcher *d, vyre_diag *diag)
{
    const vy_mk_launch_request full = {.queue_length = VY_MK_MAX_LAUNCH};
    vy_mk_launch launch;
    look_at_limits(d);
    vyre_result code = vy_mk_launch_plan(&d->limits, &full, &launch, diag);
    d->most_groups = code == VYRE_OK ? launch.group_count : 1;
    return code;
}

static vyre_result check_claim(const vyre_dispatcher *d, vyre_diag *diag)
{
    vyre_kernel_params params = {.struct_size = sizeof params};
    if ((uint32_t)d->claim > VYRE_CLAIM_WORKGROUP) {
        return vy_invalid(diag, "claim %u is none. Fix: use a vyre_claim", (unsigned)d->claim);
    }
    if (d->claim != VYRE_CLAIM_SUBGROUP || !d->device) {
        return VYRE_OK;
    }
    vyre_device_kernel_params(d->device, &params);
    vyre_device_info info;
    vyre_device_get_info(d->device, &info);
    if (params.reconvergence != VYRE_RECONVERGENCE_MAXIMAL &&
        info.validation == VYRE_VALIDATION_OFF) {
        return vy_diag_set(
            diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
            "claims by subgroups need VK_KHR_shader_maximal_reconvergence, which the "
            "device lacks. Fix: use VYRE_CLAIM_WORKGROUP or VYRE_CLAIM_LANE");
    }
    return VYRE_OK;
}

static vyre_result check_bindings(const vyre_dispatcher *d, const vyre_dispatcher_params *p,
                                  vyre_diag *diag)
{
    uint32_t needed = d->handlers_program ? vy_parts_traits(d->handlers_program).binding_count : 0;
    uint32_t words = d->handlers_program ? vy_parts_traits(d->handlers_program).param_words : 0;
    if (p->binding_count != needed || (needed && !p->bindings)) {
        return vy_invalid(
            diag,
            "the handlers' program has %u buffers and %u were bound. Fix: bind each that is "
            "not shared, in declaration order",
            (unsigned)needed, (unsigned)(p->bindings ? p->binding_count : 0));
    }
    if (p->param_count != words || (words && !p->params)) {
        return vy_invalid(
            diag,
            "the parameters of the handlers' program take %u words and %u were given. Fix: "
            "give one word for each, two for 64 bits, one for each component",
            (unsigned)words, (unsigned)(p->params ? p->param_count : 0));
    }
    for (uint32_t b = 0; b < needed; b++) {
        vyre_binding_kind kind = p->bindings[b].kind;
        if (!d->device && kind != VYRE_BINDING_HOST && kind != VYRE_BINDING_NONE) {
            return vy_invalid(diag,
                              "binding %u is a device's buffer, and there is no device. Fix: bind "
                              "host memory, or give the device",
                              (unsigned)b);
        }
        if (d->device && kind != VYRE_BINDING_RESIDENT && kind != VYRE_BINDING_NONE) {
            return vy_invalid(
                diag,
                "binding %u is neither resident nor scratch. Fix: bind a resident buffer, "
                "since a queue may take several launches",
                (unsigned)b);
        }
    }
    if (p->max_in_flight > VY_MK_MAX_IN_FLIGHT) {
        return vy_invalid(diag, "%u queues are to be in flight. Fix: at most %u",
                          (unsigned)p->max_in_flight, VY_MK_MAX_IN_FLIGHT);
    }
    if (p->observable_count > VYRE_MAX_OBSERVABLES) {
        return vy_invalid(diag, "%u observables are asked for. Fix: at most %u",
                          (unsigned)p->observable_count, VYRE_MAX_OBSERVABLES);
    }
    return VYRE_OK;
}

static vyre_result take_handlers(vyre_dispatcher *d, const vyre_dispatcher_params *p,
                                 vyre_diag *diag)
{
    const vy_drain_params drain = {.program = p->program,
                                   .handlers = p->handlers,
                                   .handler_count = p->handler_count,
                                   .io_function = p->io_function};
    if (p->handler_count && !p->handlers) {
        return vy_invalid(diag, "handlers are NULL, and there are %u. Fix: pass them",
                          (unsigned)p->handler_count);
    }
    vyre_result code = vy_drain_check(&drain, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t count = p->handler_count;
    vy_mk_handler *rows = vy_arena_alloc(&d->arena, count, sizeof *rows);
    d->handlers = vy_arena_alloc(&d->arena, count, sizeof *d->handlers);
    for (uint32_t h = 0; rows && d->handlers && h < count; h++) {
        const char *name = p->handlers[h].function;
        d->handlers[h] = p->handlers[h];
        d->handlers[h].function = vy_arena_text(&d->arena, name, strlen(name));
        rows[h] =
            (vy_mk_handler){p->handlers[h].opcode, p->handlers[h].effects & ~VYRE_EFFECT_REQUEUES};
    }
    d->handler_count = count;
    if (p->io_function) {
        d->io_function = vy_arena_text(&d->arena, p->io_function, strlen(p->io_function));
    }
    if (d->arena.failed) {
        return vy_diag_no_memory(diag);
    }
    return vy_mk_effects_init(&d->effects, &d->arena, rows, count, diag);
}

static vyre_result take_rest(vyre_dispatcher *d, const vyre_dispatcher_params *p, vyre_diag *diag)
{
    d->observable_count = p->observable_count;
    d->bind_mode = p->bind_mode;
    d->slice_ns = p->slice_ns ? p->slice_ns : VY_MK_SLICE_NS;
    d->recover = p->recover;
    d->recover_user = p->recover_user;
    d->binding_count = p->binding_count;
    for (uint32_t b = 0; b < p->binding_count; b++) {
        d->bindings[b] = p->bindings[b];
    }
    d->param_count = p->param_count;
    d->params = vy_arena_alloc(&d->arena, p->param_count, sizeof *d->params);
    d->queue_count = p->max_in_flight ? p->max_in_flight : VY_MK_IN_FLIGHT;
    d->queues = vy_arena_alloc(&d->arena, d->queue_count, sizeof *d->queues);
    d->trials = vy_arena_alloc(&d->arena, vy_mk_trial_count(d->handler_count), sizeof *d->trials);
    d->costs = vy_arena_alloc(&d->arena, vy_mk_trial_count(d->handler_count), sizeof *d->costs);
    if (d->arena.failed) {
        return vy_diag_no_memory(diag);
    }
    vyre_result code =
        vy_mk_lru_init(&d->lru, &d->allocator, VY_MK_LRU_PIPELINES, VY_MK_KEY_SIZE, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (p->param_count) {
        memcpy(d->params, p->params, p->param_count * sizeof *d->params);
    }
    if (vy_mutex_init(&d->mutex) != 0) {
        return vy_diag_no_memory(diag);
    }
    if (vy_mutex_init(&d->compile_mutex) != 0) {
        vy_mutex_finish(&d->mutex);
        return vy_diag_no_memory(diag);
    }
    d->has_mutexes = true;
    return VYRE_OK;
}

/* As measured: a GPU's atomics cost more than its barriers, a processor's less. */
static vyre_claim choose_claim(const vyre_dispatcher *d)
{
    vyre_device_info info = {.type = VYRE_DEVICE_OTHER};
    if (d->device) {
        vyre_device_get_info(d->device, &info);
    }
    return info.type == VYRE_DEVICE_PROCESSOR ? VYRE_CLAIM_LANE : VYRE_CLAIM_WORKGROUP;
}

static vyre_result fill(vyre_dispatcher *d, const vyre_dispatcher_params *p, vyre_diag *diag)
{
    d->id = vy_device_new_id();
    d->claim = p->claim == VYRE_CLAIM_AUTO ? choose_claim(d) : p->claim;
    d->handlers_program = p->program ? vy_parts_hold(p->program) : NULL;
    vyre_result code = vy_mk_dispatcher_look_at_device(d, diag);
    code = code == VYRE_OK ? check_claim(d, diag) : code;
    code = code == VYRE_OK ? check_bindings(d, p, diag) : code;
    code = code == VYRE_OK ? take_handlers(d, p, diag) : code;
    return code == VYRE_OK ? take_rest(d, p, diag) : code;
}

vyre_result vyre_dispatcher_create(vyre_device *device, const vyre_dispatcher_params *params,
                                   vyre_dispatcher **out_dispatcher, vyre_diag *diag)
{
    vyre_dispatcher_params p;
    vy_diag_clear(diag);
    if (!out_dispatcher) {
        return vy_invalid(diag, "out_dispatcher is NULL. Fix: pass where the dispatcher goes");
    }
    *out_dispatcher = NULL;
    vyre_result code = vy_params_read(vyre_dispatcher_params, &p, params, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vyre_allocator allocator = vy_allocator_or_default(p.allocator);
    vyre_dispatcher *d = vy_alloc_zeroed(&allocator, 1, sizeof *d);
    if (!d) {
        return vy_diag_no_memory(diag);
    }
    d->allocator = allocator;
    d->device = device;
    vy_arena_init(&d->arena, &d->allocator);
    code = fill(d, &p, diag);
    if (code != VYRE_OK) {
        vyre_dispatcher_destroy(&d);
    }
    *out_dispatcher = d;
    return code;
}

void vyre_dispatcher_destroy(vyre_dispatcher **dispatcher)
{
    vyre_dispatcher *d = dispatcher ? *dispatcher : NULL;
    if (!d) {
        return;
    }
    if (d->has_mutexes) {
        vy_mk_queues_finish(d);
    }
    vy_mk_programs_finish(d);
    if (d->has_mutexes) {
        vy_mutex_finish(&d->compile_mutex);
        vy_mutex_finish(&d->mutex);
    }
    vyre_program_destroy(&d->handlers_program);
    vy_arena_finish(&d->arena);
    vyre_allocator allocator = d->allocator;
    vy_free(&allocator, d, sizeof *d);
    *dispatcher = NULL;
}

void vyre_dispatcher_get_counters(vyre_dispatcher *dispatcher,
                                  vyre_dispatcher_counters *out_counters)
{
    vy_mutex_lock(&dispatcher->mutex);
    vyre_dispatcher_counters *c = out_counters;
    vy_mk_latency latency = vy_mk_statistics_summary(&dispatcher->statistics);
    const vy_mk_lru_counters *programs = &dispatcher->lru.counters;
    *c = dispatcher->counters;
    c->pipelines = programs->entries;
    c->pipeline_evictions = programs->evictions;
    c->min_ns = latency.min_ns;
    c->mean_ns = latency.mean_ns;
    c->max_ns = latency.max_ns;
    c->p50_ns = latency.p50_ns;
    c->p99_ns = latency.p99_ns;
    c->items_per_second = latency.items_per_second;
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        out_counters->claims[p] = dispatcher->totals.claims[p];
    }
    out_counters->starvation = dispatcher->totals.starvation;
    vy_mutex_unlock(&dispatcher->mutex);
}
