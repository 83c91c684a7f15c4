/* Small programs that a GPU's driver crashed on or computed wrongly from words that are right. Each
 * is as small as it was when it still failed; on every device they give these values. */
#include "tests/support/engine_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define COUNT 64u

static vyre_device *open_or_null(void)
{
    return engine_has_no_device() ? NULL : engine_open(engine_validates());
}

/* By descriptors; groups 0: the program has its grid over a buffer. */
static void must_run(vyre_device *device, const char *text, const vyre_binding *bindings,
                     uint32_t count, uint32_t groups)
{
    engine_program p = engine_build_bound(device, text, VYRE_BINDINGS_DESCRIPTOR);
    vyre_dispatch_params params = engine_params(bindings, count);
    vyre_diag diag;
    params.groups[0] = groups;
    if (vyre_dispatch(p.pipeline, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    engine_release(&p);
}

/* Bytes exchanged and stored as 16 bits with a sign: the driver stored another register. Each way
 * in a program of its own, and all in one. */
static void check_exchange(vyre_device *device, const char *lines)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "program bytes\nworkgroup 64\nin a: i16[64]\nout o: i16[64]\nout p: u16[64]\n"
                   "kernel {\n    let i = gid.x\n    let x = a[i]\n    let y = u16(x)\n%s}\n",
                   lines);
    engine_program program = engine_build(device, text);
    uint16_t a[COUNT], out[2][COUNT] = {{0}};
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = (uint16_t)(i * 40503u >> 3 ^ i);
    }
    vyre_binding bindings[3] = {engine_host_in(a, COUNT), engine_host_out(out[0], COUNT),
                                engine_host_out(out[1], COUNT)};
    (void)engine_run(&program, bindings, 3, NULL, 0, COUNT, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint16_t wanted = (uint16_t)(a[i] << 8 | a[i] >> 8);
        if (out[0][i] != wanted || out[1][i] != wanted) {
            print_message("%s: element %u: %x and %x, not %x\n", lines, i, out[0][i], out[1][i],
                          wanted);
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint16_t wanted = (uint16_t)(a[i] << 8 | a[i] >> 8);
        assert_int_equal(out[0][i], wanted);
        assert_int_equal(out[1][i], wanted);
    }
    engine_release(&program);
}

static void test_exchanged_bytes_are_stored(void **state)
{
    static const char *const ways[] = {
        "    o[i] = rotate_left(x, 8u)\n    p[i] = rotate_left(y, 8u)\n",
        "    o[i] = (x << 8u) | ((x >> 8u) & i16(255))\n    p[i] = (y << 8u) | (y >> 8u)\n",
        "    o[i] = i16((u32(y) << 8u) | (u32(y) >> 8u))\n"
        "    p[i] = u16((u32(y) << 8u) | (u32(y) >> 8u))\n",
        "    o[i] = rotate_right(x, 8u)\n    p[i] = u16(rotate_left(x, 8u))\n"};
    (void)state;
    vyre_device *device = open_or_null();
    for (uint32_t way = 0; device && way < sizeof ways / sizeof *ways; way++) {
        check_exchange(device, ways[way]);
    }
    if (device) {
        engine_close(&device);
    }
}

/* A bool that a loop carries: the driver crashed on such a phi. */
static void test_loops_carry_bools(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    if (!device) {
        return;
    }
    engine_program p = engine_build(
        device, "program bools\nworkgroup 64\nin a: u32[64]\nout o: u32[64]\nout p: u32[64]\n"
                "kernel {\n    var odd: bool = false\n    var last: bool = a[gid.x] > 7u\n"
                "    for k in 0u..a[gid.x] {\n        odd = !odd\n        last = a[0] == 9u\n"
                "        if a[k] == 5u { break }\n    }\n"
                "    o[gid.x] = u32(odd)\n    p[gid.x] = select(last, 3u, 4u)\n}\n");
    uint32_t a[COUNT], o[COUNT], q[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = i % 13;
    }
    vyre_binding bindings[3] = {engine_host_in(a, COUNT), engine_host_out(o, COUNT),
                                engine_host_out(q, COUNT)};
    (void)engine_run(&p, bindings, 3, NULL, 0, COUNT, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t trips = a[i] < 6 ? a[i] : 6; /* a[5] is 5 */
        assert_int_equal(o[i], trips % 2);
        assert_int_equal(q[i], 4);
    }
    engine_release(&p);
    engine_close(&device);
}

