/* Which dispatches may run as one workgroup. */
#include "engine/exec/workgroup.h"

#include "engine/exec/plan.h"
#include "engine/pipeline/limits.h"

/* Steps of a few hundred nanoseconds: a launch of some milliseconds costs nothing beside. */
#define MAX_LAUNCH_EXECUTIONS 16384u

uint32_t vy_workgroup_passes(uint32_t execution_count)
{
    uint32_t passes = execution_count ? MAX_LAUNCH_EXECUTIONS / execution_count : 1;
    return passes ? passes : 1;
}

/* Why it cannot, in words; NULL: it can. */
static const char *find_hindrance(const vyre_pipeline *p, bool is_recording, const vy_job *job)
{
    const char *text = vy_kernel_workgroup_hindrance(p->kernel);
    if (text) {
        return text;
    }
    if (is_recording) {
        return "recordings and sequences replay each segment";
    }
    if (job->dispatch_count == 0) {
        return "the grid is empty";
    }
    if (job->shape.group_total != 1) {
        return "the grid has more than one workgroup";
    }
    if (p->device->debug & (VYRE_DEBUG_SERIALIZE | VYRE_DEBUG_BREADCRUMBS)) {
        return "the device's debugging looks at each dispatch of a segment";
    }
    return NULL;
}

vyre_result vy_workgroup_choose(const vyre_pipeline *p, bool is_recording, vy_job *job,
                                vyre_diag *diag)
{
    vyre_strategy asked = job->params->strategy;
    job->is_whole = false;
    if (asked != VYRE_STRATEGY_AUTO && asked != VYRE_STRATEGY_REPLAY &&
        asked != VYRE_STRATEGY_WORKGROUP) {
        return vy_invalid(diag, "%d is no strategy. Fix: use a value of vyre_strategy", (int)asked);
    }
    if (asked != VYRE_STRATEGY_WORKGROUP) {
        return VYRE_OK;
    }
    const char *hindrance = find_hindrance(p, is_recording, job);
    if (hindrance) {
        return vy_invalid(diag,
                          "the dispatch of '%s' cannot run as one workgroup: %s. Fix: let the "
                          "library choose the strategy (VYRE_STRATEGY_AUTO)",
                          vyre_kernel_name(p->kernel), hindrance);
    }
    job->is_whole = true;
    job->spill_size =
        (uint64_t)vy_kernel_whole_words(p->kernel) * sizeof(uint32_t) * job->shape.invocations;
    if (job->spill_size == 0 && vy_limits_has_hidden(p->kernel, VY_HIDDEN_SPILL)) {
        job->spill_size = sizeof(uint32_t); /* there must be something to be bound */
    }
    return VYRE_OK;
}
