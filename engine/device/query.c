/* Reads a physical device into a snapshot. */
#include "engine/device/device.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void vy_features_init(vyre_feature_chain *f, uint32_t api_version)
{
    *f = (vyre_feature_chain){
        .features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2},
        .vulkan11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES},
        .vulkan12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES},
        .vulkan13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES},
    };
    f->features.pNext = &f->vulkan11;
    f->vulkan11.pNext = &f->vulkan12;
    f->vulkan12.pNext = api_version >= VK_API_VERSION_1_3 ? &f->vulkan13 : NULL;
}

VkBool32 *vy_features_member(vyre_feature_chain *f, uint32_t feature)
{
    switch (feature) {
#define MEMBER_CORE(name)     &f->features.features.name
#define MEMBER_VULKAN11(name) &f->vulkan11.name
#define MEMBER_VULKAN12(name) &f->vulkan12.name
#define MEMBER_VULKAN13(name) &f->vulkan13.name
#define VY_X(name, place, required, why)                                                           \
    case VY_FEATURE_##name:                                                                        \
        return MEMBER_##place(name);
        VY_FEATURES(VY_X)
#undef VY_X
    default:
        return &f->features.features.robustBufferAccess; /* never asked for */
    }
}

void vy_setup_fill(const vy_snapshot *s, uint32_t api_version, vyre_device_setup *out)
{
    *out = (vyre_device_setup){.queue_priority = 1.0f};
    vy_features_init(&out->chain, api_version);
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        *vy_features_member(&out->chain, f) = s->has[f];
    }
    for (uint32_t e = 0; e < VY_EXTENSION_COUNT; e++) {
        if (s->has_extension[e]) {
            out->extensions[out->extension_count++] = vy_extension_name(e);
        }
    }
    out->device_fault = (VkPhysicalDeviceFaultFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT, .deviceFault = VK_TRUE};
    out->uniform_flow = (VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR){
        .sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR,
        .shaderSubgroupUniformControlFlow = VK_TRUE};
    out->reconvergence = (vyre_maximal_reconvergence){
        .sType = VYRE_STRUCTURE_TYPE_MAXIMAL_RECONVERGENCE, .shaderMaximalReconvergence = VK_TRUE};
    /* Before the rest of the chain, whose end depends on the version. */
    if (s->has_extension[VY_EXTENSION_EXT_device_fault]) {
        out->device_fault.pNext = out->chain.features.pNext;
        out->chain.features.pNext = &out->device_fault;
    }
    if (s->has_extension[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow]) {
        out->uniform_flow.pNext = out->chain.features.pNext;
        out->chain.features.pNext = &out->uniform_flow;
    }
    if (s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence]) {
        out->reconvergence.pNext = out->chain.features.pNext;
        out->chain.features.pNext = &out->reconvergence;
    }
    out->queue = (VkDeviceQueueCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = s->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &out->queue_priority,
    };
}

static vyre_device_type device_type(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return VYRE_DEVICE_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return VYRE_DEVICE_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return VYRE_DEVICE_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return VYRE_DEVICE_PROCESSOR;
    default:
        return VYRE_DEVICE_OTHER;
    }
}

