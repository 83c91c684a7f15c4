/* Invocations that do several elements each: the same results as one by one, bit for bit, whatever
 * the sizes, types, lengths and places of buffers; launched for fewer workgroups; and only where
 * that is possible and the grid is large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "engine/device/device.h"
#include "tests/engine/coarse_run.h"
#include "tests/support/engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 18, STREAM_SEEDS = 150 };

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct row {
    const char *body;
    bool is_coarse;
} row;

#define HEAD                                                                                       \
    "program p\nworkgroup 32\ngrid over y\nin x : u32[]\nin f : f32[]\ninout y : u32[]\n"          \
    "inout g : f32[]\ninout n : i32[8]\ninout k : u32[8]\nkernel {\n"

static const row rows[] = {
    {"y[gid.x] = x[gid.x]\n", true},
    {"y[gid.x] = x[gid.x] * 3 + 1\n", true},
    {"y[gid.x] = y[gid.x] + 1\n", true}, /* in place */
    {"let v = y[gid.x]  y[gid.x] = v ^ x[gid.x]  g[gid.x] = f[gid.x] * g[gid.x]\n", true},
    {"if x[gid.x] % 3 == 0 { y[gid.x] = x[gid.x] }\n", true},
    {"if x[gid.x] % 3 == 0 { y[gid.x] = 1 } else { y[gid.x] = y[gid.x] + 5 }\n", false},
    {"var v = x[gid.x]  if v % 2 == 1 { if v % 5 == 1 { v = select(f[gid.x] > 0.0, 1, 7) }  v += 3 "
     "}\n"
     "y[gid.x] = v\n",
     true},
    {"var v = 1\nswitch x[gid.x] % 4 { case 0 { v = 2 } case 1, 2 { v = x[gid.x] } default { } }\n"
     "y[gid.x] = v\n",
     true},
    {"y[gid.x] = 1  if x[gid.x] % 3 == 0 { y[gid.x] = 2 }\n", true},
    {"if x[gid.x] % 3 == 0 { y[gid.x] = 1 } else { if f[gid.x] > 0.0 { y[gid.x] = 4 } else {\n"
     "y[gid.x] = x[gid.x] } }\n",
     true},
    {"let v = y[gid.x]  if v % 3 == 0 { y[gid.x] = x[gid.x] }\n", true},
    {"let v = g[gid.x]  switch x[gid.x] % 3 { case 0 { g[gid.x] = v * 2.0 } case 1 {\n"
     "g[gid.x] = f[gid.x] } default { } }\n",
     true},
    {"y[gid.x] = x[x[gid.x] % len(x)]  g[gid.x] = f[gid.x]\n", true}, /* gathers */
    {"y[gid.x] = x[7] + x[gid.x]\n", true},                           /* one for all */
    {"g[gid.x] = f[gid.x] + f[gid.x] * 0.5\n", true},
    {"let z = k[0]  y[gid.x] = x[gid.x] + z\n", true},
    {"if gid.x < len(x) { y[gid.x] = x[gid.x] }\n", true},
    {"if gid.y > 0 { y[gid.x] = 3 }  y[gid.x] = y[gid.x] + x[gid.x]\n", false},
    /* Atomics. */
    {"atomic_add(k[0], x[gid.x])\n", true},
    {"atomic_sub(k[1], x[gid.x])  atomic_sub(k[2], 3)\n", true},
    {"if (x[gid.x] & 1) == 1 { atomic_add(k[0], 1) }\n", true},
    {"let v = i32(x[gid.x])  atomic_min(n[0], v)\n", true},
    {"let v = i32(x[gid.x])  if v > 5 { atomic_max(n[1], v) } else { atomic_max(n[2], -v) }\n",
     true},
    {"atomic_and(k[3], x[gid.x])\n", true},
    {"if f[gid.x] > 0.0 { atomic_or(k[4], x[gid.x]) }\n", true},
    {"atomic_xor(k[5], x[gid.x])  y[gid.x] = x[gid.x]\n", true},
    {"atomic_add(k[99], x[gid.x])\n", true}, /* nowhere */
    {"if x[gid.x] % 2 == 0 { if x[gid.x] % 3 == 0 { atomic_add(k[0], 2) } else {\n"
     "atomic_add(k[1], 5) } } else { atomic_add(k[0], 9) }\n",
     true},
    {"atomic_add(k[0], x[gid.x])  atomic_max(k[1], x[gid.x])\n", true}, /* not one operator */
    {"let v = x[gid.x]  atomic_add(k[v % 8], 1)\n", true},              /* a histogram */
    {"atomic_add(k[0], 1)  atomic_add(k[1], 1)  atomic_add(k[2], 1)  atomic_add(k[3], 1)\n"
     "atomic_add(k[4], 1)  atomic_add(k[5], x[gid.x])\n",
     true}, /* more than are joined */
    /* Not for this. */
    {"y[gid.x] = x[gid.x + 1] + x[gid.x]\n", false}, /* neighbours share what is loaded */
    {"y[gid.x] = x[len(x) - 1 - gid.x]\n", false},
    {"for i in 0 .. x[gid.x] % 4 { y[gid.x] = i }\n", false},
    {"if x[gid.x] == 77 { return }\ny[gid.x] = x[gid.x]\n", false},
    {"let v = y[gid.x]  y[gid.x] = 3  g[gid.x] = f32(y[gid.x] + v)\n", false},
    {"if x[gid.x] == 1234567 { trap(3) }\ny[gid.x] = x[gid.x]\n", false},
    {"var a : u32[4]\na[x[gid.x] % 4] = 1  y[gid.x] = a[1]\n", false},
    {"if gid.x == 0 { atomic_add(k[0], 1, release) }  y[gid.x] = x[gid.x]\n", false},
    {"y[gid.x] = gid.x\n", true},
    {"atomic_add(k[0], 1)\n", false}, /* no stream */
};

