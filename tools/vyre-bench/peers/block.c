/* Shaders with a uniform block with a dynamic offset, which has their parameters and their data's
 * addresses: what costs least of all that is known to be written by hand. */
#include "tools/vyre-bench/peers/parts.h"

#include <string.h>

#ifdef VYRE_BENCH_HAVE_SHADERS
#include "bench_block_spv.h" /* bench_block_spv, by glslangValidator from block.comp */
#include "bench_gated_spv.h"
#endif

enum { BLOCK_STRIDE = 256 }; /* no device asks for more between them */

#ifdef VYRE_BENCH_HAVE_SHADERS
static vyre_result create_layouts(peer *p, vyre_diag *diag)
{
    VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &p->block.set_layout};
    vyre_result result =
        PEER_CALL(p, vkCreateDescriptorSetLayout, p->device, &set, NULL, &p->block.set_layout);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreatePipelineLayout, p->device, &layout, NULL, &p->block.layout);
    }
    return result;
}

static vyre_result create_pipeline(peer *p, peer_block_shader shader, vyre_diag *diag)
{
    static const struct {
        const uint32_t *words;
        size_t size;
    } rows[PEER_BLOCK_SHADERS] = {
        [PEER_BLOCK_STEP] = {bench_block_spv, sizeof bench_block_spv},
        [PEER_BLOCK_GATED] = {bench_gated_spv, sizeof bench_gated_spv},
    };
    if (p->block.all[shader]) {
        return VYRE_OK;
    }
    if (!p->chain.vulkan12.bufferDeviceAddress) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the device does not have bufferDeviceAddress, which the step by a "
                           "uniform block needs. Fix: name another device");
    }
    vyre_result result = p->block.layout ? VYRE_OK : create_layouts(p, diag);
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = rows[shader].size,
                                       .pCode = rows[shader].words};
    VkShaderModule words = VK_NULL_HANDLE;
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateShaderModule, p->device, &module, NULL, &words);
    }
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = words,
                  .pName = "main"},
        .layout = p->block.layout};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateComputePipelines, p->device, VK_NULL_HANDLE, 1, &pipeline,
                           NULL, &p->block.all[shader]);
    }
    p->vk.vkDestroyShaderModule(p->device, words, NULL);
    return result;
}
#else
static vyre_result create_pipeline(peer *p, peer_block_shader shader, vyre_diag *diag)
{
    (void)p;
    (void)shader;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the tool was built without the peer's shader. Fix: install "
                       "glslangValidator and build again");
}
#endif

void peer_block_destroy_pipelines(peer *p)
{
    for (uint32_t i = 0; i < PEER_BLOCK_SHADERS; i++) {
        p->vk.vkDestroyPipeline(p->device, p->block.all[i], NULL);
    }
    p->vk.vkDestroyPipelineLayout(p->device, p->block.layout, NULL);
    p->vk.vkDestroyDescriptorSetLayout(p->device, p->block.set_layout, NULL);
}

/* On the device, as the data is. */
static vyre_result upload(peer *p, const void *contents, uint32_t block_count, peer_blocks *out,
                          vyre_diag *diag)
{
    uint64_t size = (uint64_t)block_count * BLOCK_STRIDE;
    peer_buffer staging;
    vyre_result result = peer_buffer_create(p, size, PEER_MEMORY_TO_DEVICE, &staging, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < block_count; i++) {
        memcpy((unsigned char *)staging.mapped + (size_t)i * BLOCK_STRIDE,
               (const unsigned char *)contents + (size_t)i * PEER_BLOCK_SIZE, PEER_BLOCK_SIZE);
    }
    result = peer_buffer_create(p, size, PEER_MEMORY_ADDRESSED, &out->memory, diag);
    if (result == VYRE_OK) {
        result = peer_copy_now(p, &staging, &out->memory, size, diag);
    }
    peer_buffer_destroy(p, &staging);
    return result;
}

static vyre_result create_set(peer *p, peer_blocks *out, vyre_diag *diag)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    vyre_result result = PEER_CALL(p, vkCreateDescriptorPool, p->device, &pool, NULL, &out->pool);
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = out->pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &p->block.set_layout};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkAllocateDescriptorSets, p->device, &info, &out->set);
    }
    VkDescriptorBufferInfo buffer = {out->memory.buffer, 0, PEER_BLOCK_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = out->set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                  .pBufferInfo = &buffer};
    if (result == VYRE_OK) {
        p->vk.vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
    }
    return result;
}

vyre_result peer_blocks_fill(peer *p, peer_block_shader shader, const void *contents,
                             uint32_t block_count, peer_blocks *out, vyre_diag *diag)
{
    vyre_result result = create_pipeline(p, shader, diag);
    if (result == VYRE_OK) {
        result = upload(p, contents, block_count, out, diag);
    }
    return result == VYRE_OK ? create_set(p, out, diag) : result;
}

vyre_result peer_blocks_create(peer *p, const peer_buffer *x, uint32_t buffer_count, uint32_t count,
                               peer_blocks *out, vyre_diag *diag)
{
    unsigned char blocks[PEER_SIDE * PEER_BLOCK_SIZE] = {0};
    for (uint32_t i = 0; i < buffer_count && p->chain.vulkan12.bufferDeviceAddress; i++) {
        uint64_t address = peer_buffer_address(p, &x[i]);
        memcpy(blocks + (size_t)i * PEER_BLOCK_SIZE, &address, sizeof address);
        memcpy(blocks + (size_t)i * PEER_BLOCK_SIZE + sizeof address, &count, sizeof count);
    }
    return peer_blocks_fill(p, PEER_BLOCK_STEP, blocks, buffer_count, out, diag);
}

void peer_blocks_destroy(peer *p, peer_blocks *blocks)
{
    p->vk.vkDestroyDescriptorPool(p->device, blocks->pool, NULL);
    peer_buffer_destroy(p, &blocks->memory);
}

void peer_block_use(peer *p, peer_block_shader shader, VkCommandBuffer commands)
{
    p->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->block.all[shader]);
}

void peer_blocks_bind(peer *p, const peer_blocks *blocks, uint32_t which, VkCommandBuffer commands)
{
    uint32_t offset = which * BLOCK_STRIDE;
    p->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->block.layout, 0, 1,
                                  &blocks->set, 1, &offset);
}