/* Memory that is written under one name and only read under another: loads by the second name must
 * see stores by the first. */
static void test_what_is_only_read_may_be_written_by_another_name(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    if (!device) {
        return;
    }
    for (uint32_t by = 0; by < 2; by++) {
        engine_program p = engine_build_bound(
            device,
            "program names\nworkgroup 64\nout o: u32[64]\ninout a: u32[64]\ninout b: u32[64]\n"
            "kernel {\n    a[gid.x] = b[gid.x] + 5u\n    o[gid.x] = b[gid.x]\n}\n",
            by ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR);
        uint32_t a[COUNT], o[COUNT] = {0};
        for (uint32_t i = 0; i < COUNT; i++) {
            a[i] = 3 * i;
        }
        vyre_buffer buffer = engine_buffer(device, sizeof a, a);
        vyre_binding bindings[3] = {engine_host_out(o, COUNT), engine_resident(buffer, 0, COUNT),
                                    engine_resident(buffer, 0, COUNT)};
        (void)engine_run(&p, bindings, 3, NULL, 0, COUNT, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(o[i], 3 * i + 5);
        }
        vyre_diag diag;
        assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
        engine_release(&p);
    }
    engine_close(&device);
}

/* A division, by way of atan, before a choice of 64 bits: another register became its upper half.
 */
static void test_choices_beside_divisions_are_whole(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    uint64_t a = 101, o[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    vyre_binding bindings[2] = {engine_host_in(&a, 1), engine_host_out(o, 8)};
    if (!device) {
        return;
    }
    must_run(device,
             "program halves\nin a: u64[]\nout o: u64[8]\nkernel {\n"
             "    if (atan(clamp(1.0, -1.0, 1.0)) < 8.0) {\n"
             "        o[(gid.x + 16u * (gid.y + 8u * gid.z)) * 4u + (0u) % 4u] ="
             " sub_sat(u64(1u), a[gid.x])\n    }\n}\n",
             bindings, 2, 1);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(o[i], 0);
    }
    engine_close(&device);
}

/* A division, by way of tanh, in a loop behind an early return: the return was not taken. */
static void test_returns_before_divisions_are_taken(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    int16_t a = 32767;
    uint32_t common[8] = {0};
    vyre_binding bindings[2] = {engine_host_in(&a, 1), engine_host_out(common, 8)};
    if (!device) {
        return;
    }
    must_run(device,
             "program returns\nin a: i16[]\nout common: u32[8]\nfn bump(x: u32) -> u32 {\n"
             "    atomic_add(common[0u], x & 7u)\n    return x + 1u\n}\nkernel {\n"
             "    var v7: u32 = 1u\n    if (add_sat(a[0u % 300u], a[gid.x]) >= (-a[v7 % 300u])) { "
             "return }\n"
             "    let v20 = bump(1u)\n    var v22 = 1u % 9u\n"
             "    while v22 > 0u && (tanh(clamp(1.0, -1.0, 1.0)) < 8.0) {\n        v22 = v22 - 1u\n"
             "    }\n}\n",
             bindings, 2, 4);
    assert_int_equal(common[0], 0);
    engine_close(&device);
}

/* One workgroup of a program with one input and one output of eight elements. */
static void check_eight(vyre_device *device, const char *text, vyre_binding in, void *out,
                        size_t size, const void *wanted)
{
    uint32_t tallies[8];
    vyre_binding bindings[3] = {in, engine_host_out(out, 8), engine_host_out(tallies, 8)};
    bool is_over = strstr(text, "grid over") != NULL;
    must_run(device, text, bindings, is_over ? 3 : 2, is_over ? 0 : 1);
    assert_memory_equal(out, wanted, size);
}

/* A sum or difference of 64 bits that saturates, beside a division of 64 bits: the choice between
 * it and the limit had another register as its upper half. */
