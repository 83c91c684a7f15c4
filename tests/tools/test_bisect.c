/* vyre-run --bisect: faults planted in the words of kernel files are found, by pass, segment,
 * buffer, element, both values and the line that stores there. */
#include "tests/tools/plant.h"
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char spread_text[] = "program spread\n"
                                  "workgroup 64\n"
                                  "grid over y\n"
                                  "fixpoint 6\n"
                                  "inout y : u32[]\n"
                                  "scratch t : u32[len(y)]\n"
                                  "out z : u32[4]\n"
                                  "kernel {\n"
                                  "    let i = gid.x\n"
                                  "    if i < len(y) { t[i] = y[i] + 1 }\n"
                                  "    grid_sync\n"
                                  "    if i == 0 { z[pass & 3] = pass }\n"
                                  "    if i < len(y) {\n"
                                  "        y[i] = t[(i + 1) % len(y)] * 3 +\n"
                                  "            select(pass == 3 && i == 17, 1000, 7)\n"
                                  "    }\n"
                                  "}\n";

/* Runs until nothing is lowered any more; the flag is scratch. */
static const char lower_text[] = "program lower\n"
                                 "workgroup 64\n"
                                 "grid over y\n"
                                 "fixpoint 20 until more\n"
                                 "inout y : u32[]\n"
                                 "scratch more : u32[1]\n"
                                 "kernel {\n"
                                 "    for turn in 0 .. 3 {\n"
                                 "        if gid.x < len(y) && y[gid.x] > 1000 {\n"
                                 "            y[gid.x] = y[gid.x] - 77\n"
                                 "            atomic_store(more[0], 1)\n"
                                 "        }\n"
                                 "        grid_sync\n"
                                 "    }\n"
                                 "}\n";

static int setup(void **state)
{
    (void)state;
    enter_folder("bisect");
    put_text("spread.vyre", spread_text);
    put_text("lower.vyre", lower_text);
    return 0;
}

static void test_bisect_finds_a_planted_fault(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    plant_constant("spread.vyk", "spread.vyre", spread_text, 1000, 1001);
    int code = run_tool("vyre-run", "spread.vyk", "--in", "y[200]=iota", "--bisect", NULL);
    assert_int_equal(code, 1);
    assert_file_has("out", "spread.vyk:14:9: error: pass 3, segment 1 (line 12): y[17] is ");
    /* 17 has gone through three passes of (y + 1) * 3 + 7, and a fourth: */
    uint32_t y[201], next[200];
    for (uint32_t i = 0; i < 200; i++) {
        y[i] = i;
    }
    for (uint32_t pass = 0; pass < 4; pass++) {
        for (uint32_t i = 0; i < 200; i++) {
            next[i] = (y[(i + 1) % 200] + 1) * 3 + (pass == 3 && i == 17 ? 1000 : 7);
        }
        memcpy(y, next, sizeof next);
    }
    char values[160];
    snprintf(values, sizeof values, "y[17] is %u on the device, %u on the interpreter\n", y[17] + 1,
             y[17]);
    assert_file_has("out", values);
    snprintf(values, sizeof values, "\ndevice:      %u (0x%08x)\ninterpreter: %u (0x%08x)\n",
             y[17] + 1, y[17] + 1, y[17], y[17]);
    assert_file_has("out", values);
    assert_file_has("out",
                    "written:     there, by invocation 17; the segment has no other store to "
                    "'y'\n");
    assert_file_has("out", "differ:      y (1 of 200 elements)\n");
    assert_file_has("out", "before:      ");
    assert_file_has("out",
                    "with -O0:    they agree: what the file has, or what the driver makes of "
                    "it, is at fault\n");
    /* Without passes the file's words are not taken. */
    code = run_tool("vyre-run", "spread.vyk", "--in", "y[200]=iota", "--bisect", "-O0", NULL);
    assert_int_equal(code, 0);
    assert_file_has("out", "bisect: device and interpreter agree bit for bit");
    /* The end shows more, which says less. */
    assert_fails(1, "spread.vyk: --bisect in place of --check finds where they part\n",
                 run_tool("vyre-run", "spread.vyk", "--in", "y[200]=iota", "--check", NULL));
}

