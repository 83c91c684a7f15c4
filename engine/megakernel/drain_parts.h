/* What building the draining program and checking its parts share. */
#ifndef VY_MEGAKERNEL_DRAIN_PARTS_H
#define VY_MEGAKERNEL_DRAIN_PARTS_H

#include "codegen/parts.h"
#include "engine/megakernel/drain.h"

static inline uint32_t vy_drain_workgroup(const vy_drain_params *params)
{
    uint32_t lanes = params->program ? vy_parts_traits(params->program).subgroup_width : 0;
    return params->workgroup ? params->workgroup : (lanes > 64 ? lanes : 64);
}

/* NULL: there is none. */
const vyre_handler *vy_drain_find_handler(const vy_drain_params *params, uint32_t opcode);
/* What an operation of the system's does, as a call with its arguments at hand, "" for nothing;
 * NULL: there is none in that form. */
const char *vy_drain_builtin(vy_drain_form form, uint32_t opcode);

#endif
