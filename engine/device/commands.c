/* Command pools, and global memory barriers: drivers make one of a list of buffer barriers anyway.
 */
#include "engine/device/commands.h"

static VkPipelineStageFlags2 stages_of(uint32_t stages)
{
    VkPipelineStageFlags2 flags = 0;
    flags |=
        stages & (VY_STAGE_COMPUTE | VY_STAGE_UNIFORM) ? VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT : 0;
    flags |= stages & VY_STAGE_TRANSFER ? VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT : 0;
    flags |= stages & VY_STAGE_INDIRECT ? VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT : 0;
    flags |= stages & VY_STAGE_HOST ? VK_PIPELINE_STAGE_2_HOST_BIT : 0;
    flags |= stages & VY_STAGE_ALL ? VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT : 0;
    return flags;
}

static VkAccessFlags2 writes_of(uint32_t stages)
{
    VkAccessFlags2 flags = 0;
    flags |= stages & VY_STAGE_COMPUTE ? VK_ACCESS_2_SHADER_WRITE_BIT : 0;
    flags |= stages & VY_STAGE_TRANSFER ? VK_ACCESS_2_TRANSFER_WRITE_BIT : 0;
    flags |= stages & VY_STAGE_HOST ? VK_ACCESS_2_HOST_WRITE_BIT : 0;
    flags |= stages & VY_STAGE_ALL ? VK_ACCESS_2_MEMORY_WRITE_BIT : 0;
    return flags;
}

static VkAccessFlags2 accesses_of(uint32_t stages)
{
    VkAccessFlags2 flags = writes_of(stages);
    flags |= stages & VY_STAGE_COMPUTE ? VK_ACCESS_2_SHADER_READ_BIT : 0;
    flags |= stages & VY_STAGE_UNIFORM ? VK_ACCESS_2_UNIFORM_READ_BIT : 0;
    flags |= stages & VY_STAGE_TRANSFER ? VK_ACCESS_2_TRANSFER_READ_BIT : 0;
    flags |= stages & VY_STAGE_INDIRECT ? VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT : 0;
    flags |= stages & VY_STAGE_HOST ? VK_ACCESS_2_HOST_READ_BIT : 0;
    flags |= stages & VY_STAGE_ALL ? VK_ACCESS_2_MEMORY_READ_BIT : 0;
    return flags;
}

void vy_cmd_barrier(vyre_device *device, VkCommandBuffer commands, const vy_barrier *barrier)
{
    VkMemoryBarrier2 memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = stages_of(barrier->src),
        .srcAccessMask = writes_of(barrier->src_writes),
        .dstStageMask = stages_of(barrier->dst),
        .dstAccessMask = accesses_of(barrier->dst),
    };
    if (device->snapshot.has[VY_FEATURE_synchronization2] && device->vk.vkCmdPipelineBarrier2) {
        VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                 .memoryBarrierCount = 1,
                                 .pMemoryBarriers = &memory};
        device->vk.vkCmdPipelineBarrier2(commands, &info);
        return;
    }
    /* The bits used here have the same values in both forms, apart from ALL_TRANSFER, which is
     * TRANSFER there. All lie in the low 32 bits. */
    VkMemoryBarrier old = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = (VkAccessFlags)memory.srcAccessMask,
        .dstAccessMask = (VkAccessFlags)memory.dstAccessMask,
    };
    device->vk.vkCmdPipelineBarrier(commands, (VkPipelineStageFlags)memory.srcStageMask,
                                    (VkPipelineStageFlags)memory.dstStageMask, 0, 1, &old, 0, NULL,
                                    0, NULL);
}

/* ---- Command pools --------------------------------------------------------------------------- */

vyre_result vy_commands_create(vyre_device *device, const char *name, vy_commands *out,
                               vyre_diag *diag)
{
    *out = (vy_commands){0};
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = device->snapshot.queue_family,
    };
    VkResult result = device->vk.vkCreateCommandPool(device->device, &pool, NULL, &out->pool);
    if (result != VK_SUCCESS) {
        out->pool = VK_NULL_HANDLE;
        return vy_vk_error(device, diag, result, "vkCreateCommandPool");
    }
    VkCommandBufferAllocateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = out->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = device->vk.vkAllocateCommandBuffers(device->device, &buffer, &out->buffer);
    if (result != VK_SUCCESS) {
        vy_commands_destroy(device, out);
        return vy_vk_error(device, diag, result, "vkAllocateCommandBuffers");
    }
    vy_set_name(device, VK_OBJECT_TYPE_COMMAND_POOL, (uint64_t)out->pool, name);
    vy_set_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)out->buffer, name);
    return VYRE_OK;
}

void vy_commands_destroy(vyre_device *device, vy_commands *commands)
{
    if (commands->pool) {
        device->vk.vkDestroyCommandPool(device->device, commands->pool, NULL);
    }
    *commands = (vy_commands){0};
}

vyre_result vy_commands_begin(vyre_device *device, vy_commands *commands, bool is_once,
                              vyre_diag *diag)
{
    VkResult result = device->vk.vkResetCommandPool(device->device, commands->pool, 0);
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkResetCommandPool");
    }
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = is_once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0,
    };
    result = device->vk.vkBeginCommandBuffer(commands->buffer, &begin);
    return result == VK_SUCCESS ? VYRE_OK
                                : vy_vk_error(device, diag, result, "vkBeginCommandBuffer");
}

vyre_result vy_commands_end(vyre_device *device, vy_commands *commands, vyre_diag *diag)
{
    VkResult result = device->vk.vkEndCommandBuffer(commands->buffer);
    return result == VK_SUCCESS ? VYRE_OK : vy_vk_error(device, diag, result, "vkEndCommandBuffer");
}
