/* Devices of a host: what they must have, taking them over, and sharing buffers. */
#include "engine/device/device.h"
#include "engine/memory/buffer.h"
#include "vyre/vulkan.h"

#include <string.h>

const vyre_requirement *vyre_device_requirements(uint32_t *out_count)
{
    static const vyre_requirement list[] = {
#define VY_X(name, place, required, why) {#name, required, why},
        VY_FEATURES(VY_X)
#undef VY_X
#define VY_X(id, name, why) {name, 0, why},
            VY_EXTENSIONS(VY_X)
#undef VY_X
    };
    if (out_count) {
        *out_count = VY_COUNT_OF(list);
    }
    return list;
}

static uint32_t usable_version(const vy_instance_table *vki, VkPhysicalDevice device,
                               uint32_t api_version)
{
    VkPhysicalDeviceProperties properties = {0};
    vki->vkGetPhysicalDeviceProperties(device, &properties);
    return properties.apiVersion < api_version ? properties.apiVersion : api_version;
}

vyre_result vyre_device_fill_features(VkInstance instance, VkPhysicalDevice device,
                                      uint32_t api_version,
                                      PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                      vyre_feature_chain *chain, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!instance || !device || !get_instance_proc_addr || !chain) {
        return vy_invalid(diag, "instance, device, get_instance_proc_addr or chain is missing. "
                                "Fix: pass all four");
    }
    vy_instance_table vki = {0};
    vyre_result code = vy_instance_table_load(&vki, get_instance_proc_addr, instance, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t api = usable_version(&vki, device, api_version);
    if (api < VK_API_VERSION_1_2) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the device or the instance is of a Vulkan version below 1.2. Fix: "
                           "create the instance for 1.2 or newer, or use another device");
    }
    vy_feature_structs has, wanted;
    vy_features_init(&has, api);
    vy_features_init(&wanted, api);
    vki.vkGetPhysicalDeviceFeatures2(device, &has.core);
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        *vy_features_member(&wanted, f) = *vy_features_member(&has, f);
    }
    *chain = (vyre_feature_chain){wanted.core, wanted.vulkan11, wanted.vulkan12, wanted.vulkan13};
    chain->features.pNext = &chain->vulkan11;
    chain->vulkan11.pNext = &chain->vulkan12;
    chain->vulkan12.pNext = api >= VK_API_VERSION_1_3 ? &chain->vulkan13 : NULL;
    return VYRE_OK;
}

/* ---- What the host enabled ------------------------------------------------------------------- */