/* In one of the modes. */
static void check_row(vyre_device *device, const row *r, uint32_t n, uint64_t seed)
{
    char text[2048];
    (void)snprintf(text, sizeof text, HEAD "%s}\n", r->body);
    vy_generated info = coarse_info(n, seed);
    int ran = coarse_compare(device, text, &info, &coarse_modes[seed % COARSE_MODES]);
    if (ran != (r->is_coarse && n > 0)) {
        fail_msg("%u elements ran %s: %s", (unsigned)n, ran ? "coarse" : "one by one", r->body);
    }
}

static void test_coarse_programs_keep_what_they_mean(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const uint32_t sizes[] = {0, 1, 3, 4, 5, 15, 16, 17, 515};
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    for (size_t r = 0; r < VY_COUNT_OF(rows); r++) {
        for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
            check_row(device, &rows[r], sizes[s], r + s);
        }
    }
    vyre_device_destroy(&device);
}

/* Elements of 32 bits that are stored, for an invocation; in words of 16 bytes. */
static uint32_t stored_blocks(const vyre_device *device)
{
    return vy_device_coarse_ways(device) & VY_WAY_LONG ? 4 : 1;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static void check_type(vyre_device *device, const char *type, uint32_t n)
{
    static const char *const bodies[] = {
        "y[gid.x] = x[gid.x]\n",
        "let v = y[gid.x]  if k[gid.x] > 5 { y[gid.x] = x[gid.x] }  z[gid.x] = v\n",
        "y[gid.x] = x[gid.x]  c[gid.x] = b[gid.x]\n", /* beside bytes */
    };
    for (size_t i = 0; i < VY_COUNT_OF(bodies); i++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "program t\nworkgroup 16\ngrid over y\nin x : %s[]\nin k : u32[]\n"
                       "in b : u8[]\ninout y : %s[]\ninout z : %s[]\ninout c : u8[]\n"
                       "kernel {\n%s}\n",
                       type, type, type, bodies[i]);
        vy_generated info = coarse_info(n, n + i);
        int ran = coarse_compare(device, text, &info, &coarse_modes[(n + i) % 2]);
        /* Two bytes are no word. */
        bool is_kept = i == 2 && (strstr(type, "64") || strstr(type, "x2"));
        if (ran != 2 && !is_kept && ran != 1) {
            fail_msg("%u elements ran one by one: %s", (unsigned)n, text);
        }
    }
}

