/* The renderer's own Vulkan. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

int gpu_failed(const char *call, VkResult result)
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
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    uint32_t validates = has_validation();
    VkDebugUtilsMessengerCreateInfoEXT listener = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive,
        .pUserData = g};
    VkValidationFeatureEnableEXT enable =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .enabledValidationFeatureCount = 1,
                                        .pEnabledValidationFeatures = &enable};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "async",
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validates ? &features : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validates,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validates,
                                 .ppEnabledExtensionNames = extensions};
    if (gpu_failed("vkCreateInstance", vkCreateInstance(&info, NULL, &g->instance)) || !validates) {
        return !g->instance;
    }
    PFN_vkCreateDebugUtilsMessengerEXT listen =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(g->instance,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    return gpu_failed("vkCreateDebugUtilsMessengerEXT",
                      listen(g->instance, &listener, NULL, &g->messenger));
}

/* The library's setup names a family for compute, away from graphics where there is one. */
static int choose_families(gpu *g)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = LENGTH(families);
    vkGetPhysicalDeviceQueueFamilyProperties(g->physical, &count, families);
    g->families[1] = g->setup.queue.queueFamilyIndex;
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) {
            g->families[0] = i;
            return 0;
        }
    }
    fprintf(stderr, "the device has no queue for graphics\n");
    return 1;
}

static int create_device(gpu *g)
{
    vyre_diag diag;
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(g->instance, &count, &g->physical) < 0 || count == 0) {
        fprintf(stderr, "there is no Vulkan device\n");
        return 1;
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(g->physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_3) {
        fprintf(stderr, "%s has no Vulkan 1.3\n", properties.deviceName);
        return 1;
    }
    if (vyre_device_fill_setup(g->instance, g->physical, VK_API_VERSION_1_3, vkGetInstanceProcAddr,
                               &g->setup, &diag) != VYRE_OK) {
        fprintf(stderr, "%s\n", diag.message);
        return 1;
    }
    /* What the renderer wants itself, beside what the library does. */
    g->setup.chain.vulkan13.dynamicRendering = VK_TRUE;
    g->setup.chain.vulkan13.synchronization2 = VK_TRUE;
    if (choose_families(g)) {
        return 1;
    }
    VkDeviceQueueCreateInfo queues[2] = {g->setup.queue, g->setup.queue};
    queues[1].queueFamilyIndex = g->families[0];
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &g->setup.chain.features,
                               .queueCreateInfoCount = g->families[0] == g->families[1] ? 1 : 2,
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = g->setup.extension_count,
                               .ppEnabledExtensionNames = g->setup.extensions};
    if (gpu_failed("vkCreateDevice", vkCreateDevice(g->physical, &info, NULL, &g->device))) {
        return 1;
    }
    vkGetDeviceQueue(g->device, g->families[0], 0, &g->graphics);
    vkGetDeviceQueue(g->device, g->families[1], 0, &g->compute);
    return 0;
}

int gpu_create(gpu *g)
{
    return create_instance(g) || create_device(g);
}

static int allocate(gpu *g, const VkMemoryRequirements *needs, VkMemoryPropertyFlags wanted,
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
    return gpu_failed("vkAllocateMemory", vkAllocateMemory(g->device, &info, NULL, out));
}

int gpu_create_buffer(gpu *g, VkDeviceSize size, VkBufferUsageFlags usage, int is_mapped,
                      gpu_buffer *out)
{
    int is_shared = g->families[0] != g->families[1];
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = usage,
                               .sharingMode = is_shared ? VK_SHARING_MODE_CONCURRENT
                                                        : VK_SHARING_MODE_EXCLUSIVE,
                               .queueFamilyIndexCount = is_shared ? 2 : 0,
                               .pQueueFamilyIndices = g->families};
    if (gpu_failed("vkCreateBuffer", vkCreateBuffer(g->device, &info, NULL, &out->buffer))) {
        return 1;
    }
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(g->device, out->buffer, &needs);
    return allocate(g, &needs,
                    is_mapped
                        ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                        : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                    &out->memory) ||
           gpu_failed("vkBindBufferMemory",
                      vkBindBufferMemory(g->device, out->buffer, out->memory, 0)) ||
           (is_mapped && gpu_failed("vkMapMemory", vkMapMemory(g->device, out->memory, 0,
                                                               VK_WHOLE_SIZE, 0, &out->mapped)));
}

