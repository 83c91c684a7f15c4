/* The contract's rows F: what is in flight stays whole, whoever frees, waits, drops or fails. */
#include "engine/device/device.h"
#include "engine/memory/buffer.h"
#include "fake_machine.h"
#include "script.h"
#include "tests/support/engine_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int reset(void **state)
{
    (void)state;
    script_reset();
    return 0;
}

static int nothing_alive(void **state)
{
    (void)state;
    script = (script_settings){0};
    assert_int_equal(layer_alive(), 0);
    return 0;
}

static vyre_device *open_scripted(int validate)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = script_entry();
    params.validation = validate && engine_validates() ? VYRE_VALIDATION_ON : VYRE_VALIDATION_OFF;
    return engine_open_with(&params);
}

static const char add_text[] = "program adds\nworkgroup 1\ninout a : u32[2]\n"
                               "kernel { a[0] = a[0] + 1 }\n";

/* Many passes: chunks of 4, 8, 8, ... of them, from the third one on with the next one ahead. */
static const char long_text[] = "program counts\nworkgroup 1\nfixpoint 1000 until f\n"
                                "inout a : u32[2]\nscratch f : u32[1]\n"
                                "kernel { a[0] = a[0] + 1  if a[0] < 30 { f[0] = 1 } }\n";

