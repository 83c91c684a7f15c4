/* vyre-scan: that it prints what grep prints, from random and from awkward files, on the processor
 * and on the device; what it prints else; and that bad input is told. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCAN "vyre-scan"

static int setup(void **state)
{
    (void)state;
    enter_folder("scan");
    (void)setenv("LC_ALL", "C", 1);
    put_text("pats", "the\nthem\nhem\n");
    put_text("a.txt", "them other\nnothing\nhe the mother");
    put_text("b.txt", "none\n");
    return 0;
}

static char *take_file(const char *path, size_t *out_size)
{
    char *data = get_file(path, out_size);
    assert_non_null(data);
    return data;
}

/* ---- The same as grep ------------------------------------------------------------------------ */

/* Runs both with the options, and wants the same output and the same exit status. */
static void assert_same(const char *kind, const char *where, const char *batch, const char *options)
{
    char script[1024];
    snprintf(script, sizeof script,
             "grep %s -b -o %s >g.out 2>g.err; echo \"$?\" >>g.out; "
             "\"$1\" %s %s --batch-size %s --exit-status %s >v.out 2>v.err; echo \"$?\" >>v.out; "
             "cmp g.out v.out && grep -c 'binary file matches' g.err >g.n; "
             "grep -c 'binary file matches' v.err >v.n; cmp g.out v.out && cmp g.n v.n",
             kind, options, strcmp(kind, "-E") == 0 ? "-E" : "-F", where, batch, options);
    int code = run_tool("/usr/bin/env", "bash", "-c", script, "bash",
                        VYRE_BINARY_DIR "/bin/vyre-scan", NULL);
    if (code != 0) {
        size_t size;
        char *err = get_file("v.err", &size);
        print_message("grep %s %s; vyre-scan %s --batch-size %s: %s\n", kind, options, where, batch,
                      err ? err : "");
        free(err);
        fail_msg("outputs differ: g.out and v.out in build/test-files/scan");
    }
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

typedef struct alphabet {
    const char *bytes;
    size_t size;
} alphabet;

static const alphabet alphabets[] = {{"ab", 2},     {"abc\n", 4}, {"aB \n_", 5},
                                     {"ab\n\0", 4}, {"a\r\n", 3}, {"ab\n\n\n", 5}};

static void put_random(const char *path, const alphabet *from, size_t size, uint64_t *seed)
{
    char *data = malloc(size + 1);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = from->bytes[draw(seed) % from->size];
    }
    put_file(path, data, size);
    free(data);
}

/* Patterns of a few bytes, empty ones and ones with zero bytes too, and files of 0 bytes, of 1 and
 * of more. */
static void put_case(uint64_t *seed)
{
    static const size_t sizes[] = {0, 1, 2, 10, 100, 1000, 5000};
    const alphabet *from = &alphabets[draw(seed) % VY_COUNT_OF(alphabets)];
    put_random("p", from, sizes[1 + draw(seed) % 4], seed);
    for (char name[3] = "f0"; name[1] < '3'; name[1]++) {
        put_random(name, from, sizes[draw(seed) % VY_COUNT_OF(sizes)], seed);
    }
}

static const char *const option_sets[] = {"",   "-i", "-w", "-x", "-n", "-a", "-H",    "-h",
                                          "-c", "-l", "-L", "-q", "-I", "-s", "-i -w", "-n -a"};

static void test_scan_prints_what_grep_prints(void **state)
{
    (void)state;
    static const char *const batches[] = {"1", "7", "64", "1000", "4M"};
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 200; i++) {
        char options[128];
        put_case(&seed);
        snprintf(options, sizeof options, "%s -f p f0 f1 f2%s",
                 option_sets[draw(&seed) % VY_COUNT_OF(option_sets)],
                 draw(&seed) % 8 == 0 ? " missing" : "");
        assert_same("-F", "--reference", batches[draw(&seed) % VY_COUNT_OF(batches)], options);
    }
}

