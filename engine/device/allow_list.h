/* Devices whose own arithmetic is known to be exact where Vulkan does not promise it. The only way
 * onto the list is a proof or a measurement of that driver; what is on it still has to pass the
 * probe on the device itself (engine/exec/exact.h). */
#ifndef VY_ALLOW_LIST_H
#define VY_ALLOW_LIST_H

#include "engine/device/snapshot.h"

/* major, minor and patch of a driver's version, comparable. */
#define VY_VERSION(major, minor, patch)                                                            \
    ((uint64_t)(major) << 40 | (uint64_t)(minor) << 20 | (uint64_t)(patch))

typedef struct vy_exact {
    bool divide, sqrt; /* f32, correctly rounded to nearest even, denormals kept */
    const char *why;   /* "": not on the list */
} vy_exact;

vy_exact vy_allow_list_find(const vy_snapshot *snapshot);
/* Whether the driver runs the invocations of a workgroup on one thread, by turns from barrier to
 * barrier, and moves no access of memory across one whatever its order: VY_SPEC_TURNS. */
bool vy_allow_list_has_turns(const vy_snapshot *snapshot);
/* Of the release that the driver says it is of; 0 where it says none. */
uint64_t vy_allow_list_version(const vy_snapshot *snapshot);

#endif
