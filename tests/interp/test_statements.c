/* What every statement does, in one segment. */
#include "tests/interp/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define CHECK(got, ...)                                                                            \
    do {                                                                                           \
        const uint32_t expected[] = {__VA_ARGS__};                                                 \
        interp_case_check(got, expected, sizeof expected / sizeof *expected);                      \
    } while (0)

static void test_builtins_name_the_invocation(void **state)
{
    (void)state;
    uint32_t out[8 * 10] = {0};
    interp_case c = {.params = {.groups = {2, 1, 2}}};
    interp_case_bind(&c, out, 80);
    interp_case_run_ok(
        &c, "program t workgroup 1, 2, 1 out o : u32[80]\n"
            "kernel {\n"
            "    let w = (wid.z * num_groups.y + wid.y) * num_groups.x + wid.x\n"
            "    let n = (w * 2 + lid.y) * 10\n"
            "    o[n] = gid.x  o[n + 1] = gid.y  o[n + 2] = gid.z  o[n + 3] = lid.x\n"
            "    o[n + 4] = lid.y  o[n + 5] = wid.z  o[n + 6] = group_size.y\n"
            "    o[n + 7] = num_groups.x  o[n + 8] = num_groups.z  o[n + 9] = pass + 40\n"
            "}\n");
    CHECK(out, 0, 0, 0, 0, 0, 0, 2, 2, 2, 40, 0, 1, 0, 0, 1, 0, 2, 2, 2, 40, 1, 0, 0, 0, 0, 0, 2);
    CHECK(out + 70, 1, 1, 1, 0, 1, 1, 2, 2, 2, 40);
}

static void test_let_var_assign_and_blocks(void **state)
{
    (void)state;
    uint32_t out[4] = {9, 9, 9, 9};
    interp_case_run_u32("program t workgroup 4 out o : u32[4]\n"
                        "kernel {\n"
                        "    var a = gid.x\n"
                        "    { let b = a * 2  a = b + 1 }\n"
                        "    region \"name\" { a += 10 }\n"
                        "    o[gid.x] = a\n"
                        "}\n",
                        1, out, 4);
    CHECK(out, 11, 13, 15, 17);
}

static void test_if_and_else_take_their_lanes(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case_run_u32("program t workgroup 4 out o : u32[4]\n"
                        "kernel {\n"
                        "    var a = 0\n"
                        "    if gid.x < 1 { a = 1 } else if gid.x < 3 { if gid.x == 2 { a = 5 } }\n"
                        "    else { a = 7 }\n"
                        "    if gid.x == 9 { a = 100 }\n"
                        "    o[gid.x] = a\n"
                        "}\n",
                        1, out, 4);
    CHECK(out, 1, 0, 5, 7);
}

static void test_switch_has_no_fall_through(void **state)
{
    (void)state;
    uint32_t out[6] = {0};
    interp_case_run_u32("program t workgroup 6 out o : u32[6]\n"
                        "kernel {\n"
                        "    var a = 50\n"
                        "    switch gid.x {\n"
                        "        default { a += 9 }\n"
                        "        case 0, 3 { a += 1 }\n"
                        "        case 1 { a += 2 if a == 52 { return } }\n"
                        "    }\n"
                        "    switch i32(gid.x) - 2 { case 2 { a = 1000 } }\n"
                        "    o[gid.x] = a\n"
                        "}\n",
                        1, out, 6);
    CHECK(out, 51, 0, 59, 51, 1000, 59);
}

