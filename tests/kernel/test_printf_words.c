/* Words of programs with printf statements: where nobody asked for lines they are those of the
 * program without them; where somebody did they print, by words alone, and are valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/base/printf.h"
#include "codegen/kernel.h"
#include "codegen/kernel_file.h"
#include "tests/kernel/kernel_file_support.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/validate_words.h"

#include <spirv/unified1/NonSemanticDebugPrintf.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PRINTF(x) stands for a statement, or for nothing. */
static const char *const sources[] = {
    "program one\nworkgroup 64\nin x : u32[]\nout y : u32[len(x)]\ngrid over x\nkernel {\n"
    "let v = x[gid.x]\nPRINTF(\"%u %lx\", v, 5)\ny[gid.x] = v * 2\n}\n",
    /* Values live across cuts for the line alone; segments of lines alone. */
    "program cuts\nworkgroup 8\nin x : u32[]\ninout y : u32[]\nkernel {\nPRINTF(\"begin\")\n"
    "let v = y[gid.x]\ny[gid.x] = 1\ngrid_sync\nPRINTF(\"%u\", v)\ngrid_sync\n"
    "for i in 0 .. 2 {\ny[gid.x] += 3\ngrid_sync\nPRINTF(\"%u\", i)\n}\nPRINTF(\"%u\", v)\n}\n",
    /* Types, shapes and functions of the tolerance table that nothing else uses. */
    "program types\nworkgroup 8\nin x : f32[]\nout y : f32[len(x)]\nkernel {\n"
    "PRINTF(\"%lf %lu %f %u %u\", f64(x[0]), u64(lid.x), sin(x[0]), lid.y, lane)\n"
    "y[gid.x] = x[gid.x]\n}\n",
    /* Control flow, and a store that is far from the front. */
    "program flow\nworkgroup 16\nin x : u32[]\ninout y : u32[]\nshared w : u32[16]\nkernel {\n"
    "if gid.x < len(x) {\nw[lid.x] = x[gid.x]\nPRINTF(\"%u\", w[lid.x])\n}\nbarrier\n"
    "for i in 0 .. 16 {\nif w[i] > 4 {\nPRINTF(\"%v2u\", u32x2(i, w[i]))\nbreak\n}\n"
    "y[gid.x] += w[i]\n}\n}\n",
    /* Coarse where it does not print. */
    "program map\nworkgroup 64\nin x : u32[]\nout y : u32[len(x)]\ngrid over x\nkernel {\n"
    "y[gid.x] = x[gid.x] + 1\nPRINTF(\"%u\", lid.x)\n}\n",
};

#define SOURCES (sizeof sources / sizeof *sources)

/* Lines stay the same lines. */
static void expand(const char *source, bool is_kept, char out[2048])
{
    size_t used = 0;
    for (const char *at = source; *at; at++) {
        if (strncmp(at, "PRINTF", 6) == 0) {
            if (is_kept) {
                memcpy(out + used, "printf", 6);
                used += 6;
                at += 5;
                continue;
            }
            at = strchr(at, '\n');
        }
        out[used++] = *at;
    }
    out[used] = '\0';
}

static const vyre_kernel_params choices[] = {
    {.target = VYRE_TARGET_VULKAN_1_3},
    {.target = VYRE_TARGET_VULKAN_1_2, .float_modes = VYRE_FLOAT_ALL},
    {.target = VYRE_TARGET_VULKAN_1_3, .interface = VYRE_INTERFACE_ADDRESS, .aliased = 1},
    {.target = VYRE_TARGET_VULKAN_1_2,
     .interface = VYRE_INTERFACE_ADDRESS,
     .debug = 1,
     .float_modes = VYRE_FLOAT_ALL},
};

static vyre_kernel *make(const char *source, bool is_kept, vyre_kernel_params params, int prints)
{
    char text[2048];
    expand(source, is_kept, text);
    params.struct_size = (uint32_t)sizeof params;
    params.prints = prints;
    return compile_text(text, &params);
}

