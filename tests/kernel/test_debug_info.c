/* Debug information: what it says of a program, that it changes no other word, and what it asks of
 * a device. Two modules match stored assembly: VYRE_UPDATE_GOLDEN=1 stores anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernel/shapes.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/generate.h"
#include "tests/support/validate_words.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET      "NonSemantic.Shader.DebugInfo.100"
#define IS(name) ((uint32_t)NonSemanticShaderDebugInfo100##name)
#define MOST     512u /* instructions of one kind that a test looks at */

/* Calls in calls, a region, a loop, a vector, a private array, workgroup memory, a parameter. */
static const char calls[] = "// Sums.\n"
                            "program sums\n"
                            "workgroup 64\n"
                            "grid over x\n"
                            "\n"
                            "inout  x : u32[]\n"
                            "out    y : f32[len(x)]\n"
                            "shared s : u32x2[64]\n"
                            "param  k : u32\n"
                            "\n"
                            "fn twice(a : u32) -> u32 {\n"
                            "    let b = a * 2\n"
                            "    if b > 100 { return 100 }\n"
                            "    return b + 1\n"
                            "}\n"
                            "fn four(a : u32) -> u32 {\n"
                            "    return twice(twice(a))\n"
                            "}\n"
                            "\n"
                            "kernel {\n"
                            "    let i = gid.x\n"
                            "    var n = k\n"
                            "    var t : u32[8]\n"
                            "    region \"sum\" {\n"
                            "        for e in 0 .. 8 {\n"
                            "            let m = four(x[i] + e)\n"
                            "            n = n + m\n"
                            "            t[e & 7] = n\n"
                            "        }\n"
                            "    }\n"
                            "    let v = u32x2(n, i)\n"
                            "    s[lid.x] = v\n"
                            "    x[i] = n + t[n & 7] + v.y\n"
                            "    y[i] = f32(n) * 0.5\n"
                            "}\n";

static vyre_program *parse(const char *text, size_t size, const char *file)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, size, file, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    return program;
}

static vyre_kernel *compile(const vyre_program *program, const vyre_kernel_params *params)
{
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return kernel;
}

static vyre_segment_info segment_of(const vyre_kernel *kernel, uint32_t segment)
{
    vyre_segment_info info;
    vyre_kernel_segment(kernel, segment, &info);
    return info;
}

static void check_valid(const char *what, vyre_target target, const vyre_segment_info *info)
{
    char message[400];
    if (!vy_validate_words(info->words, info->word_count, target, message, sizeof message)) {
        fail_msg("%s: %s", what, message);
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* The next instruction behind `at` (0: the first), or 0. */
static uint32_t next_of(const vyre_segment_info *info, uint32_t at)
{
    at += at ? info->words[at] >> 16 : 5;
    return at < info->word_count ? at : 0;
}

static uint32_t set_of(const vyre_segment_info *info)
{
    for (uint32_t at = 0; (at = next_of(info, at)) != 0;) {
        if ((info->words[at] & 0xffff) == SpvOpExtInstImport &&
            strcmp((const char *)(info->words + at + 2), SET) == 0) {
            return info->words[at + 1];
        }
    }
    return 0;
}

/* Offsets of the instructions of the set with that number. */
static uint32_t find_all(const vyre_segment_info *info, uint32_t number, uint32_t out[MOST])
{
    uint32_t set = set_of(info), count = 0;
    assert_int_not_equal(set, 0);
    for (uint32_t at = 0; (at = next_of(info, at)) != 0;) {
        if ((info->words[at] & 0xffff) == SpvOpExtInst && info->words[at + 3] == set &&
            info->words[at + 4] == number) {
            assert_true(count < MOST);
            out[count++] = at;
        }
    }
    return count;
}

/* Operand i of an instruction of the set. */
static uint32_t operand(const vyre_segment_info *info, uint32_t at, uint32_t i)
{
    assert_true(5 + i < info->words[at] >> 16);
    return info->words[at + 5 + i];
}

static const uint32_t *definition(const vyre_segment_info *info, SpvOp op, uint32_t id)
{
    for (uint32_t at = 0; (at = next_of(info, at)) != 0;) {
        uint32_t place = op == SpvOpString ? 1 : 2;
        if ((info->words[at] & 0xffff) == (uint32_t)op && info->words[at + place] == id) {
            return info->words + at;
        }
    }
    fail_msg("%%%u is not there", id);
    return NULL;
}

static const char *string_of(const vyre_segment_info *info, uint32_t id)
{
    return (const char *)(definition(info, SpvOpString, id) + 2);
}

static uint32_t number_of(const vyre_segment_info *info, uint32_t id)
{
    return definition(info, SpvOpConstant, id)[3];
}

/* The instruction of the set whose first operand is that name. */
static uint32_t find_named(const vyre_segment_info *info, uint32_t number, const char *name)
{
    uint32_t found[MOST], count = find_all(info, number, found);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(string_of(info, operand(info, found[i], 0)), name) == 0) {
            return found[i];
        }
    }
    fail_msg("nothing of number %u is named %s", number, name);
    return 0;
}

