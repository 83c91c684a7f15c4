/* Programs and buffers of the library for the groups, and the step that everyone runs. */
#include "tools/vyre-bench/bench.h"

#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

const char bench_step_text[] = "program step\n"
                               "workgroup 256\n"
                               "grid over x\n"
                               "fixpoint 1\n"
                               "inout x : u32[]\n"
                               "kernel { x[gid.x] = x[gid.x] * 3 + 1 }\n";

bool bench_is_on_cpu(const bench *b)
{
    return b->info.type == VYRE_DEVICE_PROCESSOR;
}

vyre_result bench_program_create(vyre_device *device, const char *text, bench_program *out,
                                 vyre_diag *diag)
{
    return bench_program_create_as(device, text, true, VYRE_BINDINGS_AUTO, out, diag);
}

vyre_result bench_program_create_as(vyre_device *device, const char *text, bool can_join,
                                    vyre_binding_mode bindings, bench_program *out, vyre_diag *diag)
{
    vyre_program *program = NULL;
    vyre_kernel_params params;
    vyre_pipeline_params made;
    memset(out, 0, sizeof *out);
    vyre_pipeline_params_init(&made);
    made.bindings = bindings;
    vyre_device_kernel_params(device, &params);
    if (!can_join) {
        params.aggregate = 0;
        params.reconvergence = VYRE_RECONVERGENCE_NONE;
    }
    vyre_result result = vyre_program_parse(text, strlen(text), "bench", NULL, &program, diag);
    if (result == VYRE_OK) {
        result = vyre_kernel_compile(program, &params, &out->kernel, diag);
    }
    if (result == VYRE_OK) {
        result = vyre_pipeline_create(device, out->kernel, &made, &out->pipeline, diag);
    }
    vyre_program_destroy(&program);
    if (result != VYRE_OK) {
        bench_program_destroy(out);
    }
    return result;
}

void bench_program_destroy(bench_program *program)
{
    vyre_pipeline_destroy(&program->pipeline);
    vyre_kernel_destroy(&program->kernel);
}

vyre_result bench_buffer_create(vyre_device *device, const char *name, const void *contents,
                                uint64_t size, vyre_buffer *out, vyre_diag *diag)
{
    vyre_buffer_params params;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.name = name;
    vyre_result result = vyre_buffer_create(device, &params, out, diag);
    if (result == VYRE_OK && contents) {
        result = vyre_buffer_upload(device, *out, 0, contents, size, diag);
    }
    return result;
}

void bench_buffer_destroy(vyre_device *device, vyre_buffer *buffer)
{
    vyre_diag diag;
    if (vyre_buffer_destroy(device, buffer, &diag) != VYRE_OK) {
        buffer->bits = 0;
    }
}

vyre_binding bench_resident_binding(vyre_buffer buffer)
{
    return (vyre_binding){
        .kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = buffer};
}

/* n steps are one: x = factor x + term, found by squaring. */
uint64_t bench_step_wrong(const uint32_t *x, uint32_t count, uint64_t steps)
{
    uint32_t factor = 1, term = 0, power = 3, sum = 1;
    for (; steps; steps >>= 1) {
        if (steps & 1) {
            term = term * power + sum;
            factor *= power;
        }
        sum = sum * power + sum;
        power *= power;
    }
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        wrong += x[i] != factor * i + term;
    }
    return wrong;
}

uint32_t *bench_indices(uint32_t count)
{
    uint32_t *indices = malloc(((size_t)count + 1) * sizeof *indices);
    for (uint32_t i = 0; indices && i < count; i++) {
        indices[i] = i;
    }
    return indices;
}
