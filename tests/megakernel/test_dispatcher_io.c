/* Requests of queues, on the interpreter and on the device: slots that wait for what the caller
 * brings, requests that the device serves, and callbacks that dispatch. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS  512u
#define LOADED 0x100u /* added to what a load brings */

/* need: its word, or to be run again until it is there. */
enum { NEED = 8, BUMP };

static const char text[] =
    "program loads\n"
    "inout data : u32[]\n"
    "fn need(slot: u32, a0: u32, a1: u32) -> u32 {\n"
    "    let there = atomic_load(data[a0])\n"
    "    if there == 0 { return 257 }\n"
    "    data[a1] = there + 1\n"
    "    return 0\n"
    "}\n"
    "fn bump(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
    "    atomic_add(data[a1], a2)\n"
    "    return 0\n"
    "}\n"
    "fn serve(kind: u32, source: u32, target: u32, offset_lo: u32, offset_hi: u32, size: u32,\n"
    "         tag: u32) -> u32 {\n"
    "    atomic_add(data[target], 1)\n"
    "    atomic_add(data[256 + target], kind + 10 * source + offset_lo + 3 * offset_hi + size +\n"
    "               7 * tag)\n"
    "    return source & 1\n"
    "}\n"
    "kernel { }\n";

static const vyre_handler handlers[] = {
    {NEED, "need", VYRE_EFFECT_OPAQUE | VYRE_EFFECT_REQUEUES},
    {BUMP, "bump", VYRE_EFFECT_READS_OUTPUT | VYRE_EFFECT_WRITES_OUTPUT | VYRE_EFFECT_COMMUTATIVE},
};

static rig *open_loads(vyre_device *device, const vyre_dispatcher_params *params)
{
    return rig_open_with(device, WORDS, params, text, handlers, sizeof handlers / sizeof *handlers);
}

/* ---- Loads that the caller brings ------------------------------------------------------------ */

typedef struct server {
    rig *r;
    uint32_t slot_count, calls, fail_every; /* 0: none fails */
    uint32_t seen[WORDS];
} server;

static void put_load(uint32_t *ring, uint32_t slot_count, uint32_t slot)
{
    vyre_load_params params;
    vyre_load_params_init(&params);
    params.source = slot + 1;
    params.target = slot;
    params.offset = ((uint64_t)slot << 32) + 5;
    params.size = 4;
    assert_int_equal(vyre_ring_publish_load(ring, (size_t)slot_count * VYRE_SLOT_SIZE, slot, 0,
                                            VYRE_PRIORITY_NORMAL, &params, NULL),
                     VYRE_OK);
}

static int bring(void *user, const vyre_io_request *request)
{
    server *s = user;
    uint32_t word = request->target + LOADED;
    s->calls++;
    assert_int_equal(request->op, VYRE_IO_READ);
    assert_true(request->tag < s->slot_count);
    assert_int_equal(request->target, request->tag);
    assert_int_equal(request->source, request->tag + 1);
    assert_true(request->offset == ((uint64_t)request->tag << 32) + 5);
    assert_int_equal(request->size, 4);
    s->seen[request->tag]++;
    if (s->fail_every && request->tag % s->fail_every == 0) {
        return 0;
    }
    if (s->r->device) {
        assert_int_equal(vyre_buffer_upload(s->r->device, s->r->buffer,
                                            (uint64_t)request->target * 4, &word, 4, NULL),
                         VYRE_OK);
    } else {
        s->r->data[request->target] = word;
    }
    return 1;
}

static vyre_queue_params load_params(server *s)
{
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.io = bring;
    params.io_user = s;
    return params;
}

static void bring_what_others_need(vyre_device *device)
{
    const uint32_t n = 40;
    rig *r = open_loads(device, NULL);
    server s = {.r = r, .slot_count = n};
    uint32_t *ring = rig_ring(n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t args[] = {i + 1, 256 + i};
        if (i % 2) {
            put_load(ring, n, i);
        } else {
            rig_put(ring, i, NEED, 0, VYRE_PRIORITY_NORMAL, args, 2);
        }
    }
    vyre_queue_params params = load_params(&s);
    params.flags = VYRE_QUEUE_STRICT;
    vyre_queue_report report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.processed, n);
    assert_int_equal(report.waiting, 0);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_DONE], n);
    assert_true(report.launches >= 2);
    assert_int_equal(s.calls, n / 2);
    rig_fetch(r);
    for (uint32_t i = 0; i < n; i += 2) {
        assert_int_equal(s.seen[i], 0);
        assert_int_equal(s.seen[i + 1], 1);
        assert_int_equal(r->data[256 + i], i + 1 + LOADED + 1);
        assert_int_equal(rig_status(ring, i + 1), VYRE_STATUS_DONE);
        assert_int_equal(ring[(i + 1) * VYRE_SLOT_WORDS + 15], VYRE_IO_OK);
    }
    free(ring);
    rig_close(&r);
}

