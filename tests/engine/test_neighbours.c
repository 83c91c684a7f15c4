/* Neighbours that an invocation accesses as one: the same results as one by one, bit for bit,
 * whatever the types, lengths and places of buffers and whatever lies between; by as many
 * invocations as ever; and only where that is possible and the grid is large enough to gain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/device/device.h"
#include "tests/engine/coarse_run.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 150, MANY = 1 << 14 };

static const char *const every_type[] = {"u32", "f32",  "i32",  "u8",  "i8",  "u16", "i16",
                                         "f16", "bf16", "bool", "u64", "i64", "f64"};

static void test_generated_neighbours_agree(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    uint32_t coarse = 0, ran = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_text text;
        vy_text_init(&text, NULL);
        vy_neighbours_write(&text, seed, every_type, VY_COUNT_OF(every_type));
        assert_false(text.failed);
        uint32_t n = 16 + (uint32_t)(seed * 37 % 200);
        vy_generated info = coarse_info(n, seed);
        for (uint32_t t = 0; t < VY_GEN_TYPES; t++) {
            info.lengths[t] = n - (uint32_t)(seed + t) % 5;
        }
        int is_coarse =
            coarse_compare(device, text.data, &info, &coarse_modes[seed % COARSE_MODES]);
        coarse += is_coarse == 1;
        ran += is_coarse != 2;
        vy_text_finish(&text);
    }
    print_message("    %u of %u programs had wide accesses\n", (unsigned)coarse, (unsigned)ran);
    assert_true(coarse > ran / 2);
    vyre_device_destroy(&device);
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* All elements that make 16 bytes, copied backwards; whole blocks of them, and what is left one by
 * one. */
static void check_type(vyre_device *device, const char *type, uint32_t lanes, uint32_t n)
{
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text,
                   "program t\nworkgroup 16\ngrid over y\nin x : %s[]\ninout y : %s[]\nkernel {\n"
                   "let t = wid.x * 16 + lid.x\nif t < len(x) / %u && t < len(y) / %u {\n"
                   "let i = t * %u\n",
                   type, type, (unsigned)lanes, (unsigned)lanes, (unsigned)lanes);
    for (uint32_t k = 0; k < lanes; k++) {
        vy_text_printf(&text, "let v%u_ = x[i + %u]\n", (unsigned)k, (unsigned)k);
    }
    for (uint32_t k = 0; k < lanes; k++) {
        vy_text_printf(&text, "y[i + %u] = v%u_\n", (unsigned)(lanes - 1 - k), (unsigned)k);
    }
    vy_text_printf(&text, "}\nif t >= len(y) / %u * %u && t < len(y) { y[t] = x[t] }\n}\n",
                   (unsigned)lanes, (unsigned)lanes);
    assert_false(text.failed);
    vy_generated info = coarse_info(n, n);
    int ran = coarse_compare(device, text.data, &info, &coarse_modes[n % COARSE_MODES]);
    if (ran == 0 && n > 0) {
        fail_msg("%u elements ran one by one: %s", (unsigned)n, text.data);
    }
    vy_text_finish(&text);
}

static void test_neighbours_of_every_type_keep_their_bits(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {{"u8", 1},  {"i8", 1},    {"u16", 2},   {"i16", 2},  {"f16", 2}, {"bf16", 2},
                 {"u32", 4}, {"i32", 4},   {"f32", 4},   {"bool", 4}, {"u64", 8}, {"i64", 8},
                 {"f64", 8}, {"u32x2", 8}, {"i32x2", 8}, {"f32x2", 8}};
    static const uint32_t sizes[] = {0, 1, 15, 16, 17, 130, 515};
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
        for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
            uint32_t lanes = 16 / types[t].size;
            check_type(device, types[t].name, lanes, sizes[s]);
            if (lanes > 2 && lanes * types[t].size > 4) { /* half of them: 8 bytes */
                check_type(device, types[t].name, lanes / 2, sizes[s] + 1);
            }
        }
    }
    vyre_device_destroy(&device);
}

/* ---- Which dispatches ------------------------------------------------------------------------ */

typedef struct memory {
    vyre_device *device;
    uint32_t *x, *y;
} memory;

enum { MOST = MANY * 4 + 8 };

