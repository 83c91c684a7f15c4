/* Queues of work items by the library's dispatcher: on one resident buffer, by dispatchers that
 * live as long as the group. */
#include "tools/vyre-bench/megakernel.h"

#include "vyre/dispatcher.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 4, CLAIMS = VYRE_CLAIM_WORKGROUP + 1, NOTED_RUNS = 3 };

struct queue_series {
    queue_library *library;
    const queue_work *work;
    const queue_kind *kind;
    vyre_dispatcher *dispatcher;
    void *ring; /* of QUEUE_RING */
    size_t ring_size;
    uint64_t unprocessed; /* items of all samples that the reports leave out */
};

struct queue_library {
    bench *bench;
    vyre_program *program;
    vyre_buffer data;
    vyre_work_item *items;
    vyre_dispatcher *dispatchers[2][CLAIMS]; /* of one opcode, of all; by vyre_claim */
    queue_series series[BENCH_MAX_SERIES];
    uint32_t series_count;
};

/* ---- Handlers -------------------------------------------------------------------------------- */

/* What items.h has in C. */
#define HANDLER(name, body)                                                                        \
    "fn " name "(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n" body "}\n"

static const char text[] =
    "program items\n"
    "inout data : u32[]\n" HANDLER("scale", "    data[a1] = data[a0] * 3 + a2\n    return 0\n")
        HANDLER("add", "    data[a1] = data[a0] + a2\n    return 0\n") HANDLER(
            "turn", "    data[a1] = rotate_left(data[a0] ^ a2, 13)\n    return 0\n")
            HANDLER("hash", "    var v = data[a0] ^ a2\n"
                            "    for r in 0 .. 4 {\n"
                            "        v *= 0x9e3779b1\n"
                            "        v ^= v >> 15\n"
                            "    }\n"
                            "    data[a1] = v\n    return 0\n")
                HANDLER("gather", "    data[a1] = data[data[a0] % 65536] ^ a2\n    return 0\n")
                    HANDLER("count_bits",
                            "    let x = data[a0]\n"
                            "    data[a1] = popcount(x ^ a2) * 0x01000193 + x\n    return 0\n")
                        HANDLER("bound",
                                "    data[a1] = clamp(data[a0], a2 & 0xffff, a2)\n    return 0\n")
                            HANDLER("stir", "    var v = data[a0] ^ a2\n"
                                            "    for k in 0 .. 16 {\n"
                                            "        v = v * 5 + (v >> 7 ^ k)\n"
                                            "    }\n"
                                            "    data[a1] = v\n    return 0\n") "kernel { }\n";

#define EFFECTS (VYRE_EFFECT_READS_INPUT | VYRE_EFFECT_WRITES_OUTPUT | VYRE_EFFECT_PURE)

static const vyre_handler handlers[BENCH_OPCODES] = {
    {8, "scale", EFFECTS},  {9, "add", EFFECTS},     {10, "turn", EFFECTS},
    {11, "hash", EFFECTS},  {12, "gather", EFFECTS}, {13, "count_bits", EFFECTS},
    {14, "bound", EFFECTS}, {15, "stir", EFFECTS},
};

/* ---- Life ------------------------------------------------------------------------------------ */

vyre_result queue_library_create(bench *b, const uint32_t *data, uint32_t max_count,
                                 queue_library **out_library, vyre_diag *diag)
{
    queue_library *library = calloc(1, sizeof *library);
    *out_library = library;
    if (!library) {
        return vy_diag_no_memory(diag);
    }
    library->bench = b;
    library->items = malloc(max_count * sizeof *library->items);
    if (!library->items) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result =
        vyre_program_parse(text, strlen(text), "items", NULL, &library->program, diag);
    if (result == VYRE_OK) {
        result = bench_buffer_create(b->device, "data", data,
                                     ((uint64_t)BENCH_SOURCES + max_count) * sizeof *data,
                                     &library->data, diag);
    }
    return result;
}

void queue_library_destroy(queue_library **library)
{
    queue_library *old = *library;
    if (old) {
        queue_library_end(old);
        for (uint32_t i = 0; i < 2 * CLAIMS; i++) {
            vyre_dispatcher_destroy(&old->dispatchers[i / CLAIMS][i % CLAIMS]);
        }
        bench_buffer_destroy(old->bench->device, &old->data);
        vyre_program_destroy(&old->program);
        free(old->items);
    }
    free(old);
    *library = NULL;
}

