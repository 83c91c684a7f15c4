/* Large programs take time that grows with their size and little stack. Generated text, since every
 * kind of growth has its own shape. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#define STACK_SIZE  ((size_t)8 << 20) /* instrumented frames are several times as large */
#define MAX_SECONDS 60.0
#else
#define STACK_SIZE  ((size_t)512 << 10)
#define MAX_SECONDS 10.0
#endif

/* On a thread of its own with a small stack. Only the parse may use more: it is done before. */
static void *build_all(void *user)
{
    ssa_case *c = user;
    for (uint32_t s = 0; s < c->split.segments.count; s++) {
        case_build(c, s);
        case_pass(c, "trivial-phi");
        case_pass(c, "cse");
        case_pass(c, "dce");
        case_pass(c, "licm");
        case_pass(c, "ranges");
        case_pass(c, "interleave");
        case_pass(c, "canonical-nan");
    }
    return NULL;
}

static void run(const vy_text *text, uint32_t segments, uint32_t stores)
{
    ssa_case c;
    pthread_attr_t attributes;
    pthread_t thread;
    assert_false(text->failed);
    case_init(&c, text->data);
    assert_int_equal(c.split.segments.count, segments);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_SIZE), 0);
    clock_t begin = clock();
    assert_int_equal(pthread_create(&thread, &attributes, build_all, &c), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    assert_int_equal(case_count(&c, VY_SSA_STORE), stores);
    if (seconds > MAX_SECONDS) {
        fail_msg("took %.1f s", seconds);
    }
    case_finish(&c);
}

static void test_large_20000_ifs_over_1000_variables(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    for (uint32_t i = 0; i < 1000; i++) {
        vy_text_printf(&text, "var a%u = x[%u]\n", (unsigned)i, (unsigned)i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        vy_text_printf(&text, "if x[%u] > %u { a%u = a%u + 1 }\n", (unsigned)i, (unsigned)i,
                       (unsigned)(i % 1000), (unsigned)(i * 7 % 1000));
    }
    for (uint32_t i = 0; i < 1000; i++) {
        vy_text_printf(&text, "y[%u] = a%u\n", (unsigned)i, (unsigned)i);
    }
    run(&text, 1, 1000);
    vy_text_finish(&text);
}

static void test_large_20000_breaks_of_one_loop(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = 0\nfor i in 0 .. k {\n");
    for (uint32_t i = 0; i < 20000; i++) {
        vy_text_printf(&text, "s = s + 1 if x[%u] > s { %s }\n", (unsigned)i,
                       i & 1 ? "break" : "continue");
    }
    vy_text_printf(&text, "}\ny[0] = s\n");
    run(&text, 1, 1);
    vy_text_finish(&text);
}

static void test_large_100000_statements(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = k\n");
    for (uint32_t i = 0; i < 100000; i++) {
        vy_text_printf(&text, "s = s * 3 + %u\n", (unsigned)i);
    }
    vy_text_printf(&text, "y[0] = s\n");
    run(&text, 1, 1);
    vy_text_finish(&text);
}

/* Each becomes two loops, with five stores. */
static void test_large_10000_loops_of_four_trips(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    for (uint32_t i = 0; i < 10000; i++) {
        vy_text_printf(&text, "for v%u in 0 .. k { y[x[v%u]] = %u }\n", (unsigned)i, (unsigned)i,
                       (unsigned)i);
    }
    run(&text, 1, 50000);
    vy_text_finish(&text);
}

static void test_large_10000_loops(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = k\n");
    for (uint32_t i = 0; i < 10000; i++) {
        vy_text_printf(&text, "for v%u in 0 .. s { s = s + x[v%u] }\n", (unsigned)i, (unsigned)i);
    }
    vy_text_printf(&text, "y[0] = s\n");
    run(&text, 1, 1);
    vy_text_finish(&text);
}

static void test_large_5000_segments(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = x[0]\n");
    for (uint32_t i = 0; i < 4999; i++) {
        vy_text_printf(&text, "s = early(s) * 3 + x[%u]\ngrid_sync\n", (unsigned)i);
    }
    vy_text_printf(&text, "y[0] = s\n");
    run(&text, 5000, 1);
    vy_text_finish(&text);
}

static void test_large_switch_of_10000_cases_to_one_block(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = k\nswitch x[0] {\n");
    for (uint32_t i = 0; i < 10000; i++) {
        vy_text_printf(&text, i & 1 ? "case %u { }\n" : "case %u { s = s + 1 }\n", (unsigned)i);
    }
    vy_text_printf(&text, "}\ny[0] = s\n");
    run(&text, 1, 1);
    vy_text_finish(&text);
}

/* What licm looks at, and bounds of one value from many branches. */
static void test_large_loop_of_20000_checks(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "for i in 0 .. k {\n");
    for (uint32_t i = 0; i < 20000; i++) {
        vy_text_printf(&text, "if i < %u + k && k < %u { y[i + k] = x[k] * %u }\n", (unsigned)i,
                       (unsigned)(i * 3), (unsigned)i);
    }
    vy_text_printf(&text, "}\n");
    run(&text, 1, 20000);
    vy_text_finish(&text);
}

static void test_large_10000_calls(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = k\n");
    for (uint32_t i = 0; i < 10000; i++) {
        vy_text_printf(&text, "s = early(s + %u)\n", (unsigned)i);
    }
    vy_text_printf(&text, "y[0] = s\n");
    run(&text, 1, 1);
    vy_text_finish(&text);
}

/* `open` with the level where a '#' stands. */
static void nest(const char *open, uint32_t levels)
{
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "var s = k\n");
    for (uint32_t i = 0; i < levels; i++) {
        size_t before = strcspn(open, "#");
        vy_text_printf(&text, "%.*s%u%s\n", (int)before, open, (unsigned)i, open + before + 1);
    }
    vy_text_printf(&text, "s = s + 1\n");
    for (uint32_t i = 0; i < levels; i++) {
        vy_text_printf(&text, "}\n");
    }
    vy_text_printf(&text, "y[0] = s\n");
    run(&text, 1, 1);
    vy_text_finish(&text);
}

static void test_large_nesting_takes_little_stack(void **state)
{
    (void)state;
    nest("if x[#] > s {", 250);
    nest("for v# in 0 .. s {", 250);
    nest("while x[#] > s {", 250);
    nest("{ // #", 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_20000_ifs_over_1000_variables),
        cmocka_unit_test(test_large_20000_breaks_of_one_loop),
        cmocka_unit_test(test_large_100000_statements),
        cmocka_unit_test(test_large_10000_loops),
        cmocka_unit_test(test_large_10000_loops_of_four_trips),
        cmocka_unit_test(test_large_5000_segments),
        cmocka_unit_test(test_large_switch_of_10000_cases_to_one_block),
        cmocka_unit_test(test_large_loop_of_20000_checks),
        cmocka_unit_test(test_large_10000_calls),
        cmocka_unit_test(test_large_nesting_takes_little_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
