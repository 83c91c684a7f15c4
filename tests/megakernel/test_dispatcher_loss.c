/* A device that is lost under a dispatcher: queues run again on the one that the caller gives, once
 * and only where nothing runs twice that may not. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS   64u
#define LONG    3000u /* items that no single slice takes */
#define DEVICES 3u

/* Devices with a buffer each, from the one that is lost on. */
typedef struct losing {
    vyre_device *devices[DEVICES];
    vyre_buffer buffers[DEVICES];
    uint32_t count, calls;
    int refuses;            /* gives no other device */
    const char *lose_again; /* the call of the next device that loses it */
    vyre_dispatcher *dispatcher;
    uint32_t data[WORDS];
} losing;

/* From here on the n-th call of that name loses the device. */
static void lose_at(const char *call, uint32_t n)
{
    layer.fail_only = call;
    layer.failure = VK_ERROR_DEVICE_LOST;
    layer.fail_at = layer_fallible_calls() + n;
}

static void add_device(losing *l)
{
    static const uint32_t zeros[WORDS];
    assert_true(l->count < DEVICES);
    l->devices[l->count] = engine_open(1);
    l->buffers[l->count] = engine_buffer(l->devices[l->count], sizeof zeros, zeros);
    l->count++;
}

static int give_another(void *user, vyre_device **out_device, vyre_binding *bindings,
                        uint32_t binding_count)
{
    losing *l = user;
    l->calls++;
    if (l->refuses) {
        return 0;
    }
    layer.fail_only = NULL;
    add_device(l);
    assert_int_equal(binding_count, 1);
    assert_true(bindings[0].buffer.bits == l->buffers[l->count - 2].bits);
    bindings[0] = engine_resident(l->buffers[l->count - 1], 0, WORDS);
    *out_device = l->devices[l->count - 1];
    if (l->lose_again) {
        lose_at(l->lose_again, 1);
    }
    return 1;
}

static losing *open_losing(int recovers, uint64_t slice_ns)
{
    losing *l = calloc(1, sizeof *l);
    assert_non_null(l);
    layer_reset(); /* what the layer shows of semaphores begins anew */
    add_device(l);
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.slice_ns = slice_ns;
    params.recover = recovers ? give_another : NULL;
    params.recover_user = l;
    l->dispatcher = rig_dispatcher(l->devices[0], l->buffers[0], WORDS, &params);
    vyre_work_item nop = rig_item(VYRE_OPCODE_NOP, 0, 0, 0);
    /* How long rounds take is known from now on: slices are as short as they can be. */
    assert_int_equal(vyre_dispatcher_run(l->dispatcher, &nop, 1, NULL, NULL, NULL), VYRE_OK);
    return l;
}

static void close_losing(losing **l)
{
    layer.fail_only = NULL;
    vyre_dispatcher_destroy(&(*l)->dispatcher);
    for (uint32_t d = 0; d < (*l)->count; d++) {
        uint64_t failures = vyre_device_validation_failures((*l)->devices[d]);
        assert_true(failures == 0);
        vyre_device_destroy(&(*l)->devices[d]);
    }
    assert_int_equal(layer_alive(), 0);
    free(*l);
    *l = NULL;
}

static void fetch(losing *l)
{
    uint32_t d = l->count - 1;
    assert_int_equal(
        vyre_buffer_download(l->devices[d], l->buffers[d], 0, l->data, sizeof l->data, NULL),
        VYRE_OK);
}

/* Of additions the sum of all; of settings (RIG_SET) each word's number. */
static vyre_work_item *make_items(uint32_t opcode, uint32_t count)
{
    vyre_work_item *items = calloc(count, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = i % WORDS;
        items[i] = rig_item(opcode, i, word, opcode == RIG_ADD ? 1 : 100 + word);
    }
    return items;
}

static void check_items(losing *l, uint32_t opcode, uint32_t count)
{
    fetch(l);
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t additions = count / WORDS + (w < count % WORDS);
        assert_int_equal(l->data[w], opcode == RIG_ADD ? additions : 100 + w);
    }
}

