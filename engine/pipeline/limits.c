/* Limits and features of a kernel against a device's snapshot. */
#include "engine/pipeline/limits.h"

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
        return vyre_kernel_spill_size(kernel) > 0;
    case VY_HIDDEN_TABLES:
        (void)vy_kernel_tables(kernel, &tables);
        return tables > 0;
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

static vyre_result check_features(const vy_snapshot *s, const vyre_kernel *kernel, vyre_diag *diag)
{
    for (uint32_t i = 0;; i++) {
        const char *name = vyre_kernel_requirement(kernel, i);
        if (!name) {
            break;
        }
        if (!vy_snapshot_has(s, name)) {
            return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                               "the program '%s' needs %s, and the device does not have it. Fix: "
                               "compile the kernel with vyre_device_kernel_params, or use another "
                               "device",
                               vyre_kernel_name(kernel), name);
        }
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

static vyre_result check_subgroups(const vy_snapshot *s, const vyre_kernel *kernel, uint64_t volume,
                                   vyre_diag *diag)
{
    vy_kernel_subgroups asked = vy_kernel_get_subgroups(kernel);
    uint32_t width = asked.width;
    if (asked.is_used && s->info.lane_order != VYRE_ANSWER_YES) {
        return vy_diag_set(
            diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
            "the program '%s' uses subgroups, and %s that the device's lanes are consecutive "
            "invocations. Fix: %s",
            vyre_kernel_name(kernel),
            s->info.lane_order == VYRE_ANSWER_NO ? "a probe found against it" : "nobody has asked",
            s->info.lane_order == VYRE_ANSWER_NO ? "use another device, or shared memory"
                                                 : "call vyre_device_probe first");
    }
    if (!width) {
        return VYRE_OK;
    }
    bool has_features =
        s->has[VY_FEATURE_subgroupSizeControl] && s->has[VY_FEATURE_computeFullSubgroups];
    if (!has_features || width < s->info.min_subgroup_size || width > s->info.max_subgroup_size) {
        return vy_diag_set(
            diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
            "the program '%s' fixes its subgroups to %u lanes, and the device %s%u to %u. Fix: use "
            "a width of the device, or leave out `subgroup %u`",
            vyre_kernel_name(kernel), (unsigned)width,
            has_features ? "can pin "
                         : "lacks subgroupSizeControl or computeFullSubgroups; it has ",
            (unsigned)(has_features ? s->info.min_subgroup_size : s->info.subgroup_size),
            (unsigned)(has_features ? s->info.max_subgroup_size : s->info.subgroup_size),
            (unsigned)width);
    }
    if (volume > (uint64_t)width * s->max_subgroups) {
        return over(diag, kernel, "maxComputeWorkgroupSubgroups", (volume + width - 1) / width,
                    s->max_subgroups, "choose a smaller workgroup or wider subgroups");
    }
    return VYRE_OK;
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
    vyre_result subgroups = check_subgroups(s, kernel, volume, diag);
    if (subgroups != VYRE_OK) {
        return subgroups;
    }
    uint32_t shared = vyre_kernel_shared_size(kernel);
    if (shared > info->max_shared_size) {
        return over(diag, kernel, "maxComputeSharedMemorySize", shared, info->max_shared_size,
                    "use less shared memory");
    }
    uint32_t buffers = vy_limits_buffer_count(kernel);
    if (buffers > info->max_storage_buffers) {
        return over(diag, kernel, "maxPerStageDescriptorStorageBuffers", buffers,
                    info->max_storage_buffers, "use fewer buffers (hidden ones count too)");
    }
    if (buffers > s->max_set_buffers) {
        return over(diag, kernel, "maxDescriptorSetStorageBuffers", buffers, s->max_set_buffers,
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
    return check_features(s, kernel, diag);
}
