/* Vulkan as the engine reaches it: tables that belong to one device object. No file of the engine
 * names a Vulkan function otherwise, so that two copies live in one process and a layer of somebody
 * else's can stand in between. */
#ifndef VY_VK_H
#define VY_VK_H

#include <volk.h> /* for the type VolkDeviceTable alone */

/* Required instance functions. */
#define VY_INSTANCE_FUNCTIONS(X)                                                                   \
    X(vkDestroyInstance)                                                                           \
    X(vkEnumeratePhysicalDevices)                                                                  \
    X(vkEnumerateDeviceExtensionProperties)                                                        \
    X(vkGetPhysicalDeviceProperties)                                                               \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceFeatures2)                                                                \
    X(vkGetPhysicalDeviceMemoryProperties)                                                         \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                        \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                    \
    X(vkCreateDevice)                                                                              \
    X(vkGetDeviceProcAddr)

/* Absent without VK_EXT_debug_utils. */
#define VY_DEBUG_FUNCTIONS(X)                                                                      \
    X(vkCreateDebugUtilsMessengerEXT)                                                              \
    X(vkDestroyDebugUtilsMessengerEXT)                                                             \
    X(vkSetDebugUtilsObjectNameEXT)                                                                \
    X(vkCmdBeginDebugUtilsLabelEXT)                                                                \
    X(vkCmdEndDebugUtilsLabelEXT)

/* Required device functions; VMA's among them. */
#define VY_DEVICE_FUNCTIONS(X)                                                                     \
    X(vkDestroyDevice)                                                                             \
    X(vkGetDeviceQueue)                                                                            \
    X(vkQueueSubmit)                                                                               \
    X(vkDeviceWaitIdle)                                                                            \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkMapMemory)                                                                                 \
    X(vkUnmapMemory)                                                                               \
    X(vkFlushMappedMemoryRanges)                                                                   \
    X(vkInvalidateMappedMemoryRanges)                                                              \
    X(vkBindBufferMemory)                                                                          \
    X(vkBindImageMemory)                                                                           \
    X(vkBindBufferMemory2)                                                                         \
    X(vkBindImageMemory2)                                                                          \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetImageMemoryRequirements)                                                                \
    X(vkGetBufferMemoryRequirements2)                                                              \
    X(vkGetImageMemoryRequirements2)                                                               \
    X(vkCreateBuffer)                                                                              \
    X(vkDestroyBuffer)                                                                             \
    X(vkCreateImage)                                                                               \
    X(vkDestroyImage)                                                                              \
    X(vkCreateShaderModule)                                                                        \
    X(vkDestroyShaderModule)                                                                       \
    X(vkCreatePipelineCache)                                                                       \
    X(vkDestroyPipelineCache)                                                                      \
    X(vkMergePipelineCaches)                                                                       \
    X(vkGetPipelineCacheData)                                                                      \
    X(vkCreateComputePipelines)                                                                    \
    X(vkDestroyPipeline)                                                                           \
    X(vkCreatePipelineLayout)                                                                      \
    X(vkDestroyPipelineLayout)                                                                     \
    X(vkCreateDescriptorSetLayout)                                                                 \
    X(vkDestroyDescriptorSetLayout)                                                                \
    X(vkCreateDescriptorPool)                                                                      \
    X(vkDestroyDescriptorPool)                                                                     \
    X(vkAllocateDescriptorSets)                                                                    \
    X(vkUpdateDescriptorSets)                                                                      \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyCommandPool)                                                                        \
    X(vkResetCommandPool)                                                                          \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkEndCommandBuffer)                                                                          \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroySemaphore)                                                                          \
    X(vkWaitSemaphores)                                                                            \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkCreateQueryPool)                                                                           \
    X(vkDestroyQueryPool)                                                                          \
    X(vkGetQueryPoolResults)                                                                       \
    X(vkCmdResetQueryPool)                                                                         \
    X(vkCmdWriteTimestamp)                                                                         \
    X(vkCmdBindPipeline)                                                                           \
    X(vkCmdBindDescriptorSets)                                                                     \
    X(vkCmdPushConstants)                                                                          \
    X(vkCmdDispatch)                                                                               \
    X(vkCmdDispatchIndirect)                                                                       \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCmdFillBuffer)                                                                             \
    X(vkCmdUpdateBuffer)                                                                           \
    X(vkCmdCopyBuffer)

/* Used where the device has the feature or extension: synchronization2, bufferDeviceAddress,
 * VK_KHR_push_descriptor, VK_EXT_calibrated_timestamps, VK_EXT_device_fault. */
#define VY_DEVICE_OPTIONAL_FUNCTIONS(X)                                                            \
    X(vkCmdPipelineBarrier2)                                                                       \
    X(vkGetBufferDeviceAddress)                                                                    \
    X(vkCmdPushDescriptorSetKHR)                                                                   \
    X(vkGetCalibratedTimestampsEXT)                                                                \
    X(vkGetDeviceFaultInfoEXT)

typedef struct vy_instance_table {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
#define VY_X(name) PFN_##name name;
    VY_INSTANCE_FUNCTIONS(VY_X)
    VY_DEBUG_FUNCTIONS(VY_X)
#undef VY_X
} vy_instance_table;

#endif
