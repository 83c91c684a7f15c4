/* The engine's fill, copy and gather kernels as transfers use them (engine/memory/mover.h). */
#include "engine/exec/bind.h"
#include "engine/exec/own_kernels.h"
#include "engine/exec/run.h"
#include "engine/memory/mover.h"

#include <string.h>

static vyre_result prepare(vyre_device *device, vyre_diag *diag)
{
    const vy_binder *binder = vy_binder_get(device, 0, VYRE_INTERFACE_ADDRESS);
    vyre_result code = vy_engine_kernels_prepare(device, binder, VY_NEEDS_MOVES, diag);
    return code == VYRE_OK ? vy_engine_gather_prepare(device, binder, diag) : code;
}

static vyre_result make_set(vyre_device *device, vy_move_set *set, vyre_diag *diag)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result = device->vk.vkCreateDescriptorPool(device->device, &pool, NULL, &set->pool);
    if (result != VK_SUCCESS) {
        set->pool = VK_NULL_HANDLE;
        return vy_vk_error(device, diag, result, "vkCreateDescriptorPool");
    }
    vy_set_name(device, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)set->pool, "vyre moves");
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = set->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &vy_runs_kernels(device)->copy.layout.set, /* of all three */
    };
    result = device->vk.vkAllocateDescriptorSets(device->device, &info, &set->set);
    if (result != VK_SUCCESS) {
        device->vk.vkDestroyDescriptorPool(device->device, set->pool, NULL);
        *set = (vy_move_set){.serial = 0};
        return vy_vk_error(device, diag, result, "vkAllocateDescriptorSets");
    }
    vy_set_name(device, VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)set->set, "vyre moves");
    return VYRE_OK;
}

static vyre_result attach(vyre_device *device, const vy_block *blocks, vy_move_set *set,
                          vyre_diag *diag)
{
    vyre_result code = set->pool ? VYRE_OK : make_set(device, set, diag);
    if (code != VYRE_OK || set->serial == blocks->serial) {
        return code;
    }
    VkDescriptorBufferInfo buffer = {blocks->buffer, 0, VY_GATHER_BLOCK_WORDS * sizeof(uint32_t)};
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set->set,
        .dstBinding = VY_ADDRESS_BLOCK,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
        .pBufferInfo = &buffer,
    };
    device->vk.vkUpdateDescriptorSets(device->device, 1, &write, 0, NULL);
    vy_count(device, descriptor_writes, 1);
    set->serial = blocks->serial;
    return VYRE_OK;
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

static void record(vyre_device *device, const vy_move *move, const vy_move_set *set,
                   uint32_t offset, VkCommandBuffer commands, VkPipeline *bound)
{
    vy_engine_kernels *kernels = vy_runs_kernels(device);
    const vy_own_kernel *kernel = move->table    ? &kernels->gather
                                  : move->source ? &kernels->copy
                                                 : &kernels->fill;
    uint32_t groups[3];
    if (*bound != kernel->pipeline) {
        *bound = kernel->pipeline;
        device->vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    }
    device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                       kernel->layout.pipeline, 0, 1, &set->set, 1, &offset);
    vy_move_launch(&device->snapshot, move->count, groups);
    device->vk.vkCmdDispatch(commands, groups[0], groups[1], groups[2]);
}

const vy_mover *vy_transfer_mover(const vyre_device *device)
{
    static const vy_mover mover = {prepare, attach, write_block, record};
    _Static_assert(VY_MOVE_BLOCK_WORDS <= VY_GATHER_BLOCK_WORDS, "blocks of all kinds fit");
    _Static_assert(VY_GATHER_BLOCK_WORDS * sizeof(uint32_t) <= VY_MOVE_STRIDE, "a block fits");
    return vy_binder_get(device, 0, VYRE_INTERFACE_ADDRESS) ? &mover : NULL;
}
