/* Queue family ownership of the host's buffers, both ways: the engine's half of each transfer. */
#include "engine/exec/recording.h"

static const vy_resident *find(const vyre_pipeline *p, const vy_job *job, vyre_buffer buffer)
{
    for (uint32_t b = 0; b < p->binding_count; b++) {
        if (job->residents[b].buffer && job->bindings[b].kind == VYRE_BINDING_RESIDENT &&
            job->bindings[b].buffer.bits == buffer.bits) {
            return &job->residents[b];
        }
    }
    return NULL;
}

vyre_result vy_ownership_check(const vyre_pipeline *p, const vy_job *job,
                               const vyre_host_sync *sync, vyre_diag *diag)
{
    for (uint32_t i = 0; sync && i < sync->acquire_count + sync->release_count; i++) {
        const vyre_ownership *o =
            i < sync->acquire_count ? &sync->acquires[i] : &sync->releases[i - sync->acquire_count];
        if (!find(p, job, o->buffer)) {
            return vy_invalid(diag,
                              "a buffer whose ownership is transferred (0x%llx) is not bound in "
                              "the dispatch. Fix: transfer the buffers that are bound",
                              (unsigned long long)o->buffer.bits);
        }
    }
    return VYRE_OK;
}

void vy_ownership_transfer(vyre_pipeline *p, const vy_job *job, const vyre_host_sync *sync,
                           bool is_acquire, VkCommandBuffer commands)
{
    vyre_device *device = p->device;
    uint32_t count = !sync ? 0 : is_acquire ? sync->acquire_count : sync->release_count;
    for (uint32_t i = 0; i < count; i++) {
        const vyre_ownership *o = is_acquire ? &sync->acquires[i] : &sync->releases[i];
        uint32_t own = device->snapshot.queue_family;
        const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        VkBufferMemoryBarrier barrier = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
            .srcAccessMask = is_acquire ? 0 : VK_ACCESS_MEMORY_WRITE_BIT,
            .dstAccessMask = is_acquire ? all : 0,
            .srcQueueFamilyIndex = is_acquire ? o->queue_family : own,
            .dstQueueFamilyIndex = is_acquire ? own : o->queue_family,
            .buffer = find(p, job, o->buffer)->buffer,
            .size = VK_WHOLE_SIZE,
        };
        device->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 1, &barrier,
                                        0, NULL);
    }
}

vyre_result vy_ownership_record(vyre_pipeline *p, vy_instance *in, const vy_job *job,
                                const vyre_host_sync *sync, VkCommandBuffer *out_before,
                                VkCommandBuffer *out_after, vyre_diag *diag)
{
    vyre_device *device = p->device;
    vyre_result code = vy_ownership_check(p, job, sync, diag);
    for (int i = 0; i < 2 && code == VYRE_OK; i++) {
        VkCommandBuffer *out = i == 0 ? out_before : out_after;
        vy_commands *commands = &in->ownership[i];
        *out = VK_NULL_HANDLE;
        if ((i == 0 ? sync->acquire_count : sync->release_count) == 0) {
            continue;
        }
        if (!commands->buffer) {
            code = vy_commands_create(device, "vyre ownership", commands, diag);
        }
        if (code == VYRE_OK) {
            code = vy_commands_begin(device, commands, true, diag);
        }
        if (code == VYRE_OK) {
            vy_ownership_transfer(p, job, sync, i == 0, commands->buffer);
            code = vy_commands_end(device, commands, diag);
        }
        if (code == VYRE_OK) {
            vy_count(device, recordings, 1);
            *out = commands->buffer;
        }
    }
    return code;
}