static void test_coarse_accesses_of_every_type_keep_its_bits(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char *const wide[] = {"u8",  "i8",    "u16",   "i16",  "f16", "bf16",
                                       "u32", "i32",   "f32",   "bool", "u64", "i64",
                                       "f64", "u32x2", "i32x2", "f32x2"};
    static const char *const whole[] = {"u32x4", "i32x4", "f32x4"};
    static const uint32_t sizes[] = {3, 4, 16, 17, 300};
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    for (size_t s = 0; s < VY_COUNT_OF(sizes); s++) {
        for (size_t t = 0; t < VY_COUNT_OF(wide); t++) {
            check_type(device, wide[t], sizes[s]);
        }
        for (size_t t = 0; t < VY_COUNT_OF(whole); t++) {
            char text[256];
            (void)snprintf(text, sizeof text,
                           "program w\ngrid over y\nin x : %s[]\ninout y : %s[]\n"
                           "kernel { y[gid.x] = x[gid.x] }\n",
                           whole[t], whole[t]);
            vy_generated info = coarse_info(sizes[s], s);
            /* Where an invocation costs more, it does several of them. */
            assert_int_equal(coarse_compare(device, text, &info, &coarse_modes[0]),
                             stored_blocks(device) > 1);
        }
    }
    vyre_device_destroy(&device);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* The grid is over y, of type u16: the others end before it, or behind. */
static void test_coarse_dispatches_check_every_length(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const char *const bodies[] = {
        "let v = x[gid.x]\ny[gid.x] = u16(v)\ns[gid.x] = i32(v) + 1\n"
        "if f[gid.x] == 0.0 { t[gid.x] = i16(v) }\n",
        "if gid.x < len(x) && len(s) > gid.x { s[gid.x] = i32(x[gid.x])\ny[gid.x] = 5 }\n",
        "if gid.x >= len(f) { return }\ny[gid.x] = y[gid.x] + u16(x[gid.x])\n",
        "if gid.x < len(f) { atomic_xor(s[0], i32(x[gid.x])) }\n",
        "var v = 3\nif !(gid.x >= len(s)) { v = x[gid.x] }\ny[gid.x] = u16(v)\n",
    };
    static const uint32_t grids[] = {1, 7, 9, 200};
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    uint32_t coarse = 0, ran = 0;
    for (uint32_t i = 0; i < VY_COUNT_OF(grids) * VY_COUNT_OF(bodies) * 9; i++) {
        uint32_t n = grids[i % VY_COUNT_OF(grids)], pick = i / 2;
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "program l\nworkgroup 8\ngrid over y\nin x : u32[]\nin f : f32[]\n"
                       "inout y : u16[]\ninout s : i32[]\ninout t : i16[]\nkernel {\n%s}\n",
                       bodies[i % VY_COUNT_OF(bodies)]);
        vy_generated info = coarse_info(n, i);
        const uint32_t others[3] = {n, n / 2 + 1, n - 1};
        info.lengths[vy_generate_find_type("u32")] = others[pick % 3];
        info.lengths[vy_generate_find_type("i32")] = others[pick / 3 % 3] + i % 2;
        info.lengths[vy_generate_find_type("f32")] = others[pick / 9 % 3];
        coarse += coarse_compare(device, text, &info, &coarse_modes[i % 4]) == 1;
        ran++;
    }
    assert_int_equal(coarse, ran);
    vyre_device_destroy(&device);
}

/* ---- Which dispatches ------------------------------------------------------------------------ */

static const char map_text[] = "program map\nworkgroup 64\ngrid over y\nin x : u32[]\n"
                               "inout y : u32[]\nkernel { y[gid.x] = x[gid.x] * 3 + 1 }\n";

typedef struct large {
    vyre_device *device;
    uint32_t *x, *y;
} large;

static int open_large(void **state)
{
    (void)engine_reset(state);
    large *l = calloc(1, sizeof *l);
    *state = l;
    if (!engine_has_no_device()) {
        l->device = engine_open(1);
    }
    l->x = calloc(LARGE + 8, sizeof *l->x);
    l->y = calloc(LARGE + 8, sizeof *l->y);
    for (uint32_t i = 0; l->x && i < LARGE + 8; i++) {
        l->x[i] = i * 2654435761u;
    }
    return l->x && l->y ? 0 : -1;
}

static int close_large(void **state)
{
    large *l = *state;
    if (l->device) {
        engine_close(&l->device);
    }
    free(l->x);
    free(l->y);
    free(l);
    return 0;
}

/* The groups of the last dispatch of the program's own. */
static uint32_t launched(void)
{
    uint32_t count, groups = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        groups = events[i].kind == LAYER_DISPATCH && events[i].groups[0] > groups
                     ? events[i].groups[0]
                     : groups;
    }
    return groups;
}

