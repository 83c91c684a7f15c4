/* What vyre-run shows of long work on a terminal, and its end by an interrupt. */
#include "tests/tools/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Never converges. */
static const char long_text[] = "program endless\nworkgroup 64\ngrid over y\n"
                                "fixpoint 4000000000 until more\ninout y : u32[]\n"
                                "scratch more : u32[1]\n"
                                "kernel { y[gid.x] = y[gid.x] + 1\n atomic_store(more[0], 1) }\n";
/* One pass of some seconds. */
static const char slow_text[] = "program slow\nworkgroup 64\ngrid over y\ninout y : u32[]\n"
                                "kernel {\n  var v = y[gid.x]\n  for i in 0 .. 10000 {\n"
                                "    v = v * 3 + i\n  }\n  y[gid.x] = v\n}\n";

static int setup(void **state)
{
    (void)state;
    enter_folder("progress");
    put_text("endless.vyre", long_text);
    put_text("slow.vyre", slow_text);
    return 0;
}

static char *shown(void)
{
    size_t size;
    char *text = get_file("out", &size);
    assert_non_null(text);
    return text;
}

static void test_progress_is_shown_on_a_terminal(void **state)
{
    (void)state;
    /* Control-C, when there is something to be seen. */
    assert_int_equal(run_on_terminal("interpreter: pass ", "\003", "vyre-run", "endless.vyre",
                                     "--in", "y[100]=zero", "--reference", NULL),
                     130);
    assert_file_has("out", " of 4000000000 (0%), ");
    assert_file_has("out", "/s, up to ");
    assert_int_equal(run_on_terminal("interpreter: workgroup ", "\003", "vyre-run", "slow.vyre",
                                     "--in", "y[100000]=zero", "--reference", NULL),
                     130);
    assert_file_has("out", " of 1563 (");
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_on_terminal("bisect, run 1, device: ", "\003", "vyre-run", "endless.vyre",
                                     "--in", "y[100]=zero", "--bisect", NULL),
                     130);
}

static void test_progress_ends_with_the_work(void **state)
{
    (void)state;
    assert_int_equal(run_on_terminal(NULL, "", "vyre-run", "slow.vyre", "--in", "y[3000]=zero",
                                     "--reference", "--out", "y=y.bin", NULL),
                     0);
    char *text = shown();
    /* Nothing of it stays on the line. */
    const char *last = strrchr(text, '\r');
    assert_true(!*text || strcmp(last, "\r\033[K") == 0);
    free(text);
}

static void test_progress_is_silent_in_a_pipe(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-run", "slow.vyre", "--in", "y[3000]=zero", "--reference", NULL),
                     0);
    size_t size;
    char *text = get_file("err", &size);
    assert_int_equal(size, 0);
    free(text);
}

/* What is on the device ends, nothing follows it, and the tool says how far it was. */
static void test_interrupt_leaves_an_idle_device(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    static const char *const strategies[] = {"replay", "workgroup"};
    for (size_t i = 0; i < VY_COUNT_OF(strategies); i++) {
        assert_int_equal(run_on_terminal("device: ", "\003", "vyre-run", "endless.vyre", "--in",
                                         "y[50]=zero", "--strategy", strategies[i], "--trace",
                                         "t.json", NULL),
                         130);
        char *text = shown();
        const char *said = strstr(text, "vyre-run: interrupted after ");
        assert_non_null(said);
        assert_non_null(strstr(said, " of 4000000000 passes; the device is idle\r\n"));
        assert_null(strstr(text, "y = "));
        free(text);
        text = get_file("t.json", &(size_t){0});
        assert_non_null(text);
        assert_int_equal(*skip_json(text), 0);
        free(text);
    }
}

/* By the signal, without a terminal: whatever it meets. */
static void test_interrupt_is_130_at_any_time(void **state)
{
    (void)state;
    const char *reference = has_no_device() ? "--reference" : "--step";
    for (long i = 0; i < 6; i++) {
        pid_t tool = start_tool("vyre-run", "endless.vyre", "--in", "y[50]=zero", reference, NULL);
        const struct timespec pause = {0, 60000000 * (i + 1)};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(end_tool(tool, SIGINT), 130);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_is_shown_on_a_terminal),
        cmocka_unit_test(test_progress_ends_with_the_work),
        cmocka_unit_test(test_progress_is_silent_in_a_pipe),
        cmocka_unit_test(test_interrupt_leaves_an_idle_device),
        cmocka_unit_test(test_interrupt_is_130_at_any_time),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
