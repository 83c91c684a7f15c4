/* Loops that do four trips at once (codegen/passes/interleave.c), on a device: as the interpreter
 * does them one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/engine_fixture.h"
#include "tests/support/trips.h"
#include "vyre/text.h"

#include <string.h>

enum { SEEDS = 40, X = 61, Y = 29 };

typedef struct memory {
    uint32_t x[X], y[Y], z[Y], k[8];
} memory;

static void fill(memory *m, uint64_t seed)
{
    uint32_t state = (uint32_t)seed * 2654435761u + 17;
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < X; i++) {
        state = state * 1664525u + 1013904223u;
        m->x[i] = (state >> 20) % 47;
    }
}

static void interpret(const char *text, size_t size, uint32_t p, memory *m)
{
    vyre_program *program = NULL;
    vyre_interp_report report;
    vyre_diag diag;
    vyre_host_buffer buffers[4] = {{m->x, X}, {m->y, Y}, {m->z, Y}, {m->k, 8}};
    vyre_interp_params params = {
        .buffers = buffers, .buffer_count = 4, .params = &p, .param_count = 1, .groups = {1, 1, 1}};
    if (vyre_program_parse(text, size, NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_interp_run(program, &params, &report, &diag) != VYRE_OK) {
        fail_msg("line %u: %s\n%s", diag.line, diag.message, text);
    }
    vyre_program_destroy(&program);
}

static void check_seed(vyre_device *device, uint64_t seed)
{
    static const vyre_binding_mode modes[] = {VYRE_BINDINGS_DESCRIPTOR, VYRE_BINDINGS_ADDRESS};
    static const vyre_strategy strategies[] = {VYRE_STRATEGY_REPLAY, VYRE_STRATEGY_WORKGROUP};
    vy_text text;
    memory wanted, got;
    uint32_t p = (uint32_t)(seed % 50);
    vy_text_init(&text, NULL);
    vy_trips_write(&text, seed);
    assert_false(text.failed);
    fill(&wanted, seed);
    fill(&got, seed);
    interpret(text.data, text.size, p, &wanted);
    engine_program program = engine_build_bound(device, text.data, modes[seed & 1]);
    const vyre_binding bindings[4] = {engine_host_in(got.x, X), engine_host_inout(got.y, Y),
                                      engine_host_inout(got.z, Y), engine_host_inout(got.k, 8)};
    vyre_dispatch_params params = engine_params(bindings, 4);
    params.groups[0] = params.groups[1] = params.groups[2] = 1;
    params.params = &p;
    params.param_count = 1;
    params.strategy = strategies[seed >> 1 & 1];
    (void)must_dispatch(&program, &params);
    if (memcmp(&wanted, &got, sizeof wanted) != 0) {
        fail_msg("seed %llu: other results\n%s", (unsigned long long)seed, text.data);
    }
    engine_release(&program);
    vy_text_finish(&text);
}

static void test_trips_at_once_equal_interpreter(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(1);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        check_seed(device, seed);
    }
    engine_close(&device);
}

/* Rows of every length from 0 on, and one of many trips, counted into the same few elements. */
static void test_rows_of_every_length_are_counted(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { ROWS = 70, MANY = 100000, COUNTERS = 5 };
    static const char text[] =
        "program rows\nworkgroup 32\ngrid over first\nin first : u32[]\nin column : u32[]\n"
        "inout count : u32[]\ninout found : u32[len(first)]\nkernel {\n let r = gid.x\n"
        " if r + 1 < len(first) {\n  for e in first[r] .. first[r + 1] {\n"
        "   let old = atomic_add(count[column[e]], 1)\n"
        "   if old >= 0 { found[r] = found[r] + column[e] + 1 }\n  }\n }\n}\n";
    static uint32_t column[ROWS * (ROWS - 1) / 2 + MANY];
    uint32_t first[ROWS + 2], count[COUNTERS] = {0}, found[ROWS + 2] = {0};
    uint32_t wanted[COUNTERS] = {0}, sums[ROWS + 2] = {0}, at = 0;
    for (uint32_t r = 0; r <= ROWS; r++) {
        first[r] = at;
        for (uint32_t e = 0; e < (r == ROWS ? MANY : r); e++, at++) {
            column[at] = (at * 7 + r) % (COUNTERS + 1); /* the last one is out of bounds */
            wanted[column[at] % COUNTERS] += column[at] < COUNTERS;
            sums[r] += column[at] + 1;
        }
    }
    first[ROWS + 1] = at;
    vyre_device *device = engine_open(1);
    engine_program program = engine_build(device, text);
    const vyre_binding bindings[4] = {engine_host_in(first, ROWS + 2), engine_host_in(column, at),
                                      engine_host_inout(count, COUNTERS),
                                      engine_host_inout(found, ROWS + 2)};
    vyre_dispatch_params params = engine_params(bindings, 4);
    memset(params.groups, 0, sizeof params.groups);
    memset(params.elements, 0, sizeof params.elements);
    (void)must_dispatch(&program, &params);
    assert_memory_equal(count, wanted, sizeof wanted);
    assert_memory_equal(found, sums, sizeof sums);
    engine_release(&program);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trips_at_once_equal_interpreter, engine_reset,
                                        engine_nothing_alive),
        cmocka_unit_test_setup_teardown(test_rows_of_every_length_are_counted, engine_reset,
                                        engine_nothing_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