static void test_for_evaluates_bounds_once_and_visits_the_right_indices(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case_run_u32(
        "program t workgroup 1 out o : u32[8]\n"
        "kernel {\n"
        "    var n = 4  var a = 0\n"
        "    for i in 0 .. n { n = 100  a = a * 10 + i }\n"
        "    o[0] = a  a = 0\n"
        "    for i in 1 .. 8 step 3 { a = a * 10 + i }\n"
        "    o[1] = a  a = 0\n"
        "    for i in 1 .. 8 step 3 down { a = a * 10 + i }\n"
        "    o[2] = a  a = 0\n"
        "    for i in -2i .. 2i { a = a * 10 + u32(i + 2) }\n"
        "    o[3] = a  a = 0\n"
        "    for i in 5 .. 5 { a = 1 }  for i in 6 .. 5 { a = 1 }  for i in 0i .. -1i { a = 1 }\n"
        "    o[4] = a  n = 0\n"
        "    for i in 0 .. 3 step n { a += i + 1 }\n"
        "    o[5] = a  a = 0\n"
        "    for i in 0xfffffff0 .. 0xffffffff step 15 { a += 1 }\n"
        "    o[6] = a  a = 0\n"
        "    for i in 0x7ffffffei .. 0x7fffffffi { a += 1 }\n"
        "    for i in 0 .. 2 step 0xffffffff { a += 10 }\n"
        "    o[7] = a\n"
        "}\n",
        1, out, 8);
    CHECK(out, 123, 147, 741, 123, 0, 6, 1, 11);
}

static void test_for_whole_ranges_end(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case_run_u32(
        "program t workgroup 1 out o : u32[4]\n"
        "kernel {\n"
        "    var a = 0\n"
        "    for i in 0 .. 0xffffffff step 0x80000000 { a = a * 10 + (i >> 31) + 1 }\n"
        "    o[0] = a  a = 0\n"
        "    for i in i32(0x80000000u) .. 0x7fffffff step 0x7fffffff { a += 1 o[3] = u32(i) }\n"
        "    o[1] = a  a = 0\n"
        "    for i in 0 .. 0xffffffff step 0xfffffffe down { a += 1  o[2] = i }\n"
        "    o[2] += a\n"
        "}\n",
        1, out, 4);
    CHECK(out, 12, 3, 2, 0x7ffffffe);
}

static void test_break_continue_and_return_leave_the_right_lists(void **state)
{
    (void)state;
    uint32_t out[4] = {7, 7, 7, 7};
    interp_case_run_u32("program t workgroup 4 out o : u32[4]\n"
                        "kernel {\n"
                        "    var a = 0\n"
                        "    for i in 0 .. 10 {\n"
                        "        if i == gid.x { continue }\n"
                        "        switch i { case 6 { if gid.x == 1 { break } } }\n"
                        "        for k in 0 .. 3 { if k == 1 { break } a += 1 }\n"
                        "        if gid.x == 2 && i == 8 { o[2] = a return }\n"
                        "    }\n"
                        "    o[gid.x] = a\n"
                        "}\n",
                        1, out, 4);
    CHECK(out, 9, 5, 8, 9);
}

static void test_while_tests_before_each_trip(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case_run_u32("program t workgroup 4 out o : u32[4]\n"
                        "kernel {\n"
                        "    var a = gid.x  var n = 0\n"
                        "    while a < 10 { a += 3  if a == 8 { break }  n += 1 }\n"
                        "    while false { n = 100 }\n"
                        "    o[gid.x] = n * 100 + a\n"
                        "}\n",
                        1, out, 4);
    CHECK(out, 412, 310, 108, 312);
}

static void test_private_arrays_are_zero_at_each_declaration(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case_run_u32("program t workgroup 2 out o : u32[8]\n"
                        "kernel {\n"
                        "    for i in 0 .. 2 {\n"
                        "        var a : u32[3]\n"
                        "        o[gid.x * 4 + i] = a[1] + a[3] + a[0xffffffff] + a[i32(i) - 5]\n"
                        "        a[1] = gid.x + 5  a[3] = 1  a[-1i] = 1\n"
                        "        o[gid.x * 4 + 2 + i] = a[0] + a[1] + a[2]\n"
                        "    }\n"
                        "}\n",
                        1, out, 8);
    CHECK(out, 0, 0, 5, 5, 0, 0, 6, 6);
}

