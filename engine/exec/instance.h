/* What a dispatch runs in: hidden memory, staging, and recorded commands of one shape. A pipeline
 * keeps those that are idle; each recording into a host's commands has one of its own. */
#ifndef VY_INSTANCE_H
#define VY_INSTANCE_H

#include "engine/device/commands.h"
#include "engine/exec/moves.h"

/* A piece of a VkBuffer. */
typedef struct vy_piece {
    VkBuffer buffer;
    uint64_t offset, size;
    VkDeviceAddress address; /* of `offset`; 0: only by descriptors */
} vy_piece;

/* What decides the commands of a chunk, within an instance. */
typedef struct vy_chunk_key {
    uint32_t first, count, passes;
    uint32_t is_start, has_epilogue;
    uint32_t phase, flag; /* `until`: of the first pass, the word of the last */
    uint32_t lane;        /* whose parameter blocks they read */
    uint32_t is_timed;
} vy_chunk_key;

/* One command buffer: never pending twice. */
typedef struct vy_recorded {
    vy_commands commands;
    VkQueryPool queries;
    uint64_t generation; /* of the instance when it was recorded; 0: never */
    uint64_t value;      /* of the timeline when its last submission has ended */
    uint64_t used;       /* the instance's clock when it was last used */
    vy_chunk_key key;
    uint32_t dispatches, barriers, elided;
} vy_recorded;

#define VY_MAX_RECORDED 40u /* chunks of 4, 8, 16, ... 4096 passes, by lanes, and their ends */

/* Whose buffers: the program's, or those of a kernel of the engine's beside it. */
typedef enum vy_set_kind { VY_SET_PROGRAM, VY_SET_GRID } vy_set_kind;
#define VY_SET_KINDS 2u

/* Parameter blocks for one chunk in flight, and what is bound for it. */
typedef struct vy_lane {
    vy_block block; /* the device's copy, where it cannot read the host's */
    VkDescriptorSet sets[VY_SET_KINDS];
    uint64_t bound_serial; /* address form: of the memory that the set was written for */
} vy_lane;

struct vy_instance {
    vy_instance *next; /* in the pipeline's list */
    /* The shape: dispatches of another one do not use what is recorded here. */
    const vy_binder *binder;
    vy_choice choice;
    uint32_t launched[3];
    const uint32_t *coarse_elements; /* of coarse choices: by segment, the kernel's */
    vy_execution *executions;
    bool *meets; /* by execution, of workgroups that stay: vy_plan_meetings */
    uint32_t execution_count, dispatch_count;
    vy_trim trim;
    uint64_t alias[VYRE_MAX_BUFFERS];
    vy_moves moves;
    uint64_t identities[VYRE_MAX_BUFFERS]; /* of what the pieces lie in: a resident buffer's handle,
                                              a block's serial */
    vy_piece pieces[VYRE_MAX_BUFFERS];
    vy_touch *touches; /* by segment */
    uint32_t touch_count;
    bool is_shaped;

    /* Commands recorded in an older generation name memory that is gone. */
    uint64_t generation, clock;
    vy_recorded recorded[VY_MAX_RECORDED];
    uint32_t recorded_count;
    bool has_timestamps;
    vy_commands ownership[2]; /* acquire, release: recorded for each dispatch that needs them */

    uint32_t descriptor_writes; /* for the dispatch prepared last */
    vy_lane lanes[VY_MAX_LANES];
    uint32_t lane_count;
    VkDescriptorPool pool;
    /* For each lane: the program's blocks, the grid's, those of transfers, the state's start. */
    vy_block host_block;
    bool is_direct;       /* kernels read it where it lies */
    uint32_t block_count; /* the program's: one, or what vy_instance_block_offset chooses from */
    uint64_t block_stride, schedule_offset, grid_offset, moves_offset, state_offset, region_size;
    bool is_state_direct; /* the host writes its start where it lies */
    vy_block state, records, spill, upload, readback, crumbs, sync;
    vy_block own[VYRE_MAX_BUFFERS]; /* borrowed and scratch buffers */
};

/* `is_recording`: for commands of a host, with one lane and nothing recorded here. */
vyre_result vy_instance_create(vyre_pipeline *pipeline, const vy_binder *binder, bool is_recording,
                               vy_instance **out_instance, vyre_diag *diag);
void vy_instance_destroy(vyre_device *device, vy_instance **instance);
/* Whether what is recorded serves the job: the same commands, and the same buffers where they are
 * named. */
