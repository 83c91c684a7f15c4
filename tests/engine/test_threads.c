/* Threads that share a device, over the tests' own Vulkan: the same under ThreadSanitizer
 * (-DVYRE_SANITIZE=thread), which then sees every access. */
#include "engine/device/device.h"
#include "tests/engine/fake_machine.h"
#include "tests/support/engine_run.h"
#include "tests/support/host_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define THREADS 4u
#define ROUNDS  30u

static int reset(void **state)
{
    (void)state;
    fake_machine_reset();
    return 0;
}

static int nothing_left(void **state)
{
    (void)state;
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
    return 0;
}

static vyre_device *open_fake(void)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = fake_entry();
    params.validation = VYRE_VALIDATION_OFF;
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct worker {
    vyre_device *device;
    vyre_pipeline *pipeline;
    uint32_t number, errors;
    uint64_t value;
    vyre_result last;
} worker;

static void run_threads(worker workers[THREADS], void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].number = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, function, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void expect_no_errors(const worker workers[THREADS])
{
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].errors, 0);
    }
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void test_fake_device_is_opened_and_probed(void **state)
{
    (void)state;
    vyre_device *device = open_fake();
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_string_equal(info.name, "fake");
    assert_int_equal(info.long_loops, VYRE_ANSWER_YES);
    assert_int_equal(info.denormals, VYRE_ANSWER_YES);
    vyre_device_destroy(&device);
}

static void *open_and_close(void *argument)
{
    worker *w = argument;
    for (int round = 0; round < 3; round++) {
        vyre_device *device = open_fake();
        vyre_buffer buffer = engine_buffer(device, 64, NULL);
        uint64_t size = 0;
        vyre_diag diag;
        w->errors += vyre_buffer_query_size(device, buffer, &size, &diag) != VYRE_OK || size != 64;
        vyre_device_destroy(&device);
    }
    return NULL;
}

static void test_threads_open_devices_of_their_own(void **state)
{
    (void)state;
    worker workers[THREADS] = {{0}};
    run_threads(workers, open_and_close);
    expect_no_errors(workers);
}

/* ---- Buffers and transfers ------------------------------------------------------------------- */

static void *move_bytes(void *argument)
{
    worker *w = argument;
    uint32_t from[300], to[300];
    for (uint32_t i = 0; i < 300; i++) {
        from[i] = i * w->number;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        vyre_buffer_params params = {.size = sizeof from, .name = "moved"};
        vyre_buffer buffer;
        vyre_diag diag;
        if (vyre_buffer_create(w->device, &params, &buffer, &diag) != VYRE_OK) {
            w->errors++;
            continue;
        }
        w->errors += vyre_buffer_download(w->device, buffer, 0, to, 40, &diag) != VYRE_OK;
        w->errors += to[9] != 0;
        w->errors += vyre_buffer_upload(w->device, buffer, 0, from, sizeof from, &diag) != VYRE_OK;
        w->errors += vyre_buffer_fill(w->device, buffer, 8, 16, w->number, &diag) != VYRE_OK;
        w->errors += vyre_buffer_download(w->device, buffer, 0, to, sizeof to, &diag) != VYRE_OK;
        w->errors += to[1] != from[1] || to[2] != w->number || to[5] != w->number;
        w->errors += memcmp(to + 6, from + 6, sizeof to - 24) != 0;
        vyre_device_counters counters;
        vyre_device_get_counters(w->device, &counters);
        w->errors += counters.buffers == 0;
        w->errors += vyre_device_wait(w->device, UINT64_MAX, &diag) != VYRE_OK;
        w->errors += vyre_buffer_destroy(w->device, &buffer, &diag) != VYRE_OK;
    }
    return NULL;
}

static void test_threads_share_a_device(void **state)
{
    (void)state;
    worker workers[THREADS] = {{0}};
    vyre_device *device = open_fake();
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].device = device;
    }
    run_threads(workers, move_bytes);
    expect_no_errors(workers);
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.buffers, 0);
    assert_true(counters.submissions >= THREADS * ROUNDS * 3);
    vyre_device_destroy(&device);
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

