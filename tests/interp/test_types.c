/* Elements, parameters, tables, atomics and indices of every type in whole programs. */
#include "tests/interp/case.h"
#include "tests/support/fail_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CHECK(got, ...)                                                                            \
    do {                                                                                           \
        const uint32_t list[] = {__VA_ARGS__};                                                     \
        interp_case_check(got, list, sizeof list / sizeof *list);                                  \
    } while (0)

static void run(interp_case *c, const char *text)
{
    c->params.groups[0] = 1;
    interp_case_run_ok(c, text);
}

static void test_small_elements_are_read_and_written_alone(void **state)
{
    (void)state;
    /* One byte beyond each buffer shows a store that is too wide. */
    uint8_t bytes[5] = {1, 0x80, 0xff, 7, 0xee}, out_bytes[5] = {9, 9, 9, 9, 0xee};
    uint16_t halves[4] = {1, 0x8000, 0xffff, 0xeeee}, out_halves[4] = {9, 9, 9, 0xeeee};
    interp_case c = {.params = {0}};
    interp_case_bind(&c, bytes, 4);
    interp_case_bind(&c, halves, 3);
    interp_case_bind(&c, out_bytes, 4);
    interp_case_bind(&c, out_halves, 3);
    run(&c, "program t workgroup 8 in a : i8[] in b : i16[] out o : i8[4] out p : i16[3]\n"
            "kernel {\n"
            "    let i = gid.x\n"
            "    o[i] = a[i] - i8(1)\n"
            "    p[i] = b[i] / i16(2) + i16(a[i])\n"
            "}\n");
    const uint8_t expected_bytes[5] = {0, 0x7f, 0xfe, 6, 0xee};
    const uint16_t expected_halves[4] = {1, 0xbf80, 0xffff, 0xeeee};
    assert_memory_equal(out_bytes, expected_bytes, sizeof expected_bytes);
    assert_memory_equal(out_halves, expected_halves, sizeof expected_halves);
}

static void test_buffers_need_no_alignment(void **state)
{
    (void)state;
    uint8_t room[64] = {0}, out[64] = {0};
    const uint64_t in[2] = {0x123456789abcdef0u, UINT64_MAX};
    memcpy(room + 3, in, sizeof in);
    interp_case c = {.params = {0}};
    interp_case_bind(&c, room + 3, 2);
    interp_case_bind(&c, out + 5, 2);
    run(&c, "program t workgroup 2 in a : u64[] out o : u64[2]\nkernel { o[gid.x] = a[gid.x] * 3 "
            "}\n");
    const uint64_t expected[2] = {0x369d0369d0369cd0u, UINT64_MAX - 2};
    assert_memory_equal(out + 5, expected, sizeof expected);
    assert_int_equal(out[4], 0);
    assert_int_equal(out[21], 0);
}

static void test_floats_of_other_widths(void **state)
{
    (void)state;
    uint16_t halves[3] = {0x3c00, 0x7bff, 0x0001}, out_halves[3] = {0};
    double doubles[3] = {1.0 / 3.0, -2.5, 5e-324}, out_doubles[3] = {0};
    interp_case c = {.params = {.flush_denormals = 1}};
    interp_case_bind(&c, halves, 3);
    interp_case_bind(&c, doubles, 3);
    interp_case_bind(&c, out_halves, 3);
    interp_case_bind(&c, out_doubles, 3);
    run(&c, "program t workgroup 3 in a : f16[] in b : f64[] out o : f16[3] out p : f64[3]\n"
            "kernel {\n"
            "    let i = gid.x\n"
            "    o[i] = a[i] + a[i]\n"
            "    p[i] = b[i] * 3.0d + f64(a[2])\n"
            "}\n");
    const uint16_t expected_halves[3] = {0x4000, 0x7c00, 0x0002};
    const double expected_doubles[3] = {1.0 + 0x1p-24, -7.5 + 0x1p-24, 0x1p-24};
    assert_memory_equal(out_halves, expected_halves, sizeof expected_halves);
    assert_memory_equal(out_doubles, expected_doubles, sizeof expected_doubles);
}

