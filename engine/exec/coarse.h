/* Dispatches whose invocations do several elements each, by accesses of up to 16 bytes: which ones,
 * and how many workgroups are launched for them. Results are the same. */
#ifndef VY_COARSE_H
#define VY_COARSE_H

#include "engine/exec/job.h"

/* Sets is_coarse and coarse_elements of a job that is checked otherwise. Errors: what asks for
 * something unknown, and those of a compiler. */
vyre_result vy_coarse_choose(const vyre_pipeline *pipeline, vy_job *job, vyre_diag *diag);
/* Workgroups in x, for a segment whose invocations do so many elements each. */
static inline uint32_t vy_coarse_groups(uint32_t groups, uint32_t elements)
{
    return groups / elements + (groups % elements != 0);
}

#endif
