/* vyre-run --step: what each segment changed, the same on device and interpreter, and what can be
 * typed on a terminal. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char lower_text[] = "program lower\n"
                                 "workgroup 64\n"
                                 "grid over y\n"
                                 "fixpoint 20 until more\n"
                                 "inout y : u32[]\n"
                                 "scratch more : u32[1]\n"
                                 "kernel {\n"
                                 "    if gid.x < len(y) && y[gid.x] > 3 {\n"
                                 "        y[gid.x] = y[gid.x] - 2\n"
                                 "        atomic_store(more[0], 1)\n"
                                 "    }\n"
                                 "    grid_sync\n"
                                 "    if gid.x == 0 { y[0] = y[0] + pass }\n"
                                 "}\n";

static const char lower_steps[] = "pass 0, segment 0 (line 8)\n"
                                  "  y: 4 of 6 elements changed: y[2] 4 -> 2, y[3] 5 -> 3, "
                                  "y[4] 6 -> 4, ...\n"
                                  "  more: 1 of 1 elements changed: more[0] 0 -> 1\n"
                                  "pass 0, segment 1 (line 13)\n"
                                  "  nothing changed\n"
                                  "pass 0 ends with more[0] = 1: another pass follows\n"
                                  "pass 1, segment 0 (line 8)\n"
                                  "  y: 2 of 6 elements changed: y[4] 4 -> 2, y[5] 5 -> 3\n"
                                  "pass 1, segment 1 (line 13)\n"
                                  "  y: 1 of 6 elements changed: y[0] 2 -> 3\n"
                                  "pass 1 ends with more[0] = 1: another pass follows\n"
                                  "pass 2, segment 0 (line 8)\n"
                                  "  more: 1 of 1 elements changed: more[0] 1 -> 0\n"
                                  "pass 2, segment 1 (line 13)\n"
                                  "  y: 1 of 6 elements changed: y[0] 3 -> 5\n"
                                  "pass 2 ends with more[0] = 0: it has converged\n"
                                  "y = 5, 3, 2, 3, 2, 3\n";

static const char loop_text[] = "program loop\nworkgroup 64\ngrid over y\nfixpoint 2\n"
                                "inout y : f32[]\nscratch t : u32x2[3]\n"
                                "kernel {\n"
                                "    for turn in 0 .. 2 {\n"
                                "        t[turn] = u32x2(turn, pass + 1)\n"
                                "        grid_sync\n"
                                "        y[gid.x] = y[gid.x] * 1.5 - f32(t[turn].y)\n"
                                "        grid_sync\n"
                                "    }\n"
                                "}\n";

static int setup(void **state)
{
    (void)state;
    enter_folder("step");
    put_text("lower.vyre", lower_text);
    put_text("loop.vyre", loop_text);
    return 0;
}

static void assert_out_is(const char *wanted)
{
    size_t size;
    char *text = get_file("out", &size);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_step_tells_what_segments_change(void **state)
{
    (void)state;
    assert_int_equal(
        run_tool("vyre-run", "lower.vyre", "--in", "y=2,3,4,5,6,7", "--reference", "--step", NULL),
        0);
    assert_out_is(lower_steps);
    assert_int_equal(run_tool("vyre-run", "lower.vyre", "--in", "y=2,3,4,5,6,7", "--reference",
                              "--step", "--passes", "1", NULL),
                     0);
    assert_file_has("out", "pass 0 ends with more[0] = 1: the limit of passes is reached\n");
    assert_int_equal(
        run_tool("vyre-run", "loop.vyre", "--in", "y=1,-4", "--reference", "--step", NULL), 0);
    assert_file_has("out", "pass 0, segment 0 (execution 1 of 4, line 9)\n"
                           "  t: 1 of 3 elements changed: t[0] 0:0 -> 0:1\n"
                           "pass 0, segment 1 (execution 2 of 4, line 11)\n"
                           "  y: 2 of 2 elements changed: y[0] 1.0 -> 0.5, y[1] -4.0 -> -7.0\n"
                           "pass 0, segment 0 (execution 3 of 4, line 9)\n");
}

static void test_step_is_the_same_on_a_device(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    assert_int_equal(
        run_tool("vyre-run", "lower.vyre", "--in", "y=2,3,4,5,6,7", "--step", "--check", NULL), 0);
    char wanted[sizeof lower_steps + 100];
    snprintf(wanted, sizeof wanted, "%scheck: device and interpreter agree bit for bit\n",
             lower_steps);
    assert_out_is(wanted);
    assert_int_equal(
        run_tool("vyre-run", "loop.vyre", "--in", "y[100]=iota", "--reference", "--step", NULL), 0);
    size_t size;
    char *reference = get_file("out", &size);
    assert_int_equal(run_tool("vyre-run", "loop.vyre", "--in", "y[100]=iota", "--step", NULL), 0);
    assert_out_is(reference);
    free(reference);
}

static void test_step_takes_commands_on_a_terminal(void **state)
{
    (void)state;
    const char *keys = "p y\np y[1..3]\np y[9]\np z\np y[a]\np more[0]\nwhat\n\nn\nc\n";
    assert_int_equal(run_on_terminal(NULL, keys, "vyre-run", "lower.vyre", "--in", "y=2,3,4,5,6,7",
                                     "--reference", "--step", NULL),
                     0);
    assert_file_has("out", "y[0..6] = 2, 3, 2, 3, 4, 5\r\n");
    assert_file_has("out", "y[1..3] = 3, 2, ... (6 elements)\r\n");
    assert_file_has("out", "'y' has 6 elements\r\n");
    assert_file_has("out", "there is no buffer 'z'; the buffers: y more\r\n");
    assert_file_has("out", "write p NAME, p NAME[i] or p NAME[i..j]");
    assert_file_has("out", "more[0..1] = 1\r\n");
    assert_file_has("out", "Enter or n: next segment; c: go on to the end; q: stop here");
    assert_file_has("out", "(step) pass 1, segment 0 (line 8)\r\n");
    assert_file_has("out", "y = 5, 3, 2, 3, 2, 3\r\n"); /* c went on to the end */
    assert_int_equal(run_on_terminal(NULL, "n\nq\n", "vyre-run", "lower.vyre", "--in",
                                     "y=2,3,4,5,6,7", "--reference", "--step", NULL),
                     0);
    size_t size;
    char *text = get_file("out", &size);
    assert_non_null(strstr(text, "pass 0, segment 1"));
    assert_null(strstr(text, "pass 1, segment 0"));
    assert_null(strstr(text, "y = "));
    free(text);
    if (!has_no_device()) {
        assert_int_equal(run_on_terminal(NULL, "n\nq\n", "vyre-run", "lower.vyre", "--in",
                                         "y=2,3,4", "--step", NULL),
                         0);
    }
}

static void test_step_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    assert_fails(2, "without --bisect", run_tool("vyre-run", "x", "--step", "--bisect", NULL));
    assert_fails(2, "without --json", run_tool("vyre-run", "x", "--step", "--json", NULL));
    assert_fails(2, "--strategy replay",
                 run_tool("vyre-run", "x", "--step", "--strategy", "workgroup", NULL));
    assert_fails(2, "--step is for a single run",
                 run_tool("vyre-run", "x", "--step", "--examples", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_tells_what_segments_change),
        cmocka_unit_test(test_step_is_the_same_on_a_device),
        cmocka_unit_test(test_step_takes_commands_on_a_terminal),
        cmocka_unit_test(test_step_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