static void test_loads_are_brought_between_launches(void **state)
{
    (void)state;
    RIG_FOR_EACH(bring_what_others_need);
}

/* More than there are requests, some of which fail; by the queue's own and by the caller's. */
static void bring_many(vyre_device *device)
{
    static const uint32_t rooms[] = {0, 1, 4, 64};
    const uint32_t n = 200;
    rig *r = open_loads(device, NULL);
    uint32_t *ring = rig_ring(n);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        server s = {.r = r, .slot_count = n, .fail_every = 3};
        uint32_t io[VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS] = {0};
        memset(ring, 0, (size_t)n * VYRE_SLOT_SIZE);
        for (uint32_t slot = 0; slot < n; slot++) {
            put_load(ring, n, slot);
        }
        vyre_queue_params params = load_params(&s);
        params.io_size = (size_t)rooms[i] * VYRE_IO_WORDS * 4;
        params.io_queue = rooms[i] ? io : NULL;
        vyre_queue_report report = rig_run_ring(r, ring, n, &params);
        assert_int_equal(report.given, n);
        assert_int_equal(report.processed, 133);
        assert_int_equal(report.faulted, 67);
        assert_int_equal(report.remaining, 0);
        assert_int_equal(report.unknown, 0);
        assert_int_equal(report.fault_slot, 0);
        assert_int_equal(report.fault_code, VYRE_FAULT_IO);
        assert_int_equal(s.calls, n);
        for (uint32_t slot = 0; slot < n; slot++) {
            assert_int_equal(s.seen[slot], 1);
            assert_int_equal(rig_status(ring, slot),
                             slot % 3 ? VYRE_STATUS_DONE : VYRE_STATUS_FAULT);
            if (slot % 3 == 0) {
                assert_int_equal(ring[slot * VYRE_SLOT_WORDS + 15], VYRE_FAULT_IO);
            }
        }
        for (uint32_t q = 0; q < VYRE_MAX_IO_SLOTS; q++) {
            assert_int_equal(io[q * VYRE_IO_WORDS + VYRE_IO_STATUS], VYRE_STATUS_EMPTY);
        }
    }
    free(ring);
    rig_close(&r);
}

static void test_more_loads_than_requests_are_all_brought(void **state)
{
    (void)state;
    RIG_FOR_EACH(bring_many);
}

static void wait_for_nobody(vyre_device *device)
{
    const uint32_t n = 100, room = 4;
    rig *r = open_loads(device, NULL);
    server s = {.r = r, .slot_count = n};
    uint32_t io[4 * VYRE_IO_WORDS] = {0};
    uint32_t *ring = rig_ring(n);
    const uint32_t bump[] = {0, 300, 1};
    for (uint32_t slot = 0; slot < n; slot++) {
        put_load(ring, n, slot);
    }
    rig_put(ring, 50, BUMP, 0, VYRE_PRIORITY_NORMAL, bump, 3);
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_STRICT;
    params.io_queue = io;
    params.io_size = sizeof io;
    /* It ends, as nothing that it waits for can come. */
    vyre_queue_report report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.given, n);
    assert_int_equal(report.processed, 1);
    assert_int_equal(report.remaining, n - 1);
    assert_int_equal(report.waiting, room);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_WAIT_IO], room);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_REQUEUE], n - 1 - room);
    for (uint32_t q = 0; q < room; q++) {
        assert_int_equal(io[q * VYRE_IO_WORDS + VYRE_IO_STATUS], VYRE_STATUS_PUBLISHED);
        assert_int_equal(rig_status(ring, io[q * VYRE_IO_WORDS + VYRE_IO_TAG]),
                         VYRE_STATUS_WAIT_IO);
    }
    /* The caller serves two by itself. */
    for (uint32_t q = 0; q < 2; q++) {
        vyre_io_request request;
        const vyre_io_completion done = {q, VYRE_IO_OK};
        assert_int_equal(vyre_io_claim(io, sizeof io, q, &request, NULL), VYRE_OK);
        assert_int_equal(bring(&s, &request), 1);
        assert_int_equal(vyre_io_complete(io, sizeof io, &done, 1, NULL), VYRE_OK);
        assert_int_equal(vyre_io_release(io, sizeof io, q, NULL), VYRE_OK);
        assert_int_equal(vyre_ring_complete_load(ring, (size_t)n * VYRE_SLOT_SIZE, request.tag,
                                                 VYRE_IO_OK, NULL),
                         VYRE_OK);
    }
    report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.given, n - 1);
    assert_int_equal(report.processed, 2);
    assert_int_equal(report.waiting, room);
    /* And leaves the rest to a callback, those that wait already too. */
    params.io = bring;
    params.io_user = &s;
    report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.given, n - 3);
    assert_int_equal(report.processed, n - 3);
    assert_int_equal(report.waiting, 0);
    assert_int_equal(s.calls, n - 1);
    rig_fetch(r);
    for (uint32_t slot = 0; slot < n; slot++) {
        assert_int_equal(rig_status(ring, slot), VYRE_STATUS_DONE);
        assert_int_equal(r->data[slot], slot == 50 ? 0 : slot + LOADED);
    }
    assert_int_equal(r->data[300], 1);
    free(ring);
    rig_close(&r);
}

