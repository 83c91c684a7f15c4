/* Replay instances: found by shape, made over, forked when all are in flight, given back. */
#include "tests/engine/fake_machine.h"
#include "tests/engine/gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define N        64u
#define MAX_IDLE 8u

static vyre_device *device;
static engine_program program;

static int open_as(int validate)
{
    layer_reset();
    device = NULL;
    if (!engine_has_no_device()) {
        device = gate_open_device(&(gate_wishes){.validate = validate});
        program = engine_build(device, gate_add_text);
    }
    return 0;
}

static int open_bare(void **state)
{
    (void)state;
    return open_as(0);
}

static int open_validated(void **state)
{
    (void)state;
    return open_as(1);
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        engine_release(&program);
        vyre_device_counters counters;
        vyre_device_get_counters(device, &counters);
        assert_int_equal(counters.instances, 0);
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

/* The layer is for one thread. */
static int open_fake(void **state)
{
    (void)state;
    fake_machine_reset();
    fake.has_addresses = true;
    device = gate_open_device(&(gate_wishes){.entry = fake_entry()});
    program = engine_build(device, gate_add_text);
    return 0;
}

static int close_fake(void **state)
{
    (void)state;
    engine_release(&program);
    vyre_device_destroy(&device);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_violations(), 0);
    return 0;
}

typedef struct sum {
    uint32_t x[N], y[N], k, count;
    vyre_binding bindings[2];
    vyre_dispatch_params params;
} sum;

static void sum_init(sum *s, uint32_t count, uint32_t k)
{
    memset(s, 0, sizeof *s);
    s->k = k;
    s->count = count;
    for (uint32_t i = 0; i < N; i++) {
        s->x[i] = i + k;
    }
    s->bindings[0] = engine_host_in(s->x, count);
    s->bindings[1] = engine_host_out(s->y, count);
    vyre_dispatch_params_init(&s->params);
    s->params.strategy = VYRE_STRATEGY_REPLAY;
    s->params.bindings = s->bindings;
    s->params.binding_count = 2;
    s->params.params = &s->k;
    s->params.param_count = 1;
}

static uint32_t errors_of(const sum *s)
{
    uint32_t errors = 0;
    for (uint32_t i = 0; i < N; i++) {
        errors += s->y[i] != (i < s->count ? s->x[i] * 3 + s->k : 0);
    }
    return errors;
}

static vyre_report run(sum *s)
{
    vyre_report report;
    vyre_diag diag;
    if (vyre_dispatch(program.pipeline, &s->params, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(errors_of(s), 0);
    return report;
}

static void run_count(uint32_t count, uint32_t k)
{
    sum s;
    sum_init(&s, count, k);
    (void)run(&s);
}

static void expect(uint64_t hits, uint64_t misses, uint64_t forks, uint64_t alive)
{
    vyre_device_counters c;
    vyre_device_get_counters(device, &c);
    assert_int_equal(c.instance_hits, hits);
    assert_int_equal(c.instance_misses, misses);
    assert_int_equal(c.instance_forks, forks);
    assert_int_equal(c.instances, alive);
}

static void test_same_shape_hits(void **state)
{
    (void)state;
    NEED_OPEN(device);
    expect(0, 0, 0, 0);
    for (uint32_t i = 0; i < 5; i++) {
        run_count(20, i);
        expect(i, 1, 0, 1);
    }
}

static void test_alternating_shapes_hit_both(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const uint32_t counts[] = {8, 16, 40};
    for (uint32_t i = 0; i < 12; i++) {
        run_count(counts[i % 3], i);
        expect(i < 3 ? 0 : i - 2, i < 3 ? i + 1 : 3, 0, i < 3 ? i + 1 : 3);
    }
    vyre_device_counters c;
    vyre_device_get_counters(device, &c);
    assert_int_equal(c.recordings, 3);
    assert_int_equal(c.recordings_reused, 9);
}

static void test_idle_instances_are_bounded(void **state)
{
    (void)state;
    NEED_OPEN(device);
    for (uint32_t i = 0; i < 2 * MAX_IDLE; i++) {
        run_count(1 + i, i); /* each another shape */
        expect(0, i + 1, 0, i < MAX_IDLE ? i + 1 : MAX_IDLE);
    }
    /* Those used last are still there, and right. */
    for (uint32_t i = MAX_IDLE; i < 2 * MAX_IDLE; i++) {
        run_count(1 + i, i);
    }
    expect(MAX_IDLE, 2 * MAX_IDLE, 0, MAX_IDLE);
    run_count(1, 5);
    expect(MAX_IDLE, 2 * MAX_IDLE + 1, 0, MAX_IDLE);
}

static void test_runs_in_flight_fork(void **state)
{
    (void)state;
    NEED_OPEN(device);
    enum { FLIGHT = MAX_IDLE + 3 };
    gate door;
    gate_create(device, &door);
    sum s[FLIGHT];
    for (uint32_t round = 0; round < 2; round++) {
        vyre_ticket tickets[FLIGHT];
        for (uint32_t i = 0; i < FLIGHT; i++) {
            sum_init(&s[i], 20, i);
            s[i].params.sync = i == 0 ? gate_close(&door) : NULL;
            tickets[i] = gate_start(&program, &s[i].params);
        }
        uint32_t again = round ? MAX_IDLE : 0;
        expect(again, 1, FLIGHT - 1 + (round ? FLIGHT - MAX_IDLE : 0), FLIGHT);
        gate_open(&door);
        vyre_diag diag;
        for (uint32_t i = 0; i < FLIGHT; i++) {
            assert_int_equal(vyre_ticket_wait(device, &tickets[i], UINT64_MAX, NULL, &diag),
                             VYRE_OK);
            assert_int_equal(errors_of(&s[i]), 0);
        }
        expect(again, 1, FLIGHT - 1 + (round ? FLIGHT - MAX_IDLE : 0), MAX_IDLE);
    }
    gate_destroy(&door);
}

/* By handle each pair of buffers has an instance; by addresses one serves both. */
static void test_two_sets_of_buffers(void **state)
{
    NEED_OPEN(device);
    (void)state;
    sum s[2];
    vyre_buffer buffers[4];
    int is_by_address = 0;
    for (uint32_t i = 0; i < 2; i++) {
        sum_init(&s[i], N, i);
        buffers[2 * i] = engine_buffer(device, sizeof s->x, s[i].x);
        buffers[2 * i + 1] = engine_buffer(device, sizeof s->y, NULL);
        s[i].bindings[0] = engine_resident(buffers[2 * i], 0, N);
        s[i].bindings[1] = engine_resident(buffers[2 * i + 1], 0, N);
        s[i].bindings[1].out = s[i].y;
    }
    for (uint32_t round = 0; round < 6; round++) {
        vyre_report report = run(&s[round % 2]);
        is_by_address = strcmp(report.bindings, "address") == 0;
        assert_int_equal(report.recordings, round == 0 || (round == 1 && !is_by_address));
    }
    expect(is_by_address ? 5 : 4, is_by_address ? 1 : 2, 0, is_by_address ? 1 : 2);
    /* A buffer made where another one was is another buffer. */
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffers[0], &diag), VYRE_OK);
    buffers[0] = engine_buffer(device, sizeof s->x, s[0].x);
    s[0].bindings[0].buffer = buffers[0];
    vyre_report report = run(&s[0]);
    assert_int_equal(report.recordings, !is_by_address);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(vyre_buffer_destroy(device, &buffers[i], &diag), VYRE_OK);
    }
}

