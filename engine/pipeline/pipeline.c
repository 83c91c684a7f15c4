/* Layouts, modules and pipelines. */
#include "engine/pipeline/pipeline.h"

#include "engine/device/allow_list.h"
#include "engine/pipeline/cache.h"
#include "engine/pipeline/limits.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MOST_LARGE       1024u
#define MAX_SET_BINDINGS (VYRE_MAX_BUFFERS + VY_HIDDEN_COUNT)

/* Of what is bound, as bindings of a set layout; returns how many. */
static uint32_t list_bindings(const vy_bound *bound,
                              VkDescriptorSetLayoutBinding list[MAX_SET_BINDINGS])
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < MAX_SET_BINDINGS; b++) {
        bool is_block = b == bound->block;
        if (is_block || bound->storage >> b & 1) {
            list[count++] = (VkDescriptorSetLayoutBinding){
                .binding = b,
                .descriptorType = !is_block          ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                  : bound->is_pushed ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                                     : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                .descriptorCount = 1,
                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            };
        }
    }
    return count;
}

vyre_result vy_layout_create(vyre_device *device, const vy_bound *bound, const char *name,
                             vy_layout *out_layout, vyre_diag *diag)
{
    *out_layout = (vy_layout){0};
    VkDescriptorSetLayoutBinding list[MAX_SET_BINDINGS];
    uint32_t count = list_bindings(bound, list);
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = bound->is_pushed ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0,
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
    vy_count(device, modules, 1);
    vy_set_name(device, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)module, shader->label);
    struct constants {
        uint32_t workgroup[3];
        VkBool32 folded, native_divide, native_sqrt, zero_sums, veiled_params, turns;
    } constants = {{shader->workgroup[0], shader->workgroup[1], shader->workgroup[2]},
                   .folded = shader->is_folded,
                   .zero_sums = device->snapshot.is_llvmpipe,
                   .veiled_params = device->snapshot.is_llvmpipe,
                   .turns = vy_allow_list_has_turns(&device->snapshot)};
    choose_native(device, shader, &constants.native_divide, &constants.native_sqrt);
    VkSpecializationMapEntry entries[] = {
        {VY_SPEC_WORKGROUP_X, offsetof(struct constants, workgroup[0]), sizeof(uint32_t)},
        {VY_SPEC_WORKGROUP_Y, offsetof(struct constants, workgroup[1]), sizeof(uint32_t)},
        {VY_SPEC_WORKGROUP_Z, offsetof(struct constants, workgroup[2]), sizeof(uint32_t)},
        {VY_SPEC_FOLDED, offsetof(struct constants, folded), sizeof(VkBool32)},
        {VY_SPEC_NATIVE_DIVIDE, offsetof(struct constants, native_divide), sizeof(VkBool32)},
        {VY_SPEC_NATIVE_SQRT, offsetof(struct constants, native_sqrt), sizeof(VkBool32)},
        {VY_SPEC_ZERO_SUMS, offsetof(struct constants, zero_sums), sizeof(VkBool32)},
        {VY_SPEC_VEILED_PARAMS, offsetof(struct constants, veiled_params), sizeof(VkBool32)},
        {VY_SPEC_TURNS, offsetof(struct constants, turns), sizeof(VkBool32)},
    };
    VkSpecializationInfo specialization = {.mapEntryCount = VY_COUNT_OF(entries),
                                           .pMapEntries = entries,
                                           .dataSize = sizeof constants,
                                           .pData = &constants};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = shader->subgroup_size};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = shader->subgroup_size ? &size : NULL,
                  .flags = shader->is_full
                               ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
                               : 0,
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

static VkPipeline **variant_of(vyre_pipeline *p, vy_choice choice)
{
    return &p->variants[vy_choice_index(choice)];
}

static uint32_t list_count(const vyre_pipeline *p)
{
    return p->segment_count ? p->segment_count : 1;
}

uint32_t vy_pipeline_large(const vyre_pipeline *p)
{
    const vyre_device_info *info = &p->device->snapshot.info;
    const uint32_t limits[] = {info->max_workgroup_invocations, info->max_workgroup[0]};
    uint32_t size = MOST_LARGE;
    for (size_t i = 0; i < VY_COUNT_OF(limits); i++) {
        size = size < limits[i] ? size : limits[i];
    }
    return size;
}

