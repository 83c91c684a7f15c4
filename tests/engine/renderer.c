/* See renderer.h. */
#include "tests/engine/renderer.h"

#include "vyre/text.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user)
{
    renderer *r = user;
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT &&
        types & (VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                 VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT)) {
        r->messages++;
        if (!r->expects_messages) {
            print_message("%s\n", data->pMessage);
        }
    }
    return VK_FALSE;
}

static PFN_vkVoidFunction find(const renderer *r, const char *name)
{
    PFN_vkVoidFunction found = r->get(r->instance, name);
    assert_true(found != NULL);
    return found;
}

static void make_instance(renderer *r)
{
    /* Layers of 1.4 find no hazards of shaders without it (docs/troubleshooting.md). */
    (void)setenv("VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC", "true", 0);
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_3};
    VkValidationFeatureEnableEXT enable =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT validation = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                          .enabledValidationFeatureCount = 1,
                                          .pEnabledValidationFeatures = &enable};
    const char *layers[] = {"VK_LAYER_KHRONOS_validation"};
    const char *extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = r->validates ? &validation : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = r->validates ? 1 : 0,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    assert_int_equal(
        ((PFN_vkCreateInstance)r->get(NULL, "vkCreateInstance"))(&info, NULL, &r->instance),
        VK_SUCCESS);
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive,
        .pUserData = r};
    PFN_vkCreateDebugUtilsMessengerEXT listen =
        (PFN_vkCreateDebugUtilsMessengerEXT)find(r, "vkCreateDebugUtilsMessengerEXT");
    assert_int_equal(listen(r->instance, &messenger, NULL, &r->messenger), VK_SUCCESS);
    uint32_t count = 1;
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)find(r, "vkEnumeratePhysicalDevices");
    assert_true(enumerate(r->instance, &count, &r->physical) >= 0);
    assert_int_equal(count, 1);
}

static void make_device(renderer *r)
{
    vyre_diag diag;
    if (vyre_device_fill_setup(r->instance, r->physical, VK_API_VERSION_1_3, r->get, &r->setup,
                               &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    r->family = r->setup.queue.queueFamilyIndex;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &r->setup.chain.features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &r->setup.queue,
                               .enabledExtensionCount = r->setup.extension_count,
                               .ppEnabledExtensionNames = r->setup.extensions};
    assert_int_equal(
        ((PFN_vkCreateDevice)find(r, "vkCreateDevice"))(r->physical, &info, NULL, &r->device),
        VK_SUCCESS);
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)find(r, "vkGetDeviceProcAddr");
#define X(name) r->name = (PFN_##name)get(r->device, #name);
    RENDERER_FUNCTIONS(X)
#undef X
    r->vkGetDeviceQueue(r->device, r->family, 0, &r->queue);
}

static PFN_vkGetInstanceProcAddr system_entry(void)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = loader ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
    PFN_vkGetInstanceProcAddr entry = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    assert_true(entry != NULL);
    return entry;
}

void renderer_open(renderer *r, vyre_vulkan_entry entry, int validate)
{
    memset(r, 0, sizeof *r);
    r->validates = validate && engine_validates();
    assert_int_equal(pthread_mutex_init(&r->mutex, NULL), 0);
    r->get = entry ? (PFN_vkGetInstanceProcAddr)entry : system_entry();
    make_instance(r);
    make_device(r);
}

void renderer_close(renderer *r)
{
    assert_int_equal(r->vkDeviceWaitIdle(r->device), VK_SUCCESS);
    for (uint32_t i = 0; i < r->semaphore_count; i++) {
        r->vkDestroySemaphore(r->device, r->semaphores[i], NULL);
    }
    for (uint32_t i = 0; i < r->buffer_count; i++) {
        r->vkDestroyBuffer(r->device, r->buffers[i], NULL);
        r->vkFreeMemory(r->device, r->memory[i], NULL);
    }
    for (uint32_t i = 0; i < r->pool_count; i++) {
        r->vkDestroyCommandPool(r->device, r->pools[i], NULL);
    }
    r->vkDestroyDevice(r->device, NULL);
    ((PFN_vkDestroyDebugUtilsMessengerEXT)find(r, "vkDestroyDebugUtilsMessengerEXT"))(
        r->instance, r->messenger, NULL);
    ((PFN_vkDestroyInstance)find(r, "vkDestroyInstance"))(r->instance, NULL);
    pthread_mutex_destroy(&r->mutex);
    assert_int_equal(r->messages, 0);
}

