/* One queue and its timeline: every submission signals the next value, and waiting is for a value:
 * by looking for a while, since a look costs less than being woken, then by sleeping. */
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
void vy_queue_settle(vyre_device *device)
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

/* Where lines of printf are wanted: each batch's work, and behind it, by a call of its own, what it
 * signals. Validation layers of 1.4 print the lines of what one call has submitted on a thread of
 * their own, call by call, after they have let go of those that wait for it: so whoever sees the
 * end has all lines. */
static VkResult submit_printing(vyre_device *device, uint32_t count, const VkSubmitInfo *submits,
                                uint32_t *out_done)
{
    VkResult result = VK_SUCCESS;
    *out_done = 0;
    for (uint32_t b = 0; b < count && result == VK_SUCCESS; b++) {
        VkTimelineSemaphoreSubmitInfo values =
            *(const VkTimelineSemaphoreSubmitInfo *)submits[b].pNext;
        VkSubmitInfo work = submits[b], end = submits[b];
        work.pNext = end.pNext = &values;
        work.signalSemaphoreCount = values.signalSemaphoreValueCount = 0;
        result = device->vk.vkQueueSubmit(device->queue, 1, &work, VK_NULL_HANDLE);
        if (result == VK_SUCCESS) {
            end.waitSemaphoreCount = end.commandBufferCount = values.waitSemaphoreValueCount = 0;
            values.signalSemaphoreValueCount = end.signalSemaphoreCount;
            result = device->vk.vkQueueSubmit(device->queue, 1, &end, VK_NULL_HANDLE);
        }
        *out_done += result == VK_SUCCESS;
    }
    if (result != VK_SUCCESS) { /* of what was begun nobody could see the end */
        (void)device->vk.vkDeviceWaitIdle(device->device);
    }
    return result;
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
    uint64_t value = atomic_load(&device->submitted);
    for (uint32_t b = 0; b < count; b++) {
        fill_submit(device, &batches[b], value + 1 + b, &infos[b], &submits[b]);
    }
    uint32_t done = 0;
    VkResult result;
    if (device->log.prints) {
        result = submit_printing(device, count, submits, &done);
    } else {
        result = device->vk.vkQueueSubmit(device->queue, count, submits, VK_NULL_HANDLE);
        done = result == VK_SUCCESS ? count : 0;
    }
    atomic_store(&device->submitted, value + done); /* where the timeline goes, whatever failed */
    unlock_queue(device);
    if (result == VK_ERROR_DEVICE_LOST) {
        vy_queue_settle(device);
        return vy_vk_error(device, diag, result, what);
    }
    if (result != VK_SUCCESS) {
        return vy_vk_error(device, diag, result, "vkQueueSubmit");
    }
    for (uint32_t b = 0; b < count; b++) {
        out_values[b] = value + 1 + b;
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

/* ---- Waiting --------------------------------------------------------------------------------- */

/* How long to look before sleeping: about as long as recent waits took, since these tell how long
 * the next one takes; not at all where sleeping costs nothing beside the wait. */
#define SPIN_LEAST_NS  50000u
#define SPIN_MOST_NS   200000u
#define PAUSES_BETWEEN 4

static void pause_processor(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t spin_budget(vyre_device *device)
{
    uint64_t typical = atomic_load_explicit(&device->typical_wait_ns, memory_order_relaxed);
    if (typical > SPIN_MOST_NS) {
        return 0;
    }
    uint64_t budget = typical + typical / 2;
    return budget < SPIN_LEAST_NS ? SPIN_LEAST_NS : budget < SPIN_MOST_NS ? budget : SPIN_MOST_NS;
}

/* Two waits that end at once may lose one of their lengths: it is a guess anyway. */
static void note_length(vyre_device *device, uint64_t took_ns)
{
    uint64_t typical = atomic_load_explicit(&device->typical_wait_ns, memory_order_relaxed);
    uint64_t next = typical ? typical - typical / 4 + took_ns / 4 : took_ns;
    atomic_store_explicit(&device->typical_wait_ns, next ? next : 1, memory_order_relaxed);
}

static void note_seen(vyre_device *device, uint64_t value)
{
    uint64_t seen = atomic_load(&device->seen);
    while (seen < value && !atomic_compare_exchange_weak(&device->seen, &seen, value)) {
    }
}

/* Asks the driver what the timeline has reached. */
static VkResult look(vyre_device *device, uint64_t *out_reached)
{
    *out_reached = 0;
    VkResult result =
        device->vk.vkGetSemaphoreCounterValue(device->device, device->timeline, out_reached);
    if (result == VK_SUCCESS) {
        note_seen(device, *out_reached);
    }
    return result;
}

/* Looks until the value is reached, the time is over or the driver fails. */
static VkResult spin(vyre_device *device, uint64_t value, uint64_t end_ns)
{
    for (;;) {
        for (int i = 0; i < PAUSES_BETWEEN; i++) {
            pause_processor();
        }
        uint64_t reached = 0;
        VkResult result = look(device, &reached);
        if (result != VK_SUCCESS || reached >= value) {
            return result;
        }
        if (vy_clock_ns() >= end_ns) {
            return VK_TIMEOUT;
        }
    }
}

static VkResult sleep_for(vyre_device *device, uint64_t value, uint64_t deadline_ns)
{
    uint64_t left = UINT64_MAX;
    if (deadline_ns != UINT64_MAX) {
        uint64_t now = vy_clock_ns();
        left = deadline_ns > now ? deadline_ns - now : 0;
    }
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &value,
    };
    VkResult result = device->vk.vkWaitSemaphores(device->device, &info, left);
    if (result == VK_SUCCESS) {
        note_seen(device, value);
    }
    return result;
}

static VkResult wait_for(vyre_device *device, uint64_t value, uint64_t deadline_ns,
                         const char **out_call, bool *out_has_blocked)
{
    uint64_t start = vy_clock_ns(), reached = 0;
    *out_call = "vkGetSemaphoreCounterValue";
    *out_has_blocked = false;
    VkResult result = look(device, &reached);
    if (result != VK_SUCCESS || reached >= value) {
        return result;
    }
    if (deadline_ns <= start) {
        return VK_TIMEOUT;
    }
    *out_has_blocked = true;
    uint64_t budget = spin_budget(device);
    if (budget > deadline_ns - start) {
        budget = deadline_ns - start;
    }
    result = budget ? spin(device, value, start + budget) : VK_TIMEOUT;
    if (result == VK_TIMEOUT) {
        *out_call = "vkWaitSemaphores";
        result = sleep_for(device, value, deadline_ns);
    }
    if (result == VK_SUCCESS) {
        note_length(device, vy_clock_ns() - start);
    }
    return result;
}

vyre_result vy_queue_wait_noting(vyre_device *device, uint64_t value, uint64_t deadline_ns,
                                 const char *what, bool *out_has_blocked, vyre_diag *diag)
{
    *out_has_blocked = false;
    vyre_result lost = vy_check_lost(device, diag);
    if (lost != VYRE_OK || value <= vy_queue_seen(device)) {
        return lost;
    }
    const char *call = NULL;
    VkResult result = wait_for(device, value, deadline_ns, &call, out_has_blocked);
    if (*out_has_blocked) {
        vy_count(device, waits, 1);
    }
    if (device->debug & VYRE_DEBUG_TRACE) {
        vy_log_write(&device->log, VYRE_LOG_DEBUG, "waited for %s (%llu): %s", what,
                     (unsigned long long)value, vy_vk_result_text(result));
    }
    if (result == VK_TIMEOUT) {
        return vy_diag_set(diag, VYRE_ERROR_TIMEOUT, (vy_loc){0, 0},
                           "%s has not ended within the time given. Fix: wait again "
                           "(vyre_device_wait), or give more time",
                           what);
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        vy_queue_settle(device);
        return vy_vk_error(device, diag, result, what);
    }
    return result == VK_SUCCESS ? VYRE_OK : vy_vk_error(device, diag, result, call);
}

vyre_result vy_queue_wait(vyre_device *device, uint64_t value, uint64_t deadline_ns,
                          const char *what, vyre_diag *diag)
{
    bool has_blocked = false;
    return vy_queue_wait_noting(device, value, deadline_ns, what, &has_blocked, diag);
}

uint64_t vy_queue_seen(vyre_device *device)
{
    return atomic_load(&device->seen);
}

uint64_t vy_queue_submitted(vyre_device *device)
{
    return atomic_load(&device->submitted);
}

bool vy_queue_is_done(vyre_device *device, uint64_t value)
{
    if (value <= vy_queue_seen(device) || atomic_load(&device->lost)) {
        return true;
    }
    uint64_t reached = 0;
    VkResult result = look(device, &reached);
    if (result == VK_ERROR_DEVICE_LOST) {
        vy_queue_settle(device);
        (void)vy_vk_error(device, NULL, result, "a look at the work in flight");
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
        vy_queue_settle(device);
        note_seen(device, value);
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
    vyre_result code = vy_queue_wait(device, value, deadline, "the work submitted", diag);
    if (device->collect) {
        device->collect(device);
    }
    return code;
}