static uint32_t narrow(VkDeviceSize value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void take_limits(vy_snapshot *s, const VkPhysicalDeviceLimits *limits)
{
    vyre_device_info *info = &s->info;
    for (int i = 0; i < 3; i++) {
        info->max_groups[i] = limits->maxComputeWorkGroupCount[i];
        info->max_workgroup[i] = limits->maxComputeWorkGroupSize[i];
    }
    info->max_workgroup_invocations = limits->maxComputeWorkGroupInvocations;
    info->max_shared_size = limits->maxComputeSharedMemorySize;
    info->max_storage_buffers = limits->maxPerStageDescriptorStorageBuffers;
    info->max_push_constants_size = limits->maxPushConstantsSize;
    info->max_storage_range = limits->maxStorageBufferRange;
    info->offset_alignment = narrow(limits->minStorageBufferOffsetAlignment);
    info->timestamp_ns = (double)limits->timestampPeriod;
    s->max_stage_resources = limits->maxPerStageResources;
    s->max_set_buffers = limits->maxDescriptorSetStorageBuffers;
    s->non_coherent_atom = narrow(limits->nonCoherentAtomSize);
    s->max_allocation_count = limits->maxMemoryAllocationCount;
}

typedef struct property_chain {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceVulkan11Properties vulkan11;
    VkPhysicalDeviceVulkan12Properties vulkan12;
    VkPhysicalDeviceVulkan13Properties vulkan13;
} property_chain;

static void take_properties(vy_snapshot *s, const property_chain *p, bool has_1_3)
{
    vyre_device_info *info = &s->info;
    const VkPhysicalDeviceProperties *core = &p->core.properties;
    snprintf(info->name, sizeof info->name, "%s", core->deviceName);
    snprintf(info->driver, sizeof info->driver, "%.120s %.120s", p->vulkan12.driverName,
             p->vulkan12.driverInfo);
    info->type = device_type(core->deviceType);
    info->vendor_id = core->vendorID;
    info->device_id = core->deviceID;
    info->api_version = core->apiVersion;
    info->driver_version = core->driverVersion;
    info->subgroup_size = p->vulkan11.subgroupSize;
    if (p->vulkan11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) {
        s->subgroup_operations = p->vulkan11.subgroupSupportedOperations;
    }
    if (has_1_3 && p->vulkan13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) {
        s->info.min_subgroup_size = p->vulkan13.minSubgroupSize;
        s->info.max_subgroup_size = p->vulkan13.maxSubgroupSize;
        s->max_subgroups = p->vulkan13.maxComputeWorkgroupSubgroups;
    }
    info->max_buffer_size = p->vulkan11.maxMemoryAllocationSize;
    if (has_1_3 && p->vulkan13.maxBufferSize) {
        info->max_buffer_size = p->vulkan13.maxBufferSize;
    }
    s->driver_id = (uint32_t)p->vulkan12.driverID;
    memcpy(s->driver_uuid, p->vulkan11.driverUUID, sizeof s->driver_uuid);
    memcpy(s->device_uuid, p->vulkan11.deviceUUID, sizeof s->device_uuid);
    memcpy(s->cache_uuid, core->pipelineCacheUUID, sizeof s->cache_uuid);
    s->is_llvmpipe = p->vulkan12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    s->conformance[0] = p->vulkan12.conformanceVersion.major;
    s->conformance[1] = p->vulkan12.conformanceVersion.minor;
    s->conformance[2] = p->vulkan12.conformanceVersion.subminor;
    s->conformance[3] = p->vulkan12.conformanceVersion.patch;
    s->signed_zero_inf_nan = p->vulkan12.shaderSignedZeroInfNanPreserveFloat32;
    s->denorm_preserve = p->vulkan12.shaderDenormPreserveFloat32;
    s->rounding_rte = p->vulkan12.shaderRoundingModeRTEFloat32;
    s->signed_zero_inf_nan_64 = p->vulkan12.shaderSignedZeroInfNanPreserveFloat64;
    s->denorm_preserve_64 = p->vulkan12.shaderDenormPreserveFloat64 &&
                            (s->denorm_preserve || p->vulkan12.denormBehaviorIndependence !=
                                                       VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE);
    s->rounding_rte_64 = p->vulkan12.shaderRoundingModeRTEFloat64 &&
                         (s->rounding_rte || p->vulkan12.roundingModeIndependence !=
                                                 VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE);
    take_limits(s, &core->limits);
}

/* Compute alone before compute with graphics: the second is what displays wait for. */
static vyre_result choose_family(const vy_instance_table *vki, VkPhysicalDevice physical,
                                 const vyre_allocator *allocator, vy_snapshot *s, vyre_diag *diag)
{
    uint32_t count = 0;
    s->queue_family = VY_FAMILY_NONE;
    vki->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, NULL);
    if (count == 0) {
        return VYRE_OK;
    }
    size_t size = count * sizeof(VkQueueFamilyProperties);
    VkQueueFamilyProperties *families = vy_alloc_zeroed(allocator, count, sizeof *families);
    if (!families) {
        return vy_diag_no_memory(diag);
    }
    vki->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    bool is_pure = false;
    for (uint32_t f = 0; f < count; f++) {
        bool compute = families[f].queueFlags & VK_QUEUE_COMPUTE_BIT && families[f].queueCount;
        bool pure = compute && !(families[f].queueFlags & VK_QUEUE_GRAPHICS_BIT);
        if (compute && (s->queue_family == VY_FAMILY_NONE || (pure && !is_pure))) {
            s->queue_family = f;
            s->timestamp_bits = families[f].timestampValidBits;
            is_pure = pure;
        }
    }
    vy_free(allocator, families, size);
    return VYRE_OK;
}

