/* The engine's fill, copy and gather kernels as transfers use them (engine/memory/mover.h). */
#include "engine/exec/bind.h"
#include "engine/exec/judge.h"
#include "engine/exec/run.h"
#include "engine/memory/mover.h"

#include <string.h>

static vyre_result prepare(vyre_device *device, vyre_diag *diag)
{
    const vy_binder *binder = vy_binder_get(device, 0, VYRE_INTERFACE_ADDRESS);
    vyre_result code = vy_engine_kernels_prepare(device, binder, VY_NEEDS_MOVES, diag);
    return code == VYRE_OK ? vy_engine_gather_prepare(device, binder, diag) : code;
}

/* Put together aside: mapped device memory is written best in one go, and never read. */
static void write_block(const vy_move *move, void *block)
{
    uint32_t words[VY_GATHER_BLOCK_WORDS] = {0};
    if (move->table) {
        const vy_gather gather = {move->count,  move->source_span, move->target_span,
                                  move->source, move->table,       move->target};
        vy_gather_fill_block(&gather, words);
    } else if (move->source) {
        vy_copy_fill_block(move->count, move->source, move->target, words);
    } else {
        vy_fill_fill_block(move->count, move->word, move->target, words);
    }
    memcpy(block, words, sizeof words);
}

static void record(vyre_device *device, const vy_move *move, VkDeviceAddress block,
                   VkCommandBuffer commands, VkPipeline *bound)
{
    vy_engine_kernels *kernels = vy_runs_kernels(device);
    const vy_judge *kernel = move->table    ? &kernels->gather
                             : move->source ? &kernels->copy
                                            : &kernels->fill;
    uint32_t words[VY_PUSH_SIZE / sizeof(uint32_t)] = {0}, groups[3];
    if (*bound != kernel->pipeline) {
        *bound = kernel->pipeline;
        device->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    }
    words[VY_PUSH_ADDRESS / sizeof(uint32_t)] = (uint32_t)block;
    words[VY_PUSH_ADDRESS / sizeof(uint32_t) + 1] = (uint32_t)(block >> 32);
    device->vk.vkCmdPushConstants(commands, kernel->layout.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  sizeof words, words);
    vy_move_launch(&device->snapshot, move->count, groups);
    device->vk.vkCmdDispatch(commands, groups[0], groups[1], groups[2]);
}

const vy_mover *vy_transfer_mover(const vyre_device *device)
{
    static const vy_mover mover = {prepare, write_block, record};
    _Static_assert(VY_MOVE_BLOCK_WORDS <= VY_GATHER_BLOCK_WORDS, "blocks of all kinds fit");
    _Static_assert(VY_GATHER_BLOCK_WORDS * sizeof(uint32_t) <= VY_MOVE_STRIDE, "a block fits");
    return vy_binder_get(device, 0, VYRE_INTERFACE_ADDRESS) ? &mover : NULL;
}
