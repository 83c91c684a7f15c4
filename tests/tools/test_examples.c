/* The protocol of examples in comments: what is found, what passes, what fails and why. On the
 * interpreter alone; the command's own tests run them on a device. */
#include "tests/tools/support.h"
#include "tools/common/examples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM                                                                                    \
    "program p\nworkgroup 64\ngrid over x\nin x : u32[]\nout y : f32[len(x)]\n"                    \
    "kernel { if gid.x < len(x) { y[gid.x] = f32(x[gid.x]) / 2.0 } }\n"
#define COUNTER                                                                                    \
    "program p\nworkgroup 64\ngrid over x\nfixpoint 3 until more\ninout x : u32[]\n"               \
    "scratch more : u32[1]\nkernel { if gid.x < len(x) { if x[gid.x] > 0 { x[gid.x] = x[gid.x] - " \
    "1\n atomic_store(more[0], 1) } } }\n"
#define TRAP                                                                                       \
    "program p\nworkgroup 64\ngrid over x\nout x : u32[]\n"                                        \
    "kernel { if gid.x == 2 { trap(9) } }\n"

/* Runs the text's examples; what failed is in the file `err`. */
static uint32_t run_text(const char *text, uint32_t *out_count)
{
    put_text("example.vyre", text);
    FILE *err = fopen("err", "w");
    assert_non_null(err);
    uint32_t failures =
        vy_examples_run("example.vyre", NULL, VYRE_BINDINGS_AUTO, 0, err, out_count);
    fclose(err);
    return failures;
}

static void assert_passes(const char *text, uint32_t wanted_count)
{
    uint32_t count, failures = run_text(text, &count);
    if (failures) {
        size_t size;
        char *data = get_file("err", &size);
        print_message("%s", data ? data : "");
        free(data);
    }
    assert_int_equal(failures, 0);
    assert_int_equal(count, wanted_count);
}

static void assert_fails_with(const char *text, const char *message)
{
    uint32_t count;
    uint32_t failures = run_text(text, &count);
    if (failures != 1) {
        print_message("%s\n", text);
    }
    assert_int_equal(failures, 1);
    assert_file_has("err", message);
}

static void test_examples_find_lines(void **state)
{
    (void)state;
    static const char text[] =
        "// a comment\n//! run: --in 'x=1' \r\n  //! expect: y[1..3] = 1, 2, ... "
        "~2.5\n//! expect: z =\n//! run:\n";
    vy_arena arena;
    vy_examples e;
    vy_arena_init(&arena, NULL);
    assert_int_equal(vy_examples_find(text, sizeof text - 1, &arena, &e, NULL), VYRE_OK);
    assert_int_equal(e.runs.count, 2);
    assert_int_equal(e.runs.data[0].line, 2);
    assert_string_equal(e.runs.data[0].arguments, "--in 'x=1'");
    assert_int_equal(e.runs.data[0].expectation_count, 2);
    assert_string_equal(e.expectations.data[0].name, "y");
    assert_string_equal(e.expectations.data[0].value, "1, 2");
    assert_true(e.expectations.data[0].has_slice && e.expectations.data[0].open_end);
    assert_int_equal(e.expectations.data[0].from, 1);
    assert_int_equal(e.expectations.data[0].to, 3);
    assert_true(e.expectations.data[0].ulp > 2.4 && e.expectations.data[0].ulp < 2.6);
    assert_string_equal(e.expectations.data[1].value, "");
    assert_int_equal(e.runs.data[1].line, 5);
    assert_int_equal(e.runs.data[1].expectation_count, 0);
    vy_arena_finish(&arena);
}

static void test_examples_refuse_other_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t line;
        const char *message;
    } cases[] = {{"\n//! walk: x\n", 2, "neither"},
                 {"//! expect: y = 1\n", 1, "before any run"},
                 {"//! run:\n//! expect: y\n", 2, "no '='"},
                 {"//! run:\n//! expect: = 1\n", 2, "not understood"},
                 {"//! run:\n//! expect: y[1] = 1\n", 2, "not understood"},
                 {"//! run:\n//! expect: y[3..1] = 1\n", 2, "not understood"},
                 {"//! run:\n//! expect: y[a..b] = 1\n", 2, "not understood"},
                 {"//! run:\n//! expect: y[0..1 = 1\n", 2, "not understood"},
                 {"//! run:\n//! expect: y = ..., 1\n", 2, "at the end"},
                 {"//! run:\n//! expect: y = 1 ~x\n", 2, "at the end"},
                 {"//! run:\n//! expect: y = 1 ~\n", 2, "at the end"},
                 {"//! run:\n//! expect: y = 1 ~-1\n", 2, "at the end"}};
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vy_arena arena;
        vy_examples e;
        vyre_diag diag = {0};
        vy_arena_init(&arena, NULL);
        vyre_result result =
            vy_examples_find(cases[i].text, strlen(cases[i].text), &arena, &e, &diag);
        if (result != VYRE_ERROR_INVALID_ARGUMENT || !strstr(diag.message, cases[i].message)) {
            fail_msg("%s: %d %s", cases[i].text, (int)result, diag.message);
        }
        assert_int_equal(diag.line, cases[i].line);
        vy_arena_finish(&arena);
    }
}

