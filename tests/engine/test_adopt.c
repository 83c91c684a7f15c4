/* A host's own instance, device and queue: adopted, recorded into, and left as they were. */
#include "tests/support/engine_fixture.h"
#include "vyre/text.h"
#include "vyre/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOST_FUNCTIONS(X)                                                                          \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkAllocateMemory)                                                                            \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkBindBufferMemory)                                                                          \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdFillBuffer)                                                                             \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCreateBuffer)                                                                              \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyBuffer)                                                                             \
    X(vkDestroyCommandPool)                                                                        \
    X(vkDestroyDevice)                                                                             \
    X(vkEndCommandBuffer)                                                                          \
    X(vkFreeMemory)                                                                                \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetDeviceQueue)                                                                            \
    X(vkMapMemory)                                                                                 \
    X(vkQueueSubmit)                                                                               \
    X(vkQueueWaitIdle)

typedef struct host {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    vyre_feature_chain chain;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer, readback;
    VkDeviceMemory memory[2];
    uint32_t *mapped;
    uint32_t messages;
    int locked;
    uint32_t locks;
#define X(name) PFN_##name name;
    HOST_FUNCTIONS(X)
#undef X
} host;

static host h;
static vyre_barriers borders; /* of recordings */

#define COUNT 256u
#define SIZE  (COUNT * sizeof(uint32_t))

static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user)
{
    (void)user;
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT &&
        types & (VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                 VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT)) {
        h.messages++;
        print_message("%s\n", data->pMessage);
    }
    return VK_FALSE;
}

static PFN_vkVoidFunction find(const char *name)
{
    return h.get(h.instance, name);
}

static void make_instance(void)
{
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
                                 .pNext = engine_validates() ? &validation : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = engine_validates() ? 1 : 0,
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)h.get(NULL, "vkCreateInstance");
    assert_int_equal(create(&info, NULL, &h.instance), VK_SUCCESS);
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive};
    PFN_vkCreateDebugUtilsMessengerEXT listen =
        (PFN_vkCreateDebugUtilsMessengerEXT)find("vkCreateDebugUtilsMessengerEXT");
    assert_int_equal(listen(h.instance, &messenger, NULL, &h.messenger), VK_SUCCESS);
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)find("vkEnumeratePhysicalDevices");
    uint32_t count = 1;
    assert_true(enumerate(h.instance, &count, &h.physical) >= 0);
    assert_int_equal(count, 1);
}

static void make_device(void)
{
    PFN_vkGetPhysicalDeviceQueueFamilyProperties families =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)find(
            "vkGetPhysicalDeviceQueueFamilyProperties");
    VkQueueFamilyProperties list[16];
    uint32_t count = 16;
    families(h.physical, &count, list);
    while (h.family < count && !(list[h.family].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
        h.family++;
    }
    assert_true(h.family < count);
    vyre_diag diag;
    assert_int_equal(vyre_device_fill_features(h.instance, h.physical, VK_API_VERSION_1_3, h.get,
                                               &h.chain, &diag),
                     VYRE_OK);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = h.family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &h.chain.features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)find("vkCreateDevice");
    assert_int_equal(create(h.physical, &info, NULL, &h.device), VK_SUCCESS);
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)find("vkGetDeviceProcAddr");
#define X(name) h.name = (PFN_##name)get(h.device, #name);
    HOST_FUNCTIONS(X)
#undef X
    h.vkGetDeviceQueue(h.device, h.family, 0, &h.queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = h.family};
    assert_int_equal(h.vkCreateCommandPool(h.device, &pool, NULL, &h.pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = h.pool,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                          .commandBufferCount = 1};
    assert_int_equal(h.vkAllocateCommandBuffers(h.device, &buffer, &h.commands), VK_SUCCESS);
}