static void test_scan_prints_it_on_devices(void **state)
{
    (void)state;
    uint64_t seed = 1000;
    if (has_no_device()) {
        return;
    }
    for (uint32_t i = 0; i < 12; i++) {
        char options[128];
        put_case(&seed);
        snprintf(options, sizeof options, "%s -f p f0 f1 f2",
                 option_sets[draw(&seed) % VY_COUNT_OF(option_sets)]);
        assert_same("-F", "--check", i % 2 ? "64" : "4M", options);
    }
}

static void test_scan_takes_awkward_files(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "-e a",     "-e a -e ab -e abc -e bc", "-e '' -e b", "-w -e ''", "-x -e ''",
        "-c -e ''", "-e \"$(printf 'a\\r')\""};
    static char data[300001], line[200000];
    char options[256];
    memset(line, 'a', sizeof line);
    memcpy(line + 150000, "abcab", 5);
    put_file("long", line, sizeof line);
    put_text("empty", "");
    put_text("one", "a");
    put_text("crlf", "a\r\nabc\r\n\r\nb\r");
    /* A zero byte behind the first blocks: what stands before them is text. The file is the first,
     * as grep's blocks grow with lines. */
    for (size_t i = 0; i + 1 < sizeof data; i++) {
        data[i] = i % 50 == 49 ? '\n' : "abc d"[i % 5];
    }
    data[250000] = 0;
    put_file("late", data, sizeof data - 1);
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        snprintf(options, sizeof options, "%s late empty one crlf long", cases[i]);
        assert_same("-F", "--reference", "100K", options);
        assert_same("-F", "--reference", "4M", options);
    }
    put_text("none", "");
    assert_same("-F", "--reference", "4M", "-c -f none one");
    assert_same("-F", "--reference", "4M", "-L -f none one");
    assert_same("-F", "--reference", "4M", "-e b -");
    assert_same("-F", "--reference", "4M", "-f pats a.txt < a.txt");
    assert_same("-F", "--reference", "4M", "-H -n -f pats < a.txt");
}

