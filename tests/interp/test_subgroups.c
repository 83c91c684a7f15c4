/* Subgroup operations of several widths, in uniform and divergent flow, with partial subgroups. */
#include "tests/interp/case.h"

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

/* One workgroup of `volume` invocations l = lid.x, with o[l] and r[l] to write; 0 elsewhere. */
static void run(uint32_t width, uint32_t volume, const char *body, uint32_t *out, uint32_t count)
{
    char text[1500];
    (void)snprintf(text, sizeof text,
                   "program t workgroup %u out o : u32[%u]\nkernel { let l = lid.x %s }\n", volume,
                   count, body);
    interp_case c = {.params = {.groups = {1}, .subgroup_width = width}};
    memset(out, 0, count * sizeof *out);
    interp_case_bind(&c, out, count);
    interp_case_run_ok(&c, text);
}

static void test_lanes_are_consecutive_local_indices(void **state)
{
    (void)state;
    uint32_t out[96];
    run(4, 10, "o[l] = lane + lanes * 100", out, 10);
    CHECK(out, 400, 401, 402, 403, 400, 401, 402, 403, 400, 401);
    run(0, 48, "o[l] = lane + lanes * 100", out, 48);
    assert_int_equal(out[47], 3215);
    run(64, 48, "o[l] = lane + lanes * 100", out, 48);
    assert_int_equal(out[47], 6447);
    run(1, 3, "o[l] = lane + lanes * 100", out, 3);
    CHECK(out, 100, 100, 100);
    /* Of three dimensions x counts fastest. */
    interp_case c = {.params = {.groups = {1}, .subgroup_width = 8}};
    uint32_t dims[24] = {0};
    interp_case_bind(&c, dims, 24);
    interp_case_run_ok(&c, "program t workgroup 4, 3, 2 out o : u32[24]\n"
                           "kernel { o[lid.x + 4 * lid.y + 12 * lid.z] = lane }\n");
    for (uint32_t i = 0; i < 24; i++) {
        assert_int_equal(dims[i], i % 8);
    }
}

static void test_votes_elections_and_ballots(void **state)
{
    (void)state;
    uint32_t out[48];
    run(4, 6, "let e = subgroup_elect() o[l] = u32(e)", out, 6);
    CHECK(out, 1, 0, 0, 0, 1, 0);
    run(4, 6, "if l % 4 != 0 { let e = subgroup_elect() o[l] = u32(e) }", out, 6);
    CHECK(out, 0, 1, 0, 0, 0, 1);
    run(4, 6, "let a = subgroup_any(l == 2) let b = subgroup_all(l > 3) o[l] = u32(a) + 2 * u32(b)",
        out, 6);
    CHECK(out, 1, 1, 1, 1, 2, 2);
    run(4, 6, "let b = subgroup_ballot(l % 3 == 0) o[l] = b.x + b.y + b.z + b.w", out, 6);
    CHECK(out, 9, 9, 9, 9, 0, 0);
    /* Inactive lanes and those beyond the workgroup are zero in a ballot of true. */
    run(4, 6, "if l != 1 { let b = subgroup_ballot(true) o[l] = b.x }", out, 6);
    CHECK(out, 13, 0, 13, 13, 3, 3);
}

static void test_wide_ballots_take_several_words(void **state)
{
    (void)state;
    uint32_t out[4];
    run(64, 64,
        "let b = subgroup_ballot(l == 0 || l > 61 || l == 32) if l == 63 { o[0] = b.x "
        "o[1] = b.y o[2] = b.z o[3] = b.w }",
        out, 4);
    CHECK(out, 1, 0xc0000001u, 0, 0);
    run(128, 128,
        "let b = subgroup_ballot(l % 33 == 0) if l == 5 { o[0] = b.x o[1] = b.y "
        "o[2] = b.z o[3] = b.w }",
        out, 4);
    CHECK(out, 1, 2, 4, 8);
}