void queue_library_begin(queue_library *library, const queue_work *work)
{
    for (uint32_t i = 0; i < work->count; i++) {
        const bench_item *item = &work->items[i];
        library->items[i] = (vyre_work_item){item->opcode, item->input, item->output, item->param};
    }
}

void queue_library_end(queue_library *library)
{
    for (uint32_t i = 0; i < library->series_count; i++) {
        free(library->series[i].ring);
    }
    library->series_count = 0;
}

/* A host of one opcode has one handler. */
static vyre_result get_dispatcher(queue_library *library, bool is_mixed, vyre_claim claim,
                                  vyre_dispatcher **out, vyre_diag *diag)
{
    vyre_dispatcher **kept = &library->dispatchers[is_mixed][claim];
    vyre_result result = VYRE_OK;
    if (!*kept) {
        vyre_binding binding = bench_resident_binding(library->data);
        vyre_dispatcher_params params;
        vyre_dispatcher_params_init(&params);
        params.program = library->program;
        params.handlers = handlers;
        params.handler_count = is_mixed ? BENCH_OPCODES : 1;
        params.bindings = &binding;
        params.binding_count = 1;
        params.max_in_flight = IN_FLIGHT;
        params.claim = claim;
        result = vyre_dispatcher_create(library->bench->device, &params, kept, diag);
        if (result == VYRE_OK) {
            result = vyre_dispatcher_warm_up(*kept, diag);
        }
    }
    *out = *kept;
    return result;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* All of them at a time, on the same outputs: they leave the same. */
static vyre_result run_in_flight(queue_series *s, const vyre_queue_params *params,
                                 vyre_queue_report *report, vyre_diag *diag)
{
    vyre_queue_ticket tickets[IN_FLIGHT] = {{0}};
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < IN_FLIGHT; i++) {
        result = vyre_dispatcher_submit(s->dispatcher, s->library->items, s->work->count, params,
                                        &tickets[i], diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < IN_FLIGHT; i++) {
        result = vyre_dispatcher_wait(s->dispatcher, &tickets[i], UINT64_MAX, report, diag);
        s->unprocessed += s->work->count - report->processed;
    }
    return result;
}

static vyre_result run_in_place(queue_series *s, const vyre_queue_params *params,
                                vyre_queue_report *report, vyre_diag *diag)
{
    vyre_queue_ticket ticket;
    vyre_work_item *items = NULL;
    uint32_t count = s->work->count;
    vyre_result result = vyre_dispatcher_map(s->dispatcher, count, params, &items, &ticket, diag);
    if (result == VYRE_OK) {
        memcpy(items, s->library->items, count * sizeof *items);
        result = vyre_dispatcher_submit_mapped(s->dispatcher, ticket, count, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_dispatcher_wait(s->dispatcher, &ticket, UINT64_MAX, report, diag);
        s->unprocessed += count - report->processed;
    }
    return result;
}

static vyre_result run(queue_series *s, uint32_t flags, vyre_queue_report *report, vyre_diag *diag)
{
    const queue_library *library = s->library;
    vyre_queue_params params;
    vyre_result result = VYRE_OK;
    vyre_queue_params_init(&params);
    params.flags = flags;
    if (s->kind->form == QUEUE_IN_FLIGHT) {
        return run_in_flight(s, &params, report, diag);
    }
    if (s->kind->form == QUEUE_IN_PLACE) {
        return run_in_place(s, &params, report, diag);
    }
    if (s->kind->form == QUEUE_RING) {
        result =
            vyre_ring_publish_items(s->ring, s->ring_size, 0, library->items, s->work->count, diag);
        if (result == VYRE_OK) {
            result = vyre_dispatcher_run_ring(s->dispatcher, s->ring, s->ring_size, &params, report,
                                              diag);
        }
    } else {
        result = vyre_dispatcher_run(s->dispatcher, library->items, s->work->count, &params, report,
                                     diag);
    }
    s->unprocessed += result == VYRE_OK ? s->work->count - report->processed : 0;
    return result;
}

static vyre_result sample(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    queue_series *s = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_queue_report report;
        uint64_t start = bench_now_ns();
        result = run(s, s->kind->flags, &report, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
        out[i] /= s->kind->form == QUEUE_IN_FLIGHT ? IN_FLIGHT : 1;
    }
    return result;
}

/* All samples left the same: once more, on cleared words. */
static vyre_result check(void *state, bench_check *out, vyre_diag *diag)
{
    queue_series *s = state;
    const queue_library *library = s->library;
    vyre_device *device = library->bench->device;
    uint64_t first = BENCH_SOURCES * sizeof(uint32_t), size = s->work->count * sizeof(uint32_t);
    vyre_queue_report report;
    vyre_result result = vyre_buffer_fill(device, library->data, first, size, 0, diag);
    if (result == VYRE_OK) {
        result = run(s, s->kind->flags, &report, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_buffer_download(device, library->data, first, s->work->got, size, diag);
    }
    if (result == VYRE_OK) {
        queue_work_compare(s->work, out);
        out->wrong += s->unprocessed;
    }
    return result;
}

/* ---- Series ---------------------------------------------------------------------------------- */

vyre_result queue_library_add(queue_library *library, bench_case *c, const queue_work *work,
                              const queue_kind *kind, vyre_diag *diag)
{
    vyre_dispatcher *dispatcher = NULL;
    vyre_result result = get_dispatcher(library, work->is_mixed, kind->claim, &dispatcher, diag);
    if (result == VYRE_ERROR_UNSUPPORTED_FEATURE && kind->claim != VYRE_CLAIM_AUTO) {
        vy_diag_clear(diag); /* the device cannot claim so */
        return VYRE_OK;
    }
    if (result != VYRE_OK) {
        return result;
    }
    if (library->series_count == BENCH_MAX_SERIES) {
        return vy_diag_no_memory(diag);
    }
    queue_series *s = &library->series[library->series_count];
    *s = (queue_series){.library = library, .work = work, .kind = kind, .dispatcher = dispatcher};
    if (kind->form == QUEUE_RING) {
        s->ring_size = (size_t)work->count * VYRE_SLOT_SIZE;
        s->ring = calloc(1, s->ring_size);
        if (!s->ring) {
            return vy_diag_no_memory(diag);
        }
    }
    library->series_count++;
    (void)bench_series_vyre(c, kind->way, library->bench->device, sample, check, s);
    return VYRE_OK;
}

/* The report of the best of a few runs more. */
static vyre_result run_again(queue_series *s, uint32_t flags, vyre_queue_report *out,
                             vyre_diag *diag)
{
    vyre_queue_report report;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < NOTED_RUNS; i++) {
        result = run(s, s->kind->flags | flags, &report, diag);
        if (i == 0 || report.wall_ns < out->wall_ns) {
            *out = report;
        }
    }
    return result;
}

/* The device's times by runs of their own: they cost the host some. */
static vyre_result note(queue_series *s, bench_series *series, vyre_diag *diag)
{
    vyre_queue_report host = {.wall_ns = 0}, device = host;
    size_t at = 0;
    vyre_result result = run_again(s, 0, &host, diag);
    if (result == VYRE_OK) {
        result = run_again(s, VYRE_QUEUE_TIMED, &device, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    if (device.device_ns != VYRE_NS_NONE) {
        char us[32], ns[32];
        bench_format_time((double)device.device_ns / 1e3, us, sizeof us);
        bench_format_time((double)device.device_ns / s->work->count, ns, sizeof ns);
        at = (size_t)snprintf(series->note, sizeof series->note, "device %s us, %s ns an item; ",
                              us, ns);
    }
    snprintf(series->note + at, sizeof series->note - at,
             "host: plan %.1f, publish %.1f, dispatch %.1f us; %s, by %s%s, workgroups %u, "
             "launches %u",
             (double)host.plan_ns / 1e3, (double)host.publish_ns / 1e3,
             (double)host.dispatch_ns / 1e3, host.form, host.claim,
             host.is_special ? ", its own kernel" : "", host.group_count, host.launches);
    return VYRE_OK;
}

vyre_result queue_series_note(bench_case *c, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < c->series_count; i++) {
        bench_series *series = &c->series[i];
        queue_series *s = series->sample == sample ? series->state : NULL;
        if (s && s->kind->form != QUEUE_IN_FLIGHT) {
            result = note(s, series, diag);
        }
    }
    return result;
}
