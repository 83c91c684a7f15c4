/* Ways of draining that must leave the same: kernels of one opcode, waves, claims, priorities,
 * slots that wait for requests, and queues within a callback of another. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/megakernel/queue_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, MANY = 5000 };

static vyre_work_item items[MANY];

/* ---- Kernels of their own -------------------------------------------------------------------- */

static void specialise(vyre_device *device)
{
    static uint32_t expected[WORDS];
    rig *r = rig_open(device, WORDS, NULL);
    uint64_t adoptions = 0, trials = 0, uses = device ? 300 : 30;
    memset(expected, 0, sizeof expected);
    for (uint32_t i = 0; i < MANY; i++) {
        items[i] = rig_item(RIG_ADD, i, i * 7 % WORDS, i);
        expected[i * 7 % WORDS] += i;
    }
    for (uint64_t use = 0; use < uses; use++) {
        uint32_t flags = VYRE_QUEUE_KEEP_DUPLICATES | (use % 5 ? 0 : VYRE_QUEUE_NO_SPECIAL);
        vyre_queue_report report = rig_run(r, items, MANY, flags);
        assert_int_equal(report.processed, MANY);
        assert_true(!report.is_special || !(flags & VYRE_QUEUE_NO_SPECIAL));
        rig_fetch(r);
        assert_memory_equal(r->data, expected, sizeof expected);
        rig_clear(r);
        vyre_dispatcher_counters c;
        vyre_dispatcher_get_counters(r->dispatcher, &c);
        /* A trial is 32 pairs at most, and then there is none for long. */
        assert_true(c.special_trials >= trials && c.special_trials <= 64);
        assert_true(c.special_adoptions >= adoptions && c.special_adoptions <= 1);
        trials = c.special_trials;
        adoptions = c.special_adoptions;
    }
    rig_close(&r);
}

static void test_special_kernels_leave_the_same_and_trials_end(void **state)
{
    (void)state;
    RIG_FOR_EACH(specialise);
}

/* ---- Waves ----------------------------------------------------------------------------------- */

/* What the handlers of the rig do, one item after the other. */
static void run_on_host(uint32_t *data, const vyre_work_item *item)
{
    uint32_t *at = &data[item->output];
    switch (item->opcode) {
    case RIG_ADD:
    case RIG_LARGE:
        *at += item->param;
        break;
    case RIG_SET:
        *at = item->param;
        break;
    case RIG_COPY:
        *at = data[item->input];
        break;
    default:
        *at = 2 * *at + 1;
        break;
    }
}

static void order(vyre_device *device)
{
    static const uint32_t opcodes[] = {RIG_ADD, RIG_LARGE, RIG_SET, RIG_COPY, RIG_DOUBLE};
    static const uint32_t flags[] = {0, VYRE_QUEUE_ARRANGE, VYRE_QUEUE_STRICT,
                                     VYRE_QUEUE_KEEP_DUPLICATES};
    rig *r = rig_open(device, WORDS, NULL);
    print_message("seeds 1 to 200\n");
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        uint32_t expected[WORDS] = {0}, count = 1 + model_random(&random, 200);
        uint32_t handles = 2 + model_random(&random, WORDS - 2);
        for (uint32_t i = 0; i < count; i++) {
            items[i] = rig_item(opcodes[model_random(&random, 5)], model_random(&random, handles),
                                model_random(&random, handles), model_random(&random, 3));
            run_on_host(expected, &items[i]);
        }
        vyre_queue_report report = rig_run(r, items, count, flags[seed % VY_COUNT_OF(flags)]);
        assert_int_equal(report.processed, count);
        rig_fetch(r);
        if (memcmp(r->data, expected, sizeof expected) != 0) {
            fail_msg("seed %llu", (unsigned long long)seed);
        }
        rig_clear(r);
    }
    rig_close(&r);
}

static void test_queues_leave_what_one_after_another_leaves(void **state)
{
    (void)state;
    RIG_FOR_EACH(order);
}

