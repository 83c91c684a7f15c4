/* What sequences are made of, for the files that make, record and run them. */
#ifndef VY_SEQUENCE_H
#define VY_SEQUENCE_H

#include "engine/exec/recording.h"
#include "engine/memory/transfer_plan.h"

/* Memory that commands since the last barrier have touched. */
typedef struct vy_touched {
    VkBuffer buffer;
    uint64_t offset, size;
    bool is_written;
} vy_touched;

struct vyre_sequence {
    vyre_sequence *previous, *next; /* of the device's */
    vyre_device *device;            /* NULL once it was destroyed */
    vyre_allocator allocator;
    vy_arena arena;

    vyre_recording **steps;
    uint32_t prefix_count, group_count, repeat;
    vyre_fill *fills;
    vyre_download *downloads;
    uint32_t fill_count, download_count;
    vy_resident *residents; /* of fills, then of downloads */
    uint32_t resident_count;
    /* The downloads as they are copied: ranges that touch are one. */
    vy_region *regions;
    uint32_t *region_of; /* by download */
    uint32_t region_count;
    vy_block readback;
    /* The state that a step left, each time that one whose grid or passes the device decides runs.
     */
    vy_block states;
    uint32_t state_count;

    vy_commands *commands;
    uint32_t command_count, command_capacity;
    VkQueryPool queries;
    uint32_t in_chunk;       /* dispatches of the commands being recorded */
    uint64_t dispatch_count; /* of all */
    uint64_t barriers, elided;
    bool after_dispatch, barrier_between;
    VY_VEC(vy_touched) touched;
    uint32_t touched_before_transfer; /* of these, what transfers already wait for */
    bool is_ordered;                  /* behind everything that was submitted before */

    uint64_t value; /* of the timeline when the last run has ended */
};

#define VY_SEQUENCE_STATE_SIZE (VY_STATE_WORDS * sizeof(uint32_t))

uint32_t vy_sequence_step_count(const vyre_sequence *sequence);
/* How often the steps run in all, and which one the n-th is. */
uint64_t vy_sequence_total(const vyre_sequence *sequence);
uint32_t vy_sequence_step(const vyre_sequence *sequence, uint64_t n);
/* Whether the device counts the step's passes, or reads its grid. */
bool vy_sequence_is_counted(const vyre_recording *step);
/* Dispatches of a step. */
uint64_t vy_sequence_dispatches(const vyre_recording *step);

/* ---- sequence_record.c ----------------------------------------------------------------------- */

/* Everything was taken: records all of it. */
vyre_result vy_sequence_record(vyre_sequence *sequence, vyre_diag *diag);

#endif
