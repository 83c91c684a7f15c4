/* Devices that lack things, and calls that fail: recorded commands and results by the layer below.
 */
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char chain_text[] = "program chain\nworkgroup 64\ngrid over a\n"
                                 "inout a : u32[]\nscratch b : u32[len(a)]\n"
                                 "kernel {\n"
                                 "  let i = gid.x\n"
                                 "  let r = len(a) - 1 - i\n"
                                 "  if i < len(a) { b[i] = a[r] + 1 }\n"
                                 "  grid_sync\n"
                                 "  if i < len(a) { a[i] = b[r] * 3 }\n"
                                 "  grid_sync\n"
                                 "  if i < len(a) { b[i] = a[r] + 5 }\n"
                                 "  grid_sync\n"
                                 "  if i < len(a) { a[i] = b[r] ^ 0x55 }\n"
                                 "  grid_sync\n"
                                 "  if i < len(a) { b[i] = a[r] }\n"
                                 "  if i < len(a) { a[i] = a[i] + 0 }\n"
                                 "}\n";

static void run_chain(const engine_program *chain, uint32_t n)
{
    uint32_t *a = calloc(n, sizeof *a);
    for (uint32_t i = 0; i < n; i++) {
        a[i] = i;
    }
    vyre_binding bindings[] = {engine_host_inout(a, n), {.kind = VYRE_BINDING_NONE}};
    (void)engine_run(chain, bindings, 2, NULL, 0, 0, 0);
    for (uint32_t i = 0; i < n; i++) {
        /* Four reversals. */
        assert_int_equal(a[i], (((i + 1) * 3 + 5) ^ 0x55));
    }
    free(a);
}

#define STORAGE (VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT)

/* How the chain is bound, and the kernels that move what is bound before and after it: by addresses
 * and where it is little, kernels do what copies and fills do otherwise. */
typedef struct chain_way {
    vyre_binding_mode bindings;
    uint32_t count, moves_before, moves_after;
} chain_way;

static void expect_chain_barriers(const chain_way *way, bool is_old_form)
{
    /* Between the five dispatches: one barrier each, for reads and writes of both sides. Moves have
     * one on the chain's side and none between them, as each has memory of its own. */
    uint32_t count = 0, dispatches = 0, between = 0;
    uint32_t first = way->moves_before, end = first + 5;
    const layer_event *events = layer_events(&count);
    const uint64_t moved =
        way->moves_after ? VK_ACCESS_2_SHADER_WRITE_BIT : VK_ACCESS_2_TRANSFER_WRITE_BIT;
    bool host = false;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_DISPATCH) {
            if (dispatches > 0) {
                assert_int_equal(between, dispatches >= first);
            }
            dispatches++;
            between = 0;
        }
        if (events[i].kind != LAYER_BARRIER) {
            continue;
        }
        between++;
        assert_int_equal(events[i].is_old_form, is_old_form);
        if (dispatches > first && dispatches < end) {
            assert_int_equal(events[i].src_stages, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
            assert_int_equal(events[i].dst_stages, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
            assert_int_equal(events[i].src_access, VK_ACCESS_2_SHADER_WRITE_BIT);
            assert_int_equal(events[i].dst_access, STORAGE);
        }
        host = host ||
               (events[i].dst_stages & VK_PIPELINE_STAGE_2_HOST_BIT &&
                events[i].dst_access & VK_ACCESS_2_HOST_READ_BIT && events[i].src_access & moved);
    }
    assert_int_equal(dispatches, end + way->moves_after);
    assert_true(host);
}

static void test_recorder_sees_the_barriers_of_a_chain(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const chain_way ways[] = {{VYRE_BINDINGS_DESCRIPTOR, 1000, 0, 0},
                                     {VYRE_BINDINGS_ADDRESS, 20000, 0, 0},
                                     {VYRE_BINDINGS_ADDRESS, 1000, 2, 1}};
    for (int old_form = 0; old_form < 2; old_form++) {
        layer.no_synchronization2 = old_form;
        vyre_device *device = engine_open(1);
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        for (size_t i = 0; i < (info.has_addresses ? 3 : 1); i++) {
            engine_program chain = engine_build_bound(device, chain_text, ways[i].bindings);
            layer_clear_events();
            run_chain(&chain, ways[i].count);
            expect_chain_barriers(&ways[i], old_form || info.api_version < VK_API_VERSION_1_3);
            engine_release(&chain);
        }
        engine_close(&device);
    }
}