static void test_bisect_finds_it_in_loops_and_fixpoints(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    /* 76 are taken off in place of 77, from the first execution on where there is something. */
    plant_constant("lower.vyk", "lower.vyre", lower_text, 77, 76);
    int code = run_tool("vyre-run", "lower.vyk", "--in", "y[130]=fill:900", "--bisect", NULL);
    assert_int_equal(code, 0);
    code = run_tool("vyre-run", "lower.vyk", "--in", "y[130]=iota:872", "--bisect", NULL);
    assert_int_equal(code, 1);
    assert_file_has("out", "lower.vyk:10:13: error: pass 0, segment 0 (execution 1 of 3, line 9): "
                           "y[129] is 925 on the "
                           "device, 924 on the interpreter\n");
}

/* Nothing but the record differs: who trapped first. */
static void test_bisect_finds_records(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    static const char text[] = "program traps\nworkgroup 64\ngrid over y\nfixpoint 4\n"
                               "inout y : u32[]\n"
                               "kernel {\n"
                               "    y[gid.x] = y[gid.x] + 1\n"
                               "    grid_sync\n"
                               "    if gid.x >= 37 && pass == 2 { trap(9) }\n"
                               "}\n";
    plant_constant("traps.vyk", "traps.vyre", text, 37, 38);
    assert_int_equal(run_tool("vyre-run", "traps.vyk", "--in", "y[100]=zero", "--bisect", NULL), 1);
    assert_file_has("out", "traps.vyk:9:35: error: pass 2, segment 1 (line 9), record: device trap "
                           "9 at 9:35 in pass 2, segment 1, invocation 38; interpreter trap 9 at "
                           "9:35 in pass 2, segment 1, invocation 37\n");
}

/* Of a program's own text the line is shown; functions may differ within their tolerance. */
static void test_bisect_shows_lines_and_tolerances(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    put_text("e.vyre", "program e\nworkgroup 64\ngrid over y\nfixpoint 3\ninout y : f32[]\n"
                       "fn put(i: u32, v: f32) {\n"
                       "    y[i] = exp(v * 0.01)\n"
                       "}\n"
                       "kernel { put(gid.x, y[gid.x] + 1.0) }\n");
    int code = run_tool("vyre-run", "e.vyre", "--in", "y[500]=iota", "--bisect", NULL);
    assert_int_equal(code, 0);
    assert_file_has("out", "ULP, which exp allows: 500 elements of 1 buffers");
    code = run_tool("vyre-run", "e.vyre", "--in", "y[500]=iota", "--bisect", "--tolerance=0", NULL);
    if (code == 0) {
        return; /* the device's is the very same */
    }
    assert_int_equal(code, 1);
    assert_file_has("out", "e.vyre:7:5: error: pass ");
    assert_file_has("out", "with -O0:    they differ, too\n");
    assert_file_has("out", "\n     7 |     y[i] = exp(v * 0.01)\n");
    assert_file_has("out", "\nallowed:     0 ULP, by exp; ");
}

static void test_bisect_agrees_where_nothing_is_wrong(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_tool("vyre-run", "spread.vyre", "--in", "y[200]=iota", "--bisect", NULL),
                     0);
    assert_file_has("out", "bisect: device and interpreter agree bit for bit: 404 elements of 3 "
                           "buffers, scratch among them, 6 passes, convergence and record\n");
    plant_constant("right.vyk", "spread.vyre", spread_text, 1000, 1000);
    assert_int_equal(run_tool("vyre-run", "right.vyk", "--in", "y[200]=iota", "--bisect", NULL), 0);
}

static void test_bisect_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    static const char *const others[] = {"--reference", "--races", "--json", "--repeat=2"};
    for (size_t i = 0; i < VY_COUNT_OF(others); i++) {
        assert_fails(2, "--bisect runs parts of the program on both",
                     run_tool("vyre-run", "spread.vyre", "--bisect", others[i], NULL));
    }
    assert_fails(2, "--bisect is for a single run",
                 run_tool("vyre-run", "spread.vyre", "--bisect", "--examples", NULL));
    assert_fails(1, "buffer 'y' is an input and has no contents",
                 run_tool("vyre-run", "spread.vyre", "--bisect", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bisect_finds_a_planted_fault),
        cmocka_unit_test(test_bisect_finds_it_in_loops_and_fixpoints),
        cmocka_unit_test(test_bisect_finds_records),
        cmocka_unit_test(test_bisect_shows_lines_and_tolerances),
        cmocka_unit_test(test_bisect_agrees_where_nothing_is_wrong),
        cmocka_unit_test(test_bisect_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
