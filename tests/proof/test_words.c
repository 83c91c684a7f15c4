/* Everything that is emitted: each program of shaders/ and generated ones, for both targets, in
 * both forms, aliased and not, passes spirv-val and the judge of words, and is the same bytes when
 * compiled again. */
#include "codegen/kernel.h"
#include "tests/support/differential.h"
#include "tests/support/lint.h"
#include "tools/common/validate.h"
#include "vyre/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 150u

static void check_module(spv_context context, const char *name, uint32_t segment,
                         const vyre_segment_info *info, const vy_lint_expectation *expectation)
{
    spv_diagnostic diagnostic = NULL;
    char message[256];
    if (vy_spirv_validate(context, info->words, info->word_count, &diagnostic) != SPV_SUCCESS) {
        fail_msg("%s, segment %u, target %d: spirv-val: %s", name, segment,
                 (int)expectation->target, diagnostic ? diagnostic->error : "?");
    }
    spvDiagnosticDestroy(diagnostic);
    if (vy_lint(info->words, info->word_count, expectation, message, sizeof message)) {
        fail_msg("%s, segment %u, target %d: %s", name, segment, (int)expectation->target, message);
    }
}

/* Those that large grids take, where there are such; returns how many segments have them. `ways`:
 * VY_WAY_*. */
static uint32_t check_coarse(spv_context context, const char *name, const vyre_kernel *kernel,
                             const vy_lint_expectation *expectation, uint32_t ways)
{
    vyre_diag diag;
    vy_kernel_coarse coarse;
    vy_lint_expectation expected = *expectation;
    uint32_t found = 0;
    vy_variant variant = {.interface = expectation->interface,
                          .is_coarse = true,
                          .is_long = (ways & VY_WAY_LONG) != 0};
    if (vy_kernel_coarsen(kernel, expectation->interface, ways, &coarse, &diag) != VYRE_OK) {
        fail_msg("%s: %s", name, diag.message);
    }
    expected.aliased = false;
    for (uint32_t s = 0; coarse.elements && s < vyre_kernel_segment_count(kernel); s++) {
        vyre_segment_info info = {0};
        if (vy_kernel_variant(kernel, variant, s, &info.words, &info.word_count, &diag) !=
            VYRE_OK) {
            fail_msg("%s: %s", name, diag.message);
        }
        vyre_segment_info plain = {0};
        variant.is_coarse = false;
        if (vy_kernel_variant(kernel, variant, s, &plain.words, &plain.word_count, &diag) !=
            VYRE_OK) {
            fail_msg("%s: %s", name, diag.message);
        }
        variant.is_coarse = true;
        /* Fewer invocations, or accesses of neighbours at once. */
        expected.coarse = info.word_count != plain.word_count ||
                          memcmp(info.words, plain.words, info.word_count * 4) != 0;
        assert_true(expected.coarse || coarse.elements[s] == 1);
        expected.joins = coarse.elements[s] > 1;
        found += expected.coarse;
        check_module(context, name, s, &info, &expected);
    }
    return found;
}

/* Returns how many coarse segments it has, in all choices. */
static uint32_t check_program(spv_context contexts[2], const char *name,
                              const vyre_program *program)
{
    uint32_t coarse = 0;
    for (uint32_t variant = 0; variant < 8; variant++) {
        bool is_joined = variant == 3 || variant == 6;
        vyre_kernel_params params = {
            .struct_size = sizeof params,
            .target = variant & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
            .interface = variant & 4 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
            .aliased = variant >> 1 & 1,
            .reconvergence = is_joined ? VYRE_RECONVERGENCE_MAXIMAL : VYRE_RECONVERGENCE_NONE,
            .aggregate = is_joined ? VYRE_AGGREGATE_ALL : 0,
            .float_modes = variant & 1 ? 0 : VYRE_FLOAT_ROUNDING_RTE | VYRE_FLOAT_DENORM_PRESERVE};
        vyre_kernel *kernel = NULL, *again = NULL;
        vyre_diag diag;
        if (vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK ||
            vyre_kernel_compile(program, &params, &again, &diag) != VYRE_OK) {
            fail_msg("%s: %s", name, diag.message);
        }
        vy_lint_expectation expectation = {.target = params.target,
                                           .float_modes = params.float_modes,
                                           .aliased = params.aliased,
                                           .binding_count = vyre_kernel_binding_count(kernel),
                                           .interface = params.interface,
                                           .param_count = vyre_kernel_param_words(kernel)};
        for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
            vyre_segment_info info, same;
            vyre_kernel_segment(kernel, s, &info);
            vyre_kernel_segment(again, s, &same);
            check_module(contexts[variant & 1], name, s, &info, &expectation);
            assert_int_equal(info.word_count, same.word_count);
            assert_memory_equal(info.words, same.words, info.word_count * sizeof *info.words);
        }
        coarse += check_coarse(contexts[variant & 1], name, kernel, &expectation, 0);
        (void)check_coarse(contexts[variant & 1], name, kernel, &expectation, VY_WAY_LONG);
        vyre_kernel_destroy(&kernel);
        vyre_kernel_destroy(&again);
    }
    return coarse;
}

