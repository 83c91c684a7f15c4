/* Programs recorded into commands of a host's, or of a sequence: what such commands use, from the
 * pipelines' pools, until it is known that the device is done with it. */
#ifndef VY_RECORDING_H
#define VY_RECORDING_H

#include "engine/exec/replay.h"
#include "vyre/vulkan.h"

struct vyre_recording {
    vyre_recording *previous, *next; /* of the pipeline's recordings or idle ones */
    vyre_allocator allocator;
    vyre_pipeline *pipeline; /* NULL once it was destroyed */
    vy_instance *instance;
    vy_job job; /* its buffers stay acquired */
    vy_moves moves;
    vy_scratch scratch;
    vyre_retirement retirement;
    bool is_given_up;       /* by the host: idle when it is retired */
    bool is_recorded_since; /* the last barrier of its sequence */
    vyre_report report;
};

/* Ready to be recorded: checked, with memory and blocks. The caller's arrays are not needed after.
 */
vyre_result vy_recording_take(vyre_pipeline *pipeline, const vyre_dispatch_params *params,
                              vyre_recording **out_recording, vyre_diag *diag);
/* Nothing of it is in flight. */
void vy_recording_give(vyre_recording *recording);
#define VY_RECORDING_AGAIN    1u /* earlier in the same submission too: its records go on */
#define VY_RECORDING_NO_END   2u /* and later: the host does not read what it leaves */
#define VY_RECORDING_NO_STATE 4u /* somebody else reads the fixpoint's state */
/* Records all passes, between the buffers' acquires and releases (`sync` may be NULL); `parts`:
 * VY_RECORDING_*. After an error nothing was recorded. */
vyre_result vy_recording_record(vyre_recording *recording, VkCommandBuffer commands,
                                vy_border before, vy_border after, uint32_t parts,
                                const vyre_host_sync *sync, vyre_diag *diag);
/* Gives back what has retired; `pipeline` NULL: of all pipelines. */
void vy_recordings_collect(vyre_device *device, vyre_pipeline *pipeline);
/* Destroys idle ones. */
void vy_recordings_empty(vyre_pipeline *pipeline);
/* For the end of a pipeline: those that are left keep no Vulkan objects, and refuse calls. */
void vy_recordings_detach(vyre_pipeline *pipeline);

/* ---- ownership.c ----------------------------------------------------------------------------- */

/* Command buffers of their own for the host's buffers to be acquired and released; VK_NULL_HANDLE
 * where there are none. The buffers must be bound in the job. */
vyre_result vy_ownership_record(vyre_pipeline *pipeline, vy_instance *instance, const vy_job *job,
                                const vyre_host_sync *sync, VkCommandBuffer *out_before,
                                VkCommandBuffer *out_after, vyre_diag *diag);
/* What is wrong with the caller's lists: counts, missing arrays and semaphores, families, buffers
 * that are not bound. `sync` may be NULL. */
vyre_result vy_ownership_check(const vyre_pipeline *pipeline, const vy_job *job,
                               const vyre_host_sync *sync, vyre_diag *diag);
/* One half of the transfers into given commands. */
void vy_ownership_transfer(vyre_pipeline *pipeline, const vy_job *job, const vyre_host_sync *sync,
                           bool is_acquire, VkCommandBuffer commands);

/* ---- sequence.c ------------------------------------------------------------------------------ */

/* For the end of a device: its sequences keep no Vulkan objects. */
void vy_sequences_detach(vyre_device *device);
/* The links of the device's list. */
vyre_sequence **vy_sequence_next(vyre_sequence *sequence);
vyre_sequence **vy_sequence_previous(vyre_sequence *sequence);

#endif
