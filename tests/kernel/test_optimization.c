/* Kernels without the passes for speed: what does not run, what the words have, and their files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "tests/kernel/kernel_file_support.h"

#include <string.h>

/* What is loaded twice, with one check that says that the others cannot fail; a dead load of z. */
static const char source[] = "program p\nin x : u32[]\nin z : u32[]\ninout y : u32[]\n"
                             "kernel {\n"
                             "    let dead = z[0]\n"
                             "    if gid.x < len(x) { y[gid.x] = x[gid.x] + x[gid.x] * 1u }\n"
                             "}\n";

static const vyre_kernel_params none = {.optimization = VYRE_OPTIMIZATION_NONE};

static void note_pass(void *user, uint32_t segment, const char *pass, const char *text)
{
    (void)segment;
    (void)text;
    strcat(user, pass);
    strcat(user, " ");
}

static void test_passes_for_speed_do_not_run(void **state)
{
    (void)state;
    vyre_program *program = parse_text(source, strlen(source));
    char ran[400] = "";
    vyre_kernel_params params = none;
    params.dump_after = "all";
    params.dump = note_pass;
    params.dump_user = ran;
    vyre_kernel *kernels[2] = {compile_program(program, NULL), compile_program(program, &params)};
    assert_string_equal(ran, "build trivial-phi canonical-nan ");
    vyre_segment_info infos[2];
    for (int k = 0; k < 2; k++) {
        vyre_kernel_segment(kernels[k], 0, &infos[k]);
    }
    assert_true(infos[1].instruction_count > infos[0].instruction_count);
    assert_true(infos[1].word_count > infos[0].word_count);
    assert_true(infos[0].reads == 1 && infos[1].reads == 3); /* x; z too */
    assert_true(infos[0].writes == infos[1].writes);
    vyre_program_destroy(&program);
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);
}

/* Neither several elements each nor neighbours as one. */
static void test_invocations_keep_one_element(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "program p\nin x : u32[]\nout y : u32[len(x)]\nkernel { y[gid.x] = x[gid.x] }\n",
        "program p\nworkgroup 64\nin x : u32[]\ninout y : u32[]\n"
        "kernel { for k in 0 .. 4 { y[gid.x * 4 + k] = x[gid.x * 4 + k] + lid.x } }\n"};
    for (int t = 0; t < 2; t++) {
        vyre_program *program = parse_text(texts[t], strlen(texts[t]));
        vyre_kernel *kernels[2] = {compile_program(program, NULL), compile_program(program, &none)};
        vyre_program_destroy(&program);
        for (int k = 0; k < 2; k++) {
            vy_kernel_coarse coarse;
            vyre_diag diag;
            assert_int_equal(
                vy_kernel_coarsen(kernels[k], VYRE_INTERFACE_DESCRIPTOR, 0, &coarse, &diag),
                VYRE_OK);
            assert_true(k == 1 ? coarse.elements == NULL : t == 1 || coarse.elements != NULL);
            vyre_kernel_destroy(&kernels[k]);
        }
    }
}

/* Words of the other kind are never taken, and what the file says of segments is not believed. */
static void test_files_are_of_one_optimization(void **state)
{
    (void)state;
    vyre_program *program = parse_text(source, strlen(source));
    vyre_kernel_params address = none;
    address.interface = VYRE_INTERFACE_ADDRESS;
    vyre_kernel *kernels[3] = {compile_program(program, NULL), compile_program(program, &none),
                               compile_program(program, &address)};
    const vyre_kernel *sets[2] = {kernels[1], kernels[2]}, *mixed[2] = {kernels[0], kernels[2]};
    void *data = NULL;
    size_t size = 0;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_save(mixed, 2, NULL, &data, &size, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "is optimised and the other is not"));
    bytes files[2] = {save_kernels((const vyre_kernel *const *)kernels, 1), save_kernels(sets, 2)};
    for (int f = 0; f < 2; f++) {
        for (int k = 0; k < 2; k++) {
            vyre_kernel *loaded = load_kernel(files[f], k ? &none : NULL);
            assert_int_equal(vyre_kernel_is_precompiled(loaded), f == k);
            vyre_segment_info got, wanted;
            vyre_kernel_segment(loaded, 0, &got);
            vyre_kernel_segment(kernels[k], 0, &wanted);
            assert_int_equal(got.word_count, wanted.word_count);
            assert_memory_equal(got.words, wanted.words, wanted.word_count * sizeof *got.words);
            assert_true(got.reads == wanted.reads && got.writes == wanted.writes);
            vyre_kernel_destroy(&loaded);
        }
        drop_bytes(&files[f]);
    }
    for (int k = 0; k < 3; k++) {
        vyre_kernel_destroy(&kernels[k]);
    }
    vyre_program_destroy(&program);
}

static void test_other_values_are_refused(void **state)
{
    (void)state;
    vyre_program *program = parse_text(source, strlen(source));
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    vyre_kernel_params params = {.optimization = (vyre_optimization)2};
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_string_equal(diag.message,
                        "2 is no optimization. Fix: use a value of vyre_optimization");
    assert_null(kernel);
    params = none;
    params.dump_after = "ranges";
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "pass ranges does not run without optimization"));
    /* A caller of before knows nothing of the field. */
    params = (vyre_kernel_params){.struct_size = offsetof(vyre_kernel_params, optimization),
                                  .optimization = (vyre_optimization)77};
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag), VYRE_OK);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_for_speed_do_not_run),
        cmocka_unit_test(test_invocations_keep_one_element),
        cmocka_unit_test(test_files_are_of_one_optimization),
        cmocka_unit_test(test_other_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
