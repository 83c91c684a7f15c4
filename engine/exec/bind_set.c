/* By descriptor sets, one for each lane, written when the buffers change. */
#include "engine/exec/bind.h"

#include "engine/exec/judge.h"
#include "engine/pipeline/limits.h"

static vyre_result create(vyre_pipeline *p, vy_instance *in, vyre_diag *diag)
{
    vyre_device *d = p->device;
    uint32_t buffers = vy_limits_buffer_count(p->kernel) + (p->has_until ? VY_JUDGE_BINDINGS : 0);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers * in->lane_count};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = in->lane_count * (p->has_until ? 2 : 1),
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result = d->vk.vkCreateDescriptorPool(d->device, &pool, NULL, &in->pool);
    if (result != VK_SUCCESS) {
        in->pool = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateDescriptorPool");
    }
    vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)in->pool, vyre_kernel_name(p->kernel));
    const vy_layout *judge = NULL;
    if (p->has_until) {
        judge = vy_judge_layout(d, in->binder);
    }
    for (uint32_t l = 0; l < in->lane_count; l++) {
        VkDescriptorSetLayout layouts[2] = {p->layouts[VYRE_INTERFACE_DESCRIPTOR].set,
                                            judge ? judge->set : VK_NULL_HANDLE};
        VkDescriptorSet sets[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
        VkDescriptorSetAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = in->pool,
            .descriptorSetCount = p->has_until ? 2 : 1,
            .pSetLayouts = layouts,
        };
        result = d->vk.vkAllocateDescriptorSets(d->device, &info, sets);
        if (result != VK_SUCCESS) {
            return vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
        }
        in->lanes[l].set = sets[0];
        in->lanes[l].judge_set = sets[1];
    }
    return VYRE_OK;
}

static void destroy(vyre_device *device, vy_instance *in)
{
    if (in->pool) {
        device->vk.vkDestroyDescriptorPool(device->device, in->pool, NULL);
        in->pool = VK_NULL_HANDLE;
    }
}

static void write(vyre_pipeline *p, vy_instance *in, uint32_t lane, bool is_judge)
{
    VkDescriptorBufferInfo infos[VY_MAX_WRITES];
    VkWriteDescriptorSet writes[VY_MAX_WRITES];
    uint32_t count = vy_binder_list(p, in, lane, is_judge, infos, writes);
    for (uint32_t i = 0; i < count; i++) {
        writes[i].dstSet = is_judge ? in->lanes[lane].judge_set : in->lanes[lane].set;
    }
    if (count) {
        p->device->vk.vkUpdateDescriptorSets(p->device->device, count, writes, 0, NULL);
        vy_count(p->device, descriptor_writes, count);
        in->descriptor_writes += count;
    }
}

static void update(vyre_pipeline *p, vy_instance *in)
{
    for (uint32_t l = 0; l < in->lane_count; l++) {
        write(p, in, l, false);
        if (p->has_until) {
            write(p, in, l, true);
        }
    }
}

static void bind(vyre_pipeline *p, vy_instance *in, uint32_t lane, bool is_judge,
                 VkPipelineLayout layout, VkCommandBuffer commands)
{
    VkDescriptorSet set = is_judge ? in->lanes[lane].judge_set : in->lanes[lane].set;
    p->device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1,
                                          &set, 0, NULL);
}

const vy_binder vy_binder_set = {.name = "descriptor set",
                                 .interface = VYRE_INTERFACE_DESCRIPTOR,
                                 .is_by_handle = true,
                                 .check = vy_binder_check_all,
                                 .create = create,
                                 .destroy = destroy,
                                 .update = update,
                                 .root = vy_binder_no_root,
                                 .bind = bind};
