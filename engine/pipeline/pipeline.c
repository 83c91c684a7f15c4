/* Layouts, modules and pipelines. */
#include "engine/pipeline/pipeline.h"

#include "engine/exec/instance.h"
#include "engine/exec/judge.h"
#include "engine/pipeline/cache.h"
#include "engine/pipeline/limits.h"

#include <stddef.h>
#include <string.h>

#define MAX_SET_BINDINGS (VYRE_MAX_BUFFERS + VY_HIDDEN_COUNT)

vyre_result vy_layout_create(vyre_device *device, uint64_t bindings, const char *name,
                             vy_layout *out_layout, vyre_diag *diag)
{
    *out_layout = (vy_layout){0};
    VkDescriptorSetLayoutBinding list[MAX_SET_BINDINGS];
    uint32_t count = 0;
    for (uint32_t b = 0; b < MAX_SET_BINDINGS; b++) {
        if (bindings >> b & 1) {
            list[count++] = (VkDescriptorSetLayoutBinding){
                .binding = b,
                .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                .descriptorCount = 1,
                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            };
        }
    }
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = list,
    };
    VkResult result =
        device->vk.vkCreateDescriptorSetLayout(device->device, &set, NULL, &out_layout->set);
    if (result != VK_SUCCESS) {
        out_layout->set = VK_NULL_HANDLE;
        return vy_vk_error(device, diag, result, "vkCreateDescriptorSetLayout");
    }
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = VY_PUSH_SIZE};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &out_layout->set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    result =
        device->vk.vkCreatePipelineLayout(device->device, &layout, NULL, &out_layout->pipeline);
    if (result != VK_SUCCESS) {
        out_layout->pipeline = VK_NULL_HANDLE;
        vy_layout_destroy(device, out_layout);
        return vy_vk_error(device, diag, result, "vkCreatePipelineLayout");
    }
    vy_set_name(device, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)out_layout->pipeline, name);
    vy_set_name(device, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)out_layout->set, name);
    return VYRE_OK;
}

void vy_layout_destroy(vyre_device *device, vy_layout *layout)
{
    if (layout->pipeline) {
        device->vk.vkDestroyPipelineLayout(device->device, layout->pipeline, NULL);
    }
    if (layout->set) {
        device->vk.vkDestroyDescriptorSetLayout(device->device, layout->set, NULL);
    }
    *layout = (vy_layout){0};
}

static void choose_native(vyre_device *device, const vy_shader *shader, VkBool32 *out_divide,
                          VkBool32 *out_sqrt)
{
    const vyre_device_info *info = &device->snapshot.info;
    vy_mutex_lock(&device->counter_mutex); /* vyre_device_probe may be answering */
    *out_divide = shader->is_native || info->native_divide == VYRE_ANSWER_YES;
    *out_sqrt = shader->is_native || info->native_sqrt == VYRE_ANSWER_YES;
    vy_mutex_unlock(&device->counter_mutex);
}