static void make_buffer(VkBufferUsageFlags usage, bool is_mapped, int slot, VkBuffer *out)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = SIZE, .usage = usage};
    assert_int_equal(h.vkCreateBuffer(h.device, &info, NULL, out), VK_SUCCESS);
    VkMemoryRequirements needs;
    h.vkGetBufferMemoryRequirements(h.device, *out, &needs);
    PFN_vkGetPhysicalDeviceMemoryProperties query =
        (PFN_vkGetPhysicalDeviceMemoryProperties)find("vkGetPhysicalDeviceMemoryProperties");
    VkPhysicalDeviceMemoryProperties properties;
    query(h.physical, &properties);
    VkMemoryPropertyFlags wanted =
        is_mapped ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT : 0;
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (properties.memoryTypes[type].propertyFlags & wanted) != wanted) {
        type++;
    }
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    assert_int_equal(h.vkAllocateMemory(h.device, &allocate, NULL, &h.memory[slot]), VK_SUCCESS);
    assert_int_equal(h.vkBindBufferMemory(h.device, *out, h.memory[slot], 0), VK_SUCCESS);
    if (is_mapped) {
        void *mapped = NULL;
        assert_int_equal(h.vkMapMemory(h.device, h.memory[slot], 0, VK_WHOLE_SIZE, 0, &mapped),
                         VK_SUCCESS);
        h.mapped = mapped;
    }
}

static int open_host(void **state)
{
    (void)state;
    layer_reset();
    h = (host){0};
    borders = VYRE_BARRIERS_LIBRARY;
    if (engine_has_no_device()) {
        return 0;
    }
    h.get = (PFN_vkGetInstanceProcAddr)layer_entry();
    make_instance();
    make_device();
    make_buffer(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                    VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                false, 0, &h.buffer);
    make_buffer(VK_BUFFER_USAGE_TRANSFER_DST_BIT, true, 1, &h.readback);
    return 0;
}

static int close_host(void **state)
{
    (void)state;
    if (!h.device) {
        return 0;
    }
    h.vkDestroyBuffer(h.device, h.buffer, NULL);
    h.vkDestroyBuffer(h.device, h.readback, NULL);
    h.vkFreeMemory(h.device, h.memory[0], NULL);
    h.vkFreeMemory(h.device, h.memory[1], NULL);
    h.vkDestroyCommandPool(h.device, h.pool, NULL);
    h.vkDestroyDevice(h.device, NULL);
    ((PFN_vkDestroyDebugUtilsMessengerEXT)find("vkDestroyDebugUtilsMessengerEXT"))(
        h.instance, h.messenger, NULL);
    ((PFN_vkDestroyInstance)find("vkDestroyInstance"))(h.instance, NULL);
    assert_int_equal(h.messages, 0);
    assert_int_equal(layer_alive(), 0);
    return 0;
}

static void lock_queue(void *user)
{
    host *own = user;
    assert_int_equal(own->locked, 0);
    own->locked = 1;
    own->locks++;
}

static void unlock_queue(void *user)
{
    host *own = user;
    assert_int_equal(own->locked, 1);
    own->locked = 0;
}

static vyre_adopt_params adoption(void)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    vyre_adopt_params params;
    vyre_adopt_params_init(&params);
    params.get_instance_proc_addr = h.get;
    params.instance = h.instance;
    params.physical_device = h.physical;
    params.device = h.device;
    params.api_version = VK_API_VERSION_1_3;
    params.queue = h.queue;
    params.queue_family = h.family;
    params.features = &h.chain.features;
    params.instance_extensions = extensions;
    params.instance_extension_count = 1;
    params.lock_queue = lock_queue;
    params.unlock_queue = unlock_queue;
    params.queue_user = &h;
    return params;
}