static void *dispatch(void *argument)
{
    worker *w = argument;
    uint32_t x[20], y[20];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < 20; i++) {
            x[i] = i + round;
            y[i] = 0;
        }
        vyre_binding bindings[] = {engine_host_in(x, 20), engine_host_out(y, 20)};
        vyre_dispatch_params params;
        vyre_dispatch_params_init(&params);
        params.bindings = bindings;
        params.binding_count = 2;
        params.params = &w->number;
        params.param_count = 1;
        vyre_diag diag;
        w->errors += vyre_dispatch(w->pipeline, &params, NULL, &diag) != VYRE_OK;
        for (uint32_t i = 0; i < 20; i++) {
            w->errors += y[i] != x[i] * 3 + w->number;
        }
    }
    return NULL;
}

static void test_threads_dispatch(void **state)
{
    (void)state;
    worker workers[THREADS] = {{0}};
    engine_program programs[THREADS];
    vyre_device *device = open_fake();
    for (uint32_t i = 0; i < THREADS; i++) {
        programs[i] = engine_build(device, "program add\nworkgroup 8\ngrid over x\n"
                                           "in x : u32[]\nout y : u32[len(x)]\nparam k : u32\n"
                                           "kernel { y[gid.x] = x[gid.x] * 3 + k }\n");
        workers[i].device = device;
        workers[i].pipeline = programs[i].pipeline;
    }
    run_threads(workers, dispatch);
    expect_no_errors(workers);
    for (uint32_t i = 0; i < THREADS; i++) {
        engine_release(&programs[i]);
    }
    vyre_device_destroy(&device);
}

/* ---- Everything at once ---------------------------------------------------------------------- */

#define MIXED_THREADS 8u
#define MIXED_ROUNDS  24u

typedef struct crowd {
    vyre_device *device;
    engine_program add, countdown; /* all threads' */
    uint32_t rounds;
    atomic_uint errors, done;
} crowd;

typedef struct member {
    crowd *crowd;
    uint32_t number;
    engine_program own;
} member;

static const char add_text[] = "program add\nworkgroup 8\ngrid over x\n"
                               "in x : u32[]\nout y : u32[len(x)]\nparam k : u32\n"
                               "kernel { y[gid.x] = x[gid.x] * 3 + k }\n";

static const char countdown_text[] = "program countdown\nworkgroup 1\n"
                                     "fixpoint 1000 until changed\n"
                                     "inout a : u32[2]\nscratch changed : u32[1]\n"
                                     "kernel {\n"
                                     "  if a[0] != 0 { a[0] = a[0] - 1  changed[0] = 1 }\n"
                                     "  a[1] = a[1] + 1\n"
                                     "}\n";

static void count_done(void *user, vyre_ticket ticket, vyre_result result)
{
    (void)ticket;
    (void)result;
    atomic_fetch_add((atomic_uint *)user, 1);
}

/* The line of the first that was wrong tells more than their number. */
static void check_at(crowd *c, bool is_right, uint32_t line)
{
    unsigned none = 0;
    if (!is_right) {
        (void)atomic_compare_exchange_strong(&c->errors, &none, line);
    }
}
#define check(c, is_right) check_at(c, is_right, __LINE__)

static void crowd_sync(member *m, const engine_program *p, uint32_t round)
{
    crowd *c = m->crowd;
    uint32_t count = 1 + round % 5 * 4, x[20], y[20] = {0}, k = m->number;
    for (uint32_t i = 0; i < 20; i++) {
        x[i] = i + round;
    }
    vyre_diag diag;
    vyre_buffer_params buffer_params = {.size = sizeof y, .name = "crowd"};
    vyre_buffer buffer = {0};
    check(c, vyre_buffer_create(c->device, &buffer_params, &buffer, &diag) == VYRE_OK);
    vyre_binding bindings[] = {engine_host_in(x, count), engine_resident(buffer, 0, count)};
    bindings[1].out = y;
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 2;
    params.params = &k;
    params.param_count = 1;
    params.done = count_done;
    params.done_user = &c->done;
    check(c, vyre_dispatch(p->pipeline, &params, NULL, &diag) == VYRE_OK);
    for (uint32_t i = 0; i < 20; i++) {
        check(c, y[i] == (i < count ? x[i] * 3 + k : 0));
    }
    check(c, vyre_buffer_destroy(c->device, &buffer, &diag) == VYRE_OK);
}

