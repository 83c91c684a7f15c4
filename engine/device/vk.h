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

/* Absent without VK_EXT_debug_utils; the last without VK_EXT_calibrated_timestamps. */
#define VY_INSTANCE_OPTIONAL_FUNCTIONS(X)                                                          \
    X(vkCreateDebugUtilsMessengerEXT)                                                              \
    X(vkDestroyDebugUtilsMessengerEXT)                                                             \
    X(vkSetDebugUtilsObjectNameEXT)                                                                \
    X(vkCmdBeginDebugUtilsLabelEXT)                                                                \
    X(vkCmdEndDebugUtilsLabelEXT)                                                                  \
    X(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)

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

/* Used where a member of vy_snapshot says that the device has what they belong to, and NULL
 * elsewhere: the function, the member. */
#define VY_DEVICE_OPTIONAL_FUNCTIONS(X)                                                            \
    X(vkCmdPipelineBarrier2, has[VY_FEATURE_synchronization2])                                     \
    X(vkGetBufferDeviceAddress, has[VY_FEATURE_bufferDeviceAddress])                               \
    X(vkCmdPushDescriptorSetKHR, has_extension[VY_EXTENSION_KHR_push_descriptor])                  \
    X(vkGetCalibratedTimestampsEXT, has_extension[VY_EXTENSION_EXT_calibrated_timestamps])         \
    X(vkGetDeviceFaultInfoEXT, has_extension[VY_EXTENSION_EXT_device_fault])

typedef struct vy_instance_table {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
#define VY_X(name) PFN_##name name;
    VY_INSTANCE_FUNCTIONS(VY_X)
    VY_INSTANCE_OPTIONAL_FUNCTIONS(VY_X)
#undef VY_X
} vy_instance_table;

#endif
