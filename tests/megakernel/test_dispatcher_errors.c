/* What a dispatcher refuses: before anything is done, with what is wrong and what to do, and as
 * good for the next queue as before. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/megakernel/property.h"
#include "tests/support/fail_allocator.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 64, COUNT = 300, CONTROL_WORDS = VYRE_CONTROL_OBSERVABLES + 4 };

/* Nothing was made, moved or launched between two looks. */
static void check_idle(const vyre_device_counters *before, vyre_device *device)
{
    if (!device) {
        return;
    }
    vyre_device_counters after = engine_counters(device);
    assert_int_equal(after.submissions, before->submissions);
    assert_int_equal(after.dispatches, before->dispatches);
    assert_int_equal(after.uploads, before->uploads);
    assert_int_equal(after.buffers, before->buffers);
    assert_int_equal(after.memory_allocations, before->memory_allocations);
    assert_int_equal(after.pipelines, before->pipelines);
    assert_int_equal(after.modules, before->modules);
    assert_int_equal(after.recordings, before->recordings);
}

static vyre_device_counters look(vyre_device *device)
{
    return device ? engine_counters(device) : (vyre_device_counters){0};
}

/* ---- Creation -------------------------------------------------------------------------------- */

static const char program_text[] =
    "program handlers\n"
    "param factor : u32\n"
    "inout data : u32[]\n"
    "inout other : u32[]\n"
    "fn good(slot: u32, a0: u32) -> u32 { return factor * a0 & 255 }\n"
    "fn good_io(kind: u32, source: u32, target: u32, lo: u32, hi: u32, size: u32, tag: u32)"
    " -> u32 { return 0 }\n"
    "fn no_slot() -> u32 { return 0 }\n"
    "fn gives_float(slot: u32) -> f32 { return 1.0 }\n"
    "fn takes_float(slot: u32, a0: f32) -> u32 { return 0 }\n"
    "fn thirteen(slot: u32, a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32,"
    " i: u32, j: u32, k: u32, l: u32, m: u32) -> u32 { return 0 }\n"
    "fn waits(slot: u32) -> u32 {\n"
    "    barrier\n"
    "    return 0\n"
    "}\n"
    "kernel { }\n";

static vyre_program *parse(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), "handlers", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u: %s", (unsigned)diag.line, diag.message);
    }
    return program;
}

typedef struct bad_handler {
    vyre_handler handler;
    const char *part; /* of the message */
} bad_handler;

static const bad_handler bad_handlers[] = {
    {{0, "good", 0}, "0x0"},
    {{7, "good", 0}, "0x7"},
    {{0xfff0, "good", 0}, "0xfff0"},
    {{0xffff, "good", 0}, "0xffff"},
    {{0x80000000u, "good", 0}, "0x80000000"},
    {{VYRE_OPCODE_SHUTDOWN, "good", 0}, "0xffffffff"},
    {{8, "good", 0}, "0x8 is"}, /* it stands twice */
    {{9, "absent", 0}, "absent"},
    {{9, "", 0}, "no function"},
    {{9, NULL, 0}, "no function"},
    {{9, "no_slot", 0}, "no_slot"},
    {{9, "gives_float", 0}, "gives_float"},
    {{9, "takes_float", 0}, "takes_float"},
    {{9, "thirteen", 0}, "thirteen"},
    {{9, "waits", 0}, "barrier"},
    {{9, "good", VYRE_EFFECT_PURE | VYRE_EFFECT_OPAQUE}, "0x9"},
    {{9, "good", VYRE_EFFECT_PURE | VYRE_EFFECT_READS_OUTPUT}, "0x9"},
    {{9, "good", VYRE_EFFECT_COMMUTATIVE}, "0x9"},
    {{9, "good", VYRE_EFFECT_ORDERS_ALL | VYRE_EFFECT_IDEMPOTENT}, "0x9"},
    {{9, "good", 4096}, "0x9"},
};

