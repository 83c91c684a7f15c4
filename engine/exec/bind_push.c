/* By descriptors that are recorded into the command buffer. */
#include "engine/exec/bind.h"

static vyre_result check(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag)
{
    (void)p;
    (void)job;
    (void)diag;
    return VYRE_OK;
}

static vyre_result create(vyre_pipeline *p, vy_instance *in, vyre_diag *diag)
{
    (void)p;
    (void)in;
    (void)diag;
    return VYRE_OK;
}

static void destroy(vyre_device *device, vy_instance *in)
{
    (void)device;
    (void)in;
}

static void update(vyre_pipeline *p, vy_instance *in)
{
    (void)p;
    (void)in;
}

static uint64_t root(const vy_instance *in, uint32_t lane, uint64_t offset)
{
    (void)in;
    (void)lane;
    (void)offset;
    return 0;
}

static void bind(vyre_pipeline *p, vy_instance *in, uint32_t lane, bool is_judge,
                 VkPipelineLayout layout, VkCommandBuffer commands)
{
    VkDescriptorBufferInfo infos[VY_MAX_WRITES];
    VkWriteDescriptorSet writes[VY_MAX_WRITES];
    uint32_t count = vy_binder_list(p, in, lane, is_judge, infos, writes);
    if (count) {
        p->device->vk.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0,
                                                count, writes);
        vy_count(p->device, descriptor_writes, count);
        in->descriptor_writes += count;
    }
}

const vy_binder vy_binder_push = {.name = "push descriptor",
                                  .interface = VYRE_INTERFACE_DESCRIPTOR,
                                  .is_pushed = true,
                                  .is_by_handle = true,
                                  .check = check,
                                  .create = create,
                                  .destroy = destroy,
                                  .update = update,
                                  .root = root,
                                  .bind = bind};