static void test_trim_gives_idle_instances_back(void **state)
{
    (void)state;
    NEED_OPEN(device);
    run_count(8, 1);
    run_count(16, 1);
    gate door;
    gate_create(device, &door);
    sum s;
    sum_init(&s, 20, 3);
    s.params.sync = gate_close(&door);
    vyre_ticket ticket = gate_start(&program, &s.params);
    expect(0, 3, 0, 3);
    vyre_device_counters before, after;
    vyre_device_get_counters(device, &before);
    uint64_t bytes = vyre_device_trim(device);
    vyre_device_get_counters(device, &after);
    assert_int_equal(before.memory_size - after.memory_size, bytes);
    expect(0, 3, 0, 1); /* what is in flight stays */
    gate_open(&door);
    vyre_diag diag;
    assert_int_equal(vyre_ticket_wait(device, &ticket, UINT64_MAX, NULL, &diag), VYRE_OK);
    assert_int_equal(errors_of(&s), 0);
    (void)vyre_device_trim(device);
    expect(0, 3, 0, 0);
    run_count(20, 4);
    expect(0, 4, 0, 1);
    gate_destroy(&door);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *run_many(void *argument)
{
    uint32_t *errors = argument;
    for (uint32_t i = 0; i < 200; i++) {
        sum s;
        sum_init(&s, 1 + i % 3 * 20, i);
        vyre_diag diag;
        *errors += vyre_dispatch(program.pipeline, &s.params, NULL, &diag) != VYRE_OK;
        *errors += errors_of(&s);
        if (i % 50 == 0) {
            (void)vyre_device_trim(device);
        }
    }
    return NULL;
}

static void test_two_threads_fork(void **state)
{
    (void)state;
    NEED_OPEN(device);
    pthread_t threads[2];
    uint32_t errors[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &errors[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(errors[i], 0);
    }
    vyre_device_counters c;
    vyre_device_get_counters(device, &c);
    assert_int_equal(c.instance_hits + c.instance_misses + c.instance_forks, 400);
    assert_true(c.instances <= MAX_IDLE);
}

int main(void)
{
#define T(test, open) cmocka_unit_test_setup_teardown(test, open, close_device)
#define BOTH(test)    T(test, open_bare), T(test, open_validated)
    const struct CMUnitTest tests[] = {
        BOTH(test_same_shape_hits),
        BOTH(test_alternating_shapes_hit_both),
        BOTH(test_runs_in_flight_fork),
        BOTH(test_two_sets_of_buffers),
        T(test_idle_instances_are_bounded, open_bare),
        T(test_trim_gives_idle_instances_back, open_bare),
        cmocka_unit_test_setup_teardown(test_two_threads_fork, open_fake, close_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