/* Extensions that tell how many compute units there are; they need not be enabled for that. */
enum { VY_UNITS_NVIDIA, VY_UNITS_AMD, VY_UNITS_COUNT };
static const char *const unit_extensions[VY_UNITS_COUNT] = {"VK_NV_shader_sm_builtins",
                                                            "VK_AMD_shader_core_properties2"};

static uint32_t count_units(const vy_instance_table *vki, VkPhysicalDevice physical,
                            const bool *has_units)
{
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    VkPhysicalDeviceShaderCoreProperties2AMD amd = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = has_units[VY_UNITS_NVIDIA] ? (void *)&nvidia : (void *)&amd};
    if (!has_units[VY_UNITS_NVIDIA] && !has_units[VY_UNITS_AMD]) {
        return 0;
    }
    vki->vkGetPhysicalDeviceProperties2(physical, &properties);
    return has_units[VY_UNITS_NVIDIA] ? nvidia.shaderSMCount : amd.activeComputeUnitCount;
}

static vyre_result find_extensions(const vy_instance_table *vki, VkPhysicalDevice physical,
                                   const vyre_allocator *allocator, vy_snapshot *s, vyre_diag *diag)
{
    uint32_t count = 0;
    bool has_units[VY_UNITS_COUNT] = {false};
    VkResult result = vki->vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    if (result != VK_SUCCESS || count == 0) {
        return result == VK_SUCCESS
                   ? VYRE_OK
                   : vy_vk_error(NULL, diag, result, "vkEnumerateDeviceExtensionProperties");
    }
    size_t size = count * sizeof(VkExtensionProperties);
    VkExtensionProperties *list = vy_alloc_zeroed(allocator, count, sizeof *list);
    if (!list) {
        return vy_diag_no_memory(diag);
    }
    result = vki->vkEnumerateDeviceExtensionProperties(physical, NULL, &count, list);
    for (uint32_t i = 0; (result == VK_SUCCESS || result == VK_INCOMPLETE) && i < count; i++) {
        for (uint32_t e = 0; e < VY_EXTENSION_COUNT; e++) {
            if (strcmp(list[i].extensionName, vy_extension_name(e)) == 0) {
                s->has_extension[e] = true;
            }
        }
        for (uint32_t u = 0; u < VY_UNITS_COUNT; u++) {
            has_units[u] = has_units[u] || strcmp(list[i].extensionName, unit_extensions[u]) == 0;
        }
    }
    vy_free(allocator, list, size);
    if (result < 0) {
        return vy_vk_error(NULL, diag, result, "vkEnumerateDeviceExtensionProperties");
    }
    s->info.compute_units = count_units(vki, physical, has_units);
    return VYRE_OK;
}

static void take_features(const vy_instance_table *vki, VkPhysicalDevice physical, uint32_t api,
                          vy_snapshot *s)
{
    vyre_feature_chain features;
    vy_features_init(&features, api);
    vki->vkGetPhysicalDeviceFeatures2(physical, &features.features);
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        s->has[f] = *vy_features_member(&features, f);
    }
}

