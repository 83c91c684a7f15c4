/* Segments, values that outlive them, host loops, fixpoints, traps and loop limits. */
#include "tests/interp/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CHECK(got, ...)                                                                            \
    do {                                                                                           \
        const uint32_t expected[] = {__VA_ARGS__};                                                 \
        interp_case_check(got, expected, sizeof expected / sizeof *expected);                      \
    } while (0)

static void check_record(const interp_case *c, vyre_record_kind kind, uint32_t code, uint32_t pass,
                         uint32_t segment, uint32_t invocation)
{
    assert_int_equal(c->report.record.kind, kind);
    assert_int_equal(c->report.record.code, code);
    assert_int_equal(c->report.record.pass, pass);
    assert_int_equal(c->report.record.segment, segment);
    assert_int_equal(c->report.record.invocation, invocation);
}

static void test_grid_sync_orders_all_workgroups(void **state)
{
    (void)state;
    uint32_t out[6] = {0};
    interp_case c = {.params = {.groups = {3}}};
    interp_case_bind(&c, NULL, UINT32_MAX);
    interp_case_bind(&c, out, 6);
    interp_case_run_ok(&c,
                       "program t workgroup 2 scratch s : u32[num_groups.x * 2] out o : u32[6]\n"
                       "kernel {\n"
                       "    let mine = gid.x * gid.x + 1\n"
                       "    s[gid.x] = mine\n"
                       "    grid_sync\n"
                       "    o[gid.x] = s[5 - gid.x] * 100 + mine\n"
                       "}\n");
    CHECK(out, 2601, 1702, 1005, 510, 217, 126);
    assert_int_equal(c.report.segments, 2);
    assert_int_equal(c.report.passes, 1);
    assert_int_equal(c.report.convergence, VYRE_CONVERGENCE_NONE);
}

static void test_all_kinds_of_names_live_across_a_cut(void **state)
{
    (void)state;
    uint32_t out[5] = {0};
    interp_case_run_u32("program t workgroup 2 out o : u32[5]\n"
                        "fn double(n : u32) -> u32 { return n * 2 }\n"
                        "kernel {\n"
                        "    var v = gid.x  var a : u32[2]\n"
                        "    a[1] = gid.x + 1\n"
                        "    let old = atomic_add(o[4], 1)\n"
                        "    let d = double(gid.x)\n"
                        "    { grid_sync  v += 100  region \"r\" { grid_sync } v += 100 }\n"
                        "    o[gid.x] = v + a[1] * 1000 + old * 10000 + d * 100000\n"
                        "}\n",
                        2, out, 5);
    CHECK(out, 1200, 212201, 423202, 634203);
}

static void test_return_ends_only_the_segment(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case_run_u32("program t workgroup 2 out o : u32[8]\n"
                        "kernel {\n"
                        "    if gid.x > 1 { return }\n"
                        "    o[gid.x] = 1\n"
                        "    grid_sync\n"
                        "    o[4 + gid.x] = 2\n"
                        "}\n",
                        2, out, 8);
    CHECK(out, 1, 1, 0, 0, 2, 2, 2, 2);
}

/* A name that an invocation did not reach is zero later on; a var keeps its last value. */
static void test_names_that_were_not_reached_are_zero(void **state)
{
    (void)state;
    uint32_t out[12] = {0};
    interp_case_run_u32("program t workgroup 2 out o : u32[12]\n"
                        "kernel {\n"
                        "    var v = 7\n"
                        "    for i in 0 .. 2 {\n"
                        "        if gid.x == 1 && i == 1 { v = 8 return }\n"
                        "        let w = gid.x + 5 + i\n"
                        "        var a : u32[1]\n"
                        "        a[0] = 30 + gid.x\n"
                        "        grid_sync\n"
                        "        o[i * 4 + gid.x] = w * 100 + a[0]\n"
                        "    }\n"
                        "    o[8 + gid.x] = v\n"
                        "}\n",
                        2, out, 12);
    CHECK(out, 530, 631, 732, 833, 630, 0, 832, 933, 7, 8, 7, 7);
}

