/* The layer's part about commands: each is logged as an event, and kept in its command buffer's
 * stream with what is bound at that point. What was submitted is judged once it has
 * ended (vk_layer_judge.c). */
#include "tests/support/vk_layer_stream.h"

#include <stdlib.h>
#include <string.h>

static uint32_t barriers_behind;

/* For command buffers that nobody knows and for want of memory: written, never read. */
static layer_command *nowhere(void)
{
    static layer_command command;
    free(command.accesses);
    free(command.barriers);
    free(command.behind);
    command = (layer_command){.kind = LAYER_BEGIN};
    return &command;
}

static layer_command *add(layer_stream *s, layer_event_kind kind)
{
    if (!s) {
        return nowhere();
    }
    if (s->count == s->room) {
        uint32_t room = s->room ? 2 * s->room : 64;
        layer_command *grown = realloc(s->commands, room * sizeof *grown);
        if (!grown) {
            return nowhere();
        }
        s->commands = grown;
        s->room = room;
    }
    layer_command *c = &s->commands[s->count++];
    *c = (layer_command){.kind = kind};
    return c;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdBindPipeline(VkCommandBuffer commands,
                                                         VkPipelineBindPoint point,
                                                         VkPipeline pipeline)
{
    layer_lock();
    layer_stream *s = layer_stream_of(commands);
    if (s && point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        s->pipeline = layer_pipeline_of(pipeline);
        s->pipeline_handle = pipeline;
    }
    layer_unlock();
    layer_below.vkCmdBindPipeline(commands, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdBindDescriptorSets(
    VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t first,
    uint32_t count, const VkDescriptorSet *list, uint32_t offset_count, const uint32_t *offsets)
{
    layer_lock();
    layer_count_call("vkCmdBindDescriptorSets");
    layer_stream *s = layer_stream_of(commands);
    if (s && point == VK_PIPELINE_BIND_POINT_COMPUTE && first == 0 && count > 0) {
        s->set = layer_set_of(list[0]);
        s->dynamic = offset_count ? offsets[0] : 0;
    }
    layer_unlock();
    layer_below.vkCmdBindDescriptorSets(commands, point, layout, first, count, list, offset_count,
                                        offsets);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPushDescriptorSetKHR(VkCommandBuffer commands,
                                                                 VkPipelineBindPoint point,
                                                                 VkPipelineLayout layout,
                                                                 uint32_t number, uint32_t count,
                                                                 const VkWriteDescriptorSet *writes)
{
    layer_lock();
    layer_count_call("vkCmdPushDescriptorSetKHR");
    layer_count_descriptors(count);
    layer_stream *s = layer_stream_of(commands);
    if (s && number == 0) {
        s->set = NULL;
        for (uint32_t i = 0; i < count; i++) {
            layer_write_pieces(s->pushed, &writes[i]);
        }
    }
    layer_unlock();
    layer_below.vkCmdPushDescriptorSetKHR(commands, point, layout, number, count, writes);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPushConstants(VkCommandBuffer commands,
                                                          VkPipelineLayout layout,
                                                          VkShaderStageFlags stages,
                                                          uint32_t offset, uint32_t size,
                                                          const void *values)
{
    layer_lock();
    layer_count_call("vkCmdPushConstants");
    layer_unlock();
    layer_below.vkCmdPushConstants(commands, layout, stages, offset, size, values);
}

static void add_touch(layer_command *c, uint64_t buffer, uint64_t begin, uint64_t end,
                      const spirv_touch *touch)
{
    if (touch->reads) {
        (void)layer_add_access(c, buffer, begin, end, HAZARD_COMPUTE_READ);
    }
    if (touch->writes) {
        (void)layer_add_access(c, buffer, begin, end, HAZARD_COMPUTE_WRITE);
    }
}

static layer_piece bound_at(const layer_stream *s, uint32_t binding)
{
    const layer_piece *pieces = s->set ? s->set->pieces : s->pushed;
    layer_piece bound = {.buffer = 0};
    if (binding < LAYER_MAX_PIECES) {
        bound = pieces[binding];
        bound.begin += bound.is_dynamic ? s->dynamic : 0;
        bound.end += bound.is_dynamic ? s->dynamic : 0;
    }
    return bound;
}

/* Of the block that is bound; false: it cannot be read. */
static bool find_turn(const layer_stream *s, uint32_t *out_turn, uint32_t *out_leads)
{
    const spirv_touches *touches = &s->pipeline->touches;
    for (uint32_t i = 0; i < touches->count; i++) {
        if (touches->list[i].place == SPIRV_BLOCK) {
            layer_piece bound = bound_at(s, touches->list[i].at);
            return layer_turn(layer_buffer_numbered(bound.buffer), bound.begin, out_turn,
                              out_leads);
        }
    }
    return false;
}

/* Descriptors say at once what is touched: sets may not change until the commands have run. */
static void fill_dispatch(layer_stream *s, layer_command *c)
{
    const spirv_touches *touches = &s->pipeline->touches;
    uint32_t behind = 0, turn = 0, leads = 0;
    bool has_turn = find_turn(s, &turn, &leads);
    c->is_unknown = touches->is_unknown;
    c->has_counts = s->pipeline->has_counts;
    c->is_gather = s->pipeline->is_gather;
    c->bindings = s->pipeline->bindings;
    c->params = s->pipeline->params;
    for (uint32_t i = 0; i < touches->count; i++) {
        const spirv_touch *t = &touches->list[i];
        layer_piece bound = bound_at(s, t->place == SPIRV_BEHIND ? t->root : t->at);
        if (bound.buffer == 0) {
            c->is_unknown = true;
        } else if (t->place == SPIRV_BEHIND) {
            c->block = bound;
            behind++;
        } else if (t->place == SPIRV_BLOCK) {
            uint64_t end = t->end == UINT32_MAX ? bound.end : bound.begin + t->end;
            c->is_unknown = c->is_unknown || t->writes || end > bound.end;
            (void)layer_add_access(c, bound.buffer, bound.begin + t->begin, end,
                                   HAZARD_UNIFORM_READ);
        } else if (t->is_state) {
            uint64_t begin = 0, end = 0;
            c->is_unknown = c->is_unknown || !has_turn;
            if (spirv_state_range(t, turn, leads, &begin, &end)) {
                add_touch(c, bound.buffer, bound.begin + begin, bound.begin + end, t);
            }
        } else {
            add_touch(c, bound.buffer, bound.begin, bound.end, t);
        }
    }
    if (behind == 0) {
        return;
    }
    c->behind = malloc(behind * sizeof *c->behind);
    if (!c->behind) {
        c->is_unknown = true;
        return;
    }
    for (uint32_t i = 0; i < touches->count; i++) {
        if (touches->list[i].place == SPIRV_BEHIND && c->behind_count < behind) {
            c->behind[c->behind_count++] = touches->list[i];
        }
    }
    s->has_addresses = true;
}

static layer_command *add_dispatch(layer_stream *s, layer_event_kind kind)
{
    layer_event *event = layer_log(kind);
    event->pipeline = s && s->pipeline ? s->pipeline->handle : VK_NULL_HANDLE;
    event->offset = s && s->set ? s->dynamic : 0;
    layer_command *c = add(s, kind);
    if (s && s->pipeline) {
        fill_dispatch(s, c);
    } else {
        c->is_unknown = true;
    }
    return c;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdDispatch(VkCommandBuffer commands, uint32_t x,
                                                     uint32_t y, uint32_t z)
{
    layer_lock();
    layer_command *c = add_dispatch(layer_stream_of(commands), LAYER_DISPATCH);
    uint32_t count = 0;
    const layer_event *list = layer_events(&count);
    layer_event *event = count ? (layer_event *)&list[count - 1] : NULL;
    uint32_t groups[3] = {x, y, z};
    if (event) {
        memcpy(event->groups, groups, sizeof groups);
    }
    memcpy(c->groups, groups, sizeof groups);
    c->touches_nothing = x == 0 || y == 0 || z == 0;
    layer_unlock();
    if (!layer.skip_dispatches && layer_passes_dispatch()) {
        layer_below.vkCmdDispatch(commands, x, y, z);
    }
}

static void piece(layer_command *c, VkBuffer handle, uint64_t offset, uint64_t size, hazard_use use)
{
    const layer_buffer *buffer = layer_buffer_of(handle);
    if (buffer) {
        uint64_t end = size == VK_WHOLE_SIZE ? buffer->size : offset + size;
        (void)layer_add_access(c, buffer->serial, offset, end, use);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdDispatchIndirect(VkCommandBuffer commands,
                                                             VkBuffer buffer, VkDeviceSize offset)
{
    layer_lock();
    layer_command *c = add_dispatch(layer_stream_of(commands), LAYER_INDIRECT);
    piece(c, buffer, offset, 3 * sizeof(uint32_t), HAZARD_INDIRECT_READ);
    layer_unlock();
    if (layer_passes_dispatch()) {
        layer_below.vkCmdDispatchIndirect(commands, buffer, offset);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdFillBuffer(VkCommandBuffer commands, VkBuffer buffer,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       uint32_t word)
{
    layer_lock();
    layer_event *event = layer_log(LAYER_FILL);
    event->offset = offset;
    event->size = size;
    piece(add(layer_stream_of(commands), LAYER_FILL), buffer, offset, size, HAZARD_FILL_WRITE);
    layer_unlock();
    if (!layer_is_stopped()) {
        layer_below.vkCmdFillBuffer(commands, buffer, offset, size, word);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdUpdateBuffer(VkCommandBuffer commands, VkBuffer buffer,
                                                         VkDeviceSize offset, VkDeviceSize size,
                                                         const void *data)
{
    layer_lock();
    layer_event *event = layer_log(LAYER_COPY);
    event->size = size;
    piece(add(layer_stream_of(commands), LAYER_COPY), buffer, offset, size, HAZARD_COPY_WRITE);
    layer_unlock();
    layer_below.vkCmdUpdateBuffer(commands, buffer, offset, size, data);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdCopyBuffer(VkCommandBuffer commands, VkBuffer source,
                                                       VkBuffer target, uint32_t count,
                                                       const VkBufferCopy *regions)
{
    layer_lock();
    layer_event *event = layer_log(LAYER_COPY);
    event->size = count ? regions[0].size : 0;
    layer_stream *s = layer_stream_of(commands);
    layer_command *c = add(s, LAYER_COPY);
    for (uint32_t i = 0; i < count; i++) {
        piece(c, source, regions[i].srcOffset, regions[i].size, HAZARD_COPY_READ);
        piece(c, target, regions[i].dstOffset, regions[i].size, HAZARD_COPY_WRITE);
    }
    layer_unlock();
    if (!layer_is_stopped()) {
        layer_below.vkCmdCopyBuffer(commands, source, target, count, regions);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdExecuteCommands(VkCommandBuffer commands,
                                                            uint32_t count,
                                                            const VkCommandBuffer *list)
{
    layer_lock();
    layer_stream *s = layer_stream_of(commands);
    for (uint32_t i = 0; i < count; i++) {
        layer_command *c = add(s, LAYER_BEGIN);
        c->secondary = layer_stream_of(list[i]);
    }
    layer_unlock();
    layer_below.vkCmdExecuteCommands(commands, count, list);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

void layer_forget_barriers(void)
{
    barriers_behind = 0;
}

static bool drops_barrier(void)
{
    uint32_t count = 0;
    const layer_event *list = layer_events(&count);
    bool is_behind = count > 0 && list[count - 1].kind == LAYER_DISPATCH;
    if (is_behind) {
        barriers_behind++;
    }
    return is_behind && barriers_behind == layer.drop_barrier;
}

static void keep_barriers(VkCommandBuffer commands, const hazard_barrier *list, uint32_t count)
{
    layer_command *c = add(layer_stream_of(commands), LAYER_BARRIER);
    c->barriers = malloc((count ? count : 1) * sizeof *list);
    if (c->barriers) {
        memcpy(c->barriers, list, count * sizeof *list);
        c->barrier_count = count;
    }
}

#define MAX_BARRIERS 64u

static void of_buffer(hazard_barrier *b, VkBuffer handle, uint64_t offset, uint64_t size)
{
    const layer_buffer *buffer = layer_buffer_of(handle);
    b->buffer = buffer ? buffer->serial : UINT64_MAX;
    b->begin = offset;
    b->end = size == VK_WHOLE_SIZE ? UINT64_MAX : offset + size;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPipelineBarrier(
    VkCommandBuffer commands, VkPipelineStageFlags src, VkPipelineStageFlags dst,
    VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
    const VkImageMemoryBarrier *images)
{
    layer_lock();
    if (drops_barrier()) {
        layer_unlock();
        return;
    }
    hazard_barrier list[MAX_BARRIERS] = {{src, 0, dst, 0, 0, 0, 0}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < memory_count && count < MAX_BARRIERS; i++) {
        list[count++] =
            (hazard_barrier){src, memory[i].srcAccessMask, dst, memory[i].dstAccessMask, 0, 0, 0};
    }
    for (uint32_t i = 0; i < buffer_count && count < MAX_BARRIERS; i++) {
        hazard_barrier *b = &list[count++];
        *b =
            (hazard_barrier){src, buffers[i].srcAccessMask, dst, buffers[i].dstAccessMask, 0, 0, 0};
        of_buffer(b, buffers[i].buffer, buffers[i].offset, buffers[i].size);
    }
    layer_event *event = layer_log(LAYER_BARRIER);
    event->is_old_form = true;
    event->src_stages = src;
    event->dst_stages = dst;
    if (memory_count) {
        event->src_access = memory[0].srcAccessMask;
        event->dst_access = memory[0].dstAccessMask;
    } else if (buffer_count) {
        event->buffer = buffers[0].buffer;
        event->src_access = buffers[0].srcAccessMask;
        event->dst_access = buffers[0].dstAccessMask;
        event->src_family = buffers[0].srcQueueFamilyIndex;
        event->dst_family = buffers[0].dstQueueFamilyIndex;
    }
    if (buffer_count) {
        event->buffer = buffers[0].buffer;
        event->src_access = buffers[0].srcAccessMask;
        event->dst_access = buffers[0].dstAccessMask;
        event->src_family = buffers[0].srcQueueFamilyIndex;
        event->dst_family = buffers[0].dstQueueFamilyIndex;
    }
    keep_barriers(commands, list, count ? count : 1);
    layer_unlock();
    layer_below.vkCmdPipelineBarrier(commands, src, dst, flags, memory_count, memory, buffer_count,
                                     buffers, image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPipelineBarrier2(VkCommandBuffer commands,
                                                             const VkDependencyInfo *info)
{
    layer_lock();
    if (drops_barrier()) {
        layer_unlock();
        return;
    }
    hazard_barrier list[MAX_BARRIERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->memoryBarrierCount && count < MAX_BARRIERS; i++) {
        const VkMemoryBarrier2 *m = &info->pMemoryBarriers[i];
        list[count++] = (hazard_barrier){
            m->srcStageMask, m->srcAccessMask, m->dstStageMask, m->dstAccessMask, 0, 0, 0};
    }
    for (uint32_t i = 0; i < info->bufferMemoryBarrierCount && count < MAX_BARRIERS; i++) {
        const VkBufferMemoryBarrier2 *m = &info->pBufferMemoryBarriers[i];
        hazard_barrier *b = &list[count++];
        *b = (hazard_barrier){
            m->srcStageMask, m->srcAccessMask, m->dstStageMask, m->dstAccessMask, 0, 0, 0};
        of_buffer(b, m->buffer, m->offset, m->size);
    }
    layer_event *event = layer_log(LAYER_BARRIER);
    if (count) {
        event->src_stages = list[0].src_stages;
        event->dst_stages = list[0].dst_stages;
        event->src_access = list[0].src_access;
        event->dst_access = list[0].dst_access;
    }
    keep_barriers(commands, list, count);
    layer_unlock();
    layer_below.vkCmdPipelineBarrier2(commands, info);
}

PFN_vkVoidFunction layer_find_command(const char *name)
{
    LAYER_TAKE(vkCmdBindPipeline)
    LAYER_TAKE(vkCmdBindDescriptorSets)
    LAYER_TAKE(vkCmdPushDescriptorSetKHR)
    LAYER_TAKE(vkCmdPushConstants)
    LAYER_TAKE(vkCmdDispatch)
    LAYER_TAKE(vkCmdDispatchIndirect)
    LAYER_TAKE(vkCmdFillBuffer)
    LAYER_TAKE(vkCmdUpdateBuffer)
    LAYER_TAKE(vkCmdCopyBuffer)
    LAYER_TAKE(vkCmdExecuteCommands)
    LAYER_TAKE(vkCmdPipelineBarrier)
    LAYER_TAKE(vkCmdPipelineBarrier2)
    return NULL;
}
