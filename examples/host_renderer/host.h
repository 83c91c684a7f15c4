/* What a renderer has anyway: an instance, a device, a queue, a command buffer, two buffers.
 * Nothing here knows of libvyre-vk but what the device is created with. */
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
    VkSemaphore timeline;      /* has the number of the frame that ended last */
    VkBuffer points, readback; /* on the device; mapped */
    VkDeviceMemory points_memory, readback_memory;
    VkDeviceSize size;
    const uint32_t *mapped;
} host;

/* Each gives 0, or 1 with the reason on standard error. */
int host_create_instance(host *h);
int host_choose_device(host *h);
/* `wanted`: features and extensions, and a queue whose family is replaced by the host's own. */
int host_create_device(host *h, const VkDeviceCreateInfo *wanted);
int host_create_buffers(host *h, VkDeviceSize size);
int host_submit_and_wait(host *h, uint64_t frame);
void host_destroy(host *h);

#endif
