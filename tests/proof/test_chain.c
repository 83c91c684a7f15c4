/* A chain of five segments, each of which reads what the slowest workgroup of the one before wrote
 * last. With every barrier in its place the values are right. With any one left out, the log of the
 * recorded commands shows it on every device; the values show it where dispatches run side by side,
 * which processors' drivers never do. */
#include "tests/support/engine_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GROUPS   64u
#define WIDTH    64u
#define COUNT    (GROUPS * WIDTH)
#define SEGMENTS 5u

/* The last workgroup works `spin` trips longer; what all others read in the next segment is its. */
static const char text[] =
    "program chain\nworkgroup 64\n"
    "param spin : u32\n"
    "in seed : u32[]\n"
    "scratch a : u32[len(seed)]\nscratch b : u32[len(seed)]\n"
    "scratch c : u32[len(seed)]\nscratch d : u32[len(seed)]\n"
    "out e : u32[len(seed)]\n"
    "fn work(x : u32, count : u32) -> u32 {\n"
    "    var y = x\n"
    "    for i in 0 .. count { y = y * 1664525 + 1013904223 + i }\n"
    "    return y\n"
    "}\n"
    "fn trips(most : u32) -> u32 { return select(wid.x == num_groups.x - 1, most, 1) }\n"
    "kernel {\n"
    "    let last = len(seed) - 1 - lid.x\n"
    "    a[gid.x] = work(seed[gid.x], trips(spin))\n"
    "    grid_sync\n"
    "    b[gid.x] = work(a[last] + gid.x, trips(spin))\n"
    "    grid_sync\n"
    "    c[gid.x] = work(b[last] + gid.x, trips(spin))\n"
    "    grid_sync\n"
    "    d[gid.x] = work(c[last] + gid.x, trips(spin))\n"
    "    grid_sync\n"
    "    e[gid.x] = work(d[last] + gid.x, trips(spin))\n"
    "}\n";

static uint32_t work(uint32_t x, uint32_t trips)
{
    for (uint32_t i = 0; i < trips; i++) {
        x = x * 1664525u + 1013904223u + i;
    }
    return x;
}

static void expected(const uint32_t *seed, uint32_t spin, uint32_t *out)
{
    uint32_t *from = malloc(COUNT * sizeof *from);
    assert_non_null(from);
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        memcpy(from, out, COUNT * sizeof *from);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t trips = i / WIDTH == GROUPS - 1 ? spin : 1;
            uint32_t x = s == 0 ? seed[i] : from[COUNT - 1 - i % WIDTH] + i;
            out[i] = work(x, trips);
        }
    }
    free(from);
}

/* Dispatches that follow another one without a barrier that orders what was written. */
static uint32_t unordered_dispatches(void)
{
    const VkPipelineStageFlags2 stage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    const VkAccessFlags2 write =
        VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    const VkAccessFlags2 read = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    uint32_t count = 0, unordered = 0;
    const layer_event *events = layer_events(&count);
    bool is_behind_dispatch = false, is_ordered = false;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_BARRIER) {
            is_ordered |= (events[i].src_stages & stage) && (events[i].dst_stages & stage) &&
                          (events[i].src_access & write) && (events[i].dst_access & read);
        } else if (events[i].kind == LAYER_DISPATCH) {
            unordered += is_behind_dispatch && !is_ordered;
            is_behind_dispatch = true;
            is_ordered = false;
        } else if (events[i].kind == LAYER_BEGIN) {
            is_behind_dispatch = false;
        }
    }
    return unordered;
}

typedef struct outcome {
    uint32_t dispatches, unordered, wrong;
} outcome;

static outcome run_chain(uint32_t drop, uint32_t spin)
{
    outcome result = {0, 0, 0};
    uint32_t *seed = malloc(COUNT * sizeof *seed), *e = malloc(COUNT * sizeof *e);
    uint32_t *want = malloc(COUNT * sizeof *want);
    layer_reset();
    vyre_device *device = engine_open(0);
    /* Where copies are commands of their own, so that every dispatch is a segment's. */
    engine_program program = engine_build_bound(device, text, VYRE_BINDINGS_DESCRIPTOR);
    assert_true(seed && e && want);
    for (uint32_t i = 0; i < COUNT; i++) {
        seed[i] = i * 2654435761u;
    }
    expected(seed, spin, want);
    vyre_binding bindings[6] = {{0}};
    bindings[0] = engine_host_in(seed, COUNT);
    bindings[5] = engine_host_out(e, COUNT);
    layer_clear_events();
    layer.drop_barrier = drop;
    (void)engine_run(&program, bindings, 6, &spin, 1, COUNT, 0);
    result.dispatches = layer_count(LAYER_DISPATCH);
    result.unordered = unordered_dispatches();
    for (uint32_t i = 0; i < COUNT; i++) {
        result.wrong += e[i] != want[i];
    }
    layer.drop_barrier = 0;
    engine_release(&program);
    assert_int_equal(layer_hazards(false), drop != 0); /* the two that it ordered */
    layer.no_judge = drop != 0;
    engine_close(&device);
    free(seed);
    free(e);
    free(want);
    return result;
}

static bool runs_side_by_side(void)
{
    vyre_device_info info;
    layer_reset();
    vyre_device *device = engine_open(0);
    vyre_device_get_info(device, &info);
    engine_close(&device);
    return info.type != VYRE_DEVICE_PROCESSOR;
}

static void test_chain_is_right_with_every_barrier(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    outcome result = run_chain(0, 200000);
    assert_int_equal(result.dispatches, SEGMENTS);
    assert_int_equal(result.unordered, 0);
    assert_int_equal(result.wrong, 0);
}

static void test_chain_shows_any_barrier_left_out(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    bool by_value = runs_side_by_side();
    for (uint32_t drop = 1; drop < SEGMENTS; drop++) {
        outcome result = run_chain(drop, 200000);
        assert_int_equal(result.dispatches, SEGMENTS);
        assert_int_equal(result.unordered, 1);
        if (by_value && result.wrong == 0) {
            fail_msg("barrier %u left out, and every value is right", drop);
        }
        print_message("    barrier %u left out: %u of %u values differ\n", drop, result.wrong,
                      COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_is_right_with_every_barrier),
        cmocka_unit_test(test_chain_shows_any_barrier_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