static void test_lanes_read_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *operation;
        uint32_t expected[8];
    } rows[] = {
        {"subgroup_broadcast_first(l + 10)", {10, 10, 10, 10, 14, 14, 14, 0}},
        {"subgroup_broadcast(l + 10, 2)", {12, 12, 12, 12, 16, 16, 16, 0}},
        {"subgroup_broadcast(l + 10, 3)", {13, 13, 13, 13, 0, 0, 0, 0}}, /* lane 3 is missing */
        {"subgroup_broadcast(l + 10, 4)", {0}},
        {"subgroup_shuffle(l + 10, 3 - lane)", {13, 12, 11, 10, 0, 16, 15, 0}},
        {"subgroup_shuffle(l + 10, lane + 0x80000000)", {0}},
        {"subgroup_shuffle_xor(l + 10, 1)", {11, 10, 13, 12, 15, 14, 0, 0}},
        {"subgroup_shuffle_xor(l + 10, 4)", {0}},
        {"subgroup_shuffle_up(l + 10, 1)", {0, 10, 11, 12, 0, 14, 15, 0}},
        {"subgroup_shuffle_up(l + 10, lane)", {10, 10, 10, 10, 14, 14, 14, 0}},
        {"subgroup_shuffle_up(l + 10, 4)", {0}},
        {"subgroup_shuffle_up(l + 10, 0xffffffff)", {0}},
        {"subgroup_shuffle_down(l + 10, 1)", {11, 12, 13, 0, 15, 16, 0, 0}},
        {"subgroup_shuffle_down(l + 10, 0xffffffff)", {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t out[8];
        char body[200];
        (void)snprintf(body, sizeof body, "let v = %s o[l] = v", rows[i].operation);
        run(4, 7, body, out, 8);
        interp_case_check(out, rows[i].expected, 8);
    }
}

static void test_inactive_lanes_read_as_zero(void **state)
{
    (void)state;
    uint32_t out[8];
    run(8, 8,
        "if l % 2 == 1 { let v = subgroup_shuffle_down(l + 10, 2) o[l] = v } "
        "else { let w = subgroup_shuffle_xor(l + 10, 1) o[l] = w + 100 }",
        out, 8);
    CHECK(out, 100, 13, 100, 15, 100, 17, 100, 0);
    run(8, 8, "if l > 2 { let v = subgroup_broadcast_first(l + 10) o[l] = v }", out, 8);
    CHECK(out, 0, 0, 0, 13, 13, 13, 13, 13);
    run(8, 8, "if l > 2 { let v = subgroup_broadcast(l + 10, 0) o[l] = v + 1 }", out, 8);
    CHECK(out, 0, 0, 0, 1, 1, 1, 1, 1);
}

static void test_reductions_and_scans(void **state)
{
    (void)state;
    static const struct {
        const char *operation;
        uint32_t expected[6];
    } rows[] = {
        {"subgroup_add(l + 1)", {10, 10, 10, 10, 11, 11}},
        {"subgroup_mul(l + 1)", {24, 24, 24, 24, 30, 30}},
        {"subgroup_min(l ^ 1)", {0, 0, 0, 0, 4, 4}},
        {"subgroup_max(l)", {3, 3, 3, 3, 5, 5}},
        {"subgroup_and(l | 8)", {8, 8, 8, 8, 12, 12}},
        {"subgroup_or(l)", {3, 3, 3, 3, 5, 5}},
        {"subgroup_xor(l + 1)", {4, 4, 4, 4, 3, 3}},
        {"subgroup_inclusive_add(l + 1)", {1, 3, 6, 10, 5, 11}},
        {"subgroup_inclusive_mul(l + 1)", {1, 2, 6, 24, 5, 30}},
        {"subgroup_inclusive_min(3 - l)", {3, 2, 1, 0, 0xffffffffu, 0xfffffffeu}},
        {"subgroup_inclusive_max(l ^ 1)", {1, 1, 3, 3, 5, 5}},
        {"subgroup_inclusive_and(~l)",
         {0xffffffffu, 0xfffffffeu, 0xfffffffcu, 0xfffffffcu, 0xfffffffbu, 0xfffffffau}},
        {"subgroup_inclusive_or(l)", {0, 1, 3, 3, 4, 5}},
        {"subgroup_inclusive_xor(l)", {0, 1, 3, 0, 4, 1}},
        {"subgroup_exclusive_add(l + 1)", {0, 1, 3, 6, 0, 5}},
        {"subgroup_exclusive_mul(l + 1)", {1, 1, 2, 6, 1, 5}},
        {"subgroup_exclusive_min(l)", {0xffffffffu, 0, 0, 0, 0xffffffffu, 4}},
        {"subgroup_exclusive_max(l + 1)", {0, 1, 2, 3, 0, 5}},
        {"subgroup_exclusive_and(l)", {0xffffffffu, 0, 0, 0, 0xffffffffu, 4}},
        {"subgroup_exclusive_or(l)", {0, 0, 1, 3, 0, 4}},
        {"subgroup_exclusive_xor(l)", {0, 0, 1, 3, 0, 4}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t out[6];
        char body[200];
        (void)snprintf(body, sizeof body, "let v = %s o[l] = v", rows[i].operation);
        run(4, 6, body, out, 6);
        interp_case_check(out, rows[i].expected, 6);
    }
}

/* Of lanes 0, 2, 3 and 5; the others keep the 99. */
static void test_only_active_lanes_take_part(void **state)
{
    (void)state;
    uint32_t out[8];
    run(4, 6, "o[l] = 99 if l != 1 && l != 4 { let s = subgroup_inclusive_add(l + 1) o[l] = s }",
        out, 6);
    CHECK(out, 1, 99, 4, 8, 99, 6);
    run(4, 6, "o[l] = 99 if l != 1 && l != 4 { let s = subgroup_exclusive_max(l + 1) o[l] = s }",
        out, 6);
    CHECK(out, 0, 99, 1, 3, 99, 0);
    /* A loop that lanes leave one by one: those that are still inside. */
    run(8, 8, "var n = 0 while n < l { let s = subgroup_add(1) o[l] = o[l] * 10 + s n += 1 }", out,
        8);
    CHECK(out, 0, 7, 76, 765, 7654, 76543, 765432, 7654321);
    run(8, 8,
        "for i in 0 .. 3 { if l == i { continue } if l == 5 { break } let s = subgroup_add(1) "
        "o[l] = o[l] * 10 + s }",
        out, 8);
    CHECK(out, 66, 66, 66, 666, 666, 0, 666, 666);
    /* After a branch all lanes are together again, after a return the rest is. */
    run(8, 8, "var k = 1 if l < 3 { k = 2 if l == 1 { return } } let s = subgroup_add(k) o[l] = s",
        out, 8);
    CHECK(out, 9, 0, 9, 9, 9, 9, 9, 9);
    /* The same statement by way of a function, from two branches. */
    interp_case c = {.params = {.groups = {1}, .subgroup_width = 8}};
    uint32_t calls[8] = {0};
    interp_case_bind(&c, calls, 8);
    interp_case_run_ok(&c, "program t workgroup 8 out o : u32[8]\n"
                           "fn sum(x : u32) -> u32 { let s = subgroup_add(x) return s }\n"
                           "kernel { let l = lid.x var v = 0\n"
                           "if l < 3 { let a = sum(l) v = a } else { let b = sum(100) v = b }\n"
                           "o[l] = v }\n");
    CHECK(calls, 3, 3, 3, 500, 500, 500, 500, 500);
}

static void test_width_changes_what_is_summed(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint32_t out[100];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        uint32_t width = widths[i];
        run(width, 100, "let s = subgroup_add(l) o[l] = s", out, 100);
        for (uint32_t l = 0; l < 100; l++) {
            uint32_t first = l / width * width, end = first + width > 100 ? 100 : first + width;
            assert_int_equal(out[l], (end - first) * (first + end - 1) / 2);
        }
    }
}

static void test_reductions_of_every_type(void **state)
{
    (void)state;
    static const struct {
        const char *type, *operation, *value;
        uint64_t expected[3]; /* of three lanes, x is 0 1 2 of the type */
    } rows[] = {
        {"u8", "add", "x + 100", {0x2f, 0x2f, 0x2f}},
        {"u8", "exclusive_min", "x", {0xff, 0, 0}},
        {"i8", "exclusive_min", "-x", {0x7f, 0, 0xff}},
        {"i8", "exclusive_max", "-x", {0x80, 0, 0}},
        {"i8", "min", "x - 1", {0xff, 0xff, 0xff}},
        {"i16", "exclusive_max", "x", {0x8000, 0, 1}},
        {"u16", "exclusive_and", "x + 1", {0xffff, 1, 0}},
        {"i32", "exclusive_min", "x", {0x7fffffff, 0, 0}},
        {"u64", "add", "x << 40", {3ull << 40, 3ull << 40, 3ull << 40}},
        {"u64", "exclusive_min", "x", {UINT64_MAX, 0, 0}},
        {"i64", "exclusive_max", "x", {0x8000000000000000u, 0, 1}},
        {"i64", "exclusive_and", "x", {UINT64_MAX, 0, 0}},
        {"f16", "inclusive_add", "x + 0.5h", {0x3800, 0x4000, 0x4480}},
        {"f16", "exclusive_mul", "x", {0x3c00, 0, 0}},
        {"f16", "exclusive_min", "x", {0x7c00, 0, 0}},
        {"f16", "exclusive_max", "x", {0xfc00, 0, 0x3c00}},
        {"f32", "exclusive_mul", "x + 1.0", {0x3f800000, 0x3f800000, 0x40000000}},
        {"f32", "exclusive_min", "x", {0x7f800000, 0, 0}},
        {"f32", "exclusive_max", "-x", {0xff800000u, 0x80000000u, 0x80000000u}},
        {"f64", "inclusive_add", "x * 0.5d", {0, 0x3fe0000000000000u, 0x3ff8000000000000u}},
        {"f64", "exclusive_min", "x", {0x7ff0000000000000u, 0, 0}},
        {"f64", "exclusive_mul", "x", {0x3ff0000000000000u, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[500];
        uint64_t out[3] = {0};
        uint32_t width = rows[i].type[1] == '8'   ? 8
                         : rows[i].type[1] == '1' ? 16
                         : rows[i].type[1] == '3' ? 32
                                                  : 64;
        (void)snprintf(text, sizeof text,
                       "program t workgroup 3 out o : u64[3]\n"
                       "kernel { let x = %s(lid.x) let v = subgroup_%s(%s)\n"
                       "o[lid.x] = u64(bitcast<u%u>(v)) }\n",
                       rows[i].type, rows[i].operation, rows[i].value, width);
        interp_case c = {.params = {.groups = {1}}};
        interp_case_bind(&c, out, 3);
        interp_case_run_ok(&c, text);
        for (int l = 0; l < 3; l++) {
            if (out[l] != rows[i].expected[l]) {
                fail_msg("lane %d: %llx, not %llx, in: %s", l, (unsigned long long)out[l],
                         (unsigned long long)rows[i].expected[l], text);
            }
        }
    }
}

static void test_float_reductions_follow_min_max_and_the_order_of_lanes(void **state)
{
    (void)state;
    uint32_t out[4];
    static const char values[] = "var x = nan if l == 1 { x = 0.0 } if l == 2 { x = -0.0 } ";
    char body[300];
    (void)snprintf(body, sizeof body, "%s let v = subgroup_min(x) o[l] = bitcast<u32>(v)", values);
    run(4, 4, body, out, 4);
    CHECK(out, 0x80000000u, 0x80000000u, 0x80000000u, 0x80000000u);
    (void)snprintf(body, sizeof body, "%s let v = subgroup_max(x) o[l] = bitcast<u32>(v)", values);
    run(4, 4, body, out, 4);
    CHECK(out, 0, 0, 0, 0);
    /* NaNs alone give the canonical one. */
    run(4, 4,
        "let x = bitcast<f32>(0xffc12345) let v = subgroup_inclusive_min(x) "
        "o[l] = bitcast<u32>(v)",
        out, 4);
    CHECK(out, 0x7fc00000u, 0x7fc00000u, 0x7fc00000u, 0x7fc00000u);
    /* A value that is only passed on keeps its bits. */
    run(4, 4,
        "let x = bitcast<f32>(0xffc12345 + l) let v = subgroup_shuffle_xor(x, 1) "
        "o[l] = bitcast<u32>(v)",
        out, 4);
    CHECK(out, 0xffc12346u, 0xffc12345u, 0xffc12348u, 0xffc12347u);
    /* ((2^24 + 1) + 1) + 1 is 2^24 in this order. */
    run(4, 4, "let x = select(l == 0, 16777216.0, 1.0) let v = subgroup_add(x) o[l] = u32(v)", out,
        4);
    CHECK(out, 16777216, 16777216, 16777216, 16777216);
}

static void test_vectors_and_bools_pass_between_lanes(void **state)
{
    (void)state;
    uint32_t out[8];
    run(4, 4,
        "let v = u32x2(l, l + 10) let s = subgroup_add(v) let p = subgroup_shuffle_up(v, 1) "
        "let b = subgroup_broadcast(l == 2, 2) let q = subgroup_broadcast_first(v.yx) "
        "o[l] = s.x + 100 * s.y + 10000 * p.x + 100000 * p.y + 10000000 * q.x + "
        "100000000 * u32(b)",
        out, 4);
    uint32_t base = 6 + 4600 + 100000000 + 100000000;
    CHECK(out, base, base + 1000000, base + 10000 + 1100000, base + 20000 + 1200000);
    run(4, 4,
        "let v = f32x4(f32(l), 1.0, 2.0, 3.0) let s = subgroup_exclusive_max(v) "
        "o[l] = bitcast<u32>(s.x) o[l + 4] = bitcast<u32>(s.w)",
        out, 8);
    CHECK(out, 0xff800000u, 0, 0x3f800000u, 0x40000000u, 0xff800000u, 0x40400000u, 0x40400000u,
          0x40400000u);
}

static void test_results_outlive_a_grid_sync(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case c = {.params = {.groups = {2}, .subgroup_width = 2}};
    interp_case_bind(&c, out, 8);
    interp_case_run_ok(&c, "program t workgroup 4 out o : u32[8]\n"
                           "kernel { let s = subgroup_add(gid.x) grid_sync o[gid.x] = s }\n");
    CHECK(out, 1, 1, 5, 5, 9, 9, 13, 13);
}

static void test_widths_are_checked_and_a_fixed_one_counts(void **state)
{
    (void)state;
    static const char free_width[] = "program t workgroup 8 out o : u32[1]\n"
                                     "kernel { o[0] = lanes }\n";
    static const char fixed[] = "program t workgroup 8 subgroup 8 out o : u32[1]\n"
                                "kernel { o[0] = lanes }\n";
    static const uint32_t wrong[] = {3, 129, 256, 0x80000000u};
    uint32_t out[1] = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        interp_case c = {.params = {.groups = {1}, .subgroup_width = wrong[i]}};
        interp_case_bind(&c, out, 1);
        assert_int_equal(interp_case_run(&c, free_width), VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(c.diag.message, "Fix: give a power of two from 1 to 128"));
    }
    interp_case c = {.params = {.groups = {1}, .subgroup_width = 16}};
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c, free_width);
    assert_int_equal(out[0], 16);
    interp_case_run_ok(&c, fixed);
    assert_int_equal(out[0], 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_are_consecutive_local_indices),
        cmocka_unit_test(test_votes_elections_and_ballots),
        cmocka_unit_test(test_wide_ballots_take_several_words),
        cmocka_unit_test(test_lanes_read_each_other),
        cmocka_unit_test(test_inactive_lanes_read_as_zero),
        cmocka_unit_test(test_reductions_and_scans),
        cmocka_unit_test(test_only_active_lanes_take_part),
        cmocka_unit_test(test_width_changes_what_is_summed),
        cmocka_unit_test(test_reductions_of_every_type),
        cmocka_unit_test(test_float_reductions_follow_min_max_and_the_order_of_lanes),
        cmocka_unit_test(test_vectors_and_bools_pass_between_lanes),
        cmocka_unit_test(test_results_outlive_a_grid_sync),
        cmocka_unit_test(test_widths_are_checked_and_a_fixed_one_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
