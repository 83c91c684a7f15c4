/* Queue family ownership of the host's buffers, both ways: the engine's half of each transfer. */
#include "engine/exec/recording.h"
#include "engine/exec/run.h"

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

static vyre_result check_points(const vyre_semaphore_point *points, uint32_t count,
                                const char *what, vyre_diag *diag)
{
    if (count > VY_MAX_HOST_SEMAPHORES || (count && !points)) {
        return vy_invalid(
            diag, "%u semaphores to %s were given%s. Fix: give at most %u, with their list",
            (unsigned)count, what, points ? "" : " without a list", VY_MAX_HOST_SEMAPHORES);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!points[i].semaphore) {
            return vy_invalid(diag, "semaphore %u to %s is VK_NULL_HANDLE. Fix: leave it out",
                              (unsigned)i, what);
        }
    }
    return VYRE_OK;
}

static bool is_family(const vyre_device *device, uint32_t family)
{
    uint32_t count = 0;
    device->vki.vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, NULL);
    return family < count || family == VK_QUEUE_FAMILY_EXTERNAL ||
           family == VK_QUEUE_FAMILY_FOREIGN_EXT;
}

static vyre_result check_owners(const vyre_pipeline *p, const vy_job *job,
                                const vyre_ownership *list, uint32_t count, const char *what,
                                vyre_diag *diag)
{
    if (count && !list) {
        return vy_invalid(diag, "%u buffers to %s were given without a list. Fix: pass the list",
                          (unsigned)count, what);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!find(p, job, list[i].buffer)) {
            return vy_invalid(diag,
                              "a buffer to %s (0x%llx) is not bound in the dispatch. Fix: transfer "
                              "the ownership of buffers that are bound",
                              what, (unsigned long long)list[i].buffer.bits);
        }
        if (!is_family(p->device, list[i].queue_family)) {
            return vy_invalid(diag,
                              "queue family %u is to %s a buffer, and the device has none of that "
                              "number. Fix: give the host's family",
                              (unsigned)list[i].queue_family, what);
        }
    }
    return VYRE_OK;
}

vyre_result vy_ownership_check(const vyre_pipeline *p, const vy_job *job,
                               const vyre_host_sync *sync, vyre_diag *diag)
{
    if (!sync) {
        return VYRE_OK;
    }
    vyre_result code = check_points(sync->waits, sync->wait_count, "wait for", diag);
    if (code == VYRE_OK) {
        code = check_points(sync->signals, sync->signal_count, "signal", diag);
    }
    if (code == VYRE_OK) {
        code = check_owners(p, job, sync->acquires, sync->acquire_count, "acquire", diag);
    }
    if (code == VYRE_OK) {
        code = check_owners(p, job, sync->releases, sync->release_count, "release", diag);
    }
    return code;
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
    vyre_result code = VYRE_OK;
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
