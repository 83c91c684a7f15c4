/* See vk_layer.h. State is global, as tests may have it: one test process, one thread. */
#include "tests/support/vk_layer.h"

#include "tests/support/vk_heaps.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS 200000u

layer_settings layer;

static layer_event *events;
static uint32_t event_count, fallible_calls, bad_ranges, barriers_behind;
static int32_t alive;
static uint32_t dispatches_passed, descriptors;
static bool looked; /* at the timeline, since the last submission */
static const char *failed;
static VkPipeline bound;
static PFN_vkGetInstanceProcAddr real_get_instance;
static PFN_vkGetDeviceProcAddr real_get_device;

static layer_event *log_event(layer_event_kind kind)
{
    static layer_event overflow;
    if (!events) {
        events = calloc(MAX_EVENTS, sizeof *events);
    }
    layer_event *event = events && event_count < MAX_EVENTS ? &events[event_count++] : &overflow;
    *event = (layer_event){.kind = kind};
    return event;
}

static bool fails(const char *name)
{
    if (layer.fail_only && strcmp(name, layer.fail_only) != 0) {
        return false;
    }
    fallible_calls++;
    if (layer.fail_at && fallible_calls == layer.fail_at) {
        failed = name;
        return true;
    }
    return false;
}

/* Calls by name, since layer_reset or layer_clear_calls. */
static struct {
    const char *name;
    uint32_t count;
} calls[96];

static void count_call(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (!calls[i].name || strcmp(calls[i].name, name) == 0) {
            calls[i].name = name;
            calls[i].count++;
            return;
        }
    }
    abort();
}

/* Commands behind the last dispatch that layer.stop_after lets pass are left out. */
static bool is_stopped(void)
{
    return layer.stop_after && dispatches_passed >= layer.stop_after;
}

/* ---- Wrappers of one shape ------------------------------------------------------------------- */

/* name, parameters, arguments: give a VkResult and make (+1) or take nothing. */
#define RESULT_FUNCTIONS(X)                                                                        \
    X(vkMapMemory, 0,                                                                              \
      (VkDevice a, VkDeviceMemory b, VkDeviceSize c, VkDeviceSize d, VkMemoryMapFlags e,           \
       void **f),                                                                                  \
      (a, b, c, d, e, f))                                                                          \
    X(vkBindBufferMemory, 0, (VkDevice a, VkBuffer b, VkDeviceMemory c, VkDeviceSize d),           \
      (a, b, c, d))                                                                                \
    X(vkBindBufferMemory2, 0, (VkDevice a, uint32_t b, const VkBindBufferMemoryInfo *c),           \
      (a, b, c))                                                                                   \
    X(vkCreateBuffer, 1,                                                                           \
      (VkDevice a, const VkBufferCreateInfo *b, const VkAllocationCallbacks *c, VkBuffer *d),      \
      (a, b, c, d))                                                                                \
    X(vkCreateShaderModule, 1,                                                                     \
      (VkDevice a, const VkShaderModuleCreateInfo *b, const VkAllocationCallbacks *c,              \
       VkShaderModule *d),                                                                         \
      (a, b, c, d))                                                                                \
    X(vkCreatePipelineCache, 1,                                                                    \
      (VkDevice a, const VkPipelineCacheCreateInfo *b, const VkAllocationCallbacks *c,             \
       VkPipelineCache *d),                                                                        \
      (a, b, c, d))                                                                                \
    X(vkCreateComputePipelines, 1,                                                                 \
      (VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,            \
       const VkAllocationCallbacks *e, VkPipeline *f),                                             \
      (a, b, c, d, e, f))                                                                          \
    X(vkCreatePipelineLayout, 1,                                                                   \
      (VkDevice a, const VkPipelineLayoutCreateInfo *b, const VkAllocationCallbacks *c,            \
       VkPipelineLayout *d),                                                                       \
      (a, b, c, d))                                                                                \
    X(vkCreateDescriptorSetLayout, 1,                                                              \
      (VkDevice a, const VkDescriptorSetLayoutCreateInfo *b, const VkAllocationCallbacks *c,       \
       VkDescriptorSetLayout *d),                                                                  \
      (a, b, c, d))                                                                                \
    X(vkCreateDescriptorPool, 1,                                                                   \
      (VkDevice a, const VkDescriptorPoolCreateInfo *b, const VkAllocationCallbacks *c,            \
       VkDescriptorPool *d),                                                                       \
      (a, b, c, d))                                                                                \
    X(vkAllocateDescriptorSets, 0,                                                                 \
      (VkDevice a, const VkDescriptorSetAllocateInfo *b, VkDescriptorSet *c), (a, b, c))           \
    X(vkCreateCommandPool, 1,                                                                      \
      (VkDevice a, const VkCommandPoolCreateInfo *b, const VkAllocationCallbacks *c,               \
       VkCommandPool *d),                                                                          \
      (a, b, c, d))                                                                                \
    X(vkAllocateCommandBuffers, 0,                                                                 \
      (VkDevice a, const VkCommandBufferAllocateInfo *b, VkCommandBuffer *c), (a, b, c))           \
    X(vkEndCommandBuffer, 0, (VkCommandBuffer a), (a))                                             \
    X(vkResetCommandPool, 0, (VkDevice a, VkCommandPool b, VkCommandPoolResetFlags c), (a, b, c))  \
    X(vkCreateSemaphore, 1,                                                                        \
      (VkDevice a, const VkSemaphoreCreateInfo *b, const VkAllocationCallbacks *c,                 \
       VkSemaphore *d),                                                                            \
      (a, b, c, d))                                                                                \
    X(vkCreateQueryPool, 1,                                                                        \
      (VkDevice a, const VkQueryPoolCreateInfo *b, const VkAllocationCallbacks *c,                 \
       VkQueryPool *d),                                                                            \
      (a, b, c, d))                                                                                \
    X(vkGetQueryPoolResults, 0,                                                                    \
      (VkDevice a, VkQueryPool b, uint32_t c, uint32_t d, size_t e, void *f, VkDeviceSize g,       \
       VkQueryResultFlags h),                                                                      \
      (a, b, c, d, e, f, g, h))