static void test_saturation_beside_divisions_is_whole(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    uint64_t a[2] = {129, 0}, o[8];
    static const uint64_t sum[8] = {130}, difference[8] = {0};
    if (!device) {
        return;
    }
    check_eight(device,
                "program sum\nin a: u64[]\nout o: u64[8]\nkernel {\n"
                "    let v7 = atomic_exchange(o[(gid.x + 4u * (gid.y + 3u * gid.z))],"
                " add_sat(a[gid.x], (u64(255u) / a[0u % 300u])), acq_rel)\n}\n",
                engine_host_in(a, 1), o, sizeof o, sum);
    a[0] = 11044399521381307700u;
    check_eight(device,
                "program difference\nin a: u64[]\nout o: u64[8]\nkernel {\n"
                "    var v6: u64 = sub_sat(u64(1u), (a[0u % 300u] / a[gid.x]))\n"
                "    atomic_or(o[4u], v6)\n}\n",
                engine_host_in(a, 1), o, sizeof o, difference);
    check_eight(device,
                "program choice\nin a: u64[]\nout o: u64[8]\nkernel {\n"
                "    let x = a[0u % 300u] / a[gid.x]\n"
                "    atomic_or(o[4u], select(u64(1u) < x + 1, u64(0u), u64(1u) - (x + 1)))\n}\n",
                engine_host_in(a, 1), o, sizeof o, difference);
    engine_close(&device);
}

/* A difference of 8 bits that saturates below, in the branch that is taken: it had the upper limit.
 */
static void test_bytes_saturate_where_they_should(void **state)
{
    (void)state;
    vyre_device *device = engine_has_no_device() ? NULL : engine_open(0);
    static const double in[292] = {0};
    uint32_t o[8], wanted[8];
    for (uint32_t i = 0; i < 8; i++) {
        wanted[i] = 0xffffff9f;
    }
    if (!device) {
        return;
    }
    check_eight(device,
                "program bytes\nworkgroup 1\ngrid over tallies\nin f: f64[]\nout o: u32[8]\n"
                "out tallies: u32[8]\nkernel {\n"
                "    let v11 = subgroup_exclusive_mul(i8(0u))\n"
                "    o[gid.x] = (o[gid.x] * 31u) ^ u32(v11)\n    if (f64(0u) <= f[gid.x]) {\n"
                "        let v19 = subgroup_inclusive_max(sub_sat(i8((-128i)), sign(v11)))\n"
                "        o[gid.x] = (o[gid.x] * 31u) ^ u32(v19)\n    } else {\n"
                "        var v20 = 1u % 9u\n"
                "        while v20 > 0u && (f64(0u) < (f[gid.x] / f64(1.0e10))) {\n"
                "            v20 = v20 - 1u\n        }\n    }\n}\n",
                engine_host_in(in, 292), o, sizeof o, wanted);
    engine_close(&device);
}

/* A byte extended by its sign and divided twice, in a switch: another case was taken. */
static void test_remainders_of_bytes_choose(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    static const int8_t in[21] = {-1, -107, -1,  127, -27, 9,    -86, -15, 0,  -1, 0,
                                  12, 92,   110, -88, -1,  -128, 123, -1,  98, 19};
    static const uint32_t wanted[8] = {0, 1, 2, 3, 4, 5, 0, 7};
    uint32_t o[8];
    if (!device) {
        return;
    }
    check_eight(device,
                "program remainders\nworkgroup 1\ngrid over tallies\nin a: i8[]\nout o: u32[8]\n"
                "out tallies: u32[8]\nkernel {\n    var v7: u32 = wid.x\n"
                "    switch (u32(a[gid.x]) % v7) % 6u {\n        case 2 {\n"
                "            v7 = 0u\n        }\n    }\n    o[gid.x] = v7 ^ 0u\n}\n",
                engine_host_in(in, 21), o, sizeof o, wanted);
    engine_close(&device);
}

