/* By addresses: a recording stands for any buffers, since it names none. What it binds is memory of
 * the instance's own, where the blocks lie that name them: a set for each lane with one uniform
 * buffer, whose dynamic offset leads to a block. */
#include "engine/exec/bind.h"

static vyre_result check(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag)
{
    for (uint32_t b = 0; b < p->binding_count; b++) {
        if (job->is_resident[b] && job->shape.lengths[b] && !job->residents[b].address) {
            vyre_binding_info info;
            vyre_kernel_binding(p->kernel, b, &info);
            if (diag) {
                diag->binding = b;
            }
            return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                               "buffer '%s' is an imported one without "
                               "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and the pipeline was "
                               "asked to use addresses alone. Fix: create it with that usage, or "
                               "use VYRE_BINDINGS_AUTO",
                               info.name);
        }
    }
    return VYRE_OK;
}

static vyre_result create(vyre_pipeline *p, vy_instance *in, vyre_diag *diag)
{
    vyre_device *d = p->device;
    vyre_result code = vy_binder_create_pool(p, in, 1, 0, diag);
    for (uint32_t l = 0; code == VYRE_OK && l < in->lane_count; l++) {
        VkDescriptorSetAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = in->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &p->layouts[VYRE_INTERFACE_ADDRESS].set,
        };
        VkResult result =
            d->vk.vkAllocateDescriptorSets(d->device, &info, &in->lanes[l].sets[VY_SET_PROGRAM]);
        if (result != VK_SUCCESS) {
            code = vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
        } else {
            vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_SET,
                        (uint64_t)in->lanes[l].sets[VY_SET_PROGRAM], vyre_kernel_name(p->kernel));
        }
    }
    return code;
}

static const vy_block *memory_of(const vy_instance *in, uint32_t lane)
{
    return in->is_direct ? &in->host_block : &in->lanes[lane].block;
}

/* Only where the blocks lie in other memory: what programs are given is named in the blocks. */
static void update(vyre_pipeline *p, vy_instance *in)
{
    for (uint32_t l = 0; l < in->lane_count; l++) {
        const vy_block *memory = memory_of(in, l);
        if (in->lanes[l].bound_serial == memory->serial) {
            continue;
        }
        VkDescriptorBufferInfo buffer = {memory->buffer, 0, vy_instance_block_range(p)};
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = in->lanes[l].sets[VY_SET_PROGRAM],
            .dstBinding = VY_ADDRESS_BLOCK,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
            .pBufferInfo = &buffer,
        };
        p->device->vk.vkUpdateDescriptorSets(p->device->device, 1, &write, 0, NULL);
        vy_count(p->device, descriptor_writes, 1);
        in->descriptor_writes++;
        in->lanes[l].bound_serial = memory->serial;
    }
}

static void bind(vyre_pipeline *p, vy_instance *in, const vy_binding_point *point,
                 VkCommandBuffer commands)
{
    uint64_t region = in->is_direct ? in->region_size * point->lane : 0;
    uint32_t offset = (uint32_t)(region + point->offset);
    p->device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, point->layout,
                                          0, 1, &in->lanes[point->lane].sets[VY_SET_PROGRAM], 1,
                                          &offset);
}

const vy_binder vy_binder_address = {.name = "address",
                                     .interface = VYRE_INTERFACE_ADDRESS,
                                     .check = check,
                                     .create = create,
                                     .destroy = vy_binder_destroy_pool,
                                     .update = update,
                                     .bind = bind};
