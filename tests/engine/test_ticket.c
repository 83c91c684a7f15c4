/* Tickets: runs in flight, seen from outside. A gate keeps them from ending too early. */
#include "tests/engine/fake_machine.h"
#include "tests/engine/gate_runs.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static vyre_device *device;
static gate door;

static int open_with(const gate_wishes *wishes)
{
    layer_reset();
    device = NULL;
    if (!engine_has_no_device()) {
        device = gate_open_device(wishes);
        gate_create(device, &door);
    }
    return 0;
}

static int open_validated(void **state)
{
    (void)state;
    return open_with(&(gate_wishes){.validate = 1});
}

static int open_bare(void **state)
{
    (void)state;
    return open_with(&(gate_wishes){.validate = 0});
}

static int open_driven(void **state)
{
    (void)state;
    return open_with(&(gate_wishes){.driver_thread = 1});
}

/* The tests' own Vulkan. lavapipe waits for the whole device in vkGetQueryPoolResults, and so for a
 * gate that is still closed behind a run that has ended. */
static int open_fake(void **state)
{
    (void)state;
    fake_machine_reset();
    device = gate_open_device(&(gate_wishes){.entry = fake_entry()});
    gate_create(device, &door);
    return 0;
}

static int close_fake(void **state)
{
    (void)state;
    gate_destroy(&door);
    vyre_device_destroy(&device);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        gate_destroy(&door);
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

/* ---- Runs of `add` and of `countdown` -------------------------------------------------------- */

static void expect_untouched(const sum *s)
{
    for (uint32_t i = 0; i < SUM_COUNT; i++) {
        assert_int_equal(s->y[i], 0xabababab);
    }
}

static void expect_result(const sum *s)
{
    for (uint32_t i = 0; i < SUM_COUNT; i++) {
        assert_int_equal(s->y[i], (i + s->k) * 3 + s->k);
    }
}

static int is_done(vyre_ticket ticket)
{
    int answer = 7;
    vyre_diag diag;
    assert_int_equal(vyre_ticket_poll(device, ticket, &answer, &diag), VYRE_OK);
    assert_in_range(answer, 0, 1);
    return answer;
}

static void expect_stale(vyre_device *of, vyre_ticket ticket)
{
    vyre_diag diag;
    int answer = 0;
    vyre_ticket copy = ticket;
    vyre_semaphore_point point;
    assert_int_equal(vyre_ticket_poll(of, ticket, &answer, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(vyre_ticket_wait(of, &copy, 0, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(
        vyre_ticket_wait_many(of, &ticket, ticket.bits != 0, VYRE_WAIT_ALL, 0, NULL, &diag),
        ticket.bits ? VYRE_ERROR_INVALID_ARGUMENT : VYRE_OK);
    assert_int_equal(vyre_ticket_export(of, ticket, &point, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    copy = ticket;
    assert_int_equal(vyre_ticket_drop(of, &copy, &diag),
                     ticket.bits ? VYRE_ERROR_INVALID_ARGUMENT : VYRE_OK);
}

static void wait_for(vyre_ticket *ticket, vyre_report *out_report)
{
    vyre_diag diag;
    if (vyre_ticket_wait(device, ticket, UINT64_MAX, out_report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_true(ticket->bits == 0);
}

static vyre_device_counters counters(void)
{
    vyre_device_counters out;
    vyre_device_get_counters(device, &out);
    return out;
}

/* ---- One run --------------------------------------------------------------------------------- */

static void test_ticket_lives_until_it_was_waited_for(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    sum s;
    sum_init(&s, 4);
    s.params.sync = gate_close(&door);
    vyre_ticket ticket = gate_start(&p, &s.params), copy = ticket;
    assert_int_equal(is_done(ticket), 0);
    assert_int_equal(is_done(ticket), 0);
    assert_int_equal(s.done_count, 0);
    gate_open(&door);
    vyre_diag diag;
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    expect_untouched(&s); /* nobody has looked */
    assert_int_equal(is_done(ticket), 1);
    assert_int_equal(is_done(ticket), 1);
    vyre_report report;
    wait_for(&ticket, &report);
    expect_result(&s);
    assert_int_equal(s.done_count, 1);
    assert_int_equal(s.done_result, VYRE_OK);
    assert_true(s.done_ticket.bits == copy.bits);
    assert_int_equal(report.passes, 1);
    assert_int_equal(report.submissions, 1);
    assert_int_equal(report.download_size, sizeof s.y);
    expect_stale(device, copy);
    expect_stale(device, ticket);
    /* The next run in the same place has another ticket. */
    s.params.sync = NULL;
    ticket = gate_start(&p, &s.params);
    assert_true(ticket.bits != copy.bits);
    expect_stale(device, copy);
    wait_for(&ticket, NULL);
    assert_int_equal(s.done_count, 2);
    engine_release(&p);
}

static void test_ticket_waits_again_after_a_timeout(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    sum s;
    sum_init(&s, 9);
    s.params.sync = gate_close(&door);
    vyre_ticket ticket = gate_start(&p, &s.params);
    const uint64_t before = ticket.bits, waits = counters().waits;
    static const uint64_t times[] = {0, 1, 1000000, 0};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        vyre_diag diag;
        assert_int_equal(vyre_ticket_wait(device, &ticket, times[i], NULL, &diag),
                         VYRE_ERROR_TIMEOUT);
        assert_int_equal(diag.code, VYRE_ERROR_TIMEOUT);
        assert_non_null(strstr(diag.message, "add"));
        assert_true(ticket.bits == before);
        expect_untouched(&s);
    }
    assert_int_equal(counters().parked, 0);
    gate_open(&door);
    vyre_report report;
    wait_for(&ticket, &report);
    expect_result(&s);
    assert_int_equal(s.done_count, 1);
    assert_int_equal(report.waits, counters().waits - waits);
    engine_release(&p);
}

static void test_ticket_calls_refuse_what_is_no_ticket(void **state)
{
    (void)state;
    NEED_OPEN(device);
    vyre_diag diag;
    vyre_ticket none = {0}, ticket = {0};
    int answer = 0;
    expect_stale(device, none);
    expect_stale(device, (vyre_ticket){UINT64_MAX});
    expect_stale(device, (vyre_ticket){1});
    assert_int_equal(vyre_ticket_poll(NULL, none, &answer, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_ticket_poll(device, none, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_ticket_wait(device, NULL, 0, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_ticket_wait(NULL, &ticket, 0, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_ticket_wait_many(device, NULL, 2, VYRE_WAIT_ALL, 0, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_ticket_drop(device, NULL, &diag), VYRE_OK);
    engine_program p = engine_build(device, gate_add_text);
    sum s;
    sum_init(&s, 1);
    assert_int_equal(vyre_dispatch_async(p.pipeline, &s.params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatch_async(NULL, &s.params, &ticket, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    s.params.binding_count = 1;
    ticket.bits = 5;
    assert_int_equal(vyre_dispatch_async(p.pipeline, &s.params, &ticket, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_true(ticket.bits == 0);
    assert_int_equal(s.done_count, 0);
    engine_release(&p);
}

static void test_ticket_of_another_device_is_refused(void **state)
{
    (void)state;
    NEED_OPEN(device);
    vyre_device *other = gate_open_device(&(gate_wishes){.validate = 0});
    engine_program p = engine_build(device, gate_add_text);
    engine_program q = engine_build(other, gate_add_text);
    sum s, t;
    sum_init(&s, 1);
    sum_init(&t, 2);
    vyre_ticket ticket = gate_start(&p, &s.params), foreign = gate_start(&q, &t.params);
    assert_true(ticket.bits != foreign.bits);
    expect_stale(device, foreign);
    expect_stale(other, ticket);
    wait_for(&ticket, NULL);
    vyre_diag diag;
    assert_int_equal(vyre_ticket_wait(other, &foreign, UINT64_MAX, NULL, &diag), VYRE_OK);
    expect_result(&s);
    expect_result(&t);
    engine_release(&p);
    engine_release(&q);
    vyre_device_destroy(&other);
}

/* ---- Several --------------------------------------------------------------------------------- */

static void test_tickets_of_several_pipelines_are_in_flight_at_once(void **state)
{
    (void)state;
    NEED_OPEN(device);
    enum { PIPELINES = 3, EACH = 4, ALL = PIPELINES * EACH };
    engine_program programs[PIPELINES];
    sum sums[ALL];
    vyre_ticket tickets[ALL];
    for (uint32_t i = 0; i < PIPELINES; i++) {
        programs[i] = engine_build(device, gate_add_text);
    }
    for (uint32_t i = 0; i < ALL; i++) {
        sum_init(&sums[i], 100 * i);
        sums[i].params.sync = i == 0 ? gate_close(&door) : NULL;
        tickets[i] = gate_start(&programs[i % PIPELINES], &sums[i].params);
        for (uint32_t j = 0; j < i; j++) {
            assert_true(tickets[i].bits != tickets[j].bits);
        }
    }
    for (uint32_t i = 0; i < ALL; i++) {
        assert_int_equal(is_done(tickets[i]), 0);
    }
    assert_int_equal(counters().instances, ALL);
    gate_open(&door);
    for (uint32_t i = ALL; i-- > 0;) {
        wait_for(&tickets[i], NULL);
        expect_result(&sums[i]);
        assert_int_equal(sums[i].done_count, 1);
        if (i > 0) {
            expect_untouched(&sums[i - 1]);
        }
    }
    for (uint32_t i = 0; i < PIPELINES; i++) {
        engine_release(&programs[i]);
    }
}

static void test_tickets_are_waited_for_together(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    sum sums[3];
    vyre_ticket tickets[5] = {{0}}; /* the ends have none */
    for (uint32_t i = 0; i < 3; i++) {
        sum_init(&sums[i], i);
        sums[i].params.sync = i == 1 ? gate_close(&door) : NULL;
        tickets[i + 1] = gate_start(&p, &sums[i].params);
    }
    uint32_t index = 99;
    vyre_diag diag;
    assert_int_equal(
        vyre_ticket_wait_many(device, tickets, 5, VYRE_WAIT_ANY, UINT64_MAX, &index, &diag),
        VYRE_OK);
    assert_int_equal(index, 1);
    expect_untouched(&sums[1]);
    static const uint64_t times[] = {0, 3000000};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            vyre_ticket_wait_many(device, tickets, 5, VYRE_WAIT_ALL, times[i], &index, &diag),
            VYRE_ERROR_TIMEOUT);
        assert_int_equal(
            vyre_ticket_wait_many(device, tickets + 2, 2, VYRE_WAIT_ANY, times[i], &index, &diag),
            VYRE_ERROR_TIMEOUT);
    }
    gate_open(&door);
    assert_int_equal(
        vyre_ticket_wait_many(device, tickets + 2, 2, VYRE_WAIT_ANY, UINT64_MAX, &index, &diag),
        VYRE_OK);
    assert_in_range(index, 0, 1);
    assert_int_equal(
        vyre_ticket_wait_many(device, tickets, 5, VYRE_WAIT_ALL, UINT64_MAX, &index, &diag),
        VYRE_OK);
    assert_int_equal(index, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(is_done(tickets[i + 1]), 1); /* none was used up */
        assert_int_equal(vyre_ticket_wait(device, &tickets[i + 1], 0, NULL, &diag), VYRE_OK);
        expect_result(&sums[i]);
        assert_int_equal(sums[i].done_count, 1);
    }
    assert_int_equal(vyre_ticket_wait_many(device, tickets, 5, VYRE_WAIT_ALL, 0, NULL, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_ticket_wait_many(device, NULL, 0, VYRE_WAIT_ANY, 0, NULL, &diag),
                     VYRE_OK);
    engine_release(&p);
}

/* ---- Given up -------------------------------------------------------------------------------- */

static void test_ticket_that_is_dropped_goes_on_unseen(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    sum s;
    sum_init(&s, 3);
    uint32_t zero[SUM_COUNT] = {0};
    vyre_buffer target = engine_buffer(device, sizeof s.y, zero);
    s.bindings[1] = engine_resident(target, 0, SUM_COUNT);
    s.bindings[1].out = s.y;
    s.params.sync = gate_close(&door);
    vyre_ticket ticket = gate_start(&p, &s.params), copy = ticket;
    vyre_diag diag;
    assert_int_equal(vyre_ticket_drop(device, &ticket, &diag), VYRE_OK);
    assert_true(ticket.bits == 0);
    expect_stale(device, copy);
    assert_int_equal(counters().parked, 1);
    assert_int_equal(counters().parked_alive, 1);
    assert_int_equal(vyre_buffer_destroy(device, &target, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(s.done_count, 0);
    gate_open(&door);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(counters().parked, 1);
    assert_int_equal(counters().parked_alive, 0);
    assert_int_equal(s.done_count, 1);
    assert_int_equal(s.done_result, VYRE_OK);
    assert_true(s.done_ticket.bits == copy.bits);
    expect_untouched(&s);
    assert_int_equal(vyre_buffer_download(device, target, 0, s.y, sizeof s.y, &diag), VYRE_OK);
    expect_result(&s); /* it was run */
    assert_int_equal(vyre_buffer_destroy(device, &target, &diag), VYRE_OK);
    engine_release(&p);
}

static void test_ticket_that_is_dropped_submits_no_other_pass(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    countdown c;
    sum s = {.done_count = 0};
    countdown_init(&c, 1000);
    c.params.sync = gate_close(&door);
    c.params.done = sum_note_done;
    c.params.done_user = &s;
    vyre_ticket ticket = gate_start(&p, &c.params);
    uint64_t submissions = counters().submissions;
    vyre_diag diag;
    assert_int_equal(vyre_ticket_drop(device, &ticket, &diag), VYRE_OK);
    gate_open(&door);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(counters().submissions, submissions);
    assert_int_equal(counters().parked_alive, 0);
    assert_int_equal(s.done_count, 1);
    assert_int_equal(s.done_result, VYRE_ERROR_INVALID_ARGUMENT); /* what its ticket would give */
    assert_int_equal(c.a[0], 1000);
    /* The pipeline is as good as before. */
    countdown_init(&c, 20);
    ticket = gate_start(&p, &c.params);
    vyre_report report;
    wait_for(&ticket, &report);
    assert_int_equal(report.passes, 21);
    assert_int_equal(c.a[1], 21);
    engine_release(&p);
}

static void test_dispatch_that_times_out_is_parked(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    sum s;
    sum_init(&s, 3);
    s.params.sync = gate_close(&door);
    s.params.timeout_ns = 1000000;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(counters().parked_alive, 1);
    assert_int_equal(vyre_device_wait(device, 1000, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(counters().parked_alive, 1);
    gate_open(&door);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(counters().parked_alive, 0);
    assert_int_equal(s.done_count, 1);
    expect_untouched(&s);
    engine_release(&p);
}

static void test_wait_that_fails_gives_the_run_up(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    sum s;
    sum_init(&s, 5);
    s.params.sync = gate_close(&door);
    vyre_ticket ticket = gate_start(&p, &s.params), copy = ticket;
    layer.fail_only = "vkWaitSemaphores";
    layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
    layer.fail_at = layer_fallible_calls() + 1;
    vyre_diag diag;
    assert_int_equal(vyre_ticket_wait(device, &ticket, UINT64_MAX, NULL, &diag),
                     VYRE_ERROR_OUT_OF_HOST_MEMORY);
    assert_true(ticket.bits == 0);
    layer.fail_only = NULL;
    layer.fail_at = 0;
    expect_stale(device, copy);
    assert_int_equal(counters().parked_alive, 1);
    assert_int_equal(s.done_count, 0);
    gate_open(&door);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(counters().parked_alive, 0);
    assert_int_equal(s.done_count, 1);
    expect_untouched(&s);
    s.params.sync = NULL;
    assert_int_equal(vyre_dispatch(p.pipeline, &s.params, NULL, &diag), VYRE_OK);
    expect_result(&s);
    engine_release(&p);
}

/* ---- Fixpoints ------------------------------------------------------------------------------- */

static void test_until_stands_still_while_nobody_polls(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    countdown c;
    countdown_init(&c, 50);
    uint64_t before = counters().submissions;
    vyre_ticket ticket = gate_start(&p, &c.params);
    vyre_diag diag;
    vyre_semaphore_point point;
    assert_int_equal(vyre_ticket_export(device, ticket, &point, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(counters().submissions, before + 1);
    /* It goes on as it is polled, and the outputs come with the wait. */
    uint32_t polls = 0;
    while (!is_done(ticket)) {
        polls++;
        assert_int_equal(c.a[0], 50);
        assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    }
    assert_in_range(polls, 5, 8); /* chunks of 1 and 4, then two of 4, 8 or 16 at once */
    assert_int_equal(vyre_ticket_export(device, ticket, &point, &diag), VYRE_OK);
    assert_true(point.semaphore == device->timeline && point.value > 0);
    vyre_report report;
    assert_int_equal(vyre_ticket_wait(device, &ticket, 0, &report, &diag), VYRE_OK);
    assert_int_equal(report.passes, 51);
    assert_int_equal(c.a[0], 0);
    assert_int_equal(c.a[1], 51);
    assert_int_equal(report.submissions, counters().submissions - before);
    engine_release(&p);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Written by the device's thread. */
static atomic_uint driven_count, driven_result;

static void note_driven(void *user, vyre_ticket ticket, vyre_result result)
{
    (void)user;
    (void)ticket;
    atomic_store(&driven_result, (unsigned)result);
    atomic_fetch_add(&driven_count, 1);
}

static void await_driven(uint32_t count)
{
    for (int i = 0; i < 60000 && atomic_load(&driven_count) < count; i++) {
        nap();
    }
    assert_int_equal(atomic_load(&driven_count), count);
}

static void test_driver_thread_ends_what_nobody_polls(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    atomic_store(&driven_count, 0);
    countdown c[3];
    vyre_ticket tickets[3];
    for (uint32_t i = 0; i < 3; i++) {
        countdown_init(&c[i], 30 * i + 7);
        c[i].params.done = note_driven;
        tickets[i] = gate_start(&p, &c[i].params);
    }
    await_driven(3);
    assert_int_equal(atomic_load(&driven_result), VYRE_OK);
    for (uint32_t i = 0; i < 3; i++) {
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(is_done(tickets[i]), 1);
        assert_int_equal(vyre_ticket_wait(device, &tickets[i], 0, &report, &diag), VYRE_OK);
        assert_int_equal(report.passes, 30 * i + 8);
        assert_int_equal(c[i].a[1], 30 * i + 8);
    }
    assert_int_equal(atomic_load(&driven_count), 3);
    engine_release(&p);
}

static void test_driver_thread_frees_what_was_dropped(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    atomic_store(&driven_count, 0);
    countdown c;
    countdown_init(&c, 100);
    c.params.sync = gate_close(&door);
    c.params.done = note_driven;
    vyre_ticket ticket = gate_start(&p, &c.params);
    vyre_diag diag;
    assert_int_equal(vyre_ticket_drop(device, &ticket, &diag), VYRE_OK);
    gate_open(&door);
    await_driven(1);
    for (int i = 0; i < 60000 && counters().parked_alive; i++) {
        nap();
    }
    assert_int_equal(counters().parked_alive, 0);
    assert_int_equal(c.a[0], 100);
    engine_release(&p);
}

static void test_driver_thread_leaves_other_callers_alone(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_countdown_text);
    atomic_store(&driven_count, 0);
    for (uint32_t i = 0; i < 30; i++) {
        countdown c;
        countdown_init(&c, i);
        c.params.done = note_driven;
        vyre_ticket ticket = gate_start(&p, &c.params);
        vyre_report report;
        wait_for(&ticket, &report);
        assert_int_equal(report.passes, i + 1);
        assert_int_equal(c.a[1], i + 1);
        assert_int_equal(atomic_load(&driven_count), i + 1);
    }
    engine_release(&p);
}

/* ---- Destruction with work in flight --------------------------------------------------------- */

static void *open_later(void *unused)
{
    nap();
    gate_open(&door);
    return unused;
}

static void test_pipeline_is_destroyed_with_runs_in_flight(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, gate_add_text);
    engine_program q = engine_build(device, gate_countdown_text);
    sum s[3], t = {.done_count = 0};
    countdown c;
    vyre_ticket tickets[4];
    for (uint32_t i = 0; i < 3; i++) {
        sum_init(&s[i], i);
        s[i].params.sync = i == 0 ? gate_close(&door) : NULL;
        tickets[i] = gate_start(&p, &s[i].params);
    }
    countdown_init(&c, 1000);
    c.params.done = sum_note_done;
    c.params.done_user = &t;
    tickets[3] = gate_start(&q, &c.params);
    vyre_diag diag;
    vyre_ticket dropped = tickets[2];
    assert_int_equal(vyre_ticket_drop(device, &dropped, &diag), VYRE_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_later, NULL), 0);
    engine_release(&p);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint32_t i = 0; i < 3; i++) {
        expect_stale(device, tickets[i]);
        assert_int_equal(s[i].done_count, 1);
    }
    expect_untouched(&s[2]);
    assert_int_equal(counters().parked_alive, 0);
    assert_int_equal(t.done_count, 0);
    engine_release(&q);
    expect_stale(device, tickets[3]);
    assert_int_equal(t.done_count, 1);
    assert_int_equal(t.done_result, VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(c.a[0], 1000); /* it was not run to its end */
}

int main(void)
{
#define T(test, open) cmocka_unit_test_setup_teardown(test, open, close_device)
#define BOTH(test)    T(test, open_validated), T(test, open_bare)
    const struct CMUnitTest tests[] = {
        BOTH(test_ticket_lives_until_it_was_waited_for),
        BOTH(test_ticket_waits_again_after_a_timeout),
        T(test_ticket_calls_refuse_what_is_no_ticket, open_bare),
        T(test_ticket_of_another_device_is_refused, open_bare),
        BOTH(test_tickets_of_several_pipelines_are_in_flight_at_once),
        cmocka_unit_test_setup_teardown(test_tickets_are_waited_for_together, open_fake,
                                        close_fake),
        BOTH(test_ticket_that_is_dropped_goes_on_unseen),
        BOTH(test_ticket_that_is_dropped_submits_no_other_pass),
        T(test_dispatch_that_times_out_is_parked, open_bare),
        T(test_wait_that_fails_gives_the_run_up, open_bare),
        BOTH(test_until_stands_still_while_nobody_polls),
        T(test_driver_thread_ends_what_nobody_polls, open_driven),
        T(test_driver_thread_frees_what_was_dropped, open_driven),
        T(test_driver_thread_leaves_other_callers_alone, open_driven),
        BOTH(test_pipeline_is_destroyed_with_runs_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
