/* Carries a plan out: one Vulkan call for a command, and the binds between them. Decides nothing.
 */
#include "engine/exec/bind.h"
#include "engine/exec/coarse.h"
#include "engine/exec/own_kernels.h"
#include "engine/exec/run.h"

#include <stdio.h>
#include <string.h>

#define PUSH_WORDS (VY_PUSH_SIZE / sizeof(uint32_t))

typedef struct recorder {
    vyre_pipeline *pipeline;
    vy_instance *instance;
    uint32_t lane;
    VkCommandBuffer commands;
    VkQueryPool queries;
    VkPipeline bound;
    vy_binding_point bound_point; /* what is bound; no layout: nothing */
    uint32_t has_pushed;          /* bits of the words that are there */
    uint32_t pushed[PUSH_WORDS];  /* layouts are alike: they stay */
} recorder;

static vy_piece at(const vy_block *block, uint64_t offset)
{
    vy_piece piece = vy_block_piece(block);
    piece.offset = offset;
    return piece;
}

static vy_piece resolve(const recorder *r, uint32_t memory)
{
    const vy_instance *in = r->instance;
    uint64_t region = in->region_size * r->lane;
    switch (memory) {
    case VY_MEM_STATE:
        return at(&in->state, 0);
    case VY_MEM_BLOCK:
        return at(&in->lanes[r->lane].block, 0);
    case VY_MEM_HOST_BLOCK:
        return at(&in->host_block, region);
    case VY_MEM_STATE_START:
        return at(&in->host_block, region + in->state_offset);
    case VY_MEM_UPLOAD:
        return at(&in->upload, 0);
    case VY_MEM_READBACK:
        return at(&in->readback, 0);
    case VY_MEM_RECORDS:
        return at(&in->records, 0);
    case VY_MEM_SPILL:
        return at(&in->spill, 0);
    case VY_MEM_SYNC:
        return at(&in->sync, 0);
    default:
        break;
    }
    if (memory >= VY_MEM_FLAGS && memory < VY_MEM_FLAGS + VY_STATE_TURNS) {
        return at(&in->state, vy_state_flag(memory - VY_MEM_FLAGS) * sizeof(uint32_t));
    }
    return in->pieces[memory < VYRE_MAX_BUFFERS ? memory : 0];
}

/* `offset`: of the parameter block in the lane's region. */
static void bind(recorder *r, VkPipeline pipeline, VkPipelineLayout layout, vy_set_kind set,
                 uint64_t offset)
{
    bool is_other = r->bound_point.layout != layout;
    if (is_other || r->bound_point.offset != offset) {
        r->bound_point = (vy_binding_point){layout, set, r->lane, offset, !is_other};
        r->instance->binder->bind(r->pipeline, r->instance, &r->bound_point, r->commands);
    }
    if (r->bound != pipeline) {
        r->pipeline->device->vk.vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                                  pipeline);
        r->bound = pipeline;
    }
}

static bool has_labels(const vyre_device *device)
{
    return (device->debug & VYRE_DEBUG_LABELS || device->validation >= VYRE_VALIDATION_ON) &&
           device->has_names && device->vki.vkCmdBeginDebugUtilsLabelEXT &&
           device->vki.vkCmdEndDebugUtilsLabelEXT;
}

static void begin_label(const recorder *r, const char *text)
{
    vyre_device *device = r->pipeline->device;
    if (has_labels(device)) {
        VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                      .pLabelName = text};
        device->vki.vkCmdBeginDebugUtilsLabelEXT(r->commands, &label);
    }
}

static void begin_segment(const recorder *r, uint32_t segment, uint32_t pass)
{
    const vyre_pipeline *p = r->pipeline;
    if (has_labels(p->device)) {
        char place[VY_PLACE_SIZE], text[VY_PLACE_SIZE + 32];
        vy_kernel_place(p->kernel, segment, place);
        snprintf(text, sizeof text, VY_SEGMENT_WORD "%s, pass %u", place, (unsigned)pass);
        begin_label(r, text);
    }
}

static void end_label(const recorder *r)
{
    vyre_device *device = r->pipeline->device;
    if (has_labels(device)) {
        device->vki.vkCmdEndDebugUtilsLabelEXT(r->commands);
    }
}

/* `reads`: bits of the words that the module reads, none in the engine's kernels. Only what it
 * reads and has not is pushed: drivers work through long chains at each submission. */