static void test_bf16_widens_on_loads_and_rounds_on_stores(void **state)
{
    (void)state;
    uint16_t in[4] = {0x3f80, 0x7f80, 0x0001, 0xffc1}, out[6] = {0};
    uint32_t words[8] = {0};
    interp_case c = {.params = {0}};
    interp_case_bind(&c, in, 4);
    interp_case_bind(&c, out, 6);
    interp_case_bind(&c, words, 8);
    run(&c,
        "program t workgroup 1 in a : bf16[] out o : bf16[6] out w : u32[8] shared s : bf16[2]\n"
        "const T : bf16[] = [1.0, 2.5]\n"
        "kernel {\n"
        "    for i in 0 .. 5 { w[i] = bitcast<u32>(a[i]) }\n" /* and one out of bounds */
        "    o[0] = 1.00390625\n"                             /* 1 + 2^-8: tie, down */
        "    o[1] = 1.01171875\n"                             /* 1 + 3 * 2^-8: tie, up */
        "    o[2] = 3.4028235e38\n"
        "    o[3] = a[3]\n"
        "    o[4] = a[2]\n"
        "    var k : bf16[2]\n"
        "    k[1] = 1.0039064\n"
        "    w[5] = bitcast<u32>(k[1])\n"
        "    s[1] = 1.0039064\n"
        "    w[6] = bitcast<u32>(s[1])\n"
        "    w[7] = bitcast<u32>(T[1])\n"
        "    o[5] = T[1] + T[0]\n"
        "}\n");
    const uint16_t expected[6] = {0x3f80, 0x3f82, 0x7f80, 0x7fc0, 0x0001, 0x4060};
    CHECK(words, 0x3f800000u, 0x7f800000u, 0x00010000u, 0xffc10000u, 0, 0x3f810000u, 0x3f810000u,
          0x40200000u);
    assert_memory_equal(out, expected, sizeof expected);
}

static void test_atomics_of_64_bits(void **state)
{
    (void)state;
    uint64_t unsigned_words[6] = {UINT32_MAX, 5, 5, 0xff00000000u, 7, 7};
    int64_t signed_words[3] = {-1, -1, 1};
    uint64_t old[2] = {0};
    interp_case c = {.params = {0}};
    interp_case_bind(&c, unsigned_words, 6);
    interp_case_bind(&c, signed_words, 3);
    interp_case_bind(&c, old, 2);
    run(&c, "program t workgroup 4 inout u : u64[] inout i : i64[] out o : u64[2]\n"
            "shared s : u64[1]\n"
            "kernel {\n"
            "    let n = u64(gid.x) << 32\n"
            "    let was = atomic_add(u[0], n + 1)\n"
            "    if gid.x == 1 { o[0] = was }\n"
            "    atomic_max(u[1], n)\n"
            "    atomic_min(u[2], n + 3)\n"
            "    atomic_or(u[3], n)\n"
            "    if gid.x == 0 {\n"
            "        let e = atomic_exchange(u[4], 0x100000000ul)\n"
            "        let f = atomic_compare_exchange(u[5], 7ul, e << 40)\n"
            "        atomic_store(u[100], f)\n"
            "    }\n"
            "    atomic_min(i[0], i64(gid.x) - 3)\n"
            "    atomic_max(i[1], i64(gid.x) - 9)\n"
            "    atomic_sub(i[2], 0x100000000l)\n"
            "    atomic_add(s[0], n)\n"
            "    barrier\n"
            "    let whole = atomic_load(s[0])\n"
            "    if gid.x == 3 { o[1] = whole }\n"
            "}\n");
    const uint64_t expected[6] = {(uint64_t)UINT32_MAX + 4 + ((uint64_t)6 << 32),
                                  (uint64_t)3 << 32,
                                  3,
                                  0xff00000000u,
                                  (uint64_t)1 << 32,
                                  (uint64_t)7 << 40};
    const int64_t expected_signed[3] = {-3, -1, 1 - ((int64_t)4 << 32)};
    assert_memory_equal(unsigned_words, expected, sizeof expected);
    assert_memory_equal(signed_words, expected_signed, sizeof expected_signed);
    assert_int_equal(old[0], (uint64_t)UINT32_MAX + 1);
    assert_int_equal(old[1], (uint64_t)6 << 32);
}

static void test_indices_of_64_bits_are_not_cut(void **state)
{
    (void)state;
    uint32_t in[4] = {1, 2, 3, 4}, out[8] = {0};
    interp_case c = {.params = {0}};
    interp_case_bind(&c, in, 4);
    interp_case_bind(&c, out, 8);
    run(&c, "program t workgroup 1 in a : u32[] out o : u32[8]\n"
            "const T : u32[] = [5, 6, 7]\n"
            "kernel {\n"
            "    let far = 0x100000001ul\n"
            "    var k : u32[2]\n"
            "    k[far] = 9\n"
            "    k[1ul] = 8\n"
            "    o[0] = a[1ul] + 10\n"
            "    o[1] = a[far] + 10\n"
            "    o[2] = T[2ul] + 10\n"
            "    o[3] = T[far] + 10\n"
            "    o[4] = k[1ul] + 10\n"
            "    o[5] = k[far] + 10\n"
            "    o[far + 5] = 99\n"
            "    atomic_add(o[far + 5], 99)\n"
            "    o[6ul] = a[-1i] + 10\n"
            "    o[7] = k[-1i] + T[-1i] + 10\n"
            "}\n");
    CHECK(out, 12, 10, 17, 10, 18, 10, 10, 10);
}

