/* Which strategy a dispatch runs by: what the caller asks for, or the library's choice, with the
 * reason. Nothing else decides it.
 *
 * WORKGROUP, for grids of one workgroup: one dispatch runs all segments and as many passes as fit a
 * launch, with barriers of the workgroup between them, and ends by itself where the flag of `until`
 * stays zero. PERSISTENT: one dispatch of so many workgroups as are known to run at once; they walk
 * the logical workgroups of each segment execution, and meet where a dispatch would wait. At most
 * one runs at a time: on the queue a barrier stands before each, and behind it. Results are those
 * of replay, whose chunks and recordings they share. */
#ifndef VY_STRATEGY_H
#define VY_STRATEGY_H

#include "engine/exec/instance.h"
#include "engine/exec/job.h"

/* Whether what is asked for goes by addresses alone. */
bool vy_strategy_needs_addresses(const vyre_dispatch_params *params);
/* INVALID_ARGUMENT with the reason where what was asked for cannot be. */
vyre_result vy_strategy_choose(vyre_pipeline *pipeline, bool is_recording, vy_job *job,
                               vyre_diag *diag);
/* After `code` from making the job's pipelines: whether the library's choice becomes replay, now
 * and for later dispatches of the pipeline. */
bool vy_strategy_falls_back(vyre_pipeline *pipeline, vy_job *job, vyre_result code);
/* As in reports. */
const char *vy_strategy_text(const vy_job *job);
/* Of PERSISTENT: the most logical workgroups of a launched one; how many segment executions a
 * launch runs at most; how often a workgroup looks for the others; whether all met in what a lane
 * ran. */
uint32_t vy_persistent_rounds(const vy_job *job);
uint32_t vy_persistent_executions(uint32_t rounds);
uint32_t vy_persistent_patience(const vyre_device *device);
vyre_result vy_persistent_check(vyre_device *device, const vy_instance *instance, uint32_t lane,
                                const char *label, vyre_diag *diag);
/* Passes of one launch of WORKGROUP: so many that it does not run for long, at least 1. */
uint32_t vy_workgroup_passes(uint32_t execution_count);

#endif