static vyre_ticket start(const engine_program *p, const vyre_binding *bindings, uint32_t count)
{
    vyre_dispatch_params params = engine_params(bindings, count);
    vyre_ticket ticket;
    vyre_diag diag;
    if (vyre_dispatch_async(p->pipeline, &params, &ticket, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return ticket;
}

static void finish(vyre_device *device, vyre_ticket ticket)
{
    vyre_diag diag;
    if (vyre_ticket_wait(device, &ticket, UINT64_MAX, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

/* From now on nothing that is submitted is seen to end. */
static void hold(vyre_device *device)
{
    script.reached_most = vy_queue_submitted(device);
}

/* ---- Handles --------------------------------------------------------------------------------- */

static void test_buffers_in_flight_are_marked_until_the_end(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, add_text);
    uint32_t words[2] = {5, 6};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words), stale = buffer;
    vyre_binding bindings[] = {engine_resident(buffer, 0, 2)};
    vyre_diag diag;
    hold(device);
    vyre_ticket ticket = start(&p, bindings, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
        assert_non_null(strstr(diag.message, "Fix: "));
        assert_int_equal(buffer.bits, stale.bits); /* still the caller's */
    }
    script.reached_most = 0;
    finish(device, ticket);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(words[0], 6);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    assert_int_equal(buffer.bits, 0);
    assert_int_equal(vyre_buffer_destroy(device, &stale, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    engine_release(&p);
    engine_close(&device);
}

static void test_marks_are_set_before_anything_of_a_buffer_is_known(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(0);
    vyre_buffer buffer = engine_buffer(device, 64, NULL);
    vyre_diag diag;
    /* One call gives the VkBuffer and pins it: there is no other way to get it. */
    vy_resident first, second;
    assert_int_equal(vy_resident_acquire(device, buffer, "it", &first, &diag), VYRE_OK);
    assert_int_equal(vy_resident_acquire(device, buffer, "it", &second, &diag), VYRE_OK);
    assert_true(first.buffer && first.buffer == second.buffer);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    vy_resident_release(device, &first, 0);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    vy_resident_release(device, &second, 0);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    vyre_device_destroy(&device);
}

static void test_handles_of_a_slot_used_again_are_stale(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(0);
    engine_program p = engine_build(device, add_text);
    vyre_buffer old = engine_buffer(device, 8, NULL), stale = old;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &old, &diag), VYRE_OK);
    uint32_t words[2] = {1, 2};
    vyre_buffer next = engine_buffer(device, 8, words);
    assert_int_equal(next.bits & 0xffffff, stale.bits & 0xffffff); /* the same slot */
    assert_int_not_equal(next.bits, stale.bits);
    vyre_binding bindings[] = {engine_resident(stale, 0, 2)};
    vyre_dispatch_params params = engine_params(bindings, 1);
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "was destroyed"));
    assert_int_equal(diag.binding, 0);
    assert_int_equal(vyre_buffer_upload(device, stale, 0, words, 8, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_download(device, next, 0, words, 8, &diag), VYRE_OK);
    assert_int_equal(words[0], 1);
    assert_int_equal(vyre_buffer_destroy(device, &next, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
}

static void test_handles_of_another_device_are_foreign(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *one = open_scripted(0), *other = open_scripted(0);
    engine_program p = engine_build(one, add_text);
    vyre_buffer foreign = engine_buffer(other, 8, NULL), own = engine_buffer(one, 8, NULL);
    /* Same slot, same generation: the owner alone tells them apart. */
    assert_int_equal(foreign.bits & 0xffffffffffff, own.bits & 0xffffffffffff);
    vyre_binding bindings[] = {engine_resident(foreign, 0, 2)};
    vyre_dispatch_params params = engine_params(bindings, 1);
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "another device"));
    assert_int_equal(vyre_buffer_fill(one, foreign, 0, 8, 1, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_buffer_destroy(one, &foreign, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    bindings[0] = engine_resident(own, 0, 2);
    vyre_ticket ticket = start(&p, bindings, 1);
    int is_done = 1;
    assert_int_equal(vyre_ticket_poll(other, ticket, &is_done, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(is_done, 0);
    finish(one, ticket);
    assert_int_equal(vyre_buffer_destroy(other, &foreign, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_destroy(one, &own, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&one);
    vyre_device_destroy(&other);
}

/* ---- Leases ---------------------------------------------------------------------------------- */

static void test_each_run_in_flight_has_an_instance_of_its_own(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, add_text);
    uint32_t words[3][2] = {{10, 0}, {20, 0}, {30, 0}};
    vyre_ticket tickets[3];
    hold(device);
    for (int i = 0; i < 3; i++) {
        vyre_binding bindings[] = {engine_host_inout(words[i], 2)};
        tickets[i] = start(&p, bindings, 1);
    }
    vyre_device_counters c = engine_counters(device);
    assert_int_equal(c.instances, 3);
    assert_int_equal(c.instance_misses, 1);
    assert_int_equal(c.instance_forks, 2);
    assert_int_equal(c.instance_hits, 0);
    script.reached_most = 0;
    for (int i = 2; i >= 0; i--) {
        finish(device, tickets[i]);
        assert_int_equal(words[i][0], 10 * (i + 1) + 1);
    }
    vyre_binding bindings[] = {engine_host_inout(words[0], 2)};
    finish(device, start(&p, bindings, 1));
    c = engine_counters(device);
    assert_int_equal(c.instances, 3);
    assert_int_equal(c.instance_hits, 1);
    assert_int_equal(c.recordings, 3);
    engine_release(&p);
    assert_int_equal(engine_counters(device).instances, 0);
    engine_close(&device);
}

static void test_tickets_are_used_up_once(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(0);
    engine_program p = engine_build(device, add_text);
    uint32_t words[2] = {0, 0};
    vyre_binding bindings[] = {engine_host_inout(words, 2)};
    for (int way = 0; way < 2; way++) {
        vyre_ticket ticket = start(&p, bindings, 1), copy = ticket;
        vyre_diag diag;
        int is_done = 0;
        if (way == 0) {
            assert_int_equal(vyre_ticket_wait(device, &ticket, UINT64_MAX, NULL, &diag), VYRE_OK);
        } else {
            assert_int_equal(vyre_ticket_drop(device, &ticket, &diag), VYRE_OK);
        }
        assert_int_equal(ticket.bits, 0);
        vyre_ticket again = copy;
        assert_int_equal(vyre_ticket_wait(device, &again, UINT64_MAX, NULL, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "Fix: "));
        again = copy;
        assert_int_equal(vyre_ticket_drop(device, &again, &diag), VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(vyre_ticket_poll(device, copy, &is_done, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void test_first_submission_that_fails_leaves_nothing_in_flight(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, add_text);
    uint32_t words[2] = {3, 4}, borrowed[2] = {7, 8};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding resident[] = {engine_resident(buffer, 0, 2)};
    vyre_binding host[] = {engine_host_inout(borrowed, 2)};
    vyre_diag diag;
    for (int i = 0; i < 2; i++) {
        vyre_dispatch_params params = engine_params(i ? host : resident, 1);
        script.fail_submission = script_saw.submissions + 1;
        script.submission = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                         VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        assert_int_equal(diag.vk_result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_non_null(strstr(diag.message, "vkQueueSubmit"));
    }
    assert_int_equal(borrowed[0], 7);
    assert_int_equal(engine_counters(device).parked, 0);
    (void)engine_run(&p, resident, 1, NULL, 0, 1, 0);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(words[0], 4);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    engine_close(&device);
}

static void test_later_submission_that_fails_waits_then_releases(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, long_text);
    uint32_t words[2] = {0, 0}, borrowed[2] = {0, 9};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding resident[] = {engine_resident(buffer, 0, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_binding host[] = {engine_host_inout(borrowed, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_diag diag;
    for (int i = 0; i < 2; i++) {
        vyre_dispatch_params params = engine_params(i ? host : resident, 2);
        script.fail_submission = script_saw.submissions + 2;
        script.submission = VK_ERROR_OUT_OF_HOST_MEMORY;
        assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                         VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(diag.vk_result, VK_ERROR_OUT_OF_HOST_MEMORY);
        /* The chunk that was submitted has ended, or this would be BUSY. */
        assert_true(vy_queue_seen(device) == vy_queue_submitted(device));
    }
    assert_int_equal(borrowed[0], 0);
    assert_int_equal(engine_counters(device).parked, 0);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(words[0], 2); /* passes of the chunk that ran */
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    (void)engine_run(&p, host, 2, NULL, 0, 1, 0);
    assert_int_equal(borrowed[0], 30);
    engine_release(&p);
    engine_close(&device);
}

static void test_submission_and_wait_that_fail_park_and_tell_the_first(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, long_text);
    uint32_t words[2] = {0, 0}, borrowed[2] = {0, 0};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding resident[] = {engine_resident(buffer, 0, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_binding host[] = {engine_host_inout(borrowed, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params = engine_params(resident, 2);
    vyre_diag diag;
    /* The fourth chunk ends; the fifth does not, and waiting for it fails. */
    script.reached_most = vy_queue_submitted(device) + 4;
    script.wait = VK_ERROR_OUT_OF_HOST_MEMORY;
    script.fail_submission = script_saw.submissions + 5;
    script.submission = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_int_equal(diag.vk_result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_non_null(strstr(diag.message, "vkQueueSubmit"));
    vyre_device_counters c = engine_counters(device);
    assert_int_equal(c.parked, 1);
    assert_int_equal(c.parked_alive, 1);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    /* What it held is not used again: the next run gets another instance. */
    vyre_ticket ticket = start(&p, host, 2);
    assert_int_equal(engine_counters(device).instances, 2);
    assert_int_equal(engine_counters(device).instance_hits, 0);
    assert_int_equal(engine_counters(device).parked_alive, 1);
    script.reached_most = 0;
    finish(device, ticket);
    assert_int_equal(borrowed[0], 30);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    (void)engine_run(&p, host, 2, NULL, 0, 1, 0); /* looks at what was given up */
    c = engine_counters(device);
    assert_int_equal(c.parked, 1);
    assert_int_equal(c.parked_alive, 0);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    engine_close(&device);
}

static void test_wait_that_fails_parks_memory_and_timestamps(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, add_text);
    uint32_t words[2] = {0, 0};
    vyre_binding host[] = {engine_host_inout(words, 2)};
    vyre_dispatch_params params = engine_params(host, 1);
    vyre_diag diag;
    uint32_t pools = script_saw.query_pools;
    (void)engine_run(&p, host, 1, NULL, 0, 1, 0);
    (void)engine_run(&p, host, 1, NULL, 0, 1, 0);
    assert_int_equal(script_saw.query_pools, pools + 1); /* recycled after success */
    assert_int_equal(words[0], 2);
    script.reached_most = vy_queue_submitted(device);
    script.wait = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(words[0], 2); /* nothing is read back that may still be written */
    assert_int_equal(engine_counters(device).parked_alive, 1);
    vyre_ticket ticket = start(&p, host, 1);
    assert_int_equal(script_saw.query_pools, pools + 2); /* the parked one's is not recycled */
    script.reached_most = 0;
    finish(device, ticket);
    assert_int_equal(words[0], 3);
    engine_release(&p); /* waits for what is parked */
    assert_int_equal(engine_counters(device).parked_alive, 0);
    engine_close(&device);
}

static void test_readback_that_fails_leaves_nothing_in_flight(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_coherent_memory = true;
    vyre_device *device = open_scripted(0);
    engine_program p = engine_build(device, add_text);
    uint32_t words[2] = {1, 0}, seen[2] = {40, 41};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 2)};
    bindings[0].out = seen;
    vyre_dispatch_params params = engine_params(bindings, 1);
    vyre_diag diag;
    (void)engine_run(&p, bindings, 1, NULL, 0, 1, 0);
    assert_int_equal(seen[0], 2);
    seen[0] = 40;
    layer.fail_only = "vkInvalidateMappedMemoryRanges";
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    layer.fail_at = layer_fallible_calls() + 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    layer.fail_at = 0;
    layer.fail_only = NULL;
    assert_string_equal(layer_failed(), "vkInvalidateMappedMemoryRanges");
    assert_int_equal(seen[0], 40);
    assert_int_equal(engine_counters(device).parked, 0); /* the run itself has ended */
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(words[0], 3);
    (void)engine_run(&p, bindings, 1, NULL, 0, 1, 0);
    assert_int_equal(seen[0], 4);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- Later and at once ----------------------------------------------------------------------- */

static void test_async_returns_before_the_work_has_ended(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, add_text);
    uint32_t words[2] = {8, 0};
    vyre_binding bindings[] = {engine_host_inout(words, 2)};
    vyre_diag diag;
    hold(device);
    uint64_t waits = engine_counters(device).waits;
    vyre_ticket ticket = start(&p, bindings, 1);
    assert_int_equal(engine_counters(device).waits, waits);
    int is_done = 1;
    assert_int_equal(vyre_ticket_poll(device, ticket, &is_done, &diag), VYRE_OK);
    assert_int_equal(is_done, 0);
    vyre_ticket kept = ticket;
    assert_int_equal(vyre_ticket_wait(device, &ticket, 0, NULL, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(ticket.bits, kept.bits); /* to be waited for again */
    assert_int_equal(words[0], 8);
    script.reached_most = 0;
    vyre_report report;
    assert_int_equal(vyre_ticket_wait(device, &ticket, UINT64_MAX, &report, &diag), VYRE_OK);
    assert_int_equal(words[0], 9);
    assert_int_equal(report.downloads, 1);
    assert_true(report.device_ns != VYRE_NS_NONE);
    engine_release(&p);
    engine_close(&device);
}

static void test_dropped_runs_release_everything_when_they_end(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, long_text);
    uint32_t words[2] = {0, 0}, borrowed[2] = {0, 0};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_diag diag;
    hold(device);
    vyre_ticket ticket = start(&p, bindings, 2);
    assert_int_equal(vyre_ticket_drop(device, &ticket, &diag), VYRE_OK);
    assert_int_equal(engine_counters(device).parked_alive, 1);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    script.reached_most = 0;
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    vyre_binding host[] = {engine_host_inout(borrowed, 2), {.kind = VYRE_BINDING_NONE}};
    (void)engine_run(&p, host, 2, NULL, 0, 1, 0);
    assert_int_equal(borrowed[0], 30);
    assert_int_equal(engine_counters(device).parked_alive, 0);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(words[0], 2); /* what had been submitted; no later chunk was */
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    engine_close(&device);
}

static void test_teardown_is_in_order_whatever_is_parked(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = open_scripted(1);
    engine_program p = engine_build(device, add_text), q = engine_build(device, long_text);
    uint32_t words[2] = {0, 0};
    vyre_buffer buffer = engine_buffer(device, sizeof words, words);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 2), {.kind = VYRE_BINDING_NONE}};
    vyre_diag diag;
    hold(device);
    vyre_ticket dropped = start(&p, bindings, 1), left = start(&q, bindings, 2);
    assert_int_equal(vyre_ticket_drop(device, &dropped, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_release(device, &buffer, &diag), VYRE_OK);
    script.reached_most = 0;
    assert_int_not_equal(left.bits, 0);
    engine_release(&q);
    engine_release(&p);
    engine_close(&device); /* the validation layer knows what is destroyed while it is in use */
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct freeing {
    vyre_device *device;
    atomic_uint_least64_t bits; /* of the buffer that the other thread uses */
    atomic_bool is_over;
    uint32_t freed, busy, stale, wrong;
} freeing;

static void *free_in_a_loop(void *argument)
{
    freeing *f = argument;
    while (!atomic_load(&f->is_over)) {
        vyre_buffer buffer = {atomic_load(&f->bits)};
        vyre_diag diag;
        switch (vyre_buffer_destroy(f->device, &buffer, &diag)) {
        case VYRE_OK:
            f->freed++;
            break;
        case VYRE_ERROR_BUSY:
            f->busy++;
            break;
        case VYRE_ERROR_INVALID_ARGUMENT:
            f->stale++;
            break;
        default:
            f->wrong++;
            break;
        }
    }
    return NULL;
}

/* Every run either has the whole buffer to itself until its end, or is refused. */
static void free_beside_dispatches(vyre_vulkan_entry entry)
{
    vyre_device_params device_params;
    vyre_device_params_init(&device_params);
    device_params.get_instance_proc_addr = entry;
    device_params.validation = VYRE_VALIDATION_OFF;
    freeing f = {.device = engine_open_with(&device_params)};
    engine_program p = engine_build(f.device, add_text);
    pthread_t thread;
    uint32_t made = 0, ran = 0, refused = 0;
    bool has_thread = false;
    while (made < 100) {
        uint32_t words[2] = {made, 0}, expected = made;
        vyre_buffer buffer = engine_buffer(f.device, sizeof words, words);
        atomic_store(&f.bits, buffer.bits);
        made++;
        if (!has_thread) {
            has_thread = pthread_create(&thread, NULL, free_in_a_loop, &f) == 0;
            assert_true(has_thread);
        }
        for (vyre_result code = VYRE_OK; code == VYRE_OK;) {
            uint32_t seen[2] = {0, 0};
            vyre_binding bindings[] = {engine_resident(buffer, 0, 2)};
            bindings[0].out = seen;
            vyre_dispatch_params params = engine_params(bindings, 1);
            vyre_diag diag;
            code = vyre_dispatch(p.pipeline, &params, NULL, &diag);
            if (code == VYRE_OK) {
                ran++;
                assert_int_equal(seen[0], ++expected);
            } else {
                assert_int_equal(code, VYRE_ERROR_INVALID_ARGUMENT);
                assert_non_null(strstr(diag.message, "was destroyed"));
                refused++;
            }
        }
    }
    atomic_store(&f.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(f.freed, made);
    assert_int_equal(refused, made);
    assert_int_equal(f.wrong, 0);
    assert_int_equal(engine_counters(f.device).buffers, 0);
    print_message("%u runs, %u times busy, %u stale\n", ran, f.busy, f.stale);
    engine_release(&p);
    vyre_device_destroy(&f.device);
}

static void test_freeing_beside_dispatching_is_refused_or_seen(void **state)
{
    (void)state;
    NEED_DEVICE();
    free_beside_dispatches(NULL); /* without the layer, which knows one thread only */
}

/* The same over the tests' own Vulkan, of which ThreadSanitizer sees all. */
static void test_freeing_beside_dispatching_races_with_nothing(void **state)
{
    (void)state;
    fake_machine_reset();
    free_beside_dispatches(fake_entry());
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, reset, nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_buffers_in_flight_are_marked_until_the_end),
        T(test_marks_are_set_before_anything_of_a_buffer_is_known),
        T(test_handles_of_a_slot_used_again_are_stale),
        T(test_handles_of_another_device_are_foreign),
        T(test_each_run_in_flight_has_an_instance_of_its_own),
        T(test_tickets_are_used_up_once),
        T(test_first_submission_that_fails_leaves_nothing_in_flight),
        T(test_later_submission_that_fails_waits_then_releases),
        T(test_submission_and_wait_that_fail_park_and_tell_the_first),
        T(test_wait_that_fails_parks_memory_and_timestamps),
        T(test_readback_that_fails_leaves_nothing_in_flight),
        T(test_async_returns_before_the_work_has_ended),
        T(test_dropped_runs_release_everything_when_they_end),
        T(test_teardown_is_in_order_whatever_is_parked),
        T(test_freeing_beside_dispatching_is_refused_or_seen),
        T(test_freeing_beside_dispatching_races_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