typedef struct maker {
    vyre_device *device;
    vyre_program *program;
    vyre_handler handlers[2];
    vyre_binding bindings[2];
    uint32_t factor, data[2][WORDS];
    vyre_buffer buffers[2];
    vyre_dispatcher_params params;
    vy_fail_allocator memory;
    vyre_allocator allocator;
} maker;

static void maker_init(maker *m, vyre_device *device)
{
    memset(m, 0, sizeof *m);
    m->device = device;
    m->program = parse(program_text);
    m->allocator = vy_fail_allocator_get(&m->memory);
    m->handlers[0] = (vyre_handler){8, "good", 0};
    for (uint32_t b = 0; b < 2; b++) {
        m->bindings[b] = engine_host_inout(m->data[b], WORDS);
        if (device) {
            m->buffers[b] = engine_buffer(device, sizeof m->data[b], m->data[b]);
            m->bindings[b] = engine_resident(m->buffers[b], 0, WORDS);
        }
    }
    vyre_dispatcher_params_init(&m->params);
    m->params.allocator = &m->allocator;
    m->params.program = m->program;
    m->params.handlers = m->handlers;
    m->params.handler_count = 1;
    m->params.bindings = m->bindings;
    m->params.binding_count = 2;
    m->params.params = &m->factor;
    m->params.param_count = 1;
}

static void maker_finish(maker *m)
{
    assert_int_equal(m->memory.live_blocks, 0);
    assert_int_equal(m->memory.live_size, 0);
    for (uint32_t b = 0; m->device && b < 2; b++) {
        assert_int_equal(vyre_buffer_destroy(m->device, &m->buffers[b], NULL), VYRE_OK);
    }
    vyre_program_destroy(&m->program);
}

static void refuse(const maker *m, const vyre_dispatcher_params *params, const char *part)
{
    vyre_dispatcher *dispatcher = (vyre_dispatcher *)(uintptr_t)&m->params;
    vyre_diag diag;
    vyre_device_counters before = look(m->device);
    vyre_result code = vyre_dispatcher_create(m->device, params, &dispatcher, &diag);
    if (code != VYRE_ERROR_INVALID_ARGUMENT || !strstr(diag.message, part)) {
        fail_msg("%d, and no '%s': %s", (int)code, part, diag.message);
    }
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_null(dispatcher);
    check_idle(&before, m->device);
    assert_int_equal(m->memory.live_blocks, 0);
}

#define REFUSE(change, part)                                                                       \
    do {                                                                                           \
        vyre_dispatcher_params p = m.params;                                                       \
        change;                                                                                    \
        refuse(&m, &p, part);                                                                      \
    } while (0)

