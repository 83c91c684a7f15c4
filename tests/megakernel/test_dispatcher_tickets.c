/* Queues in flight and their tickets, on the interpreter and on the device: who may use which, what
 * a time limit leaves, and what becomes of queues that are given up. Slices are made as short as
 * they can be, so that queues take many whatever the machine. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 64u
#define LONG  6000u /* items that no single slice takes */

static vyre_work_item *additions(uint32_t count, uint32_t first_word, uint32_t words)
{
    vyre_work_item *items = calloc((size_t)count + 1, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = rig_item(RIG_ADD, 0, first_word + i % words, 1);
    }
    return items;
}

static uint32_t sum_of(const rig *r, uint32_t first_word, uint32_t words)
{
    uint32_t sum = 0;
    for (uint32_t w = 0; w < words; w++) {
        sum += r->data[first_word + w];
    }
    return sum;
}

/* Every slice has one round, which takes as many items as a workgroup has invocations. */
static rig *open_sliced(vyre_device *device, uint32_t max_in_flight)
{
    const vyre_dispatcher_params params = {
        .struct_size = sizeof params, .max_in_flight = max_in_flight, .slice_ns = 1};
    rig *r = rig_open(device, WORDS, &params);
    vyre_work_item item = rig_item(RIG_ADD, 0, 0, 1);
    (void)rig_run(r, &item, 1, 0); /* what a round takes is known from now on */
    rig_clear(r);
    return r;
}

static vyre_queue_params sliced_params(void)
{
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.group_cap = 1;
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES;
    return params;
}

