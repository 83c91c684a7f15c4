/* The one place that decides how a dispatch runs, and the constants that it decides by. */
#include "engine/exec/strategy.h"

#include "engine/exec/bind.h"
#include "engine/exec/plan.h"
#include "engine/pipeline/limits.h"

#include <string.h>

/* Steps of a few hundred nanoseconds: a launch of some milliseconds costs nothing beside. */
#define MAX_LAUNCH_EXECUTIONS 16384u

/* From so many segment executions on a barrier of the workgroup saves a dispatch and its barrier.
 */
#define MIN_WORKGROUP_EXECUTIONS 2u

/* The library's choice of workgroups that stay: so many segment executions in all pay for another
 * module and its launch, and in so many rounds of them a barrier still costs more than a card that
 * is not full. Nothing is chosen yet: a step costs so what it costs as a dispatch, with `until`
 * half of it (docs/measurements.md), on the one device where that was measured. */
#define MIN_PERSISTENT_EXECUTIONS UINT64_MAX
#define MAX_PERSISTENT_ROUNDS     2u

/* Segment executions of a launch times rounds: some microseconds each, some 100 ms in all. The sync
 * word counts the arrivals of a launch, below 2^31. */
#define MAX_LAUNCH_ROUNDS     65536u
#define MAX_LAUNCHED          4096u
#define MAX_PERSISTENT_GROUPS 0x7fffffffu
#define MAX_SCHEDULE          4096u

/* How often a workgroup looks for the others: some seconds. */
#define PATIENCE           (1u << 23)
#define PROCESSOR_PATIENCE (1u << 26)

uint32_t vy_workgroup_passes(uint32_t execution_count)
{
    uint32_t passes = execution_count ? MAX_LAUNCH_EXECUTIONS / execution_count : 1;
    return passes ? passes : 1;
}

/* Why the job cannot run as one workgroup, in words; NULL: it can. */
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

static void take_workgroup(const vyre_pipeline *p, vy_job *job, const char *reason)
{
    job->is_whole = true;
    job->strategy_reason = reason;
    job->spill_size =
        (uint64_t)vy_kernel_whole_words(p->kernel) * sizeof(uint32_t) * job->shape.invocations;
    if (job->spill_size == 0 && vy_limits_has_hidden(p->kernel, VY_HIDDEN_SPILL)) {
        job->spill_size = sizeof(uint32_t); /* there must be something to be bound */
    }
}

static void take_replay(vy_job *job, const char *reason)
{
    if (job->is_persistent) {
        job->shape = job->replay_shape;
    }
    job->is_whole = job->is_persistent = job->is_large = false;
    job->strategy_reason = reason;
    job->spill_size = job->replay_spill_size;
}

/* Why the library's choice is not one workgroup; NULL: it is. */
static const char *find_objection(vyre_pipeline *p, bool is_recording, const vy_job *job)
{
    const char *text = find_hindrance(p, is_recording, job);
    if (text) {
        return text;
    }
    if ((uint64_t)job->dispatch_count * job->shape.passes < MIN_WORKGROUP_EXECUTIONS) {
        return "one segment execution in all";
    }
    vy_mutex_lock(&p->mutex);
    bool is_broken = p->is_whole_broken;
    vy_mutex_unlock(&p->mutex);
    return is_broken ? "the module for one workgroup could not be made" : NULL;
}

/* ---- Workgroups that stay -------------------------------------------------------------------- */

/* Subgroups of another width would give other results. */
static bool may_widths_differ(const vyre_pipeline *p)
{
    const vyre_device_info *info = &p->device->snapshot.info;
    return vy_kernel_get_subgroups(p->kernel).is_used && p->subgroup_size == 0 &&
           (info->min_subgroup_size == 0 || info->min_subgroup_size != info->max_subgroup_size);
}

