/* Kernel files in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernel/kernel_file_support.h"

#include "vyre/text.h"

#include <string.h>

const char small_text[] = "program sm\nworkgroup 64\nin y : u32[]\nout z : u32[len(y)]\n"
                          "kernel {\n    if y[gid.x] > 1 { trap(1) }\n    grid_sync\n"
                          "    z[gid.x] = y[0]\n}\n";

vyre_program *parse_text(const char *text, size_t size)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, size, NULL, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    return program;
}

vyre_kernel *compile_program(const vyre_program *program, const vyre_kernel_params *params)
{
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(vyre_kernel_is_precompiled(kernel), 0);
    return kernel;
}

vyre_kernel *compile_text(const char *text, const vyre_kernel_params *params)
{
    vyre_program *program = parse_text(text, strlen(text));
    vyre_kernel *kernel = compile_program(program, params);
    vyre_program_destroy(&program);
    return kernel;
}

bytes save_kernels(const vyre_kernel *const *kernels, uint32_t count)
{
    void *data = NULL;
    bytes out = {0};
    vyre_diag diag;
    if (vyre_kernel_save(kernels, count, NULL, &data, &out.size, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    out.data = data;
    return out;
}

void drop_bytes(bytes *b)
{
    void *data = b->data;
    vyre_kernel_free_data(NULL, &data, b->size);
    assert_null(data);
    *b = (bytes){0};
}

vyre_kernel *load_kernel(bytes b, const vyre_kernel_params *params)
{
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_kernel_load(b.data, b.size, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return kernel;
}

void expect_load_error(bytes b, vyre_result wanted, const char *message)
{
    vyre_kernel *kernel = (vyre_kernel *)&b;
    vyre_diag diag;
    vyre_result result = vyre_kernel_load(b.data, b.size, NULL, &kernel, &diag);
    if (result != wanted || !strstr(diag.message, message) || !strstr(diag.message, "Fix: ")) {
        fail_msg("wanted '%s', got %d '%s'", message, (int)result,
                 result == VYRE_OK ? "" : diag.message);
    }
    assert_int_equal(diag.code, wanted);
    assert_null(kernel);
}

bytes save_small(void)
{
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2, .aliased = 1};
    vyre_kernel *kernels[2] = {compile_text(small_text, NULL), compile_text(small_text, &params)};
    bytes file = save_kernels((const vyre_kernel *const *)kernels, 2);
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);
    return file;
}
