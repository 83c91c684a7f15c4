/* Work items by the peer: a dispatch for each, recorded once or anew, or a queue that one dispatch
 * drains. */
#include "tools/vyre-bench/peers/parts.h"

#include <stdlib.h>
#include <string.h>

#ifdef VYRE_BENCH_HAVE_SHADERS
#include "bench_items_spv.h" /* bench_items_spv, by glslangValidator from items.comp */
#endif

enum { QUEUE_GROUP = 256, PUSH_WORDS = 3 };

struct peer_items {
    peer *peer;
    peer_items_way way;
    uint32_t count;
    const bench_item *items; /* the caller's */
    uint32_t *order;         /* their numbers by opcode; first[k]: where those of an opcode begin */
    uint32_t first[BENCH_OPCODES + 1];
    peer_buffer data, queue, staging, results;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    peer_commands commands;
};

/* ---- Pipelines ------------------------------------------------------------------------------- */

#ifdef VYRE_BENCH_HAVE_SHADERS
static vyre_result create_layouts(peer *p, vyre_diag *diag)
{
    VkDescriptorSetLayoutBinding bindings[2] = {{0}};
    for (uint32_t i = 0; i < 2; i++) {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 2,
                                           .pBindings = bindings};
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                .size = PUSH_WORDS * sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &p->items.set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    vyre_result result =
        PEER_CALL(p, vkCreateDescriptorSetLayout, p->device, &set, NULL, &p->items.set_layout);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreatePipelineLayout, p->device, &layout, NULL, &p->items.layout);
    }
    return result;
}

static vyre_result create_pipeline(peer *p, VkShaderModule words, uint32_t k, vyre_diag *diag)
{
    static const VkSpecializationMapEntry entries[2] = {{0, 0, 4}, {1, 4, 4}};
    uint32_t values[2] = {k ? BENCH_FIRST_OPCODE + k - 1 : 0, k ? 1 : QUEUE_GROUP};
    VkSpecializationInfo constants = {2, entries, sizeof values, values};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = words,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = p->items.layout};
    return PEER_CALL(p, vkCreateComputePipelines, p->device, VK_NULL_HANDLE, 1, &info, NULL,
                     &p->items.all[k]);
}

static vyre_result create_pipelines(peer *p, vyre_diag *diag)
{
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof bench_items_spv,
                                       .pCode = bench_items_spv};
    VkShaderModule words = VK_NULL_HANDLE;
    vyre_result result = create_layouts(p, diag);
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkCreateShaderModule, p->device, &module, NULL, &words);
    }
    for (uint32_t k = 0; result == VYRE_OK && k <= BENCH_OPCODES; k++) {
        result = create_pipeline(p, words, k, diag);
    }
    p->vk.vkDestroyShaderModule(p->device, words, NULL);
    if (result != VYRE_OK) {
        peer_items_destroy_pipelines(p);
    }
    return result;
}
#else
static vyre_result create_pipelines(peer *p, vyre_diag *diag)
{
    (void)p;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the tool was built without the peer's shader. Fix: install "
                       "glslangValidator and build again");
}
#endif

void peer_items_destroy_pipelines(peer *p)
{
    for (uint32_t k = 0; k <= BENCH_OPCODES; k++) {
        p->vk.vkDestroyPipeline(p->device, p->items.all[k], NULL);
    }
    p->vk.vkDestroyPipelineLayout(p->device, p->items.layout, NULL);
    p->vk.vkDestroyDescriptorSetLayout(p->device, p->items.set_layout, NULL);
    p->items = (item_pipelines){VK_NULL_HANDLE};
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static vyre_result create_set(peer_items *it, vyre_diag *diag)
{
    peer *p = it->peer;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorBufferInfo buffers[2] = {{it->data.buffer, 0, VK_WHOLE_SIZE},
                                         {it->queue.buffer, 0, VK_WHOLE_SIZE}};
    vyre_result result = PEER_CALL(p, vkCreateDescriptorPool, p->device, &pool, NULL, &it->pool);
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = it->pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &p->items.set_layout};
    if (result == VYRE_OK) {
        result = PEER_CALL(p, vkAllocateDescriptorSets, p->device, &info, &it->set);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < 2; i++) {
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = it->set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffers[i]};
        p->vk.vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
    }
    return result;
}

static uint64_t data_size(const peer_items *it)
{
    return ((uint64_t)BENCH_SOURCES + it->count) * sizeof(uint32_t);
}