static void test_scan_walks_folders(void **state)
{
    (void)state;
    (void)mkdir("tree", 0777);
    (void)mkdir("tree/in", 0777);
    put_text("tree/x", "the one\n");
    put_text("tree/in/y", "the other\nthem\n");
    (void)unlink("tree/in/up");
    (void)unlink("tree/link");
    assert_int_equal(symlink("..", "tree/in/up"), 0);
    assert_int_equal(symlink("x", "tree/link"), 0);
    assert_same("-F", "--reference", "4M", "-r -e the tree");
    assert_same("-F", "--reference", "4M", "-r -e the tree a.txt");
    assert_same("-F", "--reference", "4M", "-r -h -e the tree");
    assert_same("-F", "--reference", "4M", "-r -e the a.txt");
    assert_fails(1, "Is a directory; use -r",
                 run_tool(SCAN, "--reference", "-e", "the", "tree", NULL));
    assert_fails(1, "leads back", run_tool(SCAN, "--reference", "-R", "-e", "the", "tree", NULL));
    assert_file_has("out", "tree/link:0:the\n");
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static bool has_expressions(void)
{
    (void)run_tool(SCAN, "--reference", "-E", "-e", "a", "a.txt", NULL);
    size_t size;
    char *err = take_file("err", &size);
    bool has = strstr(err, "libaugeas-dev") == NULL;
    free(err);
    if (!has) {
        print_message("vyre-scan was built without -E (libaugeas-dev)\n");
    }
    return has;
}

static const char *const expressions[] = {"a",
                                          "a*",
                                          "a+b",
                                          "(ab|a)(c|bcd)*",
                                          "[ab]{2,3}",
                                          "[^a]",
                                          "[]a]+",
                                          "[^]b]+",
                                          "[a-c]x?",
                                          ".",
                                          "..",
                                          "^a",
                                          "b$",
                                          "^a|b$",
                                          "^$",
                                          "^",
                                          "$",
                                          "^.*$",
                                          "^a*$",
                                          "(a|b)*c",
                                          "[[:alpha:]]+",
                                          "[[:space:]_]",
                                          "\\w+",
                                          "\\W",
                                          "\\s",
                                          "\\S+",
                                          "a{0}b",
                                          "a{,2}b",
                                          "a{2,}",
                                          "a|",
                                          "()",
                                          "(a||b)c",
                                          "\\.\\*",
                                          "x\\\\y",
                                          "a-b",
                                          "[a-]",
                                          "[-a]",
                                          "}",
                                          "]",
                                          "^(a|b)+_",
                                          "((a)(b))*"};

static void test_scan_takes_expressions(void **state)
{
    (void)state;
    uint64_t seed = 5;
    if (!has_expressions()) {
        return;
    }
    static const alphabet mixed = {"aabbcx_ .-]}\\*\n\nAB", 18}, bytes = {"ab\0\r\n \377", 7};
    for (size_t i = 0; i < VY_COUNT_OF(expressions); i++) {
        char options[128];
        const char *const sets[] = {"", "-i", "-x", "-n -a", "-c"};
        put_text("p", expressions[i]);
        put_random("f0", &mixed, 300, &seed);
        put_random("f1", &bytes, 200, &seed);
        for (size_t k = 0; k < VY_COUNT_OF(sets); k++) {
            snprintf(options, sizeof options, "%s -f p f0 f1", sets[k]);
            assert_same("-E", "--reference", "4M", options);
        }
    }
    put_text("p", "^a|b$\nc+x?\n[[:upper:]]");
    assert_same("-E", "--reference", "64", "-a -f p f0 f1");
    if (!has_no_device()) {
        assert_same("-E", "--check", "4M", "-f p f0 f1");
    }
}

static void test_scan_refuses_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *message;
    } cases[] = {
        {"a(b", "-e:1:2: error: a group is opened and never closed"},
        {"a)", "-e:1:2: error: a group is closed that is not open"},
        {"*a", "-e:1:1: error: there is nothing to repeat"},
        {"a{x}", "-e:1:2: error: this is no count of repetitions"},
        {"a{3,2}", "no count of repetitions"},
        {"a{256}", "repeated more than 255 times"},
        {"((a{200}){200}){200}", "more than 20,000 parts"},
        {"[a", "a bracket is opened and never closed"},
        {"[b-a]", "the range ends before it begins"},
        {"[[:nope:]]", "this is no class of bytes"},
        {"[[=a=]]", "[= and [. are not supported"},
        {"[:space:]", "a class stands in brackets of its own"},
        {"(^a)b", "^ and $ are supported at the ends"},
        {"a$b", "^ and $ are supported at the ends"},
        {"\\(a\\)\\1", "this escape is not supported"},
        {"\\<a", "borders of words and buffers are not supported"},
        {"(a|b)*a(a|b){20}", "-e:1:1: error: the automaton of the expression would have more"},
        {"a\\", "a backslash ends the expression"},
    };
    if (!has_expressions()) {
        return;
    }
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        assert_fails(1, cases[i].message,
                     run_tool(SCAN, "--reference", "-E", "-e", cases[i].expression, "a.txt", NULL));
    }
}

/* ---- What else it prints --------------------------------------------------------------------- */

static void assert_output(const char *text)
{
    size_t size;
    char *out = take_file("out", &size);
    assert_string_equal(out, text);
    free(out);
}