static void crowd_async(member *m, uint32_t round)
{
    crowd *c = m->crowd;
    vyre_diag diag;
    uint32_t a[3][2];
    vyre_binding bindings[3][2];
    vyre_ticket tickets[3] = {{0}};
    for (uint32_t i = 0; i < 3; i++) {
        a[i][0] = (round + i) % 7;
        a[i][1] = 0;
        bindings[i][0] = engine_host_inout(a[i], 2);
        bindings[i][1] = (vyre_binding){.kind = VYRE_BINDING_NONE};
        vyre_dispatch_params params;
        vyre_dispatch_params_init(&params);
        params.bindings = bindings[i];
        params.binding_count = 2;
        params.groups[0] = 1;
        params.done = count_done;
        params.done_user = &c->done;
        check(c,
              vyre_dispatch_async(c->countdown.pipeline, &params, &tickets[i], &diag) == VYRE_OK);
    }
    check(c, vyre_ticket_drop(c->device, &tickets[1], &diag) == VYRE_OK);
    int is_done = 0;
    check(c, vyre_ticket_poll(c->device, tickets[2], &is_done, &diag) == VYRE_OK);
    vyre_wait_mode mode = round % 2 ? VYRE_WAIT_ALL : VYRE_WAIT_ANY;
    check(c,
          vyre_ticket_wait_many(c->device, tickets, 3, mode, UINT64_MAX, NULL, &diag) == VYRE_OK);
    for (uint32_t i = 0; i < 3; i += 2) {
        vyre_report report;
        check(c, vyre_ticket_wait(c->device, &tickets[i], UINT64_MAX, &report, &diag) == VYRE_OK);
        check(c, report.passes == (round + i) % 7 + 1 && a[i][1] == report.passes);
    }
    /* Dropped: nothing came back, unless the device's thread had seen the end before. */
    check(c, a[1][1] == 0 ? a[1][0] == (round + 1) % 7 : a[1][1] == (round + 1) % 7 + 1);
}

static void *join_in(void *argument)
{
    member *m = argument;
    crowd *c = m->crowd;
    for (uint32_t round = 0; round < c->rounds; round++) {
        switch ((round + m->number) % 4) {
        case 0:
            crowd_sync(m, &c->add, round);
            break;
        case 1:
            crowd_async(m, round);
            break;
        case 2:
            crowd_sync(m, &m->own, round);
            break;
        default: {
            engine_program p = engine_build(c->device, add_text);
            crowd_sync(m, &p, round);
            engine_release(&p);
            (void)vyre_device_trim(c->device);
            vyre_loss loss;
            vyre_device_get_loss(c->device, &loss);
            check(c, !loss.is_lost);
            break;
        }
        }
    }
    return NULL;
}

/* Destroys the device. */
static void run_crowd(vyre_device *device, uint32_t rounds)
{
    crowd c = {.device = device, .rounds = rounds};
    c.add = engine_build(device, add_text);
    c.countdown = engine_build(device, countdown_text);
    member members[MIXED_THREADS];
    pthread_t threads[MIXED_THREADS];
    for (uint32_t i = 0; i < MIXED_THREADS; i++) {
        members[i] = (member){&c, i, engine_build(device, add_text)};
    }
    for (uint32_t i = 0; i < MIXED_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, join_in, &members[i]), 0);
    }
    for (uint32_t i = 0; i < MIXED_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&c.errors), 0);
    for (uint32_t i = 0; i < MIXED_THREADS; i++) {
        engine_release(&members[i].own);
    }
    engine_release(&c.add);
    engine_release(&c.countdown);
    /* A quarter of the rounds had three runs, the others one: each told once. */
    assert_int_equal(atomic_load(&c.done), MIXED_THREADS * rounds / 4 * 6);
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.instances, 0);
    assert_int_equal(counters.parked_alive, 0);
    assert_int_equal(counters.buffers, 0);
    vyre_device_destroy(&device);
}