static vyre_result make_segment(vyre_pipeline *p, vy_choice choice, uint32_t segment,
                                vyre_diag *diag)
{
    char text[VY_PLACE_SIZE], place[VY_PLACE_SIZE + sizeof VY_SEGMENT_WORD];
    if (vy_pipeline_is_joined(choice)) {
        snprintf(place, sizeof place, "%s, all segments", vyre_kernel_name(p->kernel));
    } else {
        vy_kernel_place(p->kernel, segment, text);
        snprintf(place, sizeof place, VY_SEGMENT_WORD "%s", text);
    }
    vy_shader shader = {.workgroup = {p->workgroup[0], p->workgroup[1], p->workgroup[2]},
                        .is_folded = choice.is_folded,
                        .subgroup_size = p->subgroup_size,
                        .is_full = p->has_full_subgroups,
                        .label = place};
    if (choice.is_large) {
        shader.workgroup[0] = vy_pipeline_large(p);
        shader.workgroup[1] = shader.workgroup[2] = 1;
    }
    uint32_t ways = choice.is_coarse ? vy_device_coarse_ways(p->device) : 0;
    vy_variant variant = {.interface = choice.interface,
                          .is_aliased = choice.is_aliased,
                          .is_wide = choice.is_wide,
                          .is_whole = choice.is_whole,
                          .is_coarse = choice.is_coarse,
                          .is_joined = (ways & VY_WAY_JOINED) != 0,
                          .is_long = (ways & VY_WAY_LONG) != 0,
                          .is_persistent = choice.is_persistent};
    vyre_result code =
        vy_kernel_variant(p->kernel, variant, segment, &shader.words, &shader.word_count, diag);
    if (code == VYRE_OK) {
        /* The same in all variants. */
        uint32_t *reads = choice.is_persistent ? &p->persistent_push_words
                          : choice.is_whole    ? &p->whole_push_words
                                               : &p->push_words[segment];
        *reads |= vy_kernel_push_words(shader.words, shader.word_count);
        code = vy_shader_create(p->device, &p->layouts[choice.interface], &shader,
                                &(*variant_of(p, choice))[segment], diag);
    }
    if (code != VYRE_OK && diag) {
        diag->segment = segment;
    }
    return code;
}

static vyre_result make_layout(vyre_pipeline *p, vyre_interface interface, vyre_diag *diag)
{
    if (p->layouts[interface].pipeline) {
        return VYRE_OK;
    }
    vy_bound bound = {.block = VY_ADDRESS_BLOCK};
    if (interface == VYRE_INTERFACE_DESCRIPTOR) {
        bound = (vy_bound){.storage = p->used_bindings,
                           .block = p->binding_count + VY_HIDDEN_PARAMS,
                           .is_pushed = p->is_pushed};
    }
    return vy_layout_create(p->device, &bound, vyre_kernel_name(p->kernel), &p->layouts[interface],
                            diag);
}

vyre_result vy_pipeline_prepare(vyre_pipeline *p, vy_choice choice, vyre_diag *diag)
{
    VkPipeline **variant = variant_of(p, choice);
    vy_mutex_lock(&p->mutex);
    vyre_result code = make_layout(p, choice.interface, diag);
    if (code == VYRE_OK && !p->push_words) {
        p->push_words = vy_alloc_zeroed(&p->allocator, list_count(p), sizeof *p->push_words);
        code = p->push_words ? VYRE_OK : vy_diag_no_memory(diag);
    }
    if (code == VYRE_OK && !*variant) {
        *variant = vy_alloc_zeroed(&p->allocator, list_count(p), sizeof **variant);
        code = *variant ? VYRE_OK : vy_diag_no_memory(diag);
    }
    for (uint32_t s = 0; code == VYRE_OK && s < vy_pipeline_modules(p, choice); s++) {
        if (!(*variant)[s]) {
            code = make_segment(p, choice, s, diag);
        }
    }
    vy_mutex_unlock(&p->mutex);
    return code;
}

VkPipeline vy_pipeline_get(const vyre_pipeline *p, vy_choice choice, uint32_t segment)
{
    return p->variants[vy_choice_index(choice)][segment];
}

uint32_t vy_pipeline_modules(const vyre_pipeline *p, vy_choice choice)
{
    return vy_pipeline_is_joined(choice) && p->segment_count ? 1 : p->segment_count;
}

uint32_t vy_pipeline_push_words(const vyre_pipeline *p, vy_choice choice, uint32_t segment)
{
    return choice.is_persistent ? p->persistent_push_words
           : choice.is_whole    ? p->whole_push_words
                                : p->push_words[segment];
}

void vy_pipeline_detach(vyre_pipeline *p)
{
    vyre_device *d = p->device;
    for (uint32_t i = 0; i < VY_CHOICES; i++) {
        VkPipeline **list = variant_of(p, vy_choice_get(i));
        for (uint32_t s = 0; *list && s < p->segment_count; s++) {
            if ((*list)[s]) {
                d->vk.vkDestroyPipeline(d->device, (*list)[s], NULL);
            }
        }
        vy_free(&p->allocator, *list, list_count(p) * sizeof **list);
        *list = NULL;
    }
    for (uint32_t i = 0; i < VY_INTERFACES; i++) {
        vy_layout_destroy(d, &p->layouts[i]);
    }
    vy_free(&p->allocator, p->push_words, list_count(p) * sizeof *p->push_words);
    p->push_words = NULL;
    vy_block_destroy(d, &p->tables);
    for (uint32_t b = 0; b < VYRE_MAX_BUFFERS; b++) {
        vy_block_destroy(d, &p->keep[b]);
    }
    p->device = NULL;
}
