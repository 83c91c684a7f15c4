/* Pipelines and dispatches: a kernel made ready for one device, and runs of it. */
#ifndef VYRE_DISPATCH_H
#define VYRE_DISPATCH_H

#include "vyre/buffer.h"
#include "vyre/interp.h" /* vyre_fault_record, vyre_convergence */

#ifdef __cplusplus
extern "C" {
#endif

/* Thread-safety: external. */
typedef struct vyre_pipeline vyre_pipeline;

typedef struct vyre_pipeline_params {
    uint32_t struct_size;
    /* The workgroup size, where the program cannot tell one from another; 0: the program's own. */
    uint32_t workgroup[3];
} vyre_pipeline_params;

static inline void vyre_pipeline_params_init(vyre_pipeline_params *params)
{
    vyre_pipeline_params zero = {0, {0, 0, 0}};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Keeps the kernel until it is destroyed; the kernel was compiled with vyre_device_kernel_params of
 * this device. params may be NULL. Errors: UNSUPPORTED_FEATURE (a limit or feature, by its Vulkan
 * name), KERNEL_COMPILE_FAILED (the driver refused a module), INVALID_ARGUMENT, and memory. */
VYRE_API VYRE_CHECK vyre_result vyre_pipeline_create(vyre_device *device, const vyre_kernel *kernel,
                                                     const vyre_pipeline_params *params,
                                                     vyre_pipeline **out_pipeline, vyre_diag *diag);
/* Waits for a dispatch whose wait timed out. Recordings of the pipeline must be destroyed before.
 */
VYRE_API void vyre_pipeline_destroy(vyre_pipeline **pipeline);

/* ---- Bindings -------------------------------------------------------------------------------- */

typedef enum vyre_binding_kind {
    VYRE_BINDING_NONE,     /* scratch only: the library's own memory, of the declared size */
    VYRE_BINDING_RESIDENT, /* a range of a resident buffer */
    VYRE_BINDING_HOST      /* host memory, borrowed for this call */
} vyre_binding_kind;

/* As many elements as the program declares; for a resident buffer where it declares none, all that
 * lie behind the offset. */
#define VYRE_COUNT_DECLARED UINT32_MAX

typedef struct vyre_binding {
    vyre_binding_kind kind;
    uint32_t count;     /* elements of the buffer's type */
    vyre_buffer buffer; /* RESIDENT */
    uint64_t offset;    /* RESIDENT: bytes; a multiple of vyre_device_info.offset_alignment */
    const void *in;     /* HOST: contents, for in, uniform and inout */
    void *out;          /* HOST: results, for out, inout and scratch; NULL: not read back */
} vyre_binding;

typedef struct vyre_dispatch_params {
    uint32_t struct_size;
    uint32_t binding_count;
    const vyre_binding *bindings; /* one for each non-shared buffer, in declaration order */
    const uint32_t *params;       /* bits of each parameter, in declaration order */
    uint32_t param_count;
    /* The grid: workgroups, or elements, or neither where the program has `grid over`. A dimension
     * after the first that is 0 is 1. */
    uint32_t groups[3], elements[3];
    uint32_t passes;     /* overrides the fixpoint's limit; 0 keeps it */
    uint64_t timeout_ns; /* of the whole call; 0: none */
} vyre_dispatch_params;

static inline void vyre_dispatch_params_init(vyre_dispatch_params *params)
{
    vyre_dispatch_params zero = {0, 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* ---- Reports --------------------------------------------------------------------------------- */

#define VYRE_NS_NONE UINT64_MAX /* a time that was not measured */

typedef struct vyre_report {
    const char *strategy; /* "replay" */
    uint32_t passes;      /* that ran */
    vyre_convergence convergence;
    vyre_fault_record record; /* the first trap or exhausted loop, if any */
    uint32_t segments;        /* segment executions in one pass */
    uint32_t chunks, submissions;
    uint64_t dispatches_recorded; /* in the command buffers submitted */
    uint64_t dispatches_executed; /* of these, the program's own that were not skipped */
    uint64_t barriers_recorded;   /* in the command buffers submitted */
    uint64_t barriers_elided;     /* places between dispatches where none was needed */
    uint64_t upload_size, download_size;
    uint64_t wall_ns;              /* the call */
    uint64_t device_dispatches_ns; /* first dispatch's start to last dispatch's end */
    uint64_t device_ns;            /* first command's start to last command's end */
    uint64_t spill_size, staging_size, scratch_size; /* hidden memory, in bytes */
    uint32_t recordings, recordings_reused;
    int is_folded; /* the grid was larger than the device launches at once */
} vyre_report;

/* Runs the program once and waits for its end. Everything is checked before anything is done: after
 * INVALID_ARGUMENT, BUSY and UNSUPPORTED_FEATURE the caller's memory and the resident buffers are
 * untouched. diag names the binding, segment or pass where one is meant.
 * TIMEOUT: nothing was read back and no other pass is submitted; what was submitted goes on, and
 * the buffers stay in use until that ends, as does the pipeline, which answers BUSY
 * (vyre_device_wait waits). out_report may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatch(vyre_pipeline *pipeline,
                                              const vyre_dispatch_params *params,
                                              vyre_report *out_report, vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