/* ---- No other word --------------------------------------------------------------------------- */

/* Names, lines, and whatever has an id beyond those of the plain module, whose bound it takes. */
static uint32_t strip(const vyre_segment_info *info, uint32_t bound, uint32_t *out)
{
    uint32_t count = 5;
    memcpy(out, info->words, 5 * sizeof *out);
    out[3] = bound;
    for (uint32_t at = 0; (at = next_of(info, at)) != 0;) {
        const uint32_t *words = info->words + at;
        uint32_t op = words[0] & 0xffff, length = words[0] >> 16;
        bool is_debug = op == SpvOpName || op == SpvOpMemberName || op == SpvOpLine ||
                        op == SpvOpString || (op == SpvOpExtInstImport && words[1] >= bound) ||
                        ((op == SpvOpConstant || op == SpvOpExtInst) && words[2] >= bound) ||
                        (op == SpvOpExtension &&
                         strcmp((const char *)(words + 1), "SPV_KHR_non_semantic_info") == 0);
        if (!is_debug) {
            memcpy(out + count, words, length * sizeof *out);
            count += length;
        }
    }
    return count;
}

static void check_same(const char *what, const vyre_program *program, vyre_kernel_params params)
{
    vyre_kernel *plain = compile(program, &params);
    for (int level = VYRE_DEBUG_INFO_LINES; level <= VYRE_DEBUG_INFO_FULL; level++) {
        params.debug = level;
        vyre_kernel *told = compile(program, &params);
        for (uint32_t s = 0; s < vyre_kernel_segment_count(plain); s++) {
            vyre_segment_info a = segment_of(plain, s), b = segment_of(told, s);
            uint32_t *rest = malloc(b.word_count * sizeof *rest);
            assert_non_null(rest);
            assert_true(b.word_count > a.word_count);
            assert_int_equal(b.instruction_count, a.instruction_count);
            uint32_t count = strip(&b, a.words[3], rest);
            if (count != a.word_count || memcmp(rest, a.words, count * sizeof *rest) != 0) {
                fail_msg("%s: level %d changes other words", what, level);
            }
            free(rest);
            check_valid(what, params.target, &b);
        }
        vyre_kernel_destroy(&told);
    }
    vyre_kernel_destroy(&plain);
}

static void check_all(const char *what, const char *text, size_t size)
{
    vyre_program *program = parse(text, size, "a/what.vyre");
    for (int i = 0; i < 4; i++) {
        check_same(what, program,
                   (vyre_kernel_params){
                       .target = i & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
                       .interface = i & 2 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                       .aliased = i == 3});
    }
    vyre_program_destroy(&program);
}

static void test_debug_information_changes_no_other_word(void **state)
{
    (void)state;
    char text[SHAPE_SIZE];
    check_all("calls", calls, strlen(calls));
    for (uint32_t i = 0; shape_text(i, 64, text); i++) {
        check_all(text, text, strlen(text));
    }
    for (uint64_t seed = 1; seed <= 40; seed++) {
        vy_text made;
        vy_generated info;
        char what[40];
        vy_text_init(&made, NULL);
        vy_generate(seed, &made, &info);
        snprintf(what, sizeof what, "seed %u", (unsigned)seed);
        check_all(what, made.data, made.size);
        vy_text_finish(&made);
    }
}