static void test_loads_that_nobody_brings_wait_and_go_on_later(void **state)
{
    (void)state;
    RIG_FOR_EACH(wait_for_nobody);
}

/* All slots wait already: there is nothing to launch for but what the callback brings. */
static void bring_to_waiting_slots(vyre_device *device)
{
    const uint32_t n = 6;
    rig *r = open_loads(device, NULL);
    server s = {.r = r, .slot_count = n};
    uint32_t io[8 * VYRE_IO_WORDS] = {0};
    uint32_t *ring = rig_ring(n);
    for (uint32_t slot = 0; slot < n; slot++) {
        put_load(ring, n, slot);
    }
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.io_queue = io;
    params.io_size = sizeof io;
    vyre_queue_report report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.waiting, n);
    params.io = bring;
    params.io_user = &s;
    report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.processed, n);
    assert_int_equal(s.calls, n);
    /* Requests that are lost are waited for in vain, and that ends too. */
    for (uint32_t slot = 0; slot < n; slot++) {
        ring[slot * VYRE_SLOT_WORDS] = VYRE_STATUS_WAIT_IO;
    }
    params.io_queue = NULL;
    params.io_size = 0;
    report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.given, n);
    assert_int_equal(report.remaining, n);
    assert_int_equal(report.waiting, n);
    assert_int_equal(s.calls, n);
    free(ring);
    rig_close(&r);
}

static void test_waiting_slots_alone_are_served(void **state)
{
    (void)state;
    RIG_FOR_EACH(bring_to_waiting_slots);
}

/* ---- Requests of the caller's own ------------------------------------------------------------ */

static void fill_requests(uint32_t io[VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS])
{
    for (uint32_t q = 0; q < VYRE_MAX_IO_SLOTS; q++) {
        const uint32_t words[VYRE_IO_WORDS] = {1 + q % 3, q, q, 5 * q, q % 2, 9 * q, 1, q};
        memcpy(io + q * VYRE_IO_WORDS, words, sizeof words);
    }
}

static int count_call(void *user, const vyre_io_request *request)
{
    uint32_t *seen = user;
    assert_int_equal((int)request->op, 1 + (int)(request->tag % 3));
    assert_int_equal(request->source, request->tag);
    seen[request->tag]++;
    return request->tag % 2 == 0;
}

static void keep_requests(vyre_device *device)
{
    rig *r = open_loads(device, NULL);
    uint32_t io[VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS], before[VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS];
    uint32_t seen[VYRE_MAX_IO_SLOTS] = {0};
    vyre_work_item items[100];
    for (uint32_t i = 0; i < 100; i++) {
        items[i] = rig_item(BUMP, 0, i, 1);
    }
    for (int strict = 0; strict < 2; strict++) {
        fill_requests(io);
        memcpy(before, io, sizeof io);
        vyre_queue_params params;
        vyre_queue_params_init(&params);
        params.flags = strict ? VYRE_QUEUE_STRICT : 0;
        params.io_queue = io;
        params.io_size = sizeof io;
        vyre_queue_report report = rig_run_with(r, items, 100, &params);
        assert_int_equal(report.processed, 100);
        assert_memory_equal(io, before, sizeof io);
        /* A callback serves what is PUBLISHED, and nothing of it is a slot's. */
        io[3 * VYRE_IO_WORDS + VYRE_IO_OP] = 4;
        io[4 * VYRE_IO_WORDS + VYRE_IO_STATUS] = VYRE_STATUS_CLAIMED;
        io[5 * VYRE_IO_WORDS + VYRE_IO_STATUS] = VYRE_IO_OK;
        memcpy(before, io, sizeof io);
        memset(seen, 0, sizeof seen);
        params.io = count_call;
        params.io_user = seen;
        report = rig_run_with(r, items, 100, &params);
        assert_int_equal(report.processed, 100);
        for (uint32_t q = 0; q < VYRE_MAX_IO_SLOTS; q++) {
            bool is_served = q < 3 || q > 5;
            uint32_t *status = &before[q * VYRE_IO_WORDS + VYRE_IO_STATUS];
            assert_int_equal(seen[q], is_served);
            if (is_served) {
                *status = q % 2 ? VYRE_IO_ERROR : VYRE_IO_OK;
            }
            *status = q == 3 ? VYRE_IO_ERROR : *status;
        }
        assert_memory_equal(io, before, sizeof io);
    }
    rig_close(&r);
}

