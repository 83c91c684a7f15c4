/* The queue: waits, semaphores of a host, batches, loss, the clocks, and a queue that is shared. */
#include "engine/device/commands.h"
#include "engine/memory/memory.h"
#include "tests/engine/fake_machine.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/host_device.h"
#include "tests/support/shared_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int reset(void **state)
{
    (void)state;
    layer_reset();
    fake_machine_reset();
    return 0;
}

static int nothing_left(void **state)
{
    (void)state;
    assert_int_equal(layer_alive(), 0);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
    return 0;
}

/* ---- Waiting, on the fake -------------------------------------------------------------------- */

typedef struct rig {
    host_device host;
    vyre_device *device;
} rig;

static void open_rig(rig *r)
{
    host_device_open(&r->host, fake_entry(), HOST_ENABLES_SETUP, 0);
    r->device = host_device_adopt(&r->host);
}

static void close_rig(rig *r)
{
    vyre_device_destroy(&r->device);
    host_device_close(&r->host);
}

static uint64_t submit_nothing(vyre_device *device)
{
    uint64_t value = 0;
    vy_batch batch = {0};
    vyre_diag diag;
    assert_int_equal(vy_queue_submit_batches(device, &batch, 1, "nothing", &value, &diag), VYRE_OK);
    return value;
}

