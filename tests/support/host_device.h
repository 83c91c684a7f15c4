/* A host with a Vulkan instance, device and queue of its own, made from what the library says and
 * nothing else, for adoption. Works on any vkGetInstanceProcAddr, so on the fake too. */
#ifndef VY_HOST_DEVICE_H
#define VY_HOST_DEVICE_H

#include "vyre/vulkan.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum host_enables {
    HOST_ENABLES_SETUP,    /* what vyre_device_fill_setup says */
    HOST_ENABLES_REQUIRED, /* what vyre_device_requirements says is required */
    HOST_ENABLES_NOTHING
} host_enables;

typedef struct host_device {
    PFN_vkGetInstanceProcAddr get;
    PFN_vkGetDeviceProcAddr get_device;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    vyre_device_setup setup;
    const void *chain; /* that the device was created with, or NULL */
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceFeatures2 features;
    const char *instance_extensions[1];
    uint32_t instance_extension_count;
    pthread_mutex_t mutex; /* of the queue */
    atomic_uint locks;
} host_device;

/* `debug_utils`: enables VK_EXT_debug_utils. Fails the test where anything goes wrong. */
void host_device_open(host_device *h, vyre_vulkan_entry entry, host_enables enables,
                      int debug_utils);
void host_device_close(host_device *h);
/* For vyre_device_adopt, with the queue's lock. */
vyre_adopt_params host_device_params(host_device *h);
/* vyre_device_adopt that must succeed. */
vyre_device *host_device_adopt(host_device *h);
PFN_vkVoidFunction host_device_find(const host_device *h, const char *name);
void host_device_lock(host_device *h);
void host_device_unlock(host_device *h);

#endif
