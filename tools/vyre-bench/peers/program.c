/* Any of the peer's shaders over a set of buffers: what the groups kernels and fixpoint run. */
#include "tools/vyre-bench/peers/parts.h"

#include <stdlib.h>
#include <string.h>

#ifdef VYRE_BENCH_HAVE_SHADERS
/* By glslangValidator, the twins from shaders/glsl. */
#include "bench_append_spv.h"
#include "bench_bfs_spv.h"
#include "bench_compact_spv.h"
#include "bench_histogram_spv.h"
#include "bench_loop_spv.h"
#include "bench_matmul_spv.h"
#include "bench_products_spv.h"
#include "bench_radix_spv.h"
#include "bench_scan_spv.h"
#include "bench_spmv_spv.h"
#include "bench_stay_spv.h"
#include "bench_stream_spv.h"
#include "bench_sum_spv.h"
#endif

enum { MAX_KINDS = 8, MAX_GROUPS_X = 65535, PUSH_SIZE = 5 * sizeof(uint32_t) };

struct peer_program {
    peer *peer;
    uint32_t buffer_count;
    peer_buffer buffers[PEER_MAX_BUFFERS];
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipeline pipelines[PEER_SHADERS][MAX_KINDS];
    peer_commands commands, resets;
    bool has_resets;
};

#ifdef VYRE_BENCH_HAVE_SHADERS
static const struct {
    const uint32_t *words;
    size_t size;
} shaders[PEER_SHADERS] = {
    [PEER_SHADER_STREAM] = {bench_stream_spv, sizeof bench_stream_spv},
    [PEER_SHADER_SUM] = {bench_sum_spv, sizeof bench_sum_spv},
    [PEER_SHADER_SPMV] = {bench_spmv_spv, sizeof bench_spmv_spv},
    [PEER_SHADER_HISTOGRAM] = {bench_histogram_spv, sizeof bench_histogram_spv},
    [PEER_SHADER_SCAN] = {bench_scan_spv, sizeof bench_scan_spv},
    [PEER_SHADER_COMPACT] = {bench_compact_spv, sizeof bench_compact_spv},
    [PEER_SHADER_APPEND] = {bench_append_spv, sizeof bench_append_spv},
    [PEER_SHADER_PRODUCTS] = {bench_products_spv, sizeof bench_products_spv},
    [PEER_SHADER_MATMUL] = {bench_matmul_spv, sizeof bench_matmul_spv},
    [PEER_SHADER_RADIX] = {bench_radix_spv, sizeof bench_radix_spv},
    [PEER_SHADER_BFS] = {bench_bfs_spv, sizeof bench_bfs_spv},
    [PEER_SHADER_LOOP] = {bench_loop_spv, sizeof bench_loop_spv},
    [PEER_SHADER_STAY] = {bench_stay_spv, sizeof bench_stay_spv},
};

/* ---- Pipelines ------------------------------------------------------------------------------- */

static vyre_result create_pipeline(peer_program *g, const peer_step *step, vyre_diag *diag)
{
    peer *p = g->peer;
    static const VkSpecializationMapEntry entry = {0, 0, 4};
    VkSpecializationInfo constants = {1, &entry, sizeof step->kind, &step->kind};
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = shaders[step->shader].size,
                                       .pCode = shaders[step->shader].words};
    VkShaderModule words = VK_NULL_HANDLE;
    vyre_result result = PEER_CALL(p, vkCreateShaderModule, p->device, &module, NULL, &words);
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = words,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = g->layout};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateComputePipelines, p->device, VK_NULL_HANDLE, 1, &info, NULL,
                           &g->pipelines[step->shader][step->kind % MAX_KINDS]);
    }
    p->vk.vkDestroyShaderModule(p->device, words, NULL);
    return result;
}
#else
static vyre_result create_pipeline(peer_program *g, const peer_step *step, vyre_diag *diag)
{
    (void)g;
    (void)step;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the tool was built without the peer's shaders. Fix: install "
                       "glslangValidator and build again");
}
#endif