static void push(recorder *r, VkPipelineLayout layout, uint32_t reads, const vy_command *command,
                 const vy_execution *execution)
{
    uint32_t words[PUSH_WORDS] = {0};
    words[VY_PUSH_PASS / sizeof(uint32_t)] = command->pass;
    if (execution) {
        words[VY_PUSH_EXECUTION / sizeof(uint32_t)] = command->execution;
        memcpy(&words[VY_PUSH_INDICES / sizeof(uint32_t)], execution->indices,
               sizeof execution->indices);
    }
    uint32_t first = PUSH_WORDS, end = 0;
    for (uint32_t i = 0; i < PUSH_WORDS; i++) {
        if (reads >> i & 1 && !(r->has_pushed >> i & 1 && words[i] == r->pushed[i])) {
            first = first < i ? first : i;
            end = i + 1;
        }
    }
    if (first >= end) {
        return;
    }
    r->pipeline->device->vk.vkCmdPushConstants(
        r->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, first * (uint32_t)sizeof *words,
        (end - first) * (uint32_t)sizeof *words, &words[first]);
    for (uint32_t i = first; i < end; i++) {
        r->pushed[i] = words[i];
        r->has_pushed |= 1u << i;
    }
}

static void record_dispatch(recorder *r, const vy_command *command)
{
    vyre_pipeline *p = r->pipeline;
    vy_instance *in = r->instance;
    const vy_execution *execution = &in->executions[command->execution];
    VkPipelineLayout layout = p->layouts[in->choice.interface].pipeline;
    begin_segment(r, execution->segment, command->pass);
    bind(r, vy_pipeline_get(p, in->choice, execution->segment), layout, VY_SET_PROGRAM,
         vy_instance_block_offset(in, command->pass, command->execution));
    push(r, layout, vy_pipeline_push_words(p, in->choice, execution->segment), command, execution);
    if (command->kind == VY_COMMAND_DISPATCH) {
        const uint32_t *left_out = execution->left_out;
        uint32_t groups = in->launched[0] - left_out[0];
        if (in->choice.is_coarse) {
            groups = vy_coarse_groups(groups, in->coarse_elements[execution->segment]);
        }
        p->device->vk.vkCmdDispatch(r->commands, groups, in->launched[1] - left_out[1],
                                    in->launched[2] - left_out[2]);
    } else {
        p->device->vk.vkCmdDispatchIndirect(r->commands, in->state.buffer,
                                            VY_STATE_ARGUMENTS * sizeof(uint32_t));
    }
    end_label(r);
}

/* Everything in one dispatch; the first index says how many passes. */
static void record_whole(recorder *r, const vy_command *command)
{
    vyre_pipeline *p = r->pipeline;
    const vy_instance *in = r->instance;
    const vy_command none = {.kind = VY_COMMAND_WHOLE};
    const vy_execution passes = {.indices = {command->pass}};
    VkPipelineLayout layout = p->layouts[in->choice.interface].pipeline;
    begin_label(r, vyre_kernel_name(p->kernel));
    bind(r, vy_pipeline_get(p, in->choice, 0), layout, VY_SET_PROGRAM, 0);
    push(r, layout, vy_pipeline_push_words(p, in->choice, 0), &none, &passes);
    p->device->vk.vkCmdDispatch(r->commands, 1, 1, 1);
    end_label(r);
}

/* Workgroups that stay; the indices say what the launch runs. */
static void record_persistent(recorder *r, const vy_command *command)
{
    vyre_pipeline *p = r->pipeline;
    const vy_instance *in = r->instance;
    const vy_command none = {.kind = VY_COMMAND_PERSISTENT, .pass = command->block};
    const vy_execution launch = {
        .indices = {command->pass, command->execution, command->execution + command->word}};
    VkPipelineLayout layout = p->layouts[in->choice.interface].pipeline;
    begin_label(r, vyre_kernel_name(p->kernel));
    bind(r, vy_pipeline_get(p, in->choice, 0), layout, VY_SET_PROGRAM, 0);
    push(r, layout, vy_pipeline_push_words(p, in->choice, 0), &none, &launch);
    p->device->vk.vkCmdDispatch(r->commands, in->launched[0], in->launched[1], in->launched[2]);
    end_label(r);
}

static void record_grid(recorder *r)
{
    vyre_device *device = r->pipeline->device;
    const vy_instance *in = r->instance;
    const vy_own_kernel *kernel = &vy_runs_kernels(device)->grids[in->choice.interface];
    begin_label(r, "vyre grid");
    bind(r, kernel->pipeline, kernel->layout.pipeline, VY_SET_GRID, in->grid_offset);
    device->vk.vkCmdDispatch(r->commands, 1, 1, 1);
    end_label(r);
}

