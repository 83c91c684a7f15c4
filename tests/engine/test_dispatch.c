/* Dispatches of real programs: values, records, sizes, and what is refused before anything is done.
 */
#include "tests/support/engine_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static vyre_device *device;

static int open_device(void **state)
{
    (void)state;
    layer_reset();
    device = engine_has_no_device() ? NULL : engine_open(1);
    return 0;
}

/* Without the layer of the tests, which knows one thread only. */
static int open_plain(void **state)
{
    (void)state;
    layer_reset();
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.validation = engine_validates() ? VYRE_VALIDATION_ON : VYRE_VALIDATION_OFF;
    vyre_diag diag;
    device = NULL;
    return !engine_has_no_device() && vyre_device_create(&params, &device, &diag) != VYRE_OK;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

static const char add_text[] = "program add\n"
                               "workgroup 64\n"
                               "grid over y\n"
                               "in x : u32[]\n"
                               "out y : u32[]\n"
                               "param k : u32\n"
                               "kernel { if gid.x < len(y) { y[gid.x] = x[gid.x] * 3 + k } }\n";

static void test_dispatch_computes_borrowed_buffers(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const uint32_t sizes[] = {1, 63, 64, 65, 1000, 100003};
    engine_program add = engine_build(device, add_text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n = sizes[i], k = 7 + (uint32_t)i;
        uint32_t *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
        for (uint32_t j = 0; j < n; j++) {
            x[j] = j * 2654435761u;
        }
        vyre_binding bindings[] = {engine_host_in(x, n), engine_host_out(y, n)};
        vyre_report report = engine_run(&add, bindings, 2, &k, 1, 0, 0);
        for (uint32_t j = 0; j < n; j++) {
            assert_int_equal(y[j], x[j] * 3 + k);
        }
        assert_int_equal(report.passes, 1);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_NONE);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(report.upload_size, n * 4);
        assert_int_equal(report.download_size, n * 4);
        assert_string_equal(report.strategy, "replay");
        assert_true(report.device_ns >= report.device_dispatches_ns);
        assert_true(report.device_dispatches_ns != VYRE_NS_NONE);
        free(x);
        free(y);
    }
    engine_release(&add);
}

static void test_dispatch_reuses_what_it_recorded(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program add = engine_build(device, add_text);
    uint32_t x[100], y[100], k = 0;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 100; i++) {
            x[i] = i + round;
        }
        k = round;
        vyre_binding bindings[] = {engine_host_in(x, 100), engine_host_out(y, 100)};
        vyre_report report = engine_run(&add, bindings, 2, &k, 1, 0, 0);
        assert_int_equal(y[99], (99 + round) * 3 + round);
        assert_int_equal(report.recordings, round == 0 ? 1 : 0);
        assert_int_equal(report.recordings_reused, round == 0 ? 0 : 1);
    }
    vyre_device_counters before, after;
    vyre_device_get_counters(device, &before);
    vyre_binding bindings[] = {engine_host_in(x, 100), engine_host_out(y, 100)};
    (void)engine_run(&add, bindings, 2, &k, 1, 0, 0);
    vyre_device_get_counters(device, &after);
    assert_int_equal(after.descriptor_writes, before.descriptor_writes);
    assert_int_equal(after.memory_allocations, before.memory_allocations);
    /* Another length is another shape. */
    vyre_binding shorter[] = {engine_host_in(x, 50), engine_host_out(y, 50)};
    vyre_report report = engine_run(&add, shorter, 2, &k, 1, 0, 0);
    assert_int_equal(report.recordings, 1);
    engine_release(&add);
}

static void test_dispatch_of_empty_buffers_runs_nothing(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program add = engine_build(device, add_text);
    uint32_t k = 1, guard = 0xabcd;
    vyre_binding bindings[] = {engine_host_in(NULL, 0), engine_host_out(&guard, 0)};
    vyre_report report = engine_run(&add, bindings, 2, &k, 1, 0, 0);
    assert_int_equal(report.dispatches_executed, 0);
    assert_int_equal(guard, 0xabcd);
    engine_release(&add);
    /* Loads and stores out of a zero-length buffer's bounds: zero, and nothing. */
    engine_program touch = engine_build(device, "program touch\nworkgroup 1\n"
                                                "inout a : u32[]\nout b : u32[4]\n"
                                                "kernel { a[gid.x] = 5  b[gid.x] = a[0] + 9 }\n");
    uint32_t b[4];
    vyre_binding pair[] = {engine_host_inout(NULL, 0), engine_host_out(b, 4)};
    (void)engine_run(&touch, pair, 2, NULL, 0, 4, 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(b[i], 9);
    }
    /* The hidden zeros are still zeros. */
    (void)engine_run(&touch, pair, 2, NULL, 0, 4, 0);
    assert_int_equal(b[0], 9);
    engine_release(&touch);
}

