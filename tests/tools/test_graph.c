/* vyre-spv --graph: the text for graphviz, and what is drawn of it. */
#include "tests/tools/support.h"

#include <stdlib.h>
#include <string.h>

/* b is written, read behind a barrier; the third segment is in nobody's way. */
static const char parts_text[] = "program parts\nworkgroup 64\nfixpoint 9 until more\n"
                                 "inout a : u32[]\nscratch b : u32[len(a)]\nin c : f32[]\n"
                                 "out d : f32[len(c)]\nscratch more : u32[1]\n"
                                 "kernel {\n"
                                 "    b[gid.x] = a[gid.x]\n"
                                 "    grid_sync\n"
                                 "    a[gid.x] = b[gid.x + 1]\n"
                                 "    atomic_or(more[0], a[gid.x])\n"
                                 "    grid_sync\n"
                                 "    d[gid.x] = c[gid.x]\n"
                                 "}\n";

static int setup(void **state)
{
    (void)state;
    enter_folder("graph");
    put_text("parts.vyre", parts_text);
    return 0;
}

static void test_graph_tells_segments_buffers_and_barriers(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "--graph", "-", NULL), 0);
    static const char *const lines[] = {
        "digraph \"parts\" {",
        "s0 [shape=box, style=\"filled,bold\", fillcolor=white, label=\"parts.seg0\\nline 10\"];",
        "b0 -> s0 [color=\"#808080\", constraint=false];", /* reads a */
        "s0 -> b1 [color=\"#205090\", constraint=false];", /* writes b */
        "label=\"barrier: a, b\"];",
        "label=\"a\\ninout u32[]\"];",
        "label=\"b\\nscratch u32[]\"];",
        "label=\"c\\nin f32[]\"];",
        "s1 -> b4 [dir=both, color=\"#b05000\"", /* atomics on more */
        "s1 -> s2 [weight=10, style=dashed, label=\"no barrier\"];",
        "s2 -> s0 [constraint=false, style=bold",
        "label=\"next pass\\nbarrier: a, b\"];",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_file_has("out", lines[i]);
    }
    assert_file_lacks("out", "spill");
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "--graph", "parts.dot", NULL), 0);
    assert_file_has("parts.dot", "label=\"barrier: a, b\"];");
    assert_file_has("out", "");
    /* One segment that runs once waits for nothing. */
    put_text("one.vyre", "program one\nworkgroup 64\ninout a : u32[]\n"
                         "kernel { a[gid.x] = a[gid.x] + 1 }\n");
    assert_int_equal(run_tool("vyre-spv", "one.vyre", "--graph", "-", NULL), 0);
    assert_file_has("out", "s0 -> b0 [dir=both, color=\"#205090\", constraint=false];");
    assert_file_lacks("out", "barrier:");
}

static void test_graph_shows_what_is_spilled(void **state)
{
    (void)state;
    put_text("spill.vyre", "program spill\nworkgroup 64\nin a : u32[]\nout b : u32[len(a)]\n"
                           "scratch n : u32[1]\n"
                           "kernel {\n    let mine = atomic_add(n[0], 1)\n    grid_sync\n"
                           "    b[gid.x] = mine + a[gid.x]\n}\n");
    assert_int_equal(run_tool("vyre-spv", "spill.vyre", "--graph", "-", NULL), 0);
    assert_file_has("out", "label=\"spill\\n4 bytes an invocation\"");
    assert_file_has("out", "label=\"barrier: spill\"];");
}

static void test_graph_is_drawn_by_dot(void **state)
{
    (void)state;
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "--graph", "parts.svg", NULL), 0);
    assert_file_has("parts.svg", "<svg ");
    assert_file_has("parts.svg", "barrier: a, b");
    assert_fails(1, "dot failed",
                 run_tool("vyre-spv", "parts.vyre", "--graph", "nowhere/parts.svg", NULL));
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "");
    assert_non_null(path);
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    int code = run_tool("vyre-spv", "parts.vyre", "--graph", "none.svg", NULL);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    assert_fails(1, "Fix: install graphviz", code);
    size_t size;
    assert_null(get_file("none.svg", &size));
}

static void test_graph_refuses_what_has_none(void **state)
{
    (void)state;
    assert_fails(2, "--graph takes a file",
                 run_tool("vyre-spv", "parts.vyre", "--graph", "", NULL));
    assert_fails(1, "nowhere/",
                 run_tool("vyre-spv", "parts.vyre", "--graph", "nowhere/a.dot", NULL));
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "-o", "words/", NULL), 1);
    assert_int_equal(run_tool("vyre-spv", "parts.vyre", "--segment", "0", "-o", "parts.spv", NULL),
                     0);
    assert_fails(1, "--graph, which need a program",
                 run_tool("vyre-spv", "parts.spv", "--graph", "-", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_tells_segments_buffers_and_barriers),
        cmocka_unit_test(test_graph_shows_what_is_spilled),
        cmocka_unit_test(test_graph_is_drawn_by_dot),
        cmocka_unit_test(test_graph_refuses_what_has_none),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