static void check_map(const large *l, uint32_t n, const vyre_report *report, bool is_coarse)
{
    assert_int_equal(report->is_coarse, is_coarse);
    assert_int_equal(report->groups[0], (n + 63) / 64); /* of the grid, however it is launched */
    for (uint32_t i = 0; i < n; i++) {
        if (l->y[i] != l->x[i] * 3 + 1) {
            fail_msg("element %u of %u is %u", (unsigned)i, (unsigned)n, (unsigned)l->y[i]);
        }
    }
}

static void test_coarse_dispatches_are_those_of_large_grids(void **state)
{
    large *l = *state;
    NEED_OPEN(l->device);
    engine_program p = engine_build(l->device, map_text);
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t n = LARGE - 1 + i % 3;
        vyre_coarsening asked = i < 3   ? VYRE_COARSENING_AUTO
                                : i < 6 ? VYRE_COARSENING_NEVER
                                        : VYRE_COARSENING_ALWAYS;
        bool is_coarse = i >= 6 || (i < 3 && n >= LARGE);
        const vyre_binding bindings[2] = {engine_host_in(l->x, n), engine_host_inout(l->y, n)};
        vyre_dispatch_params params = engine_params(bindings, 2);
        memset(params.groups, 0, sizeof params.groups);
        params.coarsening = asked;
        memset(l->y, 0, n * sizeof *l->y);
        layer_clear_events();
        vyre_report report = must_dispatch(&p, &params);
        check_map(l, n, &report, is_coarse);
        uint32_t groups = (n + 63) / 64;
        if (report.recordings) { /* else the same commands again */
            uint32_t each = 4 * stored_blocks(l->device);
            assert_int_equal(launched(), is_coarse ? (groups + each - 1) / each : groups);
        }
    }
    engine_release(&p);
}

/* By addresses, wide accesses need the bytes of their type; atomics and what is gathered do not. */
static void test_coarse_accesses_begin_at_multiples_of_16_bytes(void **state)
{
    large *l = *state;
    NEED_OPEN(l->device);
    static const char text[] =
        "program sum\nworkgroup 64\ngrid over y\nin x : u32[]\ninout y : u32[]\n"
        "inout k : u32[]\nkernel { y[gid.x] = x[gid.x] * 3 + 1  atomic_add(k[0], x[gid.x]) }\n";
    enum { N = 1000 };
    engine_program p = engine_build_bound(
        l->device, text,
        l->device->snapshot.info.has_addresses ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_AUTO);
    uint32_t given = l->device->snapshot.info.offset_alignment, sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        sum += l->x[i];
    }
    for (uint32_t place = 0; place < 5 && l->device->snapshot.info.has_addresses; place++) {
        uint64_t offset = place == 1 || place == 4 ? 4 : place == 2 ? 8 : 0;
        vyre_buffer x = engine_buffer(l->device, (N + 4) * 4, NULL);
        vyre_buffer y = engine_buffer(l->device, (N + 4) * 4, NULL);
        vyre_buffer k = engine_buffer(l->device, 16, (const uint32_t[4]){0});
        vyre_diag diag;
        assert_int_equal(vyre_buffer_upload(l->device, x, offset, l->x, N * 4, &diag), VYRE_OK);
        const vyre_binding bindings[3] = {engine_resident(x, offset, N),
                                          engine_resident(y, place == 3 ? 12 : 0, N),
                                          engine_resident(k, 4, 1)};
        vyre_dispatch_params params = engine_params(bindings, 3);
        memset(params.groups, 0, sizeof params.groups);
        params.coarsening = VYRE_COARSENING_ALWAYS;
        l->device->snapshot.info.offset_alignment = 4; /* the device would take them */
        vyre_report report = must_dispatch(&p, &params);
        l->device->snapshot.info.offset_alignment = given;
        assert_int_equal(
            vyre_buffer_download(l->device, y, place == 3 ? 12 : 0, l->y, N * 4, &diag), VYRE_OK);
        check_map(l, N, &report, place == 0);
        uint32_t got[4];
        assert_int_equal(vyre_buffer_download(l->device, k, 0, got, 16, &diag), VYRE_OK);
        assert_int_equal(got[1], sum);
        must_destroy(l->device, &x);
        must_destroy(l->device, &y);
        must_destroy(l->device, &k);
    }
    engine_release(&p);
}