/* ---- What it says ---------------------------------------------------------------------------- */

static const vyre_kernel_params full = {.debug = VYRE_DEBUG_INFO_FULL};

static void test_debug_information_has_the_text(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), "some/where/sums.vyre");
    vyre_kernel *kernel = compile(program, &full);
    vyre_segment_info info = segment_of(kernel, 0);
    uint32_t found[MOST];
    assert_int_equal(find_all(&info, IS(DebugSource), found), 1);
    assert_string_equal(string_of(&info, operand(&info, found[0], 0)), "sums.vyre");
    assert_string_equal(string_of(&info, operand(&info, found[0], 1)), calls);
    assert_int_equal(find_all(&info, IS(DebugSourceContinued), found), 0);
    assert_int_equal(find_all(&info, IS(DebugCompilationUnit), found), 1);
    assert_int_equal(find_all(&info, IS(DebugEntryPoint), found), 1);
    assert_int_equal(find_all(&info, IS(DebugFunctionDefinition), found), 2); /* main, the body */
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

/* A text of more than an instruction can hold, of characters of two bytes so that a cut might fall
 * into one. */
static void test_long_texts_are_continued(void **state)
{
    (void)state;
    static const char head[] = "program long\n// ", line[] = "\n// ",
                      tail[] = "\nout y : u32[1]\nkernel { y[0] = 7 }\n";
    const size_t size = 600000;
    char *text = malloc(size + sizeof tail);
    assert_non_null(text);
    size_t at = sizeof head - 1;
    memcpy(text, head, at);
    while (at + 200 < size) {
        for (int i = 0; i < 40; i++, at += 2) {
            memcpy(text + at, "\xc3\xa9", 2);
        }
        memcpy(text + at, line, sizeof line - 1);
        at += sizeof line - 1;
    }
    memcpy(text + at, tail, sizeof tail);
    vyre_program *program = parse(text, strlen(text), NULL);
    vyre_kernel *kernel = compile(program, &full);
    vyre_segment_info info = segment_of(kernel, 0);
    uint32_t first[MOST], more[MOST];
    assert_int_equal(find_all(&info, IS(DebugSource), first), 1);
    uint32_t count = find_all(&info, IS(DebugSourceContinued), more);
    assert_int_equal(count, 2);
    char *joined = calloc(1, size + sizeof tail);
    assert_non_null(joined);
    strcat(joined, string_of(&info, operand(&info, first[0], 1)));
    for (uint32_t i = 0; i < count; i++) {
        const char *piece = string_of(&info, operand(&info, more[i], 0));
        assert_int_not_equal((unsigned char)piece[0] & 0xc0, 0x80); /* no half of a character */
        strcat(joined, piece);
    }
    assert_string_equal(joined, text);
    check_valid("long", VYRE_TARGET_VULKAN_1_3, &info);
    free(joined);
    free(text);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static uint32_t result_of(const vyre_segment_info *info, uint32_t at)
{
    return info->words[at + 2];
}

static void test_inlined_calls_are_told(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), "sums.vyre");
    vyre_kernel *kernel = compile(program, &full);
    vyre_segment_info info = segment_of(kernel, 0);
    uint32_t four = find_named(&info, IS(DebugFunction), "four");
    uint32_t twice = find_named(&info, IS(DebugFunction), "twice");
    uint32_t found[MOST], count = find_all(&info, IS(DebugInlinedAt), found), around = 0, inner = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = number_of(&info, operand(&info, found[i], 0));
        bool is_inner = info.words[found[i]] >> 16 > 7;
        if (line == 26) { /* the call of `four` stands in the kernel */
            assert_false(is_inner);
            around = result_of(&info, found[i]);
        } else { /* and in it both of `twice` */
            assert_int_equal(line, 17);
            assert_true(is_inner);
            assert_int_equal(operand(&info, found[i], 1), result_of(&info, four));
            assert_int_equal(operand(&info, found[i], 2), around);
            inner++;
        }
    }
    assert_int_not_equal(around, 0);
    assert_int_equal(inner, 2);
    /* Words of `twice` are in its scope, put in by one of the two. */
    count = find_all(&info, IS(DebugScope), found);
    uint32_t scopes = 0;
    for (uint32_t i = 0; i < count; i++) {
        scopes += operand(&info, found[i], 0) == result_of(&info, twice) &&
                  info.words[found[i]] >> 16 == 7;
    }
    assert_in_range(scopes, 2, 100);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void test_scopes_and_lines_are_those_of_the_text(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), "sums.vyre");
    vyre_kernel *kernel = compile(program, &full);
    vyre_segment_info info = segment_of(kernel, 0);
    uint32_t found[MOST], count = find_all(&info, IS(DebugLexicalBlock), found);
    bool has_region = false, has_loop = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = number_of(&info, operand(&info, found[i], 1));
        bool is_named = info.words[found[i]] >> 16 == 10;
        if (is_named) {
            assert_string_equal(string_of(&info, operand(&info, found[i], 4)), "sum");
            assert_int_equal(line, 24);
            has_region = true;
        }
        has_loop = has_loop || line == 25;
    }
    assert_true(has_region && has_loop);
    bool is_there[40] = {false};
    count = find_all(&info, IS(DebugLine), found);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = number_of(&info, operand(&info, found[i], 1));
        assert_int_equal(operand(&info, found[i], 1), operand(&info, found[i], 2));
        assert_in_range(line, 11, 34);
        is_there[line] = true;
    }
    static const uint32_t wanted[] = {12, 13, 14, 25, 26, 27, 28, 32, 33, 34};
    for (size_t i = 0; i < VY_COUNT_OF(wanted); i++) {
        if (!is_there[wanted[i]]) {
            fail_msg("no word is of line %u", wanted[i]);
        }
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void expect_variable(const vyre_segment_info *info, const char *name, uint32_t number,
                            uint32_t line, const char *type, bool has_value)
{
    uint32_t at = find_named(info, IS(DebugLocalVariable), name);
    uint32_t found[MOST], count = 0, values = 0;
    assert_int_equal(number_of(info, operand(info, at, 3)), line);
    for (uint32_t i = 0; (i = next_of(info, i)) != 0;) {
        if ((info->words[i] & 0xffff) == SpvOpExtInst &&
            info->words[i + 2] == operand(info, at, 1)) {
            assert_int_equal(info->words[i + 4], number);
            if (type) {
                assert_string_equal(string_of(info, operand(info, i, 0)), type);
            }
        }
    }
    count = find_all(info, has_value ? IS(DebugValue) : IS(DebugDeclare), found);
    for (uint32_t i = 0; i < count; i++) {
        values += operand(info, found[i], 0) == result_of(info, at);
    }
    if (!values) {
        fail_msg("%s has no value", name);
    }
}

static void test_variables_are_told_with_their_values(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), "sums.vyre");
    vyre_kernel *kernel = compile(program, &full);
    vyre_segment_info info = segment_of(kernel, 0);
    expect_variable(&info, "i", IS(DebugTypeBasic), 21, "u32", true);
    expect_variable(&info, "n", IS(DebugTypeBasic), 22, "u32", true);
    expect_variable(&info, "t", IS(DebugTypeArray), 23, NULL, false);
    expect_variable(&info, "e", IS(DebugTypeBasic), 25, "u32", true);
    expect_variable(&info, "m", IS(DebugTypeBasic), 26, "u32", true);
    expect_variable(&info, "v", IS(DebugTypeVector), 31, NULL, true);
    expect_variable(&info, "k", IS(DebugTypeBasic), 9, "u32", true);
    expect_variable(&info, "b", IS(DebugTypeBasic), 12, "u32", true);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"x", "y", "s"};
        uint32_t at = find_named(&info, IS(DebugGlobalVariable), names[i]);
        (void)definition(&info, SpvOpVariable, operand(&info, at, 7));
        assert_int_equal(number_of(&info, operand(&info, at, 3)), 6 + i);
    }
    vyre_kernel_destroy(&kernel);
    /* Pointers are no variables: those are told as not there. */
    vyre_kernel_params by_address = full;
    by_address.interface = VYRE_INTERFACE_ADDRESS;
    kernel = compile(program, &by_address);
    info = segment_of(kernel, 0);
    uint32_t none[MOST];
    assert_int_equal(find_all(&info, IS(DebugInfoNone), none), 1);
    uint32_t at = find_named(&info, IS(DebugGlobalVariable), "y");
    assert_int_equal(operand(&info, at, 7), result_of(&info, none[0]));
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void test_kernel_files_keep_debug_information(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), NULL);
    vyre_kernel *kernel = compile(program, &full), *again = NULL;
    const vyre_kernel *const all[] = {kernel};
    void *data = NULL;
    size_t size = 0;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_save(all, 1, NULL, &data, &size, &diag), VYRE_OK);
    /* From the file come the words that were made of the text, ... */
    assert_int_equal(vyre_kernel_load(data, size, &full, &again, &diag), VYRE_OK);
    assert_true(vyre_kernel_is_precompiled(again));
    vyre_segment_info a = segment_of(kernel, 0), b = segment_of(again, 0);
    assert_int_equal(a.word_count, b.word_count);
    assert_memory_equal(a.words, b.words, a.word_count * sizeof *a.words);
    vyre_kernel_destroy(&again);
    /* ... and no words of lines alone: these are compiled. */
    vyre_kernel_params lines = {.debug = VYRE_DEBUG_INFO_LINES};
    assert_int_equal(vyre_kernel_load(data, size, &lines, &again, &diag), VYRE_OK);
    assert_false(vyre_kernel_is_precompiled(again));
    vyre_kernel_destroy(&again);
    /* The file has the places of the text, and not the text. */
    vyre_kernel_params by_address = full;
    by_address.interface = VYRE_INTERFACE_ADDRESS;
    assert_int_equal(vyre_kernel_load(data, size, &by_address, &again, &diag), VYRE_OK);
    uint32_t found[MOST];
    b = segment_of(again, 0);
    assert_int_equal(find_all(&b, IS(DebugSource), found), 1);
    assert_int_equal(b.words[found[0]] >> 16, 6);
    assert_int_equal(number_of(&b, operand(&b, find_named(&b, IS(DebugLocalVariable), "m"), 3)),
                     26);
    check_valid("loaded", VYRE_TARGET_VULKAN_1_3, &b);
    vyre_kernel_destroy(&again);
    vyre_kernel_free_data(NULL, &data, size);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