static int open_memory(void **state)
{
    (void)engine_reset(state);
    memory *m = calloc(1, sizeof *m);
    *state = m;
    if (!engine_has_no_device()) {
        m->device = engine_open(1);
    }
    m->x = calloc(MOST, sizeof *m->x);
    m->y = calloc(MOST, sizeof *m->y);
    for (uint32_t i = 0; m->x && i < MOST; i++) {
        m->x[i] = i * 2654435761u;
    }
    return m->x && m->y ? 0 : -1;
}

static int close_memory(void **state)
{
    memory *m = *state;
    if (m->device) {
        engine_close(&m->device);
    }
    free(m->x);
    free(m->y);
    free(m);
    return 0;
}

/* Sums of fours in blocks of four, by workgroups of that shape. */
static engine_program build_fours(const memory *m, const char *workgroup, const char *number,
                                  vyre_binding_mode mode)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "program fours\nworkgroup %s\nin x : u32[]\ninout y : u32[len(x)]\n"
                   "kernel {\n let t = %s\n if t < len(x) / 4 {\n  let i = t * 4\n"
                   "  y[i] = x[i]\n  y[i + 1] = x[i] + x[i + 1]\n"
                   "  y[i + 2] = x[i] + x[i + 1] + x[i + 2]\n"
                   "  y[i + 3] = x[i] + x[i + 1] + x[i + 2] + x[i + 3]\n }\n}\n",
                   workgroup, number);
    return engine_build_bound(m->device, text, mode);
}

static void check_fours(const uint32_t *x, const uint32_t *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t wanted = 0;
        for (uint32_t k = i / 4 * 4; k <= i && i < n / 4 * 4; k++) {
            wanted += x[k];
        }
        if (y[i] != wanted) {
            fail_msg("element %u of %u is %u", (unsigned)i, (unsigned)n, (unsigned)y[i]);
        }
    }
}

static void test_neighbours_are_joined_where_grids_gain(void **state)
{
    memory *m = *state;
    NEED_OPEN(m->device);
    static const char tells[] = "wid.x * 64 + lid.x", agnostic[] = "gid.x";
    const struct {
        const char *workgroup, *number;
        uint32_t groups[3];
        vyre_coarsening asked;
        bool is_coarse;
    } cases[] = {
        {"64", tells, {MANY / 64, 1, 1}, VYRE_COARSENING_AUTO, true},
        {"64", tells, {MANY / 64 - 1, 1, 1}, VYRE_COARSENING_AUTO, false},
        {"64", tells, {MANY / 64, 1, 1}, VYRE_COARSENING_NEVER, false},
        {"64", tells, {3, 1, 1}, VYRE_COARSENING_ALWAYS, true},
        /* The grid's other dimensions count, and may be there. */
        {"64",
         "(wid.z * 2 + wid.y) * (num_groups.x * 64) + wid.x * 64 + lid.x",
         {MANY / 64 / 4, 2, 2},
         VYRE_COARSENING_AUTO,
         true},
        {"8, 8", "wid.x * 64 + lid.y * 8 + lid.x", {5, 1, 1}, VYRE_COARSENING_ALWAYS, true},
        /* Who cannot tell workgroups may do several elements an invocation, and is asked later. */
        {"64", agnostic, {MANY / 64, 1, 1}, VYRE_COARSENING_AUTO, false},
        {"64", agnostic, {MANY / 64, 1, 1}, VYRE_COARSENING_ALWAYS, true},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        uint32_t groups = cases[i].groups[0] * cases[i].groups[1] * cases[i].groups[2];
        uint32_t n = groups * 64 * 4 + (uint32_t)i % 4;
        engine_program p = build_fours(m, cases[i].workgroup, cases[i].number, VYRE_BINDINGS_AUTO);
        const vyre_binding bindings[2] = {engine_host_in(m->x, n), engine_host_inout(m->y, n)};
        vyre_dispatch_params params = engine_params(bindings, 2);
        memcpy(params.groups, cases[i].groups, sizeof params.groups);
        params.coarsening = cases[i].asked;
        memset(m->y, 0, n * sizeof *m->y);
        layer_clear_events();
        vyre_report report = must_dispatch(&p, &params);
        assert_int_equal(report.is_coarse, cases[i].is_coarse);
        assert_memory_equal(report.groups, cases[i].groups, sizeof report.groups);
        check_fours(m->x, m->y, n);
        /* Launched as ever. */
        uint32_t count, launched = 0;
        const layer_event *events = layer_events(&count);
        for (uint32_t e = 0; e < count; e++) {
            launched += events[e].kind == LAYER_DISPATCH &&
                        memcmp(events[e].groups, cases[i].groups, sizeof events[e].groups) == 0;
        }
        assert_true(launched > 0);
        engine_release(&p);
    }
}

