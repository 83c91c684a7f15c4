/* How many workgroups of what width drain a queue. Pure.
 *
 * Two answers. The launch geometry is what runs: its workgroups loop until a shared cursor has
 * passed the queue's end, so any number of them finishes any queue. The reference geometry has the
 * formulas of dispatchers whose lanes serve one slot each, and is for reports that are compared
 * with theirs; there the worker count is the width too, and slots beyond width * workers are served
 * by nobody. */
#ifndef VY_MEGAKERNEL_GEOMETRY_H
#define VY_MEGAKERNEL_GEOMETRY_H

#include "codegen/base/base.h"

#define VY_MK_OCCUPANCY_DIVISOR    256u  /* reference: workgroups of the limit for each worker */
#define VY_MK_MAX_GROUPS           1024u /* reference: workers by default and workgroups at most */
#define VY_MK_POWERFUL_INVOCATIONS 4096u /* reference: from here on at least ... */
#define VY_MK_POWERFUL_WORKERS     64u   /* ... so many workers by default */

#define VY_MK_MAX_MULTIPLE    8u    /* launch: subgroups of a workgroup, a power of two */
#define VY_MK_PREFERRED_WIDTH 256u  /* launch: not wider where it need not be */
#define VY_MK_LANES_PER_UNIT  1024u /* launch: invocations that a compute unit keeps resident */
/* Launch: units of a device that does not tell. Workgroups too many leave at once, too few leave
 * units idle, so this is rather many. */
#define VY_MK_ASSUMED_UNITS 128u

/* Of the device. INVALID_ARGUMENT where one that must not be is 0, subgroup_size is no power of two
 * or wider than a workgroup may be. */
typedef struct vy_mk_limits {
    uint32_t max_width;       /* maxComputeWorkGroupSize[0] */
    uint32_t max_invocations; /* maxComputeWorkGroupInvocations */
    uint32_t max_groups;      /* maxComputeWorkGroupCount[0] */
    uint32_t subgroup_size;
    uint32_t unit_count; /* compute units; 0: not known */
} vy_mk_limits;

typedef struct vy_mk_reference {
    uint32_t worker_count;
    uint32_t width;          /* clamp(workers, 1, max_width) */
    uint64_t slot_count;     /* the queue's length, at least 1, rounded up to width */
    uint32_t group_count;    /* min(slots / width, workers, VY_MK_MAX_GROUPS) */
    uint32_t covering_count; /* slots / width: workgroups that would have served every slot */
} vy_mk_reference;

/* worker_count 0: by the device: a worker for each VY_MK_OCCUPANCY_DIVISOR workgroups of its limit,
 * between 1 (powerful ones: VY_MK_POWERFUL_WORKERS) and VY_MK_MAX_GROUPS. Never more than
 * max_groups. Needs no subgroup size. */
vyre_result vy_mk_reference_plan(const vy_mk_limits *limits, uint32_t queue_length,
                                 uint32_t worker_count, vy_mk_reference *out_reference,
                                 vyre_diag *diag);

typedef struct vy_mk_launch_request {
    uint64_t queue_length;
    uint32_t group_cap; /* workgroups at most; 0: as many as the machine takes */
    uint32_t share_bps; /* of the machine's workgroups (workers that were shed leave some idle);
                           0 and above 10000: all of them */
    uint32_t multiple;  /* subgroups of a workgroup: 1, 2, 4 or 8; 0: chosen */
} vy_mk_launch_request;

typedef struct vy_mk_launch {
    uint32_t multiple;    /* subgroups of a workgroup */
    uint32_t width;       /* multiple * subgroup_size */
    uint32_t group_count; /* 0: the queue is empty, launch nothing */
    uint32_t lane_count;  /* width * group_count */
    uint32_t round_count; /* slots that a lane takes if all take as many, rounded up */
} vy_mk_launch;

/* The width depends on nothing but limits and `multiple`: it is part of a pipeline, and pipelines
 * are kept for queues of all lengths. Chosen: the widest of 8, 4, 2 and 1 subgroups that the limits
 * allow and VY_MK_PREFERRED_WIDTH does, or one subgroup. The grid: workgroups for every slot, but
 * no more than the machine keeps resident, its share, the cap and max_groups; at least one.
 *
 * Each subgroup advances the 32-bit cursor once more than it finds work, so queue_length +
 * lane_count + subgroup_size - 1 stays below 2^32: the grid shrinks for that. Errors,
 * INVALID_ARGUMENT: no grid at all would keep to it, another multiple, one that the limits do not
 * allow, limits of no device. */
vyre_result vy_mk_launch_plan(const vy_mk_limits *limits, const vy_mk_launch_request *request,
                              vy_mk_launch *out_launch, vyre_diag *diag);

#endif
