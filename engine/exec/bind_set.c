/* By descriptor sets, one for each lane, written when the buffers change. */
#include "engine/exec/bind.h"

#include "engine/exec/run.h"
#include "engine/pipeline/limits.h"

/* Those that the pipeline's dispatches need, the program's first. */
static uint32_t list_kinds(const vyre_pipeline *p, vy_set_kind out[VY_SET_KINDS])
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < VY_SET_KINDS; k++) {
        if (vy_binder_needs(p, (vy_set_kind)k)) {
            out[count++] = (vy_set_kind)k;
        }
    }
    return count;
}

static vyre_result create(vyre_pipeline *p, vy_instance *in, vyre_diag *diag)
{
    vyre_device *d = p->device;
    vy_set_kind kinds[VY_SET_KINDS];
    uint32_t kind_count = list_kinds(p, kinds);
    uint32_t buffers =
        vy_limits_buffer_count(p->kernel) + (p->grid_from >= 0 ? VY_GRID_BINDINGS : 0);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers * in->lane_count};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = in->lane_count * kind_count,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result = d->vk.vkCreateDescriptorPool(d->device, &pool, NULL, &in->pool);
    if (result != VK_SUCCESS) {
        in->pool = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateDescriptorPool");
    }
    vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)in->pool, vyre_kernel_name(p->kernel));
    VkDescriptorSetLayout layouts[VY_SET_KINDS] = {p->layouts[VYRE_INTERFACE_DESCRIPTOR].set};
    for (uint32_t k = 1; k < kind_count; k++) {
        layouts[k] = vy_runs_kernels(d)->grids[VYRE_INTERFACE_DESCRIPTOR].layout.set;
    }
    for (uint32_t l = 0; l < in->lane_count; l++) {
        VkDescriptorSet sets[VY_SET_KINDS] = {VK_NULL_HANDLE};
        VkDescriptorSetAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = in->pool,
            .descriptorSetCount = kind_count,
            .pSetLayouts = layouts,
        };
        result = d->vk.vkAllocateDescriptorSets(d->device, &info, sets);
        if (result != VK_SUCCESS) {
            return vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
        }
        for (uint32_t k = 0; k < kind_count; k++) {
            in->lanes[l].sets[kinds[k]] = sets[k];
        }
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

static void write(vyre_pipeline *p, vy_instance *in, uint32_t lane, vy_set_kind set)
{
    VkDescriptorBufferInfo infos[VY_MAX_WRITES];
    VkWriteDescriptorSet writes[VY_MAX_WRITES];
    uint32_t count = vy_binder_list(p, in, lane, set, infos, writes);
    for (uint32_t i = 0; i < count; i++) {
        writes[i].dstSet = in->lanes[lane].sets[set];
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
        for (uint32_t k = 0; k < VY_SET_KINDS; k++) {
            if (vy_binder_needs(p, (vy_set_kind)k)) {
                write(p, in, l, (vy_set_kind)k);
            }
        }
    }
}

static void bind(vyre_pipeline *p, vy_instance *in, uint32_t lane, vy_set_kind set,
                 VkPipelineLayout layout, VkCommandBuffer commands)
{
    p->device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1,
                                          &in->lanes[lane].sets[set], 0, NULL);
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