static void test_scan_prints_all_hits(void **state)
{
    (void)state;
    static const char zero[] = "a\nb\0bc\0";
    assert_int_equal(run_tool(SCAN, "--reference", "--all", "pats", "a.txt", NULL), 0);
    assert_output("2:1\n3:2\n3:3\n8:1\n24:1\n30:1\n");
    /* Patterns with newlines, and pieces of a few bytes, which go over each other. */
    put_file("nl", zero, sizeof zero - 1);
    put_text("nl.txt", "xa\nbca\nb");
    assert_int_equal(run_tool(SCAN, "--reference", "--all", "--null-patterns", "--batch-size", "3",
                              "nl", "nl.txt", NULL),
                     0);
    assert_output("3:1\n4:2\n7:1\n");
    if (has_expressions()) {
        assert_int_equal(
            run_tool(SCAN, "--reference", "--all", "-E", "-e", "^t|e$|he", "a.txt", NULL), 0);
        assert_output("0:1\n2:1\n8:1\n20:1\n24:1\n30:1\n");
    }
}

static void test_scan_prints_json(void **state)
{
    (void)state;
    assert_int_equal(run_tool(SCAN, "--reference", "--json", "-n", "pats", "a.txt", "b.txt", NULL),
                     0);
    size_t size;
    char *text = take_file("out", &size);
    assert_string_equal(skip_json(text), "");
    free(text);
    assert_file_has("out", "\"schema\": \"vyre.scan/1\"");
    assert_file_has("out", "{\"offset\": 0, \"line\": 1, \"pattern\": 2, \"length\": 4, \"text\": "
                           "\"them\"}");
    assert_file_has("out", "{\"name\": \"b.txt\", \"matches\": [], \"size\": 5, \"lines\": 0, "
                           "\"binary\": false}");
    assert_file_has("out", "\"complete\": true");
    assert_int_equal(run_tool(SCAN, "--reference", "--json", "--all", "pats", "missing", NULL), 1);
    text = take_file("out", &size);
    assert_string_equal(skip_json(text), "");
    free(text);
    assert_file_has("out", "\"complete\": false");
}

static void test_scan_exits_as_the_tools_do(void **state)
{
    (void)state;
    assert_int_equal(run_tool(SCAN, "--reference", "pats", "b.txt", NULL), 0);
    assert_int_equal(run_tool(SCAN, "--reference", "--exit-status", "pats", "b.txt", NULL), 1);
    assert_int_equal(run_tool(SCAN, "--reference", "-q", "pats", "a.txt", NULL), 0);
    assert_int_equal(run_tool(SCAN, "--reference", "-q", "pats", "missing", "a.txt", NULL), 0);
    assert_int_equal(run_tool(SCAN, "--reference", "-q", "pats", "missing", "b.txt", NULL), 2);
    assert_fails(1, "missing: error: No such file or directory; check the path",
                 run_tool(SCAN, "--reference", "pats", "missing", "a.txt", NULL));
    assert_file_has("out", "a.txt:0:them\n");
    assert_fails(1, "cannot be read", run_tool(SCAN, "--reference", "missing", "a.txt", NULL));
    int code = run_tool("/usr/bin/env", "bash", "-c",
                        "\"$1\" --reference -e o tree/x a.txt >>a.txt 2>err; echo $?; cat err",
                        "bash", VYRE_BINARY_DIR "/bin/vyre-scan", NULL);
    assert_int_equal(code, 0);
    assert_file_has("out", "a.txt: error: what is read is also what is written");
    put_text("a.txt", "them other\nnothing\nhe the mother");
}

static void test_scan_reports(void **state)
{
    (void)state;
    assert_int_equal(run_tool(SCAN, "--reference", "--report", "-c", "pats", "a.txt", NULL), 0);
    assert_file_has("err", "patterns: 3, automata: 1");
    assert_file_has("err", "device: none (reference)");
    assert_file_has("err", "hits: 6");
    if (has_no_device()) {
        return;
    }
    assert_int_equal(run_tool(SCAN, "--report", "--calibrate", "--check", "pats", "a.txt", NULL),
                     0);
    assert_file_has("err", "fastest: segments of ");
    assert_file_has("err", "launches: 1");
    assert_file_has("out", "0:them\n");
    assert_int_equal(run_tool(SCAN, "--segment", "whole", "--check", "pats", "a.txt", NULL), 0);
    assert_file_has("out", "0:them\n");
    assert_int_equal(run_tool(SCAN, "--device", "list", NULL), 0);
}