static void test_examples_pass(void **state)
{
    (void)state;
    assert_passes("//! run: --in x=1,2,3\n//! expect: y = 0.5, 1, 1.5\n//! expect: passes = 1\n"
                  "//! expect: record = none\n"
                  "//! run: --in 'x=4, 5' \n//! expect: y[1..2] = 2.5\n//! expect: y = 2, ...\n"
                  "//! expect: y = 2.0000002, 2.5 ~1\n"
                  "//! run: --in x[0]=zero\n//! expect: y =\n" PROGRAM,
                  3);
    assert_passes("//! run: --in x=1,2\n//! expect: x = 0, 0\n//! expect: converged = yes\n"
                  "//! expect: passes = 3\n"
                  "//! run: --in x=5\n//! expect: x = 2\n//! expect: converged = no\n"
                  "//! run: --in x=5 --passes 9\n//! expect: converged = yes\n" COUNTER,
                  3);
    assert_passes("//! run: --size x=3\n//! expect: record = trap 9\n"
                  "//! run: --size x=2\n//! expect: record = none\n" TRAP,
                  2);
}

static void test_examples_fail_where_values_differ(void **state)
{
    (void)state;
    assert_fails_with("//! run: --in x=1\n//! expect: y = 0.25\n" PROGRAM,
                      "example.vyre:2: error: y[0] is 0.5 on the interpreter, expected 0.25");
    assert_fails_with("//! run: --in x=4\n//! expect: y = 2.0000002\n" PROGRAM,
                      "expected 2.0000002");
    assert_fails_with("//! run: --in x=0\n//! expect: y = -0\n" PROGRAM, "expected -0");
    assert_fails_with("//! run: --in x=1,2\n//! expect: y = 0.5\n" PROGRAM,
                      "1 values are expected");
    assert_fails_with("//! run: --in x=1\n//! expect: y = 0.5, 1\n" PROGRAM,
                      "2 values are expected");
    assert_fails_with("//! run: --in x=1\n//! expect: y[0..2] = 0.5, ...\n" PROGRAM,
                      "y has 1 elements");
    assert_fails_with("//! run: --in x=1\n//! expect: y = a\n" PROGRAM, "no f32");
    assert_fails_with("//! run: --in x=1\n//! expect: z = 1\n" PROGRAM, "no output 'z'");
    assert_fails_with("//! run: --in x=1\n//! expect: x = 1\n" PROGRAM, "no output 'x'");
    assert_fails_with("//! run: --in x=1\n//! expect: passes = 2\n" PROGRAM, "passes is 1");
    assert_fails_with("//! run: --in x=1\n//! expect: converged = yes\n" PROGRAM, "converged is");
}

static void test_examples_fail_at_limits_and_records(void **state)
{
    (void)state;
    assert_fails_with("//! run: --in x=5\n//! expect: x = 2\n" COUNTER,
                      "reached its limit of 3 passes");
    assert_fails_with("//! run: --in x=1\n//! expect: converged = no\n" COUNTER,
                      "converged is yes");
    assert_fails_with("//! run: --size x=3\n" TRAP, "left a record: trap 9 at 6:");
    assert_fails_with("//! run: --size x=3\n//! expect: record = trap 8\n" TRAP,
                      "record is trap 9");
}

static void test_examples_judge_errors(void **state)
{
    (void)state;
    assert_passes("//! run: --in y=1\n//! expect: error = INVALID_ARGUMENT\n"
                  "//! run: --in x=@missing.npy\n//! expect: error = IO\n" PROGRAM,
                  2);
    assert_passes("//! run:\n//! expect: error = INVALID_PROGRAM\nprogram p\nkernel { oops }\n", 1);
    assert_fails_with("//! run: --in x=1\n//! expect: error = INVALID_ARGUMENT\n" PROGRAM,
                      "says OK, expected error = INVALID_ARGUMENT");
    assert_fails_with("//! run:\n" PROGRAM, "has no contents");
    assert_fails_with("//! run: --in x=1 --bogus\n" PROGRAM, "--bogus is no option");
    assert_fails_with("//! run: --in x=1 word\n" PROGRAM, "word is no option");
    assert_fails_with("//! run: --in 'x=1\n" PROGRAM, "never closed");
    assert_fails_with("//! run: --in x=1\nprogram p\nkernel { oops }\n", "oops");
    assert_fails_with("// no example\n" PROGRAM, "no example");
    assert_fails_with("//! run: --in x=1\n//! expect: y\n" PROGRAM, "example.vyre:2:");
    uint32_t count;
    FILE *err = fopen("err", "w");
    assert_non_null(err);
    assert_int_equal(vy_examples_run("missing.vyre", NULL, VYRE_BINDINGS_AUTO, 0, err, &count), 1);
    fclose(err);
    assert_file_has("err", "missing.vyre");
}

static void test_examples_read_files_beside_the_program(void **state)
{
    (void)state;
    put_file("three.bin", "\2\0\0\0\4\0\0\0\6\0\0\0", 12);
    assert_passes("//! run: --in x=@three.bin\n//! expect: y = 1, 2, 3\n" PROGRAM, 1);
    char path[64] = "../examples/example.vyre";
    uint32_t count;
    assert_int_equal(vy_examples_run(path, NULL, VYRE_BINDINGS_AUTO, 0, stderr, &count), 0);
}

static int setup(void **state)
{
    (void)state;
    enter_folder("examples");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_find_lines),
        cmocka_unit_test(test_examples_refuse_other_lines),
        cmocka_unit_test(test_examples_pass),
        cmocka_unit_test(test_examples_fail_where_values_differ),
        cmocka_unit_test(test_examples_fail_at_limits_and_records),
        cmocka_unit_test(test_examples_judge_errors),
        cmocka_unit_test(test_examples_read_files_beside_the_program),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
