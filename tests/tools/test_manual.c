/* What the tools say of themselves, and what is made of it: man pages and completion. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const tools[] = {"vyre-bench", "vyre-demo", "vyre-run", "vyre-scan", "vyre-spv"};
#define TOOL_COUNT (sizeof tools / sizeof tools[0])
#define MANUAL     VYRE_BINARY_DIR "/manual/"

static int setup(void **state)
{
    (void)state;
    enter_folder("manual");
    return 0;
}

/* Runs it by bash with these arguments, and wants success. */
static void run_script(const char *script, const char *first, const char *second)
{
    int code = run_tool("/usr/bin/env", "bash", "-c", script, "bash", first, second, NULL);
    if (code != 0) {
        size_t size;
        char *err = get_file("err", &size);
        print_message("%s\n", err ? err : "");
        free(err);
        fail_msg("bash ended with %d, given %s %s", code, first, second);
    }
}

static bool has_program(const char *name)
{
    return run_tool("/usr/bin/env", "bash", "-c", "command -v \"$1\"", "bash", name, NULL) == 0;
}

/* The file is that text and nothing else. */
static void assert_file_is(const char *path, const char *text)
{
    size_t size;
    char *found = get_file(path, &size);
    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

/* ---- The tools themselves -------------------------------------------------------------------- */

static void test_tools_tell_usage_and_version(void **state)
{
    (void)state;
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        char begin[64];
        assert_int_equal(run_tool(tools[i], "--version", NULL), 0);
        size_t size;
        char *text = get_file("out", &size);
        snprintf(begin, sizeof begin, "%s 0.", tools[i]);
        assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
        assert_ptr_equal(strchr(text, '\n'), text + size - 1);
        free(text);
        assert_int_equal(run_tool(tools[i], "--help", NULL), 0);
        text = get_file("out", &size);
        snprintf(begin, sizeof begin, "Usage: %s ", tools[i]);
        assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
        free(text);
        assert_file_has("out", "  --version ");
        assert_file_has("out", "\n\nOther:\n  --version "); /* the last of its groups */
        assert_file_has("out", "\nExit: 0 success; 1 ");
    }
}

/* ---- Man pages ------------------------------------------------------------------------------- */

#ifdef MANUAL_HAS_PAGES
/* Prints options of --help that the page ($2) of the tool ($1) lacks. */
static const char missing_options[] =
    "\"$1\" --help | sed -n 's/^  \\(--*[a-zA-Z0-9-]*\\).*/\\1/p' >options\n"
    "[ \"$(wc -l <options)\" -gt 4 ] || exit 1\n"
    "tr -d '\\\\' <\"$2\" >page\n"
    "while read -r option; do grep -q -e \"^fB${option}fR\" page || echo \"$option\"; done "
    "<options\n";
#endif

static void test_pages_have_all_options_and_no_warnings(void **state)
{
    (void)state;
#ifndef MANUAL_HAS_PAGES
    fail_msg("the pages were not made. Fix: install help2man (tools/setup.sh) and configure again");
#else
    if (!has_program("groff")) {
        fail_msg("there is no groff. Fix: run tools/setup.sh");
    }
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        char tool[512], page[512];
        snprintf(tool, sizeof tool, VYRE_BINARY_DIR "/bin/%s", tools[i]);
        snprintf(page, sizeof page, MANUAL "%s.1", tools[i]);
        run_script(missing_options, tool, page);
        assert_file_is("out", "");
        assert_file_has(page, "\n.SH SYNOPSIS\n");
        assert_file_has(page, "VYRE_CACHE_DIR");
        run_script("groff -ww -man -Tutf8 -z \"$1\" 2>&1", page, "");
        assert_file_is("out", "");
    }
#endif
}

/* ---- Completion ------------------------------------------------------------------------------ */

/* What bash completes the command line $1 with, its word's beginning included where readline takes
 * that for a word of its own no more; $2: characters that end words for readline. */
