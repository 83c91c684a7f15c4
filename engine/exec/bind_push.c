/* By descriptors that are recorded into the command buffer. */
#include "engine/exec/bind.h"

static void bind(vyre_pipeline *p, vy_instance *in, const vy_binding_point *point,
                 VkCommandBuffer commands)
{
    VkDescriptorBufferInfo infos[VY_MAX_WRITES];
    VkWriteDescriptorSet writes[VY_MAX_WRITES];
    uint32_t count = vy_binder_list(p, in, point->lane, point->set,
                                    VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, infos, writes);
    uint32_t first = 0;
    if (point->set == VY_SET_PROGRAM) {
        infos[count - 1].offset += point->offset; /* the parameter block is the last */
        first = point->is_moved ? count - 1 : 0;
    }
    count -= first;
    if (count) {
        p->device->vk.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                                point->layout, 0, count, &writes[first]);
        vy_count(p->device, descriptor_writes, count);
        in->descriptor_writes += count;
    }
}

const vy_binder vy_binder_push = {.name = "push descriptor",
                                  .interface = VYRE_INTERFACE_DESCRIPTOR,
                                  .is_pushed = true,
                                  .is_by_handle = true,
                                  .check = vy_binder_check_all,
                                  .create = vy_binder_create_none,
                                  .destroy = vy_binder_destroy_none,
                                  .update = vy_binder_update_none,
                                  .bind = bind};
