/* The documents: docs/renderer.md's C++ blocks are one program, built against an installed copy and
 * run; what docs/scan.md shows is run, and so are the other pages' commands, programs and C; links
 * lead somewhere; names of the library's exist. */
#include "tests/tools/support.h"
#include "vyre/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 40

/* Runs it in the current folder; what it printed lies in files `out` and `err`. */
static int run(char *const *arguments)
{
    pid_t child = fork();
    if (child == 0) {
        int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) {
            _exit(126);
        }
        execvp(arguments[0], arguments);
        _exit(125);
    }
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void must_run(char *const *arguments)
{
    int code = run(arguments);
    if (code != 0) {
        size_t size;
        char *out = get_file("out", &size), *err = get_file("err", &size);
        print_message("%s%s\n", out ? out : "", err ? err : "");
        free(out);
        free(err);
        fail_msg("%s ended with %d", arguments[0], code);
    }
}

static char *get_document(const char *name)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, name);
    char *text = get_file(path, &size);
    if (!text) {
        fail_msg("there is no %s", name);
    }
    return text;
}

/* All blocks of a language, one after the other, with lines that lead compilers to the document. */
static char *join_blocks(const char *document, const char *language, int with_lines)
{
    vy_text out;
    char fence[32];
    vy_text_init(&out, NULL);
    snprintf(fence, sizeof fence, "```%s\n", language);
    uint32_t line = 1;
    bool inside = false;
    for (const char *at = document; *at; line++) {
        const char *end = strchr(at, '\n');
        size_t length = end ? (size_t)(end - at) + 1 : strlen(at);
        if (strncmp(at, "```", 3) == 0) {
            bool opens = !inside && strncmp(at, fence, strlen(fence)) == 0;
            if (opens && with_lines) {
                vy_text_printf(&out, "#line %u \"renderer.md\"\n", (unsigned)line + 1);
            }
            inside = opens;
        } else if (inside) {
            vy_text_append(&out, at, length);
        }
        at += length;
    }
    vy_text_append(&out, "", 1);
    char *copy = malloc(out.size);
    assert_non_null(copy);
    memcpy(copy, out.data, out.size);
    vy_text_finish(&out);
    return copy;
}

static void install_library(void)
{
    char *install[] = {DOCS_CMAKE, "--install", VYRE_BINARY_DIR, "--prefix", "prefix", NULL};
    must_run(install);
}

static void build_program(void)
{
    install_library();
    /* An empty argument is none of these: it would be a file. */
    char *compile[] = {DOCS_CXX,
                       "-std=c++17",
                       "-Wall",
                       "-Wextra",
                       "-Wpedantic",
                       "-Werror",
                       "-Iprefix/include",
                       "-idirafter",
                       DOCS_VULKAN,
                       "-idirafter",
                       DOCS_VMA,
                       "renderer.cpp",
                       "-o",
                       "renderer",
                       "-Lprefix/" DOCS_LIBDIR,
                       "-lvyre-vk",
                       DOCS_LOADER,
                       "-pthread",
                       "-Wl,-rpath,$ORIGIN/prefix/" DOCS_LIBDIR,
                       DOCS_SANITIZE,
                       NULL};
    must_run(compile);
}

static void test_docs_renderer_is_a_program_that_runs(void **state)
{
    (void)state;
    enter_folder("docs");
    char *document = get_document("docs/renderer.md");
    char *source = join_blocks(document, "cpp", 1);
    char *wanted = join_blocks(document, "text", 0);
    put_text("renderer.cpp", source);
    assert_true(strlen(source) > 1000 && strlen(wanted) > 100);
    build_program();
    if (!has_no_device()) {
        char *program[] = {"./renderer", NULL};
        must_run(program);
        size_t size;
        char *out = get_file("out", &size);
        assert_string_equal(out, wanted);
        free(out);
        const char *none = getenv("VYRE_TESTS_NO_VALIDATION");
        assert_file_has("err", none && strcmp(none, "1") == 0 ? ", 0 messages"
                                                              : "validation on, 0 messages");
    }
    free(wanted);
    free(source);
    free(document);
}

