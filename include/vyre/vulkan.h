/* For programs that use Vulkan themselves: adopting their device, sharing buffers, and recording
 * into their command buffers. The only header here that includes Vulkan's. */
#ifndef VYRE_VULKAN_H
#define VYRE_VULKAN_H

#include "vyre/dispatch.h"

#include <string.h>
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

/* All of it for vkCreateDevice in one structure: features, the extensions that are needed or used
 * and there, and one queue of a family with compute. Points into itself. Use:
 *     VkDeviceCreateInfo info = {.sType = ..., .pNext = &setup.chain.features,
 *         .queueCreateInfoCount = 1, .pQueueCreateInfos = &setup.queue,
 *         .enabledExtensionCount = setup.extension_count,
 *         .ppEnabledExtensionNames = setup.extensions};
 * or add its parts to what the host wants for itself. */
#define VYRE_MAX_DEVICE_EXTENSIONS 32u
/* VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR, which headers before 1.3.279 lack. */
#define VYRE_STRUCTURE_TYPE_MAXIMAL_RECONVERGENCE ((VkStructureType)1000434000)
/* That structure, by a name of the library's. */
typedef struct vyre_maximal_reconvergence {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderMaximalReconvergence;
} vyre_maximal_reconvergence;
/* What vyre_device_fill_setup fills in. Must not be moved once it is filled. */
typedef struct vyre_device_setup {
    vyre_feature_chain chain;
    VkPhysicalDeviceFaultFeaturesEXT device_fault; /* chained where the device has it */
    VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR uniform_flow; /* likewise */
    /* Never chained by vyre_device_fill_setup, since validation layers before 1.3.279 refuse it. A
     * host without them may chain it and enable VK_KHR_shader_maximal_reconvergence. */
    vyre_maximal_reconvergence reconvergence;
    uint32_t extension_count;
    const char *extensions[VYRE_MAX_DEVICE_EXTENSIONS];
    VkDeviceQueueCreateInfo queue;
    float queue_priority;
} vyre_device_setup;
/* Errors: UNSUPPORTED_FEATURE naming everything that the device lacks, INVALID_ARGUMENT, memory. */
VYRE_API VYRE_CHECK vyre_result vyre_device_fill_setup(
    VkInstance instance, VkPhysicalDevice device, uint32_t api_version,
    PFN_vkGetInstanceProcAddr get_instance_proc_addr, vyre_device_setup *setup, vyre_diag *diag);

/* ---- Adopting ----------------------------------------------------------------------------------
 */

/* Buffers made by the host's own allocator; vma.h has them for a VmaAllocator. Called from any
 * thread, several at once; must not call into the library. */
typedef enum vyre_memory_use {
    VYRE_MEMORY_DEVICE,      /* of the device's own, if there is room */
    VYRE_MEMORY_DEVICE_ONLY, /* of the device's own */
    VYRE_MEMORY_MAPPABLE,    /* of the device's own and mapped, or fail */
    VYRE_MEMORY_UPLOAD,      /* mapped, written by the host in order, read by the device */
    VYRE_MEMORY_TABLE,       /* mapped, of the device's own if there is such */
    VYRE_MEMORY_READBACK     /* mapped and cached for the host, written by the device */
} vyre_memory_use;

/* A buffer with its memory, from a host's allocator. */
typedef struct vyre_allocated_buffer {
    VkBuffer buffer;
    void *allocation;                 /* the host's own word for it */
    void *mapped;                     /* persistently; NULL where the use needs none */
    VkMemoryPropertyFlags properties; /* of the memory's type */
} vyre_allocated_buffer;

/* A host's own allocator, called from every thread that calls into the library. */
typedef struct vyre_memory_callbacks {
    void *user;
    /* With memory bound. Memory that kernels reach by address needs
     * VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT where info->usage has SHADER_DEVICE_ADDRESS. */
    VkResult (*create)(void *user, const VkBufferCreateInfo *info, vyre_memory_use use,
                       vyre_allocated_buffer *out_buffer);
    void (*destroy)(void *user, const vyre_allocated_buffer *buffer);
    /* As vkFlushMappedMemoryRanges and vkInvalidateMappedMemoryRanges for a part of the buffer;
     * nothing to do for coherent memory. */
    VkResult (*flush)(void *user, const vyre_allocated_buffer *buffer, VkDeviceSize offset,
                      VkDeviceSize size);
    VkResult (*invalidate)(void *user, const vyre_allocated_buffer *buffer, VkDeviceSize offset,
                           VkDeviceSize size);
} vyre_memory_callbacks;

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
    uint32_t debug;        /* VYRE_DEBUG_* */
    int driver_thread;     /* as in vyre_device_params */
    uint64_t memory_limit; /* as in vyre_device_params */
    const char *cache_dir; /* as in vyre_device_params; NULL: none */
    /* Used for the library's pipelines, and never destroyed or saved by it; VK_NULL_HANDLE: one of
     * its own. Other threads may use it meanwhile (not created EXTERNALLY_SYNCHRONIZED). */
    VkPipelineCache pipeline_cache;
    const vyre_memory_callbacks *memory; /* NULL: the library allocates device memory itself */
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
                              NULL,
                              0,
                              0,
                              0,
                              NULL,
                              VK_NULL_HANDLE,
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