/* By addresses, wide accesses need the bytes of their type. Elsewhere the same words do it that did
 * it before, with the same results. */
static void test_neighbours_begin_at_multiples_of_16_bytes(void **state)
{
    memory *m = *state;
    NEED_OPEN(m->device);
    enum { N = 1003 };
    uint32_t given = m->device->snapshot.info.offset_alignment;
    engine_program p = build_fours(m, "64", "wid.x * 64 + lid.x",
                                   m->device->snapshot.info.has_addresses ? VYRE_BINDINGS_ADDRESS
                                                                          : VYRE_BINDINGS_AUTO);
    vyre_buffer x = engine_buffer(m->device, (N + 8) * 4, m->x);
    for (uint32_t place = 0; place < 36 && m->device->snapshot.info.has_addresses; place++) {
        uint64_t from = place % 6 * 4, to = place / 6 * 4;
        vyre_buffer y = engine_buffer(m->device, (N + 8) * 4, NULL);
        const vyre_binding bindings[2] = {engine_resident(x, from, N), engine_resident(y, to, N)};
        vyre_dispatch_params params = engine_params(bindings, 2);
        params.groups[0] = (N + 63) / 64;
        params.coarsening = VYRE_COARSENING_ALWAYS;
        m->device->snapshot.info.offset_alignment = 4; /* the device would take them */
        vyre_report report = must_dispatch(&p, &params);
        m->device->snapshot.info.offset_alignment = given;
        vyre_diag diag;
        assert_int_equal(vyre_buffer_download(m->device, y, to, m->y, N * 4, &diag), VYRE_OK);
        assert_int_equal(report.is_coarse, from % 16 == 0 && to % 16 == 0);
        check_fours(m->x + from / 4, m->y, N);
        must_destroy(m->device, &y);
    }
    must_destroy(m->device, &x);
    engine_release(&p);
}

