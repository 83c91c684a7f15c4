/* The documents: docs/renderer.md's C++ blocks are one program, built against an installed copy and
 * run; what docs/scan.md shows is run, and so are the other pages' commands, transcripts, programs,
 * C and CMake, so that no block is left which nothing runs and which does not say why; links lead
 * somewhere; names of the library's exist. */
#include "tests/tools/docs.h"
#include "tests/tools/plant.h"
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

static bool validates(void)
{
    const char *none = getenv("VYRE_TESTS_NO_VALIDATION");
    return !(none && strcmp(none, "1") == 0);
}

static void test_docs_renderer_is_a_program_that_runs(void **state)
{
    (void)state;
    enter_folder("docs");
    char *source = docs_join("docs/renderer.md", "cpp", "renderer.md");
    char *wanted = docs_join("docs/renderer.md", "text", NULL);
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
        assert_file_has("err", validates() ? "validation on, 0 messages" : ", 0 messages");
    }
    free(wanted);
    free(source);
}

static void assert_output_is(const char *wanted)
{
    size_t size;
    char *out = get_file("out", &size);
    assert_true(strlen(wanted) > 20);
    assert_string_equal(out, wanted);
    free(out);
}

static void test_docs_scan_is_run(void **state)
{
    (void)state;
    static const char document[] = "docs/scan.md";
    char *script = docs_join(document, "sh", NULL), *source = docs_join(document, "c", NULL);
    char *printed = docs_join(document, "text", NULL),
         *result = docs_join(document, "output", NULL);
    if (has_no_device()) {
        free(script);
        free(source);
        free(printed);
        free(result);
        return;
    }
    enter_folder("docs-scan");
    put_text("script", script);
    char *shell[] = {
        "bash", "-c", "PATH=$1:$PATH; set -e; . ./script", "bash", VYRE_BINARY_DIR "/bin", NULL};
    must_run(shell);
    assert_output_is(printed);
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
    assert_output_is(result);
    free(script);
    free(source);
    free(printed);
    free(result);
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

/* Blocks without a language are programs where they have a kernel; `before` stands in front of
 * those that do not begin as such. */
static uint32_t parse_programs(const char *name, const char *before)
{
    char *document = docs_get(name);
    const char *at = document;
    vy_block block;
    uint32_t count = 0, line = 0;
    while (docs_next_block(&at, &line, &block)) {
        char *text = docs_copy(&block);
        if (!block.language[0] && !block.not_run && strstr(text, "\nkernel {")) {
            vy_text program;
            vy_text_init(&program, NULL);
            vy_text_printf(&program, "%s%s", strstr(text, "program ") ? "" : before, text);
            must_parse(program.data, name);
            docs_note_run(name, &block);
            vy_text_finish(&program);
            count++;
        }
        free(text);
    }
    free(document);
    return count;
}

static void test_docs_programs_are_right(void **state)
{
    (void)state;
    assert_int_equal(parse_programs("README.md", ""), 1);
    assert_int_equal(parse_programs("docs/language.md", "program again\nworkgroup 64\n"), 7);
    /* Statements alone, of buffers and params that the text beside them names. */
    static const char *const around[] = {"in x : u32[]\nkernel {\n%s}\n",
                                         "in x : u32[]\nout y : u32[len(x)]\ninout count : u32[1]\n"
                                         "param mask : u32\nparam want : u32\nkernel {\n%s}\n"};
    static const char name[] = "docs/performance.md";
    char *document = docs_get(name);
    const char *at = document;
    vy_block block;
    uint32_t line = 0, count = 0;
    while (docs_next_block(&at, &line, &block)) {
        assert_true(count < VY_COUNT_OF(around));
        char *text = docs_copy(&block);
        vy_text program;
        vy_text_init(&program, NULL);
        vy_text_printf(&program, "program part\nworkgroup 64\n");
        vy_text_printf(&program, around[count++], text);
        must_parse(program.data, name);
        docs_note_run(name, &block);
        vy_text_finish(&program);
        free(text);
    }
    free(document);
}

/* ---- Commands, and what they print ----------------------------------------------------------- */

/* What the tools and the checkout of a reader are, in the current folder: a build folder to install
 * from and to write into, the programs, and the tools in the PATH. */
#define READERS_FOLDER                                                                             \
    "rm -rf build; mkdir -p build; for f in bin cmake_install.cmake CMakeCache.txt; do\n"          \
    "    ln -sfn \"$1/$f\" build/$f\n"                                                             \
    "done\n"                                                                                       \
    "for f in shaders examples; do ln -sfn \"$2/$f\" $f; done\n"                                   \
    "cp \"$2\"/docs/programs/* .\n"                                                                \
    "PATH=$1/bin:$PATH LD_LIBRARY_PATH=$1/lib/fakes:$LD_LIBRARY_PATH CFLAGS=$3\n"                  \
    "export PATH LD_LIBRARY_PATH CFLAGS FAKE_RENDERDOC= FAKE_RENDERDOC_LOG=log\n"

/* Runs the text by bash, up to what fails where `script` says so by set -e. */
static int run_as_reader(const char *script)
{
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, READERS_FOLDER "%s", script);
    char *shell[] = {
        "bash",        "-c", (char *)text.data, "bash", VYRE_BINARY_DIR, VYRE_SOURCE_DIR,
        DOCS_SANITIZE, NULL};
    int code = run(shell);
    vy_text_finish(&text);
    return code;
}

