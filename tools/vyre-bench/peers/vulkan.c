/* The peer's device, memory and submissions. */
#include "tools/vyre-bench/peers/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOLK_IMPLEMENTATION
#include <volk.h>

#ifdef VYRE_BENCH_HAVE_SHADERS
#include "bench_step_spv.h" /* bench_step_spv, by glslangValidator from step.comp */
#endif

enum { MAX_DEVICES = 16, MAX_FAMILIES = 16, MAX_EXTENSIONS = 512 };

vyre_result peer_check(VkResult result, const char *call, vyre_diag *diag)
{
    if (result == VK_SUCCESS) {
        return VYRE_OK;
    }
    vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, (vy_loc){0, 0},
                "the peer's %s gives VkResult %d. Fix: see whether other Vulkan programs run", call,
                (int)result);
    diag->vk_result = result;
    return VYRE_ERROR_DISPATCH_FAILED;
}

/* ---- Device ---------------------------------------------------------------------------------- */

static vyre_result create_instance(peer *p, vyre_diag *diag)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "vyre-bench peer",
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    vyre_result result = peer_check(volkInitialize(), "volkInitialize", diag);
    if (result == VYRE_OK) {
        result = peer_check(vkCreateInstance(&info, NULL, &p->instance), "vkCreateInstance", diag);
    }
    if (result == VYRE_OK) {
        volkLoadInstanceOnly(p->instance);
    }
    return result;
}

static vyre_result find_device(peer *p, const vyre_device_info *wanted, vyre_diag *diag)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    VkResult code = vkEnumeratePhysicalDevices(p->instance, &count, devices);
    if (code < 0) {
        return peer_check(code, "vkEnumeratePhysicalDevices", diag);
    }
    /* Several of one name: its own place first. */
    for (uint32_t n = 0; n < count; n++) {
        uint32_t i = (wanted->index + n) % count;
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        if (properties.vendorID == wanted->vendor_id && properties.deviceID == wanted->device_id &&
            strncmp(properties.deviceName, wanted->name, sizeof wanted->name) == 0) {
            p->physical = devices[i];
            vkGetPhysicalDeviceMemoryProperties(devices[i], &p->memory);
            return VYRE_OK;
        }
    }
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                       "the peer does not find %.128s among %u devices. Fix: name another device",
                       wanted->name, count);
}

static vyre_result find_family(peer *p, vyre_diag *diag)
{
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = MAX_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(p->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            VkPhysicalDeviceProperties properties;
            vkGetPhysicalDeviceProperties(p->physical, &properties);
            p->family = i;
            p->timestamp_ns =
                families[i].timestampValidBits ? (double)properties.limits.timestampPeriod : 0;
            return VYRE_OK;
        }
    }
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                       "no queue family of the device computes. Fix: name another device");
}

static vyre_result create_device(peer *p, vyre_diag *diag)
{
    float priority = 1.0f;
    vyre_result result = vyre_device_fill_features(p->instance, p->physical, VK_API_VERSION_1_3,
                                                   vkGetInstanceProcAddr, &p->chain, diag);
    if (result != VYRE_OK) {
        return result;
    }
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = p->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &p->chain.features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    result =
        peer_check(vkCreateDevice(p->physical, &info, NULL, &p->device), "vkCreateDevice", diag);
    if (result == VYRE_OK) {
        volkLoadDeviceTable(&p->vk, p->device);
        p->vk.vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
    }
    return result;
}

static vyre_result create_objects(peer *p, vyre_diag *diag)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = p->family};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                      .pNext = &type};
    vyre_result result = PEER_CALL(p, vkCreateCommandPool, p->device, &pool, NULL, &p->pool);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateSemaphore, p->device, &timeline, NULL, &p->timeline);
    }
    return result;
}

