/* Compiled pipelines kept: the VkPipelineCache of a device (the library's own, or the host's), its
 * file in device->cache_dir, its blob for hosts (vyre_device_save_cache, _load_cache). */
#ifndef VY_CACHE_H
#define VY_CACHE_H

#include "engine/device/device.h"

/* Makes device->cache: around device->pipeline_cache where the host gave one, else with one of the
 * library's own that has what the file has. */
vyre_result vy_cache_create(vyre_device *device, vyre_diag *diag);
/* Writes the file where pipelines were added to what it held; destroys all but the host's. */
void vy_cache_destroy(vyre_device *device);

/* vkCreateComputePipelines for one, through the cache; counts what the cache had. Thread-safety:
 * safe, beside vyre_device_load_cache too. */
VkResult vy_cache_create_pipeline(vyre_device *device, const VkComputePipelineCreateInfo *info,
                                  VkPipeline *out_pipeline);

#endif
