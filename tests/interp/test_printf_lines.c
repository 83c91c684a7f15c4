/* The lines of printf statements on the interpreter: what they say, who says it, in which order;
 * and that asking for them changes nothing else. */
#include "tests/interp/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static char seen[16384];

static void note(void *user, const vyre_printf_line *line)
{
    assert_ptr_equal(user, seen);
    size_t used = strlen(seen);
    assert_string_equal(line->program, "t");
    assert_true(line->line > 0 && line->column > 0);
    snprintf(seen + used, sizeof seen - used, "%u.%u.%u.%u %s\n", line->pass, line->execution,
             line->segment, line->invocation, line->text);
}

static interp_case printing(uint32_t groups)
{
    seen[0] = '\0';
    return (interp_case){.params = {.groups = {groups, 1, 1}, .print = note, .print_user = seen}};
}

static void test_values_of_every_type(void **state)
{
    (void)state;
    interp_case c = printing(1);
    interp_case_run_ok(
        &c, "program t kernel {\n"
            "let a : u8 = 200 let b : i8 = -3 let c : u16 = 65535 let d : i16 = -32768\n"
            "printf(\"%u %d %x %d\", a, b, c, d)\n"
            "printf(\"%u %d %lu %ld\", 0xffffffffu, -1i, 0xfffffffffffffffful, -2l)\n"
            "printf(\"%f %g %.17lg\", 0.5h, 0.1, 0.1d)\n"
            "printf(\"%v2u|%v4d|%.1v2f\", u32x2(1, 2), i32x4(-1, 2, -3, 4), f32x2(0.5, 1.0))\n"
            "printf(\"%g %g %g\", 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0)\n"
            "printf(\"none\") }\n");
    assert_string_equal(seen, "0.0.0.0 200 -3 ffff -32768\n"
                              "0.0.0.0 4294967295 -1 18446744073709551615 -2\n"
                              "0.0.0.0 0.500000 0.1 0.10000000000000001\n"
                              "0.0.0.0 1, 2|-1, 2, -3, 4|0.5, 1.0\n"
                              "0.0.0.0 inf -inf nan\n"
                              "0.0.0.0 none\n");
}

static void test_the_order_is_that_of_the_statements(void **state)
{
    (void)state;
    interp_case c = printing(2);
    interp_case_run_ok(&c, "program t workgroup 2 kernel {\n"
                           "printf(\"a\")\n"
                           "if lid.x == 1 { printf(\"b\") } else { printf(\"c\") }\n"
                           "for i in 0 .. lid.x + 1 { printf(\"%u\", i) }\n"
                           "}\n");
    assert_string_equal(seen, "0.0.0.0 a\n0.0.0.1 a\n0.0.0.1 b\n0.0.0.0 c\n"
                              "0.0.0.0 0\n0.0.0.1 0\n0.0.0.1 1\n"
                              "0.0.0.2 a\n0.0.0.3 a\n0.0.0.3 b\n0.0.0.2 c\n"
                              "0.0.0.2 0\n0.0.0.3 0\n0.0.0.3 1\n");
}

static void test_lines_know_pass_segment_and_execution(void **state)
{
    (void)state;
    uint32_t data[1] = {0};
    interp_case c = printing(1);
    interp_case_bind(&c, data, 1);
    interp_case_run_ok(&c, "program t fixpoint 2 inout o : u32[] kernel {\n"
                           "o[0] += 1\n"
                           "for i in 0 .. 2 { grid_sync printf(\"%u %u\", i, o[0]) }\n"
                           "grid_sync printf(\"end\")\n"
                           "}\n");
    assert_string_equal(seen, "0.1.1.0 0 1\n0.2.1.0 1 1\n0.3.2.0 end\n"
                              "1.1.1.0 0 2\n1.2.1.0 1 2\n1.3.2.0 end\n");
}

