/* The peer's command buffers, and the chains of steps and the copies that are recorded in them. */
#include "tools/vyre-bench/peers/parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Command buffers ------------------------------------------------------------------------- */

vyre_result peer_commands_create(peer *p, bool timed, peer_commands *out, vyre_diag *diag)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = p->pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                     .queryCount = 2};
    *out = (peer_commands){0};
    vyre_result result = PEER_CALL(p, vkAllocateCommandBuffers, p->device, &info, &out->commands);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateFence, p->device, &fence, NULL, &out->fence);
    }
    if (result == VYRE_OK && timed && p->timestamp_ns > 0) {
        result = PEER_CALL(p, vkCreateQueryPool, p->device, &queries, NULL, &out->queries);
    }
    return result;
}

void peer_commands_destroy(peer *p, peer_commands *c)
{
    vyre_diag diag;
    if (c->is_pending) {
        (void)peer_check(p->vk.vkDeviceWaitIdle(p->device), "vkDeviceWaitIdle", &diag);
    }
    p->vk.vkDestroyQueryPool(p->device, c->queries, NULL);
    p->vk.vkDestroyFence(p->device, c->fence, NULL);
    if (c->commands) {
        p->vk.vkFreeCommandBuffers(p->device, p->pool, 1, &c->commands);
    }
    *c = (peer_commands){0};
}

vyre_result peer_commands_begin(peer *p, peer_commands *c, vyre_diag *diag)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    vyre_result result = PEER_CALL(p, vkBeginCommandBuffer, c->commands, &info);
    if (result == VYRE_OK && c->queries) {
        p->vk.vkCmdResetQueryPool(c->commands, c->queries, 0, 2);
        p->vk.vkCmdWriteTimestamp(c->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, c->queries, 0);
    }
    return result;
}

vyre_result peer_commands_end(peer *p, peer_commands *c, vyre_diag *diag)
{
    if (c->queries) {
        p->vk.vkCmdWriteTimestamp(c->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, c->queries, 1);
    }
    return PEER_CALL(p, vkEndCommandBuffer, c->commands);
}

vyre_result peer_commands_submit(peer *p, peer_commands *c, peer_wait how, vyre_diag *diag)
{
    uint64_t value = p->value + 1;
    VkTimelineSemaphoreSubmitInfo timeline = {.sType =
                                                  VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .signalSemaphoreValueCount = 1,
                                              .pSignalSemaphoreValues = &value};
    bool polls = how == PEER_WAIT_POLL;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = polls ? &timeline : NULL,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &c->commands,
                         .signalSemaphoreCount = polls ? 1 : 0,
                         .pSignalSemaphores = &p->timeline};
    VkFence fence = polls ? VK_NULL_HANDLE : c->fence;
    vyre_result result = PEER_CALL(p, vkQueueSubmit, p->queue, 1, &info, fence);
    if (result == VYRE_OK) {
        p->value = polls ? value : p->value;
        c->how = how;
        c->is_pending = true;
    }
    return result;
}

vyre_result peer_commands_wait(peer *p, peer_commands *c, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    uint64_t value = 0;
    if (c->how == PEER_WAIT_FENCE) {
        result = PEER_CALL(p, vkWaitForFences, p->device, 1, &c->fence, VK_TRUE, UINT64_MAX);
    }
    while (result == VYRE_OK && c->how == PEER_WAIT_POLL && value < p->value) {
        result = PEER_CALL(p, vkGetSemaphoreCounterValue, p->device, p->timeline, &value);
    }
    if (result == VYRE_OK) {
        c->is_pending = false;
    }
    if (result == VYRE_OK && c->how == PEER_WAIT_FENCE) {
        result = PEER_CALL(p, vkResetFences, p->device, 1, &c->fence);
    }
    return result;
}

uint64_t peer_commands_device_ns(peer *p, peer_commands *c)
{
    uint64_t ticks[2];
    if (!c->queries ||
        p->vk.vkGetQueryPoolResults(p->device, c->queries, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                                    VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return UINT64_MAX;
    }
    return (uint64_t)((double)(ticks[1] - ticks[0]) * p->timestamp_ns);
}

void peer_barrier(peer *p, VkCommandBuffer commands, VkPipelineStageFlags from_stage,
                  VkAccessFlags from, VkPipelineStageFlags to_stage, VkAccessFlags to)
{
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = from, .dstAccessMask = to};
    p->vk.vkCmdPipelineBarrier(commands, from_stage, to_stage, 0, 1, &barrier, 0, NULL, 0, NULL);
}

