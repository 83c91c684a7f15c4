/* See host_device.h. */
#include "tests/support/host_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void make_instance(host_device *h, int debug_utils)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_3};
    h->instance_extensions[0] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    h->instance_extension_count = debug_utils ? 1 : 0;
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = h->instance_extension_count,
                                 .ppEnabledExtensionNames = h->instance_extensions};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)h->get(NULL, "vkCreateInstance");
    assert_int_equal(create(&info, NULL, &h->instance), VK_SUCCESS);
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)h->get(h->instance, "vkEnumeratePhysicalDevices");
    uint32_t count = 1;
    assert_true(enumerate(h->instance, &count, &h->physical) >= 0);
    assert_int_equal(count, 1);
}

void host_device_open(host_device *h, vyre_vulkan_entry entry, host_enables enables,
                      int debug_utils)
{
    memset(h, 0, sizeof *h);
    assert_int_equal(pthread_mutex_init(&h->mutex, NULL), 0);
    h->get = (PFN_vkGetInstanceProcAddr)entry;
    make_instance(h, debug_utils);
    vyre_diag diag;
    if (vyre_device_fill_setup(h->instance, h->physical, VK_API_VERSION_1_3, h->get, &h->setup,
                               &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    h->timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
    h->timeline.timelineSemaphore = VK_TRUE;
    h->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    h->features.pNext = &h->timeline;
    h->chain = enables == HOST_ENABLES_SETUP      ? &h->setup.chain.features
               : enables == HOST_ENABLES_REQUIRED ? &h->features
                                                  : NULL;
    if (enables != HOST_ENABLES_SETUP) {
        h->setup.extension_count = 0;
    }
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = h->chain,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &h->setup.queue,
                               .enabledExtensionCount = h->setup.extension_count,
                               .ppEnabledExtensionNames = h->setup.extensions};
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)h->get(h->instance, "vkCreateDevice");
    assert_int_equal(create(h->physical, &info, NULL, &h->device), VK_SUCCESS);
    h->get_device = (PFN_vkGetDeviceProcAddr)h->get(h->instance, "vkGetDeviceProcAddr");
    PFN_vkGetDeviceQueue queue = (PFN_vkGetDeviceQueue)host_device_find(h, "vkGetDeviceQueue");
    queue(h->device, h->setup.queue.queueFamilyIndex, 0, &h->queue);
}

void host_device_close(host_device *h)
{
    ((PFN_vkDestroyDevice)host_device_find(h, "vkDestroyDevice"))(h->device, NULL);
    ((PFN_vkDestroyInstance)h->get(h->instance, "vkDestroyInstance"))(h->instance, NULL);
    pthread_mutex_destroy(&h->mutex);
}

PFN_vkVoidFunction host_device_find(const host_device *h, const char *name)
{
    PFN_vkVoidFunction found = h->get_device(h->device, name);
    assert_true(found != NULL);
    return found;
}

void host_device_lock(host_device *h)
{
    pthread_mutex_lock(&h->mutex);
    atomic_fetch_add(&h->locks, 1);
}

void host_device_unlock(host_device *h)
{
    pthread_mutex_unlock(&h->mutex);
}

static void lock_queue(void *user)
{
    host_device_lock(user);
}

static void unlock_queue(void *user)
{
    host_device_unlock(user);
}

vyre_adopt_params host_device_params(host_device *h)
{
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = h->get;
    params.instance = h->instance;
    params.physical_device = h->physical;
    params.device = h->device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = h->queue;
    params.queue_family = h->setup.queue.queueFamilyIndex;
    params.features = h->chain;
    params.extensions = h->setup.extensions;
    params.extension_count = h->setup.extension_count;
    params.instance_extensions = h->instance_extensions;
    params.instance_extension_count = h->instance_extension_count;
    params.lock_queue = lock_queue;
    params.unlock_queue = unlock_queue;
    params.queue_user = h;
    return params;
}

vyre_device *host_device_adopt(host_device *h)
{
    vyre_adopt_params params = host_device_params(h);
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_adopt(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}