static void refuse_creation(vyre_device *device)
{
    static maker m;
    vyre_dispatcher *dispatcher = NULL;
    vyre_diag diag;
    maker_init(&m, device);
    for (size_t b = 0; b < VY_COUNT_OF(bad_handlers); b++) {
        m.handlers[1] = bad_handlers[b].handler;
        REFUSE(p.handler_count = 2, bad_handlers[b].part);
    }
    REFUSE(p.handlers = NULL, "NULL");
    REFUSE(p.program = NULL, "0 buffers");
    REFUSE(p.binding_count = 1, "2 buffers");
    REFUSE(p.binding_count = 3, "3 were bound");
    REFUSE(p.bindings = NULL, "0 were bound");
    REFUSE(p.param_count = 0, "1 words");
    REFUSE(p.param_count = 2, "2 were given");
    REFUSE(p.params = NULL, "0 were given");
    REFUSE(p.claim = (vyre_claim)4, "claim 4");
    REFUSE(p.max_in_flight = 65, "65 queues");
    REFUSE(p.observable_count = VYRE_MAX_OBSERVABLES + 1, "1048577");
    REFUSE(p.io_function = "absent", "absent");
    REFUSE(p.io_function = "good", "good");
    struct {
        vyre_dispatcher_params params;
        uint32_t unknown[2];
    } newer = {m.params, {0, 1}};
    newer.params.struct_size = sizeof newer;
    refuse(&m, &newer.params, "not zero");
    const vyre_binding other = device ? engine_host_inout(m.data[0], WORDS)
                                      : (vyre_binding){.kind = VYRE_BINDING_RESIDENT};
    m.bindings[1] = other; /* neither has the other's memory */
    REFUSE((void)p, "binding 1");
    m.bindings[1] = (vyre_binding){.kind = VYRE_BINDING_NONE};
    assert_int_equal(vyre_dispatcher_create(device, &m.params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    /* What is left is good. */
    m.params.io_function = "good_io";
    assert_int_equal(vyre_dispatcher_create(device, &m.params, &dispatcher, &diag), VYRE_OK);
    vyre_dispatcher_destroy(&dispatcher);
    assert_null(dispatcher);
    vyre_dispatcher_destroy(&dispatcher);
    vyre_dispatcher_destroy(NULL);
    maker_finish(&m);
}

static void test_dispatchers_are_refused_with_what_is_wrong(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_creation);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

typedef struct refusal {
    rig *r;
    const vyre_work_item *items;
    uint32_t count;
    const char *part;
} refusal;

static void check_refusal(const refusal *x, vyre_result code, const vyre_diag *diag)
{
    if (code != VYRE_ERROR_INVALID_ARGUMENT || !strstr(diag->message, x->part)) {
        fail_msg("%d, and no '%s': %s", (int)code, x->part, diag->message);
    }
    assert_non_null(strstr(diag->message, "Fix: "));
}

/* By each of the ways, more often than queues may be in flight: none stays behind. */
static void refuse_queue(const refusal *x, const vyre_queue_params *params)
{
    vyre_device_counters before = look(x->r->device);
    vyre_queue_report report;
    vyre_diag diag;
    memset(&report, 0x5a, sizeof report);
    vyre_queue_report untouched = report;
    for (int i = 0; i < 6; i++) {
        vyre_queue_ticket ticket = {77};
        check_refusal(
            x, vyre_dispatcher_run(x->r->dispatcher, x->items, x->count, params, &report, &diag),
            &diag);
        check_refusal(x,
                      vyre_dispatcher_run_bytes(x->r->dispatcher, x->items,
                                                x->count * sizeof *x->items, params, &report,
                                                &diag),
                      &diag);
        check_refusal(
            x, vyre_dispatcher_submit(x->r->dispatcher, x->items, x->count, params, &ticket, &diag),
            &diag);
        assert_true(ticket.bits == 0);
    }
    assert_memory_equal(&report, &untouched, sizeof report);
    check_idle(&before, x->r->device);
}

#define REFUSE_QUEUE(change, text)                                                                 \
    do {                                                                                           \
        vyre_queue_params p;                                                                       \
        vyre_queue_params_init(&p);                                                                \
        change;                                                                                    \
        for (uint32_t n = 0; n <= COUNT; n += COUNT) { /* also of no item */                       \
            const refusal x = {r, n ? items : NULL, n, text};                                      \
            refuse_queue(&x, &p);                                                                  \
        }                                                                                          \
    } while (0)

static void refuse_params(rig *r, const vyre_work_item *items)
{
    static uint32_t words[3000];
    vyre_binding bindings[2] = {{.kind = VYRE_BINDING_HOST, .count = 4}};
    memset(words, 0x77, sizeof words);
    REFUSE_QUEUE(p.worker_count = 0, "0 workers");
    REFUSE_QUEUE(p.max_wall_ns = 0, "0 ns");
    REFUSE_QUEUE((p.io_queue = words, p.io_size = 31), "I/O queue");
    REFUSE_QUEUE((p.io_queue = words, p.io_size = 33), "I/O queue");
    REFUSE_QUEUE((p.io_queue = words, p.io_size = 65 * 32), "65 requests");
    REFUSE_QUEUE(p.io_size = 32, "NULL");
    REFUSE_QUEUE((p.io_queue = (char *)words + 1, p.io_size = 32), "aligned");
    REFUSE_QUEUE((p.control = words, p.control_size = 636), "636 bytes");
    REFUSE_QUEUE((p.control = words, p.control_size = 641), "641 bytes");
    REFUSE_QUEUE((p.control = words, p.control_size = 0), "0 bytes");
    REFUSE_QUEUE((p.control = words, p.control_size = 640 + ((size_t)4 << 20) + 4),
                 "4194948 bytes");
    REFUSE_QUEUE((p.control = (char *)words + 2, p.control_size = 640), "aligned");
    REFUSE_QUEUE(p.control_size = 640, "NULL");
    REFUSE_QUEUE((p.debug_log = words, p.debug_size = 24), "24 bytes");
    REFUSE_QUEUE((p.debug_log = words, p.debug_size = 0), "0 bytes");
    REFUSE_QUEUE((p.debug_log = words, p.debug_size = 22), "22 bytes");
    REFUSE_QUEUE((p.debug_log = (char *)words + 1, p.debug_size = 20), "aligned");
    REFUSE_QUEUE(p.debug_size = 20, "NULL");
    REFUSE_QUEUE(p.flags = 1024, "0x400");
    REFUSE_QUEUE(p.flags = VYRE_QUEUE_PRUNE_ALL | VYRE_QUEUE_KEEP_DUPLICATES, "PRUNE_ALL");
    REFUSE_QUEUE(p.flags = VYRE_QUEUE_BY_PRIORITY, "BY_PRIORITY");
    REFUSE_QUEUE(p.tenant = VYRE_MAX_TENANTS, "tenant 29");
    REFUSE_QUEUE(p.tenant = UINT32_MAX, "tenant 4294967295");
    REFUSE_QUEUE(p.priority = VYRE_PRIORITY_COUNT, "priority 5");
    REFUSE_QUEUE((p.bindings = bindings, p.binding_count = 0), "0 bindings");
    REFUSE_QUEUE((p.bindings = bindings, p.binding_count = 2), "2 bindings");
    struct {
        vyre_queue_params params;
        uint32_t unknown[2];
    } newer = {.unknown = {0, 1}};
    vyre_queue_params_init(&newer.params);
    newer.params.struct_size = sizeof newer;
    const refusal of_newer = {r, items, COUNT, "not zero"};
    refuse_queue(&of_newer, &newer.params);
    if (r->device) {
        REFUSE_QUEUE((p.bindings = bindings, p.binding_count = 1), "binding 0");
    }
    for (size_t w = 0; w < VY_COUNT_OF(words); w++) {
        assert_int_equal(words[w], 0x77777777);
    }
}

static void refuse_items(rig *r, vyre_work_item *items)
{
    static const uint32_t opcodes[] = {
        VYRE_OPCODE_DFA_STEP, VYRE_OPCODE_LOAD_MISS, 0xfff0,     0xffff,
        0x80000000u,          0x80000002u,           0xfffffffeu};
    static const uint32_t places[] = {0, 1, COUNT - 1};
    vyre_queue_params params;
    char part[64];
    vyre_queue_params_init(&params);
    for (size_t o = 0; o < VY_COUNT_OF(opcodes); o++) {
        for (size_t p = 0; p < VY_COUNT_OF(places); p++) {
            vyre_work_item good = items[places[p]];
            items[places[p]].opcode = opcodes[o];
            snprintf(part, sizeof part, "item %u has opcode 0x%x", (unsigned)places[p],
                     (unsigned)opcodes[o]);
            for (uint32_t f = 0; f < 3; f++) {
                static const uint32_t flags[] = {0, VYRE_QUEUE_INDEPENDENT, VYRE_QUEUE_STRICT};
                const refusal x = {r, items, COUNT, part};
                params.flags = flags[f];
                refuse_queue(&x, &params);
            }
            items[places[p]] = good;
        }
    }
    vyre_diag diag;
    const refusal null = {r, NULL, COUNT, "NULL"};
    check_refusal(&null, vyre_dispatcher_run(r->dispatcher, NULL, COUNT, NULL, NULL, &diag), &diag);
    check_refusal(&null, vyre_dispatcher_run_bytes(r->dispatcher, NULL, 16, NULL, NULL, &diag),
                  &diag);
    check_refusal(&null, vyre_dispatcher_run(NULL, items, COUNT, NULL, NULL, &diag), &diag);
    check_refusal(&null, vyre_dispatcher_submit(r->dispatcher, items, COUNT, NULL, NULL, &diag),
                  &diag);
}

static void refuse_bytes(rig *r, const vyre_work_item *items)
{
    static const size_t sizes[] = {1, 15, 17, COUNT * 16 - 1};
    vyre_diag diag;
    char part[32];
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        snprintf(part, sizeof part, "%zu bytes", sizes[s]);
        const refusal x = {r, items, COUNT, part};
        check_refusal(&x,
                      vyre_dispatcher_run_bytes(r->dispatcher, items, sizes[s], NULL, NULL, &diag),
                      &diag);
        assert_non_null(strstr(diag.message, "16"));
    }
    for (uint32_t offset = 1; offset < 4; offset++) {
        const refusal x = {r, items, COUNT, "aligned"};
        check_refusal(&x,
                      vyre_dispatcher_run_bytes(r->dispatcher, (const char *)items + offset, 32,
                                                NULL, NULL, &diag),
                      &diag);
    }
    if (sizeof(size_t) > 4) { /* nothing of it is read */
        const refusal x = {r, items, COUNT, "2^32 - 1"};
        check_refusal(
            &x,
            vyre_dispatcher_run_bytes(r->dispatcher, items, (size_t)16 << 32, NULL, NULL, &diag),
            &diag);
    }
    /* Four bytes are as good as sixteen. */
    uint32_t words[9] = {0};
    vyre_queue_report report;
    memcpy(words + 1, items, 32);
    assert_int_equal(vyre_dispatcher_run_bytes(r->dispatcher, words + 1, 32, NULL, &report, &diag),
                     VYRE_OK);
    assert_int_equal(report.processed, 2);
}

static void refuse_queues(vyre_device *device)
{
    vyre_work_item items[COUNT];
    rig *r = rig_open(device, WORDS, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % WORDS, 1);
    }
    refuse_params(r, items);
    refuse_items(r, items);
    rig_fetch(r);
    for (uint32_t w = 0; w < WORDS; w++) {
        assert_int_equal(r->data[w], 0); /* no item was run */
    }
    refuse_bytes(r, items);
    assert_int_equal(rig_run(r, items, COUNT, 0).processed, COUNT);
    rig_close(&r);
}