static void test_parameters_of_every_type(void **state)
{
    (void)state;
    static const char text[] =
        "program t workgroup 1 out o : u64[12]\n"
        "param a : u64 param b : i8 param c : f64 param d : u32x4 param e : bool param f : f16\n"
        "param n : u32 param g : i16 out p : u32[n]\n"
        "kernel {\n"
        "    o[0] = a o[1] = bitcast<u64>(i64(b)) o[2] = bitcast<u64>(c)\n"
        "    o[3] = u64(d.x) o[4] = u64(d.w) o[5] = u64(e) o[6] = u64(bitcast<u16>(f))\n"
        "    o[7] = bitcast<u64>(i64(g)) p[2] = n\n"
        "}\n";
    const double value = -1.5;
    uint64_t out[12] = {0}, bits;
    uint32_t counted[3] = {0};
    memcpy(&bits, &value, sizeof bits);
    interp_case c = {.params = {0}};
    interp_case_bind(&c, out, 12);
    interp_case_bind(&c, counted, 3);
    const uint32_t words[] = {0x89abcdefu,
                              0x01234567u,
                              0xaabbcc80u,
                              (uint32_t)bits,
                              (uint32_t)(bits >> 32),
                              11,
                              12,
                              13,
                              14,
                              0x100,
                              0xffff3c00u,
                              3,
                              0x8001};
    for (size_t i = 0; i < sizeof words / sizeof *words - 1; i++) {
        interp_case_param(&c, words[i]);
    }
    c.params.groups[0] = 1;
    assert_int_equal(interp_case_run(&c, text), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(c.diag.message, "take 13 words and 12"));
    interp_case_param(&c, words[12]);
    run(&c, text);
    const uint64_t expected[8] = {0x0123456789abcdefu, UINT64_MAX - 127, bits, 11, 14, 1, 0x3c00,
                                  UINT64_MAX - 32766};
    assert_memory_equal(out, expected, sizeof expected);
    CHECK(counted, 0, 0, 3);
}

static void test_tables_of_every_width(void **state)
{
    (void)state;
    uint64_t out[6] = {0};
    interp_case c = {.params = {0}};
    interp_case_bind(&c, out, 6);
    run(&c, "program t workgroup 1 out o : u64[6]\n"
            "const A : i8[] = [-1, 2]\n"
            "const B : u64[] = [1, 0x123456789abcdef0]\n"
            "const C : f16[] = [0.5h, 1.5h]\n"
            "const D : f64[] = [0.1d, 2.0d]\n"
            "const E : bool[] = [false, true]\n"
            "kernel {\n"
            "    let i = gid.x + 1\n"
            "    o[0] = bitcast<u64>(i64(A[i - 1])) o[1] = B[i] o[2] = u64(bitcast<u16>(C[i]))\n"
            "    o[3] = bitcast<u64>(D[i - 1]) o[4] = u64(E[i]) o[5] = u64(E[i - 1]) + B[i + 1]\n"
            "}\n");
    const uint64_t expected[6] = {UINT64_MAX, 0x123456789abcdef0u, 0x3e00, 0x3fb999999999999au, 1,
                                  0};
    assert_memory_equal(out, expected, sizeof expected);
}

static void test_wide_values_live_everywhere(void **state)
{
    (void)state;
    uint64_t in[4] = {1, (uint64_t)1 << 40, UINT64_MAX, 3}, out[4] = {0};
    interp_case c = {.params = {0}};
    interp_case_bind(&c, in, 4);
    interp_case_bind(&c, out, 4);
    c.params.groups[0] = 2;
    interp_case_run_ok(&c, "program t workgroup 2 in a : u64[] out o : u64[4] shared s : u64[2]\n"
                           "fn twice(x : u64) -> u64 { return x + x }\n"
                           "kernel {\n"
                           "    let v = twice(a[gid.x])\n"
                           "    var k : u64[2]\n"
                           "    k[1] = v\n"
                           "    s[lid.x] = k[1]\n"
                           "    let u = uniform s[1]\n"
                           "    grid_sync\n"
                           "    o[gid.x] = u + k[1]\n"
                           "}\n");
    const uint64_t expected[4] = {((uint64_t)1 << 41) + 2, (uint64_t)1 << 42, 4, 12};
    assert_memory_equal(out, expected, sizeof expected);
}

