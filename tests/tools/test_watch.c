/* vyre-run --watch: files written again, replaced, broken, gone and back; and its end. */
#include "tests/tools/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM(times)                                                                             \
    "program twice\nworkgroup 64\ngrid over x\nin x : u32[]\nout y : u32[len(x)]\n"                \
    "//! run: --in x=1,2\n//! expect: y = " times ", ...\n"                                        \
    "kernel { y[gid.x] = x[gid.x] * " times " }\n"

static int setup(void **state)
{
    (void)state;
    enter_folder("watch");
    return 0;
}

/* As editors do that write beside the file and rename. */
static void replace(const char *path, const char *text)
{
    put_text("other", text);
    assert_int_equal(rename("other", path), 0);
}

static void put_words(const char *path, uint32_t a, uint32_t b)
{
    const uint32_t words[] = {a, b};
    put_file(path, words, sizeof words);
}

static void test_watch_runs_again_whatever_becomes_of_the_file(void **state)
{
    (void)state;
    put_text("w.vyre", PROGRAM("2"));
    put_words("x.bin", 5, 6);
    pid_t tool =
        start_tool("vyre-run", "w.vyre", "--in", "x=@x.bin", "--reference", "--watch", NULL);
    wait_for_text("out", "y = 10, 12\n");
    wait_for_text("err", "---- exit 0; watching w.vyre and other files, control-C ends ----\n");
    replace("w.vyre", PROGRAM("3"));
    wait_for_text("out", "y = 15, 18\n");
    wait_for_text("err", "---- w.vyre has changed ----\n");
    put_text("w.vyre", "program broken\nkernel { oops }\n");
    wait_for_text("err", "w.vyre:2:10: error: ");
    wait_for_text("err", "---- exit 1; watching");
    put_text("w.vyre", PROGRAM("40"));
    wait_for_text("out", "y = 200, 240\n");
    put_words("x.bin", 7, 8);
    wait_for_text("err", "---- x.bin has changed ----\n");
    wait_for_text("out", "y = 280, 320\n");
    assert_int_equal(unlink("w.vyre"), 0);
    put_text("w.vyre", PROGRAM("50"));
    wait_for_text("out", "y = 350, 400\n");
    assert_int_equal(end_tool(tool, SIGINT), 130);
}

static void test_watch_runs_examples_and_devices(void **state)
{
    (void)state;
    const char *device = has_no_device() ? "--reference" : "--strategy=auto";
    put_text("e.vyre", PROGRAM("2"));
    pid_t tool = start_tool("vyre-run", "--examples", "e.vyre", "--watch", device, NULL);
    wait_for_text("out", "e.vyre: 1 of 1 examples pass\n");
    replace("e.vyre", "//! run: --in x=1\n//! expect: y = 3\n" PROGRAM("2"));
    wait_for_text("out", "e.vyre: 1 of 2 examples pass\n");
    assert_int_equal(end_tool(tool, SIGINT), 130);
}

static uint32_t count_texts(const char *path, const char *text)
{
    size_t size;
    uint32_t count = 0;
    char *data = get_file(path, &size);
    assert_non_null(data);
    for (const char *at = strstr(data, text); at; at = strstr(at + 1, text)) {
        count++;
    }
    free(data);
    return count;
}

/* A file that the run both reads and writes does not keep it going. */
static void test_watch_does_not_see_what_it_writes(void **state)
{
    (void)state;
    put_text("w.vyre", PROGRAM("2"));
    put_words("own.bin", 1, 2);
    pid_t tool = start_tool("vyre-run", "w.vyre", "--in", "x=@own.bin", "--out", "y=own.bin",
                            "--reference", "--watch", NULL);
    wait_for_text("err", "---- exit 0; watching");
    const struct timespec looks = {0, 500000000};
    (void)nanosleep(&looks, NULL);
    assert_int_equal(count_texts("err", "---- exit 0; watching"), 1);
    put_words("own.bin", 10, 20);
    wait_for_text("err", "---- own.bin has changed ----\n---- exit 0; watching");
    assert_int_equal(end_tool(tool, SIGINT), 130);
    size_t size;
    char *words = get_file("own.bin", &size);
    const uint32_t wanted[] = {20, 40};
    assert_int_equal(size, sizeof wanted);
    assert_memory_equal(words, wanted, sizeof wanted);
    free(words);
}

static void test_watch_needs_a_file(void **state)
{
    (void)state;
    assert_fails(2, "standard input is none", run_tool("vyre-run", "-", "--watch", NULL));
    assert_fails(2, "no program is given", run_tool("vyre-run", "--watch", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch_runs_again_whatever_becomes_of_the_file),
        cmocka_unit_test(test_watch_runs_examples_and_devices),
        cmocka_unit_test(test_watch_does_not_see_what_it_writes),
        cmocka_unit_test(test_watch_needs_a_file),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
