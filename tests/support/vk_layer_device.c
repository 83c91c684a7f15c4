/* The layer's part about devices: properties, features, extensions, queue families and clocks, as
 * the settings have them. */
#include "tests/support/vk_layer_parts.h"

#include "engine/device/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define TICK_MASK    (((uint64_t)1 << LAYER_TICK_BITS) - 1)
#define MAX_FAMILIES 3u

static VkDevice newest;
static uint32_t newest_family;
static bool has_base;
static uint64_t tick_base; /* added to the device's ticks */

VkDevice layer_device(void)
{
    return newest;
}

uint32_t layer_queue_family(void)
{
    return newest_family;
}

uint32_t layer_real_family(uint32_t family)
{
    return layer.three_families && family != VK_QUEUE_FAMILY_IGNORED ? 0 : family;
}

void layer_reset_device(void)
{
    newest = VK_NULL_HANDLE;
    newest_family = 0;
    has_base = false;
}

/* ---- Properties ------------------------------------------------------------------------------ */

static void spoil_properties(VkPhysicalDeviceProperties *p)
{
    VkPhysicalDeviceLimits *limits = &p->limits;
    if (layer.vulkan_1_2) {
        p->apiVersion = VK_API_VERSION_1_2;
    }
    if (layer.vulkan_1_1) {
        p->apiVersion = VK_API_VERSION_1_1;
    }
    for (int i = 0; layer.max_groups && i < 3; i++) {
        limits->maxComputeWorkGroupCount[i] = layer.max_groups;
    }
    if (layer.max_range) {
        limits->maxStorageBufferRange = (uint32_t)layer.max_range;
    }
    if (layer.max_buffers) {
        limits->maxPerStageDescriptorStorageBuffers = layer.max_buffers;
    }
    if (layer.max_shared) {
        limits->maxComputeSharedMemorySize = layer.max_shared;
    }
    if (layer.max_push) {
        limits->maxPushConstantsSize = layer.max_push;
    }
    if (layer.offset_alignment) {
        limits->minStorageBufferOffsetAlignment = layer.offset_alignment;
    }
    if (layer.max_allocations) {
        limits->maxMemoryAllocationCount = layer.max_allocations;
    }
    if (layer.no_coherent_memory) {
        limits->nonCoherentAtomSize = LAYER_ATOM;
    }
    if (layer.no_timestamps) {
        limits->timestampComputeAndGraphics = VK_FALSE;
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                                                     VkPhysicalDeviceProperties *p)
{
    layer_below.vkGetPhysicalDeviceProperties(physical, p);
    spoil_properties(p);
}

static void spoil_subgroups(VkPhysicalDeviceVulkan13Properties *p)
{
    if (layer.min_subgroup) {
        p->minSubgroupSize = layer.min_subgroup;
    }
    if (layer.max_subgroup) {
        p->maxSubgroupSize = layer.max_subgroup;
    }
    if (layer.max_subgroups) {
        p->maxComputeWorkgroupSubgroups = layer.max_subgroups;
    }
    if (layer.no_pinned_width) {
        p->requiredSubgroupSizeStages = 0;
    }
}

static VKAPI_ATTR void VKAPI_CALL
wrap_vkGetPhysicalDeviceProperties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *p)
{
    layer_below.vkGetPhysicalDeviceProperties2(physical, p);
    spoil_properties(&p->properties);
    for (VkBaseOutStructure *at = p->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
            VkPhysicalDeviceVulkan11Properties *p11 = (void *)at;
            p11->subgroupSupportedOperations &= ~layer.hide_subgroups;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES) {
            spoil_subgroups((void *)at);
        }
    }
}

/* ---- Features -------------------------------------------------------------------------------- */

static void clear_features(VkBaseOutStructure *at, size_t size)
{
    memset(at + 1, 0, size - sizeof *at);
}

static void spoil_features_12(VkPhysicalDeviceVulkan12Features *f)
{
    VkBool32 timeline = f->timelineSemaphore && !layer.no_timeline;
    if (layer.no_optional) {
        clear_features((VkBaseOutStructure *)f, sizeof *f);
    }
    f->timelineSemaphore = timeline;
    if (layer.no_memory_model) {
        f->vulkanMemoryModel = f->vulkanMemoryModelDeviceScope = VK_FALSE;
        f->vulkanMemoryModelAvailabilityVisibilityChains = VK_FALSE;
    }
    if (layer.no_addresses) {
        f->bufferDeviceAddress = VK_FALSE;
    }
}

