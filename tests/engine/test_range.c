/* Bindings larger than a descriptor may be: by addresses they are like others, by descriptors they
 * are refused. */
#include "engine/exec/job.h"
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANGE 4096u /* bytes */
#define COUNT 5000u /* elements: 20,000 bytes */

static const char scale_text[] = "program scale\nworkgroup 64\n"
                                 "in x : u32[]\ninout s : u32[]\nout y : u32[len(x)]\n"
                                 "scratch t : u32[len(x)]\n"
                                 "kernel {\n"
                                 "  if gid.x < len(x) {\n"
                                 "    t[gid.x] = x[gid.x] * 3 + y[gid.x]\n"
                                 "    atomic_add(s[len(x) - 1 - gid.x], x[gid.x])\n"
                                 "  }\n"
                                 "  grid_sync\n"
                                 "  if gid.x < len(x) { y[gid.x] = t[gid.x] + t[len(x)] }\n"
                                 "}\n";

static void expect_scaled(const uint32_t *y, const uint32_t *s)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(y[i], (i * 7 + 1) * 3);
        assert_int_equal(s[i], 100 + (COUNT - 1 - i) * 7 + 1);
    }
}

static void run_scaled(const engine_program *p, bool is_resident, vyre_device *device,
                       const char *way)
{
    static uint32_t x[COUNT], s[COUNT], y[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = i * 7 + 1;
        s[i] = 100;
        y[i] = 9;
    }
    vyre_buffer buffers[3] = {{0}};
    vyre_binding bindings[4] = {engine_host_in(x, COUNT),
                                engine_host_inout(s, COUNT),
                                engine_host_out(y, COUNT),
                                {.kind = VYRE_BINDING_NONE}};
    for (uint32_t b = 0; b < 3 && is_resident; b++) {
        const uint32_t *const data[3] = {x, s, y};
        buffers[b] = engine_buffer(device, sizeof x, data[b]);
        bindings[b] = engine_resident(buffers[b], 0, COUNT);
        bindings[b].out = b == 1 ? s : b == 2 ? y : NULL;
    }
    vyre_dispatch_params params = engine_elements(bindings, 4, COUNT);
    vyre_report report = must_dispatch(p, &params);
    assert_string_equal(report.bindings, way);
    expect_scaled(y, s);
    for (uint32_t b = 0; b < 3 && is_resident; b++) {
        must_destroy(device, &buffers[b]);
    }
}

static void test_range_is_no_limit_by_addresses(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_range = RANGE;
    vyre_device *device = engine_open(0);
    static const vyre_binding_mode modes[] = {VYRE_BINDINGS_ADDRESS, VYRE_BINDINGS_AUTO};
    for (int m = 0; m < 2; m++) {
        engine_program p = engine_build_bound(device, scale_text, modes[m]);
        run_scaled(&p, false, device, "address");
        run_scaled(&p, true, device, "address");
        engine_release(&p);
    }
    engine_close(&device);
}

static void expect_refused(const engine_program *p, const vyre_dispatch_params *params,
                           uint32_t binding)
{
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p->pipeline, params, NULL, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(diag.binding, binding);
    assert_non_null(strstr(diag.message, "maxStorageBufferRange, 4096 bytes"));
    assert_non_null(strstr(diag.message, ". Fix: let the pipeline use addresses"));
}

