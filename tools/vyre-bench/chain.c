/* Chains of the step: made, sampled, checked against what so many steps give. */
#include "tools/vyre-bench/chain.h"

#include <stdlib.h>
#include <string.h>

struct chain {
    bench *bench;
    chain_params params;
    uint32_t count;           /* elements of each buffer */
    uint64_t runs[PEER_SIDE]; /* that each buffer has seen */
    uint32_t next;            /* the buffer of the next run */
    uint32_t *host;           /* as many elements as a buffer */
    uint64_t first_compared, first_wrong;
    /* The library's. */
    bench_program program;
    vyre_buffer x[PEER_SIDE];
    vyre_binding bindings[PEER_SIDE];
    vyre_dispatch_params dispatch;
    chain_watch *watch; /* NULL: not watched */
    chain *before;      /* its own, run before each sample; NULL: none */
    /* The peer's: a chain, or workgroups that stay. */
    peer_chain *peer;
    peer_program *stay;
};

static const char empty_text[] = "program empty\nworkgroup 1\nkernel { }\n";

static double since_us(uint64_t start)
{
    return (double)(bench_now_ns() - start) / 1e3;
}

/* ---- Sampling -------------------------------------------------------------------------------- */

static void check_first(chain *ch, const uint32_t *first, uint32_t set)
{
    ch->first_compared += 4;
    ch->first_wrong += bench_step_wrong(first, 4, ch->runs[set] * ch->params.steps);
}

static double step_us(const chain *ch, uint64_t device_ns, uint64_t start)
{
    double us = device_ns == UINT64_MAX ? since_us(start) : (double)device_ns / 1e3;
    double dispatches = ch->params.is_side_by_side ? PEER_SIDE : 1;
    return us / dispatches / (ch->params.steps ? ch->params.steps : 1);
}

/* Buffers side by side are always the same. */
static uint32_t next_set(const chain *ch)
{
    return ch->params.is_side_by_side ? 0 : (ch->next + 1) % ch->params.sets;
}

static void count_run(chain *ch, uint32_t set, vyre_result result)
{
    for (uint32_t i = 0; i < ch->params.sets; i++) {
        ch->runs[i] += (i == set || ch->params.is_side_by_side) && result == VYRE_OK;
    }
}

static vyre_result sample_library(void *state, double *out, uint32_t count, vyre_diag *diag);
static vyre_result sample_peer(void *state, double *out, uint32_t count, vyre_diag *diag);

/* What comes before a sample and is not in it. */
static vyre_result lead_in(const chain *ch, vyre_diag *diag)
{
    double ignored;
    uint64_t end = bench_now_ns() + (uint64_t)ch->params.pause_us * 1000;
    while (bench_now_ns() < end) {
    }
    if (!ch->before) {
        return VYRE_OK;
    }
    return ch->before->peer ? sample_peer(ch->before, &ignored, 1, diag)
                            : sample_library(ch->before, &ignored, 1, diag);
}

static vyre_result keep(chain *ch, double all, double driver, double walk, vyre_diag *diag)
{
    bool ok = !ch->watch || chain_watch_add(ch->watch, (chain_sample){all, driver, walk});
    return ok ? VYRE_OK : vy_diag_no_memory(diag);
}