/* What overlaps, what the device decides, other dimensions: one by one, with the same results. */
static void test_coarse_dispatches_need_a_plain_grid_and_memory_of_their_own(void **state)
{
    large *l = *state;
    NEED_OPEN(l->device);
    enum { N = 256 };
    static const struct {
        const char *text;
        uint32_t elements[3];
        bool is_overlap;
    } cases[] = {
        {"program a\nworkgroup 64\ninout x : u32[]\ninout y : u32[]\n"
         "kernel { y[gid.x] = y[gid.x] * 3 + 1 }\n",
         {N, 1, 1},
         true},
        {"program b\nworkgroup 8, 8\nin x : u32[]\ninout y : u32[]\n"
         "kernel { y[gid.x] = x[gid.x] * 3 + 1 }\n",
         {N, 2, 1},
         false},
        {"program c\nworkgroup 64\nin x : u32[]\ninout y : u32[]\n"
         "scratch f : u32[1]\nfixpoint 2 until f\nkernel { y[gid.x] = x[gid.x] * 3 + 1 }\n",
         {N, 1, 1},
         false},
        {"program d\nworkgroup 64\nin x : u32[]\ninout y : u32[]\n"
         "kernel { let w = wid.x  y[gid.x] = x[gid.x] * 3 + 1 + w - w }\n",
         {N, 1, 1},
         false},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        engine_program p = engine_build(l->device, cases[i].text);
        vyre_buffer y = engine_buffer(l->device, N * 4, l->x);
        vyre_binding bindings[3] = {
            engine_host_in(l->x, N), engine_resident(y, 0, N), {.kind = VYRE_BINDING_NONE}};
        if (cases[i].is_overlap) {
            bindings[0] = bindings[1];
        }
        vyre_dispatch_params params = engine_params(bindings, vyre_kernel_binding_count(p.kernel));
        memset(params.groups, 0, sizeof params.groups);
        memcpy(params.elements, cases[i].elements, sizeof params.elements);
        params.coarsening = VYRE_COARSENING_ALWAYS;
        vyre_diag diag;
        vyre_report report = must_dispatch(&p, &params);
        assert_int_equal(report.is_coarse, 0);
        assert_int_equal(vyre_buffer_download(l->device, y, 0, l->y, N * 4, &diag), VYRE_OK);
        for (uint32_t k = 0; k < N; k++) {
            assert_int_equal(l->y[k], l->x[k] * 3 + 1);
        }
        must_destroy(l->device, &y);
        engine_release(&p);
    }
    engine_program p = engine_build(l->device, map_text);
    const vyre_binding bindings[2] = {engine_host_in(l->x, 4), engine_host_inout(l->y, 4)};
    vyre_dispatch_params params = engine_params(bindings, 2);
    memset(params.groups, 0, sizeof params.groups);
    params.coarsening = (vyre_coarsening)3;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "no coarsening. Fix: "));
    engine_release(&p);
}

/* One segment of each kind, with a host's loop around: each is launched for what it does. */
static void test_coarse_segments_stand_beside_others(void **state)
{
    large *l = *state;
    NEED_OPEN(l->device);
    static const char text[] =
        "program several\nworkgroup 32\nin x : u32[]\ninout y : u32[]\ninout k : u32[2]\n"
        "kernel {\n    for i in 0 .. 3 {\n        y[gid.x] = y[gid.x] + x[gid.x] * 2 + i\n"
        "        grid_sync\n"
        "        if gid.x > 0 { atomic_add(k[1], y[gid.x - 1]) }\n"
        "        grid_sync\n        atomic_add(k[0], y[gid.x])\n        grid_sync\n    }\n}\n";
    enum { N = 1001 };
    engine_program p = engine_build(l->device, text);
    uint32_t k[2] = {0, 0}, wanted[2] = {0, 0};
    const vyre_binding bindings[3] = {engine_host_in(l->x, N), engine_host_inout(l->y, N),
                                      engine_host_inout(k, 2)};
    vyre_dispatch_params params = engine_params(bindings, 3);
    memset(params.groups, 0, sizeof params.groups);
    params.elements[0] = N;
    params.coarsening = VYRE_COARSENING_ALWAYS;
    uint32_t *model = calloc(N, sizeof *model);
    assert_non_null(model);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t e = 0; e < N; e++) {
            model[e] += l->x[e] * 2 + i;
            wanted[0] += model[e];
            wanted[1] += e + 1 < N ? model[e] : 0;
        }
    }
    memset(l->y, 0, N * sizeof *l->y);
    layer_clear_events();
    vyre_report report = must_dispatch(&p, &params);
    assert_int_equal(report.is_coarse, 1);
    assert_memory_equal(l->y, model, N * sizeof *model);
    assert_int_equal(k[0], wanted[0]);
    assert_int_equal(k[1], wanted[1]);
    uint32_t count, seen[3] = {0};
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_DISPATCH) {
            seen[0] += events[i].groups[0] == 8 / stored_blocks(l->device); /* 4 elements */
            seen[1] += events[i].groups[0] == 32;
            seen[2] += events[i].groups[0] == 1; /* 64: 16 rounds of them */
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(seen[i] >= 3);
    }
    free(model);
    engine_release(&p);
}

