/* See hook.h. */
#include "hook.h"

#include "take.h"

#include "codegen/spirv/interface.h"

#include <stdio.h>
#include <string.h>

hook_settings hook;
hook_seen seen;

static PFN_vkGetPhysicalDeviceProperties2 next_properties;
static PFN_vkCmdDispatch next_dispatch;
static PFN_vkCreateComputePipelines next_pipelines;
static PFN_vkCreatePipelineCache next_create_cache;
static PFN_vkDestroyPipelineCache next_destroy_cache;
static PFN_vkGetPipelineCacheData next_data;
static PFN_vkMergePipelineCaches next_merge;

void hook_reset(void)
{
    hook = (hook_settings){0};
    seen = (hook_seen){0};
    layer_reset();
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice physical,
                                             VkPhysicalDeviceProperties2 *out)
{
    next_properties(physical, out);
    for (VkBaseOutStructure *at = out->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES) {
            VkPhysicalDeviceVulkan12Properties *p = (void *)at;
            p->driverID = hook.driver_id ? (VkDriverId)hook.driver_id : p->driverID;
            if (hook.driver) {
                snprintf(p->driverInfo, sizeof p->driverInfo, "%s", hook.driver);
            }
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    if (++seen.dispatches != hook.skip_dispatch) {
        next_dispatch(commands, x, y, z);
    }
}

static bool constant(const VkSpecializationInfo *info, uint32_t id)
{
    for (uint32_t i = 0; info && i < info->mapEntryCount; i++) {
        VkBool32 value = VK_FALSE;
        if (info->pMapEntries[i].constantID == id) {
            memcpy(&value, (const char *)info->pData + info->pMapEntries[i].offset, sizeof value);
            return value == VK_TRUE;
        }
    }
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL pipelines(VkDevice device, VkPipelineCache cache,
                                                uint32_t count,
                                                const VkComputePipelineCreateInfo *infos,
                                                const VkAllocationCallbacks *allocator,
                                                VkPipeline *out)
{
    VkResult result = next_pipelines(device, cache, count, infos, allocator, out);
    seen.pipelines++;
    seen.native_divide = constant(infos[0].stage.pSpecializationInfo, VY_SPEC_NATIVE_DIVIDE);
    seen.native_sqrt = constant(infos[0].stage.pSpecializationInfo, VY_SPEC_NATIVE_SQRT);
    seen.cache = cache;
    seen.has_feedback = false;
    for (const VkBaseInStructure *at = infos[0].pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO) {
            const VkPipelineCreationFeedbackCreateInfo *feedback = (const void *)at;
            seen.has_feedback = true;
            if (hook.hits) {
                feedback->pPipelineCreationFeedback->flags =
                    VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT |
                    VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
            }
        }
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_cache(VkDevice device,
                                                   const VkPipelineCacheCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkPipelineCache *out)
{
    seen.caches++;
    seen.initial_size = info->initialDataSize;
    return next_create_cache(device, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL destroy_cache(VkDevice device, VkPipelineCache cache,
                                                const VkAllocationCallbacks *allocator)
{
    seen.caches_destroyed++;
    next_destroy_cache(device, cache, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_data(VkDevice device, VkPipelineCache cache, size_t *size,
                                               void *data)
{
    VkResult result = next_data(device, cache, size, data);
    return ++seen.data_calls == hook.incomplete_at ? VK_INCOMPLETE : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL merge(VkDevice device, VkPipelineCache into, uint32_t count,
                                            const VkPipelineCache *from)
{
    seen.merges++;
    return hook.merge != VK_SUCCESS ? hook.merge : next_merge(device, into, count, from);
}

static const take_call calls[] = {
    TAKE_DEVICE(vkCmdDispatch, next_dispatch, dispatch),
    TAKE_DEVICE(vkCreateComputePipelines, next_pipelines, pipelines),
    TAKE_DEVICE(vkCreatePipelineCache, next_create_cache, create_cache),
    TAKE_DEVICE(vkDestroyPipelineCache, next_destroy_cache, destroy_cache),
    TAKE_DEVICE(vkGetPipelineCacheData, next_data, get_data),
    TAKE_DEVICE(vkMergePipelineCaches, next_merge, merge),
    TAKE_INSTANCE(vkGetPhysicalDeviceProperties2, next_properties, properties),
};

vyre_vulkan_entry hook_entry(void)
{
    return take_entry(calls, VY_COUNT_OF(calls));
}