static void test_queues_are_refused_before_anything_is_done(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_queues);
}

/* ---- No item --------------------------------------------------------------------------------- */

static void check_nothing(const vyre_queue_report *report)
{
    rig_check_sums(report);
    assert_int_equal(report->given + report->published + report->deduped + report->waves, 0);
    assert_int_equal(report->launches + report->sync_points + report->readback_buffers, 0);
    assert_int_equal(report->resident_allocations, 0);
    assert_int_equal(report->fault_code, 0);
    assert_int_equal(report->fault_slot, VYRE_DIAG_NONE);
    assert_int_equal(report->moved_size + report->peak_size + report->compile_ns, 0);
    assert_int_equal(report->dispatch_ns, 0);
    assert_true(report->device_ns == VYRE_NS_NONE);
}

static void run_nothing(vyre_device *device)
{
    vyre_queue_report report;
    vyre_queue_ticket ticket;
    vyre_work_item item = rig_item(RIG_ADD, 0, 0, 1);
    uint32_t control[CONTROL_WORDS], lineage[4] = {9, 9, 9, 9};
    vyre_queue_params params;
    vyre_dispatcher_counters counters;
    rig *r = rig_open(device, WORDS, NULL);
    vyre_device_counters before = look(device);
    vyre_queue_params_init(&params);
    memset(control, 0x33, sizeof control);
    params.control = control;
    params.control_size = sizeof control;
    params.lineage = lineage;
    params.lineage_capacity = 4;
    params.flags = VYRE_QUEUE_TIMED;
    check_nothing((report = rig_run_with(r, NULL, 0, &params), &report));
    check_nothing((report = rig_run_with(r, &item, 0, &params), &report));
    assert_int_equal(control[0], 0x33333333);
    assert_int_equal(lineage[0], 9);
    assert_int_equal(vyre_dispatcher_run_bytes(r->dispatcher, NULL, 0, NULL, &report, NULL),
                     VYRE_OK);
    check_nothing(&report);
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, NULL, 0, NULL, &ticket, NULL), VYRE_OK);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, 0, &report, NULL), VYRE_OK);
    check_nothing(&report);
    assert_int_equal(vyre_dispatcher_run(r->dispatcher, NULL, 0, NULL, NULL, NULL), VYRE_OK);
    check_idle(&before, device);
    vyre_dispatcher_get_counters(r->dispatcher, &counters);
    assert_int_equal(counters.queues, 5);
    assert_int_equal(counters.items + counters.launches + counters.pipelines, 0);
    assert_int_equal(counters.arenas, 0);
    rig_close(&r);
}

