/* The fake's queue: a thread that runs submissions in order; semaphores and waiting for them. */
#include "tests/support/fake_objects.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t fake_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
static uint32_t submissions;
static atomic_uint looks, sleeps;

static void nap(uint32_t us)
{
    struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
    nanosleep(&time, NULL);
}

/* ---- The thread ------------------------------------------------------------------------------ */

static bool can_start(const fake_submission *s)
{
    for (uint32_t i = 0; i < s->wait_count; i++) {
        const fake_point *p = &s->waits[i];
        if (p->semaphore->value < (p->semaphore->is_timeline ? p->value : 1)) {
            return false;
        }
    }
    return true;
}

static void free_submission(fake_submission *s)
{
    free(s->commands);
    free(s);
}

static void run(const fake_submission *s)
{
    for (uint32_t c = 0; c < s->command_count; c++) {
        for (uint32_t i = 0; i < s->commands[c]->count; i++) {
            fake_command_run(&s->commands[c]->commands[i]);
        }
    }
    if (fake.delay_us) {
        nap(fake.delay_us);
    }
}

/* Under the lock. */
static void end_submission(VkDevice device, fake_submission *s)
{
    for (uint32_t c = 0; c < s->command_count; c++) {
        atomic_fetch_sub(&s->commands[c]->pending, 1);
    }
    if (s->number == fake.lose_at) {
        device->is_lost = true;
    }
    for (uint32_t i = 0; !device->is_lost && i < s->signal_count; i++) {
        VkSemaphore semaphore = s->signals[i].semaphore;
        semaphore->value = semaphore->is_timeline ? s->signals[i].value : 1;
    }
    pthread_cond_broadcast(&fake_changed);
}

static void *work(void *argument)
{
    VkDevice device = argument;
    VkQueue queue = &device->queue;
    pthread_mutex_lock(&fake_mutex);
    while (!device->is_ending || queue->first) {
        fake_submission *s = queue->first;
        if (!s || !(device->is_lost || device->is_ending || can_start(s))) {
            pthread_cond_wait(&fake_changed, &fake_mutex);
            continue;
        }
        queue->first = s->next;
        queue->last = s->next ? queue->last : NULL;
        for (uint32_t i = 0; i < s->wait_count; i++) {
            if (!s->waits[i].semaphore->is_timeline) {
                s->waits[i].semaphore->value = 0;
            }
        }
        queue->is_running = true;
        bool is_lost = device->is_lost;
        pthread_mutex_unlock(&fake_mutex);
        if (!is_lost) {
            run(s);
        }
        pthread_mutex_lock(&fake_mutex);
        queue->is_running = false;
        end_submission(device, s);
        free_submission(s);
    }
    pthread_mutex_unlock(&fake_mutex);
    return NULL;
}

VkResult fake_queue_start(VkDevice device)
{
    device->queue.device = device;
    return pthread_create(&device->worker, NULL, work, device) == 0
               ? VK_SUCCESS
               : VK_ERROR_INITIALIZATION_FAILED;
}

void fake_queue_end(VkDevice device)
{
    pthread_mutex_lock(&fake_mutex);
    device->is_ending = true;
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_mutex);
    pthread_join(device->worker, NULL);
}

/* ---- Submitting ------------------------------------------------------------------------------ */

static void take_points(fake_point *out, uint32_t *out_count, uint32_t count,
                        const VkSemaphore *semaphores, const uint64_t *values, uint32_t value_count)
{
    *out_count = count;
    for (uint32_t i = 0; i < count && i < FAKE_MAX_POINTS; i++) {
        /* As the specification says, values are as many as semaphores, also for binary ones. */
        if (semaphores[i]->is_timeline && i >= value_count) {
            fake_violation();
        }
        out[i] = (fake_point){semaphores[i], i < value_count ? values[i] : 0};
    }
}

static fake_submission *take(const VkSubmitInfo *info)
{
    fake_submission *s = calloc(1, sizeof *s);
    VkCommandBuffer *commands = calloc(info->commandBufferCount + 1, sizeof *commands);
    if (!s || !commands || info->waitSemaphoreCount > FAKE_MAX_POINTS ||
        info->signalSemaphoreCount > FAKE_MAX_POINTS) {
        free(s);
        free(commands);
        return NULL;
    }
    const VkTimelineSemaphoreSubmitInfo *timeline = info->pNext;
    VkTimelineSemaphoreSubmitInfo none = {0};
    if (!timeline || timeline->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
        timeline = &none;
    }
    take_points(s->waits, &s->wait_count, info->waitSemaphoreCount, info->pWaitSemaphores,
                timeline->pWaitSemaphoreValues, timeline->waitSemaphoreValueCount);
    take_points(s->signals, &s->signal_count, info->signalSemaphoreCount, info->pSignalSemaphores,
                timeline->pSignalSemaphoreValues, timeline->signalSemaphoreValueCount);
    s->commands = commands;
    s->command_count = info->commandBufferCount;
    for (uint32_t c = 0; c < s->command_count; c++) {
        commands[c] = info->pCommandBuffers[c];
        if (atomic_fetch_add(&commands[c]->pending, 1) != 0) {
            fake_violation(); /* never pending twice */
        }
    }
    return s;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_QueueSubmit(VkQueue queue, uint32_t count,
                                                       const VkSubmitInfo *infos, VkFence fence)
{
    (void)fence;
    fake_enter(&queue->users);
    queue->calls++;
    sched_yield(); /* for others who come without a lock */
    pthread_mutex_lock(&fake_mutex);
    VkResult result = queue->device->is_lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        fake_submission *s = take(&infos[i]);
        if (!s) {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
            break;
        }
        s->number = ++submissions;
        if (queue->last) {
            queue->last->next = s;
        } else {
            queue->first = s;
        }
        queue->last = s;
    }
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_mutex);
    fake_leave(&queue->users);
    return result;
}