/* All blocks of the language are what the file `out` has. */
static void assert_output_is(const char *document, const char *language)
{
    size_t size;
    char *wanted = join_blocks(document, language, 0), *out = get_file("out", &size);
    assert_true(strlen(wanted) > 20);
    assert_string_equal(out, wanted);
    free(wanted);
    free(out);
}

static void test_docs_scan_is_run(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    enter_folder("docs-scan");
    char *document = get_document("docs/scan.md");
    char *script = join_blocks(document, "sh", 0), *source = join_blocks(document, "c", 0);
    put_text("script", script);
    char *shell[] = {
        "bash", "-c", "PATH=$1:$PATH; set -e; . ./script", "bash", VYRE_BINARY_DIR "/bin", NULL};
    must_run(shell);
    assert_output_is(document, "text");
    put_text("scan.c", source);
    install_library();
    char *compile[] = {DOCS_CC,
                       "-std=c11",
                       "-Wall",
                       "-Wextra",
                       "-Wpedantic",
                       "-Werror",
                       "-Iprefix/include",
                       "scan.c",
                       "-o",
                       "scan",
                       "-Lprefix/" DOCS_LIBDIR,
                       "-lvyre-vk",
                       "-Wl,-rpath,$ORIGIN/prefix/" DOCS_LIBDIR,
                       DOCS_SANITIZE,
                       NULL};
    must_run(compile);
    char *program[] = {"./scan", NULL};
    must_run(program);
    assert_output_is(document, "output");
    free(script);
    free(source);
    free(document);
}

/* ---- Programs, commands and C of the other pages -----------------------------------------------
 */

static void must_parse(const char *text, const char *document)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), document, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%s:%u: %s, in\n%s", document, (unsigned)diag.line, diag.message, text);
    }
    vyre_program_destroy(&program);
}

/* Blocks without a language are programs where they begin as such. */
static uint32_t parse_programs(const char *name)
{
    char *document = get_document(name);
    uint32_t count = 0;
    for (char *at = document; (at = strstr(at, "\n```")) != NULL;) {
        char *begin = at + 4, *end = strstr(begin, "\n```");
        assert_non_null(end);
        at = end + 4;
        if (*begin != '\n') {
            continue;
        }
        *end = 0;
        if (strstr(begin, "\nprogram ") && strstr(begin, "\nkernel {")) {
            must_parse(begin + 1, name);
            count++;
        }
        *end = '\n';
    }
    free(document);
    return count;
}

static void test_docs_programs_are_right(void **state)
{
    (void)state;
    assert_int_equal(parse_programs("README.md"), 1);
    assert_true(parse_programs("docs/language.md") >= 4);
    /* Statements alone, of buffers and params that the text beside them names. */
    char *document = get_document("docs/performance.md"), *body = join_blocks(document, "", 0);
    vy_text program;
    vy_text_init(&program, NULL);
    vy_text_printf(&program,
                   "program appends\nworkgroup 64\nin x : u32[]\nout y : u32[len(x)]\n"
                   "inout count : u32[1]\nparam mask : u32\nparam want : u32\n"
                   "kernel {\n%s}\n",
                   body);
    assert_non_null(strstr(body, "atomic_add(count[0], 1)"));
    must_parse(program.data, "docs/performance.md");
    vy_text_finish(&program);
    free(body);
    free(document);
}

/* Lines of the tools', with those that go on behind a backslash. */
static void take_commands(vy_text *script, const char *document)
{
    bool goes_on = false;
    for (const char *at = document; *at;) {
        const char *end = strchr(at, '\n');
        size_t length = end ? (size_t)(end - at) + 1 : strlen(at);
        bool is_command = strncmp(at, "build/bin/vyre-", 15) == 0 || strncmp(at, "vyre-", 5) == 0;
        if (is_command || goes_on) {
            vy_text_append(script, at, length);
            goes_on = length > 1 && at[length - 2] == '\\';
        }
        at += length;
    }
}