static void test_host_loops_are_bounded_by_cuts_of_their_own(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 4);
    interp_case_param(&c, 3);
    /* With the cut at the end of an iteration, B's return does not skip the next A. */
    interp_case_run_ok(&c, "program t workgroup 2 shared s : u32[1] out o : u32[4] param n : u32\n"
                           "kernel {\n"
                           "    s[0] = 1\n"
                           "    for i in 0 .. n {\n"
                           "        if gid.x == 0 { o[0] += 1 + s[0] * 100 }\n"
                           "        grid_sync\n"
                           "        if gid.x == 0 { o[1] += i + 1  s[0] = 1  return }\n"
                           "    }\n"
                           "    if gid.x == 0 { o[2] = s[0] + 5 }\n"
                           "}\n");
    CHECK(out, 3, 6, 5, 0);
    assert_int_equal(c.report.segments, 1 + 3 * 2 + 1);
}

static void test_host_ifs_and_nested_loops(void **state)
{
    (void)state;
    static const char text[] = "program t workgroup 1 out o : u32[4] param n : u32\n"
                               "kernel {\n"
                               "    for i in 0 .. n step 2 {\n"
                               "        for k in i .. 3 down {\n"
                               "            if k == 1 { grid_sync o[0] += 1 } else { o[1] = o[1] * "
                               "10 + k + 1 grid_sync }\n"
                               "        }\n"
                               "    }\n"
                               "    if n > 100 { grid_sync o[3] = 1 grid_sync }\n"
                               "    grid_sync grid_sync\n"
                               "    o[2] = n\n"
                               "    grid_sync\n"
                               "}\n";
    uint32_t out[4] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 4);
    interp_case_param(&c, 3);
    interp_case_run_ok(&c, text);
    CHECK(out, 1, 313, 3, 0);
    assert_int_equal(c.report.segments, 5); /* i = 0: k = 2, 1, 0; i = 2: k = 2; then the last */
    interp_case none = {.params = {.groups = {1}}};
    interp_case_bind(&none, out, 4);
    interp_case_param(&none, 0);
    interp_case_run_ok(&none, text);
    assert_int_equal(none.report.segments, 1);
}

static void test_segments_have_static_numbers_in_records(void **state)
{
    (void)state;
    uint32_t out[1] = {0};
    interp_case c = {.params = {.groups = {2}}};
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c, "program t workgroup 2 out o : u32[1]\n"
                           "kernel {\n"
                           "    o[0] = 1\n"
                           "    grid_sync\n"
                           "    for i in 0 .. 3 {\n"
                           "        o[0] = 2\n"
                           "        grid_sync\n"
                           "        if i == 1 && gid.x >= 2 { trap(77) o[0] = 5 }\n"
                           "    }\n"
                           "    trap(9)\n"
                           "}\n");
    check_record(&c, VYRE_RECORD_TRAP, 77, 0, 2, 2);
    assert_int_equal(c.report.record.line, 8);
    assert_int_equal(c.report.record.column, 35);
}

static void test_the_first_record_wins_by_invocation_then_site(void **state)
{
    (void)state;
    uint32_t out[1] = {0};
    interp_case c = {.params = {.groups = {2}}};
    interp_case_bind(&c, out, 1);
    /* In lockstep invocation 3 traps first; invocation 1 comes first in the order of records. */
    interp_case_run_ok(&c, "program t workgroup 4 out o : u32[1] fixpoint 2\n"
                           "kernel {\n"
                           "    if lid.x == 3 { trap(3) }\n"
                           "    if lid.x == 1 && pass == 1 { trap(1) }\n"
                           "    if lid.x == 1 { trap(2) }\n"
                           "    o[0] = 4\n"
                           "}\n");
    check_record(&c, VYRE_RECORD_TRAP, 2, 0, 0, 1);
    assert_int_equal(out[0], 4);
}

static void test_loop_limit_is_one_budget_per_invocation_and_segment(void **state)
{
    (void)state;
    uint32_t out[8] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 8);
    interp_case_run_ok(&c, "program t workgroup 2 loop_limit 10 out o : u32[8]\n"
                           "fn spin(n : u32) -> u32 { var k = 0 while k < n { k += 1 } return k }\n"
                           "kernel {\n"
                           "    let a = spin(4 + gid.x)\n"
                           "    var b = 0\n"
                           "    while b < 5 { b += 1 }\n"
                           "    while true { b += 100 }\n"
                           "    o[gid.x] = a * 1000 + b\n"
                           "    grid_sync\n"
                           "    o[2 + gid.x] = spin(100)\n"
                           "    grid_sync\n"
                           "    for i in 0 .. 100 { o[4 + gid.x] += 1 }\n"
                           "    o[6 + gid.x] = spin(10)\n"
                           "}\n");
    CHECK(out, 4105, 5005, 10, 10, 100, 100, 10, 10);
    check_record(&c, VYRE_RECORD_LOOP_LIMIT, 0, 0, 0, 0);
    assert_int_equal(c.report.record.line, 7);
}

