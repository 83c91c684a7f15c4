/* Vectors in whole programs: made, taken apart, computed with, kept and passed on. */
#include "tests/interp/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CHECK(got, ...)                                                                            \
    do {                                                                                           \
        const uint32_t expected[] = {__VA_ARGS__};                                                 \
        interp_case_check(got, expected, sizeof expected / sizeof *expected);                      \
    } while (0)

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* One invocation with a = {1, 2, 3, 4}, {10, 20, 30, 40} and 32 words to write. */
static void run(const char *body, uint32_t *out)
{
    static const uint32_t in[8] = {1, 2, 3, 4, 10, 20, 30, 40};
    char text[1200] = "program t workgroup 1 in a : u32x4[] out o : u32[32]\n"
                      "const TWO = u32x2(7, 9)\n"
                      "kernel { let v = a[0] let w = a[1] ";
    strncat(text, body, sizeof text - strlen(text) - 4);
    strcat(text, " }\n");
    interp_case c = {.params = {.groups = {1}}};
    uint32_t copy[8];
    memcpy(copy, in, sizeof copy);
    interp_case_bind(&c, copy, 2);
    interp_case_bind(&c, out, 32);
    interp_case_run_ok(&c, text);
}

#define STORE4 " o[0] = r.x o[1] = r.y o[2] = r.z o[3] = r.w"

static void test_operators_work_component_by_component(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t expected[4];
    } rows[] = {
        {"let r = v + w", {11, 22, 33, 44}},
        {"let r = w - v", {9, 18, 27, 36}},
        {"let r = v * 3", {3, 6, 9, 12}},
        {"let r = 100 / v", {100, 50, 33, 25}},
        {"let r = w % v.w", {2, 0, 2, 0}},
        {"let r = v << v", {2, 8, 24, 64}},
        {"let r = w >> 1", {5, 10, 15, 20}},
        {"let r = rotate_right(v, 1)", {0x80000000u, 1, 0x80000001u, 2}},
        {"let r = max(v, 3)", {3, 3, 3, 4}},
        {"let r = clamp(w, 15, v * 8)", {8, 16, 24, 32}},
        {"let r = ctz(v)", {0, 1, 0, 2}},
        {"let r = select(v > 2, w, v)", {1, 2, 30, 40}},
        {"let r = select(v.x == 1, w, v)", {10, 20, 30, 40}},
        {"let r = select(v == u32x4(1, 9, 3, 9), 5, v)", {5, 2, 5, 4}},
        {"let r = extract_bits(w, 1, v)", {1, 2, 7, 4}},
        {"let r = insert_bits(w, v, 0, 2)", {9, 22, 31, 40}},
        {"let r = u32x4(v >= 2 && v < 4)", {0, 1, 1, 0}},
        {"let r = u32x4(!(v == 3))", {1, 1, 0, 1}},
        {"let r = u32x4(f32x4(w) * 0.25)", {2, 5, 7, 10}},
        {"let r = bitcast<u32x4>(f32x4(v))", {0x3f800000u, 0x40000000u, 0x40400000u, 0x40800000u}},
        {"let r = u32x4(abs(i32x4(v) - 3))", {2, 1, 0, 1}},
        {"let r = abs_diff(i32x4(v), 3)", {2, 1, 0, 1}},
        {"let r = -v", {0xffffffffu, 0xfffffffeu, 0xfffffffdu, 0xfffffffcu}},
        {"let r = fma(f32x4(v), 2.0, f32x4(w)) let q = u32x4(r) o[4] = q.w", {0}},
    };
    for (size_t i = 0; i + 1 < sizeof rows / sizeof *rows; i++) {
        uint32_t out[32] = {0};
        char body[300];
        strcpy(body, rows[i].body);
        strcat(body, STORE4);
        run(body, out);
        interp_case_check(out, rows[i].expected, 4);
    }
    uint32_t out[32] = {0};
    run(rows[sizeof rows / sizeof *rows - 1].body, out);
    assert_int_equal(out[4], 48);
}

static void test_vectors_are_made_of_parts_and_taken_apart(void **state)
{
    (void)state;
    uint32_t out[32] = {0};
    run("let r = u32x4(v.zw, 5, w.x)" STORE4, out);
    CHECK(out, 3, 4, 5, 10);
    run("let r = u32x4(8)" STORE4, out);
    CHECK(out, 8, 8, 8, 8);
    run("let r = v.wzyx" STORE4, out);
    CHECK(out, 4, 3, 2, 1);
    run("let r = (v + w).yyxx" STORE4, out);
    CHECK(out, 22, 22, 11, 11);
    /* Operands and result in the same columns. */
    run("let r = ((v.wzyx).yxwz + 0).zxwy" STORE4, out);
    CHECK(out, 1, 3, 2, 4);
    run("let r = u32x4((v.xy).yx, TWO)" STORE4, out);
    CHECK(out, 2, 1, 7, 9);
    run("let r = u32x4(TWO.yx * 2, u32x2(v.x))" STORE4, out);
    CHECK(out, 18, 14, 1, 1);
}

