/* Limits and features of a kernel against a device's snapshot. */
#include "engine/pipeline/limits.h"

#include <string.h>

#define SPIRV_1_5 0x00010500u

bool vy_limits_has_hidden(const vyre_kernel *kernel, uint32_t hidden)
{
    uint32_t tables = 0;
    switch (hidden) {
    case VY_HIDDEN_PARAMS:
        return true;
    case VY_HIDDEN_RECORDS:
        return vy_kernel_site_count(kernel) > 0;
    case VY_HIDDEN_SPILL:
        return vyre_kernel_spill_size(kernel) > 0 || vy_kernel_whole_words(kernel) > 0;
    case VY_HIDDEN_TABLES:
        (void)vy_kernel_tables(kernel, &tables);
        return tables > 0;
    case VY_HIDDEN_STATE:
        return vy_kernel_until(kernel) >= 0;
    default:
        return false;
    }
}

uint32_t vy_limits_buffer_count(const vyre_kernel *kernel)
{
    uint32_t count = vyre_kernel_binding_count(kernel);
    for (uint32_t h = 0; h < VY_HIDDEN_COUNT; h++) {
        count += vy_limits_has_hidden(kernel, h);
    }
    return count;
}

static vyre_result over(vyre_diag *diag, const vyre_kernel *kernel, const char *limit,
                        uint64_t wanted, uint64_t has, const char *fix)
{
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the program '%s' needs %llu, and the device's %s is %llu. Fix: %s",
                       vyre_kernel_name(kernel), (unsigned long long)wanted, limit,
                       (unsigned long long)has, fix);
}

const char *vy_limits_lacking(const vy_snapshot *s, const vyre_kernel *kernel,
                              vyre_interface interface)
{
    const char *name = NULL;
    for (uint32_t i = 0; (name = vy_kernel_requirement(kernel, interface, i)) != NULL; i++) {
        if (!vy_snapshot_has(s, name)) {
            return name;
        }
    }
    return NULL;
}

/* What a program can do without the feature; the rest is a matter of how its kernel was compiled.
 */
static const char *way_round(const char *feature)
{
    static const struct {
        const char *feature, *way;
    } ways[] = {
        {"shaderInt64", "keep to integers of up to 32 bits"},
        {"shaderFloat64", "keep to f32"},
        {"storageBuffer8BitAccess", "keep elements of 8 bits in a buffer of u32"},
        {"storageBuffer16BitAccess", "keep elements of 16 bits in a buffer of u32 or f32"},
        {"shaderBufferInt64Atomics", "use atomics of 32 bits"},
        {"shaderSharedInt64Atomics", "use atomics of 32 bits"},
        {"subgroupSizeControl", "leave out `subgroup N`"},
        {"computeFullSubgroups", "leave out `subgroup N`"},
        {"VK_KHR_shader_non_semantic_info",
         "compile it with VYRE_DEBUG_INFO_LINES or _NONE (vyre-spv: -g1, or nothing), and without "
         "prints"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(ways); i++) {
        if (strcmp(feature, ways[i].feature) == 0) {
            return ways[i].way;
        }
    }
    return strncmp(feature, "VK_SUBGROUP_", strlen("VK_SUBGROUP_")) == 0 ? "use shared memory"
                                                                         : NULL;
}

static vyre_result check_features(const vy_snapshot *s, const vyre_kernel *kernel, vyre_diag *diag)
{
    /* Where only the address form lacks something, pipelines are made of the other one. */
    const char *name = vy_limits_lacking(s, kernel, VYRE_INTERFACE_DESCRIPTOR);
    const char *way = name ? way_round(name) : NULL;
    if (way) {
        return vy_diag_set(
            diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
            "the program '%s' needs %s, and the device does not have it (or its host "
            "did not enable it: vyre_device_fill_setup does). Fix: %s, or use "
            "another device",
            vyre_kernel_name(kernel), name, way);
    }
    if (name) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the kernel '%s' was compiled for %s, and the device does not have it. "
                           "Fix: compile it with vyre_device_kernel_params",
                           vyre_kernel_name(kernel), name);
    }
    for (uint32_t i = 0; i < vyre_kernel_segment_count(kernel); i++) {
        const vy_kernel_segment *segment = vy_kernel_get_segment(kernel, i);
        if (segment->word_count < 5 ||
            (segment->words[1] > SPIRV_1_5 && s->info.target == VYRE_TARGET_VULKAN_1_2)) {
            vyre_result code =
                vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                            "the kernel '%s' was compiled for Vulkan 1.3, and the device runs "
                            "kernels for 1.2. Fix: compile it with vyre_device_kernel_params",
                            vyre_kernel_name(kernel));
            if (diag) {
                diag->segment = i;
            }
            return code;
        }
    }
    return VYRE_OK;
}

uint32_t vy_limits_subgroup_size(const vy_snapshot *s, const vyre_kernel *kernel)
{
    vy_kernel_subgroups asked = vy_kernel_get_subgroups(kernel);
    uint32_t size = s->info.subgroup_size;
    if (asked.width) {
        return asked.width;
    }
    return asked.is_used && vy_snapshot_can_pin(s, size) ? size : 0;
}

