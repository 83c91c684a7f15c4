/* By addresses: a recording stands for any buffers, since it names none. */
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

static uint64_t root(const vy_instance *in, uint32_t lane, uint64_t offset)
{
    if (in->is_direct) {
        return in->host_block.address + in->region_size * lane + offset;
    }
    return in->lanes[lane].block.address + offset;
}

static void bind(vyre_pipeline *p, vy_instance *in, uint32_t lane, vy_set_kind set,
                 VkPipelineLayout layout, VkCommandBuffer commands)
{
    (void)p;
    (void)in;
    (void)lane;
    (void)set;
    (void)layout;
    (void)commands;
}

const vy_binder vy_binder_address = {.name = "address",
                                     .interface = VYRE_INTERFACE_ADDRESS,
                                     .check = check,
                                     .create = vy_binder_create_none,
                                     .destroy = vy_binder_destroy_none,
                                     .update = vy_binder_update_none,
                                     .root = root,
                                     .bind = bind};
