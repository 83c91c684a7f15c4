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
    vyre_feature_chain has;
    vy_features_init(&has, api);
    vy_features_init(chain, api);
    vki.vkGetPhysicalDeviceFeatures2(device, &has.features);
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        *vy_features_member(chain, f) = *vy_features_member(&has, f);
    }
    return VYRE_OK;
}

vyre_result vyre_device_fill_setup(VkInstance instance, VkPhysicalDevice device,
                                   uint32_t api_version,
                                   PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                   vyre_device_setup *setup, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!instance || !device || !get_instance_proc_addr || !setup) {
        return vy_invalid(diag, "instance, device, get_instance_proc_addr or setup is missing. "
                                "Fix: pass all four");
    }
    vy_instance_table vki = {0};
    vyre_allocator allocator = vy_allocator_or_default(NULL);
    vy_snapshot snapshot;
    vyre_result code = vy_instance_table_load(&vki, get_instance_proc_addr, instance, diag);
    if (code == VYRE_OK) {
        code = vy_snapshot_query(&vki, device, 0, api_version, &allocator, &snapshot, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    if (snapshot.info.missing[0]) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the device \"%s\" lacks %s. Fix: update its driver, create the "
                           "instance for Vulkan 1.2 or newer, or use another device",
                           snapshot.info.name, snapshot.info.missing);
    }
    snapshot.has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence] = false;
    vy_setup_fill(&snapshot, usable_version(&vki, device, api_version), setup);
    return VYRE_OK;
}

/* ---- What the host enabled ------------------------------------------------------------------- */

/* Structures with single features, from before they were members of VkPhysicalDeviceVulkan1*: the
 * structure, its sType, its members. */
#define SINGLE_FEATURES(X, M)                                                                      \
    X(TimelineSemaphore, TIMELINE_SEMAPHORE, M(timelineSemaphore))                                 \
    X(Synchronization2, SYNCHRONIZATION_2, M(synchronization2))                                    \
    X(VulkanMemoryModel, VULKAN_MEMORY_MODEL,                                                      \
      M(vulkanMemoryModel) M(vulkanMemoryModelDeviceScope))                                        \
    X(BufferDeviceAddress, BUFFER_DEVICE_ADDRESS, M(bufferDeviceAddress))                          \
    X(HostQueryReset, HOST_QUERY_RESET, M(hostQueryReset))                                         \
    X(ShaderFloat16Int8, SHADER_FLOAT16_INT8, M(shaderFloat16) M(shaderInt8))                      \
    X(8BitStorage, 8BIT_STORAGE, M(storageBuffer8BitAccess))                                       \
    X(16BitStorage, 16BIT_STORAGE, M(storageBuffer16BitAccess))                                    \
    X(ShaderAtomicInt64, SHADER_ATOMIC_INT64,                                                      \
      M(shaderBufferInt64Atomics) M(shaderSharedInt64Atomics))                                     \
    X(SubgroupSizeControl, SUBGROUP_SIZE_CONTROL, M(subgroupSizeControl) M(computeFullSubgroups))  \
    X(ShaderSubgroupExtendedTypes, SHADER_SUBGROUP_EXTENDED_TYPES, M(shaderSubgroupExtendedTypes)) \
    X(Maintenance4, MAINTENANCE_4, M(maintenance4))

/* Features of extensions that are of use only with them. */
typedef struct own_features {
    bool fault, uniform_flow, reconvergence;
} own_features;

static void read_single(const VkBaseInStructure *at, vy_snapshot *s, own_features *own)
{
    switch ((int)at->sType) {
#define MEMBER(name) s->has[VY_FEATURE_##name] = s->has[VY_FEATURE_##name] || f->name == VK_TRUE;
#define STRUCTURE(name, type, members)                                                             \
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type##_FEATURES: {                                    \
        const VkPhysicalDevice##name##Features *f = (const void *)at;                              \
        members break;                                                                             \
    }
        SINGLE_FEATURES(STRUCTURE, MEMBER)
#undef STRUCTURE
#undef MEMBER
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT:
        own->fault = ((const VkPhysicalDeviceFaultFeaturesEXT *)(const void *)at)->deviceFault;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR:
        own->uniform_flow =
            ((const VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR *)(const void *)at)
                ->shaderSubgroupUniformControlFlow;
        break;
    case VYRE_STRUCTURE_TYPE_MAXIMAL_RECONVERGENCE:
        own->reconvergence =
            ((const vyre_maximal_reconvergence *)(const void *)at)->shaderMaximalReconvergence;
        break;
    default:
        break;
    }
}

static bool is_listed(const char *const *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] && strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Of what the device offers: the snapshot says so. */
static void read_extensions(const vyre_adopt_params *params, own_features own, vy_snapshot *s)
{
    bool offers_subset = s->has_extension[VY_EXTENSION_KHR_portability_subset];
    for (uint32_t e = 0; e < VY_EXTENSION_COUNT; e++) {
        s->has_extension[e] =
            s->has_extension[e] &&
            is_listed(params->extensions, params->extension_count, vy_extension_name(e));
    }
    s->has_extension[VY_EXTENSION_EXT_device_fault] &= own.fault;
    s->has_extension[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow] &= own.uniform_flow;
    s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence] &= own.reconvergence;
    s->lacks_portability = offers_subset && !s->has_extension[VY_EXTENSION_KHR_portability_subset];
}