static void test_dispatch_uses_resident_ranges(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program add = engine_build(device, add_text);
    uint32_t x[256], y[256], k = 1;
    for (uint32_t i = 0; i < 256; i++) {
        x[i] = i;
        y[i] = 0xeeeeeeee;
    }
    vyre_buffer bx = engine_buffer(device, sizeof x, x), by = engine_buffer(device, sizeof y, y);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    uint64_t offset = info.offset_alignment;
    uint32_t skip = (uint32_t)offset / 4;
    vyre_binding bindings[] = {engine_resident(bx, offset, VYRE_COUNT_DECLARED),
                               engine_resident(by, offset, 100)};
    vyre_report report = engine_run(&add, bindings, 2, &k, 1, 0, 0);
    assert_int_equal(report.upload_size, 0);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_download(device, by, 0, y, sizeof y, &diag), VYRE_OK);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t expected = i >= skip && i < skip + 100 ? i * 3 + 1 : 0xeeeeeeee;
        assert_int_equal(y[i], expected);
    }
    assert_int_equal(vyre_buffer_destroy(device, &bx, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_destroy(device, &by, &diag), VYRE_OK);
    engine_release(&add);
}

typedef struct bad_dispatch {
    vyre_binding bindings[2];
    uint32_t binding_count, param_count, groups;
    const char *says;
    uint32_t binding;
} bad_dispatch;

static void refuse_dispatch(const engine_program *add, const bad_dispatch *bad, const uint32_t *k)
{
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.bindings = bad->bindings;
    params.binding_count = bad->binding_count;
    params.params = k;
    params.param_count = bad->param_count;
    params.groups[0] = bad->groups;
    layer_clear_events();
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(add->pipeline, &params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    if (!strstr(diag.message, bad->says) || !strstr(diag.message, "Fix: ")) {
        fail_msg("the case of '%s' says: %s", bad->says, diag.message);
    }
    assert_int_equal(diag.binding, bad->binding);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
}

static void test_dispatch_refuses_before_it_writes(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program add = engine_build(device, add_text);
    uint32_t x[64] = {0}, y[64], k = 1;
    memset(y, 0x77, sizeof y);
    vyre_buffer bx = engine_buffer(device, sizeof x, x), by = engine_buffer(device, sizeof y, y);
    vyre_buffer gone = engine_buffer(device, 256, NULL);
    vyre_buffer stale = gone;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &gone, &diag), VYRE_OK);
    const bad_dispatch cases[] = {
        {{engine_resident(bx, 4, 8), engine_resident(by, 0, 8)}, 2, 1, 0, "not a multiple of", 0},
        {{engine_resident(bx, 0, 8), engine_resident(by, 0, 65)}, 2, 1, 0, "needs bytes", 1},
        {{engine_resident(bx, 1024, 8), engine_resident(by, 0, 8)}, 2, 1, 0, "needs bytes", 0},
        {{engine_resident(stale, 0, 8), engine_resident(by, 0, 8)}, 2, 1, 0, "was destroyed", 0},
        {{engine_resident((vyre_buffer){0}, 0, 8), engine_resident(by, 0, 8)},
         2,
         1,
         0,
         "is no buffer",
         0},
        {{engine_resident((vyre_buffer){by.bits ^ (uint64_t)1 << 48}, 0, 8),
          engine_resident(by, 0, 8)},
         2,
         1,
         0,
         "another device",
         0},
        {{engine_resident(by, 0, 8), engine_resident(by, 0, 8)},
         2,
         1,
         0,
         "buffers 'x' and 'y' overlap",
         1},
        {{engine_host_in(NULL, 8), engine_resident(by, 0, 8)}, 2, 1, 0, "has no memory", 0},
        {{engine_host_in(x, 8), {.kind = VYRE_BINDING_NONE}}, 2, 1, 0, "is not bound", 1},
        {{engine_host_in(x, VYRE_COUNT_DECLARED), engine_resident(by, 0, 8)},
         2,
         1,
         0,
         "declares no count",
         0},
        {{engine_host_in(x, 8), engine_resident(by, 0, 8)}, 1, 1, 0, "2 buffers", VYRE_DIAG_NONE},
        {{engine_host_in(x, 8), engine_resident(by, 0, 8)},
         2,
         0,
         0,
         "take 1 words",
         VYRE_DIAG_NONE},
        {{engine_host_in(x, 8), engine_resident(by, 0, 8)}, 2, 1, 1, "grid over a buffer", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse_dispatch(&add, &cases[i], &k);
    }
    uint32_t after[64];
    assert_int_equal(vyre_buffer_download(device, by, 0, after, sizeof after, &diag), VYRE_OK);
    assert_memory_equal(after, y, sizeof y);
    /* Nothing stayed in use. */
    assert_int_equal(vyre_buffer_destroy(device, &bx, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_destroy(device, &by, &diag), VYRE_OK);
    engine_release(&add);
}

static void test_dispatch_of_overlapping_outputs_is_ordered(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char text[] = "program both\nworkgroup 1\n"
                               "inout a : u32[]\ninout b : u32[]\n"
                               "kernel { a[0] = a[0] + 1  grid_sync  b[0] = b[0] * 10 }\n";
    uint32_t one = 1, result = 0;
    vyre_buffer buffer = engine_buffer(device, 4, &one);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 1), engine_resident(buffer, 0, 1)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.bindings = bindings;
    params.binding_count = 2;
    params.groups[0] = 1;
    vyre_diag diag;
    engine_program programs[2] = {engine_build(device, text), engine_build_aliased(device, text)};
    for (int i = 0; i < 2; i++) {
        /* The hazard is seen through the names: without it the segments would need no barrier. */
        assert_int_equal(vyre_buffer_upload(device, buffer, 0, &one, 4, &diag), VYRE_OK);
        vyre_report report;
        assert_int_equal(vyre_dispatch(programs[i].pipeline, &params, &report, &diag), VYRE_OK);
        assert_int_equal(report.barriers_elided, 0);
        assert_int_equal(vyre_buffer_download(device, buffer, 0, &result, 4, &diag), VYRE_OK);
        assert_int_equal(result, 20);
        engine_release(&programs[i]);
    }
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
}