static void same_segments(const vyre_kernel *a, const vyre_kernel *b)
{
    uint32_t count = vyre_kernel_segment_count(a);
    assert_int_equal(count, vyre_kernel_segment_count(b));
    assert_int_equal(vyre_kernel_spill_size(a), vyre_kernel_spill_size(b));
    assert_int_equal(vyre_kernel_is_inexact(a), vyre_kernel_is_inexact(b));
    for (uint32_t s = 0; s < count; s++) {
        const vy_kernel_segment *x = vy_kernel_get_segment(a, s), *y = vy_kernel_get_segment(b, s);
        assert_int_equal(x->word_count, y->word_count);
        assert_memory_equal(x->words, y->words, x->word_count * sizeof *x->words);
        assert_int_equal(x->reads, y->reads);
        assert_int_equal(x->writes, y->writes);
        assert_int_equal(x->line, y->line);
        assert_string_equal(x->label, y->label);
    }
    for (uint32_t i = 0;; i++) {
        const char *x = vyre_kernel_requirement(a, i), *y = vyre_kernel_requirement(b, i);
        assert_int_equal(x != NULL, y != NULL);
        if (!x) {
            break;
        }
        assert_string_equal(x, y);
    }
}

static void test_dropped_statements_leave_no_trace(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOURCES; i++) {
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
            vyre_kernel *with = make(sources[i], true, choices[c], 0);
            vyre_kernel *without = make(sources[i], false, choices[c], 0);
            vyre_kernel *asked = make(sources[i], false, choices[c], 1);
            same_segments(with, without);
            same_segments(asked, without);
            vyre_kernel_destroy(&with);
            vyre_kernel_destroy(&without);
            vyre_kernel_destroy(&asked);
        }
    }
}

/* Also in the words that a kernel makes later. */
static void test_dropped_statements_leave_no_trace_in_variants(void **state)
{
    (void)state;
    static const vy_variant variants[] = {
        {.interface = VYRE_INTERFACE_ADDRESS, .is_wide = true},
        {.interface = VYRE_INTERFACE_DESCRIPTOR, .is_whole = true},
        {.interface = VYRE_INTERFACE_ADDRESS, .is_persistent = true}};
    for (size_t i = 0; i < SOURCES; i++) {
        vyre_kernel *with = make(sources[i], true, choices[0], 0);
        vyre_kernel *without = make(sources[i], false, choices[0], 0);
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            const uint32_t *x, *y;
            uint32_t x_count, y_count;
            if (v > 0 && (v == 1 ? vy_kernel_workgroup_hindrance(with)
                                 : vy_kernel_persistent_hindrance(with))) {
                continue;
            }
            assert_int_equal(vy_kernel_variant(with, variants[v], 0, &x, &x_count, NULL), VYRE_OK);
            assert_int_equal(vy_kernel_variant(without, variants[v], 0, &y, &y_count, NULL),
                             VYRE_OK);
            assert_int_equal(x_count, y_count);
            assert_memory_equal(x, y, x_count * sizeof *x);
        }
        vyre_kernel_destroy(&with);
        vyre_kernel_destroy(&without);
    }
}

/* ---- Words that print ------------------------------------------------------------------------ */

static uint32_t find(const vy_kernel_segment *s, uint32_t at, uint32_t op)
{
    for (at = at ? at + (s->words[at] >> 16) : 5; at < s->word_count; at += s->words[at] >> 16) {
        if ((s->words[at] & 0xffff) == op) {
            return at;
        }
    }
    return 0;
}

static uint32_t import_of(const vy_kernel_segment *s, const char *name)
{
    for (uint32_t at = 0; (at = find(s, at, SpvOpExtInstImport)) != 0;) {
        if (strcmp((const char *)&s->words[at + 2], name) == 0) {
            return s->words[at + 1];
        }
    }
    return 0;
}