static vyre_result sample_submit(chain *ch, double *out, vyre_diag *diag)
{
    vyre_ticket ticket;
    vyre_report report = {.submit_ns = 0};
    double walk = ch->watch ? chain_watch_walk(ch->watch) : 0;
    uint64_t start = bench_now_ns();
    vyre_result result = vyre_dispatch_async(ch->program.pipeline, &ch->dispatch, &ticket, diag);
    *out = since_us(start);
    /* As the peers do: a processor that slept meanwhile is slower at the next call. */
    for (int is_done = 0; result == VYRE_OK && !is_done;) {
        result = vyre_ticket_poll(ch->bench->device, ticket, &is_done, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_ticket_wait(ch->bench->device, &ticket, UINT64_MAX, &report, diag);
    }
    return result == VYRE_OK ? keep(ch, *out, (double)report.submit_ns / 1e3, walk, diag) : result;
}

static vyre_result sample_library(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    chain *ch = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint32_t set = ch->next;
        ch->next = next_set(ch);
        ch->bindings[0].buffer = ch->x[set];
        result = lead_in(ch, diag);
        if (result != VYRE_OK) {
            return result;
        }
        if (ch->params.measure == CHAIN_SUBMIT) {
            result = sample_submit(ch, &out[i], diag);
        } else {
            vyre_report report;
            bool timed = ch->params.measure == CHAIN_STEP;
            uint64_t start = bench_now_ns();
            result =
                vyre_dispatch(ch->program.pipeline, &ch->dispatch, timed ? &report : NULL, diag);
            out[i] = timed && result == VYRE_OK ? step_us(ch, report.device_dispatches_ns, start)
                                                : since_us(start);
        }
        count_run(ch, set, result);
        if (result == VYRE_OK && ch->params.reads_first) {
            check_first(ch, ch->host, set);
        }
    }
    return result;
}

static vyre_result sample_peer(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    chain *ch = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint32_t set = ch->next;
        ch->next = next_set(ch);
        result = lead_in(ch, diag);
        double walk = ch->watch ? chain_watch_walk(ch->watch) : 0;
        uint64_t start = bench_now_ns();
        if (result == VYRE_OK && ch->params.records_again) {
            result = peer_chain_record(ch->peer, set, diag);
        }
        if (result == VYRE_OK) {
            result = peer_chain_submit(ch->peer, ch->params.wait, diag);
        }
        out[i] = since_us(start);
        if (result == VYRE_OK) {
            result = keep(ch, out[i], out[i], walk, diag);
        }
        if (result == VYRE_OK) {
            result = peer_chain_wait(ch->peer, diag);
        }
        if (ch->params.measure == CHAIN_WALL) {
            out[i] = since_us(start);
        } else if (ch->params.measure == CHAIN_STEP && result == VYRE_OK) {
            out[i] = step_us(ch, peer_chain_device_ns(ch->peer), start);
        }
        count_run(ch, set, result);
        if (result == VYRE_OK && ch->params.reads_first) {
            check_first(ch, peer_chain_first(ch->peer), set);
        }
    }
    return result;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    chain *ch = state;
    vyre_result result = VYRE_OK;
    *out = (bench_check){ch->first_compared, ch->first_wrong};
    for (uint32_t set = 0; result == VYRE_OK && set < ch->params.sets; set++) {
        uint64_t size = (uint64_t)ch->count * sizeof *ch->host;
        memset(ch->host, 0xff, (size_t)size);
        result = ch->stay ? peer_program_read(ch->stay, 0, ch->host, diag)
                 : ch->peer
                     ? peer_chain_read(ch->peer, set, ch->host, diag)
                     : vyre_buffer_download(ch->bench->device, ch->x[set], 0, ch->host, size, diag);
        if (result == VYRE_OK) {
            out->compared += ch->count;
            out->wrong += bench_step_wrong(ch->host, ch->count, ch->runs[set] * ch->params.steps);
        }
    }
    return result;
}

static void add_note(bench_series *s, const chain_params *params)
{
    if (params->steps == 0) {
        snprintf(s->note, sizeof s->note, "leaves nothing that could be checked");
    } else if (params->no_barriers) {
        snprintf(s->note, sizeof s->note, "wrong on purpose, so not checked");
    }
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void chain_destroy(chain *ch)
{
    if (ch) {
        if (ch->before) {
            chain_destroy(ch->before);
        }
        bench_program_destroy(&ch->program);
        for (uint32_t i = 0; i < PEER_SIDE; i++) {
            bench_buffer_destroy(ch->bench->device, &ch->x[i]);
        }
        peer_chain_destroy(&ch->peer);
        peer_program_destroy(&ch->stay);
        chain_watch_destroy(ch->watch);
        free(ch->host);
        free(ch);
    }
}

void chain_list_finish(chain_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        chain_destroy(list->chains[i]);
    }
    list->count = 0;
}

