/* What a pipeline's dispatches run in: hidden memory, staging, descriptor sets and command buffers.
 * A pipeline has one for its dispatches, each recording one of its own. */
#ifndef VY_INSTANCE_H
#define VY_INSTANCE_H

#include "engine/device/commands.h"
#include "engine/exec/job.h"

#define VY_MAX_LANES 2u

/* A piece of a VkBuffer. */
typedef struct vy_piece {
    VkBuffer buffer;
    uint64_t offset, size;
} vy_piece;

/* What decides the commands of a chunk, apart from the instance's generation. */
typedef struct vy_chunk_key {
    uint32_t first, count, passes;
    uint32_t is_start, has_epilogue;
} vy_chunk_key;

/* One command buffer with the memory that only it uses: never pending twice. */
typedef struct vy_lane {
    vy_commands commands;
    VkDescriptorSet set, judge_set;
    vy_block block; /* parameter blocks, on the device */
    VkQueryPool queries;
    uint64_t value;      /* of the timeline when its last submission has ended */
    uint64_t generation; /* of the instance when it was recorded; 0: never */
    vy_chunk_key key;
    uint32_t dispatches, judges, barriers, elided;
} vy_lane;

struct vy_instance {
    vy_lane lanes[VY_MAX_LANES];
    uint32_t lane_count;
    VkDescriptorPool pool;
    bool has_timestamps;
    vy_block host_block; /* for each lane: block, judge's block, the state's start */
    uint64_t region_size, judge_offset, state_offset;
    vy_block state, records, spill, upload, readback;
    vy_block own[VYRE_MAX_BUFFERS]; /* borrowed and scratch buffers */

    /* The dispatch prepared. Changes of it count as generations: lanes of an older one are recorded
     * again. */
    uint64_t generation;
    vy_piece pieces[VYRE_MAX_BUFFERS];
    uint64_t identities[VYRE_MAX_BUFFERS]; /* of what the pieces lie in: a resident buffer's handle,
                                              a block's serial */
    uint64_t alias[VYRE_MAX_BUFFERS];
    uint32_t launched[3];
    bool is_folded;
    vy_execution *executions;
    uint32_t execution_count, dispatch_count;
    vy_touch *touches; /* by segment */
    uint32_t touch_count;
    bool is_prepared; /* descriptor sets and transfers are those of the last job */
    vy_command prologue[2 * VYRE_MAX_BUFFERS + 4], epilogue[VYRE_MAX_BUFFERS + 2];
    uint32_t prologue_count, epilogue_count;
    uint64_t upload_offsets[VYRE_MAX_BUFFERS], readback_offsets[VYRE_MAX_BUFFERS];
    uint64_t records_offset;
    uint64_t upload_size, readback_size;
};

vyre_result vy_instance_create(vyre_pipeline *pipeline, uint32_t lane_count, bool has_commands,
                               vy_instance **out_instance, vyre_diag *diag);
void vy_instance_destroy(vyre_device *device, vy_instance **instance);
/* Makes memory, descriptor sets and transfers right for the job. Nothing of the instance is in
 * flight. `may_submit`: `scratch keep` memory may be made. */
vyre_result vy_instance_prepare(vyre_pipeline *pipeline, vy_instance *instance, const vy_job *job,
                                bool may_submit, vyre_diag *diag);
/* Writes the host's block of a lane. */
vyre_result vy_instance_write_block(vyre_pipeline *pipeline, vy_instance *instance,
                                    const vy_job *job, uint32_t lane, uint32_t pass_base,
                                    vyre_diag *diag);
/* Where a lane's copy of the state lies in the readback memory. */
uint64_t vy_instance_state_readback(const vy_instance *instance, uint32_t lane);

/* ---- record.c -------------------------------------------------------------------------------- */

/* Carries a plan out into a command buffer. */
void vy_record_plan(vyre_pipeline *pipeline, vy_instance *instance, uint32_t lane,
                    const vy_chunk_plan *plan, VkCommandBuffer commands);

/* ---- report.c -------------------------------------------------------------------------------- */

/* Reads the records that were copied to the readback memory. */
void vy_report_records(const vyre_pipeline *pipeline, const vy_instance *instance,
                       vyre_fault_record *out_record);
/* The fixpoint's state, of a lane's copy. */
void vy_report_state(const vy_instance *instance, uint32_t lane, uint32_t *out_words);
/* Bytes of hidden memory. */
void vy_report_memory(const vy_instance *instance, vyre_report *report);

#endif