#ifdef VYRE_BENCH_HAVE_SHADERS
static vyre_result create_step(peer *p, vyre_diag *diag)
{
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding};
    vyre_result result =
        PEER_CALL(p, vkCreateDescriptorSetLayout, p->device, &set, NULL, &p->set_layout);
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                .size = sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &p->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreatePipelineLayout, p->device, &layout, NULL, &p->layout);
    }
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof bench_step_spv,
                                       .pCode = bench_step_spv};
    VkShaderModule words = VK_NULL_HANDLE;
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateShaderModule, p->device, &module, NULL, &words);
    }
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = words,
                  .pName = "main"},
        .layout = p->layout};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateComputePipelines, p->device, VK_NULL_HANDLE, 1, &pipeline,
                           NULL, &p->step);
    }
    p->vk.vkDestroyShaderModule(p->device, words, NULL);
    return result;
}
#endif

/* ---- The link -------------------------------------------------------------------------------- */

static bool has_extension(VkPhysicalDevice physical, const char *name)
{
    VkExtensionProperties *all = malloc(MAX_EXTENSIONS * sizeof *all);
    uint32_t count = MAX_EXTENSIONS;
    bool found = false;
    if (all && vkEnumerateDeviceExtensionProperties(physical, NULL, &count, all) >= 0) {
        for (uint32_t i = 0; i < count && !found; i++) {
            found = strcmp(all[i].extensionName, name) == 0;
        }
    }
    free(all);
    return found;
}

static bool read_number(const VkPhysicalDevicePCIBusInfoPropertiesEXT *bus, const char *file,
                        double *out)
{
    char path[160];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/%s", bus->pciDomain,
             bus->pciBus, bus->pciDevice, bus->pciFunction, file);
    FILE *stream = fopen(path, "r");
    bool found = stream && fscanf(stream, "%lf", out) == 1 && *out > 0;
    if (stream) {
        fclose(stream);
    }
    return found;
}

/* Of the slot and the device, the kernel tells what they agree on; an idle link runs slower, so the
 * greatest is asked for. */
static void find_link(peer *p)
{
    VkPhysicalDevicePCIBusInfoPropertiesEXT bus = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &bus};
    double speed, width;
    if (!has_extension(p->physical, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) {
        return;
    }
    vkGetPhysicalDeviceProperties2(p->physical, &properties);
    if (!read_number(&bus, "max_link_speed", &speed) ||
        !read_number(&bus, "current_link_width", &width)) {
        return;
    }
    /* 8b/10b up to 5 GT/s, 128b/130b from there on. */
    double payload = speed > 5 ? 128.0 / 130.0 : 0.8;
    p->link.rate = speed * 1e9 * width * payload / 8 / 1e6;
    snprintf(p->link.text, sizeof p->link.text, "PCIe %.1f GT/s x%.0f", speed, width);
}

void peer_get_link(const peer *p, peer_link *out_link)
{
    *out_link = p->link;
}

/* ---- Life ------------------------------------------------------------------------------------ */

vyre_result peer_create(const vyre_device_info *wanted, peer **out_peer, vyre_diag *diag)
{
    *out_peer = NULL;
#ifdef VYRE_BENCH_HAVE_SHADERS
    peer *p = calloc(1, sizeof *p);
    if (!p) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = create_instance(p, diag);
    if (result == VYRE_OK) {
        result = find_device(p, wanted, diag);
    }
    if (result == VYRE_OK) {
        result = find_family(p, diag);
    }
    if (result == VYRE_OK) {
        result = create_device(p, diag);
    }
    if (result == VYRE_OK) {
        result = create_objects(p, diag);
    }
    if (result == VYRE_OK) {
        result = create_step(p, diag);
    }
    if (result != VYRE_OK) {
        peer_destroy(&p);
        return result;
    }
    find_link(p);
    *out_peer = p;
    return VYRE_OK;
#else
    (void)wanted;
    (void)create_instance;
    (void)find_device;
    (void)find_family;
    (void)create_device;
    (void)create_objects;
    (void)find_link;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the tool was built without the peer's shader. Fix: install "
                       "glslangValidator and build again");
#endif
}