const chain_watch *chain_series_watch(const bench_series *s)
{
    const chain *ch = s->state;
    return ch->watch;
}

static chain *chain_make(bench *b, chain_list *list, const chain_params *params, vyre_diag *diag)
{
    chain *ch = list->count < BENCH_MAX_SERIES ? calloc(1, sizeof *ch) : NULL;
    if (ch) {
        ch->bench = b;
        ch->params = *params;
        ch->params.sets = params->sets ? params->sets : 1;
        ch->params.sets = params->is_side_by_side ? PEER_SIDE : ch->params.sets;
        ch->count = params->groups * BENCH_GROUP_SIZE;
        ch->host = bench_indices(ch->count);
        ch->watch = params->is_watched ? chain_watch_create(params) : NULL;
        list->chains[list->count++] = ch;
    }
    if (!ch || !ch->host || (params->is_watched && !ch->watch)) {
        (void)vy_diag_no_memory(diag);
        return NULL;
    }
    return ch;
}

/* A segment for each buffer, none of which waits for another. */
static const char *make_side_text(char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "program side\nworkgroup 256\ngrid over x0\n");
    for (uint32_t i = 0; i < PEER_SIDE; i++) {
        at += (size_t)snprintf(out + at, size - at, "inout x%u : u32[%s]\n", (unsigned)i,
                               i ? "len(x0)" : "");
    }
    for (uint32_t i = 0; i < PEER_SIDE; i++) {
        at += (size_t)snprintf(out + at, size - at, "%s x%u[gid.x] = x%u[gid.x] * 3 + 1\n",
                               i ? "grid_sync" : "kernel {", (unsigned)i, (unsigned)i);
    }
    (void)snprintf(out + at, size - at, "}\n");
    return out;
}

static vyre_result prepare_library(chain *ch, vyre_diag *diag)
{
    bench *b = ch->bench;
    char side_text[2000];
    bool is_empty = ch->params.steps == 0;
    uint64_t size = (uint64_t)ch->count * sizeof *ch->host;
    const char *text =
        ch->params.is_side_by_side ? make_side_text(side_text, sizeof side_text) : bench_step_text;
    vyre_result result =
        bench_program_create(b->device, is_empty ? empty_text : text, &ch->program, diag);
    for (uint32_t i = 0; result == VYRE_OK && !is_empty && i < ch->params.sets; i++) {
        result = bench_buffer_create(b->device, "x", ch->host, size, &ch->x[i], diag);
        ch->bindings[i] = bench_resident_binding(ch->x[i]);
    }
    vyre_dispatch_params_init(&ch->dispatch);
    ch->dispatch.strategy =
        ch->params.strategy == VYRE_STRATEGY_AUTO ? VYRE_STRATEGY_REPLAY : ch->params.strategy;
    ch->dispatch.flags = ch->params.measure == CHAIN_STEP ? VYRE_DISPATCH_TIMED : 0;
    if (ch->params.reads_first) {
        ch->bindings[0].out = ch->host;
        ch->bindings[0].out_size = 16;
    }
    if (is_empty) {
        ch->dispatch.groups[0] = ch->params.groups;
    } else {
        ch->dispatch.bindings = ch->bindings;
        ch->dispatch.binding_count = ch->params.is_side_by_side ? PEER_SIDE : 1;
        ch->dispatch.passes = ch->params.steps;
    }
    return result;
}

static vyre_result prepare_peer(chain *ch, vyre_diag *diag)
{
    const chain_params *p = &ch->params;
    uint32_t flags = (p->no_barriers || p->steps < 2 ? 0 : PEER_BARRIERS) |
                     (p->reads_first ? PEER_READ_BACK : 0) | (p->has_block ? PEER_BLOCK : 0) |
                     (p->is_side_by_side ? PEER_SIDE_BY_SIDE : 0) |
                     (p->measure == CHAIN_STEP ? PEER_TIMED : 0);
    return peer_chain_create(ch->bench->peer, p->groups, p->steps, flags, &ch->peer, diag);
}

