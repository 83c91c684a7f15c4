/* One dispatch, checked: nothing has been done for it yet but that its buffers cannot go away. */
#ifndef VY_JOB_H
#define VY_JOB_H

#include "engine/exec/plan.h"
#include "engine/exec/scratch.h"
#include "engine/exec/shape.h"
#include "engine/exec/trim.h"
#include "engine/memory/buffer.h"
#include "engine/pipeline/pipeline.h"

typedef struct vy_job {
    const vyre_dispatch_params *params; /* the caller's: for the call that starts the dispatch */
    vyre_binding bindings[VYRE_MAX_BUFFERS];
    vy_shape shape;
    vy_resident residents[VYRE_MAX_BUFFERS];
    bool is_resident[VYRE_MAX_BUFFERS];
    uint64_t alias[VYRE_MAX_BUFFERS];
    bool is_aliased;
    bool is_wide; /* by addresses, and vy_job_exceeds_chains */
    uint64_t element_sizes[VYRE_MAX_BUFFERS];
    const vy_execution *executions; /* in the scratch memory, or the pipeline's */
    uint32_t execution_count;       /* of the list */
    uint32_t dispatch_count;        /* of a pass: 0 where the grid is empty */
    bool is_marked;                 /* each of them is a chunk */
    uint32_t last_count;            /* of the last pass no more of them are run; 0: all */
    uint64_t spill_size, records_size;
    uint64_t replay_spill_size;      /* as it is by replay */
    bool is_whole;                   /* all segments and passes as one workgroup: strategy.h */
    bool is_persistent;              /* by workgroups that stay: shape.launched are launched */
    bool is_large;                   /* ... of vy_pipeline_large invocations */
    bool is_coarse;                  /* invocations do several elements: coarse.h */
    const uint32_t *coarse_elements; /* how many: by segment, the kernel's */
    vy_shape replay_shape;           /* where is_persistent: as it is by replay */
    const char *strategy_reason;
    const vy_binder *binder;
    vy_execution *trimmed; /* `executions`, where some may have workgroups left out */
    vy_trim trim;
} vy_job;

/* On failure there is nothing to finish. `is_recording`: host memory is refused. */
vyre_result vy_job_init(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                        bool is_recording, vy_scratch *scratch, vy_job *out_job, vyre_diag *diag);
/* Lets the buffers go. `value`: the timeline's value until which the device may use them; 0: none.
 */
void vy_job_release(vyre_pipeline *pipeline, vy_job *job, uint64_t value);

/* trim.c: leaves workgroups out where it can. Behind all that decides how the job runs. */
vyre_result vy_job_trim(const vyre_pipeline *pipeline, vy_scratch *scratch, vy_job *job,
                        vyre_diag *diag);
/* Leaves out none. */
void vy_job_widen(vy_job *job);

uint64_t vy_job_size(const vy_job *job, uint32_t binding);
/* Whether a binding or the spill slots are larger than access chains reach on every driver: more
 * than 2^31 elements, or bytes at offsets of 4 GiB and more. */
bool vy_job_exceeds_chains(const vy_job *job, uint32_t binding_count);
/* The bytes that go to the caller's `out`: none where *out_size is 0. */
void vy_job_output(const vyre_pipeline *pipeline, const vy_job *job, uint32_t binding,
                   uint64_t *out_offset, uint64_t *out_size);

#endif