/* Bytes and halves widened with their sign: as u32 they were taken for small numbers. */
static void check_widened(vyre_device *device, const char *type, const void *in,
                          const int32_t *values)
{
    char text[512];
    snprintf(text, sizeof text,
             "program widened\ngrid over o\nin a: %s[]\nout o: u32[%u]\nout p: u32[%u]\n"
             "out q: u32[%u]\nkernel {\n    let x = u32(a[gid.x])\n    var n = gid.x\n"
             "    switch (x %% gid.x) %% 6u {\n        case 2 { n = 0u }\n    }\n    o[gid.x] = n\n"
             "    p[gid.x] = u32(f32(x)) ^ max(x, gid.x)\n"
             "    q[gid.x] = u32(i32(a[gid.x])) / (gid.x + 3)\n}\n",
             type, COUNT, COUNT, COUNT);
    uint32_t o[COUNT], rounded[COUNT], q[COUNT];
    vyre_binding bindings[4] = {engine_host_in(in, COUNT), engine_host_out(o, COUNT),
                                engine_host_out(rounded, COUNT), engine_host_out(q, COUNT)};
    must_run(device, text, bindings, 4, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t x = (uint32_t)values[i];
        float nearest = (float)x;
        uint32_t back = nearest < 0x1p32f ? (uint32_t)nearest : UINT32_MAX;
        assert_int_equal(o[i], i && x % i % 6 == 2 ? 0 : i);
        assert_int_equal(rounded[i], back ^ (x > i ? x : i));
        assert_int_equal(q[i], x / (i + 3));
    }
}

static void test_widened_signs_are_seen(void **state)
{
    (void)state;
    vyre_device *device = open_or_null();
    int8_t bytes[COUNT];
    int16_t halves[COUNT];
    int32_t values[2][COUNT];
    if (!device) {
        return;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t random = i * 2654435761u >> 7 ^ i;
        values[0][i] = bytes[i] = (int8_t)(random & 0xff);
        values[1][i] = halves[i] = (int16_t)(random & 0xffff);
    }
    check_widened(device, "i8", bytes, values[0]);
    check_widened(device, "i16", halves, values[1]);
    engine_close(&device);
}

/* Bits of bytes and halves beside a division of f64: those of the sign were counted too. */
static void test_bits_beside_divisions_are_counted(void **state)
{
    (void)state;
    static const char *const types[] = {"u8", "i8", "u16", "i16"};
    vyre_device *device = open_or_null();
    if (!device) {
        return;
    }
    double f[COUNT];
    uint8_t bytes[2 * COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        f[i] = 1.0 + i / 64.0;
        bytes[2 * i] = (uint8_t)(i * 157);
        bytes[2 * i + 1] = (uint8_t)(i * 83 + 5);
    }
    for (uint32_t t = 0; t < 4; t++) {
        char text[256];
        snprintf(text, sizeof text,
                 "program bits\ngrid over o\nin a: %s[]\nin f: f64[]\nout o: u32[%u]\n"
                 "kernel {\n    o[gid.x] = u32(popcount(a[gid.x])) ^ u32(f64(1u) / f[gid.x])\n}\n",
                 types[t], COUNT);
        uint32_t o[COUNT];
        vyre_binding bindings[3] = {engine_host_in(bytes, COUNT), engine_host_in(f, COUNT),
                                    engine_host_out(o, COUNT)};
        must_run(device, text, bindings, 3, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint16_t half;
            memcpy(&half, &bytes[2 * i], sizeof half);
            uint32_t x = t < 2 ? bytes[i] : half, count = 0;
            for (; x; x &= x - 1) {
                count++;
            }
            assert_int_equal(o[i], count ^ (i == 0));
        }
    }
    engine_close(&device);
}