static vyre_result check_width(const vy_snapshot *s, const vyre_kernel *kernel, uint32_t width,
                               vyre_diag *diag)
{
    if (vy_snapshot_can_pin(s, width)) {
        return VYRE_OK;
    }
    if (s->info.min_subgroup_size == 0) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the program '%s' fixes its subgroups to %u lanes, and the device can "
                           "fix none (requiredSubgroupSizeStages); it has %u. Fix: leave out "
                           "`subgroup %u`",
                           vyre_kernel_name(kernel), (unsigned)width,
                           (unsigned)s->info.subgroup_size, (unsigned)width);
    }
    bool is_below = width < s->info.min_subgroup_size;
    uint32_t limit = is_below ? s->info.min_subgroup_size : s->info.max_subgroup_size;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the program '%s' fixes its subgroups to %u lanes, and the device's %s is "
                       "%u. Fix: write `subgroup %u`, or leave it out",
                       vyre_kernel_name(kernel), (unsigned)width,
                       is_below ? "minSubgroupSize" : "maxSubgroupSize", (unsigned)limit,
                       (unsigned)limit);
}

static vyre_result check_subgroups(const vy_snapshot *s, const vyre_kernel *kernel, uint64_t volume,
                                   vyre_diag *diag)
{
    vy_kernel_subgroups asked = vy_kernel_get_subgroups(kernel);
    vyre_result code = asked.width ? check_width(s, kernel, asked.width, diag) : VYRE_OK;
    if (code != VYRE_OK) {
        return code;
    }
    if (asked.is_used && s->info.lane_order != VYRE_ANSWER_YES) {
        bool is_no = s->info.lane_order == VYRE_ANSWER_NO;
        return vy_diag_set(
            diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
            "the program '%s' uses subgroups, and %s. Fix: %s", vyre_kernel_name(kernel),
            is_no ? "on this device lanes are not consecutive invocations, as a probe found"
                  : "nobody has asked whether this device's lanes are consecutive invocations",
            is_no ? "use shared memory, or another device" : "call vyre_device_probe first");
    }
    uint32_t width = vy_limits_subgroup_size(s, kernel);
    if (width && volume > (uint64_t)width * s->max_subgroups) {
        return over(diag, kernel, "maxComputeWorkgroupSubgroups", (volume + width - 1) / width,
                    s->max_subgroups, "choose a smaller workgroup or wider subgroups");
    }
    return VYRE_OK;
}

/* Comparisons, sums and products of f64 are the device's own. */
static vyre_result check_doubles(const vy_snapshot *s, const vyre_kernel *kernel, vyre_diag *diag)
{
    const char *name = NULL;
    bool is_used = false;
    for (uint32_t i = 0; (name = vyre_kernel_requirement(kernel, i)) != NULL; i++) {
        is_used = is_used || strcmp(name, "shaderFloat64") == 0;
    }
    if (!is_used || s->info.doubles == VYRE_ANSWER_YES) {
        return VYRE_OK;
    }
    bool is_no = s->info.doubles == VYRE_ANSWER_NO;
    return vy_diag_set(
        diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
        "the program '%s' uses f64, and the driver does not promise %s; %s. Fix: %s",
        vyre_kernel_name(kernel),
        s->denorm_preserve_64 ? "shaderRoundingModeRTEFloat64" : "shaderDenormPreserveFloat64",
        is_no ? "a probe found that denormals or rounding are not kept"
              : "nobody has asked the device",
        is_no ? "keep to f32, or use another device" : "call vyre_device_probe first");
}

vyre_result vy_limits_check(const vy_snapshot *s, const vyre_kernel *kernel,
                            const uint32_t workgroup[3], vyre_diag *diag)
{
    static const char *const size_names[3] = {
        "maxComputeWorkGroupSize[0]", "maxComputeWorkGroupSize[1]", "maxComputeWorkGroupSize[2]"};
    const vyre_device_info *info = &s->info;
    uint64_t volume = 1;
    for (int i = 0; i < 3; i++) {
        if (workgroup[i] > info->max_workgroup[i]) {
            return over(diag, kernel, size_names[i], workgroup[i], info->max_workgroup[i],
                        "choose a smaller workgroup");
        }
        volume *= workgroup[i];
    }
    if (volume > info->max_workgroup_invocations) {
        return over(diag, kernel, "maxComputeWorkGroupInvocations", volume,
                    info->max_workgroup_invocations, "choose a smaller workgroup");
    }
    uint32_t shared = vyre_kernel_shared_size(kernel);
    if (shared > info->max_shared_size) {
        return over(diag, kernel, "maxComputeSharedMemorySize", shared, info->max_shared_size,
                    "use less shared memory");
    }
    uint32_t buffers = vy_limits_buffer_count(kernel);
    uint32_t storage = buffers - 1; /* the parameter block is a uniform buffer */
    if (storage > info->max_storage_buffers) {
        return over(diag, kernel, "maxPerStageDescriptorStorageBuffers", storage,
                    info->max_storage_buffers, "use fewer buffers (hidden ones count too)");
    }
    if (storage > s->max_set_buffers) {
        return over(diag, kernel, "maxDescriptorSetStorageBuffers", storage, s->max_set_buffers,
                    "use fewer buffers (hidden ones count too)");
    }
    if (buffers > s->max_stage_resources) {
        return over(diag, kernel, "maxPerStageResources", buffers, s->max_stage_resources,
                    "use fewer buffers (hidden ones count too)");
    }
    if (VY_PUSH_SIZE > info->max_push_constants_size) {
        return over(diag, kernel, "maxPushConstantsSize", VY_PUSH_SIZE,
                    info->max_push_constants_size, "use another device");
    }
    vyre_result code = check_features(s, kernel, diag);
    if (code == VYRE_OK) {
        code = check_doubles(s, kernel, diag);
    }
    return code == VYRE_OK ? check_subgroups(s, kernel, volume, diag) : code;
}