/* The line without what is behind " #" is in the list of what is left out: "COMMAND (REASON); ...".
 */
static bool is_left_out(const vy_block *block, const char *line, size_t size)
{
    char command[200];
    const char *comment = strstr(line, " #");
    size_t length = comment && comment < line + size ? (size_t)(comment - line) : size;
    while (length > 0 && strchr(" \n", line[length - 1])) {
        length--;
    }
    if (!block->left_out || length == 0) {
        return false;
    }
    snprintf(command, sizeof command, "%.*s (", (int)length, line);
    const char *found = strstr(block->left_out, command);
    return found && found < block->left_out + block->mark_size &&
           (found == block->left_out || (strchr(" \n", found[-1]) && found[-2] == ';'));
}

static uint32_t count_left_out(const vy_block *block)
{
    uint32_t count = block->left_out != NULL;
    for (size_t i = 0; block->left_out && i < block->mark_size; i++) {
        count += block->left_out[i] == ';';
    }
    return count;
}

/* Runs every line of the document's blocks of commands but those that are left out. */
static void run_commands(const char *name, uint32_t at_least)
{
    char *document = docs_get(name);
    const char *at = document;
    vy_text script;
    vy_block block;
    uint32_t count = 0, line = 0;
    vy_text_init(&script, NULL);
    vy_text_printf(&script, "set -e\n");
    while (docs_next_block(&at, &line, &block)) {
        if (block.not_run || strcmp(block.language, "sh") != 0) {
            continue;
        }
        docs_note_run(name, &block);
        const char *end = block.text + block.size;
        uint32_t left = count_left_out(&block);
        for (const char *p = block.text; p < end;) {
            size_t size = (size_t)(strchr(p, '\n') - p) + 1;
            if (is_left_out(&block, p, size)) {
                left--;
            } else {
                vy_text_append(&script, p, size);
                count++;
            }
            p += size;
        }
        if (left != 0) {
            fail_msg("%s:%u: something is left out that is no command of the block", name,
                     (unsigned)block.line);
        }
    }
    assert_true(count >= at_least);
    if (!has_no_device() && run_as_reader(script.data) != 0) {
        size_t size;
        char *out = get_file("out", &size), *err = get_file("err", &size);
        fail_msg("%s: %s\n%s%s", name, script.data, out ? out : "", err ? err : "");
    }
    vy_text_finish(&script);
    free(document);
}

static void test_docs_commands_are_run(void **state)
{
    (void)state;
    enter_folder("docs-commands");
    run_commands("README.md", 8);
    run_commands("docs/engine.md", 4);
    run_commands("docs/tools.md", 1);
}

/* Runs the commands of a transcript, "$ COMMAND", and compares what each prints. */
static void check_transcript(const char *name, const vy_block *block)
{
    char *text = docs_copy(block), *at = text;
    assert_true(strncmp(at, "$ ", 2) == 0);
    while (at) {
        char *command = at + 2, *wanted = strchr(at, '\n'), *next = strstr(wanted, "\n$ ");
        *wanted++ = 0;
        if (next) {
            *next++ = 0;
        }
        at = next;
        if (strstr(command, " --printf") && !validates()) {
            continue;
        }
        char line[400];
        snprintf(line, sizeof line, "{ %s; } 2>&1", command);
        int code = run_as_reader(line);
        size_t size;
        char *printed = get_file("out", &size);
        if (code > 1 || !docs_matches(wanted, printed)) {
            fail_msg("%s:%u: '%s' ends with %d and prints\n%s\nand not\n%s", name,
                     (unsigned)block->line, command, code, printed, wanted);
        }
        free(printed);
    }
    free(text);
}