/* Lanes that different selectors lead to one place are there together: each was alone. */
static void test_switches_keep_lanes_together(void **state)
{
    (void)state;
    vyre_device *device = engine_has_no_device() ? NULL : engine_open(0);
    if (!device) {
        return;
    }
    vyre_kernel_params can;
    vyre_device_kernel_params(device, &can);
    if (can.reconvergence != VYRE_RECONVERGENCE_MAXIMAL) {
        print_message("lanes that part are not promised to meet on this device\n");
        engine_close(&device);
        return;
    }
    int32_t a = 33, o[8], q[8], wanted = 1;
    vyre_binding bindings[3] = {engine_host_in(&a, 1), engine_host_out(o, 8),
                                engine_host_out(q, 8)};
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    for (uint32_t i = 0; i < 8 && i < info.subgroup_size; i++) {
        wanted *= -2;
    }
    must_run(device,
             "program lanes\nworkgroup 8\ngrid over o\nin a: i32[]\nout o: i32[8]\nout q: i32[8]\n"
             "kernel {\n    switch a[gid.x] % 6i {\n        default {\n"
             "            let x = subgroup_mul(-2i)\n            o[gid.x] = x\n        }\n    }\n"
             "    switch a[gid.x] % 6i {\n        case 0, 3 {\n"
             "            let x = subgroup_mul(-2i)\n            q[gid.x] = x\n        }\n"
             "        default { }\n    }\n}\n",
             bindings, 3, 0);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(o[i], wanted);
        assert_int_equal(q[i], wanted);
    }
    engine_close(&device);
}

/* Loops that begin with what lies in a uniform block, and end by a comparison or by their limit. */
static void test_loops_that_begin_with_parameters_end(void **state)
{
    (void)state;
    static const vyre_binding_mode ways[] = {VYRE_BINDINGS_DESCRIPTOR, VYRE_BINDINGS_ADDRESS};
    vyre_device *device = engine_has_no_device() ? NULL : engine_open(0);
    if (!device) {
        return;
    }
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    for (uint32_t i = 0; i < (info.has_addresses ? 2u : 1u); i++) {
        engine_program p = engine_build_bound(
            device,
            "program begin\nworkgroup 8\nloop_limit 10000\ngrid over o\n"
            "param n: u32\nparam step: u32\nin a: u32[]\nout o: u32[40]\nkernel {\n"
            "    var x = n\n    var down = 0u\n"
            "    while x > 0u { x = x - 1u  down = down + 1u }\n"
            "    x = n * 7u\n    var halves = 0u\n"
            "    while x > 1u { x = x / 2u  halves = halves + 1u }\n"
            "    x = step\n    var powers = 0u\n"
            "    while x < 1000u { x = x * step  powers = powers + 1u }\n"
            "    x = len(a)\n    var lengths = 0u\n"
            "    while x > 0u { x = x - 1u  lengths = lengths + 1u }\n"
            "    x = num_groups.x\n    var groups = 0u\n"
            "    while x != 0u { x = x - 1u  groups = groups + 1u }\n"
            "    o[gid.x] = down + 32u * halves + 1024u * powers + 32768u * lengths +\n"
            "               1048576u * groups\n}\n",
            ways[i]);
        uint32_t params[2] = {5, 3}, a[3] = {0}, o[40];
        vyre_binding bindings[] = {engine_host_in(a, 3), engine_host_out(o, 40)};
        vyre_report report = engine_run(&p, bindings, 2, params, 2, 0, 0);
        assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
        /* 5 down, 35 halved five times, 3 9 27 81 243 729, 3 elements, 5 workgroups. */
        for (uint32_t k = 0; k < 40; k++) {
            assert_int_equal(o[k], 5u + 32u * 5u + 1024u * 6u + 32768u * 3u + 1048576u * 5u);
        }
        engine_release(&p);
    }
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanged_bytes_are_stored),
        cmocka_unit_test(test_loops_carry_bools),
        cmocka_unit_test(test_what_is_only_read_may_be_written_by_another_name),
        cmocka_unit_test(test_choices_beside_divisions_are_whole),
        cmocka_unit_test(test_returns_before_divisions_are_taken),
        cmocka_unit_test(test_saturation_beside_divisions_is_whole),
        cmocka_unit_test(test_bytes_saturate_where_they_should),
        cmocka_unit_test(test_remainders_of_bytes_choose),
        cmocka_unit_test(test_widened_signs_are_seen),
        cmocka_unit_test(test_bits_beside_divisions_are_counted),
        cmocka_unit_test(test_switches_keep_lanes_together),
        cmocka_unit_test(test_loops_that_begin_with_parameters_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
