/* Binds the graph's arrays to the program by name, and runs it. */
#include "tools/vyre-demo/closure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The program's buffers, in the order of its declarations. */
enum {
    BINDING_CLAUSE_START,
    BINDING_ALTERNATIVE_START,
    BINDING_ALTERNATIVE,
    BINDING_LEVEL,
    BINDING_BROKEN,
    BINDING_CHANGED,
    BINDING_COUNT
};

static const char *const names[BINDING_COUNT] = {
    "clause_start", "alternative_start", "alternative", "level", "broken", "changed"};

vyre_result closure_create(vyre_device *device, const vyre_program *program, closure *out_closure,
                           vyre_diag *diag)
{
    *out_closure = (closure){0};
    vyre_kernel_params params = {0};
    vyre_device_kernel_params(device, &params);
    vyre_result result = vyre_kernel_compile(program, &params, &out_closure->kernel, diag);
    for (int32_t i = 0; i < BINDING_COUNT && result == VYRE_OK; i++) {
        if (vyre_kernel_find_binding(out_closure->kernel, names[i]) != i) {
            result = vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){0, 0},
                                 "the program's buffer %d is not '%s'. Fix: give "
                                 "shaders/package_closure.vyre",
                                 (int)i, names[i]);
        }
    }
    if (result == VYRE_OK) {
        result =
            vyre_pipeline_create(device, out_closure->kernel, NULL, &out_closure->pipeline, diag);
    }
    if (result != VYRE_OK) {
        closure_destroy(out_closure);
    }
    return result;
}

void closure_destroy(closure *c)
{
    vyre_pipeline_destroy(&c->pipeline);
    vyre_kernel_destroy(&c->kernel);
}

static vyre_binding input(const uint32_t *elements, uint32_t count)
{
    return (vyre_binding){.kind = VYRE_BINDING_HOST, .in = elements, .count = count};
}

vyre_result closure_run(const closure *c, const graph *g, closure_result *result, vyre_diag *diag)
{
    vyre_binding bindings[BINDING_COUNT] = {
        [BINDING_CLAUSE_START] = input(g->clause_start, g->package_count + 1),
        [BINDING_ALTERNATIVE_START] = input(g->alternative_start, g->clause_count + 1),
        [BINDING_ALTERNATIVE] = input(g->alternatives, g->alternative_count),
        [BINDING_LEVEL] = input(result->level, g->package_count)};
    bindings[BINDING_LEVEL].out = result->level;
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.flags = VYRE_DISPATCH_TIMED;
    params.bindings = bindings;
    params.binding_count = BINDING_COUNT;
    vyre_report report = {0};
    vyre_result status = vyre_dispatch(c->pipeline, &params, &report, diag);
    result->passes = report.passes;
    result->segments = report.segments;
    result->convergence = report.convergence;
    result->wall_ns = report.wall_ns;
    result->device_ns = report.device_ns;
    result->dispatches = report.dispatches_executed;
    result->barriers = report.barriers_recorded;
    return status;
}

static uint64_t now_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

vyre_result closure_interpret(const vyre_program *program, const graph *g, closure_result *result,
                              vyre_diag *diag)
{
    /* Scratch buffers have the size that the program states, and nobody looks at them. */
    vyre_host_buffer buffers[BINDING_COUNT] = {
        [BINDING_CLAUSE_START] = {g->clause_start, g->package_count + 1},
        [BINDING_ALTERNATIVE_START] = {g->alternative_start, g->clause_count + 1},
        [BINDING_ALTERNATIVE] = {g->alternatives, g->alternative_count},
        [BINDING_LEVEL] = {result->level, g->package_count},
        [BINDING_BROKEN] = {NULL, UINT32_MAX},
        [BINDING_CHANGED] = {NULL, UINT32_MAX}};
    vyre_interp_params params = {
        .struct_size = (uint32_t)sizeof params, .buffers = buffers, .buffer_count = BINDING_COUNT};
    vyre_interp_report report = {0};
    uint64_t start = now_ns();
    vyre_result status = vyre_interp_run(program, &params, &report, diag);
    result->wall_ns = now_ns() - start;
    result->device_ns = VYRE_NS_NONE;
    result->passes = report.passes;
    result->segments = report.segments;
    result->convergence = report.convergence;
    return status;
}
