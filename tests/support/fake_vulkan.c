/* The fake's instance, what it says of its one device, and its objects. */
#include "tests/support/fake_objects.h"

#include <stdlib.h>
#include <string.h>

fake_settings fake;

static struct VkPhysicalDevice_T physical;
static fake_object *first;
static atomic_uint violations;
static char enabled[8][VK_MAX_EXTENSION_NAME_SIZE];

/* ---- Objects --------------------------------------------------------------------------------- */

void *fake_object_make(VkObjectType type, size_t size)
{
    fake_object *object = calloc(1, size);
    if (object) {
        object->type = type;
        pthread_mutex_lock(&fake_mutex);
        object->next = first;
        first = object;
        pthread_mutex_unlock(&fake_mutex);
    }
    return object;
}

void fake_object_free(fake_object *object)
{
    if (!object) {
        return;
    }
    pthread_mutex_lock(&fake_mutex);
    fake_object **at = &first;
    while (*at && *at != object) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = object->next;
    }
    pthread_mutex_unlock(&fake_mutex);
    free(object);
}

void fake_violation(void)
{
    atomic_fetch_add(&violations, 1);
}

void fake_enter(atomic_int *users)
{
    if (atomic_fetch_add(users, 1) != 0) {
        fake_violation();
    }
}

void fake_leave(atomic_int *users)
{
    atomic_fetch_sub(users, 1);
}

static VKAPI_ATTR VkResult VKAPI_CALL
fake_SetDebugUtilsObjectNameEXT(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    (void)device;
    if (info->objectType == VK_OBJECT_TYPE_QUEUE ||
        info->objectType == VK_OBJECT_TYPE_DESCRIPTOR_SET) {
        return VK_SUCCESS;
    }
    fake_object *object = (fake_object *)(uintptr_t)info->objectHandle;
    pthread_mutex_lock(&fake_mutex);
    if (object->type != info->objectType) {
        fake_violation();
    }
    strncpy(object->name, info->pObjectName, sizeof object->name - 1);
    pthread_mutex_unlock(&fake_mutex);
    return VK_SUCCESS;
}

VkObjectType fake_unnamed(void)
{
    VkObjectType type = VK_OBJECT_TYPE_UNKNOWN;
    pthread_mutex_lock(&fake_mutex);
    for (const fake_object *o = first; o; o = o->next) {
        bool is_ours = o->type != VK_OBJECT_TYPE_INSTANCE && o->type != VK_OBJECT_TYPE_DEVICE &&
                       o->type != VK_OBJECT_TYPE_DEVICE_MEMORY;
        if (is_ours && !o->name[0]) {
            type = o->type;
        }
    }
    pthread_mutex_unlock(&fake_mutex);
    return type;
}

bool fake_has_name(VkObjectType type, const char *name)
{
    bool has = false;
    pthread_mutex_lock(&fake_mutex);
    for (const fake_object *o = first; o; o = o->next) {
        has = has || (o->type == type && strcmp(o->name, name) == 0);
    }
    pthread_mutex_unlock(&fake_mutex);
    return has;
}