static void test_tables_constants_and_params(void **state)
{
    (void)state;
    uint32_t out[6] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 6);
    interp_case_param(&c, 11);
    interp_case_param(&c, 0x40200000u);
    interp_case_param(&c, 2);
    interp_case_run_ok(&c,
                       "program t workgroup 1 out o : u32[6]\n"
                       "param n : u32 param f : f32 param b : bool\n"
                       "const k = 3\n"
                       "const squares : u32[] = [0, 1, 4, 9]\n"
                       "kernel {\n"
                       "    o[0] = squares[k] + squares[4] + squares[0xffffffff]\n"
                       "    o[1] = n + k  o[2] = bitcast<u32>(f)  o[3] = u32(b)  o[4] = len(o)\n"
                       "    o[5] = select(b, 1, 2)\n"
                       "}\n");
    CHECK(out, 9, 14, 0x40200000u, 1, 6, 1);
}

static void test_loads_and_stores_out_of_bounds_do_nothing(void **state)
{
    (void)state;
    uint32_t in[2] = {5, 6}, out[4] = {0}, same[2] = {70, 80};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, in, 2);
    interp_case_bind(&c, out, 4);
    interp_case_bind(&c, same, 2);
    interp_case_run_ok(&c, "program t workgroup 1 in a : u32[] out o : u32[4] inout s : u32[]\n"
                           "kernel {\n"
                           "    o[0] = a[1] + a[2] + a[0xffffffff] + a[-1i] + a[0x40000000]\n"
                           "    s[2] = 1  s[-1i] = 1  s[0x40000001] = 9  s[1] = 81\n"
                           "    let x = atomic_add(s[2], 5)  let y = atomic_exchange(s[-2i], 5)\n"
                           "    atomic_store(s[0xffffffff], 1)\n"
                           "    o[1] = x + y\n"
                           "}\n");
    CHECK(out, 6, 0, 0, 0);
    CHECK(same, 70, 81);
}

static void test_bools_in_memory_are_words(void **state)
{
    (void)state;
    uint32_t in[3] = {0, 1, 0x80000000u}, out[3] = {9, 9, 9}, kept[2] = {7, 7};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, in, 3);
    interp_case_bind(&c, out, 3);
    interp_case_bind(&c, kept, 2);
    interp_case_run_ok(&c, "program t workgroup 3 in a : bool[] out o : bool[3] inout k : bool[]\n"
                           "kernel { o[gid.x] = a[gid.x]  k[1] = k[0] }\n");
    CHECK(out, 0, 1, 1);
    CHECK(kept, 7, 1);
}

static void test_atomics_return_the_old_value(void **state)
{
    (void)state;
    uint32_t out[16] = {0}, data[11] = {5, 5, 5, 5, 6, 6, 6, 6, 9, 9, 9};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, data, 11);
    interp_case_bind(&c, out, 16);
    interp_case_run_ok(&c,
                       "program t workgroup 1 inout d : u32[11] out o : u32[16]\n"
                       "kernel {\n"
                       "    let a = atomic_add(d[0], 3)   let b = atomic_sub(d[1], 6)\n"
                       "    let e = atomic_min(d[2], 2)   let f = atomic_max(d[3], 0xffffffff)\n"
                       "    let g = atomic_and(d[4], 3)   let h = atomic_or(d[5], 1)\n"
                       "    let i = atomic_xor(d[6], 7)   let j = atomic_exchange(d[7], 70)\n"
                       "    let k = atomic_compare_exchange(d[8], 9, 90)\n"
                       "    let l = atomic_compare_exchange(d[9], 8, 90)\n"
                       "    let m = atomic_load(d[10])    atomic_store(d[10], 91, release)\n"
                       "    o[0] = a o[1] = b o[2] = e o[3] = f o[4] = g o[5] = h o[6] = i\n"
                       "    o[7] = j o[8] = k o[9] = l o[10] = m\n"
                       "}\n");
    CHECK(out, 5, 5, 5, 5, 6, 6, 6, 6, 9, 9, 9);
    CHECK(data, 8, 0xffffffffu, 2, 0xffffffffu, 2, 7, 1, 70, 90, 9, 91);
}