static void chain(vyre_device *device)
{
    rig *r = rig_open(device, 1001, NULL);
    items[0] = rig_item(RIG_SET, 0, 0, 77);
    for (uint32_t i = 0; i < 1000; i++) {
        items[i + 1] = rig_item(RIG_COPY, i, i + 1, 0);
    }
    vyre_queue_report report = rig_run(r, items, 1001, 0);
    assert_int_equal(report.waves, 1001);
    assert_int_equal(report.processed, 1001);
    rig_fetch(r);
    for (uint32_t i = 0; i <= 1000; i++) {
        assert_int_equal(r->data[i], 77);
    }
    rig_clear(r);
    /* Nothing is ordered: with and without looking for it the same. */
    for (uint32_t i = 0; i < 1000; i++) {
        items[i] = rig_item(RIG_SET, i, i, i * i);
    }
    for (uint32_t flags = 0; flags <= VYRE_QUEUE_INDEPENDENT; flags += VYRE_QUEUE_INDEPENDENT) {
        report = rig_run(r, items, 1000, flags);
        assert_int_equal(report.waves, 1);
        assert_int_equal(report.processed, 1000);
        rig_fetch(r);
        for (uint32_t i = 0; i < 1000; i++) {
            assert_int_equal(r->data[i], i * i);
        }
        rig_clear(r);
    }
    rig_close(&r);
}

static void test_chains_are_waves_and_free_items_are_one(void **state)
{
    (void)state;
    RIG_FOR_EACH(chain);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static void claim(vyre_device *device)
{
    static const vyre_claim claims[] = {VYRE_CLAIM_AUTO, VYRE_CLAIM_LANE, VYRE_CLAIM_WORKGROUP};
    static const char *const names[] = {NULL, "lane", "workgroup"};
    for (size_t c = 0; c < VY_COUNT_OF(claims); c++) {
        vyre_dispatcher_params params;
        vyre_dispatcher_params_init(&params);
        params.claim = claims[c];
        rig *r = rig_open(device, WORDS, &params);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < MANY; i++) { /* operations part the lanes */
            items[i] = i % 3 ? rig_item(RIG_ADD, i, 0, 1) : rig_item(RIG_LARGE, i, 1, 1);
        }
        items[7] = rig_item(RIG_FAIL, 0, 0, 20);
        items[4001] = rig_item(0x7fffffff, 0, 0, 0);
        vyre_queue_report report = rig_run(r, items, MANY, VYRE_QUEUE_KEEP_DUPLICATES);
        assert_int_equal(report.processed, MANY - 2);
        assert_int_equal(report.faulted, 2);
        assert_int_equal(report.unknown, 1);
        if (names[c] && device) {
            assert_string_equal(report.claim, names[c]);
        }
        rig_fetch(r);
        for (uint32_t w = 0; w < WORDS; w++) {
            sum += r->data[w];
        }
        assert_int_equal(sum, MANY - 2);
        rig_close(&r);
    }
}

static void test_claims_leave_the_same(void **state)
{
    (void)state;
    RIG_FOR_EACH(claim);
}

/* ---- Requeues -------------------------------------------------------------------------------- */

static void requeue(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL);
    uint32_t given_back = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
        items[i] = rig_item(RIG_AGAIN, 0, i, 1 + i % 5);
        given_back += i % 5;
    }
    vyre_queue_report report = rig_run(r, items, WORDS, 0);
    assert_int_equal(report.processed, WORDS);
    assert_int_equal(report.requeues, given_back);
    rig_fetch(r);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(r->data[i], 1 + i % 5);
    }
    rig_close(&r);
}

static void test_items_that_are_given_back_run_again(void **state)
{
    (void)state;
    RIG_FOR_EACH(requeue);
}

/* ---- Requests -------------------------------------------------------------------------------- */

enum { LOADS = 30, REQUESTS = 4 };

typedef struct server {
    rig *r;
    uint32_t served[LOADS], calls;
    bool nests;
} server;

static int serve(void *user, const vyre_io_request *request)
{
    server *s = user;
    s->calls++;
    if (request->op != VYRE_IO_READ || request->tag >= LOADS ||
        request->source != request->tag + 100 || request->target != request->tag + 200 ||
        request->offset != ((uint64_t)request->tag << 33 | 5) || request->size != 4096) {
        return 0;
    }
    s->served[request->tag]++;
    if (s->nests) { /* a queue within the callback of another */
        const vyre_work_item item = rig_item(RIG_ADD, 0, request->tag, 1);
        vyre_queue_report report;
        if (vyre_dispatcher_run(s->r->dispatcher, &item, 1, NULL, &report, NULL) != VYRE_OK ||
            report.processed != 1) {
            return 0;
        }
    }
    return request->tag % 3 != 0;
}

static void publish_loads(uint32_t *ring, size_t size)
{
    memset(ring, 0, size);
    for (uint32_t i = 0; i < LOADS; i++) {
        vyre_load_params load;
        vyre_load_params_init(&load);
        load.source = i + 100;
        load.target = i + 200;
        load.offset = (uint64_t)i << 33 | 5;
        load.size = 4096;
        assert_int_equal(
            vyre_ring_publish_load(ring, size, i, 0, VYRE_PRIORITY_NORMAL, &load, NULL), VYRE_OK);
    }
}