static void test_scan_refuses_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *a[5];
        const char *message;
    } cases[] = {
        {{NULL}, "no file with patterns is given"},
        {{"--bogus", "pats"}, "--bogus is no option"},
        {{"-rz", "pats"}, "-rz is no option"},
        {{"pats", "-e"}, "-e takes a value"},
        {{"pats", "a.txt", "--batch-size", "0"}, "--batch-size takes bytes from 1 to 1G"},
        {{"pats", "a.txt", "--batch-size", "2G"}, "--batch-size takes bytes from 1 to 1G"},
        {{"pats", "a.txt", "--batch-size", "1x"}, "--batch-size takes bytes from 1 to 1G"},
        {{"pats", "a.txt", "--segment", "63"}, "--segment takes bytes from 64 to 1G, or whole"},
        {{"pats", "a.txt", "--binary-files", "no"}, "--binary-files takes binary, text"},
        {{"pats", "a.txt", "--reference", "--check"}, "--reference scans on no device"},
        {{"pats", "a.txt", "--all", "-w"}, "of which -w, -x and -n say nothing"},
        {{"pats", "a.txt", "--null-patterns"}, "--null-patterns is for texts with newlines"},
        {{"pats", "a.txt", "--json", "-c"}, "give it without -c, -l, -L and -q"},
        {{"pats", "a.txt", "-E", "-w"}, "-w is for texts"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        int code = run_tool(SCAN, cases[i].a[0], cases[i].a[1], cases[i].a[2], cases[i].a[3],
                            cases[i].a[4], NULL);
        assert_fails(2, cases[i].message, code);
        assert_file_has("err", "usage: 'vyre-scan --help'");
    }
    assert_int_equal(run_tool(SCAN, "--help", NULL), 0);
    assert_file_has("out", "Usage: vyre-scan PATTERNS FILE...");
}

/* What comes late is scanned when the first half second is over, in many small batches. */
static void test_scan_shows_how_far_it_is(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t i = 0; i < SIZE; i++) {
        text[i] = i % 64 == 63 ? '\n' : "aab"[i % 3];
    }
    put_file("big", text, SIZE);
    free(text);
    assert_int_equal(run_on_terminal(NULL, "", "/usr/bin/env", "bash", "-c",
                                     "(cat big; sleep 1; cat big) | \"$1\" --reference "
                                     "--batch-size 128K -c -e ab -",
                                     "bash", VYRE_BINARY_DIR "/bin/vyre-scan", NULL),
                     0);
    assert_file_has("out", "\r\033[Kscan: 1.");
    assert_file_has("out", " s so far");
    assert_file_has("out", "\r\033[K32768\r\n"); /* the line is gone by then */
    (void)unlink("big");
}

static void test_scan_is_interrupted(void **state)
{
    (void)state;
    pid_t tool = start_tool("/usr/bin/env", "bash", "-c",
                            "exec \"$1\" --reference --report -e a - < <(echo a; sleep 60)", "bash",
                            VYRE_BINARY_DIR "/bin/vyre-scan", NULL);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    assert_int_equal(end_tool(tool, 2), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_prints_what_grep_prints),
        cmocka_unit_test(test_scan_prints_it_on_devices),
        cmocka_unit_test(test_scan_takes_awkward_files),
        cmocka_unit_test(test_scan_walks_folders),
        cmocka_unit_test(test_scan_takes_expressions),
        cmocka_unit_test(test_scan_refuses_expressions),
        cmocka_unit_test(test_scan_prints_all_hits),
        cmocka_unit_test(test_scan_prints_json),
        cmocka_unit_test(test_scan_exits_as_the_tools_do),
        cmocka_unit_test(test_scan_reports),
        cmocka_unit_test(test_scan_refuses_command_lines),
        cmocka_unit_test(test_scan_shows_how_far_it_is),
        cmocka_unit_test(test_scan_is_interrupted),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
