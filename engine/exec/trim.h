/* Workgroups of a dispatch that need not be launched, since the host knows that they would do
 * nothing. */
#ifndef VY_TRIM_H
#define VY_TRIM_H

#include <stdint.h>

/* Of a pass. */
typedef struct vy_trim {
    uint32_t launches;     /* executions that have a workgroup to launch */
    uint64_t groups;       /* left out of those executions */
    uint64_t empty_groups; /* of the others: all that the grid has */
} vy_trim;

/* Left out of so many passes. */
static inline uint64_t vy_trim_saved(const vy_trim *trim, uint64_t passes)
{
    return (trim->groups + trim->empty_groups) * passes;
}

#endif