vyre_result vy_shader_create(vyre_device *device, const vy_layout *layout, const vy_shader *shader,
                             VkPipeline *out_pipeline, vyre_diag *diag)
{
    *out_pipeline = VK_NULL_HANDLE;
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)shader->word_count * sizeof(uint32_t),
        .pCode = shader->words,
    };
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = device->vk.vkCreateShaderModule(device->device, &module_info, NULL, &module);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkCreateShaderModule");
    }
    vy_set_name(device, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)module, shader->label);
    struct constants {
        uint32_t workgroup[3];
        VkBool32 folded, native_divide, native_sqrt;
    } constants = {{shader->workgroup[0], shader->workgroup[1], shader->workgroup[2]},
                   .folded = shader->is_folded};
    choose_native(device, shader, &constants.native_divide, &constants.native_sqrt);
    VkSpecializationMapEntry entries[6] = {
        {VY_SPEC_WORKGROUP_X, offsetof(struct constants, workgroup[0]), sizeof(uint32_t)},
        {VY_SPEC_WORKGROUP_Y, offsetof(struct constants, workgroup[1]), sizeof(uint32_t)},
        {VY_SPEC_WORKGROUP_Z, offsetof(struct constants, workgroup[2]), sizeof(uint32_t)},
        {VY_SPEC_FOLDED, offsetof(struct constants, folded), sizeof(VkBool32)},
        {VY_SPEC_NATIVE_DIVIDE, offsetof(struct constants, native_divide), sizeof(VkBool32)},
        {VY_SPEC_NATIVE_SQRT, offsetof(struct constants, native_sqrt), sizeof(VkBool32)},
    };
    VkSpecializationInfo specialization = {.mapEntryCount = VY_COUNT_OF(entries),
                                           .pMapEntries = entries,
                                           .dataSize = sizeof constants,
                                           .pData = &constants};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &specialization},
        .layout = layout->pipeline,
        .basePipelineIndex = -1,
    };
    result = vy_cache_create_pipeline(device, &info, out_pipeline);
    device->vk.vkDestroyShaderModule(device->device, module, NULL);
    if (result != VK_SUCCESS) {
        *out_pipeline = VK_NULL_HANDLE;
        vyre_result code = vy_vk_error(device, diag, result, "vkCreateComputePipelines");
        if (code == VYRE_ERROR_DISPATCH_FAILED || code == VYRE_ERROR_NO_DEVICE) {
            code = vy_diag_set(diag, VYRE_ERROR_KERNEL_COMPILE_FAILED, (vy_loc){0, 0},
                               "the driver refused the module of %s (%s). Fix: report it with the "
                               "program and vyre-run --info",
                               shader->label, vy_vk_result_text(result));
        }
        return code;
    }
    vy_set_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)*out_pipeline, shader->label);
    vy_count(device, pipelines, 1);
    return VYRE_OK;
}

vyre_result vy_pipeline_prepare(vyre_pipeline *p, bool is_folded, vyre_diag *diag)
{
    VkPipeline **variant = &p->variants[is_folded];
    if (!*variant) {
        *variant = vy_alloc_zeroed(&p->device->allocator, p->segment_count ? p->segment_count : 1,
                                   sizeof **variant);
        if (!*variant) {
            return vy_diag_no_memory(diag);
        }
    }
    for (uint32_t s = 0; s < p->segment_count; s++) {
        if ((*variant)[s]) {
            continue; /* an earlier attempt came so far */
        }
        const vy_kernel_segment *segment = vy_kernel_get_segment(p->kernel, s);
        vy_shader shader = {.words = segment->words,
                            .word_count = segment->word_count,
                            .workgroup = {p->workgroup[0], p->workgroup[1], p->workgroup[2]},
                            .is_folded = is_folded,
                            .label = segment->label};
        vyre_result code = vy_shader_create(p->device, &p->layout, &shader, &(*variant)[s], diag);
        if (code != VYRE_OK) {
            if (diag) {
                diag->segment = s;
            }
            return code;
        }
    }
    return VYRE_OK;
}

static vyre_result choose_workgroup(vyre_pipeline *p, const vyre_pipeline_params *params,
                                    vyre_diag *diag)
{
    uint32_t own[3];
    bool is_overridden = false;
    vy_kernel_workgroup(p->kernel, own);
    for (int i = 0; i < 3; i++) {
        uint32_t wanted = params ? params->workgroup[i] : 0;
        p->workgroup[i] = wanted ? wanted : own[i];
        is_overridden = is_overridden || p->workgroup[i] != own[i];
    }
    const char *use = vy_kernel_workgroup_use(p->kernel);
    if (is_overridden && use) {
        return vy_invalid(diag,
                          "the workgroup size cannot be overridden, since the program uses %s. "
                          "Fix: leave workgroup zero",
                          use);
    }
    if (is_overridden && vy_kernel_grid_over(p->kernel) >= 0 &&
        (p->workgroup[1] != 1 || p->workgroup[2] != 1)) {
        return vy_invalid(diag, "a grid over a buffer needs a workgroup of N x 1 x 1. Fix: "
                                "override workgroup[0] only");
    }
    return VYRE_OK;
}

static vyre_result create_tables(vyre_pipeline *p, vyre_diag *diag)
{
    uint32_t count = 0;
    const uint32_t *words = vy_kernel_tables(p->kernel, &count);
    if (count == 0) {
        return VYRE_OK;
    }
    uint64_t size = (uint64_t)count * sizeof *words;
    vyre_result code =
        vy_block_create(p->device, VY_MEMORY_TABLE, size, "vyre tables", &p->tables, diag);
    if (code == VYRE_OK) {
        memcpy(p->tables.mapped, words, (size_t)size);
        code = vy_block_flush(p->device, &p->tables, 0, size, diag);
    }
    return code;
}