static void lock_queue(void *user)
{
    pthread_mutex_lock(&((renderer *)user)->mutex);
}

static void unlock_queue(void *user)
{
    pthread_mutex_unlock(&((renderer *)user)->mutex);
}

vyre_adopt_params renderer_adoption(renderer *r)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = r->get;
    params.instance = r->instance;
    params.physical_device = r->physical;
    params.device = r->device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = r->queue;
    params.queue_family = r->family;
    params.features = &r->setup.chain.features;
    params.extensions = r->setup.extensions;
    params.extension_count = r->setup.extension_count;
    params.instance_extensions = extensions;
    params.instance_extension_count = 1;
    params.lock_queue = lock_queue;
    params.unlock_queue = unlock_queue;
    params.queue_user = r;
    return params;
}

vyre_device *renderer_adopt(renderer *r, const vyre_allocator *allocator)
{
    vyre_adopt_params params = renderer_adoption(r);
    params.allocator = allocator;
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_adopt(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

/* ---- Commands -------------------------------------------------------------------------------- */

VkCommandBuffer renderer_commands(renderer *r, VkCommandBufferLevel level)
{
    assert_true(r->pool_count < RENDERER_MAX_OBJECTS);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = r->family};
    assert_int_equal(r->vkCreateCommandPool(r->device, &pool, NULL, &r->pools[r->pool_count]),
                     VK_SUCCESS);
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = r->pools[r->pool_count++],
                                        .level = level,
                                        .commandBufferCount = 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(r->vkAllocateCommandBuffers(r->device, &info, &commands), VK_SUCCESS);
    return commands;
}

void renderer_begin(renderer *r, VkCommandBuffer commands, int is_secondary)
{
    VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .pInheritanceInfo = is_secondary ? &inheritance : NULL};
    assert_int_equal(r->vkBeginCommandBuffer(commands, &info), VK_SUCCESS);
}

void renderer_end(renderer *r, VkCommandBuffer commands)
{
    assert_int_equal(r->vkEndCommandBuffer(commands), VK_SUCCESS);
}

void renderer_barrier(renderer *r, VkCommandBuffer commands, VkPipelineStageFlags src,
                      VkAccessFlags writes, VkPipelineStageFlags dst, VkAccessFlags accesses)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = writes,
                               .dstAccessMask = accesses};
    r->vkCmdPipelineBarrier(commands, src, dst, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void renderer_copy_back(renderer *r, VkCommandBuffer commands, VkBuffer source, VkBuffer target,
                        VkDeviceSize size)
{
    VkBufferCopy region = {.size = size};
    r->vkCmdCopyBuffer(commands, source, target, 1, &region);
    /* Of this buffer alone, so that it does not do for a barrier of the library's. */
    VkBufferMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
                                     .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                     .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                     .buffer = target,
                                     .size = VK_WHOLE_SIZE};
    r->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                            0, NULL, 1, &barrier, 0, NULL);
}

void renderer_submit_work(renderer *r, const renderer_submit *s)
{
    VkSemaphore waits[4], signals[4];
    uint64_t wait_values[4], signal_values[4];
    VkPipelineStageFlags stages[4];
    for (uint32_t i = 0; i < 4; i++) {
        waits[i] = s->waits[i].semaphore;
        wait_values[i] = s->waits[i].value;
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        signals[i] = s->signals[i].semaphore;
        signal_values[i] = s->signals[i].value;
    }
    VkTimelineSemaphoreSubmitInfo timeline = {.sType =
                                                  VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .waitSemaphoreValueCount = s->wait_count,
                                              .pWaitSemaphoreValues = wait_values,
                                              .signalSemaphoreValueCount = s->signal_count,
                                              .pSignalSemaphoreValues = signal_values};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .waitSemaphoreCount = s->wait_count,
                         .pWaitSemaphores = waits,
                         .pWaitDstStageMask = stages,
                         .commandBufferCount = s->command_count,
                         .pCommandBuffers = s->commands,
                         .signalSemaphoreCount = s->signal_count,
                         .pSignalSemaphores = signals};
    lock_queue(r);
    VkResult result = r->vkQueueSubmit(r->queue, 1, &info, VK_NULL_HANDLE);
    unlock_queue(r);
    assert_int_equal(result, VK_SUCCESS);
}