static void take_memory(vy_snapshot *s, const VkPhysicalDeviceMemoryProperties *memory)
{
    vyre_device_info *info = &s->info;
    for (uint32_t h = 0; h < memory->memoryHeapCount; h++) {
        if (memory->memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT &&
            memory->memoryHeaps[h].size > info->device_memory_size) {
            info->device_memory_size = memory->memoryHeaps[h].size;
        }
    }
    VkMemoryPropertyFlags both =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    for (uint32_t t = 0; t < memory->memoryTypeCount; t++) {
        VkDeviceSize size = memory->memoryHeaps[memory->memoryTypes[t].heapIndex].size;
        if ((memory->memoryTypes[t].propertyFlags & both) == both &&
            size > info->mappable_memory_size) {
            info->mappable_memory_size = size;
        }
    }
}

/* Of extensions, what goes beyond their names: an extension without it is of no use here. */
static void take_extensions(const vy_instance_table *vki, VkPhysicalDevice physical, vy_snapshot *s)
{
    if (s->has_extension[VY_EXTENSION_EXT_device_fault]) {
        VkPhysicalDeviceFaultFeaturesEXT fault = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
        VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                              .pNext = &fault};
        vki->vkGetPhysicalDeviceFeatures2(physical, &features);
        s->has_extension[VY_EXTENSION_EXT_device_fault] = fault.deviceFault;
    }
    if (s->has_extension[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow]) {
        VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR flow = {0};
        flow.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR;
        VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                              .pNext = &flow};
        vki->vkGetPhysicalDeviceFeatures2(physical, &features);
        s->has_extension[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow] =
            flow.shaderSubgroupUniformControlFlow;
    }
    if (s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence]) {
        vyre_maximal_reconvergence flow = {.sType = VYRE_STRUCTURE_TYPE_MAXIMAL_RECONVERGENCE};
        VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                              .pNext = &flow};
        vki->vkGetPhysicalDeviceFeatures2(physical, &features);
        s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence] =
            flow.shaderMaximalReconvergence;
    }
    if (s->has_extension[VY_EXTENSION_EXT_calibrated_timestamps]) {
        s->has_extension[VY_EXTENSION_EXT_calibrated_timestamps] =
            vy_clock_is_calibrateable(vki, physical);
    }
    if (s->has_extension[VY_EXTENSION_KHR_push_descriptor]) {
        VkPhysicalDevicePushDescriptorPropertiesKHR push = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &push};
        vki->vkGetPhysicalDeviceProperties2(physical, &properties);
        s->max_push_descriptors = push.maxPushDescriptors;
    }
}

vyre_result vy_snapshot_query(const vy_instance_table *vki, VkPhysicalDevice physical,
                              uint32_t index, uint32_t api_version, const vyre_allocator *allocator,
                              vy_snapshot *s, vyre_diag *diag)
{
    *s = (vy_snapshot){.info.index = index};
    VkPhysicalDeviceProperties first = {0};
    vki->vkGetPhysicalDeviceProperties(physical, &first);
    if (first.apiVersion < VK_API_VERSION_1_2) {
        /* Its 1.2 structures are not filled: only a name can be given. */
        snprintf(s->info.name, sizeof s->info.name, "%s", first.deviceName);
        s->info.type = device_type(first.deviceType);
        s->info.api_version = first.apiVersion;
        vy_snapshot_decide(s, api_version);
        return VYRE_OK;
    }
    uint32_t api = first.apiVersion < api_version ? first.apiVersion : api_version;
    bool has_1_3 = api >= VK_API_VERSION_1_3;
    property_chain p = {
        .core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2},
        .vulkan11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES},
        .vulkan12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES},
        .vulkan13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES},
    };
    p.core.pNext = &p.vulkan11;
    p.vulkan11.pNext = &p.vulkan12;
    p.vulkan12.pNext = has_1_3 ? &p.vulkan13 : NULL;
    vki->vkGetPhysicalDeviceProperties2(physical, &p.core);
    take_properties(s, &p, has_1_3);

    take_features(vki, physical, api, s);
    VkPhysicalDeviceMemoryProperties memory = {0};
    vki->vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    take_memory(s, &memory);
    vyre_result result = choose_family(vki, physical, allocator, s, diag);
    if (result == VYRE_OK) {
        result = find_extensions(vki, physical, allocator, s, diag);
    }
    if (result == VYRE_OK) {
        take_extensions(vki, physical, s);
    }
    vy_snapshot_decide(s, api_version);
    return result;
}