static uint32_t check_text(spv_context contexts[2], const char *name, const char *text, size_t size)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, size, name, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%s:%u:%u: %s", name, diag.line, diag.column, diag.message);
    }
    uint32_t coarse = check_program(contexts, name, program);
    vyre_program_destroy(&program);
    return coarse;
}

static void make_contexts(spv_context contexts[2])
{
    contexts[0] = spvContextCreate(SPV_ENV_VULKAN_1_3);
    contexts[1] = spvContextCreate(SPV_ENV_VULKAN_1_2);
}

static void test_words_of_the_program_library(void **state)
{
    (void)state;
    spv_context contexts[2];
    uint32_t count = 0;
    DIR *folder = opendir(VYRE_SOURCE_DIR "/shaders");
    assert_non_null(folder);
    make_contexts(contexts);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[1024], *text;
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".vyre") != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/shaders/%s", VYRE_SOURCE_DIR, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        text = malloc(1 << 20);
        assert_non_null(text);
        size_t size = fread(text, 1, 1 << 20, file);
        fclose(file);
        (void)check_text(contexts, entry->d_name, text, size);
        free(text);
        count++;
    }
    closedir(folder);
    spvContextDestroy(contexts[0]);
    spvContextDestroy(contexts[1]);
    assert_true(count >= 8);
}

static void test_words_of_generated_programs(void **state)
{
    (void)state;
    spv_context contexts[2];
    make_contexts(contexts);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_text text;
        vy_generated info;
        char name[32];
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        snprintf(name, sizeof name, "seed %u", (unsigned)seed);
        (void)check_text(contexts, name, text.data, text.size);
        vy_text_finish(&text);
    }
    spvContextDestroy(contexts[0]);
    spvContextDestroy(contexts[1]);
}

/* One segment of each of these is coarse in every choice. */
static void test_words_of_coarse_segments(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "y[gid.x] = x[gid.x] * 3\n",
        "y[gid.x] = y[gid.x] + x[gid.x]\natomic_add(k[1], x[gid.x])\n",
        "if x[gid.x] > 3 { if m[gid.x] > 1 { y[gid.x] = 3 } }\n",
        "d[gid.x] = i64(x[gid.x]) * d[gid.x]\n",
        "if m[gid.x] == 1 { atomic_max(k[0], 7) }\n",
        "h[gid.x] = h[gid.x] + h[gid.x] / 3.0h\nb[gid.x] = f32(m[gid.x])\n",
        "let o = atomic_add(k[0], x[gid.x])\ny[gid.x] = y[gid.x] ^ o\n",
        "if x[gid.x] > 3 { let o = atomic_add(k[1], 1)\ny[o] = x[gid.x] }\n",
    };
    spv_context contexts[2];
    make_contexts(contexts);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[1024];
        int size = snprintf(text, sizeof text,
                            "program c\nin x : u32[]\nin m : u8[]\ninout y : u32[]\n"
                            "inout d : i64[]\ninout h : f16[]\ninout b : bf16[]\n"
                            "inout k : u32[2]\nkernel {\n%s}\n",
                            bodies[i]);
        assert_int_equal(check_text(contexts, "coarse", text, (size_t)size), 8);
    }
    spvContextDestroy(contexts[0]);
    spvContextDestroy(contexts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_the_program_library),
        cmocka_unit_test(test_words_of_generated_programs),
        cmocka_unit_test(test_words_of_coarse_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