/* Structures with single features, from before they were members of VkPhysicalDeviceVulkan1*. */
static void read_single(const VkBaseInStructure *at, bool *has)
{
    switch ((int)at->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES: {
        const VkPhysicalDeviceTimelineSemaphoreFeatures *f = (const void *)at;
        has[VY_FEATURE_timelineSemaphore] |= f->timelineSemaphore == VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES: {
        const VkPhysicalDeviceSynchronization2Features *f = (const void *)at;
        has[VY_FEATURE_synchronization2] |= f->synchronization2 == VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES: {
        const VkPhysicalDeviceVulkanMemoryModelFeatures *f = (const void *)at;
        has[VY_FEATURE_vulkanMemoryModel] |= f->vulkanMemoryModel == VK_TRUE;
        has[VY_FEATURE_vulkanMemoryModelDeviceScope] |= f->vulkanMemoryModelDeviceScope == VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES: {
        const VkPhysicalDeviceBufferDeviceAddressFeatures *f = (const void *)at;
        has[VY_FEATURE_bufferDeviceAddress] |= f->bufferDeviceAddress == VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES: {
        const VkPhysicalDeviceMaintenance4Features *f = (const void *)at;
        has[VY_FEATURE_maintenance4] |= f->maintenance4 == VK_TRUE;
        break;
    }
    default:
        break;
    }
}

static void read_enabled(const vyre_adopt_params *params, vy_snapshot *s)
{
    memset(s->has, 0, sizeof s->has);
    memset(s->has_extension, 0, sizeof s->has_extension);
    vy_feature_structs copy;
    vy_features_init(&copy, VK_API_VERSION_1_3);
    if (params->features) {
        copy.core.features = params->features->features;
        for (const VkBaseInStructure *at = params->features->pNext; at; at = at->pNext) {
            switch ((int)at->sType) {
            case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
                copy.vulkan11 = *(const VkPhysicalDeviceVulkan11Features *)(const void *)at;
                break;
            case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
                copy.vulkan12 = *(const VkPhysicalDeviceVulkan12Features *)(const void *)at;
                break;
            case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
                copy.vulkan13 = *(const VkPhysicalDeviceVulkan13Features *)(const void *)at;
                break;
            default:
                read_single(at, s->has);
                break;
            }
        }
    }
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        s->has[f] = s->has[f] || *vy_features_member(&copy, f) == VK_TRUE;
    }
    for (uint32_t i = 0; i < params->extension_count; i++) {
        for (uint32_t e = 0; e < VY_EXTENSION_COUNT; e++) {
            s->has_extension[e] =
                s->has_extension[e] || strcmp(params->extensions[i], vy_extension_name(e)) == 0;
        }
    }
}

static bool has_debug_utils(const vyre_adopt_params *params)
{
    for (uint32_t i = 0; i < params->instance_extension_count; i++) {
        if (strcmp(params->instance_extensions[i], VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0) {
            return true;
        }
    }
    return false;
}

/* The family's flags and timestamps, since the snapshot chose a family of its own. */
static vyre_result take_family(vyre_device *device, uint32_t family, vyre_diag *diag)
{
    uint32_t count = 0;
    device->vki.vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, NULL);
    if (family >= count) {
        return vy_invalid(diag,
                          "queue_family is %u, and the device has %u families. Fix: pass "
                          "the family of the queue",
                          (unsigned)family, (unsigned)count);
    }
    size_t size = count * sizeof(VkQueueFamilyProperties);
    VkQueueFamilyProperties *list = vy_alloc_zeroed(&device->allocator, count, sizeof *list);
    if (!list) {
        return vy_diag_no_memory(diag);
    }
    uint32_t got = count;
    device->vki.vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &got, list);
    bool is_compute = list[family].queueFlags & VK_QUEUE_COMPUTE_BIT;
    device->snapshot.timestamp_bits = list[family].timestampValidBits;
    device->snapshot.queue_family = is_compute ? family : VY_FAMILY_NONE;
    vy_free(&device->allocator, list, size);
    return VYRE_OK;
}

static vyre_result take_over(vyre_device *device, const vyre_adopt_params *params, vyre_diag *diag)
{
    vyre_result code = vy_instance_table_load(&device->vki, params->get_instance_proc_addr,
                                              params->instance, diag);
    if (code == VYRE_OK) {
        code = vy_snapshot_query(&device->vki, params->physical_device, 0, params->api_version,
                                 &device->allocator, &device->snapshot, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    float period = (float)device->snapshot.info.timestamp_ns;
    if (period <= 0) {
        /* The family that the snapshot chose has none; the host's may. */
        VkPhysicalDeviceProperties properties = {0};
        device->vki.vkGetPhysicalDeviceProperties(device->physical, &properties);
        device->snapshot.info.timestamp_ns = (double)properties.limits.timestampPeriod;
    }
    read_enabled(params, &device->snapshot);
    code = take_family(device, params->queue_family, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_snapshot_decide(&device->snapshot, params->api_version);
    if (device->snapshot.info.missing[0]) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the device to adopt lacks %s. Fix: enable what "
                           "vyre_device_requirements lists (vyre_device_fill_features fills the "
                           "chain), and pass that chain as `features`",
                           device->snapshot.info.missing);
    }
    device->has_names = has_debug_utils(params) && device->vki.vkSetDebugUtilsObjectNameEXT != NULL;
    code = vy_device_table_load(&device->vk, &device->vki, params->device, diag);
    return code == VYRE_OK ? vy_device_finish_creation(device, params->queue_family, diag) : code;
}

vyre_result vyre_device_adopt(const vyre_adopt_params *params, vyre_device **out_device,
                              vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_device) {
        return vy_invalid(diag, "out_device is NULL. Fix: pass where the device goes");
    }
    *out_device = NULL;
    if (!params || !params->get_instance_proc_addr || !params->instance ||
        !params->physical_device || !params->device || !params->queue) {
        return vy_invalid(diag, "get_instance_proc_addr, instance, physical_device, device or "
                                "queue is missing. Fix: pass all five");
    }
    if (!params->lock_queue != !params->unlock_queue) {
        return vy_invalid(diag, "one of lock_queue and unlock_queue is missing. Fix: pass both, "
                                "or none");
    }
    if ((params->extension_count && !params->extensions) ||
        (params->instance_extension_count && !params->instance_extensions)) {
        return vy_invalid(diag, "a count of extensions has no list. Fix: pass the list, or 0");
    }
    vyre_device *device = vy_device_allocate(params->allocator);
    if (!device) {
        return vy_diag_no_memory(diag);
    }
    vy_log_init(&device->log, params->log, params->log_user, params->log_level);
    device->instance = params->instance;
    device->physical = params->physical_device;
    device->device = params->device;
    device->api_version = params->api_version;
    device->queue = params->queue;
    device->host_lock = params->lock_queue;
    device->host_unlock = params->unlock_queue;
    device->host_user = params->queue_user;
    device->memory_limit = params->memory_limit;
    if (params->memory) {
        device->memory_callbacks = *params->memory;
        device->has_memory_callbacks = true;
    }
    vyre_result code = take_over(device, params, diag);
    if (code != VYRE_OK) {
        vyre_device_destroy(&device);
        return code;
    }
    *out_device = device;
    return VYRE_OK;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

vyre_result vyre_buffer_import(vyre_device *device, const vyre_import_params *params,
                               vyre_buffer *out_buffer, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_buffer) {
        return vy_invalid(diag, "out_buffer is NULL. Fix: pass where the buffer goes");
    }
    *out_buffer = (vyre_buffer){0};
    if (!device || !params || !params->buffer || params->size == 0) {
        return vy_invalid(diag, "device, buffer or size is missing. Fix: pass all three");
    }
    if (!(params->usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)) {
        return vy_invalid(diag, "the buffer was created without "
                                "VK_BUFFER_USAGE_STORAGE_BUFFER_BIT. Fix: create it with that "
                                "usage and say so");
    }
    return vy_resident_import(device, params->buffer, params->size, params->usage, params->name,
                              out_buffer, diag);
}

vyre_result vyre_buffer_export(vyre_device *device, vyre_buffer buffer, VkBuffer *out_buffer,
                               vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device || !out_buffer) {
        return vy_invalid(diag, "no device or no out_buffer was given. Fix: pass both");
    }
    *out_buffer = VK_NULL_HANDLE;
    vy_resident resident;
    vyre_result code = vy_resident_acquire(device, buffer, "the buffer", &resident, diag);
    if (code == VYRE_OK) {
        *out_buffer = resident.buffer;
        vy_resident_release(device, &resident, 0);
    }
    return code;
}