static void expect_wait(vyre_device *device, uint64_t value)
{
    vyre_diag diag;
    if (vy_queue_wait(device, value, UINT64_MAX, "nothing", &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

static uint64_t waits_of(vyre_device *device)
{
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    return counters.waits;
}

static void test_wait_for_a_value_seen_asks_nobody(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    uint64_t first = submit_nothing(r.device), second = submit_nothing(r.device);
    assert_int_equal(second, first + 1);
    uint64_t waits = waits_of(r.device);
    expect_wait(r.device, second);
    assert_in_range(waits_of(r.device), waits, waits + 1); /* it may have been over already */
    waits = waits_of(r.device);
    assert_int_equal(vy_queue_seen(r.device), second);
    uint32_t looks = fake_looks(), sleeps = fake_sleeps();
    expect_wait(r.device, second);
    expect_wait(r.device, first);
    expect_wait(r.device, 0);
    assert_true(vy_queue_is_done(r.device, first));
    assert_true(vy_queue_is_done(r.device, second));
    assert_int_equal(fake_looks(), looks);
    assert_int_equal(fake_sleeps(), sleeps);
    assert_int_equal(waits_of(r.device), waits);
    close_rig(&r);
}

static void test_wait_sleeps_at_once_where_waits_are_long(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    fake.delay_us = 5000;
    atomic_store(&r.device->typical_wait_ns, 5000000);
    for (int i = 0; i < 4; i++) {
        uint64_t value = submit_nothing(r.device);
        uint32_t looks = fake_looks(), sleeps = fake_sleeps();
        expect_wait(r.device, value);
        assert_int_equal(fake_looks(), looks + 1);
        assert_int_equal(fake_sleeps(), sleeps + 1);
    }
    /* Where they were short, it looks for a while before it sleeps. */
    atomic_store(&r.device->typical_wait_ns, 10000);
    uint64_t value = submit_nothing(r.device);
    uint32_t looks = fake_looks(), sleeps = fake_sleeps();
    expect_wait(r.device, value);
    assert_true(fake_looks() > looks + 1);
    assert_int_equal(fake_sleeps(), sleeps + 1);
    assert_true(atomic_load(&r.device->typical_wait_ns) > 10000);
    close_rig(&r);
}

static void test_wait_with_a_deadline_that_passed_looks_once(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    fake.delay_us = 30000;
    uint64_t value = submit_nothing(r.device);
    uint32_t looks = fake_looks(), sleeps = fake_sleeps();
    vyre_diag diag;
    assert_int_equal(vy_queue_wait(r.device, value, 0, "nothing", &diag), VYRE_ERROR_TIMEOUT);
    assert_non_null(strstr(diag.message, "nothing has not ended"));
    assert_int_equal(fake_looks(), looks + 1);
    assert_int_equal(fake_sleeps(), sleeps);
    assert_int_equal(vy_queue_wait(r.device, value, vy_deadline(1000000), "nothing", &diag),
                     VYRE_ERROR_TIMEOUT);
    assert_int_equal(fake_sleeps(), sleeps + 1);
    assert_int_equal(vyre_device_wait(r.device, 0, &diag), VYRE_ERROR_TIMEOUT);
    expect_wait(r.device, value);
    assert_int_equal(vyre_device_wait(r.device, 0, &diag), VYRE_OK);
    close_rig(&r);
}

static void test_wait_takes_no_lock_of_the_hosts(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    uint64_t value = submit_nothing(r.device);
    uint32_t locks = atomic_load(&r.host.locks);
    expect_wait(r.device, value);
    assert_int_equal(vy_queue_submitted(r.device), value);
    assert_int_equal(atomic_load(&r.host.locks), locks);
    vyre_diag diag;
    assert_int_equal(vyre_device_wait(r.device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(atomic_load(&r.host.locks), locks);
    close_rig(&r);
}

/* ---- Loss, on the fake ----------------------------------------------------------------------- */

static void lose(vyre_device *device)
{
    vyre_diag diag;
    uint32_t word = 1;
    vyre_buffer_params params = {.size = 4};
    vyre_buffer buffer;
    fake.lose_at = fake_submissions() + 2;
    assert_int_equal(vyre_buffer_create(device, &params, &buffer, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, &word, 4, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(diag.vk_result, VK_ERROR_DEVICE_LOST);
}

static void test_loss_is_told_with_the_drivers_account(void **state)
{
    (void)state;
    fake.extensions[0] = VK_EXT_DEVICE_FAULT_EXTENSION_NAME;
    fake.fault = "the shader core stopped";
    rig r;
    open_rig(&r);
    vyre_loss loss;
    vyre_device_info info;
    vyre_device_get_info(r.device, &info);
    assert_int_equal(info.has_device_fault, 1);
    vyre_device_get_loss(r.device, &loss);
    assert_int_equal(loss.is_lost, 0);
    assert_string_equal(loss.program, "");
    assert_string_equal(loss.fault, "");
    assert_int_equal(loss.segment, VYRE_DIAG_NONE);
    lose(r.device);
    vyre_device_get_loss(r.device, &loss);
    assert_int_equal(loss.is_lost, 1);
    assert_string_equal(loss.program, "a transfer");
    assert_string_equal(loss.fault, "the shader core stopped; invalid write at 0xdead0000 (to "
                                    "within 0x1000); engine 3 (code 77, data 5)");
    assert_int_equal(loss.segment, VYRE_DIAG_NONE);
    assert_int_equal(loss.pass, VYRE_DIAG_NONE);
    /* Sticky: everything answers the same, and nothing is submitted. */
    uint32_t submissions = fake_submissions();
    vyre_diag diag;
    vyre_buffer_params params = {.size = 4};
    vyre_buffer buffer;
    assert_int_equal(vyre_buffer_create(r.device, &params, &buffer, &diag), VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(vyre_device_wait(r.device, 0, &diag), VYRE_ERROR_DEVICE_LOST);
    vy_batch batch = {0};
    uint64_t value = 0;
    assert_int_equal(vy_queue_submit_batches(r.device, &batch, 1, "it", &value, &diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(fake_submissions(), submissions);
    assert_true(vy_queue_is_done(r.device, 1000));
    char tiny[10];
    assert_true(vy_device_query_fault(r.device, tiny, sizeof tiny));
    assert_string_equal(tiny, "the shade");
    close_rig(&r);
}

static void test_loss_without_an_account_is_told(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    lose(r.device);
    vyre_loss loss;
    vyre_device_get_loss(r.device, &loss);
    assert_int_equal(loss.is_lost, 1);
    assert_string_equal(loss.fault, "");
    char text[8] = "x";
    assert_false(vy_device_query_fault(r.device, text, sizeof text));
    assert_string_equal(text, "");
    vyre_device_get_loss(NULL, &loss);
    assert_int_equal(loss.is_lost, 0);
    close_rig(&r);
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static void test_ticks_become_nanoseconds(void **state)
{
    (void)state;
    vy_snapshot s = {.info = {.timestamp_ns = 1}, .timestamp_bits = 64};
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 5, 12), 7);
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, UINT64_MAX - 1, 3), 5);
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, ((uint64_t)1 << 60) + 1),
                     ((uint64_t)1 << 60) + 1);
    s.timestamp_bits = 36;
    uint64_t top = ((uint64_t)1 << 36) - 1;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, top - 9, 5), 15);
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, top), top);
    s.timestamp_bits = 32;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0xffffffff, 0), 1);
    s.info.timestamp_ns = 52.0833333;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, 19200), 1000000);
    s.info.timestamp_ns = 0.25;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, 4000), 1000);
    s.timestamp_bits = 64;
    s.info.timestamp_ns = 1000;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, UINT64_MAX), UINT64_MAX - 1);
    s.timestamp_bits = 0;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, 5), UINT64_MAX);
    s.timestamp_bits = 64;
    s.info.timestamp_ns = 0;
    assert_int_equal(vy_snapshot_ticks_to_ns(&s, 0, 5), UINT64_MAX);
}