void renderer_submit_and_wait(renderer *r, VkCommandBuffer commands)
{
    renderer_submit submit = {.commands = {commands}, .command_count = 1};
    renderer_submit_work(r, &submit);
    assert_int_equal(r->vkDeviceWaitIdle(r->device), VK_SUCCESS);
}

/* ---- Buffers and semaphores ------------------------------------------------------------------ */

VkBuffer renderer_buffer(renderer *r, VkDeviceSize size, VkBufferUsageFlags usage,
                         const uint32_t **out_mapped)
{
    assert_true(r->buffer_count < RENDERER_MAX_OBJECTS);
    uint32_t at = r->buffer_count++;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    assert_int_equal(r->vkCreateBuffer(r->device, &info, NULL, &r->buffers[at]), VK_SUCCESS);
    VkMemoryRequirements needs;
    r->vkGetBufferMemoryRequirements(r->device, r->buffers[at], &needs);
    VkPhysicalDeviceMemoryProperties properties;
    ((PFN_vkGetPhysicalDeviceMemoryProperties)find(r, "vkGetPhysicalDeviceMemoryProperties"))(
        r->physical, &properties);
    VkMemoryPropertyFlags wanted =
        out_mapped ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT : 0;
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (properties.memoryTypes[type].propertyFlags & wanted) != wanted) {
        type++;
    }
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT ? &flags : NULL,
        .allocationSize = needs.size,
        .memoryTypeIndex = type};
    assert_int_equal(r->vkAllocateMemory(r->device, &allocate, NULL, &r->memory[at]), VK_SUCCESS);
    assert_int_equal(r->vkBindBufferMemory(r->device, r->buffers[at], r->memory[at], 0),
                     VK_SUCCESS);
    if (out_mapped) {
        void *mapped = NULL;
        assert_int_equal(r->vkMapMemory(r->device, r->memory[at], 0, VK_WHOLE_SIZE, 0, &mapped),
                         VK_SUCCESS);
        *out_mapped = mapped;
    }
    return r->buffers[at];
}

vyre_buffer renderer_import(vyre_device *device, VkBuffer buffer, VkDeviceSize size,
                            VkBufferUsageFlags usage)
{
    vyre_import_params params = {
        .buffer = buffer, .size = size, .usage = usage, .name = "renderer's"};
    vyre_buffer out;
    vyre_diag diag;
    if (vyre_buffer_import(device, &params, &out, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return out;
}

static VkSemaphore make_semaphore(renderer *r, VkSemaphoreType kind)
{
    assert_true(r->semaphore_count < RENDERER_MAX_OBJECTS);
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = kind};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore *out = &r->semaphores[r->semaphore_count++];
    assert_int_equal(r->vkCreateSemaphore(r->device, &info, NULL, out), VK_SUCCESS);
    return *out;
}

VkSemaphore renderer_timeline(renderer *r)
{
    return make_semaphore(r, VK_SEMAPHORE_TYPE_TIMELINE);
}

VkSemaphore renderer_binary(renderer *r)
{
    return make_semaphore(r, VK_SEMAPHORE_TYPE_BINARY);
}

void renderer_wait(renderer *r, VkSemaphore semaphore, uint64_t value)
{
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &semaphore,
                                .pValues = &value};
    assert_int_equal(r->vkWaitSemaphores(r->device, &info, 60000000000u), VK_SUCCESS);
}

uint64_t renderer_value(renderer *r, VkSemaphore semaphore)
{
    uint64_t value = 0;
    assert_int_equal(r->vkGetSemaphoreCounterValue(r->device, semaphore, &value), VK_SUCCESS);
    return value;
}

engine_program renderer_build(vyre_device *device, const char *text, vyre_binding_mode bindings)
{
    engine_program out = {NULL, NULL};
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_kernel_params kernel;
    vyre_pipeline_params params;
    vyre_device_kernel_params(device, &kernel);
    vyre_pipeline_params_init(&params);
    params.bindings = bindings;
    if (vyre_program_parse(text, strlen(text), "test", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &kernel, &out.kernel, &diag) != VYRE_OK ||
        vyre_pipeline_create(device, out.kernel, &params, &out.pipeline, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    engine_note(out.kernel);
    return out;
}
