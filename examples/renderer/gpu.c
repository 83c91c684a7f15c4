/* The instance and the device. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

int failed(const char *call, VkResult result)
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
    gpu *g = user;
    (void)severity;
    (void)types;
    g->messages++;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static uint32_t has_validation(void)
{
    VkLayerProperties layers[64];
    uint32_t count = LENGTH(layers);
    if (vkEnumerateInstanceLayerProperties(&count, layers) < 0) {
        return 0;
    }
    while (count > 0 && strcmp(layers[count - 1].layerName, "VK_LAYER_KHRONOS_validation") != 0) {
        count--;
    }
    return count > 0;
}

static int create_instance(gpu *g)
{
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    const char *extensions[16];
    uint32_t count = 0, validates = has_validation();
    const char **surface = g->window ? glfwGetRequiredInstanceExtensions(&count) : NULL;
    for (uint32_t i = 0; i < count && i + 1 < LENGTH(extensions); i++) {
        extensions[i] = surface[i];
    }
    if (validates) {
        extensions[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    }
    VkValidationFeatureEnableEXT enable =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .enabledValidationFeatureCount = 1,
                                        .pEnabledValidationFeatures = &enable};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "renderer",
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validates ? &features : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validates,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = count,
                                 .ppEnabledExtensionNames = extensions};
    if (failed("vkCreateInstance", vkCreateInstance(&info, NULL, &g->instance)) || !validates) {
        return !g->instance;
    }
    VkDebugUtilsMessengerCreateInfoEXT listener = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive,
        .pUserData = g};
    PFN_vkCreateDebugUtilsMessengerEXT listen =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(g->instance,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    return failed("vkCreateDebugUtilsMessengerEXT",
                  listen(g->instance, &listener, NULL, &g->messenger));
}

/* A family for everything, of a device with Vulkan 1.3 and what the library needs. */
static int is_suitable(gpu *g, VkPhysicalDevice physical, vyre_diag *diag)
{
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkPhysicalDeviceProperties properties;
    VkQueueFamilyProperties families[16];
    uint32_t count = LENGTH(families);
    vkGetPhysicalDeviceProperties(physical, &properties);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    if (properties.apiVersion < VK_API_VERSION_1_3 ||
        vyre_device_fill_setup(g->instance, physical, VK_API_VERSION_1_3, vkGetInstanceProcAddr,
                               &g->setup, diag) != VYRE_OK) {
        return 0;
    }
    for (g->family = 0; g->family < count; g->family++) {
        if ((families[g->family].queueFlags & wanted) == wanted &&
            (!g->window ||
             glfwGetPhysicalDevicePresentationSupport(g->instance, physical, g->family))) {
            return 1;
        }
    }
    return 0;
}

static int choose_device(gpu *g)
{
    VkPhysicalDevice devices[16];
    uint32_t count = LENGTH(devices);
    vyre_diag diag = {.message = "no Vulkan 1.3, or no queue for graphics and compute"};
    if (vkEnumeratePhysicalDevices(g->instance, &count, devices) < 0) {
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (is_suitable(g, devices[i], &diag)) {
            g->physical = devices[i];
            return 0;
        }
    }
    fprintf(stderr, "none of %u Vulkan devices serves: %s\n", (unsigned)count, diag.message);
    return 1;
}

static int create_device(gpu *g)
{
    const char *extensions[VYRE_MAX_DEVICE_EXTENSIONS + 1];
    uint32_t count = g->setup.extension_count;
    memcpy(extensions, g->setup.extensions, count * sizeof *extensions);
    /* What the renderer wants itself, beside what the library does. */
    if (g->window) {
        extensions[count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    }
    g->setup.chain.vulkan13.dynamicRendering = VK_TRUE;
    g->setup.chain.vulkan13.synchronization2 = VK_TRUE;
    g->setup.queue.queueFamilyIndex = g->family;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &g->setup.chain.features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &g->setup.queue,
                               .enabledExtensionCount = count,
                               .ppEnabledExtensionNames = extensions};
    if (failed("vkCreateDevice", vkCreateDevice(g->physical, &info, NULL, &g->device))) {
        return 1;
    }
    vkGetDeviceQueue(g->device, g->family, 0, &g->queue);
    return 0;
}

int gpu_create(gpu *g, GLFWwindow *window)
{
    g->window = window;
    return create_instance(g) || choose_device(g) || create_device(g) ||
           (window && failed("glfwCreateWindowSurface",
                             glfwCreateWindowSurface(g->instance, window, NULL, &g->surface)));
}

int gpu_allocate(gpu *g, const VkMemoryRequirements *needs, VkMemoryPropertyFlags wanted,
                 VkDeviceMemory *out)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(g->physical, &memory);
    uint32_t type = 0;
    while (type + 1 < memory.memoryTypeCount &&
           (!(needs->memoryTypeBits >> type & 1) ||
            (memory.memoryTypes[type].propertyFlags & wanted) != wanted)) {
        type++;
    }
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = needs->size,
                                 .memoryTypeIndex = type};
    return failed("vkAllocateMemory", vkAllocateMemory(g->device, &info, NULL, out));
}

void gpu_destroy(gpu *g)
{
    if (g->device) {
        vkDestroyDevice(g->device, NULL);
    }
    if (g->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT hush =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                g->instance, "vkDestroyDebugUtilsMessengerEXT");
        hush(g->instance, g->messenger, NULL);
    }
    if (g->surface) {
        vkDestroySurfaceKHR(g->instance, g->surface, NULL);
    }
    if (g->instance) {
        vkDestroyInstance(g->instance, NULL);
    }
}