static void test_clocks_are_read_together(void **state)
{
    (void)state;
    uint64_t ticks = 1, ns = 1;
    rig r;
    open_rig(&r);
    assert_false(vy_device_calibrate(r.device, &ticks, &ns)); /* no extension */
    assert_int_equal(ticks, 0);
    close_rig(&r);
    fake.extensions[0] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    open_rig(&r);
    vyre_device_info info;
    vyre_device_get_info(r.device, &info);
    assert_int_equal(info.has_calibrated_timestamps, 1);
    uint64_t before = vy_clock_ns();
    assert_true(vy_device_calibrate(r.device, &ticks, &ns));
    assert_in_range(ns, before, vy_clock_ns());
    assert_int_equal(ticks, ns / 2); /* as the fake's clock goes */
    close_rig(&r);
}

/* ---- Semaphores of a host, on the device ----------------------------------------------------- */

typedef struct semaphores {
    vyre_device *device;
    VkSemaphore timeline, binary;
    PFN_vkSignalSemaphore signal;
} semaphores;

static VkSemaphore make_semaphore(vyre_device *device, VkSemaphoreType kind)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = kind};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore out = VK_NULL_HANDLE;
    assert_int_equal(device->vk.vkCreateSemaphore(device->device, &info, NULL, &out), VK_SUCCESS);
    return out;
}

static void make_semaphores(semaphores *s, vyre_device *device)
{
    s->device = device;
    s->timeline = make_semaphore(device, VK_SEMAPHORE_TYPE_TIMELINE);
    s->binary = make_semaphore(device, VK_SEMAPHORE_TYPE_BINARY);
    s->signal =
        (PFN_vkSignalSemaphore)device->vki.vkGetDeviceProcAddr(device->device, "vkSignalSemaphore");
    assert_true(s->signal != NULL);
}

static void finish_semaphores(semaphores *s)
{
    s->device->vk.vkDestroySemaphore(s->device->device, s->timeline, NULL);
    s->device->vk.vkDestroySemaphore(s->device->device, s->binary, NULL);
}

static void signal_host(semaphores *s, uint64_t value)
{
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s->timeline, .value = value};
    assert_int_equal(s->signal(s->device->device, &info), VK_SUCCESS);
}