static const char *find_persistent_hindrance(const vyre_pipeline *p, bool is_recording,
                                             const vy_job *job)
{
    const char *text = vy_kernel_persistent_hindrance(p->kernel);
    if (text) {
        return text;
    }
    const struct {
        bool hinders;
        const char *text;
    } rows[] = {
        {is_recording, "recordings and sequences replay each segment"},
        {job->dispatch_count == 0, "the grid is empty"},
        {(p->device->debug & (VYRE_DEBUG_SERIALIZE | VYRE_DEBUG_BREADCRUMBS)) != 0,
         "the device's debugging looks at each dispatch of a segment"},
        {job->binder->is_by_handle, "the buffers are bound by descriptors"},
        {may_widths_differ(p), "the program uses subgroups, whose width may differ between "
                               "pipelines"},
        {job->shape.group_total > MAX_PERSISTENT_GROUPS, "the grid has 2^31 workgroups or more"},
        {job->execution_count > MAX_SCHEDULE, "a pass has more than 4,096 segment executions"},
        {atomic_load(&p->device->is_persistent_off),
         "workgroups of an earlier dispatch did not all run at once on this device"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        if (rows[i].hinders) {
            return rows[i].text;
        }
    }
    return NULL;
}

/* Workgroups that are known to run at once; 0: nothing is known. One for each compute unit does,
 * whatever registers and memory it takes. */
static uint32_t known_residents(const vyre_pipeline *p, const vy_job *job)
{
    return job->params->resident_groups ? job->params->resident_groups
                                        : p->device->snapshot.info.compute_units;
}

/* What a job would be: logical workgroups, those launched, in workgroups of which size. */
typedef struct vy_stay {
    uint32_t total, launched;
    bool is_large;
} vy_stay;

/* Whether more invocations could be had of a unit by larger workgroups, which programs that cannot
 * tell may have. */
static bool can_be_large(const vyre_pipeline *p, const vy_job *job)
{
    const vy_shape *shape = &job->shape;
    uint32_t large = vy_pipeline_large(p);
    return !vy_kernel_workgroup_use(p->kernel) && !job->params->resident_groups &&
           shape->group_total > p->device->snapshot.info.compute_units &&
           p->device->snapshot.info.compute_units > 0 && shape->elements[1] == 1 &&
           shape->elements[2] == 1 && shape->elements[0] <= UINT32_MAX - large &&
           large > p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
}

static vy_stay plan_stay(const vyre_pipeline *p, const vy_job *job)
{
    vy_stay stay = {.total = job->shape.group_total, .is_large = can_be_large(p, job)};
    if (stay.is_large) {
        uint32_t large = vy_pipeline_large(p), count = job->shape.elements[0];
        stay.total = count / large + (count % large != 0);
    }
    const uint32_t limits[] = {stay.total, MAX_LAUNCHED, p->device->snapshot.info.max_groups[0]};
    stay.launched = known_residents(p, job);
    stay.launched = stay.launched ? stay.launched : 1; /* one waits for nobody */
    for (size_t i = 0; i < VY_COUNT_OF(limits); i++) {
        stay.launched = stay.launched < limits[i] ? stay.launched : limits[i];
    }
    return stay;
}

static void take_persistent(const vyre_pipeline *p, vy_job *job, const char *reason)
{
    vy_stay stay = plan_stay(p, job);
    vy_shape *shape = &job->shape;
    job->replay_shape = *shape;
    job->is_persistent = true;
    job->is_large = stay.is_large;
    job->strategy_reason = reason;
    shape->launched[0] = stay.launched;
    shape->launched[1] = shape->launched[2] = 1;
    if (stay.is_large) {
        shape->group_total = shape->groups[0] = stay.total;
        shape->groups[1] = shape->groups[2] = 1;
        shape->invocations = stay.total * vy_pipeline_large(p);
        uint64_t size = vyre_kernel_spill_size(p->kernel) * shape->invocations;
        job->spill_size = size ? size : job->spill_size;
        job->is_wide = vy_job_exceeds_chains(job, p->binding_count);
    }
}

static bool is_persistent_better(vyre_pipeline *p, bool is_recording, const vy_job *job)
{
    uint64_t least = p->device->persistent_least;
    least = least ? least : MIN_PERSISTENT_EXECUTIONS;
    /* Of a host's device nobody knows what else runs on it. */
    bool is_known =
        job->params->resident_groups || (p->device->owns_device && known_residents(p, job));
    if (!is_known || find_persistent_hindrance(p, is_recording, job) ||
        (uint64_t)job->dispatch_count * job->shape.passes < least) {
        return false;
    }
    vy_stay stay = plan_stay(p, job);
    if (stay.total > (uint64_t)stay.launched * MAX_PERSISTENT_ROUNDS) {
        return false;
    }
    vy_mutex_lock(&p->mutex);
    bool is_broken = p->is_persistent_broken;
    vy_mutex_unlock(&p->mutex);
    return !is_broken;
}

uint32_t vy_persistent_rounds(const vy_job *job)
{
    uint32_t launched = job->is_persistent ? job->shape.launched[0] : 0,
             total = job->shape.group_total;
    return launched ? total / launched + (total % launched != 0) : 1;
}

uint32_t vy_persistent_executions(uint32_t rounds)
{
    uint32_t count = MAX_LAUNCH_ROUNDS / (rounds ? rounds : 1);
    return count ? count : 1;
}

uint32_t vy_persistent_patience(const vyre_device *device)
{
    return device->snapshot.info.type == VYRE_DEVICE_PROCESSOR ? PROCESSOR_PATIENCE : PATIENCE;
}

vyre_result vy_persistent_check(vyre_device *device, const vy_instance *in, uint32_t lane,
                                const char *label, vyre_diag *diag)
{
    uint64_t offset = vy_instance_sync_readback(lane);
    uint32_t word = 0;
    vyre_result code = vy_block_invalidate(device, &in->readback, offset, sizeof word, diag);
    if (code != VYRE_OK) {
        return code;
    }
    memcpy(&word, (const unsigned char *)in->readback.mapped + offset, sizeof word);
    if (word < VY_SYNC_STALLED) {
        return VYRE_OK;
    }
    atomic_store(&device->is_persistent_off, true);
    return vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, (vy_loc){0, 0},
                       "the %u workgroups of %s did not all run at once, and waited for each other "
                       "in vain: the contents of the buffers that it writes are lost. Fix: write "
                       "them again and repeat the dispatch; the device replays from now on%s",
                       (unsigned)in->launched[0], label,
                       in->launched[0] > device->snapshot.info.compute_units
                           ? " (resident_groups was too large)"
                           : "");
}

