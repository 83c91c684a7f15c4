/* The shape of a dispatch: lengths, grid and passes, from the caller's arguments and the kernel's
 * rules, checked. Pure: knows neither Vulkan nor memory. */
#ifndef VY_SHAPE_H
#define VY_SHAPE_H

#include "codegen/kernel.h"
#include "engine/device/snapshot.h"
#include "vyre/dispatch.h"

typedef struct vy_shape {
    uint32_t lengths[VYRE_MAX_BUFFERS]; /* elements by binding */
    uint32_t groups[3];                 /* logical */
    uint32_t elements[3];               /* invocations that run */
    uint32_t launched[3];               /* what vkCmdDispatch gets */
    uint32_t group_total, invocations;
    uint32_t passes;
    bool is_folded;
    /* The device reads the grid: the counts above are zero, and no more than so many run. */
    bool is_indirect;
    uint32_t most_groups;
} vy_shape;

/* Where a binding lies: `owner` tells one piece of memory from another, 0 for none (length 0). */
typedef struct vy_extent {
    uint64_t owner, offset, size;
} vy_extent;

/* `resident_sizes`, by binding: bytes of the resident buffers bound. Errors: INVALID_ARGUMENT and
 * UNSUPPORTED_FEATURE, with the binding in diag. */
vyre_result vy_shape_resolve(const vyre_kernel *kernel, const vy_snapshot *snapshot,
                             const uint32_t workgroup[3], const vyre_dispatch_params *params,
                             const uint64_t *resident_sizes, vy_shape *out_shape, vyre_diag *diag);
/* Which bindings share memory: out_alias[b] has the bits of all that overlap b, b's own among them.
 * Refuses what is not allowed to. *out_is_aliased: some that are written do. */
vyre_result vy_shape_overlaps(const vyre_kernel *kernel, const vy_extent *extents,
                              uint64_t *out_alias, bool *out_is_aliased, vyre_diag *diag);
/* So many workgroups as a grid that the device launches, of them or a few more, below 2^32; false
 * where it cannot. */
bool vy_shape_fold(const vy_snapshot *snapshot, uint64_t total, uint32_t out_groups[3]);
/* The parameter block of a dispatch: vy_param_words; addresses are left zero. */
uint32_t vy_shape_block_words(const vyre_kernel *kernel);
void vy_shape_fill_block(const vyre_kernel *kernel, const vy_shape *shape, const uint32_t *params,
                         uint32_t pass_base, uint32_t *out_words);

#endif