/* With what goes before it, by the same side. */
static vyre_result prepare(chain *ch, vyre_result (*prepare_one)(chain *ch, vyre_diag *diag),
                           vyre_diag *diag)
{
    vyre_result result = prepare_one(ch, diag);
    if (result != VYRE_OK || !ch->params.is_behind) {
        return result;
    }
    chain_list own = {.count = 0};
    chain_params params = {.measure = CHAIN_WALL, .groups = ch->params.groups, .steps = 1};
    ch->before = chain_make(ch->bench, &own, &params, diag);
    return ch->before ? prepare_one(ch->before, diag) : VYRE_ERROR_OUT_OF_HOST_MEMORY;
}

vyre_result chain_add(bench *b, bench_case *c, chain_list *list, const chain_params *params,
                      vyre_diag *diag)
{
    chain *ch = chain_make(b, list, params, diag);
    if (!ch) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    vyre_result result = prepare(ch, prepare_library, diag);
    if (result == VYRE_OK && ch->dispatch.strategy != VYRE_STRATEGY_REPLAY) {
        double ignored;
        result = sample_library(ch, &ignored, 1, diag);
    }
    if (result == VYRE_ERROR_INVALID_ARGUMENT && ch->dispatch.strategy != VYRE_STRATEGY_REPLAY) {
        bench_series_leave_out(c, "vyre", params->way, diag->message);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    bench_series *s = bench_series_vyre(c, params->way, b->device, sample_library,
                                        params->steps ? check : NULL, ch);
    add_note(s, params);
    return result;
}

vyre_result chain_add_peer(bench *b, bench_case *c, chain_list *list, const chain_params *params,
                           vyre_diag *diag)
{
    if (!b->peer) {
        return VYRE_OK;
    }
    chain *ch = chain_make(b, list, params, diag);
    if (!ch) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (prepare(ch, prepare_peer, diag) != VYRE_OK) {
        snprintf(b->peer_note, sizeof b->peer_note, "%s", diag->message);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    bench_series *s = bench_series_add(c, "vulkan", params->way, sample_peer,
                                       params->steps && !params->no_barriers ? check : NULL, ch);
    add_note(s, params);
    return VYRE_OK;
}

/* ---- Workgroups that stay -------------------------------------------------------------------- */

static vyre_result sample_stay(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    chain *ch = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        result = peer_program_reset(ch->stay, diag); /* nobody has arrived */
        uint64_t start = bench_now_ns();
        if (result == VYRE_OK) {
            result = peer_program_run(ch->stay, diag);
        }
        if (result == VYRE_OK) {
            out[i] = ch->params.measure == CHAIN_STEP
                         ? step_us(ch, peer_program_device_ns(ch->stay), start)
                         : since_us(start);
            ch->runs[0]++;
        }
    }
    return result;
}

vyre_result chain_add_stay(bench *b, bench_case *c, chain_list *list, const chain_params *params,
                           uint32_t residents, vyre_diag *diag)
{
    if (!b->peer) {
        return VYRE_OK;
    }
    chain *ch = chain_make(b, list, params, diag);
    if (!ch) {
        return VYRE_ERROR_OUT_OF_HOST_MEMORY;
    }
    residents = residents ? residents : 1;
    peer_step step = {.shader = PEER_SHADER_STAY,
                      .groups = residents < params->groups ? residents : params->groups,
                      .count = ch->count,
                      .a = params->steps};
    peer_reset reset = {.buffer = 1};
    peer_program_params program = {.sizes = {(uint64_t)ch->count * sizeof *ch->host, 256},
                                   .buffer_count = 2,
                                   .steps = &step,
                                   .step_count = 1,
                                   .resets = &reset,
                                   .reset_count = 1};
    vyre_result result = peer_program_create(b->peer, &program, &ch->stay, diag);
    if (result == VYRE_OK) {
        result = peer_program_write(ch->stay, 0, ch->host, diag);
    }
    if (result != VYRE_OK) {
        bench_series_leave_out(c, "vulkan", params->way, diag->message);
        vy_diag_clear(diag);
        return VYRE_OK;
    }
    (void)bench_series_add(c, "vulkan", params->way, sample_stay, check, ch);
    return VYRE_OK;
}
