/* The smallest user: a program from text, run by the interpreter and compiled to SPIR-V, so that it
 * needs no device. With VYRE_EXPECT_VULKAN it sees the Vulkan headers, too. */
#include <vyre/vyre.h>

#ifdef VYRE_EXPECT_VULKAN
#include <vyre/vulkan.h>
#endif

#include <stdio.h>
#include <string.h>

static const char source[] = "program squares\n"
                             "grid over x\n"
                             "inout x : u32[]\n"
                             "kernel {\n"
                             "    if gid.x < len(x) { x[gid.x] = x[gid.x] * x[gid.x] }\n"
                             "}\n";

int main(void)
{
    uint32_t x[3] = {1, 2, 3};
    vyre_host_buffer buffer = {x, 3};
    vyre_interp_params params;
    vyre_interp_report report;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;

    vyre_result result =
        vyre_program_parse(source, strlen(source), "squares", NULL, &program, &diag);
    if (result == VYRE_OK) {
        memset(&params, 0, sizeof params);
        params.struct_size = (uint32_t)sizeof params;
        params.buffers = &buffer;
        params.buffer_count = 1;
        result = vyre_interp_run(program, &params, &report, &diag);
    }
    if (result == VYRE_OK) {
        result = vyre_kernel_compile(program, NULL, &kernel, &diag);
    }
    if (result == VYRE_OK) {
        printf("%u %u %u\n", (unsigned)x[0], (unsigned)x[1], (unsigned)x[2]);
    } else {
        fprintf(stderr, "%s: %s\n", vyre_result_text(result), diag.message);
    }
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    return result != VYRE_OK;
}
