/* What a device is, as plain data: read once by query.c, or written by a test. Decisions about
 * devices are functions of it and call no Vulkan. */
#ifndef VY_SNAPSHOT_H
#define VY_SNAPSHOT_H

#include "codegen/base/base.h"
#include "vyre/device.h"

/* Features: member name, the structure that has it, whether the library cannot do without, why. */
#define VY_FEATURES(X)                                                                             \
    X(timelineSemaphore, VULKAN12, 1, "work is waited for by a timeline semaphore")                \
    X(synchronization2, VULKAN13, 0, "barriers name stages and accesses exactly")                  \
    X(vulkanMemoryModel, VULKAN12, 0, "kernels use the Vulkan memory model")                       \
    X(vulkanMemoryModelDeviceScope, VULKAN12, 0, "atomics are ordered over the whole device")      \
    X(bufferDeviceAddress, VULKAN12, 0, "buffers beyond the descriptor limit")                     \
    X(hostQueryReset, VULKAN12, 0, "timestamps without a command to reset them")                   \
    X(shaderInt64, CORE, 0, "64-bit integers")                                                     \
    X(shaderFloat64, CORE, 0, "f64, and exact division and square root of f32")                    \
    X(shaderInt16, CORE, 0, "16-bit integers")                                                     \
    X(shaderInt8, VULKAN12, 0, "8-bit integers")                                                   \
    X(shaderFloat16, VULKAN12, 0, "f16 arithmetic")                                                \
    X(storageBuffer8BitAccess, VULKAN12, 0, "8-bit elements")                                      \
    X(storageBuffer16BitAccess, VULKAN11, 0, "16-bit elements")                                    \
    X(shaderBufferInt64Atomics, VULKAN12, 0, "64-bit atomics on buffers")                          \
    X(shaderSharedInt64Atomics, VULKAN12, 0, "64-bit atomics on shared memory")                    \
    X(shaderSubgroupExtendedTypes, VULKAN12, 0, "subgroup operations on 64 bits")                  \
    X(subgroupSizeControl, VULKAN13, 0, "programs that fix their subgroup width")                  \
    X(computeFullSubgroups, VULKAN13, 0, "programs that fix their subgroup width")                 \
    X(maintenance4, VULKAN13, 0, "workgroup sizes by specialisation constant")

typedef enum vy_feature {
#define VY_X(name, place, required, why) VY_FEATURE_##name,
    VY_FEATURES(VY_X)
#undef VY_X
        VY_FEATURE_COUNT
} vy_feature;

typedef struct vy_feature_info {
    const char *name;
    int is_required;
    const char *why;
} vy_feature_info;

/* Extensions that are used where they are there; of those with a feature of their own that feature
 * too: deviceFault, shaderSubgroupUniformControlFlow, shaderMaximalReconvergence. */
#define VY_EXTENSIONS(X)                                                                           \
    X(EXT_memory_budget, "VK_EXT_memory_budget",                                                   \
      "memory in use and left, as the driver counts it")                                           \
    X(KHR_push_descriptor, "VK_KHR_push_descriptor",                                               \
      "bindings without descriptor sets, where buffers have no addresses")                         \
    X(EXT_calibrated_timestamps, "VK_EXT_calibrated_timestamps",                                   \
      "the device's times on the host's clock")                                                    \
    X(EXT_device_fault, "VK_EXT_device_fault",                                                     \
      "what the driver knows of a lost device (with the feature deviceFault)")                     \
    X(KHR_shader_subgroup_uniform_control_flow, "VK_KHR_shader_subgroup_uniform_control_flow",     \
      "subgroup operations after branches that a whole subgroup takes alike")                      \
    X(KHR_shader_maximal_reconvergence, "VK_KHR_shader_maximal_reconvergence",                     \
      "subgroup operations where only some invocations of a subgroup are (not with validation)")   \
    X(KHR_shader_non_semantic_info, "VK_KHR_shader_non_semantic_info",                             \
      "printf statements, and debug information in kernels for Vulkan 1.2")                        \
    X(KHR_portability_subset, "VK_KHR_portability_subset", "must be enabled where it is offered")

