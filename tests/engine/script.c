/* See script.h. */
#include "script.h"

#include "take.h"

#include <stdio.h>
#include <string.h>

script_settings script;
script_seen script_saw;

static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkCmdBeginDebugUtilsLabelEXT next_begin_label;
static PFN_vkCmdEndDebugUtilsLabelEXT next_end_label;
static PFN_vkQueueSubmit next_submit;
static PFN_vkGetSemaphoreCounterValue next_counter;
static PFN_vkWaitSemaphores next_wait;
static PFN_vkCreateQueryPool next_create_pool;
static PFN_vkGetQueryPoolResults next_results;

void script_reset(void)
{
    script = (script_settings){0};
    script_saw = (script_seen){0};
    layer_reset();
}

/* ---- Queue and timeline ---------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo *infos, VkFence fence)
{
    if (++script_saw.submissions == script.fail_submission) {
        return script.submission;
    }
    return next_submit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL counter(VkDevice device, VkSemaphore semaphore, uint64_t *out)
{
    VkResult result = next_counter(device, semaphore, out);
    if (result == VK_SUCCESS && script.reached_most && *out > script.reached_most) {
        *out = script.reached_most;
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    if (script.reached_most && info->pValues[0] > script.reached_most) {
        return script.wait == VK_SUCCESS ? VK_TIMEOUT : script.wait;
    }
    return next_wait(device, info, timeout);
}

/* ---- Timestamps ------------------------------------------------------------------------------ */

static VKAPI_ATTR void VKAPI_CALL families(VkPhysicalDevice physical, uint32_t *count,
                                           VkQueueFamilyProperties *list)
{
    next_families(physical, count, list);
    for (uint32_t i = 0; list && script.timestamp_bits && i < *count; i++) {
        list[i].timestampValidBits = script.timestamp_bits;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device,
                                                  const VkQueryPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkQueryPool *out)
{
    script_saw.query_pools++;
    return next_create_pool(device, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL results(VkDevice device, VkQueryPool pool, uint32_t first,
                                              uint32_t count, size_t size, void *data,
                                              VkDeviceSize stride, VkQueryResultFlags flags)
{
    VkResult result = next_results(device, pool, first, count, size, data, stride, flags);
    uint64_t *stamps = data; /* 64 bits, one after the other, are asked for */
    if (result != VK_SUCCESS || stride != sizeof *stamps) {
        return result;
    }
    uint64_t mask = script.timestamp_bits ? ((uint64_t)1 << script.timestamp_bits) - 1 : UINT64_MAX;
    for (uint32_t i = 0; i < count && i < 8; i++) {
        script_saw.stamps[i] = stamps[i];
    }
    for (uint32_t i = 0; script.first_tick && i < count && i < 8; i++) {
        stamps[i] = (script.first_tick + (script_saw.stamps[i] - script_saw.stamps[0])) & mask;
    }
    return result;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands,
                                              const VkDebugUtilsLabelEXT *label)
{
    if (script_saw.labels_begun < 16) {
        snprintf(script_saw.labels[script_saw.labels_begun], sizeof script_saw.labels[0], "%s",
                 label->pLabelName);
    }
    script_saw.labels_begun++;
    next_begin_label(commands, label);
}

static VKAPI_ATTR void VKAPI_CALL end_label(VkCommandBuffer commands)
{
    script_saw.labels_ended++;
    next_end_label(commands);
}

/* ---- Finding --------------------------------------------------------------------------------- */

static const take_call calls[] = {
    TAKE_DEVICE(vkQueueSubmit, next_submit, submit),
    TAKE_DEVICE(vkGetSemaphoreCounterValue, next_counter, counter),
    TAKE_DEVICE(vkWaitSemaphores, next_wait, wait_semaphores),
    TAKE_DEVICE(vkCreateQueryPool, next_create_pool, create_pool),
    TAKE_DEVICE(vkGetQueryPoolResults, next_results, results),
    TAKE_INSTANCE(vkGetPhysicalDeviceQueueFamilyProperties, next_families, families),
    TAKE_INSTANCE(vkCmdBeginDebugUtilsLabelEXT, next_begin_label, begin_label),
    TAKE_INSTANCE(vkCmdEndDebugUtilsLabelEXT, next_end_label, end_label),
};

vyre_vulkan_entry script_entry(void)
{
    return take_entry(calls, VY_COUNT_OF(calls));
}