static vyre_queue_ticket submit(rig *r, const vyre_work_item *items, uint32_t count,
                                const vyre_queue_params *params)
{
    vyre_queue_ticket ticket = {1};
    vyre_diag diag;
    if (vyre_dispatcher_submit(r->dispatcher, items, count, params, &ticket, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_true(ticket.bits != 0);
    return ticket;
}

static vyre_queue_report wait_for(rig *r, vyre_queue_ticket *ticket)
{
    vyre_queue_report report;
    vyre_diag diag;
    if (vyre_dispatcher_wait(r->dispatcher, ticket, UINT64_MAX, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_true(ticket->bits == 0);
    rig_check_sums(&report);
    return report;
}

/* ---- Whose ticket ---------------------------------------------------------------------------- */

static void expect_stale(rig *r, vyre_queue_ticket ticket)
{
    vyre_queue_ticket kept = ticket;
    vyre_queue_report report;
    vyre_diag diag;
    int is_done = 7;
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, ". Fix: "));
    assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(is_done, 7);
    assert_int_equal(vyre_dispatcher_resume(r->dispatcher, ticket, 1000, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &ticket, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(ticket.bits == kept.bits);
}

static void refuse_tickets(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL), *other = rig_open(device, WORDS, NULL);
    vyre_work_item *items = additions(10, 0, WORDS);
    vyre_diag diag;
    expect_stale(r, (vyre_queue_ticket){0});
    expect_stale(r, (vyre_queue_ticket){UINT64_MAX});
    vyre_queue_ticket ticket = submit(r, items, 10, NULL), used = ticket;
    expect_stale(other, ticket);
    expect_stale(r, (vyre_queue_ticket){ticket.bits + 1});     /* the next entry */
    expect_stale(r, (vyre_queue_ticket){ticket.bits + 0x100}); /* a later queue of this entry */
    expect_stale(r, (vyre_queue_ticket){ticket.bits & ~0xffull});
    assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, NULL, 0, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_drop(r->dispatcher, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_resume(r->dispatcher, ticket, 0, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, items, 10, NULL, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wait_for(r, &ticket).processed, 10);
    expect_stale(r, used);
    ticket = used = submit(r, items, 10, NULL);
    assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &ticket, &diag), VYRE_OK);
    assert_true(ticket.bits == 0);
    expect_stale(r, used);
    /* Its entry is another queue's now. */
    for (uint32_t i = 0; i < 10; i++) {
        ticket = submit(r, items, 10, NULL);
        expect_stale(r, used);
        (void)wait_for(r, &ticket);
    }
    free(items);
    rig_close(&other);
    rig_close(&r);
}

static void test_stale_and_foreign_tickets_are_refused(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_tickets);
}

/* The queue's callback runs while its thread waits: whoever comes then is a second one. */
typedef struct second {
    rig *r;
    vyre_queue_ticket ticket;
    uint32_t calls;
} second;

static int wait_twice(void *user, const vyre_io_request *request)
{
    second *s = user;
    vyre_queue_ticket ticket = s->ticket;
    vyre_diag diag;
    int is_done = 7;
    (void)request;
    assert_int_equal(vyre_dispatcher_wait(s->r->dispatcher, &ticket, UINT64_MAX, NULL, &diag),
                     VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, ". Fix: "));
    assert_int_equal(vyre_dispatcher_drop(s->r->dispatcher, &ticket, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(vyre_dispatcher_resume(s->r->dispatcher, ticket, 1000, &diag),
                     VYRE_ERROR_BUSY);
    assert_true(ticket.bits == s->ticket.bits);
    assert_int_equal(vyre_dispatcher_poll(s->r->dispatcher, ticket, &is_done, &diag), VYRE_OK);
    assert_int_equal(is_done, 0);
    assert_int_equal(vyre_dispatcher_poll(s->r->dispatcher, ticket, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    s->calls++;
    return 1;
}

static void refuse_second(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL);
    second s = {.r = r};
    uint32_t *ring = rig_ring(1);
    vyre_load_params load;
    vyre_queue_params params;
    vyre_diag diag;
    vyre_load_params_init(&load);
    assert_int_equal(
        vyre_ring_publish_load(ring, VYRE_SLOT_SIZE, 0, 0, VYRE_PRIORITY_NORMAL, &load, NULL),
        VYRE_OK);
    vyre_queue_params_init(&params);
    params.io = wait_twice;
    params.io_user = &s;
    assert_int_equal(
        vyre_dispatcher_submit_ring(r->dispatcher, ring, VYRE_SLOT_SIZE, &params, &s.ticket, &diag),
        VYRE_OK);
    vyre_queue_ticket ticket = s.ticket;
    assert_int_equal(wait_for(r, &ticket).processed, 1);
    assert_int_equal(s.calls, 1);
    free(ring);
    rig_close(&r);
}

static void test_a_queue_has_one_waiter(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_second);
}

/* ---- Several in flight ----------------------------------------------------------------------- */

static void fly_together(vyre_device *device)
{
    rig *r = open_sliced(device, 3);
    vyre_queue_params params = sliced_params();
    vyre_queue_ticket tickets[3], fourth = {5};
    vyre_queue_report report;
    vyre_diag diag;
    for (uint32_t i = 0; i < 3; i++) {
        vyre_work_item *items = additions(LONG / 3 + i, 8 * i, 8);
        tickets[i] = submit(r, items, LONG / 3 + i, &params);
        memset(items, 0xff, (LONG / 3 + i) * sizeof *items); /* they were copied */
        free(items);
    }
    vyre_work_item item = rig_item(RIG_ADD, 0, 40, 1);
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, &item, 1, NULL, &fourth, &diag),
                     VYRE_ERROR_BUSY);
    assert_true(fourth.bits == 0);
    assert_non_null(strstr(diag.message, "3 queues"));
    assert_int_equal(vyre_dispatcher_run(r->dispatcher, &item, 1, NULL, &report, &diag),
                     VYRE_ERROR_BUSY);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n = (i + 1) % 3; /* not in their order */
        report = wait_for(r, &tickets[n]);
        assert_int_equal(report.processed, LONG / 3 + n);
        assert_true(report.launches > 1);
        (void)rig_run(r, &item, 1, 0); /* there is room again */
    }
    rig_fetch(r);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(sum_of(r, 8 * i, 8), LONG / 3 + i);
    }
    assert_int_equal(r->data[40], 3);
    rig_close(&r);
}

static void test_queues_fly_together_up_to_their_number(void **state)
{
    (void)state;
    RIG_FOR_EACH(fly_together);
}