/* Recorded once, run again and again: as dispatches. */
static void test_coarse_sequences_keep_what_they_mean(void **state)
{
    large *l = *state;
    NEED_OPEN(l->device);
    enum { N = 997 };
    engine_program p = engine_build(l->device, "program step\nworkgroup 64\ngrid over y\n"
                                               "in x : u32[]\ninout y : u32[]\n"
                                               "kernel { y[gid.x] = y[gid.x] * 3 + x[gid.x] }\n");
    vyre_buffer x = engine_buffer(l->device, N * 4, l->x);
    vyre_buffer y = engine_buffer(l->device, N * 4, l->x);
    const vyre_binding bindings[2] = {engine_resident(x, 0, N), engine_resident(y, 0, N)};
    vyre_step steps[2] = {{.pipeline = p.pipeline}, {.pipeline = p.pipeline}};
    for (uint32_t i = 0; i < 2; i++) {
        steps[i].dispatch = engine_params(bindings, 2);
        steps[i].dispatch.flags = 0;
        memset(steps[i].dispatch.groups, 0, sizeof steps[i].dispatch.groups);
        steps[i].dispatch.coarsening = i ? VYRE_COARSENING_NEVER : VYRE_COARSENING_ALWAYS;
    }
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = steps;
    params.group_count = 2;
    params.repeat = 2;
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    vyre_report report;
    assert_int_equal(vyre_sequence_create(l->device, &params, &sequence, &diag), VYRE_OK);
    for (uint32_t run = 0; run < 2; run++) {
        assert_int_equal(vyre_sequence_run(sequence, 0, &report, &diag), VYRE_OK);
        assert_int_equal(report.is_coarse, 1);
    }
    vyre_sequence_destroy(&sequence);
    assert_int_equal(vyre_buffer_download(l->device, y, 0, l->y, N * 4, &diag), VYRE_OK);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t wanted = l->x[i];
        for (uint32_t step = 0; step < 8; step++) {
            wanted = wanted * 3 + l->x[i];
        }
        assert_int_equal(l->y[i], wanted);
    }
    must_destroy(l->device, &x);
    must_destroy(l->device, &y);
    engine_release(&p);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static uint32_t pick(uint64_t *state, uint32_t count)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % count;
}

static const char *const stream_types[] = {"u32", "f32", "i32", "u16", "u8",
                                           "i16", "f16", "u64", "i8",  "bf16"};

