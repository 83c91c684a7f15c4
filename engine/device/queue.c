/* One queue and its timeline: every submission signals the next value, and waiting is for a value.
 */
#include "engine/device/device.h"

#include <stdio.h>

/* A host that shares its queue has a lock for it; ours is then not needed, and none of ours is held
 * while the host's code runs. */
static void lock_queue(vyre_device *device)
{
    if (device->host_lock) {
        device->host_lock(device->host_user);
    } else {
        vy_mutex_lock(&device->queue_mutex);
    }
}

static void unlock_queue(vyre_device *device)
{
    if (device->host_lock) {
        device->host_unlock(device->host_user);
    } else {
        vy_mutex_unlock(&device->queue_mutex);
    }
}

/* After a call said that the device is lost nothing may still write what is given back next: a
 * driver that knows better is waited for, one that does not returns at once. */
static void settle(vyre_device *device)
{
    lock_queue(device);
    (void)device->vk.vkDeviceWaitIdle(device->device);
    unlock_queue(device);
}

#define MAX_SEMAPHORES 16u

/* What Vulkan wants to know of one batch. */
typedef struct submit_info {
    VkTimelineSemaphoreSubmitInfo timeline;
    VkSemaphore waits[MAX_SEMAPHORES], signals[MAX_SEMAPHORES + 1];
    uint64_t wait_values[MAX_SEMAPHORES], signal_values[MAX_SEMAPHORES + 1];
    VkPipelineStageFlags stages[MAX_SEMAPHORES];
} submit_info;

static void fill_submit(const vyre_device *device, const vy_batch *batch, uint64_t value,
                        submit_info *info, VkSubmitInfo *out)
{
    for (uint32_t i = 0; i < batch->wait_count; i++) {
        info->waits[i] = batch->waits[i].semaphore;
        info->wait_values[i] = batch->waits[i].value;
        info->stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    info->signals[0] = device->timeline;
    info->signal_values[0] = value;
    for (uint32_t i = 0; i < batch->signal_count; i++) {
        info->signals[i + 1] = batch->signals[i].semaphore;
        info->signal_values[i + 1] = batch->signals[i].value;
    }
    info->timeline = (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = batch->wait_count,
        .pWaitSemaphoreValues = info->wait_values,
        .signalSemaphoreValueCount = batch->signal_count + 1,
        .pSignalSemaphoreValues = info->signal_values,
    };
    *out = (VkSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &info->timeline,
        .waitSemaphoreCount = batch->wait_count,
        .pWaitSemaphores = info->waits,
        .pWaitDstStageMask = info->stages,
        .commandBufferCount = batch->command_count,
        .pCommandBuffers = batch->commands,
        .signalSemaphoreCount = batch->signal_count + 1,
        .pSignalSemaphores = info->signals,
    };
}

vyre_result vy_queue_submit_batches(vyre_device *device, const vy_batch *batches, uint32_t count,
                                    const char *what, uint64_t *out_values, vyre_diag *diag)
{
    vyre_result lost = vy_check_lost(device, diag);
    if (lost != VYRE_OK) {
        return lost;
    }
    submit_info infos[VY_MAX_BATCHES];
    VkSubmitInfo submits[VY_MAX_BATCHES];
    for (uint32_t b = 0; b < count; b++) {
        if (batches[b].wait_count > MAX_SEMAPHORES || batches[b].signal_count > MAX_SEMAPHORES) {
            return vy_invalid(diag, "more than %u semaphores were given. Fix: give fewer",
                              MAX_SEMAPHORES);
        }
    }
    lock_queue(device);
    for (uint32_t b = 0; b < count; b++) {
        fill_submit(device, &batches[b], device->submitted + 1 + b, &infos[b], &submits[b]);
    }
    VkResult result = device->vk.vkQueueSubmit(device->queue, count, submits, VK_NULL_HANDLE);
    for (uint32_t b = 0; result == VK_SUCCESS && b < count; b++) {
        out_values[b] = ++device->submitted;
    }
    unlock_queue(device);
    if (result == VK_ERROR_DEVICE_LOST) {
        settle(device);
        return vy_vk_error(device, diag, result, what);
    }
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkQueueSubmit");
    }
    vy_count(device, submissions, 1);
    if (device->debug & VYRE_DEBUG_TRACE) {
        vy_log_write(&device->log, VYRE_LOG_DEBUG, "submitted %s as %llu", what,
                     (unsigned long long)out_values[count - 1]);
    }
    return VYRE_OK;
}

vyre_result vy_queue_submit(vyre_device *device, VkCommandBuffer commands, const char *what,
                            uint64_t *out_value, vyre_diag *diag)
{
    vy_batch batch = {.commands = &commands, .command_count = 1};
    return vy_queue_submit_batches(device, &batch, 1, what, out_value, diag);
}

vyre_result vy_queue_wait(vyre_device *device, uint64_t value, uint64_t deadline_ns,
                          const char *what, vyre_diag *diag)
{
    vyre_result lost = vy_check_lost(device, diag);
    if (lost != VYRE_OK || value == 0) {
        return lost;
    }
    uint64_t now = deadline_ns == UINT64_MAX ? 0 : vy_clock_ns();
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &value,
    };
    uint64_t left = deadline_ns == UINT64_MAX ? UINT64_MAX
                    : deadline_ns > now       ? deadline_ns - now
                                              : 0;
    VkResult result = device->vk.vkWaitSemaphores(device->device, &info, left);
    vy_count(device, waits, 1);
    if (result == VK_TIMEOUT) {
        return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                           "%s has not ended within the time given. Fix: wait again "
                           "(vyre_device_wait), or give more time",
                           what);
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        settle(device);
        return vy_vk_error(device, diag, result, what);
    }
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkWaitSemaphores");
    }
    return VYRE_OK;
}

uint64_t vy_queue_seen(vyre_device *device)
{
    return atomic_load(&device->seen);
}

uint64_t vy_queue_submitted(vyre_device *device)
{
    lock_queue(device);
    uint64_t value = device->submitted;
    unlock_queue(device);
    return value;
}

bool vy_queue_is_done(vyre_device *device, uint64_t value)
{
    if (value == 0) {
        return true;
    }
    uint64_t reached = 0;
    VkResult result =
        device->vk.vkGetSemaphoreCounterValue(device->device, device->timeline, &reached);
    if (result == VK_ERROR_DEVICE_LOST) {
        (void)vy_vk_error(device, NULL, result, "vkGetSemaphoreCounterValue");
    }
    return atomic_load(&device->lost) || (result == VK_SUCCESS && reached >= value);
}

void vy_queue_drain(vyre_device *device, uint64_t value)
{
    if (vy_queue_is_done(device, value)) {
        return;
    }
    if (vy_queue_wait(device, value, UINT64_MAX, "work in flight", NULL) != VYRE_OK &&
        !atomic_load(&device->lost)) {
        /* The semaphore cannot be waited for: the device's idleness is the last proof. */
        settle(device);
    }
}

uint64_t vy_deadline(uint64_t timeout_ns)
{
    uint64_t now = vy_clock_ns();
    return timeout_ns == 0 || timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

vyre_result vyre_device_wait(vyre_device *device, uint64_t timeout_ns, vyre_diag *diag)
{
    vy_diag_clear(diag);
    if (!device) {
        return vy_invalid(diag, "no device was given. Fix: pass a device");
    }
    uint64_t value = vy_queue_submitted(device);
    uint64_t now = vy_clock_ns();
    uint64_t deadline = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    return vy_queue_wait(device, value, deadline, "the work submitted", diag);
}