static vyre_queue_params sliced_params(void)
{
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.group_cap = 1;
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES | VYRE_QUEUE_INDEPENDENT;
    return params;
}

static vyre_result run(losing *l, const vyre_work_item *items, uint32_t count,
                       vyre_queue_report *report, vyre_diag *diag)
{
    vyre_queue_params params = sliced_params();
    vyre_result code = vyre_dispatcher_run(l->dispatcher, items, count, &params, report, diag);
    assert_int_equal(diag->code, code);
    assert_true(code == VYRE_OK || strstr(diag->message, ". Fix: "));
    return code;
}

static uint64_t recoveries_of(const losing *l)
{
    vyre_dispatcher_counters counters;
    vyre_dispatcher_get_counters(l->dispatcher, &counters);
    return counters.recoveries;
}

/* ---- Once ------------------------------------------------------------------------------------ */

static void lose_and_run(const char *call, uint32_t n, uint32_t opcode, uint32_t count)
{
    losing *l = open_losing(1, 1);
    vyre_work_item *items = make_items(opcode, count);
    vyre_queue_report report;
    vyre_diag diag;
    lose_at(call, n);
    vyre_result code = run(l, items, count, &report, &diag);
    if (code != VYRE_OK) {
        fail_msg("%s %u: %s, %u of %u", call, (unsigned)n, diag.message, (unsigned)report.processed,
                 (unsigned)report.given);
    }
    assert_int_equal(l->calls, 1);
    assert_true(recoveries_of(l) == 1);
    assert_int_equal(report.processed, count);
    assert_int_equal(report.remaining, 0);
    assert_int_equal(report.faulted, 0);
    check_items(l, opcode, count);
    /* And goes on there. */
    assert_int_equal(run(l, items, 10, &report, &diag), VYRE_OK);
    assert_int_equal(report.processed, 10);
    assert_int_equal(l->calls, 1);
    free(items);
    close_losing(&l);
}

static void test_lost_queues_run_once_more(void **state)
{
    (void)state;
    NEED_DEVICE();
    lose_and_run("vkQueueSubmit", 1, RIG_ADD, 1000);
    lose_and_run("vkWaitSemaphores", 1, RIG_ADD, 1000);
    lose_and_run("vkQueueSubmit", 1, RIG_ADD, LONG);
}

static void test_idempotent_queues_run_once_more_though_partly_done(void **state)
{
    (void)state;
    NEED_DEVICE();
    lose_and_run("vkQueueSubmit", 4, RIG_SET, LONG);
    lose_and_run("vkWaitSemaphores", 3, RIG_SET, LONG);
}

static void test_a_second_loss_is_reported(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char *const calls[] = {"vkQueueSubmit", "vkGetSemaphoreCounterValue"};
    for (size_t c = 0; c < 2; c++) {
        losing *l = open_losing(1, 0);
        vyre_work_item *items = make_items(RIG_SET, 100);
        vyre_queue_report report;
        vyre_diag diag;
        l->lose_again = calls[c];
        lose_at("vkQueueSubmit", 1);
        assert_int_equal(run(l, items, 100, &report, &diag), VYRE_ERROR_DEVICE_LOST);
        assert_int_equal(l->calls, 1);
        assert_true(recoveries_of(l) == 1);
        assert_int_equal(report.processed, 0);
        assert_int_equal(report.given, 100);
        /* The next queue may ask once more. */
        l->lose_again = NULL;
        assert_int_equal(run(l, items, 100, &report, &diag), VYRE_OK);
        assert_int_equal(l->calls, 2);
        check_items(l, RIG_SET, 100);
        free(items);
        close_losing(&l);
    }
}

/* ---- Not again ------------------------------------------------------------------------------- */