static void load(vyre_device *device)
{
    uint32_t ring[LOADS * VYRE_SLOT_WORDS], io[REQUESTS * VYRE_IO_WORDS];
    for (int nests = 0; nests < 2; nests++) {
        vyre_queue_params params;
        vyre_queue_report report;
        vyre_diag diag;
        rig *r = rig_open(device, WORDS, NULL);
        server s = {.r = r, .nests = nests != 0};
        publish_loads(ring, sizeof ring);
        assert_int_equal(vyre_io_clear(io, sizeof io, NULL), VYRE_OK);
        vyre_queue_params_init(&params);
        params.io_queue = io;
        params.io_size = sizeof io;
        params.io = serve;
        params.io_user = &s;
        vyre_result code =
            vyre_dispatcher_run_ring(r->dispatcher, ring, sizeof ring, &params, &report, &diag);
        if (code != VYRE_OK) {
            fail_msg("%s", diag.message);
        }
        rig_check_sums(&report);
        assert_int_equal(s.calls, LOADS);
        assert_int_equal(report.processed, LOADS - LOADS / 3);
        assert_int_equal(report.faulted, LOADS / 3);
        assert_int_equal(report.waiting, 0);
        assert_int_equal(report.fault_slot, 0);
        assert_int_equal(report.fault_code, VYRE_FAULT_IO);
        rig_fetch(r);
        for (uint32_t i = 0; i < LOADS; i++) {
            assert_int_equal(s.served[i], 1);
            assert_int_equal(ring[i * VYRE_SLOT_WORDS],
                             i % 3 ? VYRE_STATUS_DONE : VYRE_STATUS_FAULT);
            assert_int_equal(r->data[i], nests);
        }
        for (uint32_t i = 0; i < REQUESTS; i++) {
            assert_int_equal(io[i * VYRE_IO_WORDS + VYRE_IO_STATUS], VYRE_STATUS_EMPTY);
        }
        rig_close(&r);
    }
}

static void test_loads_wait_for_their_callback_which_may_run_queues(void **state)
{
    (void)state;
    RIG_FOR_EACH(load);
}

/* Nobody serves: the slots wait, and the queue ends. */
static void load_without_server(vyre_device *device)
{
    uint32_t ring[LOADS * VYRE_SLOT_WORDS], io[REQUESTS * VYRE_IO_WORDS];
    uint32_t indices[VYRE_MAX_IO_SLOTS], posted = 0;
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_diag diag;
    rig *r = rig_open(device, WORDS, NULL);
    publish_loads(ring, sizeof ring);
    assert_int_equal(vyre_io_clear(io, sizeof io, NULL), VYRE_OK);
    vyre_queue_params_init(&params);
    params.io_queue = io;
    params.io_size = sizeof io;
    if (vyre_dispatcher_run_ring(r->dispatcher, ring, REQUESTS * (size_t)VYRE_SLOT_SIZE, &params,
                                 &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    rig_check_sums(&report);
    assert_int_equal(report.processed + report.faulted, 0);
    assert_int_equal(report.remaining, REQUESTS);
    assert_int_equal(report.waiting, REQUESTS);
    assert_int_equal(vyre_io_poll(io, sizeof io, indices, &posted, NULL), VYRE_OK);
    assert_int_equal(posted, REQUESTS);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(ring[i * VYRE_SLOT_WORDS], VYRE_STATUS_WAIT_IO);
        assert_int_equal(io[i * VYRE_IO_WORDS + VYRE_IO_STATUS], VYRE_STATUS_PUBLISHED);
    }
    rig_close(&r);
}

static void test_loads_that_nobody_serves_stay_waiting(void **state)
{
    (void)state;
    RIG_FOR_EACH(load_without_server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_kernels_leave_the_same_and_trials_end),
        cmocka_unit_test(test_queues_leave_what_one_after_another_leaves),
        cmocka_unit_test(test_chains_are_waves_and_free_items_are_one),
        cmocka_unit_test(test_claims_leave_the_same),
        cmocka_unit_test(test_items_that_are_given_back_run_again),
        cmocka_unit_test(test_loads_wait_for_their_callback_which_may_run_queues),
        cmocka_unit_test(test_loads_that_nobody_serves_stay_waiting),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