/* The feature's member in a structure of the place that the library's table tells. */
static void hide_feature(VkPhysicalDeviceFeatures2 *f)
{
    VkPhysicalDeviceFeatures2 *core = f;
    VkPhysicalDeviceVulkan11Features none11, *vulkan11 = &none11;
    VkPhysicalDeviceVulkan12Features none12, *vulkan12 = &none12;
    VkPhysicalDeviceVulkan13Features none13, *vulkan13 = &none13;
    for (VkBaseOutStructure *at = f->pNext; at; at = at->pNext) {
        vulkan11 = at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES ? (void *)at
                                                                                      : vulkan11;
        vulkan12 = at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES ? (void *)at
                                                                                      : vulkan12;
        vulkan13 = at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES ? (void *)at
                                                                                      : vulkan13;
    }
#define MEMBER_CORE(name)     core->features.name
#define MEMBER_VULKAN11(name) vulkan11->name
#define MEMBER_VULKAN12(name) vulkan12->name
#define MEMBER_VULKAN13(name) vulkan13->name
#define VY_X(name, place, required, why)                                                           \
    if (strcmp(layer.hide_feature, #name) == 0) {                                                  \
        MEMBER_##place(name) = VK_FALSE;                                                           \
    }
    VY_FEATURES(VY_X)
#undef VY_X
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                                                    VkPhysicalDeviceFeatures2 *f)
{
    layer_below.vkGetPhysicalDeviceFeatures2(physical, f);
    if (layer.no_optional) {
        f->features = (VkPhysicalDeviceFeatures){.robustBufferAccess = VK_TRUE};
    }
    for (VkBaseOutStructure *at = f->pNext; at; at = at->pNext) {
        switch ((int)at->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
            if (layer.no_optional) {
                clear_features(at, sizeof(VkPhysicalDeviceVulkan11Features));
            }
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
            spoil_features_12((void *)at);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
            if (layer.no_optional) {
                clear_features(at, sizeof(VkPhysicalDeviceVulkan13Features));
            }
            if (layer.no_synchronization2) {
                ((VkPhysicalDeviceVulkan13Features *)at)->synchronization2 = VK_FALSE;
            }
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT:
            if (layer.no_optional) {
                clear_features(at, sizeof(VkPhysicalDeviceFaultFeaturesEXT));
            }
            break;
        default:
            break;
        }
    }
    if (layer.hide_feature) {
        hide_feature(f);
    }
}

static bool is_absent(const char *extension)
{
    return layer.no_optional ||
           (layer.hide_extension && strcmp(extension, layer.hide_extension) == 0) ||
           (layer.no_push_descriptor && strcmp(extension, "VK_KHR_push_descriptor") == 0);
}

/* As the driver does, but of those that the settings leave. */
static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkEnumerateDeviceExtensionProperties(
    VkPhysicalDevice physical, const char *layer_name, uint32_t *count, VkExtensionProperties *out)
{
    if (layer_fails("vkEnumerateDeviceExtensionProperties")) {
        return layer_failure();
    }
    uint32_t all = 0, kept = 0, room = out ? *count : 0;
    VkResult result =
        layer_below.vkEnumerateDeviceExtensionProperties(physical, layer_name, &all, NULL);
    VkExtensionProperties *list = calloc(all ? all : 1, sizeof *list);
    if (result != VK_SUCCESS || !list) {
        free(list);
        return result != VK_SUCCESS ? result : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = layer_below.vkEnumerateDeviceExtensionProperties(physical, layer_name, &all, list);
    for (uint32_t i = 0; result >= 0 && i < all; i++) {
        if (is_absent(list[i].extensionName)) {
            continue;
        }
        if (out && kept < room) {
            out[kept] = list[i];
        } else if (out) {
            result = VK_INCOMPLETE;
            break;
        }
        kept++;
    }
    free(list);
    *count = kept;
    return result;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceMemoryProperties(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *p)
{
    layer_below.vkGetPhysicalDeviceMemoryProperties(physical, p);
    layer_play_memory(p);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceMemoryProperties2(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *p)
{
    layer_below.vkGetPhysicalDeviceMemoryProperties2(physical, p);
    layer_play_memory(&p->memoryProperties);
    for (VkBaseOutStructure *at = p->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            layer_play_budget((VkPhysicalDeviceMemoryBudgetPropertiesEXT *)(void *)at);
        }
    }
}

/* ---- Queues and devices ---------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *list)
{
    static const VkQueueFlags flags[MAX_FAMILIES] = {
        VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
        VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, VK_QUEUE_TRANSFER_BIT};
    uint32_t room = *count;
    if (layer.three_families && !list) {
        *count = MAX_FAMILIES;
        return;
    }
    layer_below.vkGetPhysicalDeviceQueueFamilyProperties(physical, count, list);
    if (!list) {
        return;
    }
    if (layer.three_families) {
        *count = room < MAX_FAMILIES ? room : MAX_FAMILIES;
        for (uint32_t i = *count; i-- > 0;) {
            list[i] = list[0];
            list[i].queueFlags = flags[i];
        }
    }
    for (uint32_t i = 0; i < *count; i++) {
        if (layer.no_timestamps) {
            list[i].timestampValidBits = 0;
        } else if (layer.wrap_timestamps) {
            list[i].timestampValidBits = LAYER_TICK_BITS;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkEnumeratePhysicalDevices(VkInstance instance,
                                                                      uint32_t *count,
                                                                      VkPhysicalDevice *devices)
{
    if (layer_fails("vkEnumeratePhysicalDevices")) {
        return layer_failure();
    }
    if (layer.no_devices) {
        *count = 0;
        return VK_SUCCESS;
    }
    return layer_below.vkEnumeratePhysicalDevices(instance, count, devices);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *callbacks,
                                                          VkDevice *out)
{
    if (layer_fails("vkCreateDevice")) {
        return layer_failure();
    }
    VkDeviceCreateInfo real = *info;
    VkDeviceQueueCreateInfo queue = info->pQueueCreateInfos[0];
    if (layer.three_families) {
        queue.queueFamilyIndex = 0;
        real.pQueueCreateInfos = &queue;
        real.queueCreateInfoCount = 1;
    }
    VkResult result = layer_below.vkCreateDevice(physical, &real, callbacks, out);
    if (result == VK_SUCCESS) {
        layer_add_alive(1);
        newest = *out;
        newest_family = info->pQueueCreateInfos[0].queueFamilyIndex;
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *callbacks)
{
    layer_add_alive(-(device != VK_NULL_HANDLE));
    if (device == newest) {
        newest = VK_NULL_HANDLE;
    }
    layer_below.vkDestroyDevice(device, callbacks);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetDeviceQueue(VkDevice device, uint32_t family,
                                                        uint32_t index, VkQueue *out)
{
    layer_below.vkGetDeviceQueue(device, layer_real_family(family), index, out);
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static uint64_t played_tick(uint64_t tick)
{
    return layer.wrap_timestamps ? (tick + tick_base) & TICK_MASK : tick;
}

/* From now on `tick` is played as the greatest value less `before`. */
static void set_base(uint64_t tick, uint64_t before)
{
    if (!has_base) {
        tick_base = TICK_MASK - before - tick;
        has_base = true;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkGetQueryPoolResults(VkDevice device, VkQueryPool pool,
                                                                 uint32_t first, uint32_t count,
                                                                 size_t size, void *data,
                                                                 VkDeviceSize stride,
                                                                 VkQueryResultFlags flags)
{
    if (layer_fails("vkGetQueryPoolResults")) {
        return layer_failure();
    }
    VkResult result =
        layer_below.vkGetQueryPoolResults(device, pool, first, count, size, data, stride, flags);
    if (result != VK_SUCCESS || !layer.wrap_timestamps || !(flags & VK_QUERY_RESULT_64_BIT)) {
        return result;
    }
    layer_lock();
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t tick;
            unsigned char *at = (unsigned char *)data + i * stride;
            memcpy(&tick, at, sizeof tick);
            if (pass == 0 && (i == 1 || count == 1)) {
                set_base(tick, 0);
            } else if (pass == 1) {
                tick = played_tick(tick);
                memcpy(at, &tick, sizeof tick);
            }
        }
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkGetCalibratedTimestampsEXT(
    VkDevice device, uint32_t count, const VkCalibratedTimestampInfoEXT *infos, uint64_t *out,
    uint64_t *out_deviation)
{
    if (layer_fails("vkGetCalibratedTimestampsEXT")) {
        return layer_failure();
    }
    VkResult result =
        layer_below.vkGetCalibratedTimestampsEXT(device, count, infos, out, out_deviation);
    layer_lock();
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        if (infos[i].timeDomain == VK_TIME_DOMAIN_DEVICE_EXT) {
            set_base(out[i], LAYER_TICK_BEFORE);
            out[i] = played_tick(out[i]);
        }
    }
    layer_unlock();
    return result;
}

PFN_vkVoidFunction layer_find_device(const char *name)
{
    LAYER_TAKE(vkGetPhysicalDeviceProperties)
    LAYER_TAKE(vkGetPhysicalDeviceProperties2)
    LAYER_TAKE(vkGetPhysicalDeviceFeatures2)
    LAYER_TAKE(vkGetPhysicalDeviceMemoryProperties)
    LAYER_TAKE(vkGetPhysicalDeviceMemoryProperties2)
    LAYER_TAKE(vkGetPhysicalDeviceQueueFamilyProperties)
    LAYER_TAKE(vkEnumerateDeviceExtensionProperties)
    LAYER_TAKE(vkEnumeratePhysicalDevices)
    LAYER_TAKE(vkCreateDevice)
    LAYER_TAKE(vkDestroyDevice)
    LAYER_TAKE(vkGetDeviceQueue)
    LAYER_TAKE(vkGetQueryPoolResults)
    LAYER_TAKE(vkGetCalibratedTimestampsEXT)
    return NULL;
}