/* ---- The choice ------------------------------------------------------------------------------ */

const char *vy_strategy_text(const vy_job *job)
{
    return job->is_persistent ? "persistent" : job->is_whole ? "workgroup" : "replay";
}

static void choose_freely(vyre_pipeline *p, bool is_recording, vy_job *job)
{
    const char *objection = find_objection(p, is_recording, job);
    if (!objection) {
        take_workgroup(p, job, "a grid of one workgroup");
    } else if (job->shape.group_total > 1 && is_persistent_better(p, is_recording, job)) {
        take_persistent(p, job, "many segment executions of a grid that the device runs at once");
    } else {
        take_replay(job, objection);
    }
}

static vyre_result refuse(const vyre_pipeline *p, const char *what, const char *hindrance,
                          vyre_diag *diag)
{
    return vy_invalid(diag,
                      "the dispatch of '%s' cannot run %s: %s. Fix: let the library choose the "
                      "strategy (VYRE_STRATEGY_AUTO)",
                      vyre_kernel_name(p->kernel), what, hindrance);
}

bool vy_strategy_needs_addresses(const vyre_dispatch_params *params)
{
    return params->strategy == VYRE_STRATEGY_PERSISTENT;
}

vyre_result vy_strategy_choose(vyre_pipeline *p, bool is_recording, vy_job *job, vyre_diag *diag)
{
    const char *hindrance = NULL;
    job->replay_spill_size = job->spill_size;
    switch (job->params->strategy) {
    case VYRE_STRATEGY_AUTO:
        choose_freely(p, is_recording, job);
        return VYRE_OK;
    case VYRE_STRATEGY_REPLAY:
        take_replay(job, "asked for");
        return VYRE_OK;
    case VYRE_STRATEGY_WORKGROUP:
        hindrance = find_hindrance(p, is_recording, job);
        if (hindrance) {
            return refuse(p, "as one workgroup", hindrance, diag);
        }
        take_workgroup(p, job, "asked for");
        return VYRE_OK;
    case VYRE_STRATEGY_PERSISTENT:
        hindrance = find_persistent_hindrance(p, is_recording, job);
        if (hindrance) {
            return refuse(p, "by workgroups that stay", hindrance, diag);
        }
        take_persistent(p, job, "asked for");
        return VYRE_OK;
    default:
        return vy_invalid(diag, "%d is no strategy. Fix: use a value of vyre_strategy",
                          (int)job->params->strategy);
    }
}

/* What another module may do without. */
static bool is_of_module(vyre_result code)
{
    return code == VYRE_ERROR_KERNEL_COMPILE_FAILED || code == VYRE_ERROR_INVALID_PROGRAM ||
           code == VYRE_ERROR_UNSUPPORTED_FEATURE || code == VYRE_ERROR_INTERNAL;
}

bool vy_strategy_falls_back(vyre_pipeline *p, vy_job *job, vyre_result code)
{
    bool is_joined = job->is_whole || job->is_persistent;
    if (!is_of_module(code) || !is_joined || job->params->strategy != VYRE_STRATEGY_AUTO) {
        return false;
    }
    vy_mutex_lock(&p->mutex);
    p->is_whole_broken = p->is_whole_broken || job->is_whole;
    p->is_persistent_broken = p->is_persistent_broken || job->is_persistent;
    vy_mutex_unlock(&p->mutex);
    bool was_whole = job->is_whole;
    take_replay(job, was_whole ? "the module for one workgroup could not be made"
                               : "the module for workgroups that stay could not be made");
    return true;
}