static void test_dispatch_keeps_values_over_grid_sync(void **state)
{
    (void)state;
    NEED_OPEN(device);
    /* A value that cannot be computed again: it goes through a spill slot. */
    engine_program p =
        engine_build(device, "program live\nworkgroup 32\ngrid over data\n"
                             "inout data : u32[]\nout y : u32[len(data)]\n"
                             "kernel {\n"
                             "  let v = data[gid.x]\n"
                             "  grid_sync\n"
                             "  if gid.x < len(data) { data[len(data) - 1 - gid.x] = 0 }\n"
                             "  grid_sync\n"
                             "  if gid.x < len(y) { y[gid.x] = v + data[gid.x] }\n"
                             "}\n");
    uint32_t data[100], y[100];
    for (uint32_t i = 0; i < 100; i++) {
        data[i] = i * 5 + 1;
    }
    vyre_binding bindings[] = {engine_host_inout(data, 100),
                               engine_host_out(y, VYRE_COUNT_DECLARED)};
    vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 0, 0);
    assert_int_equal(report.segments, 3);
    assert_true(report.spill_size > 0);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(y[i], i * 5 + 1);
        assert_int_equal(data[i], 0);
    }
    engine_release(&p);
}

static void test_dispatch_runs_host_loops(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(
        device,
        "program scan\nworkgroup 64\n"
        "inout a : u32[]\nscratch b : u32[len(a)]\nparam steps : u32\n"
        "kernel {\n"
        "  for i in 0 .. steps {\n"
        "    let d = 1 << i\n"
        "    if gid.x < len(a) { b[gid.x] = a[gid.x] + select(gid.x >= d, a[gid.x - d], 0) }\n"
        "    grid_sync\n"
        "    if gid.x < len(a) { a[gid.x] = b[gid.x] }\n"
        "    grid_sync\n"
        "  }\n"
        "}\n");
    uint32_t a[200], steps = 8, sum = 0;
    for (uint32_t i = 0; i < 200; i++) {
        a[i] = i % 7 + 1;
    }
    vyre_binding bindings[] = {engine_host_inout(a, 200), {.kind = VYRE_BINDING_NONE}};
    vyre_report report = engine_run(&p, bindings, 2, &steps, 1, 200, 0);
    assert_int_equal(report.segments, 16);
    for (uint32_t i = 0; i < 200; i++) {
        sum += i % 7 + 1;
        assert_int_equal(a[i], sum);
    }
    engine_release(&p);
}

