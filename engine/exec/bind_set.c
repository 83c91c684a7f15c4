/* By descriptor sets, one for each lane, written when the buffers change. Parameter blocks have
 * dynamic offsets, which choose among those of a lane. */
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
    vyre_result code = vy_binder_create_pool(p, in, kind_count, buffers - kind_count, diag);
    if (code != VYRE_OK) {
        return code;
    }
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
        VkResult result = d->vk.vkAllocateDescriptorSets(d->device, &info, sets);
        if (result != VK_SUCCESS) {
            return vy_vk_error(d, diag, result, "vkAllocateDescriptorSets");
        }
        for (uint32_t k = 0; k < kind_count; k++) {
            in->lanes[l].sets[kinds[k]] = sets[k];
            vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)sets[k],
                        kinds[k] == VY_SET_GRID ? "vyre grid" : vyre_kernel_name(p->kernel));
        }
    }
    return VYRE_OK;
}

static void write(vyre_pipeline *p, vy_instance *in, uint32_t lane, vy_set_kind set)
{
    VkDescriptorBufferInfo infos[VY_MAX_WRITES];
    VkWriteDescriptorSet writes[VY_MAX_WRITES];
    uint32_t count =
        vy_binder_list(p, in, lane, set, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, infos, writes);
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

static void bind(vyre_pipeline *p, vy_instance *in, const vy_binding_point *point,
                 VkCommandBuffer commands)
{
    /* The grid's set names its block itself. */
    uint32_t offset = point->set == VY_SET_PROGRAM ? (uint32_t)point->offset : 0;
    p->device->vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, point->layout,
                                          0, 1, &in->lanes[point->lane].sets[point->set], 1,
                                          &offset);
}

const vy_binder vy_binder_set = {.name = "descriptor set",
                                 .interface = VYRE_INTERFACE_DESCRIPTOR,
                                 .is_by_handle = true,
                                 .check = vy_binder_check_all,
                                 .create = create,
                                 .destroy = vy_binder_destroy_pool,
                                 .update = update,
                                 .bind = bind};
