/* The inside of runs: run.c keeps the table, run_start.c starts them, run_drive.c moves them on to
 * their results, pool.c has the pipelines' idle instances. Locks: the table's is held for a few
 * words only, never over a wait, a callback or a Vulkan call; no other lock is taken under it but
 * that of the counters. */
#ifndef VY_RUN_PARTS_H
#define VY_RUN_PARTS_H

#include "engine/exec/recording.h"
#include "engine/exec/run.h"

struct vy_runs {
    vy_mutex mutex;
    vy_condition changed; /* a run was started, has ended, or is no longer driven */
    vy_engine_kernels kernels;
    vy_run **list;
    uint32_t count, capacity;
    uint32_t active, abandoned;
    vyre_pipeline *pipelines; /* under pipeline_mutex, as are */
    vyre_sequence *sequences;
    vy_mutex pipeline_mutex;
    vy_thread thread;
    bool has_thread, is_ending;
    bool has_mutex, has_changed, has_pipeline_mutex;
    vyre_loss loss; /* of the run that was seen lost first */
    uint64_t loss_value;
};

/* Under the table's lock: the run is free, its tickets are stale. */
void vy_run_give_back(vy_runs *runs, vy_run *run);
/* Ends the driving of a run by this thread. */
void vy_run_leave_driving(vyre_device *device, vy_run *run, bool has_ended);
/* The device's own thread. */
vy_thread_result VY_THREAD_CALL vy_runs_drive(void *device);
/* Takes the run to drive it, if nobody has it and it has not ended. Under the table's lock. */
bool vy_run_take_driving(vy_run *run);
/* Remembers what a lost run was at, and says so in diag. By the thread that drives it. */
void vy_run_note_loss(vyre_device *device, const vy_run *run, vyre_diag *diag);

#endif