static uint32_t count_prints(const vy_kernel_segment *s)
{
    uint32_t set = import_of(s, "NonSemantic.DebugPrintf"), count = 0;
    for (uint32_t at = 0; set && (at = find(s, at, SpvOpExtInst)) != 0;) {
        bool is_one = s->words[at + 3] == set;
        assert_true(!is_one || s->words[at + 4] == NonSemanticDebugPrintfDebugPrintf);
        count += is_one;
    }
    return count;
}

static uint32_t count_in(const char *text, const char *part)
{
    uint32_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text++) {
        count++;
    }
    return count;
}

static void test_every_statement_prints_once(void **state)
{
    (void)state;
    bool (*judge)(const uint32_t *, uint32_t, vyre_target, char *, size_t) = vy_validate_words;
    for (size_t i = 0; i < SOURCES; i++) {
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
            vyre_kernel *kernel = make(sources[i], true, choices[c], 1);
            uint32_t count = 0;
            for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
                char message[512] = "";
                const vy_kernel_segment *segment = vy_kernel_get_segment(kernel, s);
                if (judge && !judge(segment->words, segment->word_count, choices[c].target, message,
                                    sizeof message)) {
                    fail_msg("source %zu, choice %zu: %s", i, c, message);
                }
                count += count_prints(segment);
            }
            assert_int_equal(count, count_in(sources[i], "PRINTF"));
            vyre_kernel_destroy(&kernel);
        }
    }
}

static void test_a_statement_has_one_string(void **state)
{
    (void)state;
    const char *text = "program twice\nworkgroup 1\n"
                       "fn f(x: u32) { printf(\"%u of 100%%\", x) }\n"
                       "kernel { f(gid.x) f(2) printf(\"end\") }\n";
    vyre_kernel *kernel = compile_text(text, &(vyre_kernel_params){.prints = 1});
    const vy_kernel_segment *s = vy_kernel_get_segment(kernel, 0);
    uint32_t strings = 0;
    for (uint32_t at = 0; (at = find(s, at, SpvOpString)) != 0;) {
        strings++;
        const char *string = (const char *)&s->words[at + 2];
        assert_int_equal(strncmp(string, "vyre-printf twice:", 18), 0);
        assert_non_null(strstr(string, " segment 0 pass %u execution %u invocation %u ["));
    }
    assert_int_equal(strings, 2);
    assert_int_equal(count_prints(s), 3);
    vyre_kernel_destroy(&kernel);
}

/* Both are of NonSemantic sets, and ask for one extension. */
static void test_debug_information_stands_beside_it(void **state)
{
    (void)state;
    bool (*judge)(const uint32_t *, uint32_t, vyre_target, char *, size_t) = vy_validate_words;
    for (size_t i = 0; i < SOURCES; i++) {
        for (int is_old = 0; is_old < 2; is_old++) {
            char message[512] = "";
            vyre_target target = is_old ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3;
            vyre_kernel *kernel =
                make(sources[i], true,
                     (vyre_kernel_params){.target = target, .debug = VYRE_DEBUG_INFO_FULL}, 1);
            const vy_kernel_segment *s = vy_kernel_get_segment(kernel, 0);
            uint32_t extensions = 0;
            for (uint32_t at = 0; (at = find(s, at, SpvOpExtension)) != 0;) {
                extensions +=
                    strcmp((const char *)&s->words[at + 1], "SPV_KHR_non_semantic_info") == 0;
            }
            assert_int_equal(extensions, is_old);
            assert_true(count_prints(s) > 0);
            if (judge && !judge(s->words, s->word_count, target, message, sizeof message)) {
                fail_msg("source %zu: %s", i, message);
            }
            vyre_kernel_destroy(&kernel);
        }
    }
}