/* A refused queue holds nothing, and a queue of nothing has a ticket as others. */
static void submit_nothing(vyre_device *device)
{
    const vyre_dispatcher_params one = {.struct_size = sizeof one, .max_in_flight = 1};
    rig *r = rig_open(device, WORDS, &one);
    vyre_work_item bad = rig_item(VYRE_OPCODE_LOAD_MISS, 0, 0, 0);
    vyre_queue_ticket ticket = {9};
    vyre_diag diag;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vyre_dispatcher_submit(r->dispatcher, &bad, 1, NULL, &ticket, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_true(ticket.bits == 0);
    }
    ticket = submit(r, NULL, 0, NULL);
    int is_done = 0;
    assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag), VYRE_OK);
    assert_int_equal(is_done, 1);
    vyre_queue_report report = wait_for(r, &ticket);
    assert_int_equal(report.given, 0);
    assert_int_equal(report.launches, 0);
    rig_close(&r);
}

static void test_queues_of_nothing_have_tickets(void **state)
{
    (void)state;
    RIG_FOR_EACH(submit_nothing);
}

/* ---- Waiting in parts ------------------------------------------------------------------------ */

static void wait_in_parts(vyre_device *device)
{
    rig *r = open_sliced(device, 0);
    vyre_queue_params params = sliced_params();
    vyre_work_item *items = additions(LONG, 0, WORDS);
    for (int polls = 0; polls < 2; polls++) {
        vyre_queue_ticket ticket = submit(r, items, LONG, &params), kept = ticket;
        vyre_queue_report report;
        vyre_diag diag;
        uint32_t before = 0;
        vyre_result code = VYRE_ERROR_TIMEOUT;
        while (code == VYRE_ERROR_TIMEOUT) {
            int is_done = 0;
            if (polls) {
                assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag),
                                 VYRE_OK);
                if (!is_done) {
                    continue;
                }
            }
            code = vyre_dispatcher_wait(r->dispatcher, &ticket, 0, &report, &diag);
            assert_true(code == VYRE_OK || (code == VYRE_ERROR_TIMEOUT && !is_done));
            rig_check_sums(&report);
            assert_true(report.processed >= before);
            before = report.processed;
            assert_true(ticket.bits == (code == VYRE_OK ? 0 : kept.bits));
        }
        assert_int_equal(report.processed, LONG);
        assert_int_equal(report.remaining, 0);
    }
    rig_fetch(r);
    assert_int_equal(sum_of(r, 0, WORDS), 2 * LONG);
    free(items);
    rig_close(&r);
}

static void test_queues_are_waited_for_in_parts(void **state)
{
    (void)state;
    RIG_FOR_EACH(wait_in_parts);
}

/* ---- Time limits ----------------------------------------------------------------------------- */

static void resume_after_time(vyre_device *device)
{
    rig *r = open_sliced(device, 0);
    vyre_queue_params params = sliced_params();
    params.max_wall_ns = 1;
    vyre_work_item *items = additions(LONG, 0, WORDS);
    vyre_queue_ticket ticket = submit(r, items, LONG, &params);
    vyre_queue_report report;
    vyre_diag diag;
    uint32_t launches = 0;
    /* It had its first slice. No other follows, however often it is waited for. */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, &diag),
                         VYRE_ERROR_TIMEOUT);
        assert_non_null(strstr(diag.message, "vyre_dispatcher_resume"));
        assert_true(ticket.bits != 0);
        rig_check_sums(&report);
        assert_int_equal(report.given, LONG);
        assert_int_equal(report.processed + report.remaining, LONG);
        assert_true(report.remaining > 0);
        assert_true(i == 0 || report.launches == launches);
        launches = report.launches;
    }
    int is_done = 0;
    for (uint32_t i = 0; i < 1000000 && !is_done; i++) {
        assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag), VYRE_OK);
    }
    assert_int_equal(is_done, 1); /* to wait gives TIMEOUT at once */
    assert_int_equal(launches, 1);
    /* Some time more, and then enough. */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(vyre_dispatcher_resume(r->dispatcher, ticket, 200000, &diag), VYRE_OK);
        vyre_queue_ticket kept = ticket;
        if (vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, &diag) == VYRE_OK) {
            break;
        }
        assert_true(ticket.bits == kept.bits);
        assert_int_equal(report.processed + report.remaining, LONG);
    }
    if (ticket.bits) {
        assert_int_equal(vyre_dispatcher_resume(r->dispatcher, ticket, 60000000000u, &diag),
                         VYRE_OK);
        report = wait_for(r, &ticket);
    }
    assert_int_equal(report.processed, LONG);
    assert_int_equal(report.remaining, 0);
    rig_fetch(r);
    assert_int_equal(sum_of(r, 0, WORDS), LONG); /* each once */
    vyre_dispatcher_counters counters;
    vyre_dispatcher_get_counters(r->dispatcher, &counters);
    assert_true(counters.timeouts >= 5);
    free(items);
    rig_close(&r);
}