static void test_a_while_with_a_barrier_counts_for_itself(void **state)
{
    (void)state;
    uint32_t out[4] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 4);
    interp_case_run_ok(
        &c, "program t workgroup 2 loop_limit 6 out o : u32[4]\n"
            "kernel {\n"
            "    var a = gid.x * 3  var n = 0\n"
            "    while a < 6 { a += 1 }\n"
            "    for i in 0 .. 2 { var k = 0 while k < 5 + i { barrier k += 1 n += 1 } }\n"
            "    while n < 100 { barrier n += 1 }\n"
            "    o[gid.x] = n\n"
            "    a = 0  while a < 6 { a += 1 }\n"
            "    o[2 + gid.x] = a\n"
            "}\n");
    CHECK(out, 17, 17, 0, 3);
    check_record(&c, VYRE_RECORD_LOOP_LIMIT, 0, 0, 0, 0);
    assert_int_equal(c.report.record.line, 6); /* the site before line 8 at the same invocation */
}

static void test_reaching_the_limit_exactly_leaves_no_record(void **state)
{
    (void)state;
    uint32_t out[1] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c, "program t workgroup 1 loop_limit 5 out o : u32[1]\n"
                           "kernel { while o[0] < 5 { o[0] += 1 } }\n");
    assert_int_equal(out[0], 5);
    assert_int_equal(c.report.record.kind, VYRE_RECORD_NONE);
}

static const char breadth_first[] =
    "program bfs workgroup 4 grid over level fixpoint 100 until changed\n"
    "in row_start : u32[] in column : u32[] inout level : u32[] scratch changed : u32[1]\n"
    "kernel {\n"
    "    let v = gid.x\n"
    "    if v < len(level) {\n"
    "        let mine = atomic_load(level[v])\n"
    "        if mine == pass {\n"
    "            for e in row_start[v] .. row_start[v + 1] {\n"
    "                let old = atomic_min(level[column[e]], pass + 1)\n"
    "                if old > pass + 1 { atomic_store(changed[0], 1) }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";

static void bind_graph(interp_case *c, uint32_t *level, uint32_t *changed)
{
    static uint32_t rows[] = {0, 2, 3, 4, 5, 5, 5}, columns[] = {1, 2, 3, 3, 4};
    interp_case_bind(c, rows, 7);
    interp_case_bind(c, columns, 5);
    interp_case_bind(c, level, 6);
    interp_case_bind(c, changed, changed ? 1 : UINT32_MAX);
}

static void test_fixpoint_until_converges(void **state)
{
    (void)state;
    uint32_t none = 0xffffffffu, changed = 99;
    uint32_t level[6] = {0, none, none, none, none, none};
    interp_case c = {.params = {.passes = 0}};
    bind_graph(&c, level, &changed);
    interp_case_run_ok(&c, breadth_first);
    CHECK(level, 0, 1, 1, 2, 3, none);
    assert_int_equal(c.report.passes, 4);
    assert_int_equal(c.report.convergence, VYRE_CONVERGENCE_YES);
    assert_int_equal(changed, 0);
}

static void test_fixpoint_reports_its_limit(void **state)
{
    (void)state;
    uint32_t none = 0xffffffffu, changed = 0;
    uint32_t level[6] = {0, none, none, none, none, none};
    interp_case c = {.params = {.passes = 2}};
    bind_graph(&c, level, &changed);
    interp_case_run_ok(&c, breadth_first);
    CHECK(level, 0, 1, 1, 2, none, none);
    assert_int_equal(c.report.passes, 2);
    assert_int_equal(c.report.convergence, VYRE_CONVERGENCE_LIMIT);
    assert_int_equal(changed, 1);
}

static void test_memory_accumulates_over_passes(void **state)
{
    (void)state;
    uint32_t out[2] = {50, 50}, scratch[1] = {50}, kept[1] = {50};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 2);
    interp_case_bind(&c, scratch, 1);
    interp_case_bind(&c, kept, 1);
    interp_case_run_ok(
        &c, "program t workgroup 1 fixpoint 3\n"
            "out o : u32[2] scratch s : u32[1] scratch keep k : u32[1]\n"
            "kernel { o[0] += pass + 1  s[0] += 1  k[0] += 2  grid_sync  o[1] += s[0] }\n");
    CHECK(out, 6, 6);
    assert_int_equal(scratch[0], 3);
    assert_int_equal(kept[0], 6);
    assert_int_equal(c.report.passes, 3);
    assert_int_equal(c.report.segments, 2);
}