static void test_old_targets_ask_for_the_extension(void **state)
{
    (void)state;
    for (int is_old = 0; is_old < 2; is_old++) {
        vyre_kernel *kernel = make(sources[0], true,
                                   (vyre_kernel_params){.target = is_old ? VYRE_TARGET_VULKAN_1_2
                                                                         : VYRE_TARGET_VULKAN_1_3},
                                   1);
        int found = 0;
        const char *name;
        for (uint32_t i = 0; (name = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
            found += strcmp(name, "VK_KHR_shader_non_semantic_info") == 0;
        }
        assert_int_equal(found, is_old);
        vyre_kernel_destroy(&kernel);
    }
}

/* What does several elements an invocation, or all segments at once, has no words that print. */
static void test_kernels_that_print_have_plain_words_alone(void **state)
{
    (void)state;
    vy_kernel_coarse coarse;
    vyre_kernel *kernel = make(sources[4], true, choices[0], 0);
    assert_int_equal(vy_kernel_coarsen(kernel, VYRE_INTERFACE_DESCRIPTOR, false, &coarse, NULL),
                     VYRE_OK);
    assert_true(coarse.elements && coarse.elements[0] > 1);
    assert_null(vy_kernel_workgroup_hindrance(kernel));
    assert_null(vy_kernel_persistent_hindrance(kernel));
    vyre_kernel_destroy(&kernel);
    kernel = make(sources[4], true, choices[0], 1);
    assert_int_equal(vy_kernel_coarsen(kernel, VYRE_INTERFACE_DESCRIPTOR, false, &coarse, NULL),
                     VYRE_OK);
    assert_null(coarse.elements);
    assert_non_null(vy_kernel_workgroup_hindrance(kernel));
    assert_non_null(vy_kernel_persistent_hindrance(kernel));
    vyre_kernel_destroy(&kernel);
}

/* Workgroups that store nothing still print. */
static void test_extents_count_lines(void **state)
{
    (void)state;
    const char *source = "program far\nworkgroup 8\nparam n : u32\ninout y : u32[]\nkernel {\n"
                         "if gid.x < n { y[gid.x] = 1 }\nPRINTF(\"%u\", gid.x)\n}\n";
    for (int prints = 0; prints < 2; prints++) {
        vyre_kernel *kernel = make(source, true, choices[0], prints);
        const uint32_t n = 9, length = 100;
        const vy_kernel_env env = {
            .params = &n, .lengths = &length, .groups = {50, 1, 1}, .workgroup = {8, 1, 1}};
        uint32_t groups[3];
        vy_kernel_extent(kernel, &env, &(vy_execution){0}, groups);
        assert_int_equal(groups[0], prints ? 50 : 2);
        vyre_kernel_destroy(&kernel);
    }
}

static void test_params_are_checked(void **state)
{
    (void)state;
    vyre_program *program = parse_text(small_text, strlen(small_text));
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    const vyre_kernel_params params = {.struct_size = sizeof params, .prints = 2};
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "Fix: use 0 or 1"));
    vyre_program_destroy(&program);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    char text[2048];
    expand(sources[1], true, text);
    vyre_program *program = parse_text(text, strlen(text));
    for (uint32_t fail_at = 1;; fail_at++) {
        vy_fail_allocator memory = {.fail_at = fail_at};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_kernel *kernel = NULL;
        const vyre_kernel_params params = {
            .struct_size = sizeof params, .allocator = &allocator, .prints = 1};
        vyre_result result = vyre_kernel_compile(program, &params, &kernel, NULL);
        vyre_kernel_destroy(&kernel);
        assert_int_equal(memory.live_blocks, 0);
        if (result == VYRE_OK) {
            break;
        }
        assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
    }
    vyre_program_destroy(&program);
}

/* ---- Kernel files ---------------------------------------------------------------------------- */