/* ---- Chains ---------------------------------------------------------------------------------- */

struct peer_chain {
    peer *peer;
    uint32_t groups, steps, flags, count; /* count: elements */
    uint32_t set_count;
    peer_buffer x[PEER_SIDE], first;
    VkDescriptorPool pool;
    VkDescriptorSet sets[PEER_SIDE]; /* without PEER_BLOCK */
    peer_blocks blocks;              /* with it */
    peer_commands commands;
};

static vyre_result create_sets(peer_chain *chain, vyre_diag *diag)
{
    peer *p = chain->peer;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, PEER_SIDE};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = PEER_SIDE,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    vyre_result result = PEER_CALL(p, vkCreateDescriptorPool, p->device, &pool, NULL, &chain->pool);
    for (uint32_t i = 0; result == VYRE_OK && i < chain->set_count; i++) {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = chain->pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &p->set_layout};
        result = PEER_CALL(p, vkAllocateDescriptorSets, p->device, &info, &chain->sets[i]);
        VkDescriptorBufferInfo buffer = {chain->x[i].buffer, 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = chain->sets[i],
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffer};
        if (result == VYRE_OK) {
            p->vk.vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
        }
    }
    return result;
}

vyre_result peer_copy_now(peer *p, const peer_buffer *source, const peer_buffer *target,
                          uint64_t size, vyre_diag *diag)
{
    peer_commands commands;
    VkBufferCopy region = {0, 0, size};
    vyre_result result = peer_commands_create(p, false, &commands, diag);
    if (result == VYRE_OK) {
        result = peer_commands_begin(p, &commands, diag);
    }
    if (result == VYRE_OK) {
        p->vk.vkCmdCopyBuffer(commands.commands, source->buffer, target->buffer, 1, &region);
        peer_barrier(p, commands.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                     VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                     VK_ACCESS_HOST_READ_BIT);
        result = peer_commands_end(p, &commands, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_submit(p, &commands, PEER_WAIT_FENCE, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_wait(p, &commands, diag);
    }
    peer_commands_destroy(p, &commands);
    return result;
}

vyre_result peer_indices_upload(peer *p, const peer_buffer *buffer, uint32_t count, vyre_diag *diag)
{
    peer_buffer staging;
    uint64_t size = (uint64_t)count * sizeof(uint32_t);
    vyre_result result = peer_buffer_create(p, size, PEER_MEMORY_TO_DEVICE, &staging, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        ((uint32_t *)staging.mapped)[i] = i;
    }
    result = peer_copy_now(p, &staging, buffer, size, diag);
    peer_buffer_destroy(p, &staging);
    return result;
}

vyre_result peer_buffer_read(peer *p, const peer_buffer *buffer, void *out_data, vyre_diag *diag)
{
    peer_buffer staging;
    vyre_result result = peer_buffer_create(p, buffer->size, PEER_MEMORY_TO_HOST, &staging, diag);
    if (result == VYRE_OK) {
        result = peer_copy_now(p, buffer, &staging, buffer->size, diag);
    }
    if (result == VYRE_OK) {
        memcpy(out_data, staging.mapped, (size_t)buffer->size);
    }
    peer_buffer_destroy(p, &staging);
    return result;
}

static vyre_result make_chain(peer_chain *chain, vyre_diag *diag)
{
    peer *p = chain->peer;
    uint64_t size = (uint64_t)chain->count * sizeof(uint32_t);
    bool has_block = (chain->flags & PEER_BLOCK) != 0;
    peer_memory where = has_block ? PEER_MEMORY_ADDRESSED : PEER_MEMORY_DEVICE;
    vyre_result result = peer_buffer_create(p, 16, PEER_MEMORY_TO_HOST, &chain->first, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < chain->set_count; i++) {
        result = peer_buffer_create(p, size, where, &chain->x[i], diag);
    }
    if (result == VYRE_OK) {
        result = has_block ? peer_blocks_create(p, chain->x, PEER_SETS, chain->count,
                                                &chain->blocks, diag)
                           : create_sets(chain, diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < chain->set_count; i++) {
        result = peer_indices_upload(p, &chain->x[i], chain->count, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_create(p, (chain->flags & PEER_TIMED) != 0, &chain->commands, diag);
    }
    return result == VYRE_OK ? peer_chain_record(chain, 0, diag) : result;
}

vyre_result peer_chain_create(peer *p, uint32_t groups, uint32_t steps, uint32_t flags,
                              peer_chain **out_chain, vyre_diag *diag)
{
    peer_chain *chain = calloc(1, sizeof *chain);
    *out_chain = NULL;
    if (!chain) {
        return vy_diag_no_memory(diag);
    }
    chain->peer = p;
    chain->groups = groups;
    chain->steps = steps;
    chain->flags = flags;
    chain->count = groups * 256;
    chain->set_count = flags & PEER_SIDE_BY_SIDE ? PEER_SIDE : PEER_SETS;
    vyre_result result = make_chain(chain, diag);
    if (result != VYRE_OK) {
        peer_chain_destroy(&chain);
    }
    *out_chain = chain;
    return result;
}

void peer_chain_destroy(peer_chain **chain)
{
    peer_chain *old = *chain;
    if (old) {
        peer *p = old->peer;
        peer_commands_destroy(p, &old->commands);
        p->vk.vkDestroyDescriptorPool(p->device, old->pool, NULL);
        peer_blocks_destroy(p, &old->blocks);
        for (uint32_t i = 0; i < PEER_SIDE; i++) {
            peer_buffer_destroy(p, &old->x[i]);
        }
        peer_buffer_destroy(p, &old->first);
    }
    free(old);
    *chain = NULL;
}

vyre_result peer_chain_record(peer_chain *chain, uint32_t set, vyre_diag *diag)
{
    peer *p = chain->peer;
    VkCommandBuffer commands = chain->commands.commands;
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    vyre_result result = peer_commands_begin(p, &chain->commands, diag);
    if (result != VYRE_OK) {
        return result;
    }
    if (chain->flags & PEER_BLOCK) {
        peer_block_use(p, PEER_BLOCK_STEP, commands);
        peer_blocks_bind(p, &chain->blocks, set, commands);
    } else {
        p->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->step);
        p->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1,
                                      &chain->sets[set], 0, NULL);
        p->vk.vkCmdPushConstants(commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 sizeof chain->count, &chain->count);
    }
    for (uint32_t i = 0; i < chain->steps; i++) {
        p->vk.vkCmdDispatch(commands, chain->groups, 1, 1);
        for (uint32_t k = 1; k <= PEER_SIDE && chain->flags & PEER_SIDE_BY_SIDE; k++) {
            p->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1,
                                          &chain->sets[k % PEER_SIDE], 0, NULL);
            if (k < PEER_SIDE) {
                p->vk.vkCmdDispatch(commands, chain->groups, 1, 1);
            }
        }
        if (chain->flags & PEER_BARRIERS) {
            peer_barrier(p, commands, compute, VK_ACCESS_SHADER_WRITE_BIT, compute,
                         VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        }
    }
    if (chain->flags & PEER_READ_BACK) {
        VkBufferCopy region = {0, 0, 16};
        peer_barrier(p, commands, compute, VK_ACCESS_SHADER_WRITE_BIT,
                     VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        p->vk.vkCmdCopyBuffer(commands, chain->x[set].buffer, chain->first.buffer, 1, &region);
        peer_barrier(p, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                     VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    }
    return peer_commands_end(p, &chain->commands, diag);
}

vyre_result peer_chain_submit(peer_chain *chain, peer_wait how, vyre_diag *diag)
{
    return peer_commands_submit(chain->peer, &chain->commands, how, diag);
}

vyre_result peer_chain_wait(peer_chain *chain, vyre_diag *diag)
{
    return peer_commands_wait(chain->peer, &chain->commands, diag);
}

uint64_t peer_chain_device_ns(peer_chain *chain)
{
    return peer_commands_device_ns(chain->peer, &chain->commands);
}

const uint32_t *peer_chain_first(const peer_chain *chain)
{
    return chain->first.mapped;
}

vyre_result peer_chain_read(peer_chain *chain, uint32_t set, uint32_t *out_x, vyre_diag *diag)
{
    return peer_buffer_read(chain->peer, &chain->x[set], out_x, diag);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

struct peer_copies {
    peer *peer;
    peer_direction direction;
    uint32_t count;
    uint64_t size, stride; /* of a range; between two on the device */
    peer_buffer device, other;
    peer_commands commands;
};

static vyre_result record_copies(peer_copies *c, vyre_diag *diag)
{
    peer *p = c->peer;
    VkBuffer source = c->direction == PEER_UPLOAD ? c->other.buffer : c->device.buffer;
    VkBuffer target = c->direction == PEER_UPLOAD ? c->device.buffer : c->other.buffer;
    vyre_result result = peer_commands_begin(p, &c->commands, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t packed = i * c->size, spread = i * c->stride;
        VkBufferCopy region = {c->direction == PEER_UPLOAD ? packed : spread,
                               c->direction == PEER_UPLOAD ? spread : packed, c->size};
        p->vk.vkCmdCopyBuffer(c->commands.commands, source, target, 1, &region);
    }
    peer_barrier(
        p, c->commands.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
        VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_HOST_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    return peer_commands_end(p, &c->commands, diag);
}

vyre_result peer_copies_create(peer *p, peer_direction direction, uint32_t count, uint64_t size,
                               peer_copies **out_copies, vyre_diag *diag)
{
    static const peer_memory other[] = {PEER_MEMORY_TO_DEVICE, PEER_MEMORY_TO_HOST,
                                        PEER_MEMORY_DEVICE};
    peer_copies *c = calloc(1, sizeof *c);
    *out_copies = NULL;
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    c->peer = p;
    c->direction = direction;
    c->count = count;
    c->size = size;
    c->stride = count == 1 ? size : (size + 255) / 256 * 256;
    vyre_result result =
        peer_buffer_create(p, c->stride * count, PEER_MEMORY_DEVICE, &c->device, diag);
    if (result == VYRE_OK) {
        result = peer_buffer_create(p, size * count, other[direction], &c->other, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_create(p, direction == PEER_DEVICE, &c->commands, diag);
    }
    if (result == VYRE_OK) {
        result = record_copies(c, diag);
    }
    if (result != VYRE_OK) {
        peer_copies_destroy(&c);
    }
    *out_copies = c;
    return result;
}

void peer_copies_destroy(peer_copies **copies)
{
    peer_copies *old = *copies;
    if (old) {
        peer_commands_destroy(old->peer, &old->commands);
        peer_buffer_destroy(old->peer, &old->device);
        peer_buffer_destroy(old->peer, &old->other);
    }
    free(old);
    *copies = NULL;
}

vyre_result peer_copies_fill(peer_copies *copies, const void *data, vyre_diag *diag)
{
    peer *p = copies->peer;
    peer_buffer staging;
    vyre_result result =
        peer_buffer_create(p, copies->device.size, PEER_MEMORY_TO_DEVICE, &staging, diag);
    if (result != VYRE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < copies->count; i++) {
        memcpy((unsigned char *)staging.mapped + i * copies->stride,
               (const unsigned char *)data + i * copies->size, (size_t)copies->size);
    }
    result = peer_copy_now(p, &staging, &copies->device, copies->device.size, diag);
    peer_buffer_destroy(p, &staging);
    return result;
}

static vyre_result fetch(peer_copies *copies, const peer_buffer *from, uint64_t stride,
                         void *out_data, vyre_diag *diag)
{
    peer *p = copies->peer;
    peer_buffer staging;
    vyre_result result = peer_buffer_create(p, from->size, PEER_MEMORY_TO_HOST, &staging, diag);
    if (result == VYRE_OK) {
        result = peer_copy_now(p, from, &staging, from->size, diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < copies->count; i++) {
        memcpy((unsigned char *)out_data + i * copies->size,
               (const unsigned char *)staging.mapped + i * stride, (size_t)copies->size);
    }
    peer_buffer_destroy(p, &staging);
    return result;
}

vyre_result peer_copies_fetch(peer_copies *copies, void *out_data, vyre_diag *diag)
{
    return fetch(copies, &copies->device, copies->stride, out_data, diag);
}

vyre_result peer_copies_fetch_target(peer_copies *copies, void *out_data, vyre_diag *diag)
{
    return fetch(copies, &copies->other, copies->size, out_data, diag);
}

vyre_result peer_copies_run(peer_copies *copies, void *data, vyre_diag *diag)
{
    size_t size = (size_t)(copies->size * copies->count);
    if (data && copies->direction == PEER_UPLOAD) {
        memcpy(copies->other.mapped, data, size);
    }
    vyre_result result =
        peer_commands_submit(copies->peer, &copies->commands, PEER_WAIT_POLL, diag);
    if (result == VYRE_OK) {
        result = peer_commands_wait(copies->peer, &copies->commands, diag);
    }
    if (result == VYRE_OK && data && copies->direction == PEER_DOWNLOAD) {
        memcpy(data, copies->other.mapped, size);
    }
    return result;
}

uint64_t peer_copies_device_ns(peer_copies *copies)
{
    return peer_commands_device_ns(copies->peer, &copies->commands);
}
