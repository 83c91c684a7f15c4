/* Conformance of what vectors alone have: every swizzle, constructors, dot, any and all, conditions
 * and amounts for all components or for each. On the interpreter and on the device. */
#include "codegen/base/base.h"
#include "tests/conform/oracle.h"
#include "tests/conform/run.h"
#include "tests/conform/values.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VECTORS 64u

static const conform_id types[] = {CONFORM_U32, CONFORM_I32, CONFORM_F32};

/* Components named by the digits of `number` in base 4 (or 2). */
static void components_of(uint32_t number, uint32_t base, uint32_t count, char *out)
{
    for (uint32_t k = 0; k < count; k++) {
        out[k] = "xyzw"[number % base];
        number /= base;
    }
    out[count] = '\0';
}

/* Every swizzle of a vector of `from` to one of `to` components. */
static void run_swizzles(vyre_device *device, conform_id type, uint32_t from, uint32_t to)
{
    const uint32_t groups[3] = {1, 1, 1};
    const char *keyword = conform_types[type].keyword;
    uint32_t total = 1, words = 0;
    uint32_t x[4 * 4], *o;
    vy_text text;
    for (uint32_t k = 0; k < to; k++) {
        total *= from;
    }
    words = total * 4 * to;
    o = conform_allocate(words, 4);
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "program swizzles\nworkgroup 4\nin x : %sx%u[]\nout o : %s", keyword,
                   from, keyword);
    vy_text_printf(&text, to > 1 ? "x%u" : "", to);
    vy_text_printf(&text, "[]\nkernel {\n    let i = gid.x\n    let v = x[i]\n");
    for (uint32_t n = 0; n < total; n++) {
        char components[5];
        components_of(n, from, to, components);
        vy_text_printf(&text, "    o[i * %u + %u] = v.%s\n", total, n, components);
    }
    vy_text_printf(&text, "}\n");
    for (uint32_t i = 0; i < 16; i++) { /* a signalling NaN among them: bits are kept */
        x[i] = i == 5 ? 0xffa00001u : 0x01010101u * (i + 1);
    }
    const conform_buffer buffers[] = {{VYRE_BUFFER_IN, 4, x}, {VYRE_BUFFER_OUT, total * 4, o}};
    assert_true(conform_run(device, text.data, buffers, 2, groups));
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t n = 0; n < total; n++) {
            uint32_t digits = n;
            for (uint32_t k = 0; k < to; k++) {
                assert_int_equal(o[(i * total + n) * to + k], x[i * from + digits % from]);
                digits /= from;
            }
        }
    }
    free(o);
    vy_text_finish(&text);
}

static void test_every_swizzle_names_its_components(void **state)
{
    for (int on_device = 0; on_device <= (*state != NULL); on_device++) {
        for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
            for (uint32_t from = 2; from <= 4; from += 2) {
                run_swizzles(on_device ? *state : NULL, types[t], from, 1);
                run_swizzles(on_device ? *state : NULL, types[t], from, 2);
                run_swizzles(on_device ? *state : NULL, types[t], from, 4);
            }
        }
    }
}

static void test_constructors_join_parts_in_order(void **state)
{
    static const char text[] =
        "program join\nworkgroup 1\nin x : u32x4[]\nout o : u32x4[]\nout p : u32x2[]\nkernel {\n"
        "    let v = x[0]\n    let h = v.zw\n"
        "    o[0] = u32x4(v.w)\n    o[1] = u32x4(v.y, v.x, v.w, v.z)\n    o[2] = u32x4(h, h)\n"
        "    o[3] = u32x4(v.x, h, v.y)\n    o[4] = u32x4(v.x, v.y, h)\n    o[5] = u32x4(h, 7, 9)\n"
        "    o[6] = bitcast<u32x4>(f32x4(i32x4(-1, 2, -3, 4)))\n"
        "    o[7] = u32x4(u32x2(1, 2).yx, u32x2(v.y))\n"
        "    p[0] = u32x2(v.z)\n    p[1] = u32x2(v.w, v.x)\n"
        "    var m = v\n    m = m.wzyx\n    o[8] = m\n"
        "    var a : u32x4[3]\n    a[1] = v\n    o[9] = a[v.x & 1] + a[2]\n}\n";
    static const uint32_t want[10][4] = {{4, 4, 4, 4},
                                         {2, 1, 4, 3},
                                         {3, 4, 3, 4},
                                         {1, 3, 4, 2},
                                         {1, 2, 3, 4},
                                         {3, 4, 7, 9},
                                         {0xbf800000u, 0x40000000u, 0xc0400000u, 0x40800000u},
                                         {2, 1, 2, 2},
                                         {4, 3, 2, 1},
                                         {1, 2, 3, 4}};
    const uint32_t groups[3] = {1, 1, 1};
    uint32_t x[4] = {1, 2, 3, 4};
    for (int on_device = 0; on_device <= (*state != NULL); on_device++) {
        uint32_t o[40] = {0}, p[4] = {0};
        const conform_buffer buffers[] = {
            {VYRE_BUFFER_IN, 1, x}, {VYRE_BUFFER_OUT, 10, o}, {VYRE_BUFFER_OUT, 2, p}};
        assert_true(conform_run(on_device ? *state : NULL, text, buffers, 3, groups));
        for (uint32_t i = 0; i < 10; i++) {
            assert_memory_equal(o + 4 * i, want[i], sizeof want[i]);
        }
        assert_true(p[0] == 3 && p[1] == 3 && p[2] == 4 && p[3] == 1);
    }
}