static vyre_result create_layouts(peer_program *g, vyre_diag *diag)
{
    peer *p = g->peer;
    VkDescriptorSetLayoutBinding bindings[PEER_MAX_BUFFERS];
    for (uint32_t i = 0; i < PEER_MAX_BUFFERS; i++) {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = PEER_MAX_BUFFERS,
                                           .pBindings = bindings};
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = PUSH_SIZE};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &g->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    vyre_result result =
        PEER_CALL(p, vkCreateDescriptorSetLayout, p->device, &set, NULL, &g->set_layout);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreatePipelineLayout, p->device, &layout, NULL, &g->layout);
    }
    return result;
}

/* Bindings that no buffer is for have the first one, and no shader looks at them. */
static vyre_result create_set(peer_program *g, vyre_diag *diag)
{
    peer *p = g->peer;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, PEER_MAX_BUFFERS};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    vyre_result result = PEER_CALL(p, vkCreateDescriptorPool, p->device, &pool, NULL, &g->pool);
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = g->pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &g->set_layout};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkAllocateDescriptorSets, p->device, &info, &g->set);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < PEER_MAX_BUFFERS; i++) {
        VkDescriptorBufferInfo buffer = {g->buffers[i < g->buffer_count ? i : 0].buffer, 0,
                                         VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = g->set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffer};
        p->vk.vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
    }
    return result;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static void record_step(peer_program *g, const peer_step *step)
{
    peer *p = g->peer;
    VkCommandBuffer commands = g->commands.commands;
    uint32_t push[5] = {step->groups, step->count, step->phase, step->a, step->b};
    uint32_t rows = (step->groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X;
    uint32_t across = rows > 1 ? (step->groups + rows - 1) / rows : step->groups;
    p->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                            g->pipelines[step->shader][step->kind % MAX_KINDS]);
    p->vk.vkCmdPushConstants(commands, g->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                             push);
    p->vk.vkCmdDispatch(commands, across, rows, 1);
}

static vyre_result record(peer_program *g, const peer_step *steps, uint32_t count, vyre_diag *diag)
{
    peer *p = g->peer;
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        if (!g->pipelines[steps[i].shader][steps[i].kind % MAX_KINDS]) {
            result = create_pipeline(g, &steps[i], diag);
        }
    }
    if (result == VYRE_OK) {
        result = peer_commands_begin(p, &g->commands, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    p->vk.vkCmdBindDescriptorSets(g->commands.commands, VK_PIPELINE_BIND_POINT_COMPUTE, g->layout,
                                  0, 1, &g->set, 0, NULL);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            peer_barrier(p, g->commands.commands, compute, VK_ACCESS_SHADER_WRITE_BIT, compute,
                         VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        }
        record_step(g, &steps[i]);
    }
    return peer_commands_end(p, &g->commands, diag);
}