static void read_enabled(const vyre_adopt_params *params, vy_snapshot *s)
{
    memset(s->has, 0, sizeof s->has);
    own_features own = {0};
    vyre_feature_chain copy;
    vy_features_init(&copy, VK_API_VERSION_1_3);
    if (params->features) {
        copy.features.features = params->features->features;
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
                read_single(at, s, &own);
                break;
            }
        }
    }
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        s->has[f] = s->has[f] || *vy_features_member(&copy, f) == VK_TRUE;
    }
    read_extensions(params, own, s);
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
                           "vyre_device_requirements lists (vyre_device_fill_setup fills what "
                           "vkCreateDevice takes), and pass that chain as `features` and those "
                           "names as `extensions`",
                           device->snapshot.info.missing);
    }
    device->has_names = is_listed(params->instance_extensions, params->instance_extension_count,
                                  VK_EXT_DEBUG_UTILS_EXTENSION_NAME) &&
                        device->vki.vkSetDebugUtilsObjectNameEXT != NULL;
    code = vy_device_table_load(&device->vk, &device->vki, params->device, &device->snapshot, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vy_snapshot_decide(&device->snapshot, params->api_version);
    return vy_device_finish_creation(device, params->queue_family, diag);
}

static vyre_result check_params(const vyre_adopt_params *p, vyre_diag *diag)
{
    if (!p->get_instance_proc_addr || !p->instance || !p->physical_device || !p->device ||
        !p->queue) {
        return vy_invalid(diag, "missing:%s%s%s%s%s. Fix: pass them",
                          p->get_instance_proc_addr ? "" : " get_instance_proc_addr",
                          p->instance ? "" : " instance",
                          p->physical_device ? "" : " physical_device", p->device ? "" : " device",
                          p->queue ? "" : " queue");
    }
    if (!p->lock_queue != !p->unlock_queue) {
        return vy_invalid(diag, "one of lock_queue and unlock_queue is missing. Fix: pass both, "
                                "or none");
    }
    if ((p->extension_count && !p->extensions) ||
        (p->instance_extension_count && !p->instance_extensions)) {
        return vy_invalid(diag, "a count of extensions has no list. Fix: pass the list, or 0");
    }
    const vyre_memory_callbacks *m = p->memory;
    if (m && (!m->create || !m->destroy || !m->flush || !m->invalidate)) {
        return vy_invalid(diag, "one of the memory callbacks is missing. Fix: pass all four "
                                "functions, or no callbacks");
    }
    return VYRE_OK;
}

static void take_params(vyre_device *device, const vyre_adopt_params *params)
{
    vy_log_init(&device->log, params->log, params->log_user, params->log_level);
    device->instance = params->instance;
    device->physical = params->physical_device;
    device->device = params->device;
    device->api_version = params->api_version;
    device->queue = params->queue;
    device->host_lock = params->lock_queue;
    device->host_unlock = params->unlock_queue;
    device->host_user = params->queue_user;
    device->debug = params->debug;
    device->has_driver_thread = params->driver_thread != 0;
    device->memory_limit = params->memory_limit;
    device->pipeline_cache = params->pipeline_cache;
    if (params->memory) {
        device->memory_callbacks = *params->memory;
        device->has_memory_callbacks = true;
    }
}

vyre_result vyre_device_adopt(const vyre_adopt_params *given, vyre_device **out_device,
                              vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_device) {
        return vy_invalid(diag, "out_device is NULL. Fix: pass where the device goes");
    }
    *out_device = NULL;
    vyre_adopt_params params;
    vyre_result code = vy_params_read(vyre_adopt_params, &params, given, diag);
    if (code == VYRE_OK) {
        code = check_params(&params, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    vyre_device *device = vy_device_allocate(params.allocator);
    if (!device) {
        return vy_diag_no_memory(diag);
    }
    take_params(device, &params);
    code = vy_device_set_cache_dir(device, params.cache_dir, diag);
    if (code == VYRE_OK) {
        code = take_over(device, &params, diag);
    }
    if (code != VYRE_OK) {
        vyre_device_destroy(&device);
        return code;
    }
    *out_device = device;
    return VYRE_OK;
}

uint32_t vyre_device_queue_family(const vyre_device *device)
{
    return device ? device->snapshot.queue_family : VK_QUEUE_FAMILY_IGNORED;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

vyre_result vyre_buffer_import(vyre_device *device, const vyre_import_params *given,
                               vyre_buffer *out_buffer, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_buffer) {
        return vy_invalid(diag, "out_buffer is NULL. Fix: pass where the buffer goes");
    }
    *out_buffer = (vyre_buffer){0};
    vyre_import_params params;
    vyre_result code = vy_params_read(vyre_import_params, &params, given, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!device || !params.buffer || params.size == 0) {
        return vy_invalid(diag, "device, buffer or size is missing. Fix: pass all three");
    }
    if (!(params.usage & VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)) {
        return vy_invalid(diag, "the buffer was created without "
                                "VK_BUFFER_USAGE_STORAGE_BUFFER_BIT. Fix: create it with that "
                                "usage and say so");
    }
    return vy_resident_import(device, params.buffer, params.size, params.usage, params.name,
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