/* A buffer of the host's, as it was created. */
typedef struct vyre_import_params {
    uint32_t struct_size;
    VkBuffer buffer;
    uint64_t size;            /* as it was created */
    VkBufferUsageFlags usage; /* as it was created: STORAGE_BUFFER is needed; TRANSFER_SRC and
                                 TRANSFER_DST for downloads, uploads, and zeroing as `out`;
                                 SHADER_DEVICE_ADDRESS (and its memory allocated so) for dispatches
                                 by address: without it they go by descriptors */
    const char *name;
} vyre_import_params;

/* Makes the host's buffer usable as a resident one. vyre_buffer_destroy ends that and leaves the
 * VkBuffer alone, which must live until then. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_import(vyre_device *device,
                                                   const vyre_import_params *params,
                                                   vyre_buffer *out_buffer, vyre_diag *diag);
/* The VkBuffer behind a resident buffer, from byte 0; it stays the library's. Usage: STORAGE,
 * UNIFORM, INDIRECT, VERTEX, INDEX, TRANSFER_SRC, TRANSFER_DST, and SHADER_DEVICE_ADDRESS where the
 * device has it; sharing mode EXCLUSIVE. */
VYRE_API VYRE_CHECK vyre_result vyre_buffer_export(vyre_device *device, vyre_buffer buffer,
                                                   VkBuffer *out_buffer, vyre_diag *diag);

/* ---- Beside the host's own work ----------------------------------------------------------------
 */

/* What is waited for or signalled. */
typedef struct vyre_semaphore_point {
    VkSemaphore semaphore;
    uint64_t value; /* of a timeline semaphore; 0: binary */
} vyre_semaphore_point;

/* A buffer that another queue family owns. */
typedef struct vyre_ownership {
    vyre_buffer buffer;
    uint32_t queue_family; /* of the host: where it comes from, or goes to */
} vyre_ownership;

/* For vyre_dispatch_params.sync. Waits hold up everything of the dispatch; signals follow its last
 * command, and are made also when a fixpoint ends early. After an error from the call, or a
 * dispatch that is dropped before its passes were all submitted, no signal was or will be made.
 * Work that waits for a signal on the same queue must be submitted after the dispatch's last chunk
 * (vyre_ticket_export tells), or the queue waits for itself: with `until` and a limit of more than
 * three passes, that is some time after the call. acquires: the host has recorded the release on
 * queue_family, to this device's family, and the waits order it before. releases: the host records
 * the acquire on queue_family afterwards, ordered by the signals. Both cost command buffers
 * recorded anew for each dispatch. */
typedef struct vyre_host_sync {
    uint32_t wait_count, signal_count, acquire_count, release_count;
    const vyre_semaphore_point *waits, *signals;
    const vyre_ownership *acquires, *releases;
} vyre_host_sync;

/* The device's timeline semaphore and the value that it has once the run's last command has ended:
 * the host's own submissions may wait for it, and must have ended when the device is destroyed,
 * which the semaphore goes with. Errors: BUSY while that is not known (a fixpoint with
 * `until` of more than three passes, at first: give a semaphore to signal instead),
 * INVALID_ARGUMENT. */
VYRE_API VYRE_CHECK vyre_result vyre_ticket_export(vyre_device *device, vyre_ticket ticket,
                                                   vyre_semaphore_point *out_point,
                                                   vyre_diag *diag);
/* The queue family that the device's work runs on. */
VYRE_API uint32_t vyre_device_queue_family(const vyre_device *device);

/* ---- Recording ---------------------------------------------------------------------------------
 */

/* Who makes the barriers at a recording's two ends. LIBRARY: everything before is ordered before
 * the recorded commands, and these before everything after, for all stages and accesses. HOST: the
 * host records its own: before, to COMPUTE_SHADER (SHADER_READ and SHADER_WRITE), TRANSFER
 * (TRANSFER_READ and TRANSFER_WRITE) and DRAW_INDIRECT (INDIRECT_COMMAND_READ); after, from
 * COMPUTE_SHADER and TRANSFER. */