static void test_docs_transcripts_are_what_is_printed(void **state)
{
    (void)state;
    static const char name[] = "docs/tools.md";
    char *document = docs_get(name);
    const char *at = document;
    vy_block block;
    uint32_t line = 0, count = 0;
    enter_folder("docs-transcripts");
    if (!has_no_device()) {
        char *program = docs_get("docs/programs/spread.vyre");
        plant_constant("spread.vyk", "spread.vyre", program, 1000, 1001);
        free(program);
    }
    while (docs_next_block(&at, &line, &block)) {
        if (strncmp(block.text, "$ ", 2) == 0 && !block.not_run) {
            docs_note_run(name, &block);
            count++;
            if (!has_no_device()) {
                check_transcript(name, &block);
            }
        }
    }
    assert_int_equal(count, 6);
    free(document);
}

static void test_docs_transcripts_are_compared_word_by_word(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *printed;
        bool matches;
    } cases[] = {
        {"a b\n", "a b\n", true},         {"a\nb\n", "a  b", true},
        {"a b\n", "a c\n", false},        {"ab\n", "a b\n", false},
        {"a b\n", "a b c\n", false},      {"a b c\n", "a b\n", false},
        {"...\nb\n", "a b\n", true},      {"a\n...\n", "a\nb\nc\n", true},
        {"a ... c\n", "a b b c\n", true}, {"a ... c ... e\n", "a c b c d e\n", true},
        {"a ... c\n", "a b\n", false},    {"took ... us\n", "took 12 us\n", true},
        {"...\nb\n", "a b c\n", false},   {"a, ...\n", "a, b, ...\n", true},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        if (docs_matches(cases[i].wanted, cases[i].printed) != cases[i].matches) {
            fail_msg("'%s' and '%s'", cases[i].wanted, cases[i].printed);
        }
    }
}

/* docs/tools.md's forms of examples, without what is said of each, above a program of that kind. */
static void test_docs_examples_are_run(void **state)
{
    (void)state;
    static const char name[] = "docs/tools.md";
    char *document = docs_get(name);
    const char *at = document;
    vy_text program;
    vy_block block;
    uint32_t line = 0, count = 0;
    vy_text_init(&program, NULL);
    while (docs_next_block(&at, &line, &block)) {
        if (strncmp(block.text, "//! ", 4) != 0) {
            continue;
        }
        docs_note_run(name, &block);
        for (const char *p = block.text; p < block.text + block.size; p = strchr(p, '\n') + 1) {
            const char *remark = strstr(p, "   ");
            size_t size = strcspn(p, "\n"), part = remark ? (size_t)(remark - p) : size;
            vy_text_printf(&program, "%.*s\n", (int)(part < size ? part : size), p);
            count++;
        }
    }
    assert_int_equal(count, 7);
    vy_text_printf(&program, "program examples\nworkgroup 64\ngrid over x\nfixpoint 9 until more\n"
                             "in x : f32[]\nparam k : f32\nout y : f32[len(x)]\nout v : u32x4[2]\n"
                             "scratch more : u32[1]\n"
                             "kernel {\n"
                             "    if gid.x < len(x) { y[gid.x] = x[gid.x] + k }\n"
                             "    if gid.x < 2 { v[gid.x] = u32x4(1, 2, 3, 4) + gid.x * 4 }\n"
                             "    if gid.x == 0 && pass == 0 { atomic_store(more[0], 1) }\n"
                             "}\n");
    enter_folder("docs-examples");
    put_text("forms.vyre", program.data);
    if (!has_no_device()) {
        char *shell[] = {VYRE_BINARY_DIR "/bin/vyre-run", "--examples", "forms.vyre", NULL};
        must_run(shell);
        assert_file_has("out", "2 of 2 examples pass");
    }
    vy_text_finish(&program);
    free(document);
}

/* ---- C and CMake ----------------------------------------------------------------------------- */

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
    char *block = docs_join("docs/megakernel.md", "c", NULL);
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
    /* README.md's are declarations alone. */
    vy_text source;
    char *block = docs_join("README.md", "c", NULL);
    assert_non_null(strstr(block, "vyre_pipeline *pipeline;"));
    vy_text_init(&source, NULL);
    vy_text_printf(
        &source, "%s\nint main(void)\n{\n    return device || program || kernel || pipeline;\n}\n",
        block);
    put_text("readme.c", source.data);
    compile_c("readme.c", "readme");
    vy_text_finish(&source);
    free(block);
}