static void run_commands(const char *name, const char *language, uint32_t at_least)
{
    char *document = get_document(name), *blocks = join_blocks(document, language, 0);
    vy_text script;
    uint32_t count = 0;
    vy_text_init(&script, NULL);
    take_commands(&script, blocks);
    assert_non_null(script.data);
    for (const char *at = script.data; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    assert_true(count >= at_least);
    put_text("script", script.data);
    char *shell[] = {"bash",
                     "-c",
                     "mkdir -p build; ln -sfn \"$1\" build/bin; ln -sfn \"$2\" shaders\n"
                     "cp shaders/scan.vyre .; PATH=$1:$PATH; set -e; . ./script",
                     "bash",
                     VYRE_BINARY_DIR "/bin",
                     VYRE_SOURCE_DIR "/shaders",
                     NULL};
    must_run(shell);
    vy_text_finish(&script);
    free(blocks);
    free(document);
}

static void test_docs_commands_are_run(void **state)
{
    (void)state;
    if (has_no_device()) {
        return;
    }
    enter_folder("docs-commands");
    run_commands("README.md", "sh", 5);
    run_commands("docs/engine.md", "", 4);
}

static void compile_c(const char *source, const char *program)
{
    char *compile[] = {DOCS_CC,
                       "-std=c11",
                       "-Wall",
                       "-Wextra",
                       "-Werror",
                       "-Wno-unused-result",
                       "-Iprefix/include",
                       "-I.",
                       (char *)(uintptr_t)source,
                       "-o",
                       (char *)(uintptr_t)program,
                       "-Lprefix/" DOCS_LIBDIR,
                       "-lvyre-vk",
                       "-Wl,-rpath,$ORIGIN/prefix/" DOCS_LIBDIR,
                       DOCS_SANITIZE,
                       NULL};
    must_run(compile);
}

/* docs/megakernel.md's example, with what it takes for granted around it. */
static void write_megakernel(void)
{
    char *document = get_document("docs/megakernel.md"), *block = join_blocks(document, "c", 0);
    char *params = strstr(block, "vyre_dispatcher_params params;");
    assert_non_null(params);
    vy_text source;
    vy_text_init(&source, NULL);
    vy_text_printf(&source,
                   "#include <stdio.h>\n#include <vyre/vyre.h>\nint main(void)\n{\n"
                   "vyre_device *device = NULL;\nvyre_program *program = NULL;\n"
                   "vyre_dispatcher *dispatcher = NULL;\nvyre_buffer data = {0};\n"
                   "vyre_buffer_params sizes = {.struct_size = sizeof sizes, .size = 32};\n"
                   "vyre_diag diag;\nuint32_t words[8] = {0};\n"
                   "vyre_device_create(NULL, &device, &diag);\n"
                   "vyre_buffer_create(device, &sizes, &data, &diag);\n"
                   "vyre_binding binding = {.kind = VYRE_BINDING_RESIDENT, .buffer = data, "
                   ".count = VYRE_COUNT_DECLARED};\n%.*s\n"
                   "vyre_program_parse(text, sizeof text - 1, NULL, NULL, &program, &diag);\n%s",
                   (int)(params - block), block, params);
    vy_text_printf(&source,
                   "vyre_buffer_download(device, data, 0, words, sizeof words, &diag);\n"
                   "printf(\"%%u %%u %%u\\n\", words[3], words[4], words[5]);\n"
                   "vyre_dispatcher_destroy(&dispatcher);\nvyre_program_destroy(&program);\n"
                   "vyre_device_destroy(&device);\nreturn 0;\n}\n");
    put_text("megakernel.c", source.data);
    vy_text_finish(&source);
    free(block);
    free(document);
}

static void test_docs_c_is_compiled_and_run(void **state)
{
    (void)state;
    enter_folder("docs-c");
    install_library();
    write_megakernel();
    compile_c("megakernel.c", "megakernel");
    if (!has_no_device()) {
        char *program[] = {"./megakernel", NULL};
        must_run(program);
        assert_file_has("out", "10 0 20\n");
    }
    /* docs/engine.md's, of a kernel that vyre_add_kernel compiled. */
    char *document = get_document("docs/engine.md"), *block = join_blocks(document, "c", 0);
    char *code = strstr(block, "\n");
    assert_non_null(code);
    vy_text source;
    vy_text_init(&source, NULL);
    vy_text_printf(&source,
                   "%.*s\n#include <vyre/vyre.h>\nint main(void)\n{\nvyre_device *device = NULL;\n"
                   "vyre_kernel *kernel = NULL;\nvyre_diag diag;\nvyre_result result;\n"
                   "if (vyre_device_create(NULL, &device, &diag)) { return 1; }\n%s\n"
                   "vyre_device_destroy(&device);\nreturn result == VYRE_ERROR_IO ? 0 : 1;\n}\n",
                   (int)(code - block), block, code);
    put_text("mine.h", "#include <stddef.h>\nstatic const unsigned char mine[] = {0};\n"
                       "static const size_t mine_size = 1;\n");
    put_text("engine.c", source.data);
    compile_c("engine.c", "engine");
    if (!has_no_device()) {
        char *program[] = {"./engine", NULL};
        must_run(program); /* the byte is no kernel file */
    }
    vy_text_finish(&source);
    free(block);
    free(document);
}

static const char *const documents[] = {
    "README.md",         "docs/engine.md",     "docs/language.md",        "docs/measurements.md",
    "docs/renderer.md",  "docs/scan.md",       "docs/spirv-interface.md", "docs/passes.md",
    "docs/tools.md",     "docs/megakernel.md", "docs/performance.md",     "docs/troubleshooting.md",
    "docs/comparison.md"};
#define DOCUMENT_COUNT (sizeof documents / sizeof documents[0])

static void test_docs_links_lead_somewhere(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (size_t d = 0; d < DOCUMENT_COUNT; d++) {
        char *text = get_document(documents[d]);
        bool is_top = strchr(documents[d], '/') == NULL;
        for (const char *at = strstr(text, "]("); at; at = strstr(at + 1, "](")) {
            size_t length = strcspn(at + 2, ")#");
            if (length == 0 || strncmp(at + 2, "http", 4) == 0) {
                continue;
            }
            char path[600];
            snprintf(path, sizeof path, "%s/%s%.*s", VYRE_SOURCE_DIR, is_top ? "" : "docs/",
                     (int)length, at + 2);
            if (access(path, R_OK) != 0) {
                fail_msg("%s links to %.*s, which is not there", documents[d], (int)length, at + 2);
            }
            count++;
        }
        free(text);
    }
    assert_true(count > 4);
}

/* All public headers, one after the other, and what the CMake package defines. */
static char *get_headers(void)
{
    static const char *const names[] = {
        "include/vyre/buffer.h",     "include/vyre/device.h",  "include/vyre/dispatch.h",
        "include/vyre/dispatcher.h", "include/vyre/interp.h",  "include/vyre/kernel.h",
        "include/vyre/megakernel.h", "include/vyre/program.h", "include/vyre/result.h",
        "include/vyre/scan.h",       "include/vyre/text.h",    "include/vyre/vma.h",
        "include/vyre/vulkan.h",     "include/vyre/vyre.h",    "tools/cmake/VyreAddKernel.cmake"};
    vy_text out;
    vy_text_init(&out, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *text = get_document(names[i]);
        vy_text_append(&out, text, strlen(text));
        free(text);
    }
    vy_text_append(&out, "", 1);
    char *copy = malloc(out.size);
    assert_non_null(copy);
    memcpy(copy, out.data, out.size);
    vy_text_finish(&out);
    return copy;
}

static bool is_word_letter(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The word with nothing of a word on either side. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        if ((at == text || !is_word_letter(at[-1])) && !is_word_letter(at[length])) {
            return true;
        }
    }
    return false;
}