#define DESTROY_FUNCTIONS(X)                                                                       \
    X(vkDestroyBuffer, VkBuffer)                                                                   \
    X(vkDestroyShaderModule, VkShaderModule)                                                       \
    X(vkDestroyPipelineCache, VkPipelineCache)                                                     \
    X(vkDestroyPipeline, VkPipeline)                                                               \
    X(vkDestroyPipelineLayout, VkPipelineLayout)                                                   \
    X(vkDestroyDescriptorSetLayout, VkDescriptorSetLayout)                                         \
    X(vkDestroyDescriptorPool, VkDescriptorPool)                                                   \
    X(vkDestroyCommandPool, VkCommandPool)                                                         \
    X(vkDestroySemaphore, VkSemaphore)                                                             \
    X(vkDestroyQueryPool, VkQueryPool)

#define OTHER_DEVICE_FUNCTIONS(X)                                                                  \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetBufferMemoryRequirements2)                                                              \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkWaitSemaphores)                                                                            \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkQueueSubmit)                                                                               \
    X(vkCmdBindPipeline)                                                                           \
    X(vkCmdDispatch)                                                                               \
    X(vkCmdDispatchIndirect)                                                                       \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCmdPipelineBarrier2)                                                                       \
    X(vkCmdFillBuffer)                                                                             \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkUpdateDescriptorSets)                                                                      \
    X(vkCmdPushDescriptorSetKHR)                                                                   \
    X(vkFlushMappedMemoryRanges)                                                                   \
    X(vkInvalidateMappedMemoryRanges)                                                              \
    X(vkDestroyDevice)