static void test_dispatch_counts_passes(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program passes\nworkgroup 1\nfixpoint 10\n"
                                            "inout a : u32[2]\n"
                                            "kernel { a[0] = a[0] + 1  a[1] = a[1] ^ pass }\n");
    static const uint32_t counts[] = {1, 9, 4095, 4096, 4097, 10000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t a[2] = {0, 0}, mixed = 0, n = counts[i];
        for (uint32_t k = 0; k < n; k++) {
            mixed ^= k;
        }
        vyre_binding bindings[] = {engine_host_inout(a, 2)};
        vyre_report report = engine_run(&p, bindings, 1, NULL, 0, 1, n);
        assert_int_equal(a[0], n);
        assert_int_equal(a[1], mixed);
        assert_int_equal(report.passes, n);
        assert_int_equal(report.dispatches_executed, n);
        assert_int_equal(report.chunks, (n + 4095) / 4096);
        assert_int_equal(report.submissions, (report.chunks + 1) / 2);
    }
    uint32_t a[2] = {0, 0};
    vyre_binding bindings[] = {engine_host_inout(a, 2)};
    assert_int_equal(engine_run(&p, bindings, 1, NULL, 0, 1, 0).passes, 10);
    assert_int_equal(a[0], 10);
    engine_release(&p);
}

static void test_dispatch_memory_does_not_grow_with_passes(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program passes\nworkgroup 1\n"
                                            "inout a : u32[1]\n"
                                            "kernel { a[0] = a[0] + 1 }\n");
    vyre_device_counters before, after;
    uint32_t a = 0;
    vyre_binding bindings[] = {engine_host_inout(&a, 1)};
    (void)engine_run(&p, bindings, 1, NULL, 0, 1, 9000);
    vyre_device_get_counters(device, &before);
    vyre_report report = engine_run(&p, bindings, 1, NULL, 0, 1, 50000);
    vyre_device_get_counters(device, &after);
    assert_int_equal(a, 59000);
    assert_int_equal(after.memory_size, before.memory_size);
    /* 13 chunks: the first, two whole ones in rotation, and the last. */
    assert_int_equal(report.chunks, 13);
    assert_true(report.recordings <= 4);
    engine_release(&p);
}

static void test_dispatch_reports_the_first_record(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program traps\nworkgroup 8\nfixpoint 3\n"
                                            "inout a : u32[]\n"
                                            "kernel {\n"
                                            "  a[gid.x] = a[gid.x] + 1\n"
                                            "  grid_sync\n"
                                            "  if pass == 1 && gid.x >= 21 { trap(77) }\n"
                                            "  if pass == 1 && gid.x == 25 { trap(78) }\n"
                                            "  if pass == 2 { trap(79) }\n"
                                            "}\n");
    uint32_t a[40] = {0};
    vyre_binding bindings[] = {engine_host_inout(a, 40)};
    vyre_report report = engine_run(&p, bindings, 1, NULL, 0, 40, 0);
    assert_int_equal(report.record.kind, VYRE_RECORD_TRAP);
    assert_int_equal(report.record.code, 77);
    assert_int_equal(report.record.pass, 1);
    assert_int_equal(report.record.segment, 1);
    assert_int_equal(report.record.invocation, 21);
    assert_int_equal(report.record.line, 8);
    assert_int_equal(a[0], 3); /* outputs are read back */
    /* The next dispatch starts with none. */
    report = engine_run(&p, bindings, 1, NULL, 0, 40, 1);
    assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
    engine_release(&p);
    engine_program loops = engine_build(device, "program loops\nworkgroup 1\nloop_limit 100\n"
                                                "out a : u32[1]\n"
                                                "kernel { var i : u32 = 0\n"
                                                "  while a[0] == 0 { i = i + 1 }\n"
                                                "  a[0] = i\n}\n");
    uint32_t trips = 0;
    vyre_binding out[] = {engine_host_out(&trips, 1)};
    report = engine_run(&loops, out, 1, NULL, 0, 1, 0);
    assert_int_equal(report.record.kind, VYRE_RECORD_LOOP_LIMIT);
    assert_int_equal(report.record.line, 6);
    assert_int_equal(trips, 100);
    engine_release(&loops);
}

