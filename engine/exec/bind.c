/* Which way a device offers, and what the two descriptor ways have in common. */
#include "engine/exec/bind.h"

#include "engine/exec/run.h"

const vy_binder *vy_binder_get(const vyre_device *device, uint32_t buffer_count,
                               vyre_interface interface)
{
    const vy_snapshot *s = &device->snapshot;
    if (interface == VYRE_INTERFACE_ADDRESS) {
        bool can = s->has[VY_FEATURE_bufferDeviceAddress] && device->vk.vkGetBufferDeviceAddress;
        return can ? &vy_binder_address : NULL;
    }
    /* GPU-assisted validation (1.3.239) loses pushed descriptors: nothing is read or written. */
    bool is_instrumented = device->validation == VYRE_VALIDATION_GPU_ASSISTED;
    if (device->vk.vkCmdPushDescriptorSetKHR && buffer_count <= s->max_push_descriptors &&
        !is_instrumented) {
        return &vy_binder_push;
    }
    return &vy_binder_set;
}

bool vy_binder_needs(const vyre_pipeline *p, vy_set_kind set)
{
    return set == VY_SET_PROGRAM || p->grid_from >= 0;
}

static void add_typed(VkDescriptorBufferInfo *infos, VkWriteDescriptorSet *writes, uint32_t *count,
                      uint32_t binding, const vy_piece *piece, VkDescriptorType type)
{
    infos[*count] = (VkDescriptorBufferInfo){piece->buffer, piece->offset,
                                             piece->size ? piece->size : VK_WHOLE_SIZE};
    writes[*count] = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstBinding = binding,
        .descriptorCount = 1,
        .descriptorType = type,
        .pBufferInfo = &infos[*count],
    };
    (*count)++;
}

static void add(VkDescriptorBufferInfo *infos, VkWriteDescriptorSet *writes, uint32_t *count,
                uint32_t binding, const vy_piece *piece)
{
    add_typed(infos, writes, count, binding, piece, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
}

uint32_t vy_binder_list(const vyre_pipeline *p, const vy_instance *in, uint32_t lane,
                        vy_set_kind set, VkDescriptorType block_type, VkDescriptorBufferInfo *infos,
                        VkWriteDescriptorSet *writes)
{
    uint32_t count = 0, n = p->binding_count;
    vy_piece hidden[VY_HIDDEN_COUNT];
    vy_instance_hidden(p, in, lane, hidden);
    vy_piece state = vy_block_piece(&in->state);
    if (set == VY_SET_GRID) {
        vy_piece block = hidden[VY_HIDDEN_PARAMS];
        block.offset += in->grid_offset;
        block.size = VY_GRID_BLOCK_WORDS * sizeof(uint32_t);
        add(infos, writes, &count, VY_GRID_COUNTS, &in->pieces[p->grid_from]);
        add(infos, writes, &count, VY_GRID_STATE, &state);
        vy_piece target = hidden[VY_HIDDEN_PARAMS];
        target.size = in->schedule_offset;
        add(infos, writes, &count, VY_GRID_TARGET, &target);
        add_typed(infos, writes, &count, VY_GRID_BLOCK, &block, block_type);
        return count;
    }
    for (uint32_t b = 0; b < n + VY_HIDDEN_COUNT; b++) {
        if (p->used_bindings >> b & 1) {
            add(infos, writes, &count, b, b < n ? &in->pieces[b] : &hidden[b - n]);
        }
    }
    vy_piece block = hidden[VY_HIDDEN_PARAMS];
    block.size = vy_instance_block_size(p);
    add_typed(infos, writes, &count, n + VY_HIDDEN_PARAMS, &block, block_type);
    return count;
}

vyre_result vy_binder_create_pool(vyre_pipeline *p, vy_instance *in, uint32_t sets,
                                  uint32_t buffers, vyre_diag *diag)
{
    vyre_device *d = p->device;
    VkDescriptorPoolSize sizes[2] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, sets * in->lane_count},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers * in->lane_count}};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = sets * in->lane_count,
        .poolSizeCount = buffers ? 2 : 1,
        .pPoolSizes = sizes,
    };
    VkResult result = d->vk.vkCreateDescriptorPool(d->device, &pool, NULL, &in->pool);
    if (result != VK_SUCCESS) {
        in->pool = VK_NULL_HANDLE;
        return vy_vk_error(d, diag, result, "vkCreateDescriptorPool");
    }
    vy_set_name(d, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)in->pool, vyre_kernel_name(p->kernel));
    return VYRE_OK;
}

void vy_binder_destroy_pool(vyre_device *device, vy_instance *in)
{
    if (in->pool) {
        device->vk.vkDestroyDescriptorPool(device->device, in->pool, NULL);
        in->pool = VK_NULL_HANDLE;
    }
}

vyre_result vy_binder_check_all(const vyre_pipeline *p, const vy_job *job, vyre_diag *diag)
{
    (void)p;
    (void)job;
    (void)diag;
    return VYRE_OK;
}

vyre_result vy_binder_create_none(vyre_pipeline *p, vy_instance *in, vyre_diag *diag)
{
    (void)p;
    (void)in;
    (void)diag;
    return VYRE_OK;
}

void vy_binder_destroy_none(vyre_device *device, vy_instance *in)
{
    (void)device;
    (void)in;
}

void vy_binder_update_none(vyre_pipeline *p, vy_instance *in)
{
    (void)p;
    (void)in;
}