static void test_a_queue_of_no_item_does_nothing(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_nothing);
}

/* As many queues as there may be: another is refused, and its report says nothing. */
static void run_busy(vyre_device *device)
{
    vyre_work_item item = rig_item(RIG_ADD, 0, 0, 1);
    vyre_dispatcher_params params;
    vyre_queue_report report;
    vyre_queue_ticket ticket;
    vyre_diag diag;
    vyre_dispatcher_params_init(&params);
    params.max_in_flight = 1;
    rig *r = rig_open(device, WORDS, &params);
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, &item, 1, NULL, &ticket, &diag),
                     VYRE_OK);
    memset(&report, 0x5a, sizeof report);
    vyre_result code = vyre_dispatcher_run(r->dispatcher, &item, 1, NULL, &report, &diag);
    check_error(code, &diag, VYRE_ERROR_BUSY, "1 queues", "max_in_flight");
    check_nothing(&report);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, NULL, &diag),
                     VYRE_OK);
    assert_int_equal(rig_run(r, &item, 1, 0).processed, 1);
    rig_close(&r);
}

static void test_one_queue_too_many_is_busy(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_busy);
}

/* ---- Budget ---------------------------------------------------------------------------------- */

static void check_over_budget(rig *r, const vyre_work_item *items, const vyre_queue_params *params,
                              uint64_t needed)
{
    char figures[2][32];
    vyre_queue_report report;
    vyre_queue_ticket ticket;
    vyre_diag diag;
    vyre_device_counters before = look(r->device);
    snprintf(figures[0], sizeof figures[0], "%llu", (unsigned long long)needed);
    snprintf(figures[1], sizeof figures[1], "%llu", (unsigned long long)params->budget_size);
    memset(&report, 0x5a, sizeof report);
    vyre_result code = vyre_dispatcher_run(r->dispatcher, items, COUNT, params, &report, &diag);
    check_error(code, &diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, figures[0], figures[1]);
    assert_int_equal(report.given, COUNT);
    assert_int_equal(report.launches, 0);
    assert_true(report.peak_size == needed);
    assert_true(report.budget_size == params->budget_size);
    code = vyre_dispatcher_submit(r->dispatcher, items, COUNT, params, &ticket, &diag);
    check_error(code, &diag, VYRE_ERROR_DEVICE_OUT_OF_MEMORY, figures[0], figures[1]);
    check_idle(&before, r->device);
}