static vyre_result record_resets(peer_program *g, const peer_reset *resets, uint32_t count,
                                 vyre_diag *diag)
{
    peer *p = g->peer;
    vyre_result result = peer_commands_begin(p, &g->resets, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        const peer_buffer *target = &g->buffers[resets[i].buffer];
        if (resets[i].is_copy) {
            VkBufferCopy region = {0, 0, target->size};
            p->vk.vkCmdCopyBuffer(g->resets.commands, g->buffers[resets[i].from].buffer,
                                  target->buffer, 1, &region);
        } else {
            p->vk.vkCmdFillBuffer(g->resets.commands, target->buffer, 0, VK_WHOLE_SIZE, 0);
        }
    }
    peer_barrier(p, g->resets.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                 VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                 VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    g->has_resets = count > 0;
    return peer_commands_end(p, &g->resets, diag);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static vyre_result make(peer_program *g, const peer_program_params *params, vyre_diag *diag)
{
    peer *p = g->peer;
    vyre_result result = create_layouts(g, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < g->buffer_count; i++) {
        result = peer_buffer_create(p, params->sizes[i], PEER_MEMORY_DEVICE, &g->buffers[i], diag);
    }
    if (result == VYRE_OK) {
        result = create_set(g, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_create(p, true, &g->commands, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_create(p, false, &g->resets, diag);
    }
    if (result == VYRE_OK) {
        result = record_resets(g, params->resets, params->reset_count, diag);
    }
    return result == VYRE_OK ? record(g, params->steps, params->step_count, diag) : result;
}

vyre_result peer_program_create(peer *p, const peer_program_params *params,
                                peer_program **out_program, vyre_diag *diag)
{
    peer_program *g = calloc(1, sizeof *g);
    *out_program = NULL;
    if (!g) {
        return vy_diag_no_memory(diag);
    }
    g->peer = p;
    g->buffer_count = params->buffer_count;
    vyre_result result = make(g, params, diag);
    if (result != VYRE_OK) {
        peer_program_destroy(&g);
    }
    *out_program = g;
    return result;
}

void peer_program_destroy(peer_program **program)
{
    peer_program *old = *program;
    if (old) {
        peer *p = old->peer;
        peer_commands_destroy(p, &old->commands);
        peer_commands_destroy(p, &old->resets);
        for (uint32_t i = 0; i < PEER_SHADERS; i++) {
            for (uint32_t k = 0; k < MAX_KINDS; k++) {
                p->vk.vkDestroyPipeline(p->device, old->pipelines[i][k], NULL);
            }
        }
        p->vk.vkDestroyDescriptorPool(p->device, old->pool, NULL);
        p->vk.vkDestroyPipelineLayout(p->device, old->layout, NULL);
        p->vk.vkDestroyDescriptorSetLayout(p->device, old->set_layout, NULL);
        for (uint32_t i = 0; i < old->buffer_count; i++) {
            peer_buffer_destroy(p, &old->buffers[i]);
        }
    }
    free(old);
    *program = NULL;
}

/* ---- Contents -------------------------------------------------------------------------------- */

static vyre_result move(peer_program *g, uint32_t buffer, const void *data, void *out,
                        vyre_diag *diag)
{
    peer *p = g->peer;
    peer_buffer *device = &g->buffers[buffer];
    peer_buffer staging;
    vyre_result result = peer_buffer_create(
        p, device->size, data ? PEER_MEMORY_TO_DEVICE : PEER_MEMORY_TO_HOST, &staging, diag);
    if (result != VYRE_OK) {
        return result;
    }
    if (data) {
        memcpy(staging.mapped, data, (size_t)device->size);
    }
    result =
        peer_copy_now(p, data ? &staging : device, data ? device : &staging, device->size, diag);
    if (result == VYRE_OK && out) {
        memcpy(out, staging.mapped, (size_t)device->size);
    }
    peer_buffer_destroy(p, &staging);
    return result;
}

vyre_result peer_program_write(peer_program *program, uint32_t buffer, const void *data,
                               vyre_diag *diag)
{
    return move(program, buffer, data, NULL, diag);
}

vyre_result peer_program_read(peer_program *program, uint32_t buffer, void *out_data,
                              vyre_diag *diag)
{
    return move(program, buffer, NULL, out_data, diag);
}

static vyre_result submit(peer_program *g, peer_commands *commands, vyre_diag *diag)
{
    vyre_result result = peer_commands_submit(g->peer, commands, PEER_WAIT_POLL, diag);
    return result == VYRE_OK ? peer_commands_wait(g->peer, commands, diag) : result;
}

vyre_result peer_program_reset(peer_program *program, vyre_diag *diag)
{
    return program->has_resets ? submit(program, &program->resets, diag) : VYRE_OK;
}

vyre_result peer_program_run(peer_program *program, vyre_diag *diag)
{
    return submit(program, &program->commands, diag);
}

uint64_t peer_program_device_ns(peer_program *program)
{
    return peer_commands_device_ns(program->peer, &program->commands);
}
