/* See trial.h. */
#include "engine/exec/trial.h"

#include "engine/device/commands.h"
#include "engine/memory/memory.h"
#include "engine/pipeline/pipeline.h"

#include <string.h>

#define BLOCK_WORDS (4u * VECTORS)
#define VECTORS     9u /* vy_param_vectors(1, 0) */
/* More than any device asks of a binding's offset. */
#define BLOCK_ALIGNMENT 256u

typedef struct run_state {
    vyre_device *device;
    const vy_trial *trial;
    uint32_t word_count;
    uint64_t block_offset;
    vy_layout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    vy_block memory; /* the words, then the parameter block */
    vy_commands commands;
    uint64_t value;
} run_state;

static vyre_result make_set(run_state *r, vyre_diag *diag)
{
    vyre_device *d = r->device;
    VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1},
                                     {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1}};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    VkResult result = d->vk.vkCreateDescriptorPool(d->device, &pool, NULL, &r->pool);
    if (result != VK_SUCCESS) {
        r->pool = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateDescriptorPool");
    }
    vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)r->pool, "vyre trial");
    VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = r->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &r->layout.set,
    };
    result = d->vk.vkAllocateDescriptorSets(d->device, &set, &r->set);
    if (result != VK_SUCCESS) {
        return vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
    }
    vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)r->set, "vyre trial");
    VkDescriptorBufferInfo buffers[2] = {
        {r->memory.buffer, 0, r->word_count * sizeof(uint32_t)},
        {r->memory.buffer, r->block_offset, BLOCK_WORDS * sizeof(uint32_t)}};
    VkWriteDescriptorSet writes[2];
    for (uint32_t i = 0; i < 2; i++) {
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = r->set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = sizes[i].type,
            .pBufferInfo = &buffers[i],
        };
    }
    d->vk.vkUpdateDescriptorSets(d->device, 2, writes, 0, NULL);
    return VYRE_OK;
}

static vyre_result make_memory(run_state *r, const uint32_t *words, vyre_diag *diag)
{
    const vy_trial *t = r->trial;
    uint32_t block[BLOCK_WORDS] = {0};
    uint64_t size = r->word_count * sizeof(uint32_t);
    r->block_offset = (size + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    vyre_result code = vy_block_create(r->device, VY_MEMORY_READBACK,
                                       r->block_offset + sizeof block, t->label, &r->memory, diag);
    if (code != VYRE_OK) {
        return code;
    }
    for (uint32_t i = 0; i < 3; i++) {
        block[VY_PARAM_GROUPS + i] = block[VY_PARAM_ELEMENTS + i] = 1;
    }
    block[VY_PARAM_GROUPS] = block[VY_PARAM_GROUP_TOTAL] = t->groups;
    block[VY_PARAM_ELEMENTS] = block[VY_PARAM_INVOCATIONS] = t->groups * t->workgroup;
    block[VY_PARAM_LENGTHS] = r->word_count;
    memcpy(r->memory.mapped, words, (size_t)size);
    memcpy((unsigned char *)r->memory.mapped + r->block_offset, block, sizeof block);
    return vy_block_flush(r->device, &r->memory, 0, r->memory.size, diag);
}

static vyre_result make_pipeline(run_state *r, vyre_diag *diag)
{
    const vy_trial *t = r->trial;
    vy_shader shader = {.words = t->module,
                        .word_count = t->module_word_count,
                        .workgroup = {t->workgroup, 1, 1},
                        .subgroup_size = t->subgroup_size,
                        .is_native = t->is_native,
                        .label = t->label};
    const vy_bound bound = {.storage = 1, .block = 1};
    vyre_result code = vy_layout_create(r->device, &bound, t->label, &r->layout, diag);
    return code == VYRE_OK ? vy_shader_create(r->device, &r->layout, &shader, &r->pipeline, diag)
                           : code;
}

static vyre_result submit(run_state *r, vyre_diag *diag)
{
    static const vy_barrier to_host = {VY_STAGE_COMPUTE, VY_STAGE_COMPUTE, VY_STAGE_HOST};
    static const uint32_t push[VY_PUSH_SIZE / sizeof(uint32_t)] = {0}, offset = 0;
    vyre_device *d = r->device;
    vyre_result code = vy_commands_begin(d, &r->commands, true, diag);
    if (code != VYRE_OK) {
        return code;
    }
    VkCommandBuffer commands = r->commands.buffer;
    d->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
    d->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout.pipeline, 0,
                                  1, &r->set, 1, &offset);
    d->vk.vkCmdPushConstants(commands, r->layout.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             sizeof push, push);
    d->vk.vkCmdDispatch(commands, r->trial->groups, 1, 1);
    vy_cmd_barrier(d, commands, &to_host);
    code = vy_commands_end(d, &r->commands, diag);
    if (code == VYRE_OK) {
        code = vy_queue_submit(d, commands, "the device's probe", &r->value, diag);
    }
    if (code == VYRE_OK) {
        code = vy_queue_wait(d, r->value, UINT64_MAX, "the device's probe", diag);
    }
    return code == VYRE_OK ? vy_block_invalidate(d, &r->memory, 0, r->memory.size, diag) : code;
}

static void clean_up(run_state *r)
{
    vyre_device *d = r->device;
    vy_queue_drain(d, r->value);
    vy_commands_destroy(d, &r->commands);
    if (r->pool) {
        d->vk.vkDestroyDescriptorPool(d->device, r->pool, NULL);
    }
    vy_block_destroy(d, &r->memory);
    if (r->pipeline) {
        d->vk.vkDestroyPipeline(d->device, r->pipeline, NULL);
    }
    vy_layout_destroy(d, &r->layout);
}

vyre_result vy_trial_run(vyre_device *device, const vy_trial *trial, uint32_t *words,
                         uint32_t word_count, vyre_diag *diag)
{
    run_state r = {.device = device, .trial = trial, .word_count = word_count};
    vyre_result code = make_pipeline(&r, diag);
    if (code == VYRE_OK) {
        code = make_memory(&r, words, diag);
    }
    if (code == VYRE_OK) {
        code = make_set(&r, diag);
    }
    if (code == VYRE_OK) {
        code = vy_commands_create(device, trial->label, &r.commands, diag);
    }
    if (code == VYRE_OK) {
        code = submit(&r, diag);
    }
    if (code == VYRE_OK) {
        memcpy(words, r.memory.mapped, word_count * sizeof *words);
    }
    clean_up(&r);
    return code;
}