static void test_recorder_sees_no_barrier_without_a_hazard(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, "program apart\nworkgroup 32\n"
                                            "in x : u32[]\nout a : u32[8]\nout b : u32[8]\n"
                                            "kernel { a[gid.x] = x[gid.x]  grid_sync\n"
                                            "         b[gid.x] = x[gid.x] + 1 }\n");
    uint32_t x[8] = {5}, a[8], b[8];
    vyre_binding bindings[] = {engine_host_in(x, 8), engine_host_out(a, 8), engine_host_out(b, 8)};
    layer_clear_events();
    vyre_report report = engine_run(&p, bindings, 3, NULL, 0, 8, 0);
    uint32_t count = 0, first = 0;
    const layer_event *events = layer_events(&count);
    while (first < count && events[first].kind != LAYER_DISPATCH) {
        first++;
    }
    assert_true(first + 1 < count);
    assert_int_equal(events[first + 1].kind, LAYER_DISPATCH);
    assert_int_equal(report.barriers_elided, 1);
    assert_int_equal(a[0], 5);
    assert_int_equal(b[0], 6);
    engine_release(&p);
    engine_close(&device);
}

static void test_device_without_the_memory_model_runs_1_2_words(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_memory_model = true;
    vyre_device *device = engine_open(1);
    vyre_kernel_params params;
    vyre_device_kernel_params(device, &params);
    assert_int_equal(params.target, VYRE_TARGET_VULKAN_1_2);
    engine_program chain = engine_build(device, chain_text);
    run_chain(&chain, 777);
    engine_release(&chain);
    engine_close(&device);
}

static void test_device_without_timestamps_reports_none(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_timestamps = true;
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, "program one\nworkgroup 1\nout a : u32[1]\n"
                                            "kernel { a[0] = 1 }\n");
    uint32_t a = 0;
    vyre_binding bindings[] = {engine_host_out(&a, 1)};
    vyre_report report = engine_run(&p, bindings, 1, NULL, 0, 1, 0);
    assert_int_equal(a, 1);
    assert_true(report.device_ns == VYRE_NS_NONE);
    assert_true(report.device_dispatches_ns == VYRE_NS_NONE);
    assert_true(report.wall_ns > 0 && report.wall_ns != VYRE_NS_NONE);
    engine_release(&p);
    engine_close(&device);
}

static void test_device_with_non_coherent_memory_is_flushed(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_coherent_memory = true;
    vyre_device *device = engine_open(0);
    static const uint64_t sizes[] = {1, 63, 65, 924};
    for (size_t i = 0; i < 4; i++) {
        unsigned char from[924], to[924] = {0};
        memset(from, (int)(i + 1), sizeof from);
        vyre_buffer buffer = engine_buffer(device, sizes[i] + 3, NULL);
        vyre_diag diag;
        layer_clear_events();
        assert_int_equal(vyre_buffer_upload(device, buffer, 3, from, sizes[i], &diag), VYRE_OK);
        assert_true(layer_count(LAYER_FLUSH) > 0);
        assert_int_equal(vyre_buffer_download(device, buffer, 3, to, sizes[i], &diag), VYRE_OK);
        assert_true(layer_count(LAYER_INVALIDATE) > 0);
        assert_memory_equal(from, to, sizes[i]);
    }
    engine_program chain = engine_build(device, chain_text);
    layer_clear_events();
    run_chain(&chain, 100);
    assert_true(layer_count(LAYER_FLUSH) >= 2);
    assert_true(layer_count(LAYER_INVALIDATE) >= 1);
    assert_int_equal(layer_bad_ranges(), 0);
    engine_release(&chain);
    vyre_device_destroy(&device);
}

