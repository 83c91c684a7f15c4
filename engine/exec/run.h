/* Dispatches in flight, behind their tickets, and what a device has once for all of them. A run is
 * moved on by one thread at a time: whoever polls or waits, or the device's own thread. */
#ifndef VY_RUN_H
#define VY_RUN_H

#include "engine/exec/replay.h"
#include "vyre/vulkan.h"

#define VY_MAX_HOST_SEMAPHORES 16u

typedef enum vy_run_state {
    VY_RUN_FREE,
    VY_RUN_ACTIVE,
    VY_RUN_DONE /* its result is there */
} vy_run_state;

typedef struct vy_run {
    uint32_t index, generation;
    vy_run_state state;
    bool is_driven;      /* a thread is moving it on */
    bool is_abandoned;   /* nobody waits for it: freed when it has ended */
    bool is_stop_wanted; /* no other chunk is to be submitted */
    uint32_t waiters;    /* threads that hold it while they wait */
    uint32_t blocked;    /* waits that blocked, and how long */
    uint64_t blocked_ns;
    struct vy_marks *marks; /* vy_dispatch_marked; NULL: none */
    uint32_t last_count;    /* vy_dispatch_prefix; 0: all */
    vyre_pipeline *pipeline;
    vy_instance *instance;
    vy_job job;
    vy_replay replay;
    vy_moves moves;
    vy_scratch scratch;
    vyre_result result;
    vyre_diag diag;
    vyre_report report;
    uint64_t start_ns;
    vyre_done_fn done;
    void *done_user;
    char label[64];
    vy_semaphore waits[VY_MAX_HOST_SEMAPHORES], signals[VY_MAX_HOST_SEMAPHORES];
} vy_run;

vyre_result vy_runs_create(vyre_device *device, vyre_diag *diag);
/* Nothing is in flight any more. */
void vy_runs_destroy(vyre_device *device);
/* For the end of a device that still has pipelines: they keep no Vulkan objects, and refuse calls.
 */
void vy_runs_detach_pipelines(vyre_device *device);
vy_engine_kernels *vy_runs_kernels(vyre_device *device);
/* Of transfers; NULL where the device has no addresses. */
const vy_mover *vy_transfer_mover(const vyre_device *device);

/* A run for a dispatch; NULL where there is no memory. */
vy_run *vy_run_take(vyre_pipeline *pipeline);
/* Starts it; on failure it was given back. On success it is active, and its ticket is live. */
vyre_result vy_run_start(vyre_pipeline *pipeline, const vyre_dispatch_params *params, vy_run *run,
                         vyre_diag *diag);
vyre_ticket vy_run_ticket(const vyre_device *device, const vy_run *run);
/* Waits until it has ended or the deadline (vy_clock_ns; 0: only looks). TIMEOUT leaves it; after
 * any other error, the run's first, it is abandoned. */
vyre_result vy_run_wait(vyre_device *device, vy_run *run, uint64_t deadline_ns, vyre_diag *diag);
/* Takes the result and gives the run back. */
vyre_result vy_run_finish(vyre_device *device, vy_run *run, vyre_report *out_report,
                          vyre_diag *diag);
/* The same for one of several threads that held it: INVALID_ARGUMENT where another one took it. */
vyre_result vy_run_claim(vyre_device *device, vy_run *run, vyre_ticket ticket,
                         vyre_report *out_report, vyre_diag *diag);
/* Gives back a run that was taken and not started. */
void vy_run_cancel(vyre_device *device, vy_run *run);
/* The timeline's value when its last command has ended; 0: not known yet. */
uint64_t vy_run_last_value(vyre_device *device, vy_run *run);
/* Nobody will ask for it: it is given back when it has ended. */
void vy_run_abandon(vyre_device *device, vy_run *run);
/* Moves abandoned runs on, and gives back those that have ended. */
void vy_runs_collect(vyre_device *device);
/* Waits for the runs of a pipeline (NULL: of all) and ends them. */
void vy_runs_end(vyre_device *device, const vyre_pipeline *pipeline);

/* The live run behind a ticket, held; NULL with the reason. Give back with vy_run_unhold. */
vy_run *vy_run_hold(vyre_device *device, vyre_ticket ticket, vyre_diag *diag);
void vy_run_unhold(vyre_device *device, vy_run *run);

/* ---- pool.c ---------------------------------------------------------------------------------- */

/* An idle instance of the job's shape, or one to make it in. */
vyre_result vy_pool_take(vyre_pipeline *pipeline, vy_job *job, vy_choice choice,
                         const vy_moves *moves, vy_instance **out_instance, vyre_diag *diag);
/* Nothing of it is in flight. */
void vy_pool_give(vyre_pipeline *pipeline, vy_instance *instance);
/* Pipelines register, so that idle instances can be given back and devices destroyed first. */
void vy_pool_add_pipeline(vyre_pipeline *pipeline);
void vy_pool_remove_pipeline(vyre_pipeline *pipeline);
/* For each pipeline of the device; `visit` must not add or remove any. */
void vy_runs_each_pipeline(vyre_device *device, void (*visit)(void *user, vyre_pipeline *pipeline),
                           void *user);
/* The device's sequences, in a list under the same lock. */
void vy_runs_add_sequence(vyre_device *device, struct vyre_sequence *sequence);
void vy_runs_remove_sequence(vyre_device *device, struct vyre_sequence *sequence);
struct vyre_sequence *vy_runs_first_sequence(vyre_device *device);
/* Destroys idle instances of all pipelines; returns the bytes. */
uint64_t vy_pool_evict(vyre_device *device);
/* Destroys the pipeline's idle instances and recordings' memory. */
void vy_pool_empty(vyre_pipeline *pipeline);

#endif