/* Statements of an element: what is read at its place, choices by it, stores and atomics. */
static void write_statements(vy_text *text, uint64_t *state, uint32_t inputs,
                             const char *const *types)
{
    static const char *const steps[] = {
        "    v = v * 7 + w\n",
        "    if v % 3 == 1 { v = v ^ w } else { w = w + 1 }\n",
        "    if w > v { atomic_add(k[2], v) }\n",
        "    if v & 1 == 0 { if w % 5 < 2 { atomic_max(k[3], w) } else { v += 3 } }\n",
        "    atomic_xor(k[4], v)\n",
        "    switch v % 3 { case 0 { w = 9 } case 1 { atomic_add(k[2], 1) } default { } }\n",
        "    if v == w { c[gid.x] = v }\n",
        NULL, /* a gather */
    };
    vy_text_printf(text, "    var v = 1\n    var w = 2\n");
    for (uint32_t i = 0; i < inputs; i++) {
        vy_text_printf(text, "    %s = %s ^ %s(a%u[gid.x])\n", i % 2 ? "w" : "v", i % 2 ? "w" : "v",
                       "u32", (unsigned)i);
    }
    for (uint32_t i = pick(state, 5); i > 0; i--) {
        uint32_t step = pick(state, VY_COUNT_OF(steps));
        vy_text_printf(text, "%s", steps[step] ? steps[step] : "    w += u32(a0[v % len(a0)])\n");
    }
    const char *out = strcmp(types[0], "bf16") == 0 ? "f32" : types[0];
    if (pick(state, 4)) {
        vy_text_printf(text, "    o[gid.x] = %s(v + w)\n", out);
    } else {
        vy_text_printf(text, "    if v %% 2 == 1 { o[gid.x] = %s(w) }\n", out);
    }
    if (pick(state, 2)) {
        const char *type = strcmp(types[1], "bf16") == 0 ? "f32" : types[1];
        vy_text_printf(text, "    p[gid.x] = %s(v) %s p[gid.x]\n", type,
                       pick(state, 2) ? "+" : "-");
    }
}

static void write_streams(vy_text *text, uint64_t *state)
{
    static const uint32_t sizes[] = {1, 8, 32, 33, 128};
    const char *types[2];
    uint32_t inputs = 1 + pick(state, 3);
    types[0] = stream_types[pick(state, VY_COUNT_OF(stream_types))];
    types[1] = stream_types[pick(state, VY_COUNT_OF(stream_types))];
    vy_text_printf(text, "program s\nworkgroup %u\ngrid over o\n",
                   (unsigned)sizes[pick(state, VY_COUNT_OF(sizes))]);
    for (uint32_t i = 0; i < inputs; i++) {
        vy_text_printf(text, "in a%u : %s[]\n", (unsigned)i,
                       stream_types[pick(state, VY_COUNT_OF(stream_types))]);
    }
    vy_text_printf(text, "inout o : %s[]\ninout p : %s[]\ninout c : u32[]\ninout k : u32[8]\n",
                   types[0], types[1]);
    vy_text_printf(text, "kernel {\n");
    write_statements(text, state, inputs, types);
    vy_text_printf(text, "}\n");
}

static void test_generated_streams_agree_in_several_elements(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    uint32_t coarse = 0, ran = 0;
    for (uint64_t seed = 1; seed <= STREAM_SEEDS; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15u;
        vy_text text;
        vy_text_init(&text, NULL);
        write_streams(&text, &random);
        assert_false(text.failed);
        uint32_t n = pick(&random, 3) ? pick(&random, 700) : pick(&random, 40);
        vy_generated info = coarse_info(n, seed);
        for (uint32_t t = 0; t < VY_GEN_TYPES; t++) {
            info.lengths[t] = pick(&random, 4) ? n : pick(&random, n + 9);
        }
        int is_coarse = coarse_compare(device, text.data, &info, &coarse_modes[seed % 4]);
        coarse += is_coarse == 1;
        ran += is_coarse != 2;
        vy_text_finish(&text);
    }
    print_message("    %u of %u programs were coarse\n", (unsigned)coarse, (unsigned)ran);
    assert_true(coarse > ran / 2);
    vyre_device_destroy(&device);
}

/* Runs the tests whose names match the argument; without one all. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coarse_programs_keep_what_they_mean),
        cmocka_unit_test(test_coarse_accesses_of_every_type_keep_its_bits),
        cmocka_unit_test(test_coarse_dispatches_check_every_length),
        cmocka_unit_test_setup_teardown(test_coarse_dispatches_are_those_of_large_grids, open_large,
                                        close_large),
        cmocka_unit_test_setup_teardown(test_coarse_accesses_begin_at_multiples_of_16_bytes,
                                        open_large, close_large),
        cmocka_unit_test_setup_teardown(
            test_coarse_dispatches_need_a_plain_grid_and_memory_of_their_own, open_large,
            close_large),
        cmocka_unit_test_setup_teardown(test_coarse_segments_stand_beside_others, open_large,
                                        close_large),
        cmocka_unit_test_setup_teardown(test_coarse_sequences_keep_what_they_mean, open_large,
                                        close_large),
        cmocka_unit_test(test_generated_streams_agree_in_several_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
