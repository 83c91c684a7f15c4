/* A renderer for tests: an instance, device and queue of its own, command buffers, buffers and
 * semaphores, and what the validation layer said about their use. Calls fail the test where they
 * fail. */
#ifndef VY_TESTS_RENDERER_H
#define VY_TESTS_RENDERER_H

#include "tests/support/engine_run.h"
#include "vyre/vulkan.h"

#include <pthread.h>

#define RENDERER_FUNCTIONS(X)                                                                      \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkAllocateMemory)                                                                            \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkBindBufferMemory)                                                                          \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdExecuteCommands)                                                                        \
    X(vkCmdFillBuffer)                                                                             \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCreateBuffer)                                                                              \
    X(vkCreateCommandPool)                                                                         \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroyBuffer)                                                                             \
    X(vkDestroyCommandPool)                                                                        \
    X(vkDestroyDevice)                                                                             \
    X(vkDestroySemaphore)                                                                          \
    X(vkDeviceWaitIdle)                                                                            \
    X(vkEndCommandBuffer)                                                                          \
    X(vkFreeMemory)                                                                                \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetDeviceQueue)                                                                            \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkMapMemory)                                                                                 \
    X(vkQueueSubmit)                                                                               \
    X(vkSignalSemaphore)                                                                           \
    X(vkWaitSemaphores)

#define RENDERER_MAX_OBJECTS 64

typedef struct renderer {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    vyre_device_setup setup;
    pthread_mutex_t mutex; /* of the queue */
    int validates;
    uint32_t messages; /* of the validation layer */
    int expects_messages;
    VkCommandPool pools[RENDERER_MAX_OBJECTS];
    VkBuffer buffers[RENDERER_MAX_OBJECTS];
    VkDeviceMemory memory[RENDERER_MAX_OBJECTS];
    VkSemaphore semaphores[RENDERER_MAX_OBJECTS];
    uint32_t pool_count, buffer_count, semaphore_count;
#define X(name) PFN_##name name;
    RENDERER_FUNCTIONS(X)
#undef X
} renderer;

/* The most that a test hands to one submission. */
typedef struct renderer_submit {
    VkCommandBuffer commands[4];
    uint32_t command_count;
    vyre_semaphore_point waits[4], signals[4];
    uint32_t wait_count, signal_count;
} renderer_submit;

/* `entry` NULL: the system's loader, for tests with threads, which the layer is not made for. */
void renderer_open(renderer *r, vyre_vulkan_entry entry, int validate);
/* Destroys everything; fails the test where validation said something that was not expected. */
void renderer_close(renderer *r);
vyre_adopt_params renderer_adoption(renderer *r);
vyre_device *renderer_adopt(renderer *r, const vyre_allocator *allocator);

/* A command buffer from a pool of its own. */
VkCommandBuffer renderer_commands(renderer *r, VkCommandBufferLevel level);
void renderer_begin(renderer *r, VkCommandBuffer commands, int is_secondary);
void renderer_end(renderer *r, VkCommandBuffer commands);
void renderer_barrier(renderer *r, VkCommandBuffer commands, VkPipelineStageFlags src,
                      VkAccessFlags writes, VkPipelineStageFlags dst, VkAccessFlags accesses);
/* Copies a whole buffer to one that is mapped, and makes that visible to the host. */
void renderer_copy_back(renderer *r, VkCommandBuffer commands, VkBuffer source, VkBuffer target,
                        VkDeviceSize size);
void renderer_submit_work(renderer *r, const renderer_submit *submit);
void renderer_submit_and_wait(renderer *r, VkCommandBuffer commands);

VkBuffer renderer_buffer(renderer *r, VkDeviceSize size, VkBufferUsageFlags usage,
                         const uint32_t **out_mapped);
vyre_buffer renderer_import(vyre_device *device, VkBuffer buffer, VkDeviceSize size,
                            VkBufferUsageFlags usage);
#define RENDERER_USAGE                                                                             \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

VkSemaphore renderer_timeline(renderer *r);
VkSemaphore renderer_binary(renderer *r);
void renderer_wait(renderer *r, VkSemaphore semaphore, uint64_t value);
uint64_t renderer_value(renderer *r, VkSemaphore semaphore);

/* engine_build with a way of binding. */
engine_program renderer_build(vyre_device *device, const char *text, vyre_binding_mode bindings);

#endif