typedef enum vyre_barriers { VYRE_BARRIERS_LIBRARY, VYRE_BARRIERS_HOST } vyre_barriers;

/* When the submissions of a recording have ended, so that what they use can be used again: one of
 * - a timeline semaphore's value, given here or, once it is known, by vyre_recording_retire_at. The
 *   semaphore must live until the first vyre_device_retire after the value was reached;
 * - a frame number, which vyre_device_retire passes;
 * - neither: vyre_recording_destroy is called after the end. */
typedef struct vyre_retirement {
    VkSemaphore semaphore; /* VK_NULL_HANDLE: none */
    uint64_t value;        /* not 0 */
    uint64_t frame;        /* from 1, and not retired yet when vyre_record gets it; 0: none */
} vyre_retirement;

/* What vyre_record records, and where. */
typedef struct vyre_record_params {
    uint32_t struct_size;
    /* Primary or secondary, recording, outside a render pass, of the device's family. */
    VkCommandBuffer command_buffer;
    vyre_barriers before, after;
    /* As for vyre_dispatch; bindings are RESIDENT or NONE, timeout_ns and done are not used; of
     * `sync` only acquires and releases are, which become barriers at the two ends. */
    vyre_dispatch_params dispatch;
    vyre_retirement retirement;
} vyre_record_params;

static inline void vyre_record_params_init(vyre_record_params *params)
{
    memset(params, 0, sizeof *params);
    params->struct_size = (uint32_t)sizeof *params;
}

/* Owns what the recorded commands use. Thread-safety: external. */
typedef struct vyre_recording vyre_recording;

/* Records all passes, at most 4,096 dispatches; with `until` the device skips those that are not
 * needed. Nothing is submitted and nothing waited for, and once as many recordings of one shape
 * were made as are in flight at a time, nothing is allocated. The command buffer may be submitted
 * any number of times, each once the one before has completed (no SIMULTANEOUS_USE); the commands
 * reset what they count first. The buffers bound cannot be destroyed until the recording is
 * retired. Left changed in the command buffer: the compute pipeline, compute descriptor set 0, push
 * constants. */
VYRE_API VYRE_CHECK vyre_result vyre_record(vyre_pipeline *pipeline,
                                            const vyre_record_params *params,
                                            vyre_recording **out_recording, vyre_diag *diag);
/* Replaces the retirement, for hosts that submit again or learn the value late. */
VYRE_API VYRE_CHECK vyre_result vyre_recording_retire_at(vyre_recording *recording,
                                                         const vyre_retirement *retirement,
                                                         vyre_diag *diag);
/* 1 once the retirement has come (without one: 0). */
VYRE_API int vyre_recording_is_retired(const vyre_recording *recording);
/* What the last submission did: call it after that completed. Times are VYRE_NS_NONE. */
VYRE_API VYRE_CHECK vyre_result vyre_recording_report(vyre_recording *recording,
                                                      vyre_report *out_report, vyre_diag *diag);
/* With a retirement: at any time, and what the commands use is kept until it comes. Without: after
 * the last submission completed. vyre_pipeline_destroy waits for retirements that have not come,
 * two seconds for a semaphore's, then for the device to be idle. */
VYRE_API void vyre_recording_destroy(vyre_recording **recording);
/* All frames up to this one have ended on the device (never backwards). Lets go of everything that
 * has retired, by semaphores too: 0 does only that. */
VYRE_API void vyre_device_retire(vyre_device *device, uint64_t frame);

/* ---- Debugging ------------------------------------------------------------------------------ */

/* For a host's own VkDebugUtilsMessengerEXT: the message's text with the place of what it is about
 * behind it, as the log of vyre_device_create gets it: the labels that are open in the command
 * buffer, of which VYRE_DEBUG_LABELS has one for each segment, and the objects that have names,
 * which the library gives all of its own where VK_EXT_debug_utils is on:
 * "... (segment life.seg1, life.vyre:14, pass 0; buffer 'cells')". Messages about nothing that has
 * a name stay as they are. What a printf statement printed becomes its line:
 * "printf life:12:5 pass 0 segment 1 invocation 7: TEXT". At most out_size bytes with the zero;
 * where that is too little the message is cut and not the place. Returns the length that the whole
 * has, without the zero. */
VYRE_API size_t vyre_format_debug_message(const VkDebugUtilsMessengerCallbackDataEXT *data,
                                          char *out, size_t out_size);

#ifdef __cplusplus
}
#endif
#endif