bool vy_instance_fits(const vy_instance *instance, const vy_job *job, vy_choice choice,
                      const vy_moves *moves);
/* The same commands, whatever buffers they name; they may launch more workgroups than the job
 * needs. */
bool vy_instance_has_shape(const vy_instance *instance, const vy_job *job, vy_choice choice,
                           const vy_moves *moves);
/* The same, but for the workgroups that are launched. */
bool vy_instance_is_alike(const vy_instance *instance, const vy_job *job, vy_choice choice,
                          const vy_moves *moves);
/* Whether one that fits launches no more workgroups than the job needs. */
bool vy_instance_is_exact(const vy_instance *instance, const vy_job *job);
/* Makes shape, memory and bindings right for the job. Nothing of the instance is in flight.
 * `may_submit`: `scratch keep` memory may be made. */
vyre_result vy_instance_prepare(vyre_pipeline *pipeline, vy_instance *instance, const vy_job *job,
                                vy_choice choice, const vy_moves *moves, bool may_submit,
                                vyre_diag *diag);
/* For dispatches of no workgroups alone: everything there is to bind is bound to something. */
vyre_result vy_instance_prepare_empty(vyre_pipeline *pipeline, vy_instance *instance,
                                      vy_choice choice, vyre_diag *diag);
/* Writes the blocks of a lane for the job, and the state's start. Nothing of the instance is in
 * flight. */
vyre_result vy_instance_write_blocks(vyre_pipeline *pipeline, vy_instance *instance,
                                     const vy_job *job, uint32_t lane, vyre_diag *diag);
/* The number of a chunk's first pass, in blocks that were written. */
vyre_result vy_instance_write_pass(vyre_pipeline *pipeline, vy_instance *instance, uint32_t lane,
                                   uint32_t pass_base, vyre_diag *diag);
/* Where a lane's copy of the state lies in the readback memory. */
uint64_t vy_instance_state_readback(uint32_t lane);
/* And its sync word. */
uint64_t vy_instance_sync_readback(uint32_t lane);
/* Where the block of the n-th transfer by a kernel lies in a lane's region. */
uint64_t vy_instance_move_offset(const vy_instance *instance, uint32_t block);
/* Bytes of a program's parameter block as its modules declare it; and of the largest of a lane's
 * blocks, which is what a set of the address form binds from any offset on. */
uint64_t vy_instance_block_size(const vyre_pipeline *pipeline);
uint64_t vy_instance_block_range(const vyre_pipeline *pipeline);
/* Where in a lane's region the program's block lies for an execution of a pass: with `until` each
 * of VY_STATE_TURNS passes has one, and another one for the executions behind its first. */
uint64_t vy_instance_block_offset(const vy_instance *instance, uint32_t pass, uint32_t execution);
vy_piece vy_block_piece(const vy_block *block);
/* The hidden buffers, in the order of VY_HIDDEN_*; the block is that of a lane. */
void vy_instance_hidden(const vyre_pipeline *pipeline, const vy_instance *instance, uint32_t lane,
                        vy_piece out_pieces[VY_HIDDEN_COUNT]);

/* ---- record.c -------------------------------------------------------------------------------- */

/* Carries a plan out into a command buffer. `queries` may be none. */
void vy_record_plan(vyre_pipeline *pipeline, vy_instance *instance, uint32_t lane,
                    const vy_chunk_plan *plan, VkQueryPool queries, VkCommandBuffer commands);

/* A dispatch of no workgroups for each segment of the instance's choice, and for what of the
 * engine's kernels stands between them. */
void vy_record_empty(vyre_pipeline *pipeline, vy_instance *instance, bool has_moves,
                     VkCommandBuffer commands);

/* ---- report.c -------------------------------------------------------------------------------- */

/* Reads the records that were copied to the readback memory. */
void vy_report_records(const vyre_pipeline *pipeline, const vy_instance *instance,
                       vyre_fault_record *out_record);
/* The fixpoint's state, of a lane's copy. */
void vy_report_state(const vy_instance *instance, uint32_t lane, uint32_t *out_words);
/* What the device read as the grid, from the state; leaves the report where the host knows it. */
void vy_report_grid(const vyre_pipeline *pipeline, const uint32_t *state, vyre_report *report);
/* Bytes of hidden memory. */
void vy_report_memory(const vy_instance *instance, vyre_report *report);

#endif