static vyre_device *open_with_thread(vyre_vulkan_entry entry, int driver_thread)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = entry;
    params.validation = VYRE_VALIDATION_OFF;
    params.driver_thread = driver_thread;
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

static void test_threads_mix_by_addresses(void **state)
{
    (void)state;
    fake.has_addresses = true;
    run_crowd(open_with_thread(fake_entry(), 0), MIXED_ROUNDS);
}

static void test_threads_mix_by_addresses_with_a_driver(void **state)
{
    (void)state;
    fake.has_addresses = true;
    run_crowd(open_with_thread(fake_entry(), 1), MIXED_ROUNDS);
}

static void test_threads_mix_by_descriptor_sets(void **state)
{
    (void)state;
    run_crowd(open_with_thread(fake_entry(), 0), MIXED_ROUNDS);
}

static void test_threads_mix_by_push_descriptors(void **state)
{
    (void)state;
    fake.extensions[0] = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    run_crowd(open_with_thread(fake_entry(), 1), MIXED_ROUNDS);
}

/* On the machine's own Vulkan, without the layer, which is for one thread. */
static void test_threads_mix_on_a_real_device(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    run_crowd(open_with_thread(NULL, 0), 40);
    run_crowd(open_with_thread(NULL, 1), 40);
}

/* One ticket and several who wait for it: one gets the result. */
typedef struct waiter {
    vyre_device *device;
    vyre_ticket ticket;
    vyre_result result;
} waiter;

static void *wait_for_ticket(void *argument)
{
    waiter *w = argument;
    vyre_diag diag;
    int is_done = 0;
    w->result = vyre_ticket_poll(w->device, w->ticket, &is_done, &diag); /* it may be stale */
    w->result = vyre_ticket_wait(w->device, &w->ticket, UINT64_MAX, NULL, &diag);
    return NULL;
}

static void test_one_of_several_waiters_gets_the_result(void **state)
{
    (void)state;
    fake.delay_us = 300;
    vyre_device *device = open_fake();
    engine_program p = engine_build(device, add_text);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t x[4] = {1, 2, 3, 4}, y[4] = {0}, k = round;
        vyre_binding bindings[] = {engine_host_in(x, 4), engine_host_out(y, 4)};
        vyre_dispatch_params params;
        vyre_dispatch_params_init(&params);
        params.bindings = bindings;
        params.binding_count = 2;
        params.params = &k;
        params.param_count = 1;
        vyre_ticket ticket;
        vyre_diag diag;
        assert_int_equal(vyre_dispatch_async(p.pipeline, &params, &ticket, &diag), VYRE_OK);
        waiter waiters[THREADS];
        pthread_t threads[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            waiters[i] = (waiter){device, ticket, VYRE_OK};
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_ticket, &waiters[i]), 0);
        }
        uint32_t got = 0;
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            got += waiters[i].result == VYRE_OK;
            assert_true(waiters[i].result == VYRE_OK ||
                        waiters[i].result == VYRE_ERROR_INVALID_ARGUMENT);
        }
        assert_int_equal(got, 1);
        assert_int_equal(y[3], 12 + k);
    }
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void *wait_for_value(void *argument)
{
    worker *w = argument;
    vyre_diag diag;
    w->errors += vy_queue_wait(w->device, w->value, UINT64_MAX, "the test", &diag) != VYRE_OK;
    w->errors += !vy_queue_is_done(w->device, w->value);
    w->errors += vy_queue_seen(w->device) < w->value;
    return NULL;
}

