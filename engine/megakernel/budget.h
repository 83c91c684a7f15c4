/* The device memory of a dispatch against its budget, before anything is compiled, allocated or
 * submitted. Pure. */
#ifndef VY_MEGAKERNEL_BUDGET_H
#define VY_MEGAKERNEL_BUDGET_H

#include "codegen/base/base.h"

typedef struct vy_mk_budget {
    uint64_t policy_size;  /* vy_mk_peak's */
    const uint64_t *sizes; /* of an arena's parts, in bytes; 0: a part that is not there */
    uint32_t count;
    uint64_t alignment;   /* that each part's size is rounded up to; a power of two */
    uint32_t arena_count; /* that are in flight together, this one among them: at least 1 */
    uint64_t budget_size; /* 0: none */
} vy_mk_budget;

/* One arena: the sum of the aligned sizes. Errors, INVALID_ARGUMENT: an alignment that is no power
 * of two, more than 2^64 - 1 bytes. */
vyre_result vy_mk_arena_size(const vy_mk_budget *budget, uint64_t *out_size, vyre_diag *diag);
/* policy_size + arena_count arenas. Errors: those; INVALID_ARGUMENT: no arena;
 * DEVICE_OUT_OF_MEMORY: more than a budget: the message has both figures, and *out_size is what was
 * asked for. */
vyre_result vy_mk_budget_check(const vy_mk_budget *budget, uint64_t *out_size, vyre_diag *diag);

#endif