/* A fill or copy by a kernel, whose block names the memory. */
static void record_move(recorder *r, const vy_command *command)
{
    vyre_device *device = r->pipeline->device;
    bool is_fill = command->kind == VY_COMMAND_FILL;
    vy_engine_kernels *kernels = vy_runs_kernels(device);
    const vy_own_kernel *move = is_fill ? &kernels->fill : &kernels->copy;
    begin_label(r, is_fill ? "vyre fill" : "vyre copy");
    for (uint32_t i = 0; i < vy_move_pieces(command->size); i++) {
        uint64_t rest = command->size - i * VY_MOVE_SIZE;
        uint64_t size = rest < VY_MOVE_SIZE ? rest : VY_MOVE_SIZE;
        uint32_t groups[3];
        vy_move_launch(&device->snapshot, (uint32_t)((size + 3) / sizeof(uint32_t)), groups);
        bind(r, move->pipeline, move->layout.pipeline, VY_SET_PROGRAM,
             vy_instance_move_offset(r->instance, command->block + i));
        device->vk.vkCmdDispatch(r->commands, groups[0], groups[1], groups[2]);
    }
    end_label(r);
}

/* Two words: the execution and the pass of the dispatch that comes next, from 1. */
static void record_crumb(const recorder *r, const vy_command *command)
{
    const struct VolkDeviceTable *vk = &r->pipeline->device->vk;
    VkBuffer crumbs = r->instance->crumbs.buffer;
    uint64_t offset = (uint64_t)r->lane * 2 * sizeof(uint32_t);
    vk->vkCmdFillBuffer(r->commands, crumbs, offset + sizeof(uint32_t), sizeof(uint32_t),
                        command->pass);
    vk->vkCmdFillBuffer(r->commands, crumbs, offset, sizeof(uint32_t), command->execution + 1);
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
        r->pipeline->device->vk.vkCmdResetQueryPool(r->commands, r->queries, 0, VY_TIME_COUNT);
    }
    r->pipeline->device->vk.vkCmdWriteTimestamp(r->commands, stages[command->target], r->queries,
                                                command->target);
}

static void record_transfer(recorder *r, const vy_command *command)
{
    if (command->is_by_kernel) {
        record_move(r, command);
        return;
    }
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
                    const vy_chunk_plan *plan, VkQueryPool queries, VkCommandBuffer commands)
{
    recorder r = {.pipeline = pipeline,
                  .instance = instance,
                  .lane = lane,
                  .queries = queries,
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
        case VY_COMMAND_WHOLE:
            record_whole(&r, command);
            break;
        case VY_COMMAND_PERSISTENT:
            record_persistent(&r, command);
            break;
        case VY_COMMAND_GRID:
            record_grid(&r);
            break;
        case VY_COMMAND_FILL:
        case VY_COMMAND_COPY:
            record_transfer(&r, command);
            break;
        case VY_COMMAND_TIMESTAMP:
            record_timestamp(&r, command);
            break;
        case VY_COMMAND_CRUMB:
            record_crumb(&r, command);
            break;
        }
    }
}

void vy_record_empty(vyre_pipeline *p, vy_instance *in, bool has_moves, VkCommandBuffer commands)
{
    vyre_device *device = p->device;
    const vy_engine_kernels *kernels = vy_runs_kernels(device);
    VkPipelineLayout layout = p->layouts[in->choice.interface].pipeline;
    const vy_command command = {.kind = VY_COMMAND_DISPATCH};
    recorder r = {.pipeline = p, .instance = in, .commands = commands};
    /* Nothing is touched, but layers that look at what is bound cannot know. */
    static const vy_barrier between = {VY_STAGE_COMPUTE, VY_STAGE_COMPUTE, VY_STAGE_COMPUTE};
    for (uint32_t s = 0; s < vy_pipeline_modules(p, in->choice); s++) {
        vy_cmd_barrier(device, commands, &between);
        bind(&r, vy_pipeline_get(p, in->choice, s), layout, VY_SET_PROGRAM, 0);
        push(&r, layout, vy_pipeline_push_words(p, in->choice, s), &command, NULL);
        device->vk.vkCmdDispatch(commands, 0, 0, 0);
    }
    vyre_interface interface = in->choice.interface;
    const struct {
        const vy_own_kernel *kernel;
        vy_set_kind set;
    } others[] = {{p->grid_from >= 0 ? &kernels->grids[interface] : NULL, VY_SET_GRID},
                  {has_moves ? &kernels->fill : NULL, VY_SET_PROGRAM},
                  {has_moves ? &kernels->copy : NULL, VY_SET_PROGRAM}};
    for (size_t i = 0; i < VY_COUNT_OF(others); i++) {
        const vy_own_kernel *other = others[i].kernel;
        if (other) {
            vy_cmd_barrier(device, commands, &between);
            bind(&r, other->pipeline, other->layout.pipeline, others[i].set, 0);
            device->vk.vkCmdDispatch(commands, 0, 0, 0);
        }
    }
}
