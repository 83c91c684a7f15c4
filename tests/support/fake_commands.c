/* The fake's command buffers: what is recorded into them, and what it does. */
#include "tests/support/fake_objects.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Running --------------------------------------------------------------------------------- */

static unsigned char *bytes_of(VkBuffer buffer, uint64_t offset)
{
    return buffer->memory->data + buffer->offset + offset;
}

static void run_fill(const fake_command *c)
{
    uint64_t size = c->size == VK_WHOLE_SIZE ? (c->target->size - c->offset) / 4 * 4 : c->size;
    for (uint64_t i = 0; i < size; i += sizeof c->word) {
        memcpy(bytes_of(c->target, c->offset + i), &c->word, sizeof c->word);
    }
}

static void run_dispatch(const fake_command *c, const uint32_t groups[3])
{
    if (!fake.execute || !c->pipeline) {
        return;
    }
    fake_dispatch d = {.words = c->pipeline->words, .word_count = c->pipeline->word_count};
    memcpy(d.groups, groups, sizeof d.groups);
    memcpy(d.push, c->push, sizeof d.push);
    memcpy(d.spec, c->pipeline->spec, sizeof d.spec);
    memcpy(d.has_spec, c->pipeline->has_spec, sizeof d.has_spec);
    for (uint32_t b = 0; c->set && b < FAKE_MAX_BINDINGS; b++) {
        const VkDescriptorBufferInfo *info = &c->set->buffers[b];
        if (info->buffer) {
            uint64_t offset = info->offset + (c->set->is_dynamic[b] ? c->dynamic : 0);
            uint64_t rest = info->buffer->size - offset;
            uint64_t size = info->range == VK_WHOLE_SIZE ? rest : info->range;
            if (offset > info->buffer->size || size > rest) {
                fake_violation();
                continue;
            }
            d.bindings[b].words = (uint32_t *)(void *)bytes_of(info->buffer, offset);
            d.bindings[b].count = (uint32_t)(size / sizeof(uint32_t));
        }
    }
    fake.execute(&d);
}