static vyre_device *adopt(void)
{
    vyre_adopt_params params = adoption();
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_adopt(&params, &device, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return device;
}

static void test_adopt_takes_nothing_and_submits_nothing(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    int32_t alive = layer_alive();
    layer_clear_events();
    vyre_device *device = adopt();
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    assert_int_equal(info.is_adopted, 1);
    assert_int_equal(info.denormals, VYRE_ANSWER_UNKNOWN);
    vyre_diag diag;
    assert_int_equal(vyre_device_probe(device, &diag), VYRE_OK);
    assert_true(h.locks > 0);
    vyre_device_get_info(device, &info);
    assert_int_equal(info.long_loops, VYRE_ANSWER_YES);
    vyre_device_destroy(&device);
    assert_int_equal(layer_alive(), alive);
}

static void test_adopt_names_what_is_missing(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    vyre_adopt_params params = adoption();
    vyre_device *device = NULL;
    vyre_diag diag;
    params.features = NULL;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "timelineSemaphore"));
    assert_non_null(strstr(diag.message, "vyre_device_requirements"));
    params = adoption();
    params.api_version = VK_API_VERSION_1_1;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(diag.message, "Vulkan 1.2"));
    params = adoption();
    params.queue_family = 1000;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    params = adoption();
    params.queue = VK_NULL_HANDLE;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    params = adoption();
    params.unlock_queue = NULL;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    /* Features by the structures from before Vulkan 1.2, and nothing else: 1.2 words. */
    params = adoption();
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    params.features = &features;
    assert_int_equal(vyre_device_adopt(&params, &device, &diag), VYRE_OK);
    vyre_kernel_params kernel;
    vyre_device_kernel_params(device, &kernel);
    assert_int_equal(kernel.target, VYRE_TARGET_VULKAN_1_2);
    vyre_device_destroy(&device);
    uint32_t count = 0;
    const vyre_requirement *list = vyre_device_requirements(&count);
    uint32_t required = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(list[i].name[0] && list[i].why[0]);
        required += list[i].is_required != 0;
    }
    assert_int_equal(required, 1);
}

static void begin_commands(void)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(h.vkBeginCommandBuffer(h.commands, &info), VK_SUCCESS);
}

static void submit_and_wait(void)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &h.commands};
    assert_int_equal(h.vkQueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(h.vkQueueWaitIdle(h.queue), VK_SUCCESS);
}

static void copy_back(void)
{
    VkBufferCopy region = {.size = SIZE};
    h.vkCmdCopyBuffer(h.commands, h.buffer, h.readback, 1, &region);
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    h.vkCmdPipelineBarrier(h.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                           0, 1, &to_host, 0, NULL, 0, NULL);
}

static vyre_buffer import(vyre_device *device)
{
    vyre_import_params params = {.buffer = h.buffer,
                                 .size = SIZE,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                 .name = "host's"};
    vyre_buffer buffer;
    vyre_diag diag;
    assert_int_equal(vyre_buffer_import(device, &params, &buffer, &diag), VYRE_OK);
    return buffer;
}

static const char reverse_text[] =
    "program reverse\nworkgroup 64\ngrid over a\n"
    "inout a : u32[]\nscratch b : u32[len(a)]\nscratch n : u32[1]\n"
    "kernel {\n"
    "  if gid.x < len(a) { b[gid.x] = a[gid.x] + gid.x }\n"
    "  if gid.x == 0 { n[0] = n[0] + 1 }\n"
    "  grid_sync\n"
    "  if gid.x < len(a) { a[gid.x] = b[len(a) - 1 - gid.x] + n[0] }\n"
    "  if gid.x == 3 { trap(9) }\n"
    "}\n";

static void record(vyre_pipeline *pipeline, vyre_buffer buffer, uint32_t bindings, uint32_t passes,
                   vyre_recording **recording)
{
    vyre_binding list[3] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED)};
    vyre_record_params params = {.command_buffer = h.commands, .before = borders, .after = borders};
    params.dispatch.bindings = list;
    params.dispatch.binding_count = bindings;
    params.dispatch.passes = passes;
    vyre_diag diag;
    if (vyre_record(pipeline, &params, recording, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

static void test_record_stands_between_the_hosts_commands(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    vyre_device *device = adopt();
    vyre_buffer buffer = import(device);
    engine_program p = engine_build(device, reverse_text);
    vyre_recording *recording = NULL;
    begin_commands();
    h.vkCmdFillBuffer(h.commands, h.buffer, 0, SIZE, 1000);
    layer_clear_events();
    record(p.pipeline, buffer, 3, 0, &recording);
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    copy_back();
    assert_int_equal(h.vkEndCommandBuffer(h.commands), VK_SUCCESS);
    /* Again and again: scratch, counters and records start anew each time. */
    for (int round = 0; round < 3; round++) {
        memset(h.mapped, 0, SIZE);
        submit_and_wait();
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(h.mapped[i], 1000 + (COUNT - 1 - i) + 1);
        }
        vyre_report report;
        vyre_diag diag;
        assert_int_equal(vyre_recording_report(recording, &report, &diag), VYRE_OK);
        assert_int_equal(report.passes, 1);
        assert_int_equal(report.record.kind, VYRE_RECORD_TRAP);
        assert_int_equal(report.record.code, 9);
        assert_int_equal(report.record.segment, 1);
        assert_int_equal(report.record.invocation, 3);
        assert_int_equal(report.dispatches_recorded, 2);
    }
    vyre_diag diag;
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_ERROR_BUSY);
    vyre_recording_destroy(&recording);
    vyre_recording_destroy(&recording);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
}