static void test_what_was_seen_done_is_not_done_twice(void **state)
{
    (void)state;
    NEED_DEVICE();
    losing *l = open_losing(1, 1);
    vyre_work_item *items = make_items(RIG_ADD, LONG);
    vyre_queue_report report;
    vyre_diag diag;
    lose_at("vkQueueSubmit", 4);
    assert_int_equal(run(l, items, LONG, &report, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(l->calls, 0);
    assert_true(report.processed > 0 && report.remaining > 0);
    assert_int_equal(report.processed + report.remaining, LONG);
    assert_int_equal(report.launches, 3);
    /* The next queue meets the loss before it begins, also where it needs memory first. */
    assert_int_equal(run(l, items, 2 * LONG / 3, &report, &diag), VYRE_OK);
    assert_int_equal(l->calls, 1);
    check_items(l, RIG_ADD, 2 * LONG / 3);
    free(items);
    close_losing(&l);
    l = open_losing(1, 1);
    items = make_items(RIG_ADD, 8 * LONG);
    lose_at("vkQueueSubmit", 1);
    l->refuses = 1;
    assert_int_equal(run(l, items, 10, &report, &diag), VYRE_ERROR_DEVICE_LOST);
    l->refuses = 0;
    assert_int_equal(run(l, items, 8 * LONG, &report, &diag), VYRE_OK);
    assert_int_equal(l->calls, 2);
    check_items(l, RIG_ADD, 8 * LONG);
    free(items);
    close_losing(&l);
}

static void expect_lost_for_good(losing *l, uint32_t calls)
{
    vyre_work_item *items = make_items(RIG_SET, 100);
    vyre_queue_report report;
    vyre_queue_ticket ticket = {3};
    vyre_diag diag;
    lose_at("vkQueueSubmit", 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(l, items, 100, &report, &diag), VYRE_ERROR_DEVICE_LOST);
        assert_int_equal(report.processed, 0);
        assert_int_equal(vyre_dispatcher_submit(l->dispatcher, items, 100, NULL, &ticket, &diag),
                         VYRE_ERROR_DEVICE_LOST);
        assert_true(ticket.bits == 0);
    }
    assert_int_equal(l->calls, calls);
    assert_true(recoveries_of(l) == 0);
    free(items);
    close_losing(&l);
}

static void test_without_another_device_losses_are_reported(void **state)
{
    (void)state;
    NEED_DEVICE();
    expect_lost_for_good(open_losing(0, 0), 0);
    losing *l = open_losing(1, 0);
    l->refuses = 1;
    expect_lost_for_good(l, 4);
}

/* They name buffers of the device that is lost. */
static void test_queues_with_bindings_of_their_own_do_not_run_again(void **state)
{
    (void)state;
    NEED_DEVICE();
    losing *l = open_losing(1, 0);
    vyre_work_item *items = make_items(RIG_SET, 100);
    vyre_binding binding = engine_resident(l->buffers[0], 0, WORDS);
    vyre_queue_params params = sliced_params();
    vyre_diag diag;
    params.bindings = &binding;
    params.binding_count = 1;
    lose_at("vkQueueSubmit", 1);
    assert_int_equal(vyre_dispatcher_run(l->dispatcher, items, 100, &params, NULL, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(l->calls, 0);
    free(items);
    close_losing(&l);
}

/* ---- In flight ------------------------------------------------------------------------------- */

static void test_submitted_queues_recover_where_they_meet_the_loss(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char *const calls[] = {"vkQueueSubmit", "vkWaitSemaphores",
                                        "vkGetSemaphoreCounterValue"};
    for (size_t c = 0; c < 3; c++) {
        losing *l = open_losing(1, 0);
        vyre_work_item *items = make_items(RIG_ADD, 200);
        vyre_queue_params params = sliced_params();
        vyre_queue_ticket ticket;
        vyre_queue_report report;
        vyre_diag diag;
        int is_done = 0;
        lose_at(calls[c], 1);
        assert_int_equal(vyre_dispatcher_submit(l->dispatcher, items, 200, &params, &ticket, &diag),
                         VYRE_OK);
        memset(items, 0xff, 200 * sizeof *items); /* they were copied, for the second time too */
        while (c == 2 && !is_done) {
            assert_int_equal(vyre_dispatcher_poll(l->dispatcher, ticket, &is_done, &diag), VYRE_OK);
        }
        assert_int_equal(vyre_dispatcher_wait(l->dispatcher, &ticket, UINT64_MAX, &report, &diag),
                         VYRE_OK);
        assert_int_equal(report.processed, 200);
        assert_int_equal(l->calls, 1);
        check_items(l, RIG_ADD, 200);
        free(items);
        close_losing(&l);
    }
}

/* One device follows, whoever asks first. */
static void test_queues_in_flight_share_the_device_that_follows(void **state)
{
    (void)state;
    NEED_DEVICE();
    losing *l = open_losing(1, 0);
    vyre_work_item *items = make_items(RIG_ADD, 192);
    vyre_queue_params params = sliced_params();
    vyre_queue_ticket tickets[4];
    vyre_queue_report report;
    vyre_diag diag;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(
            vyre_dispatcher_submit(l->dispatcher, items, 192, &params, &tickets[i], &diag),
            VYRE_OK);
    }
    assert_int_equal(vyre_dispatcher_drop(l->dispatcher, &tickets[3], &diag), VYRE_OK);
    lose_at("vkWaitSemaphores", 1);
    for (uint32_t i = 0; i < 3; i++) {
        vyre_result code =
            vyre_dispatcher_wait(l->dispatcher, &tickets[i], UINT64_MAX, &report, &diag);
        if (code != VYRE_OK) {
            fail_msg("%s", diag.message);
        }
        assert_int_equal(report.processed, 192);
    }
    assert_int_equal(l->calls, 1);
    assert_true(recoveries_of(l) == 1);
    check_items(l, RIG_ADD, 3 * 192);
    free(items);
    close_losing(&l);
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static void test_lost_rings_run_once_more_or_stay_as_they_were(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (uint32_t n = 1; n <= 3; n += 2) {
        losing *l = open_losing(1, 1);
        uint32_t *ring = rig_ring(LONG), *before = rig_ring(LONG);
        vyre_queue_params params = sliced_params();
        vyre_queue_report report;
        vyre_diag diag;
        for (uint32_t s = 0; s < LONG; s++) {
            const uint32_t args[] = {0, s % WORDS, 1};
            rig_put(ring, s, RIG_ADD, 0, VYRE_PRIORITY_NORMAL, args, 3);
        }
        memcpy(before, ring, (size_t)LONG * VYRE_SLOT_SIZE);
        lose_at("vkQueueSubmit", n);
        vyre_result code = vyre_dispatcher_run_ring(
            l->dispatcher, ring, (size_t)LONG * VYRE_SLOT_SIZE, &params, &report, &diag);
        if (n == 1) {
            assert_int_equal(code, VYRE_OK);
            assert_int_equal(report.processed, LONG);
            assert_int_equal(rig_status(ring, LONG - 1), VYRE_STATUS_DONE);
            check_items(l, RIG_ADD, LONG);
        } else {
            assert_int_equal(code, VYRE_ERROR_DEVICE_LOST);
            assert_true(report.processed > 0 && report.processed < LONG);
            assert_memory_equal(ring, before, (size_t)LONG * VYRE_SLOT_SIZE);
        }
        assert_int_equal(l->calls, n == 1);
        free(before);
        free(ring);
        close_losing(&l);
    }
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_lost_queues_run_once_more),
        T(test_idempotent_queues_run_once_more_though_partly_done),
        T(test_a_second_loss_is_reported),
        T(test_what_was_seen_done_is_not_done_twice),
        T(test_without_another_device_losses_are_reported),
        T(test_queues_with_bindings_of_their_own_do_not_run_again),
        T(test_submitted_queues_recover_where_they_meet_the_loss),
        T(test_queues_in_flight_share_the_device_that_follows),
        T(test_lost_rings_run_once_more_or_stay_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