static void test_device_with_small_grids_gets_folded_ones(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 5;
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, "program ids\nworkgroup 4\n"
                                            "out a : u32[]\nout n : u32[1]\n"
                                            "kernel { a[gid.x] = gid.x + wid.x * 1000\n"
                                            "  atomic_add(n[0], 1) }\n");
    static const uint32_t groups[] = {5, 6, 25, 26, 30, 119, 125};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        uint32_t a[520] = {0}, n = 0, g = groups[i];
        vyre_binding bindings[] = {engine_host_out(a, 520), engine_host_out(&n, 1)};
        vyre_dispatch_params params;
        vyre_dispatch_params_init(&params);
        params.bindings = bindings;
        params.binding_count = 2;
        params.groups[0] = g;
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(vyre_dispatch(p.pipeline, &params, &report, &diag), VYRE_OK);
        assert_int_equal(report.is_folded, g > 5);
        assert_int_equal(n, g * 4); /* overhanging workgroups run nothing */
        for (uint32_t j = 0; j < 520; j++) {
            assert_int_equal(a[j], j < g * 4 ? j + j / 4 * 1000 : 0);
        }
    }
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    uint32_t a[4], n;
    vyre_binding bindings[] = {engine_host_out(a, 4), engine_host_out(&n, 1)};
    params.bindings = bindings;
    params.binding_count = 2;
    params.groups[0] = 126;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "maxComputeWorkGroupCount"));
    params.groups[0] = 1u << 30;
    params.groups[1] = 8;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    engine_release(&p);
    engine_close(&device);
}

static void test_device_with_small_grids_ends_fixpoints(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_groups = 5;
    vyre_device *device = engine_open(1);
    engine_program p = engine_build(device, "program down\nworkgroup 4\n"
                                            "fixpoint 100 until f\n"
                                            "inout a : u32[]\nscratch f : u32[1]\n"
                                            "kernel { if a[gid.x] != 0 {\n"
                                            "  a[gid.x] = a[gid.x] - 1  f[0] = 1 } }\n");
    uint32_t a[80];
    for (uint32_t i = 0; i < 80; i++) {
        a[i] = i / 4;
    }
    vyre_binding bindings[] = {engine_host_inout(a, 80), {.kind = VYRE_BINDING_NONE}};
    vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 80, 0);
    assert_int_equal(report.is_folded, 1);
    assert_int_equal(report.passes, 20);
    for (uint32_t i = 0; i < 80; i++) {
        assert_int_equal(a[i], 0);
    }
    engine_release(&p);
    engine_close(&device);
}

static void test_device_limits_are_named(void **state)
{
    (void)state;
    NEED_DEVICE();
    /* The layer knows the functions of one device at a time. */
    vyre_device *wide = engine_open(0);
    engine_program many = engine_build(wide, "program many\nworkgroup 1\nout a : u32[1]\n"
                                             "out b : u32[1]\nout c : u32[1]\nout d : u32[1]\n"
                                             "out e : u32[1]\n"
                                             "kernel { a[0] = 1 b[0] = 1 c[0] = 1 d[0] = 1 }\n");
    vyre_pipeline_destroy(&many.pipeline);
    vyre_device_destroy(&wide);
    layer.max_buffers = 4;
    layer.max_range = 1024;
    vyre_device *device = engine_open(1);
    vyre_diag diag;
    engine_program p = engine_build_bound(device,
                                          "program p\nworkgroup 1\nout a : u32[]\n"
                                          "kernel { a[0] = 1 }\n",
                                          VYRE_BINDINGS_DESCRIPTOR);
    uint32_t a[257];
    vyre_binding bindings[] = {engine_host_out(a, 257)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 1;
    params.groups[0] = 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "maxStorageBufferRange"));
    assert_int_equal(diag.binding, 0);
    bindings[0].count = 256;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_OK);
    engine_release(&p);
    vyre_pipeline *pipeline = NULL;
    assert_int_equal(vyre_pipeline_create(device, many.kernel, NULL, &pipeline, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "maxPerStageDescriptorStorageBuffers"));
    engine_release(&many);
    engine_close(&device);
}

/* ---- Failures -------------------------------------------------------------------------------- */

typedef struct run_of_all {
    vyre_result code;
    vyre_diag diag;
} run_of_all;