/* docs/engine.md's project: its CMake and its C, with what they take for granted around them. */
static void test_docs_project_is_built_and_run(void **state)
{
    (void)state;
    char *block = docs_join("docs/engine.md", "c", NULL);
    char *list = docs_join("docs/engine.md", "cmake", NULL);
    char *code = strstr(block, "\n");
    vy_text text;
    assert_non_null(code);
    enter_folder("docs-project");
    install_library();
    vy_text_init(&text, NULL);
    vy_text_printf(&text,
                   "%.*s\n#include <vyre/vyre.h>\n#include <stdio.h>\n#include \"scan.h\"\n"
                   "int main(void)\n{\nvyre_device *device = NULL;\n"
                   "vyre_kernel *kernel = NULL;\nvyre_diag diag;\nvyre_result result;\n"
                   "if (vyre_device_create(NULL, &device, &diag)) { return 1; }\n%s\n"
                   "printf(\"%%d %%d %%d\\n\", result, vyre_kernel_is_precompiled(kernel), "
                   "scan_size > 1000);\n"
                   "vyre_kernel_destroy(&kernel);\nvyre_device_destroy(&device);\nreturn 0;\n}\n",
                   (int)(code - block), block, code);
    put_text("main.c", text.data);
    vy_text_finish(&text);
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "cmake_minimum_required(VERSION 3.25)\nproject(app C)\n%s", list);
    put_text("CMakeLists.txt", text.data);
    vy_text_finish(&text);
    char *program = docs_get("docs/programs/walk.vyre");
    put_text("mine.vyre", program);
    char *shell[] = {
        "bash",
        "-c",
        "rm -rf made && cmake -G Ninja -S . -B made -DCMAKE_PREFIX_PATH=\"$PWD/prefix\" "
        "-DCMAKE_C_COMPILER=\"$1\" -DCMAKE_C_FLAGS=\"$2\" && cmake --build made",
        "bash",
        DOCS_CC,
        DOCS_SANITIZE,
        NULL};
    must_run(shell);
    if (!has_no_device()) {
        char *app[] = {"made/app", NULL};
        must_run(app);
        assert_file_has("out", "0 1 1\n");
    }
    free(program);
    free(list);
    free(block);
}

static void test_docs_json_is_json(void **state)
{
    (void)state;
    char *json = docs_join("tools/editors/README.md", "json", NULL);
    assert_int_equal(*skip_json(json), 0);
    assert_non_null(strstr(json, "\"path\": \"./vyre.tmLanguage.json\""));
    free(json);
}

/* ---- All documents --------------------------------------------------------------------------- */

static char **documents;

static int find_documents(void **state)
{
    (void)state;
    documents = docs_list();
    return 0;
}

static int forget_documents(void **state)
{
    (void)state;
    docs_free_list(documents);
    return 0;
}

/* Behind the tests above, which note what they run. */
static void test_docs_have_no_block_that_nothing_runs(void **state)
{
    (void)state;
    for (size_t d = 0; documents[d]; d++) {
        char *text = docs_get(documents[d]);
        uint32_t line = docs_find_unrun(documents[d], text);
        if (line) {
            fail_msg(
                "%s:%u: nothing runs this block. Fix: run it in tests/tools/test_docs.c, or say "
                "above it why it cannot be: <!-- not run: REASON -->",
                documents[d], (unsigned)line);
        }
        free(text);
    }
    /* A block more is found, unless a comment says why it is not run. */
    static const char *const heads[] = {"\n```sh\nls\n```\n",
                                        "<!-- not run: -->\n```\nls\n```\n",
                                        "<!-- not run: no -->\n```\nls\n```\n",
                                        "<!-- left out: ls (a reason) -->\n```sh\nls\n```\n",
                                        "<!-- not run: a picture -->\n\n```\nls\n```\n",
                                        "<!-- not run: a picture -->\nx\n```\nls\n```\n"};
    for (size_t i = 0; i < VY_COUNT_OF(heads); i++) {
        assert_int_not_equal(docs_find_unrun("new.md", heads[i]), 0);
    }
    assert_int_equal(docs_find_unrun("new.md", "<!-- not run: a picture -->\n```\nls\n```\n"), 0);
    assert_int_equal(docs_find_unrun("new.md", "<!-- not run: a\n   picture -->\n```\nls\n```\n"),
                     0);
    assert_int_equal(docs_find_unrun("new.md", "1. x\n\n   ```sh\n   ls\n   ```\n"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docs_renderer_is_a_program_that_runs),
        cmocka_unit_test(test_docs_scan_is_run),
        cmocka_unit_test(test_docs_programs_are_right),
        cmocka_unit_test(test_docs_commands_are_run),
        cmocka_unit_test(test_docs_transcripts_are_what_is_printed),
        cmocka_unit_test(test_docs_examples_are_run),
        cmocka_unit_test(test_docs_c_is_compiled_and_run),
        cmocka_unit_test(test_docs_project_is_built_and_run),
        cmocka_unit_test(test_docs_json_is_json),
        cmocka_unit_test(test_docs_have_no_block_that_nothing_runs), /* of those above */
        cmocka_unit_test(test_docs_transcripts_are_compared_word_by_word),
    };
    return cmocka_run_group_tests(tests, find_documents, forget_documents);
}