static void test_requests_of_the_callers_own_come_back(void **state)
{
    (void)state;
    RIG_FOR_EACH(keep_requests);
}

static void serve_on_device(vyre_device *device)
{
    const vyre_dispatcher_params with = {.struct_size = sizeof with, .io_function = "serve"};
    rig *r = open_loads(device, &with);
    uint32_t io[VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS], before[VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS];
    uint32_t expected[WORDS] = {0};
    vyre_work_item items[300];
    fill_requests(io);
    io[7 * VYRE_IO_WORDS + VYRE_IO_OP] = 0;
    io[8 * VYRE_IO_WORDS + VYRE_IO_STATUS] = VYRE_STATUS_CLAIMED;
    memcpy(before, io, sizeof io);
    for (uint32_t i = 0; i < 300; i++) {
        items[i] = rig_item(BUMP, 0, 100 + i % 100, 1);
        expected[100 + i % 100] += 1;
    }
    for (uint32_t q = 0; q < VYRE_MAX_IO_SLOTS; q++) {
        const uint32_t *words = before + q * VYRE_IO_WORDS;
        if (q == 8) {
            continue;
        }
        before[q * VYRE_IO_WORDS + VYRE_IO_STATUS] = q % 2 ? VYRE_IO_ERROR : VYRE_IO_OK;
        if (q != 7) {
            expected[q] += 1;
            expected[256 + q] +=
                words[0] + 10 * words[1] + words[3] + 3 * words[4] + words[5] + 7 * words[7];
        }
    }
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES;
    params.io_queue = io;
    params.io_size = sizeof io;
    params.io = count_call; /* the device comes first */
    vyre_queue_report report = rig_run_with(r, items, 300, &params);
    assert_int_equal(report.processed, 300);
    assert_memory_equal(io, before, sizeof io);
    rig_fetch(r);
    assert_memory_equal(r->data, expected, sizeof expected);
    /* Again: none is PUBLISHED. */
    (void)rig_run_with(r, items, 300, &params);
    assert_memory_equal(io, before, sizeof io);
    rig_close(&r);
}

static void test_requests_run_once_on_the_device(void **state)
{
    (void)state;
    RIG_FOR_EACH(serve_on_device);
}

/* Loads end in the launch that claims them, and no request is posted. */
static void load_on_device(vyre_device *device)
{
    const uint32_t n = 100;
    const vyre_dispatcher_params with = {.struct_size = sizeof with, .io_function = "serve"};
    rig *r = open_loads(device, &with);
    uint32_t *ring = rig_ring(n);
    for (uint32_t slot = 0; slot < n; slot++) {
        put_load(ring, n, slot);
    }
    vyre_queue_report report = rig_run_ring(r, ring, n, NULL);
    assert_int_equal(report.processed, n / 2); /* odd sources fail */
    assert_int_equal(report.faulted, n / 2);
    assert_int_equal(report.fault_code, VYRE_FAULT_IO);
    assert_int_equal(report.waiting, 0);
    assert_int_equal(report.requeues, 0);
    rig_fetch(r);
    for (uint32_t slot = 0; slot < n; slot++) {
        assert_int_equal(r->data[slot], 1);
        assert_int_equal(r->data[256 + slot], 1 + 10 * (slot + 1) + 5 + 3 * slot + 4 + 7 * slot);
        assert_int_equal(rig_status(ring, slot), slot % 2 ? VYRE_STATUS_DONE : VYRE_STATUS_FAULT);
    }
    free(ring);
    rig_close(&r);
}

static void test_loads_run_on_the_device_where_it_serves(void **state)
{
    (void)state;
    RIG_FOR_EACH(load_on_device);
}

/* ---- Callbacks that dispatch ----------------------------------------------------------------- */