/* A pipeline, a resident buffer and a dispatch with everything in it. */
static run_of_all run_everything(vyre_device *device, const vyre_kernel *kernel, uint32_t *out_y)
{
    run_of_all r = {VYRE_OK, {.code = VYRE_OK}};
    vyre_pipeline *pipeline = NULL;
    vyre_buffer buffer = {0};
    vyre_buffer_params params = {.size = 256};
    uint32_t a[8] = {6};
    r.code = vyre_buffer_create(device, &params, &buffer, &r.diag);
    if (r.code == VYRE_OK) {
        r.code = vyre_pipeline_create(device, kernel, NULL, &pipeline, &r.diag);
    }
    if (r.code == VYRE_OK) {
        vyre_binding bindings[] = {engine_host_inout(a, 8),
                                   engine_resident(buffer, 0, 8),
                                   engine_host_out(out_y, 8),
                                   {.kind = VYRE_BINDING_NONE}};
        vyre_dispatch_params dispatch;
        vyre_dispatch_params_init(&dispatch);
        dispatch.bindings = bindings;
        dispatch.binding_count = 4;
        dispatch.groups[0] = 1;
        r.code = vyre_dispatch(pipeline, &dispatch, NULL, &r.diag);
    }
    vyre_pipeline_destroy(&pipeline);
    vyre_diag diag;
    if (vyre_buffer_destroy(device, &buffer, &diag) != VYRE_OK) {
        fail_msg("the buffer is still in use: %s", diag.message);
    }
    return r;
}

static const char everything_text[] = "program all\nworkgroup 8\nfixpoint 50 until f\n"
                                      "inout a : u32[8]\ninout r : u32[]\nout y : u32[8]\n"
                                      "scratch f : u32[1]\n"
                                      "kernel {\n"
                                      "  let old = a[gid.x]\n"
                                      "  grid_sync\n"
                                      "  if gid.x == 0 && old != 0 { a[0] = old - 1  f[0] = 1 }\n"
                                      "  if old > 100 { trap(1) }\n"
                                      "  y[gid.x] = y[gid.x] + 1  r[gid.x] = r[gid.x] + 1\n"
                                      "}\n";

static void test_dispatch_survives_each_failure(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                       VK_ERROR_UNKNOWN};
    vyre_device *device = engine_open(0);
    engine_program program = engine_build(device, everything_text);
    uint32_t y[8] = {0};
    uint32_t before = layer_fallible_calls();
    run_of_all good = run_everything(device, program.kernel, y);
    assert_int_equal(good.code, VYRE_OK);
    assert_int_equal(y[7], 7);
    uint32_t calls = layer_fallible_calls() - before;
    assert_true(calls > 30);
    int32_t alive = layer_alive();
    for (size_t r = 0; r < 3; r++) {
        for (uint32_t n = 1; n <= calls; n++) {
            memset(y, 0x5a, sizeof y);
            layer.failure = results[r];
            layer.fail_at = layer_fallible_calls() + n;
            run_of_all run = run_everything(device, program.kernel, y);
            layer.fail_at = 0;
            if (run.code == VYRE_OK) {
                if (y[7] != 7) {
                    fail_msg("%u after %s", (unsigned)y[7], layer_failed());
                }
                continue;
            }
            assert_non_null(strstr(run.diag.message, "Fix: "));
            assert_int_equal(y[7], 0x5a5a5a5a); /* untouched */
            /* The device goes on, and nothing has leaked (transfers are kept for the next). */
            run = run_everything(device, program.kernel, y);
            if (run.code != VYRE_OK) {
                fail_msg("after %s: %s", layer_failed(), run.diag.message);
            }
            assert_int_equal(y[7], 7);
            if (layer_alive() > alive + 8) {
                fail_msg("%d objects more after %s", (int)(layer_alive() - alive), layer_failed());
            }
        }
    }
    engine_release(&program);
    vyre_device_destroy(&device);
}

static void test_device_lost_is_sticky_and_named(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    engine_program program = engine_build(device, everything_text);
    uint32_t y[8] = {0};
    layer.fail_only = "vkWaitSemaphores";
    layer.failure = VK_ERROR_DEVICE_LOST;
    layer.fail_at = layer_fallible_calls() + 0; /* counted from the reset of fail_only below */
    uint32_t base = layer_fallible_calls();
    layer.fail_at = base + 2; /* the buffer's fill, then the first chunk */
    run_of_all run = run_everything(device, program.kernel, y);
    layer.fail_at = 0;
    assert_int_equal(run.code, VYRE_ERROR_DEVICE_LOST);
    assert_int_equal(run.diag.vk_result, VK_ERROR_DEVICE_LOST);
    assert_non_null(strstr(run.diag.message, "(in all)"));
    vyre_buffer_params params = {.size = 16};
    vyre_buffer buffer;
    assert_int_equal(vyre_buffer_create(device, &params, &buffer, &run.diag),
                     VYRE_ERROR_DEVICE_LOST);
    assert_non_null(strstr(run.diag.message, "(in all)"));
    vyre_pipeline *pipeline = NULL;
    assert_int_equal(vyre_pipeline_create(device, program.kernel, NULL, &pipeline, &run.diag),
                     VYRE_ERROR_DEVICE_LOST);
    engine_release(&program);
    vyre_device_destroy(&device);
}

