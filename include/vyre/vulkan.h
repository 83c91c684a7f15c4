/* For programs that use Vulkan themselves: adopting their device, sharing buffers, and recording
 * into their command buffers. The only header here that includes Vulkan's. */
#ifndef VYRE_VULKAN_H
#define VYRE_VULKAN_H

#include "vyre/dispatch.h"

#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a device must have ------------------------------------------------------------------
 */

/* Something that the library needs, or uses where it is there. `name` is a member of
 * VkPhysicalDeviceFeatures or VkPhysicalDeviceVulkan1*Features, or an extension "VK_...". */
typedef struct vyre_requirement {
    const char *name;
    int is_required;
    const char *why;
} vyre_requirement;

/* The list; the array is static. The Vulkan version must be at least 1.2, and the queue's family
 * must have VK_QUEUE_COMPUTE_BIT. */
VYRE_API const vyre_requirement *vyre_device_requirements(uint32_t *out_count);

/* A feature chain for vkCreateDevice. Adds what the library needs and what it uses where `device`
 * has it to what is set already. Chain `features` into VkDeviceCreateInfo.pNext (with
 * pEnabledFeatures NULL), and do not chain a VkPhysicalDeviceVulkan1*Features of your own beside
 * it. */
typedef struct vyre_feature_chain {
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features vulkan11;
    VkPhysicalDeviceVulkan12Features vulkan12;
    VkPhysicalDeviceVulkan13Features vulkan13; /* chained from Vulkan 1.3 on */
} vyre_feature_chain;

/* `api_version`: what the instance was created for. chain is overwritten and points into itself. */
VYRE_API VYRE_CHECK vyre_result vyre_device_fill_features(
    VkInstance instance, VkPhysicalDevice device, uint32_t api_version,
    PFN_vkGetInstanceProcAddr get_instance_proc_addr, vyre_feature_chain *chain, vyre_diag *diag);

/* ---- Adopting ----------------------------------------------------------------------------------
 */

/* Vulkan cannot tell what a VkDevice has enabled: the chain and the list given here are the only
 * truth, and what is not in them is off. The environment is not read. The library creates its own
 * objects on the device, submits to the queue only in the calls that say that they do (pipelines'
 * dispatches, transfers, probes), between lock and unlock, and destroys nothing that is the host's.
 */
typedef struct vyre_adopt_params {
    uint32_t struct_size;
    const vyre_allocator *allocator;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    uint32_t api_version; /* VkApplicationInfo.apiVersion of the instance */
    VkQueue queue;
    uint32_t queue_family;
    const VkPhysicalDeviceFeatures2 *features; /* the chain that the device was created with */
    const char *const *extensions;             /* enabled on the device */
    uint32_t extension_count;
    const char *const *instance_extensions; /* enabled on the instance */
    uint32_t instance_extension_count;
    /* Around every use of the queue; NULL where only one thread submits to it. Must not call into
     * the library. */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *queue_user;
    vyre_log_level log_level;
    vyre_log_fn log;
    void *log_user;
} vyre_adopt_params;

static inline void vyre_adopt_params_init(vyre_adopt_params *params)
{
    vyre_adopt_params zero = {0,
                              NULL,
                              NULL,
                              VK_NULL_HANDLE,
                              VK_NULL_HANDLE,
                              VK_NULL_HANDLE,
                              0,
                              VK_NULL_HANDLE,
                              0,
                              NULL,
                              NULL,
                              0,
                              NULL,
                              0,
                              NULL,
                              NULL,
                              NULL,
                              VYRE_LOG_DEFAULT,
                              NULL,
                              NULL};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Submits nothing. Errors: UNSUPPORTED_FEATURE naming everything that is missing, INVALID_ARGUMENT,
 * memory. vyre_device_destroy ends the adoption. */
VYRE_API VYRE_CHECK vyre_result vyre_device_adopt(const vyre_adopt_params *params,
                                                  vyre_device **out_device, vyre_diag *diag);

/* ---- Sharing buffers ---------------------------------------------------------------------------
 */

typedef struct vyre_import_params {
    uint32_t struct_size;
    VkBuffer buffer;
    uint64_t size;            /* as it was created */
    VkBufferUsageFlags usage; /* as it was created: STORAGE_BUFFER is needed; TRANSFER_SRC and
                                 TRANSFER_DST for downloads, uploads, and zeroing as `out` */
    const char *name;
} vyre_import_params;

/* Makes the host's buffer usable as a resident one. vyre_buffer_destroy ends that and leaves the
 * VkBuffer alone, which must live until then. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_import(vyre_device *device,
                                                   const vyre_import_params *params,
                                                   vyre_buffer *out_buffer, vyre_diag *diag);
/* The VkBuffer behind a resident buffer, from byte 0; it stays the library's. Usage: STORAGE,
 * INDIRECT, TRANSFER_SRC, TRANSFER_DST. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_export(vyre_device *device, vyre_buffer buffer,
                                                   VkBuffer *out_buffer, vyre_diag *diag);

/* ---- Recording ---------------------------------------------------------------------------------
 */

/* Who makes the barriers at a recording's two ends. LIBRARY: everything before is ordered before
 * the recorded commands, and these before everything after, for all stages and accesses. HOST: the
 * host records its own: before, to COMPUTE_SHADER (SHADER_READ and SHADER_WRITE), TRANSFER
 * (TRANSFER_READ and TRANSFER_WRITE) and DRAW_INDIRECT (INDIRECT_COMMAND_READ); after, from
 * COMPUTE_SHADER and TRANSFER. */
typedef enum vyre_barriers { VYRE_BARRIERS_LIBRARY, VYRE_BARRIERS_HOST } vyre_barriers;

typedef struct vyre_record_params {
    uint32_t struct_size;
    VkCommandBuffer command_buffer; /* recording, outside a render pass, of the device's family */
    vyre_barriers before, after;
    /* As for vyre_dispatch; bindings are RESIDENT or NONE, timeout_ns is not used. */
    vyre_dispatch_params dispatch;
} vyre_record_params;

/* Owns what the recorded commands use. Thread-safety: external. */
typedef struct vyre_recording vyre_recording;

/* Records all passes, at most 4,096 dispatches; with `until` the device skips those that are not
 * needed. Nothing is submitted and nothing waited for. The command buffer may be submitted any
 * number of times, each once the one before has completed (no SIMULTANEOUS_USE); the commands reset
 * what they count first. The buffers bound cannot be destroyed until the recording is. Left changed
 * in the command buffer: the compute pipeline, compute descriptor set 0, push constants. */
VYRE_API VYRE_CHECK vyre_result vyre_record(vyre_pipeline *pipeline,
                                            const vyre_record_params *params,
                                            vyre_recording **out_recording, vyre_diag *diag);
/* What the last submission did: call it after that completed. Times are VYRE_NS_NONE. */
VYRE_API VYRE_CHECK vyre_result vyre_recording_report(vyre_recording *recording,
                                                      vyre_report *out_report, vyre_diag *diag);
/* After the last submission completed. */
VYRE_API void vyre_recording_destroy(vyre_recording **recording);

#ifdef __cplusplus
}
#endif
#endif