static void test_atomics_are_signed_and_float_where_the_buffer_is(void **state)
{
    (void)state;
    uint32_t ints[2] = {1, 1}, floats[2] = {0, 0x7f800000u};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, ints, 2);
    interp_case_bind(&c, floats, 2);
    interp_case_run_ok(&c, "program t workgroup 4 inout d : i32[2] inout f : f32[2]\n"
                           "kernel {\n"
                           "    atomic_min(d[0], -5i)  atomic_max(d[1], -5i)\n"
                           "    atomic_add(f[0], 0.5)  atomic_add(f[1], -inf)\n"
                           "}\n");
    CHECK(ints, 0xfffffffbu, 1);
    CHECK(floats, 0x40000000u, 0x7fc00000u);
}

static void test_shared_memory_starts_at_zero_in_every_workgroup(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case_run_u32("program t workgroup 4 shared s : u32[5] out o : u32[8]\n"
                        "kernel {\n"
                        "    let before = s[lid.x + 1]\n"
                        "    barrier\n"
                        "    s[lid.x + 1] = gid.x + 1\n"
                        "    barrier\n"
                        "    o[gid.x] = before * 1000 + s[4 - lid.x] + len(s) * 10\n"
                        "}\n",
                        2, out, 8);
    CHECK(out, 54, 53, 52, 51, 58, 57, 56, 55);
}

static void test_uniform_load_drives_a_loop_with_barriers(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case_run_u32("program t workgroup 4 shared s : u32[1] out o : u32[4]\n"
                        "kernel {\n"
                        "    var rounds = 0  var n = 0\n"
                        "    while n < 9 {\n"
                        "        if lid.x == rounds { atomic_add(s[0], 2 + lid.x) }\n"
                        "        let now = uniform s[0]\n"
                        "        n = now  rounds += 1\n"
                        "    }\n"
                        "    o[gid.x] = n * 100 + rounds\n"
                        "}\n",
                        1, out, 4);
    CHECK(out, 903, 903, 903, 903);
}

static void test_functions_return_early_and_nest_in_expressions(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case_run_u32(
        "program t workgroup 4 out o : u32[4]\n"
        "fn half_or_triple(n : u32) -> u32 {\n"
        "    for i in 0 .. 1 { if n % 2 == 0 { return n / 2 } }\n"
        "    return n * 3 + 1\n"
        "}\n"
        "fn twice(n : u32, add : u32) -> u32 {\n"
        "    return half_or_triple(half_or_triple(n) + add) * 10 + half_or_triple(n)\n"
        "}\n"
        "kernel {\n"
        "    let y = twice(gid.x, gid.x) + twice(half_or_triple(1), 0)\n"
        "    o[gid.x] = y\n"
        "}\n",
        1, out, 4);
    /* twice(0,0) = 0; (1,1): h(5) = 16 -> 164; (2,2): h(3) = 10 -> 101; (3,3): h(13) = 40 -> 410;
     * twice(4, 0): h(2) = 1 -> 12. */
    CHECK(out, 12, 176, 113, 422);
}

static void test_calls_stand_in_every_place_of_a_statement(void **state)
{
    (void)state;
    uint32_t out[6] = {0};
    interp_case_run_u32(
        "program t workgroup 1 out o : u32[6]\n"
        "fn id(n : u32) -> u32 { return n }\n"
        "fn less(a : u32, b : u32) -> bool { return id(a) < id(b) }\n"
        "fn mark(at : u32) { o[at] = id(at) + 20  if at == 4 { return } o[5] = at }\n"
        "kernel {\n"
        "    var n = 0\n"
        "    while less(n, id(3)) { n += id(1) }\n"
        "    o[id(0)] = id(n) + id(id(4))\n"
        "    if less(id(1), 2) { o[1] = 1 }\n"
        "    for i in id(1) .. id(10) step id(4) { o[2] = o[2] * 10 + id(i) }\n"
        "    switch id(2) { case 2 { o[3] = id(8) } }\n"
        "    mark(id(4))\n"
        "    mark(5)\n"
        "    id(3)\n"
        "}\n",
        1, out, 6);
    CHECK(out, 7, 1, 159, 8, 24, 5);
}