static vyre_result create_parts(vyre_pipeline *p, vyre_diag *diag)
{
    for (uint32_t b = 0; b < p->binding_count; b++) {
        p->used_bindings |= (uint64_t)1 << b;
    }
    for (uint32_t h = 0; h < VY_HIDDEN_COUNT; h++) {
        if (vy_limits_has_hidden(p->kernel, h)) {
            p->used_bindings |= (uint64_t)1 << (p->binding_count + h);
        }
    }
    const char *name = vyre_kernel_name(p->kernel);
    vyre_result code = vy_layout_create(p->device, p->used_bindings, name, &p->layout, diag);
    if (code == VYRE_OK) {
        code = vy_pipeline_prepare(p, false, diag);
    }
    if (code == VYRE_OK) {
        code = create_tables(p, diag);
    }
    if (code == VYRE_OK && vy_kernel_until(p->kernel) >= 0) {
        code = vy_judge_create(p->device, &p->judge_layout, &p->judge, diag);
    }
    return code;
}

vyre_result vyre_pipeline_create(vyre_device *device, const vyre_kernel *kernel,
                                 const vyre_pipeline_params *params, vyre_pipeline **out_pipeline,
                                 vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!out_pipeline) {
        return vy_invalid(diag, "out_pipeline is NULL. Fix: pass where the pipeline goes");
    }
    *out_pipeline = NULL;
    if (!device || !kernel) {
        return vy_invalid(diag, "no device or no kernel was given. Fix: pass both");
    }
    vyre_result code = vy_check_lost(device, diag);
    if (code != VYRE_OK) {
        return code;
    }
    vyre_pipeline *p = vy_alloc_zeroed(&device->allocator, 1, sizeof *p);
    if (!p) {
        return vy_diag_no_memory(diag);
    }
    p->device = device;
    p->kernel = kernel;
    p->binding_count = vyre_kernel_binding_count(kernel);
    p->segment_count = vyre_kernel_segment_count(kernel);
    vy_mutex_lock(&device->counter_mutex);
    device->children++;
    vy_mutex_unlock(&device->counter_mutex);
    code = choose_workgroup(p, params, diag);
    if (code == VYRE_OK) {
        code = vy_limits_check(&device->snapshot, kernel, p->workgroup, diag);
    }
    if (code == VYRE_OK) {
        code = create_parts(p, diag);
    }
    if (code != VYRE_OK) {
        vyre_pipeline_destroy(&p);
        return code;
    }
    *out_pipeline = p;
    return VYRE_OK;
}

void vyre_pipeline_destroy(vyre_pipeline **pipeline)
{
    if (!pipeline || !*pipeline) {
        return;
    }
    vyre_pipeline *p = *pipeline;
    vyre_device *device = p->device;
    *pipeline = NULL;
    vy_queue_drain(device, p->pending);
    if (p->recording_count) {
        vy_log_write(&device->log, VYRE_LOG_ERROR,
                     "a pipeline is destroyed before %u of its recordings. Fix: destroy the "
                     "recordings first",
                     (unsigned)p->recording_count);
    }
    vy_instance_destroy(device, &p->instance);
    for (int v = 0; v < 2; v++) {
        for (uint32_t s = 0; p->variants[v] && s < p->segment_count; s++) {
            if (p->variants[v][s]) {
                device->vk.vkDestroyPipeline(device->device, p->variants[v][s], NULL);
            }
        }
        size_t count = p->segment_count ? p->segment_count : 1;
        vy_free(&device->allocator, p->variants[v], count * sizeof *p->variants[v]);
    }
    if (p->judge) {
        device->vk.vkDestroyPipeline(device->device, p->judge, NULL);
    }
    vy_block_destroy(device, &p->tables);
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        vy_block_destroy(device, &p->keep[b]);
    }
    vy_layout_destroy(device, &p->judge_layout);
    vy_layout_destroy(device, &p->layout);
    vy_mutex_lock(&device->counter_mutex);
    device->children--;
    vy_mutex_unlock(&device->counter_mutex);
    vy_free(&device->allocator, p, sizeof *p);
}