void fake_command_run(const fake_command *c)
{
    uint32_t groups[3];
    struct timespec now;
    switch (c->kind) {
    case FAKE_FILL:
        run_fill(c);
        break;
    case FAKE_COPY:
        memmove(bytes_of(c->target, c->offset), bytes_of(c->source, c->source_offset),
                (size_t)c->size);
        break;
    case FAKE_UPDATE:
        memcpy(bytes_of(c->target, c->offset), c->data, (size_t)c->size);
        break;
    case FAKE_DISPATCH:
        run_dispatch(c, c->groups);
        break;
    case FAKE_INDIRECT:
        memcpy(groups, bytes_of(c->source, c->source_offset), sizeof groups);
        run_dispatch(c, groups);
        break;
    case FAKE_STAMP:
        clock_gettime(CLOCK_MONOTONIC, &now);
        c->queries->values[c->word] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        break;
    }
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* A command buffer and its pool are one thread's at a time. Before `fake_leave`. */
static fake_command *add(VkCommandBuffer b)
{
    static fake_command nowhere;
    fake_enter(&b->pool->object.users);
    if (atomic_load(&b->pending)) {
        fake_violation();
    }
    if (b->count == b->capacity) {
        uint32_t capacity = b->capacity ? 2 * b->capacity : 64;
        fake_command *grown = realloc(b->commands, capacity * sizeof *grown);
        if (!grown) {
            return &nowhere;
        }
        b->commands = grown;
        b->capacity = capacity;
    }
    fake_command *command = &b->commands[b->count++];
    *command = b->bound;
    return command;
}

void fake_commands_clear(VkCommandBuffer b)
{
    if (atomic_load(&b->pending)) {
        fake_violation();
    }
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->commands[i].kind == FAKE_UPDATE) {
            free(b->commands[i].data);
        }
    }
    while (b->pushed) {
        VkDescriptorSet set = b->pushed;
        b->pushed = set->next;
        free(set);
    }
    b->count = 0;
    b->bound = (fake_command){0};
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_BeginCommandBuffer(VkCommandBuffer b,
                                                              const VkCommandBufferBeginInfo *info)
{
    (void)info;
    fake_enter(&b->pool->object.users);
    fake_commands_clear(b);
    fake_leave(&b->pool->object.users);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_EndCommandBuffer(VkCommandBuffer b)
{
    (void)b;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdFillBuffer(VkCommandBuffer b, VkBuffer buffer,
                                                     VkDeviceSize offset, VkDeviceSize size,
                                                     uint32_t word)
{
    fake_command *c = add(b);
    c->kind = FAKE_FILL;
    c->target = buffer;
    c->offset = offset;
    c->size = size;
    c->word = word;
    fake_leave(&b->pool->object.users);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdCopyBuffer(VkCommandBuffer b, VkBuffer source,
                                                     VkBuffer target, uint32_t count,
                                                     const VkBufferCopy *regions)
{
    for (uint32_t i = 0; i < count; i++) {
        fake_command *c = add(b);
        c->kind = FAKE_COPY;
        c->source = source;
        c->target = target;
        c->source_offset = regions[i].srcOffset;
        c->offset = regions[i].dstOffset;
        c->size = regions[i].size;
        fake_leave(&b->pool->object.users);
    }
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdUpdateBuffer(VkCommandBuffer b, VkBuffer buffer,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       const void *data)
{
    fake_command *c = add(b);
    c->kind = FAKE_UPDATE;
    c->target = buffer;
    c->offset = offset;
    c->data = malloc((size_t)size);
    c->size = c->data ? size : 0;
    if (c->data) {
        memcpy(c->data, data, (size_t)size);
    }
    fake_leave(&b->pool->object.users);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdDispatch(VkCommandBuffer b, uint32_t x, uint32_t y,
                                                   uint32_t z)
{
    fake_command *c = add(b);
    c->kind = FAKE_DISPATCH;
    c->groups[0] = x;
    c->groups[1] = y;
    c->groups[2] = z;
    fake_leave(&b->pool->object.users);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdDispatchIndirect(VkCommandBuffer b, VkBuffer buffer,
                                                           VkDeviceSize offset)
{
    fake_command *c = add(b);
    c->kind = FAKE_INDIRECT;
    c->source = buffer;
    c->source_offset = offset;
    fake_leave(&b->pool->object.users);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdWriteTimestamp(VkCommandBuffer b,
                                                         VkPipelineStageFlagBits stage,
                                                         VkQueryPool pool, uint32_t query)
{
    (void)stage;
    fake_command *c = add(b);
    c->kind = FAKE_STAMP;
    c->queries = pool;
    c->word = query;
    fake_leave(&b->pool->object.users);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdBindPipeline(VkCommandBuffer b, VkPipelineBindPoint point,
                                                       VkPipeline pipeline)
{
    (void)point;
    b->bound.pipeline = pipeline;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdBindDescriptorSets(
    VkCommandBuffer b, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t first,
    uint32_t count, const VkDescriptorSet *sets, uint32_t dynamic_count, const uint32_t *dynamic)
{
    (void)point;
    (void)layout;
    (void)first;
    b->bound.set = count ? sets[0] : VK_NULL_HANDLE;
    b->bound.dynamic = dynamic_count ? dynamic[0] : 0;
}

/* What was pushed before stays where nothing new is: as sets of the command buffer's own. */
static VKAPI_ATTR void VKAPI_CALL fake_CmdPushDescriptorSetKHR(VkCommandBuffer b,
                                                               VkPipelineBindPoint point,
                                                               VkPipelineLayout layout,
                                                               uint32_t number, uint32_t count,
                                                               const VkWriteDescriptorSet *writes)
{
    (void)point;
    (void)layout;
    (void)number;
    fake_enter(&b->pool->object.users);
    VkDescriptorSet set = calloc(1, sizeof *set);
    if (set) {
        if (b->pushed) {
            *set = *b->pushed;
        }
        set->next = b->pushed;
        b->pushed = set;
        b->bound.set = set;
        for (uint32_t w = 0; w < count; w++) {
            if (writes[w].dstBinding < FAKE_MAX_BINDINGS) {
                set->buffers[writes[w].dstBinding] = writes[w].pBufferInfo[0];
            }
        }
    }
    fake_leave(&b->pool->object.users);
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdPushConstants(VkCommandBuffer b, VkPipelineLayout layout,
                                                        VkShaderStageFlags stages, uint32_t offset,
                                                        uint32_t size, const void *data)
{
    (void)layout;
    (void)stages;
    if (offset + size > sizeof b->bound.push) {
        fake_violation();
        return;
    }
    memcpy((unsigned char *)b->bound.push + offset, data, size);
}

/* The queue runs one command after the other: there is nothing for barriers to do. */
static VKAPI_ATTR void VKAPI_CALL fake_CmdPipelineBarrier(
    VkCommandBuffer b, VkPipelineStageFlags src, VkPipelineStageFlags dst, VkDependencyFlags flags,
    uint32_t memory_count, const VkMemoryBarrier *memory, uint32_t buffer_count,
    const VkBufferMemoryBarrier *buffers, uint32_t image_count, const VkImageMemoryBarrier *images)
{
    (void)b;
    (void)src;
    (void)dst;
    (void)flags;
    (void)memory_count;
    (void)memory;
    (void)buffer_count;
    (void)buffers;
    (void)image_count;
    (void)images;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdPipelineBarrier2(VkCommandBuffer b,
                                                           const VkDependencyInfo *info)
{
    (void)b;
    (void)info;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdResetQueryPool(VkCommandBuffer b, VkQueryPool pool,
                                                         uint32_t first, uint32_t count)
{
    (void)b;
    (void)pool;
    (void)first;
    (void)count;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdBeginDebugUtilsLabelEXT(VkCommandBuffer b,
                                                                  const VkDebugUtilsLabelEXT *label)
{
    (void)b;
    (void)label;
}

static VKAPI_ATTR void VKAPI_CALL fake_CmdEndDebugUtilsLabelEXT(VkCommandBuffer b)
{
    (void)b;
}

PFN_vkVoidFunction fake_find_command(const char *name)
{
    FAKE_TAKE(BeginCommandBuffer)
    FAKE_TAKE(EndCommandBuffer)
    FAKE_TAKE(CmdFillBuffer)
    FAKE_TAKE(CmdCopyBuffer)
    FAKE_TAKE(CmdUpdateBuffer)
    FAKE_TAKE(CmdDispatch)
    FAKE_TAKE(CmdDispatchIndirect)
    FAKE_TAKE(CmdWriteTimestamp)
    FAKE_TAKE(CmdBindPipeline)
    FAKE_TAKE(CmdBindDescriptorSets)
    FAKE_TAKE(CmdPushConstants)
    if (fake_enabled(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME)) {
        FAKE_TAKE(CmdPushDescriptorSetKHR)
    }
    FAKE_TAKE(CmdPipelineBarrier)
    FAKE_TAKE(CmdPipelineBarrier2)
    FAKE_TAKE(CmdResetQueryPool)
    FAKE_TAKE(CmdBeginDebugUtilsLabelEXT)
    FAKE_TAKE(CmdEndDebugUtilsLabelEXT)
    return NULL;
}
