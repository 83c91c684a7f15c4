/* Loops that ask the driver to unroll them: those with few trips through a private array, and no
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vyre/kernel.h"
#include "vyre/text.h"

#include <stdio.h>
#include <string.h>

enum { LOOP_MERGE = 246, UNROLL = 1 };

/* Loops of the program, and those of them with the hint. One more makes the array zero. */
static void count_loops(const char *statements, uint32_t *out_loops, uint32_t *out_hints)
{
    char text[1024];
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_segment_info info;
    vyre_diag diag;
    snprintf(text, sizeof text,
             "program t\nworkgroup 64\nparam k : u32\nin x : u32[]\nout y : u32[64]\n"
             "kernel {\nvar m : u32[64]\nvar s = 0\n%s\ny[lid.x] = s + m[k & 63]\n}\n",
             statements);
    if (vyre_program_parse(text, strlen(text), NULL, NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, NULL, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s: %s", statements, diag.message);
    }
    vyre_kernel_segment(kernel, 0, &info);
    *out_loops = *out_hints = 0;
    for (uint32_t at = 5; at < info.word_count; at += info.words[at] >> 16) {
        if ((info.words[at] & 0xffff) == LOOP_MERGE) {
            ++*out_loops;
            *out_hints += info.words[at + 3] == UNROLL;
            assert_true(info.words[at + 3] <= UNROLL);
        }
    }
    assert_true(*out_loops > 0);
    --*out_loops;
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

static void test_loops_through_private_arrays_are_unrolled(void **state)
{
    (void)state;
    static const struct {
        const char *statements;
        uint32_t loops, hints;
    } rows[] = {
        {"for i in 0 .. 16 { m[i] = x[i] }", 1, 1},
        {"for i in 0 .. 32 { m[i] = x[i] }", 1, 1},
        {"for i in 0 .. 33 { m[i] = x[i] }", 1, 0},
        {"for i in 0 .. 64 step 2 { m[i] = x[i] }", 1, 1},
        {"for i in 0 .. 65 step 2 { m[i] = x[i] }", 1, 0},
        {"for i in 1 .. 9 { s += m[i * 4 + 1] }", 1, 1},
        {"for i in 0 .. 16 { if x[i] > 3 { m[i] = 2 } }", 1, 1},
        /* Both of them, or the inner one alone. */
        {"for i in 0 .. 4 { for j in 0 .. 4 { m[i * 4 + j] = x[j] } }", 2, 2},
        {"for i in 0 .. 4 { for j in 0 .. 4 { m[j] += x[i] } }", 2, 1},
        {"for i in 0 .. k { for j in 0 .. 4 { m[j] += x[i] } }", 2, 1},
        /* Of no array, of an index that was loaded, of trips that nobody knows. */
        {"for i in 0 .. 16 { s += x[i] }", 1, 0},
        {"for i in 0 .. 16 { m[x[i]] = 1 }", 1, 0},
        {"for i in 0 .. k { m[i] = x[i] }", 1, 0},
        {"for i in k .. 16 { m[i] = x[i] }", 1, 0},
        {"while x[s] < 16 { m[s & 63] = 3 s += 1 }", 1, 0},
        {"while s < 16 { m[s] = 3 s += 1 }", 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t loops, hints;
        count_loops(rows[i].statements, &loops, &hints);
        if (loops != rows[i].loops || hints != rows[i].hints) {
            fail_msg("%s: %u loops, %u of them with the hint", rows[i].statements, (unsigned)loops,
                     (unsigned)hints);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_through_private_arrays_are_unrolled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