static void test_queues_go_on_after_their_time(void **state)
{
    (void)state;
    RIG_FOR_EACH(resume_after_time);
}

static void run_out_of_time(vyre_device *device)
{
    static const uint64_t limits[] = {1, 10000, 100000, 300000, 1000000};
    rig *r = open_sliced(device, 1);
    vyre_work_item *items = additions(LONG, 0, 32);
    vyre_work_item after[] = {rig_item(RIG_ADD, 0, 40, 1), rig_item(RIG_ADD, 0, 41, 1)};
    uint32_t ran = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        vyre_queue_params params = sliced_params();
        vyre_queue_report report;
        vyre_diag diag;
        params.max_wall_ns = limits[i];
        vyre_result code = vyre_dispatcher_run(r->dispatcher, items, LONG, &params, &report, &diag);
        assert_true(code == VYRE_ERROR_TIMEOUT || (code == VYRE_OK && i > 0));
        rig_check_sums(&report);
        assert_int_equal(report.given, LONG);
        assert_int_equal(report.processed + report.remaining, LONG);
        /* The one queue that there may be is free once the last slice has ended. */
        assert_int_equal(rig_run(r, after, 2, VYRE_QUEUE_INDEPENDENT).processed, 2);
        rig_fetch(r);
        uint32_t sum = sum_of(r, 0, 32) - ran;
        assert_true(sum >= report.processed && sum <= LONG);
        assert_int_equal(r->data[40], i + 1);
        assert_int_equal(r->data[41], i + 1);
        ran += sum;
    }
    free(items);
    rig_close(&r);
}

static void test_runs_out_of_time_leave_a_dispatcher_that_works(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_out_of_time);
}

/* ---- Given up -------------------------------------------------------------------------------- */

/* Memory of a queue that was given up is the next one's only when its last slice has ended: items
 * of the one are never seen in the other. */
static void drop_and_run(vyre_device *device)
{
    rig *r = open_sliced(device, 2);
    vyre_queue_params params = sliced_params();
    for (uint32_t i = 0; i < 60; i++) {
        vyre_work_item *items = additions(LONG, 0, 16), *others = additions(LONG / 8, 32, 16);
        uint32_t *ring = rig_ring(64);
        vyre_queue_ticket ticket;
        vyre_diag diag;
        if (i % 3 == 2) {
            for (uint32_t s = 0; s < 64; s++) {
                const uint32_t args[] = {0, s % 16, 1};
                rig_put(ring, s, RIG_ADD, 0, VYRE_PRIORITY_NORMAL, args, 3);
            }
            while (vyre_dispatcher_submit_ring(r->dispatcher, ring, (size_t)64 * VYRE_SLOT_SIZE,
                                               &params, &ticket, &diag) == VYRE_ERROR_BUSY) {
            }
        } else {
            while (vyre_dispatcher_submit(r->dispatcher, items, LONG, &params, &ticket, &diag) ==
                   VYRE_ERROR_BUSY) { /* until the last slice of one that was dropped has ended */
            }
        }
        assert_true(ticket.bits != 0);
        if (i % 4 == 3) {
            int is_done = 0;
            assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag), VYRE_OK);
        }
        assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &ticket, &diag), VYRE_OK);
        free(ring); /* it is the caller's again */
        free(items);
        vyre_queue_report report = rig_run_with(r, others, LONG / 8, &params);
        assert_int_equal(report.processed, LONG / 8);
        free(others);
        rig_fetch(r);
        assert_int_equal(sum_of(r, 32, 16), (i + 1) * (LONG / 8));
        assert_int_equal(sum_of(r, 16, 16) + sum_of(r, 48, 16), 0);
    }
    assert_true(sum_of(r, 0, 16) < 60 * LONG);
    rig_close(&r);
}

static void test_queues_given_up_disturb_nobody(void **state)
{
    (void)state;
    RIG_FOR_EACH(drop_and_run);
}