static void test_reductions_of_vectors(void **state)
{
    (void)state;
    uint32_t out[32] = {0};
    run("o[0] = dot(v, w) o[1] = dot(v.xy, v.zw) o[2] = u32(any(v == 3)) o[3] = u32(any(v == 9)) "
        "o[4] = u32(all(v < 5)) o[5] = u32(all(v.xy < 2)) o[6] = bitcast<u32>(dot(i32x2(v.xy), "
        "i32x2(-3)))",
        out);
    CHECK(out, 300, 11, 1, 0, 1, 0, (uint32_t)-9);
    /* Left to right, each rounded: (2^24 + 1) - 2^24 + 1. */
    run("let f = f32x4(16777216.0, 1.0, -16777216.0, 1.0) o[0] = bitcast<u32>(dot(f, f32x4(1.0)))",
        out);
    CHECK(out, bits_of(1.0f));
}

static void test_vectors_live_in_variables_arrays_and_functions(void **state)
{
    (void)state;
    uint32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[16] = {0};
    static const char text[] =
        "program t workgroup 2 in a : u32x2[] out o : u32x4[4] shared s : u32x2[2]\n"
        "param p : f32x2 param q : u32\n"
        "const T : u32x2[] = [u32x2(1, 2), u32x2(3, 4), u32x2(5, 6)]\n"
        "fn turn(v : u32x2, by : u32) -> u32x2 {\n"
        "    if by == 0 { return v }\n"
        "    return v.yx * by\n"
        "}\n"
        "kernel {\n"
        "    let i = gid.x\n"
        "    var k : u32x2[3]\n"
        "    k[i] = turn(a[i], i)\n"
        "    k[2] = T[i + 1]\n"
        "    k[7] = u32x2(99)\n"
        "    var sum = u32x2(0)\n"
        "    for j in 0 .. 4 { sum += k[j] }\n"
        "    o[i] = u32x4(k[i], k[2])\n"
        "    s[lid.x] = sum\n"
        "    let u = uniform s[1]\n"
        "    o[i + 2] = u32x4(u, u32x2(p)) + T[9].x + q\n"
        "    o[i + 4] = u32x4(1)\n"
        "}\n";
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, in, 4);
    interp_case_bind(&c, out, 4);
    interp_case_param(&c, bits_of(50.0f));
    interp_case_param(&c, bits_of(60.0f));
    interp_case_param(&c, 1000);
    interp_case_run_ok(&c, text);
    /* Invocation 1: k = {0, 0}, {4, 3}, {5, 6}. */
    CHECK(out, 1, 2, 3, 4, 4, 3, 5, 6, 1009, 1009, 1050, 1060, 1009, 1009, 1050, 1060);
}

static void test_vectors_outlive_a_grid_sync(void **state)
{
    (void)state;
    uint32_t in[16], out[16] = {0};
    for (uint32_t i = 0; i < 16; i++) {
        in[i] = i;
    }
    interp_case c = {.params = {.groups = {2}}};
    interp_case_bind(&c, in, 4);
    interp_case_bind(&c, out, 4);
    interp_case_run_ok(&c, "program t workgroup 2 in a : u32x4[] out o : u32x4[]\n"
                           "kernel {\n"
                           "    let v = a[gid.x] * 2\n"
                           "    var k : u32x2[2]\n"
                           "    k[1] = v.zw\n"
                           "    grid_sync\n"
                           "    o[3 - gid.x] = u32x4(v.xy, k[1].yx)\n"
                           "}\n");
    CHECK(out, 24, 26, 30, 28, 16, 18, 22, 20, 8, 10, 14, 12, 0, 2, 6, 4);
}

static void test_lanes_keep_vectors_apart(void **state)
{
    (void)state;
    uint32_t out[16] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 8);
    interp_case_run_ok(
        &c, "program t workgroup 8 out o : u32x2[8]\n"
            "kernel {\n"
            "    var v = u32x2(gid.x, 100)\n"
            "    if gid.x % 2 == 1 { v = v.yx + gid.x } else { v *= u32x2(2, 3) }\n"
            "    var n = 0\n"
            "    while any(v > 60) { v = v - u32x2(50, 7) n += 1 if n == 20 { break } }\n"
            "    o[gid.x] = u32x2(v.x + v.y, n)\n"
            "}\n");
    uint32_t expected[16];
    for (uint32_t lane = 0; lane < 8; lane++) {
        uint32_t x = lane % 2 ? 100 + lane : lane * 2, y = lane % 2 ? 2 * lane : 300, n = 0;
        while ((x > 60 || y > 60) && n < 20) {
            x -= 50;
            y -= 7;
            n++;
        }
        expected[2 * lane] = x + y;
        expected[2 * lane + 1] = n;
    }
    interp_case_check(out, expected, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators_work_component_by_component),
        cmocka_unit_test(test_vectors_are_made_of_parts_and_taken_apart),
        cmocka_unit_test(test_reductions_of_vectors),
        cmocka_unit_test(test_vectors_live_in_variables_arrays_and_functions),
        cmocka_unit_test(test_vectors_outlive_a_grid_sync),
        cmocka_unit_test(test_lanes_keep_vectors_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