static const char complete_script[] =
    "export LC_ALL=C\n"
    "COMP_LINE=$1 COMP_WORDBREAKS=$2\n"
    "COMP_POINT=${#COMP_LINE}\n"
    "tool=${COMP_LINE%% *}\n"
    "source \"" MANUAL "bash/$tool\" || exit 1\n"
    "[ \"$(complete -p \"$tool\")\" = \"complete -F _${tool//-/_} $tool\" ] || exit 1\n"
    "\"_${tool//-/_}\"\n"
    "[ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\" | sort\n";

static void check_completion(const char *breaks, const char *line, const char *wanted)
{
    run_script(complete_script, line, breaks);
    size_t size;
    char *found = get_file("out", &size);
    if (!found || strcmp(found, wanted) != 0) {
        fail_msg("'%s' is completed with:\n%sand not:\n%s", line, found ? found : "", wanted);
    }
    free(found);
}

static const char usual_breaks[] = " \t\n\"'@><=;|&(:";

static void test_bash_completes_values_and_files(void **state)
{
    (void)state;
    static const struct {
        const char *line, *wanted;
    } cases[] = {
        {"vyre-run --strat", "--strategy\n"},
        {"vyre-run --strategy ", "auto\npersistent\nreplay\nworkgroup\n"},
        {"vyre-run x.vyre --strategy re", "replay\n"},
        {"vyre-run --strategy=wo", "workgroup\n"},
        {"vyre-run --interface=", "address\nauto\ndescriptor\n"},
        {"vyre-run --device ", "list\n"},
        {"vyre-run --passes ", ""},
        {"vyre-run ", "folder\none.vyk\none.vyre\n"},
        {"vyre-run --check on", "one.vyk\none.vyre\n"},
        {"vyre-run folder/", "folder/two.vyre\n"},
        {"vyre-run one.vyre --in a=@da", "data.json\ndata.npy\n"},
        {"vyre-run one.vyre --in=a=@folder/", "folder/two.vyre\n"},
        {"vyre-run one.vyre --in a", ""},
        {"vyre-run one.vyre --out a=data.n", "data.npy\n"},
        {"vyre-run one.vyre --trace d", "data.json\n"},
        {"vyre-run one.vyre --dump-buffers ", "folder\n"},
        {"vyre-spv --format ", "asm\nbin\nc\njson\nkernel\ntext\n"},
        {"vyre-spv --target=vulkan1.", "vulkan1.2\nvulkan1.3\n"},
        {"vyre-spv --dump-after c", "canonical-nan\ncse\n"},
        {"vyre-spv -g one", "one.spv\none.vyk\none.vyre\n"},
        {"vyre-spv -o da", "data.json\ndata.npy\n"},
        {"vyre-bench me", "megakernel\n"},
        {"vyre-bench launch a", "all\natomics\n"},
        {"vyre-bench --plot ", "folder\npicture.svg\n"},
        {"vyre-demo --l", "--limit\n"},
        {"vyre-demo ", ""},
    };
    assert_int_equal(run_tool("/usr/bin/env", "bash", "-c",
                              "mkdir -p files/folder && cd files && touch one.vyre one.vyk one.spv "
                              "data.npy data.json picture.svg folder/two.vyre",
                              NULL),
                     0);
    assert_int_equal(chdir("files"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_completion(usual_breaks, cases[i].line, cases[i].wanted);
    }
    /* Where no such character ends a word, all of it is replaced. */
    check_completion(" ", "vyre-run --strategy=wo", "--strategy=workgroup\n");
    check_completion(" ", "vyre-run --in a=@data.n", "a=@data.npy\n");
    setup(NULL);
}

/* What fish completes the command line $1 with, without what it says of it. */
static const char fish_script[] = "tool=${1%% *}\n"
                                  "fish --no-config -c \"source '" MANUAL
                                  "fish/$tool.fish'; complete -C '$1'\" | cut -f1 | sort\n";
/* Prints options of --help of the tool $1 that it does not, and others that it does. */
static const char fish_options_script[] =
    "\"" VYRE_BINARY_DIR
    "/bin/$1\" --help | sed -n 's/^  \\(--*[a-zA-Z0-9-]*\\).*/\\1/p' | sort >wanted\n"
    "for kind in - --; do\n"
    "    fish --no-config -c \"source '" MANUAL "fish/$1.fish'; complete -C '$1 $kind'\"\n"
    "done | cut -f1 | sort -u >found\n"
    "comm -3 wanted found\n";

static void test_fish_completes_options_values_and_files(void **state)
{
    (void)state;
    if (!has_program("fish")) {
        fail_msg("there is no fish. Fix: run tools/setup.sh");
    }
    static const struct {
        const char *line, *wanted;
    } cases[] = {
        {"vyre-run --strat", "--strategy\n"},
        {"vyre-run --strategy ", "auto\npersistent\nreplay\nworkgroup\n"},
        {"vyre-run --interface=d", "--interface=descriptor\n"},
        {"vyre-spv -O", "-O0\n-O1\n"},
        {"vyre-spv --dump-after c", "canonical-nan\ncse\n"},
        {"vyre-spv --target vulkan1.3 --format ke", "kernel\n"},
        {"vyre-bench me", "megakernel\n"},
        {"vyre-demo --l", "--limit\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_script(fish_script, cases[i].line, "");
        assert_file_is("out", cases[i].wanted);
    }
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        run_script(fish_options_script, tools[i], "");
        assert_file_is("out", "");
    }
}

/* Prints options of --help of the tool $1 that are not completed, or not known to zsh's file. */
static const char options_script[] =
    "\"" VYRE_BINARY_DIR
    "/bin/$1\" --help | sed -n 's/^  \\(--*[a-zA-Z0-9-]*\\).*/\\1/p' | sort >wanted\n"
    "[ \"$(wc -l <wanted)\" -gt 4 ] || exit 1\n"
    "source \"" MANUAL "bash/$1\" || exit 1\n"
    "COMP_LINE=\"$1 -\"; COMP_POINT=${#COMP_LINE}\n"
    "\"_${1//-/_}\"\n"
    "printf '%s\\n' \"${COMPREPLY[@]}\" | sort >found\n"
    "comm -3 wanted found\n"
    "while read -r option; do\n"
    "    grep -q -e \"^    '\\**${option}=*\\\\[\" \"" MANUAL "zsh/_$1\" || echo \"$option\"\n"
    "done <wanted\n";

static void test_all_options_are_completed(void **state)
{
    (void)state;
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        run_script(options_script, tools[i], "");
        assert_file_is("out", "");
    }
}