/* Given up in every state: launched, timed out, and ended. */
static void drop_in_each_state(vyre_device *device)
{
    rig *r = open_sliced(device, 1);
    vyre_queue_params params = sliced_params(), late = params;
    vyre_work_item *items = additions(LONG, 0, WORDS);
    vyre_diag diag;
    late.max_wall_ns = 1;
    vyre_queue_ticket ticket = submit(r, items, LONG, &late);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, NULL, &diag),
                     VYRE_ERROR_TIMEOUT);
    assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &ticket, &diag), VYRE_OK);
    (void)rig_run(r, items, 1, 0);
    ticket = submit(r, items, 1, &params);
    int is_done = 0;
    while (!is_done) {
        assert_int_equal(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag), VYRE_OK);
    }
    assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &ticket, &diag), VYRE_OK);
    (void)rig_run(r, items, 1, 0);
    rig_fetch(r);
    assert_true(sum_of(r, 0, WORDS) >= 3);
    free(items);
    rig_close(&r);
}

static void test_queues_are_given_up_in_any_state(void **state)
{
    (void)state;
    RIG_FOR_EACH(drop_in_each_state);
}

/* With queues launched, given up and ended; memory of the caller's is not written any more. */
static void destroy_in_flight(vyre_device *device)
{
    for (int i = 0; i < 5; i++) {
        rig *r = open_sliced(device, 0);
        vyre_queue_params params = sliced_params();
        vyre_work_item *items = additions(LONG, 0, WORDS);
        uint32_t *ring = rig_ring(64), *before = rig_ring(64);
        vyre_diag diag;
        for (uint32_t s = 0; s < 64; s++) {
            const uint32_t args[] = {0, s, 1};
            rig_put(ring, s, RIG_ADD, 0, VYRE_PRIORITY_NORMAL, args, 3);
        }
        memcpy(before, ring, (size_t)64 * VYRE_SLOT_SIZE);
        vyre_queue_ticket first = submit(r, items, LONG, &params),
                          dropped = submit(r, items, LONG, &params), third;
        assert_int_equal(vyre_dispatcher_submit_ring(r->dispatcher, ring,
                                                     (size_t)64 * VYRE_SLOT_SIZE, &params, &third,
                                                     &diag),
                         VYRE_OK);
        assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &dropped, &diag), VYRE_OK);
        assert_true(first.bits != third.bits);
        vyre_dispatcher_destroy(&r->dispatcher);
        assert_memory_equal(ring, before, (size_t)64 * VYRE_SLOT_SIZE);
        rig_fetch(r);
        assert_true(sum_of(r, 0, WORDS) < 2 * LONG + 64);
        free(before);
        free(ring);
        free(items);
        rig_close(&r); /* the buffer is no longer in use */
    }
    vyre_dispatcher_destroy(NULL);
}

static void test_dispatchers_are_destroyed_with_queues_in_flight(void **state)
{
    (void)state;
    uint32_t buffers = rig_device ? (uint32_t)engine_counters(rig_device).buffers : 0;
    RIG_FOR_EACH(destroy_in_flight);
    if (rig_device) {
        assert_int_equal(engine_counters(rig_device).buffers, buffers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stale_and_foreign_tickets_are_refused),
        cmocka_unit_test(test_a_queue_has_one_waiter),
        cmocka_unit_test(test_queues_fly_together_up_to_their_number),
        cmocka_unit_test(test_queues_of_nothing_have_tickets),
        cmocka_unit_test(test_queues_are_waited_for_in_parts),
        cmocka_unit_test(test_queues_go_on_after_their_time),
        cmocka_unit_test(test_runs_out_of_time_leave_a_dispatcher_that_works),
        cmocka_unit_test(test_queues_given_up_disturb_nobody),
        cmocka_unit_test(test_queues_are_given_up_in_any_state),
        cmocka_unit_test(test_dispatchers_are_destroyed_with_queues_in_flight),
    };
    int failed = cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
    failed +=
        cmocka_run_group_tests_name("separate memory", tests, rig_open_separate, rig_close_device);
    return failed + cmocka_run_group_tests_name("memory to be flushed", tests, rig_open_incoherent,
                                                rig_close_device);
}