void peer_destroy(peer **p)
{
    peer *old = *p;
    if (old && old->device) {
        (void)old->vk.vkDeviceWaitIdle(old->device);
        peer_items_destroy_pipelines(old);
        peer_block_destroy_pipelines(old);
        old->vk.vkDestroyPipeline(old->device, old->step, NULL);
        old->vk.vkDestroyPipelineLayout(old->device, old->layout, NULL);
        old->vk.vkDestroyDescriptorSetLayout(old->device, old->set_layout, NULL);
        old->vk.vkDestroySemaphore(old->device, old->timeline, NULL);
        old->vk.vkDestroyCommandPool(old->device, old->pool, NULL);
        old->vk.vkDestroyDevice(old->device, NULL);
    }
    if (old && old->instance) {
        vkDestroyInstance(old->instance, NULL);
    }
    free(old);
    *p = NULL;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static bool find_type(const peer *p, uint32_t types, VkMemoryPropertyFlags wanted,
                      uint32_t *out_type)
{
    for (uint32_t i = 0; i < p->memory.memoryTypeCount; i++) {
        if ((types >> i & 1) && (p->memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            *out_type = i;
            return true;
        }
    }
    return false;
}

static bool has_address(peer_memory where)
{
    return where == PEER_MEMORY_ADDRESSED || where == PEER_MEMORY_SHARED;
}

static vyre_result bind_memory(peer *p, peer_memory where, peer_buffer *out, vyre_diag *diag)
{
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    bool is_own = where == PEER_MEMORY_DEVICE || where == PEER_MEMORY_ADDRESSED;
    VkMemoryPropertyFlags wanted = is_own ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : host;
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryRequirements needs;
    p->vk.vkGetBufferMemoryRequirements(p->device, out->buffer, &needs);
    /* Of the device's own: twice as fast for accesses all over a buffer (NVIDIA H200). */
    VkMemoryDedicatedAllocateInfo dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                               .pNext = has_address(where) ? &flags : NULL,
                                               .buffer = out->buffer};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = is_own               ? (const void *)&dedicated
                                          : has_address(where) ? &flags
                                                               : NULL,
                                 .allocationSize = needs.size};
    /* What the host reads lies in cached memory where there is such. */
    VkMemoryPropertyFlags best =
        wanted | (where == PEER_MEMORY_TO_HOST ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0u) |
        (where == PEER_MEMORY_SHARED ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : 0u);
    if (!find_type(p, needs.memoryTypeBits, best, &info.memoryTypeIndex) &&
        !find_type(p, needs.memoryTypeBits, wanted, &info.memoryTypeIndex)) {
        return peer_check(VK_ERROR_OUT_OF_DEVICE_MEMORY, "choice of a memory type", diag);
    }
    vyre_result result = PEER_CALL(p, vkAllocateMemory, p->device, &info, NULL, &out->memory);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkBindBufferMemory, p->device, out->buffer, out->memory, 0);
    }
    if (result == VYRE_OK && !is_own) {
        result =
            PEER_CALL(p, vkMapMemory, p->device, out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped);
    }
    return result;
}

vyre_result peer_buffer_create(peer *p, uint64_t size, peer_memory where, peer_buffer *out,
                               vyre_diag *diag)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size ? size : 4,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (has_address(where)) {
        info.usage |=
            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT;
    }
    *out = (peer_buffer){.size = size};
    vyre_result result = PEER_CALL(p, vkCreateBuffer, p->device, &info, NULL, &out->buffer);
    if (result == VYRE_OK) {
        result = bind_memory(p, where, out, diag);
    }
    if (result != VYRE_OK) {
        peer_buffer_destroy(p, out);
    }
    return result;
}

uint64_t peer_buffer_address(peer *p, const peer_buffer *buffer)
{
    VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                      .buffer = buffer->buffer};
    return p->vk.vkGetBufferDeviceAddress(p->device, &info);
}

void peer_buffer_destroy(peer *p, peer_buffer *buffer)
{
    p->vk.vkDestroyBuffer(p->device, buffer->buffer, NULL);
    p->vk.vkFreeMemory(p->device, buffer->memory, NULL);
    *buffer = (peer_buffer){0};
}