/* zsh hands over what the file asks to be completed. */
static void test_zsh_reads_its_files(void **state)
{
    (void)state;
    if (!has_program("zsh")) {
        fail_msg("there is no zsh. Fix: run tools/setup.sh");
    }
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        char file[512];
        snprintf(file, sizeof file, MANUAL "zsh/_%s", tools[i]);
        assert_int_equal(run_tool("/usr/bin/env", "zsh", "-f", "-c",
                                  "_arguments() { print -rl -- \"$@\" }; source \"$1\"", "zsh",
                                  file, NULL),
                         0);
        assert_file_has("out", "--help[this text]\n");
        assert_file_is("err", "");
        if (strcmp(tools[i], "vyre-run") == 0) {
            assert_file_has("out", ":(auto replay workgroup persistent)\n");
            assert_file_has("out", "*:FILE.vyre|FILE.vyk:_files -g \"(*.vyre|*.vyk)\"\n");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tools_tell_usage_and_version),
        cmocka_unit_test(test_pages_have_all_options_and_no_warnings),
        cmocka_unit_test(test_bash_completes_values_and_files),
        cmocka_unit_test(test_all_options_are_completed),
        cmocka_unit_test(test_zsh_reads_its_files),
        cmocka_unit_test(test_fish_completes_options_values_and_files),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