static void test_dispatch_that_times_out_keeps_everything(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    engine_program p = engine_build(device, "program slow\nworkgroup 1\ninout a : u32[]\n"
                                            "kernel { a[0] = a[0] + 1 }\n");
    uint32_t a = 5, other = 77;
    vyre_buffer buffer = engine_buffer(device, 4, &a);
    vyre_binding resident[] = {engine_resident(buffer, 0, 1)};
    vyre_binding borrowed[] = {engine_host_inout(&other, 1)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = borrowed;
    params.binding_count = 1;
    params.groups[0] = 1;
    vyre_diag diag;
    layer.timeouts = 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(other, 77); /* nothing was read back */
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_OK);
    assert_int_equal(other, 78);
    params.bindings = resident;
    layer.timeouts = 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(vyre_device_wait(device, UINT64_MAX, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, &a, 4, &diag), VYRE_OK);
    assert_int_equal(a, 6);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    assert_int_equal(counters.parked, 2);
    /* A real one: a long loop that does not end within a microsecond. */
    engine_program slow = engine_build(device, "program slow\nworkgroup 64\ninout a : u32[]\n"
                                               "kernel { var x : u32 = gid.x\n"
                                               "  for i in 0 .. 30000000 {\n"
                                               "    x = x * 1664525 + (x >> 3) }\n"
                                               "  a[0] = x }\n");
    buffer = engine_buffer(device, 4, &a);
    resident[0] = engine_resident(buffer, 0, 1);
    params.timeout_ns = 1000;
    assert_int_equal(vyre_dispatch(slow.pipeline, &params, NULL, &diag), VYRE_ERROR_TIMEOUT);
    /* The pipeline itself is free: another run has memory of its own. */
    assert_int_equal(vyre_dispatch(slow.pipeline, &params, NULL, &diag), VYRE_ERROR_TIMEOUT);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "timed out"));
    engine_release(&slow); /* waits */
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
}

/* ---- Devices that the layer plays ------------------------------------------------------------ */

static const char until_text[] = "program down\nworkgroup 8\nfixpoint 100 until f\n"
                                 "inout a : u32[]\ninout r : u32[]\nscratch f : u32[1]\n"
                                 "kernel { let i = gid.x\n  if i < len(a) { r[i] = r[i] + 1\n"
                                 "  if a[i] != 0 { a[i] = a[i] - 1  f[0] = 1 } } }\n";

/* Borrowed both ways, resident, several segments, a fixpoint that the device ends, twice each. */
static void run_set(vyre_device *device)
{
    engine_program chain = engine_build(device, chain_text);
    engine_program down = engine_build(device, until_text);
    run_chain(&chain, 1000);
    run_chain(&chain, 77);
    run_chain(&chain, 77);
    uint32_t r[100];
    memset(r, 0, sizeof r);
    vyre_buffer buffer = engine_buffer(device, sizeof r, r);
    for (uint32_t round = 1; round <= 2; round++) {
        uint32_t a[100];
        for (uint32_t i = 0; i < 100; i++) {
            a[i] = i % 13;
        }
        vyre_binding bindings[] = {engine_host_inout(a, 100),
                                   engine_resident(buffer, 0, 100),
                                   {.kind = VYRE_BINDING_NONE}};
        vyre_report report = engine_run(&down, bindings, 3, NULL, 0, 100, 0);
        assert_int_equal(report.passes, 13);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        vyre_diag diag;
        assert_int_equal(vyre_buffer_download(device, buffer, 0, r, sizeof r, &diag), VYRE_OK);
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(a[i], 0);
            assert_int_equal(r[i], round * 13);
        }
    }
    engine_release(&down);
    engine_release(&chain);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
}

static void run_set_on(layer_settings settings)
{
    layer_reset();
    layer = settings;
    vyre_device *device = engine_open(0);
    run_set(device);
    engine_close(&device);
    assert_true(layer_judged() > 100);
    assert_int_equal(layer_unjudged(), 0);
    assert_int_equal(layer_bad_ranges(), 0);
    assert_int_equal(layer_alive(), 0);
}