static void test_range_is_a_limit_by_descriptors(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer.max_range = RANGE;
    vyre_device *device = engine_open(0);
    engine_program p = engine_build_bound(device, scale_text, VYRE_BINDINGS_DESCRIPTOR);
    static uint32_t x[COUNT], s[COUNT], y[COUNT];
    vyre_binding bindings[4] = {engine_host_in(x, RANGE / 4),
                                engine_host_inout(s, RANGE / 4 + 1),
                                engine_host_out(y, RANGE / 4),
                                {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params = engine_elements(bindings, 4, RANGE / 4);
    expect_refused(&p, &params, 1);
    bindings[1].count = RANGE / 4;
    (void)must_dispatch(&p, &params);
    engine_release(&p);
    engine_close(&device);
    /* Without addresses there is no other way. */
    layer.no_addresses = true;
    device = engine_open(0);
    p = engine_build(device, scale_text);
    bindings[0].count = RANGE / 4 + 1;
    bindings[2].count = RANGE / 4 + 1;
    expect_refused(&p, &params, 0);
    engine_release(&p);
    engine_close(&device);
}

/* The device's own limit, which lavapipe has at 128 MiB: neighbours of what is written stay. */
static void test_range_of_the_device_itself(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    if (info.max_storage_range > (uint64_t)256 << 20 || !info.has_addresses) {
        print_message("maxStorageBufferRange is %llu: tests/soak/soak_large.c has such sizes\n",
                      (unsigned long long)info.max_storage_range);
        engine_close(&device);
        return;
    }
    uint64_t size = info.max_storage_range + 4096;
    uint32_t last = (uint32_t)(size / 4) - 1, edge = (uint32_t)(info.max_storage_range / 4);
    uint32_t at[8] = {0, 1, edge - 1, edge, edge + 1, last, last + 1, UINT32_MAX}, y[8];
    engine_program p = engine_build_bound(device,
                                          "program poke\nworkgroup 8\n"
                                          "inout x : u32[]\nin at : u32[8]\nout y : u32[8]\n"
                                          "kernel {\n"
                                          "  y[gid.x] = x[at[gid.x]]\n"
                                          "  x[at[gid.x]] = at[gid.x] + 1\n"
                                          "  y[gid.x] = y[gid.x] + x[at[gid.x]] * 10 }\n",
                                          VYRE_BINDINGS_ADDRESS);
    vyre_buffer buffer = engine_buffer(device, size, NULL);
    vyre_diag diag;
    assert_int_equal(vyre_buffer_fill(device, buffer, 0, size, 7, &diag), VYRE_OK);
    vyre_binding bindings[3] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED),
                                engine_host_in(at, 8), engine_host_out(y, 8)};
    vyre_dispatch_params params = engine_elements(bindings, 3, 8);
    (void)must_dispatch(&p, &params);
    uint32_t *words = malloc(size);
    assert_non_null(words);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, size, &diag), VYRE_OK);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(y[i], at[i] <= last ? 7 + (at[i] + 1) * 10 : 0);
    }
    for (uint32_t i = 0; i <= last; i++) {
        bool is_poked = i < 2 || (i >= edge - 1 && i <= edge + 1) || i == last;
        if (words[i] != (is_poked ? i + 1 : 7)) {
            fail_msg("element %u is %u", (unsigned)i, (unsigned)words[i]);
        }
    }
    free(words);
    must_destroy(device, &buffer);
    engine_release(&p);
    engine_close(&device);
}

/* Words that compute addresses are made for what a chain's index may not reach on some driver: by
 * bytes or by elements, whichever are too many first. */
static void test_computed_addresses_are_chosen_by_size(void **state)
{
    const uint64_t gib4 = (uint64_t)1 << 32;
    static const struct {
        uint32_t element_size, length;
        bool exceeds;
    } rows[] = {
        {1, 1u << 31, false},  {1, (1u << 31) + 1, true},
        {2, 1u << 31, false},  {2, (1u << 31) + 1, true},
        {4, 1u << 30, false},  {4, (1u << 30) + 1, true},
        {8, 1u << 29, false},  {8, (1u << 29) + 1, true},
        {16, 1u << 28, false}, {16, (1u << 28) + 1, true},
        {4, 0, false},         {1, UINT32_MAX, true},
    };
    static vy_job job;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t b = 0; b < 3; b++) {
            memset(&job, 0, sizeof job);
            job.element_sizes[b] = rows[i].element_size;
            job.shape.lengths[b] = rows[i].length;
            assert_int_equal(vy_job_exceeds_chains(&job, 3), rows[i].exceeds);
            assert_false(vy_job_exceeds_chains(&job, b));
        }
    }
    memset(&job, 0, sizeof job);
    job.spill_size = gib4;
    assert_false(vy_job_exceeds_chains(&job, 1));
    job.spill_size = gib4 + 4;
    assert_true(vy_job_exceeds_chains(&job, 1));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_range_is_no_limit_by_addresses),
        T(test_range_is_a_limit_by_descriptors),
        T(test_range_of_the_device_itself),
        cmocka_unit_test(test_computed_addresses_are_chosen_by_size),
    };
    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