static void host_barrier(VkPipelineStageFlags src, VkAccessFlags writes, VkPipelineStageFlags dst,
                         VkAccessFlags accesses)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = writes,
                               .dstAccessMask = accesses};
    h.vkCmdPipelineBarrier(h.commands, src, dst, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static void test_record_leaves_the_borders_to_the_host(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    vyre_device *device = adopt();
    vyre_buffer buffer = import(device);
    engine_program p = engine_build(device, reverse_text);
    vyre_recording *recording = NULL;
    borders = VYRE_BARRIERS_HOST;
    begin_commands();
    h.vkCmdFillBuffer(h.commands, h.buffer, 0, SIZE, 50);
    host_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                 VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                     VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                 VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                     VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                     VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
    layer_clear_events();
    record(p.pipeline, buffer, 3, 0, &recording);
    uint32_t count = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_BARRIER) {
            assert_false(events[i].src_stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
            assert_false(events[i].dst_stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
        }
    }
    host_barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                 VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                 VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    copy_back();
    assert_int_equal(h.vkEndCommandBuffer(h.commands), VK_SUCCESS);
    for (int round = 0; round < 2; round++) {
        submit_and_wait();
        assert_int_equal(h.mapped[0], 50 + COUNT - 1 + 1);
    }
    vyre_recording_destroy(&recording);
    engine_release(&p);
    vyre_device_destroy(&device);
}

static void test_record_ends_fixpoints_on_the_device(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    vyre_device *device = adopt();
    vyre_buffer buffer = import(device);
    engine_program p = engine_build(device, "program down\nworkgroup 1\nfixpoint 100 until f\n"
                                            "grid over f\n"
                                            "inout a : u32[]\nscratch f : u32[1]\n"
                                            "kernel { a[1] = a[1] + 1\n"
                                            "  if a[0] != 0 { a[0] = a[0] - 1  f[0] = 1 } }\n");
    static const uint32_t froms[] = {0, 5, 99, 4000};
    for (size_t i = 0; i < 4; i++) {
        vyre_recording *recording = NULL;
        uint32_t from = froms[i], expected = from < 100 ? from + 1 : 100;
        begin_commands();
        h.vkCmdFillBuffer(h.commands, h.buffer, 0, 4, from);
        h.vkCmdFillBuffer(h.commands, h.buffer, 4, SIZE - 4, 0);
        record(p.pipeline, buffer, 2, 0, &recording);
        copy_back();
        assert_int_equal(h.vkEndCommandBuffer(h.commands), VK_SUCCESS);
        for (int round = 0; round < 2; round++) {
            submit_and_wait();
            assert_int_equal(h.mapped[1], expected);
            vyre_report report;
            vyre_diag diag;
            assert_int_equal(vyre_recording_report(recording, &report, &diag), VYRE_OK);
            assert_int_equal(report.passes, expected);
            assert_int_equal(report.convergence,
                             from < 100 ? VYRE_CONVERGENCE_YES : VYRE_CONVERGENCE_LIMIT);
        }
        vyre_recording_destroy(&recording);
    }
    engine_release(&p);
    vyre_device_destroy(&device);
}

static void test_record_refuses_what_it_cannot_hold(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    vyre_device *device = adopt();
    vyre_buffer buffer = import(device);
    engine_program p = engine_build(device, "program two\nworkgroup 1\ngrid over a\n"
                                            "inout a : u32[]\n"
                                            "kernel { a[0] = 1  grid_sync  a[0] = 2 }\n");
    vyre_binding list[1] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED)};
    vyre_record_params params = {.command_buffer = h.commands};
    params.dispatch.bindings = list;
    params.dispatch.binding_count = 1;
    params.dispatch.passes = 2049;
    vyre_recording *recording = NULL;
    vyre_diag diag;
    begin_commands();
    layer_clear_events();
    assert_int_equal(vyre_record(p.pipeline, &params, &recording, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "4096"));
    assert_null(recording);
    uint32_t memory[1] = {0};
    list[0] = engine_host_inout(memory, 1);
    params.dispatch.passes = 1;
    assert_int_equal(vyre_record(p.pipeline, &params, &recording, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "host memory"));
    assert_int_equal(diag.binding, 0);
    assert_int_equal(layer_count(LAYER_DISPATCH), 0);
    assert_int_equal(h.vkEndCommandBuffer(h.commands), VK_SUCCESS);
    assert_int_equal(vyre_buffer_destroy(device, &buffer, &diag), VYRE_OK);
    engine_release(&p);
    vyre_device_destroy(&device);
}