static VkResult wait_idle(VkQueue queue)
{
    fake_enter(&queue->users);
    queue->calls++;
    pthread_mutex_lock(&fake_mutex);
    while (queue->first || queue->is_running) {
        pthread_cond_wait(&fake_changed, &fake_mutex);
    }
    VkResult result = queue->device->is_lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    pthread_mutex_unlock(&fake_mutex);
    fake_leave(&queue->users);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_QueueWaitIdle(VkQueue queue)
{
    return wait_idle(queue);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_DeviceWaitIdle(VkDevice device)
{
    return wait_idle(&device->queue);
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static VKAPI_ATTR VkResult VKAPI_CALL fake_CreateSemaphore(VkDevice device,
                                                           const VkSemaphoreCreateInfo *info,
                                                           const VkAllocationCallbacks *callbacks,
                                                           VkSemaphore *out)
{
    (void)device;
    (void)callbacks;
    const VkSemaphoreTypeCreateInfo *type = info->pNext;
    *out = fake_object_make(VK_OBJECT_TYPE_SEMAPHORE, sizeof **out);
    if (*out && type && type->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) {
        (*out)->is_timeline = type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
        (*out)->value = type->initialValue;
    }
    return *out ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL fake_DestroySemaphore(VkDevice device, VkSemaphore semaphore,
                                                        const VkAllocationCallbacks *callbacks)
{
    (void)device;
    (void)callbacks;
    fake_object_free(semaphore ? &semaphore->object : NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_GetSemaphoreCounterValue(VkDevice device,
                                                                    VkSemaphore semaphore,
                                                                    uint64_t *out)
{
    atomic_fetch_add(&looks, 1);
    pthread_mutex_lock(&fake_mutex);
    VkResult result = device->is_lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    *out = semaphore->value;
    pthread_mutex_unlock(&fake_mutex);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_SignalSemaphore(VkDevice device,
                                                           const VkSemaphoreSignalInfo *info)
{
    (void)device;
    pthread_mutex_lock(&fake_mutex);
    info->semaphore->value = info->value;
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_mutex);
    return VK_SUCCESS;
}

/* The condition variable is on the real-time clock, as it is made statically. */
static struct timespec deadline_in(uint64_t ns)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    uint64_t most = (uint64_t)3600 * 1000000000u;
    ns = ns < most ? ns : most;
    ns += (uint64_t)at.tv_nsec;
    at.tv_sec += (time_t)(ns / 1000000000u);
    at.tv_nsec = (long)(ns % 1000000000u);
    return at;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_WaitSemaphores(VkDevice device,
                                                          const VkSemaphoreWaitInfo *info,
                                                          uint64_t timeout)
{
    atomic_fetch_add(&sleeps, 1);
    struct timespec until = deadline_in(timeout);
    VkResult result = VK_NOT_READY;
    pthread_mutex_lock(&fake_mutex);
    while (result == VK_NOT_READY) {
        if (device->is_lost) {
            result = VK_ERROR_DEVICE_LOST;
        } else if (info->pSemaphores[0]->value >= info->pValues[0]) {
            result = VK_SUCCESS;
        } else if (pthread_cond_timedwait(&fake_changed, &fake_mutex, &until) != 0) {
            result = VK_TIMEOUT;
        }
    }
    pthread_mutex_unlock(&fake_mutex);
    return result;
}

PFN_vkVoidFunction fake_find_queue(const char *name)
{
    FAKE_TAKE(QueueSubmit)
    FAKE_TAKE(QueueWaitIdle)
    FAKE_TAKE(DeviceWaitIdle)
    FAKE_TAKE(CreateSemaphore)
    FAKE_TAKE(DestroySemaphore)
    FAKE_TAKE(GetSemaphoreCounterValue)
    FAKE_TAKE(SignalSemaphore)
    FAKE_TAKE(WaitSemaphores)
    return NULL;
}

void fake_queue_reset(void)
{
    submissions = 0;
    atomic_store(&looks, 0);
    atomic_store(&sleeps, 0);
}

uint32_t fake_submissions(void)
{
    pthread_mutex_lock(&fake_mutex);
    uint32_t count = submissions;
    pthread_mutex_unlock(&fake_mutex);
    return count;
}

uint32_t fake_looks(void)
{
    return atomic_load(&looks);
}

uint32_t fake_sleeps(void)
{
    return atomic_load(&sleeps);
}
