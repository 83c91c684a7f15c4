/* The renderer's own Vulkan. */
#include "host.h"

#include <stdio.h>
#include <string.h>

#define MAX_LAYERS 64u

static int failed(const char *call, VkResult result)
{
    if (result == VK_SUCCESS) {
        return 0;
    }
    fprintf(stderr, "%s gave VkResult %d\n", call, (int)result);
    return 1;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user)
{
    host *h = user;
    (void)severity;
    (void)types;
    h->messages++;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static int has_validation(void)
{
    VkLayerProperties layers[MAX_LAYERS];
    uint32_t count = MAX_LAYERS;
    if (vkEnumerateInstanceLayerProperties(&count, layers) < 0) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(layers[i].layerName, "VK_LAYER_KHRONOS_validation") == 0) {
            return 1;
        }
    }
    return 0;
}

int host_create_instance(host *h)
{
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    uint32_t validation = has_validation() ? 1u : 0u;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "host_renderer",
                                     .apiVersion = HOST_API_VERSION};
    VkValidationFeatureEnableEXT enable =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .enabledValidationFeatureCount = 1,
                                        .pEnabledValidationFeatures = &enable};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validation ? &features : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validation,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validation,
                                 .ppEnabledExtensionNames = extensions};
    if (failed("vkCreateInstance", vkCreateInstance(&info, NULL, &h->instance))) {
        return 1;
    }
    if (!validation) {
        fprintf(stderr, "the validation layer is not installed: nothing is checked\n");
        return 0;
    }
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive,
        .pUserData = h};
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(h->instance,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    return !create || failed("vkCreateDebugUtilsMessengerEXT",
                             create(h->instance, &messenger, NULL, &h->messenger));
}

int host_choose_device(host *h)
{
    uint32_t count = 1;
    VkQueueFamilyProperties families[16];
    uint32_t family_count = 16;
    VkResult result = vkEnumeratePhysicalDevices(h->instance, &count, &h->physical);
    if (result < 0 || count == 0) {
        fprintf(stderr, "there is no Vulkan device\n");
        return 1;
    }
    vkGetPhysicalDeviceQueueFamilyProperties(h->physical, &family_count, families);
    for (h->family = 0; h->family < family_count; h->family++) {
        if (families[h->family].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            return 0;
        }
    }
    fprintf(stderr, "the device has no queue for compute work\n");
    return 1;
}

int host_create_device(host *h, const VkDeviceCreateInfo *wanted)
{
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = h->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = *wanted;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    if (failed("vkCreateDevice", vkCreateDevice(h->physical, &info, NULL, &h->device))) {
        return 1;
    }
    vkGetDeviceQueue(h->device, h->family, 0, &h->queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = h->family};
    if (failed("vkCreateCommandPool", vkCreateCommandPool(h->device, &pool, NULL, &h->pool))) {
        return 1;
    }
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = h->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
    return failed("vkAllocateCommandBuffers",
                  vkAllocateCommandBuffers(h->device, &commands, &h->commands)) ||
           failed("vkCreateSemaphore",
                  vkCreateSemaphore(h->device, &semaphore, NULL, &h->timeline));
}

static int create_buffer(host *h, VkBufferUsageFlags usage, VkMemoryPropertyFlags wanted,
                         VkBuffer *out_buffer, VkDeviceMemory *out_memory)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = h->size, .usage = usage};
    if (failed("vkCreateBuffer", vkCreateBuffer(h->device, &info, NULL, out_buffer))) {
        return 1;
    }
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties properties;
    vkGetBufferMemoryRequirements(h->device, *out_buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(h->physical, &properties);
    uint32_t type = 0;
    while (type < properties.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            (properties.memoryTypes[type].propertyFlags & wanted) != wanted)) {
        type++;
    }
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    return type == properties.memoryTypeCount ||
           failed("vkAllocateMemory", vkAllocateMemory(h->device, &allocate, NULL, out_memory)) ||
           failed("vkBindBufferMemory", vkBindBufferMemory(h->device, *out_buffer, *out_memory, 0));
}

int host_create_buffers(host *h, VkDeviceSize size)
{
    void *mapped = NULL;
    h->size = size;
    if (create_buffer(h,
                      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                          VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                      0, &h->points, &h->points_memory) ||
        create_buffer(h, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                      &h->readback, &h->readback_memory) ||
        failed("vkMapMemory",
               vkMapMemory(h->device, h->readback_memory, 0, VK_WHOLE_SIZE, 0, &mapped))) {
        return 1;
    }
    h->mapped = mapped;
    return 0;
}

int host_submit_and_wait(host *h, uint64_t frame)
{
    VkTimelineSemaphoreSubmitInfo values = {.sType =
                                                VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .signalSemaphoreValueCount = 1,
                                            .pSignalSemaphoreValues = &frame};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &h->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &h->timeline};
    VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &h->timeline,
                                .pValues = &frame};
    return failed("vkQueueSubmit", vkQueueSubmit(h->queue, 1, &info, VK_NULL_HANDLE)) ||
           failed("vkWaitSemaphores", vkWaitSemaphores(h->device, &wait, UINT64_MAX));
}

void host_destroy(host *h)
{
    if (h->device) {
        vkDestroySemaphore(h->device, h->timeline, NULL);
        vkDestroyBuffer(h->device, h->points, NULL);
        vkDestroyBuffer(h->device, h->readback, NULL);
        vkFreeMemory(h->device, h->points_memory, NULL);
        vkFreeMemory(h->device, h->readback_memory, NULL);
        vkDestroyCommandPool(h->device, h->pool, NULL);
        vkDestroyDevice(h->device, NULL);
    }
    if (h->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                h->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(h->instance, h->messenger, NULL);
    }
    if (h->instance) {
        vkDestroyInstance(h->instance, NULL);
    }
}
