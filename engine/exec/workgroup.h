/* The strategy for grids of one workgroup: one dispatch runs all segments and as many passes as fit
 * a launch, with barriers of the workgroup between them, and ends by itself where the flag of
 * `until` stays zero. Results are those of replay, whose chunks and recordings it shares. */
#ifndef VY_WORKGROUP_H
#define VY_WORKGROUP_H

#include "engine/exec/job.h"

/* Whether the job runs so, by what the caller asked for; INVALID_ARGUMENT with the reason where it
 * was asked for and cannot be. */
vyre_result vy_workgroup_choose(const vyre_pipeline *pipeline, bool is_recording, vy_job *job,
                                vyre_diag *diag);
/* Passes of one launch: so many that it does not run for long, at least 1. */
uint32_t vy_workgroup_passes(uint32_t execution_count);

#endif