/* ---- dot ----------------------------------------------------------------------------------------
 */

static uint64_t dot(conform_id type, uint32_t components, const uint32_t *a, const uint32_t *b)
{
    static const conform_mode plain;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < components; k++) {
        uint64_t factors[4] = {a[k], b[k], 0, 0}, terms[4] = {0};
        terms[0] = sum;
        terms[1] = conform_evaluate(VYRE_OP_MUL, type, type, factors, &plain).bits;
        sum = k ? conform_evaluate(VYRE_OP_ADD, type, type, terms, &plain).bits : terms[1];
    }
    return sum;
}

static void run_dot(vyre_device *device, const conform_values *values, conform_id type,
                    uint32_t components)
{
    const uint32_t groups[3] = {VECTORS / 64, 1, 1};
    const char *k = conform_types[type].keyword;
    char text[512];
    uint32_t a[VECTORS * 4], b[VECTORS * 4], o[VECTORS] = {0};
    snprintf(text, sizeof text,
             "program dots\nworkgroup 64\nin a : %sx%u[]\nin b : %sx%u[]\nout o : %s[]\nkernel {\n"
             "    o[gid.x] = dot(a[gid.x], b[gid.x])\n}\n",
             k, components, k, components, k);
    for (uint32_t i = 0; i < VECTORS * 4; i++) {
        uint32_t point = CONFORM_PAIRS * 2 + i * 8 + (i / 4 % 2 ? 4 : 3);
        a[i] = (uint32_t)conform_value(values, type, CONFORM_X0, point);
        b[i] = (uint32_t)conform_value(values, type, CONFORM_X1, point);
    }
    const conform_buffer buffers[] = {
        {VYRE_BUFFER_IN, VECTORS, a}, {VYRE_BUFFER_IN, VECTORS, b}, {VYRE_BUFFER_OUT, VECTORS, o}};
    assert_true(conform_run(device, text, buffers, 3, groups));
    for (uint32_t i = 0; i < VECTORS; i++) {
        assert_int_equal(o[i], dot(type, components, a + i * components, b + i * components));
    }
}

static void test_dot_sums_from_the_first_component(void **state)
{
    conform_values *values = conform_allocate(1, sizeof *values);
    conform_values_init(values, 3);
    for (int on_device = 0; on_device <= (*state != NULL); on_device++) {
        for (size_t t = 0; t < VY_COUNT_OF(types); t++) {
            run_dot(on_device ? *state : NULL, values, types[t], 2);
            run_dot(on_device ? *state : NULL, values, types[t], 4);
        }
    }
    free(values);
}

/* ---- Bools -------------------------------------------------------------------------------------
 */

static void test_conditions_hold_for_all_or_for_each(void **state)
{
    static const char text[] =
        "program conditions\nworkgroup 16\nin x : u32x4[]\nout o : u32[]\nout p : u32x4[]\n"
        "kernel {\n"
        "    let i = gid.x\n    let c = x[i] != u32x4(0)\n    let d = c.xy\n"
        "    o[i * 6] = u32(any(c))\n    o[i * 6 + 1] = u32(all(c))\n"
        "    o[i * 6 + 2] = u32(any(d))\n    o[i * 6 + 3] = u32(all(d))\n"
        "    o[i * 6 + 4] = u32(any(!c && bool4(c.yx, c.wz)))\n    o[i * 6 + 5] = u32(c.w)\n"
        "    p[i * 4] = select(c, u32x4(1, 2, 3, 4), u32x4(9))\n"
        "    p[i * 4 + 1] = select(c.z, u32x4(1, 2, 3, 4), u32x4(9))\n"
        "    p[i * 4 + 2] = u32x4(1, 2, 3, 4) << x[i]\n"
        "    p[i * 4 + 3] = u32x4(1, 2, 3, 4) << x[i].x\n}\n";
    const uint32_t groups[3] = {1, 1, 1};
    for (int on_device = 0; on_device <= (*state != NULL); on_device++) {
        uint32_t x[64], o[96] = {0}, p[256] = {0};
        for (uint32_t i = 0; i < 64; i++) {
            x[i] = (i / 4) >> (i % 4) & 1 ? i + 1 : 0;
        }
        const conform_buffer buffers[] = {
            {VYRE_BUFFER_IN, 16, x}, {VYRE_BUFFER_OUT, 96, o}, {VYRE_BUFFER_OUT, 64, p}};
        assert_true(conform_run(on_device ? *state : NULL, text, buffers, 3, groups));
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t *v = x + 4 * i, *got = p + 16 * i;
            bool differ = (v[0] != 0) != (v[1] != 0) || (v[2] != 0) != (v[3] != 0);
            const uint32_t want[6] = {i != 0, i == 15, (i & 3) != 0, (i & 3) == 3, differ, i >> 3};
            assert_memory_equal(o + 6 * i, want, sizeof want);
            for (uint32_t k = 0; k < 4; k++) {
                assert_int_equal(got[k], v[k] ? k + 1 : 9);
                assert_int_equal(got[4 + k], v[2] ? k + 1 : 9);
                assert_int_equal(got[8 + k], (k + 1) << (v[k] & 31));
                assert_int_equal(got[12 + k], (k + 1) << (v[0] & 31));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_swizzle_names_its_components),
        cmocka_unit_test(test_constructors_join_parts_in_order),
        cmocka_unit_test(test_dot_sums_from_the_first_component),
        cmocka_unit_test(test_conditions_hold_for_all_or_for_each),
    };
    return cmocka_run_group_tests(tests, conform_open_device, conform_close_device);
}