/* ---- Instance -------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateInstance(const VkInstanceCreateInfo *info,
                                                          const VkAllocationCallbacks *callbacks,
                                                          VkInstance *out)
{
    (void)info;
    (void)callbacks;
    *out = fake_object_make(VK_OBJECT_TYPE_INSTANCE, sizeof **out);
    return *out ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyInstance(VkInstance instance,
                                                       const VkAllocationCallbacks *callbacks)
{
    (void)callbacks;
    fake_object_free(instance ? &instance->object : NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateInstanceVersion(uint32_t *out)
{
    *out = VK_API_VERSION_1_3;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateInstanceExtensionProperties(
    const char *layer, uint32_t *count, VkExtensionProperties *list)
{
    uint32_t there = fake.has_debug_utils && !layer ? 1 : 0;
    if (list && *count && there) {
        list[0] = (VkExtensionProperties){VK_EXT_DEBUG_UTILS_EXTENSION_NAME, 1};
    }
    *count = there;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateInstanceLayerProperties(uint32_t *count,
                                                                            VkLayerProperties *list)
{
    (void)list;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateDebugUtilsMessengerEXT(
    VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
    const VkAllocationCallbacks *callbacks, VkDebugUtilsMessengerEXT *out)
{
    (void)instance;
    (void)info;
    (void)callbacks;
    *out = VK_NULL_HANDLE; /* there are no messages */
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyDebugUtilsMessengerEXT(
    VkInstance instance, VkDebugUtilsMessengerEXT messenger, const VkAllocationCallbacks *callbacks)
{
    (void)instance;
    (void)messenger;
    (void)callbacks;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumeratePhysicalDevices(VkInstance instance,
                                                                    uint32_t *count,
                                                                    VkPhysicalDevice *list)
{
    (void)instance;
    if (list && *count) {
        list[0] = &physical;
    }
    *count = 1;
    return VK_SUCCESS;
}

/* ---- What the device is ---------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL fake_EnumerateDeviceExtensionProperties(
    VkPhysicalDevice device, const char *layer, uint32_t *count, VkExtensionProperties *list)
{
    (void)device;
    (void)layer;
    uint32_t there = 0;
    for (; there < 8 && fake.extensions[there]; there++) {
        if (list && there < *count) {
            memset(&list[there], 0, sizeof list[there]);
            strncpy(list[there].extensionName, fake.extensions[there],
                    VK_MAX_EXTENSION_NAME_SIZE - 1);
        }
    }
    *count = there;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceProperties(VkPhysicalDevice device,
                                                                   VkPhysicalDeviceProperties *p)
{
    (void)device;
    *p = (VkPhysicalDeviceProperties){
        .apiVersion = fake.api_version ? fake.api_version : VK_API_VERSION_1_3,
        .deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU,
        .deviceName = "fake",
        .limits = {.maxComputeWorkGroupCount = {65535, 65535, 65535},
                   .maxComputeWorkGroupSize = {1024, 1024, 64},
                   .maxComputeWorkGroupInvocations = 1024,
                   .maxComputeSharedMemorySize = 32768,
                   .maxPerStageDescriptorStorageBuffers = 64,
                   .maxPerStageResources = 128,
                   .maxDescriptorSetStorageBuffers = 64,
                   .maxPushConstantsSize = fake.push_size ? fake.push_size : 128,
                   .maxStorageBufferRange = 1u << 27,
                   .minStorageBufferOffsetAlignment = 16,
                   .minMemoryMapAlignment = 64,
                   .bufferImageGranularity = 1,
                   .nonCoherentAtomSize = 64,
                   .maxMemoryAllocationCount = 4096,
                   .timestampPeriod = fake.timestamp_period > 0 ? fake.timestamp_period : 1.0f}};
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceProperties2(VkPhysicalDevice device,
                                                                    VkPhysicalDeviceProperties2 *p)
{
    fake_GetPhysicalDeviceProperties(device, &p->properties);
    for (VkBaseOutStructure *at = p->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
            VkPhysicalDeviceVulkan11Properties *p11 = (void *)at;
            p11->subgroupSize = 4;
            p11->maxMemoryAllocationSize = 1u << 30;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
            VkPhysicalDeviceVulkan12Properties *p12 = (void *)at;
            strcpy(p12->driverName, "tests");
            p12->shaderSignedZeroInfNanPreserveFloat32 = VK_TRUE;
            p12->shaderDenormPreserveFloat32 = VK_TRUE;
            p12->shaderRoundingModeRTEFloat32 = VK_TRUE;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR) {
            ((VkPhysicalDevicePushDescriptorPropertiesKHR *)(void *)at)->maxPushDescriptors = 32;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                                                  VkPhysicalDeviceFeatures2 *f)
{
    (void)device;
    bool rest = !fake.only_required && !fake.no_features;
    memset(&f->features, 0, sizeof f->features);
    for (VkBaseOutStructure *at = f->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
            VkPhysicalDeviceVulkan12Features *f12 = (void *)at;
            f12->timelineSemaphore = !fake.no_features;
            f12->vulkanMemoryModel = f12->vulkanMemoryModelDeviceScope = rest;
            f12->bufferDeviceAddress = fake.has_addresses && rest;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
            VkPhysicalDeviceVulkan13Features *f13 = (void *)at;
            f13->synchronization2 = f13->maintenance4 = rest;
        } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT) {
            ((VkPhysicalDeviceFaultFeaturesEXT *)(void *)at)->deviceFault = VK_TRUE;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL
fake_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *p)
{
    (void)device;
    *p = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 2,
        .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
                        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                             VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                         1}},
        .memoryHeapCount = 2,
        .memoryHeaps = {{1u << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {1u << 30, 0}}};
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceMemoryProperties2(
    VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *p)
{
    fake_GetPhysicalDeviceMemoryProperties(device, &p->memoryProperties);
    for (VkBaseOutStructure *at = p->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)at;
            for (uint32_t h = 0; h < 2; h++) {
                budget->heapBudget[h] = 1u << 30;
                budget->heapUsage[h] = 0;
            }
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL fake_GetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *list)
{
    (void)device;
    if (list && *count) {
        list[0] = (VkQueueFamilyProperties){
            .queueFlags = fake.no_compute ? VK_QUEUE_TRANSFER_BIT
                                          : VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
            .queueCount = 1,
            .timestampValidBits = fake.timestamp_bits ? fake.timestamp_bits : 64};
    }
    *count = 1;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_GetPhysicalDeviceCalibrateableTimeDomainsEXT(
    VkPhysicalDevice device, uint32_t *count, VkTimeDomainEXT *list)
{
    (void)device;
    static const VkTimeDomainEXT domains[] = {VK_TIME_DOMAIN_DEVICE_EXT,
                                              VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT};
    for (uint32_t i = 0; list && i < 2 && i < *count; i++) {
        list[i] = domains[i];
    }
    *count = 2;
    return VK_SUCCESS;
}

/* ---- Device ---------------------------------------------------------------------------------- */

bool fake_enabled(const char *extension)
{
    bool is_on = false;
    pthread_mutex_lock(&fake_mutex);
    for (uint32_t i = 0; i < 8; i++) {
        is_on = is_on || strcmp(enabled[i], extension) == 0;
    }
    pthread_mutex_unlock(&fake_mutex);
    return is_on;
}

static void take_enabled(VkDevice device, const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount && i < 8; i++) {
        strncpy(device->extensions[i], info->ppEnabledExtensionNames[i],
                VK_MAX_EXTENSION_NAME_SIZE - 1);
    }
    for (const VkBaseInStructure *at = info->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT) {
            device->has_fault =
                ((const VkPhysicalDeviceFaultFeaturesEXT *)(const void *)at)->deviceFault;
        }
    }
    pthread_mutex_lock(&fake_mutex);
    memcpy(enabled, device->extensions, sizeof enabled);
    pthread_mutex_unlock(&fake_mutex);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateDevice(VkPhysicalDevice from,
                                                        const VkDeviceCreateInfo *info,
                                                        const VkAllocationCallbacks *callbacks,
                                                        VkDevice *out)
{
    (void)from;
    (void)callbacks;
    *out = fake_object_make(VK_OBJECT_TYPE_DEVICE, sizeof **out);
    if (!*out) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    take_enabled(*out, info);
    VkResult result = fake_queue_start(*out);
    if (result != VK_SUCCESS) {
        fake_object_free(&(*out)->object);
        *out = VK_NULL_HANDLE;
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroyDevice(VkDevice device,
                                                     const VkAllocationCallbacks *callbacks)
{
    (void)callbacks;
    if (device) {
        fake_queue_end(device);
        fake_object_free(&device->object);
    }
}

static VKAPI_ATTR void VKAPI_CALL fake_GetDeviceQueue(VkDevice device, uint32_t family,
                                                      uint32_t index, VkQueue *out)
{
    (void)family;
    (void)index;
    *out = &device->queue;
}

/* ---- Finding --------------------------------------------------------------------------------- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_GetDeviceProcAddr(VkDevice device,
                                                                       const char *name)
{
    FAKE_TAKE(DestroyDevice)
    FAKE_TAKE(GetDeviceQueue)
    PFN_vkVoidFunction found = fake_find_queue(name);
    found = found ? found : fake_find_command(name);
    return found ? found : fake_find_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get(VkInstance instance, const char *name)
{
    (void)instance;
    FAKE_TAKE(CreateInstance)
    FAKE_TAKE(DestroyInstance)
    FAKE_TAKE(EnumerateInstanceVersion)
    FAKE_TAKE(EnumerateInstanceExtensionProperties)
    FAKE_TAKE(EnumerateInstanceLayerProperties)
    FAKE_TAKE(EnumeratePhysicalDevices)
    FAKE_TAKE(EnumerateDeviceExtensionProperties)
    FAKE_TAKE(GetPhysicalDeviceProperties)
    FAKE_TAKE(GetPhysicalDeviceProperties2)
    FAKE_TAKE(GetPhysicalDeviceFeatures2)
    FAKE_TAKE(GetPhysicalDeviceMemoryProperties)
    FAKE_TAKE(GetPhysicalDeviceMemoryProperties2)
    FAKE_TAKE(GetPhysicalDeviceQueueFamilyProperties)
    FAKE_TAKE(GetPhysicalDeviceCalibrateableTimeDomainsEXT)
    FAKE_TAKE(CreateDevice)
    FAKE_TAKE(GetDeviceProcAddr)
    if (fake.has_debug_utils) {
        FAKE_TAKE(CreateDebugUtilsMessengerEXT)
        FAKE_TAKE(DestroyDebugUtilsMessengerEXT)
        FAKE_TAKE(SetDebugUtilsObjectNameEXT)
        if (strstr(name, "DebugUtilsLabelEXT")) {
            return fake_find_command(name);
        }
    }
    return NULL;
}

vyre_vulkan_entry fake_entry(void)
{
    return (vyre_vulkan_entry)get;
}

/* ---- Questions ------------------------------------------------------------------------------- */

void fake_reset(void)
{
    fake = (fake_settings){0};
    memset(enabled, 0, sizeof enabled);
    atomic_store(&violations, 0);
    fake_queue_reset();
}

uint32_t fake_alive(void)
{
    uint32_t count = 0;
    pthread_mutex_lock(&fake_mutex);
    for (const fake_object *o = first; o; o = o->next) {
        count++;
    }
    pthread_mutex_unlock(&fake_mutex);
    return count;
}

uint32_t fake_violations(void)
{
    return atomic_load(&violations);
}