int gpu_create_image(gpu *g, uint32_t side, gpu_image *out)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {side, side, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    if (gpu_failed("vkCreateImage", vkCreateImage(g->device, &info, NULL, &out->image))) {
        return 1;
    }
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(g->device, out->image, &needs);
    if (allocate(g, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &out->memory) ||
        gpu_failed("vkBindImageMemory", vkBindImageMemory(g->device, out->image, out->memory, 0))) {
        return 1;
    }
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = out->image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = info.format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return gpu_failed("vkCreateImageView", vkCreateImageView(g->device, &view, NULL, &out->view));
}

int gpu_create_timeline(gpu *g, VkSemaphore *out)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    return gpu_failed("vkCreateSemaphore", vkCreateSemaphore(g->device, &info, NULL, out));
}

int gpu_create_commands(gpu *g, VkCommandPool *out_pool, VkCommandBuffer out_commands[2])
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = g->families[0]};
    if (gpu_failed("vkCreateCommandPool", vkCreateCommandPool(g->device, &pool, NULL, out_pool))) {
        return 1;
    }
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = *out_pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 2};
    return gpu_failed("vkAllocateCommandBuffers",
                      vkAllocateCommandBuffers(g->device, &info, out_commands));
}

int gpu_submit(gpu *g, VkCommandBuffer commands, const vyre_semaphore_point *wait,
               const vyre_semaphore_point *signal)
{
    VkSemaphoreSubmitInfo waits = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                   .semaphore = wait ? wait->semaphore : VK_NULL_HANDLE,
                                   .value = wait ? wait->value : 0,
                                   .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signals = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                     .semaphore = signal->semaphore,
                                     .value = signal->value,
                                     .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                        .commandBuffer = commands};
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                          .waitSemaphoreInfoCount = wait ? 1 : 0,
                          .pWaitSemaphoreInfos = &waits,
                          .commandBufferInfoCount = 1,
                          .pCommandBufferInfos = &buffer,
                          .signalSemaphoreInfoCount = 1,
                          .pSignalSemaphoreInfos = &signals};
    return gpu_failed("vkQueueSubmit2", vkQueueSubmit2(g->graphics, 1, &info, VK_NULL_HANDLE));
}

int gpu_wait(gpu *g, VkSemaphore timeline, uint64_t value)
{
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &timeline,
                                .pValues = &value};
    return gpu_failed("vkWaitSemaphores", vkWaitSemaphores(g->device, &info, UINT64_MAX));
}

void gpu_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkAccessFlags2 writes,
                 VkPipelineStageFlags2 to, VkAccessFlags2 accesses)
{
    VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                .srcStageMask = from,
                                .srcAccessMask = writes,
                                .dstStageMask = to,
                                .dstAccessMask = accesses};
    VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                             .memoryBarrierCount = 1,
                             .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &info);
}

void gpu_destroy_buffer(gpu *g, gpu_buffer *b)
{
    vkDestroyBuffer(g->device, b->buffer, NULL);
    vkFreeMemory(g->device, b->memory, NULL);
}

void gpu_destroy_image(gpu *g, gpu_image *i)
{
    vkDestroyImageView(g->device, i->view, NULL);
    vkDestroyImage(g->device, i->image, NULL);
    vkFreeMemory(g->device, i->memory, NULL);
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
    if (g->instance) {
        vkDestroyInstance(g->instance, NULL);
    }
}