static void run_budget(vyre_device *device)
{
    vyre_work_item items[COUNT];
    vyre_queue_params params;
    rig *r = rig_open(device, WORDS, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % WORDS, 1);
    }
    const uint64_t needed = 4096 + 8192; /* a page for the control words, and room for 512 items */
    vyre_queue_params_init(&params);
    params.budget_size = needed - 1;
    check_over_budget(r, items, &params, needed);
    params.budget_size = 1;
    check_over_budget(r, items, &params, needed);
    params.resident_size = 1000;
    params.budget_size = needed + 999;
    check_over_budget(r, items, &params, needed + 1000);
    params.budget_size = 999; /* too little for what is there */
    check_over_budget(r, items, &params, 1000);
    /* The last one that is enough. */
    params.budget_size = needed + 1000;
    vyre_queue_report report = rig_run_with(r, items, COUNT, &params);
    assert_int_equal(report.processed, COUNT);
    assert_true(report.peak_size == needed + 1000);
    assert_true(report.budget_size == needed + 1000);
    /* A queue in flight counts beside it. */
    vyre_queue_ticket ticket;
    vyre_queue_params unbounded;
    vyre_queue_params_init(&unbounded);
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, items, COUNT, &unbounded, &ticket, NULL),
                     VYRE_OK);
    check_over_budget(r, items, &params, needed + 1000 + needed);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, NULL),
                     VYRE_OK);
    assert_int_equal(rig_run_with(r, items, COUNT, &params).processed, COUNT);
    rig_close(&r);
}