static void record_fill(vyre_device *device, vy_commands *commands, VkBuffer buffer,
                        uint64_t offset, uint32_t word)
{
    vyre_diag diag;
    static const vy_barrier to_host = {VY_STAGE_TRANSFER, VY_STAGE_TRANSFER, VY_STAGE_HOST};
    assert_int_equal(vy_commands_create(device, "test", commands, &diag), VYRE_OK);
    assert_int_equal(vy_commands_begin(device, commands, true, &diag), VYRE_OK);
    device->vk.vkCmdFillBuffer(commands->buffer, buffer, offset, 4, word);
    vy_cmd_barrier(device, commands->buffer, &to_host);
    assert_int_equal(vy_commands_end(device, commands, &diag), VYRE_OK);
}

/* Two command buffers that each fill a word, and the memory that they fill. */
typedef struct fills {
    vy_commands first, second;
    vy_block block;
} fills;

static void make_fills(vyre_device *device, fills *f, uint32_t word)
{
    vyre_diag diag;
    assert_int_equal(vy_block_create(device, VY_MEMORY_READBACK, 64, "test", &f->block, &diag),
                     VYRE_OK);
    memset(f->block.mapped, 0, 64);
    record_fill(device, &f->first, f->block.buffer, 0, word);
    record_fill(device, &f->second, f->block.buffer, 4, 2 * word);
}

static void finish_fills(vyre_device *device, fills *f, uint32_t word)
{
    vyre_diag diag;
    assert_int_equal(vy_block_invalidate(device, &f->block, 0, 64, &diag), VYRE_OK);
    assert_int_equal(((const uint32_t *)f->block.mapped)[0], word);
    assert_int_equal(((const uint32_t *)f->block.mapped)[1], 2 * word);
    assert_int_equal(((const uint32_t *)f->block.mapped)[2], 0);
    vy_commands_destroy(device, &f->first);
    vy_commands_destroy(device, &f->second);
    vy_block_destroy(device, &f->block);
}

static uint64_t reached_by(const semaphores *s)
{
    uint64_t value = 0;
    assert_int_equal(
        s->device->vk.vkGetSemaphoreCounterValue(s->device->device, s->timeline, &value),
        VK_SUCCESS);
    return value;
}

/* The first batch waits for the host's timeline, and the second signals it. */
static void run_behind_the_host(semaphores *s)
{
    vyre_device *device = s->device;
    fills f;
    vyre_diag diag;
    make_fills(device, &f, 11);
    vy_semaphore start = {s->timeline, 5}, end = {s->timeline, 9};
    vy_batch batches[2] = {
        {.commands = &f.first.buffer, .command_count = 1, .waits = &start, .wait_count = 1},
        {.commands = &f.second.buffer, .command_count = 1, .signals = &end, .signal_count = 1}};
    uint64_t values[2] = {0, 0};
    vyre_device_counters before, after;
    vyre_device_get_counters(device, &before);
    assert_int_equal(vy_queue_submit_batches(device, batches, 2, "the test", values, &diag),
                     VYRE_OK);
    vyre_device_get_counters(device, &after);
    assert_int_equal(after.submissions, before.submissions + 1);
    assert_int_equal(values[1], values[0] + 1);
    assert_int_equal(vy_queue_submitted(device), values[1]);
    assert_int_equal(vy_queue_wait(device, values[0], vy_deadline(2000000), "it", &diag),
                     VYRE_ERROR_TIMEOUT);
    assert_false(vy_queue_is_done(device, values[0]));
    signal_host(s, 5);
    expect_wait(device, values[1]);
    assert_int_equal(reached_by(s), 9);
    finish_fills(device, &f, 11);
}

