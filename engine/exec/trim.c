/* Executions whose segments do nothing beyond a bound get fewer workgroups, or none. Whatever a
 * program can see of its grid comes from the parameter block and stays as it is. */
#include "engine/exec/job.h"

#include <string.h>

static bool can_trim(const vyre_pipeline *p, const vy_job *job)
{
    return vy_kernel_has_bounds(p->kernel) && !job->is_whole && !job->is_persistent &&
           !job->shape.is_indirect && job->dispatch_count > 0;
}

/* All of them or none: launched workgroups of a folded grid are numbered one after another, and
 * those of a coarse segment share all its elements. */
static bool is_undivided(const vy_job *job, const vy_execution *execution)
{
    return job->shape.is_folded || (job->is_coarse && job->coarse_elements[execution->segment] > 1);
}

static void trim_execution(const vyre_pipeline *p, const vy_kernel_env *env, vy_job *job,
                           vy_execution *execution)
{
    uint32_t groups[3];
    vy_kernel_extent(p->kernel, env, execution, groups);
    uint64_t needed = (uint64_t)groups[0] * groups[1] * groups[2]; /* of 2^32 at most */
    execution->is_left_out = needed == 0;
    if (needed == 0) {
        job->trim.empty_groups += job->shape.group_total;
        return;
    }
    job->trim.launches++;
    if (is_undivided(job, execution)) {
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        execution->left_out[i] = job->shape.launched[i] - groups[i];
    }
    job->trim.groups += job->shape.group_total - needed;
}

/* The first workgroup of a pass keeps the flag's words (codegen/spirv/emit_flag.c). */
static void keep_first(vy_job *job, vy_execution *first)
{
    if (!first->is_left_out || job->trim.launches == 0) {
        return;
    }
    first->is_left_out = 0;
    for (uint32_t i = 0; i < 3; i++) {
        first->left_out[i] = job->shape.is_folded ? 0 : job->shape.launched[i] - 1;
    }
    job->trim.launches++;
    job->trim.empty_groups -= job->shape.group_total;
    job->trim.groups += job->shape.is_folded ? 0 : job->shape.group_total - 1;
}

void vy_job_widen(vy_job *job)
{
    for (uint32_t i = 0; i < job->execution_count && job->trimmed; i++) {
        job->trimmed[i].is_left_out = 0;
        memset(job->trimmed[i].left_out, 0, sizeof job->trimmed[i].left_out);
    }
    job->trim = (vy_trim){.launches = job->dispatch_count};
}

vyre_result vy_job_trim(const vyre_pipeline *p, vy_scratch *scratch, vy_job *job, vyre_diag *diag)
{
    job->trim = (vy_trim){.launches = job->dispatch_count};
    if (!can_trim(p, job)) {
        return VYRE_OK;
    }
    vy_execution *list =
        vy_alloc_zeroed(vy_scratch_allocator(scratch), job->execution_count, sizeof *list);
    if (!list) {
        return vy_diag_no_memory(diag);
    }
    memcpy(list, job->executions, job->execution_count * sizeof *list);
    vy_kernel_env env = {.params = job->params->params, .lengths = job->shape.lengths};
    memcpy(env.groups, job->shape.groups, sizeof env.groups);
    memcpy(env.workgroup, p->workgroup, sizeof env.workgroup);
    job->trim.launches = 0;
    for (uint32_t i = 0; i < job->execution_count; i++) {
        trim_execution(p, &env, job, &list[i]);
    }
    if (p->has_until) {
        keep_first(job, &list[0]);
    }
    job->executions = job->trimmed = list;
    /* As where the grid is empty: there is nothing to repeat. */
    job->dispatch_count = job->trim.launches ? job->dispatch_count : 0;
    return VYRE_OK;
}
