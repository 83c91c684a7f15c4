/* Decisions about a device, from its snapshot alone. */
#include "engine/device/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API_1_2 ((1u << 22) | (2u << 12))
#define API_1_3 ((1u << 22) | (3u << 12))
/* One contract for offsets in every form of addressing (bytes). */
#define MIN_OFFSET_ALIGNMENT 16u

const vy_feature_info *vy_feature_get(uint32_t feature)
{
    static const vy_feature_info table[] = {
#define VY_X(name, place, required, why) {#name, required, why},
        VY_FEATURES(VY_X)
#undef VY_X
    };
    static const vy_feature_info none = {"", 0, ""};
    return feature < VY_COUNT_OF(table) ? &table[feature] : &none;
}

const char *vy_extension_name(uint32_t extension)
{
    static const char *const table[] = {
#define VY_X(id, name, why) name,
        VY_EXTENSIONS(VY_X)
#undef VY_X
    };
    return extension < VY_COUNT_OF(table) ? table[extension] : "";
}

const char *vy_extension_why(uint32_t extension)
{
    static const char *const table[] = {
#define VY_X(id, name, why) why,
        VY_EXTENSIONS(VY_X)
#undef VY_X
    };
    return extension < VY_COUNT_OF(table) ? table[extension] : "";
}

static void add_missing(vyre_device_info *info, const char *text)
{
    size_t used = strlen(info->missing), room = sizeof info->missing - used;
    snprintf(info->missing + used, room, "%s%s", used ? ", " : "", text);
}

static uint32_t float_modes(const vy_snapshot *s)
{
    uint32_t modes = 0;
    if (s->signed_zero_inf_nan) {
        modes |= VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE;
    }
    /* Where a mode must be the same for all widths, a module that states it for 32 bits alone still
     * stands: unstated widths have no mode to differ, and no module uses floats of 16 bits. */
    if (s->denorm_preserve) {
        modes |= VYRE_FLOAT_DENORM_PRESERVE;
    }
    if (s->rounding_rte) {
        modes |= VYRE_FLOAT_ROUNDING_RTE;
    }
    if (s->signed_zero_inf_nan_64) {
        modes |= VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE_F64;
    }
    if (s->denorm_preserve_64) {
        modes |= VYRE_FLOAT_DENORM_PRESERVE_F64;
    }
    if (s->rounding_rte_64) {
        modes |= VYRE_FLOAT_ROUNDING_RTE_F64;
    }
    return modes;
}

static void list_missing(vy_snapshot *s, uint32_t api)
{
    vyre_device_info *info = &s->info;
    char text[96];
    info->missing[0] = 0;
    if (api < API_1_2) {
        snprintf(text, sizeof text, "Vulkan 1.2 (it has %u.%u)", api ? (unsigned)(api >> 22) : 1u,
                 (unsigned)(api >> 12 & 0x3ff));
        add_missing(info, text);
    }
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        if (vy_feature_get(f)->is_required && !s->has[f]) {
            add_missing(info, vy_feature_get(f)->name);
        }
    }
    if (s->lacks_portability) {
        add_missing(info, vy_extension_name(VY_EXTENSION_KHR_portability_subset));
    }
    if (s->queue_family == VY_FAMILY_NONE) {
        add_missing(info, "a queue family with VK_QUEUE_COMPUTE_BIT");
    }
    if (api < API_1_2) {
        return; /* the limits were not read */
    }
#define VY_X(name, member, least)                                                                  \
    if (info->member < (least)) {                                                                  \
        snprintf(text, sizeof text, #name " of %u (it has %u)", (unsigned)(least),                 \
                 (unsigned)info->member);                                                          \
        add_missing(info, text);                                                                   \
    }
    VY_LIMITS(VY_X)
#undef VY_X
}

void vy_snapshot_decide(vy_snapshot *s, uint32_t api_version)
{
    vyre_device_info *info = &s->info;
    uint32_t api = info->api_version < api_version ? info->api_version : api_version;
    info->target = api >= API_1_3 && s->has[VY_FEATURE_vulkanMemoryModel] &&
                           s->has[VY_FEATURE_vulkanMemoryModelDeviceScope]
                       ? VYRE_TARGET_VULKAN_1_3
                       : VYRE_TARGET_VULKAN_1_2;
    info->float_modes = float_modes(s);
    const uint32_t kept = VYRE_FLOAT_DENORM_PRESERVE_F64 | VYRE_FLOAT_ROUNDING_RTE_F64;
    info->doubles = (info->float_modes & kept) == kept ? VYRE_ANSWER_YES : VYRE_ANSWER_UNKNOWN;
    if (info->offset_alignment < MIN_OFFSET_ALIGNMENT) {
        info->offset_alignment = MIN_OFFSET_ALIGNMENT;
    }
    if (s->timestamp_bits == 0) {
        info->timestamp_ns = 0;
    }
    s->has_non_semantic_info =
        api >= API_1_3 || s->has_extension[VY_EXTENSION_KHR_shader_non_semantic_info];
    bool clock = s->has_extension[VY_EXTENSION_EXT_calibrated_timestamps];
    info->has_addresses = s->has[VY_FEATURE_bufferDeviceAddress];
    info->has_calibrated_timestamps = clock && info->timestamp_ns > 0;
    info->has_memory_budget = s->has_extension[VY_EXTENSION_EXT_memory_budget];
    info->has_device_fault = s->has_extension[VY_EXTENSION_EXT_device_fault];
    if (!s->has_extension[VY_EXTENSION_KHR_push_descriptor]) {
        s->max_push_descriptors = 0;
    }
    list_missing(s, api);
}