static void test_programs_are_right_on_every_played_device(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const layer_settings devices[] = {
        {.no_timestamps = true},
        {.wrap_timestamps = true},
        {.no_coherent_memory = true},
        {.heaps = LAYER_HEAPS_SEPARATE},
        {.heaps = LAYER_HEAPS_REBAR},
        {.heaps = LAYER_HEAPS_MAPPABLE},
        {.heaps = LAYER_HEAPS_UNIFIED},
        {.heaps = LAYER_HEAPS_SEPARATE, .no_coherent_memory = true},
        {.heaps = LAYER_HEAPS_REBAR, .no_coherent_memory = true},
        {.max_allocations = 16},
        {.max_shared = 16384},
        {.three_families = true},
        {.no_optional = true},
        {.no_addresses = true},
        {.no_push_descriptor = true},
        {.no_addresses = true, .no_push_descriptor = true},
        {.max_push = 128},
        {.offset_alignment = 256},
        {.max_groups = 5},
        {.no_optional = true,
         .no_timestamps = true,
         .no_coherent_memory = true,
         .heaps = LAYER_HEAPS_SEPARATE,
         .three_families = true,
         .max_allocations = 16,
         .max_push = 128,
         .offset_alignment = 256},
    };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        print_message("device %u\n", (unsigned)i);
        run_set_on(devices[i]);
    }
}

static void test_layer_plays_limits_and_families(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_shared = 16384;
    layer.max_push = 128;
    layer.offset_alignment = 256;
    layer.three_families = true;
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_int_equal(info.max_shared_size, 16384);
    assert_int_equal(info.max_push_constants_size, 128);
    assert_int_equal(info.offset_alignment, 256);
    assert_int_equal(layer_queue_family(), 1); /* compute without graphics */
    /* An offset that the device could take otherwise. */
    engine_program p = engine_build(device, "program p\nworkgroup 1\ninout a : u32[]\n"
                                            "kernel { a[0] = 1 }\n");
    vyre_buffer buffer = engine_buffer(device, 1024, NULL);
    vyre_binding bindings[] = {engine_resident(buffer, 128, 4)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 1;
    params.groups[0] = 1;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "256"));
    bindings[0].offset = 256;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
    assert_int_equal(layer_bad_ranges(), 0);
}

static void test_layer_plays_clocks_that_wrap(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.wrap_timestamps = true;
    vyre_device *device = engine_open(0);
    engine_program p = engine_build(device, "program slow\nworkgroup 64\ninout a : u32[]\n"
                                            "kernel { var x : u32 = gid.x\n"
                                            "  for i in 0 .. 300000 {\n"
                                            "    x = x * 1664525 + (x >> 3) }\n"
                                            "  a[0] = x }\n");
    uint32_t a = 0;
    vyre_binding bindings[] = {engine_host_inout(&a, 1)};
    vyre_report report = engine_run(&p, bindings, 1, NULL, 0, 1, 0);
    /* The wrap lies inside: taken for a difference of 64 bits it would be hundreds of years, and
     * of 36 bits without the mask more than a minute. */
    assert_true(report.device_dispatches_ns != VYRE_NS_NONE);
    assert_true(report.device_dispatches_ns <= report.device_ns);
    assert_true(report.device_ns <= report.wall_ns);
    assert_true(report.device_dispatches_ns > 0);
    engine_release(&p);
    vyre_device_destroy(&device);
}

static void test_layer_keeps_copies_of_non_coherent_memory_apart(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.no_coherent_memory = true;
    vyre_device *device = engine_open(0);
    uint32_t from[64], to[64] = {0};
    for (uint32_t i = 0; i < 64; i++) {
        from[i] = i * 3;
    }
    vyre_buffer buffer = engine_buffer(device, sizeof from, NULL);
    vyre_diag diag;
    /* A flush that is dropped by a failure leaves the device's copy as it was. */
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, from, sizeof from, &diag), VYRE_OK);
    assert_true(layer_count(LAYER_FLUSH) > 0);
    layer.drop_flushes = true;
    uint32_t other[64] = {0};
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, other, sizeof other, &diag), VYRE_OK);
    layer.drop_flushes = false;
    assert_int_equal(vyre_buffer_download(device, buffer, 0, to, sizeof to, &diag), VYRE_OK);
    assert_memory_equal(from, to, sizeof from);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    vyre_device_destroy(&device);
}

