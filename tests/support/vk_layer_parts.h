/* What the files of the layer share: the functions below it, its lock, and each file's part. */
#ifndef VY_VK_LAYER_PARTS_H
#define VY_VK_LAYER_PARTS_H

#include "tests/support/vk_layer.h"

/* Functions of instances that the layer calls or stands before. */
#define LAYER_INSTANCE_FUNCTIONS(X)                                                                \
    X(vkCreateInstance)                                                                            \
    X(vkDestroyInstance)                                                                           \
    X(vkEnumeratePhysicalDevices)                                                                  \
    X(vkEnumerateInstanceVersion)                                                                  \
    X(vkEnumerateInstanceLayerProperties)                                                          \
    X(vkEnumerateInstanceExtensionProperties)                                                      \
    X(vkEnumerateDeviceExtensionProperties)                                                        \
    X(vkCreateDevice)                                                                              \
    X(vkGetPhysicalDeviceProperties)                                                               \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceFeatures2)                                                                \
    X(vkGetPhysicalDeviceMemoryProperties)                                                         \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                        \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                    \
    X(vkCreateDebugUtilsMessengerEXT)                                                              \
    X(vkDestroyDebugUtilsMessengerEXT)                                                             \
    X(vkSetDebugUtilsObjectNameEXT)                                                                \
    X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)

#define LAYER_DEVICE_FUNCTIONS(X)                                                                  \
    X(vkDestroyDevice)                                                                             \
    X(vkGetDeviceQueue)                                                                            \
    X(vkQueueSubmit)                                                                               \
    X(vkQueueWaitIdle)                                                                             \
    X(vkDeviceWaitIdle)                                                                            \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkMapMemory)                                                                                 \
    X(vkUnmapMemory)                                                                               \
    X(vkFlushMappedMemoryRanges)                                                                   \
    X(vkInvalidateMappedMemoryRanges)                                                              \
    X(vkBindBufferMemory)                                                                          \
    X(vkBindBufferMemory2)                                                                         \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetBufferMemoryRequirements2)                                                              \
    X(vkGetBufferDeviceAddress)                                                                    \
    X(vkCreateBuffer)                                                                              \
    X(vkDestroyBuffer)                                                                             \
    X(vkCreateShaderModule)                                                                        \
    X(vkDestroyShaderModule)                                                                       \
    X(vkCreatePipelineCache)                                                                       \
    X(vkDestroyPipelineCache)                                                                      \
    X(vkGetPipelineCacheData)                                                                      \
    X(vkMergePipelineCaches)                                                                       \
    X(vkCreateComputePipelines)                                                                    \
    X(vkDestroyPipeline)                                                                           \
    X(vkCreatePipelineLayout)                                                                      \
    X(vkDestroyPipelineLayout)                                                                     \
    X(vkCreateDescriptorSetLayout)                                                                 \
    X(vkDestroyDescriptorSetLayout)                                                                \
    X(vkCreateDescriptorPool)                                                                      \
    X(vkDestroyDescriptorPool)                                                                     \
    X(vkResetDescriptorPool)                                                                       \
    X(vkAllocateDescriptorSets)                                                                    \
    X(vkUpdateDescriptorSets)                                                                      \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyCommandPool)                                                                        \
    X(vkResetCommandPool)                                                                          \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkFreeCommandBuffers)                                                                        \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkEndCommandBuffer)                                                                          \
    X(vkResetCommandBuffer)                                                                        \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroySemaphore)                                                                          \
    X(vkWaitSemaphores)                                                                            \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkCreateFence)                                                                               \
    X(vkDestroyFence)                                                                              \
    X(vkWaitForFences)                                                                             \
    X(vkCreateQueryPool)                                                                           \
    X(vkDestroyQueryPool)                                                                          \
    X(vkGetQueryPoolResults)                                                                       \
    X(vkGetCalibratedTimestampsEXT)                                                                \
    X(vkGetDeviceFaultInfoEXT)                                                                     \
    X(vkCmdBindPipeline)                                                                           \
    X(vkCmdBindDescriptorSets)                                                                     \
    X(vkCmdPushDescriptorSetKHR)                                                                   \
    X(vkCmdPushConstants)                                                                          \
    X(vkCmdDispatch)                                                                               \
    X(vkCmdDispatchIndirect)                                                                       \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCmdPipelineBarrier2)                                                                       \
    X(vkCmdFillBuffer)                                                                             \
    X(vkCmdUpdateBuffer)                                                                           \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdExecuteCommands)

typedef struct layer_functions {
#define X(name) PFN_##name name;
    LAYER_INSTANCE_FUNCTIONS(X)
    LAYER_DEVICE_FUNCTIONS(X)
#undef X
} layer_functions;

/* Filled as they are asked for. */
extern layer_functions layer_below;

/* Around the layer's own state; not held while a call waits. Recursive. */
void layer_lock(void);
void layer_unlock(void);
void layer_add_alive(int32_t count);
void layer_add_bad(uint32_t count);
layer_event *layer_log(layer_event_kind kind); /* under the lock */

/* Counts the call; true: it is to give layer_failure() and not be made. */
bool layer_fails(const char *name);
VkResult layer_failure(void);

/* Each part's own function for a name, or NULL. */
typedef PFN_vkVoidFunction layer_finder(const char *name);
layer_finder layer_find_simple, layer_find_device, layer_find_memory, layer_find_record,
    layer_find_command, layer_find_judge;

void layer_reset_failures(void);
void layer_reset_device(void);
void layer_reset_memory(void);
void layer_reset_record(void);
void layer_forget_barriers(void); /* that drop_barrier counts */

#define LAYER_TAKE(function)                                                                       \
    if (strcmp(name, #function) == 0) {                                                            \
        return (PFN_vkVoidFunction)wrap_##function;                                                \
    }

/* ---- vk_layer_device.c ----------------------------------------------------------------------- */

/* The newest device, or none. */
VkDevice layer_device(void);
/* The device's own family behind one that the layer plays. */
uint32_t layer_real_family(uint32_t family);

/* ---- vk_layer_memory.c ----------------------------------------------------------------------- */

typedef struct layer_buffer {
    VkBuffer handle;
    uint64_t serial; /* never given twice */
    uint64_t size;
    VkDeviceMemory memory;
    uint64_t memory_offset;
    VkDeviceAddress address;
} layer_buffer;

/* Alive; under the lock, until the next call. NULL: unknown. */
const layer_buffer *layer_buffer_of(VkBuffer handle);
const layer_buffer *layer_buffer_at(VkDeviceAddress address);
const layer_buffer *layer_buffer_numbered(uint64_t serial);
/* The device's copy of a part of a buffer; false where there is none. */
bool layer_buffer_read(const layer_buffer *buffer, uint64_t offset, void *out, size_t size);
/* vk_layer_judge.c: of a parameter block at `offset`, words TURN and LEADS; false: not readable. */
bool layer_turn(const layer_buffer *block, uint64_t offset, uint32_t *out_turn,
                uint32_t *out_leads);
/* Memory types and heaps as the settings have them. */
void layer_play_memory(VkPhysicalDeviceMemoryProperties *properties);
void layer_play_budget(VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget);

/* ---- Counts ---------------------------------------------------------------------------------- */

void layer_count_call(const char *name);
void layer_count_descriptors(uint32_t count);
/* Commands behind the last dispatch that layer.stop_after lets pass are left out. */
bool layer_is_stopped(void);
/* Whether this dispatch is let pass; counts it. */
bool layer_passes_dispatch(void);

#endif