typedef struct nest {
    rig *r;
    uint32_t depth, deepest, busy;
} nest;

static uint32_t *one_load(void)
{
    uint32_t *ring = rig_ring(1);
    put_load(ring, 1, 0);
    return ring;
}

/* Runs a queue of its own, whose load does the same, down to the deepest. */
static int go_down(void *user, const vyre_io_request *request)
{
    nest *n = user;
    vyre_work_item item = rig_item(BUMP, 0, 10 + n->depth, 1);
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_diag diag;
    (void)request;
    vyre_queue_params_init(&params);
    vyre_result code = vyre_dispatcher_run(n->r->dispatcher, &item, 1, &params, &report, &diag);
    if (code == VYRE_ERROR_BUSY) {
        n->busy++;
        return 1;
    }
    assert_int_equal(code, VYRE_OK);
    assert_int_equal(report.processed, 1);
    if (n->depth < n->deepest) {
        n->depth++;
        uint32_t *ring = one_load();
        params.io = go_down;
        params.io_user = n;
        report = rig_run_ring(n->r, ring, 1, &params);
        assert_int_equal(report.processed, 1);
        free(ring);
        n->depth--;
    }
    return 1;
}

static void dispatch_within(vyre_device *device)
{
    rig *r = open_loads(device, NULL);
    nest n = {.r = r, .deepest = 2};
    uint32_t *ring = one_load();
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.io = go_down;
    params.io_user = &n;
    vyre_queue_report report = rig_run_ring(r, ring, 1, &params);
    assert_int_equal(report.processed, 1);
    assert_int_equal(n.busy, 0);
    rig_fetch(r);
    for (uint32_t d = 0; d < 3; d++) {
        assert_int_equal(r->data[10 + d], 1);
    }
    free(ring);
    rig_close(&r);
    /* With one queue at a time it is refused, not waited for. */
    const vyre_dispatcher_params one = {.struct_size = sizeof one, .max_in_flight = 1};
    r = open_loads(device, &one);
    n = (nest){.r = r};
    ring = one_load();
    report = rig_run_ring(r, ring, 1, &params);
    assert_int_equal(report.processed, 1);
    assert_int_equal(n.busy, 1);
    free(ring);
    rig_close(&r);
}

static void test_callbacks_dispatch_on_the_same_dispatcher(void **state)
{
    (void)state;
    RIG_FOR_EACH(dispatch_within);
}

/* Polling alone gets a queue of loads to its end, and calls back. */
static void poll_loads(vyre_device *device)
{
    const uint32_t n = 150;
    rig *r = open_loads(device, NULL);
    server s = {.r = r, .slot_count = n};
    uint32_t *ring = rig_ring(n);
    for (uint32_t slot = 0; slot < n; slot++) {
        put_load(ring, n, slot);
    }
    vyre_queue_params params = load_params(&s);
    vyre_queue_ticket ticket;
    vyre_queue_report report;
    vyre_diag diag;
    assert_int_equal(vyre_dispatcher_submit_ring(r->dispatcher, ring, (size_t)n * VYRE_SLOT_SIZE,
                                                 &params, &ticket, &diag),
                     VYRE_OK);
    int is_done = 0;
    while (!is_done) {
        assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag), VYRE_OK);
    }
    assert_int_equal(s.calls, n);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, 0, &report, &diag), VYRE_OK);
    rig_check_sums(&report);
    assert_int_equal(report.processed, n);
    assert_int_equal(rig_status(ring, n - 1), VYRE_STATUS_DONE);
    free(ring);
    rig_close(&r);
}

static void test_polls_bring_loads(void **state)
{
    (void)state;
    RIG_FOR_EACH(poll_loads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_are_brought_between_launches),
        cmocka_unit_test(test_more_loads_than_requests_are_all_brought),
        cmocka_unit_test(test_loads_that_nobody_brings_wait_and_go_on_later),
        cmocka_unit_test(test_waiting_slots_alone_are_served),
        cmocka_unit_test(test_requests_of_the_callers_own_come_back),
        cmocka_unit_test(test_requests_run_once_on_the_device),
        cmocka_unit_test(test_loads_run_on_the_device_where_it_serves),
        cmocka_unit_test(test_callbacks_dispatch_on_the_same_dispatcher),
        cmocka_unit_test(test_polls_bring_loads),
    };
    int failed = cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
    failed +=
        cmocka_run_group_tests_name("separate memory", tests, rig_open_separate, rig_close_device);
    return failed + cmocka_run_group_tests_name("memory to be flushed", tests, rig_open_incoherent,
                                                rig_close_device);
}
