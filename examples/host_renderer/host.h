/* What a renderer has anyway: an instance, a device, a queue, a command buffer, two buffers.
 * Nothing here knows of libvyre-vk but the features that the device is created with. */
#ifndef HOST_H
#define HOST_H

#include <vulkan/vulkan.h>

#define HOST_API_VERSION VK_API_VERSION_1_3

typedef struct host {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    unsigned messages; /* that the validation layer had */
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkBuffer points, readback; /* on the device; mapped */
    VkDeviceMemory points_memory, readback_memory;
    VkDeviceSize size;
    const uint32_t *mapped;
} host;

/* Each gives 0, or 1 with the reason on standard error. */
int host_create_instance(host *h);
int host_choose_device(host *h);
/* `features`: the chain for VkDeviceCreateInfo.pNext. */
int host_create_device(host *h, const void *features);
int host_create_buffers(host *h, VkDeviceSize size);
int host_submit_and_wait(host *h);
void host_destroy(host *h);

#endif
