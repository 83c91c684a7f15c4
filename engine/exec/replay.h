/* The strategy that is always possible, and the chunks of the strategy workgroup beside it, which
 * are one dispatch each: a dispatch for each segment and pass, in chunks of recorded
 * commands that are submitted as often as needed. Without `until` a dispatch is as few chunks as
 * the limit of dispatches allows, two in flight; with it they grow by vy_chunk_ladder, and one is
 * submitted ahead of the one that runs, so that what is submitted in vain after convergence is at
 * most the rest of one chunk and the next. Outputs that cost little to copy are copied behind each
 * of these, so that nothing is submitted once one has converged. Nothing here waits. */
#ifndef VY_REPLAY_H
#define VY_REPLAY_H

#include "engine/exec/bind.h"
#include "engine/exec/own_kernels.h"

/* A chunk in flight. */
typedef struct vy_flight {
    bool is_busy;
    uint64_t value; /* of the timeline when it has ended */
    uint32_t chunk, recorded, passes, first_pass;
    bool has_epilogue;
} vy_flight;

typedef struct vy_replay {
    vyre_pipeline *pipeline;
    vy_instance *instance;
    uint32_t limit;      /* passes */
    uint32_t last_count; /* of the last one no more executions are run; 0: all */
    bool is_timed;
    struct vy_marks *marks;   /* each execution is a chunk, whose times go there; NULL: not so */
    uint32_t pass, execution; /* where the next chunk starts */
    uint32_t ended;           /* passes, in chunks that have ended */
    uint32_t chunk;
    uint64_t whole_stride; /* of the strategy workgroup: bytes between words of its SPILL */
    uint32_t rounds;       /* of the strategy persistent: logical workgroups of a launched one */
    uint64_t launches;     /* of these strategies: chunks with passes that have ended */
    vy_flight flights[VY_MAX_LANES];
    uint32_t lane_passes_base[VY_MAX_LANES]; /* what a lane's blocks say */
    bool is_sent;    /* the last chunk, with the epilogue and the host's signals, was submitted */
    bool is_stopped; /* no other chunk is submitted, whatever was not run */
    bool has_converged; /* as far as the host has seen */
    uint64_t last_value;
    uint32_t state[VY_STATE_WORDS]; /* the newest that the host has seen */
    uint32_t passes;                /* that it says have run */
    bool has_first;
    uint64_t first_tick, first_dispatch_tick, last_dispatch_tick, last_tick;
    /* The host's semaphores and command buffers, for the first and the last submission. */
    const vy_semaphore *waits, *signals;
    uint32_t wait_count, signal_count;
    VkCommandBuffer before, after;
    const char *label;
} vy_replay;

/* How many lanes a job's chunks take turns in: one where a single chunk holds all passes. */
uint32_t vy_replay_lanes(const vyre_pipeline *pipeline, const vy_job *job);
/* Submits the first chunks. On failure nothing is in flight, or `last_value` says until when
 * something is. */
vyre_result vy_replay_start(vy_replay *replay, vyre_report *report, vyre_diag *diag);
/* Looks at what has ended and submits what may follow. */
vyre_result vy_replay_advance(vy_replay *replay, vyre_report *report, vyre_diag *diag);
/* Everything was submitted and has ended. */
bool vy_replay_is_over(const vy_replay *replay);
/* The value whose reaching lets vy_replay_advance go on: that of the oldest chunk in flight. */
uint64_t vy_replay_next_value(const vy_replay *replay);
void vy_replay_fill_report(const vy_replay *replay, vyre_report *report);
/* What was running when the device was lost, as far as is known. Returns the timeline's value that
 * it would have reached; 0: nothing of it was. */
uint64_t vy_replay_describe(const vy_replay *replay, vyre_loss *loss);

/* What a plan of the instance's needs to know; the chunk's own fields are zero. */
void vy_replay_plan_input(const vyre_pipeline *pipeline, const vy_instance *instance,
                          vy_chunk_input *out_input);
/* The prologue of a first chunk: the copy of the parameter blocks, where there is one, then the
 * instance's. Returns how many; `out` holds VY_MAX_PROLOGUE. */
/* What the end of a chunk copies of the state, in a lane: `passes` 0, a chunk without dispatches;
 * `flag`, that flag word to the flag's buffer, or VY_STATE_TURNS. */
void vy_replay_ends(const vyre_pipeline *pipeline, const vy_instance *instance, uint32_t lane,
                    uint32_t passes, uint32_t flag, vy_chunk_input *input);
#define VY_MAX_PROLOGUE (2 * VYRE_MAX_BUFFERS + 5)
uint32_t vy_replay_prologue(const vy_instance *instance, bool is_start, vy_command *out);

#endif