static void test_impure_functions_return_old_values(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case_run_u32("program t workgroup 4 out o : u32[8]\n"
                        "fn take(n : u32) -> u32 {\n"
                        "    let old = atomic_add(o[7], n)\n"
                        "    if old > 2 { return 100 + old }\n"
                        "    return old\n"
                        "}\n"
                        "kernel {\n"
                        "    let mine = take(1)\n"
                        "    o[gid.x] = mine\n"
                        "    if gid.x == 0 { take(50) }\n"
                        "}\n",
                        1, out, 8);
    CHECK(out, 0, 1, 2, 103, 0, 0, 0, 54);
}

static void test_deep_chains_of_calls_and_long_sums_run(void **state)
{
    (void)state;
    static char text[400000];
    size_t at = 0;
    uint32_t out[2] = {0};
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "program t workgroup 1 out o : u32[2]\n"
                           "fn call0(n : u32) -> u32 { return n + 1 }\n");
    for (int i = 1; i < 80; i++) {
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "fn call%d(n : u32) -> u32 { { { return call%d(n) + 1 } } return 0 }\n", i, i - 1);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "kernel { o[0] = call79(5)\no[1] = 1");
    for (int i = 0; i < 20000; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, " + 2");
    }
    (void)snprintf(text + at, sizeof text - at, " }\n");
    interp_case_run_u32(text, 1, out, 2);
    CHECK(out, 85, 40001);
}

static void test_flushed_denormals_reach_memory_only_by_arithmetic(void **state)
{
    (void)state;
    for (int flush = 0; flush < 2; flush++) {
        uint32_t in[2] = {1, 0x80000003u}, out[4] = {0};
        interp_case c = {.params = {.groups = {1}, .flush_denormals = flush}};
        interp_case_bind(&c, in, 2);
        interp_case_bind(&c, out, 4);
        interp_case_run_ok(&c, "program t workgroup 1 in a : f32[] out o : f32[4]\n"
                               "kernel { o[0] = a[0]  o[1] = a[1] + a[1]\n"
                               "    o[2] = select(true, a[1], 0.0)  o[3] = a[0] * 2.0 }\n");
        if (flush) {
            CHECK(out, 1, 0x80000000u, 0x80000003u, 0);
        } else {
            CHECK(out, 1, 0x80000006u, 0x80000003u, 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtins_name_the_invocation),
        cmocka_unit_test(test_let_var_assign_and_blocks),
        cmocka_unit_test(test_if_and_else_take_their_lanes),
        cmocka_unit_test(test_switch_has_no_fall_through),
        cmocka_unit_test(test_for_evaluates_bounds_once_and_visits_the_right_indices),
        cmocka_unit_test(test_for_whole_ranges_end),
        cmocka_unit_test(test_break_continue_and_return_leave_the_right_lists),
        cmocka_unit_test(test_while_tests_before_each_trip),
        cmocka_unit_test(test_private_arrays_are_zero_at_each_declaration),
        cmocka_unit_test(test_tables_constants_and_params),
        cmocka_unit_test(test_loads_and_stores_out_of_bounds_do_nothing),
        cmocka_unit_test(test_bools_in_memory_are_words),
        cmocka_unit_test(test_atomics_return_the_old_value),
        cmocka_unit_test(test_atomics_are_signed_and_float_where_the_buffer_is),
        cmocka_unit_test(test_shared_memory_starts_at_zero_in_every_workgroup),
        cmocka_unit_test(test_uniform_load_drives_a_loop_with_barriers),
        cmocka_unit_test(test_functions_return_early_and_nest_in_expressions),
        cmocka_unit_test(test_calls_stand_in_every_place_of_a_statement),
        cmocka_unit_test(test_impure_functions_return_old_values),
        cmocka_unit_test(test_deep_chains_of_calls_and_long_sums_run),
        cmocka_unit_test(test_flushed_denormals_reach_memory_only_by_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