static void test_layer_plays_heaps_that_are_full(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = (uint64_t)48 << 20;
    for (uint32_t separate = 0; separate < 2; separate++) {
        layer_reset();
        layer.heaps = LAYER_HEAPS_SEPARATE;
        layer.heap_room[0] = (uint64_t)64 << 20;
        layer.heap_room[1] = separate ? (uint64_t)1 << 30 : (uint64_t)64 << 20;
        vyre_device *device = engine_open(0);
        vyre_buffer first = {0}, second = {0}, third = {0};
        vyre_diag diag;
        assert_int_equal(vyre_buffer_create(device, &params, &first, &diag), VYRE_OK);
        /* The device's own is full: the host's, where that has room. */
        vyre_result code = vyre_buffer_create(device, &params, &second, &diag);
        if (code != VYRE_OK) {
            assert_int_equal(code, VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
            assert_non_null(strstr(diag.message, "Fix: "));
        }
        assert_true(code == VYRE_OK || !separate);
        params.size = (uint64_t)2 << 30;
        assert_int_equal(vyre_buffer_create(device, &params, &third, &diag),
                         VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
        params.size = (uint64_t)48 << 20;
        assert_int_equal(vyre_buffer_destroy(device, &first, &diag), VYRE_OK);
        vyre_device_destroy(&device);
        assert_int_equal(layer_alive(), 0);
    }
}

static void test_layer_plays_few_allocations(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_allocations = 3;
    vyre_device *device = engine_open(0);
    vyre_buffer buffers[8];
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = (uint64_t)160 << 20; /* too large to share a block */
    vyre_diag diag;
    uint32_t made = 0;
    vyre_result code = VYRE_OK;
    while (made < 8 && code == VYRE_OK) {
        code = vyre_buffer_create(device, &params, &buffers[made], &diag);
        made += code == VYRE_OK;
    }
    assert_int_equal(code, VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_in_range(made, 1, 3);
    for (uint32_t i = 0; i < made; i++) {
        assert_int_equal(vyre_buffer_destroy(device, &buffers[i], &diag), VYRE_OK);
    }
    vyre_device_destroy(&device);
}

static void test_layer_hides_what_is_optional(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device_info info;
    layer.no_addresses = true;
    vyre_device *device = engine_open(0);
    vyre_device_get_info(device, &info);
    assert_int_equal(info.has_addresses, 0);
    vyre_device_destroy(&device);
    layer.no_optional = true;
    device = engine_open(0);
    vyre_device_get_info(device, &info);
    assert_int_equal(info.target, VYRE_TARGET_VULKAN_1_2);
    assert_int_equal(info.has_memory_budget, 0);
    assert_int_equal(info.has_calibrated_timestamps, 0);
    assert_int_equal(info.has_device_fault, 0);
    vyre_device_destroy(&device);
}

static void test_layer_shows_old_values_until_someone_waits(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.slow_polls = true;
    layer.fail_only = "vkWaitSemaphores"; /* counted */
    vyre_device *device = engine_open(0);
    engine_program chain = engine_build(device, chain_text);
    uint32_t before = layer_fallible_calls();
    run_chain(&chain, 100);
    assert_true(layer_fallible_calls() > before);
    engine_release(&chain);
    vyre_device_destroy(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_recorder_sees_the_barriers_of_a_chain),
        T(test_recorder_sees_no_barrier_without_a_hazard),
        T(test_device_without_the_memory_model_runs_1_2_words),
        T(test_device_without_timestamps_reports_none),
        T(test_device_with_non_coherent_memory_is_flushed),
        T(test_device_with_small_grids_gets_folded_ones),
        T(test_device_with_small_grids_ends_fixpoints),
        T(test_device_limits_are_named),
        T(test_dispatch_survives_each_failure),
        T(test_device_lost_is_sticky_and_named),
        T(test_dispatch_that_times_out_keeps_everything),
        T(test_programs_are_right_on_every_played_device),
        T(test_layer_plays_limits_and_families),
        T(test_layer_plays_clocks_that_wrap),
        T(test_layer_keeps_copies_of_non_coherent_memory_apart),
        T(test_layer_plays_heaps_that_are_full),
        T(test_layer_plays_few_allocations),
        T(test_layer_hides_what_is_optional),
        T(test_layer_shows_old_values_until_someone_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
