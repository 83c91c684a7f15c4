/* Which dispatches are coarse. */
#include "engine/exec/coarse.h"

#include "engine/exec/bind.h"

/* With fewer, there would be too few invocations to fill a device, or to wait for. */
#define MIN_ELEMENTS (1u << 18)
/* Of programs that can tell workgroups, whose invocations keep one element each. With fewer, what
 * wide accesses save is not worth the words' compiling. */
#define MIN_INVOCATIONS (1u << 14)
#define ALIGNMENT       16u

static uint64_t invocations_of(const vy_job *job)
{
    uint64_t plane = (uint64_t)job->shape.elements[0] * job->shape.elements[1];
    return job->shape.elements[2] && plane > UINT64_MAX / job->shape.elements[2]
               ? UINT64_MAX
               : plane * job->shape.elements[2];
}

/* The grid lies in x alone, is launched as it is, and known to the host: so fewer invocations may
 * do it. */
static bool has_plain_grid(const vyre_pipeline *p, const vy_job *job)
{
    const vy_shape *shape = &job->shape;
    return shape->elements[1] == 1 && shape->elements[2] == 1 && !shape->is_folded && !p->has_state;
}

/* Whether fewer invocations do it in some segment. */
static bool has_several(const vyre_pipeline *p, const vy_kernel_coarse *coarse)
{
    bool has = false;
    for (uint32_t s = 0; s < p->segment_count; s++) {
        has = has || coarse->elements[s] > 1;
    }
    return has;
}

/* Wide accesses begin where they must. Descriptors that may be bound at other places are for such
 * accesses too. What the engine allocates begins where descriptors may. */
static bool is_aligned(const vyre_pipeline *p, const vy_job *job, uint64_t streams)
{
    bool is_aligned = true;
    for (uint32_t b = 0; b < p->binding_count; b++) {
        uint64_t first = p->device->snapshot.info.offset_alignment;
        if (!(streams >> b & 1)) {
            continue;
        }
        if (job->is_resident[b]) {
            first = job->bindings[b].offset;
            first += job->binder->is_by_handle ? 0 : job->residents[b].address;
        }
        is_aligned = is_aligned && first % ALIGNMENT == 0;
    }
    return is_aligned;
}

vyre_result vy_coarse_choose(const vyre_pipeline *p, vy_job *job, vyre_diag *diag)
{
    vyre_coarsening asked = job->params->coarsening;
    vy_kernel_coarse coarse = {0};
    job->is_coarse = false;
    job->coarse_elements = NULL;
    if (asked != VYRE_COARSENING_AUTO && asked != VYRE_COARSENING_NEVER &&
        asked != VYRE_COARSENING_ALWAYS) {
        return vy_invalid(diag, "%d is no coarsening. Fix: use a value of vyre_coarsening",
                          (int)asked);
    }
    bool tells_groups = vy_kernel_workgroup_use(p->kernel) != NULL;
    bool is_large = asked == VYRE_COARSENING_ALWAYS ||
                    invocations_of(job) >= (tells_groups ? MIN_INVOCATIONS : MIN_ELEMENTS);
    bool is_known = !job->shape.is_indirect && job->shape.group_total > 0;
    bool is_plain = has_plain_grid(p, job);
    if (asked == VYRE_COARSENING_NEVER || !is_large || job->is_aliased || job->is_wide ||
        job->is_whole || job->is_persistent || !is_known || (!is_plain && !tells_groups)) {
        return VYRE_OK;
    }
    vyre_result code = vy_kernel_coarsen(p->kernel, job->binder->interface,
                                         vy_device_coarse_ways(p->device), &coarse, diag);
    if (code != VYRE_OK || !coarse.elements || !is_aligned(p, job, coarse.streams) ||
        coarse.shared > p->device->snapshot.info.max_shared_size) {
        return code;
    }
    if (is_plain || !has_several(p, &coarse)) {
        job->is_coarse = true;
        job->coarse_elements = coarse.elements;
    }
    return VYRE_OK;
}
