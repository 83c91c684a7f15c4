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

vyre_result vy_queue_submit(vyre_device *device, VkCommandBuffer commands, const char *what,
                            uint64_t *out_value, vyre_diag *diag)
{
    vyre_result lost = vy_check_lost(device, diag);
    if (lost != VYRE_OK) {
        return lost;
    }
    lock_queue(device);
    uint64_t value = device->submitted + 1;
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &device->timeline,
    };
    VkResult result = device->vk.vkQueueSubmit(device->queue, 1, &info, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) {
        device->submitted = value;
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
    if (device->debug & VY_DEBUG_TRACE) {
        vy_log_write(&device->log, VYRE_LOG_DEBUG, "submitted %s as %llu", what,
                     (unsigned long long)value);
    }
    *out_value = value;
    return VYRE_OK;
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