static void test_budgets_are_kept_before_anything_is_done(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_budget);
}

/* ---- Memory of the host ---------------------------------------------------------------------- */

/* The allocation that fails is there once: what was not made is not there, and what was goes on. */
static bool survive(vyre_device *device, size_t fail_at)
{
    enum { ITEMS = 1500 };
    static vyre_work_item items[ITEMS];
    vy_fail_allocator memory = {.fail_at = fail_at};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    static maker m;
    vyre_dispatcher *dispatcher = NULL;
    vyre_queue_report report;
    vyre_diag diag;
    maker_init(&m, device);
    m.params.allocator = &allocator;
    m.handlers[0].effects = VYRE_EFFECT_WRITES_OUTPUT;
    for (uint32_t i = 0; i < ITEMS; i++) { /* duplicates, waves, two opcodes */
        items[i] = i % 2 ? rig_item(VYRE_OPCODE_NOP, 0, 0, 0) : rig_item(8, 0, i / 4, i % 3);
    }
    vyre_result code = vyre_dispatcher_create(device, &m.params, &dispatcher, &diag);
    bool failed = code != VYRE_OK;
    for (int turn = 0; dispatcher && turn < 2; turn++) {
        uint32_t lineage[8];
        vyre_queue_params params;
        vyre_queue_params_init(&params);
        params.flags = turn ? VYRE_QUEUE_STRICT : 0;
        params.lineage = lineage;
        params.lineage_capacity = 8;
        code = vyre_dispatcher_run(dispatcher, items, ITEMS, &params, &report, &diag);
        if (code != VYRE_OK) {
            assert_false(failed);
            failed = true;
            assert_int_equal(report.given == 0 || report.given == ITEMS, 1);
            assert_int_equal(code, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(vyre_dispatcher_run(dispatcher, items, ITEMS, &params, &report, &diag),
                             VYRE_OK);
        }
        rig_check_sums(&report);
        assert_int_equal(report.processed, ITEMS);
    }
    if (failed) {
        assert_true(code == VYRE_OK || code == VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_true(dispatcher != NULL || code == VYRE_ERROR_OUT_OF_HOST_MEMORY);
    }
    vyre_dispatcher_destroy(&dispatcher);
    assert_int_equal(memory.live_blocks, 0);
    assert_int_equal(memory.live_size, 0);
    maker_finish(&m);
    return memory.calls < fail_at;
}

static void survive_each(vyre_device *device)
{
    size_t n = 1;
    while (!survive(device, n)) {
        n += device ? 1 + n / 3 : n < 200 ? 1 : n / 20;
    }
    assert_true(n > 100); /* it was about more than a few */
}

static void test_dispatchers_survive_each_failed_allocation(void **state)
{
    (void)state;
    RIG_FOR_EACH(survive_each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatchers_are_refused_with_what_is_wrong),
        cmocka_unit_test(test_queues_are_refused_before_anything_is_done),
        cmocka_unit_test(test_a_queue_of_no_item_does_nothing),
        cmocka_unit_test(test_one_queue_too_many_is_busy),
        cmocka_unit_test(test_budgets_are_kept_before_anything_is_done),
        cmocka_unit_test(test_dispatchers_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