static void test_dispatch_zeroes_out_and_scratch_once(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program p = engine_build(device, "program sums\nworkgroup 1\nfixpoint 3\n"
                                            "out y : u32[4]\nscratch s : u32[4]\n"
                                            "scratch keep k : u32[4]\n"
                                            "kernel { if gid.x == 1 {\n"
                                            "  s[0] = s[0] + 1  y[0] = y[0] + s[0]\n"
                                            "  k[0] = k[0] + 1  y[1] = k[0]\n"
                                            "} }\n");
    uint32_t y[4];
    vyre_binding bindings[] = {
        engine_host_out(y, 4), {.kind = VYRE_BINDING_NONE}, {.kind = VYRE_BINDING_NONE}};
    for (uint32_t round = 1; round <= 3; round++) {
        memset(y, 0xff, sizeof y);
        (void)engine_run(&p, bindings, 3, NULL, 0, 4, 0);
        assert_int_equal(y[0], 1 + 2 + 3);
        assert_int_equal(y[1], 3 * round);
        assert_int_equal(y[2], 0);
        assert_int_equal(y[3], 0);
    }
    engine_release(&p);
}

static void test_dispatch_cuts_long_passes(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char *const texts[] = {
        "program long\nworkgroup 1\nfixpoint 3\n"
        "inout a : u32[2]\nscratch f : u32[1]\nparam n : u32\n"
        "kernel { for i in 0 .. n { a[0] = a[0] * 3 + i  grid_sync } }\n",
        "program long\nworkgroup 1\nfixpoint 9 until f\n"
        "inout a : u32[2]\nscratch f : u32[1]\nparam n : u32\n"
        "kernel { for i in 0 .. n { a[0] = a[0] * 3 + i  grid_sync }\n"
        "  if pass < 2 { f[0] = 1 } }\n"};
    for (int t = 0; t < 2; t++) {
        engine_program p = engine_build(device, texts[t]);
        uint32_t a[2] = {1, 0}, n = 5000, expected = 1;
        vyre_binding bindings[] = {engine_host_inout(a, 2), {.kind = VYRE_BINDING_NONE}};
        vyre_report report = engine_run(&p, bindings, 2, &n, 1, 1, 0);
        for (uint32_t i = 0; i < 3 * n; i++) {
            expected = expected * 3 + i % n;
        }
        assert_int_equal(report.passes, 3);
        assert_int_equal(a[0], expected);
        assert_int_equal(report.segments, n + (uint32_t)t);
        engine_release(&p);
    }
}

static void test_dispatch_reads_large_tables(void **state)
{
    (void)state;
    NEED_OPEN(device);
    enum { ENTRIES = 6000 };
    size_t room = 200 + ENTRIES * 8, used = 0;
    char *text = malloc(room);
    used += (size_t)snprintf(text + used, room - used,
                             "program table\nworkgroup 64\ngrid over y\nout y : u32[]\n"
                             "const t : u32[] = [");
    for (uint32_t i = 0; i < ENTRIES; i++) {
        used += (size_t)snprintf(text + used, room - used, "%u%s", i * 7 % 10007,
                                 i + 1 < ENTRIES ? "," : "");
    }
    (void)snprintf(text + used, room - used, "]\nkernel { y[gid.x] = t[gid.x] }\n");
    engine_program p = engine_build(device, text);
    uint32_t *y = calloc(ENTRIES + 1, sizeof *y);
    vyre_binding bindings[] = {engine_host_out(y, ENTRIES + 1)};
    (void)engine_run(&p, bindings, 1, NULL, 0, 0, 0);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(y[i], i * 7 % 10007);
    }
    assert_int_equal(y[ENTRIES], 0);
    engine_release(&p);
    free(y);
    free(text);
}

