/* Barriers as plans state them, without Vulkan, and the one function that records one. */
#ifndef VY_BARRIER_H
#define VY_BARRIER_H

#include <stdint.h>

/* Stages that the library's commands run in. */
#define VY_STAGE_COMPUTE  1u
#define VY_STAGE_TRANSFER 2u
#define VY_STAGE_INDIRECT 4u /* reading of dispatch arguments */
#define VY_STAGE_HOST     8u
#define VY_STAGE_ALL      16u /* whatever the host's own commands do */
#define VY_STAGE_UNIFORM                                                                           \
    32u /* reading of parameter blocks by kernels, beside COMPUTE: it costs                        \
           where it is waited for, so only what was just written is */

/* Everything that `src` did comes before what `dst` does; what `src_writes` wrote can be seen
 * there. */
typedef struct vy_barrier {
    uint32_t src, src_writes, dst;
} vy_barrier;

#endif