/* Between the two batches is a binary semaphore; the second also signals the host's timeline. */
static void run_with_a_binary_one(semaphores *s)
{
    vyre_device *device = s->device;
    fills f;
    vyre_diag diag;
    make_fills(device, &f, 33);
    vy_semaphore between = {s->binary, 0}, waits[2] = {between, {s->timeline, 9}},
                 end = {s->timeline, 12};
    vy_batch batches[2] = {
        {.commands = &f.first.buffer, .command_count = 1, .signals = &between, .signal_count = 1},
        {.commands = &f.second.buffer,
         .command_count = 1,
         .waits = waits,
         .wait_count = 2,
         .signals = &end,
         .signal_count = 1}};
    uint64_t values[2] = {0, 0};
    assert_int_equal(vy_queue_submit_batches(device, batches, 2, "the test", values, &diag),
                     VYRE_OK);
    expect_wait(device, values[1]);
    assert_int_equal(reached_by(s), 12);
    finish_fills(device, &f, 33);
}

static void run_batches(vyre_device *device)
{
    semaphores s;
    make_semaphores(&s, device);
    run_behind_the_host(&s);
    run_with_a_binary_one(&s);
    finish_semaphores(&s);
}

static void test_batches_wait_for_and_signal_the_hosts_semaphores(void **state)
{
    (void)state;
    rig r;
    open_rig(&r);
    run_batches(r.device);
    close_rig(&r);
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    layer_clear_events();
    run_batches(device);
    assert_int_equal(layer_count(LAYER_SUBMIT), 2);
    engine_close(&device);
}

static void test_submissions_that_fail_leave_the_queue_as_it_was(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vy_semaphore many[17] = {{VK_NULL_HANDLE, 0}};
    vy_batch batch = {.waits = many, .wait_count = 17};
    uint64_t value = 0, submitted = vy_queue_submitted(device);
    vyre_diag diag;
    layer_clear_events();
    assert_int_equal(vy_queue_submit_batches(device, &batch, 1, "it", &value, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    batch = (vy_batch){0};
    layer.fail_only = "vkQueueSubmit";
    layer.fail_at = layer_fallible_calls() + 1;
    layer.failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_int_equal(vy_queue_submit_batches(device, &batch, 1, "it", &value, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_int_equal(vy_queue_submitted(device), submitted);
    layer.fail_only = NULL;
    layer.fail_at = 0;
    assert_int_equal(vy_queue_submit_batches(device, &batch, 1, "it", &value, &diag), VYRE_OK);
    assert_int_equal(value, submitted + 1);
    expect_wait(device, value);
    engine_close(&device);
}

static void test_wait_tells_what_the_driver_says(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_diag diag;
    static const char *const calls[] = {"vkGetSemaphoreCounterValue", "vkWaitSemaphores"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint64_t value = submit_nothing(device);
        layer.fail_only = calls[i];
        layer.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
        layer.fail_at = layer_fallible_calls() + 1;
        assert_int_equal(vy_queue_wait(device, value, UINT64_MAX, "it", &diag),
                         VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_non_null(strstr(diag.message, calls[i]));
        layer.fail_only = NULL;
        layer.fail_at = 0;
        expect_wait(device, value);
    }
    engine_close(&device);
}

/* ---- A shared queue -------------------------------------------------------------------------- */

static void test_queue_is_shared_with_the_host(void **state)
{
    (void)state;
    NEED_DEVICE();
    shared_queue_run(layer_entry(), 20000);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, reset, nothing_left)
    const struct CMUnitTest tests[] = {
        T(test_wait_for_a_value_seen_asks_nobody),
        T(test_wait_sleeps_at_once_where_waits_are_long),
        T(test_wait_with_a_deadline_that_passed_looks_once),
        T(test_wait_takes_no_lock_of_the_hosts),
        T(test_loss_is_told_with_the_drivers_account),
        T(test_loss_without_an_account_is_told),
        T(test_ticks_become_nanoseconds),
        T(test_clocks_are_read_together),
        T(test_batches_wait_for_and_signal_the_hosts_semaphores),
        T(test_submissions_that_fail_leave_the_queue_as_it_was),
        T(test_wait_tells_what_the_driver_says),
        T(test_queue_is_shared_with_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
