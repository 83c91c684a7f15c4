/* What the passes prove is left out of the words, and nothing else is: opcodes counted in modules
 * of small kernels, each beside one where the proof fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vyre/kernel.h"
#include "vyre/text.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <string.h>

/* Of segment 0. */
static uint32_t count_op(const char *statements, uint32_t op)
{
    char text[1000];
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vyre_segment_info info;
    uint32_t count = 0;
    snprintf(text, sizeof text,
             "program t\nworkgroup 64\nin x : u32[]\ninout y : u32[]\ninout n : i32[]\n"
             "shared w : u32[64]\nparam k : u32\nconst T : u32[] = [5, 6, 7]\nkernel {\n%s\n}\n",
             statements);
    if (vyre_program_parse(text, strlen(text), NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    vyre_kernel_segment(kernel, 0, &info);
    for (uint32_t at = 5; at < info.word_count; at += info.words[at] >> 16) {
        count += (info.words[at] & 0xffff) == op;
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    return count;
}

/* So many fewer in the first than in the second. */
static void expect_fewer(const char *proved, const char *open, uint32_t op, uint32_t fewer)
{
    uint32_t a = count_op(proved, op), b = count_op(open, op);
    if (a + fewer != b) {
        fail_msg("%s\nhas %u of opcode %u, and\n%s\nhas %u", proved, (unsigned)a, (unsigned)op,
                 open, (unsigned)b);
    }
}

static void test_accesses_in_bounds_have_no_check(void **state)
{
    (void)state;
    /* A store that is checked is a selection of its own. */
    expect_fewer("let i = gid.x if i < len(y) { y[i] = 1 }",
                 "let i = gid.x if i < len(y) { y[i + 1] = 1 }", SpvOpSelectionMerge, 1);
    expect_fewer("for i in 0 .. len(y) { atomic_add(y[i], 2) }",
                 "for i in 0 .. len(x) { atomic_add(y[i], 2) }", SpvOpSelectionMerge, 1);
    expect_fewer("w[gid.x & 63] = 3", "w[gid.x] = 3", SpvOpSelectionMerge, 1);
    expect_fewer("var m : u32[4] m[k & 3] = 1 y[0] = m[0]",
                 "var m : u32[4] m[k & 7] = 1 y[0] = m[0]", SpvOpSelectionMerge, 1);
    /* A load that is checked selects the index and the value. */
    expect_fewer("let i = gid.x if i < len(x) { y[0] = x[i] }",
                 "let i = gid.x if i < len(y) { y[0] = x[i] }", SpvOpSelect, 2);
    expect_fewer("y[0] = T[k % 3]", "y[0] = T[k % 5]", SpvOpSelect, 2);
}

static void test_operators_have_no_guard_that_they_need_not(void **state)
{
    (void)state;
    expect_fewer("y[0] = x[0] << (lid.x >> 1)", "y[0] = x[0] << (gid.x >> 1)", SpvOpBitwiseAnd, 1);
    expect_fewer("y[0] = x[0] >> (lid.x >> 1)", "y[0] = x[0] >> (gid.x >> 1)", SpvOpBitwiseAnd, 1);
    expect_fewer("y[0] = x[0] / (k | 1)", "y[0] = x[0] / (k ^ 1)", SpvOpSelect, 2);
    expect_fewer("y[0] = x[0] % (k | 1)", "y[0] = x[0] % (k ^ 1)", SpvOpSelect, 1);
    /* -1 would do. */
    expect_fewer("n[0] = n[1] / max(n[2], 1i)", "n[0] = n[1] / max(n[2], -1i)", SpvOpSelect, 2);
    expect_fewer("y[0] = k / 8", "y[0] = k / 7", SpvOpUDiv, 1);
    expect_fewer("y[0] = k % 8", "y[0] = k % 7", SpvOpUMod, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses_in_bounds_have_no_check),
        cmocka_unit_test(test_operators_have_no_guard_that_they_need_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