static void test_imported_buffers_serve_dispatches_and_transfers(void **state)
{
    (void)state;
    NEED_OPEN(h.device);
    vyre_device *device = adopt();
    vyre_diag diag;
    vyre_import_params wrong = {
        .buffer = h.readback, .size = SIZE, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    vyre_buffer buffer;
    assert_int_equal(vyre_buffer_import(device, &wrong, &buffer, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "VK_BUFFER_USAGE_STORAGE_BUFFER_BIT"));
    buffer = import(device);
    uint32_t words[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        words[i] = i * i;
    }
    h.locks = 0;
    assert_int_equal(vyre_buffer_upload(device, buffer, 0, words, SIZE, &diag), VYRE_OK);
    assert_int_equal(h.locks > 0, 1);
    engine_program p = engine_build(device, "program add\nworkgroup 64\ngrid over a\n"
                                            "inout a : u32[]\n"
                                            "kernel { a[gid.x] = a[gid.x] + 1 }\n");
    vyre_binding list[1] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED)};
    (void)engine_run(&p, list, 1, NULL, 0, 0, 0);
    assert_int_equal(vyre_buffer_download(device, buffer, 0, words, SIZE, &diag), VYRE_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(words[i], i * i + 1);
    }
    /* Two imports of one VkBuffer are the same memory. */
    vyre_buffer again = import(device);
    engine_program two = engine_build(device, "program two\nworkgroup 1\n"
                                              "in x : u32[]\ninout y : u32[]\n"
                                              "kernel { y[0] = x[0] }\n");
    vyre_binding both[2] = {engine_resident(buffer, 0, 4), engine_resident(again, 0, 4)};
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = both;
    params.binding_count = 2;
    params.groups[0] = 1;
    assert_int_equal(vyre_dispatch(two.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "overlap"));
    VkBuffer seen = VK_NULL_HANDLE;
    assert_int_equal(vyre_buffer_export(device, again, &seen, &diag), VYRE_OK);
    assert_true(seen == h.buffer);
    engine_release(&two);
    engine_release(&p);
    vyre_device_destroy(&device);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, open_host, close_host)
    const struct CMUnitTest tests[] = {
        T(test_adopt_takes_nothing_and_submits_nothing),
        T(test_adopt_names_what_is_missing),
        T(test_record_stands_between_the_hosts_commands),
        T(test_record_leaves_the_borders_to_the_host),
        T(test_record_ends_fixpoints_on_the_device),
        T(test_record_refuses_what_it_cannot_hold),
        T(test_imported_buffers_serve_dispatches_and_transfers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
