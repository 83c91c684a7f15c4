/* The program shaders/package_closure.vyre, run with the library's public interface alone: on a
 * device, and on the interpreter. */
#ifndef VYRE_DEMO_CLOSURE_H
#define VYRE_DEMO_CLOSURE_H

#include "tools/vyre-demo/graph.h"
#include "vyre/vyre.h"

typedef struct closure_result {
    uint32_t *level; /* the caller's, package_count entries: what goes away before, levels after */
    uint32_t passes, segments;
    vyre_convergence convergence;
    uint64_t wall_ns, device_ns; /* VYRE_NS_NONE: not measured */
    uint64_t dispatches, barriers;
} closure_result;

/* A program on a device, made once and run as often as wanted. */
typedef struct closure {
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
} closure;

vyre_result closure_create(vyre_device *device, const vyre_program *program, closure *out_closure,
                           vyre_diag *diag);
void closure_destroy(closure *c);
vyre_result closure_run(const closure *c, const graph *g, closure_result *result, vyre_diag *diag);
vyre_result closure_interpret(const vyre_program *program, const graph *g, closure_result *result,
                              vyre_diag *diag);

#endif