uint32_t vy_snapshot_score(const vy_snapshot *s)
{
    if (s->info.missing[0]) {
        return 0;
    }
    switch (s->info.type) {
    case VYRE_DEVICE_DISCRETE:
        return 5;
    case VYRE_DEVICE_INTEGRATED:
        return 4;
    case VYRE_DEVICE_VIRTUAL:
        return 3;
    case VYRE_DEVICE_PROCESSOR:
        return 2;
    default:
        return 1;
    }
}

bool vy_snapshot_has(const vy_snapshot *s, const char *requirement)
{
    for (uint32_t f = 0; f < VY_FEATURE_COUNT; f++) {
        if (strcmp(requirement, vy_feature_get(f)->name) == 0) {
            return s->has[f];
        }
    }
    if (strcmp(requirement, vy_extension_name(VY_EXTENSION_KHR_shader_non_semantic_info)) == 0) {
        return s->has_non_semantic_info;
    }
    for (uint32_t e = 0; e < VY_EXTENSION_COUNT; e++) {
        if (strcmp(requirement, vy_extension_name(e)) == 0) {
            return s->has_extension[e];
        }
    }
    static const char *const operations[] = {
        "VK_SUBGROUP_FEATURE_BASIC_BIT",      "VK_SUBGROUP_FEATURE_VOTE_BIT",
        "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", "VK_SUBGROUP_FEATURE_BALLOT_BIT",
        "VK_SUBGROUP_FEATURE_SHUFFLE_BIT",    "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT"};
    for (uint32_t bit = 0; bit < VY_COUNT_OF(operations); bit++) {
        if (strcmp(requirement, operations[bit]) == 0) {
            return s->subgroup_operations >> bit & 1;
        }
    }
    if (strcmp(requirement, "Vulkan 1.3") == 0) {
        return s->info.target == VYRE_TARGET_VULKAN_1_3;
    }
    const struct {
        const char *name;
        bool has;
    } others[] = {
        {"shaderSignedZeroInfNanPreserveFloat32", s->signed_zero_inf_nan},
        {"shaderDenormPreserveFloat32", s->denorm_preserve},
        {"shaderRoundingModeRTEFloat32", s->rounding_rte},
        {"shaderSignedZeroInfNanPreserveFloat64", s->signed_zero_inf_nan_64},
        {"shaderDenormPreserveFloat64", s->denorm_preserve_64},
        {"shaderRoundingModeRTEFloat64", s->rounding_rte_64},
        {"shaderSubgroupUniformControlFlow",
         s->has_extension[VY_EXTENSION_KHR_shader_subgroup_uniform_control_flow]},
        {"shaderMaximalReconvergence",
         s->has_extension[VY_EXTENSION_KHR_shader_maximal_reconvergence]},
    };
    for (uint32_t i = 0; i < VY_COUNT_OF(others); i++) {
        if (strcmp(requirement, others[i].name) == 0) {
            return others[i].has;
        }
    }
    /* In core since Vulkan 1.2. */
    return strcmp(requirement, "VK_KHR_shader_float_controls") == 0;
}

bool vy_snapshot_can_pin(const vy_snapshot *s, uint32_t lanes)
{
    return s->has[VY_FEATURE_subgroupSizeControl] && s->info.min_subgroup_size > 0 &&
           lanes >= s->info.min_subgroup_size && lanes <= s->info.max_subgroup_size;
}

uint64_t vy_snapshot_ticks_to_ns(const vy_snapshot *s, uint64_t from, uint64_t to)
{
    if (s->timestamp_bits == 0 || s->info.timestamp_ns <= 0) {
        return UINT64_MAX;
    }
    uint64_t ticks = to - from;
    if (s->timestamp_bits < 64) {
        ticks &= ((uint64_t)1 << s->timestamp_bits) - 1;
    }
    /* A double has 53 bits: the whole nanoseconds of a tick are multiplied as integers. */
    uint64_t whole = (uint64_t)s->info.timestamp_ns;
    double ns = (double)ticks * s->info.timestamp_ns;
    if (ns >= 18446744073709550000.0) {
        return UINT64_MAX - 1;
    }
    return ticks * whole + (uint64_t)((double)ticks * (s->info.timestamp_ns - (double)whole) + 0.5);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && text[i] && lower(text[i]) == lower(part[i])) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

bool vy_snapshot_is_named(const vy_snapshot *s, const char *name)
{
    if (!name || !name[0]) {
        return true;
    }
    char *end = NULL;
    unsigned long index = strtoul(name, &end, 10);
    if (name[0] >= '0' && name[0] <= '9' && *end == 0) {
        return index == s->info.index;
    }
    return contains(s->info.name, name);
}