static void test_threads_wait_for_one_submission(void **state)
{
    (void)state;
    fake.delay_us = 3000;
    worker workers[THREADS] = {{0}};
    vyre_device *device = open_fake();
    vyre_diag diag;
    for (int round = 0; round < 5; round++) {
        uint64_t value = 0;
        vy_batch batch = {0};
        assert_int_equal(vy_queue_submit_batches(device, &batch, 1, "the test", &value, &diag),
                         VYRE_OK);
        for (uint32_t i = 0; i < THREADS; i++) {
            workers[i].device = device;
            workers[i].value = value;
        }
        run_threads(workers, wait_for_value);
        expect_no_errors(workers);
    }
    vyre_device_destroy(&device);
}

/* ---- A queue that the host uses too ---------------------------------------------------------- */

typedef struct submitter {
    host_device *host;
    uint32_t count;
} submitter;

static void *submit_nothing(void *argument)
{
    submitter *s = argument;
    PFN_vkQueueSubmit submit = (PFN_vkQueueSubmit)host_device_find(s->host, "vkQueueSubmit");
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    for (uint32_t i = 0; i < s->count; i++) {
        host_device_lock(s->host);
        (void)submit(s->host->queue, 1, &info, VK_NULL_HANDLE);
        host_device_unlock(s->host);
    }
    return NULL;
}

static void test_threads_share_a_hosts_queue(void **state)
{
    (void)state;
    host_device host;
    host_device_open(&host, fake_entry(), HOST_ENABLES_SETUP, 0);
    vyre_device *device = host_device_adopt(&host);
    worker workers[THREADS] = {{0}};
    submitter s = {&host, 2000};
    pthread_t thread;
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].device = device;
    }
    assert_int_equal(pthread_create(&thread, NULL, submit_nothing, &s), 0);
    run_threads(workers, move_bytes);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_no_errors(workers);
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(fake_submissions(), counters.submissions + s.count);
    assert_true(atomic_load(&host.locks) >= fake_submissions());
    vyre_device_destroy(&device);
    host_device_close(&host);
}

/* ---- Loss ------------------------------------------------------------------------------------ */

static void *run_until_lost(void *argument)
{
    worker *w = argument;
    uint32_t words[16] = {0};
    vyre_buffer_params params = {.size = sizeof words};
    vyre_buffer buffer;
    vyre_diag diag;
    w->last = vyre_buffer_create(w->device, &params, &buffer, &diag);
    for (int round = 0; round < 1000 && w->last == VYRE_OK; round++) {
        w->last = vyre_buffer_upload(w->device, buffer, 0, words, sizeof words, &diag);
        vyre_loss loss;
        vyre_device_get_loss(w->device, &loss);
        w->errors += loss.is_lost && !loss.program[0];
    }
    w->errors += w->last != VYRE_ERROR_DEVICE_LOST;
    w->errors += diag.vk_result != VK_ERROR_DEVICE_LOST;
    vyre_loss loss;
    vyre_device_get_loss(w->device, &loss);
    w->errors += !loss.is_lost || strstr(loss.fault, "page fault") == NULL;
    return NULL;
}

static void test_threads_see_a_loss(void **state)
{
    (void)state;
    fake.extensions[0] = VK_EXT_DEVICE_FAULT_EXTENSION_NAME;
    fake.fault = "page fault";
    fake.lose_at = 60;
    worker workers[THREADS] = {{0}};
    vyre_device *device = open_fake();
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].device = device;
    }
    run_threads(workers, run_until_lost);
    expect_no_errors(workers);
    vyre_device_destroy(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, reset, nothing_left)
    const struct CMUnitTest tests[] = {
        T(test_fake_device_is_opened_and_probed),
        T(test_threads_open_devices_of_their_own),
        T(test_threads_share_a_device),
        T(test_threads_dispatch),
        T(test_threads_mix_by_addresses),
        T(test_threads_mix_by_addresses_with_a_driver),
        T(test_threads_mix_by_descriptor_sets),
        T(test_threads_mix_by_push_descriptors),
        T(test_threads_mix_on_a_real_device),
        T(test_one_of_several_waiters_gets_the_result),
        T(test_threads_wait_for_one_submission),
        T(test_threads_share_a_hosts_queue),
        T(test_threads_see_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
