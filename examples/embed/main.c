/* A program compiled when this one is built: rod.vyre is a kernel file in memory, and nothing is
 * parsed from text or compiled to SPIR-V when it runs. CMakeLists.txt has the one line for it. */
#include "rod.h"

#include <vyre/vyre.h>

#include <stdio.h>
#include <string.h>

#define CELLS 9u

static vyre_result run(vyre_pipeline *pipeline, float k, float *heat, vyre_diag *diag)
{
    vyre_binding bindings[] = {
        {.kind = VYRE_BINDING_HOST, .count = CELLS, .in = heat, .out = heat},
        {.kind = VYRE_BINDING_NONE}}; /* the scratch buffer: the library's own */
    uint32_t word;
    memcpy(&word, &k, sizeof word);
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 2;
    params.params = &word;
    params.param_count = 1;
    /* The other strategies, and large grids, have modules of their own, made at the first dispatch
     * that takes them. These two leave it at the modules in the file. */
    params.strategy = VYRE_STRATEGY_REPLAY;
    params.coarsening = VYRE_COARSENING_NEVER;
    return vyre_dispatch(pipeline, &params, NULL, diag);
}

int main(void)
{
    float heat[CELLS] = {[CELLS / 2] = 256.0f};
    vyre_diag diag;
    vyre_device *device = NULL;
    vyre_kernel *kernel = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_kernel_params wanted;
    vyre_result result = vyre_device_create(NULL, &device, &diag);
    if (result == VYRE_OK) {
        vyre_device_kernel_params(device, &wanted);
        result = vyre_kernel_load(rod, rod_size, &wanted, &kernel, &diag);
    }
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag);
    }
    if (result == VYRE_OK) {
        result = run(pipeline, 0.25f, heat, &diag);
    }
    if (result == VYRE_OK) {
        for (uint32_t i = 0; i < CELLS; i++) {
            printf("%g%c", (double)heat[i], i + 1 < CELLS ? ' ' : '\n');
        }
        puts(vyre_kernel_is_precompiled(kernel)
                 ? "nothing was compiled"
                 : "compiled: the file has no words for this device");
    } else {
        fprintf(stderr, "%s: %s\n", vyre_result_name(result), diag.message);
    }
    vyre_pipeline_destroy(&pipeline);
    vyre_kernel_destroy(&kernel);
    vyre_device_destroy(&device);
    return result != VYRE_OK;
}
