/* The engine for long: a million small dispatches and ten thousand lives of pipelines and buffers
 * (every hundredth of a device too), with flat memory: our counters, the counting allocator, and
 * the process's own size. VYRE_SOAK=DISPATCHES:LIVES for other numbers. */
#include "tests/support/engine_run.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SLACK_KIB 8192u /* what the C library and the driver may round up to */

static const char add_text[] = "program add\nworkgroup 8\ngrid over x\n"
                               "in x : u32[]\nout y : u32[len(x)]\nparam k : u32\n"
                               "kernel { y[gid.x] = x[gid.x] * 3 + k }\n";

static unsigned long dispatches = 1000000, lives = 10000;
static vy_fail_allocator memory;

static uint64_t resident_kib(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmRSS: %llu", &kib) == 1) {
            break;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return kib;
}

static vyre_device *open_device(const vyre_allocator *allocator)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.validation = VYRE_VALIDATION_OFF;
    params.allocator = allocator;
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("no device: %s", diag.message);
    }
    return device;
}

/* Half of them through a ticket. */
static void run_one(const engine_program *p, vyre_device *device, uint32_t k)
{
    uint32_t x[8] = {[7] = k}, y[8] = {0};
    vyre_binding bindings[] = {engine_host_in(x, 8), engine_host_out(y, 8)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 2;
    params.params = &k;
    params.param_count = 1;
    vyre_ticket ticket;
    vyre_diag diag;
    vyre_result code;
    if (k % 2) {
        code = vyre_dispatch(p->pipeline, &params, NULL, &diag);
    } else {
        code = vyre_dispatch_async(p->pipeline, &params, &ticket, &diag);
        if (code == VYRE_OK) {
            code = vyre_ticket_wait(device, &ticket, UINT64_MAX, NULL, &diag);
        }
    }
    if (code != VYRE_OK) {
        fail_msg("dispatch %u: %s", (unsigned)k, diag.message);
    }
    assert_int_equal(y[7], 4 * k);
}

static void test_dispatches_leave_memory_flat(void **state)
{
    (void)state;
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_device *device = open_device(&allocator);
    engine_program p = engine_build(device, add_text);
    vyre_device_counters before = {0}, after;
    uint64_t kib = 0;
    size_t calls = 0;
    for (unsigned long i = 0; i < dispatches; i++) {
        if (i == dispatches / 10) {
            vyre_device_get_counters(device, &before);
            kib = resident_kib();
            calls = memory.calls;
        }
        run_one(&p, device, (uint32_t)i);
    }
    vyre_device_get_counters(device, &after);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(after.recordings, before.recordings);
    assert_int_equal(after.memory_size, before.memory_size);
    assert_int_equal(after.instances, before.instances);
    assert_in_range(resident_kib(), 0, kib + SLACK_KIB);
    engine_release(&p);
    vyre_device_destroy(&device);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_lives_leave_memory_flat(void **state)
{
    (void)state;
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vyre_device *device = open_device(&allocator);
    uint64_t kib = 0;
    size_t live = 0;
    for (unsigned long i = 0; i < lives; i++) {
        engine_program p = engine_build(device, add_text);
        vyre_buffer buffer = engine_buffer(device, 64 + i % 7 * 1000, NULL);
        run_one(&p, device, (uint32_t)i);
        vyre_diag diag;
        assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
        engine_release(&p);
        if (i % 100 == 99) {
            vyre_device_destroy(&device);
            assert_int_equal(memory.live_blocks, 0);
            device = open_device(&allocator);
            live = live ? live : memory.live_size;
            assert_int_equal(memory.live_size, live);
        }
        if (i == lives / 2) {
            kib = resident_kib(); /* the driver's own pools have grown by then */
        }
    }
    print_message("resident: %llu KiB at half, %llu KiB at the end\n", (unsigned long long)kib,
                  (unsigned long long)resident_kib());
    assert_in_range(resident_kib(), 0, kib + SLACK_KIB);
    vyre_device_destroy(&device);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void)
{
    const char *text = getenv("VYRE_SOAK");
    if (text && sscanf(text, "%lu:%lu", &dispatches, &lives) != 2) {
        (void)fprintf(stderr, "VYRE_SOAK is \"%s\". Fix: give DISPATCHES:LIVES\n", text);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatches_leave_memory_flat),
        cmocka_unit_test(test_lives_leave_memory_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
