/* The shortest way: a program from text, run over an array on the best device. Prints
 * "1 4 9 16 25 36 49 64". */
#include <vyre/vyre.h>

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
    uint32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    vyre_diag diag;
    vyre_device *device = NULL;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_kernel_params wanted;

    vyre_result result = vyre_device_create(NULL, &device, &diag);
    if (result == VYRE_OK) {
        result = vyre_program_parse(source, strlen(source), "squares", NULL, &program, &diag);
    }
    if (result == VYRE_OK) {
        vyre_device_kernel_params(device, &wanted); /* the SPIR-V that this device takes */
        result = vyre_kernel_compile(program, &wanted, &kernel, &diag);
    }
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag);
    }
    if (result == VYRE_OK) {
        vyre_binding binding = {.kind = VYRE_BINDING_HOST, .count = 8, .in = x, .out = x};
        vyre_dispatch_params params = {.binding_count = 1, .bindings = &binding};
        result = vyre_dispatch(pipeline, &params, NULL, &diag);
    }
    if (result == VYRE_OK) {
        for (int i = 0; i < 8; i++) {
            printf("%u%c", (unsigned)x[i], i < 7 ? ' ' : '\n');
        }
    } else {
        char text[1024]; /* what is wrong, where, and what to do */
        vyre_diag_format(&diag, source, strlen(source), text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    vyre_pipeline_destroy(&pipeline);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vyre_device_destroy(&device);
    return result != VYRE_OK;
}
