/* Carries a plan out: one Vulkan call for a command, and the binds between them. Decides nothing.
 */
#include "engine/exec/instance.h"
#include "engine/exec/judge.h"

#include <string.h>

typedef struct recorder {
    vyre_pipeline *pipeline;
    vy_instance *instance;
    vy_lane *lane;
    uint32_t lane_index;
    VkCommandBuffer commands;
    VkPipeline bound;
    VkPipelineLayout bound_layout; /* whose set is bound */
} recorder;

static vy_piece resolve(const recorder *r, uint32_t memory)
{
    const vy_instance *in = r->instance;
    switch (memory) {
    case VY_MEM_STATE:
        return (vy_piece){in->state.buffer, 0, 0};
    case VY_MEM_BLOCK:
        return (vy_piece){r->lane->block.buffer, 0, 0};
    case VY_MEM_HOST_BLOCK:
        return (vy_piece){in->host_block.buffer, in->region_size * r->lane_index, 0};
    case VY_MEM_UPLOAD:
        return (vy_piece){in->upload.buffer, 0, 0};
    case VY_MEM_READBACK:
        return (vy_piece){in->readback.buffer, 0, 0};
    case VY_MEM_RECORDS:
        return (vy_piece){in->records.buffer, 0, 0};
    case VY_MEM_SPILL:
        return (vy_piece){in->spill.buffer, 0, 0};
    default:
        return in->pieces[memory < VYRE_MAX_BUFFERS ? memory : 0];
    }
}

static void bind(recorder *r, VkPipeline pipeline, VkPipelineLayout layout, VkDescriptorSet set)
{
    const struct VolkDeviceTable *vk = &r->pipeline->device->vk;
    if (r->bound_layout != layout) {
        vk->vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set,
                                    0, NULL);
        r->bound_layout = layout;
    }
    if (r->bound != pipeline) {
        vk->vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        r->bound = pipeline;
    }
}

static void begin_label(const recorder *r, const char *text)
{
    vyre_device *device = r->pipeline->device;
    if (device->debug & VYRE_DEBUG_LABELS && device->vki.vkCmdBeginDebugUtilsLabelEXT) {
        VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                      .pLabelName = text};
        device->vki.vkCmdBeginDebugUtilsLabelEXT(r->commands, &label);
    }
}

static void end_label(const recorder *r)
{
    vyre_device *device = r->pipeline->device;
    if (device->debug & VYRE_DEBUG_LABELS && device->vki.vkCmdEndDebugUtilsLabelEXT) {
        device->vki.vkCmdEndDebugUtilsLabelEXT(r->commands);
    }
}

static void push(const recorder *r, VkPipelineLayout layout, const vy_command *command,
                 const vy_execution *execution)
{
    uint32_t words[VY_PUSH_SIZE / sizeof(uint32_t)] = {0};
    words[VY_PUSH_PASS / sizeof(uint32_t)] = command->pass;
    if (execution) {
        words[VY_PUSH_EXECUTION / sizeof(uint32_t)] = command->execution;
        memcpy(&words[VY_PUSH_INDICES / sizeof(uint32_t)], execution->indices,
               sizeof execution->indices);
    }
    r->pipeline->device->vk.vkCmdPushConstants(r->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                               sizeof words, words);
}

static void record_dispatch(recorder *r, const vy_command *command)
{
    vyre_pipeline *p = r->pipeline;
    vy_instance *in = r->instance;
    const vy_execution *execution = &in->executions[command->execution];
    begin_label(r, vy_kernel_get_segment(p->kernel, execution->segment)->label);
    bind(r, p->variants[in->is_folded][execution->segment], p->layout.pipeline, r->lane->set);
    push(r, p->layout.pipeline, command, execution);
    if (command->kind == VY_COMMAND_DISPATCH) {
        p->device->vk.vkCmdDispatch(r->commands, in->launched[0], in->launched[1], in->launched[2]);
    } else {
        p->device->vk.vkCmdDispatchIndirect(r->commands, in->state.buffer,
                                            VY_STATE_ARGUMENTS * sizeof(uint32_t));
    }
    end_label(r);
}

static void record_judge(recorder *r, const vy_command *command)
{
    vyre_pipeline *p = r->pipeline;
    begin_label(r, "vyre judge");
    bind(r, p->judge, p->judge_layout.pipeline, r->lane->judge_set);
    push(r, p->judge_layout.pipeline, command, NULL);
    p->device->vk.vkCmdDispatch(r->commands, 1, 1, 1);
    end_label(r);
}

static void record_timestamp(const recorder *r, const vy_command *command)
{
    static const VkPipelineStageFlagBits stages[VY_TIME_COUNT] = {
        [VY_TIME_BEGIN] = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
        [VY_TIME_FIRST] = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
        [VY_TIME_LAST] = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
        [VY_TIME_END] = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
    };
    if (command->target == VY_TIME_BEGIN) {
        r->pipeline->device->vk.vkCmdResetQueryPool(r->commands, r->lane->queries, 0,
                                                    VY_TIME_COUNT);
    }
    r->pipeline->device->vk.vkCmdWriteTimestamp(r->commands, stages[command->target],
                                                r->lane->queries, command->target);
}

static void record_transfer(const recorder *r, const vy_command *command)
{
    const struct VolkDeviceTable *vk = &r->pipeline->device->vk;
    vy_piece target = resolve(r, command->target);
    if (command->kind == VY_COMMAND_FILL) {
        vk->vkCmdFillBuffer(r->commands, target.buffer, target.offset + command->target_offset,
                            command->size, command->word);
        return;
    }
    vy_piece source = resolve(r, command->source);
    VkBufferCopy region = {.srcOffset = source.offset + command->source_offset,
                           .dstOffset = target.offset + command->target_offset,
                           .size = command->size};
    vk->vkCmdCopyBuffer(r->commands, source.buffer, target.buffer, 1, &region);
}

void vy_record_plan(vyre_pipeline *pipeline, vy_instance *instance, uint32_t lane,
                    const vy_chunk_plan *plan, VkCommandBuffer commands)
{
    recorder r = {.pipeline = pipeline,
                  .instance = instance,
                  .lane = &instance->lanes[lane],
                  .lane_index = lane,
                  .commands = commands};
    for (uint32_t i = 0; i < plan->commands.count; i++) {
        const vy_command *command = &plan->commands.data[i];
        switch ((vy_command_kind)command->kind) {
        case VY_COMMAND_BARRIER:
            vy_cmd_barrier(pipeline->device, commands, &command->barrier);
            break;
        case VY_COMMAND_DISPATCH:
        case VY_COMMAND_DISPATCH_INDIRECT:
            record_dispatch(&r, command);
            break;
        case VY_COMMAND_JUDGE:
            record_judge(&r, command);
            break;
        case VY_COMMAND_FILL:
        case VY_COMMAND_COPY:
            record_transfer(&r, command);
            break;
        case VY_COMMAND_TIMESTAMP:
            record_timestamp(&r, command);
            break;
        }
    }
}