/* The device decides how many passes run, and the flag is no neighbour of anything. */
static void test_neighbours_are_joined_in_fixpoints(void **state)
{
    memory *m = *state;
    NEED_OPEN(m->device);
    enum { N = 64 * 4 * 3 + 2 };
    static const char text[] =
        "program f\nworkgroup 64\ninout y : u32[]\nscratch more : u32[4]\n"
        "fixpoint 50 until more\nkernel {\n let t = wid.x * 64 + lid.x\n"
        " if t < len(y) / 4 {\n  let i = t * 4\n  let a = y[i + 1]\n  let b = y[i + 3]\n"
        "  y[i] = y[i + 2] ^ b\n  y[i + 1] = a + 1\n  y[i + 2] = a ^ b\n"
        "  y[i + 3] = min(b + 1, 9)\n  if b < 9 { more[0] = 1 more[1] = 5 }\n }\n}\n";
    engine_program p = engine_build(m->device, text);
    uint32_t *model = calloc(N, sizeof *model), passes = 0;
    assert_non_null(model);
    for (bool more = true; more; passes++) {
        more = false;
        for (uint32_t i = 0; i + 4 <= N; i += 4) {
            uint32_t a = model[i + 1], b = model[i + 3];
            model[i] = model[i + 2] ^ b;
            model[i + 1] = a + 1;
            model[i + 2] = a ^ b;
            model[i + 3] = b + 1 < 9 ? b + 1 : 9;
            more = more || b < 9;
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        const vyre_binding bindings[2] = {engine_host_inout(m->y, N), {.kind = VYRE_BINDING_NONE}};
        vyre_dispatch_params params = engine_params(bindings, 2);
        params.groups[0] = 3;
        params.strategy = VYRE_STRATEGY_REPLAY;
        params.coarsening = i ? VYRE_COARSENING_NEVER : VYRE_COARSENING_ALWAYS;
        memset(m->y, 0, N * sizeof *m->y);
        vyre_report report = must_dispatch(&p, &params);
        assert_int_equal(report.is_coarse, !i);
        assert_int_equal(report.passes, passes);
        assert_memory_equal(m->y, model, N * sizeof *model);
    }
    free(model);
    engine_release(&p);
}

/* More workgroups than the device launches in a dimension. */
static void test_neighbours_are_joined_in_folded_grids(void **state)
{
    (void)state;
    NEED_DEVICE();
    enum { N = 64 * 4 * 13 + 3 };
    layer.max_groups = 4;
    memory m = {.device = engine_open(1)};
    m.x = calloc(N, sizeof *m.x);
    m.y = calloc(N, sizeof *m.y);
    assert_true(m.x && m.y);
    for (uint32_t i = 0; i < N; i++) {
        m.x[i] = i * 2654435761u;
    }
    engine_program p = build_fours(&m, "64", "wid.x * 64 + lid.x", VYRE_BINDINGS_AUTO);
    const vyre_binding bindings[2] = {engine_host_in(m.x, N), engine_host_inout(m.y, N)};
    vyre_dispatch_params params = engine_params(bindings, 2);
    params.groups[0] = 13;
    params.coarsening = VYRE_COARSENING_ALWAYS;
    vyre_report report = must_dispatch(&p, &params);
    assert_int_equal(report.is_coarse, 1);
    assert_int_equal(report.is_folded, 1);
    assert_int_equal(report.groups[0], 13);
    check_fours(m.x, m.y, N);
    engine_release(&p);
    engine_close(&m.device);
    free(m.x);
    free(m.y);
}

/* Of what overlaps nothing is joined: a store in between might be the same element's. */
static void test_neighbours_in_overlaps_are_accessed_one_by_one(void **state)
{
    memory *m = *state;
    NEED_OPEN(m->device);
    enum { N = 256 };
    static const char text[] =
        "program o\nworkgroup 64\ninout x : u32[]\ninout y : u32[]\nkernel {\n"
        " let t = wid.x * 64 + lid.x\n if t < len(x) / 2 && t < len(y) / 2 {\n  let i = t * 2\n"
        "  let a = x[i]\n  y[i + 1] = a + 1\n  let b = x[i + 1]\n  y[i] = b\n }\n}\n";
    for (uint32_t is_same = 0; is_same < 2; is_same++) {
        engine_program p = engine_build(m->device, text);
        vyre_buffer x = engine_buffer(m->device, N * 4, m->x);
        vyre_buffer y = engine_buffer(m->device, N * 4, m->x);
        const vyre_binding bindings[2] = {engine_resident(x, 0, N),
                                          engine_resident(is_same ? x : y, 0, N)};
        vyre_dispatch_params params = engine_params(bindings, 2);
        params.groups[0] = N / 128;
        params.coarsening = VYRE_COARSENING_ALWAYS;
        vyre_report report = must_dispatch(&p, &params);
        vyre_diag diag;
        assert_int_equal(report.is_coarse, !is_same);
        assert_int_equal(vyre_buffer_download(m->device, is_same ? x : y, 0, m->y, N * 4, &diag),
                         VYRE_OK);
        for (uint32_t i = 0; i < N; i += 2) {
            assert_int_equal(m->y[i + 1], m->x[i] + 1);
            assert_int_equal(m->y[i], is_same ? m->x[i] + 1 : m->x[i + 1]);
        }
        must_destroy(m->device, &x);
        must_destroy(m->device, &y);
        engine_release(&p);
    }
}

/* Runs the tests whose names match the argument; without one all. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_neighbours_agree),
        cmocka_unit_test(test_neighbours_of_every_type_keep_their_bits),
        cmocka_unit_test_setup_teardown(test_neighbours_are_joined_where_grids_gain, open_memory,
                                        close_memory),
        cmocka_unit_test_setup_teardown(test_neighbours_begin_at_multiples_of_16_bytes, open_memory,
                                        close_memory),
        cmocka_unit_test_setup_teardown(test_neighbours_are_joined_in_fixpoints, open_memory,
                                        close_memory),
        cmocka_unit_test_setup_teardown(test_neighbours_are_joined_in_folded_grids, engine_reset,
                                        engine_nothing_alive),
        cmocka_unit_test_setup_teardown(test_neighbours_in_overlaps_are_accessed_one_by_one,
                                        open_memory, close_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
