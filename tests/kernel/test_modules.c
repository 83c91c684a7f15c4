/* What the whole compiler makes is accepted by spirv-val for its target: control flow of every
 * shape, generated programs, in both forms, with and without debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernel/shapes.h"
#include "tests/support/generate.h"
#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <string.h>

#ifdef VYRE_HAVE_SPIRV_TOOLS
#include <spirv-tools/libspirv.h>

static void check_words(const char *what, vyre_target target, const vyre_segment_info *info)
{
    spv_context context = spvContextCreate(target == VYRE_TARGET_VULKAN_1_2 ? SPV_ENV_VULKAN_1_2
                                                                            : SPV_ENV_VULKAN_1_3);
    spv_const_binary_t binary = {info->words, info->word_count};
    spv_diagnostic diagnostic = NULL;
    if (spvValidate(context, &binary, &diagnostic) != SPV_SUCCESS) {
        fail_msg("%s: %s", what, diagnostic ? diagnostic->error : "not valid");
    }
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
}
#else
#error "this test needs SPIRV-Tools"
#endif

static void check_text(const char *what, const char *text, size_t size)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, size, NULL, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%s: %u:%u: %s", what, diag.line, diag.column, diag.message);
    }
    for (int variant = 0; variant < 8; variant++) {
        vyre_kernel_params params = {
            .target = variant & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
            .interface = variant & 4 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
            .debug = variant >> 1 & 1 ? VYRE_DEBUG_INFO_FULL : VYRE_DEBUG_INFO_NONE,
            .aliased = variant >> 1 & 1};
        vyre_kernel *kernel = NULL;
        if (vyre_kernel_compile(program, &params, &kernel, &diag) != VYRE_OK) {
            fail_msg("%s: %s", what, diag.message);
        }
        for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
            vyre_segment_info info;
            vyre_kernel_segment(kernel, s, &info);
            check_words(what, params.target, &info);
        }
        vyre_kernel_destroy(&kernel);
    }
    vyre_program_destroy(&program);
}

static void test_modules_of_every_shape_are_valid(void **state)
{
    (void)state;
    char text[SHAPE_SIZE];
    for (uint32_t i = 0; shape_text(i, 64, text); i++) {
        check_text(text, text, strlen(text));
    }
}

static void test_modules_of_generated_programs_are_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        vy_text text;
        vy_generated info;
        char what[40];
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        snprintf(what, sizeof what, "seed %u", (unsigned)seed);
        check_text(what, text.data, text.size);
        vy_text_finish(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules_of_every_shape_are_valid),
        cmocka_unit_test(test_modules_of_generated_programs_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