/* ---- Needs ----------------------------------------------------------------------------------- */

static bool requires(const vyre_kernel *kernel, const char *name)
{
    const char *requirement;
    for (uint32_t i = 0; (requirement = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        if (strcmp(requirement, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_extension(const vyre_segment_info *info)
{
    for (uint32_t at = 0; (at = next_of(info, at)) != 0;) {
        if ((info->words[at] & 0xffff) == SpvOpExtension &&
            strcmp((const char *)(info->words + at + 1), "SPV_KHR_non_semantic_info") == 0) {
            return true;
        }
    }
    return false;
}

static void test_debug_information_needs_an_extension_before_vulkan_1_3(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), NULL);
    for (int target = 0; target < 2; target++) {
        for (int level = VYRE_DEBUG_INFO_NONE; level <= VYRE_DEBUG_INFO_FULL; level++) {
            vyre_kernel_params params = {
                .target = target ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3, .debug = level};
            vyre_kernel *kernel = compile(program, &params);
            vyre_segment_info info = segment_of(kernel, 0);
            bool is_wanted = target == 1 && level == VYRE_DEBUG_INFO_FULL;
            assert_int_equal(requires(kernel, "VK_KHR_shader_non_semantic_info"), is_wanted);
            assert_int_equal(has_extension(&info), is_wanted);
            assert_int_equal(set_of(&info) != 0, level == VYRE_DEBUG_INFO_FULL);
            vyre_kernel_destroy(&kernel);
        }
    }
    for (int level = -1; level <= 3; level += 4) {
        vyre_kernel_params params = {.debug = level};
        vyre_kernel *kernel = NULL;
        vyre_diag diag;
        assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, "VYRE_DEBUG_INFO_NONE"));
    }
    vyre_program_destroy(&program);
}

static void test_each_allocation_for_debug_information_may_fail(void **state)
{
    (void)state;
    vyre_program *program = parse(calls, strlen(calls), "sums.vyre");
    vyre_result result = VYRE_ERROR_OUT_OF_HOST_MEMORY;
    size_t n = 0;
    while (result != VYRE_OK) {
        vy_fail_allocator fail = {.fail_at = ++n};
        vyre_allocator allocator = vy_fail_allocator_get(&fail);
        vyre_kernel_params params = {.allocator = &allocator, .debug = VYRE_DEBUG_INFO_FULL};
        vyre_kernel *kernel = NULL;
        vyre_diag diag;
        result = vyre_kernel_compile(program, &params, &kernel, &diag);
        if (result != VYRE_OK) {
            assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(kernel);
        }
        vyre_kernel_destroy(&kernel);
        assert_int_equal(fail.live_blocks, 0);
    }
    assert_in_range(n, 5, 10000);
    vyre_program_destroy(&program);
}

/* ---- Stored assembly ------------------------------------------------------------------------- */

static void check_golden(const char *name, const vyre_kernel_params *params)
{
    vyre_program *program = parse(calls, strlen(calls), "sums.vyre");
    vyre_kernel *kernel = compile(program, params);
    vyre_segment_info info = segment_of(kernel, 0);
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    spv_text text = NULL;
    assert_int_equal(
        spvBinaryToText(context, info.words, info.word_count,
                        SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT,
                        &text, NULL),
        SPV_SUCCESS);
    char path[512];
    snprintf(path, sizeof path, "%s/tests/kernel/golden/%s.spvasm", VYRE_SOURCE_DIR, name);
    if (getenv("VYRE_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text->str, 1, text->length, file), text->length);
        assert_int_equal(fclose(file), 0);
    }
    char *stored = calloc(1, text->length + 2);
    FILE *file = fopen(path, "rb");
    if (!file || !stored) {
        fail_msg("%s is missing: write it with VYRE_UPDATE_GOLDEN=1", path);
    }
    size_t size = fread(stored, 1, text->length + 1, file);
    fclose(file);
    if (size != text->length || memcmp(stored, text->str, size) != 0) {
        print_error("%s\n", text->str);
        fail_msg("%s differs: look, then rewrite it with VYRE_UPDATE_GOLDEN=1", path);
    }
    free(stored);
    spvTextDestroy(text);
    spvContextDestroy(context);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void test_debug_information_matches_stored_assembly(void **state)
{
    (void)state;
    vyre_kernel_params old = full;
    old.target = VYRE_TARGET_VULKAN_1_2;
    old.interface = VYRE_INTERFACE_ADDRESS;
    check_golden("debug_info", &full);
    check_golden("debug_info.address.vulkan12", &old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debug_information_changes_no_other_word),
        cmocka_unit_test(test_debug_information_has_the_text),
        cmocka_unit_test(test_long_texts_are_continued),
        cmocka_unit_test(test_inlined_calls_are_told),
        cmocka_unit_test(test_scopes_and_lines_are_those_of_the_text),
        cmocka_unit_test(test_variables_are_told_with_their_values),
        cmocka_unit_test(test_kernel_files_keep_debug_information),
        cmocka_unit_test(test_debug_information_needs_an_extension_before_vulkan_1_3),
        cmocka_unit_test(test_each_allocation_for_debug_information_may_fail),
        cmocka_unit_test(test_debug_information_matches_stored_assembly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
