/* The assembly of printf statements is the stored one. VYRE_UPDATE_GOLDEN=1 stores anew. */
#include "judge.h"

#include "codegen/passes/ssa.h"
#include "codegen/spirv/spirv.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static const char text[] = "program lines\nworkgroup 64\nin x : u32[]\ninout y : f32[]\nkernel {\n"
                           "    let v = x[gid.x]\n"
                           "    if v > 5 { printf(\"%u %-8.3f 100%%\", v, y[gid.x]) }\n"
                           "    printf(\"%lu %v2f\", u64(v), f32x2(1.0, y[0]))\n"
                           "    y[gid.x] = 1.0\n"
                           "}\n";

static void check(vyre_target target, vyre_interface interface, vy_prints prints, const char *name)
{
    vy_arena arena;
    vyre_program *program = NULL;
    vyre_diag diag;
    vy_split split;
    vy_ssa ssa;
    vy_access access;
    uint32_t pass_count, count, *words;
    const vy_pass *passes = vy_passes_get(&pass_count);
    const vy_pass_context context = {0};
    vy_arena_init(&arena, NULL);
    if (vyre_program_parse(text, strlen(text), "lines", NULL, &program, &diag) != VYRE_OK ||
        vy_split_program(program, prints, &arena, &split, &diag) != VYRE_OK ||
        vy_ssa_build(program, &split, 0, &arena, &arena, &ssa, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    for (uint32_t p = 0; p < pass_count; p++) {
        assert_true(passes[p].run(&ssa, &context));
        assert_null(vy_ssa_verify(&ssa));
    }
    vy_ssa_access(&ssa, &access);
    const vy_spirv_options options = {.target = target,
                                      .interface = interface,
                                      .agnostic = true,
                                      .entry_name = "main",
                                      .module_writes = access.writes};
    if (vy_spirv_emit(&ssa, &access, &options, &arena, &words, &count, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    judge_valid(words, count, target);
    judge_golden(words, count, name);
    vy_arena_finish(&arena);
    vyre_program_destroy(&program);
}

static void test_words_match_stored_assembly(void **state)
{
    (void)state;
    check(VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR, VY_PRINTS_KEPT, "printf");
    check(VYRE_TARGET_VULKAN_1_2, VYRE_INTERFACE_ADDRESS, VY_PRINTS_KEPT,
          "printf.address.vulkan12");
    check(VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR, VY_PRINTS_DROPPED, "printf.dropped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_match_stored_assembly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