/* Functions, types and constants that a document for users of the engine names are there; names
 * that end in _ stand for several. */
static void check_names(const char *document, const char *prefix, const char *headers)
{
    char *text = get_document(document);
    uint32_t count = 0;
    for (const char *at = strstr(text, prefix); at; at = strstr(at + 1, prefix)) {
        char word[80];
        size_t length = 0;
        while (is_word_letter(at[length]) && length + 1 < sizeof word) {
            word[length] = at[length];
            length++;
        }
        word[length] = 0;
        bool is_inside = at != text && (is_word_letter(at[-1]) || at[-1] == '-');
        if (is_inside || word[length - 1] == '_') {
            continue;
        }
        char row[sizeof word + 8]; /* of a list of results */
        snprintf(row, sizeof row, "X(%s,", word + 5);
        if (!has_word(headers, word) && !strstr(headers, row)) {
            fail_msg("%s names %s, which no header has", document, word);
        }
        count++;
    }
    assert_true(count > 3);
    free(text);
}

static void test_docs_name_what_there_is(void **state)
{
    (void)state;
    char *headers = get_headers();
    static const char *const names[] = {"docs/engine.md", "docs/renderer.md", "docs/megakernel.md",
                                        "docs/scan.md", "docs/troubleshooting.md"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_names(names[i], "vyre_", headers);
        check_names(names[i], "VYRE_", headers);
    }
    free(headers);
}