static void test_files_hold_the_statement_and_no_words_of_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOURCES; i++) {
        vyre_kernel *kernel = make(sources[i], true, choices[0], 0);
        vyre_kernel *fresh = make(sources[i], true, choices[0], 1);
        bytes file = save_kernels((const vyre_kernel *const[]){kernel}, 1);
        vyre_kernel *loaded = load_kernel(file, NULL);
        assert_true(vyre_kernel_is_precompiled(loaded));
        same_segments(loaded, kernel);
        vyre_kernel_destroy(&loaded);
        /* Who asks for lines has the program compiled. */
        loaded = load_kernel(file, &(vyre_kernel_params){.prints = 1});
        assert_false(vyre_kernel_is_precompiled(loaded));
        same_segments(loaded, fresh);
        vyre_kernel_destroy(&loaded);
        drop_bytes(&file);
        vyre_kernel_destroy(&kernel);
        vyre_kernel_destroy(&fresh);
    }
}

static void test_kernels_that_print_are_not_saved(void **state)
{
    (void)state;
    vyre_kernel *kernel = make(sources[0], true, choices[0], 1);
    void *data = NULL;
    size_t size = 0;
    vyre_diag diag;
    assert_int_equal(
        vyre_kernel_save((const vyre_kernel *const[]){kernel}, 1, NULL, &data, &size, &diag),
        VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(data);
    assert_non_null(strstr(diag.message, "prints"));
    assert_non_null(strstr(diag.message, ". Fix: compile it without"));
    vyre_kernel_destroy(&kernel);
}

/* Every byte of the program in a file changed, with a checksum that is right again: an error, or a
 * kernel of that other program, whose lines stay within what a format may be. */
static void test_hostile_formats_are_refused(void **state)
{
    (void)state;
    vyre_kernel *kernel = make(sources[0], true, choices[0], 0);
    bytes file = save_kernels((const vyre_kernel *const[]){kernel}, 1);
    const char *format = NULL;
    for (size_t i = 0; i + 8 < file.size && !format; i++) {
        format =
            memcmp(file.data + i, "printf(\"", 8) == 0 ? (const char *)file.data + i + 8 : NULL;
    }
    assert_non_null(format);
    size_t at = (size_t)(format - (const char *)file.data);
    for (size_t i = at - 8; i < at + 16; i++) {
        unsigned char kept = file.data[i];
        for (unsigned value = 0; value < 256; value++) {
            vyre_kernel *other = NULL;
            vyre_diag diag;
            file.data[i] = (unsigned char)value;
            uint64_t sum = vy_kernel_file_checksum(file.data, file.size);
            for (uint32_t b = 0; b < 8; b++) {
                file.data[16 + b] = (unsigned char)(sum >> (8 * b));
            }
            for (int prints = 0; prints < 2; prints++) {
                const vyre_kernel_params params = {.struct_size = sizeof params, .prints = prints};
                vyre_result result = vyre_kernel_load(file.data, file.size, &params, &other, &diag);
                assert_int_equal(result == VYRE_OK, other != NULL);
                /* In place of a blank between words may stand others, or a zero before a number. */
                bool is_free = kept == ' ' && i >= at + 8;
                if (!is_free && (result == VYRE_OK) != (value == kept)) {
                    fail_msg("byte %zu of %.24s: 0x%02x gives %d", i - at + 8, format - 8, value,
                             (int)result);
                }
                vyre_kernel_destroy(&other);
            }
        }
        file.data[i] = kept;
    }
    drop_bytes(&file);
    vyre_kernel_destroy(&kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped_statements_leave_no_trace),
        cmocka_unit_test(test_dropped_statements_leave_no_trace_in_variants),
        cmocka_unit_test(test_every_statement_prints_once),
        cmocka_unit_test(test_a_statement_has_one_string),
        cmocka_unit_test(test_debug_information_stands_beside_it),
        cmocka_unit_test(test_old_targets_ask_for_the_extension),
        cmocka_unit_test(test_kernels_that_print_have_plain_words_alone),
        cmocka_unit_test(test_extents_count_lines),
        cmocka_unit_test(test_params_are_checked),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_files_hold_the_statement_and_no_words_of_it),
        cmocka_unit_test(test_kernels_that_print_are_not_saved),
        cmocka_unit_test(test_hostile_formats_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