#define X(name, made, parameters, arguments)                                                       \
    static PFN_##name real_##name;                                                                 \
    static VKAPI_ATTR VkResult VKAPI_CALL wrap_##name parameters                                   \
    {                                                                                              \
        count_call(#name);                                                                         \
        if (fails(#name)) {                                                                        \
            return layer.failure;                                                                  \
        }                                                                                          \
        VkResult result = real_##name arguments;                                                   \
        alive += result >= 0 ? (made) : 0;                                                         \
        return result;                                                                             \
    }
RESULT_FUNCTIONS(X)
#undef X

#define X(name, type)                                                                              \
    static PFN_##name real_##name;                                                                 \
    static VKAPI_ATTR void VKAPI_CALL wrap_##name(VkDevice a, type b,                              \
                                                  const VkAllocationCallbacks *c)                  \
    {                                                                                              \
        count_call(#name);                                                                         \
        alive -= b != VK_NULL_HANDLE;                                                              \
        real_##name(a, b, c);                                                                      \
    }
DESTROY_FUNCTIONS(X)
#undef X

#define X(name) static PFN_##name real_##name;
OTHER_DEVICE_FUNCTIONS(X)
#undef X

/* ---- Device functions of their own ----------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *callbacks)
{
    alive -= device != VK_NULL_HANDLE;
    real_vkDestroyDevice(device, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkBeginCommandBuffer(VkCommandBuffer commands,
                                                                const VkCommandBufferBeginInfo *i)
{
    count_call("vkBeginCommandBuffer");
    if (fails("vkBeginCommandBuffer")) {
        return layer.failure;
    }
    log_event(LAYER_BEGIN);
    return real_vkBeginCommandBuffer(commands, i);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkWaitSemaphores(VkDevice device,
                                                            const VkSemaphoreWaitInfo *info,
                                                            uint64_t timeout)
{
    count_call("vkWaitSemaphores");
    /* How often the engine sleeps depends on how fast the device is: these calls count only where
     * they are asked for by name, and the first look behind a submission in their place. */
    if (layer.fail_only && fails("vkWaitSemaphores")) {
        return layer.failure;
    }
    if (layer.timeouts) {
        layer.timeouts--;
        return VK_TIMEOUT;
    }
    return real_vkWaitSemaphores(device, info, timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkGetSemaphoreCounterValue(VkDevice device,
                                                                      VkSemaphore semaphore,
                                                                      uint64_t *out)
{
    count_call("vkGetSemaphoreCounterValue");
    if (!looked) {
        looked = true;
        if (fails("vkGetSemaphoreCounterValue")) {
            return layer.failure;
        }
    }
    if (layer.timeouts || (layer.fail_only && strcmp(layer.fail_only, "vkWaitSemaphores") == 0)) {
        *out = 0; /* not reached yet, so that the engine sleeps */
        return VK_SUCCESS;
    }
    return real_vkGetSemaphoreCounterValue(device, semaphore, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                         const VkSubmitInfo *infos, VkFence fence)
{
    count_call("vkQueueSubmit");
    if (fails("vkQueueSubmit")) {
        return layer.failure;
    }
    log_event(LAYER_SUBMIT);
    looked = false;
    return real_vkQueueSubmit(queue, count, infos, fence);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdBindPipeline(VkCommandBuffer commands,
                                                         VkPipelineBindPoint point,
                                                         VkPipeline pipeline)
{
    bound = pipeline;
    real_vkCmdBindPipeline(commands, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdDispatch(VkCommandBuffer commands, uint32_t x,
                                                     uint32_t y, uint32_t z)
{
    layer_event *event = log_event(LAYER_DISPATCH);
    event->groups[0] = x;
    event->groups[1] = y;
    event->groups[2] = z;
    event->pipeline = bound;
    if (!layer.skip_dispatches && !is_stopped()) {
        dispatches_passed += layer.stop_after > 0;
        real_vkCmdDispatch(commands, x, y, z);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdDispatchIndirect(VkCommandBuffer commands,
                                                             VkBuffer buffer, VkDeviceSize offset)
{
    log_event(LAYER_INDIRECT)->pipeline = bound;
    if (!is_stopped()) {
        dispatches_passed += layer.stop_after > 0;
        real_vkCmdDispatchIndirect(commands, buffer, offset);
    }
}

static bool drops_barrier(void)
{
    bool is_behind = event_count > 0 && events[event_count - 1].kind == LAYER_DISPATCH;
    if (is_behind) {
        barriers_behind++;
    }
    return is_behind && barriers_behind == layer.drop_barrier;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPipelineBarrier(
    VkCommandBuffer commands, VkPipelineStageFlags src, VkPipelineStageFlags dst,
    VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
    const VkImageMemoryBarrier *images)
{
    if (drops_barrier()) {
        return;
    }
    layer_event *event = log_event(LAYER_BARRIER);
    event->is_old_form = true;
    event->src_stages = src;
    event->dst_stages = dst;
    if (memory_count) {
        event->src_access = memory[0].srcAccessMask;
        event->dst_access = memory[0].dstAccessMask;
    }
    real_vkCmdPipelineBarrier(commands, src, dst, flags, memory_count, memory, buffer_count,
                              buffers, image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPipelineBarrier2(VkCommandBuffer commands,
                                                             const VkDependencyInfo *info)
{
    if (drops_barrier()) {
        return;
    }
    layer_event *event = log_event(LAYER_BARRIER);
    if (info->memoryBarrierCount) {
        event->src_stages = info->pMemoryBarriers[0].srcStageMask;
        event->dst_stages = info->pMemoryBarriers[0].dstStageMask;
        event->src_access = info->pMemoryBarriers[0].srcAccessMask;
        event->dst_access = info->pMemoryBarriers[0].dstAccessMask;
    }
    real_vkCmdPipelineBarrier2(commands, info);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdFillBuffer(VkCommandBuffer commands, VkBuffer buffer,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       uint32_t word)
{
    layer_event *event = log_event(LAYER_FILL);
    event->offset = offset;
    event->size = size;
    if (!is_stopped()) {
        real_vkCmdFillBuffer(commands, buffer, offset, size, word);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdCopyBuffer(VkCommandBuffer commands, VkBuffer source,
                                                       VkBuffer target, uint32_t count,
                                                       const VkBufferCopy *regions)
{
    layer_event *event = log_event(LAYER_COPY);
    event->size = count ? regions[0].size : 0;
    if (!is_stopped()) {
        real_vkCmdCopyBuffer(commands, source, target, count, regions);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkUpdateDescriptorSets(VkDevice device, uint32_t count,
                                                              const VkWriteDescriptorSet *writes,
                                                              uint32_t copy_count,
                                                              const VkCopyDescriptorSet *copies)
{
    count_call("vkUpdateDescriptorSets");
    descriptors += count;
    real_vkUpdateDescriptorSets(device, count, writes, copy_count, copies);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkCmdPushDescriptorSetKHR(VkCommandBuffer commands,
                                                                 VkPipelineBindPoint point,
                                                                 VkPipelineLayout layout,
                                                                 uint32_t set, uint32_t count,
                                                                 const VkWriteDescriptorSet *writes)
{
    count_call("vkCmdPushDescriptorSetKHR");
    descriptors += count;
    real_vkCmdPushDescriptorSetKHR(commands, point, layout, set, count, writes);
}

static void note_ranges(layer_event_kind kind, uint32_t count, const VkMappedMemoryRange *ranges)
{
    for (uint32_t i = 0; i < count; i++) {
        layer_event *event = log_event(kind);
        event->offset = ranges[i].offset;
        event->size = ranges[i].size;
        if (layer.no_coherent_memory) {
            bad_ranges += ranges[i].offset % 64 != 0;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
wrap_vkFlushMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    count_call("vkFlushMappedMemoryRanges");
    if (fails("vkFlushMappedMemoryRanges")) {
        return layer.failure;
    }
    note_ranges(LAYER_FLUSH, count, ranges);
    return real_vkFlushMappedMemoryRanges(device, count, ranges);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkInvalidateMappedMemoryRanges(
    VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges)
{
    count_call("vkInvalidateMappedMemoryRanges");
    if (fails("vkInvalidateMappedMemoryRanges")) {
        return layer.failure;
    }
    note_ranges(LAYER_INVALIDATE, count, ranges);
    return real_vkInvalidateMappedMemoryRanges(device, count, ranges);
}

/* ---- Memory, as vk_heaps plays it ------------------------------------------------------------ */

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkAllocateMemory(VkDevice device,
                                                            const VkMemoryAllocateInfo *info,
                                                            const VkAllocationCallbacks *callbacks,
                                                            VkDeviceMemory *out)
{
    count_call("vkAllocateMemory");
    if (fails("vkAllocateMemory")) {
        return layer.failure;
    }
    VkMemoryAllocateInfo real = *info;
    uint32_t heap = VK_MAX_MEMORY_HEAPS;
    if (!heaps_take(&real, &heap)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkResult result = real_vkAllocateMemory(device, &real, callbacks, out);
    if (result == VK_SUCCESS) {
        alive++;
        heaps_note(*out, heap, info->allocationSize);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                                                    const VkAllocationCallbacks *callbacks)
{
    count_call("vkFreeMemory");
    alive -= memory != VK_NULL_HANDLE;
    heaps_forget(memory);
    real_vkFreeMemory(device, memory, callbacks);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetBufferMemoryRequirements(VkDevice device,
                                                                     VkBuffer buffer,
                                                                     VkMemoryRequirements *out)
{
    real_vkGetBufferMemoryRequirements(device, buffer, out);
    heaps_spoil_requirements(out);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetBufferMemoryRequirements2(
    VkDevice device, const VkBufferMemoryRequirementsInfo2 *info, VkMemoryRequirements2 *out)
{
    real_vkGetBufferMemoryRequirements2(device, info, out);
    heaps_spoil_requirements(&out->memoryRequirements);
}

/* ---- Instance functions ---------------------------------------------------------------------- */

static PFN_vkCreateInstance real_vkCreateInstance;
static PFN_vkDestroyInstance real_vkDestroyInstance;
static PFN_vkEnumeratePhysicalDevices real_vkEnumeratePhysicalDevices;
static PFN_vkCreateDevice real_vkCreateDevice;
static PFN_vkEnumerateDeviceExtensionProperties real_vkEnumerateDeviceExtensionProperties;
static PFN_vkGetPhysicalDeviceProperties real_vkGetPhysicalDeviceProperties;
static PFN_vkGetPhysicalDeviceProperties2 real_vkGetPhysicalDeviceProperties2;
static PFN_vkGetPhysicalDeviceFeatures2 real_vkGetPhysicalDeviceFeatures2;
static PFN_vkGetPhysicalDeviceMemoryProperties real_vkGetPhysicalDeviceMemoryProperties;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_vkGetPhysicalDeviceMemoryProperties2;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_vkGetPhysicalDeviceQueueFamilyProperties;

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *callbacks,
                                                            VkInstance *out)
{
    if (fails("vkCreateInstance")) {
        return layer.failure;
    }
    VkResult result = real_vkCreateInstance(info, callbacks, out);
    alive += result == VK_SUCCESS;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *callbacks)
{
    alive -= instance != VK_NULL_HANDLE;
    real_vkDestroyInstance(instance, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkEnumeratePhysicalDevices(VkInstance instance,
                                                                      uint32_t *count,
                                                                      VkPhysicalDevice *devices)
{
    if (fails("vkEnumeratePhysicalDevices")) {
        return layer.failure;
    }
    if (layer.no_devices) {
        *count = 0;
        return VK_SUCCESS;
    }
    return real_vkEnumeratePhysicalDevices(instance, count, devices);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *callbacks,
                                                          VkDevice *out)
{
    if (fails("vkCreateDevice")) {
        return layer.failure;
    }
    VkResult result = real_vkCreateDevice(physical, info, callbacks, out);
    alive += result == VK_SUCCESS;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkEnumerateDeviceExtensionProperties(
    VkPhysicalDevice physical, const char *of, uint32_t *count, VkExtensionProperties *list)
{
    VkResult result = real_vkEnumerateDeviceExtensionProperties(physical, of, count, list);
    for (uint32_t i = 0; list && layer.hide_extension && i < *count; i++) {
        if (strcmp(list[i].extensionName, layer.hide_extension) == 0) {
            strcpy(list[i].extensionName, "VK_hidden");
        }
    }
    return result;
}

static void spoil_properties(VkPhysicalDeviceProperties *p)
{
    if (layer.vulkan_1_1) {
        p->apiVersion = VK_API_VERSION_1_1;
    }
    for (int i = 0; layer.max_groups && i < 3; i++) {
        p->limits.maxComputeWorkGroupCount[i] = layer.max_groups;
    }
    if (layer.max_range) {
        p->limits.maxStorageBufferRange = (uint32_t)layer.max_range;
    }
    if (layer.max_buffers) {
        p->limits.maxPerStageDescriptorStorageBuffers = layer.max_buffers;
    }
    if (layer.no_coherent_memory) {
        p->limits.nonCoherentAtomSize = 64;
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                                                     VkPhysicalDeviceProperties *p)
{
    real_vkGetPhysicalDeviceProperties(physical, p);
    spoil_properties(p);
}

static VKAPI_ATTR void VKAPI_CALL
wrap_vkGetPhysicalDeviceProperties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *p)
{
    real_vkGetPhysicalDeviceProperties2(physical, p);
    spoil_properties(&p->properties);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                                                    VkPhysicalDeviceFeatures2 *f)
{
    real_vkGetPhysicalDeviceFeatures2(physical, f);
    for (VkBaseOutStructure *at = f->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
            VkPhysicalDeviceVulkan12Features *f12 = (void *)at;
            f12->timelineSemaphore = f12->timelineSemaphore && !layer.no_timeline;
            if (layer.no_memory_model) {
                f12->vulkanMemoryModel = f12->vulkanMemoryModelDeviceScope = VK_FALSE;
                f12->vulkanMemoryModelAvailabilityVisibilityChains = VK_FALSE;
            }
        }
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
            VkPhysicalDeviceVulkan13Features *f13 = (void *)at;
            f13->synchronization2 = f13->synchronization2 && !layer.no_synchronization2;
        }
    }
}

static void spoil_memory(VkPhysicalDeviceMemoryProperties *p)
{
    heaps_spoil_properties(p);
    for (uint32_t i = 0; layer.no_coherent_memory && i < p->memoryTypeCount; i++) {
        p->memoryTypes[i].propertyFlags &=
            ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceMemoryProperties(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *p)
{
    real_vkGetPhysicalDeviceMemoryProperties(physical, p);
    spoil_memory(p);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceMemoryProperties2(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *p)
{
    real_vkGetPhysicalDeviceMemoryProperties2(physical, p);
    heaps_spoil_budget(p);
    spoil_memory(&p->memoryProperties);
}

static VKAPI_ATTR void VKAPI_CALL wrap_vkGetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *list)
{
    real_vkGetPhysicalDeviceQueueFamilyProperties(physical, count, list);
    for (uint32_t i = 0; list && layer.no_timestamps && i < *count; i++) {
        list[i].timestampValidBits = 0;
    }
}

/* ---- Finding --------------------------------------------------------------------------------- */

#define TAKE(name, real_function)                                                                  \
    if (strcmp(asked, #name) == 0) {                                                               \
        real_##name = (PFN_##name)(real_function);                                                 \
        return (PFN_vkVoidFunction)wrap_##name;                                                    \
    }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *asked)
{
    PFN_vkVoidFunction found = real_get_device(device, asked);
    if (!found) {
        return NULL;
    }
#define X(name, made, parameters, arguments) TAKE(name, found)
    RESULT_FUNCTIONS(X)
#undef X
#define X(name, type) TAKE(name, found)
    DESTROY_FUNCTIONS(X)
#undef X
#define X(name) TAKE(name, found)
    OTHER_DEVICE_FUNCTIONS(X)
#undef X
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *asked)
{
    PFN_vkVoidFunction found = real_get_instance(instance, asked);
    if (!found) {
        return NULL;
    }
    if (strcmp(asked, "vkGetDeviceProcAddr") == 0) {
        real_get_device = (PFN_vkGetDeviceProcAddr)found;
        return (PFN_vkVoidFunction)get_device;
    }
    TAKE(vkCreateInstance, found)
    TAKE(vkDestroyInstance, found)
    TAKE(vkEnumeratePhysicalDevices, found)
    TAKE(vkCreateDevice, found)
    TAKE(vkEnumerateDeviceExtensionProperties, found)
    TAKE(vkGetPhysicalDeviceProperties, found)
    TAKE(vkGetPhysicalDeviceProperties2, found)
    TAKE(vkGetPhysicalDeviceFeatures2, found)
    TAKE(vkGetPhysicalDeviceMemoryProperties, found)
    TAKE(vkGetPhysicalDeviceMemoryProperties2, found)
    TAKE(vkGetPhysicalDeviceQueueFamilyProperties, found)
    return found;
}

vyre_vulkan_entry layer_entry(void)
{
    if (!real_get_instance) {
        void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *symbol = loader ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
        memcpy(&real_get_instance, &symbol, sizeof symbol);
    }
    return real_get_instance ? (vyre_vulkan_entry)get_instance : NULL;
}

/* ---- Questions ------------------------------------------------------------------------------- */

void layer_reset(void)
{
    layer = (layer_settings){0};
    heaps_reset();
    event_count = fallible_calls = bad_ranges = barriers_behind = 0;
    layer_clear_calls();
    dispatches_passed = 0;
    alive = 0;
    failed = NULL;
}

const layer_event *layer_events(uint32_t *out_count)
{
    *out_count = event_count;
    return events;
}

void layer_clear_events(void)
{
    event_count = barriers_behind = 0;
}

uint32_t layer_count(layer_event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < event_count; i++) {
        count += events[i].kind == kind;
    }
    return count;
}

uint32_t layer_calls(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls && calls[i].name; i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return calls[i].count;
        }
    }
    return 0;
}

uint32_t layer_calls_of(const char *prefix)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && calls[i].name; i++) {
        if (strncmp(calls[i].name, prefix, strlen(prefix)) == 0) {
            count += calls[i].count;
        }
    }
    return count;
}

uint32_t layer_descriptors(void)
{
    return descriptors;
}

void layer_clear_calls(void)
{
    memset(calls, 0, sizeof calls);
    descriptors = 0;
}

int32_t layer_alive(void)
{
    return alive;
}

uint32_t layer_fallible_calls(void)
{
    return fallible_calls;
}

const char *layer_failed(void)
{
    return failed;
}

uint32_t layer_bad_ranges(void)
{
    return bad_ranges;
}