static bool has_figure(const char *text, const char *figure, size_t length)
{
    for (const char *at = strstr(text, figure); at; at = strstr(at + 1, figure)) {
        bool is_whole = at == text || !strchr("0123456789.,", at[-1]);
        bool ends =
            !strchr("0123456789.", at[length]) && !(at[length] == ',' && at[length + 1] != ' ');
        if (is_whole && ends) {
            return true;
        }
    }
    return false;
}

/* Microseconds in the tables of docs/comparison.md are figures of docs/measurements.md; they stand
 * behind the first cell of a row. */
static void test_docs_compare_by_measured_figures(void **state)
{
    (void)state;
    char *text = get_document("docs/comparison.md"), *source = get_document("docs/measurements.md");
    const char *at = strstr(text, "\n## What was measured\n");
    assert_non_null(at);
    uint32_t count = 0;
    bool is_first_cell = true;
    for (at = strchr(at + 1, '\n'); at && strncmp(at, "\n## ", 4) != 0 && *at; at++) {
        size_t length = strspn(at, "0123456789.");
        if (*at == '\n') {
            is_first_cell = true;
        } else if (strncmp(at, " | ", 3) == 0) {
            is_first_cell = false;
        } else if (!is_first_cell && length > 1) {
            char figure[40];
            snprintf(figure, sizeof figure, "%.*s", (int)length, at);
            /* What a head of a table says is no time: "1,000". */
            if (at[length] != ',' && at[-1] != ',' && strcmp(figure, "10") &&
                strcmp(figure, "100") && !has_figure(source, figure, length)) {
                fail_msg("docs/comparison.md says %s, and docs/measurements.md does not", figure);
            }
            count++;
            at += length - 1;
        }
    }
    assert_true(count > 20);
    free(text);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docs_renderer_is_a_program_that_runs),
        cmocka_unit_test(test_docs_scan_is_run),
        cmocka_unit_test(test_docs_programs_are_right),
        cmocka_unit_test(test_docs_commands_are_run),
        cmocka_unit_test(test_docs_c_is_compiled_and_run),
        cmocka_unit_test(test_docs_links_lead_somewhere),
        cmocka_unit_test(test_docs_name_what_there_is),
        cmocka_unit_test(test_docs_compare_by_measured_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
