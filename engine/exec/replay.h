/* The strategy that is always possible: a dispatch for each segment and pass, in chunks of recorded
 * commands that are submitted as often as needed. */
#ifndef VY_REPLAY_H
#define VY_REPLAY_H

#include "engine/exec/instance.h"

/* Runs a prepared job and waits. *out_value: the timeline's value of the last submission, also
 * where this failed; after TIMEOUT the device may still be at work until then. Does not touch the
 * caller's memory. */
vyre_result vy_replay_run(vyre_pipeline *pipeline, vy_instance *instance, const vy_job *job,
                          uint64_t deadline_ns, vyre_report *report, uint64_t *out_value,
                          vyre_diag *diag);

/* What a plan of the instance's needs to know; the chunk's own fields are zero. */
void vy_replay_plan_input(const vyre_pipeline *pipeline, const vy_instance *instance,
                          vy_chunk_input *out_input);

#endif
