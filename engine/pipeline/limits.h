/* Whether a kernel fits a device: limits and features, by their Vulkan names, before any Vulkan
 * call. Pure. */
#ifndef VY_LIMITS_H
#define VY_LIMITS_H

#include "codegen/kernel.h"
#include "engine/device/snapshot.h"

/* `workgroup`: the size that will run. */
vyre_result vy_limits_check(const vy_snapshot *snapshot, const vyre_kernel *kernel,
                            const uint32_t workgroup[3], vyre_diag *diag);
/* The first feature that the kernel's words of that interface need and the device lacks, or NULL:
 * what the address form needs besides comes first. */
const char *vy_limits_lacking(const vy_snapshot *snapshot, const vyre_kernel *kernel,
                              vyre_interface interface);
/* What a kernel's pipelines pin their subgroups to: the width of the program, or the one that the
 * device reports where the program looks at subgroups, since a driver may choose another one; 0
 * where nothing needs to be or can be pinned. */
uint32_t vy_limits_subgroup_size(const vy_snapshot *snapshot, const vyre_kernel *kernel);
/* Storage buffers of the descriptor set: bindings and the hidden ones that the kernel has. */
uint32_t vy_limits_buffer_count(const vyre_kernel *kernel);
bool vy_limits_has_hidden(const vyre_kernel *kernel, uint32_t hidden);

#endif