static void test_functions_print_for_each_call(void **state)
{
    (void)state;
    interp_case c = printing(1);
    interp_case_run_ok(&c, "program t\n"
                           "fn f(x: u32) -> u32 { printf(\"f %u\", x) return x + 1 }\n"
                           "fn g(x: u32) -> u32 { return x * 10 }\n"
                           "kernel { let a = f(1) let b = f(a) printf(\"%u %u\", b, g(a)) return "
                           "printf(\"never\") }\n");
    assert_string_equal(seen, "0.0.0.0 f 1\n0.0.0.0 f 2\n0.0.0.0 3 20\n");
}

/* Nothing of a run but its lines depends on whether they are asked for. */
static void test_asking_changes_no_result(void **state)
{
    (void)state;
    const char *text = "program t workgroup 4 inout o : u32[] shared w : u32[4] kernel {\n"
                       "let late = o[lid.x]\n"
                       "w[lid.x] = lid.x printf(\"%u\", w[lid.x])\n"
                       "barrier\n"
                       "o[gid.x] = w[3 - lid.x] + late\n"
                       "if lid.x == 2 { trap(5) }\n"
                       "grid_sync printf(\"%u\", late) grid_sync\n"
                       "o[gid.x] += 1 trap(6)\n"
                       "}\n";
    uint32_t with[8] = {1, 2, 3, 4, 5, 6, 7, 8}, without[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    interp_case c = printing(2), d = {.params = {.groups = {2, 1, 1}}};
    interp_case_bind(&c, with, 8);
    interp_case_bind(&d, without, 8);
    interp_case_run_ok(&c, text);
    interp_case_run_ok(&d, text);
    assert_memory_equal(with, without, sizeof with);
    assert_int_equal(strlen(seen), 16 * strlen("0.0.0.0 0\n"));
    /* A segment that only prints is one where it prints. */
    assert_int_equal(c.report.segments, 3);
    assert_int_equal(d.report.segments, 2);
    assert_int_equal(c.report.record.code, d.report.record.code);
    assert_int_equal(c.report.record.invocation, d.report.record.invocation);
}

/* What is printed is no access that a race check or a record of bounds speaks of unasked. */
static void test_unasked_statements_read_nothing(void **state)
{
    (void)state;
    const char *text = "program t workgroup 2 inout o : u32[] kernel { o[lid.x] = lid.x "
                       "printf(\"%u\", o[1 - lid.x]) }\n";
    uint32_t data[2] = {0};
    interp_case c = printing(1);
    c.params.detect_races = 1;
    interp_case_bind(&c, data, 2);
    interp_case_run_ok(&c, text);
    assert_int_equal(c.report.race_count, 2);
    c = (interp_case){.params = {.groups = {1, 1, 1}, .detect_races = 1}};
    interp_case_bind(&c, data, 2);
    interp_case_run_ok(&c, text);
    assert_int_equal(c.report.race_count, 0);
}

static void test_bounds_are_not_recorded_for_it(void **state)
{
    (void)state;
    vyre_program *program = interp_case_parse("program t in x : u32[] kernel { "
                                              "printf(\"%u\", x[9]) }");
    vyre_diag diag;
    uint32_t data[1] = {4};
    vyre_host_buffer buffer = {data, 1};
    vyre_interp_report report;
    assert_int_equal(vyre_program_record_bounds(program, &diag), VYRE_OK);
    seen[0] = '\0';
    vyre_interp_params params = {.buffers = &buffer,
                                 .buffer_count = 1,
                                 .groups = {1, 1, 1},
                                 .print = note,
                                 .print_user = seen};
    assert_int_equal(vyre_interp_run(program, &params, &report, &diag), VYRE_OK);
    assert_string_equal(seen, "0.0.0.0 0\n");
    assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_every_type),
        cmocka_unit_test(test_the_order_is_that_of_the_statements),
        cmocka_unit_test(test_lines_know_pass_segment_and_execution),
        cmocka_unit_test(test_functions_print_for_each_call),
        cmocka_unit_test(test_asking_changes_no_result),
        cmocka_unit_test(test_unasked_statements_read_nothing),
        cmocka_unit_test(test_bounds_are_not_recorded_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