static void test_until_on_an_empty_flag_converges_after_one_pass(void **state)
{
    (void)state;
    uint32_t out[1] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, NULL, 0);
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c,
                       "program t workgroup 1 fixpoint 9 until f inout f : u32[] out o : u32[1]\n"
                       "kernel { f[0] = 1  o[0] += 1 }\n");
    assert_int_equal(out[0], 1);
    assert_int_equal(c.report.passes, 1);
    assert_int_equal(c.report.convergence, VYRE_CONVERGENCE_YES);
}

static void test_an_empty_grid_still_makes_its_passes(void **state)
{
    (void)state;
    uint32_t out[1] = {7};
    interp_case c = {.params = {.passes = 0}};
    interp_case_bind(&c, NULL, 0);
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c,
                       "program t workgroup 4 grid over a fixpoint 3 in a : u32[] out o : u32[1]\n"
                       "kernel { let v = gid.x + 1 o[0] = v grid_sync o[0] += v }\n");
    assert_int_equal(out[0], 0);
    assert_int_equal(c.report.passes, 3);
    assert_int_equal(c.report.segments, 2);
}

static void test_too_many_segments_are_refused_before_anything_runs(void **state)
{
    (void)state;
    uint32_t out[1] = {7};
    static const char text[] = "program t workgroup 1 out o : u32[1] param n : u32\n"
                               "kernel { for i in 0 .. n { o[0] += 1 grid_sync } }\n";
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 1);
    interp_case_param(&c, 65537);
    assert_int_equal(interp_case_run(&c, text), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(c.diag.message, "65536 segments"));
    assert_int_equal(out[0], 7);
    c.values[0] = 65536;
    interp_case_run_ok(&c, text);
    assert_int_equal(out[0], 65536);
    assert_int_equal(c.report.segments, 65536);
}

static void test_host_loops_without_segments_cost_nothing_and_others_are_bounded(void **state)
{
    (void)state;
    uint32_t out[1] = {7};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c,
                       "program t workgroup 1 out o : u32[1]\n"
                       "kernel {\n"
                       "    for i in 0 .. 0xffffffff { for k in 0 .. 0xffffffff { grid_sync } }\n"
                       "    o[0] = 3\n"
                       "}\n");
    assert_int_equal(out[0], 3);
    assert_int_equal(c.report.segments, 1);
    interp_case d = {.params = {.groups = {1}}};
    interp_case_bind(&d, out, 1);
    assert_int_equal(interp_case_run(&d, "program t workgroup 1 out o : u32[1]\n"
                                         "kernel { for i in 0 .. 0xffffffff {\n"
                                         "    if i == 5 { o[0] = 1 grid_sync } } }\n"),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(d.diag.message, "trips"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_sync_orders_all_workgroups),
        cmocka_unit_test(test_all_kinds_of_names_live_across_a_cut),
        cmocka_unit_test(test_return_ends_only_the_segment),
        cmocka_unit_test(test_names_that_were_not_reached_are_zero),
        cmocka_unit_test(test_host_loops_are_bounded_by_cuts_of_their_own),
        cmocka_unit_test(test_host_ifs_and_nested_loops),
        cmocka_unit_test(test_segments_have_static_numbers_in_records),
        cmocka_unit_test(test_the_first_record_wins_by_invocation_then_site),
        cmocka_unit_test(test_loop_limit_is_one_budget_per_invocation_and_segment),
        cmocka_unit_test(test_a_while_with_a_barrier_counts_for_itself),
        cmocka_unit_test(test_reaching_the_limit_exactly_leaves_no_record),
        cmocka_unit_test(test_fixpoint_until_converges),
        cmocka_unit_test(test_fixpoint_reports_its_limit),
        cmocka_unit_test(test_memory_accumulates_over_passes),
        cmocka_unit_test(test_until_on_an_empty_flag_converges_after_one_pass),
        cmocka_unit_test(test_an_empty_grid_still_makes_its_passes),
        cmocka_unit_test(test_too_many_segments_are_refused_before_anything_runs),
        cmocka_unit_test(test_host_loops_without_segments_cost_nothing_and_others_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