static vyre_result create_buffers(peer_items *it, vyre_diag *diag)
{
    peer *p = it->peer;
    uint64_t size = it->way == PEER_ITEMS_QUEUE ? it->count * sizeof(bench_item) : 16;
    vyre_result result = peer_buffer_create(p, data_size(it), PEER_MEMORY_DEVICE, &it->data, diag);
    if (result == VYRE_OK) {
        result = peer_buffer_create(p, size, PEER_MEMORY_DEVICE, &it->queue, diag);
    }
    if (result == VYRE_OK) {
        result = peer_buffer_create(p, size, PEER_MEMORY_TO_DEVICE, &it->staging, diag);
    }
    if (result == VYRE_OK) {
        result = peer_buffer_create(p, data_size(it), PEER_MEMORY_TO_HOST, &it->results, diag);
    }
    return result == VYRE_OK ? create_set(it, diag) : result;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static void sort_by_opcode(peer_items *it)
{
    uint32_t at[BENCH_OPCODES];
    memset(it->first, 0, sizeof it->first);
    for (uint32_t i = 0; i < it->count; i++) {
        it->first[it->items[i].opcode - BENCH_FIRST_OPCODE + 1]++;
    }
    for (uint32_t k = 0; k < BENCH_OPCODES; k++) {
        it->first[k + 1] += it->first[k];
        at[k] = it->first[k];
    }
    for (uint32_t i = 0; i < it->count; i++) {
        it->order[at[it->items[i].opcode - BENCH_FIRST_OPCODE]++] = i;
    }
}

static void record_dispatches(peer_items *it)
{
    peer *p = it->peer;
    VkCommandBuffer commands = it->commands.commands;
    sort_by_opcode(it);
    for (uint32_t k = 0; k < BENCH_OPCODES; k++) {
        if (it->first[k] == it->first[k + 1]) {
            continue;
        }
        p->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->items.all[k + 1]);
        for (uint32_t i = it->first[k]; i < it->first[k + 1]; i++) {
            const bench_item *item = &it->items[it->order[i]];
            p->vk.vkCmdPushConstants(commands, p->items.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     PUSH_WORDS * sizeof(uint32_t), &item->input);
            p->vk.vkCmdDispatch(commands, 1, 1, 1);
        }
    }
}

static void record_queue(peer_items *it)
{
    peer *p = it->peer;
    VkCommandBuffer commands = it->commands.commands;
    VkBufferCopy region = {0, 0, it->count * sizeof(bench_item)};
    uint32_t push[PUSH_WORDS] = {it->count};
    p->vk.vkCmdCopyBuffer(commands, it->staging.buffer, it->queue.buffer, 1, &region);
    peer_barrier(p, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                 VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
    p->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->items.all[0]);
    p->vk.vkCmdPushConstants(commands, p->items.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                             push);
    p->vk.vkCmdDispatch(commands, (it->count + QUEUE_GROUP - 1) / QUEUE_GROUP, 1, 1);
}

static vyre_result record(peer_items *it, vyre_diag *diag)
{
    peer *p = it->peer;
    vyre_result result = peer_commands_begin(p, &it->commands, diag);
    if (result != VYRE_OK) {
        return result;
    }
    p->vk.vkCmdBindDescriptorSets(it->commands.commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                  p->items.layout, 0, 1, &it->set, 0, NULL);
    if (it->way == PEER_ITEMS_QUEUE) {
        record_queue(it);
    } else {
        record_dispatches(it);
    }
    return peer_commands_end(p, &it->commands, diag);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static vyre_result make(peer_items *it, vyre_diag *diag)
{
    peer *p = it->peer;
    vyre_result result = p->items.all[BENCH_OPCODES] ? VYRE_OK : create_pipelines(p, diag);
    if (result == VYRE_OK) {
        result = create_buffers(it, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_create(p, false, &it->commands, diag);
    }
    if (result == VYRE_OK && it->way != PEER_ITEMS_ANEW) {
        result = record(it, diag);
    }
    return result == VYRE_OK ? peer_items_clear(it, diag) : result;
}

vyre_result peer_items_create(peer *p, peer_items_way way, const bench_item *items, uint32_t count,
                              peer_items **out_items, vyre_diag *diag)
{
    peer_items *it = calloc(1, sizeof *it);
    *out_items = NULL;
    if (it) {
        it->peer = p;
        it->way = way;
        it->items = items;
        it->count = count;
        it->order = malloc((size_t)count * sizeof *it->order);
    }
    vyre_result result = it && it->order ? make(it, diag) : vy_diag_no_memory(diag);
    if (result != VYRE_OK) {
        peer_items_destroy(&it);
    }
    *out_items = it;
    return result;
}

void peer_items_destroy(peer_items **items)
{
    peer_items *old = *items;
    if (old) {
        peer *p = old->peer;
        peer_commands_destroy(p, &old->commands);
        p->vk.vkDestroyDescriptorPool(p->device, old->pool, NULL);
        peer_buffer_destroy(p, &old->data);
        peer_buffer_destroy(p, &old->queue);
        peer_buffer_destroy(p, &old->staging);
        peer_buffer_destroy(p, &old->results);
        free(old->order);
    }
    free(old);
    *items = NULL;
}

vyre_result peer_items_run(peer_items *items, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    if (items->way == PEER_ITEMS_QUEUE) {
        memcpy(items->staging.mapped, items->items, items->count * sizeof(bench_item));
    } else if (items->way == PEER_ITEMS_ANEW) {
        result = record(items, diag);
    }
    if (result == VYRE_OK) {
        result = peer_commands_submit(items->peer, &items->commands, PEER_WAIT_POLL, diag);
    }
    return result == VYRE_OK ? peer_commands_wait(items->peer, &items->commands, diag) : result;
}

vyre_result peer_items_clear(peer_items *items, vyre_diag *diag)
{
    uint32_t *words = items->results.mapped;
    for (uint32_t k = 0; k < BENCH_SOURCES; k++) {
        words[k] = bench_item_source(k);
    }
    memset(words + BENCH_SOURCES, 0, items->count * sizeof *words);
    return peer_copy_now(items->peer, &items->results, &items->data, data_size(items), diag);
}

vyre_result peer_items_read(peer_items *items, uint32_t *out_words, vyre_diag *diag)
{
    vyre_result result =
        peer_copy_now(items->peer, &items->data, &items->results, data_size(items), diag);
    if (result == VYRE_OK) {
        memcpy(out_words, (const uint32_t *)items->results.mapped + BENCH_SOURCES,
               items->count * sizeof *out_words);
    }
    return result;
}