/* Threads share the device; each has a pipeline of its own. */
typedef struct worker {
    engine_program program;
    uint32_t number, errors;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    uint32_t x[64], y[64], back[64], k = w->number;
    for (uint32_t i = 0; i < 64; i++) {
        x[i] = i * w->number;
    }
    for (int round = 0; round < 40; round++) {
        vyre_buffer_params params = {.size = sizeof x};
        vyre_buffer buffer;
        vyre_diag diag;
        vyre_dispatch_params dispatch;
        vyre_dispatch_params_init(&dispatch);
        dispatch.strategy = VYRE_STRATEGY_REPLAY;
        w->errors += vyre_buffer_create(device, &params, &buffer, &diag) != VYRE_OK;
        w->errors += vyre_buffer_upload(device, buffer, 0, x, sizeof x, &diag) != VYRE_OK;
        vyre_binding bindings[] = {engine_resident(buffer, 0, 64), engine_host_out(y, 64)};
        dispatch.bindings = bindings;
        dispatch.binding_count = 2;
        dispatch.params = &k;
        dispatch.param_count = 1;
        w->errors += vyre_dispatch(w->program.pipeline, &dispatch, NULL, &diag) != VYRE_OK;
        w->errors += vyre_buffer_download(device, buffer, 0, back, sizeof back, &diag) != VYRE_OK;
        w->errors += vyre_buffer_destroy(device, &buffer, &diag) != VYRE_OK;
        w->errors += memcmp(back, x, sizeof x) != 0;
        for (uint32_t i = 0; i < 64; i++) {
            w->errors += y[i] != x[i] * 3 + k;
        }
    }
    return NULL;
}

static void test_dispatch_from_many_threads(void **state)
{
    (void)state;
    NEED_OPEN(device);
    enum { THREADS = 6 };
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){engine_build(device, add_text), i + 1, 0};
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].errors, 0);
        engine_release(&workers[i].program);
    }
}

static void test_dispatch_overrides_the_workgroup(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_program add = engine_build(device, add_text);
    vyre_pipeline_params params;
    vyre_pipeline_params_init(&params);
    params.workgroup[0] = 96;
    params.bindings = VYRE_BINDINGS_DESCRIPTOR; /* every dispatch is the program's */
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_pipeline_create(device, add.kernel, &params, &pipeline, &diag), VYRE_OK);
    engine_program other = {add.kernel, pipeline};
    uint32_t x[200] = {[199] = 5}, y[200], k = 2;
    vyre_binding bindings[] = {engine_host_in(x, 200), engine_host_out(y, 200)};
    layer_clear_events();
    (void)engine_run(&other, bindings, 2, &k, 1, 0, 0);
    assert_int_equal(y[199], 17);
    uint32_t count = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_DISPATCH) {
            assert_int_equal(events[i].groups[0], 3); /* 200 by 96 */
        }
    }
    assert_int_equal(layer_count(LAYER_DISPATCH), 1);
    vyre_pipeline_destroy(&pipeline);
    engine_program ids = engine_build(device, "program ids\nworkgroup 4\nout y : u32[8]\n"
                                              "kernel { y[gid.x] = lid.x }\n");
    assert_int_equal(vyre_pipeline_create(device, ids.kernel, &params, &pipeline, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "lid"));
    assert_null(pipeline);
    params.workgroup[0] = 1u << 20;
    assert_int_equal(vyre_pipeline_create(device, add.kernel, &params, &pipeline, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "maxComputeWorkGroupSize[0]"));
    engine_release(&ids);
    engine_release(&add);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)
    const struct CMUnitTest tests[] = {
        T(test_dispatch_computes_borrowed_buffers),
        T(test_dispatch_reuses_what_it_recorded),
        T(test_dispatch_of_empty_buffers_runs_nothing),
        T(test_dispatch_uses_resident_ranges),
        T(test_dispatch_refuses_before_it_writes),
        T(test_dispatch_of_overlapping_outputs_is_ordered),
        T(test_dispatch_keeps_values_over_grid_sync),
        T(test_dispatch_runs_host_loops),
        T(test_dispatch_counts_passes),
        T(test_dispatch_memory_does_not_grow_with_passes),
        T(test_dispatch_reports_the_first_record),
        T(test_dispatch_zeroes_out_and_scratch_once),
        T(test_dispatch_cuts_long_passes),
        T(test_dispatch_reads_large_tables),
        cmocka_unit_test_setup_teardown(test_dispatch_from_many_threads, open_plain, close_device),
        T(test_dispatch_overrides_the_workgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