/* ---- Races ----------------------------------------------------------------------------------- */

static void check_races(const char *type, const char *body, uint32_t count, const char *part)
{
    uint64_t out[16] = {0};
    char text[400];
    (void)snprintf(text, sizeof text,
                   "program t workgroup 4 inout o : %s[] shared s : %s[4]\nkernel { %s }\n", type,
                   type, body);
    interp_case c = {.params = {.groups = {1}, .detect_races = 1}};
    interp_case_bind(&c, out, 8);
    interp_case_run_ok(&c, text);
    if (c.report.race_count != count || (part && !strstr(c.report.first_race.message, part))) {
        fail_msg("%u races, not %u, in: %s\n%s", (unsigned)c.report.race_count, count, text,
                 c.report.first_race.message);
    }
}

static void test_races_are_told_by_element(void **state)
{
    (void)state;
    static const char *const types[] = {"u8", "i16", "u32", "u64", "f16", "bf16", "f64", "u32x4"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        /* Neighbours within one word do not race. */
        check_races(types[i], "o[gid.x] = o[gid.x + 4]", 0, NULL);
        check_races(types[i], "o[gid.x] = o[0]", 1,
                    "element 0 of 'o': plain store by invocation 0 and plain load by invocation");
        check_races(types[i], "o[gid.x / 2] = o[7]", 2,
                    "element 0 of 'o': plain store by invocation 1");
        check_races(types[i], "s[lid.x] = o[0] o[gid.x] = s[3 - lid.x]", 5, NULL);
        check_races(types[i], "s[lid.x] = o[5] barrier o[gid.x] = s[3 - lid.x]", 0, NULL);
    }
    check_races("u64", "atomic_add(o[0], 1)", 0, NULL);
    check_races("u64", "let n = o[0] atomic_add(o[0], n)", 1, "atomic by invocation 0");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    vyre_program *program =
        interp_case_parse("program t workgroup 4 in a : u8[] out o : u32x4[len(a)]\n"
                          "param p : u64\n"
                          "kernel {\n"
                          "    let v = u32x4(u32(a[gid.x]), u32(p), 1, 2)\n"
                          "    let n = subgroup_add(v.xy)\n"
                          "    grid_sync\n"
                          "    o[gid.x] = u32x4(n, v.zw)\n"
                          "}\n");
    static uint8_t in[1000];
    static uint32_t out[4000];
    for (uint32_t i = 0; i < 1000; i++) {
        in[i] = (uint8_t)(i & 3);
    }
    vyre_result result = VYRE_ERROR_OUT_OF_HOST_MEMORY;
    const uint32_t words[2] = {10, 1};
    uint32_t n = 1;
    for (; n < 200 && result != VYRE_OK; n++) {
        vy_fail_allocator fail = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&fail);
        vyre_host_buffer buffers[] = {{in, 1000}, {out, 1000}};
        vyre_interp_params params = {.allocator = &allocator,
                                     .buffers = buffers,
                                     .buffer_count = 2,
                                     .params = words,
                                     .param_count = 2,
                                     .groups = {250},
                                     .detect_races = 1};
        vyre_diag diag;
        memset(out, 0xff, sizeof out);
        result = vyre_interp_run(program, &params, NULL, &diag);
        assert_int_equal(fail.live_blocks, 0);
        if (result != VYRE_OK) {
            assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(out[3999], 0xffffffffu);
        }
    }
    assert_int_equal(result, VYRE_OK);
    assert_true(n > 3);
    CHECK(out + 3996, 6, 40, 1, 2);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_elements_are_read_and_written_alone),
        cmocka_unit_test(test_buffers_need_no_alignment),
        cmocka_unit_test(test_floats_of_other_widths),
        cmocka_unit_test(test_bf16_widens_on_loads_and_rounds_on_stores),
        cmocka_unit_test(test_atomics_of_64_bits),
        cmocka_unit_test(test_indices_of_64_bits_are_not_cut),
        cmocka_unit_test(test_parameters_of_every_type),
        cmocka_unit_test(test_tables_of_every_width),
        cmocka_unit_test(test_wide_values_live_everywhere),
        cmocka_unit_test(test_races_are_told_by_element),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