typedef enum vy_extension {
#define VY_X(id, name, why) VY_EXTENSION_##id,
    VY_EXTENSIONS(VY_X)
#undef VY_X
        VY_EXTENSION_COUNT
} vy_extension;

/* Limits that Vulkan promises and the library relies on: Vulkan's name, the member of
 * vyre_device_info, the least. */
#define VY_LIMITS(X)                                                                               \
    X(maxComputeWorkGroupInvocations, max_workgroup_invocations, 128u)                             \
    X(maxComputeSharedMemorySize, max_shared_size, 16384u)                                         \
    X(maxPerStageDescriptorStorageBuffers, max_storage_buffers, 4u)                                \
    X(maxPushConstantsSize, max_push_constants_size, 128u)

/* Names and reasons as tables of the same order. */
const vy_feature_info *vy_feature_get(uint32_t feature);
const char *vy_extension_name(uint32_t extension);
const char *vy_extension_why(uint32_t extension);

#define VY_FAMILY_NONE UINT32_MAX

typedef struct vy_snapshot {
    vyre_device_info info;      /* names and limits; probes unknown */
    bool has[VY_FEATURE_COUNT]; /* of an adopted device: enabled by the host */
    bool has_extension[VY_EXTENSION_COUNT];
    bool is_llvmpipe;
    uint32_t driver_id; /* a VkDriverId; the version is info.driver_version */
    uint8_t driver_uuid[16], device_uuid[16], cache_uuid[16];
    uint32_t conformance[4];
    /* Float controls of 32 and of 64 bits; the latter only where they may be set beside these. */
    bool signed_zero_inf_nan, denorm_preserve, rounding_rte;
    bool signed_zero_inf_nan_64, denorm_preserve_64, rounding_rte_64;
    uint32_t subgroup_operations; /* VkSubgroupFeatureFlags in compute shaders */
    uint32_t max_subgroups;       /* of a workgroup, where the size is pinned */
    uint32_t queue_family;        /* the compute family chosen, or VY_FAMILY_NONE */
    uint32_t timestamp_bits;      /* of that family */
    uint32_t max_stage_resources,
        max_set_buffers;           /* maxPerStageResources, maxDescriptorSetStorageBuffers */
    uint32_t max_push_descriptors; /* 0 without VK_KHR_push_descriptor */
    uint32_t non_coherent_atom;
    uint32_t max_allocation_count;
    bool has_non_semantic_info; /* by the extension, or as Vulkan 1.3 has it */
    bool lacks_portability; /* adopted: the device offers the subset, and the host left it off */
} vy_snapshot;

/* Fills what follows from the rest: info.target, info.float_modes, info.doubles, info.missing,
 * info.offset_alignment, info.timestamp_ns, info.has_*, max_push_descriptors,
 * has_non_semantic_info. `api_version` is the
 * instance's. */
void vy_snapshot_decide(vy_snapshot *snapshot, uint32_t api_version);
/* Larger is better; 0: not usable. */
uint32_t vy_snapshot_score(const vy_snapshot *snapshot);
/* The feature or extension of that name that a kernel asks for: whether it is there. */
bool vy_snapshot_has(const vy_snapshot *snapshot, const char *requirement);
/* Whether a pipeline may pin its subgroups to that many lanes. */
bool vy_snapshot_can_pin(const vy_snapshot *snapshot, uint32_t lanes);
/* From one tick count of the device to a later one, in nanoseconds, for counters of timestamp_bits
 * bits that wrap; UINT64_MAX where the device has none. */
uint64_t vy_snapshot_ticks_to_ns(const vy_snapshot *snapshot, uint64_t from, uint64_t to);
/* Whether a device of this index and info is meant by `name` (may be NULL: any). */
bool vy_snapshot_is_named(const vy_snapshot *snapshot, const char *name);

#endif
